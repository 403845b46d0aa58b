/* pace.c - see pace.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bulk/pace.h"

#include <time.h>

int64_t pawl__pace_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

size_t pawl__pace_page(int64_t rate, size_t page)
{
    size_t wanted = rate != 0 ? ((size_t)rate + 9) / 10 : page;
    return wanted < page ? wanted : page;
}

void pawl__pace_wait(int64_t begun, int64_t done, int64_t rate)
{
    if (rate == 0)
        return;
    int64_t         left = begun + done * INT64_C(1000000) / rate - pawl__pace_now();
    struct timespec span = {.tv_sec = left / 1000000, .tv_nsec = left % 1000000 * 1000};
    if (left > 0)
        (void)nanosleep(&span, NULL);
}
