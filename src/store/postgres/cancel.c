/* cancel.c - cancelling the statement that a connection runs.
 *
 * PQcancel opens a connection of its own and waits for its end without a deadline: if the server
 * accepts and then does not answer, it never returns. So it runs on a detached thread.
 *
 * A cancel ends whatever statement the connection runs when it arrives. So the connection sends
 * nothing else until the cancel is known to have arrived.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"
#include "store/postgres/share.h"
#include "store/postgres/wire.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct pawl__pg_cancel {
    PGcancel  *ticket;
    int        done_fd; /* readable when PQcancel has returned */
    atomic_int users;   /* the thread and the connection: the last of them frees it */
};

static void leave(pawl__pg_cancel *cancel)
{
    if (atomic_fetch_sub(&cancel->users, 1) != 1)
        return;
    PQfreeCancel(cancel->ticket);
    if (cancel->done_fd >= 0)
        close(cancel->done_fd);
    pawl_free(cancel);
}

static void *run(void *context)
{
    pawl__pg_cancel *cancel = context;
    char text[256]; /* not read: after a failed cancel the statement simply goes on until its end */
    (void)PQcancel(cancel->ticket, text, sizeof text);
    (void)eventfd_write(cancel->done_fd, 1);
    leave(cancel);
    return NULL;
}

/* Blocks all signals in the thread, so that the threads of the program handle them. */
int pawl__pg_thread_start(pthread_t *thread, void *(*body)(void *), void *context)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, body, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static bool start(pawl__pg_cancel *cancel)
{
    pthread_t thread;
    bool      is_started = pawl__pg_thread_start(&thread, run, cancel) == 0;
    if (is_started)
        (void)pthread_detach(thread);
    return is_started;
}

pawl__pg_cancel *pawl__pg_cancel_begin(PGconn *pg)
{
    pawl__pg_cancel *cancel = pawl_allocate(sizeof *cancel);
    if (cancel == NULL)
        return NULL;
    atomic_init(&cancel->users, 2);
    cancel->ticket  = PQgetCancel(pg);
    cancel->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (cancel->ticket != NULL && cancel->done_fd >= 0 && start(cancel))
        return cancel;
    atomic_store(&cancel->users, 1);
    leave(cancel);
    return NULL;
}

bool pawl__pg_cancel_end(pawl__pg_cancel *cancel, int64_t deadline)
{
    struct pollfd done = {.fd = cancel->done_fd, .events = POLLIN};
    int           ready;
    do {
        int64_t rest = deadline - pawl__clock_ms();
        ready        = poll(&done, 1, rest > 0 ? (int)rest : 0);
    } while (ready < 0); /* a signal: waits for the rest of the time */
    leave(cancel);
    return ready > 0;
}
