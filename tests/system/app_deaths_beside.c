/* app_deaths_beside.c - an application whose timeouts and flushes take their process with them, for the
 * tests of deaths.
 *
 *     park {n, kills}      begins a saga of the endpoint "left" whose timeout, at once, aborts the process
 *                          when kills is 1; else a message goes to the queue "finished"
 *     crate {n, colour}    collected by colour, three at a time; a flush of "red" aborts while the file
 *                          of PAWL_TEST_RED is there; else a message goes to the queue "packed"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARK(F)                   \
    F(INT64, n, .required = true) \
    F(INT64, kills)
PAWL_RECORD(park, PARK);
#define CRATE(F)                  \
    F(INT64, n, .required = true) \
    F(TEXT, colour)
PAWL_RECORD(crate, CRATE);
#define DONE(F) F(INT64, n)
PAWL_RECORD(done, DONE);

static pawl_code on_park(pawl_context *ctx, park *state, const park *message)
{
    *state = *message;
    return pawl_timeout(ctx, "late", 0);
}
PAWL_HANDLER(on_park, park, park);

static pawl_code on_late(pawl_context *ctx, park *state)
{
    if (state->kills == 1)
        abort();
    pawl_complete(ctx);
    return pawl_send(ctx, "finished", PAWL_MESSAGE(done, .n = state->n));
}
PAWL_TIMEOUT_HANDLER(on_late, park);

static const pawl_saga parks = {
    .name        = "Park",
    .state       = PAWL_RECORD_OF(park),
    .correlation = "n",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_park), .key = "n", .starts = true},
                           {.handle = PAWL_HANDLE(on_late), .timeout = "late"})};

static pawl_code on_crates(pawl_context *ctx, const crate *crates, size_t count)
{
    const char *red = getenv("PAWL_TEST_RED");
    if (pawl_text_equal(crates[0].colour, PAWL_TEXT("red")) && red != NULL &&
        access(red, F_OK) == 0)
        abort();
    return pawl_send(ctx, "packed", PAWL_MESSAGE(done, .n = (int64_t)count));
}
PAWL_BATCH_HANDLER(on_crates, crate);

static const pawl_aggregator packer = {
    .name = "crates", .handle = PAWL_HANDLE(on_crates), .key = "colour", .size = 3, .max = 3};

static const pawl_endpoint_spec left = {
    .name = "left", .sagas = PAWL_SAGAS(&parks), .aggregators = PAWL_AGGREGATORS(&packer)};

static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "deaths",
                                             .endpoints = PAWL_ENDPOINTS(&left)};

PAWL_EXPORT_APPLICATION(application);
