/* mssql_statements.c - the texts by number, and which stand for one of the generic store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/mssql_statements.h"

const int pawl__mssql_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    [PAWL__SQL_QUEUE_FIRST]         = PAWL__MSSQL_QUEUE_FIRST,
    [PAWL__SQL_OUTBOX_SAME]         = PAWL__MSSQL_OUTBOX_SAME,
    [PAWL__SQL_WORKER_FOLD]         = PAWL__MSSQL_WORKER_FOLD,
    [PAWL__SQL_WORKER_KEEP]         = PAWL__MSSQL_WORKER_KEEP,
    [PAWL__SQL_LEAD_LIST]           = PAWL__MSSQL_LEAD_LIST,
    [PAWL__SQL_LEASE_LOCK]          = PAWL__MSSQL_LEASE_LOCK,
    [PAWL__SQL_INBOX_RANGE]         = PAWL__MSSQL_INBOX_RANGE,
    [PAWL__SQL_INBOX_SWEEP]         = PAWL__MSSQL_INBOX_SWEEP,
    [PAWL__SQL_OUTBOX_SWEEP]        = PAWL__MSSQL_OUTBOX_SWEEP,
    [PAWL__SQL_HISTORY_SWEEP]       = PAWL__MSSQL_HISTORY_SWEEP,
    [PAWL__SQL_TIMEOUT_FOREIGN]     = PAWL__MSSQL_TIMEOUT_FOREIGN,
    [PAWL__SQL_TIMEOUT_CLAIM]       = PAWL__MSSQL_TIMEOUT_CLAIM,
    [PAWL__SQL_TIMEOUT_CLAIM_ANY]   = PAWL__MSSQL_TIMEOUT_CLAIM_ANY,
    [PAWL__SQL_EVENT_TURN]          = PAWL__MSSQL_EVENT_TURN,
    [PAWL__SQL_EVENT_INSERT]        = PAWL__MSSQL_EVENT_INSERT,
    [PAWL__SQL_EVENT_POSITION]      = PAWL__MSSQL_EVENT_POSITION,
    [PAWL__SQL_TIMEOUT_CANCEL]      = PAWL__MSSQL_TIMEOUT_CANCEL,
    [PAWL__SQL_TIMEOUT_CANCEL_ALL]  = PAWL__MSSQL_TIMEOUT_CANCEL_ALL,
    [PAWL__SQL_TIMEOUT_LIST_SAGA]   = PAWL__MSSQL_TIMEOUT_LIST_SAGA,
    [PAWL__SQL_TIMEOUT_REARM_SAGA]  = PAWL__MSSQL_TIMEOUT_REARM_SAGA,
    [PAWL__SQL_HISTORY_FIND_SOURCE] = PAWL__MSSQL_HISTORY_FIND_SOURCE,
    [PAWL__SQL_FOLD_SET]            = PAWL__MSSQL_FOLD_SET,
    [PAWL__SQL_AGGREGATOR_CLAIM]    = PAWL__MSSQL_AGGREGATOR_CLAIM,
    [PAWL__SQL_NEWS]                = PAWL__MSSQL_NEWS,
};

const char *const pawl__mssql_templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__MSSQL_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof pawl__mssql_templates / sizeof pawl__mssql_templates[0] ==
                   PAWL__MSSQL_STATEMENT_COUNT,
               "one template for each statement");
