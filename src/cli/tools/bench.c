/* bench.c - `pawl bench`: parses its options and calls the module libpawl-bench.so (folder bench), which
 * measures. That loads another module for the kind of store, so the command needs no library of a database.
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

#define WORKLOADS(X)                                                                               \
    X(APPEND, "append", "", "a commit of events and rows of the outbox, without an endpoint",      \
      NULL)                                                                                        \
    X(BROKER, "broker", "", "from a queue of RabbitMQ into another, beside a bare loop", NULL)     \
    X(HISTORY, "history", "", "saga-step with a history, beside the same without", NULL)           \
    X(HOT_SAGA, "hot-saga", "", "many workers that all want one saga", NULL)                       \
    X(LATENCY, "latency", "",                                                                      \
      "from a message's commit to its handler, and to the handler's commit", NULL)                 \
    X(NO_OP, "no-op", "", "messages for a handler that does nothing", NULL)                        \
    X(OUTBOX_DRAIN, "outbox-drain", "", "rows of the outbox, to a receiver that takes all", NULL)  \
    X(PROCESSES, "processes", "", "several processes that work off one queue, beside one process", \
      NULL)                                                                                        \
    X(RETENTION, "retention", "", "saga-step while old deduplication records are swept", NULL)     \
    X(SAGA_STEP, "saga-step", "", "a saga is loaded, changed and saved by each message", NULL)     \
    X(STEADY, "steady", "", "the same rate for minutes: does it stay as fast?", NULL)              \
    X(TIMEOUTS, "timeouts", "", "timeouts are set, and fire", NULL)
PAWL__ACTIONS(WORKLOADS)

const pawl__argument pawl__bench_verb_arguments[] = {
    PAWL__ARGUMENT(verb_fields, "WORKLOAD", bench.workload, NULL, .choices = action_names,
                   .lines = action_lines),
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__bench_verb_options[] = {
    OPTION("apart", FLAG, bench.is_apart, NULL, 0,
           "latency, no-op with peers: the sender is a process of its own"),
    OPTION("batch", COUNT, bench.batch, "N", 0, "messages in one commit", 1,
           PAWL_BATCH_MESSAGES_MAX,
           .default_words =
               PAWL__QUOTED(PAWL__BENCH_BATCH) ", broker " PAWL__QUOTED(PAWL__BENCH_BATCH_BROKER)),
    OPTION("due", COUNT, bench.due, "N", 0,
           "timeouts: then set so many again, due one by one, for their lateness", 1, 100000000),
    OPTION(
        "grown", COUNT, bench.grown, "N", 0,
        "first so many rows: inbox (retention), sagas (saga-step), timeouts, delivered (outbox-drain)",
        1, 1000000000, .default_words = "none"),
    OPTION("json", FLAG, bench.is_json, NULL, 0, "print one JSON object"),
    OPTION("marks", COUNT, bench.marks, "N", 0, "retention: old deduplication records to sweep", 1,
           100000000, .has_default = true, .value_default = 1000000),
    OPTION("messages", COUNT, bench.messages, "N", 0,
           "messages in one round; not for latency, steady", 1, 100000000, .has_default = true,
           .value_default = 100000),
    OPTION("peer", TEXT, bench.peer, "NAME", 0,
           "no-op, and saga-step on PostgreSQL: measure this program, too: graphile"),
    OPTION("peers", FLAG, bench.has_peers, NULL, 0, "no-op: measure all peers, too"),
    OPTION("pending", COUNT, bench.pending, "N", 0,
           "timeouts: as many more, scheduled a long time ahead", 1, 100000000,
           .default_words = "none"),
    OPTION("processes", COUNT, bench.processes, "N", 0, "processes: how many", 2, PAWL_WORKERS_MAX,
           .has_default = true, .value_default = 6),
    OPTION(
        "rate", COUNT, bench.rate, "N", 0, "a second", 1, 1000000,
        .default_words =
            "broker, latency and no-op " PAWL__QUOTED(PAWL__BENCH_RATE_LATENCY) ", steady " PAWL__QUOTED(
                PAWL__BENCH_RATE_STEADY) ", timeouts half of what was measured"),
    OPTION("rounds", COUNT, bench.rounds, "N", 0, "rounds of pawl and of the loop, in turn", 1, 99,
           .default_words = PAWL__QUOTED(PAWL__BENCH_ROUNDS) ", latency " PAWL__QUOTED(
               PAWL__BENCH_ROUNDS_LATENCY) ", steady " PAWL__QUOTED(PAWL__BENCH_ROUNDS_STEADY)),
    OPTION(
        "seconds", COUNT, bench.seconds, "N", 0, "how long they come", 1, 86400,
        .default_words =
            "broker " PAWL__QUOTED(PAWL__BENCH_SECONDS_BROKER) ", latency " PAWL__QUOTED(PAWL__BENCH_SECONDS_LATENCY) ", no-op " PAWL__QUOTED(
                PAWL__BENCH_SECONDS_PEERS) ", steady " PAWL__QUOTED(PAWL__BENCH_SECONDS_STEADY) ", timeouts as the rate says"),
    OPTION("sender-batch", COUNT, bench.sender_batch, "N", 0,
           "hot-saga: messages a sender commits at once", 1, PAWL_BATCH_MESSAGES_MAX,
           .has_default = true, .value_default = 16),
    OPTION("senders", COUNT, bench.senders, "N", 0, "hot-saga: threads that send", 1,
           PAWL_WORKERS_MAX, .has_default = true, .value_default = 8),
    OPTION(
        "snapshot", COUNT, bench.snapshot, "N", 0,
        "steady on PostgreSQL: seconds that a transaction's snapshot is open, from the second minute",
        1, 86400, .default_words = "throughout"),
    PAWL__OPTION_STORE(verb_fields, at),
    OPTION("transport", TEXT, bench.transport, "URL", 0,
           "broker: the RabbitMQ, amqp://host/; it gets two queues for the while"),
    OPTION("workers", COUNT, bench.workers, "N", 0,
           "threads of the endpoint, where it runs by itself", 1, PAWL_WORKERS_MAX,
           .default_words = PAWL__QUOTED(PAWL__BENCH_WORKERS) ", hot-saga " PAWL__QUOTED(
               PAWL__BENCH_WORKERS_HOT_SAGA)),
    {.name = NULL},
};

const pawl__report pawl__bench_verb_reports[] = {
    {"each workload", NULL,
     "workload store messages batch rounds seed messages_per_s limit_per_s ratio no_limit"},
    {"some of them", NULL,
     "sent_per_s conflicts_per_1000 saga_step_per_s ratio_to_saga_step saga_step_ratio alone_per_s ratio_to_alone empty_per_s ratio_to_empty unswept_per_s ratio_to_unswept swept handler_p50_ms handler_p90_ms handler_p99_ms commit_p50_ms commit_p90_ms commit_p99_ms limit_handler_p50_ms limit_handler_p90_ms limit_handler_p99_ms limit_commit_p50_ms limit_commit_p90_ms limit_commit_p99_ms broker_handler_p50_ms broker_handler_p90_ms broker_handler_p99_ms broker_commit_p50_ms broker_commit_p90_ms broker_commit_p99_ms handled_first handled_last claims_ratio claim_p99_first_ms claim_p99_last_ms claim_p99_ratio due_per_s p99_lateness_ms fired fired_twice peer_per_second peer_ratio peers"},
    {"each of the peers", NULL,
     "peer left_out error configuration promises per_second pawl_by_peer p50_ms p99_ms"},
    {.what = NULL},
};

/* Loads the module, which must have the same struct of options, as it gets a pointer to it. */
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
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
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
