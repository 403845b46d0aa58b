/* fuzz_plan.c - rows of schedules, of any content, and the messages that are planned by them.
 *
 * Input: the moments at which it is due and at which it is handled, eight bytes each; the rest is the row's headers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "runtime/schedule/schedule.h"

/* A moment of the years that a clock may show; the calendar's last years are another test's. */
static pawl_time moment(fuzz_input *in)
{
    uint64_t years = (uint64_t)PAWL_DAYS(400 * 365);
    return (pawl_time)((uint64_t)fuzz_integer(in) % years);
}

static void check_plan(const pawl_schedule_row *schedule, pawl_time due, pawl_time now,
                       pawl_arena *arena)
{
    pawl__schedule_plan plan  = {.count = 0};
    pawl_time           first = 0;
    if (pawl__schedule_first(schedule, now, &first, NULL) != PAWL_OK)
        return;
    FUZZ_CHECK(first > now);
    FUZZ_CHECK(pawl__schedule_due(schedule, due, now, arena, &plan, NULL) == PAWL_OK);
    FUZZ_CHECK(plan.count <= (size_t)schedule->missed_max && plan.next > now);
    for (size_t i = 0; i < plan.count; i++)
        FUZZ_CHECK(plan.times[i] <= now && (i == 0 || plan.times[i - 1] < plan.times[i]));
}

/* The row that is written of it says the same. */
static void check_row(const pawl_schedule_row *schedule, pawl_arena *arena)
{
    pawl_timeout_set  set   = {.due = 0};
    pawl_schedule_row again = {.every = 0};
    FUZZ_CHECK(pawl__schedule_write(schedule, 0, arena, &set) == PAWL_OK);
    const pawl_timeout_row row = {.destination = set.destination, .headers = set.headers};
    FUZZ_CHECK(pawl__schedule_read(&row, arena, &again, NULL) == PAWL_OK);
    FUZZ_CHECK(pawl_text_equal(schedule->cron, again.cron) && schedule->every == again.every);
    FUZZ_CHECK(schedule->missed == again.missed && schedule->is_paused == again.is_paused);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input             in    = {data, size};
    pawl_arena            *arena = fuzz_arena();
    pawl_time              due = moment(&in), now = moment(&in);
    const pawl_timeout_row row = {.destination = PAWL_TEXT_INIT("bank"), .headers = fuzz_rest(&in)};
    pawl_error             error    = PAWL_ERROR_INIT;
    pawl_schedule_row      schedule = {.every = 0};
    pawl_code              code     = pawl__schedule_read(&row, arena, &schedule, &error);
    if (code == PAWL_OK) {
        check_plan(&schedule, due < now ? due : now, due < now ? now : due, arena);
        check_row(&schedule, arena);
    } else {
        FUZZ_CHECK(code == PAWL_EDECODE && error.text[0] != '\0');
    }
    pawl_arena_destroy(arena);
    return 0;
}
