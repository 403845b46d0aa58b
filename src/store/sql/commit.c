/* commit.c - writes a change set in rounds: fence, kinds, refusals; see commit.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"

#include "store/core/kinds.h"
#include "store/sql/transaction.h"

#include <stdint.h>
#include <string.h>

/* Number of changes that the driver gets at once. */
#define RUN_MAX 256
/* Smaller sets are not pipelined. */
#define AHEAD_MIN 3
/* Commits not pipelined after a refusal (where whole rounds are), since more refusals are likely. */
#define CAREFUL_COMMITS 16

/* ---- Writing items ------------------------------------------------------ */

pawl_code pawl__sql_write_own(pawl_store *store, const pawl__sql_write *write, const void *item,
                              pawl__sql_result *result, pawl_error *error)
{
    size_t failed;
    return pawl__sql_ops_of(store)->write(((pawl__sql_store *)store)->connection, write, &item, 1,
                                          result, &failed, error);
}

pawl_code pawl__sql_write_rows(pawl_store *store, const pawl__sql_write *write, const void *rows,
                               size_t row_size, size_t count, pawl__sql_result *results,
                               pawl_error *error)
{
    const void      *items[RUN_MAX];
    pawl__sql_result own[RUN_MAX];
    size_t           failed;
    pawl_code        code = PAWL_OK;
    for (size_t done = 0, some; code == PAWL_OK && done < count; done += some) {
        some = count - done < RUN_MAX ? count - done : RUN_MAX;
        for (size_t i = 0; i < some; i++)
            items[i] = (const char *)rows + (done + i) * row_size;
        code = pawl__sql_ops_of(store)->write(((pawl__sql_store *)store)->connection, write, items,
                                              some, results != NULL ? results + done : own, &failed,
                                              error);
    }
    return code;
}

/* The index of a change in its kind; the kind's count if it is no change of that kind. */
static size_t index_of(const pawl__sql_writer *writer, pawl_change_kind kind, const void *change)
{
    uintptr_t first = (uintptr_t)pawl__change_items(writer->changes, kind);
    size_t    count = pawl__change_count(writer->changes, kind);
    size_t    index = ((uintptr_t)change - first) / pawl__kinds[kind].size;
    return (uintptr_t)change >= first && index < count ? index : count;
}

/* Adds the change to the error's text: `late` if an earlier change's answer was read only now. */
static pawl_code fail(const pawl__sql_writer *writer, const void *change, pawl_code code)
{
    const void *late = ((const pawl__sql_store *)writer->store)->late;
    for (int i = 0; i < pawl_change_kind_count; i++) {
        pawl_change_kind kind  = (pawl_change_kind)i;
        size_t           index = index_of(writer, kind, late != NULL ? late : change);
        if (index < pawl__change_count(writer->changes, kind))
            return pawl_error_wrap(writer->error, code, "%s %zu", pawl_change_kind_name(kind),
                                   index);
    }
    return code;
}

static pawl_code no_memory(const pawl__sql_writer *writer)
{
    return pawl_error_set(writer->error, PAWL_ENOMEM, "%s: out of memory for a refusal",
                          pawl__sql_ops_of(writer->store)->name);
}

static pawl_code refuse(const pawl__sql_writer *writer, pawl_change_kind kind, const void *change,
                        const pawl_error *why)
{
    return pawl__refuse(writer->refused, kind, change, why) == PAWL_OK ? PAWL_OK
                                                                       : no_memory(writer);
}

pawl_code pawl__sql_refuse(const pawl__sql_writer *writer, pawl_change_kind kind,
                           const void *change, pawl__why_fn *why)
{
    pawl_error text = PAWL_ERROR_INIT;
    return why(change, &text) == PAWL_OK ? PAWL_OK : refuse(writer, kind, change, &text);
}

/* ---- Runs --------------------------------------------------------------- */

/* Changes of one kind that follow one another and have one write: they go to the driver together, so
 * changes of one row are applied in their order. */
typedef struct run {
    pawl__sql_writer      *writer;
    pawl_change_kind       kind;
    const pawl__sql_write *write;
    size_t                 count;
    const void            *items[RUN_MAX];
    pawl__keys             keys; /* of the items, where the kind has some */
} run;

/* Not initialized as a whole: most runs are short. */
static void run_begin(run *r, pawl__sql_writer *writer, pawl_change_kind kind)
{
    r->writer = writer;
    r->kind   = kind;
    r->write  = NULL;
    r->count  = 0;
}

static pawl_code write_run(run *r);

/* Makes room for a change with this write; ends the run if the run is full or has another write. */
static pawl_code make_room(run *r, const pawl__sql_write *write)
{
    bool is_over = r->count == RUN_MAX || (r->count > 0 && (r->write != write || write->is_alone));
    pawl_code code = is_over ? write_run(r) : PAWL_OK;
    r->write       = write;
    return code;
}

/* Ends the run if an earlier change of it may have the same rows. */
static pawl_code keep_apart(run *r, pawl__sql_keys_fn *keys_of, const void *change)
{
    uint32_t keys[2] = {0, 0};
    keys_of(change, keys);
    return pawl__keys_add(&r->keys, keys, 2, r->count == 0) ? write_run(r) : PAWL_OK;
}

/* Refuses items, or passes them to their next write, by their results. */
static pawl_code follow(const run *r, const void *const *items, size_t count,
                        const pawl__sql_result *results)
{
    run       next;
    pawl_code code = PAWL_OK;
    run_begin(&next, r->writer, r->kind);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        const pawl__sql_then *then = &r->write->then[results[i]];
        if (then->next != NULL) {
            code                     = make_room(&next, then->next);
            next.items[next.count++] = items[i];
        } else if (then->why != NULL) {
            code = pawl__sql_refuse(r->writer, r->kind, items[i], then->why);
        }
    }
    return code == PAWL_OK ? write_run(&next) : code;
}

static pawl_code write_now(const pawl__sql_writer *writer, const pawl__sql_write *write,
                           const void *const *items, size_t count, pawl__sql_result *results,
                           size_t *failed)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(writer->store);
    return (writer->is_ahead ? ops->write_ahead : ops->write)(
        writer->connection, write, items, count, results, failed, writer->error);
}

static pawl_code write_items(const run *r, const void *const *items, size_t count)
{
    pawl__sql_writer *writer = r->writer;
    pawl__sql_result  results[RUN_MAX];
    size_t            failed = 0;
    pawl_code         code   = write_now(writer, r->write, items, count, results, &failed);
    return code == PAWL_OK ? follow(r, items, count, results) : fail(writer, items[failed], code);
}

/* Writes the run, and empties it. Changes of sagas are written table by table, since a statement has one table. */
static pawl_code write_run(run *r)
{
    const void *alike[RUN_MAX];
    size_t      left = r->count;
    pawl_code   code = PAWL_OK;
    r->count         = 0;
    if (left > 0 && !r->write->is_saga)
        return write_items(r, r->items, left);
    for (size_t before = left; code == PAWL_OK && left > 0; before = left) {
        left = pawl__take_equal(r->items, left, alike, pawl__compare_by_table);
        code = write_items(r, alike, before - left);
    }
    return code;
}

/* ---- A kind ------------------------------------------------------------- */

static bool is_refusal(pawl_code code)
{
    return code == PAWL_ECONFLICT || code == PAWL_EDUPLICATE || code == PAWL_EGONE ||
           code == PAWL_EMISMATCH;
}

/* A change that is refused is not written. */
static pawl_code apply_change(const run *r, const void *change, bool *is_refused)
{
    pawl__sql_writer *writer = r->writer;
    pawl_error        why;
    pawl_code         code = pawl__sql_kind_rules[r->kind].apply(writer, change, &why);
    *is_refused            = pawl__kinds[r->kind].is_refusable && is_refusal(code);
    if (*is_refused)
        return refuse(writer, r->kind, change, &why);
    if (code == PAWL_OK)
        return PAWL_OK;
    if (writer->error != NULL)
        *writer->error = why;
    return fail(writer, change, code);
}

static pawl_code add_change(run *r, const pawl__sql_kind_rule *rule, const void *change)
{
    const pawl__sql_write *write      = rule->choose != NULL ? rule->choose(change) : rule->write;
    bool                   is_refused = false;
    pawl_code              code       = make_room(r, write);
    if (code == PAWL_OK && rule->keys != NULL)
        code = keep_apart(r, rule->keys, change);
    if (code == PAWL_OK && rule->apply != NULL)
        code = apply_change(r, change, &is_refused);
    if (code == PAWL_OK && !is_refused && write != NULL)
        r->items[r->count++] = change;
    return code;
}

static pawl_code apply_kind(pawl__sql_writer *writer, pawl_change_kind kind)
{
    size_t      size = pawl__kinds[kind].size;
    size_t      left = pawl__change_count(writer->changes, kind);
    const char *item = pawl__change_items(writer->changes, kind);
    pawl_code   code = PAWL_OK;
    run         r;
    run_begin(&r, writer, kind);
    for (; code == PAWL_OK && left > 0; left--, item += size)
        if (!writer->is_dropped[pawl__change_group(item)])
            code = add_change(&r, &pawl__sql_kind_rules[kind], item);
    return code == PAWL_OK ? write_run(&r) : code;
}

/* The kind after the last refusable one that has changes. */
static int find_split(const pawl_changes *changes)
{
    int split = 0;
    for (int kind = 0; kind < pawl_change_kind_count; kind++)
        if (pawl__kinds[kind].is_refusable &&
            pawl__change_count(changes, (pawl_change_kind)kind) != 0)
            split = kind + 1;
    return split;
}

static pawl_code apply_kinds(pawl__sql_writer *writer, int from, int to)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(writer->store);
    pawl_code            code = PAWL_OK;
    for (int kind = from; code == PAWL_OK && kind < to; kind++)
        if (pawl__change_count(writer->changes, (pawl_change_kind)kind) != 0)
            code = ops->write_kind != NULL ? ops->write_kind(writer, (pawl_change_kind)kind)
                                           : apply_kind(writer, (pawl_change_kind)kind);
    return code;
}

pawl_code pawl__sql_apply_rest(pawl__sql_writer *writer)
{
    return apply_kinds(writer, writer->split, pawl_change_kind_count);
}

/* ---- A round ------------------------------------------------------------ */

pawl__sql_fence pawl__sql_fence_of(const pawl__sql_writer *writer)
{
    const pawl_store *store = writer->store;
    return (pawl__sql_fence){.commit_id = writer->changes->commit_id,
                             .now       = writer->changes->now,
                             .counters  = writer->changes->counters,
                             .worker    = store->worker.uuid,
                             .epoch     = store->epoch,
                             .driver    = pawl__sql_ops_of(store)->name,
                             .store     = store};
}

static pawl_code fence(pawl__sql_writer *writer)
{
    pawl__sql_fence  row    = pawl__sql_fence_of(writer);
    const void      *item   = &row;
    pawl__sql_result result = PAWL__SQL_APPLIED;
    size_t           failed;
    pawl_code        code = write_now(writer, &pawl__sql_write_fence, &item, 1, &result, &failed);
    if (code == PAWL_OK && result == PAWL__SQL_MISSED)
        return pawl__sql_write_fence.then[result].why(item, writer->error);
    return code;
}

/* If an item had an unexpected result, the round's refusals are dropped, since later ones may be consequences of that
 * item. The next rounds await each answer. */
static pawl_code settle(pawl__sql_writer *writer, pawl_code code, bool *is_right)
{
    pawl_error *error = code == PAWL_OK ? writer->error : NULL;
    pawl_code   end   = pawl__sql_ops_of(writer->store)->settle(writer->store, is_right, error);
    if (!*is_right)
        writer->refused->count = writer->refused_before;
    writer->is_ahead = *is_right;
    if (code == PAWL_OK && end != PAWL_OK)
        code = fail(writer, NULL, end);
    ((pawl__sql_store *)writer->store)->late = NULL;
    return code;
}

static pawl_code finish(pawl__sql_writer *writer, pawl_code code, bool *is_done)
{
    bool is_right = true;
    if (code == PAWL_OK && !pawl__sql_has_refused(writer))
        code = pawl__sql_apply_rest(writer);
    if (writer->is_ahead)
        code = settle(writer, code, &is_right);
    *is_done = code == PAWL_OK && is_right && !pawl__sql_has_refused(writer);
    if (writer->is_enlisted)
        return code;
    if (*is_done)
        return pawl__sql_commit_round(writer->store, writer->error);
    pawl__sql_ops_of(writer->store)->rollback(writer->store);
    return code;
}

/* Applies kinds in order, since refusals may depend on all kinds before, also on those that cannot be refused. */
static pawl_code run_round(pawl__sql_writer *writer, bool *is_done)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(writer->store);
    pawl_code            code = PAWL_OK;
    writer->refused_before    = writer->refused->count;
    writer->has_held          = false;
    *is_done                  = false;
    if (!writer->is_enlisted)
        code = (ops->fence != NULL ? ops->fence : fence)(writer);
    if (code == PAWL_OK)
        code = apply_kinds(writer, 0, writer->split);
    code = (ops->finish != NULL ? ops->finish : finish)(writer, code, is_done);
    pawl__drop_refused(writer->refused, writer->refused_before, writer->is_dropped);
    return code;
}

/* If the handler's own SQL set a role or made the transaction read-only, its message fails. (If pawl may not write to
 * the store at all, the commit of that failure is refused as well.) */
static pawl_code blame_handler(pawl__sql_writer *writer, pawl_code code)
{
    if (code != PAWL_EDENIED && code != PAWL_EUNREACHABLE)
        return code;
    return pawl_error_wrap(writer->error, PAWL_ECONFLICT,
                           "pawl may not write in the transaction of the handler's own SQL");
}

/* A handler transaction has only one round, since the handler's own statements cannot be repeated here:
 * one refusal refuses all groups. */
static pawl_code commit_held(pawl__sql_writer *writer)
{
    bool      is_done = false;
    pawl_code code    = pawl__sql_handler_transaction_take(writer->store, writer->error);
    if (code == PAWL_OK)
        code = blame_handler(writer, run_round(writer, &is_done));
    if (code != PAWL_OK || is_done)
        return code;
    code = pawl__refuse_all(writer->refused, writer->changes, writer->is_dropped);
    return code == PAWL_OK ? PAWL_OK : no_memory(writer);
}

/* Pipelining a few changes saves no round trip. Drivers that send a whole round in one trip
 * pipeline any number, except for a while after a refusal. */
static bool pipelines_round(const pawl__sql_writer *writer)
{
    pawl__sql_store *own   = (pawl__sql_store *)writer->store;
    size_t           count = 0;
    if (own->ops->finish != NULL) {
        bool commits_singly = own->careful != 0;
        own->careful -= commits_singly;
        return !commits_singly;
    }
    for (int kind = 0; kind < pawl_change_kind_count; kind++)
        count += pawl__change_count(writer->changes, (pawl_change_kind)kind);
    return own->ops->write_ahead != NULL && count >= AHEAD_MIN;
}

static pawl_code commit_rounds(pawl__sql_writer *writer)
{
    pawl__sql_store *own     = (pawl__sql_store *)writer->store;
    bool             is_done = false;
    pawl_code        code    = PAWL_OK;
    writer->is_ahead         = pipelines_round(writer);
    while (code == PAWL_OK && !is_done) {
        code = own->ops->begin(writer->store, writer->error);
        if (code == PAWL_OK)
            code = run_round(writer, &is_done);
        if (code == PAWL_OK && !is_done)
            own->careful = CAREFUL_COMMITS;
    }
    return code;
}

/* A set that only releases claims writes nothing: it ends the driver's claims. */
static pawl_code release_rows(pawl__sql_writer *writer)
{
    size_t    before = writer->refused->count;
    pawl_code code   = apply_kinds(writer, pawl_change_queue_settle, pawl_change_queue_settle + 1);
    pawl__drop_refused(writer->refused, before, writer->is_dropped);
    return code;
}

static pawl_code commit_set(pawl__sql_writer *writer, bool is_held)
{
    if (is_held)
        return commit_held(writer);
    return pawl__changes_only_release(writer->changes) ? release_rows(writer)
                                                       : commit_rounds(writer);
}

static pawl_code commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    const pawl__sql_ops *ops    = pawl__sql_ops_of(store);
    pawl__sql_store     *own    = (pawl__sql_store *)store;
    pawl__sql_writer     writer = {.store      = store,
                                   .connection = own->connection,
                                   .changes    = changes,
                                   .split      = find_split(changes),
                                   .refused    = refused,
                                   .error      = error};
    writer.is_dropped           = pawl_arena_take(refused->arena, changes->group_count + 1);
    if (writer.is_dropped == NULL) {
        store->ops->handler_transaction_end(store);
        return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", ops->name);
    }
    pawl_code code = commit_set(&writer, own->in_handler_transaction);
    ops->claims_end(store, changes, writer.is_dropped, code);
    return code;
}

/* Repeats the commit after a deadlock. The refusals of the earlier try are dropped: the next one finds them again. */
pawl_code pawl__sql_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                           pawl_error *error)
{
    pawl__sql_tries tries  = pawl__sql_tries_begin(store);
    size_t          before = refused->count;
    pawl_code       code   = commit(store, changes, refused, error);
    while (pawl__sql_again(&tries, code)) {
        refused->count = before;
        code           = commit(store, changes, refused, error);
    }
    return code;
}

/* ---- Enlist ------------------------------------------------------------- */

static pawl_code apply_enlisted(pawl__sql_writer *writer)
{
    bool      is_done;
    pawl_code code = run_round(writer, &is_done);
    return code != PAWL_OK || is_done
               ? code
               : pawl__refusal_error(&writer->refused->items[0], writer->error);
}

pawl_code pawl__sql_apply_enlisted(pawl_store *store, pawl__sql_connection *connection,
                                   const pawl_changes *changes, pawl_error *error)
{
    pawl__sql_store      *own     = (pawl__sql_store *)store;
    pawl__sql_connection *before  = own->connection;
    pawl_refusals         refused = {.arena = pawl_arena_create(0)};
    pawl__sql_writer      writer  = {.store       = store,
                                     .connection  = connection,
                                     .is_enlisted = true,
                                     .changes     = changes,
                                     .split       = find_split(changes),
                                     .refused     = &refused,
                                     .error       = error};
    if (refused.arena != NULL)
        writer.is_dropped = pawl_arena_take(refused.arena, changes->group_count + 1);
    own->connection = connection; /* also for reads during the writes */
    pawl_code code  = writer.is_dropped != NULL
                          ? apply_enlisted(&writer)
                          : pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory",
                                           pawl__sql_ops_of(store)->name);
    own->connection = before;
    pawl_arena_destroy(refused.arena);
    return code;
}
