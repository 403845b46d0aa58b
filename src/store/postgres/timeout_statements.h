/* timeout_statements.h - the statements on timeouts that only PostgreSQL
 * understands. Part of statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_TIMEOUT_STATEMENTS_H
#define PAWL_STORE_POSTGRES_TIMEOUT_STATEMENTS_H

#include "store/sql/statements.h"

/* The statements leave the planner one plan. With statistics of an empty table it takes all plans for equally fast,
 * even a scan of a whole index, and keeps its choice while the table grows. So the row of each array item is found
 * in a subquery of that item, and changed by its ctid. A row that another transaction changed meanwhile has another
 * ctid: where that matters, it is locked first. */

/* Rows without a lease at the time ?2. */
#define PAWL__PG_TIMEOUT_FREE "([LeaseExpires] is null or [LeaseExpires] <= ?2)"

/* The names of all destinations, by one search in the index for each name: a claim for any destination then reads
 * each from its first row. */
#define PAWL__PG_TIMEOUT_DESTINATIONS                                                        \
    "with recursive d (name) as ((select [Destination] from {timeouts} "                     \
    "order by [Destination] limit 1) union all select (select t.[Destination] "              \
    "from {timeouts} as t where t.[Destination] > d.name order by t.[Destination] limit 1) " \
    "from d where d.name is not null) "

/* The earliest free row due at ?3 or later. */
#define PAWL__PG_TIMEOUT_FIRST_TEXT(destination)                                          \
    "select [Due] from {timeouts} where [Destination] = " destination " and [Due] >= ?3 " \
    "and " PAWL__PG_TIMEOUT_FREE " order by [Due], [Id] limit 1"

/* ?5 free rows due from ?3 to ?4, locked. */
#define PAWL__PG_TIMEOUT_DUE(destination)                                    \
    "select [Id], [Destination], [Due], ctid as tid from {timeouts} "        \
    "where [Destination] = " destination " and [Due] >= ?3 and [Due] <= ?4 " \
    "and " PAWL__PG_TIMEOUT_FREE " order by [Due], [Id] limit ?5 for update skip locked"

/* ---- Ranges --------------------------------------------------------------
 *
 * No index has the columns of a lease: to lease a row would update all indexes, and be half as
 * fast. Leased rows are found by due time instead. A range, a row of {leases}, has the earliest and
 * latest due time of one destination's rows whose leases end within the same ten minutes. It
 * reaches a minute further on both sides, so that it is written once a minute:
 *
 *     Name                           Process        Expires      Epoch
 *     timeouts:001767226200:orders   earliest due   latest due   when the last ends
 *
 * Process and Epoch are microseconds, the name has Epoch in seconds. Due times are business time,
 * ends of leases machine time. A search for leased rows reads the timeouts from the earliest to the
 * latest due time of a destination's ranges: as a rule those that were due lately, not all that are
 * overdue or wait for the future. The reap after a range's last lease has ended deletes it. */
#define PAWL__PG_TIMEOUT_RANGES "[Name] like 'timeouts:%'"
#define PAWL__PG_MICROSECONDS(time) "(extract(epoch from " time ") * 1000000)::bigint"

/* Inserts or widens the ranges for the rows of `due`: ?10 is the name without the destination, ?11
 * the epoch. */
#define PAWL__PG_TIMEOUT_RANGE                                                                               \
    "ranges as (insert into {leases} as l ([Name], [Process], [Pid], [Epoch], [Expires]) "                   \
    "select r.name, r.first - 60000000, 0, ?11, r.last + interval '1 minute' "                               \
    "from (select (?10 || [Destination]) collate \"default\" as name, " PAWL__PG_MICROSECONDS(               \
        "min([Due])") " as first, max([Due]) as last "                                                       \
                      "from due group by [Destination]) as r where not exists (select 1 from {leases} as o " \
                      "where o.[Name] = r.name and o.[Process] <= r.first and o.[Expires] >= r.last) "       \
                      "order by r.name on conflict ([Name]) do update set "                                  \
                      "[Process] = least(l.[Process], excluded.[Process]), "                                 \
                      "[Expires] = greatest(l.[Expires], excluded.[Expires]))"

/* Ends the leases of rows in the ranges that fulfil `leases`, if `needed` is true. `locked` is " skip locked", or
 * "" to wait for row locks, which an old session of the same worker may have until it is rolled back. */
#define PAWL__PG_TIMEOUT_SCAN(needed, leases, locked)                                          \
    "ranged as materialized (select substr([Name], 23) as destination, "                       \
    "'epoch'::timestamptz + min([Process]) * interval '1 microsecond' as first, "              \
    "max([Expires]) as last from {leases} where " PAWL__PG_TIMEOUT_RANGES " and " needed       \
    " group by 1), old as materialized (select f.tid from ranged as m "                        \
    "cross join lateral (select ctid as tid from {timeouts} "                                  \
    "where [Destination] = m.destination and [Due] >= m.first and [Due] <= m.last and " leases \
    " order by [Due], [Id] for update" locked ") as f) "                                       \
    "update {timeouts} as t set " PAWL__SQL_NO_OWNER " from old where t.ctid = old.tid"

/* The process id in the worker's row `w`, also if its timeouts were freed (pid_of in lives.c). A negative Pid above
 * -2^62 was written by an older version and has no process id: 0. */
#define PAWL__PG_PID                                                           \
    "case when w.[Pid] > 0 then w.[Pid] when w.[Pid] <= -4611686018427387904 " \
    "then -w.[Pid] & 4194303 else 0 end"

/* Pid in the row of a dead worker `w` whose timeouts were freed, until the worker is seen again: the negative of
 * bit 62, 40 bits of Seen, and the process id. Until then Pid is the process id alone. */
#define PAWL__PG_TIMEOUT_FREED                          \
    "-(4611686018427387904 | ((" PAWL__PG_MICROSECONDS( \
        "w.[Seen]") " & 1099511627775) << 22) | (" PAWL__PG_PID "))"

/* Leases ?6 of the rows of `due`, which may have one more. Each row begins with the count of `due` and its first
 * and last due time; if nothing is leased, one row has these alone. */
#define PAWL__PG_TIMEOUT_TAKE                                                            \
    PAWL__PG_TIMEOUT_RANGE                                                               \
    ", taken as (update {timeouts} as t set [Owner] = ?7, [LeaseExpires] = ?8, "         \
    "[LeaseWorker] = ?9 from (select tid from due order by [Due], [Id] limit ?6) as k "  \
    "where t.ctid = k.tid returning t.[Id], t.[Generation], t.[SagaId], t.[SagaType], "  \
    "t.[Name], t.[Destination], t.[Due], t.[Headers], t.[CorrelationId], t.[Attempts], " \
    "t.[Owner], t.[LeaseExpires]) "                                                      \
    "select a.*, taken.* from (select count(*), min([Due]), max([Due]) from due) as a "  \
    "left join taken on true order by taken.[Due], taken.[Id]"

/* ORDER BY makes the index on the id the only one that fits. */
#define PAWL__PG_TIMEOUT_OF_ID \
    "from {timeouts} as o where o.[Id] >= k.id and o.[Id] <= k.id order by o.[Id] limit 1"

/* Settles: the row must have the owner, unless that is null, and the generation, unless it is 0. */
#define PAWL__PG_TIMEOUT_SETTLED(names)                                             \
    " with ordinality as k (id, owner, generation" names ", n) cross join lateral " \
    "(select o.ctid as tid " PAWL__PG_TIMEOUT_OF_ID ") as f where t.ctid = f.tid "  \
    "and (k.owner is null or t.[Owner] = k.owner) "                                 \
    "and (k.generation = 0 or t.[Generation] = k.generation) returning k.n"

/* Cancels: locks the rows of a saga, then deletes them by the ctids that they have now. */
#define PAWL__PG_TIMEOUT_LOCK_TEXT(items, of)                               \
    "select f.[Id] from unnest" items " cross join lateral (select o.[Id] " \
    "from {timeouts} as o where o.[SagaId] = k.saga_id and " of " for update) as f"
#define PAWL__PG_TIMEOUT_CANCEL_TEXT(items, of)                                            \
    "delete from {timeouts} as t using unnest" items " cross join lateral (select o.ctid " \
    "as tid from {timeouts} as o where o.[SagaId] = k.saga_id and " of " offset 0) as f "  \
    "where t.ctid = f.tid"
#define PAWL__PG_TIMEOUT_SAGAS_NAMES "(?1, ?2) as k (saga_id, name)"
#define PAWL__PG_TIMEOUT_SAGAS "(?1) as k (saga_id)"
#define PAWL__PG_TIMEOUT_NAME "o.[Name] = k.name and o.[Name] <> ''"

#define PAWL__PG_TIMEOUT_INSERT_TEXT                                                  \
    "insert into {timeouts} as t ([Id], [Generation], [SagaId], [SagaType], [Name], " \
    "[Destination], [Due], [Attempts], [CorrelationId], [Headers]) "                  \
    "select k.id, 1, k.saga_id, k.saga_type, k.name, k.destination, k.due, 0, "       \
    "k.correlation_id, k.headers from unnest(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "        \
    "as k (id, saga_id, saga_type, name, destination, due, correlation_id, headers) "
#define PAWL__PG_TIMEOUT_ANEW                                                    \
    "do update set [Generation] = t.[Generation] + 1, "                          \
    "[SagaType] = excluded.[SagaType], [Destination] = excluded.[Destination], " \
    "[Due] = excluded.[Due], [Attempts] = 0, " PAWL__SQL_NO_OWNER ", "           \
    "[CorrelationId] = excluded.[CorrelationId], [Headers] = excluded.[Headers]"
#define PAWL__PG_TIMEOUT_KEYS " returning t.[SagaId], t.[Name]"

/* Upsert by saga and name. An item whose id another row has is left out, unless a row with its name exists. */
#define PAWL__PG_TIMEOUT_REARM_TEXT                                                   \
    PAWL__PG_TIMEOUT_INSERT_TEXT                                                      \
    "where (select o.[SagaId] is not distinct from k.saga_id "                        \
    "and o.[Name] = k.name " PAWL__PG_TIMEOUT_OF_ID ") is not false or (select true " \
    "from {timeouts} as o where o.[SagaId] = k.saga_id and o.[Name] = k.name "        \
    "and o.[Name] <> '') "                                                            \
    "on conflict ([SagaId], [Name]) where [SagaId] is not null "                      \
    "and [Name] <> '' " PAWL__PG_TIMEOUT_ANEW PAWL__PG_TIMEOUT_KEYS

/* Frees the timeouts of workers that are dead at ?1; those of pooled workers, whose death is less sure, only if ?2.
 * Each dead worker is handled once. */
#define PAWL__PG_TIMEOUT_FREE_DEAD_TEXT                                            \
    "with dead as materialized (select w.[Id], w.ctid as tid from {workers} as w " \
    "where w.[Epoch] > 0 and w.[Pid] <> " PAWL__PG_TIMEOUT_FREED                   \
    " and (?2 or w.[Process] <> 0) and not " PAWL__PG_IS_ALIVE(                    \
        "?1") " for update of w skip locked), freed as (update {workers} as w "    \
              "set [Pid] = " PAWL__PG_TIMEOUT_FREED " from dead "                  \
              "where w.ctid = dead.tid), " PAWL__PG_TIMEOUT_SCAN(                  \
                  "exists (select 1 from dead)",                                   \
                  "[LeaseWorker] = any (array(select [Id] from dead))", " skip locked")

#define PAWL__PG_TIMEOUT_STATEMENTS(X)                                                                    \
    X(TIMEOUT_FIRST, PAWL__PG_TIMEOUT_FIRST_TEXT("?1"))                                                   \
    X(TIMEOUT_FIRST_ANY, PAWL__PG_TIMEOUT_DESTINATIONS                                                    \
      "select f.[Due] from d cross join lateral (" PAWL__PG_TIMEOUT_FIRST_TEXT(                           \
          "d.name") ") as f order by f.[Due] limit 1")                                                    \
    X(TIMEOUT_FOREIGN_DUE, PAWL__PG_TIMEOUT_DESTINATIONS                                                  \
      "select k.name, f.[Due] from (select name from d where name = ?1 or name <> all (array("            \
      "select [Queue] from {subscriptions})) offset 0) as k cross join lateral (select [Due] "            \
      "from {timeouts} where [Destination] = k.name and " PAWL__PG_TIMEOUT_FREE                           \
      " order by [Due], [Id] limit 1) as f order by k.name")                                              \
    X(TIMEOUT_CLAIM,                                                                                      \
      "with due as materialized (" PAWL__PG_TIMEOUT_DUE("?1") "), " PAWL__PG_TIMEOUT_TAKE)                \
    X(TIMEOUT_CLAIM_ANY, PAWL__PG_TIMEOUT_DESTINATIONS                                                    \
      ", due as materialized (select f.[Id], f.[Destination], f.[Due], f.tid from d cross join "          \
      "lateral (" PAWL__PG_TIMEOUT_DUE(                                                                   \
          "d.name") ") as f order by f.[Due], f.[Id] limit ?5), " PAWL__PG_TIMEOUT_TAKE)                  \
    X(TIMEOUT_REAP, "with " PAWL__PG_TIMEOUT_SCAN("true", "[LeaseExpires] <= ?1", " skip locked"))        \
    X(TIMEOUT_RANGES_END,                                                                                 \
      "delete from {leases} where " PAWL__PG_TIMEOUT_RANGES " and [Epoch] <= ?1")                         \
    X(TIMEOUT_FREE_CLAIM, "with " PAWL__PG_TIMEOUT_SCAN("true", "[Owner] = ?1", ""))                      \
    X(TIMEOUT_FREE_WORKER, "with " PAWL__PG_TIMEOUT_SCAN("true", "[LeaseWorker] = ?1", ""))               \
    X(TIMEOUT_FREE_DEAD, PAWL__PG_TIMEOUT_FREE_DEAD_TEXT)                                                 \
    X(TIMEOUT_LIST_SAGA,                                                                                  \
      PAWL__SQL_TIMEOUT_ROW "where [SagaId] = ?1 and [Name] <> '' and " PAWL__SQL_TIMEOUT_BEHIND          \
                            "union all " PAWL__SQL_TIMEOUT_ROW                                            \
                            "where [SagaId] = ?1 and [Name] = '' and " PAWL__SQL_TIMEOUT_BEHIND           \
                            "order by [Due], [Id] limit ?4")                                              \
    X(TIMEOUT_LOCK_ID,                                                                                    \
      "select f.[Id] from unnest(?1) as k (id) cross join lateral (select o.[Id] " PAWL__PG_TIMEOUT_OF_ID \
      " for update) as f")                                                                                \
    X(TIMEOUT_DELETE,                                                                                     \
      "delete from {timeouts} as t using unnest(?1, ?2, ?3)" PAWL__PG_TIMEOUT_SETTLED(""))                \
    X(TIMEOUT_RELEASE, "update {timeouts} as t set " PAWL__SQL_NO_OWNER                                   \
                       " from unnest(?1, ?2, ?3)" PAWL__PG_TIMEOUT_SETTLED(""))                           \
    X(TIMEOUT_RETRY,                                                                                      \
      "update {timeouts} as t set " PAWL__SQL_NO_OWNER ", [Due] = k.due, "                                \
      "[Attempts] = k.attempts from unnest(?1, ?2, ?3, ?4, ?5)" PAWL__PG_TIMEOUT_SETTLED(                 \
          ", due, attempts"))                                                                             \
    X(TIMEOUT_LOCK,                                                                                       \
      PAWL__PG_TIMEOUT_LOCK_TEXT(PAWL__PG_TIMEOUT_SAGAS_NAMES, PAWL__PG_TIMEOUT_NAME))                    \
    X(TIMEOUT_CANCEL,                                                                                     \
      PAWL__PG_TIMEOUT_CANCEL_TEXT(PAWL__PG_TIMEOUT_SAGAS_NAMES, PAWL__PG_TIMEOUT_NAME))                  \
    X(TIMEOUT_LOCK_NAMED, PAWL__PG_TIMEOUT_LOCK_TEXT(PAWL__PG_TIMEOUT_SAGAS, "o.[Name] <> ''"))           \
    X(TIMEOUT_CANCEL_NAMED,                                                                               \
      PAWL__PG_TIMEOUT_CANCEL_TEXT(PAWL__PG_TIMEOUT_SAGAS, "o.[Name] <> ''"))                             \
    X(TIMEOUT_LOCK_OWN, PAWL__PG_TIMEOUT_LOCK_TEXT(PAWL__PG_TIMEOUT_SAGAS, "o.[Name] = ''"))              \
    X(TIMEOUT_CANCEL_OWN, PAWL__PG_TIMEOUT_CANCEL_TEXT(PAWL__PG_TIMEOUT_SAGAS, "o.[Name] = ''"))          \
    /* In the guarded round: a name that has a row fails, and so does an id. */                           \
    X(TIMEOUT_REARM_SURE, PAWL__PG_TIMEOUT_INSERT_TEXT)                                                   \
    X(TIMEOUT_REARM_SAGA, PAWL__PG_TIMEOUT_REARM_TEXT)                                                    \
    X(TIMEOUT_REARM,                                                                                      \
      PAWL__PG_TIMEOUT_INSERT_TEXT "on conflict ([Id]) " PAWL__PG_TIMEOUT_ANEW                            \
                                   ", [SagaId] = excluded.[SagaId], [Name] = excluded.[Name]")

#endif
