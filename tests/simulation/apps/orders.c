/* orders.c - the example orders under simulation: each order is shipped once or cancelled once, and money is not lost.
 *
 *     place_order (twice, if the customer clicks twice), payment_taken (none, one or several, early or late)
 *         -> charge_card                   once for each order
 *         -> shipment, order_shipped       once, if a payment came in time
 *         -> order_cancelled               once, if none did
 *         -> refund                        for each payment that found no order, and no other
 *
 * Messages to billing and to the carrier stay in their queues: nobody reads them here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/application.h"

#include "orders/orders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDERS_MAX 64
#define MESSAGES_MAX 400
#define WAREHOUSES 3

typedef struct order {
    int  placings, payments; /* drawn */
    bool is_placed;          /* the store has such a message */
    int  paid;               /* payments that the store has */
    int  handled_payments;
    int  charges, shipments, shipped, cancelled, refunds;
} order;

static struct {
    pawl_random random;
    order       orders[ORDERS_MAX];
    int         order_count;
    struct {
        int     order;
        bool    is_payment;
        int64_t delay;
    } messages[MESSAGES_MAX + 1]; /* by number, from 1 */
    int64_t message_count;
    int64_t done;
} all;

static int below(int limit)
{
    return (int)pawl_random_below(&all.random, (uint64_t)limit);
}

static void begin(uint64_t seed)
{
    memset(&all, 0, sizeof all);
    pawl_random_seed(&all.random, seed);
}

/* A new order, the same one again, or a payment, which may come before its order, or when that was cancelled. */
static int64_t draw(void)
{
    if (all.message_count == MESSAGES_MAX)
        return 0;
    bool    is_new = all.order_count == 0 || (below(3) == 0 && all.order_count < ORDERS_MAX);
    int     which  = is_new ? all.order_count++ : below(all.order_count);
    bool    pays   = !is_new && below(4) != 0;
    int     delay  = below(3) == 0 ? below(1800) : below(20);
    int64_t next   = ++all.message_count;
    all.orders[which].payments += pays;
    all.orders[which].placings += !pays;
    all.messages[next].order      = which;
    all.messages[next].is_payment = pays;
    all.messages[next].delay      = PAWL_SECONDS(delay);
    return next;
}

static void message(int64_t number, simulation_message *made)
{
    int  which = all.messages[number].order;
    bool pays  = all.messages[number].is_payment;
    *made      = (simulation_message){.queues = {"orders"},
                                      .type   = pays ? "payment_taken" : "place_order",
                                      .delay  = all.messages[number].delay};
    snprintf(made->id, sizeof made->id, "m-%" PRId64, number);
    if (pays)
        snprintf(made->body, sizeof made->body, "{\"order_ref\":\"o-%d\",\"cents\":100}", which);
    else
        snprintf(made->body, sizeof made->body,
                 "{\"order_id\":\"o-%d\",\"warehouse\":\"w-%d\",\"total_cents\":100}", which,
                 which % WAREHOUSES);
}

/* ---- Commits ------------------------------------------------------------------------------ */

/* The order that the text names first, and where the search goes on; NULL: none. */
static order *next_order(const char **text)
{
    const char *at = strstr(*text, "\"o-");
    if (at == NULL)
        return NULL;
    *text      = at + 3;
    int number = atoi(*text);
    return number < ORDERS_MAX ? &all.orders[number] : NULL;
}

static void count(const pawl_queue_send *it)
{
    const char *text        = it->message.body.data;
    bool        is_shipment = pawl_text_equal(it->message.type, PAWL_TEXT("shipment"));
    for (order *found; (found = next_order(&text)) != NULL; text++) {
        pawl_text type = it->message.type;
        found->shipments += is_shipment;
        found->is_placed |= pawl_text_equal(type, PAWL_TEXT("place_order"));
        found->charges += pawl_text_equal(type, PAWL_TEXT("charge_card"));
        found->shipped += pawl_text_equal(type, PAWL_TEXT("order_shipped"));
        found->cancelled += pawl_text_equal(type, PAWL_TEXT("order_cancelled"));
        found->refunds += pawl_text_equal(type, PAWL_TEXT("refund"));
        if (found->charges > found->placings || found->shipments > found->payments ||
            found->refunds > found->payments)
            simulation_fail("order %d: %d charges, %d shipments, %d refunds",
                            (int)(found - all.orders), found->charges, found->shipments,
                            found->refunds);
    }
}

static void committed(const pawl_changes *changes, const pawl_refusals *refused)
{
    for (size_t i = 0; i < changes->queue_send.count; i++)
        if (!simulation_is_refused(refused, changes->queue_send.items[i].group) &&
            !pawl_text_equal(changes->queue_send.items[i].queue,
                             PAWL_TEXT("copies"))) /* of audit */
            count(&changes->queue_send.items[i]);
    for (size_t i = 0; i < changes->inbox_entry.count; i++)
        all.done += !simulation_is_refused(refused, changes->inbox_entry.items[i].group);
}

/* An order that ends may be placed again, by a message that comes later: then it is another one. */
static bool is_at_rest(char *what, size_t size)
{
    for (int i = 0; i < all.order_count; i++) {
        const order *it   = &all.orders[i];
        int          ends = it->shipped + it->cancelled;
        if (it->is_placed && (ends == 0 || it->charges != ends)) {
            snprintf(what, size, "order %d has %d charges, %d shipments, %d cancellations", i,
                     it->charges, it->shipped, it->cancelled);
            return false;
        }
    }
    return true;
}

/* Each payment was taken by the order, came twice for one that waits for its shipment, or was paid back. */
static void compare(pawl_store *store, pawl_arena *arena)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_stats stats = PAWL_STATS_INIT;
    if (pawl_store_stats(store, simulation_now(), arena, &stats, &error) != PAWL_OK)
        simulation_fail("no statistics: %s", error.text);
    if (stats.dead != 0 || stats.aggregator_rows != 0)
        simulation_fail("%" PRId64 " dead letters, %" PRId64 " parcels", stats.dead,
                        stats.aggregator_rows);
    for (int i = 0; i < all.order_count; i++) {
        const order *it = &all.orders[i];
        if (it->shipments != it->shipped)
            simulation_fail("order %d is in %d shipments, and shipped %d times", i, it->shipments,
                            it->shipped);
        if (it->shipments + it->refunds > it->payments)
            simulation_fail("order %d: %d payments, %d shipments and %d refunds", i, it->payments,
                            it->shipments, it->refunds);
    }
}

/* No message is given up because of the store. */
static void configure(const char *endpoint, pawl_endpoint_options *options)
{
    options->delayed_retries = 50;
    options->retry_delay     = PAWL_SECONDS(1);
}

static int64_t count_done(void)
{
    return all.done;
}

static const pawl_subscription subscriptions[] = {
    {.type = {.data = "order_cancelled", .size = 15}, .queue = {.data = "watch", .size = 5}},
    {.type = {.data = "order_shipped", .size = 13}, .queue = {.data = "orders", .size = 6}}};

PAWL_API extern const simulation_application pawl_simulation;

const simulation_application pawl_simulation = {.application_size = sizeof(simulation_application),
                                                .application      = &orders_application,
                                                .subscriptions    = subscriptions,
                                                .subscription_count = 2,
                                                .begin              = begin,
                                                .draw               = draw,
                                                .message            = message,
                                                .committed          = committed,
                                                .is_at_rest         = is_at_rest,
                                                .compare            = compare,
                                                .done               = count_done,
                                                .configure          = configure};
