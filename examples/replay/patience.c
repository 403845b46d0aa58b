/* patience.c - retries an operation, and reports that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "patience.h"

#include "progress.h"
#include "support/interrupt.h"

#include <poll.h>

#define AWAY_MAX PAWL_MINUTES(5) /* a busy machine takes more than a minute to start RabbitMQ */
#define BUSY_MAX PAWL_SECONDS(3) /* longer than servers need to detect a deadlock */
#define PAUSE_FIRST PAWL_MILLISECONDS(50)
#define PAUSE_MAX PAWL_SECONDS(1)

typedef struct outage {
    int64_t begun; /* when the first failed try began; 0: no failure */
    int64_t pause;
} outage;

/* How long to retry after such a failure. */
static int64_t longest(const replay_patience *patience, pawl_code code)
{
    switch (code) {
    case PAWL_EUNREACHABLE: return patience->was_reached ? AWAY_MAX : 0;
    case PAWL_ELOST:
    case PAWL_EUNKNOWN:
    case PAWL_EFENCED:
    case PAWL_ETIMEOUT: return AWAY_MAX;
    case PAWL_EBUSY: return BUSY_MAX;
    default: return 0;
    }
}

/* Sleeps; a signal ends the pause. */
static void rest(int64_t microseconds)
{
    poll(NULL, 0, (int)(microseconds / 1000));
}

/* Should the operation be retried? `begun` is the time at which the failed try began: time spent waiting for a deadline
 * counts. */
static bool survive(const replay_patience *patience, outage *o, int64_t begun, pawl_code code,
                    const pawl_error *error)
{
    bool    is_first = o->begun == 0;
    int64_t since    = is_first ? begun : o->begun;
    if (example_interrupted() || example_monotonic() - since >= longest(patience, code))
        return false;
    if (is_first)
        replay_say("%s; trying again", error->text);
    o->begun = since;
    o->pause = is_first ? PAUSE_FIRST : o->pause * 2 < PAUSE_MAX ? o->pause * 2 : PAUSE_MAX;
    rest(o->pause);
    return true;
}

pawl_code replay_patiently(replay_patience *patience, replay_try_fn *try, void *context,
                           pawl_error *error)
{
    outage    o = {.begun = 0};
    int64_t   begun;
    pawl_code code;
    do {
        begun = example_monotonic();
        code  = try(context, error);
        if (code == PAWL_ELOST || code == PAWL_EUNKNOWN)
            patience->was_reached = true;
    } while (code != PAWL_OK && survive(patience, &o, begun, code, error));
    if (o.begun == 0)
        return code;
    patience->outages++;
    if (code == PAWL_OK)
        replay_say("going on after %.1f s", (double)(example_monotonic() - o.begun) / 1e6);
    return code == PAWL_OK ? code : example_interrupted() ? example_interrupt_check(error) : code;
}
