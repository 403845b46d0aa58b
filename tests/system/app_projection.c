/* app_projection.c - an entity whose events are projected, for the tests of `pawl projection`: the
 * projection "names" fails while the file of PAWL_TEST_CLOSED is there, "all" never does, and adds a
 * line to the file of PAWL_TEST_SEEN for each event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>
#include <pawl/process.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PUT(F)   \
    F(TEXT, box) \
    F(INT32, number)
PAWL_RECORD(put, PUT);
#define NOTED(F) F(INT32, number)
PAWL_RECORD(noted, NOTED);
#define BOX(F) F(INT32, count)
PAWL_RECORD(box, BOX);

static pawl_code on_put(pawl_context *ctx, const box *state, const put *command)
{
    (void)state;
    return pawl_emit(ctx, PAWL_MESSAGE(noted, .number = command->number));
}
PAWL_ENTITY_HANDLER(on_put, box, put);

static void apply_noted(box *state, const noted *event)
{
    (void)event;
    state->count++;
}
PAWL_APPLY(apply_noted, box, noted);

static pawl_code on_noted(pawl_context *ctx, const noted *event)
{
    const char *closed = getenv("PAWL_TEST_CLOSED");
    if (closed != NULL && access(closed, F_OK) == 0)
        return pawl_fail(ctx, PAWL_EPERSIST, "the bank is closed for number %d", event->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_noted, noted);

static pawl_code on_any(pawl_context *ctx, const noted *event)
{
    const char *seen = getenv("PAWL_TEST_SEEN");
    FILE       *file = seen != NULL ? fopen(seen, "a") : NULL;
    (void)ctx;
    if (file != NULL) {
        fprintf(file, "%d\n", event->number);
        fclose(file);
    }
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_any, noted);

static const pawl_entity box_entity = {.name  = "Box",
                                       .state = PAWL_RECORD_OF(box),
                                       .on = PAWL_ON({.handle = PAWL_HANDLE(on_put), .key = "box"}),
                                       .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_noted))};

static const pawl_projection names = {.name = "names",
                                      .on   = PAWL_ON({.handle = PAWL_HANDLE(on_noted)})};
static const pawl_projection all = {.name = "all", .on = PAWL_ON({.handle = PAWL_HANDLE(on_any)})};

static const pawl_endpoint_spec boxes = {.name        = "boxes",
                                         .entities    = PAWL_ENTITIES(&box_entity),
                                         .projections = PAWL_PROJECTIONS(&names, &all)};

static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "projection",
                                             .endpoints = PAWL_ENDPOINTS(&boxes)};

PAWL_EXPORT_APPLICATION(application);
