/* test_record_copy.c - deep copies share nothing; equality is by value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

static const char whole_json[] =
    "{\"a_bool\":true,\"a_int16\":1,\"a_text\":\"text\",\"a_fixed\":\"abc\","
    "\"a_bytes\":\"AQID\",\"a_json\":{\"x\":1},\"a_record\":{\"city\":\"Ulm\",\"u\":1},"
    "\"o_int32\":5,\"o_text\":\"opt\",\"o_bytes\":\"AQ==\",\"o_record\":{\"city\":\"Bonn\"},"
    "\"l_int64\":[1,2,3],\"l_text\":[\"one\",\"two\"],\"l_fixed\":[\"x\",\"y\"],"
    "\"l_bytes\":[\"AQ==\",\"\"],\"l_json\":[[1]],\"l_record\":[{\"city\":\"a\",\"v\":2},"
    "{\"city\":\"b\"}],\"more\":[1]}";

static void load(pawl_arena *arena, const char *json, sample *out)
{
    must(pawl_record_decode(PAWL_RECORD_OF(sample)(), pawl_text_of(json), PAWL_DECODE_KEEP_EXTRA,
                            arena, out, world_error()));
}

/* Writes over all that the arena gave; it is of one block. */
static void overwrite(pawl_arena *arena)
{
    pawl_arena_reset(arena);
    for (int i = 0; i < 63; i++)
        memset(pawl_arena_take(arena, 1024), 0x55, 1024);
}

TEST(copies_share_nothing)
{
    static char json[sizeof whole_json];
    pawl_arena *source = test_arena();
    sample      from, copy, expected;
    memcpy(json, whole_json, sizeof json);
    load(shared, whole_json, &expected);
    load(source, json, &from);
    assert_int_equal(pawl_record_copy(PAWL_RECORD_OF(sample)(), &from, &copy, shared), PAWL_OK);
    assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), &from, &copy));

    /* The source of the copy becomes something else. */
    memset(&from, 0x55, sizeof from);
    memset(json, 0x55, sizeof json);
    overwrite(source);
    assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), &copy, &expected));
    assert_string_equal(copy.l_record.items[0].pawl_extra.data, "\"v\":2");

    copy.l_int64.items[0]      = 9;
    copy.o_record->city        = PAWL_TEXT("Koeln");
    copy.l_record.items[0].zip = 7;
    assert_int_equal(expected.l_int64.items[0], 1);
    assert_string_equal(expected.o_record->city.data, "Bonn");
}

TEST(texts_get_a_nul)
{
    char    city[] = {'U', 'l', 'm', '!'};
    address from   = {.city = {.data = city, .size = 3}};
    address copy;
    assert_int_equal(pawl_record_copy(PAWL_RECORD_OF(address)(), &from, &copy, shared), PAWL_OK);
    assert_string_equal(copy.city.data, "Ulm");
    assert_string_equal(copy.street.data, "");
    assert_int_equal(copy.street.size, 0);
}

TEST(a_struct_may_be_copied_onto_itself)
{
    char   text[] = "abc";
    sample both   = {.a_text = {.data = text, .size = 3},
                     .o_text = {true, {.data = text, .size = 2}}};
    assert_int_equal(pawl_record_copy(PAWL_RECORD_OF(sample)(), &both, &both, shared), PAWL_OK);
    text[0] = 'x';
    assert_string_equal(both.a_text.data, "abc");
    assert_string_equal(both.o_text.value.data, "ab");
}

TEST(unset_values_are_lost_not_followed)
{
    sample from = {.o_text = {false, {.data = (const char *)shared + 1, .size = 1000000}}};
    sample copy;
    assert_int_equal(pawl_record_copy(PAWL_RECORD_OF(sample)(), &from, &copy, shared), PAWL_OK);
    assert_null(copy.o_text.value.data);
    assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), &from, &copy));
}

TEST(impossible_structs_are_refused)
{
    sample copy;
    node   chain[PAWL_RECORD_DEPTH_MAX + 1] = {{.id = 1}};
    node   other[PAWL_RECORD_DEPTH_MAX + 1] = {{.id = 1}};
    node   copied;
    for (int i = 0; i < PAWL_RECORD_DEPTH_MAX; i++) {
        chain[i].next = &chain[i + 1];
        other[i].next = &other[i + 1];
    }
    sample             without_text  = {.a_text = {.size = 1}};
    sample             without_bytes = {.a_bytes = {.size = 1}};
    sample             without_items = {.l_int16 = {NULL, 1}};
    sample             endless       = {.l_int16 = {NULL, PAWL_LIST_COUNT_MAX + 1}};
    const pawl_record *record        = PAWL_RECORD_OF(sample)();
    assert_int_equal(pawl_record_copy(record, &without_text, &copy, shared), PAWL_EINVAL);
    assert_int_equal(pawl_record_copy(record, &without_bytes, &copy, shared), PAWL_EINVAL);
    assert_int_equal(pawl_record_copy(record, &without_items, &copy, shared), PAWL_EINVAL);
    assert_int_equal(pawl_record_copy(record, &endless, &copy, shared), PAWL_ELIMIT);
    assert_int_equal(pawl_record_copy(PAWL_RECORD_OF(node)(), chain, &copied, shared), PAWL_ELIMIT);
    assert_false(pawl_record_equal(PAWL_RECORD_OF(node)(), chain, other));
    assert_true(pawl_record_equal(PAWL_RECORD_OF(node)(), chain + 1, other + 1));
}

/* Each text differs from whole_json in one value of another kind or shape. */
TEST(every_value_counts)
{
    static const char *const others[] = {
        "\"a_bool\":true",
        "\"a_int16\":1",
        "\"a_text\":\"text\"",
        "\"a_fixed\":\"abc\"",
        "\"AQID\"",
        "{\"x\":1}",
        "\"Ulm\"",
        "\"u\":1",
        "\"o_int32\":5",
        "\"opt\"",
        "\"o_bytes\":\"AQ==\"",
        "\"Bonn\"",
        "[1,2,3]",
        "\"two\"",
        "\"y\"",
        "[\"AQ==\",\"\"]",
        "[[1]]",
        "\"v\":2",
        "\"city\":\"b\"",
        "\"more\":[1]",
    };
    static const char *const instead[] = {
        "\"a_bool\":false",
        "\"a_int16\":2",
        "\"a_text\":\"texT\"",
        "\"a_fixed\":\"abd\"",
        "\"AQIE\"",
        "{\"x\":2}",
        "\"Ulx\"",
        "\"u\":2",
        "\"o_int32\":null",
        "\"opT\"",
        "\"o_bytes\":null",
        "\"Born\"",
        "[1,2]",
        "\"twO\"",
        "\"z\"",
        "[\"AQ==\",\"AA==\"]",
        "[[2]]",
        "\"v\":3",
        "\"city\":\"B\"",
        "\"more\":[2]",
    };
    sample whole, same;
    load(shared, whole_json, &whole);
    load(shared, whole_json, &same);
    assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), &whole, &same));
    for (size_t i = 0; i < COUNT(others); i++) {
        const char *at = strstr(whole_json, others[i]);
        sample      other;
        assert_non_null(at);
        load(shared,
             test_text("%.*s%s%s", (int)(at - whole_json), whole_json, instead[i],
                       at + strlen(others[i])),
             &other);
        if (pawl_record_equal(PAWL_RECORD_OF(sample)(), &whole, &other) ||
            pawl_record_equal(PAWL_RECORD_OF(sample)(), &other, &whole))
            fail_msg("%s is taken for %s", instead[i], others[i]);
    }
}

TEST(present_and_absent_differ)
{
    sample absent, present;
    load(shared, "{}", &absent);
    load(shared, "{\"o_record\":{}}", &present);
    assert_false(pawl_record_equal(PAWL_RECORD_OF(sample)(), &absent, &present));
    assert_false(pawl_record_equal(PAWL_RECORD_OF(sample)(), &present, &absent));
    load(shared, "{\"o_int32\":0}", &present);
    assert_false(pawl_record_equal(PAWL_RECORD_OF(sample)(), &absent, &present));
    assert_false(pawl_record_equal(PAWL_RECORD_OF(sample)(), &present, &absent));
}

TEST(what_lies_behind_a_fixed_text_does_not_count)
{
    sample left  = {.a_fixed = {'a', '\0', 'x', '\0'}};
    sample right = {.a_fixed = {'a', '\0', 'y', '\0'}};
    assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), &left, &right));
}
