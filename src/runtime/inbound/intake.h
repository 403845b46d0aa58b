/* intake.h - messages are taken from a queue of a broker, for an endpoint: each becomes a row of the endpoint's own queue, or
 * is handled by a worker without one, and is acknowledged after that.
 *
 *     broker --take--> one commit: rows, dead letters --acknowledge--> broker         workers claim the rows
 *       |                        ^ what was not handled at once
 *       `--take--> offers.h: workers handle it without rows --acknowledge--> broker
 *
 *     intake.c            what was taken becomes rows and dead letters; creation and end
 *     intake_step.c       one step: take and store, or take and offer
 *     offers.h            messages on their way to the workers and back
 *     connection_state.h  connected or not, for health; may an older message be where this process does not see it
 *
 *     create -> begin_offers -> { step }* -> end_offers -> leave -> destroy
 *
 * A process that dies before the commit took nothing; after it the broker delivers the messages again, and the row that
 * is there, or the deduplication record, drops the copies. So retries, delays, crashes, history and pauses are those of
 * any message of the queue.
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
    pawl_store    *store; /* a handle without a worker; NULL: not open */
    pawl_arena    *arena; /* of a step */
    pawl_arena    *kept_arena;
    pawl_changes   kept; /* of a commit that failed: see pawl__intake_store_kept */
    pawl_random    random;
    char          *url;       /* owned: without its queue */
    pawl_text     *types;     /* owned */
    const char    *queue;     /* of the broker; in `url`, or the endpoint's own */
    size_t         unsettled; /* messages that were taken on this connection and not settled */
    bool           is_ordered;
    pawl_time      due_last; /* of a message */
    /* Of an ordered endpoint: the checkpoint of that name, and where it is: read for the first messages of a connection. */
    pawl_text place_name;
    int64_t   place;
    bool      has_place;
    int       wake_fd;  /* of the offers */
    bool      has_told; /* the log says that messages without an id come */
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
/* Before a broker is asked for more: the rows and letters of the commit that failed last are in the store. A store that can be
 * read, but takes nothing since its disk is full, would have each message handed out and returned again and again, and RabbitMQ
 * drops what was returned too often. They come from the broker once more, and are known then by their ids; what has no id is
 * written as handled already, and comes under another one. */
pawl_code pawl__intake_store_kept(pawl__intake *inbound, pawl_error *error);
pawl_code pawl__intake_settle(pawl__intake *inbound, const pawl_taken *items, size_t count,
                              pawl_error *error);
/* So many more are taken and not settled. */
void pawl__intake_count(pawl__intake *inbound, size_t count);
/* Would a store take the row? */
bool pawl__intake_is_fit(const pawl__intake *inbound, const pawl_taken *taken);
/* After a failure: gives up the connection, and all that was taken on it. */
void pawl__intake_lose(pawl__intake *inbound);

/* Offers messages to workers from now on, unless the endpoint's messages need rows: an order, or a virtual clock. Steps read and
 * write the eventfd from then on. Ending gives what nobody took to the store, and waits a moment for the rest. */
void pawl__intake_begin_offers(pawl__intake *inbound, int wake_fd);
void pawl__intake_end_offers(pawl__intake *inbound);
/* The pause after the `retries`-th failure in a row, counted from 0: half of it is chance. */
int64_t pawl__intake_pause(pawl__intake *inbound, int retries);

#endif
