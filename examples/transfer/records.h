/* records.h - commands, events and states of the bank.
 *
 *     open_account, debit, credit, credit_back -> an Account -> account_opened ...
 *     request_transfer -> a Transfer -> requested, withdrawn, done ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_RECORDS_H
#define TRANSFER_RECORDS_H

#include "pawl/record.h"

/* ---- Accounts ------------------------------------------------------------ */

#define OPEN_ACCOUNT(F)              \
    F(INT64, account)                \
    F(INT64, cents)    /* paid in */ \
    F(BOOL, is_closed) /* refuses credits */
PAWL_RECORD(open_account, OPEN_ACCOUNT);

#define MOVE(F)        \
    F(INT64, account)  \
    F(INT64, transfer) \
    F(INT64, cents)
PAWL_RECORD(debit, MOVE);
PAWL_RECORD(credit, MOVE);
PAWL_RECORD(credit_back, MOVE);

#define ACCOUNT_OPENED(F) \
    F(INT64, cents)       \
    F(BOOL, is_closed)
PAWL_RECORD(account_opened, ACCOUNT_OPENED);

#define MOVED(F)       \
    F(INT64, transfer) \
    F(INT64, cents)
PAWL_RECORD(debited, MOVED);
PAWL_RECORD(credited, MOVED);
PAWL_RECORD(credited_back, MOVED);

#define ACCOUNT(F)     \
    F(BOOL, is_open)   \
    F(BOOL, is_closed) \
    F(INT64, cents)
PAWL_RECORD(account_state, ACCOUNT);

/* ---- Transfers ----------------------------------------------------------- */

#define ORDER(F)                          \
    F(INT64, transfer)                    \
    F(INT64, source) /* account number */ \
    F(INT64, target)                      \
    F(INT64, cents)
PAWL_RECORD(request_transfer, ORDER);
PAWL_RECORD(requested, ORDER);

/* `done`: both legs succeeded; `withdrawn`: the first did; `failed`: none will; `bounced`: the second was rejected. */
#define MONEY(F) F(INT64, cents)
PAWL_RECORD(withdrawn, MONEY);
PAWL_RECORD(done, MONEY);
#define WHY(F) F(TEXT, reason)
PAWL_RECORD(bounced, WHY);
PAWL_RECORD(failed, WHY);
/* The transfer is not settled yet. */
#define WAITED(F) F(INT64, microseconds)
PAWL_RECORD(overdue, WAITED);

#define TRANSFER(F)    \
    F(INT64, transfer) \
    F(INT64, source)   \
    F(INT64, target)   \
    F(INT64, cents)    \
    F(TEXT, reason)
PAWL_RECORD(transfer_state, TRANSFER);

#endif
