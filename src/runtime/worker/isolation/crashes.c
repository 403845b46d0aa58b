/* crashes.c - notices that workers of an endpoint died, and for how many messages care is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <stdio.h>

#define CHECK_PERIOD PAWL_SECONDS(2)
#define REST_MAX PAWL_MILLISECONDS(250)

atomic_bool pawl__turn_is_taken;

/* ---- Noticing ------------------------------------------------------------------------ */

/* A store that tells of no deaths has none. */
static pawl_code list_died(pawl__worker *worker, pawl_worker_info **items, size_t *count,
                           pawl_error *error)
{
    pawl_code code = pawl_store_worker_crashed(worker->store, worker->read, items, count, error);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* Under the endpoint's mutex. */
static pawl__death *find(pawl__deaths *crashes, pawl_worker_id id)
{
    for (size_t i = 0; i < crashes->count; i++)
        if (pawl_uuid_compare(crashes->known[i].worker.uuid, id.uuid) == 0)
            return &crashes->known[i];
    return NULL;
}

/* Under the endpoint's mutex. A death whose row was ended gives its room to a new one. */
static bool make_room(pawl__deaths *crashes)
{
    for (size_t i = 0; i < crashes->count && crashes->count == PAWL__DEATHS_MAX; i++)
        if (crashes->known[i].is_ended)
            crashes->known[i] = crashes->known[--crashes->count];
    return crashes->count < PAWL__DEATHS_MAX;
}

/* Under the endpoint's mutex. A worker that there is no room for counts as found when the room ended: if it
 * were forgotten and met anew, its death would never be old enough to be sure. */
static pawl_time remember(pawl_endpoint *endpoint, pawl_worker_id id, pawl_time now, bool *is_new)
{
    pawl__deaths *crashes = &endpoint->crashes;
    pawl__death  *found   = find(crashes, id);
    *is_new               = false;
    if (found != NULL && found->is_ended) /* back meanwhile, and dead again */
        *found = crashes->known[--crashes->count];
    else if (found != NULL)
        return found->seen;
    *is_new = make_room(crashes);
    if (!*is_new) {
        if (crashes->full_since == 0)
            crashes->full_since = now;
        return crashes->full_since;
    }
    crashes->known[crashes->count++] = (pawl__death){id, now, false};
    return now;
}

/* When it was found, by a clock that nobody sets; is_new when that is now. */
static pawl_time note(pawl__worker *worker, pawl_worker_id id, bool *is_new)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pthread_mutex_lock(&endpoint->mutex);
    pawl_time seen = remember(endpoint, id, pawl__watch_now(endpoint), is_new);
    pthread_mutex_unlock(&endpoint->mutex);
    return seen;
}

static bool is_of(const pawl__worker *worker, const pawl_worker_info *info)
{
    return pawl_text_equal(info->endpoint, worker->endpoint->model->endpoint);
}

/* Adds what so many dead workers can have claimed. Of an ordered endpoint all of them had the same head of the
 * queue, one after the other. */
static void owe(pawl__worker *worker, int64_t workers)
{
    pawl__deaths *crashes = &worker->endpoint->crashes;
    int64_t       before  = atomic_load(&crashes->with_care);
    int64_t       batch   = worker->endpoint->settings.batch_messages;
    int64_t       wanted;
    do {
        if (worker->ordered != NULL)
            wanted = before > batch ? before : batch;
        else
            wanted = before + workers * batch;
        wanted = wanted < PAWL__CARE_MAX ? wanted : PAWL__CARE_MAX;
    } while (workers > 0 && !atomic_compare_exchange_weak(&crashes->with_care, &before, wanted));
}

/* How many of the new ones claimed messages: one of a process with several is its service. */
static int64_t count_claiming(const pawl_worker_info *items, const bool *is_new, size_t count)
{
    int64_t claiming = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_first = true, has_next = false;
        for (size_t j = 0; j < count && is_new[i]; j++) {
            bool is_same = j != i && is_new[j] && items[j].pid != 0 && items[j].pid == items[i].pid;
            is_first &= !(is_same && j < i);
            has_next |= is_same && j > i;
        }
        claiming += is_new[i] && !(is_first && has_next);
    }
    return claiming;
}

static pawl_code note_all(pawl__worker *worker, const pawl_worker_info *items, size_t count,
                          pawl_error *error)
{
    const char *name      = worker->endpoint->model->endpoint.data;
    bool       *is_new    = pawl_arena_take(worker->read, (count + 1) * sizeof *is_new);
    size_t      new_count = 0;
    int64_t     pid       = 0;
    if (is_new == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for dead workers");
    for (size_t i = 0; i < count; i++) {
        if (is_of(worker, &items[i]))
            note(worker, items[i].id, &is_new[i]);
        if (is_new[i]) {
            new_count++;
            pid = items[i].pid;
        }
    }
    if (new_count == 0)
        return PAWL_OK;
    owe(worker, count_claiming(items, is_new, count));
    char process[40] = "";
    if (pid != 0) /* a store may not know it */
        (void)snprintf(process, sizeof process, " (process %lld)", (long long)pid);
    pawl_log(PAWL_LOG_WARNING,
             "endpoint %s: %zu of its workers crashed%s: up to %lld messages at the head of its "
             "queue run in batches of %d with in-flight markers",
             name, new_count, process, (long long)atomic_load(&worker->endpoint->crashes.with_care),
             PAWL__CARE_BATCH);
    return PAWL_OK;
}

/* The first look is each thread's own: one that went on while another looks would run a batch before care is
 * known to be needed, and a process that dies of that batch at each start would never count it. */
pawl_code pawl__deaths_look(pawl__worker *worker, pawl_error *error)
{
    pawl__deaths     *crashes  = &worker->endpoint->crashes;
    pawl_time         now      = worker->engine.machine_now;
    pawl_time         due      = atomic_load(&crashes->check);
    pawl_worker_info *items    = NULL;
    size_t            count    = 0;
    bool              is_due   = now >= due || due > pawl_time_add(now, CHECK_PERIOD);
    bool              is_first = !atomic_load(&crashes->has_looked);
    bool              is_ours  = is_due && atomic_compare_exchange_strong(&crashes->check, &due,
                                                                          pawl_time_add(now, CHECK_PERIOD));
    if (!is_first && !is_ours)
        return PAWL_OK;
    pawl_code code = list_died(worker, &items, &count, error);
    if (code == PAWL_OK)
        code = note_all(worker, items, count, error);
    if (code != PAWL_OK) {
        pawl__deaths_look_soon(worker->endpoint);
        return code;
    }
    atomic_store(&crashes->has_looked, true);
    return PAWL_OK;
}

void pawl__deaths_look_soon(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->crashes.check, PAWL_TIME_MIN);
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
        if (pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0) {
            *since = note(worker, id, &is_new);
            owe(worker, is_new);
        }
    return code;
}

pawl_time pawl__deaths_remembered(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__death *found = find(&endpoint->crashes, id);
    pawl_time          since = found != NULL ? found->seen : PAWL_TIME_MAX;
    pthread_mutex_unlock(&endpoint->mutex);
    return since;
}

/* ---- Turns --------------------------------------------------------------------------- */

/* The count is raised before the look at the turn, and a turn looks at the count after it was taken: one of the two
 * sees the other. `alone` does not do: the last message to run alone takes all from it, also what another thread met
 * that takes its turn next. */
bool pawl__deaths_begin(pawl_endpoint *endpoint)
{
    atomic_fetch_add(&endpoint->crashes.batches, 1);
    if (atomic_load(&endpoint->crashes.alone) <= 0 && !atomic_load(&endpoint->crashes.has_turn))
        return true;
    pawl__deaths_end(endpoint);
    return false;
}

bool pawl__deaths_has_left(const pawl_endpoint *endpoint)
{
    return atomic_load(&endpoint->crashes.alone) > 0 || pawl__deaths_is_careful(endpoint);
}

bool pawl__deaths_is_careful(const pawl_endpoint *endpoint)
{
    return atomic_load(&endpoint->crashes.with_care) > 0;
}

void pawl__deaths_end(pawl_endpoint *endpoint)
{
    atomic_fetch_sub(&endpoint->crashes.batches, 1);
}

void pawl__deaths_meet(pawl_endpoint *endpoint, size_t count)
{
    atomic_fetch_add(&endpoint->crashes.with_care, (int64_t)count);
    pawl__deaths_look_soon(endpoint);
}

void pawl__deaths_meet_alone(pawl_endpoint *endpoint, size_t count)
{
    atomic_fetch_add(&endpoint->crashes.alone, (int64_t)count);
}

void pawl__deaths_meet_partitions(pawl_endpoint *endpoint)
{
    pawl__deaths_look_at_partitions(endpoint);
    pawl__deaths_meet_alone(endpoint, 1);
}

bool pawl__deaths_take_turn(pawl_endpoint *endpoint)
{
    if (atomic_exchange(&pawl__turn_is_taken, true))
        return false;
    atomic_store(&endpoint->crashes.has_turn, true);
    if (atomic_load(&endpoint->crashes.batches) == 0)
        return true;
    pawl__deaths_give_turn(endpoint);
    return false;
}

void pawl__deaths_give_turn(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->crashes.has_turn, false);
    atomic_store(&pawl__turn_is_taken, false);
}

int64_t pawl__deaths_rests(pawl_endpoint *endpoint)
{
    int64_t end  = atomic_load(&endpoint->crashes.rest_end);
    int64_t rest = end != 0 ? end - pawl__monotonic_now() : 0;
    if (end != 0 && rest <= 0)
        atomic_compare_exchange_strong(&endpoint->crashes.rest_end, &end, 0);
    return rest > 0 ? rest : 0;
}

void pawl__deaths_look_at_partitions(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->crashes.has_partitions, true);
}

bool pawl__deaths_take_partitions(pawl_endpoint *endpoint)
{
    return atomic_exchange(&endpoint->crashes.has_partitions, false);
}

/* ---- The end of it ------------------------------------------------------------------- */

/* Is the worker's death one that this process has dealt with? */
static bool is_known(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__death *found    = find(&endpoint->crashes, id);
    bool               is_found = found != NULL && !found->is_ended;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_found;
}

/* Deaths whose rows are gone, by this process or another, make room for others. */
static void note_ended(pawl_endpoint *endpoint, const pawl_worker_info *items, size_t count)
{
    pawl__deaths *crashes = &endpoint->crashes;
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < crashes->count; i++) {
        bool is_there = false;
        for (size_t j = 0; j < count && !is_there; j++)
            is_there = pawl_uuid_compare(items[j].id.uuid, crashes->known[i].worker.uuid) == 0;
        crashes->known[i].is_ended |= !is_there;
        if (!is_there)
            crashes->full_since = 0;
    }
    pthread_mutex_unlock(&endpoint->mutex);
}

/* Ends the rows of those that are dead still, `*ended` of them at most: a worker whose connection came back lives. `*left`: how
 * many of them there are still. */
static pawl_code end_rows(pawl__worker *worker, int64_t *ended, int64_t *left, pawl_error *error)
{
    pawl_worker_info *items = NULL;
    pawl_store       *store = NULL;
    size_t            count = 0, kept = 0;
    int64_t           most = *ended;
    pawl_code         code = list_died(worker, &items, &count, error);
    *ended = *left = 0;
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        bool is_ours = is_known(worker->endpoint, items[i].id);
        if (!is_ours || *ended == most) {
            *left += is_ours;
            items[kept++] = items[i];
            continue;
        }
        if (store == NULL)
            code = pawl__endpoint_store_open_aside(worker->endpoint, INT64_MAX, &store, error);
        if (code != PAWL_OK)
            break;
        pawl_store_worker_set(store, items[i].id);
        code = pawl_store_worker_close(store, worker->engine.machine_now, error);
        *ended += code == PAWL_OK;
    }
    pawl_store_close(store);
    if (code == PAWL_OK)
        note_ended(worker->endpoint, items, kept);
    return code;
}

/* Ends a dead worker's row, or with `is_over` all. A row that cannot be ended stays known: this process takes no care
 * because of it again. Leases of the ended ones are free now: partitions have a step alone, timeouts care. Rows that
 * another process ended are no longer owed for. */
static void end_share(pawl__worker *worker, bool is_over)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pawl__deaths  *crashes  = &endpoint->crashes;
    int64_t        batch    = endpoint->settings.batch_messages;
    pawl_error     error    = PAWL_ERROR_INIT;
    int64_t        ended = is_over ? INT64_MAX : 1, left = 0;
    pawl_code      code = end_rows(worker, &ended, &left, &error);
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "endpoint %s: rows of dead workers stay: %s",
                 endpoint->model->endpoint.data, error.text);
    atomic_store(&crashes->passed, 0);
    if (is_over)
        atomic_store(&crashes->with_care, 0);
    else if (code == PAWL_OK && atomic_load(&crashes->with_care) > left * batch)
        atomic_store(&crashes->with_care, left * batch);
    if (ended > 0 && endpoint->model->timeout_count > 0)
        owe(worker, ended);
    if (ended > 0)
        pawl__deaths_meet_partitions(endpoint);
}

void pawl__deaths_pass_some(pawl__worker *worker, int64_t count)
{
    pawl__deaths *crashes = &worker->endpoint->crashes;
    if (count == 0 || atomic_load(&crashes->with_care) <= 0)
        return;
    bool is_over  = atomic_fetch_sub(&crashes->with_care, count) <= count;
    bool is_share = atomic_fetch_add(&crashes->passed, count) + count >=
                    worker->endpoint->settings.batch_messages;
    if (is_over || is_share)
        end_share(worker, is_over);
}

void pawl__deaths_rest(pawl__worker *worker)
{
    int64_t time = (int64_t)pawl_random_below(&worker->random, (uint64_t)REST_MAX);
    if (!worker->engine.is_virtual)
        atomic_store(&worker->endpoint->crashes.rest_end, pawl__monotonic_now() + time);
}

void pawl__deaths_pass(pawl__worker *worker, bool is_last)
{
    pawl__deaths *crashes = &worker->endpoint->crashes;
    if (atomic_fetch_sub(&crashes->alone, 1) <= 1 || is_last)
        atomic_store(&crashes->alone, 0);
    if (!is_last) {
        pawl__deaths_pass_some(worker, 1);
        return;
    }
    end_share(worker, true);
    pawl__deaths_rest(worker);
}
