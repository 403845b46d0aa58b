/* application.h - the application of the fuzz targets that run one or read its rows: the bank of support/bank.h, whose
 * accounts are entities and whose transfers are processes, and the orders of examples/orders, a saga and an aggregator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FUZZ_APPLICATION_H
#define PAWL_TESTS_FUZZ_APPLICATION_H

#include "fuzz/fuzz.h"
#include "support/bank.h"

#include "orders.h"

static const pawl_entity account_entity = {.name                  = "Account",
                                           .state                 = PAWL_RECORD_OF(account),
                                           .on                    = account_on,
                                           .apply                 = account_apply,
                                           .snapshot_every        = 2,
                                           .dispatches_remembered = 3};

static const pawl_endpoint_spec bank = {
    .name      = "bank",
    .processes = PAWL_PROCESSES(&transfer_process),
    .entities  = PAWL_ENTITIES(&account_entity),
    .schedules =
        PAWL_SCHEDULES({.name = "nightly", .cron = "0 3 * * *", .message = PAWL_RECORD_OF(poke)})};

static inline const pawl_application *fuzz_application(void)
{
    static const pawl_endpoint_spec *endpoints[3] = {&bank};
    static const pawl_application    application  = {PAWL_APPLICATION_HEAD, .name = "fuzz",
                                                     .endpoints = endpoints};
    endpoints[1]                                  = orders_application.endpoints[0];
    return &application;
}

/* Names that mean something to it, and the input's own texts. */
static inline pawl_text fuzz_name(fuzz_input *in)
{
    static const char *const names[] = {"bank",         "orders",        "Account/a",
                                        "Transfer/1",   "Account",       "Transfer",
                                        "OrderSaga",    "shipping",      "shipping/w",
                                        "place_order",  "debit",         "credit",
                                        "request",      "payment_taken", "ship_item",
                                        "poke",         "debited",       "credited",
                                        "requested",    "advanced",      "pawl.accepted",
                                        "pawl.handled", "pawl.rejected", "pawl.completed",
                                        "late",         "payment",       "",
                                        "m-1",          "m-2",           "1.0",
                                        "2.0",          "EDECODE",       "pawl/schedule",
                                        "bank/nightly"};
    unsigned                 chosen  = fuzz_byte(in);
    return chosen < 224 ? pawl_text_of(names[chosen % (sizeof names / sizeof names[0])])
                        : fuzz_text(in);
}

/* Headers and bodies, likewise. */
static inline pawl_text fuzz_json(fuzz_input *in)
{
    static const char *const texts[] = {
        "{}",
        "",
        "{\"account\":\"a\",\"cents\":5}",
        "{\"account\":\"a\",\"cents\":-9223372036854775808,\"how\":\"retry\"}",
        "{\"number\":1,\"from\":\"a\",\"to\":\"b\",\"cents\":3}",
        "{\"order_id\":\"o-1\",\"warehouse\":\"w\",\"total_cents\":1}",
        "{\"order_ref\":\"o-1\",\"cents\":1}",
        "{\"cents\":7}",
        "{\"step\":1}",
        "[]",
        "null",
        "{\"pawl.reply_to\":\"bank\",\"pawl.version\":\"1\",\"pawl.base\":\"debit,credit\"}",
        "{\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"}",
        "{\"pawl.process\":\"Transfer/1\",\"pawl.expires\":\"2026-01-01T09:00:00Z\"}"};
    unsigned chosen = fuzz_byte(in);
    return chosen < 192 ? pawl_text_of(texts[chosen % (sizeof texts / sizeof texts[0])])
                        : fuzz_text(in);
}

#endif
