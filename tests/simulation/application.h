/* application.h - the subject of a simulation: an application, messages from outside, and what must be true of it.
 *
 *     begin -> { message -> (commits) -> committed* }* -> is_at_rest -> compare -> end
 *
 * pawl-sim has one of its own (traffic.h, model.h), and takes others from modules: `pawl-sim --app FILE.so`. A module
 * exports a simulation_application named SIMULATION_SYMBOL. apps/orders.c shows one for the example orders.
 *
 * `committed` is told of each commit that the store applied, with what was refused of it, and says by simulation_fail
 * what may not be. All data stands in the module: `begin` forgets what was before.
 *
 * Threads: the program has one. `committed` must not call the store; handlers may call simulation_pause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_APPLICATION_H
#define PAWL_SIMULATION_APPLICATION_H

#include "pawl/driver.h"
#include "pawl/operate.h"
#include "pawl/pawl.h"

#define SIMULATION_QUEUES_MAX 2
#define SIMULATION_SYMBOL "pawl_simulation"

/* In one commit to each of the queues. */
typedef struct simulation_message {
    const char *queues[SIMULATION_QUEUES_MAX]; /* NULL behind the last one */
    const char *type;
    char        id[64];
    char        body[400];
    int64_t     delay; /* microseconds */
} simulation_message;

/* Functions in brackets may be NULL. */
typedef struct simulation_application {
    size_t                  application_size; /* sizeof(simulation_application) */
    const pawl_application *application;
    /* Types of events and the queues that they go to from the beginning: those of endpoints, which subscribe late, and
     * others, for events that nobody reads and `committed` asks for. */
    const pawl_subscription *subscriptions;
    size_t                   subscription_count;
    /* The seed decides all that the functions below choose. [begin, end] */
    void (*begin)(uint64_t seed);
    void (*end)(void);
    /* The next message from outside: its number, from 1 on; 0: there are no more. */
    int64_t (*draw)(void);
    /* The message of a number, alike each time. */
    void (*message)(int64_t number, simulation_message *made);
    /* The timeout of a number, for a destination that no endpoint handles; `due` is from when it is set on. [timeout] */
    void (*timeout)(int64_t number, pawl_timeout_row *made);
    /* The sender was told that it is in the store. [sent] */
    void (*sent)(int64_t number);
    void (*committed)(const pawl_changes *changes, const pawl_refusals *refused);
    /* Rows of a queue were handed to a worker. [claimed] */
    void (*claimed)(const pawl_queue_claim *claim, const pawl_queue_rows *rows);
    /* The receiver behind simulation_outbound has a message. [delivered] */
    void (*delivered)(pawl_text id, pawl_text body);
    /* Wall clocks may differ by so much more; calls of the store may fail from now on. [clock, faults] */
    void (*clock)(int64_t microseconds);
    void (*faults)(void);
    /* Is everything done? Else `what` says what is not. */
    bool (*is_at_rest)(char *what, size_t size);
    /* At rest, and behind the end of all processes. [compare] */
    void (*compare)(pawl_store *store, pawl_arena *arena);
    /* How much was done, for the report; as long as it grows, the end of all trouble may be more than four hours ago. [done] */
    int64_t (*done)(void);
    /* Changes the options of an endpoint, by its name. [configure] */
    void (*configure)(const char *endpoint, pawl_endpoint_options *options);
} simulation_application;

/* The first failure of a run counts. */
__attribute__((visibility("default"))) void simulation_fail(const char *format, ...)
    PAWL_PRINTF(1, 2);
__attribute__((visibility("default"))) const char *simulation_failure(void); /* NULL: none */
/* Lets others run; the handler that calls this goes on after so long. */
__attribute__((visibility("default"))) void simulation_pause(int64_t microseconds);
/* A number below the limit that the seed decides. */
__attribute__((visibility("default"))) uint64_t simulation_draw(uint64_t limit);
__attribute__((visibility("default"))) int64_t  simulation_now(void); /* microseconds */
/* Was the group of a change refused? */
__attribute__((visibility("default"))) bool simulation_is_refused(const pawl_refusals *refused,
                                                                  uint32_t             group);
/* A receiver outside, that fails and is away as the plan says. For routes. */
extern __attribute__((visibility("default"))) const pawl_transport_ops simulation_outbound;

#endif
