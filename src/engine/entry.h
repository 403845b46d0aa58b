/* entry.h - a saga, a process or an entity in a batch: its stored row and its state in memory, and
 * the keys that find it.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_group.c, test_engine_format.c, test_engine_version.c, test_engine_recent.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_ENTRY_H
#define PAWL_ENGINE_ENTRY_H

#include "pawl/store_calls.h"
#include "workflow/model.h"

/* ---- The last dispatch ids of a stream: recent.c ---- *
 *
 * A bounded set, first in first out (O17). It grows in the arena of the batch with the number of ids, up to its bound. */

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

/* ---- Entries -------------------------------------------------------------- */

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

/* ---- State of a saga in its row: state.c ---- *
 *
 * Converts between the row and the struct of the handlers (formats: state_format.h); on any thread, as formats are
 * constant. */

/* The major record version that wrote a row: 2 for "2.0"; 0 if the row has none. For a number above
 * PAWL_RECORD_VERSION_MAX the result is above it, too. */
int pawl__state_version(pawl_text type_version);
/* Reads the row's state, upcasts it to today's version and decodes it into `state`, as pawl_record_decode; `record`:
 * the model's, or one of the same layout. Errors name saga, id and version. PAWL_EVERSION: this program cannot read the
 * row's version (S27). */
pawl_code pawl__state_read(const pawl__saga_model *model, const pawl_record *record,
                           const pawl_saga_row *row, pawl_arena *arena, void *state,
                           pawl_error *error);
/* The row's state as JSON, by the reader of the row's version and not upcast; of a newer version unchanged. */
pawl_code pawl__state_json(const pawl__saga_model *model, const pawl_saga_row *row,
                           pawl_arena *arena, pawl_text *json, pawl_error *error);
/* Makes the JSON of the saga's row. */
pawl_code pawl__state_write(const pawl__saga_model *model, pawl_saga_id id, const void *state,
                            pawl_arena *arena, pawl_text *data, pawl_error *error);

#endif
