/* options.h - the words of a command line, read by a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLE_OPTIONS_H
#define EXAMPLE_OPTIONS_H

#include "pawl/base.h"

/* Type of the field at `offset`. */
typedef enum example_option_kind {
    EXAMPLE_FLAG,     /* bool */
    EXAMPLE_TEXT,     /* const char * */
    EXAMPLE_COUNT,    /* int64_t from 1, or from 0 where that is the default */
    EXAMPLE_DURATION, /* int64_t, microseconds */
} example_option_kind;

typedef struct example_option {
    const char         *name;
    example_option_kind kind;
    size_t              offset; /* in the program's options */
    int64_t             max;    /* of a count */
    const char         *value;  /* "N", "URL", for --help */
    const char         *help;   /* NULL: not for people */
} example_option;

typedef struct example_options {
    const example_option *rows;
    size_t                count;
    size_t                help_offset; /* of the flag that -h sets too */
} example_options;

/* Takes a word that is no option; `into` is the program's options. */
typedef pawl_code example_word_fn(const char *word, void *into, pawl_error *error);

/* Reads the words behind the program's name. PAWL_EINVAL names the wrong word. Words behind "--"
 * are no options. */
pawl_code example_options_parse(const example_options *table, int count, char **words, void *into,
                                example_word_fn *word, pawl_error *error);
/* One line for each option that has help, on standard output. */
void example_options_print(const example_options *table);

#endif
