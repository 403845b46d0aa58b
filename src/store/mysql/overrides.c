/* overrides.c - statements of the generic store that are others on MySQL and MariaDB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

const int pawl__mysql_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    [PAWL__SQL_WORKER_FOLD]              = PAWL__MYSQL_WORKER_FOLD,
    [PAWL__SQL_QUEUE_FIRST]              = PAWL__MYSQL_QUEUE_FIRST,
    [PAWL__SQL_OUTBOX_SWEEP]             = PAWL__MYSQL_OUTBOX_SWEEP,
    [PAWL__SQL_EVENT_INSERT]             = PAWL__MYSQL_EVENT_INSERT,
    [PAWL__SQL_FOLD_SET]                 = PAWL__MYSQL_FOLD_SET,
    [PAWL__SQL_AGGREGATOR_DELETE_OLDEST] = PAWL__MYSQL_AGGREGATOR_DELETE_OLDEST,
};
