/* recovery.h - recoverability, declared: what becomes of a message that fails, by the code of its
 * error and by its type.
 *
 *     .options = PAWL_OPTIONS(.recovery = PAWL_RECOVERY(
 *         {.code = PAWL_EUNREACHABLE, .type = "charge", .immediate = PAWL_NONE, .delayed = 10,
 *          .delay = PAWL_MINUTES(1), .delay_max = PAWL_HOURS(2)},
 *         {.code = PAWL_EINVAL, .then = PAWL_THEN_DISCARD},
 *         {.type = "probe", .immediate = PAWL_NONE, .delayed = PAWL_NONE}))
 *
 * The first row counts whose code and type are the failure's. A field that is left out is as without the
 * row: docs/failures.md has the table of all codes. Rows are for messages and timeouts; an
 * aggregator's flush and a projection have their own (docs/failures.md), and a conflict is loaded
 * again conflict_retries times before it is a failure, whatever the rows say.
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

/* Zero in a field: as without the row; PAWL_NONE in a number of retries: none. Both none: its end comes at
 * once. At most PAWL_RECOVERY_ROWS_MAX rows are in force for an endpoint. */
typedef struct pawl_recovery {
    pawl_code   code;      /* PAWL_OK: any */
    const char *type;      /* of the message, or the name of a timeout; NULL: any */
    int32_t     immediate; /* at once, in memory */
    int32_t     delayed;   /* after those, with a delay */
    int64_t     delay;     /* before the first of them, doubling, each +/- 10 % jitter */
    int64_t     delay_max; /* longest; 0 beside a longer `delay`: each time the delay */
    pawl_then   then;
} pawl_recovery;

/* A list with its end, which is a row without anything. */
#define PAWL_RECOVERY(...) ((const pawl_recovery[]){__VA_ARGS__, {.type = NULL}})

#ifdef __cplusplus
}
#endif

#endif
