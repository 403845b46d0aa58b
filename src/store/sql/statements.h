/* statements.h - the statements on the shared tables, as templates (dialect.h). A database may override a statement by
 * a text of its own with the same parameters and columns. saga_text.h has the statements on saga tables.
 *
 * Parameters are numbered in the order of their first use, since callers bind
 * them by counting. Columns are in the order of the structs' fields.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_STATEMENTS_H
#define PAWL_STORE_SQL_STATEMENTS_H

#include "store/core/queue_fields.h"

#define PAWL__SQL_MARK "pawl_handler" /* the savepoint that a handler's own SQL runs behind */
#define PAWL__SQL_MESSAGE "[MessageId], [Type], [CorrelationId], [CausationId], [Headers], [Body]"

#define PAWL__SQL_STATE_COLUMN(of, member, column, stored, wire) of "[" #column "]"
#define PAWL__SQL_QUEUE_COLUMNS \
    PAWL__QUEUE_STATE(PAWL__SQL_STATE_COLUMN, "", ", ") ", " PAWL__SQL_MESSAGE
#define PAWL__SQL_QUEUE_ROW_TEXT "select " PAWL__SQL_QUEUE_COLUMNS " from {queue} "
#define PAWL__SQL_QUEUE_MESSAGE "select " PAWL__SQL_QUEUE_COLUMNS ", [Error] from {queue} "
/* The filters of a pawl_queue_query. (?7, ?8): due time and number of the last row of the previous page. */
#define PAWL__SQL_QUEUE_OF \
    "[Queue] = ?1 and (?2 = '' or [MessageId] = ?2) and (?3 = '' or [Type] = ?3) "
#define PAWL__SQL_QUEUE_FILTERS                                           \
    PAWL__SQL_QUEUE_OF "and [Due] >= ?4 and [Due] <= ?5 and [Seq] <= ?6 " \
                       "and ([Due] > ?7 or [Seq] > ?8) "
/* Rows that are due later, and the retried ones among the first ?3 of them. */
#define PAWL__SQL_SCHEDULED "{queue} {index:queue_due}where [Queue] = ?1 and [Due] > ?2"
#define PAWL__SQL_RETRIED                                                        \
    "from (select [Seq], [Attempts], [Placed], [Type] from " PAWL__SQL_SCHEDULED \
    " order by [Due], [Seq] {limit:?3}) looked where [Attempts] > 0"

#define PAWL__SQL_TIMEOUT_COLUMNS                                              \
    "[Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], " \
    "[Headers], [CorrelationId], [Attempts], [Owner], [LeaseExpires] "
#define PAWL__SQL_TIMEOUT_ROW "select " PAWL__SQL_TIMEOUT_COLUMNS "from {timeouts} "

#define PAWL__SQL_AGGREGATOR_ROW                                              \
    "select [Type], [LeaseExpires], [Id], [Name], [Partition], [Key], [At], " \
    "[Session], " PAWL__SQL_MESSAGE " from {aggregator} "

#define PAWL__SQL_OUTBOX_ROW                                                               \
    "select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], " \
    "[Endpoint], [Destination], [Due], [At], [AttemptsBefore], " PAWL__SQL_MESSAGE         \
    ", [State], [DispatchedAt] from {outbox} "
#define PAWL__SQL_EVENT                                                                  \
    "[Type], [TypeVersion], [MessageId], [CorrelationId], [CausationId], [DispatchId], " \
    "[At], [Headers], [Body]"

/* An event with its number, position, stream and version. */
#define PAWL__SQL_EVENT_ROW \
    "select [Seq], [Position], [Stream], [Version], " PAWL__SQL_EVENT " from {events} "
/* Up to ?6 events after (or before) the value ?2 of a column, in that order; of the stream ?1, or of all if it is
 * empty. */
#define PAWL__SQL_OF_STREAM "[Stream] = ?1"
#define PAWL__SQL_OF_ALL "?1 = ''"
#define PAWL__SQL_EVENT_FILTERS                                       \
    "and (?3 = '' or [Type] = ?3) and (?4 = '' or [MessageId] = ?4) " \
    "and (?5 = '' or [CorrelationId] = ?5) "
#define PAWL__SQL_EVENTS_AFTER(of, column)                                          \
    PAWL__SQL_EVENT_ROW "where " of " and " column " > ?2 " PAWL__SQL_EVENT_FILTERS \
                        "order by " column " {limit:?6}"
#define PAWL__SQL_EVENTS_BEFORE(of, column)                                         \
    PAWL__SQL_EVENT_ROW "where " of " and " column " < ?2 " PAWL__SQL_EVENT_FILTERS \
                        "order by " column " desc {limit:?6}"

#define PAWL__SQL_DEAD_ROW                                                \
    "select [Endpoint], [Queue], [Code], [Error], [Attempts], [Deaths], " \
    "[History], [At], " PAWL__SQL_MESSAGE " from {dead} "

/* The filters of a pawl_dead_query. With `[Endpoint] = ?1` MariaDB would sort all rows instead of using an index. */
#define PAWL__SQL_DEAD_FILTERS                                   \
    "?1 in ('', [Endpoint]) and (?2 = '' or [MessageId] = ?2) "  \
    "and (?3 = '' or [Type] = ?3) and (?4 = '' or [Code] = ?4) " \
    "and (?5 = '' or {has:[Error]|?5}) "                         \
    "and ([At] > ?8 or ([At] = ?8 and "                          \
    "([Endpoint] > ?9 or ([Endpoint] = ?9 and [MessageId] > ?10)))) "

#define PAWL__SQL_HISTORY                                                       \
    "[Endpoint], [Source], [MessageId], [Type], [Kind], [Outcome], [Version], " \
    "[Attempts], [Duration], [At], [Error], [Out]"
#define PAWL__SQL_HISTORY_ROW "select [Id], " PAWL__SQL_HISTORY " from {history} "
/* The filters of a pawl_history_query, and its order. */
#define PAWL__SQL_HISTORY_QUERY                                                   \
    "(?1 = '' or [Source] = ?1) and (?2 = '' or [MessageId] = ?2) and [Id] > ?3 " \
    "order by [Id] {limit:?4}"

#define PAWL__SQL_COUNTERS "[Messages], [Timeouts], [Flushes], [Failures], [Conflicts], [Dead]"
#define PAWL__SQL_PROGRAM "[Host], [Program], [ProgramVersion], [PawlVersion], [Started]"

/* Counts up to a limit, so that the cost does not depend on the size of the table. */
#define PAWL__SQL_COUNT(rows, limit) \
    "select count(*) from (select 1 as [One] from " rows " {any:" limit "}) counted"
/* The next greater name in an index: finds the distinct names without reading all entries. */
#define PAWL__SQL_NEXT(column, rows) \
    "select " column " from " rows column " > ?1 order by " column " {limit:1}"
#define PAWL__SQL_DUE(table, column)                                              \
    "select count(*), min([Due]) from (select [Due] from " table " where " column \
    " = ?1 and [Due] <= ?2 order by [Due] {limit:?3}) counted"
#define PAWL__SQL_SUM(column) "{integer:coalesce(sum(" column "), 0)}"

#define PAWL__SQL_TIMEOUT_BEHIND "[Due] >= ?2 and ([Due] > ?2 or [Id] > ?3) "
#define PAWL__SQL_TIMEOUT_PAGE PAWL__SQL_TIMEOUT_BEHIND "order by [Due], [Id] {limit:?4}"
/* All timeouts of a saga. Two conditions, since those with and those without a name are in different indexes. */
#define PAWL__SQL_OF_SAGA "(([SagaId] = ?1 and [Name] <> '') or ([SagaId] = ?1 and [Name] = ''))"
#define PAWL__SQL_NO_OWNER "[Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null"
#define PAWL__SQL_NO_SESSION "[Session] = null, [LeaseExpires] = null, [LeaseWorker] = null"

/* Destinations that are ?1, or not the queue of any subscription, each with the due time of
 * its first timeout that is free at ?2. The recursion finds each next destination in the
 * index, without reading all timeouts. */
#define PAWL__SQL_TIMEOUT_FOREIGN_TEXT                                                      \
    "with recursive d (name) as (select min([Destination]) from {timeouts} union all "      \
    "select (select min(t.[Destination]) from {timeouts} t "                                \
    "where t.[Destination] > d.name) from d where d.name is not null), "                    \
    "f (name, due) as (select d.name, (select t.[Due] from {timeouts} t "                   \
    "where t.[Destination] = d.name "                                                       \
    "and (t.[LeaseExpires] is null or t.[LeaseExpires] <= ?2) order by t.[Due] {limit:1}) " \
    "from d where d.name is not null and (d.name = ?1 or not exists "                       \
    "(select 1 from {subscriptions} s where s.[Queue] = d.name))) "                         \
    "select name, due from f where due is not null order by name"

/* The filters of a pawl_outbox_query. A statement that should use an index repeats the condition on its column
 * before them, without "or". */
#define PAWL__SQL_OUTBOX_FILTERS(id)                                                          \
    "(?1 = 0 or " id " = ?1) and (?2 is null or [DispatchId] = ?2) and " id " > ?3 "          \
    "and (?4 = 0 or {bits:?4|case [State] when 'pending' then 1 when 'held' then 2 "          \
    "when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end} <> 0) " \
    "and (?5 = '' or [Endpoint] = ?5) and (?6 = '' or [Source] = ?6) "                        \
    "and (?7 = '' or [Destination] = ?7) and (?8 = '' or [Type] = ?8) "                       \
    "and (?9 = '' or [CausationId] = ?9) and [Attempts] >= ?10 "
#define PAWL__SQL_OUTBOX_QUERY PAWL__SQL_OUTBOX_FILTERS("[Id]") "order by [Id] {limit:?11}"

/* name, template */
#define PAWL__SQL_STATEMENTS(X)                                                                                                  \
    /* Workers, fence and leases. */                                                                                             \
    X(VERSION_GET, "select [Version] from {schema} where [Part] = 'pawl'")                                                       \
    X(WORKER_FOLD, "update {workers} set [Messages] = {workers}.[Messages] + w.[Messages], "                                     \
                   "[Timeouts] = {workers}.[Timeouts] + w.[Timeouts], "                                                          \
                   "[Flushes] = {workers}.[Flushes] + w.[Flushes], "                                                             \
                   "[Failures] = {workers}.[Failures] + w.[Failures], "                                                          \
                   "[Conflicts] = {workers}.[Conflicts] + w.[Conflicts], "                                                       \
                   "[Dead] = {workers}.[Dead] + w.[Dead] "                                                                       \
                   "from {workers} w where {workers}.[Id] = ?1 and w.[Id] = ?2")                                                 \
    X(WORKER_DELETE, "delete from {workers} where [Id] = ?1")                                                                    \
    X(WORKER_COUNTERS,                                                                                                           \
      "select " PAWL__SQL_SUM("[Messages]") ", " PAWL__SQL_SUM("[Timeouts]") ", " PAWL__SQL_SUM("[Flushes]") ", " PAWL__SQL_SUM( \
          "[Failures]") ", " PAWL__SQL_SUM("[Conflicts]") ", " PAWL__SQL_SUM("[Dead]") " from {workers}")                        \
    X(WORKER_LIST, "select [Id], [Endpoint], [Types], [Epoch], [Pid], "                                                          \
                   "[Seen], [Process], [Seen], " PAWL__SQL_COUNTERS ", " PAWL__SQL_PROGRAM                                       \
                   " from {workers} where [Epoch] > 0 order by [Id]")                                                            \
    X(WORKER_LIVES, "select [Process], [Seen] from {workers} where [Epoch] > 0")                                                 \
    X(LEAD_LIST, "select substr(l.[Name], 6), l.[Worker], l.[Expires], w.[Process], w.[Seen] "                                   \
                 "from {leases} l join {workers} w on w.[Id] = l.[Worker] "                                                      \
                 "where substr(l.[Name], 1, 5) = 'lead:' and l.[Expires] > ?1")                                                  \
    X(LEAD_GET,                                                                                                                  \
      "select l.[Worker], l.[Epoch], l.[Expires], w.[Id], w.[Process], w.[Seen] "                                                \
      "from {leases} l left join {workers} w on w.[Id] = l.[Worker] where l.[Name] = ?1")                                        \
    X(LEASE_INSERT,                                                                                                              \
      "insert into {leases} ([Name], [Worker], [Process], [Pid], [Epoch], [Expires]) "                                           \
      "values (?1, ?2, ?3, ?4, ?5, ?6)")                                                                                         \
    X(LEASE_UPDATE,                                                                                                              \
      "update {leases} set [Worker] = ?2, [Process] = ?3, [Pid] = ?4, [Epoch] = ?5, "                                            \
      "[Expires] = ?6 where [Name] = ?1")                                                                                        \
    X(LEASE_DELETE, "delete from {leases} where [Name] = ?1 and [Worker] = ?2")                                                  \
    X(LEASE_DELETE_ALL, "delete from {leases} where [Worker] = ?1")                                                              \
    /* The queue. */                                                                                                             \
    X(QUEUE_LIST,                                                                                                                \
      PAWL__SQL_QUEUE_MESSAGE "where [Queue] = ?1 order by [Placed], [Seq] {limit:?2}")                                          \
    X(QUEUE_FIND, PAWL__SQL_QUEUE_MESSAGE "{index:queue_due}where " PAWL__SQL_QUEUE_FILTERS                                      \
                                          "order by [Due], [Seq] {limit:?9}")                                                    \
    X(QUEUE_FIND_TIE, PAWL__SQL_QUEUE_MESSAGE                                                                                    \
      "{index:queue_due}where " PAWL__SQL_QUEUE_OF                                                                               \
      "and [Due] = ?4 and [Seq] <= ?5 and [Seq] > ?6 order by [Due], [Seq] {limit:?7}")                                          \
    /* In the order of due times PostgreSQL would read the queue from its beginning. */                                          \
    X(QUEUE_FIND_ONE, PAWL__SQL_QUEUE_MESSAGE                                                                                    \
      "where [Queue] = ?1 and [MessageId] = ?2 and " PAWL__SQL_QUEUE_FILTERS                                                     \
      "order by [MessageId] {limit:?9}")                                                                                         \
    X(QUEUE_RETRIED,                                                                                                             \
      PAWL__SQL_QUEUE_ROW_TEXT "where [Seq] in (select [Seq] " PAWL__SQL_RETRIED                                                 \
                               " and [Type] = ?4) order by [Placed], [Seq] {limit:?5}")                                          \
    X(QUEUE_NAME, PAWL__SQL_NEXT("[Queue]", "{queue} where "))                                                                   \
    X(QUEUE_READY, PAWL__SQL_DUE("{queue}", "[Queue]"))                                                                          \
    X(QUEUE_SCHEDULED, PAWL__SQL_COUNT(PAWL__SQL_SCHEDULED, "?3"))                                                               \
    X(QUEUE_COUNT_RETRIED, "select count(*), min([Placed]) " PAWL__SQL_RETRIED)                                                  \
    /* The inbox. */                                                                                                             \
    X(INBOX_COUNT, PAWL__SQL_COUNT("{inbox}", "?1"))                                                                             \
    /* Timeouts. */                                                                                                              \
    X(TIMEOUT_FOREIGN, PAWL__SQL_TIMEOUT_FOREIGN_TEXT)                                                                           \
    X(TIMEOUT_LIST, PAWL__SQL_TIMEOUT_ROW                                                                                        \
      "{index:timeouts_due}where [Destination] = ?1 and " PAWL__SQL_TIMEOUT_PAGE)                                                \
    X(TIMEOUT_LIST_SAGA,                                                                                                         \
      PAWL__SQL_TIMEOUT_ROW "where " PAWL__SQL_OF_SAGA " and " PAWL__SQL_TIMEOUT_PAGE)                                           \
    X(TIMEOUT_NAME, PAWL__SQL_NEXT("[Destination]", "{timeouts} where "))                                                        \
    X(TIMEOUT_READY, PAWL__SQL_DUE("{timeouts}", "[Destination]"))                                                               \
    X(TIMEOUT_SCHEDULED,                                                                                                         \
      PAWL__SQL_COUNT("{timeouts} where [Destination] = ?1 and [Due] > ?2", "?3"))                                               \
    /* The outbox. */                                                                                                            \
    X(OUTBOX_PENDING, PAWL__SQL_COUNT("{outbox} where [State] = 'pending'", "?1"))                                               \
    X(OUTBOX_FIND_ID, PAWL__SQL_OUTBOX_ROW "where [Id] = ?1 and " PAWL__SQL_OUTBOX_QUERY)                                        \
    X(OUTBOX_FIND_DISPATCH,                                                                                                      \
      PAWL__SQL_OUTBOX_ROW "where [DispatchId] = ?2 and " PAWL__SQL_OUTBOX_QUERY)                                                \
    X(OUTBOX_FIND_DEAD, PAWL__SQL_OUTBOX_ROW                                                                                     \
      "{index:outbox_dead|outbox_pending}where [State] = 'dead' and " PAWL__SQL_OUTBOX_QUERY)                                    \
    X(OUTBOX_FIND_HELD, PAWL__SQL_OUTBOX_ROW                                                                                     \
      "{index:outbox_held_id|outbox_pending}where [State] = 'held' and [Attempts] >= 0 "                                         \
      "and " PAWL__SQL_OUTBOX_QUERY)                                                                                             \
    X(OUTBOX_FIND_PENDING, PAWL__SQL_OUTBOX_ROW                                                                                  \
      "{index:outbox_pending}where [State] = 'pending' and " PAWL__SQL_OUTBOX_QUERY)                                             \
    /* A row that was never tried has the epoch as its next attempt: an index without the attempts decides by that. */           \
    X(OUTBOX_FIND_TRIED, PAWL__SQL_OUTBOX_ROW                                                                                    \
      "{index:outbox_tried|outbox_pending}where [State] = 'pending' and [Attempts] > 0 "                                         \
      "and [NextAttempt] > {epoch} "                                                                                             \
      "and " PAWL__SQL_OUTBOX_QUERY)                                                                                             \
    X(OUTBOX_FIND_ANY, PAWL__SQL_OUTBOX_ROW "where " PAWL__SQL_OUTBOX_QUERY)                                                     \
    X(OUTBOX_OLDEST,                                                                                                             \
      "select [At] from {outbox} where [State] = 'pending' order by [Id] {limit:1}")                                             \
    X(OUTBOX_ATTEMPTS,                                                                                                           \
      "select [Attempt], [Outcome], [Error], [At], [Duration] from {outbox_attempts} "                                           \
      "where [OutboxId] = ?1 order by [Attempt]")                                                                                \
    X(OUTBOX_HELD, PAWL__SQL_COUNT("{outbox} where [State] = 'held'", "?1"))                                                     \
    X(OUTBOX_DEAD, PAWL__SQL_COUNT("{outbox} where [State] = 'dead'", "?1"))                                                     \
    /* The event store. */                                                                                                       \
    X(CHECKPOINT_GET, "select [Position] from {checkpoints} where [Name] = ?1")                                                  \
    X(EVENT_LIST_STREAM, PAWL__SQL_EVENTS_AFTER(PAWL__SQL_OF_STREAM, "[Version]"))                                               \
    X(EVENT_LIST_POSITION, PAWL__SQL_EVENTS_AFTER(PAWL__SQL_OF_ALL, "[Position]"))                                               \
    X(EVENT_LIST_SEQ, PAWL__SQL_EVENTS_AFTER(PAWL__SQL_OF_ALL, "[Seq]"))                                                         \
    X(EVENT_LIST_STREAM_BACK, PAWL__SQL_EVENTS_BEFORE(PAWL__SQL_OF_STREAM, "[Version]"))                                         \
    X(EVENT_LIST_POSITION_BACK, PAWL__SQL_EVENTS_BEFORE(PAWL__SQL_OF_ALL, "[Position]"))                                         \
    X(EVENT_LIST_SEQ_BACK, PAWL__SQL_EVENTS_BEFORE(PAWL__SQL_OF_ALL, "[Seq]"))                                                   \
    /* Old bodies of dead letters: the page of events to look at, and its bodies. */                                             \
    X(BODIES_PAGE,                                                                                                               \
      "select max([Stream]), count(*) from (select [Stream] from {events} where [Stream] > ?1 "                                  \
      "and [Stream] < ?2 order by [Stream], [Version] {limit:?3}) page")                                                         \
    X(BODIES_CLEAR,                                                                                                              \
      "update {events} set [Body] = ?1, [TypeVersion] = 2 where [Stream] > ?2 and [Stream] <= ?3 "                               \
      "and [At] < ?4 and [TypeVersion] = 1 and [Type] in ('pawl.dead_edited', 'pawl.dead_discarded')")                           \
    /* Aggregators. */                                                                                                           \
    X(AGGREGATOR_GET, PAWL__SQL_AGGREGATOR_ROW "where [Partition] = ?1 order by [At], [Id]")                                     \
    X(AGGREGATOR_FREE,                                                                                                           \
      "update {aggregator} set " PAWL__SQL_NO_SESSION " where [LeaseWorker] = ?1")                                               \
    X(AGGREGATOR_COUNT, PAWL__SQL_COUNT("{aggregator}", "?1"))                                                                   \
    X(FLUSH_LIST,                                                                                                                \
      "select [Name], [Partition], [Due], [Attempts], [Dead], [Error] from {aggregator_flush} "                                  \
      "where [Name] = ?1 and [Dead] = 0 and [Due] <= ?2 order by [Due], [Partition] {limit:?3}")                                 \
    X(FLUSH_DEAD, PAWL__SQL_COUNT("{aggregator_flush} where [Dead] = 1", "?1"))                                                  \
    X(FLUSH_NAME, PAWL__SQL_NEXT("[Name]", "{aggregator_flush} where [Dead] = 0 and "))                                          \
    X(FLUSH_READY, PAWL__SQL_DUE("{aggregator_flush}", "[Dead] = 0 and [Name]"))                                                 \
    /* Dead letters and subscriptions. */                                                                                        \
    X(DEAD_FIND, PAWL__SQL_DEAD_ROW                                                                                              \
      "{index:dead_at}where " PAWL__SQL_DEAD_FILTERS                                                                             \
      "and [At] >= ?6 and [At] <= ?7 order by [At], [Endpoint], [MessageId] {limit:?11}")                                        \
    /* A time that is compared like this leads to no index: the row is found by its key. */                                      \
    X(DEAD_FIND_ONE, PAWL__SQL_DEAD_ROW                                                                                          \
      "where [Endpoint] = ?1 and [MessageId] = ?2 and " PAWL__SQL_DEAD_FILTERS                                                   \
      "and (?2 = '' or [At] >= ?6) and (?2 = '' or [At] <= ?7) order by [MessageId] {limit:?11}")                                \
    X(DEAD_ENDPOINT, PAWL__SQL_NEXT("[Endpoint]", "{dead} where "))                                                              \
    X(DEAD_NAME, PAWL__SQL_NEXT("[Queue]", "{dead} where "))                                                                     \
    X(DEAD_OF_QUEUE,                                                                                                             \
      "select count(*), min([At]) from (select [At] from {dead} where [Queue] = ?1 order by [At] {limit:?2}) counted")           \
    X(DEAD_COUNT, PAWL__SQL_COUNT("{dead}", "?1"))                                                                               \
    X(SUBSCRIPTION_LIST, "select [Type], [Queue] from {subscriptions} order by [Type], [Queue]")                                 \
    /* The history. */                                                                                                           \
    X(HISTORY_FIND, PAWL__SQL_HISTORY_ROW "where " PAWL__SQL_HISTORY_QUERY)                                                      \
    X(HISTORY_FIND_SOURCE,                                                                                                       \
      PAWL__SQL_HISTORY_ROW "where [Source] = ?1 and [Source] <> '' and " PAWL__SQL_HISTORY_QUERY)                               \
    X(HISTORY_FIND_MESSAGE,                                                                                                      \
      PAWL__SQL_HISTORY_ROW "where [MessageId] = ?2 and " PAWL__SQL_HISTORY_QUERY)                                               \
    /* Reads all rows of a table, page by page. */                                                                               \
    X(QUEUE_SCAN, "select [Seq], [Queue], " PAWL__SQL_MESSAGE                                                                    \
                  " from {queue} where [Seq] > ?1 order by [Seq] {limit:?2}")                                                    \
    X(TIMEOUT_SCAN,                                                                                                              \
      "select [Id], [Destination], [Name], [SagaType], [SagaId] from {timeouts} where [Id] > ?1 order by [Id] {limit:?2}")       \
    X(FOLD_SCAN,                                                                                                                 \
      "select [Stream], [TypeVersion], [State] from {folds} where [Stream] > ?1 order by [Stream] {limit:?2}")                   \
    X(CHECKPOINT_SCAN,                                                                                                           \
      "select [Name], [Position] from {checkpoints} where [Name] > ?1 order by [Name] {limit:?2}")                               \
    X(PARTITION_SCAN,                                                                                                            \
      "select f.[Partition], f.[Name], f.[Due], f.[Attempts], f.[Dead], f.[Error], "                                             \
      "(select count(*) from {aggregator} a where a.[Partition] = f.[Partition]), "                                              \
      "(select min(b.[At]) from {aggregator} b where b.[Partition] = f.[Partition]) "                                            \
      "from {aggregator_flush} f where f.[Partition] > ?1 and (?2 = '' or f.[Partition] = ?2) "                                  \
      "and (?3 = '' or f.[Name] = ?3) and (?4 = 0 or f.[Dead] = 1) order by f.[Partition] {limit:?5}")                           \
    X(AGGREGATOR_SCAN, "select [Id], [Name], " PAWL__SQL_MESSAGE                                                                 \
                       " from {aggregator} where [Id] > ?1 order by [Id] {limit:?2}")                                            \
    /* As one condition, a page would read the letters of its endpoint from the first one on. */                                 \
    X(DEAD_SCAN,                                                                                                                 \
      "select [Endpoint], [Queue], [Code], " PAWL__SQL_MESSAGE                                                                   \
      " from {dead} where [Endpoint] = ?1 and [MessageId] > ?2 order by [MessageId] {limit:?3}")                                 \
    X(DEAD_SCAN_NEXT,                                                                                                            \
      "select [Endpoint], [Queue], [Code], " PAWL__SQL_MESSAGE                                                                   \
      " from {dead} where [Endpoint] > ?1 order by [Endpoint], [MessageId] {limit:?2}")

#define PAWL__SQL_NAME_OF(name, text) PAWL__SQL_##name,
typedef enum pawl__sql_statement {
    PAWL__SQL_STATEMENTS(PAWL__SQL_NAME_OF) PAWL__SQL_STATEMENT_COUNT
} pawl__sql_statement;

#endif
