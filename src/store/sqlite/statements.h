/* statements.h - statements that only SQLite has, numbered after the shared ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_STATEMENTS_H
#define PAWL_STORE_SQLITE_STATEMENTS_H

#include "store/sql/row_statements.h"

/* SQLite has one writer at a time, so an event's number can be its position, too. */
#define PAWL__SQLITE_EVENT_ROW \
    "select [Seq], [Seq], [Stream], [Version], " PAWL__SQL_EVENT " from {events} "

/* INBOX_SWEEP: row ids follow the order of time, except where clocks differ. */

/* SCHEMA_COLUMNS: a primary key is not null or filled in by the database, so it counts as not null. */

#define PAWL__SQLITE_STATEMENTS(X)                                                             \
    X(TRANSACTION_BEGIN, "begin immediate")                                                    \
    X(TRANSACTION_BEGIN_READ, "begin")                                                         \
    X(TRANSACTION_COMMIT, "commit")                                                            \
    X(TRANSACTION_ROLLBACK, "rollback")                                                        \
    X(DATA_VERSION, "pragma data_version")                                                     \
    X(QUEUE_CLAIM,                                                                             \
      PAWL__SQL_QUEUE_ROW_TEXT "where [Queue] = ?1 and [Due] <= ?2 "                           \
                               "and pawl_is_free([Seq]) order by [Due], [Seq] limit ?3")       \
    X(TIMEOUT_CLAIM, PAWL__SQL_TIMEOUT_ROW                                                     \
      "where [Destination] = ?1 and [Due] <= ?2 "                                              \
      "and ([LeaseExpires] is null or [LeaseExpires] <= ?3) order by [Due] limit ?4")          \
    X(INBOX_PAGE, "select count(*), coalesce(max(r), 0) from (select rowid as r from {inbox} " \
                  "where rowid > ?1 order by rowid limit ?2)")                                 \
    X(INBOX_SWEEP, "delete from {inbox} where rowid in (select r from "                        \
                   "(select rowid as r, [At] from {inbox} where rowid > ?3 "                   \
                   "order by rowid limit ?4) where [At] < ?1 limit ?2)")                       \
    X(OUTBOX_PENDING,                                                                          \
      PAWL__SQL_COUNT("{outbox} indexed by {outbox_pending} where [State] = 'pending'", "?1")) \
    X(OUTBOX_OLDEST, "select [At] from {outbox} indexed by {outbox_pending} "                  \
                     "where [State] = 'pending' order by [Id] limit 1")                        \
    X(EVENT_ALL, PAWL__SQLITE_EVENT_ROW "where [Seq] > ?2 " PAWL__SQL_EVENT_FILTERS            \
                                        "order by [Seq] limit ?6")                             \
    X(EVENT_ALL_BACK, PAWL__SQLITE_EVENT_ROW "where [Seq] < ?2 " PAWL__SQL_EVENT_FILTERS       \
                                             "order by [Seq] desc limit ?6")                   \
    X(EVENT_BEHIND,                                                                            \
      PAWL__SQLITE_EVENT_ROW "where [Stream] = ?1 and [Version] > ?2 order by [Version]")      \
    X(EVENT_STREAM,                                                                            \
      PAWL__SQLITE_EVENT_ROW "where [Stream] = ?1 and [Version] > ?2 " PAWL__SQL_EVENT_FILTERS \
                             "order by [Version] limit ?6")                                    \
    X(EVENT_STREAM_BACK,                                                                       \
      PAWL__SQLITE_EVENT_ROW "where [Stream] = ?1 and [Version] < ?2 " PAWL__SQL_EVENT_FILTERS \
                             "order by [Version] desc limit ?6")                               \
    X(SCHEMA_COLUMNS,                                                                          \
      "select ?1, c.name, c.type, '', c.[notnull] <> 0 or c.pk <> 0, "                         \
      "c.dflt_value is not null or c.pk <> 0 from pragma_table_info(?1) as c "                 \
      "where exists (select 1 from sqlite_schema where type = 'table' and name = ?1)")         \
    X(SCHEMA_INDEXES,                                                                          \
      "select ?1, i.name, (select coalesce(group_concat('\"' || x.name || '\"', ', '), '') "   \
      "from (select name from pragma_index_info(i.name) order by seqno) as x), "               \
      "i.origin = 'pk', i.[unique], 1, i.partial from pragma_index_list(?1) as i")

enum {
    PAWL__SQLITE_BEFORE_FIRST = PAWL__SQL_ROW_STATEMENT_END - 1,
#define PAWL__SQLITE_NAME_OF(name, text) PAWL__SQLITE_##name,
    PAWL__SQLITE_STATEMENTS(PAWL__SQLITE_NAME_OF)
#undef PAWL__SQLITE_NAME_OF
        PAWL__SQLITE_STATEMENT_COUNT
};

#endif
