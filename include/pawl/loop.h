/* loop.h - for programs that run an endpoint in an event loop of their own: steps in place of
 * pawl_endpoint_run, virtual clocks, and queries to an endpoint of this program.
 *
 *     create -> { step | drain | receive }* -> destroy        stop from any thread
 *
 * A step does one piece of work on the calling thread. Only one call of run, step, drain and receive may be under
 * way per endpoint: another one, also from a handler, answers PAWL_EINVAL. So do these calls and the queries below in
 * a child process of fork(), which must create its own endpoint.
 *
 * Tests: tests/unit/runtime
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_LOOP_H
#define PAWL_LOOP_H

#include "pawl/endpoint.h"
#include "pawl/store_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Clocks -------------------------------------------------------------- */

/* Virtual clocks for the options `business` and `machine` (endpoint.h). Safe from any thread. */
PAWL_API pawl_clock *pawl_clock_create(pawl_time start); /* virtual; NULL: out of memory */
PAWL_API void        pawl_clock_destroy(pawl_clock *clock);
PAWL_API void pawl_clock_set(pawl_clock *clock, pawl_time time); /* never back; NULL: nothing */
PAWL_API pawl_time pawl_clock_now(const pawl_clock *clock);      /* NULL: the system's clock */

/* ---- Steps ---------------------------------------------------------------- */

/* Counts of one step. A program begins with PAWL_STEP_INIT; the rest is written by each call. */
typedef struct pawl_step {
    size_t    step_size; /* sizeof(pawl_step) */
    int64_t   handled;   /* messages, timeouts and flushes that were settled */
    int64_t   sent;      /* outbox rows delivered */
    int64_t   refused;   /* units that will run again */
    int64_t   dead;      /* dead letters */
    bool      is_idle;   /* nothing was due */
    bool      is_taken;  /* another process works this queue */
    pawl_time next_due;  /* business time of the next step of an idle program; or PAWL_TIME_MAX */
    int64_t   projected; /* events that projections have handled or skipped */
} pawl_step;

#define PAWL_STEP_INIT PAWL__BRACES(PAWL__SET(step_size, sizeof(pawl_step)))

/* Claims and handles due work once. If the step was not idle, call it again at once: the store may have claimed the next
 * messages already, and only an idle step releases them. After an idle step call it at `next_due`, or as soon as
 * wake_fd is readable. `next_due` is when the next known work is due, at most 1 s away, since commits of other
 * processes may not wake this one; under a virtual business clock it has no such limit. `step` may be NULL.
 * PAWL_EINVAL: `step` does not begin with PAWL_STEP_INIT; nothing was done. */
PAWL_API pawl_code pawl_endpoint_step(pawl_endpoint *endpoint, pawl_step *step, pawl_error *error);
/* Steps until idle, and adds up the counts in `sum` (as `step`). After a stop it makes one step and returns. */
PAWL_API pawl_code pawl_endpoint_drain(pawl_endpoint *endpoint, pawl_step *sum, pawl_error *error);
/* For a program that steps: reads the broker of option `transport`, as pawl_endpoint_run does on a thread of its own.
 * Stores at most a batch of messages in the endpoint's queue; `*count` is how many. Waits for the first message at
 * most `wait` microseconds, or until a stop. A message is due at its header pawl.due, else at the business time of
 * this call. PAWL_EINVAL: the endpoint has no transport. Any other code: the store or the broker is unavailable,
 * the broker delivers unacknowledged messages again, and the next call reconnects. */
PAWL_API pawl_code pawl_endpoint_receive(pawl_endpoint *endpoint, int64_t wait, size_t *count,
                                         pawl_error *error);
/* A descriptor that becomes readable when a commit of this process may have made work for a step. Lent: the caller only
 * polls it, until `next_due` at the latest, and neither reads nor closes it. */
PAWL_API int pawl_endpoint_wake_fd(const pawl_endpoint *endpoint);

/* ---- One endpoint of this program ------------------------------------------ */

/* Number of threads that pawl_endpoint_run abandoned and that are still in a handler. While there is one, the
 * application and all that the options point to must stay, even after destroy: no dlclose, no pawl_clock_destroy.
 * From any thread. */
PAWL_API int pawl_endpoint_abandoned(pawl_endpoint *endpoint);
/* Has the next steps flush one partition of an aggregator, or all with NULL. The request is in memory only: after a stop
 * before those steps, partitions are flushed by size and period again. PAWL_EINVAL: `partition` is neither the
 * aggregator's name nor begins with that name and '/'. */
PAWL_API pawl_code pawl_endpoint_flush(pawl_endpoint *endpoint, const char *aggregator,
                                       const char *partition, pawl_error *error);
/* The three calls below are for programs that report: from any thread until destroy, also while run or step is under
 * way. They share one store handle, which the first call opens; a call waits while another one uses it. They see only
 * committed data.
 *
 * The state of the saga with this correlation value, as JSON in the arena; `*version` is 0 when there is none. For a
 * process or an entity `value` is its key, and the state is computed from all its events, also after its end. */
PAWL_API pawl_code pawl_endpoint_saga(pawl_endpoint *endpoint, const char *saga,
                                      const pawl_value *value, pawl_arena *arena, pawl_text *data,
                                      int64_t *version, pawl_error *error);
/* How many sagas there are. PAWL_EUNSUPPORTED for a process or an entity. */
PAWL_API pawl_code pawl_endpoint_saga_count(pawl_endpoint *endpoint, const char *saga,
                                            int64_t *count, pawl_error *error);
PAWL_API pawl_code pawl_endpoint_stats(pawl_endpoint *endpoint, pawl_arena *arena,
                                       pawl_stats *stats, pawl_error *error);
/* The port of /livez, /readyz and /metrics; 0: there is none. From any thread, until destroy. */
PAWL_API int pawl_endpoint_observe_port(const pawl_endpoint *endpoint);

/* ---- Applications of a module ----------------------------------------------- */

/* Checks the ABI number and the struct sizes of an application; a program that loads an application from a module
 * calls this before it reads any other member. PAWL_ECONFIG: a size is wrong (the text names the table, its size and
 * the size needed), or two endpoints share a name, a queue or the name of a projection. PAWL_EINVAL: NULL. From any
 * thread. */
PAWL_API pawl_code pawl_application_check(const pawl_application *application, pawl_error *error);
/* Makes the checks of pawl_endpoint_create that need no store; option `store` may be NULL. An error about an option
 * begins with "option NAME", one about a route with "route 'NAME'". */
PAWL_API pawl_code pawl_endpoint_check(const pawl_application *application, const char *name,
                                       const pawl_endpoint_options *options, pawl_error *error);
/* The saga tables of an endpoint, in the arena: for pawl_schema_spec and pawl_store_options. */
PAWL_API pawl_code pawl_endpoint_tables(const pawl_application *application, const char *name,
                                        const char *saga_prefix, pawl_arena *arena,
                                        const pawl_saga_table *const **tables, size_t *count,
                                        pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
