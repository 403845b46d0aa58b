/* options.h - the words behind a verb, read by a table.
 *
 * A verb lists its options once; parsing, defaults, the error texts with the nearest valid names, and
 * the help all come from that list. The values land in a struct of the verb.
 *
 *     static const pawl__option options[] = {
 *         PAWL__OPTION(fields, "json", FLAG, is_json, NULL, 0, "one JSON object"),
 *         PAWL__OPTION(fields, "store", TEXT, store, "URL", 0, "where the data is"),
 *         {.name = NULL}};
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_usage.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_OPTIONS_H
#define PAWL_CLI_OPTIONS_H

#include "base/text.h"

/* Type of the field at `offset`. */
typedef enum pawl__option_kind {
    PAWL__OPTION_FLAG,   /* bool, true when the option is there */
    PAWL__OPTION_YES_NO, /* bool */
    PAWL__OPTION_TEXT,   /* const char * */
    PAWL__OPTION_FILTER, /* const char *, UTF-8 and not empty: an unset variable of a script must not match all */
    PAWL__OPTION_TIME,     /* pawl_time; 0: not given */
    PAWL__OPTION_LIST,     /* pawl__texts; the option may be repeated */
    PAWL__OPTION_COUNT,    /* int64_t within min and max */
    PAWL__OPTION_DURATION, /* int64_t, microseconds: 500ms 5s 15m 2h 30d */
} pawl__option_kind;

#define PAWL__OPTIONS_MAX 48 /* options of one verb; a bit each for "seen" */
#define PAWL__TEXTS_MAX 64   /* repeated --header or --route */

typedef struct pawl__texts {
    const char *items[PAWL__TEXTS_MAX];
    size_t      count;
} pawl__texts;

typedef struct pawl__option {
    const char       *name; /* without "--"; NULL ends the list */
    pawl__option_kind kind;
    size_t            offset;
    const char       *value; /* placeholder in the help: "URL" */
    /* Choices of the verb's first argument that use the option, a bit each in their order; 0: all. */
    unsigned    actions;
    const char *help;
    int64_t     min, max; /* COUNT; DURATION with a max; TEXT with a max: bytes of UTF-8 */
    bool        has_none; /* the word "none" means 0, also if 0 is below `min` */
    /* The default of a COUNT, a DURATION or a YES_NO, and that of a TEXT: parsing puts it into the
     * field, and the help shows it, with the limits. */
    bool        has_default;
    int64_t     value_default;
    const char *text_default;
    /* Without the option the field is -1 (NULL of a TEXT) and not the default, which applies only if neither the file
     * of --config nor the application has a value. */
    bool        is_layered;
    const char *default_words; /* for the help: a default that the verb computes */
    const char *with;          /* a flag without which this option is refused; NULL: none */
    /* TEXT: the valid words, which parsing checks; ends with NULL. NULL: any text. */
    const char *const *choices;
    bool               is_set;  /* several choices, separated by commas */
    bool               is_open; /* other words are valid as well: the choices are for completion */
} pawl__option;

/* A row: after the member come placeholder, actions and help, then min and max, or other members by name. */
#define PAWL__OPTION(fields, name_, kind_, member, ...)                                  \
    {                                                                                    \
        .name = name_, .kind = PAWL__OPTION_##kind_, .offset = offsetof(fields, member), \
        __VA_ARGS__                                                                      \
    }

/* A constant as text, for words of the help. */
#define PAWL__QUOTED(constant) PAWL__QUOTED_AS_IT_IS(constant)
#define PAWL__QUOTED_AS_IT_IS(text) #text

/* The help of a choice. For a verb's first argument `words` names the arguments behind it, which parsing counts. */
typedef struct pawl__choice_line {
    const char *words; /* "": none, "ID", "STREAM [VERSION]", "ID ...": any number */
    const char *help;
} pawl__choice_line;

/* An argument: a word without "--". Optional ones come last. The field is a const char *; that of a list, which is
 * the last argument and optional, is a pawl__texts. */
typedef struct pawl__argument {
    const char        *name; /* NULL ends the list */
    size_t             offset;
    const char        *help;    /* if there are no choices; NULL: none */
    const char *const *choices; /* ends with NULL; NULL: any word */
    /* The help of the choices, in their order; or NULL. */
    const pawl__choice_line *lines;
    bool                     is_optional;
    bool                     is_list;
    bool                     is_open; /* may be empty, and of any bytes */
} pawl__argument;

/* A row: after the member comes the help, then other members by name. */
#define PAWL__ARGUMENT(fields, name_, member, ...)                     \
    {                                                                  \
        .name = name_, .offset = offsetof(fields, member), __VA_ARGS__ \
    }

/* Defines the actions of a verb from a list of rows X(LIST, "list", words behind it, its help, its function): the enum
 * ACTION_LIST ..., names and help. PAWL__ACTION_FUNCTION makes the functions' list, for PAWL__VERB_ON_STORE. */
#define PAWL__ACTION_NUMBER(id, name, words, help, action) ACTION_##id,
#define PAWL__ACTION_NAME(id, name, words, help, action) name,
#define PAWL__ACTION_LINE(id, name, words, help, action) {words, help},
#define PAWL__ACTION_FUNCTION(id, name, words, help, action) action,
#define PAWL__ACTIONS(list)                                                         \
    enum { list(PAWL__ACTION_NUMBER) };                                             \
    static const char *const       action_names[] = {list(PAWL__ACTION_NAME) NULL}; \
    static const pawl__choice_line action_lines[] = {list(PAWL__ACTION_LINE)};
#define PAWL__ARGUMENT_ACTION(fields, member) \
    PAWL__ARGUMENT(fields, "ACTION", member, NULL, .choices = action_names, .lines = action_lines)

/* ---- Options that many verbs have ---------------------------------------- */

/* `member` of the fields is a pawl__store_fields. */
#define PAWL__PREFIX_DEFAULT "pawl_"
#define PAWL__OPTION_DEADLINE(fields, member)                                                  \
    PAWL__OPTION(fields, "deadline", DURATION, member.deadline, "DURATION", 0,                 \
                 "longest wait for one call of the store", PAWL_MILLISECONDS(1), PAWL_DAYS(1), \
                 .has_default = true, .value_default = PAWL_SECONDS(30))
#define PAWL__OPTION_PREFIX(fields, member)                        \
    PAWL__OPTION(fields, "prefix", TEXT, member.prefix, "NAME", 0, \
                 "what the names of the shared tables begin with", \
                 .text_default = PAWL__PREFIX_DEFAULT)
#define PAWL__OPTION_STORE(fields, member)                      \
    PAWL__OPTION(fields, "store", TEXT, member.store, "URL", 0, \
                 "memory:, sqlite:PATH ...; else the variable PAWL_STORE")
/* The three of them. */
#define PAWL__OPTIONS_STORE(fields, member)                                     \
    PAWL__OPTION_DEADLINE(fields, member), PAWL__OPTION_PREFIX(fields, member), \
        PAWL__OPTION_STORE(fields, member)
/* The same, and --json of a verb that prints rows. */
#define PAWL__OPTIONS_ROWS(fields, member, is_json) \
    PAWL__OPTIONS_STORE(fields, member),            \
        PAWL__OPTION(fields, "json", FLAG, is_json, NULL, 0, "one JSON object on a line each")
#define PAWL__OPTION_SAGA_PREFIX(fields, member, actions)              \
    PAWL__OPTION(fields, "saga-prefix", TEXT, member, "NAME", actions, \
                 "what the names of saga tables begin with",           \
                 .default_words = "the endpoint's name and _")
/* `nouns`: what is listed. The field is 0 when it is not given, as pawl__rows_list takes it. */
#define PAWL__OPTION_LIMIT(fields, member, actions, nouns)                                       \
    PAWL__OPTION(fields, "limit", COUNT, member, "N", actions, "at most N " nouns, 1, INT64_MAX, \
                 .default_words = PAWL__QUOTED(PAWL__LINES_DEFAULT) ", with --json all")

/* The reason for an operator's action; `thing`: where it is recorded. With the user's name it fits a pawl_error. */
#define PAWL__REASON_SIZE_MAX 300
#define PAWL__OPTION_REASON(fields, member, actions, thing)                              \
    PAWL__OPTION(fields, "reason", TEXT, member, "TEXT", actions, "why, for the " thing, \
                 .max = PAWL__REASON_SIZE_MAX)

/* Sets `fields` to the defaults, then to the words. PAWL_EINVAL names the wrong word and similar valid ones. */
pawl_code pawl__options_parse(const char *verb, const pawl__argument *arguments,
                              const pawl__option *options, int count, char **words, void *fields,
                              pawl_error *error);

/* Sorts the options by name. Returns how many there are. */
size_t pawl__options_sorted(const pawl__option *options,
                            const pawl__option *sorted[PAWL__OPTIONS_MAX]);
/* The option of that name, of `size` bytes; NULL: none. */
const pawl__option *pawl__option_find(const pawl__option *options, const char *name, size_t size);

/* The index of `word` in `choices`, or that of the NULL at their end. */
size_t pawl__choice_of(const char *const *choices, pawl_text word);
/* "sagas,outbox" as a bit for each choice; other words are ignored. */
unsigned pawl__choices_of(const char *const *choices, const char *words);

/* Writes up to three of `names` (ends with NULL) that are the most similar to a mistyped `word`, "; did you mean X?".
 * If none is similar, writes them all: "; valid are A, B". False: there was no room for all of them. */
bool pawl__suggest(const char *word, const char *prefix, const char *const *names, char *text,
                   size_t size);

/* Writes the choices of the first argument that have a bit in `actions`: "list, show". */
void pawl__actions_text(const pawl__argument *argument, unsigned actions, char *text, size_t size);

/* Adds `what` to the text, cut where `size` bytes end. */
void pawl__append(char *text, size_t size, const char *what);

#define PAWL__WORD_SIZE 200

/* The word as an error text may repeat it: without a password, which a URL given at the wrong
 * argument may have. Cut to PAWL__WORD_SIZE. */
const char *pawl__shown(const char *word, char text[PAWL__WORD_SIZE]);

/* Parses a positive whole number; false for any other text. */
bool pawl__number_parse(const char *text, int64_t *number);
/* PAWL_EINVAL for a text that is not UTF-8, before a store gives a less clear error or finds no row. `name` is
 * "--source" or that of an argument. Both may be NULL. */
pawl_code pawl__text_check(const char *name, const char *value, pawl_error *error);
/* A whole number, or a duration, within the option's limits. */
pawl_code pawl__option_number(const pawl__option *option, const char *text, int64_t *number,
                              pawl_error *error);
/* The value of a COUNT, a DURATION or a YES_NO as it would be given: "3", "15m". */
const char *pawl__option_text(const pawl__option *option, int64_t value, char *text, size_t size);
/* "15m" as microseconds. PAWL_EINVAL names the text. */
pawl_code pawl__duration_parse(const char *text, int64_t *duration, pawl_error *error);

/* Cuts PORT, ADDRESS:PORT or [ADDRESS]:PORT in two: the address is a part of the text, empty where there is none. False:
 * no port up to 65535, or nothing before the colon. */
bool pawl__address_split(const char *text, pawl_text *address, int *port);

#endif
