/* service.h - the service of an endpoint: outbox, projections, retention, and the leases of dead workers.
 *
 *     create -> { step: outbox -> projections -> retention }* -> leave -> destroy
 *
 * Threads: a thread of its own in run(); in step mode the caller's, on the worker's store handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_SERVICE_H
#define PAWL_RUNTIME_SERVICE_H

#include "pawl/loop.h"
#include "runtime/common/alarm.h"
#include "runtime/common/app_call.h"
#include "runtime/outbox/outbox.h"

/* The clock for the sweep of a store that has no server clock: see pawl__retention_time. All zero: not known yet. */
typedef struct pawl__sweep_clock {
    pawl_time time;
    int64_t   monotonic; /* monotonic time at which `time` was read */
    int64_t   ahead;     /* since when the machine's clock is ahead; 0: it is not */
} pawl__sweep_clock;

typedef struct pawl__service {
    pawl_endpoint            *endpoint;
    pawl__app_call            app_call;
    pawl_store               *store; /* borrowed from the worker in step mode */
    bool                      owns_store;
    pawl__alarm               sweep_alarm, route_alarm, inbound_alarm;
    pawl_random               random;
    pawl_arena               *arena;
    pawl__outbound            outbounds[PAWL__ROUTES_MAX];
    pawl__source_table        waiting; /* sources with a row that waits for a retry */
    pawl__unavailable         unavailable;
    bool                      is_leader;
    pawl_text                 lease_name;
    pawl_time                 lease_renewal; /* machine time */
    int64_t                   lease_end;     /* by pawl__lease_now */
    int64_t                   delivery_time; /* of recent slow calls of outbound transports */
    int64_t                   answered;      /* when the store last confirmed the lease */
    int64_t                   number;        /* fencing number: see outbox/leader.c */
    pawl_time                 arrival;       /* due time given to the last delivery */
    int64_t                   term;          /* number of take-overs by this service */
    pawl_time                 orphans_due;   /* machine time of the next check of held rows */
    pawl_time                 outbox_due;    /* machine time of the next check of the outbox */
    pawl_time                 outbox_retry; /* when the next waiting row is due, or PAWL_TIME_MAX */
    pawl_time                 last_now;     /* machine time of the last step */
    pawl_time                 sweep_due, reap_due;
    pawl__sweep_clock         believed; /* clock of the sweep */
    pawl_sweep_cursor         bodies_cursor;
    int                       sweep_failures; /* in a row */
    struct pawl__projections *projections;    /* NULL: the endpoint has none */
} pawl__service;

pawl_code pawl__service_create(pawl_endpoint *endpoint, pawl_store *borrowed,
                               pawl__service **service, pawl_error *error);
/* Closes the outbound transports and its own store. */
void      pawl__service_leave(pawl__service *service);
void      pawl__service_destroy(pawl__service *service); /* accepts NULL */
pawl_code pawl__service_step(pawl__service *service, pawl_step *step, pawl_error *error);
/* Machine time of the next step that has something to do. */
pawl_time pawl__service_due(const pawl__service *service);

#endif
