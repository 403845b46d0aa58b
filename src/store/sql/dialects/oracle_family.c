/* oracle_family.c - sessions of Oracle: settings, heartbeats, tables.
 *
 * A lock of a session needs a right that few users have (dbms_lock). So workers count as alive by heartbeats, by
 * the server's clock, and leaders by the row of their lease. A transaction begins by itself, but pawl gives it an
 * id at its begin, by which a handler transaction is known to be still the same.
 *
 * Every statement that makes a table commits by itself. Each step of a script may be repeated, so two scripts
 * at once need no lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#include "store/sql/dialects/oracle_round.h"
#include "store/sql/dialects/oracle_statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MIN 1202
#define DAY_US INT64_C(86400000000)
#define SECOND_US INT64_C(1000000)
#define UTC_NOW "sys_extract_utc(systimestamp)"

/* ---- Statements ----------------------------------------------------------- */

#define STANDS(name) [PAWL__SQL_##name] = PAWL__ORACLE_##name

const int pawl__oracle_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    STANDS(QUEUE_FIRST), STANDS(WORKER_FOLD),     STANDS(WORKER_KEEP),
    STANDS(INBOX_SWEEP), STANDS(OUTBOX_SWEEP),    STANDS(AGGREGATOR_DELETE_OLDEST),
    STANDS(OUTBOX_SAME), STANDS(TIMEOUT_CLAIM),   STANDS(TIMEOUT_CLAIM_ANY),
    STANDS(FOLD_SET),    STANDS(TIMEOUT_FOREIGN), STANDS(NEWS),
    STANDS(FLUSH_ADD),   STANDS(OUTBOX_UNBLOCK),  STANDS(BODIES_CLEAR),
};

const char *const pawl__oracle_templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__ORACLE_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof pawl__oracle_templates / sizeof pawl__oracle_templates[0] ==
                   PAWL__ORACLE_STATEMENT_COUNT,
               "one template for each statement");

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
        return pawl_error_set(error, PAWL_ENOTSTORE,
                              "%s: %s: the server is Oracle %u.%u, at least 12.2 is needed: name "
                              "another server",
                              scheme, remote->given, found->major, found->minor);
    if (strcmp(found->characters, "AL32UTF8") != 0)
        return pawl_error_set(
            error, PAWL_ENOTSTORE,
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

/* Comparisons are bytewise, times are UTC, and a commit is answered when it is on disk, whatever the server's
 * settings are. */
static const char settings[] =
    "alter session set nls_comp = 'BINARY' nls_sort = 'BINARY' "
    "nls_numeric_characters = '.,' nls_length_semantics = 'BYTE' "
    "nls_timestamp_format = 'YYYY-MM-DD HH24:MI:SS.FF6' time_zone = '+00:00' "
    "isolation_level = read committed commit_logging = 'IMMEDIATE' "
    "commit_wait = 'WAIT' ddl_lock_timeout = %lld";

static pawl_code begin(pawl__sql_session *session, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_at(session);
    asked             to     = {.remote = remote};
    if (remote->sql.dialect == NULL)
        remote->sql.dialect = &pawl__oracle_dialect;
    remote->server.beats = true;
    pawl_code code       = remote->sql.ops->ask(
              session,
              "select (select max(version) from product_component_version where product like "
                    "'Oracle%'), sys_context('userenv', 'current_schema'), (select value from "
                    "nls_database_parameters where parameter = 'NLS_CHARACTERSET'), length('\xC3\xA9') "
                    "from dual",
              take_session, &to, error);
    if (code == PAWL_OK)
        code = check_session(remote, &to.found, error);
    return code == PAWL_OK ? pawl__sql_set_session(session, error) : code;
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

static pawl_code is_open(pawl__sql_session *session, bool *is_it, pawl_error *error)
{
    int64_t   number = 0;
    pawl_code code   = pawl__sql_ask_number(
          session, "select nvl2(dbms_transaction.local_transaction_id, 1, 0) from dual", &number,
          error);
    *is_it = code == PAWL_OK && number != 0;
    return code;
}

/* ---- Workers that are alive ----------------------------------------------- */

/* True if the worker's heartbeat is recent. */
static void append_life(const pawl__sql_remote *remote, pawl__sql_text *text,
                        const pawl__sql_life *life)
{
    int64_t seen = life->seen > 0 ? life->seen : 0;
    (void)remote;
    pawl__sql_appendf(text,
                      "case when " UTC_NOW " < timestamp '1970-01-01 00:00:15' + "
                      "numtodsinterval(%" PRId64 ", 'DAY') + numtodsinterval(%" PRId64 ".%06" PRId64
                      ", 'SECOND') then '1' else '0' end",
                      seen / DAY_US, seen % DAY_US / SECOND_US, seen % SECOND_US);
}

/* ---- Tables -------------------------------------------------------------- */

static const pawl__sql_schema_ops schema_ops = {
    PAWL__SQL_FAMILY_SCHEMA,
    .columns = PAWL__ORACLE_SCHEMA_COLUMNS,
    .indexes = PAWL__ORACLE_SCHEMA_INDEXES,
};

/* ---- Doctor ---------------------------------------------------------------- */

/* The table's name, quoted as in a template. */
#define TABLE_NAME "'\"' || table_name || '\"'"
#define OF_THIS_SCHEMA " owner = sys_context('userenv', 'current_schema') "

/* "order": sequences of earlier versions are not ordered, which matters on a cluster only; without rights a user cannot
 * ask whether this is one.
 *
 * "histogram": without one the planner expects as many pending rows as rows of any other state, and reads the whole
 * table. */
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
    {.name = "order",
     .select =
         "select 1, 'numbers of ' || table_name || '.' || column_name || ' are not ordered: on a cluster (RAC) "
         "rows are taken out of their order, and news are missed', "
         "'alter table \"' || table_name || '\" modify (\"' || column_name || "
         "'\" generated always as identity (order))' from all_tab_identity_cols where" OF_THIS_SCHEMA
         "and " TABLE_NAME " in ('{queue}', '{outbox}', '{events}', '{aggregator}', '{history}') "
         "and identity_options like '%ORDER_FLAG: N%' order by table_name",
     .none = "numbers are given in order"},
    {.name = "histogram",
     .select =
         "select 1, 'the column STATE of ' || table_name || ' has statistics without a histogram: rows that are "
         "pending may be found by a scan', "
         "'exec dbms_stats.set_table_prefs(''' || owner || ''', ''' || table_name || ''', ''METHOD_OPT'', "
         "''for all columns size auto for columns size 254 STATE''); "
         "dbms_stats.gather_table_stats(''' || owner || ''', ''' || table_name || ''')' "
         "from all_tab_col_statistics where" OF_THIS_SCHEMA "and " TABLE_NAME " = '{outbox}' "
         "and column_name = 'STATE' and num_distinct > 1 and histogram = 'NONE'",
     .none = "states have a histogram, or one value, or no statistics"},
};

static const pawl__sql_check_list check_list = {checks, sizeof checks / sizeof checks[0], NULL};

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
    .dialect         = &pawl__oracle_dialect,
    .templates       = pawl__oracle_templates,
    .overrides       = pawl__oracle_overrides,
    .statement_count = PAWL__ORACLE_STATEMENT_COUNT,
    .block_behind    = PAWL__ORACLE_OUTBOX_BLOCK_BEHIND,
    .settings        = {settings, 1000, 1000000},
    .failures        = &pawl__oracle_failures,
    .begin           = begin,
    .is_open         = is_open,
    .words           = &words,
    .lock_ops =
        {
            .claim       = PAWL__ORACLE_QUEUE_CLAIM,
            .claim_more  = PAWL__ORACLE_QUEUE_CLAIM_MORE,
            .claim_again = PAWL__ORACLE_QUEUE_CLAIM_AGAIN,
            .count_due   = PAWL__ORACLE_QUEUE_COUNT_DUE,
            .lock        = PAWL__ORACLE_QUEUE_LOCK,
            /* The driver cuts longer lists (store/odbc), and rows missing in one would be claimed again. */
            .numbers_max = PAWL__ORACLE_PARAMETER_MAX,
            PAWL__SQL_SESSION_LOCKS,
        },
    .lives       = {"select ", " || ", " from dual", append_life},
    .database_id = database_id,
    .schema_ops  = &schema_ops,
    .checks      = &check_list,
    .client      = "sqlplus USER@SERVICE <<<",
};
