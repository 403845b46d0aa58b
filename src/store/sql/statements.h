/* statements.h - the statements on the shared tables, as templates
 * (dialect.h says what may stand in one). Saga tables have statements of
 * their own, made for each table.
 *
 * Parameters stand in the order of their first use, so that a caller binds
 * them by counting. Columns come in the order of the structs in store.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_STATEMENTS_H
#define PAWL_STORE_SQL_STATEMENTS_H

#define PAWL__SQL_MESSAGE "[MessageId], [Type], [CorrelationId], [CausationId], [Headers], [Body]"

#define PAWL__SQL_QUEUE_ROW                                                                              \
    "select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], " PAWL__SQL_MESSAGE \
    " from {queue} "

#define PAWL__SQL_TIMEOUT_ROW                                                         \
    "select [Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], " \
    "[Headers], [CorrelationId], [Attempts], [Owner], [LeaseExpires] from {timeouts} "

#define PAWL__SQL_AGGREGATOR_ROW                                              \
    "select [Type], [LeaseExpires], [Id], [Name], [Partition], [Key], [At], " \
    "[Session], " PAWL__SQL_MESSAGE " from {aggregator} "

#define PAWL__SQL_OUTBOX_ROW                                                               \
    "select [Id], [NextAttempt], [DispatchId], [Source], [Version], [Index], [Endpoint], " \
    "[Destination], [Due], [State], [Attempts], [At], " PAWL__SQL_MESSAGE                  \
    ", [DispatchedAt], [AttemptsBefore] from {outbox} "

#define PAWL__SQL_EVENT                                                                  \
    "[Type], [TypeVersion], [MessageId], [CorrelationId], [CausationId], [DispatchId], " \
    "[At], [Headers], [Body]"

#define PAWL__SQL_DEAD_ROW                                                \
    "select [Endpoint], [Queue], [Code], [Error], [Attempts], [Deaths], " \
    "[History], [At], " PAWL__SQL_MESSAGE " from {dead} "

#define PAWL__SQL_COUNTERS "[Messages], [Timeouts], [Flushes], [Failures], [Conflicts], [Dead]"

#define PAWL__SQL_SUM(column) "cast(coalesce(sum(" column "), 0) as bigint)"

/* All timeouts of a saga: those with a name and those without are in different
 * indexes. */
#define PAWL__SQL_OF_SAGA "(([SagaId] = ?1 and [Name] <> '') or ([SagaId] = ?1 and [Name] = ''))"
#define PAWL__SQL_NO_OWNER "[Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null"
#define PAWL__SQL_NO_SESSION "[Session] = null, [LeaseExpires] = null, [LeaseWorker] = null"

/* Destinations that are the queue of no subscription, or are ?1, with the due time of the
 * first timeout that is free at ?2. Their names are found by leaping from one to the next
 * in the index. */
#define PAWL__SQL_TIMEOUT_FOREIGN                                                         \
    "with recursive d (name) as (select min([Destination]) from {timeouts} union all "    \
    "select (select min(t.[Destination]) from {timeouts} as t "                           \
    "where t.[Destination] > d.name) from d where d.name is not null), "                  \
    "f (name, due) as (select d.name, (select t.[Due] from {timeouts} as t "              \
    "where t.[Destination] = d.name "                                                     \
    "and (t.[LeaseExpires] is null or t.[LeaseExpires] <= ?2) order by t.[Due] limit 1) " \
    "from d where d.name is not null and (d.name = ?1 or not exists "                     \
    "(select 1 from {subscriptions} as s where s.[Queue] = d.name))) "                    \
    "select name, due from f where due is not null order by name"

/* name, template */
#define PAWL__SQL_STATEMENTS(X)                                                                                                  \
    /* Workers, fence and leases. */                                                                                             \
    X(schema_version, "select [Version] from {schema} where [Part] = 'pawl'")                                                    \
    X(worker_insert,                                                                                                             \
      "insert into {workers} ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], "                                            \
      "[Seen], " PAWL__SQL_COUNTERS ") values (?1, ?2, ?3, 1, ?4, ?5, ?6, 0, 0, 0, 0, 0, 0)")                                    \
    X(worker_fence,                                                                                                              \
      "update {workers} set [LastCommit] = ?1, [Seen] = ?2, [Messages] = [Messages] + ?3, "                                      \
      "[Timeouts] = [Timeouts] + ?4, [Flushes] = [Flushes] + ?5, [Failures] = [Failures] + ?6, "                                 \
      "[Conflicts] = [Conflicts] + ?7, [Dead] = [Dead] + ?8 where [Id] = ?9 and [Epoch] = ?10")                                  \
    X(worker_replace,                                                                                                            \
      "update {workers} set [Endpoint] = ?1, [Types] = ?2, [Process] = ?3, [Pid] = ?4, "                                         \
      "[Seen] = ?5, [Epoch] = [Epoch] + 1 where [Id] = ?6")                                                                      \
    X(worker_raise, "update {workers} set [Epoch] = [Epoch] + 1 where [Id] = ?1")                                                \
    X(worker_read, "select [Epoch], [LastCommit] from {workers} where [Id] = ?1")                                                \
    X(worker_keep, "insert into {workers} ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], "                               \
                   "[Seen], " PAWL__SQL_COUNTERS                                                                                 \
                   ") values (?1, '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) {ignore:[Id]}")                                          \
    X(worker_fold, "update {workers} set [Messages] = {workers}.[Messages] + w.[Messages], "                                     \
                   "[Timeouts] = {workers}.[Timeouts] + w.[Timeouts], "                                                          \
                   "[Flushes] = {workers}.[Flushes] + w.[Flushes], "                                                             \
                   "[Failures] = {workers}.[Failures] + w.[Failures], "                                                          \
                   "[Conflicts] = {workers}.[Conflicts] + w.[Conflicts], "                                                       \
                   "[Dead] = {workers}.[Dead] + w.[Dead] "                                                                       \
                   "from {workers} as w where {workers}.[Id] = ?1 and w.[Id] = ?2")                                              \
    X(worker_delete, "delete from {workers} where [Id] = ?1")                                                                    \
    X(worker_list,                                                                                                               \
      "select [Id], [Endpoint], [Types], [Process], [Seen], [Epoch], [Pid], " PAWL__SQL_COUNTERS                                 \
      " from {workers} where [Process] <> 0 "                                                                                    \
      "order by [Id]")                                                                                                           \
    X(worker_counters,                                                                                                           \
      "select " PAWL__SQL_SUM("[Messages]") ", " PAWL__SQL_SUM("[Timeouts]") ", " PAWL__SQL_SUM("[Flushes]") ", " PAWL__SQL_SUM( \
          "[Failures]") ", " PAWL__SQL_SUM("[Conflicts]") ", " PAWL__SQL_SUM("[Dead]") " from {workers}")                        \
    X(lease_read,                                                                                                                \
      "select [Worker], [Process], [Pid], [Epoch], [Expires] from {leases} where [Name] = ?1")                                   \
    X(lease_insert,                                                                                                              \
      "insert into {leases} ([Name], [Worker], [Process], [Pid], [Epoch], [Expires]) "                                           \
      "values (?1, ?2, ?3, ?4, ?5, ?6)")                                                                                         \
    X(lease_update,                                                                                                              \
      "update {leases} set [Worker] = ?2, [Process] = ?3, [Pid] = ?4, [Epoch] = ?5, "                                            \
      "[Expires] = ?6 where [Name] = ?1")                                                                                        \
    X(lead_list,                                                                                                                 \
      "select substr([Name], 6), [Worker], [Process], [Expires] from {leases} as l "                                             \
      "where substr([Name], 1, 5) = 'lead:' and [Expires] > ?1 "                                                                 \
      "and exists (select 1 from {workers} as w where w.[Id] = l.[Worker]) order by [Name]")                                     \
    X(lease_free, "update {leases} set [Worker] = null, [Process] = 0 where [Name] = ?1 "                                        \
                  "and [Process] = ?2")                                                                                          \
    X(lease_delete, "delete from {leases} where [Name] = ?1 and [Worker] = ?2")                                                  \
    X(lease_delete_all, "delete from {leases} where [Worker] = ?1")                                                              \
    /* The queue. */                                                                                                             \
    X(queue_row, PAWL__SQL_QUEUE_ROW "where [Seq] = ?1 and [Queue] = ?2 and [Due] <= ?3")                                        \
    X(queue_delete, "delete from {queue} where [Seq] = ?1 and [Queue] = ?2")                                                     \
    X(queue_retry,                                                                                                               \
      "update {queue} set [Due] = ?1, [Attempts] = ?2, [Deaths] = ?3, [WaitingSince] = ?4, "                                     \
      "[Error] = ?5, [History] = ?6 where [Seq] = ?7 and [Queue] = ?8")                                                          \
    X(queue_send,                                                                                                                \
      "insert into {queue} ([Queue], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], "                                    \
      "[Error], " PAWL__SQL_MESSAGE ") values (?1, ?2, ?2, ?3, 0, 0, '', ?4, ?5, ?6, ?7, ?8, "                                   \
      "?9) {ignore:[Queue], [MessageId]}")                                                                                       \
    X(queue_oldest, "select [Placed], [Seq] from {queue} where [Queue] = ?1 and [Due] <= ?2 "                                    \
                    "and [Attempts] = 0 and [WaitingSince] = 0 order by [Due], [Seq]")                                           \
    X(queue_list, PAWL__SQL_QUEUE_ROW "where [Queue] = ?1 order by [Placed], [Seq] limit ?2")                                    \
    X(queue_stats, "select [Queue], count(*) filter (where [Due] <= ?1), "                                                       \
                   "count(*) filter (where [Due] > ?1), min([Due]) from {queue} "                                                \
                   "group by [Queue] order by [Queue]")                                                                          \
    /* The inbox. */                                                                                                             \
    X(inbox_known, "select 1 from {inbox} where [Endpoint] = ?1 and [MessageId] = ?2")                                           \
    X(inbox_mark,                                                                                                                \
      "insert into {inbox} ([Endpoint], [MessageId], [Outcome], [At]) values (?1, ?2, ?3, ?4)")                                  \
    X(inbox_delete, "delete from {inbox} where [Endpoint] = ?1 and [MessageId] = ?2")                                            \
    X(inbox_count, "select count(*) from {inbox}")                                                                               \
    /* Timeouts. */                                                                                                              \
    X(timeout_due, PAWL__SQL_TIMEOUT_ROW                                                                                         \
      "where [Destination] = ?1 and [Due] <= ?2 "                                                                                \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?3) order by [Due], [Id] limit ?4")                                      \
    X(timeout_due_any, PAWL__SQL_TIMEOUT_ROW                                                                                     \
      "where [Due] <= ?1 "                                                                                                       \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?2) order by [Due], [Id] limit ?3")                                      \
    X(timeout_next, "select [Due] from {timeouts} where [Destination] = ?1 and [Due] > ?2 "                                      \
                    "and ([LeaseExpires] is null or [LeaseExpires] <= ?3) "                                                      \
                    "order by [Due] limit 1")                                                                                    \
    X(timeout_next_any,                                                                                                          \
      "select min([Due]) from {timeouts} where [Due] > ?1 "                                                                      \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?2) having min([Due]) is not null")                                      \
    X(timeout_first, "select [Due] from {timeouts} where [Destination] = ?1 and [Owner] is null "                                \
                     "order by [Due] limit 1")                                                                                   \
    X(timeout_foreign, PAWL__SQL_TIMEOUT_FOREIGN)                                                                                \
    X(timeout_stamp,                                                                                                             \
      "update {timeouts} set [Owner] = ?1, [LeaseExpires] = ?2, [LeaseWorker] = ?3 "                                             \
      "where [Id] = ?4")                                                                                                         \
    X(timeout_free, "update {timeouts} set " PAWL__SQL_NO_OWNER " where [LeaseWorker] = ?1")                                     \
    X(timeout_reap, "update {timeouts} set " PAWL__SQL_NO_OWNER " where [LeaseExpires] <= ?1")                                   \
    X(timeout_delete, "delete from {timeouts} where [Id] = ?1 and (?2 is null or "                                               \
                      "([Owner] = ?2 and (?3 = 0 or [Generation] = ?3)))")                                                       \
    X(timeout_release, "update {timeouts} set " PAWL__SQL_NO_OWNER " where [Id] = ?1 "                                           \
                       "and (?2 is null or ([Owner] = ?2 and (?3 = 0 or [Generation] = ?3)))")                                   \
    X(timeout_retry, "update {timeouts} set " PAWL__SQL_NO_OWNER ", [Due] = ?4, "                                                \
                     "[Attempts] = ?5 where [Id] = ?1 "                                                                          \
                     "and (?2 is null or ([Owner] = ?2 and (?3 = 0 or [Generation] = ?3)))")                                     \
    X(timeout_cancel, "delete from {timeouts} where [SagaId] = ?1 and [Name] = ?2 "                                              \
                      "and [Name] <> ''")                                                                                        \
    X(timeout_cancel_all, "delete from {timeouts} where " PAWL__SQL_OF_SAGA)                                                     \
    X(timeout_insert, "insert into {timeouts} ([Id], [Generation], [SagaId], [SagaType], "                                       \
                      "[Name], "                                                                                                 \
                      "[Destination], [Due], [Attempts], [CorrelationId], [Headers]) "                                           \
                      "values (?1, 1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8)")                                                           \
    X(timeout_rearm_saga,                                                                                                        \
      "update {timeouts} set [Generation] = [Generation] + 1, [SagaType] = ?1, "                                                 \
      "[Destination] = ?2, [Due] = ?3, [Attempts] = 0, " PAWL__SQL_NO_OWNER ", "                                                 \
      "[CorrelationId] = ?4, [Headers] = ?5 "                                                                                    \
      "where [SagaId] = ?6 and [Name] = ?7 and [Name] <> ''")                                                                    \
    X(timeout_rearm,                                                                                                             \
      "update {timeouts} set [Generation] = [Generation] + 1, [SagaType] = ?1, "                                                 \
      "[Destination] = ?2, [Due] = ?3, [Attempts] = 0, " PAWL__SQL_NO_OWNER ", "                                                 \
      "[CorrelationId] = ?4, [Headers] = ?5, [SagaId] = ?6, [Name] = ?7 where [Id] = ?8")                                        \
    X(timeout_list, PAWL__SQL_TIMEOUT_ROW "order by [Due], [Id] limit ?1")                                                       \
    X(timeout_list_saga,                                                                                                         \
      PAWL__SQL_TIMEOUT_ROW "where " PAWL__SQL_OF_SAGA " order by [Due], [Id] limit ?2")                                         \
    X(timeout_stats, "select count(*) filter (where [Due] <= ?1), count(*) from {timeouts}")                                     \
    /* The outbox. */                                                                                                            \
    X(outbox_add,                                                                                                                \
      "insert into {outbox} ([DispatchId], [State], [Attempts], [NextAttempt], [Due], [At], "                                    \
      "[Source], [Version], [Index], [Endpoint], [Destination], [AttemptsBefore], " PAWL__SQL_MESSAGE                            \
      ") values "                                                                                                                \
      "(?1, 'pending', 0, ?15, ?3, ?2, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11, ?12, ?13, ?14) "                                     \
      "{ignore:[DispatchId]}")                                                                                                   \
    X(outbox_known, "select [Type], [Body] from {outbox} where [DispatchId] = ?1")                                               \
    X(outbox_settle, "update {outbox} set [State] = ?1, [Attempts] = ?2, [NextAttempt] = ?3, "                                   \
                     "[DispatchedAt] = ?4 where [Id] = ?5 and [State] = 'pending'")                                              \
    X(outbox_enable,                                                                                                             \
      "update {outbox} set [State] = 'pending', [NextAttempt] = ?1, [Attempts] = [Attempts] + 1, "                               \
      "[AttemptsBefore] = [Attempts] + 1 where [Id] = ?2 and [State] = 'dead'")                                                  \
    X(outbox_discard, "update {outbox} set [State] = 'discarded', [DispatchedAt] = ?1, "                                         \
                      "[Attempts] = [Attempts] + 1 where [Id] = ?2 and [State] = 'dead'")                                        \
    X(outbox_attempt_put,                                                                                                        \
      "insert into {outbox_attempts} ([OutboxId], [Attempt], [Outcome], [At], [Duration], "                                      \
      "[Error]) values (?1, ?2, ?3, ?4, ?5, ?6)")                                                                                \
    X(outbox_attempt,                                                                                                            \
      "insert into {outbox_attempts} ([OutboxId], [Attempt], [Outcome], [At], [Duration], "                                      \
      "[Error]) select ?1, coalesce(max([Attempt]), 0) + 1, ?2, ?3, ?4, ?5 "                                                     \
      "from {outbox_attempts} where [OutboxId] = ?1")                                                                            \
    X(outbox_hold, "update {outbox} set [State] = 'held' where [Id] = ?1 "                                                       \
                   "and [State] = 'pending'")                                                                                    \
    X(outbox_free,                                                                                                               \
      "update {outbox} set [State] = 'pending' where [State] = 'held' and [Source] = ?1")                                        \
    X(outbox_list, PAWL__SQL_OUTBOX_ROW "where [State] = ?1 order by [Id] limit ?2")                                             \
    X(outbox_attempts,                                                                                                           \
      "select [Attempt], [Outcome], [Error], [At], [Duration] from {outbox_attempts} "                                           \
      "where [OutboxId] = ?1 order by [Attempt]")                                                                                \
    X(outbox_held, "select count(*) from {outbox} where [State] = 'held'")                                                       \
    X(outbox_dead, "select count(*) from {outbox} where [State] = 'dead'")                                                       \
    X(outbox_sweep, "delete from {outbox} where [Id] in (select [Id] from {outbox} "                                             \
                    "where [DispatchedAt] < ?1 order by [DispatchedAt] limit ?2)")                                               \
    /* The journal. */                                                                                                           \
    X(event_last, "select max([Version]) from {events} where [Stream] = ?1")                                                     \
    X(event_behind, "select [Seq], [Stream], [Version], " PAWL__SQL_EVENT " from {events} "                                      \
                    "where [Stream] = ?1 and [Version] > ?2 order by [Version]")                                                 \
    X(fold_read, "select [Version], [TypeVersion], [State], [Dispatches], [At] from {folds} "                                    \
                 "where [Stream] = ?1 and [TypeVersion] <= ?2 and [Version] > ?3")                                               \
    X(checkpoint_add,                                                                                                            \
      "insert into {checkpoints} ([Name], [Position], [At]) values (?1, ?2, ?3) {ignore:[Name]}")                                \
    X(checkpoint_move,                                                                                                           \
      "update {checkpoints} set [Position] = ?2, [At] = ?3 where [Name] = ?1 and [Position] = ?4")                               \
    X(checkpoint_read, "select [Position] from {checkpoints} where [Name] = ?1")                                                 \
    /* Aggregators. */                                                                                                           \
    X(aggregator_add,                                                                                                            \
      "insert into {aggregator} ([Name], [Partition], [Key], [At], " PAWL__SQL_MESSAGE ") "                                      \
      "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) {ignore:[Partition], [Key]}")                                            \
    X(aggregator_get, PAWL__SQL_AGGREGATOR_ROW "where [Partition] = ?1 order by [At], [Id]")                                     \
    X(aggregator_look,                                                                                                           \
      "select [Type], [LeaseExpires], [Id] from {aggregator} where [Partition] = ?1")                                            \
    X(aggregator_stamp,                                                                                                          \
      "update {aggregator} set [Session] = ?1, [LeaseExpires] = ?2, [LeaseWorker] = ?3 "                                         \
      "where [Id] = ?4")                                                                                                         \
    X(aggregator_free,                                                                                                           \
      "update {aggregator} set " PAWL__SQL_NO_SESSION " where [LeaseWorker] = ?1")                                               \
    X(aggregator_delete, "delete from {aggregator} where [Id] = ?1 and [Partition] = ?2 "                                        \
                         "and (?3 is null or [Session] = ?3)")                                                                   \
    X(aggregator_delete_all, "delete from {aggregator} where [Partition] = ?1")                                                  \
    X(aggregator_delete_one,                                                                                                     \
      "delete from {aggregator} where [Id] = (select [Id] from {aggregator} "                                                    \
      "where [Partition] = ?1 and [CorrelationId] = ?2 order by [At], [Id] limit 1)")                                            \
    X(aggregator_release, "update {aggregator} set " PAWL__SQL_NO_SESSION " "                                                    \
                          "where [Partition] = ?1 and [Session] = ?2")                                                           \
    X(aggregator_count, "select count(*) from {aggregator}")                                                                     \
    X(flush_add,                                                                                                                 \
      "insert into {aggregator_flush} ([Partition], [Name], [Due], [Attempts], [Dead], "                                         \
      "[Error]) values (?1, ?2, ?3, 0, 0, '') {ignore:[Partition]}")                                                             \
    X(flush_done, "delete from {aggregator_flush} where [Partition] = ?1 and not exists "                                        \
                  "(select 1 from {aggregator} where [Partition] = ?1)")                                                         \
    X(flush_set,                                                                                                                 \
      "update {aggregator_flush} set [Due] = ?1, [Attempts] = ?2, [Dead] = ?3, [Error] = ?4 "                                    \
      "where [Partition] = ?5")                                                                                                  \
    X(flush_read,                                                                                                                \
      "select [Due], [Attempts], [Dead] from {aggregator_flush} where [Partition] = ?1")                                         \
    X(flush_list,                                                                                                                \
      "select [Name], [Partition], [Due], [Attempts], [Dead], [Error] from {aggregator_flush} "                                  \
      "where [Name] = ?1 and [Dead] = 0 and [Due] <= ?2 order by [Due], [Partition] limit ?3")                                   \
    X(flush_first, "select [Due] from {aggregator_flush} where [Name] = ?1 and [Dead] = 0 "                                      \
                   "order by [Due] limit 1")                                                                                     \
    X(flush_dead, "select count(*) from {aggregator_flush} where [Dead] = 1")                                                    \
    /* Dead letters and subscriptions. */                                                                                        \
    X(dead_insert,                                                                                                               \
      "insert into {dead} ([Endpoint], [Queue], [Code], [Error], [Attempts], [Deaths], "                                         \
      "[History], [At], " PAWL__SQL_MESSAGE ") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "                                \
      "?11, ?12, ?13, ?14) {ignore:[Endpoint], [MessageId]}")                                                                    \
    X(dead_delete, "delete from {dead} where [Endpoint] = ?1 and [MessageId] = ?2")                                              \
    X(dead_list, PAWL__SQL_DEAD_ROW "order by [At], [Endpoint], [MessageId] limit ?1")                                           \
    X(dead_list_endpoint,                                                                                                        \
      PAWL__SQL_DEAD_ROW "where [Endpoint] = ?1 order by [At], [MessageId] limit ?2")                                            \
    X(dead_count, "select count(*) from {dead}")                                                                                 \
    X(subscription_add,                                                                                                          \
      "insert into {subscriptions} ([Type], [Queue]) values (?1, ?2) {ignore:[Type], [Queue]}")                                  \
    X(subscription_delete, "delete from {subscriptions} where [Type] = ?1 and [Queue] = ?2")                                     \
    X(subscription_list, "select [Type], [Queue] from {subscriptions} order by [Type], [Queue]")

typedef enum pawl__sql_statement {
#define PAWL__SQL_NAME_OF(name, text) pawl__sql_##name,
    PAWL__SQL_STATEMENTS(PAWL__SQL_NAME_OF)
#undef PAWL__SQL_NAME_OF
        pawl__sql_statement_count
} pawl__sql_statement;

#endif
