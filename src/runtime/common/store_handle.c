/* store_handle.c - opens and closes store handles of an endpoint, and ends workers whose handle was lost.
 *
 * If the server is unavailable when a handle is closed, the worker's row stays, and it keeps its leases until it is
 * taken for dead. Without a session that shows this, it takes 15 seconds, in which a virtual clock would skip its
 * timeouts. So the endpoint remembers its id, and the next opened handle, or the next sweep, ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/order.h"
#include "runtime/runtime.h"

#include <string.h>
#include <unistd.h>

#define END_DEADLINE PAWL_SECONDS(5) /* short, as a stop has waited long already */

pawl_code pawl__endpoint_process_check(const pawl_endpoint *endpoint, pawl_error *error)
{
    return endpoint->process == getpid()
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL,
                                "endpoint %s: it was created in process %ld, this is process %ld; "
                                "fork first, then create one",
                                endpoint->model->endpoint.data, (long)endpoint->process,
                                (long)getpid());
}

/* A database file that was deleted is not created again: if a backup is put in its place, all that was written to the
 * new file would be lost. */
static pawl_open_mode mode_of(const pawl_endpoint *endpoint)
{
    pawl_open_mode mode      = endpoint->settings.mode;
    bool           was_there = atomic_load(&endpoint->had_store);
    return mode == PAWL_OPEN_CREATE && was_there ? PAWL_OPEN_CHECK : mode;
}

/* Under the endpoint's mutex. If there is no room, the worker's leases end by time. */
static void add_lost(pawl_endpoint *endpoint, pawl_worker_id worker)
{
    if (endpoint->lost_count < PAWL__LOST_MAX)
        endpoint->lost[endpoint->lost_count++] = (pawl__lost){worker, false};
}

/* Remembers a worker that has to be ended. */
static void remember_lost(pawl_endpoint *endpoint, pawl_worker_id worker)
{
    pthread_mutex_lock(&endpoint->mutex);
    add_lost(endpoint, worker);
    pthread_mutex_unlock(&endpoint->mutex);
}

/* Under the endpoint's mutex; NULL: the worker is not among them. */
static pawl__lost *find_lost(pawl_endpoint *endpoint, pawl_worker_id worker)
{
    for (size_t i = 0; i < endpoint->lost_count; i++)
        if (pawl_uuid_compare(endpoint->lost[i].worker.uuid, worker.uuid) == 0)
            return &endpoint->lost[i];
    return NULL;
}

bool pawl__endpoint_is_lost(pawl_endpoint *endpoint, pawl_worker_id worker)
{
    pthread_mutex_lock(&endpoint->mutex);
    bool is_lost = find_lost(endpoint, worker) != NULL;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_lost;
}

/* If there is no room, the worker counts as that of another process: "no saga" becomes final later
 * (connection_state.c). */
static void add_own(pawl_endpoint *endpoint, pawl_worker_id worker)
{
    pthread_mutex_lock(&endpoint->mutex);
    if (endpoint->own_count < PAWL__OWN_MAX)
        endpoint->own[endpoint->own_count++] = worker;
    pthread_mutex_unlock(&endpoint->mutex);
}

static void remove_own(pawl_endpoint *endpoint, pawl_worker_id worker)
{
    size_t kept = 0;
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < endpoint->own_count; i++)
        if (pawl_uuid_compare(endpoint->own[i].uuid, worker.uuid) != 0)
            endpoint->own[kept++] = endpoint->own[i];
    endpoint->own_count = kept;
    pthread_mutex_unlock(&endpoint->mutex);
}

/* Takes the lost workers that no other thread has taken. They stay remembered until they are ended. */
static size_t take_lost(pawl_endpoint *endpoint, pawl_worker_id *lost)
{
    size_t count = 0;
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < endpoint->lost_count; i++)
        if (!endpoint->lost[i].is_taken) {
            endpoint->lost[i].is_taken = true;
            lost[count++]              = endpoint->lost[i].worker;
        }
    pthread_mutex_unlock(&endpoint->mutex);
    return count;
}

/* Forgets the first `ended` of the taken workers, and returns the others. With `has_failed` the first of these moves to
 * the end of the list. */
static void give_back_lost(pawl_endpoint *endpoint, const pawl_worker_id *lost, size_t count,
                           size_t ended, bool has_failed)
{
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < count; i++) {
        pawl__lost *found = find_lost(endpoint, lost[i]);
        found->is_taken   = false;
        if (i < ended + has_failed) {
            size_t behind = (size_t)(&endpoint->lost[endpoint->lost_count--] - found) - 1;
            memmove(found, found + 1, behind * sizeof *found);
        }
    }
    if (has_failed)
        add_lost(endpoint, lost[ended]);
    pthread_mutex_unlock(&endpoint->mutex);
}

static size_t count_lost(pawl_endpoint *endpoint)
{
    pthread_mutex_lock(&endpoint->mutex);
    size_t count = endpoint->lost_count;
    pthread_mutex_unlock(&endpoint->mutex);
    return count;
}

/* Ends each lost worker, on a handle that has no worker of its own yet. If its row is locked, it still commits, or
 * another program has locked the file: then it is left for the next time. */
static pawl_code end_lost(pawl_endpoint *endpoint, pawl_store *store, pawl_error *error)
{
    pawl_worker_id own = pawl_store_worker(store);
    pawl_worker_id lost[PAWL__LOST_MAX];
    size_t         count = take_lost(endpoint, lost);
    pawl_code      code  = PAWL_OK;
    size_t         ended = 0;
    while (ended < count && code == PAWL_OK) {
        pawl_store_worker_set(store, lost[ended]);
        code = pawl_store_worker_close(store, pawl__machine_now(endpoint), error);
        ended += code == PAWL_OK;
    }
    give_back_lost(endpoint, lost, count, ended, code != PAWL_OK);
    pawl_store_worker_set(store, own);
    return code == PAWL_EBUSY || code == PAWL_ETIMEOUT ? PAWL_OK : code;
}

/* May the store claim the next messages together with a commit? Not on an ordered endpoint, with a transport, whose
 * messages may come first, or with virtual clocks, which may stand still. */
static bool may_claim_ahead(const pawl_endpoint_options *settings)
{
    pawl__order_key key;
    (void)pawl__order_read(settings->ordered, &key); /* checked before */
    return settings->transport == NULL && settings->business == NULL && settings->machine == NULL &&
           key.kind == PAWL__ORDER_NONE;
}

/* Opens a handle, but not in a child process of fork(): it would end its parent's worker as a lost one, and claim in
 * its parent's name. */
static pawl_code open_handle(const pawl_endpoint *endpoint, int64_t deadline, pawl_store **store,
                             pawl_error *error)
{
    const pawl_application      *application = endpoint->model->application;
    const pawl_endpoint_options *settings    = &endpoint->settings;
    pawl_store_options           options     = PAWL_STORE_OPTIONS_INIT;
    options.mode                             = mode_of(endpoint);
    options.system_prefix                    = settings->system_prefix;
    options.deadline                         = deadline;
    options.tables                           = endpoint->model->tables;
    options.table_count                      = endpoint->model->table_count;
    /* All handlers of a batch may run without a store call in between; the last one begins within batch_time_max. */
    options.handler_time_max = pawl_time_add(settings->handler_time_max, settings->batch_time_max);
    options.claims_ahead     = may_claim_ahead(settings);
    pawl_code code           = pawl__endpoint_process_check(endpoint, error);
    if (code == PAWL_OK)
        code = pawl_store_open(settings->store, &options, store, error);
    if (code == PAWL_OK)
        pawl_store_program_set(*store, pawl_text_of(application->name),
                               pawl_text_of(pawl__application_version(application)));
    return code;
}

pawl_code pawl__endpoint_store_open(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                    pawl_store **store, pawl_error *error)
{
    pawl_code code = open_handle(endpoint, endpoint->settings.deadline, store, error);
    if (code == PAWL_OK) {
        pawl__app_call_set_worker(app_call, *store);
        add_own(endpoint, pawl_store_worker(*store));
        atomic_store(&endpoint->had_store, true);
    }
    if (code == PAWL_OK)
        code = end_lost(endpoint, *store, error);
    if (code == PAWL_OK)
        code =
            pawl_store_worker_open(*store, endpoint->model->endpoint, endpoint->model->types_json,
                                   pawl__machine_now(endpoint), error);
    if (code == PAWL_OK)
        pawl__app_call_set_heartbeats(
            app_call, pawl_store_worker_heartbeat(*store, NULL, 0, 0, NULL) == PAWL_OK);
    if (code != PAWL_OK)
        pawl__endpoint_store_close(endpoint, app_call, store);
    return code;
}

pawl_code pawl__endpoint_store_open_aside(pawl_endpoint *endpoint, int64_t deadline,
                                          pawl_store **store, pawl_error *error)
{
    int64_t most = endpoint->settings.deadline;
    return open_handle(endpoint, deadline < most ? deadline : most, store, error);
}

void pawl__endpoint_store_close(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                pawl_store **store)
{
    if (*store == NULL)
        return;
    pawl_error     error  = PAWL_ERROR_INIT;
    pawl_worker_id worker = pawl_store_worker(*store);
    if (pawl_store_is_attached(*store) &&
        pawl_store_worker_close(*store, pawl__machine_now(endpoint), &error) != PAWL_OK) {
        /* A warning only at a stop: then the next process takes the worker for crashed. Otherwise it is tried again. */
        pawl_log(atomic_load(&endpoint->is_stopping) ? PAWL_LOG_WARNING : PAWL_LOG_DEBUG,
                 "endpoint %s: worker not ended in the store: %s", endpoint->model->endpoint.data,
                 error.text);
        remember_lost(endpoint, worker);
    }
    pawl__app_call_set_worker(app_call, NULL);
    remove_own(endpoint, worker);
    pawl_store_close(*store);
    *store = NULL;
}

void pawl__endpoint_end_lost(pawl_endpoint *endpoint)
{
    pawl_store *store = NULL;
    pawl_error  error = PAWL_ERROR_INIT;
    if (count_lost(endpoint) == 0)
        return;
    pawl_code code = pawl__endpoint_store_open_aside(endpoint, END_DEADLINE, &store, &error);
    if (code == PAWL_OK)
        code = end_lost(endpoint, store, &error);
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "endpoint %s: a lost worker is not ended yet: %s",
                 endpoint->model->endpoint.data, error.text);
    pawl_store_close(store);
}

/* Ends a worker by taking it over: its sessions end, its claims are released, its commits refused. */
static pawl_code end_worker(pawl_endpoint *endpoint, pawl_store *store, pawl_worker_id worker,
                            pawl_error *error)
{
    pawl_time now = pawl__machine_now(endpoint);
    pawl_store_worker_set(store, worker);
    pawl_code code   = pawl_store_worker_open(store, endpoint->model->endpoint,
                                              endpoint->model->types_json, now, error);
    pawl_code closed = pawl_store_worker_close(store, now, code == PAWL_OK ? error : NULL);
    return code != PAWL_OK ? code : closed;
}

void pawl__endpoint_end_workers(pawl_endpoint *endpoint, const pawl_worker_id *workers,
                                size_t count)
{
    pawl_store *store = NULL;
    pawl_error  error = PAWL_ERROR_INIT;
    if (count == 0)
        return;
    pawl_code code = pawl__endpoint_store_open_aside(endpoint, END_DEADLINE, &store, &error);
    for (size_t i = 0; i < count && store != NULL; i++) {
        pawl_code ended = end_worker(endpoint, store, workers[i], &error);
        code            = code == PAWL_OK ? ended : code;
    }
    pawl_store_close(store);
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: abandoned workers keep their claims until they come back, or the "
                 "process ends: %s",
                 endpoint->model->endpoint.data, error.text);
}
