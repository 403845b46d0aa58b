/* store_saga.h - single operations on saga rows: find, insert, update, delete.
 * operations.h has the rules of all calls.
 *
 *     insert -> { find -> update } -> find -> delete
 *
 * Find and insert fill a row with the stored `version` and `id`, and update and delete
 * check them (S2, S4).
 * An operator ends a saga with saga_remove, which also deletes its timeouts and records who did it.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/operation/saga.c, saga_remove.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SAGA_H
#define PAWL_STORE_SAGA_H

#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The stream of a saga's actions is this, a slash, then TYPE/ID. */
#define PAWL_SAGA_STREAMS "pawl.saga"
/* Type of its event. Headers: "by", "reason", "version" and "timeouts". */
#define PAWL_SAGA_REMOVED "pawl.saga_deleted"

/* Finds the saga whose id, main or transitional correlation value is `value`.
 *
 * Without such a row the answer is PAWL_OK and a row with PAWL_SAGA_MISSING and version 0; so it is for a
 * table that does not exist yet, in this call alone (S1). Each call returns a new copy: changing
 * it changes neither the stored row nor another copy until an update succeeds (S3). By id and by value
 * the same row is found (S16). Only rows of this table are searched (S28).
 *
 * The value is converted to the column's type first. PAWL_EINVAL, without a call of the store: the
 * value cannot be converted (the text names both types, S17); it is null (S18); the table has no
 * column for the key (S19); or it is a text with NUL or of more than 200 characters (D19). */
PAWL_API pawl_code pawl_store_saga_find(pawl_store *store, const pawl_saga_table *table,
                                        pawl_saga_key key, pawl_value value, pawl_arena *arena,
                                        pawl_saga_row *row, pawl_error *error);

/* The same by the name of a property. PAWL_EINVAL also: it is no correlation property of
 * the saga; the text names the saga's (S19). */
PAWL_API pawl_code pawl_store_saga_find_by(pawl_store *store, const pawl_saga_table *table,
                                           pawl_text property, pawl_value value, pawl_arena *arena,
                                           pawl_saga_row *row, pawl_error *error);

/* Inserts a saga at version 1. A zero id is replaced by a new one, distinct
 * from every correlation value (S4). On PAWL_OK `row` has the id and the
 * version. Empty metadata or data is stored as {}.
 *
 * Uses id, main, transitional, metadata, data, type_version. Changes that
 * the caller makes to it afterwards are not stored (S3).
 *
 * PAWL_EDUPLICATE  the id or a correlation value exists; the first row stays as
 *                  it was, its version too (S10, S11). After a delete the value
 *                  may be inserted again (S12).
 * PAWL_EINVAL      a null correlation value in a column that the table has (S18,
 *                  S21), one of another type, or one over its limit (D19); metadata
 *                  or data that is not a JSON object, or has a NUL, \u0000 too. */
PAWL_API pawl_code pawl_store_saga_insert(pawl_store *store, const pawl_saga_table *table,
                                          pawl_saga_row *row, pawl_time now, pawl_error *error);

/* Replaces transitional, metadata, data and type_version of a row that was loaded
 * (S15, S20, S24). The main value is never rewritten (S20), the id stays (S5). On
 * PAWL_OK the stored version and `row->version` are both one more (S6); on
 * failure `row->version` is unchanged (S8).
 *
 * PAWL_ECONFLICT   no row has this id and `row->version`: it was changed or deleted.
 *                  Nothing is written, and the text names
 *                  the saga, its id and the version expected (S7, S9, S12).
 * PAWL_EDUPLICATE  the transitional value belongs to another row.
 * PAWL_EINVAL      a null transitional value where the table has one (S21);
 *                  metadata and data as at the insert. */
PAWL_API pawl_code pawl_store_saga_update(pawl_store *store, const pawl_saga_table *table,
                                          pawl_saga_row *row, pawl_time now, pawl_error *error);

/* Deletes a row that was loaded; the next find does not find it (S13).
 *
 * PAWL_ECONFLICT  no row has this id and `row->version`; nothing is deleted (S14). */
PAWL_API pawl_code pawl_store_saga_delete(pawl_store *store, const pawl_saga_table *table,
                                          const pawl_saga_row *row, pawl_time now,
                                          pawl_error *error);

/* Deletes the saga and its timeouts, leased or not, for an operator, in one commit with an event that
 * has `by` and `reason`. If a worker has locked the row, the call waits for it, and then usually answers
 * PAWL_ECONFLICT. Outbox rows of the saga are still delivered; later messages for it find
 * no saga. `*timeouts`, unless NULL: number of timeouts deleted.
 *
 * PAWL_ECONFLICT  no row has this id and `row->version`; nothing is deleted
 * PAWL_EINVAL     `by` is empty
 * PAWL_ELIMIT     `by` and the reason are too long together */
PAWL_API pawl_code pawl_store_saga_remove(pawl_store *store, const pawl_saga_table *table,
                                          const pawl_saga_row *row, pawl_text by, pawl_text reason,
                                          pawl_time now, int64_t *timeouts, pawl_error *error);
/* Events of operators' actions on the saga, which need not exist any more; oldest first. */
PAWL_API pawl_code pawl_store_saga_actions(pawl_store *store, pawl_text type, pawl_saga_id id,
                                           pawl_arena *arena, pawl_event_rows *rows,
                                           pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
