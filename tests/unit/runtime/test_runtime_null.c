/* test_runtime_null.c - NULL in place of a message, a function, an endpoint, a run, a sender or a clock: a code, or
 * nothing, and no crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "pawl/process.h"
#include "pawl/test.h"
#include "support/tests.h"

#include <string.h>

RECORD(job, (TEXT, name, .required = true));
RECORD(job_state, (TEXT, name));

typedef pawl_code misuse_fn(pawl_context *ctx);

static misuse_fn *misuse;
static pawl_code  answer;

static pawl_code on_job(pawl_context *ctx, job_state *saga, const job *message)
{
    answer = misuse(ctx);
    return PAWL_OK;
}
PAWL_HANDLER(on_job, job_state, job);

static const pawl_saga work = SAGA_OF(
    "Work", job_state, "name", {.handle = PAWL_HANDLE(on_job), .key = "name", .starts = true});
static const pawl_application app =
    ONE_ENDPOINT("null", .name = "shop", .sagas = PAWL_SAGAS(&work));

/* ---- In a handler ------------------------------------------------------------------ */

static pawl_code send_nothing(pawl_context *ctx)
{
    return pawl_send(ctx, "q", NULL, NULL);
}

static pawl_code send_no_struct(pawl_context *ctx)
{
    return pawl_send(ctx, "q", PAWL_RECORD_OF(job)(), NULL);
}

static pawl_code send_nothing_now(pawl_context *ctx)
{
    return pawl_send_now(ctx, "q", NULL, NULL);
}

static pawl_code publish_nothing(pawl_context *ctx)
{
    return pawl_publish(ctx, NULL, NULL);
}

static pawl_code reply_nothing(pawl_context *ctx)
{
    return pawl_reply_to_originator(ctx, NULL, NULL);
}

static pawl_code emit_nothing(pawl_context *ctx)
{
    return pawl_emit(ctx, NULL, NULL);
}

static pawl_code call_nothing(pawl_context *ctx)
{
    return pawl_before_commit(ctx, NULL, NULL);
}

static pawl_code ask_nothing(pawl_context *ctx)
{
    return pawl_saga_metadata(ctx, NULL).data == NULL ? PAWL_OK : PAWL_EBUG;
}

/* Runs the call in a handler: the code that it answered, and its error where the message failed. */
static void expect_in_handler(misuse_fn *fn, pawl_code code, const char *part)
{
    pawl_endpoint_options options = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_test_options     of      = PAWL_TEST_OPTIONS_INIT;
    pawl_dead_rows        letters;
    misuse = fn, answer = PAWL_EBUG;
    options.immediate_retries = options.delayed_retries = PAWL_NONE;
    of.endpoint                                         = &options;
    pawl_test *test                                     = test_kit(&app, &of);
    must(pawl_test_deliver(test, NULL, PAWL_MESSAGE(job, .name = PAWL_TEXT("1")), world_error()));
    assert_int_equal(answer, code);
    must(pawl_test_dead(test, NULL, &letters, world_error()));
    assert_int_equal(letters.count, code != PAWL_OK);
    if (code != PAWL_OK)
        assert_non_null(strstr(letters.items[0].error.data, part));
}

TEST(null_in_a_handler_fails_its_message)
{
    expect_in_handler(send_nothing, PAWL_EINVAL, "type of a message has 0 bytes");
    expect_in_handler(send_no_struct, PAWL_EINVAL, "message job: job: the struct is NULL");
    expect_in_handler(send_nothing_now, PAWL_EINVAL, "type of a message has 0 bytes");
    expect_in_handler(publish_nothing, PAWL_EINVAL, "type of a message has 0 bytes");
    expect_in_handler(reply_nothing, PAWL_EINVAL, "has no saga that was begun by");
    expect_in_handler(emit_nothing, PAWL_EINVAL, "no process or entity to emit it for");
    expect_in_handler(call_nothing, PAWL_EINVAL, "pawl_before_commit: the function is NULL");
    expect_in_handler(ask_nothing, PAWL_OK, NULL);
}

/* ---- Outside of handlers ------------------------------------------------------------ */

/* Signal handlers may stop what is not created yet. */
TEST(a_stop_of_null_does_nothing)
{
    pawl_endpoint_stop(NULL);
    pawl_run_stop(NULL);
    pawl_sender_clear(NULL);
    pawl_clock_set(NULL, 1);
}

TEST(an_endpoint_that_was_not_created_does_not_run)
{
    size_t count = 0;
    must_fail(pawl_endpoint_run(NULL, world_error()), PAWL_EINVAL, "the endpoint is NULL");
    assert_int_equal(pawl_endpoint_step(NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_endpoint_drain(NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_endpoint_receive(NULL, 0, &count, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_endpoint_flush(NULL, "A", NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_endpoint_abandoned(NULL), 0);
    assert_int_equal(pawl_endpoint_observe_port(NULL), 0);
    assert_int_equal(pawl_endpoint_wake_fd(NULL), -1);
}

TEST(an_endpoint_that_was_not_created_answers_nothing)
{
    pawl_stats stats;
    pawl_text  data;
    int64_t    number;
    assert_int_equal(pawl_endpoint_saga(NULL, "Work", NULL, NULL, &data, &number, NULL),
                     PAWL_EINVAL);
    assert_int_equal(pawl_endpoint_saga_count(NULL, "Work", &number, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_endpoint_stats(NULL, NULL, &stats, NULL), PAWL_EINVAL);
}

TEST(a_sender_that_was_not_opened_sends_nothing)
{
    must_fail(pawl_sender_send(NULL, "q", NULL, PAWL_MESSAGE(job), world_error()), PAWL_EINVAL,
              "the sender is NULL");
    assert_int_equal(pawl_sender_send_json(NULL, "q", NULL, "t", PAWL_TEXT("{}"), NULL),
                     PAWL_EINVAL);
    assert_int_equal(pawl_sender_publish(NULL, NULL, PAWL_MESSAGE(job), NULL), PAWL_EINVAL);
    assert_int_equal(pawl_sender_start(NULL, &app, NULL, PAWL_MESSAGE(job), NULL), PAWL_EINVAL);
    assert_int_equal(pawl_sender_commit(NULL, NULL), PAWL_EINVAL);
}

TEST(a_sender_refuses_a_message_that_is_null)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_sender       *sender  = NULL;
    must(pawl_sender_open("memory:null", &options, &sender, world_error()));
    must_fail_with(pawl_sender_send(sender, "q", NULL, NULL, NULL, world_error()), PAWL_EINVAL,
                   "the record is NULL");
    must_fail_with(pawl_sender_send(sender, "q", NULL, PAWL_RECORD_OF(job)(), NULL, world_error()),
                   PAWL_EINVAL, "job: the struct is NULL");
    assert_int_equal(pawl_sender_publish(sender, NULL, NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_sender_start(sender, &app, NULL, NULL, NULL, NULL), PAWL_EINVAL);
    pawl_sender_close(sender);
}

TEST(a_test_kit_watches_no_record_that_is_null)
{
    assert_int_equal(pawl_test_watch(test_kit(&app, NULL), NULL, NULL), PAWL_EINVAL);
}

static void say_nothing(pawl_log_level level, const char *text, void *context)
{
}

int main(void)
{
    pawl_log_set(say_nothing, PAWL_LOG_ERROR, NULL);
    return tests_run(NULL, NULL);
}
