/* test_postgres_share.c - handles that lend their sessions, where the thread sanitizer is in the way: a clock of the day that
 * is set, by which what is due is due, and a child process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_share.h"
#include "support/tests.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#define SLICE_MS 20

static _Atomic int64_t ahead_s; /* of the clock of the day */
static atomic_bool     is_hasty;

/* In place of those of libc, also for the driver. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME)
        time->tv_sec += atomic_load(&ahead_s);
    return result;
}

__attribute__((visibility("default"))) int poll(struct pollfd *list, nfds_t count, int timeout)
{
    if (atomic_load(&is_hasty) && timeout > SLICE_MS)
        timeout = SLICE_MS;
    return (int)syscall(SYS_poll, list, count, timeout);
}

static void wake_by_clock(fixture *p, int64_t by_s)
{
    pawl_store *handles[1];
    sleeper     it;
    open_idle(p, handles, 1);
    atomic_store(&ahead_s, 0);
    atomic_store(&is_hasty, true);
    lie_down(&it, handles[0]);
    wait_for_waiter(handles[0], true);
    atomic_store(&ahead_s, by_s);
    wait_for_waiter(handles[0], false);
    atomic_store(&ahead_s, 0);
    atomic_store(&is_hasty, false);
    expect_woken(&it);
}

SHARED(a_clock_that_is_set_forward_ends_the_wait, fixture *p)
{
    wake_by_clock(p, 3600);
}

SHARED(a_clock_that_is_set_back_ends_the_wait, fixture *p)
{
    wake_by_clock(p, -3600);
}

SHARED(a_clock_that_goes_on_ends_no_wait, fixture *p)
{
    pawl_store *handles[1];
    open_idle(p, handles, 1);
    atomic_store(&is_hasty, true);
    int64_t begin = clock_ms();
    ok(p, pawl_store_wait(handles[0], PAWL_MILLISECONDS(10 * SLICE_MS), -1, &p->error));
    assert_true(clock_ms() - begin >= 10 * SLICE_MS - 1);
    atomic_store(&is_hasty, false);
}

/* A child that opens a handle of its own, and closes its parent's, ends no session of its parent. While it forks, the
 * other threads wait, one in poll and one for the mutex at most: a thread that is in malloc then leaves a lock behind in
 * the child, for which the address sanitizer's allocator waits for ever. */
SHARED(a_child_has_sessions_of_its_own, fixture *p)
{
    pawl_store *handles[2], *own = NULL;
    sleeper     it;
    open_idle(p, handles, 2);
    find_nothing(p, handles[1], "orders");
    int pid = keeper_pid(p), lent = lent_pid(handles[1]);
    lie_down(&it, handles[0]);
    wait_for_waiter(handles[0], true);
    pthread_mutex_lock(&share_of(handles[0])->keeper_mutex);
    pid_t child = fork();
    if (child != 0)
        pthread_mutex_unlock(&share_of(handles[0])->keeper_mutex);
    assert_true(child >= 0);
    if (child == 0) {
        pawl_store_close(handles[1]);
        if (pawl_store_open(p->url, NULL, &own, &p->error) != PAWL_OK ||
            send_one(p, own, "orders", "m-1") != PAWL_OK)
            _exit(1);
        pawl_store_close(own);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_woken(&it);
    assert_int_equal(claim_some(p, handles[1], "orders", NOW, 1).count, 1);
    assert_int_equal(lent_pid(handles[1]), lent);
    assert_int_equal(keeper_pid(p), pid);
}
