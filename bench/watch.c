/* watch.c - the clock, the signals that end a benchmark, and what a person sees
 * meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_PERIOD PAWL_MILLISECONDS(100)

/* ---- Time ----------------------------------------------------------------- */

int64_t pawl__bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void pawl__bench_nap(int64_t microseconds)
{
    struct timespec time = {.tv_sec  = (time_t)(microseconds / 1000000),
                            .tv_nsec = (long)(microseconds % 1000000 * 1000)};
    if (microseconds > 0)
        (void)nanosleep(&time, NULL); /* a signal ends it early */
}

/* ---- Signals -------------------------------------------------------------- */

static volatile sig_atomic_t was_signalled;
static struct sigaction      old_int, old_term;

static void note_signal(int number)
{
    was_signalled = number;
}

void pawl__bench_signals_take(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    was_signalled           = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
}

void pawl__bench_signals_give_back(void)
{
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
}

pawl_code pawl__bench_go_on(pawl_error *error)
{
    if (was_signalled == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINTERRUPTED, "the benchmark was interrupted by signal %d",
                          (int)was_signalled);
}

/* ---- Progress ------------------------------------------------------------- */

void pawl__bench_progress(const char *what, int64_t done, int64_t total)
{
    static const char *last;
    static int64_t     next;
    int64_t            now = pawl__bench_clock();
    if (!isatty(STDERR_FILENO) || (what == last && now < next))
        return;
    last = what;
    next = now + PROGRESS_PERIOD;
    if (total > 0)
        fprintf(stderr, "\r\033[K%s %lld/%lld", what, (long long)done, (long long)total);
    else
        fprintf(stderr, "\r\033[K%s", what);
}

void pawl__bench_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* ---- What must be true ----------------------------------------------------- */

pawl_code pawl__bench_expect(const char *what, int64_t found, int64_t wanted, pawl_error *error)
{
    if (found == wanted)
        return PAWL_OK;
    pawl_code code = pawl__bench_go_on(error); /* work that was cut short is no bug */
    if (code != PAWL_OK)
        return code;
    return pawl_error_set(error, PAWL_EBUG, "%s: %lld, should be %lld", what, (long long)found,
                          (long long)wanted);
}
