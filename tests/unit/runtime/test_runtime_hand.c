/* test_runtime_hand.c - the call that a thread has in hand: which calls are told as long, when and
 * how often, and what giving a thread up says of it. E29, O29.
 *
 * Time is the endpoint's machine clock, which the test sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/app_call.h"

#include "runtime/runtime.h"
#include "support/world.h"

PAWL_RECORD(tick, A_NUMBER);

IDLE_MESSAGE_HANDLER(on_tick, tick);

static const pawl_application application =
    ONE_ENDPOINT("hands", .name = "plain", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_tick)}));

static const pawl__call call = {.what = "message",
                                .id   = PAWL_TEXT_INIT("m-1"),
                                .type = PAWL_TEXT_INIT("tick"),
                                .kind = "handler",
                                .name = "on_tick"};

static struct {
    world          it;
    pawl__app_call hand;
    char           lines[1000]; /* of the log, each with its level */
    int            critical_calls;
    bool           was_busy; /* in the critical action */
} t;

static void note_line(pawl_log_level level, const char *text, void *context)
{
    size_t size = strlen(t.lines);
    snprintf(t.lines + size, sizeof t.lines - size, "%s: %s\n",
             level == PAWL_LOG_WARNING ? "warning" : "other", text);
}

static void critical(void *context, const char *what, const pawl_error *error)
{
    assert_ptr_equal(context, &t);
    assert_string_equal(what, "retention");
    assert_string_equal(error->text, "why");
    t.critical_calls++;
    t.was_busy = t.hand.is_busy;
}

static void end(void *context)
{
    world_quiet();
    pawl__app_call_destroy(&t.hand);
    world_close(&t.it);
}

static void begin(void)
{
    memset(&t, 0, sizeof t);
    world_quiet();
    world_open(&t.it, "memory:hands", &application, NULL,
               &(pawl_endpoint_options){.critical = critical, .critical_context = &t});
    pawl__app_call_init(&t.hand);
    pawl_log_set(note_line, PAWL_LOG_INFO, NULL);
    test_later(end, &t);
}

static void pass(int64_t time)
{
    pawl_clock_set(t.it.machine, pawl_clock_now(t.it.machine) + time);
}

static void expect_lines(const char *lines)
{
    assert_string_equal(t.lines, lines);
    t.lines[0] = '\0';
}

static int64_t watch(void)
{
    return pawl__app_call_watch(&t.hand, t.it.endpoint);
}

/* ---- What takes long ------------------------------------------------------------ */

TEST(o29_a_long_call_is_told_once_and_at_its_end)
{
    begin();
    assert_int_equal(watch(), PAWL_SECONDS(10));
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    pass(PAWL_SECONDS(4));
    assert_int_equal(watch(), PAWL_SECONDS(6));
    pass(PAWL_SECONDS(6) - 1);
    assert_int_equal(watch(), 1);
    expect_lines("");
    pass(1);
    assert_int_equal(watch(), PAWL_SECONDS(10));
    expect_lines("warning: endpoint plain: message m-1 of type tick is in handler on_tick for "
                 "10 s\n");
    pass(PAWL_SECONDS(12));
    assert_int_equal(watch(), PAWL_SECONDS(10));
    expect_lines("");
    assert_true(pawl__app_call_end(&t.hand, t.it.endpoint));
    expect_lines("other: endpoint plain: message m-1 of type tick was in handler on_tick for "
                 "22 s\n");
    pass(PAWL_SECONDS(30));
    assert_int_equal(watch(), PAWL_SECONDS(10));
    expect_lines("");
    /* The next one is looked at by itself. */
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    pass(PAWL_SECONDS(10));
    (void)watch();
    expect_lines("warning: endpoint plain: message m-1 of type tick is in handler on_tick for "
                 "10 s\n");
}

TEST(o29_a_short_call_is_not_told)
{
    begin();
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    pass(PAWL_SECONDS(10) - 1);
    assert_true(pawl__app_call_end(&t.hand, t.it.endpoint));
    expect_lines("");
}

/* Nobody looked meanwhile; and it is about no message. */
TEST(o29_a_long_call_that_was_not_watched_is_told_at_its_end)
{
    static const pawl__call bare     = {.kind = "the critical action for", .name = "retention"};
    static const pawl__call outbound = {.kind = "an outbound transport"};
    begin();
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &bare));
    pass(PAWL_SECONDS(10));
    assert_true(pawl__app_call_end(&t.hand, t.it.endpoint));
    expect_lines("warning: endpoint plain: a thread was in the critical action for retention for "
                 "10 s\n");
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &outbound));
    pass(PAWL_SECONDS(11));
    assert_true(pawl__app_call_end(&t.hand, t.it.endpoint));
    expect_lines("warning: endpoint plain: a thread was in an outbound transport for 11 s\n");
}

/* ---- Heartbeats --------------------------------------------------------------------- */

static bool needs_beat(void)
{
    pawl_worker_id worker;
    return pawl__app_call_needs_heartbeat(&t.hand, t.it.endpoint, &worker);
}

/* Only in the application's code, and no longer than a handler may take, which is five minutes. */
TEST(a_worker_of_heartbeats_needs_them_while_its_handler_may_run)
{
    begin();
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    assert_false(needs_beat());
    t.hand.has_heartbeats = true;
    assert_true(needs_beat());
    pass(PAWL_MINUTES(5) - 1);
    assert_true(needs_beat());
    pass(1);
    assert_false(needs_beat());
    assert_true(pawl__app_call_end(&t.hand, t.it.endpoint));
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    assert_true(needs_beat());
    assert_true(pawl__app_call_end(&t.hand, t.it.endpoint));
    assert_false(needs_beat());
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    (void)pawl__app_call_give_up(&t.hand, t.it.endpoint, (char[PAWL__APP_CALL_TEXT_SIZE]){0},
                                 &(bool){false}, &(pawl_worker_id){0});
    assert_false(needs_beat());
}

/* ---- Giving up ------------------------------------------------------------------- */

typedef struct given_up {
    bool           is_given_up, has_worker;
    pawl_worker_id worker;
    char           text[PAWL__APP_CALL_TEXT_SIZE];
} given_up;

static given_up give_up(void)
{
    given_up result    = {.text = ""};
    result.is_given_up = pawl__app_call_give_up(&t.hand, t.it.endpoint, result.text,
                                                &result.has_worker, &result.worker);
    return result;
}

TEST(e29_a_thread_in_a_call_is_given_up_by_its_name)
{
    begin();
    assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    pass(PAWL_SECONDS(3));
    assert_false(pawl__app_call_is_given_up(&t.hand));
    given_up result = give_up();
    assert_true(result.is_given_up);
    assert_false(result.has_worker);
    assert_string_equal(result.text, "message m-1 of type tick is in handler on_tick for 3 s");
    assert_true(pawl__app_call_is_given_up(&t.hand));
    pass(PAWL_SECONDS(30));
    assert_false(pawl__app_call_end(&t.hand, t.it.endpoint));
    expect_lines("");
    assert_false(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
    assert_false(pawl__app_call_finish(&t.hand));
}

TEST(e29_a_thread_without_a_call_waits_for_its_store)
{
    begin();
    given_up result = give_up();
    assert_true(result.is_given_up);
    assert_string_equal(result.text, "a thread waits for its store, which does not answer");
    pawl__app_call_set_waits(&t.hand, PAWL__WAITS_FOR_BROKER);
    assert_string_equal(give_up().text, "the thread that reads the broker waits for it");
    pawl__app_call_set_waits(&t.hand, NULL);
    assert_string_equal(give_up().text, "a thread waits for its store, which does not answer");
}

static atomic_int interrupted;

static void interrupt(pawl_store *store)
{
    atomic_fetch_add(&interrupted, 1);
}

/* A handler may use the store, and what it does is not to be undone. */
TEST(e29_a_thread_is_interrupted_outside_of_calls)
{
    static const int      wanted[] = {0, 1, 1, 2, 2};
    const pawl_store_ops *ops;
    pawl_store_ops        told;
    begin();
    ops            = t.it.store->ops;
    told           = *ops;
    told.interrupt = interrupt;
    atomic_store(&interrupted, 0);
    t.it.store->ops = &told;
    for (int i = 0; i < 5; i++) {
        if (i == 1)
            pawl__app_call_set_worker(&t.hand, t.it.store);
        if (i == 2)
            assert_true(pawl__app_call_begin(&t.hand, t.it.endpoint, &call));
        if (i == 3)
            assert_true(pawl__app_call_end(&t.hand, t.it.endpoint));
        if (i == 4)
            assert_true(pawl__app_call_finish(&t.hand));
        pawl__app_call_interrupt(&t.hand);
        assert_int_equal(atomic_load(&interrupted), wanted[i]);
    }
    t.it.store->ops = ops;
}

TEST(e29_a_thread_that_finished_is_not_given_up)
{
    begin();
    assert_false(pawl__app_call_is_finished(&t.hand));
    assert_true(pawl__app_call_finish(&t.hand));
    assert_true(pawl__app_call_is_finished(&t.hand));
    given_up result = give_up();
    assert_false(result.is_given_up);
    assert_string_equal(result.text, "");
    assert_false(pawl__app_call_is_given_up(&t.hand));
}

TEST(e29_the_worker_to_end_is_the_last_one)
{
    begin();
    pawl_store       *other    = test_open("memory:hands");
    pawl_store *const stores[] = {t.it.store, other};
    for (size_t i = 0; i < 2; i++) {
        pawl__app_call_set_worker(&t.hand, stores[i]);
        given_up result = give_up();
        assert_true(result.has_worker);
        assert_int_equal(pawl_uuid_compare(result.worker.uuid, pawl_store_worker(stores[i]).uuid),
                         0);
    }
    pawl__app_call_set_worker(&t.hand, NULL);
    assert_false(give_up().has_worker);
}

TEST(o29_the_critical_action_is_a_call_in_hand)
{
    const pawl_error why = {.code = PAWL_EBUSY, .text = "why"};
    begin();
    pawl__app_call_critical(&t.hand, t.it.endpoint, "retention", &why);
    assert_int_equal(t.critical_calls, 1);
    assert_true(t.was_busy);
    assert_string_equal(give_up().text, "a thread waits for its store, which does not answer");
    pawl__app_call_critical(&t.hand, t.it.endpoint, "retention", &why);
    assert_int_equal(t.critical_calls, 1);
}
