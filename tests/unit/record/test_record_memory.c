/* test_record_memory.c - memory that runs out at the first, second, third ...
 * allocation: every call says PAWL_ENOMEM or does what it should.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

/* Allocations left until the next one fails; negative: none fails. */
static int  left      = -1;
static bool is_failed = false;

static void *resize_until(void *memory, size_t size, void *context)
{
    if (size == 0) {
        free(memory);
        return NULL;
    }
    if (left == 0) {
        is_failed = true;
        return NULL;
    }
    if (left > 0)
        left--;
    return realloc(memory, size);
}

static const char json[] =
    "{\"a_text\":\"a text that is not short enough to be free\",\"a_bytes\":\"AQIDBAUGBwgJ\","
    "\"a_uuid\":\"00112233-4455-6677-8899-aabbccddeeff\",\"a_time\":\"2026-01-01T00:00:00Z\","
    "\"a_json\":{\"x\":[1,2,3]},\"o_text\":\"o\",\"o_record\":{\"city\":\"c\",\"u\":1},"
    "\"l_text\":[\"1\",\"2\"],\"l_int64\":[1,2,3],\"l_json\":[[],{}],\"l_bytes\":[\"AQ==\"],"
    "\"l_record\":[{\"city\":\"x\",\"u\":{\"v\":[]}},{}],\"unknown\":{\"a\":[\"b\"]}}";

typedef pawl_code scenario_fn(pawl_arena *arena, const sample *in, pawl_error *error);

static pawl_code scenario_decode(pawl_arena *arena, const sample *in, pawl_error *error)
{
    sample    out;
    pawl_code code = pawl_record_decode(PAWL_RECORD_OF(sample)(),
                                        (pawl_text){.data = json, .size = sizeof json - 1},
                                        PAWL_DECODE_KEEP_EXTRA, arena, &out, error);
    if (code == PAWL_OK)
        assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), in, &out));
    return code;
}

static pawl_code scenario_encode(pawl_arena *arena, const sample *in, pawl_error *error)
{
    pawl_text text;
    pawl_code code =
        pawl_record_encode(PAWL_MESSAGE_OF(sample, in), PAWL_ENCODE_DEFAULTS, arena, &text, error);
    if (code == PAWL_OK)
        assert_int_equal(text.data[text.size - 1], '}');
    return code;
}

static pawl_code scenario_copy(pawl_arena *arena, const sample *in, pawl_error *error)
{
    sample    out;
    pawl_code code = pawl_record_copy(PAWL_RECORD_OF(sample)(), in, &out, arena);
    if (code == PAWL_OK)
        assert_true(pawl_record_equal(PAWL_RECORD_OF(sample)(), in, &out));
    return pawl_error_set(error, code, "copy");
}

static pawl_code scenario_mask(pawl_arena *arena, const sample *in, pawl_error *error)
{
    pawl_text masked = PAWL_TEXT("");
    pawl_code code =
        pawl_record_mask(PAWL_RECORD_OF(sample)(),
                         (pawl_text){.data = json, .size = sizeof json - 1}, arena, &masked, error);
    if (code == PAWL_OK)
        assert_true(masked.size > 2);
    return code;
}

static pawl_code scenario_values(pawl_arena *arena, const sample *in, pawl_error *error)
{
    sample     out   = *in;
    pawl_value value = pawl_value_integer(5);
    pawl_code  code =
        pawl_record_value_set(PAWL_RECORD_OF(sample)(), "a_text", &out, &value, arena, error);
    if (code == PAWL_OK)
        code = pawl_value_coerce(PAWL_VALUE_TEXT, &value, arena, error);
    if (code == PAWL_OK)
        assert_true(pawl_text_equal(value.as.text, out.a_text));
    return code;
}

/* Blocks of 1 byte: nearly every piece of memory is an allocation of its own. */
static void runs_out(scenario_fn *scenario, const sample *in)
{
    int failures = 0;
    for (int n = 0;; n++) {
        pawl_error  error = PAWL_ERROR_INIT;
        pawl_arena *arena = pawl_arena_create(1);
        assert_non_null(arena);
        left           = n;
        is_failed      = false;
        pawl_code code = scenario(arena, in, &error);
        left           = -1;
        pawl_arena_destroy(arena);
        if (!is_failed) {
            assert_int_equal(code, PAWL_OK);
            break;
        }
        failures++;
        assert_int_equal(code, PAWL_ENOMEM);
        assert_int_equal(error.code, PAWL_ENOMEM);
        assert_true(error.text[0] != '\0');
    }
    assert_true(failures > 1);
}

TEST(every_allocation_may_fail)
{
    static scenario_fn *const scenarios[] = {scenario_decode, scenario_encode, scenario_copy,
                                             scenario_values, scenario_mask};
    const pawl_allocator      allocator   = {resize_until, NULL};
    sample                    in;
    pawl_allocator_set(&allocator);
    pawl_arena *arena = pawl_arena_create(0);
    assert_non_null(arena);
    must(pawl_record_decode(PAWL_RECORD_OF(sample)(),
                            (pawl_text){.data = json, .size = sizeof json - 1},
                            PAWL_DECODE_KEEP_EXTRA, arena, &in, world_error()));
    for (size_t i = 0; i < COUNT(scenarios); i++)
        runs_out(scenarios[i], &in);
    pawl_arena_destroy(arena);
    pawl_allocator_set(NULL);
}
