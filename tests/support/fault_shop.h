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
#define PARCEL(F) \
    F(TEXT, name) \
    F(INT32, number)
PAWL_RECORD(parcel, PARCEL);
PAWL_RECORD(packed, A_NAME);
PAWL_RECORD(audit, A_NUMBER);
#define NOTICE(F) \
    F(TEXT, name) \
    F(TEXT, what)
PAWL_RECORD(notice, NOTICE);

/* `steps` counts everything that happens to the order, and so equals its version. */
#define ORDER(F)        \
    F(TEXT, name)       \
    F(INT32, steps)     \
    F(INT32, reminders) \
    F(INT32, paid)      \
    F(INT32, packed)
PAWL_RECORD(order, ORDER);

/* The store to which the handler with its own SQL writes. */
extern const char            *fault_shop_store;
extern const pawl_application fault_shop_plain;
/* Has the handler of audit. */
extern const pawl_application fault_shop_sql;
extern const pawl_application fault_depot;

#endif
