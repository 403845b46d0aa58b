/* test_base_values.c - ids, times, codes, errors, random numbers and arenas: every form that
 * is read, every one that is refused, and what holds of all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"

#include "pawl/base.h"
#include "support/tests.h"

#include <stdalign.h>

#define NOW INT64_C(1767225600123456)

/* ---- Durations ----------------------------------------------------------- */

TEST(a_duration_has_fractions_and_large_numbers)
{
    static const struct {
        int64_t is, wanted;
    } all[] = {
        {PAWL_SECONDS(0.5), 500000},
        {PAWL_SECONDS(-1.5), -1500000},
        {PAWL_SECONDS(2.5f), 2500000},
        {PAWL_MILLISECONDS(0.25), 250},
        {PAWL_MINUTES(1.5), 90000000},
        {PAWL_HOURS(0.25), INT64_C(900000000)},
        {PAWL_DAYS(0.5), INT64_C(43200000000)},
        {PAWL_SECONDS(1 + 1), 2000000},
        {PAWL_MINUTES(UINT32_MAX), INT64_C(257698037700000000)},
        {PAWL_MILLISECONDS(INT64_C(9223372036854775)), INT64_C(9223372036854775000)},
        {PAWL_SECONDS(-INT64_C(9223372036854)), -INT64_C(9223372036854000000)},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        assert_int_equal(all[i].is, all[i].wanted);
}

/* ---- Ids ---------------------------------------------------------------- */

static const pawl_uuid some_id = {{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba,
                                   0x98, 0x76, 0x54, 0x32, 0x10}};
#define SOME_ID "01234567-89ab-cdef-fedc-ba9876543210"

TEST(an_id_is_36_characters)
{
    char      text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid read = {{0}};
    pawl_uuid_format(some_id, text);
    assert_string_equal(text, SOME_ID);
    assert_int_equal(pawl_uuid_parse(pawl_text_of(text), &read, NULL), PAWL_OK);
    assert_memory_equal(&read, &some_id, sizeof read);
    read = (pawl_uuid){{0}};
    must(pawl_uuid_parse(PAWL_TEXT("01234567-89AB-CDEF-FEDC-BA9876543210"), &read, world_error()));
    assert_memory_equal(&read, &some_id, sizeof read);
}

/* Each character in turn is another one; nothing is read then. */
TEST(what_is_no_id_is_refused)
{
    static const char *const others = "0g/:@G`-\x7f\x80 ";
    pawl_error               error  = PAWL_ERROR_INIT;
    for (size_t at = 0; at < PAWL_UUID_TEXT_SIZE; at++)
        for (const char *c = others; *c != '\0'; c++) {
            char      text[] = SOME_ID;
            pawl_uuid read   = {{7}};
            bool      is_bad = *c != (text[at] == '-' ? '-' : '0');
            text[at]         = *c;
            assert_int_equal(pawl_uuid_parse(pawl_text_of(text), &read, &error),
                             is_bad ? PAWL_EINVAL : PAWL_OK);
            if (is_bad)
                assert_int_equal(read.bytes[0], 7);
        }
    static const size_t sizes[] = {0, 1, 35, 37, 60, 61};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        pawl_uuid read;
        char      text[] = SOME_ID "0000000000000000000000000", said[120];
        assert_int_equal(
            pawl_uuid_parse((pawl_text){.data = text, .size = sizes[i]}, &read, &error),
            PAWL_EINVAL);
        snprintf(said, sizeof said, "'%.*s' is not a UUID of 36 characters",
                 (int)(sizes[i] < 60 ? sizes[i] : 60), text);
        assert_string_equal(error.text, said);
    }
    pawl_uuid read;
    assert_int_equal(pawl_uuid_parse((pawl_text){0}, &read, &error), PAWL_EINVAL);
}

TEST(ids_are_compared_byte_by_byte)
{
    for (size_t i = 0; i < 16; i++) {
        pawl_uuid zero = {{0}}, one = {{0}}, high = {{0}};
        one.bytes[i]  = 1;
        high.bytes[i] = 0x80;
        assert_true(pawl_uuid_is_zero(zero));
        assert_false(pawl_uuid_is_zero(one));
        assert_true(pawl_uuid_compare(zero, one) < 0);
        assert_true(pawl_uuid_compare(high, one) > 0);
        assert_int_equal(pawl_uuid_compare(one, one), 0);
    }
}

static void expect_version(pawl_uuid id, unsigned version)
{
    assert_int_equal(id.bytes[6] >> 4, version);
    assert_int_equal(id.bytes[8] >> 6, 2);
}

/* All bits but those of the version and the variant are the caller's. */
TEST(v4_keeps_the_random_bits)
{
    for (int fill = 0; fill < 256; fill += 255) {
        uint8_t random[16];
        memset(random, fill, sizeof random);
        pawl_uuid id = pawl_uuid_v4(random);
        expect_version(id, 4);
        for (size_t i = 0; i < 16; i++)
            if (i != 6 && i != 8)
                assert_int_equal(id.bytes[i], fill);
        assert_int_equal(id.bytes[6] & 0x0F, fill & 0x0F);
        assert_int_equal(id.bytes[8] & 0x3F, fill & 0x3F);
    }
}

/* The example of RFC 9562, A.4, and names of every size up to some blocks of SHA-1, each in the last one's space. */
TEST(v5_is_that_of_the_rfc)
{
    pawl_uuid dns;
    char      name[200], text[PAWL_UUID_TEXT_SIZE + 1];
    must(pawl_uuid_parse(PAWL_TEXT("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), &dns, world_error()));
    pawl_uuid_format(pawl_uuid_v5(dns, "www.example.com", 15), text);
    assert_string_equal(text, "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    memset(name, 'x', sizeof name);
    for (size_t size = 0; size <= sizeof name; size++)
        dns = pawl_uuid_v5(dns, name, size);
    pawl_uuid_format(dns, text);
    assert_string_equal(text, "2be6a561-34c9-501f-a6d9-48bf3bd021da"); /* Python's uuid.uuid5 */
}

static int64_t milliseconds_of(pawl_uuid id)
{
    int64_t value = 0;
    for (size_t i = 0; i < 6; i++)
        value = value << 8 | id.bytes[i];
    return value;
}

/* In order within a moment, over moments, and when the clock goes back. */
TEST(v7_ids_are_in_the_order_they_were_made)
{
    pawl_random random;
    pawl_random_seed(&random, 1);
    pawl_uuid last = pawl_uuid_v7(&random, NOW);
    expect_version(last, 7);
    assert_int_equal(milliseconds_of(last), NOW / 1000);
    for (int i = 0; i < 10000; i++) {
        pawl_time now  = NOW + (i % 3 == 0 ? i * 100 : -i);
        pawl_uuid next = pawl_uuid_v7(&random, now);
        expect_version(next, 7);
        assert_true(pawl_uuid_compare(last, next) < 0);
        last = next;
    }
    pawl_random_seed(&random, 1); /* a time before 1970 is its beginning */
    assert_int_equal(milliseconds_of(pawl_uuid_v7(&random, -5000)), 0);
    pawl_random_seed(&random, 1);
    assert_int_equal(milliseconds_of(pawl_uuid_v7(&random, PAWL_TIME_MAX)), PAWL_TIME_MAX / 1000);
}

/* xoshiro256** from splitmix64, as their authors published them. */
TEST(random_numbers_are_repeatable)
{
    static const uint64_t first[] = {UINT64_C(0x99ec5f36cb75f2b4), UINT64_C(0xbf6e1f784956452a),
                                     UINT64_C(0x1a5f849d4933e6e0)};
    pawl_random           random;
    pawl_random_seed(&random, 0);
    for (size_t i = 0; i < COUNT(first); i++)
        assert_true(pawl_random_next(&random) == first[i]);
    random.last_v7 = 5;
    pawl_random_seed(&random, 0);
    assert_int_equal(random.last_v7, 0);
    assert_true(pawl_random_next(&random) == first[0]);
}

TEST(random_numbers_are_below_their_limit)
{
    pawl_random random;
    unsigned    seen[3] = {0};
    pawl_random_seed(&random, 9);
    for (int i = 0; i < 3000; i++)
        seen[pawl_random_below(&random, 3)]++;
    for (size_t i = 0; i < COUNT(seen); i++)
        assert_in_range(seen[i], 850, 1150);
    uint64_t half = UINT64_C(1) << 63;
    int      low  = 0; /* of a limit that 2^64 is no multiple of: not drawn twice as often */
    for (int i = 0; i < 3000; i++)
        low += pawl_random_below(&random, half + half / 2) < half / 2;
    assert_in_range(low, 850, 1150);
    assert_int_equal(pawl_random_below(&random, 0), 0);
    assert_int_equal(pawl_random_below(&random, 1), 0);
}

/* ---- Times -------------------------------------------------------------- */

TEST(times_are_read)
{
    static const struct {
        const char *text;
        const char *is; /* as it is written */
    } cases[] = {
        {"2026-01-31T23:59:59.123456Z", "2026-01-31T23:59:59.123456Z"},
        {"2026-01-31t23:59:59z", "2026-01-31T23:59:59.000000Z"},
        {"2026-01-31 23:59", "2026-01-31T23:59:00.000000Z"},
        {"2026-01-31T23:59:59,5", "2026-01-31T23:59:59.500000Z"},
        {"2026-01-31T23:59:59.1234567899", "2026-01-31T23:59:59.123456Z"},
        {"2026-01-31T23:59:59.000001Z", "2026-01-31T23:59:59.000001Z"},
        {"2026-01-31T23:59:60Z", "2026-02-01T00:00:00.000000Z"},
        {"2026-01-31T23:59:59+02:00", "2026-01-31T21:59:59.000000Z"},
        {"2026-01-31T23:59:59+0230", "2026-01-31T21:29:59.000000Z"},
        {"2026-01-31T23:59:59-02", "2026-02-01T01:59:59.000000Z"},
        {"2026-01-31T23:59:59-23:59", "2026-02-01T23:58:59.000000Z"},
        {"2024-02-29T00:00Z", "2024-02-29T00:00:00.000000Z"},
        {"2000-02-29T00:00Z", "2000-02-29T00:00:00.000000Z"},
        {"1999-12-31T00:00Z", "1999-12-31T00:00:00.000000Z"},
        {"1900-03-01T00:00Z", "1900-03-01T00:00:00.000000Z"},
        {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"},
        {"9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char      text[PAWL_TIME_TEXT_SIZE + 1];
        pawl_time time;
        must(pawl_time_parse(pawl_text_of(cases[i].text), &time, world_error()));
        pawl_time_format(time, text);
        assert_string_equal(text, cases[i].is);
    }
}

TEST(what_is_no_time_is_refused)
{
    static const struct {
        const char *text, *expected; /* NULL: out of the years */
    } cases[] = {
        {"", "a year of four digits"},
        {"0000-01-01T00:00", "a year of four digits"},
        {"203-01-01T00:00", "a year of four digits"},
        {"2026/01-01T00:00", "'-' after the year"},
        {"2026-00-01T00:00", "a month from 01 to 12"},
        {"2026-13-01T00:00", "a month from 01 to 12"},
        {"2026-1-01T00:00", "a month from 01 to 12"},
        {"2026-01:01T00:00", "'-' after the month"},
        {"2026-01-00T00:00", "a day of the month"},
        {"2026-01-32T00:00", "a day of the month"},
        {"2026-04-31T00:00", "a day of the month"},
        {"2026-06-31T00:00", "a day of the month"},
        {"2026-09-31T00:00", "a day of the month"},
        {"2026-11-31T00:00", "a day of the month"},
        {"2026-02-29T00:00", "a day of the month"},
        {"2024-02-30T00:00", "a day of the month"},
        {"1900-02-29T00:00", "a day of the month"},
        {"2026-01-01_00:00", "'T' or a blank after the date"},
        {"2026-01-01T24:00", "hours from 00 to 23"},
        {"2026-01-01T00.00", "':' after the hours"},
        {"2026-01-01T00:60", "minutes from 00 to 59"},
        {"2026-01-01T00:00:61", "seconds from 00 to 60"},
        {"2026-01-01T00:00:0", "seconds from 00 to 60"},
        {"2026-01-01T00:00:00.Z", "digits of a fraction"},
        {"2026-01-01T00:00:00x", "a zone: Z or an offset such as +02:00"},
        {"2026-01-01T00:00:00+24", "hours of the zone"},
        {"2026-01-01T00:00:00+", "hours of the zone"},
        {"2026-01-01T00:00:00+02:60", "minutes of the zone"},
        {"2026-01-01T00:00:00+02:", "minutes of the zone"},
        {"2026-01-01T00:00:00Z ", "nothing after the zone"},
        {"2026-01-01T00:00:00+02:00x", "nothing after the zone"},
        {"0001-01-01T00:00+00:01", NULL},
        {"9999-12-31T23:59-00:01", NULL},
        {"9999-12-31T23:59:60", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char       said[200];
        pawl_time  time  = 7;
        pawl_error error = PAWL_ERROR_INIT;
        assert_int_equal(pawl_time_parse(pawl_text_of(cases[i].text), &time, &error), PAWL_EINVAL);
        if (cases[i].expected != NULL)
            snprintf(said, sizeof said, "'%s' is not a time: expected %s", cases[i].text,
                     cases[i].expected);
        else
            snprintf(said, sizeof said, "'%s' is outside the years 0001 to 9999 in UTC",
                     cases[i].text);
        assert_string_equal(error.text, said);
        assert_int_equal(time, 7);
    }
}

/* Each day of 800 years and the days before 1970: written, read, one day behind the last. */
TEST(every_day_has_a_date)
{
    char      text[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time end = INT64_C(86400000000) * 365 * 430;
    for (pawl_time day = -end; day < end; day += INT64_C(86400000000)) {
        pawl_time back;
        pawl_time_format(day + 1, text);
        assert_int_equal(pawl_time_parse(pawl_text_of(text), &back, NULL), PAWL_OK);
        assert_int_equal(back, day + 1);
    }
}

TEST(times_stay_within_the_years)
{
    static const struct {
        pawl_time time;
        int64_t   duration;
        pawl_time sum;
    } cases[] = {
        {NOW, 0, NOW},
        {NOW, 5, NOW + 5},
        {NOW, -5, NOW - 5},
        {PAWL_TIME_MAX - 1, 1, PAWL_TIME_MAX},
        {PAWL_TIME_MAX - 1, 2, PAWL_TIME_MAX},
        {PAWL_TIME_MAX, INT64_MAX, PAWL_TIME_MAX},
        {PAWL_TIME_MIN + 1, -1, PAWL_TIME_MIN},
        {PAWL_TIME_MIN + 1, -2, PAWL_TIME_MIN},
        {PAWL_TIME_MIN, INT64_MIN, PAWL_TIME_MIN},
        {PAWL_TIME_MIN, INT64_MAX, PAWL_TIME_MAX},
        {PAWL_TIME_MAX, INT64_MIN, PAWL_TIME_MIN},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(pawl_time_add(cases[i].time, cases[i].duration), cases[i].sum);
}

/* ---- Codes and errors --------------------------------------------------- */

TEST(every_code_has_a_name)
{
#define IS(symbol, number, retry_class, exit_code, sentence)                    \
    assert_string_equal(pawl_code_name((pawl_code)(number)), #symbol);          \
    assert_string_equal(pawl_code_text(PAWL_##symbol), sentence);               \
    assert_int_equal(pawl_code_retry(PAWL_##symbol), PAWL_RETRY_##retry_class); \
    assert_int_equal(pawl_code_exit(PAWL_##symbol), exit_code);                 \
    assert_string_equal(pawl_code_name((pawl_code)pawl_code_retry(PAWL_##symbol)), "?");
    PAWL_CODES(IS)
#undef IS
    assert_string_equal(pawl_code_name((pawl_code)999), "?");
    assert_string_equal(pawl_code_text((pawl_code)999), "unknown code");
    assert_int_equal(pawl_code_retry((pawl_code)999), PAWL_RETRY_NEVER);
    assert_int_equal(pawl_code_exit((pawl_code)999), 70);
}

/* A text of so many bytes, all 'x', or 'é' two bytes each. */
static const char *words(size_t size, bool is_wide)
{
    static char text[1000];
    for (size_t i = 0; i < size; i++)
        text[i] = is_wide ? "\xC3\xA9"[i % 2] : 'x';
    text[size] = '\0';
    return text;
}

TEST(a_long_error_is_cut_between_characters)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_error_set(&error, PAWL_EBUSY, "%s", words(499, false)), PAWL_EBUSY);
    assert_int_equal(error.code, PAWL_EBUSY);
    assert_string_equal(error.text, words(499, false));
    for (size_t before = 0; before < 2; before++) {
        pawl_error_set(&error, PAWL_EBUSY, "%s%s", before == 0 ? "" : "a", words(600, true));
        size_t size = strlen(error.text);
        assert_int_equal(size, 499 - before); /* 496 or 495 bytes, and the dots */
        assert_string_equal(error.text + size - 3, "...");
        assert_true(pawl_text_is_valid(pawl_text_of(error.text), NULL));
    }
    assert_int_equal(pawl_error_set(NULL, PAWL_EGONE, "x"), PAWL_EGONE);
}

TEST(an_error_is_wrapped)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_error_set(&error, PAWL_EBUSY, "database is locked");
    assert_int_equal(pawl_error_wrap(&error, PAWL_ELOST, "commit %d", 17), PAWL_ELOST);
    assert_string_equal(error.text, "commit 17: database is locked");
    assert_int_equal(error.code, PAWL_ELOST);
    error = (pawl_error)PAWL_ERROR_INIT; /* nothing is there: the code's own sentence */
    pawl_error_wrap(&error, PAWL_ENOTFOUND, "row 5");
    assert_string_equal(error.text, "row 5: not found");
    assert_int_equal(pawl_error_wrap(NULL, PAWL_EGONE, "x"), PAWL_EGONE);
    for (size_t size = 490; size < 500; size++) { /* a longer text is cut */
        pawl_error_set(&error, PAWL_EBUSY, "%s", words(size, true));
        pawl_error_wrap(&error, PAWL_EBUSY, "abc");
        assert_true(strlen(error.text) >= 495 && strlen(error.text) < sizeof error.text);
        assert_memory_equal(error.text, "abc: \xC3\xA9", 7);
        if (size + 5 >= sizeof error.text)
            assert_string_equal(error.text + strlen(error.text) - 3, "...");
    }
}

/* ---- Arenas ------------------------------------------------------------- */

TEST(what_an_arena_gives_is_aligned_and_zeroed)
{
    pawl_arena *arena = test_arena();
    for (int round = 0; round < 3; round++) {
        char  *taken[100];
        size_t sizes[100];
        for (size_t i = 0; i < COUNT(taken); i++) {
            sizes[i] = i * 7 % 400;
            taken[i] = pawl_arena_take(arena, sizes[i]);
            assert_non_null(taken[i]);
            assert_int_equal((uintptr_t)taken[i] % alignof(max_align_t), 0);
            for (size_t j = 0; j < sizes[i]; j++)
                assert_int_equal(taken[i][j], 0);
            memset(taken[i], (int)i + 1, sizes[i]);
        }
        for (size_t i = 0; i < COUNT(taken); i++) /* and nobody else's */
            for (size_t j = 0; j < sizes[i]; j++)
                assert_int_equal((unsigned char)taken[i][j], i + 1);
        pawl_arena_reset(arena);
    }
    assert_null(pawl_arena_take(arena, SIZE_MAX));
    pawl_arena_destroy(NULL);
}

TEST(an_arena_copies)
{
    pawl_arena *arena  = test_arena();
    char        text[] = "abcd";
    pawl_text   copy   = pawl_arena_text(arena, (pawl_text){.data = text, .size = 3});
    char       *bytes  = pawl_arena_copy(arena, text, 4);
    pawl_text   made   = pawl_arena_printf(arena, "%s-%d", text, 7);
    memset(text, 'x', 4);
    assert_string_equal(copy.data, "abc");
    assert_int_equal(copy.size, 3);
    assert_memory_equal(bytes, "abcd", 4);
    assert_string_equal(made.data, "abcd-7");
    assert_int_equal(made.size, 6);
    copy = pawl_arena_text(arena, (pawl_text){0});
    assert_string_equal(copy.data, "");
    assert_non_null(pawl_arena_copy(arena, NULL, 0));
}

/* A kept block that has no room for what is asked is left alone. */
TEST(a_small_block_takes_nothing_large)
{
    pawl_arena *arena = test_arena();
    for (int round = 0; round < 3; round++) {
        char *small[3], *large;
        for (int i = 0; i < 2; i++)
            small[i] = pawl_arena_copy(arena, words(64, false), 64);
        large    = pawl_arena_copy(arena, words(900, true), 900);
        small[2] = pawl_arena_copy(arena, words(64, false), 64);
        assert_memory_equal(large, words(900, true), 900);
        for (int i = 0; i < 3; i++)
            assert_memory_equal(small[i], words(64, false), 64);
        pawl_arena_reset(arena);
        memset(pawl_arena_take(arena, 64), 'y', 64); /* its second block has room for 64 */
        large = pawl_arena_copy(arena, words(900, true), 900);
        assert_memory_equal(large, words(900, true), 900);
        pawl_arena_reset(arena);
    }
}

/* Memory taken before the point stays, memory taken since is given again. */
TEST(an_arena_goes_back_to_a_point)
{
    pawl_arena *arena = test_arena();
    pawl_text   kept  = pawl_arena_text(arena, PAWL_TEXT("kept"));
    for (int round = 0; round < 50; round++) {
        pawl_arena_point point = pawl_arena_position(arena);
        char            *first = pawl_arena_take(arena, 16);
        for (int i = 0; i < 20; i++)
            memset(pawl_arena_take(arena, 100), 'x', 100);
        pawl_arena_rewind(arena, point);
        char *again = pawl_arena_take(arena, 16);
        assert_ptr_equal(first, again);
        assert_int_equal(again[0], 0);
        pawl_arena_rewind(arena, point);
    }
    assert_string_equal(kept.data, "kept");
}

TEST(an_array_grows_and_keeps_its_items)
{
    pawl_arena *arena    = test_arena();
    size_t      capacity = 0;
    int        *items    = NULL;
    for (size_t count = 0; count < 1000; count++) {
        int *grown = pawl_arena_grow(arena, items, count, &capacity, sizeof *items);
        assert_non_null(grown);
        assert_true(count < capacity);
        assert_true(count == 0 || count != capacity / 2 || grown != items || capacity == 8);
        items        = grown;
        items[count] = (int)count;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_int_equal(capacity, 1024);
    capacity = SIZE_MAX / 8;
    assert_null(pawl_arena_grow(arena, items, capacity, &capacity, sizeof *items));
    assert_int_equal(capacity, SIZE_MAX / 8);
    capacity = SIZE_MAX / 4 + 1; /* the size of twice as many is no number */
    assert_null(pawl_arena_grow(arena, items, capacity, &capacity, 2));
}

/* A reset keeps the blocks of a usual batch, and gives back those of a large one. */
TEST(a_reset_keeps_four_megabytes_at_most)
{
    const size_t block = 1024 * 1024;
    long         live  = fault_memory_live();
    pawl_arena  *arena = pawl_arena_create(block);
    for (int i = 0; i < 10; i++)
        assert_non_null(pawl_arena_take(arena, block));
    assert_int_equal(fault_memory_live() - live, 11); /* the arena and its blocks */
    pawl_arena_reset(arena);
    assert_int_equal(fault_memory_live() - live, 5);
    for (int i = 0; i < 4; i++)
        assert_non_null(pawl_arena_take(arena, block));
    assert_int_equal(fault_memory_live() - live, 5); /* taken from what was kept */
    pawl_arena_destroy(arena);
    assert_int_equal(fault_memory_live(), live);
}

/* A hundred endpoints have a thousand arenas of which most are never used. */
TEST(an_arena_has_no_block_before_the_first_take)
{
    long             live  = fault_memory_live();
    pawl_arena      *arena = pawl_arena_create(0), *other = pawl_arena_create(0);
    pawl_arena_point begin = pawl_arena_position(arena);
    pawl_arena_reset(arena);
    pawl_arena_rewind(arena, begin);
    assert_int_equal(fault_memory_live() - live, 2);
    void *first = pawl_arena_take(arena, 100);
    assert_non_null(first);
    pawl_arena_rewind(arena, begin);
    assert_ptr_equal(pawl_arena_take(arena, 100), first);
    assert_int_equal(fault_memory_live() - live, 3);
    assert_non_null(pawl_arena_take(other, 100));
    assert_int_equal(fault_memory_live() - live, 4);
    pawl_arena_destroy(arena);
    pawl_arena_destroy(other);
}

TEST(an_arena_without_memory_says_so)
{
    fault_memory_begin(1);
    assert_null(pawl_arena_create(0));
    fault_memory_pause();
    fault_memory_set(0);
    pawl_arena *arena    = pawl_arena_create(64);
    size_t      capacity = 0;
    int         item     = 5;
    for (int call = 0; call < 5; call++) {
        const void *data = &item;
        fault_memory_begin(1);
        switch (call) {
        case 0: data = pawl_arena_take(arena, 100); break;
        case 1: data = pawl_arena_copy(arena, words(100, false), 100); break;
        case 2: data = pawl_arena_text(arena, pawl_text_of(words(100, false))).data; break;
        case 3: data = pawl_arena_printf(arena, "%s", words(100, false)).data; break;
        default: data = pawl_arena_grow(arena, NULL, 0, &capacity, 100); break;
        }
        fault_memory_pause();
        assert_null(data);
    }
    assert_int_equal(capacity, 0);
    fault_memory_set(0);
    assert_non_null(pawl_arena_take(arena, 100)); /* the arena can be used again */
    pawl_arena_destroy(arena);
}

void (*const tests_first)(void) = fault_memory_install;
