/* timeouts.c - one timeout of each of many sagas is due: claim it, load the
 * saga, run its handler, save the saga, send a message to a queue of the same
 * store, remove the timeout. Others may be pending beside them, far in the
 * future; those belong to sagas that are never looked at, and have no rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timeouts.h"

#include <string.h>

#define FILL_COUNT 1000    /* sagas of one commit */
#define PENDING_COUNT 4000 /* pending timeouts of one commit */
#define FAR PAWL_DAYS(365)

/* ---- Filling -------------------------------------------------------------- */

static pawl_code make_saga(const pawl__bench_handle *handle, const pawl__bench_job *job,
                           int64_t number, pawl_random *random, pawl_saga_insert *row,
                           pawl_error *error)
{
    pawl_arena *arena = handle->arena;
    char        text[PAWL__BENCH_ORDER_ID_SIZE + 1];
    pawl__bench_order_id(job->seed, number, text);
    pawl_text order_id = pawl_arena_text(arena, pawl_text_of(text));
    if (order_id.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a saga");
    bench_order order = {.order_id = order_id,
                         .steps    = 1,
                         .cents    = 100 + number % 9900,
                         .customer = PAWL_TEXT(PAWL__BENCH_CUSTOMER),
                         .product  = PAWL_TEXT(PAWL__BENCH_PRODUCT),
                         .at       = pawl_clock_now(NULL),
                         .note     = PAWL_TEXT(PAWL__BENCH_NOTE)};
    *row              = (pawl_saga_insert){.table        = handle->table,
                                           .id           = {pawl_uuid_v7(random, order.at)},
                                           .main         = pawl_value_text(order_id),
                                           .metadata     = PAWL_TEXT("{}"),
                                           .type_version = PAWL_TEXT("1.0")};
    return pawl_record_encode(PAWL_RECORD_OF(bench_order)(), &order, 0, arena, &row->data, error);
}

pawl_timeout_set pawl__bench_timeout_of(pawl_saga_id saga_id, pawl_text order_id,
                                        pawl_random *random, pawl_time due)
{
    return (pawl_timeout_set){.id             = {pawl_uuid_v7(random, due)},
                              .saga_id        = saga_id,
                              .saga_type      = PAWL_TEXT(PAWL__BENCH_SAGA),
                              .name           = PAWL_TEXT(PAWL__BENCH_TIMEOUT),
                              .destination    = PAWL_TEXT(PAWL__BENCH_QUEUE),
                              .due            = due,
                              .correlation_id = order_id};
}

static pawl_code add_sagas(pawl__bench_handle *handle, const pawl__bench_job *job, int64_t first,
                           pawl_random *random, pawl_error *error)
{
    pawl_changes changes = {.group_count = 1};
    pawl_time    due     = pawl_time_add(pawl_clock_now(NULL), -PAWL_HOURS(1));
    pawl_arena_reset(handle->arena);
    pawl_saga_insert *sagas    = pawl_arena_take(handle->arena, FILL_COUNT * sizeof *sagas);
    pawl_timeout_set *timeouts = pawl_arena_take(handle->arena, FILL_COUNT * sizeof *timeouts);
    pawl_code         code     = sagas != NULL && timeouts != NULL
                                     ? PAWL_OK
                                     : pawl_error_set(error, PAWL_ENOMEM, "no memory for sagas");
    size_t            count    = 0;
    for (; code == PAWL_OK && count < FILL_COUNT && first + (int64_t)count < job->messages;
         count++) {
        code = make_saga(handle, job, first + (int64_t)count, random, &sagas[count], error);
        if (code == PAWL_OK)
            timeouts[count] = pawl__bench_timeout_of(sagas[count].id, sagas[count].main.as.text,
                                                     random, due + (int64_t)count);
    }
    changes.saga_insert.items = sagas;
    changes.saga_insert.count = count;
    changes.timeout_set.items = timeouts;
    changes.timeout_set.count = count;
    return code == PAWL_OK ? pawl__bench_commit(handle, &changes, error) : code;
}

static pawl_code add_pending(pawl__bench_handle *handle, const pawl__bench_job *job, int64_t first,
                             pawl_random *random, pawl_error *error)
{
    pawl_changes changes = {.group_count = 1};
    pawl_time    due     = pawl_time_add(pawl_clock_now(NULL), FAR);
    pawl_arena_reset(handle->arena);
    pawl_timeout_set *timeouts = pawl_arena_take(handle->arena, PENDING_COUNT * sizeof *timeouts);
    if (timeouts == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for timeouts");
    int64_t left  = job->options->pending - first;
    size_t  count = left < PENDING_COUNT ? (size_t)left : PENDING_COUNT;
    for (size_t i = 0; i < count; i++)
        timeouts[i] = pawl__bench_timeout_of((pawl_saga_id){pawl_uuid_v7(random, due)},
                                             PAWL_TEXT(PAWL__BENCH_SAGA), random, due + (int64_t)i);
    changes.timeout_set.items = timeouts;
    changes.timeout_set.count = count;
    return pawl__bench_commit(handle, &changes, error);
}

static pawl_code fill(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_random        random;
    pawl_random_seed(&random, job->seed);
    pawl_code code = pawl__bench_open(job->url, &handle, error);
    for (int64_t i = 0; code == PAWL_OK && i < job->messages; i += FILL_COUNT) {
        code = add_sagas(&handle, job, i, &random, error);
        pawl__bench_progress("filling the sagas", i, job->messages);
    }
    for (int64_t i = 0; code == PAWL_OK && i < job->options->pending; i += PENDING_COUNT) {
        code = add_pending(&handle, job, i, &random, error);
        pawl__bench_progress("filling the timeouts", i, job->options->pending);
    }
    pawl__bench_close(&handle);
    return code;
}

/* ---- Running -------------------------------------------------------------- */

static pawl_code fire_all(pawl_endpoint *endpoint, const pawl__bench_job *job, pawl_error *error)
{
    pawl_code code  = PAWL_OK;
    int64_t   fired = 0;
    while (code == PAWL_OK && fired < job->messages) {
        pawl_step step;
        code = pawl_endpoint_step(endpoint, &step, error);
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
        fired += step.handled;
        if (code == PAWL_OK && step.is_idle)
            code = pawl__bench_expect("timeouts fired", fired, job->messages, error);
    }
    return code;
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    pawl_endpoint *endpoint = NULL;
    pawl_code      code     = pawl__bench_endpoint(job, NULL, true, &endpoint, error);
    if (code != PAWL_OK)
        return code;
    int64_t begin = pawl__bench_clock();
    code          = fire_all(endpoint, job, error);
    *microseconds = pawl__bench_clock() - begin;
    pawl_endpoint_destroy(endpoint);
    return code;
}

/* ---- Checking ------------------------------------------------------------- */

static pawl_code check_counts(const pawl__bench_handle *handle, const pawl__bench_job *job,
                              pawl_error *error)
{
    pawl_stats stats;
    int64_t    sent = 0;
    pawl_code  code = handle->store->ops->stats(handle->store, pawl_clock_now(NULL), handle->arena,
                                                &stats, error);
    for (size_t i = 0; code == PAWL_OK && i < stats.queue_count; i++)
        if (pawl_text_equal(stats.queues[i].queue, PAWL_TEXT(PAWL__BENCH_INSIDE)))
            sent = stats.queues[i].ready;
    if (code == PAWL_OK)
        code = pawl__bench_expect("timeouts due", stats.timeouts_due, 0, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("timeouts pending", stats.timeouts_pending, job->options->pending,
                                  error);
    return code == PAWL_OK ? pawl__bench_expect("messages sent", sent, job->messages, error) : code;
}

static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    int64_t            steps[PAWL__BENCH_CHECK_COUNT];
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    for (size_t i = 0; i < PAWL__BENCH_CHECK_COUNT; i++)
        steps[i] = 2; /* one from before */
    if (code == PAWL_OK)
        code = check_counts(&handle, job, error);
    for (int64_t i = 0; code == PAWL_OK && i < job->messages; i += PAWL__BENCH_CHECK_COUNT) {
        int64_t left  = job->messages - i;
        size_t  count = left < PAWL__BENCH_CHECK_COUNT ? (size_t)left : PAWL__BENCH_CHECK_COUNT;
        code          = pawl__bench_check_orders(&handle, job->seed, i, steps, count, error);
    }
    pawl__bench_close(&handle);
    return code;
}

const pawl__bench_workload pawl__bench_timeouts = {.name    = "timeouts",
                                                   .fill    = fill,
                                                   .run     = run,
                                                   .check   = check,
                                                   .after   = pawl__bench_lateness,
                                                   .rounds  = 5,
                                                   .workers = 1};
