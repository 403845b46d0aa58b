/* test_sqlite_types.c - the types that values have in a SQLite file, and that an opened store defines
 * nothing any more (A26, D39).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

/* D39: each type of a correlation, and the letters of a uuid in lower case. */
ON_FIXTURE(d39_each_type_is_stored_as_it_is_said, fixture *p)
{
    static const char            id[]   = "abcdef01-2345-6789-abcd-ef0123456789";
    static const pawl_saga_table byUuid = {
        .type         = PAWL_TEXT_INIT("Guid"),
        .name         = PAWL_TEXT_INIT("shop_Guid"),
        .main         = {.property = PAWL_TEXT_INIT("id"), .type = PAWL_VALUE_UUID},
        .transitional = {.property = PAWL_TEXT_INIT("at"), .type = PAWL_VALUE_TIME}};
    static const pawl_saga_table byInt = {
        .type = PAWL_TEXT_INIT("Int"),
        .name = PAWL_TEXT_INIT("shop_Int"),
        .main = {.property = PAWL_TEXT_INIT("number"), .type = PAWL_VALUE_INT}};
    static const pawl_saga_table *const list[] = {&byUuid, &byInt};
    pawl_store                         *store  = NULL;
    pawl_uuid                           uuid;
    ok(p, pawl_uuid_parse(pawl_text_of(id), &uuid, &p->error));
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, list, 2, &store));
    pawl_saga_insert inserts[] = {{.table        = &byUuid,
                                   .id           = {uuid},
                                   .main         = pawl_value_uuid(uuid),
                                   .transitional = {.type = PAWL_VALUE_TIME, .as.time = NOW + 7},
                                   .metadata     = TEXT("{}"),
                                   .data         = TEXT("{}")},
                                  {.table    = &byInt,
                                   .id       = {uuid},
                                   .main     = {.type = PAWL_VALUE_INT, .as.integer = INT64_MIN},
                                   .metadata = TEXT("{}"),
                                   .data     = TEXT("{}")}};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .saga_insert = {.items = inserts, .count = 2}};
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(
        path_number(
            p->path,
            test_text(
                "select count(*) from shop_Guid where Id = '%s' and Correlation_id = '%s' and "
                "typeof(Id) || typeof(Correlation_id) = 'texttext' and Correlation_at = %lld and "
                "typeof(Correlation_at) || typeof(Concurrency) = 'integerinteger' and "
                "typeof(PersistenceVersion) || typeof(SagaTypeVersion) = 'texttext'",
                id, id, (long long)(NOW + 7))),
        1);
    assert_int_equal(path_number(p->path, "select count(*) from shop_Int where Correlation_number "
                                          "= -9223372036854775807 - 1 and "
                                          "typeof(Correlation_number) = 'integer'"),
                     1);
}

static int definitions; /* statements that define something, of any connection of this process */

static int count_statement(unsigned kind, void *context, void *statement, void *text)
{
    static const char *const words[] = {"create", "alter", "drop", "reindex"};
    for (size_t i = 0; i < COUNT(words); i++)
        definitions += sqlite3_strnicmp(text, words[i], (int)strlen(words[i])) == 0;
    return 0;
}

static int trace_each(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, count_statement, NULL);
}

/* A26: none, not even one that finds its table there. */
ON_FIXTURE(a26_later_operations_define_nothing, fixture *p)
{
    pawl_store *store = NULL;
    definitions       = 0;
    assert_int_equal(sqlite3_auto_extension((void (*)(void))trace_each), SQLITE_OK);
    ok(p, open_as(p, p->url, PAWL_OPEN_CREATE, order_tables, 1, &store));
    assert_true(definitions > 20);
    definitions = 0;
    for (unsigned i = 1; i <= 2; i++) {
        pawl_saga_insert insert = {
            .table = &order_table, .id = {uuid_of(i)}, .metadata = TEXT("{}"), .data = TEXT("{}")};
        pawl_changes changes = {
            .now = NOW, ONE_UNIT, .saga_insert = {.items = &insert, .count = 1}};
        insert.main = pawl_value_text(i == 1 ? TEXT("o-1") : TEXT("o-2"));
        ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
        ok(p, send_one(p, store, "orders", i == 1 ? "m-1" : "m-2"));
        pawl_queue_rows rows = claim_some(p, store, "orders", 1);
        assert_int_equal(rows.count, 1);
        ok(p, settle_one(p, store, "orders", rows.items[0].seq));
        changes                      = (pawl_changes){.now = NOW, ONE_UNIT};
        pawl_aggregator_add add      = {.name      = TEXT("Bills"),
                                        .partition = TEXT("Bills"),
                                        .key       = i == 1 ? TEXT("k1") : TEXT("k2"),
                                        .message   = rows.items[0].message,
                                        .at        = NOW,
                                        .due       = PAWL_TIME_MAX};
        changes.aggregator_add.items = &add;
        changes.aggregator_add.count = 1;
        ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    }
    assert_int_equal(definitions, 0);
    test_now(store);
    sqlite3_reset_auto_extension();
}
