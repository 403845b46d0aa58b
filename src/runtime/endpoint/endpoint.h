/* endpoint.h - an endpoint: its options, its threads, its start and its stop.
 *
 *     options.c, audit.c, recovery.h   what an application and an operator set, checked
 *     endpoint.c                       create; step and drain, for programs that run no threads
 *     ask.c                            questions of a program that reports
 *     application.c                    all endpoints of an application
 *     threads.h                        run(): starts threads, watches them, ends them; thread_loops.c: what they do
 *     heartbeat.c                      says that workers live while their handlers run
 *     service.h                        outbox, projections, retention
 *     sender.c                         sends from outside of a handler
 *
 *     create -> { step | drain }* or run -> stop -> destroy
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ENDPOINT_H
#define PAWL_RUNTIME_ENDPOINT_H

#include "runtime/runtime.h"

/* options.c: checks, fills in defaults, takes the routes. */
pawl_code pawl__settings_take(pawl_endpoint *endpoint, const pawl_application *application,
                              const char *name, const pawl_endpoint_options *options,
                              pawl_error *error);
/* endpoint.c: PAWL_EINVAL unless `step` is NULL or begins with PAWL_STEP_INIT. */
pawl_code pawl__step_check(const pawl_step *step, pawl_error *error);
/* audit.c: reads the option audit and adds its route, behind all others. PAWL_ECONFIG names the option, what it is, and
 * what is wrong with it. */
pawl_code pawl__audit_take(pawl_endpoint *endpoint, pawl_error *error);
/* endpoint.c: takes the endpoint until `is_used` is cleared. PAWL_EINVAL: another call has it, perhaps the one around the
 * handler that calls now. */
pawl_code pawl__endpoint_use(pawl_endpoint *endpoint, pawl_error *error);
/* Adds the counts of a step. */
void pawl__step_add(pawl_step *sum, const pawl_step *step);
/* pawl_endpoint_create. `is_test`: handlers with SQL of their own may be on a store
 * without. */
pawl_code pawl__endpoint_create(const pawl_application *application, const char *name,
                                const pawl_endpoint_options *options, bool is_test,
                                pawl_endpoint **endpoint, pawl_error *error);
/* sender.c: pawl_sender_send_json of a body that may be anything. */
pawl_code pawl__sender_send_text(pawl_sender *sender, const char *queue,
                                 const pawl_send_options *given, const char *type, pawl_text body,
                                 pawl_error *error);
/* One user leaves; the last frees the endpoint. */
void pawl__endpoint_leave(pawl_endpoint *endpoint, bool was_given_up);

#endif
