/* watch.c - enforces deadlines and interrupts of ODBC calls, which block.
 *
 * A call registers its connection and deadline with the thread. At the deadline, or on an interrupt, the thread asks
 * the server to end the statement. The outcome is still the statement's own result, since a commit may have succeeded.
 * The end of a call waits for a kill in progress, which could otherwise hit a later statement. If the server no longer
 * answers, the driver's time-out ends the call (driver.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/operations.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define AGAIN_MS 1000

static void wake(const pawl__odbc_watch *watch)
{
    const uint64_t one     = 1;
    ssize_t        written = watch->wake_fd >= 0 ? write(watch->wake_fd, &one, sizeof one) : 0;
    (void)written;
}

/* ---- The thread ---------------------------------------------------------- */

/* Why the call is to be ended; PAWL_OK: it is not. */
static pawl_code why_of(pawl__odbc *store)
{
    if (pawl__wait_take(&store->remote.server.wait))
        return PAWL_EINTERRUPTED;
    return pawl__clock_ms() >= store->watch.until_ms ? PAWL_ETIMEOUT : PAWL_OK;
}

/* Called with the mutex held. A kill that arrives before the statement begins has no effect, so it is repeated until
 * the call returns. */
static void end_if_over(pawl__odbc *store)
{
    pawl__odbc_watch *watch = &store->watch;
    watch->wakes_ms         = INT64_MAX;
    if (watch->connection == NULL)
        return;
    if (!watch->is_broken) {
        watch->connection->session.why = why_of(store);
        watch->is_broken               = watch->connection->session.why != PAWL_OK;
    }
    if (!watch->is_broken) {
        watch->wakes_ms = watch->until_ms;
        return;
    }
    if (store->kind->kill == NULL)
        (void)SQLCancel(watch->connection->running);
    else
        (void)pawl__odbc_kill_query(store, watch->connection->session.id);
    watch->wakes_ms = pawl__clock_ms() + AGAIN_MS;
}

static void *run(void *context)
{
    pawl__odbc       *store = context;
    pawl__odbc_watch *watch = &store->watch;
    uint64_t          count;
    (void)pthread_mutex_lock(&watch->mutex);
    while (!watch->is_ending) {
        end_if_over(store);
        int64_t       rest = watch->wakes_ms - pawl__clock_ms();
        struct pollfd item = {.fd = watch->wake_fd, .events = POLLIN};
        int           wait = watch->wakes_ms == INT64_MAX ? -1 : rest > 0 ? (int)rest : 0;
        (void)pthread_mutex_unlock(&watch->mutex);
        if (poll(&item, 1, wait) > 0 && read(watch->wake_fd, &count, sizeof count) < 0)
            count = 0;
        (void)pthread_mutex_lock(&watch->mutex);
    }
    (void)pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

pawl_code pawl__odbc_watch_start(pawl__odbc *store, pawl_error *error)
{
    pawl__odbc_watch *watch = &store->watch;
    sigset_t          all, old;
    int               failed = pthread_mutex_init(&watch->mutex, NULL);
    watch->wakes_ms          = INT64_MAX;
    watch->wake_fd           = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (watch->wake_fd < 0)
        return pawl_error_set(error, PAWL_EPERSIST, "odbc: no descriptor: %s", strerror(errno));
    /* signals are left to the application's threads */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = failed != 0 ? failed : pthread_create(&watch->thread, NULL, run, store);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    watch->is_started = failed == 0;
    return failed == 0
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "odbc: no thread that watches deadlines: %s",
                                strerror(failed));
}

void pawl__odbc_watch_stop(pawl__odbc *store)
{
    pawl__odbc_watch *watch = &store->watch;
    if (watch->is_started) {
        (void)pthread_mutex_lock(&watch->mutex);
        watch->is_ending = true;
        (void)pthread_mutex_unlock(&watch->mutex);
        wake(watch);
        (void)pthread_join(watch->thread, NULL);
        watch->is_started = false;
        (void)pthread_mutex_destroy(&watch->mutex);
        (void)close(watch->wake_fd);
    }
}

void pawl__odbc_interrupt(pawl_store *base)
{
    pawl__odbc *store = pawl__odbc_of(base);
    pawl__sql_interrupt(base);
    if (store->watch.is_started && pawl__wait_is_ours(&store->remote.server.wait))
        wake(&store->watch);
}

/* ---- The calls ----------------------------------------------------------- */

pawl_code pawl__odbc_call_begin(pawl__odbc_connection *connection, SQLHSTMT stmt, pawl_error *error)
{
    pawl__odbc       *store = pawl__odbc_store_of(connection);
    pawl__odbc_watch *watch = &store->watch;
    int64_t           until = store->remote.server.until_ms;
    pawl_code         code  = pawl__sql_session_check(&connection->session, error);
    if (code != PAWL_OK)
        return code;
    connection->session.why = PAWL_OK;
    if (connection->session.is_callers || !watch->is_started)
        return PAWL_OK;
    until = until != 0 ? until : pawl__clock_ms() + store->remote.sql.base.deadline_ms;
    (void)pthread_mutex_lock(&watch->mutex);
    bool is_asleep = until < watch->wakes_ms;
    bool is_ended  = pawl__wait_take(&store->remote.server.wait);
    if (!is_ended) {
        watch->connection   = connection;
        watch->until_ms     = until;
        watch->is_broken    = false;
        connection->running = stmt;
    }
    (void)pthread_mutex_unlock(&watch->mutex);
    if (is_ended)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "odbc: the call was interrupted");
    if (is_asleep)
        wake(watch);
    return PAWL_OK;
}

void pawl__odbc_call_end(pawl__odbc_connection *connection)
{
    pawl__odbc_watch *watch = &pawl__odbc_store_of(connection)->watch;
    if (connection->session.is_callers || !watch->is_started)
        return;
    (void)pthread_mutex_lock(&watch->mutex);
    connection->running = NULL;
    watch->connection   = NULL;
    watch->ended_ms     = pawl__clock_ms();
    (void)pthread_mutex_unlock(&watch->mutex);
}
