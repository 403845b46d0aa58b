/* process.h - declares processes and entities, whose state is a stream of events.
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
 * A handler reads the state and changes it by emitting events. An entity
 * accepts each command or rejects it with a reason. A process handles events and
 * answers, and sends commands. Both drop a copy of a command that they have
 * handled, by its dispatch id (O17, O18). Projections: application.h.
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

#define PAWL_DISPATCHES_REMEMBERED 1024 /* default of .dispatches_remembered (O17) */
#define PAWL_DISPATCHES_REMEMBERED_MAX 65536
/* Headers of a command that a process or a saga sent: the receiver of the answer ("NAME/KEY" of a process, "NAME/ID"
 * of a saga), and which answers it handles (accepted, rejected). */
#define PAWL_HEADER_PROCESS "pawl.process"
#define PAWL_HEADER_ANSWER "pawl.answer"

/* ---- Events --------------------------------------------------------------- */

/* Applies an event to the state of its process or entity. PAWL_APPLY and PAWL_APPLY_WITH_ARENA make one from a typed
 * function. Memory that the event points to, and memory of the arena, lives as long as the state. */
typedef pawl_code pawl_apply_fn(void *state, const void *event, pawl_arena *arena);

struct pawl_apply {
    pawl_record_fn *state;
    pawl_record_fn *event;
    pawl_apply_fn  *call;
};

/* ---- Handlers ----------------------------------------------------------- */

/* pawl_code f(pawl_context *, const state *, const message *). The state is borrowed for
 * the call. An entity accepts a command with PAWL_OK, and rejects it with PAWL_REJECT and
 * the reason given to pawl_fail. Other codes are as of a saga's handler: events and effects are
 * dropped, and the message is retried, discarded (PAWL_DISCARD) or dead-lettered. */
#define PAWL_PROCESS_HANDLER(function, state_record, message_record) \
    PAWL__STATE_HANDLER(function, const state_record, state_record, message_record, true)
#define PAWL_ENTITY_HANDLER PAWL_PROCESS_HANDLER

/* A process's timeout: pawl_code f(pawl_context *, const state *). */
#define PAWL_PROCESS_TIMEOUT_HANDLER(function, state_record) \
    PAWL__STATE_TIMEOUT_HANDLER(function, const state_record, state_record, true)

/* Declares a function for PAWL_APPLIES: void f(state *, const event *). The state may keep texts of the event, which
 * live as long. */
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

/* The same for a state that needs memory, as for lists that grow: pawl_code f(state *, const event *,
 * pawl_arena *). Returns PAWL_OK, or PAWL_ENOMEM when the arena is exhausted; any other code means that the event
 * cannot be applied. */
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

/* Answers to commands: a process or a saga with a handler for one of these messages, in a row without .key, gets
 * an answer to each command that it sent to an entity. `dispatch_id` and `type` are the command's, `reason` is the
 * entity's. `dispatch_id` is zero if a saga sent the command to a queue of its own store, since such a message has a
 * random id. Without a handler for pawl_rejected, a rejected command becomes a dead letter; so does a rejected one that
 * a saga sent by pawl_send_now. A copy of a handled command is answered as accepted (O17). Discarded and failed
 * commands are not answered. */
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

/* The library's event "pawl.handled", appended when a handler sent, published or set timeouts without emitting
 * an event: dispatch ids need a new version of the stream (O5). */
#define PAWL__HANDLED(F) \
    F(TEXT, message_id)  \
    F(TEXT, type)
#ifndef __cplusplus
PAWL_RECORD_WITH(pawl_handled, PAWL__HANDLED, .type = "pawl.handled");
#endif

/* ---- In a handler --------------------------------------------------------- */

/* Emits an event of the current process or entity; `record, event` is PAWL_MESSAGE(type,
 * .field = value ...). The event is copied and applied at once to the handler's state. The commit
 * appends it to the stream, at the next version (O1, O4). As with any effect, an error fails the message.
 *
 * PAWL_EINVAL  no function in .apply is for it, or there is no current process or entity.
 * PAWL_ELIMIT  its JSON is larger than PAWL_BODY_SIZE_MAX. */
PAWL_API pawl_code pawl_emit(pawl_context *ctx, const pawl_record *record, const void *event);
/* Version of the current stream, with the events just emitted; 0: the stream is empty, or there is
 * no current process or entity. */
PAWL_API int64_t pawl_stream_version(const pawl_context *ctx);
/* Name of the current stream, "Account/7"; empty without a process or an entity. Lives until the handler returns. */
PAWL_API pawl_text pawl_stream_in_flight(const pawl_context *ctx);
/* In a projection: the current event with its stream, version and global position, until the
 * handler's call ends. NULL in any other handler. */
PAWL_API const pawl_event_row *pawl_event_in_flight(const pawl_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
