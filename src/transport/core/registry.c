/* registry.c - finds the transport that serves a URL: one that the program added, the built-in one, or one from a
 * module of pawl, loaded when a URL of its scheme is first used. Outbound and inbound transports have a registry each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/inbound.h"
#include "pawl/transport.h"

#include "store/core/module.h"
#include "store/core/url_read.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TRANSPORTS_MAX 16 /* schemes one program speaks; a fixed table needs no clean-up */

typedef struct entry {
    const char *scheme;
    const void *given;
    const void *ops; /* the same, or `whole` */
    union {
        pawl_transport_ops outbound;
        pawl_inbound_ops   inbound;
    } whole; /* of a shorter table: what it lacks is NULL */
} entry;

typedef struct registry {
    const char *noun;
    const char *symbol;       /* of the table in a module */
    size_t      ops_size;     /* of this library's table; a table's first member is its own size */
    size_t      ops_size_min; /* of a table with all needed entries */
    const char *needed;       /* names of the entries that must be there, for the error */
    size_t      size_min;     /* least size that the core allocates for a transport */
    /* Are all needed entries there? Sets the scheme in any case. */
    bool (*look)(const void *table, const char **scheme);
    entry  entries[TRANSPORTS_MAX];
    size_t count;
} registry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards both registries */

static const entry *find(const registry *all, const char *scheme, size_t size)
{
    for (size_t i = 0; i < all->count; i++)
        if (strlen(all->entries[i].scheme) == size &&
            memcmp(all->entries[i].scheme, scheme, size) == 0)
            return &all->entries[i];
    return NULL;
}

static const void *find_ops(const registry *all, const char *scheme, size_t size)
{
    const entry *found = find(all, scheme, size);
    return found != NULL ? found->ops : NULL;
}

/* A table is shorter if it was built for an older pawl of this ABI, or omits the last entries. */

static pawl_code check(const registry *all, const void *ops, const char **scheme, pawl_error *error)
{
    size_t size = ops != NULL ? *(const size_t *)ops : 0;
    if (size < all->ops_size_min || size % sizeof(void *) != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s: its table has %zu bytes, this library needs %zu or more, and "
                              "whole entries",
                              all->noun, size, all->ops_size_min);
    bool has_needed = all->look(ops, scheme);
    if (!pawl__url_is_scheme(*scheme))
        return pawl_error_set(error, PAWL_ECONFIG, "%s: '%s' is not the scheme of a URL", all->noun,
                              *scheme != NULL ? *scheme : "");
    if (!has_needed)
        return pawl_error_set(error, PAWL_ECONFIG, "%s '%s': %s of at least %zu are needed",
                              all->noun, *scheme, all->needed, all->size_min);
    return PAWL_OK;
}

static pawl_code add(registry *all, const char *scheme, const void *ops, pawl_error *error)
{
    const entry *other = find(all, scheme, strlen(scheme));
    if (other != NULL && other->given == ops)
        return PAWL_OK;
    if (other != NULL)
        return pawl_error_set(error, PAWL_EDUPLICATE, "%s '%s': another one has this scheme",
                              all->noun, scheme);
    if (all->count == TRANSPORTS_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "%s '%s': %d are registered, the limit",
                              all->noun, scheme, TRANSPORTS_MAX);
    entry *added = &all->entries[all->count++];
    *added       = (entry){.scheme = scheme, .given = ops, .ops = ops};
    if (*(const size_t *)ops < all->ops_size) {
        memcpy(&added->whole, ops, *(const size_t *)ops);
        added->ops = &added->whole;
    }
    return PAWL_OK;
}

static pawl_code check_and_add(registry *all, const void *ops, pawl_error *error)
{
    const char *scheme;
    pawl_code   code = check(all, ops, &scheme, error);
    if (code != PAWL_OK)
        return code;
    pthread_mutex_lock(&mutex);
    code = add(all, scheme, ops, error);
    pthread_mutex_unlock(&mutex);
    return code;
}

static const struct {
    const char *scheme, *module;
} modules[] = {{"amqp", "rabbitmq"}, {"amqps", "rabbitmq"}};

static pawl_code load(registry *all, const char *scheme, size_t size, const void **ops,
                      pawl_error *error)
{
    const void *table = NULL;
    const char *own; /* the scheme that the table names */
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        if (strlen(modules[i].scheme) != size || memcmp(modules[i].scheme, scheme, size) != 0)
            continue;
        pawl_code code = pawl__module_load(modules[i].module, "a broker", all->symbol,
                                           all->ops_size_min, &table, error);
        if (code == PAWL_OK)
            code = check(all, table, &own, error);
        if (code == PAWL_OK)
            code = add(all, modules[i].scheme, table, error);
        *ops = code == PAWL_OK ? find_ops(all, scheme, size) : NULL;
        return code == PAWL_OK ? code : PAWL_ECONFIG;
    }
    return pawl_error_set(
        error, PAWL_ECONFIG,
        "no broker is known by the scheme '%.*s': expected amqp://, amqps:// or one "
        "that the application has registered",
        size < 40 ? (int)size : 40, scheme);
}

static pawl_code find_or_load(registry *all, const char *scheme, size_t size, const void **ops,
                              pawl_error *error)
{
    pawl_code code = PAWL_OK;
    pthread_mutex_lock(&mutex);
    *ops = find_ops(all, scheme, size);
    if (*ops == NULL)
        code = load(all, scheme, size, ops, error);
    pthread_mutex_unlock(&mutex);
    return code;
}

static pawl_code load_file(registry *all, const char *path, pawl_error *error)
{
    char        here[PAWL__OBJECT_PATH_SIZE];
    void       *module = NULL;
    const void *table  = NULL;
    pawl_code   code   = pawl__object_path(path, all->noun, here, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__module_open(here, all->symbol, all->ops_size_min, &module, &table, error);
    if (code == PAWL_OK) {
        code = check_and_add(all, table, error);
        if (code != PAWL_OK)
            code = pawl_error_wrap(error, code, "%s", here);
    }
    if (code == PAWL_OK)
        return code;
    pawl__module_close(module);
    return pawl_error_wrap(error, code, "load of an %s", all->noun);
}

/* ---- Outbound ----------------------------------------------------------------------- */

static bool look_outbound(const void *table, const char **scheme)
{
    const pawl_transport_ops *ops = table;
    *scheme                       = ops->scheme;
    return ops->open != NULL && ops->close != NULL && ops->deliver != NULL &&
           ops->transport_size >= sizeof(pawl_transport);
}

static registry outbound = {.noun         = "outbound transport",
                            .symbol       = PAWL_TRANSPORT_DRIVER_SYMBOL,
                            .ops_size     = sizeof(pawl_transport_ops),
                            .ops_size_min = sizeof(pawl_transport_ops), /* deliver is the last */
                            .needed       = "open, close, deliver and a transport_size",
                            .size_min     = sizeof(pawl_transport),
                            .look         = look_outbound};

pawl_code pawl_transport_register(const pawl_transport_ops *ops, pawl_error *error)
{
    return check_and_add(&outbound, ops, error);
}

pawl_code pawl_transport_load(const char *path, pawl_error *error)
{
    return load_file(&outbound, path, error);
}

const pawl_transport_ops *pawl_transport_find(const char *url)
{
    const char *colon = strchr(url, ':');
    const void *found = NULL;
    if (colon != NULL)
        (void)find_or_load(&outbound, url, (size_t)(colon - url), &found, NULL);
    /* Its module cannot be loaded: opening a store of this URL then reports what is missing. */
    return found != NULL ? found : &pawl_transport_store;
}

/* ---- Inbound ------------------------------------------------------------------------ */

static bool look_inbound(const void *table, const char **scheme)
{
    const pawl_inbound_ops *ops = table;
    *scheme                     = ops->scheme;
    return ops->open != NULL && ops->close != NULL && ops->take != NULL && ops->settle != NULL &&
           ops->leave != NULL && ops->inbound_size >= sizeof(pawl_inbound);
}

static registry inbound = {.noun         = "inbound transport",
                           .symbol       = PAWL_INBOUND_DRIVER_SYMBOL,
                           .ops_size     = sizeof(pawl_inbound_ops),
                           .ops_size_min = offsetof(pawl_inbound_ops, remove),
                           .needed       = "open, close, take, settle, leave and an inbound_size",
                           .size_min     = sizeof(pawl_inbound),
                           .look         = look_inbound};

pawl_code pawl_inbound_register(const pawl_inbound_ops *ops, pawl_error *error)
{
    return check_and_add(&inbound, ops, error);
}

pawl_code pawl_inbound_load(const char *path, pawl_error *error)
{
    return load_file(&inbound, path, error);
}

pawl_code pawl_inbound_find(const char *url, const pawl_inbound_ops **ops, pawl_error *error)
{
    const char *colon = strchr(url, ':');
    const void *found = NULL;
    *ops              = NULL;
    if (colon == NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "it is not a URL: expected amqp://host/?options#queue");
    pawl_code code = find_or_load(&inbound, url, (size_t)(colon - url), &found, error);
    *ops           = found;
    return code;
}
