/* test_mysql_trips.c - how many statements a commit takes on MySQL and MariaDB: changes of one kind go in
 * sets, whatever stands between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifdef PAWL_HAVE_MYSQL

#include "contract/mysql_ground.h"

#define STREAMS 32 /* of two events each: powers of two */

static pawl_store *open_worker(ground *p)
{
    pawl_store *store;
    apply(p);
    ok(p, open_at(p, p->url, 20000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

/* Statements that the store's session has sent so far. */
static long long statements_of(pawl_store *store)
{
    MYSQL *session = pawl_store_native(store, "MYSQL");
    assert_int_equal(mysql_query(session, "show session status like 'Questions'"), 0);
    MYSQL_RES *rows  = mysql_store_result(session);
    long long  found = atoll(mysql_fetch_row(rows)[1]);
    mysql_free_result(rows);
    return found;
}

static long long commit(ground *p, pawl_store *store, pawl_changes *changes)
{
    pawl_refusals refused = {.arena = p->arena};
    long long     before  = statements_of(store);
    ok(p, pawl_store_commit(store, changes, &refused, &p->error));
    assert_int_equal(refused.count, 0);
    return statements_of(store) - before - 1;
}

/* Two events of each stream, behind the first `version`; statements. */
static long long append(ground *p, pawl_store *store, int64_t version)
{
    pawl_event_append events[2 * STREAMS];
    char              names[STREAMS][40];
    for (unsigned i = 0; i < 2 * STREAMS; i++) {
        snprintf(names[i / 2], sizeof names[0], "\"stream\" \\%u", i / 2);
        events[i] = (pawl_event_append){.group    = i / 2,
                                        .unit     = i / 2,
                                        .stream   = pawl_text_of(names[i / 2]),
                                        .version  = version + i % 2 + 1,
                                        .is_first = i % 2 == 0,
                                        .event    = {.type           = TEXT("moved"),
                                                     .type_version   = 1,
                                                     .message_id     = TEXT("m"),
                                                     .correlation_id = TEXT("m"),
                                                     .at             = NOW}};
    }
    pawl_changes changes = {.now          = NOW,
                            .unit_count   = STREAMS,
                            .group_count  = STREAMS,
                            .event_append = {.items = events, .count = 2 * STREAMS}};
    return commit(p, store, &changes);
}

/* Begin, fence, autocommit off, the look at the events before, the events, commit, autocommit on. */
static void streams_go_on_by_one_look_and_one_set(ground *p)
{
    pawl_store *store = open_worker(p);
    for (int64_t version = 0; version < 6; version += 2) {
        long long count = append(p, store, version);
        if (version > 2) /* by then all statements are prepared */
            assert_int_equal(count, 7);
    }
}

/* ---- Reconnects ------------------------------------------------------------ */

/* Memory for the parameters of a set went with the connection. */
static void sets_are_written_after_a_reconnect(ground *p)
{
    pawl_store *store = open_worker(p);
    char        sql[60];
    (void)append(p, store, 0);
    snprintf(sql, sizeof sql, "kill %lu", mysql_thread_id(pawl_store_native(store, "MYSQL")));
    raw_run(p->raw, sql);
    pawl_text id    = TEXT("m");
    bool      known = false;
    pawl_code code  = PAWL_ELOST; /* once, where the end was not seen before the call */
    for (int i = 0; code == PAWL_ELOST && i < 2; i++)
        code = pawl_store_inbox_known(store, TEXT("orders"), &id, 1, &known, &p->error);
    ok(p, code);
    (void)append(p, store, 2);
    assert_int_equal(append(p, store, 4), 7);
}

const struct CMUnitTest tests[] = {
    ON_BOTH(streams_go_on_by_one_look_and_one_set),
    ON_BOTH(sets_are_written_after_a_reconnect),
    {.name = NULL},
};
int (*const tests_missing)(void) = grounds_are_missing;
#endif
