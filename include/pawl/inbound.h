/* inbound.h - inbound transports: what a driver must do for an endpoint that reads a queue of a
 * broker.
 *
 *     open -> { take -> settle* | finish | leave }* -> close
 *
 * An endpoint takes messages, handles them or makes them rows of its own queue in one commit, and then
 * settles them. A message that was taken and not settled comes again, as often as it takes: rows are unique
 * by the message's id, and the deduplication record drops what was handled. Settled before its commit it would be lost.
 *
 * A message is identified by the channel on which it came and its tag there. Messages may be settled in any
 * order, and one by one.
 *
 * Threads: an inbound transport belongs to one thread.
 * Tests: tests/unit/runtime/test_runtime_intake.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_INBOUND_H
#define PAWL_INBOUND_H

#include "pawl/base.h"
#include "pawl/message.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_inbound     pawl_inbound;
typedef struct pawl_inbound_ops pawl_inbound_ops;

/* A message as it came. */
typedef struct pawl_taken {
    pawl_message message; /* without an id or a type both are empty */
    pawl_text    refusal; /* why it is a dead letter at once; empty: it is none */
    uint64_t     channel; /* with `tag` it identifies the delivery */
    uint64_t     tag;
    pawl_time    due; /* business time before which it must not be handled; 0: there is none */
    bool         is_redelivered; /* handed out before, to a program that may have crashed on it */
} pawl_taken;

typedef struct pawl_takings {
    pawl_taken *items;
    size_t      count;
} pawl_takings;

typedef struct pawl_inbound_options {
    size_t           options_size;
    const char      *queue; /* of the broker; borrowed until close, as all here */
    const pawl_text *types; /* types that the endpoint handles, for subscriptions */
    size_t           type_count;
    size_t           prefetch; /* most messages that are taken and not settled */
    bool is_ordered; /* of several programs that read the queue one at a time is given messages */
} pawl_inbound_options;

typedef struct pawl_take {
    size_t  count_max;
    size_t  size_max; /* bytes of headers and bodies, as of a claim */
    int64_t wait;     /* microseconds for the first message */
    int     wake_fd;  /* ends the wait when it is readable; -1: there is none */
    int     stop_fd;  /* readable once the endpoint stops, which ends what takes long; 0: none */
} pawl_take;

struct pawl_inbound {
    const pawl_inbound_ops *ops;
};

struct pawl_inbound_ops {
    size_t      ops_size;     /* sizeof(pawl_inbound_ops) */
    size_t      inbound_size; /* the core allocates this much, zeroed; begins with pawl_inbound */
    const char *scheme;       /* of the URLs it takes, "amqp" */

    /* Reads the URL; does not connect. After a failed open the core still calls close(). */
    pawl_code (*open)(pawl_inbound *inbound, const char *url, const pawl_inbound_options *options,
                      pawl_error *error);
    void (*close)(pawl_inbound *inbound);
    /* Connects, declares and subscribes when there is no connection, waits for a message and takes
     * those that are there, in the order in which they came; none when the wait is over. Texts are in the
     * arena. Any other code but PAWL_OK: nothing is taken, and the connection is closed. */
    pawl_code (*take)(pawl_inbound *inbound, const pawl_take *by, pawl_arena *arena,
                      pawl_takings *takings, pawl_error *error);
    /* These never come again. A delivery on a channel that is gone is skipped: its message comes again.
     * Any other code but PAWL_OK: they may come again, and the connection is closed. */
    pawl_code (*settle)(pawl_inbound *inbound, const pawl_taken *items, size_t count,
                        pawl_error *error);
    /* Closes the connection, and with it returns what is not settled. */
    void (*leave)(pawl_inbound *inbound);
    /* Removes the queue with all that is in it; there is none: PAWL_OK. For programs that made it for a while,
     * as tests and benches do. NULL: a queue of this broker cannot be removed. */
    pawl_code (*remove)(pawl_inbound *inbound, pawl_error *error);
    /* Requests no more messages from the broker. Messages that were delivered before can still be taken, until a take returns
     * none. A take does not connect again before leave. Any other code but PAWL_OK: the connection is closed. NULL: what was handed out and not
     * taken goes back when the connection ends. */
    pawl_code (*finish)(pawl_inbound *inbound, pawl_error *error);
};

/* Adds an inbound transport of your own for the URLs of its scheme; before any endpoint is created.
 * PAWL_EDUPLICATE: another one has the scheme; the same again changes nothing. The table is borrowed
 * for the life of the program. */
PAWL_API pawl_code pawl_inbound_register(const pawl_inbound_ops *ops, pawl_error *error);
/* The same from a module that exports a `const pawl_inbound_ops` named PAWL_INBOUND_DRIVER_SYMBOL.
 * PAWL_EUNREACHABLE: it cannot be loaded; PAWL_ECONFIG: it has no such table. */
PAWL_API pawl_code pawl_inbound_load(const char *path, pawl_error *error);
#define PAWL_INBOUND_DRIVER_SYMBOL "pawl_inbound_driver"
/* The inbound transport for the URL's scheme. PAWL_ECONFIG: there is none, and why. */
PAWL_API pawl_code pawl_inbound_find(const char *url, const pawl_inbound_ops **ops,
                                     pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
