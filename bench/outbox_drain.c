/* outbox_drain.c - pending outbox rows are delivered into a queue of a second
 * store: read a batch, insert it there, write state and history here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#define ROWS_OF_SOURCE 6
#define FILL_COUNT 1000 /* rows of one commit while the outbox is filled */

/* ---- Filling -------------------------------------------------------------- */

static pawl_code make_row(pawl__bench_filler *filler, int64_t number, pawl_outbox_add *row,
                          pawl_error *error)
{
    char        id[PAWL_UUID_TEXT_SIZE + 1];
    char        order_id[PAWL__BENCH_ORDER_ID_SIZE + 1];
    pawl_arena *arena = filler->handle.arena;
    pawl_time   now   = pawl_clock_now(NULL);
    *row              = (pawl_outbox_add){.dispatch_id = {pawl_uuid_v7(&filler->random, now)},
                                          .version     = number % ROWS_OF_SOURCE + 1,
                                          .endpoint    = PAWL_TEXT(PAWL__BENCH_QUEUE),
                                          .destination = PAWL_TEXT(PAWL__BENCH_OUTSIDE),
                                          .due         = now,
                                          .at          = now};
    pawl_uuid_format(row->dispatch_id.uuid, id);
    pawl__bench_order_id(filler->job->seed, number / ROWS_OF_SOURCE, order_id);
    row->source                 = pawl_arena_printf(arena, PAWL__BENCH_SAGA "/%s", order_id);
    row->message.id             = pawl_arena_text(arena, pawl_text_of(id));
    row->message.type           = pawl_text_of(pawl_record_type(PAWL_RECORD_OF(bench_moved)()));
    row->message.correlation_id = row->message.id;
    if (row->source.data == NULL || row->message.id.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for an outbox row");
    return pawl__bench_moved(arena, pawl_text_of(order_id), row->version, pawl__bench_cents(number),
                             now, &row->message.body, error);
}

static pawl_code make_rows(pawl__bench_filler *filler, int64_t first, size_t count,
                           pawl_changes *changes, pawl_error *error)
{
    pawl_outbox_add *rows = pawl_arena_take(filler->handle.arena, count * sizeof *rows);
    pawl_code        code =
        rows != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory for outbox rows");
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = make_row(filler, first + (int64_t)i, &rows[i], error);
    changes->outbox_add.items = rows;
    changes->outbox_add.count = count;
    return code;
}

static pawl_code fill(const pawl__bench_job *job, pawl_error *error)
{
    const pawl__bench_filling fillings[] = {
        {"filling the outbox", job->messages, FILL_COUNT, make_rows}, {.what = NULL}};
    return pawl__bench_fill(job, fillings, error);
}

/* Rows that were delivered, of the orders behind those of the rounds. */
static pawl_code grow(const pawl__bench_job *job, pawl_error *error)
{
    const int64_t             rows       = job->options->grown;
    const pawl__bench_filling fillings[] = {
        {"outbox rows", rows, FILL_COUNT, make_rows},
        {"their delivery", rows, FILL_COUNT, pawl__bench_make_settles},
        {.what = NULL}};
    return pawl__bench_fill(job, fillings, error);
}

/* ---- Running -------------------------------------------------------------- */

/* The second store is there before the clock starts, as it is for the loop. */
static pawl_code make_target(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_code          code = pawl__bench_open(job->target, &handle, error);
    pawl__bench_close(&handle);
    return code;
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    const pawl_route routes[] = {
        {.name = PAWL__BENCH_OUTSIDE, .url = job->target, .system_prefix = PAWL__BENCH_PREFIX},
        {.name = NULL}};
    pawl_endpoint *endpoint = NULL;
    pawl_code      code     = make_target(job, error);
    if (code == PAWL_OK)
        code = pawl__bench_endpoint(job, routes, false, &endpoint, error);
    return code == PAWL_OK
               ? pawl__bench_work_off(endpoint, "messages sent", job->messages, microseconds, error)
               : code;
}

/* ---- Checking ------------------------------------------------------------- */

static pawl_code check_target(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_stats         stats = PAWL_STATS_INIT;
    pawl_code          code  = pawl__bench_open(job->target, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_stats(&handle, &stats, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("messages in the second store",
                                  pawl__bench_ready(&stats, PAWL__BENCH_OUTSIDE), job->messages,
                                  error);
    pawl__bench_close(&handle);
    return code;
}

/* The history of the first rows; that of all would have to be read. */
static pawl_code check_attempts(const pawl__bench_handle *handle, const pawl__bench_job *job,
                                pawl_error *error)
{
    pawl_store      *store  = handle->store;
    pawl_outbox_rows rows   = {.count = 0};
    int64_t          wanted = pawl__bench_piece(job->messages, 0, PAWL__BENCH_CHECK_COUNT);
    pawl_code code = pawl_store_outbox_list(store, PAWL_OUTBOX_DISPATCHED, PAWL__BENCH_CHECK_COUNT,
                                            handle->arena, &rows, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("dispatched rows", (int64_t)rows.count, wanted, error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        pawl_attempt_rows attempts = {.count = 0};
        code = pawl_store_outbox_attempts(store, rows.items[i].id, handle->arena, &attempts, error);
        if (code == PAWL_OK)
            code = pawl__bench_expect("attempts of a row", (int64_t)attempts.count, 1, error);
    }
    return code;
}

static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_stats         stats = PAWL_STATS_INIT;
    pawl_code          code  = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_stats(&handle, &stats, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("rows that are not dispatched",
                                  stats.outbox_pending + stats.outbox_blocked + stats.outbox_dead,
                                  0, error);
    if (code == PAWL_OK)
        code = check_attempts(&handle, job, error);
    if (code == PAWL_OK)
        code = check_target(job, error);
    pawl__bench_close(&handle);
    return code;
}

const pawl__bench_workload pawl__bench_outbox_drain = {.name   = "outbox-drain",
                                                       .fill   = fill,
                                                       .run    = run,
                                                       .check  = check,
                                                       .grow   = grow,
                                                       .rounds = PAWL__BENCH_ROUNDS};
