/* stamp.h - the stamp of a message that is run alone after a death: the last entry of its row's
 * history says which worker has it in hand, before the handler runs.
 *
 *     add -> (the handler runs) -> the row goes, or remove
 *         -> (the process dies) -> read -> died, or remove when that worker lives
 *
 *     [{"attempt":2,"at":"...","code":"EDIED","error":"...","worker":"...","epoch":1,"pid":77}]
 *
 * A stamp of a process with a supervisor has its "process" besides, the id under which the supervisor will note
 * its death. A death has neither that nor an epoch any more, which tells it from a stamp.
 *
 * Threads: none of its own.
 * Tests: tests/unit/runtime/test_runtime_deaths.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_STAMP_H
#define PAWL_ENGINE_STAMP_H

#include "pawl/base.h"

typedef struct pawl__stamp {
    pawl_uuid worker;
    int64_t   epoch; /* of the worker, from 1 */
    int64_t   pid;
    pawl_time at;      /* machine time */
    pawl_uuid process; /* as worker_set_supervised was told; zeros: nobody will note its death */
} pawl__stamp;

/* Texts of these are in the arena; data is NULL when it has no memory, or the history is no list. */
pawl_text pawl__stamp_add(pawl_arena *arena, pawl_text history, const pawl__stamp *stamp);
pawl_text pawl__stamp_remove(pawl_arena *arena, pawl_text history);
/* The stamp at the end becomes a death, told by `error`. */
pawl_text pawl__stamp_died(pawl_arena *arena, pawl_text history, pawl_text error);
/* The text of the last entry; "" where there is none. */
pawl_text pawl__stamp_told(pawl_arena *arena, pawl_text history);
bool      pawl__stamp_is_supervised(const pawl__stamp *stamp);
/* False: the history does not end with a stamp. */
bool pawl__stamp_read(pawl_arena *arena, pawl_text history, pawl__stamp *stamp);

#endif
