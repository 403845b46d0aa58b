/* app_options.c - an application whose endpoint's table has defaults, for command_options.sh.
 *
 *     job {n}   handled by "works"; fails when n is negative, is unreachable when it is 0, else sends job
 *               to "audit"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#define JOB(F) F(INT64, n)
PAWL_RECORD(job, JOB);

static pawl_code on_job(pawl_context *ctx, const job *message)
{
    if (message->n < 0)
        return PAWL_RETRY;
    if (message->n == 0)
        return PAWL_EUNREACHABLE;
    return pawl_send(ctx, "audit", PAWL_MESSAGE(job, .n = message->n));
}
PAWL_MESSAGE_HANDLER(on_job, job);

static const pawl_endpoint_spec works = {
    .name     = "works",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_job)}),
    .options =
        PAWL_OPTIONS(.immediate_retries = 1, .delayed_retries = -1, .retry_delay = PAWL_SECONDS(45),
                     .deadline = PAWL_SECONDS(20),
                     .recovery = PAWL_RECOVERY({.code = PAWL_EINVAL, .then = PAWL_THEN_DISCARD},
                                               {.code      = PAWL_EFULL,
                                                .type      = "job",
                                                .immediate = -1,
                                                .delayed   = 7,
                                                .delay     = PAWL_SECONDS(90),
                                                .delay_max = PAWL_HOURS(2)}),
                     .routes   = PAWL_ROUTES({.name = "audit", .is_outbox = true},
                                             {.name = "copy", .queue = "copies"}))};
static const pawl_endpoint_spec rests = {.name     = "rests",
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_job)})};
static const pawl_application   both  = {PAWL_APPLICATION_HEAD, .name = "both",
                                         .endpoints = PAWL_ENDPOINTS(&works, &rests)};
PAWL_EXPORT_APPLICATION(both);
