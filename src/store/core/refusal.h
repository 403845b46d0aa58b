/* refusal.h - why a change is not applied, and why a program is not let in: the code and the text of each
 * refusal, the same on every database.
 *
 * Each function takes a change of the kind beside it, sets code and text in `why`, and returns the code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_REFUSAL_H
#define PAWL_STORE_CORE_REFUSAL_H

#include "pawl/store_driver.h"

typedef pawl_code pawl__why_fn(const void *change, pawl_error *why);

/* `text` says what happened to the row. */
pawl_code pawl__why_gone_row(const pawl_queue_settle *settle, const char *text, pawl_error *why);

pawl__why_fn pawl__why_gone;            /* queue_settle: the row is not there */
pawl__why_fn pawl__why_not_claimed;     /* queue_settle */
pawl__why_fn pawl__why_not_enlisted;    /* queue_settle: PAWL_EINVAL, no refusal */
pawl__why_fn pawl__why_handled;         /* inbox_entry */
pawl__why_fn pawl__why_not_deleted;     /* saga_delete */
pawl__why_fn pawl__why_not_inserted;    /* saga_insert */
pawl__why_fn pawl__why_not_updated;     /* saga_update: not at its version */
pawl__why_fn pawl__why_value_taken;     /* saga_update: its transitional value is another's */
pawl__why_fn pawl__why_version_taken;   /* event_append */
pawl__why_fn pawl__why_version_missing; /* event_append: the one before it */
pawl__why_fn pawl__why_not_moved;       /* checkpoint_set */
pawl__why_fn pawl__why_not_leased;      /* timeout_settle */
pawl__why_fn pawl__why_timeout_exists;  /* timeout_set */
pawl__why_fn pawl__why_not_pending;     /* outbox_settle */
pawl__why_fn pawl__why_not_dead;        /* outbox_reset */
pawl__why_fn pawl__why_no_letter;       /* dead_set */
pawl__why_fn pawl__why_differs; /* outbox_add: id exists with another body; PAWL_OK: allowed */
pawl__why_fn pawl__why_queued;  /* queue_send */
pawl__why_fn pawl__why_no_row;  /* aggregator_remove */

/* leased_batch_remove: the id at `index`. */
pawl_code pawl__why_not_removed(const pawl_leased_batch_remove *removal, size_t index,
                                pawl_error *why);

/* ---- Other reasons than a refused change -------------------------------- */

/* `driver` as the texts begin: "sqlite". */
pawl_code pawl__why_fenced(const pawl_store *store, const char *driver, pawl_error *error);

/* ---- Programs ----------------------------------------------------------------- *
 *
 * Refuses a program that could not find existing sagas, since a correlation property is gone, or that needs offset
 * columns which the store lacks (D17).
 *
 *     pawl__reach_name* -> pawl__reach_refuse
 *
 * Tests: tests/unit/engine/test_engine_rename.c, tests/contract/test_saga_offset.c */

#define PAWL__REACH_NAMES_SIZE 200    /* longer texts are cut */
#define PAWL__REACH_COUNT_MAX 1000000 /* counting ends here */

/* Adds the name of a removed property to the text, unless it is there: "a", then "a or b". */
void pawl__reach_name(char names[PAWL__REACH_NAMES_SIZE], pawl_text property);
/* PAWL_ESCHEMA: `count` rows have values only of these removed properties. */
pawl_code pawl__reach_refuse(const pawl_saga_table *table, const char names[PAWL__REACH_NAMES_SIZE],
                             int64_t count, pawl_error *error);

/* PAWL_ECONFIG if a correlation property of the saga is a time with an offset, for which `product` has no
 * columns. */
pawl_code pawl__refuse_offset(const pawl_saga_table *table, const char *product, pawl_error *error);
/* The same for each saga, if the driver lacks the promise PAWL_STORE_HAS_OFFSETS. */
pawl_code pawl__refuse_offsets(const pawl_store *store, const pawl_saga_table *const *tables,
                               size_t count, pawl_error *error);

#endif
