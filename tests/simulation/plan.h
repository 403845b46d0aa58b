/* plan.h - a simulation as data: its settings, and what happens to it when.
 *
 *     plan_draw(seed) or plan_read(file) -> simulation_run
 *
 * A plan is a text of one line for each setting and event, so that one that fails is made shorter by leaving out
 * lines (shrink.h), and kept in tests/simulation/found.
 *
 * Threads: plain data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_PLAN_H
#define PAWL_SIMULATION_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* name, least, most. Durations in microseconds, chances out of a thousand. */
#define PLAN_SETTINGS(X)                                                                    \
    X(processes, 2, 6) /* each runs an endpoint */                                          \
    X(workers, 1, 4)   /* threads of each */                                                \
    X(batch, 1, 64)    /* messages in a commit */                                           \
    X(immediate_retries, 0, 3)                                                              \
    X(delayed_retries, 0, 4)                                                                \
    X(keys, 1, 6)                 /* sagas of each endpoint */                              \
    X(children, 0, 1000)          /* chance of each task that may follow */                 \
    X(cargo, 0, 500)              /* chance that it goes to the carrier */                  \
    X(timers, 0, 500)             /* or is a timeout */                                     \
    X(parcels, 0, 300)            /* or is for an aggregator */                             \
    X(facts, 0, 300)              /* or for an entity */                                    \
    X(pokes, 0, 300)              /* or for a saga that must be there */                    \
    X(completes, 0, 200)          /* chance that a task ends its saga */                    \
    X(failing, 0, 300)            /* chance of a task that fails at first */                \
    X(poison, 0, 60)              /* chance of one that always fails */                     \
    X(handler_max, 0, 200000)     /* duration of a handler */                               \
    X(handler_slow, 0, 60)        /* chance of one that takes up to 2 minutes */            \
    X(delay_max, 0, 20000000)     /* of messages */                                         \
    X(timer_max, 1000, 120000000) /* until a timeout */                                     \
    X(latency, 1, 20000)          /* of a call of the store */                              \
    X(slow, 0, 30)                /* chance of a slow call */                               \
    X(slow_max, 1, 20000000)                                                                \
    X(preempt, 0, 200)    /* chance that others run before a lock */                        \
    X(outbox_local, 0, 1) /* alpha sends to beta through the outbox */                      \
    X(outbox_batch, 1, 32)                                                                  \
    X(carrier_fails, 0, 200) /* chance that a delivery fails */                             \
    X(history, 0, 1)         /* lines of history are kept */                                \
    X(audit, 0, 1)           /* handled messages are copied */                              \
    X(box_size, 0, 5)        /* of the aggregator; 0: its period alone */                   \
    X(box_period, 0, 60000000)                                                              \
    X(ordered, 0, 1) /* queues keep the order of each saga */                               \
    X(bursts, 0, 7)  /* parcels come together, and go to one partition, each in a commit */ \
    X(jobs, 0, 300)  /* chance of a task that is for a process */

typedef struct plan_settings {
#define PLAN_SETTING(name, least, most) int64_t name;
    PLAN_SETTINGS(PLAN_SETTING)
#undef PLAN_SETTING
} plan_settings;

#define PLAN_EVENTS(X)                                                                 \
    X(send)    /* a message from outside */                                            \
    X(again)   /* the message of an earlier send, once more */                         \
    X(crash)   /* of a process, which starts again `value` later */                    \
    X(stop)    /* of a process, in order; it starts again */                           \
    X(stall)   /* of a process, for `value` */                                         \
    X(clock)   /* of a process: its wall clock moves by `value` */                     \
    X(fault)   /* the next calls of a process go wrong */                              \
    X(cut)     /* the store ends the sessions of a process, which does not know yet */ \
    X(away)    /* the store cannot be reached for `value` */                           \
    X(carrier) /* the carrier cannot be reached for `value` */                         \
    X(retry)   /* an operator sends all dead letters again */                          \
    X(pause)   /* and pauses a queue for `value` */                                    \
    X(abroad)  /* a program sets a timeout for a destination without an endpoint */

typedef enum plan_event_kind {
#define PLAN_EVENT(name) plan_event_##name,
    PLAN_EVENTS(PLAN_EVENT)
#undef PLAN_EVENT
        plan_event_count
} plan_event_kind;

typedef struct plan_event {
    plan_event_kind kind;
    int64_t         at; /* microseconds since the start */
    int             process;
    int64_t         value;
    int             op, fault; /* of fault: fault_op and sim_fault */
} plan_event;

#define PLAN_EVENTS_MAX 400

typedef struct sim_plan {
    uint64_t      seed; /* of the turns of threads, and of the tasks */
    plan_settings settings;
    plan_event    events[PLAN_EVENTS_MAX]; /* by time */
    int           event_count;
} sim_plan;

void plan_draw(uint64_t seed, sim_plan *made);
void plan_print(const sim_plan *it, FILE *file);
/* False: `why` says what is wrong with which line. */
bool plan_read(FILE *file, sim_plan *made, char *why, size_t size);

#endif
