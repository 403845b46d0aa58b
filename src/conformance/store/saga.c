/* saga.c - saga rows: versions, duplicates, fresh copies, isolation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#include <string.h>

#define ORDER(s) ((s)->tables[SUITE_ORDER])

static void update(suite *s, pawl_store *store, unsigned number, int64_t version, const char *data)
{
    COMMIT_ONE(s, store, saga_update, .table = ORDER(s), .id = suite_saga_id(number),
               .version = version, .metadata = TEXT("{}"), .data = pawl_text_of(data),
               .type_version = TEXT("1.0"));
}

static pawl_saga_row load_order(suite *s, pawl_store *store, const char *ref)
{
    return suite_load(s, store, SUITE_ORDER, PAWL_SAGA_BY_MAIN, pawl_value_text(pawl_text_of(ref)));
}

static void expect_same_row(suite *s, const pawl_saga_row *left, const pawl_saga_row *right)
{
    EXPECT_EQ(s, pawl_uuid_compare(left->id.uuid, right->id.uuid), 0);
    EXPECT_EQ(s, left->version, right->version);
    EXPECT(s, pawl_value_equal(&left->main, &right->main));
    EXPECT(s, pawl_value_equal(&left->transitional, &right->transitional));
    EXPECT_TEXT(s, left->metadata, right->metadata);
    EXPECT_TEXT(s, left->data, right->data);
    EXPECT_TEXT(s, left->type_version, right->type_version);
}

static void loading_a_saga_that_does_not_exist_returns_version_0_not_an_error(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 0);
    EXPECT_EQ(s, load_order(s, a, "order-1").version, 0);
    EXPECT_EQ(
        s, suite_load(s, a, SUITE_MOVE, PAWL_SAGA_BY_TRANSITIONAL, pawl_value_integer(1)).version,
        0);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_PLAIN, 1).version, 0);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 0);
}

static void an_inserted_saga_has_version_1_and_each_update_adds_1(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    COMMIT_ONE(s, a, saga_insert, .table = ORDER(s), .id = suite_saga_id(1),
               .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{\"by\":\"a\"}"),
               .data = TEXT("{\"n\":1}"), .type_version = TEXT("1.0"));
    pawl_saga_row row = load_order(s, b, "order-1");
    EXPECT_EQ(s, row.version, 1);
    EXPECT_EQ(s, pawl_uuid_compare(row.id.uuid, suite_uuid(1)), 0);
    EXPECT_TEXT(s, suite_compact(s, row.metadata), TEXT("{\"by\":\"a\"}"));
    EXPECT_TEXT(s, suite_compact(s, row.data), TEXT("{\"n\":1}"));
    EXPECT_TEXT(s, row.type_version, TEXT("1.0"));
    for (int64_t version = 1; version <= 5; version++) {
        COMMIT_ONE(s, a, saga_update, .table = ORDER(s), .id = suite_saga_id(1), .version = version,
                   .row          = version % 2 == 0 ? row.row : 0,
                   .metadata     = suite_printf(s, "{\"by\":\"%d\"}", (int)version),
                   .data         = suite_printf(s, "{\"n\":%d}", (int)version),
                   .type_version = suite_printf(s, "1.%d", (int)version));
        row = load_order(s, b, "order-1");
        EXPECT_EQ(s, row.version, version + 1);
        EXPECT_EQ(s, pawl_uuid_compare(row.id.uuid, suite_uuid(1)), 0);
        EXPECT_TEXT(s, suite_compact(s, row.data), suite_printf(s, "{\"n\":%d}", (int)version));
        EXPECT_TEXT(s, suite_compact(s, row.metadata),
                    suite_printf(s, "{\"by\":\"%d\"}", (int)version));
        EXPECT_TEXT(s, row.type_version, suite_printf(s, "1.%d", (int)version));
    }
    EXPECT_EQ(s, suite_saga_count(s, b, SUITE_ORDER), 1);
}

static void each_load_returns_its_own_copy_of_a_saga(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    pawl_saga_row first = load_order(s, a, "order-1"), second = load_order(s, a, "order-1");
    EXPECT(s, first.data.data != second.data.data);
    memset((char *)first.data.data, 'x', first.data.size);
    memset((char *)first.main.as.text.data, 'x', first.main.as.text.size);
    EXPECT_TEXT(s, suite_compact(s, second.data), TEXT("{\"ref\":\"order-1\"}"));
    pawl_saga_row third = load_order(s, a, "order-1");
    EXPECT_EQ(s, third.version, 1);
    EXPECT_TEXT(s, suite_compact(s, third.data), TEXT("{\"ref\":\"order-1\"}"));
    EXPECT_TEXT(s, third.main.as.text, TEXT("order-1"));
}

static void a_saga_that_was_written_does_not_depend_on_the_callers_memory(suite *s)
{
    pawl_store *a     = suite_open(s);
    char        ref[] = "order-1", data[] = "{\"n\":1}", version[] = "1.0";
    COMMIT_ONE(s, a, saga_insert, .table = ORDER(s), .id = suite_saga_id(1),
               .main = pawl_value_text(pawl_text_of(ref)), .metadata = TEXT("{}"),
               .data = pawl_text_of(data), .type_version = pawl_text_of(version));
    memcpy(ref, "ORDER-9", 7);
    memcpy(data, "{\"n\":9}", 7);
    memcpy(version, "9.9", 3);
    pawl_saga_row row = load_order(s, a, "order-1");
    EXPECT_EQ(s, row.version, 1);
    EXPECT_TEXT(s, suite_compact(s, row.data), TEXT("{\"n\":1}"));
    EXPECT_TEXT(s, row.type_version, TEXT("1.0"));
    memcpy(data, "{\"n\":2}", 7);
    update(s, a, 1, 1, data);
    memcpy(data, "{\"n\":7}", 7);
    EXPECT_TEXT(s, suite_compact(s, load_order(s, a, "order-1").data), TEXT("{\"n\":2}"));
}

/* Expects one refusal that names the saga's type, its id and the expected version. */
static void expect_conflict(suite *s, suite_set *set, pawl_store *store, pawl_change_kind kind,
                            unsigned number, const char *version)
{
    char          id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_refusals refused = REFUSED(set, store);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].kind, kind);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_ECONFLICT);
    pawl_uuid_format(suite_uuid(number), id);
    EXPECT(s, suite_text_has(refused.items[0].text, TEXT("Order")));
    EXPECT(s, suite_text_has(refused.items[0].text, pawl_text_of(id)));
    EXPECT(s, suite_text_has(refused.items[0].text, pawl_text_of(version)));
}

static void an_update_of_another_version_is_refused_and_changes_nothing(suite *s)
{
    static const int64_t stale[] = {41, 43, 1, 0};
    pawl_store          *a = suite_open(s), *b = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    for (int64_t version = 1; version < 42; version++)
        update(s, a, 1, version, "{\"long\":\"state\"}");
    pawl_saga_row before = load_order(s, b, "order-1");
    EXPECT_EQ(s, before.version, 42);
    for (size_t i = 0; i < 4; i++) {
        suite_set set = suite_changes(s);
        ADD(&set, saga_update, .table = ORDER(s), .id = suite_saga_id(1), .version = stale[i],
            .row = before.row, .metadata = TEXT("{\"x\":\"y\"}"), .data = TEXT("{}"),
            .type_version = TEXT("2.0"));
        expect_conflict(s, &set, b, pawl_change_saga_update, 1,
                        suite_printf(s, "%d", (int)stale[i]).data);
        pawl_saga_row after = load_order(s, a, "order-1");
        expect_same_row(s, &after, &before);
    }
}

/* The row hint is no key: after deletes and inserts it may be that of another saga, here with the same version. */
static void a_wrong_row_hint_in_an_update_never_changes_another_saga(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    suite_insert_order(s, a, 2, "order-2");
    pawl_saga_row other = load_order(s, a, "order-2");
    COMMIT_ONE(s, b, saga_update, .table = ORDER(s), .id = suite_saga_id(1), .version = 1,
               .row = other.row, .metadata = TEXT("{}"), .data = TEXT("{\"mine\":1}"),
               .type_version = TEXT("1.0"));
    pawl_saga_row after = load_order(s, a, "order-2"), mine = load_order(s, a, "order-1");
    expect_same_row(s, &after, &other);
    EXPECT_EQ(s, mine.version, 2);
    EXPECT_TEXT(s, suite_compact(s, mine.data), TEXT("{\"mine\":1}"));
}

static void an_update_of_a_saga_that_does_not_exist_inserts_nothing(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    ADD(&set, saga_update, .table = ORDER(s), .id = suite_saga_id(7), .version = 31,
        .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    expect_conflict(s, &set, a, pawl_change_saga_update, 7, "31");
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 0);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 7).version, 0);
}

static void a_delete_of_another_version_is_refused(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    suite_insert_order(s, a, 2, "order-2");
    update(s, a, 1, 1, "{\"n\":2}");
    pawl_saga_row before = load_order(s, b, "order-1");
    suite_set     stale  = suite_changes(s);
    ADD(&stale, saga_delete, .table = ORDER(s), .id = suite_saga_id(1), .version = 77);
    expect_conflict(s, &stale, b, pawl_change_saga_delete, 1, "77");
    pawl_saga_row after = load_order(s, b, "order-1");
    expect_same_row(s, &after, &before);
    COMMIT_ONE(s, b, saga_delete, .table = ORDER(s), .id = suite_saga_id(1), .version = 2);
    EXPECT_EQ(s, load_order(s, a, "order-1").version, 0);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 0);
    EXPECT_EQ(s, load_order(s, a, "order-2").version, 1);
    REFUSE_ONE(s, b, PAWL_ECONFLICT, saga_delete, .table = ORDER(s), .id = suite_saga_id(1),
               .version = 2);
}

static void of_two_writers_of_one_saga_version_the_first_succeeds(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    pawl_saga_row by_a = load_order(s, a, "order-1"), by_b = load_order(s, b, "order-1");
    EXPECT_EQ(s, by_a.version, by_b.version);
    update(s, b, 1, by_b.version, "{\"by\":\"b\"}");
    REFUSE_ONE(s, a, PAWL_ECONFLICT, saga_update, .table = ORDER(s), .id = suite_saga_id(1),
               .version = by_a.version, .row = by_a.row, .metadata = TEXT("{}"),
               .data = TEXT("{\"by\":\"a\"}"), .type_version = TEXT("1.0"));
    REFUSE_ONE(s, a, PAWL_ECONFLICT, saga_delete, .table = ORDER(s), .id = suite_saga_id(1),
               .version = by_a.version);
    EXPECT_TEXT(s, suite_compact(s, load_order(s, a, "order-1").data), TEXT("{\"by\":\"b\"}"));
}

static void a_second_saga_with_the_same_value_or_id_is_refused_the_first_stays(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    pawl_saga_row before = load_order(s, a, "order-1");
    REFUSE_ONE(s, b, PAWL_EDUPLICATE, saga_insert, .table = ORDER(s), .id = suite_saga_id(2),
               .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{}"),
               .data = TEXT("{\"second\":\"x\"}"), .type_version = TEXT("1.0"));
    REFUSE_ONE(s, b, PAWL_EDUPLICATE, saga_insert, .table = ORDER(s), .id = suite_saga_id(1),
               .main = pawl_value_text(TEXT("order-2")), .metadata = TEXT("{}"),
               .data = TEXT("{\"second\":\"x\"}"), .type_version = TEXT("1.0"));
    pawl_saga_row after = load_order(s, b, "order-1");
    expect_same_row(s, &after, &before);
    EXPECT_EQ(s, suite_saga_count(s, b, SUITE_ORDER), 1);
    EXPECT_EQ(s, load_order(s, b, "order-2").version, 0);
}

static void of_two_inserts_of_one_value_in_a_commit_the_later_is_refused(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < 2; i++) {
        suite_unit(&set, i, i);
        ADD(&set, saga_insert, .table = ORDER(s), .id = suite_saga_id(i + 1),
            .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{}"), .data = TEXT("{}"),
            .type_version = TEXT("1.0"));
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].unit, 1);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
    EXPECT(s, suite_text_has(refused.items[0].text, TEXT("Order")));
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 1);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 1);
}

static void a_correlation_value_can_be_used_again_after_its_saga_was_deleted(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    update(s, a, 1, 1, "{\"n\":2}");
    COMMIT_ONE(s, a, saga_delete, .table = ORDER(s), .id = suite_saga_id(1), .version = 2);
    suite_insert_order(s, a, 2, "order-1");
    pawl_saga_row row = load_order(s, a, "order-1");
    EXPECT_EQ(s, row.version, 1);
    EXPECT_EQ(s, pawl_uuid_compare(row.id.uuid, suite_uuid(2)), 0);
}

static void deletes_of_sagas_are_applied_before_inserts_of_the_same_commit(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    update(s, a, 1, 1, "{\"n\":2}");
    suite_set set = suite_changes(s);
    ADD(&set, saga_insert, .table = ORDER(s), .id = suite_saga_id(2),
        .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{}"), .data = TEXT("{\"n\":3}"),
        .type_version = TEXT("1.0"));
    ADD(&set, saga_delete, .table = ORDER(s), .id = suite_saga_id(1), .version = 2);
    COMMIT(&set, a);
    pawl_saga_row row = load_order(s, a, "order-1");
    EXPECT_EQ(s, row.version, 1);
    EXPECT_EQ(s, pawl_uuid_compare(row.id.uuid, suite_uuid(2)), 0);
    EXPECT_TEXT(s, suite_compact(s, row.data), TEXT("{\"n\":3}"));
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 1);
}

static void a_shorter_state_replaces_a_longer_one_completely(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    pawl_text pad = suite_repeat(s, TEXT("long "), 20000);
    pawl_text big = {0};
    big           = pawl_arena_printf(s->arena, "{\"pad\":\"%.*s\"}", PAWL_TEXT_ARGS(pad));
    EXPECT(s, big.data != NULL);
    update(s, a, 1, 1, big.data);
    EXPECT_TEXT(s, suite_compact(s, load_order(s, a, "order-1").data), big);
    update(s, a, 1, 2, "{\"n\":1}");
    EXPECT_TEXT(s, suite_compact(s, load_order(s, a, "order-1").data), TEXT("{\"n\":1}"));
    update(s, a, 1, 3, "{}");
    EXPECT_TEXT(s, suite_compact(s, load_order(s, a, "order-1").data), TEXT("{}"));
    update(s, a, 1, 4, "{\"n\":1}");
    update(s, a, 1, 5, ""); /* an empty text is an object without members */
    EXPECT_TEXT(s, suite_compact(s, load_order(s, a, "order-1").data), TEXT("{}"));
}

static void a_saga_without_a_correlation_property_is_found_by_its_id(suite *s)
{
    pawl_store            *a     = suite_open(s);
    const pawl_saga_table *plain = s->tables[SUITE_PLAIN];
    for (unsigned i = 1; i <= 2; i++)
        COMMIT_ONE(s, a, saga_insert, .table = plain, .id = suite_saga_id(i),
                   .metadata = TEXT("{}"), .data = suite_printf(s, "{\"n\":%u}", i),
                   .type_version = TEXT("1.0"));
    COMMIT_ONE(s, a, saga_update, .table = plain, .id = suite_saga_id(1), .version = 1,
               .metadata = TEXT("{}"), .data = TEXT("{\"n\":10}"), .type_version = TEXT("1.0"));
    pawl_saga_row row = suite_load_id(s, a, SUITE_PLAIN, 1);
    EXPECT_EQ(s, row.version, 2);
    EXPECT_EQ(s, row.main.type, PAWL_VALUE_NONE);
    EXPECT_TEXT(s, suite_compact(s, row.data), TEXT("{\"n\":10}"));
    COMMIT_ONE(s, a, saga_delete, .table = plain, .id = suite_saga_id(1), .version = 2);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_PLAIN, 1).version, 0);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_PLAIN, 2).version, 1);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_PLAIN), 1);
}

static void sagas_of_different_types_are_independent(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "ref-1");
    EXPECT_EQ(
        s, suite_load(s, a, SUITE_TWIN, PAWL_SAGA_BY_MAIN, pawl_value_text(TEXT("ref-1"))).version,
        0);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_TWIN, 1).version, 0);
    COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_TWIN], .id = suite_saga_id(1),
               .main = pawl_value_text(TEXT("ref-1")), .metadata = TEXT("{}"),
               .data = TEXT("{\"twin\":\"x\"}"), .type_version = TEXT("1.0"));
    update(s, a, 1, 1, "{\"n\":2}");
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_TWIN, 1).version, 1);
    COMMIT_ONE(s, a, saga_delete, .table = ORDER(s), .id = suite_saga_id(1), .version = 2);
    pawl_saga_row row =
        suite_load(s, a, SUITE_TWIN, PAWL_SAGA_BY_MAIN, pawl_value_text(TEXT("ref-1")));
    EXPECT_TEXT(s, suite_compact(s, row.data), TEXT("{\"twin\":\"x\"}"));
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 0);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_TWIN), 1);
}

/* Changes of two tables alternate. */
static void sagas_of_two_types_can_be_changed_in_one_commit(suite *s)
{
    pawl_store *a       = suite_open(s);
    suite_set   inserts = suite_changes(s), updates = suite_changes(s), deletes = suite_changes(s);
    for (unsigned i = 0; i < 8; i++) {
        const pawl_saga_table *table = s->tables[i % 2 == 0 ? SUITE_TWIN : SUITE_PLAIN];
        pawl_value             none  = {.type = PAWL_VALUE_NONE};
        ADD(&inserts, saga_insert, .table = table, .id = suite_saga_id(i),
            .main     = i % 2 == 0 ? pawl_value_text(suite_printf(s, "ref-%u", i)) : none,
            .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
        ADD(&updates, saga_update, .table = table, .id = suite_saga_id(i), .version = 1,
            .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
        if (i < 6)
            ADD(&deletes, saga_delete, .table = table, .id = suite_saga_id(i), .version = 2);
    }
    COMMIT(&inserts, a);
    COMMIT(&updates, a);
    for (unsigned i = 0; i < 8; i++)
        EXPECT_EQ(s, suite_load_id(s, a, i % 2 == 0 ? SUITE_TWIN : SUITE_PLAIN, i).version, 2);
    COMMIT(&deletes, a);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_TWIN), 1);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_PLAIN), 1);
}

static void a_thousand_sagas_can_be_loaded_in_one_call_repeated_ones_too(suite *s)
{
    enum { COUNT = 1000 };
    pawl_store    *a      = suite_open(s);
    pawl_value    *values = pawl_arena_take(s->arena, COUNT * sizeof *values);
    pawl_saga_row *rows   = pawl_arena_take(s->arena, COUNT * sizeof *rows);
    suite_set      set    = suite_changes(s);
    EXPECT(s, values != NULL && rows != NULL);
    for (unsigned i = 0; i < 250; i++)
        ADD(&set, saga_insert, .table = ORDER(s), .id = suite_saga_id(i),
            .main = pawl_value_text(suite_printf(s, "order-%u", i)), .metadata = TEXT("{}"),
            .data = TEXT("{}"), .type_version = TEXT("1.0"));
    COMMIT(&set, a);
    /* Half of the values exist; each is asked for twice. */
    for (unsigned i = 0; i < COUNT; i++)
        values[i] = pawl_value_text(suite_printf(s, "order-%u", (COUNT - 1 - i) % 500));
    EXPECT_OK(s, pawl_store_saga_load(a, ORDER(s), PAWL_SAGA_BY_MAIN, values, COUNT,
                                      PAWL_SAGA_UNLOCKED, s->arena, rows, &s->error));
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned number = (COUNT - 1 - i) % 500;
        EXPECT_EQ(s, rows[i].version, number < 250 ? 1 : 0);
        EXPECT_EQ(s, rows[i].presence, number < 250 ? PAWL_SAGA_THERE : PAWL_SAGA_MISSING);
        if (number < 250)
            EXPECT_EQ(s, pawl_uuid_compare(rows[i].id.uuid, suite_uuid(number)), 0);
    }
    EXPECT_OK(s, pawl_store_saga_load(a, ORDER(s), PAWL_SAGA_BY_MAIN, values, 0, PAWL_SAGA_UNLOCKED,
                                      s->arena, rows, &s->error));
}

/* A value of maximum length is found only by the same value, not by a longer one, however many values are looked up. */
static void a_correlation_value_does_not_find_a_saga_with_a_shorter_value(suite *s)
{
    enum { COUNT = 40 };
    static const char *const characters[] = {"x", "\xc3\xa4", "\xf0\x9f\x98\x80"};
    pawl_store              *a            = suite_open(s);
    for (unsigned kind = 0; kind < 3; kind++) {
        pawl_text     one = pawl_text_of(characters[kind]);
        pawl_text     at  = suite_repeat(s, one, PAWL_CORRELATION_CHARS_MAX);
        pawl_value    values[COUNT];
        pawl_saga_row rows[COUNT];
        suite_insert_order(s, a, kind, at.data);
        for (unsigned count = 1; count <= COUNT; count += COUNT - 1) {
            for (unsigned i = 0; i < count; i++)
                values[i] = pawl_value_text(suite_printf(s, "%.*s%.*s", PAWL_TEXT_ARGS(at),
                                                         (int)(i % 3) * (int)one.size, at.data));
            values[count - 1] = pawl_value_text(
                suite_printf(s, "%.*s%.*s", PAWL_TEXT_ARGS(at), PAWL_TEXT_ARGS(one)));
            EXPECT_OK(s, pawl_store_saga_load(a, ORDER(s), PAWL_SAGA_BY_MAIN, values, count,
                                              PAWL_SAGA_UNLOCKED, s->arena, rows, &s->error));
            for (unsigned i = 0; i < count; i++)
                EXPECT_EQ(s, rows[i].version, values[i].as.text.size == at.size ? 1 : 0);
        }
    }
}

static void a_sagas_state_is_returned_by_reads_of_sagas_only(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 1);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("Order")).count, 0);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("order-1")).count, 0);
    EXPECT(s, !suite_knows(s, a, TEXT("suite"), TEXT("order-1")));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
    EXPECT_EQ(s, suite_rows(s, a, TEXT("Order")).count, 0);
    EXPECT_EQ(s, suite_rows(s, a, TEXT("order-1")).count, 0);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).count, 0);
    EXPECT_EQ(s, suite_dead_rows(s, a, TEXT("")).count, 0);
}

static const suite_case cases[] = {
    {"S1 loading a saga that does not exist returns version 0, not an error",
     loading_a_saga_that_does_not_exist_returns_version_0_not_an_error},
    {"S2 S4 S5 S6 S24 an inserted saga has version 1, and each update adds 1",
     an_inserted_saga_has_version_1_and_each_update_adds_1},
    {"S3 each load returns its own copy of a saga", each_load_returns_its_own_copy_of_a_saga},
    {"S3 a saga that was written does not depend on the caller's memory",
     a_saga_that_was_written_does_not_depend_on_the_callers_memory},
    {"S7 an update of another version is refused and changes nothing",
     an_update_of_another_version_is_refused_and_changes_nothing},
    {"S7 a wrong row hint in an update never changes another saga",
     a_wrong_row_hint_in_an_update_never_changes_another_saga},
    {"S7 S12 an update of a saga that does not exist inserts nothing",
     an_update_of_a_saga_that_does_not_exist_inserts_nothing},
    {"S13 S14 a delete of another version is refused", a_delete_of_another_version_is_refused},
    {"S9 of two writers of one saga version the first succeeds",
     of_two_writers_of_one_saga_version_the_first_succeeds},
    {"S10 S11 a second saga with the same value or id is refused, the first stays",
     a_second_saga_with_the_same_value_or_id_is_refused_the_first_stays},
    {"S10 of two inserts of one value in a commit the later is refused",
     of_two_inserts_of_one_value_in_a_commit_the_later_is_refused},
    {"S12 a correlation value can be used again after its saga was deleted",
     a_correlation_value_can_be_used_again_after_its_saga_was_deleted},
    {"E35 S12 deletes of sagas are applied before inserts of the same commit",
     deletes_of_sagas_are_applied_before_inserts_of_the_same_commit},
    {"S15 a shorter state replaces a longer one completely",
     a_shorter_state_replaces_a_longer_one_completely},
    {"S19 a saga without a correlation property is found by its id",
     a_saga_without_a_correlation_property_is_found_by_its_id},
    {"S28 sagas of different types are independent", sagas_of_different_types_are_independent},
    {"S28 S16 sagas of two types can be changed in one commit",
     sagas_of_two_types_can_be_changed_in_one_commit},
    {"S16 D19 a correlation value does not find a saga with a shorter value",
     a_correlation_value_does_not_find_a_saga_with_a_shorter_value},
    {"S30 a saga's state is returned by reads of sagas only",
     a_sagas_state_is_returned_by_reads_of_sagas_only},
    {"S16 a thousand sagas can be loaded in one call, repeated ones, too",
     a_thousand_sagas_can_be_loaded_in_one_call_repeated_ones_too},
};

const suite_cases cases_saga = SUITE_CASES("saga", cases);
