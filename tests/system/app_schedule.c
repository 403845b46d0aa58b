/* app_schedule.c - an endpoint whose table has a schedule of a second, and one of each night.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"

#define TICK(F) F(INT32, number)
PAWL_RECORD(tick, TICK);

static pawl_code on_tick(pawl_context *ctx, const tick *message)
{
    (void)ctx, (void)message;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_tick, tick);

static const pawl_endpoint_spec office = {
    .name      = "office",
    .handlers  = PAWL_ON({.handle = PAWL_HANDLE(on_tick)}),
    .schedules = PAWL_SCHEDULES(
        {.name    = "nightly",
         .cron    = "0 3 * * *",
         .zone    = "Europe/Berlin",
         .missed  = PAWL_MISSED_SKIP,
         .message = PAWL_RECORD_OF(tick)},
        {.name = "second", .every = PAWL_SECONDS(1), .message = PAWL_RECORD_OF(tick)})};
static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "office",
                                             .endpoints = PAWL_ENDPOINTS(&office)};
PAWL_EXPORT_APPLICATION(application);
