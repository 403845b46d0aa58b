/* crashes.c - notices that workers of an endpoint died, and how many messages are to be stamped or isolated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <stdio.h>

#define CHECK_PERIOD PAWL_SECONDS(2)
#define REST_MAX PAWL_MILLISECONDS(250)
#define PROCESSES_SIZE 80

atomic_bool pawl__isolation_is_running;

/* ---- Noticing ------------------------------------------------------------------------ */

/* A store that tells of no deaths has none. */
static pawl_code list_died(pawl__worker *worker, pawl_arena *arena, pawl_worker_info **items,
                           size_t *count, pawl_error *error)
{
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the list of workers");
    pawl_code code = pawl_store_worker_crashed(worker->store, arena, items, count, error);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* Under the endpoint's mutex. */
static pawl__crash *find(pawl__isolation *isolation, pawl_worker_id id)
{
    for (size_t i = 0; i < isolation->count; i++)
        if (pawl_uuid_compare(isolation->known[i].worker.uuid, id.uuid) == 0)
            return &isolation->known[i];
    return NULL;
}

/* Under the endpoint's mutex. A death whose row was ended gives its room to a new one. */
static bool make_room(pawl__isolation *isolation)
{
    for (size_t i = 0; i < isolation->count && isolation->count == PAWL__CRASHES_MAX; i++)
        if (isolation->known[i].is_ended)
            isolation->known[i] = isolation->known[--isolation->count];
    return isolation->count < PAWL__CRASHES_MAX;
}

/* Under the endpoint's mutex. A worker that there is no room for counts as found when the room ended: if it
 * were forgotten and met anew, its death would never be old enough to be sure. */
static pawl_time remember(pawl_endpoint *endpoint, pawl_worker_id id, pawl_time now, bool *is_new)
{
    pawl__isolation *isolation = &endpoint->isolation;
    pawl__crash     *found     = find(isolation, id);
    *is_new                    = false;
    if (found != NULL && found->is_ended) /* back meanwhile, and dead again */
        *found = isolation->known[--isolation->count];
    else if (found != NULL)
        return found->seen;
    *is_new = make_room(isolation);
    if (!*is_new) {
        if (isolation->full_since == 0)
            isolation->full_since = now;
        return isolation->full_since;
    }
    isolation->known[isolation->count++] = (pawl__crash){id, now, false};
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
    pawl__isolation *isolation = &worker->endpoint->isolation;
    int64_t          before    = atomic_load(&isolation->to_stamp);
    int64_t          batch     = worker->endpoint->settings.batch_messages;
    int64_t          wanted;
    do {
        if (worker->ordered != NULL)
            wanted = before > batch ? before : batch;
        else
            wanted = before + workers * batch;
        wanted = wanted < PAWL__STAMPED_MAX ? wanted : PAWL__STAMPED_MAX;
    } while (workers > 0 && !atomic_compare_exchange_weak(&isolation->to_stamp, &before, wanted));
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

/* " (process 4711 and 2 others)"; empty: a store may not know them. */
static void name_processes(const pawl_worker_info *items, const bool *is_new, size_t count,
                           char text[PROCESSES_SIZE])
{
    size_t  process_count = 0;
    int64_t pid           = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_first = is_new[i] && items[i].pid != 0;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = !is_new[j] || items[j].pid != items[i].pid;
        process_count += is_first;
        pid = is_first ? items[i].pid : pid;
    }
    text[0] = '\0';
    if (process_count == 1)
        (void)snprintf(text, PROCESSES_SIZE, " (process %lld)", (long long)pid);
    else if (process_count > 1)
        (void)snprintf(text, PROCESSES_SIZE, " (process %lld and %zu other%s)", (long long)pid,
                       process_count - 1, process_count == 2 ? "" : "s");
}

static pawl_code note_all(pawl__worker *worker, const pawl_worker_info *items, size_t count,
                          pawl_error *error)
{
    const char *name      = worker->endpoint->model->endpoint.data;
    bool       *is_new    = pawl_arena_take(worker->read, (count + 1) * sizeof *is_new);
    size_t      new_count = 0;
    char        processes[PROCESSES_SIZE];
    if (is_new == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for dead workers");
    for (size_t i = 0; i < count; i++) {
        if (is_of(worker, &items[i]))
            note(worker, items[i].id, &is_new[i]);
        new_count += is_new[i];
    }
    if (new_count == 0)
        return PAWL_OK;
    owe(worker, count_claiming(items, is_new, count));
    name_processes(items, is_new, count, processes);
    pawl_log(PAWL_LOG_WARNING,
             "endpoint %s: %zu of its workers crashed%s: up to %lld messages at the head of its "
             "queue run in batches of %d with in-flight markers",
             name, new_count, processes,
             (long long)atomic_load(&worker->endpoint->isolation.to_stamp),
             PAWL__STAMPED_BATCH_MAX);
    return PAWL_OK;
}

/* The first look is each thread's own: one that went on while another checks would run a batch before it is
 * known that batches have to be stamped, and a process that dies of that batch at each start would never count it. */
pawl_code pawl__crashes_check(pawl__worker *worker, pawl_error *error)
{
    pawl__isolation  *isolation = &worker->endpoint->isolation;
    pawl_time         now       = worker->engine.machine_now;
    pawl_time         due       = atomic_load(&isolation->check);
    pawl_worker_info *items     = NULL;
    size_t            count     = 0;
    bool              is_due    = now >= due || due > pawl_time_add(now, CHECK_PERIOD);
    bool              is_first  = !atomic_load(&isolation->has_looked);
    bool              is_ours   = is_due && atomic_compare_exchange_strong(&isolation->check, &due,
                                                                           pawl_time_add(now, CHECK_PERIOD));
    if (!is_first && !is_ours)
        return PAWL_OK;
    pawl_arena *arena = pawl_arena_create(0); /* not the worker's, which keeps its blocks */
    pawl_code   code  = list_died(worker, arena, &items, &count, error);
    if (code == PAWL_OK)
        code = note_all(worker, items, count, error);
    pawl_arena_destroy(arena);
    if (code != PAWL_OK) {
        pawl__crashes_check_soon(worker->endpoint);
        return code;
    }
    atomic_store(&isolation->has_looked, true);
    return PAWL_OK;
}

void pawl__crashes_check_soon(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->isolation.check, PAWL_TIME_MIN);
}

pawl_code pawl__crashes_since(pawl__worker *worker, pawl_worker_id id, pawl_time *since,
                              pawl_error *error)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    bool              is_new;
    *since         = PAWL_TIME_MAX;
    pawl_code code = list_died(worker, worker->read, &items, &count, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        if (pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0) {
            *since = note(worker, id, &is_new);
            owe(worker, is_new);
        }
    return code;
}

pawl_time pawl__crashes_remembered(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__crash *found = find(&endpoint->isolation, id);
    pawl_time          since = found != NULL ? found->seen : PAWL_TIME_MAX;
    pthread_mutex_unlock(&endpoint->mutex);
    return since;
}

/* ---- Turns --------------------------------------------------------------------------- */

/* The count is raised before the look at the turn, and a turn looks at the count after it was taken: one of the two
 * sees the other. `alone` does not do: the last message to run alone takes all from it, also what another thread met
 * that takes its turn next. */
bool pawl__isolation_batch_begin(pawl_endpoint *endpoint)
{
    atomic_fetch_add(&endpoint->isolation.batches, 1);
    if (atomic_load(&endpoint->isolation.to_isolate) <= 0 &&
        !atomic_load(&endpoint->isolation.has_turn))
        return true;
    pawl__isolation_batch_end(endpoint);
    return false;
}

bool pawl__isolation_is_pending(const pawl_endpoint *endpoint)
{
    return atomic_load(&endpoint->isolation.to_isolate) > 0 ||
           pawl__isolation_stamps_batches(endpoint);
}

bool pawl__isolation_stamps_batches(const pawl_endpoint *endpoint)
{
    return atomic_load(&endpoint->isolation.to_stamp) > 0;
}

void pawl__isolation_batch_end(pawl_endpoint *endpoint)
{
    atomic_fetch_sub(&endpoint->isolation.batches, 1);
}

void pawl__isolation_stamp_next(pawl_endpoint *endpoint, size_t count)
{
    atomic_fetch_add(&endpoint->isolation.to_stamp, (int64_t)count);
    pawl__crashes_check_soon(endpoint);
}

void pawl__isolation_isolate_next(pawl_endpoint *endpoint, size_t count)
{
    atomic_fetch_add(&endpoint->isolation.to_isolate, (int64_t)count);
}

void pawl__isolation_isolate_partitions(pawl_endpoint *endpoint)
{
    pawl__isolation_check_partitions(endpoint);
    pawl__isolation_isolate_next(endpoint, 1);
}

bool pawl__isolation_begin(pawl_endpoint *endpoint)
{
    if (atomic_exchange(&pawl__isolation_is_running, true))
        return false;
    atomic_store(&endpoint->isolation.has_turn, true);
    if (atomic_load(&endpoint->isolation.batches) == 0)
        return true;
    pawl__isolation_end(endpoint);
    return false;
}

void pawl__isolation_end(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->isolation.has_turn, false);
    atomic_store(&pawl__isolation_is_running, false);
}

int64_t pawl__isolation_rest_left(pawl_endpoint *endpoint)
{
    int64_t end  = atomic_load(&endpoint->isolation.rest_end);
    int64_t rest = end != 0 ? end - pawl__monotonic_now() : 0;
    if (end != 0 && rest <= 0)
        atomic_compare_exchange_strong(&endpoint->isolation.rest_end, &end, 0);
    return rest > 0 ? rest : 0;
}

void pawl__isolation_check_partitions(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->isolation.has_partitions, true);
}

bool pawl__isolation_take_partitions(pawl_endpoint *endpoint)
{
    return atomic_exchange(&endpoint->isolation.has_partitions, false);
}

/* ---- The end of it ------------------------------------------------------------------- */

/* Is the worker's death one that this process has dealt with? */
static bool is_known(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__crash *found    = find(&endpoint->isolation, id);
    bool               is_found = found != NULL && !found->is_ended;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_found;
}

/* Deaths whose rows are gone, by this process or another, make room for others. */
static void note_ended(pawl_endpoint *endpoint, const pawl_worker_info *items, size_t count)
{
    pawl__isolation *isolation = &endpoint->isolation;
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < isolation->count; i++) {
        bool is_there = false;
        for (size_t j = 0; j < count && !is_there; j++)
            is_there = pawl_uuid_compare(items[j].id.uuid, isolation->known[i].worker.uuid) == 0;
        isolation->known[i].is_ended |= !is_there;
        if (!is_there)
            isolation->full_since = 0;
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
    pawl_code         code = list_died(worker, worker->read, &items, &count, error);
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

/* Ends a dead worker's row, or with `is_over` all. A row that cannot be ended stays known: this process stamps
 * nothing because of it again. Leases of the ended ones are free now: partitions get an isolated step, timeouts stamped batches. Rows that
 * another process ended are no longer owed for. */
static void end_share(pawl__worker *worker, bool is_over)
{
    pawl_endpoint   *endpoint  = worker->endpoint;
    pawl__isolation *isolation = &endpoint->isolation;
    int64_t          batch     = endpoint->settings.batch_messages;
    pawl_error       error     = PAWL_ERROR_INIT;
    int64_t          ended = is_over ? INT64_MAX : 1, left = 0;
    pawl_code        code = end_rows(worker, &ended, &left, &error);
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "endpoint %s: rows of dead workers stay: %s",
                 endpoint->model->endpoint.data, error.text);
    atomic_store(&isolation->passed, 0);
    if (is_over)
        atomic_store(&isolation->to_stamp, 0);
    else if (code == PAWL_OK && atomic_load(&isolation->to_stamp) > left * batch)
        atomic_store(&isolation->to_stamp, left * batch);
    if (ended > 0 && endpoint->model->timeout_count > 0)
        owe(worker, ended);
    if (ended > 0)
        pawl__isolation_isolate_partitions(endpoint);
}

void pawl__isolation_stamped_passed(pawl__worker *worker, int64_t count)
{
    pawl__isolation *isolation = &worker->endpoint->isolation;
    if (count == 0 || atomic_load(&isolation->to_stamp) <= 0)
        return;
    bool is_over  = atomic_fetch_sub(&isolation->to_stamp, count) <= count;
    bool is_share = atomic_fetch_add(&isolation->passed, count) + count >=
                    worker->endpoint->settings.batch_messages;
    if (is_over || is_share)
        end_share(worker, is_over);
}

void pawl__isolation_rest(pawl__worker *worker)
{
    int64_t time = (int64_t)pawl_random_below(&worker->random, (uint64_t)REST_MAX);
    if (!worker->engine.is_virtual)
        atomic_store(&worker->endpoint->isolation.rest_end, pawl__monotonic_now() + time);
}

void pawl__isolation_one_passed(pawl__worker *worker, bool is_last)
{
    pawl__isolation *isolation = &worker->endpoint->isolation;
    if (atomic_fetch_sub(&isolation->to_isolate, 1) <= 1 || is_last)
        atomic_store(&isolation->to_isolate, 0);
    if (!is_last) {
        pawl__isolation_stamped_passed(worker, 1);
        return;
    }
    end_share(worker, true);
    pawl__isolation_rest(worker);
}
