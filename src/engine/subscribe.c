/* subscribe.c - the queues that get a published message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

/* Is `type` the record's own type or one of its base types? */
static bool is_of_type(pawl_text type, const pawl_record *record)
{
    for (; record != NULL; record = record->base != NULL ? record->base() : NULL)
        if (pawl_text_equal(type, pawl_text_of(pawl_record_type(record))))
            return true;
    return false;
}

bool pawl__is_subscriber(const pawl_subscriptions *list, size_t index, const pawl_record *record)
{
    const pawl_subscription *items = list->items;
    if (!is_of_type(items[index].type, record))
        return false;
    for (size_t i = 0; i < index; i++)
        if (pawl_text_equal(items[i].queue, items[index].queue) &&
            is_of_type(items[i].type, record))
            return false;
    return true;
}
