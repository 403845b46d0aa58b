/* test_contract_mongodb.c - the contract suite on MongoDB's protocol.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"

int main(int argument_count, char **arguments)
{
    return server_suite_main("PAWL_TEST_MONGODB", "mongodb", argument_count, arguments);
}
