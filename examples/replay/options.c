/* options.c - the words of the command line, read by a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "options.h"

#include "pawl/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the field at `offset` is. */
typedef enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char * */
    OPTION_COUNT,    /* int64_t from 1, or from 0 where that is the default */
    OPTION_DURATION, /* int64_t, microseconds */
} option_kind;

typedef struct option_row {
    const char *name;
    option_kind kind;
    size_t      offset;
    int64_t     max;
    const char *value;
    const char *help; /* NULL: not for people */
} option_row;

#define AT(field) offsetof(replay_options, field)

static const option_row rows[] = {
    {"activity", OPTION_TEXT, AT(columns.activity), 0, "NAME",
     "column or key of the activity [concept:name]"},
    {"archive", OPTION_TEXT, AT(archive), 0, "URL",
     "store that counts the closed cases [a SQLite file in the work folder]"},
    {"batch", OPTION_COUNT, AT(batch), REPLAY_BATCH_MAX, "N",
     "events of one group that are handed over together [50]"},
    {"batch-messages", OPTION_COUNT, AT(batch_messages), PAWL_BATCH_MESSAGES_MAX, "N",
     "most messages in one commit [256; with --crash few enough for all kills]"},
    {"case", OPTION_TEXT, AT(columns.case_id), 0, "NAME",
     "column or key of the case [case:concept:name]"},
    {"child", OPTION_TEXT, AT(child), 0, "", NULL},
    {"crash", OPTION_COUNT, AT(kills), REPLAY_KILLS_MAX, "N",
     "kill the replay N times on its way; the report must come out the same"},
    {"deadline", OPTION_DURATION, AT(deadline), 0, "DURATION",
     "longest wait for one call of a store [30s]"},
    {"group-by", OPTION_TEXT, AT(columns.group), 0, "NAME",
     "column or key of the group [org:group]"},
    {"help", OPTION_FLAG, AT(wants_help), 0, NULL, "say this"},
    {"json", OPTION_FLAG, AT(is_json), 0, NULL, "report one JSON object on standard output"},
    {"keep", OPTION_FLAG, AT(is_kept), 0, NULL,
     "leave the tables of this run where they are, and the folder of its own"},
    {"quiet", OPTION_DURATION, AT(quiet), 0, "DURATION",
     "a case is closed when nothing happens in it for so long [30d]"},
    {"run", OPTION_TEXT, AT(run), 0, "RUN",
     "go on with a run that stayed in --work, or in --store and --archive"},
    {"seed", OPTION_COUNT, AT(seed), INT64_MAX, "S", "of the moments of --crash [drawn and said]"},
    {"store", OPTION_TEXT, AT(store), 0, "URL",
     "store of the replay [a SQLite file in the work folder]"},
    {"time", OPTION_TEXT, AT(columns.time), 0, "NAME",
     "column or key of the time [time:timestamp]"},
    {"version", OPTION_FLAG, AT(wants_version), 0, NULL, "say which pawl this is"},
    {"work", OPTION_TEXT, AT(work), 0, "DIR",
     "folder for the SQLite files, which stay there [a new one, removed at the end]"},
    {"workers", OPTION_FLAG, AT(wants_workers), 0, NULL, NULL},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* Longest first among those that end alike. A bare number is seconds. */
static const struct {
    const char *name;
    int64_t     microseconds;
} units[] = {
    {"", 1000000},
    {"d", INT64_C(86400000000)},
    {"h", INT64_C(3600000000)},
    {"m", 60000000},
    {"ms", 1000},
    {"s", 1000000},
};

static pawl_code parse_duration(const option_row *row, const char *text, int64_t *duration,
                                pawl_error *error)
{
    size_t digits = strspn(text, "0123456789");
    errno         = 0;
    int64_t value = strtoll(text, NULL, 10);
    for (size_t i = 0; digits > 0 && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].name) != 0)
            continue;
        if (errno != 0 || value > PAWL_TIME_MAX / units[i].microseconds)
            return pawl_error_set(error, PAWL_EINVAL, "--%s: '%s' is too long", row->name, text);
        if (value == 0)
            return pawl_error_set(error, PAWL_EINVAL, "--%s: '%s' is no time at all", row->name,
                                  text);
        *duration = value * units[i].microseconds;
        return PAWL_OK;
    }
    return pawl_error_set(error, PAWL_EINVAL,
                          "--%s: '%s' is no duration: expected seconds, or a number and ms, s, m, "
                          "h or d",
                          row->name, text);
}

static pawl_code parse_count(const option_row *row, const char *text, int64_t *count,
                             pawl_error *error)
{
    size_t digits = strspn(text, "0123456789");
    errno         = 0;
    int64_t value = strtoll(text, NULL, 10);
    if (digits == 0 || text[digits] != '\0' || errno != 0 || value < 1 || value > row->max)
        return pawl_error_set(error, PAWL_EINVAL, "--%s: '%s' is no number from 1 to %" PRId64,
                              row->name, text, row->max);
    *count = value;
    return PAWL_OK;
}

static pawl_code set_value(const option_row *row, const char *text, replay_options *options,
                           pawl_error *error)
{
    void *field = (char *)options + row->offset;
    if (text[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL, "--%s: the value is empty", row->name);
    switch (row->kind) {
    case OPTION_TEXT: *(const char **)field = text; return PAWL_OK;
    case OPTION_COUNT: return parse_count(row, text, field, error);
    case OPTION_DURATION: return parse_duration(row, text, field, error);
    case OPTION_FLAG: break;
    }
    return pawl_error_set(error, PAWL_EINVAL, "--%s takes no value", row->name);
}

static const option_row *find_row(const char *name, size_t size)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0)
            return &rows[i];
    return NULL;
}

/* One option at words[*at], "--name value" or "--name=value". */
static pawl_code parse_option(int count, char **words, int *at, replay_options *options,
                              pawl_error *error)
{
    const char       *word  = words[*at];
    size_t            size  = strcspn(word, "=");
    const option_row *row   = size > 2 ? find_row(word + 2, size - 2) : NULL;
    const char       *value = word[size] == '=' ? word + size + 1 : NULL;
    if (row == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "there is no option '%.*s'; --help lists all of them", (int)size,
                              word);
    if (row->offset == AT(wants_workers))
        return pawl_error_set(error, PAWL_EINVAL,
                              "--workers: a replay moves the clock itself and so runs on one "
                              "thread");
    if (row->kind == OPTION_FLAG && value == NULL) {
        *(bool *)((char *)options + row->offset) = true;
        return PAWL_OK;
    }
    if (value == NULL && *at + 1 < count)
        value = words[++*at];
    if (value == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--%s needs a value: %s", row->name, row->value);
    return set_value(row, value, options, error);
}

static pawl_code parse_words(int count, char **words, replay_options *options, pawl_error *error)
{
    bool options_ended = false;
    for (int i = 0; i < count; i++) {
        pawl_code code = PAWL_OK;
        if (!options_ended && strcmp(words[i], "--") == 0)
            options_ended = true;
        else if (!options_ended && strcmp(words[i], "-h") == 0)
            options->wants_help = true;
        else if (!options_ended && words[i][0] == '-')
            code = parse_option(count, words, &i, options, error);
        else if (options->log != NULL)
            code = pawl_error_set(error, PAWL_EINVAL, "one log at a time: '%s' or '%s'",
                                  options->log, words[i]);
        else
            options->log = words[i];
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

pawl_code replay_options_parse(int count, char **words, replay_options *options, pawl_error *error)
{
    *options       = (replay_options){.quiet = REPLAY_QUIET_DEFAULT, .batch = REPLAY_BATCH_DEFAULT};
    pawl_code code = parse_words(count, words, options, error);
    options->columns.group_is_required = options->columns.group != NULL;
    if (options->log == NULL)
        options->log = getenv("PAWL_REPLAY_LOG"); /* the demo's own */
    if (code == PAWL_OK && options->log == NULL && !options->wants_help && !options->wants_version)
        return pawl_error_set(error, PAWL_EINVAL, "no log given: pawl-replay LOG [OPTIONS]");
    return code;
}

void replay_options_help(void)
{
    puts("usage: pawl-replay LOG [OPTIONS]\n"
         "\n"
         "Replays an event log (CSV or XES, plain or gzipped) through sagas, timeouts,\n"
         "an aggregator and an outbox in the log's own time, and compares every case and\n"
         "group with a single pass over the log. A duration is 500ms, 5s, 15m, 2h, 30d or\n"
         "a number of seconds.\n");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        char left[40];
        if (rows[i].help == NULL)
            continue;
        snprintf(left, sizeof left, "--%s %s", rows[i].name,
                 rows[i].value != NULL ? rows[i].value : "");
        printf("  %-20s %s\n", left, rows[i].help);
    }
    puts("\nexit codes: 0 verified, 1 not verified, 2 refused log or option, 3 store cannot be\n"
         "reached, 4 schema newer, 5 stopped part-way (disk full, store locked or lost)");
}
