/* sim_store.c - calls of a store that take time, fail, or lose their answers.
 *
 * A handle owns a handle of the store behind it. It is in a list of the machine, which closes the handles of a
 * process that crashed as a database does when a connection breaks: without a word of the worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/sim_store.h"

#include "simulation/application.h"
#include "simulation/disk.h"
#include "support/fault_store.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS_MAX 8
#define SLOW_CALL PAWL_SECONDS(30)

typedef struct connection connection;

typedef struct sim_store {
    pawl_store     base;
    pawl_store_ops ops;
    connection    *connection;
} sim_store;

/* A handle, for the machine. */
struct connection {
    connection *next;
    process    *owner;
    pawl_store *inner; /* NULL: the connection is lost */
    /* A commit that is on its way; its change set is that of the caller, who waits for the resolve. */
    const pawl_changes *late;
    pawl_refusals      *late_refused;
    int64_t             late_epoch;
    bool                is_before_resolve;
};

typedef struct planned {
    process  *owner;
    fault_op  op;
    sim_fault fault;
    unsigned  count;
} planned;

static char         store_url[200];
static sim_observer observer;
static sim_latency  latency;
static connection  *connections;
static planned      plans[FAULTS_MAX];
static size_t       plan_count;
static int64_t      away_until;
static bool         forgets_timeouts;

/* The commit in whose middle the power went; its change set is that of the caller. */
static struct {
    const pawl_changes  *changes; /* NULL: none */
    const pawl_refusals *refused;
    pawl_worker_id       worker;
    bool                 has_worker;
} unsure;

const char *sim_fault_name(sim_fault fault)
{
    static const char *const names[] = {"none", "before",    "after", "busy",
                                        "late", "just-late", "slow"};
    _Static_assert(sizeof names / sizeof names[0] == SIM_FAULT_COUNT, "one name for each");
    return names[fault];
}

static connection *connection_of(pawl_store *store)
{
    return ((sim_store *)store)->connection;
}

/* NULL when the connection is lost: enter() answers then. */
static pawl_store *inner_of(pawl_store *store)
{
    return connection_of(store) != NULL ? connection_of(store)->inner : NULL;
}

/* ---- Calls ---------------------------------------------------------------------- */

static void pass_time(void)
{
    bool    is_slow = machine_draw(1000) < latency.slow;
    int64_t most    = is_slow ? latency.slow_max : latency.usual;
    machine_pause((int64_t)machine_draw((uint64_t)most + 1));
}

/* The fault of this call, which is used up. */
static sim_fault take_fault(fault_op op)
{
    for (size_t i = 0; i < plan_count; i++) {
        planned *it = &plans[i];
        if (it->owner != machine_running() || (it->op != fault_op_any && it->op != op))
            continue;
        sim_fault fault = it->fault;
        if (--it->count == 0)
            plans[i] = plans[--plan_count];
        return fault;
    }
    return SIM_FAULT_NONE;
}

static pawl_code lose(pawl_code code, fault_op op, pawl_error *error)
{
    return pawl_error_set(error, code, "the simulation says %s in %s", pawl_code_name(code),
                          fault_op_name(op));
}

/* The database ends the session: claims of the handle are free, and its worker is dead. */
static void disconnect(connection *self)
{
    if (self == NULL || self->inner == NULL)
        return;
    machine_enter();
    pawl_store_close(self->inner);
    machine_leave();
    self->inner = NULL;
}

void sim_store_cut(process *it)
{
    for (connection *one = connections; one != NULL; one = one->next)
        if (one->owner == it)
            disconnect(one);
}

/* Before a call. PAWL_OK: it is to be done, as the machine. */
static pawl_code enter(pawl_store *store, fault_op op, sim_fault *fault, pawl_error *error)
{
    pass_time();
    *fault = take_fault(op);
    if (*fault == SIM_FAULT_SLOW)
        machine_pause(SLOW_CALL);
    bool is_away = machine_now() < away_until;
    bool is_lost =
        *fault == SIM_FAULT_BEFORE || (*fault == SIM_FAULT_LATE && op != fault_op_commit);
    if (op == fault_op_open && is_away)
        return lose(PAWL_EUNREACHABLE, op, error);
    if (*fault == SIM_FAULT_BUSY)
        return lose(PAWL_EBUSY, op, error);
    bool is_asking = op == fault_op_open || op == fault_op_resolve; /* which connect */
    if (!is_asking && (is_away || is_lost))
        disconnect(connection_of(store));
    if (is_away || is_lost || (!is_asking && inner_of(store) == NULL))
        return lose(PAWL_ELOST, op, error);
    machine_enter();
    return PAWL_OK;
}

static pawl_code leave(pawl_store *store, fault_op op, sim_fault fault, pawl_code code,
                       pawl_error *error)
{
    machine_leave();
    pass_time();
    bool is_lost = fault == SIM_FAULT_AFTER || fault == SIM_FAULT_JUST_LATE;
    if (code != PAWL_OK || !is_lost)
        return code;
    disconnect(connection_of(store));
    return lose(PAWL_ELOST, op, error);
}

/* ---- Opening ---------------------------------------------------------------------- */

static pawl_code connect(sim_store *self, const pawl_store_options *options, pawl_error *error)
{
    connection *made = pawl_allocate(sizeof *made);
    made->owner      = machine_running();
    pawl_code code   = pawl_store_open(store_url, options, &made->inner, error);
    if (code != PAWL_OK) {
        pawl_free(made);
        return code;
    }
    made->next       = connections;
    connections      = made;
    self->connection = made;
    memcpy(self->base.identity, made->inner->identity, sizeof self->base.identity);
    fault_take_promises(&self->ops, self->base.ops, made->inner->ops);
    self->base.ops = &self->ops;
    return PAWL_OK;
}

static pawl_code sim_open(pawl_store *store, const char *url, const pawl_store_options *options,
                          pawl_error *error)
{
    sim_fault fault = SIM_FAULT_NONE;
    pawl_code code  = enter(store, fault_op_open, &fault, error);
    if (code != PAWL_OK)
        return code;
    return leave(store, fault_op_open, fault, connect((sim_store *)store, options, error), error);
}

static void drop(connection *gone)
{
    connection **at = &connections;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    machine_enter();
    pawl_store_close(gone->inner);
    pawl_free(gone);
    machine_leave();
}

static void sim_close(pawl_store *store)
{
    if (connection_of(store) != NULL)
        drop(connection_of(store));
}

static pawl_code sim_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                            pawl_line_fn *line, void *context, pawl_error *error)
{
    machine_enter();
    pawl_code code = pawl_store_schema(store_url, verb, spec, line, context, error);
    machine_leave();
    return code;
}

/* ---- Workers ------------------------------------------------------------------------ */

/* Takes the fields that the core reads of a handle from the store behind. */
static void follow(pawl_store *store)
{
    const pawl_store *inner = inner_of(store);
    if (inner == NULL)
        return;
    store->epoch       = inner->epoch;
    store->is_attached = inner->is_attached;
}

static pawl_code sim_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                 pawl_time now, pawl_error *error)
{
    sim_fault fault = SIM_FAULT_NONE;
    pawl_code code  = enter(store, fault_op_worker_open, &fault, error);
    if (code != PAWL_OK)
        return code;
    pawl_store *inner = inner_of(store);
    inner->worker     = store->worker;
    pawl_store_program_set(inner, pawl_store_program(store)->program,
                           pawl_store_program(store)->program_version);
    code = pawl_store_worker_open(inner, endpoint, types, now, error);
    code = leave(store, fault_op_worker_open, fault, code, error);
    if (code == PAWL_OK)
        follow(store);
    return code;
}

static pawl_code sim_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    sim_fault fault = SIM_FAULT_NONE;
    pawl_code code  = enter(store, fault_op_worker_close, &fault, error);
    if (code != PAWL_OK)
        return code;
    pawl_store *inner = inner_of(store);
    if (!pawl_store_is_attached(inner))
        pawl_store_worker_set(inner, pawl_store_worker(store));
    code = pawl_store_worker_close(inner, now, error);
    follow(store);
    return leave(store, fault_op_worker_close, fault, code, error);
}

/* ---- Commit --------------------------------------------------------------------------- */

static pawl_code apply(pawl_store *inner, const pawl_changes *changes, pawl_refusals *refused,
                       pawl_error *error)
{
    pawl_changes fewer = *changes;
    if (forgets_timeouts && machine_draw(50) == 0) {
        fewer.timeout_set.count = 0;
        changes                 = &fewer;
    }
    pawl_code code = inner->ops->commit(inner, changes, refused, error);
    if (code != PAWL_OK && disk_is_off() && unsure.changes == NULL) {
        unsure.changes    = changes;
        unsure.refused    = refused;
        unsure.worker     = inner->worker;
        unsure.has_worker = inner->is_attached;
    }
    if (code == PAWL_OK && observer.committed != NULL)
        observer.committed(observer.context, changes, refused);
    return code;
}

static pawl_code sim_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                            pawl_error *error)
{
    sim_fault   fault = SIM_FAULT_NONE;
    connection *self  = connection_of(store);
    pawl_code   code  = enter(store, fault_op_commit, &fault, error);
    if (code != PAWL_OK)
        return code;
    bool is_late = fault == SIM_FAULT_LATE || fault == SIM_FAULT_JUST_LATE;
    if (is_late) {
        self->late              = changes;
        self->late_refused      = refused;
        self->late_epoch        = self->inner->epoch;
        self->is_before_resolve = fault == SIM_FAULT_JUST_LATE;
    } else {
        code = apply(self->inner, changes, refused, error);
    }
    machine_leave();
    pass_time();
    if (is_late || (fault == SIM_FAULT_AFTER && code == PAWL_OK))
        return lose(PAWL_EUNKNOWN, fault_op_commit, error);
    return code;
}

/* The commit that was on its way arrives, with the epoch that it was sent under. */
static void arrive(connection *self, pawl_refusals *refused)
{
    pawl_error          error   = PAWL_ERROR_INIT;
    const pawl_changes *changes = self->late;
    int64_t             epoch   = self->inner->epoch;
    self->late                  = NULL;
    self->inner->epoch          = self->late_epoch;
    refused->count              = 0;
    (void)apply(self->inner, changes, refused, &error);
    self->inner->epoch = epoch;
}

static void arrive_alone(connection *self)
{
    pawl_refusals refused = {.arena = pawl_arena_create(0)};
    arrive(self, &refused);
    pawl_arena_destroy(refused.arena);
}

static pawl_code sim_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                             pawl_error *error)
{
    sim_fault   fault = SIM_FAULT_NONE;
    connection *self  = connection_of(store);
    pawl_code   code  = enter(store, fault_op_resolve, &fault, error);
    if (code != PAWL_OK)
        return code;
    if (self->inner == NULL) {
        code = pawl_store_open(store_url, NULL, &self->inner, error);
        if (code != PAWL_OK)
            return leave(store, fault_op_resolve, fault, code, error);
        self->inner->worker = store->worker;
    }
    if (self->late != NULL && self->is_before_resolve)
        arrive(self, self->late_refused);
    code = self->inner->ops->resolve(self->inner, commit_id, is_applied, error);
    if (self->late != NULL)
        arrive_alone(self);
    follow(store);
    return leave(store, fault_op_resolve, fault, code, error);
}

/* A commit that is on its way arrives after its process is gone, or is lost with the connection. */
void sim_store_crash(process *it)
{
    connection *next;
    for (connection *one = connections; one != NULL; one = next) {
        next = one->next;
        if (one->owner != it)
            continue;
        if (one->late != NULL && one->inner != NULL && machine_draw(2) == 0)
            arrive_alone(one);
        drop(one);
    }
}

/* ---- Power ---------------------------------------------------------------------------------- */

void sim_store_lose_power(void)
{
    for (connection *one = connections; one != NULL; one = one->next) {
        disconnect(one);
        one->late = NULL;
    }
}

/* Is the message in its queue? A sender has no worker that could be asked for its last commit. */
static pawl_code find_message(pawl_store *store, const pawl_queue_send *sent, pawl_arena *arena,
                              bool *is_there, pawl_error *error)
{
    pawl_queue_rows rows = {.count = 0};
    pawl_code       code = pawl_store_queue_list(store, sent->queue, 0, arena, &rows, error);
    for (size_t i = 0; i < rows.count; i++)
        *is_there |= pawl_text_equal(rows.items[i].message.id, sent->message.id);
    return code;
}

static pawl_code find_commit(pawl_store *store, bool *is_applied, pawl_error *error)
{
    const pawl_changes *changes = unsure.changes;
    pawl_code           code    = PAWL_OK;
    *is_applied                 = false;
    if (unsure.has_worker) {
        store->worker = unsure.worker;
        code          = store->ops->resolve(store, changes->commit_id, is_applied, error);
        return code == PAWL_EFENCED
                   ? PAWL_OK
                   : code; /* the worker's row, which the commit needs, did not stay either */
    }
    pawl_arena *arena = pawl_arena_create(0);
    for (size_t i = 0; i < changes->queue_send.count && !*is_applied && code == PAWL_OK; i++)
        if (!simulation_is_refused(unsure.refused, changes->queue_send.items[i].group))
            code = find_message(store, &changes->queue_send.items[i], arena, is_applied, error);
    pawl_arena_destroy(arena);
    return code;
}

bool sim_store_recover(pawl_error *error)
{
    pawl_store *store      = NULL;
    bool        is_applied = false;
    disk_recover();
    if (unsure.changes == NULL)
        return true;
    pawl_code code = pawl_store_open(store_url, NULL, &store, error);
    if (code == PAWL_OK)
        code = find_commit(store, &is_applied, error);
    if (code == PAWL_OK && is_applied && observer.committed != NULL)
        observer.committed(observer.context, unsure.changes, unsure.refused);
    unsure.changes = NULL;
    pawl_store_close(store);
    return code == PAWL_OK;
}

/* ---- Claims ------------------------------------------------------------------------------ */

static pawl_code sim_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                 pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    sim_fault fault = SIM_FAULT_NONE;
    pawl_code code  = enter(store, fault_op_queue_claim, &fault, error);
    if (code != PAWL_OK)
        return code;
    pawl_store *inner = inner_of(store);
    code              = inner->ops->queue_claim(inner, claim, arena, rows, error);
    if (code == PAWL_OK && observer.claimed != NULL)
        observer.claimed(observer.context, claim, rows);
    return leave(store, fault_op_queue_claim, fault, code, error);
}

/* ---- Calls that are only handed on --------------------------------------------------------- */

#define HAND_ON(name, PARAMETERS, ARGUMENTS)                            \
    static pawl_code sim_##name PARAMETERS                              \
    {                                                                   \
        sim_fault fault = SIM_FAULT_NONE;                               \
        pawl_code code  = enter(store, fault_op_##name, &fault, error); \
        if (code != PAWL_OK)                                            \
            return code;                                                \
        pawl_store             *inner = inner_of(store);                \
        code                          = inner->ops->name ARGUMENTS;     \
        return leave(store, fault_op_##name, fault, code, error);       \
    }

#include "support/fault_calls.h"

static pawl_code sim_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                          pawl_found *found, pawl_error *error)
{
    sim_fault fault = SIM_FAULT_NONE;
    fault_op  op    = fault_op_of(asked->kind);
    pawl_code code  = enter(store, op, &fault, error);
    if (code != PAWL_OK)
        return code;
    pawl_store *inner = inner_of(store);
    code              = inner->ops->find(inner, asked, arena, found, error);
    return leave(store, op, fault, code, error);
}

HAND_ON(timeout_claim,
        (pawl_store * store, const pawl_timeout_claim *claim, pawl_arena *arena,
         pawl_timeout_rows *rows, pawl_error *error),
        (inner, claim, arena, rows, error))
HAND_ON(leased_batch_claim,
        (pawl_store * store, const pawl_leased_batch_claim *claim, pawl_arena *arena,
         pawl_leased_batch *leased, pawl_error *error),
        (inner, claim, arena, leased, error))
HAND_ON(outbox_claim,
        (pawl_store * store, pawl_text endpoint, pawl_time now, size_t count_max, pawl_arena *arena,
         pawl_outbox_rows *rows, pawl_error *error),
        (inner, endpoint, now, count_max, arena, rows, error))

/* As the store behind would wait: until the time is over or the descriptor can be read. */
static pawl_code sim_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    struct pollfd end = {.fd = wake_fd, .events = POLLIN};
    (void)machine_poll(&end, 1, microseconds);
    return PAWL_OK;
}

static void sim_interrupt(pawl_store *store)
{
}

static pawl_code sim_ready(pawl_store *store, pawl_error *error)
{
    pawl_store *inner = inner_of(store);
    if (inner == NULL) { /* as a connection that is refused, which takes a moment */
        pass_time();
        return lose(PAWL_ELOST, fault_op_any, error);
    }
    machine_enter();
    pawl_code code = inner->ops->ready != NULL ? inner->ops->ready(inner, error) : PAWL_OK;
    machine_leave();
    return code;
}

static void sim_handler_transaction_end(pawl_store *store)
{
    machine_enter();
    if (inner_of(store) != NULL)
        inner_of(store)->ops->handler_transaction_end(inner_of(store));
    machine_leave();
}

static bool sim_handler_transaction_lost(pawl_store *store)
{
    const pawl_store_ops *ops = inner_of(store) != NULL ? inner_of(store)->ops : NULL;
    return ops != NULL && ops->handler_transaction_lost != NULL &&
           ops->handler_transaction_lost(inner_of(store));
}

static void *sim_native(pawl_store *store)
{
    return inner_of(store)->ops->native(inner_of(store));
}

static const pawl_store_ops driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "sim",
    .store_size = sizeof(sim_store),
#define FAULT_OP(name) .name = sim_##name,
    FAULT_OPS(FAULT_OP)
#undef FAULT_OP
        .close                = sim_close,
    .find                     = sim_find,
    .schema                   = sim_schema,
    .wait                     = sim_wait,
    .interrupt                = sim_interrupt,
    .ready                    = sim_ready,
    .handler_transaction_end  = sim_handler_transaction_end,
    .handler_transaction_lost = sim_handler_transaction_lost,
    .native                   = sim_native,
};

/* ---- For the simulation ------------------------------------------------------------------------ */

void sim_store_begin(const char *url, const sim_observer *seen, const sim_latency *pace)
{
    static bool is_registered;
    pawl_error  error = PAWL_ERROR_INIT;
    if (!is_registered && pawl_store_register(&driver, &error) != PAWL_OK) {
        fprintf(stderr, "simulation: %s\n", error.text);
        exit(1);
    }
    is_registered = true;
    snprintf(store_url, sizeof store_url, "%s", url);
    observer       = *seen;
    latency        = *pace;
    connections    = NULL;
    unsure.changes = NULL;
    sim_store_calm();
}

void sim_store_forget_timeouts(bool is_planted)
{
    forgets_timeouts = is_planted;
}

void sim_store_calm(void)
{
    plan_count = 0;
    away_until = 0;
}

void sim_store_away_until(int64_t time)
{
    away_until = time;
}

void sim_store_fault(process *it, fault_op op, sim_fault fault, unsigned count)
{
    if (plan_count < FAULTS_MAX && count > 0)
        plans[plan_count++] = (planned){it, op, fault, count};
}
