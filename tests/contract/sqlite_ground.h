/* sqlite_ground.h - a folder and a file for the tests that are special to
 * SQLite, and short forms of what they all do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_SQLITE_GROUND_H
#define PAWL_TESTS_CONTRACT_SQLITE_GROUND_H

#include "pawl/store_driver.h"
#include "support/tests.h"

#include <sqlite3.h>
#include <unistd.h>

#define NOW INT64_C(1767225600000000)
#define TEXT(literal) PAWL_TEXT(literal)

typedef struct ground ground;
typedef void          ground_fn(ground *p);

struct ground {
    ground_fn  *test; /* of the row */
    char        folder[200];
    char        path[250];
    char        url[300];
    pawl_arena *arena;
    pawl_error  error;
};

static const pawl_saga_table order_table = {
    .type = PAWL_TEXT_INIT("Order"),
    .name = PAWL_TEXT_INIT("shop_Order"),
    .main = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT},
};
static const pawl_saga_table *const order_tables[] = {&order_table};

static inline int ground_setup(void **state)
{
    const char       *base = getenv("TMPDIR");
    ground           *p    = calloc(1, sizeof *p);
    ground_fn *const *test = *state;
    if (p == NULL)
        return -1;
    p->test = test != NULL ? *test : NULL;
    snprintf(p->folder, sizeof p->folder, "%s/pawl-sqlite-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(p->folder) == NULL)
        return -1;
    snprintf(p->path, sizeof p->path, "%s/store.db", p->folder);
    snprintf(p->url, sizeof p->url, "sqlite:%s", p->path);
    p->arena = pawl_arena_create(0);
    *state   = p;
    return p->arena != NULL ? 0 : -1;
}

static inline int ground_teardown(void **state)
{
    static const char *const endings[] = {"",      "-wal",      "-shm",          "-pawl",
                                          "2",     "2-wal",     "2-shm",         "2-pawl",
                                          "-copy", "-copy-wal", "-copy-journal", "-copy-shm"};
    ground                  *p         = *state;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s%s", p->path, endings[i]);
        unlink(path);
    }
    int left = rmdir(p->folder);
    pawl_arena_destroy(p->arena);
    free(p);
    return left;
}

static inline void ground_run(void **state)
{
    ground *p = *state;
    p->test(p);
}

static inline pawl_code open_as(ground *p, const char *url, pawl_open_mode mode,
                                const pawl_saga_table *const *tables, size_t table_count,
                                pawl_store **store)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = mode;
    options.tables             = tables;
    options.table_count        = table_count;
    return pawl_store_open(url, &options, store, &p->error);
}

/* A handle with the order table and a worker. */
static inline pawl_store *open_store(ground *p, const char *url)
{
    pawl_store *store = NULL;
    if (open_as(p, url, PAWL_OPEN_CREATE, order_tables, 1, &store) != PAWL_OK)
        fail_msg("%s", p->error.text);
    if (pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    store->is_attached = true;
    return store;
}

static inline void expect_code(const ground *p, pawl_code code, pawl_code expected)
{
    if (code != expected)
        fail_msg("is %s, expected %s: %s", pawl_code_name(code), pawl_code_name(expected),
                 p->error.text);
}

static inline void expect_text(const ground *p, const char *part)
{
    if (strstr(p->error.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", p->error.text, part);
}

static inline sqlite3 *raw_open(const char *path)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK)
        fail_msg("%s: %s", path, sqlite3_errmsg(db));
    return db;
}

static inline void raw_run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

/* First column of the first row. */
static inline int64_t raw_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int64_t number =
        sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return number;
}

static inline int64_t path_number(const char *path, const char *sql)
{
    sqlite3 *db     = raw_open(path);
    int64_t  number = raw_number(db, sql);
    sqlite3_close(db);
    return number;
}

static inline pawl_message message_of(const char *id)
{
    return (pawl_message){.id             = pawl_text_of(id),
                          .type           = TEXT("place_order"),
                          .body           = TEXT("{\"order_id\":\"order-1\"}"),
                          .correlation_id = pawl_text_of(id)};
}

static inline pawl_queue_send send_of(const char *queue, const char *id)
{
    return (pawl_queue_send){.queue = pawl_text_of(queue), .message = message_of(id), .due = NOW};
}

static inline pawl_code send_one(ground *p, pawl_store *store, const char *queue, const char *id)
{
    pawl_queue_send send    = send_of(queue, id);
    pawl_changes    changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static inline pawl_queue_rows claim_some(ground *p, pawl_store *store, const char *queue,
                                         size_t count)
{
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {
        .queue = pawl_text_of(queue), .due_max = NOW, .count_max = count, .now = NOW};
    expect_code(p, pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error), PAWL_OK);
    return rows;
}

static inline pawl_code settle_one(ground *p, pawl_store *store, const char *queue, int64_t seq)
{
    pawl_queue_settle settle = {.queue = pawl_text_of(queue), .seq = seq};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_settle = {.items = &settle, .count = 1}};
    changes.counters.messages = 1;
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static inline pawl_uuid uuid_of(unsigned number)
{
    pawl_uuid uuid = {{0}};
    uuid.bytes[0]  = 1;
    uuid.bytes[15] = (uint8_t)number;
    return uuid;
}

#endif
