/* set.c - sends the changes of a kind as sets: see set.h.
 *
 * Changes with the same key are sent in separate waves; changes of a wave with the same write are one statement. The
 * write that follows applied changes is sent for all: if one was not applied, its group is refused, or it follows, too.
 *
 * An insert that returns keys tells which rows it inserted. If it does not, and an existing row is a refusal, a round
 * that is not guarded sends the rows one by one.
 *
 * override.c has the statements that PostgreSQL sends in another way, each with its reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/set.h"

#include "store/core/kinds.h"

#include <string.h>

static const int sets[PAWL__SQL_ROW_STATEMENT_END] = {
#define SET_OF(name, end) [PAWL__SQL_##name] = PAWL__PG_##name,
    PAWL__PG_SETS(SET_OF)
#undef SET_OF
};

static pawl__field_list fields_of(const pawl__sql_write *write)
{
    bool is_upsert = pawl__pg_override_of(write)->is_upsert;
    return is_upsert ? write->then[PAWL__SQL_MISSED].next->parameters : write->parameters;
}

/* ---- Answers -------------------------------------------------------------- */

/* The reason for which an item that was not applied is refused; NULL: it is not refused. */
static pawl__why_fn *why_of(const pawl__sql_write *write, bool is_taken)
{
    const pawl__pg_override *own       = pawl__pg_override_of(write);
    pawl__why_fn            *duplicate = write->then[PAWL__SQL_DUPLICATE].why;
    pawl__why_fn            *missed    = write->then[PAWL__SQL_MISSED].why;
    if (is_taken || (own->key[0] != 0 && own->taken.statement == 0))
        return duplicate;
    return missed != NULL ? missed : write->then[PAWL__SQL_NULL].why;
}

/* The write (or read) that is sent for items that were not applied, if it can refuse them; else NULL. */
static const pawl__sql_write *retried_of(const pawl__sql_write *write)
{
    const pawl__sql_write *next      = write->then[PAWL__SQL_MISSED].next;
    bool                   is_upsert = pawl__pg_override_of(write)->is_upsert;
    return next != NULL && why_of(next, false) != NULL && !is_upsert ? next : NULL;
}

static bool is_key(pawl__pg_request *request, const pawl__field *field, const void *item)
{
    const void *member = (const char *)item + field->offset;
    if (field->wire == PAWL__WIRE_TEXT)
        return pawl_text_equal(pawl__pg_peek_text(request), *(const pawl_text *)member);
    if (field->wire == PAWL__WIRE_INT)
        return pawl__pg_get_int(request) == *(const int64_t *)member;
    return pawl_uuid_compare(pawl__pg_get_uuid(request), *(const pawl_uuid *)member) == 0;
}

static bool is_row_of(pawl__pg_write *write, const unsigned *key, const void *item)
{
    const pawl__field *fields = fields_of(write->of).items;
    bool               is_it  = true;
    write->request.column     = 0;
    for (size_t i = 0; is_it && i < PAWL__PG_KEY_MAX && key[i] != 0; i++)
        is_it = is_key(&write->request, &fields[key[i] - 1], item);
    return is_it;
}

/* An insert returns the keys of its rows in the order of the items. */
static bool *find_inserted(pawl__sql_writer *writer, pawl__pg_write *write, const unsigned *key)
{
    bool *is_applied = pawl_arena_take(pawl__pg_scratch(writer), write->count + 1);
    bool  has_row    = pawl__pg_next(&write->request);
    if (is_applied == NULL)
        (void)pawl__pg_no_memory(writer->error);
    for (size_t i = 0; is_applied != NULL && has_row && i < write->count; i++) {
        is_applied[i] = is_row_of(write, key, write->items[i]);
        if (is_applied[i])
            has_row = pawl__pg_next(&write->request);
    }
    return is_applied;
}

/* is_taken[i]: a row with the key of item i exists. NULL on failure, with `*code` set. */
static bool *find_taken(pawl__sql_writer *writer, const pawl__pg_write *write, const void **items,
                        size_t count, pawl_code *code)
{
    const pawl__pg_override *own      = pawl__pg_override_of(write->of);
    pawl__pg_write           asked    = {.kind = write->kind, .items = items, .count = count};
    bool                    *is_taken = NULL;
    pawl__pg_write_begin(&asked, writer, own->taken.statement);
    pawl__pg_write_fields(&asked, own->taken.fields->items, own->taken.fields->count);
    *code = pawl__pg_run(&asked.request);
    if (*code == PAWL_OK) {
        is_taken = pawl__pg_applied(writer, &asked);
        *code    = is_taken == NULL ? PAWL_ENOMEM : asked.request.code;
    }
    pawl__pg_end(&asked.request);
    return *code == PAWL_OK ? is_taken : NULL;
}

static int by_place(const void *left, const void *right)
{
    return (left > right) - (left < right);
}

/* A change of many rows is refused once, for its first missing row: is the row before of the same change? */
static bool is_refused(const pawl__pg_write *write, const void *item, const void *before)
{
    const pawl__sql_removed_row *row = item, *last = before;
    return write->kind == pawl_change_leased_batch_remove && row->removal == last->removal;
}

static pawl_code refuse(pawl__sql_writer *writer, const pawl__pg_write *write, const void **missed,
                        size_t count)
{
    pawl_code code     = PAWL_OK;
    bool     *is_taken = NULL;
    pawl__sort_changes(missed, count, by_place);
    if (pawl__pg_override_of(write->of)->taken.statement != 0)
        is_taken = find_taken(writer, write, missed, count, &code);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (i == 0 || !is_refused(write, missed[i], missed[i - 1]))
            code = pawl__sql_refuse(writer, write->kind, missed[i],
                                    why_of(write->of, is_taken != NULL && is_taken[i]));
    return code;
}

static pawl_code send_writes(pawl__sql_writer *writer, pawl_change_kind kind,
                             const pawl__sql_write *write, const void **items, size_t count);

static pawl_code retry(pawl__sql_writer *writer, const pawl__pg_write *write, const void **missed,
                       size_t count)
{
    pawl_code code   = send_writes(writer, write->kind, retried_of(write->of), missed, count);
    pawl_code answer = pawl__pg_await(pawl__pg_connection_of(writer), writer->error);
    return code != PAWL_OK ? code : answer;
}

static pawl_code check(pawl__sql_writer *writer, pawl__pg_write *write)
{
    const pawl__pg_override *own   = pawl__pg_override_of(write->of);
    int64_t                  found = pawl__pg_rows(&write->request);
    size_t                   count = 0;
    if (found == (int64_t)write->count || (own->is_single && found != 0))
        return PAWL_OK;
    bool *is_applied =
        own->key[0] != 0 ? find_inserted(writer, write, own->key) : pawl__pg_applied(writer, write);
    const void **missed =
        pawl_arena_take(pawl__pg_scratch(writer), (write->count + 1) * sizeof *missed);
    if (is_applied == NULL || missed == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < write->count; i++)
        if (!is_applied[i])
            missed[count++] = write->items[i];
    pawl__pg_end(&write->request);
    if (write->request.code != PAWL_OK)
        return write->request.code;
    return retried_of(write->of) != NULL ? retry(writer, write, missed, count)
                                         : refuse(writer, write, missed, count);
}

/* ---- Sending -------------------------------------------------------------- */

/* Items that are sent with one write. */
typedef struct sending {
    pawl__sql_writer      *writer;
    pawl_change_kind       kind;
    const pawl__sql_write *write;
    const void           **items;
    size_t                 count;
} sending;

static pawl_code send_statement(const sending *s, int statement, pawl__pg_check_fn *checked,
                                size_t field_count)
{
    const pawl__pg_override *own = pawl__pg_override_of(s->write);
    pawl__pg_write          *write =
        pawl__pg_write_add(s->writer, statement, s->kind, s->items, s->count, checked);
    if (write == NULL)
        return PAWL_ENOMEM;
    write->of           = s->write;
    write->is_unguarded = own->is_single;
    if (own->is_claimed)
        pawl__pg_put_claimed(write);
    pawl__pg_write_fields(write, fields_of(s->write).items, field_count);
    return pawl__pg_write_send(write);
}

static bool has_owner(const sending *s, unsigned parameter)
{
    if (parameter == 0)
        return false;
    const pawl__field *field = &s->write->parameters.items[parameter - 1];
    return field->wire != PAWL__WIRE_NULL &&
           !pawl_uuid_is_zero(
               *(const pawl_uuid *)(const void *)((const char *)s->items[0] + field->offset));
}

static pawl_code send_some(const sending *s)
{
    const pawl__pg_override *own = pawl__pg_override_of(s->write);
    int                      set = own->statement != 0 ? own->statement : sets[s->write->statement];
    bool                     is_sure = own->sure != 0 && s->writer->is_ahead;
    bool      is_checked = why_of(s->write, false) != NULL || retried_of(s->write) != NULL;
    pawl_code code       = PAWL_OK;
    for (int i = 0; code == PAWL_OK && i < PAWL__PG_BEFORE_MAX; i++)
        if (own->before[i].statement != 0 && !has_owner(s, own->owner))
            code = send_statement(s, own->before[i].statement, NULL, own->before[i].fields);
    if (code != PAWL_OK)
        return code;
    return send_statement(s, is_sure ? own->sure : set, is_checked && !is_sure ? check : NULL,
                          fields_of(s->write).count);
}

/* Must each item have its own statement? An insert that returns no keys does not tell which rows existed. */
static bool goes_alone(const sending *s)
{
    const pawl__pg_override *own = pawl__pg_override_of(s->write);
    if (own->is_single || s->writer->is_ahead || own->statement != 0 || own->key[0] != 0)
        return own->is_single;
    return pawl__pg_set_inserts(sets[s->write->statement]) && why_of(s->write, false) != NULL;
}

static const pawl__sql_write *next_of(const pawl__sql_write *write)
{
    bool is_always = pawl__pg_override_of(write)->is_always;
    return write->then[is_always ? PAWL__SQL_MISSED : PAWL__SQL_APPLIED].next;
}

/* Sends the write for the items, then the writes that follow it. */
static pawl_code send_writes(pawl__sql_writer *writer, pawl_change_kind kind,
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
    const pawl__sql_kind_rule *rule = &pawl__sql_kind_rules[kind];
    if (kind == pawl_change_leased_batch_remove)
        return pawl__sql_remove_row(item);
    return rule->choose != NULL ? rule->choose(item) : rule->write;
}

/* The write with the lowest statement number: every commit sends writes in the same order. */
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

static bool is_of_table(const pawl__sql_write *write, const void *item, const void *first)
{
    return !write->is_saga || pawl__saga_table_of(item) == pawl__saga_table_of(first) ||
           pawl__compare_by_table(item, first) == 0;
}

/* Sends changes with different keys, one statement for each write. */
static pawl_code send_wave(pawl__sql_writer *writer, pawl_change_kind kind, const void **items,
                           size_t count)
{
    pawl_code code = PAWL_OK;
    while (code == PAWL_OK && count != 0) {
        const pawl__sql_write *write = first_write(kind, items, count);
        const void **alike = pawl_arena_take(pawl__pg_scratch(writer), count * sizeof *alike);
        size_t       taken = 0, left = 0;
        if (alike == NULL)
            return pawl__pg_no_memory(writer->error);
        for (size_t i = 0; i < count; i++) {
            if (write_of(kind, items[i]) == write &&
                (taken == 0 || is_of_table(write, items[i], alike[0])))
                alike[taken++] = items[i];
            else
                items[left++] = items[i];
        }
        code  = send_writes(writer, kind, write, alike, taken);
        count = left;
    }
    return code;
}

/* May the item concern a row of an earlier item of the run? */
static bool is_met(pawl__keys *seen, pawl__sql_keys_fn *keys_of, const void *item, bool is_first)
{
    uint32_t found[2] = {0, 0};
    if (keys_of == NULL)
        return false;
    keys_of(item, found);
    return pawl__keys_add(seen, found, 2, is_first);
}

/* Sends runs of neighbours with the same write, in the order of the change set. */
static pawl_code send_runs(pawl__sql_writer *writer, pawl_change_kind kind, const void **items,
                           size_t count)
{
    pawl__keys         seen;
    pawl_code          code    = PAWL_OK;
    pawl__sql_keys_fn *keys_of = pawl__sql_kind_rules[kind].keys;
    const void       **room = pawl_arena_take(pawl__pg_scratch(writer), (count + 1) * sizeof *room);
    if (room == NULL)
        return pawl__pg_no_memory(writer->error);
    if (keys_of != NULL && !pawl__pg_has_twins(items, count, room))
        keys_of = NULL;
    for (size_t i = 0, end = 0; code == PAWL_OK && i < count; i = end) {
        const pawl__sql_write *write = write_of(kind, items[i]);
        pawl__compare_fn      *order = pawl__pg_override_of(write)->order;
        for (end = i; end < count && write_of(kind, items[end]) == write; end++)
            if (is_met(&seen, keys_of, items[end], end == i))
                break;
        if (order != NULL)
            pawl__sort_changes(items + i, end - i, order);
        code = send_writes(writer, kind, write, items + i, end - i);
    }
    return code;
}

pawl_code pawl__pg_send_items(pawl__sql_writer *writer, pawl_change_kind kind, const void **items,
                              size_t count)
{
    pawl__compare_fn *by_key = pawl__pg_keys[kind];
    pawl_code         code   = PAWL_OK;
    if (by_key == NULL)
        return send_runs(writer, kind, items, count);
    pawl__sort_changes(items, count, by_key);
    while (code == PAWL_OK && count != 0) {
        const void **wave = pawl_arena_take(pawl__pg_scratch(writer), count * sizeof *wave);
        if (wave == NULL)
            return pawl__pg_no_memory(writer->error);
        size_t left = pawl__take_firsts(items, count, wave, by_key);
        code        = send_wave(writer, kind, wave, count - left);
        count       = left;
    }
    return code;
}

pawl_code pawl__pg_send_sets(pawl__sql_writer *writer, pawl_change_kind kind)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, kind, &count);
    return items != NULL ? pawl__pg_send_items(writer, kind, items, count) : PAWL_ENOMEM;
}
