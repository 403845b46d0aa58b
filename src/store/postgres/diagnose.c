/* diagnose.c - the look at a PostgreSQL server: what holds up pawl's work, or could lose it.
 *
 * Each check is a select on the server's catalogs and settings (store/sql/diagnose.h). A handler's
 * session and pawl's own have the settings of the role and the database: those are what is looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/diagnose.h"
#include "store/postgres/operations.h"
#include "store/postgres/wire.h"
#include "store/sql/tables.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define OK_OR(condition, level) "case when " condition " then 0 else " #level " end::bigint, "
/* Either text by the same condition. */
#define SAYS(condition, right, wrong) "case when " condition " then " right " else " wrong " end, "
#define REMEDY(condition, sql) "case when " condition " then '' else " sql " end"

#define NOT_OFF(name) "current_setting('" name "') <> 'off'"
#define SETTING(name) "current_setting('" name "')"

/* A setting that must not be off. */
#define MUST_BE_ON(setting, level, why, sql)                                                      \
    {                                                                                             \
        .name = setting, .select = "select " OK_OR(NOT_OFF(setting), level)                       \
                             SAYS(NOT_OFF(setting), SETTING(setting),                             \
                                  SETTING(setting) " || '" why "'") REMEDY(NOT_OFF(setting), sql) \
    }

#define USED \
    "(select count(*) from pg_catalog.pg_stat_activity where backend_type = 'client backend')"
#define ROOM "current_setting('max_connections')::bigint"
#define IN_DATABASE "'alter database ' || quote_ident(current_database()) || "

static const pawl__sql_check checks[] = {
    {.name   = "sequences",
     .select = "select 2::bigint, format('role %s may not take numbers from %s', current_user, "
               "n.s), format('grant usage on sequence %s to %I', n.s, current_user) "
               "from (values (pg_get_serial_sequence('{queue}', 'Seq')), "
               "(pg_get_serial_sequence('{outbox}', 'Id')), "
               "(pg_get_serial_sequence('{events}', 'Seq')), "
               "(pg_get_serial_sequence('{aggregator}', 'Id'))) as n(s) "
               "where not has_sequence_privilege(n.s, 'usage')",
     .none   = "rows of all tables can be numbered"},
    {.name   = "server",
     .select = "select " OK_OR("not pg_is_in_recovery()", 2)
         SAYS("not pg_is_in_recovery()", "'PostgreSQL ' || current_setting('server_version')",
              "'this server is a standby: it takes no writes; name the primary in the URL'") "''"},
    {.name = "clock",
     .select =
         "select (extract(epoch from clock_timestamp()) * 1000000)::bigint, ''::text, ''::text",
     .measure = PAWL__SQL_MEASURE_CLOCK},
    MUST_BE_ON("synchronous_commit", 1,
               ": commits of the last moments are lost when the server crashes",
               IN_DATABASE "' set synchronous_commit = on'"),
    MUST_BE_ON("fsync", 2, ": a power cut destroys the database", "'alter system set fsync = on'"),
    MUST_BE_ON("full_page_writes", 1, ": a power cut may destroy pages of the database",
               "'alter system set full_page_writes = on'"),
    MUST_BE_ON("autovacuum", 2, ": settled rows stay, and claims walk over them",
               "'alter system set autovacuum = on'"),
    {.name = "isolation",
     .select =
         "select " OK_OR("current_setting('default_transaction_isolation') = 'read committed'", 1)
             SETTING("default_transaction_isolation") ", " REMEDY(
                 "current_setting('default_transaction_isolation') = 'read committed'",
                 IN_DATABASE "' reset default_transaction_isolation'")},
    {.name   = "read_only",
     .select = "select " OK_OR("current_setting('default_transaction_read_only') = 'off'", 2) SAYS(
         "current_setting('default_transaction_read_only') = 'off'", "'transactions may write'",
         "'default_transaction_read_only is on: every write is refused'")
         REMEDY("current_setting('default_transaction_read_only') = 'off'",
                IN_DATABASE "' set default_transaction_read_only = off'")},
    {.name   = "connections",
     .select = "select case when " USED " * 100 < " ROOM " * 80 then 0 when " USED " * 100 < " ROOM
               " * 95 then 1 else 2 end::bigint, " USED " || ' of ' || " ROOM
               " || ' connections are in use', "
               "case when " USED " * 100 < " ROOM
               " * 80 then '' else 'select application_name, usename, client_addr, count(*) "
               "from pg_stat_activity group by 1, 2, 3 order by 4 desc' end"},
    {.name    = "transactions",
     .select  = "select (extract(epoch from clock_timestamp() - a.xact_start) * 1000000)::bigint, "
                "format('a transaction of %s (user %s, process %s, %s) is open for %s: dead rows "
                "that it could see stay, and events behind it get no position', "
                "coalesce(nullif(a.application_name, ''), 'a program without a name'), a.usename, "
                "a.pid, coalesce(a.state, 'its state is hidden from this role'), "
                "date_trunc('second', clock_timestamp() - a.xact_start)), "
                "format('select pg_terminate_backend(%s)', a.pid) "
                "from pg_catalog.pg_stat_activity as a where a.xact_start is not null "
                "and a.pid <> pg_backend_pid() and a.backend_type = 'client backend' "
                "and a.datname = current_database() order by a.xact_start",
     .measure = PAWL__SQL_MEASURE_AGE,
     .none    = "none is open for long"},
    {.name    = "prepared",
     .select  = "select (extract(epoch from clock_timestamp() - x.prepared) * 1000000)::bigint, "
                "format('a prepared transaction %L of %s waits for its end since %s', x.gid, "
                "x.owner, x.prepared), format('rollback prepared %L', x.gid) "
                "from pg_catalog.pg_prepared_xacts as x where x.database = current_database() "
                "order by x.prepared",
     .measure = PAWL__SQL_MEASURE_AGE,
     .none    = "no prepared transaction waits for its end"},
    {.name   = "indexes",
     .select = "select 2::bigint, format('index %s is not valid: it was not built to its end', "
               "i.indexrelid::regclass), format('reindex index %s', i.indexrelid::regclass) "
               "from pg_catalog.pg_index as i where not i.indisvalid and i.indrelid in "
               "('{queue}'::regclass, '{inbox}'::regclass, '{outbox}'::regclass, "
               "'{events}'::regclass, '{timeouts}'::regclass, '{aggregator}'::regclass)",
     .none   = "all are valid"},
    {.name   = "leases",
     .select = "select 1::bigint, format('%s timeouts of %s are leased by nobody who lives, since "
               "%s: the next worker of the endpoint takes them', count(*), t.[Destination], "
               "min(t.[LeaseExpires])), '' from {timeouts} as t "
               "where t.[LeaseExpires] < now() - interval '1 minute' group by t.[Destination]",
     .none   = "no lease has run out"},
    {.name = "events",
     .select =
         "select 2::bigint, format('%s events have no position, the oldest of %s: projections "
         "read none behind them, and no worker gives positions', count(*), min(e.[At])), '' "
         "from {events} as e where e.[Position] is null "
         "and exists (select 1 from {checkpoints}) and not exists (select 1 from {leases} as "
         "l where l.[Name] = 'lead:sequencer' and l.[Expires] > now()) "
         "having count(*) > 0 and min(e.[At]) < now() - interval '1 minute'",
     .none = "each has its position, or gets it"},
    {.name   = "vacuum",
     .select = "select 1::bigint, format('table %s has %s dead rows beside %s that live: "
               "autovacuum does not keep up, or an old transaction keeps them', "
               "s.relid::regclass, s.n_dead_tup, s.n_live_tup), "
               "format('vacuum (analyze) %s', s.relid::regclass) "
               "from pg_catalog.pg_stat_user_tables as s where s.relid in ('{queue}'::regclass, "
               "'{outbox}'::regclass, '{timeouts}'::regclass, '{workers}'::regclass) "
               "and s.n_dead_tup > 100000 and s.n_dead_tup > s.n_live_tup * 2",
     .none   = "dead rows are few"},
};

/* ---- Rights ------------------------------------------------------------- */

static const char rights_select[] =
    " as n(t, r)), missing as (select t, string_agg(r, ', ') as r from n "
    "where not has_table_privilege(t, r) group by t) "
    "select case when count(*) = 0 then 0 else 2 end::bigint, "
    "case when count(*) = 0 then 'role ' || current_user || ' may do what a worker does' "
    "else 'role ' || current_user || ' may not do what a worker does: ' || "
    "string_agg(r || ' on ' || t, '; ' order by t) end, "
    "coalesce(string_agg(format('grant %s on %s to %I', r, t, current_user), '; ' order by t), '') "
    "from missing";

/* The version is read; of the other tables rows are read, written and removed. */
static pawl_code check_rights(pawl__sql_doctor *doctor)
{
    static const char *const verbs[] = {"select", "insert", "update", "delete"};
    pawl__sql_text           text    = {0};
    pawl__sql_append(&text, "with n as (select * from (values ('{schema}', 'select')");
    for (size_t i = 0; i < pawl__sql_table_count; i++)
        for (size_t v = 0; v < 4 && strcmp(pawl__sql_tables[i].name, "schema") != 0; v++)
            pawl__sql_appendf(&text, ", ('{%s}', '%s')", pawl__sql_tables[i].name, verbs[v]);
    pawl__sql_append(&text, ")");
    pawl__sql_append(&text, rights_select);
    pawl_code code =
        text.is_failed ? pawl__pg_no_memory(doctor->error)
                       : pawl__sql_checks(
                             doctor, &(pawl__sql_check){.name = "rights", .select = text.data}, 1);
    pawl__sql_text_free(&text);
    return code;
}

/* ---- The way between ---------------------------------------------------- */

static pawl_code check_pooler(pawl__sql_doctor *doctor)
{
    const pawl__pg *store = pawl__pg_of(doctor->store);
    if (!store->is_pooled)
        return pawl__sql_findf(doctor, "pooler", PAWL_FINDING_OK, "",
                               "a session of the server is this connection's own");
    return pawl__sql_findf(doctor, "pooler", PAWL_FINDING_WARN, "",
                           "a pooler that gives out transactions is between: workers live by "
                           "heartbeats, not by session locks, and poll instead of being notified");
}

/* Waits until a NOTIFY has come. */
static bool await_notify(pawl__pg_connection *connection, int64_t limit_ms)
{
    int64_t begun = pawl__pg_clock_ms();
    for (;;) {
        PGnotify *notify = PQnotifies(connection->pg);
        int64_t   rest   = begun + limit_ms - pawl__pg_clock_ms();
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

/* A NOTIFY to ourselves goes the way of all others: through the server's queue. */
static pawl_code check_notify(pawl__sql_doctor *doctor)
{
    pawl__pg  *store = pawl__pg_of(doctor->store);
    pawl_error why   = PAWL_ERROR_INIT;
    if (store->is_pooled)
        return pawl__sql_findf(doctor, "notify", PAWL_FINDING_OK, "",
                               "not used through a pooler: workers poll");
    char    texts[3][60];
    int64_t begun = pawl__pg_clock_ms();
    (void)snprintf(texts[0], sizeof texts[0], "listen pawl_doctor_%d", store->backend_pid);
    (void)snprintf(texts[1], sizeof texts[1], "notify pawl_doctor_%d", store->backend_pid);
    (void)snprintf(texts[2], sizeof texts[2], "unlisten pawl_doctor_%d", store->backend_pid);
    pawl_code code = pawl__pg_execute(&store->main, texts[0], &why);
    if (code == PAWL_OK)
        code = pawl__pg_execute(&store->main, texts[1], &why);
    bool has_come = code == PAWL_OK && await_notify(&store->main, NOTIFY_MS);
    if (code == PAWL_OK)
        code = pawl__pg_execute(&store->main, texts[2], &why);
    if (pawl__sql_is_gone(code))
        return pawl_error_set(doctor->error, code, "%s", why.text);
    if (code != PAWL_OK || !has_come)
        return pawl__sql_findf(doctor, "notify", PAWL_FINDING_FAIL,
                               "select pg_notification_queue_usage()",
                               "a NOTIFY did not come back within %d ms%s%s", NOTIFY_MS,
                               why.text[0] != '\0' ? ": " : "", why.text);
    return pawl__sql_findf(doctor, "notify", PAWL_FINDING_OK, "",
                           "LISTEN and a NOTIFY took %lld ms",
                           (long long)(pawl__pg_clock_ms() - begun));
}

/* ---- All of it ---------------------------------------------------------- */

static pawl_code ask(pawl_store *base, const char *text, pawl_arena *arena, pawl__sql_rows *rows,
                     pawl_error *error)
{
    pawl__pg_connection *connection = &pawl__pg_of(base)->main;
    bool                 is_named   = connection->is_named;
    pawl__pg_statement   once       = {.text = (char *)(uintptr_t)text};
    pawl__pg_request     request;
    connection->is_named = false; /* a statement that runs once needs no name */
    pawl__pg_begin_with(&request, connection, &once, error);
    pawl_code code       = pawl__pg_run(&request);
    connection->is_named = is_named;
    if (code != PAWL_OK)
        return code;
    request.arena          = arena;
    pawl__sql_found *items = pawl__pg_take_rows(&request, sizeof *items);
    rows->items            = items;
    while (items != NULL && pawl__pg_next(&request))
        pawl__pg_get_fields(&request, &pawl__sql_found_row, &items[rows->count++]);
    pawl__pg_end(&request);
    return request.code;
}

/* Without the user: a remedy is for somebody who may more than this one. */
static void name_client(const pawl__pg *store, char *client, size_t size)
{
    const PGconn *pg = store->main.pg;
    (void)snprintf(client, size, "psql -h '%.100s' -p %.10s -d '%.70s' -c",
                   PQhost(pg) != NULL ? PQhost(pg) : "", PQport(pg) != NULL ? PQport(pg) : "5432",
                   PQdb(pg));
}

pawl_code pawl__pg_diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                            pawl_finding_rows *rows, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    char      client[400];
    name_client(store, client, sizeof client);
    pawl__sql_doctor doctor = {.store   = base,
                               .dialect = &store->main.dialect,
                               .asked   = asked,
                               .ask     = ask,
                               .client  = client,
                               .arena   = arena,
                               .rows    = rows,
                               .error   = error};
    pawl_code        code   = asked->is_brief ? PAWL_OK : check_rights(&doctor);
    if (code == PAWL_OK)
        code = pawl__sql_checks(&doctor, checks, sizeof checks / sizeof checks[0]);
    if (code == PAWL_OK && !asked->is_brief)
        code = check_pooler(&doctor);
    return code == PAWL_OK && !asked->is_brief ? check_notify(&doctor) : code;
}
