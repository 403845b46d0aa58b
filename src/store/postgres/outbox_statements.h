/* outbox_statements.h - the statements on the outbox that only PostgreSQL
 * understands. Part of statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OUTBOX_STATEMENTS_H
#define PAWL_STORE_POSTGRES_OUTBOX_STATEMENTS_H

#include "store/sql/statements.h"

/* "= any (array_append(null, key))": equal to the key of an item, which is looked up
 * for each item. A plain equality can be joined the other way round: planned while
 * the table was known to be empty, a statement walks over all of it for each item,
 * and keeps that plan when there are rows. */

/* Pending rows of the endpoint, from the id ?3 on. */
#define PAWL__POSTGRES_OUTBOX_PENDING \
    "where [State] = 'pending' and (?2 = '' or [Endpoint] = ?2) and [Id] >= ?3 "

/* The order names both columns of the index of pending rows: with sorts off (see
 * open.c) no plan walks the primary key, where the dispatched ones are. */
#define PAWL__POSTGRES_OUTBOX_ORDER "order by [Id], [NextAttempt] "

#define PAWL__POSTGRES_OUTBOX_STATEMENTS(X)                                                       \
    /* What waits is looked at as far as the claim went, to the end if it went there. */          \
    X(outbox_due,                                                                                 \
      "with due as materialized (" PAWL__SQL_OUTBOX_ROW PAWL__POSTGRES_OUTBOX_PENDING             \
      "and [NextAttempt] <= ?1 " PAWL__POSTGRES_OUTBOX_ORDER "limit ?4), "                        \
      "later as (select min(w.[NextAttempt]) as next_attempt, min(w.[Id]) as id from ("           \
      "select [Id], [NextAttempt] from {outbox} " PAWL__POSTGRES_OUTBOX_PENDING                   \
      "and [NextAttempt] > ?1 and [Id] <= (select case when count(*) < ?4 "                       \
      "then 9223372036854775807 else max([Id]) end from due) " PAWL__POSTGRES_OUTBOX_ORDER        \
      ") as w) select later.next_attempt, later.id, due.* "                                       \
      "from later left join due on true order by due.[Id]")                                       \
    X(outbox_list_pending,                                                                        \
      PAWL__SQL_OUTBOX_ROW "where [State] = 'pending' " PAWL__POSTGRES_OUTBOX_ORDER "limit ?1")   \
    /* Held rows are few: sorted, not searched for along the primary key. */                      \
    X(outbox_list_held, PAWL__SQL_OUTBOX_ROW "where [State] = 'held' order by [Id] + 0 limit ?1") \
    X(outbox_list_dispatched,                                                                     \
      PAWL__SQL_OUTBOX_ROW "where [State] = 'dispatched' order by [Id] limit ?1")                 \
    X(outbox_list_dead, PAWL__SQL_OUTBOX_ROW "where [State] = 'dead' order by [Id] limit ?1")     \
    X(outbox_put,                                                                                 \
      "insert into {outbox} ([DispatchId], [State], [Attempts], [NextAttempt], [Due], [At], "     \
      "[Source], [Version], [Index], [Endpoint], [Destination], " PAWL__SQL_MESSAGE ") "          \
      "select k.dispatch_id, 'pending', 0, k.at, k.due, k.at, k.source, k.version, k.index, "     \
      "k.endpoint, k.destination, " PAWL__POSTGRES_MESSAGE_ITEMS                                  \
      " from unnest(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "                \
      "as k (dispatch_id, at, due, source, version, index, endpoint, "                            \
      "destination, " PAWL__POSTGRES_MESSAGE_NAMES ") "                                           \
      "{ignore:[DispatchId]} returning [DispatchId]")                                             \
    X(outbox_differs, "select k.n from unnest(?1, ?2, ?3) with ordinality "                       \
                      "as k (dispatch_id, type, body, n) join {outbox} as o "                     \
                      "on o.[DispatchId] = any (array_append(null, k.dispatch_id)) "              \
                      "where o.[Type] <> k.type or o.[Body] <> k.body")                           \
    /* Only what was settled has a line of history: the others may not be there. */               \
    X(outbox_end,                                                                                 \
      "with settled as (update {outbox} as o set [State] = k.state, [Attempts] = k.attempts, "    \
      "[NextAttempt] = k.next_attempt, "                                                          \
      "[DispatchedAt] = case k.state when 'dispatched' then k.at end "                            \
      "from unnest(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) with ordinality as k (id, attempts, "          \
      "next_attempt, at, duration, error, state, outcome, n) "                                    \
      "where o.[Id] = any (array_append(null, k.id)) and o.[State] || '' = 'pending' "            \
      "returning k.*), "                                                                          \
      "noted as (insert into {outbox_attempts} ([OutboxId], [Attempt], [Outcome], [At], "         \
      "[Duration], [Error]) select s.id, (select coalesce(max(a.[Attempt]), 0) + 1 "              \
      "from {outbox_attempts} as a where a.[OutboxId] = s.id), s.outcome, s.at, s.duration, "     \
      "s.error from settled as s) select n from settled")                                         \
    X(outbox_release, "update {outbox} set [State] = 'pending' where [State] = 'held' "           \
                      "and [Source] = any (?1)")                                                  \
    /* A binary search for each pending row, however many sources there are. */                   \
    X(outbox_keep,                                                                                \
      "with behind as materialized (select [Id] as id from {outbox} where [State] = 'pending' "   \
      "and [Id] > ?1 and [Id] > ((select jsonb_object_agg(k.source, k.after) "                    \
      "from unnest(?2, ?3) as k (source, after)) "                                                \
      "->> [Source])::bigint " PAWL__POSTGRES_OUTBOX_ORDER                                        \
      ") update {outbox} as o set [State] = 'held' from behind "                                  \
      "where o.[Id] = any (array_append(null, behind.id)) and o.[State] || '' = 'pending'")

#endif
