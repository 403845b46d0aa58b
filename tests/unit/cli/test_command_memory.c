/* test_command_memory.c - a verb that runs out of memory says so, and ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The table of verbs; the other files of the command are linked as they are. */
int command_main(int argc, char **argv);
#define main command_main
#include "cli/main.c"
#include "support/fault_memory.h"
#include "support/tests.h"
#undef main

#include <sys/wait.h>

#define WENT_WELL 100 /* no allocation failed */

/* The exit code of `pawl send` to a store that is not there, in a process in which the n-th allocation fails. */
static int exit_code_without(long n, char *header)
{
    char *words[] = {"--to", "q",       "--type", "t",        "--body",
                     "{}",   "--store", "none:",  "--header", header};
    int   status  = 0;
    pid_t child   = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        fault_memory_begin(n);
        int code =
            pawl__send_verb(pawl__verb_find("send"), (int)(sizeof words / sizeof words[0]), words);
        _exit(fault_memory_end() ? code : WENT_WELL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The header is larger than what an arena has at first, so that its copy is an allocation. */
TEST(a_header_without_memory_is_no_crash)
{
    static char header[100000];
    int         code = -1;
    long        n    = 0;
    memset(header, 'x', sizeof header - 1);
    header[1] = '=';
    while (code != WENT_WELL)
        code = exit_code_without(++n, header);
    assert_true(n > 3);
}

void (*const tests_first)(void) = fault_memory_install;
