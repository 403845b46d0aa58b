/* test_sqlite_diagnose.c - findings about an SQLite file, its settings and the files beside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

#include "contract/findings.h"

#include <sys/stat.h>

static pawl_store *open_at(fixture *p, const char *more)
{
    pawl_store *store = NULL;
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, NULL, 0, &store));
    test_now(store);
    const char *url = test_text("%s%s", p->url, more);
    ok(p, open_as(p, url, PAWL_OPEN_EXISTING, NULL, 0, &store));
    return store;
}

ON_FIXTURE(a_file_that_is_well, fixture *p)
{
    pawl_store       *store = open_at(p, "");
    pawl_finding_rows rows  = diagnose_as(p, store, (pawl_diagnosis){.is_thorough = true});
    for (size_t i = 0; i < rows.count; i++)
        assert_int_equal(rows.items[i].level, PAWL_FINDING_OK);
    expect_finding(&rows, "rights", PAWL_FINDING_OK, "can be written", NULL);
    expect_finding(&rows, "journal_mode", PAWL_FINDING_OK, "wal", NULL);
    expect_finding(&rows, "synchronous", PAWL_FINDING_OK, "full", NULL);
    expect_finding(&rows, "file", PAWL_FINDING_OK, "sound", NULL);
}

ON_FIXTURE(settings_that_do_harm, fixture *p)
{
    pawl_store       *store = open_at(p, "?synchronous=off");
    pawl_finding_rows rows  = diagnose(p, store);
    expect_finding(&rows, "synchronous", PAWL_FINDING_WARN, "off: a power cut", NULL);
}

ON_FIXTURE(a_table_that_was_counted_while_it_was_small, fixture *p)
{
    pawl_store       *store = open_at(p, "");
    sqlite3          *db    = raw_open(p->path);
    pawl_finding_rows rows  = diagnose(p, store);
    expect_finding(&rows, "statistics", PAWL_FINDING_OK, "no table was counted", NULL);
    raw_run(db, "insert into pawl_inbox values ('orders', 'm-1', 'handled', 1); analyze");
    rows = diagnose(p, store);
    expect_finding(&rows, "statistics", PAWL_FINDING_WARN, "counted pawl_inbox (1), while there",
                   "delete from sqlite_stat1 where tbl like ");
    raw_run(db, "with recursive n (i) as (select 2 union all select i + 1 from n where i < 500) "
                "insert into pawl_inbox select 'orders', 'm-' || i, 'handled', i from n; analyze");
    rows = diagnose(p, store);
    expect_finding(&rows, "statistics", PAWL_FINDING_OK, "no table was counted", NULL);
    sqlite3_close(db);
}

/* Nor is a pipe waited for. */
ON_FIXTURE(a_lock_file_that_is_none, fixture *p)
{
    pawl_store *store = open_at(p, "");
    assert_int_equal(mkfifo(test_text("%s-pawl", p->path), 0600), 0);
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "rights", PAWL_FINDING_FAIL, "no regular file", NULL);
}

ON_FIXTURE(a_lease_that_ran_out, fixture *p)
{
    pawl_store *store = open_at(p, "");
    sqlite3    *db    = raw_open(p->path);
    raw_run(
        db,
        test_text(
            "insert into pawl_timeouts values ('1', 1, null, '', 't', 'orders', 1, 0, '2', %lld, "
            "null, '', '{}')",
            (long long)(pawl_clock_now(NULL) - PAWL_SECONDS(120))));
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "leases", PAWL_FINDING_WARN, "1 timeouts of orders are leased by nobody",
                   NULL);
    raw_run(db, "update pawl_timeouts set LeaseExpires = LeaseExpires + 240000000");
    rows = diagnose(p, store);
    expect_finding(&rows, "leases", PAWL_FINDING_OK, "no lease has run out", NULL);
    sqlite3_close(db);
}

/* A file without its data: the log's size is that of the file beside the database. */
ON_FIXTURE(a_log_that_grows, fixture *p)
{
    pawl_store *store = open_at(p, "");
    const char *log   = test_text("%s-wal", p->path);
    assert_int_equal(send_one(p, store, "orders", "m-1"), PAWL_OK);
    assert_int_equal(truncate(log, INT64_C(200) << 20), 0);
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "transactions", PAWL_FINDING_OK, "the log has 204800 kB", NULL);
    for (size_t i = 0; i < rows.count; i++) /* a transaction may keep it all the same */
        assert_null(strstr(rows.items[i].text.data, "no transaction"));
    assert_int_equal(truncate(log, INT64_C(300) << 20), 0);
    rows = diagnose(p, store);
    expect_finding(&rows, "transactions", PAWL_FINDING_WARN, "the log has 300 MB",
                   "pragma wal_checkpoint(truncate)");
}

/* The lock is waited for a second; calls go on waiting as long as the URL says. */
ON_FIXTURE(a_write_lock_that_another_program_holds, fixture *p)
{
    pawl_store       *store = open_at(p, "?busy_ms=0");
    sqlite3          *db    = raw_open(p->path);
    pawl_finding_rows rows  = diagnose(p, store);
    expect_finding(&rows, "lock", PAWL_FINDING_OK, "the write lock is free", NULL);
    raw_run(db, "begin immediate");
    pawl_time begin = pawl_clock_now(NULL);
    rows            = diagnose(p, store);
    assert_in_range(pawl_clock_now(NULL) - begin, PAWL_MILLISECONDS(900), PAWL_SECONDS(10));
    expect_finding(&rows, "lock", PAWL_FINDING_WARN, p->path, NULL);
    refuses(p, send_one(p, store, "orders", "m-1"), PAWL_EBUSY, "for more than 0 ms");
    rows = diagnose_as(p, store, (pawl_diagnosis){.is_brief = true});
    for (size_t i = 0; i < rows.count; i++)
        assert_false(pawl_text_equal(rows.items[i].name, TEXT("lock")));
    raw_run(db, "rollback");
    ok(p, send_one(p, store, "orders", "m-1")); /* the look has left no transaction behind */
    sqlite3_close(db);
}

/* Commands that are to be copied are quoted for a shell. */
ON_FIXTURE(a_path_with_a_quote_is_quoted, fixture *p)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-pawl"};
    char                     path[sizeof p->path + 20];
    pawl_store              *store = NULL;
    snprintf(p->path, sizeof p->path, "%s/it's.db", p->folder);
    snprintf(p->url, sizeof p->url, "sqlite:%s", p->path);
    const char *quoted = test_text("'sqlite:%s/it'\\''s.db'", p->folder);
    sqlite3    *db     = raw_open(p->path);
    raw_run(db, "create table mine (id integer)");
    sqlite3_close(db);
    refuses(p, open_as(p, p->url, PAWL_OPEN_CHECK, NULL, 0, &store), PAWL_ESCHEMA, quoted);
    store = open_at(p, "");
    snprintf(path, sizeof path, "%s-wal", p->path);
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_equal(truncate(path, INT64_C(300) << 20), 0);
    pawl_finding_rows rows = diagnose(p, store);
    expect_finding(&rows, "transactions", PAWL_FINDING_WARN,
                   test_text("fuser -v '%s/it'\\''s.db' names", p->folder),
                   "/it'\\''s.db' 'pragma");
    test_now(store);
    for (size_t i = 0; i < COUNT(endings); i++) {
        snprintf(path, sizeof path, "%s%s", p->path, endings[i]);
        (void)unlink(path);
    }
}

ON_FIXTURE(a_file_that_is_damaged, fixture *p)
{
    pawl_store *store = open_at(p, "");
    for (int i = 0; i < 200; i++)
        assert_int_equal(send_one(p, store, "orders", test_text("m-%d", i)), PAWL_OK);
    test_now(store);
    FILE *file = fopen(p->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -3000, SEEK_END), 0);
    for (int i = 0; i < 2500; i++)
        assert_int_equal(fputc(0xa5, file), 0xa5);
    fclose(file);
    ok(p, open_as(p, p->url, PAWL_OPEN_EXISTING, NULL, 0, &store));
    pawl_finding_rows rows = diagnose(p, store);
    for (size_t i = 0; i < rows.count; i++) /* the file is not read unless it is asked for */
        assert_false(pawl_text_equal(rows.items[i].name, TEXT("file")));
    rows = diagnose_as(p, store, (pawl_diagnosis){.is_thorough = true});
    expect_finding(&rows, "file", PAWL_FINDING_FAIL, "", ".recover");
}
