/* test_engine_order_left.c - messages of an ordered endpoint that stay in the queue beside others of
 * their key: due times that do not rise with places, and batches that are refused as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "engine/order.h"
#include "pawl/operations.h"
#include "runtime/runtime.h"

#include <unistd.h>

RECORD(line, (TEXT, key), (INT32, number));
RECORD(book, (TEXT, key), (INT32, number));
RECORD(entry, (TEXT, key), (INT32, number));

static world_log   seen;
static world      *present;
static int         failures; /* of message 1, that are left */
static int         failing;  /* this message fails once */
static int         meddling; /* while this message is handled, */
static const char *marked;   /* this one is marked as handled: its group is refused */

static void mark(void)
{
    MUST_COMMIT(present->store, inbox_entry, pawl_clock_now(present->machine),
                .endpoint = PAWL_TEXT("desk"), .message_id = pawl_text_of(marked),
                .outcome = PAWL_INBOX_HANDLED, .at = world_now(present));
}

static pawl_code meet(pawl_context *ctx, pawl_text key, int32_t number)
{
    bool fails = (number == 1 && failures > 0) || number == failing;
    failures -= number == 1 && fails;
    failing = number == failing ? 0 : failing;
    world_note(&seen, "%.*s%d%s", PAWL_TEXT_ARGS(key), (int)number, fails ? "!" : "");
    if (number == meddling) {
        meddling = 0;
        mark();
    }
    return fails ? pawl_fail(ctx, PAWL_EUNREACHABLE, "not now") : PAWL_OK;
}

static pawl_code on_line(pawl_context *ctx, const line *message)
{
    return meet(ctx, message->key, message->number);
}
PAWL_MESSAGE_HANDLER(on_line, line);

/* The timeout is due before what is behind it: the batch is cut. */
static pawl_code on_book(pawl_context *ctx, book *state, const book *message)
{
    pawl_code code = pawl_timeout(ctx, "due", 1);
    return code == PAWL_OK ? meet(ctx, message->key, message->number) : code;
}
PAWL_HANDLER(on_book, book, book);

static pawl_code on_book_due(pawl_context *ctx, book *state)
{
    world_note(&seen, "due");
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_book_due, book);

/* Each message of it runs alone. */
static pawl_code on_entry(pawl_context *ctx, entry *state, const entry *message)
{
    state->number = message->number;
    return meet(ctx, message->key, message->number);
}
PAWL_HANDLER(on_entry, entry, entry);

static const pawl_saga entry_saga = {
    .name           = "Entry",
    .state          = PAWL_RECORD_OF(entry),
    .correlation    = "key",
    .is_pessimistic = true,
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_entry), .key = "key", .starts = true})};

static const pawl_saga book_saga =
    SAGA_OF("Book", book, "key", {.handle = PAWL_HANDLE(on_book), .key = "key", .starts = true},
            {.handle = PAWL_HANDLE(on_book_due), .timeout = "due"});
static const pawl_application application =
    ONE_ENDPOINT("order", .name = "desk", .sagas = PAWL_SAGAS(&book_saga, &entry_saga),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_line)}),
                 .options  = PAWL_OPTIONS(.ordered = "property:key", .immediate_retries = -1,
                                          .delayed_retries = 4, .retry_delay = PAWL_MINUTES(1)));

static world *open_world(const char *url, int batch_messages, int fails)
{
    const pawl_endpoint_options options = {.batch_messages = batch_messages};
    world_forget(&seen);
    failures = fails;
    failing  = 0;
    meddling = 0;
    present  = world_begin(url, &application, NULL, &options);
    return present;
}

/* Sent `seconds` after the start. */
static void post(world *it, const char *key, int number, int64_t seconds)
{
    world_post_at(it, test_text("%s%d", key, number), WORLD_START + PAWL_SECONDS(seconds),
                  PAWL_MESSAGE(line, .key = pawl_text_of(key), .number = number));
}

static void expect(const char *text)
{
    assert_string_equal(seen.text, text);
    world_forget(&seen);
}

static pawl_queue_message find_message(world *it, const char *id)
{
    pawl_queue_messages    found;
    const pawl_queue_query query = {.queue = PAWL_TEXT("desk"), .message_id = pawl_text_of(id)};
    must(pawl_store_queue_find(it->store, &query, it->arena, &found, world_error()));
    assert_int_equal(found.count, 1);
    return found.items[0];
}

static pawl_queue_row find(world *it, const char *id)
{
    return find_message(it, id).row;
}

static void discard(world *it, const char *id)
{
    size_t                taken = 0;
    int64_t               seq   = find(it, id).seq;
    const pawl_queue_take away  = {
         .action = PAWL_TAKE_DISCARD, .queue = PAWL_TEXT("desk"), .by = PAWL_TEXT("ann")};
    must(pawl_store_queue_take(it->store, &away, &seq, 1, world_now(it), &taken, NULL,
                               world_error()));
    assert_int_equal(taken, 1);
}

/* The messages are in another hand. */
static pawl_queue_rows claim(world *it, const char *const *ids, size_t count)
{
    pawl_queue_rows rows    = {.count = 0};
    int64_t         seqs[2] = {0};
    for (size_t i = 0; i < count; i++)
        seqs[i] = find(it, ids[i]).seq;
    const pawl_queue_claim named = {.queue     = PAWL_TEXT("desk"),
                                    .due_max   = world_now(it),
                                    .count_max = count,
                                    .now       = pawl_clock_now(it->machine),
                                    .seqs      = seqs,
                                    .seq_count = count};
    must(pawl_store_queue_claim(it->store, &named, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, count);
    return rows;
}

/* The clock jumps, so that the next claim begins at the first row: on PostgreSQL one that follows a claim of some
 * milliseconds begins where that one did, and would meet a message that is due before it later. */
static void give_back(world *it, const pawl_queue_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        world_give_back(it, "desk", &rows->items[i], PAWL_QUEUE_RELEASE);
    pawl_clock_set(it->business, world_now(it) + PAWL_SECONDS(2));
    usleep(30000); /* the worker pauses when all that it claims is behind other hands */
}

/* Message 1 is put off anew, and 2 with it, not yet 3; then 1 is taken away, and all are due at once. */
ON_ALL_STORES_AND_ODBC(e34_the_oldest_of_the_rest_follows_a_head_that_was_taken_away,
                       const char *url)
{
    world *it = open_world(url, 2, 9);
    for (int i = 1; i <= 3; i++)
        post(it, "a", i, 0);
    world_drain(it);
    pawl_clock_set(it->business, find(it, "a1").due);
    world_step(it);
    expect("a1! a1! ");
    assert_true(find(it, "a2").due > find(it, "a3").due);
    discard(it, "a1");
    world_go(it, PAWL_HOURS(1));
    expect("a2 a3 ");
}

static void post_entry(world *it, int number, int64_t seconds)
{
    world_post_at(it, test_text("a%d", number), WORLD_START + PAWL_SECONDS(seconds),
                  PAWL_MESSAGE(entry, .key = PAWL_TEXT("a"), .number = number));
}

/* Behind the first of them, alone, batches grow as ever: the others are only put off. */
ON_ALL_STORES(e26_messages_that_run_alone_are_put_off_together, const char *url)
{
    int    steps = 0;
    world *it    = open_world(url, 32, 1);
    for (int i = 1; i <= 32; i++)
        post_entry(it, i, 0);
    while (find(it, "a32").due == WORLD_START && steps < 32) {
        world_step(it);
        steps++;
    }
    expect("a1! ");
    assert_in_range(steps, 1, 7);
    assert_int_equal(world_go(it, PAWL_MINUTES(2)).handled, 32);
    expect("a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 "
           "a24 a25 a26 a27 a28 a29 a30 a31 a32 ");
}

/* The head comes to its end in the batch of both. */
ON_ALL_STORES(e26_a_message_that_need_not_wait_after_all_runs_alone, const char *url)
{
    world *it = open_world(url, 9, 1);
    post(it, "a", 1, 0);
    post_entry(it, 2, 0);
    post_entry(it, 3, 0);
    world_drain(it);
    expect("a1! ");
    assert_int_equal(world_go(it, PAWL_MINUTES(2)).handled, 3);
    expect("a1 a2 a3 ");
    world_json_equal(it, world_saga_text(it, "Entry", "a", NULL), "{\"key\":\"a\",\"number\":3}");
}

/* Message 2 was put off, so that it is due behind a younger one of another key; both are in another
 * hand. */
ON_ALL_STORES_AND_ODBC(e27_a_message_that_was_put_off_in_another_hand_holds_its_key,
                       const char *url)
{
    world *it = open_world(url, 9, 9);
    for (int i = 1; i <= 3; i++)
        post(it, "a", i, 0);
    world_drain(it);
    expect("a1! ");
    post(it, "b", 4, 1);
    pawl_time due = find(it, "a2").due;
    assert_true(due > WORLD_START + PAWL_SECONDS(1));
    discard(it, "a1");
    pawl_clock_set(it->business, due);
    pawl_queue_rows held = claim(it, (const char *const[]){"b4", "a2"}, 2);
    world_drain(it);
    expect("");
    give_back(it, &held);
    world_drain(it);
    expect("b4 a2 a3 ");
}

/* A batch is cut behind its second message, and refused because of the first. */
ON_ALL_STORES_AND_ODBC(e26_what_a_refused_batch_was_cut_from_is_claimed_again, const char *url)
{
    world *it = open_world(url, 9, 0);
    post(it, "b", 9, 0);
    world_post_at(it, "a1", WORLD_START, PAWL_MESSAGE(book, .key = PAWL_TEXT("a"), .number = 1));
    post(it, "b", 2, 1);
    post(it, "b", 3, 2);
    meddling = 1;
    marked   = "b9";
    world_go(it, PAWL_SECONDS(5));
    expect("b9 a1 a1 due b2 b3 ");
    assert_int_equal(world_queue(it, "desk").count, 0);
}

/* The batch has 2, due first, then 1, which holds it back, and 3, due last; it is refused because of
 * 9. Alone 2 is put off, and 1 comes to its end. */
ON_ALL_STORES_AND_ODBC(e26_units_that_run_alone_wait_for_those_that_were_put_off, const char *url)
{
    world *it = open_world(url, 9, 2);
    post(it, "a", 1, 0);
    post(it, "a", 2, 0);
    post(it, "a", 3, 3600);
    pawl_clock_set(it->business, WORLD_START + PAWL_HOURS(24));
    world_step(it);
    pawl_queue_rows held = claim(it, (const char *const[]){"a2"}, 1);
    world_step(it);
    expect("a1! a1! ");
    give_back(it, &held);
    assert_true(find(it, "a2").due < find(it, "a1").due);
    assert_true(find(it, "a1").due < find(it, "a3").due);
    post(it, "b", 9, 0);
    meddling = 9;
    marked   = "b9";
    world_drain(it);
    expect("b9 a1 a1 a2 a3 ");
}

/* The queue's order is that of the due times, not that of the numbers; each message is a batch. Message 5 comes when 1
 * was put off anew, and the others not yet. */
ON_ALL_STORES_AND_ODBC(e26_messages_that_were_sent_for_later_wait_in_their_order, const char *url)
{
    world *it = open_world(url, 1, 3);
    post(it, "a", 1, 0);
    for (int i = 4; i > 1; i--)
        post(it, "a", i, i);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(10));
    world_drain(it);
    expect("a1! ");
    pawl_clock_set(it->business, find(it, "a1").due);
    world_step(it);
    expect("a1! ");
    post(it, "a", 5, 5);
    for (int i = 0; i < 5; i++) {
        usleep(30000); /* as in give_back */
        world_go(it, PAWL_SECONDS(2));
    }
    world_go(it, PAWL_HOURS(1));
    expect("a1! a1 a2 a3 a4 a5 ");
}

/* Message 3 comes late: its place is between two that wait already, and it is claimed behind both. */
ON_ALL_STORES_AND_ODBC(e26_a_message_that_comes_late_is_handled_at_its_place, const char *url)
{
    world *it = open_world(url, 9, 1);
    post(it, "a", 1, 0);
    post(it, "a", 4, 6);
    post(it, "a", 2, 3);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(10));
    world_drain(it);
    expect("a1! ");
    post(it, "a", 3, 5);
    world_drain(it);
    assert_true(find(it, "a3").due >= find(it, "a4").due);
    world_go(it, PAWL_HOURS(1));
    expect("a1 a2 a3 a4 ");
}

/* Message 2 comes late, and has a higher number than 4, which was sent for later. */
ON_ALL_STORES_AND_ODBC(e26_what_is_sent_for_later_waits_for_one_that_came_late, const char *url)
{
    world *it = open_world(url, 1, 1);
    post(it, "a", 1, 0);
    post(it, "a", 3, 6);
    post(it, "a", 4, 20);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(10));
    world_drain(it);
    post(it, "a", 2, 3);
    world_drain(it);
    world_go(it, PAWL_SECONDS(11));
    expect("a1! ");
    assert_true(find(it, "a2").due < find(it, "a4").due);
}

/* Turns are 3, 2, 4, as 2 came late; 4 has the lowest number. A worker that takes the queue over when the first is over
 * goes by their places. */
ON_ALL_STORES_AND_ODBC(e26_a_take_over_goes_by_the_places_of_what_waits, const char *url)
{
    world *it = open_world(url, 1, 1);
    post(it, "a", 1, 0);
    post(it, "a", 4, 8);
    post(it, "a", 3, 6);
    world_go(it, PAWL_SECONDS(7));
    expect("a1! ");
    post(it, "a", 2, 4);
    world_drain(it);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(9));
    world_drain(it);
    assert_true(find(it, "a3").due <= find(it, "a2").due);
    assert_true(find(it, "a2").due < find(it, "a4").due);
    pawl_clock_set(it->business, WORLD_START + PAWL_HOURS(1));
    world_step(it);
    expect("a1 ");
    pawl__worker_leave(it->endpoint->worker);
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(4));
    world_drain(it);
    expect("a2 a3 a4 ");
}

/* Message 3 comes when 1 is over; it is due before those that waited for that one. */
ON_ALL_STORES_AND_ODBC(e26_what_comes_late_waits_for_the_older_ones_of_those_that_wait,
                       const char *url)
{
    world *it = open_world(url, 1, 1);
    post(it, "a", 1, 0);
    post(it, "a", 2, 0);
    post(it, "a", 4, 6);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(10));
    world_drain(it);
    expect("a1! ");
    pawl_clock_set(it->business, WORLD_START + PAWL_HOURS(1));
    world_step(it);
    expect("a1 ");
    post(it, "a", 3, 5);
    world_go(it, PAWL_SECONDS(2));
    expect("a2 a3 a4 ");
}

/* Message 2 comes late, and fails when 3 to 5 wait for 1 already: their turns are before its own, or behind. */
ON_ALL_STORES(e26_those_that_wait_for_another_wait_for_an_older_one_that_failed_later,
              const char *url)
{
    world *it = open_world(url, 1, 1);
    post(it, "a", 1, 5);
    for (int i = 3; i < 6; i++)
        post(it, "a", i, 6);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(10));
    world_drain(it);
    expect("a1! ");
    failing = 2;
    post(it, "a", 2, 3);
    world_go(it, PAWL_SECONDS(2)); /* as in give_back */
    expect("a2! ");
    world_go(it, PAWL_HOURS(1));
    expect("a2 a1 a3 a4 a5 ");
}

/* Messages that are sent then do not wait for its due time; message 2 has waited already. */
ON_ALL_STORES(e34_a_key_is_free_when_a_message_that_is_due_later_was_taken_away, const char *url)
{
    world *it = open_world(url, 9, 2);
    post(it, "a", 1, 0);
    world_drain(it);
    discard(it, "a1");
    post(it, "a", 2, 0);
    world_drain(it);
    expect("a1! a2 ");
    failing = 3;
    post(it, "a", 3, 0);
    post(it, "a", 4, 0);
    world_drain(it);
    expect("a3! ");
    discard(it, "a3");
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(6));
    post(it, "a", 5, 0);
    world_drain(it);
    expect("");
    world_go(it, PAWL_HOURS(1));
    expect("a4 a5 ");
}

/* The ends of all units of a batch are noted after its commit, in a row. */
ON_ALL_STORES(e26_the_last_of_many_that_waited_fails_when_the_others_are_over, const char *url)
{
    world *it = open_world(url, 100, 1);
    for (int i = 1; i <= 90; i++)
        post(it, i % 2 == 1 ? "a" : "b", i, 0);
    failing = 2;
    world_drain(it);
    expect("a1! b2! ");
    failing = 89;
    world_go(it, PAWL_MINUTES(10));
    assert_non_null(strstr(seen.text, "a87 "));
    assert_true(strstr(seen.text, "a89! ") < strstr(seen.text, "a89 "));
    assert_int_equal(world_queue(it, "desk").count, 0);
    for (size_t i = 0; i < PAWL__BUCKETS; i++)
        assert_int_equal(it->endpoint->worker->engine.order->buckets[i].count, 0);
}

/* An operator takes away a hundred of those that wait, between others; each message is a batch. One that comes then
 * waits for the last of them. */
ON_ALL_STORES(e34_messages_that_were_taken_away_hold_nobody_back, const char *url)
{
    world *it = open_world(url, 1, 1);
    for (int i = 1; i <= 105; i++)
        post(it, i == 3 ? "b" : "a", i, 0);
    world_drain(it);
    expect("a1! b3 ");
    for (int i = 4; i < 104; i++)
        discard(it, test_text("a%d", i));
    pawl_clock_set(it->business, WORLD_START + PAWL_HOURS(1));
    for (int i = 0; i < 3; i++)
        world_step(it);
    expect("a1 a2 a104 ");
    post(it, "a", 106, 1);
    pawl_clock_set(it->business, world_now(it) + PAWL_SECONDS(2)); /* as in give_back */
    world_step(it);
    expect("");
    assert_true(
        world_says(find_message(it, "a106").error, "waits for message before it, of its key 'a'"));
    world_drain(it);
    expect("a105 a106 ");
}

void (*const tests_first)(void) = scenario_files_in_memory;
