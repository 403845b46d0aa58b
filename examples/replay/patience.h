/* patience.h - repeats an operation while a store is unavailable.
 *
 * If a server restarts or ends a session, all data of the run can be read again. So a failed operation is repeated,
 * with pauses that double, until the store has been unavailable for five minutes.
 *
 * A store that was never reached is not waited for: its URL is probably wrong.
 *
 * Tests: tests/system/replay_postgres.sh, replay_postgres_soak.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_PATIENCE_H
#define REPLAY_PATIENCE_H

#include "pawl/base.h"

typedef struct replay_patience {
    bool    was_reached; /* set when all stores were reached; a lost connection shows it, too */
    int64_t outages;     /* outages survived so far */
} replay_patience;

/* The operation, which must be safe to repeat. */
typedef pawl_code replay_try_fn(void *context, pawl_error *error);

/* Repeats the operation until it succeeds, fails for another reason, or five minutes are over. An interrupt ends the
 * wait. */
pawl_code replay_patiently(replay_patience *patience, replay_try_fn *try, void *context,
                           pawl_error *error);

#endif
