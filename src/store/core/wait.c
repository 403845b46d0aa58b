/* wait.c - interrupts, pauses, polling and resolving; see wait.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS_MIN 20
#define PAUSE_MS_MAX 1000
#define RESOLVE_MS_MIN 50 /* between two tries to learn of a commit */
#define RESOLVE_MS_MAX 2000

int64_t pawl__clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- Interrupts ---------------------------------------------------------- */

pawl_code pawl__wait_open(pawl__wait *wait, const char *name, pawl_error *error)
{
    wait->name = name;
    wait->pid  = getpid();
    atomic_store(&wait->interrupt_fd, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (atomic_load(&wait->interrupt_fd) >= 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EPERSIST, "%s: no descriptor: %s", name, strerror(errno));
}

bool pawl__wait_is_ours(const pawl__wait *wait)
{
    return wait->pid == getpid();
}

void pawl__wait_close(pawl__wait *wait)
{
    int descriptor = atomic_exchange(&wait->interrupt_fd, -1);
    if (descriptor >= 0 && pawl__wait_is_ours(wait))
        (void)close(descriptor);
}

bool pawl__wait_take(const pawl__wait *wait)
{
    uint64_t count;
    return read(atomic_load(&wait->interrupt_fd), &count, sizeof count) == (ssize_t)sizeof count;
}

void pawl__wait_interrupt(const pawl__wait *wait)
{
    const uint64_t one        = 1;
    int            descriptor = atomic_load(&wait->interrupt_fd);
    /* Not in a child process: the descriptor is its parent's. A full counter is readable anyway. */
    if (descriptor >= 0 && pawl__wait_is_ours(wait)) {
        ssize_t written = write(descriptor, &one, sizeof one);
        (void)written;
    }
}

/* ---- Waiting ------------------------------------------------------------- */

/* A signal ends the wait like wake_fd does: its handler may have asked to stop. */
pawl_code pawl__wait_pause(const pawl__wait *wait, int64_t milliseconds, int wake_fd,
                           int session_fd, bool *is_woken, pawl_error *error)
{
    struct pollfd items[3] = {
        {.fd = wake_fd, .events = POLLIN},
        {.fd = atomic_load(&wait->interrupt_fd), .events = POLLIN},
        {.fd = session_fd, .events = POLLIN},
    };
    int ready = poll(items, 3, (int)milliseconds);
    *is_woken = items[0].revents != 0 || (ready < 0 && errno == EINTR);
    if (ready < 0 && errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "%s: cannot wait: %s", wait->name,
                              strerror(errno));
    if (ready > 0 && items[1].revents != 0)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "%s: the wait was interrupted", wait->name);
    if (ready <= 0 || items[2].revents == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ELOST, "%s: the server ended the session while it waited",
                          wait->name);
}

pawl_code pawl__wait_for_news(pawl_store *store, pawl__wait *wait, int64_t microseconds,
                              int wake_fd, pawl__news_fn *check, pawl_error *error)
{
    bool      is_news = false, is_woken = false;
    pawl_code code = PAWL_OK;
    int64_t   now  = pawl__clock_ms();
    int64_t   rest = (microseconds + 999) / 1000;
    int64_t   end  = now + (rest < PAUSE_MS_MAX ? rest : PAUSE_MS_MAX);
    while (code == PAWL_OK && now < end) {
        int session_fd = -1;
        code           = check(store, &is_news, &session_fd, error);
        if (is_news || code != PAWL_OK)
            break;
        wait->pause_ms = wait->pause_ms < PAUSE_MS_MIN ? PAUSE_MS_MIN : wait->pause_ms;
        int64_t pause  = wait->pause_ms < end - now ? wait->pause_ms : end - now;
        code           = pawl__wait_pause(wait, pause, wake_fd, session_fd, &is_woken, error);
        if (is_woken)
            return code;
        wait->pause_ms = wait->pause_ms * 2 < PAUSE_MS_MAX ? wait->pause_ms * 2 : PAUSE_MS_MAX;
        now            = pawl__clock_ms();
    }
    if (is_news)
        wait->pause_ms = PAUSE_MS_MIN;
    return code;
}

pawl_code pawl__wait_resolve(pawl_store *store, const pawl__wait *wait, int64_t until_ms,
                             pawl__resolve_fn *resolve, pawl_uuid commit_id, bool *is_applied,
                             pawl_error *error)
{
    int64_t   pause_ms = RESOLVE_MS_MIN;
    bool      is_woken;
    pawl_code code = resolve(store, commit_id, is_applied, error);
    while (pawl_code_retry(code) == PAWL_RETRY_LATER && code != PAWL_EINTERRUPTED) {
        int64_t rest = until_ms - pawl__clock_ms();
        if (rest <= 0)
            break;
        code = pawl__wait_pause(wait, pause_ms < rest ? pause_ms : rest, -1, -1, &is_woken, error);
        if (code == PAWL_OK)
            code = resolve(store, commit_id, is_applied, error);
        pause_ms = pause_ms * 2 < RESOLVE_MS_MAX ? pause_ms * 2 : RESOLVE_MS_MAX;
    }
    return code;
}
