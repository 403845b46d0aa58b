/* oracle_family.c - sessions of Oracle: settings, heartbeats, tables.
 *
 * A session can have no lock of a number without a right that few have (dbms_lock): workers live by heartbeats,
 * by the server's clock, and leaders by the row of their lease. A transaction begins by itself; it is begun by
 * a number all the same, by which a hold sees whether it is still there.
 *
 * Every statement that makes a table commits by itself. Each step of a script may be repeated, so that two
 * scripts at once need no lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/oracle_family.h"

#include "store/sql/diagnose.h"
#include "store/sql/dialects/oracle_statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MIN 1202
#define LIVES_AT_ONCE 50 /* in one statement */
#define SHORT_NAME_SIZE 30
#define SHORT_PREFIX_SIZE 10   /* AGGREGATOR_FLUSH_DUE has 20 bytes */
#define SHORT_PROPERTY_SIZE 25 /* behind CORR_ */
#define DAY_US INT64_C(86400000000)
#define SECOND_US INT64_C(1000000)
#define UTC_NOW "sys_extract_utc(systimestamp)"

/* ---- The session --------------------------------------------------------- */

typedef struct answer {
    unsigned major, minor;
    int64_t  length; /* of a text of one character and two bytes */
    char     characters[40];
} answer;

typedef struct asked {
    pawl__sql_remote *remote;
    answer            found;
} asked;

static void take_session(void *context, const pawl_text *columns)
{
    asked *to = context;
    (void)sscanf(columns[0].data, "%u.%u", &to->found.major, &to->found.minor);
    (void)snprintf(to->remote->database, sizeof to->remote->database, "%.*s",
                   PAWL_TEXT_ARGS(columns[1]));
    (void)snprintf(to->found.characters, sizeof to->found.characters, "%.*s",
                   PAWL_TEXT_ARGS(columns[2]));
    to->found.length = strtoll(columns[3].data, NULL, 10);
}

static pawl_code check_session(const pawl__sql_remote *remote, const answer *found,
                               pawl_error *error)
{
    const char *scheme = remote->sql.base.scheme;
    if (found->major * 100 + found->minor < VERSION_MIN)
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "%s: %s: the server is Oracle %u.%u, at least 12.2 is needed: name "
                              "another server",
                              scheme, remote->given, found->major, found->minor);
    if (strcmp(found->characters, "AL32UTF8") != 0)
        return pawl_error_set(
            error, PAWL_EUNSUPPORTED,
            "%s: %s: the character set of the database is %s, AL32UTF8 is needed: "
            "name another database",
            scheme, remote->given, found->characters);
    if (found->length != 1)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s: %s: the driver does not send UTF-8: set NLS_LANG=.AL32UTF8 in "
                              "the environment",
                              scheme, remote->given);
    return PAWL_OK;
}

/* A comparison is that of bytes, times are of UTC, and a commit is answered when it is on the disk, whatever
 * the server's settings are. */
static pawl_code set_session(pawl__sql_session *session, pawl_error *error)
{
    char      text[500];
    long long wait = (long long)((session->remote->sql.base.deadline_ms + 999) / 1000 + 1);
    (void)snprintf(text, sizeof text,
                   "alter session set nls_comp = 'BINARY' nls_sort = 'BINARY' "
                   "nls_numeric_characters = '.,' nls_length_semantics = 'BYTE' "
                   "nls_timestamp_format = 'YYYY-MM-DD HH24:MI:SS.FF6' time_zone = '+00:00' "
                   "isolation_level = read committed commit_logging = 'IMMEDIATE' "
                   "commit_wait = 'WAIT' ddl_lock_timeout = %lld",
                   wait < 1000000 ? wait : 1000000);
    return session->remote->ops->query(session, text, error);
}

pawl_code pawl__oracle_shorten(pawl__sql_remote *remote, bool is_oracle, pawl_error *error)
{
    if (!is_oracle)
        return pawl_error_set(error, PAWL_ECONFIG, "odbc: names=30 is for dialect=oracle alone");
    remote->plain                      = pawl__oracle_dialect;
    remote->plain.name_size_max        = SHORT_NAME_SIZE;
    remote->plain.prefix_size_max      = SHORT_PREFIX_SIZE;
    remote->plain.correlation_size_max = SHORT_PROPERTY_SIZE;
    remote->dialect                    = &remote->plain;
    return PAWL_OK;
}

pawl_code pawl__oracle_begin(pawl__sql_session *session, pawl_error *error)
{
    pawl__sql_remote *remote = session->remote;
    asked             to     = {.remote = remote};
    if (remote->dialect == NULL)
        remote->dialect = &pawl__oracle_dialect;
    remote->server.beats = true;
    pawl_code code       = remote->ops->ask(
              session,
              "select (select max(version) from product_component_version where product like "
                    "'Oracle%'), sys_context('userenv', 'current_schema'), (select value from "
                    "nls_database_parameters where parameter = 'NLS_CHARACTERSET'), length('\xC3\xA9') "
                    "from dual",
              take_session, &to, error);
    if (code == PAWL_OK)
        code = check_session(remote, &to.found, error);
    return code == PAWL_OK ? set_session(session, error) : code;
}

static pawl_code database_id(pawl__sql_session *session, char id[PAWL__SQL_DATABASE_ID_SIZE],
                             pawl_error *error)
{
    return pawl__sql_ask_text(
        session,
        "select rawtohex(standard_hash(sys_context('userenv', 'db_unique_name') || '/' || "
        "sys_context('userenv', 'con_name') || '/' || "
        "sys_context('userenv', 'current_schema'), 'MD5')) from dual",
        id, PAWL__SQL_DATABASE_ID_SIZE, error);
}

pawl_code pawl__oracle_is_open(pawl__sql_session *session, bool *is_open, pawl_error *error)
{
    int64_t   number = 0;
    pawl_code code   = pawl__sql_ask_number(
          session, "select nvl2(dbms_transaction.local_transaction_id, 1, 0) from dual", &number,
          error);
    *is_open = code == PAWL_OK && number != 0;
    return code;
}

/* ---- Who lives ----------------------------------------------------------- */

/* The heartbeat is young. */
static void append_life(pawl__sql_text *text, const pawl__sql_life *life)
{
    int64_t seen = life->seen > 0 ? life->seen : 0;
    pawl__sql_appendf(text,
                      "case when " UTC_NOW " < timestamp '1970-01-01 00:00:15' + "
                      "numtodsinterval(%" PRId64 ", 'DAY') + numtodsinterval(%" PRId64 ".%06" PRId64
                      ", 'SECOND') then '1' else '0' end",
                      seen / DAY_US, seen % DAY_US / SECOND_US, seen % SECOND_US);
}

static pawl_code ask_lives(pawl__sql_remote *remote, pawl__sql_life *const *lives, size_t count,
                           pawl_error *error)
{
    char           digits[LIVES_AT_ONCE + 1] = "";
    pawl__sql_text text                      = {0};
    pawl__sql_append(&text, "select ");
    for (size_t i = 0; i < count; i++) {
        pawl__sql_append(&text, i > 0 ? " || " : "");
        append_life(&text, lives[i]);
    }
    pawl__sql_append(&text, " from dual");
    pawl_code code =
        text.is_failed ? pawl__sql_no_memory(&remote->sql.base, "a text", error)
                       : pawl__sql_ask_text(remote->main, text.data, digits, sizeof digits, error);
    for (size_t i = 0; i < count; i++)
        lives[i]->is_alive = digits[0] != '\0' && digits[i] == '1';
    pawl__sql_text_free(&text);
    return code;
}

pawl_code pawl__oracle_who_lives(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t at = 0; code == PAWL_OK && at < count; at += LIVES_AT_ONCE)
        code = ask_lives(pawl__sql_remote_of(store), lives + at,
                         count - at < LIVES_AT_ONCE ? count - at : LIVES_AT_ONCE, error);
    return code;
}

/* ---- Tables -------------------------------------------------------------- */

static pawl_code connect(pawl_store *base, pawl_schema_verb verb, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    (void)verb;
    return remote->main->is_made ? PAWL_OK : remote->ops->connect(remote->main, error);
}

static pawl_code begin(pawl_store *base, pawl_error *error)
{
    (void)base;
    (void)error;
    return PAWL_OK;
}

static pawl_code end(pawl_store *base, pawl_code code, pawl_error *error)
{
    (void)base;
    (void)error;
    return code;
}

static pawl_code execute(pawl_store *base, const char *statement, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    return remote->ops->query(remote->main, statement, error);
}

static pawl_code number(pawl_store *base, const char *select, int64_t *number, pawl_error *error)
{
    return pawl__sql_ask_number(pawl__sql_remote_of(base)->main, select, number, error);
}

static const char *const catalog_types[pawl__sql_type_count] = {
    [PAWL__SQL_NAME]      = "varchar2(201)",
    [PAWL__SQL_LONG_NAME] = "varchar2(402)",
};

static const pawl__sql_schema_ops schema_ops = {
    .connect  = connect,
    .begin    = begin,
    .end      = end,
    .execute  = execute,
    .number   = number,
    .columns  = PAWL__ORACLE_SCHEMA_COLUMNS,
    .indexes  = PAWL__ORACLE_SCHEMA_INDEXES,
    .types    = catalog_types,
    .has_keys = true,
};

static const pawl__sql_dialect *dialect_of(const pawl__sql_remote *remote)
{
    return remote->dialect != NULL ? remote->dialect : &pawl__oracle_dialect;
}

static pawl__sql_schema schema_of(pawl__sql_remote *remote, const char *prefix)
{
    return (pawl__sql_schema){.store   = &remote->sql.base,
                              .ops     = &schema_ops,
                              .dialect = dialect_of(remote),
                              .prefix  = prefix,
                              .given   = remote->given,
                              .scheme  = "",
                              .within  = remote->database};
}

pawl_code pawl__oracle_check(pawl__sql_remote *remote, const pawl_store_options *options,
                             pawl_error *error)
{
    pawl__sql_schema schema = schema_of(remote, remote->sql.base.system_prefix);
    pawl_code        code   = pawl__sql_prefix_check(remote->dialect, schema.prefix, error);
    if (code != PAWL_OK)
        return code;
    return pawl__sql_schema_check(&schema, options->tables, options->table_count, error);
}

pawl_code pawl__oracle_schema(pawl_store *store, pawl_schema_verb verb,
                              const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                              pawl_error *error)
{
    pawl__sql_remote        *remote  = pawl__sql_remote_of(store);
    const pawl__sql_dialect *dialect = dialect_of(remote);
    pawl_code                code    = pawl__sql_prefix_check(dialect, spec->system_prefix, error);
    if (code == PAWL_OK && verb == PAWL_SCHEMA_PRINT)
        return pawl__sql_print(dialect, spec->system_prefix, spec, line, context, error);
    if (code == PAWL_OK)
        code = connect(store, verb, error);
    if (code != PAWL_OK)
        return code;
    pawl__sql_schema schema = schema_of(remote, spec->system_prefix);
    return pawl__sql_schema_run(&schema, verb, spec, line, context, error);
}

/* ---- Doctor ---------------------------------------------------------------- */

static const pawl__sql_check checks[] = {
    {.name    = "clock",
     .measure = PAWL__SQL_MEASURE_CLOCK,
     .select =
         "select extract(day from d) * 86400000000 + extract(hour from d) * 3600000000 + "
         "extract(minute from d) * 60000000 + round(extract(second from d) * 1000000), "
         "null, null from (select " UTC_NOW " - timestamp '1970-01-01 00:00:00' d from dual)"},
    {.name   = "indexes",
     .select = "select 2, 'the index ' || index_name || ' of ' || table_name || ' is ' || "
               "lower(status), 'alter index \"' || index_name || '\" rebuild' from all_indexes "
               "where table_owner = sys_context('userenv', 'current_schema') "
               "and status = 'UNUSABLE'",
     .none   = "no index is unusable"},
    {.name   = "quota",
     .select = "select 1, 'the tablespace ' || tablespace_name || ' has ' || round((max_bytes - "
               "bytes) / 1048576) || ' MB left for this user', null from user_ts_quotas "
               "where max_bytes > 0 and bytes > max_bytes * 0.9",
     .none   = "no quota is used up"},
};

pawl_code pawl__oracle_look_at(pawl_store *store, const pawl_diagnosis *asked_, pawl_arena *arena,
                               pawl_finding_rows *rows, pawl_error *error)
{
    pawl__sql_doctor doctor = {.store   = store,
                               .dialect = pawl__sql_remote_of(store)->dialect,
                               .asked   = asked_,
                               .ask     = pawl__sql_session_findings,
                               .client  = "sqlplus USER@SERVICE <<<",
                               .arena   = arena,
                               .rows    = rows,
                               .error   = error};
    return pawl__sql_checks(&doctor, checks, sizeof checks / sizeof checks[0]);
}

/* ---- The family ---------------------------------------------------------- */

static const pawl__sql_words words = {
    .begin    = PAWL__ORACLE_BEGIN,
    .commit   = "commit",
    .rollback = "rollback",
    .save     = "savepoint %s",
    .undo     = "rollback to savepoint %s",
};

const pawl__sql_family pawl__oracle_family = {
    .name            = "oracle",
    .templates       = pawl__oracle_templates,
    .overrides       = pawl__oracle_overrides,
    .statement_count = PAWL__ORACLE_STATEMENT_COUNT,
    .hold_back       = PAWL__ORACLE_OUTBOX_HOLD_BACK,
    .words           = &words,
    .lock_ops =
        {
            .claim       = PAWL__ORACLE_QUEUE_CLAIM,
            .claim_more  = PAWL__ORACLE_QUEUE_CLAIM_MORE,
            .claim_again = PAWL__ORACLE_QUEUE_CLAIM_AGAIN,
            .count_due   = PAWL__ORACLE_QUEUE_COUNT_DUE,
            .lock        = PAWL__ORACLE_QUEUE_LOCK,
            .is_open     = pawl__sql_main_is_open,
            .rollback    = pawl__sql_main_rollback,
            .aside       = pawl__sql_aside,
            .back        = pawl__sql_back,
        },
    .database_id = database_id,
};
