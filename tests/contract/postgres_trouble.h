/* postgres_trouble.h - broken connections, locks and deadlines for tests: calls on a thread of their own, waiting until a session waits, killing it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_POSTGRES_TROUBLE_H
#define PAWL_TESTS_CONTRACT_POSTGRES_TROUBLE_H

#include "contract/postgres_fixture.h"
#include "contract/proxy.h"

#include "store/postgres/postgres.h"

#include <pthread.h>

/* For the end of every transaction of the whole server that is older than one's own: some
 * tests beside this one keep one open for minutes, where the machine is slow. */
#define OTHERS_MS 600000

/* A deadline for calls that cannot keep it. The server has as long to answer the cancel,
 * also when it is busy. */
#define SHORT_MS 2000
#define ENOUGH_MS PATIENCE_MS /* for all others */

/* Every session of the fixture's URL has this name. */
static inline void name_sessions(fixture *p)
{
    size_t size = strlen(p->url);
    snprintf(p->url + size, sizeof p->url - size, "&application_name=%s", p->schema);
}

static inline int trouble_setup(void **state)
{
    int result = fixture_setup(state);
    if (result == 0)
        name_sessions(*state);
    return result;
}

#define ON_TROUBLE(function, parameter) FIXTURE_TEST(function, parameter, trouble_setup)

/* ---- Waiting for others ------------------------------------------------- */

static inline void wait_for_waiting(fixture *p, int64_t number)
{
    raw_wait(p->pg,
             test_text("select count(*) from pg_stat_activity where application_name = '%s' "
                       "and wait_event_type = 'Lock'",
                       p->schema),
             number);
}

/* For the calls to come. */
static inline void set_deadline(pawl_store *store, int64_t deadline_ms)
{
    pawl__pg *driver         = pawl__pg_of(store);
    store->deadline_ms       = deadline_ms;
    driver->main.deadline_ms = deadline_ms;
    driver->side.deadline_ms = deadline_ms;
}

static inline int pid_of(pawl_store *store)
{
    return PQbackendPID(store->ops->native(store));
}

/* Ends a back end and waits until it has gone. */
static inline void kill_pid(fixture *p, int pid)
{
    assert_int_equal(raw_number(p->pg, test_text("select pg_terminate_backend(%d, %d)::integer",
                                                 pid, PATIENCE_MS)),
                     1);
}

#define SESSIONS_SQL "select count(*) from pg_stat_activity where application_name = '%s'"

static inline int64_t session_count(fixture *p)
{
    return raw_number(p->pg, test_text(SESSIONS_SQL, p->schema));
}

/* A session that its client has left is there for a moment. */
static inline void wait_for_sessions(fixture *p, int64_t number)
{
    raw_wait(p->pg, test_text(SESSIONS_SQL, p->schema), number);
}

/* ---- Calls on a thread -------------------------------------------------- */

typedef struct job {
    pthread_t     thread;
    pawl_store   *store;
    pawl_changes *changes; /* NULL: a look at the queue */
    pawl_arena   *arena;
    pawl_code     code;
    pawl_error    error;
} job;

static inline void *run_job(void *context)
{
    job            *j = context;
    pawl_queue_rows rows;
    if (j->changes != NULL)
        j->code = pawl_store_commit(j->store, j->changes, NULL, &j->error);
    else
        j->code = pawl_store_queue_list(j->store, TEXT("orders"), 0, j->arena, &rows, &j->error);
    return NULL;
}

static inline void start_job(fixture *p, job *j, pawl_store *store, pawl_changes *changes)
{
    *j = (job){.store = store, .changes = changes, .arena = p->arena};
    assert_int_equal(pthread_create(&j->thread, NULL, run_job, j), 0);
}

/* Leaves the text in the fixture's error. */
static inline void expect_job(fixture *p, job *j, pawl_code expected)
{
    assert_int_equal(pthread_join(j->thread, NULL), 0);
    p->error = j->error;
    expect_code(p, j->code, expected);
}

/* ---- Sets --------------------------------------------------------------- */

static inline pawl_changes one_send(pawl_queue_send *send)
{
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = send, .count = 1}};
    return changes;
}

static inline pawl_changes one_update(pawl_saga_update *update)
{
    pawl_changes changes = {.now = NOW, ONE_UNIT, .saga_update = {.items = update, .count = 1}};
    return changes;
}

static inline pawl_value text_value(const char *text)
{
    return (pawl_value){.type = PAWL_VALUE_TEXT, .as.text = pawl_text_of(text)};
}

/* A saga with this number and version 1, and the update of it to version 2. */
static inline pawl_saga_update begin_order(fixture *p, pawl_store *store, unsigned number)
{
    ok(p, begin_saga(p, store, &order_table, uuid_of(number),
                     text_value(test_text("order-%u", number)), "{\"n\":1}"));
    return (pawl_saga_update){.table    = &order_table,
                              .id       = {uuid_of(number)},
                              .version  = 1,
                              .metadata = TEXT("{}"),
                              .data     = TEXT("{\"n\":2}")};
}

static inline int64_t order_version(fixture *p, unsigned number)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(uuid_of(number), text);
    return raw_number(
        p->pg, test_text("select \"Concurrency\" from \"shop_Order\" where \"Id\" = '%s'", text));
}

/* The other connection holds the saga's row until it is told otherwise. */
static inline void lock_order(fixture *p, unsigned number)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(uuid_of(number), text);
    raw_run(p->pg,
            test_text("begin; select 1 from \"shop_Order\" where \"Id\" = '%s' for update", text));
}

static inline int64_t queue_count(fixture *p)
{
    return raw_number(p->pg, "select count(*) from pawl_queue");
}

/* A handle where the tables are there already; a worker too. */
static inline pawl_store *open_more(fixture *p, const char *url)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.tables             = order_tables;
    options.table_count        = 1;
    options.deadline           = PAWL_MILLISECONDS(ENOUGH_MS);
    ok(p, fixture_open(p, url, &options, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    store->is_attached = true;
    return store;
}

/* Two workers, and a saga that the first one's session locks and the second one updates. */
typedef struct pair {
    pawl_store      *first, *second;
    pawl_saga_update update;
    pawl_changes     changes;
} pair;

static inline void begin_pair(fixture *p, pair *it)
{
    apply_schema(p, p->url, order_tables, 1);
    it->first   = open_more(p, p->url);
    it->second  = open_more(p, p->url);
    it->update  = begin_order(p, it->second, 1);
    it->changes = one_update(&it->update);
}

/* ---- Behind a proxy ----------------------------------------------------- */

/* NULL where the server is not to be reached by TCP. */
static inline proxy *open_proxy(fixture *p)
{
    const char *host = PQhost(p->pg);
    return host[0] != '/' ? proxy_open(&proxy_postgres, host, PQport(p->pg)) : NULL;
}

/* The fixture's URL, through the proxy. */
static inline void proxy_url(const fixture *p, const proxy *between, char *url, size_t size)
{
    snprintf(url, size, "%s&host=127.0.0.1&port=%d&sslmode=disable&gssencmode=disable", p->url,
             proxy_port(between));
}

/* In front of the pooler that the environment names, and the fixture's URL through both;
 * NULL where it names none. */
static inline proxy *open_pooled_proxy(fixture *p, char *url, size_t size)
{
    const char *pooled = getenv("PAWL_TEST_PGBOUNCER");
    const char *end    = pooled != NULL ? strstr(pooled, "?pooler=transaction") : NULL;
    if (end == NULL)
        return NULL;
    snprintf(url, size, "%.*s", (int)(end - pooled), pooled);
    PGconn *pg      = PQconnectdb(url);
    proxy  *between = proxy_open(&proxy_postgres, PQhost(pg), PQport(pg));
    PQfinish(pg);
    assert_non_null(between);
    snprintf(url, size,
             "%.*s?pooler=transaction&schema=%s&host=127.0.0.1&port=%d&sslmode=disable"
             "&gssencmode=disable",
             (int)(end - pooled), pooled, p->schema, proxy_port(between));
    return between;
}

#endif
