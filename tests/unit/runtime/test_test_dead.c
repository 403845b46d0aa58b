/* test_test_dead.c - dead letters in the users' test kit: retried, edited and discarded.
 *
 * E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/pawl.h"
#include "pawl/test.h"
#include "support/tests.h"

/* ---- Two endpoints that reject what is negative, until they are patient ----------- */

RECORD(bill, (INT32, cents, .required = true));

static bool is_patient;
static char paid[200];

static pawl_code on_bill(pawl_context *ctx, const bill *message)
{
    if (message->cents < 0 && !is_patient)
        return pawl_fail(ctx, PAWL_REJECT, "%d cents", (int)message->cents);
    size_t used = strlen(paid);
    snprintf(paid + used, sizeof paid - used, "%d ", (int)message->cents);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_bill, bill);

static const pawl_endpoint_spec shop  = {.name     = "shop",
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_bill)})};
static const pawl_endpoint_spec bank  = {.name     = "bank",
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_bill)})};
static const pawl_application   bills = APPLICATION("bills", &shop, &bank);

static pawl_test *open_bills(void)
{
    is_patient = false;
    paid[0]    = '\0';
    return test_kit(&bills, NULL);
}

static void deliver(pawl_test *test, const char *queue, const char *id, int cents)
{
    pawl_send_options as = {PAWL_SEND_OPTIONS_HEAD, .id = id};
    must(pawl_test_deliver_with(test, queue, &as, PAWL_MESSAGE(bill, .cents = cents),
                                world_error()));
}

static size_t letters_of(pawl_test *test, const char *endpoint)
{
    pawl_dead_rows rows;
    assert_int_equal(pawl_test_dead(test, endpoint, &rows, NULL), PAWL_OK);
    return rows.count;
}

TEST(e34_a_retried_letter_is_handled_under_its_own_id)
{
    pawl_test *test = open_bills();
    deliver(test, "shop", "b-1", -5);
    assert_int_equal(letters_of(test, "shop"), 1);
    assert_int_equal(pawl_test_dead_retry(test, "shop", "b-1", NULL), PAWL_OK);
    assert_int_equal(letters_of(test, "shop"), 1); /* given up again */
    is_patient = true;
    assert_int_equal(pawl_test_dead_retry(test, "shop", "b-1", NULL), PAWL_OK);
    assert_int_equal(letters_of(test, "shop"), 0);
    deliver(test, "shop", "b-1", 7); /* dropped: its id was handled */
    assert_string_equal(paid, "-5 ");
}

TEST(e34_an_edited_letter_is_handled_with_its_new_body)
{
    pawl_test *test = open_bills();
    deliver(test, "shop", "b-1", -5);
    assert_int_equal(pawl_test_dead_edit(test, "shop", "b-1", "{\"cents\":", NULL), PAWL_OK);
    assert_int_equal(letters_of(test, "shop"), 1); /* no JSON: given up again */
    assert_int_equal(pawl_test_dead_edit(test, "shop", "b-1", "{\"cents\":5}", NULL), PAWL_OK);
    assert_int_equal(letters_of(test, "shop"), 0);
    assert_string_equal(paid, "5 ");
}

TEST(e34_a_discarded_letter_is_not_handled)
{
    pawl_test *test = open_bills();
    deliver(test, "shop", "b-1", -5);
    is_patient = true;
    assert_int_equal(pawl_test_dead_discard(test, "shop", "b-1", NULL), PAWL_OK);
    assert_int_equal(letters_of(test, "shop"), 0);
    deliver(test, "shop", "b-1", -5);
    assert_string_equal(paid, "");
}

TEST(the_endpoint_is_named_when_two_gave_a_message_up)
{
    pawl_test *test = open_bills();
    deliver(test, "shop", "b-1", -5);
    deliver(test, "bank", "b-2", -6);
    deliver(test, "bank", "b-1", -7);
    is_patient = true;
    must_fail(pawl_test_dead_retry(test, NULL, "b-1", world_error()), PAWL_EINVAL,
              "message b-1 is a dead letter of several endpoints: say of which");
    assert_int_equal(pawl_test_dead_retry(test, NULL, "b-2", NULL), PAWL_OK);
    must_fail(pawl_test_dead_retry(test, "shop", "b-2", world_error()), PAWL_EGONE,
              "message b-2 is not a dead letter");
    assert_int_equal(pawl_test_dead_retry(test, "bank", "b-1", NULL), PAWL_OK);
    assert_int_equal(pawl_test_dead_discard(test, NULL, "b-1", NULL), PAWL_OK);
    assert_string_equal(paid, "-6 -7 ");
}

TEST(a_letter_is_settled_by_its_own_id)
{
    pawl_test *test = open_bills();
    deliver(test, "shop", "b-1", -5);
    must_fail(pawl_test_dead_discard(test, NULL, "", world_error()), PAWL_EINVAL,
              "no id of a message is given");
    assert_int_equal(pawl_test_dead_discard(test, "shop", NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_test_dead_retry(test, NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_test_dead_edit(test, NULL, "", "{\"cents\":5}", NULL), PAWL_EINVAL);
    assert_int_equal(letters_of(test, "shop"), 1);
}

static void say_nothing(pawl_log_level level, const char *text, void *context)
{
}

int main(void)
{
    pawl_log_set(say_nothing, PAWL_LOG_ERROR, NULL);
    return tests_run(NULL, NULL);
}
