/* wait.c - notices commits of other processes.
 *
 * SQLite has no notifications, but a counter (pragma data_version) that changes when another connection commits;
 * reading it costs a read of shared memory. It is polled with increasing pauses. Its value is kept from one wait to the
 * next, so that a commit between a claim that found nothing and the wait is noticed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define PAUSE_US_MIN 5000
#define PAUSE_US_MAX 100000

pawl_code pawl__sqlite_has_changed(pawl__sqlite *store, bool *changed, pawl_error *error)
{
    const pawl__sql_asked asked   = {PAWL__SQLITE_DATA_VERSION, NULL, NULL, &pawl__one_int, 0};
    int64_t               version = 0;
    pawl_code code = pawl__sql_read_first(&store->sql.base, &asked, NULL, &version, error);
    if (code != PAWL_OK)
        return code;
    *changed            = version != store->data_version;
    store->data_version = version;
    return PAWL_OK;
}

static pawl_code pause_for(int64_t microseconds, int wake_fd, bool *is_woken, pawl_error *error)
{
    struct pollfd wake    = {.fd = wake_fd, .events = POLLIN};
    int           timeout = (int)((microseconds + 999) / 1000);
    int           ready   = poll(&wake, wake_fd >= 0 ? 1 : 0, timeout);
    if (ready < 0 && errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "sqlite: cannot wait: %s", strerror(errno));
    /* A signal also ends the pause: its handler may have asked the caller to stop. */
    *is_woken = ready != 0;
    return PAWL_OK;
}

pawl_code pawl__sqlite_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__sqlite *store    = pawl__sqlite_of(base);
    int64_t       pause_us = PAUSE_US_MIN;
    if (store->sql.in_handler_transaction)
        return pawl_error_set(error, PAWL_EINVAL,
                              "sqlite: cannot wait while a handler transaction is open");
    atomic_store(&store->is_interrupted, false);
    for (;;) {
        bool      is_woken = false;
        pawl_code code     = pawl__sqlite_same_file(store, error);
        if (code == PAWL_OK)
            code = pawl__sqlite_has_changed(store, &is_woken, error);
        if (code != PAWL_OK || is_woken || microseconds <= 0)
            return code;
        int64_t slice = pause_us < microseconds ? pause_us : microseconds;
        code          = pause_for(slice, wake_fd, &is_woken, error);
        if (code != PAWL_OK)
            return code;
        if (atomic_load(&store->is_interrupted))
            return pawl_error_set(error, PAWL_EINTERRUPTED, "sqlite: the wait was interrupted");
        if (is_woken)
            return PAWL_OK;
        microseconds -= slice;
        pause_us = pause_us * 3 / 2 < PAUSE_US_MAX ? pause_us * 3 / 2 : PAUSE_US_MAX;
    }
}

void pawl__sqlite_interrupt(pawl_store *base)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    atomic_store(&store->is_interrupted, true);
    pthread_mutex_lock(&store->mutex);
    if (store->connection.db != NULL)
        sqlite3_interrupt(store->connection.db);
    pthread_mutex_unlock(&store->mutex);
}
