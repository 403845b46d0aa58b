/* must_not_compile.c - lines that the compiler must refuse, because a wrong type in them would
 * otherwise be found by a crash.
 *
 * As it stands the file compiles. A case is one wrong line in the place of a right one: with
 * -DWRONG_X it fails, with a message that the regular expression after "expected:" matches
 * (alternatives for the compilers with |). Run by tests/check_refusals.sh, each case by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "pawl/process.h"

/* WRONG_DRIVER_CALL: an application that calls a driver's own functions | expected: incomplete */
#ifndef WRONG_DRIVER_CALL
#include "pawl/store_driver.h"
#endif
void interrupt(pawl_store *store);
void interrupt(pawl_store *store)
{
    store->ops->interrupt(store);
}

/* ---- Records ---------------------------------------------------------------------- */

/* WRONG_FIELD_TWICE: one member name for two fields | expected: duplicate member */
/* WRONG_KIND: a kind that does not exist | expected: PAWL__KIND_STRING */
/* WRONG_OPTION: an option that fields do not have | expected: has no member named 'secrte'|does not refer to any field */
/* WRONG_FIXED_SIZE: a fixed text without its size | expected: expected expression|undeclared */
#if defined WRONG_FIELD_TWICE
#define ORDER(F) F(TEXT, order_id) F(INT64, order_id)
#elif defined WRONG_KIND
#define ORDER(F) F(STRING, order_id) F(INT64, cents)
#elif defined WRONG_OPTION
#define ORDER(F) F(TEXT, order_id, .secrte = true) F(INT64, cents)
#elif defined WRONG_FIXED_SIZE
#define ORDER(F) F(TEXT, order_id) F(INT64, cents) F(FIXED, country)
#else
#define ORDER(F) \
    F(TEXT, order_id, .secret = true) F(INT64, cents) F(BYTES, seal) F(FIXED, country, 2)
#endif
PAWL_RECORD(order, ORDER);
#define PLACE_ORDER(F) F(TEXT, order_id)
PAWL_RECORD(place_order, PLACE_ORDER);
#define TAKE_PAYMENT(F) F(TEXT, order_id)
PAWL_RECORD(take_payment, TAKE_PAYMENT);
#define REFUND(F) F(INT64, cents)
PAWL_RECORD(refund, REFUND);

/* WRONG_RECORD_UNDECLARED: a nested record that was never declared | expected: address_pawl_record.*undeclared|undeclared identifier 'address_pawl_record' */
/* WRONG_ENUM_UNDECLARED: an enum that was never declared | expected: stage_pawl_enum.*undeclared|undeclared identifier 'stage_pawl_enum' */
/* WRONG_ENUM_OF_RECORD: a record named where an enum belongs | expected: address_pawl_enum */
#ifndef WRONG_RECORD_UNDECLARED
#define ADDRESS(F) F(TEXT, city)
PAWL_RECORD(address, ADDRESS);
#endif
#ifndef WRONG_ENUM_UNDECLARED
#define STAGE(E) E(STAGE_PLACED, "placed")
PAWL_ENUM(stage, STAGE);
#endif
#ifdef WRONG_ENUM_OF_RECORD
#define PARCEL(F) F(LIST_RECORD, places, address) F(ENUM, at, address)
#else
#define PARCEL(F) F(LIST_RECORD, places, address) F(ENUM, at, stage)
#endif
PAWL_RECORD(parcel, PARCEL);

/* ---- Messages --------------------------------------------------------------------- */

static void take(const pawl_record *record, const void *message)
{
    (void)record, (void)message;
}

void make(const char *string);
void make(const char *string)
{
    refund       money = {.cents = 5};
    pawl_saga_id saga  = {{{0}}};
    (void)string;

/* WRONG_TEXT_STRING: a string literal where the record has text | expected: incompatible types when initializing type .double|initializing 'pawl_text_wanted_not_a_c_string' */
#ifdef WRONG_TEXT_STRING
    take(PAWL_MESSAGE(order, .order_id = "5"));
#else
    take(PAWL_MESSAGE(order, .order_id = PAWL_TEXT("5")));
#endif
/* WRONG_TEXT_POINTER: a C string where the record has text | expected: incompatible types when initializing type .double|initializing 'pawl_text_wanted_not_a_c_string' */
#ifdef WRONG_TEXT_POINTER
    take(PAWL_MESSAGE(order, .order_id = string));
#else
    take(PAWL_MESSAGE(order, .order_id = pawl_text_of(string)));
#endif
/* WRONG_BYTES_STRING: a string literal where the record has bytes | expected: incompatible types when initializing type .double|initializing 'pawl_text_wanted_not_a_c_string' */
#ifdef WRONG_BYTES_STRING
    take(PAWL_MESSAGE(order, .seal = "5"));
#else
    take(PAWL_MESSAGE(order, .seal = {.data = "5", .size = 1}));
#endif
/* WRONG_NUMBER_TEXT: text where the record has a number | expected: incompatible types when initializing|incompatible type 'pawl_text' */
#ifdef WRONG_NUMBER_TEXT
    take(PAWL_MESSAGE(order, .cents = PAWL_TEXT("5")));
#else
    take(PAWL_MESSAGE(order, .cents = 5));
#endif
/* WRONG_MEMBER: a message with a member that the record does not have | expected: has no member named 'centz'|does not refer to any field */
#ifdef WRONG_MEMBER
    take(PAWL_MESSAGE(order, .centz = 5));
#else
    take(PAWL_MESSAGE(order, .cents = 5));
#endif
/* WRONG_MESSAGE_UNDECLARED: a message of a type that was never declared | expected: implicit declaration of function 'invoice_pawl_record'|undeclared function 'invoice_pawl_record' */
#ifdef WRONG_MESSAGE_UNDECLARED
    take(PAWL_MESSAGE(invoice, .cents = 5));
#else
    take(PAWL_MESSAGE(refund, .cents = 5));
#endif
/* WRONG_POINTER: a pointer to another record than the one named | expected: _Generic.*not compatible|not compatible with any generic association */
#ifdef WRONG_POINTER
    take(PAWL_MESSAGE_OF(order, &money));
#else
    take(PAWL_MESSAGE_OF(refund, &money));
#endif
/* WRONG_ID: a saga's id given for a timeout's | expected: invalid initializer|incompatible type 'pawl_saga_id' */
#ifdef WRONG_ID
    pawl_timeout_id id = saga;
#else
    pawl_saga_id id = saga;
#endif
    (void)id;
}

pawl_code send(pawl_context *ctx);
pawl_code send(pawl_context *ctx)
{
/* WRONG_SEND: a struct sent without saying what record it is | expected: too few arguments */
#ifdef WRONG_SEND
    return pawl_send(ctx, "x", &(take_payment){.order_id = PAWL_TEXT("1")});
#else
    return pawl_send(ctx, "x", PAWL_MESSAGE(take_payment, .order_id = PAWL_TEXT("1")));
#endif
}

/* ---- Handlers --------------------------------------------------------------------- */

/* WRONG_HANDLER_STATE: a handler of another state than it is declared for | expected: on_place must be */
/* WRONG_HANDLER_MESSAGE: a handler of another message than it is declared for | expected: on_place must be */
/* WRONG_HANDLER_CHANGES: a handler that could change its message | expected: on_place must be */
/* WRONG_HANDLER_CONTEXT: a handler without a context | expected: on_place must be */
/* WRONG_HANDLER_ANSWER: a handler that answers nothing | expected: on_place must be */
#ifdef WRONG_HANDLER_ANSWER
static void on_place(pawl_context *ctx, order *state, const place_order *message)
{
}
#else
#if defined   WRONG_HANDLER_STATE
static pawl_code on_place(pawl_context *ctx, place_order *state, const place_order *message)
#elif defined WRONG_HANDLER_MESSAGE
static pawl_code on_place(pawl_context *ctx, order *state, const take_payment *message)
#elif defined WRONG_HANDLER_CHANGES
static pawl_code on_place(pawl_context *ctx, order *state, place_order *message)
#elif defined WRONG_HANDLER_CONTEXT
static pawl_code on_place(order *state, const place_order *message)
#else
static pawl_code on_place(pawl_context *ctx, order *state, const place_order *message)
#endif
{
    return PAWL_OK;
}
#endif
/* WRONG_HANDLER_UNDECLARED: a row for a function that was never made a handler | expected: on_place_pawl_handler */
#ifndef WRONG_HANDLER_UNDECLARED
PAWL_HANDLER(on_place, order, place_order);
#endif
/* WRONG_HANDLER_RAW: a function put into a row without its thunk | expected: initializer|incompatible|cannot|expected expression */
#ifdef WRONG_HANDLER_RAW
const pawl_on rows[] = {{.handle = *PAWL_HANDLE(on_place)}};
#else
const pawl_on rows[] = {{.handle = PAWL_HANDLE(on_place)}};
#endif

/* WRONG_TIMEOUT_MESSAGE: a timeout handler that expects a message | expected: on_late must be */
#ifdef WRONG_TIMEOUT_MESSAGE
static pawl_code on_late(pawl_context *ctx, order *state, const place_order *message)
#else
static pawl_code on_late(pawl_context *ctx, order *state)
#endif
{
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_late, order);

/* WRONG_BATCH_COUNT: an aggregator's handler without a count | expected: on_batch must be */
#ifdef WRONG_BATCH_COUNT
static pawl_code on_batch(pawl_context *ctx, const place_order *messages)
#else
static pawl_code on_batch(pawl_context *ctx, const place_order *messages, size_t count)
#endif
{
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_batch, place_order);

const pawl_handler *const handlers[] = {PAWL_HANDLE(on_late), PAWL_HANDLE(on_batch)};

/* ---- Entities --------------------------------------------------------------------- */

#define ACCOUNT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(account, ACCOUNT);
#define DEBIT(F) F(TEXT, account) F(INT64, cents)
PAWL_RECORD(debit, DEBIT);
PAWL_RECORD(debited, DEBIT);

/* WRONG_ENTITY_CHANGES: an entity's handler that could change its command | expected: on_debit must be */
/* WRONG_ENTITY_STATE: an entity's handler that could change the state | expected: on_debit must be */
/* WRONG_ENTITY_ANSWER: an entity's handler that answers nothing | expected: on_debit must be */
#ifdef WRONG_ENTITY_ANSWER
static void on_debit(pawl_context *ctx, const account *state, const debit *command)
{
}
#else
#if defined   WRONG_ENTITY_CHANGES
static pawl_code on_debit(pawl_context *ctx, const account *state, debit *command)
#elif defined WRONG_ENTITY_STATE
static pawl_code on_debit(pawl_context *ctx, account *state, const debit *command)
#else
static pawl_code on_debit(pawl_context *ctx, const account *state, const debit *command)
#endif
{
    return PAWL_OK;
}
#endif
PAWL_ENTITY_HANDLER(on_debit, account, debit);
const pawl_handler *const entity = PAWL_HANDLE(on_debit);

/* WRONG_APPLY_VALUE: an apply function that takes the event itself | expected: apply_debited must be */
/* WRONG_APPLY_EVENT: an apply function for another event | expected: apply_debited must be */
/* WRONG_APPLY_STATE: an apply function that cannot change the state | expected: apply_debited must be */
#if defined   WRONG_APPLY_VALUE
static void   apply_debited(account *state, debited event)
#elif defined WRONG_APPLY_EVENT
static void apply_debited(account *state, const debit *event)
#elif defined WRONG_APPLY_STATE
static void apply_debited(const account *state, const debited *event)
#else
static void apply_debited(account *state, const debited *event)
#endif
{
}
PAWL_APPLY(apply_debited, account, debited);
const pawl_apply *const applies = PAWL_APPLIES(apply_debited);

/* WRONG_APPLY_ARENA: an apply function with an arena that says nothing | expected: apply_copied must be */
#ifdef WRONG_APPLY_ARENA
static void apply_copied(account *state, const debited *event, pawl_arena *arena)
{
}
#else
static pawl_code apply_copied(account *state, const debited *event, pawl_arena *arena)
{
    return PAWL_OK;
}
#endif
PAWL_APPLY_WITH_ARENA(apply_copied, account, debited);
const pawl_apply *const copies = PAWL_APPLIES(apply_copied);
