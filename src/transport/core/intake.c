/* intake.c - the intakes that were added, and those of pawl's own modules, which are loaded when a URL of
 * their schemes is first asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/inbound.h"

#include "store/core/module.h"

#include <pthread.h>
#include <string.h>

#define INTAKES_MAX 16 /* schemes one program reads from; a fixed table needs no clean-up */

typedef struct entry {
    const char             *scheme;
    const pawl_inbound_ops *ops;
} entry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static entry           registered[INTAKES_MAX];
static size_t          registered_count;

static const struct {
    const char *scheme, *module;
} modules[] = {{"amqp", "rabbitmq"}, {"amqps", "rabbitmq"}};

static const pawl_inbound_ops *find(const char *scheme, size_t size)
{
    for (size_t i = 0; i < registered_count; i++)
        if (strlen(registered[i].scheme) == size && memcmp(registered[i].scheme, scheme, size) == 0)
            return registered[i].ops;
    return NULL;
}

static pawl_code check(const pawl_inbound_ops *ops, pawl_error *error)
{
    if (ops == NULL || ops->ops_size < sizeof *ops)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "inbound transport: its table has %zu bytes, this library needs %zu",
                              ops != NULL ? ops->ops_size : 0, sizeof *ops);
    if (ops->scheme == NULL || ops->scheme[0] == '\0' || strchr(ops->scheme, ':') != NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "inbound transport: it names no scheme of URLs");
    if (ops->open == NULL || ops->close == NULL || ops->take == NULL || ops->settle == NULL ||
        ops->leave == NULL || ops->inbound_size < sizeof(pawl_inbound))
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "inbound transport '%s': open, close, take, settle, leave and an intake_size of "
            "at least %zu are needed",
            ops->scheme, sizeof(pawl_inbound));
    return PAWL_OK;
}

static pawl_code add(const char *scheme, const pawl_inbound_ops *ops, pawl_error *error)
{
    const pawl_inbound_ops *other = find(scheme, strlen(scheme));
    if (other == ops)
        return PAWL_OK;
    if (other != NULL)
        return pawl_error_set(error, PAWL_EDUPLICATE,
                              "inbound transport '%s': another one has this scheme", scheme);
    if (registered_count == INTAKES_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "inbound transport '%s': %d are registered, the limit", scheme,
                              INTAKES_MAX);
    registered[registered_count++] = (entry){scheme, ops};
    return PAWL_OK;
}

pawl_code pawl_inbound_register(const pawl_inbound_ops *ops, pawl_error *error)
{
    pawl_code code = check(ops, error);
    if (code != PAWL_OK)
        return code;
    pthread_mutex_lock(&mutex);
    code = add(ops->scheme, ops, error);
    pthread_mutex_unlock(&mutex);
    return code;
}

static pawl_code load(const char *scheme, size_t size, const pawl_inbound_ops **ops,
                      pawl_error *error)
{
    const void *table = NULL;
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        if (strlen(modules[i].scheme) != size || memcmp(modules[i].scheme, scheme, size) != 0)
            continue;
        pawl_code code =
            pawl__module_load(modules[i].module, "a broker", PAWL_INBOUND_DRIVER_SYMBOL,
                              sizeof(pawl_inbound_ops), &table, error);
        if (code == PAWL_OK)
            code = check(table, error);
        if (code == PAWL_OK)
            code = add(modules[i].scheme, table, error);
        *ops = code == PAWL_OK ? table : NULL;
        return code == PAWL_OK ? code : PAWL_ECONFIG;
    }
    return pawl_error_set(
        error, PAWL_ECONFIG,
        "no broker is known by the scheme '%.*s': expected amqp://, amqps:// or one "
        "that the application has registered",
        size < 40 ? (int)size : 40, scheme);
}

pawl_code pawl_inbound_find(const char *url, const pawl_inbound_ops **ops, pawl_error *error)
{
    const char *colon = strchr(url, ':');
    *ops              = NULL;
    if (colon == NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "it is no URL: expected amqp://host/?options#queue");
    pthread_mutex_lock(&mutex);
    pawl_code code = PAWL_OK;
    *ops           = find(url, (size_t)(colon - url));
    if (*ops == NULL)
        code = load(url, (size_t)(colon - url), ops, error);
    pthread_mutex_unlock(&mutex);
    return code;
}
