/* server_suite.c - each case gets empty tables. Where a client of the server is at hand the cases share them, and they
 * are emptied behind each; else, and behind a case that leaves a locked row, they are dropped, and the next case makes
 * its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/server_suite.h"

#include "contract/server_empty.h"
#include "contract/suite_main.h"
#include "support/fault_strides.h"
#include "support/required.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SKIPPED 77

static time_t begun;

/* The tables that the next case finds. */
static struct {
    bool          is_there;
    suite_address address;
} kept;

/* Schemas of a killed run stay on the server, and process numbers come again. */
static void fresh(const suite_fixture *fixture, unsigned number, suite_address *address)
{
    if (kept.is_there) {
        *address = kept.address;
        return;
    }
    snprintf(address->url, sizeof address->url, "%s", (const char *)fixture->context);
    snprintf(address->prefix, sizeof address->prefix, "c%05d%06x_%u_", (int)(getpid() % 100000),
             (unsigned)begun & 0xffffff, number);
}

static void ignore(pawl_text line, void *context)
{
}

static pawl_code make(const suite_fixture *fixture, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error)
{
    if (kept.is_there)
        return PAWL_OK;
    pawl_code code = pawl_store_schema(address->url, PAWL_SCHEMA_APPLY, spec, ignore, NULL, error);
    kept.is_there  = code == PAWL_OK && server_can_empty(address->url);
    kept.address   = *address;
    return code;
}

/* A case may have a second set of tables, which nobody keeps. */
static pawl_code drop(const suite_fixture *fixture, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error)
{
    if (kept.is_there && strcmp(address->prefix, kept.address.prefix) == 0) {
        if (server_empty(address->url, address->prefix))
            return PAWL_OK;
        kept.is_there = false;
    }
    return pawl_store_schema(address->url, PAWL_SCHEMA_DROP, spec, ignore, NULL, error);
}

/* Behind the last case. */
static int drop_kept(void)
{
    suite_tables tables;
    pawl_error   error = PAWL_ERROR_INIT;
    if (!kept.is_there)
        return 0;
    suite_tables_make(&tables, &kept.address);
    kept.is_there = false;
    if (drop(NULL, &kept.address, &tables.spec, &error) == PAWL_OK)
        return 0;
    printf("dropping the tables: %s\n", error.text);
    return 1;
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
    begun                       = time(NULL);
    const suite_fixture fixture = {
        .name    = server,
        .context = url,
        .rounds  = strcmp(server, "mongodb") == 0 && !is_long_run() ? 10 : 0, /* slow there */
        .fresh   = fresh,
        .make    = make,
        .drop    = drop};
    int result = suite_main(&fixture, argument_count, arguments);
    return drop_kept() == 0 ? result : 1;
}
