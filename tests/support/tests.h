/* tests.h - a test says where it is defined how it runs, once or on each of some stores:
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
 * tests/main.c runs the tests of a program, in the order of their lines, where it has no main of its own, which calls
 * tests_run. A program without a test is skipped: the build lacks the library that it is about. If the program defines
 * `tests_missing`, that is called first; it returns the exit code that ends the program, 77 to skip it, or 0. Stores of
 * the table `tests_drivers`, whose last item is NULL, are registered then.
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

/* After the headers that it needs. */
#include <cmocka.h>

#include "pawl/types.h"

typedef void test_fn(void);

/* For a call that has to succeed: must(pawl_store_stats(..., world_error())). The error is empty, and the thread's own. */
pawl_error *world_error(void);
void        must(pawl_code code);

bool text_is(pawl_text text, const char *what);

/* Calls `done(it)` when the test ends, a TEST, ON_STORE or ON_GROUND: the last one first, then its worlds end.
 * A test that failed leaves everything as it is. */
typedef void test_done_fn(void *it);
void         test_later(test_done_fn *done, void *it);
/* Calls now what was put off for `it`; nothing for NULL. */
void test_now(void *it);
/* An arena until the test ends; and a store that somebody opened, or that is opened, which is closed then. */
pawl_arena        *test_arena(void);
struct pawl_store *test_store(struct pawl_store *store);
struct pawl_store *test_open(const char *url);
/* Of the whole store, at the end of time; their texts are in the arena, which is emptied first. */
struct pawl_stats test_stats(struct pawl_store *store, pawl_arena *arena);
/* A text made as by printf, in any thread, until the test ends. */
const char *test_text(const char *format, ...) PAWL_PRINTF(1, 2);
/* A test kit until the test ends. */
struct pawl_application;
struct pawl_test_options;
struct pawl_test *test_kit(const struct pawl_application  *application,
                           const struct pawl_test_options *options);
/* Lines that were told: all of them, or those that contain a part. */
typedef struct test_lines {
    const char *part;
    int         count;
    char        last[2001];
    char        text[8000]; /* as many as fit, each with a line feed */
} test_lines;

/* Empties `lines`, and has the log of this level and worse told to it; with `part` NULL all of it. */
void test_listen(test_lines *lines, pawl_log_level level, const char *part);
/* For calls that tell lines; the context points to a test_lines. */
void test_line(pawl_text line, void *context);
/* The module of a driver, and its functions and tables that only a test's build exports. */
void *test_module(const char *driver);
void *test_symbol(void *module, const char *name);
/* For those that run tests. */
void test_begin(void);
void test_end(void);

/* For cmocka: the state points to a test_fn *. */
void test_run(void **state);

/* Adds rows of the program's table, those of one test. */
void tests_add(int line, const struct CMUnitTest *rows, size_t count);
/* Runs the table between a setup and a teardown, or NULL; the exit code of the program. */
int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Begins the definition of a test that has these rows of cmocka's. */
#define TESTS(function, parameter, ...)                                            \
    static void                              function(parameter);                  \
    static const struct CMUnitTest           rows_of_##function[] = {__VA_ARGS__}; \
    __attribute__((constructor)) static void add_##function(void)                  \
    {                                                                              \
        tests_add(__LINE__, rows_of_##function, COUNT(rows_of_##function));        \
    }                                                                              \
    static void function(parameter)

/* A row, of a test between a setup and a teardown that leave the state alone. */
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
/* A test of a program whose setup, that of all tests, leaves a state. */
#define STATE_TEST(function, parameter) TESTS(function, parameter, cmocka_unit_test(function))

/* Items of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The initialiser of an application that has these endpoints, "name", &one, &two. */
#define APPLICATION(name_, ...)                                                        \
    {                                                                                  \
        PAWL_APPLICATION_HEAD, .name = name_, .endpoints = PAWL_ENDPOINTS(__VA_ARGS__) \
    }

/* Fields of a record that has one: PAWL_RECORD(note, A_NUMBER). */
#define A_NUMBER(F) F(INT32, number)
#define A_NAME(F) F(TEXT, name)

/* The initialiser of a saga: "name", its state, "the property that finds it", and the rows of `on`. */
#define SAGA_OF(name_, state_, correlation_, ...)                                    \
    {                                                                                \
        .name = name_, .state = PAWL_RECORD_OF(state_), .correlation = correlation_, \
        .on = PAWL_ON(__VA_ARGS__)                                                   \
    }

/* Members of a pawl_changes with the changes of one unit. */
#define ONE_UNIT .group_count = 1, .unit_count = 1
/* A set with one change of the kind, at a time; the members of the change follow. */
#define ONE_CHANGE(kind, now_, ...) \
    (&(pawl_changes){ONE_UNIT, .now = (now_), .kind = {&(pawl_##kind){__VA_ARGS__}, 1}})
/* Commits one change. */
#define MUST_COMMIT(store, kind, now, ...) \
    must(pawl_store_commit(store, ONE_CHANGE(kind, now, __VA_ARGS__), NULL, world_error()))

/* A row, for a test on a ground of its own: ground_run, ground_setup and ground_teardown are those of the header of the
 * store (tests/contract). */
#define GROUND_ROW(function, setup, teardown)                  \
    {                                                          \
#function, ground_run, setup, teardown, &(ground_fn *) \
        {                                                      \
            function                                           \
        }                                                      \
    }
#define GROUND_TEST(function, parameter, setup) \
    TESTS(function, parameter, GROUND_ROW(function, setup, ground_teardown))
#define ON_GROUND(function, parameter) GROUND_TEST(function, parameter, ground_setup)

#endif
