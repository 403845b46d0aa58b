/* mssql_family.c - sessions of SQL Server: settings, transactions, and the locks by which workers count as alive.
 *
 * Inside a transaction of pawl implicit_transactions is on, outside it is off. If the server ends the
 * transaction in the middle (a deadlock), later statements are then in a new transaction that is not
 * committed; with autocommit each would be committed at once. A commit checks that its transaction is the one
 * that was begun. Begin and end are texts without parameters, so that no batch with parameters changes the
 * number of open transactions (266).
 *
 * A live worker holds an application lock of its session, which ends with the session. Checking such
 * locks needs no right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#include "store/sql/dialects/mssql_statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MIN 13 /* 2016 */
#define LEVEL_MIN 130
#define DEAD_MICROSECONDS "15000000"

/* ---- Statements ----------------------------------------------------------- */

#define STANDS(name) [PAWL__SQL_##name] = PAWL__MSSQL_##name

const int pawl__mssql_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    STANDS(QUEUE_FIRST),
    STANDS(OUTBOX_SAME),
    STANDS(WORKER_FOLD),
    STANDS(WORKER_KEEP),
    STANDS(LEAD_LIST),
    STANDS(LEASE_LOCK),
    STANDS(INBOX_SWEEP),
    STANDS(OUTBOX_SWEEP),
    STANDS(HISTORY_SWEEP),
    STANDS(TIMEOUT_FOREIGN),
    STANDS(TIMEOUT_CLAIM),
    STANDS(TIMEOUT_CLAIM_ANY),
    STANDS(EVENT_TURN),
    STANDS(EVENT_INSERT),
    STANDS(EVENT_POSITION),
    STANDS(TIMEOUT_CANCEL),
    STANDS(TIMEOUT_CANCEL_ALL),
    STANDS(TIMEOUT_LIST_SAGA),
    STANDS(TIMEOUT_REARM_SAGA),
    STANDS(HISTORY_FIND_SOURCE),
    STANDS(FOLD_SET),
    STANDS(AGGREGATOR_CLAIM),
    STANDS(NEWS),
    STANDS(FLUSH_ADD),
    STANDS(TIMEOUT_LIST),
};

const char *const pawl__mssql_templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__MSSQL_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof pawl__mssql_templates / sizeof pawl__mssql_templates[0] ==
                   PAWL__MSSQL_STATEMENT_COUNT,
               "one template for each statement");

/* ---- Transactions --------------------------------------------------------- */

static const pawl__sql_words words = {
    .begin    = "set implicit_transactions off; if @@trancount > 0 rollback transaction; "
                "begin transaction; set implicit_transactions on; "
                "declare @pawl bigint = current_transaction_id(); "
                "exec sp_set_session_context N'pawl', @pawl",
    .commit   = "if @@trancount <> 1 or coalesce(cast(session_context(N'pawl') as bigint), 0) <> "
                "current_transaction_id() throw 50001, N'pawl: the transaction is another one than "
                "was begun', 1; commit transaction; set implicit_transactions off",
    .rollback = "if @@trancount > 0 rollback transaction; "
                "if session_context(N'pawl') is not null set implicit_transactions off",
    .save     = "save transaction %s",
    .undo     = "if @@trancount <> 1 and session_context(N'pawl') is not null throw 50001, "
                "N'pawl: a transaction within its own is open', 1; rollback transaction %s",
};

/* Can the statements of a change set run in an application's transaction? Its session options decide. */
#define OPTION(bit, is_on) "case when @@options & " #bit " = " #is_on " then 0 else 1 end"

static pawl_code check_callers(pawl__sql_session *session, pawl_error *error)
{
    static const struct {
        const char *text; /* returns 1 if the setting is missing */
        const char *setting;
    } needed[] = {
        {"select " OPTION(16384, 0), "xact_abort off"},
        {"select " OPTION(512, 0), "nocount off"},
        {"select " OPTION(256, 256), "quoted_identifier on"},
        {"select " OPTION(64, 64), "arithabort on"},
    };
    int64_t   is_other = 0;
    pawl_code code     = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < sizeof needed / sizeof needed[0]; i++) {
        code = pawl__sql_ask_number(session, needed[i].text, &is_other, error);
        if (code == PAWL_OK && is_other != 0)
            code = pawl_error_set(error, PAWL_EINVAL, "enlist: the connection needs 'set %s' first",
                                  needed[i].setting);
    }
    return code;
}

static pawl_code is_open(pawl__sql_session *session, bool *is_it, pawl_error *error)
{
    int64_t   state = 0;
    pawl_code code  = pawl__sql_ask_number(session, "select xact_state()", &state, error);
    *is_it          = code == PAWL_OK && state == 1;
    return *is_it && session->is_callers ? check_callers(session, error) : code;
}

/* ---- The session --------------------------------------------------------- */

typedef struct server_row {
    int64_t version;
    int64_t level;
    int64_t session;
    char    database[PAWL__SQL_DATABASE_SIZE];
} server_row;

static int64_t number_in(pawl_text column)
{
    return column.data != NULL ? strtoll(column.data, NULL, 10) : 0;
}

static void take_server(void *context, const pawl_text *columns)
{
    server_row *row = context;
    row->version    = number_in(columns[0]);
    row->session    = number_in(columns[1]);
    row->level      = number_in(columns[2]);
    (void)snprintf(row->database, sizeof row->database, "%.*s", PAWL_TEXT_ARGS(columns[3]));
}

/* Azure and Fabric (edition 12) always report version 12, and support what 2016 supports. */
static pawl_code ask_server(pawl__sql_session *session, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_at(session);
    server_row        row    = {0};
    pawl_code         code   = remote->sql.ops->ask(
                  session,
                  "select case when cast(serverproperty('EngineEdition') as int) in (5, 8, 12) then 99 "
                            "else cast(parsename(cast(serverproperty('ProductVersion') as nvarchar(128)), 4) as int) "
                            "end, @@spid, compatibility_level, name from sys.databases where database_id = db_id()",
                  take_server, &row, error);
    remote->sql.dialect = &pawl__mssql_dialect;
    remote->version     = row.version;
    session->id         = row.session;
    (void)snprintf(remote->database, sizeof remote->database, "dbo");
    if (code == PAWL_OK && row.version < VERSION_MIN)
        return pawl_error_set(error, PAWL_ENOTSTORE,
                              "%s: %s: the server is SQL Server of version %" PRId64
                              ", at least 13 (2016) is needed: name another server",
                              remote->sql.base.scheme, remote->given, row.version);
    if (code == PAWL_OK && row.level < LEVEL_MIN)
        return pawl_error_set(error, PAWL_ENOTSTORE,
                              "%s: %s: the database has compatibility level %" PRId64
                              ", at least 130 is needed: alter database [%s] set "
                              "compatibility_level = 130",
                              remote->sql.base.scheme, remote->given, row.level, row.database);
    return code;
}

static pawl_code begin(pawl__sql_session *session, pawl_error *error)
{
    pawl_code code = ask_server(session, error);
    return code == PAWL_OK ? pawl__sql_set_session(session, error) : code;
}

/* Filtered indexes need the first eight; the rest makes the session independent of what the login or the driver has
 * set. */
static const char settings[] =
    "set quoted_identifier on; set ansi_nulls on; set ansi_padding on; set ansi_warnings on; "
    "set arithabort on; set concat_null_yields_null on; set numeric_roundabort off; "
    "set ansi_null_dflt_on on; set nocount off; set xact_abort off; "
    "set implicit_transactions off; set cursor_close_on_commit off; set rowcount 0; "
    "set textsize 2147483647; set dateformat ymd; set deadlock_priority normal; "
    "set transaction isolation level read committed; set lock_timeout %lld";

static pawl_code database_id(pawl__sql_session *session, char id[PAWL__SQL_DATABASE_ID_SIZE],
                             pawl_error *error)
{
    return pawl__sql_ask_text(session,
                              "select convert(char(32), hashbytes('MD5', concat("
                              "cast(service_broker_guid as char(36)), '/', name)), 2) "
                              "from sys.databases where database_id = db_id()",
                              id, PAWL__SQL_DATABASE_ID_SIZE, error);
}

/* ---- The lock ------------------------------------------------------------ */

typedef struct lock_name {
    char text[120];
} lock_name;

/* The name of the lock, which is one of the database. A prefix has letters, digits and '_' alone. */
static lock_name name_of(const pawl__sql_remote *remote, int64_t number)
{
    lock_name name;
    (void)snprintf(name.text, sizeof name.text, "%.80s/%016" PRIx64, remote->sql.base.system_prefix,
                   (uint64_t)number);
    return name;
}

static pawl_code ask_lock(pawl__sql_session *session, const lock_name *name, int64_t wait_ms,
                          int64_t *got, pawl_error *error)
{
    char text[300];
    (void)snprintf(text, sizeof text,
                   "declare @pawl int; exec @pawl = sp_getapplock @Resource = N'%s', "
                   "@LockMode = N'Exclusive', @LockOwner = N'Session', @LockTimeout = %" PRId64
                   "; select @pawl",
                   name->text, wait_ms);
    return pawl__sql_ask_number(session, text, got, error);
}

#define LOCK_SHOWN 32 /* characters of a lock's name that the server shows, in brackets */

/* Ends the session that has the lock: an older one of this worker, whose answer is no longer needed. Both
 * statements need rights that few logins have (view server state, alter any connection): without them, or if the
 * name is not shown whole, the lock is waited for. PAWL_EDENIED: a right is missing. */
static pawl_code end_holder(pawl__sql_session *session, const lock_name *name)
{
    char    text[500];
    int64_t holder = 0;
    if (strlen(name->text) > LOCK_SHOWN)
        return PAWL_OK;
    (void)snprintf(
        text, sizeof text,
        "select max(request_session_id) from sys.dm_tran_locks where resource_type = "
        "N'APPLICATION' and resource_database_id = db_id() and request_status = N'GRANT' "
        "and request_owner_type = N'SESSION' and request_session_id <> @@spid and "
        "charindex(N':[%s]:', resource_description) > 0",
        name->text);
    pawl_code code = pawl__sql_ask_number(session, text, &holder, NULL);
    if (code != PAWL_OK || holder == 0)
        return code;
    (void)snprintf(text, sizeof text, "kill %" PRId64, holder);
    return pawl__sql_query(session, text, NULL);
}

/* Takes the lock. An older session that has it is ended, or waited for until the server notices its loss. */
static pawl_code worker_lock(pawl__sql_session *session, pawl_error *error)
{
    const pawl__sql_remote *remote    = pawl__sql_remote_at(session);
    lock_name               name      = name_of(remote, pawl__sql_lock_number(session));
    int64_t                 got       = 0;
    int64_t                 until     = pawl__clock_ms() + remote->sql.base.deadline_ms * 9 / 10;
    pawl_code               code      = ask_lock(session, &name, 0, &got, error);
    bool                    is_denied = false;
    if (code == PAWL_OK && got < 0) {
        is_denied    = end_holder(session, &name) == PAWL_EDENIED;
        int64_t rest = until - pawl__clock_ms();
        code         = ask_lock(session, &name, rest > 0 ? rest : 0, &got, error);
    }
    if (code == PAWL_OK && got < 0)
        code = pawl__sql_lock_kept(remote, name.text, is_denied, error);
    return code;
}

static void worker_unlock(pawl__sql_session *session)
{
    char text[200];
    (void)snprintf(text, sizeof text,
                   "exec sp_releaseapplock @Resource = N'%s', @LockOwner = N'Session'",
                   name_of(pawl__sql_remote_at(session), pawl__sql_lock_number(session)).text);
    (void)pawl__sql_query(session, text, NULL);
}

/* ---- Workers that are alive ----------------------------------------------- */

/* True if the worker's application lock is taken (also by this session), or its heartbeat is recent. */
static void append_life(const pawl__sql_remote *remote, pawl__sql_text *text,
                        const pawl__sql_life *life)
{
    if (life->process != 0) {
        lock_name name = name_of(remote, life->process);
        pawl__sql_appendf(
            text,
            "case when applock_test(N'public', N'%s', N'Exclusive', N'Session') = 0 "
            "or applock_mode(N'public', N'%s', N'Session') <> N'NoLock' then 1 else 0 "
            "end",
            name.text, name.text);
        return;
    }
    pawl__sql_appendf(
        text,
        "case when datediff_big(microsecond, '1970-01-01', sysutcdatetime()) < %" PRId64
        " + " DEAD_MICROSECONDS " then 1 else 0 end",
        life->seen);
}

/* ---- Times from before pawl ---------------------------------------------- */

static pawl_code is_old_time(pawl__sql_session *session, pawl_text table, pawl_text column,
                             bool *is_it, pawl_error *error)
{
    pawl__sql_text text = {0}, name = {0};
    int64_t        count = 0;
    pawl__sql_append_table(&name, &pawl__mssql_dialect, "", table);
    pawl__sql_append(&text, "select count(*) from sys.columns where object_id = object_id(N");
    pawl__sql_append_literal(&text, pawl__sql_text_of(&name));
    pawl__sql_append(&text, ", N'U') and system_type_id = type_id(N'datetime') and name = N");
    pawl__sql_append_literal(&text, column);
    pawl_code code = text.is_failed || name.is_failed
                         ? pawl__sql_no_memory(&session->store->base, "a statement", error)
                         : pawl__sql_ask_number(session, text.data, &count, error);
    *is_it         = count != 0;
    pawl__sql_text_free(&text);
    pawl__sql_text_free(&name);
    return code;
}

/* ---- Sets ---------------------------------------------------------------- */

/* The text of a round adds a letter for each statement, by @@rowcount, or by the number of a failure that undid the
 * statement alone. In a batch with parameters the row counts of its statements do not arrive otherwise. */
void pawl__mssql_append_set(pawl__sql_text *to, const char *one, int count)
{
    pawl__sql_append(to, "set nocount on; declare @f varchar(200) = '', @c int; ");
    for (int i = 0; i < count; i++) {
        pawl__sql_append(to, "begin try ");
        pawl__sql_append(to, one);
        pawl__sql_append(
            to, "; set @c = @@rowcount; set @f += case when @c = 0 then 'm' else 'a' end; "
                "end try begin catch if xact_state() <> 1 or "
                "error_number() not in (515, 2601, 2627) throw; "
                "set @f += case error_number() when 515 then 'n' else 'd' end; end catch; ");
    }
    pawl__sql_append(to, "set nocount off; select @f");
}

/* ---- The family ---------------------------------------------------------- */

/* A lock of the transaction, the same as that of the printed script. */
#define SCRIPT_LOCK                                                                \
    "declare @pawl int; exec @pawl = sp_getapplock @Resource = N'pawl', "          \
    "@LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = %lld; " \
    "select @pawl"

static const pawl__sql_schema_ops schema_ops = {
    PAWL__SQL_FAMILY_SCHEMA,
    .columns = PAWL__MSSQL_SCHEMA_COLUMNS,
    .indexes = PAWL__MSSQL_SCHEMA_INDEXES,
};

const pawl__sql_family pawl__mssql_family = {
    .name            = "mssql",
    .dialect         = &pawl__mssql_dialect,
    .templates       = pawl__mssql_templates,
    .overrides       = pawl__mssql_overrides,
    .statement_count = PAWL__MSSQL_STATEMENT_COUNT,
    .block_behind    = PAWL__MSSQL_OUTBOX_BLOCK_BEHIND,
    .failures        = &pawl__mssql_failures,
    .settings        = {settings, 1, 0},
    .begin           = begin,
    .is_open         = is_open,
    .words           = &words,
    .lock_ops =
        {
            .claim       = PAWL__MSSQL_QUEUE_CLAIM,
            .claim_more  = PAWL__MSSQL_QUEUE_CLAIM_MORE,
            .claim_free  = PAWL__MSSQL_QUEUE_CLAIM_MORE, /* for clusters, which do not exist here */
            .claim_again = PAWL__MSSQL_QUEUE_CLAIM_AGAIN,
            .count_due   = PAWL__MSSQL_QUEUE_COUNT_DUE,
            .lock        = PAWL__MSSQL_QUEUE_LOCK,
            PAWL__SQL_SESSION_LOCKS,
        },
    .worker_lock   = worker_lock,
    .worker_unlock = worker_unlock,
    .lives         = {"select concat('', ", ", ", ", '')", append_life},
    .database_id   = database_id,
    .is_old_time   = is_old_time,
    .run           = {.in_transaction = true, .lock = SCRIPT_LOCK},
    .schema_ops    = &schema_ops,
    .checks        = &pawl__mssql_checks,
    .client        = "sqlcmd -Q",
};
