/* test_contract_memory.c - the contract suite on the memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/suite_main.h"

static void fresh(const suite_fixture *fixture, unsigned number, suite_address *address)
{
    snprintf(address->url, sizeof address->url, "memory:contract-%u", number);
}

int main(int argument_count, char **arguments)
{
    const suite_fixture fixture = {.name = "memory", .fresh = fresh};
    return suite_main(&fixture, argument_count, arguments);
}
