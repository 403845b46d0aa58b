/* engine_callbacks.h - functions of a worker that the engine calls: routes, subscriptions, clocks, and sends that do not
 * wait for the commit of their handler.
 *
 *     set -> { commit* -> send_deferred }* -> close_aside, drop_deferred
 *
 * Threads: as the worker.
 * Tests: tests/unit/engine/test_engine_now.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ENGINE_CALLBACKS_H
#define PAWL_RUNTIME_ENGINE_CALLBACKS_H

#include "runtime/runtime.h"

/* Fills worker->engine. */
void pawl__engine_callbacks_set(pawl__worker *worker);
/* Commits the change set of the batch together with the sends that pawl_send_now deferred during a
 * hold: neither is there without the other. */
pawl_code pawl__worker_commit(pawl__worker *worker, pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error);
/* Commits the deferred sends that no such commit took along. */
pawl_code pawl__worker_send_deferred(pawl__worker *worker, pawl_error *error);
void      pawl__worker_drop_deferred(pawl__worker *worker);
/* Closes the handle that commits sends beside a hold. */
void pawl__worker_close_aside(pawl__worker *worker);

#endif
