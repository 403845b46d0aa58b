/* options.c - an endpoint's options: one row for each number, with its default
 * and its bounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include "store/core/core.h"

#include <string.h>

typedef enum number_kind {
    NUMBER_32,
    NUMBER_64,
} number_kind;

typedef struct number_row {
    const char *name;
    number_kind kind;
    size_t      offset;
    int64_t     value_default, low, high;
} number_row;

#define ROW(kind, field, value_default, low, high)                                     \
    {                                                                                  \
#field, kind, offsetof(pawl_endpoint_options, field), value_default, low, high \
    }

/* -1 is "none" where the lower bound allows it, and becomes 0. */
static const number_row number_rows[] = {
    ROW(NUMBER_32, workers, 1, 1, PAWL_WORKERS_MAX),
    ROW(NUMBER_32, batch_messages, 256, 1, PAWL_BATCH_MESSAGES_MAX),
    ROW(NUMBER_64, batch_time_max, PAWL_MILLISECONDS(50), 1, PAWL_MINUTES(10)),
    ROW(NUMBER_64, deadline_ms, 30000, 1, 86400000),
    ROW(NUMBER_64, timeout_lease, PAWL_MINUTES(5), 1, PAWL_DAYS(365)),
    ROW(NUMBER_32, immediate_retries, 3, -1, 100),
    ROW(NUMBER_32, delayed_retries, 5, -1, 1000),
    ROW(NUMBER_64, retry_delay, PAWL_SECONDS(10), 1, PAWL_DAYS(365)),
    ROW(NUMBER_64, retry_delay_max, PAWL_HOURS(1), 1, PAWL_DAYS(365)),
    ROW(NUMBER_32, conflict_retries, 20, -1, 10000),
    ROW(NUMBER_64, not_found_wait, PAWL_SECONDS(30), 1, PAWL_DAYS(365)),
    ROW(NUMBER_64, inbox_retention, PAWL_DAYS(7), 1, PAWL_DAYS(3650)),
    ROW(NUMBER_64, outbox_retention, PAWL_DAYS(30), 1, PAWL_DAYS(3650)),
    ROW(NUMBER_32, outbox_batch, 32, 1, PAWL_BATCH_MESSAGES_MAX),
    ROW(NUMBER_32, outbox_attempts, 10, 1, 1000),
    ROW(NUMBER_64, outbox_delay, PAWL_SECONDS(1), 1, PAWL_DAYS(365)),
    ROW(NUMBER_64, outbox_delay_max, PAWL_MINUTES(5), 1, PAWL_DAYS(365)),
    ROW(NUMBER_64, outbox_idle, PAWL_SECONDS(30), 1, PAWL_DAYS(365)),
    ROW(NUMBER_64, stop_wait, PAWL_SECONDS(30), 1, PAWL_DAYS(365)),
};

static pawl_code take_number(pawl_endpoint_options *settings, const number_row *row,
                             pawl_error *error)
{
    char   *field = (char *)settings + row->offset;
    int64_t value;
    if (row->kind == NUMBER_32) {
        int32_t narrow;
        memcpy(&narrow, field, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, field, sizeof value);
    }
    if (value == 0)
        value = row->value_default;
    if (value < row->low || value > row->high)
        return pawl_error_set(error, PAWL_ECONFIG, "option %s is %lld, the limits are %lld to %lld",
                              row->name, (long long)value, (long long)row->low,
                              (long long)row->high);
    if (value < 0)
        value = 0;
    if (row->kind == NUMBER_32) {
        int32_t narrow = (int32_t)value;
        memcpy(field, &narrow, sizeof narrow);
    } else {
        memcpy(field, &value, sizeof value);
    }
    return PAWL_OK;
}

/* Of so many tries, with the jitter at its most: a fifth of each delay. */
static int64_t sum_of_delays(int32_t tries, int64_t delay, int64_t delay_max)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < tries; i++) {
        int64_t next = pawl__doubled(delay, i, delay_max);
        sum          = pawl_time_add(sum, pawl_time_add(next, next / 5));
    }
    return sum;
}

/* A copy of a message that was handled is known by its mark in the inbox: the mark
 * must be there for as long as copies can come. */
static pawl_code check_retention(const pawl_endpoint_options *settings, pawl_error *error)
{
    static const char *const names[] = {"delayed retries", "tries of the outbox"};
    const int64_t            spans[] = {
                   sum_of_delays(settings->delayed_retries, settings->retry_delay, settings->retry_delay_max),
                   sum_of_delays(settings->outbox_attempts - 1, settings->outbox_delay,
                                 settings->outbox_delay_max)};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        if (settings->inbox_retention < spans[i])
            return pawl_error_set(
                error, PAWL_ECONFIG,
                "option inbox_retention is %lld s, and %s go on for up to %lld s: a message would "
                "be handled again when a copy of it comes after its mark is gone",
                (long long)(settings->inbox_retention / PAWL_SECONDS(1)), names[i],
                (long long)((spans[i] + PAWL_SECONDS(1) - 1) / PAWL_SECONDS(1)));
    return PAWL_OK;
}

static pawl_code check_sink(const pawl_route *route, pawl_error *error)
{
    const pawl_transport_ops *ops = route->sink;
    if (ops->ops_size < sizeof *ops || ops->deliver == NULL)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "route '%s': its sink's table has %zu bytes and %s; this library needs "
            "%zu and a function deliver",
            route->name, ops->ops_size,
            ops->deliver != NULL ? "a function deliver" : "no function deliver", sizeof *ops);
    return PAWL_OK;
}

/* With a scheme that nobody knows each row would use up its attempts and be dead. */
static pawl_code check_url(const pawl_route *route, pawl_error *error)
{
    pawl_error            why = PAWL_ERROR_INIT;
    const pawl_store_ops *ops;
    if (pawl_transport_find(route->url) != &pawl_transport_store ||
        pawl__driver_find(route->url, &ops, &why) == PAWL_OK)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG, "route '%s': %s", route->name, why.text);
}

static pawl_code check_route(const pawl_endpoint *endpoint, const pawl_route *route,
                             pawl_error *error)
{
    if (strlen(route->name) == 0 || strlen(route->name) > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG, "route name has %zu bytes, the limit is 1 to %d",
                              strlen(route->name), PAWL_NAME_SIZE_MAX);
    if (pawl__route_find(endpoint, pawl_text_of(route->name)) != NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "route '%s' is given twice", route->name);
    if ((route->url != NULL) + (route->sink != NULL) + route->is_outbox > 1)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "route '%s' leads to more than one place: give one of url, sink and "
                              "is_outbox",
                              route->name);
    if (route->url != NULL)
        return check_url(route, error);
    return route->sink != NULL ? check_sink(route, error) : PAWL_OK;
}

/* How far apart the rows stand that the application was compiled with: before
 * options told, a row ended with system_prefix. */
static size_t route_stride(const pawl_endpoint_options *settings)
{
    if (settings->options_size <= offsetof(pawl_endpoint_options, route_size))
        return offsetof(pawl_route, sink);
    return settings->route_size != 0 ? settings->route_size : sizeof(pawl_route);
}

static pawl_code take_routes(pawl_endpoint *endpoint, pawl_error *error)
{
    const char *next   = (const char *)endpoint->settings.routes;
    size_t      stride = route_stride(&endpoint->settings);
    size_t      size   = stride < sizeof(pawl_route) ? stride : sizeof(pawl_route);
    for (; next != NULL; next += stride) {
        pawl_route route = {.name = NULL};
        memcpy(&route, next, size);
        if (route.name == NULL)
            break;
        if (endpoint->route_count == PAWL__ROUTES_MAX)
            return pawl_error_set(error, PAWL_ECONFIG, "more than %d routes", PAWL__ROUTES_MAX);
        pawl_code code = check_route(endpoint, &route, error);
        if (code != PAWL_OK)
            return code;
        endpoint->routes[endpoint->route_count++] = route;
    }
    return PAWL_OK;
}

pawl_code pawl__settings_take(pawl_endpoint *endpoint, const pawl_endpoint_options *options,
                              pawl_error *error)
{
    size_t size = options->options_size;
    if (size == 0 || size > sizeof endpoint->settings)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "options do not begin with PAWL_ENDPOINT_OPTIONS_INIT of this library");
    memcpy(&endpoint->settings, options, size);
    if (endpoint->settings.store == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "option store is missing: give a URL");
    for (size_t i = 0; i < sizeof number_rows / sizeof number_rows[0]; i++) {
        pawl_code code = take_number(&endpoint->settings, &number_rows[i], error);
        if (code != PAWL_OK)
            return code;
    }
    pawl_code retention = check_retention(&endpoint->settings, error);
    if (retention != PAWL_OK)
        return retention;
    if (endpoint->settings.business != NULL && endpoint->settings.workers > 1)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "option workers is %d: under a virtual business clock one worker "
                              "handles everything in due order",
                              endpoint->settings.workers);
    if (endpoint->settings.mode != PAWL_OPEN_CREATE && endpoint->settings.mode != PAWL_OPEN_CHECK)
        return pawl_error_set(error, PAWL_ECONFIG, "option mode must be CREATE or CHECK");
    return take_routes(endpoint, error);
}

const pawl_route *pawl__route_find(const pawl_endpoint *endpoint, pawl_text name)
{
    for (size_t i = 0; i < endpoint->route_count; i++)
        if (pawl_text_equal(pawl_text_of(endpoint->routes[i].name), name))
            return &endpoint->routes[i];
    return NULL;
}
