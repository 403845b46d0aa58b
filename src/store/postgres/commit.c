/* commit.c - the rounds of a commit (store/sql/commit.h), with as few round trips as possible.
 *
 *     begin            unless the claim's transaction is open
 *     fence            the worker's row, where worker and epoch match
 *     savepoint
 *     kinds up to the last that may be refused          one round trip
 *       any refused:   back to the savepoint, which leaves the claimed rows
 *                      locked, and again without the refused groups
 *     the other kinds, commit, wake-up                  one round trip, with the claim that follows (queue.c)
 *
 * The first round is guarded (writer.c): every statement fails unless it applies all of its items.
 * So COMMIT can be sent at once, in one round trip for all, and no savepoint is needed. Only if
 * that fails, the claimed rows are locked again, and the rounds above find out what is
 * refused.
 *
 * The savepoint comes after the fence: the worker's row then has the id of the transaction, not that of a
 * subtransaction, and END_HOLDER_OF finds the session by it. For the same reason a handler transaction releases its
 * savepoint before the fence (transaction.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/set.h"
#include "store/sql/operations.h"

#include <string.h>

/* ---- Writes ------------------------------------------------------------- */

/* Kinds with a send function of their own; all others are sent as sets (set.h). */
static pawl__pg_send_fn *const send_fns[pawl_change_kind_count] = {
#define OWN(name) [pawl_change_##name] = pawl__pg_send_##name
    OWN(queue_settle),        /* claimed rows only */
    OWN(outbox_settle),       /* equal values go over the wire once */
    OWN(leased_batch_remove), /* one change is many rows */
    OWN(outbox_block),        /* one scan over the pending rows */
#undef OWN
};

/* Checks all answers, also those after a refusal: a later write of another group may have been refused, too, perhaps
 * because an earlier one was not applied. */
static pawl_code check_writes(pawl__sql_writer *writer)
{
    pawl__pg_round *round = &pawl__pg_of(writer->store)->round;
    pawl_code       code  = PAWL_OK;
    for (; round->first != NULL; round->first = round->first->next) {
        pawl__pg_write *write = round->first;
        if (code == PAWL_OK && write->request.code == PAWL_OK && write->check != NULL)
            code = write->check(writer, write);
        if (code == PAWL_OK)
            code = write->request.code;
        pawl__pg_end(&write->request);
    }
    round->last = NULL;
    return code;
}

static void forget_writes(pawl__pg_round *round)
{
    for (pawl__pg_write *write = round->first; write != NULL; write = write->next)
        pawl__pg_end(&write->request);
    round->first         = NULL;
    round->last          = NULL;
    round->has_unguarded = false;
    round->knows_sagas   = false;
    pawl_arena_reset(round->arena);
}

/* Awaits the answers to all writes and checks them. Returns PAWL_OK also with refusals. */
static pawl_code await_answers(pawl__sql_writer *writer)
{
    pawl__pg_connection *connection = pawl__pg_connection_of(writer);
    pawl_code            code       = pawl__pg_await(connection, writer->error);
    if (code ==
        PAWL_ELOST) /* the server ends the session after this answer: no rollback is needed */
        connection->is_lost = true;
    return code == PAWL_OK ? check_writes(writer) : code;
}

/* In a round that is not guarded, the changes to sagas are checked before later kinds are sent. An update of an
 * outdated saga finds no row and so locks none: two workers with the same outdated sagas could go on to insert rows
 * with equal keys, each in another order, and deadlock. */
static pawl_code await_sagas(pawl__sql_writer *writer, pawl_change_kind next)
{
    const pawl_changes *changes = writer->changes;
    pawl__pg_round     *round   = &pawl__pg_of(writer->store)->round;
    if (writer->is_ahead || round->knows_sagas || next <= pawl_change_saga_update ||
        changes->saga_delete.count + changes->saga_update.count == 0)
        return PAWL_OK;
    round->knows_sagas = true;
    return await_answers(writer);
}

pawl_code pawl__pg_write_kind(pawl__sql_writer *writer, pawl_change_kind kind)
{
    pawl_code code = await_sagas(writer, kind);
    if (code != PAWL_OK || pawl__sql_has_refused(writer))
        return code;
    return send_fns[kind] != NULL ? send_fns[kind](writer) : pawl__pg_send_sets(writer, kind);
}

/* ---- Begin and fence ---------------------------------------------------- */

pawl_code pawl__pg_begin_round(pawl_store *base, pawl_error *error)
{
    pawl__pg            *store      = pawl__pg_of(base);
    pawl__pg_connection *connection = pawl__pg_in_use(store);
    if (connection != &store->main) {
        pawl__pg_begin_on(connection, error);
        return PAWL_OK;
    }
    pawl_code code = pawl__pg_begin_transaction(store, error);
    if (code != PAWL_OK)
        pawl__pg_rollback_transaction(connection);
    return code;
}

/* Keeps the ctid of the worker's row for the next commit. While any snapshot is open, each commit leaves an old
 * version of the row, and a search by id would read all of them. */
static pawl_code check_fence(pawl__sql_writer *writer, pawl__pg_write *write)
{
    pawl__pg *store = pawl__pg_of(writer->store);
    if (!pawl__pg_next(&write->request))
        return pawl__why_fenced(writer->store, "postgres", writer->error);
    pawl_text tid         = pawl__pg_peek_text(&write->request);
    store->has_worker_tid = tid.size == sizeof store->worker_tid;
    if (store->has_worker_tid)
        memcpy(store->worker_tid, tid.data, tid.size);
    return PAWL_OK;
}

/* Without a known ctid the row is found by its id, and the statement for that has no guarded form. */
static pawl_code send_fence(pawl__sql_writer *writer)
{
    const pawl__sql_fence row       = pawl__sql_fence_of(writer);
    pawl__pg             *store     = pawl__pg_of(writer->store);
    int                   statement = !store->has_worker_tid ? PAWL__PG_WORKER_FENCE_ANY
                                      : writer->is_ahead     ? PAWL__PG_WORKER_FENCE_HARD
                                                             : PAWL__PG_WORKER_FENCE;
    pawl__pg_write       *write =
        pawl__pg_write_add(writer, statement, pawl_change_kind_count, NULL, 0, check_fence);
    if (write == NULL)
        return PAWL_ENOMEM;
    store->round.has_unguarded = !store->has_worker_tid;
    pawl__pg_put_fields(&write->request, &pawl__sql_write_fence.parameters, &row);
    if (store->has_worker_tid)
        pawl__pg_put_tid(&write->request, store->worker_tid);
    pawl__pg_send(&write->request);
    return write->request.code;
}

/* A handler transaction cannot be tried again, so it has no savepoint, and finds the worker's row by its id. */
pawl_code pawl__pg_fence(pawl__sql_writer *writer)
{
    pawl__pg            *store      = pawl__pg_of(writer->store);
    pawl__pg_connection *connection = pawl__pg_connection_of(writer);
    if (store->round.is_saved)
        return PAWL_OK;
    store->has_worker_tid &= !store->round.is_handlers;
    pawl_code code = send_fence(writer);
    if (code == PAWL_OK && !writer->is_ahead && !store->round.is_handlers) {
        pawl__pg_send_plain(connection, PAWL__PG_ROUND_BEGIN, writer->error);
        store->round.is_saved = true;
    }
    return code;
}

/* ---- Commit ------------------------------------------------------------- */

/* The answer to COMMIT decides, whatever fails after it. Without that answer the connection may have been lost before
 * or after the commit. */
static pawl_code outcome(const pawl__sql_writer *writer, const pawl__pg_request *end,
                         pawl_code answered)
{
    pawl__pg_connection *connection = pawl__pg_connection_of(writer);
    if (end->result == NULL && (connection->is_lost || answered == PAWL_ELOST))
        return pawl_error_wrap(writer->error, PAWL_EUNKNOWN, "commit");
    if (end->result == NULL)
        return answered;
    connection->in_transaction = PQtransactionStatus(connection->pg) == PQTRANS_INTRANS;
    if (strcmp(PQcmdStatus(end->result), "COMMIT") != 0)
        return pawl_error_set(writer->error, PAWL_EPERSIST, "postgres: the commit was a rollback");
    return PAWL_OK;
}

static bool may_go_ahead(const pawl__sql_writer *writer)
{
    const pawl__pg_connection *connection = pawl__pg_connection_of(writer);
    return connection == &pawl__pg_of(writer->store)->main && writer->refused->count == 0 &&
           connection->failed == PAWL_OK;
}

/* Sends the kinds that cannot be refused, COMMIT, NOTIFY, and the claim that follows. */
static pawl_code commit(pawl__sql_writer *writer)
{
    pawl__pg            *store      = pawl__pg_of(writer->store);
    pawl__pg_connection *connection = pawl__pg_connection_of(writer);
    pawl__pg_request     end, peek, notify = {.result = NULL}, notify_events = {.result = NULL};
    pawl_code            code     = pawl__sql_apply_rest(writer);
    bool                 is_tried = code == PAWL_OK;
    pawl_error           why      = PAWL_ERROR_INIT;
    pawl__pg_begin(&end, connection, PAWL__PG_TRANSACTION_COMMIT, writer->error);
    if (is_tried)
        pawl__pg_send(&end);
    if (is_tried && end.code == PAWL_OK) {
        (void)pawl__pg_send_notify(store, connection, &notify, writer->changes);
        if (writer->changes->event_append.count != 0)
            pawl__pg_send_notify_events(store, connection, &notify_events, NULL);
    }
    bool is_ahead =
        is_tried && may_go_ahead(writer) && pawl__pg_ahead_send(store, writer->changes, &peek);
    pawl_code answered = pawl__pg_await(connection, &why);
    if (answered != PAWL_OK && writer->error != NULL)
        *writer->error = why;
    if (is_ahead)
        pawl__pg_ahead_end(store, &peek);
    code = is_tried ? outcome(writer, &end, answered) : code;
    if (is_ahead && code == PAWL_OK)
        store->claims.count = 0; /* all are settled; none may be taken for a claim of the next */
    if (code == PAWL_OK)
        pawl__pg_notified(store, connection,
                          notify.code != PAWL_OK ? notify.code : notify_events.code, &why);
    pawl__pg_end(&notify);
    pawl__pg_end(&notify_events);
    pawl__pg_end(&end);
    return code;
}

/* In enlist NOTIFY is part of the caller's transaction. */
static pawl_code write_enlisted(pawl__sql_writer *writer)
{
    pawl__pg_connection *connection = pawl__pg_connection_of(writer);
    pawl__pg_request     request    = {.result = NULL};
    pawl_code            code       = pawl__sql_apply_rest(writer);
    if (code == PAWL_OK)
        (void)pawl__pg_send_notify(pawl__pg_of(writer->store), connection, &request,
                                   writer->changes);
    pawl__pg_end(&request);
    pawl_code answer = pawl__pg_await(connection, writer->error);
    return code != PAWL_OK ? code : answer;
}

/* ROLLBACK TO the savepoint undoes what the round wrote and keeps the claims' row locks; it is sent
 * with the next round. After a failure the whole transaction is rolled back. */
static void undo(const pawl__sql_writer *writer, pawl_code code)
{
    pawl__pg_round *round = &pawl__pg_of(writer->store)->round;
    if (writer->is_enlisted)
        return;
    if (code == PAWL_OK && round->is_saved) {
        pawl__pg_send_plain(pawl__pg_connection_of(writer), PAWL__PG_ROUND_UNDO, NULL);
        return;
    }
    round->is_saved = false;
    pawl__pg_rollback(writer->store);
}

/* PAWL_OK: one more round. After a failed guard or fence the next round is not guarded, and checks each answer; if
 * its fence fails, too, the last one finds the worker's row by its id, since only the ctid may have changed. EBUSY:
 * another transaction inserted a key after this round had looked for it; the next try finds that row. */
static pawl_code try_again(pawl__sql_writer *writer, pawl_code code)
{
    if (code == PAWL_EDUPLICATE && !writer->is_ahead)
        return pawl_error_wrap(
            writer->error, PAWL_EBUSY,
            "taken meanwhile, or a sequence is behind its table (`pawl doctor` names it)");
    pawl__pg *store    = pawl__pg_of(writer->store);
    bool      is_guard = code == PAWL_EFENCED || (code == PAWL_EDUPLICATE && writer->is_ahead);
    if (!is_guard || (!writer->is_ahead && !store->has_worker_tid))
        return code;
    store->has_worker_tid &= writer->is_ahead;
    writer->is_ahead       = false;
    writer->refused->count = writer->refused_before;
    return PAWL_OK;
}

/* Checks the answers to the fence and the first kinds before COMMIT is sent, unless all of them are guarded. */
pawl_code pawl__pg_finish(pawl__sql_writer *writer, pawl_code code, bool *is_done)
{
    pawl__pg *store   = pawl__pg_of(writer->store);
    bool      is_sure = writer->is_ahead && !store->round.has_unguarded;
    if (code != PAWL_OK || !is_sure || pawl__sql_has_refused(writer)) {
        pawl_code answer = await_answers(writer);
        code             = code != PAWL_OK ? code : answer;
    }
    if (code == PAWL_OK && !pawl__sql_has_refused(writer)) {
        code     = (writer->is_enlisted ? write_enlisted : commit)(writer);
        *is_done = code == PAWL_OK;
    }
    if (*is_done)
        (void)check_writes(writer); /* COMMIT was answered: no check can change that */
    else
        undo(writer, code);
    forget_writes(&store->round);
    if (writer->is_enlisted)
        return code;
    if (store->round.is_handlers)
        store->main.is_named = !store->is_pooled;
    store->round.is_handlers = false;
    return try_again(writer, code);
}

/* ---- Before and behind the rounds ---------------------------------------- */

/* COMMIT released the row locks of claims that it did not settle: locks these rows again. The commit is durable, so
 * it does not fail if this does; the next operation then finds no claims. */
static void keep_claims(pawl__pg *store)
{
    if (store->claims.count != 0 && !store->main.in_transaction &&
        pawl__pg_begin_transaction(store, NULL) != PAWL_OK) {
        store->claims.count = 0;
        pawl__pg_rollback_transaction(&store->main);
    }
}

void pawl__pg_settled(pawl_store *base, const pawl_changes *changes, const bool *is_dropped,
                      pawl_code code)
{
    pawl__pg *store = pawl__pg_of(base);
    forget_writes(&store->round);
    if (code != PAWL_OK)
        return;
    if (changes->outbox_reset.count != 0) /* rows from before its front are pending again */
        pawl__pg_outbox_front_restart(&store->outbox);
    if (changes->queue_settle.count != 0 && pawl__changes_only_release(changes))
        pawl__pg_rollback_transaction(&store->main);
    pawl__sql_claims_settle(&store->claims, changes, is_dropped);
    keep_claims(store);
}

/* Uses the second connection for changes that settle no claim and save no saga (pawl_send_now): their commit must
 * not end the transaction with the batch's claims. */
static pawl_code choose_connection(pawl__pg *store, const pawl_changes *changes, pawl_error *error)
{
    pawl__pg_connection *side;
    if (store->sql.in_handler_transaction || store->claims.count == 0 ||
        changes->queue_settle.count != 0 ||
        changes->saga_insert.count + changes->saga_update.count + changes->saga_delete.count != 0)
        return PAWL_OK;
    pawl_code code = pawl__pg_side(store, &side, error);
    if (code == PAWL_OK)
        pawl__pg_use(store, side);
    return code;
}

pawl_code pawl__pg_commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                          pawl_error *error)
{
    pawl__pg *store       = pawl__pg_of(base);
    store->round.is_saved = false;
    pawl__pg_note_now(store, changes->now);
    pawl__pg_seen_clear(store);
    pawl_code code     = choose_connection(store, changes, error);
    bool      is_tried = code == PAWL_OK;
    if (is_tried)
        code = pawl__sql_commit(base, changes, refused, error);
    if (is_tried && code == PAWL_ETIMEOUT) { /* ends sessions that it may have waited for */
        pawl__pg_connection *connection = pawl__pg_in_use(store);
        pawl__pg_end_holder(store, connection);
        pawl__pg_end_standing(store, connection);
    }
    pawl__pg_use(store, &store->main);
    return code;
}

/* ---- Enlist ------------------------------------------------------------- */

static pawl_code check_native(const pawl__pg *store, const PGconn *pg, pawl_error *error)
{
    if (pg == NULL || PQstatus(pg) != CONNECTION_OK)
        return pawl_error_set(error, PAWL_EINVAL, "enlist: the connection is %s",
                              pg == NULL ? "NULL" : "not open");
    if (PQpipelineStatus(pg) != PQ_PIPELINE_OFF)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection is in pipeline mode: leave it first");
    if (PQtransactionStatus(pg) == PQTRANS_ACTIVE)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection runs a statement: read its results first "
                              "(PQgetResult)");
    if (PQtransactionStatus(pg) != PQTRANS_INTRANS)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection has no open transaction that could be "
                              "committed: begin first");
    if (!pawl__pg_is_utf8(pg))
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection's client_encoding is %s, UTF8 is needed: "
                              "PQsetClientEncoding",
                              PQparameterStatus(pg, "client_encoding"));
    if (store->main.pg != NULL && strcmp(PQdb(pg), PQdb(store->main.pg)) != 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection is to database '%s', the store to '%s': "
                              "they must be the same",
                              PQdb(pg), PQdb(store->main.pg));
    return PAWL_OK;
}

pawl_code pawl__pg_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                          pawl_error *error)
{
    pawl__pg            *store      = pawl__pg_of(base);
    pawl__pg_connection *connection = pawl_allocate(sizeof *connection);
    if (connection == NULL)
        return pawl__pg_no_memory(error);
    pawl_code code = check_native(store, native, error);
    if (code == PAWL_OK) {
        connection->pg           = native;
        connection->prefix       = store->sql.base.system_prefix;
        connection->dialect      = store->main.dialect;
        connection->deadline_ms  = store->sql.base.deadline_ms;
        connection->interrupt_fd = -1;
        connection->is_callers   = true;
        code                     = pawl__pg_execute(connection, "savepoint pawl_enlist", error);
    }
    if (code == PAWL_OK) {
        code = pawl__sql_apply_enlisted(base, (pawl__sql_connection *)(void *)connection, changes,
                                        error);
        if (code != PAWL_OK)
            (void)pawl__pg_execute(connection, "rollback to savepoint pawl_enlist", NULL);
        pawl_code released = pawl__pg_execute(connection, "release savepoint pawl_enlist",
                                              code == PAWL_OK ? error : NULL);
        code               = code != PAWL_OK ? code : released;
    }
    pawl__pg_connection_clear(connection);
    pawl_free(connection);
    return code;
}
