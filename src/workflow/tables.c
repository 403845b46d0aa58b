/* tables.c - reads an application's tables by the sizes it was built with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

#include <string.h>

void pawl__table_row(const void *rows, size_t index, uint32_t stride, void *row, size_t size)
{
    memset(row, 0, size);
    memcpy(row, (const char *)rows + index * stride, stride < size ? stride : size);
}

bool pawl__handler_is_folded(const pawl_application *application, const pawl_handler *handler)
{
    return application->handler_size >= offsetof(pawl_handler, is_folded) + sizeof(bool) &&
           handler->is_folded;
}

const char *pawl__handler_name(const pawl_application *application, const pawl_handler *handler)
{
    return application->handler_size >= offsetof(pawl_handler, name) + sizeof(char *)
               ? handler->name
               : NULL;
}

size_t pawl__list_count(const void *list)
{
    size_t count = 0;
    for (const void *const *item = list; item != NULL && *item != NULL; item++)
        count++;
    return count;
}

pawl_code pawl__application_check(const pawl_application *application, pawl_error *error)
{
    if (application == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "application is NULL");
    if (application->abi != PAWL_ABI)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "application was built for ABI %u, this library has ABI %u; build it "
                              "against this library",
                              application->abi, PAWL_ABI);
    if (application->on_size == 0 || application->saga_size == 0 ||
        application->endpoint_size == 0 || application->aggregator_size == 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "application does not begin with PAWL_APPLICATION_INIT");
    return PAWL_OK;
}

pawl_code pawl__application_endpoint(const pawl_application *application, const char *name,
                                     const pawl_endpoint_spec **spec, pawl_error *error)
{
    size_t count = pawl__list_count(application->endpoints);
    if (name == NULL && count == 1) {
        *spec = application->endpoints[0];
        return PAWL_OK;
    }
    if (name == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "application has %zu endpoints; say which one to run", count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(application->endpoints[i]->name, name) == 0) {
            *spec = application->endpoints[i];
            return PAWL_OK;
        }
    return pawl_error_set(error, PAWL_ENOTFOUND, "application has no endpoint '%s'", name);
}
