/* mysql_statements.c - the texts by number, and which stand for one of the generic store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/mysql_statements.h"

const int pawl__mysql_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    [PAWL__SQL_WORKER_FOLD]              = PAWL__MYSQL_WORKER_FOLD,
    [PAWL__SQL_QUEUE_FIRST]              = PAWL__MYSQL_QUEUE_FIRST,
    [PAWL__SQL_OUTBOX_SWEEP]             = PAWL__MYSQL_OUTBOX_SWEEP,
    [PAWL__SQL_EVENT_INSERT]             = PAWL__MYSQL_EVENT_INSERT,
    [PAWL__SQL_FOLD_SET]                 = PAWL__MYSQL_FOLD_SET,
    [PAWL__SQL_AGGREGATOR_DELETE_OLDEST] = PAWL__MYSQL_AGGREGATOR_DELETE_OLDEST,
};

const char *const pawl__mysql_templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__MYSQL_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof pawl__mysql_templates / sizeof pawl__mysql_templates[0] ==
                   PAWL__MYSQL_STATEMENT_COUNT,
               "one template for each statement");
