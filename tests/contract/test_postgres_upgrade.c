/* test_postgres_upgrade.c - a database that an earlier version of pawl made:
 * refused, brought to this version, and worked with (D26, D33, D34).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_fixture.h"
#include "support/tests.h"

#define OWN_DIFFERENCES                                 \
    "table pawl_dead: a replica identity is missing\n", \
        "table pawl_inbox: a replica identity is missing\n",
#include "contract/upgrade_5.h"

#define AT "'2026-01-01 00:00:00+00'"

static void make_version_1(fixture *p)
{
    char *script = old_script("schema_1_postgres.sql");
    raw_run(p->pg, test_text("create schema \"%s\"", p->schema));
    raw_run(p->pg, script);
    raw_run(p->pg, OLD_ROWS(AT));
    free(script);
}

ON_FIXTURE(the_first_version_is_upgraded, fixture *p)
{
    static const char versions[] = "select sum(xmin::text::bigint + oid::bigint) from pg_class "
                                   "where relnamespace = current_schema()::regnamespace";
    make_version_1(p);
    expect_refused_as_old(p);
    apply_upgrade(p, PAWL_OK);
    expect_differences(p, NULL, 0);
    int64_t before = raw_number(p->pg, versions);
    apply_upgrade(p, PAWL_OK);
    assert_int_equal(raw_number(p->pg, versions), before);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_outbox where \"AttemptsBefore\" "
                                       "= 0 and (\"DispatchedAt\" is not null) = (\"State\" = "
                                       "'dispatched')"),
                     3);
    expect_raw_text(p->pg, "select to_regclass('pawl_outbox_dispatched') is null", "t");
    expect_delivered(p);
}

ON_FIXTURE(the_script_upgrades, fixture *p)
{
    make_version_1(p);
    upgrade_lines *script = run_verb(p, PAWL_SCHEMA_PRINT, PAWL_OK);
    raw_run(p->pg, script->text);
    raw_run(p->pg, script->text);
    free(script);
    expect_differences(p, NULL, 0);
    expect_delivered(p);
}

/* Tables that a newer program made stay of its version. */
ON_FIXTURE(the_script_lowers_no_version, fixture *p)
{
    make_version_1(p);
    raw_run(p->pg, "update pawl_schema set \"Version\" = 6");
    upgrade_lines *script = run_verb(p, PAWL_SCHEMA_PRINT, PAWL_OK);
    raw_run(p->pg, script->text);
    free(script);
    expect_raw_text(p->pg, "select \"Version\" from pawl_schema", "6");
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
    make_version_1(p);
    raw_run(p->pg, "set plan_cache_mode = force_generic_plan; prepare go_on as " OLD_ROW(
                       "4", "pending", "0", AT, "null"));
    raw_run(p->pg, "prepare look as select \"State\", \"Body\" from pawl_outbox where \"Id\" = 1");
    raw_run(p->pg, "execute look");
    apply_upgrade(p, PAWL_OK);
    raw_run(p->pg, "execute go_on");
    raw_run(p->pg, "execute look");
    expect_raw_text(p->pg, "select \"AttemptsBefore\" from pawl_outbox where \"MessageId\" = 'm-4'",
                    "0");
}

/* This program starts on tables of the version after it. */
ON_FIXTURE(d26_a_program_opens_tables_that_are_a_version_ahead, fixture *p)
{
    make_version_1(p);
    apply_upgrade(p, PAWL_OK);
    raw_run(p->pg, NEXT_VERSION);
    expect_goes_on_a_version_behind(p);
    raw_run(p->pg, "update pawl_schema set \"Version\" = \"Version\" + 1");
    expect_refused_as_new(p);
}

static pid_t begin_apply(const fixture *p)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pawl_schema_spec spec = {.table_count = 0};
        _exit(pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, NULL) != PAWL_OK);
    }
    return child;
}

#define WAITS_FOR(table)                                                                    \
    "select (count(*) > 0)::integer from pg_locks where not granted and relation = '" table \
    "'::regclass"

/* A handler takes long: others go on meanwhile, instead of waiting behind the apply. */
ON_FIXTURE(d34_an_apply_that_waits_lets_others_work, fixture *p)
{
    int status = -1;
    make_version_1(p);
    raw_run(p->pg, "begin; select * from pawl_queue for update");
    PGconn *other = raw_open(p->schema);
    raw_run(other, "set lock_timeout = '20s'");
    pid_t child = begin_apply(p);
    raw_wait(other, WAITS_FOR("pawl_queue"), 1);
    raw_run(other, "delete from pawl_queue where false");
    PQfinish(other);
    raw_run(p->pg, "commit");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_differences(p, NULL, 0);
}

ON_FIXTURE(d34_an_apply_that_finds_tables_in_use_changes_nothing, fixture *p)
{
    pawl_schema_spec spec = {.deadline = PAWL_MILLISECONDS(1500)};
    make_version_1(p);
    PGconn *other = raw_open(p->schema);
    raw_run(other, "begin; select * from pawl_queue for update");
    refuses(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error),
            PAWL_EBUSY, "programs at work, or another session (a dump, an open transaction: ");
    PQfinish(other);
    expect_refused_as_old(p);
}

/* A commit that has locked another table needs the queue, which apply has locked. */
ON_FIXTURE(d34_a_commit_that_waits_for_an_apply_goes_first, fixture *p)
{
    int status = -1;
    make_version_1(p);
    raw_run(
        p->pg,
        "begin; set local deadlock_timeout = '600ms'; update pawl_outbox set \"Attempts\" = \"Attempts\"");
    pid_t child = begin_apply(p);
    raw_wait(p->pg, WAITS_FOR("pawl_outbox"), 1);
    raw_run(p->pg, "delete from pawl_queue; commit");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_differences(p, NULL, 0);
}

/* A worker has claimed, and writes what its handlers did: it is not met half-way,
 * where each of the two would wait for the other. */
ON_FIXTURE(apply_waits_for_what_is_claimed, fixture *p)
{
    int status = -1;
    make_version_1(p);
    raw_run(p->pg, "begin; select * from pawl_queue for update");
    pid_t child = begin_apply(p);
    raw_wait(p->pg,
             "select (count(*) > 0)::integer from pg_locks where not granted "
             "and relation = 'pawl_queue'::regclass",
             1);
    raw_run(p->pg, OLD_ROW("4", "pending", "0", AT, "null"));
    raw_run(p->pg, "delete from pawl_queue; commit");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_differences(p, NULL, 0);
}

ON_FIXTURE(a_failed_upgrade_leaves_version_1, fixture *p)
{
    make_version_1(p);
    raw_run(p->pg, "create type pawl_folds as enum ('mine')");
    apply_upgrade(p, PAWL_EPERSIST);
    expect_text(p, "pawl_folds");
    expect_refused_as_old(p);
    raw_run(p->pg, "drop type pawl_folds");
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
    raw_run(p->pg, TO_VERSION_4);
    expect_differences(p, before, 6);
    apply_upgrade(p, PAWL_OK);
    expect_differences(p, NULL, 0);
    raw_run(p->pg, OLD_WORKER(AT)); /* by a program of version 4, which goes on */
    expect_old_worker(p);
    expect_delivered(p);
}

/* ---- What apply would run ------------------------------------------------ */

#define OBJECTS                                                                              \
    "select (select count(*) from pg_attribute where attrelid in (select oid from pg_class " \
    "where relnamespace = to_regnamespace(current_schema()))) + (select count(*) from "      \
    "pg_proc where pronamespace = to_regnamespace(current_schema()))"

/* In a session with another search path; a plan waits for no lock of those who apply. */
static void plan_is_run(fixture *p, const char *difference)
{
    PGconn *pg     = raw_open("pg_catalog");
    int64_t before = raw_number(p->pg, OBJECTS);
    raw_run(pg, "begin; select pg_advisory_xact_lock(1885435756)");
    upgrade_lines *plan = run_verb(p, PAWL_SCHEMA_PLAN, PAWL_OK);
    raw_run(pg, "rollback");
    assert_non_null(strstr(plan->text, difference));
    assert_int_equal(raw_number(p->pg, OBJECTS), before);
    free(run_verb(p, PAWL_SCHEMA_VERIFY, PAWL_ESCHEMA));
    raw_run(pg, plan->text);
    PQfinish(pg);
    free(plan);
    expect_differences(p, NULL, 0);
    plan = run_verb(p, PAWL_SCHEMA_PLAN, PAWL_OK);
    assert_int_equal(plan->count, 0);
    free(plan);
}

ON_FIXTURE(d34_a_plan_makes_what_apply_makes, fixture *p)
{
    plan_is_run(p, test_text("create schema \"%s\";\n", p->schema));
    raw_run(p->pg, "drop table pawl_dead; drop function pawl_send");
    plan_is_run(p, "-- table pawl_dead is missing\n");
}

ON_FIXTURE(d34_a_plan_upgrades, fixture *p)
{
    make_version_1(p);
    plan_is_run(p, "-- table pawl_schema: expected version 5, found 1\n");
    expect_delivered(p);
}
