/* row_statements.h - the statements on the shared tables that write or claim one
 * row, for databases that run a statement in a loop as fast as one over a set; counted
 * on from the shared ones. A database that is reached over a network has sets
 * instead, and never sees these.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_ROW_STATEMENTS_H
#define PAWL_STORE_SQL_ROW_STATEMENTS_H

#include "store/sql/statements.h"

/* OUTBOX_ENABLE: MySQL assigns columns one after another, so a column that others are computed from is set last. */

/* WORKER_KEEP: locks the row of sums for writing at once. With a shared lock, as after a failed insert, two workers
 * that end at the same time would deadlock. */

/* EVENT_INSERT: unless it is the first event (?12), the stream's name becomes null if the previous event is missing,
 * and the column refuses null. `insert ... select` from the same table would copy rows to a temporary table. */

#define PAWL__SQL_SET(number, member, column, ...) "[" #column "] = ?" #number
#define PAWL__SQL_QUEUE_SETS PAWL__QUEUE_SETTLED(PAWL__SQL_SET, PAWL__SQL_SET, ", ")

/* Of INBOX_AMONG. */
#define PAWL__SQL_INBOX_IDS_MAX 32
#define PAWL__SQL_INBOX_IDS                                                    \
    "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, " \
    "?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33"

/* A timeout that is settled must have this owner (null: any) and this generation (0: any). */
#define PAWL__SQL_TIMEOUT_IS "and (?2 is null or [Owner] = ?2) and (?3 = 0 or [Generation] = ?3)"

/* ..._TAKEN: is there a row with the key that an insert reported as duplicate (pawl__sql_write.taken)? */

/* name, template */
#define PAWL__SQL_ROW_STATEMENTS(X)                                                                   \
    /* Workers, fence and leases. */                                                                  \
    X(WORKER_INSERT,                                                                                  \
      "insert into {workers} ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], "                 \
      "[Seen], " PAWL__SQL_COUNTERS ", " PAWL__SQL_PROGRAM                                            \
      ") values (?1, ?2, ?3, 1, ?4, ?5, {seen:?4|?6}, 0, 0, 0, 0, 0, 0, ?7, ?8, ?9, ?10, "            \
      "{seen:?4|?6})")                                                                                \
    X(WORKER_FENCE,                                                                                   \
      "update {workers} set [LastCommit] = ?1, [Seen] = {seen:[Process]|?2}, "                        \
      "[Messages] = [Messages] + ?3, [Timeouts] = [Timeouts] + ?4, [Flushes] = [Flushes] + ?5, "      \
      "[Failures] = [Failures] + ?6, [Conflicts] = [Conflicts] + ?7, [Dead] = [Dead] + ?8 "           \
      "where [Id] = ?9 and [Epoch] = ?10")                                                            \
    X(WORKER_REPLACE,                                                                                 \
      "update {workers} set [Endpoint] = ?1, [Types] = ?2, [Process] = ?3, [Pid] = ?4, "              \
      "[Seen] = {seen:?3|?5}, [Epoch] = [Epoch] + 1, [Host] = ?7, [Program] = ?8, "                   \
      "[ProgramVersion] = ?9, [PawlVersion] = ?10, [Started] = {seen:?3|?5} where [Id] = ?6")         \
    X(WORKER_HEARTBEAT, "update {workers} set [Seen] = {seen:[Process]|[Seen]} where [Id] = ?1")      \
    X(WORKER_DEAD_LOCK, "select [Epoch] from {workers} where [Id] = ?1 and [Seen] < ?2{skip}")        \
    X(WORKER_RAISE, "update {workers} set [Epoch] = [Epoch] + 1 where [Id] = ?1")                     \
    X(WORKER_GET, "select [Epoch], [LastCommit] from {workers} where [Id] = ?1")                      \
    X(WORKER_KEEP, "insert into {workers} ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], "    \
                   "[Seen], " PAWL__SQL_COUNTERS                                                      \
                   ") values (?1, '', '', 0, 0, 0, {epoch}, 0, 0, 0, 0, 0, 0) {keep:[Id]}")           \
    X(LEASE_GET,                                                                                      \
      "select [Worker], [Process], [Pid], [Epoch], [Expires] from {leases} where [Name] = ?1")        \
    X(LEASE_LOCK, "select [Epoch] from {leases} where [Name] = ?1{lock}")                             \
    X(LEASE_FREE, "update {leases} set [Worker] = null, [Process] = 0 where [Name] = ?1 "             \
                  "and [Process] = ?2")                                                               \
    X(QUEUE_STAMP,                                                                                    \
      "insert into {leases} ([Name], [Worker], [Process], [Pid], [Epoch], [Expires]) "                \
      "values (?1, ?2, 0, 0, 1, {epoch})")                                                            \
    X(QUEUE_STAMP_KEEP, "update {leases} set [Epoch] = 1 where [Name] = ?1 and [Worker] = ?2")        \
    /* The queue. */                                                                                  \
    X(QUEUE_ROW, PAWL__SQL_QUEUE_ROW_TEXT "where [Seq] = ?1 and [Queue] = ?2 and [Due] <= ?3")        \
    X(QUEUE_DELETE, "delete from {queue} where [Seq] = ?1 and [Queue] = ?2")                          \
    X(QUEUE_RETRY, "update {queue} set " PAWL__SQL_QUEUE_SETS " where " PAWL__QUEUE_SETTLED_WHERE)    \
    X(QUEUE_SEND,                                                                                     \
      "insert into {queue} ([Queue], [Due], [Placed], [Attempts], " PAWL__QUEUE_NEW_COLUMNS           \
      ", [Error], " PAWL__SQL_MESSAGE ") values (?1, ?2, ?2, ?3, " PAWL__QUEUE_NEW_VALUES             \
      ", '', ?4, ?5, ?6, ?7, ?8, ?9) {ignore:[Queue], [MessageId]}")                                  \
    X(QUEUE_TAKEN, "select 1 from {queue} where [Queue] = ?1 and [MessageId] = ?2{share}")            \
    X(QUEUE_FIRST, "select [Due] from {queue} where [Queue] = ?1 {free}order by [Due] {limit:1}")     \
    X(QUEUE_OLDEST,                                                                                   \
      "select [Placed], [Seq] from {queue} where [Queue] = ?1 and [Due] <= ?2 "                       \
      "and [Attempts] = 0 and [WaitingSince] = {epoch} order by [Due], [Seq] {limit:?3}")             \
    /* The inbox. */                                                                                  \
    X(INBOX_RANGE, "select [MessageId] from {inbox} where [Endpoint] = ?1 "                           \
                   "and [MessageId] between ?2 and ?3 {any:?4}")                                      \
    X(INBOX_AMONG, "select [MessageId] from {inbox} where [Endpoint] = ?1 "                           \
                   "and [MessageId] in (" PAWL__SQL_INBOX_IDS ")")                                    \
    X(INBOX_KNOWN, "select 1 from {inbox} where [Endpoint] = ?1 and [MessageId] = ?2")                \
    X(INBOX_MARK,                                                                                     \
      "insert into {inbox} ([Endpoint], [MessageId], [Outcome], [At]) values (?1, ?2, ?3, ?4)")       \
    X(INBOX_SWEEP, "delete from {inbox} where [At] < ?1 order by [At] {limit:?2}")                    \
    X(INBOX_DELETE, "delete from {inbox} where [Endpoint] = ?1 and [MessageId] = ?2")                 \
    /* Timeouts. */                                                                                   \
    X(TIMEOUT_DUE, PAWL__SQL_TIMEOUT_ROW                                                              \
      "where [Destination] = ?1 and [Due] <= ?2 "                                                     \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?3) order by [Due], [Id] {limit:?4}")         \
    X(TIMEOUT_DUE_ANY, PAWL__SQL_TIMEOUT_ROW                                                          \
      "where [Due] <= ?1 "                                                                            \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?2) order by [Due], [Id] {limit:?3}")         \
    /* The same, locked, in the transaction that stamps them. */                                      \
    X(TIMEOUT_CLAIM, PAWL__SQL_TIMEOUT_ROW                                                            \
      "{index:timeouts_due}where [Destination] = ?1 and [Due] <= ?2 "                                 \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?3) order by [Due], [Id] {limit:?4}{skip}")   \
    X(TIMEOUT_CLAIM_ANY, PAWL__SQL_TIMEOUT_ROW                                                        \
      "where [Due] <= ?1 "                                                                            \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?2) order by [Due], [Id] {limit:?3}{skip}")   \
    X(TIMEOUT_NEXT, "select [Due] from {timeouts} where [Destination] = ?1 and [Due] > ?2 "           \
                    "and ([LeaseExpires] is null or [LeaseExpires] <= ?3) "                           \
                    "order by [Due] {limit:1}")                                                       \
    X(TIMEOUT_NEXT_ANY,                                                                               \
      "select min([Due]) from {timeouts} where [Due] > ?1 "                                           \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?2) having min([Due]) is not null")           \
    X(TIMEOUT_FIRST, "select [Due] from {timeouts} where [Destination] = ?1 and [Owner] is null "     \
                     "order by [Due] {limit:1}")                                                      \
    X(TIMEOUT_STAMP,                                                                                  \
      "update {timeouts} set [Owner] = ?1, [LeaseExpires] = ?2, [LeaseWorker] = ?3 "                  \
      "where [Id] = ?4")                                                                              \
    X(TIMEOUT_STAMP_UNTIL,                                                                            \
      "update {timeouts} set [Owner] = ?1, [LeaseExpires] = ?2, [LeaseWorker] = ?3 "                  \
      "where [Destination] = ?4 and [Due] <= ?5 "                                                     \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?6)")                                         \
    X(TIMEOUT_FREE, "update {timeouts} set " PAWL__SQL_NO_OWNER " where [LeaseWorker] = ?1")          \
    X(TIMEOUT_REAP, "update {timeouts} set " PAWL__SQL_NO_OWNER " where [LeaseExpires] <= ?1")        \
    X(TIMEOUT_DELETE, "delete from {timeouts} where [Id] = ?1 " PAWL__SQL_TIMEOUT_IS)                 \
    X(TIMEOUT_RELEASE,                                                                                \
      "update {timeouts} set " PAWL__SQL_NO_OWNER " where [Id] = ?1 " PAWL__SQL_TIMEOUT_IS)           \
    X(TIMEOUT_RETRY, "update {timeouts} set " PAWL__SQL_NO_OWNER ", [Due] = ?4, "                     \
                     "[Attempts] = ?5 where [Id] = ?1 " PAWL__SQL_TIMEOUT_IS)                         \
    X(TIMEOUT_CANCEL, "delete from {timeouts} where [SagaId] = ?1 and [Name] = ?2 "                   \
                      "and [Name] <> ''")                                                             \
    X(TIMEOUT_CANCEL_ALL, "delete from {timeouts} where " PAWL__SQL_OF_SAGA)                          \
    X(TIMEOUT_INSERT, "insert into {timeouts} ([Id], [Generation], [SagaId], [SagaType], "            \
                      "[Name], "                                                                      \
                      "[Destination], [Due], [Attempts], [CorrelationId], [Headers]) "                \
                      "values (?1, 1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8)")                                \
    X(TIMEOUT_REARM_SAGA,                                                                             \
      "update {timeouts} set [Generation] = [Generation] + 1, [SagaType] = ?1, "                      \
      "[Destination] = ?2, [Due] = ?3, [Attempts] = 0, " PAWL__SQL_NO_OWNER ", "                      \
      "[CorrelationId] = ?4, [Headers] = ?5 "                                                         \
      "where [SagaId] = ?6 and [Name] = ?7 and [Name] <> ''")                                         \
    X(TIMEOUT_REARM,                                                                                  \
      "update {timeouts} set [Generation] = [Generation] + 1, [SagaType] = ?1, "                      \
      "[Destination] = ?2, [Due] = ?3, [Attempts] = 0, " PAWL__SQL_NO_OWNER ", "                      \
      "[CorrelationId] = ?4, [Headers] = ?5, [SagaId] = ?6, [Name] = ?7 where [Id] = ?8")             \
    /* The outbox. */                                                                                 \
    X(OUTBOX_DUE, PAWL__SQL_OUTBOX_ROW                                                                \
      "{index:outbox_pending}where [State] = 'pending' and [NextAttempt] <= ?1 "                      \
      "and (?3 = '' or [Endpoint] = ?3) order by [Id] {limit:?2}")                                    \
    X(OUTBOX_NEXT,                                                                                    \
      "select min([NextAttempt]) from {outbox} {index:outbox_pending}"                                \
      "where [State] = 'pending' and [NextAttempt] > ?1 and (?2 = '' or [Endpoint] = ?2)")            \
    X(OUTBOX_ADD,                                                                                     \
      "insert into {outbox} ([DispatchId], [State], [Attempts], [NextAttempt], [Due], [At], "         \
      "[Source], [Version], [Index], [Endpoint], [Destination], [AttemptsBefore], " PAWL__SQL_MESSAGE \
      ") values "                                                                                     \
      "(?1, 'pending', 0, {epoch}, ?3, ?2, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11, ?12, ?13, ?14) "      \
      "{ignore:[DispatchId]}")                                                                        \
    X(OUTBOX_TAKEN, "select 1 from {outbox} where [DispatchId] = ?1{share}")                          \
    X(OUTBOX_SAME,                                                                                    \
      "select 1 from {outbox} where [DispatchId] = ?1 and [Type] = ?2 and [Body] = ?3")               \
    X(OUTBOX_SETTLE, "update {outbox} set [State] = ?1, [Attempts] = ?2, [NextAttempt] = ?3, "        \
                     "[DispatchedAt] = ?4 where [Id] = ?5 and [State] = 'pending'")                   \
    X(OUTBOX_ENABLE, "update {outbox} set [State] = 'pending', [NextAttempt] = ?1, "                  \
                     "[AttemptsBefore] = [Attempts] + 1, [Attempts] = [Attempts] + 1 "                \
                     "where [Id] = ?2 and [State] = 'dead'")                                          \
    X(OUTBOX_DISCARD, "update {outbox} set [State] = 'discarded', [DispatchedAt] = ?1, "              \
                      "[Attempts] = [Attempts] + 1 where [Id] = ?2 and [State] = 'dead'")             \
    X(OUTBOX_ATTEMPT_PUT,                                                                             \
      "insert into {outbox_attempts} ([OutboxId], [Attempt], [Outcome], [At], [Duration], "           \
      "[Error]) values (?1, ?2, ?3, ?4, ?5, ?6)")                                                     \
    X(OUTBOX_ATTEMPT,                                                                                 \
      "insert into {outbox_attempts} ([OutboxId], [Attempt], [Outcome], [At], [Duration], "           \
      "[Error]) select ?1, coalesce(max([Attempt]), 0) + 1, ?2, ?3, ?4, ?5 "                          \
      "from {outbox_attempts} where [OutboxId] = ?1")                                                 \
    X(OUTBOX_BLOCK, "update {outbox} set [State] = 'held' where [Id] = ?1 "                           \
                    "and [State] = 'pending' and [Attempts] = 0")                                     \
    X(OUTBOX_BLOCK_KNOWN,                                                                             \
      "update {outbox} set [State] = 'held' where [Id] = ?1 and [Source] = ?2 "                       \
      "and [State] = 'pending' and [Attempts] = 0")                                                   \
    X(OUTBOX_SOURCES, "select [Id], [Source] from {outbox} {index:outbox_pending}"                    \
                      "where [State] = 'pending' and [Attempts] = 0 and [Id] > ?1 order by [Id]")     \
    X(OUTBOX_UNBLOCK,                                                                                 \
      "update {outbox} set [State] = 'pending' where [State] = 'held' and [Source] = ?1")             \
    X(HISTORY_ADD, "insert into {history} (" PAWL__SQL_HISTORY ") values "                            \
                   "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")                             \
    X(HISTORY_PAGE, "select count(*), coalesce(max([Id]), 0) from (select [Id] from {history} "       \
                    "where [Id] > ?1 order by [Id] {limit:?2}) page")                                 \
    X(HISTORY_SWEEP,                                                                                  \
      "delete from {history} where [Id] in (select [Id] from "                                        \
      "(select [Id], [At] from {history} where [Id] > ?3 order by [Id] {limit:?2}) "                  \
      "old where [At] < ?1)")                                                                         \
    X(OUTBOX_SWEEP, "delete from {outbox} where [Id] in (select [Id] from {outbox} "                  \
                    "where [DispatchedAt] < ?1 order by [DispatchedAt] {limit:?2})")                  \
    /* The event store. */                                                                            \
    X(EVENT_LAST, "select max([Version]) from {events} where [Stream] = ?1")                          \
    X(EVENT_BEHIND,                                                                                   \
      PAWL__SQL_EVENT_ROW "where [Stream] = ?1 and [Version] > ?2 order by [Version]")                \
    X(EVENT_TURN, "select [Version] from {schema} where [Part] = 'pawl'{lock}")                       \
    X(EVENT_POSITION, "select max([Position]) from {events}")                                         \
    X(EVENT_UNNUMBERED, "select [Seq] from {events} {index:events_unnumbered|events_position}"        \
                        "where [Position] is null order by [Seq] {limit:?1}")                         \
    X(EVENT_NUMBER, "update {events} set [Position] = ?1 where [Seq] = ?2")                           \
    X(EVENT_INSERT,                                                                                   \
      "insert into {events} ([Stream], [Version], " PAWL__SQL_EVENT ") values ("                      \
      "case when ?12 = 0 or ?2 = 1 "                                                                  \
      "or exists (select 1 from {events} where [Stream] = ?1 and [Version] = ?2 - 1) "                \
      "then ?1 end, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")                                       \
    X(EVENT_TAKEN, "select 1 from {events} where [Stream] = ?1 and [Version] = ?2{share}")            \
    X(FOLD_SET,                                                                                       \
      "insert into {folds} ([Stream], [Version], [TypeVersion], [State], [Dispatches], [At]) "        \
      "values (?1, ?2, ?3, ?4, ?5, ?6) on conflict ([Stream]) do update set "                         \
      "[Version] = excluded.[Version], [TypeVersion] = excluded.[TypeVersion], "                      \
      "[State] = excluded.[State], [Dispatches] = excluded.[Dispatches], [At] = excluded.[At] "       \
      "where excluded.[Version] > {folds}.[Version]")                                                 \
    X(FOLD_ADD, "insert into {folds} ([Stream], [Version], [TypeVersion], [State], [Dispatches], "    \
                "[At]) values (?1, ?2, ?3, ?4, ?5, ?6){ignore:[Stream]}")                             \
    X(FOLD_TAKEN, "select 1 from {folds} where [Stream] = ?1{share}")                                 \
    X(FOLD_GET, "select [Version], [TypeVersion], [State], [Dispatches], [At] from {folds} "          \
                "where [Stream] = ?1 and [TypeVersion] <= ?2 and [Version] > ?3")                     \
    X(CHECKPOINT_ADD,                                                                                 \
      "insert into {checkpoints} ([Name], [Position], [At]) values (?1, ?2, ?3) {ignore:[Name]}")     \
    X(CHECKPOINT_TAKEN, "select 1 from {checkpoints} where [Name] = ?1{share}")                       \
    X(CHECKPOINT_MOVE,                                                                                \
      "update {checkpoints} set [Position] = ?2, [At] = ?3 where [Name] = ?1 and [Position] = ?4")    \
    /* Aggregators. */                                                                                \
    X(AGGREGATOR_ADD,                                                                                 \
      "insert into {aggregator} ([Name], [Partition], [Key], [At], " PAWL__SQL_MESSAGE ") "           \
      "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) {ignore:[Partition], [Key]}")                 \
    X(AGGREGATOR_TAKEN, "select 1 from {aggregator} where [Partition] = ?1 and [Key] = ?2{share}")    \
    X(AGGREGATOR_HEAD,                                                                                \
      "select [Type], [LeaseExpires], [Id] from {aggregator} where [Partition] = ?1")                 \
    X(AGGREGATOR_CLAIM, PAWL__SQL_AGGREGATOR_ROW                                                      \
      "{index:aggregator_at}where [Partition] = ?1 order by [At], [Id]{skip}")                        \
    X(AGGREGATOR_STAMP,                                                                               \
      "update {aggregator} set [Session] = ?1, [LeaseExpires] = ?2, [LeaseWorker] = ?3 "              \
      "where [Id] = ?4")                                                                              \
    X(AGGREGATOR_DELETE, "delete from {aggregator} where [Id] = ?1 and [Partition] = ?2 "             \
                         "and (?3 is null or [Session] = ?3)")                                        \
    X(AGGREGATOR_DELETE_ALL, "delete from {aggregator} where [Partition] = ?1")                       \
    X(AGGREGATOR_DELETE_OLDEST,                                                                       \
      "delete from {aggregator} where [Id] = (select [Id] from {aggregator} "                         \
      "where [Partition] = ?1 and [CorrelationId] = ?2 order by [At], [Id] {limit:1})")               \
    X(AGGREGATOR_RELEASE, "update {aggregator} set " PAWL__SQL_NO_SESSION " "                         \
                          "where [Partition] = ?1 and [Session] = ?2")                                \
    X(FLUSH_ADD,                                                                                      \
      "insert into {aggregator_flush} ([Partition], [Name], [Due], [Attempts], [Dead], "              \
      "[Error]) values (?1, ?2, ?3, 0, 0, '') {ignore:[Partition]}")                                  \
    X(FLUSH_TAKEN, "select 1 from {aggregator_flush} where [Partition] = ?1{share}")                  \
    X(FLUSH_TOUCH, "update {aggregator_flush} set [Name] = [Name] where [Partition] = ?1")            \
    X(FLUSH_DONE, "delete from {aggregator_flush} where [Partition] = ?1 and not exists "             \
                  "(select 1 from {aggregator} where [Partition] = ?1)")                              \
    X(FLUSH_SET,                                                                                      \
      "update {aggregator_flush} set [Due] = ?1, [Attempts] = ?2, [Dead] = ?3, [Error] = ?4 "         \
      "where [Partition] = ?5")                                                                       \
    X(FLUSH_GET,                                                                                      \
      "select [Due], [Attempts], [Dead] from {aggregator_flush} where [Partition] = ?1")              \
    X(FLUSH_FIRST, "select [Due] from {aggregator_flush} where [Name] = ?1 and [Dead] = 0 "           \
                   "order by [Due] {limit:1}")                                                        \
    /* Dead letters and subscriptions. */                                                             \
    X(DEAD_ADD,                                                                                       \
      "insert into {dead} ([Endpoint], [Queue], [Code], [Error], [Attempts], [Deaths], "              \
      "[History], [At], " PAWL__SQL_MESSAGE ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "     \
      "?11, ?12, ?13, ?14) {ignore:[Endpoint], [MessageId]}")                                         \
    X(DEAD_TAKEN, "select 1 from {dead} where [Endpoint] = ?1 and [MessageId] = ?2{share}")           \
    X(DEAD_DELETE, "delete from {dead} where [Endpoint] = ?1 and [MessageId] = ?2")                   \
    X(DEAD_DELETE_OF,                                                                                 \
      "delete from {dead} where [Endpoint] = ?1 and [MessageId] = ?2 and [At] = ?3")                  \
    X(SUBSCRIPTION_ADD,                                                                               \
      "insert into {subscriptions} ([Type], [Queue]) values (?1, ?2) {ignore:[Type], [Queue]}")       \
    X(SUBSCRIPTION_TAKEN,                                                                             \
      "select 1 from {subscriptions} where [Type] = ?1 and [Queue] = ?2{share}")                      \
    X(SUBSCRIPTION_DELETE, "delete from {subscriptions} where [Type] = ?1 and [Queue] = ?2")          \
    /* The ends of four primary keys (server.c). */                                                   \
    X(NEWS, "select coalesce((select max([Seq]) from {queue}), 0), "                                  \
            "coalesce((select max([Id]) from {outbox}), 0), "                                         \
            "coalesce((select max([Seq]) from {events}), 0), "                                        \
            "coalesce((select max([Id]) from {aggregator}), 0)")

enum {
    PAWL__SQL_BEFORE_ROWS = PAWL__SQL_STATEMENT_COUNT - 1,
    PAWL__SQL_ROW_STATEMENTS(PAWL__SQL_NAME_OF) PAWL__SQL_ROW_STATEMENT_END
};

#endif
