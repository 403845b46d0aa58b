/* test_contract_mysql.c - the contract suite on MySQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"

int main(int argument_count, char **arguments)
{
    return server_suite_main("PAWL_TEST_MYSQL", "mysql", argument_count, arguments);
}
