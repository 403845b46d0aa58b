/* test_record_extra.c - members unknown to this program survive a load and a
 * save.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

static void load(const char *json, order *out)
{
    must(pawl_record_decode(PAWL_RECORD_OF(order)(), pawl_text_of(json), PAWL_DECODE_KEEP_EXTRA,
                            shared, out, world_error()));
}

static void saves_as(const order *in, const char *json)
{
    pawl_text text;
    must(pawl_record_encode(PAWL_MESSAGE_OF(order, in), 0, shared, &text, world_error()));
    assert_string_equal(text.data, json);
}

TEST(survive_everywhere)
{
    const char *json =
        "{\"order_id\":\"o\",\"home\":{\"city\":\"Ulm\",\"floor\":3},"
        "\"work\":{\"lift\":true},"
        "\"lines\":[{\"sku\":\"a\",\"color\":\"red\"},{\"sku\":\"b\",\"origin\":{\"x\":1}}],"
        "\"since\":\"2020\",\"tags\":[\"a\",{\"b\":[]}]}";
    order out;
    load(json, &out);
    assert_string_equal(out.pawl_extra.data, "\"since\":\"2020\",\"tags\":[\"a\",{\"b\":[]}]");
    assert_string_equal(out.home.pawl_extra.data, "\"floor\":3");
    assert_string_equal(out.work->pawl_extra.data, "\"lift\":true");
    assert_string_equal(out.lines.items[0].pawl_extra.data, "\"color\":\"red\"");
    saves_as(&out, json);
}

TEST(go_with_their_item)
{
    order out;
    load("{\"order_id\":\"o\",\"lines\":[{\"sku\":\"a\",\"x\":1},{\"sku\":\"b\",\"x\":2},"
         "{\"sku\":\"c\",\"x\":3}]}",
         &out);
    order_line first   = out.lines.items[0];
    out.lines.items[0] = out.lines.items[2];
    out.lines.items[1] = first;
    out.lines.count    = 2;
    saves_as(&out,
             "{\"order_id\":\"o\",\"lines\":[{\"sku\":\"c\",\"x\":3},{\"sku\":\"a\",\"x\":1}]}");
}

TEST(keep_their_values)
{
    const char *json =
        "{\"order_id\":\"o\",\"big\":18446744073709551615,"
        "\"low\":-9223372036854775808,"
        "\"huge\":123456789012345678901234567890,\"wide\":1e999,"
        "\"real\":0.1,\"price\":12345678901234567.89,\"exact\":0.10,"
        "\"none\":-0,\"power\":1E+03,\"text\":\"\xC3\xA4\\\"\\\\\\n\",\"k\\\"ey\":null}";
    order out;
    load(json, &out);
    saves_as(&out, json);
}

TEST(are_not_read_unless_asked)
{
    order out;
    must(pawl_record_decode(PAWL_RECORD_OF(order)(),
                            PAWL_TEXT("{\"order_id\":\"o\",\"x\":1,\"home\":{\"y\":1}}"), 0, shared,
                            &out, world_error()));
    saves_as(&out, "{\"order_id\":\"o\"}");
}

TEST(give_way_to_a_field_of_the_same_name)
{
    order out = {.order_id   = PAWL_TEXT("o"),
                 .pawl_extra = PAWL_TEXT("\"Note\":\"old\",\"x\":1,\"order_id\":5")};
    saves_as(&out, "{\"order_id\":\"o\",\"x\":1}");
}

TEST(cannot_smuggle_in_a_second_object)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_text  text;
    order      out = {.pawl_extra = PAWL_TEXT("\"x\":1},{\"y\":2")};
    assert_int_equal(pawl_record_encode(PAWL_MESSAGE_OF(order, &out), 0, shared, &text, &error),
                     PAWL_EINVAL);
    assert_memory_equal(error.text, "order: pawl_extra: invalid JSON at byte", 39);
    out.pawl_extra = (pawl_text){.data = NULL, .size = 5};
    assert_int_equal(pawl_record_encode(PAWL_MESSAGE_OF(order, &out), 0, shared, &text, &error),
                     PAWL_EINVAL);
    assert_string_equal(error.text, "order: pawl_extra of 5 bytes without data");
}

TEST(with_nul_are_refused)
{
    static const char *const texts[] = {
        "{\"order_id\":\"o\",\"home\":{\"x\":{\"y\":[\"a\\u0000\"]}}}",
        "{\"order_id\":\"o\",\"home\":{\"x\":{\"y\\u0000\":1}}}",
    };
    for (size_t i = 0; i < 2; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        order      out;
        assert_int_equal(pawl_record_decode(PAWL_RECORD_OF(order)(), pawl_text_of(texts[i]),
                                            PAWL_DECODE_KEEP_EXTRA, shared, &out, &error),
                         PAWL_EDECODE);
        assert_string_equal(error.text, "home: NUL in the unknown member \"x\"");
    }
}

TEST(keep_an_otherwise_empty_record)
{
    const char *json = "{\"order_id\":\"o\",\"home\":{\"only\":1}}";
    order       out;
    load(json, &out);
    saves_as(&out, json);
}
