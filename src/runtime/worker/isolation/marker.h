/* marker.h - writes and judges in-flight markers of rows that run isolated or in a marked batch.
 *
 *     take (whose is the marker?) -> its worker lives or died: crash count of the row is corrected
 *                                 -> in flight, or unsure: the row is released
 *     add -> (committed) -> run -> (overwritten)
 *     give_up, once there are crashes_max
 *
 * Threads: as the worker.
 * Tests: tests/unit/runtime/test_runtime_deaths.c, test_runtime_deaths_flush.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_MARKER_H
#define PAWL_RUNTIME_MARKER_H

#include "runtime/runtime.h"

#define PAWL__MARKER_PAUSE PAWL_MILLISECONDS(20) /* between reads of another worker's marker */

/* State of a marker, by its worker. */
typedef enum pawl__marker_owner {
    PAWL__MARKER_NONE,
    PAWL__MARKER_DIED,      /* its worker died */
    PAWL__MARKER_LIVES,     /* its worker lives and no longer runs the row, or ended normally */
    PAWL__MARKER_IN_FLIGHT, /* its worker lives and runs the row */
    PAWL__MARKER_UNSURE,    /* its worker seems dead, but may reconnect */
} pawl__marker_owner;

/* The end of an isolated run. */
typedef enum pawl__isolated_end {
    PAWL__ISOLATED_NONE,      /* nothing was due */
    PAWL__ISOLATED_RAN,       /* ran, or was given up */
    PAWL__ISOLATED_IN_FLIGHT, /* another worker has it */
    PAWL__ISOLATED_UNSURE,    /* not known yet whether its worker crashed in it */
} pawl__isolated_end;

/* Decision about a unit that was claimed in a batch. */
typedef enum pawl__marker_verdict {
    PAWL__MARKER_AMONG,    /* stays in the batch */
    PAWL__MARKER_ISOLATED, /* a suspect, or has crashes: runs isolated */
    PAWL__MARKER_LATER,    /* in flight, or its worker may be dead: leaves the batch */
} pawl__marker_verdict;

/* Judges a row by its marker and its crash count. A marker of a batch whose worker lives is removed from the row in
 * memory, as that worker has released the row. */
pawl_code pawl__marker_judge(pawl__worker *worker, pawl_queue_row *row,
                             pawl__marker_verdict *verdict, pawl_error *error);
/* Removes the marker from the row in memory. The crash count, which was raised in advance, stays if the worker crashed,
 * else it is lowered. `noun` is for the log and the history: "message". */
pawl_code pawl__marker_take(pawl__worker *worker, const char *noun, pawl_queue_row *row,
                            pawl__marker_owner *found, pawl_error *error);
/* The history with a marker of this worker. `among`: units of the batch, 0 for an isolated run. data NULL: no
 * memory. */
pawl_text pawl__marker_add(pawl__worker *worker, pawl_text history, size_t among);
/* A change that writes crash count and history of a message's row, and ends its claim. */
pawl_queue_settle pawl__marker_settle(const pawl__worker *worker, const pawl_queue_row *row,
                                      pawl_queue_action action, int32_t crashes, pawl_text history);
/* Fails the batch's only unit for its crashes. */
pawl_code pawl__isolated_give_up(pawl__worker *worker, const pawl_queue_row *row, pawl_step *step,
                                 pawl_error *error);
/* Has the row crashes_max crashes? */
bool      pawl__isolated_is_spent(const pawl__worker *worker, const pawl_queue_row *row);
pawl_code pawl__marker_no_memory(pawl_error *error);

/* isolated_timeout.c: the marker stream of a timeout or a partition. */
typedef struct pawl__isolated {
    const char    *type;    /* of the events */
    pawl_queue_row row;     /* id, name, crash count and history, in the form of a message's row */
    pawl_text      stream;  /* size 0: the store has no events, so crashes are not counted */
    int64_t        version; /* version of its last event */
} pawl__isolated;
pawl_code pawl__isolated_read_timeout(pawl__worker *worker, const pawl_timeout_row *timeout,
                                      pawl__isolated *it, pawl_error *error);
/* A change that appends an event with this history. */
pawl_event_append pawl__isolated_next_event(const pawl__worker *worker, const pawl__isolated *it,
                                            pawl_text history);
/* Ends the lease of a timeout that must not run now. */
pawl_code pawl__isolated_free_timeout(pawl__worker *worker, const pawl_timeout_row *row,
                                      pawl_error *error);
/* Claims a due timeout and runs it isolated. */
pawl_code pawl__isolated_run_timeout(pawl__worker *worker, pawl_time due_max,
                                     pawl__isolated_end *end, pawl_step *step, pawl_error *error);
/* Runs the flush that is the batch's only unit. Unless *end is RAN, its leased batch is still claimed. */
pawl_code pawl__isolated_run_flush(pawl__worker *worker, pawl__isolated_end *end, pawl_step *step,
                                   pawl_error *error);

#endif
