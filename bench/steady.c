/* steady.c - messages come at a fixed rate for minutes and are handled as they
 * come, while a snapshot is held open. Are the claims of the last minute as good
 * as those of the first? A queue whose deleted rows cannot be cleared away makes
 * claims slower and slower when they have to step over them. With --snapshot the
 * snapshot is open for so many seconds behind the first window.
 *
 *     |----- first -----|-- snapshot --|  ...  |----- last -----|
 *     0                 window                              seconds
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "background.h"
#include "saga_step.h"
#include "timed.h"
#include "verdict.h"

#include <string.h>

#define SEND_PERIOD PAWL_MILLISECONDS(10)
#define SEND_COUNT_MAX 1000 /* messages of one commit, when the sender is late */
#define WINDOW_MAX PAWL_MINUTES(1)

/* ---- The snapshot --------------------------------------------------------- */

typedef struct snapshot {
    pawl__bench_snapshot *open;
    int64_t               from, until; /* by the bench's clock */
} snapshot;

static int64_t window_of(const pawl__bench_job *job)
{
    int64_t third = job->options->seconds * 1000000 / 3;
    return third < WINDOW_MAX ? third : WINDOW_MAX;
}

static pawl_code let_go(const pawl__bench_job *job, snapshot *s, pawl_error *error)
{
    pawl__bench_snapshot *open = s->open;
    s->open                    = NULL;
    return open != NULL ? job->kind->release(open, error) : PAWL_OK;
}

static pawl_code hold(const pawl__bench_job *job, snapshot *s, pawl_error *error)
{
    int64_t now = pawl__bench_clock();
    if (s->open == NULL && now >= s->from && now < s->until && job->kind->hold != NULL)
        return job->kind->hold(job->url, &s->open, error);
    return now >= s->until ? let_go(job, s, error) : PAWL_OK;
}

/* ---- Sending -------------------------------------------------------------- */

/* How many should have been sent by now. */
static int64_t wanted(const pawl__bench_job *job, int64_t begin)
{
    int64_t count = (pawl__bench_clock() - begin) * job->options->rate / 1000000;
    return count < job->messages ? count : job->messages;
}

static pawl_code send_some(pawl_sender *sender, const pawl__bench_job *job, int64_t first,
                           int64_t count, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (int64_t i = first; code == PAWL_OK && i < first + count; i++)
        code = pawl__bench_send_step(sender, job->seed, i / PAWL__BENCH_STEPS_OF_ORDER, i, error);
    return code == PAWL_OK && count > 0 ? pawl_sender_commit(sender, error) : code;
}

/* This thread sends; the endpoint has its own. */
static pawl_code send_steadily(pawl_sender *sender, const pawl__bench_job *job,
                               pawl__bench_background *background, int64_t begin, snapshot *open,
                               pawl_error *error)
{
    pawl_code code = hold(job, open, error);
    for (int64_t sent = 0; code == PAWL_OK && sent < job->messages;) {
        int64_t now   = pawl__bench_clock();
        int64_t count = wanted(job, begin) - sent;
        if (count > SEND_COUNT_MAX)
            count = SEND_COUNT_MAX;
        code = send_some(sender, job, sent, count, error);
        if (code == PAWL_OK)
            code = hold(job, open, error);
        sent += count;
        pawl__bench_progress("messages sent", sent, job->messages);
        if (code == PAWL_OK)
            code = pawl__bench_background_look(background, error);
        if (code == PAWL_OK)
            pawl__bench_nap(now + SEND_PERIOD - pawl__bench_clock());
    }
    pawl__bench_note(job->figures, pawl__bench_sent_per_s,
                     (double)job->messages * 1e6 / (double)(pawl__bench_clock() - begin));
    return code;
}

/* ---- Windows -------------------------------------------------------------- */

typedef struct window {
    double handled_per_s;
    double claim_p99_ms;
} window;

static pawl_code read_window(const pawl__bench_tape *tape, int64_t from, int64_t to, window *w,
                             pawl_error *error)
{
    double *durations = pawl_allocate((tape->claim_count + 1) * sizeof *durations);
    size_t  count     = 0;
    int64_t rows      = 0;
    if (durations == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the times of %zu claims",
                              tape->claim_count);
    for (size_t i = 0; i < tape->claim_count; i++) {
        const pawl__bench_claim *claim = &tape->claims[i];
        if (claim->at < from || claim->at >= to)
            continue;
        durations[count++] = (double)claim->duration / 1e3;
        rows += claim->rows;
    }
    w->handled_per_s = pawl__bench_rate(rows, to - from);
    w->claim_p99_ms  = pawl__bench_percentile(durations, count, 99);
    pawl_free(durations);
    return PAWL_OK;
}

static pawl_code note_windows(const pawl__bench_job *job, int64_t begin, pawl_error *error)
{
    pawl__bench_tape     tape    = pawl__bench_tape_read();
    pawl__bench_figures *figures = job->figures;
    int64_t              whole   = job->options->seconds * 1000000;
    int64_t              size    = window_of(job);
    window               first, last;
    pawl_code            code = read_window(&tape, begin, begin + size, &first, error);
    if (code == PAWL_OK)
        code = read_window(&tape, begin + whole - size, begin + whole, &last, error);
    if (code != PAWL_OK)
        return code;
    pawl__bench_note(figures, pawl__bench_handled_first, first.handled_per_s);
    pawl__bench_note(figures, pawl__bench_handled_last, last.handled_per_s);
    pawl__bench_note(figures, pawl__bench_claim_p99_first_ms, first.claim_p99_ms);
    pawl__bench_note(figures, pawl__bench_claim_p99_last_ms, last.claim_p99_ms);
    if (first.handled_per_s > 0)
        pawl__bench_note(figures, pawl__bench_claims_ratio,
                         last.handled_per_s / first.handled_per_s);
    if (first.claim_p99_ms > 0)
        pawl__bench_note(figures, pawl__bench_claim_p99_ratio,
                         last.claim_p99_ms / first.claim_p99_ms);
    return PAWL_OK;
}

/* ---- Running -------------------------------------------------------------- */

static pawl_code messages_left(void *context, int64_t *left, pawl_error *error)
{
    const int64_t *messages = context;
    (void)error;
    *left = *messages - pawl__bench_tape_claimed();
    return PAWL_OK;
}

/* Sends and runs; claimed messages are handled before the endpoint stops. */
static pawl_code work(const pawl__bench_job *job, pawl_sender *sender, snapshot *open,
                      int64_t *begin, int64_t *microseconds, pawl_error *error)
{
    int64_t                seconds    = job->options->snapshot;
    pawl__bench_background background = {.is_started = false};
    pawl__bench_job        timed      = *job;
    pawl_endpoint         *endpoint   = NULL;
    int64_t                messages   = job->messages;
    pawl_code              code       = pawl__bench_tape_begin(job->url, &timed.url, error);
    if (code == PAWL_OK)
        code = pawl__bench_step_endpoint(&timed, &endpoint, error);
    if (code == PAWL_OK)
        code = pawl__bench_background_start(&background, endpoint, error);
    *begin = pawl__bench_clock();
    *open =
        (snapshot){.from  = *begin + (seconds != 0 ? window_of(job) : 0),
                   .until = seconds != 0 ? *begin + window_of(job) + seconds * 1000000 : INT64_MAX};
    if (code == PAWL_OK)
        code = send_steadily(sender, job, &background, *begin, open, error);
    if (code == PAWL_OK)
        code = pawl__bench_wait(&background, "messages", messages_left, &messages,
                                PAWL__BENCH_PATIENCE, error);
    code          = pawl__bench_background_stop(&background, code, error);
    *microseconds = pawl__bench_clock() - *begin;
    return code;
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    pawl_sender *sender = NULL;
    snapshot     open   = {.open = NULL};
    int64_t      begin  = 0;
    pawl_code    code   = pawl__bench_sender(job->url, &sender, error);
    if (code == PAWL_OK)
        code = work(job, sender, &open, &begin, microseconds, error);
    if (code == PAWL_OK)
        code = note_windows(job, begin, error);
    pawl__bench_tape_end();
    pawl_code released = let_go(job, &open, code == PAWL_OK ? error : NULL);
    pawl_sender_close(sender);
    return code == PAWL_OK ? released : code;
}

const pawl__bench_workload pawl__bench_steady = {
    .name     = "steady",
    .fill     = pawl__bench_tables_fill,
    .run      = run,
    .check    = pawl__bench_saga_step_check,
    .no_limit = "messages come at a fixed rate, so there is no fastest way to handle them",
    .rounds   = PAWL__BENCH_ROUNDS_STEADY,
    .workers  = PAWL__BENCH_WORKERS,
    .rate     = PAWL__BENCH_RATE_STEADY,
    .seconds  = PAWL__BENCH_SECONDS_STEADY};
