/* server_postgres.c - stores on PostgreSQL: each is a schema.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/server.h"
#include "support/world.h"

static void make_url(const char *server, const char *name, char *url, size_t size)
{
    snprintf(url, size, "%s%cschema=%s", server, strchr(server, '?') != NULL ? '&' : '?', name);
}

#ifdef PAWL_HAVE_POSTGRES

#include <libpq-fe.h>

/* %1$s is the schema. */
static const char empty_schema[] =
    "do $$ declare t record; begin\n"
    "  for t in select c.relname from pg_class as c\n"
    "    where c.relnamespace = '\"%1$s\"'::regnamespace and c.relkind = 'r'\n"
    "    and c.relname not like 'pawl\\_%%' loop\n"
    "    execute format('drop table \"%1$s\".%%I cascade', t.relname);\n"
    "  end loop;\n"
    "  for t in select c.relname, c.relkind from pg_class as c\n"
    "    where c.relnamespace = '\"%1$s\"'::regnamespace and c.relkind in ('r', 'S')\n"
    "    and c.relname <> 'pawl_schema' loop\n"
    "    if t.relkind = 'r' then\n"
    "      execute format('delete from \"%1$s\".%%I', t.relname);\n"
    "    else\n"
    "      perform setval(format('\"%1$s\".%%I', t.relname)::regclass, 1, false);\n"
    "    end if;\n"
    "  end loop;\n"
    "end $$";

static const char describe_schema[] =
    "select md5(coalesce(string_agg(d, ',' order by d), '')) from (\n"
    "  select c.relname || ' ' || a.attname || ' ' || a.atttypid || ' ' || a.attnotnull\n"
    "    || ' ' || coalesce(c.reloptions::text, '') as d\n"
    "    from pg_class as c join pg_attribute as a on a.attrelid = c.oid\n"
    "    where c.relnamespace = '\"%1$s\"'::regnamespace and a.attnum > 0\n"
    "  union all select pg_get_indexdef(i.indexrelid) || i.indisvalid from pg_index as i\n"
    "    join pg_class as c on c.oid = i.indrelid\n"
    "    where c.relnamespace = '\"%1$s\"'::regnamespace\n"
    "  union all select pg_get_constraintdef(o.oid) from pg_constraint as o\n"
    "    where o.connamespace = '\"%1$s\"'::regnamespace\n"
    "  union all select \"Part\" || ' ' || \"Version\" from \"%1$s\".pawl_schema) as all_of_it";

static const char end_transactions[] =
    "select pg_terminate_backend(a.pid, 10000) from pg_stat_activity as a\n"
    "  where a.state like 'idle in transaction%%' and a.pid <> pg_backend_pid()\n"
    "  and a.datname = current_database() and a.pid in (select l.pid from pg_locks as l\n"
    "    join pg_class as c on c.oid = l.relation\n"
    "    where c.relnamespace = to_regnamespace('\"%1$s\"'))";

/* The program's connection, made at first use. */
static PGconn *connection(const char *server)
{
    static PGconn *pg;
    if (pg == NULL)
        pg = PQconnectdb(server);
    if (PQstatus(pg) != CONNECTION_OK)
        PQreset(pg);
    PQclear(PQexec(pg, "set client_min_messages = warning; set lock_timeout = '60s'"));
    return pg;
}

static bool try(void *native, const char *sql, char *text, size_t size)
{
    PGresult      *result = PQexec(native, sql);
    ExecStatusType state  = PQresultStatus(result);
    bool           is_ok  = state == PGRES_COMMAND_OK || state == PGRES_TUPLES_OK;
    size_t         used   = 0;
    text[0]               = '\0';
    for (int i = 0; is_ok && i < PQntuples(result) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "",
                                 PQgetvalue(result, i, 0));
    if (!is_ok)
        snprintf(text, size, "%s", PQerrorMessage(native));
    PQclear(result);
    return is_ok;
}

static bool leave(void *native, const char *sql)
{
    return PQsendQuery(native, sql) == 1;
}

/* Runs a statement about the schema; false: the reason is on standard error. */
static bool ask(const char *server, const char *template, const char *name, char *text, size_t size)
{
    char sql[2000];
    snprintf(sql, sizeof sql, template, name);
    bool is_ok = try(connection(server), sql, text, size);
    if (!is_ok)
        print_error("%s: %s", sql, text);
    return is_ok;
}

static void describe(const char *server, const char *name, char *text, size_t size)
{
    assert_true(ask(server, describe_schema, name, text, size));
}

static void empty(const char *server, const char *name)
{
    char text[1000];
    if (!ask(server, empty_schema, name, text, sizeof text))
        fail_msg("schema %s is not empty when a test ends", name);
}

static bool drop(const char *server, const char *name)
{
    static const char drop_schema[] = "drop schema if exists \"%s\" cascade";
    char              text[1000];
    return ask(server, end_transactions, name, text, sizeof text) &&
           ask(server, drop_schema, name, text, sizeof text);
}

static void *connect_to(const char *server, const char *name)
{
    char    text[1000];
    PGconn *pg = PQconnectdb(server);
    if (!try(pg, "set client_min_messages = warning", text, sizeof text))
        fail_msg("%s", text);
    return pg;
}

static void disconnect(void *native)
{
    PQfinish(native);
}

#else

static void describe(const char *server, const char *name, char *text, size_t size)
{
    fail_msg("schema %s: built without libpq", name);
}

static void empty(const char *server, const char *name)
{
    describe(server, name, NULL, 0);
}

static bool drop(const char *server, const char *name)
{
    return false;
}

static void *connect_to(const char *server, const char *name)
{
    describe(server, name, NULL, 0);
    return NULL;
}

static void disconnect(void *native)
{
}

static bool try(void *native, const char *sql, char *text, size_t size)
{
    snprintf(text, size, "%s: built without libpq", sql);
    return false;
}

static bool leave(void *native, const char *sql)
{
    return false;
}

#endif

const server_ops server_postgres_ops = {.url        = make_url,
                                        .describe   = describe,
                                        .empty      = empty,
                                        .drop       = drop,
                                        .connect    = connect_to,
                                        .disconnect = disconnect,
                                        .try        = try,
                                        .leave      = leave};
