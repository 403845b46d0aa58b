/* test_store_wait.c - waits of drivers whose database tells them nothing: pauses between two looks,
 * signals, and interrupts of a wait and of asking for a commit in doubt.
 *
 * Sleeps are the code's own, and short; what is compared is how often a script was asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"
#include "support/tests.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#define WITH_WAIT(function) TESTS(function, void, TEST_ROW(function, open_wait, close_wait))

static pawl__wait it;
static int        looks, news_at;      /* the look that has news; 0: none has */
static int64_t    at[200];             /* of each look */
static int        asks, interrupts_at; /* the ask during which an interrupt comes */
static pawl_code  answers[100];

static int open_wait(void **state)
{
    memset(&it, 0, sizeof it);
    looks = news_at = asks = interrupts_at = 0;
    return pawl__wait_open(&it, "test", NULL) == PAWL_OK ? 0 : 1;
}

static int close_wait(void **state)
{
    pawl__wait_close(&it);
    return 0;
}

static pawl_code look(pawl_store *store, bool *is_news, int *session_fd, pawl_error *error)
{
    at[looks++] = pawl__clock_ms();
    *is_news    = looks == news_at;
    return PAWL_OK;
}

static pawl_code wait_for(int64_t milliseconds, int wake_fd)
{
    return pawl__wait_for_news(NULL, &it, milliseconds * 1000, wake_fd, look, NULL);
}

/* ---- Pauses ---------------------------------------------------------------- */

/* 20, 40, 80 and so on while nothing is new, and over more than one wait: a second of an idle queue
 * is seven looks, not fifty. */
WITH_WAIT(pauses_grow_while_nothing_is_new)
{
    assert_int_equal(wait_for(600, -1), PAWL_OK);
    assert_in_range(looks, 1,
                    6); /* at 0, 20, 60, 140, 300 and, cut, before 600; fewer on a busy machine */
    assert_int_equal(it.pause_ms, 20 << looks);
    for (int i = 1; i < looks; i++)
        assert_true(at[i] - at[i - 1] >= (20 << (i - 1)) - 1);
    it.pause_ms = 320;
    looks       = 0;
    assert_int_equal(wait_for(100, -1), PAWL_OK);
    assert_int_equal(looks, 1);
    assert_int_equal(it.pause_ms, 640);
    assert_int_equal(wait_for(100, -1), PAWL_OK);
    assert_int_equal(it.pause_ms, 1000);
}

/* News are often followed by more: the next looks are close together again. */
WITH_WAIT(news_make_the_pauses_short_again)
{
    it.pause_ms = 640;
    news_at     = 1;
    assert_int_equal(wait_for(200, -1), PAWL_OK);
    assert_int_equal(looks, 1);
    assert_int_equal(it.pause_ms, 20);
    looks   = 0;
    news_at = 0;
    assert_int_equal(wait_for(100, -1), PAWL_OK);
    assert_in_range(looks, 1, 3);
    assert_int_equal(it.pause_ms, 20 << looks);
}

/* ---- Ends of a wait --------------------------------------------------------- */

static void note_signal(int number)
{
}

/* A signal's handler may have asked to stop: the caller looks, and nothing has failed. */
WITH_WAIT(a_signal_ends_a_wait_without_an_error)
{
    struct sigaction       action   = {.sa_handler = note_signal}, before;
    const struct itimerval soon     = {.it_value = {.tv_usec = 50000}};
    bool                   is_woken = false;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    int64_t begin = pawl__clock_ms();
    must(pawl__wait_pause(&it, 20000, -1, -1, &is_woken, world_error()));
    assert_true(is_woken);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    it.pause_ms = 1000;
    assert_int_equal(wait_for(1000, -1), PAWL_OK);
    assert_int_equal(looks, 1); /* not another look: the wait is over */
    assert_true(pawl__clock_ms() - begin < 10000);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

WITH_WAIT(the_callers_descriptor_ends_a_wait)
{
    int wake_fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    it.pause_ms = 1000;
    assert_int_equal(wait_for(1000, wake_fd), PAWL_OK);
    assert_int_equal(looks, 1);
    close(wake_fd);
}

WITH_WAIT(an_interrupt_ends_a_wait_and_stays_until_it_is_taken)
{
    bool is_woken = true;
    pawl__wait_interrupt(&it);
    assert_int_equal(wait_for(1000, -1), PAWL_EINTERRUPTED);
    must_fail_with(pawl__wait_pause(&it, 20000, -1, -1, &is_woken, world_error()),
                   PAWL_EINTERRUPTED, "interrupted");
    assert_true(pawl__wait_take(&it));
    assert_false(pawl__wait_take(&it));
    must(pawl__wait_pause(&it, 1, -1, -1, &is_woken, world_error()));
    assert_false(is_woken);
}

WITH_WAIT(a_session_that_ends_is_lost)
{
    bool is_woken   = false;
    int  session_fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    must_fail_with(pawl__wait_pause(&it, 20000, -1, session_fd, &is_woken, world_error()),
                   PAWL_ELOST, "ended the session");
    close(session_fd);
}

/* ---- A commit in doubt ------------------------------------------------------- */

static pawl_code resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                         pawl_error *error)
{
    *is_applied = true;
    if (++asks == interrupts_at)
        pawl__wait_interrupt(&it);
    return answers[asks - 1];
}

/* `all` for each ask but the last of `count`, which gets `last`. */
static pawl_code resolve_with(pawl_code all, int count, pawl_code last, int64_t milliseconds)
{
    bool is_applied = false;
    asks            = 0;
    for (size_t i = 0; i < COUNT(answers); i++)
        answers[i] = all;
    if (count > 0)
        answers[count - 1] = last;
    return pawl__wait_resolve(NULL, &it, pawl__clock_ms() + milliseconds, resolve, (pawl_uuid){{1}},
                              &is_applied, NULL);
}

WITH_WAIT(a_commit_in_doubt_is_asked_for_until_there_is_an_answer)
{
    assert_int_equal(resolve_with(PAWL_EUNREACHABLE, 3, PAWL_OK, 5000), PAWL_OK);
    assert_int_equal(asks, 3);
    assert_int_equal(resolve_with(PAWL_ELOST, 2, PAWL_EDENIED, 5000), PAWL_EDENIED);
    assert_int_equal(asks, 2);
    assert_int_equal(resolve_with(PAWL_EUNREACHABLE, 0, PAWL_OK, 120), PAWL_EUNREACHABLE);
    assert_in_range(asks, 1, 4); /* at 0, 50 and 120; fewer on a busy machine */
    assert_int_equal(resolve_with(PAWL_EUNREACHABLE, 0, PAWL_OK, -1), PAWL_EUNREACHABLE);
    assert_int_equal(asks, 1);
}

/* A program that stops does not wait for a server that is away: neither in a pause, nor where the
 * database's own call was interrupted. */
WITH_WAIT(an_interrupt_ends_asking_for_a_commit_in_doubt)
{
    interrupts_at = 2;
    assert_int_equal(resolve_with(PAWL_EUNREACHABLE, 0, PAWL_OK, 3000), PAWL_EINTERRUPTED);
    assert_int_equal(asks, 2);
    assert_true(pawl__wait_take(&it));
    interrupts_at = 0;
    assert_int_equal(resolve_with(PAWL_EUNREACHABLE, 2, PAWL_EINTERRUPTED, 3000),
                     PAWL_EINTERRUPTED);
    assert_int_equal(asks, 2);
}
