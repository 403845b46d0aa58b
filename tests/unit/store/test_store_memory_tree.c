/* test_store_memory_tree.c - the treap that orders the rows of the memory
 * store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"
#include "store/memory/table.h"
#include "support/tests.h"

#include <time.h>

#define ROWS 2000

typedef struct tree_row {
    memory_node node;
    int         key;
    bool        is_in;
} tree_row;

static int by_key(const void *left, const void *right)
{
    const tree_row *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

#define GROUP 10

static int by_group(const void *left, const void *right)
{
    const tree_row *a = left, *b = right;
    return a->key / GROUP - b->key / GROUP;
}

/* The marked rows of a group, and only those, are scanned over from its first one. */
static void check_group(const memory_tree *tree, tree_row *rows, int key)
{
    const tree_row probe = {.key = key + GROUP / 2};
    tree_row      *row   = pawl__tree_first_of(tree, &probe);
    for (int i = key; i < key + GROUP; i++) {
        if (!rows[i].is_in)
            continue;
        assert_ptr_equal(row, &rows[i]);
        row = pawl__tree_next_of(tree, row);
    }
    assert_null(row);
    for (int i = key + GROUP; row == NULL && i < ROWS; i++)
        row = rows[i].is_in ? &rows[i] : NULL;
    assert_ptr_equal(pawl__tree_behind_group(tree, &probe), row);
}

/* The tree holds exactly the marked rows, in order, and finds each. */
static void check_tree(const memory_tree *tree, tree_row *rows)
{
    size_t    count  = 0;
    tree_row *before = NULL;
    tree_row *seen   = pawl__tree_first(tree);
    for (int i = 0; i < ROWS; i++) {
        const tree_row probe = {.key = i};
        if (i % GROUP == 0)
            check_group(tree, rows, i);
        assert_ptr_equal(pawl__tree_find(tree, &probe), rows[i].is_in ? &rows[i] : NULL);
        assert_ptr_equal(pawl__tree_below(tree, &probe), before);
        if (!rows[i].is_in)
            continue;
        assert_ptr_equal(seen, &rows[i]);
        before = seen;
        seen   = pawl__tree_next(tree, seen);
        assert_ptr_equal(pawl__tree_above(tree, &probe), seen);
        count++;
    }
    assert_null(seen);
    assert_int_equal(tree->count, count);
}

TEST(a_tree_keeps_rows_in_order)
{
    const char *given = getenv("PAWL_SEED");
    uint64_t    seed  = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("seed: PAWL_SEED=%llu\n", (unsigned long long)seed);
    pawl_random random;
    pawl_random_seed(&random, seed);
    static tree_row rows[ROWS];
    memory_tree     tree = {
            .compare = by_key, .group = by_group, .node_offset = offsetof(tree_row, node)};
    for (int i = 0; i < ROWS; i++)
        rows[i] = (tree_row){.key = i};
    for (int i = 0; i < 20000; i++) {
        tree_row *row = &rows[pawl_random_below(&random, ROWS)];
        if (row->is_in)
            pawl__tree_remove(&tree, row);
        else
            pawl__tree_insert(&tree, row);
        row->is_in = !row->is_in;
        if (i % 1000 == 0)
            check_tree(&tree, rows);
    }
    check_tree(&tree, rows);
}

static int depth_of(const memory_node *node)
{
    if (node == NULL)
        return 0;
    int left = depth_of(node->left), right = depth_of(node->right);
    return 1 + (left > right ? left : right);
}

/* 18 levels would be perfect for 200,000 rows; four times that is far out of
 * what random priorities give, and far from a list. */
TEST(a_tree_of_sorted_rows_stays_shallow)
{
    enum { MANY = 200000 };
    tree_row   *rows = calloc(MANY, sizeof *rows);
    memory_tree tree = {.compare = by_key, .node_offset = offsetof(tree_row, node)};
    assert_non_null(rows);
    for (int i = 0; i < MANY; i++) {
        rows[i].key = i;
        pawl__tree_insert(&tree, &rows[i]);
    }
    assert_in_range(depth_of(tree.root), 18, 72);
    const tree_row probe = {.key = 123456};
    assert_ptr_equal(pawl__tree_find(&tree, &probe), &rows[123456]);
    free(rows);
}
