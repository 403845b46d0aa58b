/* commit.c - rounds: fence, kinds, refusals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"

#include <stdint.h>

/* As many changes go to the driver at once. */
#define RUN_MAX 256

/* ---- Writing items ------------------------------------------------------ */

pawl_code pawl__sql_write_one(pawl_store *store, pawl__sql_connection *connection,
                              const pawl__sql_write *write, const void *item, pawl__sql_fate *fate,
                              pawl_error *error)
{
    size_t failed;
    return pawl__sql_ops_of(store)->write(connection, write, &item, 1, fate, &failed, error);
}

pawl_code pawl__sql_write_own(pawl_store *store, const pawl__sql_write *write, const void *item,
                              pawl__sql_fate *fate, pawl_error *error)
{
    return pawl__sql_write_one(store, ((pawl__sql_store *)store)->connection, write, item, fate,
                               error);
}

pawl_code pawl__sql_write_rows(pawl_store *store, const pawl__sql_write *write, const void *rows,
                               size_t row_size, size_t count, pawl_error *error)
{
    const void    *items[RUN_MAX];
    pawl__sql_fate fates[RUN_MAX];
    size_t         failed;
    pawl_code      code = PAWL_OK;
    for (size_t done = 0, some; code == PAWL_OK && done < count; done += some) {
        some = count - done < RUN_MAX ? count - done : RUN_MAX;
        for (size_t i = 0; i < some; i++)
            items[i] = (const char *)rows + (done + i) * row_size;
        code = pawl__sql_ops_of(store)->write(((pawl__sql_store *)store)->connection, write, items,
                                              some, fates, &failed, error);
    }
    return code;
}

/* The number of a change in its kind, for the text of a failure. */
static size_t index_of(const pawl__sql_writer *writer, pawl_change_kind kind, const void *change)
{
    const char *first = pawl__sql_items_of(writer->changes, kind);
    return (size_t)((const char *)change - first) / pawl__sql_kinds[kind].size;
}

static pawl_code fail(pawl__sql_writer *writer, pawl_change_kind kind, const void *change,
                      pawl_code code)
{
    return pawl_error_wrap(writer->error, code, "%s %zu", pawl_change_kind_name(kind),
                           index_of(writer, kind, change));
}

static pawl_code refuse(pawl__sql_writer *writer, pawl_change_kind kind, const void *change,
                        const pawl_error *why)
{
    if (pawl__sql_refuse(writer->refused, kind, change, why) == PAWL_OK)
        return PAWL_OK;
    return pawl_error_set(writer->error, PAWL_ENOMEM, "%s: out of memory for a refusal",
                          pawl__sql_ops_of(writer->store)->name);
}

static pawl_code write_items(pawl__sql_writer *writer, pawl_change_kind kind,
                             const pawl__sql_write *write, const void *const *items, size_t count);

static pawl_code follow(pawl__sql_writer *writer, pawl_change_kind kind, const pawl__sql_then *then,
                        const void *const *item)
{
    pawl_error why;
    if (then->next != NULL)
        return write_items(writer, kind, then->next, item, 1);
    if (then->why == NULL)
        return PAWL_OK;
    (void)then->why(*item, &why);
    return refuse(writer, kind, *item, &why);
}

/* The write of these changes, and what follows from each one's fate. */
static pawl_code write_items(pawl__sql_writer *writer, pawl_change_kind kind,
                             const pawl__sql_write *write, const void *const *items, size_t count)
{
    pawl__sql_fate fates[RUN_MAX];
    size_t         failed = 0;
    pawl_code      code =
        pawl__sql_ops_of(writer->store)
            ->write(writer->connection, write, items, count, fates, &failed, writer->error);
    if (code != PAWL_OK)
        return fail(writer, kind, items[failed], code);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = follow(writer, kind, &write->then[fates[i]], &items[i]);
    return code;
}

/* ---- A kind ------------------------------------------------------------- */

static bool is_refusal(pawl_code code)
{
    return code == PAWL_ECONFLICT || code == PAWL_EDUPLICATE || code == PAWL_EGONE ||
           code == PAWL_EMISMATCH;
}

static pawl_code apply_change(pawl__sql_writer *writer, pawl_change_kind kind, const void *change)
{
    pawl_error why;
    pawl_code  code = pawl__sql_ways[kind].apply(writer, change, &why);
    if (code == PAWL_OK)
        return PAWL_OK;
    if (pawl__sql_kinds[kind].is_refusable && is_refusal(code))
        return refuse(writer, kind, change, &why);
    if (writer->error != NULL)
        *writer->error = why;
    return fail(writer, kind, change, code);
}

static pawl_code apply_changes(pawl__sql_writer *writer, pawl_change_kind kind)
{
    size_t      size  = pawl__sql_kinds[kind].size;
    size_t      count = pawl__sql_count_of(writer->changes, kind);
    const char *item  = pawl__sql_items_of(writer->changes, kind);
    pawl_code   code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++, item += size)
        if (!writer->is_dropped[pawl__sql_group_of(item)])
            code = apply_change(writer, kind, item);
    return code;
}

/* Changes that follow one another and have one write go to the driver together, so that
 * changes of one row are applied in their order. */
static pawl_code write_changes(pawl__sql_writer *writer, pawl_change_kind kind)
{
    const pawl__sql_way   *way   = &pawl__sql_ways[kind];
    size_t                 size  = pawl__sql_kinds[kind].size;
    size_t                 left  = pawl__sql_count_of(writer->changes, kind);
    const char            *item  = pawl__sql_items_of(writer->changes, kind);
    size_t                 max   = way->is_one ? 1 : RUN_MAX;
    const pawl__sql_write *write = NULL;
    size_t                 count = 0;
    pawl_code              code  = PAWL_OK;
    const void            *items[RUN_MAX];
    for (; code == PAWL_OK && left > 0; left--, item += size) {
        if (writer->is_dropped[pawl__sql_group_of(item)])
            continue;
        const pawl__sql_write *own = way->choose != NULL ? way->choose(item) : way->write;
        if (count == max || (count > 0 && own != write)) {
            code  = write_items(writer, kind, write, items, count);
            count = 0;
        }
        write          = own;
        items[count++] = item;
    }
    return code == PAWL_OK && count > 0 ? write_items(writer, kind, write, items, count) : code;
}

static pawl_code apply_kind(pawl__sql_writer *writer, pawl_change_kind kind)
{
    if (pawl__sql_count_of(writer->changes, kind) == 0)
        return PAWL_OK;
    return pawl__sql_ways[kind].apply != NULL ? apply_changes(writer, kind)
                                              : write_changes(writer, kind);
}

/* Refusals of a later kind depend on the kinds before it, those that cannot be refused
 * too. */
static int last_refusable(void)
{
    int last = (int)pawl_change_kind_count - 1;
    while (!pawl__sql_kinds[last].is_refusable)
        last--;
    return last;
}

/* All kinds. Once something was refused, those behind the last kind that can be are not
 * begun: the round is void then. */
static pawl_code apply_all(pawl__sql_writer *writer, size_t refused_before)
{
    pawl_code code = PAWL_OK;
    for (int kind = 0; code == PAWL_OK && kind < pawl_change_kind_count; kind++)
        if (kind <= last_refusable() || writer->refused->count == refused_before)
            code = apply_kind(writer, (pawl_change_kind)kind);
    return code;
}

/* ---- A round ------------------------------------------------------------ */

static pawl_code fence(pawl__sql_writer *writer)
{
    const pawl_store *store = writer->store;
    pawl__sql_fence   row   = {.commit_id = writer->changes->commit_id,
                               .now       = writer->changes->now,
                               .counters  = writer->changes->counters,
                               .worker    = store->worker.uuid,
                               .epoch     = store->epoch};
    pawl__sql_fate    fate  = PAWL__SQL_APPLIED;
    pawl_code code = pawl__sql_write_one(writer->store, writer->connection, &pawl__sql_write_fence,
                                         &row, &fate, writer->error);
    if (code == PAWL_OK && fate == PAWL__SQL_MISSED)
        return pawl__sql_fenced(store, pawl__sql_ops_of(store)->name, writer->error);
    return code;
}

/* Inside the transaction, which is over behind it. */
static pawl_code run_round(pawl__sql_writer *writer, bool *is_done)
{
    const pawl__sql_ops *ops    = pawl__sql_ops_of(writer->store);
    size_t               before = writer->refused->count;
    writer->has_held            = false;
    pawl_code code              = fence(writer);
    if (code == PAWL_OK)
        code = apply_all(writer, before);
    *is_done = code == PAWL_OK && writer->refused->count == before;
    if (*is_done)
        return ops->commit(writer->store, writer->error);
    ops->rollback(writer->store);
    pawl__sql_drop_refused(writer->refused, before, writer->is_dropped);
    return code;
}

/* In a hold there is one round: the handler's own statements cannot be done again here, so
 * one refusal refuses all groups. */
static pawl_code commit_held(pawl__sql_writer *writer)
{
    bool      is_done = false;
    pawl_code code    = pawl__sql_ops_of(writer->store)->hold_take(writer->store, writer->error);
    if (code == PAWL_OK)
        code = run_round(writer, &is_done);
    if (code != PAWL_OK || is_done)
        return code;
    code = pawl__sql_refuse_all(writer->refused, writer->changes, writer->is_dropped);
    return code == PAWL_OK ? PAWL_OK
                           : pawl_error_set(writer->error, code, "%s: out of memory for a refusal",
                                            pawl__sql_ops_of(writer->store)->name);
}

static pawl_code commit_rounds(pawl__sql_writer *writer)
{
    bool      is_done = false;
    pawl_code code    = PAWL_OK;
    while (code == PAWL_OK && !is_done) {
        code = pawl__sql_ops_of(writer->store)->begin(writer->store, writer->error);
        if (code == PAWL_OK)
            code = run_round(writer, &is_done);
    }
    return code;
}

/* Claims that are given back and nothing else change no table: the driver's claims are all
 * there is to end. */
static pawl_code release_rows(pawl__sql_writer *writer)
{
    size_t    before = writer->refused->count;
    pawl_code code   = apply_kind(writer, pawl_change_queue_settle);
    pawl__sql_drop_refused(writer->refused, before, writer->is_dropped);
    return code;
}

static pawl_code commit_set(pawl__sql_writer *writer, bool is_held)
{
    if (is_held)
        return commit_held(writer);
    return pawl__sql_only_releases(writer->changes) ? release_rows(writer) : commit_rounds(writer);
}

pawl_code pawl__sql_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                           pawl_error *error)
{
    const pawl__sql_ops *ops    = pawl__sql_ops_of(store);
    pawl__sql_store     *own    = (pawl__sql_store *)store;
    pawl__sql_writer     writer = {.store      = store,
                                   .connection = own->connection,
                                   .changes    = changes,
                                   .refused    = refused,
                                   .error      = error};
    writer.is_dropped           = pawl_arena_take(refused->arena, changes->group_count + 1);
    if (writer.is_dropped == NULL) {
        store->ops->hold_end(store);
        return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", ops->name);
    }
    pawl_code code = commit_set(&writer, own->in_hold);
    ops->claims_end(store, changes, writer.is_dropped, code);
    return code;
}

/* ---- Enlist ------------------------------------------------------------- */

static pawl_code apply_enlisted(pawl__sql_writer *writer)
{
    size_t    before = writer->refused->count;
    pawl_code code   = apply_all(writer, before);
    if (code != PAWL_OK || writer->refused->count == before)
        return code;
    return pawl__sql_refusal_error(&writer->refused->items[before], writer->error);
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
                                     .refused     = &refused,
                                     .error       = error};
    if (refused.arena != NULL)
        writer.is_dropped = pawl_arena_take(refused.arena, changes->group_count + 1);
    own->connection = connection; /* also for rows that are read on the way */
    pawl_code code  = writer.is_dropped != NULL
                          ? apply_enlisted(&writer)
                          : pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory",
                                           pawl__sql_ops_of(store)->name);
    own->connection = before;
    pawl_arena_destroy(refused.arena);
    return code;
}
