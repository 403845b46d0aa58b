/* event_store_statements.h - the statements on events and streams that only PostgreSQL understands. Part of statements.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_EVENT_STORE_STATEMENTS_H
#define PAWL_STORE_POSTGRES_EVENT_STORE_STATEMENTS_H

#include "store/postgres/horizon.h"
#include "store/sql/statements.h"

/* ---- Appending ---------------------------------------------------------- */

/* The first event that a change set appends to a stream needs the version before it, which stays, as events are
 * never deleted. Later events are not checked: the statement does not see rows that it inserts itself. */
#define PAWL__PG_EVENT_FOLLOWS                                             \
    "(not k.is_first or k.version = 1 or (select true from {events} as o " \
    "where o.[Stream] = k.stream and o.[Version] = k.version - 1 limit 1)) is true"

/* unnest in the select list is not materialized, as it is in FROM, where so many columns would cost a fifth of the
 * statement's time. */
#define PAWL__PG_EVENT_INSERT_TEXT(version)                                                \
    "insert into {events} ([Stream], [Version], " PAWL__SQL_EVENT ") "                     \
    "select k.stream, " version ", k.type, k.type_version, k.message_id, "                 \
    "k.correlation_id, k.causation_id, k.dispatch_id, k.at, k.headers, k.body "            \
    "from (select unnest(?1) as stream, unnest(?2) as version, unnest(?3) as type, "       \
    "unnest(?4) as type_version, unnest(?5) as message_id, unnest(?6) as correlation_id, " \
    "unnest(?7) as causation_id, unnest(?8) as dispatch_id, unnest(?9) as at, "            \
    "unnest(?10) as headers, unnest(?11) as body, unnest(?12) as is_first) as k "          \
    "where " PAWL__PG_NUMBERED_FIRST

/* ---- Reading ------------------------------------------------------------ */

/* Returns a row for each stream with its last version and its snapshot (fold), and a row for each later event, all
 * as of one moment. */
#define PAWL__PG_STREAM_LOAD                                                                     \
    "with f as materialized (select k.n, k.stream, "                                             \
    "greatest(k.after, coalesce(s.version, 0)) as base, (select o.[Version] from {events} as o " \
    "where o.[Stream] = k.stream order by o.[Version] desc limit 1) as last, s.* "               \
    "from unnest(?1, ?2, ?3) with ordinality as k (stream, after, type_version_max, n) "         \
    "left join lateral (select o.[Version] as version, o.[TypeVersion] as type_version, "        \
    "o.[At] as at, o.[State] as state, o.[Dispatches] as dispatches from {folds} as o "          \
    "where o.[Stream] = k.stream and o.[TypeVersion] <= k.type_version_max "                     \
    "and o.[Version] > k.after limit 1) as s on true) "                                          \
    "select f.n, f.version, null, f.last, null, f.type_version, null, null, null, null, f.at, "  \
    "null, null, f.state, f.dispatches from f union all "                                        \
    "select f.n, e.*, null, null from f cross join lateral (select [Version], [Seq], "           \
    "[Position], " PAWL__SQL_EVENT " from {events} where [Stream] = f.stream "                   \
    "and [Version] > f.base order by [Version]) as e"

/* ORDER BY names both columns of the partial index of events without a position. As sorts are off (open.c), no plan
 * uses the primary key, which has all events. */
#define PAWL__PG_EVENT_NUMBER_TEXT                                                                \
    "with k as materialized (select u.seq, u.tid, row_number() over (order by u.seq, u.version) " \
    "as n from (select [Seq] as seq, [Version] as version, ctid as tid from {events} "            \
    "where [Position] is null and [Seq] >= ?1 order by [Seq], [Version] limit ?2) as u), "        \
    "numbered as (update {events} as e set [Position] = k.n + (select coalesce((select "          \
    "[Position] from {events} where [Position] is not null order by [Position] desc limit 1), "   \
    "0)) from k where e.ctid = k.tid) select count(*), max(seq), " PAWL__PG_OLDEST                \
    ", case when count(*) <> 0 then " PAWL__PG_NEXT " end from k"

#define PAWL__PG_EVENT_STORE_STATEMENTS(X)                                                       \
    X(EVENT_INSERT,                                                                              \
      PAWL__PG_EVENT_INSERT_TEXT(                                                                \
          "k.version") " and " PAWL__PG_EVENT_FOLLOWS                                            \
                       " {ignore:[Stream], [Version]} returning [Stream], [Version]")            \
    /* Division by zero for a version that does not follow, a unique violation for one that is \
     * taken. */ \
    X(EVENT_INSERT_SURE,                                                                         \
      PAWL__PG_EVENT_INSERT_TEXT("k.version / (" PAWL__PG_EVENT_FOLLOWS ")::integer"))           \
    X(EVENT_TAKEN, "select k.n from unnest(?1, ?2) with ordinality as k (stream, version, n) "   \
                   "cross join lateral (select from {events} where [Stream] = k.stream "         \
                   "and [Version] = k.version limit 1) as e")                                    \
    X(STREAM_LOAD_ALL, PAWL__PG_STREAM_LOAD)                                                     \
    X(EVENTS_THERE, "select exists (select 1 from {events} where [Position] > ?1) "              \
                    "or exists (select 1 from {events} where [Position] is null)")               \
    X(EVENT_TURN, "select pg_advisory_xact_lock(?1)")                                            \
    X(EVENT_NUMBER, PAWL__PG_EVENT_NUMBER_TEXT)

#endif
