/* wire.h - between the calls of a connection and the socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_WIRE_H
#define PAWL_STORE_POSTGRES_WIRE_H

#include "store/postgres/connection.h"

/* State of a named statement. */
enum { PAWL__PG_UNKNOWN, PAWL__PG_PREPARED };

/* An entry behind those that were sent; NULL without memory. While there is one,
 * there is room for one more: a sync needs none of its own. */
pawl__pg_sent *pawl__pg_push(pawl__pg_connection *connection);
/* Waits for the answer to a call that was sent without a pipeline. */
void    pawl__pg_pump_one(pawl__pg_connection *connection);
int64_t pawl__pg_clock_ms(void); /* monotonic, for durations only */

/* cancel.c: begin, and once the answer is there end. NULL: it could not be sent. */
typedef struct pawl__pg_cancel pawl__pg_cancel;

pawl__pg_cancel *pawl__pg_cancel_begin(PGconn *pg);
/* Waits for the request to be through, up to a deadline of clock_ms; false: it
 * may still arrive. It is freed in any case. */
bool pawl__pg_cancel_end(pawl__pg_cancel *cancel, int64_t deadline);

/* call.c: no statement's name is known to the server any longer. */
void pawl__pg_forget_names(pawl__pg_connection *connection);

#endif
