/* server.c - news by polling: a wait checks whether rows came. A change in place (a retry, a timeout that is set anew)
 * shows in no number.
 *
 * A check is one statement of four numbers, each the end of a primary key. The numbers are remembered
 * from one wait to the next: a commit between a claim that found nothing and the wait is not missed.
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

/* The claims of a worker that died with its session are rows, which nobody else would free. */
static pawl_code free_dead(pawl_store *store, pawl_error *error)
{
    pawl_code code = pawl__sql_stamp_begin(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_stamp_end(store, pawl__sql_free_dead(store, error), error);
    return code == PAWL_EBUSY ? PAWL_OK : code; /* another worker does the same */
}

static pawl_code beat_once(pawl_store *store, pawl_uuid worker, pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_WORKER_BEAT, &pawl__one_uuid, &worker, NULL, 0};
    return pawl__sql_read_first(store, &asked, NULL, NULL, error);
}

/* Says that the worker lives, where no lock does and the last time is long ago. */
static pawl_code beat(pawl_store *store, pawl__sql_server *server, pawl_error *error)
{
    int64_t now_ms = pawl__clock_ms();
    if (!server->beats || !store->is_attached || now_ms - server->beat_ms < BEAT_MS)
        return PAWL_OK;
    server->beat_ms = now_ms;
    pawl_code code  = beat_once(store, store->worker.uuid, error);
    return code == PAWL_OK && server->frees_dead ? free_dead(store, error) : code;
}

pawl_code pawl__sql_worker_beat(pawl_store *store, const pawl_worker_id *workers, size_t count,
                                pawl_time now, pawl_error *error)
{
    const pawl__sql_server *server = ((pawl__sql_store *)store)->server;
    pawl_code               code   = PAWL_OK;
    (void)now; /* the server's clock counts */
    if (!server->beats)
        return pawl_error_set(error, PAWL_EUNSUPPORTED, "%s: a worker lives by its session",
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
    if (((pawl__sql_store *)store)->in_hold)
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

/* ---- Again --------------------------------------------------------------- */

/* Within a hold the handler's own statements were undone, too, which nobody can do again here. SQLite, whose
 * driver has neither a server nor `finish`, has no deadlocks: PAWL_EBUSY says that its lock was waited for in vain. */
pawl__sql_tries pawl__sql_tries_begin(pawl_store *store)
{
    const pawl__sql_store *own = (const pawl__sql_store *)store;
    if ((own->server == NULL && own->ops->finish == NULL) || own->in_hold)
        return (pawl__sql_tries){.store = NULL};
    return (pawl__sql_tries){.store = store, .begun_ms = pawl__clock_ms()};
}

/* A deadlock is told to one of its transactions, and a cluster tells it to whoever changed what another
 * node had changed: it is undone, and done again at once. A wait for a lock that took the
 * whole deadline is none of these. */
bool pawl__sql_again(pawl__sql_tries *tries, pawl_code code)
{
    return code == PAWL_EBUSY && tries->store != NULL &&
           pawl__clock_ms() - tries->begun_ms < tries->store->deadline_ms &&
           ++tries->count < TRIES_MAX;
}
