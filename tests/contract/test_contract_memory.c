/* test_contract_memory.c - the contract suite on the memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/suite_main.h"

static void fresh(const suite_place *place, unsigned number, suite_address *address)
{
    (void)place;
    snprintf(address->url, sizeof address->url, "memory:contract-%u", number);
}

int main(int argument_count, char **arguments)
{
    const suite_place place = {.name = "memory", .fresh = fresh};
    return suite_main(&place, argument_count, arguments);
}
