/* outbox_statements.h - the statements on the outbox that only PostgreSQL
 * understands. Part of statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OUTBOX_STATEMENTS_H
#define PAWL_STORE_POSTGRES_OUTBOX_STATEMENTS_H

#include "store/postgres/horizon.h"
#include "store/sql/statements.h"

/* "= any (array_append(null, key))" is equality that the planner can only look up for each item: see set.h. */

/* The columns of a claimed row, without the state, which is known. The row with the results of the scan uses the
 * first five and AttemptsBefore (outbox.c). */
#define PAWL__PG_OUTBOX_CLAIMED                                                                 \
    "[Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint], " \
    "[Destination], [Due], [At], [AttemptsBefore], " PAWL__SQL_MESSAGE

/* Pending rows of the endpoint, from the id ?3 on. */
#define PAWL__PG_OUTBOX_PENDING_TEXT \
    "where [State] = 'pending' and (?2 = '' or [Endpoint] = ?2) and [Id] >= ?3 "

/* ORDER BY names both columns of the partial indexes of pending and of held rows. As sorts are off (open.c), no
 * plan uses the primary key, which has the dispatched rows, too. */
#define PAWL__PG_OUTBOX_ORDER "order by [Id], [NextAttempt] "

/* Finds the ctid of a row in that state. A row that was changed since has another ctid, and is not found. A row
 * that is being changed is waited for; servers before 14.20, 15.15, 16.11 and 17.7 do not compare its ctid again,
 * so its state is compared. `|| ''` hides that from the planner, which would expect few rows, and behind a pooler,
 * where each execution is planned, compare the whole table with all items. */
#define PAWL__PG_OUTBOX_TID                                                      \
    "cross join lateral (select q.ctid as tid, q.[State] as seen from {outbox} " \
    "as q where q.[Id] = u.id and q.[State] || '' = "

/* Changes those rows of the items that are in `state`, and returns their numbers. */
#define PAWL__PG_OUTBOX_CHANGE_TEXT(set, parameters, names, state)                                \
    "update {outbox} as o set " set " from (select u.*, f.tid, f.seen from unnest(" parameters    \
    ") "                                                                                          \
    "with ordinality as u (" names ", n) " PAWL__PG_OUTBOX_TID "'" state "' limit 1) as f) as k " \
    "where o.ctid = k.tid and o.[State] is not distinct from k.seen returning k.n"

/* Adds a line of history with the next number to rows that exist. If another transaction took that number, the
 * change of the row has missed, too, and is refused. */
#define PAWL__PG_OUTBOX_ATTEMPT_TEXT(parameters, names)                                            \
    "insert into {outbox_attempts} ([OutboxId], [Attempt], [Outcome], [At], [Duration], [Error]) " \
    "select o.[Id], (select coalesce(max(a.[Attempt]), 0) + 1 from {outbox_attempts} as a "        \
    "where a.[OutboxId] = o.[Id]), k.outcome, k.at, k.duration, k.error "                          \
    "from unnest(" parameters ") as k (" names ", outcome, at, duration, error) "                  \
    "cross join lateral (select q.[Id] from {outbox} as q where q.[Id] = k.id limit 1) as o "      \
    "{ignore:[OutboxId], [Attempt]}"

#define PAWL__PG_OUTBOX_STATEMENTS(X)                                                                                     \
    /* Rows that wait are scanned as far as the claim went, to the end if it went there: then the last row of any     \
     * endpoint was seen, so that a claim that finds none of its own begins behind those of others the next time. The \
     * rows are scanned twice: materialized for both uses they would be copied three times. */   \
    X(OUTBOX_DUE,                                                                                                         \
      "with taken as materialized (select count(*) as count, case when count(*) < ?4 then ("                              \
      "select p.[Id] from {outbox} as p where p.[State] = 'pending' and p.[Id] >= ?3 "                                    \
      "order by p.[Id] desc, p.[NextAttempt] desc limit 1) else max(t.[Id]) end as last from ("                           \
      "select [Id] from {outbox} " PAWL__PG_OUTBOX_PENDING_TEXT                                                           \
      "and [NextAttempt] <= ?1 " PAWL__PG_OUTBOX_ORDER "limit ?4) as t), "                                                \
      "later as (select min(w.[NextAttempt]) as next_attempt, min(w.[Id]) as id from ("                                   \
      "select [Id], [NextAttempt] from {outbox} " PAWL__PG_OUTBOX_PENDING_TEXT                                            \
      "and [NextAttempt] > ?1 and [Id] <= (select case when t.count < ?4 "                                                \
      "then 9223372036854775807 else t.last end from taken as t) " PAWL__PG_OUTBOX_ORDER                                  \
      ") as w) select null, later.next_attempt, later.id, " PAWL__PG_OLDEST                                               \
      ", case when taken.last >= ?5 then " PAWL__PG_NEXT " end, "                                                         \
      "null, null, null, null, null, null, taken.last, null, null, null, null, null, null "                               \
      "from taken cross join later union all select due.* from ("                                                         \
      "select " PAWL__PG_OUTBOX_CLAIMED " from {outbox} " PAWL__PG_OUTBOX_PENDING_TEXT                                    \
      "and [NextAttempt] <= ?1 " PAWL__PG_OUTBOX_ORDER "limit ?4) as due")                                                \
    /* Found by the indexes of states, or that of dispatch ids: with an order by the id alone a plan would use the    \
     * primary key. */   \
    X(OUTBOX_FIND_PENDING,                                                                                                \
      PAWL__SQL_OUTBOX_ROW "where [State] = 'pending' and " PAWL__SQL_OUTBOX_FILTERS("[Id]")                              \
          PAWL__PG_OUTBOX_ORDER "limit ?11")                                                                              \
    X(OUTBOX_FIND_TRIED, PAWL__SQL_OUTBOX_ROW                                                                             \
      "where [State] = 'pending' and [Attempts] > 0 and " PAWL__SQL_OUTBOX_FILTERS(                                       \
          "[Id]") "order by [Id], [Attempts] limit ?11")                                                                  \
    X(OUTBOX_FIND_HELD, PAWL__SQL_OUTBOX_ROW                                                                              \
      "where [State] = 'held' and [Attempts] >= 0 and " PAWL__SQL_OUTBOX_FILTERS("[Id]")                                  \
          PAWL__PG_OUTBOX_ORDER "limit ?11")                                                                              \
    X(OUTBOX_FIND_DISPATCH, PAWL__SQL_OUTBOX_ROW                                                                          \
      "where [DispatchId] = ?2 and " PAWL__SQL_OUTBOX_FILTERS("[Id] + 0") "limit ?11")                                    \
    X(OUTBOX_SETTLE,                                                                                                      \
      PAWL__PG_OUTBOX_CHANGE_TEXT(                                                                                        \
          "[State] = k.state, [Attempts] = k.attempts, [NextAttempt] = k.next_attempt, [DispatchedAt] = k.dispatched_at", \
          "?1, ?2, ?3, ?4, ?5", "state, attempts, next_attempt, dispatched_at, id", "pending"))                           \
    X(OUTBOX_ENABLE,                                                                                                      \
      PAWL__PG_OUTBOX_CHANGE_TEXT(                                                                                        \
          "[State] = 'pending', [NextAttempt] = k.at, [AttemptsBefore] = o.[Attempts] + 1, "                              \
          "[Attempts] = o.[Attempts] + 1",                                                                                \
          "?1, ?2", "at, id", "dead"))                                                                                    \
    X(OUTBOX_DISCARD,                                                                                                     \
      PAWL__PG_OUTBOX_CHANGE_TEXT(                                                                                        \
          "[State] = 'discarded', [DispatchedAt] = k.at, [Attempts] = o.[Attempts] + 1", "?1, ?2",                        \
          "at, id", "dead"))                                                                                              \
    X(OUTBOX_ATTEMPT_NEXT, PAWL__PG_OUTBOX_ATTEMPT_TEXT("?1, ?2, ?3, ?4, ?5, ?6", "id, attempts"))                        \
    X(OUTBOX_ATTEMPT, PAWL__PG_OUTBOX_ATTEMPT_TEXT("?1, ?2, ?3, ?4, ?5", "id"))                                           \
    /* Division by zero unless all rows are pending; equal values go over the wire once. */                               \
    X(OUTBOX_SETTLE_ALIKE,                                                                                                \
      "with settled as (update {outbox} as o set [State] = ?2, [Attempts] = ?3, "                                         \
      "[NextAttempt] = ?4, [DispatchedAt] = case ?2 when 'dispatched' then ?5 end "                                       \
      "where o.[Id] = any (?1) and o.[State] || '' = 'pending' returning 1) "                                             \
      "select 1 / (count(*) >= ?6)::integer from settled")                                                                \
    X(OUTBOX_ATTEMPT_ALIKE,                                                                                               \
      "insert into {outbox_attempts} ([OutboxId], [Attempt], [Outcome], [At], [Duration], "                               \
      "[Error]) select unnest(?1), ?3, ?4, ?5, unnest(?2), ''")                                                           \
    X(OUTBOX_UNBLOCK, "update {outbox} set [State] = 'pending' where [State] = 'held' "                                   \
                      "and [Source] = any (?1)")                                                                          \
    X(OUTBOX_BLOCK_ROWS,                                                                                                  \
      "update {outbox} o set [State] = 'held' from unnest(?1, ?2) w (id, source) "                                        \
      "where o.[Id] = any (array_append(null, w.id)) and o.[Source] is not distinct from w.source "                       \
      "and o.[State] || '' = 'pending' and o.[Attempts] = 0")                                                             \
    /* jsonb finds a source by binary search for each pending row, however many sources there \
     * are. */                           \
    X(OUTBOX_BLOCK,                                                                                                       \
      "with behind as materialized (select ctid as tid from {outbox} where [State] = 'pending' "                          \
      "and [Attempts] = 0 and [Id] > ?1 and [Id] > ((select jsonb_object_agg(k.source, k.after) "                         \
      "from unnest(?2, ?3) as k (source, after)) "                                                                        \
      "->> [Source])::bigint " PAWL__PG_OUTBOX_ORDER                                                                      \
      ") update {outbox} as o set [State] = 'held' from behind "                                                          \
      "where o.ctid = behind.tid")

#endif
