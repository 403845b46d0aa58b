/* intake.h - takes messages from a broker's queue. Each becomes a row of the endpoint's own queue, or a worker handles
 * it without a row; then it is acknowledged.
 *
 *     broker --take--> one commit: rows, dead letters --acknowledge--> broker         workers claim the rows
 *       |                        ^ messages not handled at once
 *       `--take--> offers.h: workers handle it without rows --acknowledge--> broker
 *
 *     intake.c            writes rows and dead letters; creates and ends an intake
 *     intake_step.c       one step: take and store, or take and offer
 *     seconds.c           drops unreadable messages whose id a message has that is not handled yet
 *     offers.h            messages on their way to the workers and back
 *     connection_state.h  connected or not, for health; may an older message be where this process does not see it
 *
 *     create -> begin_offers -> { step }* -> end_offers -> leave -> destroy
 *
 * If the process crashes before the commit, the broker delivers the messages again. If it crashes after it, too, but
 * then the existing row, or the deduplication record, drops the copies. Rows have retries, delays, crash counts,
 * history and pauses like any message of the queue.
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
    pawl__app_call app_call;
    pawl_inbound  *driver;
    pawl_store    *store; /* handle without a worker; NULL: not open */
    pawl_arena    *arena; /* of a step */
    pawl_arena    *kept_arena;
    pawl_changes   kept; /* rows of a failed commit: see pawl__intake_store_kept */
    pawl_random    random;
    char          *url;       /* owned: without its queue */
    pawl_text     *types;     /* owned */
    const char    *queue;     /* the broker's queue; in `url`, or the endpoint's name */
    size_t         unsettled; /* taken on this connection and not yet settled */
    bool           is_ordered;
    pawl_time      due_last; /* due time given to the last message */
    /* Of an ordered endpoint: name and value of its checkpoint, read for the first messages of a connection. */
    pawl_text place_name;
    int64_t   place;
    bool      has_place;
    int       wake_fd;  /* eventfd of the offers */
    bool      has_told; /* logged that messages come without an id */
} pawl__intake;

/* Reads the endpoint's option `transport`, but does not connect. PAWL_ECONFIG. */
pawl_code pawl__intake_create(pawl_endpoint *endpoint, pawl__intake **inbound, pawl_error *error);
/* Closes connection and store; unsettled messages return to the broker. */
void pawl__intake_leave(pawl__intake *inbound);
void pawl__intake_destroy(pawl__intake *inbound); /* accepts NULL */
/* Waits for messages, at most `wait` microseconds or until `wake_fd` is readable, and takes those that are there:
 * `*count`. A failure closes the connection, and the store handle if that failed; the next step opens both again, the
 * store first. */
pawl_code pawl__intake_step(pawl__intake *inbound, int64_t wait, int wake_fd, size_t *count,
                            pawl_error *error);
/* ---- Between the files of the intake ------------------------------------------------------ */

/* Writes the messages as rows or dead letters in one commit, and acknowledges them. */
pawl_code pawl__intake_store(pawl__intake *inbound, const pawl_takings *takings, pawl_error *error);
/* Called before more is taken: writes the rows and dead letters of the last failed commit. Reason: if the store can be
 * read but not written, as its disk is full, each message would be delivered and returned again and again, and RabbitMQ
 * drops messages that were returned too often. The broker delivers these messages once more, and they are known by
 * their ids. A message without an id gets another one then, so its row here is written as handled already. */
pawl_code pawl__intake_store_kept(pawl__intake *inbound, pawl_error *error);
pawl_code pawl__intake_settle(pawl__intake *inbound, const pawl_taken *items, size_t count,
                              pawl_error *error);
/* Called before their commit: leaves out dead letters, with their deduplication records, if an earlier message of the
 * same id is not handled yet. `taken` has the message of each unit. */
pawl_code pawl__intake_drop_seconds(pawl__intake *inbound, pawl_changes *changes,
                                    const pawl_taken *taken, pawl_error *error);
/* Adds to the number of unsettled messages. */
void pawl__intake_count(pawl__intake *inbound, size_t count);
/* Can the message be written as a row? */
bool pawl__intake_is_fit(const pawl__intake *inbound, const pawl_taken *taken);
/* Called after a failure: closes the connection; all that was taken on it comes again. */
void pawl__intake_disconnect(pawl__intake *inbound);

/* Begin: from now on messages are offered to workers, unless the endpoint needs rows, as it is ordered or has a virtual
 * clock. Steps read and write the eventfd. End: writes messages that no worker took as rows, and waits a moment for the
 * others. */
void pawl__intake_begin_offers(pawl__intake *inbound, int wake_fd);
void pawl__intake_end_offers(pawl__intake *inbound);
/* The pause after a failure, `retries` others before it in a row; half of it is jitter. */
int64_t pawl__intake_pause(pawl__intake *inbound, int retries);

#endif
