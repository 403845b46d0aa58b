/* endpoints.c - an application of ENDPOINTS endpoints (100), each with a saga that has a timeout: what they cost
 * while no message comes. endpoints.sh runs it and measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <stdio.h>
#include <stdlib.h>

#define ENDPOINTS_MAX 1000

#define TRIP(F) F(INT64, trip)
PAWL_RECORD(trip_state, TRIP);
PAWL_RECORD(begin, TRIP);

static pawl_code on_begin(pawl_context *ctx, trip_state *trip, const begin *message)
{
    (void)trip;
    (void)message;
    return pawl_timeout(ctx, "late", PAWL_HOURS(1));
}
PAWL_HANDLER(on_begin, trip_state, begin);

static pawl_code on_late(pawl_context *ctx, trip_state *trip)
{
    (void)ctx;
    (void)trip;
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_late, trip_state);

static const pawl_saga trip_saga = {
    .name        = "Trip",
    .state       = PAWL_RECORD_OF(trip_state),
    .correlation = "trip",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_begin), .key = "trip", .starts = true},
                           {.handle = PAWL_HANDLE(on_late), .timeout = "late"})};

static const pawl_saga *const    sagas[] = {&trip_saga, NULL};
static char                      names[ENDPOINTS_MAX][16];
static pawl_endpoint_spec        specs[ENDPOINTS_MAX];
static const pawl_endpoint_spec *list[ENDPOINTS_MAX + 1];
static const pawl_application    application = {PAWL_APPLICATION_HEAD, .name = "endpoints",
                                                .endpoints = list};

__attribute__((constructor)) static void make(void)
{
    const char *text  = getenv("ENDPOINTS");
    int         count = text != NULL ? atoi(text) : 100;
    for (int i = 0; i < count && i < ENDPOINTS_MAX; i++) {
        (void)snprintf(names[i], sizeof names[i], "endpoint_%d", i);
        specs[i] = (pawl_endpoint_spec){.name = names[i], .sagas = sagas};
        list[i]  = &specs[i];
    }
}

PAWL_EXPORT_APPLICATION(application);
