/* tree.h - rows in order: a treap whose nodes are part of the rows.
 *
 * Nothing here allocates, so insert and remove cannot fail: a commit can be undone
 * even without memory.
 *
 * Threads: none of its own; the mutex of the data guards it.
 * Tests: tests/unit/store/test_store_memory.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MEMORY_TREE_H
#define PAWL_MEMORY_TREE_H

#include <stddef.h>
#include <stdint.h>

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

#endif
