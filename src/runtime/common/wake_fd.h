/* wake_fd.h - functions on eventfds by which threads wake one another: signal, wait, clear. All use EFD_NONBLOCK.
 *
 * Threads: safe from any thread; signal also in a signal handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_WAKE_FD_H
#define PAWL_RUNTIME_WAKE_FD_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static inline void pawl__fd_signal(int fd)
{
    static const uint64_t one     = 1;
    ssize_t               ignored = write(fd, &one, sizeof one);
    (void)ignored; /* fails only if the counter is full: then it is readable already */
}

/* Clears the descriptor; true if it was set. */
static inline bool pawl__fd_clear(int fd)
{
    uint64_t count;
    bool     was_set = false;
    while (read(fd, &count, sizeof count) == (ssize_t)sizeof count)
        was_set = true;
    return was_set;
}

/* Waits until the descriptor is set, at most so many microseconds. */
static inline void pawl__fd_wait(int fd, int64_t microseconds)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    (void)poll(&ready, 1, microseconds > 0 ? (int)(microseconds / 1000) + 1 : 0);
}

#endif
