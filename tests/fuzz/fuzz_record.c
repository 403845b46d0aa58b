/* fuzz_record.c - JSON as records of every kind and shape: decoding, and the way back.
 *
 * Input: a byte that chooses record and flags, then the JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"
#include "unit/record/test_record_sample.h"

static pawl_text encode(const pawl_record *record, const void *value, unsigned flags,
                        pawl_arena *arena)
{
    pawl_text json = {.size = 0};
    FUZZ_CHECK(pawl_record_encode(record, value, flags, arena, &json, NULL) == PAWL_OK);
    FUZZ_CHECK(fuzz_is_json(json));
    return json;
}

/* A value that was read is written, read again and copied without a change. */
static void check_value(const pawl_record *record, const void *value, unsigned times,
                        unsigned defaults, pawl_arena *arena)
{
    void     *again = pawl_arena_take(arena, record->size);
    void     *copy  = pawl_arena_take(arena, record->size);
    pawl_text json  = encode(record, value, PAWL_RECORD_TIMES(times) | defaults, arena);
    FUZZ_CHECK(pawl_record_decode(record, json, PAWL_RECORD_TIMES(times) | PAWL_DECODE_KEEP_EXTRA,
                                  arena, again, NULL) == PAWL_OK);
    FUZZ_CHECK(
        pawl_text_equal(json, encode(record, again, PAWL_RECORD_TIMES(times) | defaults, arena)));
    if (times == PAWL_TIMES_RFC3339 || times == PAWL_TIMES_UNIX_US)
        FUZZ_CHECK(pawl_record_equal(record, value, again));
    FUZZ_CHECK(pawl_record_copy(record, again, copy, arena) == PAWL_OK);
    FUZZ_CHECK(pawl_record_equal(record, again, copy));
}

static void check_mask(const pawl_record *record, pawl_text json, pawl_arena *arena)
{
    pawl_text masked = {.size = 0};
    if (pawl_record_mask(record, json, arena, &masked, NULL) != PAWL_OK)
        return;
    FUZZ_CHECK(fuzz_is_json(masked));
}

/* Every field by its path, and back into the struct. */
static void check_paths(const pawl_record *record, void *value, pawl_arena *arena)
{
    for (size_t i = 0; i < record->field_count; i++) {
        pawl_value read = {PAWL_VALUE_NONE, {0}};
        char       text[PAWL_VALUE_TEXT_SIZE];
        if (pawl_record_value(record, record->fields[i].name, value, &read, NULL) != PAWL_OK)
            continue;
        (void)pawl_value_format(&read, text, sizeof text);
        (void)pawl_value_hash(&read);
        (void)pawl_record_value_set(record, record->fields[i].name, value, &read, arena, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const pawl_record *const records[] = {PAWL_RECORD_OF(sample)(), PAWL_RECORD_OF(order)(),
                                          PAWL_RECORD_OF(node)(), PAWL_RECORD_OF(nothing)()};
    fuzz_input               in        = {data, size};
    pawl_error               error     = PAWL_ERROR_INIT;
    pawl_arena              *arena     = fuzz_arena();
    unsigned                 how       = fuzz_byte(&in);
    const pawl_record       *record    = records[how & 3];
    unsigned                 times     = how >> 2 & 3;
    unsigned                 extra     = (how & 16) != 0 ? PAWL_DECODE_KEEP_EXTRA : 0;
    pawl_text                json      = fuzz_rest(&in);
    void                    *value     = pawl_arena_take(arena, record->size);
    pawl_code                code =
        pawl_record_decode(record, json, PAWL_RECORD_TIMES(times) | extra, arena, value, &error);
    if (code == PAWL_OK) {
        check_value(record, value, times, (how & 32) != 0 ? PAWL_ENCODE_DEFAULTS : 0, arena);
        check_paths(record, value, arena);
    } else {
        FUZZ_CHECK((code == PAWL_EDECODE || code == PAWL_ELIMIT) && error.text[0] != '\0');
    }
    check_mask(record, json, arena);
    pawl_arena_destroy(arena);
    return 0;
}
