/* test_contract_memory.c - the contract suite on the memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/suite_main.h"

static void fresh(const suite_ground *ground, unsigned number, suite_address *address)
{
    (void)ground;
    snprintf(address->url, sizeof address->url, "memory:contract-%u", number);
}

int main(int argument_count, char **arguments)
{
    const suite_ground ground = {.name = "memory", .fresh = fresh};
    return suite_main(&ground, argument_count, arguments);
}
