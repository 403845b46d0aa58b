/* system.c - the functions of libc by which a program sees time, chance, threads and descriptors.
 *
 * The dynamic linker finds those of the program before libc's, for the library and its modules, too. While no
 * machine is on, and for descriptors that are not the machine's, they are what libc has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/machine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(default) /* libraries find these functions in the program */

int clock_gettime(clockid_t id, struct timespec *time)
{
    if (!machine_is_on())
        return (int)syscall(SYS_clock_gettime, id, time);
    int64_t now   = machine_clock(id);
    time->tv_sec  = (time_t)(now / 1000000);
    time->tv_nsec = (long)(now % 1000000 * 1000);
    return 0;
}

ssize_t getrandom(void *at, size_t size, unsigned flags)
{
    if (!machine_is_on())
        return syscall(SYS_getrandom, at, size, flags);
    machine_random(at, size);
    return (ssize_t)size;
}

/* ---- Descriptors -------------------------------------------------------------------- */

static bool is_real(int fd)
{
    return fd < MACHINE_FD_FIRST;
}

int eventfd(unsigned count, int flags)
{
    return machine_is_on() ? machine_eventfd(count) : (int)syscall(SYS_eventfd2, count, flags);
}

ssize_t read(int fd, void *at, size_t size)
{
    uint64_t count = 0;
    if (is_real(fd))
        return syscall(SYS_read, fd, at, size);
    ssize_t got = machine_read(fd, &count);
    if (got > 0)
        memcpy(at, &count, sizeof count);
    return got;
}

ssize_t write(int fd, const void *at, size_t size)
{
    uint64_t count = 0;
    if (is_real(fd))
        return syscall(SYS_write, fd, at, size);
    memcpy(&count, at, sizeof count);
    return machine_write(fd, count);
}

int close(int fd)
{
    if (is_real(fd))
        return (int)syscall(SYS_close, fd);
    machine_close(fd);
    return 0;
}

/* Descriptors of the program and of the machine are never in one call. */
static bool is_real_poll(struct pollfd *fds, nfds_t count)
{
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].fd >= 0)
            return is_real(fds[i].fd);
    return !machine_is_on();
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *span, const sigset_t *signals)
{
    if (is_real_poll(fds, count))
        return (int)syscall(SYS_ppoll, fds, count, span, signals, _NSIG / 8);
    return machine_poll(fds, count,
                        span == NULL ? -1 : (int64_t)span->tv_sec * 1000000 + span->tv_nsec / 1000);
}

int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    struct timespec span = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return ppoll(fds, count, milliseconds < 0 ? NULL : &span, NULL);
}

/* ---- Threads ---------------------------------------------------------------------------- */

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    uint64_t made = 0;
    int      code = machine_thread(run, argument, &made);
    *handle       = (pthread_t)made;
    return code;
}

int pthread_join(pthread_t handle, void **result)
{
    (void)result; /* no thread of the library has one */
    return machine_join((uint64_t)handle);
}

int pthread_detach(pthread_t handle)
{
    return machine_detach((uint64_t)handle);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    machine_lock(mutex);
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    machine_unlock(mutex);
    return 0;
}
