/* test_sqlite_upgrade.c - a file that an earlier version of pawl made: refused,
 * brought to this version, and worked with (D26, D34).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

#include "contract/upgrade_5.h"

#define AT "1767225600000000"

static void make_version_1(fixture *p)
{
    char    *script = old_script("schema_1_sqlite.sql");
    sqlite3 *db     = raw_open(p->path);
    raw_run(db, script);
    raw_run(db, OLD_ROWS(AT));
    sqlite3_close(db);
    free(script);
}

ON_FIXTURE(the_first_version_is_upgraded, fixture *p)
{
    make_version_1(p);
    expect_refused_as_old(p);
    apply_upgrade(p, PAWL_OK);
    expect_differences(p, NULL, 0);
    int64_t version = path_number(p->path, "pragma schema_version");
    apply_upgrade(p, PAWL_OK);
    assert_int_equal(path_number(p->path, "pragma schema_version"), version);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_outbox where AttemptsBefore "
                                          "= 0 and DispatchedAt is not null = (State = "
                                          "'dispatched')"),
                     3);
    assert_int_equal(path_number(p->path, "select count(*) from sqlite_schema where name = "
                                          "'pawl_outbox_dispatched'"),
                     0);
    expect_delivered(p);
}

/* Opening for work makes what is missing, here too. */
ON_FIXTURE(opening_for_work_upgrades, fixture *p)
{
    pawl_store *store = NULL;
    make_version_1(p);
    const char *url = test_text("%s?create=no", p->url);
    refuses(p, open_as(p, url, PAWL_OPEN_CREATE, NULL, 0, &store), PAWL_ESCHEMA,
            "this program needs version 5");
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, NULL, 0, &store));
    test_now(store);
    expect_differences(p, NULL, 0);
    expect_delivered(p);
}

ON_FIXTURE(appliers_wait_for_one_another, fixture *p)
{
    make_version_1(p);
    apply_at_once(p);
    expect_differences(p, NULL, 0);
    expect_delivered(p);
}

/* A program of the version before is at work while its tables change. */
ON_FIXTURE(an_older_program_goes_on, fixture *p)
{
    sqlite3_stmt *statement = NULL;
    make_version_1(p);
    sqlite3 *db = raw_open(p->path);
    assert_int_equal(
        sqlite3_prepare_v2(db, OLD_ROW("4", "pending", "0", AT, "null"), -1, &statement, NULL),
        SQLITE_OK);
    apply_upgrade(p, PAWL_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    assert_int_equal(raw_number(db, "select AttemptsBefore from pawl_outbox where MessageId = "
                                    "'m-4'"),
                     0);
    sqlite3_close(db);
}

/* This program starts on tables of the version after it. */
ON_FIXTURE(d26_a_program_opens_tables_that_are_a_version_ahead, fixture *p)
{
    make_version_1(p);
    apply_upgrade(p, PAWL_OK);
    sqlite3 *db = raw_open(p->path);
    raw_run(db, NEXT_VERSION);
    int64_t version = raw_number(db, "pragma schema_version");
    expect_goes_on_a_version_behind(p);
    assert_int_equal(raw_number(db, "pragma schema_version"), version);
    assert_int_equal(raw_number(db, "select count(*) from pawl_outbox_attempts where Later = 7"),
                     raw_number(db, "select count(*) from pawl_outbox_attempts"));
    raw_run(db, "update pawl_schema set Version = Version + 1");
    sqlite3_close(db);
    expect_refused_as_new(p);
}

/* SQLite cannot say "if not exists" of a column, so the script leaves it, and the
 * version with it: apply does the rest. */
ON_FIXTURE(the_script_leaves_the_column_to_apply, fixture *p)
{
    static const char *const left[] = {"column AttemptsBefore is missing",
                                       "column History is missing", "found 1", WORKER_DIFFERENCES};
    make_version_1(p);
    upgrade_lines *script = run_verb(p, PAWL_SCHEMA_PRINT, PAWL_OK);
    assert_non_null(strstr(
        script->text, "Tables of an earlier version lack columns, too: \"pawl schema apply\""));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, script->text);
    sqlite3_close(db);
    free(script);
    expect_differences(p, left, 8);
    apply_upgrade(p, PAWL_OK);
    expect_differences(p, NULL, 0);
}

ON_FIXTURE(a_failed_upgrade_leaves_version_1, fixture *p)
{
    make_version_1(p);
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "create table pawl_events_stream (mine integer)");
    apply_upgrade(p, PAWL_EPERSIST);
    expect_text(p, "pawl_events_stream");
    expect_refused_as_old(p);
    raw_run(db, "drop table pawl_events_stream");
    sqlite3_close(db);
    apply_upgrade(p, PAWL_OK);
    expect_delivered(p);
}

/* As the program before this one made it. */
ON_FIXTURE(the_last_version_is_upgraded, fixture *p)
{
    static const char *const before[] = {"table pawl_schema: expected version 5, found 4\n",
                                         WORKER_DIFFERENCES};
    make_version_1(p);
    apply_upgrade(p, PAWL_OK);
    sqlite3 *db = raw_open(p->path);
    raw_run(db, TO_VERSION_4);
    expect_differences(p, before, 6);
    apply_upgrade(p, PAWL_OK);
    expect_differences(p, NULL, 0);
    raw_run(db, OLD_WORKER(AT)); /* by a program of version 4, which goes on */
    sqlite3_close(db);
    expect_old_worker(p);
    expect_delivered(p);
}
