/* main.c - sends messages in your own transaction, on PostgreSQL.
 *
 * To place an order, the program writes a row of its own table and sends a message, in one transaction of its own: both
 * are committed, or neither. It places two orders, commits the first and rolls back the second. Then an endpoint prints
 * which messages arrived.
 *
 *     pawl schema apply --store URL     once: pawl's tables
 *     enlist URL                        postgres://user@host/database
 *
 * trigger.sql sends a message with SQL only; the endpoint here handles it, too.
 *
 * To build in this folder with an installed pawl:
 *
 *     cc -std=c17 -o enlist main.c $(pkg-config --cflags --libs pawl libpq)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/loop.h"
#include "pawl/pawl.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#define QUEUE "enlist"

/* ---- Messages and their handlers -------------------------------------------- */

#define ORDER_PLACED(F) \
    F(INT64, order_id)  \
    F(INT64, total_cents)
PAWL_RECORD(order_placed, ORDER_PLACED);

/* Sent by the trigger of trigger.sql. */
#define ORDER_PAID(F) F(INT64, order_id)
PAWL_RECORD(order_paid, ORDER_PAID);

static pawl_code on_order_placed(pawl_context *ctx, const order_placed *message)
{
    (void)ctx;
    printf("arrived: order %" PRId64 ", %" PRId64 " cents\n", message->order_id,
           message->total_cents);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_order_placed, order_placed);

static pawl_code on_order_paid(pawl_context *ctx, const order_paid *message)
{
    (void)ctx;
    printf("arrived: order %" PRId64 " is paid\n", message->order_id);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_order_paid, order_paid);

static const pawl_endpoint_spec endpoint_spec = {
    .name = QUEUE,
    .handlers =
        PAWL_ON({.handle = PAWL_HANDLE(on_order_placed)}, {.handle = PAWL_HANDLE(on_order_paid)})};

static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "enlist",
                                             .endpoints = PAWL_ENDPOINTS(&endpoint_spec)};

/* ---- The caller's own SQL ------------------------------------------------------ */

/* Runs a statement; `*number` is the first column of its row, if there is one. */
static pawl_code run(PGconn *pg, const char *sql, const char *parameter, int64_t *number,
                     pawl_error *error)
{
    PGresult *result =
        PQexecParams(pg, sql, parameter != NULL ? 1 : 0, NULL, &parameter, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    pawl_code      code   = PAWL_OK;
    if (status == PGRES_TUPLES_OK && number != NULL)
        *number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    else if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        code = pawl_error_set(error, PAWL_EPERSIST, "%s: %s", sql, PQerrorMessage(pg));
    PQclear(result);
    return code;
}

/* Inserts the row and sends the message. The caller begins and ends the transaction. */
static pawl_code place_order(pawl_store *store, PGconn *pg, const char *cents, int64_t *order_id,
                             pawl_error *error)
{
    pawl_sender *sender = NULL;
    pawl_code    code = run(pg, "insert into enlist_orders (total_cents) values ($1) returning id",
                            cents, order_id, error);
    if (code == PAWL_OK)
        code = pawl_enlist(store, pg, &sender, error);
    if (code == PAWL_OK)
        code = pawl_sender_send(sender, QUEUE, NULL,
                                PAWL_MESSAGE(order_placed, .order_id = *order_id,
                                             .total_cents = strtoll(cents, NULL, 10)),
                                error);
    pawl_sender_close(sender);
    return code;
}

static pawl_code place(pawl_store *store, PGconn *pg, const char *cents, const char *end,
                       pawl_error *error)
{
    int64_t   order_id = 0;
    pawl_code code     = run(pg, "begin", NULL, NULL, error);
    if (code == PAWL_OK)
        code = place_order(store, pg, cents, &order_id, error);
    if (code == PAWL_OK)
        code = run(pg, end, NULL, NULL, error);
    if (code == PAWL_OK)
        printf("order %" PRId64 " of %s cents: %s\n", order_id, cents, end);
    return code;
}

static pawl_code place_orders(pawl_store *store, PGconn *pg, pawl_error *error)
{
    pawl_code code = run(pg, "set client_min_messages = warning", NULL, NULL, error);
    if (code == PAWL_OK)
        code = run(pg,
                   "create table if not exists enlist_orders (id bigint generated always as "
                   "identity primary key, total_cents bigint not null, "
                   "is_paid boolean not null default false)",
                   NULL, NULL, error);
    if (code == PAWL_OK)
        code = place(store, pg, "4200", "commit", error);
    if (code == PAWL_OK)
        code = place(store, pg, "9900", "rollback", error);
    return code;
}

/* ---- The program ---------------------------------------------------------------- */

/* Handles the messages. In a real system another process does this. */
static pawl_code receive(const char *url, pawl_error *error)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = url;
    pawl_code code = pawl_endpoint_create(&application, NULL, &options, &endpoint, error);
    if (code == PAWL_OK)
        code = pawl_endpoint_drain(endpoint, NULL, error);
    pawl_endpoint_destroy(endpoint);
    return code;
}

static pawl_code work(const char *url, PGconn *pg, pawl_error *error)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    if (PQstatus(pg) != CONNECTION_OK)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "%s",
                              pg != NULL ? PQerrorMessage(pg) : "out of memory");
    pawl_code code = pawl_store_open(url, &options, &store, error);
    if (code == PAWL_OK)
        code = place_orders(store, pg, error);
    pawl_store_close(store);
    return code == PAWL_OK ? receive(url, error) : code;
}

int main(int argc, char **argv)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (argc != 2) {
        fputs("usage: enlist postgres://user@host/database\n", stderr);
        return pawl_code_exit(PAWL_EINVAL);
    }
    PGconn   *pg   = PQconnectdb(argv[1]);
    pawl_code code = work(argv[1], pg, &error);
    if (code != PAWL_OK)
        fprintf(stderr, "enlist: %s\n", error.text);
    PQfinish(pg);
    return pawl_code_exit(code);
}
