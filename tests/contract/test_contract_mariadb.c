/* test_contract_mariadb.c - the contract suite on MariaDB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"

int main(int argument_count, char **arguments)
{
    return server_suite_main("PAWL_TEST_MARIADB", "mariadb", argument_count, arguments);
}
