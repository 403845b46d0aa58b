/* test_runtime_postgres.c - endpoints on PostgreSQL are woken by what others commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/ping.h"
#include "support/tests.h"

#ifdef PAWL_HAVE_POSTGRES

#include "contract/postgres_fixture.h"
#include "pawl/store_alarm.h"
#include "support/thread.h"

RECORD(order_state, (TEXT, order_id));
RECORD(place_order, (TEXT, order_id));
static atomic_int payments;

static pawl_code on_place_order(pawl_context *ctx, order_state *order, const place_order *message)
{
    return pawl_timeout(ctx, "payment", PAWL_MILLISECONDS(300));
}
PAWL_HANDLER(on_place_order, order_state, place_order);

static pawl_code on_payment(pawl_context *ctx, order_state *order)
{
    atomic_fetch_add(&payments, 1);
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_payment, order_state);

static const pawl_saga order_saga =
    SAGA_OF("Order", order_state, "order_id",
            {.handle = PAWL_HANDLE(on_place_order), .key = "order_id", .starts = true},
            {.handle = PAWL_HANDLE(on_payment), .timeout = "payment"});
static const pawl_endpoint_spec orders      = {.name = "orders", .sagas = PAWL_SAGAS(&order_saga)};
static const pawl_application   application = APPLICATION("waking", &plain, &orders);

/* ---- Waking ------------------------------------------------------------------- */

/* As many sessions of the schema's wait for their clients, and hold the lock that
 * sleepers share. The lock's number is in no table: all of the database are seen. */
static void wait_for_sleepers(fixture *p, int wanted)
{
    patience    left = patience_of(THREAD_SECONDS);
    const char *sql =
        test_text("select count(*) from pg_locks as l join pg_stat_activity as a on a.pid = l.pid "
                  "where l.locktype = 'advisory' and l.mode = 'ShareLock' and l.granted "
                  "and a.state = 'idle' and a.application_name = '%s'",
                  p->schema);
    while (raw_number(p->pg, sql) != wanted)
        patience_wait(&left, "%d workers do not sleep", wanted);
}

/* Sent by a session without pawl. Without a call they would sleep for a minute. */
ON_FIXTURE(messages_of_others_wake_all_workers, fixture *p)
{
    world_make_tables(p->url, &application);
    atomic_store(&ping_count, 0);
    snprintf(p->url + strlen(p->url), sizeof p->url - strlen(p->url), "&application_name=%s",
             p->schema);
    runner_begin(&application, "plain", p->url, (pawl_endpoint_options){.workers = 4});
    for (int i = 1; i <= 10; i++) {
        wait_for_sleepers(p, 4);
        raw_run(p->pg, "select pawl_send('plain', 'ping', '{\"number\":1}')");
        wait_for_count(&ping_count, i);
    }
}

/* The worker sleeps until then, not for the minute that it would sleep else. */
ON_FIXTURE(a_worker_sleeps_until_its_timeout, fixture *p)
{
    world_make_tables(p->url, &application);
    atomic_store(&payments, 0);
    snprintf(p->url + strlen(p->url), sizeof p->url - strlen(p->url), "&application_name=%s",
             p->schema);
    runner_begin(&application, "orders", p->url,
                 (pawl_endpoint_options){.workers = 1, .no_service = true});
    wait_for_sleepers(p, 1);
    raw_run(p->pg, "select pawl_send('orders', 'place_order', '{\"order_id\":\"o-1\"}')");
    wait_for_count(&payments, 1);
    raw_run(p->pg, "select pawl_send('orders', 'place_order', '{\"order_id\":\"o-2\"}')");
    wait_for_count(&payments, 2);
}

/* ---- A call that is lost -------------------------------------------------------- */

static atomic_int delivered;

static pawl_code take(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        items[i].outcome = PAWL_ATTEMPT_SUCCESS;
    atomic_fetch_add(&delivered, (int)count);
    return PAWL_OK;
}

static const pawl_transport_ops outbound = PAWL_OUTBOUND(take);
static const pawl_route         routes[] = {{.name = "far", .outbound = &outbound}, {.name = NULL}};

/* Leaves a row of the outbox in a table of the test's own. */
static void keep_row(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    COMMIT_OK(p, store, outbox_add, NOW, .endpoint = PAWL_TEXT("plain"),
              .destination = PAWL_TEXT("far"), .dispatch_id = {{{1}}},
              .message = {.id = PAWL_TEXT("m"), .type = PAWL_TEXT("ping"), .body = PAWL_TEXT("{}")},
              .at      = NOW);
    test_now(store);
    raw_run(p->pg, "create table kept as select * from pawl_outbox");
    raw_run(p->pg, "delete from pawl_outbox");
}

/* All sleep, and the row is committed without a word: the next look finds it. */
ON_FIXTURE(o21_a_lost_notification_delays_until_the_next_look, fixture *p)
{
    world_make_tables(p->url, &application);
    keep_row(p);
    atomic_store(&delivered, 0);
    snprintf(p->url + strlen(p->url), sizeof p->url - strlen(p->url), "&application_name=%s",
             p->schema);
    runner_begin(
        &application, "plain", p->url,
        (pawl_endpoint_options){.workers = 1, .routes = routes, .outbox_idle = PAWL_SECONDS(2)});
    wait_for_sleepers(p, 2);
    raw_run(p->pg, "insert into pawl_outbox select * from kept");
    assert_int_equal(atomic_load(&delivered), 0);
    wait_for_count(&delivered, 1);
}

/* ---- A connection that is lost ---------------------------------------------------- */

static pawl_code refuse(pawl_transport *transport, pawl_delivery *items, size_t count,
                        pawl_arena *arena, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EUNREACHABLE, "nobody is there");
}

static const pawl_transport_ops nowhere = PAWL_OUTBOUND(refuse);
static const pawl_route no_routes[]     = {{.name = "far", .outbound = &nowhere}, {.name = NULL}};

/* A row of the outbox is there; a handle of the test's own. */
static pawl_store *put_row(fixture *p)
{
    world_make_tables(p->url, &application);
    keep_row(p);
    raw_run(p->pg, "insert into pawl_outbox select * from kept");
    return open_store(p, p->url);
}

static void begin_unreachable(fixture *p, int64_t delay, int64_t delay_max)
{
    snprintf(p->url + strlen(p->url), sizeof p->url - strlen(p->url), "&application_name=%s",
             p->schema);
    runner_begin(&application, "plain", p->url,
                 (pawl_endpoint_options){.workers          = 1,
                                         .routes           = no_routes,
                                         .outbox_delay     = delay,
                                         .outbox_delay_max = delay_max});
}

/* The alarm stands, and both sessions are from after that time, in microseconds. */
static void wait_for_alarm(fixture *p, pawl_store *store, int64_t after)
{
    patience        left = patience_of(THREAD_SECONDS);
    pawl_alarm_rows rows = {.count = 0};
    const char     *sql =
        test_text("select count(*) from pg_stat_activity where application_name = '%s' "
                  "and extract(epoch from backend_start) * 1000000 > %lld",
                  p->schema, (long long)after);
    for (;;) {
        ok(p, pawl_store_alarms(store, p->arena, &rows, &p->error));
        if (rows.count == 1 && raw_number(p->pg, sql) == 2)
            return;
        patience_wait(&left, "%zu alarms stand", rows.count);
    }
}

/* A service that lost its connection between two commits takes its lock again in the same epoch, and what it raised
 * stands; else it raises it anew. */
ON_FIXTURE(o23_an_alarm_outlives_the_connection, fixture *p)
{
    pawl_store *store = put_row(p);
    const char *sql =
        test_text("select count(pg_terminate_backend(pid)) from pg_stat_activity where "
                  "application_name = '%s'",
                  p->schema);
    begin_unreachable(p, PAWL_MILLISECONDS(100), PAWL_SECONDS(1));
    wait_for_alarm(p, store, 0);
    for (int i = 0; i < 3; i++) {
        int64_t now =
            raw_number(p->pg, "select (extract(epoch from clock_timestamp()) * 1000000)::bigint");
        assert_true(raw_number(p->pg, sql) > 0);
        wait_for_alarm(p, store, now);
    }
}

/* The one that does not lead sends nothing before. */
ON_FIXTURE(o20_another_process_sends_when_the_leaders_connection_drops, fixture *p)
{
    const pawl_endpoint_options options = {.routes = routes};
    const char *ended = test_text("select count(pg_terminate_backend(pid, 60000) or null) from "
                                  "pg_stat_activity where application_name = '%s'",
                                  p->schema);
    world_make_tables(p->url, &application);
    keep_row(p);
    atomic_store(&delivered, 0);
    const char *named = test_text("%s&application_name=%s", p->url, p->schema);
    world      *first = world_begin(named, &application, "plain", &options);
    world_drain(first);
    world *second = world_begin(p->url, &application, "plain", &options);
    raw_run(p->pg, "insert into pawl_outbox select * from kept");
    world_drain(second);
    assert_int_equal(atomic_load(&delivered), 0);
    assert_true(raw_number(p->pg, ended) > 0);
    pawl_step step = PAWL_STEP_INIT;
    assert_int_not_equal(pawl_endpoint_step(first->endpoint, &step, world_error()), PAWL_OK);
    world_drain(second);
    assert_int_equal(atomic_load(&delivered), 1);
}

/* While a route is away no claim takes its rows off the outbox, whose rows would wake the service again and again. */
ON_FIXTURE(o12_a_service_sleeps_while_its_route_is_away, fixture *p)
{
    patience        left  = patience_of(THREAD_SECONDS);
    pawl_alarm_rows rows  = {.count = 0};
    pawl_store     *store = put_row(p);
    const char *sql = test_text("select sum(extract(epoch from state_change) * 1000000)::bigint "
                                "from pg_stat_activity where application_name = '%s'",
                                p->schema);
    begin_unreachable(p, PAWL_MINUTES(1), PAWL_MINUTES(1));
    while (rows.count == 0) {
        patience_wait(&left, "no alarm stands");
        ok(p, pawl_store_alarms(store, p->arena, &rows, &p->error));
    }
    wait_for_sleepers(p, 2);
    int64_t last = 0;
    for (int same = 0; same < 20;) { /* without rest they change with each look */
        int64_t now = raw_number(p->pg, sql);
        same        = now == last ? same + 1 : 0;
        last        = now;
        if (same == 0)
            patience_wait(&left, "the sessions do not sleep");
    }
}

/* Nobody calls there. */
ON_FIXTURE(behind_a_pooler_workers_poll, fixture *p)
{
    const char *pooler = getenv("PAWL_TEST_PGBOUNCER");
    if (pooler == NULL || pooler[0] == '\0') {
        if (!server_may_be_missing("pgbouncer"))
            fail_msg("PAWL_TEST_PGBOUNCER names no server");
        print_message("PAWL_TEST_PGBOUNCER names no server\n");
        skip();
    }
    world_make_tables(p->url, &application);
    atomic_store(&ping_count, 0);
    runner_begin(
        &application, "plain",
        test_text("%s%cschema=%s", pooler, strchr(pooler, '?') != NULL ? '&' : '?', p->schema),
        (pawl_endpoint_options){.workers = 2});
    for (int i = 1; i <= 3; i++) {
        raw_run(p->pg, "select pawl_send('plain', 'ping', '{\"number\":1}')");
        wait_for_count(&ping_count, i);
    }
}

#endif
