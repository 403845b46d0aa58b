/* table.c - rows, packs, indexes, claims, and the undo log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/table.h"

#include <assert.h>
#include <string.h>

#define UNDO_LOG_KEPT_MAX 16384 /* entries that stay allocated between commits */

/* ---- Packs -------------------------------------------------------------- */

static pawl_text *text_at(const void *row, size_t offset)
{
    return (pawl_text *)(void *)((char *)(uintptr_t)row + offset);
}

static bool is_same(pawl_text left, pawl_text right)
{
    return left.data == right.data && left.size == right.size;
}

/* Sets the pack of these texts: the old one if it has exactly these texts, else a new one. */
static bool take_pack(memory_pack **pack, const size_t *offsets, void *row, const void *old,
                      memory_pack *old_pack)
{
    size_t size     = 0;
    bool   is_other = old == NULL;
    for (const size_t *at = offsets; *at != 0; at++) {
        size += text_at(row, *at)->size;
        is_other = is_other || !is_same(*text_at(row, *at), *text_at(old, *at));
    }
    *pack = old_pack;
    if (!is_other && old_pack != NULL)
        old_pack->users++;
    if (!is_other)
        return true;
    *pack = offsets[0] != 0 ? pawl_resize(NULL, sizeof **pack + size) : NULL;
    if (*pack == NULL)
        return offsets[0] == 0;
    (*pack)->users = 1;
    char *end      = (*pack)->data;
    for (const size_t *at = offsets; *at != 0; at++) {
        pawl_text *text = text_at(row, *at);
        if (text->size != 0)
            memcpy(end, text->data, text->size);
        text->data = end;
        end += text->size;
    }
    return true;
}

static void drop_pack(memory_pack *pack)
{
    if (pack != NULL && --pack->users == 0)
        pawl_free(pack);
}

/* ---- Rows --------------------------------------------------------------- */

static void free_row(void *row)
{
    memory_row *freed = row;
    if (freed == NULL)
        return;
    drop_pack(freed->fixed);
    drop_pack(freed->loose);
    pawl_free(freed);
}

/* Makes a row like the model, not in any index yet; shares packs of `old` where possible. NULL: out of memory. */
static void *make_row(const memory_table *table, const memory_row *old, const void *model)
{
    const memory_table_kind *kind = table->kind;
    memory_row              *row  = pawl_resize(NULL, kind->row_size);
    if (row == NULL)
        return NULL;
    memcpy(row, model, kind->row_size);
    row->loose = NULL;
    if (!take_pack(&row->fixed, table->fixed, row, old, old != NULL ? old->fixed : NULL) ||
        !take_pack(&row->loose, kind->loose, row, old, old != NULL ? old->loose : NULL)) {
        free_row(row);
        return NULL;
    }
    if (kind->packed != NULL)
        kind->packed(row);
    return row;
}

/* Texts outside of the part are left out. */
static bool show_texts(const size_t *offsets, const memory_part *part, pawl_arena *arena, void *out)
{
    for (; *offsets != 0; offsets++) {
        if (*offsets < part->offset || *offsets >= part->offset + part->size)
            continue;
        pawl_text *text = text_at(out, *offsets - part->offset);
        *text           = pawl_arena_text(arena, *text);
        if (text->data == NULL)
            return false;
    }
    return true;
}

bool pawl__row_show(const memory_table *table, const void *row, const memory_part *part,
                    pawl_arena *arena, void *out)
{
    memcpy(out, (const char *)row + part->offset, part->size);
    return show_texts(table->fixed, part, arena, out) &&
           show_texts(table->kind->loose, part, arena, out);
}

/* ---- Tables ------------------------------------------------------------- */

/* Adds the offset to the texts of the fixed pack, unless it is that of a loose one. */
static size_t add_fixed(memory_table *table, size_t count, size_t offset)
{
    for (const size_t *loose = table->kind->loose; *loose != 0; loose++)
        if (*loose == offset)
            return count;
    assert(count < MEMORY_TEXTS_MAX);
    table->fixed[count] = offset;
    return count + 1;
}

void pawl__table_init(memory_table *table, const memory_table_kind *kind)
{
    *table       = (memory_table){.kind = kind};
    size_t count = 0;
    for (const size_t *text = kind->texts; *text != 0; text++)
        count = add_fixed(table, count, *text);
    for (size_t i = 0; kind->fields != NULL && i < kind->fields->count; i++) {
        const pawl__field *field = &kind->fields->items[i];
        if (field->wire == PAWL__WIRE_TEXT || field->wire == PAWL__WIRE_BYTES)
            count = add_fixed(table, count, kind->shown.offset + field->offset);
    }
    for (size_t i = 0; i < kind->index_count; i++)
        table->trees[i] = (memory_tree){
            .compare     = kind->indexes[i].compare,
            .group       = kind->indexes[i].group,
            .node_offset = sizeof(memory_row) + i * sizeof(memory_node),
        };
}

static bool is_in(const memory_table *table, size_t index, const void *row)
{
    const memory_index *rule = &table->kind->indexes[index];
    return rule->has == NULL || rule->has(row);
}

static void link_row(memory_table *table, void *row)
{
    for (size_t i = 0; i < table->kind->index_count; i++)
        if (is_in(table, i, row))
            pawl__tree_insert(&table->trees[i], row);
}

static void unlink_row(memory_table *table, void *row)
{
    for (size_t i = 0; i < table->kind->index_count; i++)
        if (is_in(table, i, row))
            pawl__tree_remove(&table->trees[i], row);
}

void *pawl__table_add(memory_table *table, const void *model)
{
    void *row = make_row(table, NULL, model);
    if (row != NULL)
        link_row(table, row);
    return row;
}

void pawl__table_drop(memory_table *table, void *row)
{
    unlink_row(table, row);
    free_row(row);
}

void pawl__table_clear(memory_table *table)
{
    /* The first index of every table has every row. */
    void *row;
    while ((row = pawl__tree_first(&table->trees[0])) != NULL)
        pawl__table_drop(table, row);
}

/* ---- Claims ------------------------------------------------------------- */

bool pawl__row_is_held(const void *row)
{
    return ((const memory_row *)row)->holder != 0;
}

int pawl__by_holder(const void *left, const void *right)
{
    const memory_row *a = left, *b = right;
    return (a->holder > b->holder) - (a->holder < b->holder);
}

void pawl__row_show_lease(const memory_table *table, void *shown, const memory_claim *claim)
{
    const memory_table_kind *kind = table->kind;
    if (kind->expires_offset == 0)
        return;
    memcpy((char *)shown + kind->session_offset, &claim->session, sizeof claim->session);
    memcpy((char *)shown + kind->expires_offset, &claim->expires, sizeof claim->expires);
}

static void set_claim(const memory_table *table, void *row, const memory_claim *claim)
{
    ((memory_row *)row)->holder = claim->holder;
    pawl__row_show_lease(table, (char *)row + table->kind->shown.offset, claim);
}

void pawl__row_release(const memory_table *table, void *row)
{
    set_claim(table, row, &(const memory_claim){.holder = 0});
}

void pawl__table_claim(memory_table *table, void *row, const memory_claim *claim)
{
    const memory_table_kind *kind = table->kind;
    for (size_t i = 0; i < kind->index_count; i++)
        if (kind->indexes[i].is_of_claims && is_in(table, i, row))
            pawl__tree_remove(&table->trees[i], row);
    set_claim(table, row, claim);
    for (size_t i = 0; i < kind->index_count; i++)
        if (kind->indexes[i].is_of_claims && is_in(table, i, row))
            pawl__tree_insert(&table->trees[i], row);
}

void pawl__table_release(memory_table *table, uint64_t holder)
{
    const memory_tree *holders = &table->trees[table->kind->index_count - 1];
    const memory_row   probe   = {.holder = holder};
    void              *row;
    while ((row = pawl__tree_first_of(holders, &probe)) != NULL)
        pawl__table_claim(table, row, &(const memory_claim){.holder = 0});
}

/* ---- The undo log -------------------------------------------------------- */

static bool reserve_one(memory_undo_log *undo_log)
{
    if (undo_log->count < undo_log->capacity)
        return true;
    size_t        larger = undo_log->capacity != 0 ? undo_log->capacity * 2 : 64;
    memory_entry *grown  = pawl_resize(undo_log->entries, larger * sizeof *grown);
    if (grown == NULL)
        return false;
    undo_log->entries  = grown;
    undo_log->capacity = larger;
    return true;
}

pawl_code pawl__undo_log_write(memory_undo_log *undo_log, memory_table *table, void *row,
                               const void *model)
{
    if (!reserve_one(undo_log))
        return PAWL_ENOMEM;
    void *came = model != NULL ? make_row(table, row, model) : NULL;
    if (model != NULL && came == NULL)
        return PAWL_ENOMEM;
    undo_log->entries[undo_log->count++] = (memory_entry){table, row, came};
    if (row != NULL)
        unlink_row(table, row);
    if (came != NULL)
        link_row(table, came);
    return PAWL_OK;
}

static void forget(memory_undo_log *undo_log)
{
    undo_log->count = 0;
    if (undo_log->capacity > UNDO_LOG_KEPT_MAX)
        pawl__undo_log_free(undo_log);
}

void pawl__undo_log_keep(memory_undo_log *undo_log)
{
    for (size_t i = 0; i < undo_log->count; i++)
        free_row(undo_log->entries[i].went);
    forget(undo_log);
}

/* Undoes entries from the last to the first: a row that was inserted and removed in one commit is
 * first inserted again, then removed. */
void pawl__undo_log_roll_back(memory_undo_log *undo_log)
{
    for (size_t i = undo_log->count; i-- > 0;) {
        memory_entry *entry = &undo_log->entries[i];
        if (entry->came != NULL)
            unlink_row(entry->table, entry->came);
        if (entry->went != NULL)
            link_row(entry->table, entry->went);
        free_row(entry->came);
    }
    forget(undo_log);
}

void pawl__undo_log_free(memory_undo_log *undo_log)
{
    pawl_free(undo_log->entries);
    *undo_log = (memory_undo_log){0};
}

/* FNV-1a, with the first text's size between so that ("a", "bc") differs from
 * ("ab", "c"). */
uint64_t pawl__hash_texts(pawl_text first, pawl_text second)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ first.size;
    for (size_t i = 0; i < first.size; i++)
        hash = (hash ^ (unsigned char)first.data[i]) * UINT64_C(1099511628211);
    for (size_t i = 0; i < second.size; i++)
        hash = (hash ^ (unsigned char)second.data[i]) * UINT64_C(1099511628211);
    return hash;
}
