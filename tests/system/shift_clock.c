/* shift_clock.c - preloaded into a program, it puts the system's time seven seconds ahead; other clocks
 * stay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME)
        time->tv_sec += 7;
    return result;
}
