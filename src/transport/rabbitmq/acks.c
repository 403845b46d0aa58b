/* acks.c - the unacknowledged deliveries of a channel, sorted by tag.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/acks.h"

#include <string.h>

pawl_code pawl__acks_begin(pawl__acks *acks, size_t capacity)
{
    if (capacity > acks->capacity) {
        pawl__ack_item *items = pawl_allocate(capacity * sizeof items[0]);
        if (items == NULL)
            return PAWL_ENOMEM;
        pawl_free(acks->items);
        acks->items    = items;
        acks->capacity = capacity;
    }
    acks->count = 0;
    acks->channel++;
    return PAWL_OK;
}

bool pawl__acks_take(pawl__acks *acks, uint64_t tag)
{
    if (acks->count == acks->capacity)
        return false;
    acks->items[acks->count++] = (pawl__ack_item){.tag = tag};
    return true;
}

void pawl__acks_settle(pawl__acks *acks, uint64_t channel, uint64_t tag)
{
    size_t low = 0, high = acks->count;
    if (channel != acks->channel)
        return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (acks->items[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < acks->count && acks->items[low].tag == tag)
        acks->items[low].is_settled = true;
}

static void drop(pawl__acks *acks, size_t first, size_t count)
{
    acks->count -= count;
    memmove(&acks->items[first], &acks->items[first + count],
            (acks->count - first) * sizeof acks->items[0]);
}

bool pawl__acks_next(pawl__acks *acks, uint64_t *tag, bool *is_multiple)
{
    size_t prefix = 0, alone = 0;
    while (prefix < acks->count && acks->items[prefix].is_settled)
        prefix++;
    if (prefix > 0) {
        *tag         = acks->items[prefix - 1].tag;
        *is_multiple = prefix > 1;
        drop(acks, 0, prefix);
        return true;
    }
    while (alone < acks->count && !acks->items[alone].is_settled)
        alone++;
    if (alone == acks->count)
        return false;
    *tag         = acks->items[alone].tag;
    *is_multiple = false;
    drop(acks, alone, 1);
    return true;
}

void pawl__acks_free(pawl__acks *acks)
{
    pawl_free(acks->items);
    *acks = (pawl__acks){0};
}
