/* endpoint.c - creates and destroys an endpoint, and runs it in steps or until nothing is due.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/aggregator/flush.h"

#include "base/arena.h"
#include "base/sized.h"
#include "base/text.h"
#include "engine/order.h"
#include "pawl/pawl.h"
#include "runtime/common/wake_fd.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/recovery.h"
#include "runtime/inbound/intake.h"
#include "runtime/operate/observe/observe.h"
#include "runtime/ordered/ordered.h"
#include "runtime/projection/projection.h"
#include "runtime/schedule/schedule.h"
#include "store/core/wait.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SERVICE_PERIOD PAWL_MILLISECONDS(100)
#define STEP_PAUSE_MAX PAWL_SECONDS(1) /* until messages of other processes are looked for */

/* ---- Creation ------------------------------------------------------------------ */

static pawl_code refuse_sql(const pawl_endpoint *endpoint, const char *what, const char *name,
                            pawl_error *error)
{
    return pawl_error_set(
        error, PAWL_EUNSUPPORTED, "endpoint %s: %s %s says .own_sql, and a %s store has no SQL",
        endpoint->model->endpoint.data, what, name, pawl_store_scheme(endpoint->worker->store));
}

/* Warns about a pessimistic saga on a store without row locks; names the first one. */
static void warn_unlocked(const pawl_endpoint *endpoint)
{
    const pawl__model *model = endpoint->model;
    for (size_t i = 0; i < model->saga_count; i++)
        if (model->sagas[i].saga->is_pessimistic) {
            pawl_log(
                PAWL_LOG_WARNING,
                "endpoint %s: saga %s says .is_pessimistic, and a %s store keeps no row locked while a handler "
                "runs: a second handler runs meanwhile, and its save is refused by the version",
                model->endpoint.data, model->sagas[i].saga->name,
                pawl_store_scheme(endpoint->worker->store));
            return;
        }
}

/* A handler with own SQL needs a store that has SQL. The test kit accepts any store, so that other handlers can be
 * tested: there the handler fails when it asks for the connection (engine/native.c). */
static pawl_code check_sql(const pawl_endpoint *endpoint, pawl_error *error)
{
    const pawl_store  *store = endpoint->worker->store;
    const pawl__model *model = endpoint->model;
    if (endpoint->is_test || (pawl_store_promises(store) & PAWL_STORE_HAS_SQL) != 0)
        return PAWL_OK;
    warn_unlocked(endpoint);
    for (size_t i = 0; i < model->projection_count; i++)
        if (model->projections[i].own_sql)
            return refuse_sql(endpoint, "projection", model->projections[i].name.data, error);
    for (size_t i = 0; i < model->aggregator_count; i++)
        if (model->aggregators[i].own_sql)
            return refuse_sql(endpoint, "aggregator", model->aggregators[i].name.data, error);
    return model->own_sql == NULL ? PAWL_OK
                                  : refuse_sql(endpoint, "the handler of", model->own_sql, error);
}

/* Refuses a wrong transport URL before anything runs. */
static pawl_code check_transport(pawl_endpoint *endpoint, pawl_error *error)
{
    pawl__intake *tried = NULL;
    pawl_code     code  = PAWL_OK;
    if (endpoint->settings.transport != NULL)
        code = pawl__intake_create(endpoint, &tried, error);
    pawl__inbound_state_begin(endpoint);
    pawl__intake_destroy(tried);
    return code;
}

/* Reads and checks all that needs no store. */
static pawl_code take_options(pawl_endpoint *endpoint, const pawl_application *application,
                              const char *name, const pawl_endpoint_options *options,
                              pawl_error *error)
{
    pawl_code code = pawl__settings_take(endpoint, application, name, options, error);
    if (code == PAWL_OK)
        code = pawl__model_create(application, name, endpoint->settings.saga_prefix,
                                  &endpoint->model, error);
    if (code == PAWL_OK)
        code = check_transport(endpoint, error);
    if (code == PAWL_OK)
        code = pawl__observe_check(endpoint->settings.observe, error);
    return code == PAWL_OK ? pawl__audit_take(endpoint, error) : code;
}

static pawl_code open_endpoint(pawl_endpoint *endpoint, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (endpoint->settings.store == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "option store is missing: give a URL");
    pawl__recovery_warn(&endpoint->recovery, endpoint->model);
    pawl__order_warn(endpoint->settings.ordered, endpoint->model);
    if (endpoint->settings.workers > 1 && (endpoint->owners = pawl__owners_create()) == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for an endpoint");
    if (code == PAWL_OK)
        code = pawl__worker_create(endpoint, &endpoint->worker, error);
    if (code == PAWL_OK)
        code = pawl__worker_open(endpoint->worker, error);
    if (code == PAWL_OK && endpoint->model->projection_count > 0 && !endpoint->settings.no_service)
        code = pawl__wake_add_reader(pawl_store_identity(endpoint->worker->store),
                                     endpoint->worker->wake_fd, error);
    if (code == PAWL_OK)
        code = check_sql(endpoint, error);
    if (code == PAWL_OK)
        code = pawl__endpoint_subscribe(endpoint, error);
    if (code == PAWL_OK)
        code = pawl__schedules_announce(endpoint, error);
    if (code == PAWL_OK)
        code = pawl__observe_join(endpoint, error);
    return code;
}

/* Makes an endpoint with its options, but without a store. */
static pawl_code make(const pawl_application *application, const char *name,
                      const pawl_endpoint_options *options, bool is_test, pawl_endpoint **endpoint,
                      pawl_error *error)
{
    *endpoint = NULL;
    if (application == NULL || options == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "application and options may not be NULL");
    pawl_endpoint *made =
        pawl__allocate_zeroed(sizeof *made, offsetof(pawl_endpoint, isolation.known));
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for an endpoint");
    pthread_mutex_init(&made->mutex, NULL);
    pthread_mutex_init(&made->asking, NULL);
    pawl__stopped_time_init(&made->stopped_time);
    pawl__offers_init(&made->offers);
    made->is_test  = is_test;
    made->process  = getpid();
    made->users    = 1;
    made->stop_fd  = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pawl_code code = made->stop_fd >= 0
                         ? take_options(made, application, name, options, error)
                         : pawl_error_set(error, PAWL_EBUSY, "no descriptor for an endpoint");
    if (code != PAWL_OK) {
        pawl_endpoint_destroy(made);
        return code;
    }
    *endpoint = made;
    return PAWL_OK;
}

pawl_code pawl__endpoint_create(const pawl_application *application, const char *name,
                                const pawl_endpoint_options *options, bool is_test,
                                pawl_endpoint **endpoint, pawl_error *error)
{
    pawl_code code = make(application, name, options, is_test, endpoint, error);
    if (code == PAWL_OK)
        code = open_endpoint(*endpoint, error);
    if (code != PAWL_OK) {
        pawl_endpoint_destroy(*endpoint);
        *endpoint = NULL;
    }
    return code;
}

pawl_code pawl_endpoint_check(const pawl_application *application, const char *name,
                              const pawl_endpoint_options *options, pawl_error *error)
{
    pawl_endpoint *made;
    pawl_code      code = make(application, name, options, false, &made, error);
    pawl_endpoint_destroy(made);
    return code;
}

pawl_code pawl_endpoint_create(const pawl_application *application, const char *name,
                               const pawl_endpoint_options *options, pawl_endpoint **endpoint,
                               pawl_error *error)
{
    return pawl__endpoint_create(application, name, options, false, endpoint, error);
}

void pawl__endpoint_leave(pawl_endpoint *endpoint, bool was_given_up)
{
    pthread_mutex_lock(&endpoint->mutex);
    endpoint->given_up -= was_given_up;
    bool is_last = --endpoint->users == 0;
    pthread_mutex_unlock(&endpoint->mutex);
    if (!is_last)
        return;
    pawl__model_destroy(endpoint->model);
    pawl__owners_destroy(endpoint->owners);
    if (endpoint->stop_fd >= 0)
        close(endpoint->stop_fd);
    pawl_free(endpoint->auditing.address);
    pawl__stopped_time_destroy(&endpoint->stopped_time);
    pawl__offers_destroy(&endpoint->offers);
    pthread_mutex_destroy(&endpoint->asking);
    pthread_mutex_destroy(&endpoint->mutex);
    pawl_free(endpoint);
}

void pawl_endpoint_destroy(pawl_endpoint *endpoint)
{
    /* A child process of fork() has none of the threads to join, and the connections are its parent's. */
    if (endpoint == NULL || endpoint->process != getpid())
        return;
    if (atomic_load(&endpoint->is_used)) {
        pawl_log(PAWL_LOG_ERROR,
                 "endpoint %s: it is not destroyed while it is being run or stepped",
                 endpoint->model->endpoint.data);
        return;
    }
    pawl__observe_leave(endpoint);
    pawl__intake_destroy(endpoint->inbound_state.stepped);
    pawl__service_destroy(endpoint->service);
    pawl__worker_destroy(endpoint->worker);
    pawl_store_close(endpoint->asked);
    pawl__endpoint_leave(endpoint, false);
}

int pawl_endpoint_abandoned(pawl_endpoint *endpoint)
{
    if (endpoint == NULL)
        return 0;
    pthread_mutex_lock(&endpoint->mutex);
    int count = endpoint->given_up;
    pthread_mutex_unlock(&endpoint->mutex);
    return count;
}

/* ---- Steps ----------------------------------------------------------------------- */

pawl_code pawl__no_endpoint(pawl_error *error)
{
    return pawl_error_set(error, PAWL_EINVAL, "the endpoint is NULL");
}

pawl_code pawl__endpoint_use(pawl_endpoint *endpoint, pawl_error *error)
{
    if (endpoint == NULL)
        return pawl__no_endpoint(error);
    pawl_code code = pawl__endpoint_process_check(endpoint, error);
    if (code == PAWL_OK && atomic_exchange(&endpoint->is_used, true))
        code = pawl_error_set(error, PAWL_EINVAL, "endpoint %s: it is being run or stepped already",
                              endpoint->model->endpoint.data);
    return code;
}

/* Business time at which the outbox tries a failed row again, or a projection a failed event. */
static pawl_time find_retry(const pawl_endpoint *endpoint)
{
    const pawl__service *service = endpoint->service;
    if (service == NULL)
        return PAWL_TIME_MAX;
    pawl_time retry =
        pawl__sooner(pawl__projections_retry(service->projections), service->outbox_retry);
    if (service->is_leader)
        retry = pawl__sooner(retry, service->unavailable.due);
    if (retry == PAWL_TIME_MAX)
        return retry;
    int64_t rest = retry - pawl__machine_now(endpoint);
    return pawl_time_add(pawl__business_now(endpoint), rest > 0 ? rest : 0);
}

/* Business time of the next check after a pause. A program that steps gets no wake-up for commits of other processes, a
 * resumed queue, or work by the machine's clock: leases, the sweep, the search for crashed workers. With a virtual
 * clock it knows itself when to step. */
static pawl_time look_after(const pawl_endpoint *endpoint, int64_t pause)
{
    return endpoint->settings.business != NULL ? PAWL_TIME_MAX
                                               : pawl_time_add(pawl__business_now(endpoint), pause);
}

static pawl_code find_next_due(pawl_endpoint *endpoint, pawl_step *step, pawl_error *error)
{
    pawl_next_due next;
    pawl_code     code = pawl__worker_next_due(endpoint->worker, &next, error);
    step->next_due     = pawl__sooner(next.queue, next.timeout);
    if (atomic_load(&endpoint->pause.is_paused))
        step->next_due = look_after(endpoint, PAWL__QUEUE_PAUSE_PERIOD);
    pawl__foreign_note(endpoint->worker, next.timeout);
    endpoint->worker->flush_due = next.flush;
    next.flush                  = pawl__flush_next(endpoint->worker, pawl__business_now(endpoint));
    step->next_due =
        pawl__sooner(step->next_due, pawl__sooner(next.flush, endpoint->worker->foreign_due));
    /* Other workers may have released messages for which this one gave way: step again soon. */
    pawl_time soon = pawl_time_add(pawl__business_now(endpoint), PAWL__SAGA_BUSY_WAIT);
    if (endpoint->worker->found_all_busy)
        step->next_due = pawl__later(step->next_due, soon);
    if (endpoint->worker->breaker.permit == PAWL__PERMIT_NOTHING)
        step->next_due = pawl__later(step->next_due, pawl_time_add(pawl__business_now(endpoint),
                                                                   pawl__breaker_wait(endpoint)));
    if (pawl__ordered_is_standby(endpoint->worker) || pawl__ordered_is_stuck(endpoint->worker))
        step->next_due = pawl__later(step->next_due, soon + PAWL__QUEUE_PAUSE_PERIOD);
    step->next_due = pawl__sooner(step->next_due, find_retry(endpoint));
    step->next_due = pawl__sooner(step->next_due, look_after(endpoint, STEP_PAUSE_MAX));
    return code;
}

/* A busy endpoint runs the service only once a batch of outbox rows has come together or some time has passed, as each
 * delivery costs a commit in both stores. */
static bool is_service_due(const pawl_endpoint *endpoint, const pawl_step *step)
{
    return step->is_idle || endpoint->service == NULL ||
           endpoint->worker->dispatched >= endpoint->settings.outbox_batch ||
           pawl__monotonic_now() >= endpoint->service_due;
}

static pawl_code step_service(pawl_endpoint *endpoint, pawl_step *step, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (endpoint->settings.no_service || !is_service_due(endpoint, step))
        return PAWL_OK;
    endpoint->worker->dispatched = 0;
    endpoint->service_due        = pawl__monotonic_now() + SERVICE_PERIOD;
    if (endpoint->service == NULL)
        code = pawl__service_create(endpoint, endpoint->worker->store, &endpoint->service, error);
    if (code != PAWL_OK)
        return code;
    if (endpoint->service->store != endpoint->worker->store) {
        pawl__outbox_forget(endpoint->service);
        pawl__projections_forget(endpoint->service->projections);
    }
    endpoint->service->store      = endpoint->worker->store;
    endpoint->service->outbox_due = PAWL_TIME_MIN;
    pawl__projections_wake(endpoint->service->projections);
    return pawl__service_step(endpoint->service, step, error);
}

static pawl_code step_once(pawl_endpoint *endpoint, pawl_step *step, pawl_error *error)
{
    *step          = (pawl_step){.next_due = PAWL_TIME_MAX};
    pawl_code code = pawl__worker_step(endpoint->worker, step, error);
    if (endpoint->worker->store != NULL)
        code = step_service(endpoint, step, error);
    else if (endpoint->service != NULL) /* its handle was the worker's, now closed */
        endpoint->service->store = NULL;
    bool is_projecting = endpoint->service != NULL &&
                         pawl__projections_due(endpoint->service->projections) == PAWL_TIME_MIN;
    step->is_idle = step->is_idle && step->sent == 0 && !is_projecting;
    return code == PAWL_OK && step->is_idle ? find_next_due(endpoint, step, error) : code;
}

pawl_code pawl__step_check(const pawl_step *step, pawl_error *error)
{
    return step != NULL
               ? pawl__sized_check(step, sizeof *step, "counts of a step", "PAWL_STEP_INIT", error)
               : PAWL_OK;
}

pawl_code pawl_endpoint_step(pawl_endpoint *endpoint, pawl_step *step, pawl_error *error)
{
    pawl_step own;
    pawl_code code = pawl__step_check(step, error);
    if (code == PAWL_OK)
        code = pawl__endpoint_use(endpoint, error);
    if (code != PAWL_OK)
        return code;
    code = step_once(endpoint, &own, error);
    atomic_store(&endpoint->is_used, false);
    if (step != NULL)
        pawl__sized_write(step, &own);
    return code;
}

pawl_code pawl_endpoint_receive(pawl_endpoint *endpoint, int64_t wait, size_t *count,
                                pawl_error *error)
{
    *count         = 0;
    pawl_code code = pawl__endpoint_use(endpoint, error);
    if (code != PAWL_OK)
        return code;
    if (endpoint->settings.transport == NULL)
        code = pawl_error_set(error, PAWL_EINVAL, "endpoint %s: it has no option transport",
                              endpoint->model->endpoint.data);
    if (code == PAWL_OK && endpoint->inbound_state.stepped == NULL)
        code = pawl__intake_create(endpoint, &endpoint->inbound_state.stepped, error);
    if (code == PAWL_OK)
        code = pawl__intake_step(endpoint->inbound_state.stepped, wait, endpoint->stop_fd, count,
                                 error);
    atomic_store(&endpoint->is_used, false);
    return code;
}

void pawl__step_add(pawl_step *sum, const pawl_step *step)
{
    sum->handled += step->handled;
    sum->sent += step->sent;
    sum->projected += step->projected;
    sum->refused += step->refused;
    sum->dead += step->dead;
}

pawl_code pawl_endpoint_drain(pawl_endpoint *endpoint, pawl_step *sum, pawl_error *error)
{
    pawl_step total = {.next_due = PAWL_TIME_MAX};
    pawl_code code  = pawl__step_check(sum, error);
    if (code == PAWL_OK)
        code = pawl__endpoint_use(endpoint, error);
    if (code != PAWL_OK)
        return code;
    do {
        pawl_step step;
        code = step_once(endpoint, &step, error);
        pawl__step_add(&total, &step);
        total.is_idle  = step.is_idle;
        total.is_taken = step.is_taken;
        total.next_due = step.next_due;
    } while (code == PAWL_OK && !total.is_idle && !total.is_taken &&
             !atomic_load(&endpoint->is_stopping));
    atomic_store(&endpoint->is_used, false);
    if (sum != NULL)
        pawl__sized_write(sum, &total);
    return code;
}

int pawl_endpoint_wake_fd(const pawl_endpoint *endpoint)
{
    return endpoint != NULL ? endpoint->worker->wake_fd : -1;
}

/* Does not signal in a child process of fork(), which shares the descriptor with its parent. is_stopping is set last:
 * from then on run() may return and the endpoint be destroyed. A thread that is woken earlier checks again. */
void pawl_endpoint_stop(pawl_endpoint *endpoint)
{
    if (endpoint == NULL)
        return;
    if (endpoint->process == getpid())
        pawl__fd_signal(endpoint->stop_fd);
    atomic_store(&endpoint->is_stopping, true);
}

static bool is_partition_of(const pawl__aggregator_model *aggregator, pawl_text partition)
{
    size_t    size = aggregator->name.size;
    pawl_text name = {.data = partition.data, .size = size};
    return partition.size >= size && pawl_text_equal(name, aggregator->name) &&
           (partition.size == size || partition.data[size] == '/');
}

pawl_code pawl_endpoint_flush(pawl_endpoint *endpoint, const char *aggregator,
                              const char *partition, pawl_error *error)
{
    if (endpoint == NULL)
        return pawl__no_endpoint(error);
    const pawl__aggregator_model *found =
        pawl__model_aggregator(endpoint->model, pawl_text_of(aggregator));
    if (found == NULL)
        return pawl_error_set(error, PAWL_ENOTFOUND, "endpoint %s has no aggregator '%s'",
                              endpoint->model->endpoint.data, aggregator != NULL ? aggregator : "");
    size_t size = partition != NULL ? strlen(partition) : 0;
    if (size > PAWL_PARTITION_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "partition has %zu bytes, the limit is %d", size,
                              PAWL_PARTITION_SIZE_MAX);
    if (size > 0 && !is_partition_of(found, pawl_text_of(partition)))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "'%s' is not a partition of the aggregator %s: it is named %s or %s/KEY", partition,
            aggregator, aggregator, aggregator);
    pawl_code code = PAWL_OK;
    pthread_mutex_lock(&endpoint->mutex);
    if (endpoint->request_count == PAWL__FLUSH_REQUESTS_MAX) {
        code = pawl_error_set(error, PAWL_EBUSY, "%d flushes are requested already",
                              PAWL__FLUSH_REQUESTS_MAX);
    } else {
        pawl__flush_request *request = &endpoint->requests[endpoint->request_count++];
        request->aggregator          = found;
        memcpy(request->partition, partition != NULL ? partition : "", size);
        request->partition[size] = '\0';
    }
    pawl__fd_signal(endpoint->worker->wake_fd);
    pthread_mutex_unlock(&endpoint->mutex);
    return code;
}
