/* saga_owners.h - tells which worker of this process uses a saga now, so that the other ones skip it.
 *
 *     { take (before and after the load of a batch) -> hold (before its commit)
 *       -> release (after its commit, or at the end of the step) }*
 *
 * The table only avoids conflicts; correctness comes from the versions of sagas. Any worker may take a saga for which
 * the table has no room, that its owner has had for PAWL__OWNER_TIME, or whose commit began PAWL__OWNER_COMMIT ago.
 * Other processes do not see the table; conflicts with them are handled by hot_sagas.c.
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
#define PAWL__OWNER_TIME PAWL_SECONDS(1)    /* how long a slow handler keeps others waiting */
#define PAWL__OWNER_COMMIT PAWL_SECONDS(10) /* a commit may wait for a lock, or a slow disk */
/* Shorter than PAWL__SAGA_BUSY_WAIT, so that a message that was released meanwhile finds the saga free. */
#define PAWL__OWNER_KEEP PAWL_MILLISECONDS(10)

#define PAWL__HOT_MAX 256 /* sagas with conflicts that a worker remembers: hot_sagas.c */

typedef struct pawl__hot_saga {
    const pawl_saga_table *table;
    uint64_t               hashes[3]; /* by pawl_saga_key; 0: not known */
    pawl_time              conflict;  /* machine time of the last conflict */
    pawl_time              seen;      /* last conflict, or last time another worker had it */
    pawl_time              hot_until;
} pawl__hot_saga;

typedef struct pawl__owners pawl__owners; /* of an endpoint */

/* The slots of a worker's sagas in the table. */
typedef struct pawl__owned {
    uint16_t slots[PAWL__OWNERS_MAX];
    size_t   count;
} pawl__owned;

/* NULL: no memory. */
pawl__owners *pawl__owners_create(void);
void          pawl__owners_destroy(pawl__owners *owners); /* accepts NULL */
/* False: another worker has the saga of this hash (pawl__entry.hashes). */
bool pawl__owners_take(pawl__owners *owners, pawl__owned *owned, uint64_t hash, pawl_time now);
/* Extends the ownership of all sagas of the worker to `now` + PAWL__OWNER_COMMIT: their handlers have run, and another
 * worker that began now would only be refused. */
void pawl__owners_hold(pawl__owners *owners, const pawl__owned *owned, pawl_time now);
/* Releases all sagas of the worker. Those that others asked for stay its own for PAWL__OWNER_KEEP more, so that its
 * next batch can use them again: a saga that changes hands at each batch costs more. */
void pawl__owners_release(pawl__owners *owners, pawl__owned *owned, pawl_time now);

#endif
