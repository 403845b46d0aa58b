/* latency.c - messages come one at a time at a fixed rate: how long is one under
 * way, from before its send to its handler, and to the commit that ends it?
 *
 *     sender    |-- send, commit --|
 *     endpoint                  .. wakes, claims, loads |handler| saves, commits |
 *               sent                                 handled               committed
 *
 * The sender is a thread of the endpoint's process, or a process of its own. A message is
 * due whether or not the one before it is committed; its time begins with its send.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "latency.h"

#include "background.h"
#include "saga_step.h"
#include "timed.h"
#include "verdict.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_PERIOD PAWL_MILLISECONDS(1)

/* ---- Times ---------------------------------------------------------------- */

typedef struct times {
    double *to_handler; /* microseconds */
    double *to_commit;
    size_t  count;
} times;

static pawl_code times_create(times *t, const pawl__bench_job *job, pawl_error *error)
{
    size_t size   = (size_t)job->messages * sizeof(double);
    *t            = (times){.to_handler = pawl_allocate(size), .to_commit = pawl_allocate(size)};
    bool has_both = t->to_handler != NULL && t->to_commit != NULL;
    return has_both ? PAWL_OK
                    : pawl_error_set(error, PAWL_ENOMEM, "no memory for the times of %lld messages",
                                     (long long)job->messages);
}

static void times_destroy(times *t)
{
    pawl_free(t->to_handler);
    pawl_free(t->to_commit);
}

static void times_add(times *t, int64_t sent, int64_t handled, int64_t committed)
{
    t->to_handler[t->count]  = (double)(handled - sent);
    t->to_commit[t->count++] = (double)(committed - sent);
}

static void note_three(pawl__bench_figures *figures, pawl__bench_figure p50, double *values,
                       size_t count)
{
    static const int percents[] = {50, 90, 99};
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++)
        pawl__bench_note(figures, p50 + i,
                         pawl__bench_percentile(values, count, percents[i]) / 1e3);
}

/* The time of the round is what the messages would take one behind the other, each as
 * long as the one in the middle: a stall of the disk is in p99, not in the ratio. */
static int64_t times_note(times *t, const pawl__bench_job *job, pawl__bench_figure handler_p50,
                          pawl__bench_figure commit_p50)
{
    note_three(job->figures, handler_p50, t->to_handler, t->count);
    note_three(job->figures, commit_p50, t->to_commit, t->count);
    return (int64_t)(pawl__bench_percentile(t->to_commit, t->count, 50) * (double)t->count);
}

/* ---- Sending -------------------------------------------------------------- */

/* Shared by both processes. */
typedef struct post {
    atomic_bool            has_begun; /* the endpoint runs */
    const pawl__bench_way *way;
    pawl_code              code;
    pawl_error             error;
    int64_t                sent[]; /* of pawl__bench_clock, just before */
} post;

static size_t post_size(const pawl__bench_job *job)
{
    return sizeof(post) + (size_t)job->messages * sizeof(int64_t);
}

static pawl_code post_create(post **made, const pawl__bench_job *job, pawl_error *error)
{
    void *memory =
        mmap(NULL, post_size(job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *made = memory != MAP_FAILED ? memory : NULL;
    return *made != NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "no memory for the times of %lld messages",
                                (long long)job->messages);
}

static void wait_until_due(const pawl__bench_job *job, int64_t begin, int64_t number)
{
    pawl__bench_nap(begin + number * 1000000 / job->options->rate - pawl__bench_clock());
    pawl__bench_progress("messages sent", number + 1, job->messages);
}

static pawl_code open_sender(const pawl__bench_job *job, void **side, pawl_error *error)
{
    pawl_sender *sender = NULL;
    pawl_code    code   = pawl__bench_sender(job->url, &sender, error);
    *side               = sender;
    return code;
}

static void close_sender(void *side)
{
    pawl_sender_close(side);
}

static pawl_code send_step(void *side, const pawl__bench_job *job, int64_t number,
                           pawl_error *error)
{
    pawl_sender *sender = side;
    int64_t      order  = number / PAWL__BENCH_STEPS_OF_ORDER;
    pawl_code    code   = pawl__bench_send_step(sender, job->seed, order, number, error);
    return code == PAWL_OK ? pawl_sender_commit(sender, error) : code;
}

const pawl__bench_way pawl__bench_store_way = {
    open_sender, send_step, close_sender, pawl__bench_handler_p50_ms, pawl__bench_commit_p50_ms};

static pawl_code send_all(const pawl__bench_job *job, post *p, void *side, pawl_error *error)
{
    pawl_code code  = PAWL_OK;
    int64_t   begin = pawl__bench_clock();
    for (int64_t i = 0; code == PAWL_OK && i < job->messages; i++) {
        wait_until_due(job, begin, i);
        p->sent[i] = pawl__bench_clock();
        code       = p->way->send(side, job, i, error);
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
    }
    return code;
}

static pawl_code send_here(const pawl__bench_job *job, post *p, pawl_error *error)
{
    void     *side = NULL;
    pawl_code code = p->way->open(job, &side, error);
    while (code == PAWL_OK && !atomic_load(&p->has_begun)) {
        pawl__bench_nap(LOOK_PERIOD);
        code = pawl__bench_go_on(error);
    }
    if (code == PAWL_OK)
        code = send_all(job, p, side, error);
    p->way->close(side);
    return code;
}

/* Before anything is opened here: connections do not survive a fork. */
static pawl_code fork_sender(const pawl__bench_job *job, post *p, pid_t *child, pawl_error *error)
{
    *child = fork();
    if (*child < 0)
        return pawl_error_set(error, PAWL_EBUSY, "the sender's process cannot be started");
    if (*child > 0)
        return PAWL_OK;
    p->error = (pawl_error)PAWL_ERROR_INIT;
    p->code  = send_here(job, p, &p->error);
    _exit(0);
}

static pawl_code await_sender(const post *p, pid_t child, pawl__bench_background *background,
                              pawl_error *error)
{
    int       status = 0;
    pawl_code code   = PAWL_OK;
    while (waitpid(child, &status, WNOHANG) == 0) {
        pawl__bench_nap(LOOK_PERIOD);
        if (code == PAWL_OK)
            code = pawl__bench_background_look(background, error);
        if (code != PAWL_OK)
            (void)kill(child, SIGTERM);
    }
    if (code == PAWL_OK && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return pawl_error_set(error, PAWL_EBUG, "the sender's process ended early");
    if (code == PAWL_OK && p->code != PAWL_OK)
        return pawl_error_set(error, p->code, "the sender: %s", p->error.text);
    return code;
}

/* ---- pawl ----------------------------------------------------------------- */

static pawl_code messages_left(void *context, int64_t *left, pawl_error *error)
{
    const int64_t *messages = context;
    (void)error;
    *left = *messages - pawl__bench_tape_committed();
    return PAWL_OK;
}

static pawl_code note_times(const pawl__bench_job *job, const post *p, int64_t *microseconds,
                            pawl_error *error)
{
    pawl__bench_tape tape = pawl__bench_tape_read();
    times            t    = {.count = 0};
    pawl_code        code = times_create(&t, job, error);
    if (code == PAWL_OK)
        code = pawl__bench_expect("messages handled", (int64_t)tape.moment_count, job->messages,
                                  error);
    for (size_t i = 0; code == PAWL_OK && i < tape.moment_count; i++) {
        const pawl__bench_moment *m = &tape.moments[i];
        times_add(&t, p->sent[m->number], m->handled, m->committed);
    }
    if (code == PAWL_OK)
        *microseconds = times_note(&t, job, p->way->handler_p50, p->way->commit_p50);
    times_destroy(&t);
    return code;
}

/* `child` is 0 when this process sends. */
static pawl_code work(const pawl__bench_job *timed, const pawl__bench_job *job, post *p,
                      pid_t child, pawl_error *error)
{
    pawl__bench_background background = {.is_started = false};
    pawl_endpoint         *endpoint   = NULL;
    int64_t                messages   = job->messages;
    pawl_code              code       = pawl__bench_step_endpoint(timed, &endpoint, error);
    if (code == PAWL_OK)
        code = pawl__bench_background_start(&background, endpoint, error);
    atomic_store(&p->has_begun, code == PAWL_OK);
    if (code == PAWL_OK)
        code = child != 0 ? await_sender(p, child, &background, error) : send_here(job, p, error);
    else if (child != 0)
        (void)(kill(child, SIGTERM) + waitpid(child, NULL, 0));
    if (code == PAWL_OK)
        code = pawl__bench_wait(&background, "messages", messages_left, &messages,
                                PAWL__BENCH_PATIENCE, error);
    return pawl__bench_background_stop(&background, code, error);
}

pawl_code pawl__bench_latency_by(const pawl__bench_way *way, const pawl__bench_job *job,
                                 int64_t *microseconds, pawl_error *error)
{
    if (job->options->is_apart && job->kind->copy == NULL)
        return pawl_error_set(
            error, PAWL_EUNSUPPORTED,
            "another process cannot send to a store in memory: leave --apart out");
    pawl__bench_job timed = *job;
    post           *p     = NULL;
    pid_t           child = 0;
    pawl_code       code  = post_create(&p, job, error);
    timed.on_step         = pawl__bench_tape_handled;
    if (code == PAWL_OK)
        p->way = way;
    if (code == PAWL_OK && job->options->is_apart)
        code = fork_sender(job, p, &child, error);
    if (code == PAWL_OK)
        code = pawl__bench_tape_begin(job->url, &timed.url, error);
    if (code == PAWL_OK)
        code = work(&timed, job, p, child, error);
    if (code == PAWL_OK)
        code = note_times(job, p, microseconds, error);
    pawl__bench_tape_end();
    if (p != NULL)
        (void)munmap(p, post_size(job));
    return code;
}

pawl_code pawl__bench_latency_after(const pawl__bench_way *way, const pawl__bench_job *job,
                                    int64_t seconds, pawl_error *error)
{
    pawl__bench_options options      = *job->options;
    pawl__bench_job     one_by_one   = *job;
    int64_t             microseconds = 0;
    options.rate                     = options.rate != 0 ? options.rate : PAWL__BENCH_RATE_LATENCY;
    options.seconds                  = options.seconds != 0 ? options.seconds : seconds;
    one_by_one.options               = &options;
    one_by_one.messages              = options.rate * options.seconds;
    return pawl__bench_latency_by(way, &one_by_one, &microseconds, error);
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    return pawl__bench_latency_by(&pawl__bench_store_way, job, microseconds, error);
}

/* ---- The loop ------------------------------------------------------------- */

static void write_letter(pawl__bench_letter *letter, const pawl__bench_job *job, int64_t number)
{
    int64_t order  = number / PAWL__BENCH_STEPS_OF_ORDER;
    letter->number = number;
    letter->cents  = pawl__bench_cents(order);
    pawl__bench_order_id(job->seed, order, letter->order_id);
    pawl_time_format(pawl_clock_now(NULL), letter->at);
}

pawl_code pawl__bench_letters(const pawl__bench_job *job, pawl__bench_letter_fn *handle, void *side,
                              int64_t *microseconds, pawl_error *error)
{
    pawl__bench_letter letter;
    times              t       = {.count = 0};
    int64_t            begin   = pawl__bench_clock();
    int64_t            handled = 0;
    pawl_code          code    = times_create(&t, job, error);
    for (int64_t i = 0; code == PAWL_OK && i < job->messages; i++) {
        wait_until_due(job, begin, i);
        int64_t sent = pawl__bench_clock();
        write_letter(&letter, job, i);
        code = handle(side, &letter, &handled, error);
        times_add(&t, sent, handled, pawl__bench_clock());
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
    }
    if (code == PAWL_OK)
        *microseconds =
            times_note(&t, job, pawl__bench_limit_handler_p50_ms, pawl__bench_limit_commit_p50_ms);
    times_destroy(&t);
    return code;
}

const pawl__bench_workload pawl__bench_latency = {.name    = "latency",
                                                  .fill    = pawl__bench_tables_fill,
                                                  .run     = run,
                                                  .check   = pawl__bench_saga_step_check,
                                                  .rounds  = PAWL__BENCH_ROUNDS_LATENCY,
                                                  .workers = PAWL__BENCH_WORKERS,
                                                  .rate    = PAWL__BENCH_RATE_LATENCY,
                                                  .seconds = PAWL__BENCH_SECONDS_LATENCY};
