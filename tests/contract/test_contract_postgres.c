/* test_contract_postgres.c - the contract suite on PostgreSQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"

int main(int argument_count, char **arguments)
{
    return server_suite_main("PAWL_TEST_POSTGRES", "postgres", argument_count, arguments);
}
