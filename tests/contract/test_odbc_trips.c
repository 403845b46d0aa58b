/* test_odbc_trips.c - what costs a driver a trip, or its server a parse, behind a scripted driver: parameters that are
 * bound anew.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#ifdef PAWL_HAVE_ODBC
#include "contract/odbc_scripted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEADLINE_MS 20000
#define SET 32 /* rows that are written at once */
#define APPLIED "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* ---- Parameters ------------------------------------------------------------ */

static pawl_text fill(scripted *p, size_t size, char letter)
{
    char *text = pawl_arena_take(p->arena, size + 1);
    assert_non_null(text);
    memset(text, letter, size);
    return (pawl_text){.data = text, .size = size};
}

static pawl_code send(scripted *p, size_t count, size_t body_size, size_t headers_size, char letter)
{
    pawl_queue_send sends[SET];
    pawl_changes    changes = {.now = SCRIPTED_NOW, .group_count = 1, .unit_count = 1};
    for (size_t i = 0; i < count; i++)
        sends[i] = (pawl_queue_send){.queue   = PAWL_TEXT("orders"),
                                     .due     = SCRIPTED_NOW + (int64_t)body_size * 1000,
                                     .message = {.id      = pawl_arena_printf(p->arena, "m-%zu", i),
                                                 .type    = PAWL_TEXT("t"),
                                                 .headers = fill(p, headers_size, letter),
                                                 .body    = fill(p, body_size, letter)}};
    changes.queue_send.items = sends;
    changes.queue_send.count = count;
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

/* A message of those sizes, and whether its insert had parameters bound before it. */
typedef struct sent {
    size_t body_size;
    size_t headers_size; /* in UTF-16 twice as many bytes */
    bool   is_bound;
} sent;

static void send_all(scripted *p, const sent *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char pattern[200], letter = (char)('a' + i);
        scripted_mark(p);
        scripted_code(p, send(p, 1, all[i].body_size, all[i].headers_size, letter), PAWL_OK);
        snprintf(pattern, sizeof pattern, "1 run insert into *'m-0' 't' '' '' '%c%c*' '%c%c*",
                 letter, letter, letter, letter);
        if (scripted_count(p, pattern) != 1)
            fail_msg("message %zu did not come as it is:\n%s", i, scripted_calls(p));
        if (scripted_bound(p, "insert into *") != all[i].is_bound)
            fail_msg("message %zu was %sbound anew:\n%s", i, all[i].is_bound ? "not " : "",
                     scripted_calls(p));
    }
}

/* FreeTDS makes a trip of its own for a statement whose parameters were bound anew. A place of 64 bytes doubles; a text
 * of more than 4,000 units is of another type, and its parameter stays of it; one over 64 KB has no place. */
static void parameters_are_bound_once(void **state)
{
    static const sent all[] = {
        {2, 2, true},     {64, 32, false},  {3, 9, false},     {65, 2, true},     {128, 32, false},
        {2, 33, true},    {2, 64, false},   {2, 4000, true},   {2, 3000, false},  {2, 4001, true},
        {2, 2, false},    {2, 4096, false}, {65536, 2, true},  {65535, 2, false}, {65537, 2, true},
        {65537, 2, true}, {2, 2, true},     {65536, 2, false},
    };
    scripted *p = *state;
    scripted_open(p, "", DEADLINE_MS);
    send_all(p, all, sizeof all / sizeof all[0]);
    scripted_mark(p);
    scripted_code(p, send(p, 1, 2, 2, 'z'), PAWL_OK);
    assert_int_equal(scripted_bound(p, "*"), 0); /* nor is the fence */
}

static void a_set_is_bound_once(void **state)
{
    scripted *p = *state;
    scripted_open(p, "on set nocount on; declare @f*\n row '" APPLIED "'\n", DEADLINE_MS);
    for (char i = 0; i < 3; i++)
        scripted_code(p, send(p, SET, 2, 2, (char)('a' + i)), PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run set nocount on; declare @f*'cc'*'cc'*"), 1);
    assert_int_equal(scripted_bound(p, "set nocount on; declare @f*"), 1);
    scripted_code(p, send(p, SET, 65, 2, 'd'), PAWL_OK);
    assert_int_equal(scripted_bound(p, "set nocount on; declare @f*"), 2);
}

/* The statements of a connection are bound anew with it. */
static void a_new_connection_has_nothing_bound(void **state)
{
    scripted *p = *state;
    scripted_open(p,
                  "on insert into *pawl_queue]*\n times 1\n count 1\n"
                  "on insert into *pawl_queue]*\n times 1\n error\n gone\n",
                  DEADLINE_MS);
    scripted_code(p, send(p, 1, 2, 2, 'a'), PAWL_OK);
    scripted_code(p, send(p, 1, 2, 2, 'b'), PAWL_ELOST);
    scripted_mark(p);
    scripted_code(p, send(p, 1, 2, 2, 'c'), PAWL_OK);
    assert_int_equal(scripted_bound(p, "insert into *pawl_queue]*"), 1);
    assert_int_equal(scripted_count(p, "2 run insert into *pawl_queue]*'cc' 'cc'"), 1);
}

#define SCRIPTED(test, dialect)                                                          \
    {                                                                                    \
#test " (" dialect ")", test, scripted_setup, scripted_teardown, (void *)dialect \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPTED(parameters_are_bound_once, "mssql"),
        SCRIPTED(a_set_is_bound_once, "mssql"),
        SCRIPTED(a_new_connection_has_nothing_bound, "mssql"),
    };
    return cmocka_run_group_tests_name("odbc_trips", tests, NULL, NULL);
}
#else
int main(void)
{
    puts("skipped: built without unixODBC");
    return 77;
}
#endif
