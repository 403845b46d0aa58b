/* deaths.c - notices that workers of an endpoint died, and for how many messages care is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <stdio.h>

#define CHECK_PERIOD PAWL_SECONDS(2)

/* Of the process: one message of all endpoints runs alone at a time. */
static atomic_bool turn_is_taken;

/* ---- Noticing ------------------------------------------------------------------------ */

/* A store that tells of no deaths has none. */
static pawl_code list_died(pawl__worker *worker, pawl_worker_info **items, size_t *count,
                           pawl_error *error)
{
    pawl_code code = pawl_store_worker_died(worker->store, worker->read, items, count, error);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* Under the endpoint's mutex. */
static pawl__death *find(pawl__deaths *deaths, pawl_worker_id id)
{
    for (size_t i = 0; i < deaths->count; i++)
        if (pawl_uuid_compare(deaths->known[i].worker.uuid, id.uuid) == 0)
            return &deaths->known[i];
    return NULL;
}

/* Under the endpoint's mutex. A death whose row was ended gives its room to a new one. */
static bool make_room(pawl__deaths *deaths)
{
    for (size_t i = 0; i < deaths->count && deaths->count == PAWL__DEATHS_MAX; i++)
        if (deaths->known[i].is_ended)
            deaths->known[i] = deaths->known[--deaths->count];
    return deaths->count < PAWL__DEATHS_MAX;
}

/* Under the endpoint's mutex. A worker that there is no room for counts as found when the room ended: if it
 * were forgotten and met anew, its death would never be old enough to be sure. */
static pawl_time remember(pawl_endpoint *endpoint, pawl_worker_id id, pawl_time now, bool *is_new)
{
    pawl__deaths *deaths = &endpoint->deaths;
    pawl__death  *found  = find(deaths, id);
    *is_new              = false;
    if (found != NULL && found->is_ended) /* back meanwhile, and dead again */
        *found = deaths->known[--deaths->count];
    else if (found != NULL)
        return found->seen;
    *is_new = make_room(deaths);
    if (!*is_new) {
        if (deaths->full_since == 0)
            deaths->full_since = now;
        return deaths->full_since;
    }
    deaths->known[deaths->count++] = (pawl__death){id, now, false};
    atomic_fetch_add(&deaths->left, endpoint->settings.batch_messages);
    return now;
}

/* The machine time at which it was found; is_new when that is now. */
static pawl_time note(pawl__worker *worker, pawl_worker_id id, bool *is_new)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pthread_mutex_lock(&endpoint->mutex);
    pawl_time seen = remember(endpoint, id, worker->engine.machine_now, is_new);
    pthread_mutex_unlock(&endpoint->mutex);
    return seen;
}

static bool is_of(const pawl__worker *worker, const pawl_worker_info *info)
{
    return pawl_text_equal(info->endpoint, worker->endpoint->model->endpoint);
}

static void note_all(pawl__worker *worker, const pawl_worker_info *items, size_t count)
{
    const char *name      = worker->endpoint->model->endpoint.data;
    size_t      new_count = 0;
    int64_t     pid       = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_new = false;
        if (is_of(worker, &items[i]))
            note(worker, items[i].id, &is_new);
        if (is_new) {
            new_count++;
            pid = items[i].pid;
        }
    }
    char process[40] = "";
    if (pid != 0) /* a store may not know it */
        (void)snprintf(process, sizeof process, " (process %lld)", (long long)pid);
    if (new_count > 0)
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: %zu of its workers died%s: up to %lld messages at the head of its "
                 "queue run one by one",
                 name, new_count, process, (long long)atomic_load(&worker->endpoint->deaths.left));
}

/* The first look is each thread's own: one that went on while another looks would run a batch before care is
 * known to be needed, and a process that dies of that batch at each start would never count it. */
pawl_code pawl__deaths_look(pawl__worker *worker, pawl_error *error)
{
    pawl__deaths     *deaths   = &worker->endpoint->deaths;
    pawl_time         now      = worker->engine.machine_now;
    pawl_time         due      = atomic_load(&deaths->check);
    pawl_worker_info *items    = NULL;
    size_t            count    = 0;
    bool              is_due   = now >= due || due > pawl_time_add(now, CHECK_PERIOD);
    bool              is_first = !atomic_load(&deaths->has_looked);
    bool              is_ours  = is_due && atomic_compare_exchange_strong(&deaths->check, &due,
                                                                          pawl_time_add(now, CHECK_PERIOD));
    if (!is_first && !is_ours)
        return PAWL_OK;
    pawl_code code = list_died(worker, &items, &count, error);
    if (code != PAWL_OK) {
        pawl__deaths_look_soon(worker->endpoint);
        return code;
    }
    note_all(worker, items, count);
    atomic_store(&deaths->has_looked, true);
    return PAWL_OK;
}

void pawl__deaths_look_soon(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->deaths.check, PAWL_TIME_MIN);
}

pawl_code pawl__deaths_since(pawl__worker *worker, pawl_worker_id id, pawl_time *since,
                             pawl_error *error)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    bool              is_new;
    *since         = PAWL_TIME_MAX;
    pawl_code code = list_died(worker, &items, &count, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        if (pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0)
            *since = note(worker, id, &is_new);
    return code;
}

pawl_time pawl__deaths_remembered(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__death *found = find(&endpoint->deaths, id);
    pawl_time          since = found != NULL ? found->seen : PAWL_TIME_MAX;
    pthread_mutex_unlock(&endpoint->mutex);
    return since;
}

/* ---- Turns --------------------------------------------------------------------------- */

/* The count is raised before the look at what is left, and a turn looks at the count after that was
 * raised: one of the two sees the other. */
bool pawl__deaths_begin(pawl_endpoint *endpoint)
{
    atomic_fetch_add(&endpoint->deaths.batches, 1);
    if (atomic_load(&endpoint->deaths.left) == 0)
        return true;
    pawl__deaths_end(endpoint);
    return false;
}

bool pawl__deaths_has_left(const pawl_endpoint *endpoint)
{
    return atomic_load(&endpoint->deaths.left) > 0;
}

void pawl__deaths_end(pawl_endpoint *endpoint)
{
    atomic_fetch_sub(&endpoint->deaths.batches, 1);
}

void pawl__deaths_meet(pawl_endpoint *endpoint, size_t count)
{
    atomic_fetch_add(&endpoint->deaths.left, (int64_t)count);
    pawl__deaths_look_soon(endpoint);
}

bool pawl__deaths_take_turn(pawl_endpoint *endpoint)
{
    if (atomic_exchange(&turn_is_taken, true))
        return false;
    if (atomic_load(&endpoint->deaths.batches) == 0)
        return true;
    pawl__deaths_give_turn();
    return false;
}

void pawl__deaths_give_turn(void)
{
    atomic_store(&turn_is_taken, false);
}

void pawl__deaths_look_at_partitions(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->deaths.has_partitions, true);
}

bool pawl__deaths_take_partitions(pawl_endpoint *endpoint)
{
    return atomic_exchange(&endpoint->deaths.has_partitions, false);
}

/* ---- The end of it ------------------------------------------------------------------- */

/* Is the worker's death one that this process has dealt with? */
static bool is_known(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__death *found    = find(&endpoint->deaths, id);
    bool               is_found = found != NULL && !found->is_ended;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_found;
}

static void note_ended(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pawl__deaths *deaths = &endpoint->deaths;
    pthread_mutex_lock(&endpoint->mutex);
    pawl__death *found = find(deaths, id);
    if (found != NULL) {
        found->is_ended    = true;
        deaths->full_since = 0;
    }
    pthread_mutex_unlock(&endpoint->mutex);
}

/* Ends the rows of those that are dead still: a worker whose connection came back lives. */
static pawl_code end_rows(pawl__worker *worker, size_t *ended, pawl_error *error)
{
    pawl_worker_info *items = NULL;
    pawl_store       *store = NULL;
    size_t            count = 0;
    pawl_code         code  = list_died(worker, &items, &count, error);
    *ended                  = 0;
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        if (!is_known(worker->endpoint, items[i].id))
            continue;
        if (store == NULL)
            code = pawl__endpoint_store_open_aside(worker->endpoint, &store, error);
        if (code != PAWL_OK)
            break;
        pawl_store_worker_set(store, items[i].id);
        code = pawl_store_worker_close(store, worker->engine.machine_now, error);
        if (code == PAWL_OK)
            note_ended(worker->endpoint, items[i].id);
        *ended += code == PAWL_OK;
    }
    pawl_store_close(store);
    return code;
}

/* A row that cannot be ended stays known: this process takes no care because of it again. Leases of the
 * rows that were ended are free now, and have their turn alone. */
void pawl__deaths_pass(pawl__worker *worker, bool is_last)
{
    pawl__deaths *deaths = &worker->endpoint->deaths;
    pawl_error    error  = PAWL_ERROR_INIT;
    size_t        ended  = 0;
    if (!is_last && atomic_fetch_sub(&deaths->left, 1) > 1)
        return;
    if (end_rows(worker, &ended, &error) != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "endpoint %s: rows of dead workers stay: %s",
                 worker->endpoint->model->endpoint.data, error.text);
    if (ended > 0)
        pawl__deaths_look_at_partitions(worker->endpoint);
    atomic_store(&deaths->left, ended > 0);
}
