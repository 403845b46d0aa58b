/* check.c - computes the result with which every replay is compared, in a single pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "check.h"

#include <inttypes.h>
#include <string.h>

/* Counts closings and events; `last` has the time of each case's latest event. */
static void count_events(const replay_log *log, int64_t quiet_us, pawl_time *last,
                         replay_expected *expected)
{
    for (size_t i = 0; i < log->event_count; i++) {
        const replay_event   *event = &log->events[i];
        replay_expected_case *of    = &expected->by_case[event->case_index];
        if (of->events > 0 && event->time - last[event->case_index] >= quiet_us)
            of->closings++;
        of->events++;
        last[event->case_index] = event->time;
        expected->by_group[event->group_index].events++;
    }
}

static void add_up(const replay_log *log, uint64_t batch_size, replay_expected *expected)
{
    for (size_t i = 0; i < log->case_count; i++) {
        replay_expected_case *of = &expected->by_case[i];
        if (of->events == 0)
            continue;
        of->closings++; /* still open at the end */
        expected->cases++;
        expected->events += of->events;
        expected->closings += of->closings;
    }
    for (size_t i = 0; i < log->group_count; i++) {
        replay_expected_group *of = &expected->by_group[i];
        if (of->events == 0)
            continue;
        of->batches = of->events / batch_size + (of->events % batch_size != 0);
        expected->groups++;
        expected->batches += of->batches;
    }
}

pawl_code replay_expect(const replay_log *log, int64_t quiet_us, int64_t batch_size,
                        replay_expected *expected, pawl_error *error)
{
    memset(expected, 0, sizeof *expected);
    if (quiet_us < 1)
        return pawl_error_set(error, PAWL_EINVAL,
                              "the quiet period is %" PRId64 " microseconds, the least is 1",
                              quiet_us);
    if (batch_size < 1)
        return pawl_error_set(error, PAWL_EINVAL, "the batch size is %" PRId64 ", the least is 1",
                              batch_size);
    pawl_time *last    = pawl_allocate((log->case_count + 1) * sizeof *last);
    expected->by_case  = pawl_allocate((log->case_count + 1) * sizeof *expected->by_case);
    expected->by_group = pawl_allocate((log->group_count + 1) * sizeof *expected->by_group);
    if (last == NULL || expected->by_case == NULL || expected->by_group == NULL) {
        pawl_free(last);
        replay_expected_free(expected);
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu cases", log->case_count);
    }
    count_events(log, quiet_us, last, expected);
    add_up(log, (uint64_t)batch_size, expected);
    pawl_free(last);
    return PAWL_OK;
}

void replay_expected_free(replay_expected *expected)
{
    pawl_free(expected->by_case);
    pawl_free(expected->by_group);
    memset(expected, 0, sizeof *expected);
}
