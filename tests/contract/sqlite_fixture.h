/* sqlite_fixture.h - a folder and a file for the tests that are special to
 * SQLite, and short forms of what they all do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_SQLITE_FIXTURE_H
#define PAWL_TESTS_CONTRACT_SQLITE_FIXTURE_H

#define FIXTURE_OWN   \
    char url[300];    \
    char folder[200]; \
    char path[250]
#include "contract/fixture.h"

#include <sqlite3.h>

static inline int fixture_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    fixture    *p    = fixture_begin(state);
    snprintf(p->folder, sizeof p->folder, "%s/pawl-sqlite-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(p->folder) == NULL)
        return -1;
    snprintf(p->path, sizeof p->path, "%s/store.db", p->folder);
    snprintf(p->url, sizeof p->url, "sqlite:%s", p->path);
    return 0;
}

static inline int fixture_teardown(void **state)
{
    static const char *const endings[] = {"",      "-wal",      "-shm",          "-pawl",
                                          "2",     "2-wal",     "2-shm",         "2-pawl",
                                          "-copy", "-copy-wal", "-copy-journal", "-copy-shm"};
    fixture                 *p         = *state;
    for (size_t i = 0; i < COUNT(endings); i++) {
        const char *path = test_text("%s%s", p->path, endings[i]);
        unlink(path);
    }
    int left = rmdir(p->folder);
    fixture_end(p);
    return left;
}

static inline pawl_code open_as(fixture *p, const char *url, pawl_open_mode mode,
                                const pawl_saga_table *const *tables, size_t table_count,
                                pawl_store **store)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = mode;
    options.tables             = tables;
    options.table_count        = table_count;
    return fixture_open(p, url, &options, store);
}

/* A handle with the order table and a worker. */
static inline pawl_store *open_store(fixture *p, const char *url)
{
    pawl_store *store = NULL;
    if (open_as(p, url, PAWL_OPEN_CREATE, order_tables, 1, &store) != PAWL_OK)
        fail_msg("%s", p->error.text);
    if (pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    store->is_attached = true;
    return store;
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

static inline pawl_queue_rows claim_some(fixture *p, pawl_store *store, const char *queue,
                                         size_t count)
{
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {
        .queue = pawl_text_of(queue), .due_max = NOW, .count_max = count, .now = NOW};
    ok(p, pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error));
    return rows;
}

static inline pawl_code settle_one(fixture *p, pawl_store *store, const char *queue, int64_t seq)
{
    pawl_queue_settle settle = {.queue = pawl_text_of(queue), .seq = seq};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_settle = {.items = &settle, .count = 1}};
    changes.counters.messages = 1;
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

#endif
