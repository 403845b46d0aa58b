/* wire.h - sending, waiting and cancelling, between the requests of a connection and its
 * socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_WIRE_H
#define PAWL_STORE_POSTGRES_WIRE_H

#include "store/postgres/connection.h"

/* Whether the server knows a named statement. */
enum { PAWL__PG_UNKNOWN, PAWL__PG_PREPARED };

/* An entry of the list of what was sent; NULL without memory. Each entry leaves room for two
 * more: the syncs that end the parts of a pipeline need no memory. */
pawl__pg_sent *pawl__pg_push(pawl__pg_connection *connection);
/* Without a pipeline: waits for the answer to the one request that was sent. */
void pawl__pg_pump_one(pawl__pg_connection *connection);

/* cancel.c: a cancel is begun, and ended once the cancelled statement has its answer. NULL: it
 * could not be sent. */
typedef struct pawl__pg_cancel pawl__pg_cancel;

pawl__pg_cancel *pawl__pg_cancel_begin(PGconn *pg);
/* Waits until the server has taken the cancel, up to a deadline of clock_ms; false: it may still
 * arrive. The cancel is freed in any case. */
bool pawl__pg_cancel_end(pawl__pg_cancel *cancel, int64_t deadline);

/* request.c: the server has forgotten the prepared statements, so all are prepared anew. */
void pawl__pg_forget_names(pawl__pg_connection *connection);

#endif
