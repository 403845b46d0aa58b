/* process.c - starts this program again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/process.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void example_run_self(char **words)
{
    static const char text[] = ": this program cannot be started again\n";
    execv("/proc/self/exe", words);
    ssize_t size = write(STDERR_FILENO, words[0], strlen(words[0]));
    size += write(STDERR_FILENO, text, sizeof text - 1);
    (void)size;
    _exit(pawl_code_exit(PAWL_EBUG));
}

pawl_code example_seed(int64_t given, uint64_t *seed, pawl_error *error)
{
    *seed = (uint64_t)given;
    if (given != 0)
        return PAWL_OK;
    if (getrandom(seed, sizeof *seed, 0) != (ssize_t)sizeof *seed)
        return pawl_error_set(error, PAWL_EPERSIST, "the system gives no random numbers: %s",
                              strerror(errno));
    *seed = *seed >> 1 | 1; /* in the range that --seed accepts */
    return PAWL_OK;
}
