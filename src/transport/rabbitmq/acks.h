/* acks.h - which deliveries of a channel are to be acknowledged, and by how few acknowledgements.
 *
 *     { begin -> { take | settle | next }* }* -> free
 *
 * "Multiple" acknowledges all tags of the channel up to one, so that it is used for a prefix without
 * a gap alone; what is settled behind a gap is acknowledged one by one:
 *
 *     taken     1 2 3 4 5 6
 *     settled   x x x   x x       next: 3 multiple, 5, 6; then 4 is left
 *
 * Threads: plain data. Tests: tests/unit/transport/test_rabbitmq_acks.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TRANSPORT_RABBITMQ_ACKS_H
#define PAWL_TRANSPORT_RABBITMQ_ACKS_H

#include "pawl/base.h"

typedef struct pawl__ack_item {
    uint64_t tag;
    bool     is_settled;
} pawl__ack_item;

/* Zeroed: no channel has begun. */
typedef struct pawl__acks {
    uint64_t        channel; /* number of the channel: tags begin anew on each */
    pawl__ack_item *items;   /* not acknowledged, by tag */
    size_t          count, capacity;
} pawl__acks;

/* Another channel, with room for as many unacknowledged deliveries; those of the one before are forgotten.
 * PAWL_ENOMEM. */
pawl_code pawl__acks_begin(pawl__acks *acks, size_t capacity);
/* A delivery came; tags grow. False: there are more than the channel may have. */
bool pawl__acks_take(pawl__acks *acks, uint64_t tag);
/* Not to be delivered again. A tag of another channel, or an unknown one, changes nothing. */
void pawl__acks_settle(pawl__acks *acks, uint64_t channel, uint64_t tag);
/* The next acknowledgement to send; false: there is none. */
bool pawl__acks_next(pawl__acks *acks, uint64_t *tag, bool *is_multiple);
void pawl__acks_free(pawl__acks *acks);

#endif
