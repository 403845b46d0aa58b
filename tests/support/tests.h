/* tests.h - the tests of a program are a table, which tests/main.c runs where the program has no main of its own:
 *
 *     static void a_cent_is_not_lost(void) { ... }
 *
 *     const struct CMUnitTest tests[] = {TEST(a_cent_is_not_lost), ON_ALL_STORES(it_is_saved), {.name = NULL}};
 *
 * A program without a table is skipped: the build lacks the library that it is about. If the program defines
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

typedef void test_fn(void);

/* Calls `done(it)` when the test ends, a row TEST, ON_STORE or ON_GROUND: the last one first, then its worlds end.
 * A test that failed leaves everything as it is. */
typedef void test_done_fn(void *it);
void         test_later(test_done_fn *done, void *it);
/* Calls now what was put off for `it`; nothing for NULL. */
void test_now(void *it);
/* An arena until the test ends; and a store that somebody opened, or that is opened, which is closed then. */
struct pawl_arena *test_arena(void);
struct pawl_store *test_store(struct pawl_store *store);
struct pawl_store *test_open(const char *url);
/* A test kit until the test ends. */
struct pawl_application;
struct pawl_test_options;
struct pawl_test *test_kit(const struct pawl_application  *application,
                           const struct pawl_test_options *options);
/* For those that run tests. */
void test_begin(void);
void test_end(void);

/* For cmocka: the state points to a test_fn *. */
void test_run(void **state);

/* A row of the table, for a test without a fixture. */
#define TEST(function) TEST_BETWEEN(function, NULL, NULL)
/* Between a setup and a teardown that leave the state alone. */
#define TEST_BETWEEN(function, setup, teardown)            \
    {                                                      \
#function, test_run, setup, teardown, &(test_fn *) \
        {                                                  \
            function                                       \
        }                                                  \
    }

/* Items of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The initialiser of an application that has these endpoints, "name", &one, &two. */
#define APPLICATION(name_, ...)                                                        \
    {                                                                                  \
        PAWL_APPLICATION_HEAD, .name = name_, .endpoints = PAWL_ENDPOINTS(__VA_ARGS__) \
    }

/* Members of a pawl_changes with the changes of one unit. */
#define ONE_UNIT .group_count = 1, .unit_count = 1

/* A row of the table, for a test on a ground of its own: ground_run, ground_setup and ground_teardown are those of the
 * header of the store (tests/contract). */
#define GROUND_TEST_BETWEEN(function, setup, teardown)         \
    {                                                          \
#function, ground_run, setup, teardown, &(ground_fn *) \
        {                                                      \
            function                                           \
        }                                                      \
    }
#define GROUND_TEST(function, setup) GROUND_TEST_BETWEEN(function, setup, ground_teardown)
#define ON_GROUND(function) GROUND_TEST(function, ground_setup)

#endif
