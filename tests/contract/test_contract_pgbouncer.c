/* test_contract_pgbouncer.c - the contract suite on PostgreSQL behind PgBouncer,
 * which gives out its connections for a transaction at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_suite.h"

int main(int argument_count, char **arguments)
{
    return postgres_suite_main("PAWL_TEST_PGBOUNCER", "pgbouncer", argument_count, arguments);
}
