/* connection_state.h - notes whether an endpoint reads from its broker, for health and metrics.
 *
 *     away --a step succeeds, with messages or without--> connected --a step fails--> away
 *
 * The state also tells whether an older message may exist that is neither in this process nor in the store: then "no
 * saga" is not final (E3).
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
    struct pawl__intake *stepped; /* the intake of step mode, or NULL */
    bool                 is_connected;
    int64_t              since; /* watch time since when it is, or is not, connected */
    char                 why[PAWL__INBOUND_WHY_SIZE]; /* why it is not connected */
    bool                 was_away;                    /* a step has failed before */
    bool                 has_others; /* other processes of the endpoint were seen, */
    int64_t              others_at;  /* last at this watch time */
} pawl__inbound_state;

/* Sets the state to away until a step succeeds. */
void pawl__inbound_state_begin(pawl_endpoint *endpoint);
/* Notes the result of a step of the intake. `error` may be NULL. */
void pawl__inbound_state_note(pawl_endpoint *endpoint, pawl_code code, const pawl_error *error);
/* Sets or clears the alarm that nothing has been read for a while. */
void pawl__inbound_state_judge(pawl_endpoint *endpoint, struct pawl__alarm *alarm);
/* May an older message be in flight in another process of the endpoint, or be returned to the broker? Reads the list of
 * workers from the store, so call it only before a message would be dropped. */
bool pawl__inbound_state_may_miss(struct pawl__worker *worker);
/* Writes since when and why nothing is read; writes "" if it is connected or the endpoint has no transport. */
void pawl__inbound_state_describe(pawl_endpoint *endpoint, char *text, size_t size);

#endif
