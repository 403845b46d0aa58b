/* wait.h - helpers of drivers that wait: interrupts, resolving a commit in doubt until the database answers, and
 * polling for news, for databases that do not notify; and wake-ups of threads of this process.
 *
 *     open            as the handle is opened
 *     take            as each operation begins: forgets an interrupt that came before
 *     news, resolve   any number of times
 *     close
 *
 * Threads: as the store; pawl__wait_interrupt may be called from any thread.
 * Tests: tests/unit/store/test_store_wait.c, tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_WAIT_H
#define PAWL_STORE_CORE_WAIT_H

#include "pawl/store_driver.h"

#include <stdatomic.h>
#include <sys/types.h>

/* In the driver's handle. */
typedef struct pawl__wait {
    const char *name;         /* of the driver, in texts */
    pid_t       pid;          /* the process that opened the handle */
    atomic_int  interrupt_fd; /* an eventfd; -1: none */
    int64_t     pause_ms;     /* between two polls for news */
} pawl__wait;

/* Milliseconds of the monotonic clock. */
int64_t pawl__clock_ms(void);

pawl_code pawl__wait_open(pawl__wait *wait, const char *name, pawl_error *error);
/* May be called twice. */
void pawl__wait_close(pawl__wait *wait);
/* False in a child process: the handle's connection and descriptor are the parent's. */
bool pawl__wait_is_ours(const pawl__wait *wait);
/* Was there an interrupt since the last call? */
bool pawl__wait_take(const pawl__wait *wait);
void pawl__wait_interrupt(const pawl__wait *wait);

/* Waits until the time is over, an interrupt comes (PAWL_EINTERRUPTED), wake_fd is readable, or session_fd is readable,
 * which means that the session has ended (PAWL_ELOST). -1: no descriptor. */
pawl_code pawl__wait_pause(const pawl__wait *wait, int64_t milliseconds, int wake_fd,
                           int session_fd, bool *is_woken, pawl_error *error);

/* Polls: is there news since the last poll? May set *session_fd, as above. */
typedef pawl_code pawl__news_fn(pawl_store *store, bool *is_news, int *session_fd,
                                pawl_error *error);
/* Polls with pauses that grow from 20 ms to 1 s while there is no news. Returns after a second at most, since rows that
 * other workers change in place are no news. */
pawl_code pawl__wait_for_news(pawl_store *store, pawl__wait *wait, int64_t microseconds,
                              int wake_fd, pawl__news_fn *check, pawl_error *error);

typedef pawl_code pawl__resolve_fn(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                                   pawl_error *error);
/* Calls `resolve` until the database answers or the time is over: an unreachable server may come back, or be
 * replaced. */
pawl_code pawl__wait_resolve(pawl_store *store, const pawl__wait *wait, int64_t until_ms,
                             pawl__resolve_fn *resolve, pawl_uuid commit_id, bool *is_applied,
                             pawl_error *error);

/* ---- Wake-ups within the process: wake.c --------------------------------------- *
 *
 * A thread that sleeps in a store's wait() hands in an eventfd and the identity of its store (pawl_store.identity); a
 * commit on the same data in the same process makes the descriptor readable. Wake-ups between processes are up to the
 * drivers. Safe from any thread: one process-wide mutex is locked for moments. Tests: test_store_core.c */

/* Borrows the descriptor until it is removed. A descriptor may wait for
 * several stores; adding the same pair twice is harmless. */
pawl_code pawl__wake_add(const char *identity, int eventfd, pawl_error *error);
/* The same for a reader of the event store: woken only for events. */
pawl_code pawl__wake_add_reader(const char *identity, int eventfd, pawl_error *error);
/* From all stores. Afterwards nothing writes to the descriptor any more. */
void pawl__wake_remove(int eventfd);
/* Wakes all that wait for the store, except readers of events. */
void pawl__wake_all(const char *identity);
/* Wakes the readers of events. */
void pawl__wake_readers(const char *identity);

#endif
