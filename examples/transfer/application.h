/* application.h - the bank: the accounts, and the transfers between them.
 *
 *     transfers                            accounts
 *     request_transfer -> Transfer  -- debit ------->  Account
 *                                  <-- accepted -----
 *                                   -- credit ------>  another Account
 *                                  <-- rejected -----
 *                                   -- credit_back ->  the first one again
 *
 * The commands leave through the outbox of the store that holds both, the answers
 * come back in the commit that decides them.
 *
 * Tests: tests/system/transfer.sh, transfer_postgres.sh, transfer_soak.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_APPLICATION_H
#define TRANSFER_APPLICATION_H

#include "pawl/pawl.h"

#define TRANSFER_ACCOUNTS "accounts"   /* an endpoint and its queue */
#define TRANSFER_TRANSFERS "transfers" /* likewise */

extern const pawl_entity      transfer_account_entity;
extern const pawl_process     transfer_transfer_process;
extern const pawl_application transfer_application;
extern const pawl_route       transfer_routes[];

/* pawl_user of the handlers. */
typedef struct transfer_settings {
    int64_t late; /* a transfer that is not settled after this says so */
} transfer_settings;

#endif
