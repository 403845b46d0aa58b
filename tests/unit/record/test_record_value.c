/* test_record_value.c - values on their own, and as fields of records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

#include "record/record_internal.h"

#define UUID_TEXT "00112233-4455-6677-8899-aabbccddeeff"

static const pawl_uuid some_uuid = {{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99,
                                     0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF}};

/* Rises from value to value. */
static size_t make_values(pawl_value values[12])
{
    pawl_value made[] = {
        {.type = PAWL_VALUE_NONE},        pawl_value_integer(INT64_MIN),
        pawl_value_integer(-1),           pawl_value_integer(0),
        pawl_value_integer(INT64_MAX),    pawl_value_text(PAWL_TEXT("")),
        pawl_value_text(PAWL_TEXT("A")),  pawl_value_text(PAWL_TEXT("a")),
        pawl_value_text(PAWL_TEXT("a ")), pawl_value_uuid((pawl_uuid){{0}}),
        pawl_value_uuid(some_uuid),       pawl_value_time(0),
    };
    memcpy(values, made, sizeof made);
    return COUNT(made);
}

TEST(values_are_ordered)
{
    pawl_value values[12];
    size_t     count = make_values(values);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            int sign = pawl_value_compare(&values[i], &values[k]);
            assert_int_equal((sign > 0) - (sign < 0), (i > k) - (i < k));
            assert_int_equal(pawl_value_equal(&values[i], &values[k]), i == k);
        }
}

TEST(hashes_tell_values_apart)
{
    pawl_value values[12];
    size_t     count = make_values(values);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(pawl_value_hash(&values[i]) != pawl_value_hash(&values[k]));
    char       copy[] = "a ";
    pawl_value same   = pawl_value_text((pawl_text){.data = copy, .size = 2});
    assert_true(pawl_value_hash(&same) == pawl_value_hash(&values[8]));
}

/* One slot of 1024 should take about 100 of 102400 keys: far more in one means
 * that the hash does not spread (the limit is ten standard deviations away). */
TEST(hashes_spread)
{
    static unsigned low[1024], high[1024];
    for (int i = 0; i < 102400; i++) {
        pawl_value value = pawl_value_text(pawl_text_of(test_text("order-%08d", i)));
        uint64_t   hash  = pawl_value_hash(&value);
        low[hash & 1023]++;
        high[hash >> 54]++;
    }
    for (int i = 0; i < 1024; i++) {
        assert_in_range(low[i], 1, 200);
        assert_in_range(high[i], 1, 200);
    }
}

/* The number may be stored, so it must not change. */
TEST(hashes_stay_as_they_are)
{
    pawl_value text    = pawl_value_text(PAWL_TEXT("order-1 of many"));
    pawl_value integer = pawl_value_integer(42);
    assert_true(pawl_value_hash(&text) == UINT64_C(0xA66A47A078135700));
    assert_true(pawl_value_hash(&integer) == UINT64_C(0x533107EFAB12C9));
}

TEST(defaults_are_known)
{
    pawl_value values[12];
    size_t     count = make_values(values);
    for (size_t i = 0; i < count; i++) {
        bool is_default = i == 0 || i == 3 || i == 5 || i == 9 || i == 11;
        assert_int_equal(pawl_value_is_default(&values[i]), is_default);
    }
}

static void shows(pawl_value value, const char *text)
{
    char buffer[PAWL_VALUE_TEXT_SIZE];
    assert_string_equal(pawl_value_format(&value, buffer, sizeof buffer), text);
}

TEST(values_are_shown)
{
    shows((pawl_value){.type = PAWL_VALUE_NONE}, "none");
    shows(pawl_value_integer(INT64_MIN), "-9223372036854775808");
    shows(pawl_value_text((pawl_text){0}), "''");
    shows(pawl_value_text(PAWL_TEXT("order-1")), "'order-1'");
    shows(pawl_value_uuid(some_uuid), UUID_TEXT);
    shows(pawl_value_time(0), "1970-01-01T00:00:00.000000Z");
    shows(pawl_value_text(PAWL_TEXT("0123456789012345678901234567890123456789"
                                    "0123456789012345678\xC3\xA4z")),
          "'01234567890123456789012345678901234567890123456789012345678...'");
    char       small[4];
    pawl_value number = pawl_value_integer(12345);
    assert_string_equal(pawl_value_format(&number, small, sizeof small), "123");
    assert_string_equal(pawl_value_type_name((pawl_value_type)99), "?");
}

/* Rows are from, columns are to: none, integer, text, uuid, time. */
TEST(the_matrix_of_coercions)
{
    static const bool may[5][5] = {
        {true, true, true, true, true},    {false, true, true, false, false},
        {false, true, true, true, true},   {false, false, true, true, false},
        {false, false, true, false, true},
    };
    pawl_value from[5] = {
        {.type = PAWL_VALUE_NONE},
        pawl_value_integer(7),
        pawl_value_text(PAWL_TEXT("no value of another type")),
        pawl_value_uuid(some_uuid),
        pawl_value_time(7),
    };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++) {
            pawl_error error = PAWL_ERROR_INIT;
            pawl_value value = from[i];
            bool       fits  = may[i][k] && !(i == PAWL_VALUE_TEXT && k != PAWL_VALUE_TEXT);
            assert_int_equal(pawl_value_can_coerce((pawl_value_type)i, (pawl_value_type)k),
                             may[i][k]);
            assert_int_equal(pawl_value_coerce((pawl_value_type)k, &value, shared, &error),
                             fits ? PAWL_OK : PAWL_EINVAL);
            assert_int_equal(value.type, fits && i != PAWL_VALUE_NONE ? k : i);
            if (!fits)
                assert_true(pawl_value_equal(&value, &from[i]));
        }
    assert_false(pawl_value_can_coerce(PAWL_VALUE_TEXT, (pawl_value_type)9));
    assert_false(pawl_value_can_coerce((pawl_value_type)9, PAWL_VALUE_TEXT));
}

static void becomes(pawl_value from, pawl_value to)
{
    must(pawl_value_coerce(to.type, &from, shared, world_error()));
    assert_true(pawl_value_equal(&from, &to));
}

TEST(coercions_keep_the_value)
{
    pawl_time time = INT64_C(1769903999123456);
    becomes(pawl_value_text(PAWL_TEXT("42")), pawl_value_integer(42));
    becomes(pawl_value_text(PAWL_TEXT("-9223372036854775808")), pawl_value_integer(INT64_MIN));
    becomes(pawl_value_text(PAWL_TEXT("9223372036854775807")), pawl_value_integer(INT64_MAX));
    becomes(pawl_value_text(PAWL_TEXT("-0")), pawl_value_integer(0));
    becomes(pawl_value_integer(-42), pawl_value_text(PAWL_TEXT("-42")));
    becomes(pawl_value_text(PAWL_TEXT("00112233-4455-6677-8899-AABBCCDDEEFF")),
            pawl_value_uuid(some_uuid));
    becomes(pawl_value_uuid(some_uuid), pawl_value_text(PAWL_TEXT(UUID_TEXT)));
    becomes(pawl_value_text(PAWL_TEXT("2026-01-31T23:59:59.123456Z")), pawl_value_time(time));
    becomes(pawl_value_time(time), pawl_value_text(PAWL_TEXT("2026-01-31T23:59:59.123456Z")));
}

static void fails_to_become(pawl_value from, pawl_value_type to, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_value value = from;
    assert_int_equal(pawl_value_coerce(to, &value, shared, &error), PAWL_EINVAL);
    assert_string_equal(error.text, text);
    assert_true(pawl_value_equal(&value, &from));
}

TEST(failed_coercions_are_named)
{
    static const char *const integers[] = {
        "", "-", "+1", "1.0", " 1", "1 ", "0x1", "9223372036854775808", "-9223372036854775809"};
    for (size_t i = 0; i < COUNT(integers); i++) {
        size_t size = strlen(integers[i]);
        fails_to_become(pawl_value_text(pawl_text_of(integers[i])), PAWL_VALUE_INT,
                        test_text("text of %zu byte%s cannot become integer of 64 bits", size,
                                  size == 1 ? "" : "s"));
    }
    fails_to_become(pawl_value_text(PAWL_TEXT("x")), PAWL_VALUE_UUID,
                    "text of 1 byte cannot become uuid");
    fails_to_become(pawl_value_text(PAWL_TEXT("2026-13-01T00:00:00Z")), PAWL_VALUE_TIME,
                    "text of 20 bytes cannot become time");
    fails_to_become(pawl_value_integer(5), PAWL_VALUE_TIME, "integer cannot become time");
    fails_to_become(pawl_value_uuid(some_uuid), PAWL_VALUE_INT, "uuid cannot become integer");
    fails_to_become(pawl_value_integer(5), PAWL_VALUE_NONE, "integer cannot become none");
}

/* 200 characters of two bytes each pass, one more does not. */
TEST(texts_to_find_by_are_limited)
{
    char text[403];
    for (size_t i = 0; i < 402; i += 2)
        memcpy(text + i, "\xC3\xA4", 2);
    pawl_error error = PAWL_ERROR_INIT;
    pawl_value value = pawl_value_text((pawl_text){.data = text, .size = 400});
    assert_int_equal(pawl_value_check(&value, "a.b", &error), PAWL_OK);
    value.as.text.size = 402;
    assert_int_equal(pawl_value_check(&value, "a.b", &error), PAWL_EINVAL);
    assert_string_equal(error.text, "a.b: text of 201 characters, the limit is 200");
    value = pawl_value_text((pawl_text){.data = "ab\0c", .size = 4});
    assert_int_equal(pawl_value_check(&value, "a.b", &error), PAWL_EINVAL);
    assert_string_equal(error.text, "a.b: NUL at byte 2 of the text");
    value = pawl_value_text(PAWL_TEXT("\xFF"));
    assert_int_equal(pawl_value_check(&value, "a.b", &error), PAWL_EINVAL);
    assert_string_equal(error.text, "a.b: not UTF-8 at byte 0 of the text");
    for (size_t size = 0; size < 3; size++) {
        value = pawl_value_text((pawl_text){.size = size});
        assert_int_equal(pawl_value_check(&value, "a.b", &error),
                         size == 0 ? PAWL_OK : PAWL_EINVAL);
    }
    assert_string_equal(error.text, "a.b: text of 2 bytes at NULL");
    value = pawl_value_integer(0);
    assert_int_equal(pawl_value_check(&value, "a.b", &error), PAWL_OK);
}

/* No database keeps others, and each says so in its own way. */
TEST(times_to_find_by_are_limited)
{
    static const pawl_time good[] = {PAWL_TIME_MIN, 0, PAWL_TIME_MAX};
    static const pawl_time bad[]  = {INT64_MIN, PAWL_TIME_MIN - 1, PAWL_TIME_MAX + 1, INT64_MAX};
    pawl_error             error  = PAWL_ERROR_INIT;
    for (size_t i = 0; i < COUNT(good); i++) {
        const pawl_value value = pawl_value_time(good[i]);
        assert_int_equal(pawl_value_check(&value, "a.b", &error), PAWL_OK);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        const pawl_value value = pawl_value_time(bad[i]);
        assert_int_equal(pawl_value_check(&value, "a.b", &error), PAWL_EINVAL);
    }
    assert_string_equal(error.text,
                        "a.b: time 9223372036854775807 is outside the years 0001 to 9999");
}

static void reads(const sample *in, const char *path, pawl_value expected)
{
    pawl_value value;
    must(pawl_record_value(PAWL_RECORD_OF(sample)(), path, in, &value, world_error()));
    assert_true(pawl_value_equal(&value, &expected));
}

TEST(fields_are_read)
{
    address    there = {.city = PAWL_TEXT("Bonn")};
    sample     in    = {.a_int16  = -5,
                        .a_uint16 = 65535,
                        .a_uint32 = 4294967295,
                        .a_uint64 = INT64_MAX,
                        .a_int64  = INT64_MIN,
                        .a_text   = PAWL_TEXT("t"),
                        .a_fixed  = "abc",
                        .a_uuid   = some_uuid,
                        .a_time   = 5,
                        .a_enum   = COLOR_BLUE,
                        .a_record = {.zip = 89073},
                        .o_int32  = {true, 6},
                        .o_text   = {true, PAWL_TEXT("o")}};
    pawl_value none  = {.type = PAWL_VALUE_NONE};
    reads(&in, "a_int16", pawl_value_integer(-5));
    reads(&in, "a_uint16", pawl_value_integer(65535));
    reads(&in, "a_uint32", pawl_value_integer(4294967295));
    reads(&in, "a_uint64", pawl_value_integer(INT64_MAX));
    reads(&in, "a_int64", pawl_value_integer(INT64_MIN));
    reads(&in, "a_text", pawl_value_text(PAWL_TEXT("t")));
    reads(&in, "a_fixed", pawl_value_text(PAWL_TEXT("abc")));
    reads(&in, "a_uuid", pawl_value_uuid(some_uuid));
    reads(&in, "a_time", pawl_value_time(5));
    reads(&in, "a_enum", pawl_value_text(PAWL_TEXT("light blue")));
    reads(&in, "a_record.zip", pawl_value_integer(89073));
    reads(&in, "o_int32", pawl_value_integer(6));
    reads(&in, "o_text", pawl_value_text(PAWL_TEXT("o")));
    reads(&in, "o_int64", none);
    reads(&in, "o_uuid", none);
    reads(&in, "o_record.city", none);
    in.o_record = &there;
    reads(&in, "o_record.city", pawl_value_text(PAWL_TEXT("Bonn")));
}

static void read_fails(const sample *in, const char *path, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_value value = pawl_value_integer(1);
    assert_int_equal(pawl_record_value(PAWL_RECORD_OF(sample)(), path, in, &value, &error),
                     PAWL_EINVAL);
    assert_string_equal(error.text, text);
    assert_int_equal(value.type, PAWL_VALUE_NONE);
}

TEST(unreadable_fields_are_named)
{
    static const char *const others[] = {"a_bool",   "a_double", "a_bytes",  "a_json",
                                         "a_record", "l_int32",  "o_record", "l_text"};
    sample                   in       = {.a_uint64 = UINT64_MAX,
                                         .a_enum   = 7,
                                         .a_text   = PAWL_TEXT_INIT("a\0"),
                                         .a_record = {.city = PAWL_TEXT_INIT("\0")}};
    for (size_t i = 0; i < COUNT(others); i++)
        read_fails(
            &in, others[i],
            test_text("%s: only an integer, text, uuid, time or enum can correlate, and no list",
                      others[i]));
    read_fails(&in, "a_uint64", "a_uint64: value above the limit 9223372036854775807");
    read_fails(&in, "a_enum", "a_enum: 7 is not a color, which counts from 0 to 2");
    read_fails(&in, "a_text", "a_text: NUL at byte 1 of the text");
    read_fails(&in, "a_record.city", "a_record.city: NUL at byte 0 of the text");
    read_fails(&in, "nope", "record sample has no field nope");
    read_fails(&in, "a_text.x", "record sample has no field a_text.x");
    read_fails(&in, "l_record.city", "record sample has no field l_record.city");
    read_fails(&in, "a_record.", "record sample has no field a_record.");
    read_fails(&in, "", "record sample has no field ");
}

TEST(fields_are_found_by_path)
{
    const pawl_field *field = pawl_record_field(PAWL_RECORD_OF(sample)(), "a_record.street");
    pawl_value_type   type;
    assert_non_null(field);
    assert_string_equal(field->name, "street");
    assert_string_equal(pawl_field_json(field), "Street");
    assert_int_equal(field->offset, offsetof(address, street));
    assert_null(pawl_record_field(PAWL_RECORD_OF(sample)(), "Street"));
    assert_null(pawl_record_field(PAWL_RECORD_OF(sample)(), "a_rec"));
    assert_int_equal(pawl_field_value_type(field, &type, NULL), PAWL_OK);
    assert_int_equal(type, PAWL_VALUE_TEXT);
}

static pawl_code set(sample *out, const char *path, pawl_value value, pawl_error *error)
{
    return pawl_record_value_set(PAWL_RECORD_OF(sample)(), path, out, &value, shared, error);
}

TEST(fields_are_written)
{
    sample     out    = {.a_int32 = 1, .o_int64 = {true, 1}};
    pawl_value none   = {.type = PAWL_VALUE_NONE};
    char       text[] = "text";
    assert_int_equal(set(&out, "a_int16", pawl_value_integer(-32768), NULL), PAWL_OK);
    assert_int_equal(set(&out, "a_int64", pawl_value_text(PAWL_TEXT("42")), NULL), PAWL_OK);
    assert_int_equal(
        set(&out, "a_text", pawl_value_text((pawl_text){.data = text, .size = 4}), NULL), PAWL_OK);
    assert_int_equal(set(&out, "o_text", pawl_value_integer(5), NULL), PAWL_OK);
    assert_int_equal(set(&out, "a_fixed", pawl_value_text(PAWL_TEXT("abc")), NULL), PAWL_OK);
    assert_int_equal(set(&out, "a_uuid", pawl_value_text(PAWL_TEXT(UUID_TEXT)), NULL), PAWL_OK);
    assert_int_equal(set(&out, "o_time", pawl_value_time(7), NULL), PAWL_OK);
    assert_int_equal(set(&out, "a_enum", pawl_value_text(PAWL_TEXT("green")), NULL), PAWL_OK);
    assert_int_equal(set(&out, "a_record.zip", pawl_value_integer(8), NULL), PAWL_OK);
    assert_int_equal(set(&out, "a_int32", none, NULL), PAWL_OK);
    assert_int_equal(set(&out, "o_int64", none, NULL), PAWL_OK);
    sample shorter = out;
    assert_int_equal(set(&shorter, "a_fixed", pawl_value_text(PAWL_TEXT("x")), NULL), PAWL_OK);
    assert_memory_equal(shorter.a_fixed, "x\0\0", 4); /* nothing of the longer one is left */
    assert_int_equal(set(&shorter, "a_enum", pawl_value_text(PAWL_TEXT("red")), NULL), PAWL_OK);
    assert_int_equal(shorter.a_enum, COLOR_RED);
    text[0] = 'x';
    assert_int_equal(out.a_int16, -32768);
    assert_int_equal(out.a_int64, 42);
    assert_string_equal(out.a_text.data, "text");
    assert_true(out.o_text.is_set);
    assert_string_equal(out.o_text.value.data, "5");
    assert_string_equal(out.a_fixed, "abc");
    assert_int_equal(pawl_uuid_compare(out.a_uuid, some_uuid), 0);
    assert_true(out.o_time.is_set && out.o_time.value == 7);
    assert_int_equal(out.a_enum, COLOR_GREEN);
    assert_int_equal(out.a_record.zip, 8);
    assert_int_equal(out.a_int32, 0);
    assert_false(out.o_int64.is_set);
}

static void write_fails(const char *path, pawl_value value, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    sample     out   = {.a_int16 = 1};
    sample     same  = out;
    assert_int_equal(set(&out, path, value, &error), PAWL_EINVAL);
    assert_string_equal(error.text, text);
    assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), &out, &same));
}

TEST(unwritable_values_are_named)
{
    write_fails("a_int16", pawl_value_integer(32768), "a_int16: 32768 is outside -32768 to 32767");
    write_fails("o_uint32", pawl_value_integer(-1), "o_uint32: -1 is outside 0 to 4294967295");
    write_fails("a_uint64", pawl_value_integer(-1),
                "a_uint64: -1 is outside 0 to 9223372036854775807");
    write_fails("a_int32", pawl_value_text(PAWL_TEXT("x")),
                "a_int32: text of 1 byte cannot become integer of 64 bits");
    write_fails("a_fixed", pawl_value_text(PAWL_TEXT("abcd")),
                "a_fixed: text of 4 bytes, the limit is 3");
    write_fails("a_enum", pawl_value_text(PAWL_TEXT("pink")),
                "a_enum: text of 4 bytes is none of red, green, light blue");
    write_fails("a_time", pawl_value_time(PAWL_TIME_MAX + 1),
                "a_time: time 253402300800000000 is outside the years 0001 to 9999");
    write_fails("a_text", pawl_value_text((pawl_text){.data = "a\0", .size = 2}),
                "a_text: NUL at byte 1 of the text");
    write_fails("a_record.zip", pawl_value_uuid(some_uuid),
                "a_record.zip: uuid cannot become integer");
    write_fails("o_record.zip", pawl_value_integer(1),
                "o_record.zip: a record on the way is absent");
    write_fails("a_bool", pawl_value_integer(1),
                "a_bool: only an integer, text, uuid, time or enum can correlate, and no list");
    write_fails("nope", pawl_value_integer(1), "record sample has no field nope");
}

TEST(secret_values_are_not_shown)
{
    pawl_error        error = PAWL_ERROR_INIT;
    order             out   = {.pin = 0};
    const pawl_field *pin   = pawl_record_field(PAWL_RECORD_OF(order)(), "pin");
    pawl_value        value = pawl_value_text(PAWL_TEXT("hunter2"));
    assert_int_equal(pawl_value_set(pin, &out, &value, shared, &error), PAWL_EINVAL);
    assert_string_equal(error.text, "pin: a secret value that the field cannot hold");
    assert_int_equal(
        pawl_record_value_set(PAWL_RECORD_OF(order)(), "vault.zip", &out, &value, shared, &error),
        PAWL_EINVAL);
    assert_string_equal(error.text, "vault.zip: a secret value that the field cannot hold");
    assert_int_equal(
        pawl_record_value_set(PAWL_RECORD_OF(order)(), "home.zip", &out, &value, shared, &error),
        PAWL_EINVAL);
    assert_string_equal(error.text, "home.zip: text of 7 bytes cannot become integer of 64 bits");
    value = pawl_value_integer(INT64_MAX);
    assert_int_equal(pawl_value_set(pin, &out, &value, shared, &error), PAWL_EINVAL);
    assert_string_equal(error.text, "pin: a secret value that the field cannot hold");
    assert_int_equal(
        pawl_record_value_set(PAWL_RECORD_OF(order)(), "pin", &out, &value, shared, &error),
        PAWL_EINVAL);
    assert_string_equal(error.text, "pin: a secret value that the field cannot hold");
}

/* ---- A field of JSON that cannot be decoded as a whole ------------------------ */

static pawl_value read_alone(const pawl_record *record, const char *path, const char *json)
{
    pawl_value value;
    must(pawl__json_field_value(record, path, pawl_text_of(json), shared, &value));
    return value;
}

TEST(a_field_alone_is_read_as_decoding_reads_it)
{
    static const char *const paths[] = {
        "a_int32",         "a_text", "a_fixed", "a_uuid",       "a_time",
        "a_enum",          "o_text", "o_int32", "a_record.zip", "a_record.street",
        "o_record.street", "a_bool", "l_text",  "a_record"};
    static const char *const bodies[] = {
        "{}",
        "{\"a_int32\": 5.0, \"o_int32\": 5e3, \"a_text\": \"\", \"a_fixed\": \"abc\", "
        "\"a_uuid\": \"00112233-4455-6677-8899-AABBCCDDEEFF\", \"a_enum\": \"light blue\", "
        "\"a_time\": \"2026-01-31T23:59:59+01:00\", \"o_text\": \"x\", \"unknown\": 1e999, "
        "\"a_record\": {\"Street\": \"a\", \"street\": \"b\", \"zip\": 7}, "
        "\"o_record\": {\"street\": \"b\"}, \"a_bool\": true, \"l_text\": [\"a\"]}",
        "{\"a_int32\": null, \"a_record\": null, \"o_record\": null, \"o_text\": null}",
        "{\"o_record\": {\"Street\": \"c\"}, \"a_record\": {\"zip\": null}}"};
    for (size_t i = 0; i < COUNT(paths); i++)
        for (size_t k = 0; k < COUNT(bodies); k++) {
            sample     decoded;
            pawl_value whole;
            must(pawl_record_decode(PAWL_RECORD_OF(sample)(), pawl_text_of(bodies[k]), 0, shared,
                                    &decoded, world_error()));
            (void)pawl_record_value(PAWL_RECORD_OF(sample)(), paths[i], &decoded, &whole, NULL);
            pawl_value alone = read_alone(PAWL_RECORD_OF(sample)(), paths[i], bodies[k]);
            assert_true(pawl_value_equal(&alone, &whole));
        }
}

TEST(what_a_field_cannot_hold_is_read_as_it_is)
{
    const struct {
        const char *path, *json;
        pawl_value  expected;
    } cases[] = {
        {"a_int32", "{\"a_int32\": \"x\"}", {PAWL_VALUE_TEXT, .as.text = PAWL_TEXT("x")}},
        {"a_uuid", "{\"a_uuid\": 5, \"n\": 1e999}", {PAWL_VALUE_INT, .as.integer = 5}},
        {"a_record.new", "{\"a_record\": {\"new\": 6}}", {PAWL_VALUE_INT, .as.integer = 6}},
        {"new.street", "{\"new\": {\"street\": 7}}", {PAWL_VALUE_INT, .as.integer = 7}},
        {"a_text.street", "{\"a_text\": {\"street\": 8}}", {PAWL_VALUE_INT, .as.integer = 8}},
        {"a_text", "{\"a_text\": -8}", {PAWL_VALUE_INT, .as.integer = -8}},
        {"a_text", "{\"a_text\": 9223372036854775807}", {PAWL_VALUE_INT, .as.integer = INT64_MAX}},
        {"a_text", "{\"a_text\": 9223372036854775808}", {.type = PAWL_VALUE_NONE}},
        {"a_text", "{\"a_text\": 18446744073709551615}", {.type = PAWL_VALUE_NONE}},
        {"a_text", "{\"a_text\": 18446744073709551616}", {.type = PAWL_VALUE_NONE}},
        {"a_text", "{\"a_text\": 5.5}", {.type = PAWL_VALUE_NONE}},
        {"a_text", "{\"a_text\": [5]}", {.type = PAWL_VALUE_NONE}},
        {"new", "{\"a_text\": \"\"}", {.type = PAWL_VALUE_NONE}},
        {"a_int32", "[{}]", {PAWL_VALUE_INT, .as.integer = 0}},
        {"a_int32", "{\"a_int32\": 5", {.type = PAWL_VALUE_NONE}},
        {"a_int32", "", {.type = PAWL_VALUE_NONE}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_value value = read_alone(PAWL_RECORD_OF(sample)(), cases[i].path, cases[i].json);
        assert_true(pawl_value_equal(&value, &cases[i].expected));
    }
    pawl_value value = read_alone(NULL, "a.Street", "{\"a\": {\"Street\": 9}}");
    assert_int_equal(value.as.integer, 9);
}
