/* test_mysql_settings.c - settings of a server that would change what pawl's statements do (S2 and all
 * that reads rows): its sessions have their own; and its limit of prepared statements, at which they wait.
 *
 * The settings are the whole server's for a moment, so no other test runs beside this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifdef PAWL_HAVE_MYSQL

#include "contract/mysql_ground.h"

#define SAGAS 12

static const char *const settings[][2] = {
    {"sql_select_limit", "5"},
    {"sql_auto_is_null", "1"},
    {"completion_type", "1"},
    {"sql_safe_updates", "1"},
    {"sql_big_selects", "0"},
    {"group_concat_max_len", "4"},
    {"sql_mode", "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'"},
    {"time_zone", "'+09:00'"},
    {"autocommit", "0"},
    {"collation_connection", "latin1_swedish_ci"}};

static void set_all(ground *p, bool is_default)
{
    char sql[200];
    for (size_t i = 0; i < COUNT(settings); i++) {
        snprintf(sql, sizeof sql, "set global %s = %s", settings[i][0],
                 is_default ? "default" : settings[i][1]);
        raw_run(p->raw, sql);
    }
}

static int teardown(void **state)
{
    ground *p = *state;
    if (p->raw != NULL) {
        set_all(p, true);
        raw_run(p->raw, "set global max_prepared_stmt_count = default");
    }
    return ground_teardown(state);
}

static pawl_saga_id id_of(unsigned number)
{
    return (pawl_saga_id){{{[0] = 1, [15] = (uint8_t)number}}};
}

static void begin_sagas(ground *p, pawl_store *store)
{
    pawl_saga_insert inserts[SAGAS];
    char             orders[SAGAS][20];
    pawl_changes     changes = {.now = NOW, ONE_UNIT};
    for (unsigned i = 0; i < SAGAS; i++) {
        snprintf(orders[i], sizeof orders[i], "order-%u", i);
        inserts[i] = (pawl_saga_insert){.table        = &order_table,
                                        .id           = id_of(i),
                                        .main         = pawl_value_text(pawl_text_of(orders[i])),
                                        .metadata     = TEXT("{}"),
                                        .data         = TEXT("{\"path\":\"C:\\\\new\"}"),
                                        .type_version = TEXT("1.0")};
    }
    changes.saga_insert.items = inserts;
    changes.saga_insert.count = SAGAS;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

static void s2_settings_of_the_server_change_nothing(ground *p)
{
    pawl_store   *store;
    pawl_value    ids[SAGAS];
    pawl_saga_row rows[SAGAS] = {0};
    set_all(p, false);
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
    ok(p, open_at(p, p->url, 60000, &store));
    set_all(p, true);
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    begin_sagas(p, store);
    for (unsigned i = 0; i < SAGAS; i++)
        ids[i] = (pawl_value){.type = PAWL_VALUE_UUID, .as.uuid = id_of(i).uuid};
    ok(p, pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, ids, SAGAS, 0, p->arena, rows,
                               &p->error));
    for (unsigned i = 0; i < SAGAS; i++)
        assert_int_equal(rows[i].version, 1);
    assert_int_equal(raw_number(p->raw, "select count(*) from shop_Order"), SAGAS);
    assert_int_equal(raw_number(pawl_store_native(store, "MYSQL"),
                                "select @@sql_select_limit > 5 and not @@sql_auto_is_null "
                                "and @@completion_type = 'NO_CHAIN' and not @@sql_safe_updates "
                                "and @@sql_big_selects and @@group_concat_max_len = 1048576 "
                                "and @@autocommit and @@time_zone = '+00:00'"),
                     1);
}

static pawl_code send(ground *p, pawl_store *store, const char *id)
{
    pawl_queue_send send = {
        .queue   = TEXT("orders"),
        .due     = NOW,
        .message = {.id = pawl_text_of(id), .type = TEXT("t"), .body = TEXT("{}")}};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

/* A server that takes no more prepared statements is one that is away for a while: an endpoint waits. An application's
 * own transaction is as it was before, and commits without what was sent in it. */
static void d37_a_server_without_room_for_a_statement_is_waited_for(ground *p)
{
    MYSQL          *own = raw_connect(p, p->database);
    pawl_store     *store;
    pawl_queue_send one  = {.queue   = TEXT("orders"),
                            .due     = NOW,
                            .message = {.id = TEXT("m-1"), .type = TEXT("t"), .body = TEXT("{}")}};
    pawl_changes    sent = {.now = NOW, ONE_UNIT, .queue_send = {.items = &one, .count = 1}};
    apply(p);
    ok(p, open_at(p, p->url, 60000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    raw_run(p->raw, "create table `own` (n int)");
    raw_run(own, "begin");
    raw_run(own, "insert into `own` values (1)");
    raw_run(p->raw, "set global max_prepared_stmt_count = 1");
    expect_code(p, send(p, store, "m-2"), PAWL_EUNREACHABLE);
    expect_text(p, "max_prepared_stmt_count");
    expect_code(p, pawl_store_enlist(store, own, &sent, &p->error), PAWL_EUNREACHABLE);
    raw_run(own, "commit");
    assert_int_equal(raw_number(p->raw, "select count(*) from `own`"), 1);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 0);
    raw_run(p->raw, "set global max_prepared_stmt_count = default");
    ok(p, send(p, store, "m-2"));
    mysql_close(own);
}

int main(void)
{
#define CASE(function, scheme)                                                      \
    {                                                                               \
#function " on " scheme, ground_run, ground_setup, teardown, &(ground_case) \
        {                                                                           \
            function, scheme                                                        \
        }                                                                           \
    }
    const struct CMUnitTest tests[] = {
        CASE(s2_settings_of_the_server_change_nothing, "mysql"),
        CASE(s2_settings_of_the_server_change_nothing, "mariadb"),
        CASE(d37_a_server_without_room_for_a_statement_is_waited_for, "mysql"),
        CASE(d37_a_server_without_room_for_a_statement_is_waited_for, "mariadb"),
    };
    int missing = grounds_are_missing();
    return missing != 0 ? missing
                        : cmocka_run_group_tests_name("mysql_settings", tests, NULL, NULL);
}

#endif
