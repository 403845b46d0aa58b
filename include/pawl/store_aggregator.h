/* store_aggregator.h - the rows of aggregators, one call each: insert, get,
 * leased batch and what ends it, remove, count. operations.h says what is the same for
 * all of these calls.
 *
 *     insert -> count_resolved -> leased_batch -> callback -> remove_leased_batch
 *                                                      fails -> release_leased_batch
 *
 * A partition is what the contract calls a name: the aggregator's full name, or
 * the name, '/' and a key's text, at most 200 bytes. Every call sees the rows
 * of exactly one (A7).
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
 * A key that a row of the partition has: PAWL_OK, nothing written, the first
 * stays (A2). The key is free in every other partition (A3), and again when its
 * row is gone (A4).
 *
 * `due` is when the period of a partition that was empty ends, for an endpoint
 * that runs this aggregator; PAWL_TIME_MAX: it has none. */
PAWL_API pawl_code pawl_store_aggregator_insert(pawl_store *store, const pawl_aggregator_row *row,
                                                pawl_time due, pawl_time now, pawl_error *error);

/* Every row, leased or not, of whatever type, oldest first (A6); rows of one
 * time in the order in which they were inserted (A8). An unknown partition has
 * none, and that is no error (A6). */
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

#define PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT              \
    {                                                          \
        .size = PAWL_SIZE_DEFAULT, .lease = PAWL_LEASE_DEFAULT \
    }

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

/* Leases the rows that are free, or whose lease has run out, until now + lease
 * (A14). Inside that time a second leased batch is empty, which is no error (A16);
 * so is one of an unknown partition (A6).
 *
 * A row whose type is unknown, or whose message `can_decode` refuses, is counted
 * in `unresolved` and not returned, fails nothing, and stays (A10).
 *
 * PAWL_EINVAL  lease <= 0 (A14) or size <= 0; nothing is leased. */
PAWL_API pawl_code pawl_store_aggregator_leased_batch(
    pawl_store *store, const pawl_aggregator_leased_batch_options *options, pawl_time now,
    pawl_arena *arena, pawl_aggregator_leased_batch *leased, pawl_error *error);

/* Removes exactly the rows of the leased batch, all or none, however many (A11, A12,
 * A13); rows inserted since stay. No ids: PAWL_OK, without a call of
 * the store (A11). A lease that ran out and that nobody took is still the
 * session's.
 *
 * PAWL_ECONFLICT  a row is gone or another session's; none was removed (A27). */
PAWL_API pawl_code pawl_store_aggregator_remove_leased_batch(
    pawl_store *store, const pawl_aggregator_leased_batch *leased, pawl_time now,
    pawl_error *error);

/* Clears the lease of exactly the session's rows; the very next leased batch has
 * them (A15). Never refused. */
PAWL_API pawl_code pawl_store_aggregator_release_leased_batch(
    pawl_store *store, const pawl_aggregator_leased_batch *leased, pawl_time now,
    pawl_error *error);

/* Removes the oldest row with this correlation id, whatever its lease (A20). Of
 * several calls at once for one row, one finds it.
 *
 * PAWL_ENOTFOUND  the partition has no rows at all (A21, A22).
 * PAWL_ECONFLICT  it has rows, but none with this id; the text says how many
 *                 rows (A21, A22).
 * PAWL_EPERSIST   the store failed; the text has its error (A23).
 * PAWL_EINVAL     the correlation id is empty. */
PAWL_API pawl_code pawl_store_aggregator_remove(pawl_store *store, pawl_text partition,
                                                pawl_text correlation_id, pawl_time now,
                                                pawl_error *error);

/* Removes every row, of known type or not, leased or not; PAWL_OK also when
 * there is none (A24). */
PAWL_API pawl_code pawl_store_aggregator_remove_all(pawl_store *store, pawl_text partition,
                                                    pawl_time now, pawl_error *error);

/* All rows, leased and unknown ones too; 0 for an unknown partition (A17). */
PAWL_API pawl_code pawl_store_aggregator_count(pawl_store *store, pawl_text partition,
                                               int64_t *count, pawl_error *error);

/* The rows whose type is one of `types`, leased or not (A18). Changes nothing,
 * however often it is called (A19). */
PAWL_API pawl_code pawl_store_aggregator_count_resolved(pawl_store *store, pawl_text partition,
                                                        const pawl_text *types, size_t type_count,
                                                        int64_t *count, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
