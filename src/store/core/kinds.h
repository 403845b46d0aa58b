/* kinds.h - the table of the kinds of change, and the parts of a commit that do not
 * depend on the database: selecting changes, splitting them into waves, refusing.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_KINDS_H
#define PAWL_STORE_CORE_KINDS_H

#include "pawl/change.h"

/* ---- The table ---------------------------------------------------------- */

typedef struct pawl__kind {
    size_t size; /* of one change */
    size_t items_offset;
    size_t count_offset;
    bool   is_refusable;
} pawl__kind;

/* In the order in which they are applied. */
extern const pawl__kind pawl__kinds[pawl_change_kind_count];

/* Each change begins with it. */
typedef struct pawl__change {
    PAWL__CHANGE_BASE
} pawl__change;

/* Each change of a saga begins with it. */
typedef struct pawl__saga_change {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
} pawl__saga_change;

static inline const pawl_saga_table *pawl__saga_table_of(const void *item)
{
    return ((const pawl__saga_change *)item)->table;
}

size_t      pawl__change_count(const pawl_changes *changes, pawl_change_kind kind);
const char *pawl__change_items(const pawl_changes *changes, pawl_change_kind kind);
uint32_t    pawl__change_group(const void *change);
/* Does the set have a change of that kind, unit and group? */
bool pawl__changes_has(const pawl_changes *changes, pawl_change_kind kind, uint32_t unit,
                       uint32_t group);
/* Does the set only release claims? True for a set without changes. */
bool pawl__changes_only_release(const pawl_changes *changes);
/* Does the set release a lease, or change the due time of a timeout or a flush? */
bool pawl__changes_free_leases(const pawl_changes *changes);

/* ---- Waves -------------------------------------------------------------- */

/* Compares two changes by key only. */
typedef int pawl__compare_fn(const void *left, const void *right);

/* A statement over a set can change each row only once, so several changes of one key need
 * several statements ("waves"). Moves the first change of each key from `items`, sorted by key,
 * to `firsts` (room for `count`). The others stay in `items`, in order; returns their number.
 * The next call gives the second change of each key, and so on. */
size_t pawl__take_firsts(const void **items, size_t count, const void **firsts,
                         pawl__compare_fn *compare);
/* Moves the smallest of `items`, and all that compare equal to it, to `alike`, in order; as above
 * otherwise. For a wave whose changes need more than one statement. */
size_t pawl__take_equal(const void **items, size_t count, const void **alike,
                        pawl__compare_fn *compare);
/* Two changes of sagas, by the names of their tables. */
int pawl__compare_by_table(const void *left, const void *right);
/* Sorts changes by key; those of one key stay in the order of the change set. */
void pawl__sort_changes(const void **items, size_t count, pawl__compare_fn *compare);

/* ---- Refusing ----------------------------------------------------------- */

/* A change's group is refused with the code and the text of `why`, which is copied.
 * PAWL_ENOMEM sets no error. */
pawl_code pawl__refuse(pawl_refusals *refused, pawl_change_kind kind, const void *change,
                       const pawl_error *why);
/* In a handler transaction one refusal refuses all groups, since the handler's own statements cannot be
 * repeated here. Drops the groups that are not dropped yet. */
pawl_code pawl__refuse_all(pawl_refusals *refused, const pawl_changes *changes, bool *is_dropped);
/* Refuses all groups that are not dropped yet, and drops them. */
pawl_code pawl__refuse_others(pawl_refusals *refused, const pawl_changes *changes, bool *is_dropped,
                              const pawl_error *why);
/* Drops the groups of the refusals from number `before` on: the next round leaves them out. */
void pawl__drop_refused(const pawl_refusals *refused, size_t before, bool *is_dropped);
/* The refusal as an error, for enlist, which cannot leave a group out. */
pawl_code pawl__refusal_error(const pawl_refusal *refusal, pawl_error *error);

/* ---- Keys of a run ----------------------------------------------------------- *
 *
 * A Bloom filter of the keys of consecutive changes ("a run"), to end the run before a row is changed twice. If two
 * different keys have the same bit, the run ends early; that costs one more statement or round trip. */

#define PAWL__KEY_BITS 65536

/* The keys of a run. Not initialized: the first change of a run clears it. */
typedef struct pawl__keys {
    uint64_t bits[PAWL__KEY_BITS / 64];
} pawl__keys;

/* Continues the hash `from` with these bytes. Never 0, which means no key. */
uint32_t pawl__key_hash(uint32_t from, const void *data, size_t size);
/* Adds the keys of a change; keys of 0 are skipped. True: an earlier change of the run may have the same row; the
 * filter then has only this change's keys, as the first of a new run. */
bool pawl__keys_add(pawl__keys *keys, const uint32_t *items, size_t count, bool is_first);

#endif
