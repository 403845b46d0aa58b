/* test_rabbitmq_answers.c - answers of a server to an outbound transport, in an order that a real one seldom has: a
 * server of the test's own speaks as much of AMQP as that needs; and one that leaves a reader waiting. O9, O10, E29.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"
#include "test_rabbitmq_sample.h"

#include "pawl/inbound.h"

#define LARGE 8000000 /* bytes: more than the buffers of a connection have */

TEST(o9_messages_of_one_id_come_back_each)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&(server){.returns = true}, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_TRANSIENT);
    deliver(&(server){.returns = false}, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_SUCCESS);
}

/* No attempt is lost, nothing is sent while it is blocked, and the call ends soon, for the other routes. */
TEST(o10_a_server_that_is_blocked_counts_as_away)
{
    static const char *const places[] = {"begin", "publish"};
    pawl_arena              *arena    = test_arena();
    for (int i = 0; i < 2; i++) {
        server        s = {.blocked_at = places[i]};
        pawl_delivery items[ITEMS];
        pawl_code     code;
        int64_t       time = deliver(&s, items, arena, &code);
        assert_int_equal(code, PAWL_OK);
        for (int j = 0; j < ITEMS; j++)
            assert_int_equal(items[j].outcome, PAWL_ATTEMPT_UNREACHABLE);
        assert_int_equal(s.published, i == 0 ? 0 : ITEMS);
        assert_true(time < 10000); /* a second, and not the 20 of the URL */
    }
}

/* The server reads no more once it said so: the write of a large message ends by its time, and the answer is read
 * then. */
TEST(o10_a_server_that_is_blocked_within_a_large_message_counts_as_away)
{
    pawl_arena *arena = test_arena();
    server s = {.blocked_at = "method", .deaf_at = "method", .body_size = LARGE, .timeout_s = 1};
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "UUU ");
    assert_non_null(strstr(s.error, "connection.blocked"));
}

/* The answer is read before the next large message is written, which would take 20 s. */
TEST(o10_between_large_messages_a_server_that_is_blocked_is_noticed)
{
    pawl_arena *arena = test_arena();
    server s = {.blocked_at = "method", .deaf_at = "body", .body_size = LARGE, .timeout_s = 20};
    pawl_delivery items[ITEMS];
    pawl_code     code;
    int64_t       time = deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "UUU ");
    assert_non_null(strstr(s.error, "connection.blocked"));
    assert_int_equal(s.published, 1);
    assert_true(time < 10000);
}

/* Without a word, which is a silence. */
TEST(o10_a_server_that_reads_no_more_counts_as_away)
{
    pawl_arena   *arena = test_arena();
    server        s     = {.deaf_at = "method", .body_size = LARGE, .timeout_s = 1};
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "UUU ");
    assert_non_null(strstr(s.error, "did not read a message with a body of 8000000 bytes"));
}

/* A message that has its ack is delivered, whatever happens to the others of the call. */
TEST(o10_what_was_confirmed_before_the_connection_was_lost_stands)
{
    static const struct {
        const char          *blocked_at;
        pawl_attempt_outcome others;
    } ends[]          = {{NULL, PAWL_ATTEMPT_TRANSIENT}, {"publish", PAWL_ATTEMPT_UNREACHABLE}};
    pawl_arena *arena = test_arena();
    for (int i = 0; i < 2; i++) {
        server        s = {.acked = 1, .blocked_at = ends[i].blocked_at};
        pawl_delivery items[ITEMS];
        pawl_code     code;
        deliver(&s, items, arena, &code);
        assert_int_equal(code, PAWL_OK);
        assert_int_equal(items[0].outcome, PAWL_ATTEMPT_SUCCESS);
        for (int j = 1; j < ITEMS; j++) {
            assert_int_equal(items[j].outcome, ends[i].others);
            assert_true(items[j].error.size > 0);
        }
    }
}

TEST(o10_a_server_that_was_blocked_gets_the_messages)
{
    server        s     = {.blocked_at = "begin", .is_freed = true};
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_int_equal(s.published, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_SUCCESS);
}

/* Other routes would wait with each row for as long. It is asked with one message at a time, each in its turn. */
TEST(o10_a_server_that_confirms_nothing_counts_as_away)
{
    pawl_arena   *arena = test_arena();
    server        mute  = {.acks_none = true, .timeout_s = 1, .calls = 3};
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&mute, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_UNREACHABLE);
    assert_string_equal(mute.bodies, "01212");
}

/* Its own queue may be the reason. */
TEST(o10_what_is_not_confirmed_while_others_are_loses_an_attempt)
{
    pawl_arena   *arena = test_arena();
    server        s     = {.acked = 1, .stays = true, .timeout_s = 1};
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_int_equal(items[0].outcome, PAWL_ATTEMPT_SUCCESS);
    assert_int_equal(items[1].outcome, PAWL_ATTEMPT_TRANSIENT);
    assert_int_equal(items[2].outcome, PAWL_ATTEMPT_TRANSIENT);
}

/* The server confirms those of others: then what is not confirmed loses attempts, for some calls. */
TEST(o10_a_queue_that_alone_confirms_nothing_does_not_count_as_away)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    server        s = {.queues = "mmmmmqmmmqqqmmmmmmmmmmmm", .timeout_s = 1, .calls = 8};
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "UUU TTS TTT SSS TTT TTT UUU UUU ");
    /* All; one for each queue, then the others; four times all, and once more; one. */
    assert_string_equal(s.bodies, "012"
                                  "12"
                                  "10"
                                  "012"
                                  "012"
                                  "012"
                                  "012"
                                  "012"
                                  "1");
}

/* Some were confirmed long ago, then all: that a server then falls silent is an outage. */
TEST(o10_a_silence_long_after_some_were_confirmed_counts_as_away)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    server        s = {.queues = "qqmqqqmmmmmm", .timeout_s = 1, .calls = 4, .later = 2};
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "SST SSS UUU UUU ");
    assert_string_equal(s.bodies, "012"
                                  "012"
                                  "012"
                                  "1");
}

/* The first of two hosts takes all and confirms nothing, as a node does that is cut off from the others. */
TEST(o10_of_two_hosts_the_one_that_confirms_gets_the_messages)
{
    server mute = {.acks_none = true}, well = {.acks_each = true};
    begin(&mute);
    begin(&well);
    const char *url = test_text(
        "amqp://guest:guest@127.0.0.1:%d,127.0.0.1:%d/?declare=no&timeout=1", mute.port, well.port);
    far *f = far_open_url(url, "q", 1); /* of one attempt none is used up */
    far_send(f, 1, ITEMS);
    assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), ITEMS);
    far_post(f, 4, 1);
    world_go_machine(&f->it, PAWL_MINUTES(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), ITEMS + 1);
    far_send(f, 5, 2);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), ITEMS + 3);
    test_now(f);
    end(&mute);
    end(&well);
    assert_int_equal(mute.published, ITEMS);
    /* The second host gets one message first, as the first host was silent; then the others; then all as they stand. */
    assert_string_equal(well.bodies, "{\"number\":2}{\"number\":3}{\"number\":4}{\"number\":1}"
                                     "{\"number\":5}{\"number\":6}");
}

/* A declaration that is not answered, and a file that is not there: nothing was sent, and of one attempt none is used
 * up. */
TEST(o10_a_call_that_sent_nothing_is_no_attempt)
{
    char   urls[2][200];
    server mute = {.acks_none = true};
    begin(&mute);
    snprintf(urls[0], sizeof urls[0], "amqp://guest:guest@127.0.0.1:%d/?timeout=1", mute.port);
    snprintf(urls[1], sizeof urls[1], "amqps://guest:guest@127.0.0.1:%d/?ssl-ca=/nowhere",
             mute.port);
    for (int i = 0; i < 2; i++) {
        far *f = far_open_url(urls[i], "q", 1);
        far_send(f, 1, 1);
        assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), 1);
        assert_int_equal(world_outbox(&f->it, PAWL_OUTBOX_PENDING).items[0].attempts, 0);
        far_says(f, i == 0 ? "the declaration of 'q'" : "ssl-ca is '/nowhere'");
        test_now(f);
    }
    end(&mute);
    assert_int_equal(mute.published, 0);
}

/* The others are delivered. */
TEST(o10_headers_that_fit_no_frame_of_the_server_are_rejected)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    server        s = {.frame_max = 8192, .has_headers = true, .queues = "qqq"};
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "SRS ");
    assert_non_null(
        strstr(items[1].error.data, "its headers do not fit a frame of 8192 bytes, the frame_max"));
    server wide = {.has_headers = true, .queues = "qqq"};
    deliver(&wide, items, arena, &code);
    assert_string_equal(wide.outcomes, "SSS ");
}

/* A message may be what breaks it. */
TEST(o10_messages_at_which_the_connection_breaks_lose_an_attempt)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&(server){.acks_none = true, .breaks = true}, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_TRANSIENT);
}

static bool was_asked(const server *host)
{
    struct pollfd asked = {.fd = host->listener, .events = POLLIN};
    return poll(&asked, 1, 0) > 0;
}

/* Hosts that accept connections and say nothing: a call, which a stop waits for, takes the time of one, and the next
 * call begins with the next host. */
TEST(o10_a_call_has_the_time_of_one_silent_host)
{
    server     hosts[3] = {{.port = 0}, {.port = 0}, {.port = 0}};
    pawl_error error    = PAWL_ERROR_INIT;
    for (int i = 0; i < 3; i++)
        listen_for(&hosts[i]);
    const char *url =
        test_text("amqp://guest:guest@127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/?connect-timeout=1",
                  hosts[0].port, hosts[1].port, hosts[2].port);
    pawl_transport *transport = open_outbound(url);
    for (int turn = 0; turn < 2; turn++) {
        pawl_delivery item = {.queue   = PAWL_TEXT("q"),
                              .message = {.id             = PAWL_TEXT("m-1"),
                                          .type           = PAWL_TEXT("note"),
                                          .body           = PAWL_TEXT("{}"),
                                          .headers        = PAWL_TEXT(""),
                                          .correlation_id = PAWL_TEXT(""),
                                          .causation_id   = PAWL_TEXT("")}};
        must(transport->ops->deliver(transport, &item, 1, test_arena(), &error));
        assert_int_equal(item.outcome, PAWL_ATTEMPT_UNREACHABLE);
        for (int i = 0; i < 3; i++)
            assert_int_equal(was_asked(&hosts[i]), i <= turn);
    }
    close_outbound(transport);
    for (int i = 0; i < 3; i++)
        close(hosts[i].listener);
}

/* ---- A reader --------------------------------------------------------------------------------- */

/* Takes from the URL in an endpoint that is stopping: an error. */
static void take_while_stopping(const char *url, pawl_error *error)
{
    const pawl_inbound_ops *ops     = NULL;
    pawl_inbound_options    options = {
           .options_size = sizeof options, .queue = "q", .prefetch = 1, .types = NULL};
    pawl_take by = {.count_max = 1, .size_max = 1 << 20, .wait = PAWL_SECONDS(30), .wake_fd = -1};
    pawl_takings    takings;
    struct timespec from, to;
    int             pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    close(pipe_ends[1]); /* readable */
    by.stop_fd = pipe_ends[0];
    must(pawl_inbound_find(url, &ops, world_error()));
    pawl_inbound *inbound = pawl_allocate(ops->inbound_size);
    assert_non_null(inbound);
    inbound->ops = ops;
    must(ops->open(inbound, url, &options, world_error()));
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_not_equal(ops->take(inbound, &by, test_arena(), &takings, error), PAWL_OK);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 10);
    ops->close(inbound);
    pawl_free(inbound);
    close(pipe_ends[0]);
}

TEST(e29_a_reader_that_stops_leaves_a_message_that_does_not_go_on)
{
    server     s     = {.port = 0};
    pawl_error error = PAWL_ERROR_INIT;
    begin(&s);
    const char *url = test_text("amqp://guest:guest@127.0.0.1:%d/?declare=no", s.port);
    take_while_stopping(url, &error);
    end(&s);
    assert_non_null(strstr(error.text, "broke off in a message"));
}

/* Each host that does not answer costs its time. */
TEST(e29_a_reader_that_stops_tries_no_further_host)
{
    server     mute[2] = {{.port = 0}, {.port = 0}};
    pawl_error error   = PAWL_ERROR_INIT;
    listen_for(&mute[0]);
    listen_for(&mute[1]);
    const char *url = test_text("amqp://guest:guest@127.0.0.1:%d,127.0.0.1:%d/?connect-timeout=1",
                                mute[0].port, mute[1].port);
    take_while_stopping(url, &error);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(was_asked(&mute[i]), i == 0);
        close(mute[i].listener);
    }
}
