/* limit_mongo.h - the hand-written loop on MongoDB: its client, its transactions, the worker's fence.
 *
 * The loop has a client of its own, of the same URL and with the concerns that pawl's driver sets. The
 * first failure is kept in `code`, and nothing is done after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_LIMIT_MONGO_H
#define PAWL_BENCH_LIMIT_MONGO_H

#include "limit.h"

#include <mongoc/mongoc.h>

typedef struct mg_loop {
    mongoc_client_t          *client;
    mongoc_client_session_t  *session; /* for transactions */
    mongoc_transaction_opt_t *options; /* of these */
    pawl_uuid                 worker;
    uint64_t                  commits;
    pawl_code                 code;
    pawl_error               *error;
    bson_error_t              why; /* libmongoc's last */
} mg_loop;

/* disconnect follows every connect, failed or not. */
void pawl__mg_connect(mg_loop *l, const char *url, pawl_error *error);
void pawl__mg_disconnect(mg_loop *l);
/* Notes that libmongoc failed at what the word names. */
void pawl__mg_failed(mg_loop *l, const char *what);

/* Connects to the store's database, with the concerns of pawl's driver, as a worker of the store. */
void pawl__mg_open(mg_loop *l, pawl_store *store, const char *url, pawl_error *error);
/* Of the database of the URL. The caller's to destroy. */
mongoc_collection_t *pawl__mg_collection(mg_loop *l, const char *url, const char *name);

/* A commit, the fence included, as each commit of pawl has one. */
void pawl__mg_begin(mg_loop *l, mongoc_collection_t *workers, pawl_time now, int64_t messages);
void pawl__mg_commit(mg_loop *l);

/* ---- Bulks ---------------------------------------------------------------- */

typedef struct mg_bulk {
    mg_loop                 *loop;
    mongoc_bulk_operation_t *bulk;
    const char              *what;
    int64_t                  count; /* documents that it has to reach */
} mg_bulk;

/* In the open transaction, or in none. A bulk without a write does not go out. */
mg_bulk pawl__mg_bulk(mg_loop *l, mongoc_collection_t *to, const char *what,
                      bool is_in_transaction);
void    pawl__mg_insert(mg_bulk *b, const bson_t *document);
void    pawl__mg_update(mg_bulk *b, const bson_t *filter, const bson_t *update);
/* Many that one filter finds. */
void pawl__mg_update_many(mg_bulk *b, const bson_t *filter, const bson_t *update, int64_t count);
void pawl__mg_remove_many(mg_bulk *b, const bson_t *filter, int64_t count);
/* Runs and destroys it: has it reached all documents? */
void pawl__mg_run(mg_bulk *b);

/* ---- Members -------------------------------------------------------------- */

static inline void mg_text(bson_t *to, const char *key, const char *text, size_t size)
{
    (void)bson_append_utf8(to, key, -1, text, (int)size);
}

static inline void mg_int(bson_t *to, const char *key, int64_t value)
{
    (void)bson_append_int64(to, key, -1, value);
}

static inline void mg_int32(bson_t *to, const char *key, int32_t value)
{
    (void)bson_append_int32(to, key, -1, value);
}

static inline void mg_uuid(bson_t *to, const char *key, pawl_uuid id)
{
    (void)bson_append_binary(to, key, -1, BSON_SUBTYPE_UUID, id.bytes, sizeof id.bytes);
}

/* The loop. */
pawl__bench_timed_fn pawl__bench_mongo_saga_step;

#endif
