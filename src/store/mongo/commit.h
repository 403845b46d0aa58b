/* commit.h - the one write path: rounds of writes until none is refused; and what each kind of change writes, as data.
 *
 *     part           groups of at most 1,000 documents and 8 MB, in their order; a group is never cut
 *       begin        a transaction
 *       fence        the worker's document, where its epoch matches
 *       kinds        in their order: one bulk each, whose filters say what has to be there
 *         not so many were written, or a unique index refuses:  abort, begin again with care: read first, and refuse
 *         any refused:      abort, leave their groups out, begin again
 *         somebody wrote:   abort, begin again; after two aborts with half as many groups
 *       commit       majority; without an answer the fence's document says whether it landed
 *
 * The groups behind a part that failed are refused with PAWL_ECONFLICT, as those before it stay.
 *
 * The writes are templates over the fields of the change, with the refusal where a document is there, or is not. Each
 * kind stands in the file of its noun; runs.c goes through them. A kind writes at once, and what its filters do not find
 * is counted: the round is then done again with care. Only then a kind reads the documents that it concerns, and refuses
 * changes or finds that there is nothing to write.
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
    bool                is_careful;  /* kinds read before they write */
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

extern const pawl__field_list pawl__mongo_saga_fields; /* of pawl_saga_row */

/* Changes of one kind that follow one another, no two of them of one document. */
typedef struct pawl__mongo_run {
    pawl__mongo_writer            *writer;
    const struct pawl__mongo_rule *rule;
    const void                   **items;
    size_t                         count;
    bool                          *is_out; /* by item: refused, or nothing is to be written */
    pawl__mongo_scope              scope;
    const char                    *rows; /* with care: what was read */
    size_t                         row_count;
} pawl__mongo_run;

#define PAWL__MONGO_NOTHING (-1) /* is to be written */
#define PAWL__MONGO_FAILED (-2)  /* the error is set */
#define PAWL__MONGO_WRITES_MAX 4 /* of a kind, by their conditions */

/* Why the change is refused; NULL: it is not. `row` is the one that it matches, or NULL. */
typedef pawl__why_fn *pawl__mongo_judge_fn(const pawl__mongo_run *run, const void *change,
                                           const void *row);
/* The number of the write; NOTHING, or FAILED. */
typedef int pawl__mongo_choose_fn(const pawl__mongo_run *run, const void *change);

/* A write is a word and a template: "insert _id: @number, @*", "remove q: {...}", "update q: {...}, u: {...}", "upsert",
 * "removes" and "updates" of many. Before it "maybe " where no document need be there, and "by FIELD " for one write of
 * all changes that are alike in that field, which it finds one document for each of. First may stand a condition, "when
 * FIELD !FIELD FIELD=word: ": a field is not empty, is empty, is that word. Of the writes the first one is made whose
 * condition holds; without any nothing is to be written. */
typedef struct pawl__mongo_rule {
    const char        *collection; /* NULL: the saga's */
    const char *const *choices;    /* the words of its action */
    /* Of its documents: "seq", "queue,message_id;id"; NULL: changes never meet; "": any two do. */
    const char              *keys;
    const pawl__mongo_table *table;            /* read first; NULL: the saga's */
    const char              *reads;            /* the members that are read of it; NULL: none */
    bool (*is_read)(const void *change);       /* for these changes only; NULL: for all */
    const char                    *match;      /* "seq=_id": the change's field, the row's */
    const char                    *same;       /* alike: what the two must have in common */
    pawl__why_fn                  *if_there;   /* why a change is refused that a row matches */
    pawl__why_fn                  *if_other;   /* ... one that has not `same` */
    pawl__why_fn                  *if_missing; /* ... or none does */
    pawl__mongo_judge_fn          *judge;      /* says more */
    pawl__mongo_choose_fn         *choose;     /* NULL: by the conditions of the writes */
    const char                    *writes[PAWL__MONGO_WRITES_MAX];
    const struct pawl__mongo_rule *before;     /* written of all changes, ahead of the read */
    const struct pawl__mongo_rule *also;       /* written behind it, of those that are not out */
    pawl_code (*apply)(pawl__mongo_run *run);  /* instead of all that */
    bool (*is_read_first)(const void *change); /* even without care */
} pawl__mongo_rule;

#define RULE(name, is_refusable) extern const pawl__mongo_rule pawl__mongo_##name##_rule;
PAWL_CHANGE_KINDS(RULE)
#undef RULE

/* The verdict "as it should be already". */
pawl__why_fn pawl__mongo_known;
/* Refuses the change. */
pawl_code pawl__mongo_refuse(const pawl__mongo_run *run, size_t index, const pawl_error *why);
/* Another number of documents than was expected: somebody wrote in between, or a read is needed. */
pawl_code pawl__mongo_mismatch(const pawl__mongo_run *run, int64_t done, size_t expected);
/* Whether a document is there of which the filter says what it says of the change; a failure comes again in the write. */
bool pawl__mongo_is_there(const pawl__mongo_run *run, const void *change, const char *filter);

#endif
