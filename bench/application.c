/* application.c - the order saga of the benchmarks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include <stdio.h>

/* The message that is sent from the state as it is now. */
#define MOVED(order)                                                                  \
    PAWL_MESSAGE(bench_moved, .order_id = (order)->order_id, .steps = (order)->steps, \
                 .cents = (order)->cents, .customer = (order)->customer,              \
                 .product = (order)->product, .at = (order)->at, .note = (order)->note)

static void note_step(pawl_context *ctx, const bench_step *message)
{
    const pawl__bench_job *job = pawl_user(ctx);
    if (job->on_step != NULL)
        job->on_step(message->step);
}

static pawl_code on_step(pawl_context *ctx, bench_order *order, const bench_step *message)
{
    note_step(ctx, message);
    order->steps++;
    order->cents += message->cents;
    order->customer = message->customer;
    order->product  = message->product;
    order->at       = message->at;
    order->note     = message->note;
    return pawl_send(ctx, PAWL__BENCH_OUTSIDE, MOVED(order));
}
PAWL_HANDLER(on_step, bench_order, bench_step);

static pawl_code on_patience(pawl_context *ctx, bench_order *order)
{
    order->steps++;
    return pawl_send(ctx, PAWL__BENCH_INSIDE, MOVED(order));
}
PAWL_TIMEOUT_HANDLER(on_patience, bench_order);

static const pawl_saga order_saga = {
    .name        = PAWL__BENCH_SAGA,
    .state       = PAWL_RECORD_OF(bench_order),
    .correlation = "order_id",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_step), .key = "order_id", .starts = true},
                           {.handle = PAWL_HANDLE(on_patience), .timeout = PAWL__BENCH_TIMEOUT})};

static const pawl_endpoint_spec bench = {.name  = PAWL__BENCH_QUEUE,
                                         .sagas = PAWL_SAGAS(&order_saga)};

const pawl_application pawl__bench_application = {PAWL_APPLICATION_HEAD, .name = "bench",
                                                  .endpoints = PAWL_ENDPOINTS(&bench)};

/* ---- Without a saga -------------------------------------------------------- */

static pawl_code on_relay(pawl_context *ctx, const bench_step *message)
{
    return pawl_send(ctx, PAWL__BENCH_OUTSIDE,
                     PAWL_MESSAGE(bench_moved, .order_id = message->order_id,
                                  .steps = message->step, .cents = message->cents,
                                  .customer = message->customer, .product = message->product,
                                  .at = message->at, .note = message->note));
}
PAWL_MESSAGE_HANDLER(on_relay, bench_step);

static pawl_code on_no_op(pawl_context *ctx, const bench_step *message)
{
    note_step(ctx, message);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_no_op, bench_step);

static const pawl_endpoint_spec relay = {.name     = PAWL__BENCH_QUEUE,
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_relay)})};
static const pawl_endpoint_spec no_op = {.name     = PAWL__BENCH_QUEUE,
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_no_op)})};

static const pawl_application relay_application = {PAWL_APPLICATION_HEAD, .name = "bench-relay",
                                                   .endpoints = PAWL_ENDPOINTS(&relay)};
static const pawl_application no_op_application = {PAWL_APPLICATION_HEAD, .name = "bench-no-op",
                                                   .endpoints = PAWL_ENDPOINTS(&no_op)};

static const pawl_application *const applications[] = {
    [PAWL__BENCH_SAGA_STEP] = &pawl__bench_application,
    [PAWL__BENCH_RELAY]     = &relay_application,
    [PAWL__BENCH_NO_OP]     = &no_op_application,
};

/* The mixing step of splitmix64: one to one, so no two numbers meet. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
    return value ^ (value >> 31);
}

void pawl__bench_order_id(uint64_t seed, int64_t number, char text[PAWL__BENCH_ORDER_ID_SIZE + 1])
{
    (void)snprintf(text, PAWL__BENCH_ORDER_ID_SIZE + 1, "order-%016llx-x",
                   (unsigned long long)mix((uint64_t)number + (seed << 32)));
}

pawl_code pawl__bench_moved(pawl_arena *arena, pawl_text order_id, int64_t steps, int64_t cents,
                            pawl_time at, pawl_text *body, pawl_error *error)
{
    bench_moved moved = {.order_id = order_id,
                         .steps    = steps,
                         .cents    = cents,
                         .customer = PAWL_TEXT(PAWL__BENCH_CUSTOMER),
                         .product  = PAWL_TEXT(PAWL__BENCH_PRODUCT),
                         .at       = at,
                         .note     = PAWL_TEXT(PAWL__BENCH_NOTE)};
    return pawl_record_encode(PAWL_RECORD_OF(bench_moved)(), &moved, 0, arena, body, error);
}

const pawl_route pawl__bench_inside[] = {{.name = PAWL__BENCH_INSIDE}, {.name = NULL}};

pawl_code pawl__bench_endpoint(const pawl__bench_job *job, const pawl_route *routes,
                               bool no_service, pawl_endpoint **endpoint, pawl_error *error)
{
    pawl_endpoint_options options = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                 = job->url;
    options.system_prefix         = PAWL__BENCH_PREFIX;
    options.saga_prefix           = PAWL__BENCH_SAGA_PREFIX;
    options.routes                = routes;
    options.workers               = (int)job->options->workers;
    options.batch_messages        = (int)job->batch;
    options.batch_time_max        = PAWL_MINUTES(1); /* the batch is what was asked for */
    options.outbox_batch          = (int32_t)job->batch;
    options.no_service            = no_service;
    options.user                  = (void *)job;
    options.transport             = job->transport;
    options.history               = job->has_history ? PAWL_DAYS(30) : 0;
    return pawl_endpoint_create(applications[job->handler], NULL, &options, endpoint, error);
}

pawl_code pawl__bench_work_off(pawl_endpoint *endpoint, const char *what, int64_t count,
                               int64_t *microseconds, pawl_error *error)
{
    pawl_code code  = PAWL_OK;
    int64_t   done  = 0;
    int64_t   begin = pawl__bench_clock();
    while (code == PAWL_OK && done < count) {
        pawl_step step = PAWL_STEP_INIT;
        code           = pawl_endpoint_step(endpoint, &step, error);
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
        done += step.handled + step.sent;
        if (code == PAWL_OK && step.is_idle)
            code = pawl__bench_expect(what, done, count, error);
    }
    *microseconds = pawl__bench_clock() - begin;
    pawl_endpoint_destroy(endpoint);
    return code;
}

pawl_code pawl__bench_table(pawl_arena *arena, const pawl_saga_table **table, pawl_error *error)
{
    const pawl_saga_table *const *tables = NULL;
    size_t                        count  = 0;
    pawl_code code = pawl_endpoint_tables(&pawl__bench_application, NULL, PAWL__BENCH_SAGA_PREFIX,
                                          arena, &tables, &count, error);
    if (code == PAWL_OK)
        *table = tables[0];
    return code;
}
