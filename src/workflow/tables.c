/* tables.c - reads an application's tables with the row sizes that it was built with, and checks these sizes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

#include "pawl/loop.h"

#include <string.h>

void pawl__table_row(const void *rows, size_t index, uint32_t stride, void *row, size_t size)
{
    memset(row, 0, size);
    memcpy(row, (const char *)rows + index * stride, stride < size ? stride : size);
}

/* Size of a route in the program's list. Before the options had route_size, a route ended with system_prefix. */
static size_t route_size(const pawl_endpoint_options *options)
{
    if (options->options_size <= offsetof(pawl_endpoint_options, route_size))
        return offsetof(pawl_route, outbound);
    return options->route_size != 0 ? options->route_size : sizeof(pawl_route);
}

bool pawl__route_at(const pawl_endpoint_options *options, size_t index, pawl_route *route)
{
    if (options->routes == NULL)
        return false;
    pawl__table_row(options->routes, index, (uint32_t)route_size(options), route, sizeof *route);
    return route->name != NULL;
}

const pawl_route *pawl__route_named(const pawl_route *routes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(routes[i].name, name) == 0)
            return &routes[i];
    return NULL;
}

bool pawl__handler_is_folded(const pawl_application *application, const pawl_handler *handler)
{
    return application->handler_size >= offsetof(pawl_handler, is_stream) + sizeof(bool) &&
           handler->is_stream;
}

const char *pawl__handler_name(const pawl_application *application, const pawl_handler *handler)
{
    return application->handler_size >= offsetof(pawl_handler, name) + sizeof(char *)
               ? handler->name
               : NULL;
}

const char *pawl__application_version(const pawl_application *application)
{
    return application->application_size >= offsetof(pawl_application, version) + sizeof(char *)
               ? application->version
               : NULL;
}

size_t pawl__list_count(const void *list)
{
    size_t count = 0;
    for (const void *const *item = list; item != NULL && *item != NULL; item++)
        count++;
    return count;
}

/* A table whose row size the application gives. Members behind `least`, which later versions added, may be absent and
 * read as zero. */
typedef struct size_row {
    const char *name;
    size_t      offset; /* of the member of pawl_application that has the size */
    size_t      least;
    size_t      most;        /* this library's size */
    bool        is_optional; /* 0 is allowed: the application has no such table */
} size_row;

#define SIZE_OF(table) offsetof(pawl_application, table##_size)

/* `application` comes first, since the other sizes are its members. */
static const size_row sizes[] = {
    {"application", SIZE_OF(application), offsetof(pawl_application, process_size),
     sizeof(pawl_application), false},
    {"endpoint_spec", SIZE_OF(endpoint), offsetof(pawl_endpoint_spec, processes),
     sizeof(pawl_endpoint_spec), false},
    {"saga", SIZE_OF(saga), offsetof(pawl_saga, is_pessimistic) + sizeof(bool), sizeof(pawl_saga),
     false},
    {"on", SIZE_OF(on), offsetof(pawl_on, own_sql), sizeof(pawl_on), false},
    {"aggregator", SIZE_OF(aggregator), offsetof(pawl_aggregator, own_sql), sizeof(pawl_aggregator),
     false},
    {"handler", SIZE_OF(handler), offsetof(pawl_handler, is_stream), sizeof(pawl_handler), false},
    {"filter", SIZE_OF(filter), sizeof(pawl_filter), sizeof(pawl_filter), false},
    {"process", SIZE_OF(process), offsetof(pawl_process, snapshot_every), sizeof(pawl_process),
     true},
    {"projection", SIZE_OF(projection), offsetof(pawl_projection, own_sql), sizeof(pawl_projection),
     true},
    {"effect", SIZE_OF(effect), offsetof(pawl_effect, name) + sizeof(char *), sizeof(pawl_effect),
     true},
    {"schedule", SIZE_OF(schedule), offsetof(pawl_schedule, missed_max) + sizeof(int32_t),
     sizeof(pawl_schedule), true},
};

static pawl_code check_size(const pawl_application *application, const size_row *row,
                            pawl_error *error)
{
    uint32_t said = 0;
    if (row->is_optional && application->application_size < row->offset + sizeof said)
        return PAWL_OK; /* the application is older than this table */
    memcpy(&said, (const char *)application + row->offset, sizeof said);
    if ((said >= row->least && said <= row->most) || (said == 0 && row->is_optional))
        return PAWL_OK;
    if (said > row->most)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "application says that its pawl_%s has %u bytes, this library's has "
                              "%zu; run it with a library as new as its headers",
                              row->name, said, row->most);
    if (said == 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "application does not begin with PAWL_APPLICATION_HEAD");
    return pawl_error_set(error, PAWL_ECONFIG,
                          "application says that its pawl_%s has %u bytes, at least %zu are "
                          "needed; build it against this library",
                          row->name, said, row->least);
}

bool pawl__row_finds_saga(const pawl_on *row)
{
    return row->key != NULL || row->transitional_key != NULL || row->starts || row->find != NULL ||
           row->not_found != PAWL_NOT_FOUND_DROP || row->missing != NULL;
}

static const char *queue_of(const pawl_endpoint_spec *endpoint)
{
    return endpoint->queue != NULL ? endpoint->queue : endpoint->name;
}

static const pawl_projection *const *projections_of(const pawl_application *application,
                                                    size_t                  endpoint)
{
    pawl_endpoint_spec spec;
    pawl__table_row(application->endpoints[endpoint], 0, application->endpoint_size, &spec,
                    sizeof spec);
    return spec.projections;
}

/* A projection's lease and checkpoint have its name in the whole store: of two with one name one would never run. */
static pawl_code check_projections(const pawl_application *application, size_t before,
                                   size_t endpoint, pawl_error *error)
{
    const pawl_projection *const *left  = projections_of(application, before);
    const pawl_projection *const *right = projections_of(application, endpoint);
    for (size_t i = 0; i < pawl__list_count(left); i++)
        for (size_t j = 0; j < pawl__list_count(right); j++)
            if (left[i]->name != NULL && right[j]->name != NULL &&
                strcmp(left[i]->name, right[j]->name) == 0)
                return pawl_error_set(error, PAWL_ECONFIG,
                                      "endpoints %s and %s both have a projection %s, of which one "
                                      "would never run",
                                      application->endpoints[before]->name,
                                      application->endpoints[endpoint]->name, left[i]->name);
    return PAWL_OK;
}

/* Endpoints are looked up by name: with two of one name, the first would run twice and the second never. With two
 * endpoints on one queue, either may claim a message that only the other one handles. */
static pawl_code check_endpoints(const pawl_application *application, pawl_error *error)
{
    size_t    count = pawl__list_count(application->endpoints);
    pawl_code code  = PAWL_OK;
    for (size_t i = 0; count > 1 && i < count && code == PAWL_OK; i++) {
        const char *name = application->endpoints[i]->name;
        if (name == NULL)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "endpoint %zu of the application has no name", i + 1);
        for (size_t before = 0; before < i; before++)
            if (strcmp(application->endpoints[before]->name, name) == 0)
                return pawl_error_set(error, PAWL_ECONFIG,
                                      "application has two endpoints named '%s'", name);
        for (size_t before = 0; before < i; before++)
            if (strcmp(queue_of(application->endpoints[before]),
                       queue_of(application->endpoints[i])) == 0)
                return pawl_error_set(error, PAWL_ECONFIG,
                                      "endpoints %s and %s read one queue, '%s': each would take "
                                      "messages that only the other handles",
                                      application->endpoints[before]->name, name,
                                      queue_of(application->endpoints[i]));
        for (size_t before = 0; before < i && code == PAWL_OK; before++)
            code = check_projections(application, before, i, error);
    }
    return code;
}

pawl_code pawl_application_check(const pawl_application *application, pawl_error *error)
{
    if (application == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "application is NULL");
    if (application->abi != PAWL_ABI)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "application was built for ABI %u, this library has ABI %u; build it "
                              "against this library",
                              application->abi, PAWL_ABI);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        pawl_code code = check_size(application, &sizes[i], error);
        if (code != PAWL_OK)
            return code;
    }
    return check_endpoints(application, error);
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
