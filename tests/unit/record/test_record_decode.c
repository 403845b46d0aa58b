/* test_record_decode.c - JSON that is refused, and the text that says why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

static void refused_with(const pawl_record *record, const char *json, pawl_code code,
                         const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    union {
        sample sample;
        order  order;
        node   node;
    } out;
    pawl_text input = pawl_text_of(json);
    assert_int_equal(pawl_record_decode(record, input, 0, shared, &out, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.text, text);
    assert_int_equal(pawl_record_decode(record, input, 0, shared, &out, NULL), code);
}

static void sample_refused(const char *json, const char *text)
{
    refused_with(PAWL_RECORD_OF(sample)(), json, PAWL_EDECODE, text);
}

static void order_refused(const char *json, const char *text)
{
    refused_with(PAWL_RECORD_OF(order)(), json, PAWL_EDECODE, text);
}

TEST(wrong_types_are_refused)
{
    sample_refused("[]", "sample: expected object, got a list");
    sample_refused("null", "sample: expected object, got null");
    sample_refused("{\"a_bool\":1}", "a_bool: expected true or false, got a number");
    sample_refused("{\"a_int32\":\"x\"}", "a_int32: expected integer, got text of 1 byte");
    sample_refused("{\"a_int32\":true}", "a_int32: expected integer, got a boolean");
    sample_refused("{\"a_int32\":{}}", "a_int32: expected integer, got an object");
    sample_refused("{\"a_double\":\"1\"}", "a_double: expected number, got text of 1 byte");
    sample_refused("{\"a_text\":5}", "a_text: expected text, got a number");
    sample_refused("{\"a_fixed\":[]}", "a_fixed: expected text, got a list");
    sample_refused("{\"a_bytes\":-5}", "a_bytes: expected base64, got a number");
    sample_refused("{\"a_uuid\":1.5}", "a_uuid: expected uuid, got a number");
    sample_refused("{\"a_time\":1}",
                   "a_time: expected time such as 2026-01-31T23:59:59Z, years 0001 to 9999, got 1");
    sample_refused("{\"a_enum\":1}",
                   "a_enum: expected one of red, green, light blue, got a number");
    sample_refused("{\"l_int32\":1}", "l_int32: expected list, got a number");
    sample_refused("{\"a_record\":[]}", "a_record: expected object, got a list");
    sample_refused("{\"o_record\":\"x\"}", "o_record: expected object, got text of 1 byte");
    sample_refused("{\"l_record\":[{},null]}", "l_record[1]: expected object, got null");
}

TEST(the_path_is_named)
{
    order_refused("{\"order_id\":\"a\",\"lines\":[{},{},{},{\"qty\":\"x\"}]}",
                  "lines[3].qty: expected integer, got text of 1 byte");
    order_refused("{\"order_id\":\"a\",\"lines\":[{\"origin\":{\"Street\":7}}]}",
                  "lines[0].origin.Street: expected text, got a number");
    order_refused("{\"order_id\":\"a\",\"work\":{\"zip\":[]}}",
                  "work.zip: expected integer, got a list");
    sample_refused("{\"l_int16\":[1,2,40000]}",
                   "l_int16[2]: expected integer from -32768 to 32767, got 40000");
}

TEST(numbers_out_of_range_are_refused)
{
    sample_refused("{\"a_int16\":32768}",
                   "a_int16: expected integer from -32768 to 32767, got 32768");
    sample_refused("{\"a_int16\":-32769}",
                   "a_int16: expected integer from -32768 to 32767, got -32769");
    sample_refused("{\"a_int32\":2147483648}",
                   "a_int32: expected integer from -2147483648 to 2147483647, got 2147483648");
    sample_refused("{\"a_uint16\":-1}", "a_uint16: expected integer from 0 to 65535, got -1");
    sample_refused("{\"a_uint32\":4294967296}",
                   "a_uint32: expected integer from 0 to 4294967295, got 4294967296");
    sample_refused("{\"a_uint64\":9223372036854775808}",
                   "a_uint64: expected integer from 0 to 9223372036854775807, "
                   "got 9223372036854775808");
    sample_refused("{\"a_int64\":-9223372036854775809}",
                   "a_int64: expected integer from -9223372036854775808 to "
                   "9223372036854775807, got -9223372036854775809");
    sample_refused("{\"o_int64\":99999999999999999999999999999999999999999999999999}",
                   "o_int64: expected integer from -9223372036854775808 to "
                   "9223372036854775807, got 9999999999999999999999999999999999999999...");
    sample_refused("{\"a_double\":1e999}",
                   "a_double: expected number that a double can hold, got 1e999");
    /* Two integers have the double that is read. */
    sample_refused("{\"a_int64\":9007199254740993.0}",
                   "a_int64: expected integer, got 9007199254740992.0");
    sample_refused("{\"a_int64\":-9007199254740993.0}",
                   "a_int64: expected integer, got -9007199254740992.0");
}

TEST(inexact_integers_are_refused)
{
    sample_refused("{\"a_int32\":1.5}", "a_int32: expected integer, got 1.5");
    sample_refused("{\"a_int64\":1e999}", "a_int64: expected integer, got 1e999");
    /* Which integer was meant cannot be told any more. */
    sample_refused("{\"a_int64\":9007199254740994.0}",
                   "a_int64: expected integer, got 9007199254740994.0");
    sample_refused("{\"a_int16\":1e5}",
                   "a_int16: expected integer from -32768 to 32767, got 100000.0");
}

TEST(bad_texts_are_refused)
{
    sample_refused("{\"a_text\":\"a\\u0000b\"}", "a_text: NUL at byte 1 of the text");
    sample_refused("{\"l_fixed\":[\"ab\\u0000\"]}", "l_fixed[0]: NUL at byte 2 of the text");
    sample_refused("{\"a_json\":{\"k\\u0000\":1}}", "a_json: NUL in a text of the JSON");
    sample_refused("{\"a_fixed\":\"abcd\"}", "a_fixed: text of 4 bytes, the limit is 3");
    sample_refused("{\"a_fixed\":\"\xC3\xA4\xC3\xA4\"}",
                   "a_fixed: text of 4 bytes, the limit is 3");
    sample_refused("{\"a_bytes\":\"AQ\"}", "a_bytes: expected base64, got text of 2 bytes");
    sample_refused("{\"a_bytes\":\"A?==\"}", "a_bytes: expected base64, got text of 4 bytes");
    sample_refused("{\"a_bytes\":\"AR==\"}", "a_bytes: expected base64, got text of 4 bytes");
    sample_refused("{\"a_bytes\":\"AQ==AQ==\"}", "a_bytes: expected base64, got text of 8 bytes");
    sample_refused("{\"a_bytes\":\"A===\"}", "a_bytes: expected base64, got text of 4 bytes");
    sample_refused("{\"a_uuid\":\"0011\"}",
                   "a_uuid: expected uuid of 36 characters, got text of 4 bytes");
    sample_refused("{\"a_time\":\"2026-02-30T00:00:00Z\"}",
                   "a_time: expected time such as 2026-01-31T23:59:59Z, years 0001 to 9999, "
                   "got text of 20 bytes");
    sample_refused("{\"a_time\":\"0001-01-01T00:00:00+01:00\"}",
                   "a_time: expected time such as 2026-01-31T23:59:59Z, years 0001 to 9999, "
                   "got text of 25 bytes");
    sample_refused("{\"a_enum\":\"Red\"}",
                   "a_enum: expected one of red, green, light blue, got text of 3 bytes");
}

/* Errors stand in logs, events and histories, which outlive a message. A number is named where a number of another
 * size is expected. */
TEST(a_value_is_not_in_the_error)
{
    static const char *const bodies[] = {
        "{\"a_bool\":%s}",   "{\"a_int32\":%s}", "{\"a_double\":%s}", "{\"a_fixed\":%s}",
        "{\"a_bytes\":%s}",  "{\"a_uuid\":%s}",  "{\"a_time\":%s}",   "{\"a_enum\":%s}",
        "{\"a_record\":%s}", "{\"l_text\":%s}"};
    static const char *const values[] = {"\"DE02 1203 0000 0000 2020 51\"", "[\"DE02\"]",
                                         "{\"iban\":\"DE02\"}"};
    for (size_t i = 0; i < COUNT(bodies) * COUNT(values); i++) {
        pawl_error  error = PAWL_ERROR_INIT;
        sample      read;
        const char *body = bodies[i / COUNT(values)];
        const char *json = test_text(body, values[i % COUNT(values)]);
        (void)pawl_record_decode(PAWL_RECORD_OF(sample)(), pawl_text_of(json), 0, shared, &read,
                                 &error);
        if (strstr(error.text, "DE02") != NULL)
            fail_msg("%s: %s", json, error.text);
    }
    sample_refused("{\"a_text\":4111111111111111}", "a_text: expected text, got a number");
    sample_refused("{\"a_text\":99999999999999999999}", "a_text: expected text, got a number");
}

TEST(text_that_is_no_json_is_refused)
{
    static const char *const texts[] = {
        "{\"a_int32\":1",   "{\"a_int32\":}",   "{} {}",         "{'a':1}", "{\"a_text\":\"\xFF\"}",
        "{\"a_int32\":01}", "{\"a_int32\":1,}", "\xEF\xBB\xBF{}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        pawl_error error = PAWL_ERROR_INIT;
        sample     out;
        assert_int_equal(pawl_record_decode(PAWL_RECORD_OF(sample)(), pawl_text_of(texts[i]), 0,
                                            shared, &out, &error),
                         PAWL_EDECODE);
        assert_memory_equal(error.text, "sample: invalid JSON at byte ", 29);
    }
    sample_refused("", "sample: expected JSON, got no text");
}

TEST(members_there_twice_are_refused)
{
    sample_refused("{\"a_int32\":1,\"a_text\":\"x\",\"a_int32\":1}",
                   "a_int32: the member is there twice");
    order_refused("{\"order_id\":\"a\",\"lines\":[{\"qty\":null,\"qty\":1}]}",
                  "lines[0].qty: the member is there twice");
}

TEST(missing_members_are_refused_when_required)
{
    order_refused("{\"Note\":\"x\"}", "order_id: required, but it is missing");
    order_refused("{\"order_id\":null}", "order_id: required, but it is null");
    /* Names are those of JSON, letter by letter. */
    order_refused("{\"ORDER_ID\":\"x\"}", "order_id: required, but it is missing");
}

TEST(secrets_stay_secret)
{
    order_refused("{\"order_id\":\"a\",\"pin\":\"1234\"}",
                  "pin: expected integer, got a secret value");
    order_refused("{\"order_id\":\"a\",\"vault\":{\"zip\":\"1234\"}}",
                  "vault.zip: expected integer, got a secret value");
}

TEST(nesting_is_limited)
{
    char   json[2000] = "";
    size_t used       = 0;
    for (int i = 0; i < PAWL_RECORD_DEPTH_MAX; i++)
        used += (size_t)snprintf(json + used, sizeof json - used, "{\"kids\":[");
    used += (size_t)snprintf(json + used, sizeof json - used, "{}");
    for (int i = 0; i < PAWL_RECORD_DEPTH_MAX; i++)
        used += (size_t)snprintf(json + used, sizeof json - used, "]}");

    pawl_error error = PAWL_ERROR_INIT;
    node       out;
    pawl_text  text = {.data = json, .size = used};
    assert_int_equal(pawl_record_decode(PAWL_RECORD_OF(node)(), text, 0, shared, &out, &error),
                     PAWL_ELIMIT);
    assert_non_null(strstr(error.text, "kids[0].kids[0]: records nested more than 16 deep"));

    /* One level less goes: the outermost braces and list are cut off. */
    text =
        (pawl_text){.data = json + strlen("{\"kids\":["), .size = used - strlen("{\"kids\":[") - 2};
    must(pawl_record_decode(PAWL_RECORD_OF(node)(), text, 0, shared, &out, world_error()));

    /* Values that are not decoded may be as deep as they like. */
    memset(json, '[', 900);
    memset(json + 900, ']', 900);
    json[1800]        = '\0';
    const char *whole = test_text("{\"unknown\":%s}", json);
    must(pawl_record_decode(PAWL_RECORD_OF(node)(), pawl_text_of(whole), PAWL_DECODE_KEEP_EXTRA,
                            shared, &out, world_error()));
    assert_int_equal(out.pawl_extra.size, strlen(whole) - 2);
}

TEST(long_lists_are_refused)
{
    size_t count = PAWL_LIST_COUNT_MAX + 1;
    char  *json  = pawl_allocate(2 * count + 30);
    assert_non_null(json);
    size_t used = (size_t)snprintf(json, 30, "{\"l_bool\":[1");
    for (size_t i = 1; i < count; i++, used += 2)
        memcpy(json + used, ",1", 2);
    memcpy(json + used, "]}", 3);
    refused_with(PAWL_RECORD_OF(sample)(), json, PAWL_ELIMIT,
                 "l_bool: list of 1000001 items, the limit is 1000000");
    pawl_free(json);
}

TEST(unknown_members_are_ignored)
{
    address out;
    must(pawl_record_decode(PAWL_RECORD_OF(address)(),
                            PAWL_TEXT("{\"zi\":\"x\",\"zip\":1,\"zip2\":\"x\","
                                      "\"zip\\u0000\":2,\"zi\":[]}"),
                            0, shared, &out, world_error()));
    assert_int_equal(out.zip, 1);
    assert_int_equal(out.pawl_extra.size, 0);
}
