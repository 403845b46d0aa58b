/* statements.h - the statements that only SQLite understands, counted on from
 * the shared ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_STATEMENTS_H
#define PAWL_STORE_SQLITE_STATEMENTS_H

#include "store/sql/statements.h"

#define PAWL__SQLITE_STATEMENTS(X)                                                               \
    X(begin, "begin immediate")                                                                  \
    X(begin_read, "begin")                                                                       \
    X(commit_transaction, "commit")                                                              \
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
                     "where [State] = 'pending' order by [Id] limit 1")

enum {
    pawl__sqlite_before_first = pawl__sql_statement_count - 1,
#define PAWL__SQLITE_NAME_OF(name, text) pawl__sqlite_##name,
    PAWL__SQLITE_STATEMENTS(PAWL__SQLITE_NAME_OF)
#undef PAWL__SQLITE_NAME_OF
        pawl__sqlite_statement_count
};

#endif
