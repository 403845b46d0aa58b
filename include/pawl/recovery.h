/* recovery.h - declares recoverability: retries and end of a message that fails, by the code of its
 * error and by its type.
 *
 *     .options = PAWL_OPTIONS(.recovery = PAWL_RECOVERY(
 *         {.code = PAWL_EUNREACHABLE, .type = "charge", .immediate = PAWL_NONE, .delayed = 10,
 *          .delay = PAWL_MINUTES(1), .delay_max = PAWL_HOURS(2)},
 *         {.code = PAWL_EINVAL, .then = PAWL_THEN_DISCARD},
 *         {.type = "probe", .immediate = PAWL_NONE, .delayed = PAWL_NONE}))
 *
 * The first row whose code and type match the failure counts. A member that is left out keeps its default
 * (docs/failures.md has the table of all codes). Rows are for messages and timeouts; flushes of
 * aggregators and projections have rules of their own (docs/failures.md). A conflict counts as a failure only
 * after conflict_retries reloads.
 *
 * Tests: tests/unit/engine/test_engine_recovery.c, tests/unit/runtime/test_runtime_recovery.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RECOVERY_H
#define PAWL_RECOVERY_H

#include "pawl/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The end of a message whose retries are used up. */
typedef enum pawl_then {
    PAWL_THEN_DEAD,    /* a dead letter */
    PAWL_THEN_DISCARD, /* consumed, with a warning in the log, and no dead letter */
} pawl_then;

/* A row. Zero in a member: the default; PAWL_NONE as a number of retries: none. Without any retries `then`
 * applies to the first failure. At most PAWL_RECOVERY_ROWS_MAX rows for an endpoint. */
typedef struct pawl_recovery {
    pawl_code   code;      /* PAWL_OK: any */
    const char *type;      /* of the message, or the name of a timeout; NULL: any */
    int32_t     immediate; /* retries at once, in memory */
    int32_t     delayed;   /* retries after those, with a delay */
    int64_t     delay;     /* microseconds before the first, doubling, each +/- 10 % jitter */
    int64_t     delay_max; /* longest delay; 0: retry_delay_max, or `delay` if that is longer */
    pawl_then   then;
} pawl_recovery;

/* A list with its end, which is a row without anything. */
#define PAWL_RECOVERY(...) ((const pawl_recovery[]){__VA_ARGS__, {.type = NULL}})

#ifdef __cplusplus
}
#endif

#endif
