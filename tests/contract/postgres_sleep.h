/* postgres_sleep.h - handles that sleep on PostgreSQL, for the tests of waking.
 *
 * Wake-ups come from another process, or from a session without pawl: nothing
 * in this process wakes the sleepers. Nothing is timed but for "not sooner than";
 * a wake-up that does not come fails after a bound far below the time for which
 * the sleeper lay down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_POSTGRES_SLEEP_H
#define PAWL_TESTS_CONTRACT_POSTGRES_SLEEP_H

#include "contract/postgres_fixture.h"

#include "store/postgres/postgres.h"

#include <pthread.h>

#define SLEEP PAWL_SECONDS(600)
#define WAIT_SECONDS 120

/* ---- Sleeping ----------------------------------------------------------------- */

typedef struct sleeper {
    pawl_store *store;
    pthread_t   thread;
    pawl_code   code;
    pawl_error  error;
} sleeper;

static inline void *sleep_in_store(void *argument)
{
    sleeper *self = argument;
    self->code    = pawl_store_wait(self->store, SLEEP, -1, &self->error);
    return NULL;
}

static inline void lie_down(sleeper *it, pawl_store *store)
{
    *it = (sleeper){.store = store, .code = PAWL_EBUG};
    assert_int_equal(pthread_create(&it->thread, NULL, sleep_in_store, it), 0);
}

static inline void expect_woken(sleeper *it)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS;
    if (pthread_timedjoin_np(it->thread, NULL, &until) != 0)
        fail_msg("slept through it");
    if (it->code != PAWL_OK)
        fail_msg("%s: %s", pawl_code_name(it->code), it->error.text);
}

/* Nothing was found: the handle knows when it means to look again. */
static inline void find_nothing(fixture *p, pawl_store *store, const char *queue)
{
    pawl_next_due next;
    assert_int_equal(claim_some(p, store, queue, NOW, 10).count, 0);
    ok(p, pawl_store_next_due(store, pawl_text_of(queue), NULL, 0, &next, &p->error));
}

static inline void sleep_briefly(fixture *p, pawl_store *store)
{
    ok(p, pawl_store_wait(store, PAWL_MILLISECONDS(1), -1, &p->error));
}

/* A handle that sleeps for the queue, and whose locks are taken. */
static inline pawl_store *open_sleeper(fixture *p, const char *queue)
{
    pawl_store *store = open_store(p, p->url);
    find_nothing(p, store, queue);
    sleep_briefly(p, store);
    find_nothing(p, store, queue);
    return store;
}

/* Not woken by what came before: it sleeps as long as it is told. */
static inline void expect_sleeps_on(fixture *p, pawl_store *store)
{
    int64_t begin = clock_ms();
    ok(p, pawl_store_wait(store, PAWL_MILLISECONDS(60), -1, &p->error));
    assert_true(clock_ms() - begin >= 59);
}

/* Woken by what came before: it does not sleep at all. */
static inline void expect_does_not_sleep(fixture *p, pawl_store *store)
{
    int64_t begin = clock_ms();
    ok(p, pawl_store_wait(store, PAWL_SECONDS(WAIT_SECONDS), -1, &p->error));
    assert_true(clock_ms() - begin < WAIT_SECONDS * 1000);
}

/* ---- A NOTIFY that is refused ------------------------------------------------- */

/* On its sessions pg_notify is a function with that body. */
static inline pawl_store *open_with_notify(fixture *p, const char *body)
{
    char        sql[400];
    pawl_store *store = NULL;
    apply_schema(p, p->url, order_tables, 1);
    snprintf(
        sql, sizeof sql,
        "create function pg_notify(text, text) returns void language plpgsql as $$ begin %s; end $$",
        body);
    raw_run(p->pg, sql);
    const char *url = test_text("%s&options=-c%%20search_path%%3D%s,pg_catalog", p->url, p->schema);
    ok(p, open_with(p, url, order_tables, 1, &store));
    return store;
}

/* The statement fails. */
static inline pawl_store *open_unheard(fixture *p)
{
    return open_with_notify(p,
                            "raise 'too many notifications in the queue' using errcode = '54000'");
}

/* The transaction fails at its end, as it does when the server's queue of notifications is full. */
static inline pawl_store *open_unheard_at_end(fixture *p)
{
    raw_run(
        p->pg,
        "create table gate (id int, constraint gate_is_full unique (id) deferrable initially deferred)");
    raw_run(p->pg, "insert into gate values (1)");
    return open_with_notify(p, "insert into gate values (1)");
}

/* ---- The sleepers' lock, seen from outside ------------------------------------ */

static inline int64_t lock_of(pawl_store *store)
{
    pawl__pg *driver = pawl__pg_of(store);
    assert_true(driver->sleeps);
    assert_int_equal(driver->sleep_lock_count, 1);
    return driver->sleep_locks[0];
}

static inline void wait_for_lock(fixture *p, int64_t lock, bool is_granted, int64_t count)
{
    raw_wait(
        p->pg,
        test_text(
            "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ShareLock' "
            "and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = %lld and %s granted",
            (long long)lock, is_granted ? "" : "not"),
        count);
}

/* ---- Rows that nobody hears of -------------------------------------------------- */

#define QUEUE_ROW                                                                              \
    "insert into pawl_queue (\"Queue\", \"Due\", \"Placed\", \"Attempts\", \"Deaths\", "       \
    "\"WaitingSince\", \"Error\", \"MessageId\", \"Type\", \"CorrelationId\", "                \
    "\"CausationId\", \"Headers\", \"Body\") values ('orders', '%s', 'epoch', 0, 0, 'epoch', " \
    "'', 'm', 'ping', '', '', '', '')"
#define TIMEOUT_ROW                                                                   \
    "insert into pawl_timeouts (\"Id\", \"Generation\", \"SagaType\", \"Name\", "     \
    "\"Destination\", \"Due\", \"Attempts\", \"CorrelationId\", \"Headers\") values " \
    "(gen_random_uuid(), 1, '', 't', 'orders', '%s', 0, '', '')"

/* QUEUE_ROW or TIMEOUT_ROW, due at the time. */
static inline void add_row(fixture *p, bool is_timeout, const char *due)
{
    char sql[600];
    if (is_timeout)
        snprintf(sql, sizeof sql, TIMEOUT_ROW, due);
    else
        snprintf(sql, sizeof sql, QUEUE_ROW, due);
    raw_run(p->pg, sql);
}

/* An event of the stream A/1. */
static inline void append_event(fixture *p, pawl_store *store, int64_t version)
{
    COMMIT_OK(p, store, event_append, NOW, .stream = TEXT("A/1"), .version = version,
              .is_first = true,
              .event    = {.type           = TEXT("noted"),
                           .type_version   = 1,
                           .body           = TEXT("{}"),
                           .message_id     = TEXT("m"),
                           .correlation_id = TEXT("m"),
                           .at             = NOW});
}

#endif
