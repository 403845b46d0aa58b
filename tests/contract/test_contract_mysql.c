/* test_contract_mysql.c - the contract suite on MySQL: every day without TLS, whose beginning takes longer than most
 * cases, each of which connects several times. The engine's scenarios and the tests of the driver have it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"
#include "support/fault_strides.h"
#include "support/tests.h"

int main(int argument_count, char **arguments)
{
    const char *given = getenv("PAWL_TEST_MYSQL");
    if (given != NULL && given[0] != '\0' && strchr(given, '?') == NULL && !is_long_run())
        setenv("PAWL_TEST_MYSQL", test_text("%s?ssl-mode=disabled", given), 1);
    return server_suite_main("PAWL_TEST_MYSQL", "mysql", argument_count, arguments);
}
