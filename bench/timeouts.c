/* timeouts.c - one timeout of each of many sagas is due: claim it, load the
 * saga, run its handler, save the saga, send a message to a queue of the same
 * store, remove the timeout. Others may be pending beside them, far in the
 * future; those belong to sagas that are never looked at, and have no rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timeouts.h"

#define FILL_COUNT 1000    /* sagas of one commit */
#define PENDING_COUNT 4000 /* pending timeouts of one commit */
#define FAR PAWL_DAYS(365)

/* ---- Filling -------------------------------------------------------------- */

static pawl_code make_saga(pawl__bench_filler *filler, int64_t number, pawl_saga_insert *row,
                           pawl_error *error)
{
    pawl_arena *arena = filler->handle.arena;
    char        text[PAWL__BENCH_ORDER_ID_SIZE + 1];
    pawl__bench_order_id(filler->job->seed, number, text);
    pawl_text order_id = pawl_arena_text(arena, pawl_text_of(text));
    if (order_id.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a saga");
    bench_order order = {.order_id = order_id,
                         .steps    = 1,
                         .cents    = pawl__bench_cents(number),
                         .customer = PAWL_TEXT(PAWL__BENCH_CUSTOMER),
                         .product  = PAWL_TEXT(PAWL__BENCH_PRODUCT),
                         .at       = pawl_clock_now(NULL),
                         .note     = PAWL_TEXT(PAWL__BENCH_NOTE)};
    *row              = (pawl_saga_insert){.table        = filler->handle.table,
                                           .id           = {pawl_uuid_v7(&filler->random, order.at)},
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

static pawl_code make_sagas(pawl__bench_filler *filler, int64_t first, size_t count,
                            pawl_changes *changes, pawl_error *error)
{
    pawl_time         due      = pawl_time_add(pawl_clock_now(NULL), -PAWL_HOURS(1));
    pawl_saga_insert *sagas    = pawl_arena_take(filler->handle.arena, count * sizeof *sagas);
    pawl_timeout_set *timeouts = pawl_arena_take(filler->handle.arena, count * sizeof *timeouts);
    pawl_code         code     = sagas != NULL && timeouts != NULL
                                     ? PAWL_OK
                                     : pawl_error_set(error, PAWL_ENOMEM, "no memory for sagas");
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        code = make_saga(filler, first + (int64_t)i, &sagas[i], error);
        if (code == PAWL_OK)
            timeouts[i] = pawl__bench_timeout_of(sagas[i].id, sagas[i].main.as.text,
                                                 &filler->random, due + (int64_t)i);
    }
    changes->saga_insert.items = sagas;
    changes->saga_insert.count = count;
    changes->timeout_set.items = timeouts;
    changes->timeout_set.count = count;
    return code;
}

static pawl_code make_sagas_alone(pawl__bench_filler *filler, int64_t first, size_t count,
                                  pawl_changes *changes, pawl_error *error)
{
    pawl_code code             = make_sagas(filler, first, count, changes, error);
    changes->timeout_set.count = 0;
    return code;
}

static pawl_code make_pending(pawl__bench_filler *filler, int64_t first, size_t count,
                              pawl_changes *changes, pawl_error *error)
{
    (void)first;
    pawl_time         due      = pawl_time_add(pawl_clock_now(NULL), FAR);
    pawl_timeout_set *timeouts = pawl_arena_take(filler->handle.arena, count * sizeof *timeouts);
    if (timeouts == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for timeouts");
    for (size_t i = 0; i < count; i++)
        timeouts[i] =
            pawl__bench_timeout_of((pawl_saga_id){pawl_uuid_v7(&filler->random, due)},
                                   PAWL_TEXT(PAWL__BENCH_SAGA), &filler->random, due + (int64_t)i);
    changes->timeout_set.items = timeouts;
    changes->timeout_set.count = count;
    return PAWL_OK;
}

static pawl_code grow(const pawl__bench_job *job, pawl_error *error)
{
    const pawl__bench_filling fillings[] = {
        {"pending timeouts", job->options->grown, PENDING_COUNT, make_pending}, {.what = NULL}};
    return pawl__bench_fill(job, fillings, error);
}

pawl_code pawl__bench_sagas_grow(const pawl__bench_job *job, pawl_error *error)
{
    const pawl__bench_filling fillings[] = {
        {"sagas", job->options->grown, FILL_COUNT, make_sagas_alone}, {.what = NULL}};
    return pawl__bench_fill(job, fillings, error);
}

static pawl_code fill(const pawl__bench_job *job, pawl_error *error)
{
    const pawl__bench_filling fillings[] = {
        {"filling the sagas", job->messages, FILL_COUNT, make_sagas},
        {"filling the timeouts", job->options->pending, PENDING_COUNT, make_pending},
        {.what = NULL}};
    return pawl__bench_fill(job, fillings, error);
}

/* ---- Running -------------------------------------------------------------- */

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    pawl_endpoint *endpoint = NULL;
    pawl_code      code     = pawl__bench_endpoint(job, pawl__bench_inside, true, &endpoint, error);
    return code == PAWL_OK ? pawl__bench_work_off(endpoint, "timeouts fired", job->messages,
                                                  microseconds, error)
                           : code;
}

/* ---- Checking ------------------------------------------------------------- */

static pawl_code check_counts(const pawl__bench_handle *handle, const pawl__bench_job *job,
                              pawl_error *error)
{
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_code  code  = pawl__bench_stats(handle, &stats, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("timeouts due", stats.timeouts_due, 0, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("timeouts pending", stats.timeouts_pending, job->options->pending,
                                  error);
    return code == PAWL_OK
               ? pawl__bench_expect("messages sent", pawl__bench_ready(&stats, PAWL__BENCH_INSIDE),
                                    job->messages, error)
               : code;
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
        int64_t count = pawl__bench_piece(job->messages, i, PAWL__BENCH_CHECK_COUNT);
        code = pawl__bench_check_orders(&handle, job->seed, i, steps, (size_t)count, error);
    }
    pawl__bench_close(&handle);
    return code;
}

const pawl__bench_workload pawl__bench_timeouts = {.name    = "timeouts",
                                                   .fill    = fill,
                                                   .run     = run,
                                                   .check   = check,
                                                   .grow    = grow,
                                                   .after   = pawl__bench_lateness,
                                                   .rounds  = PAWL__BENCH_ROUNDS,
                                                   .workers = PAWL__BENCH_WORKERS};
