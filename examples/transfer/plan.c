/* plan.c - computes accounts and transfers from a seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>

#define OPENING_MAX 20000 /* cents */
#define AMOUNT_MAX 3000   /* so large that some accounts run out of money */
#define CLOSED_ONE_IN 10
#define TOO_MUCH_ONE_IN 25 /* amounts larger than the whole bank has */

static int64_t draw(pawl_random *random, int64_t limit)
{
    return (int64_t)pawl_random_below(random, (uint64_t)limit);
}

static void make_accounts(transfer_plan *plan, pawl_random *random)
{
    for (size_t i = 0; i < plan->account_count; i++) {
        plan->accounts[i] = (open_account){.account   = (int64_t)i + 1,
                                           .cents     = 1 + draw(random, OPENING_MAX),
                                           .is_closed = draw(random, CLOSED_ONE_IN) == 0};
        plan->cents += plan->accounts[i].cents;
    }
}

static void make_transfers(transfer_plan *plan, pawl_random *random)
{
    int64_t accounts = (int64_t)plan->account_count;
    for (size_t i = 0; i < plan->transfer_count; i++) {
        int64_t source = draw(random, accounts);
        int64_t target = (source + 1 + draw(random, accounts - 1)) % accounts;
        int64_t cents  = 1 + draw(random, AMOUNT_MAX);
        if (draw(random, TOO_MUCH_ONE_IN) == 0)
            cents += plan->cents;
        plan->transfers[i] = (request_transfer){
            .transfer = (int64_t)i + 1, .source = source + 1, .target = target + 1, .cents = cents};
    }
}

pawl_code transfer_plan_make(uint64_t seed, int64_t accounts, int64_t transfers,
                             transfer_plan *plan, pawl_error *error)
{
    pawl_random random;
    *plan = (transfer_plan){
        .seed = seed, .account_count = (size_t)accounts, .transfer_count = (size_t)transfers};
    plan->accounts  = pawl_allocate(plan->account_count * sizeof plan->accounts[0]);
    plan->transfers = pawl_allocate(plan->transfer_count * sizeof plan->transfers[0]);
    if (plan->accounts == NULL || plan->transfers == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %" PRId64 " transfers",
                              transfers);
    pawl_random_seed(&random, seed);
    make_accounts(plan, &random);
    make_transfers(plan, &random);
    return PAWL_OK;
}

void transfer_plan_clear(transfer_plan *plan)
{
    pawl_free(plan->accounts);
    pawl_free(plan->transfers);
    *plan = (transfer_plan){.accounts = NULL};
}

void transfer_plan_id(const transfer_plan *plan, int64_t transfer, char id[PAWL_UUID_TEXT_SIZE + 1])
{
    char      name[60];
    pawl_uuid space = {{0}};
    int size = snprintf(name, sizeof name, "transfer/%" PRIu64 "/%" PRId64, plan->seed, transfer);
    pawl_uuid_format(pawl_uuid_v5(space, name, (size_t)size), id);
}

bool transfer_plan_is_closed(const transfer_plan *plan, int64_t transfer)
{
    return plan->accounts[plan->transfers[transfer - 1].target - 1].is_closed;
}

bool transfer_plan_is_too_much(const transfer_plan *plan, int64_t transfer)
{
    return plan->transfers[transfer - 1].cents > plan->cents;
}
