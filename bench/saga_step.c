/* saga_step.c - one message is one step of an order's saga: inbox mark, load by
 * correlation, decode, handler, save, one outbox row, acknowledge. Each order
 * has six steps; the steps of all orders come in random order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga_step.h"
#include "timeouts.h"

#define FILL_COUNT 1000 /* messages of one commit while the queue is filled */

static int64_t order_count(const pawl__bench_job *job)
{
    return (job->messages + PAWL__BENCH_STEPS_OF_ORDER - 1) / PAWL__BENCH_STEPS_OF_ORDER;
}

/* ---- Filling -------------------------------------------------------------- */

int64_t *pawl__bench_shuffled_orders(const pawl__bench_job *job)
{
    pawl_random random;
    int64_t    *orders = pawl_allocate((size_t)job->messages * sizeof *orders);
    pawl_random_seed(&random, job->seed);
    for (int64_t i = 0; orders != NULL && i < job->messages; i++) {
        int64_t other = (int64_t)pawl_random_below(&random, (uint64_t)i + 1);
        orders[i]     = orders[other];
        orders[other] = i / PAWL__BENCH_STEPS_OF_ORDER;
    }
    return orders;
}

pawl_code pawl__bench_sender(const char *url, pawl_sender **sender, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.system_prefix      = PAWL__BENCH_PREFIX;
    return pawl_sender_open(url, &options, sender, error);
}

pawl_code pawl__bench_send_step(pawl_sender *sender, uint64_t seed, int64_t number, int64_t step,
                                pawl_error *error)
{
    char order_id[PAWL__BENCH_ORDER_ID_SIZE + 1];
    pawl__bench_order_id(seed, number, order_id);
    return pawl_sender_send(sender, PAWL__BENCH_QUEUE, NULL,
                            PAWL_MESSAGE(bench_step, .order_id = pawl_text_of(order_id),
                                         .step = step, .cents = pawl__bench_cents(number),
                                         .customer = PAWL_TEXT(PAWL__BENCH_CUSTOMER),
                                         .product  = PAWL_TEXT(PAWL__BENCH_PRODUCT),
                                         .at       = pawl_clock_now(NULL),
                                         .note     = PAWL_TEXT(PAWL__BENCH_NOTE)),
                            error);
}

pawl_code pawl__bench_send_orders(const pawl__bench_job *job, const int64_t *orders,
                                  pawl_error *error)
{
    pawl_sender *sender = NULL;
    pawl_code    code   = pawl__bench_sender(job->url, &sender, error);
    for (int64_t i = 0; code == PAWL_OK && i < job->messages; i++) {
        code = pawl__bench_send_step(sender, job->seed, orders[i], i, error);
        if (code == PAWL_OK && ((i + 1) % FILL_COUNT == 0 || i + 1 == job->messages)) {
            code = pawl_sender_commit(sender, error);
            if (code == PAWL_OK)
                code = pawl__bench_go_on(error);
            pawl__bench_progress("filling the queue", i + 1, job->messages);
        }
    }
    pawl_sender_close(sender);
    return code;
}

pawl_code pawl__bench_step_body(pawl_arena *arena, uint64_t seed, int64_t number, int64_t step,
                                pawl_text *body, pawl_error *error)
{
    char order_id[PAWL__BENCH_ORDER_ID_SIZE + 1];
    pawl__bench_order_id(seed, number, order_id);
    bench_step it = {.order_id = pawl_text_of(order_id),
                     .step     = step,
                     .cents    = pawl__bench_cents(number),
                     .customer = PAWL_TEXT(PAWL__BENCH_CUSTOMER),
                     .product  = PAWL_TEXT(PAWL__BENCH_PRODUCT),
                     .at       = pawl_clock_now(NULL),
                     .note     = PAWL_TEXT(PAWL__BENCH_NOTE)};
    return pawl_record_encode(PAWL_RECORD_OF(bench_step)(), &it, 0, arena, body, error);
}

pawl_code pawl__bench_tables_fill(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    pawl__bench_close(&handle);
    return code;
}

pawl_code pawl__bench_saga_step_fill(const pawl__bench_job *job, pawl_error *error)
{
    int64_t *orders = pawl__bench_shuffled_orders(job);
    if (orders == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the order of %lld messages",
                              (long long)job->messages);
    pawl_code code = pawl__bench_tables_fill(job, error);
    if (code == PAWL_OK)
        code = pawl__bench_send_orders(job, orders, error);
    pawl_free(orders);
    return code;
}

/* ---- Running -------------------------------------------------------------- */

pawl_code pawl__bench_step_endpoint(const pawl__bench_job *job, pawl_endpoint **endpoint,
                                    pawl_error *error)
{
    static const pawl_route routes[] = {{.name = PAWL__BENCH_OUTSIDE, .url = "memory:nowhere"},
                                        {.name = NULL}};
    return pawl__bench_endpoint(job, routes, true, endpoint, error);
}

pawl_code pawl__bench_saga_step_run(const pawl__bench_job *job, int64_t *microseconds,
                                    pawl_error *error)
{
    pawl_endpoint *endpoint = NULL;
    pawl_code      code     = pawl__bench_step_endpoint(job, &endpoint, error);
    return code == PAWL_OK ? pawl__bench_work_off(endpoint, "messages handled", job->messages,
                                                  microseconds, error)
                           : code;
}

/* ---- Checking ------------------------------------------------------------- */

static int64_t steps_of(const pawl__bench_job *job, int64_t number)
{
    return pawl__bench_piece(job->messages, number * PAWL__BENCH_STEPS_OF_ORDER,
                             PAWL__BENCH_STEPS_OF_ORDER);
}

static pawl_code check_sagas(const pawl__bench_handle *handle, const pawl__bench_job *job,
                             int64_t first, pawl_error *error)
{
    int64_t steps[PAWL__BENCH_CHECK_COUNT];
    size_t  count = 0;
    for (; count < PAWL__BENCH_CHECK_COUNT && first + (int64_t)count < order_count(job); count++)
        steps[count] = steps_of(job, first + (int64_t)count);
    return pawl__bench_check_orders(handle, job->seed, first, steps, count, error);
}

int64_t pawl__bench_queued(const pawl_stats *stats)
{
    int64_t queued = 0;
    for (size_t i = 0; i < stats->queue_count; i++)
        queued += stats->queues[i].ready + stats->queues[i].scheduled;
    return queued;
}

static pawl_code check_rows(const pawl__bench_handle *handle, int64_t messages, int64_t pending,
                            int64_t sagas, pawl_error *error)
{
    pawl_stats stats = PAWL_STATS_INIT;
    int64_t    found = 0;
    pawl_code  code  = pawl__bench_stats(handle, &stats, error);
    if (code == PAWL_OK)
        code =
            pawl__bench_expect("messages left in the queue", pawl__bench_queued(&stats), 0, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("dead letters", stats.dead, 0, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("inbox marks", stats.inbox, messages, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("outbox rows", stats.outbox_pending, pending, error);
    if (code == PAWL_OK)
        code = pawl_store_saga_count(handle->store, handle->table, &found, error);
    return code == PAWL_OK ? pawl__bench_expect("sagas", found, sagas, error) : code;
}

pawl_code pawl__bench_note_conflicts(const pawl__bench_job *job, const pawl__bench_handle *handle,
                                     pawl_error *error)
{
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_arena_reset(handle->arena);
    pawl_code code = pawl__bench_stats(handle, &stats, error);
    if (code == PAWL_OK)
        pawl__bench_note(job->figures, pawl__bench_conflicts_per_1000,
                         (double)stats.counters.conflicts * 1e3 / (double)job->messages);
    return code;
}

pawl_code pawl__bench_check_counts(const pawl__bench_handle *handle, int64_t messages,
                                   int64_t sagas, pawl_error *error)
{
    return check_rows(handle, messages, messages, sagas, error);
}

pawl_code pawl__bench_check_steps(const pawl__bench_handle *handle, const pawl__bench_job *job,
                                  int64_t pending, pawl_error *error)
{
    pawl_code code = check_rows(handle, job->messages, pending, order_count(job), error);
    for (int64_t i = 0; code == PAWL_OK && i < order_count(job); i += PAWL__BENCH_CHECK_COUNT)
        code = check_sagas(handle, job, i, error);
    return code;
}

pawl_code pawl__bench_check_relayed(const pawl__bench_handle *handle, const pawl__bench_job *job,
                                    pawl_error *error)
{
    return check_rows(handle, job->messages, 0, 0, error);
}

pawl_code pawl__bench_saga_step_check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_check_steps(&handle, job, job->messages, error);
    pawl__bench_close(&handle);
    return code;
}

const pawl__bench_workload pawl__bench_saga_step = {.name   = "saga-step",
                                                    .fill   = pawl__bench_saga_step_fill,
                                                    .run    = pawl__bench_saga_step_run,
                                                    .check  = pawl__bench_saga_step_check,
                                                    .grow   = pawl__bench_sagas_grow,
                                                    .after  = pawl__bench_peer_saga_step,
                                                    .rounds = PAWL__BENCH_ROUNDS};
