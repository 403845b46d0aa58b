/* test_sqlite_schema.c - the script, and what apply, verify and drop make of a
 * file (D1, D3, D9, D11, D12, D26 to D28, D33, D34, D39).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/at_once.h"
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

#define LINES_SIZE 60000

typedef struct lines {
    char   text[LINES_SIZE];
    size_t size;
    size_t count;
} lines;

static void keep_line(pawl_text line, void *context)
{
    lines *l = context;
    assert_true(l->size + line.size + 2 < sizeof l->text);
    memcpy(l->text + l->size, line.data, line.size);
    l->size += line.size;
    l->text[l->size++] = '\n';
    l->text[l->size]   = '\0';
    l->count++;
}

static pawl_code run_schema(fixture *p, const char *url, pawl_schema_verb verb,
                            const pawl_saga_table *const *tables, size_t count, lines *out)
{
    pawl_schema_spec spec = {.tables = tables, .table_count = count};
    *out                  = (lines){{0}, 0, 0};
    return pawl_store_schema(url, verb, &spec, keep_line, out, &p->error);
}

/* A table of two correlation columns whose name is no plain word. */
static const pawl_saga_table odd_table = {
    .type         = PAWL_TEXT_INIT("Odd"),
    .name         = PAWL_TEXT_INIT("My caf\xC3\xA9 saga"),
    .main         = {.property = PAWL_TEXT_INIT("n\xC3\xBAmero"), .type = PAWL_VALUE_INT},
    .transitional = {.property = PAWL_TEXT_INIT("when it was"), .type = PAWL_VALUE_TIME},
};
static const pawl_saga_table *const both_tables[] = {&order_table, &odd_table};

/* Everything in the file but what SQLite makes itself. */
static int64_t object_count(const char *path)
{
    return path_number(path, "select count(*) from sqlite_schema where name not like 'sqlite_%'");
}

ON_FIXTURE(the_script_makes_what_create_makes, fixture *p)
{
    lines *script = calloc(2, sizeof *script);
    assert_non_null(script);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PRINT, both_tables, 2, &script[0]));
    ok(p, run_schema(p, "sqlite:elsewhere.db", PAWL_SCHEMA_PRINT, both_tables, 2, &script[1]));
    assert_string_equal(script[0].text, script[1].text);
    assert_int_not_equal(access(p->path, F_OK), 0);

    sqlite3 *db = raw_open(test_text("%s-copy", p->path));
    raw_run(db, script[0].text);
    raw_run(db, script[0].text);
    pawl_store *store = NULL;
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, both_tables, 2, &store));
    raw_run(db, test_text("attach '%s' as other", p->path));
    assert_int_equal(raw_number(db, "select count(*) from (select name, sql from "
                                    "main.sqlite_schema except select name, sql from "
                                    "other.sqlite_schema)"),
                     0);
    assert_int_equal(raw_number(db, "select (select count(*) from main.sqlite_schema) - "
                                    "(select count(*) from other.sqlite_schema)"),
                     0);
    sqlite3_close(db);
    free(script);
}

ON_FIXTURE(applying_twice_changes_nothing, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out));
    int64_t version = path_number(p->path, "pragma schema_version");
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out));
    assert_int_equal(path_number(p->path, "pragma schema_version"), version);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
    assert_int_equal(out->count, 0);
}

ON_FIXTURE(dropping_leaves_what_is_not_ours, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "create table mine (id integer); insert into mine values (1)");
    sqlite3_close(db);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_DROP, both_tables, 2, out));
    assert_int_equal(object_count(p->path), 1);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_DROP, both_tables, 2, out));
    assert_int_equal(path_number(p->path, "select count(*) from mine"), 1);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out));
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 0);
}

ON_FIXTURE(verify_names_each_difference, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    expect_code(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, order_tables, 1, out),
                PAWL_EUNREACHABLE);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "drop table pawl_dead;"
                "drop index pawl_queue_due;"
                "drop index pawl_inbox_message;"
                "create index pawl_inbox_message on pawl_inbox (Endpoint);"
                "alter table pawl_leases rename column Expires to Ends;"
                "alter table pawl_leases add column Mine integer not null default 7;"
                "alter table pawl_leases add column Yours integer;"
                "drop index Index_shop_Order_Correlation_order_id;"
                "alter table shop_Order drop column Correlation_order_id;"
                "alter table shop_Order add column Correlation_order_id integer");
    sqlite3_close(db);
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, order_tables, 1, out), PAWL_ESCHEMA,
            "8 differences; run: pawl schema apply --store");
    expect_text(p, " (5 of them have to be changed by SQL)");
    assert_int_equal(out->count, 8);
    assert_non_null(strstr(out->text, "table pawl_dead is missing\n"));
    assert_non_null(strstr(out->text, "table pawl_queue: index pawl_queue_due is missing\n"));
    assert_non_null(strstr(out->text, "index pawl_inbox_message: expected unique"));
    assert_non_null(strstr(out->text, "index pawl_inbox_message: expected \"Endpoint\", "
                                      "\"MessageId\", found \"Endpoint\"\n"));
    assert_non_null(strstr(out->text, "table pawl_leases: column Ends is not known, not null and "
                                      "has no default"));
    assert_non_null(strstr(
        out->text,
        "table pawl_leases: column Expires is missing: add it by SQL, as `pawl schema print` has it\n"));
    assert_non_null(strstr(out->text, "column Correlation_order_id: incorrect data type: expected "
                                      "text, found INTEGER\n"));
    assert_non_null(strstr(out->text, "index Index_shop_Order_Correlation_order_id is missing\n"));
}

/* A column that no step adds: apply leaves it missing, and nobody is sent to apply. */
ON_FIXTURE(a_missing_column_of_the_beginning_is_added_by_sql, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "alter table pawl_dead drop column CausationId");
    sqlite3_close(db);
    expect_code(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, order_tables, 1, out), PAWL_ESCHEMA);
    expect_text(p,
                "1 difference that `pawl schema apply` does not change: alter the tables by SQL");
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out), PAWL_ESCHEMA,
            "is missing: add it by SQL, as `pawl schema print` has it");
}

/* The version says that all is there; apply looks further, as verify does. */
ON_FIXTURE(apply_makes_what_verify_misses, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "drop index pawl_outbox_tried; drop index pawl_queue_due");
    sqlite3_close(db);
    expect_code(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, order_tables, 1, out), PAWL_ESCHEMA);
    assert_int_equal(out->count, 2);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out));
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, order_tables, 1, out));
}

/* Two rows of one id: the index cannot be made. */
ON_FIXTURE(an_error_of_apply_names_the_table, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "drop index pawl_inbox_message;"
                "insert into pawl_inbox (Endpoint, MessageId, Outcome, At) values "
                "('orders', 'm-1', 'handled', 0), ('orders', 'm-1', 'handled', 0)");
    sqlite3_close(db);
    assert_int_not_equal(run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out), PAWL_OK);
    expect_text(p, "table pawl_inbox: ");
}

/* D27: rows stay and are null in the new column; then it is used. */
ON_FIXTURE(d27_a_correlation_column_is_added, fixture *p)
{
    pawl_saga_table        plain = {.type = TEXT("Order"), .name = TEXT("shop_Order")};
    const pawl_saga_table *list  = &plain;
    pawl_store            *store = NULL;
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, &list, 1, &store));
    pawl_saga_insert insert = {.table = &plain, .id = {uuid_of(1)}, .data = TEXT("{\"a\":1}")};
    pawl_changes changes    = {.now = NOW, ONE_UNIT, .saga_insert = {.items = &insert, .count = 1}};
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    test_now(store);

    expect_code(p, open_as(p, p->url, PAWL_OPEN_CHECK, order_tables, 1, &store), PAWL_ESCHEMA);
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, order_tables, 1, &store));
    pawl_value    id  = pawl_value_uuid(uuid_of(1));
    pawl_saga_row row = {0};
    ok(p, pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, &id, 1, PAWL_SAGA_UNLOCKED,
                               p->arena, &row, &p->error));
    assert_int_equal(row.version, 1);
    assert_int_equal(row.main.type, PAWL_VALUE_NONE);
    assert_true(pawl_text_equal(row.data, TEXT("{\"a\":1}")));
    assert_int_equal(path_number(p->path, "select count(*) from shop_Order where "
                                          "Correlation_order_id is null"),
                     1);
    /* Its index is there, and unique but for null. */
    insert = (pawl_saga_insert){.table = &order_table, .main = pawl_value_text(TEXT("o-1"))};
    for (unsigned i = 2; i <= 3; i++) {
        pawl_refusals refused = {.arena = p->arena};
        insert.id.uuid        = uuid_of(i);
        insert.data           = TEXT("{}");
        ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
        assert_int_equal(refused.count, i - 2);
    }
    assert_int_equal(path_number(p->path, "select count(*) from pragma_index_list('shop_Order') "
                                          "where name = 'Index_shop_Order_Correlation_order_id' "
                                          "and \"unique\" = 1"),
                     1);
}

/* D28: nothing is converted, nothing else is made either. */
ON_FIXTURE(another_type_of_correlation_is_refused, fixture *p)
{
    pawl_saga_table        changed = order_table;
    const pawl_saga_table *list[]  = {&changed, &odd_table};
    pawl_store            *store   = NULL;
    changed.main.type              = PAWL_VALUE_TIME;
    test_now(open_store(p, p->url));
    int64_t before = object_count(p->path);
    expect_code(p, open_as(p, p->url, PAWL_OPEN_CREATE, list, 2, &store), PAWL_ESCHEMA);
    expect_text(p,
                "column Correlation_order_id: incorrect data type: expected integer, found TEXT");
    expect_text(p, "; nothing is converted; the table has 0 rows");
    assert_int_equal(object_count(p->path), before);
    sqlite3 *db = raw_open(p->path);
    raw_run(db,
            "insert into shop_Order (Id, Metadata, Data, PersistenceVersion, SagaTypeVersion, "
            "Concurrency, Correlation_order_id) values ('00112233-4455-6677-8899-aabbccddeeff', "
            "'{}', '{}', '1', '1.0', 1, 'o-1')");
    sqlite3_close(db);
    refuses(p, open_as(p, p->url, PAWL_OPEN_CREATE, list, 2, &store), PAWL_ESCHEMA,
            "; nothing is converted; the table has 1 row");
}

/* D26: neither taken for the saga's, nor changed. */
ON_FIXTURE(a_strangers_table_is_refused, fixture *p)
{
    static const char says[] = "is there without the column Metadata, which every saga table has";
    pawl_store       *store  = NULL;
    lines            *out    = test_zeroed(sizeof *out);
    test_now(open_store(p, p->url));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, test_text("drop table \"%.*s\"; create table \"%.*s\" (\"Id\" text, note text)",
                          PAWL_TEXT_ARGS(order_table.name), PAWL_TEXT_ARGS(order_table.name)));
    sqlite3_close(db);
    int64_t before = object_count(p->path);
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out), PAWL_ESCHEMA, says);
    refuses(p, open_as(p, p->url, PAWL_OPEN_CREATE, both_tables, 2, &store), PAWL_ESCHEMA, says);
    assert_int_equal(object_count(p->path), before);
}

ON_FIXTURE(quotes_in_names_are_refused, fixture *p)
{
    static const char *const names[] = {"a[b", "a]b", "a`b", "a\"b", ""};
    for (size_t i = 0; i < COUNT(names); i++) {
        pawl_store            *store = NULL;
        pawl_saga_table        bad   = order_table;
        const pawl_saga_table *list  = &bad;
        bad.name                     = pawl_text_of(names[i]);
        refuses(p, open_as(p, p->url, PAWL_OPEN_CREATE, &list, 1, &store), PAWL_EINVAL,
                "saga Order");
        bad               = order_table;
        bad.main.property = pawl_text_of(names[i]);
        expect_code(p, open_as(p, p->url, PAWL_OPEN_CREATE, &list, 1, &store), PAWL_EINVAL);
    }
}

/* D39: what an operator reads with plain SQL. */
ON_FIXTURE(columns_hold_readable_values, fixture *p)
{
    pawl_store      *store  = open_store(p, p->url);
    pawl_saga_insert insert = {.table    = &order_table,
                               .id       = {uuid_of(1)},
                               .main     = pawl_value_text(TEXT("order-1")),
                               .metadata = TEXT("{}"),
                               .data     = TEXT("{\"cents\":5}")};
    pawl_changes changes    = {.now = NOW, ONE_UNIT, .saga_insert = {.items = &insert, .count = 1}};
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    sqlite3 *db = raw_open(p->path);
    assert_int_equal(raw_number(db, "select count(*) from shop_Order where Id = "
                                    "'01000000-0000-0000-0000-000000000001' and Concurrency = 1 "
                                    "and Data ->> 'cents' = 5 and Correlation_order_id = 'order-1' "
                                    "and PersistenceVersion <> ''"),
                     1);
    assert_int_equal(sqlite3_exec(db, "update shop_Order set Data = '{'", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_exec(db, "update shop_Order set Concurrency = 'x'", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT);
    insert.id.uuid = uuid_of(2);
    insert.main    = pawl_value_text(TEXT("order-2"));
    insert.data    = TEXT("{");
    refuses(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_EINVAL, "saga_insert 0");
    assert_int_equal(raw_number(db, "select count(*) from shop_Order"), 1);
    sqlite3_close(db);
}

/* No number is used again, even when the newest row is gone. */
ON_FIXTURE(ids_are_never_used_again, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    int64_t     last  = 0;
    for (int i = 0; i < 3; i++) {
        ok(p, send_one(p, store, "orders", "m-1"));
        pawl_queue_rows rows = claim_some(p, store, "orders", 1);
        assert_int_equal(rows.count, 1);
        assert_true(rows.items[0].seq > last);
        last = rows.items[0].seq;
        ok(p, settle_one(p, store, "orders", last));
    }
}

static pawl_code create_both(void *context, pawl_error *error)
{
    fixture    *p     = context;
    pawl_store *store = NULL;
    pawl_code   code  = open_as(p, p->url, PAWL_OPEN_CREATE, both_tables, 2, &store);
    *error            = p->error;
    test_now(store);
    return code;
}

/* D34: whoever comes second waits, and finds it done. */
ON_FIXTURE(processes_may_create_at_once, fixture *p)
{
    run_at_once(create_both, p);
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
}

/* The last table's name is taken, which is met when all others are made. */
ON_FIXTURE(d34_a_failed_install_leaves_nothing, fixture *p)
{
    lines   *out = test_zeroed(sizeof *out);
    sqlite3 *db  = raw_open(p->path);
    raw_run(db, "create view \"My caf\xC3\xA9 saga\" as select 1 as mine");
    sqlite3_close(db);
    pawl_code code = run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out);
    assert_int_not_equal(code, PAWL_OK);
    assert_int_equal(object_count(p->path), 1);
    db = raw_open(p->path);
    raw_run(db, "drop view \"My caf\xC3\xA9 saga\"");
    sqlite3_close(db);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, out));
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, out));
}

/* Runs the script's first statements without its transaction, as where each commits by itself;
 * how many there were. */
static size_t run_part(const char *path, const char *script, size_t count_max)
{
    sqlite3    *db    = raw_open(path);
    size_t      count = 0;
    const char *at    = strstr(script, "begin immediate;\n");
    assert_non_null(at);
    at = strchr(at, '\n') + 1;
    for (; count < count_max && strcmp(at, "commit;\n") != 0; count++) {
        const char *end = strstr(at, ";\n");
        assert_non_null(end);
        raw_run(db, test_text("%.*s", (int)(end - at), at));
        at = end + 2;
    }
    sqlite3_close(db);
    return count;
}

/* Wherever a script ended: open refuses what it left, and the next apply makes the rest. */
ON_FIXTURE(d26_a_part_of_a_script_is_made_whole, fixture *p)
{
    static const pawl_saga_table plain    = {.type = PAWL_TEXT_INIT("Plain"),
                                             .name = PAWL_TEXT_INIT("shop_Plain")};
    const pawl_saga_table *const tables[] = {&order_table, &odd_table, &plain};
    lines                       *script   = test_zeroed(sizeof *script);
    lines                       *out      = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PRINT, tables, 3, script));
    size_t whole = run_part(p->path, script->text, SIZE_MAX);
    assert_in_range(whole, 30, 200);
    for (size_t count = 0; count < whole; count++) {
        pawl_store *store = NULL;
        ok(p, run_schema(p, p->url, PAWL_SCHEMA_DROP, tables, 3, out));
        assert_int_equal(run_part(p->path, script->text, count), count);
        refuses(p, open_as(p, p->url, PAWL_OPEN_CHECK, tables, 3, &store), PAWL_ESCHEMA,
                "is missing or incomplete; run: pawl schema apply");
        ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, tables, 3, out));
        ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, tables, 3, out));
    }
}

/* ---- What apply would run ------------------------------------------------ */

static lines *run_there; /* of every connection, while it is not NULL */

static int keep_statement(unsigned type, void *context, void *statement, void *text)
{
    static const char *const words[] = {"create ", "alter ", "drop ", "insert ", "update "};
    for (size_t i = 0; run_there != NULL && i < COUNT(words); i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0) {
            keep_line(pawl_text_of(text), run_there);
            run_there->text[run_there->size - 1] = ';';
            keep_line(PAWL_TEXT(""), run_there);
        }
    return 0;
}

static int watch(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, keep_statement, NULL);
}

/* The statements of a plan between its begin and its end. */
static const char *statements_of(lines *plan)
{
    char *begin = strstr(plan->text, "begin immediate;\n");
    assert_non_null(begin);
    assert_true(plan->size > 8);
    assert_string_equal(plan->text + plan->size - 8, "commit;\n");
    plan->text[plan->size - 8] = '\0';
    return strchr(begin, '\n') + 1;
}

/* Of a database after `sql`, which may be NULL: no file is there. */
static void plan_is_run(fixture *p, const char *sql, const char *difference)
{
    lines  *plan = calloc(3, sizeof *plan);
    int64_t version;
    assert_non_null(plan);
    if (sql != NULL) {
        sqlite3 *db = raw_open(p->path);
        raw_run(db, sql);
        sqlite3_close(db);
        version = path_number(p->path, "pragma schema_version");
    }
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PLAN, both_tables, 2, &plan[0]));
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PLAN, both_tables, 2, &plan[1]));
    assert_string_equal(plan[0].text, plan[1].text);
    assert_non_null(strstr(plan[0].text, difference));
    if (sql == NULL)
        assert_int_not_equal(access(p->path, F_OK), 0);
    else
        assert_int_equal(path_number(p->path, "pragma schema_version"), version);

    run_there = &plan[2];
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, both_tables, 2, &plan[1]));
    run_there = NULL;
    assert_string_equal(statements_of(&plan[0]), plan[2].text);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, both_tables, 2, &plan[1]));
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PLAN, both_tables, 2, &plan[1]));
    assert_int_equal(plan[1].count, 0);
    free(plan);
}

ON_FIXTURE(d34_a_plan_is_what_apply_runs, fixture *p)
{
    assert_int_equal(sqlite3_auto_extension((void (*)(void))watch), SQLITE_OK);
    plan_is_run(p, NULL, "-- table pawl_queue is missing\n");
    plan_is_run(p, "drop table pawl_dead", "-- table pawl_dead is missing\n");
    plan_is_run(p, "alter table pawl_queue drop column History; update pawl_schema set Version = 2",
                "alter table \"pawl_queue\" add column \"History\"");
    plan_is_run(p,
                "drop index Index_shop_Order_Correlation_order_id; "
                "alter table shop_Order drop column Correlation_order_id",
                "alter table \"shop_Order\" add column \"Correlation_order_id\"");
    /* An index that the schema goes without is no difference. */
    plan_is_run(p, "create index pawl_events_position on pawl_events (Stream)",
                "drop index if exists \"pawl_events_position\";\n");
    sqlite3_reset_auto_extension();
}

/* No plan is made of tables that apply refuses, nor for a file that it could not make. */
ON_FIXTURE(d28_a_plan_is_refused_as_apply_is, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_APPLY, order_tables, 1, out));
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "drop index Index_shop_Order_Correlation_order_id;"
                "alter table shop_Order drop column Correlation_order_id;"
                "alter table shop_Order add column Correlation_order_id integer;"
                "create table \"a;\n&b\" (x integer);"
                "alter table pawl_queue add column \"a;\n$b\" integer not null default 0;"
                "pragma writable_schema = on; update sqlite_schema set sql = "
                "replace(sql, ' not null default 0', ' not null') where name = 'pawl_queue'");
    sqlite3_close(db);
    refuses(p, run_schema(p, p->url, PAWL_SCHEMA_PLAN, order_tables, 1, out), PAWL_ESCHEMA,
            "incorrect data type: expected text, found INTEGER");
    assert_non_null(strstr(out->text, "-- table pawl_queue: column a???b is not known"));
    assert_null(strstr(out->text, "create"));
    assert_null(strstr(out->text, "begin"));
    expect_code(p,
                run_schema(p, test_text("sqlite:%s-none/x.db", p->path), PAWL_SCHEMA_PLAN,
                           order_tables, 1, out),
                PAWL_EUNREACHABLE);
    expect_text(p, "-none/x.db cannot be made in folder ");
    expect_text(p, "-none: No such file or directory");
}

/* Before anything is sent: the file is not even made. */
ON_FIXTURE(d34_a_prefix_is_looked_at_first, fixture *p)
{
    pawl_schema_spec spec = {.system_prefix = "a\"b", .tables = both_tables, .table_count = 2};
    expect_code(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error),
                PAWL_ECONFIG);
    assert_int_not_equal(access(p->path, F_OK), 0);
}
