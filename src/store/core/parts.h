/* parts.h - a change set as parts, where one transaction cannot take all of it: groups in their order, and no group cut.
 *
 *     pawl__parts_open -> { pawl__parts_choose -> rounds -> pawl__parts_close }* while pawl__parts_are_left
 *
 * Threads: plain data. Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_PARTS_H
#define PAWL_STORE_CORE_PARTS_H

#include "store/core/kinds.h"

typedef struct pawl__parts {
    const pawl_changes *changes;
    pawl_refusals      *refused;
    size_t   count_max, size_max; /* of one part, in rows and bytes; one group may be more */
    bool    *is_dropped;          /* by group: not of the part under way */
    bool    *is_over;             /* by group: refused, or of a part before */
    size_t  *counts, *sizes;      /* by group */
    uint32_t first, end;          /* groups of the part under way */
} pawl__parts;

/* With changes, refused and limits set; the arena's memory. PAWL_ENOMEM sets no error. */
pawl_code pawl__parts_open(pawl__parts *parts, pawl_arena *arena);
/* The groups from `first` on that one part takes: one at least. Again for the same part: with other limits. */
void pawl__parts_choose(pawl__parts *parts);
void pawl__parts_close(pawl__parts *parts);
bool pawl__parts_are_left(const pawl__parts *parts);
/* Refuses the groups of this part and behind it, after one before it is in: they run again. */
pawl_code pawl__parts_refuse_rest(pawl__parts *parts, const pawl_error *failure);

#endif
