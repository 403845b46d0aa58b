/* stamp.h - the stamp of a message that is run with care after a death: the last entry of its row's
 * history says which worker has it in hand, before the handler runs, and whether alone or among others.
 *
 *     add -> (the handler runs) -> the row goes, or remove
 *         -> (the process dies) -> read -> died, or remove when that worker lives
 *
 *     [{"attempt":2,"at":"...","code":"ECRASHED","error":"...","worker":"...","epoch":1,"pid":77}]
 *
 * A stamp of a batch of several has "among", their number. Its death counts for none of them: whoever finds such a stamp of
 * a worker that does not live runs the message alone. A stamp of a process with a supervisor has its "process" besides, the id under which the supervisor will note
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
    int64_t   among;   /* messages and timeouts of its batch; 0: it is alone */
} pawl__stamp;

/* Texts of these are in the arena; data is NULL when it has no memory, or the history is no list. */
pawl_text pawl__stamp_add(pawl_arena *arena, pawl_text history, const pawl__stamp *stamp);
pawl_text pawl__stamp_remove(pawl_arena *arena, pawl_text history);
/* The stamp at the end becomes a death, told by `error`. */
pawl_text pawl__stamp_died(pawl_arena *arena, pawl_text history, pawl_text error);
/* The text of the last entry; "" where there is none. */
pawl_text pawl__stamp_told(pawl_arena *arena, pawl_text history);
bool      pawl__stamp_is_supervised(const pawl__stamp *stamp);
/* The deaths that a history of a timeout or a flush has, which is nothing but these; a stamp of one that is alone is
 * counted ahead, one of several is not. */
int32_t pawl__stamp_deaths(pawl_arena *arena, pawl_text history);
/* False: the history does not end with a stamp. */
bool pawl__stamp_read(pawl_arena *arena, pawl_text history, pawl__stamp *stamp);

#endif
