/* hot_saga.c - all messages are for one saga: several threads send them, a few
 * in each commit, while an endpoint with several workers handles them. How often
 * do the workers get in one another's way, and what does it cost?
 *
 * The time is from the first message sent to the last one handled, so sending is
 * in it. saga-step beside it has as many messages, all sent before, and one worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "background.h"
#include "saga_step.h"

#include <string.h>

#define THE_ORDER 0

typedef struct sender_thread {
    const pawl__bench_job  *job;
    int64_t                 first; /* sends this message, and each SENDERS-th after it */
    pawl_sender            *sender;
    pthread_t               handle;
    bool                    is_started;
    int64_t                 ended; /* when its last commit was done */
    pawl_code               code;
    pawl_error              error;
    pawl__bench_background *background; /* the one stops when the other does */
} sender_thread;

/* ---- Sending -------------------------------------------------------------- */

static pawl_code send_share(sender_thread *self, pawl_error *error)
{
    const pawl__bench_options *options = self->job->options;
    pawl_code                  code    = PAWL_OK;
    int64_t                    held    = 0;
    for (int64_t i = self->first; code == PAWL_OK && i < self->job->messages;
         i += options->senders) {
        code         = pawl__bench_send_step(self->sender, self->job->seed, THE_ORDER, i, error);
        bool is_last = i + options->senders >= self->job->messages;
        if (code == PAWL_OK && (++held == options->sender_batch || is_last)) {
            held = 0;
            code = pawl_sender_commit(self->sender, error);
            if (code == PAWL_OK)
                code = pawl__bench_background_look(self->background, error);
        }
    }
    return code;
}

static void *run_sender(void *argument)
{
    sender_thread *self = argument;
    self->code          = send_share(self, &self->error);
    self->ended         = pawl__bench_clock();
    if (self->code != PAWL_OK)
        pawl_endpoint_stop(self->background->endpoint);
    return NULL;
}

static pawl_code open_senders(sender_thread *threads, const pawl__bench_job *job,
                              pawl__bench_background *background, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (int64_t i = 0; code == PAWL_OK && i < job->options->senders; i++) {
        threads[i] = (sender_thread){
            .job = job, .first = i, .background = background, .error = PAWL_ERROR_INIT};
        code = pawl__bench_sender(job->url, &threads[i].sender, error);
    }
    return code;
}

static pawl_code start_senders(sender_thread *threads, int64_t count, pawl_error *error)
{
    for (int64_t i = 0; i < count; i++) {
        int failure = pthread_create(&threads[i].handle, NULL, run_sender, &threads[i]);
        if (failure != 0)
            return pawl_error_set(error, PAWL_EBUSY, "sender %lld of %lld cannot be started: %s",
                                  (long long)i + 1, (long long)count, strerror(failure));
        threads[i].is_started = true;
    }
    return PAWL_OK;
}

/* When the last one was done. */
static pawl_code close_senders(sender_thread *threads, int64_t count, int64_t *ended,
                               pawl_code code, pawl_error *error)
{
    for (int64_t i = 0; i < count; i++) {
        if (threads[i].is_started)
            pthread_join(threads[i].handle, NULL);
        pawl_sender_close(threads[i].sender);
        if (threads[i].code != PAWL_OK)
            code = pawl_error_set(error, threads[i].code, "sender %lld: %s", (long long)i + 1,
                                  threads[i].error.text);
        if (threads[i].ended > *ended)
            *ended = threads[i].ended;
    }
    return code;
}

/* ---- Running -------------------------------------------------------------- */

typedef struct watch {
    const pawl__bench_job *job;
    pawl__bench_handle     handle;
} watch;

static pawl_code steps_left(void *context, int64_t *left, pawl_error *error)
{
    watch    *w     = context;
    int64_t   steps = 0;
    pawl_code code = pawl__bench_count_steps(&w->handle, w->job->seed, THE_ORDER, &steps, 1, error);
    *left          = w->job->messages - steps;
    pawl__bench_progress("steps of the saga", steps, w->job->messages);
    return code;
}

static pawl_code work(const pawl__bench_job *job, sender_thread *threads, watch *w,
                      pawl__bench_background *background, int64_t *microseconds, pawl_error *error)
{
    pawl_endpoint *endpoint = NULL;
    int64_t        ended    = 0;
    pawl_code      code     = open_senders(threads, job, background, error);
    if (code == PAWL_OK)
        code = pawl__bench_step_endpoint(job, &endpoint, error);
    if (code == PAWL_OK)
        code = pawl__bench_background_start(background, endpoint, error);
    int64_t begin = pawl__bench_clock();
    if (code == PAWL_OK)
        code = start_senders(threads, job->options->senders, error);
    if (code == PAWL_OK)
        code = pawl__bench_wait(background, "steps of the saga", steps_left, w,
                                PAWL__BENCH_PATIENCE, error);
    *microseconds = pawl__bench_clock() - begin;
    code          = close_senders(threads, job->options->senders, &ended, code, error);
    if (code == PAWL_OK)
        pawl__bench_note(job->figures, pawl__bench_sent_per_s,
                         (double)job->messages * 1e6 / (double)(ended - begin));
    return code;
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    watch                  w          = {.job = job};
    pawl__bench_background background = {.is_started = false};
    sender_thread         *threads = pawl_allocate((size_t)job->options->senders * sizeof *threads);
    pawl_code              code    = pawl__bench_open(job->url, &w.handle, error);
    if (code == PAWL_OK && threads == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for %lld senders",
                              (long long)job->options->senders);
    if (code == PAWL_OK)
        code = work(job, threads, &w, &background, microseconds, error);
    code = pawl__bench_background_stop(&background, code, error);
    if (code == PAWL_OK)
        code = pawl__bench_note_conflicts(job, &w.handle, error);
    pawl__bench_close(&w.handle);
    pawl_free(threads);
    return code;
}

static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_check_counts(&handle, job->messages, 1, error);
    if (code == PAWL_OK)
        code = pawl__bench_check_orders(&handle, job->seed, THE_ORDER, &job->messages, 1, error);
    pawl__bench_close(&handle);
    return code;
}

static const pawl__bench_beside saga_step = {.who     = "saga-step",
                                             .prepare = pawl__bench_saga_step_fill,
                                             .run     = pawl__bench_saga_step_run,
                                             .check   = pawl__bench_saga_step_check,
                                             .rate    = pawl__bench_saga_step_per_s,
                                             .ratio   = pawl__bench_ratio_to_saga_step};

const pawl__bench_workload pawl__bench_hot_saga = {.name     = "hot-saga",
                                                   .fill     = pawl__bench_tables_fill,
                                                   .run      = run,
                                                   .check    = check,
                                                   .beside   = &saga_step,
                                                   .no_limit = "it is measured beside saga-step",
                                                   .rounds   = PAWL__BENCH_ROUNDS,
                                                   .workers  = PAWL__BENCH_WORKERS_HOT_SAGA};
