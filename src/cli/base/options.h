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
    const char       *value; /* a word for the value, in the help */
    /* Choices of the verb's first argument that use the option, a bit each in their order; 0: all. */
    unsigned    actions;
    const char *help;
    int64_t     min, max; /* COUNT; DURATION with a max */
    bool        has_none; /* the value 0 has the word "none"; below `min` only the word is taken */
    /* The default of a COUNT, a DURATION or a YES_NO, and that of a TEXT: parsing puts it into the
     * field, and the help shows it, with the limits. */
    bool        has_default;
    int64_t     value_default;
    const char *text_default;
    /* Whether it was given counts: the field is -1, or NULL of a TEXT, when it was not, since the
     * default holds only where neither a file nor the application has a value. */
    bool        is_layered;
    const char *default_words; /* for the help, of a default that the verb works out */
    const char *with;          /* the option, a flag, that this one is for; NULL: none */
    /* TEXT: the valid words, which parsing checks; ends with NULL. NULL: any text. */
    const char *const *choices;
    bool               is_set;  /* several of them, with commas between */
    bool               is_open; /* other words are valid as well: the choices are for completion */
} pawl__option;

/* A row: behind the member stand a word for the value, the actions and the help, then limits or others by name. */
#define PAWL__OPTION(fields, name_, kind_, member, ...)                                  \
    {                                                                                    \
        .name = name_, .kind = PAWL__OPTION_##kind_, .offset = offsetof(fields, member), \
        __VA_ARGS__                                                                      \
    }

/* A constant as text, for words of the help. */
#define PAWL__QUOTED(constant) PAWL__QUOTED_AS_IT_IS(constant)
#define PAWL__QUOTED_AS_IT_IS(text) #text

/* The help's row of a choice. Of a verb's first argument the words say how many others it takes, which parsing checks. */
typedef struct pawl__choice_line {
    const char *words; /* behind it: "" none, "ID", "STREAM [VERSION]", "ID ..." any number */
    const char *help;
} pawl__choice_line;

/* A word without "--"; a verb needs all of its arguments but the optional ones, which come last.
 * The field is a const char *; a list, which is the last argument and optional, has a
 * pawl__texts. */
typedef struct pawl__argument {
    const char        *name; /* NULL ends the list */
    size_t             offset;
    const char        *help;    /* of a word that has no choices; NULL: said elsewhere */
    const char *const *choices; /* ends with NULL; NULL: any word */
    /* In the order of the choices; NULL: none, as where any word goes. */
    const pawl__choice_line *lines;
    bool                     is_optional;
    bool                     is_list;
    bool                     is_open; /* may be empty, and of any bytes */
} pawl__argument;

/* A row: behind the member stands the help, then others by name. */
#define PAWL__ARGUMENT(fields, name_, member, ...)                     \
    {                                                                  \
        .name = name_, .offset = offsetof(fields, member), __VA_ARGS__ \
    }

/* The actions of a verb as one list, a row each: X(LIST, "list", words behind it, its help, its function). It becomes the
 * numbers ACTION_LIST ..., the words and the help's rows, and in front of the verb's function the functions. */
#define PAWL__ACTION_NUMBER(id, name, words, help, action) ACTION_##id,
#define PAWL__ACTION_NAME(id, name, words, help, action) name,
#define PAWL__ACTION_LINE(id, name, words, help, action) {words, help},
#define PAWL__ACTION_FUNCTION(id, name, words, help, action) action,
#define PAWL__ACTIONS(list)                                                         \
    enum { list(PAWL__ACTION_NUMBER) };                                             \
    static const char *const       action_names[] = {list(PAWL__ACTION_NAME) NULL}; \
    static const pawl__choice_line action_lines[] = {list(PAWL__ACTION_LINE)};
#define PAWL__ACTION_TABLE(list) \
    static pawl__action_fn *const actions[] = {list(PAWL__ACTION_FUNCTION)};
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
/* Of sagas, of the endpoint that --app has or runs. */
#define PAWL__OPTION_SAGA_PREFIX(fields, member, actions)              \
    PAWL__OPTION(fields, "saga-prefix", TEXT, member, "NAME", actions, \
                 "what the names of saga tables begin with",           \
                 .default_words = "the endpoint's name and _")
/* `nouns`: what is listed. The field is 0 when it is not given, as pawl__rows_list takes it. */
#define PAWL__OPTION_LIMIT(fields, member, actions, nouns)                                       \
    PAWL__OPTION(fields, "limit", COUNT, member, "N", actions, "at most N " nouns, 1, INT64_MAX, \
                 .default_words = PAWL__QUOTED(PAWL__LINES_DEFAULT) ", with --json all")

/* Fills `fields`, with the defaults first. PAWL_EINVAL names the wrong word and the nearest valid ones. */
pawl_code pawl__options_parse(const char *verb, const pawl__argument *arguments,
                              const pawl__option *options, int count, char **words, void *fields,
                              pawl_error *error);

/* The options by name, in whatever order the table lists them; how many they are. */
size_t pawl__options_sorted(const pawl__option *options,
                            const pawl__option *sorted[PAWL__OPTIONS_MAX]);
/* The option of that name, of `size` bytes; NULL: none. */
const pawl__option *pawl__option_find(const pawl__option *options, const char *name, size_t size);

/* The place of `word` among `choices`; that of the NULL behind them when it is none. */
size_t pawl__choice_of(const char *const *choices, pawl_text word);
/* "sagas,outbox" as a bit for each choice; words that are none are left out. */
unsigned pawl__choices_of(const char *const *choices, const char *words);

/* Up to three of `names` (ends with NULL) that a mistyped `word` may have meant, the nearest
 * alone, else all: "; did you mean X?" or "; valid are A, B". */
void pawl__suggest(const char *word, const char *prefix, const char *const *names, char *text,
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
/* PAWL_EINVAL for a text that is no UTF-8: a store would refuse it in its own words, or find no
 * row. `name` is "--source" or an argument's; NULL is well. */
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
