/* process.h - users of the event store: processes, entities, projections.
 *
 *     message -> handler(state) -> events, commands, timeouts -> one commit
 *     state = computed from the events of the stream "NAME/key", by the functions in .apply
 *
 *     static pawl_code on_debit(pawl_context *ctx, const account *state, const debit *command)
 *     {
 *         if (state->cents < command->cents)
 *             return pawl_fail(ctx, PAWL_REJECT, "the balance is below %lld", ...);
 *         return pawl_emit(ctx, PAWL_MESSAGE(debited, .cents = command->cents));
 *     }
 *     PAWL_ENTITY_HANDLER(on_debit, account, debit);
 *
 *     static void apply_debited(account *state, const debited *event) { ... }
 *     PAWL_APPLY(apply_debited, account, debited);
 *
 *     static const pawl_entity account_entity = {
 *         .name = "Account", .state = PAWL_RECORD_OF(account),
 *         .on = PAWL_ON({ .handle = PAWL_HANDLE(on_debit), .key = "account" }),
 *         .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_debited)) };
 *
 * A handler sees the state and cannot write it: it emits events. An entity
 * decides about commands, each of which is accepted or rejected with a reason; a
 * process hears of what happened and sends commands. Both drop a command that
 * they have handled already, by its dispatch id, however it arrives again
 * (O17, O18).
 *
 * Threads: as application.h says of handlers. Apply functions must be pure: they
 *     run whenever the state is needed, on any thread.
 * Tests: tests/unit/engine/test_engine_process*.c, tests/unit/workflow/test_model_process.c,
 *     tests/unit/runtime/test_projection*.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_PROCESS_H
#define PAWL_PROCESS_H

#include "pawl/application.h"
#include "pawl/event_store_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_DISPATCHES_REMEMBERED 1024 /* by an entity or process, unless it says more (O17) */
#define PAWL_DISPATCHES_REMEMBERED_MAX 65536
/* Headers of a command that a process or a saga sent: whom the answer is for, "NAME/KEY" of a process and
 * "NAME/ID" of a saga, and which are wanted. */
#define PAWL_HEADER_PROCESS "pawl.process"
#define PAWL_HEADER_ANSWER "pawl.answer"

/* ---- Events --------------------------------------------------------------- */

/* Applies an event to the state of its process or entity. Made by PAWL_APPLY
 * from: void f(state *, const event *); or by PAWL_APPLY_WITH_ARENA. Memory that the
 * event points to, or that is taken from the arena, lives as long as the state does. */
typedef pawl_code pawl_apply_fn(void *state, const void *event, pawl_arena *arena);

struct pawl_apply {
    pawl_record_fn *state;
    pawl_record_fn *event;
    pawl_apply_fn  *call;
};

/* ---- Handlers ----------------------------------------------------------- */

/* pawl_code f(pawl_context *, const state *, const message *). The state is borrowed for
 * the call. An entity answers a command with PAWL_OK, accepted, or with PAWL_REJECT,
 * rejected with the reason that pawl_fail gives; other codes mean what they mean for a
 * saga's handler: nothing is kept, and the message is tried again, dropped (PAWL_DISCARD) or
 * made a dead letter, as the code says. */
#define PAWL_PROCESS_HANDLER(function, state_record, message_record) \
    PAWL__STATE_HANDLER(function, const state_record, state_record, message_record, true)
#define PAWL_ENTITY_HANDLER PAWL_PROCESS_HANDLER

/* A process's timeout: pawl_code f(pawl_context *, const state *). */
#define PAWL_PROCESS_TIMEOUT_HANDLER(function, state_record) \
    PAWL__STATE_TIMEOUT_HANDLER(function, const state_record, state_record, true)

/* Makes a function an event's, for .apply: void f(state *, const event *). Texts of the
 * event may be kept in the state: they live as long. */
#define PAWL_APPLY(function, state_record, event_record)                                           \
    _Static_assert(                                                                                \
        _Generic(&(function), void (*)(state_record *, const event_record *) : 1, default : 0),    \
        #function " must be: void " #function "(" #state_record " *, const " #event_record " *)"); \
    static pawl_code function##_pawl_call(void *state, const void *event, pawl_arena *arena)       \
    {                                                                                              \
        (void)arena;                                                                               \
        function((state_record *)state, (const event_record *)event);                              \
        return PAWL_OK;                                                                            \
    }                                                                                              \
    static const pawl_apply function##_pawl_apply = {                                              \
        PAWL_RECORD_OF(state_record), PAWL_RECORD_OF(event_record), function##_pawl_call}

/* The same for a state with lists that grow: pawl_code f(state *, const event *,
 * pawl_arena *). PAWL_OK, or PAWL_ENOMEM when the arena gives nothing; an event that
 * is answered with anything else cannot be applied. */
#define PAWL_APPLY_WITH_ARENA(function, state_record, event_record)                          \
    PAWL__CHECK_TYPE(function, state_record *, const event_record *, pawl_arena *);          \
    static pawl_code function##_pawl_call(void *state, const void *event, pawl_arena *arena) \
    {                                                                                        \
        return function((state_record *)state, (const event_record *)event, arena);          \
    }                                                                                        \
    static const pawl_apply function##_pawl_apply = {                                        \
        PAWL_RECORD_OF(state_record), PAWL_RECORD_OF(event_record), function##_pawl_call}
#define PAWL_APPLIES(function) (&function##_pawl_apply)

/* ---- Answers ------------------------------------------------------------ */

/* A process or a saga that has a handler for one of these, without a .key, is told what
 * became of each command it sent to an entity: `dispatch_id` and `type` are the
 * command's, `reason` is the handler's. `dispatch_id` is zero for a command of a saga to a queue of its
 * own store, whose message has a random id. Without them a rejected command is left
 * to the operators, as a dead letter; so is one that a saga sent by pawl_send_now. A command that was
 * handled already is accepted once more (O17). Of one that is discarded, or fails, no answer is sent. */
#define PAWL__ACCEPTED(F) \
    F(UUID, dispatch_id)  \
    F(TEXT, type)
#define PAWL__REJECTED(F) \
    F(UUID, dispatch_id)  \
    F(TEXT, type)         \
    F(TEXT, reason)
#ifndef __cplusplus /* where a descriptor cannot be written like this */
PAWL_RECORD_WITH(pawl_accepted, PAWL__ACCEPTED, .type = "pawl.accepted");
PAWL_RECORD_WITH(pawl_rejected, PAWL__REJECTED, .type = "pawl.rejected");
#endif

/* The library's event "pawl.handled": a message was handled, something was sent or published (if
 * only to nobody) or timeouts set, and no event emitted (O5). */
#define PAWL__HANDLED(F) \
    F(TEXT, message_id)  \
    F(TEXT, type)
#ifndef __cplusplus
PAWL_RECORD_WITH(pawl_handled, PAWL__HANDLED, .type = "pawl.handled");
#endif

/* ---- In a handler --------------------------------------------------------- */

/* An event of the current process or entity; `record, event` is PAWL_MESSAGE(type,
 * .field = value ...). It is copied, and applied at once: the state that the handler was
 * given shows it. It becomes part of the stream in the commit, at the next version
 * (O1, O4). Like any effect that is refused, an error fails the message.
 *
 * PAWL_EINVAL  no function in .apply is for it, or there is no current process or entity.
 * PAWL_ELIMIT  its JSON is larger than PAWL_BODY_SIZE_MAX. */
PAWL_API pawl_code pawl_emit(pawl_context *ctx, const pawl_record *record, const void *event);
/* Version of the current stream, events just emitted included; 0: none yet, or there is
 * no current process or entity. */
PAWL_API int64_t pawl_stream_version(const pawl_context *ctx);
/* "Account/7", or empty without a process or an entity. Ends with the handler's call. */
PAWL_API pawl_text pawl_stream_in_flight(const pawl_context *ctx);
/* In a projection: the current event with its stream, version and global position, until the
 * handler's call ends. NULL in any other handler. */
PAWL_API const pawl_event_row *pawl_event_in_flight(const pawl_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
