/* commit.h - the one write path: rounds of writes until none is refused.
 *
 *     part           groups of at most 1,000 documents and 8 MB, in their order; a group is never cut
 *       begin        a transaction
 *       fence        the worker's document, where its epoch matches
 *       kinds        in their order: one bulk each, whose filters say what has to be there
 *         not so many were written, or a unique index refuses:  abort, begin again with care: look first, and refuse
 *         any refused:      abort, leave their groups out, begin again
 *         somebody wrote:   abort, begin again; after two aborts with half as many groups
 *       commit       majority; without an answer the fence's document says whether it landed
 *
 * The groups behind a part that failed are refused with PAWL_ECONFLICT, as those before it stay.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MONGO_COMMIT_H
#define PAWL_MONGO_COMMIT_H

#include "store/core/kinds.h"
#include "store/core/refusal.h"
#include "store/mongo/mongo.h"

/* A change set on its way. */
typedef struct pawl__mongo_writer {
    pawl_store         *store;
    bool                is_enlisted; /* no claims, no fence, one round */
    bool                is_careful;  /* kinds look before they write */
    const pawl_changes *changes;
    pawl_refusals      *refused;
    bool               *is_dropped; /* by group: not of this round */
    int64_t             number;     /* the next one for a row of a bulk */
    int64_t          number_end; /* the next one behind those of the last round, applied or not */
    pawl_arena      *arena;      /* of the round */
    pawl_change_kind kind;       /* under way */
    pawl_error      *error;
} pawl__mongo_writer;

pawl_code pawl__mongo_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error);
pawl_code pawl__mongo_enlist(pawl_store *store, void *native, const pawl_changes *changes,
                             pawl_error *error);

/* Writes what is not dropped of a kind, or refuses (runs.c). */
pawl_code pawl__mongo_apply(pawl__mongo_writer *writer, pawl_change_kind kind);

extern const pawl__mongo_field pawl__mongo_saga_fields[]; /* of pawl_saga_row */

#endif
