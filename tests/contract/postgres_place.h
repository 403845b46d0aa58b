/* postgres_place.h - a schema in the database that the environment names, and
 * short forms of what the tests special to PostgreSQL all do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_POSTGRES_PLACE_H
#define PAWL_TESTS_CONTRACT_POSTGRES_PLACE_H

#include "pawl/store.h"

#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After the headers that it needs. */
#include <cmocka.h>

#define NOW INT64_C(1767225600000000)
#define TEXT(literal) PAWL_TEXT(literal)
#define LINES_SIZE 60000

typedef struct place {
    char        schema[40];
    char        url[1200];
    PGconn     *pg; /* its search path is the schema */
    pawl_arena *arena;
    pawl_error  error;
} place;

static const pawl_saga_table order_table = {
    .type = {"Order", 5},
    .name = {"shop_Order", 10},
    .main = {.property = {"order_id", 8}, .type = PAWL_VALUE_TEXT},
};
static const pawl_saga_table *const order_tables[] = {&order_table};

/* ---- Whether there is a server ------------------------------------------ */

static inline const char *place_server(void)
{
    const char *url = getenv("PAWL_TEST_POSTGRES");
    return url != NULL && url[0] != '\0' ? url : NULL;
}

/* What the program ends with when there is none. */
static inline int place_skip(void)
{
    const char *required = getenv("PAWL_REQUIRE");
    const char *missing  = getenv("PAWL_MISSING_SERVERS");
    puts("skipped: PAWL_TEST_POSTGRES names no server");
    if (required == NULL || strcmp(required, "all") != 0)
        return 77;
    return missing != NULL && strstr(missing, "postgres") != NULL ? 77 : 1;
}

/* ---- The database, without pawl ----------------------------------------- */

static inline PGconn *raw_open(const char *schema)
{
    char    path[200];
    PGconn *pg = PQconnectdb(place_server());
    if (PQstatus(pg) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(pg));
    snprintf(path, sizeof path, "set search_path = \"%s\"; set client_min_messages = warning",
             schema);
    PQclear(PQexec(pg, path));
    return pg;
}

static inline void raw_run(PGconn *pg, const char *sql)
{
    PGresult      *result = PQexec(pg, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(pg));
    PQclear(result);
}

/* First column of the first row, copied to `text`; "" for null and no row. */
static inline void raw_text(PGconn *pg, const char *sql, char *text, size_t size)
{
    PGresult *result = PQexec(pg, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(pg));
    snprintf(text, size, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
}

static inline int64_t raw_number(PGconn *pg, const char *sql)
{
    char text[100];
    raw_text(pg, sql, text, sizeof text);
    return text[0] != '\0' ? strtoll(text, NULL, 10) : -1;
}

static inline void expect_raw_text(PGconn *pg, const char *sql, const char *expected)
{
    char text[1000];
    raw_text(pg, sql, text, sizeof text);
    assert_string_equal(text, expected);
}

/* It is refused with this SQLSTATE, and says so. */
static inline void expect_refused(PGconn *pg, const char *sql, const char *state, const char *part)
{
    PGresult   *result = PQexec(pg, sql);
    const char *found  = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (found == NULL || strcmp(found, state) != 0 ||
        strstr(PQresultErrorMessage(result), part) == NULL)
        fail_msg("%s: is %s '%s', expected %s '%s'", sql, found != NULL ? found : "no error",
                 PQresultErrorMessage(result), state, part);
    PQclear(result);
}

/* ---- The place ---------------------------------------------------------- */

/* The server's URL with `?schema=`. */
static inline void place_url(const char *schema, char *url, size_t size)
{
    const char *server = place_server();
    snprintf(url, size, "%s%cschema=%s", server, strchr(server, '?') != NULL ? '&' : '?', schema);
}

static inline int place_setup(void **state)
{
    static unsigned number;
    place          *p = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    snprintf(p->schema, sizeof p->schema, "pawl_test_%ld_%u", (long)getpid(), ++number);
    place_url(p->schema, p->url, sizeof p->url);
    p->pg    = raw_open(p->schema);
    p->arena = pawl_arena_create(0);
    *state   = p;
    return p->arena != NULL ? 0 : -1;
}

/* A transaction that a failed test left open would keep the schema. */
static inline int place_teardown(void **state)
{
    place *p = *state;
    char   sql[200];
    if (PQtransactionStatus(p->pg) != PQTRANS_IDLE)
        PQclear(PQexec(p->pg, "rollback"));
    snprintf(sql, sizeof sql, "set lock_timeout = '60s'; drop schema if exists \"%s\" cascade",
             p->schema);
    raw_run(p->pg, sql);
    PQfinish(p->pg);
    pawl_arena_destroy(p->arena);
    free(p);
    return 0;
}

static inline void expect_code(const place *p, pawl_code code, pawl_code expected)
{
    if (code != expected)
        fail_msg("is %s, expected %s: %s", pawl_code_name(code), pawl_code_name(expected),
                 p->error.text);
}

static inline void expect_text(const place *p, const char *part)
{
    if (strstr(p->error.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", p->error.text, part);
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

static inline pawl_code run_schema(place *p, const char *url, pawl_schema_verb verb,
                                   const pawl_saga_table *const *tables, size_t count, lines *out)
{
    pawl_schema_spec spec = {.tables = tables, .table_count = count};
    out->size = out->count = 0;
    out->text[0]           = '\0';
    return pawl_store_schema(url, verb, &spec, keep_line, out, &p->error);
}

static inline void apply_schema(place *p, const char *url, const pawl_saga_table *const *tables,
                                size_t count)
{
    pawl_schema_spec spec = {.tables = tables, .table_count = count};
    expect_code(p, pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error),
                PAWL_OK);
}

/* ---- Stores ------------------------------------------------------------- */

static inline pawl_code open_with(place *p, const char *url, const pawl_saga_table *const *tables,
                                  size_t table_count, pawl_store **store)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.tables             = tables;
    options.table_count        = table_count;
    return pawl_store_open(url, &options, store, &p->error);
}

/* A handle with the order table and a worker; the tables are made. */
static inline pawl_store *open_store(place *p, const char *url)
{
    pawl_store *store = NULL;
    apply_schema(p, url, order_tables, 1);
    expect_code(p, open_with(p, url, order_tables, 1, &store), PAWL_OK);
    expect_code(p, store->ops->worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error),
                PAWL_OK);
    store->is_attached = true;
    return store;
}

static inline pawl_message message_of(const char *id)
{
    return (pawl_message){.id             = pawl_text_of(id),
                          .type           = TEXT("place_order"),
                          .body           = TEXT("{\"order_id\":\"order-1\"}"),
                          .correlation_id = pawl_text_of(id)};
}

static inline pawl_code send_one(place *p, pawl_store *store, const char *queue, const char *id)
{
    pawl_queue_send send    = {.queue = pawl_text_of(queue), .message = message_of(id), .due = NOW};
    pawl_changes    changes = {.now = NOW, .group_count = 1, .unit_count = 1};
    changes.queue_send.items = &send;
    changes.queue_send.count = 1;
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static inline pawl_queue_rows claim_some(place *p, pawl_store *store, const char *queue,
                                         pawl_time due_max, size_t count)
{
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {
        .queue = pawl_text_of(queue), .due_max = due_max, .count_max = count, .now = NOW};
    expect_code(p, store->ops->queue_claim(store, &claim, p->arena, &rows, &p->error), PAWL_OK);
    return rows;
}

static inline pawl_code settle_one(place *p, pawl_store *store, const char *queue, int64_t seq)
{
    pawl_queue_settle settle   = {.queue = pawl_text_of(queue), .seq = seq};
    pawl_changes      changes  = {.now = NOW, .group_count = 1, .unit_count = 1};
    changes.queue_settle.items = &settle;
    changes.queue_settle.count = 1;
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static inline pawl_code begin_saga(place *p, pawl_store *store, const pawl_saga_table *table,
                                   pawl_uuid id, pawl_value main_value, const char *data)
{
    pawl_saga_insert insert   = {.table    = table,
                                 .id       = {id},
                                 .main     = main_value,
                                 .metadata = TEXT("{}"),
                                 .data     = pawl_text_of(data)};
    pawl_changes     changes  = {.now = NOW, .group_count = 1, .unit_count = 1};
    changes.saga_insert.items = &insert;
    changes.saga_insert.count = 1;
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static inline pawl_saga_row load_saga(place *p, pawl_store *store, const pawl_saga_table *table,
                                      pawl_saga_key key, pawl_value value)
{
    pawl_saga_row row = {0};
    expect_code(p,
                store->ops->saga_load(store, table, key, &value, 1, PAWL_SAGA_UNLOCKED, p->arena,
                                      &row, &p->error),
                PAWL_OK);
    return row;
}

static inline pawl_uuid uuid_of(unsigned number)
{
    pawl_uuid uuid = {{0}};
    uuid.bytes[0]  = 1;
    uuid.bytes[15] = (uint8_t)number;
    return uuid;
}

#endif
