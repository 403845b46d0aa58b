/* inbound.h - the interface of an inbound transport, through which an endpoint reads a queue of a
 * broker.
 *
 *     open -> { take -> settle* | finish | leave }* -> close
 *
 * An endpoint takes messages, handles them or stores them as rows of its own queue in one commit, and settles
 * (acknowledges) them after that commit: settled before, they could be lost. The broker delivers a message
 * again until it is settled. Copies are dropped: rows are unique by the message's id, and handled ids have
 * deduplication records.
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

/* A message that was taken. */
typedef struct pawl_taken {
    pawl_message message; /* id and type are both empty if one of them is missing */
    pawl_text    refusal; /* not empty: it becomes a dead letter at once, with this error */
    uint64_t     channel; /* with `tag` it identifies the delivery */
    uint64_t     tag;
    pawl_time    due; /* business time before which it must not be handled; 0: there is none */
    bool         is_redelivered; /* delivered before, to a program that may have crashed on it */
} pawl_taken;

typedef struct pawl_takings {
    pawl_taken *items;
    size_t      count;
} pawl_takings;

typedef struct pawl_inbound_options {
    size_t           options_size;
    const char      *queue; /* of the broker; borrowed until close, as all members */
    const pawl_text *types; /* types that the endpoint handles, for subscriptions */
    size_t           type_count;
    size_t           prefetch; /* most messages that are taken and not settled */
    bool is_ordered; /* the broker must deliver to only one reader of the queue at a time */
} pawl_inbound_options;

typedef struct pawl_take {
    size_t  count_max;
    size_t  size_max; /* bytes of headers and bodies, as of a claim */
    int64_t wait;     /* microseconds for the first message */
    int     wake_fd;  /* ends the wait when it is readable; -1: there is none */
    int     stop_fd;  /* readable once the endpoint stops: long operations then end; 0: none */
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
    /* Connects, declares and subscribes if there is no connection; waits for a message, and takes all that have
     * arrived, in their order; none when the wait is over. Texts are in the
     * arena. Any code but PAWL_OK: nothing is taken, and the connection is closed. */
    pawl_code (*take)(pawl_inbound *inbound, const pawl_take *by, pawl_arena *arena,
                      pawl_takings *takings, pawl_error *error);
    /* Acknowledges the messages: the broker does not deliver them again. Deliveries of a closed channel are skipped;
     * the broker delivers them again. Any code but PAWL_OK: all may be delivered again, the connection is closed. */
    pawl_code (*settle)(pawl_inbound *inbound, const pawl_taken *items, size_t count,
                        pawl_error *error);
    /* Closes the connection: the broker delivers messages that are not settled again. */
    void (*leave)(pawl_inbound *inbound);
    /* Removes the queue and its messages; PAWL_OK also without such a queue. For tests and benchmarks, which make
     * queues for a while. NULL: a queue of this broker cannot be removed. */
    pawl_code (*remove)(pawl_inbound *inbound, pawl_error *error);
    /* Requests no more messages from the broker. Messages delivered before can still be taken, until a take returns
     * none. A take does not reconnect before leave. Any code but PAWL_OK: the connection is closed. NULL: messages that
     * were delivered and not taken return to the broker when the connection ends. */
    pawl_code (*finish)(pawl_inbound *inbound, pawl_error *error);
};

/* Registers an inbound transport of your own for the URLs of its scheme; call it before any endpoint is created. A
 * second call with the same table changes nothing. PAWL_EDUPLICATE: another transport has the scheme. The table is
 * borrowed for the life of the program. */
PAWL_API pawl_code pawl_inbound_register(const pawl_inbound_ops *ops, pawl_error *error);
/* The same from a module that exports a `const pawl_inbound_ops` named PAWL_INBOUND_DRIVER_SYMBOL.
 * PAWL_EUNREACHABLE: the module cannot be loaded; PAWL_ECONFIG: the module has no such table. */
PAWL_API pawl_code pawl_inbound_load(const char *path, pawl_error *error);
#define PAWL_INBOUND_DRIVER_SYMBOL "pawl_inbound_driver"
/* The inbound transport for the URL's scheme. PAWL_ECONFIG: there is none; the text has the reason. */
PAWL_API pawl_code pawl_inbound_find(const char *url, const pawl_inbound_ops **ops,
                                     pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
