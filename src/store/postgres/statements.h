/* statements.h - the statements that only PostgreSQL understands; their numbers follow those of
 * the shared ones.
 *
 * Arrays, one for each column, carry the changes of a set, so that a kind of change is one
 * statement whatever the size of the batch. Where rows can be refused, the statement returns
 * the numbers (from 1) of the items that were applied, or the keys that were inserted, in
 * order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_STATEMENTS_H
#define PAWL_STORE_POSTGRES_STATEMENTS_H

#include "store/postgres/aggregator_statements.h"
#include "store/postgres/event_store_statements.h"
#include "store/postgres/outbox_statements.h"
#include "store/postgres/sweep_statements.h"
#include "store/postgres/timeout_statements.h"
#include "store/sql/row_statements.h"

/* Is the worker of row `w` alive at the time `now` (a parameter)? Its session advisory lock is held; or, without
 * one (behind a pooler), its last heartbeat is recent. */
#define PAWL__PG_IS_ALIVE(now)                                                          \
    "case when w.[Process] <> 0 then w.[Process] in (select l.classid::bigint << 32 | " \
    "l.objid::bigint from pg_catalog.pg_locks as l where l.locktype = 'advisory' "      \
    "and l.objsubid = 1 and l.granted and l.database = (select b.oid "                  \
    "from pg_catalog.pg_database as b where b.datname = current_database())) "          \
    "else w.[Seen] > " now " - interval '15 seconds' end"

#define PAWL__PG_QUEUE_STATE PAWL__QUEUE_STATE(PAWL__SQL_STATE_COLUMN, "q.", ", ")
#define PAWL__PG_SET(number, member, column, stored, ...) "[" #column "] = k." #stored
#define PAWL__PG_NAME(number, member, column, stored, ...) #stored
#define PAWL__PG_QUEUE_SETS PAWL__QUEUE_SETTLED(PAWL__PG_SET, PAWL__PG_SET, ", ")
#define PAWL__PG_QUEUE_NAMES PAWL__QUEUE_SETTLED(PAWL__PG_NAME, PAWL__PG_NAME, ", ")

/* The machine time ?1 that operations gave to the handle. A handle without it, which only reads, takes the server's
 * time, which is close enough. */
#define PAWL__PG_TOLD "coalesce(nullif(?1, '0001-01-01 00:00:00Z'), now())"

/* Is the lease row `l` free for the worker ?2? The lease of a pooled worker ends only when it expires. */
#define PAWL__PG_LEASE_FREE(now)                                                      \
    "(l.[Worker] is null or l.[Worker] = ?2 or l.[Expires] <= " now " or not exists " \
    "(select 1 from {workers} as w where w.[Id] = l.[Worker] "                        \
    "and (w.[Process] = 0 or " PAWL__PG_IS_ALIVE(now) ")))"

/* Takes the lease row ?1 for the worker ?2 until ?6 and returns the worker that had it. `first` and
 * `from` put a common table expression before it, which is evaluated before any row lock is waited
 * for. */
#define PAWL__PG_LEAD_TAKE_TEXT(first, from)                                                   \
    "with " first "seen as materialized (select l.[Worker], l.[Epoch], "                       \
    "l.[Expires], " PAWL__PG_LEASE_FREE(                                                       \
        "?5") " as is_free from {leases} as l "                                                \
              "where l.[Name] = ?1) "                                                          \
              "insert into {leases} as l ([Name], [Worker], [Process], [Pid], [Epoch], "       \
              "[Expires]) select ?1, ?2, ?3, ?4, 1, ?6" from                                   \
              " where not exists (select 1 from seen where not is_free) "                      \
              "on conflict ([Name]) do update set [Worker] = excluded.[Worker], "              \
              "[Process] = excluded.[Process], [Pid] = excluded.[Pid], [Epoch] = l.[Epoch] + " \
              "case when l.[Worker] = excluded.[Worker] then 0 else 1 end, "                   \
              "[Expires] = excluded.[Expires] where exists (select 1 from seen as s "          \
              "where s.[Worker] is not distinct from l.[Worker] and s.[Epoch] = l.[Epoch] "    \
              "and s.[Expires] = l.[Expires]) "                                                \
              "returning (select s.[Worker] from seen as s where s.[Worker] <> ?2)"
/* The same in a transaction of its own, with a lock_timeout of ?7 milliseconds and a commit that need not survive a
 * power cut. */
#define PAWL__PG_LEAD_TAKE_ALONE_TEXT                                                       \
    PAWL__PG_LEAD_TAKE_TEXT("waits as materialized (select set_config('lock_timeout', ?7, " \
                            "true)), ",                                                     \
                            " from waits")                                                  \
    ", set_config('synchronous_commit', 'off', true)"

/* The fence: changes the worker's row if worker and epoch match. */
#define PAWL__PG_FENCE(where)                                                                  \
    "update {workers} set [LastCommit] = ?1, [Seen] = greatest([Seen], ?2), "                  \
    "[Messages] = [Messages] + ?3, [Timeouts] = [Timeouts] + ?4, [Flushes] = [Flushes] + ?5, " \
    "[Failures] = [Failures] + ?6, [Conflicts] = [Conflicts] + ?7, [Dead] = [Dead] + ?8 "      \
    "where " where "[Id] = ?9 and [Epoch] = ?10 returning ctid"

/* Plan settings of one transaction, and its idle timeout in ms (?1). */
#define PAWL__PG_PLANS(ways, cache)                                          \
    "select set_config(k.name, k.value, true) from (values "                 \
    "('enable_seqscan', '" ways "'), ('enable_bitmapscan', '" ways "'), "    \
    "('enable_hashjoin', '" ways "'), ('enable_mergejoin', '" ways "'), "    \
    "('enable_sort', '" ways "'), ('enable_incremental_sort', '" ways "'), " \
    "('jit', '" ways "'), ('plan_cache_mode', '" cache "'), "                \
    "('idle_in_transaction_session_timeout', ?1)) as k (name, value)"

#define PAWL__PG_STATEMENTS(X)                                                                                       \
    PAWL__PG_SWEEP_STATEMENTS(X)                                                                                     \
    /* PostgreSQL 17 has transaction_timeout; the session of a pooler (another process) is not this connection's. */ \
    /* repeat() frees one large block: after that the server's malloc (glibc) keeps its memory between batches. */   \
    X(SESSION,                                                                                                       \
      "select pg_backend_pid()::bigint, 'pawl_' || md5(?1 || '.' || ?2), "                                           \
      "case when pg_backend_pid() = ?3 and current_setting('transaction_timeout', true) <> '0' "                     \
      "then set_config('transaction_timeout', '0', false) end, octet_length(repeat(repeat(' ', 1024), 1024))")       \
    X(TRANSACTION_BEGIN, "begin isolation level read committed")                                                     \
    X(TRANSACTION_COMMIT, "commit")                                                                                  \
    X(TRANSACTION_ROLLBACK, "rollback")                                                                              \
    X(ROUND_BEGIN, "savepoint pawl_round")                                                                           \
    X(ROUND_UNDO, "rollback to savepoint pawl_round")                                                                \
    X(HANDLER_BEGIN, "savepoint " PAWL__SQL_MARK)                                                                    \
    X(HANDLER_END, "release savepoint " PAWL__SQL_MARK)                                                              \
    X(HANDLER_PLANS, PAWL__PG_PLANS("on", "auto"))                                                                   \
    X(POOLED_PLANS, PAWL__PG_PLANS("off", "force_generic_plan"))                                                     \
    X(STAMP, "select set_config('synchronous_commit', 'off', true)")                                                 \
    X(NOTIFY,                                                                                                        \
      "select set_config('synchronous_commit', 'off', true), pg_notify(?1, ?2) "                                     \
      "where (select bool_or(not pg_try_advisory_xact_lock(k.n)) from unnest(?3) as k (n))")                         \
    X(NOTIFY_ALWAYS, "select pg_notify(?1, ?2)")                                                                     \
    X(LISTEN_LOCKS, "select pg_advisory_lock_shared(k.n) from unnest(?1) as k (n)")                                  \
    X(OUTBOX_THERE, "select exists (select 1 from {outbox} where [State] = 'pending' "                               \
                    "and [NextAttempt] <= ?1)")                                                                      \
    X(UNLISTEN_LOCKS, "select pg_advisory_unlock_shared(k.n) from unnest(?1) as k (n)")                              \
    /* Workers. */                                                                                                   \
    X(WORKER_FENCE, PAWL__PG_FENCE("ctid = ?11 and "))                                                               \
    X(WORKER_FENCE_ANY, PAWL__PG_FENCE(""))                                                                          \
    X(WORKER_FENCE_HARD,                                                                                             \
      "with w as (" PAWL__PG_FENCE(                                                                                  \
          "ctid = ?11 and ") ") "                                                                                    \
                             "select (select ctid from w), 1 / (select count(*) from w)")                            \
    X(WORKER_HEARTBEAT_ANY, "update {workers} set [Seen] = ?1 where [Id] = ?2")                                      \
    X(WORKER_HEARTBEAT, "update {workers} set [Seen] = ?1 where [Id] = ?2 and [Epoch] = ?3")                         \
    X(WORKER_TAKE,                                                                                                   \
      "insert into {workers} as w ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], "                           \
      "[Seen], " PAWL__SQL_COUNTERS ", " PAWL__SQL_PROGRAM                                                           \
      ") values (?1, ?2, ?3, 1, ?4, ?5, ?6, 0, 0, 0, 0, 0, 0, ?7, ?8, ?9, ?10, ?6) "                                 \
      "on conflict ([Id]) do update set [Endpoint] = excluded.[Endpoint], "                                          \
      "[Types] = excluded.[Types], [Process] = excluded.[Process], [Pid] = excluded.[Pid], "                         \
      "[Seen] = excluded.[Seen], [Epoch] = w.[Epoch] + 1, [Host] = excluded.[Host], "                                \
      "[Program] = excluded.[Program], [ProgramVersion] = excluded.[ProgramVersion], "                               \
      "[PawlVersion] = excluded.[PawlVersion], [Started] = excluded.[Started] "                                      \
      "returning w.[Epoch], w.ctid")                                                                                 \
    X(WORKER_RAISE, "update {workers} set [Epoch] = [Epoch] + 1 where [Id] = ?1 "                                    \
                    "returning [Epoch], [LastCommit], ctid")                                                         \
    X(LOCK_TIMEOUT, "select set_config('lock_timeout', ?1, true)")                                                   \
    X(WORKER_LOCK_WAIT, "select pg_advisory_lock(?1)")                                                               \
    X(WORKER_UNLOCK, "select pg_advisory_unlock(?1)")                                                                \
    /* The tag of a pooled worker's transaction, and the wait for its end. */                                        \
    X(WORKER_TAG, "select pg_advisory_xact_lock_shared(?1)")                                                         \
    X(WORKER_TAG_WAIT, "select pg_advisory_xact_lock(?1)")                                                           \
    X(END_SESSION, "select pg_terminate_backend(l.pid) from pg_locks as l "                                          \
                   "where l.locktype = 'advisory' and l.objsubid = 1 and l.granted "                                 \
                   "and l.classid = ((?1 >> 32) & 4294967295)::oid "                                                 \
                   "and l.objid = (?1 & 4294967295)::oid and l.pid <> pg_backend_pid() "                             \
                   "and l.database = (select oid from pg_database "                                                  \
                   "where datname = current_database())")                                                            \
    X(END_HOLDER_OF, "select pg_terminate_backend(a.pid) from {workers} as w "                                       \
                     "join pg_stat_activity as a on a.backend_xid = w.xmax "                                         \
                     "where w.[Id] = ?1 and a.pid <> pg_backend_pid()")                                              \
    /* Sessions inside a commit, or with the advisory lock for numbering, that wait for their \
     * client. */                      \
    X(END_STANDING_OF,                                                                                               \
      "select pg_terminate_backend(a.pid) from pg_stat_activity as a "                                               \
      "where a.pid <> pg_backend_pid() and a.wait_event = 'ClientRead' "                                             \
      "and a.state_change < clock_timestamp() - ?1 * interval '1 millisecond' "                                      \
      "and (a.backend_xid in (select w.xmax from {workers} as w) or a.pid in "                                       \
      "(select l.pid from pg_locks as l where l.locktype = 'advisory' and l.objsubid = 1 "                           \
      "and l.granted and l.classid = ((?2 >> 32) & 4294967295)::oid "                                                \
      "and l.objid = (?2 & 4294967295)::oid "                                                                        \
      "and l.database = (select oid from pg_database where datname = current_database())))")                         \
    /* Locks are not replicated: on a standby each worker that has a row counts as alive. */                         \
    X(WORKER_LIVES,                                                                                                  \
      "select w.n from unnest(?2, ?3) with ordinality as w ([Process], [Seen], n) "                                  \
      "where w.[Process] <> 0 and pg_is_in_recovery() or " PAWL__PG_IS_ALIVE(PAWL__PG_TOLD))                         \
    X(WORKER_DEAD_LIST, "select w.[Id], w.[Pid] <> " PAWL__PG_TIMEOUT_FREED                                          \
                        " from {workers} as w where w.[Epoch] > 0 "                                                  \
                        "and w.[Seen] < ?2 and not " PAWL__PG_IS_ALIVE(                                              \
                            "?1") " order by w.[Id] limit ?3 for update of w skip locked")                           \
    X(AGGREGATOR_FREE_DEAD, "update {aggregator} set " PAWL__SQL_NO_SESSION                                          \
                            " where [LeaseWorker] = any (array(select w.[Id] from {workers} as w "                   \
                            "where w.[Epoch] > 0 and not " PAWL__PG_IS_ALIVE("?1") "))")                             \
    X(LEASE_FREE_DEAD,                                                                                               \
      "delete from {leases} where [Worker] = any (array(select w.[Id] from {workers} as w "                          \
      "where w.[Epoch] > 0 and w.[Process] <> 0 and not " PAWL__PG_IS_ALIVE("?1") "))")                              \
    X(WORKER_KEEP,                                                                                                   \
      "insert into {workers} ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], "                                \
      "[Seen], " PAWL__SQL_COUNTERS ") values (?1, '', '', 0, 0, 0, 'epoch', 0, 0, 0, 0, 0, 0) "                     \
      "{ignore:[Id]}")                                                                                               \
    /* Leases. */                                                                                                    \
    X(END_LEASE_HOLDER, "select pg_terminate_backend(a.pid, 2000) from {leases} as l "                               \
                        "join pg_stat_activity as a on a.backend_xid = l.xmax "                                      \
                        "where l.[Name] = ?1 and l.[Expires] <= ?2 and a.pid <> pg_backend_pid() "                   \
                        "and a.wait_event = 'ClientRead' "                                                           \
                        "and a.state_change < clock_timestamp() - ?3 * interval '1 millisecond'")                    \
    X(LEAD_TAKE, PAWL__PG_LEAD_TAKE_TEXT("", ""))                                                                    \
    X(LEAD_TAKE_ALONE, PAWL__PG_LEAD_TAKE_ALONE_TEXT)                                                                \
    PAWL__PG_TIMEOUT_STATEMENTS(X)                                                                                   \
    PAWL__PG_OUTBOX_STATEMENTS(X)                                                                                    \
    PAWL__PG_AGGREGATOR_STATEMENTS(X)                                                                                \
    PAWL__PG_EVENT_STORE_STATEMENTS(X)                                                                               \
    /* Dead letters. */                                                                                              \
    /* Reads by the index of times up to the limit, with ties of the last time; sorts only these rows. */            \
    X(DEAD_FIND,                                                                                                     \
      "select * from (" PAWL__SQL_DEAD_ROW "where " PAWL__SQL_DEAD_FILTERS                                           \
      "and [At] >= ?6 and [At] <= ?7 order by [At] fetch first (?11) rows with ties) as found "                      \
      "order by [At], [Endpoint], [MessageId] limit ?11")                                                            \
    /* The queue. */                                                                                                 \
    X(QUEUE_CLAIM,                                                                                                   \
      "select (select true from {inbox} as i where i.[Endpoint] = ?6 "                                               \
      "and i.[MessageId] = q.[MessageId] limit 1), q.ctid, " PAWL__PG_QUEUE_STATE                                    \
      ", [MessageId], [Type], [CorrelationId], [CausationId], [Headers], "                                           \
      "case when octet_length([Body]) <= ?7 then [Body] end, octet_length([Body])::bigint "                          \
      "from {queue} as q "                                                                                           \
      "where q.[Queue] = ?1 and q.[Due] <= ?2 and q.[Due] >= ?3 and q.[Seq] <> all (?4) "                            \
      "order by q.[Due], q.[Seq] limit ?5 for update of q skip locked")                                              \
    /* Each row is looked up by its number: any other order would scan the queue. */                                 \
    X(QUEUE_CLAIM_AGAIN,                                                                                             \
      "select q.* from (select distinct u.seq from unnest(?1) as u (seq)) as k "                                     \
      "cross join lateral (select ctid, " PAWL__SQL_QUEUE_COLUMNS                                                    \
      " from {queue} where [Seq] >= k.seq "                                                                          \
      "and [Seq] <= k.seq and [Queue] || '' = ?2 and [Due] <= ?3 order by [Seq] limit 1 "                            \
      "for update skip locked) as q order by q.[Due], q.[Seq] limit ?4")                                             \
    X(QUEUE_BODIES,                                                                                                  \
      "select k.n, t.[Body] from unnest(?1) with ordinality as k (seq, n) cross join lateral "                       \
      "(select o.[Body] from {queue} as o where o.[Seq] >= k.seq and o.[Seq] <= k.seq "                              \
      "order by o.[Seq] limit 1) as t")                                                                              \
    /* The due time of a claim is no year before 1: see PAWL__WIRE_TIME_FROM. */                                     \
    X(QUEUE_LOCK, "select f.[Seq], f.tid from unnest(?1, ?2) as k (seq, due) cross join lateral "                    \
                  "(select o.[Seq], o.ctid as tid from {queue} as o where o.[Seq] >= k.seq "                         \
                  "and o.[Seq] <= k.seq and greatest(o.[Due], '0001-01-01 00:00:00+00') = k.due "                    \
                  "order by o.[Seq] limit 1 "                                                                        \
                  "for update skip locked) as f order by f.[Seq]")                                                   \
    X(QUEUE_DELETE, "delete from {queue} as q using unnest(?1, ?2, ?3) with ordinality "                             \
                    "as k (tid, seq, queue, n) where q.ctid = k.tid and q.[Seq] + 0 = k.seq "                        \
                    "and q.[Queue] || '' = k.queue returning k.n")                                                   \
    X(QUEUE_RETRY,                                                                                                   \
      "update {queue} as q set " PAWL__PG_QUEUE_SETS " from unnest(" PAWL__QUEUE_SETTLED_ARRAYS                      \
      ") with ordinality as k (tid, " PAWL__PG_QUEUE_NAMES ", seq, queue, n) "                                       \
      "where q.ctid = k.tid and q.[Seq] + 0 = k.seq and q.[Queue] || '' = k.queue "                                  \
      "returning k.n")                                                                                               \
    X(QUEUE_OLDEST, "select [Placed], [Seq] from {queue} where [Queue] = ?1 and [Due] <= ?2 "                        \
                    "and [Attempts] = 0 and [WaitingSince] = 'epoch' and [Seq] <> all (?3) "                         \
                    "order by [Due], [Seq] limit 1")                                                                 \
    X(QUEUE_FIRST, "select [Due] from {queue} where [Queue] = ?1 and [Due] >= ?2 "                                   \
                   "and [Seq] <> all (?3) "                                                                          \
                   "order by [Due], [Seq] limit 1 for update skip locked")                                           \
    /* The inbox. */                                                                                                 \
    X(INBOX_KNOWN, "select k.n from unnest(?2) with ordinality as k (id, n) cross join lateral "                     \
                   "(select from {inbox} where [Endpoint] = ?1 and [MessageId] = k.id limit 1) "                     \
                   "as i")                                                                                           \
    /* Dead letters. The time is compared behind the subquery: an index of it would do for an empty table, too. */   \
    X(DEAD_DELETE_OF,                                                                                                \
      "delete from {dead} as t using unnest(?1, ?2, ?3) with ordinality as k (endpoint, id, at, n) "                 \
      "cross join lateral (select o.ctid as tid, o.[At] as at from {dead} as o where o.[Endpoint] = k.endpoint "     \
      "and o.[MessageId] = k.id offset 0) as f where t.ctid = f.tid and f.at = k.at returning k.n")

/* Statements on one row (store/sql/row_statements.h) that this driver rewrites for arrays (set.h), each with the
 * end that replaces that of an insert: if rows may be refused, it returns the keys of the inserted rows, in order. */
#define PAWL__PG_SETS(X)                                                                 \
    X(INBOX_MARK, " {ignore:[Endpoint], [MessageId]} returning [Endpoint], [MessageId]") \
    X(CHECKPOINT_ADD, NULL)                                                              \
    X(CHECKPOINT_MOVE, NULL)                                                             \
    X(TIMEOUT_INSERT, " on conflict do nothing returning [Id]")                          \
    X(OUTBOX_ADD,                                                                        \
      " where " PAWL__PG_NUMBERED_FIRST " {ignore:[DispatchId]} returning [DispatchId]") \
    X(OUTBOX_ATTEMPT_PUT, NULL)                                                          \
    X(OUTBOX_SAME, NULL)                                                                 \
    X(QUEUE_SEND, NULL)                                                                  \
    X(FOLD_SET, NULL)                                                                    \
    X(AGGREGATOR_ADD, NULL)                                                              \
    X(AGGREGATOR_DELETE_ALL, NULL)                                                       \
    X(AGGREGATOR_RELEASE, NULL)                                                          \
    X(FLUSH_DONE, NULL)                                                                  \
    X(FLUSH_SET, NULL)                                                                   \
    X(DEAD_ADD, NULL)                                                                    \
    X(DEAD_DELETE, NULL)                                                                 \
    X(INBOX_DELETE, NULL)                                                                \
    X(SUBSCRIPTION_ADD, NULL)                                                            \
    X(SUBSCRIPTION_DELETE, NULL)                                                         \
    X(HISTORY_ADD, NULL)
enum {
    PAWL__PG_BEFORE_FIRST = PAWL__SQL_STATEMENT_COUNT - 1,
#define PAWL__PG_NAME_OF(name, text) PAWL__PG_##name,
    PAWL__PG_STATEMENTS(PAWL__PG_NAME_OF)
#undef PAWL__PG_NAME_OF
        PAWL__PG_SET_FIRST,
    PAWL__PG_BEFORE_SETS = PAWL__PG_SET_FIRST - 1,
#define PAWL__PG_SET_NAME_OF(name, end) PAWL__PG_##name,
    PAWL__PG_SETS(PAWL__PG_SET_NAME_OF)
#undef PAWL__PG_SET_NAME_OF
        PAWL__PG_STATEMENT_COUNT
};

#endif
