/* postgres_fixture.h - a schema in the database that the environment names, and
 * short forms of what the tests special to PostgreSQL all do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_POSTGRES_FIXTURE_H
#define PAWL_TESTS_CONTRACT_POSTGRES_FIXTURE_H

#include "contract/postgres_raw.h"

/* The search path of the connection is the schema. */
#define FIXTURE_OWN     \
    char    url[1200];  \
    char    schema[40]; \
    PGconn *pg
#include "contract/fixture.h"

#define LINES_SIZE 60000

/* ---- The fixture ---------------------------------------------------------- */

/* The server's URL with `?schema=`. */
static inline void fixture_url(const char *schema, char *url, size_t size)
{
    const char *server = fixture_server();
    snprintf(url, size, "%s%cschema=%s", server, strchr(server, '?') != NULL ? '&' : '?', schema);
}

/* Schemas of a killed test stay on the server, which outlives it, and process numbers come
 * again: the time tells them apart. */
static inline int fixture_setup(void **state)
{
    static unsigned number;
    fixture        *p = fixture_begin(state);
    snprintf(p->schema, sizeof p->schema, "pawl_test_%ld_%llx_%u", (long)getpid(),
             (unsigned long long)time(NULL), ++number);
    fixture_url(p->schema, p->url, sizeof p->url);
    p->pg = raw_open(p->schema);
    return 0;
}

/* False when somebody else has it locked for too long. */
static inline bool drop_schema(fixture *p)
{
    PGresult *result =
        PQexec(p->pg, test_text("set lock_timeout = '60s'; drop schema if exists \"%s\" cascade",
                                p->schema));
    bool is_dropped = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!is_dropped)
        print_error("%s: %s", p->schema, PQerrorMessage(p->pg));
    PQclear(result);
    return is_dropped;
}

/* Of sessions that have something of the schema locked. */
static inline void end_transactions(fixture *p)
{
    raw_run(p->pg,
            test_text(
                "select pg_terminate_backend(a.pid, 10000) from pg_stat_activity as a "
                "where a.state like 'idle in transaction%%' and a.pid <> pg_backend_pid() "
                "and a.datname = current_database() and a.pid in (select l.pid from pg_locks as l "
                "join pg_class as c on c.oid = l.relation "
                "where c.relnamespace = to_regnamespace('%s'))",
                p->schema));
}

/* A transaction that a failed test left open would keep the schema, and hold up whoever
 * waits for the end of all that are open. */
static inline int fixture_teardown(void **state)
{
    fixture *p = *state;
    if (PQtransactionStatus(p->pg) != PQTRANS_IDLE)
        PQclear(PQexec(p->pg, "rollback"));
    bool is_dropped = drop_schema(p);
    if (!is_dropped) {
        end_transactions(p);
        (void)drop_schema(p);
    }
    PQfinish(p->pg);
    fixture_end(p);
    return is_dropped ? 0 : -1;
}

/* ---- The schema's verbs ------------------------------------------------- */

typedef struct lines {
    char   text[LINES_SIZE];
    size_t size;
    size_t count;
} lines;

static inline void keep_line(pawl_text line, void *context)
{
    lines *l = context;
    assert_true(l->size + line.size + 2 < sizeof l->text);
    memcpy(l->text + l->size, line.data, line.size);
    l->size += line.size;
    l->text[l->size++] = '\n';
    l->text[l->size]   = '\0';
    l->count++;
}

static inline pawl_code run_schema(fixture *p, const char *url, pawl_schema_verb verb,
                                   const pawl_saga_table *const *tables, size_t count, lines *out)
{
    pawl_schema_spec spec = {.tables = tables, .table_count = count};
    out->size = out->count = 0;
    out->text[0]           = '\0';
    return pawl_store_schema(url, verb, &spec, keep_line, out, &p->error);
}

static inline void apply_schema(fixture *p, const char *url, const pawl_saga_table *const *tables,
                                size_t count)
{
    pawl_schema_spec spec = {.tables = tables, .table_count = count};
    ok(p, pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error));
}

/* ---- Stores ------------------------------------------------------------- */

static inline pawl_code open_with(fixture *p, const char *url, const pawl_saga_table *const *tables,
                                  size_t table_count, pawl_store **store)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.tables             = tables;
    options.table_count        = table_count;
    return fixture_open(p, url, &options, store);
}

/* A handle with the order table and a worker; the tables are made. */
static inline pawl_store *open_store(fixture *p, const char *url)
{
    pawl_store *store = NULL;
    apply_schema(p, url, order_tables, 1);
    ok(p, open_with(p, url, order_tables, 1, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    store->is_attached = true;
    return store;
}

static inline pawl_queue_rows claim_some(fixture *p, pawl_store *store, const char *queue,
                                         pawl_time due_max, size_t count)
{
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {
        .queue = pawl_text_of(queue), .due_max = due_max, .count_max = count, .now = NOW};
    ok(p, pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error));
    return rows;
}

static inline pawl_code settle_one(fixture *p, pawl_store *store, const char *queue, int64_t seq)
{
    return pawl_store_commit(
        store, ONE_CHANGE(queue_settle, NOW, .queue = pawl_text_of(queue), .seq = seq), NULL,
        &p->error);
}

static inline pawl_code begin_saga(fixture *p, pawl_store *store, const pawl_saga_table *table,
                                   pawl_uuid id, pawl_value main_value, const char *data)
{
    return pawl_store_commit(store,
                             ONE_CHANGE(saga_insert, NOW, .table = table, .id = {id},
                                        .main = main_value, .metadata = TEXT("{}"),
                                        .data = pawl_text_of(data)),
                             NULL, &p->error);
}

static inline pawl_saga_row load_saga(fixture *p, pawl_store *store, const pawl_saga_table *table,
                                      pawl_saga_key key, pawl_value value)
{
    pawl_saga_row row = {0};
    ok(p, pawl_store_saga_load(store, table, key, &value, 1, PAWL_SAGA_UNLOCKED, p->arena, &row,
                               &p->error));
    return row;
}

#endif
