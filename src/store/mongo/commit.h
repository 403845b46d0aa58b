/* commit.h - writes a change set in rounds until no change is refused; the writes of each kind of change are data.
 *
 *     part           groups of at most 1,000 documents and 8 MB, in their order; a group is never cut
 *       begin        a transaction
 *       fence        updates the worker's document if its epoch matches
 *       kinds        in their order: one bulk each, whose filters state the expected documents
 *         fewer written than expected, or a unique index refuses:  abort, begin again with care: read first, and refuse
 *         any refused:      abort, leave their groups out, begin again
 *         write conflict:   abort, begin again; after two aborts with half as many groups
 *       commit       majority; without an answer the fence's document says whether it landed
 *
 * If a part fails, the groups of later parts are refused with PAWL_ECONFLICT; earlier parts stay committed.
 *
 * The rule of each kind has its writes, as templates over the fields of the change, and the refusals for documents that
 * exist or are missing. Rules are in the file of their noun; runs.c executes them. In the first round a kind writes at
 * once and compares the number of written documents with the expected one. If it differs, the round is repeated with
 * care: each kind first reads its documents, and refuses changes or finds that there is nothing to write.
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

/* State of a change set while it is written. */
typedef struct pawl__mongo_writer {
    pawl_store *store;
    bool        is_enlisted;    /* in a transaction of the caller: no claims, no fence, one round */
    bool        commits_singly; /* kinds read before they write */
    const pawl_changes *changes;
    pawl_refusals      *refused;
    bool               *is_dropped; /* by group: not in this round */
    int64_t             number;     /* the next number for a row that is inserted */
    int64_t          number_end; /* end of the numbers that the last rounds used, applied or not */
    pawl_arena      *arena;      /* of the round */
    pawl_change_kind kind;       /* the kind being written */
    pawl_error      *error;
} pawl__mongo_writer;

pawl_code pawl__mongo_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error);
pawl_code pawl__mongo_enlist(pawl_store *store, void *native, const pawl_changes *changes,
                             pawl_error *error);

/* Writes the changes of a kind that are not dropped, or refuses some (runs.c). */
pawl_code pawl__mongo_apply(pawl__mongo_writer *writer, pawl_change_kind kind);

extern const pawl__field_list pawl__mongo_saga_fields; /* of pawl_saga_row */

/* Consecutive changes of one kind, each for another document. */
typedef struct pawl__mongo_run {
    pawl__mongo_writer            *writer;
    const struct pawl__mongo_rule *rule;
    const void                   **items;
    size_t                         count;
    bool             *is_settled; /* by item: refused, or nothing needs to be written */
    pawl__mongo_scope scope;
    const char       *rows; /* rows that were read, in a round with care */
    size_t            row_count;
} pawl__mongo_run;

#define PAWL__MONGO_NOTHING (-1) /* no write is needed */
#define PAWL__MONGO_FAILED (-2)  /* the error is set */
#define PAWL__MONGO_WRITES_MAX 4 /* per kind, selected by their conditions */

/* The reason why the change is refused; NULL: it is not. `row` is its matching row, or NULL. */
typedef pawl__why_fn *pawl__mongo_judge_fn(const pawl__mongo_run *run, const void *change,
                                           const void *row);
/* The index of the write to use, NOTHING, or FAILED. */
typedef int pawl__mongo_choose_fn(const pawl__mongo_run *run, const void *change);

/* A write is a word and a template: "insert _id: @number, @*", "remove q: {...}", "update q: {...}, u: {...}",
 * "upsert", or "removes" and "updates" for many documents. "maybe " before it: the document may be missing. "by FIELD
 * ": one write for all changes with the same value of FIELD, and one document for each of them. A condition may come
 * first, "when FIELD !FIELD FIELD=word: ": field not empty, empty, equal to the word. The first write whose condition
 * holds is used; without any, nothing is written. */
typedef struct pawl__mongo_rule {
    const char        *collection; /* NULL: the saga's */
    const char *const *choices;    /* the words that its action is written as */
    /* Fields that identify its documents: "seq", "queue,message_id;id"; NULL: each change has its own; "": any two
     * share. */
    const char              *keys;
    const pawl__mongo_table *table;            /* read first; NULL: the saga's */
    const char              *reads;            /* the members that are read; NULL: none */
    bool (*is_read)(const void *change);       /* restricts reading to these changes; NULL: all */
    const char                    *match;      /* "seq=_id": the change's field, the row's */
    const char                    *same;       /* fields that must be equal in change and row */
    pawl__why_fn                  *if_there;   /* reason to refuse a change with a matching row */
    pawl__why_fn                  *if_other;   /* ... with a row that differs in `same` */
    pawl__why_fn                  *if_missing; /* ... without a matching row */
    pawl__mongo_judge_fn          *judge;      /* makes further checks */
    pawl__mongo_choose_fn         *choose;     /* NULL: the conditions of the writes decide */
    const char                    *writes[PAWL__MONGO_WRITES_MAX];
    const struct pawl__mongo_rule *before;     /* a write for all changes, before the read */
    const struct pawl__mongo_rule *also;       /* a write after it, for changes that are not out */
    pawl_code (*apply)(pawl__mongo_run *run);  /* replaces all of the above */
    bool (*is_read_first)(const void *change); /* reads first even without care */
} pawl__mongo_rule;

#define RULE(name, is_refusable) extern const pawl__mongo_rule pawl__mongo_##name##_rule;
PAWL_CHANGE_KINDS(RULE)
#undef RULE

/* The verdict that the change is already applied. */
pawl__why_fn pawl__mongo_known;
/* Refuses the change. */
pawl_code pawl__mongo_refuse(const pawl__mongo_run *run, size_t index, const pawl_error *why);
/* Notes that the number of documents is not the expected one: another write came in between, or a read is needed. */
pawl_code pawl__mongo_mismatch(const pawl__mongo_run *run, int64_t done, size_t expected);
/* Does a document match the filter, for this change? A failure here is reported by the write that follows. */
bool pawl__mongo_is_there(const pawl__mongo_run *run, const void *change, const char *filter);

#endif
