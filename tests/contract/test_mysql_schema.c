/* test_mysql_schema.c - apply, verify and drop on MySQL and MariaDB, where every statement that makes a
 * table commits by itself (D26 to D28, D34, D38).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "support/tests.h"

#define STATEMENTS_MAX 120

/* ---- An apply that broke off --------------------------------------------- */

typedef struct script {
    char   text[60000];
    size_t size;
    char  *statements[STATEMENTS_MAX];
    size_t count;
} script;

static void add_line(pawl_text line, void *context)
{
    script *s = context;
    if (line.size >= 2 && memcmp(line.data, "--", 2) == 0)
        return;
    assert_true(s->size + line.size + 2 < sizeof s->text);
    memcpy(s->text + s->size, line.data, line.size);
    s->size += line.size;
    s->text[s->size++] = '\n';
}

/* A statement ends with ';' at the end of a line. */
static void cut(script *s)
{
    for (char *begin = s->text, *end; (end = strstr(begin, ";\n")) != NULL; begin = end + 2) {
        *end = '\0';
        assert_true(s->count < STATEMENTS_MAX);
        s->statements[s->count++] = begin;
    }
}

static void empty_database(fixture *p)
{
    raw_run(p->raw, test_text("drop database %s", p->database));
    raw_run(p->raw, test_text("create database %s", p->database));
    assert_int_equal(mysql_select_db(p->raw, p->database), 0);
}

/* The first statements were done when the run was broken off, in a session whose settings would keep nothing of them. */
static void break_off(fixture *p, const script *s, size_t done)
{
    MYSQL *session = raw_connect(p, p->database);
    raw_run(session, "set session transaction read only");
    raw_run(session, "set autocommit = 0");
    for (size_t i = 0; i < done; i++)
        raw_run(session, s->statements[i]);
    mysql_close(session); /* its lock and what it prepared are gone with it */
}

/* Without sagas the version is the last that the script writes, so that no statement on tables commits it. */
ON_BOTH(d34_the_scripts_version_stays_without_autocommit, fixture *p)
{
    const pawl_schema_spec spec = {.table_count = 0};
    script                *s    = test_zeroed(sizeof *s);
    for (int run = 0; run < 2; run++) {
        s->size = s->count = 0;
        memset(s->text, 0, sizeof s->text);
        ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_PRINT, &spec, add_line, s, &p->error));
        cut(s);
        break_off(p, s, s->count);
        ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, no_line, NULL, &p->error));
    }
}

/* An apply that broke off may leave anything: no program opens the store before it is whole, verify
 * says what is missing, and the next apply makes the rest. */
ON_BOTH(d34_an_apply_that_broke_off_is_finished_by_the_next, fixture *p)
{
    script     *s     = test_zeroed(sizeof *s);
    pawl_store *store = NULL;
    size_t      half  = 0;
    ok(p, schema_at(p, PAWL_SCHEMA_PRINT, add_line, s));
    cut(s);
    assert_true(s->count > 20);
    for (size_t done = 3; done <= s->count; done++) {
        empty_database(p);
        break_off(p, s, done);
        pawl_code verified = schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL);
        pawl_code opened   = open_at(p, p->url, 0, &store);
        test_now(store);
        half += verified != PAWL_OK;
        if (verified != PAWL_OK && verified != PAWL_ESCHEMA)
            fail_msg("%zu: %s", done, p->error.text);
        if (opened != verified)
            fail_msg("%zu: open is %s, verify %s", done, pawl_code_name(opened),
                     pawl_code_name(verified));
        apply(p);
        ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
        ok(p, open_at(p, p->url, 0, &store));
        test_now(store);
    }
    assert_true(half >= 16); /* the shared tables and the saga's, one by one */
}

/* ---- Verify ---------------------------------------------------------------- */

/* After `sql` verify says this, and nothing else; apply and `undo` make it whole. */
static void differs(fixture *p, const char *sql, const char *words, const char *undo)
{
    test_lines l = {.count = 0};
    raw_run(p->raw, sql);
    expect_code(p, schema_at(p, PAWL_SCHEMA_VERIFY, test_line, &l), PAWL_ESCHEMA);
    if (l.count != 1 || strstr(l.text, words) == NULL)
        fail_msg("after '%s' verify says '%s', expected '%s'", sql, l.text, words);
    raw_run(p->raw, undo);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
}

/* The table may be another program's. */
ON_BOTH(d20_a_saga_table_that_ignores_case_is_refused, fixture *p)
{
    apply(p);
    raw_run(p->raw, "alter table shop_Order modify Correlation_order_id varchar(200) character set "
                    "utf8mb4 collate utf8mb4_general_ci null");
    refuses(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL), PAWL_ESCHEMA,
            "its collation utf8mb4_general_ci takes 'A' and 'a' for equal");
}

#define EXACT(p) (strcmp((p)->scheme, "mysql") == 0 ? "utf8mb4_0900_bin" : "utf8mb4_nopad_bin")

ON_BOTH(d38_verify_sees_every_difference, fixture *p)
{
    char undo[300];
    bool is_mariadb = strcmp(p->scheme, "mariadb") == 0;
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
    differs(p, "alter table pawl_queue modify Due datetime not null",
            "column Due: incorrect data type: expected datetime(6), found datetime",
            "alter table pawl_queue modify Due datetime(6) not null");
    differs(p, "alter table pawl_queue modify Attempts int not null",
            is_mariadb ? "expected bigint(20), found int(11)" : "expected bigint, found int",
            "alter table pawl_queue modify Attempts bigint not null");
    snprintf(
        undo, sizeof undo,
        "alter table shop_Order modify Correlation_order_id varchar(200) character set utf8mb4 "
        "collate %s null",
        EXACT(p));
    differs(p,
            "alter table shop_Order modify Correlation_order_id varchar(100) character set utf8mb4 "
            "collate utf8mb4_bin null",
            "incorrect data type: expected varchar(200), found varchar(100)", undo);
    differs(p,
            "alter table shop_Order modify Correlation_order_id varchar(200) character set utf8mb4 "
            "collate utf8mb4_bin null",
            "expected collation utf8mb4_", undo);
    differs(p, "alter table shop_Order modify Correlation_order_id bigint null",
            is_mariadb ? "expected varchar(200), found bigint(20)"
                       : "expected varchar(200), found bigint",
            undo);
    differs(p, "drop index Index_Correlation_order_id on shop_Order",
            "index Index_Correlation_order_id is missing",
            "create unique index Index_Correlation_order_id on shop_Order (Correlation_order_id)");
    differs(p,
            "alter table shop_Order drop index Index_Correlation_order_id, add unique index "
            "Index_Correlation_order_id (Correlation_order_id(20))",
            "found `Correlation_order_id`(20)",
            "alter table shop_Order drop index Index_Correlation_order_id, add unique index "
            "Index_Correlation_order_id (Correlation_order_id)");
    differs(p, "alter table pawl_dead drop primary key, add primary key (Endpoint, MessageId, At)",
            "table pawl_dead: primary key: expected `Endpoint`, `MessageId`",
            "alter table pawl_dead drop primary key, add primary key (Endpoint, MessageId)");
    differs(p, "alter table pawl_checkpoints engine = MyISAM",
            "table pawl_checkpoints: its engine is MyISAM, InnoDB is needed",
            "alter table pawl_checkpoints engine = InnoDB");
    differs(p,
            "alter table pawl_queue add column Mine int not null, add column Yours int not null "
            "default 7, add column Theirs int",
            "column Mine is not known, not null and has no default",
            "alter table pawl_queue drop column Mine"); /* the others do no harm */
    differs(p, "update pawl_schema set Version = 1", "expected version 5, found 1",
            "update pawl_schema set Version = 5");
}

/* Columns that came with version 5. */
ON_BOTH(a_table_of_the_version_before_gets_its_columns, fixture *p)
{
    test_lines l = {.count = 0};
    apply(p);
    raw_run(p->raw, "alter table pawl_workers drop column Host, drop column Program, "
                    "drop column ProgramVersion, drop column PawlVersion, drop column Started");
    raw_run(p->raw, "update pawl_schema set Version = 4");
    expect_code(p, schema_at(p, PAWL_SCHEMA_VERIFY, test_line, &l), PAWL_ESCHEMA);
    assert_int_equal(l.count, 6);
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
}

#define NARROW                                                           \
    "alter table pawl_outbox drop index pawl_outbox_pending, add index " \
    "pawl_outbox_pending (State, Id, NextAttempt)"

/* The index of pending outbox rows had three columns first. */
ON_BOTH(an_outbox_index_without_the_endpoint_gets_it, fixture *p)
{
    test_lines l = {.count = 0};
    apply(p);
    raw_run(p->raw, NARROW);
    expect_code(p, schema_at(p, PAWL_SCHEMA_VERIFY, test_line, &l), PAWL_ESCHEMA);
    assert_int_equal(l.count, 1);
    assert_non_null(strstr(l.text, "index pawl_outbox_pending: expected `State`, `Id`, "
                                   "`NextAttempt`, `Endpoint`"));
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
}

#define ENTRIES "select count(*) from information_schema.statistics where table_schema = database()"
#define DROPS                                                                                  \
    "select group_concat('drop index ', index_name) from information_schema.statistics where " \
    "table_schema = database() and table_name = '%s' and index_name <> 'PRIMARY' and "         \
    "seq_in_index = 1"

/* All indexes of the table but its key. */
static void drop_indexes(fixture *p, const char *table)
{
    char sql[600];
    snprintf(sql, sizeof sql, DROPS, table);
    if (mysql_query(p->raw, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(p->raw));
    MYSQL_RES *rows = mysql_store_result(p->raw);
    snprintf(sql, sizeof sql, "alter table %s %s", table, mysql_fetch_row(rows)[0]);
    mysql_free_result(rows);
    raw_run(p->raw, sql);
}

/* "create table if not exists" makes no index of a table that is there. */
ON_BOTH(d12_apply_makes_missing_indexes, fixture *p)
{
    static const char *const tables[] = {
        "pawl_queue",    "pawl_dead",    "pawl_inbox",      "pawl_outbox",           "pawl_events",
        "pawl_timeouts", "pawl_history", "pawl_aggregator", "pawl_aggregator_flush", "shop_Order"};
    apply(p);
    long long entries = raw_number(p->raw, ENTRIES);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        drop_indexes(p, tables[i]);
    assert_true(raw_number(p->raw, ENTRIES) < entries - 20);
    expect_code(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL), PAWL_ESCHEMA);
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
    assert_int_equal(raw_number(p->raw, ENTRIES), entries);
}

#define TWICE                                                                                   \
    "insert into pawl_queue (Queue, Due, Placed, Attempts, Deaths, WaitingSince, MessageId, "   \
    "Type, CorrelationId, CausationId, Error, Headers, Body) select 'orders', '2026-01-01', "   \
    "'2026-01-01', 0, 0, '2026-01-01', 'm-1', 'note', 'm-1', '', '', '', '' from (select 1 as " \
    "one union all select 2) as two"

/* Two rows of one id: the index of ids cannot be made. Without it nothing would be deduplicated. */
ON_BOTH(d34_an_apply_whose_index_fails_leaves_the_version, fixture *p)
{
    static const char *const before[] = {"update pawl_schema set Version = 4",
                                         "delete from pawl_schema"};
    pawl_store              *store    = NULL;
    apply(p);
    raw_run(p->raw, "alter table pawl_queue drop index pawl_queue_message");
    raw_run(p->raw, TWICE);
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        raw_run(p->raw, before[i]);
        refuses(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL), PAWL_EDUPLICATE,
                "table pawl_queue: ");
        expect_code(p, open_at(p, p->url, 0, &store), PAWL_ESCHEMA);
    }
    raw_run(p->raw, "delete from pawl_queue limit 1");
    apply(p);
    ok(p, open_at(p, p->url, 0, &store));
    test_now(store);
}

/* An open transaction keeps the table: whoever needs it waits behind an apply that waits. */
ON_BOTH(d34_apply_waits_briefly_for_an_open_transaction, fixture *p)
{
    pawl_schema_spec spec = {.tables = order_tables, .table_count = 1, .deadline = PAWL_SECONDS(3)};
    MYSQL           *reader = raw_connect(p, p->database);
    apply(p);
    raw_run(p->raw, "alter table pawl_queue drop index pawl_queue_due");
    raw_run(reader, "begin");
    raw_run(reader, "select * from pawl_queue");
    refuses(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, no_line, NULL, &p->error),
            PAWL_EBUSY, "table pawl_queue: ");
    expect_text(p, "keep tables in use, what was made stays; try again");
    expect_code(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL), PAWL_ESCHEMA);
    mysql_close(reader);
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
}

/* Apply changes no column, and says so. */
ON_BOTH(d38_apply_says_what_it_leaves, fixture *p)
{
    apply(p);
    raw_run(p->raw, "alter table pawl_queue modify Attempts int not null");
    raw_run(p->raw, "alter table pawl_history drop index pawl_history_message");
    refuses(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL), PAWL_ESCHEMA,
            "what was missing is made; 1 difference is left that `pawl schema apply` does "
            "not change, and `pawl schema verify` lists: table pawl_queue: column Attempts");
    refuses(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL), PAWL_ESCHEMA,
            "the schema has 1 difference that `pawl schema apply` does not change: alter "
            "the tables by SQL");
    raw_run(p->raw, "alter table pawl_history drop index pawl_history_message");
    raw_run(p->raw, NARROW);
    refuses(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL), PAWL_ESCHEMA,
            "the schema has 3 differences; run: pawl schema apply");
    expect_text(p, "(1 of them has to be changed by SQL)");
}

/* ---- What apply would run -------------------------------------------------- */

/* Behind no lock. */
static void plan_is_run(fixture *p, const char *difference)
{
    static const char objects[] = "select count(*) from information_schema.columns where "
                                  "table_schema = database()";
    script           *s         = calloc(1, sizeof *s);
    test_lines        said      = {.count = 0};
    long long         before    = raw_number(p->raw, objects);
    raw_run(p->raw, "do get_lock(concat('pawl_', left(sha2(database(), 256), 40)), 0)");
    ok(p, schema_at(p, PAWL_SCHEMA_PLAN, add_line, s));
    raw_run(p->raw, "do release_lock(concat('pawl_', left(sha2(database(), 256), 40)))");
    assert_int_equal(raw_number(p->raw, objects), before);
    expect_code(p, schema_at(p, PAWL_SCHEMA_VERIFY, test_line, &said), PAWL_ESCHEMA);
    assert_non_null(strstr(said.text, difference));
    cut(s);
    break_off(p, s, s->count);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
    said.count = 0;
    ok(p, schema_at(p, PAWL_SCHEMA_PLAN, test_line, &said));
    assert_int_equal(said.count, 0);
    free(s);
}

ON_BOTH(d34_a_plan_makes_what_apply_makes, fixture *p)
{
    plan_is_run(p, "table pawl_queue is missing");
    raw_run(p->raw, "drop table pawl_dead");
    plan_is_run(p, "table pawl_dead is missing");
    raw_run(p->raw, "alter table shop_Order drop index Index_Correlation_order_id, "
                    "drop column Correlation_order_id");
    plan_is_run(p, "column Correlation_order_id is missing");
    raw_run(p->raw, NARROW);
    plan_is_run(p, "index pawl_outbox_pending: expected");
    raw_run(p->raw, "alter table pawl_queue drop index pawl_queue_due");
    plan_is_run(p, "index pawl_queue_due is missing");
}

/* ---- Together ---------------------------------------------------------------- */

ON_BOTH(d26_a_second_apply_waits_for_the_first_within_its_deadline, fixture *p)
{
    pawl_schema_spec spec = {.tables = order_tables, .table_count = 1};
    raw_run(p->raw, "do get_lock(concat('pawl_', left(sha2(database(), 256), 40)), 0)");
    expect_code(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL),
                PAWL_ESCHEMA); /* needs no lock */
    spec.deadline = PAWL_MILLISECONDS(300);
    refuses(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, no_line, NULL, &p->error),
            PAWL_EBUSY, "another process makes or drops tables in this database");
    assert_null(strstr(p->error.text, "keep tables in use"));
    raw_run(p->raw, "do release_lock(concat('pawl_', left(sha2(database(), 256), 40)))");
    apply(p);
    assert_int_equal(
        raw_number(p->raw, "select is_used_lock(concat('pawl_', left(sha2(database(), 256), 40)))"),
        -1);
}

ON_BOTH(d28_a_newer_schema_and_a_column_of_another_type_are_refused, fixture *p)
{
    pawl_store *store = NULL;
    apply(p);
    raw_run(p->raw, "update pawl_schema set Version = 99");
    refuses(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL), PAWL_ESCHEMA,
            "a newer pawl made it");
    expect_code(p, open_at(p, p->url, 0, &store), PAWL_ESCHEMA);
    raw_run(p->raw, "update pawl_schema set Version = 6");
    raw_run(p->raw, "alter table pawl_workers add column Later bigint default 7 not null");
    expect_code(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL), PAWL_ESCHEMA);
    ok(p, open_at(p, p->url, 0, &store)); /* one version ahead */
    ok(p, pawl_store_worker_open(store, PAWL_TEXT("orders"), PAWL_TEXT("[]"), 1, &p->error));
    test_now(store);
    raw_run(p->raw, "update pawl_schema set Version = 5");
    raw_run(p->raw, "alter table shop_Order modify Correlation_order_id bigint null");
    refuses(p, schema_at(p, PAWL_SCHEMA_APPLY, no_line, NULL), PAWL_ESCHEMA,
            "incorrect data type: expected varchar(200), found bigint");
    expect_code(p, open_at(p, p->url, 0, &store), PAWL_ESCHEMA);
}

ON_BOTH(d27_drop_leaves_what_is_not_pawls, fixture *p)
{
    apply(p);
    raw_run(p->raw, "create table mine (id int primary key)");
    ok(p, schema_at(p, PAWL_SCHEMA_DROP, no_line, NULL));
    assert_int_equal(
        raw_number(
            p->raw,
            "select count(*) from information_schema.tables where table_schema = database()"),
        1);
    assert_int_equal(raw_number(p->raw, "select count(*) from mine"), 0);
    ok(p, schema_at(p, PAWL_SCHEMA_DROP, no_line, NULL)); /* nothing is there */
}

/* Of a text with its character set. */
static void expect_type(const fixture *p, const char *table, const char *column, const char *type)
{
    if (raw_number(
            p->raw,
            test_text(
                "select count(*) from information_schema.columns where table_schema = database() and "
                "table_name = '%s' and column_name = '%s' and "
                "concat_ws(' ', column_type, character_set_name) like '%s'",
                table, column, type)) != 1)
        fail_msg("%s.%s is not %s", table, column, type);
}

ON_BOTH(d14_columns_have_the_types_of_the_source, fixture *p)
{
    static const pawl_saga_table by_time = {
        .type         = PAWL_TEXT_INIT("Shift"),
        .name         = PAWL_TEXT_INIT("shop_Shift"),
        .main         = {.property = PAWL_TEXT_INIT("at"), .type = PAWL_VALUE_TIME},
        .transitional = {.property = PAWL_TEXT_INIT("number"), .type = PAWL_VALUE_INT},
    };
    static const pawl_saga_table by_uuid = {
        .type = PAWL_TEXT_INIT("Visit"),
        .name = PAWL_TEXT_INIT("shop_Visit"),
        .main = {.property = PAWL_TEXT_INIT("guest"), .type = PAWL_VALUE_UUID},
    };
    static const pawl_saga_table *const tables[] = {&order_table, &by_time, &by_uuid};
    pawl_schema_spec                    spec     = {.tables = tables, .table_count = 3};
    const char *json = strcmp(p->scheme, "mysql") == 0 ? "json" : "longtext utf8mb4";
    ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, no_line, NULL, &p->error));
    expect_type(p, "shop_Order", "Id", "varchar(38) ascii");
    expect_type(p, "shop_Order", "Metadata", json);
    expect_type(p, "shop_Order", "Data", json);
    expect_type(p, "shop_Order", "PersistenceVersion", "varchar(23) ascii");
    expect_type(p, "shop_Order", "Correlation_order_id", "varchar(200) utf8mb4");
    expect_type(p, "shop_Shift", "Correlation_at", "datetime(6)");
    expect_type(p, "shop_Shift", "Correlation_number", "bigint%");
    expect_type(p, "shop_Visit", "Correlation_guest", "varchar(38) ascii");
}

ON_BOTH(d36_uuids_are_texts_of_one_form, fixture *p)
{
    pawl_store      *store   = NULL;
    pawl_timeout_set set     = {.name        = PAWL_TEXT("pay"),
                                .saga_type   = PAWL_TEXT("Order"),
                                .destination = PAWL_TEXT("orders"),
                                .due         = 1};
    pawl_changes     changes = {.now = 1, ONE_UNIT, .timeout_set = {.items = &set, .count = 1}};
    must(pawl_uuid_parse(PAWL_TEXT("ABCDEF01-2345-7789-8bcd-eF0123456789"), &set.id.uuid,
                         world_error()));
    must(pawl_uuid_parse(PAWL_TEXT("0F1E2D3C-4B5A-7697-8887-A6B5C4D3E2F1"), &set.saga_id.uuid,
                         world_error()));
    apply(p);
    ok(p, open_at(p, p->url, 0, &store));
    ok(p, pawl_store_worker_open(store, PAWL_TEXT("orders"), PAWL_TEXT("[]"), 1, &p->error));
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(raw_number(p->raw,
                                "select count(*) from pawl_timeouts where "
                                "binary Id = binary 'abcdef01-2345-7789-8bcd-ef0123456789' and "
                                "binary SagaId = binary '0f1e2d3c-4b5a-7697-8887-a6b5c4d3e2f1'"),
                     1);
}

/* A correlation that is new gets its column, with null in the rows that are there. */
ON_BOTH(d12_apply_adds_what_is_missing, fixture *p)
{
    apply(p);
    raw_run(p->raw, "alter table shop_Order drop index Index_Correlation_order_id, "
                    "drop column Correlation_order_id");
    raw_run(p->raw, "drop table pawl_dead");
    pawl_store *store = NULL;
    refuses(p, open_at(p, p->url, 0, &store), PAWL_ESCHEMA,
            "saga table shop_Order is missing or incomplete; run: pawl schema apply");
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
}
