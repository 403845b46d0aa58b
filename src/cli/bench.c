/* bench.c - `pawl bench`: its options. The measuring is in the folder bench.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <bench.h>

typedef struct verb_fields {
    pawl__store_fields  at; /* only --store */
    pawl__bench_options bench;
} verb_fields;

static const char *const workloads[] = {"outbox-drain", "saga-step", "timeouts", NULL};

const pawl__argument pawl__bench_verb_arguments[] = {
    {.name = "WORKLOAD", .offset = offsetof(verb_fields, bench.workload), .choices = workloads},
    {.name = NULL},
};
const pawl__option pawl__bench_verb_options[] = {
    {.name   = "batch",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(verb_fields, bench.batch),
     .value  = "N",
     .help   = "messages in one commit; default 256",
     .min    = 1,
     .max    = PAWL_BATCH_MESSAGES_MAX},
    {.name   = "json",
     .kind   = PAWL__OPTION_FLAG,
     .offset = offsetof(verb_fields, bench.is_json),
     .help   = "print one JSON object"},
    {.name   = "messages",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(verb_fields, bench.messages),
     .value  = "N",
     .help   = "messages in one round; default 100000",
     .min    = 1,
     .max    = 100000000},
    {.name   = "rounds",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(verb_fields, bench.rounds),
     .value  = "N",
     .help   = "rounds of pawl and of the loop, in turn; default 5",
     .min    = 1,
     .max    = 99},
    PAWL__OPTION_STORE(verb_fields, at),
    {.name = NULL},
};

int pawl__bench_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.bench = {.batch = 256, .messages = 100000, .rounds = 5}};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code = pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                           &fields, &error);
    if (code == PAWL_OK)
        code = pawl__store_url(&fields.at, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    fields.bench.store = fields.at.store;
    int exit_code      = pawl__bench_run(&fields.bench, stdout, &error);
    if (exit_code != 0) {
        fflush(stdout);
        pawl__fail_store(error.code, &error, fields.at.store);
    }
    return exit_code;
}
