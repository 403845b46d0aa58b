/* bench.c - `pawl bench`: its options. The folder bench measures; it is a module, libpawl-bench.so,
 * which loads another module for the kind of store: the command itself needs no database's library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"
#include "store/core/module.h"

#include <bench.h>

typedef struct verb_fields {
    pawl__store_fields  at; /* --store alone */
    pawl__bench_options bench;
} verb_fields;

static const char *const       workloads[] = {"append",  "broker",       "history",   "hot-saga",
                                              "latency", "outbox-drain", "retention", "saga-step",
                                              "steady",  "timeouts",     NULL};
static const pawl__choice_line workload_lines[] = {
    {"", "a commit of events and rows of the outbox, without an endpoint"},
    {"", "from a queue of RabbitMQ into another, beside a bare loop"},
    {"", "saga-step with a history, beside the same without"},
    {"", "many workers that all want one saga"},
    {"", "from a message's commit to its handler, and to the handler's commit"},
    {"", "rows of the outbox, to a receiver that takes all"},
    {"", "saga-step while old deduplication records are swept"},
    {"", "a saga is loaded, changed and saved by each message"},
    {"", "the same rate for minutes: does it stay as fast?"},
    {"", "timeouts are set, and fire"},
};
PAWL__LINES_FIT(workloads, workload_lines);

const pawl__argument pawl__bench_verb_arguments[] = {
    {.name    = "WORKLOAD",
     .offset  = offsetof(verb_fields, bench.workload),
     .choices = workloads,
     .lines   = workload_lines},
    {.name = NULL},
};
const pawl__option pawl__bench_verb_options[] = {
    {.name   = "apart",
     .kind   = PAWL__OPTION_FLAG,
     .offset = offsetof(verb_fields, bench.is_apart),
     .help   = "latency: the sender is a process of its own"},
    {.name   = "batch",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(verb_fields, bench.batch),
     .value  = "N",
     .help   = "messages in one commit",
     .default_words =
         PAWL__QUOTED(PAWL__BENCH_BATCH) ", broker " PAWL__QUOTED(PAWL__BENCH_BATCH_BROKER),
     .min = 1,
     .max = PAWL_BATCH_MESSAGES_MAX},
    {.name   = "due",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(verb_fields, bench.due),
     .value  = "N",
     .help   = "timeouts: then set so many again, due one by one, for their lateness",
     .min    = 1,
     .max    = 100000000},
    {.name   = "json",
     .kind   = PAWL__OPTION_FLAG,
     .offset = offsetof(verb_fields, bench.is_json),
     .help   = "print one JSON object"},
    {.name          = "marks",
     .kind          = PAWL__OPTION_COUNT,
     .offset        = offsetof(verb_fields, bench.marks),
     .value         = "N",
     .help          = "retention: old deduplication records to sweep",
     .has_default   = true,
     .value_default = 1000000,
     .min           = 1,
     .max           = 100000000},
    {.name          = "messages",
     .kind          = PAWL__OPTION_COUNT,
     .offset        = offsetof(verb_fields, bench.messages),
     .value         = "N",
     .help          = "messages in one round; not for latency, steady",
     .has_default   = true,
     .value_default = 100000,
     .min           = 1,
     .max           = 100000000},
    {.name   = "peer",
     .kind   = PAWL__OPTION_TEXT,
     .offset = offsetof(verb_fields, bench.peer),
     .value  = "NAME",
     .help   = "saga-step on PostgreSQL: measure this program, too: graphile"},
    {.name          = "pending",
     .kind          = PAWL__OPTION_COUNT,
     .offset        = offsetof(verb_fields, bench.pending),
     .value         = "N",
     .help          = "timeouts: as many more, scheduled a long time ahead",
     .default_words = "none",
     .min           = 1,
     .max           = 100000000},
    {.name   = "rate",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(verb_fields, bench.rate),
     .value  = "N",
     .help   = "a second",
     .default_words =
         "broker and latency " PAWL__QUOTED(PAWL__BENCH_RATE_LATENCY) ", steady " PAWL__QUOTED(
             PAWL__BENCH_RATE_STEADY) ", timeouts half of what was measured",
     .min = 1,
     .max = 1000000},
    {.name          = "rounds",
     .kind          = PAWL__OPTION_COUNT,
     .offset        = offsetof(verb_fields, bench.rounds),
     .value         = "N",
     .help          = "rounds of pawl and of the loop, in turn",
     .default_words = PAWL__QUOTED(PAWL__BENCH_ROUNDS) ", latency " PAWL__QUOTED(
         PAWL__BENCH_ROUNDS_LATENCY) ", steady " PAWL__QUOTED(PAWL__BENCH_ROUNDS_STEADY),
     .min = 1,
     .max = 99},
    {.name          = "seconds",
     .kind          = PAWL__OPTION_COUNT,
     .offset        = offsetof(verb_fields, bench.seconds),
     .value         = "N",
     .help          = "how long they come",
     .default_words = "broker " PAWL__QUOTED(PAWL__BENCH_SECONDS_BROKER) ", latency " PAWL__QUOTED(
         PAWL__BENCH_SECONDS_LATENCY) ", steady " PAWL__QUOTED(PAWL__BENCH_SECONDS_STEADY) ", timeouts as the rate says",
     .min = 1,
     .max = 86400},
    {.name          = "sender-batch",
     .kind          = PAWL__OPTION_COUNT,
     .offset        = offsetof(verb_fields, bench.sender_batch),
     .value         = "N",
     .help          = "hot-saga: messages a sender commits at once",
     .has_default   = true,
     .value_default = 16,
     .min           = 1,
     .max           = PAWL_BATCH_MESSAGES_MAX},
    {.name          = "senders",
     .kind          = PAWL__OPTION_COUNT,
     .offset        = offsetof(verb_fields, bench.senders),
     .value         = "N",
     .help          = "hot-saga: threads that send",
     .has_default   = true,
     .value_default = 8,
     .min           = 1,
     .max           = PAWL_WORKERS_MAX},
    PAWL__OPTION_STORE(verb_fields, at),
    {.name   = "transport",
     .kind   = PAWL__OPTION_TEXT,
     .offset = offsetof(verb_fields, bench.transport),
     .value  = "URL",
     .help   = "broker: the RabbitMQ, amqp://host/; it gets two queues for the while"},
    {.name   = "workers",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(verb_fields, bench.workers),
     .value  = "N",
     .help   = "threads of the endpoint, where it runs by itself",
     .default_words =
         PAWL__QUOTED(PAWL__BENCH_WORKERS) ", hot-saga " PAWL__QUOTED(PAWL__BENCH_WORKERS_HOT_SAGA),
     .min = 1,
     .max = PAWL_WORKERS_MAX},
    {.name = NULL},
};

const pawl__report pawl__bench_verb_reports[] = {
    {"each workload", NULL,
     "workload store messages batch rounds seed messages_per_s limit_per_s ratio no_limit"},
    {"some of them", NULL,
     "sent_per_s conflicts_per_1000 saga_step_per_s ratio_to_saga_step saga_step_ratio unswept_per_s ratio_to_unswept swept handler_p50_ms handler_p90_ms handler_p99_ms commit_p50_ms commit_p90_ms commit_p99_ms limit_handler_p50_ms limit_handler_p90_ms limit_handler_p99_ms limit_commit_p50_ms limit_commit_p90_ms limit_commit_p99_ms broker_handler_p50_ms broker_handler_p90_ms broker_handler_p99_ms broker_commit_p50_ms broker_commit_p90_ms broker_commit_p99_ms handled_first handled_last claims_ratio claim_p99_first_ms claim_p99_last_ms claim_p99_ratio due_per_s p99_lateness_ms fired fired_twice peer_per_second peer_ratio"},
    {.what = NULL},
};

/* The options must have the size that the module was built with: it takes the command's structs as
 * they are. */
static pawl_code load_bench(const pawl__bench_ops **ops, pawl_error *error)
{
    const void *table = NULL;
    pawl_code   code  = pawl__module_load("bench", "benchmarks", PAWL__BENCH_MODULE_SYMBOL,
                                          sizeof(pawl__bench_ops), &table, error);
    *ops              = table;
    if (code == PAWL_OK && (*ops)->options_size != sizeof(pawl__bench_options))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "the module libpawl-bench.so was built for another pawl: its options "
                              "have %zu bytes, those of this command %zu",
                              (*ops)->options_size, sizeof(pawl__bench_options));
    return code;
}

int pawl__bench_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.bench = {.workload = NULL}};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code = pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                           &fields, &error);
    if (code == PAWL_OK)
        code = pawl__store_url(&fields.at, &error);
    const pawl__bench_ops *bench = NULL;
    if (code == PAWL_OK)
        code = load_bench(&bench, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    fields.bench.store = fields.at.store;
    int exit_code      = bench->run(&fields.bench, stdout, &error);
    if (exit_code != 0) {
        fflush(stdout);
        pawl__fail_store(error.code, &error, fields.at.store);
    }
    return exit_code;
}
