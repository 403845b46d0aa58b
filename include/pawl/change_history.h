/* change_history.h - the change that adds a line to an endpoint's history, for each message and saga.
 *
 * Threads: plain data.
 * Tests: src/conformance/store/history.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CHANGE_HISTORY_H
#define PAWL_CHANGE_HISTORY_H

#include "pawl/change_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of one run of a message's handlers, for one saga. A store does not read it. */
typedef struct pawl_history_entry {
    pawl_text endpoint;
    pawl_text source;     /* "TYPE/id" of the saga, or the stream's name; empty: no saga */
    pawl_text message_id; /* of the message that was handled */
    pawl_text type;       /* of the message; the name of a timeout; the partition of a flush */
    pawl_text kind;       /* "message", "timeout", "flush", "event", "forward", "schedule" */
    pawl_text outcome;    /* "handled", "retry", "dead" and others: docs/schema.md */
    int64_t   version;    /* of the saga's state after it; 0: none */
    int32_t   attempts;   /* delayed retries before this run */
    int64_t   duration;   /* microseconds that its handlers took */
    pawl_time at;         /* machine time */
    pawl_text error;      /* text for people, or empty */
    pawl_text out;        /* JSON object of messages and timeouts that left, or empty */
} pawl_history_entry;

/* A line of history. Never refused; left out with its group. */
typedef struct pawl_history_add {
    PAWL__CHANGE_BASE
    pawl_history_entry entry;
} pawl_history_add;

#ifdef __cplusplus
}
#endif
#endif
