/* table.h - rows with their texts and indexes, and the undo log of a
 * commit.
 *
 * A commit never changes a row in place: it replaces the row by a new one. The undo log
 * is a list of pairs (old row, new row); undoing a commit goes through that list
 * backwards. Texts are stored in two packs; the new row shares a pack of the old row
 * if none of the pack's texts changed:
 *
 *     row --- fixed pack: texts that seldom change (a body, an id)
 *         \-- loose pack: texts that updates change (an error, a saga's data)
 *
 * A model is a row on the stack with borrowed texts, from which a row is made.
 *
 * Claims and leases are not part of a commit; they are written in place.
 *
 * Call order: table_init -> undo_log_write ... -> undo_log_keep | undo_log_undo -> table_clear.
 * Threads: the mutex of the data guards all of it.
 * Tests: tests/unit/store/test_store_memory.c, test_store_memory_tree.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MEMORY_TABLE_H
#define PAWL_MEMORY_TABLE_H

#include "pawl/base.h"
#include "store/core/field.h"

/* ---- Rows in order: tree.c ---------------------------------------------------------- *
 *
 * A treap whose nodes are part of the rows. Nothing here allocates, so insert and remove cannot fail: a commit can be
 * undone even without memory. */

typedef struct memory_node {
    struct memory_node *left;
    struct memory_node *right;
    struct memory_node *parent;
    uint32_t            priority; /* no child's is larger */
} memory_node;

/* <0, 0, >0 for two rows, of which one may be a probe with only its key set. */
typedef int memory_compare_fn(const void *left, const void *right);

typedef struct memory_tree {
    memory_node       *root;
    size_t             node_offset; /* of the node within a row */
    size_t             count;
    memory_compare_fn *compare;
    memory_compare_fn *group;  /* by the first part of the key alone */
    uint32_t           random; /* source of the priorities */
} memory_tree;

/* Inserts the row after those that compare equal. */
void pawl__tree_insert(memory_tree *tree, void *row);
/* The row must be in the tree. */
void pawl__tree_remove(memory_tree *tree, void *row);

/* Rows, or NULL when there is none. */
void *pawl__tree_find(const memory_tree *tree, const void *probe);
void *pawl__tree_above(const memory_tree *tree, const void *probe); /* the next larger one */
void *pawl__tree_below(const memory_tree *tree, const void *probe); /* the next smaller one */
void *pawl__tree_first(const memory_tree *tree);
void *pawl__tree_next(const memory_tree *tree, const void *row);
/* A group is the rows with the same first part of the key. These return the first row of the probe's group, the next
 * row within the group, and the first row of the next group. */
void *pawl__tree_first_of(const memory_tree *tree, const void *probe);
void *pawl__tree_next_of(const memory_tree *tree, const void *row);
void *pawl__tree_behind_group(const memory_tree *tree, const void *probe);

/* ---- Tables --------------------------------------------------------------- */

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
    uint64_t     hash;   /* of the key, for the tables that are looked up by it */
    uint64_t     holder; /* the handle that has claimed or leased it; 0: none */
} memory_row;

#define MEMORY_ROW(index_count) \
    memory_row  row;            \
    memory_node nodes[index_count];

/* ---- Indexes ------------------------------------------------------------ */

typedef struct memory_index {
    memory_compare_fn *compare;
    memory_compare_fn *group;
    bool (*has)(const void *row); /* NULL: the index has every row */
    bool is_of_claims;            /* a claim changes a row's position in it */
} memory_index;

/* The order of an index, by the parts of a key:
 *
 *     MEMORY_ORDER(timeout_by_due, timeout_row, MEMORY_NUMBER(fields.due), MEMORY_UUID(fields.id.uuid))
 *
 * A key has a first part, by which rows are grouped, and other parts joined by ||. Each name must be unique in the
 * library: scripts/amalgamate.py makes one file of all, and does not rename functions that macros define. */
#define MEMORY_ORDER(name, row_type, first, others)              \
    static int name##_group(const void *left, const void *right) \
    {                                                            \
        const row_type *a = left, *b = right;                    \
        int             order = 0;                               \
        (void)(first);                                           \
        return order;                                            \
    }                                                            \
    static int name(const void *left, const void *right)         \
    {                                                            \
        const row_type *a = left, *b = right;                    \
        int             order = 0;                               \
        (void)((first) || (others));                             \
        return order;                                            \
    }
#define MEMORY_TEXT(member) ((order = pawl_text_compare(a->member, b->member)) != 0)
#define MEMORY_UUID(member) ((order = pawl_uuid_compare(a->member, b->member)) != 0)
#define MEMORY_NUMBER(member) \
    (a->member != b->member && (order = a->member < b->member ? -1 : 1) != 0)
#define MEMORY_NOTHING false

/* The condition for rows in a partial index: `it` is the row. */
#define MEMORY_HAS(name, row_type, condition) \
    static bool name(const void *row)         \
    {                                         \
        const row_type *it = row;             \
        return condition;                     \
    }

#define MEMORY_INDEX(order, rows)                             \
    {                                                         \
        .compare = order, .group = order##_group, .has = rows \
    }
/* For an index in which a claim moves rows. */
#define MEMORY_INDEX_OF_CLAIMS(order, rows)                                         \
    {                                                                               \
        .compare = order, .group = order##_group, .has = rows, .is_of_claims = true \
    }
/* The claimed rows by their holder: the last index of tables that have claims. */
#define MEMORY_HOLDERS                                            \
    {                                                             \
        pawl__by_holder, pawl__by_holder, pawl__row_is_held, true \
    }
int  pawl__by_holder(const void *left, const void *right);
bool pawl__row_is_held(const void *row);

/* ---- Tables ------------------------------------------------------------- */

typedef struct memory_part {
    size_t offset, size;
} memory_part;

/* Offsets within a row; the first 0 ends a list. */
typedef struct memory_table_kind {
    size_t                  row_size;
    memory_part             shown;  /* the part that callers get */
    const pawl__field_list *fields; /* of that part; their texts are in the packs */
    size_t                  texts[MEMORY_TEXTS_MAX]; /* texts outside of `shown` */
    size_t                  loose[MEMORY_TEXTS_MAX]; /* texts of the loose pack */
    void (*packed)(void *row);                       /* called when the texts are in packs */
    size_t       session_offset;                     /* of the lease's pawl_session_id in `shown` */
    size_t       expires_offset;                     /* 0: claims of this table are no leases */
    size_t       index_count;
    memory_index indexes[MEMORY_INDEXES_MAX];
} memory_table_kind;

/* Sizes of a row type with index nodes, of which `member` is shown. */
#define MEMORY_SIZES(row_type, member)                                               \
    .row_size    = sizeof(row_type),                                                 \
    .shown       = {offsetof(row_type, member), sizeof(((row_type *)NULL)->member)}, \
    .index_count = sizeof(((row_type *)NULL)->nodes) / sizeof(memory_node)

typedef struct memory_table {
    const memory_table_kind *kind;
    size_t                   fixed[MEMORY_TEXTS_MAX + 1];
    memory_tree              trees[MEMORY_INDEXES_MAX];
} memory_table;

typedef struct memory_entry {
    memory_table *table;
    void         *went; /* old row; NULL: `came` was inserted */
    void         *came; /* new row; NULL: `went` was removed */
} memory_entry;

typedef struct memory_undo_log {
    memory_entry *entries;
    size_t        count;
    size_t        capacity;
} memory_undo_log;

void pawl__table_init(memory_table *table, const memory_table_kind *kind);
/* Frees all rows. */
void pawl__table_clear(memory_table *table);
/* Copies the part of a row with its texts to `out`; false when out of memory. */
bool pawl__row_show(const memory_table *table, const void *row, const memory_part *part,
                    pawl_arena *arena, void *out);

/* Replaces `row` by a new row like the model; row NULL: insert, model NULL: remove. PAWL_ENOMEM leaves table
 * and undo_log unchanged. */
pawl_code pawl__undo_log_write(memory_undo_log *undo_log, memory_table *table, void *row,
                               const void *model);
void      pawl__undo_log_keep(memory_undo_log *undo_log);
void      pawl__undo_log_roll_back(memory_undo_log *undo_log);
void      pawl__undo_log_free(memory_undo_log *undo_log);

/* Without the undo log, for rows that no commit writes. NULL when out of memory. */
void *pawl__table_add(memory_table *table, const void *model);
void  pawl__table_drop(memory_table *table, void *row);

/* ---- Claims ------------------------------------------------------------- */

typedef struct memory_claim {
    uint64_t        holder;
    pawl_session_id session; /* of the lease */
    pawl_time       expires;
} memory_claim;

/* Frees a row that is in no table. */
void pawl__row_release(const memory_table *table, void *row);
/* Writes the lease into the copy that the caller gets. */
void pawl__row_show_lease(const memory_table *table, void *shown, const memory_claim *claim);
/* Claims the row, in place and without the undo log. */
void pawl__table_claim(memory_table *table, void *row, const memory_claim *claim);
/* Frees all rows of the holder. */
void pawl__table_release(memory_table *table, uint64_t holder);

/* The hash of a key of two texts. */
uint64_t pawl__hash_texts(pawl_text first, pawl_text second);

#endif
