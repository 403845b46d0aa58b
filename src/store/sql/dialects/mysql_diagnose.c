/* mysql_diagnose.c - the checks of MySQL and MariaDB servers: what delays pawl's work, or could lose it.
 *
 * Each check is a select on the server's variables and system tables (store/sql/diagnose.h). Settings
 * that a session of pawl makes for itself (sql_mode, isolation, time zone) are not checked: the
 * server's values of these do no harm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"
#include "store/sql/dialects/mysql_statements.h"
#include "store/sql/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MICROSECONDS_SINCE(time) \
    "timestampdiff(microsecond, " time ", convert_tz(utc_timestamp(6), '+00:00', 'SYSTEM'))"
/* Connections of all users; without the right `process` the list has only those of this user. */
#define USED                                                                           \
    "coalesce(@pawl_used, (select count(*) from information_schema.processlist where " \
    "command not in ('Daemon', 'Binlog Dump')))"
#define USED_OF(schema)                                                                        \
    "set @pawl_used = (select cast(variable_value as unsigned) from " schema ".global_status " \
    "where variable_name = 'threads_connected')"

static const pawl__sql_check checks[] = {
    {.name   = "clock",
     .select = "select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)), '', ''",
     .measure = PAWL__SQL_MEASURE_CLOCK},
    {.name   = "server",
     .select = "select if(" PAWL__MYSQL_READ_ONLY ", 2, 0), "
               "if(" PAWL__MYSQL_READ_ONLY ", "
               "concat('this server may only be read (', version(), '): name the primary in the "
               "URL'), concat('version ', version())), ''"},
    {.name   = "innodb_flush_log_at_trx_commit",
     .select = "select if(@@innodb_flush_log_at_trx_commit = 1, 0, 1), "
               "concat(@@innodb_flush_log_at_trx_commit, "
               "if(@@innodb_flush_log_at_trx_commit = 1, '', ': commits of the last second are "
               "lost when the server crashes, or its machine')), "
               "if(@@innodb_flush_log_at_trx_commit = 1, '', "
               "'set global innodb_flush_log_at_trx_commit = 1')"},
    {.name   = "sync_binlog",
     .select = "select if(@@log_bin = 0 or @@sync_binlog = 1, 0, 1), "
               "if(@@log_bin = 0, 'there is no binary log', concat("
               "@@sync_binlog, if(@@sync_binlog = 1, '', ': after a crash replicas may differ'))), "
               "if(@@log_bin = 0 or @@sync_binlog = 1, '', 'set global sync_binlog = 1')"},
    {.name   = "binlog_format",
     .select = "select if(@@log_bin = 0 or @@binlog_format <> 'STATEMENT', 0, 2), "
               "concat(@@binlog_format, if(@@log_bin = 0 or "
               "@@binlog_format <> 'STATEMENT', '', ': the server refuses every write of pawl')), "
               "if(@@log_bin = 0 or @@binlog_format <> 'STATEMENT', '', "
               "'set global binlog_format = ROW')"},
    {.name   = "max_allowed_packet",
     .select = "select if(@@global.max_allowed_packet >= 16777216, 0, 1), "
               "concat(@@global.max_allowed_packet, ' bytes', "
               "if(@@global.max_allowed_packet >= 16777216, '', ': larger messages and sagas are "
               "refused')), if(@@global.max_allowed_packet >= 16777216, '', "
               "'set global max_allowed_packet = 67108864')"},
    {.name   = "sql_mode",
     .select = "select if(find_in_set('STRICT_ALL_TABLES', @@session.sql_mode), 0, 2), "
               "if(find_in_set('STRICT_ALL_TABLES', @@session.sql_mode), 'strict in sessions of "
               "pawl', 'a session of pawl lost its settings: a proxy shares it with others'), ''"},
    {.name   = "connections",
     .select = "select case when " USED " * 100 < @@max_connections * 80 then 0 "
               "when " USED " * 100 < @@max_connections * 95 then 1 else 2 end, "
               "concat(" USED ", ' of ', @@max_connections, ' connections are in use'), "
               "if(" USED " * 100 < @@max_connections * 80, '', 'show processlist')"},
    {.name   = "transactions",
     .select = "select " MICROSECONDS_SINCE(
         "t.trx_started") ", if(w.[Id] is not null, "
                          "concat('worker ', w.[Id], ' (process ', w.[Pid], ' on ', w.[Host], ') has run a "
                          "handler since ', t.trx_started, ': the log of the process names it; if it hangs, "
                          "end the process'), "
                          "if(t.trx_mysql_thread_id = 0, concat('a prepared XA transaction waits for its end since ', "
                          "t.trx_started, ': rows that it locked wait; xa recover lists it, xa rollback or xa commit "
                          "with its name ends it'), "
                          "concat('a transaction of user ', coalesce(p.user, '?'), ' at ', coalesce(p.host, "
                          "'?'), ' (connection ', t.trx_mysql_thread_id, ', ', lower(coalesce(p.command, '?')), "
                          "') is open since ', t.trx_started, ': rows that it locked wait, and the server "
                          "keeps every older version of a row'))), "
                          "case when w.[Id] is not null then '' when t.trx_mysql_thread_id = 0 then 'xa recover' "
                          "else concat('kill ', t.trx_mysql_thread_id) end "
                          "from information_schema.innodb_trx as t "
                          "left join information_schema.processlist as p on p.id = t.trx_mysql_thread_id "
                          "left join {workers} as w on w.[Process] <> 0 and is_used_lock(concat("
                          "coalesce(@pawl_locks, ''), lower(lpad(hex(w.[Process]), 16, '0')))) "
                          "= t.trx_mysql_thread_id "
                          "where t.trx_mysql_thread_id <> connection_id() order by t.trx_started",
     .measure = PAWL__SQL_MEASURE_AGE,
     .none    = "none is open for long",
     .unable  = "grant process on *.* to "},
    {.name = "leases",
     .select =
         "select 1, concat(count(*), ' timeouts of ', t.[Destination], ' are leased by nobody "
         "who lives, since ', min(t.[LeaseExpires]), ': the next worker of the endpoint takes "
         "them'), '' from {timeouts} as t "
         "where t.[LeaseExpires] < utc_timestamp(6) - interval 1 minute "
         "group by t.[Destination]",
     .none = "no lease has run out"},
    {.name   = "events",
     .select = "select 2, concat(count(*), ' events have no global position, the oldest of ', "
               "min(e.[At]), ': projections read none behind them, and no worker assigns them'), "
               "'' from {events} as e where e.[Position] is null "
               "and exists (select 1 from {checkpoints} where [Name] like 'projection/%') "
               "and not exists (select 1 from {leases} as l where l.[Name] = 'lead:sequencer' "
               "and l.[Expires] > utc_timestamp(6)) "
               "having count(*) > 0 and min(e.[At]) < utc_timestamp(6) - interval 1 minute",
     .none   = "each has its global position, or gets it"},
};

/* ---- Rights ------------------------------------------------------------- */

/* Rights are tried with EXPLAIN, which runs nothing: without a right the server refuses the statement before. */
static const char *const right_names[] = {"select", "insert", "update", "delete"};

static void append_probe(pawl__sql_text *text, const pawl__sql_doctor *doctor,
                         const pawl__sql_table *table, size_t right)
{
    char        form[300];
    const char *name = table->name, *column = table->columns[0].name;
    if (right == 0)
        (void)snprintf(form, sizeof form, "explain select * from {%s} where 1 = 0", name);
    else if (right == 1)
        (void)snprintf(form, sizeof form, "explain insert into {%s} ([%s]) values (null)", name,
                       column);
    else if (right == 2)
        (void)snprintf(form, sizeof form, "explain update {%s} set [%s] = null where 1 = 0", name,
                       column);
    else
        (void)snprintf(form, sizeof form, "explain delete from {%s} where 1 = 0", name);
    pawl__sql_expand(text, doctor->dialect, doctor->store->system_prefix, form);
}

/* `*is_allowed` stays true if the failure is not about rights: a missing table concerns the schema, and a read-only
 * server has a check of its own. */
static pawl_code probe(pawl__sql_doctor *doctor, const pawl__sql_table *table, size_t right,
                       bool *is_allowed)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(doctor->store);
    pawl__sql_text    text   = {0};
    pawl_error        why    = PAWL_ERROR_INIT;
    append_probe(&text, doctor, table, right);
    pawl_code code = text.is_failed
                         ? pawl__sql_no_memory(doctor->store, "a check", doctor->error)
                         : remote->sql.ops->ask(remote->main, text.data, NULL, NULL, &why);
    pawl__sql_text_free(&text);
    *is_allowed       = code != PAWL_EDENIED;
    bool is_read_only = code == PAWL_EUNREACHABLE && !remote->main->is_lost;
    return pawl__sql_is_gone(code) && !is_read_only
               ? pawl_error_set(doctor->error, code, "%s", why.text)
               : PAWL_OK;
}

/* Adds what is missing on one table to the text, and to the remedy. */
static pawl_code check_table(pawl__sql_doctor *doctor, const pawl__sql_table *table,
                             pawl__sql_text *text, pawl__sql_text *remedy)
{
    pawl__sql_text missing = {0};
    pawl_code      code    = PAWL_OK;
    size_t         count   = strcmp(table->name, "schema") == 0 ? 1 : 4; /* the version is read */
    for (size_t right = 0; code == PAWL_OK && right < count; right++) {
        bool is_allowed = true;
        code            = probe(doctor, table, right, &is_allowed);
        if (!is_allowed)
            pawl__sql_appendf(&missing, "%s%s", missing.size != 0 ? ", " : "", right_names[right]);
    }
    if (missing.size != 0) {
        pawl__sql_appendf(text, "%s%s on %s%s", text->size != 0 ? "; " : "", missing.data,
                          doctor->store->system_prefix, table->name);
        pawl__sql_appendf(remedy, "%sgrant %s on ", remedy->size != 0 ? "; " : "", missing.data);
        pawl__sql_append_table(remedy, doctor->dialect, doctor->store->system_prefix,
                               pawl_text_of(table->name));
        pawl__sql_appendf(remedy, " to %s", doctor->user);
    }
    text->is_failed |= missing.is_failed;
    pawl__sql_text_free(&missing);
    return code;
}

/* Names this user for remedies, which somebody with more rights runs. The host stands behind the last @. */
static pawl_code name_user(pawl__sql_doctor *doctor)
{
    static const char text[] =
        "select concat(quote(left(u, char_length(u) - char_length(h) - 1)), '@', quote(h)) from "
        "(select current_user() as u, substring_index(current_user(), '@', -1) as h) as c";
    return pawl__sql_ask_text(pawl__sql_remote_of(doctor->store)->main, text, doctor->user,
                              sizeof doctor->user, doctor->error);
}

/* For the check of transactions, which finds sessions with a worker's lock by the lock's name. */
static pawl_code name_locks(pawl__sql_doctor *doctor)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(doctor->store);
    char              text[60], name[PAWL__MYSQL_LOCKS_SIZE];
    pawl__mysql_name_locks(remote, name);
    (void)snprintf(text, sizeof text, "set @pawl_locks = '%s'", name);
    return pawl__sql_query(remote->main, text, doctor->error);
}

/* Counts connections, for the check of their number. */
static pawl_code count_used(pawl__sql_doctor *doctor)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(doctor->store);
    return pawl__sql_query(remote->main,
                           pawl__mysql_is_mariadb(remote) ? USED_OF("information_schema")
                                                          : USED_OF("performance_schema"),
                           doctor->error);
}

static pawl_code check_rights(pawl__sql_doctor *doctor)
{
    pawl__sql_text text = {0}, remedy = {0}, said = {0};
    pawl_code      code = name_locks(doctor);
    if (code == PAWL_OK)
        code = name_user(doctor);
    if (code == PAWL_OK)
        code = count_used(doctor);
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_table_count; i++)
        code = check_table(doctor, &pawl__sql_tables[i], &text, &remedy);
    if (text.size != 0)
        pawl__sql_appendf(&said, "this user may not do what a worker does: %s", text.data);
    if (code == PAWL_OK && (text.is_failed || remedy.is_failed || said.is_failed))
        code = pawl__sql_no_memory(doctor->store, "a check", doctor->error);
    if (code == PAWL_OK && text.size == 0)
        code = pawl__sql_findf(doctor, "rights", PAWL_FINDING_OK, "",
                               "this user may do what a worker does");
    else if (code == PAWL_OK)
        code = pawl__sql_add_finding(doctor, "rights", PAWL_FINDING_FAIL, pawl__sql_text_of(&said),
                                     pawl__sql_text_of(&remedy));
    pawl__sql_text_free(&text);
    pawl__sql_text_free(&remedy);
    pawl__sql_text_free(&said);
    return code;
}

const pawl__sql_check_list pawl__mysql_checks = {checks, sizeof checks / sizeof checks[0],
                                                 check_rights};
