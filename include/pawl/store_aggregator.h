/* store_aggregator.h - single operations on the rows of aggregators: insert, get, lease a
 * batch, remove or release it, remove, count. operations.h has the rules of all calls.
 *
 *     insert -> count_resolved -> leased_batch -> callback -> remove_leased_batch
 *                                                      fails -> release_leased_batch
 *
 * A partition (the contract's "name") is the aggregator's name, or the name, '/' and a key's text, of at
 * most 200 bytes. Every call works on exactly one partition (A7).
 *
 * Threads: as the handle's. Insert and count may run in several threads with a
 *     handle each (A25).
 * Tests: src/conformance/operation/aggregator.c, src/conformance/operation/snapshot.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_AGGREGATOR_H
#define PAWL_STORE_AGGREGATOR_H

#include "pawl/store.h"
#include "pawl/store_timeout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds one row (A1): `name`, `partition` (empty: the name), `key` (empty: the
 * message's id) and `message`, whose body comes back byte for byte (A1).
 * Nothing else of the row is read. Rows have an id of their own, so that two
 * keys with one correlation id are two rows (A5).
 *
 * If a row of the partition has the key, nothing is written, and the answer is PAWL_OK (A2). Other
 * partitions may use the same key (A3), and so may the partition after the row is removed (A4).
 *
 * `due`: if the partition was empty, the end of its period, for an endpoint that runs this
 * aggregator; PAWL_TIME_MAX: no period. */
PAWL_API pawl_code pawl_store_aggregator_insert(pawl_store *store, const pawl_aggregator_row *row,
                                                pawl_time due, pawl_time now, pawl_error *error);

/* All rows of a partition, leased or not, of any type, oldest first (A6); rows of one time in the
 * order of insertion (A8). For an unknown partition the list is empty (A6). */
PAWL_API pawl_code pawl_store_aggregator_get(pawl_store *store, pawl_text partition,
                                             pawl_arena *arena, pawl_leased_batch *rows,
                                             pawl_error *error);

/* Whether the program can decode the message's body. */
typedef bool pawl_can_decode_fn(const pawl_message *message, void *context);

/* Begin with PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT. */
typedef struct pawl_aggregator_leased_batch_options {
    pawl_text           partition;
    pawl_session_id     session; /* zero: a new one is made (A15) */
    const pawl_text    *types;   /* message types that the program knows */
    size_t              type_count;
    pawl_can_decode_fn *can_decode; /* NULL: rows of known types decode */
    void               *context;    /* of can_decode */
    int64_t             size;       /* at most so many rows; PAWL_SIZE_DEFAULT: all */
    int64_t             lease;      /* microseconds */
} pawl_aggregator_leased_batch_options;

#define PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT \
    PAWL__BRACES(PAWL__SET(size, PAWL_SIZE_DEFAULT), PAWL__SET(lease, PAWL_LEASE_DEFAULT))

/* Rows of a leased batch. `rows` and `ids` have `count` items each, in the same
 * order, oldest first (A9). */
typedef struct pawl_aggregator_leased_batch {
    pawl_text            partition;
    pawl_session_id      session; /* the session that leased the rows */
    pawl_aggregator_row *rows;
    int64_t             *ids;
    size_t               count;
    int64_t unresolved; /* free rows that cannot be decoded; fewer when `size` rows were leased */
} pawl_aggregator_leased_batch;

/* Leases the rows that are free, or whose lease has expired, until now + lease
 * (A14). Until then a second leased batch is empty, and so is one of an unknown
 * partition; neither is an error (A6, A16).
 *
 * A row whose type is unknown, or whose message `can_decode` refuses, stays; the row is
 * counted in `unresolved` and not returned (A10).
 *
 * PAWL_EINVAL  lease <= 0 (A14) or size <= 0; nothing is leased. */
PAWL_API pawl_code pawl_store_aggregator_leased_batch(
    pawl_store *store, const pawl_aggregator_leased_batch_options *options, pawl_time now,
    pawl_arena *arena, pawl_aggregator_leased_batch *leased, pawl_error *error);

/* Removes exactly the rows of the leased batch, all or none, however many (A11, A12,
 * A13); rows inserted since stay. Without ids the answer is PAWL_OK, and the store is not
 * called (A11). An expired lease is valid until another session leases the row.
 *
 * PAWL_ECONFLICT  a row is gone or leased by another session; none was removed (A27). */
PAWL_API pawl_code pawl_store_aggregator_remove_leased_batch(
    pawl_store *store, const pawl_aggregator_leased_batch *leased, pawl_time now,
    pawl_error *error);

/* Clears the leases of the session; the next leased batch gets the rows (A15). Never refused. */
PAWL_API pawl_code pawl_store_aggregator_release_leased_batch(
    pawl_store *store, const pawl_aggregator_leased_batch *leased, pawl_time now,
    pawl_error *error);

/* Removes the oldest row with this correlation id, leased or not (A20). If several calls compete
 * for one row, one of them removes it.
 *
 * PAWL_ENOTFOUND  the partition has no rows at all (A21, A22).
 * PAWL_ECONFLICT  it has rows, but none with this id; the text says how many
 *                 rows (A21, A22).
 * PAWL_EPERSIST   the store failed; the text has its error (A23).
 * PAWL_EINVAL     the correlation id is empty. */
PAWL_API pawl_code pawl_store_aggregator_remove(pawl_store *store, pawl_text partition,
                                                pawl_text correlation_id, pawl_time now,
                                                pawl_error *error);

/* Removes all rows of the partition, of any type, leased or not; PAWL_OK also when
 * there is none (A24). */
PAWL_API pawl_code pawl_store_aggregator_remove_all(pawl_store *store, pawl_text partition,
                                                    pawl_time now, pawl_error *error);

/* Number of rows, leased ones and unknown types included; 0 for an unknown partition (A17). */
PAWL_API pawl_code pawl_store_aggregator_count(pawl_store *store, pawl_text partition,
                                               int64_t *count, pawl_error *error);

/* Number of rows whose type is one of `types`, leased or not (A18). Changes nothing (A19). */
PAWL_API pawl_code pawl_store_aggregator_count_resolved(pawl_store *store, pawl_text partition,
                                                        const pawl_text *types, size_t type_count,
                                                        int64_t *count, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
