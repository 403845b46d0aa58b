/* gate.h - code that blocks until the test lets it go on, and the log's lines.
 *
 *     gate_close -> (code enters gate_pass) -> gate_wait -> ... -> gate_open
 *
 * One gate for a program; the code may stand in it on any thread.
 *
 * Threads: the calls of the test come from one thread.
 * Tests: tests/unit/runtime/test_runtime_stop.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_GATE_H
#define PAWL_TESTS_GATE_H

#include "support/thread.h"

/* From now on whatever enters stands still; what stands in it already stays there. */
void gate_close(void);
void gate_open(void);
void gate_pass(void);
/* Until so many have entered since it was closed. */
void gate_wait(int count);

/* Threads that stood in the gate and have ended since, with all that they cleaned up. */
extern atomic_int gate_ended;

/* Keeps the lines of the log, from now on and from INFO up: "1 text" is a warning. */
void gate_listen(void);
/* Lines that hold the text. */
int  gate_said(const char *part);
void gate_wait_until_said(const char *part);

#endif
