/* retention.c - saga-step with many old inbox marks and delivered outbox rows in the tables, once
 * while they are swept and once while they are not. The difference is the cost of sweeping.
 *
 * The service of another endpoint sweeps, as in another process: nothing but its default retention
 * says which rows are old.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "background.h"
#include "saga_step.h"

#include <string.h>

#define FILL_COUNT 4000   /* rows of one commit */
#define MARKS_OF_ROW 10   /* so many old marks for each old outbox row */
#define AGE PAWL_DAYS(60) /* past any default */
#define INBOX_RETENTION PAWL_DAYS(7)
#define OUTBOX_RETENTION PAWL_DAYS(30)
#define SWEEP_COUNT_MAX 10000 /* of the check; the service has its own */

/* ---- Filling -------------------------------------------------------------- */

static pawl_time old_time(int64_t number)
{
    return pawl_time_add(pawl_clock_now(NULL), number - AGE);
}

/* Marks, each `step` microseconds after the one before, from `begin` on. */
static pawl_code make_marks_at(pawl__bench_filler *filler, pawl_time begin, double step,
                               int64_t first, size_t count, pawl_changes *changes,
                               pawl_error *error)
{
    pawl_arena       *arena = filler->handle.arena;
    pawl_inbox_entry *marks = pawl_arena_take(arena, count * sizeof *marks);
    for (size_t i = 0; marks != NULL && i < count; i++) {
        char      id[PAWL_UUID_TEXT_SIZE + 1];
        pawl_time at = pawl_time_add(begin, (int64_t)((double)(first + (int64_t)i) * step));
        pawl_uuid_format(pawl_uuid_v7(&filler->random, at), id);
        marks[i] = (pawl_inbox_entry){.endpoint   = PAWL_TEXT(PAWL__BENCH_QUEUE),
                                      .message_id = pawl_arena_text(arena, pawl_text_of(id)),
                                      .at         = at};
        if (marks[i].message_id.data == NULL)
            marks = NULL;
    }
    changes->inbox_entry.items = marks;
    changes->inbox_entry.count = count;
    return marks != NULL ? PAWL_OK
                         : pawl_error_set(error, PAWL_ENOMEM, "no memory for inbox marks");
}

static pawl_code make_marks(pawl__bench_filler *filler, int64_t first, size_t count,
                            pawl_changes *changes, pawl_error *error)
{
    return make_marks_at(filler, old_time(0), 1, first, count, changes, error);
}

/* The marks of a store in use: those of a week, and a sixth as many that are past it. */
static pawl_code make_week(pawl__bench_filler *filler, int64_t first, size_t count,
                           pawl_changes *changes, pawl_error *error)
{
    const int64_t total = filler->job->options->grown;
    pawl_time     begin = pawl_time_add(pawl_clock_now(NULL), -INBOX_RETENTION / 6 * 7);
    return make_marks_at(filler, begin, (double)(INBOX_RETENTION / 6 * 7) / (double)total, first,
                         count, changes, error);
}

static pawl_code make_rows(pawl__bench_filler *filler, int64_t first, size_t count,
                           pawl_changes *changes, pawl_error *error)
{
    pawl_arena      *arena = filler->handle.arena;
    pawl_outbox_add *rows  = pawl_arena_take(arena, count * sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        char      id[PAWL_UUID_TEXT_SIZE + 1];
        pawl_time at = old_time(first + (int64_t)i);
        rows[i]      = (pawl_outbox_add){.dispatch_id = {pawl_uuid_v7(&filler->random, at)},
                                         .version     = 1,
                                         .endpoint    = PAWL_TEXT(PAWL__BENCH_QUEUE),
                                         .destination = PAWL_TEXT(PAWL__BENCH_OUTSIDE),
                                         .due         = at,
                                         .at          = at};
        pawl_uuid_format(rows[i].dispatch_id.uuid, id);
        rows[i].message.id   = pawl_arena_text(arena, pawl_text_of(id));
        rows[i].message.type = PAWL_TEXT("bench_moved");
        rows[i].message.body = PAWL_TEXT("{\"note\":\"" PAWL__BENCH_NOTE "\"}");
        if (rows[i].message.id.data == NULL)
            rows = NULL;
    }
    changes->outbox_add.items = rows;
    changes->outbox_add.count = count;
    return rows != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory for outbox rows");
}

/* As if the rows had been delivered when they were made. */
pawl_code pawl__bench_make_settles(pawl__bench_filler *filler, int64_t first, size_t count,
                                   pawl_changes *changes, pawl_error *error)
{
    (void)first;
    pawl_store      *store = filler->handle.store;
    pawl_arena      *arena = filler->handle.arena;
    pawl_outbox_rows rows  = {.count = 0};
    pawl_code        code  = pawl_store_outbox_claim(store, PAWL_TEXT(PAWL__BENCH_QUEUE),
                                                     pawl_clock_now(NULL), count, arena, &rows, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("old outbox rows", (int64_t)rows.count, (int64_t)count, error);
    if (code != PAWL_OK)
        return code;
    pawl_outbox_settle *settles = pawl_arena_take(arena, count * sizeof *settles);
    if (settles == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for outbox rows");
    for (size_t i = 0; i < count; i++)
        settles[i] = (pawl_outbox_settle){.id       = rows.items[i].id,
                                          .source   = rows.items[i].source,
                                          .state    = PAWL_OUTBOX_DISPATCHED,
                                          .attempts = 1,
                                          .outcome  = PAWL_ATTEMPT_SUCCESS,
                                          .at       = rows.items[i].at};
    changes->outbox_settle.items = settles;
    changes->outbox_settle.count = count;
    return PAWL_OK;
}

static pawl_code fill(const pawl__bench_job *job, pawl_error *error)
{
    const int64_t             marks      = job->options->grown > 0 ? 0 : job->options->marks;
    const int64_t             rows       = marks / MARKS_OF_ROW;
    const pawl__bench_filling fillings[] = {
        {"old inbox marks", marks, FILL_COUNT, make_marks},
        {"old outbox rows", rows, FILL_COUNT, make_rows},
        {"their delivery", rows, FILL_COUNT, pawl__bench_make_settles},
        {.what = NULL}};
    pawl_code code = pawl__bench_fill(job, fillings, error);
    return code == PAWL_OK ? pawl__bench_saga_step_fill(job, error) : code;
}

static pawl_code grow(const pawl__bench_job *job, pawl_error *error)
{
    const pawl__bench_filling fillings[] = {
        {"inbox marks", job->options->grown, FILL_COUNT, make_week}, {.what = NULL}};
    return pawl__bench_fill(job, fillings, error);
}

/* ---- Running -------------------------------------------------------------- */

static const pawl_endpoint_spec sweeper = {.name = "sweeper"};

static const pawl_application sweeping = {PAWL_APPLICATION_HEAD, .name = "sweeping",
                                          .endpoints = PAWL_ENDPOINTS(&sweeper)};

static pawl_code start_sweeper(const pawl__bench_job *job, pawl__bench_background *background,
                               pawl_error *error)
{
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint        *endpoint = NULL;
    options.store                  = job->url;
    options.system_prefix          = PAWL__BENCH_PREFIX;
    pawl_code code = pawl_endpoint_create(&sweeping, NULL, &options, &endpoint, error);
    return code == PAWL_OK ? pawl__bench_background_start(background, endpoint, error) : code;
}

static pawl_code count_marks(const pawl__bench_job *job, int64_t *marks, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_stats         stats = {.stats_size = sizeof stats, .count_max = INT64_MAX};
    pawl_code          code  = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_stats(&handle, &stats, error);
    if (code == PAWL_OK)
        *marks = stats.inbox;
    pawl__bench_close(&handle);
    return code;
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    pawl__bench_background background = {.is_started = false};
    int64_t                marks      = 0;
    pawl_code              code       = start_sweeper(job, &background, error);
    if (code == PAWL_OK)
        code = pawl__bench_saga_step_run(job, microseconds, error);
    code = pawl__bench_background_stop(&background, code, error);
    if (code == PAWL_OK && job->options->grown > 0)
        return PAWL_OK; /* counting them takes longer than the round */
    if (code == PAWL_OK)
        code = count_marks(job, &marks, error);
    if (code == PAWL_OK)
        pawl__bench_note(job->figures, pawl__bench_swept,
                         (double)(job->options->marks + job->messages - marks));
    return code;
}

/* ---- Checking ------------------------------------------------------------- */

/* The rest of what is old goes, and nothing that is new. */
static pawl_code sweep_rest(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_time          now   = pawl_clock_now(NULL);
    pawl_sweep         sweep = {.inbox_before   = pawl_time_add(now, -INBOX_RETENTION),
                                .outbox_before  = pawl_time_add(now, -OUTBOX_RETENTION),
                                .workers_before = pawl_time_add(now, -PAWL_DAYS(1)),
                                .count_max      = SWEEP_COUNT_MAX};
    bool               more  = true;
    pawl_code          code  = pawl__bench_open(job->url, &handle, error);
    while (code == PAWL_OK && more) {
        int64_t count = 0;
        more          = false;
        code          = pawl_store_sweep(handle.store, &sweep, &count, &more, error);
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
        pawl__bench_progress("sweeping the rest", 0, 0);
    }
    pawl__bench_close(&handle);
    return code;
}

static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl_code code = sweep_rest(job, error);
    return code == PAWL_OK ? pawl__bench_saga_step_check(job, error) : code;
}

static const pawl__bench_beside unswept = {.who   = "without sweeping",
                                           .run   = pawl__bench_saga_step_run,
                                           .check = check,
                                           .rate  = pawl__bench_unswept_per_s,
                                           .ratio = pawl__bench_ratio_to_unswept};

const pawl__bench_workload pawl__bench_retention = {
    .name     = "retention",
    .fill     = fill,
    .run      = run,
    .check    = check,
    .beside   = &unswept,
    .grow     = grow,
    .no_limit = "it is measured beside the same steps without sweeping",
    .rounds   = PAWL__BENCH_ROUNDS,
    .workers  = PAWL__BENCH_WORKERS};
