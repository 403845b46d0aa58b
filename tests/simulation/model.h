/* model.h - the guarantees, checked at each commit and at the end.
 *
 * The model is told of each commit that the store applied. It knows from the tasks (traffic.h) what each may
 * contain, keeps rows of its own, and says the first thing that is wrong.
 *
 * Threads: the program has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_MODEL_H
#define PAWL_SIMULATION_MODEL_H

#include "simulation/application.h"
#include "simulation/traffic.h"

/* The application of traffic.h with this model. */
extern const simulation_application traffic_simulation;

#endif
