/* threads.c - starts, watches and ends the threads of pawl_endpoint_run.
 *
 *     start -> watch until stop -> wait, stop_wait at most -> join those that finished
 *                                                         -> give up the others
 *
 * The caller's thread watches: it logs calls that take long, and after stop_wait it gives up the threads that are still
 * in the application's code. It ends their workers in the store, on a separate handle: their claims are released, and
 * their commits refused. A given up thread owns all that it uses: it ends by itself when the application's code
 * returns, and the last reference frees the endpoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/wake_fd.h"
#include "runtime/endpoint/endpoint.h"

#include "store/core/wait.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WATCH_MAX PAWL__HEARTBEAT_PERIOD
#define VIRTUAL_WATCH PAWL_MILLISECONDS(20) /* a virtual clock gives no wake-up */
#define INTERRUPT_PERIOD PAWL_SECONDS(1)
#define REPORTED_MAX 3 /* threads that the error text names */

typedef struct running {
    pawl_endpoint  *endpoint;
    pawl__thread  **threads; /* the workers', then the service's and the intake's; NULL: given up */
    int             thread_count; /* of all that will be made */
    int             count;        /* of those made so far */
    int             done_fd;
    pawl__worker   *spare; /* becomes the endpoint's worker if the first one is given up */
    pawl__heartbeat heartbeat;
} running;

/* ---- Threads --------------------------------------------------------------------- */

static void destroy_thread(pawl__thread *it)
{
    if (it == NULL)
        return;
    if (it->worker != it->endpoint->worker)
        pawl__worker_destroy(it->worker);
    if (it->worker == NULL && it->wake_fd >= 0) {
        pawl__wake_remove(it->wake_fd);
        close(it->wake_fd);
    }
    pawl__service_destroy(it->service);
    pawl__intake_destroy(it->inbound);
    pawl_free(it);
}

#define READER_END PAWL_SECONDS(5)

/* Keeps the worker's row until all broker messages of this process are rows: to other processes it shows that there may
 * be such messages (connection_state.c). */
static void wait_for_reader(const pawl__thread *self)
{
    pawl__offers *offers = &self->endpoint->offers;
    int64_t       end    = pawl__monotonic_now() + READER_END;
    int64_t       rest   = READER_END;
    pawl__app_call_set_waits(self->app_call, PAWL__WAITS_FOR_READER);
    while (rest > 0 && pawl__offers_is_on(offers)) {
        pawl__fd_wait(self->wake_fd, rest);
        (void)pawl__fd_clear(self->wake_fd);
        rest = end - pawl__monotonic_now();
    }
    pawl__app_call_set_waits(self->app_call, NULL);
}

/* The thread's loop, then its last commits and calls of outbound transports. The thread can be given up at any point
 * of it. */
static void *run_thread(void *argument)
{
    pawl__thread  *self     = argument;
    pawl_endpoint *endpoint = self->endpoint;
    int            done     = self->done_fd;
    if (self->worker != NULL) {
        pawl__thread_work(self);
        wait_for_reader(self);
        pawl__worker_leave(self->worker);
    } else if (self->inbound != NULL) {
        pawl__thread_receive(self);
        pawl__intake_leave(self->inbound);
    } else {
        pawl__thread_serve(self);
        pawl__service_leave(self->service);
    }
    if (pawl__app_call_finish(self->app_call)) {
        pawl__fd_signal(done); /* the descriptor stays open until this thread is joined */
    } else {
        /* Given up: nobody joins this thread. */
        destroy_thread(self);
        pawl__endpoint_leave(endpoint, true);
    }
    return NULL;
}

/* Creates the service or the intake for the thread. The intake's thread is the last one. */
static pawl_code give_other(pawl__thread *made, bool is_intake, pawl_error *error)
{
    pawl_endpoint *endpoint = made->endpoint;
    pawl_code      code     = PAWL_OK;
    made->wake_fd           = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (made->wake_fd < 0)
        return pawl_error_set(error, PAWL_EBUSY, "no descriptor for the %s",
                              is_intake ? "inbound transport" : "service");
    if (is_intake) {
        code           = pawl__intake_create(endpoint, &made->inbound, error);
        made->app_call = code == PAWL_OK ? &made->inbound->app_call : NULL;
        return code;
    }
    code           = pawl__service_create(endpoint, NULL, &made->service, error);
    made->app_call = code == PAWL_OK ? &made->service->app_call : NULL;
    return code;
}

static pawl_code create_thread(running *it, int index, pawl_error *error)
{
    pawl_endpoint *endpoint = it->endpoint;
    pawl_code      code     = PAWL_OK;
    pawl__thread  *made     = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a thread");
    *made =
        (pawl__thread){.endpoint   = endpoint,
                       .wake_fd    = -1,
                       .done_fd    = it->done_fd,
                       .has_worked = index < endpoint->settings.workers ? &endpoint->has_worked
                                                                        : &endpoint->has_served};
    it->threads[it->count++] = made;
    if (index >= endpoint->settings.workers)
        return give_other(
            made, endpoint->settings.transport != NULL && index == it->thread_count - 1, error);
    made->worker = index == 0 ? endpoint->worker : NULL;
    if (index > 0)
        code = pawl__worker_create(endpoint, &made->worker, error);
    if (code == PAWL_OK) {
        made->wake_fd  = made->worker->wake_fd;
        made->app_call = made->worker->app_call;
        pawl__offers_add_worker(&endpoint->offers, made->wake_fd);
    }
    return code;
}

static pawl_code prepare(running *it, pawl_error *error)
{
    pawl_code code = pawl__worker_create(it->endpoint, &it->spare, error);
    it->done_fd    = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (code == PAWL_OK && it->done_fd < 0)
        code = pawl_error_set(error, PAWL_EBUSY, "no descriptor for the threads' ends");
    for (int i = 0; i < it->thread_count && code == PAWL_OK; i++)
        code = create_thread(it, i, error);
    return code;
}

static pawl_code start(running *it, pawl_error *error)
{
    for (int i = 0; i < it->count; i++) {
        int failure = pthread_create(&it->threads[i]->handle, NULL, run_thread, it->threads[i]);
        if (failure != 0)
            return pawl_error_set(error, PAWL_EBUSY, "thread %d of %d cannot be started: %s", i + 1,
                                  it->count, strerror(failure));
        it->threads[i]->is_started = true;
    }
    return PAWL_OK;
}

/* ---- Watching ----------------------------------------------------------------------- */

/* Logs calls that take long. Returns the time until the next check, at most `rest`. Also updates stopped_time
 * (clock.h), see leader.c. */
static int64_t watch_calls(running *it, int64_t rest)
{
    int64_t next = rest;
    for (int i = 0; i < it->count; i++) {
        int64_t due = it->threads[i]->is_started
                          ? pawl__app_call_watch(it->threads[i]->app_call, it->endpoint)
                          : WATCH_MAX;
        next        = due < next ? due : next;
    }
    pawl__heartbeat_start(&it->heartbeat, it->endpoint, it->threads, (size_t)it->count);
    if (it->endpoint->settings.machine != NULL)
        return next > VIRTUAL_WATCH ? VIRTUAL_WATCH : next;
    if (it->endpoint->settings.no_service)
        return next;
    pawl__stopped_time_note(&it->endpoint->stopped_time, pawl__lease_now());
    return next > PAWL__STOPPED_TIME_BEAT ? PAWL__STOPPED_TIME_BEAT : next;
}

static bool has_running(const running *it)
{
    for (int i = 0; i < it->count; i++)
        if (it->threads[i]->is_started && !pawl__app_call_is_finished(it->threads[i]->app_call))
            return true;
    return false;
}

static void wake_all(const running *it)
{
    for (int i = 0; i < it->count; i++)
        pawl__fd_signal(it->threads[i]->wake_fd);
}

/* Interrupts all store calls: if the store does not answer, each would wait until its deadline. Not called at once
 * after stop, so that work under way can be finished. */
static void interrupt_all(const running *it)
{
    for (int i = 0; i < it->count; i++)
        if (it->threads[i]->is_started)
            pawl__app_call_interrupt(it->threads[i]->app_call);
}

/* Watches until stop, then until all threads have finished or stop_wait is over. After half of stop_wait store calls
 * are interrupted. */
static void watch(running *it)
{
    pawl_endpoint *endpoint = it->endpoint;
    while (!atomic_load(&endpoint->is_stopping))
        pawl__fd_wait(endpoint->stop_fd, watch_calls(it, WATCH_MAX));
    wake_all(it);
    int64_t end  = pawl_time_add(pawl__watch_now(endpoint), endpoint->settings.stop_wait);
    int64_t half = endpoint->settings.stop_wait / 2;
    int64_t rest = endpoint->settings.stop_wait;
    while (has_running(it) && rest > 0) {
        int64_t next = rest > half ? rest - half : INTERRUPT_PERIOD;
        pawl__fd_wait(it->done_fd, watch_calls(it, next < WATCH_MAX ? next : WATCH_MAX));
        (void)pawl__fd_clear(it->done_fd);
        rest = end - pawl__watch_now(endpoint);
        if (rest <= half)
            interrupt_all(it);
    }
}

/* ---- Ending --------------------------------------------------------------------------- */

/* Adds what a thread has in flight to the error text, if there is room. */
static void report_abandoned(const running *it, const char *text, int reported, pawl_error *error)
{
    pawl_endpoint *endpoint = it->endpoint;
    size_t         size     = strlen(error->text);
    if (reported == 0)
        pawl_error_set(error, PAWL_ETIMEOUT, "stopping waited for %lld s and abandoned: %s",
                       (long long)(endpoint->settings.stop_wait / PAWL_SECONDS(1)), text);
    else if (reported < REPORTED_MAX)
        snprintf(error->text + size, sizeof error->text - size, "; %s", text);
    else if (reported == REPORTED_MAX)
        snprintf(error->text + size, sizeof error->text - size, "; and more");
    pawl_log(PAWL_LOG_ERROR, "endpoint %s: stopping abandoned: %s", endpoint->model->endpoint.data,
             text);
}

/* Transfers to a thread all that it needs to end by itself. Done first, as its handler may return at any moment. */
static void detach_thread(running *it, const pawl__thread *lost)
{
    pawl_endpoint *endpoint = it->endpoint;
    pthread_mutex_lock(&endpoint->mutex);
    if (lost->worker == endpoint->worker) {
        endpoint->worker = it->spare;
        it->spare        = NULL;
    }
    endpoint->users++;
    endpoint->given_up++;
    pthread_mutex_unlock(&endpoint->mutex);
}

/* Reverts detach_thread for a thread that has finished meanwhile. */
static void reattach_thread(running *it, pawl__thread *found)
{
    pawl_endpoint *endpoint = it->endpoint;
    pthread_mutex_lock(&endpoint->mutex);
    if (it->spare == NULL && found->worker != NULL) {
        it->spare        = endpoint->worker;
        endpoint->worker = found->worker;
    }
    endpoint->users--;
    endpoint->given_up--;
    pthread_mutex_unlock(&endpoint->mutex);
}

/* Gives up the threads that have not finished, and ends their workers in the store. PAWL_OK: there were none. */
static pawl_code give_up(running *it, pawl_error *error)
{
    pawl_worker_id lost[PAWL_WORKERS_MAX + 2];
    size_t         lost_count = 0;
    int            reported   = 0;
    for (int i = 0; i < it->count; i++) {
        pawl__thread *thread                         = it->threads[i];
        pthread_t     handle                         = thread->handle;
        char          text[PAWL__APP_CALL_TEXT_SIZE] = "";
        bool          has_worker                     = false;
        if (!thread->is_started || pawl__app_call_is_finished(thread->app_call))
            continue;
        detach_thread(it, thread);
        if (!pawl__app_call_give_up(thread->app_call, it->endpoint, text, &has_worker,
                                    &lost[lost_count])) {
            reattach_thread(it, thread);
            continue;
        }
        it->threads[i] = NULL;
        pthread_detach(handle);
        lost_count += has_worker;
        report_abandoned(it, text, reported++, error);
    }
    pawl__endpoint_end_workers(it->endpoint, lost, lost_count);
    return reported > 0 ? PAWL_ETIMEOUT : PAWL_OK;
}

static void finish(running *it)
{
    for (int i = 0; i < it->count; i++) {
        if (it->threads[i] != NULL && it->threads[i]->is_started)
            pthread_join(it->threads[i]->handle, NULL);
        destroy_thread(it->threads[i]);
    }
    pawl__worker_destroy(it->spare);
    if (it->done_fd >= 0)
        close(it->done_fd);
    pawl_free(it->threads);
    pawl__worker_leave(it->endpoint->worker);
}

/* Returns the failure of a thread, if there is one, in place of the text about given up threads. */
static pawl_code take_failure(pawl_endpoint *endpoint, pawl_code code, pawl_error *error)
{
    pthread_mutex_lock(&endpoint->mutex);
    if (endpoint->failed != PAWL_OK) {
        code   = endpoint->failed;
        *error = endpoint->error;
    }
    pthread_mutex_unlock(&endpoint->mutex);
    return code;
}

static pawl_code run_threads(pawl_endpoint *endpoint, pawl_error *error)
{
    running    it   = {.endpoint = endpoint, .done_fd = -1};
    pawl_error why  = PAWL_ERROR_INIT;
    it.thread_count = endpoint->settings.workers + !endpoint->settings.no_service +
                      (endpoint->settings.transport != NULL);
    it.threads = pawl_allocate((size_t)(it.thread_count + 1) * sizeof(pawl__thread *));
    if (it.threads == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for %d threads", it.thread_count);
    endpoint->failed = PAWL_OK;
    pawl_code code   = prepare(&it, &why);
    if (code == PAWL_OK)
        code = start(&it, &why);
    if (code != PAWL_OK)
        pawl_endpoint_stop(endpoint);
    watch(&it);
    pawl__heartbeat_stop(&it.heartbeat);
    pawl_error lost    = PAWL_ERROR_INIT;
    pawl_code  gave_up = give_up(&it, &lost);
    finish(&it);
    if (code == PAWL_OK && gave_up != PAWL_OK) {
        code = gave_up;
        why  = lost;
    }
    code = take_failure(endpoint, code, &why);
    if (code != PAWL_OK && error != NULL)
        *error = why;
    return code;
}

pawl_code pawl_endpoint_run(pawl_endpoint *endpoint, pawl_error *error)
{
    pawl_code code = pawl__endpoint_use(endpoint, error);
    if (code != PAWL_OK)
        return code;
    if (endpoint->has_run)
        code =
            pawl_error_set(error, PAWL_EINVAL, "endpoint %s: it was run before: create another one",
                           endpoint->model->endpoint.data);
    else
        code = run_threads(endpoint, error);
    endpoint->has_run = true;
    atomic_store(&endpoint->is_used, false);
    return code;
}
