/* log.h - an event log, read into memory and sorted by time.
 *
 *     replay_log_read -> use the log, as long as needed -> replay_log_free
 *
 * Formats are CSV (RFC 4180) and XES, plain or gzipped; the content decides, not the file's name. The file is read as a
 * stream; memory holds a small struct per event, and each distinct text once.
 *
 * Threads: a log may be read from many threads; nothing here writes after replay_log_read has returned.
 * Tests: tests/unit/examples/test_replay_log.c, test_replay_damage.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_LOG_H
#define REPLAY_LOG_H

#include "pawl/base.h"

/* Names of CSV columns or XES keys. NULL: the default. In XES a name that begins with "case:" is an attribute of the
 * trace, without that prefix; other names are attributes of the event. The case id is always the trace's. */
typedef struct replay_columns {
    const char *case_id;  /* case:concept:name */
    const char *activity; /* concept:name */
    const char *time;     /* time:timestamp */
    const char *group;    /* org:group */
    /* True: the user named the group, so a log without it is refused. False: all its events are in the empty group. */
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
    replay_event *events; /* by time, then in file order */
    size_t        event_count;
    pawl_text    *cases; /* cases, activities and groups: distinct, in the order of the file */
    size_t        case_count;
    pawl_text    *groups;
    size_t        group_count;
    pawl_text    *activities;
    size_t        activity_count;
    uint64_t      fingerprint; /* FNV-1a over case, activity, group and time of each event */
    pawl_arena   *texts;
} replay_log;

/* `done`: bytes of the file read so far (compressed ones if it is gzipped); `total`: its size, 0 if unknown. Called for
 * each piece of 64 KiB. */
typedef void replay_progress_fn(uint64_t done, uint64_t total, void *context);

/* Reads the log, which the caller frees, except after a failure. `columns` and `progress` may be NULL. */
pawl_code replay_log_read(const char *path, const replay_columns *columns,
                          replay_progress_fn *progress, void *context, replay_log *log,
                          pawl_error *error);

/* Accepts a zeroed log, and may be called twice. */
void replay_log_free(replay_log *log);

#endif
