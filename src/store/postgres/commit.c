/* commit.c - the one write path.
 *
 *     begin            unless the claim's transaction is open
 *     fence            the worker's row, where worker and epoch match
 *     savepoint
 *     kinds up to the last that may be refused          one round trip
 *       any refused:   back to the savepoint, which leaves the claimed rows
 *                      locked, and again without the refused groups
 *     the other kinds, commit, wake-up                  one round trip, with the claim that follows (queue.c)
 *
 * The first round is guarded (writer.c): every statement fails when it does not apply all of
 * its items, so the commit follows at once, in one round trip for all, and needs no savepoint.
 * Only when that fails do the rounds above find out what was refused, once the claimed rows are
 * locked again. Rounds end: each leaves out one group more.
 *
 * The savepoint stands behind the fence: so the transaction id in the worker's row is that of
 * the transaction itself, by which others find its session (END_HOLDER_OF).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/set.h"

#include <string.h>

#define CAREFUL_COMMITS 16

/* Kinds that have something before their sets, or instead; the others are written as the generic store says (set.h). */
static pawl__pg_send_fn *const send_fns[pawl_change_kind_count] = {
#define OWN(name) [pawl_change_##name] = pawl__pg_send_##name
    OWN(queue_settle),        /* rows that are claimed */
    OWN(outbox_settle),       /* equal values go over the wire once */
    OWN(leased_batch_remove), /* one change is many rows */
    OWN(outbox_block),        /* one walk over the pending rows */
#undef OWN
};

typedef struct committing {
    pawl__pg_writer     writer;
    pawl__pg           *store;
    const pawl_changes *changes;
    pawl_error         *error;
    int                 split; /* kinds before it are sent first */
    bool                is_guard_hard;
    bool                is_saved; /* the fence and the savepoint were sent */
    pawl__pg_request    notify;
    pawl__pg_request    notify_events;
} committing;

/* The kind behind the last one that has items and may be refused. */
static int find_split(const pawl_changes *changes)
{
    int split = 0;
    for (int kind = 0; kind < pawl_change_kind_count; kind++)
        if (pawl__kinds[kind].is_refusable &&
            pawl__change_count(changes, (pawl_change_kind)kind) != 0)
            split = kind + 1;
    return split;
}

static pawl_code send_kinds(committing *c, int from, int to)
{
    pawl_code code = PAWL_OK;
    for (int kind = from; code == PAWL_OK && kind < to; kind++)
        if (pawl__change_count(c->changes, (pawl_change_kind)kind) != 0)
            code = send_fns[kind] != NULL ? send_fns[kind](&c->writer)
                                          : pawl__pg_send_sets(&c->writer, (pawl_change_kind)kind);
    return code;
}

/* Checks all answers, also those behind a refusal: a later write may have been refused for lack of
 * what an earlier one did not apply, and belongs to a group of its own. */
static pawl_code check_writes(committing *c)
{
    pawl_code code = PAWL_OK;
    for (pawl__pg_write *write = c->writer.first; write != NULL; write = write->next) {
        if (code == PAWL_OK && write->request.code == PAWL_OK && write->check != NULL)
            code = write->check(&c->writer, write);
        if (code == PAWL_OK)
            code = write->request.code;
        pawl__pg_end(&write->request);
    }
    c->writer.first = NULL;
    c->writer.last  = NULL;
    return code;
}

static void drop_writes(committing *c)
{
    for (pawl__pg_write *write = c->writer.first; write != NULL; write = write->next)
        pawl__pg_end(&write->request);
    c->writer.first = NULL;
    c->writer.last  = NULL;
}

/* ---- The fence ---------------------------------------------------------- */

/* The ctid of the worker's row, for the next commit. While a snapshot is open somewhere the row's
 * old versions stay, one a commit, and finding it by its id would walk through all of them. */
static pawl_code check_guard(pawl__pg_writer *writer, pawl__pg_write *write)
{
    pawl__pg *store = writer->store;
    if (!pawl__pg_next(&write->request))
        return pawl__why_fenced(&store->sql.base, "postgres", writer->error);
    pawl_text tid         = pawl__pg_peek_text(&write->request);
    store->has_worker_tid = tid.size == sizeof store->worker_tid;
    if (store->has_worker_tid)
        memcpy(store->worker_tid, tid.data, tid.size);
    return PAWL_OK;
}

static pawl_code send_guard(committing *c)
{
    const pawl_counters *counters  = &c->changes->counters;
    pawl__pg            *store     = c->store;
    int                  statement = !store->has_worker_tid ? PAWL__PG_WORKER_FENCE_ANY
                                     : c->is_guard_hard     ? PAWL__PG_WORKER_FENCE_HARD
                                                            : PAWL__PG_WORKER_FENCE;
    pawl__pg_write      *write =
        pawl__pg_write_add(&c->writer, statement, pawl_change_kind_count, NULL, 0, check_guard);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_request *request = &write->request;
    pawl__pg_put_uuid(request, c->changes->commit_id);
    pawl__pg_put_time(request, c->changes->now);
    pawl__pg_put_int(request, counters->messages);
    pawl__pg_put_int(request, counters->timeouts);
    pawl__pg_put_int(request, counters->flushes);
    pawl__pg_put_int(request, counters->failures);
    pawl__pg_put_int(request, counters->conflicts);
    pawl__pg_put_int(request, counters->dead);
    pawl__pg_put_uuid(request, store->sql.base.worker.uuid);
    pawl__pg_put_int(request, store->sql.base.epoch);
    if (store->has_worker_tid)
        pawl__pg_put_tid(request, store->worker_tid);
    pawl__pg_send(request);
    return request->code;
}

/* ---- A round ------------------------------------------------------------ */

static pawl_code begin_round(committing *c)
{
    pawl__pg_connection *connection = c->writer.connection;
    if (c->store == NULL || c->store->in_hold)
        return PAWL_OK;
    if (connection != &c->store->main) {
        pawl__pg_begin_on(connection, c->error);
        return PAWL_OK;
    }
    return pawl__pg_begin_transaction(c->store, c->error);
}

/* The answer to COMMIT is the proof, whatever comes behind it; without it the connection may have
 * broken before or behind the commit. */
static pawl_code outcome(committing *c, const pawl__pg_request *end, pawl_code answered)
{
    pawl__pg_connection *connection = c->writer.connection;
    if (end->result == NULL && (connection->is_lost || answered == PAWL_ELOST))
        return pawl_error_wrap(c->error, PAWL_EUNKNOWN, "commit");
    if (end->result == NULL)
        return answered;
    connection->in_transaction = PQtransactionStatus(connection->pg) == PQTRANS_INTRANS;
    if (strcmp(PQcmdStatus(end->result), "COMMIT") != 0)
        return pawl_error_set(c->error, PAWL_EPERSIST, "postgres: the commit was a rollback");
    return PAWL_OK;
}

static void send_news(committing *c)
{
    pawl__pg_connection *connection = c->writer.connection;
    (void)pawl__pg_send_notify(c->store, connection, &c->notify, c->changes);
    if (c->changes->event_append.count != 0)
        pawl__pg_send_notify_events(c->store, connection, &c->notify_events, NULL);
}

static bool may_go_ahead(const committing *c)
{
    return c->writer.connection == &c->store->main && c->writer.refused->count == 0 &&
           c->writer.connection->failed == PAWL_OK;
}

/* Sends the kinds that cannot be refused, COMMIT, and the claim that follows. */
static pawl_code finish(committing *c)
{
    pawl__pg_connection *connection = c->writer.connection;
    pawl__pg_request     end, peek;
    pawl_code            code = send_kinds(c, c->split, pawl_change_kind_count);
    pawl__pg_begin(&end, connection, PAWL__PG_TRANSACTION_COMMIT, c->error);
    bool is_tried = code == PAWL_OK;
    if (is_tried)
        pawl__pg_send(&end);
    if (is_tried && end.code == PAWL_OK)
        send_news(c);
    bool is_ahead = is_tried && may_go_ahead(c) && pawl__pg_ahead_send(c->store, c->changes, &peek);
    pawl_code answered = pawl__pg_await(connection, c->error);
    if (is_ahead)
        pawl__pg_ahead_end(c->store, &peek);
    code = is_tried ? outcome(c, &end, answered) : code;
    if (is_ahead && code == PAWL_OK)
        c->store->claim_count = 0; /* all are settled, and none is taken for one of the next */
    pawl__pg_end(&c->notify);
    pawl__pg_end(&c->notify_events);
    pawl__pg_end(&end);
    return code;
}

/* The fence is checked before COMMIT is sent, unless its guarded form fails by itself. */
static pawl_code send_first(committing *c)
{
    c->writer.has_unguarded = !c->store->has_worker_tid;
    c->is_guard_hard        = c->writer.is_guarded && c->store->has_worker_tid;
    pawl_code code          = begin_round(c);
    if (code == PAWL_OK && !c->is_saved)
        code = send_guard(c);
    if (code == PAWL_OK && !c->is_saved && !c->writer.is_guarded && !c->store->in_hold) {
        pawl__pg_send_plain(c->writer.connection, PAWL__PG_ROUND_BEGIN, c->error);
        c->is_saved = true;
    }
    return code == PAWL_OK ? send_kinds(c, 0, c->split) : code;
}

/* Awaits the answers to all that was sent and checks them: PAWL_OK with refusals, or without. */
static pawl_code await_answers(committing *c)
{
    pawl_code code = pawl__pg_await(c->writer.connection, c->error);
    if (code ==
        PAWL_ELOST) /* the session ends behind such an answer: nothing is to be rolled back */
        c->writer.connection->is_lost = true;
    return code == PAWL_OK ? check_writes(c) : code;
}

static pawl_code send_round(committing *c, size_t refused_before, bool *is_done)
{
    const pawl_refusals *refused = c->writer.refused;
    pawl_code            code    = send_first(c);
    if (code != PAWL_OK || !c->writer.is_guarded || c->writer.has_unguarded ||
        refused->count != refused_before) {
        pawl_code answer = await_answers(c);
        code             = code != PAWL_OK ? code : answer;
    }
    if (code != PAWL_OK || refused->count != refused_before)
        return code;
    code     = finish(c);
    *is_done = code == PAWL_OK;
    if (*is_done)
        (void)check_writes(c); /* COMMIT was answered: no check can change that */
    return code;
}

/* ROLLBACK TO the savepoint undoes what the round wrote and keeps the claims' row locks; it is sent
 * with the next round. After a failure the whole transaction is rolled back. */
static void undo_round(committing *c, pawl_code code)
{
    if (code == PAWL_OK && c->is_saved) {
        pawl__pg_send_plain(c->writer.connection, PAWL__PG_ROUND_UNDO, NULL);
        return;
    }
    c->is_saved = false;
    pawl__pg_rollback_transaction(c->writer.connection);
}

static pawl_code run_round(committing *c, bool *is_done)
{
    size_t    before   = c->writer.refused->count;
    pawl__pg *store    = c->store;
    bool      had_hint = store->has_worker_tid;
    *is_done           = false;
    pawl_code code     = send_round(c, before, is_done);
    drop_writes(c);
    pawl__drop_refused(c->writer.refused, before, c->writer.is_dropped);
    if (!*is_done && !store->in_hold)
        undo_round(c, code);
    if (c->writer.refused->count != before) /* a refusal is seldom alone */
        store->careful_commits = CAREFUL_COMMITS;
    bool is_guard = code == PAWL_EFENCED || (code == PAWL_EDUPLICATE && c->writer.is_guarded);
    if (!is_guard || store->in_hold)
        return code;
    if (c->writer.is_guarded) { /* the fence, or any other guard */
        c->writer.is_guarded   = false;
        store->careful_commits = CAREFUL_COMMITS;
        return PAWL_OK;
    }
    if (!had_hint)
        return code;
    store->has_worker_tid = false; /* the row may only have moved: once more by id */
    return PAWL_OK;
}

/* ---- Commit ------------------------------------------------------------- */

static void end_claims(committing *c)
{
    const pawl_queue_settle *settles = c->changes->queue_settle.items;
    size_t                   count   = 0;
    int64_t                 *seqs    = pawl_arena_take(c->writer.refused->arena,
                                                       (c->changes->queue_settle.count + 1) * sizeof *seqs);
    if (seqs == NULL) /* then they leave the list when their row locks are taken again */
        return;
    for (size_t i = 0; i < c->changes->queue_settle.count; i++)
        if (!c->writer.is_dropped[settles[i].group])
            seqs[count++] = settles[i].seq;
    pawl__pg_claims_end(c->store, seqs, count);
}

/* Row locks: the commit freed those of the claims that it did not settle. */
static pawl_code keep_claims(committing *c)
{
    pawl__pg *store = c->store;
    if (store->claim_count == 0 || store->main.in_transaction)
        return PAWL_OK;
    if (pawl__pg_begin_transaction(store, NULL) != PAWL_OK) {
        /* The commit is durable, so this is no failure of it; the next operation finds the claims
         * gone. */
        store->claim_count = 0;
        pawl__pg_rollback_transaction(&store->main);
    }
    return PAWL_OK;
}

/* Guarded rounds are wasted where commits are refused: CAREFUL_COMMITS are done without. */
static pawl_code commit_rounds(committing *c)
{
    bool      is_done    = false;
    pawl_code code       = PAWL_OK;
    c->writer.is_guarded = c->store->careful_commits == 0;
    if (c->store->careful_commits > 0)
        c->store->careful_commits--;
    while (code == PAWL_OK && !is_done) {
        pawl_arena_reset(c->writer.arena);
        code = run_round(c, &is_done);
    }
    return code;
}

static pawl_code refuse_all(committing *c)
{
    pawl_code code = pawl__refuse_all(c->writer.refused, c->changes, c->writer.is_dropped);
    return code == PAWL_OK ? PAWL_OK : pawl__pg_no_memory(c->error);
}

static pawl_code commit_held(committing *c)
{
    pawl__pg *store   = c->store;
    bool      is_done = false;
    pawl_code code    = pawl__pg_hold_check(store, c->error);
    store->has_worker_tid =
        false; /* no second try is possible in a hold, so the row is found by its id */
    if (code == PAWL_OK)
        code = run_round(c, &is_done);
    if (!is_done) {
        if (code == PAWL_OK)
            code = refuse_all(c);
        pawl__pg_handler_transaction_end(&store->sql.base);
        return code;
    }
    (void)pawl__pg_hold_leave(store, NULL); /* a lost connection shows at the next operation */
    return PAWL_OK;
}

static pawl_code release_rows(committing *c)
{
    size_t    before = c->writer.refused->count;
    pawl_code code =
        pawl__pg_send_queue_settle(&c->writer); /* refuses claims that are gone; sends nothing */
    pawl__drop_refused(c->writer.refused, before, c->writer.is_dropped);
    pawl__pg_rollback_transaction(&c->store->main);
    return code;
}

/* The second connection is for a send that does not wait: a set that settles no claim and saves no
 * saga, which must not end the transaction of the batch's claims. */
static pawl_code choose_connection(committing *c)
{
    const pawl_changes *changes = c->changes;
    pawl__pg           *store   = c->store;
    c->writer.connection        = &store->main;
    if (store->in_hold || store->claim_count == 0 || changes->queue_settle.count != 0 ||
        changes->saga_insert.count + changes->saga_update.count + changes->saga_delete.count != 0)
        return PAWL_OK;
    return pawl__pg_side(store, &c->writer.connection, c->error);
}

static pawl_code commit_on(committing *c)
{
    pawl_code code = choose_connection(c);
    if (code != PAWL_OK)
        return code;
    if (c->store->in_hold)
        return commit_held(c);
    bool is_unblock = c->changes->queue_settle.count != 0 && pawl__changes_only_release(c->changes);
    return is_unblock ? release_rows(c) : commit_rounds(c);
}

/* Back ends that this commit may have waited for are ended. */
static void end_blockers(committing *c)
{
    pawl__pg_end_holder(c->store, c->writer.connection);
    pawl__pg_end_standing(c->store, c->writer.connection);
}

pawl_code pawl__pg_commit(pawl_store *base, const pawl_changes *changes, pawl_refusals *refused,
                          pawl_error *error)
{
    pawl__pg  *store    = pawl__pg_of(base);
    committing c        = {.writer  = {.store   = store,
                                       .changes = changes,
                                       .refused = refused,
                                       .arena   = store->scratch,
                                       .error   = error},
                           .store   = store,
                           .changes = changes,
                           .error   = error,
                           .split   = find_split(changes)};
    c.writer.is_dropped = pawl_arena_take(refused->arena, changes->group_count + 1);
    pawl__pg_note_now(store, changes->now);
    pawl__pg_seen_clear(store);
    pawl_code code = c.writer.is_dropped != NULL ? commit_on(&c) : pawl__pg_no_memory(error);
    if (code == PAWL_OK) {
        if (changes->outbox_reset.count != 0) /* rows from before its front are pending again */
            pawl__pg_outbox_front_restart(&store->outbox);
        end_claims(&c);
        code = keep_claims(&c);
    } else {
        pawl__pg_handler_transaction_end(base);
        if (code == PAWL_ETIMEOUT && c.writer.connection != NULL)
            end_blockers(&c);
    }
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
    if (PQtransactionStatus(pg) != PQTRANS_INTRANS)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection has no open transaction that could be "
                              "committed: begin first");
    if (store->main.pg != NULL && strcmp(PQdb(pg), PQdb(store->main.pg)) != 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection is to database '%s', the store to '%s': "
                              "they must be the same",
                              PQdb(pg), PQdb(store->main.pg));
    return PAWL_OK;
}

static pawl_code enlist_notify(committing *c, pawl__pg *store)
{
    pawl__pg_request request = {.result = NULL};
    (void)pawl__pg_send_notify(store, c->writer.connection, &request, c->changes);
    pawl__pg_end(&request);
    return pawl__pg_await(c->writer.connection, c->error);
}

static pawl_code apply_enlisted(committing *c, pawl__pg *store)
{
    size_t    before = c->writer.refused->count;
    pawl_code code   = send_kinds(c, 0, pawl_change_kind_count);
    pawl_code answer = pawl__pg_await(c->writer.connection, c->error);
    code             = code != PAWL_OK ? code : answer;
    if (code == PAWL_OK)
        code = check_writes(c);
    if (code == PAWL_OK && c->writer.refused->count == before)
        return enlist_notify(c, store);
    drop_writes(c);
    if (code != PAWL_OK)
        return code;
    return pawl__refusal_error(&c->writer.refused->items[before], c->error);
}

static pawl_code run_enlist(pawl__pg *store, pawl__pg_connection *connection,
                            const pawl_changes *changes, pawl_error *error)
{
    pawl_arena   *arena   = pawl_arena_create(0);
    pawl_refusals refused = {.arena = arena};
    committing    c       = {.writer  = {.connection = connection,
                                         .changes    = changes,
                                         .refused    = &refused,
                                         .arena      = arena,
                                         .error      = error},
                             .changes = changes,
                             .error   = error};
    if (arena != NULL)
        c.writer.is_dropped = pawl_arena_take(arena, changes->group_count + 1);
    pawl_code code =
        c.writer.is_dropped != NULL ? apply_enlisted(&c, store) : pawl__pg_no_memory(error);
    pawl_arena_destroy(arena);
    return code;
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
        code                     = pawl__pg_execute(connection, "savepoint pawl_enlist", error);
    }
    if (code == PAWL_OK) {
        code = run_enlist(store, connection, changes, error);
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
