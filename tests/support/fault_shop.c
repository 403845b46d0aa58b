/* fault_shop.c - the handlers of the shop and of the depot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_shop.h"

#include "support/native.h"

/* ---- The shop --------------------------------------------------------------- */

static pawl_code tell(pawl_context *ctx, pawl_text name, const char *what)
{
    return pawl_send(ctx, "depot", PAWL_MESSAGE(notice, .name = name, .what = pawl_text_of(what)));
}

static pawl_code on_place(pawl_context *ctx, order *it, const place *message)
{
    it->steps++;
    tell(ctx, message->name, "placed");
    pawl_timeout(ctx, "remind", PAWL_MINUTES(5));
    return pawl_timeout(ctx, "expire", PAWL_HOURS(24));
}
PAWL_HANDLER(on_place, order, place);

static pawl_code on_remind(pawl_context *ctx, order *it)
{
    it->steps++;
    it->reminders++;
    return tell(ctx, it->name, "reminded");
}
PAWL_TIMEOUT_HANDLER(on_remind, order);

static pawl_code on_pay(pawl_context *ctx, order *it, const pay *message)
{
    it->steps++;
    it->paid++;
    pawl_cancel_timeout(ctx, "expire");
    for (int32_t i = 1; i <= 3; i++)
        pawl_send(ctx, "shop", PAWL_MESSAGE(parcel, .name = message->name, .number = i));
    return PAWL_OK;
}
PAWL_HANDLER(on_pay, order, pay);

static pawl_code on_packed(pawl_context *ctx, order *it, const packed *message)
{
    it->steps++;
    it->packed++;
    return PAWL_OK;
}
PAWL_HANDLER(on_packed, order, packed);

static pawl_code on_expire(pawl_context *ctx, order *it)
{
    tell(ctx, it->name, "expired");
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_expire, order);

static pawl_code on_parcels(pawl_context *ctx, const parcel *messages, size_t count)
{
    if (count != 3)
        return pawl_fail(ctx, PAWL_REJECT, "%zu parcels", count);
    tell(ctx, messages[0].name, "packed");
    return pawl_publish(ctx, PAWL_MESSAGE(packed, .name = messages[0].name));
}
PAWL_BATCH_HANDLER(on_parcels, parcel);

static const pawl_saga order_saga = SAGA_OF(
    "OrderSaga", order, "name", {.handle = PAWL_HANDLE(on_place), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_pay), .key = "name"},
    {.handle = PAWL_HANDLE(on_packed), .key = "name"},
    {.handle = PAWL_HANDLE(on_remind), .timeout = "remind"},
    {.handle = PAWL_HANDLE(on_expire), .timeout = "expire"});

static const pawl_aggregator parcels = {
    .name   = "Parcels",
    .handle = PAWL_HANDLE(on_parcels),
    .key    = "name",
    .size   = 3,
    .period = PAWL_DAYS(1000)}; /* checking it reads the due times of all partitions */

const char *fault_shop_store;

/* Runs its own SQL, if the store has SQL. A transaction that a fault broke is a failure of the store, and the message
 * is retried. */
static pawl_code on_audit(pawl_context *ctx, const audit *message)
{
    char sql[80];
    snprintf(sql, sizeof sql, "insert into {audit} (number) values (%d)", (int)message->number);
    pawl_code code = native_in(ctx, fault_shop_store, sql);
    return code == PAWL_REJECT ? PAWL_EPERSIST : code;
}
PAWL_MESSAGE_HANDLER(on_audit, audit);

static const pawl_endpoint_spec shop_plain = {
    .name = "shop", .sagas = PAWL_SAGAS(&order_saga), .aggregators = PAWL_AGGREGATORS(&parcels)};
static const pawl_endpoint_spec shop_sql = {
    .name        = "shop",
    .sagas       = PAWL_SAGAS(&order_saga),
    .aggregators = PAWL_AGGREGATORS(&parcels),
    .handlers    = PAWL_ON({.handle = PAWL_HANDLE(on_audit), .own_sql = true})};

const pawl_application fault_shop_plain = APPLICATION("shop", &shop_plain);
const pawl_application fault_shop_sql   = APPLICATION("shop", &shop_sql);

/* ---- The depot ---------------------------------------------------------------- */

RECORD(ledger, (TEXT, name), (INT32, placed), (INT32, reminded), (INT32, packed), (INT32, expired));

static pawl_code on_notice(pawl_context *ctx, ledger *it, const notice *message)
{
    it->placed += pawl_text_equal(message->what, PAWL_TEXT("placed"));
    it->reminded += pawl_text_equal(message->what, PAWL_TEXT("reminded"));
    it->packed += pawl_text_equal(message->what, PAWL_TEXT("packed"));
    it->expired += pawl_text_equal(message->what, PAWL_TEXT("expired"));
    return PAWL_OK;
}
PAWL_HANDLER(on_notice, ledger, notice);

static const pawl_saga ledger_saga =
    SAGA_OF("LedgerSaga", ledger, "name",
            {.handle = PAWL_HANDLE(on_notice), .key = "name", .starts = true});
static const pawl_endpoint_spec depot       = {.name = "depot", .sagas = PAWL_SAGAS(&ledger_saga)};
const pawl_application          fault_depot = APPLICATION("depot", &depot);
