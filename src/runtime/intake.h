/* intake.h - an endpoint's reading from a queue of a broker: messages are taken, made rows of the
 * endpoint's own queue in one commit, and settled at the broker after it.
 *
 *     broker --take--> one commit: rows, dead letters --settle--> broker          workers claim the rows
 *
 * A process that dies before the commit took nothing; one that dies behind it gets the messages again, of
 * which no second row is made while the first one lives, and whose mark in the inbox drops them afterwards.
 * So retries, delays, deaths, history and pauses are those of any message of the queue.
 *
 * Threads: an intake belongs to one thread, of run() alone.
 * Tests: tests/unit/runtime/test_runtime_intake.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_INTAKE_H
#define PAWL_RUNTIME_INTAKE_H

#include "pawl/intake.h"
#include "runtime/runtime.h"

typedef struct pawl__intake {
    pawl_endpoint *endpoint;
    pawl__hand     hand;
    pawl_intake   *driver;
    pawl_store    *store; /* a handle without a worker; NULL: not open */
    pawl_arena    *arena; /* of a step */
    pawl_random    random;
    char          *url;       /* owned: without its queue */
    pawl_text     *types;     /* owned */
    const char    *queue;     /* of the broker; in `url`, or the endpoint's own */
    size_t         unsettled; /* messages that were taken on this connection and not settled */
    bool           is_ordered;
    pawl_time      due_last; /* of a message */
    bool           has_told; /* the log says that messages without an id come */
} pawl__intake;

/* Reads the endpoint's option `transport`; connects to nobody. PAWL_ECONFIG. */
pawl_code pawl__intake_create(pawl_endpoint *endpoint, pawl__intake **intake, pawl_error *error);
/* Closes what is open; what is not settled goes back. */
void pawl__intake_leave(pawl__intake *intake);
void pawl__intake_destroy(pawl__intake *intake); /* accepts NULL */
/* Waits for messages, at most `wait` microseconds or until `wake_fd` is readable, and takes in those
 * that are there: `*count`. After a failure the connection is given up, and the store's handle when it
 * was that; the next step makes both anew, the store's first. */
pawl_code pawl__intake_step(pawl__intake *intake, int64_t wait, int wake_fd, size_t *count,
                            pawl_error *error);
/* The pause after the `retries`-th failure in a row, counted from 0: half of it is chance. */
int64_t pawl__intake_pause(pawl__intake *intake, int retries);

#endif
