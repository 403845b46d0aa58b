/* server_suite.c - each case gets tables of its own, dropped behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"

#include "contract/suite_main.h"
#include "support/required.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SKIPPED 77

static time_t begun;

/* Schemas of a killed run stay on the server, and process numbers come again. */
static void fresh(const suite_ground *ground, unsigned number, suite_address *address)
{
    snprintf(address->url, sizeof address->url, "%s", (const char *)ground->context);
    snprintf(address->prefix, sizeof address->prefix, "c%05d%06x_%u_", (int)(getpid() % 100000),
             (unsigned)begun & 0xffffff, number);
}

static void ignore(pawl_text line, void *context)
{
    (void)line;
    (void)context;
}

static pawl_code make(const suite_ground *ground, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error)
{
    (void)ground;
    return pawl_store_schema(address->url, PAWL_SCHEMA_APPLY, spec, ignore, NULL, error);
}

static pawl_code drop(const suite_ground *ground, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error)
{
    (void)ground;
    return pawl_store_schema(address->url, PAWL_SCHEMA_DROP, spec, ignore, NULL, error);
}

static int skip(const char *variable, const char *server)
{
    printf("skipped: %s names no server\n", variable);
    return server_may_be_missing(server) ? SKIPPED : 1;
}

int server_suite_main(const char *variable, const char *server, int argument_count,
                      char **arguments)
{
    char *url = getenv(variable);
    if (url == NULL || url[0] == '\0')
        return skip(variable, server);
    begun                     = time(NULL);
    const suite_ground ground = {
        .name = server, .context = url, .fresh = fresh, .make = make, .drop = drop};
    return suite_main(&ground, argument_count, arguments);
}
