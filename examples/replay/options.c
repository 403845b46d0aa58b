/* options.c - reads the command line by a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "options.h"

#include "pawl/limits.h"
#include "support/options.h"

#include <stdio.h>
#include <stdlib.h>

#define AT(field) offsetof(replay_options, field)

static const example_option rows[] = {
    {"activity", EXAMPLE_TEXT, AT(columns.activity), 0, "NAME",
     "column or key of the activity [concept:name]"},
    {"archive", EXAMPLE_TEXT, AT(archive), 0, "URL",
     "store that counts the closed cases [a SQLite file in the work folder]"},
    {"batch", EXAMPLE_COUNT, AT(batch), REPLAY_BATCH_MAX, "N",
     "events of one group that are handed over together [50]"},
    {"batch-messages", EXAMPLE_COUNT, AT(batch_messages), PAWL_BATCH_MESSAGES_MAX, "N",
     "most messages in one commit [256; with --crash few enough for all kills]"},
    {"case", EXAMPLE_TEXT, AT(columns.case_id), 0, "NAME",
     "column or key of the case [case:concept:name]"},
    {"child", EXAMPLE_TEXT, AT(child), 0, "", NULL},
    {"crash", EXAMPLE_COUNT, AT(kills), REPLAY_KILLS_MAX, "N",
     "kill the replay N times on its way; the report must come out the same"},
    {"deadline", EXAMPLE_DURATION, AT(deadline), 0, "DURATION",
     "longest wait for one call of a store [30s]"},
    {"group-by", EXAMPLE_TEXT, AT(columns.group), 0, "NAME",
     "column or key of the group [org:group]"},
    {"help", EXAMPLE_FLAG, AT(wants_help), 0, NULL, "say this"},
    {"json", EXAMPLE_FLAG, AT(is_json), 0, NULL, "report one JSON object on standard output"},
    {"keep", EXAMPLE_FLAG, AT(is_kept), 0, NULL,
     "leave the tables of this run where they are, and the folder of its own"},
    {"quiet", EXAMPLE_DURATION, AT(quiet), 0, "DURATION",
     "a case is closed when nothing happens in it for so long [30d]"},
    {"run", EXAMPLE_TEXT, AT(run), 0, "RUN",
     "go on with a run that stayed in --work, or in --store and --archive"},
    {"seed", EXAMPLE_COUNT, AT(seed), INT64_MAX, "S", "of the moments of --crash [drawn and said]"},
    {"store", EXAMPLE_TEXT, AT(store), 0, "URL",
     "store of the replay [a SQLite file in the work folder]"},
    {"time", EXAMPLE_TEXT, AT(columns.time), 0, "NAME",
     "column or key of the time [time:timestamp]"},
    {"transport", EXAMPLE_TEXT, AT(transport), 0, "URL",
     "broker (amqp://host/) through which the events travel, in a queue of the run's own"},
    {"version", EXAMPLE_FLAG, AT(wants_version), 0, NULL, "say which pawl this is"},
    {"work", EXAMPLE_TEXT, AT(work), 0, "DIR",
     "folder for the SQLite files, which stay there [a new one, removed at the end]"},
    {"workers", EXAMPLE_TEXT, AT(workers), 0, "N", NULL},
};

static const example_options table = {rows, sizeof rows / sizeof rows[0], AT(wants_help)};

static pawl_code take_log(const char *word, void *into, pawl_error *error)
{
    replay_options *options = into;
    if (options->log != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "one log at a time: '%s' or '%s'", options->log,
                              word);
    options->log = word;
    return PAWL_OK;
}

pawl_code replay_options_parse(int count, char **words, replay_options *options, pawl_error *error)
{
    *options       = (replay_options){.quiet = REPLAY_QUIET_DEFAULT, .batch = REPLAY_BATCH_DEFAULT};
    pawl_code code = example_options_parse(&table, count, words, options, take_log, error);
    if (code == PAWL_OK && options->workers != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--workers: a replay moves the clock itself and so runs on one "
                              "thread");
    options->columns.group_is_required = options->columns.group != NULL;
    if (options->log == NULL)
        options->log = getenv("PAWL_REPLAY_LOG"); /* set by the demo */
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
    example_options_print(&table);
    puts("\nexit codes: 0 verified, 1 not verified, 2 refused log or option, 3 store cannot be\n"
         "reached, 4 schema newer, 5 stopped part-way (disk full, store locked or lost)");
}
