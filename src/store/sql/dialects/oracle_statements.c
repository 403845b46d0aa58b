/* oracle_statements.c - the texts by number, and which stand for one of the generic store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/oracle_statements.h"

#define STANDS(name) [PAWL__SQL_##name] = PAWL__ORACLE_##name

const int pawl__oracle_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    STANDS(QUEUE_FIRST), STANDS(WORKER_FOLD),     STANDS(WORKER_KEEP),
    STANDS(INBOX_SWEEP), STANDS(OUTBOX_SWEEP),    STANDS(AGGREGATOR_DELETE_OLDEST),
    STANDS(OUTBOX_SAME), STANDS(TIMEOUT_CLAIM),   STANDS(TIMEOUT_CLAIM_ANY),
    STANDS(FOLD_SET),    STANDS(TIMEOUT_FOREIGN), STANDS(NEWS),
};

const char *const pawl__oracle_templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__ORACLE_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof pawl__oracle_templates / sizeof pawl__oracle_templates[0] ==
                   PAWL__ORACLE_STATEMENT_COUNT,
               "one template for each statement");
