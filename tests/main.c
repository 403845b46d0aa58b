/* main.c - the main of test programs that have none: support/tests.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include <stdio.h>

extern int (*const tests_missing)(void) __attribute__((weak));
extern void (*const tests_first)(void) __attribute__((weak));
extern const pawl_store_ops *const tests_drivers[] __attribute__((weak));

int main(void)
{
    int missing = &tests_missing != NULL ? tests_missing() : 0;
    if (missing != 0)
        return missing;
    if (&tests_first != NULL)
        tests_first();
    for (size_t i = 0; tests_drivers != NULL && tests_drivers[i] != NULL; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        if (pawl_store_register(tests_drivers[i], &error) != PAWL_OK) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
    }
    world_quiet();
    return tests_run(NULL, NULL);
}
