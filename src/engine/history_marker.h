/* history_marker.h - the in-flight marker of a message in the isolation phase: the last entry of its row's history, committed
 * before the handler runs, says which worker runs it, and with how many others in the batch.
 *
 *     add -> (the handler runs) -> the row goes, or remove
 *         -> (the process dies) -> read -> died, or remove when that worker lives
 *
 *     [{"attempt":2,"at":"...","code":"ECRASHED","error":"...","worker":"...","epoch":1,"pid":77}]
 *
 * In a batch of several the marker has "among", their number. If that worker crashes, no message's crash count changes;
 * the worker that finds the marker runs the message isolated. Under a supervisor the marker also has "process": the id
 * by which the supervisor records the crash. An entry of a crash has no "process" and no "epoch"; a marker has an
 * epoch.
 *
 * Threads: none of its own.
 * Tests: tests/unit/runtime/test_runtime_deaths.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_HISTORY_MARKER_H
#define PAWL_ENGINE_HISTORY_MARKER_H

#include "pawl/base.h"

typedef struct pawl__history_marker {
    pawl_uuid worker;
    int64_t   epoch; /* of the worker, from 1 */
    int64_t   pid;
    pawl_time at;      /* machine time */
    pawl_uuid process; /* from worker_set_supervised; zeros: no supervisor records the crash */
    int64_t   among;   /* messages and timeouts of its batch; 0: isolated */
} pawl__history_marker;

/* Results are in the arena; data NULL: out of memory. */
pawl_text pawl__history_marker_add(pawl_arena *arena, pawl_text history,
                                   const pawl__history_marker *marker);
pawl_text pawl__history_marker_remove(pawl_arena *arena, pawl_text history);
/* Turns the marker at the end into the entry of a crash with the text `error`. */
pawl_text pawl__history_marker_to_crash(pawl_arena *arena, pawl_text history, pawl_text error);
/* The error text of the last entry; "" if there is none. */
pawl_text pawl__history_last_error(pawl_arena *arena, pawl_text history);
bool      pawl__history_marker_is_supervised(const pawl__history_marker *marker);
/* Crash count in the history of a timeout or a flush, which lists only crashes. A marker of an isolated run counts
 * already, one of a batch of several does not. */
int32_t pawl__history_crashes(pawl_arena *arena, pawl_text history);
/* False: the history does not end with a marker. */
bool pawl__history_marker_read(pawl_arena *arena, pawl_text history, pawl__history_marker *marker);

#endif
