/* fault_store.c - a store that makes the n-th call go wrong.
 *
 * A handle owns a handle of the wrapped store and forwards every call; worker id and epoch are kept equal in both. Each
 * handle has a copy of the operations table, with the promises and missing entries of the wrapped store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"

#include "support/fault_rows.h"
#include "support/world.h"

#define BINDINGS_MAX 8

typedef struct fault_store {
    pawl_store     base;
    pawl_store_ops ops;
    pawl_store    *inner;
    char           url[1100]; /* of the wrapped store */
} fault_store;

typedef struct binding {
    char name[40];
    char url[1100];
} binding;

/* A commit whose outcome is open until the resolve. Its change set belongs to the caller, who is still waiting. */
typedef struct held_commit {
    const pawl_changes *changes;
    pawl_refusals      *refused;
    int64_t             epoch;
} held_commit;

static binding           bindings[BINDINGS_MAX];
static size_t            binding_count;
static fault_plan        plan;
static fault_counts      counts;
static pawl_random       chances;
static bool              was_reached;
static fault_op          op_reached;
static bool              next_resolve_fails; /* the next resolve fails */
static held_commit       held;
static pawl_code         late_code;
static fault_observe_fn *observer;
static void             *observer_context;

/* ---- Selecting the call that fails ----------------------------------------- */

static bool is_claim(fault_op op)
{
    return op == fault_op_queue_claim || op == fault_op_timeout_claim ||
           op == fault_op_leased_batch_claim || op == fault_op_outbox_claim;
}

static bool is_about(fault_kind kind, fault_op op)
{
    switch (kind) {
    case FAULT_UNKNOWN:
    case FAULT_LATE:
    case FAULT_JUST_LATE:
    case FAULT_DONE_RESOLVE_FAILS:
    case FAULT_LOST_RESOLVE_FAILS: return op == fault_op_commit;
    case FAULT_AGAIN: return is_claim(op);
    case FAULT_STEAL: return op == fault_op_timeout_claim || op == fault_op_leased_batch_claim;
    case FAULT_REORDER: return op == fault_op_queue_claim;
    default: return true;
    }
}

/* Counts the call; true: the plan selects it. */
static bool is_chosen(fault_op op)
{
    counts.total++;
    counts.by_op[op]++;
    if (!is_about(plan.kind, op) || (plan.op != fault_op_any && plan.op != op))
        return false;
    counts.eligible++;
    if (plan.kind == FAULT_NONE || (plan.n != 0 && counts.eligible != plan.n))
        return false;
    if (plan.chance > 0 && pawl_random_below(&chances, 1000) >= (uint64_t)plan.chance)
        return false;
    was_reached = true;
    op_reached  = op;
    return true;
}

static pawl_code lose(fault_op op, pawl_code code, pawl_error *error)
{
    return pawl_error_set(error, code, "the test says %s in %s", pawl_code_name(code),
                          fault_op_name(op));
}

/* Called before a call: PAWL_OK if it may proceed. */
static pawl_code enter(fault_op op, bool *is_mine, pawl_error *error)
{
    *is_mine = is_chosen(op);
    if (*is_mine && plan.kind == FAULT_BEFORE)
        return lose(op, plan.code, error);
    if (*is_mine && plan.kind == FAULT_DELAY)
        pawl_clock_set(plan.clock, pawl_clock_now(plan.clock) + plan.delay);
    return PAWL_OK;
}

/* Called after a call that the store has answered. */
static pawl_code leave(fault_op op, bool is_mine, pawl_code code, pawl_error *error)
{
    return is_mine && plan.kind == FAULT_AFTER && code == PAWL_OK ? lose(op, PAWL_ELOST, error)
                                                                  : code;
}

/* ---- Opening ----------------------------------------------------------------- */

static fault_store *fault_of(pawl_store *store)
{
    return (fault_store *)store;
}

static pawl_store *inner_of(pawl_store *store)
{
    return ((fault_store *)store)->inner;
}

/* Copies the fields that the core reads from the wrapped handle. */
static void follow(pawl_store *store)
{
    const pawl_store *inner = inner_of(store);
    store->epoch            = inner->epoch;
    store->is_attached      = inner->is_attached;
}

const char *fault_native_type;
bool        fault_is_strict;

void fault_take_promises(pawl_store_ops *ops, const pawl_store_ops *own,
                         const pawl_store_ops *behind)
{
    *ops             = *own;
    ops->promises    = behind->promises;
    ops->native_type = behind->native_type;
#define LEAVE_OUT(entry) ops->entry = behind->entry != NULL ? ops->entry : NULL
    LEAVE_OUT(enlist);
    LEAVE_OUT(handler_transaction_begin);
    LEAVE_OUT(handler_transaction_end);
    LEAVE_OUT(native);
    LEAVE_OUT(worker_crashed);
    LEAVE_OUT(worker_heartbeat);
#undef LEAVE_OUT
}

static void take_promises(fault_store *self)
{
    fault_take_promises(&self->ops, self->base.ops, self->inner->ops);
    if (fault_native_type != NULL)
        self->ops.native_type = fault_native_type[0] != '\0' ? fault_native_type : NULL;
    self->base.ops = &self->ops;
}

static const char *bound_url(const char *url)
{
    for (size_t i = 0; i < binding_count; i++)
        if (strcmp(bindings[i].name, url + strlen("fault:")) == 0)
            return bindings[i].url;
    return NULL;
}

static pawl_code faulty_open(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    bool         is_mine = false;
    fault_store *self    = fault_of(store);
    const char  *behind  = bound_url(url);
    if (behind == NULL)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "%s is bound to no store", url);
    pawl_code code = enter(fault_op_open, &is_mine, error);
    if (code != PAWL_OK)
        return code;
    snprintf(self->url, sizeof self->url, "%s", behind);
    code = pawl_store_open(behind, options, &self->inner, error);
    if (code != PAWL_OK)
        return code;
    memcpy(store->identity, self->inner->identity, sizeof store->identity);
    take_promises(self);
    return leave(fault_op_open, is_mine, code, error);
}

static void faulty_close(pawl_store *store)
{
    pawl_store_close(inner_of(store));
}

static pawl_code faulty_schema(pawl_store *store, pawl_schema_verb verb,
                               const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                               pawl_error *error)
{
    return pawl_store_schema(fault_of(store)->url, verb, spec, line, context, error);
}

static pawl_code faulty_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                    pawl_time now, pawl_error *error)
{
    bool        is_mine = false;
    pawl_store *inner   = inner_of(store);
    pawl_code   code    = enter(fault_op_worker_open, &is_mine, error);
    if (code != PAWL_OK)
        return code;
    inner->worker = store->worker;
    pawl_store_program_set(inner, pawl_store_program(store)->program,
                           pawl_store_program(store)->program_version);
    code = pawl_store_worker_open(inner, endpoint, types, now, error);
    code = leave(fault_op_worker_open, is_mine, code, error);
    if (code == PAWL_OK)
        follow(store);
    return code;
}

static pawl_code faulty_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    bool        is_mine = false;
    pawl_store *inner   = inner_of(store);
    pawl_code   code    = enter(fault_op_worker_close, &is_mine, error);
    if (code != PAWL_OK)
        return code;
    if (!pawl_store_is_attached(inner))
        pawl_store_worker_set(inner, pawl_store_worker(store));
    code = pawl_store_worker_close(inner, now, error);
    follow(store);
    return leave(fault_op_worker_close, is_mine, code, error);
}

/* ---- Commit -------------------------------------------------------------------- */

static pawl_code apply(pawl_store *inner, const pawl_changes *changes, pawl_refusals *refused,
                       pawl_error *error)
{
    for (size_t i = 0; fault_is_strict && i < changes->outbox_add.count; i++)
        changes->outbox_add.items[i].may_differ = false;
    pawl_code code = inner->ops->commit(inner, changes, refused, error);
    if (code == PAWL_OK && observer != NULL)
        observer(changes, refused, observer_context);
    return code;
}

/* Returns groups of an earlier round, which differ from those that the transaction left out. */
static void list_others(const pawl_changes *changes, pawl_refusals *refused)
{
    if (refused->count == 0)
        assert_int_equal(pawl_refusals_add(refused, pawl_change_queue_settle, 0, 0, PAWL_EGONE,
                                           PAWL_TEXT("refused in an earlier round")),
                         PAWL_OK);
    for (size_t i = 0; i < refused->count; i++)
        refused->items[i].group = (refused->items[i].group + 1) % changes->group_count;
}

/* Changes the list of refusals, as a driver may that lost the answer. */
static void change_list(const pawl_changes *changes, pawl_refusals *refused)
{
    switch (plan.list) {
    case FAULT_LIST_EMPTY: refused->count = 0; break;
    case FAULT_LIST_PART: refused->count = (refused->count + 1) / 2; break;
    case FAULT_LIST_EARLIER: list_others(changes, refused); break;
    default: break;
    }
}

/* The outcome is unknown, and so is the list, unless the driver promises it. */
static pawl_code doubt(fault_store *self, const pawl_changes *changes, pawl_refusals *refused,
                       pawl_error *error)
{
    if (plan.list != FAULT_LIST_WHOLE)
        self->ops.promises &= ~PAWL_STORE_KNOWS_REFUSED;
    change_list(changes, refused);
    return lose(fault_op_commit, PAWL_EUNKNOWN, error);
}

static pawl_code lose_commit(fault_store *self, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    held = (held_commit){.changes = changes, .refused = refused, .epoch = self->inner->epoch};
    if (plan.kind == FAULT_LATE || plan.kind == FAULT_JUST_LATE)
        late_code = PAWL_EUNKNOWN;
    else
        held.changes = NULL;
    next_resolve_fails = plan.kind == FAULT_LOST_RESOLVE_FAILS;
    return doubt(self, changes, refused, error);
}

static pawl_code faulty_commit(pawl_store *store, const pawl_changes *changes,
                               pawl_refusals *refused, pawl_error *error)
{
    bool         is_mine = false;
    fault_store *self    = fault_of(store);
    pawl_code    code    = enter(fault_op_commit, &is_mine, error);
    if (code != PAWL_OK)
        return code;
    if (is_mine && (plan.kind == FAULT_UNKNOWN || plan.kind == FAULT_LATE ||
                    plan.kind == FAULT_JUST_LATE || plan.kind == FAULT_LOST_RESOLVE_FAILS))
        return lose_commit(self, changes, refused, error);
    code = apply(self->inner, changes, refused, error);
    if (!is_mine || code != PAWL_OK)
        return code;
    next_resolve_fails = plan.kind == FAULT_DONE_RESOLVE_FAILS;
    return plan.kind == FAULT_AFTER || plan.kind == FAULT_DONE_RESOLVE_FAILS
               ? doubt(self, changes, refused, error)
               : code;
}

/* Applies the held commit, with the epoch of its time. */
static void arrive(fault_store *self, pawl_refusals *refused)
{
    pawl_error error   = PAWL_ERROR_INIT;
    int64_t    epoch   = self->inner->epoch;
    self->inner->epoch = held.epoch;
    refused->count     = 0;
    late_code          = apply(self->inner, held.changes, refused, &error);
    self->inner->epoch = epoch;
    held.changes       = NULL;
}

/* Applied in time, so the driver knows which groups it left out. */
static void arrive_in_time(fault_store *self)
{
    const pawl_changes *changes = held.changes;
    arrive(self, held.refused);
    change_list(changes, held.refused);
}

static void arrive_late(fault_store *self)
{
    pawl_refusals refused = {.arena = pawl_arena_create(0)};
    assert_non_null(refused.arena);
    arrive(self, &refused);
    pawl_arena_destroy(refused.arena);
}

static pawl_code faulty_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                                pawl_error *error)
{
    bool         is_mine = false;
    fault_store *self    = fault_of(store);
    pawl_code    code    = enter(fault_op_resolve, &is_mine, error);
    if (code != PAWL_OK)
        return code;
    if (next_resolve_fails) {
        next_resolve_fails = false;
        return lose(fault_op_resolve, PAWL_ELOST, error);
    }
    if (held.changes != NULL && plan.kind == FAULT_JUST_LATE)
        arrive_in_time(self);
    code = self->inner->ops->resolve(self->inner, commit_id, is_applied, error);
    if (held.changes != NULL)
        arrive_late(self);
    follow(store);
    return leave(fault_op_resolve, is_mine, code, error);
}

/* ---- Claims ---------------------------------------------------------------------- */

static pawl_code faulty_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                    pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    bool        is_mine = false;
    pawl_store *inner   = inner_of(store);
    pawl_code   code    = enter(fault_op_queue_claim, &is_mine, error);
    if (code == PAWL_OK)
        code = leave(fault_op_queue_claim, is_mine,
                     pawl_store_queue_claim(inner, claim, arena, rows, error), error);
    if (code != PAWL_OK)
        return code;
    fault_rows_add_messages(claim->queue, arena, rows);
    if (is_mine && plan.kind == FAULT_AGAIN)
        fault_rows_keep_messages(claim->queue, rows);
    if (is_mine && plan.kind == FAULT_REORDER)
        fault_rows_reorder(rows, plan.is_independent);
    return code;
}

static pawl_code faulty_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                      pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    bool        is_mine = false;
    pawl_store *inner   = inner_of(store);
    pawl_code   code    = enter(fault_op_timeout_claim, &is_mine, error);
    if (code == PAWL_OK)
        code = leave(fault_op_timeout_claim, is_mine,
                     pawl_store_timeout_claim(inner, claim, arena, rows, error), error);
    if (code != PAWL_OK)
        return code;
    fault_rows_add_timeouts(claim->destination, arena, rows);
    if (is_mine && plan.kind == FAULT_AGAIN)
        fault_rows_keep_timeouts(claim->destination, rows);
    if (is_mine && plan.kind == FAULT_STEAL)
        fault_rows_steal_timeouts(fault_of(store)->url, claim, rows);
    return code;
}

static pawl_code faulty_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                           pawl_arena *arena, pawl_leased_batch *leased,
                                           pawl_error *error)
{
    bool        is_mine = false;
    pawl_store *inner   = inner_of(store);
    pawl_code   code    = enter(fault_op_leased_batch_claim, &is_mine, error);
    if (code == PAWL_OK)
        code = leave(fault_op_leased_batch_claim, is_mine,
                     pawl_store_leased_batch_claim(inner, claim, arena, leased, error), error);
    if (code != PAWL_OK)
        return code;
    fault_rows_add_snapshot(claim->partition, arena, leased);
    if (is_mine && plan.kind == FAULT_AGAIN)
        fault_rows_keep_snapshot(claim->partition, leased);
    if (is_mine && plan.kind == FAULT_STEAL)
        fault_rows_steal_snapshot(fault_of(store)->url, claim, leased);
    return code;
}

static pawl_code faulty_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                     size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                     pawl_error *error)
{
    bool        is_mine = false;
    pawl_store *inner   = inner_of(store);
    pawl_code   code    = enter(fault_op_outbox_claim, &is_mine, error);
    if (code == PAWL_OK)
        code = leave(fault_op_outbox_claim, is_mine,
                     pawl_store_outbox_claim(inner, endpoint, now, count_max, arena, rows, error),
                     error);
    if (code != PAWL_OK)
        return code;
    fault_rows_add_outbox(arena, rows);
    if (is_mine && plan.kind == FAULT_AGAIN)
        fault_rows_keep_outbox(rows);
    return code;
}

/* ---- Calls that are only handed on ------------------------------------------------- */

/* Defines an operation: parameters between handle and error, and arguments for the wrapped store. */
#define HAND_ON(name, PARAMETERS, ARGUMENTS)                           \
    static pawl_code faulty_##name PARAMETERS                          \
    {                                                                  \
        bool        is_mine = false;                                   \
        pawl_store *inner   = inner_of(store);                         \
        pawl_code   code    = enter(fault_op_##name, &is_mine, error); \
        if (code != PAWL_OK)                                           \
            return code;                                               \
        code = inner->ops->name ARGUMENTS;                             \
        return leave(fault_op_##name, is_mine, code, error);           \
    }

#include "support/fault_calls.h"

fault_op fault_op_of(pawl_find_kind kind)
{
    static const fault_op ops[PAWL_FIND_KINDS] = {
#define FAULT_FIND(name, kind) [kind] = fault_op_##name,
        FAULT_FINDS(FAULT_FIND)
#undef FAULT_FIND
    };
    return ops[kind];
}

static pawl_code faulty_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                             pawl_found *found, pawl_error *error)
{
    bool        is_mine = false;
    pawl_store *inner   = inner_of(store);
    fault_op    op      = fault_op_of(asked->kind);
    pawl_code   code    = enter(op, &is_mine, error);
    return code != PAWL_OK
               ? code
               : leave(op, is_mine, inner->ops->find(inner, asked, arena, found, error), error);
}

static pawl_code faulty_wait(pawl_store *store, int64_t microseconds, int wake_fd,
                             pawl_error *error)
{
    pawl_store *inner = inner_of(store);
    return pawl_store_wait(inner, microseconds, wake_fd, error);
}

static void faulty_interrupt(pawl_store *store)
{
    pawl_store_interrupt(inner_of(store));
}

/* Calls the wrapped entry directly; the public call would call `ready` itself. */
static pawl_code faulty_ready(pawl_store *store, pawl_error *error)
{
    pawl_store *inner = inner_of(store);
    return inner->ops->ready != NULL ? inner->ops->ready(inner, error) : PAWL_OK;
}

static bool faulty_lost(pawl_store *store)
{
    return pawl_store_handler_transaction_lost(inner_of(store));
}
static void faulty_handler_transaction_end(pawl_store *store)
{
    inner_of(store)->ops->handler_transaction_end(inner_of(store));
}

static void *faulty_native(pawl_store *store)
{
    return inner_of(store)->ops->native(inner_of(store));
}

/* ---- For tests ------------------------------------------------------------------------ */

const char *fault_op_name(fault_op op)
{
    static const char *const names[] = {"any",
#define FAULT_OP(name) #name,
#define FAULT_FIND(name, kind) #name,
                                        FAULT_OPS(FAULT_OP) FAULT_FINDS(FAULT_FIND)
#undef FAULT_OP
#undef FAULT_FIND
    };
    return names[op];
}

static const pawl_store_ops fault_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "fault",
    .store_size = sizeof(fault_store),
#define FAULT_OP(name) .name = faulty_##name,
    FAULT_OPS(FAULT_OP)
#undef FAULT_OP
        .close                = faulty_close,
    .find                     = faulty_find,
    .schema                   = faulty_schema,
    .wait                     = faulty_wait,
    .interrupt                = faulty_interrupt,
    .ready                    = faulty_ready,
    .handler_transaction_end  = faulty_handler_transaction_end,
    .handler_transaction_lost = faulty_lost,
    .native                   = faulty_native,
};

void fault_bind(const char *name, const char *url)
{
    static bool is_registered;
    size_t      index = 0;
    if (!is_registered)
        must(pawl_store_register(&fault_driver, world_error()));
    is_registered = true;
    while (index < binding_count && strcmp(bindings[index].name, name) != 0)
        index++;
    assert_true(index < BINDINGS_MAX);
    snprintf(bindings[index].name, sizeof bindings[index].name, "%s", name);
    snprintf(bindings[index].url, sizeof bindings[index].url, "%s", url);
    if (index == binding_count)
        binding_count++;
}

void fault_plan_set(const fault_plan *given)
{
    plan               = given != NULL ? *given : (fault_plan){.kind = FAULT_NONE};
    counts             = (fault_counts){0};
    was_reached        = false;
    op_reached         = fault_op_any;
    next_resolve_fails = false;
    held.changes       = NULL;
    late_code          = PAWL_OK;
    pawl_random_seed(&chances, plan.seed);
    fault_rows_begin(plan.seed);
}

void fault_observe(fault_observe_fn *observe, void *context)
{
    observer         = observe;
    observer_context = context;
}

bool fault_was_reached(void)
{
    return was_reached;
}

fault_op fault_op_met(void)
{
    return op_reached;
}

fault_counts fault_counts_now(void)
{
    return counts;
}

pawl_code fault_late_code(void)
{
    return late_code;
}

long fault_row_count(void)
{
    return fault_rows_count();
}
