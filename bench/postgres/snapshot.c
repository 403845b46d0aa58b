/* snapshot.c - a snapshot held open on PostgreSQL, on a connection of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit_postgres.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "pawl/limits.h"

struct pawl__bench_snapshot {
    PGconn *connection;
};

static bool is_own(const char *parameter)
{
    static const char *const names[] = {"create=", "pooler=", "schema="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(parameter, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Without the parameters that are pawl's and not the database's. */
static void strip(const char *url, char stripped[PAWL_URL_SIZE_MAX + 1])
{
    const char *parameters = strrchr(url, '?'); /* a password may hold one, too */
    size_t      used       = parameters != NULL ? (size_t)(parameters - url) : strlen(url);
    char        separator  = '?';
    memcpy(stripped, url, used);
    for (const char *from = url + used; *from != '\0';) {
        size_t size = strcspn(++from, "&");
        if (size > 0 && !is_own(from)) {
            stripped[used++] = separator;
            memcpy(stripped + used, from, size);
            used += size;
            separator = '&';
        }
        from += size;
    }
    stripped[used] = '\0';
}

static pawl_code run(PGconn *connection, const char *statement, pawl_error *error)
{
    PGresult      *result = PQexec(connection, statement);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ELOST, "the snapshot: %s: %s", statement,
                          PQerrorMessage(connection));
}

pawl_code pawl__bench_postgres_hold(const char *url, pawl__bench_snapshot **leased,
                                    pawl_error *error)
{
    static const char *const statements[] = {"begin isolation level repeatable read read only",
                                             "set local idle_in_transaction_session_timeout = 0",
                                             "select 1"};
    char                     stripped[PAWL_URL_SIZE_MAX + 1];
    *leased                    = NULL;
    pawl__bench_snapshot *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a snapshot");
    strip(url, stripped);
    made->connection = PQconnectdb(stripped);
    pawl_code code   = PAWL_OK;
    if (PQstatus(made->connection) != CONNECTION_OK)
        code = pawl_error_set(error, PAWL_EUNREACHABLE, "the snapshot's connection: %s",
                              PQerrorMessage(made->connection));
    for (size_t i = 0; code == PAWL_OK && i < sizeof statements / sizeof statements[0]; i++)
        code = run(made->connection, statements[i], error);
    if (code == PAWL_OK)
        *leased = made;
    else
        (void)pawl__bench_postgres_release(made, NULL);
    return code;
}

pawl_code pawl__bench_postgres_release(pawl__bench_snapshot *leased, pawl_error *error)
{
    pawl_code code = run(leased->connection, "commit", error);
    PQfinish(leased->connection);
    pawl_free(leased);
    return code;
}
