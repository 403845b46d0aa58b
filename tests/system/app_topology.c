/* app_topology.c - an application with one of everything, for command_topology.sh; nothing of it is run.
 *
 * -DWRONG=n has one mistake in what is declared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>
#include <pawl/transport.h>

#define ORDER(F)      \
    F(TEXT, order_id) \
    F(INT64, number)
PAWL_RECORD(place_order, ORDER);
PAWL_RECORD(charge_card, ORDER);
PAWL_RECORD(payment_taken, ORDER);
PAWL_RECORD(ship_item, ORDER);
PAWL_RECORD(news, ORDER);
PAWL_RECORD_WITH(order_cancelled, ORDER, .base = PAWL_RECORD_OF(news));
PAWL_RECORD(opened, ORDER);
PAWL_RECORD(closed, ORDER);
PAWL_RECORD(order_state, ORDER);
PAWL_RECORD(desk_state, ORDER);
PAWL_RECORD(account_state, ORDER);

#define HANDLER(function, state_type, message_type)                                              \
    static pawl_code function(pawl_context *ctx, state_type *state, const message_type *message) \
    {                                                                                            \
        (void)ctx, (void)state, (void)message;                                                   \
        return PAWL_OK;                                                                          \
    }
#define PLAIN(function, message_type)                                         \
    static pawl_code function(pawl_context *ctx, const message_type *message) \
    {                                                                         \
        (void)ctx, (void)message;                                             \
        return PAWL_OK;                                                       \
    }                                                                         \
    PAWL_MESSAGE_HANDLER(function, message_type);

/* ---- A saga ---------------------------------------------------------------- */

HANDLER(on_place_order, order_state, place_order)
PAWL_HANDLER(on_place_order, order_state, place_order);
HANDLER(on_payment_taken, order_state, payment_taken)
PAWL_HANDLER(on_payment_taken, order_state, payment_taken);
PLAIN(on_stray_payment, payment_taken)

static pawl_code on_payment_late(pawl_context *ctx, order_state *state)
{
    (void)ctx, (void)state;
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_payment_late, order_state);

#if WRONG == 1
#define SENDS PAWL_SENDS(charge_card, "billing"), PAWL_SETS("paymnet")
#elif WRONG == 2
#define SENDS                                       \
    {                                               \
        .kind = PAWL_EFFECT_SEND, .name = "billing" \
    }
#else
#define SENDS PAWL_SENDS(charge_card, "billing"), PAWL_SETS("payment")
#endif

static const pawl_saga order_saga = {
    .name         = "OrderSaga",
    .state        = PAWL_RECORD_OF(order_state),
    .correlation  = "order_id",
    .transitional = "number",
    .on           = PAWL_ON(
                  {.handle           = PAWL_HANDLE(on_place_order),
                   .key              = "order_id",
                   .transitional_key = "number",
                   .starts           = true,
                   .does             = PAWL_DOES(SENDS)},
                  {.handle           = PAWL_HANDLE(on_payment_taken),
                   .key              = "order_id",
                   .transitional_key = "number",
                   .not_found        = PAWL_NOT_FOUND_CALL,
                   .missing          = PAWL_HANDLE(on_stray_payment),
                   .does = PAWL_DOES(PAWL_SENDS(ship_item, "orders"), PAWL_SENDS(charge_card, "books"))},
                  {.handle  = PAWL_HANDLE(on_payment_late),
                   .timeout = "payment",
                   .does    = PAWL_DOES(PAWL_PUBLISHES(order_cancelled))})};

/* ---- A process and an entity ------------------------------------------------- */

HANDLER(on_opened, const desk_state, opened)
PAWL_PROCESS_HANDLER(on_opened, desk_state, opened);
HANDLER(on_charge, const account_state, charge_card)
PAWL_ENTITY_HANDLER(on_charge, account_state, charge_card);

static void apply_opened(desk_state *state, const opened *event)
{
    state->number = event->number;
}
PAWL_APPLY(apply_opened, desk_state, opened);
static void apply_closed(desk_state *state, const closed *event)
{
    state->number = event->number;
}
PAWL_APPLY(apply_closed, desk_state, closed);

static const pawl_process desk = {
    .name  = "Desk",
    .state = PAWL_RECORD_OF(desk_state),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_opened), .key = "order_id", .starts = true}),
    .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_opened), PAWL_APPLIES(apply_closed))};

static const pawl_entity account = {.name  = "Account",
                                    .state = PAWL_RECORD_OF(account_state),
                                    .on =
                                        PAWL_ON({.handle = PAWL_HANDLE(on_charge),
                                                 .key    = "order_id",
                                                 .does = PAWL_DOES(PAWL_REPLIES(payment_taken))})};

/* ---- Aggregators, projections, handlers -------------------------------------- */

static pawl_code on_ship_items(pawl_context *ctx, const ship_item *items, size_t count)
{
    (void)ctx, (void)items, (void)count;
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_ship_items, ship_item);

/* Names that mean something to a drawing, where a name may be anything. */
#define ODD "a \"b\" \\n #1 <i>&|`c`[d]\n{e}"

static const pawl_aggregator shipping = {
    .name   = "shipping",
    .handle = PAWL_HANDLE(on_ship_items),
    .key    = "order_id",
    .size   = 10,
    .max    = 20,
    .period = PAWL_HOURS(1),
    .does   = PAWL_DOES(PAWL_SENDS(ship_item, "carrier"), PAWL_SENDS(ship_item, "paper"),
                        PAWL_SENDS(ship_item, ODD), PAWL_SENDS(ship_item, NULL))};
/* Neither size nor period. */
static const pawl_aggregator bare = {.name = "bare", .handle = PAWL_HANDLE(on_ship_items)};

PLAIN(on_closed, closed)
PLAIN(on_news, news)

static const pawl_projection totals = {
    .name = "totals", .on = PAWL_ON({.handle = PAWL_HANDLE(on_closed)}), .does = PAWL_DOES_NOTHING};

/* ---- The application --------------------------------------------------------- */

static pawl_code mail(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    (void)transport, (void)items, (void)count, (void)arena, (void)error;
    return PAWL_OK;
}
static const pawl_transport_ops mail_outbound = PAWL_OUTBOUND(mail);

static const pawl_endpoint_spec orders = {
    .name        = "orders",
    .queue       = "orders",
    .sagas       = PAWL_SAGAS(&order_saga),
    .aggregators = PAWL_AGGREGATORS(&shipping, &bare),
    .options     = PAWL_OPTIONS(.routes = PAWL_ROUTES(
                                    {.name = "billing", .queue = "desk queue", .is_outbox = true},
                                    {.name  = "carrier",
                                     .url   = "postgres://me:hunter2@far/db",
                                     .queue = "vans"},
                                    {.name = "paper", .outbound = &mail_outbound}))};

static const pawl_endpoint_spec office = {
    .name      = "<office> & #2",
    .queue     = "desk queue",
    .handlers  = PAWL_ON({.handle = PAWL_HANDLE(on_news), .does = PAWL_DOES_NOTHING}),
    .schedules = PAWL_SCHEDULES(
        {.name    = "morning",
         .cron    = "0 7 * * mon-fri",
         .zone    = "Europe/Berlin",
         .message = PAWL_RECORD_OF(news)},
        {.name = "often", .every = PAWL_MINUTES(5), .message = PAWL_RECORD_OF(news)}),
    .processes   = PAWL_PROCESSES(&desk),
    .entities    = PAWL_ENTITIES(&account),
    .projections = PAWL_PROJECTIONS(&totals)};

static const pawl_application shop = {PAWL_APPLICATION_HEAD, .name = "shop",
                                      .endpoints = PAWL_ENDPOINTS(&orders, &office)};
PAWL_EXPORT_APPLICATION(shop);
