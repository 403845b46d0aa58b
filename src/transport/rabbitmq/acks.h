/* acks.h - collects the deliveries of a channel to acknowledge, and needs as few acknowledgements as possible.
 *
 *     { begin -> { take | settle | next }* }* -> free
 *
 * "Multiple" acknowledges all tags of the channel up to one, so it can only be used for a prefix without gaps.
 * Deliveries settled behind a gap are acknowledged one by one:
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

/* Zeroed: no channel has been opened. */
typedef struct pawl__acks {
    uint64_t        channel; /* number of the channel; each channel counts tags from 1 */
    pawl__ack_item *items;   /* unacknowledged deliveries, sorted by tag */
    size_t          count, capacity;
} pawl__acks;

/* Starts another channel, with room for `capacity` unacknowledged deliveries, and forgets those of the channel before.
 * PAWL_ENOMEM. */
pawl_code pawl__acks_begin(pawl__acks *acks, size_t capacity);
/* Adds a delivery; tags only grow. False: there are more than `capacity`. */
bool pawl__acks_take(pawl__acks *acks, uint64_t tag);
/* Marks a delivery as ready to be acknowledged. A tag of another channel, or an unknown one, changes nothing. */
void pawl__acks_settle(pawl__acks *acks, uint64_t channel, uint64_t tag);
/* The next acknowledgement to send; false: there is none. */
bool pawl__acks_next(pawl__acks *acks, uint64_t *tag, bool *is_multiple);
void pawl__acks_free(pawl__acks *acks);

#endif
