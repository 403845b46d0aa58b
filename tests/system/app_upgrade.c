/* app_upgrade.c - an application whose tables change, for the test of `pawl saga verify-upgrade`.
 *
 *     place {order_id, dozens, note, stage, lines, card}   begins Order, sets its timeouts, collects "sums",
 *                                                    tells the process Ledger
 *     cancel {order_id}                              handled, and nothing done
 *     entry {account, cents}                         the process Ledger emits posted {cents}
 *
 * Without a definition it is the program that runs. Each definition is a change:
 *
 *     RENAMED         the state's note is called remark
 *     AMONG           the same, and the state has other new members
 *     NARROWED        dozens is an INT16, in the state and in place
 *     REMOVED_TYPE    nobody handles cancel
 *     REMOVED_ENUM    the stage "paid" is gone
 *     MISREAD         the stage "paid" is the first, and the card is optional
 *     SWITCHED        the correlation property is number
 *     BOTH            number is the transitional one
 *     HIDDEN          the card is, which is secret
 *     VERSION         the state, place and posted have version 2; with UPCAST an upcaster each
 *     NO_TIMEOUT      the saga knows its timeout no more
 *     NO_SAGA         the saga is called Purchase
 *     SLASHED         it is called Shop/Order
 *     TWICE           desk has sagas of the type, too
 *     NO_EVENT        the process does not know posted
 *     NO_AGGREGATOR   sums is called totals
 *     MANY            four more endpoints handle cancel, and a projection reads posted
 *     ROUTED          desk reads the queue counter, to which shop's route desk leads
 *     ABROAD          shop's route desk leads to another store
 *     OUTBOUND        it is an outbound transport
 *     HANDLED         the changes of RENAMED, NARROWED (wider), REMOVED_ENUM with upcasters
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>
#include <pawl/transport.h>

#include <string.h>

#if defined(VERSION) || defined(HANDLED)
#define AT_VERSION .version = 2,
#define PROGRAM_VERSION "2.0"
#else
#define AT_VERSION
#define PROGRAM_VERSION "1.4"
#endif
#if defined(UPCAST) || defined(HANDLED)
#define WITH_UPCAST .upcast = upcast,
#else
#define WITH_UPCAST
#endif
#ifdef AMONG
#define NOTE remark
#define NOTE_FIELD(F) F(INT64, year) F(TEXT, remark) F(TEXT, memo) F(TEXT, aside) F(TEXT, extra)
#elif defined(RENAMED) || defined(HANDLED)
#define NOTE remark
#define NOTE_FIELD(F) F(TEXT, remark)
#else
#define NOTE note
#define NOTE_FIELD(F) F(TEXT, note)
#endif
#ifdef NARROWED
#define DOZENS_FIELD(F) F(INT16, dozens)
#define CENTS_FIELD(F) F(INT16, cents)
#else
#define DOZENS_FIELD(F) F(INT64, dozens)
#define CENTS_FIELD(F) F(INT64, cents)
#endif
#ifdef MISREAD
#define CARD_FIELD(F) F(OPT_TEXT, card, .secret = true)
#else
#define CARD_FIELD(F) F(TEXT, card, .secret = true)
#endif
#if defined(REMOVED_ENUM) || defined(HANDLED)
#define STAGES(E) E(STAGE_NEW, "new") E(STAGE_DONE, "done")
#elif defined(MISREAD)
#define STAGES(E) E(STAGE_PAID, "paid") E(STAGE_NEW, "new")
#else
#define STAGES(E) E(STAGE_NEW, "new") E(STAGE_PAID, "paid")
#endif
PAWL_ENUM(stage, STAGES);

/* "paid" is done now, and the note has another name. */
pawl_upcast_fn upcast;
pawl_code upcast(int version, pawl_text json, pawl_arena *arena, pawl_text *made, pawl_error *error)
{
    static const char *const words[][2] = {{"\"paid\"", "\"done\""}, {"\"note\"", "\"remark\""}};
    char                    *text       = pawl_arena_take(arena, json.size * 2 + 1);
    (void)version;
    if (text == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory");
    memcpy(text, json.data, json.size);
    for (size_t i = 0; i < 2; i++) {
        char  *at   = strstr(text, words[i][0]);
        size_t size = strlen(words[i][0]), becomes = strlen(words[i][1]);
        if (at == NULL)
            continue;
        memmove(at + becomes, at + size, strlen(at + size) + 1);
        memcpy(at, words[i][1], becomes);
    }
    *made = pawl_text_of(text);
    return PAWL_OK;
}

#define LINE(F) F(TEXT, item) DOZENS_FIELD(F)
PAWL_RECORD(line, LINE);
#define PLACE(F)      \
    F(TEXT, order_id) \
    F(INT64, number)  \
    DOZENS_FIELD(F)   \
    NOTE_FIELD(F) F(ENUM, stage, stage) F(LIST_RECORD, lines, line) CARD_FIELD(F)
PAWL_RECORD_WITH(place, PLACE, AT_VERSION WITH_UPCAST.reserved = 0);
PAWL_RECORD_WITH(order, PLACE, AT_VERSION WITH_UPCAST.reserved = 0);
#define CANCEL(F) F(TEXT, order_id)
PAWL_RECORD(cancel, CANCEL);
#define ENTRY(F) F(TEXT, account) CENTS_FIELD(F)
PAWL_RECORD(entry, ENTRY);
PAWL_RECORD_WITH(posted, ENTRY, AT_VERSION WITH_UPCAST.reserved = 0);
PAWL_RECORD_WITH(ledger, ENTRY, AT_VERSION WITH_UPCAST.reserved = 0);

static pawl_code on_place(pawl_context *ctx, order *state, const place *message)
{
    state->order_id    = message->order_id;
    state->number      = message->number;
    state->dozens      = message->dozens;
    state->NOTE        = message->NOTE;
    state->stage       = message->stage;
    state->card        = message->card;
    state->lines.items = message->lines.items;
    state->lines.count = message->lines.count;
    pawl_code code     = pawl_timeout(ctx, "late", PAWL_DAYS(9000));
    return code == PAWL_OK
               ? pawl_send(ctx, "desk", PAWL_MESSAGE(cancel, .order_id = message->order_id))
               : code;
}
PAWL_HANDLER(on_place, order, place);

#ifndef NO_TIMEOUT
static pawl_code on_late(pawl_context *ctx, order *state)
{
    (void)ctx, (void)state;
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_late, order);
#endif

#ifdef REMOVED_TYPE
#define CANCEL_TYPE entry
#else
#define CANCEL_TYPE cancel
#endif
static pawl_code on_cancel(pawl_context *ctx, const CANCEL_TYPE *message)
{
    (void)message;
    return pawl_fail(ctx, PAWL_REJECT, "too late");
}
PAWL_MESSAGE_HANDLER(on_cancel, CANCEL_TYPE);

static pawl_code on_places(pawl_context *ctx, const place *messages, size_t count)
{
    (void)ctx, (void)messages, (void)count;
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_places, place);

static pawl_code on_entry(pawl_context *ctx, const ledger *state, const entry *message)
{
    (void)state;
    return pawl_emit(ctx,
                     PAWL_MESSAGE(posted, .account = message->account, .cents = message->cents));
}
PAWL_PROCESS_HANDLER(on_entry, ledger, entry);

#ifndef NO_EVENT
static void apply_posted(ledger *state, const posted *event)
{
    state->account = event->account;
    state->cents += event->cents;
}
PAWL_APPLY(apply_posted, ledger, posted);
#endif

#ifdef NO_SAGA
#define SAGA_NAME "Purchase"
#elif defined(SLASHED)
#define SAGA_NAME "Shop/Order"
#else
#define SAGA_NAME "Order"
#endif
#ifdef SWITCHED
#define KEY "number"
#else
#define KEY "order_id"
#endif
#ifdef BOTH
#define OTHER_KEY "number"
#elif defined(HIDDEN)
#define OTHER_KEY "card"
#else
#define OTHER_KEY NULL
#endif
#ifdef NO_TIMEOUT
#define LATE_ROW       \
    {                  \
        .handle = NULL \
    }
#else
#define LATE_ROW                                          \
    {                                                     \
        .handle = PAWL_HANDLE(on_late), .timeout = "late" \
    }
#endif
static const pawl_on order_rows[] = {
    {.handle = PAWL_HANDLE(on_place), .key = KEY, .transitional_key = OTHER_KEY, .starts = true},
    LATE_ROW,
    {.handle = NULL}};
static const pawl_saga order_saga = {.name         = SAGA_NAME,
                                     .state        = PAWL_RECORD_OF(order),
                                     .correlation  = KEY,
                                     .transitional = OTHER_KEY,
                                     .on           = order_rows};
#ifdef NO_AGGREGATOR
#define SUMS "totals"
#else
#define SUMS "sums"
#endif
static const pawl_aggregator sums = {
#ifdef NO_AGGREGATOR
    .name = "totals",
#else
    .name = "sums",
#endif
    .handle = PAWL_HANDLE(on_places),
    .size   = 1000};
#ifdef NO_EVENT
#define APPLY PAWL_APPLY_LIST(NULL)
#else
#define APPLY PAWL_APPLY_LIST(PAWL_APPLIES(apply_posted))
#endif
static const pawl_process ledger_process = {
    .name           = "Ledger",
    .state          = PAWL_RECORD_OF(ledger),
    .snapshot_every = 1,
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_entry), .key = "account", .starts = true}),
    .apply          = APPLY,
};
#ifdef MANY
PAWL_RECORD_WITH(post, ENTRY, .type = "posted");
static pawl_code on_post(pawl_context *ctx, const post *event)
{
    (void)ctx, (void)event;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_post, post);
static const pawl_projection posts = {.name = "posts",
                                      .on   = PAWL_ON({.handle = PAWL_HANDLE(on_post)})};
#define PROJECTIONS PAWL_PROJECTIONS(&posts)
#define CANCELS(name_)                        \
    static const pawl_endpoint_spec name_ = { \
        .name = #name_, .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_cancel)})}
CANCELS(east);
CANCELS(north);
CANCELS(south);
CANCELS(west);
#define ENDPOINTS PAWL_ENDPOINTS(&desk, &shop, &east, &north, &south, &west)
#else
#define PROJECTIONS NULL
#define ENDPOINTS PAWL_ENDPOINTS(&desk, &shop)
#endif
#ifdef ROUTED
#define DESK_QUEUE "counter"
#define ROUTES \
    PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "desk", .queue = "counter", .is_outbox = true}))
#elif defined(ABROAD)
#define DESK_QUEUE NULL
#define ROUTES \
    PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "desk", .url = "sqlite:/nowhere/other.db"}))
#elif defined(OUTBOUND)
static const pawl_transport_ops transport;
#define DESK_QUEUE NULL
#define ROUTES PAWL_OPTIONS(.routes = PAWL_ROUTES({.name = "desk", .outbound = &transport}))
#else
#define DESK_QUEUE NULL
#define ROUTES NULL
#endif
#ifdef TWICE
#define DESK_SAGAS PAWL_SAGAS(&order_saga)
#else
#define DESK_SAGAS NULL
#endif
static const pawl_endpoint_spec shop        = {.name        = "shop",
                                               .sagas       = PAWL_SAGAS(&order_saga),
                                               .aggregators = PAWL_AGGREGATORS(&sums),
                                               .processes   = PAWL_PROCESSES(&ledger_process),
                                               .projections = PROJECTIONS,
                                               .options     = ROUTES};
static const pawl_endpoint_spec desk        = {.name     = "desk",
                                               .queue    = DESK_QUEUE,
                                               .sagas    = DESK_SAGAS,
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_cancel)})};
static const pawl_application   application = {PAWL_APPLICATION_HEAD, .name = "upgrade",
                                               .endpoints = ENDPOINTS, .version = PROGRAM_VERSION};
PAWL_EXPORT_APPLICATION(application);
