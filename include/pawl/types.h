/* types.h - the types that every header uses: codes, errors, text, ids, time, memory, logging;
 * and the calls on them that applications need. base.h has the other calls.
 *
 * Threads: everything here is safe to call from any thread as long as two
 * threads do not touch one object at once; pawl_log_set is for the start of the program.
 * Tests: tests/unit/base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TYPES_H
#define PAWL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pawl/api.h"
#include "pawl/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ------------------------------------------------------------- */

/* Retry class of a code: whether and how to try again. Switch over this, not over single codes.
 * No class has the number of a code. A handler that returns a class in place of a pawl_code is a mistake:
 * C++ does not compile it, C compilers warn (-Wenum-conversion), and its message becomes a dead letter
 * that names the class. */
typedef enum pawl_retry {
    PAWL_RETRY_NEVER = 1001, /* the same call fails the same way */
    PAWL_RETRY_LATER,        /* nothing was applied; try again after a while */
    PAWL_RETRY_RELOAD,       /* nothing was applied; load again, then try again */
    PAWL_RETRY_RESOLVE,      /* outcome unknown; pawl_store_resolve answers it */
    PAWL_RETRY_BOUNDED, /* nothing was applied, the cause is unknown: try a few times, not for ever */
} pawl_retry;

/* One row per code: symbol, number, retry class, exit code of the command,
 * text. The enum, the names, the retry classes and the command's exit codes
 * all come from this list. Numbers are never reused. The first five are also
 * what a handler answers. */
#define PAWL_CODES(X)                                                                   \
    X(OK, 0, NEVER, 0, "ok")                                                            \
    X(RETRY, 1, LATER, 5, "the handler requests another run")                           \
    X(RETRY_AFTER, 2, LATER, 5, "the handler requests another run after a delay")       \
    X(REJECT, 3, NEVER, 1, "the handler rejects the message; it becomes a dead letter") \
    X(DISCARD, 4, NEVER, 1, "the handler discards the message")                         \
    X(EINVAL, 10, NEVER, 2, "invalid argument")                                         \
    X(ECONFIG, 11, NEVER, 2, "configuration refused")                                   \
    X(EINPUT, 12, NEVER, 2, "input refused")                                            \
    X(EDECODE, 13, NEVER, 2, "cannot be decoded")                                       \
    X(EUNSUPPORTED, 14, NEVER, 2, "not supported here")                                 \
    X(EVERSION, 15, NEVER, 2, "of a version that this program does not read")           \
    X(EUNREACHABLE, 20, LATER, 3, "the store cannot be reached")                        \
    X(EDENIED, 21, NEVER, 3, "access refused")                                          \
    X(ENOTSTORE, 22, NEVER, 3, "not a pawl store")                                      \
    X(ESCHEMA, 30, NEVER, 4, "the schema is missing, older or newer")                   \
    X(EFULL, 40, LATER, 5, "no space left")                                             \
    X(EBUSY, 41, LATER, 5, "the store is busy; nothing was applied")                    \
    X(ETIMEOUT, 42, LATER, 5, "the deadline passed; nothing was applied")               \
    X(EINTERRUPTED, 43, LATER, 5, "interrupted; nothing was applied")                   \
    X(EPERSIST, 44, BOUNDED, 5, "the store failed")                                     \
    X(ELOST, 45, LATER, 5, "connection lost; nothing was applied")                      \
    X(EUNKNOWN, 46, RESOLVE, 5, "connection lost during the commit; outcome unknown")   \
    X(ECRASHED, 47, NEVER, 5, "the process crashed while it ran the message")           \
    X(ENOTFOUND, 50, NEVER, 6, "not found")                                             \
    X(ECONFLICT, 51, RELOAD, 6, "another worker changed the row first")                 \
    X(EDUPLICATE, 52, RELOAD, 6, "exists already")                                      \
    X(EGONE, 53, RELOAD, 6, "no longer this worker's")                                  \
    X(EFENCED, 54, RELOAD, 6, "this worker was replaced; nothing was applied")          \
    X(EMISMATCH, 55, NEVER, 6, "the id is known with another type or body")             \
    X(ENOMEM, 60, LATER, 5, "out of memory")                                            \
    X(ELIMIT, 61, NEVER, 2, "over a limit")                                             \
    X(EBUG, 70, NEVER, 70, "a bug in pawl")

typedef enum pawl_code {
#define PAWL__CODE(symbol, number, retry, exit_code, text) PAWL_##symbol = number,
    PAWL_CODES(PAWL__CODE)
#undef PAWL__CODE
} pawl_code;

/* ---- Errors ------------------------------------------------------------ */

/* Detail of a failure, owned by the caller, on the stack as a rule. NULL may
 * be passed everywhere when the detail is not wanted. */
typedef struct pawl_error {
    pawl_code code;
    char      text[500]; /* NUL-terminated, cut with "..." when longer */
} pawl_error;

#define PAWL_ERROR_INIT \
    {                   \
        PAWL_OK,        \
        {               \
            0           \
        }               \
    }

/* Fills `error` (may be NULL) and returns `code`, so that a failure is one
 * statement: return pawl_error_set(error, PAWL_EINVAL, "size is %d", size). */
PAWL_API pawl_code pawl_error_set(pawl_error *error, pawl_code code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* ---- Ids and time ------------------------------------------------------ */

typedef struct pawl_uuid {
    uint8_t bytes[16]; /* network order */
} pawl_uuid;

#define PAWL_UUID_TEXT_SIZE 36 /* lower case with hyphens, without NUL */

/* Ids are one-field structs, so that one cannot be passed for another. */
typedef struct pawl_saga_id {
    pawl_uuid uuid;
} pawl_saga_id;
typedef struct pawl_timeout_id {
    pawl_uuid uuid;
} pawl_timeout_id;
typedef struct pawl_worker_id {
    pawl_uuid uuid;
} pawl_worker_id;
typedef struct pawl_session_id {
    pawl_uuid uuid;
} pawl_session_id;
typedef struct pawl_dispatch_id {
    pawl_uuid uuid;
} pawl_dispatch_id;

/* Writes 36 characters and a NUL. */
PAWL_API void pawl_uuid_format(pawl_uuid uuid, char text[PAWL_UUID_TEXT_SIZE + 1]);

/* Microseconds since the Unix epoch, UTC. */
typedef int64_t pawl_time;
#define PAWL_TIME_MAX INT64_C(253402300799999999) /* 9999-12-31T23:59:59.999999Z */
#define PAWL_TIME_MIN INT64_C(-62135596800000000) /* 0001-01-01T00:00:00Z */

/* "None", for options whose zero means the default. On the command line: "none". */
#define PAWL_NONE (-1)

/* Durations are microseconds too; a fraction is cut to whole ones: PAWL_SECONDS(0.5) is 500000. */
#define PAWL_MILLISECONDS(n) ((int64_t)((n)*INT64_C(1000)))
#define PAWL_SECONDS(n) ((int64_t)((n)*INT64_C(1000000)))
#define PAWL_MINUTES(n) ((int64_t)((n)*INT64_C(60000000)))
#define PAWL_HOURS(n) ((int64_t)((n)*INT64_C(3600000000)))
#define PAWL_DAYS(n) ((int64_t)((n)*INT64_C(86400000000)))

#define PAWL_TIME_TEXT_SIZE 27 /* 2026-01-31T23:59:59.123456Z, without NUL */

/* RFC 3339 with six decimals and Z. Writes a NUL. */
PAWL_API void pawl_time_format(pawl_time time, char text[PAWL_TIME_TEXT_SIZE + 1]);

/* ---- Memory ------------------------------------------------------------ */

/* Memory that is freed together: one per batch, reset after its commit. */
typedef struct pawl_arena pawl_arena;

/* Aligned for any type, zeroed. NULL when out of memory. */
PAWL_API void *pawl_arena_take(pawl_arena *arena, size_t size);
/* Copies the text and appends a NUL. data is NULL only when out of memory. */
PAWL_API pawl_text pawl_arena_text(pawl_arena *arena, pawl_text text);

/* ---- Logging ----------------------------------------------------------- */

typedef enum pawl_log_level {
    PAWL_LOG_ERROR,
    PAWL_LOG_WARNING,
    PAWL_LOG_INFO,
    PAWL_LOG_DEBUG,
} pawl_log_level;

/* Called from any thread, one call per line, no newline in `text`. Must not
 * call pawl. Bodies and passwords never appear in a line. */
typedef void pawl_log_fn(pawl_log_level level, const char *text, void *context);

/* Sets the log function and the last level that it gets. NULL: errors and warnings to stderr (the default). */
PAWL_API void pawl_log_set(pawl_log_fn *log, pawl_log_level level_max, void *context);

#ifdef __cplusplus
}
#endif
#endif
