/* aggregator_statements.h - the statements on aggregators and their flush rows
 * that only PostgreSQL understands. Part of statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_AGGREGATOR_STATEMENTS_H
#define PAWL_STORE_POSTGRES_AGGREGATOR_STATEMENTS_H

#include "store/sql/statements.h"

/* A row is found by its id with two bounds and an order, other keys as in outbox_statements.h. The index
 * aggregator_at has the ids, too, behind other columns: with statistics of an empty table the planner takes it for
 * as good as the index on the id, which is the only one that has this order. The row is then changed by its ctid,
 * and locked first where another transaction may have it. */
#define PAWL__PG_AGGREGATOR_OF_ID \
    "from {aggregator} as o where o.[Id] >= k.id and o.[Id] <= k.id order by o.[Id] limit 1"

#define PAWL__PG_AGGREGATOR_OLDEST                              \
    "from {aggregator} as o where o.[Partition] = k.partition " \
    "and o.[CorrelationId] = k.correlation_id order by o.[At], o.[Id] limit 1"

/* Rows of the partition ?1 that are free at ?2, up to the id ?3. */
#define PAWL__PG_AGGREGATOR_FREE                                                   \
    "where [Partition] = ?1 and ([LeaseExpires] is null or [LeaseExpires] <= ?2) " \
    "and [Id] <= ?3 "

#define PAWL__PG_AGGREGATOR_STATEMENTS(X)                                                                                     \
    X(AGGREGATOR_CLAIM,                                                                                                       \
      "with free as (select ctid as tid from {aggregator} " PAWL__PG_AGGREGATOR_FREE                                          \
      "and [Type] = any (?4) order by [At], [Id] limit ?5 for update skip locked), "                                          \
      "taken as (update {aggregator} as t set [Session] = ?6, [LeaseExpires] = ?7, "                                          \
      "[LeaseWorker] = ?8 from free where t.ctid = free.tid "                                                                 \
      "returning [Type], [LeaseExpires], [Id], [Name], [Partition], [Key], [At], "                                            \
      "[Session], " PAWL__SQL_MESSAGE ") select * from taken order by [At], [Id]")                                            \
    X(AGGREGATOR_UNRESOLVED,                                                                                                  \
      "select count(*) from {aggregator} " PAWL__PG_AGGREGATOR_FREE "and [Type] <> all (?4)")                                 \
    X(AGGREGATOR_TALLY,                                                                                                       \
      "select c.size, c.resolved, c.ready, c.id_last, f.[Due], f.[Attempts], f.[Dead] from "                                  \
      "(select count(*) as size, count(*) filter (where [Type] = any (?2)) as resolved, "                                     \
      "count(*) filter (where [Type] = any (?2) "                                                                             \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?3)) as ready, "                                                      \
      "coalesce(max([Id]), 0) as id_last from {aggregator} where [Partition] = ?1) as c "                                     \
      "left join {aggregator_flush} as f on f.[Partition] = ?1")                                                              \
    X(AGGREGATOR_LOCK_ID, "select f.[Id] from unnest(?1) as k (id) cross join lateral "                                       \
                          "(select o.[Id] " PAWL__PG_AGGREGATOR_OF_ID " for update) as f")                                    \
    /* IS NOT DISTINCT FROM cannot use an index, so the row is found by its ctid. */                                          \
    X(AGGREGATOR_DELETE,                                                                                                      \
      "delete from {aggregator} as a using unnest(?1, ?2, ?3) with ordinality "                                               \
      "as k (id, partition, session, n) cross join lateral (select o.ctid as tid " PAWL__PG_AGGREGATOR_OF_ID                  \
      ") as f where a.ctid = f.tid "                                                                                          \
      "and a.[Partition] is not distinct from k.partition "                                                                   \
      "and (k.session is null or a.[Session] = k.session) returning k.n")                                                     \
    X(AGGREGATOR_LOCK_OLDEST,                                                                                                 \
      "select f.[Id] from unnest(?1, ?2) as k (partition, correlation_id) "                                                   \
      "cross join lateral (select o.[Id] " PAWL__PG_AGGREGATOR_OLDEST " for update) as f")                                    \
    X(AGGREGATOR_DELETE_OLDEST,                                                                                               \
      "delete from {aggregator} as a using unnest(?1, ?2) with ordinality "                                                   \
      "as k (partition, correlation_id, n) cross join lateral "                                                               \
      "(select o.ctid as tid " PAWL__PG_AGGREGATOR_OLDEST ") as f "                                                           \
      "where a.ctid = f.tid returning k.n")                                                                                   \
    /* The partitions, each once and in one order. ON CONFLICT waits for a row that is inserted or deleted at this moment. */ \
    X(FLUSH_ADD,                                                                                                              \
      "with k as materialized (select distinct on (u.partition collate \"C\") u.* "                                           \
      "from unnest(?1, ?2, ?3) with ordinality as u (partition, name, due, n) "                                               \
      "order by u.partition collate \"C\", u.n), "                                                                            \
      "kept as materialized (select k.partition from k join {aggregator_flush} as f "                                         \
      "on f.[Partition] = any (array_append(null, k.partition)) "                                                             \
      "order by k.partition collate \"C\" for key share of f) "                                                               \
      "insert into {aggregator_flush} ([Partition], [Name], [Due], [Attempts], [Dead], [Error]) "                             \
      "select k.partition, k.name, k.due, 0, 0, '' from k "                                                                   \
      "where k.partition not in (select partition from kept) order by k.partition collate \"C\" "                             \
      "on conflict ([Partition]) do update set [Name] = excluded.[Name]")                                                     \
    X(FLUSH_LOCK, "select 1 from unnest(?1) with ordinality as k (partition, n) "                                             \
                  "join {aggregator_flush} as f "                                                                             \
                  "on f.[Partition] = any (array_append(null, k.partition)) "                                                 \
                  "order by k.n for update of f")

#endif
