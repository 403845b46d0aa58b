/* entry.h - a saga, a process or an entity in a batch: its stored row and its state in memory, and
 * the keys that find it.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_ENTRY_H
#define PAWL_ENGINE_ENTRY_H

#include "engine/recent.h"
#include "pawl/store_calls.h"
#include "workflow/model.h"

typedef struct pawl__entry pawl__entry;

/* The part of an entry that processes and entities have: their stream. */
typedef struct pawl__stream_entry {
    pawl_text          text;         /* "Account/7" */
    int64_t            version;      /* of the last event, those of this batch included */
    int64_t            fold_version; /* of the stored fold; 0: none */
    bool               is_fold_bad;  /* the stored fold cannot be read by this program */
    bool               is_completed;
    pawl__recent       recent;
    pawl_event_append *events; /* appended by this batch */
    size_t             event_count, event_capacity;
} pawl__stream_entry;

/* A timeout that a saga set or cancelled in this batch; the last of these counts. */
typedef struct pawl__timeout_op {
    pawl_text name;
    pawl_time due;
    bool      is_cancel;
    uint32_t  unit;
} pawl__timeout_op;

typedef struct pawl__timeout_ops {
    pawl__timeout_op *items;
    size_t            count;
    size_t            capacity;
} pawl__timeout_ops;

/* A saga in the batch: its stored row, if any, and its state after the units so far. */
struct pawl__entry {
    const pawl__saga_model *model;
    pawl__stream_entry     *stream; /* NULL: a saga */
    pawl_value              main;   /* NONE: the saga has no correlation property */
    pawl_value              transitional;
    bool                    is_loaded;      /* was read, or another worker has it */
    bool                    is_busy;        /* another worker has it: no unit may touch it */
    uint32_t                wanted;         /* number of units for it; only busy_sagas.c counts */
    bool                    is_shared;      /* a message of the batch needs it and another saga */
    pawl_saga_row           stored;         /* version 0: no row */
    bool                    is_stored_gone; /* the stored row is to be deleted */
    bool                    exists;         /* there is a saga now, in memory */
    bool                    is_new;         /* the saga in memory has no stored row yet */
    bool                    is_dirty;       /* the state in memory has to be saved */
    pawl_saga_id            id;
    void                   *state;
    uint32_t                beginner;    /* new: the unit that began it */
    pawl_code               broken;      /* the stored state cannot be decoded: */
    pawl_text               broken_text; /* units that need it fail with this error */
    int32_t                 next_index;  /* index of the next outbox row of the new version */
    bool                    has_unit;
    uint32_t                unit;   /* one unit of the group that touched it */
    uint32_t                writer; /* the last unit that wrote it */
    pawl__timeout_ops       timeouts;
    bool     is_timeouts_dropped; /* the stored saga's timeouts are all to be cancelled */
    uint64_t hashes[3];           /* by pawl__entry_key */
};

/* The keys that find an entry; each has an open hash table in the arena. */
typedef enum pawl__entry_key {
    PAWL__BY_MAIN,
    PAWL__BY_TRANSITIONAL,
    PAWL__BY_ID,
} pawl__entry_key;

typedef struct pawl__entry_index {
    pawl__entry **slots;
    size_t        count, capacity; /* capacity: a power of two, or 0 */
} pawl__entry_index;

#endif
