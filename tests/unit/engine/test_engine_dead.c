/* test_engine_dead.c - dead letters that an operator tries again: handled once, whoever else is at
 * it, and whatever answer is lost. E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/operations.h"
#include "pawl/process.h"
#include "support/fault_store.h"
#include "support/world.h"

RECORD(charge, (TEXT, how));
PAWL_RECORD(lamp_state, A_NAME);
PAWL_RECORD(light, A_NAME);

static world_log seen;
static bool      is_open;

static pawl_code answer(pawl_context *ctx, const char *what)
{
    if (!is_open)
        return pawl_fail(ctx, PAWL_REJECT, "the bank is closed");
    world_note(&seen, "%s", what);
    return PAWL_OK;
}

static pawl_code on_charge(pawl_context *ctx, const charge *message)
{
    return answer(ctx, message->how.size > 0 ? message->how.data : "charge");
}
PAWL_MESSAGE_HANDLER(on_charge, charge);

static pawl_code on_light(pawl_context *ctx, lamp_state *lamp, const light *message)
{
    return pawl_timeout(ctx, "off", PAWL_SECONDS(5));
}
PAWL_HANDLER(on_light, lamp_state, light);

static pawl_code on_off(pawl_context *ctx, lamp_state *lamp)
{
    return answer(ctx, "off");
}
PAWL_TIMEOUT_HANDLER(on_off, lamp_state);

/* A saga and a process that answer, as of a timeout, the one who sent the message that set it. */
PAWL_RECORD(bell_state, A_NAME);
PAWL_RECORD(clock_state, A_NAME);
PAWL_RECORD(ring, A_NAME);
PAWL_RECORD(rang, A_NAME);

static pawl_code on_ring(pawl_context *ctx, bell_state *bell, const ring *message)
{
    return pawl_timeout(ctx, "later", PAWL_SECONDS(5));
}
PAWL_HANDLER(on_ring, bell_state, ring);

static pawl_code on_bell_later(pawl_context *ctx, bell_state *bell)
{
    pawl_code code = answer(ctx, "bell");
    return code == PAWL_OK ? pawl_reply(ctx, PAWL_MESSAGE(rang, .name = PAWL_TEXT("bell"))) : code;
}
PAWL_TIMEOUT_HANDLER(on_bell_later, bell_state);

static pawl_code on_clock_ring(pawl_context *ctx, const clock_state *clock, const ring *message)
{
    return pawl_timeout(ctx, "later", PAWL_SECONDS(5));
}
PAWL_PROCESS_HANDLER(on_clock_ring, clock_state, ring);

static pawl_code on_clock_later(pawl_context *ctx, const clock_state *clock)
{
    pawl_code code = answer(ctx, pawl_stream_in_flight(ctx).data);
    return code == PAWL_OK ? pawl_reply(ctx, PAWL_MESSAGE(rang, .name = PAWL_TEXT("clock"))) : code;
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_clock_later, clock_state);

static const pawl_saga bell = SAGA_OF(
    "Bell", bell_state, "name", {.handle = PAWL_HANDLE(on_ring), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_bell_later), .timeout = "later"});
static const pawl_process wall_clock = {
    .name  = "Clock",
    .state = PAWL_RECORD_OF(clock_state),
    .on    = PAWL_ON({.handle = PAWL_HANDLE(on_clock_ring), .key = "name", .starts = true},
                     {.handle = PAWL_HANDLE(on_clock_later), .timeout = "later"})};

static const pawl_saga lamp = SAGA_OF(
    "Lamp", lamp_state, "name", {.handle = PAWL_HANDLE(on_light), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_off), .timeout = "off"});

static const pawl_application application =
    ONE_ENDPOINT("billing", .name = "billing", .sagas = PAWL_SAGAS(&lamp, &bell),
                 .processes = PAWL_PROCESSES(&wall_clock),
                 .handlers  = PAWL_ON({.handle = PAWL_HANDLE(on_charge)}));

static const pawl_text ENDPOINT = PAWL_TEXT_INIT("billing");
static const pawl_text ANN      = PAWL_TEXT_INIT("ann");

static world *begin(const char *url)
{
    world_forget(&seen);
    is_open = false;
    return world_begin(url, &application, NULL, NULL);
}

static void post_charge(world *it, const char *id)
{
    world_post(it, id, PAWL_MESSAGE(charge, .how = PAWL_TEXT("")));
}

static pawl_code retry(world *it, pawl_store *store, pawl_text id, pawl_error *error)
{
    return pawl_store_dead_retry(store, ENDPOINT, id, ANN, PAWL_TEXT("it is open"), world_now(it),
                                 error);
}

/* ---- Once ------------------------------------------------------------------- */

/* The retried message is let through its mark once: a copy that comes later is dropped. */
ON_ALL_STORES(e34_a_retried_letter_is_handled_once, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = begin(url);
    post_charge(it, "m-1");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    is_open = true;
    post_charge(it, "m-1");
    LOG_AFTER(world_drain(it), seen, "");
    must(retry(it, it->store, PAWL_TEXT("m-1"), world_error()));
    post_charge(it, "m-1");
    world_drain(it);
    post_charge(it, "m-1");
    LOG_AFTER(world_drain(it), seen, "charge ");
    assert_int_equal(world_dead(it).count, 0);
    assert_true(world_is_marked(it, "m-1"));
    assert_int_equal(retry(it, it->store, PAWL_TEXT("m-1"), &error), PAWL_EGONE);
    LOG_AFTER(world_drain(it), seen, "charge ");
}

/* A second operator who saw the letter before the first one retried it, and acts when the message
 * was handled. */
ON_ALL_STORES(e34_of_two_who_retry_a_letter_one_does, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = begin(url);
    post_charge(it, "m-1");
    world_drain(it);
    const pawl_dead_rows   letters = world_dead(it);
    const pawl_dead_settle settle  = {.action = PAWL_DEAD_RETRY, .by = ANN};
    is_open                        = true;
    must(retry(it, it->store, PAWL_TEXT("m-1"), world_error()));
    world_drain(it);
    assert_int_equal(
        pawl_store_dead_settle(it->store, letters.items, 1, &settle, world_now(it), NULL, &error),
        PAWL_EGONE);
    LOG_AFTER(world_drain(it), seen, "charge ");
}

ON_ALL_STORES(e34_a_letter_that_dies_again_is_a_letter_again, const char *url)
{
    world *it = begin(url);
    post_charge(it, "m-1");
    world_drain(it);
    must(retry(it, it->store, PAWL_TEXT("m-1"), world_error()));
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    is_open = true;
    must(retry(it, it->store, PAWL_TEXT("m-1"), world_error()));
    LOG_AFTER(world_drain(it), seen, "charge ");
    pawl_event_rows done;
    must(pawl_store_dead_actions(it->store, ENDPOINT, PAWL_TEXT("m-1"), it->arena, &done,
                                 world_error()));
    assert_int_equal(done.count, 2);
    assert_true(world_says(done.items[1].event.headers, "the bank is closed"));
}

ON_ALL_STORES(e34_an_edited_letter_is_handled_with_its_new_body, const char *url)
{
    world *it = begin(url);
    post_charge(it, "m-1");
    world_drain(it);
    is_open = true;
    must(pawl_store_dead_edit(it->store, ENDPOINT, PAWL_TEXT("m-1"),
                              PAWL_TEXT("{\"how\":\"edited\"}"), ANN, PAWL_TEXT(""), world_now(it),
                              world_error()));
    LOG_AFTER(world_drain(it), seen, "edited ");
}

ON_ALL_STORES(e34_a_copy_of_a_discarded_letter_is_dropped, const char *url)
{
    world *it = begin(url);
    post_charge(it, "m-1");
    world_drain(it);
    is_open = true;
    must(pawl_store_dead_discard(it->store, ENDPOINT, PAWL_TEXT("m-1"), ANN, PAWL_TEXT(""),
                                 world_now(it), world_error()));
    post_charge(it, "m-1");
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_dead(it).count, 0);
}

/* A timeout's letter is a message: headers say whose it is. */
ON_ALL_STORES(e34_a_retried_timeout_finds_its_saga, const char *url)
{
    world *it = begin(url);
    world_post(it, "l-1", PAWL_MESSAGE(light, .name = PAWL_TEXT("a")));
    world_drain(it);
    world_go(it, PAWL_SECONDS(5));
    pawl_dead_row letters = world_dead_letter(it);
    is_open               = true;
    must(retry(it, it->store, letters.message.id, world_error()));
    LOG_AFTER(world_drain(it), seen, "off ");
    assert_int_equal(world_dead(it).count, 0);
}

/* Any sender may write the headers and the body of a timeout's letter: its message is handled, and no timeout of the saga
 * that it names is set. */
ON_ALL_STORES(e34_a_message_with_a_timeouts_headers_is_retried_as_a_message, const char *url)
{
    static const char       id[]      = "22222222-2222-4222-8222-222222222221";
    const pawl_header       headers[] = {{PAWL_HEADER_SAGA, "Lamp"},
                                         {PAWL_HEADER_SAGA_ID, "22222222-2222-4222-8222-222222222229"},
                                         {NULL, NULL}};
    world                  *it        = begin(url);
    const pawl_send_options options   = {PAWL_SEND_OPTIONS_HEAD, .id = id, .headers = headers,
                                         .due = world_now(it)};
    must(pawl_sender_send_json(it->sender, "billing", &options, "charge", PAWL_TEXT("{}"),
                               world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    must(retry(it, it->store, pawl_text_of(id), world_error()));
    assert_int_equal(world_timeouts(it).count, 0);
    is_open = true;
    LOG_AFTER(world_drain(it), seen, "charge ");
    assert_int_equal(world_dead(it).count, 0);
}

/* Retries all letters, and says how many there were. */
static size_t retry_all(world *it)
{
    pawl_dead_rows letters = world_dead(it);
    for (size_t i = 0; i < letters.count; i++)
        must(retry(it, it->store, letters.items[i].message.id, world_error()));
    return letters.count;
}

/* Sets a timeout of the bell and one of the clock for a message with a header of that text, and lets them die. */
static pawl_timeout_rows ring_and_die(world *it, const char *text)
{
    const pawl_header headers[]     = {{"pawl.reply_to", "asker"}, {"filling", text}, {NULL, NULL}};
    const pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it),
                                       .headers = headers, .correlation_id = "c-7"};
    test_send(it->sender, "billing", &options, PAWL_MESSAGE(ring, .name = PAWL_TEXT("a")));
    world_drain(it);
    pawl_timeout_rows set = world_timeouts(it);
    world_go(it, PAWL_SECONDS(5));
    assert_int_equal(set.count, 2);
    assert_int_equal(world_dead(it).count, 2);
    return set;
}

static void expect_replies(world *it)
{
    is_open = true;
    world_drain(it);
    assert_true(world_says(pawl_text_of(seen.text), "bell "));
    assert_true(world_says(pawl_text_of(seen.text), "Clock/a "));
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "asker").count, 2);
}

/* The timeout that was set again dies again, and is whole after that as well. */
ON_ALL_STORES(e34_a_retried_timeout_has_the_headers_it_was_set_with, const char *url)
{
    world            *it  = begin(url);
    pawl_timeout_rows set = ring_and_die(it, "x");
    assert_int_equal(retry_all(it), 2);
    world_drain(it);
    assert_int_equal(retry_all(it), 2);
    pawl_timeout_rows again = world_timeouts(it);
    assert_int_equal(again.count, 2);
    for (size_t i = 0; i < 2; i++) {
        size_t j = pawl_uuid_compare(again.items[i].id.uuid, set.items[0].id.uuid) == 0 ? 0 : 1;
        assert_int_equal(pawl_uuid_compare(again.items[i].id.uuid, set.items[j].id.uuid), 0);
        world_json_equal(it, again.items[i].headers.data, set.items[j].headers.data);
        assert_string_equal(again.items[i].correlation_id.data, "c-7");
    }
    expect_replies(it);
}

/* The two headers more do not fit: of the timeout's own those stay that it cannot do without. */
ON_ALL_STORES(e34_a_retried_timeout_of_full_headers_finds_its_process, const char *url)
{
    static char text[PAWL_HEADERS_SIZE_MAX - 100];
    world      *it = begin(url);
    memset(text, 'x', sizeof text - 1);
    ring_and_die(it, text);
    pawl_dead_rows letters = world_dead(it);
    for (size_t i = 0; i < letters.count; i++)
        assert_false(world_says(letters.items[i].message.headers, "filling"));
    assert_int_equal(retry_all(it), 2);
    expect_replies(it);
}

/* An operator may have set it, or an older pawl wrote its dead letter. The timeout of a saga needs no header. */
ON_ALL_STORES(e34_a_timeout_that_names_no_process_is_dead, const char *url)
{
    static const char *const headers[] = {
        "{\"pawl.reply_to\":\"asker\"}",
        "{\"pawl.reply_to\":\"asker\",\"pawl.process\":\"Clock\"}"};
    world            *it  = begin(url);
    pawl_timeout_rows set = ring_and_die(it, "x");
    is_open               = true;
    for (size_t i = 0; i < 4; i++) {
        pawl_timeout_row row = set.items[i % 2];
        row.headers          = pawl_text_of(headers[i / 2]);
        row.id.uuid.bytes[0] ^= (uint8_t)(i + 1);
        must(pawl_store_timeout_insert(it->store, &row, world_now(it), world_error()));
        world_drain(it);
    }
    assert_string_equal(seen.text, "bell bell ");
    pawl_dead_rows letters = world_dead(it);
    int            count   = 0;
    for (size_t i = 0; i < letters.count; i++)
        count += world_says(letters.items[i].error,
                            "timeout 'later': its header pawl.process names no process Clock");
    assert_int_equal(count, 2);
    assert_int_equal(letters.count, 4);
}

/* ---- Answers that are lost -------------------------------------------------- */

/* The operator's handle meets the fault in each of its commits in turn, and the operator tries again
 * whatever was not said to be done. */
static void retry_with_faults(const char *url, fault_kind kind)
{
    pawl_store *store = NULL;
    pawl_error  error = PAWL_ERROR_INIT;
    fault_plan  plan  = {.kind = kind, .op = fault_op_commit, .n = 1};
    world      *it    = begin(url);
    post_charge(it, "m-1");
    world_drain(it);
    is_open = true;
    fault_bind("operator", url);
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    must(pawl_store_open("fault:operator", &options, &store, world_error()));
    fault_plan_set(&plan);
    pawl_code code = retry(it, store, PAWL_TEXT("m-1"), &error);
    assert_true(fault_was_reached());
    fault_plan_set(NULL);
    if (code != PAWL_OK)
        (void)retry(it, store, PAWL_TEXT("m-1"), &error);
    LOG_AFTER(world_drain(it), seen, "charge ");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(retry(it, store, PAWL_TEXT("m-1"), &error), PAWL_EGONE);
    pawl_store_close(store);
    world_close(it);
}

ON_ALL_STORES(e34_once_when_the_answer_of_the_retry_is_lost, const char *url)
{
    retry_with_faults(url, FAULT_AFTER);
}

ON_ALL_STORES(e34_once_when_the_retry_did_not_take_place, const char *url)
{
    retry_with_faults(url, FAULT_UNKNOWN);
}
