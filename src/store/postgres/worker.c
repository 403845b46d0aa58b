/* worker.c - worker rows: liveness, the epoch for the fence, and counters.
 *
 * A worker lives if a session holds the advisory lock whose number is in its row; with a pooler,
 * if its last heartbeat is recent. When a worker ends, the transaction that deletes its row adds
 * its counters to the row of id zero, so that sums stay right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"
#include "store/postgres/operations.h"
#include "store/postgres/share.h"
#include "store/postgres/wire.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

#include <string.h>

#define RAISE_LOCK_MS "2000"
/* Time for the search of sessions to end, after a call whose deadline is over: the search may have to wait for the
 * same lock. */
#define LOOK_MS 1000
/* A session that waits for its client inside a commit is ended after the deadline of its waiter, within these
 * bounds. */
#define STAND_MS_MIN 2000
#define STAND_MS_MAX 10000

/* A worker whose row is deleted, and the row of id zero, which gets its counters. */
typedef struct ending {
    pawl_uuid kept, worker;
} ending;

static const pawl__field ids[] = {PAWL__AS_OF(ending, kept, UUID),
                                  PAWL__AS_OF(ending, worker, UUID)};

/* RAISE locks the row: if two processes end the worker, the second finds no row. */
static const struct {
    int              statement;
    pawl__field_list parameters;
} steps[] = {
    {PAWL__PG_WORKER_RAISE, {ids + 1, 1}},
    {PAWL__PG_WORKER_KEEP, {ids, 1}},
    {PAWL__SQL_WORKER_FOLD, {ids, 2}},
    {PAWL__SQL_WORKER_DELETE, {ids + 1, 1}},
    {PAWL__PG_TIMEOUT_FREE_WORKER, {ids + 1, 1}},
    {PAWL__SQL_AGGREGATOR_FREE, {ids + 1, 1}},
    {PAWL__SQL_LEASE_DELETE_ALL, {ids + 1, 1}},
};
#define STEP_COUNT (sizeof steps / sizeof steps[0])
#define FREE_FROM 4

/* Releases the worker's leases at once, before they expire. Searches for its timeouts only with
 * `has_timeouts`. */
static pawl_code end_worker(pawl__pg *store, pawl_uuid worker, bool is_deleted, bool has_timeouts,
                            pawl_error *error)
{
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    const ending         it         = {.worker = worker};
    pawl__pg_request     requests[STEP_COUNT];
    size_t               count = 0;
    for (size_t i = is_deleted ? 0 : FREE_FROM; i < STEP_COUNT; i++)
        if (has_timeouts || steps[i].statement != PAWL__PG_TIMEOUT_FREE_WORKER)
            pawl__pg_send_with(&requests[count++], connection, steps[i].statement,
                               &steps[i].parameters, &it, error);
    pawl_code code = pawl__pg_await(connection, error);
    for (size_t i = 0; i < count; i++)
        pawl__pg_end(&requests[i]);
    return code;
}

/* Frees the leases of dead workers; their rows stay. */
static pawl_code free_dead(pawl__pg *store, pawl_error *error)
{
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    pawl__pg_request     requests[3];
    pawl__pg_send_timeout_free_dead(store, &requests[0], true, error);
    pawl__pg_send_with(&requests[1], connection, PAWL__PG_AGGREGATOR_FREE_DEAD, &pawl__one_time,
                       &store->last_now, error);
    pawl__pg_send_with(&requests[2], connection, PAWL__PG_LEASE_FREE_DEAD, &pawl__one_time,
                       &store->last_now, error);
    pawl_code code = pawl__pg_await(connection, error);
    for (size_t i = 0; i < 3; i++)
        pawl__pg_end(&requests[i]);
    return code;
}

/* ---- The session lock ---------------------------------------------------- */

/* The lock may still be held by a lost session of this worker, if the server has not noticed the loss: ends that
 * session. */
static pawl_code end_and_lock(pawl__pg_connection *connection, int64_t number, int lock,
                              pawl_error *error)
{
    pawl__pg_request requests[2];
    pawl__pg_send_with(&requests[0], connection, PAWL__PG_END_SESSION, &pawl__one_int, &number,
                       error);
    pawl__pg_send_with(&requests[1], connection, lock, &pawl__one_int, &number, error);
    pawl_code code = pawl__pg_await(connection, error);
    pawl__pg_end(&requests[0]);
    pawl__pg_end(&requests[1]);
    return code;
}

pawl_code pawl__pg_session_lock(pawl__pg_connection *connection, int64_t number, pawl_error *error)
{
    return end_and_lock(connection, number, PAWL__PG_WORKER_LOCK_WAIT, error);
}

static void run_with_number(pawl__pg_connection *connection, int statement, int64_t number)
{
    (void)pawl__pg_ask(connection, statement, &pawl__one_int, &number, NULL, NULL, NULL);
}

void pawl__pg_session_unlock(pawl__pg_connection *connection, int64_t number)
{
    run_with_number(connection, PAWL__PG_WORKER_UNLOCK, number);
}

void pawl__pg_end_session(pawl__pg_connection *connection, int64_t number)
{
    run_with_number(connection, PAWL__PG_END_SESSION, number);
}

static pawl_code lock(pawl__pg *store, pawl_error *error)
{
    int64_t number = pawl__sql_worker_number(store->sql.base.worker.uuid);
    if (store->member.share != NULL)
        return pawl__pg_share_lock(store, number, error);
    pawl_code code = pawl__pg_session_lock(&store->main, number, error);
    if (code == PAWL_OK)
        store->lock_number = number;
    return code;
}

static void unlock(pawl__pg *store)
{
    if (store->member.share != NULL) {
        pawl__pg_share_unlock(store);
        return;
    }
    if (store->lock_number != 0 && !store->main.is_lost)
        pawl__pg_session_unlock(&store->main, store->lock_number);
    store->lock_number = 0;
}

/* ---- Open, close, resolve ----------------------------------------------- */

static void note_row(pawl__pg *store, pawl__pg_request *request)
{
    pawl_text tid         = pawl__pg_peek_text(request);
    store->has_worker_tid = tid.size == sizeof store->worker_tid;
    if (store->has_worker_tid)
        memcpy(store->worker_tid, tid.data, tid.size);
}

/* Inserts the row, or takes it over: another handle of this worker is then fenced. */
static pawl_code take_row(pawl__pg *store, pawl_text endpoint, pawl_text types, pawl_time now,
                          int64_t *epoch, pawl_error *error)
{
    const pawl_worker_info *about = pawl_store_program(&store->sql.base);
    pawl__pg_request        request;
    pawl__pg_begin(&request, pawl__pg_in_use(store), PAWL__PG_WORKER_TAKE, error);
    pawl__pg_put_uuid(&request, store->sql.base.worker.uuid);
    pawl__pg_put_text(&request, endpoint);
    pawl__pg_put_text(&request, types);
    pawl__pg_put_int(&request, store->lock_number);
    pawl__pg_put_int(&request, store->wait.pid);
    pawl__pg_put_time(&request, now);
    pawl__pg_put_text(&request, about->host);
    pawl__pg_put_text(&request, about->program);
    pawl__pg_put_text(&request, about->program_version);
    pawl__pg_put_text(&request, about->pawl_version);
    pawl_code code = pawl__pg_run(&request);
    if (code == PAWL_OK && pawl__pg_next(&request)) {
        *epoch = pawl__pg_get_int(&request);
        note_row(store, &request);
    }
    pawl__pg_end(&request);
    if (code == PAWL_OK && *epoch > 1)
        code = end_worker(store, store->sql.base.worker.uuid, false, true, error);
    return code;
}

pawl_code pawl__pg_worker_open(pawl_store *base, pawl_text endpoint, pawl_text types, pawl_time now,
                               pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    int64_t   epoch = 0;
    pawl_code code  = PAWL_OK;
    pawl__pg_note_now(store, now);
    if (!store->is_pooled && store->lock_number == 0)
        code = lock(store, error);
    if (code == PAWL_OK)
        code = pawl__pg_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    /* Ends an open transaction of another handle of this worker first, with its claims; the tag's lock finds it. */
    store->tag_number = store->is_pooled ? pawl__sql_worker_number(base->worker.uuid) : 0;
    if (store->is_pooled)
        code = end_and_lock(pawl__pg_in_use(store), store->tag_number, PAWL__PG_WORKER_TAG_WAIT,
                            error);
    if (code == PAWL_OK)
        code = take_row(store, endpoint, types, now, &epoch, error);
    if (code == PAWL_OK)
        code = free_dead(store, error);
    code = pawl__pg_stamp_end(store, code, error);
    if (code == PAWL_OK) {
        base->epoch          = epoch;
        base->is_attached    = true;
        store->endpoint_size = endpoint.size < sizeof store->endpoint ? endpoint.size : 0;
        if (store->endpoint_size != 0)
            memcpy(store->endpoint, endpoint.data, store->endpoint_size);
        store->beat_ms = pawl__clock_ms();
    }
    return code;
}

static pawl_code close_row(pawl_store *base, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl__pg_rollback_transaction(&store->main);
    store->claims.count   = 0;
    store->has_worker_tid = false;
    pawl_code code        = pawl__pg_stamp_begin(store, error);
    if (code == PAWL_OK) {
        /* Another handle of this worker, which was lost, may have leased timeouts. */
        bool has_timeouts = store->has_leased || !base->is_attached;
        code              = end_worker(store, base->worker.uuid, true, has_timeouts, error);
        code              = pawl__pg_stamp_end(store, code, error);
    }
    return code;
}

/* A session keeps the default_transaction_read_only with which it began, and an idle worker has not noticed a
 * change of it: if the session turns out to be read-only, a new one is tried. */
pawl_code pawl__pg_worker_close(pawl_store *base, pawl_time now, pawl_error *error)
{
    (void)now;
    pawl__pg *store = pawl__pg_of(base);
    pawl__sql_handler_transaction_end(base);
    pawl_code code = close_row(base, error);
    if (code != PAWL_OK && store->main.is_read_only) {
        code = pawl__pg_ready(base, error);
        if (code == PAWL_OK)
            code = close_row(base, error);
    }
    if (code == PAWL_OK)
        unlock(store);
    base->is_attached = false;
    return code;
}

/* Behind a pooler workers have no session locks, and a missed heartbeat alone is no proof of a crash. */
pawl_code pawl__pg_worker_crashed(pawl_store *base, pawl_arena *arena, pawl_worker_info **items,
                                  size_t *count, pawl_error *error)
{
    if (pawl__pg_share_is_away(pawl__pg_of(base))) {
        *count = 0;
        return PAWL_OK;
    }
    if (!pawl__pg_of(base)->is_pooled)
        return pawl__sql_worker_crashed(base, arena, items, count, error);
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "postgres: behind a pooler crashed workers cannot be detected");
}

/* Raises the epoch and reads the id of the last commit. Waits, but not for long, for a transaction that still has
 * the row locked. */
static pawl_code raise_epoch(pawl__pg *store, int64_t *epoch, pawl_uuid *last, pawl_error *error)
{
    const pawl_text  lock_ms = PAWL_TEXT(RAISE_LOCK_MS);
    pawl__pg_request wait, request;
    pawl__pg_begin_on(&store->main, error);
    pawl__pg_send_with(&wait, &store->main, PAWL__PG_LOCK_TIMEOUT, &pawl__one_text, &lock_ms,
                       error);
    pawl__pg_send_with(&request, &store->main, PAWL__PG_WORKER_RAISE, &pawl__one_uuid,
                       &store->sql.base.worker.uuid, error);
    pawl_code code = pawl__pg_await(&store->main, error);
    if (code == PAWL_OK && !pawl__pg_next(&request))
        code = pawl_error_set(error, PAWL_EFENCED, "postgres: this worker has no row any longer");
    if (code == PAWL_OK) {
        *epoch = pawl__pg_get_int(&request);
        *last  = pawl__pg_get_uuid(&request);
        note_row(store, &request);
    }
    pawl__pg_end(&wait);
    pawl__pg_end(&request);
    if (code == PAWL_OK) {
        pawl__pg_send_plain(&store->main, PAWL__PG_TRANSACTION_COMMIT, error);
        code = pawl__pg_await(&store->main, error);
    }
    if (code == PAWL_OK)
        store->main.in_transaction = false;
    else
        pawl__pg_rollback_transaction(&store->main);
    return code;
}

static pawl_code run_briefly(pawl__pg_request *request)
{
    pawl__pg_connection *connection  = request->connection;
    int64_t              deadline_ms = connection->deadline_ms;
    connection->deadline_ms          = deadline_ms < LOOK_MS ? deadline_ms : LOOK_MS;
    pawl_code code                   = pawl__pg_run(request);
    connection->deadline_ms          = deadline_ms;
    return code;
}

bool pawl__pg_end_commit_of(pawl__pg_connection *connection, pawl_uuid worker)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, connection, PAWL__PG_END_HOLDER_OF, NULL);
    pawl__pg_put_uuid(&request, worker);
    bool is_ended =
        run_briefly(&request) == PAWL_OK && pawl__pg_next(&request) && pawl__pg_get_bool(&request);
    pawl__pg_end(&request);
    return is_ended;
}

void pawl__pg_end_holder(pawl__pg *store, pawl__pg_connection *connection)
{
    (void)pawl__pg_end_commit_of(connection, store->sql.base.worker.uuid);
}

void pawl__pg_end_standing(pawl__pg *store, pawl__pg_connection *connection)
{
    pawl__pg_request request;
    int64_t          stand_ms = store->sql.base.deadline_ms;
    stand_ms                  = stand_ms < STAND_MS_MIN   ? STAND_MS_MIN
                                : stand_ms > STAND_MS_MAX ? STAND_MS_MAX
                                                          : stand_ms;
    pawl__pg_begin(&request, connection, PAWL__PG_END_STANDING_OF, NULL);
    pawl__pg_put_int(&request, stand_ms);
    pawl__pg_put_int(&request, pawl__pg_turn_number(store));
    if (run_briefly(&request) == PAWL_OK && pawl__pg_rows(&request) > 0)
        pawl_log(PAWL_LOG_WARNING,
                 "postgres: %s: %lld sessions hung inside a commit for %lld ms while others "
                 "waited for them: they were ended",
                 store->given, (long long)pawl__pg_rows(&request), (long long)stand_ms);
    pawl__pg_end(&request);
}

static pawl_code try_to_raise(pawl__pg *store, int64_t *epoch, pawl_uuid *last, pawl_error *error)
{
    pawl_code code = pawl__pg_ready(&store->sql.base, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_rollback_transaction(&store->main);
    if (store->side.is_lost) {
        int64_t number = store->side.session_number;
        pawl__pg_disconnect(&store->side);
        if (number != 0)
            pawl__pg_end_session(&store->main, number);
        pawl__pg_end_holder(store, &store->main);
    }
    code = raise_epoch(store, epoch, last, error);
    if (code == PAWL_EBUSY)
        pawl__pg_end_holder(store, &store->main);
    return code;
}

/* The tries of a resolve share one deadline, so that a connection that hangs uses up the time only once. */
static pawl_code resolve(pawl_store *base, pawl_uuid commit_id, bool *is_applied, pawl_error *error)
{
    pawl__pg *store         = pawl__pg_of(base);
    int64_t   epoch         = 0;
    pawl_uuid last          = {{0}};
    store->main.deadline_ms = pawl__pg_rest_ms(store);
    pawl_code code          = try_to_raise(store, &epoch, &last, error);
    if (code != PAWL_OK)
        return code;
    base->epoch         = epoch;
    store->claims.count = 0;
    *is_applied         = pawl_uuid_compare(last, commit_id) == 0;
    return PAWL_OK;
}

/* The commit id in the worker's row is that of its last commit. Connecting again has ended an old session of this
 * worker, if it was found; a commit that it had under way is over, or ends before the row can be locked. */
pawl_code pawl__pg_resolve(pawl_store *base, pawl_uuid commit_id, bool *is_applied,
                           pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl__sql_handler_transaction_end(base);
    store->until_ms = pawl__clock_ms() + base->deadline_ms;
    pawl_code code  = pawl__wait_resolve(base, &store->wait, store->until_ms, resolve, commit_id,
                                         is_applied, error);
    store->until_ms = 0;
    store->main.deadline_ms = base->deadline_ms;
    return code;
}

/* ---- Sweeping ------------------------------------------------------------ */

pawl_code pawl__pg_worker_sweep(pawl__pg *store, pawl_time before, size_t count_max, int64_t *count,
                                bool *more, pawl_error *error)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, pawl__pg_in_use(store), PAWL__PG_WORKER_DEAD_LIST, error);
    pawl__pg_put_time(&request, store->last_now);
    pawl__pg_put_time(&request, before);
    pawl__pg_put_int(&request, (int64_t)count_max);
    pawl_code code  = pawl__pg_run(&request);
    size_t    ended = 0;
    while (code == PAWL_OK && pawl__pg_next(&request)) {
        pawl_uuid id           = pawl__pg_get_uuid(&request);
        bool      has_timeouts = pawl__pg_get_bool(&request);
        code                   = end_worker(store, id, true, has_timeouts, error);
        ended++;
    }
    pawl__pg_end(&request);
    *count += (int64_t)ended;
    *more |= ended == count_max;
    return code;
}
