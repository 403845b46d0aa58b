/* test_record_json.c - structs to JSON and back: every kind, their extremes,
 * what is left out, what has no JSON form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

#include <math.h>

static pawl_text encode(const pawl_record *record, const void *in, unsigned flags)
{
    pawl_text json;
    must(pawl_record_encode(record, in, flags, shared, &json, world_error()));
    assert_int_equal(json.data[json.size], '\0');
    return json;
}

static void decode(const pawl_record *record, const char *json, void *out)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code =
        pawl_record_decode(record, pawl_text_of(json), PAWL_DECODE_KEEP_EXTRA, shared, out, &error);
    if (code != PAWL_OK)
        fail_msg("%s", error.text);
}

/* Decoded and encoded again, the text comes back as it was. */
static void comes_back(const char *json)
{
    sample out;
    decode(PAWL_RECORD_OF(sample)(), json, &out);
    assert_string_equal(encode(PAWL_MESSAGE_OF(sample, &out), 0).data, json);
}

TEST(every_kind_comes_back)
{
    comes_back("{}");
    comes_back("{\"a_bool\":true,\"a_int16\":-32768,\"a_int32\":-2147483648,"
               "\"a_int64\":-9223372036854775808,\"a_uint16\":65535,"
               "\"a_uint32\":4294967295,\"a_uint64\":9223372036854775807}");
    comes_back("{\"a_int16\":32767,\"a_int32\":2147483647,"
               "\"a_int64\":9223372036854775807}");
    comes_back("{\"a_double\":1.7976931348623157e308}");
    comes_back("{\"a_double\":-5e-324}");
    comes_back("{\"a_double\":-0.0}");
    comes_back(
        "{\"a_text\":\"a\\\"b\\\\\\n\xC3\xA4\xF0\x9F\x98\x80\",\"a_fixed\":\"abc\","
        "\"a_bytes\":\"AP+A\","
        "\"a_uuid\":\"00112233-4455-6677-8899-aabbccddeeff\","
        "\"a_time\":\"2026-01-31T23:59:59.123456Z\",\"a_enum\":\"light blue\","
        "\"a_json\":{\"x\":[1,2.5,79228162514264337593.54,0.10,-0,null]},\"a_record\":{\"city\":\"Ulm\"}}");
    comes_back("{\"a_time\":\"0001-01-01T00:00:00.000000Z\","
               "\"l_time\":[\"9999-12-31T23:59:59.999999Z\","
               "\"1970-01-01T00:00:00.000000Z\"]}");
}

TEST(optionals_come_back)
{
    comes_back("{\"o_bool\":false,\"o_int16\":0,\"o_int32\":0,\"o_int64\":0,\"o_uint16\":0,"
               "\"o_uint32\":0,\"o_uint64\":0,\"o_double\":0.0,\"o_text\":\"\",\"o_fixed\":\"\","
               "\"o_bytes\":\"\",\"o_uuid\":\"00000000-0000-0000-0000-000000000000\","
               "\"o_time\":\"1970-01-01T00:00:00.000000Z\",\"o_enum\":\"red\","
               "\"o_json\":[],\"o_record\":{}}");
    comes_back("{\"o_int64\":-9223372036854775808,\"o_text\":\"x\",\"o_fixed\":\"xyz\","
               "\"o_bytes\":\"AA==\",\"o_enum\":\"green\",\"o_record\":{\"zip\":7}}");
}

TEST(lists_come_back)
{
    comes_back("{\"l_bool\":[true,false],\"l_int16\":[-1,0],\"l_int32\":[-1],\"l_int64\":[1,2,3],"
               "\"l_uint16\":[1],\"l_uint32\":[1],\"l_uint64\":[9223372036854775807],"
               "\"l_double\":[0.1,2.0],\"l_text\":[\"\",\"b\"],\"l_fixed\":[\"abc\",\"\",\"d\"],"
               "\"l_bytes\":[\"\",\"AQ==\",\"AQI=\",\"AQID\"],"
               "\"l_uuid\":[\"00112233-4455-6677-8899-aabbccddeeff\"],"
               "\"l_enum\":[\"red\",\"green\"],\"l_json\":[1,\"x\",{\"a\":{}},null],"
               "\"l_record\":[{\"city\":\"a\"},{},{\"Street\":\"s\"}]}");
}

TEST(decoding_sets_the_members)
{
    sample out;
    memset(&out, 0xAA, sizeof out); /* decode fills all of it */
    decode(PAWL_RECORD_OF(sample)(),
           "{\"a_text\":\"hello\",\"o_int32\":5,\"l_int16\":[1,-2],\"a_enum\":\"green\","
           "\"a_bytes\":\"AQI=\",\"l_fixed\":[\"ab\"],\"o_record\":{\"zip\":89073},"
           "\"l_record\":[{\"city\":\"Ulm\"}],\"a_time\":\"1970-01-01T00:00:01+01:00\"}",
           &out);
    assert_string_equal(out.a_text.data, "hello");
    assert_int_equal(out.a_text.size, 5);
    assert_true(out.o_int32.is_set);
    assert_int_equal(out.o_int32.value, 5);
    assert_false(out.o_int64.is_set);
    assert_int_equal(out.l_int16.count, 2);
    assert_int_equal(out.l_int16.items[1], -2);
    assert_int_equal(out.a_enum, COLOR_GREEN);
    assert_int_equal(out.a_bytes.size, 2);
    assert_memory_equal(out.a_bytes.data, "\1\2", 2);
    assert_string_equal(out.l_fixed.items[0], "ab");
    assert_int_equal(out.o_record->zip, 89073);
    assert_string_equal(out.l_record.items[0].city.data, "Ulm");
    assert_true(out.a_time == 1000000 - PAWL_HOURS(1));
    assert_null(out.l_int32.items);
    assert_false(out.a_bool);
}

TEST(integers_written_as_doubles_are_accepted_when_exact)
{
    sample out;
    decode(
        PAWL_RECORD_OF(sample)(),
        "{\"a_int16\":1.0,\"a_int32\":1e3,\"a_int64\":-9007199254740991.0,"
        "\"a_uint64\":9007199254740991.0,\"a_double\":7,\"l_double\":[123456789012345678901234567890,18446744073709551615]}",
        &out);
    assert_int_equal(out.a_int16, 1);
    assert_int_equal(out.a_int32, 1000);
    assert_true(out.a_int64 == INT64_C(-9007199254740991));
    assert_true(out.a_uint64 == UINT64_C(9007199254740991));
    assert_true(out.a_double == 7.0);
    assert_true(out.l_double.items[0] == (double)123456789012345678901234567890.0);
    assert_true(out.l_double.items[1] == 18446744073709551616.0);
}

TEST(null_is_the_default)
{
    sample out;
    decode(PAWL_RECORD_OF(sample)(),
           "{\"a_int32\":null,\"a_text\":null,\"o_int32\":null,\"o_record\":null,"
           "\"l_int32\":null,\"a_record\":null,\"a_json\":null,\"o_json\":null,"
           "\"l_int64\":[1,null,3]}",
           &out);
    assert_false(out.o_int32.is_set);
    assert_false(out.o_json.is_set);
    assert_null(out.o_record);
    assert_int_equal(out.l_int64.count, 3);
    assert_int_equal(out.l_int64.items[1], 0);
    assert_string_equal(encode(PAWL_MESSAGE_OF(sample, &out), 0).data, "{\"l_int64\":[1,0,3]}");
}

TEST(defaults_are_written_when_asked)
{
    assert_string_equal(encode(PAWL_MESSAGE(address), PAWL_ENCODE_DEFAULTS).data,
                        "{\"city\":\"\",\"zip\":0,\"Street\":\"\"}");
    assert_string_equal(encode(PAWL_MESSAGE(node), PAWL_ENCODE_DEFAULTS).data,
                        "{\"id\":0,\"kids\":[],\"next\":null}");
    assert_string_equal(encode(PAWL_MESSAGE(order), 0).data, "{\"order_id\":\"\"}");
    assert_string_equal(encode(PAWL_MESSAGE(nothing), PAWL_ENCODE_DEFAULTS).data, "{}");

    sample    whole, again;
    pawl_text full = encode(PAWL_MESSAGE(sample), PAWL_ENCODE_DEFAULTS);
    assert_non_null(strstr(full.data, "\"a_uuid\":\"00000000-0000-0000-0000-000000000000\""));
    assert_non_null(strstr(full.data, "\"o_int64\":null"));
    assert_non_null(strstr(full.data, "\"a_record\":{\"city\":\"\",\"zip\":0,\"Street\":\"\"}"));
    decode(PAWL_RECORD_OF(sample)(), full.data, &whole);
    decode(PAWL_RECORD_OF(sample)(), "{}", &again);
    assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), &whole, &again));
}

TEST(members_come_in_any_order)
{
    order out;
    decode(PAWL_RECORD_OF(order)(),
           " { \"Note\" : \"n\" , \"lines\" : [ { \"qty\" : 2 , \"sku\" : \"s\" } ] ,\n"
           " \"order_id\" : \"o-1\" } ",
           &out);
    assert_string_equal(encode(PAWL_MESSAGE_OF(order, &out), 0).data,
                        "{\"order_id\":\"o-1\",\"lines\":[{\"sku\":\"s\",\"qty\":2}],"
                        "\"Note\":\"n\"}");
}

TEST(trees_come_back)
{
    const char *json = "{\"id\":1,\"kids\":[{\"id\":2,\"kids\":[{\"id\":3}]},{}],"
                       "\"next\":{\"id\":4,\"next\":{}}}";
    node        out;
    decode(PAWL_RECORD_OF(node)(), json, &out);
    assert_int_equal(out.kids.items[0].kids.items[0].id, 3);
    assert_string_equal(encode(PAWL_MESSAGE_OF(node, &out), 0).data, json);
}

TEST(decoded_structs_do_not_share_with_the_text)
{
    char    json[] = "{\"city\":\"Ulm\",\"unknown\":\"u\"}";
    address out;
    decode(PAWL_RECORD_OF(address)(), json, &out);
    memset(json, 'x', sizeof json - 1);
    assert_string_equal(out.city.data, "Ulm");
    assert_string_equal(out.pawl_extra.data, "\"unknown\":\"u\"");
}

/* Encoding gives `code` and this text. */
static void is_refused(pawl_code code, const char *text, const pawl_record *record, const void *in)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_text  json;
    assert_int_equal(pawl_record_encode(record, in, 0, shared, &json, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.text, text);
    assert_int_equal(pawl_record_encode(record, in, 0, shared, &json, NULL), code);
}

TEST(what_has_no_json_form_is_refused)
{
    double     numbers[] = {1, INFINITY};
    order_line lines[2]  = {{.sku = PAWL_TEXT("a")}, {.sku = PAWL_TEXT_INIT("a\0b")}};
    is_refused(PAWL_EINVAL, "a_double: NaN has no JSON form",
               PAWL_MESSAGE(sample, .a_double = NAN));
    is_refused(PAWL_EINVAL, "l_double[1]: infinity has no JSON form",
               PAWL_MESSAGE(sample, .l_double = {numbers, 2}));
    is_refused(PAWL_EINVAL, "a_uint64: value above the limit 9223372036854775807",
               PAWL_MESSAGE(sample, .a_uint64 = UINT64_C(1) << 63));
    is_refused(PAWL_EINVAL, "lines[1].sku: NUL at byte 1 of the text",
               PAWL_MESSAGE(order, .lines = {lines, 2}));
    is_refused(PAWL_EINVAL, "a_record.city: not UTF-8 at byte 2 of the text",
               PAWL_MESSAGE(sample, .a_record = {.city = PAWL_TEXT("ab\xFF")}));
    is_refused(PAWL_EINVAL, "a_fixed: no NUL after 3 bytes, the limit of the text",
               PAWL_MESSAGE(sample, .a_fixed = {'a', 'b', 'c', 'd'}));
    is_refused(PAWL_EINVAL, "a_enum: 3 is not a color, which counts from 0 to 2",
               PAWL_MESSAGE(sample, .a_enum = 3));
    is_refused(PAWL_EINVAL, "o_enum: -1 is not a color, which counts from 0 to 2",
               PAWL_MESSAGE(sample, .o_enum = {true, -1}));
    is_refused(PAWL_EINVAL, "a_time: time 253402300800000000 is outside the years 0001 to 9999",
               PAWL_MESSAGE(sample, .a_time = PAWL_TIME_MAX + 1));
    is_refused(PAWL_EINVAL, "a_text: text of 1 bytes without data",
               PAWL_MESSAGE(sample, .a_text = {.size = 1}));
    is_refused(PAWL_EINVAL, "a_bytes: 1 bytes without data",
               PAWL_MESSAGE(sample, .a_bytes = {.size = 1}));
    is_refused(PAWL_EINVAL, "l_text: list of 1 items without data",
               PAWL_MESSAGE(sample, .l_text = {NULL, 1}));
    is_refused(PAWL_ELIMIT, "l_text: list of 1000001 items, the limit is 1000000",
               PAWL_MESSAGE(sample, .l_text = {NULL, 1000001}));
}

/* A number for a text passes the compiler. A text of no bytes may point to anything, as a slice
 * does. */
TEST(a_number_for_a_text_is_refused)
{
#if UINTPTR_MAX > UINT32_MAX
    const char *what = "a number where a text is due; PAWL_TEXT(\"42\") makes one";
    char        text[3][100];
    const char *members[] = {"a_text", "a_bytes", "a_json"};
    for (size_t i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "%s: %s", members[i], what);
    is_refused(PAWL_EINVAL, text[0], PAWL_MESSAGE(sample, .a_text = {.pawl__guard = 1}));
    is_refused(PAWL_EINVAL, text[0], PAWL_MESSAGE(sample, .a_text = {.pawl__guard = -9.2e18}));
    is_refused(PAWL_EINVAL, text[1], PAWL_MESSAGE(sample, .a_bytes = {.pawl__guard = 42}));
    is_refused(PAWL_EINVAL, text[2],
               PAWL_MESSAGE(sample, .a_json = {.pawl__guard = (double)INT64_MAX}));
#endif
    pawl_error error = PAWL_ERROR_INIT;
    pawl_text  json;
    char       slice[] = "end";
    char      *made    = malloc(1);
    assert_non_null(made);
    must(pawl_record_encode(PAWL_MESSAGE(sample, .a_text = {.data = slice + 3},
                                         .a_json  = {.data = (const char *)&error},
                                         .a_bytes = {.data = made}),
                            0, shared, &json, world_error()));
    free(made);
}

TEST(bad_json_in_a_member_is_refused)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_text  json;
    assert_int_equal(pawl_record_encode(PAWL_MESSAGE(sample, .a_json = PAWL_TEXT("{\"a\":")), 0,
                                        shared, &json, &error),
                     PAWL_EINVAL);
    assert_memory_equal(error.text, "a_json: invalid JSON at byte ", 29);
    is_refused(PAWL_EINVAL, "a_json: NUL in a text of the JSON",
               PAWL_MESSAGE(sample, .a_json = PAWL_TEXT("[\"\\u0000\"]")));
    sample with_extra = {.pawl_extra = PAWL_TEXT("x")};
    assert_int_equal(
        pawl_record_encode(PAWL_MESSAGE_OF(sample, &with_extra), 0, shared, &json, &error),
        PAWL_EINVAL);
    assert_memory_equal(error.text, "sample: pawl_extra: invalid JSON at byte ", 40);
    with_extra.pawl_extra = PAWL_TEXT("\"a\":\"\\u0000\"");
    is_refused(PAWL_EINVAL, "sample: NUL in pawl_extra", PAWL_MESSAGE_OF(sample, &with_extra));
}

TEST(a_chain_that_is_too_deep_is_refused)
{
    node chain[PAWL_RECORD_DEPTH_MAX + 1] = {{.id = 0}};
    for (int i = 0; i < PAWL_RECORD_DEPTH_MAX; i++)
        chain[i].next = &chain[i + 1];
    is_refused(PAWL_ELIMIT,
               "next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next: "
               "records nested more than 16 deep",
               PAWL_MESSAGE_OF(node, &chain[0]));
    encode(PAWL_MESSAGE_OF(node, &chain[1]), 0); /* one less goes */
}

TEST(a_required_optional_must_be_set)
{
    static const pawl_field  fields[] = {{.name         = "o",
                                          .kind         = PAWL_KIND_INT32,
                                          .shape        = PAWL_OPTIONAL,
                                          .offset       = offsetof(sample, o_int32),
                                          .value_offset = offsetof(pawl_optional_int32, value),
                                          .item_size    = sizeof(int32_t),
                                          .required     = true}};
    static const pawl_record record   = {.table_size  = sizeof(pawl_record),
                                         .field_size  = sizeof(pawl_field),
                                         .name        = "r",
                                         .size        = sizeof(sample),
                                         .fields      = fields,
                                         .field_count = 1};
    is_refused(PAWL_EINVAL, "o: required, but it is not set", &record, &(sample){.a_bool = true});
    assert_string_equal(encode(&record, &(sample){.o_int32 = {true, 0}}, 0).data, "{\"o\":0}");
}

#define REQUIRED_JSON(F) F(JSON, doc, .required = true) F(OPT_JSON, more)
PAWL_RECORD(required_json, REQUIRED_JSON);

/* Decoding refuses null there. */
TEST(a_required_json_member_must_not_be_null)
{
    static const char *const empty[] = {"", "null", " null "};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
        is_refused(PAWL_EINVAL, "doc: required, but it is not set",
                   PAWL_MESSAGE(required_json, .doc = pawl_text_of(empty[i])));
    assert_string_equal(
        encode(PAWL_MESSAGE(required_json, .doc = PAWL_TEXT("[null]"), .more = {.is_set = true}), 0)
            .data,
        "{\"doc\":[null],\"more\":null}");
}
