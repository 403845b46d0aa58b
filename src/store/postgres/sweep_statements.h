/* sweep_statements.h - the statements of statistics, sweeps and the catalog. Part of
 * statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SWEEP_STATEMENTS_H
#define PAWL_STORE_POSTGRES_SWEEP_STATEMENTS_H

#include "store/sql/dialects.h"
#include "store/sql/statements.h"

/* The pages of the inbox, from the catalog by the table's row type: a template names the table, but
 * not in a literal. */
#define PAWL__PG_INBOX_PAGES                                                        \
    "(select pg_relation_size(t.typrelid) / current_setting('block_size')::bigint " \
    "from pg_catalog.pg_type as t where t.oid = pg_typeof(null::{inbox}))"

/* The columns of tables and the indexes that open needs: ?1 is the schema; names are compared with
 * the catalog's own, which are bytewise. */
#define PAWL__PG_SWEEP_STATEMENTS(X)                                                                \
    /* ORDER BY makes the plan use the index: EXISTS would scan where much is due. */               \
    X(QUEUE_IS_DUE, "select (select true from {queue} where [Queue] = ?1 and [Due] <= ?2 "          \
                    "and [Due] >= ?3 order by [Due], [Seq] limit 1) is not null")                   \
    /* The first of a queue, of its timeouts and of aggregators, and whether the first of         \
     * the timeouts that were due at ?6 is leased by another worker than ?7. */ \
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
    X(SCHEMA_COLUMNS,                                                                               \
      "select c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), "             \
      "coalesce(l.collname::text, ''), a.attnotnull, a.atthasdef or a.attidentity <> '' "           \
      "from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c "                            \
      "on c.relnamespace = s.oid and c.relkind in ('r', 'p') "                                      \
      "join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 "                   \
      "and not a.attisdropped left join pg_catalog.pg_collation as l on l.oid = a.attcollation "    \
      "where s.nspname = ?1 and c.relname = any (?2) order by c.relname, a.attnum")                 \
    X(SCHEMA_INDEXES,                                                                               \
      "select c.relname::text, x.relname::text, "                                                   \
      "(select coalesce(string_agg(pg_get_indexdef(i.indexrelid, n, false), ', ' order by n), "     \
      "'') from generate_series(1, i.indnkeyatts) as n), "                                          \
      "i.indisprimary, i.indisunique, i.indisvalid and i.indisready, i.indpred is not null "        \
      "from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c "                            \
      "on c.relnamespace = s.oid join pg_catalog.pg_index as i on i.indrelid = c.oid "              \
      "join pg_catalog.pg_class as x on x.oid = i.indexrelid "                                      \
      "where s.nspname = ?1 and c.relname = any (?2) order by c.relname, x.relname")                \
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
