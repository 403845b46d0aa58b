/* fault_shop.h - the two applications of fault_scenario.h and their messages.
 *
 *     place ---> order ----> notice "placed"        to the depot
 *                  | `-----> remind, 5 minutes  ---> notice "reminded"
 *                  `-------> expire, 24 hours   ---> notice "expired", ends the order
 *     pay -----> order ----> 3 parcels, cancels expire
 *     parcel --> Parcels --> notice "packed", and packed (event) ---> order
 *     audit ---> a handler with its own SQL
 *
 * Threads: plain data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FAULT_SHOP_H
#define PAWL_TESTS_FAULT_SHOP_H

#include "pawl/pawl.h"
#include "support/tests.h"

PAWL_RECORD(place, A_NAME);
PAWL_RECORD(pay, A_NAME);
RECORD(parcel, (TEXT, name), (INT32, number));
PAWL_RECORD(packed, A_NAME);
PAWL_RECORD(audit, A_NUMBER);
RECORD(notice, (TEXT, name), (TEXT, what));

/* `steps` counts everything that happens to the order, and so equals its version. */
RECORD(order, (TEXT, name), (INT32, steps), (INT32, reminders), (INT32, paid), (INT32, packed));

/* The store to which the handler with its own SQL writes. */
extern const char            *fault_shop_store;
extern const pawl_application fault_shop_plain;
/* Has the handler of audit. */
extern const pawl_application fault_shop_sql;
extern const pawl_application fault_depot;

#endif
