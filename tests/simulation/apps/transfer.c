/* transfer.c - the example bank under simulation: money is taken once, and given or given back once.
 *
 *     open_account ............ until all are open
 *     request_transfer -------> debited -> credited, or credited_back -> pawl.completed
 *
 * Each commit is looked at for what moves money; behind the end the example's own check reads the journal from its
 * first event to its last (examples/transfer/check.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/application.h"

#include "transfer/application.h"
#include "transfer/check.h"
#include "transfer/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNTS 5
#define TRANSFERS 300

#define TAKEN 1u
#define GIVEN 2u
#define GIVEN_BACK 4u

static const struct {
    const char *type;
    unsigned    moves, behind; /* TAKEN ...; what has moved before */
    int         sign;
} legs[] = {{"debited", TAKEN, 0, -1},
            {"credited", GIVEN, TAKEN, 1},
            {"credited_back", GIVEN_BACK, TAKEN, 1}};

static struct {
    transfer_plan plan;
    int64_t       drawn; /* accounts, then transfers */
    int64_t       opened;
    int64_t       completed;
    struct {
        bool     is_asked, is_over;
        unsigned moved;
    } transfers[TRANSFERS + 1];
    int64_t cents[ACCOUNTS + 1];
} bank;

static const transfer_settings settings = {.late = PAWL_SECONDS(30)};

static void begin(uint64_t seed)
{
    pawl_error error = PAWL_ERROR_INIT;
    memset(&bank, 0, sizeof bank);
    if (transfer_plan_make(seed, ACCOUNTS, TRANSFERS, &bank.plan, &error) != PAWL_OK)
        abort();
}

static void end(void)
{
    transfer_plan_clear(&bank.plan);
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* No transfers before all accounts are open: they would be refused, which the example's check takes for an error. */
static int64_t draw(void)
{
    bool may_transfer = bank.opened == ACCOUNTS && bank.drawn < ACCOUNTS + TRANSFERS;
    return bank.drawn < ACCOUNTS || may_transfer ? ++bank.drawn : 0;
}

static void message(int64_t number, simulation_message *made)
{
    if (number <= ACCOUNTS) {
        const open_account *it = &bank.plan.accounts[number - 1];
        *made = (simulation_message){.queues = {TRANSFER_ACCOUNTS}, .type = "open_account"};
        snprintf(made->id, sizeof made->id, "open-%" PRId64, number);
        snprintf(made->body, sizeof made->body,
                 "{\"account\":%" PRId64 ",\"cents\":%" PRId64 ",\"is_closed\":%s}", it->account,
                 it->cents, it->is_closed ? "true" : "false");
        return;
    }
    const request_transfer *it = &bank.plan.transfers[number - ACCOUNTS - 1];
    *made = (simulation_message){.queues = {TRANSFER_TRANSFERS}, .type = "request_transfer"};
    transfer_plan_id(&bank.plan, it->transfer, made->id);
    snprintf(made->body, sizeof made->body,
             "{\"transfer\":%" PRId64 ",\"source\":%" PRId64 ",\"target\":%" PRId64
             ",\"cents\":%" PRId64 "}",
             it->transfer, it->source, it->target, it->cents);
}

/* ---- Commits ---------------------------------------------------------------------------------- */

/* The number behind the text; 0: it is not there, or the number is more than `most`. */
static int64_t number_behind(pawl_text text, const char *before, int64_t most)
{
    const char *at     = text.size > 0 ? strstr(text.data, before) : NULL;
    int64_t     number = at != NULL ? strtoll(at + strlen(before), NULL, 10) : 0;
    return number > 0 && number <= most ? number : 0;
}

static void see_account(int64_t account, const pawl_event *event)
{
    int64_t cents    = number_behind(event->body, "\"cents\":", INT64_MAX);
    int64_t transfer = number_behind(event->body, "\"transfer\":", TRANSFERS);
    if (pawl_text_equal(event->type, PAWL_TEXT("account_opened"))) {
        bank.opened++;
        bank.cents[account] += cents;
    }
    for (size_t i = 0; i < sizeof legs / sizeof legs[0]; i++) {
        if (!pawl_text_equal(event->type, pawl_text_of(legs[i].type)))
            continue;
        unsigned *moved = &bank.transfers[transfer].moved;
        if (transfer == 0 || *moved != legs[i].behind)
            simulation_fail("account %" PRId64 " is %s by transfer %" PRId64 ", which moved %u",
                            account, legs[i].type, transfer, *moved);
        *moved |= legs[i].moves;
        bank.cents[account] += legs[i].sign * cents;
    }
    if (bank.cents[account] < 0)
        simulation_fail("account %" PRId64 " has %" PRId64 " cents", account, bank.cents[account]);
}

static void see_event(const pawl_event_append *it)
{
    int64_t account  = number_behind(it->stream, "Account/", ACCOUNTS);
    int64_t transfer = number_behind(it->stream, "Transfer/", TRANSFERS);
    if (account != 0)
        see_account(account, &it->event);
    if (transfer == 0 || !pawl_text_equal(it->event.type, PAWL_TEXT("pawl.completed")))
        return;
    if (bank.transfers[transfer].is_over)
        simulation_fail("transfer %" PRId64 " ends twice", transfer);
    bank.transfers[transfer].is_over = true;
    bank.completed++;
}

static void committed(const pawl_changes *changes, const pawl_refusals *refused)
{
    for (size_t i = 0; i < changes->event_append.count; i++)
        if (!simulation_is_refused(refused, changes->event_append.items[i].group))
            see_event(&changes->event_append.items[i]);
    for (size_t i = 0; i < changes->queue_send.count; i++) {
        const pawl_queue_send *it = &changes->queue_send.items[i];
        if (!simulation_is_refused(refused, it->group) &&
            pawl_text_equal(it->message.type, PAWL_TEXT("request_transfer")))
            bank.transfers[number_behind(it->message.body, "\"transfer\":", TRANSFERS)].is_asked =
                true;
    }
}

/* ---- The end ------------------------------------------------------------------------------------ */

static int64_t count_accounts(void)
{
    return bank.drawn < ACCOUNTS ? bank.drawn : ACCOUNTS;
}

static bool is_at_rest(char *what, size_t size)
{
    for (int64_t i = 1; i <= TRANSFERS; i++)
        if (bank.transfers[i].is_asked && !bank.transfers[i].is_over) {
            snprintf(what, size, "transfer %" PRId64 " moved %u, and is not over", i,
                     bank.transfers[i].moved);
            return false;
        }
    if (bank.opened < count_accounts())
        snprintf(what, size, "%" PRId64 " accounts are open", bank.opened);
    return bank.opened == count_accounts();
}

/* Of what was drawn, if there were transfers. */
static void compare(pawl_store *store, pawl_arena *arena)
{
    pawl_error     error = PAWL_ERROR_INIT;
    transfer_found found;
    transfer_plan  asked = bank.plan;
    asked.account_count  = (size_t)count_accounts();
    asked.transfer_count = (size_t)(bank.drawn - count_accounts());
    asked.cents          = 0;
    for (size_t i = 0; i < asked.account_count; i++)
        asked.cents += asked.accounts[i].cents;
    if (asked.transfer_count == 0)
        return;
    if (transfer_check(store, &asked, &found, &error) != PAWL_OK)
        simulation_fail("the journal cannot be read: %s", error.text);
    else if (found.difference_count > 0)
        simulation_fail("%s", found.differences[0]);
}

static void configure(const char *endpoint, pawl_endpoint_options *options)
{
    options->routes          = transfer_routes;
    options->user            = (void *)(uintptr_t)&settings;
    options->ordered         = NULL;
    options->delayed_retries = 50; /* no message is given up because of the store */
    options->retry_delay     = PAWL_SECONDS(1);
}

static int64_t count_done(void)
{
    return bank.opened + bank.completed;
}

PAWL_API extern const simulation_application pawl_simulation;

const simulation_application pawl_simulation = {.application_size = sizeof(simulation_application),
                                                .application      = &transfer_application,
                                                .begin            = begin,
                                                .end              = end,
                                                .draw             = draw,
                                                .message          = message,
                                                .committed        = committed,
                                                .is_at_rest       = is_at_rest,
                                                .compare          = compare,
                                                .done             = count_done,
                                                .configure        = configure};
