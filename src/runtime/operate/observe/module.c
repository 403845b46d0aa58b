/* module.c - finds and loads the observe module, which listens and sends.
 *
 * The module stays loaded until the process ends, as threads may still run in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#include "store/core/module.h"

static pthread_mutex_t         mutex = PTHREAD_MUTEX_INITIALIZER;
static const pawl_observe_ops *loaded; /* under the mutex */

static pawl_code load(pawl_error *error)
{
    const void *ops = NULL;
    pawl_code   code =
        pawl__module_load("observe", "health, metrics and traces", PAWL_OBSERVE_MODULE_SYMBOL,
                          sizeof(pawl_observe_ops), &ops, error);
    if (code == PAWL_OK)
        loaded = ops;
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
