/* test_example_orders.c - the orders of examples/orders under the virtual clock.
 *
 * This is how an application is tested: an endpoint on memory, a clock that the
 * test moves, and drain() for "everything that is due". A second endpoint, the
 * world, remembers what came out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* The application is part of the program under test, as it is in an ordinary one. */
#include "../../examples/orders/orders.c"

#define START INT64_C(1767258000000000) /* 2026-01-01T09:00:00Z */
#define STORE "memory:test_example_orders"

/* ---- The world outside ------------------------------------------------------ */

typedef struct world_seen {
    int     charged, refunded, cancelled, shipped, shipments;
    int64_t cents; /* charged or refunded last */
    size_t  shipment_size;
    char    warehouse[20];
} world_seen;

static pawl_code on_charge_card(pawl_context *ctx, const charge_card *message)
{
    world_seen *seen = pawl_user(ctx);
    seen->charged++;
    seen->cents = message->cents;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_charge_card, charge_card);

static pawl_code on_refund(pawl_context *ctx, const refund *message)
{
    world_seen *seen = pawl_user(ctx);
    seen->refunded++;
    seen->cents = message->cents;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_refund, refund);

static pawl_code on_shipment(pawl_context *ctx, const shipment *message)
{
    world_seen *seen = pawl_user(ctx);
    seen->shipments++;
    seen->shipment_size = message->order_ids.count;
    snprintf(seen->warehouse, sizeof seen->warehouse, "%.*s", PAWL_TEXT_ARGS(message->warehouse));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_shipment, shipment);

static pawl_code on_cancelled(pawl_context *ctx, const order_cancelled *message)
{
    (void)message;
    ((world_seen *)pawl_user(ctx))->cancelled++;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_cancelled, order_cancelled);

static pawl_code on_shipped(pawl_context *ctx, const order_shipped *message)
{
    (void)message;
    ((world_seen *)pawl_user(ctx))->shipped++;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_shipped, order_shipped);

static const pawl_endpoint_spec world_endpoint = {
    .name     = "world",
    .handlers = (const pawl_on[]){{.handle = PAWL_HANDLE(on_charge_card)},
                                  {.handle = PAWL_HANDLE(on_refund)},
                                  {.handle = PAWL_HANDLE(on_shipment)},
                                  {.handle = PAWL_HANDLE(on_cancelled)},
                                  {.handle = PAWL_HANDLE(on_shipped)},
                                  {.handle = NULL}}};

static const pawl_application world_application = {
    PAWL_APPLICATION_INIT, .name = "world",
    .endpoints = (const pawl_endpoint_spec *const[]){&world_endpoint, NULL}};

static const pawl_route routes[] = {
    {.name = "billing", .queue = "world"}, {.name = "carrier", .queue = "world"}, {.name = NULL}};

/* ---- The fixture ------------------------------------------------------------ */

typedef struct test_fixture {
    pawl_clock    *clock;
    pawl_endpoint *orders;
    pawl_endpoint *world;
    pawl_sender   *sender;
    pawl_arena    *arena;
    world_seen     seen;
} test_fixture;

static void check(pawl_code code, const pawl_error *error)
{
    if (code != PAWL_OK)
        fail_msg("%s: %s", pawl_code_name(code), error->text);
}

static pawl_endpoint *create(test_fixture *fixture, const pawl_application *application)
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = STORE;
    options.routes                 = routes;
    options.business               = fixture->clock;
    options.seed                   = 1;
    options.user                   = &fixture->seen;
    check(pawl_endpoint_create(application, NULL, &options, &endpoint, &error), &error);
    return endpoint;
}

static int set_up(void **state)
{
    static test_fixture fixture;
    pawl_error          error = PAWL_ERROR_INIT;
    memset(&fixture, 0, sizeof fixture);
    fixture.clock  = pawl_clock_create(START);
    fixture.arena  = pawl_arena_create(0);
    fixture.orders = create(&fixture, &orders_application);
    fixture.world  = create(&fixture, &world_application);
    check(pawl_sender_open(STORE, NULL, &fixture.sender, &error), &error);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    test_fixture *fixture = *state;
    pawl_sender_close(fixture->sender);
    pawl_endpoint_destroy(fixture->world);
    pawl_endpoint_destroy(fixture->orders);
    pawl_arena_destroy(fixture->arena);
    pawl_clock_destroy(fixture->clock);
    return 0;
}

/* Both endpoints until neither has anything to do. */
static void drain(const test_fixture *fixture)
{
    pawl_step  orders_step, world_step;
    pawl_error error = PAWL_ERROR_INIT;
    do {
        check(pawl_endpoint_drain(fixture->orders, &orders_step, &error), &error);
        check(pawl_endpoint_drain(fixture->world, &world_step, &error), &error);
    } while (orders_step.handled + world_step.handled > 0);
}

static void move_to(const test_fixture *fixture, int64_t after_start)
{
    pawl_clock_set(fixture->clock, START + after_start);
    drain(fixture);
}

/* A message that is due by the test's clock, not by the machine's. */
static void send_message(const test_fixture *fixture, const pawl_record *record,
                         const void *message)
{
    pawl_error        error   = PAWL_ERROR_INIT;
    pawl_send_options options = {PAWL_SEND_OPTIONS_INIT, .due = pawl_clock_now(fixture->clock)};
    check(pawl_sender_send(fixture->sender, "orders", &options, record, message, &error), &error);
    check(pawl_sender_commit(fixture->sender, &error), &error);
}

static void place(const test_fixture *fixture, const char *order_id, const char *warehouse)
{
    send_message(fixture, PAWL_MESSAGE(place_order, .order_id = pawl_text_of(order_id),
                                       .warehouse = pawl_text_of(warehouse), .total_cents = 4200));
    drain(fixture);
}

static void pay(const test_fixture *fixture, const char *order_id, int64_t cents)
{
    send_message(fixture,
                 PAWL_MESSAGE(payment_taken, .order_ref = pawl_text_of(order_id), .cents = cents));
    drain(fixture);
}

/* The order's state as JSON, "" when there is no such order. */
static const char *order_state_of(const test_fixture *fixture, const char *order_id)
{
    pawl_error error   = PAWL_ERROR_INIT;
    pawl_text  data    = {NULL, 0};
    int64_t    version = 0;
    pawl_value value   = pawl_value_text(pawl_text_of(order_id));
    check(pawl_endpoint_saga(fixture->orders, "OrderSaga", &value, fixture->arena, &data, &version,
                             &error),
          &error);
    return version > 0 ? data.data : "";
}

static int64_t order_count(const test_fixture *fixture)
{
    pawl_error error = PAWL_ERROR_INIT;
    int64_t    count = -1;
    check(pawl_endpoint_saga_count(fixture->orders, "OrderSaga", &count, &error), &error);
    return count;
}

static pawl_stats count_all(const test_fixture *fixture)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_stats found;
    check(pawl_endpoint_stats(fixture->orders, fixture->arena, &found, &error), &error);
    return found;
}

/* ---- The tests -------------------------------------------------------------- */

static void placing_charges_the_card(void **state)
{
    test_fixture *fixture = *state;
    place(fixture, "o-1", "north");
    assert_string_equal(order_state_of(fixture, "o-1"),
                        "{\"order_id\":\"o-1\",\"warehouse\":\"north\",\"total_cents\":4200}");
    assert_int_equal(fixture->seen.charged, 1);
    assert_int_equal(fixture->seen.cents, 4200);
    assert_int_equal(count_all(fixture).timeouts_pending, 1);
}

static void placing_twice_charges_once(void **state)
{
    test_fixture *fixture = *state;
    place(fixture, "o-1", "north");
    place(fixture, "o-1", "south");
    assert_int_equal(fixture->seen.charged, 1);
    assert_int_equal(order_count(fixture), 1);
    assert_non_null(strstr(order_state_of(fixture, "o-1"), "north"));
}

static void a_paid_order_is_not_cancelled(void **state)
{
    test_fixture *fixture = *state;
    place(fixture, "o-1", "north");
    pay(fixture, "o-1", 4200);
    assert_non_null(strstr(order_state_of(fixture, "o-1"), "\"stage\":\"paid\""));
    assert_int_equal(count_all(fixture).timeouts_pending, 0);
    move_to(fixture, PAWL_MINUTES(15));
    assert_int_equal(fixture->seen.cancelled, 0);
    assert_int_equal(order_count(fixture), 1);
}

static void an_unpaid_order_is_cancelled_after_15_minutes(void **state)
{
    test_fixture *fixture = *state;
    place(fixture, "o-1", "north");
    move_to(fixture, PAWL_MINUTES(15) - 1);
    assert_int_equal(fixture->seen.cancelled, 0);
    assert_int_equal(order_count(fixture), 1);
    move_to(fixture, PAWL_MINUTES(15));
    assert_int_equal(fixture->seen.cancelled, 1);
    assert_string_equal(order_state_of(fixture, "o-1"), "");
}

static void a_payment_after_that_goes_back(void **state)
{
    test_fixture *fixture = *state;
    place(fixture, "o-1", "north");
    move_to(fixture, PAWL_MINUTES(15));
    pay(fixture, "o-1", 4200);
    assert_int_equal(fixture->seen.refunded, 1);
    assert_int_equal(fixture->seen.cents, 4200);
    assert_int_equal(order_count(fixture), 0);
}

static void too_little_money_is_a_dead_letter(void **state)
{
    test_fixture *fixture = *state;
    place(fixture, "o-1", "north");
    pay(fixture, "o-1", 4199);
    assert_int_equal(count_all(fixture).dead, 1);
    assert_null(strstr(order_state_of(fixture, "o-1"), "paid"));
    pay(fixture, "o-1", 4200);
    assert_non_null(strstr(order_state_of(fixture, "o-1"), "paid"));
}

static void paid_orders(const test_fixture *fixture, int first, int last, const char *warehouse)
{
    for (int i = first; i <= last; i++) {
        char id[20];
        snprintf(id, sizeof id, "o-%d", i);
        place(fixture, id, warehouse);
        pay(fixture, id, 4200);
    }
}

static void ten_orders_of_a_warehouse_leave_together(void **state)
{
    test_fixture *fixture = *state;
    paid_orders(fixture, 1, 9, "north");
    paid_orders(fixture, 11, 15, "south");
    assert_int_equal(fixture->seen.shipments, 0);
    paid_orders(fixture, 10, 10, "north");
    assert_int_equal(fixture->seen.shipments, 1);
    assert_int_equal(fixture->seen.shipment_size, 10);
    assert_string_equal(fixture->seen.warehouse, "north");
    assert_int_equal(fixture->seen.shipped, 10);
    assert_int_equal(order_count(fixture), 5);
}

static void fewer_orders_leave_after_an_hour(void **state)
{
    test_fixture *fixture = *state;
    paid_orders(fixture, 1, 3, "north");
    move_to(fixture, PAWL_HOURS(1) - 1);
    assert_int_equal(fixture->seen.shipments, 0);
    move_to(fixture, PAWL_HOURS(1));
    assert_int_equal(fixture->seen.shipments, 1);
    assert_int_equal(fixture->seen.shipment_size, 3);
    assert_int_equal(order_count(fixture), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(placing_charges_the_card),
        TEST(placing_twice_charges_once),
        TEST(a_paid_order_is_not_cancelled),
        TEST(an_unpaid_order_is_cancelled_after_15_minutes),
        TEST(a_payment_after_that_goes_back),
        TEST(too_little_money_is_a_dead_letter),
        TEST(ten_orders_of_a_warehouse_leave_together),
        TEST(fewer_orders_leave_after_an_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
