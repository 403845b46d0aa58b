/* main.c - the main of test programs that have none: support/tests.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include <stdio.h>

extern const struct CMUnitTest tests[] __attribute__((weak));
extern int (*const tests_missing)(void) __attribute__((weak));

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
    while (tests[count].test_func != NULL)
        count++;
    world_quiet();
    return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
