/* table.h - rows with their texts and indexes, and the journal that takes a
 * commit back.
 *
 * A row is never altered by a commit: it is replaced by a copy. So a commit is
 * a list of (row that went, row that came), and taking it back is walking that
 * list backwards. Texts stand in packs that the copies share:
 *
 *     row --- fixed pack: what never changes (a body, an id)
 *         \-- loose pack: what an update writes anew (an error, a saga's data)
 *
 * Claims and leases are no part of a commit; they are written in place.
 *
 * Call order: row_create | row_clone -> row_repack -> insert | replace | remove
 *     -> journal_keep | journal_undo.
 * Threads: the mutex of the data guards all of it.
 * Tests: tests/unit/store/test_store_memory.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MEMORY_TABLE_H
#define PAWL_MEMORY_TABLE_H

#include "pawl/base.h"
#include "store/memory/tree.h"

#define MEMORY_INDEXES_MAX 7
#define MEMORY_TEXTS_MAX 10

typedef struct memory_pack {
    size_t users;
    char   data[];
} memory_pack;

/* The beginning of every row. The nodes of its indexes follow at once. */
typedef struct memory_row {
    memory_pack *fixed;
    memory_pack *loose;
    uint64_t     hash; /* of the key, for the tables that are looked up by it */
} memory_row;

#define MEMORY_ROW(index_count) \
    memory_row  row;            \
    memory_node nodes[index_count];

/* As many indexes as a row has nodes for. */
#define MEMORY_INDEX_COUNT(row_type) (sizeof(((row_type *)NULL)->nodes) / sizeof(memory_node))

typedef struct memory_index {
    memory_compare_fn *compare;
    bool (*has)(const void *row); /* NULL: the index has every row */
} memory_index;

/* Offsets of pawl_text within a row; the first 0 ends the list. `fields` is the
 * part of a row that the store hands out. */
typedef struct memory_table_kind {
    size_t       row_size;
    size_t       fields_offset;
    size_t       fields_size;
    size_t       fixed[MEMORY_TEXTS_MAX];
    size_t       loose[MEMORY_TEXTS_MAX];
    size_t       index_count;
    memory_index indexes[MEMORY_INDEXES_MAX];
} memory_table_kind;

typedef struct memory_table {
    const memory_table_kind *kind;
    memory_tree              trees[MEMORY_INDEXES_MAX];
} memory_table;

typedef struct memory_entry {
    memory_table *table;
    void         *went; /* NULL: came was inserted */
    void         *came; /* NULL: went was removed */
} memory_entry;

typedef struct memory_journal {
    memory_entry *entries;
    size_t        count;
    size_t        capacity;
} memory_journal;

void pawl__table_init(memory_table *table, const memory_table_kind *kind);
/* Frees all rows. */
void pawl__table_clear(memory_table *table);

/* A row like `model`, whose texts are borrowed, with texts of its own; in no
 * index yet. NULL when out of memory. */
void *pawl__row_create(const memory_table *table, const void *model);
/* A copy that shares the texts. */
void *pawl__row_clone(const memory_table *table, const void *row);
/* Gives a clone whose loose texts were set to borrowed ones a pack of its own.
 * On false (out of memory) the clone has been freed. */
bool pawl__row_repack(const memory_table *table, void *row);
void pawl__row_free(void *row);
/* Copies the fields with their texts to `out`; false when out of memory. */
bool pawl__row_show(const memory_table *table, const void *row, pawl_arena *arena, void *out);

/* Out of the journal: for claims, and for rows that are no part of a commit. */
void pawl__table_link(memory_table *table, void *row);
void pawl__table_unlink(memory_table *table, void *row); /* does not free */

/* In the journal. PAWL_ENOMEM leaves table and journal as they were; `row` and
 * `copy` are taken, and freed then. `row` may be NULL for "out of memory". */
pawl_code pawl__journal_insert(memory_journal *journal, memory_table *table, void *row);
pawl_code pawl__journal_replace(memory_journal *journal, memory_table *table, void *row,
                                void *copy);
pawl_code pawl__journal_remove(memory_journal *journal, memory_table *table, void *row);
void      pawl__journal_keep(memory_journal *journal);
void      pawl__journal_undo(memory_journal *journal);
void      pawl__journal_free(memory_journal *journal);

/* The parts of comparisons. */
static inline int pawl__order_integers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static inline int pawl__order_hashes(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* Of a key of two texts. */
uint64_t pawl__hash_texts(pawl_text first, pawl_text second);

#endif
