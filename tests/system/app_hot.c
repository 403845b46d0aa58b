/* app_hot.c - an application of twelve sagas that all feed one more.
 *
 *     crumb {n, us, eater}  counted by the saga Eater of that name in so many microseconds, which sends it on to the
 *                           eater "all", and that one sends a message to the queue "finished"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <unistd.h>

#define CRUMB(F) \
    F(INT64, n)  \
    F(INT64, us) \
    F(TEXT, eater)
PAWL_RECORD(crumb, CRUMB);
#define DONE(F) F(INT64, n)
PAWL_RECORD(done, DONE);
#define EATER(F)   \
    F(TEXT, eater) \
    F(INT64, crumbs)
PAWL_RECORD(eater, EATER);

static pawl_code on_crumb(pawl_context *ctx, eater *eater, const crumb *message)
{
    if (message->us > 0)
        usleep((useconds_t)message->us);
    eater->crumbs++;
    if (pawl_text_equal(message->eater, PAWL_TEXT("all")))
        return pawl_send(ctx, "finished", PAWL_MESSAGE(done, .n = message->n));
    return pawl_send(ctx, "table", PAWL_MESSAGE(crumb, .n = message->n, .eater = PAWL_TEXT("all")));
}
PAWL_HANDLER(on_crumb, eater, crumb);

static const pawl_saga eater_saga = {
    .name        = "Eater",
    .state       = PAWL_RECORD_OF(eater),
    .correlation = "eater",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_crumb), .key = "eater", .starts = true})};

static const pawl_endpoint_spec table = {.name = "table", .sagas = PAWL_SAGAS(&eater_saga)};

static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "hot",
                                             .endpoints = PAWL_ENDPOINTS(&table)};

PAWL_EXPORT_APPLICATION(application);
