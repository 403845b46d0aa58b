/* traffic.h - an application whose messages say what their handlers do.
 *
 * Each message has a number, that of its task. When a task is made, all that its handler does is drawn, with all
 * tasks that follow from it: messages to two endpoints, to a carrier outside, events, timeouts, the end of the
 * saga, failures. Each handled task writes its number into the log in the state of its saga, so that a commit shows
 * which tasks have had an effect:
 *
 *     act, news --> saga of alpha or beta --> act, news, note, parcel, cargo (carrier), timeouts a and b
 *     parcel -----> aggregator, which sends the numbers of its parcels to the queue "packed"
 *     note -------> entity --> noted (event) --> projection, which sends its number to the queue "seen"
 *     job --------> process of its own --> note; its timeout may be a dead letter, until an operator sends it again
 *     the end of a saga sends its log to the queue "closed"; nobody reads these queues
 *
 * Threads: the program has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_TRAFFIC_H
#define PAWL_SIMULATION_TRAFFIC_H

#include "pawl/pawl.h"
#include "simulation/application.h"
#include "simulation/plan.h"

#define TASK_CHILDREN_MAX 4
#define TASK_DEPTH_MAX 4
#define TIMERS 2
#define ENDPOINTS 2

typedef enum task_kind {
    TASK_ACT,    /* a message to one endpoint */
    TASK_NEWS,   /* an event: to both */
    TASK_CARGO,  /* to the carrier, through the outbox */
    TASK_PARCEL, /* to an aggregator */
    TASK_FACT,   /* to an entity, which emits an event */
    TASK_POKE,   /* to a saga, if there is one */
    TASK_TIMER,  /* a timeout of the saga of the task that sets it */
    TASK_JOB,    /* to a process of its own, which asks an entity and sets a timeout */
} task_kind;

typedef enum task_end {
    TASK_SUCCEEDS,
    TASK_COMPLETES, /* and ends the saga */
    TASK_REJECTS,   /* becomes a dead letter at once */
    TASK_FAILS,     /* each time, and becomes a dead letter */
} task_end;

typedef struct sim_task {
    task_kind kind;
    task_end  end;
    int64_t   parent;   /* 0: sent from outside */
    int       endpoint; /* of ACT */
    int       key;
    int64_t   delay;    /* of the message, or until the timeout */
    int64_t   timeout;  /* of JOB: until its timeout, to which its end and failures belong */
    int64_t   duration; /* of the handler */
    unsigned  failures; /* before it succeeds; counted down as it runs */
    bool      is_failing;
    int       timer;   /* of TIMER: which */
    int       cancels; /* the timer that it cancels, or -1 */
    int64_t   children[TASK_CHILDREN_MAX];
    size_t    child_count;
} sim_task;

extern const pawl_application traffic;
/* Their names; an endpoint's `user` is the address of its own. */
extern const char *const traffic_endpoints[ENDPOINTS];

/* The plan of the runs from now on: borrowed. */
void                 traffic_plan(const sim_plan *plan);
const plan_settings *traffic_settings(void);
/* No tasks. */
void traffic_begin(uint64_t seed);
void traffic_message(int64_t number, simulation_message *made);
void traffic_configure(const char *endpoint, pawl_endpoint_options *options);
/* A new task and all that follow from it; its number. */
int64_t   traffic_draw(void);
sim_task *traffic_task(int64_t number); /* NULL: there is none of this number */
int64_t   traffic_count(void);
/* The number in a body; 0: it has none. */
int64_t traffic_number(pawl_text body);
int64_t traffic_period(void); /* of the aggregators */
/* The endpoint whose saga has this table, or whose queue this is; -1: none. */
int traffic_endpoint(pawl_text name);

#endif
