/* saga_value.c - correlation values: types, extremes, exact comparison,
 * the transitional column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

static void insert(suite *s, pawl_store *store, suite_table table, unsigned number, pawl_value main,
                   pawl_value transitional)
{
    COMMIT_ONE(s, store, saga_insert, .table = s->tables[table], .id = suite_saga_id(number),
               .main = main, .transitional = transitional, .metadata = TEXT("{}"),
               .data = suite_printf(s, "{\"n\":%u}", number), .type_version = TEXT("1.0"));
}

static const pawl_value none = {.type = PAWL_VALUE_NONE};

/* Inserts one saga for each value, then finds each by its value and its id. */
static void expect_all_found(suite *s, suite_table table, const pawl_value *values, size_t count)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 0; i < count; i++) {
        EXPECT_EQ(s, suite_load(s, a, table, PAWL_SAGA_BY_MAIN, values[i]).version, 0);
        insert(s, a, table, i + 1, values[i], none);
    }
    for (unsigned i = 0; i < count; i++) {
        pawl_saga_row by_main = suite_load(s, a, table, PAWL_SAGA_BY_MAIN, values[i]);
        pawl_saga_row by_id   = suite_load_id(s, a, table, i + 1);
        EXPECT_EQ(s, by_main.version, 1);
        EXPECT_EQ(s, by_id.version, 1);
        EXPECT_EQ(s, pawl_uuid_compare(by_main.id.uuid, suite_uuid(i + 1)), 0);
        EXPECT(s, pawl_value_equal(&by_main.main, &values[i]));
        EXPECT(s, pawl_value_equal(&by_id.main, &values[i]));
        EXPECT_TEXT(s, by_main.data, by_id.data);
        REFUSE_ONE(s, a, PAWL_EDUPLICATE, saga_insert, .table = s->tables[table],
                   .id = suite_saga_id(500 + i), .main = values[i], .metadata = TEXT("{}"),
                   .data = TEXT("{}"), .type_version = TEXT("1.0"));
    }
    EXPECT_EQ(s, suite_saga_count(s, a, table), (int64_t)count);
}

static void a_saga_is_found_by_any_64_bit_integer_as_correlation_value(suite *s)
{
    pawl_value values[] = {
        pawl_value_integer(INT64_MIN),
        pawl_value_integer(INT64_MIN + 1),
        pawl_value_integer(-1),
        pawl_value_integer(0),
        pawl_value_integer(1),
        pawl_value_integer(INT64_C(4294967296)),
        pawl_value_integer(INT64_C(9007199254740993)),
        pawl_value_integer(INT64_MAX - 1),
        pawl_value_integer(INT64_MAX),
    };
    expect_all_found(s, SUITE_TICKET, values, sizeof values / sizeof values[0]);
}

static void a_saga_is_found_by_a_uuid_as_correlation_value(suite *s)
{
    pawl_uuid ones = {{0}};
    for (size_t i = 0; i < 16; i++)
        ones.bytes[i] = 0xff;
    pawl_value values[] = {pawl_value_uuid(suite_uuid(1)), pawl_value_uuid(suite_uuid(2)),
                           pawl_value_uuid(suite_uuid(256)), pawl_value_uuid(ones)};
    expect_all_found(s, SUITE_PARCEL, values, sizeof values / sizeof values[0]);
}

static void a_saga_is_found_by_a_time_as_correlation_value_to_the_microsecond(suite *s)
{
    pawl_value values[] = {
        pawl_value_time(SUITE_NOW),
        pawl_value_time(SUITE_NOW + 1),
        pawl_value_time(SUITE_NOW - 1),
        pawl_value_time(1),
        pawl_value_time(-1),
        pawl_value_time(PAWL_TIME_MAX),
        pawl_value_time(PAWL_TIME_MIN),
    };
    expect_all_found(s, SUITE_ALARM, values, sizeof values / sizeof values[0]);
}

static void correlation_texts_are_compared_byte_for_byte(suite *s)
{
    pawl_value values[] = {
        pawl_value_text(TEXT("order")),
        pawl_value_text(TEXT("Order")),
        pawl_value_text(TEXT("ORDER")),
        pawl_value_text(TEXT("order ")),
        pawl_value_text(TEXT(" order")),
        pawl_value_text(TEXT("orde")),
        pawl_value_text(TEXT("\xc3\xb6rder")),
        pawl_value_text(TEXT("o\xcc\x88rder")),
        pawl_value_text(TEXT("stra\xc3\x9f"
                             "e")),
        pawl_value_text(TEXT("strasse")),
        pawl_value_text(TEXT("12")),
        pawl_value_text(TEXT("012")),
        pawl_value_text(TEXT("12.0")),
        pawl_value_text(TEXT("it's; drop table \"x\" --")),
        pawl_value_text(TEXT("100%_\\")),
        pawl_value_text(TEXT("line\nbreak\ttab")),
        pawl_value_text(TEXT("\xf0\x9f\x8e\xbb")),
        pawl_value_text(TEXT("\xf0\x9f\x8e\xbc")),
        pawl_value_text(TEXT("null")),
    };
    expect_all_found(s, SUITE_ORDER, values, sizeof values / sizeof values[0]);
}

static void correlation_texts_of_200_characters_are_compared_completely(suite *s)
{
    /* Different only in the last character, of one and of four bytes each. */
    pawl_text  small    = suite_repeat(s, TEXT("x"), 199);
    pawl_text  large    = suite_repeat(s, TEXT("\xf0\x9f\x8e\xbb"), 199);
    pawl_value values[] = {
        pawl_value_text(suite_printf(s, "%.*sa", PAWL_TEXT_ARGS(small))),
        pawl_value_text(suite_printf(s, "%.*sb", PAWL_TEXT_ARGS(small))),
        pawl_value_text(suite_printf(s, "%.*s\xf0\x9f\x8e\xbb", PAWL_TEXT_ARGS(large))),
        pawl_value_text(suite_printf(s, "%.*s\xf0\x9f\x8e\xbc", PAWL_TEXT_ARGS(large))),
    };
    expect_all_found(s, SUITE_ORDER, values, sizeof values / sizeof values[0]);
}

static void a_correlation_text_that_is_too_long_or_invalid_is_refused(suite *s)
{
    pawl_store *a     = suite_open(s);
    pawl_text   bad[] = {suite_repeat(s, TEXT("\xc3\xb6"), 201), PAWL_TEXT_INIT("a\0b"),
                         TEXT("bad\xff"
                                "utf8")};
    for (size_t i = 0; i < 3; i++) {
        suite_set     set = suite_changes(s);
        pawl_refusals refused;
        ADD(&set, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1),
            .main = pawl_value_text(bad[i]), .metadata = TEXT("{}"), .data = TEXT("{}"),
            .type_version = TEXT("1.0"));
        pawl_code code = suite_try(&set, a, &refused);
        EXPECT(s, code == PAWL_EINVAL || code == PAWL_ELIMIT);
        EXPECT(s, s->error.text[0] != '\0');
    }
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 0);
}

static void update(suite *s, pawl_store *store, suite_table table, unsigned number, int64_t version,
                   pawl_value transitional)
{
    COMMIT_ONE(s, store, saga_update, .table = s->tables[table], .id = suite_saga_id(number),
               .version = version, .transitional = transitional, .metadata = TEXT("{}"),
               .data = TEXT("{}"), .type_version = TEXT("1.0"));
}

static pawl_saga_row by_number(suite *s, pawl_store *store, int64_t number)
{
    return suite_load(s, store, SUITE_MOVE, PAWL_SAGA_BY_TRANSITIONAL, pawl_value_integer(number));
}

static void an_update_changes_the_transitional_value_never_the_main_value(suite *s)
{
    pawl_store *a    = suite_open(s);
    pawl_value  main = pawl_value_text(TEXT("move-1"));
    insert(s, a, SUITE_MOVE, 1, main, pawl_value_integer(INT64_MAX));
    pawl_saga_row row = by_number(s, a, INT64_MAX);
    EXPECT_EQ(s, row.version, 1);
    EXPECT(s, pawl_value_equal(&row.main, &main));
    EXPECT_EQ(s, row.transitional.type, PAWL_VALUE_INT);
    EXPECT_EQ(s, row.transitional.as.integer, INT64_MAX);
    update(s, a, SUITE_MOVE, 1, 1, pawl_value_integer(8));
    EXPECT_EQ(s, by_number(s, a, INT64_MAX).version, 0);
    EXPECT_EQ(s, by_number(s, a, 8).version, 2);
    update(s, a, SUITE_MOVE, 1, 2, none);
    EXPECT_EQ(s, by_number(s, a, 8).version, 0);
    row = suite_load(s, a, SUITE_MOVE, PAWL_SAGA_BY_MAIN, main);
    EXPECT_EQ(s, row.version, 3);
    EXPECT_EQ(s, row.transitional.type, PAWL_VALUE_NONE);
    update(s, a, SUITE_MOVE, 1, 3, pawl_value_integer(9));
    row = by_number(s, a, 9);
    EXPECT_EQ(s, row.version, 4);
    EXPECT(s, pawl_value_equal(&row.main, &main));
    EXPECT_EQ(s, suite_load(s, a, SUITE_MOVE, PAWL_SAGA_BY_MAIN, main).version, 4);
}

static void a_transitional_value_is_unique_among_the_sagas_of_a_type(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, SUITE_SHIFT, 1, pawl_value_integer(1), pawl_value_text(TEXT("new-1")));
    insert(s, a, SUITE_SHIFT, 2, pawl_value_integer(2), pawl_value_text(TEXT("NEW-1")));
    REFUSE_ONE(s, a, PAWL_EDUPLICATE, saga_insert, .table = s->tables[SUITE_SHIFT],
               .id = suite_saga_id(3), .main = pawl_value_integer(3),
               .transitional = pawl_value_text(TEXT("new-1")), .metadata = TEXT("{}"),
               .data = TEXT("{}"), .type_version = TEXT("1.0"));
    REFUSE_ONE(s, a, PAWL_EDUPLICATE, saga_update, .table = s->tables[SUITE_SHIFT],
               .id = suite_saga_id(2), .version = 1, .transitional = pawl_value_text(TEXT("new-1")),
               .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    pawl_saga_row row = suite_load_id(s, a, SUITE_SHIFT, 2);
    EXPECT_EQ(s, row.version, 1);
    EXPECT_TEXT(s, row.transitional.as.text, TEXT("NEW-1"));
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_SHIFT), 2);
    update(s, a, SUITE_SHIFT, 1, 1, pawl_value_text(TEXT("new-1")));
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_SHIFT, 1).version, 2);
}

/* In separate groups: the first gets the value. */
static void of_two_updates_to_one_transitional_value_in_a_commit_the_first_succeeds(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, SUITE_SHIFT, 1, pawl_value_integer(1), pawl_value_text(TEXT("old-1")));
    insert(s, a, SUITE_SHIFT, 2, pawl_value_integer(2), pawl_value_text(TEXT("old-2")));
    for (int64_t version = 1; version <= 2; version++) { /* the second time after a refusal */
        pawl_text value = suite_printf(s, "new-%d", (int)version);
        suite_set set   = suite_changes(s);
        for (unsigned i = 0; i < 2; i++) {
            suite_unit(&set, i, i);
            ADD(&set, saga_update, .table = s->tables[SUITE_SHIFT], .id = suite_saga_id(i + 1),
                .version = i == 0 ? version : 1, .transitional = pawl_value_text(value),
                .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
        }
        pawl_refusals refused = REFUSED(&set, a);
        EXPECT_EQ(s, refused.count, 1);
        EXPECT_EQ(s, refused.items[0].unit, 1);
        EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
        EXPECT_EQ(s, suite_load_id(s, a, SUITE_SHIFT, 1).version, version + 1);
        EXPECT_EQ(s, suite_load_id(s, a, SUITE_SHIFT, 2).version, 1);
    }
}

static void sagas_without_a_transitional_value_do_not_conflict(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 3; i++)
        insert(s, a, SUITE_SHIFT, i, pawl_value_integer(i), none);
    update(s, a, SUITE_SHIFT, 1, 1, none);
    update(s, a, SUITE_SHIFT, 2, 1, pawl_value_text(TEXT("x")));
    update(s, a, SUITE_SHIFT, 2, 2, none);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_SHIFT), 3);
    EXPECT_EQ(s,
              suite_load(s, a, SUITE_SHIFT, PAWL_SAGA_BY_TRANSITIONAL, pawl_value_text(TEXT("x")))
                  .version,
              0);
}

static void a_deleted_sagas_values_can_be_inserted_in_the_same_commit(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, SUITE_MOVE, 1, pawl_value_text(TEXT("move-1")), pawl_value_integer(7));
    suite_set set = suite_changes(s);
    ADD(&set, saga_delete, .table = s->tables[SUITE_MOVE], .id = suite_saga_id(1), .version = 1);
    ADD(&set, saga_insert, .table = s->tables[SUITE_MOVE], .id = suite_saga_id(2),
        .main = pawl_value_text(TEXT("move-2")), .transitional = pawl_value_integer(7),
        .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    COMMIT(&set, a);
    EXPECT_EQ(s, pawl_uuid_compare(by_number(s, a, 7).id.uuid, suite_uuid(2)), 0);
}

static void a_sagas_state_keeps_its_texts_and_integers(suite *s)
{
    static const char *const states[] = {
        "{\"n\":9223372036854775807}",
        "{\"n\":-9223372036854775808}",
        "{\"n\":9007199254740993}",
        "{\"s\":\"\xf0\x9f\x8e\xbb it's \\\"quoted\\\" \\\\ line\\nbreak\"}",
        "{\"s\":\"  blanks  kept  \"}",
        "{\"a\":[1,2,{\"b\":null}]}",
        "{\"\xc3\xb6\":\"\xe2\x82\xac\"}",
        "{\"\":1}",
        "{\"a\":{\"\":[{\"\":null}]}}",
        "{\"a\":{\"x.y\":1}}",
        "{\"$x\":{\"$y\":1}}",
        "{\"a\":{\"$number\":\"5\"}}",
    };
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++) {
        pawl_text state = pawl_text_of(states[i]);
        COMMIT_ONE(s, a, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1),
                   .version = i + 1, .metadata = state, .data = state, .type_version = TEXT("1.0"));
        pawl_saga_row row = suite_load_id(s, a, SUITE_ORDER, 1);
        EXPECT_TEXT(s, suite_compact(s, row.data), state);
        EXPECT_TEXT(s, suite_compact(s, row.metadata), state);
    }
}

static const suite_case cases[] = {
    {"S16 D16 a saga is found by any 64-bit integer as correlation value",
     a_saga_is_found_by_any_64_bit_integer_as_correlation_value},
    {"S16 a saga is found by a UUID as correlation value",
     a_saga_is_found_by_a_uuid_as_correlation_value},
    {"S16 a saga is found by a time as correlation value, to the microsecond",
     a_saga_is_found_by_a_time_as_correlation_value_to_the_microsecond},
    {"S16 D20 S31 correlation texts are compared byte for byte",
     correlation_texts_are_compared_byte_for_byte},
    {"D19 correlation texts of 200 characters are compared completely",
     correlation_texts_of_200_characters_are_compared_completely},
    {"D19 D20 a correlation text that is too long or invalid is refused",
     a_correlation_text_that_is_too_long_or_invalid_is_refused},
    {"S20 S22 an update changes the transitional value, never the main value",
     an_update_changes_the_transitional_value_never_the_main_value},
    {"S10 S20 D23 a transitional value is unique among the sagas of a type",
     a_transitional_value_is_unique_among_the_sagas_of_a_type},
    {"S10 S20 D23 of two updates to one transitional value in a commit the first succeeds",
     of_two_updates_to_one_transitional_value_in_a_commit_the_first_succeeds},
    {"S21 D23 sagas without a transitional value do not conflict",
     sagas_without_a_transitional_value_do_not_conflict},
    {"E35 a deleted saga's values can be inserted in the same commit",
     a_deleted_sagas_values_can_be_inserted_in_the_same_commit},
    {"S31 D16 a saga's state keeps its texts and integers",
     a_sagas_state_keeps_its_texts_and_integers},
};

const suite_cases cases_saga_value = SUITE_CASES("saga value", cases);
