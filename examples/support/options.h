/* options.h - reads a command line by a table.
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
    EXAMPLE_COUNT,    /* int64_t from 1, or from 0 if that is the default */
    EXAMPLE_DURATION, /* int64_t, microseconds */
} example_option_kind;

typedef struct example_option {
    const char         *name;
    example_option_kind kind;
    size_t              offset; /* in the program's options */
    int64_t             max;    /* of a count */
    const char         *value;  /* "N", "URL", for --help */
    const char         *help;   /* NULL: not shown by --help */
} example_option;

typedef struct example_options {
    const example_option *rows;
    size_t                count;
    size_t                help_offset; /* offset of the flag that -h sets, too */
} example_options;

/* Takes an argument that is not an option; `into` is the program's options. */
typedef pawl_code example_word_fn(const char *word, void *into, pawl_error *error);

/* Reads the arguments after the program's name. PAWL_EINVAL names the wrong one. Arguments after "--" are not
 * options. */
pawl_code example_options_parse(const example_options *table, int count, char **words, void *into,
                                example_word_fn *word, pawl_error *error);
/* Prints a line for each option that has help, to standard output. */
void example_options_print(const example_options *table);

#endif
