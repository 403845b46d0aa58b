/* mysql_statements.h - what MySQL and MariaDB say in another way than the shared statements: they have
 * no `update ... from` and no `on conflict`, and a statement that writes a table may not read it in a
 * subquery. Counted on from the shared ones. They are here for both connections to such a server: the
 * client library's (store/mysql) and ODBC's (store/odbc).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_MYSQL_STATEMENTS_H
#define PAWL_STORE_SQL_DIALECTS_MYSQL_STATEMENTS_H

#include "store/sql/row_statements.h"

/* Whether the server can only be read. */
#define PAWL__MYSQL_READ_ONLY "@@global.read_only or @@innodb_read_only"

/* A number of the server, of which there may be several behind one name. */
#define PAWL__MYSQL_SERVER "crc32(concat_ws('/', @@hostname, @@port, @@datadir))"

#define PAWL__MYSQL_SUM(counter) "t." counter " = t." counter " + w." counter
/* The columns are set in their order, and a later one sees the earlier: the version is the last. */
#define PAWL__MYSQL_NEWER(column) \
    column " = if(values([Version]) > [Version], values(" column "), " column ")"

/* EVENT_INSERT: as the shared one, a null stream where the event before is not there. A derived
 * table may read what is written (1093), and `insert ... select` would take MariaDB's lock of all
 * numbers until the commit: two streams that wait for each other's fail with 1467. */

/* The index is named since on a small table the server would read, and lock, all rows instead. */
#define PAWL__MYSQL_DUE "force index ({queue_due}) where [Queue] = ?1 and [Due] <= ?2 "
#define PAWL__MYSQL_LOCKED "for update skip locked"
#define PAWL__MYSQL_CLAIMED "order by [Due], [Seq] limit ?3 " PAWL__MYSQL_LOCKED

/* A claim of one row goes by the same index: of a row that is locked by its number alone a claim on MySQL
 * locks the entry of the index before it passes over it, and its holder then waits for that claim. */
#define PAWL__MYSQL_OF_NUMBER(column) "(select d." column " from {queue} as d where d.[Seq] = ?1)"

/* The lease that is a claim, where claims are no row locks (sql/queue_stamp.c). */
#define PAWL__MYSQL_STAMP "concat('claim:', [Seq])"

/* As the shared text. These servers leap in an index for `distinct` alone, not for the smallest name behind another one,
 * and find a first row by the index if the order names all of its columns: else they read every timeout. */
#define PAWL__MYSQL_FOREIGN_TEXT                                                                      \
    "select d.name, (select t.[Due] from {timeouts} as t force index ({timeouts_due}) "               \
    "where t.[Destination] = d.name and (t.[LeaseExpires] is null or t.[LeaseExpires] <= ?2) "        \
    "order by t.[Destination], t.[Due] limit 1) as due "                                              \
    "from (select distinct [Destination] as name from {timeouts} force index ({timeouts_due})) as d " \
    "where d.name = ?1 or not exists (select 1 from {subscriptions} as s where s.[Queue] = d.name) "  \
    "having due is not null order by d.name"

/* Free rows of a partition, and the place of their type in a list. */
#define PAWL__MYSQL_PARTITION                                                           \
    "force index ({aggregator_at}) where [Partition] = ?1 and ([LeaseExpires] is null " \
    "or [LeaseExpires] <= ?2) and [Id] <= ?3 and find_in_set(hex([Type]), ?4) "

/* name, template */
#define PAWL__MYSQL_STATEMENTS(X)                                                                                                                            \
    X(QUEUE_CLAIM, PAWL__SQL_QUEUE_ROW_TEXT PAWL__MYSQL_DUE PAWL__MYSQL_CLAIMED)                                                                             \
    X(QUEUE_CLAIM_MORE, PAWL__SQL_QUEUE_ROW_TEXT PAWL__MYSQL_DUE                                                                                             \
      "and find_in_set([Seq], ?4) = 0 " PAWL__MYSQL_CLAIMED)                                                                                                 \
    X(QUEUE_CLAIM_FREE, PAWL__SQL_QUEUE_ROW_TEXT PAWL__MYSQL_DUE                                                                                             \
      "and find_in_set([Seq], ?4) = 0 and not exists (select 1 from {leases} as c "                                                                          \
      "where c.[Name] = " PAWL__MYSQL_STAMP " and c.[Worker] <> ?5) " PAWL__MYSQL_CLAIMED)                                                                   \
    X(QUEUE_CLAIM_AGAIN, PAWL__SQL_QUEUE_ROW_TEXT                                                                                                            \
      "force index ({queue_due}) where [Queue] = ?2 and [Due] = " PAWL__MYSQL_OF_NUMBER(                                                                     \
          "[Due]") " and [Due] <= ?3 and [Seq] = ?1 " PAWL__MYSQL_LOCKED)                                                                                    \
    X(QUEUE_COUNT_DUE,                                                                                                                                       \
      "select count(*) from (select 1 from {queue} " PAWL__MYSQL_DUE "limit ?3) as d")                                                                       \
    X(QUEUE_LOCK,                                                                                                                                            \
      "select [Seq] from {queue} force index ({queue_due}) where [Queue] = " PAWL__MYSQL_OF_NUMBER(                                                          \
          "[Queue]") " and [Due] = ?2 and [Seq] = ?1 " PAWL__MYSQL_LOCKED)                                                                                   \
    X(QUEUE_FIRST,                                                                                                                                           \
      "select [Due] from {queue} force index ({queue_due}) where [Queue] = ?1 and not exists "                                                               \
      "(select 1 from {leases} as c where c.[Name] = " PAWL__MYSQL_STAMP                                                                                     \
      ") order by [Due] limit 1 " PAWL__MYSQL_LOCKED)                                                                                                        \
    X(TIMEOUT_FOREIGN, PAWL__MYSQL_FOREIGN_TEXT)                                                                                                             \
    /* The server does not find the index of held rows by what its column is made of. */                                                                     \
    X(OUTBOX_RELEASE,                                                                                                                                        \
      "update {outbox} force index ({outbox_held}) set [State] = 'pending' where [HeldSource] = ?1")                                                         \
    X(WORKER_FOLD,                                                                                                                                           \
      "update {workers} as t join {workers} as w on w.[Id] = ?2 set " PAWL__MYSQL_SUM("[Messages]") ", " PAWL__MYSQL_SUM("[Timeouts]") ", " PAWL__MYSQL_SUM( \
          "[Flushes]") ", " PAWL__MYSQL_SUM("[Failures]") ", " PAWL__MYSQL_SUM("[Conflicts]") ", " PAWL__MYSQL_SUM("[Dead]") " where t.[Id] = ?1")           \
    X(OUTBOX_SWEEP,                                                                                                                                          \
      "delete from {outbox} where [DispatchedAt] < ?1 order by [DispatchedAt] limit ?2")                                                                     \
    /* With `in` MariaDB reads the whole table. */                                                                                                           \
    X(HISTORY_SWEEP,                                                                                                                                         \
      "delete h from (select [Id] from (select [Id], [At] from {history} where [Id] > ?3 order by [Id] limit ?2) as old "                                    \
      "where [At] < ?1) as o straight_join {history} as h on h.[Id] = o.[Id]")                                                                               \
    X(EVENT_INSERT,                                                                                                                                          \
      "insert into {events} ([Stream], [Version], " PAWL__SQL_EVENT ") values ("                                                                             \
      "if(?12 = 0 or ?2 = 1, ?1, (select b.[Stream] from (select [Stream] from {events} "                                                                    \
      "where [Stream] = ?1 and [Version] = ?2 - 1) as b)), "                                                                                                 \
      "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")                                                                                                           \
    /* The same where the events before are there, and how many of them are. */                                                                              \
    X(EVENT_INSERT_SURE, "insert into {events} ([Stream], [Version], " PAWL__SQL_EVENT ") values "                                                           \
                         "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")                                                                                   \
    X(EVENT_COUNT,                                                                                                                                           \
      "select count(*) from json_table(?1, '$.*' columns (s varchar(402) path '$.s', "                                                                       \
      "v bigint path '$.v')) as j straight_join {events} as t force index ({events_stream}) "                                                                \
      "on t.[Stream] = j.s and t.[Version] = j.v")                                                                                                           \
    X(FOLD_SET,                                                                                                                                              \
      "insert into {folds} ([Stream], [Version], [TypeVersion], [State], [Dispatches], [At]) "                                                               \
      "values (?1, ?2, ?3, ?4, ?5, ?6) on duplicate key update " PAWL__MYSQL_NEWER("[TypeVersion]") ", " PAWL__MYSQL_NEWER(                                  \
          "[State]") ", " PAWL__MYSQL_NEWER("[Dispatches]") ", " PAWL__MYSQL_NEWER("[At]") ", " PAWL__MYSQL_NEWER("[Version]"))                              \
    /* As a rule the row is there. It is locked, as by an insert that fails, which would have to be looked at. */                                            \
    X(FLUSH_ADD,                                                                                                                                             \
      "insert into {aggregator_flush} ([Partition], [Name], [Due], [Attempts], [Dead], [Error]) "                                                            \
      "select ?1, ?2, cast(?3 as datetime(6)), 0, 0, '' from dual where not exists (select 1 from "                                                          \
      "{aggregator_flush} where [Partition] = ?1{share}){ignore:[Partition]}")                                                                               \
    X(AGGREGATOR_DELETE_OLDEST,                                                                                                                              \
      "delete from {aggregator} where [Partition] = ?1 and [CorrelationId] = ?2 "                                                                            \
      "order by [At], [Id] limit 1")                                                                                                                         \
    X(PARTITION_KNOWN, PAWL__SQL_AGGREGATOR_ROW PAWL__MYSQL_PARTITION                                                                                        \
      "<> 0 order by [At], [Id] limit ?5 " PAWL__MYSQL_LOCKED)                                                                                               \
    X(PARTITION_OTHERS, "select count(*) from {aggregator} " PAWL__MYSQL_PARTITION "= 0")                                                                    \
    /* The catalog of one table. A column that is computed has no value to be given. */                                                                      \
    X(SCHEMA_COLUMNS,                                                                                                                                        \
      "select table_name, column_name, column_type, coalesce(collation_name, ''), "                                                                          \
      "is_nullable = 'NO', column_default is not null or extra <> '' "                                                                                       \
      "from information_schema.columns where table_schema = database() and table_name = ?1 "                                                                 \
      "order by ordinal_position")                                                                                                                           \
    X(SCHEMA_INDEXES,                                                                                                                                        \
      "select table_name, index_name, group_concat('`', column_name, '`', "                                                                                  \
      "coalesce(concat('(', sub_part, ')'), '') order by seq_in_index separator ', '), "                                                                     \
      "index_name = 'PRIMARY', max(non_unique) = 0, 1, 0 from information_schema.statistics "                                                                \
      "where table_schema = database() and table_name = ?1 group by table_name, index_name")                                                                 \
    X(SCHEMA_ENGINE,                                                                                                                                         \
      "select engine from information_schema.tables where table_schema = database() "                                                                        \
      "and table_name = ?1 and engine <> 'InnoDB'")

#define PAWL__MYSQL_NAME_OF(name, text) PAWL__MYSQL_##name,
enum {
    PAWL__MYSQL_BEFORE = PAWL__SQL_ROW_STATEMENT_END - 1,
    PAWL__MYSQL_STATEMENTS(PAWL__MYSQL_NAME_OF) PAWL__MYSQL_STATEMENT_COUNT
};

/* For a shared statement (row statements included), the one of these that stands for it; or 0. */
extern const int pawl__mysql_overrides[];
/* By number: the shared statements, those of rows, and these. */
extern const char *const pawl__mysql_templates[];

#endif
