/* hot.h - an application with contended sagas, which other workers write, too, on a store with row locks (locks.h). Its
 * sagas are Other, Counter (found by name, then by number) and Safe, which is pessimistic.
 *
 *     hot_open -> { hot_make | hot_bump | hot_touch | world_* }* -> world_close
 *
 * Threads: one.
 * Tests: tests/unit/engine/test_engine_hot.c, tests/unit/engine/test_engine_busy_sagas.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_HOT_H
#define PAWL_TESTS_HOT_H

#include "support/world.h"

RECORD(bump, (TEXT, name), (INT32, number));
RECORD(touch, (TEXT, name), (INT32, number));
PAWL_RECORD(both, A_NAME);
PAWL_RECORD(nudge, A_NAME);
PAWL_RECORD(found, A_NAME);
PAWL_RECORD(begin_found, A_NAME);
PAWL_RECORD(put_in, A_NAME);
PAWL_RECORD(take_out, A_NAME);

/* While positive, each handler of a counter meets another worker that saves the counter unchanged; decremented each
 * time. */
extern int hot_meddlings;
/* The other worker keeps "a" locked after its last commit. */
extern bool hot_is_taken_then;
extern int  hot_fails; /* number of counter handlers that fail, once each */
/* The last counter that was handled. */
extern pawl_saga_id hot_counter_id;
/* Handlers of counters that ran: "bump(a) meddled bump(a) ". */
extern world_log hot_seen;

/* Opens a world with counters "a" and "b" and empty lists. */
world *hot_open(const char *url);
/* The same on locks_url's store, or on a driver that wraps it; `ordered` is the endpoint's option. */
world *hot_open_on(const char *url, const char *ordered);
/* Causes two conflicts on each of these counters, "ab", by a message that succeeds in the end. */
void hot_make_each(world *it, const char *names);
/* The same for "a". */
void hot_make(world *it);

/* Starts or continues a counter; its number is that of the first letter. */
void hot_bump(world *it, const char *name);
/* Continues a counter by its name, or by its number. */
void hot_touch(world *it, const char *name, int32_t number);
/* Continues the counter by its id: a command that it sent was rejected. */
void hot_answer(world *it, pawl_saga_id id);
/* Sets a timeout through a separate handle. */
void hot_set_timeout(world *it, pawl_saga_id id, pawl_time due);
void hot_delete_a(void);

/* Number of messages and timeouts that the counter has handled. */
int hot_count(world *it, const char *name);

#endif
