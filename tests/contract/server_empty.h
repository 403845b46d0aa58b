/* server_empty.h - takes the rows out of the tables of a case, by the server's own client, so that the next case
 * finds them empty. To make and drop some thirty tables for each case was most of a suite's time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_SERVER_EMPTY_H
#define PAWL_TESTS_CONTRACT_SERVER_EMPTY_H

#include <stdbool.h>

/* Whether this program can empty tables at a URL of that scheme. */
bool server_can_empty(const char *url);
/* Deletes the rows of all tables whose names begin with `prefix`, but for those that say which version the tables
 * have. False: a row is locked, the case has dropped the tables, or the server does not answer; nothing is known of
 * the tables then. */
bool server_empty(const char *url, const char *prefix);

#endif
