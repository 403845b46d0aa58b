/* test_engine_recent.c - the bounded set of dispatch ids. O17, O18.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "support/world.h"

#include "engine/entry.h"

static int open_arena(void **state)
{
    *state = pawl_arena_create(0);
    return *state != NULL ? 0 : -1;
}

static int close_arena(void **state)
{
    pawl_arena_destroy(*state);
    return 0;
}

#define CASE(function)            \
    TESTS(function, void **state, \
          cmocka_unit_test_setup_teardown(function, open_arena, close_arena))

static pawl_uuid id_of(unsigned number)
{
    pawl_uuid id = {{0}};
    id.bytes[0]  = (uint8_t)(number >> 8);
    id.bytes[15] = (uint8_t)number;
    return id;
}

#define ONE "\"00000000-0000-0000-0000-000000000001\""
#define TWO "\"00000000-0000-0000-0000-000000000002\""

/* The time of the id that had to go; 0: none. */
static int64_t add(pawl__recent *recent, unsigned number, pawl_arena *arena)
{
    pawl__recent_item gone = {.at = -1};
    assert_int_equal(pawl__recent_add(recent, id_of(number), number, arena, &gone), PAWL_OK);
    return gone.at;
}

static void assert_holds(const pawl__recent *recent, unsigned first, unsigned last)
{
    assert_int_equal(recent->count, last - first + 1);
    for (unsigned i = 0; i < last + 10; i++)
        assert_int_equal(pawl__recent_has(recent, id_of(i)), i >= first && i <= last);
}

CASE(the_oldest_goes_first)
{
    pawl_arena  *arena  = *state;
    pawl__recent recent = {.bound = 40};
    assert_false(pawl__recent_has(&recent, id_of(1)));
    for (unsigned i = 1; i <= 40; i++)
        assert_int_equal(add(&recent, i, arena), 0);
    assert_holds(&recent, 1, 40);
    assert_int_equal(add(&recent, 1, arena), 0); /* is there: not used anew */
    for (unsigned i = 41; i <= 300; i++) {
        assert_int_equal(add(&recent, i, arena), i - 40);
        assert_holds(&recent, i - 39, i);
    }
}

CASE(a_bound_of_one_and_of_none)
{
    pawl_arena  *arena = *state;
    pawl__recent one = {.bound = 1}, none = {.bound = 0};
    assert_int_equal(add(&one, 1, arena), 0);
    assert_int_equal(add(&one, 1, arena), 0);
    assert_int_equal(add(&one, 2, arena), 1);
    assert_holds(&one, 2, 2);
    assert_int_equal(add(&none, 1, arena), 0);
    assert_false(pawl__recent_has(&none, id_of(1)));
    assert_int_equal(none.count, 0);
}

CASE(json_keeps_the_order)
{
    pawl_arena  *arena = *state;
    pawl__recent full = {.bound = 20}, again = {.bound = 20}, fewer = {.bound = 5};
    for (unsigned i = 1; i <= 33; i++)
        add(&full, i, arena); /* a ring by now */
    pawl_text json = pawl__recent_write(&full, arena);
    assert_non_null(json.data);
    assert_int_equal(json.data[json.size], '\0');
    assert_int_equal(pawl__recent_read(&again, json, arena), PAWL_OK);
    assert_holds(&again, 14, 33);
    assert_string_equal(pawl__recent_write(&again, arena).data, json.data);
    /* The next to go is the oldest still. */
    add(&again, 34, arena);
    assert_holds(&again, 15, 34);
    assert_int_equal(pawl__recent_read(&fewer, json, arena), PAWL_OK);
    assert_holds(&fewer, 29, 33);
}

/* By the second: when the oldest goes it must be known how old it is. */
CASE(json_keeps_the_times)
{
    pawl_arena       *arena = *state;
    pawl__recent      set = {.bound = 4}, read = {.bound = 4};
    pawl__recent_item gone;
    const pawl_time   times[] = {0, PAWL_SECONDS(7) + 1, PAWL_SECONDS(7) + 999999, PAWL_TIME_MAX};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pawl__recent_add(&set, id_of(i), times[i], arena, NULL), PAWL_OK);
    pawl_text json = pawl__recent_write(&set, arena);
    assert_string_equal(json.data, "[\"00000000-0000-0000-0000-000000000000\","
                                   "\"00000000-0000-0000-0000-000000000001\",7,"
                                   "\"00000000-0000-0000-0000-000000000002\","
                                   "\"00000000-0000-0000-0000-000000000003\",253402300799]");
    assert_int_equal(pawl__recent_read(&read, json, arena), PAWL_OK);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pawl__recent_add(&read, id_of(i + 4), 1, arena, &gone), PAWL_OK);
        assert_int_equal(gone.at, times[i] - times[i] % PAWL_SECONDS(1));
    }
    /* Before 1970, and times that go back. */
    assert_int_equal(pawl__recent_add(&set, id_of(9), PAWL_TIME_MIN, arena, NULL), PAWL_OK);
    pawl__recent_clear(&read);
    assert_int_equal(pawl__recent_read(&read, pawl__recent_write(&set, arena), arena), PAWL_OK);
    assert_int_equal(read.items[3].at, 0);
    pawl__recent_clear(&read);
    assert_int_equal(pawl__recent_read(&read, PAWL_TEXT("[ " ONE " , 5 , " TWO " ]"), arena),
                     PAWL_OK);
    assert_int_equal(read.items[1].at, PAWL_SECONDS(5));
}

CASE(what_is_cleared_is_empty)
{
    pawl_arena  *arena  = *state;
    pawl__recent recent = {.bound = 40};
    pawl__recent_clear(&recent);
    for (unsigned i = 1; i <= 60; i++)
        add(&recent, i, arena);
    pawl__recent_clear(&recent);
    assert_int_equal(recent.count, 0);
    for (unsigned i = 1; i <= 60; i++)
        assert_false(pawl__recent_has(&recent, id_of(i)));
    for (unsigned i = 50; i <= 60; i++)
        assert_int_equal(add(&recent, i, arena), 0);
    for (unsigned i = 1; i <= 60; i++)
        assert_int_equal(pawl__recent_has(&recent, id_of(i)), i >= 50);
}

CASE(small_sets_are_json_too)
{
    pawl_arena  *arena = *state;
    pawl__recent set = {.bound = 3}, read = {.bound = 3};
    assert_string_equal(pawl__recent_write(&set, arena).data, "[]");
    assert_int_equal(pawl__recent_read(&read, PAWL_TEXT("[]"), arena), PAWL_OK);
    assert_int_equal(read.count, 0);
    add(&set, 255, arena);
    assert_string_equal(pawl__recent_write(&set, arena).data,
                        "[\"00000000-0000-0000-0000-0000000000ff\"]");
    /* As a database that keeps JSON prints it. */
    assert_int_equal(pawl__recent_read(&read,
                                       PAWL_TEXT("[ \"00000000-0000-0000-0000-000000000001\" , "
                                                 "\"00000000-0000-0000-0000-000000000002\" ]"),
                                       arena),
                     PAWL_OK);
    assert_holds(&read, 1, 2);
}

/* Half a set would let a command run twice. */
CASE(damaged_json_is_refused)
{
    static const char *const damaged[] = {
        "",
        "[",
        "]",
        "{}",
        "null",
        "[1]",
        "[" ONE,
        "[" ONE ",]",
        "[," ONE "]",
        "[" ONE " " ONE "]",
        "[" ONE "]]",
        "[" ONE ",]",
        "[" ONE ",5",
        "[" ONE ",5,]",
        "[" ONE ",5,6]",
        "[" ONE ",-5]",
        "[" ONE ",5.5]",
        "[" ONE ",5" TWO "]",
        "[" ONE ",1234567890123]",
        ONE,
        "[\"00000000-0000-0000-0000-00000000000x\"]",
        "[\"00000000-0000-0000-0000-00000000001\"]",
        "[\"00000000-0000-0000-0000-000000000001]",
        "[\"",
    };
    for (size_t i = 0; i < COUNT(damaged); i++) {
        pawl__recent set = {.bound = 3};
        if (pawl__recent_read(&set, pawl_text_of(damaged[i]), *state) != PAWL_EDECODE)
            fail_msg("%s is taken", damaged[i]);
    }
}

TEST(every_allocation_fails_in_turn)
{
    bool was_reached = true;
    for (long n = 1; was_reached; n++) {
        pawl__recent set = {.bound = 2000}, read = {.bound = 2000};
        pawl_arena  *arena = pawl_arena_create(0);
        pawl_code    code  = PAWL_OK;
        pawl_text    json  = {0};
        fault_memory_begin(n);
        for (unsigned i = 1; i <= 2000 && code == PAWL_OK; i++)
            code = pawl__recent_add(&set, id_of(i), i, arena, NULL);
        if (code == PAWL_OK)
            json = pawl__recent_write(&set, arena);
        if (code == PAWL_OK)
            code = json.data != NULL ? pawl__recent_read(&read, json, arena) : PAWL_ENOMEM;
        was_reached = fault_memory_end();
        assert_int_equal(code, was_reached ? PAWL_ENOMEM : PAWL_OK);
        for (unsigned i = 1; i <= set.count; i++)
            assert_true(pawl__recent_has(&set, id_of(i)));
        pawl_arena_destroy(arena);
        assert_true(n < 100);
    }
}

void (*const tests_first)(void) = fault_memory_install;
