/* recent.h - the last dispatch ids that a process or an entity has handled: a bounded
 * set, first in first out (O17).
 *
 * Memory: the batch's arena; it grows with the number of ids, up to its bound.
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_recent.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_RECENT_H
#define PAWL_ENGINE_RECENT_H

#include "pawl/base.h"

typedef struct pawl__recent_item {
    pawl_uuid id;
    uint32_t  next; /* next of its chain: index + 1; 0: the last */
    pawl_time at;   /* time of its event; 0: not known */
} pawl__recent_item;

typedef struct pawl__recent {
    pawl__recent_item *items;  /* a ring once it is full */
    uint32_t          *chains; /* by hash: index + 1 of the first item; as many as `capacity`, or a
                                  power of two above it */
    size_t             bound;
    size_t             first, count, capacity, chain_count;
} pawl__recent;

bool pawl__recent_has(const pawl__recent *recent, pawl_uuid id);
/* An id that is in the set keeps its position. `pushed_out` (may be NULL): the id that was removed to make room, or
 * zero. PAWL_ENOMEM. */
pawl_code pawl__recent_add(pawl__recent *recent, pawl_uuid id, pawl_time at, pawl_arena *arena,
                           pawl__recent_item *pushed_out);
/* Empties the set, which keeps its memory. */
void pawl__recent_clear(pawl__recent *recent);
/* A JSON array of the ids, oldest first. An id is followed by its event's time in seconds if that
 * differs from the id before it. data NULL: out of memory. */
pawl_text pawl__recent_write(const pawl__recent *recent, pawl_arena *arena);
/* PAWL_EDECODE: the text is no such array. */
pawl_code pawl__recent_read(pawl__recent *recent, pawl_text json, pawl_arena *arena);

#endif
