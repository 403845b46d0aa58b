/* server_mongodb.c - stores on MongoDB: each is a database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/mongodb.h"
#include "support/server.h"
#include "support/world.h"

#define PREFIX "pawl_"

static void describe(const char *server, const char *name, char *text, size_t size)
{
    char url[500];
    mongodb_url(server, name, url, sizeof url);
    if (!mongodb_describe(url, PREFIX, text, size))
        fail_msg("%s cannot be described", name);
}

static void empty(const char *server, const char *name)
{
    char url[500];
    mongodb_url(server, name, url, sizeof url);
    if (!mongodb_empty(url, PREFIX, true))
        fail_msg("%s cannot be emptied", name);
}

static bool drop(const char *server, const char *name)
{
    char url[500];
    mongodb_url(server, name, url, sizeof url);
    return mongodb_drop(url);
}

/* ---- There is no SQL -------------------------------------------------------- */

static void *connect_to(const char *server, const char *name)
{
    fail_msg("%s: %s has no SQL", server, name);
    return NULL;
}

static void disconnect(void *native)
{
}

static bool try(void *native, const char *sql, char *text, size_t size)
{
    snprintf(text, size, "%s: MongoDB has no SQL", sql);
    return false;
}

const server_ops server_mongodb_ops = {.url        = mongodb_url,
                                       .describe   = describe,
                                       .empty      = empty,
                                       .drop       = drop,
                                       .connect    = connect_to,
                                       .disconnect = disconnect,
                                       .try        = try};
