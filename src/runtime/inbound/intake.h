/* intake.h - an endpoint's reading from a queue of a broker: messages are taken, made rows of the
 * endpoint's own queue in one commit, and settled at the broker after it.
 *
 *     broker --take--> one commit: rows, dead letters --settle--> broker          workers claim the rows
 *       |                        ^ what is left over
 *       `--take--> offers.h: workers handle it without rows --settle--> broker
 *
 * A process that dies before the commit took nothing; one that dies behind it gets the messages again, of
 * which no second row is made while the first one lives, and whose mark in the inbox drops them afterwards.
 * So retries, delays, deaths, history and pauses are those of any message of the queue. While the endpoint's
 * hand-over is on, messages go to the workers first, and only those that were not handled at once become rows.
 *
 * Threads: an intake belongs to one thread, of run() alone.
 * Tests: tests/unit/runtime/test_runtime_intake.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_INTAKE_H
#define PAWL_RUNTIME_INTAKE_H

#include "pawl/inbound.h"
#include "runtime/runtime.h"

typedef struct pawl__intake {
    pawl_endpoint *endpoint;
    pawl__hand     hand;
    pawl_inbound  *driver;
    pawl_store    *store; /* a handle without a worker; NULL: not open */
    pawl_arena    *arena; /* of a step */
    pawl_random    random;
    char          *url;       /* owned: without its queue */
    pawl_text     *types;     /* owned */
    const char    *queue;     /* of the broker; in `url`, or the endpoint's own */
    size_t         unsettled; /* messages that were taken on this connection and not settled */
    bool           is_ordered;
    pawl_time      due_last; /* of a message */
    int            wake_fd;  /* of the hand-over */
    bool           has_told; /* the log says that messages without an id come */
} pawl__intake;

/* Reads the endpoint's option `transport`; connects to nobody. PAWL_ECONFIG. */
pawl_code pawl__intake_create(pawl_endpoint *endpoint, pawl__intake **inbound, pawl_error *error);
/* Closes what is open; what is not settled goes back. */
void pawl__intake_leave(pawl__intake *inbound);
void pawl__intake_destroy(pawl__intake *inbound); /* accepts NULL */
/* Waits for messages, at most `wait` microseconds or until `wake_fd` is readable, and takes in those
 * that are there: `*count`. After a failure the connection is given up, and the store's handle when it
 * was that; the next step makes both anew, the store's first. */
pawl_code pawl__intake_step(pawl__intake *inbound, int64_t wait, int wake_fd, size_t *count,
                            pawl_error *error);
/* ---- Between the files of the intake ------------------------------------------------------ */

/* Makes rows of messages, or dead letters, in one commit, and settles them. */
pawl_code pawl__intake_store(pawl__intake *inbound, const pawl_takings *takings, pawl_error *error);
pawl_code pawl__intake_settle(pawl__intake *inbound, const pawl_taken *items, size_t count,
                              pawl_error *error);
/* So many more are taken and not settled. */
void pawl__intake_count(pawl__intake *inbound, size_t count);
/* Would a store take the row? */
bool pawl__intake_is_fit(const pawl__intake *inbound, const pawl_taken *taken);
/* After a failure: gives up the connection, and all that was taken on it. */
void pawl__intake_lose(pawl__intake *inbound);

/* Switches the hand-over on, unless the endpoint's messages need rows: an order, or a virtual clock. Steps read and
 * write the eventfd from then on. Ending gives what nobody took to the store, and waits a moment for the rest. */
void pawl__intake_begin_direct(pawl__intake *inbound, int wake_fd);
void pawl__intake_end_direct(pawl__intake *inbound);
/* The pause after the `retries`-th failure in a row, counted from 0: half of it is chance. */
int64_t pawl__intake_pause(pawl__intake *inbound, int retries);

#endif
