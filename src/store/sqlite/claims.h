/* claims.h - a table from queue row to owner: open addressing, so that a claim
 * costs no allocation of its own.
 *
 * Threads: guarded by whoever owns the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_CLAIMS_H
#define PAWL_STORE_SQLITE_CLAIMS_H

#include "pawl/base.h"

typedef struct pawl__sqlite_claim_row {
    int64_t     seq; /* 0: empty, as rows count from 1 */
    const void *owner;
    int64_t     epoch;
} pawl__sqlite_claim_row;

typedef struct pawl__sqlite_claims {
    pawl__sqlite_claim_row *rows;
    size_t                  capacity; /* a power of two, or 0 */
    size_t                  count;
} pawl__sqlite_claims;

/* NULL when nobody has it. Good until the next change of the table. */
pawl__sqlite_claim_row *pawl__sqlite_claims_find(const pawl__sqlite_claims *claims, int64_t seq);
/* The seq must not be there. PAWL_ENOMEM. */
pawl_code pawl__sqlite_claims_add(pawl__sqlite_claims *claims, int64_t seq, const void *owner,
                                  int64_t epoch);
void      pawl__sqlite_claims_remove(pawl__sqlite_claims *claims, int64_t seq);
void      pawl__sqlite_claims_remove_owner(pawl__sqlite_claims *claims, const void *owner);
void      pawl__sqlite_claims_free(pawl__sqlite_claims *claims);

#endif
