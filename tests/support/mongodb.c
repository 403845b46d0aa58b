/* mongodb.c - access to collections on MongoDB without pawl.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/mongodb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mongodb_url(const char *server, const char *database, char *url, size_t size)
{
    const char *path    = strchr(strstr(server, "://") + 3, '/');
    const char *options = strchr(server, '?');
    size_t      hosts   = path != NULL ? (size_t)(path - server) : strcspn(server, "?");
    snprintf(url, size, "%.*s/%s%s", (int)hosts, server, database, options != NULL ? options : "");
}

#ifdef PAWL_HAVE_MONGOC

#include <mongoc/mongoc.h>

#define SCHEMA "schema" /* name, without prefix, of the collection with the marks */

/* The client of a server is made at first use. */
static mongoc_database_t *open_database(const char *url)
{
    static mongoc_client_t *made;
    static char             server[500];
    char                    plain[500];
    mongodb_url(url, "", plain, sizeof plain);
    if (made == NULL || strcmp(server, plain) != 0) {
        mongoc_init();
        mongoc_client_destroy(made);
        made = mongoc_client_new(plain);
        snprintf(server, sizeof server, "%s", plain);
    }
    const char *name = strchr(strstr(url, "://") + 3, '/') + 1;
    char        database[100];
    snprintf(database, sizeof database, "%.*s", (int)strcspn(name, "?"), name);
    return made != NULL ? mongoc_client_get_database(made, database) : NULL;
}

static bool tell(bool is_ok, const bson_error_t *why, const char *name)
{
    if (!is_ok)
        fprintf(stderr, "%s: %s\n", name, why->message);
    return is_ok;
}

/* Skips empty collections, which most are. */
static bool remove_all(mongoc_collection_t *collection, const char *name)
{
    bson_t  all   = BSON_INITIALIZER;
    bson_t *first = BCON_NEW("limit", BCON_INT64(1), "projection", "{", "_id", BCON_INT32(1), "}");
    const bson_t    *document = NULL;
    bson_error_t     why;
    mongoc_cursor_t *cursor   = mongoc_collection_find_with_opts(collection, &all, first, NULL);
    bool             is_there = mongoc_cursor_next(cursor, &document);
    bool             is_ok    = !mongoc_cursor_error(cursor, &why);
    if (is_ok && is_there)
        is_ok = mongoc_collection_delete_many(collection, &all, NULL, NULL, &why);
    mongoc_cursor_destroy(cursor);
    bson_destroy(first);
    bson_destroy(&all);
    return tell(is_ok, &why, name);
}

/* Keeps marks of collections, except those of sagas with `is_alone`. */
static bool begin_anew(mongoc_collection_t *collection, const char *name, bool is_alone)
{
    bson_error_t why;
    bson_t      *sagas   = BCON_NEW("_id", "{", "$regex", "^saga:", "}");
    bson_t      *numbers = BCON_NEW("_id", "numbers");
    bson_t      *one     = BCON_NEW("$set", "{", "last", BCON_INT64(0), "}");
    bool         is_ok = mongoc_collection_update_one(collection, numbers, one, NULL, NULL, &why) &&
                 (!is_alone || mongoc_collection_delete_many(collection, sagas, NULL, NULL, &why));
    bson_destroy(sagas);
    bson_destroy(numbers);
    bson_destroy(one);
    return tell(is_ok, &why, name);
}

static bool empty_one(mongoc_database_t *database, const char *name, const char *prefix,
                      bool is_alone)
{
    bson_error_t         why;
    bool                 is_ok      = true;
    bool                 is_of      = strncmp(name, prefix, strlen(prefix)) == 0;
    mongoc_collection_t *collection = mongoc_database_get_collection(database, name);
    if (is_of && strcmp(name + strlen(prefix), SCHEMA) == 0)
        is_ok = begin_anew(collection, name, is_alone);
    else if (is_of)
        is_ok = remove_all(collection, name);
    else if (is_alone)
        is_ok = tell(mongoc_collection_drop(collection, &why), &why, name);
    mongoc_collection_destroy(collection);
    return is_ok;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Sorted; freed by bson_strfreev. */
static char **names_of(mongoc_database_t *database)
{
    bson_error_t why;
    size_t       count = 0;
    char       **names = mongoc_database_get_collection_names_with_opts(database, NULL, &why);
    if (!tell(names != NULL, &why, mongoc_database_get_name(database)))
        return NULL;
    while (names[count] != NULL)
        count++;
    qsort(names, count, sizeof *names, by_name);
    return names;
}

bool mongodb_empty(const char *url, const char *prefix, bool is_alone)
{
    mongoc_database_t *database = open_database(url);
    char             **names    = database != NULL ? names_of(database) : NULL;
    bool               is_ok    = names != NULL;
    for (size_t i = 0; is_ok && names[i] != NULL; i++)
        is_ok = empty_one(database, names[i], prefix, is_alone);
    bson_strfreev(names);
    mongoc_database_destroy(database);
    return is_ok;
}

bool mongodb_set(const char *url, const char *collection, const char *key, const char *id,
                 const char *field, const char *value)
{
    bson_error_t         why;
    mongoc_database_t   *database = open_database(url);
    mongoc_collection_t *of       = mongoc_database_get_collection(database, collection);
    bson_t              *filter   = BCON_NEW(key, BCON_UTF8(id));
    bson_t              *change   = BCON_NEW("$set", "{", field, BCON_UTF8(value), "}");
    bool is_ok = mongoc_collection_update_many(of, filter, change, NULL, NULL, &why);
    bson_destroy(filter);
    bson_destroy(change);
    mongoc_collection_destroy(of);
    mongoc_database_destroy(database);
    return tell(is_ok, &why, collection);
}

bool mongodb_describe(const char *url, const char *prefix, char *text, size_t size)
{
    mongoc_database_t *database = open_database(url);
    char             **names    = database != NULL ? names_of(database) : NULL;
    unsigned           hash     = 5381;
    for (size_t i = 0; names != NULL && names[i] != NULL; i++)
        for (const char *at = names[i];
             strncmp(names[i], prefix, strlen(prefix)) == 0 && *at != '\0'; at++)
            hash = hash * 33 + (unsigned char)*at;
    snprintf(text, size, "%08x", hash);
    bool is_ok = names != NULL;
    bson_strfreev(names);
    mongoc_database_destroy(database);
    return is_ok;
}

bool mongodb_drop(const char *url)
{
    bson_error_t       why;
    mongoc_database_t *database = open_database(url);
    bool is_ok = database != NULL && tell(mongoc_database_drop(database, &why), &why, url);
    mongoc_database_destroy(database);
    return is_ok;
}

#else

static bool refuse(const char *url)
{
    fprintf(stderr, "%s: built without libmongoc\n", url);
    return false;
}

bool mongodb_empty(const char *url, const char *prefix, bool is_alone)
{
    return refuse(url);
}

bool mongodb_describe(const char *url, const char *prefix, char *text, size_t size)
{
    return refuse(url);
}

bool mongodb_drop(const char *url)
{
    return refuse(url);
}

bool mongodb_set(const char *url, const char *collection, const char *key, const char *id,
                 const char *field, const char *value)
{
    return refuse(url);
}

#endif
