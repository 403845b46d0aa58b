/* test_contract_odbc.c - the contract suite on MariaDB through its ODBC driver: every day the nouns that
 * reach each kind of statement, value, lock and failure; or those that an argument names. All of them:
 * test_contract_odbc_soak.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_fixture.h"
#include "contract/server_suite.h"

#ifdef PAWL_HAVE_ODBC
int main(int argument_count, char **arguments)
{
    static char nouns[][12]        = {"saga value", "saga lock", "text:", "worker:", "queue: "};
    char        url[ODBC_URL_SIZE] = "";
    int         result             = 0;
    setenv("PAWL_TEST_ODBC", odbc_url("", url) ? url : "", 1);
    if (argument_count > 1 || url[0] == '\0')
        return server_suite_main("PAWL_TEST_ODBC", "mariadb", argument_count, arguments);
    for (size_t i = 0; i < sizeof nouns / sizeof nouns[0]; i++) {
        char *with[] = {arguments[0], nouns[i], NULL};
        result |= server_suite_main("PAWL_TEST_ODBC", "mariadb", 2, with);
    }
    return result;
}
#else
int main(int argument_count, char **arguments)
{
    unsetenv("PAWL_TEST_ODBC");
    return server_suite_main("PAWL_TEST_ODBC", "mariadb", argument_count, arguments);
}
#endif
