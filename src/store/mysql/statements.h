/* statements.h - what MySQL and MariaDB say in another way than the shared statements: they have
 * no `update ... from` and no `on conflict`, and a statement that writes a table may not read it in a
 * subquery. Counted on from the shared ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_MYSQL_STATEMENTS_H
#define PAWL_STORE_MYSQL_STATEMENTS_H

#include "store/sql/row_statements.h"

#define PAWL__MYSQL_SUM(counter) "t." counter " = t." counter " + w." counter
/* The columns are set in their order, and a later one sees the earlier: the version is the last. */
#define PAWL__MYSQL_NEWER(column) \
    column " = if(values([Version]) > [Version], values(" column "), " column ")"

/* EVENT_INSERT_FIRST: as the shared one, a null stream where the event before is not there. */

/* name, template */
#define PAWL__MYSQL_STATEMENTS(X)                                                                                                                            \
    X(WORKER_FOLD,                                                                                                                                           \
      "update {workers} as t join {workers} as w on w.[Id] = ?2 set " PAWL__MYSQL_SUM("[Messages]") ", " PAWL__MYSQL_SUM("[Timeouts]") ", " PAWL__MYSQL_SUM( \
          "[Flushes]") ", " PAWL__MYSQL_SUM("[Failures]") ", " PAWL__MYSQL_SUM("[Conflicts]") ", " PAWL__MYSQL_SUM("[Dead]") " where t.[Id] = ?1")           \
    X(OUTBOX_SWEEP,                                                                                                                                          \
      "delete from {outbox} where [DispatchedAt] < ?1 order by [DispatchedAt] limit ?2")                                                                     \
    X(EVENT_INSERT_FIRST,                                                                                                                                    \
      "insert into {events} ([Stream], [Version], " PAWL__SQL_EVENT ") select "                                                                              \
      "(select b.[Stream] from {events} as b where b.[Stream] = ?1 and b.[Version] = ?2 - 1), "                                                              \
      "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11")                                                                                                            \
    X(FOLD_SET,                                                                                                                                              \
      "insert into {folds} ([Stream], [Version], [TypeVersion], [State], [Dispatches], [At]) "                                                               \
      "values (?1, ?2, ?3, ?4, ?5, ?6) on duplicate key update " PAWL__MYSQL_NEWER("[TypeVersion]") ", " PAWL__MYSQL_NEWER(                                  \
          "[State]") ", " PAWL__MYSQL_NEWER("[Dispatches]") ", " PAWL__MYSQL_NEWER("[At]") ", " PAWL__MYSQL_NEWER("[Version]"))                              \
    X(AGGREGATOR_DELETE_ONE,                                                                                                                                 \
      "delete from {aggregator} where [Partition] = ?1 and [CorrelationId] = ?2 "                                                                            \
      "order by [At], [Id] limit 1")

#define PAWL__MYSQL_NAME_OF(name, text) PAWL__MYSQL_##name,
enum {
    PAWL__MYSQL_BEFORE = PAWL__SQL_ROW_STATEMENT_END - 1,
    PAWL__MYSQL_STATEMENTS(PAWL__MYSQL_NAME_OF) PAWL__MYSQL_STATEMENT_COUNT
};

#endif
