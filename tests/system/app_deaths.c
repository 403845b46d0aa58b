/* app_deaths.c - an application whose handler takes its process with it, for the tests of deaths.
 *
 *     bite {n, kills, us}  handled by "left" in so many microseconds: kills of 1 abort the process, of 2 are a null
 *                          pointer, of 3, 4 and 6 end it with exit code 7, 0 and 2; 5 begin another process and
 *                          end that by SIGTERM; else, and then, a message goes to the queue "finished"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BITE(F)                   \
    F(INT64, n, .required = true) \
    F(INT64, kills)               \
    F(INT64, us)
PAWL_RECORD(bite, BITE);
#define DONE(F) F(INT64, n)
PAWL_RECORD(done, DONE);

static pawl_code end_other(pawl_context *ctx)
{
    int   status = 0;
    pid_t other  = fork();
    if (other == 0)
        alarm(60);
    while (other == 0)
        pause();
    kill(other, SIGTERM);
    waitpid(other, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM
               ? PAWL_OK
               : pawl_fail(ctx, PAWL_REJECT, "status %d", status);
}

static pawl_code on_bite(pawl_context *ctx, const bite *message)
{
    if (message->us > 0)
        usleep((useconds_t)message->us);
    if (message->kills == 1)
        abort();
    if (message->kills == 2)
        raise(SIGSEGV);
    if (message->kills == 5 && end_other(ctx) != PAWL_OK)
        return PAWL_REJECT;
    if (message->kills >= 3 && message->kills != 5)
        _exit(message->kills == 3 ? 7 : (int)message->kills - 4);
    return pawl_send(ctx, "finished", PAWL_MESSAGE(done, .n = message->n));
}
PAWL_MESSAGE_HANDLER(on_bite, bite);

static const pawl_endpoint_spec left = {.name     = "left",
                                        .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_bite)})};

static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "deaths",
                                             .endpoints = PAWL_ENDPOINTS(&left)};

PAWL_EXPORT_APPLICATION(application);
