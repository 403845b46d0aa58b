/* patience.h - repeats an operation while a store is unavailable.
 *
 * When a server is restarted or ends a session, the run loses nothing that it
 * cannot read again. So an operation that failed for that reason is repeated, with
 * pauses that double, until the store has been unavailable for five minutes.
 *
 * Only a store that was reached before is waited for: if it never was, the URL is
 * probably wrong.
 *
 * Tests: tests/system/replay_postgres.sh, replay_postgres_soak.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_PATIENCE_H
#define REPLAY_PATIENCE_H

#include "pawl/base.h"

typedef struct replay_patience {
    bool    was_reached; /* set by who reached all of them; a lost connection shows it too */
    int64_t outages;     /* outages survived so far */
} replay_patience;

/* An operation, which must be safe to repeat. */
typedef pawl_code replay_try_fn(void *context, pawl_error *error);

/* Repeats the operation until it succeeds, fails for another reason, or the five minutes are over.
 * An interruption ends the wait. */
pawl_code replay_patiently(replay_patience *patience, replay_try_fn *try, void *context,
                           pawl_error *error);

#endif
