/* limit.c - clients, transactions and bulks of the hand-written loop on MongoDB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit_mongo.h"

#define SOCKET_TIMEOUT_MS 60000

/* ---- Clients -------------------------------------------------------------- */

void pawl__mg_failed(mg_loop *l, const char *what)
{
    pawl_code code =
        l->why.domain == MONGOC_ERROR_SERVER_SELECTION ? PAWL_EUNREACHABLE : PAWL_EPERSIST;
    if (l->code == PAWL_OK)
        l->code = pawl_error_set(l->error, code, "mongodb: %s: %s", what, l->why.message);
}

static void set_concerns(mongoc_client_t *client)
{
    mongoc_read_concern_t  *read  = mongoc_read_concern_new();
    mongoc_write_concern_t *write = mongoc_write_concern_new();
    (void)mongoc_read_concern_set_level(read, MONGOC_READ_CONCERN_LEVEL_MAJORITY);
    mongoc_write_concern_set_wmajority(write, SOCKET_TIMEOUT_MS);
    mongoc_client_set_read_concern(client, read);
    mongoc_client_set_write_concern(client, write);
    mongoc_read_concern_destroy(read);
    mongoc_write_concern_destroy(write);
}

void pawl__mg_connect(mg_loop *l, const char *url, pawl_error *error)
{
    *l                = (mg_loop){.error = error};
    mongoc_uri_t *uri = mongoc_uri_new_with_error(url, &l->why);
    if (uri != NULL)
        l->client = mongoc_client_new_from_uri(uri);
    if (uri == NULL || l->client == NULL) {
        pawl__mg_failed(l, "URL");
    } else {
        (void)mongoc_client_set_error_api(l->client, MONGOC_ERROR_API_VERSION_2);
        set_concerns(l->client);
    }
    mongoc_uri_destroy(uri);
}

void pawl__mg_disconnect(mg_loop *l)
{
    mongoc_transaction_opts_destroy(l->options);
    if (l->session != NULL)
        mongoc_client_session_destroy(l->session);
    mongoc_client_destroy(l->client);
    l->options = NULL;
    l->session = NULL;
    l->client  = NULL;
}

static void make_options(mg_loop *l)
{
    mongoc_read_concern_t  *read  = mongoc_read_concern_new();
    mongoc_write_concern_t *write = mongoc_write_concern_new();
    (void)mongoc_read_concern_set_level(read, MONGOC_READ_CONCERN_LEVEL_SNAPSHOT);
    mongoc_write_concern_set_wmajority(write, SOCKET_TIMEOUT_MS);
    l->options = mongoc_transaction_opts_new();
    mongoc_transaction_opts_set_read_concern(l->options, read);
    mongoc_transaction_opts_set_write_concern(l->options, write);
    mongoc_read_concern_destroy(read);
    mongoc_write_concern_destroy(write);
}

void pawl__mg_open(mg_loop *l, pawl_store *store, const char *url, pawl_error *error)
{
    pawl__mg_connect(l, url, error);
    if (l->code == PAWL_OK)
        l->code = pawl_store_worker_open(store, PAWL_TEXT(PAWL__BENCH_QUEUE), PAWL_TEXT("[]"),
                                         pawl_clock_now(NULL), error);
    if (l->code != PAWL_OK)
        return;
    l->worker = pawl_store_worker(store).uuid;
    make_options(l);
    l->session = mongoc_client_start_session(l->client, NULL, &l->why);
    if (l->session == NULL)
        pawl__mg_failed(l, "session");
}

mongoc_collection_t *pawl__mg_collection(mg_loop *l, const char *url, const char *name)
{
    mongoc_uri_t        *uri      = mongoc_uri_new(url);
    const char          *database = mongoc_uri_get_database(uri);
    mongoc_collection_t *made     = mongoc_client_get_collection(l->client, database, name);
    mongoc_uri_destroy(uri);
    return made;
}

/* ---- Commits -------------------------------------------------------------- */

static pawl_uuid commit_id(const mg_loop *l)
{
    pawl_uuid id = l->worker;
    for (size_t i = 0; i < sizeof l->commits; i++)
        id.bytes[i] = (uint8_t)(l->commits >> 8 * i);
    return id;
}

static void put_fence(mg_loop *l, bson_t *update, pawl_time now, int64_t messages)
{
    bson_t set, add, date, unset;
    (void)bson_append_document_begin(update, "$set", -1, &set);
    mg_uuid(&set, "last_commit", commit_id(l));
    mg_int(&set, "part", 1);
    mg_int(&set, "seen", now);
    (void)bson_append_document_end(update, &set);
    (void)bson_append_document_begin(update, "$inc", -1, &add);
    mg_int(&add, "messages", messages);
    (void)bson_append_document_end(update, &add);
    (void)bson_append_document_begin(update, "$currentDate", -1, &date);
    (void)bson_append_bool(&date, "beat", -1, true);
    (void)bson_append_document_end(update, &date);
    (void)bson_append_document_begin(update, "$unset", -1, &unset);
    mg_int(&unset, "is_freed", 1);
    (void)bson_append_document_end(update, &unset);
}

void pawl__mg_begin(mg_loop *l, mongoc_collection_t *workers, pawl_time now, int64_t messages)
{
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER;
    if (l->code == PAWL_OK &&
        !mongoc_client_session_start_transaction(l->session, l->options, &l->why))
        pawl__mg_failed(l, "begin");
    l->commits++;
    mg_uuid(&filter, "_id", l->worker);
    mg_int(&filter, "epoch", 1);
    put_fence(l, &update, now, messages);
    mg_bulk fence = pawl__mg_bulk(l, workers, "fence", true);
    pawl__mg_update(&fence, &filter, &update);
    pawl__mg_run(&fence);
    bson_destroy(&update);
    bson_destroy(&filter);
}

void pawl__mg_commit(mg_loop *l)
{
    if (l->code == PAWL_OK && !mongoc_client_session_commit_transaction(l->session, NULL, &l->why))
        pawl__mg_failed(l, "commit");
}

/* ---- Bulks ---------------------------------------------------------------- */

mg_bulk pawl__mg_bulk(mg_loop *l, mongoc_collection_t *to, const char *what, bool is_in_transaction)
{
    mg_bulk b       = {.loop = l, .what = what};
    bson_t  options = BSON_INITIALIZER;
    if (l->code == PAWL_OK && is_in_transaction &&
        !mongoc_client_session_append(l->session, &options, &l->why))
        pawl__mg_failed(l, what);
    b.bulk = mongoc_collection_create_bulk_operation_with_opts(to, &options);
    bson_destroy(&options);
    return b;
}

void pawl__mg_insert(mg_bulk *b, const bson_t *document)
{
    b->count++;
    if (!mongoc_bulk_operation_insert_with_opts(b->bulk, document, NULL, &b->loop->why))
        pawl__mg_failed(b->loop, b->what);
}

void pawl__mg_update(mg_bulk *b, const bson_t *filter, const bson_t *update)
{
    b->count++;
    if (!mongoc_bulk_operation_update_one_with_opts(b->bulk, filter, update, NULL, &b->loop->why))
        pawl__mg_failed(b->loop, b->what);
}

void pawl__mg_update_many(mg_bulk *b, const bson_t *filter, const bson_t *update, int64_t count)
{
    b->count += count;
    if (!mongoc_bulk_operation_update_many_with_opts(b->bulk, filter, update, NULL, &b->loop->why))
        pawl__mg_failed(b->loop, b->what);
}

void pawl__mg_remove_many(mg_bulk *b, const bson_t *filter, int64_t count)
{
    b->count += count;
    if (!mongoc_bulk_operation_remove_many_with_opts(b->bulk, filter, NULL, &b->loop->why))
        pawl__mg_failed(b->loop, b->what);
}

static int64_t count_done(const bson_t *reply)
{
    static const char *const counts[] = {"nInserted", "nMatched", "nRemoved"};
    int64_t                  done     = 0;
    bson_iter_t              at;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (bson_iter_init_find(&at, reply, counts[i]))
            done += bson_iter_as_int64(&at);
    return done;
}

void pawl__mg_run(mg_bulk *b)
{
    mg_loop *l     = b->loop;
    bson_t   reply = BSON_INITIALIZER;
    if (l->code == PAWL_OK && b->count != 0) {
        bson_destroy(&reply);
        if (mongoc_bulk_operation_execute(b->bulk, &reply, &l->why) == 0)
            pawl__mg_failed(l, b->what);
        else if (count_done(&reply) != b->count)
            l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop: %s: %lld, should be %lld",
                                     b->what, (long long)count_done(&reply), (long long)b->count);
    }
    bson_destroy(&reply);
    mongoc_bulk_operation_destroy(b->bulk);
    b->bulk = NULL;
}
