/* inbound_loop.c - the loop of the thread that takes in the messages of a broker.
 *
 * Neither a broker nor a store that is away ends it, so that an endpoint goes on with what is in its own queue: it tries
 * again after pauses that grow, and the log has a line when that begins, one a minute, and one when it is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/threads.h"

#include <poll.h>

#define WAIT PAWL_SECONDS(30)
#define TOLD_PERIOD PAWL_MINUTES(1)
#define RETRIES_MAX 20 /* counted; the pause has its longest before */

typedef struct trouble {
    int       retries; /* failures in a row */
    int64_t   since;
    int64_t   told_due; /* time of the next line */
    pawl_code told;
} trouble;

static void say_trouble(const pawl__thread *self, trouble *at, pawl_code code,
                        const pawl_error *error)
{
    int64_t now = pawl__watch_now(self->endpoint);
    if (at->retries == 0)
        at->since = now;
    if (at->retries > 0 && code == at->told && now < at->told_due)
        return;
    at->told     = code;
    at->told_due = pawl_time_add(now, TOLD_PERIOD);
    pawl_log(PAWL_LOG_WARNING,
             "endpoint %s: nothing is taken from queue %s of the broker: %s; trying again",
             self->endpoint->model->endpoint.data, self->inbound->queue, error->text);
}

static void say_back(const pawl__thread *self, const trouble *at)
{
    int64_t lasted = pawl__watch_now(self->endpoint) - at->since;
    pawl_log(PAWL_LOG_INFO, "endpoint %s: queue %s of the broker is read again after %lld ms",
             self->endpoint->model->endpoint.data, self->inbound->queue,
             (long long)(lasted / PAWL_MILLISECONDS(1)));
}

static void rest(const pawl__thread *self, int64_t microseconds)
{
    struct pollfd fd = {.fd = self->endpoint->stop_fd, .events = POLLIN};
    (void)poll(&fd, 1, (int)(microseconds / 1000) + 1);
}

void pawl__thread_receive(pawl__thread *self)
{
    trouble at       = {.retries = 0};
    bool    has_read = false;
    pawl__intake_begin_direct(self->inbound, self->wake_fd);
    while (!atomic_load(&self->endpoint->is_stopping)) {
        pawl_error error = PAWL_ERROR_INIT;
        size_t     count = 0;
        /* The first step, and the first after a failure, does not wait, so that what it says comes soon. */
        int64_t   wait = at.retries > 0 || !has_read ? 0 : WAIT;
        pawl_code code = pawl__intake_step(self->inbound, wait, self->wake_fd, &count, &error);
        if (code == PAWL_OK) {
            if (at.retries > 0)
                say_back(self, &at);
            at.retries = 0;
            has_read   = true;
            continue;
        }
        say_trouble(self, &at, code, &error);
        rest(self, pawl__intake_pause(self->inbound, at.retries));
        at.retries += at.retries < RETRIES_MAX;
    }
    pawl__intake_end_direct(self->inbound);
}
