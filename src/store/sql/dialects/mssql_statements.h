/* mssql_statements.h - the statements that SQL Server needs in another form than the shared one: words that
 * lock rows stand behind their table, not at the end; there is no `on conflict`, and no subquery in VALUES.
 * Their numbers follow those of the shared statements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_MSSQL_STATEMENTS_H
#define PAWL_STORE_SQL_DIALECTS_MSSQL_STATEMENTS_H

#include "store/sql/row_statements.h"

/* Locks rows for a write, one by one, and skips those that others have locked. If reads see versions of rows
 * (read_committed_snapshot), readpast needs readcommittedlock. The index is named because a scan of the table would
 * lock every row. */
#define PAWL__MSSQL_TAKEN "with (updlock, readpast, rowlock, readcommittedlock) "
#define PAWL__MSSQL_TAKEN_BY(index) \
    "with (updlock, readpast, rowlock, readcommittedlock, index({name:" index "})) "
#define PAWL__MSSQL_LOCKED "with (updlock, rowlock) "
/* No other transaction can insert the row until this one ends. */
#define PAWL__MSSQL_ALONE "with (updlock, holdlock, rowlock) "

#define PAWL__MSSQL_DUE "where [Queue] = ?1 and [Due] <= ?2 "
#define PAWL__MSSQL_IN_ORDER "order by [Due], [Seq] {limit:?3}"
/* OUTBOX_SAME: '=' takes bytes for equal that differ in bytes NUL at their end.
 *
 * A long parameter is cast: Microsoft's driver would send it as image or ntext, which neither '=' (402) nor
 * string_split (8116) takes. */
#define PAWL__MSSQL_LONG_TEXT(parameter) "cast(" parameter " as nvarchar(max))"
#define PAWL__MSSQL_LONG_BYTES(parameter) "cast(" parameter " as varbinary(max))"
#define PAWL__MSSQL_NOT_OF                                                                     \
    "and [Seq] not in (select cast(value as bigint) from string_split(" PAWL__MSSQL_LONG_TEXT( \
        "?4") ", ',')) "
#define PAWL__MSSQL_FREE_AT(time) "([LeaseExpires] is null or [LeaseExpires] <= " time ") "

#define PAWL__MSSQL_SUM(counter) "t." counter " = t." counter " + w." counter
#define PAWL__MSSQL_NEW(column) "t." column " = k." column

/* Rows of two filtered indexes, with a select for each. */
#define PAWL__MSSQL_OF_SAGA_IN(condition) \
    "select [Id] from {timeouts} where [SagaId] between ?1 and ?1 and [SagaId] is not null and " condition
#define PAWL__MSSQL_OF_SAGA                                                                  \
    "[Id] in (" PAWL__MSSQL_OF_SAGA_IN("[Name] <> ''") " union all " PAWL__MSSQL_OF_SAGA_IN( \
        "[Name] = ''") ")"

/* TIMEOUT_CANCEL and the like: the planner does not use an index that is filtered by a column if that column is compared
 * with a parameter by '='.
 *
 * TIMEOUT_LIST: ids are ordered as texts, an order that no index has. The statement reads as many rows as are asked for
 * by due time, with all that are due at the same time as the last one, and sorts these.
 *
 * TIMEOUT_FOREIGN: a recursive part may have neither an aggregate nor a top, but may number rows. */
#define PAWL__MSSQL_FOREIGN_TEXT                                                  \
    "with d (name) as (select min([Destination]) from {timeouts} union all "      \
    "select r.name from (select t.[Destination] as name, "                        \
    "row_number() over (order by t.[Destination]) as place from {timeouts} as t " \
    "join d on t.[Destination] > d.name) as r where r.place = 1), "               \
    "f (name, due) as (select d.name, (select min(t.[Due]) from {timeouts} as t " \
    "where t.[Destination] = d.name "                                             \
    "and (t.[LeaseExpires] is null or t.[LeaseExpires] <= ?2)) "                  \
    "from d where d.name is not null and (d.name = ?1 or not exists "             \
    "(select 1 from {subscriptions} as s where s.[Queue] = d.name))) "            \
    "select name, due from f where due is not null order by name option (maxrecursion 0)"

/* Deletes the oldest rows, `?2` at most; locked ones wait for the next sweep. Callers ask for 2,000 at most: with
 * 5,000 locks a statement locks the whole table. */
#define PAWL__MSSQL_SWEEP(table, condition, order)                                      \
    "with old as (select top (?2) [At] from {" table                                    \
    "} with (readpast, rowlock, readcommittedlock) where " condition " order by " order \
    ") delete from old"

/* name, template */
#define PAWL__MSSQL_STATEMENTS(X)                                                                                                                                                                                                   \
    X(QUEUE_CLAIM, PAWL__SQL_QUEUE_ROW_TEXT PAWL__MSSQL_TAKEN_BY("queue_due")                                                                                                                                                       \
                       PAWL__MSSQL_DUE PAWL__MSSQL_IN_ORDER)                                                                                                                                                                        \
    X(QUEUE_CLAIM_MORE,                                                                                                                                                                                                             \
      PAWL__SQL_QUEUE_ROW_TEXT               PAWL__MSSQL_TAKEN_BY("queue_due")                                                                                                                                                      \
          PAWL__MSSQL_DUE PAWL__MSSQL_NOT_OF PAWL__MSSQL_IN_ORDER " option (loop join)")                                                                                                                                            \
    X(QUEUE_CLAIM_AGAIN, PAWL__SQL_QUEUE_ROW_TEXT PAWL__MSSQL_TAKEN                                                                                                                                                                 \
      "where [Seq] = ?1 and [Queue] = ?2 and [Due] <= ?3")                                                                                                                                                                          \
    X(QUEUE_COUNT_DUE,                                                                                                                                                                                                              \
      "select count(*) from (select [Seq] from {queue} with (readpast, readcommittedlock) " PAWL__MSSQL_DUE                                                                                                                         \
          PAWL__MSSQL_IN_ORDER ") as d")                                                                                                                                                                                            \
    X(QUEUE_LOCK,                                                                                                                                                                                                                   \
      "select [Seq] from {queue} " PAWL__MSSQL_TAKEN "where [Seq] = ?1 and [Due] = ?2")                                                                                                                                             \
    X(QUEUE_FIRST, "select [Due] from {queue} " PAWL__MSSQL_TAKEN_BY(                                                                                                                                                               \
                       "queue_due") "where [Queue] = ?1 order by [Due] {limit:1}")                                                                                                                                                  \
    X(OUTBOX_BLOCK_BEHIND, "update {outbox} set [State] = 'held' where [State] = 'pending' "                                                                                                                                        \
                           "and [Attempts] = 0 and [Id] > ?2 and [Source] = ?1")                                                                                                                                                    \
    X(OUTBOX_SAME,                                                                                                                                                                                                                  \
      "select 1 from {outbox} where [DispatchId] = ?1 and [Type] = ?2 and [Body] = " PAWL__MSSQL_LONG_BYTES(                                                                                                                        \
          "?3") " and datalength([Body]) = datalength(" PAWL__MSSQL_LONG_BYTES("?3") ")")                                                                                                                                           \
    X(WORKER_FOLD,                                                                                                                                                                                                                  \
      "update t set " PAWL__MSSQL_SUM("[Messages]") ", " PAWL__MSSQL_SUM("[Timeouts]") ", " PAWL__MSSQL_SUM("[Flushes]") ", " PAWL__MSSQL_SUM(                                                                                      \
          "[Failures]") ", " PAWL__MSSQL_SUM("[Conflicts]") ", " PAWL__MSSQL_SUM("[Dead]") " from {workers} as t join {workers} as w on w.[Id] = ?2 "                                                                               \
                                                                                           "where t.[Id] = ?1")                                                                                                                     \
    X(WORKER_KEEP, "insert into {workers} ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], "                                                                                                                                  \
                   "[Seen], " PAWL__SQL_COUNTERS ") select ?1, '', '', 0, 0, 0, {epoch}, "                                                                                                                                          \
                   "0, 0, 0, 0, 0, 0 where not exists (select 1 from {workers} " PAWL__MSSQL_ALONE                                                                                                                                  \
                   "where [Id] = ?1)")                                                                                                                                                                                              \
    X(LEAD_LIST, "select substring(l.[Name], 6, 400), l.[Worker], l.[Expires], w.[Process], "                                                                                                                                       \
                 "w.[Seen] from {leases} as l join {workers} as w on w.[Id] = l.[Worker] "                                                                                                                                          \
                 "where substring(l.[Name], 1, 5) = 'lead:' and l.[Expires] > ?1")                                                                                                                                                  \
    X(LEASE_LOCK, "select [Epoch] from {leases} " PAWL__MSSQL_LOCKED "where [Name] = ?1")                                                                                                                                           \
    X(INBOX_SWEEP, PAWL__MSSQL_SWEEP("inbox", "[At] < ?1", "[At]"))                                                                                                                                                                 \
    X(OUTBOX_SWEEP, PAWL__MSSQL_SWEEP("outbox", "[DispatchedAt] < ?1", "[DispatchedAt]"))                                                                                                                                           \
    X(HISTORY_SWEEP,                                                                                                                                                                                                                \
      "with old as (select top (?2) [Id], [At] from {history} with (readpast, rowlock, readcommittedlock) "                                                                                                                         \
      "where [Id] > ?3 order by [Id]) delete from old where [At] < ?1")                                                                                                                                                             \
    X(TIMEOUT_FOREIGN, PAWL__MSSQL_FOREIGN_TEXT)                                                                                                                                                                                    \
    X(TIMEOUT_CLAIM,                                                                                                                                                                                                                \
      PAWL__SQL_TIMEOUT_ROW                                                                                                                                                                                                         \
          PAWL__MSSQL_TAKEN_BY("timeouts_due") "where [Destination] = ?1 and [Due] <= ?2 and " PAWL__MSSQL_FREE_AT(                                                                                                                 \
              "?3") "order by [Due], [Id] {limit:?4}")                                                                                                                                                                              \
    X(TIMEOUT_CLAIM_ANY,                                                                                                                                                                                                            \
      PAWL__SQL_TIMEOUT_ROW                                                                                                                                                                                                         \
          PAWL__MSSQL_TAKEN_BY("timeouts_any") "where [Due] <= ?1 and " PAWL__MSSQL_FREE_AT(                                                                                                                                        \
              "?2") "order by [Due], [Id] {limit:?3}")                                                                                                                                                                              \
    X(EVENT_TURN, "select [Version] from {schema} " PAWL__MSSQL_LOCKED "where [Part] = 'pawl'")                                                                                                                                     \
    X(EVENT_INSERT,                                                                                                                                                                                                                 \
      "insert into {events} ([Stream], [Version], " PAWL__SQL_EVENT ") select "                                                                                                                                                     \
      "case when ?12 = 0 or ?2 = 1 "                                                                                                                                                                                                \
      "or exists (select 1 from {events} where [Stream] = ?1 and [Version] = ?2 - 1) "                                                                                                                                              \
      "then ?1 end, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11")                                                                                                                                                                      \
    X(EVENT_POSITION, "select max([Position]) from {events} where [Position] is not null")                                                                                                                                          \
    X(TIMEOUT_CANCEL, "delete from {timeouts} where [SagaId] = ?1 and [Name] between ?2 and ?2 "                                                                                                                                    \
                      "and [Name] <> ''")                                                                                                                                                                                           \
    X(TIMEOUT_CANCEL_ALL, "delete from {timeouts} where " PAWL__MSSQL_OF_SAGA)                                                                                                                                                      \
    /* Pages of several destinations are merged in the byte order of ids; this database sorts them in another order. */                                                                                                             \
    X(TIMEOUT_LIST,                                                                                                                                                                                                                 \
      "select top (?4) " PAWL__SQL_TIMEOUT_COLUMNS                                                                                                                                                                                  \
      "from (select top (?4) with ties " PAWL__SQL_TIMEOUT_COLUMNS                                                                                                                                                                  \
      "from {timeouts} where [Destination] = ?1 and [Due] >= ?2 and ([Due] > ?2 or convert(char(36), [Id]) > "                                                                                                                      \
      "convert(char(36), cast(?3 as uniqueidentifier))) order by [Due]) as t order by [Due], convert(char(36), [Id])")                                                                                                              \
    X(TIMEOUT_LIST_SAGA,                                                                                                                                                                                                            \
      PAWL__SQL_TIMEOUT_ROW "where " PAWL__MSSQL_OF_SAGA " and " PAWL__SQL_TIMEOUT_PAGE)                                                                                                                                            \
    X(TIMEOUT_REARM_SAGA,                                                                                                                                                                                                           \
      "update {timeouts} set [Generation] = [Generation] + 1, [SagaType] = ?1, "                                                                                                                                                    \
      "[Destination] = ?2, [Due] = ?3, [Attempts] = 0, " PAWL__SQL_NO_OWNER ", "                                                                                                                                                    \
      "[CorrelationId] = ?4, [Headers] = ?5 "                                                                                                                                                                                       \
      "where [SagaId] = ?6 and [Name] between ?7 and ?7 and [Name] <> ''")                                                                                                                                                          \
    X(HISTORY_FIND_SOURCE, PAWL__SQL_HISTORY_ROW                                                                                                                                                                                    \
      "where [Source] between ?1 and ?1 and [Source] <> '' and " PAWL__SQL_HISTORY_QUERY)                                                                                                                                           \
    X(FOLD_SET,                                                                                                                                                                                                                     \
      "merge into {folds} " PAWL__MSSQL_ALONE                                                                                                                                                                                       \
      "as t using (select ?1 as [Stream], ?2 as [Version], "                                                                                                                                                                        \
      "?3 as [TypeVersion], " PAWL__MSSQL_LONG_TEXT("?4") " as [State], " PAWL__MSSQL_LONG_TEXT(                                                                                                                                    \
          "?5") " as [Dispatches], ?6 as [At]) as k "                                                                                                                                                                               \
                "on t.[Stream] = k.[Stream] when matched and k.[Version] > t.[Version] then update set " PAWL__MSSQL_NEW("[Version]") ", " PAWL__MSSQL_NEW(                                                                         \
                    "[TypeVersion]") ", " PAWL__MSSQL_NEW("[State]") ", " PAWL__MSSQL_NEW("[Dispatches]") ", " PAWL__MSSQL_NEW("[At]") " when not matched then insert ([Stream], [Version], [TypeVersion], [State], [Dispatches], " \
                                                                                                                                       "[At]) values (k.[Stream], k.[Version], k.[TypeVersion], k.[State], k.[Dispatches], "        \
                                                                                                                                       "k.[At]);")                                                                                  \
    X(FLUSH_ADD,                                                                                                                                                                                                                    \
      "merge into {aggregator_flush} " PAWL__MSSQL_ALONE                                                                                                                                                                            \
      "as t using (select ?1 as [Partition], ?2 as [Name], ?3 as [Due]) as k "                                                                                                                                                      \
      "on t.[Partition] = k.[Partition] when matched then update set " PAWL__MSSQL_NEW(                                                                                                                                             \
          "[Name]") " when not matched then insert "                                                                                                                                                                                \
                    "([Partition], [Name], [Due], [Attempts], [Dead], [Error]) values (k.[Partition], k.[Name], k.[Due], 0, 0, '');")                                                                                               \
    X(AGGREGATOR_CLAIM, PAWL__SQL_AGGREGATOR_ROW PAWL__MSSQL_TAKEN_BY(                                                                                                                                                              \
                            "aggregator_at") "where [Partition] = ?1 order by [At], [Id]")                                                                                                                                          \
    /* Waits repeat this statement. It skips rows that are not committed yet. */                                                                                                                                                    \
    X(NEWS,                                                                                                                                                                                                                         \
      "select coalesce((select max([Seq]) from {queue} with (readpast, readcommittedlock)), 0), "                                                                                                                                   \
      "coalesce((select max([Id]) from {outbox} with (readpast, readcommittedlock)), 0), "                                                                                                                                          \
      "coalesce((select max([Seq]) from {events} with (readpast, readcommittedlock)), 0), "                                                                                                                                         \
      "coalesce((select max([Id]) from {aggregator} with (readpast, readcommittedlock)), 0)")                                                                                                                                       \
    /* The catalog of one table. Computed columns are pawl's own, and take no value. */                                                                                                                                             \
    X(SCHEMA_COLUMNS,                                                                                                                                                                                                               \
      "select t.name, c.name, case when y.name in ('nvarchar', 'varchar', 'varbinary') "                                                                                                                                            \
      "then concat(y.name, '(', case when c.max_length = -1 then 'max' "                                                                                                                                                            \
      "when y.name = 'nvarchar' then cast(c.max_length / 2 as varchar(10)) "                                                                                                                                                        \
      "else cast(c.max_length as varchar(10)) end, ')') "                                                                                                                                                                           \
      "when y.name in ('datetime2', 'datetimeoffset') then concat(y.name, '(', c.scale, ')') "                                                                                                                                      \
      "else y.name end, coalesce(c.collation_name, ''), case when c.is_nullable = 1 then 0 else 1 end, "                                                                                                                            \
      "case when c.is_identity = 1 or c.is_computed = 1 or c.default_object_id <> 0 then 1 else 0 end "                                                                                                                             \
      "from sys.tables as t join sys.columns as c on c.object_id = t.object_id "                                                                                                                                                    \
      "join sys.types as y on y.user_type_id = c.user_type_id "                                                                                                                                                                     \
      "where t.schema_id = schema_id('dbo') and t.name = ?1 order by c.column_id")                                                                                                                                                  \
    X(SCHEMA_INDEXES,                                                                                                                                                                                                               \
      "select t.name, i.name, stuff((select concat(', ', quotename(c.name)) "                                                                                                                                                       \
      "from sys.index_columns as k join sys.columns as c on c.object_id = k.object_id "                                                                                                                                             \
      "and c.column_id = k.column_id where k.object_id = i.object_id and k.index_id = i.index_id "                                                                                                                                  \
      "and k.is_included_column = 0 and c.is_computed = 0 order by k.key_ordinal "                                                                                                                                                  \
      "for xml path(''), type).value('.', 'nvarchar(max)'), 1, 2, ''), "                                                                                                                                                            \
      "cast(i.is_primary_key as int), cast(i.is_unique as int), "                                                                                                                                                                   \
      "case when i.is_disabled = 1 then 0 else 1 end, cast(i.has_filter as int) "                                                                                                                                                   \
      "from sys.tables as t join sys.indexes as i on i.object_id = t.object_id and i.type > 0 "                                                                                                                                     \
      "where t.schema_id = schema_id('dbo') and t.name = ?1 order by i.index_id")

#define PAWL__MSSQL_NAME_OF(name, text) PAWL__MSSQL_##name,
enum {
    PAWL__MSSQL_BEFORE = PAWL__SQL_ROW_STATEMENT_END - 1,
    PAWL__MSSQL_STATEMENTS(PAWL__MSSQL_NAME_OF) PAWL__MSSQL_STATEMENT_COUNT
};

/* For each shared statement (row statements included) the one of these that replaces it, or 0. */
extern const int pawl__mssql_overrides[];
/* By number: the shared statements, those of rows, and these. */
extern const char *const pawl__mssql_templates[];

#endif
