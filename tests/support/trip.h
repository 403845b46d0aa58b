/* trip.h - a scenario with every kind of work, for fault loops: a saga that sets two timeouts and sends three messages
 * to another store, and an aggregator that is filled once.
 *
 *     trip_open -> trip_go with faults armed -> trip_end with none -> trip_close
 *
 * Texts are larger than an arena block, so that most copies are separate allocations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_TRIP_H
#define PAWL_TESTS_TRIP_H

#include "support/world.h"

extern const pawl_application trip_application;

typedef struct trip {
    world       it;
    pawl_store *keep; /* keeps a memory store alive */
    const char *target;
    pawl_route  routes[2];
    char        label[60];  /* of the fault, for messages */
    bool       *has_failed; /* set by the fault; a call may fail only after that, and only once */
    pawl_code   code;       /* the code of that failure */
} trip;

void trip_open(trip *self, const char *url, const char *target);
/* Runs everything up to the last timeout. */
void trip_go(trip *self);
/* Runs to the end without faults, and checks that nothing is lost or duplicated. */
void trip_end(trip *self);
void trip_close(trip *self);

#endif
