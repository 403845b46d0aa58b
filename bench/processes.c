/* processes.c - several processes, each an endpoint of its own, work off one queue. Half of the messages are
 * for one saga, the others for twelve. Does each process more make it slower?
 *
 *     parent   fork N -> wait until all are ready -> go, the clock starts -> all steps are saved -> end
 *     child    endpoint -> ready ................... run ................................ stop
 *
 * Beside it one process alone does the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "background.h"
#include "saga_step.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDERS 13 /* the first has half of the messages */
#define LOOK_PERIOD PAWL_MILLISECONDS(5)

/* ---- Messages ------------------------------------------------------------- */

static int64_t order_of(int64_t message)
{
    return message % 2 == 0 ? 0 : 1 + message / 2 % (ORDERS - 1);
}

static pawl_code fill(const pawl__bench_job *job, pawl_error *error)
{
    int64_t *orders = pawl_allocate((size_t)job->messages * sizeof *orders);
    if (orders == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the order of %lld messages",
                              (long long)job->messages);
    for (int64_t i = 0; i < job->messages; i++)
        orders[i] = order_of(i);
    pawl_code code = job->kind->copy != NULL
                         ? pawl__bench_tables_fill(job, error)
                         : pawl_error_set(error, PAWL_EUNSUPPORTED,
                                          "another process cannot open a store in memory");
    if (code == PAWL_OK)
        code = pawl__bench_send_orders(job, orders, error);
    pawl_free(orders);
    return code;
}

static pawl_code check(const pawl__bench_job *job, pawl_error *error)
{
    pawl__bench_handle handle;
    int64_t            steps[ORDERS] = {0};
    for (int64_t i = 0; i < job->messages; i++)
        steps[order_of(i)]++;
    size_t count = 0;
    while (count < ORDERS && steps[count] > 0)
        count++;
    pawl_code code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_check_counts(&handle, job->messages, (int64_t)count, error);
    if (code == PAWL_OK)
        code = pawl__bench_check_orders(&handle, job->seed, 0, steps, count, error);
    pawl__bench_close(&handle);
    return code;
}

/* ---- A child -------------------------------------------------------------- */

/* Shared by all processes. */
typedef struct gate {
    atomic_int  ready;
    atomic_bool is_open, is_over;
    pawl_code   code; /* of a child that failed */
    pawl_error  error;
} gate;

static void await(const atomic_bool *flag, const gate *g, pid_t parent)
{
    while (!atomic_load(flag) && !atomic_load(&g->is_over) && getppid() == parent)
        pawl__bench_nap(LOOK_PERIOD);
}

static pawl_code work(const pawl__bench_job *job, gate *g, pid_t parent, pawl_error *error)
{
    pawl__bench_background background = {.is_started = false};
    pawl_endpoint         *endpoint   = NULL;
    pawl_code              code       = pawl__bench_step_endpoint(job, &endpoint, error);
    if (code != PAWL_OK)
        return code;
    atomic_fetch_add(&g->ready, 1);
    await(&g->is_open, g, parent);
    code = pawl__bench_background_start(&background, endpoint, error);
    if (code == PAWL_OK)
        await(&g->is_over, g, parent);
    return pawl__bench_background_stop(&background, code, error);
}

/* ---- The parent ----------------------------------------------------------- */

typedef struct crew {
    gate   *gate;
    pid_t   children[PAWL_WORKERS_MAX];
    int64_t count;
} crew;

/* Before anything is opened here: connections do not survive a fork. */
static pawl_code start(const pawl__bench_job *job, crew *c, int64_t count, pawl_error *error)
{
    pid_t parent = getpid();
    for (; c->count < count; c->count++) {
        pid_t child = fork();
        if (child < 0)
            return pawl_error_set(error, PAWL_EBUSY, "process %lld of %lld cannot be started: %s",
                                  (long long)c->count + 1, (long long)count, strerror(errno));
        if (child == 0) {
            pawl_error own  = PAWL_ERROR_INIT;
            pawl_code  code = work(job, c->gate, parent, &own);
            if (code != PAWL_OK)
                c->gate->error = own, c->gate->code = code;
            _exit(code == PAWL_OK ? 0 : 1);
        }
        c->children[c->count] = child;
    }
    return PAWL_OK;
}

/* No child has ended, and nobody wants to end the benchmark. */
static pawl_code look(crew *c, pawl_error *error)
{
    int       status = 0;
    pawl_code code   = pawl__bench_go_on(error);
    for (int64_t i = 0; code == PAWL_OK && i < c->count; i++)
        if (c->children[i] != 0 && waitpid(c->children[i], &status, WNOHANG) != 0) {
            c->children[i] = 0;
            code = pawl_error_set(error, c->gate->code != PAWL_OK ? c->gate->code : PAWL_EBUG,
                                  "process %lld ended before the work was done: %s",
                                  (long long)i + 1, c->gate->error.text);
        }
    return code;
}

static pawl_code stop(crew *c, pawl_code code, pawl_error *error)
{
    int status = 0;
    atomic_store(&c->gate->is_over, true);
    for (int64_t i = 0; i < c->count; i++)
        if (c->children[i] != 0 && waitpid(c->children[i], &status, 0) > 0 && status != 0 &&
            code == PAWL_OK)
            code = pawl_error_set(error, c->gate->code != PAWL_OK ? c->gate->code : PAWL_EBUG,
                                  "process %lld: %s", (long long)i + 1, c->gate->error.text);
    return code;
}

typedef struct watch {
    const pawl__bench_job *job;
    crew                  *crew;
    pawl__bench_handle     handle;
} watch;

static pawl_code steps_left(void *context, int64_t *left, pawl_error *error)
{
    watch    *w             = context;
    int64_t   steps[ORDERS] = {0};
    pawl_code code = pawl__bench_count_steps(&w->handle, w->job->seed, 0, steps, ORDERS, error);
    *left          = w->job->messages;
    for (size_t i = 0; i < ORDERS; i++)
        *left -= steps[i];
    pawl__bench_progress("steps", w->job->messages - *left, w->job->messages);
    return code == PAWL_OK ? look(w->crew, error) : code;
}

static pawl_code run_crew(const pawl__bench_job *job, int64_t count, int64_t *microseconds,
                          pawl_error *error)
{
    crew                   c    = {.count = 0};
    watch                  w    = {.job = job, .crew = &c};
    pawl__bench_background none = {.is_started = false}; /* the endpoints run in the children */
    void                  *memory =
        mmap(NULL, sizeof *c.gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory that processes share");
    c.gate         = memory;
    pawl_code code = start(job, &c, count, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &w.handle, error);
    while (code == PAWL_OK && atomic_load(&c.gate->ready) < count) {
        pawl__bench_nap(LOOK_PERIOD);
        code = look(&c, error);
    }
    int64_t begin = pawl__bench_clock();
    atomic_store(&c.gate->is_open, code == PAWL_OK);
    if (code == PAWL_OK)
        code = pawl__bench_wait(&none, "steps", steps_left, &w, PAWL__BENCH_PATIENCE, error);
    *microseconds = pawl__bench_clock() - begin;
    code          = stop(&c, code, error);
    if (code == PAWL_OK && count > 1)
        code = pawl__bench_note_conflicts(job, &w.handle, error);
    pawl__bench_close(&w.handle);
    (void)munmap(memory, sizeof *c.gate);
    return code;
}

static pawl_code run(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    return run_crew(job, job->options->processes, microseconds, error);
}

static pawl_code run_alone(const pawl__bench_job *job, int64_t *microseconds, pawl_error *error)
{
    return run_crew(job, 1, microseconds, error);
}

static const pawl__bench_beside alone = {.who   = "one process",
                                         .run   = run_alone,
                                         .check = check,
                                         .rate  = pawl__bench_alone_per_s,
                                         .ratio = pawl__bench_ratio_to_alone};

const pawl__bench_workload pawl__bench_processes = {.name     = "processes",
                                                    .fill     = fill,
                                                    .run      = run,
                                                    .check    = check,
                                                    .beside   = &alone,
                                                    .no_limit = "it is measured beside one process",
                                                    .rounds   = PAWL__BENCH_ROUNDS,
                                                    .workers  = PAWL__BENCH_WORKERS};
