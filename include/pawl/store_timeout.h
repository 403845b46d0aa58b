/* store_timeout.h - single operations on timeouts: insert, lease a batch, remove, release,
 * reap; and an operator's: find, amend, set. operations.h has the rules of all calls.
 *
 *     insert -> batch -> { send it -> remove | release }
 *     reap, now and then: a quarter of the lease is a good interval (T14)
 *     timeout_list, timeout_find -> amend, set: an operator's
 *
 * If endpoints run on the store, they do all of this but insert (E13). The endpoint whose queue
 * is the destination handles the timeout. For any other destination the timeout is sent as a message, by the
 * sender's route of that name, else to a queue of the store. The message's type is the timeout's name
 * ("pawl.timeout" without one), its body {}; its headers are the timeout's, PAWL_HEADER_SAGA and
 * PAWL_HEADER_SAGA_ID.
 *
 * Threads: as the handle's. Two batches at once never return one row (T7).
 * Tests: src/conformance/operation/timeout.c, amend.c, src/conformance/store/timeout.c, tests/system/command_timeout.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_TIMEOUT_H
#define PAWL_STORE_TIMEOUT_H

#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_LEASE_DEFAULT PAWL_MINUTES(5) /* T6, A14 */
#define PAWL_SIZE_DEFAULT INT64_MAX        /* "no size": as many as the store hands out at once */

/* Adds a timeout. Uses id, saga_id, saga_type, name, destination, due, headers
 * (a JSON object of strings) and correlation_id; all of them come back
 * unchanged in the batch (T1). Timeouts have a table of their own, apart from
 * sagas (T18).
 *
 * A named timeout of a saga is unique by saga and name: inserting a second one sets the
 * first one again, which keeps its id (E13).
 *
 * PAWL_EDUPLICATE  the id exists; the first row stays (T2).
 * PAWL_EINVAL      the id is zero, the destination empty; headers that are no
 *                  JSON object, or have a NUL, \u0000 too. Empty ones are none. */
PAWL_API pawl_code pawl_store_timeout_insert(pawl_store *store, const pawl_timeout_row *timeout,
                                             pawl_time now, pawl_error *error);

/* Begin with PAWL_TIMEOUT_BATCH_OPTIONS_INIT. Zero is no default here: a size or
 * a lease of zero is refused. */
typedef struct pawl_timeout_batch_options {
    pawl_text       destination; /* empty: any */
    int64_t         size;        /* at most so many rows; PAWL_SIZE_DEFAULT: the store's default */
    pawl_session_id owner;       /* the session that leases them; not zero */
    int64_t         lease;       /* microseconds */
} pawl_timeout_batch_options;

#define PAWL_TIMEOUT_BATCH_OPTIONS_INIT \
    PAWL__BRACES(PAWL__SET(size, PAWL_SIZE_DEFAULT), PAWL__SET(lease, PAWL_LEASE_DEFAULT))

/* Leases due timeouts: those with due <= now (T5), at most `size`, earliest
 * first, by id where the times are equal (T4). Each row returned has the owner
 * and a lease until now + lease (T6); until then no other call returns it
 * (T8).
 *
 * `rows->next_due` is when to claim next: the earliest future due time, or
 * now + 1 minute when there is none (T17); a time not after `now` if more rows
 * than `size` were due.
 *
 * PAWL_EINVAL  size <= 0 (T3), lease <= 0 (T15), or no owner; nothing is leased. */
PAWL_API pawl_code pawl_store_timeout_batch(pawl_store                       *store,
                                            const pawl_timeout_batch_options *options,
                                            pawl_time now, pawl_arena *arena,
                                            pawl_timeout_rows *rows, pawl_error *error);

/* Removes a timeout. With an owner, only if the stored owner is the same (T9); an
 * expired lease is valid until another owner takes the row or the lease is reaped (T10).
 * Without an owner (NULL), leased or not; PAWL_OK also if the row is gone
 * already (T12).
 *
 * PAWL_EGONE  with an owner: the row has another owner or none, or is gone; it
 *             is unchanged (T9, T10, T11). */
PAWL_API pawl_code pawl_store_timeout_remove(pawl_store *store, pawl_timeout_id id,
                                             const pawl_session_id *owner, pawl_time now,
                                             pawl_error *error);

/* Clears the lease; the next batch can have the row (T13). `owner` as for
 * remove: NULL clears any owner's lease, and accepts an unknown id.
 *
 * PAWL_EGONE  with an owner: the row is not leased by it; nothing changed. */
PAWL_API pawl_code pawl_store_timeout_release(pawl_store *store, pawl_timeout_id id,
                                              const pawl_session_id *owner, pawl_time now,
                                              pawl_error *error);

/* Clears every expired lease (expires <= now); `*count` is how many. Not needed for progress: batch leases rows
 * with an expired lease by itself (T14). */
PAWL_API pawl_code pawl_store_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                           pawl_error *error);

/* ---- By an operator ------------------------------------------------------ */

typedef struct pawl_timeout_query {
    pawl_saga_id            saga_id;   /* zero: of any saga, and of none */
    const pawl_timeout_row *after;     /* timeouts after this one; only its due and id are read, and
                                      * it may be gone. NULL: from the first */
    size_t                  count_max; /* 0: all */
} pawl_timeout_query;

/* Timeouts, leased or not, by due time, and by id where the times are equal. */
PAWL_API pawl_code pawl_store_timeout_find(pawl_store *store, const pawl_timeout_query *query,
                                           pawl_arena *arena, pawl_timeout_rows *rows,
                                           pawl_error *error);

typedef enum pawl_amend_action {
    PAWL_AMEND_CANCEL,  /* the timeout is deleted, and never fires */
    PAWL_AMEND_MOVE,    /* due at `due` */
    PAWL_AMEND_SHIFT,   /* due `shift` later than it was */
    PAWL_AMEND_RUN_NOW, /* due now, if it was due later; its attempts begin at zero */
    PAWL_AMEND_REAP,    /* an expired lease is cleared; nothing else changes */
} pawl_amend_action;

typedef struct pawl_timeout_amend {
    pawl_amend_action action;
    pawl_time         due;    /* MOVE */
    int64_t           shift;  /* SHIFT: microseconds; earlier when negative */
    pawl_text         by;     /* the person; not empty */
    pawl_text         reason; /* or empty */
} pawl_timeout_amend;

/* Applies the action to timeouts that pawl_store_timeout_find returned, each given once, in one commit with
 * an event that records who, when, why and which. `*amended` is how many were changed. Skipped are timeouts that
 * fired, were cancelled or were set again since they were read (E13); REAP also skips those with a valid lease.
 * CANCEL, MOVE, SHIFT and RUN_NOW also change timeouts in flight: the worker's commit is refused, and its
 * handler's effects are dropped.
 *
 * On failure none is changed. PAWL_EINVAL: an unknown action, `by` is empty, more timeouts than
 * PAWL_BATCH_MESSAGES_MAX. PAWL_ELIMIT: `by` and `reason` have more than PAWL_ERROR_TEXT_SIZE_MAX bytes
 * together. */
PAWL_API pawl_code pawl_store_timeout_amend(pawl_store *store, const pawl_timeout_row *rows,
                                            size_t count, const pawl_timeout_amend *amend,
                                            pawl_time now, size_t *amended, pawl_error *error);

/* Sets a timeout of a saga, in one commit with an event that records who, when and why. Fields are
 * those of pawl_store_timeout_insert; a zero id is replaced by a new one. If the saga has a timeout of that
 * name, in flight or not, it keeps its id and gets the new due time. The caller must check that the
 * saga exists and handles the name. `*id`, unless NULL: the id that was given or made.
 *
 * PAWL_EINVAL  `by` is empty, or the destination
 * PAWL_ELIMIT  `by` and `reason` have more than PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_timeout_set(pawl_store *store, const pawl_timeout_row *timeout,
                                          pawl_text by, pawl_text reason, pawl_time now,
                                          pawl_timeout_id *id, pawl_error *error);

/* Types of these events, one stream for each commit. Headers: "by" and "reason"; the body is
 * the list of the timeouts' "id", "name", "saga_type", "saga_id" and "due" before the change; for
 * set, "due" is the new time. These events are never deleted. */
#define PAWL_TIMEOUTS_STREAMS "pawl.timeouts" /* the name of a stream begins so, then a slash */
#define PAWL_TIMEOUTS_CANCELLED "pawl.timeouts_cancelled"
#define PAWL_TIMEOUTS_MOVED "pawl.timeouts_moved"
#define PAWL_TIMEOUTS_RUN_NOW "pawl.timeouts_released"
#define PAWL_TIMEOUTS_REAPED "pawl.timeouts_reaped"
#define PAWL_TIMEOUTS_SET "pawl.timeouts_set"

#ifdef __cplusplus
}
#endif
#endif
