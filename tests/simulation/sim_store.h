/* sim_store.h - the store driver "sim:": a store of the machine behind calls that take time and go wrong.
 *
 *     sim_store_begin(url, observer) -> processes open "sim:" -> sim_store_fault* -> sim_store_crash
 *
 * Each call lets others run before it does anything and again before it answers: so a process may crash with a
 * call that was not done, or whose answer it never had. Faults are those of one process.
 *
 * Threads: the program has one.
 * Tests: tests/simulation/found
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_SIM_STORE_H
#define PAWL_SIMULATION_SIM_STORE_H

#include "pawl/driver.h"
#include "simulation/machine.h"
#include "support/fault_store.h"

/* Ways in which a call goes wrong. */
typedef enum sim_fault {
    SIM_FAULT_NONE,
    SIM_FAULT_BEFORE,    /* nothing; the connection is lost */
    SIM_FAULT_AFTER,     /* all of it, and the answer is lost */
    SIM_FAULT_BUSY,      /* nothing; the store is busy */
    SIM_FAULT_LATE,      /* of a commit: it arrives behind the resolve; of other calls as BEFORE */
    SIM_FAULT_JUST_LATE, /* of a commit: it arrives just before the resolve; of other calls as AFTER */
    SIM_FAULT_SLOW,      /* all of it, half a minute late */
    SIM_FAULT_COUNT
} sim_fault;

typedef struct sim_observer {
    /* A commit was applied: what was refused of it is not part of the store. Refused sets are told, too. */
    void (*committed)(void *context, const pawl_changes *changes, const pawl_refusals *refused);
    /* Messages of a queue were handed to a worker. */
    void (*claimed)(void *context, const pawl_queue_claim *claim, const pawl_queue_rows *rows);
    void *context;
} sim_observer;

typedef struct sim_latency {
    int64_t  usual; /* microseconds: half of the most that a call takes before and behind */
    unsigned slow;  /* of a thousand calls so many take up to slow_max */
    int64_t  slow_max;
} sim_latency;

/* Stores that processes open are this one from now on. `url` is copied. */
void sim_store_begin(const char *url, const sim_observer *observer, const sim_latency *latency);
/* The next calls of the process, `count` of those named `op`, go wrong; fault_op_any: of all. */
void sim_store_fault(process *it, fault_op op, sim_fault fault, unsigned count);
/* Ends the sessions of the process: its claims are free, and its next calls find the connections lost. */
void sim_store_cut(process *it);
/* The store is away until this time: for all. */
void sim_store_away_until(int64_t time);
/* Ends the connections of a process that crashed. */
void sim_store_crash(process *it);
/* The power is gone (disk.h): all connections are lost. Then it is back, and the commit that was under way is told, if it
 * is part of the store. False: the store cannot be opened, or asked. */
void sim_store_lose_power(void);
bool sim_store_recover(pawl_error *error);
/* A defect that is planted: one of fifty commits sets no timeouts. */
void sim_store_forget_timeouts(bool is_planted);
/* No faults from now on. */
void sim_store_calm(void);

const char *sim_fault_name(sim_fault fault);

#endif
