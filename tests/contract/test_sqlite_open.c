/* test_sqlite_open.c - opening a file, its settings, and what is said when it
 * cannot be used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "store/sqlite/sqlite.h"
#include "support/tests.h"

#include "pawl/pawl.h"

#include "support/modes.h"
#include <time.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* In a child, where SQLite was not used before, or was. 0: as it must be. */
static int count_in_child(fixture *p, bool was_used)
{
    pid_t child = fork();
    if (child == 0) {
        pawl_store *store = NULL;
        if (was_used && sqlite3_initialize() != SQLITE_OK)
            _exit(2);
        if (open_as(p, p->url, PAWL_OPEN_CREATE, NULL, 0, &store) != PAWL_OK)
            _exit(3);
        _exit((sqlite3_memory_used() > 0) != was_used);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Comes first: later tests of this process have used SQLite. */
ON_FIXTURE(memory_is_counted_where_sqlite_was_used_before, fixture *p)
{
    assert_int_equal(count_in_child(p, false), 0);
    assert_int_equal(count_in_child(p, true), 0);
}

static void refuse_at(fixture *p, const char *url, pawl_open_mode mode, pawl_code expected,
                      const char *part)
{
    pawl_store *store = NULL;
    expect_code(p, open_as(p, url, mode, NULL, 0, &store), expected);
    assert_null(store);
    expect_text(p, part);
}

ON_FIXTURE(bad_urls_are_refused, fixture *p)
{
    char url[400];
    refuse_at(p, "sqlite:", PAWL_OPEN_CREATE, PAWL_ECONFIG, "a file is needed");
    refuse_at(p, "sqlite::memory:", PAWL_OPEN_CREATE, PAWL_ECONFIG, "':memory:'");
    snprintf(url, sizeof url, "%s?synchronous=half", p->url);
    refuse_at(p, url, PAWL_OPEN_CREATE, PAWL_ECONFIG, "synchronous is 'half'");
    snprintf(url, sizeof url, "%s?cache_mb=9x", p->url);
    refuse_at(p, url, PAWL_OPEN_CREATE, PAWL_ECONFIG, "cache_mb is '9x'");
    snprintf(url, sizeof url, "%s?busy_ms=-1", p->url);
    refuse_at(p, url, PAWL_OPEN_CREATE, PAWL_ECONFIG, "busy_ms is '-1'");
    snprintf(url, sizeof url, "%s?colour=blue", p->url);
    refuse_at(p, url, PAWL_OPEN_CREATE, PAWL_ECONFIG, "unknown option 'colour'");
    snprintf(url, sizeof url, "%s?busy_ms", p->url);
    refuse_at(p, url, PAWL_OPEN_CREATE, PAWL_ECONFIG, "'busy_ms' has no value");
    assert_int_not_equal(access(p->path, F_OK), 0);
}

ON_FIXTURE(settings_reach_the_connection, fixture *p)
{
    const char *url   = test_text("%s?synchronous=normal&cache_mb=3", p->url);
    pawl_store *store = open_store(p, url);
    sqlite3    *db    = store->ops->native(store);
    assert_int_equal(raw_number(db, "pragma synchronous"), 1);
    assert_int_equal(raw_number(db, "pragma cache_size"), -3 * 1024);
    assert_int_equal(raw_number(db, "pragma foreign_keys"), 1);
    test_now(store);

    store = open_store(p, p->url);
    db    = store->ops->native(store);
    /* A stamp is written without a sync, and leaves the setting as it was. */
    assert_int_equal(raw_number(db, "pragma synchronous"), 2);
    assert_int_equal(raw_number(db, "select journal_mode = 'wal' from pragma_journal_mode"), 1);
}

ON_FIXTURE(a_missing_file_is_made_only_by_create, fixture *p)
{
    pawl_sender *sender = NULL;
    refuse_at(p, p->url, PAWL_OPEN_EXISTING, PAWL_EUNREACHABLE, p->path);
    expect_code(p, pawl_sender_open(p->url, NULL, &sender, &p->error), PAWL_EUNREACHABLE);
    refuse_at(p, p->url, PAWL_OPEN_CHECK, PAWL_EUNREACHABLE, p->path);
    const char *url = test_text("%s?create=no", p->url);
    refuse_at(p, url, PAWL_OPEN_CREATE, PAWL_EUNREACHABLE, p->path);
    assert_int_not_equal(access(p->path, F_OK), 0);
    test_now(open_store(p, p->url));
    assert_int_equal(access(p->path, F_OK), 0);
    pawl_store *store = NULL;
    ok(p, open_as(p, p->url, PAWL_OPEN_EXISTING, order_tables, 1, &store));
    test_now(store);
    ok(p, open_as(p, url, PAWL_OPEN_CREATE, order_tables, 1, &store));
}

ON_FIXTURE(what_cannot_be_a_file_is_unreachable, fixture *p)
{
    refuse_at(p, test_text("sqlite:%s", p->folder), PAWL_OPEN_CREATE, PAWL_EUNREACHABLE, p->folder);
    refuse_at(p, test_text("sqlite:%s/none/store.db", p->folder), PAWL_OPEN_CREATE,
              PAWL_EUNREACHABLE, "none/store.db");
    expect_text(p, "unable to open database file: No such file or directory");
}

ON_FIXTURE(a_file_that_may_not_be_written_is_unreachable, fixture *p)
{
    test_now(open_store(p, p->url));
    assert_int_equal(chmod(p->path, 0444), 0);
    assert_true(modes_count(true));
    pawl_store *store = NULL;
    pawl_code   code  = open_as(p, p->url, PAWL_OPEN_CREATE, NULL, 0, &store);
    assert_true(modes_count(false));
    refuses(p, code, PAWL_EUNREACHABLE, p->path);
    expect_text(p, "store.db: may not be written");
}

ON_FIXTURE(a_file_that_may_not_be_read_says_so, fixture *p)
{
    test_now(open_store(p, p->url));
    assert_int_equal(chmod(p->path, 0), 0);
    assert_true(modes_count(true));
    pawl_store *store = NULL;
    pawl_code   code  = open_as(p, p->url, PAWL_OPEN_EXISTING, NULL, 0, &store);
    assert_true(modes_count(false));
    refuses(p, code, PAWL_EUNREACHABLE,
            "store.db: unable to open database file: Permission denied");
}

ON_FIXTURE(a_process_without_descriptors_says_so, fixture *p)
{
    struct rlimit before, few;
    test_now(open_store(p, p->url));
    int lowest = dup(STDERR_FILENO);
    assert_int_equal(close(lowest), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few            = before;
    pawl_code code = PAWL_EUNREACHABLE;
    int       left = 0;
    for (; code != PAWL_OK && left < 20; left++) {
        pawl_store *store = NULL;
        few.rlim_cur      = (rlim_t)(lowest + left);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        code = open_as(p, p->url, PAWL_OPEN_EXISTING, NULL, 0, &store);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (code != PAWL_OK) {
            refuses(p, code, PAWL_EUNREACHABLE, strerror(EMFILE));
        }
    }
    assert_int_equal(code, PAWL_OK);
    assert_true(left > 3);
}

ON_FIXTURE(another_kind_of_file_is_no_store, fixture *p)
{
    FILE *file = fopen(p->path, "w");
    assert_non_null(file);
    for (int i = 0; i < 300; i++)
        fputs("This is no database at all. ", file);
    assert_int_equal(fclose(file), 0);
    refuse_at(p, p->url, PAWL_OPEN_CREATE, PAWL_ENOTSTORE, p->path);
    refuse_at(p, p->url, PAWL_OPEN_EXISTING, PAWL_ENOTSTORE, p->path);
}

ON_FIXTURE(another_encoding_is_no_store, fixture *p)
{
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "pragma encoding = 'UTF-16le'; create table mine (id integer)");
    sqlite3_close(db);
    refuse_at(p, p->url, PAWL_OPEN_CREATE, PAWL_ENOTSTORE, "UTF-16le");
}

ON_FIXTURE(a_database_without_a_schema_names_the_command, fixture *p)
{
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "create table mine (id integer)");
    refuse_at(p, p->url, PAWL_OPEN_CHECK, PAWL_ESCHEMA, "pawl schema apply --store 'sqlite:");
    refuse_at(p, p->url, PAWL_OPEN_EXISTING, PAWL_ESCHEMA, "pawl schema apply --store 'sqlite:");
    assert_int_equal(raw_number(db, "select count(*) from sqlite_schema"), 1);
    assert_int_equal(raw_number(db, "select journal_mode = 'delete' from pragma_journal_mode"), 1);
    sqlite3_close(db);
    /* A store may live in the application's own database. */
    test_now(open_store(p, p->url));
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 0);
}

ON_FIXTURE(a_missing_saga_table_names_the_table, fixture *p)
{
    pawl_store *store = NULL;
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, NULL, 0, &store));
    test_now(store);
    refuses(p, open_as(p, p->url, PAWL_OPEN_CHECK, order_tables, 1, &store), PAWL_ESCHEMA,
            "shop_Order");
    expect_text(p, "pawl schema apply");
}

ON_FIXTURE(a_newer_schema_names_both_versions, fixture *p)
{
    test_now(open_store(p, p->url));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "update pawl_schema set Version = 7");
    sqlite3_close(db);
    refuse_at(p, p->url, PAWL_OPEN_CREATE, PAWL_ESCHEMA, "version 7");
    refuse_at(p, p->url, PAWL_OPEN_EXISTING, PAWL_ESCHEMA, "version 5");

    /* Nor is it dropped: tables that only the newer one knows would stay. */
    pawl_schema_spec spec = {.table_count = 0};
    refuses(p, pawl_store_schema(p->url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, &p->error),
            PAWL_ESCHEMA, "version 7");
    assert_int_equal(path_number(p->path, "select Version from pawl_schema"), 7);
}

ON_FIXTURE(a_lock_held_past_the_deadline_is_busy, fixture *p)
{
    const char *url   = test_text("%s?busy_ms=0", p->url);
    pawl_store *store = open_store(p, url);
    sqlite3    *db    = raw_open(p->path);
    raw_run(db, "begin immediate");
    refuses(p, send_one(p, store, "orders", "m-1"), PAWL_EBUSY, "write lock");
    assert_int_equal(pawl_code_exit(PAWL_EBUSY), 5);
    raw_run(db, "rollback");
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), 1);
    sqlite3_close(db);
}

ON_FIXTURE(a_full_disk_applies_nothing, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    sqlite3    *db    = store->ops->native(store);
    raw_run(db, test_text("pragma max_page_count = %lld",
                          (long long)raw_number(db, "pragma page_count")));
    pawl_code code = PAWL_OK;
    int       sent = 0;
    char      id[20];
    for (; code == PAWL_OK && sent < 100000; sent++) {
        snprintf(id, sizeof id, "m-%d", sent);
        code = send_one(p, store, "orders", id);
    }
    expect_code(p, code, PAWL_EFULL);
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), sent - 1);
    raw_run(db, "pragma max_page_count = 1000000");
    ok(p, send_one(p, store, "orders", id));
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), sent);
}

/* Each lock is waited for as long as the limit says, whatever was waited for others before. */
ON_FIXTURE(every_lock_is_waited_for_in_full, fixture *p)
{
    struct timespec begin, end;
    const char     *url   = test_text("%s?busy_ms=40", p->url);
    pawl_store     *store = open_store(p, url);
    sqlite3        *db    = raw_open(p->path);
    raw_run(db, "begin immediate");
    for (int i = 0; i < 3; i++) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        expect_code(p, send_one(p, store, "orders", "m-1"), PAWL_EBUSY);
        clock_gettime(CLOCK_MONOTONIC, &end);
        assert_true((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >=
                    40);
    }
    raw_run(db, "rollback");
    sqlite3_close(db);
}

/* A worker that ends waits for the lock once: not for each of its queues, then for its row, and again as the handle is
 * closed. */
ON_FIXTURE(e29_a_worker_that_ends_waits_for_the_lock_once, fixture *p)
{
    pawl_store         *store = open_store(p, test_text("%s?busy_ms=40", p->url));
    const pawl__sqlite *own   = (const pawl__sqlite *)store;
    sqlite3            *db    = raw_open(p->path);
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_equal(claim_some(p, store, "orders", 1).count, 1);
    raw_run(db, "begin immediate");
    expect_code(p, pawl_store_worker_close(store, NOW, &p->error), PAWL_EBUSY);
    assert_in_range(own->waited_us, 1,
                    20000); /* the queue's lease was waited for, the row was not */
    expect_code(p, pawl_store_worker_close(store, NOW, &p->error), PAWL_EBUSY);
    assert_in_range(own->waited_us, 1, 20000);
    expect_code(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error),
                PAWL_EBUSY);
    assert_true(own->waited_us >= 40000);
    raw_run(db, "rollback");
    ok(p, pawl_store_worker_close(store, NOW, &p->error));
    raw_run(db, "begin immediate");
    for (int i = 0; i < 2; i++) { /* the worker has ended: each call waits again */
        expect_code(p, send_one(p, store, "orders", "m-2"), PAWL_EBUSY);
        assert_true(own->waited_us >= 40000);
    }
    raw_run(db, "rollback");
    sqlite3_close(db);
}

ON_FIXTURE(e29_a_worker_ends_without_a_wait_after_one_in_vain, fixture *p)
{
    pawl_store         *store = open_store(p, test_text("%s?busy_ms=40", p->url));
    const pawl__sqlite *own   = (const pawl__sqlite *)store;
    sqlite3            *db    = raw_open(p->path);
    raw_run(db, "begin immediate");
    expect_code(p, send_one(p, store, "orders", "m-1"), PAWL_EBUSY);
    assert_true(own->waited_us >= 40000);
    expect_code(p, pawl_store_worker_close(store, NOW, &p->error), PAWL_EBUSY);
    assert_in_range(own->waited_us, 1, 20000);
    raw_run(db, "rollback");
    ok(p, pawl_store_worker_close(store, NOW, &p->error)); /* the lock is tried all the same */
    assert_int_equal(raw_number(db, "select count(*) from pawl_workers where Endpoint = 'orders'"),
                     0);
    sqlite3_close(db);
}

static pawl_store *interrupted; /* NULL: none */

static int at_lock(unsigned kind, void *context, void *statement, void *text)
{
    pawl_store *store = interrupted;
    if (store == NULL || strstr(sqlite3_sql(statement), "immediate") == NULL)
        return 0;
    interrupted = NULL;
    pawl_store_interrupt(store);
    return 0;
}

/* As a stop interrupts it in the second half of stop_wait: the transactions behind are not waited for. */
ON_FIXTURE(e29_a_worker_whose_end_is_interrupted_waits_no_more, fixture *p)
{
    pawl_store         *store = open_store(p, test_text("%s?busy_ms=40", p->url));
    const pawl__sqlite *own   = (const pawl__sqlite *)store;
    sqlite3            *db    = raw_open(p->path);
    sqlite3_trace_v2(store->ops->native(store), SQLITE_TRACE_STMT, at_lock, NULL);
    raw_run(db, "begin immediate");
    interrupted = store;
    expect_code(p, pawl_store_worker_close(store, NOW, &p->error), PAWL_EINTERRUPTED);
    expect_code(p, pawl_store_worker_close(store, NOW, &p->error), PAWL_EBUSY);
    assert_in_range(own->waited_us, 1, 20000);
    raw_run(db, "rollback");
    sqlite3_close(db);
}

/* ---- A file system that cannot hold a log ------------------------------------------ */

static sqlite3_vfs        plain, *system_vfs;
static sqlite3_io_methods plain_files;

/* Files of version 1 have no shared memory. */
static int open_plain(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out_flags)
{
    int result = system_vfs->xOpen(system_vfs, name, file, flags, out_flags);
    if (file->pMethods != NULL) {
        plain_files          = *file->pMethods;
        plain_files.iVersion = 1;
        file->pMethods       = &plain_files;
    }
    return result;
}

ON_FIXTURE(a_file_that_cannot_have_a_log_is_refused, fixture *p)
{
    pawl_store *store = NULL;
    system_vfs        = sqlite3_vfs_find(NULL);
    plain             = *system_vfs;
    plain.zName       = "plain";
    plain.pNext       = NULL;
    plain.xOpen       = open_plain;
    assert_int_equal(sqlite3_vfs_register(&plain, 1), SQLITE_OK);
    pawl_code code = open_as(p, p->url, PAWL_OPEN_CREATE, NULL, 0, &store);
    assert_int_equal(sqlite3_vfs_unregister(&plain), SQLITE_OK);
    assert_int_equal(sqlite3_vfs_register(system_vfs, 1), SQLITE_OK);
    refuses(p, code, PAWL_ECONFIG, "the journal mode is 'delete', WAL was refused");
}

/* Debian's SQLite takes such a path for a URI, in which '%' and '#' mean something. */
ON_FIXTURE(a_path_that_begins_as_a_uri_is_a_path, fixture *p)
{
    static const char *const names[] = {"file:a%20b#c", "file:a%20b#c-wal", "file:a%20b#c-shm",
                                        "file:a%20b#c-pawl"};
    char                     before[300];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(p->folder), 0);
    pawl_store *store = open_store(p, "sqlite:file:a%20b#c");
    assert_int_equal(access(names[0], F_OK), 0);
    assert_int_equal(access(names[3], F_OK), 0);
    test_now(store);
    for (size_t i = 0; i < COUNT(names); i++)
        (void)unlink(names[i]);
    assert_int_equal(chdir(before), 0);
}
