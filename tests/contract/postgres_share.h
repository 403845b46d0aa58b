/* postgres_share.h - handles that lend one another their sessions, and their keeper, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_POSTGRES_SHARE_H
#define PAWL_TESTS_CONTRACT_POSTGRES_SHARE_H

#include "contract/postgres_sleep.h"
#include "contract/postgres_trouble.h"
#include "store/postgres/share.h"

#include <sys/eventfd.h>

static inline int share_setup(void **state)
{
    int result = trouble_setup(state);
    if (result == 0) {
        fixture *p    = *state;
        size_t   size = strlen(p->url);
        snprintf(p->url + size, sizeof p->url - size, "&sessions=2");
    }
    return result;
}

#define SHARED(function, parameter) FIXTURE_TEST(function, parameter, share_setup)

static inline struct pawl__pg_share *share_of(pawl_store *store)
{
    return pawl__pg_of(store)->member.share;
}

/* The keeper's check is due then: never, unless a test calls for it, so that a NOTIFY alone wakes. */
static inline void set_check(pawl_store *store, int64_t due_ms)
{
    struct pawl__pg_share *share = share_of(store);
    pthread_mutex_lock(&share->keeper_mutex);
    share->checked_ms = due_ms;
    pthread_mutex_unlock(&share->keeper_mutex);
    (void)eventfd_write(share->kick_fd, 1);
}

#define NEVER INT64_C(1000000000000000)

/* Handles with a worker each that wait for the same queue, and have lent their sessions. */
static inline void open_idle(fixture *p, pawl_store **handles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        handles[i] = i == 0 ? open_store(p, p->url) : open_more(p, p->url);
        find_nothing(p, handles[i], "orders");
        sleep_briefly(p, handles[i]);
    }
    set_check(handles[0], NEVER);
}

static inline void wait_for_waiter(pawl_store *store, bool is_it)
{
    struct pawl__pg_share *share      = share_of(store);
    bool                   is_waiting = !is_it;
    for (int64_t end = clock_ms() + PATIENCE_MS; is_waiting != is_it;) {
        assert_true(clock_ms() < end);
        pthread_mutex_lock(&share->mutex);
        is_waiting = pawl__pg_of(store)->member.is_waiting;
        pthread_mutex_unlock(&share->mutex);
    }
}

/* Of the session that the handle has: pid_of would make it a handler's. */
static inline int lent_pid(pawl_store *store)
{
    return PQbackendPID(pawl__pg_of(store)->main.pg);
}

/* The back end that listens for all. */
static inline int keeper_pid(fixture *p)
{
    char sql[300];
    snprintf(
        sql, sizeof sql,
        "select min(pid) from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and pid in "
        "(select pid from pg_stat_activity where application_name = '%s')",
        p->schema);
    return (int)raw_number(p->pg, sql);
}

#endif
