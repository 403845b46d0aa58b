/* main.c - runs the orders application in its own event loop: it steps two endpoints and prints what happens.
 *
 * The second endpoint stands in for other systems: it takes payments, ships orders and handles the events. One customer
 * never pays.
 *
 * Business time is a virtual clock. When nothing is due, the loop sets it to the next due time, so that the 15 minutes
 * that an order waits for its payment pass at once.
 *
 *     orders [STORE]        default: memory:
 *
 * To build in this folder with an installed pawl:
 *
 *     cc -std=c17 -o orders [a-z]*.c $(pkg-config --cflags --libs pawl)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "orders.h"

#include <pawl/loop.h>

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#define ORDER_COUNT 25
#define UNPAID 13 /* the order whose customer has no money */

/* ---- Other systems --------------------------------------------------------- */

static void say(const pawl_context *ctx, const char *what, pawl_text who)
{
    char now[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(pawl_now(ctx), now);
    printf("%.8s  %s %.*s\n", now + 11, what, PAWL_TEXT_ARGS(who));
}

static pawl_code on_charge_card(pawl_context *ctx, const charge_card *message)
{
    if (message->cents % 100 == UNPAID)
        return PAWL_OK;
    return pawl_reply(
        ctx, PAWL_MESSAGE(payment_taken, .order_ref = message->order_id, .cents = message->cents));
}
PAWL_MESSAGE_HANDLER(on_charge_card, charge_card);

static pawl_code on_shipment(pawl_context *ctx, const shipment *message)
{
    char what[100];
    snprintf(what, sizeof what, "a van with %zu orders leaves", message->order_ids.count);
    say(ctx, what, message->warehouse);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_shipment, shipment);

static pawl_code on_cancelled(pawl_context *ctx, const order_cancelled *message)
{
    say(ctx, "cancelled", message->order_id);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_cancelled, order_cancelled);

static pawl_code on_shipped(pawl_context *ctx, const order_shipped *message)
{
    say(ctx, "shipped", message->order_id);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_shipped, order_shipped);

static const pawl_endpoint_spec world = {
    .name = "world",
    .handlers =
        PAWL_ON({.handle = PAWL_HANDLE(on_charge_card)}, {.handle = PAWL_HANDLE(on_shipment)},
                {.handle = PAWL_HANDLE(on_cancelled)}, {.handle = PAWL_HANDLE(on_shipped)})};

static const pawl_application world_application = {PAWL_APPLICATION_HEAD, .name = "world",
                                                   .endpoints = PAWL_ENDPOINTS(&world)};

/* Routes of the orders' destinations: here both lead to the queue of endpoint "world". */
static const pawl_route routes[] = {
    {.name = "billing", .queue = "world"}, {.name = "carrier", .queue = "world"}, {.name = NULL}};

/* ---- The event loop -------------------------------------------------------- */

typedef struct orders_program {
    const char    *store;
    pawl_clock    *clock;
    pawl_endpoint *endpoints[2]; /* the orders, the world */
} orders_program;

static pawl_code place_orders(const orders_program *program, pawl_error *error)
{
    pawl_sender *sender = NULL;
    pawl_code    code   = pawl_sender_open(program->store, NULL, &sender, error);
    for (int i = 1; code == PAWL_OK && i <= ORDER_COUNT; i++) {
        char id[30];
        snprintf(id, sizeof id, "order-%d", i);
        code = pawl_sender_send(
            sender, "orders", NULL,
            PAWL_MESSAGE(place_order, .order_id = pawl_text_of(id),
                         .warehouse   = i % 2 == 0 ? PAWL_TEXT("north") : PAWL_TEXT("south"),
                         .total_cents = 1000 + i),
            error);
    }
    if (code == PAWL_OK)
        code = pawl_sender_commit(sender, error);
    pawl_sender_close(sender);
    return code;
}

/* Steps each endpoint once. `*next_due` is the time of the next step: now, unless both are idle. */
static pawl_code step(const orders_program *program, pawl_time *next_due, pawl_error *error)
{
    *next_due = PAWL_TIME_MAX;
    for (int i = 0; i < 2; i++) {
        pawl_step done = PAWL_STEP_INIT;
        pawl_code code = pawl_endpoint_step(program->endpoints[i], &done, error);
        if (code != PAWL_OK)
            return code;
        if (!done.is_idle)
            *next_due = pawl_clock_now(program->clock);
        else if (done.next_due < *next_due)
            *next_due = done.next_due;
    }
    return PAWL_OK;
}

/* Waits for work; a program with other descriptors would also wait for those here. */
static bool has_work(const orders_program *program, int wait_ms)
{
    struct pollfd wakes[2];
    for (int i = 0; i < 2; i++)
        wakes[i] =
            (struct pollfd){.fd = pawl_endpoint_wake_fd(program->endpoints[i]), .events = POLLIN};
    return poll(wakes, 2, wait_ms) > 0;
}

static pawl_code loop(const orders_program *program, pawl_error *error)
{
    for (;;) {
        pawl_time next_due;
        pawl_code code = step(program, &next_due, error);
        if (code != PAWL_OK)
            return code;
        if (next_due <= pawl_clock_now(program->clock) || has_work(program, 0))
            continue;
        if (next_due == PAWL_TIME_MAX)
            return PAWL_OK; /* nothing will ever be due: all orders are finished */
        pawl_clock_set(program->clock, next_due);
    }
}

/* ---- The program ------------------------------------------------------------ */

static pawl_code create(orders_program *program, int index, const pawl_application *application,
                        pawl_error *error)
{
    pawl_endpoint_options options = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                 = program->store;
    options.business              = program->clock;
    options.routes                = routes;
    return pawl_endpoint_create(application, NULL, &options, &program->endpoints[index], error);
}

static pawl_code report(const orders_program *program, pawl_error *error)
{
    int64_t   open_orders = 0;
    pawl_code code =
        pawl_endpoint_saga_count(program->endpoints[0], "OrderSaga", &open_orders, error);
    if (code == PAWL_OK)
        printf("%d orders placed, %" PRId64 " still open\n", ORDER_COUNT, open_orders);
    return code;
}

int main(int argc, char **argv)
{
    pawl_error     error   = PAWL_ERROR_INIT;
    orders_program program = {.store = argc > 1 ? argv[1] : "memory:orders",
                              .clock = pawl_clock_create(pawl_clock_now(NULL))};
    pawl_code      code    = program.clock != NULL ? PAWL_OK : PAWL_ENOMEM;
    if (code == PAWL_OK)
        code = create(&program, 0, &orders_application, &error);
    if (code == PAWL_OK)
        code = create(&program, 1, &world_application, &error);
    if (code == PAWL_OK)
        code = place_orders(&program, &error);
    if (code == PAWL_OK)
        code = loop(&program, &error);
    if (code == PAWL_OK)
        code = report(&program, &error);
    if (code != PAWL_OK)
        fprintf(stderr, "orders: %s\n", error.text);
    for (int i = 0; i < 2; i++)
        pawl_endpoint_destroy(program.endpoints[i]);
    pawl_clock_destroy(program.clock);
    return pawl_code_exit(code);
}
