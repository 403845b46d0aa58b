/* broker.c - messages come from a queue of a broker, and the follow-up of each goes to another queue there,
 * confirmed. Beside it a bare loop that consumes and publishes, and does nothing else.
 *
 *     queue --> handler: mark, outbox --------> queue        pawl, a store between
 *     queue --> saga: mark, state, outbox ----> queue        the steps of saga-step
 *     queue --> loop -------------------------> queue        the limit
 *
 * Afterwards: how long is one message under way that comes from the broker, and one that is in the store?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "broker.h"

#include "background.h"
#include "latency.h"
#include "post_office.h"
#include "store/core/module.h"
#include "timed.h"

#include <stdio.h>
#include <unistd.h>

#define FILL_COUNT 1000 /* messages that are confirmed together while the queue is filled */
#define PATIENCE PAWL_SECONDS(60)

/* Of this process: one benchmark runs at a time. */
static char               names[2][64];
static char               read_url[PAWL_URL_SIZE_MAX + 1]; /* with the first queue */
static pawl__bench_queues queues;

/* ---- Queues --------------------------------------------------------------- */

static pawl_code remove_queues(pawl_error *error)
{
    pawl_code code = pawl__bench_queue_remove(queues.url, queues.from, error);
    return code == PAWL_OK ? pawl__bench_queue_remove(queues.url, queues.to, error) : code;
}

static pawl_code make_queues(pawl_error *error)
{
    pawl_code code = remove_queues(error);
    if (code == PAWL_OK)
        code = pawl__bench_queue_make(queues.url, queues.from, error);
    return code == PAWL_OK ? pawl__bench_queue_make(queues.url, queues.to, error) : code;
}

static pawl_code begin(const pawl__bench_job *job, pawl_error *error)
{
    const char *ends[] = {"from", "to"};
    queues             = (pawl__bench_queues){job->options->transport, names[0], names[1]};
    if (queues.url == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "no broker is named: --transport amqp://host/ is missing");
    for (size_t i = 0; i < 2; i++)
        (void)snprintf(names[i], sizeof names[i], "pawl_bench_%s_%ld_%lld", ends[i], (long)getpid(),
                       (long long)pawl__bench_clock());
    int size = snprintf(read_url, sizeof read_url, "%s#%s", queues.url, queues.from);
    if (size < 0 || (size_t)size >= sizeof read_url)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "URL of the broker: with its queue it has %d "
                              "bytes, limit %d",
                              size, PAWL_URL_SIZE_MAX);
    return make_queues(error);
}

static pawl_code end(const pawl__bench_job *job, pawl_error *error)
{
    (void)job;
    pawl__bench_tape_end();
    return names[1][0] != '\0' ? remove_queues(error) : PAWL_OK;
}

static pawl_code send_all(const pawl__bench_job *job, const int64_t *orders,
                          pawl__bench_post_office *office, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (int64_t i = 0; code == PAWL_OK && i < job->messages; i += FILL_COUNT) {
        size_t count = (size_t)pawl__bench_piece(job->messages, i, FILL_COUNT);
        code         = pawl__bench_post_office_send(office, job, orders + i, i, count, error);
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
        pawl__bench_progress("filling the broker's queue", i, job->messages);
    }
    return code;
}

/* Before each turn: queues that nobody has used, and in the first one the messages. */
static pawl_code fill_queue(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_post_office office = {.outbound = NULL};
    int64_t                *orders = pawl__bench_shuffled_orders(job);
    pawl_code               code   = orders != NULL ? make_queues(error)
                                                    : pawl_error_set(error, PAWL_ENOMEM, "no memory for orders");
    if (code == PAWL_OK)
        code = pawl__bench_post_office_begin(&office, queues.url, queues.from, error);
    if (code == PAWL_OK)
        code = send_all(job, orders, &office, error);
    pawl__bench_post_office_end(&office);
    pawl_free(orders);
    return code;
}

/* ---- pawl ----------------------------------------------------------------- */

static pawl_code rows_left(void *context, int64_t *left, pawl_error *error)
{
    const int64_t *messages = context;
    (void)error;
    *left = *messages - pawl__bench_tape_sent();
    return PAWL_OK;
}

static pawl_code work(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    const pawl_route routes[] = {
        {.name = PAWL__BENCH_OUTSIDE, .url = queues.url, .queue = queues.to}, {.name = NULL}};
    pawl__bench_background background = {.is_started = false};
    pawl_endpoint         *endpoint   = NULL;
    int64_t                messages   = job->messages;
    pawl_code              code       = pawl__bench_endpoint(job, routes, false, &endpoint, error);
    int64_t                start      = pawl__bench_clock();
    if (code == PAWL_OK)
        code = pawl__bench_background_start(&background, endpoint, error);
    if (code == PAWL_OK)
        code = pawl__bench_wait(&background, "follow-ups", rows_left, &messages, PATIENCE, error);
    *microseconds = pawl__bench_clock() - start;
    return pawl__bench_background_stop(&background, code, error);
}

static pawl_code check_store(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = job->handler == PAWL__BENCH_RELAY ? pawl__bench_check_relayed(&handle, job, error)
                                                 : pawl__bench_check_steps(&handle, job, 0, error);
    pawl__bench_close(&handle);
    return code;
}

static pawl_code run_steps(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    pawl__bench_job timed = *job;
    pawl_code       code  = fill_queue(job, error);
    timed.transport       = read_url;
    if (code == PAWL_OK)
        code = pawl__bench_tape_begin(job->url, &timed.url, error);
    if (code == PAWL_OK)
        code = work(&timed, microseconds, error);
    return code == PAWL_OK ? check_store(job, error) : code;
}

static pawl_code run_relay(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    pawl__bench_job relayed = *job;
    relayed.handler         = PAWL__BENCH_RELAY;
    return run_steps(&relayed, microseconds, error);
}

/* After pawl and after the loop alike. */
static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    int64_t   found = 0;
    pawl_code code  = pawl__bench_queue_count(queues.url, queues.to, job->messages, &found, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("follow-ups in the queue", found, job->messages, error);
    if (code == PAWL_OK)
        code = pawl__bench_queue_count(queues.url, queues.from, 0, &found, error);
    return code == PAWL_OK ? pawl__bench_expect("messages left in the queue", found, 0, error)
                           : code;
}

/* ---- The loop ------------------------------------------------------------- */

static pawl_code run_bare(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    const void *table = NULL;
    pawl_code   code =
        pawl__module_load("bench-rabbitmq", "the loop beside broker", PAWL__BENCH_BARE_SYMBOL,
                          sizeof(pawl__bench_bare), &table, error);
    if (code == PAWL_OK)
        code = fill_queue(job, error);
    if (code != PAWL_OK)
        return code;
    const pawl__bench_bare *bare = table;
    return bare->loop(&queues, job, microseconds, error);
}

/* ---- One message at a time ------------------------------------------------ */

static pawl_code open_office(const pawl__bench_job *job, void **side, pawl_error *error)
{
    pawl__bench_post_office *office = pawl_allocate(sizeof *office);
    (void)job;
    *side = office;
    return office != NULL ? pawl__bench_post_office_begin(office, queues.url, queues.from, error)
                          : pawl_error_set(error, PAWL_ENOMEM, "no memory for a sender");
}

static void close_office(void *side)
{
    if (side != NULL)
        pawl__bench_post_office_end(side);
    pawl_free(side);
}

static pawl_code send_one(void *side, const pawl__bench_job *job, int64_t number, pawl_error *error)
{
    int64_t order = number / PAWL__BENCH_STEPS_OF_ORDER;
    return pawl__bench_post_office_send(side, job, &order, number, 1, error);
}

static const pawl__bench_way broker_way = {open_office, send_one, close_office,
                                           pawl__bench_broker_handler_p50_ms,
                                           pawl__bench_broker_commit_p50_ms};

static pawl_code measure_latency(const pawl__bench_job *job, double messages_per_s,
                                 pawl_error *error)
{
    pawl__bench_job through_broker = *job;
    (void)messages_per_s;
    through_broker.transport = read_url;
    pawl_code code =
        pawl__bench_latency_after(&pawl__bench_store_way, job, PAWL__BENCH_SECONDS_BROKER, error);
    return code == PAWL_OK ? pawl__bench_latency_after(&broker_way, &through_broker,
                                                       PAWL__BENCH_SECONDS_BROKER, error)
                           : code;
}

static const pawl__bench_beside saga_step = {.who         = "saga-step",
                                             .run         = run_steps,
                                             .check       = check,
                                             .rate        = pawl__bench_saga_step_per_s,
                                             .ratio       = pawl__bench_ratio_to_saga_step,
                                             .limit_ratio = pawl__bench_saga_step_ratio};

const pawl__bench_workload pawl__bench_broker = {.name    = "broker",
                                                 .fill    = pawl__bench_tables_fill,
                                                 .run     = run_relay,
                                                 .check   = check,
                                                 .beside  = &saga_step,
                                                 .after   = measure_latency,
                                                 .limit   = run_bare,
                                                 .begin   = begin,
                                                 .end     = end,
                                                 .batch   = PAWL__BENCH_BATCH_BROKER,
                                                 .rounds  = PAWL__BENCH_ROUNDS,
                                                 .workers = PAWL__BENCH_WORKERS};
