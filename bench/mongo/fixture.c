/* fixture.c - databases of the server that the URL names: pawl_bench_0 is filled
 * once, pawl_bench_1 is the copy that a round works off, pawl_bench_2 is the second
 * store.
 *
 * The collections of all three are made by pawl. A copy drops those of the round and of the second
 * store, which gives them new files, has pawl make them again, and inserts the filled documents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit_mongo.h"

#include <stdio.h>
#include <string.h>

#define DATABASE "pawl_bench_"
#define COPY_COUNT 1000 /* documents of one insert */

/* ---- URLs ----------------------------------------------------------------- */

/* The database's name stands between the hosts and the parameters. */
static pawl_code name_url(const char *url, int number, char named[PAWL_URL_SIZE_MAX + 1],
                          pawl_error *error)
{
    const char *slashes = strstr(url, "://");
    const char *hosts   = slashes != NULL ? slashes + 3 : url + strcspn(url, ":");
    const char *path    = hosts + strcspn(hosts, "/?");
    const char *rest    = path + strcspn(path, "?");
    int size = snprintf(named, PAWL_URL_SIZE_MAX + 1, "%.*s/" DATABASE "%d%s", (int)(path - url),
                        url, number, rest);
    if (size < 0 || size > PAWL_URL_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "URL of the store: with '" DATABASE "%d' it has %d bytes, limit %d",
                              number, size, PAWL_URL_SIZE_MAX);
    return PAWL_OK;
}

/* Of a URL that name_url made. */
static void name_database(const char *url, char name[sizeof DATABASE + 1])
{
    const char *found = strstr(url, "/" DATABASE);
    (void)snprintf(name, sizeof DATABASE + 1, "%s", found != NULL ? found + 1 : DATABASE "0");
}

/* ---- Databases ------------------------------------------------------------ */

static pawl_code drop_database(const char *url, pawl_error *error)
{
    mg_loop l;
    char    name[sizeof DATABASE + 1];
    name_database(url, name);
    pawl__mg_connect(&l, url, error);
    if (l.code == PAWL_OK) {
        mongoc_database_t *database = mongoc_client_get_database(l.client, name);
        if (!mongoc_database_drop(database, &l.why))
            pawl__mg_failed(&l, "drop");
        mongoc_database_destroy(database);
    }
    pawl__mg_disconnect(&l);
    return l.code;
}

/* A database is there while it has a collection. */
static void check_absent(mg_loop *l, int number)
{
    char name[sizeof DATABASE + 11]; /* an int */
    if (l->code != PAWL_OK)
        return;
    (void)snprintf(name, sizeof name, DATABASE "%d", number);
    mongoc_database_t *database = mongoc_client_get_database(l->client, name);
    char **names = mongoc_database_get_collection_names_with_opts(database, NULL, &l->why);
    if (names == NULL)
        pawl__mg_failed(l, "list collections");
    else if (names[0] != NULL)
        l->code = pawl_error_set(l->error, PAWL_ECONFIG,
                                 "mongodb: the database %s exists: the benchmark makes that "
                                 "database and drops it; when no other benchmark runs on this "
                                 "server, drop it",
                                 name);
    bson_strfreev(names);
    mongoc_database_destroy(database);
}

static pawl_code check_databases(const char *url, pawl_error *error)
{
    mg_loop l;
    pawl__mg_connect(&l, url, error);
    for (int i = 0; i < 3; i++)
        check_absent(&l, i);
    pawl__mg_disconnect(&l);
    return l.code;
}

static pawl_code take_databases(const char *url, pawl__bench_fixture *fixture, pawl_error *error)
{
    const char *urls[] = {fixture->filled, fixture->round, fixture->target};
    pawl_code   code   = name_url(url, 0, fixture->filled, error);
    if (code == PAWL_OK)
        code = name_url(url, 1, fixture->round, error);
    if (code == PAWL_OK)
        code = name_url(url, 2, fixture->target, error);
    if (code == PAWL_OK)
        code = check_databases(fixture->filled, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < 3; i++)
        code = pawl__bench_make_tables(urls[i], error);
    for (size_t i = 0; code != PAWL_OK && i < 3; i++)
        (void)drop_database(urls[i], NULL);
    return code;
}

/* ---- Copies --------------------------------------------------------------- */

/* The new collection loses the documents that pawl made in it: the filled one has them, too. */
static void empty(mg_loop *l, mongoc_collection_t *to)
{
    bson_t all = BSON_INITIALIZER;
    if (!mongoc_collection_delete_many(to, &all, NULL, NULL, &l->why))
        pawl__mg_failed(l, "empty");
    bson_destroy(&all);
}

static void copy_documents(mg_loop *l, mongoc_collection_t *from, mongoc_collection_t *to)
{
    bson_t           all      = BSON_INITIALIZER;
    const bson_t    *document = NULL;
    mongoc_cursor_t *cursor   = mongoc_collection_find_with_opts(from, &all, NULL, NULL);
    bool             is_more  = mongoc_cursor_next(cursor, &document);
    while (l->code == PAWL_OK && is_more) {
        mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(to, NULL);
        for (int i = 0; is_more && i < COPY_COUNT; i++) {
            mongoc_bulk_operation_insert(bulk, document);
            is_more = mongoc_cursor_next(cursor, &document);
        }
        if (mongoc_bulk_operation_execute(bulk, NULL, &l->why) == 0)
            pawl__mg_failed(l, "copy");
        mongoc_bulk_operation_destroy(bulk);
    }
    if (l->code == PAWL_OK && mongoc_cursor_error(cursor, &l->why))
        pawl__mg_failed(l, "copy");
    mongoc_cursor_destroy(cursor);
    bson_destroy(&all);
}

static void copy_all(mg_loop *l)
{
    mongoc_database_t *filled = mongoc_client_get_database(l->client, DATABASE "0");
    char **names = mongoc_database_get_collection_names_with_opts(filled, NULL, &l->why);
    if (names == NULL)
        pawl__mg_failed(l, "list collections");
    for (size_t i = 0; l->code == PAWL_OK && names[i] != NULL; i++) {
        mongoc_collection_t *from = mongoc_client_get_collection(l->client, DATABASE "0", names[i]);
        mongoc_collection_t *to   = mongoc_client_get_collection(l->client, DATABASE "1", names[i]);
        empty(l, to);
        copy_documents(l, from, to);
        mongoc_collection_destroy(to);
        mongoc_collection_destroy(from);
    }
    bson_strfreev(names);
    mongoc_database_destroy(filled);
}

static pawl_code copy_database(const pawl__bench_fixture *fixture, pawl_error *error)
{
    const char *urls[] = {fixture->round, fixture->target};
    pawl_code   code   = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < 2; i++) {
        code = drop_database(urls[i], error);
        if (code == PAWL_OK)
            code = pawl__bench_make_tables(urls[i], error);
    }
    if (code != PAWL_OK)
        return code;
    mg_loop l;
    pawl__mg_connect(&l, fixture->round, error);
    if (l.code == PAWL_OK)
        copy_all(&l);
    pawl__mg_disconnect(&l);
    return l.code;
}

static const pawl__bench_limit limits[] = {
    {"no-op", pawl__bench_mongo_saga_step},
    {"saga-step", pawl__bench_mongo_saga_step},
    {NULL, NULL},
};

const pawl__bench_kind pawl_bench_kind = {.kind_size = sizeof(pawl__bench_kind),
                                          .take      = take_databases,
                                          .copy      = copy_database,
                                          .drop      = drop_database,
                                          .limits    = limits,
                                          .no_limit =
                                              "on MongoDB only saga-step and no-op have a loop"};
