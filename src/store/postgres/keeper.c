/* keeper.c - the keeper of a share (share.h): its session has the locks of all handles, its thread wakes them.
 *
 * keeper_mutex guards the keeper's session, and of each handle the locks in it (lock_number, sleeps, sleep_locks).
 * The thread uses them, and handles that begin or end sleeping. `mutex` guards what a waiting handle has claimed
 * from, which the thread reads for its check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/share.h"

#include "store/core/wait.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

#define AWAY_MS_MIN 200

/* ---- Waking ------------------------------------------------------------- */

/* Under mutex. */
static void wake(pawl__pg *store)
{
    store->member.is_woken = true;
    (void)eventfd_write(store->member.fd, 1);
}

static void wake_all(struct pawl__pg_share *share)
{
    pthread_mutex_lock(&share->mutex);
    for (pawl__pg *store = share->members; store != NULL; store = store->member.next)
        if (store->sleeps || store->member.is_waiting)
            wake(store);
    pthread_mutex_unlock(&share->mutex);
}

/* Compares with the locks of the handle in the keeper's session: what it claims from may change while it works. */
static bool is_for_it(const pawl__pg *store, const PGnotify *notify, int64_t lock)
{
    bool is_for = notify->extra[0] == '\0';
    for (size_t i = 0; i < store->sleep_lock_count; i++)
        is_for |= store->sleep_locks[i] == lock;
    return is_for;
}

static void take_notifies(struct pawl__pg_share *share)
{
    PGconn   *pg = share->keeper.main.pg;
    PGnotify *notify;
    pthread_mutex_lock(&share->mutex);
    while (pg != NULL && (notify = PQnotifies(pg)) != NULL) {
        int64_t lock = pawl__pg_payload_lock(&share->keeper, notify->extra);
        for (pawl__pg *store = share->members; store != NULL; store = store->member.next)
            if (is_for_it(store, notify, lock))
                wake(store);
        PQfreemem(notify);
    }
    pthread_mutex_unlock(&share->mutex);
}

/* ---- The keeper --------------------------------------------------------- */

pawl_code pawl__pg_connect_directly(pawl__pg *store, pawl__pg_connection *connection,
                                    pawl_error *error)
{
    store->is_pooled = false; /* may be another server than last time */
    pawl_code code   = pawl__pg_connect(store, connection, error);
    if (code != PAWL_OK || !store->is_pooled)
        return code;
    pawl__pg_disconnect(connection);
    return pawl__pg_refuse_sessions(store, error);
}

/* Under keeper_mutex no handle leaves; one that joins has no locks yet. */
static pawl__pg *first_member(struct pawl__pg_share *share)
{
    pthread_mutex_lock(&share->mutex);
    pawl__pg *first = share->members;
    pthread_mutex_unlock(&share->mutex);
    return first;
}

static pawl_code take_locks(struct pawl__pg_share *share, pawl_error *error)
{
    pawl__pg_connection *connection = &share->keeper.main;
    pawl_code            code       = PAWL_OK;
    for (pawl__pg *store = first_member(share); code == PAWL_OK && store != NULL;
         store           = store->member.next) {
        if (store->lock_number != 0)
            code = pawl__pg_session_lock(connection, store->lock_number, error);
        if (code == PAWL_OK && store->sleeps)
            code = pawl__pg_sleep_locks(store, connection, PAWL__PG_LISTEN_LOCKS, error);
    }
    return code;
}

void pawl__pg_close_idle(struct pawl__pg_share *share)
{
    pthread_mutex_lock(&share->mutex);
    pawl__pg_connection *idle = share->idle;
    share->idle               = NULL;
    share->idle_count         = 0;
    pthread_mutex_unlock(&share->mutex);
    while (idle != NULL) {
        pawl__pg_connection *next = idle->next_idle;
        pawl__pg_disconnect(idle);
        pawl_free(idle);
        idle = next;
    }
}

static bool is_lost(const struct pawl__pg_share *share)
{
    const pawl__pg_connection *main = &share->keeper.main;
    return main->pg == NULL || main->is_lost;
}

/* Connects the keeper if it has no session: sends LISTEN, and takes all locks of the handles. A NOTIFY sent meanwhile
 * was lost, so it wakes all handles; it closes idle sessions, which may be connected to a lost server. */
static pawl_code keeper_connect(struct pawl__pg_share *share, pawl_error *error)
{
    pawl__pg *keeper = &share->keeper;
    if (!is_lost(share))
        return PAWL_OK;
    atomic_store(&share->is_away, share->has_thread);
    if (share->has_thread)
        pawl__pg_close_idle(share);
    pawl_code code = pawl__pg_connect_directly(keeper, &keeper->main, error);
    if (code == PAWL_OK)
        code = pawl__pg_listen(keeper, error);
    if (code == PAWL_OK)
        code = take_locks(share, error);
    if (code != PAWL_OK) {
        pawl__pg_disconnect(&keeper->main);
        return code;
    }
    atomic_store(&share->is_away, false);
    wake_all(share);
    (void)eventfd_write(share->kick_fd, 1);
    return PAWL_OK;
}

static pawl_code check_one(struct pawl__pg_share *share, pawl__pg *store)
{
    pawl__pg_connection *main = &share->keeper.main;
    pawl__pg_request     requests[PAWL__PG_CHECKS];
    pthread_mutex_lock(&share->mutex);
    bool is_waiting = store->member.is_waiting;
    if (is_waiting)
        pawl__pg_check_send(store, main, requests, NULL);
    pthread_mutex_unlock(&share->mutex);
    if (!is_waiting)
        return PAWL_OK;
    pawl_code code   = pawl__pg_await(main, NULL);
    bool      is_due = false;
    for (int i = 0; i < PAWL__PG_CHECKS; i++)
        is_due |= pawl__pg_check_read(&requests[i]);
    pthread_mutex_lock(&share->mutex);
    if (is_due)
        wake(store);
    pthread_mutex_unlock(&share->mutex);
    return code;
}

/* Looks for due rows (queues, outbox, event store) of all handles that wait, in one transaction. */
static void check(struct pawl__pg_share *share)
{
    pawl__pg_connection *main = &share->keeper.main;
    pawl_code            code = PAWL_OK;
    share->checked_ms         = pawl__clock_ms();
    pawl__pg_begin_on(main, NULL);
    for (pawl__pg *store = first_member(share); code == PAWL_OK && store != NULL;
         store           = store->member.next)
        code = check_one(share, store);
    pawl__pg_rollback_transaction(main);
    if (code != PAWL_OK) /* a locked table, say: each handle checks for itself */
        wake_all(share);
    take_notifies(share); /* a NOTIFY that came with an answer does not wake poll */
}

/* A step of the thread, after input, a kick or a timeout. Returns how long it may sleep. */
static int64_t keeper_step(struct pawl__pg_share *share, bool is_readable, int64_t *away_ms)
{
    pawl__pg_connection *main = &share->keeper.main;
    if (is_readable && main->pg != NULL &&
        (PQconsumeInput(main->pg) == 0 || PQstatus(main->pg) == CONNECTION_BAD))
        main->is_lost = true;
    take_notifies(share);
    if (!is_lost(share) && pawl__clock_ms() - share->checked_ms >= PAWL__PG_CHECK_MS)
        check(share);
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code  = keeper_connect(share, &error);
    if (code != PAWL_OK && *away_ms == 0) {
        wake_all(share); /* without the keeper waits are short */
        pawl_log(PAWL_LOG_WARNING, "%s; idle endpoints check every %d s meanwhile", error.text,
                 PAWL__PG_AWAY_MS_MAX / 1000);
    }
    *away_ms = code == PAWL_OK                       ? 0
               : *away_ms == 0                       ? AWAY_MS_MIN
               : *away_ms * 2 < PAWL__PG_AWAY_MS_MAX ? *away_ms * 2
                                                     : PAWL__PG_AWAY_MS_MAX;
    return *away_ms != 0 ? *away_ms : share->checked_ms + PAWL__PG_CHECK_MS - pawl__clock_ms();
}

static void *keep(void *context)
{
    struct pawl__pg_share *share   = context;
    int64_t                away_ms = 0, rest_ms = PAWL__PG_CHECK_MS;
    eventfd_t              count;
    pthread_mutex_lock(&share->keeper_mutex);
    while (!atomic_load(&share->is_ended)) {
        const pawl__pg_connection *main    = &share->keeper.main;
        struct pollfd              list[2] = {
                         {.fd = share->kick_fd, .events = POLLIN},
                         {.fd = main->pg != NULL && !main->is_lost ? PQsocket(main->pg) : -1, .events = POLLIN}};
        pthread_mutex_unlock(&share->keeper_mutex);
        rest_ms = rest_ms < PAWL__PG_CHECK_MS ? rest_ms : PAWL__PG_CHECK_MS;
        (void)poll(list, 2, rest_ms > 0 ? (int)rest_ms : 0);
        (void)eventfd_read(share->kick_fd, &count);
        pthread_mutex_lock(&share->keeper_mutex);
        if (!atomic_load(&share->is_ended))
            rest_ms = keeper_step(share, list[1].revents != 0, &away_ms);
    }
    pthread_mutex_unlock(&share->keeper_mutex);
    return NULL;
}

pawl_code pawl__pg_keeper_enter(struct pawl__pg_share *share, pawl_error *error)
{
    pthread_mutex_lock(&share->keeper_mutex);
    pawl_code code = keeper_connect(share, error);
    if (code == PAWL_OK && !share->has_thread) {
        share->checked_ms = pawl__clock_ms();
        int failed        = pawl__pg_thread_start(&share->thread, keep, share);
        share->has_thread = failed == 0;
        if (failed != 0)
            code =
                pawl_error_set(error, PAWL_EPERSIST, "postgres: no thread: %s", strerror(failed));
    }
    return code;
}

void pawl__pg_keeper_leave(struct pawl__pg_share *share)
{
    take_notifies(share); /* a NOTIFY that came with an answer does not wake the thread */
    if (is_lost(share))   /* makes the thread connect again */
        (void)eventfd_write(share->kick_fd, 1);
    pthread_mutex_unlock(&share->keeper_mutex);
}

/* Ends the session of another handle of the worker, whose thread was given up, and so the row locks of its claims:
 * `store` acts for the worker now. */
static void end_others(const pawl__pg *store, int64_t number)
{
    struct pawl__pg_share *share = store->member.share;
    for (pawl__pg *other = first_member(share); other != NULL; other = other->member.next) {
        int64_t session = atomic_load(&other->member.session);
        if (other != store && session != 0 && other->lock_number == number)
            pawl__pg_end_session(&share->keeper.main, session);
    }
}

pawl_code pawl__pg_share_lock(pawl__pg *store, int64_t number, pawl_error *error)
{
    struct pawl__pg_share *share = store->member.share;
    pawl_code              code  = pawl__pg_keeper_enter(share, error);
    if (code == PAWL_OK)
        end_others(store, number);
    if (code == PAWL_OK)
        code = pawl__pg_session_lock(&share->keeper.main, number, error);
    if (code == PAWL_OK)
        store->lock_number = number;
    pawl__pg_keeper_leave(share);
    return code;
}

bool pawl__pg_share_is_away(pawl__pg *store)
{
    struct pawl__pg_share *share = store->member.share;
    return share != NULL && atomic_load(&share->is_away);
}

void pawl__pg_share_unlock(pawl__pg *store)
{
    struct pawl__pg_share *share = store->member.share;
    pthread_mutex_lock(&share->keeper_mutex);
    if (store->lock_number != 0 && share->keeper.main.pg != NULL)
        pawl__pg_session_unlock(&share->keeper.main, store->lock_number);
    store->lock_number = 0;
    pawl__pg_keeper_leave(share);
}

void pawl__pg_share_stop_sleeping(pawl__pg *store)
{
    struct pawl__pg_share *share = store->member.share;
    pthread_mutex_lock(&share->keeper_mutex);
    if (store->sleeps && share->keeper.main.pg != NULL)
        (void)pawl__pg_sleep_locks(store, &share->keeper.main, PAWL__PG_UNLISTEN_LOCKS, NULL);
    store->sleeps = false;
    pawl__pg_keeper_leave(share);
}
