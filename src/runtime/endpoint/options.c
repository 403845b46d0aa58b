/* options.c - checks the options of an endpoint and fills in defaults (option_rows.h lists the numbers).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/order.h"
#include "runtime/runtime.h"

#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/option_rows.h"
#include "runtime/endpoint/recovery.h"
#include "store/core/core.h"

#include <stdio.h>
#include <string.h>

/* ---- Numbers ---------------------------------------------------------------- */

static const pawl__number_row number_rows[] = {PAWL__NUMBER_ROWS(PAWL__NUMBER_ROW)};

/* The default of a number that neither the program nor the endpoint's table gives. */
static int64_t default_of(const pawl_endpoint_options *settings,
                          const pawl_endpoint_options *defaults, size_t index)
{
    size_t  other   = pawl__number_partner(index);
    int64_t partner = 0;
    if (other < pawl__number_count) {
        partner = pawl__number_get(settings, &number_rows[other]);
        partner = partner != 0 ? partner : pawl__number_get(defaults, &number_rows[other]);
    }
    return pawl__number_default(&number_rows[index], other < index, partner);
}

/* Reads a number: 0 stands for that of the endpoint's table, and 0 there for the default; -1 means "none", if the lower
 * limit allows it, and becomes 0. */
static pawl_code take_number(pawl_endpoint_options *settings, const pawl_endpoint_options *defaults,
                             size_t index, pawl_error *error)
{
    const pawl__number_row *row   = &number_rows[index];
    int64_t                 value = pawl__number_get(settings, row);
    const char             *from  = "";
    if (value == 0) {
        value = pawl__number_get(defaults, row);
        from  = value != 0 ? " in the endpoint's table" : "";
    }
    if (value == 0)
        value = default_of(settings, defaults, index);
    pawl_code code = PAWL_OK;
    if (row->kind == PAWL__NUMBER_DURATION && row->low != 1)
        code = pawl__check_unit("option ", row->field, from, value, error);
    if (code != PAWL_OK)
        return code;
    if (value < row->low || value > row->high)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "option %s%s is %lld, the limits are %lld to %lld", row->field, from,
                              (long long)value, (long long)row->low, (long long)row->high);
    pawl__number_put(settings, row, value < 0 ? 0 : value);
    return PAWL_OK;
}

/* ---- The endpoint's table ------------------------------------------------------ */

/* Refuses options in the application's table that only the program may set: with a store in the table, the application
 * would ignore the operator's. */
static pawl_code check_defaults(const pawl_endpoint_options *defaults, pawl_error *error)
{
    const struct {
        const char *name;
        bool        is_given;
    } rows[] = {{"store", defaults->store != NULL},
                {"mode", defaults->mode != PAWL_OPEN_CREATE},
                {"system_prefix", defaults->system_prefix != NULL},
                {"saga_prefix", defaults->saga_prefix != NULL},
                {"business", defaults->business != NULL},
                {"machine", defaults->machine != NULL},
                {"seed", defaults->seed != 0},
                {"no_service", defaults->no_service},
                {"observe", defaults->observe != NULL},
                {"transport", defaults->transport != NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].is_given)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "option %s in the endpoint's table: it is for the program that "
                                  "runs the endpoint; the table gives numbers, routes, user and "
                                  "critical",
                                  rows[i].name);
    return PAWL_OK;
}

static pawl_code read_options(const pawl_endpoint_options *given, pawl_endpoint_options *options,
                              pawl_error *error)
{
    size_t size = given->options_size;
    if (size == 0 || size > sizeof *options)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "options do not begin with PAWL_ENDPOINT_OPTIONS_INIT of this library");
    memcpy(options, given, size);
    return PAWL_OK;
}

/* Reads the options of the endpoint's row in the application's table; all zero if the row has none or is too short. */
static pawl_code read_defaults(const pawl_application *application, const char *name,
                               pawl_endpoint_options *defaults, pawl_error *error)
{
    const pawl_endpoint_spec *row  = NULL;
    pawl_endpoint_spec        spec = {.name = NULL};
    pawl_code                 code = pawl_application_check(application, error);
    if (code == PAWL_OK)
        code = pawl__application_endpoint(application, name, &row, error);
    if (code != PAWL_OK)
        return code;
    pawl__table_row(row, 0, application->endpoint_size, &spec, sizeof spec);
    if (spec.options == NULL)
        return PAWL_OK;
    code = read_options(spec.options, defaults, error);
    if (code == PAWL_OK)
        code = check_defaults(defaults, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "endpoint %s", spec.name);
}

/* ---- Checks of several numbers -------------------------------------------------- */

/* Refuses a delay that is longer than its longest: both were given, as a default gives way. */
static pawl_code check_delays(const pawl_endpoint_options *settings, pawl_error *error)
{
    char texts[2][32];
    for (size_t i = 0; i < pawl__number_count; i++) {
        size_t other = pawl__number_partner(i);
        if (other >= i)
            continue;
        int64_t delay = pawl__number_get(settings, &number_rows[other]);
        int64_t last  = pawl__number_get(settings, &number_rows[i]);
        if (delay > last)
            return pawl_error_set(
                error, PAWL_ECONFIG, "option %s is %s, shorter than option %s, which is %s",
                number_rows[i].field, pawl__duration_text(last, texts[0], sizeof texts[0]),
                number_rows[other].field, pawl__duration_text(delay, texts[1], sizeof texts[1]));
    }
    return PAWL_OK;
}

/* The sum of the delays of `tries` tries, each with the maximum of jitter. */
static int64_t sum_of_delays(int32_t tries, int64_t delay, int64_t delay_max)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < tries; i++) {
        int64_t next = pawl__doubled(delay, i, delay_max);
        sum          = pawl_time_add(sum, pawl__jittered_max(next));
    }
    return sum;
}

/* The longest total of delayed retries, by the options (row 0) or by a recovery row. */
static int64_t sum_of_retries(const pawl_endpoint_options *settings, const pawl__recovery *recovery,
                              size_t *longest_row)
{
    static const pawl_recovery plain   = {.delay = 0};
    int64_t                    longest = 0;
    *longest_row                       = 0;
    for (size_t i = 0; i <= recovery->count; i++) {
        const pawl_recovery *row   = i > 0 ? &recovery->rows[i - 1] : &plain;
        int32_t              tries = row->delayed != 0 ? row->delayed : settings->delayed_retries;
        int64_t              delay = row->delay != 0 ? row->delay : settings->retry_delay;
        int64_t              last  = pawl__recovery_delay_max(row, settings->retry_delay_max);
        int64_t              sum   = sum_of_delays(tries, delay, last);
        if (sum <= longest)
            continue;
        longest      = sum;
        *longest_row = i;
    }
    return longest;
}

/* Checks that deduplication records are kept as long as copies of a message may arrive. */
static pawl_code check_retention(const pawl_endpoint_options *settings,
                                 const pawl__recovery *recovery, pawl_error *error)
{
    char              retries[80] = "delayed retries";
    const char *const names[]     = {retries, "tries of the outbox"};
    size_t            row         = 0;
    const int64_t     spans[]     = {sum_of_retries(settings, recovery, &row),
                                     sum_of_delays(settings->outbox_attempts - 1, settings->outbox_delay,
                                                   settings->outbox_delay_max)};
    if (row > 0)
        snprintf(retries, sizeof retries, "delayed retries by row %zu of option recovery", row);
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        if (settings->inbox_retention < spans[i])
            return pawl_error_set(
                error, PAWL_ECONFIG,
                "option inbox_retention is %lld s, and %s go on for up to %lld s: a message would "
                "be handled again when a copy of it comes after its deduplication record is gone",
                (long long)(settings->inbox_retention / PAWL_SECONDS(1)), names[i],
                (long long)((spans[i] + PAWL_SECONDS(1) - 1) / PAWL_SECONDS(1)));
    return PAWL_OK;
}

/* ---- Routes ---------------------------------------------------------------------- */

/* All members of the table are needed so far. A member that is appended must not be: tables of programs are shorter. */
static pawl_code check_outbound(const pawl_route *route, pawl_error *error)
{
    const pawl_transport_ops *ops = route->outbound;
    if (ops->ops_size < sizeof *ops || ops->deliver == NULL)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "route '%s': its outbound transport's table has %zu bytes and %s; this library needs "
            "%zu and a function deliver",
            route->name, ops->ops_size,
            ops->deliver != NULL ? "a function deliver" : "no function deliver", sizeof *ops);
    return PAWL_OK;
}

static pawl_code check_route(const pawl_endpoint *endpoint, const pawl_route *route,
                             pawl_error *error)
{
    if (strlen(route->name) == 0 || strlen(route->name) > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "route '%s': its name has %zu bytes, the limit is 1 to %d",
                              route->name, strlen(route->name), PAWL_NAME_SIZE_MAX);
    if (pawl__route_find(endpoint, pawl_text_of(route->name)) != NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "route '%s' is given twice", route->name);
    if ((route->url != NULL) + (route->outbound != NULL) + route->is_outbox > 1)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "route '%s' leads more than one way: give one of url, outbound and "
                              "is_outbox",
                              route->name);
    if (route->url != NULL)
        return pawl__outbound_try(endpoint, route, error);
    return route->outbound != NULL ? check_outbound(route, error) : PAWL_OK;
}

static pawl_code check_row_size(const char *name, size_t said, size_t least, size_t most,
                                pawl_error *error)
{
    if (said == 0 || (said >= least && said <= most))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "option %s: rows of %zu bytes, %zu to %zu are taken; begin the options "
                          "with PAWL_ENDPOINT_OPTIONS_INIT",
                          name, said, least, most);
}

/* Checks the sizes of the program's rows: not shorter than in the first version, not longer than this library knows. */
static pawl_code check_row_sizes(const pawl_endpoint_options *options, pawl_error *error)
{
    pawl_code code = check_row_size("route_size", options->route_size,
                                    offsetof(pawl_route, outbound), sizeof(pawl_route), error);
    return code != PAWL_OK ? code
                           : check_row_size("recovery_size", options->recovery_size,
                                            offsetof(pawl_recovery, then) + sizeof(pawl_then),
                                            sizeof(pawl_recovery), error);
}

/* Adds routes whose names are new: those of the caller come before those of the table. */
static pawl_code take_routes(pawl_endpoint *endpoint, const pawl_endpoint_options *options,
                             pawl_error *error)
{
    size_t     before = endpoint->route_count;
    pawl_route route;
    for (size_t i = 0; pawl__route_at(options, i, &route); i++) {
        if (pawl__route_named(endpoint->routes, before, route.name) != NULL)
            continue;
        if (endpoint->route_count == PAWL__ROUTES_MAX)
            return pawl_error_set(error, PAWL_ECONFIG, "more than %d routes", PAWL__ROUTES_MAX);
        pawl_code code = check_route(endpoint, &route, error);
        if (code != PAWL_OK)
            return code;
        endpoint->routes[endpoint->route_count++] = route;
    }
    return PAWL_OK;
}

/* ---- All options ------------------------------------------------------------------- */

static pawl_code check_settings(const pawl_endpoint_options *settings,
                                const pawl__recovery *recovery, pawl_error *error)
{
    if (settings->business != NULL && settings->workers > 1)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "option workers is %d: under a virtual business clock one worker "
                              "handles everything in due order",
                              settings->workers);
    if (settings->mode != PAWL_OPEN_CREATE && settings->mode != PAWL_OPEN_CHECK)
        return pawl_error_set(error, PAWL_ECONFIG, "option mode must be CREATE or CHECK");
    if (!pawl__order_read(settings->ordered, &(pawl__order_key){PAWL__ORDER_NONE, NULL}))
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "option ordered is '%s': neither saga, header:NAME, property:NAME nor "
            "none",
            settings->ordered);
    return check_retention(settings, recovery, error);
}

pawl_code pawl__settings_take(pawl_endpoint *endpoint, const pawl_application *application,
                              const char *name, const pawl_endpoint_options *options,
                              pawl_error *error)
{
    pawl_endpoint_options *settings = &endpoint->settings;
    pawl_endpoint_options  defaults = {.options_size = 0};
    pawl_code              code     = read_options(options, settings, error);
    if (code == PAWL_OK)
        code = read_defaults(application, name, &defaults, error);
    if (code == PAWL_OK)
        code = check_row_sizes(settings, error);
    if (code == PAWL_OK)
        code = check_row_sizes(&defaults, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof number_rows / sizeof number_rows[0]; i++)
        code = take_number(settings, &defaults, i, error);
    if (code == PAWL_OK)
        code = check_delays(settings, error);
    if (code != PAWL_OK)
        return code;
    if (settings->user == NULL)
        settings->user = defaults.user;
    if (settings->critical == NULL) {
        settings->critical         = defaults.critical;
        settings->critical_context = defaults.critical_context;
    }
    if (settings->ordered == NULL)
        settings->ordered = defaults.ordered;
    if (settings->audit == NULL)
        settings->audit = defaults.audit;
    code = pawl__recovery_take(&endpoint->recovery, settings, &defaults, error);
    if (code == PAWL_OK)
        code = check_settings(settings, &endpoint->recovery, error);
    if (code == PAWL_OK)
        code = take_routes(endpoint, settings, error);
    return code == PAWL_OK ? take_routes(endpoint, &defaults, error) : code;
}
