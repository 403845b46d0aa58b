/* wire.h - between the calls of a connection and the socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_WIRE_H
#define PAWL_STORE_POSTGRES_WIRE_H

#include "store/postgres/connection.h"

/* State of a named statement. */
enum { PAWL__POSTGRES_UNKNOWN, PAWL__POSTGRES_PREPARED };

/* An entry behind those that were sent; NULL without memory. */
pawl__postgres_sent *pawl__postgres_push(pawl__postgres_connection *connection);
int64_t              pawl__postgres_clock_ms(void); /* monotonic, for durations only */

#endif
