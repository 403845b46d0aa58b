/* saga_owners.h - which worker of an endpoint works on a saga now, so that the others leave it alone.
 *
 *     { take (before and behind the load of a batch) -> hold (before its commit)
 *       -> release (behind its commit, or at the end of the step) }*
 *
 * The table saves conflicts and guarantees nothing: the versions of sagas do. A saga for which it has
 * no room is free for everybody, and so is one that a worker has had for PAWL__OWNER_TIME, or whose
 * commit began PAWL__OWNER_COMMIT ago. Other processes do not see the table; between them hot_sagas.c
 * decides.
 *
 * Threads: any; a worker takes and releases for itself.
 * Tests: tests/unit/runtime/test_runtime_owners.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_SAGA_OWNERS_H
#define PAWL_RUNTIME_SAGA_OWNERS_H

#include "pawl/saga_rows.h"

#define PAWL__OWNERS_MAX 2048
#define PAWL__OWNER_TIME PAWL_SECONDS(1)    /* a slow handler keeps others waiting for no longer */
#define PAWL__OWNER_COMMIT PAWL_SECONDS(10) /* a commit may wait for a lock, or a slow disk */
/* Shorter than PAWL__ELSEWHERE_WAIT, so that a message that was put back finds the saga free. */
#define PAWL__OWNER_KEEP PAWL_MILLISECONDS(10)

#define PAWL__HOT_MAX 256 /* sagas remembered by each worker for their conflicts: hot_sagas.c */

typedef struct pawl__hot_saga {
    const pawl_saga_table *table;
    uint64_t               hashes[3]; /* by pawl_saga_key; 0: not known */
    pawl_time              conflict;  /* machine time of the last conflict */
    pawl_time              seen;      /* of the last conflict, or the last time it was elsewhere */
    pawl_time              hot_until;
} pawl__hot_saga;

typedef struct pawl__owners pawl__owners; /* of an endpoint */

/* The places of a worker's sagas in the table. */
typedef struct pawl__owned {
    uint16_t slots[PAWL__OWNERS_MAX];
    size_t   count;
} pawl__owned;

/* NULL: no memory. */
pawl__owners *pawl__owners_create(void);
void          pawl__owners_destroy(pawl__owners *owners); /* accepts NULL */
/* False: another worker has the saga of this hash (pawl__entry.hashes). */
bool pawl__owners_take(pawl__owners *owners, pawl__owned *owned, uint64_t hash, pawl_time now);
/* Everything that the worker has is its own for PAWL__OWNER_COMMIT from `now`: the work is done, and
 * another worker that began it again now would only be refused. */
void pawl__owners_hold(pawl__owners *owners, const pawl__owned *owned, pawl_time now);
/* Everything that the worker has; what others asked for meanwhile stays its own for PAWL__OWNER_KEEP,
 * so that its next batch has the saga again, and not each time another worker's. */
void pawl__owners_release(pawl__owners *owners, pawl__owned *owned, pawl_time now);

#endif
