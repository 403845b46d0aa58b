/* test_runtime_postgres.c - endpoints on PostgreSQL are woken by what others commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_HAVE_POSTGRES
#include <stdio.h>

int main(void)
{
    puts("skipped: built without libpq");
    return 77;
}
#else

#include "contract/postgres_place.h"
#include "support/world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define WAIT_SECONDS 25

/* ---- The application -------------------------------------------------------- */

#define ORDER_STATE(F) F(TEXT, order_id)
PAWL_RECORD(order_state, ORDER_STATE)
#define PLACE_ORDER(F) F(TEXT, order_id)
PAWL_RECORD(place_order, PLACE_ORDER)
#define PING(F) F(INT32, number)
PAWL_RECORD(ping, PING)

static atomic_int pings, payments;

static pawl_code on_place_order(pawl_context *ctx, order_state *order, const place_order *message)
{
    (void)order;
    (void)message;
    return pawl_timeout(ctx, "payment", PAWL_MILLISECONDS(300));
}
PAWL_HANDLER(on_place_order, order_state, place_order);

static pawl_code on_payment(pawl_context *ctx, order_state *order)
{
    (void)ctx;
    (void)order;
    atomic_fetch_add(&payments, 1);
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_payment, order_state);

static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    (void)ctx;
    (void)message;
    atomic_fetch_add(&pings, 1);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

static const pawl_saga order_saga = {
    .name        = "Order",
    .state       = PAWL_RECORD_OF(order_state),
    .correlation = "order_id",
    .on          = (const pawl_on[]){
                 {.handle = PAWL_HANDLE(on_place_order), .key = "order_id", .starts = true},
                 {.handle = PAWL_HANDLE(on_payment), .timeout = "payment"},
                 {.handle = NULL}}};
static const pawl_endpoint_spec plain = {
    .name = "plain", .handlers = (const pawl_on[]){{.handle = PAWL_HANDLE(on_ping)}, {0}}};
static const pawl_endpoint_spec orders      = {.name  = "orders",
                                               .sagas = (const pawl_saga *const[]){&order_saga, NULL}};
static const pawl_application   application = {
      PAWL_APPLICATION_INIT, .name = "waking",
      .endpoints = (const pawl_endpoint_spec *const[]){&plain, &orders, NULL}};

/* ---- Running ------------------------------------------------------------------ */

typedef struct runner {
    pawl_endpoint *endpoint;
    pthread_t      thread;
    pawl_code      code;
    pawl_error     error;
} runner;

static void *run(void *argument)
{
    runner *self = argument;
    self->code   = pawl_endpoint_run(self->endpoint, &self->error);
    return NULL;
}

static void start(runner *it, const char *url, const char *name, pawl_endpoint_options options)
{
    pawl_error error     = PAWL_ERROR_INIT;
    options.options_size = sizeof options;
    options.store        = url;
    *it                  = (runner){.code = PAWL_EBUG};
    world_ok(pawl_endpoint_create(&application, name, &options, &it->endpoint, &error), &error);
    assert_int_equal(pthread_create(&it->thread, NULL, run, it), 0);
}

static void stop(runner *it)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS;
    pawl_endpoint_stop(it->endpoint);
    if (pthread_timedjoin_np(it->thread, NULL, &until) != 0)
        fail_msg("the endpoint does not stop");
    world_ok(it->code, &it->error);
    pawl_endpoint_destroy(it->endpoint);
}

static void apply_tables(place *p)
{
    const pawl_saga_table *const *tables = NULL;
    size_t                        count  = 0;
    for (size_t i = 0; application.endpoints[i] != NULL; i++) {
        expect_code(p,
                    pawl_endpoint_tables(&application, application.endpoints[i]->name, NULL,
                                         p->arena, &tables, &count, &p->error),
                    PAWL_OK);
        apply_schema(p, p->url, tables, count);
    }
}

/* ---- Waking ------------------------------------------------------------------- */

static void wait_for(atomic_int *count, int wanted)
{
    struct timespec moment = {0, 2000000};
    time_t          end    = time(NULL) + WAIT_SECONDS;
    while (atomic_load(count) < wanted) {
        if (time(NULL) > end)
            fail_msg("is %d, waited for %d", atomic_load(count), wanted);
        nanosleep(&moment, NULL);
    }
}

/* As many sessions of the schema's wait for their clients, and hold the lock that
 * sleepers share. The lock's number is in no table: all of the database are seen. */
static void wait_for_sleepers(place *p, int wanted)
{
    struct timespec moment = {0, 2000000};
    time_t          end    = time(NULL) + WAIT_SECONDS;
    char            sql[500];
    snprintf(sql, sizeof sql,
             "select count(*) from pg_locks as l join pg_stat_activity as a on a.pid = l.pid "
             "where l.locktype = 'advisory' and l.mode = 'ShareLock' and l.granted "
             "and a.state = 'idle' and a.application_name = '%s'",
             p->schema);
    while (raw_number(p->pg, sql) != wanted) {
        if (time(NULL) > end)
            fail_msg("%d workers do not sleep", wanted);
        nanosleep(&moment, NULL);
    }
}

/* Sent by a session without pawl. Without a call they would sleep for a minute. */
static void messages_of_others_wake_all_workers(void **state)
{
    place *p = *state;
    runner it;
    apply_tables(p);
    atomic_store(&pings, 0);
    snprintf(p->url + strlen(p->url), sizeof p->url - strlen(p->url), "&application_name=%s",
             p->schema);
    start(&it, p->url, "plain", (pawl_endpoint_options){.workers = 4});
    for (int i = 1; i <= 10; i++) {
        wait_for_sleepers(p, 4);
        raw_run(p->pg, "select pawl_send('plain', 'ping', '{\"number\":1}')");
        wait_for(&pings, i);
    }
    stop(&it);
}

/* The worker sleeps until then, not for the minute that it would sleep else. */
static void a_worker_sleeps_until_its_timeout(void **state)
{
    place *p = *state;
    runner it;
    apply_tables(p);
    atomic_store(&payments, 0);
    snprintf(p->url + strlen(p->url), sizeof p->url - strlen(p->url), "&application_name=%s",
             p->schema);
    start(&it, p->url, "orders", (pawl_endpoint_options){.workers = 1, .no_service = true});
    wait_for_sleepers(p, 1);
    raw_run(p->pg, "select pawl_send('orders', 'place_order', '{\"order_id\":\"o-1\"}')");
    wait_for(&payments, 1);
    raw_run(p->pg, "select pawl_send('orders', 'place_order', '{\"order_id\":\"o-2\"}')");
    wait_for(&payments, 2);
    stop(&it);
}

/* Nobody calls there. */
static void behind_a_pooler_workers_poll(void **state)
{
    place      *p = *state;
    runner      it;
    char        url[1200];
    const char *pooler   = getenv("PAWL_TEST_PGBOUNCER");
    const char *required = getenv("PAWL_REQUIRE");
    const char *missing  = getenv("PAWL_MISSING_SERVERS");
    if (pooler == NULL || pooler[0] == '\0') {
        if (required != NULL && strcmp(required, "all") == 0 &&
            (missing == NULL || strstr(missing, "pgbouncer") == NULL))
            fail_msg("PAWL_TEST_PGBOUNCER names no server");
        print_message("PAWL_TEST_PGBOUNCER names no server\n");
        skip();
    }
    apply_tables(p);
    atomic_store(&pings, 0);
    snprintf(url, sizeof url, "%s%cschema=%s", pooler, strchr(pooler, '?') != NULL ? '&' : '?',
             p->schema);
    start(&it, url, "plain", (pawl_endpoint_options){.workers = 2});
    for (int i = 1; i <= 3; i++) {
        raw_run(p->pg, "select pawl_send('plain', 'ping', '{\"number\":1}')");
        wait_for(&pings, i);
    }
    stop(&it);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, place_setup, place_teardown)
    const struct CMUnitTest tests[] = {
        CASE(messages_of_others_wake_all_workers),
        CASE(a_worker_sleeps_until_its_timeout),
        CASE(behind_a_pooler_workers_poll),
    };
    if (place_server() == NULL)
        return place_skip();
    world_quiet();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
