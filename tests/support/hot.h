/* hot.h - an application whose sagas other workers write too, on a store with row
 * locks (locks.h). Its sagas are Other, Counter (by name, then by number) and Safe,
 * which is pessimistic.
 *
 *     hot_open -> { hot_make | hot_bump | hot_touch | world_* }* -> world_close
 *
 * Threads: one.
 * Tests: tests/unit/engine/test_engine_hot.c, tests/unit/engine/test_engine_elsewhere.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_HOT_H
#define PAWL_TESTS_HOT_H

#include "support/world.h"

#define BUMP(F)   \
    F(TEXT, name) \
    F(INT32, number)
PAWL_RECORD(bump, BUMP);
#define TOUCH(F)  \
    F(TEXT, name) \
    F(INT32, number)
PAWL_RECORD(touch, TOUCH);
PAWL_RECORD(both, A_NAME);
PAWL_RECORD(nudge, A_NAME);
PAWL_RECORD(found, A_NAME);
PAWL_RECORD(begin_found, A_NAME);
PAWL_RECORD(put_in, A_NAME);
PAWL_RECORD(take_out, A_NAME);

/* While positive, a handler of a counter meets another worker, which saves the
 * same one as it is, and it goes down by one. */
extern int hot_meddlings;
/* The other worker keeps "a" locked after its last commit. */
extern bool hot_is_taken_then;
extern int  hot_fails; /* handlers of counters that fail, once each */
/* Of the counter that was in hand last. */
extern pawl_saga_id hot_counter_id;
/* "bump(a) meddled bump(a) ": the handlers of counters that ran. */
extern world_log hot_seen;

/* Counters "a" and "b" are there, and lists are empty. */
world *hot_open(const char *url);
/* The same on locks_url's store, or on one before it; `ordered` is the endpoint's option. */
world *hot_open_on(const char *url, const char *ordered);
/* Two conflicts on each of these counters, as "ab", by a message that is handled in the end. */
void hot_make_each(world *it, const char *names);
/* On "a". */
void hot_make(world *it);

/* Starts or continues a counter; its number is the first letter's. */
void hot_bump(world *it, const char *name);
/* Continues a counter found by its name, or by its number. */
void hot_touch(world *it, const char *name, int32_t number);
/* Continues it by its id: a command of its was rejected. */
void hot_answer(world *it, pawl_saga_id id);
/* By handles of the test's own. */
void hot_set_timeout(world *it, pawl_saga_id id, pawl_time due);
void hot_delete_a(void);

/* How many messages and timeouts the counter has seen. */
int hot_count(world *it, const char *name);

#endif
