/* app_dead.c - an application whose messages can die, for the tests of `pawl dead`.
 *
 *     charge {n}    handled by "billing": a letter while the file $PAWL_TEST_CLOSED is there, tried
 *                   again while $PAWL_TEST_AWAY is, else a line with the number is added to the
 *                   file $PAWL_TEST_SEEN
 *     parcel {n}    the same
 *     note {n}      the same
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NUMBER(F) F(INT64, n, .required = true)
PAWL_RECORD(charge, NUMBER);
PAWL_RECORD(parcel, NUMBER);
PAWL_RECORD(note, NUMBER);

static pawl_code see(pawl_context *ctx, const char *what, int64_t n)
{
    const char *closed = getenv("PAWL_TEST_CLOSED"), *seen = getenv("PAWL_TEST_SEEN");
    const char *away = getenv("PAWL_TEST_AWAY");
    if (closed != NULL && access(closed, F_OK) == 0)
        return pawl_fail(ctx, PAWL_REJECT, "the bank is closed");
    if (away != NULL && access(away, F_OK) == 0)
        return pawl_fail(ctx, PAWL_EUNREACHABLE, "the bank is away");
    FILE *file = seen != NULL ? fopen(seen, "a") : NULL;
    if (file == NULL)
        return pawl_fail(ctx, PAWL_REJECT, "PAWL_TEST_SEEN cannot be written");
    fprintf(file, "%s %lld\n", what, (long long)n);
    fclose(file);
    return PAWL_OK;
}

static pawl_code on_charge(pawl_context *ctx, const charge *message)
{
    return see(ctx, "charge", message->n);
}
PAWL_MESSAGE_HANDLER(on_charge, charge);

static pawl_code on_parcel(pawl_context *ctx, const parcel *message)
{
    return see(ctx, "parcel", message->n);
}
PAWL_MESSAGE_HANDLER(on_parcel, parcel);

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    return see(ctx, "note", message->n);
}
PAWL_MESSAGE_HANDLER(on_note, note);

#ifndef ENDPOINT
#define ENDPOINT "billing"
#endif
#ifndef QUEUE
#define QUEUE NULL
#endif
static const pawl_endpoint_spec billing     = {.name     = ENDPOINT,
                                               .queue    = QUEUE, /* NULL: of the endpoint's name */
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_charge)},
                                                                   {.handle = PAWL_HANDLE(on_parcel)},
                                                                   {.handle = PAWL_HANDLE(on_note)})};
static const pawl_application   application = {PAWL_APPLICATION_HEAD, .name = "dead",
                                               .endpoints = PAWL_ENDPOINTS(&billing)};

PAWL_EXPORT_APPLICATION(application);
