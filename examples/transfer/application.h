/* application.h - the bank: the accounts, and the transfers between them.
 *
 *     transfers                            accounts
 *     request_transfer -> Transfer  -- debit ------->  Account
 *                                  <-- accepted -----
 *                                   -- credit ------>  another Account
 *                                  <-- rejected -----
 *                                   -- credit_back ->  the first one again
 *
 * Both are in one store. Commands go through its outbox; answers are sent in the commit that decides them.
 *
 * Tests: tests/system/transfer.sh, transfer_postgres.sh, transfer_soak.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_APPLICATION_H
#define TRANSFER_APPLICATION_H

#include "pawl/pawl.h"

#define TRANSFER_ACCOUNTS "accounts"   /* name of an endpoint and of its queue */
#define TRANSFER_TRANSFERS "transfers" /* the same */

extern const pawl_entity      transfer_account_entity;
extern const pawl_process     transfer_transfer_process;
extern const pawl_application transfer_application;
extern const pawl_route       transfer_routes[];

/* pawl_user of the handlers. */
typedef struct transfer_settings {
    int64_t late; /* time after which an unsettled transfer reports that */
} transfer_settings;

#endif
