/* app_idle.c - an application whose sagas may stand still, for the tests of what says so.
 *
 *     begin {trip, driver}    begins Trip, with a timeout "late" in an hour
 *     leg {of.trip, km}       adds to it
 *     halt {trip}             cancels the timeout
 *     report {text}           is not a saga's, and may be of its conversation
 *     nap {n}                 lasts while the file $PAWL_TEST_CLOSED is there
 *     bite {n}                takes its process with it
 *
 * A leg of less than 0 km is rejected. With NEWER the state has version 2, in which km is called way.
 *
 * The timeout is rejected while the file $PAWL_TEST_FAILS is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <stdlib.h>
#include <unistd.h>

#ifdef NEWER
#define KM way
#define STATE_VERSION 2
#else
#define KM km
#define STATE_VERSION 1
#endif
#define TRIP(F)    \
    F(INT64, trip) \
    F(INT64, KM)
PAWL_RECORD_WITH(trip_state, TRIP, .version = STATE_VERSION);
#define DRIVER(F) F(TEXT, name)
PAWL_RECORD(driver_name, DRIVER);
#define BEGIN(F)   \
    F(INT64, trip) \
    F(RECORD, driver, driver_name)
PAWL_RECORD(begin, BEGIN);
#define TRIP_KEY(F) F(INT64, trip)
PAWL_RECORD(trip_key, TRIP_KEY);
PAWL_RECORD(halt, TRIP_KEY);
#define LEG(F)              \
    F(RECORD, of, trip_key) \
    F(INT64, km)
PAWL_RECORD(leg, LEG);
#define REPORT(F) F(TEXT, text)
PAWL_RECORD(report, REPORT);

static pawl_code on_begin(pawl_context *ctx, trip_state *trip, const begin *message)
{
    (void)trip, (void)message;
    return pawl_timeout(ctx, "late", PAWL_HOURS(1));
}
PAWL_HANDLER(on_begin, trip_state, begin);

static pawl_code on_leg(pawl_context *ctx, trip_state *trip, const leg *message)
{
    if (message->km < 0)
        return pawl_fail(ctx, PAWL_REJECT, "a way of %d km", (int)message->km);
    trip->KM += message->km;
    return PAWL_OK;
}
PAWL_HANDLER(on_leg, trip_state, leg);

static pawl_code on_halt(pawl_context *ctx, trip_state *trip, const halt *message)
{
    (void)trip, (void)message;
    return pawl_cancel_timeout(ctx, "late");
}
PAWL_HANDLER(on_halt, trip_state, halt);

static pawl_code on_late(pawl_context *ctx, trip_state *trip)
{
    const char *fails = getenv("PAWL_TEST_FAILS");
    trip->KM++;
    return fails != NULL && access(fails, F_OK) == 0 ? pawl_fail(ctx, PAWL_REJECT, "the file fails")
                                                     : PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_late, trip_state);

static pawl_code on_report(pawl_context *ctx, const report *message)
{
    (void)ctx, (void)message;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_report, report);

#define NAP(F) F(INT64, n)
PAWL_RECORD(nap, NAP);
#define BITE(F) F(INT64, n)
PAWL_RECORD(bite, BITE);

static pawl_code on_nap(pawl_context *ctx, const nap *message)
{
    (void)ctx, (void)message;
    while (access(getenv("PAWL_TEST_CLOSED"), F_OK) == 0)
        usleep(10000);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_nap, nap);

static pawl_code on_bite(pawl_context *ctx, const bite *message)
{
    (void)ctx, (void)message;
    abort();
}
PAWL_MESSAGE_HANDLER(on_bite, bite);

static const pawl_saga trip_saga = {
    .name        = "Trip",
    .state       = PAWL_RECORD_OF(trip_state),
    .correlation = "trip",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_begin), .key = "trip", .starts = true},
                           {.handle = PAWL_HANDLE(on_leg), .key = "of.trip"},
                           {.handle = PAWL_HANDLE(on_halt), .key = "trip"},
                           {.handle = PAWL_HANDLE(on_late), .timeout = "late"}),
    .idle_after  = PAWL_HOURS(1)};
static const pawl_endpoint_spec trips       = {.name     = "trips",
                                               .sagas    = PAWL_SAGAS(&trip_saga),
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_report)},
                                                                   {.handle = PAWL_HANDLE(on_nap)},
                                                                   {.handle = PAWL_HANDLE(on_bite)})};
static const pawl_application   application = {PAWL_APPLICATION_HEAD, .name = "idle",
                                               .endpoints = PAWL_ENDPOINTS(&trips)};

PAWL_EXPORT_APPLICATION(application);
