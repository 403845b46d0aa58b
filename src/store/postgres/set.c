/* set.c - sending the changes of a kind as sets: see set.h.
 *
 * Changes of one key go in waves, and those of a wave that have one write are one statement. The write behind a
 * change that was applied is sent for all of them: where one was not, its group is refused, or the same follows.
 *
 * An insert does not say which of its rows were there already. Where one that was is a refusal, a round that is not
 * guarded sends them one by one.
 *
 * The overrides are the statements that PostgreSQL sends in another way, each with its reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/set.h"

#include "store/core/keys.h"
#include "store/sql/write.h"

#include <string.h>

/* ---- Keys ----------------------------------------------------------------- */

/* One order of keys: of two commits with the same keys one waits for the other, and there is no deadlock. */

static int by_letter(const void *left, const void *right)
{
    const pawl_dead_set *a = left, *b = right;
    int                  order = pawl_text_compare(a->endpoint, b->endpoint);
    return order != 0 ? order : pawl_text_compare(a->message.id, b->message.id);
}

static int by_subscription(const void *left, const void *right)
{
    const pawl_subscription_set *a = left, *b = right;
    int                          order = pawl_text_compare(a->type, b->type);
    return order != 0 ? order : pawl_text_compare(a->queue, b->queue);
}

static int by_checkpoint(const void *left, const void *right)
{
    const pawl_checkpoint_set *a = left, *b = right;
    return pawl_text_compare(a->name, b->name);
}

static int by_stream(const void *left, const void *right)
{
    const pawl_stream_snapshot_set *a = left, *b = right;
    return pawl_text_compare(a->stream, b->stream);
}

static int by_settle(const void *left, const void *right)
{
    const pawl_timeout_settle *a = left, *b = right;
    return pawl_uuid_compare(a->id.uuid, b->id.uuid);
}

static int by_cancel(const void *left, const void *right)
{
    const pawl_timeout_cancel *a = left, *b = right;
    int                        order = pawl_uuid_compare(a->saga_id.uuid, b->saga_id.uuid);
    return order != 0 ? order : pawl_text_compare(a->name, b->name);
}

/* The order of timeouts that are set, by id. */
static int by_id(const void *left, const void *right)
{
    const pawl_timeout_set *a = left, *b = right;
    return pawl_uuid_compare(a->id.uuid, b->id.uuid);
}

/* By saga and name; those without a name by id. */
static int by_name(const void *left, const void *right)
{
    const pawl_timeout_set *a = left, *b = right;
    int                     order = pawl_uuid_compare(a->saga_id.uuid, b->saga_id.uuid);
    if (order == 0)
        order = pawl_text_compare(a->name, b->name);
    return order != 0 || a->name.size != 0 ? order : by_id(left, right);
}

static int by_flush(const void *left, const void *right)
{
    const pawl_flush_set *a = left, *b = right;
    return pawl_text_compare(a->partition, b->partition);
}

/* NULL: in the order of the change set. */
static pawl__compare_fn *const keys[pawl_change_kind_count] = {
    [pawl_change_checkpoint_set]      = by_checkpoint,
    [pawl_change_timeout_settle]      = by_settle,
    [pawl_change_timeout_cancel]      = by_cancel,
    [pawl_change_stream_snapshot_set] = by_stream,
    [pawl_change_flush_set]           = by_flush,
    [pawl_change_dead_set]            = by_letter,
    [pawl_change_subscription_set]    = by_subscription,
};

/* ---- Writes --------------------------------------------------------------- */

static const int sets[PAWL__SQL_ROW_STATEMENT_END] = {
#define SET_OF(name) [PAWL__SQL_##name] = PAWL__PG_##name,
    PAWL__PG_SETS(SET_OF)
#undef SET_OF
};

#define BEFORE_MAX 3

typedef struct override {
    int statement; /* instead of the set; 0: the set */
    struct {
        int    statement; /* 0: none */
        size_t fields;    /* its parameters, the first ones */
    } before[BEFORE_MAX];
    pawl__compare_fn  *order; /* of the items of a run; NULL: of the change set */
    pawl__pg_check_fn *check; /* of an answer that says which items were applied */
    bool is_leased;           /* nothing is before it where it has an owner, its second parameter */
    bool is_single;           /* one item at a time */
    bool is_always; /* the write behind a miss is sent for all, and finds no row that was applied */
    bool is_upsert; /* does what the write behind a miss does, with its parameters */
} override;

static pawl__pg_check_fn check_armed;

static const override overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    /* Timeouts are found in a subquery of the item, and deleted or changed by their ctids: a server that knows an
     * empty table takes another index, or a walk through a partial one, for as good. Where another transaction may
     * change a row at this moment it is locked first. */
    [PAWL__SQL_TIMEOUT_DELETE]  = {.statement = PAWL__PG_TIMEOUT_DELETE,
                                   .before    = {{PAWL__PG_TIMEOUT_LOCK_ID, 1}},
                                   .is_leased = true},
    [PAWL__SQL_TIMEOUT_RELEASE] = {.statement = PAWL__PG_TIMEOUT_RELEASE,
                                   .before    = {{PAWL__PG_TIMEOUT_LOCK_ID, 1}},
                                   .is_leased = true},
    [PAWL__SQL_TIMEOUT_RETRY]   = {.statement = PAWL__PG_TIMEOUT_RETRY,
                                   .before    = {{PAWL__PG_TIMEOUT_LOCK_ID, 1}},
                                   .is_leased = true},
    [PAWL__SQL_TIMEOUT_CANCEL]  = {.statement = PAWL__PG_TIMEOUT_CANCEL,
                                   .before    = {{PAWL__PG_TIMEOUT_LOCK, 2}}},
    /* Two partial indexes have the timeouts of a saga, one those with a name and one those without. */
    [PAWL__SQL_TIMEOUT_CANCEL_ALL] = {.statement = PAWL__PG_TIMEOUT_CANCEL_OWN,
                                      .before    = {{PAWL__PG_TIMEOUT_LOCK_NAMED, 1},
                                                    {PAWL__PG_TIMEOUT_CANCEL_NAMED, 1},
                                                    {PAWL__PG_TIMEOUT_LOCK_OWN, 1}}},
    /* Set anew, or inserted. They say which they were: where timeouts are set anew most rounds are not guarded. */
    [PAWL__SQL_TIMEOUT_REARM_SAGA] = {.statement = PAWL__PG_TIMEOUT_REARM_SAGA,
                                      .order     = by_name,
                                      .check     = check_armed,
                                      .is_upsert = true},
    [PAWL__SQL_TIMEOUT_REARM]      = {.statement = PAWL__PG_TIMEOUT_REARM,
                                      .order     = by_id,
                                      .is_upsert = true},
    [PAWL__SQL_TIMEOUT_INSERT]     = {.statement = PAWL__PG_TIMEOUT_INSERT,
                                      .order     = by_id,
                                      .check     = check_armed},
    /* A flush row that stays is locked against a flush that found its partition empty and is about to delete it, and
     * a flush looks for deliveries once it has the lock: of two transactions the first is over then, and its
     * deliveries are seen. */
    [PAWL__SQL_FLUSH_ADD]  = {.statement = PAWL__PG_FLUSH_ADD},
    [PAWL__SQL_FLUSH_DONE] = {.before = {{PAWL__PG_FLUSH_LOCK, 1}}, .is_always = true},
    /* Each takes the oldest row that is left by those before it, or any number of rows. */
    [PAWL__SQL_AGGREGATOR_DELETE_OLDEST] = {.statement = PAWL__PG_AGGREGATOR_DELETE_OLDEST,
                                            .before    = {{PAWL__PG_AGGREGATOR_LOCK_OLDEST, 2}},
                                            .is_single = true},
    [PAWL__SQL_AGGREGATOR_DELETE_ALL]    = {.is_single = true},
};

static pawl_code check(pawl__pg_writer *writer, pawl__pg_write *write)
{
    return pawl__pg_check_numbers(writer, write, write->why);
}

static pawl_code check_any(pawl__pg_writer *writer, pawl__pg_write *write)
{
    return pawl__pg_rows(&write->request) != 0 ? PAWL_OK : check(writer, write);
}

/* Whether the answer's row, which has the id, the saga and the name, is this item's. */
static bool is_row_of(pawl__pg_request *request, const pawl_timeout_set *set)
{
    request->column     = 0;
    pawl_timeout_set is = {.id.uuid = pawl__pg_get_uuid(request)};
    is.saga_id.uuid     = pawl__pg_get_uuid(request);
    is.name             = pawl__pg_peek_text(request);
    return (set->is_new ? by_id(&is, set) : by_name(&is, set)) == 0;
}

/* INSERT returns the rows in the order of the items; items without a row are refused. */
static pawl_code check_armed(pawl__pg_writer *writer, pawl__pg_write *write)
{
    pawl__pg_request *request = &write->request;
    pawl_code         code    = PAWL_OK;
    if (pawl__pg_rows(request) == (int64_t)write->count)
        return PAWL_OK;
    bool has_row = pawl__pg_next(request);
    for (size_t i = 0; code == PAWL_OK && i < write->count; i++) {
        if (has_row && is_row_of(request, write->items[i]))
            has_row = pawl__pg_next(request);
        else
            code = pawl__pg_refuse_for(writer, write->kind, write->items[i], write->why);
    }
    return code != PAWL_OK ? code : request->code;
}

/* Some items on their way with one write. */
typedef struct sending {
    pawl__pg_writer       *writer;
    pawl_change_kind       kind;
    const pawl__sql_write *write;
    const void           **items;
    size_t                 count;
} sending;

/* The refusal of an item that is not applied; NULL: that is none. */
static pawl__why_fn *why_of(const pawl__sql_write *write)
{
    pawl__why_fn *missed = write->then[PAWL__SQL_MISSED].why;
    bool          is_own = overrides[write->statement].check != NULL;
    return is_own ? write->then[PAWL__SQL_DUPLICATE].why : missed;
}

static pawl_code send_statement(const sending *s, int statement, pawl__pg_check_fn *checked,
                                const pawl__field *fields, size_t field_count)
{
    pawl__pg_write *write =
        pawl__pg_write_add(s->writer, statement, s->kind, s->items, s->count, checked);
    if (write == NULL)
        return PAWL_ENOMEM;
    write->why          = why_of(s->write);
    write->is_unguarded = checked == check_any;
    pawl__pg_write_fields(write, fields, field_count);
    return pawl__pg_write_send(write);
}

static pawl__pg_check_fn *check_of(const pawl__sql_write *write)
{
    const override *own = &overrides[write->statement];
    if (own->check != NULL || why_of(write) == NULL)
        return own->check;
    return own->is_single ? check_any : check;
}

static pawl_code send_some(const sending *s)
{
    const override       *own    = &overrides[s->write->statement];
    const pawl__sql_then *missed = &s->write->then[PAWL__SQL_MISSED];
    pawl__field_list      fields = own->is_upsert ? missed->next->parameters : s->write->parameters;
    int                   set    = own->statement != 0 ? own->statement : sets[s->write->statement];
    bool                  is_had = own->is_leased && fields.items[1].wire != PAWL__WIRE_NULL;
    pawl_code             code   = PAWL_OK;
    for (int i = 0; code == PAWL_OK && !is_had && i < BEFORE_MAX; i++)
        if (own->before[i].statement != 0)
            code = send_statement(s, own->before[i].statement, NULL, fields.items,
                                  own->before[i].fields);
    return code == PAWL_OK ? send_statement(s, set, check_of(s->write), fields.items, fields.count)
                           : code;
}

static bool is_insert(const pawl__sql_write *write)
{
    return sets[write->statement] != 0 && pawl__pg_set_row(sets[write->statement])[0] == 'i';
}

static bool goes_alone(const sending *s)
{
    bool is_told = why_of(s->write) == NULL || !is_insert(s->write);
    return overrides[s->write->statement].is_single || (!s->writer->is_guarded && !is_told);
}

static const pawl__sql_write *next_of(const pawl__sql_write *write)
{
    bool is_always = overrides[write->statement].is_always;
    return write->then[is_always ? PAWL__SQL_MISSED : PAWL__SQL_APPLIED].next;
}

/* The write of the items, and those that follow. */
static pawl_code send_writes(pawl__pg_writer *writer, pawl_change_kind kind,
                             const pawl__sql_write *write, const void **items, size_t count)
{
    pawl_code code = PAWL_OK;
    for (; code == PAWL_OK && write != NULL; write = next_of(write)) {
        sending s    = {writer, kind, write, items, count};
        size_t  some = goes_alone(&s) ? 1 : count;
        s.count      = some;
        for (; code == PAWL_OK && s.items < items + count; s.items += some)
            code = send_some(&s);
    }
    return code;
}

/* ---- A kind --------------------------------------------------------------- */

static const pawl__sql_write *write_of(pawl_change_kind kind, const void *item)
{
    const pawl__sql_way *way = &pawl__sql_ways[kind];
    return way->choose != NULL ? way->choose(item) : way->write;
}

/* The write whose statement is the first one: the same order in every commit. */
static const pawl__sql_write *first_write(pawl_change_kind kind, const void **items, size_t count)
{
    const pawl__sql_write *first = write_of(kind, items[0]);
    for (size_t i = 1; i < count; i++) {
        const pawl__sql_write *other = write_of(kind, items[i]);
        if (other->statement < first->statement)
            first = other;
    }
    return first;
}

/* Changes of different keys, with one statement for each of their writes. */
static pawl_code send_wave(pawl__pg_writer *writer, pawl_change_kind kind, const void **items,
                           size_t count)
{
    pawl_code code = PAWL_OK;
    while (code == PAWL_OK && count != 0) {
        const pawl__sql_write *write = first_write(kind, items, count);
        const void           **alike = pawl_arena_take(writer->arena, count * sizeof *alike);
        size_t                 taken = 0, left = 0;
        if (alike == NULL)
            return pawl__pg_no_memory(writer->error);
        for (size_t i = 0; i < count; i++) {
            if (write_of(kind, items[i]) == write)
                alike[taken++] = items[i];
            else
                items[left++] = items[i];
        }
        code  = send_writes(writer, kind, write, alike, taken);
        count = left;
    }
    return code;
}

/* Whether two items have one key. */
static bool has_twice(pawl__pg_writer *writer, const void **items, size_t count,
                      pawl__compare_fn *by)
{
    bool         is_twice = false;
    const void **sorted   = pawl_arena_take(writer->arena, (count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return true;
    memcpy(sorted, items, count * sizeof *sorted);
    pawl__sort_changes(sorted, count, by);
    for (size_t i = 1; !is_twice && i < count; i++)
        is_twice = by(sorted[i - 1], sorted[i]) == 0;
    return is_twice;
}

/* Whether the item may be about a row of those before it in the run. */
static bool is_met(pawl__keys *seen, pawl__sql_keys_fn *keys_of, const void *item, bool is_first)
{
    uint32_t found[2] = {0, 0};
    if (keys_of == NULL)
        return false;
    keys_of(item, found);
    return pawl__keys_add(seen, found, 2, is_first);
}

/* In the order of the change set. */
static pawl_code send_runs(pawl__pg_writer *writer, pawl_change_kind kind)
{
    size_t             count;
    pawl__keys         seen;
    pawl_code          code    = PAWL_OK;
    pawl__sql_keys_fn *keys_of = pawl__sql_ways[kind].keys;
    const void       **items   = pawl__pg_select(writer, kind, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    if (keys_of != NULL && !has_twice(writer, items, count, by_id) &&
        !has_twice(writer, items, count, by_name))
        keys_of = NULL;
    for (size_t i = 0, end = 0; code == PAWL_OK && i < count; i = end) {
        const pawl__sql_write *write = write_of(kind, items[i]);
        for (end = i; end < count && write_of(kind, items[end]) == write; end++)
            if (is_met(&seen, keys_of, items[end], end == i))
                break;
        if (overrides[write->statement].order != NULL)
            pawl__sort_changes(items + i, end - i, overrides[write->statement].order);
        code = send_writes(writer, kind, write, items + i, end - i);
    }
    return code;
}

pawl_code pawl__pg_send_sets(pawl__pg_writer *writer, pawl_change_kind kind)
{
    return keys[kind] != NULL ? pawl__pg_send_waves(writer, kind, keys[kind], send_wave)
                              : send_runs(writer, kind);
}
