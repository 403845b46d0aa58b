/* saga.c - sagas through the public operations: find, insert, update,
 * delete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <string.h>

#define ORDER(s) ((s)->tables[SUITE_ORDER])
#define REF(text) pawl_value_text(pawl_text_of(text))

static pawl_saga_row find_in(suite *s, pawl_store *store, suite_table table, pawl_saga_key key,
                             pawl_value value)
{
    pawl_saga_row row = {.version = -1};
    EXPECT_OK(s,
              pawl_store_saga_find(store, s->tables[table], key, value, s->arena, &row, &s->error));
    return row;
}

static pawl_saga_row find(suite *s, pawl_store *store, const char *ref)
{
    return find_in(s, store, SUITE_ORDER, PAWL_SAGA_BY_MAIN, REF(ref));
}

static pawl_saga_row order(const char *ref, const char *data)
{
    return (pawl_saga_row){.main         = REF(ref),
                           .metadata     = PAWL_TEXT("{\"by\":\"suite\"}"),
                           .data         = pawl_text_of(data),
                           .type_version = PAWL_TEXT("1.0")};
}

static pawl_saga_row insert(suite *s, pawl_store *store, const char *ref, const char *data)
{
    pawl_saga_row row = order(ref, data);
    EXPECT_OK(s, pawl_store_saga_insert(store, ORDER(s), &row, SUITE_NOW, &s->error));
    return row;
}

static pawl_code try_update(suite *s, pawl_store *store, pawl_saga_row *row, const char *data)
{
    row->data = pawl_text_of(data);
    return pawl_store_saga_update(store, ORDER(s), row, SUITE_NOW, &s->error);
}

static void expect_data(suite *s, const pawl_saga_row *row, int64_t version, const char *data)
{
    EXPECT_EQ(s, row->version, version);
    EXPECT_TEXT(s, suite_compact(s, row->data), pawl_text_of(data));
}

/* The last refusal names the saga, its id and the version. */
static void expect_named(suite *s, pawl_saga_id id, const char *version)
{
    char      text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_text shown = pawl_text_of(s->error.text);
    pawl_uuid_format(id.uuid, text);
    EXPECT(s, suite_text_has(shown, TEXT("Order")));
    EXPECT(s, suite_text_has(shown, pawl_text_of(text)));
    EXPECT(s, suite_text_has(shown, pawl_text_of(version)));
}

/* ---- Cases -------------------------------------------------------------- */

static void finding_a_saga_that_does_not_exist_returns_version_0_not_an_error(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, find(s, a, "order-1").version, 0);
    EXPECT_EQ(
        s, find_in(s, a, SUITE_PLAIN, PAWL_SAGA_BY_ID, pawl_value_uuid(suite_uuid(1))).version, 0);
    EXPECT_EQ(
        s, find_in(s, a, SUITE_MOVE, PAWL_SAGA_BY_TRANSITIONAL, pawl_value_integer(1)).version, 0);
}

static void a_find_in_a_table_that_does_not_exist_returns_version_0_not_an_error(suite *s)
{
    pawl_store     *a     = suite_open(s);
    pawl_saga_table table = *ORDER(s);
    pawl_saga_row   row   = {.version = -1};
    table.type            = TEXT("Nowhere");
    table.name            = suite_printf(s, "%.*sNowhere", PAWL_TEXT_ARGS(table.name));
    EXPECT_OK(s, pawl_store_saga_find(a, &table, PAWL_SAGA_BY_MAIN, REF("order-1"), s->arena, &row,
                                      &s->error));
    EXPECT_EQ(s, row.version, 0);
    EXPECT_EQ(s, s->error.code, PAWL_OK);
    row.version = -1;
    EXPECT_OK(s, pawl_store_saga_find_by(a, &table, TEXT("OrderRef"), REF("order-1"), s->arena,
                                         &row, &s->error));
    EXPECT_EQ(s, row.version, 0);
    insert(s, a, "order-1", "{}"); /* the refusal does not affect the handle */
    EXPECT_EQ(s, find(s, a, "order-1").version, 1);
}

static void a_saga_that_was_found_can_be_passed_to_update_as_it_is(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open(s);
    pawl_saga_row made = insert(s, a, "order-1", "{\"n\":1,\"kept\":\"x\"}");
    EXPECT_EQ(s, made.version, 1);
    EXPECT_EQ(s, made.presence, PAWL_SAGA_THERE);
    EXPECT(s, !pawl_uuid_is_zero(made.id.uuid));
    pawl_saga_row row = find(s, b, "order-1");
    EXPECT_EQ(s, pawl_uuid_compare(row.id.uuid, made.id.uuid), 0);
    expect_data(s, &row, 1, "{\"n\":1,\"kept\":\"x\"}");
    EXPECT_TEXT(s, row.type_version, TEXT("1.0"));
    row.type_version = TEXT("2.0");
    EXPECT_OK(s, try_update(s, b, &row, "{\"n\":2,\"kept\":\"x\"}"));
    EXPECT_EQ(s, row.version, 2);
    EXPECT_OK(s, try_update(s, b, &row, "{\"n\":3,\"kept\":\"x\"}"));
    pawl_saga_row again = find(s, a, "order-1");
    expect_data(s, &again, 3, "{\"n\":3,\"kept\":\"x\"}");
    EXPECT_TEXT(s, suite_compact(s, again.metadata), TEXT("{\"by\":\"suite\"}"));
    EXPECT_TEXT(s, again.type_version, TEXT("2.0"));
    EXPECT_EQ(s, pawl_uuid_compare(again.id.uuid, made.id.uuid), 0);
}

static void a_saga_gets_the_callers_id_or_a_new_one(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open(s);
    pawl_saga_row own = order("order-1", "{}");
    own.id            = suite_saga_id(7);
    own.row           = 31; /* row hint of another row */
    EXPECT_OK(s, pawl_store_saga_insert(a, ORDER(s), &own, SUITE_NOW, &s->error));
    EXPECT_EQ(s, own.row, 0);
    EXPECT_EQ(s, pawl_uuid_compare(find(s, a, "order-1").id.uuid, suite_uuid(7)), 0);
    pawl_saga_row first = insert(s, a, "order-2", "{}"), second = insert(s, a, "order-3", "{}");
    pawl_saga_row third = insert(s, b, "order-4", "{}");
    EXPECT(s, pawl_uuid_compare(first.id.uuid, second.id.uuid) != 0);
    EXPECT(s, pawl_uuid_compare(first.id.uuid, third.id.uuid) != 0);
    EXPECT(s, pawl_uuid_compare(second.id.uuid, third.id.uuid) != 0);
    pawl_saga_row parcel = {.main = pawl_value_uuid(suite_uuid(9)), .type_version = TEXT("1.0")};
    EXPECT_OK(s, pawl_store_saga_insert(a, s->tables[SUITE_PARCEL], &parcel, SUITE_NOW, &s->error));
    EXPECT(s, pawl_uuid_compare(parcel.id.uuid, suite_uuid(9)) != 0);
}

static void each_saga_that_is_found_is_an_independent_copy(suite *s)
{
    pawl_store   *a      = suite_open(s);
    char          data[] = "{\"n\":1}", ref[] = "order-1";
    pawl_saga_row made = order(ref, data);
    EXPECT_OK(s, pawl_store_saga_insert(a, ORDER(s), &made, SUITE_NOW, &s->error));
    memcpy(data, "{\"n\":9}", 7);
    memcpy(ref, "ORDER-9", 7);
    pawl_saga_row first = find(s, a, "order-1"), second = find(s, a, "order-1");
    EXPECT(s, first.data.data != second.data.data);
    memset((char *)first.data.data, 'x', first.data.size);
    expect_data(s, &second, 1, "{\"n\":1}");
    pawl_saga_row third = find(s, a, "order-1");
    expect_data(s, &third, 1, "{\"n\":1}");
    memcpy(data, "{\"n\":2}", 7);
    EXPECT_OK(s, try_update(s, a, &third, data));
    memcpy(data, "{\"n\":7}", 7);
    third = find(s, a, "order-1");
    expect_data(s, &third, 2, "{\"n\":2}");
}

static void a_refused_update_changes_neither_the_saga_nor_the_callers_version(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, "order-1", "{\"n\":1}");
    pawl_saga_row by_a = find(s, a, "order-1"), by_b = find(s, b, "order-1");
    EXPECT_OK(s, try_update(s, b, &by_b, "{\"by\":\"b\"}"));
    EXPECT_CODE(s, try_update(s, a, &by_a, "{\"by\":\"a\"}"), PAWL_ECONFLICT);
    EXPECT_EQ(s, by_a.version, 1);
    expect_named(s, by_a.id, "1");
    EXPECT_CODE(s, try_update(s, a, &by_a, "{\"by\":\"a\"}"), PAWL_ECONFLICT);
    EXPECT_EQ(s, by_a.version, 1);
    pawl_saga_row row = find(s, a, "order-1");
    expect_data(s, &row, 2, "{\"by\":\"b\"}");
    by_a.version = 17; /* a version that is ahead is stale, too */
    EXPECT_CODE(s, try_update(s, a, &by_a, "{}"), PAWL_ECONFLICT);
    expect_named(s, by_a.id, "17");
    EXPECT_EQ(s, by_a.version, 17);
    row = find(s, a, "order-1");
    expect_data(s, &row, 2, "{\"by\":\"b\"}");
}

static void an_update_of_a_saga_that_does_not_exist_inserts_nothing(suite *s)
{
    pawl_store   *a   = suite_open(s);
    pawl_saga_row row = order("order-1", "{}");
    row.id            = suite_saga_id(7);
    row.version       = 31;
    EXPECT_CODE(s, try_update(s, a, &row, "{}"), PAWL_ECONFLICT);
    expect_named(s, row.id, "31");
    EXPECT_EQ(s, row.version, 31);
    pawl_saga_row none = find(s, a, "order-1");
    EXPECT_CODE(s, try_update(s, a, &none, "{}"), PAWL_ECONFLICT);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 0);
}

typedef struct counter_race {
    unsigned rounds;
} counter_race;

#define TRIES_MAX 2000

/* Increments a counter `rounds` times; after a conflict loads it again. */
static void add_up(suite_thread *thread)
{
    suite              *s     = thread->s;
    const counter_race *race  = thread->context;
    pawl_store         *store = suite_open(s);
    for (unsigned done = 0, tries = 0; done < race->rounds; tries++) {
        if (tries == TRIES_MAX)
            suite_fail(s, __FILE__, __LINE__, "of %d updates %u were applied, expected %u: %s",
                       TRIES_MAX, done, race->rounds, s->error.text);
        pawl_saga_row row   = find(s, store, "order-1");
        pawl_text     data  = suite_compact(s, row.data);
        unsigned      value = 0;
        EXPECT_EQ(s, sscanf(data.data, "{\"n\":%u}", &value), 1);
        pawl_code code = try_update(s, store, &row, suite_printf(s, "{\"n\":%u}", value + 1).data);
        if (code == PAWL_OK)
            done++;
        else
            EXPECT_EQ(s, pawl_code_retry(code) == PAWL_RETRY_RELOAD || code == PAWL_EBUSY, true);
    }
}

static void writers_that_retry_after_a_conflict_lose_no_update(suite *s)
{
    pawl_store  *a    = suite_open(s);
    counter_race race = {.rounds = 10};
    insert(s, a, "order-1", "{\"n\":0}");
    suite_threads(s, 4, add_up, &race);
    pawl_saga_row row = find(s, a, "order-1");
    expect_data(s, &row, 41, "{\"n\":40}");
}

static void a_second_saga_with_the_same_value_or_id_is_refused_the_first_stays(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open(s);
    pawl_saga_row first = insert(s, a, "order-1", "{\"n\":1}");
    EXPECT_OK(s, try_update(s, a, &first, "{\"n\":2}"));
    pawl_saga_row second = order("order-1", "{\"second\":\"x\"}");
    EXPECT_CODE(s, pawl_store_saga_insert(b, ORDER(s), &second, SUITE_NOW, &s->error),
                PAWL_EDUPLICATE);
    EXPECT_EQ(s, pawl_code_retry(s->error.code), PAWL_RETRY_RELOAD);
    EXPECT(s, pawl_uuid_is_zero(second.id.uuid));
    EXPECT_EQ(s, second.version, 0);
    second    = order("order-2", "{\"second\":\"x\"}");
    second.id = first.id;
    EXPECT_CODE(s, pawl_store_saga_insert(b, ORDER(s), &second, SUITE_NOW, &s->error),
                PAWL_EDUPLICATE);
    pawl_saga_row row = find(s, b, "order-1");
    expect_data(s, &row, 2, "{\"n\":2}");
    EXPECT_EQ(s, find(s, b, "order-2").version, 0);
}

static void a_delete_checks_the_version_and_frees_the_correlation_value(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open(s);
    pawl_saga_row row   = insert(s, a, "order-1", "{\"n\":1}");
    pawl_saga_row stale = row;
    EXPECT_OK(s, try_update(s, a, &row, "{\"n\":2}"));
    EXPECT_CODE(s, pawl_store_saga_delete(b, ORDER(s), &stale, SUITE_NOW, &s->error),
                PAWL_ECONFLICT);
    expect_named(s, row.id, "1");
    pawl_saga_row kept = find(s, b, "order-1");
    expect_data(s, &kept, 2, "{\"n\":2}");
    EXPECT_OK(s, pawl_store_saga_delete(b, ORDER(s), &kept, SUITE_NOW, &s->error));
    EXPECT_EQ(s, find(s, a, "order-1").version, 0);
    EXPECT_CODE(s, pawl_store_saga_delete(b, ORDER(s), &kept, SUITE_NOW, &s->error),
                PAWL_ECONFLICT);
    pawl_saga_row afresh = insert(s, b, "order-1", "{\"n\":3}");
    EXPECT_EQ(s, afresh.version, 1);
    EXPECT(s, pawl_uuid_compare(afresh.id.uuid, row.id.uuid) != 0);
}

static void a_shorter_state_replaces_a_longer_one_completely(suite *s)
{
    pawl_store   *a    = suite_open(s);
    pawl_text     pad  = suite_repeat(s, TEXT("long "), 500);
    pawl_text     big  = suite_printf(s, "{\"pad\":\"%.*s\"}", PAWL_TEXT_ARGS(pad));
    pawl_saga_row row  = insert(s, a, "order-1", big.data);
    pawl_saga_row load = find(s, a, "order-1");
    EXPECT_TEXT(s, suite_compact(s, load.data), suite_compact(s, big));
    EXPECT_OK(s, try_update(s, a, &row, "{\"n\":1}"));
    load = find(s, a, "order-1");
    expect_data(s, &load, 2, "{\"n\":1}");
    EXPECT_OK(s, try_update(s, a, &row, "")); /* an empty text is an empty state */
    load = find(s, a, "order-1");
    expect_data(s, &load, 3, "{}");
}

/* Each row is found by id and by a value of its column's type. */
static void a_saga_is_found_by_its_id_and_by_its_correlation_value(suite *s)
{
    static const struct {
        suite_table table;
        pawl_value  value;
    } rows[] = {
        {SUITE_ORDER,
         {.type = PAWL_VALUE_TEXT, .as.text = PAWL_TEXT_INIT("order-\xf0\x9f\x90\x9f'\"")}},
        {SUITE_TICKET, {.type = PAWL_VALUE_INT, .as.integer = INT64_MIN}},
        {SUITE_PARCEL, {.type = PAWL_VALUE_UUID, .as.uuid = {{1, 2, 3, 4, 5}}}},
        {SUITE_ALARM, {.type = PAWL_VALUE_TIME, .as.time = SUITE_NOW + 1}},
    };
    pawl_store *a = suite_open(s);
    for (size_t i = 0; i < 4; i++) {
        pawl_saga_row made = {.main = rows[i].value, .data = TEXT("{\"n\":1}")};
        if (rows[i].table == SUITE_ALARM)
            made.transitional = pawl_value_time(SUITE_NOW + 2);
        EXPECT_OK(s,
                  pawl_store_saga_insert(a, s->tables[rows[i].table], &made, SUITE_NOW, &s->error));
        pawl_saga_row by_value = find_in(s, a, rows[i].table, PAWL_SAGA_BY_MAIN, rows[i].value);
        pawl_saga_row by_id =
            find_in(s, a, rows[i].table, PAWL_SAGA_BY_ID, pawl_value_uuid(made.id.uuid));
        EXPECT_EQ(s, by_value.version, 1);
        EXPECT_EQ(s, by_id.version, 1);
        EXPECT_EQ(s, pawl_uuid_compare(by_value.id.uuid, made.id.uuid), 0);
        EXPECT(s, pawl_value_equal(&by_id.main, &rows[i].value));
    }
}

static void a_text_is_converted_to_the_type_of_the_correlation_property_or_refused(suite *s)
{
    pawl_store   *a = suite_open(s);
    pawl_saga_row row;
    pawl_saga_row ticket = {.main = pawl_value_integer(42)};
    pawl_saga_row parcel = {.main = pawl_value_uuid(suite_uuid(5))};
    pawl_saga_row alarm  = {.main         = pawl_value_time(SUITE_NOW),
                            .transitional = pawl_value_time(SUITE_NOW)};
    EXPECT_OK(s, pawl_store_saga_insert(a, s->tables[SUITE_TICKET], &ticket, SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_saga_insert(a, s->tables[SUITE_PARCEL], &parcel, SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_saga_insert(a, s->tables[SUITE_ALARM], &alarm, SUITE_NOW, &s->error));
    insert(s, a, "42", "{}");
    EXPECT_EQ(s, find_in(s, a, SUITE_TICKET, PAWL_SAGA_BY_MAIN, REF("42")).version, 1);
    EXPECT_EQ(s, find_in(s, a, SUITE_ORDER, PAWL_SAGA_BY_MAIN, pawl_value_integer(42)).version, 1);
    EXPECT_EQ(
        s, find_in(s, a, SUITE_ALARM, PAWL_SAGA_BY_MAIN, REF("2026-01-01T01:00:00+01:00")).version,
        1);
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(suite_uuid(5), text);
    EXPECT_EQ(s, find_in(s, a, SUITE_PARCEL, PAWL_SAGA_BY_MAIN, REF(text)).version, 1);
    EXPECT_EQ(s, find_in(s, a, SUITE_PARCEL, PAWL_SAGA_BY_ID, REF(text)).version, 0);
    EXPECT_CODE(s,
                pawl_store_saga_find(a, s->tables[SUITE_TICKET], PAWL_SAGA_BY_MAIN, REF("4x2"),
                                     s->arena, &row, &s->error),
                PAWL_EINVAL);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("Number")));
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("text of 3 bytes")));
    EXPECT_CODE(s,
                pawl_store_saga_find(a, s->tables[SUITE_ALARM], PAWL_SAGA_BY_MAIN,
                                     pawl_value_integer(7), s->arena, &row, &s->error),
                PAWL_EINVAL);
}

static void an_invalid_correlation_value_is_refused(suite *s)
{
    static const char over[]   = "x\0y";
    pawl_store       *a        = suite_open(s);
    pawl_text         long_one = suite_repeat(s, TEXT("\xc3\xa4"), 201);
    const pawl_value  values[] = {{.type = PAWL_VALUE_NONE},
                                  pawl_value_text((pawl_text){.data = over, .size = 3}),
                                  pawl_value_text(long_one),
                                  pawl_value_text((pawl_text){.data = "\xff", .size = 1})};
    for (size_t i = 0; i < 4; i++) {
        pawl_saga_row row = {.version = -1};
        pawl_code code = pawl_store_saga_find(a, ORDER(s), PAWL_SAGA_BY_MAIN, values[i], s->arena,
                                              &row, &s->error);
        EXPECT_EQ(s, code, PAWL_EINVAL);
        EXPECT_EQ(s, row.version, 0);
        EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("OrderRef")));
    }
    pawl_saga_row row = {.main = pawl_value_text(long_one)};
    EXPECT_CODE(s, pawl_store_saga_insert(a, ORDER(s), &row, SUITE_NOW, &s->error), PAWL_EINVAL);
    row.main = pawl_value_text((pawl_text){.data = over, .size = 3});
    EXPECT_CODE(s, pawl_store_saga_insert(a, ORDER(s), &row, SUITE_NOW, &s->error), PAWL_EINVAL);
    row.main = (pawl_value){.type = PAWL_VALUE_NONE};
    EXPECT_CODE(s, pawl_store_saga_insert(a, ORDER(s), &row, SUITE_NOW, &s->error), PAWL_EINVAL);
    row.main = pawl_value_integer(1); /* values are compared as their declared type */
    EXPECT_CODE(s, pawl_store_saga_insert(a, ORDER(s), &row, SUITE_NOW, &s->error), PAWL_EINVAL);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 0);
}

static void expect_json_refused(suite *s, pawl_code code, const char *field)
{
    pawl_text path = suite_printf(s, "saga '%.*s': %s: ", PAWL_TEXT_ARGS(ORDER(s)->type), field);
    EXPECT_EQ(s, code, PAWL_EINVAL);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), path));
}

/* A JSON column, which some stores use, does not accept these texts. */
static void a_sagas_data_and_metadata_must_be_json_objects_without_nul(suite *s)
{
    static const char *const wrong[] = {"not json",
                                        "[1]",
                                        "7",
                                        "{\"a\":NaN}",
                                        "{\"a\":\"x\\u0000y\"}",
                                        "{\"a\\u0000\":1}",
                                        "{\"a\":\"\\ud800\"}"};
    pawl_store              *a       = suite_open(s);
    pawl_saga_row            kept    = insert(s, a, "kept", "{\"a\":\"\\\\u0000\"}");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_saga_row row = order("new", wrong[i]);
        expect_json_refused(s, pawl_store_saga_insert(a, ORDER(s), &row, SUITE_NOW, &s->error),
                            "data");
        row          = order("new", "{}");
        row.metadata = pawl_text_of(wrong[i]);
        expect_json_refused(s, pawl_store_saga_insert(a, ORDER(s), &row, SUITE_NOW, &s->error),
                            "metadata");
        expect_json_refused(s, try_update(s, a, &kept, wrong[i]), "data");
        EXPECT_EQ(s, kept.version, 1);
    }
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 1);
    pawl_saga_row row = find(s, a, "kept");
    expect_data(s, &row, 1, "{\"a\":\"\\\\u0000\"}");
}

static void expect_find_by_refused(suite *s, pawl_store *store, suite_table table,
                                   const char *property, const char *named)
{
    pawl_saga_row row = {.version = -1};
    EXPECT_CODE(s,
                pawl_store_saga_find_by(store, s->tables[table], pawl_text_of(property), REF("1"),
                                        s->arena, &row, &s->error),
                PAWL_EINVAL);
    EXPECT_EQ(s, row.version, 0);
    if (!suite_text_has(pawl_text_of(s->error.text), pawl_text_of(named)))
        suite_fail(s, __FILE__, __LINE__, "the error text '%s' does not contain '%s'",
                   s->error.text, named);
}

static void a_find_by_another_property_is_refused_naming_the_allowed_ones(suite *s)
{
    pawl_store   *a = suite_open(s);
    pawl_saga_row row;
    insert(s, a, "order-1", "{\"Total\":\"1\"}");
    expect_find_by_refused(s, a, SUITE_ORDER, "Total", "'OrderRef'");
    expect_find_by_refused(s, a, SUITE_ORDER, "orderref", "'OrderRef'");
    expect_find_by_refused(s, a, SUITE_ORDER, "", "'OrderRef'");
    expect_find_by_refused(s, a, SUITE_MOVE, "Total", "'OldRef'");
    expect_find_by_refused(s, a, SUITE_MOVE, "Total", "'NewNumber'");
    expect_find_by_refused(s, a, SUITE_PLAIN, "Total", "no correlation property");
    expect_find_by_refused(s, a, SUITE_PLAIN, "", "no correlation property");
    EXPECT_OK(s, pawl_store_saga_find_by(a, ORDER(s), TEXT("OrderRef"), REF("order-1"), s->arena,
                                         &row, &s->error));
    EXPECT_EQ(s, row.version, 1);
    EXPECT_CODE(s,
                pawl_store_saga_find(a, s->tables[SUITE_PLAIN], PAWL_SAGA_BY_MAIN, REF("1"),
                                     s->arena, &row, &s->error),
                PAWL_EINVAL);
    EXPECT_CODE(s,
                pawl_store_saga_find(a, ORDER(s), PAWL_SAGA_BY_TRANSITIONAL, REF("1"), s->arena,
                                     &row, &s->error),
                PAWL_EINVAL);
}

static void a_saga_without_a_correlation_property_is_found_by_its_id(suite *s)
{
    pawl_store            *a     = suite_open(s);
    const pawl_saga_table *plain = s->tables[SUITE_PLAIN];
    pawl_saga_row          made  = {.data = TEXT("{\"n\":1}")};
    EXPECT_OK(s, pawl_store_saga_insert(a, plain, &made, SUITE_NOW, &s->error));
    pawl_saga_row row = find_in(s, a, SUITE_PLAIN, PAWL_SAGA_BY_ID, pawl_value_uuid(made.id.uuid));
    expect_data(s, &row, 1, "{\"n\":1}");
    row.data = TEXT("{\"n\":2}");
    EXPECT_OK(s, pawl_store_saga_update(a, plain, &row, SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_saga_delete(a, plain, &row, SUITE_NOW, &s->error));
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_PLAIN), 0);
}

static void an_update_never_changes_the_main_correlation_value(suite *s)
{
    pawl_store            *a    = suite_open(s);
    const pawl_saga_table *move = s->tables[SUITE_MOVE];
    pawl_saga_row          row  = {.main = REF("move-1"), .transitional = pawl_value_integer(1)};
    EXPECT_OK(s, pawl_store_saga_insert(a, move, &row, SUITE_NOW, &s->error));
    row.main         = REF("move-2");
    row.transitional = pawl_value_integer(2);
    EXPECT_OK(s, pawl_store_saga_update(a, move, &row, SUITE_NOW, &s->error));
    EXPECT_EQ(s, find_in(s, a, SUITE_MOVE, PAWL_SAGA_BY_MAIN, REF("move-1")).version, 2);
    EXPECT_EQ(s, find_in(s, a, SUITE_MOVE, PAWL_SAGA_BY_MAIN, REF("move-2")).version, 0);
    EXPECT_EQ(
        s, find_in(s, a, SUITE_MOVE, PAWL_SAGA_BY_TRANSITIONAL, pawl_value_integer(1)).version, 0);
    pawl_saga_row found;
    EXPECT_OK(s, pawl_store_saga_find_by(a, move, TEXT("NewNumber"), pawl_value_integer(2),
                                         s->arena, &found, &s->error));
    EXPECT_EQ(s, found.version, 2);
    EXPECT_TEXT(s, found.main.as.text, TEXT("move-1"));
}

static void a_missing_transitional_value_is_refused(suite *s)
{
    pawl_store            *a    = suite_open(s);
    const pawl_saga_table *move = s->tables[SUITE_MOVE];
    pawl_saga_row          row  = {.main = REF("move-1")};
    EXPECT_CODE(s, pawl_store_saga_insert(a, move, &row, SUITE_NOW, &s->error), PAWL_EINVAL);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text),
                             TEXT("null transitional property 'NewNumber' is not allowed")));
    /* A row from before the transition has no such value until it is next saved. */
    COMMIT_ONE(s, a, saga_insert, .table = move, .id = suite_saga_id(1), .main = REF("move-1"),
               .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    row = find_in(s, a, SUITE_MOVE, PAWL_SAGA_BY_MAIN, REF("move-1"));
    EXPECT_EQ(s, row.transitional.type, PAWL_VALUE_NONE);
    EXPECT_CODE(s, pawl_store_saga_update(a, move, &row, SUITE_NOW, &s->error), PAWL_EINVAL);
    EXPECT_EQ(s, row.version, 1);
    row.transitional = pawl_value_integer(8);
    EXPECT_OK(s, pawl_store_saga_update(a, move, &row, SUITE_NOW, &s->error));
    pawl_saga_row other = {.main = REF("move-2"), .transitional = pawl_value_integer(9)};
    EXPECT_OK(s, pawl_store_saga_insert(a, move, &other, SUITE_NOW, &s->error));
    other.transitional = pawl_value_integer(8);
    EXPECT_CODE(s, pawl_store_saga_update(a, move, &other, SUITE_NOW, &s->error), PAWL_EDUPLICATE);
    EXPECT_EQ(s, other.version, 1);
}

static void sagas_of_different_types_are_independent(suite *s)
{
    pawl_store   *a    = suite_open(s);
    pawl_saga_row made = insert(s, a, "ref-1", "{\"n\":1}");
    EXPECT_EQ(s, find_in(s, a, SUITE_TWIN, PAWL_SAGA_BY_MAIN, REF("ref-1")).version, 0);
    EXPECT_EQ(s, find_in(s, a, SUITE_TWIN, PAWL_SAGA_BY_ID, pawl_value_uuid(made.id.uuid)).version,
              0);
    pawl_saga_row twin = order("ref-1", "{\"twin\":1}");
    EXPECT_OK(s, pawl_store_saga_insert(a, s->tables[SUITE_TWIN], &twin, SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_saga_delete(a, ORDER(s), &made, SUITE_NOW, &s->error));
    pawl_saga_row row = find_in(s, a, SUITE_TWIN, PAWL_SAGA_BY_MAIN, REF("ref-1"));
    expect_data(s, &row, 1, "{\"twin\":1}");
}

/* Table, column and index names are quoted in every statement (D4). */
static void a_saga_table_can_have_spaces_in_its_names(suite *s)
{
    pawl_store            *a     = suite_open(s);
    const pawl_saga_table *shift = s->tables[SUITE_SHIFT];
    pawl_saga_row          row   = {.main         = pawl_value_integer(7),
                                    .transitional = REF("early shift"),
                                    .data         = TEXT("{\"in hand\":\"\xf0\x9f\x8e\xbb\"}")};
    EXPECT(s, suite_text_has(shift->name, TEXT(" ")));
    EXPECT(s, suite_text_has(shift->main.property, TEXT(" ")));
    EXPECT_OK(s, pawl_store_saga_insert(a, shift, &row, SUITE_NOW, &s->error));
    EXPECT_CODE(s,
                pawl_store_saga_insert(
                    a, shift, &(pawl_saga_row){.main = row.main, .transitional = REF("late")},
                    SUITE_NOW, &s->error),
                PAWL_EDUPLICATE);
    pawl_saga_row found;
    EXPECT_OK(s, pawl_store_saga_find_by(a, shift, TEXT("Old Number"), row.main, s->arena, &found,
                                         &s->error));
    EXPECT_TEXT(s, suite_compact(s, found.data), row.data);
    found.transitional = REF("late shift");
    found.data         = TEXT("{}");
    EXPECT_OK(s, pawl_store_saga_update(a, shift, &found, SUITE_NOW, &s->error));
    EXPECT_EQ(s, find_in(s, a, SUITE_SHIFT, PAWL_SAGA_BY_TRANSITIONAL, REF("early shift")).version,
              0);
    EXPECT_OK(s, pawl_store_saga_find_by(a, shift, TEXT("New Ref?"), REF("late shift"), s->arena,
                                         &found, &s->error));
    expect_data(s, &found, 2, "{}");
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_SHIFT), 1);
    EXPECT_OK(s, pawl_store_saga_delete(a, shift, &found, SUITE_NOW, &s->error));
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_SHIFT), 0);
}

static const suite_case cases[] = {
    {"S31 D4 a saga table can have spaces in its names", a_saga_table_can_have_spaces_in_its_names},
    {"S1 finding a saga that does not exist returns version 0, not an error",
     finding_a_saga_that_does_not_exist_returns_version_0_not_an_error},
    {"S1 a find in a table that does not exist returns version 0, not an error",
     a_find_in_a_table_that_does_not_exist_returns_version_0_not_an_error},
    {"S2 S4 S5 S6 S24 a saga that was found can be passed to update as it is",
     a_saga_that_was_found_can_be_passed_to_update_as_it_is},
    {"S4 a saga gets the caller's id, or a new one", a_saga_gets_the_callers_id_or_a_new_one},
    {"S3 each saga that is found is an independent copy",
     each_saga_that_is_found_is_an_independent_copy},
    {"S7 S8 S9 a refused update changes neither the saga nor the caller's version",
     a_refused_update_changes_neither_the_saga_nor_the_callers_version},
    {"S7 S8 S12 an update of a saga that does not exist inserts nothing",
     an_update_of_a_saga_that_does_not_exist_inserts_nothing},
    {"S9 writers that retry after a conflict lose no update",
     writers_that_retry_after_a_conflict_lose_no_update},
    {"S10 S11 a second saga with the same value or id is refused, the first stays",
     a_second_saga_with_the_same_value_or_id_is_refused_the_first_stays},
    {"S12 S13 S14 a delete checks the version and frees the correlation value",
     a_delete_checks_the_version_and_frees_the_correlation_value},
    {"S15 a shorter state replaces a longer one completely",
     a_shorter_state_replaces_a_longer_one_completely},
    {"S16 S31 a saga is found by its id and by its correlation value",
     a_saga_is_found_by_its_id_and_by_its_correlation_value},
    {"S17 a text is converted to the type of the correlation property or refused",
     a_text_is_converted_to_the_type_of_the_correlation_property_or_refused},
    {"S18 D19 an invalid correlation value is refused", an_invalid_correlation_value_is_refused},
    {"S31 a saga's data and metadata must be JSON objects without NUL",
     a_sagas_data_and_metadata_must_be_json_objects_without_nul},
    {"S19 a find by another property is refused, naming the allowed ones",
     a_find_by_another_property_is_refused_naming_the_allowed_ones},
    {"S19 a saga without a correlation property is found by its id",
     a_saga_without_a_correlation_property_is_found_by_its_id},
    {"S20 an update never changes the main correlation value",
     an_update_never_changes_the_main_correlation_value},
    {"S21 a missing transitional value is refused", a_missing_transitional_value_is_refused},
    {"S28 sagas of different types are independent", sagas_of_different_types_are_independent},
};

const suite_cases cases_op_saga = SUITE_CASES("operation saga", cases);
