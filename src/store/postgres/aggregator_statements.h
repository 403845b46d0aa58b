/* aggregator_statements.h - the statements on aggregators and their flush rows
 * that only PostgreSQL understands. Part of statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_AGGREGATOR_STATEMENTS_H
#define PAWL_STORE_POSTGRES_AGGREGATOR_STATEMENTS_H

#include "store/sql/statements.h"

/* Ids are looked up between two bounds and ordered, other keys as in outbox_statements.h:
 * aggregator_at has the ids too, behind other columns, and a server that knows an empty table takes
 * it for as good as the index on the id. The order makes that index the only one that fits. The row
 * is then named by its ctid, and locked before where another transaction may have it. */
#define PAWL__PG_AGGREGATOR_OF_ID \
    "from {aggregator} as o where o.[Id] >= k.id and o.[Id] <= k.id order by o.[Id] limit 1"

#define PAWL__PG_AGGREGATOR_OLDEST                              \
    "from {aggregator} as o where o.[Partition] = k.partition " \
    "and o.[CorrelationId] = k.correlation_id order by o.[At], o.[Id] offset k.rows_before limit 1"

/* Rows of the partition ?1 that are free at ?2, up to the id ?3. */
#define PAWL__PG_AGGREGATOR_FREE                                                   \
    "where [Partition] = ?1 and ([LeaseExpires] is null or [LeaseExpires] <= ?2) " \
    "and [Id] <= ?3 "

#define PAWL__PG_AGGREGATOR_STATEMENTS(X)                                                                    \
    X(AGGREGATOR_CLAIM,                                                                                      \
      "with free as (select ctid as tid from {aggregator} " PAWL__PG_AGGREGATOR_FREE                         \
      "and [Type] = any (?4) order by [At], [Id] limit ?5 for update skip locked), "                         \
      "taken as (update {aggregator} as t set [Session] = ?6, [LeaseExpires] = ?7, "                         \
      "[LeaseWorker] = ?8 from free where t.ctid = free.tid "                                                \
      "returning [Type], [LeaseExpires], [Id], [Name], [Partition], [Key], [At], "                           \
      "[Session], " PAWL__SQL_MESSAGE ") select * from taken order by [At], [Id]")                           \
    X(AGGREGATOR_UNRESOLVED,                                                                                 \
      "select count(*) from {aggregator} " PAWL__PG_AGGREGATOR_FREE "and [Type] <> all (?4)")                \
    X(AGGREGATOR_TALLY,                                                                                      \
      "select c.size, c.resolved, c.ready, c.id_last, f.[Due], f.[Attempts], f.[Dead] from "                 \
      "(select count(*) as size, count(*) filter (where [Type] = any (?2)) as resolved, "                    \
      "count(*) filter (where [Type] = any (?2) "                                                            \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?3)) as ready, "                                     \
      "coalesce(max([Id]), 0) as id_last from {aggregator} where [Partition] = ?1) as c "                    \
      "left join {aggregator_flush} as f on f.[Partition] = ?1")                                             \
    X(AGGREGATOR_ADD,                                                                                        \
      "insert into {aggregator} ([Name], [Partition], [Key], [At], " PAWL__SQL_MESSAGE ") "                  \
      "select k.name, k.partition, k.key, k.at, " PAWL__PG_MESSAGE_ITEMS                                     \
      " from unnest(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "                                               \
      "as k (name, partition, key, at, " PAWL__PG_MESSAGE_NAMES ") "                                         \
      "{ignore:[Partition], [Key]}")                                                                         \
    X(AGGREGATOR_LOCK_ID, "select f.[Id] from unnest(?1) as k (id) cross join lateral "                      \
                          "(select o.[Id] " PAWL__PG_AGGREGATOR_OF_ID " for update) as f")                   \
    /* IS NOT DISTINCT FROM: only the ctid finds the row. */                                                 \
    X(AGGREGATOR_DELETE,                                                                                     \
      "delete from {aggregator} as a using unnest(?1, ?2, ?3) with ordinality "                              \
      "as k (id, partition, session, n) cross join lateral (select o.ctid as tid " PAWL__PG_AGGREGATOR_OF_ID \
      ") as f where a.ctid = f.tid "                                                                         \
      "and a.[Partition] is not distinct from k.partition "                                                  \
      "and (k.session is null or a.[Session] = k.session) returning k.n")                                    \
    X(AGGREGATOR_RELEASE, "update {aggregator} as a set " PAWL__SQL_NO_SESSION                               \
                          " from unnest(?1, ?2) as k (partition, session) "                                  \
                          "where a.[Partition] = any (array_append(null, k.partition)) "                     \
                          "and a.[Session] = k.session")                                                     \
    X(AGGREGATOR_DELETE_ALL,                                                                                 \
      "with gone as (delete from {aggregator} as a using unnest(?1) with ordinality "                        \
      "as k (partition, n) where a.[Partition] = any (array_append(null, k.partition)) "                     \
      "returning k.n) select distinct n from gone")                                                          \
    X(AGGREGATOR_LOCK_OLDEST,                                                                                \
      "select f.[Id] from unnest(?1, ?2, ?3) as k (partition, correlation_id, rows_before) "                 \
      "cross join lateral (select o.[Id] " PAWL__PG_AGGREGATOR_OLDEST " for update) as f")                   \
    X(AGGREGATOR_DELETE_OLDEST,                                                                              \
      "delete from {aggregator} as a using unnest(?1, ?2, ?3) with ordinality "                              \
      "as k (partition, correlation_id, rows_before, n) cross join lateral "                                 \
      "(select o.ctid as tid " PAWL__PG_AGGREGATOR_OLDEST ") as f "                                          \
      "where a.ctid = f.tid returning k.n")                                                                  \
    /* ON CONFLICT waits for a row that is inserted or deleted at this moment. */                            \
    X(FLUSH_ADD,                                                                                             \
      "with kept as materialized (select k.n from unnest(?1) with ordinality "                               \
      "as k (partition, n) join {aggregator_flush} as f "                                                    \
      "on f.[Partition] = any (array_append(null, k.partition)) "                                            \
      "order by k.n for key share of f) "                                                                    \
      "insert into {aggregator_flush} ([Partition], [Name], [Due], [Attempts], [Dead], [Error]) "            \
      "select k.partition, k.name, k.due, 0, 0, '' "                                                         \
      "from unnest(?1, ?2, ?3) with ordinality as k (partition, name, due, n) "                              \
      "where k.n not in (select n from kept) order by k.n "                                                  \
      "on conflict ([Partition]) do update set [Name] = excluded.[Name]")                                    \
    X(FLUSH_LOCK, "select 1 from unnest(?1) with ordinality as k (partition, n) "                            \
                  "join {aggregator_flush} as f "                                                            \
                  "on f.[Partition] = any (array_append(null, k.partition)) "                                \
                  "order by k.n for update of f")                                                            \
    X(FLUSH_SET,                                                                                             \
      "with k as materialized (select k.partition, k.due, k.attempts, k.is_dead, k.error, "                  \
      "k.is_done and a.is_there is null as is_gone "                                                         \
      "from unnest(?1, ?2, ?3, ?4, ?5, ?6) as k (partition, due, attempts, is_dead, is_done, "               \
      "error) left join lateral (select true as is_there from {aggregator} "                                 \
      "where [Partition] = k.partition limit 1) as a on true), "                                             \
      "gone as (delete from {aggregator_flush} as f using k "                                                \
      "where f.[Partition] = any (array_append(null, k.partition)) and k.is_gone) "                          \
      "update {aggregator_flush} as f set [Due] = k.due, [Attempts] = k.attempts, "                          \
      "[Dead] = k.is_dead::integer, [Error] = k.error from k "                                               \
      "where f.[Partition] = any (array_append(null, k.partition)) and not k.is_gone")

#endif
