/* gate.h - a gate that blocks code until the test opens it, and recorded log lines.
 *
 *     gate_close -> (code enters gate_pass) -> gate_wait -> ... -> gate_open
 *
 * There is one gate per program; code may wait in it on any thread.
 *
 * Threads: the calls of the test come from one thread.
 * Tests: tests/unit/runtime/test_runtime_stop.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_GATE_H
#define PAWL_TESTS_GATE_H

#include "support/thread.h"

/* From now on code that enters the gate waits, as does code already in it. */
void gate_close(void);
void gate_open(void);
void gate_pass(void);
/* Waits until so many threads have entered since the gate was closed. */
void gate_wait(int count);

/* Threads that waited in the gate and have ended since, including their cleanup. */
extern atomic_int gate_ended;

/* Records log lines from INFO up: "1 text" is a warning. */
void gate_listen(void);
/* Number of recorded lines with the text. */
int  gate_said(const char *part);
void gate_wait_until_said(const char *part);

#endif
