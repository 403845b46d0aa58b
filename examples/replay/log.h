/* log.h - an event log, read into memory in the order of its time.
 *
 *     replay_log_read -> use the log, as long as needed -> replay_log_free
 *
 * Two formats are read, plain or gzipped: CSV (RFC 4180) and XES. The content
 * tells which it is, never the name. The file is read as a stream; what stays
 * in memory is a small struct per event and each distinct text once.
 *
 * Threads: a log may be read from many threads; nothing here writes after
 * replay_log_read has returned.
 * Tests: tests/unit/examples/test_replay_log.c, test_replay_damage.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_LOG_H
#define REPLAY_LOG_H

#include "pawl/base.h"

/* Which columns of a CSV, or keys of an XES log, hold what. NULL means the
 * default. In XES a name that begins with "case:" is the attribute of the trace
 * without that prefix, any other name is an attribute of the event; the case id
 * is always the trace's. */
typedef struct replay_columns {
    const char *case_id;  /* case:concept:name */
    const char *activity; /* concept:name */
    const char *time;     /* time:timestamp */
    const char *group;    /* org:group */
    /* The user named the group: a log without it is refused. Else all of its
     * events are in the empty group. */
    bool group_is_required;
} replay_columns;

typedef struct replay_event {
    pawl_time time;
    uint32_t  case_index;
    uint32_t  group_index;
    uint32_t  activity_index;
    uint32_t  order; /* position in the file, from 0 */
} replay_event;

typedef struct replay_log {
    replay_event *events; /* by time, ties in file order */
    size_t        event_count;
    pawl_text    *cases; /* these three: distinct, in the order the file names them */
    size_t        case_count;
    pawl_text    *groups;
    size_t        group_count;
    pawl_text    *activities;
    size_t        activity_count;
    uint64_t      fingerprint; /* FNV-1a over case, activity, group and time of each event */
    pawl_arena   *texts;
} replay_log;

/* Bytes of the file read so far (compressed ones when it is gzipped), and its
 * size, 0 when that is not known. Called once for each piece of 64 KiB. */
typedef void replay_progress_fn(uint64_t done, uint64_t total, void *context);

/* Fills `log`, which the caller frees. On failure there is nothing to free.
 * `columns` and `progress` may be NULL.
 *
 * PAWL_EINPUT  the file cannot be read or is not a log that can be replayed:
 *              the error is one line that names the file, and the line in it. */
pawl_code replay_log_read(const char *path, const replay_columns *columns,
                          replay_progress_fn *progress, void *context, replay_log *log,
                          pawl_error *error);

/* Accepts a log that is all zero, and may be called twice. */
void replay_log_free(replay_log *log);

#endif
