/* test_mysql_charset.c - own SQL of a handler that changes the session's character set, in which pawl's texts would be
 * stored, or its database, in whose tables pawl's rows would be (E24).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "store/mysql/mysql.h"
#include "support/tests.h"

#define BODY "{\"text\":\"\xc3\xb6 \xf0\x9f\x90\x98\"}"
#define BODY_HEX "7B2274657874223A22C3B620F09F9098227D"

static const char *const ways[] = {"set names latin1", "set character set latin1",
                                   "set character_set_client = latin1", NULL};

/* The last way is a call of the library. */
static void change(MYSQL *mysql, const char *way)
{
    if (way != NULL)
        raw_run(mysql, way);
    else
        assert_int_equal(mysql_set_character_set(mysql, "latin1"), 0);
}

static pawl_code send(fixture *p, pawl_store *store, const char *id)
{
    return pawl_store_commit(
        store,
        ONE_CHANGE(queue_send, NOW, .queue = TEXT("orders"), .due = NOW,
                   .message = {.id = pawl_text_of(id), .type = TEXT("t"), .body = TEXT(BODY)}),
        NULL, &p->error);
}

static pawl_store *open_worker(fixture *p)
{
    pawl_store *store;
    apply(p);
    raw_run(p->raw, "create table t (id int primary key)");
    ok(p, open_at(p, p->url, 60000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

static MYSQL *begin_hold(fixture *p, pawl_store *store)
{
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    return pawl_store_native(store, "MYSQL");
}

static void expect_stored(fixture *p, int count)
{
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), count);
    assert_int_equal(
        raw_number(p->raw, "select count(*) from pawl_queue where hex(Body) = '" BODY_HEX "'"),
        count);
}

/* The session goes on, with its claims, as pawl made it. */
ON_BOTH(e24_a_character_set_of_own_sql_fails_its_message_alone, fixture *p)
{
    static const char settings[] =
        "select @@character_set_client = 'utf8mb4' and @@character_set_results = 'utf8mb4' and "
        "@@collation_connection in ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')";
    pawl_store   *store = open_worker(p);
    unsigned long id    = mysql_thread_id(pawl_store_native(store, "MYSQL"));
    for (int i = 0; i < 2 * (int)COUNT(ways); i++) {
        char   name[] = {(char)('a' + i), '\0'};
        MYSQL *mysql  = begin_hold(p, store);
        raw_run(mysql, "insert into t values (1)");
        change(mysql, ways[i / 2]);
        if (i % 2 == 0) {
            refuses(p, send(p, store, "x"), PAWL_EINVAL,
                    "own SQL changed the character set to latin1");
        } else {
            pawl_store_handler_transaction_end(store); /* the handler failed */
        }
        assert_int_equal(raw_number(p->raw, "select count(*) from t"), 0);
        ok(p, send(p, store, name));
        expect_stored(p, i + 1);
        mysql = pawl_store_native(store, "MYSQL");
        assert_int_equal(mysql_thread_id(mysql), id);
        assert_int_equal(raw_number(mysql, settings), 1);
    }
}

/* A change that was given back is no mistake. */
ON_BOTH(e24_a_character_set_that_is_given_back_is_committed, fixture *p)
{
    pawl_store *store = open_worker(p);
    MYSQL      *mysql = begin_hold(p, store);
    change(mysql, "set names latin1");
    change(mysql, "set names utf8mb4");
    ok(p, send(p, store, "a"));
    expect_stored(p, 1);
}

/* ---- The database ------------------------------------------------------------------ */

static const char *other_database(const fixture *p)
{
    return test_text("%s_o", p->database);
}

/* A store, too, to which pawl's rows would go without a word. */
static void make_other(fixture *p)
{
    const pawl_schema_spec spec = {.tables = order_tables, .table_count = 1};
    raw_run(p->raw, test_text("create database %s", other_database(p)));
    ok(p, pawl_store_schema(test_text("%s_o", p->url), PAWL_SCHEMA_APPLY, &spec, no_line, NULL,
                            &p->error));
}

static void use(MYSQL *mysql, const char *database, bool is_call)
{
    if (is_call)
        assert_int_equal(mysql_select_db(mysql, database), 0);
    else
        raw_run(mysql, test_text("use %s", database));
}

static int64_t version_of_order(fixture *p, pawl_store *store)
{
    pawl_value    id  = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_saga_row row = {0};
    ok(p, pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, &id, 1, 0, p->arena, &row,
                               &p->error));
    return row.version;
}

static void begin_order(fixture *p, pawl_store *store)
{
    COMMIT_OK(p, store, saga_insert, NOW, .table = &order_table, .id = {uuid_of(1)},
              .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{}"), .data = TEXT("{}"),
              .type_version = TEXT("1.0"));
}

/* Statements are prepared when they are needed first: then on the other database's tables, of which one that a finder's
 * load has prepared is no longer used. */
ON_BOTH(e24_a_database_of_own_sql_fails_its_message_alone, fixture *p)
{
    make_other(p);
    pawl_store   *store = open_worker(p);
    unsigned long id    = mysql_thread_id(pawl_store_native(store, "MYSQL"));
    begin_order(p, store);
    for (int i = 0; i < 4; i++) {
        char   name[] = {(char)('a' + i), '\0'};
        MYSQL *mysql  = begin_hold(p, store);
        raw_run(mysql, "insert into t values (1)");
        use(mysql, other_database(p), i >= 2);
        if (i == 0)
            assert_int_equal(version_of_order(p, store), 0);
        if (i % 2 == 0) {
            refuses(p, send(p, store, "x"), PAWL_EINVAL, "own SQL changed the database to ");
        } else {
            pawl_store_handler_transaction_end(store); /* the handler failed */
        }
        assert_int_equal(version_of_order(p, store), 1);
        assert_int_equal(raw_number(p->raw, "select count(*) from t"), 0);
        ok(p, send(p, store, name));
        expect_stored(p, i + 1);
        assert_int_equal(mysql_thread_id(pawl_store_native(store, "MYSQL")), id);
    }
    assert_int_equal(
        raw_number(p->raw, test_text("select count(*) from %s.pawl_queue", other_database(p))), 0);
    raw_run(p->raw, test_text("drop database %s", other_database(p)));
}

/* The way to the rows of another one is its name, or a change that is given back. */
ON_BOTH(e24_a_database_that_is_given_back_is_committed, fixture *p)
{
    make_other(p);
    pawl_store *store = open_worker(p);
    MYSQL      *mysql = begin_hold(p, store);
    use(mysql, other_database(p), false);
    use(mysql, p->database, false);
    raw_run(mysql, test_text("delete from %s.pawl_queue", other_database(p)));
    ok(p, send(p, store, "a"));
    expect_stored(p, 1);
    raw_run(p->raw, test_text("drop database %s", other_database(p)));
}

/* ---- Their cost --------------------------------------------------------------------- */

static long long questions(pawl_store *store)
{
    MYSQL *mysql = pawl__mysql_of(store)->main.mysql;
    assert_int_equal(mysql_query(mysql, "show session status like 'Questions'"), 0);
    MYSQL_RES *rows  = mysql_store_result(mysql);
    long long  count = atoll(mysql_fetch_row(rows)[1]);
    mysql_free_result(rows);
    return count;
}

/* The release of the mark, the fence, the message, the commit: the character set and the database are known without
 * asking. */
ON_BOTH(a_commit_behind_own_sql_asks_for_nothing_more, fixture *p)
{
    pawl_store *store = open_worker(p);
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), '\0'};
        raw_run(begin_hold(p, store), i % 2 == 0 ? "delete from t" : "insert into t values (1)");
        long long before = questions(store);
        ok(p, send(p, store, name));
        if (i > 0) /* by then all statements are prepared */
            assert_int_equal(questions(store) - before - 1, 4);
    }
}
