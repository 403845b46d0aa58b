/* marker.h - the in-flight marker (stamp) of a row that runs alone, or in a stamped batch: whose it is, and what follows.
 *
 *     take (whose is the marker?) -> no crash, or one more, in the row
 *                                 -> in flight, or unsure: let go of it
 *     add -> (written) -> run -> (written over)
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

#define PAWL__MARKER_PAUSE PAWL_MILLISECONDS(20) /* until the next look at one that is not free */

/* Whose a stamp is. */
typedef enum pawl__marker_owner {
    PAWL__MARKER_NONE,
    PAWL__MARKER_DIED,      /* its worker died */
    PAWL__MARKER_LIVES,     /* its worker goes on, or ended in order */
    PAWL__MARKER_IN_FLIGHT, /* its worker runs it */
    PAWL__MARKER_UNSURE, /* its worker seems to be dead; its connection may come back, a note may come */
} pawl__marker_owner;

/* The end of something that was to run alone. */
typedef enum pawl__isolated_end {
    PAWL__ISOLATED_NONE,      /* there was nothing */
    PAWL__ISOLATED_RAN,       /* or it was given up */
    PAWL__ISOLATED_IN_FLIGHT, /* another worker has it */
    PAWL__ISOLATED_UNSURE,    /* its worker may have died of it: nobody knows yet */
} pawl__isolated_end;

/* The way to go on with something that was claimed among others. */
typedef enum pawl__marker_verdict {
    PAWL__MARKER_AMONG, /* runs among them */
    PAWL__MARKER_ALONE, /* a suspect, or has deaths */
    PAWL__MARKER_LATER, /* in flight, or nobody knows yet whether its worker died */
} pawl__marker_verdict;

/* Judges by the stamp and the deaths of the row in memory. A stamp among others whose worker lives is taken out of it: that worker
 * has let the row go. */
pawl_code pawl__marker_judge(pawl__worker *worker, pawl_queue_row *row,
                             pawl__marker_verdict *verdict, pawl_error *error);
/* Takes the stamp out of the row in memory: a death that was counted ahead stands, or does not. `noun` is
 * for the log and the history: "message". */
pawl_code pawl__marker_take(pawl__worker *worker, const char *noun, pawl_queue_row *row,
                            pawl__marker_owner *found, pawl_error *error);
/* The history with a stamp of this worker, alone or among so many; data NULL: no memory. */
pawl_text pawl__marker_add(pawl__worker *worker, pawl_text history, size_t among);
/* Fails the batch's only unit for its deaths. */
pawl_code pawl__isolated_give_up(pawl__worker *worker, const pawl_queue_row *row, pawl_step *step,
                                 pawl_error *error);
/* Are there as many deaths as the endpoint allows? */
bool      pawl__isolated_is_spent(const pawl__worker *worker, const pawl_queue_row *row);
pawl_code pawl__marker_no_memory(pawl_error *error);

/* isolated_timeout.c: timeouts and flushes, with the stamp in a stream. */
/* The next event of a timeout's stream. */
typedef struct pawl__isolated {
    const char    *type;    /* of the events */
    pawl_queue_row row;     /* its id and name, deaths and history, as a message has them */
    pawl_text      stream;  /* size 0: the store has no events, and no deaths are counted */
    int64_t        version; /* of its last event */
} pawl__isolated;
pawl_code pawl__isolated_read_timeout(pawl__worker *worker, const pawl_timeout_row *timeout,
                                      pawl__isolated *it, pawl_error *error);
/* The event behind the last one, with this history. */
pawl_event_append pawl__isolated_next_event(const pawl__worker *worker, const pawl__isolated *it,
                                            pawl_text history);
/* Ends the lease of a timeout that is not to run now. */
pawl_code pawl__isolated_free_timeout(pawl__worker *worker, const pawl_timeout_row *row,
                                      pawl_error *error);
/* Claims a timeout that is due and runs it. */
pawl_code pawl__isolated_run_timeout(pawl__worker *worker, pawl_time due_max,
                                     pawl__isolated_end *end, pawl_step *step, pawl_error *error);
/* Runs the flush that is the batch's only unit. Unless it RAN its snapshot is still claimed. */
pawl_code pawl__isolated_run_flush(pawl__worker *worker, pawl__isolated_end *end, pawl_step *step,
                                   pawl_error *error);

#endif
