/* diagnose.c - the diagnosis of a PostgreSQL store: runs the checks of the server
 * (store/sql/dialects/postgres_diagnose.c), and checks the connection: pooler and NOTIFY.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/diagnose.h"
#include "store/core/wait.h"
#include "store/postgres/operations.h"
#include "store/postgres/wire.h"
#include "store/sql/dialects/families.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* ---- The connection ----------------------------------------------------- */

static pawl_code check_pooler(pawl__sql_doctor *doctor)
{
    const pawl__pg *store = pawl__pg_of(doctor->store);
    if (!store->is_pooled)
        return pawl__sql_findf(doctor, "pooler", PAWL_FINDING_OK, "",
                               "a session of the server is this connection's own");
    return pawl__sql_findf(
        doctor, "pooler", PAWL_FINDING_WARN, "",
        "a pooler is between: workers live by heartbeats, not by session locks, "
        "and poll instead of being notified, also where it lends whole sessions");
}

/* Waits until a NOTIFY has come. */
static bool await_notify(pawl__pg_connection *connection, int64_t limit_ms)
{
    int64_t begun = pawl__clock_ms();
    for (;;) {
        PGnotify *notify = PQnotifies(connection->pg);
        int64_t   rest   = begun + limit_ms - pawl__clock_ms();
        if (notify != NULL) {
            PQfreemem(notify);
            return true;
        }
        struct pollfd fd = {.fd = PQsocket(connection->pg), .events = POLLIN};
        if (rest <= 0 || poll(&fd, 1, (int)rest) <= 0 || PQconsumeInput(connection->pg) == 0)
            return false;
    }
}

#define NOTIFY_MS 2000

/* Calls pg_notify, as commits do: a role may lack the right to call it. */
static pawl_code notify_ourselves(pawl__pg *store, pawl_error *why)
{
    char text[80];
    (void)snprintf(text, sizeof text, "select pg_notify('pawl_doctor_%d', '')", store->backend_pid);
    return pawl__pg_execute(&store->main, text, why);
}

/* Sends a NOTIFY to this session. The server passes it through its queue like any other. */
static pawl_code check_notify(pawl__sql_doctor *doctor)
{
    pawl__pg  *store = pawl__pg_of(doctor->store);
    pawl_error why   = PAWL_ERROR_INIT;
    if (store->is_pooled)
        return pawl__sql_findf(doctor, "notify", PAWL_FINDING_OK, "",
                               "not used through a pooler: workers poll");
    char    texts[2][60];
    int64_t begun = pawl__clock_ms();
    (void)snprintf(texts[0], sizeof texts[0], "listen pawl_doctor_%d", store->backend_pid);
    (void)snprintf(texts[1], sizeof texts[1], "unlisten pawl_doctor_%d", store->backend_pid);
    pawl_code code = pawl__pg_execute(&store->main, texts[0], &why);
    if (code == PAWL_OK)
        code = notify_ourselves(store, &why);
    /* A standby refuses LISTEN on a working connection. */
    if (code == PAWL_EUNREACHABLE && !store->main.is_lost)
        return pawl__sql_findf(doctor, "notify", PAWL_FINDING_OK, "",
                               "not used on a server that can only be read");
    bool has_come = code == PAWL_OK && await_notify(&store->main, NOTIFY_MS);
    if (code == PAWL_OK)
        code = pawl__pg_execute(&store->main, texts[1], &why);
    if (pawl__sql_is_gone(code))
        return pawl_error_set(doctor->error, code, "%s", why.text);
    if (code != PAWL_OK)
        return pawl__sql_findf(doctor, "notify", PAWL_FINDING_FAIL,
                               code == PAWL_EDENIED
                                   ? "grant execute on function pg_notify(text, text) to public"
                                   : "select pg_notification_queue_usage()",
                               "the server refuses LISTEN or NOTIFY: %s", why.text);
    if (!has_come)
        return pawl__sql_findf(doctor, "notify", PAWL_FINDING_FAIL,
                               "select pg_notification_queue_usage()",
                               "a NOTIFY did not come back within %d ms", NOTIFY_MS);
    return pawl__sql_findf(doctor, "notify", PAWL_FINDING_OK, "",
                           "LISTEN and a NOTIFY took %lld ms",
                           (long long)(pawl__clock_ms() - begun));
}

/* ---- The diagnosis ------------------------------------------------------ */

static pawl_code ask(pawl_store *base, const char *text, pawl_arena *arena, pawl_found *rows,
                     pawl_error *error)
{
    pawl__pg_request request;
    pawl_code        code = pawl__pg_run_once(&request, &pawl__pg_of(base)->main, text, error);
    request.arena         = arena;
    return code == PAWL_OK
               ? pawl__pg_take_all(&request, &pawl__sql_found_row, sizeof(pawl__sql_found), rows)
               : code;
}

/* The psql command for remedies, without a user: a remedy often needs more rights than this user has. */
static void name_client(const pawl__pg *store, pawl__sql_text *client)
{
    const PGconn *pg = store->main.pg;
    pawl__sql_append(client, "psql");
    pawl__sql_append_option(client, " -h ", pawl_text_of(PQhost(pg)));
    pawl__sql_appendf(client, " -p %.10s", PQport(pg) != NULL ? PQport(pg) : "5432");
    pawl__sql_append_option(client, " -d ", pawl_text_of(PQdb(pg)));
    pawl__sql_append(client, " -c");
}

pawl_code pawl__pg_diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                            pawl_finding_rows *rows, pawl_error *error)
{
    pawl__pg      *store  = pawl__pg_of(base);
    pawl__sql_text client = {0};
    name_client(store, &client);
    if (client.is_failed) {
        pawl__sql_text_free(&client);
        return pawl__sql_no_memory(base, "a check", error);
    }
    pawl__sql_doctor doctor = {.store   = base,
                               .dialect = &store->main.dialect,
                               .asked   = asked,
                               .ask     = ask,
                               .client  = client.data,
                               .arena   = arena,
                               .rows    = rows,
                               .error   = error};
    pawl_code        code   = pawl__sql_check_all(&doctor, &pawl__pg_checks);
    if (code == PAWL_OK && !asked->is_brief)
        code = check_pooler(&doctor);
    if (code == PAWL_OK && !asked->is_brief)
        code = check_notify(&doctor);
    pawl__sql_text_free(&client);
    return code;
}
