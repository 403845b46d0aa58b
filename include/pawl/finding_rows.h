/* finding_rows.h - findings of a check of a store's database, its server and its settings.
 *
 * Threads: plain data. Answers live in the arena of the call.
 * Tests: src/conformance/store/diagnose.c, tests/contract/test_postgres_diagnose.c,
 *     test_mysql_diagnose.c, test_sqlite_diagnose.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_FINDING_ROWS_H
#define PAWL_FINDING_ROWS_H

#include "pawl/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_finding_level {
    PAWL_FINDING_OK,
    PAWL_FINDING_WARN, /* may be intended */
    PAWL_FINDING_FAIL, /* something must be done */
} pawl_finding_level;

/* A finding of a check; each check has at least one. */
typedef struct pawl_finding {
    pawl_text          name; /* of the check, one word: "clock", "transactions" */
    pawl_finding_level level;
    pawl_text          text;   /* for people: what was found, with its value */
    pawl_text          remedy; /* a command to paste, or empty */
    int64_t            value;  /* microseconds by which clocks differ, or for which a transaction is
                                  open; else 0 */
} pawl_finding;

typedef struct pawl_finding_rows {
    pawl_finding *items; /* in the order of the checks */
    size_t        count;
} pawl_finding_rows;

typedef struct pawl_diagnosis {
    pawl_time now;             /* the caller's clock, which the server's is compared with */
    int64_t   transaction_age; /* microseconds: transactions of this age or older are findings */
    bool      is_thorough;     /* also checks that read all of the data */
    bool      is_brief;        /* only clocks and open transactions */
    /* With is_brief: only the store's time. Finding "clock" is the time of its server; "recorded" (a file) is when the
     * first of its last 1,000 deduplication records was written. */
    bool is_time;
} pawl_diagnosis;

/* Limits of the difference between the server's and the caller's clock: leases and due times depend on both. */
#define PAWL_CLOCK_OFFSET_WARN PAWL_SECONDS(1)
#define PAWL_CLOCK_OFFSET_FAIL PAWL_SECONDS(5)

#ifdef __cplusplus
}
#endif
#endif
