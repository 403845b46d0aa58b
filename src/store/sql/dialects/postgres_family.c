/* postgres_family.c - sessions of PostgreSQL by another library than libpq (ODBC): statements, the locks by
 * which workers count as alive, failures.
 *
 * A live worker holds an advisory lock with the same number as in store/postgres, its second session
 * the lock with the next lower number. A lock ends with its session; a worker that connects again ends
 * an older session of its own that the server still takes for alive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MIN 140000

/* ---- Statements ----------------------------------------------------------- */

#define DUE "where [Queue] = ?1 and [Due] <= ?2 "
#define LOCKED "for update skip locked"
#define CLAIMED "order by [Due], [Seq] limit ?3 " LOCKED
#define NOT_OF "and [Seq] <> all (cast(string_to_array(?4, ',') as bigint array)) "
#define STAMP "'claim:' || [Seq]"
/* Deletes the selected rows by their ctid. */
#define AT_PLACE(table, select) \
    "delete from {" table "} where ctid = any (array(select ctid from {" table "} " select "))"

#define OF_TABLE "current_schema() and c.relname = ?1"

/* INBOX_SWEEP and the like: a delete has no order and no limit. EVENT_INSERT is the shared one. QUEUE_FIRST skips
 * rows that a worker has claimed, which no column shows. */
#define STATEMENTS(X)                                                                             \
    X(QUEUE_CLAIM, PAWL__SQL_QUEUE_ROW_TEXT DUE CLAIMED)                                          \
    X(QUEUE_CLAIM_MORE, PAWL__SQL_QUEUE_ROW_TEXT DUE NOT_OF CLAIMED)                              \
    X(QUEUE_CLAIM_FREE, PAWL__SQL_QUEUE_ROW_TEXT DUE NOT_OF                                       \
      "and not exists (select 1 from {leases} as c where c.[Name] = " STAMP                       \
      " and c.[Worker] <> ?5) " CLAIMED)                                                          \
    X(QUEUE_CLAIM_AGAIN,                                                                          \
      PAWL__SQL_QUEUE_ROW_TEXT "where [Seq] = ?1 and [Queue] = ?2 and [Due] <= ?3 " LOCKED)       \
    X(QUEUE_COUNT_DUE, "select count(*) from (select 1 from {queue} " DUE "limit ?3) as d")       \
    X(QUEUE_LOCK, "select [Seq] from {queue} where [Seq] = ?1 and [Due] = ?2 " LOCKED)            \
    X(QUEUE_FIRST, "select [Due] from {queue} where [Queue] = ?1 order by [Due] limit 1 " LOCKED) \
    X(OUTBOX_BLOCK_BEHIND, "update {outbox} set [State] = 'held' where [State] = 'pending' "      \
                           "and [Attempts] = 0 and [Id] > ?2 and [Source] = ?1")                  \
    X(INBOX_SWEEP, AT_PLACE("inbox", "where [At] < ?1 order by [At] limit ?2"))                   \
    X(OUTBOX_SWEEP, AT_PLACE("outbox", "where [DispatchedAt] < ?1 "                               \
                                       "order by [DispatchedAt] limit ?2"))                       \
    X(FLUSH_ADD,                                                                                  \
      "insert into {aggregator_flush} ([Partition], [Name], [Due], [Attempts], [Dead], "          \
      "[Error]) values (?1, ?2, ?3, 0, 0, '') "                                                   \
      "on conflict ([Partition]) do update set [Name] = excluded.[Name]")                         \
    X(SCHEMA_COLUMNS, PAWL__PG_CATALOG_COLUMNS("::int", OF_TABLE))                                \
    X(SCHEMA_INDEXES, PAWL__PG_CATALOG_INDEXES("::int", OF_TABLE))

#define OF_FAMILY(name) OWN_##name
#define NUMBER_OF(name, text) OF_FAMILY(name),
enum { BEFORE = PAWL__SQL_ROW_STATEMENT_END - 1, STATEMENTS(NUMBER_OF) STATEMENT_COUNT };

static const int overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    [PAWL__SQL_QUEUE_FIRST]  = OWN_QUEUE_FIRST,
    [PAWL__SQL_INBOX_SWEEP]  = OWN_INBOX_SWEEP,
    [PAWL__SQL_OUTBOX_SWEEP] = OWN_OUTBOX_SWEEP,
    [PAWL__SQL_FLUSH_ADD]    = OWN_FLUSH_ADD,
};

static const char *const templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof templates / sizeof templates[0] == STATEMENT_COUNT,
               "one template for each statement");

/* ---- The session --------------------------------------------------------- */

static void take_session(void *context, const pawl_text *columns)
{
    pawl__sql_session *session = context;
    pawl__sql_remote  *remote  = pawl__sql_remote_at(session);
    session->id                = strtoll(columns[0].data, NULL, 10);
    remote->version            = strtoll(columns[1].data, NULL, 10);
    (void)snprintf(remote->database, sizeof remote->database, "%.*s", PAWL_TEXT_ARGS(columns[2]));
}

static pawl_code begin(pawl__sql_session *session, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_at(session);
    pawl_code         code   = remote->sql.ops->ask(
                  session,
                  "select pg_backend_pid(), current_setting('server_version_num'), coalesce(current_schema(), '')",
                  take_session, session, error);
    remote->sql.dialect = &pawl__pg_plain_dialect;
    if (code != PAWL_OK)
        return code;
    if (remote->version < VERSION_MIN)
        return pawl_error_set(error, PAWL_ENOTSTORE,
                              "%s: %s: the server is PostgreSQL %lld, at least 14 is needed: name "
                              "another server",
                              remote->sql.base.scheme, remote->given,
                              (long long)remote->version / 10000);
    if (remote->database[0] == '\0')
        return pawl_error_set(error, PAWL_ESCHEMA,
                              "%s: %s: the search path has no schema that is there: create one",
                              remote->sql.base.scheme, remote->given);
    return pawl__sql_set_session(session, error);
}

#define TIME_SETTINGS "set time zone 'UTC'; set datestyle = 'ISO'"

/* Plans by index only: statistics of tables that were empty a moment ago mislead the planner. A transaction that is
 * idle for too long is ended. */
static const char settings[] =
    "set client_encoding = 'UTF8'; " TIME_SETTINGS "; "
    "set standard_conforming_strings = on; set bytea_output = 'hex'; set jit = off; "
    "set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; "
    "set enable_mergejoin = off; set client_min_messages = warning; set lock_timeout = %lld; "
    "set idle_in_transaction_session_timeout = %lld; set idle_session_timeout = 0; "
    "set statement_timeout = 0; set quote_all_identifiers = off; "
    "set default_transaction_isolation = 'read committed'";

/* Reads the start as a number: a time is printed in the zone and style of the session, which may be a caller's. */
static pawl_code database_id(pawl__sql_session *session, char id[PAWL__SQL_DATABASE_ID_SIZE],
                             pawl_error *error)
{
    return pawl__sql_ask_text(session,
                              "select md5(concat_ws('/', current_setting('port'), "
                              "extract(epoch from pg_postmaster_start_time()), "
                              "current_database(), current_schema()))",
                              id, PAWL__SQL_DATABASE_ID_SIZE, error);
}

/* Checks an application's session. With SQL_ASCII (its driver's choice for the locale "C") nothing is converted. */
static pawl_code check_encoding(pawl__sql_session *session, pawl_error *error)
{
    char      encoding[100] = "";
    pawl_code code          = pawl__sql_ask_text(
                 session,
                 "select case when pg_client_encoding() = 'SQL_ASCII' and "
                          "current_setting('server_encoding') in ('UTF8', 'SQL_ASCII') then 'UTF8' "
                          "else pg_client_encoding()::text end",
                 encoding, sizeof encoding, error);
    if (code != PAWL_OK || strcmp(encoding, "UTF8") == 0)
        return code;
    return pawl_error_set(error, PAWL_EINVAL,
                          "enlist: the connection's client_encoding is %s, UTF8 is needed: "
                          "set client_encoding = 'UTF8'",
                          encoding);
}

/* Is a transaction open? Without one a savepoint is refused. A handler's settings of times end here. */
static pawl_code is_in_transaction(pawl__sql_session *session, bool *is_open, pawl_error *error)
{
    pawl_error why  = PAWL_ERROR_INIT;
    pawl_code  code = pawl__sql_query(session,
                                     session->is_callers ? "savepoint pawl_open"
                                                          : "release savepoint " PAWL__SQL_MARK
                                                           "; " TIME_SETTINGS,
                                      &why);
    *is_open        = code == PAWL_OK;
    if (code == PAWL_OK && session->is_callers)
        code = pawl__sql_query(session, "release savepoint pawl_open", error);
    if (*is_open)
        return code == PAWL_OK && session->is_callers ? check_encoding(session, error) : code;
    if (!session->is_lost)
        return PAWL_OK;
    return pawl_error_set(error, code, "%s", why.text);
}

/* ---- The lock ------------------------------------------------------------ */

#define OF_NUMBER                                                                \
    "l.locktype = 'advisory' and l.objsubid = 1 and l.granted and l.database = " \
    "(select b.oid from pg_catalog.pg_database as b where b.datname = current_database())"

static pawl_code worker_lock(pawl__sql_session *session, pawl_error *error)
{
    char    text[600];
    int64_t number = pawl__sql_lock_number(session), is_had = 0;
    (void)snprintf(text, sizeof text, "select pg_try_advisory_lock(%" PRId64 ")::int", number);
    pawl_code code = pawl__sql_ask_number(session, text, &is_had, error);
    if (code != PAWL_OK || is_had == 1)
        return code;
    (void)snprintf(text, sizeof text,
                   "select count(pg_terminate_backend(l.pid)) from pg_catalog.pg_locks as l "
                   "where " OF_NUMBER " and l.pid <> pg_backend_pid() and l.classid = "
                   "((%" PRId64 " >> 32) & 4294967295)::oid and l.objid = (%" PRId64
                   " & 4294967295)::oid",
                   number, number);
    code = pawl__sql_ask_number(session, text, &is_had, error);
    (void)snprintf(text, sizeof text, "select count(pg_advisory_lock(%" PRId64 "))", number);
    return code == PAWL_OK ? pawl__sql_ask_number(session, text, &is_had, error) : code;
}

static void worker_unlock(pawl__sql_session *session)
{
    char    text[100];
    int64_t ignored;
    (void)snprintf(text, sizeof text, "select pg_advisory_unlock(%" PRId64 ")::int",
                   pawl__sql_lock_number(session));
    (void)pawl__sql_ask_number(session, text, &ignored, NULL);
}

/* ---- Workers that are alive ----------------------------------------------- */

/* True if the worker's advisory lock is taken, or, for store/postgres behind a pooler, its heartbeat is recent. */
static void append_life(const pawl__sql_remote *remote, pawl__sql_text *text,
                        const pawl__sql_life *life)
{
    (void)remote;
    if (life->process != 0)
        pawl__sql_appendf(text, "(exists (select 1 from h where n = %" PRId64 "))::int",
                          life->process);
    else
        pawl__sql_appendf(text,
                          "(now() - interval '15 seconds' < timestamptz 'epoch' + %" PRId64
                          " * interval '1 microsecond')::int",
                          life->seen);
}

/* ---- Tables -------------------------------------------------------------- */

static const pawl__sql_schema_ops schema_ops = {
    PAWL__SQL_FAMILY_SCHEMA,       .limit_waits = pawl__pg_limit_waits, .rest = pawl__pg_rest,
    .columns = OWN_SCHEMA_COLUMNS, .indexes = OWN_SCHEMA_INDEXES,
};

/* ---- The family ---------------------------------------------------------- */

#define LIVES                                                                        \
    "with h as materialized (select l.classid::bigint << 32 | l.objid::bigint as n " \
    "from pg_catalog.pg_locks as l where " OF_NUMBER ") select concat("

/* The lock of the printed script; the search_path is the schema alone. */
#define SCRIPT_LOCK "select count(pg_advisory_xact_lock(1885435756))"
#define OWN_PATH "select set_config('search_path', quote_ident(current_schema()), true)"

const pawl__sql_family pawl__pg_family = {
    .name            = "postgres",
    .dialect         = &pawl__pg_plain_dialect,
    .templates       = templates,
    .overrides       = overrides,
    .statement_count = STATEMENT_COUNT,
    .block_behind    = OWN_OUTBOX_BLOCK_BEHIND,
    .failures        = &pawl__pg_failures,
    .settings        = {settings, 1, 0},
    .begin           = begin,
    .is_open         = is_in_transaction,
    .undoes_all      = true,
    .lock_ops =
        {
            .claim       = OWN_QUEUE_CLAIM,
            .claim_more  = OWN_QUEUE_CLAIM_MORE,
            .claim_free  = OWN_QUEUE_CLAIM_FREE,
            .claim_again = OWN_QUEUE_CLAIM_AGAIN,
            .count_due   = OWN_QUEUE_COUNT_DUE,
            .lock        = OWN_QUEUE_LOCK,
            PAWL__SQL_SESSION_LOCKS,
        },
    .worker_lock   = worker_lock,
    .worker_unlock = worker_unlock,
    .lives         = {LIVES, ", ", ")", append_life},
    .database_id   = database_id,
    .run           = {.in_transaction = true, .lock = SCRIPT_LOCK, .locked = OWN_PATH},
    .schema_ops    = &schema_ops,
    .checks        = &pawl__pg_checks,
    .client        = "psql -c",
};
