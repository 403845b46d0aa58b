/* application.h - the application that pawl runs in the benchmarks: an order that is moved step by
 * step, and tells another system about each of its steps.
 *
 * Message, state and what is sent have about 300 bytes of JSON each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_APPLICATION_H
#define PAWL_BENCH_APPLICATION_H

#include "job.h"

#define BENCH_STEP(F)                   \
    F(TEXT, order_id, .required = true) \
    F(INT64, step)                      \
    F(INT64, cents)                     \
    F(TEXT, customer)                   \
    F(TEXT, product)                    \
    F(TIME, at)                         \
    F(TEXT, note)
PAWL_RECORD(bench_step, BENCH_STEP);

#define BENCH_ORDER(F)                  \
    F(TEXT, order_id, .required = true) \
    F(INT64, steps)                     \
    F(INT64, cents)                     \
    F(TEXT, customer)                   \
    F(TEXT, product)                    \
    F(TIME, at)                         \
    F(TEXT, note)
PAWL_RECORD(bench_order, BENCH_ORDER);

#define BENCH_MOVED(F)                  \
    F(TEXT, order_id, .required = true) \
    F(INT64, steps)                     \
    F(INT64, cents)                     \
    F(TEXT, customer)                   \
    F(TEXT, product)                    \
    F(TIME, at)                         \
    F(TEXT, note)
PAWL_RECORD(bench_moved, BENCH_MOVED);

/* The texts that every step, state and message carries. */
#define PAWL__BENCH_CUSTOMER "Hannelore Mustermann-Beispiel"
#define PAWL__BENCH_PRODUCT "pawl, hardened steel, 12 mm, left"
#define PAWL__BENCH_NOTE                                                            \
    "leave it with the neighbours on the second floor if nobody answers the door; " \
    "the bell is out of order"

#define PAWL__BENCH_SAGA "Order"
#define PAWL__BENCH_TIMEOUT "patience"
#define PAWL__BENCH_OUTSIDE "outside" /* the route that leaves the store */
#define PAWL__BENCH_INSIDE "done"     /* a queue of the same store */

#define PAWL__BENCH_ORDER_ID_SIZE 24 /* without NUL */

/* The id of the order of that number: as random as a customer's. */
void pawl__bench_order_id(uint64_t seed, int64_t number, char text[PAWL__BENCH_ORDER_ID_SIZE + 1]);

/* The price of an order. */
static inline int64_t pawl__bench_cents(int64_t number)
{
    return 100 + number % 9900;
}

/* The JSON of a bench_moved, in the arena. */
pawl_code pawl__bench_moved(pawl_arena *arena, pawl_text order_id, int64_t steps, int64_t cents,
                            pawl_time at, pawl_text *body, pawl_error *error);

extern const pawl_application pawl__bench_application;
/* Says that the queue which nobody reads is meant. */
extern const pawl_route pawl__bench_inside[];

/* An endpoint for step(), or for run() with as many workers as the options say.
 * The job and the routes must outlive it. */
pawl_code pawl__bench_endpoint(const pawl__bench_job *job, const pawl_route *routes,
                               bool no_service, pawl_endpoint **endpoint, pawl_error *error);
/* Takes an endpoint, and steps it until so many messages, timeouts and outbox rows are
 * done; only that is in `*microseconds`. PAWL_EBUG when it is idle before: "timeouts
 * fired: 99, should be 100". */
pawl_code pawl__bench_work_off(pawl_endpoint *endpoint, const char *what, int64_t count,
                               int64_t *microseconds, pawl_error *error);
/* The saga's table, in the arena. */
pawl_code pawl__bench_table(pawl_arena *arena, const pawl_saga_table **table, pawl_error *error);

#define PAWL__BENCH_CHECK_COUNT 256 /* orders at once, at most, here and below */
/* The rows of these orders, in the handle's arena, which is reset first. */
pawl_code pawl__bench_load_orders(const pawl__bench_handle *handle, uint64_t seed, int64_t first,
                                  pawl_saga_row *rows, size_t count, pawl_error *error);
/* Reads the steps that the orders' sagas have counted; 0 where there is no saga. */
pawl_code pawl__bench_count_steps(const pawl__bench_handle *handle, uint64_t seed, int64_t first,
                                  int64_t *steps, size_t count, pawl_error *error);
/* Of each of these orders there is a saga whose state has counted so many steps. */
pawl_code pawl__bench_check_orders(const pawl__bench_handle *handle, uint64_t seed, int64_t first,
                                   const int64_t *steps, size_t count, pawl_error *error);

#endif
