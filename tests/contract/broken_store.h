/* broken_store.h - the memory store with one deliberate defect at a time, under
 * the scheme "broken:".
 *
 *     broken_register -> { broken_set -> suite_run } for each defect
 *
 * A defect is what is done to a change set before the memory store commits it,
 * and operations that stand in for the memory store's own. No handle may be
 * open while it is set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_BROKEN_STORE_H
#define PAWL_TESTS_CONTRACT_BROKEN_STORE_H

#include "pawl/store_driver.h"

extern const pawl_store_ops pawl__memory_driver;

/* A change set on its way to the store: its arrays are copies and have room for
 * EDIT_ROOM changes more. */
#define EDIT_ROOM 8
typedef struct edit {
    pawl_store  *store;
    pawl_arena  *arena;
    pawl_changes changes;
} edit;

typedef struct defect {
    const char *name;
    const char *item; /* the item that it breaks */
    void (*rewrite)(edit *e);
    pawl_store_ops ops; /* entries that stand in for the memory store's; NULL: its own */
} defect;

/* Rows of a kind that the memory store finds, all of them: of a queue or a partition by its name, else those
 * that a member of `asked` tells. */
pawl_found broken_rows(edit *e, pawl_find asked);
/* A find that is wrong for one kind: `before` changes what is asked for, `after` what was found. */
#define BROKEN_FIND(name, of, before, after)                                             \
    static pawl_code name(pawl_store *store, const pawl_find *asked, pawl_arena *arena,  \
                          pawl_found *found, pawl_error *error)                          \
    {                                                                                    \
        pawl_find changed = *asked;                                                      \
        if (asked->kind == (of)) {                                                       \
            before;                                                                      \
        }                                                                                \
        pawl_code code = pawl__memory_driver.find(store, &changed, arena, found, error); \
        if (asked->kind == (of) && code == PAWL_OK) {                                    \
            after;                                                                       \
        }                                                                                \
        return code;                                                                     \
    }

/* Defects of change sets, of claims and reads, and of the event store. */
extern const defect broken_changes[], broken_reads[], broken_event_store[];
extern const size_t broken_changes_count, broken_reads_count, broken_event_store_count;

void broken_register(void);
/* NULL: none. */
void broken_set(const defect *chosen);

#endif
