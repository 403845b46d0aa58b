/* tests.h - defines tests that run once, or on several stores:
 *
 *     TEST(a_cent_is_not_lost)
 *     {
 *         ...
 *     }
 *
 *     ON_ALL_STORES(it_is_saved, const char *url)
 *     {
 *         ...
 *     }
 *
 * tests/main.c runs the tests of a program in the order of their lines, unless the program has its own main, which
 * calls tests_run. A program without tests is skipped, as the build lacks the library that it tests. If the program
 * defines `tests_missing`, that is called first: it returns 0, or the exit code that ends the program, such as 77 to
 * skip it. `tests_first` is called next. Then the drivers of the table `tests_drivers`, which ends with NULL, are
 * registered.
 *
 * The headers of the C library that most tests need are included here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_TESTS_H
#define PAWL_TESTS_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* after the headers that it needs */
#include <cmocka.h>

#include "pawl/types.h"

typedef void test_fn(void);

/* For calls that must succeed: must(pawl_store_stats(..., world_error())). The error is cleared, and belongs to the
 * thread. */
pawl_error *world_error(void);
void        must(pawl_code code);

/* For calls that must fail: with this code and error text, or one that has this part. */
void must_fail(pawl_code code, pawl_code expected, const char *text);
void must_fail_with(pawl_code code, pawl_code expected, const char *part);

bool text_is(pawl_text text, const char *what);

/* Calls `done(it)` when the test (TEST, ON_STORE or ON_FIXTURE) ends: in reverse order, before its worlds are closed.
 * Not called if the test fails. */
typedef void test_done_fn(void *it);
void         test_later(test_done_fn *done, void *it);
/* Calls now what test_later registered for `it`; does nothing for NULL. */
void test_now(void *it);
/* An arena, and a store that is closed, when the test ends. */
pawl_arena        *test_arena(void);
struct pawl_store *test_store(struct pawl_store *store);
struct pawl_store *test_open(const char *url);
/* Statistics of the whole store at the end of time; texts are in the arena, which is reset first. */
struct pawl_stats test_stats(struct pawl_store *store, pawl_arena *arena);
/* Sends a message and commits: test_send(sender, "desk", NULL, PAWL_MESSAGE(note, .number = 1)). */
struct pawl_sender;
struct pawl_send_options;
struct pawl_record;
void test_send(struct pawl_sender *sender, const char *to, const struct pawl_send_options *options,
               const struct pawl_record *record, const void *message);
/* Zeroed memory that is freed when the test ends. */
void *test_zeroed(size_t size);
/* Formats a text as printf does, in any thread; valid until the test ends. */
const char *test_text(const char *format, ...) PAWL_PRINTF(1, 2);
/* A test kit that ends with the test. */
struct pawl_application;
struct pawl_test_options;
struct pawl_test *test_kit(const struct pawl_application  *application,
                           const struct pawl_test_options *options);
/* Recorded lines: all, or those that contain `part`. */
typedef struct test_lines {
    const char *part;
    int         count;
    char        last[2001];
    char        text[8000]; /* as many as fit, each with a line feed */
} test_lines;

/* Clears `lines`, and records log lines of this level and worse there; `part` NULL: all. */
void test_listen(test_lines *lines, pawl_log_level level, const char *part);
/* Records a line, for calls with a pawl_line_fn; the context points to a test_lines. */
void test_line(pawl_text line, void *context);
/* The module of a driver, and its functions and tables that only test builds export. */
void *test_module(const char *driver);
void *test_symbol(void *module, const char *name);
/* For test runners. */
void test_begin(void);
void test_end(void);

/* For cmocka: the state points to a test_fn *. */
void test_run(void **state);

/* Adds the rows of one test to the program's table. */
void tests_add(int line, const struct CMUnitTest *rows, size_t count);
/* Runs the table between a setup and a teardown, which may be NULL; returns the program's exit code. */
int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Begins the definition of a test that has these cmocka rows. */
#define TESTS(function, parameter, ...)                                            \
    static void                              function(parameter);                  \
    static const struct CMUnitTest           rows_of_##function[] = {__VA_ARGS__}; \
    __attribute__((constructor)) static void add_##function(void)                  \
    {                                                                              \
        tests_add(__LINE__, rows_of_##function, COUNT(rows_of_##function));        \
    }                                                                              \
    static void function(parameter)

/* A row for a test whose setup and teardown do not use the state. */
#define TEST_ROW(function, setup, teardown)                \
    {                                                      \
#function, test_run, setup, teardown, &(test_fn *) \
        {                                                  \
            function                                       \
        }                                                  \
    }
/* A test without a fixture. */
#define TEST(function) TESTS(function, void, TEST_ROW(function, NULL, NULL))
#define TEST_BETWEEN(function, setup, teardown) \
    TESTS(function, void, TEST_ROW(function, setup, teardown))
/* A test that gets the state which the program's setup, shared by all tests, has made. */
#define STATE_TEST(function, parameter) TESTS(function, parameter, cmocka_unit_test(function))

/* Number of items in an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Initialiser of an application with these endpoints: "name", &one, &two. */
#define APPLICATION(name_, ...)                                                        \
    {                                                                                  \
        PAWL_APPLICATION_HEAD, .name = name_, .endpoints = PAWL_ENDPOINTS(__VA_ARGS__) \
    }

/* The same of an application with one endpoint: ONE_ENDPOINT("shop", .name = "desk", .sagas = ...). */
#define ONE_ENDPOINT(name_, ...) APPLICATION(name_, &(const pawl_endpoint_spec){__VA_ARGS__})

/* Fields of a record with one number: PAWL_RECORD(note, A_NUMBER). */
#define A_NUMBER(F) F(INT32, number)
#define A_NAME(F) F(TEXT, name)

/* A record that shares its list of fields with no other: RECORD(place, (TEXT, order), (INT32, number)); or, with what
 * PAWL_RECORD_WITH takes: RECORD_WITH(place, ((TEXT, order), (INT32, number)), .version = 2); */
#define RECORD(name_, ...) RECORD_WITH(name_, (__VA_ARGS__), .reserved = 0)
#define RECORD_WITH(name_, fields_, ...)                               \
    PAWL__RECORD(name_, TEST__FIELDS(PAWL__MEMBER, TEST__ALL fields_), \
                 TEST__FIELDS(PAWL__FIELD, TEST__ALL fields_), __VA_ARGS__)
#define TEST__ALL(...) __VA_ARGS__
#define TEST__FIELDS(...) TEST__FIELDS_(__VA_ARGS__)
#define TEST__FIELDS_(F, ...)                                                                   \
    TEST__SEVENTH(__VA_ARGS__, TEST__7, TEST__6, TEST__5, TEST__4, TEST__3, TEST__2, TEST__1, ) \
    (F, __VA_ARGS__)
#define TEST__SEVENTH(a, b, c, d, e, f, g, each, ...) each
#define TEST__1(F, field) F field
#define TEST__2(F, field, ...) F field TEST__1(F, __VA_ARGS__)
#define TEST__3(F, field, ...) F field TEST__2(F, __VA_ARGS__)
#define TEST__4(F, field, ...) F field TEST__3(F, __VA_ARGS__)
#define TEST__5(F, field, ...) F field TEST__4(F, __VA_ARGS__)
#define TEST__6(F, field, ...) F field TEST__5(F, __VA_ARGS__)
#define TEST__7(F, field, ...) F field TEST__6(F, __VA_ARGS__)

/* Handlers that succeed without doing anything, and their rows' adapters. */
#define IDLE_HANDLER(function, state_, message_)                                         \
    static pawl_code function(pawl_context *ctx, state_ *state, const message_ *message) \
    {                                                                                    \
        return PAWL_OK;                                                                  \
    }                                                                                    \
    PAWL_HANDLER(function, state_, message_)
#define IDLE_MESSAGE_HANDLER(function, message_)                          \
    static pawl_code function(pawl_context *ctx, const message_ *message) \
    {                                                                     \
        return PAWL_OK;                                                   \
    }                                                                     \
    PAWL_MESSAGE_HANDLER(function, message_)
#define IDLE_TIMEOUT_HANDLER(function, state_)                  \
    static pawl_code function(pawl_context *ctx, state_ *state) \
    {                                                           \
        return PAWL_OK;                                         \
    }                                                           \
    PAWL_TIMEOUT_HANDLER(function, state_)

/* Initialiser of a saga: "name", its state, "its correlation property", and the rows of `on`. */
#define SAGA_OF(name_, state_, correlation_, ...)                                    \
    {                                                                                \
        .name = name_, .state = PAWL_RECORD_OF(state_), .correlation = correlation_, \
        .on = PAWL_ON(__VA_ARGS__)                                                   \
    }

/* Members of a pawl_changes with one unit. */
#define ONE_UNIT .group_count = 1, .unit_count = 1
/* A set with one change of the kind; its members follow. */
#define ONE_CHANGE(kind, now_, ...) \
    (&(pawl_changes){ONE_UNIT, .now = (now_), .kind = {&(pawl_##kind){__VA_ARGS__}, 1}})
/* Commits one change, which must succeed. */
#define MUST_COMMIT(store, kind, now, ...) \
    must(pawl_store_commit(store, ONE_CHANGE(kind, now, __VA_ARGS__), NULL, world_error()))

/* A row for a test on a fixture of its own. fixture_run, fixture_setup and fixture_teardown come from the header of the
 * store (tests/contract). */
#define FIXTURE_ROW(function, setup, teardown)                   \
    {                                                            \
#function, fixture_run, setup, teardown, &(fixture_fn *) \
        {                                                        \
            function                                             \
        }                                                        \
    }
#define FIXTURE_TEST(function, parameter, setup) \
    TESTS(function, parameter, FIXTURE_ROW(function, setup, fixture_teardown))
#define ON_FIXTURE(function, parameter) FIXTURE_TEST(function, parameter, fixture_setup)

#endif
