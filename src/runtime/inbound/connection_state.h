/* connection_state.h - how an endpoint's reading from a broker stands, for health and metrics.
 *
 *     away --a step that took, or found nothing--> connected --a step that failed--> away
 *
 * The state also tells whether an older message may be where no look at this process and at the store finds it: "no saga" is not
 * final then (E3).
 *
 * Threads: noted by the thread that reads, described and asked from any, under the endpoint's mutex.
 * Tests: tests/unit/runtime/test_runtime_intake_health.c, test_runtime_direct_order.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_CONNECTION_STATE_H
#define PAWL_RUNTIME_CONNECTION_STATE_H

#include "pawl/endpoint.h"

#define PAWL__INBOUND_WHY_SIZE 200

struct pawl__alarm;
struct pawl__worker;

typedef struct pawl__inbound_state {
    struct pawl__intake *stepped; /* of step mode; or NULL */
    bool                 is_connected;
    int64_t              since; /* watch time from which it has been, or has not */
    char                 why[PAWL__INBOUND_WHY_SIZE]; /* of its being away */
    bool                 was_away;                    /* a step has failed */
    bool                 has_others; /* other processes of the endpoint were seen ... */
    int64_t              others_at;  /* ... at this watch time for the last time */
} pawl__inbound_state;

/* Away from now on, until a step succeeds. */
void pawl__inbound_state_begin(pawl_endpoint *endpoint);
/* The end of a step of the intake. `error` may be NULL. */
void pawl__inbound_state_note(pawl_endpoint *endpoint, pawl_code code, const pawl_error *error);
/* Whether the alarm holds that nothing has been read for a while. */
void pawl__inbound_state_judge(pawl_endpoint *endpoint, struct pawl__alarm *alarm);
/* May an older message be in flight in another process of the endpoint, or on its way back through the broker? The store is
 * asked for the other processes, so this is a question for when a message is about to be dropped. */
bool pawl__inbound_state_may_miss(struct pawl__worker *worker);
/* Writes since when and why nothing is read; nothing when it is, or when the endpoint has no transport. */
void pawl__inbound_state_describe(pawl_endpoint *endpoint, char *text, size_t size);

#endif
