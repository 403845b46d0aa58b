/* test_example_orders.c - the orders of examples/orders under the test kit.
 *
 * This is how an application is tested: deliver, advance, look. Messages for "billing" and
 * "carrier" stay in their queues, and the events are watched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The application is part of the program under test, as it is in an ordinary one. */
#include "../../../examples/orders/orders.c"

#include "pawl/test.h"
#include "support/tests.h"

#define CASE(function) \
    TESTS(function, void **state, cmocka_unit_test_setup_teardown(function, set_up, tear_down))

#define BILLING "billing"
#define CARRIER "carrier"

static void check(pawl_code code, const pawl_error *error)
{
    if (code != PAWL_OK)
        fail_msg("%s: %s", pawl_code_name(code), error->text);
}

static int set_up(void **state)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_test *test  = NULL;
    check(pawl_test_create(&orders_application, NULL, &test, &error), &error);
    check(pawl_test_watch(test, PAWL_RECORD_OF(order_cancelled), &error), &error);
    check(pawl_test_watch(test, PAWL_RECORD_OF(order_shipped), &error), &error);
    *state = test;
    return 0;
}

static int tear_down(void **state)
{
    pawl_test_destroy(*state);
    return 0;
}

static void place(pawl_test *test, const char *order_id, const char *warehouse)
{
    pawl_error error = PAWL_ERROR_INIT;
    check(pawl_test_deliver(test, NULL,
                            PAWL_MESSAGE(place_order, .order_id = pawl_text_of(order_id),
                                         .warehouse = pawl_text_of(warehouse), .total_cents = 4200),
                            &error),
          &error);
}

static void pay(pawl_test *test, const char *order_id, int64_t cents)
{
    pawl_error error = PAWL_ERROR_INIT;
    check(pawl_test_deliver(
              test, NULL,
              PAWL_MESSAGE(payment_taken, .order_ref = pawl_text_of(order_id), .cents = cents),
              &error),
          &error);
}

/* To so long after the first message of the test. */
static void move_to(pawl_test *test, int64_t after_start)
{
    pawl_error error = PAWL_ERROR_INIT;
    check(pawl_test_advance_to(test, PAWL_TEST_START + after_start, &error), &error);
}

/* ---- What is there ---------------------------------------------------------- */

static size_t count_sent(pawl_test *test, const char *queue, pawl_record_fn *record)
{
    pawl_error error = PAWL_ERROR_INIT;
    size_t     count = 0;
    check(pawl_test_count(test, queue, record, &count, &error), &error);
    return count;
}

static order_state order_of(pawl_test *test, const char *order_id)
{
    pawl_error  error = PAWL_ERROR_INIT;
    order_state order;
    check(pawl_test_saga(test, "OrderSaga", order_id, PAWL_RECORD_OF(order_state), &order, NULL,
                         &error),
          &error);
    return order;
}

static bool is_there(pawl_test *test, const char *order_id)
{
    pawl_error    error = PAWL_ERROR_INIT;
    pawl_saga_row row;
    pawl_code     code = pawl_test_saga_row(test, "OrderSaga", order_id, &row, &error);
    if (code != PAWL_ENOTFOUND)
        check(code, &error);
    return code == PAWL_OK;
}

static int64_t order_count(pawl_test *test)
{
    pawl_error error = PAWL_ERROR_INIT;
    int64_t    count = -1;
    check(pawl_test_saga_count(test, "OrderSaga", &count, &error), &error);
    return count;
}

static pawl_stats count_all(pawl_test *test)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_stats found = PAWL_STATS_INIT;
    check(pawl_test_stats(test, &found, &error), &error);
    return found;
}

static shipment shipment_at(pawl_test *test, size_t index)
{
    pawl_error error = PAWL_ERROR_INIT;
    shipment   found;
    check(pawl_test_message(test, CARRIER, PAWL_RECORD_OF(shipment), index, &found, &error),
          &error);
    return found;
}

static void assert_text(pawl_text text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

CASE(placing_charges_the_card)
{
    pawl_test        *test  = *state;
    pawl_error        error = PAWL_ERROR_INIT;
    pawl_saga_row     row;
    pawl_timeout_rows timeouts;
    charge_card       charge;
    place(test, "o-1", "north");
    check(pawl_test_saga_row(test, "OrderSaga", "o-1", &row, &error), &error);
    assert_text(row.data, "{\"order_id\":\"o-1\",\"warehouse\":\"north\",\"total_cents\":4200}");
    assert_int_equal(row.version, 1);
    assert_int_equal(count_sent(test, BILLING, PAWL_RECORD_OF(charge_card)), 1);
    check(pawl_test_message(test, BILLING, PAWL_RECORD_OF(charge_card), 0, &charge, &error),
          &error);
    assert_int_equal(charge.cents, 4200);
    assert_text(charge.order_id, "o-1");
    assert_int_equal(count_all(test).timeouts_pending, 1);
    check(pawl_test_timeouts(test, "OrderSaga", "o-1", &timeouts, &error), &error);
    assert_int_equal(timeouts.count, 1);
    assert_text(timeouts.items[0].name, "payment");
    assert_int_equal(timeouts.items[0].due, PAWL_TEST_START + PAWL_MINUTES(15));
}

CASE(placing_twice_charges_once)
{
    pawl_test *test = *state;
    place(test, "o-1", "north");
    place(test, "o-1", "south");
    assert_int_equal(count_sent(test, BILLING, PAWL_RECORD_OF(charge_card)), 1);
    assert_int_equal(order_count(test), 1);
    assert_text(order_of(test, "o-1").warehouse, "north");
}

CASE(a_paid_order_is_not_cancelled)
{
    pawl_test *test = *state;
    place(test, "o-1", "north");
    pay(test, "o-1", 4200);
    assert_int_equal(order_of(test, "o-1").stage, ORDER_PAID);
    assert_int_equal(count_all(test).timeouts_pending, 0);
    move_to(test, PAWL_MINUTES(15));
    assert_int_equal(count_sent(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(order_cancelled)), 0);
    assert_int_equal(count_sent(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(order_shipped)), 1);
}

CASE(an_unpaid_order_is_cancelled_after_15_minutes)
{
    pawl_test *test = *state;
    place(test, "o-1", "north");
    move_to(test, PAWL_MINUTES(15) - 1);
    assert_int_equal(count_sent(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(order_cancelled)), 0);
    assert_int_equal(order_count(test), 1);
    move_to(test, PAWL_MINUTES(15));
    assert_int_equal(count_sent(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(order_cancelled)), 1);
    assert_false(is_there(test, "o-1"));
}

CASE(a_payment_after_that_goes_back)
{
    pawl_test *test  = *state;
    pawl_error error = PAWL_ERROR_INIT;
    refund     back;
    place(test, "o-1", "north");
    move_to(test, PAWL_MINUTES(15));
    pay(test, "o-1", 4200);
    assert_int_equal(count_sent(test, BILLING, PAWL_RECORD_OF(refund)), 1);
    check(pawl_test_message(test, BILLING, PAWL_RECORD_OF(refund), 0, &back, &error), &error);
    assert_int_equal(back.cents, 4200);
    assert_int_equal(order_count(test), 0);
}

CASE(too_little_money_is_a_dead_letter)
{
    pawl_test     *test  = *state;
    pawl_error     error = PAWL_ERROR_INIT;
    pawl_dead_rows dead;
    place(test, "o-1", "north");
    pay(test, "o-1", 4199);
    assert_int_equal(count_all(test).dead, 1);
    check(pawl_test_dead(test, "orders", &dead, &error), &error);
    assert_int_equal(dead.count, 1);
    assert_non_null(strstr(dead.items[0].error.data, "4199 cents paid, 4200 due"));
    assert_int_not_equal(order_of(test, "o-1").stage, ORDER_PAID);
    pay(test, "o-1", 4200);
    assert_int_equal(order_of(test, "o-1").stage, ORDER_PAID);
}

static void paid_orders(pawl_test *test, int first, int last, const char *warehouse)
{
    for (int i = first; i <= last; i++) {
        const char *id = test_text("o-%d", i);
        place(test, id, warehouse);
        pay(test, id, 4200);
    }
}

CASE(ten_orders_of_a_warehouse_leave_together)
{
    pawl_test        *test  = *state;
    pawl_error        error = PAWL_ERROR_INIT;
    pawl_leased_batch rows;
    paid_orders(test, 1, 9, "north");
    paid_orders(test, 11, 15, "south");
    assert_int_equal(count_sent(test, CARRIER, PAWL_RECORD_OF(shipment)), 0);
    check(pawl_test_aggregated(test, "shipping/north", &rows, &error), &error);
    assert_int_equal(rows.count, 9);
    paid_orders(test, 10, 10, "north");
    assert_int_equal(count_sent(test, CARRIER, PAWL_RECORD_OF(shipment)), 1);
    assert_int_equal(shipment_at(test, 0).order_ids.count, 10);
    assert_text(shipment_at(test, 0).warehouse, "north");
    assert_int_equal(count_sent(test, PAWL_TEST_EVENTS, PAWL_RECORD_OF(order_shipped)), 10);
    assert_int_equal(order_count(test), 5);
}

CASE(fewer_orders_leave_after_half_a_minute)
{
    pawl_test *test = *state;
    paid_orders(test, 1, 3, "north");
    move_to(test, PAWL_SECONDS(30) - 1);
    assert_int_equal(count_sent(test, CARRIER, PAWL_RECORD_OF(shipment)), 0);
    move_to(test, PAWL_SECONDS(30));
    assert_int_equal(count_sent(test, CARRIER, PAWL_RECORD_OF(shipment)), 1);
    assert_int_equal(shipment_at(test, 0).order_ids.count, 3);
    assert_int_equal(order_count(test), 0);
}
