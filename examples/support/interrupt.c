/* interrupt.c - a flag that a signal sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

void example_interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool example_interrupted(void)
{
    return is_interrupted != 0;
}

pawl_code example_interrupt_check(pawl_error *error)
{
    if (!example_interrupted())
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINTERRUPTED, "interrupted; what was committed stays");
}
