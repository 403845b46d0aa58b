/* observe_module.c - finds and loads the module that listens and sends.
 *
 * It stays loaded until the process ends: its threads may be in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/observe.h"

#include "store/core/core.h"

#include <dlfcn.h>

static pthread_mutex_t         mutex = PTHREAD_MUTEX_INITIALIZER;
static const pawl_observe_ops *loaded; /* under the mutex */

static pawl_code check(const pawl_observe_ops *ops, const char *path, pawl_error *error)
{
    if (ops == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "%s has no symbol %s", path,
                              PAWL_OBSERVE_MODULE_SYMBOL);
    if (ops->ops_size < sizeof *ops)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s was built for another pawl: its table has %zu bytes, at least "
                              "%zu are needed",
                              path, ops->ops_size, sizeof *ops);
    return PAWL_OK;
}

static pawl_code load(pawl_error *error)
{
    char path[PAWL__MODULE_PATH_SIZE];
    if (!pawl__module_find("observe", path))
        return pawl_error_set(error, PAWL_EUNREACHABLE,
                              "no module for health, metrics and traces: install the package "
                              "libpawl-observe");
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "%s", dlerror());
    const pawl_observe_ops *ops  = dlsym(module, PAWL_OBSERVE_MODULE_SYMBOL);
    pawl_code               code = check(ops, path, error);
    if (code == PAWL_OK)
        loaded = ops;
    else
        dlclose(module);
    return code;
}

pawl_code pawl__observe_load(const pawl_observe_ops **ops, pawl_error *error)
{
    pthread_mutex_lock(&mutex);
    pawl_code code = loaded != NULL ? PAWL_OK : load(error);
    *ops           = loaded;
    pthread_mutex_unlock(&mutex);
    return code;
}

void pawl__observe_load_set(const pawl_observe_ops *ops)
{
    pthread_mutex_lock(&mutex);
    loaded = ops;
    pthread_mutex_unlock(&mutex);
}
