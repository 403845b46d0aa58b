/* mysql_family.c - sessions of MySQL and MariaDB: settings, and the locks by which workers count as alive.
 *
 * The session of a live worker holds a lock (GET_LOCK); behind a pooler the worker has a heartbeat by the
 * server's clock instead. Names of locks are global on the server, have at most 64 characters and ignore
 * case: so they are made from hashes of database and prefix, and the worker's number. A lock ends with its
 * session; a worker that connects again takes it again, and ends an older session of its own that the
 * server still takes for alive.
 *
 * The catalog is read table by table: for a list of names MariaDB opens every table of the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"
#include "store/sql/dialects/mysql_statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MYSQL_VERSION_MIN 80001 /* skip locked */
#define MARIADB_VERSION_MIN 100600
#define IDLE_S 31536000 /* a sender that rests keeps its session, and with it its worker's lock */
#define DEAD_SECONDS "15"

/* ---- Statements ----------------------------------------------------------- */

#define STANDS(name) [PAWL__SQL_##name] = PAWL__MYSQL_##name

const int pawl__mysql_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    STANDS(WORKER_FOLD),     STANDS(QUEUE_FIRST),
    STANDS(OUTBOX_UNBLOCK),  STANDS(OUTBOX_SWEEP),
    STANDS(HISTORY_SWEEP),   STANDS(EVENT_INSERT),
    STANDS(FOLD_SET),        STANDS(AGGREGATOR_DELETE_OLDEST),
    STANDS(TIMEOUT_FOREIGN), STANDS(FLUSH_ADD),
};

const char *const pawl__mysql_templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__MYSQL_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof pawl__mysql_templates / sizeof pawl__mysql_templates[0] ==
                   PAWL__MYSQL_STATEMENT_COUNT,
               "one template for each statement");

/* ---- The session --------------------------------------------------------- */

/* "10.11.6-MariaDB-1", "8.0.36": as 101106, 80036. */
static pawl_code check_version(pawl__sql_remote *remote, const char *version, pawl_error *error)
{
    unsigned major = 0, minor = 0, patch = 0;
    bool     is_mariadb = strstr(version, "MariaDB") != NULL;
    remote->sql.dialect = is_mariadb ? &pawl__mariadb_dialect : &pawl__mysql_dialect;
    (void)sscanf(version, "%u.%u.%u", &major, &minor, &patch);
    if (major * 10000 + minor * 100 + patch >=
        (is_mariadb ? MARIADB_VERSION_MIN : MYSQL_VERSION_MIN))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ENOTSTORE,
                          "%s: %s: the server is %s %s, at least %s is needed (skip locked)",
                          remote->sql.base.scheme, remote->given, is_mariadb ? "MariaDB" : "MySQL",
                          version, is_mariadb ? "10.6" : "8.0.1");
}

/* Settings of the session. With other settings of the server a select loses rows silently, `is null` finds the row
 * that was inserted last, a commit begins a transaction or ends the session, or statements are refused. The server
 * reports a changed database (store/mysql/mysql.c). */
#define OURS                                                                           \
    ", session sql_select_limit = 18446744073709551615, session sql_auto_is_null = 0," \
    " session completion_type = 'NO_CHAIN', session sql_safe_updates = 0,"             \
    " session sql_big_selects = 1, session group_concat_max_len = 1048576,"            \
    " session session_track_schema = 1"

#define CHARSET                                                                             \
    "set session character_set_client = utf8mb4, session character_set_results = utf8mb4, " \
    "session collation_connection = "
#define EXACT_OF(remote) (pawl__mysql_is_mariadb(remote) ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin")

/* If set, the two narrower limits replace the first: a claim (select for update) counts as read-only. */
#define IDLE_TRANSACTION                                                                  \
    ", session idle_transaction_timeout = %d, session idle_readonly_transaction_timeout " \
    "= %d, session idle_write_transaction_timeout = %d"

/* Sets what SET NAMES sets, which MariaDB's ODBC driver refuses. Texts compare byte for byte, also without a column
 * beside them. The deadline of a call is shorter than that of a lock wait. */
static pawl_code set_session(pawl__sql_session *session, pawl_error *error)
{
    const pawl__sql_remote *remote     = pawl__sql_remote_at(session);
    char                    text[1300] = "", rest[200] = "";
    bool                    is_mariadb = pawl__mysql_is_mariadb(remote);
    long long               wait = (long long)((remote->sql.base.deadline_ms + 999) / 1000 + 1);
    if (is_mariadb)
        (void)snprintf(rest, sizeof rest, IDLE_TRANSACTION, remote->rest_s, remote->rest_s,
                       remote->rest_s);
    (void)snprintf(text, sizeof text,
                   CHARSET
                   "%s, session sql_mode = 'TRADITIONAL', "
                   "session time_zone = '+00:00', session autocommit = 1, "
                   "session innodb_lock_wait_timeout = %lld, session lock_wait_timeout = %lld, "
                   "session wait_timeout = %d" OURS "%s",
                   EXACT_OF(remote), wait, wait, IDLE_S, rest);
    pawl_code code = pawl__sql_query(session, text, error);
    if (code == PAWL_OK)
        code = pawl__sql_query(
            session, "set session transaction isolation level read committed, read write", error);
    return code;
}

pawl_code pawl__mysql_set_charset(pawl__sql_session *session, pawl_error *error)
{
    char text[200];
    (void)snprintf(text, sizeof text, CHARSET "%s", EXACT_OF(pawl__sql_remote_at(session)));
    return pawl__sql_query(session, text, error);
}

typedef struct answer {
    pawl__sql_session *session;
    char               version[200];
} answer;

static void take_session(void *context, const pawl_text *columns)
{
    answer           *to     = context;
    pawl__sql_remote *remote = pawl__sql_remote_at(to->session);
    (void)snprintf(to->version, sizeof to->version, "%.*s", PAWL_TEXT_ARGS(columns[0]));
    to->session->id         = strtoll(columns[1].data, NULL, 10);
    to->session->packet_max = strtoul(columns[2].data, NULL, 10);
    to->session->server     = strtoll(columns[5].data, NULL, 10);
    remote->is_read_only    = columns[4].size != 0 && columns[4].data[0] == '1';
    /* As the server spells it: with lower_case_table_names the URL may have another case. */
    if (remote->database[0] == '\0')
        (void)snprintf(remote->database, sizeof remote->database, "%.*s",
                       PAWL_TEXT_ARGS(columns[3]));
}

/* Is this a node of Galera, or of a MySQL group (refused): are other servers written to that do not see its row
 * locks? Other servers have no such variable, and MySQL has no such table as MariaDB. */
static pawl_code ask_cluster(pawl__sql_remote *remote, pawl__sql_session *session,
                             pawl_error *error)
{
    bool      is_mariadb = pawl__mysql_is_mariadb(remote);
    int64_t   is_on      = 0;
    pawl_code code       = pawl__sql_ask_number(
              session,
        is_mariadb ? "select max(global_value = 'ON') from information_schema.system_variables "
                           "where variable_name = 'wsrep_on'"
                         : "select max(variable_value = if(variable_name = 'wsrep_on', 'ON', 'OFF')) "
                           "from performance_schema.global_variables where variable_name in "
                           "('wsrep_on', 'group_replication_single_primary_mode')",
              &is_on, error);
    if (code == PAWL_OK)
        remote->is_cluster = is_mariadb && is_on != 0;
    if (code == PAWL_OK && is_on != 0 && !is_mariadb)
        code =
            pawl_error_set(error, PAWL_EUNSUPPORTED,
                           "%s: %s: the server is a node of Percona XtraDB Cluster, or of a group "
                           "with several primaries (group_replication_single_primary_mode=OFF): "
                           "its row locks are not the other nodes'",
                           remote->sql.base.scheme, remote->given);
    return code;
}

static pawl_code begin(pawl__sql_session *session, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_at(session);
    answer            to     = {.session = session};
    pawl_code         code   = remote->sql.ops->ask(
                  session,
                  "select version(), connection_id(), @@max_allowed_packet, "
                            "coalesce(database(), ''), " PAWL__MYSQL_READ_ONLY ", " PAWL__MYSQL_SERVER,
                  take_session, &to, error);
    if (code == PAWL_OK)
        code = check_version(remote, to.version, error);
    if (code == PAWL_OK)
        code = set_session(session, error);
    return code == PAWL_OK ? ask_cluster(remote, session, error) : code;
}

/* Checks an application's session. Without a character set of results, texts arrive as stored, in utf8mb4. */
static pawl_code check_charset(pawl__sql_session *session, pawl_error *error)
{
    char      charset[100] = "";
    pawl_code code =
        pawl__sql_ask_text(session,
                           "select if(@@character_set_client <> 'utf8mb4', @@character_set_client, "
                           "if(@@character_set_results <> 'utf8mb4', @@character_set_results, "
                           "@@character_set_connection))",
                           charset, sizeof charset, error);
    if (code != PAWL_OK || strcmp(charset, "utf8mb4") == 0)
        return code;
    return pawl_error_set(error, PAWL_EINVAL,
                          "enlist: the connection's character set is %s, utf8mb4 is needed: "
                          "CHARSET=utf8mb4 in its connection string",
                          charset);
}

static pawl_code is_open(pawl__sql_session *session, bool *is_it, pawl_error *error)
{
    int64_t   number = 0;
    pawl_code code;
    if (session->is_callers) {
        code = pawl__sql_ask_number(session, "select @@in_transaction or not @@autocommit", &number,
                                    error);
        *is_it = code == PAWL_OK && number != 0;
        return *is_it ? check_charset(session, error) : code;
    }
    code   = PAWL__SQL_SAY(session, release, PAWL__SQL_MARK, error);
    *is_it = code == PAWL_OK;
    return pawl__sql_may_go_on(session, code) ? PAWL_OK : code; /* there is no such savepoint */
}

/* The same on all nodes of a cluster. */
#define CLUSTER_ID                                                  \
    "(select variable_value from information_schema.global_status " \
    "where variable_name = 'wsrep_cluster_state_uuid')"
#define DATABASE_ID(of) "select left(sha2(concat_ws('/', " of ", database()), 256), 32)"

static pawl_code database_id(pawl__sql_session *session, char id[PAWL__SQL_DATABASE_ID_SIZE],
                             pawl_error *error)
{
    const char *text = pawl__sql_remote_at(session)->is_cluster
                           ? DATABASE_ID(CLUSTER_ID)
                           : DATABASE_ID("@@hostname, @@port, @@datadir");
    return pawl__sql_ask_text(session, text, id, PAWL__SQL_DATABASE_ID_SIZE, error);
}

/* ---- Names --------------------------------------------------------------- */

typedef struct lock_name {
    char text[64];
} lock_name;

void pawl__mysql_name_locks(const pawl__sql_remote *remote, char name[PAWL__MYSQL_LOCKS_SIZE])
{
    const char *const parts[] = {remote->database, "/", remote->sql.base.system_prefix};
    uint64_t          hash    = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *at = parts[i]; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    (void)snprintf(name, PAWL__MYSQL_LOCKS_SIZE, "pawl_%016" PRIx64 "_", hash);
}

static lock_name name_of(const pawl__sql_remote *remote, int64_t number)
{
    char      locks[PAWL__MYSQL_LOCKS_SIZE];
    lock_name name;
    pawl__mysql_name_locks(remote, locks);
    (void)snprintf(name.text, sizeof name.text, "%s%016" PRIx64, locks, (uint64_t)number);
    return name;
}

/* ---- The lock ------------------------------------------------------------ */

/* Ends the session that has the lock: an older one of this worker, whose answer is no longer needed. */
static pawl_code end_holder(pawl__sql_session *session, const lock_name *name, pawl_error *error)
{
    char    text[100];
    int64_t holder = 0;
    (void)snprintf(text, sizeof text, "select is_used_lock('%s')", name->text);
    pawl_code code = pawl__sql_ask_number(session, text, &holder, error);
    if (code != PAWL_OK || holder == 0)
        return code;
    (void)snprintf(text, sizeof text, "kill %" PRId64, holder);
    code = pawl__sql_query(session, text, error);
    return code == PAWL_EPERSIST ? PAWL_OK : code; /* 1094: gone meanwhile */
}

static pawl_code worker_lock(pawl__sql_session *session, pawl_error *error)
{
    const pawl__sql_remote *remote = pawl__sql_remote_at(session);
    lock_name               name   = name_of(remote, pawl__sql_lock_number(session));
    int64_t                 is_had = 0;
    char                    text[120];
    (void)snprintf(text, sizeof text, "select get_lock('%s', 0)", name.text);
    pawl_code code = pawl__sql_ask_number(session, text, &is_had, error);
    if (code != PAWL_OK || is_had == 1)
        return code;
    code = end_holder(session, &name, error);
    (void)snprintf(text, sizeof text, "select get_lock('%s', %" PRId64 " / 1000.0)", name.text,
                   remote->sql.base.deadline_ms * 9 / 10);
    if (code == PAWL_OK)
        code = pawl__sql_ask_number(session, text, &is_had, error);
    if (code == PAWL_OK && is_had != 1)
        code = pawl__sql_lock_kept(remote, name.text, false, error);
    return code;
}

static void worker_unlock(pawl__sql_session *session)
{
    char text[100];
    (void)snprintf(
        text, sizeof text, "do release_lock('%s')",
        name_of(pawl__sql_remote_at(session), pawl__sql_remote_at(session)->lock_number).text);
    (void)pawl__sql_query(session, text, NULL);
}

/* ---- Workers that are alive ----------------------------------------------- */

/* True if the worker's lock (GET_LOCK) is in use, or its heartbeat is recent. */
static void append_life(const pawl__sql_remote *remote, pawl__sql_text *text,
                        const pawl__sql_life *life)
{
    if (life->process != 0)
        pawl__sql_appendf(text, "is_used_lock('%s') is not null",
                          name_of(remote, life->process).text);
    else
        pawl__sql_appendf(text,
                          "utc_timestamp(6) < timestampadd(microsecond, %" PRId64
                          ", '1970-01-01 00:00:" DEAD_SECONDS "')",
                          life->seen);
}

/* ---- Tables -------------------------------------------------------------- */

/* Refuses engines without transactions: their rows would stay if a commit is refused. */
static pawl_code check_engine(pawl__sql_verifier *v, const pawl_text *table)
{
    const pawl__sql_asked asked = {PAWL__MYSQL_SCHEMA_ENGINE, &pawl__one_text, table,
                                   &pawl__one_text, sizeof(pawl_text)};
    pawl_found            found = {0};
    pawl_code code = pawl__sql_read(v->schema->store, &asked, v->arena, &found, v->error);
    v->left += found.count;
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++)
        pawl__sql_report(v, "table %.*s: its engine is %.*s, InnoDB is needed",
                         PAWL_TEXT_ARGS(*table),
                         PAWL_TEXT_ARGS(((const pawl_text *)found.items)[i]));
    return code;
}

static pawl_code verify_own(pawl__sql_verifier *v)
{
    const pawl__sql_found_column *columns = v->catalog.columns.items;
    pawl_code                     code    = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < v->catalog.columns.count; i++)
        if (i == 0 || !pawl_text_equal(columns[i].table, columns[i - 1].table))
            code = check_engine(v, &columns[i].table);
    return code;
}

/* Limits lock waits of a script: while it waits for a transaction, all later statements on the table, also selects,
 * wait behind it. The server counts in seconds. */
static pawl_code limit_waits(const pawl__sql_schema *schema, int64_t patience_ms, pawl_error *error)
{
    char text[80];
    (void)snprintf(text, sizeof text, "set session lock_wait_timeout = %lld",
                   (long long)(patience_ms + 999) / 1000);
    return schema->ops->execute(schema->store, text, error);
}

static pawl_code rest(const pawl__sql_schema *schema, int64_t ms, pawl_error *error)
{
    char text[60];
    (void)snprintf(text, sizeof text, "do sleep(%" PRId64 " / 1000.0)", ms);
    return schema->ops->execute(schema->store, text, error);
}

static const pawl__sql_schema_ops schema_ops = {
    PAWL__SQL_FAMILY_SCHEMA,
    .limit_waits = limit_waits,
    .rest        = rest,
    .columns     = PAWL__MYSQL_SCHEMA_COLUMNS,
    .indexes     = PAWL__MYSQL_SCHEMA_INDEXES,
    .verify_own  = verify_own,
};

/* ---- The family ---------------------------------------------------------- */

/* Every statement that makes a table commits by itself: the lock of the printed script isolates each run, and after
 * a failed apply the next one makes the rest. */
#define SCRIPT_LOCK "concat('pawl_', left(sha2(database(), 256), 40))"

const pawl__sql_family pawl__mysql_family = {
    .name            = "mysql",
    .templates       = pawl__mysql_templates,
    .overrides       = pawl__mysql_overrides,
    .statement_count = PAWL__MYSQL_STATEMENT_COUNT,
    /* No block_behind: an update by the source would wait for the inserts of all others. */
    .event_count       = PAWL__MYSQL_EVENT_COUNT,
    .event_insert_sure = PAWL__MYSQL_EVENT_INSERT_SURE,
    .partition_known   = PAWL__MYSQL_PARTITION_KNOWN,
    .partition_others  = PAWL__MYSQL_PARTITION_OTHERS,
    .lock_ops =
        {
            .claim       = PAWL__MYSQL_QUEUE_CLAIM,
            .claim_more  = PAWL__MYSQL_QUEUE_CLAIM_MORE,
            .claim_free  = PAWL__MYSQL_QUEUE_CLAIM_FREE,
            .claim_again = PAWL__MYSQL_QUEUE_CLAIM_AGAIN,
            .count_due   = PAWL__MYSQL_QUEUE_COUNT_DUE,
            .lock        = PAWL__MYSQL_QUEUE_LOCK,
            PAWL__SQL_SESSION_LOCKS,
        },
    .failures      = &pawl__mysql_failures,
    .begin         = begin,
    .is_open       = is_open,
    .worker_lock   = worker_lock,
    .worker_unlock = worker_unlock,
    .lives         = {"select concat(", ", ", ")", append_life},
    .database_id   = database_id,
    .run           = {.lock   = "select coalesce(get_lock(" SCRIPT_LOCK ", %lld / 1000.0), 0) - 1",
                      .unlock = "do release_lock(" SCRIPT_LOCK ")",
                      .join   = "set session wsrep_sync_wait = 1",
                      .leave  = "set session wsrep_sync_wait = default"},
    .schema_ops    = &schema_ops,
    .checks        = &pawl__mysql_checks,
    .client        = "%s -D '%s' -e",
};
