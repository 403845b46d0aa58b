/* core.h - types and functions that the files of the store core share.
 *
 * Threads: the registry of drivers is guarded by a mutex; the rest is pure.
 * Tests: tests/unit/store/test_store_core.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_H
#define PAWL_STORE_CORE_H

#include "pawl/store_driver.h"

/* The store that is always there: `memory:NAME`. */
extern const pawl_store_ops pawl__memory_driver;

/* The driver of the URL's scheme: built in, registered, or a module that is
 * loaded now. PAWL_EINVAL for something that is not a URL, PAWL_EUNREACHABLE for a
 * driver that is not installed. */
pawl_code pawl__driver_find(const char *url, const pawl_store_ops **ops, pawl_error *error);

/* Bytes of "scheme" before its colon, 0 when `url` does not begin with one. */
size_t pawl__url_scheme_size(const char *url);
/* Writes the URL without its passwords, cut to `size` with its NUL. */
void pawl__url_mask(const char *url, char *text, size_t size);

/* Part of the error of an open on tables of another schema version; the version's number follows. */
#define PAWL__SCHEMA_HAS_VERSION "its schema has version "
/* Last line of `schema verify` if all differences are in existing columns, keys and indexes. */
#define PAWL__SCHEMA_LEFT "that `pawl schema apply` does not change: alter the tables by SQL"

/* Table subscriptions also has rows that are no subscriptions; their types have these prefixes, or PAWL_QUEUE_READER.
 * They say which routes an endpoint has, and for how many microseconds it keeps deduplication records. */
#define PAWL__ROUTE_TYPE "route:"
#define PAWL__RETENTION_TYPE "inbox_retention:"

/* The deadline of one call. */
int64_t pawl__store_deadline_ms(const pawl_store *store);

#endif
