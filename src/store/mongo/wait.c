/* wait.c - news by polling: a wait looks at the counter of numbers, which each commit that adds rows
 * raises, after pauses of 20 ms that grow to 1 s while it stays, and returns after one second at most:
 * what others change in place shows in no number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_MS_MIN 20
#define PAUSE_MS_MAX 1000

static const pawl__field_list fields = PAWL__MONGO_NUMBER("last");

static pawl_code look(pawl_store *store, bool *is_news, pawl_error *error)
{
    static const pawl__mongo_table table = {.name = "schema", .fields = &fields};
    pawl__mongo                   *self  = pawl__mongo_of(store);
    int64_t                        last  = 0;
    pawl_code code = pawl__mongo_read_one(store, &table, NULL, &last, NULL, error,
                                          "filter: {_id: 'numbers'}, projection: {last: 1}");
    *is_news       = code == PAWL_OK && last != self->news;
    self->news     = last;
    return code;
}

static pawl_code pause_for(pawl_store *store, int64_t milliseconds, int wake_fd, bool *is_woken,
                           pawl_error *error)
{
    const pawl__mongo *self     = pawl__mongo_of(store);
    struct pollfd      items[2] = {
             {.fd = wake_fd, .events = POLLIN},
             {.fd = atomic_load(&self->interrupt_fd), .events = POLLIN},
    };
    uint64_t count;
    int      ready = poll(items, 2, (int)milliseconds);
    *is_woken      = items[0].revents != 0 || (ready < 0 && errno == EINTR);
    if (ready < 0 && errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "mongodb: cannot wait: %s", strerror(errno));
    if (ready > 0 && items[1].revents != 0) {
        ssize_t size = read(items[1].fd, &count, sizeof count);
        (void)size;
        return pawl_error_set(error, PAWL_EINTERRUPTED, "mongodb: the wait was interrupted");
    }
    return PAWL_OK;
}

/* An interrupt from before the call counts for nothing. */
static void calm(const pawl__mongo *self)
{
    uint64_t count;
    ssize_t  size = read(atomic_load(&self->interrupt_fd), &count, sizeof count);
    (void)size;
}

pawl_code pawl__mongo_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__mongo *self    = pawl__mongo_of(store);
    int64_t      now     = pawl__mongo_clock_ms();
    int64_t      rest    = (microseconds + 999) / 1000;
    int64_t      end     = now + (rest < PAUSE_MS_MAX ? rest : PAUSE_MS_MAX);
    bool         is_news = false, is_woken = false;
    pawl_code    code = PAWL_OK;
    calm(self);
    for (;;) {
        code = look(store, &is_news, error);
        if (is_news || code != PAWL_OK || now >= end)
            break;
        if (self->pause_ms < PAUSE_MS_MIN)
            self->pause_ms = PAUSE_MS_MIN;
        code = pause_for(store, self->pause_ms < end - now ? self->pause_ms : end - now, wake_fd,
                         &is_woken, error);
        if (is_woken || code != PAWL_OK)
            return code;
        self->pause_ms = self->pause_ms * 2 < PAUSE_MS_MAX ? self->pause_ms * 2 : PAUSE_MS_MAX;
        now            = pawl__mongo_clock_ms();
    }
    if (is_news)
        self->pause_ms = PAUSE_MS_MIN;
    return code;
}

void pawl__mongo_interrupt(pawl_store *store)
{
    const uint64_t     one        = 1;
    const pawl__mongo *self       = pawl__mongo_of(store);
    int                descriptor = atomic_load(&self->interrupt_fd);
    if (descriptor > 0 && self->pid == getpid()) {
        ssize_t written = write(descriptor, &one, sizeof one);
        (void)written;
    }
}
