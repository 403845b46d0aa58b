/* mysql_statements.h - the statements that MySQL and MariaDB need in another form than the shared one: they
 * have no `update ... from` and no `on conflict`, and a statement that writes a table may not read it in a
 * subquery. Their numbers follow those of the shared statements. Both drivers for these servers use them:
 * store/mysql (the client library) and store/odbc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_MYSQL_STATEMENTS_H
#define PAWL_STORE_SQL_DIALECTS_MYSQL_STATEMENTS_H

#include "store/sql/row_statements.h"

/* Is the setting on? It is a number, or from MariaDB 12.0.1 on a text: "ON", "NO_LOCK" and others. */
#define PAWL__MYSQL_IS_ON(setting) "cast(" setting " as char) not in ('0', 'OFF')"
/* Is the server read-only? */
#define PAWL__MYSQL_READ_ONLY "(" PAWL__MYSQL_IS_ON("@@global.read_only") " or @@innodb_read_only)"

/* The number of a server; one name may lead to several servers. */
#define PAWL__MYSQL_SERVER "crc32(concat_ws('/', @@hostname, @@port, @@datadir))"

#define PAWL__MYSQL_SUM(counter) "t." counter " = t." counter " + w." counter
/* The columns are set in their order, and a later one sees the earlier: the version is the last. */
#define PAWL__MYSQL_NEWER(column) \
    column " = if(values([Version]) > [Version], values(" column "), " column ")"

/* EVENT_INSERT: as in the shared one, the stream is null if the event before is missing. The subquery is a derived
 * table, which may read the table that is written (1093). `insert ... select` would hold MariaDB's lock of serial
 * numbers until the commit: two streams that wait for each other's fail with 1467. */

/* The index is named because on a small table the server would read, and lock, all rows. */
#define PAWL__MYSQL_DUE "force index ({queue_due}) where [Queue] = ?1 and [Due] <= ?2 "
#define PAWL__MYSQL_LOCKED "for update skip locked"
#define PAWL__MYSQL_CLAIMED "order by [Due], [Seq] limit ?3 " PAWL__MYSQL_LOCKED

/* A claim of one row uses the same index. If it locked the row by its number alone, on MySQL another claim would
 * lock the entry of the index before it skips the row, and the holder would wait for that claim. */
#define PAWL__MYSQL_OF_NUMBER(column) "(select d." column " from {queue} as d where d.[Seq] = ?1)"

/* The name of the lease that is a claim on clusters, where row locks cannot be claims (sql/queue_stamp.c). */
#define PAWL__MYSQL_STAMP "concat('claim:', [Seq])"

/* As the shared text. These servers leap through an index for `distinct` alone, not for the smallest name after
 * another one, and find a first row by the index only if the order names all its columns: else they read every
 * timeout. */
#define PAWL__MYSQL_FOREIGN_TEXT                                                                      \
    "select d.name, (select t.[Due] from {timeouts} as t force index ({timeouts_due}) "               \
    "where t.[Destination] = d.name and (t.[LeaseExpires] is null or t.[LeaseExpires] <= ?2) "        \
    "order by t.[Destination], t.[Due] limit 1) as due "                                              \
    "from (select distinct [Destination] as name from {timeouts} force index ({timeouts_due})) as d " \
    "where d.name = ?1 or not exists (select 1 from {subscriptions} as s where s.[Queue] = d.name) "  \
    "having due is not null order by d.name"

/* Free rows of a partition; the position of the type in a list. */
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
    /* Names the computed column: by its expression the server would not use the index of held rows. */                                                      \
    X(OUTBOX_UNBLOCK,                                                                                                                                        \
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
    /* The same if the events before exist, and the count of these. */                                                                                       \
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
    /* As a rule the row exists. It is locked as by an insert that fails, whose failure would have to be checked. */                                         \
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
    /* The catalog of one table. A computed column takes no value. */                                                                                        \
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

/* For each shared statement (row statements included) the one of these that replaces it, or 0. */
extern const int pawl__mysql_overrides[];
/* By number: the shared statements, those of rows, and these. */
extern const char *const pawl__mysql_templates[];

#endif
