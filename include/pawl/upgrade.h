/* upgrade.h - checks whether a program can read the rows that another version stored: for tools and tests.
 *
 *     pawl_upgrade_create -> [ pawl_upgrade_from ]
 *                         -> { pawl_store_scan -> pawl_upgrade_rows }* | pawl_upgrade_compare
 *                         -> pawl_upgrade_destroy
 *
 * Rows are read with the program's records and upcasters, and its tables say which handlers would
 * handle them. Nothing is written. Of the application's functions only its upcasters are called.
 *
 * Threads: one at a time.
 * Tests: tests/unit/runtime/test_upgrade_misread.c, tests/system/command_saga.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_UPGRADE_H
#define PAWL_UPGRADE_H

#include "pawl/application.h"
#include "pawl/store_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* symbol, word in reports, whether it is a finding (else a warning), meaning. Reasons may be added at the
 * end: a program must expect numbers that it does not know. */
#define PAWL_UPGRADE_REASONS(X)                                                                    \
    X(UNDECODABLE, "undecodable", true, "cannot be decoded")                                       \
    X(UNREAD_VERSION, "unread-version", true, "has a version that the program does not read")      \
    X(UNREAD_MEMBER, "unread-member", true, "has a member that is not read, as if it was renamed") \
    X(UNHANDLED, "unhandled", true, "has no handler")                                              \
    X(UNREACHABLE, "unreachable", true, "is not found by its correlation value")                   \
    X(REMOVED, "removed", true, "is not in the new program")                                       \
    X(NARROWED, "narrowed", true, "takes fewer values than before")                                \
    X(NO_UPCAST, "no-upcast", true, "has another version, and no upcaster from the older")         \
    X(CORRELATION, "correlation", true, "is found by another property, without a step between")    \
    X(UNKNOWN_MEMBER, "unknown-member", false, "has a member that the program does not know")      \
    X(PASSED_OVER, "passed-over", false, "is passed over, as if it was not there")                 \
    X(FOREIGN, "foreign", false, "belongs to no part of the program")                              \
    X(MISREAD, "misread", true, "is read as another value than was stored")

typedef enum pawl_upgrade_reason {
#define PAWL__REASON(symbol, word, is_finding, text) PAWL_UPGRADE_##symbol,
    PAWL_UPGRADE_REASONS(PAWL__REASON)
#undef PAWL__REASON
    /* Number of reasons in the first version of this ABI; later ones have larger numbers. */
    PAWL_UPGRADE_REASON_COUNT = PAWL_UPGRADE_FOREIGN + 1
} pawl_upgrade_reason;

/* Texts are borrowed for the call. */
typedef struct pawl_upgrade_found {
    pawl_upgrade_reason reason;
    const char         *kind;    /* "saga", "message", "timeout" ... */
    pawl_text           type;    /* of the saga, message or event */
    int32_t             version; /* of its record, as it is stored; 0: it has none */
    uint32_t            row;     /* of the page, from 1 on; 0 when tables alone were compared */
    pawl_text           member; /* "lines[].qty": where in the body; a timeout's name; a property */
    pawl_text           id;     /* of the row; empty when tables alone were compared */
    pawl_text           text;   /* for people; holds no value of a secret member */
} pawl_upgrade_found;
typedef void pawl_upgrade_fn(const pawl_upgrade_found *found, void *context);

typedef struct pawl_upgrade pawl_upgrade;

/* Makes a check for all endpoints of the application, which must outlive it. `saga_prefix` NULL: each
 * endpoint's own. PAWL_ECONFIG: as for pawl_endpoint_create. */
PAWL_API pawl_code pawl_upgrade_create(const pawl_application *application, const char *saga_prefix,
                                       pawl_upgrade **upgrade, pawl_error *error);
PAWL_API void      pawl_upgrade_destroy(pawl_upgrade *upgrade); /* accepts NULL */
/* The saga tables of all endpoints; they live as long as `upgrade`. */
PAWL_API const pawl_saga_table *const *pawl_upgrade_tables(const pawl_upgrade *upgrade,
                                                           size_t             *count);

/* Sets the program that wrote the rows, which must outlive `upgrade`: then rows are also checked for members whose
 * default value differs between the programs (MISREAD). */
PAWL_API void pawl_upgrade_from(pawl_upgrade *upgrade, const pawl_upgrade *from);

/* Checks a page of a scan; a scan of sagas must be of a table of pawl_upgrade_tables. One fault may be reported several
 * times for a row: for each item of a list, and for each record that reads the row. Sagas of the page are looked up in
 * `store` by their correlation values. The arena keeps what was taken. */
PAWL_API pawl_code pawl_upgrade_rows(pawl_upgrade *upgrade, pawl_store *store,
                                     const pawl_scan *scan, const pawl_scan_rows *rows,
                                     pawl_arena *arena, pawl_upgrade_fn *found, void *context,
                                     pawl_error *error);

/* Compares the tables of two programs, without a store. */
PAWL_API pawl_code pawl_upgrade_compare(const pawl_upgrade *from, const pawl_upgrade *to,
                                        pawl_arena *arena, pawl_upgrade_fn *found, void *context,
                                        pawl_error *error);

/* A reason's word, "unread-member", its text, and whether it is a finding. NULL, NULL and false: the number is no
 * reason. */
PAWL_API const char *pawl_upgrade_reason_name(pawl_upgrade_reason reason);
PAWL_API const char *pawl_upgrade_reason_text(pawl_upgrade_reason reason);
PAWL_API bool        pawl_upgrade_is_finding(pawl_upgrade_reason reason);

#ifdef __cplusplus
}
#endif
#endif
