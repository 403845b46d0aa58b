/* trip.h - one scenario that touches every kind of work, for fault loops: a saga
 * that sets two timeouts and sends three messages to another store, and an
 * aggregator that is filled once.
 *
 *     trip_open -> trip_go with faults armed -> trip_end with none -> trip_close
 *
 * Its texts are larger than a block of an arena, so that most copies are
 * allocations of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_TRIP_H
#define PAWL_TESTS_TRIP_H

#include "support/world.h"

extern const pawl_application trip_application;

typedef struct trip {
    world       it;
    pawl_store *keep; /* keeps a target in memory */
    const char *target;
    pawl_route  routes[2];
    char        label[60];  /* of the fault, for messages */
    bool       *has_failed; /* set by the fault; a call may fail only then, and once */
    pawl_code   code;       /* with which */
} trip;

void trip_open(trip *self, const char *url, const char *target);
/* Everything up to the last timeout. */
void trip_go(trip *self);
/* Brings it to its end without faults and checks that nothing is lost and
 * nothing is there twice. */
void trip_end(trip *self);
void trip_close(trip *self);

#endif
