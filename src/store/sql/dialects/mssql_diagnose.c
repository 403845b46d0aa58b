/* mssql_diagnose.c - the checks of a SQL Server: settings of the database and of sessions that hold up pawl's
 * work, or could lose it (store/sql/diagnose.h). None needs more than the right to connect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#define OF_DATABASE " from sys.databases where database_id = db_id()"
#define ALTER(setting) "concat('alter database ', quotename(name), ' set " setting "')"
/* The level of the finding: 0 if the condition holds, else `level`. */
#define LEVEL(condition, level) \
    "cast(case when " condition " then 0 else " #level " end as bigint), "
#define SAYS(condition, right, wrong) "case when " condition " then " right " else " wrong " end, "
#define REMEDY(condition, sql) "case when " condition " then '' else " sql " end"

/* Not by is_read_only, which is 0 on a secondary replica that cannot be written. */
#define IS_WRITTEN "cast(databasepropertyex(name, 'Updateability') as nvarchar(20)) = 'READ_WRITE'"

#define CHECK(check, level, condition, right, wrong, sql)                                        \
    {                                                                                            \
        .name = check, .select = "select " LEVEL(condition, level) SAYS(condition, right, wrong) \
                           REMEDY(condition, sql) OF_DATABASE                                    \
    }

/* The right, as the word of a grant, if has_perms_by_name says that it is missing. */
#define RIGHT(word) \
    "case has_perms_by_name(n.t, 'OBJECT', '" word "') when 1 then '' else ' " word "' end"

static const pawl__sql_check checks[] = {
    {.name   = "server",
     .select = "select cast(0 as bigint), concat('SQL Server ', "
               "cast(serverproperty('ProductVersion') as nvarchar(128)), ', ', "
               "cast(serverproperty('Edition') as nvarchar(128))), ''"},
    {.name    = "clock",
     .select  = "select datediff_big(microsecond, '1970-01-01', sysutcdatetime()), '', ''",
     .measure = PAWL__SQL_MEASURE_CLOCK},
    {.name = "rights",
     .select =
         "select cast(2 as bigint), concat('this user may not do on ', n.t, ':', n.r), "
         "concat('grant select, insert, update, delete on ', n.t, ' to ', "
         "quotename(user_name())) from (select n.t, concat(" RIGHT("SELECT") ", " RIGHT("INSERT") ", " RIGHT(
             "UPDATE") ", " RIGHT("DELETE") ") as r from (values "
                                            "('{queue}'), ('{dead}'), ('{inbox}'), ('{outbox}'), ('{outbox_attempts}'), "
                                            "('{events}'), ('{folds}'), ('{checkpoints}'), ('{timeouts}'), ('{aggregator}'), "
                                            "('{aggregator_flush}'), ('{subscriptions}'), ('{workers}'), ('{leases}'), "
                                            "('{history}')) as n (t)) as n where n.r <> ''",
     .none = "this user may do what a worker does"},
    CHECK(
        "row_versions", 1, "is_read_committed_snapshot_on = 1",
        "'read_committed_snapshot is on: readers wait for nobody'",
        "'read_committed_snapshot is off: lists, statistics and queries wait for commits under way'",
        ALTER("read_committed_snapshot on with rollback immediate")),
    CHECK("durability", 1, "delayed_durability_desc <> 'FORCED'", "delayed_durability_desc",
          "'delayed_durability is forced: commits of the last moments are lost when the server "
          "crashes'",
          ALTER("delayed_durability = disabled")),
    CHECK("auto_close", 1, "is_auto_close_on = 0", "'auto_close is off'",
          "'auto_close is on: the database is opened anew for the next session'",
          ALTER("auto_close off")),
    CHECK("statistics", 1, "is_auto_update_stats_on = 1", "'statistics are kept'",
          "'auto_update_statistics is off: plans of empty tables stay'",
          ALTER("auto_update_statistics on")),
    CHECK("read_only", 2, IS_WRITTEN, "'the database may be written'",
          "case when is_read_only = 1 then 'the database can only be read' else 'the database can "
          "only be read on this server: name the primary replica' end",
          "case when is_read_only = 1 then " ALTER("read_write") " else '' end"),
    CHECK("page_verify", 1, "page_verify_option = 2", "'pages have checksums'",
          "concat('page_verify is ', page_verify_option_desc, ': a damaged page is not noticed')",
          ALTER("page_verify checksum")),
    {.name   = "settings",
     .select = "select cast(case when @@options & 5496 = 5496 and @@options & 8192 = 0 then 0 else "
               "2 end as bigint), concat('options of the session: ', @@options), ''"},
};

const pawl__sql_check_list pawl__mssql_checks = {checks, sizeof checks / sizeof checks[0], NULL};
