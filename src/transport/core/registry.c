/* registry.c - the sinks that were added to the one that is built in, and modules of pawl's own, which
 * are loaded when a URL of their schemes is first asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/transport.h"

#include "store/core/module.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define TRANSPORTS_MAX 16 /* schemes one program speaks; a fixed table needs no clean-up */
#define PATH_SIZE_MAX 4096

typedef struct entry {
    const char               *scheme;
    const pawl_transport_ops *ops;
} entry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static entry           registered[TRANSPORTS_MAX];
static size_t          registered_count;

static const pawl_transport_ops *find(const char *scheme, size_t size)
{
    for (size_t i = 0; i < registered_count; i++)
        if (strlen(registered[i].scheme) == size && memcmp(registered[i].scheme, scheme, size) == 0)
            return registered[i].ops;
    return NULL;
}

static pawl_code check(const pawl_transport_ops *ops, pawl_error *error)
{
    if (ops == NULL || ops->ops_size < sizeof *ops)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "outbound transport: its table has %zu bytes, this library needs %zu",
                              ops != NULL ? ops->ops_size : 0, sizeof *ops);
    if (ops->scheme == NULL || ops->scheme[0] == '\0' || strchr(ops->scheme, ':') != NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "outbound transport: it names no scheme of URLs");
    if (ops->open == NULL || ops->close == NULL || ops->deliver == NULL ||
        ops->transport_size < sizeof(pawl_transport))
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "outbound transport '%s': open, close, deliver and a transport_size of at least "
            "%zu are needed",
            ops->scheme, sizeof(pawl_transport));
    return PAWL_OK;
}

static pawl_code add(const char *scheme, const pawl_transport_ops *ops, pawl_error *error)
{
    const pawl_transport_ops *other = find(scheme, strlen(scheme));
    if (other == ops)
        return PAWL_OK;
    if (other != NULL)
        return pawl_error_set(error, PAWL_EDUPLICATE,
                              "outbound transport '%s': another one has this scheme", scheme);
    if (registered_count == TRANSPORTS_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "outbound transport '%s': %d are registered, the limit", scheme,
                              TRANSPORTS_MAX);
    registered[registered_count++] = (entry){scheme, ops};
    return PAWL_OK;
}

pawl_code pawl_transport_register(const pawl_transport_ops *ops, pawl_error *error)
{
    pawl_code code = check(ops, error);
    if (code != PAWL_OK)
        return code;
    pthread_mutex_lock(&mutex);
    code = add(ops->scheme, ops, error);
    pthread_mutex_unlock(&mutex);
    return code;
}

pawl_code pawl_transport_load(const char *path, pawl_error *error)
{
    char here[PATH_SIZE_MAX];
    if (path == NULL || *path == '\0')
        return pawl_error_set(error, PAWL_EINVAL,
                              "the path of the outbound transport to load is empty");
    /* Without a slash the system would look in its own folders. */
    int size = snprintf(here, sizeof here, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    if (size >= (int)sizeof here)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "path of an outbound transport: it has %zu bytes, the limit is %d",
                              strlen(path), PATH_SIZE_MAX - 1);
    void       *module = NULL;
    const void *table  = NULL;
    pawl_code   code   = pawl__module_open(here, PAWL_TRANSPORT_DRIVER_SYMBOL,
                                           sizeof(pawl_transport_ops), &module, &table, error);
    if (code == PAWL_OK) {
        code = pawl_transport_register(table, error);
        if (code != PAWL_OK)
            code = pawl_error_wrap(error, code, "%s", here);
    }
    if (code == PAWL_OK)
        return code;
    pawl__module_close(module);
    return pawl_error_wrap(error, code, "load of an outbound transport");
}

/* ---- Modules of pawl's own ------------------------------------------------------------ */

static const struct {
    const char *scheme, *module;
} modules[] = {{"amqp", "rabbitmq"}, {"amqps", "rabbitmq"}};

/* NULL where none is for the scheme, or it cannot be loaded: whoever then asks for a store of this URL
 * is told what is missing. */
static const pawl_transport_ops *load(const char *scheme, size_t size)
{
    const void *table = NULL;
    pawl_error  error = PAWL_ERROR_INIT;
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        if (strlen(modules[i].scheme) != size || memcmp(modules[i].scheme, scheme, size) != 0)
            continue;
        pawl_code code =
            pawl__module_load(modules[i].module, "a broker", PAWL_TRANSPORT_DRIVER_SYMBOL,
                              sizeof(pawl_transport_ops), &table, &error);
        if (code == PAWL_OK)
            code = check(table, &error);
        if (code == PAWL_OK)
            code = add(modules[i].scheme, table, &error);
        return code == PAWL_OK ? table : NULL;
    }
    return NULL;
}

const pawl_transport_ops *pawl_transport_find(const char *url)
{
    const char *colon = strchr(url, ':');
    if (colon == NULL)
        return &pawl_transport_store;
    pthread_mutex_lock(&mutex);
    const pawl_transport_ops *found = find(url, (size_t)(colon - url));
    if (found == NULL)
        found = load(url, (size_t)(colon - url));
    pthread_mutex_unlock(&mutex);
    return found != NULL ? found : &pawl_transport_store;
}
