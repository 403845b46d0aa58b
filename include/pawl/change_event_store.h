/* change_event_store.h - the changes to the event store: events, snapshots, checkpoints.
 *
 *     stream      the events of one process or entity, versions 1, 2, 3 ...
 *     snapshot    the state computed from a stream's events, stored so that a
 *                 load need not read them all
 *     position    the global position: an event's number in the order of all streams,
 *                 assigned after its commit, so that a reader in this order misses none
 *     checkpoint  the global position that a projection has come to
 *
 * Threads: plain data.
 * Tests: src/conformance/store/event_store*.c, src/conformance/store/events.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CHANGE_EVENT_STORE_H
#define PAWL_CHANGE_EVENT_STORE_H

#include "pawl/change_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends an event. In a set, the events of a stream are consecutive, by version without a
 * gap, and in one group. Refused with PAWL_ECONFLICT unless the stream
 * ends at the version before the first of them: else that version exists already, or the one
 * before is missing (O4). */
typedef struct pawl_event_append {
    PAWL__CHANGE_BASE
    pawl_text  stream;   /* "type/id" */
    int64_t    version;  /* from 1 */
    bool       is_first; /* first event of this set for the stream */
    pawl_event event;
} pawl_event_append;

/* Stores a snapshot, with the dispatch ids that its stream remembers (O18). A stored snapshot of
 * the same or a later version stays. */
typedef struct pawl_stream_snapshot_set {
    PAWL__CHANGE_BASE
    pawl_text stream;
    int64_t   version;      /* of the last event in it */
    int32_t   type_version; /* of the state's record */
    pawl_text state;        /* JSON */
    /* JSON array of the dispatch ids remembered, oldest first. A number after an id is the time of its event, in
     * seconds since 1970; an id without a number has the time of the id before it. */
    pawl_text dispatches;
    pawl_time at; /* for people */
} pawl_stream_snapshot_set;

/* Value of a checkpoint that was set back to before the first event; 0: it was never set. */
#define PAWL_CHECKPOINT_START (-1)

/* Moves a checkpoint. Refused with PAWL_ECONFLICT unless the checkpoint is at `from`. */
typedef struct pawl_checkpoint_set {
    PAWL__CHANGE_BASE
    pawl_text name; /* of the reader, as "projection/NAME" */
    int64_t   from; /* 0: it was never set */
    int64_t   to; /* larger than `from`; if `is_back` smaller, PAWL_CHECKPOINT_START or positive */
    pawl_time at; /* for people */
    bool      is_back; /* events behind `to` are read again */
} pawl_checkpoint_set;

#ifdef __cplusplus
}
#endif
#endif
