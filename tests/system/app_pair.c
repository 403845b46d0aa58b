/* app_pair.c - an application of two endpoints, for the tests of the command.
 *
 *     ping {n}      handled by "left", sends pong {n} to "right"
 *     pong {n}      handled by "right", sends finished {n} to "finished"
 *     stubborn {}   handled by "left": makes the file $PAWL_TEST_BUSY and goes
 *                   on until that is removed, whoever wants it to stop
 *
 * -DWRONG_ABI=n claims another ABI; -DNO_EXPORT exports nothing; -DDATA_EXPORT the
 * application itself where a function belongs; -DSMALL=name says that rows of that name
 * have one byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WRONG_ABI
#undef PAWL_ABI
#define PAWL_ABI WRONG_ABI
#endif

#define NUMBER(F) F(INT64, n)
PAWL_RECORD(ping, NUMBER);
PAWL_RECORD(pong, NUMBER);
PAWL_RECORD(finished, NUMBER);
#define NOTHING(F) F(OPT_BOOL, unused)
PAWL_RECORD(stubborn, NOTHING);

static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    return pawl_send(ctx, "right", PAWL_MESSAGE(pong, .n = message->n));
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

static pawl_code on_pong(pawl_context *ctx, const pong *message)
{
    return pawl_send(ctx, "finished", PAWL_MESSAGE(finished, .n = message->n));
}
PAWL_MESSAGE_HANDLER(on_pong, pong);

static pawl_code on_stubborn(pawl_context *ctx, const stubborn *message)
{
    const char *path = getenv("PAWL_TEST_BUSY");
    (void)message;
    if (path == NULL)
        return pawl_fail(ctx, PAWL_REJECT, "PAWL_TEST_BUSY is not set");
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return pawl_fail(ctx, PAWL_REJECT, "cannot make %s", path);
    fclose(file);
    for (int i = 0; i < 2000 && access(path, F_OK) == 0; i++)
        usleep(20000);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_stubborn, stubborn);

static const pawl_endpoint_spec left = {
    .name     = "left",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ping)}, {.handle = PAWL_HANDLE(on_stubborn)})};

static const pawl_endpoint_spec right = {.name     = "right",
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_pong)})};

#ifdef DATA_EXPORT
PAWL_API extern const pawl_application pawl_application_export;
const pawl_application pawl_application_export = {PAWL_APPLICATION_HEAD, .name = "pair",
                                                  .endpoints = PAWL_ENDPOINTS(&left, &right)};
#elif defined          SMALL
static pawl_application          pair = {PAWL_APPLICATION_HEAD, .name = "pair",
                                         .endpoints = PAWL_ENDPOINTS(&left, &right)};
PAWL_API const pawl_application *pawl_application_export(void);
const pawl_application          *pawl_application_export(void)
{
    pair.SMALL = 1;
    return &pair;
}
#elif !defined         NO_EXPORT
static const pawl_application pair = {PAWL_APPLICATION_HEAD, .name = "pair",
                                      .endpoints = PAWL_ENDPOINTS(&left, &right),
                                      .version   = "1.2-rc1"};
PAWL_EXPORT_APPLICATION(pair);
#else
const pawl_endpoint_spec *const pair_endpoints[] = {&left, &right};
#endif
