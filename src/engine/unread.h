/* unread.h - messages, timeouts and flushes of a version that this program does not read.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_message_version.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_UNREAD_H
#define PAWL_ENGINE_UNREAD_H

#include "pawl/base.h"

#define PAWL__UNREAD_COUNT 16

/* A type that the log named as unread, and does not name again before `due`. */
typedef struct pawl__unread {
    uint64_t  name; /* hash of the type */
    pawl_time due;
} pawl__unread;

#endif
