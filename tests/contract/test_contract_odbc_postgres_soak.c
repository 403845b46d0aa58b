/* test_contract_odbc_postgres_soak.c - the whole contract suite on PostgreSQL through its ODBC driver;
 * test_contract_odbc_postgres has the part of every day.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_fixture.h"
#include "contract/server_suite.h"

int main(int argument_count, char **arguments)
{
    char url[ODBC_URL_SIZE] = "";
#ifdef PAWL_HAVE_ODBC
    (void)odbc_postgres_url("", url);
#endif
    setenv("PAWL_TEST_ODBC", url, 1);
    return server_suite_main("PAWL_TEST_ODBC", "postgres", argument_count, arguments);
}
