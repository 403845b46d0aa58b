/* saga.c - `pawl saga delete|history|list|show|verify-upgrade`: its words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"
#include "cli/cli.h"

#include <string.h>

#define RATE_DEFAULT 10000
#define RATE_MAX 10000000

typedef pawl__saga_fields verb_fields;

#define ACTIONS(X)                                                                                 \
    X(DELETE, "delete", "TYPE/VALUE", "end a saga that nothing ends: its row and its timeouts go", \
      pawl__saga_delete)                                                                           \
    X(HISTORY, "history", "TYPE/VALUE|MESSAGE-ID",                                                 \
      "what each of its messages did, of an endpoint that runs with --history",                    \
      pawl__saga_history)                                                                          \
    X(LIST, "list", "", "the sagas that are there", pawl__saga_list)                               \
    X(SHOW, "show", "TYPE/VALUE", "the state of one, and its timeouts", pawl__saga_show)           \
    X(VERIFY, "verify-upgrade", "", "can a new program go on with all that is stored?", NULL)
PAWL__ACTIONS(ACTIONS)
static const char *const format_names[] = {"dot", "json", "mermaid", "text", "xes", NULL};

#define FOR_DELETE (1U << ACTION_DELETE)
#define FOR_HISTORY (1U << ACTION_HISTORY)
#define FOR_LIST (1U << ACTION_LIST)
#define FOR_SHOW (1U << ACTION_SHOW)
#define FOR_VERIFY (1U << ACTION_VERIFY)

const pawl__argument pawl__saga_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(verb_fields, action),
    {.name        = "TYPE/VALUE",
     .offset      = offsetof(verb_fields, shown),
     .is_optional = true,
     .help =
         "the saga by its correlation value, with --app; TYPE/ID, as list has it; of history also a message's id"},
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__saga_verb_options[] = {
    OPTION("after", TEXT, after, "ID", FOR_LIST, "those behind this id; with --type"),
    OPTION(
        "app", TEXT, application, "APP.so", 0,
        "the program that has the sagas, all but history need it; verify-upgrade: the one that is to "
        "go on"),
    PAWL__OPTION_DEADLINE(verb_fields, at),
    OPTION("format", TEXT, format, "FORMAT", FOR_HISTORY,
           "text, json (an object on a line each), mermaid or dot (drawings), xes (a log to mine "
           "processes)",
           .choices = format_names, .default_words = "text, with --json json"),
    OPTION("from", TEXT, from, "OLD.so", FOR_VERIFY,
           "the program that runs: what both tables tell; needs no store"),
    OPTION(
        "intended", LIST, intended, "TYPE.MEMBER", FOR_VERIFY,
        "a member whose first value or OPT_ is another one, which stored rows without it are to have"),
    OPTION("json", FLAG, is_json, NULL, 0, "one JSON object on a line each"),
    PAWL__OPTION_LIMIT(verb_fields, limit, FOR_LIST, "sagas"),
    PAWL__OPTION_PREFIX(verb_fields, at),
    OPTION("rate", COUNT, rate, "ROWS", FOR_VERIFY, "rows in a second, at most", 1, RATE_MAX,
           .has_default = true, .value_default = RATE_DEFAULT),
    OPTION("reason", TEXT, reason, "TEXT", FOR_DELETE, "why, for the record"),
    OPTION("removed", LIST, removed, "TYPE.MEMBER", FOR_VERIFY,
           "a member that is stored, and is not to be read any more"),
    OPTION("resume", TEXT, resume, "FILE", FOR_VERIFY,
           "written while it goes on, removed at the end; when it is there: go on from there"),
    OPTION("reveal", FLAG, is_revealed, NULL, FOR_SHOW, "secret members as well"),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, saga_prefix, 0),
    PAWL__OPTION_STORE(verb_fields, at),
    OPTION("type", FILTER, type, "TYPE", FOR_LIST, "sagas of this type"),
    OPTION("yes", FLAG, is_agreed, NULL, FOR_DELETE, "without asking"),
    {.name = NULL},
};

PAWL__ACTION_LOOKS(ACTIONS)

static pawl_code check_fields(verb_fields *fields, size_t action, pawl_error *error)
{
    pawl_code code = pawl__reason_check(fields->reason, error);
    if (code == PAWL_OK && action == ACTION_VERIFY)
        return pawl__verify_check(fields, error);
    if (code == PAWL_OK && action != ACTION_HISTORY)
        code = pawl__saga_look_check(fields, error);
    else if (code == PAWL_OK && fields->is_json && fields->format != NULL &&
             strcmp(fields->format, "json") != 0)
        return pawl_error_set(error, PAWL_EINVAL, "--json and --format %s: give one of them",
                              fields->format);
    if (code == PAWL_OK && fields->application != NULL)
        code = pawl__saga_book_open(fields->application, fields->saga_prefix, &fields->book, error);
    return code;
}

int pawl__saga_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.action = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    size_t action = code == PAWL_OK ? pawl__choice_of(action_names, pawl_text_of(fields.action))
                                    : ACTION_VERIFY;
    if (code == PAWL_OK)
        code = check_fields(&fields, action, &error);
    pawl__interrupt_says(NULL);
    int exit_code = code != PAWL_OK         ? pawl__fail(code, &error)
                    : looks[action] == NULL ? pawl__verify(&fields)
                                            : pawl__store_look(&fields.at, looks[action], &fields);
    pawl__saga_book_close(&fields.book);
    return exit_code;
}
