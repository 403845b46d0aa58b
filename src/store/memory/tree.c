/* tree.c - the treap: a search tree by key that is a heap by random priority,
 * which keeps it shallow whatever the order of the inserts.
 *
 * A rotation lifts a node over its parent and keeps the order of the keys:
 *
 *         p                n
 *        / \              / \
 *       n   c    ->      a   p
 *      / \                  / \
 *     a   b                b   c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/table.h"

static memory_node *node_of(const memory_tree *tree, const void *row)
{
    return (memory_node *)(void *)((char *)(uintptr_t)row + tree->node_offset);
}

static void *row_of(const memory_tree *tree, const memory_node *node)
{
    return node != NULL ? (char *)(uintptr_t)node - tree->node_offset : NULL;
}

/* xorshift32 (Marsaglia); spreads well enough for a treap. */
static uint32_t next_priority(memory_tree *tree)
{
    uint32_t value = tree->random != 0 ? tree->random : UINT32_C(2463534242);
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
    tree->random = value;
    return value;
}

/* The pointer that leads to `node`: its parent's, or the root. */
static memory_node **link_to(memory_tree *tree, const memory_node *node)
{
    if (node->parent == NULL)
        return &tree->root;
    return node->parent->left == node ? &node->parent->left : &node->parent->right;
}

static void lift(memory_tree *tree, memory_node *node)
{
    memory_node  *parent = node->parent;
    memory_node **link   = link_to(tree, parent);
    memory_node  *moved;
    if (parent->left == node) {
        moved        = node->right;
        parent->left = moved;
        node->right  = parent;
    } else {
        moved         = node->left;
        parent->right = moved;
        node->left    = parent;
    }
    if (moved != NULL)
        moved->parent = parent;
    node->parent   = parent->parent;
    parent->parent = node;
    *link          = node;
}

void pawl__tree_insert(memory_tree *tree, void *row)
{
    memory_node  *node   = node_of(tree, row);
    memory_node  *parent = NULL;
    memory_node **link   = &tree->root;
    while (*link != NULL) {
        parent = *link;
        link   = tree->compare(row, row_of(tree, parent)) < 0 ? &parent->left : &parent->right;
    }
    *node = (memory_node){.parent = parent, .priority = next_priority(tree)};
    *link = node;
    tree->count++;
    while (node->parent != NULL && node->parent->priority < node->priority)
        lift(tree, node);
}

void pawl__tree_remove(memory_tree *tree, void *row)
{
    memory_node *node = node_of(tree, row);
    while (node->left != NULL && node->right != NULL)
        lift(tree, node->left->priority > node->right->priority ? node->left : node->right);
    memory_node *child   = node->left != NULL ? node->left : node->right;
    *link_to(tree, node) = child;
    if (child != NULL)
        child->parent = node->parent;
    tree->count--;
}

void *pawl__tree_find(const memory_tree *tree, const void *probe)
{
    const memory_node *node = tree->root;
    while (node != NULL) {
        int order = tree->compare(probe, row_of(tree, node));
        if (order == 0)
            break;
        node = order < 0 ? node->left : node->right;
    }
    return row_of(tree, node);
}

/* The first row to which the probe compares less than `end`: with 0 it is behind the probe, with 1 it may
 * be equal. */
static void *search(const memory_tree *tree, memory_compare_fn *compare, const void *probe, int end)
{
    const memory_node *node = tree->root;
    const memory_node *best = NULL;
    while (node != NULL) {
        if (compare(probe, row_of(tree, node)) < end) {
            best = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return row_of(tree, best);
}

void *pawl__tree_above(const memory_tree *tree, const void *probe)
{
    return search(tree, tree->compare, probe, 0);
}

void *pawl__tree_first_of(const memory_tree *tree, const void *probe)
{
    void *row = search(tree, tree->group, probe, 1);
    return row != NULL && tree->group(probe, row) == 0 ? row : NULL;
}

void *pawl__tree_next_of(const memory_tree *tree, const void *row)
{
    void *next = pawl__tree_next(tree, row);
    return next != NULL && tree->group(row, next) == 0 ? next : NULL;
}

void *pawl__tree_behind_group(const memory_tree *tree, const void *probe)
{
    return search(tree, tree->group, probe, 0);
}

void *pawl__tree_below(const memory_tree *tree, const void *probe)
{
    const memory_node *node = tree->root;
    const memory_node *best = NULL;
    while (node != NULL) {
        if (tree->compare(probe, row_of(tree, node)) > 0) {
            best = node;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return row_of(tree, best);
}

void *pawl__tree_first(const memory_tree *tree)
{
    const memory_node *node = tree->root;
    while (node != NULL && node->left != NULL)
        node = node->left;
    return row_of(tree, node);
}

void *pawl__tree_next(const memory_tree *tree, const void *row)
{
    const memory_node *node = node_of(tree, row);
    if (node->right != NULL) {
        node = node->right;
        while (node->left != NULL)
            node = node->left;
        return row_of(tree, node);
    }
    while (node->parent != NULL && node->parent->right == node)
        node = node->parent;
    return row_of(tree, node->parent);
}
