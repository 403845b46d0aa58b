/* mongodb.h - access to collections on MongoDB without pawl.
 *
 * On failure functions return false, with the reason on standard error. Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_MONGODB_H
#define PAWL_TESTS_MONGODB_H

#include <stdbool.h>
#include <stddef.h>

/* The server's URL with another database. */
void mongodb_url(const char *server, const char *database, char *url, size_t size);

/* Removes all documents of collections whose names begin with `prefix`, except the schema's marks, and restarts row
 * numbers. With `is_alone` all other collections are dropped, with their marks. */
bool mongodb_empty(const char *url, const char *prefix, bool is_alone);
/* A hash of the names of collections that begin with the prefix. */
bool mongodb_describe(const char *url, const char *prefix, char *text, size_t size);
bool mongodb_drop(const char *url);
/* Sets a text in the documents of a collection in which `key` is `id`. */
bool mongodb_set(const char *url, const char *collection, const char *key, const char *id,
                 const char *field, const char *value);

#endif
