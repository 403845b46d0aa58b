/* sweep_statements.h - the statements of statistics, sweeps and the catalog. Part of
 * statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SWEEP_STATEMENTS_H
#define PAWL_STORE_POSTGRES_SWEEP_STATEMENTS_H

#include "store/sql/dialects.h"
#include "store/sql/statements.h"

/* The number of pages of the inbox. The catalog is asked by the table's row type, as a template can name the table
 * but not in a literal. */
#define PAWL__PG_INBOX_PAGES                                                        \
    "(select pg_relation_size(t.typrelid) / current_setting('block_size')::bigint " \
    "from pg_catalog.pg_type as t where t.oid = pg_typeof(null::{inbox}))"

/* In statements on the catalog ?1 is the schema. Names compare bytewise, as the catalog's own do. */
#define PAWL__PG_SWEEP_STATEMENTS(X)                                                                \
    /* ORDER BY makes the plan use the index: EXISTS would scan where much is due. */               \
    X(QUEUE_IS_DUE, "select (select true from {queue} where [Queue] = ?1 and [Due] <= ?2 "          \
                    "and [Due] >= ?3 order by [Due], [Seq] limit 1) is not null")                   \
    /* The first due times of a queue, its timeouts and aggregators; and whether another worker   \
     * than ?7 has leased the first timeout that was due at ?6. */ \
    X(NEXT_OF_ALL, "select (select [Due] from {queue} where [Queue] = ?1 and [Due] >= ?2 "          \
                   "and [Seq] <> all (?3) order by [Due], [Seq] limit 1), "                         \
                   "(select [Due] from {timeouts} where [Destination] = ?1 "                        \
                   "and ([Owner] is null or [LeaseExpires] <= ?4) order by [Due], [Id] limit 1), "  \
                   "(select min(f.[Due]) from unnest(?5) as k (name) cross join lateral "           \
                   "(select [Due] from {aggregator_flush} where [Name] = k.name "                   \
                   "and [Dead] = 0 order by [Due] limit 1) as f), "                                 \
                   "exists (select 1 from (select [LeaseExpires], [LeaseWorker] from {timeouts} "   \
                   "where [Destination] = ?1 and [Due] <= ?6 order by [Due], [Id] limit 1) as h "   \
                   "where h.[LeaseExpires] > ?4 and h.[LeaseWorker] <> ?7)")                        \
    /* Rows that became due before the known times, for each queue. */                              \
    X(QUEUE_THERE,                                                                                  \
      "select exists (select 1 from unnest(?1, ?2, ?3, ?4) as k (queue, due_min, due, timeout) "    \
      "where (select true from {queue} as q where q.[Queue] = k.queue "                             \
      "and q.[Due] >= k.due_min and q.[Due] < k.due order by q.[Due], q.[Seq] limit 1) "            \
      "or (select true from {timeouts} as t where t.[Destination] = k.queue "                       \
      "and t.[Due] < k.timeout and t.[Owner] is null order by t.[Due], t.[Id] limit 1))")           \
    X(OUTBOX_OLDEST, "select [At] from {outbox} "                                                   \
                     "where [State] = 'pending' order by [Id], [NextAttempt] limit 1")              \
    /* Sweeps. */                                                                                   \
    X(SWEEP_BEGIN, "select pg_try_advisory_xact_lock(?1), " PAWL__PG_INBOX_PAGES                    \
                   ", coalesce(max([Process]), 0), coalesce(max([Epoch]), 0), "                     \
                   "coalesce(max([Expires]), 'epoch') from {leases} where [Name] = 'sweep:'")       \
    X(SWEEP_LEASE, "insert into {leases} ([Name], [Process], [Pid], [Epoch], [Expires]) "           \
                   "values ('sweep:', ?1, 0, ?2, ?3) on conflict ([Name]) do update set "           \
                   "[Process] = excluded.[Process], [Epoch] = excluded.[Epoch], "                   \
                   "[Expires] = excluded.[Expires]")                                                \
    X(INBOX_SWEEP,                                                                                  \
      "with k as materialized (select ctid as tid from {inbox} where ctid >= ?1 and ctid < ?2 "     \
      "and [At] < ?3 limit ?4 for update skip locked), "                                            \
      "gone as (delete from {inbox} where ctid = any (array(select tid from k))) "                  \
      "select count(*), max(tid) from k")                                                           \
    X(OUTBOX_SWEEP,                                                                                 \
      "with k as materialized (select ctid as tid, [DispatchedAt] as at from {outbox} "             \
      "where [DispatchedAt] >= ?1 and [DispatchedAt] < ?2 "                                         \
      "order by [DispatchedAt] limit ?3 for update skip locked), "                                  \
      "gone as (delete from {outbox} where ctid = any (array(select tid from k))) "                 \
      "select count(*), max(at) from k")                                                            \
    X(HISTORY_SWEEP,                                                                                \
      "with k as materialized (select ctid as tid, [Id] as id, [At] as at from {history} "          \
      "where [Id] > ?3 order by [Id] limit ?2), "                                                   \
      "gone as (delete from {history} where ctid = any (array(select tid from k where at < ?1))) "  \
      "select count(*) filter (where at < ?1), count(*), coalesce(max(id), 0) from k")              \
    /* The catalog. */                                                                              \
    X(SCHEMA_UNQUOTED, "select set_config('quote_all_identifiers', 'off', true)")                   \
    X(SCHEMA_PATH, "select set_config('search_path', quote_ident(?1), true)")                       \
    X(SCHEMA_KNOWN, "select count(*) from pg_catalog.pg_namespace where nspname = ?1")              \
    X(SCHEMA_COLUMNS, PAWL__PG_CATALOG_COLUMNS("", "?1 and c.relname = any (?2)"))                  \
    X(SCHEMA_INDEXES, PAWL__PG_CATALOG_INDEXES("", "?1 and c.relname = any (?2)"))                  \
    X(SCHEMA_CASCADES,                                                                              \
      "select count(*) from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c "            \
      "on c.relnamespace = s.oid join pg_catalog.pg_constraint as k on k.conrelid = c.oid "         \
      "where s.nspname = ?1 and c.relname = ?2 and k.contype = 'f' and k.confdeltype = 'c'")        \
    X(SCHEMA_UNNAMED,                                                                               \
      "select c.relname::text from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c "     \
      "on c.relnamespace = s.oid where s.nspname = ?1 and c.relname = any (?2) "                    \
      "and " PAWL__PG_IS_UNNAMED " order by c.relname")                                             \
    X(SCHEMA_FUNCTION,                                                                              \
      "select p.prosrc, coalesce(array_to_string(p.proconfig, ','), '') = "                         \
      "'search_path=' || quote_ident(?1) "                                                          \
      "from pg_catalog.pg_namespace as s join pg_catalog.pg_proc as p "                             \
      "on p.pronamespace = s.oid where s.nspname = ?1 and p.proname = ?2 and p.pronargs = 7")

#endif
