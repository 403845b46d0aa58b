/* noted.h - notes of a unit, for dead letters and for the history.
 *
 * Threads: plain data.
 * Tests: tests/unit/engine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_NOTED_H
#define PAWL_ENGINE_NOTED_H

#include "pawl/base.h"

/* A run of a message's handlers that failed. */
typedef struct pawl__attempt {
    pawl_code code;
    pawl_text error;
    pawl_time at; /* machine time */
} pawl__attempt;

/* A line of history to be: the effect of a unit that was kept on one saga. */
typedef struct pawl__line {
    pawl_text source; /* empty: no saga */
    int64_t   version;
    pawl_text out;
} pawl__line;

#endif
