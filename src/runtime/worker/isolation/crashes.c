/* crashes.c - notices crashed workers of an endpoint, and counts the messages that still have to be marked or
 * isolated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_PERIOD PAWL_SECONDS(2)
#define REST_MAX PAWL_MILLISECONDS(250)
#define PROCESSES_SIZE 80
#define EARLIER_SIZE 40
#define START_SPAN PAWL_SECONDS(2) /* all workers of a process start within it */

atomic_bool pawl__isolation_is_running;

/* ---- Noticing ------------------------------------------------------------------------ */

/* On a store that does not report crashes the list is empty. */
static pawl_code list_died(pawl__worker *worker, pawl_arena *arena, pawl_worker_info **items,
                           size_t *count, pawl_error *error)
{
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the list of workers");
    pawl_code code = pawl_store_worker_crashed(worker->store, arena, items, count, error);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* Index of the worker in the sorted list `known`, or where to insert it. This and the next functions run under the
 * endpoint's mutex. */
static size_t place_of(const pawl__isolation *isolation, pawl_worker_id id)
{
    size_t low = 0, high = isolation->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pawl_uuid_compare(isolation->known[middle].worker.uuid, id.uuid) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static pawl__crash *find(pawl__isolation *isolation, pawl_worker_id id)
{
    pawl__crash *found = &isolation->known[place_of(isolation, id)];
    bool         is_it = found < &isolation->known[isolation->count] &&
                 pawl_uuid_compare(found->worker.uuid, id.uuid) == 0;
    return is_it ? found : NULL;
}

static void forget(pawl__isolation *isolation, pawl__crash *crash)
{
    size_t behind = (size_t)(&isolation->known[isolation->count--] - crash) - 1;
    memmove(crash, crash + 1, behind * sizeof *crash);
}

/* Is there room for a new entry? If necessary, drops one whose row is ended; full_since not 0: there is none. */
static bool make_room(pawl__isolation *isolation)
{
    size_t i = 0;
    if (isolation->count < PAWL__CRASHES_MAX || isolation->full_since != 0)
        return isolation->count < PAWL__CRASHES_MAX;
    while (i < isolation->count && !isolation->known[i].is_ended)
        i++;
    if (i == isolation->count)
        return false;
    forget(isolation, &isolation->known[i]);
    return true;
}

/* Returns when the worker was found dead. Without room for it, that is the time at which the list became full: a worker
 * that is found anew at each check would never be dead for long enough to be sure. */
static pawl_time remember(pawl_endpoint *endpoint, pawl_worker_id id, pawl_time now, bool *is_new)
{
    pawl__isolation *isolation = &endpoint->isolation;
    pawl__crash     *found     = find(isolation, id);
    *is_new                    = false;
    if (found != NULL && found->is_ended) /* reconnected, and died again */
        forget(isolation, found);
    else if (found != NULL)
        return found->seen;
    *is_new = make_room(isolation);
    if (!*is_new) {
        if (isolation->full_since == 0)
            isolation->full_since = now;
        return isolation->full_since;
    }
    size_t       at    = place_of(isolation, id);
    pawl__crash *added = &isolation->known[at];
    memmove(added + 1, added, (isolation->count++ - at) * sizeof *added);
    *added = (pawl__crash){id, now, false};
    return now;
}

/* When the worker was found dead, by a clock that cannot be set; is_new: just now. */
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

/* Adds the number of messages that so many dead workers can have claimed. On an ordered endpoint, all had the same head
 * of the queue, one after the other. */
static void add_to_mark(pawl__worker *worker, int64_t workers)
{
    pawl__isolation *isolation = &worker->endpoint->isolation;
    int64_t          before    = atomic_load(&isolation->to_mark);
    int64_t          batch     = worker->endpoint->settings.batch_messages;
    int64_t          wanted;
    do {
        if (worker->ordered != NULL)
            wanted = before > batch ? before : batch;
        else
            wanted = before + workers * batch;
        wanted = wanted < PAWL__MARKED_MAX ? wanted : PAWL__MARKED_MAX;
    } while (workers > 0 && !atomic_compare_exchange_weak(&isolation->to_mark, &before, wanted));
}

static int compare_numbers(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Counts of the processes of dead workers, if the store knows pids. */
typedef struct processes {
    size_t count;
    int64_t
            services; /* processes with several dead workers, one of which is the service, which claims nothing */
    int64_t pid; /* of one of them */
} processes;

/* `pids` has room for all. */
static processes count_processes(const pawl_worker_info *const *died, size_t count, int64_t *pids)
{
    processes found = {0, 0, 0};
    for (size_t i = 0; i < count; i++)
        pids[i] = died[i]->pid;
    qsort(pids, count, sizeof *pids, compare_numbers);
    for (size_t i = 0; i < count; i++) {
        bool is_first = pids[i] != 0 && (i == 0 || pids[i] != pids[i - 1]);
        bool has_next = i + 1 < count && pids[i + 1] == pids[i];
        found.count += is_first;
        found.services += is_first && has_next;
        found.pid = is_first ? pids[i] : found.pid;
    }
    return found;
}

/* " (process 4711 and 2 others)"; empty if the store does not know pids. */
static void name_processes(const processes *died, char text[PROCESSES_SIZE])
{
    text[0] = '\0';
    if (died->count == 1)
        (void)snprintf(text, PROCESSES_SIZE, " (process %lld)", (long long)died->pid);
    else if (died->count > 1)
        (void)snprintf(text, PROCESSES_SIZE, " (process %lld and %zu other%s)",
                       (long long)died->pid, died->count - 1, died->count == 2 ? "" : "s");
}

/* Did the worker crash after the process of `newest` started? One of the same host and pid may be of an earlier process
 * of a container. */
static bool is_of_last(const pawl_worker_info *worker, const pawl_worker_info *newest)
{
    bool is_same = worker->pid == newest->pid && pawl_text_equal(worker->host, newest->host);
    return worker == newest || worker->seen >= newest->started - (is_same ? START_SPAN : 0);
}

/* Rows stay until enough messages have passed, so a process that starts also finds those of earlier crashes, which an
 * earlier process reported when it started. Moves the others to the front, and returns how many they are. */
static size_t put_last_first(const pawl_worker_info **died, size_t count)
{
    const pawl_worker_info *newest = died[0];
    size_t                  front  = 0;
    for (size_t i = 1; i < count; i++)
        if (died[i]->started > newest->started)
            newest = died[i];
    for (size_t i = 0; i < count; i++)
        if (is_of_last(died[i], newest)) {
            const pawl_worker_info *moved = died[i];
            died[i]                       = died[front];
            died[front++]                 = moved;
        }
    return front;
}

static pawl_code note_all(pawl__worker *worker, const pawl_worker_info *items, size_t count,
                          pawl_error *error)
{
    const char              *name      = worker->endpoint->model->endpoint.data;
    int64_t                 *pids      = pawl_arena_take(worker->read, (count + 1) * sizeof *pids);
    const pawl_worker_info **died      = pawl_arena_take(worker->read, (count + 1) * sizeof *died);
    size_t                   new_count = 0;
    bool                     is_new;
    char                     text[PROCESSES_SIZE], earlier[EARLIER_SIZE] = "";
    if (pids == NULL || died == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for dead workers");
    for (size_t i = 0; i < count; i++) {
        is_new = false;
        if (is_of(worker, &items[i]) && !pawl__endpoint_is_lost(worker->endpoint, items[i].id))
            note(worker, items[i].id, &is_new);
        if (is_new)
            died[new_count++] = &items[i];
    }
    if (new_count == 0)
        return PAWL_OK;
    size_t    last_count = put_last_first(died, new_count);
    processes all        = count_processes(died, new_count, pids);
    processes last       = count_processes(died, last_count, pids);
    add_to_mark(worker, (int64_t)new_count - all.services);
    name_processes(&last, text);
    if (last_count < new_count)
        (void)snprintf(earlier, sizeof earlier, ", beside %zu earlier", new_count - last_count);
    pawl_log(PAWL_LOG_WARNING,
             "endpoint %s: %zu of its workers crashed%s%s: up to %lld messages at the head of its "
             "queue run in batches of %d with in-flight markers",
             name, last_count, text, earlier,
             (long long)atomic_load(&worker->endpoint->isolation.to_mark), PAWL__MARKED_BATCH_MAX);
    return PAWL_OK;
}

/* Each thread waits for a first check of its own. If it ran a batch while another thread checks, the batch would not be
 * marked; a process that crashes in it at each start would never count the crash. */
pawl_code pawl__crashes_check(pawl__worker *worker, pawl_error *error)
{
    pawl__isolation  *isolation = &worker->endpoint->isolation;
    pawl_worker_info *items     = NULL;
    size_t            count     = 0;
    bool              is_first  = !atomic_load(&isolation->has_looked);
    bool is_ours = pawl__take_due(&isolation->check, worker->engine.machine_now, CHECK_PERIOD);
    if (!is_first && !is_ours)
        return PAWL_OK;
    pawl_arena *arena = pawl_arena_create(0); /* not worker->read, which never shrinks */
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
        if (pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0 &&
            !pawl__endpoint_is_lost(worker->endpoint, id)) {
            *since = note(worker, id, &is_new);
            add_to_mark(worker, is_new);
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

/* The order of the accesses matters: this function raises `batches` and then reads is_isolated_step; isolation_begin sets
 * is_isolated_step and then reads `batches`. So one of the two threads sees the other. to_isolate does not suffice: the last
 * isolated message sets it to 0, even if another thread is about to begin. */
bool pawl__isolation_batch_begin(pawl_endpoint *endpoint)
{
    atomic_fetch_add(&endpoint->isolation.batches, 1);
    if (atomic_load(&endpoint->isolation.to_isolate) <= 0 &&
        !atomic_load(&endpoint->isolation.is_isolated_step))
        return true;
    pawl__isolation_batch_end(endpoint);
    return false;
}

bool pawl__isolation_is_pending(const pawl_endpoint *endpoint)
{
    return atomic_load(&endpoint->isolation.to_isolate) > 0 ||
           pawl__isolation_marks_batches(endpoint);
}

bool pawl__isolation_marks_batches(const pawl_endpoint *endpoint)
{
    return atomic_load(&endpoint->isolation.to_mark) > 0;
}

void pawl__isolation_batch_end(pawl_endpoint *endpoint)
{
    atomic_fetch_sub(&endpoint->isolation.batches, 1);
}

void pawl__isolation_mark_next(pawl_endpoint *endpoint, size_t count)
{
    atomic_fetch_add(&endpoint->isolation.to_mark, (int64_t)count);
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
    atomic_store(&endpoint->isolation.is_isolated_step, true);
    if (atomic_load(&endpoint->isolation.batches) == 0)
        return true;
    pawl__isolation_end(endpoint);
    return false;
}

void pawl__isolation_end(pawl_endpoint *endpoint)
{
    atomic_store(&endpoint->isolation.is_isolated_step, false);
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

/* ---- The end of an isolation phase --------------------------------------------------- */

/* Has this process counted the messages of this dead worker, whose row is still there? */
static bool is_known(pawl_endpoint *endpoint, pawl_worker_id id)
{
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__crash *found    = find(&endpoint->isolation, id);
    bool               is_found = found != NULL && !found->is_ended;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_found;
}

/* Marks entries whose rows are gone, ended by this process or another. They make room for others. */
static void note_ended(pawl_endpoint *endpoint, const pawl_worker_info *items, size_t count)
{
    pawl__isolation *isolation                   = &endpoint->isolation;
    bool             is_there[PAWL__CRASHES_MAX] = {false};
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < count; i++) {
        const pawl__crash *found = find(isolation, items[i].id);
        if (found != NULL)
            is_there[found - isolation->known] = true;
    }
    for (size_t i = 0; i < isolation->count; i++) {
        isolation->known[i].is_ended |= !is_there[i];
        if (!is_there[i])
            isolation->full_since = 0;
    }
    pthread_mutex_unlock(&endpoint->mutex);
}

static int compare_seen(const void *left, const void *right)
{
    return compare_numbers(&((const pawl_worker_info *)left)->seen,
                           &((const pawl_worker_info *)right)->seen);
}

/* Maximum of dead workers' rows: those that account for PAWL__MARKED_MAX messages. More rows would change nothing, and
 * each check reads all. The most recent ones are kept, as other processes may find their markers. */
static int64_t rows_max(const pawl__worker *worker)
{
    int64_t enough = PAWL__MARKED_MAX / worker->endpoint->settings.batch_messages;
    if (enough < PAWL__DEAD_ROWS_MIN)
        return PAWL__DEAD_ROWS_MIN;
    return enough < PAWL__DEAD_ROWS_MAX ? enough : PAWL__DEAD_ROWS_MAX;
}

/* The endpoint's dead workers, those first whose last sign of life is oldest. */
static pawl_code list_ours(pawl__worker *worker, pawl_worker_info **items, size_t *count,
                           pawl_error *error)
{
    size_t    all  = 0;
    pawl_code code = list_died(worker, worker->read, items, &all, error);
    for (size_t i = 0; i < all && code == PAWL_OK; i++)
        if (is_of(worker, &(*items)[i]))
            (*items)[(*count)++] = (*items)[i];
    if (*count > 0)
        qsort(*items, *count, sizeof **items, compare_seen);
    return code;
}

/* Ends rows of workers that are still dead (one that reconnected is not in the list): `*ended` rows, and those above
 * rows_max. `*left`: number of known ones that stay. */
static pawl_code end_rows(pawl__worker *worker, int64_t *ended, int64_t *left, pawl_error *error)
{
    pawl_worker_info *items = NULL;
    pawl_store       *store = NULL;
    size_t            count = 0, kept = 0;
    int64_t           most    = *ended;
    pawl_code         code    = list_ours(worker, &items, &count, error);
    int64_t           surplus = (int64_t)count - rows_max(worker);
    *ended = *left = 0;
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        bool is_ours = is_known(worker->endpoint, items[i].id);
        if (!is_ours || ((int64_t)i >= surplus && *ended >= most)) {
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
    if (code != PAWL_OK)
        return code;
    note_ended(worker->endpoint, items, kept);
    if (*ended > 0 && (int64_t)kept > *left) /* unknown ones have room now */
        pawl__crashes_check_soon(worker->endpoint);
    return PAWL_OK;
}

/* Ends one row of a dead worker for each batch_messages that have passed, or, with `is_over`, all. A row that cannot be
 * ended stays in `known`, so it does not start marking again. The leases of ended workers are free now: partitions get
 * an isolated step, timeouts marked batches. to_mark drops for rows that another process ended. */
static void end_share(pawl__worker *worker, bool is_over)
{
    pawl_endpoint   *endpoint  = worker->endpoint;
    pawl__isolation *isolation = &endpoint->isolation;
    int64_t          batch     = endpoint->settings.batch_messages;
    pawl_error       error     = PAWL_ERROR_INIT;
    int64_t          passed    = atomic_exchange(&isolation->passed, 0);
    int64_t          ended = is_over ? INT64_MAX : passed / batch, left = 0;
    pawl_code        code = end_rows(worker, &ended, &left, &error);
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "endpoint %s: rows of dead workers stay: %s",
                 endpoint->model->endpoint.data, error.text);
    if (is_over)
        atomic_store(&isolation->to_mark, 0);
    else if (code == PAWL_OK && atomic_load(&isolation->to_mark) > left * batch)
        atomic_store(&isolation->to_mark, left * batch);
    if (ended > 0 && endpoint->model->timeout_count > 0)
        add_to_mark(worker, ended);
    if (ended > 0)
        pawl__isolation_isolate_partitions(endpoint);
}

void pawl__isolation_marked_passed(pawl__worker *worker, int64_t count)
{
    pawl__isolation *isolation = &worker->endpoint->isolation;
    if (count == 0 || atomic_load(&isolation->to_mark) <= 0)
        return;
    bool is_over  = atomic_fetch_sub(&isolation->to_mark, count) <= count;
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
        pawl__isolation_marked_passed(worker, 1);
        return;
    }
    end_share(worker, true);
    pawl__isolation_rest(worker);
}
