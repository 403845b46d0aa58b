/* store.c - a store handle as the endpoint's settings want it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

pawl_code pawl__endpoint_store_open(pawl_endpoint *endpoint, pawl_store **store, pawl_error *error)
{
    const pawl_endpoint_options *settings = &endpoint->settings;
    pawl_store_options           options  = PAWL_STORE_OPTIONS_INIT;
    options.mode                          = settings->mode;
    options.system_prefix                 = settings->system_prefix;
    options.deadline_ms                   = settings->deadline_ms;
    options.tables                        = endpoint->model->tables;
    options.table_count                   = endpoint->model->saga_count;
    pawl_code code = pawl_store_open(settings->store, &options, store, error);
    if (code == PAWL_OK)
        code = (*store)->ops->worker_open(*store, endpoint->model->endpoint,
                                          endpoint->model->types_json, pawl__machine_now(endpoint),
                                          error);
    if (code == PAWL_OK)
        (*store)->is_attached = true;
    else
        pawl__endpoint_store_close(endpoint, store);
    return code;
}

void pawl__endpoint_store_close(pawl_endpoint *endpoint, pawl_store **store)
{
    if (*store == NULL)
        return;
    pawl_error error = PAWL_ERROR_INIT;
    if ((*store)->is_attached &&
        (*store)->ops->worker_close(*store, pawl__machine_now(endpoint), &error) != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "worker not ended in the store: %s", error.text);
    pawl_store_close(*store);
    *store = NULL;
}
