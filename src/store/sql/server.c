/* server.c - waiting for new rows by polling, heartbeats, and repeating calls after a deadlock. See server.h.
 *
 * A check is one statement that returns the largest keys of four tables. They are kept from one wait to the next, so
 * that a commit between an empty claim and the wait is not missed. An update (a retry, a timeout set again) changes
 * none of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/server.h"

#include "store/sql/operations.h"
#include "store/sql/row_statements.h"

#define BEAT_MS 5000
#define TRIES_MAX 20

pawl_code pawl__sql_server_open(pawl_store *store, pawl__sql_server *server, pawl_error *error)
{
    ((pawl__sql_store *)store)->server = server;
    return pawl__wait_open(&server->wait, store->scheme, error);
}

void pawl__sql_interrupt(pawl_store *store)
{
    pawl__wait_interrupt(&((pawl__sql_store *)store)->server->wait);
}

/* ---- Heartbeats ---------------------------------------------------------- */

/* Releases the claims of dead workers, which are rows here: they do not end with the session. */
static pawl_code free_dead(pawl_store *store, pawl_error *error)
{
    pawl_code code = pawl__sql_stamp_begin(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_stamp_end(store, pawl__sql_free_dead(store, error), error);
    return code == PAWL_EBUSY ? PAWL_OK : code; /* another worker does it */
}

static pawl_code beat_once(pawl_store *store, pawl_uuid worker, pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_WORKER_HEARTBEAT, &pawl__one_uuid, &worker, NULL, 0};
    return pawl__sql_read_first(store, &asked, NULL, NULL, error);
}

/* Sends a heartbeat, if workers have no lock and the last one was sent at least BEAT_MS ago. */
static pawl_code beat(pawl_store *store, pawl__sql_server *server, pawl_error *error)
{
    int64_t now_ms = pawl__clock_ms();
    if (!server->beats || !store->is_attached || now_ms - server->beat_ms < BEAT_MS)
        return PAWL_OK;
    server->beat_ms = now_ms;
    pawl_code code  = beat_once(store, store->worker.uuid, error);
    return code == PAWL_OK && server->frees_dead ? free_dead(store, error) : code;
}

pawl_code pawl__sql_worker_heartbeat(pawl_store *store, const pawl_worker_id *workers, size_t count,
                                     pawl_time now, pawl_error *error)
{
    const pawl__sql_server *server = ((pawl__sql_store *)store)->server;
    pawl_code               code   = PAWL_OK;
    (void)now; /* the server's clock counts */
    if (!server->beats)
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "%s: workers hold a session lock and send no heartbeats",
                              store->scheme);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = beat_once(store, workers[i].uuid, error);
    return code;
}

/* ---- Waiting ------------------------------------------------------------- */

typedef struct news {
    int64_t numbers[PAWL__SQL_NEWS_COUNT];
} news;

static pawl_code check(pawl_store *store, bool *is_news, int *session_fd, pawl_error *error)
{
    static const pawl__field numbers[] = {
        PAWL__AS_OF(news, numbers[0], INT), PAWL__AS_OF(news, numbers[1], INT),
        PAWL__AS_OF(news, numbers[2], INT), PAWL__AS_OF(news, numbers[3], INT)};
    static const pawl__field_list columns = PAWL__FIELD_ARRAY(numbers);
    const pawl__sql_asked         asked   = {PAWL__SQL_NEWS, NULL, NULL, &columns, 0};
    pawl__sql_server             *server  = ((pawl__sql_store *)store)->server;
    news                          found   = {{0}};
    pawl_code                     code = pawl__sql_read_first(store, &asked, NULL, &found, error);
    for (size_t i = 0; code == PAWL_OK && i < PAWL__SQL_NEWS_COUNT; i++)
        if (found.numbers[i] > server->news[i]) {
            server->news[i] = found.numbers[i];
            *is_news        = true;
        }
    *session_fd = pawl__sql_ops_of(store)->session_fd(store);
    return code;
}

static pawl_code begin_wait(pawl_store *store, pawl__sql_server *server, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    if (((pawl__sql_store *)store)->in_handler_transaction)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: cannot wait while a handler transaction is open", store->scheme);
    if (ops->rest != NULL)
        ops->rest(store);
    return beat(store, server, error);
}

pawl_code pawl__sql_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__sql_server *server = ((pawl__sql_store *)store)->server;
    pawl_code         code   = begin_wait(store, server, error);
    return code == PAWL_OK
               ? pawl__wait_for_news(store, &server->wait, microseconds, wake_fd, check, error)
               : code;
}

/* ---- Repeating calls ------------------------------------------------------- */

/* In a handler transaction a call is not repeated, since a deadlock also undoes the handler's own statements. On
 * SQLite (neither server nor `finish`) it is not repeated either: there are no deadlocks, and PAWL_EBUSY means that a
 * wait for the lock timed out. */
pawl__sql_tries pawl__sql_tries_begin(pawl_store *store)
{
    const pawl__sql_store *own = (const pawl__sql_store *)store;
    if ((own->server == NULL && own->ops->finish == NULL) || own->in_handler_transaction)
        return (pawl__sql_tries){.store = NULL};
    return (pawl__sql_tries){.store = store, .begun_ms = pawl__clock_ms()};
}

/* PAWL_EBUSY: the server rolled the transaction back, after a deadlock or, on a cluster, a conflicting change on
 * another node. The call is repeated at once, but not after a wait for a lock that took the whole deadline. */
bool pawl__sql_again(pawl__sql_tries *tries, pawl_code code)
{
    return code == PAWL_EBUSY && tries->store != NULL &&
           pawl__clock_ms() - tries->begun_ms < tries->store->deadline_ms &&
           ++tries->count < TRIES_MAX;
}
