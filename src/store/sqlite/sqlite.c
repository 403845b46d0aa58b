/* sqlite.c - the SQLite driver's statements, and its tables of operations; the last of them is the module's
 * only exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"
#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sql/session_rows.h"

/* ---- A session ------------------------------------------------------------ */

static const char *const templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_STATEMENTS(TEXT_OF) PAWL__SQL_ROW_STATEMENTS(TEXT_OF) PAWL__SQLITE_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};
_Static_assert(sizeof templates / sizeof templates[0] == PAWL__SQLITE_STATEMENT_COUNT,
               "one template for each statement");

/* The same parameters and columns under a text of SQLite's own; 0 is none. */
const int pawl__sqlite_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    [PAWL__SQL_TIMEOUT_CLAIM]            = PAWL__SQLITE_TIMEOUT_CLAIM,
    [PAWL__SQL_TIMEOUT_CLAIM_ANY]        = PAWL__SQL_TIMEOUT_DUE_ANY,
    [PAWL__SQL_AGGREGATOR_CLAIM]         = PAWL__SQL_AGGREGATOR_GET,
    [PAWL__SQL_INBOX_SWEEP]              = PAWL__SQLITE_INBOX_SWEEP,
    [PAWL__SQL_EVENT_BEHIND]             = PAWL__SQLITE_EVENT_BEHIND,
    [PAWL__SQL_OUTBOX_PENDING]           = PAWL__SQLITE_OUTBOX_PENDING,
    [PAWL__SQL_OUTBOX_OLDEST]            = PAWL__SQLITE_OUTBOX_OLDEST,
    [PAWL__SQL_EVENT_LIST_STREAM]        = PAWL__SQLITE_EVENT_STREAM,
    [PAWL__SQL_EVENT_LIST_STREAM_BACK]   = PAWL__SQLITE_EVENT_STREAM_BACK,
    [PAWL__SQL_EVENT_LIST_POSITION]      = PAWL__SQLITE_EVENT_ALL,
    [PAWL__SQL_EVENT_LIST_POSITION_BACK] = PAWL__SQLITE_EVENT_ALL_BACK,
    [PAWL__SQL_EVENT_LIST_SEQ]           = PAWL__SQLITE_EVENT_ALL,
    [PAWL__SQL_EVENT_LIST_SEQ_BACK]      = PAWL__SQLITE_EVENT_ALL_BACK,
};

const pawl__sql_family pawl__sqlite_family = {
    .templates       = templates,
    .overrides       = pawl__sqlite_overrides,
    .statement_count = PAWL__SQLITE_STATEMENT_COUNT,
};

const pawl__sql_ops pawl__sqlite_ops = {
    PAWL__SQL_SESSION_OPS,
    .name            = "sqlite",
    .statement_size  = sizeof(pawl__sqlite_statement),
    .ask             = pawl__sqlite_ask,
    .prepare         = pawl__sqlite_prepare,
    .close           = pawl__sqlite_close_statement,
    .execute         = pawl__sqlite_run,
    .found           = pawl__sqlite_found,
    .fetch           = pawl__sqlite_fetch,
    .free_rows       = pawl__sqlite_free_rows,
    .get             = pawl__sqlite_get,
    .write           = pawl__sql_session_write,
    .read_begin      = pawl__sqlite_read_begin,
    .begin           = pawl__sqlite_begin,
    .commit          = pawl__sqlite_commit,
    .rollback        = pawl__sqlite_rollback,
    .mark_open       = pawl__sqlite_mark_open,
    .is_open         = pawl__sqlite_is_open,
    .stamps_begin    = pawl__sqlite_stamps_begin,
    .stamps_end      = pawl__sqlite_stamps_end,
    .writes_alone    = true,
    .inbox_page      = PAWL__SQLITE_INBOX_PAGE,
    .which_are_alive = pawl__sqlite_who_lives,
    .own_lock        = pawl__sqlite_own_lock,
    .take_over       = pawl__sqlite_take_over,
    .claims_leave    = pawl__sqlite_leave_queues,
    .claim_check     = pawl__sqlite_claim_check,
    .claims_end      = pawl__sqlite_claims_settled,
    .resolved        = pawl__sqlite_resolved,
};

/* ---- The store ------------------------------------------------------------ */

static bool in_transaction(pawl_store *base)
{
    return !sqlite3_get_autocommit(pawl__sqlite_of(base)->connection.db);
}

static void *native(pawl_store *base)
{
    return pawl__sqlite_of(base)->connection.db;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "sqlite",
    .store_size = sizeof(pawl__sqlite),
    .promises   = PAWL_STORE_CREATES | PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE |
                PAWL_STORE_FREE_CLAIMS | PAWL_STORE_KNOWS_REFUSED | PAWL_STORE_IN_PROCESS,

    .open           = pawl__sqlite_open,
    .close          = pawl__sqlite_close,
    .schema         = pawl__sqlite_schema,
    .commit         = pawl__sql_commit,
    .queue_claim    = pawl__sqlite_queue_claim,
    .next_due       = pawl__sql_next_due,
    .wait           = pawl__sqlite_wait,
    .interrupt      = pawl__sqlite_interrupt,
    .native         = native,
    .in_transaction = in_transaction,
    .native_type    = "sqlite3",
    .enlist         = pawl__sqlite_enlist,
    .event_number   = pawl__sql_event_number_none,
    .ready          = pawl__sqlite_ready,
    .diagnose       = pawl__sqlite_diagnose,
    .worker_crashed = pawl__sql_worker_crashed,
    PAWL__SQL_OPERATIONS,
};
