/* test_record_random.c - random structs through JSON and back, random damage to
 * JSON. Run again with the seed that was printed: test_record_random SEED.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

#include <inttypes.h>
#include <time.h>

#define ROUNDS 400

static uint64_t    seed;
static pawl_random source;

static uint64_t below(uint64_t limit)
{
    return pawl_random_below(&source, limit);
}

static bool coin(void)
{
    return below(2) == 0;
}

/* Small, large and border values are all likely. */
static int64_t any_integer(int64_t low, int64_t high)
{
    switch (below(4)) {
    case 0: return low;
    case 1: return high;
    case 2: return (int64_t)below(10);
    default:
        return (int64_t)((uint64_t)low +
                         pawl_random_next(&source) % ((uint64_t)high - (uint64_t)low));
    }
}

static double any_double(void)
{
    for (;;) {
        uint64_t bits = pawl_random_next(&source);
        double   number;
        memcpy(&number, &bits, sizeof number);
        if (number - number == 0) /* neither NaN nor infinite */
            return number;
    }
}

static pawl_text any_text(pawl_arena *arena, size_t size_max)
{
    static const char *const pieces[] = {
        "a", "\"", "\\", "\n", "/", " ", "\x7F", "\xC3\xA4", "{", "\xF0\x9F\x98\x80", "\x01"};
    char   text[80];
    size_t size  = 0;
    size_t count = below(12);
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[below(COUNT(pieces))];
        if (size + strlen(piece) > size_max)
            break;
        memcpy(text + size, piece, strlen(piece));
        size += strlen(piece);
    }
    return pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
}

static pawl_bytes any_bytes(pawl_arena *arena)
{
    uint8_t bytes[20];
    size_t  size = below(sizeof bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)below(256);
    return (pawl_bytes){.data = pawl_arena_copy(arena, bytes, size), .size = size};
}

static pawl_uuid any_uuid(void)
{
    return coin() ? (pawl_uuid){{0}} : pawl_uuid_v7(&source, PAWL_SECONDS(below(1000000)));
}

static pawl_text any_json(void)
{
    static const char *const values[] = {"1", "\"x\"", "[]", "{\"a\":[true,null,-1.5]}", "false"};
    return pawl_text_of(values[below(COUNT(values))]);
}

static address any_address(pawl_arena *arena)
{
    address made = {.city = any_text(arena, 40), .zip = (int32_t)any_integer(INT32_MIN, INT32_MAX)};
    if (coin())
        made.pawl_extra = PAWL_TEXT("\"more\":[1,{\"x\":null}]");
    return made;
}

static void fill_values(pawl_arena *arena, sample *out)
{
    out->a_bool   = coin();
    out->a_int16  = (int16_t)any_integer(INT16_MIN, INT16_MAX);
    out->a_int32  = (int32_t)any_integer(INT32_MIN, INT32_MAX);
    out->a_int64  = any_integer(INT64_MIN, INT64_MAX);
    out->a_uint16 = (uint16_t)any_integer(0, UINT16_MAX);
    out->a_uint32 = (uint32_t)any_integer(0, UINT32_MAX);
    out->a_uint64 = (uint64_t)any_integer(0, INT64_MAX);
    out->a_double = any_double();
    out->a_text   = any_text(arena, 70);
    out->a_bytes  = any_bytes(arena);
    out->a_uuid   = any_uuid();
    out->a_time   = any_integer(PAWL_TIME_MIN, PAWL_TIME_MAX);
    out->a_enum   = (int)below(3);
    out->a_json   = any_json();
    out->a_record = any_address(arena);
    snprintf(out->a_fixed, sizeof out->a_fixed, "%s", any_text(arena, 3).data);
}

static void fill_optionals(pawl_arena *arena, sample *out)
{
    out->o_bool         = (pawl_optional_bool){coin(), coin()};
    out->o_int16        = (pawl_optional_int16){coin(), (int16_t)any_integer(INT16_MIN, INT16_MAX)};
    out->o_int64        = (pawl_optional_int64){coin(), any_integer(INT64_MIN, INT64_MAX)};
    out->o_uint64       = (pawl_optional_uint64){coin(), (uint64_t)any_integer(0, INT64_MAX)};
    out->o_double       = (pawl_optional_double){coin(), any_double()};
    out->o_text         = (pawl_optional_text){coin(), any_text(arena, 70)};
    out->o_bytes        = (pawl_optional_bytes){coin(), any_bytes(arena)};
    out->o_uuid         = (pawl_optional_uuid){coin(), any_uuid()};
    out->o_time         = (pawl_optional_time){coin(), any_integer(PAWL_TIME_MIN, PAWL_TIME_MAX)};
    out->o_enum         = (pawl_optional_enum){coin(), (int)below(3)};
    out->o_json         = (pawl_optional_json){coin(), any_json()};
    out->o_fixed.is_set = coin();
    snprintf(out->o_fixed.value, sizeof out->o_fixed.value, "%s", any_text(arena, 3).data);
    if (coin()) {
        address nested = any_address(arena);
        out->o_record  = pawl_arena_copy(arena, &nested, sizeof nested);
    }
}

static void fill_lists(pawl_arena *arena, sample *out)
{
    size_t     count     = below(5);
    int64_t   *integers  = pawl_arena_take(arena, 8 * sizeof *integers);
    double    *doubles   = pawl_arena_take(arena, 8 * sizeof *doubles);
    pawl_text *texts     = pawl_arena_take(arena, 8 * sizeof *texts);
    address   *addresses = pawl_arena_take(arena, 8 * sizeof *addresses);
    int       *colors    = pawl_arena_take(arena, 8 * sizeof *colors);
    for (size_t i = 0; i < count; i++) {
        integers[i]  = any_integer(INT64_MIN, INT64_MAX);
        doubles[i]   = any_double();
        texts[i]     = any_text(arena, 70);
        addresses[i] = any_address(arena);
        colors[i]    = (int)below(3);
    }
    out->l_int64        = (pawl_list_int64){integers, count};
    out->l_double       = (pawl_list_double){doubles, count};
    out->l_text         = (pawl_list_text){texts, count};
    out->l_enum         = (pawl_list_enum){colors, count};
    out->l_record.items = addresses;
    out->l_record.count = count;
}

static sample any_sample(pawl_arena *arena)
{
    sample made;
    memset(&made, 0, sizeof made);
    if (coin())
        fill_values(arena, &made);
    if (coin())
        fill_optionals(arena, &made);
    if (coin())
        fill_lists(arena, &made);
    return made;
}

static pawl_text encode(pawl_arena *arena, const sample *in)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_text  json;
    unsigned   flags = coin() ? PAWL_ENCODE_DEFAULTS : 0;
    if (pawl_record_encode(PAWL_MESSAGE_OF(sample, in), flags, arena, &json, &error) != PAWL_OK)
        fail_msg("seed %" PRIu64 ": %s", seed, error.text);
    return json;
}

TEST(structs_come_back)
{
    pawl_arena *arena = shared;
    for (int round = 0; round < ROUNDS; round++) {
        pawl_error error = PAWL_ERROR_INIT;
        sample     in    = any_sample(arena);
        sample     out, copy;
        pawl_text  json = encode(arena, &in);
        if (pawl_record_decode(PAWL_RECORD_OF(sample)(), json, PAWL_DECODE_KEEP_EXTRA, arena, &out,
                               &error) != PAWL_OK)
            fail_msg("seed %" PRIu64 ": %s: %s", seed, error.text, json.data);
        if (!pawl_record_equal(PAWL_RECORD_OF(sample)(), &in, &out))
            fail_msg("seed %" PRIu64 ": comes back changed: %s", seed, json.data);
        assert_int_equal(pawl_record_copy(PAWL_RECORD_OF(sample)(), &out, &copy, arena), PAWL_OK);
        if (!pawl_record_equal(PAWL_RECORD_OF(sample)(), &in, &copy))
            fail_msg("seed %" PRIu64 ": copied differently: %s", seed, json.data);
        pawl_arena_reset(arena);
    }
}

/* Damaged JSON is refused or read; what is read can be written again. */
TEST(damage_does_no_harm)
{
    static const char bytes[] = "{}[]\",:0129.eE-+ntfu\\\0\x01\xC3\xFFx";
    pawl_arena       *arena   = shared;
    int               refused = 0;
    for (int round = 0; round < ROUNDS * 4; round++) {
        sample    in = any_sample(arena);
        sample    out;
        pawl_text json    = encode(arena, &in);
        char     *damaged = pawl_arena_copy(arena, json.data, json.size);
        for (size_t i = below(4); i != SIZE_MAX; i--)
            damaged[below(json.size)] = bytes[below(sizeof bytes - 1)];
        pawl_error error = PAWL_ERROR_INIT;
        pawl_text  text  = {.data = damaged, .size = json.size - (coin() ? 0 : below(json.size))};
        pawl_code  code = pawl_record_decode(PAWL_RECORD_OF(sample)(), text, PAWL_DECODE_KEEP_EXTRA,
                                             arena, &out, &error);
        if (code == PAWL_OK)
            encode(arena, &out);
        else
            assert_true(code == PAWL_EDECODE && error.text[0] != '\0');
        refused += code != PAWL_OK;
        pawl_arena_reset(arena);
    }
    assert_true(refused > ROUNDS);
}

int main(int count, char **arguments)
{
    seed = count > 1 ? strtoull(arguments[1], NULL, 10) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    pawl_random_seed(&source, seed);
    return tests_run(NULL, NULL);
}
