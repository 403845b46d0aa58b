/* mongodb_fixture.h - a database of a test's own on MongoDB, its faults, and short forms of what the
 * tests that are special to it all do.
 *
 *     fault_on -> commands of clients of p->url -> fault_off (how many of them were struck)
 *
 * The connection `raw` has another name than those of `url`: a fault does not strike it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_MONGODB_FIXTURE_H
#define PAWL_TESTS_CONTRACT_MONGODB_FIXTURE_H

#include <mongoc/mongoc.h>

/* The database has the name of the application, too. */
#define FIXTURE_OWN                \
    char             url[500];     \
    char             database[60]; \
    mongoc_client_t *raw
#include "contract/fixture.h"

/* Ports behind that of the replica set where the same data is served by another kind of server. */
#define STANDALONE_PORT 2
#define OLD_PORT 3
#define ROUTER_PORT 4

static inline const char *fixture_server(void)
{
    const char *url = getenv("PAWL_TEST_MONGODB");
    return url != NULL && url[0] != '\0' ? url : NULL;
}

/* The server's URL with another database and application; at the port of another kind of server when
 * `behind` is not 0. */
static inline void fixture_url(const char *database, const char *application, int behind, char *url,
                               size_t size)
{
    const char *server  = fixture_server();
    const char *path    = strchr(strstr(server, "://") + 3, '/');
    const char *options = strchr(server, '?');
    size_t      hosts   = path != NULL ? (size_t)(path - server) : strcspn(server, "?");
    const char *port    = strrchr(server, ':');
    if (behind != 0)
        snprintf(url, size, "mongodb://127.0.0.1:%d/%s?appname=%s", atoi(port + 1) + behind,
                 database, application);
    else
        snprintf(url, size, "%.*s/%s?appname=%s%s%s", (int)hosts, server, database, application,
                 options != NULL ? "&" : "", options != NULL ? options + 1 : "");
}

/* The reply of a command, which may have failed; bson_destroy it. */
static inline bool raw_try(mongoc_client_t *client, const char *database, bson_t *command,
                           const bson_t *options, bson_t *reply)
{
    bson_error_t error;
    bool         is_ok =
        mongoc_client_write_command_with_opts(client, database, command, options, reply, &error);
    bson_destroy(command);
    return is_ok;
}

static inline bson_t *json(const char *text)
{
    bson_error_t error;
    bson_t      *made = bson_new_from_json((const uint8_t *)text, -1, &error);
    if (made == NULL)
        fail_msg("%s: %s", text, error.message);
    return made;
}

/* The number at a path of the reply of a command that has to succeed; -1: none is there. */
static inline int64_t raw_number(mongoc_client_t *client, const char *database, bson_t *command,
                                 const char *path)
{
    bson_t      reply;
    bson_iter_t at, found;
    char       *text   = bson_as_relaxed_extended_json(command, NULL);
    bool        is_ok  = raw_try(client, database, command, NULL, &reply);
    int64_t     number = bson_iter_init(&at, &reply) && bson_iter_find_descendant(&at, path, &found)
                             ? bson_iter_as_int64(&found)
                             : -1;
    char       *answer = bson_as_relaxed_extended_json(&reply, NULL);
    bson_destroy(&reply);
    if (!is_ok)
        fail_msg("%s: %s", text, answer);
    bson_free(text);
    bson_free(answer);
    return number;
}

static inline int fixture_setup(void **state)
{
    static unsigned count;
    char            raw_url[500];
    fixture        *p = fixture_begin(state);
    if (fixture_server() == NULL)
        return 0;
    mongoc_init();
    snprintf(p->database, sizeof p->database, "pawl_%ld_%llx_%u", (long)getpid(),
             (unsigned long long)time(NULL), ++count);
    fixture_url(p->database, p->database, 0, p->url, sizeof p->url);
    fixture_url(p->database, "raw", 0, raw_url, sizeof raw_url);
    p->raw = mongoc_client_new(raw_url);
    return p->raw != NULL ? 0 : -1;
}

/* `fault`: members of configureFailPoint's `data` beside the name, and before them its mode. */
static inline void fault_on(const fixture *p, const char *mode, const char *data)
{
    char text[1000];
    snprintf(
        text, sizeof text,
        "{\"configureFailPoint\": \"failCommand\", \"mode\": %s, \"data\": {\"appName\": \"%s\", %s}}",
        mode, p->database, data);
    (void)raw_number(p->raw, "admin", json(text), "count");
}

/* How many commands were struck since the last fault_on. */
static inline int64_t fault_off(const fixture *p)
{
    char text[200];
    snprintf(
        text, sizeof text,
        "{\"configureFailPoint\": \"failCommand\", \"mode\": \"off\", \"data\": {\"appName\": \"%s\"}}",
        p->database);
    return raw_number(p->raw, "admin", json(text), "count");
}

static inline int fixture_teardown(void **state)
{
    fixture *p = *state;
    if (p->raw != NULL) {
        bson_t reply;
        (void)fault_off(p);
        (void)raw_try(p->raw, p->database, json("{\"dropDatabase\": 1}"), NULL, &reply);
        bson_destroy(&reply);
        mongoc_client_destroy(p->raw);
    }
    fixture_end(p);
    return 0;
}

/* A handle with the order table. */
static inline pawl_store *open_store(fixture *p, const char *url)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_CREATE;
    options.tables             = order_tables;
    options.table_count        = 1;
    ok(p, fixture_open(p, url, &options, &store));
    return store;
}

/* With a worker, too. */
static inline pawl_store *open_worker(fixture *p, const char *url)
{
    pawl_store *store = open_store(p, url);
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

/* Without a server the program is left out. */
static inline int fixture_is_missing(void)
{
    if (fixture_server() != NULL)
        return 0;
    if (!server_may_be_missing("mongodb"))
        return 1;
    puts("skipped: PAWL_TEST_MONGODB names no server");
    return SKIPPED;
}
__attribute__((weak)) int (*const tests_missing)(void) = fixture_is_missing;

#endif
