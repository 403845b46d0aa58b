/* postgres_diagnose.c - the checks of a PostgreSQL server, for all client libraries: what delays pawl's
 * work, or could lose it.
 *
 * Each check is a select on the server's catalogs and settings (store/sql/diagnose.h). It checks the
 * settings of the role and the database, which handlers' sessions and pawl's own have. A table's name in a
 * literal stands between dollars, since it may contain an apostrophe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"
#include "store/sql/tables.h"

#include <string.h>

#define OK_OR(condition, level) "case when " condition " then 0 else " #level " end::bigint, "
/* SAYS and REMEDY choose a text by the condition of the check. */
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
/* A setting of the role in this database overrides those of the role and of the database. */
#define IN_DATABASE                                       \
    "'alter role ' || quote_ident(session_user) || ' in " \
    "database ' || quote_ident(current_database()) || "

/* The sequence of a column, and the largest number in the table. */
#define NUMBERS(table, column)                                                           \
    "(pg_get_serial_sequence($pawl$" table "$pawl$, '" column "'), (select max([" column \
    "]) from " table "))"
#define ALL_NUMBERS                                                              \
    NUMBERS("{queue}", "Seq")                                                    \
    ", " NUMBERS("{outbox}", "Id") ", " NUMBERS("{events}", "Seq") ", " NUMBERS( \
        "{aggregator}", "Id") ", " NUMBERS("{history}", "Id")

static const pawl__sql_check checks[] = {
    /* After a copy by logical replication sequences are still at their start. */
    {.name = "sequences",
     .select =
         "with n(s, last) as (values " ALL_NUMBERS ") "
         "select 2::bigint, format('role %s may not take numbers from %s', current_user, "
         "n.s), format('grant usage on sequence %s to %I', n.s, current_user) "
         "from n where not has_sequence_privilege(n.s, 'usage') union all "
         "select 2::bigint, format('sequence %s is behind number %s of its table: new rows are refused', "
         "n.s, n.last), format('select setval(%L, %s)', n.s, n.last) from n where n.last > "
         "case when has_sequence_privilege(n.s, 'usage') "
         "then coalesce(pg_sequence_last_value(n.s::regclass), 0) end",
     .none = "rows of all tables can be numbered"},
    {.name   = "server",
     .select = "select " OK_OR("not pg_is_in_recovery()", 2) SAYS(
         "not pg_is_in_recovery()", "'PostgreSQL ' || current_setting('server_version')",
         "'this server is a standby: it takes no writes, and does not know which workers live; name the primary in the URL'") "''"},
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
    MUST_BE_ON("autovacuum", 2, ": settled rows stay, and claims scan over them",
               "'alter system set autovacuum = on'"),
    {.name = "isolation",
     .select =
         "select " OK_OR("current_setting('default_transaction_isolation') = 'read committed'", 1)
             SETTING("default_transaction_isolation") ", " REMEDY(
                 "current_setting('default_transaction_isolation') = 'read committed'",
                 IN_DATABASE "' set default_transaction_isolation = ''read committed'''")},
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
    {.name = "transactions",
     .select =
         "select (extract(epoch from clock_timestamp() - a.xact_start) * 1000000)::bigint, "
         "case when w.[Id] is not null then format('worker %s (process %s on %s) has run a "
         "handler for %s: the log of the process names it; if it hangs, end the process', "
         "w.[Id], w.[Pid], w.[Host], date_trunc('second', clock_timestamp() - "
         "a.xact_start)) else format('a transaction of %s (user %s, process %s, %s) is open for %s: dead rows "
         "that it could see stay, and claims have to read past them', "
         "coalesce(nullif(a.application_name, ''), 'a program without a name'), a.usename, "
         "a.pid, coalesce(a.state, 'its state is hidden from this role'), "
         "date_trunc('second', clock_timestamp() - a.xact_start)) end, case when w.[Id] is not "
         "null then '' else format('select pg_terminate_backend(%s)', a.pid) end "
         "from pg_catalog.pg_stat_activity as a left join {workers} as w on w.[Process] in "
         "(select l.classid::bigint << 32 | l.objid::bigint from pg_catalog.pg_locks as l "
         "where l.locktype = 'advisory' and l.objsubid = 1 and l.granted "
         "and l.pid = a.pid) where a.xact_start is not null "
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
    {.name = "indexes",
     .select =
         "select 2::bigint, format('index %s is not valid: it was not built to its end', "
         "i.indexrelid::regclass), format('reindex index %s', i.indexrelid::regclass) "
         "from pg_catalog.pg_index as i where not i.indisvalid and i.indrelid in "
         "($pawl${queue}$pawl$::regclass, $pawl${inbox}$pawl$::regclass, $pawl${outbox}$pawl$::regclass, "
         "$pawl${events}$pawl$::regclass, $pawl${timeouts}$pawl$::regclass, $pawl${aggregator}$pawl$::regclass)",
     .none = "all are valid"},
    {.name = "leases",
     .select =
         "select 1::bigint, format('%s timeouts of %s are leased by nobody who lives, since "
         "%s: the next worker of the endpoint takes them', count(*), t.[Destination], "
         "min(t.[LeaseExpires])), '' from (select [Destination], [LeaseExpires] from {timeouts} "
         "where [LeaseExpires] < now() - interval '1 minute' offset 0) as t "
         "group by t.[Destination]",
     .none = "no lease has run out"},
    {.name = "events",
     .select =
         "select 2::bigint, format('%s events have no global position, the oldest of %s: projections "
         "read none behind them, and no worker assigns them', count(*), min(e.[At])), '' "
         "from {events} as e where e.[Position] is null "
         "and exists (select 1 from {checkpoints} where [Name] like 'projection/%') "
         "and not exists (select 1 from {leases} as l where l.[Name] = 'lead:sequencer' "
         "and l.[Expires] > now()) "
         "having count(*) > 0 and min(e.[At]) < now() - interval '1 minute'",
     .none = "each has its global position, or gets it"},
    {.name = "vacuum",
     .select =
         "select 1::bigint, format('table %s has %s dead rows beside %s that live: "
         "autovacuum does not keep up, or an old transaction keeps them', "
         "s.relid::regclass, s.n_dead_tup, s.n_live_tup), "
         "format('vacuum (analyze) %s', s.relid::regclass) "
         "from pg_catalog.pg_stat_user_tables as s where s.relid in ($pawl${queue}$pawl$::regclass, "
         "$pawl${outbox}$pawl$::regclass, $pawl${timeouts}$pawl$::regclass, $pawl${workers}$pawl$::regclass) "
         "and s.n_dead_tup > 100000 and s.n_dead_tup > s.n_live_tup * 2",
     .none = "dead rows are few"},
};

/* ---- Rights ------------------------------------------------------------- */

static const char rights_select[] =
    ", missing as (select t, string_agg(r, ', ') as r from n "
    "where not has_table_privilege(t, r) group by t) "
    "select case when count(*) = 0 then 0 else 2 end::bigint, "
    "case when count(*) = 0 then 'role ' || current_user || ' may do what a worker does' "
    "else 'role ' || current_user || ' may not do what a worker does: ' || "
    "string_agg(r || ' on ' || t, '; ' order by t) end, "
    "coalesce(string_agg(format('grant %s on %s to %I', r, t, current_user), '; ' order by t), '') "
    "from missing";

/* Without a policy for all rows, rows are hidden without an error. */
static const char row_security_select[] =
    " select 1::bigint, format('row level security is active on %s for role %s: rows that its policies do not allow "
    "are not seen, and no error says so', n.t, current_user), "
    "format('create policy pawl on %s to %I using (true)', n.t, current_user) from n "
    "where n.r = 'select' and row_security_active(n.t) and not exists "
    "(select from pg_catalog.pg_policy as p where p.polrelid = n.t::regclass and p.polcmd = '*' "
    "and (0 = any (p.polroles) or quote_ident(current_user)::regrole::oid = any (p.polroles)) "
    "and pg_get_expr(p.polqual, p.polrelid) = 'true') order by n.t";

/* Checks the rights on all tables: the version is read; rows of other tables are read, written and deleted. */
static pawl_code check_tables(pawl__sql_doctor *doctor, pawl__sql_check check)
{
    static const char *const verbs[] = {"select", "insert", "update", "delete"};
    pawl__sql_text           text    = {0};
    pawl__sql_append(&text, "with n as (select * from (values ($pawl${schema}$pawl$, 'select')");
    for (size_t i = 0; i < pawl__sql_table_count; i++)
        for (size_t v = 0; v < 4 && strcmp(pawl__sql_tables[i].name, "schema") != 0; v++)
            pawl__sql_appendf(&text, ", ($pawl${%s}$pawl$, '%s')", pawl__sql_tables[i].name,
                              verbs[v]);
    pawl__sql_append(&text, ") as n(t, r))");
    pawl__sql_append(&text, check.select);
    check.select   = text.data;
    pawl_code code = text.is_failed ? pawl__sql_no_memory(doctor->store, "a check", doctor->error)
                                    : pawl__sql_checks(doctor, &check, 1);
    pawl__sql_text_free(&text);
    return code;
}

static pawl_code check_rights(pawl__sql_doctor *doctor)
{
    pawl_code code =
        check_tables(doctor, (pawl__sql_check){.name = "rights", .select = rights_select});
    return code != PAWL_OK
               ? code
               : check_tables(doctor, (pawl__sql_check){.name   = "row_security",
                                                        .select = row_security_select,
                                                        .none = "it hides no row from this role"});
}

const pawl__sql_check_list pawl__pg_checks = {checks, sizeof checks / sizeof checks[0],
                                              check_rights};
