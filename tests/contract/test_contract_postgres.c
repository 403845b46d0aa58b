/* test_contract_postgres.c - the contract suite on PostgreSQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_suite.h"

int main(int argument_count, char **arguments)
{
    return postgres_suite_main("PAWL_TEST_POSTGRES", "postgres", argument_count, arguments);
}
