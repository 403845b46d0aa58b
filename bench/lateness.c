/* lateness.c - timeouts that come due one after another, at a fixed rate, while
 * an endpoint runs: how late are they? Late is the time from when one was due
 * until the commit that ends it was done.
 *
 *     set all, due from `begin` on | begin: endpoint runs, all fire | count
 *
 * The sagas are those of the rounds before, whose timeouts all fired once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "background.h"
#include "timed.h"
#include "timeouts.h"
#include "verdict.h"

#include <string.h>

#define STEPS_BEFORE 2 /* of each saga, when this begins */
#define SPARE_FIRST PAWL_SECONDS(1)
#define HEAD_START PAWL_MILLISECONDS(200) /* the endpoint is up before the first is due */

typedef struct run_state {
    const pawl__bench_job *job;
    pawl__bench_handle     handle;
    pawl_random            random;
    int64_t                begin; /* when the first is due */
    double                 step;  /* microseconds from one to the next */
} run_state;

/* ---- Setting -------------------------------------------------------------- */

static size_t piece(int64_t first, int64_t end)
{
    int64_t left = end - first;
    return left < PAWL__BENCH_CHECK_COUNT ? (size_t)left : PAWL__BENCH_CHECK_COUNT;
}

static pawl_code set_some(run_state *s, int64_t first, size_t count, pawl_error *error)
{
    pawl_saga_row    rows[PAWL__BENCH_CHECK_COUNT];
    pawl_timeout_set timeouts[PAWL__BENCH_CHECK_COUNT];
    pawl_changes     changes = {.group_count = 1};
    pawl_code code = pawl__bench_load_orders(&s->handle, s->job->seed, first, rows, count, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl_time due = s->begin + (int64_t)((double)(first + (int64_t)i) * s->step);
        code          = pawl__bench_expect("sagas of an order", rows[i].version != 0, 1, error);
        if (code == PAWL_OK)
            timeouts[i] = pawl__bench_timeout_of(rows[i].id, rows[i].main.as.text, &s->random, due);
    }
    changes.timeout_set.items = timeouts;
    changes.timeout_set.count = count;
    return code == PAWL_OK ? pawl__bench_commit(&s->handle, &changes, error) : code;
}

/* Setting takes as long as it takes: when the first were due before the last was
 * set, all are set again with twice the time to spare. */
static pawl_code set_all(run_state *s, pawl_error *error)
{
    pawl_code code  = PAWL_OK;
    int64_t   spare = SPARE_FIRST;
    do {
        s->begin = pawl_time_add(pawl_clock_now(NULL), spare + HEAD_START);
        spare *= 2;
        int64_t due = s->job->options->due;
        for (int64_t i = 0; code == PAWL_OK && i < due; i += PAWL__BENCH_CHECK_COUNT) {
            code = set_some(s, i, piece(i, due), error);
            pawl__bench_progress("setting timeouts", i, due);
        }
    } while (code == PAWL_OK && pawl_clock_now(NULL) > s->begin - HEAD_START);
    return code;
}

/* ---- Firing --------------------------------------------------------------- */

static pawl_code timeouts_left(void *context, int64_t *left, pawl_error *error)
{
    const int64_t *due = context;
    (void)error;
    *left = *due - pawl__bench_tape_fired();
    pawl__bench_progress("timeouts fired", *due - *left, *due);
    return PAWL_OK;
}

static pawl_code fire_all(run_state *s, pawl_error *error)
{
    pawl__bench_background background = {.is_started = false};
    pawl__bench_job        timed      = *s->job;
    pawl_endpoint         *endpoint   = NULL;
    int64_t                due        = s->job->options->due;
    pawl_code              code       = pawl__bench_tape_begin(s->job->url, &timed.url, error);
    if (code == PAWL_OK)
        code = pawl__bench_endpoint(&timed, pawl__bench_inside, true, &endpoint, error);
    pawl__bench_nap(s->begin - HEAD_START - pawl_clock_now(NULL));
    if (code == PAWL_OK)
        code = pawl__bench_background_start(&background, endpoint, error);
    if (code == PAWL_OK) /* a pause between two may be long */
        pawl__bench_nap(s->begin - pawl_clock_now(NULL));
    if (code == PAWL_OK)
        code = pawl__bench_wait(&background, "timeouts", timeouts_left, &due,
                                PAWL__BENCH_PATIENCE + (int64_t)s->step, error);
    return pawl__bench_background_stop(&background, code, error);
}

/* ---- Counting ------------------------------------------------------------- */

static pawl_code count_fired(run_state *s, pawl_error *error)
{
    int64_t   due   = s->job->options->due;
    int64_t   fired = 0, twice = 0;
    pawl_code code = PAWL_OK;
    for (int64_t i = 0; code == PAWL_OK && i < due; i += PAWL__BENCH_CHECK_COUNT) {
        int64_t steps[PAWL__BENCH_CHECK_COUNT];
        size_t  count = piece(i, due);
        code          = pawl__bench_count_steps(&s->handle, s->job->seed, i, steps, count, error);
        for (size_t j = 0; code == PAWL_OK && j < count; j++) {
            fired += steps[j] > STEPS_BEFORE;
            twice += steps[j] > STEPS_BEFORE + 1;
        }
    }
    if (code == PAWL_OK)
        code = pawl__bench_expect("timeouts fired", fired, due, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("timeouts fired twice", twice, 0, error);
    pawl__bench_note(s->job->figures, pawl__bench_fired, (double)fired);
    pawl__bench_note(s->job->figures, pawl__bench_fired_twice, (double)twice);
    return code;
}

static void note_lateness(const run_state *s)
{
    pawl__bench_tape tape = pawl__bench_tape_read();
    double           p99  = pawl__bench_percentile(tape.lateness, tape.lateness_count, 99);
    pawl__bench_note(s->job->figures, pawl__bench_due_per_s, 1e6 / s->step);
    pawl__bench_note(s->job->figures, pawl__bench_p99_lateness_ms, p99 / 1e3);
}

/* Half of what was measured, unless the rate or the time was given. */
static double due_per_s(const pawl__bench_options *options, double messages_per_s)
{
    if (options->rate > 0)
        return (double)options->rate;
    if (options->seconds > 0)
        return (double)options->due / (double)options->seconds;
    return messages_per_s / 2;
}

pawl_code pawl__bench_lateness(const pawl__bench_job *job, double messages_per_s, pawl_error *error)
{
    run_state s = {.job = job};
    if (job->options->due == 0)
        return PAWL_OK;
    s.step = 1e6 / due_per_s(job->options, messages_per_s);
    pawl_random_seed(&s.random, job->seed + 1);
    pawl_code code = pawl__bench_open(job->url, &s.handle, error);
    if (code == PAWL_OK)
        code = set_all(&s, error);
    if (code == PAWL_OK)
        code = fire_all(&s, error);
    if (code == PAWL_OK)
        note_lateness(&s);
    pawl__bench_tape_end();
    if (code == PAWL_OK)
        code = count_fired(&s, error);
    pawl__bench_close(&s.handle);
    return code;
}
