/* store_saga.h - saga rows, one call each: find, insert, update, delete.
 * operations.h says what is the same for all of these calls.
 *
 *     insert -> { find -> update } -> find -> delete
 *
 * The row that find and insert fill is the wrapper that update and delete take
 * back: its `version` and its `id` are what the stored row had (S2, S4).
 * An operator ends a saga with saga_remove, which takes its timeouts along and leaves who did so.
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
/* Type of its event: JSON in headers, with `by`, `reason`, `version` and `timeouts`. */
#define PAWL_SAGA_REMOVED "pawl.saga_deleted"

/* Finds the saga whose id, main or transitional correlation value is `value`.
 *
 * No such row: PAWL_OK and a row that is PAWL_SAGA_MISSING, of version 0, never
 * an error; a table that does not exist yet counts as none here, and only here
 * (S1). Each call returns a copy of its own: changing it changes neither the
 * stored row nor another copy until an update succeeds (S3). By id and by value the same row is found
 * (S16).
 *
 * The value becomes one of the column's declared type first; one that cannot is
 * PAWL_EINVAL naming both, not "none" (S17). A null value is PAWL_EINVAL and
 * the store is not called (S18). So is a key that the table has no column
 * for (S19), and a text with NUL or of more than 200 characters (D19). Rows of
 * another table are never met (S28). */
PAWL_API pawl_code pawl_store_saga_find(pawl_store *store, const pawl_saga_table *table,
                                        pawl_saga_key key, pawl_value value, pawl_arena *arena,
                                        pawl_saga_row *row, pawl_error *error);

/* The same by the name of a property. A property that is no correlation property of
 * the saga is PAWL_EINVAL, and the text names those that are (S19). */
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
 *                  or data that is no JSON object, or has a NUL, \u0000 too. */
PAWL_API pawl_code pawl_store_saga_insert(pawl_store *store, const pawl_saga_table *table,
                                          pawl_saga_row *row, pawl_time now, pawl_error *error);

/* Writes transitional, metadata, data and type_version of a row that was loaded
 * (S20, S24), leaving no trace of the state before (S15). The main value is
 * never rewritten (S20), the id stays (S5). On PAWL_OK the stored version and
 * `row->version` are both one more (S6); on any failure `row->version` is the
 * version read (S8).
 *
 * PAWL_ECONFLICT   the row is not there at `row->version`: changed or gone. It
 *                  is as it was, nothing is ever inserted, and the text names
 *                  the saga, its id and the version expected (S7, S9, S12).
 * PAWL_EDUPLICATE  the transitional value belongs to another row.
 * PAWL_EINVAL      a null transitional value where the table has one (S21);
 *                  metadata and data as at the insert. */
PAWL_API pawl_code pawl_store_saga_update(pawl_store *store, const pawl_saga_table *table,
                                          pawl_saga_row *row, pawl_time now, pawl_error *error);

/* Removes a row that was loaded; the next find is "none" (S13).
 *
 * PAWL_ECONFLICT  the row is not there at `row->version`; it is kept (S14). */
PAWL_API pawl_code pawl_store_saga_delete(pawl_store *store, const pawl_saga_table *table,
                                          const pawl_saga_row *row, pawl_time now,
                                          pawl_error *error);

/* The same by an operator, with the saga's timeouts, whatever their lease, in one commit with the
 * event of who and why. While a worker has the row locked this waits for it, and the version has
 * then changed. Outbox rows of the saga are delivered as before, and messages that come for it find
 * no saga. `*timeouts`, unless NULL: how many went along.
 *
 * PAWL_ECONFLICT  the row is not there at `row->version`; all is as it was
 * PAWL_EINVAL     `by` is empty
 * PAWL_ELIMIT     `by` and the reason are too long together */
PAWL_API pawl_code pawl_store_saga_remove(pawl_store *store, const pawl_saga_table *table,
                                          const pawl_saga_row *row, pawl_text by, pawl_text reason,
                                          pawl_time now, int64_t *timeouts, pawl_error *error);
/* Events of what operators did with the saga, which need not be there any more; oldest first. */
PAWL_API pawl_code pawl_store_saga_actions(pawl_store *store, pawl_text type, pawl_saga_id id,
                                           pawl_arena *arena, pawl_event_rows *rows,
                                           pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
