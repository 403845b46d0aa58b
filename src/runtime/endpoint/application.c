/* application.c - runs all endpoints of an application in one call, each pawl_endpoint_run in its own thread.
 *
 *     configure, create all -> run all -> (stop, a signal, or one fails) -> stop all -> join all
 *         -> destroy all
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/endpoint.h"
#include "runtime/runtime.h"

#include "base/sized.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct running {
    pawl_run      *run;
    pawl_endpoint *endpoint;
    const char    *name;
    pthread_t      thread;
    bool           is_started;
    pawl_code      code;
    pawl_error     error;
} running;

/* A signal handler may read it at any time: so `count` is raised after an item is complete, and set to 0 before the
 * first item is destroyed. */
struct pawl_run {
    pawl_run_options options;
    pid_t            process;
    running         *items;
    atomic_size_t    count;
    atomic_bool      is_stopping;
};

static atomic_int stops; /* stop calls under way, of any run: no run is destroyed meanwhile */

void pawl_run_stop(pawl_run *run)
{
    if (run == NULL)
        return;
    atomic_fetch_add(&stops, 1);
    atomic_store(&run->is_stopping, true);
    size_t count = atomic_load(&run->count);
    for (size_t i = 0; i < count; i++)
        pawl_endpoint_stop(run->items[i].endpoint);
    atomic_fetch_sub(&stops, 1);
}

static void tell(pawl_run *run, pawl_run_state state)
{
    if (run->options.changed != NULL)
        run->options.changed(run->options.context, run, state);
}

/* ---- Signals ------------------------------------------------------------------ */

static const int signals[] = {SIGINT, SIGTERM};
#define SIGNAL_COUNT (sizeof signals / sizeof signals[0])
#define STOP_SPAN PAWL_MILLISECONDS(500) /* signals within this time are one stop */

static _Atomic(pawl_run *) listening;  /* the run that the signals stop */
static _Atomic int64_t     stop_begin; /* by pawl__monotonic_now; 0: no signal yet */
static struct sigaction    before[SIGNAL_COUNT];

/* The first signal stops the run, the second one ends the process by the default action; in a child process of fork()
 * already the first one. One stop may arrive as two signals: systemd signals a whole control group, timeout(1) the
 * process and its group. */
static void take_stop(int number)
{
    int64_t begin = 0, now = pawl__monotonic_now();
    atomic_fetch_add(&stops, 1);
    pawl_run *run      = atomic_load(&listening);
    bool      is_ours  = run != NULL && run->process == getpid();
    bool      is_first = is_ours && atomic_compare_exchange_strong(&stop_begin, &begin, now);
    if (is_first)
        pawl_run_stop(run);
    atomic_fetch_sub(&stops, 1);
    if (is_first || (is_ours && now - begin < STOP_SPAN))
        return;
    signal(number, SIG_DFL);
    raise(number);
}

static pawl_code listen(pawl_run *run, pawl_error *error)
{
    struct sigaction action = {.sa_handler = take_stop, .sa_flags = SA_RESTART};
    pawl_run        *nobody = NULL;
    if (run->options.keeps_signals)
        return PAWL_OK;
    if (!atomic_compare_exchange_strong(&listening, &nobody, run))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "another run of this process has SIGINT and SIGTERM: set keeps_signals");
    atomic_store(&stop_begin, 0);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaction(signals[i], &action, &before[i]);
    return PAWL_OK;
}

static void restore_signals(pawl_run *run)
{
    if (atomic_load(&listening) != run)
        return;
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaction(signals[i], &before[i], NULL);
    atomic_store(&listening, NULL);
}

/* ---- Endpoints ------------------------------------------------------------------ */

static void *run_one(void *argument)
{
    running *item = argument;
    item->code    = pawl_endpoint_run(item->endpoint, &item->error);
    if (item->code != PAWL_OK)
        pawl_run_stop(item->run); /* if one endpoint ends, all end */
    return NULL;
}

static pawl_code create_one(pawl_run *run, const pawl_application *application, const char *name,
                            pawl_error *error)
{
    size_t                count    = atomic_load(&run->count);
    running              *item     = &run->items[count];
    pawl_endpoint_options settings = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_code             code = pawl__sized_read(run->options.endpoint, &settings, sizeof settings,
                                                  "options of endpoints", "PAWL_ENDPOINT_OPTIONS_INIT", error);
    *item                      = (running){.run = run, .name = name, .error = PAWL_ERROR_INIT};
    if (code == PAWL_OK && run->options.configure != NULL)
        code = run->options.configure(run->options.context, name, &settings, error);
    if (code == PAWL_OK)
        code = pawl_endpoint_create(application, name, &settings, &item->endpoint, error);
    if (code == PAWL_OK)
        atomic_store(&run->count, count + 1);
    return code;
}

static pawl_code create_all(pawl_run *run, const pawl_application *application, pawl_error *error)
{
    const char *only = run->options.only;
    pawl_code   code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && application->endpoints[i] != NULL; i++) {
        if (atomic_load(&run->is_stopping))
            break;
        const char *name = application->endpoints[i]->name;
        if (only == NULL || strcmp(name, only) == 0)
            code = create_one(run, application, name, error);
    }
    return code;
}

static pawl_code start_all(pawl_run *run, pawl_error *error)
{
    size_t count = atomic_load(&run->count);
    for (size_t i = 0; i < count; i++) {
        running *item   = &run->items[i];
        int      result = pthread_create(&item->thread, NULL, run_one, item);
        if (result != 0) {
            pawl_run_stop(run);
            return pawl_error_set(error, PAWL_ENOMEM, "no thread for endpoint '%s': %s", item->name,
                                  strerror(result));
        }
        item->is_started = true;
        pawl_log(PAWL_LOG_INFO, "endpoint '%s' is running", item->name);
    }
    tell(run, PAWL_RUN_STARTED);
    if (atomic_load(&run->is_stopping))
        pawl_run_stop(run); /* stop may have been called before the last endpoint was in the list */
    return PAWL_OK;
}

/* Joins the threads. Returns the failure of an endpoint whose handler did not return, else the first failure; logs the
 * others. */
static pawl_code join_all(pawl_run *run, pawl_code code, bool *is_given_up, pawl_error *error)
{
    size_t count = atomic_load(&run->count);
    for (size_t i = 0; i < count; i++) {
        running *item = &run->items[i];
        if (item->is_started)
            pthread_join(item->thread, NULL);
        bool is_first = !*is_given_up && pawl_endpoint_abandoned(item->endpoint) > 0;
        *is_given_up |= is_first;
        if (item->is_started && item->code == PAWL_OK)
            pawl_log(PAWL_LOG_INFO, "endpoint '%s' stopped", item->name);
        if (item->code != PAWL_OK && (code == PAWL_OK || is_first)) {
            if (error != NULL)
                *error = item->error;
            code = pawl_error_wrap(error, item->code, "endpoint '%s'", item->name);
        } else if (item->code != PAWL_OK) {
            pawl_log(PAWL_LOG_ERROR, "endpoint '%s': %s", item->name, item->error.text);
        }
    }
    return code;
}

static void destroy_all(pawl_run *run)
{
    size_t count = atomic_exchange(&run->count, 0);
    while (atomic_load(&stops) > 0) /* a stop never blocks */
        sched_yield();
    for (size_t i = 0; i < count; i++)
        pawl_endpoint_destroy(run->items[i].endpoint);
    pawl_free(run->items);
    pawl_free(run);
}

/* ---- The run ------------------------------------------------------------------------ */

static pawl_code make(const pawl_application *application, const pawl_run_options *given,
                      pawl_run **made, pawl_error *error)
{
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    size_t           count   = 0;
    pawl_code        code    = pawl__sized_read(given, &options, sizeof options, "options of a run",
                                                "PAWL_RUN_OPTIONS_INIT", error);
    if (code == PAWL_OK)
        code = pawl_application_check(application, error);
    if (code == PAWL_OK && options.only != NULL) {
        const pawl_endpoint_spec *found;
        code = pawl__application_endpoint(application, options.only, &found, error);
    }
    if (code != PAWL_OK)
        return code;
    count         = pawl__list_count(application->endpoints);
    pawl_run *run = pawl_allocate(sizeof *run);
    running  *all = pawl_allocate((count + 1) * sizeof *all);
    if (run == NULL || all == NULL) {
        pawl_free(run);
        pawl_free(all);
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for %zu endpoints", count);
    }
    run->options = options;
    run->process = getpid();
    run->items   = all;
    *made        = run;
    return PAWL_OK;
}

pawl_code pawl_application_run(const pawl_application *application, const pawl_run_options *options,
                               pawl_error *error)
{
    pawl_run *run         = NULL;
    bool      is_given_up = false;
    pawl_code code        = make(application, options, &run, error);
    if (code != PAWL_OK)
        return code;
    code = listen(run, error);
    if (code == PAWL_OK)
        code = create_all(run, application, error);
    if (code == PAWL_OK &&
        !atomic_load(&run->is_stopping)) { /* a signal may have stopped it already */
        tell(run, PAWL_RUN_CREATED);
        code = join_all(run, start_all(run, error), &is_given_up, error);
        tell(run, PAWL_RUN_STOPPED);
    }
    restore_signals(run);
    if (!is_given_up) /* a handler that still runs uses the endpoints */
        destroy_all(run);
    return code;
}
