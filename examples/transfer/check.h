/* check.h - verifies a run by one pass over all events of the store.
 *
 * The check does not use handlers, snapshots or queues. It adds up the money of every event, follows every transfer
 * through its states, and matches each debit and credit with the transfer that sent it, by the dispatch id computed
 * from that transfer's event (docs/dispatch-ids.md). Every event that does not fit is reported as a difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_CHECK_H
#define TRANSFER_CHECK_H

#include "pawl/operate.h"
#include "plan.h"

#define TRANSFER_DIFFERENCES_SHOWN 10

typedef struct transfer_found {
    int64_t  events;
    int64_t  done;
    int64_t  failed;   /* failed before any money moved */
    int64_t  refunded; /* refunded after the credit was rejected */
    int64_t  overdue;
    int64_t  cents; /* sum of all accounts at the end */
    uint64_t difference_count;
    char     differences[TRANSFER_DIFFERENCES_SHOWN][300]; /* the first ones */
} transfer_found;

/* No process may write meanwhile. Fails only if the store cannot be read. */
pawl_code transfer_check(pawl_store *store, const transfer_plan *plan, transfer_found *found,
                         pawl_error *error);

void transfer_differ(transfer_found *found, const char *format, ...) PAWL_PRINTF(2, 3);

#endif
