/* mongodb.h - collections of a database on MongoDB, without pawl.
 *
 * A failure is told on standard error, and false. Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_MONGODB_H
#define PAWL_TESTS_MONGODB_H

#include <stdbool.h>
#include <stddef.h>

/* The server's URL with another database. */
void mongodb_url(const char *server, const char *database, char *url, size_t size);

/* Of the database of the URL: removes all documents of collections whose names begin with `prefix`, but for those
 * that tell what was made; numbers begin anew. The other collections are dropped when `is_alone`, and nothing is then
 * known of them. */
bool mongodb_empty(const char *url, const char *prefix, bool is_alone);
/* The names of the collections that begin with the prefix, in order, as a number. */
bool mongodb_describe(const char *url, const char *prefix, char *text, size_t size);
bool mongodb_drop(const char *url);

#endif
