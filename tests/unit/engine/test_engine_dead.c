/* test_engine_dead.c - dead letters that an operator tries again: handled once, whoever else is at
 * it, and whatever answer is lost. E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/operations.h"
#include "support/fault_store.h"
#include "support/world.h"

/* ---- The application -------------------------------------------------------- */

#define CHARGE(F) F(TEXT, how)
PAWL_RECORD(charge, CHARGE);
#define LAMP_STATE(F) F(TEXT, name)
PAWL_RECORD(lamp_state, LAMP_STATE);
#define LIGHT(F) F(TEXT, name)
PAWL_RECORD(light, LIGHT);

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
    (void)lamp, (void)message;
    return pawl_timeout(ctx, "off", PAWL_SECONDS(5));
}
PAWL_HANDLER(on_light, lamp_state, light);

static pawl_code on_off(pawl_context *ctx, lamp_state *lamp)
{
    (void)lamp;
    return answer(ctx, "off");
}
PAWL_TIMEOUT_HANDLER(on_off, lamp_state);

static const pawl_saga lamp = {
    .name        = "Lamp",
    .state       = PAWL_RECORD_OF(lamp_state),
    .correlation = "name",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_light), .key = "name", .starts = true},
                           {.handle = PAWL_HANDLE(on_off), .timeout = "off"})};

static const pawl_endpoint_spec billing     = {.name     = "billing",
                                               .sagas    = PAWL_SAGAS(&lamp),
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_charge)})};
static const pawl_application   application = APPLICATION("billing", &billing);

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
    world_drain(it);
    assert_string_equal(seen.text, "");
    must(retry(it, it->store, PAWL_TEXT("m-1"), world_error()));
    post_charge(it, "m-1");
    world_drain(it);
    post_charge(it, "m-1");
    world_drain(it);
    assert_string_equal(seen.text, "charge ");
    assert_int_equal(world_dead(it).count, 0);
    assert_true(world_is_marked(it, "m-1"));
    assert_int_equal(retry(it, it->store, PAWL_TEXT("m-1"), &error), PAWL_EGONE);
    world_drain(it);
    assert_string_equal(seen.text, "charge ");
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
    world_drain(it);
    assert_string_equal(seen.text, "charge ");
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
    world_drain(it);
    assert_string_equal(seen.text, "charge ");
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
    world_drain(it);
    assert_string_equal(seen.text, "edited ");
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
    world_drain(it);
    assert_string_equal(seen.text, "");
    assert_int_equal(world_dead(it).count, 0);
}

/* A timeout's letter is a message: headers say whose it is. */
ON_ALL_STORES(e34_a_retried_timeout_finds_its_saga, const char *url)
{
    world *it = begin(url);
    world_post(it, "l-1", PAWL_MESSAGE(light, .name = PAWL_TEXT("a")));
    world_drain(it);
    world_go(it, PAWL_SECONDS(5));
    pawl_dead_rows letters = world_dead(it);
    assert_int_equal(letters.count, 1);
    is_open = true;
    must(retry(it, it->store, letters.items[0].message.id, world_error()));
    world_drain(it);
    assert_string_equal(seen.text, "off ");
    assert_int_equal(world_dead(it).count, 0);
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
    assert_true(fault_is_met());
    fault_plan_set(NULL);
    if (code != PAWL_OK)
        (void)retry(it, store, PAWL_TEXT("m-1"), &error);
    world_drain(it);
    assert_string_equal(seen.text, "charge ");
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
