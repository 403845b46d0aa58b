/* at_once.h - a job that several processes begin at the same moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_AT_ONCE_H
#define PAWL_TESTS_CONTRACT_AT_ONCE_H
#include <sys/wait.h>
#include <unistd.h>

#include "pawl/base.h"
#include "support/tests.h"

typedef pawl_code at_once_fn(void *context, pawl_error *error);

/* In four children of this process, each of which must do it well. */
static inline void run_at_once(at_once_fn *job, void *context)
{
    enum { child_count = 4 };
    pid_t children[child_count];
    int   start[2];
    char  byte = 0;
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < child_count; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            pawl_error error = PAWL_ERROR_INIT;
            close(start[1]);
            if (read(start[0], &byte, 1) != 0)
                _exit(2);
            pawl_code code = job(context, &error);
            if (code != PAWL_OK)
                fprintf(stderr, "child: %s\n", error.text);
            _exit(code == PAWL_OK ? 0 : 1);
        }
    }
    close(start[0]);
    close(start[1]); /* all children go on */
    for (int i = 0; i < child_count; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

#endif
