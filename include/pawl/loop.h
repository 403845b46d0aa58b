/* loop.h - an endpoint in a loop of your own: steps instead of run(), virtual clocks, and
 * questions to an endpoint of this program.
 *
 *     create -> { step | drain | receive }* -> destroy        stop from any thread
 *
 * step() does one piece of work on the calling thread. An endpoint is either run or stepped, by one call at a time: run,
 * step, drain and receive answer PAWL_EINVAL while another one is under way, also in a handler of it. In a child
 * process of fork() these calls and questions are refused with PAWL_EINVAL: the child creates its own endpoint.
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

/* For the options `business` and `machine`, whose rules endpoint.h has. Safe from any thread. */
PAWL_API pawl_clock *pawl_clock_create(pawl_time start); /* virtual; NULL: out of memory */
PAWL_API void        pawl_clock_destroy(pawl_clock *clock);
PAWL_API void        pawl_clock_set(pawl_clock *clock, pawl_time time); /* never back */
PAWL_API pawl_time   pawl_clock_now(const pawl_clock *clock); /* NULL: the system's clock */

/* ---- Steps ---------------------------------------------------------------- */

/* Counts of one step. A program begins with PAWL_STEP_INIT; the rest is written by each call. */
typedef struct pawl_step {
    size_t    step_size; /* sizeof(pawl_step) */
    int64_t   handled;   /* messages, timeouts and flushes that reached an end */
    int64_t   sent;      /* outbox rows delivered */
    int64_t   refused;   /* units that will run again */
    int64_t   dead;
    bool      is_idle;   /* nothing was due */
    bool      is_taken;  /* another process works this queue */
    pawl_time next_due;  /* business time at which an idle program comes again; PAWL_TIME_MAX */
    int64_t   projected; /* events that projections have dealt with or passed over */
} pawl_step;

#define PAWL_STEP_INIT                 \
    {                                  \
        .step_size = sizeof(pawl_step) \
    }

/* Comes again at once after a step that was not idle: the store may hold the next messages for it, and only an
 * idle step gives them back. After an idle one at `next_due`, or before it when wake_fd is readable: that is when the next
 * thing known is due, and after 1 s at most, as what other processes commit is not announced. By a virtual business clock
 * it is only what is known, or PAWL_TIME_MAX. `step` may be NULL. PAWL_EINVAL, and nothing was done: it does not begin
 * with PAWL_STEP_INIT. */
PAWL_API pawl_code pawl_endpoint_step(pawl_endpoint *endpoint, pawl_step *step, pawl_error *error);
/* Steps until idle; sums up. Behind a stop it makes one step and returns. `sum` as `step`. */
PAWL_API pawl_code pawl_endpoint_drain(pawl_endpoint *endpoint, pawl_step *sum, pawl_error *error);
/* For a program that steps: takes in what the broker of option transport has, at most a batch, as run() does on a
 * thread of its own; `*count` messages. Waits for the first one at most `wait` microseconds, or until a stop. Each
 * message is due at the business time of this call, one that says so itself (header pawl.due) at its own. Any code but
 * PAWL_OK: the store or the broker is unavailable, what was not acknowledged comes again, and the next call connects
 * anew. PAWL_EINVAL: the endpoint has no transport. */
PAWL_API pawl_code pawl_endpoint_receive(pawl_endpoint *endpoint, int64_t wait, size_t *count,
                                         pawl_error *error);
/* Readable when a commit of this process may have made work for step(). The caller waits for it until the step's
 * `next_due` at most; it is the endpoint's, and neither read nor closed by the caller. */
PAWL_API int pawl_endpoint_wake_fd(const pawl_endpoint *endpoint);

/* ---- One endpoint of this program ------------------------------------------ */

/* How many threads that run() abandoned have not come back yet. Until there is none, the
 * application and what the options point to must stay, also after destroy: no dlclose, no
 * pawl_clock_destroy. From any thread. */
PAWL_API int pawl_endpoint_abandoned(pawl_endpoint *endpoint);
/* Hands over now what an aggregator has: one partition, or all when NULL; done by the next steps. The request is in memory:
 * a stop before they are done leaves the partitions to their size and period. PAWL_EINVAL: the partition is neither named as
 * the aggregator nor begins with that and '/'. */
PAWL_API pawl_code pawl_endpoint_flush(pawl_endpoint *endpoint, const char *aggregator,
                                       const char *partition, pawl_error *error);
/* The three below are for programs that report: from any thread and at any time until destroy, also while run or step
 * is under way. The first call opens a store handle of the endpoint's for them; one call at a time uses it, and others
 * wait. They see what is committed.
 *
 * The saga's state by its correlation value as JSON; `*version` 0 when there is none. Handlers use their state. Of a
 * process or an entity, by its key: computed from all its events, also when a process is over. */
PAWL_API pawl_code pawl_endpoint_saga(pawl_endpoint *endpoint, const char *saga,
                                      const pawl_value *value, pawl_arena *arena, pawl_text *data,
                                      int64_t *version, pawl_error *error);
/* How many sagas there are. PAWL_EUNSUPPORTED for a process or an entity. */
PAWL_API pawl_code pawl_endpoint_saga_count(pawl_endpoint *endpoint, const char *saga,
                                            int64_t *count, pawl_error *error);
PAWL_API pawl_code pawl_endpoint_stats(pawl_endpoint *endpoint, pawl_arena *arena,
                                       pawl_stats *stats, pawl_error *error);
/* The port of /livez, /readyz and /metrics; 0: nothing listens. From any thread, until
 * destroy. */
PAWL_API int pawl_endpoint_observe_port(const pawl_endpoint *endpoint);

/* ---- Applications of a module ----------------------------------------------- */

/* The ABI number and the sizes that an application says it was built with: a program that loads an
 * application from a module calls this before it reads anything else of it. PAWL_ECONFIG names the table,
 * its bytes and how many are needed, or two endpoints of one name, with one queue, or with a projection of one name;
 * NULL is PAWL_EINVAL. From any thread. */
PAWL_API pawl_code pawl_application_check(const pawl_application *application, pawl_error *error);
/* The checks of pawl_endpoint_create that need no store: it opens none, and none need be given. An error that comes
 * from an option begins with "option NAME", one that comes from a route with "route 'NAME'". */
PAWL_API pawl_code pawl_endpoint_check(const pawl_application *application, const char *name,
                                       const pawl_endpoint_options *options, pawl_error *error);
/* The saga tables of an endpoint, for the schema verbs. In the arena. */
PAWL_API pawl_code pawl_endpoint_tables(const pawl_application *application, const char *name,
                                        const char *saga_prefix, pawl_arena *arena,
                                        const pawl_saga_table *const **tables, size_t *count,
                                        pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
