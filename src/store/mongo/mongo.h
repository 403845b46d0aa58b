/* mongo.h - the MongoDB store: `mongodb://`, `mongodb+srv://`.
 *
 * A commit is one transaction with majority write concern: first the worker's own document (the fence), then the kinds
 * of change in order. Each kind writes in one bulk whose filters state the expected documents, and counts the written
 * ones. If the count is wrong, the transaction is aborted and repeated with care: each kind first reads, and refuses
 * changes that the documents forbid. If another session writes one of the documents meanwhile, the transaction fails,
 * so a commit never relies on stale reads.
 *
 * Claims and leases are members of documents, set by update-many outside of transactions. Other workers free them when
 * the heartbeat of their worker stops.
 *
 * Numbers of rows come from one counter document, taken before the transaction that writes them.
 *
 * Files: template.c and document.c BSON; json.c the state of sagas; request.c finds and bulks; transaction.c, commit.c
 * and runs.c the write path; one file for each noun that is read.
 * Threads: one at a time, as for the store; only interrupt() may come from another thread.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MONGO_H
#define PAWL_MONGO_H

#include "pawl/store_driver.h"
#include "store/core/wait.h"
#include "store/mongo/template.h"

#include <mongoc/mongoc.h>

#define PAWL__MONGO_DATABASE_SIZE 64
#define PAWL__MONGO_NAME_SIZE 256 /* of a collection */
#define PAWL__MONGO_TRIES_MAX 20  /* tries of a transaction after write conflicts */

typedef struct pawl__mongo {
    pawl_store    base;
    mongoc_uri_t *uri;
    /* NULL: the store is opened for its schema only, and not yet connected. */
    mongoc_client_t         *client;
    mongoc_client_session_t *session; /* for transactions; made at open */
    /* The client and the open transaction for finds and bulks; an enlist sets them to those of the caller. NULL: no
     * transaction is open. */
    mongoc_client_t         *at_client;
    mongoc_client_session_t *at_session;
    bool       is_transient; /* of the last failure: the transaction may be repeated */
    bool       is_duplicate; /* of the last failure: a unique index refused */
    bool       is_mismatch;  /* a write found another number of documents than expected */
    unsigned   duplicates;   /* number of such failures since the transaction's first try */
    bool       is_in_doubt;  /* the last commit may have been applied */
    char       database[PAWL__MONGO_DATABASE_SIZE];
    pawl__wait wait;
    int64_t    beat_ms;      /* monotonic: of the last heartbeat */
    bool       is_fenced;    /* the last heartbeat found no document of this worker and epoch */
    int64_t    clock_ms;     /* monotonic: when the offset was measured; 0: never */
    int64_t    clock_offset; /* microseconds that the server's clock is ahead of this machine's */
    int64_t    news;         /* counter value read by the last wait */
    int64_t    stream;       /* cursor of the change stream; 0: none is open */
    uint32_t   stream_server;
    bool       has_no_streams; /* the server has no change streams, or denies them to this user */
    int64_t    claim;          /* number of the last claim of a queue */
    int64_t    part;           /* number of the part that is being committed, or in doubt */
    bool       is_in_commit;
    bool       is_partly_applied; /* the last resolve: only an earlier part was applied */
    bson_oid_t bodies_cursor;     /* last `bodies` document that a sweep checked */
    int64_t    history_place;     /* of the next sweep */
    bool may_have_lost_claims;    /* rows that were not returned may have the last claim's number */
} pawl__mongo;

static inline pawl__mongo *pawl__mongo_of(pawl_store *store)
{
    return (pawl__mongo *)(void *)store;
}

/* Time limit of calls, as a 32-bit number for MongoDB's options. */
static inline int32_t pawl__mongo_deadline_ms(const pawl_store *store)
{
    return store->deadline_ms < INT32_MAX / 2 ? (int32_t)store->deadline_ms : INT32_MAX / 2;
}

/* ---- Errors (error.c) ---------------------------------------------------- */

/* Converts a failure of libmongoc to a code; `reply` may be NULL. Notes in the handle what the failure means for the
 * transaction. */
pawl_code pawl__mongo_fail(pawl_store *store, const bson_error_t *why, const bson_t *reply,
                           pawl_error *error);
pawl_code pawl__mongo_no_memory(pawl_error *error);

/* ---- Finds (request.c) --------------------------------------------------- */

/* Rows that are read one by one. Each read is a template (template.h):
 *
 *     "filter: {...}, sort: {due: 1}, projection: {body: 1}, limit: %i"    or    "pipeline: [...]"
 *
 * begin -> next* -> end. After a failure `next` is false, and `end` returns the failure. */
typedef struct pawl__mongo_reading {
    pawl_store              *store;
    const pawl__mongo_table *table;
    pawl_arena              *arena;
    mongoc_cursor_t         *cursor;
    const bson_t            *document; /* the last one */
    void                    *items;    /* rows; never NULL after PAWL_OK */
    size_t                   count, capacity;
    pawl_code                code;
    pawl_error              *error;
} pawl__mongo_reading;

pawl__mongo_reading pawl__mongo_begin(pawl_store *store, const pawl__mongo_table *table,
                                      pawl_arena *arena, pawl_error *error, const char *find, ...);
/* Reads the next document. True: it is appended to `items` as a row, unless the table has no fields. */
bool      pawl__mongo_next(pawl__mongo_reading *reading);
pawl_code pawl__mongo_end(pawl__mongo_reading *reading);

/* Reads all rows that match; `items` is the address of a pointer to them. PAWL_ENOMEM without an arena. */
pawl_code pawl__mongo_read(pawl_store *store, const pawl__mongo_table *table, pawl_arena *arena,
                           void *items, size_t *count, pawl_error *error, const char *find, ...);
/* Reads the first row that matches; without one `row` is unchanged. `is_there` may be NULL. */
pawl_code pawl__mongo_read_one(pawl_store *store, const pawl__mongo_table *table, pawl_arena *arena,
                               void *row, bool *is_there, pawl_error *error, const char *find, ...);
/* Counts matching documents, up to `limit` if it is not 0. */
pawl_code pawl__mongo_count(pawl_store *store, const char *collection, int64_t limit,
                            int64_t *count, pawl_error *error, const char *filter, ...);
typedef struct pawl__mongo_oldest {
    int64_t n, oldest; /* both 0, or neither */
} pawl__mongo_oldest;
/* Counts the documents with the smallest `key`, up to `limit`, and reads that key, in one read: with two, documents
 * could disappear in between. */
pawl_code pawl__mongo_count_oldest(pawl_store *store, const char *collection, const char *key,
                                   int64_t limit, pawl__mongo_oldest *found, pawl_error *error,
                                   const char *filter, ...);
/* Joins a body that is stored in two documents (body.c). */
pawl_code pawl__mongo_join(pawl_store *store, const bson_t *document,
                           const pawl__field_list *fields, pawl_arena *arena, void *row,
                           pawl_error *error);

/* ---- Writes (request.c) -------------------------------------------------- */

/* Kind of an entry of a bulk, whose text is the document, "q: {...}, u: {...}", or "q: {...}". */
typedef enum pawl__mongo_op {
    PAWL__MONGO_REMOVE,
    PAWL__MONGO_REMOVE_MANY,
    PAWL__MONGO_UPDATE,
    PAWL__MONGO_UPSERT,
    PAWL__MONGO_UPDATE_MANY,
    PAWL__MONGO_INSERT,
} pawl__mongo_op;

/* Writes to one collection: removals, then updates, then inserts, one command each. */
typedef struct pawl__mongo_bulk {
    pawl_store              *store;
    mongoc_collection_t     *at;
    mongoc_bulk_operation_t *bulks[3]; /* NULL: no entry of that kind */
    const char              *collection;
    pawl_code                code; /* first failure while entries were added */
    bson_error_t             why;
    int64_t                  done; /* after the run: documents inserted, matched or removed */
} pawl__mongo_bulk;

pawl__mongo_bulk pawl__mongo_bulk_begin(pawl_store *store, const char *collection, pawl_text saga);
void             pawl__mongo_add(pawl__mongo_bulk *bulk, pawl__mongo_op op, const char *text, ...);
void pawl__mongo_add_document(pawl__mongo_bulk *bulk, pawl__mongo_op op, const bson_t *document,
                              bool is_ok);
/* Sends the entries, if any, and frees the bulk. */
pawl_code pawl__mongo_bulk_run(pawl__mongo_bulk *bulk, pawl_error *error);
/* A bulk of one entry; `done` may be NULL. */
pawl_code pawl__mongo_write(pawl_store *store, const char *collection, pawl__mongo_op op,
                            int64_t *done, pawl_error *error, const char *text, ...);

/* If the document is too large, writes the second half of its body, and makes `first`, the document with the first
 * half, which the caller writes and destroys (body.c). */
bool pawl__mongo_split(pawl__mongo_bulk *bulk, const bson_t *document, bson_t *first);
/* Removes second halves of bodies whose rows are gone. */
pawl_code pawl__mongo_bodies_sweep(pawl_store *store, size_t count_max, pawl_error *error);
/* Removes old bodies of dead letters from their events; adds their number to `count`. */
pawl_code pawl__mongo_old_bodies_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                                       bool *more, pawl_error *error);

/* Runs a command; the caller always destroys `reply`, unless NULL. The error number `allowed` counts as success. */
pawl_code pawl__mongo_command(pawl_store *store, const bson_t *command, uint32_t allowed,
                              bson_t *reply, pawl_error *error);
/* Runs a command that returns a cursor; `listed` is its first batch, inside of `reply`, which the caller destroys.
 * Destroys the command. */
pawl_code pawl__mongo_batch(pawl_store *store, bson_t *command, bson_t *reply, bson_t *listed,
                            pawl_error *error);
/* Updates or upserts a document by "q: {...}, u: {...}", and reads numbers and ids of the result. */
pawl_code pawl__mongo_modify(pawl_store *store, const pawl__mongo_table *table, bool is_upsert,
                             void *row, bool *is_there, pawl_error *error, const char *text, ...);
/* Reserves `count` unused numbers, the first in *first. Outside of any transaction. */
pawl_code pawl__mongo_numbers(pawl_store *store, size_t count, int64_t *first, pawl_error *error);
void      pawl__mongo_name(const pawl_store *store, const char *collection,
                           char name[PAWL__MONGO_NAME_SIZE]);
/* M3: replaces + ` [ ] , and the blank by _. */
void pawl__mongo_table_name(pawl_text table, char name[PAWL__MONGO_NAME_SIZE]);

/* ---- Transactions (transaction.c) ---------------------------------------- */

pawl_code pawl__mongo_transaction_begin(pawl_store *store, pawl_error *error);
/* PAWL_EUNKNOWN: the deadline passed without an answer; it may have been applied. */
pawl_code pawl__mongo_transaction_commit(pawl_store *store, pawl_error *error);
void      pawl__mongo_transaction_abort(pawl_store *store);

typedef pawl_code pawl__mongo_work(pawl_store *store, void *context, pawl_error *error);
/* Runs the work in a transaction, and repeats it after write conflicts. */
pawl_code pawl__mongo_transact(pawl_store *store, pawl__mongo_work *work, void *context,
                               pawl_error *error);
/* Pauses and returns true if a transaction that failed like this is to be repeated. */
bool pawl__mongo_again(pawl_store *store, pawl_code code, int64_t begun_ms, unsigned *tries);

/* ---- Entries of the driver's table, as store_driver.h says --------------- */

#define ENTRY(name, ...) \
    pawl_code pawl__mongo_##name(pawl_store *store, __VA_ARGS__, pawl_error *error);
#include "store/core/entries.h"
#undef ENTRY

/* Lists by kind of row, each in the file of its noun. */
pawl_find_rows_fn pawl__mongo_find_messages, pawl__mongo_find_retried, pawl__mongo_find_timeouts,
    pawl__mongo_find_foreign, pawl__mongo_find_outbox, pawl__mongo_find_attempts,
    pawl__mongo_find_dead, pawl__mongo_find_events, pawl__mongo_find_history,
    pawl__mongo_find_partition, pawl__mongo_find_flushes, pawl__mongo_find_subscriptions,
    pawl__mongo_find_leads, pawl__mongo_find_workers;

void pawl__mongo_interrupt(pawl_store *store);

/* ---- Opening and schema -------------------------------------------------- */

pawl_code pawl__mongo_open(pawl_store *store, const char *url, const pawl_store_options *options,
                           pawl_error *error);
/* Called by open(); by schema() if the store is opened for its schema only. */
pawl_code pawl__mongo_connect(pawl_store *store, pawl_error *error);
void      pawl__mongo_close(pawl_store *store);
pawl_code pawl__mongo_ready(pawl_store *store, pawl_error *error);
pawl_code pawl__mongo_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error);
/* Creates missing collections and indexes; may be repeated, also by two processes at once (M2). */
pawl_code pawl__mongo_schema_make(pawl_store *store, const pawl_saga_table *const *tables,
                                  size_t count, pawl_error *error);
/* PAWL_ESCHEMA with the first difference; all are passed to `line` if it is not NULL. */
pawl_code pawl__mongo_schema_check(pawl_store *store, const pawl_saga_table *const *tables,
                                   size_t count, pawl_line_fn *line, void *context,
                                   pawl_error *error);
/* The member with the values of the property, such as "correlation.OrderRef". */
void pawl__mongo_correlation_path(const pawl_correlation *correlation,
                                  char                    path[PAWL__MONGO_PATH_SIZE]);
/* PAWL_ESCHEMA when rows have only values of properties that the saga no longer has (D31). */
pawl_code pawl__mongo_check_reach(pawl_store *store, const pawl_saga_table *table,
                                  pawl_error *error);

/* ---- Workers ------------------------------------------------------------- */

/* The server's clock; PAWL_TIME_MIN: the server does not tell it. */
pawl_code pawl__mongo_server_time(pawl_store *store, pawl_time *time, pawl_error *error);
/* Writes the worker's heartbeat if the last one is long ago, and frees claims of dead workers. A worker that was ended
 * or replaced is fenced from then on. */
pawl_code pawl__mongo_heartbeat(pawl_store *store, pawl_error *error);
/* In the open transaction: writes the commit's id into the worker's document; PAWL_EFENCED. */
pawl_code pawl__mongo_fence(pawl_store *store, const pawl_changes *changes, pawl_error *error);
pawl_code pawl__mongo_worker_stats(pawl_store *store, pawl_stats *stats, pawl_error *error);
pawl_code pawl__mongo_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                   int64_t *count, bool *more, pawl_error *error);

#endif
