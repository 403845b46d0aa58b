/* process.c - children that run a part of a case, and what they report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/process.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Children ----------------------------------------------------------- */

/* The report of a child at its end. */
typedef struct report {
    char     failure[sizeof((suite *)NULL)->failure]; /* empty: none */
    unsigned counts[SUITE_COUNTS];
} report;

typedef struct child {
    pid_t pid;
    int   from; /* pipe of its report */
} child;

/* False: the other side closed first. */
static bool take_all(int file, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t count = read(file, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static bool give_all(int file, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t count = write(file, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static void run_guarded(suite *s, suite_program *function, unsigned index, unsigned *counts)
{
    if (setjmp(s->failed) == 0)
        function(s, index, counts);
}

/* The child must not flush or free anything of the parent. */
static _Noreturn void run_child(suite *s, suite_program *function, unsigned index, int gate, int to)
{
    static report own;
    char          byte;
    (void)take_all(gate, &byte, 1); /* returns when the parent opens the gate */
    run_guarded(s, function, index, own.counts);
    suite_close_all(s);
    memcpy(own.failure, s->failure, sizeof own.failure);
    _exit(give_all(to, &own, sizeof own) ? 0 : 1);
}

static bool start_child(suite *s, suite_program *function, unsigned index, const int gate[2],
                        child *made)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    uint64_t seed = pawl_random_next(&s->random);
    made->pid     = fork();
    made->from    = ends[0];
    if (made->pid == 0) {
        close(gate[1]);
        close(ends[0]);
        pawl_random_seed(&s->random, seed);
        run_child(s, function, index, gate[0], ends[1]);
    }
    close(ends[1]);
    if (made->pid < 0)
        close(ends[0]);
    return made->pid > 0;
}

/* Adds the child's counts; keeps the first failure of any child. */
static void end_child(const child *ended, unsigned *counts, char *failure, size_t failure_size)
{
    static report taken;
    int           status   = -1;
    bool          is_whole = take_all(ended->from, &taken, sizeof taken);
    close(ended->from);
    while (waitpid(ended->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (is_whole && status == 0) {
        for (unsigned i = 0; i < SUITE_COUNTS; i++)
            counts[i] += taken.counts[i];
        if (failure[0] == '\0')
            snprintf(failure, failure_size, "%s", taken.failure);
    } else if (failure[0] == '\0') {
        snprintf(failure, failure_size, "it ended with status %d and no report", status);
    }
}

void suite_run_programs(suite *s, unsigned count, suite_program *function, unsigned *counts)
{
    child    children[SUITE_PROGRAMS];
    char     failure[sizeof s->failure] = "";
    unsigned started                    = 0;
    int      gate[2];
    memset(counts, 0, SUITE_COUNTS * sizeof *counts);
    EXPECT(s, count <= SUITE_PROGRAMS && s->store_count == 0);
    EXPECT(s, pipe(gate) == 0);
    while (started < count && start_child(s, function, started, gate, &children[started]))
        started++;
    close(gate[0]);
    close(gate[1]);
    for (unsigned i = 0; i < started; i++)
        end_child(&children[i], counts, failure, sizeof failure);
    if (failure[0] != '\0')
        suite_fail(s, __FILE__, __LINE__, "in a process: %s", failure);
    EXPECT_EQ(s, started, count);
}

static void leave_a_row(suite *s, unsigned index, unsigned *counts)
{
    (void)index;
    (void)counts;
    suite_send(s, suite_open(s), TEXT("probe"), "m-1", SUITE_NOW);
}

void suite_need_programs(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    suite_run_programs(s, 1, leave_a_row, counts);
    pawl_store *a       = suite_open(s);
    bool        is_seen = suite_queue(s, a, TEXT("probe")).count == 1;
    suite_close(s, a);
    if (!is_seen)
        suite_not_applicable(s, "other processes do not see the store's data");
}

void suite_expect_each(suite *s, const unsigned *counts, unsigned count, unsigned expected)
{
    for (unsigned i = 0; i < count; i++)
        if (counts[i] != expected)
            suite_fail(s, __FILE__, __LINE__, "item %u was processed %u times, expected %u", i,
                       counts[i], expected);
}
