/* server.c - stores that a test program creates on servers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/server.h"

#include "support/world.h"

#include <time.h>
#include <unistd.h>

#define STORES_MAX 100

typedef struct server {
    const char       *scheme;
    const char       *variable;
    const server_ops *ops;
} server;

typedef struct server_store {
    const server *server;
    char          name[60];
    char          fixture[70];
    char          url[1000];
    char          description[40];
    bool          is_taken;
} server_store;

#define DECLARE(argument, scheme, variable) extern const server_ops server_##scheme##_ops;
SERVERS(DECLARE, )

#define ROW(argument, scheme, variable) {#scheme, variable, &server_##scheme##_ops},
static const server servers[] = {SERVERS(ROW, )};

static server_store stores[STORES_MAX];
static size_t       store_count;

/* ---- Which server ----------------------------------------------------------- */

static const server *server_of(const char *url)
{
    size_t size = strcspn(url, ":");
    for (size_t i = 0; i < COUNT(servers); i++)
        if (strlen(servers[i].scheme) == size && strncmp(servers[i].scheme, url, size) == 0)
            return &servers[i];
    return NULL;
}

static const char *address_of(const server *it)
{
    const char *url = getenv(it->variable);
    return url != NULL && url[0] != '\0' ? url : NULL;
}

bool server_is(const char *url)
{
    return server_of(url) != NULL;
}

bool server_is_there(const char *scheme)
{
    const server *it = server_of(scheme);
    return it != NULL && address_of(it) != NULL;
}

/* ---- Stores ----------------------------------------------------------------- */

static void drop_store(server_store *it)
{
    if (it->name[0] != '\0')
        (void)it->server->ops->drop(address_of(it->server), it->name);
    *it = (server_store){.server = NULL};
}

static pid_t owner; /* forked children must not drop the stores */

/* Drops all stores, also those of failed tests. */
static void drop_all(void)
{
    for (size_t i = 0; owner == getpid() && i < store_count; i++)
        drop_store(&stores[i]);
}

static void drop_all_at_the_end(void)
{
    if (owner != 0)
        return;
    owner = getpid();
    atexit(drop_all);
}

/* Creates a store. A killed program leaves its stores behind, and process ids are reused, so the name contains the
 * time. */
static void make(const server *from, server_store *it)
{
    static unsigned  count;
    pawl_schema_spec spec = {.table_count = 0};
    it->server            = from;
    snprintf(it->name, sizeof it->name, "pawl_world_%ld_%llx_%u", (long)getpid(),
             (unsigned long long)time(NULL), ++count);
    snprintf(it->fixture, sizeof it->fixture, "%s.", it->name);
    from->ops->url(address_of(from), it->name, it->url, sizeof it->url);
    must(pawl_store_schema(it->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, world_error()));
    from->ops->describe(address_of(from), it->name, it->description, sizeof it->description);
}

/* Finds a free store, or space for a new one. */
static server_store *find_free(const server *from)
{
    for (size_t i = 0; i < store_count; i++)
        if (stores[i].server == from && !stores[i].is_taken)
            return &stores[i];
    for (size_t i = 0; i < store_count; i++)
        if (stores[i].server == NULL)
            return &stores[i];
    assert_true(store_count < STORES_MAX);
    return &stores[store_count++];
}

void server_url(const char *scheme, char *url, size_t size)
{
    const server *from = server_of(scheme);
    drop_all_at_the_end();
    server_store *it = find_free(from);
    if (it->server == NULL)
        make(from, it);
    it->is_taken = true;
    snprintf(url, size, "%s", it->url);
}

static server_store *find_taken(const char *url)
{
    for (size_t i = 0; i < store_count; i++)
        if (stores[i].is_taken && strcmp(stores[i].url, url) == 0)
            return &stores[i];
    fail_msg("%s was not handed out", url);
    return NULL;
}

void server_forget(const char *url)
{
    server_store     *it  = find_taken(url);
    const server_ops *ops = it->server->ops;
    const char       *at  = address_of(it->server);
    char              found[sizeof it->description];
    ops->empty(at, it->name);
    ops->describe(at, it->name, found, sizeof found);
    if (strcmp(found, it->description) != 0)
        drop_store(it);
    it->is_taken = false;
}

/* ---- Without pawl ----------------------------------------------------------- */

const char *server_fixture(const char *url)
{
    return find_taken(url)->fixture;
}

void *server_connect(const char *url)
{
    const server *it = server_of(url);
    return it->ops->connect(address_of(it), find_taken(url)->name);
}

void server_disconnect(const char *url, void *native)
{
    server_of(url)->ops->disconnect(native);
}

bool server_try(const char *url, void *native, const char *sql, char *text, size_t size)
{
    return server_of(url)->ops->try(native, sql, text, size);
}

bool server_leave(const char *url, void *native, const char *sql)
{
    return server_of(url)->ops->leave(native, sql);
}
