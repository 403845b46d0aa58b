/* table.c - rows, packs, indexes, and the journal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/table.h"

#include <string.h>

#define JOURNAL_KEPT_MAX 16384 /* entries that stay allocated between commits */

/* ---- Packs -------------------------------------------------------------- */

static pawl_text *text_at(void *row, size_t offset)
{
    return (pawl_text *)(void *)((char *)row + offset);
}

/* Moves the texts at the offsets into one new pack. NULL when out of memory;
 * the texts are then still the borrowed ones. */
static memory_pack *make_pack(void *row, const size_t *offsets)
{
    size_t size = 0;
    for (size_t i = 0; i < MEMORY_TEXTS_MAX && offsets[i] != 0; i++)
        size += text_at(row, offsets[i])->size;
    memory_pack *pack = pawl_resize(NULL, sizeof *pack + size);
    if (pack == NULL)
        return NULL;
    pack->users = 1;
    char *at    = pack->data;
    for (size_t i = 0; i < MEMORY_TEXTS_MAX && offsets[i] != 0; i++) {
        pawl_text *text = text_at(row, offsets[i]);
        if (text->size != 0)
            memcpy(at, text->data, text->size);
        text->data = at;
        at += text->size;
    }
    return pack;
}

static void drop_pack(memory_pack *pack)
{
    if (pack != NULL && --pack->users == 0)
        pawl_free(pack);
}

/* ---- Rows --------------------------------------------------------------- */

void *pawl__row_create(const memory_table *table, const void *model)
{
    const memory_table_kind *kind = table->kind;
    memory_row              *row  = pawl_resize(NULL, kind->row_size);
    if (row == NULL)
        return NULL;
    memcpy(row, model, kind->row_size);
    row->fixed = make_pack(row, kind->fixed);
    row->loose = kind->loose[0] != 0 && row->fixed != NULL ? make_pack(row, kind->loose) : NULL;
    if (row->fixed == NULL || (kind->loose[0] != 0 && row->loose == NULL)) {
        pawl__row_free(row);
        return NULL;
    }
    return row;
}

void *pawl__row_clone(const memory_table *table, const void *row)
{
    memory_row *clone = pawl_resize(NULL, table->kind->row_size);
    if (clone == NULL)
        return NULL;
    memcpy(clone, row, table->kind->row_size);
    clone->fixed->users++;
    if (clone->loose != NULL)
        clone->loose->users++;
    return clone;
}

bool pawl__row_repack(const memory_table *table, void *row)
{
    memory_row  *clone = row;
    memory_pack *old   = clone->loose;
    memory_pack *fresh = make_pack(row, table->kind->loose);
    if (fresh == NULL) {
        pawl__row_free(row);
        return false;
    }
    clone->loose = fresh;
    drop_pack(old);
    return true;
}

void pawl__row_free(void *row)
{
    memory_row *freed = row;
    if (freed == NULL)
        return;
    drop_pack(freed->fixed);
    drop_pack(freed->loose);
    pawl_free(freed);
}

/* Texts outside the fields are the store's own and are left out. */
static bool show_texts(const memory_table_kind *kind, const size_t *offsets, pawl_arena *arena,
                       void *out)
{
    for (size_t i = 0; i < MEMORY_TEXTS_MAX && offsets[i] != 0; i++) {
        if (offsets[i] < kind->fields_offset ||
            offsets[i] >= kind->fields_offset + kind->fields_size)
            continue;
        pawl_text *text = text_at(out, offsets[i] - kind->fields_offset);
        *text           = pawl_arena_text(arena, *text);
        if (text->data == NULL)
            return false;
    }
    return true;
}

bool pawl__row_show(const memory_table *table, const void *row, pawl_arena *arena, void *out)
{
    const memory_table_kind *kind = table->kind;
    memcpy(out, (const char *)row + kind->fields_offset, kind->fields_size);
    return show_texts(kind, kind->fixed, arena, out) && show_texts(kind, kind->loose, arena, out);
}

/* ---- Tables ------------------------------------------------------------- */

void pawl__table_init(memory_table *table, const memory_table_kind *kind)
{
    *table = (memory_table){.kind = kind};
    for (size_t i = 0; i < kind->index_count; i++) {
        table->trees[i].compare     = kind->indexes[i].compare;
        table->trees[i].node_offset = sizeof(memory_row) + i * sizeof(memory_node);
    }
}

static bool is_in(const memory_table *table, size_t index, const void *row)
{
    const memory_index *rule = &table->kind->indexes[index];
    return rule->has == NULL || rule->has(row);
}

void pawl__table_link(memory_table *table, void *row)
{
    for (size_t i = 0; i < table->kind->index_count; i++)
        if (is_in(table, i, row))
            pawl__tree_insert(&table->trees[i], row);
}

void pawl__table_unlink(memory_table *table, void *row)
{
    for (size_t i = 0; i < table->kind->index_count; i++)
        if (is_in(table, i, row))
            pawl__tree_remove(&table->trees[i], row);
}

void pawl__table_clear(memory_table *table)
{
    /* The first index of every table has every row. */
    void *row;
    while ((row = pawl__tree_first(&table->trees[0])) != NULL) {
        pawl__table_unlink(table, row);
        pawl__row_free(row);
    }
}

/* ---- The journal -------------------------------------------------------- */

static bool reserve_one(memory_journal *journal)
{
    if (journal->count < journal->capacity)
        return true;
    size_t        larger = journal->capacity != 0 ? journal->capacity * 2 : 64;
    memory_entry *grown  = pawl_resize(journal->entries, larger * sizeof *grown);
    if (grown == NULL)
        return false;
    journal->entries  = grown;
    journal->capacity = larger;
    return true;
}

static void note(memory_journal *journal, memory_table *table, void *went, void *came)
{
    journal->entries[journal->count++] = (memory_entry){table, went, came};
    if (went != NULL)
        pawl__table_unlink(table, went);
    if (came != NULL)
        pawl__table_link(table, came);
}

pawl_code pawl__journal_insert(memory_journal *journal, memory_table *table, void *row)
{
    return pawl__journal_replace(journal, table, NULL, row);
}

pawl_code pawl__journal_replace(memory_journal *journal, memory_table *table, void *row, void *copy)
{
    if (copy == NULL || !reserve_one(journal)) {
        pawl__row_free(copy);
        return PAWL_ENOMEM;
    }
    note(journal, table, row, copy);
    return PAWL_OK;
}

pawl_code pawl__journal_remove(memory_journal *journal, memory_table *table, void *row)
{
    if (!reserve_one(journal))
        return PAWL_ENOMEM;
    note(journal, table, row, NULL);
    return PAWL_OK;
}

static void forget(memory_journal *journal)
{
    journal->count = 0;
    if (journal->capacity > JOURNAL_KEPT_MAX)
        pawl__journal_free(journal);
}

void pawl__journal_keep(memory_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++)
        pawl__row_free(journal->entries[i].went);
    forget(journal);
}

/* Backwards, so that a row that came and went within one commit is back in its
 * table before it is taken out of it. */
void pawl__journal_undo(memory_journal *journal)
{
    for (size_t i = journal->count; i-- > 0;) {
        memory_entry *entry = &journal->entries[i];
        if (entry->came != NULL)
            pawl__table_unlink(entry->table, entry->came);
        if (entry->went != NULL)
            pawl__table_link(entry->table, entry->went);
        pawl__row_free(entry->came);
    }
    forget(journal);
}

void pawl__journal_free(memory_journal *journal)
{
    pawl_free(journal->entries);
    *journal = (memory_journal){0};
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
