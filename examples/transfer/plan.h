/* plan.h - the requests to the bank, computed from one seed: accounts, and transfers between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_PLAN_H
#define TRANSFER_PLAN_H

#include "records.h"

typedef struct transfer_plan {
    uint64_t          seed;
    open_account     *accounts; /* account i is number i + 1 */
    size_t            account_count;
    request_transfer *transfers; /* transfer i is number i + 1 */
    size_t            transfer_count;
    int64_t           cents; /* sum of all accounts */
} transfer_plan;

/* PAWL_ENOMEM. Clear the plan even after a failure. */
pawl_code transfer_plan_make(uint64_t seed, int64_t accounts, int64_t transfers,
                             transfer_plan *plan, pawl_error *error);
void      transfer_plan_clear(transfer_plan *plan);

/* The id of the request's message, always the same. */
void transfer_plan_id(const transfer_plan *plan, int64_t transfer,
                      char id[PAWL_UUID_TEXT_SIZE + 1]);

/* Is the outcome certain, whatever happens meanwhile? */
bool transfer_plan_is_closed(const transfer_plan *plan, int64_t transfer); /* is never completed */
bool transfer_plan_is_too_much(const transfer_plan *plan, int64_t transfer); /* fails at once */

#endif
