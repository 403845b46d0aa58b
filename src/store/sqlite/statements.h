/* statements.h - the statements that only SQLite understands, counted on from
 * the shared ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_STATEMENTS_H
#define PAWL_STORE_SQLITE_STATEMENTS_H

#include "store/sql/statements.h"

/* The filters of a pawl_outbox_query. What an index serves stands before them once
 * more, plainly, in the statements that use that index. */
#define PAWL__SQLITE_OUTBOX_QUERY                                                       \
    "(?1 = 0 or [Id] = ?1) and (?2 is null or [DispatchId] = ?2) and [Id] > ?3 "        \
    "and (?4 = 0 or ?4 & case [State] when 'pending' then 1 when 'held' then 2 "        \
    "when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end) " \
    "and (?5 = '' or [Endpoint] = ?5) and (?6 = '' or [Source] = ?6) "                  \
    "and (?7 = '' or [Destination] = ?7) and (?8 = '' or [Type] = ?8) "                 \
    "and (?9 = '' or [CausationId] = ?9) and [Attempts] >= ?11 order by [Id] limit ?10"

/* An event's number is its position too. */
#define PAWL__SQLITE_EVENT_ROW \
    "select [Seq], [Stream], [Version], " PAWL__SQL_EVENT " from {events} "
#define PAWL__SQLITE_EVENT_QUERY                                  \
    "(?2 = '' or [Type] = ?2) and (?3 = '' or [MessageId] = ?3) " \
    "and (?4 = '' or [CorrelationId] = ?4) "

#define PAWL__SQLITE_STATEMENTS(X)                                                               \
    X(begin, "begin immediate")                                                                  \
    X(begin_read, "begin")                                                                       \
    X(commit_transaction, "commit")                                                              \
    X(rollback_transaction, "rollback")                                                          \
    X(data_version, "pragma data_version")                                                       \
    X(queue_claim, PAWL__SQL_QUEUE_ROW "where [Queue] = ?1 and [Due] <= ?2 "                     \
                                       "and pawl_is_free([Seq]) order by [Due], [Seq] limit ?3") \
    X(queue_first, "select [Due] from {queue} where [Queue] = ?1 and pawl_is_free([Seq]) "       \
                   "order by [Due] limit 1")                                                     \
    X(inbox_range, "select [MessageId] from {inbox} where [Endpoint] = ?1 "                      \
                   "and [MessageId] between ?2 and ?3 limit ?4")                                 \
    X(inbox_rows, "select rowid, [At] from {inbox} order by rowid")                              \
    X(inbox_delete_row, "delete from {inbox} where rowid = ?1")                                  \
    X(outbox_due, PAWL__SQL_OUTBOX_ROW                                                           \
      "indexed by {outbox_pending} "                                                             \
      "where [State] = 'pending' and [NextAttempt] <= ?1 and (?3 = '' or [Endpoint] = ?3) "      \
      "order by [Id] limit ?2")                                                                  \
    X(outbox_next,                                                                               \
      "select min([NextAttempt]) from {outbox} indexed by {outbox_pending} "                     \
      "where [State] = 'pending' and [NextAttempt] > ?1 and (?2 = '' or [Endpoint] = ?2)")       \
    X(outbox_sources, "select [Id], [Source] from {outbox} indexed by {outbox_pending} "         \
                      "where [State] = 'pending' and [Id] > ?1 order by [Id]")                   \
    X(outbox_pending, "select count(*) from {outbox} indexed by {outbox_pending} "               \
                      "where [State] = 'pending'")                                               \
    X(outbox_oldest, "select [At] from {outbox} indexed by {outbox_pending} "                    \
                     "where [State] = 'pending' order by [Id] limit 1")                          \
    X(outbox_find_id, PAWL__SQL_OUTBOX_ROW "where [Id] = ?1 and " PAWL__SQLITE_OUTBOX_QUERY)     \
    X(outbox_find_dispatch,                                                                      \
      PAWL__SQL_OUTBOX_ROW "where [DispatchId] = ?2 and " PAWL__SQLITE_OUTBOX_QUERY)             \
    X(outbox_find_dead, PAWL__SQL_OUTBOX_ROW                                                     \
      "indexed by {outbox_dead} where [State] = 'dead' and " PAWL__SQLITE_OUTBOX_QUERY)          \
    X(outbox_find_held, PAWL__SQL_OUTBOX_ROW                                                     \
      "indexed by {outbox_held_id} where [State] = 'held' and [Attempts] >= 0 "                  \
      "and " PAWL__SQLITE_OUTBOX_QUERY)                                                          \
    X(outbox_find_pending, PAWL__SQL_OUTBOX_ROW                                                  \
      "indexed by {outbox_pending} where [State] = 'pending' and " PAWL__SQLITE_OUTBOX_QUERY)    \
    X(outbox_find_tried, PAWL__SQL_OUTBOX_ROW                                                    \
      "indexed by {outbox_tried} where [State] = 'pending' and [Attempts] > 0 "                  \
      "and " PAWL__SQLITE_OUTBOX_QUERY)                                                          \
    X(outbox_find_any, PAWL__SQL_OUTBOX_ROW "where " PAWL__SQLITE_OUTBOX_QUERY)                  \
    /* ?1 is the version that must be there, or 0; without it there is no stream, which \
     * the column refuses. A select that reads the table would have its rows copied \
     * to a temporary one first. */        \
    X(event_insert, "insert into {events} ([Stream], [Version], " PAWL__SQL_EVENT ") values ("   \
                    "case when ?1 = 0 or exists (select 1 from {events} where [Stream] = ?2 "    \
                    "and [Version] = ?1) then ?2 end, "                                          \
                    "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")                                \
    X(event_all, PAWL__SQLITE_EVENT_ROW "where [Seq] > ?1 and " PAWL__SQLITE_EVENT_QUERY         \
                                        "order by [Seq] limit ?5")                               \
    X(event_all_back, PAWL__SQLITE_EVENT_ROW "where [Seq] < ?1 and " PAWL__SQLITE_EVENT_QUERY    \
                                             "order by [Seq] desc limit ?5")                     \
    X(event_stream, PAWL__SQLITE_EVENT_ROW                                                       \
      "where [Stream] = ?6 and [Version] > ?1 and " PAWL__SQLITE_EVENT_QUERY                     \
      "order by [Version] limit ?5")                                                             \
    X(event_stream_back, PAWL__SQLITE_EVENT_ROW                                                  \
      "where [Stream] = ?6 and [Version] < ?1 and " PAWL__SQLITE_EVENT_QUERY                     \
      "order by [Version] desc limit ?5")                                                        \
    X(fold_set,                                                                                  \
      "insert into {folds} ([Stream], [Version], [TypeVersion], [State], [Dispatches], [At]) "   \
      "values (?1, ?2, ?3, ?4, ?5, ?6) on conflict ([Stream]) do update set "                    \
      "[Version] = excluded.[Version], [TypeVersion] = excluded.[TypeVersion], "                 \
      "[State] = excluded.[State], [Dispatches] = excluded.[Dispatches], [At] = excluded.[At] "  \
      "where excluded.[Version] > {folds}.[Version]")

enum {
    pawl__sqlite_before_first = pawl__sql_statement_count - 1,
#define PAWL__SQLITE_NAME_OF(name, text) pawl__sqlite_##name,
    PAWL__SQLITE_STATEMENTS(PAWL__SQLITE_NAME_OF)
#undef PAWL__SQLITE_NAME_OF
        pawl__sqlite_statement_count
};

#endif
