/* commit.h - the one write path: rounds of writes until none is refused.
 *
 *     part           groups of at most 1,000 documents and 8 MB, in their order; a group is never cut
 *       begin        a transaction
 *       fence        the worker's document, where its epoch matches
 *       kinds        in their order: look at a set, refuse, write a bulk
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

/* Changes of one kind that follow one another, no two of them of one document. */
typedef struct pawl__mongo_run {
    pawl__mongo_writer *writer;
    const void *const  *items;
    size_t              count;
    bool *is_out; /* by item: refused, or nothing is to be written; all false at first */
} pawl__mongo_run;

/* Refuses the item: `why` tells. */
pawl_code pawl__mongo_refuse(const pawl__mongo_run *run, size_t index, pawl__why_fn *why);
/* The same with what is in `text`. */
pawl_code pawl__mongo_refuse_with(const pawl__mongo_run *run, size_t index, const pawl_error *why);
/* An array of `size` zeroes for each item, in the round's arena; NULL sets the error. */
void *pawl__mongo_scratch(const pawl__mongo_run *run, size_t size, pawl_error *error);
/* Runs the bulk; `expected` is the sum of what it inserts, matches and removes: another one means that
 * somebody wrote in between, which the transaction would end for, too. */
pawl_code pawl__mongo_write(const pawl__mongo_run *run, pawl__mongo_bulk *bulk, size_t expected);

/* Writes a run, or refuses items of it. */
typedef pawl_code pawl__mongo_apply_fn(const pawl__mongo_run *run);
/* Hashes of the documents that a change is about; 0: none. */
typedef void pawl__mongo_keys_fn(const void *change, uint32_t keys[3]);

typedef struct pawl__mongo_way {
    pawl__mongo_apply_fn *apply;
    pawl__mongo_keys_fn  *keys;     /* NULL: changes never meet */
    bool                  is_alone; /* a run is one change */
} pawl__mongo_way;

/* FNV-1a, never 0. */
uint32_t pawl__mongo_hash(uint32_t from, const void *data, size_t size);

#define WAY(name, is_refusable) pawl__mongo_apply_fn pawl__mongo_apply_##name;
PAWL_CHANGE_KINDS(WAY)
#undef WAY

pawl__mongo_keys_fn pawl__mongo_keys_queue_settle, pawl__mongo_keys_inbox_mark,
    pawl__mongo_keys_saga_delete, pawl__mongo_keys_saga_insert, pawl__mongo_keys_saga_update,
    pawl__mongo_keys_checkpoint_set, pawl__mongo_keys_timeout_settle, pawl__mongo_keys_timeout_set,
    pawl__mongo_keys_outbox_settle, pawl__mongo_keys_outbox_reset, pawl__mongo_keys_outbox_add,
    pawl__mongo_keys_fold_set, pawl__mongo_keys_queue_send, pawl__mongo_keys_aggregator_add,
    pawl__mongo_keys_flush_set, pawl__mongo_keys_dead_set, pawl__mongo_keys_subscription_set;

#endif
