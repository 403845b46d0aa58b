/* fuzz_log.c - event logs that pawl-replay reads: CSV and XES, plain and gzipped.
 *
 * Input: a byte that chooses the columns' names; the rest is the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "log.h"

static void check_log(const replay_log *log)
{
    for (size_t i = 0; i < log->event_count; i++) {
        const replay_event *event = &log->events[i];
        FUZZ_CHECK(event->case_index < log->case_count && event->group_index < log->group_count);
        FUZZ_CHECK(event->activity_index < log->activity_count);
        FUZZ_CHECK(i == 0 || log->events[i - 1].time <= event->time);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const replay_columns columns[] = {
        {.case_id = NULL},
        {.case_id = "c", .activity = "a", .time = "t", .group = "g"},
        {.case_id           = "c",
         .activity          = "a",
         .time              = "t",
         .group             = "case:g",
         .group_is_required = true}};
    fuzz_input            in     = {data, size};
    const replay_columns *chosen = &columns[fuzz_below(&in, sizeof columns / sizeof columns[0])];
    pawl_error            error  = PAWL_ERROR_INIT;
    replay_log            log    = {.event_count = 0};
    pawl_code code = replay_log_read(fuzz_file(fuzz_rest(&in)), chosen, NULL, NULL, &log, &error);
    if (code == PAWL_OK)
        check_log(&log);
    else
        FUZZ_CHECK(code == PAWL_EINPUT && pawl_text_is_valid(pawl_text_of(error.text), NULL));
    replay_log_free(&log);
    return 0;
}
