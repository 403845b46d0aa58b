/* test_test_outbox.c - the users' test kit and the outbox: one long advance stops at each
 * retry of a delivery, among all else that becomes due on the way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/pawl.h"
#include "pawl/test.h"
#include "pawl/transport.h"
#include "support/tests.h"

RECORD(job_state, (INT64, job));
RECORD(begin, (INT64, job));
RECORD(note, (INT64, job));

static pawl_test *test;
static char       seen[400]; /* "note1@3 " is a delivery of job 1 three seconds after the start */
static int        failures;  /* deliveries that fail before one succeeds */

static void add_seen(const char *what, int64_t job)
{
    size_t    size   = strlen(seen);
    long long second = (long long)((pawl_test_now(test) - PAWL_TEST_START) / PAWL_SECONDS(1));
    snprintf(seen + size, sizeof seen - size, "%s%lld@%lld ", what, (long long)job, second);
}

static pawl_code on_begin(pawl_context *ctx, job_state *state, const begin *message)
{
    pawl_timeout(ctx, "late", PAWL_SECONDS(20));
    return pawl_send(ctx, "partner", PAWL_MESSAGE(note, .job = message->job));
}
PAWL_HANDLER(on_begin, job_state, begin);

static pawl_code on_late(pawl_context *ctx, job_state *state)
{
    add_seen("late", state->job);
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_late, job_state);

static const pawl_saga jobs = SAGA_OF(
    "Job", job_state, "job", {.handle = PAWL_HANDLE(on_begin), .key = "job", .starts = true},
    {.handle = PAWL_HANDLE(on_late), .timeout = "late"});

static const pawl_application application =
    ONE_ENDPOINT("desk", .name = "desk", .sagas = PAWL_SAGAS(&jobs));

static pawl_code receive(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        long long job = 0;
        sscanf(items[i].message.body.data, "{\"job\":%lld", &job);
        add_seen("note", job);
        items[i].outcome = failures-- > 0 ? PAWL_ATTEMPT_TRANSIENT : PAWL_ATTEMPT_SUCCESS;
    }
    return PAWL_OK;
}
static const pawl_transport_ops partner = PAWL_OUTBOUND(receive);

static void open_desk(int failed, int32_t attempts)
{
    static const pawl_route routes[] = {{.name = "partner", .outbound = &partner}, {.name = NULL}};
    /* With jitter two of them are less than 5 s. */
    const pawl_endpoint_options options = {.options_size     = sizeof options,
                                           .routes           = routes,
                                           .outbox_attempts  = attempts,
                                           .outbox_delay     = PAWL_MILLISECONDS(2250),
                                           .outbox_delay_max = PAWL_MILLISECONDS(2250)};
    const pawl_test_options     kit     = {.options_size = sizeof kit, .endpoint = &options};
    seen[0]                             = '\0';
    failures                            = failed;
    test                                = test_kit(&application, &kit);
}

static void begin_job(int64_t job)
{
    assert_int_equal(pawl_test_deliver(test, NULL, PAWL_MESSAGE(begin, .job = job), NULL), PAWL_OK);
}

/* Expects that `count` rows are in the state. */
static void expect_outbox(pawl_outbox_state state, size_t count)
{
    pawl_outbox_rows rows;
    assert_int_equal(pawl_test_outbox(test, state, &rows, NULL), PAWL_OK);
    assert_int_equal(rows.count, count);
}

TEST(each_retry_of_a_delivery_runs_at_its_time)
{
    open_desk(2, 0);
    begin_job(1);
    assert_string_equal(seen, "note1@0 ");
    assert_int_equal(pawl_test_advance(test, PAWL_HOURS(1), NULL), PAWL_OK);
    assert_string_equal(seen, "note1@0 note1@2 note1@4 late1@20 ");
    expect_outbox(PAWL_OUTBOX_PENDING, 0);
}

/* The row's last attempt is on the way, too; then nothing waits and nothing stops the clocks. */
TEST(a_delivery_dies_on_the_way)
{
    open_desk(9, 3);
    begin_job(1);
    assert_int_equal(pawl_test_advance(test, PAWL_SECONDS(10), NULL), PAWL_OK);
    assert_string_equal(seen, "note1@0 note1@2 note1@4 ");
    expect_outbox(PAWL_OUTBOX_DEAD, 1);
}

/* A second row waits until later than the first one, and its delivery comes between. */
TEST(of_two_rows_the_earlier_one_stops_the_clocks)
{
    open_desk(4, 0);
    begin_job(1);
    assert_int_equal(pawl_test_advance(test, PAWL_SECONDS(1), NULL), PAWL_OK);
    begin_job(2);
    assert_string_equal(seen, "note1@0 note2@1 ");
    assert_int_equal(pawl_test_advance(test, PAWL_SECONDS(18), NULL), PAWL_OK);
    assert_string_equal(seen, "note1@0 note2@1 note1@2 note2@3 note1@4 note2@5 ");
}

/* An endpoint of its own that is stepped says the same time. */
TEST(a_step_says_when_a_delivery_is_tried_again)
{
    pawl_step step = PAWL_STEP_INIT;
    open_desk(1, 0);
    begin_job(1);
    assert_int_equal(pawl_endpoint_drain(pawl_test_endpoint(test, NULL), &step, NULL), PAWL_OK);
    assert_int_equal((step.next_due - PAWL_TEST_START) / PAWL_SECONDS(1), 2);
    assert_int_equal(pawl_test_advance(test, PAWL_SECONDS(10), NULL), PAWL_OK);
    assert_int_equal(pawl_endpoint_drain(pawl_test_endpoint(test, NULL), &step, NULL), PAWL_OK);
    assert_int_equal((step.next_due - PAWL_TEST_START) / PAWL_SECONDS(1), 20);
}
