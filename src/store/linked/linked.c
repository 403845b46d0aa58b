/* linked.c - the modules that are linked into the program, for store/core/module.h.
 *
 * The build lists their tables in PAWL_LINKED, those of one module side by side, and gives each table, which is
 * named alike in all modules, the module's name as well (cmake/PawlStatic.cmake, scripts/amalgamate.py):
 *
 *     PAWL_LINKED                                                pawl_store_driver_sqlite,
 *     STORE(sqlite) TRANSPORT(rabbitmq) INBOUND(rabbitmq)        pawl_transport_driver_rabbitmq ...
 *
 * Threads: any; the list is constant. Tests: tests/system/amalgamation.sh, install.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/inbound.h"
#include "pawl/observe.h"
#include "pawl/store_driver.h"
#include "pawl/transport.h"

#include "store/core/module.h"

#include <stdio.h>
#include <string.h>

#ifndef PAWL_LINKED
#define PAWL_LINKED
#endif

#define STORE(name) extern const pawl_store_ops pawl_store_driver_##name;
#define TRANSPORT(name) extern const pawl_transport_ops pawl_transport_driver_##name;
#define INBOUND(name) extern const pawl_inbound_ops pawl_inbound_driver_##name;
#define OBSERVE(name) extern const pawl_observe_ops pawl_observe_module_##name;
PAWL_LINKED
#undef STORE
#undef TRANSPORT
#undef INBOUND
#undef OBSERVE

#define STORE(name) {#name, PAWL_STORE_DRIVER_SYMBOL, &pawl_store_driver_##name},
#define TRANSPORT(name) {#name, PAWL_TRANSPORT_DRIVER_SYMBOL, &pawl_transport_driver_##name},
#define INBOUND(name) {#name, PAWL_INBOUND_DRIVER_SYMBOL, &pawl_inbound_driver_##name},
#define OBSERVE(name) {#name, PAWL_OBSERVE_MODULE_SYMBOL, &pawl_observe_module_##name},

static const struct {
    const char *name;
    const char *symbol;
    const void *table;
} linked[] = {PAWL_LINKED{NULL, NULL, NULL}};

bool pawl__module_find(const char *name, char path[PAWL__OBJECT_PATH_SIZE])
{
    for (size_t i = 0; linked[i].name != NULL; i++)
        if (strcmp(linked[i].name, name) == 0)
            return snprintf(path, PAWL__OBJECT_PATH_SIZE, "%s", name) > 0;
    return false;
}

const char *pawl__module_absent(const char *name, const char *other, char *text, size_t size)
{
    (void)other;
    (void)snprintf(text, size, "%s is not linked into this program, which has memory", name);
    for (size_t i = 0; linked[i].name != NULL; i++) {
        if (i > 0 && strcmp(linked[i].name, linked[i - 1].name) == 0)
            continue; /* the module's second table */
        size_t used = strlen(text);
        (void)snprintf(text + used, size - used, ", %s", linked[i].name);
    }
    return text;
}

/* A path of a file has a '/', and is no name of the list. */
pawl_code pawl__module_open(const char *path, const char *symbol, size_t size, void **module,
                            const void **table, pawl_error *error)
{
    (void)size; /* the tables are of this build */
    *module = NULL;
    for (size_t i = 0; linked[i].name != NULL; i++) {
        if (strcmp(linked[i].name, path) != 0 || strcmp(linked[i].symbol, symbol) != 0)
            continue;
        *table = linked[i].table;
        return PAWL_OK;
    }
    if (strchr(path, '/') == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "%s has no symbol %s", path, symbol);
    return pawl_error_set(error, PAWL_EUNREACHABLE,
                          "%s: this program loads no modules, its drivers are linked in", path);
}

void pawl__module_close(void *module)
{
    (void)module;
}
