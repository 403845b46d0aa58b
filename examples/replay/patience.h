/* patience.h - going on when a store was away for a while.
 *
 * A server that is restarted, or ends a session, takes nothing with it that the
 * run could not read again. So what failed for that reason is done again, with
 * pauses that double, until the store has been away for five minutes.
 *
 * Only a store that was reached before is waited for: one that was never there is
 * a mistake in the URL.
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

/* One thing to do. It has to be one that may be done twice. */
typedef pawl_code replay_try_fn(void *context, pawl_error *error);

/* Does it until it succeeds, fails for another reason, or the five minutes are over.
 * An interruption ends the wait. */
pawl_code replay_patiently(replay_patience *patience, replay_try_fn *try, void *context,
                           pawl_error *error);

#endif
