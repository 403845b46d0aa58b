/* registry.c - finds a driver by scheme: the built-in one, registered ones, and
 * modules, which are loaded when their scheme is used for the first time.
 *
 * A module stays loaded until the process ends: its functions may be on any
 * thread's stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/core.h"
#include "store/core/module.h"
#include "store/core/url_read.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifndef PAWL_DRIVER_DIR
#define PAWL_DRIVER_DIR "/usr/local/lib/pawl"
#endif

/* Not in module.c, since the command and modules have copies of that file: only the library knows its folder. */
const char *pawl_module_folder(void)
{
    return PAWL_DRIVER_DIR;
}

#define DRIVERS_MAX 32 /* more than there are databases in one program */

/* Required entries are the first ones: every table has at least this size. */
#define TABLE_SIZE_MIN offsetof(pawl_store_ops, queue_claim)

typedef struct driver {
    const pawl_store_ops *given;
    const pawl_store_ops *ops;   /* the same, or `whole` */
    pawl_store_ops        whole; /* of a shorter table: what it lacks is NULL */
} driver;

static pthread_mutex_t mutex       = PTHREAD_MUTEX_INITIALIZER;
static driver drivers[DRIVERS_MAX] = {{.given = &pawl__memory_driver, .ops = &pawl__memory_driver}};
static size_t driver_count         = 1;

static const pawl_store_ops *find_loaded(const char *scheme, size_t size)
{
    for (size_t i = 0; i < driver_count; i++)
        if (strlen(drivers[i].ops->scheme) == size &&
            memcmp(drivers[i].ops->scheme, scheme, size) == 0)
            return drivers[i].ops;
    return NULL;
}

/* A driver's table is shorter if it was built for an older pawl of this ABI, or omits the last entries. A
 * table that lacks a required entry is refused. */
static pawl_code check_ops(const pawl_store_ops *ops, pawl_error *error)
{
    if (ops->ops_size < TABLE_SIZE_MIN)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "the driver was built for another pawl: its table has %zu bytes, "
                              "at least %zu are needed",
                              ops->ops_size, TABLE_SIZE_MIN);
    if (ops->ops_size % sizeof(void *) != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "the driver's table has %zu bytes, which end within an entry",
                              ops->ops_size);
    if (ops->abi != PAWL_ABI)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "the driver was built for ABI %u of pawl, this library has ABI %u",
                              ops->abi, PAWL_ABI);
    if (!pawl__url_is_scheme(ops->scheme))
        return pawl_error_set(error, PAWL_ECONFIG, "'%s' is not the scheme of a URL",
                              ops->scheme != NULL ? ops->scheme : "");
    if (ops->store_size < sizeof(pawl_store))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "driver '%s': its store has %zu bytes, at least %zu are needed",
                              ops->scheme, ops->store_size, sizeof(pawl_store));
    if (ops->open == NULL || ops->close == NULL || ops->schema == NULL ||
        ops->worker_open == NULL || ops->worker_close == NULL || ops->commit == NULL ||
        ops->resolve == NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "driver '%s': open, close, schema, worker_open, worker_close, commit "
                              "and resolve may not be absent",
                              ops->scheme);
    return PAWL_OK;
}

static pawl_code add_driver(const pawl_store_ops *ops, pawl_error *error)
{
    pawl_code code = check_ops(ops, error);
    if (code != PAWL_OK)
        return code;
    if (find_loaded(ops->scheme, strlen(ops->scheme)) != NULL)
        return pawl_error_set(error, PAWL_EDUPLICATE, "driver '%s': the scheme is taken",
                              ops->scheme);
    if (driver_count == DRIVERS_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "driver '%s': there are %d drivers, limit %d",
                              ops->scheme, DRIVERS_MAX, DRIVERS_MAX);
    driver *added = &drivers[driver_count++];
    *added        = (driver){.given = ops, .ops = ops};
    if (ops->ops_size < sizeof added->whole) {
        memcpy(&added->whole, ops, ops->ops_size);
        added->ops = &added->whole;
    }
    return PAWL_OK;
}

pawl_code pawl_store_register(const pawl_store_ops *ops, pawl_error *error)
{
    if (ops == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "the driver to register is NULL");
    pthread_mutex_lock(&mutex);
    pawl_code code = add_driver(ops, error);
    pthread_mutex_unlock(&mutex);
    return code;
}

/* A module's table; `*module` is to be closed when it is not wanted. */
static pawl_code open_module(const char *path, void **module, const pawl_store_ops **ops,
                             pawl_error *error)
{
    const void *table = NULL;
    pawl_code   code =
        pawl__module_open(path, PAWL_STORE_DRIVER_SYMBOL, TABLE_SIZE_MIN, module, &table, error);
    *ops = table;
    if (code != PAWL_OK)
        return code;
    code = check_ops(*ops, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "%s", path);
}

/* Refuses a module of another scheme: it would be loaded again at each open. */
static pawl_code add_module(const pawl_store_ops *ops, const char *path, const char *scheme,
                            pawl_error *error)
{
    if (strcmp(ops->scheme, scheme) != 0)
        return pawl_error_set(error, PAWL_ECONFIG, "%s: it is the driver of '%s', not of '%s'",
                              path, ops->scheme, scheme);
    return add_driver(ops, error);
}

/* The module's table, once its file is known to be there. */
static pawl_code load_module(const char *path, const char *scheme, const pawl_store_ops **ops,
                             pawl_error *error)
{
    void                 *module = NULL;
    const pawl_store_ops *found  = NULL;
    pawl_code             code   = open_module(path, &module, &found, error);
    if (code == PAWL_OK)
        code = add_module(found, path, scheme, error);
    if (code == PAWL_OK)
        *ops = find_loaded(scheme, strlen(scheme));
    else
        pawl__module_close(module);
    if (code == PAWL_ECONFIG && found == NULL) /* no such table: it may be a transport's file */
        return pawl_error_wrap(error, code,
                               "driver '%s' (a transport is loaded by pawl --load FILE VERB alone)",
                               scheme);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "driver '%s'", scheme);
}

static bool is_added(const pawl_store_ops *ops)
{
    for (size_t i = 0; i < driver_count; i++)
        if (drivers[i].given == ops)
            return true;
    return false;
}

/* If the module is loaded already, its first table stays in use, and the new
 * handle is closed. */
static pawl_code load_file(const char *path, pawl_error *error)
{
    void                 *module = NULL;
    const pawl_store_ops *found  = NULL;
    pawl_code             code   = open_module(path, &module, &found, error);
    bool                  is_new = code == PAWL_OK && !is_added(found);
    if (is_new)
        code = add_driver(found, error);
    if (!(is_new && code == PAWL_OK))
        pawl__module_close(module);
    return code;
}

pawl_code pawl_store_load(const char *path, pawl_error *error)
{
    char      here[PAWL__OBJECT_PATH_SIZE];
    pawl_code code = pawl__object_path(path, "driver", here, error);
    if (code != PAWL_OK)
        return code;
    pthread_mutex_lock(&mutex);
    code = load_file(here, error);
    pthread_mutex_unlock(&mutex);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "load of a driver");
}

/* Maps a scheme to the driver's name, since some databases have two schemes. Also called for a broker's URL whose
 * module is missing. */
static const char *driver_of(const char *scheme)
{
    if (strcmp(scheme, "mariadb") == 0)
        return "mysql";
    if (strcmp(scheme, "mssql") == 0 || strcmp(scheme, "oracle") == 0)
        return "odbc";
    if (strcmp(scheme, "amqp") == 0 || strcmp(scheme, "amqps") == 0)
        return "rabbitmq";
    if (strcmp(scheme, "mongodb") == 0 || strcmp(scheme, "mongodb+srv") == 0)
        return "mongo";
    return strcmp(scheme, "postgresql") == 0 ? "postgres" : scheme;
}

static pawl_code find_or_load(const char *url, size_t size, const pawl_store_ops **ops,
                              pawl_error *error)
{
    char given[PAWL_PREFIX_SIZE_MAX + 1];
    char path[PAWL__OBJECT_PATH_SIZE];
    char absent[sizeof error->text];
    snprintf(given, sizeof given, "%.*s", (int)size, url);
    const char *scheme = driver_of(given);
    *ops               = find_loaded(given, size);
    if (*ops == NULL)
        *ops = find_loaded(scheme, strlen(scheme));
    if (*ops != NULL)
        return PAWL_OK;
    if (pawl__module_find(scheme, path))
        return load_module(path, scheme, ops, error);
    const char *slashes = strncmp(url + size, "://", 3) == 0 ? "//" : "";
    return pawl_error_set(
        error, PAWL_EUNREACHABLE, "no driver for '%s:%s': %s", given, slashes,
        pawl__module_absent(
            scheme, ", or load your own (a store's driver or a transport: pawl --load FILE VERB)",
            absent, sizeof absent));
}

pawl_code pawl__driver_find(const char *url, const pawl_store_ops **ops, pawl_error *error)
{
    size_t size = pawl__url_scheme_size(url);
    if (size == 0) {
        char masked[200];
        pawl__url_mask(url, masked, sizeof masked);
        return pawl_error_set(error, PAWL_EINVAL,
                              "'%s' is not a URL of a store: it begins with a scheme, such as "
                              "'memory:' or 'sqlite:orders.db'",
                              masked);
    }
    pthread_mutex_lock(&mutex);
    pawl_code code = find_or_load(url, size, ops, error);
    pthread_mutex_unlock(&mutex);
    return code;
}
