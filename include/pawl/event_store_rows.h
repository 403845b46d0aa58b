/* event_store_rows.h - structs of queries of the event store, and of the rows that it returns.
 *
 * Threads: plain data. Answers live in the arena of the call.
 * Tests: src/conformance/store/event_store*.c, src/conformance/store/events.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_EVENT_STORE_ROWS_H
#define PAWL_EVENT_STORE_ROWS_H

#include "pawl/message.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_event_row {
    pawl_text  stream;   /* "type/id" */
    int64_t    version;  /* in its stream, from 1 */
    int64_t    seq;      /* order of insertion, which need not be that of the commits */
    int64_t    position; /* global position; 0: not assigned yet */
    pawl_event event;
} pawl_event_row;

typedef struct pawl_event_rows {
    pawl_event_row *items;
    size_t          count;
} pawl_event_rows;

/* A filter of events; a field that is empty or zero matches any. Texts are borrowed for the
 * call. */
typedef struct pawl_event_query {
    pawl_text stream;         /* events of this stream, by version */
    bool      is_by_position; /* without a stream: in global order; else by seq */
    int64_t   after;          /* larger than this: version, global position or seq */
    bool      is_backward;    /* newest first: smaller than `after`; 0: from the end */
    pawl_text type;
    pawl_text message_id;
    pawl_text correlation_id;
    size_t    count_max; /* 0: all */
} pawl_event_query;

/* A snapshot of a stream; version 0: there is none. */
typedef struct pawl_stream_snapshot_row {
    int64_t   version;      /* of the last event in it */
    int32_t   type_version; /* of the state's record */
    pawl_text state;        /* JSON */
    pawl_text dispatches;   /* JSON array of the dispatch ids remembered, oldest first (O18) */
    pawl_time at;           /* when it was stored; for people */
} pawl_stream_snapshot_row;

/* A request to load a stream from a given event on. */
typedef struct pawl_stream_read {
    pawl_text stream; /* PAWL_EINVAL, PAWL_ELIMIT: not a valid name of a stream */
    int64_t   after;  /* events with a larger version; an earlier snapshot is left out */
    int32_t   snapshot_version_max; /* a snapshot of at most this version; 0: none */
} pawl_stream_read;

typedef struct pawl_stream {
    int64_t                  version; /* of the last event; 0: there is none */
    pawl_stream_snapshot_row snapshot;
    pawl_event_row          *events; /* after the snapshot, by version */
    size_t                   count;
} pawl_stream;

#ifdef __cplusplus
}
#endif
#endif
