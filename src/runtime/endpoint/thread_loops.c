/* thread_loops.c - the loops of the threads of pawl_endpoint_run.
 *
 * A worker thread steps until nothing is due. Then it sleeps in the store's wait() until something becomes due, another
 * process commits, or a commit of this process writes to its descriptor. One more thread runs the service. A thread
 * that cannot go on stops all; run() returns the first failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/aggregator/flush.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/ordered/ordered.h"
#include "runtime/projection/projection.h"

#include "runtime/common/wake_fd.h"
#include "store/core/wait.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLEEP_MAX PAWL_SECONDS(30)
#define SLEEP_MAX_SERVER PAWL_SECONDS(60) /* limits the delay by a lost notification */
/* Limit from the second sleep without work in between, on a store that checks by itself (PAWL_STORE_WAITS_LONG). It
 * does not check for foreign timeouts. */
#define SLEEP_MAX_LONG PAWL_HOURS(1)
#define VIRTUAL_SLEEP PAWL_MILLISECONDS(20)
#define STOPPED_SLEEP PAWL_SECONDS(1)
#define ELSEWHERE_SLEEP PAWL_SECONDS(1)
#define FAILED_SLEEP PAWL_MILLISECONDS(200)
#define RETRY_SLEEP_FIRST PAWL_MILLISECONDS(50)
#define RETRY_SLEEP_MAX PAWL_SECONDS(5)
#define RETRIES_MAX 10
#define INBOUND_WAIT PAWL_SECONDS(30)
#define INBOUND_PROOF PAWL_SECONDS(1) /* an outage is over after such a wait without a failure */
#define INBOUND_RETRIES_MAX 20        /* failures counted at most; the pause is longest earlier */

static void fail_all(pawl_endpoint *endpoint, pawl_code code, const pawl_error *error)
{
    pthread_mutex_lock(&endpoint->mutex);
    if (endpoint->failed == PAWL_OK) {
        endpoint->failed = code;
        endpoint->error  = *error;
    }
    pthread_mutex_unlock(&endpoint->mutex);
    pawl_endpoint_stop(endpoint);
}

/* May the same work succeed later? Examples: another worker took over, a connection was lost, memory was short. */
static bool is_passing(pawl_code code)
{
    return code == PAWL_EFENCED || code == PAWL_EUNKNOWN ||
           pawl_code_retry(code) == PAWL_RETRY_LATER;
}

/* Is the server unavailable? Once it was reached, threads wait for it without limit. */
static bool is_away(pawl_code code)
{
    return code == PAWL_EUNREACHABLE || code == PAWL_ELOST || code == PAWL_EUNKNOWN;
}

bool pawl__thread_retries(pawl_code code, bool has_worked, int retries)
{
    if (code == PAWL_EFULL) /* waiting loses nothing, and a new process would have no room either */
        return true;
    /* EDENIED may be temporary once the endpoint has worked: a locked login, a revoked right, a server that is
     * read-only for a moment. */
    if (code == PAWL_EDENIED)
        return has_worked;
    if (!is_passing(code) || (code == PAWL_EUNREACHABLE && !has_worked))
        return false;
    /* EBUSY lasts as long as another program keeps its lock; a new process would fail, too. */
    return retries < RETRIES_MAX || (has_worked && (is_away(code) || code == PAWL_EBUSY));
}

int64_t pawl__thread_pause(int retries, pawl_random *random)
{
    return pawl__jittered(pawl__doubled(RETRY_SLEEP_FIRST, retries, RETRY_SLEEP_MAX), random);
}

/* Do both codes belong to one outage? An unavailable server causes several codes, one after the other and in each
 * thread. */
static bool is_same(pawl_code code, pawl_code logged_code)
{
    return code == logged_code || (is_away(code) && is_away(logged_code));
}

/* Name for the log: the path of a file, but not the URL of a server, which may have a password. Its errors name the
 * server. */
static const char *name_of_store(const pawl_endpoint *endpoint)
{
    const char *url = endpoint->settings.store;
    return url != NULL && strncmp(url, "sqlite:", 7) == 0 ? url : "the store";
}

/* Logs an outage when it begins or changes, then once a minute. A full disk is logged once, as the log may be on the
 * same disk. */
static void log_outage(pawl__thread *self, pawl_code code, const pawl_error *error)
{
    pawl_endpoint *endpoint = self->endpoint;
    pawl__outage  *outage   = &endpoint->outage;
    int64_t        now      = pawl__watch_now(endpoint);
    pthread_mutex_lock(&endpoint->mutex);
    bool is_new    = outage->threads == 0;
    bool is_logged = !is_new && is_same(code, outage->logged_code) && now < outage->log_due;
    if (is_new)
        outage->since = now;
    outage->threads += self->retries == 0;
    if (!is_logged) {
        outage->logged_code = code;
        outage->log_due     = code == PAWL_EFULL ? INT64_MAX : pawl_time_add(now, PAWL_MINUTES(1));
    }
    pthread_mutex_unlock(&endpoint->mutex);
    if (!is_logged && code == PAWL_EFULL)
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: %s; it waits for room in %s: free some, or enlarge the disk, and it "
                 "goes on by itself",
                 endpoint->model->endpoint.data, error->text, name_of_store(endpoint));
    else if (!is_logged)
        pawl_log(PAWL_LOG_WARNING, "endpoint %s: %s; trying again", endpoint->model->endpoint.data,
                 error->text);
}

/* Ends the thread's part in the outage. True: it was the last thread; `*lasted` is the length of the outage. */
static bool leave_outage(pawl__thread *self, int64_t *lasted)
{
    pawl_endpoint *endpoint = self->endpoint;
    if (self->retries == 0)
        return false;
    self->retries = 0;
    int64_t now   = pawl__watch_now(endpoint);
    pthread_mutex_lock(&endpoint->mutex);
    bool is_last = --endpoint->outage.threads == 0;
    *lasted      = now - endpoint->outage.since;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_last;
}

static void say_back(pawl__thread *self)
{
    int64_t lasted;
    if (!leave_outage(self, &lasted))
        return;
    bool is_short = lasted < PAWL_SECONDS(1);
    pawl_log(PAWL_LOG_INFO, "endpoint %s: back after %lld %s", self->endpoint->model->endpoint.data,
             (long long)(lasted / (is_short ? PAWL_MILLISECONDS(1) : PAWL_SECONDS(1))),
             is_short ? "ms" : "s");
}

/* Handles a failure. True: the thread may go on. */
static bool may_retry_after(pawl__thread *self, pawl_code code, const pawl_error *error)
{
    if (pawl__app_call_is_given_up(self->app_call))
        return false;
    if (self->worker != NULL && self->worker->batch->unit_count > 0) /* claimed messages */
        atomic_store(self->has_worked, true);
    bool has_worked = atomic_load(self->has_worked);
    if (is_away(code)) /* all threads have one server */
        has_worked |=
            atomic_load(&self->endpoint->has_worked) || atomic_load(&self->endpoint->has_served);
    if (!pawl__thread_retries(code, has_worked, self->retries)) {
        fail_all(self->endpoint, code, error);
        return false;
    }
    int64_t pause = pawl__thread_pause(
        self->retries, self->worker != NULL ? &self->worker->random : &self->service->random);
    log_outage(self, code, error);
    self->retries += self->retries < RETRIES_MAX;
    pawl__fd_wait(self->endpoint->stop_fd, pause);
    return true;
}

/* Sleeps in the store's wait, or on stop_fd after a failure. stop() only writes to stop_fd, which is safe in a signal
 * handler; the thread in run() then writes to the descriptors of the others. */
static void sleep_until(pawl__thread *self, pawl_store *store, int64_t microseconds)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (microseconds <= 0)
        return;
    if (store == NULL) {
        pawl__fd_wait(self->endpoint->stop_fd, microseconds);
        return;
    }
    int64_t sleep_max = pawl__store_keeps_wake(store) ? SLEEP_MAX_SERVER : SLEEP_MAX;
    if (pawl__store_waits_long(store) && self->has_rested)
        sleep_max = SLEEP_MAX_LONG;
    if (microseconds > sleep_max)
        microseconds = sleep_max;
    int64_t   begin = pawl__monotonic_now();
    pawl_code code  = pawl_store_wait(store, microseconds, self->wake_fd, &error);
    self->has_rested |= pawl__monotonic_now() - begin >= SLEEP_MAX_SERVER;
    if (code == PAWL_OK)
        return;
    pawl_log(PAWL_LOG_DEBUG, "wait: %s", error.text);
    /* Sleep here: the next step may not call the store, and so would not find the failure and pause. */
    pawl__fd_wait(self->endpoint->stop_fd,
                  microseconds < FAILED_SLEEP ? microseconds : FAILED_SLEEP);
}

static int64_t time_to(pawl_time due, pawl_time now)
{
    return due > now ? due - now : 0;
}

/* Asks the store when the next message, timeout or flush is due. */
static pawl_code look_ahead(pawl__thread *self, pawl_error *error)
{
    pawl__worker *worker = self->worker;
    pawl_code     code   = pawl__worker_next_due(worker, &self->next, error);
    worker->flush_due    = self->next.flush;
    pawl__foreign_note(worker, self->next.timeout);
    self->check_due = pawl_time_add(pawl__machine_now(self->endpoint), SLEEP_MAX_SERVER);
    return code;
}

/* Microseconds to the next message, timeout (own or foreign) or flush. */
static int64_t time_to_next(const pawl__thread *self)
{
    const pawl__worker *worker = self->worker;
    pawl_time           due    = pawl__sooner(self->next.queue, self->next.timeout);
    pawl_time           now    = pawl__business_now(self->endpoint);
    due = pawl__sooner(due, pawl__sooner(worker->foreign_due, pawl__flush_next(worker, now)));
    return time_to(due, now);
}

/* Is the next step only the regular check of partitions, without a claim? Possible where a NOTIFY announces
 * messages. */
static bool only_checks(const pawl__thread *self)
{
    pawl_time now = pawl__machine_now(self->endpoint);
    return pawl__store_keeps_wake(self->worker->store) &&
           self->endpoint->model->aggregator_count > 0 && now >= self->worker->flush_check &&
           now < self->check_due && time_to_next(self) > 0;
}

/* Sleeps while the worker claims nothing. Not in the store's wait, except for the heartbeat: a wake-up would stay
 * pending as long as its messages are not claimed, and end each wait at once. */
static void sleep_apart(pawl__thread *self, int64_t microseconds)
{
    pawl_store *store = self->worker->store;
    pawl_error  error = PAWL_ERROR_INIT;
    if (store != NULL && pawl_store_wait(store, 0, -1, &error) != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "wait: %s", error.text);
    pawl__fd_wait(self->endpoint->stop_fd, microseconds);
}

static void sleep_worker(pawl__thread *self, const pawl_step *step, bool has_looked)
{
    pawl__worker  *worker   = self->worker;
    pawl_endpoint *endpoint = self->endpoint;
    pawl_error     error    = PAWL_ERROR_INIT;
    if (step->is_taken) {
        sleep_until(self, worker->store, ELSEWHERE_SLEEP);
        return;
    }
    if (atomic_load(&endpoint->pause.is_paused) || pawl__ordered_is_standby(worker)) {
        sleep_apart(self, PAWL__QUEUE_PAUSE_PERIOD);
        return;
    }
    if (!has_looked && look_ahead(self, &error) != PAWL_OK)
        return; /* the next step fails again and reports it */
    int64_t sleep = time_to_next(self);
    if (endpoint->model->aggregator_count > 0)
        sleep = pawl__sooner(sleep, time_to(worker->flush_check, pawl__machine_now(endpoint)));
    sleep = pawl__sooner(sleep, pawl__ordered_wait(worker));
    /* A virtual clock gives no wake-up. */
    if (endpoint->settings.business != NULL && sleep > VIRTUAL_SLEEP)
        sleep = VIRTUAL_SLEEP;
    /* A due row that could not be claimed belongs to another worker: pause. */
    sleep_until(self, worker->store, sleep > 0 ? sleep : PAWL_MILLISECONDS(20));
    worker->is_checking = only_checks(self);
}

/* Sleeps while the breaker lets the worker claim nothing. */
static void sleep_stopped(pawl__thread *self)
{
    pawl_endpoint *endpoint = self->endpoint;
    int64_t        most     = endpoint->settings.machine != NULL ? VIRTUAL_SLEEP : STOPPED_SLEEP;
    sleep_apart(self, pawl__sooner(pawl__breaker_wait(endpoint), most));
}

void pawl__thread_work(pawl__thread *self)
{
    while (!atomic_load(&self->endpoint->is_stopping)) {
        pawl_step  step  = {.next_due = PAWL_TIME_MAX};
        pawl_error error = PAWL_ERROR_INIT;
        pawl_code  code  = pawl__worker_step(self->worker, &step, &error);
        /* is_checking is false if a wake-up made the step more than a check. */
        bool has_looked           = self->worker->is_checking;
        self->worker->is_checking = false;
        if (code != PAWL_OK) {
            if (!may_retry_after(self, code, &error))
                break;
            continue;
        }
        say_back(self);
        atomic_store(self->has_worked, true);
        self->has_rested &= step.is_idle;
        if (self->worker->breaker.permit == PAWL__PERMIT_NOTHING)
            sleep_stopped(self);
        else if (pawl__worker_is_pausing(self->worker))
            pawl__fd_wait(self->endpoint->stop_fd, self->worker->pause_end - pawl__monotonic_now());
        else if ((step.is_idle || step.is_taken) && !atomic_load(&self->endpoint->is_stopping))
            sleep_worker(self, &step, has_looked);
    }
    (void)leave_outage(self, &(int64_t){0});
}

/* Sleeps until the service is due. The leader waits in the store, to be woken by new outbox rows; a server keeps the
 * wake-up until the next claim, so the outbox is not read if another time has come. A service that does not lead sleeps
 * outside the store, unless it reads events: if it led once, outbox rows would still wake it. */
static void sleep_service(pawl__thread *self)
{
    pawl__service *service = self->service;
    pawl_time      due     = pawl__service_due(service);
    pawl_time      now     = pawl__machine_now(self->endpoint);
    pawl_error     error   = PAWL_ERROR_INIT;
    bool           waits   = service->is_leader || self->endpoint->route_count == 0 ||
                 (service->projections != NULL && service->term == 0);
    if (due <= now)
        return;
    if (!waits) /* only a wait writes the heartbeat and lends the session */
        (void)pawl_store_wait(service->store, 0, -1, &error);
    sleep_until(self, waits ? service->store : NULL, due - now);
    bool is_on_time = pawl__machine_now(self->endpoint) >= due;
    if (!is_on_time)
        pawl__projections_wake(service->projections);
    if (service->is_leader && !(is_on_time && pawl__store_keeps_wake(service->store)))
        service->outbox_due = PAWL_TIME_MIN;
}

/* Registers for wake-ups by outbox rows and by events. */
static pawl_code register_wake(const pawl__thread *self, pawl_error *error)
{
    const pawl__service *service  = self->service;
    const char          *identity = pawl_store_identity(service->store);
    pawl_code            code     = PAWL_OK;
    if (self->endpoint->route_count > 0)
        code = pawl__wake_add(identity, self->wake_fd, error);
    if (code == PAWL_OK && service->projections != NULL)
        code = pawl__wake_add_reader(identity, self->wake_fd, error);
    return code;
}

void pawl__thread_serve(pawl__thread *self)
{
    pawl__service *service             = self->service;
    bool           is_awake_registered = false;
    while (!atomic_load(&self->endpoint->is_stopping)) {
        pawl_step  step     = {.next_due = PAWL_TIME_MAX};
        pawl_error error    = PAWL_ERROR_INIT;
        bool       was_open = service->store != NULL;
        if (pawl__fd_clear(self->wake_fd))
            pawl__projections_wake(service->projections);
        pawl_code code = pawl__service_step(service, &step, &error);
        if (code != PAWL_OK) {
            if (!may_retry_after(self, code, &error))
                break;
            continue;
        }
        say_back(self);
        atomic_store(self->has_worked, true);
        if (!was_open || !is_awake_registered)
            is_awake_registered = register_wake(self, &error) == PAWL_OK;
        self->has_rested &= step.sent == 0 && step.projected == 0;
        if (step.sent == 0 && step.projected == 0 && !atomic_load(&self->endpoint->is_stopping))
            sleep_service(self);
    }
    (void)leave_outage(self, &(int64_t){0});
}

/* ---- The intake --------------------------------------------------------------------- */

/* An unavailable broker or store does not end the loop, so that the endpoint continues with its own queue. The intake
 * tries again after growing pauses, with a log line at the beginning, once a minute, and at the end. */
typedef struct inbound_outage {
    int       retries; /* failures in a row */
    int64_t   since;
    int64_t   log_due; /* time of the next line */
    pawl_code logged_code;
} inbound_outage;

static void log_inbound_failure(const pawl__thread *self, inbound_outage *at, pawl_code code,
                                const pawl_error *error)
{
    int64_t now = pawl__watch_now(self->endpoint);
    if (at->retries == 0)
        at->since = now;
    if (at->retries > 0 && code == at->logged_code && now < at->log_due)
        return;
    at->logged_code = code;
    at->log_due     = pawl_time_add(now, PAWL_MINUTES(1));
    pawl_log(PAWL_LOG_WARNING,
             "endpoint %s: nothing is taken from queue %s of the broker: %s; trying again",
             self->endpoint->model->endpoint.data, self->inbound->queue, error->text);
}

static void log_inbound_recovery(const pawl__thread *self, const inbound_outage *at)
{
    int64_t lasted = pawl__watch_now(self->endpoint) - at->since;
    pawl_log(PAWL_LOG_INFO, "endpoint %s: queue %s of the broker is read again after %lld ms",
             self->endpoint->model->endpoint.data, self->inbound->queue,
             (long long)(lasted / PAWL_MILLISECONDS(1)));
}

void pawl__thread_receive(pawl__thread *self)
{
    inbound_outage at = {.retries = 0};
    bool waits        = false; /* the first step does not wait, so that its result is known soon */
    pawl__intake_begin_offers(self->inbound, self->wake_fd);
    while (!atomic_load(&self->endpoint->is_stopping)) {
        pawl_error error = PAWL_ERROR_INIT;
        size_t     count = 0;
        int64_t    wait  = !waits ? 0 : at.retries > 0 ? INBOUND_PROOF : INBOUND_WAIT;
        pawl_code  code  = pawl__intake_step(self->inbound, wait, self->wake_fd, &count, &error);
        if (code == PAWL_OK) {
            if (at.retries > 0 && waits)
                log_inbound_recovery(self, &at);
            at.retries = waits ? 0 : at.retries;
            waits      = true;
            continue;
        }
        waits = false;
        log_inbound_failure(self, &at, code, &error);
        pawl__fd_wait(self->endpoint->stop_fd, pawl__intake_pause(self->inbound, at.retries));
        at.retries += at.retries < INBOUND_RETRIES_MAX;
    }
    pawl__intake_end_offers(self->inbound);
}
