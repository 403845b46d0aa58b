/* mongo.h - the MongoDB store: `mongodb://`, `mongodb+srv://`.
 *
 * A commit is one transaction with majority write concern: the worker's own document first (the
 * fence), then the kinds of change in their order. Each kind looks at the documents that it concerns
 * with one find, refuses what they forbid, and writes with one bulk. Inside of a transaction each find
 * sees what the kinds before it wrote, and a document that somebody else writes meanwhile ends the
 * transaction, which is then begun again: so what was looked at stays true until the commit.
 *
 * Claims and leases are stamps on documents, made by update-many outside of any transaction. They end
 * with their worker, whose heartbeat others look at.
 *
 * Numbers of rows come from one counter document, taken before the transaction that writes them.
 *
 * Files: document.c fields and BSON; json.c the state of sagas; request.c finds and bulks;
 * transaction.c and commit.c the write path; one file for each noun.
 * Threads: as the store: one thread at a time; interrupt() alone from another one.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MONGO_H
#define PAWL_MONGO_H

#include "pawl/store_driver.h"
#include "store/mongo/document.h"

#include <mongoc/mongoc.h>

#include <stdatomic.h>
#include <sys/types.h>

#define PAWL__MONGO_DATABASE_SIZE 64
#define PAWL__MONGO_NAME_SIZE 256 /* of a collection */
#define PAWL__MONGO_PATH_SIZE 300 /* of a member */
#define PAWL__MONGO_TRIES_MAX 20  /* of a transaction that others wrote into */

typedef struct pawl__mongo {
    pawl_store               base;
    mongoc_client_t         *client;
    mongoc_client_session_t *session; /* for transactions; made at open */
    /* The client and the open transaction that finds and bulks go to; an enlist sets them to the
     * caller's. NULL: no transaction is open. */
    mongoc_client_t         *at_client;
    mongoc_client_session_t *at_session;
    bool       is_transient; /* the last failure: the transaction may be begun again */
    bool       is_duplicate; /* the last failure was a unique index's */
    unsigned   duplicates;   /* such failures since the transaction was tried first */
    bool       is_in_doubt;  /* the last commit may have been applied */
    char       database[PAWL__MONGO_DATABASE_SIZE];
    pid_t      pid;          /* of the process that opened it */
    atomic_int interrupt_fd; /* an eventfd; -1: none */
    int64_t    beat_ms;      /* monotonic: of the last heartbeat */
    int64_t    news;         /* number that the last wait saw */
    int64_t    pause_ms;     /* between two looks of a wait */
    int64_t    claim;        /* number of the last claim of a queue */
    int64_t    part;         /* of the commit under way, or in doubt */
    bool       has_stray;    /* that claim may have stamped rows that nobody knows of */
} pawl__mongo;

static inline pawl__mongo *pawl__mongo_of(pawl_store *store)
{
    return (pawl__mongo *)(void *)store;
}

/* Milliseconds of the monotonic clock. */
int64_t pawl__mongo_clock_ms(void);

/* ---- Errors (error.c) ---------------------------------------------------- */

/* The code for a failure of libmongoc, with `reply`, which may be NULL; notes what it says of the
 * transaction in the handle. */
pawl_code pawl__mongo_fail(pawl_store *store, const bson_error_t *why, const bson_t *reply,
                           pawl_error *error);
pawl_code pawl__mongo_no_memory(pawl_error *error);

/* ---- Finds (request.c) --------------------------------------------------- */

typedef struct pawl__mongo_find {
    const char   *collection; /* without the prefix */
    pawl_text     table;      /* or the whole name of a saga's */
    const bson_t *filter;
    const char   *sort;  /* "due,_id"; "-_id" from the last; NULL: none */
    const char   *only;  /* the members to read: "queue,claimed_by"; NULL: all */
    int64_t       limit; /* 0: all */
} pawl__mongo_find;

/* To be ended by pawl__mongo_end; NULL when out of memory, which end tells. */
mongoc_cursor_t *pawl__mongo_begin(pawl_store *store, const pawl__mongo_find *find);
pawl_code        pawl__mongo_end(pawl_store *store, mongoc_cursor_t *cursor, pawl_error *error);

typedef struct pawl__mongo_rows {
    void  *items; /* never NULL after PAWL_OK */
    size_t count;
} pawl__mongo_rows;

/* Sets the members that the document has, as pawl__mongo_decode; a body that is in two documents is
 * put together. False with PAWL_OK in *code: out of memory. */
bool pawl__mongo_take(pawl_store *store, const bson_t *document, const pawl__mongo_field *fields,
                      pawl_arena *arena, void *row, pawl_code *code, pawl_error *error);
/* All that is found, as structs of `row_size`, which begin as zeroes. */
pawl_code pawl__mongo_read(pawl_store *store, const pawl__mongo_find *find,
                           const pawl__mongo_field *fields, size_t row_size, pawl_arena *arena,
                           pawl__mongo_rows *rows, pawl_error *error);
/* The first; *is_there false: nothing was found and `row` stays. */
pawl_code pawl__mongo_read_one(pawl_store *store, pawl__mongo_find find,
                               const pawl__mongo_field *fields, pawl_arena *arena, void *row,
                               bool *is_there, pawl_error *error);
/* A sum over documents: how many there are. */
pawl_code pawl__mongo_count(pawl_store *store, const char *collection, const bson_t *filter,
                            int64_t *count, pawl_error *error);
/* An aggregation; as pawl__mongo_begin. Takes the stages of an array. */
mongoc_cursor_t *pawl__mongo_aggregate(pawl_store *store, const char *collection,
                                       const bson_t *stages);

/* ---- Writes (request.c) -------------------------------------------------- */

/* Writes that go as one bulk, in their order. */
typedef struct pawl__mongo_bulk {
    pawl_store              *store;
    mongoc_bulk_operation_t *bulk;
    size_t                   count;
    const char              *collection; /* NULL: a saga's */
    pawl_code                rest_code;  /* of the rest of a body that went before */
    bool                     is_failed;  /* out of memory, or a document that is none */
    bson_error_t             why;
    int64_t                  inserted, matched, modified, removed, upserted; /* once it was run */
} pawl__mongo_bulk;

pawl__mongo_bulk pawl__mongo_bulk_begin(pawl_store *store, const char *collection);
pawl__mongo_bulk pawl__mongo_bulk_begin_table(pawl_store *store, pawl_text table);
void             pawl__mongo_insert(pawl__mongo_bulk *bulk, const bson_t *document);
/* `update` has operators: {"$set": ...}. */
void pawl__mongo_update(pawl__mongo_bulk *bulk, const bson_t *filter, const bson_t *update,
                        bool is_upsert);
void pawl__mongo_update_many(pawl__mongo_bulk *bulk, const bson_t *filter, const bson_t *update);
void pawl__mongo_replace(pawl__mongo_bulk *bulk, const bson_t *filter, const bson_t *document);
void pawl__mongo_remove(pawl__mongo_bulk *bulk, const bson_t *filter);
void pawl__mongo_remove_many(pawl__mongo_bulk *bulk, const bson_t *filter);
/* Sends what was added, if anything, and frees it. */
pawl_code pawl__mongo_bulk_run(pawl__mongo_bulk *bulk, pawl_error *error);

/* Whether the document is too large for one: its body's rest is written, and `first`, the caller's to
 * destroy, is to be written in its place (body.c). */
bool pawl__mongo_split(pawl__mongo_bulk *bulk, const bson_t *document, bson_t *first);
/* Removes rests of bodies whose rows went. */
pawl_code pawl__mongo_bodies_sweep(pawl_store *store, size_t count_max, pawl_error *error);

/* One update-many by itself; `*modified` may be NULL. */
pawl_code pawl__mongo_stamp(pawl_store *store, const char *collection, const bson_t *filter,
                            const bson_t *update, int64_t *modified, pawl_error *error);
/* A command; `reply` is the caller's to destroy in any case. */
pawl_code pawl__mongo_command(pawl_store *store, const bson_t *command, bson_t *reply,
                              pawl_error *error);
/* Adds to the document of that id, makes it where it is missing, and reads what it then is. */
pawl_code pawl__mongo_find_and_modify(pawl_store *store, const char *collection,
                                      const bson_t *filter, const bson_t *update, bool is_upsert,
                                      bson_t *reply, pawl_error *error);
/* `count` numbers nobody had before, the first in *first. Outside of any transaction. */
pawl_code pawl__mongo_numbers(pawl_store *store, size_t count, int64_t *first, pawl_error *error);
void      pawl__mongo_name(const pawl_store *store, const char *collection,
                           char name[PAWL__MONGO_NAME_SIZE]);
/* M3: + ` [ ] , and the blank become _. */
void pawl__mongo_table_name(pawl_text table, char name[PAWL__MONGO_NAME_SIZE]);

/* ---- Transactions (transaction.c) ---------------------------------------- */

pawl_code pawl__mongo_transaction_begin(pawl_store *store, pawl_error *error);
/* PAWL_EUNKNOWN: it may have been applied, and no answer came before the deadline. */
pawl_code pawl__mongo_transaction_commit(pawl_store *store, pawl_error *error);
void      pawl__mongo_transaction_abort(pawl_store *store);

typedef pawl_code pawl__mongo_work(pawl_store *store, void *context, pawl_error *error);
/* Runs the work in a transaction, again while others write what it looked at. */
pawl_code pawl__mongo_transact(pawl_store *store, pawl__mongo_work *work, void *context,
                               pawl_error *error);
/* Whether a transaction that failed so is begun again: a pause was made. */
bool pawl__mongo_again(pawl_store *store, pawl_code code, int64_t begun_ms, unsigned *tries);

/* ---- Opening and schema -------------------------------------------------- */

pawl_code pawl__mongo_open(pawl_store *store, const char *url, const pawl_store_options *options,
                           pawl_error *error);
void      pawl__mongo_close(pawl_store *store);
pawl_code pawl__mongo_ready(pawl_store *store, pawl_error *error);
pawl_code pawl__mongo_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error);
/* Makes collections and indexes that are missing; harmless when run again or by two at once (M2). */
pawl_code pawl__mongo_schema_make(pawl_store *store, const pawl_saga_table *const *tables,
                                  size_t count, pawl_error *error);
/* PAWL_ESCHEMA for the first difference; each is told to `line` when that is not NULL. */
pawl_code pawl__mongo_schema_check(pawl_store *store, const pawl_saga_table *const *tables,
                                   size_t count, pawl_line_fn *line, void *context,
                                   pawl_error *error);
/* "correlation.OrderRef": the member that values of the property stand in. */
void pawl__mongo_correlation_path(pawl_text property, char path[PAWL__MONGO_PATH_SIZE]);
/* PAWL_ESCHEMA when rows have values of properties alone that the saga has no more (D31). */
pawl_code pawl__mongo_check_reach(pawl_store *store, const pawl_saga_table *table,
                                  pawl_error *error);

/* ---- Workers ------------------------------------------------------------- */

/* Says that the worker lives, when the last time is long ago, and frees what dead ones have. */
pawl_code pawl__mongo_beat(pawl_store *store, pawl_error *error);
/* In the open transaction: the worker's document gets the commit's id; PAWL_EFENCED. */
pawl_code pawl__mongo_fence(pawl_store *store, const pawl_changes *changes, pawl_error *error);
pawl_code pawl__mongo_worker_stats(pawl_store *store, pawl_stats *stats, pawl_error *error);
pawl_code pawl__mongo_worker_sweep(pawl_store *store, pawl_time before, size_t count_max,
                                   int64_t *count, bool *more, pawl_error *error);

/* ---- Parts of statistics, of a sweep and of the next due time ------------ */

pawl_code pawl__mongo_outbox_stats(pawl_store *store, pawl_stats *stats, pawl_error *error);
/* {_id: ...} of an inbox mark. */
void pawl__mongo_put_mark_key(bson_t *filter, pawl_text endpoint, pawl_text message_id);

#endif
