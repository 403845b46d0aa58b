/* operations.h - the operations that are the driver's own, one file for each noun. The contract of
 * each stands in pawl/store_driver.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OPERATIONS_H
#define PAWL_STORE_POSTGRES_OPERATIONS_H

#include "pawl/store_history.h"
#include "store/postgres/postgres.h"

#define ENTRY(name, ...) \
    pawl_code pawl__pg_##name(pawl_store *store, __VA_ARGS__, pawl_error *error);
#include "store/core/entries.h"
#undef ENTRY

/* commit.c */
pawl_code pawl__pg_commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                          pawl_error *error);
pawl_code pawl__pg_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                          pawl_error *error);

/* verify.c: of pawl__sql_schema_ops. */
pawl_code pawl__pg_catalog_read(pawl_store *base, const pawl_text *tables, size_t count,
                                pawl_arena *arena, pawl__sql_catalog *catalog, pawl_error *error);
pawl_code pawl__pg_verify_own(pawl__sql_verifier *verifier);

/* Clears the leases of dead workers; those of pooled workers, whose death is less sure, only when
 * `is_pooled_too` (timeout.c). */
void pawl__pg_send_timeout_free_dead(pawl__pg *store, pawl__pg_request *request, bool is_pooled_too,
                                     pawl_error *error);
/* The advisory lock that a handle has while it numbers events (position.c). */
int64_t pawl__pg_turn_number(const pawl__pg *store);

/* timeout.c: sends the check for timeouts of the queue, unless it would not help. */
bool pawl__pg_peek_send(pawl__pg *store, const pawl_queue_claim *claim, pawl__pg_request *request,
                        pawl_error *error);
/* Keeps its answer for the claim of timeouts that follows; `code` is that of the await. */
void pawl__pg_peek_end(pawl__pg *store, pawl__pg_request *request, pawl_code code);

/* queue.c */
/* Behind COMMIT and its NOTIFY: sends the claim that follows, in a transaction of its own; false: there is none.
 * `peek` is the check for timeouts that goes with it. Once all is answered, ahead_end keeps what was claimed. */
bool pawl__pg_ahead_send(pawl__pg *store, const pawl_changes *changes, pawl__pg_request *peek);
void pawl__pg_ahead_end(pawl__pg *store, pawl__pg_request *peek);

#endif
