/* commit.c - parts, rounds and runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#include <string.h>

#define PART_DOCUMENTS_MAX 1000
#define PART_SIZE_MAX ((size_t)8 * 1024 * 1024)
#define ABORTS_BEFORE_SMALLER 2
/* Two keys with one bit end a run early, which costs a round trip and nothing else. */
#define KEY_BITS 65536

static const pawl__mongo_way ways[pawl_change_kind_count] = {
#define WAY(name) [pawl_change_##name] = {pawl__mongo_apply_##name, NULL, false}
#define KEYED(name) \
    [pawl_change_##name] = {pawl__mongo_apply_##name, pawl__mongo_keys_##name, false}
#define ALONE(name) [pawl_change_##name] = {pawl__mongo_apply_##name, NULL, true}
    KEYED(queue_settle),  KEYED(inbox_mark),     KEYED(saga_delete),       KEYED(saga_insert),
    KEYED(saga_update),   WAY(event_append),     KEYED(checkpoint_set),    KEYED(timeout_settle),
    KEYED(outbox_settle), KEYED(outbox_reset),   ALONE(snapshot_remove),   WAY(timeout_cancel),
    KEYED(timeout_set),   KEYED(outbox_add),     WAY(outbox_hold),         KEYED(fold_set),
    KEYED(queue_send),    KEYED(aggregator_add), ALONE(aggregator_remove), WAY(snapshot_release),
    KEYED(flush_set),     KEYED(dead_set),       KEYED(subscription_set),  WAY(history_add),
};

uint32_t pawl__mongo_hash(uint32_t from, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        from = (from ^ bytes[i]) * UINT32_C(16777619);
    return from | UINT32_C(0x80000000);
}

/* ---- For the kinds ------------------------------------------------------- */

pawl_code pawl__mongo_refuse_with(const pawl__mongo_run *run, size_t index, const pawl_error *why)
{
    const pawl__mongo_writer *writer = run->writer;
    run->is_out[index]               = true;
    if (pawl__refuse(writer->refused, writer->kind, run->items[index], why) == PAWL_OK)
        return PAWL_OK;
    return pawl__mongo_no_memory(writer->error);
}

pawl_code pawl__mongo_refuse(const pawl__mongo_run *run, size_t index, pawl__why_fn *why)
{
    pawl_error text = PAWL_ERROR_INIT;
    (void)why(run->items[index], &text);
    return pawl__mongo_refuse_with(run, index, &text);
}

void *pawl__mongo_scratch(const pawl__mongo_run *run, size_t size, pawl_error *error)
{
    void *made = pawl_arena_take(run->writer->arena, (run->count + 1) * size);
    if (made == NULL)
        (void)pawl__mongo_no_memory(error);
    return made;
}

pawl_code pawl__mongo_write(const pawl__mongo_run *run, pawl__mongo_bulk *bulk, size_t expected)
{
    pawl_code code = pawl__mongo_bulk_run(bulk, run->writer->error);
    int64_t   done = bulk->inserted + bulk->matched + bulk->removed + bulk->upserted;
    if (code == PAWL_OK && done != (int64_t)expected)
        return pawl_error_set(run->writer->error, PAWL_EBUSY,
                              "mongodb: %s: %lld documents were written, not %zu",
                              pawl_change_kind_name(run->writer->kind), (long long)done, expected);
    return code == PAWL_OK ? code
                           : pawl_error_wrap(run->writer->error, code, "%s",
                                             pawl_change_kind_name(run->writer->kind));
}

/* ---- Runs ---------------------------------------------------------------- */

typedef struct gather {
    pawl__mongo_writer    *writer;
    const pawl__mongo_way *way;
    const void           **items;
    size_t                 count;
    uint64_t               bits[KEY_BITS / 64];
} gather;

static pawl_code write_run(gather *g)
{
    pawl__mongo_run run = {.writer = g->writer, .items = g->items, .count = g->count};
    if (g->count == 0)
        return PAWL_OK;
    run.is_out = pawl__mongo_scratch(&run, sizeof *run.is_out, g->writer->error);
    g->count   = 0;
    memset(g->bits, 0, sizeof g->bits);
    return run.is_out != NULL ? g->way->apply(&run) : PAWL_ENOMEM;
}

/* A change whose documents may be those of one of the run begins another run. */
static pawl_code add_change(gather *g, const void *change)
{
    uint32_t  keys[3] = {0, 0, 0};
    bool      is_over = g->way->is_alone && g->count > 0;
    pawl_code code    = PAWL_OK;
    if (g->way->keys != NULL)
        g->way->keys(change, keys);
    for (size_t i = 0; i < 3; i++)
        is_over |=
            keys[i] != 0 && (g->bits[keys[i] % KEY_BITS / 64] & UINT64_C(1) << keys[i] % 64) != 0;
    if (is_over)
        code = write_run(g);
    for (size_t i = 0; i < 3; i++)
        if (keys[i] != 0)
            g->bits[keys[i] % KEY_BITS / 64] |= UINT64_C(1) << keys[i] % 64;
    g->items[g->count++] = change;
    return code;
}

static pawl_code apply_kind(pawl__mongo_writer *writer, gather *g, pawl_change_kind kind)
{
    size_t      size  = pawl__kinds[kind].size;
    size_t      count = pawl__change_count(writer->changes, kind);
    const char *item  = pawl__change_items(writer->changes, kind);
    pawl_code   code  = PAWL_OK;
    writer->kind      = kind;
    g->way            = &ways[kind];
    if (count == 0)
        return PAWL_OK;
    g->items = pawl_arena_take(writer->arena, count * sizeof *g->items);
    if (g->items == NULL)
        return pawl__mongo_no_memory(writer->error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++, item += size)
        if (!writer->is_dropped[pawl__change_group(item)])
            code = add_change(g, item);
    return code == PAWL_OK ? write_run(g) : code;
}

/* Once something was refused the round is void: kinds that cannot be refused are left away, and others
 * only look on. */
static pawl_code apply_all(pawl__mongo_writer *writer)
{
    size_t    before = writer->refused->count;
    gather   *g      = pawl_arena_take(writer->arena, sizeof *g);
    pawl_code code   = PAWL_OK;
    if (g == NULL)
        return pawl__mongo_no_memory(writer->error);
    g->writer = writer;
    for (int kind = 0; code == PAWL_OK && kind < pawl_change_kind_count; kind++)
        if (pawl__kinds[kind].is_refusable || writer->refused->count == before)
            code = apply_kind(writer, g, (pawl_change_kind)kind);
    return code;
}

/* ---- Numbers ------------------------------------------------------------- */

static size_t count_numbers(const pawl__mongo_writer *writer)
{
    static const pawl_change_kind numbered[] = {pawl_change_queue_send, pawl_change_outbox_add,
                                                pawl_change_aggregator_add,
                                                pawl_change_event_append, pawl_change_history_add};
    size_t                        count      = 0;
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++)
        count += pawl__change_count(writer->changes, numbered[i]);
    return count;
}

/* ---- Rounds -------------------------------------------------------------- */

/* One transaction. `*is_done` false: groups were refused and it left nothing. */
static pawl_code run_round(pawl__mongo_writer *writer, bool *is_done)
{
    pawl_store      *store  = writer->store;
    pawl__mongo     *self   = pawl__mongo_of(store);
    size_t           before = writer->refused->count;
    int64_t          number = writer->number;
    pawl_arena_point point  = pawl_arena_position(writer->arena);
    self->is_transient = self->is_duplicate = self->is_in_doubt = false;
    pawl_code code = pawl__mongo_transaction_begin(store, writer->error);
    if (code == PAWL_OK)
        code = pawl__mongo_fence(store, writer->changes, writer->error);
    if (code == PAWL_OK)
        code = apply_all(writer);
    *is_done = code == PAWL_OK && writer->refused->count == before;
    if (*is_done)
        code = pawl__mongo_transaction_commit(store, writer->error);
    else
        pawl__mongo_transaction_abort(store);
    if (code != PAWL_OK)
        writer->refused->count = before;
    writer->number_end = writer->number;
    if (code != PAWL_OK || !*is_done)
        writer->number = number;
    pawl__drop_refused(writer->refused, before, writer->is_dropped);
    pawl_arena_rewind(writer->arena, point);
    return code;
}

/* The fence's document tells whether the commit landed; its epoch is raised, so that what is under way
 * never does. */
static pawl_code settle_doubt(pawl__mongo_writer *writer, bool *is_done)
{
    pawl_code code = writer->store->ops->resolve(writer->store, writer->changes->commit_id, is_done,
                                                 writer->error);
    if (code == PAWL_OK && *is_done)
        writer->number = writer->number_end;
    return code == PAWL_OK || code == PAWL_EFENCED ? code : PAWL_EUNKNOWN;
}

/* ---- Parts --------------------------------------------------------------- */

typedef struct part {
    pawl__mongo_writer writer;
    bool              *is_over; /* by group: refused, or of a part before */
    size_t            *weights; /* by group: documents */
    size_t            *sizes;   /* by group: bytes */
    size_t             documents_max;
    uint32_t           first, end; /* groups of this part */
} part;

static size_t size_of(const pawl_changes *changes, pawl_change_kind kind, size_t index)
{
    switch (kind) {
    case pawl_change_queue_send:
        return PAWL_MESSAGE_SIZE(&changes->queue_send.items[index].message);
    case pawl_change_outbox_add:
        return PAWL_MESSAGE_SIZE(&changes->outbox_add.items[index].message);
    case pawl_change_aggregator_add:
        return PAWL_MESSAGE_SIZE(&changes->aggregator_add.items[index].message);
    case pawl_change_dead_set: return PAWL_MESSAGE_SIZE(&changes->dead_set.items[index].message);
    case pawl_change_saga_insert: return changes->saga_insert.items[index].data.size;
    case pawl_change_saga_update: return changes->saga_update.items[index].data.size;
    case pawl_change_event_append:
        return PAWL_MESSAGE_SIZE(&changes->event_append.items[index].event);
    default: return 0;
    }
}

static void weigh(part *p)
{
    const pawl_changes *changes = p->writer.changes;
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        size_t      count = pawl__change_count(changes, (pawl_change_kind)kind);
        const char *item  = pawl__change_items(changes, (pawl_change_kind)kind);
        for (size_t i = 0; i < count; i++, item += pawl__kinds[kind].size) {
            uint32_t group = pawl__change_group(item);
            p->weights[group]++;
            p->sizes[group] += size_of(changes, (pawl_change_kind)kind, i);
        }
    }
}

/* The groups from `first` on that one transaction takes: one at least. */
static void choose_part(part *p)
{
    size_t   documents = 0, size = 0;
    uint32_t group = p->first;
    uint32_t all   = p->writer.changes->group_count;
    for (; group < all; group++) {
        bool is_first = group == p->first;
        if (p->is_over[group])
            continue;
        documents += p->weights[group];
        size += p->sizes[group];
        if (!is_first && (documents > p->documents_max || size > PART_SIZE_MAX))
            break;
    }
    p->end = group;
    for (group = 0; group < all; group++)
        p->writer.is_dropped[group] = p->is_over[group] || group < p->first || group >= p->end;
}

static void close_part(part *p)
{
    pawl__drop_refused(p->writer.refused, 0, p->is_over);
    for (uint32_t group = p->first; group < p->end; group++)
        p->is_over[group] = true;
    p->first = p->end;
}

/* Rounds until the part is in. */
static pawl_code run_part(part *p)
{
    pawl_store *store    = p->writer.store;
    int64_t     begun_ms = pawl__mongo_clock_ms();
    unsigned    tries    = 0;
    bool        is_done  = false;
    pawl_code   code     = PAWL_OK;
    pawl__mongo_of(store)->part++;
    choose_part(p);
    while (code == PAWL_OK && !is_done) {
        code = run_round(&p->writer, &is_done);
        if (code == PAWL_EUNKNOWN && (code = settle_doubt(&p->writer, &is_done)) == PAWL_OK)
            continue;
        if (!pawl__mongo_again(store, code, begun_ms, &tries))
            continue;
        code    = PAWL_OK;
        is_done = false;
        if (tries % ABORTS_BEFORE_SMALLER == 0 && p->documents_max > 1) {
            p->documents_max /= 2;
            pawl__drop_refused(p->writer.refused, 0, p->is_over);
            choose_part(p);
        }
    }
    return code;
}

/* Groups that no transaction took, after one before them is in: they run again. */
static pawl_code refuse_rest(part *p, const pawl_error *failure)
{
    const pawl_changes *changes = p->writer.changes;
    pawl_error          why     = PAWL_ERROR_INIT;
    (void)pawl_error_set(&why, PAWL_ECONFLICT, "put off: the commit before it is in, this one: %s",
                         failure != NULL ? failure->text : "failed");
    pawl__drop_refused(p->writer.refused, 0, p->is_over);
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        size_t      count = pawl__change_count(changes, (pawl_change_kind)kind);
        const char *item  = pawl__change_items(changes, (pawl_change_kind)kind);
        for (size_t i = 0; i < count; i++, item += pawl__kinds[kind].size) {
            uint32_t  group = pawl__change_group(item);
            pawl_code code  = PAWL_OK;
            if (!p->is_over[group])
                code = pawl__refuse(p->writer.refused, (pawl_change_kind)kind, item, &why);
            if (code != PAWL_OK)
                return pawl__mongo_no_memory(p->writer.error);
            p->is_over[group] = true;
        }
    }
    return PAWL_OK;
}

/* A part in doubt, which the caller asks about: those behind it are not in. */
static pawl_code leave_rest(part *p)
{
    pawl_error why = p->writer.error != NULL ? *p->writer.error : (pawl_error)PAWL_ERROR_INIT;
    close_part(p);
    pawl_code code = refuse_rest(p, &why);
    return code == PAWL_OK ? PAWL_EUNKNOWN : code;
}

static pawl_code run_parts(part *p)
{
    bool      is_any = false;
    pawl_code code   = PAWL_OK;
    do {
        code = run_part(p);
        if (code == PAWL_OK)
            close_part(p);
        else if (code == PAWL_EUNKNOWN)
            return leave_rest(p);
        else if (is_any)
            return refuse_rest(p, p->writer.error);
        is_any = true;
    } while (code == PAWL_OK && p->end < p->writer.changes->group_count);
    return code;
}

/* ---- A set --------------------------------------------------------------- */

/* Claims that are given back and nothing else: one write without a transaction. */
static pawl_code release_rows(pawl__mongo_writer *writer)
{
    size_t    before = writer->refused->count;
    gather   *g      = pawl_arena_take(writer->arena, sizeof *g);
    pawl_code code   = PAWL_ENOMEM;
    if (g == NULL)
        return pawl__mongo_no_memory(writer->error);
    g->writer = writer;
    code      = apply_kind(writer, g, pawl_change_queue_settle);
    pawl__drop_refused(writer->refused, before, writer->is_dropped);
    return code;
}

static pawl_code commit(part *p)
{
    pawl__mongo_writer *writer = &p->writer;
    size_t              groups = writer->changes->group_count + 1;
    writer->is_dropped         = pawl_arena_take(writer->arena, groups);
    p->is_over                 = pawl_arena_take(writer->arena, groups);
    p->weights                 = pawl_arena_take(writer->arena, groups * sizeof *p->weights);
    p->sizes                   = pawl_arena_take(writer->arena, groups * sizeof *p->sizes);
    if (writer->is_dropped == NULL || p->is_over == NULL || p->weights == NULL || p->sizes == NULL)
        return pawl__mongo_no_memory(writer->error);
    if (pawl__changes_only_release(writer->changes))
        return release_rows(writer);
    size_t    numbers = count_numbers(writer);
    pawl_code code    = PAWL_OK;
    if (numbers != 0)
        code = pawl__mongo_numbers(writer->store, numbers, &writer->number, writer->error);
    weigh(p);
    return code == PAWL_OK ? run_parts(p) : code;
}

pawl_code pawl__mongo_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    part p                      = {.writer        = {.store   = store,
                                                     .changes = changes,
                                                     .refused = refused,
                                                     .arena   = pawl_arena_create(0),
                                                     .error   = error},
                                   .documents_max = PART_DOCUMENTS_MAX};
    pawl__mongo_of(store)->part = 0;
    pawl_code code = p.writer.arena != NULL ? commit(&p) : pawl__mongo_no_memory(error);
    pawl_arena_destroy(p.writer.arena);
    return code;
}

/* ---- Enlist -------------------------------------------------------------- */

static pawl_code apply_enlisted(pawl__mongo_writer *writer)
{
    size_t numbers     = count_numbers(writer);
    writer->is_dropped = pawl_arena_take(writer->arena, writer->changes->group_count + 1);
    if (writer->is_dropped == NULL)
        return pawl__mongo_no_memory(writer->error);
    pawl_code code = PAWL_OK;
    if (numbers != 0)
        code = pawl__mongo_numbers(writer->store, numbers, &writer->number, writer->error);
    if (code == PAWL_OK)
        code = apply_all(writer);
    if (code != PAWL_OK || writer->refused->count == 0)
        return code;
    return pawl__refusal_error(&writer->refused->items[0], writer->error);
}

/* In the transaction of the caller's session, which the caller has to abort after a failure. */
pawl_code pawl__mongo_enlist(pawl_store *store, void *native, const pawl_changes *changes,
                             pawl_error *error)
{
    pawl__mongo             *self    = pawl__mongo_of(store);
    mongoc_client_session_t *session = native;
    pawl_refusals            refused = {.arena = pawl_arena_create(0)};
    pawl__mongo_writer       writer  = {.store       = store,
                                        .is_enlisted = true,
                                        .changes     = changes,
                                        .refused     = &refused,
                                        .arena       = refused.arena,
                                        .error       = error};
    if (refused.arena == NULL)
        return pawl__mongo_no_memory(error);
    pawl_code code = PAWL_OK;
    if (!mongoc_client_session_in_transaction(session))
        code = pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the session has no open transaction: start one first");
    self->at_client  = mongoc_client_session_get_client(session);
    self->at_session = session;
    if (code == PAWL_OK)
        code = apply_enlisted(&writer);
    self->at_client  = self->client;
    self->at_session = NULL;
    pawl_arena_destroy(refused.arena);
    return code;
}
