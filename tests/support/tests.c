/* tests.c - see tests.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

void test_run(void **state)
{
    test_fn *const *run = *state;
    (*run)();
    world_end_all();
}
