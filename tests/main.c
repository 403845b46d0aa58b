/* main.c - the main of test programs that have none: support/tests.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include <stdio.h>

extern const struct CMUnitTest tests[] __attribute__((weak));
extern int (*const tests_missing)(void) __attribute__((weak));
extern const pawl_store_ops *const tests_drivers[] __attribute__((weak));

int main(void)
{
    size_t count = 0;
    if (tests == NULL) {
        puts("skipped: built without the library that it is about");
        return 77;
    }
    int missing = &tests_missing != NULL ? tests_missing() : 0;
    if (missing != 0)
        return missing;
    for (size_t i = 0; tests_drivers != NULL && tests_drivers[i] != NULL; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        if (pawl_store_register(tests_drivers[i], &error) != PAWL_OK) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
    }
    while (tests[count].test_func != NULL)
        count++;
    world_quiet();
    return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
