/* claims.h - a table from queue row to owner: open addressing, so that a claim
 * costs no allocation of its own.
 *
 * Threads: guarded by whoever owns the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_PROGRAM_CLAIMS_H
#define PAWL_STORE_PROGRAM_CLAIMS_H

#include "pawl/base.h"

typedef struct pawl__claim_row {
    int64_t     seq; /* 0: empty, as rows count from 1 */
    const void *owner;
    int64_t     epoch;
} pawl__claim_row;

typedef struct pawl__claims {
    pawl__claim_row *rows;
    size_t           capacity; /* a power of two, or 0 */
    size_t           count;
} pawl__claims;

/* NULL when nobody has it. Good until the next change of the table. */
pawl__claim_row *pawl__claims_find(const pawl__claims *claims, int64_t seq);
/* The seq must not be there. PAWL_ENOMEM. */
pawl_code pawl__claims_add(pawl__claims *claims, int64_t seq, const void *owner, int64_t epoch);
void      pawl__claims_remove(pawl__claims *claims, int64_t seq);
void      pawl__claims_remove_owner(pawl__claims *claims, const void *owner);
void      pawl__claims_free(pawl__claims *claims);

#endif
