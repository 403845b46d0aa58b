/* test_contract_pgbouncer.c - the contract suite on PostgreSQL behind PgBouncer,
 * which gives out its connections for a transaction at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"

int main(int argument_count, char **arguments)
{
    return server_suite_main("PAWL_TEST_PGBOUNCER", "pgbouncer", argument_count, arguments);
}
