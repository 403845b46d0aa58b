/* test_record_check.c - descriptors: what registration accepts and refuses, and
 * what the macros make.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record/record_internal.h"
#include "unit/record/test_record_sample.h"

static pawl_code upcast_code; /* the answer of upcast_one, if not PAWL_OK */

static pawl_code upcast_one(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                            pawl_error *error)
{
    if (upcast_code != PAWL_OK)
        return upcast_code;
    if (version < 2)
        return pawl_error_set(error, PAWL_EDECODE, "too old");
    *upcast = pawl_arena_printf(arena, "[%d,%.*s]", version, PAWL_TEXT_ARGS(json));
    return upcast->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

PAWL_RECORD_WITH(placed, ADDRESS, .type = "Shop.Placed", .base = PAWL_RECORD_OF(order),
                 .version = 3, .upcast = upcast_one);

/* Constant expressions: they may initialise tables. */
static pawl_record_fn *const functions[] = {PAWL_RECORD_OF(placed), PAWL_RECORD_OF(nothing)};
static pawl_enum_fn *const   enums[]     = {PAWL_ENUM_OF(color)};

TEST(macros_make_descriptors)
{
    const pawl_record *record = functions[0]();
    assert_string_equal(record->name, "placed");
    assert_string_equal(pawl_record_type(record), "Shop.Placed");
    assert_string_equal(pawl_record_type(functions[1]()), "nothing");
    assert_int_equal(pawl_record_version(record), 3);
    assert_int_equal(pawl_record_version(functions[1]()), 1);
    assert_ptr_equal(record->base(), PAWL_RECORD_OF(order)());
    assert_int_equal(record->size, sizeof(placed));
    assert_int_equal(record->field_count, 3);
    assert_int_equal(functions[1]()->field_count, 0);
    assert_int_equal(functions[1]()->size, sizeof(pawl_text));
    assert_int_equal(enums[0]()->count, 3);
    assert_string_equal(enums[0]()->names[COLOR_BLUE], "light blue");
    assert_true(pawl_record_field(PAWL_RECORD_OF(order)(), "pin")->secret);
    assert_false(pawl_record_field(PAWL_RECORD_OF(order)(), "note")->secret);
    assert_true(pawl_record_field(PAWL_RECORD_OF(order)(), "order_id")->required);
}

static void messages_are_two_arguments(const pawl_record *record, const void *message,
                                       const char *name, const char *city)
{
    assert_string_equal(record->name, name);
    if (city != NULL)
        assert_string_equal(((const address *)message)->city.data, city);
}

TEST(macros_make_messages)
{
    address       there  = {.city = PAWL_TEXT("Ulm")};
    const address always = {.city = PAWL_TEXT("Bonn")};
    messages_are_two_arguments(PAWL_MESSAGE(nothing), "nothing", NULL);
    messages_are_two_arguments(PAWL_MESSAGE(address, .zip = 1, .city = PAWL_TEXT("Rom")), "address",
                               "Rom");
    messages_are_two_arguments(PAWL_MESSAGE_OF(address, &there), "address", "Ulm");
    messages_are_two_arguments(PAWL_MESSAGE_OF(address, &always), "address", "Bonn");
}

TEST(good_records_pass)
{
    static pawl_record_fn *const good[] = {
        PAWL_RECORD_OF(sample), PAWL_RECORD_OF(order),   PAWL_RECORD_OF(node),
        PAWL_RECORD_OF(placed), PAWL_RECORD_OF(nothing),
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        must(pawl_record_check(good[i](), world_error()));
    }
}

static void refused(const pawl_record *record, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_record_check(record, &error), PAWL_ECONFIG);
    assert_string_equal(error.text, text);
}

TEST(bad_heads_are_refused)
{
    pawl_record record = *PAWL_RECORD_OF(address)();
    refused(NULL, "record without a name");
    record.version = -1;
    refused(&record, "record address: type 'address' has version -1, valid are 1 to 999999999");
    record.version = PAWL_RECORD_VERSION_MAX + 1;
    refused(&record,
            "record address: type 'address' has version 1000000000, valid are 1 to 999999999");
    record.version = PAWL_RECORD_VERSION_MAX;
    must(pawl_record_check(&record, world_error()));
    record.version     = 1;
    record.field_count = PAWL_RECORD_FIELDS_MAX + 1;
    refused(&record, "record address: 257 fields, the limit is 256");
    record.field_count = 1;
    record.type        = "a\nb";
    refused(&record, "record address: the type name has not 1 to 200 printable bytes");
    record.type = "";
    refused(&record, "record address: the type name has not 1 to 200 printable bytes");
    record.type = "\xFF";
    refused(&record, "record address: the type name has not 1 to 200 printable bytes");
    record.type = "Shop.Placed, Shop";
    refused(
        &record,
        "record address: the type name 'Shop.Placed, Shop' has a ',', which types may not have");
    record.type = "a\"b";
    refused(&record, "record address: the type name 'a\"b' has a '\"', which types may not have");
    record.type = "a\\b";
    refused(&record, "record address: the type name 'a\\b' has a '\\', which types may not have");
    record.type = NULL;
    record.table_size--;
    assert_int_equal(pawl_record_check(&record, NULL), PAWL_ECONFIG);
    record = *PAWL_RECORD_OF(address)();
    record.field_size--;
    assert_int_equal(pawl_record_check(&record, NULL), PAWL_ECONFIG);
    record.name = NULL;
    refused(&record, "record without a name");
}

/* The record `address` with its second field replaced. */
static void field_refused(pawl_field field, const char *text)
{
    pawl_field  fields[2] = {*PAWL_RECORD_OF(address)()->fields, field};
    pawl_record record    = *PAWL_RECORD_OF(address)();
    record.fields         = fields;
    record.field_count    = 2;
    refused(&record, text);
}

static const pawl_enum *empty_enum(void)
{
    static const pawl_enum none = {"none", NULL, 0};
    return &none;
}

static const pawl_enum *doubled_enum(void)
{
    static const char *const names[] = {"a", "b", "a"};
    static const pawl_enum   doubled = {"doubled", names, 3};
    return &doubled;
}

static const pawl_enum *unnamed_enum(void)
{
    static const char *const names[] = {"a", ""};
    static const pawl_enum   unnamed = {"unnamed", names, 2};
    return &unnamed;
}

/* Of a time, one or an optional one. */
TEST(d17_an_offset_is_a_times)
{
    const pawl_record *record = PAWL_RECORD_OF(sample)();
    for (size_t i = 0; i < record->field_count; i++) {
        pawl_field  field     = record->fields[i];
        pawl_record one       = *record;
        bool        is_time   = field.kind == PAWL_KIND_TIME && field.shape != PAWL_LIST;
        char        says[200] = "";
        one.fields            = &field;
        one.field_count       = 1;
        field.with_offset     = true;
        snprintf(says, sizeof says, "record %s: field %s: with_offset is for a TIME or an OPT_TIME",
                 record->name, field.name);
        if (is_time)
            assert_int_equal(pawl_record_check(&one, NULL), PAWL_OK);
        else
            refused(&one, says);
    }
}

TEST(bad_fields_are_refused)
{
    const char *outside = test_text(
        "record address: field zip: does not lie in the struct of %zu bytes", sizeof(address));
    const pawl_field zip   = *pawl_record_field(PAWL_RECORD_OF(address)(), "zip");
    pawl_field       field = zip;
    field.json             = "city";
    field_refused(field, "record address: fields city and zip are both 'city' in JSON");
    field.json = "";
    field_refused(field,
                  "record address: field zip: the name in JSON has not 1 to 200 printable bytes");
    field      = zip;
    field.name = NULL;
    field_refused(field,
                  "record address: field ?: the name in JSON has not 1 to 200 printable bytes");
    field      = zip;
    field.kind = (pawl_kind)77;
    field_refused(field, "record address: field zip: kind 77 in shape 0 is unknown");
    field.kind = PAWL_KIND_NONE;
    field_refused(field, "record address: field zip: kind 0 in shape 0 is unknown");
    field       = zip;
    field.shape = (pawl_shape)3;
    field_refused(field, "record address: field zip: kind 3 in shape 3 is unknown");
    field.shape = PAWL_ONE;
    field.kind  = PAWL_KIND_ENUM;
    field_refused(field, "record address: field zip: has no descriptor of its type");
    field.enumeration = empty_enum;
    field_refused(field, "record address: field zip: enum none has no values");
    field.enumeration = doubled_enum;
    field_refused(field, "record address: enum doubled: two values are named 'a'");
    field.enumeration = unnamed_enum;
    field_refused(field, "record address: enum unnamed: value 1 has no name of 1 to 200 bytes");
    field.kind = PAWL_KIND_RECORD;
    field_refused(field, "record address: field zip: has no descriptor of its type");
    field        = zip;
    field.offset = 0; /* over pawl_extra */
    field_refused(field, outside);
    field.offset = sizeof(address) - 2;
    field_refused(field, outside);
    field           = zip;
    field.item_size = 8;
    field_refused(field,
                  "record address: field zip: item_size is 8, a value of its kind has 4 bytes");
}

static const pawl_record *endless(void)
{
    static const pawl_record record = {.table_size = sizeof(pawl_record),
                                       .field_size = sizeof(pawl_field),
                                       .name       = "endless",
                                       .size       = sizeof(pawl_text),
                                       .base       = endless};
    return &record;
}

TEST(bases_that_lead_back_are_refused)
{
    refused(endless(), "record endless: more than 16 base types, or one that leads back");
}

static pawl_record first_base, second_base;

static const pawl_record *base_of_all(void)
{
    return &first_base;
}

static const pawl_record *base_of_base(void)
{
    return &second_base;
}

TEST(names_and_versions_of_base_types_are_checked)
{
    pawl_record record = *PAWL_RECORD_OF(address)();
    first_base = second_base = record;
    record.base              = base_of_all;
    first_base.base          = base_of_base;
    must(pawl_record_check(&record, world_error()));
    second_base.type = "a,b";
    refused(&record, "record address: the type name 'a,b' has a ',', which types may not have");
    second_base.type    = NULL;
    second_base.version = PAWL_RECORD_VERSION_MAX + 1;
    refused(&record,
            "record address: type 'address' has version 1000000000, valid are 1 to 999999999");
    second_base.version = 0;
    first_base.type     = "";
    refused(&record, "record address: the type name has not 1 to 200 printable bytes");
    first_base.type = "a";
    first_base.name = NULL;
    refused(&record, "record address: the type name has not 1 to 200 printable bytes");
}

/* 17 records, each with the one before inside. */
#define DEEP_0(F) F(INT32, x)
PAWL_RECORD(deep_0, DEEP_0);
#define DEEP(n, before)                                                         \
    static const pawl_record *deep_##n(void)                                    \
    {                                                                           \
        static const pawl_field  field[] = {{.name      = "in",                 \
                                             .kind      = PAWL_KIND_RECORD,     \
                                             .shape     = PAWL_LIST,            \
                                             .offset    = sizeof(pawl_text),    \
                                             .item_size = sizeof(order_line),   \
                                             .record    = before}};                \
        static const pawl_record record  = {.table_size  = sizeof(pawl_record), \
                                            .field_size  = sizeof(pawl_field),  \
                                            .name        = "deep",              \
                                            .size        = sizeof(order_line),  \
                                            .fields      = field,               \
                                            .field_count = 1};                  \
        return &record;                                                         \
    }
DEEP(2, PAWL_RECORD_OF(order_line))
DEEP(3, deep_2)
DEEP(4, deep_3)
DEEP(5, deep_4)
DEEP(6, deep_5)
DEEP(7, deep_6)
DEEP(8, deep_7)
DEEP(9, deep_8)
DEEP(10, deep_9)
DEEP(11, deep_10)
DEEP(12, deep_11)
DEEP(13, deep_12)
DEEP(14, deep_13)
DEEP(15, deep_14)
DEEP(16, deep_15)

TEST(deep_nesting_is_refused)
{
    /* order_line holds an address: deep_15 leads 16 deep. */
    assert_int_equal(pawl_record_check(deep_15(), NULL), PAWL_OK);
    refused(deep_16(), "record address: nested 17 deep, the limit is 16");
}

TEST(upcasts_lead_to_the_current_version)
{
    pawl_error         error  = PAWL_ERROR_INIT;
    const pawl_record *record = PAWL_RECORD_OF(placed)();
    pawl_text          json;
    must(pawl_record_upcast(record, 3, PAWL_TEXT("{}"), shared, &json, world_error()));
    assert_string_equal(json.data, "{}");
    must(pawl_record_upcast(record, 2, PAWL_TEXT("{}"), shared, &json, world_error()));
    assert_string_equal(json.data, "[2,{}]");
    assert_int_equal(pawl_record_upcast(record, 1, PAWL_TEXT("{}"), shared, &json, &error),
                     PAWL_EDECODE);
    assert_string_equal(error.text, "Shop.Placed: upcast from version 1 to 3: too old");
    assert_int_equal(pawl_record_upcast(record, 4, PAWL_TEXT("{}"), shared, &json, &error),
                     PAWL_EVERSION);
    assert_string_equal(error.text,
                        "Shop.Placed of version 4: this program has version 3 and no way back");
    assert_int_equal(
        pawl_record_upcast(PAWL_RECORD_OF(order)(), 0, PAWL_TEXT("{}"), shared, &json, &error),
        PAWL_EVERSION);
    assert_string_equal(
        error.text, "order of version 0: this program has version 1 and no upcast from older ones");
}

/* Codes of handlers would be taken for those of a message: PAWL_DISCARD loses it. */
TEST(an_upcast_answers_no_code_of_handlers)
{
    pawl_text  json;
    pawl_error error = PAWL_ERROR_INIT;
    for (int code = PAWL_RETRY; code <= PAWL_DISCARD; code++) {
        upcast_code = (pawl_code)code;
        assert_int_equal(
            pawl_record_upcast(PAWL_RECORD_OF(placed)(), 2, PAWL_TEXT("{}"), shared, &json, &error),
            PAWL_ECONFIG);
    }
    upcast_code = PAWL_OK;
}

/* ---- Two descriptors of one type ------------------------------------------- */

/* A list of records that holds a list of the same record, twice. */
static const pawl_record *ring_one(void);
static const pawl_record *ring_two(void);
#define RING(own)                                                                       \
    {                                                                                   \
        .name = "inner", .kind = PAWL_KIND_RECORD, .shape = PAWL_LIST,                  \
        .offset = sizeof(pawl_text), .item_size = sizeof(pawl_text) + 16, .record = own \
    }
static const pawl_field  ring_fields[] = {RING(ring_one), RING(ring_two)};
static const pawl_record rings[]       = {
          {sizeof(pawl_record), sizeof(pawl_field), .name = "ring", .size = sizeof(pawl_text) + 16,
           .fields = &ring_fields[0], .field_count = 1},
          {sizeof(pawl_record), sizeof(pawl_field), .name = "ring", .size = sizeof(pawl_text) + 16,
           .fields = &ring_fields[1], .field_count = 1}};

static const pawl_record *ring_one(void)
{
    return &rings[0];
}

static const pawl_record *ring_two(void)
{
    return &rings[1];
}

static const pawl_enum *other_colors(void)
{
    static const char *const names[] = {"red", "green", "navy"};
    static const pawl_enum   colors  = {"color", names, 3};
    return &colors;
}

static const pawl_enum *fewer_colors(void)
{
    static pawl_enum colors;
    colors       = *PAWL_ENUM_OF(color)();
    colors.count = 2;
    return &colors;
}

static void twin(pawl_code expected, const pawl_record *other)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl__record_check_twin(PAWL_RECORD_OF(sample)(), other, &error), expected);
    if (expected != PAWL_OK)
        assert_string_equal(error.text, "record sample is declared twice, and not alike: a handler "
                                        "of one would read the other's struct; declare it in one "
                                        "header");
}

static pawl_record copy_sample(pawl_field fields[64])
{
    pawl_record copy = *PAWL_RECORD_OF(sample)();
    memcpy(fields, copy.fields, copy.field_count * sizeof fields[0]);
    copy.fields = fields;
    return copy;
}

TEST(descriptors_of_one_type_are_alike)
{
    pawl_field  fields[64];
    pawl_record other = copy_sample(fields);
    twin(PAWL_OK, &other);
    other.size += 8;
    twin(PAWL_ECONFIG, &other);
    other.size -= 8, other.version = 2;
    twin(PAWL_ECONFIG, &other);
    other.version = 1, other.field_count--;
    twin(PAWL_ECONFIG, &other);
    other.field_count++;
    fields[0].json = "of_another_name";
    twin(PAWL_ECONFIG, &other);
    fields[0].json = fields[0].name, fields[0].name = "of_another_name_in_c";
    twin(PAWL_OK, &other);
    fields[3].kind = PAWL_KIND_UINT64; /* an INT64: of the same size */
    twin(PAWL_ECONFIG, &other);
    fields[3].kind  = PAWL_KIND_INT64;
    pawl_field *one = (pawl_field *)pawl_record_field(&other, "a_int64"), whole = *one;
    one->offset = pawl_record_field(&other, "a_uint64")->offset;
    twin(PAWL_ECONFIG, &other);
    *one = whole;
    one = (pawl_field *)pawl_record_field(&other, "a_enum"), whole = *one;
    one->enumeration = other_colors;
    twin(PAWL_ECONFIG, &other);
    one->enumeration = fewer_colors;
    twin(PAWL_ECONFIG, &other);
    *one = whole;
    twin(PAWL_OK, &other);
    assert_int_equal(pawl__record_check_twin(&rings[0], &rings[1], NULL), PAWL_OK);
}

/* Another struct within: of the same size, and its members change places. */
#define SWAPPED(F) F(TEXT, street, .json = "Street") F(INT32, zip) F(TEXT, city)
PAWL_RECORD_WITH(swapped, SWAPPED, .type = "address");

TEST(descriptors_within_are_alike_too)
{
    pawl_field  fields[64];
    pawl_record other                                             = copy_sample(fields);
    ((pawl_field *)pawl_record_field(&other, "o_record"))->record = PAWL_RECORD_OF(swapped);
    twin(PAWL_ECONFIG, &other);
}
