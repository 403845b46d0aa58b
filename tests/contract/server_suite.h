/* server_suite.h - the contract suite on a server that the environment
 * names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_SERVER_SUITE_H
#define PAWL_TESTS_CONTRACT_SERVER_SUITE_H

/* The main of a program: the URL stands in `variable`. Without one the program
 * is skipped (77), which is a failure when PAWL_REQUIRE is "all", unless
 * PAWL_MISSING_SERVERS holds `server`. */
int server_suite_main(const char *variable, const char *server, int argument_count,
                      char **arguments);

#endif
