/* test_engine_process.c - processes and entities: events, folds, dispatch ids,
 * answers, timeouts.
 *
 * O1, O4, O5, O7, O16 to O18, O22. One endpoint holds two accounts and the
 * process that moves money between them, so that what they send to one another
 * stays in the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/bank.h"

static const pawl_entity account_entity = {
    .name                  = "Account",
    .state                 = PAWL_RECORD_OF(account),
    .on                    = account_on,
    .apply                 = account_apply,
    .snapshot_every        = 4,
    .dispatches_remembered = 3,
};

static const pawl_application application =
    ONE_ENDPOINT("bank", .name = "bank", .processes = PAWL_PROCESSES(&transfer_process),
                 .entities = PAWL_ENTITIES(&account_entity));

static world_log seen;

static world *open_world(const char *url)
{
    const pawl_endpoint_options options = {.user = &seen, .delayed_retries = -1};
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

static void post_credit(world *it, const char *id, const char *name, int cents, const char *how)
{
    world_post(it, id,
               PAWL_MESSAGE(credit, .account = pawl_text_of(name), .cents = cents,
                            .how = pawl_text_of(how)));
}

static void post_debit(world *it, const char *id, const char *name, int cents)
{
    world_post(it, id, PAWL_MESSAGE(debit, .account = pawl_text_of(name), .cents = cents));
}

static void post_request(world *it, int number, const char *how)
{
    world_post(it, NULL,
               PAWL_MESSAGE(request, .number = number, .from = PAWL_TEXT("a"), .to = PAWL_TEXT("b"),
                            .cents = 30, .how = pawl_text_of(how)));
}

/* The events of the stream, as "credited,debited". */
static const char *types_of(world *it, const char *stream)
{
    static char     text[500];
    size_t          size = 0;
    pawl_event_rows rows = world_events(it, stream);
    text[0]              = '\0';
    for (size_t i = 0; i < rows.count; i++) {
        assert_int_equal(rows.items[i].version, i + 1);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%.*s", i > 0 ? "," : "",
                                 PAWL_TEXT_ARGS(rows.items[i].event.type));
    }
    return text;
}

/* ---- Entities ------------------------------------------------------------------- */

ON_ALL_STORES(o4_events_of_an_entity_are_its_state, const char *url)
{
    world *it = open_world(url);
    post_credit(it, "m-1", "a", 50, "");
    post_debit(it, NULL, "a", 20);
    post_debit(it, NULL, "a", 40);
    LOG_AFTER(world_drain(it), seen, "credit(a,0) debit(a,50) v2:30 debit(a,30) ");
    assert_string_equal(types_of(it, "Account/a"), "credited,debited");
    pawl_event_rows rows = world_events(it, "Account/a");
    assert_true(pawl_text_equal(rows.items[0].event.message_id, PAWL_TEXT("m-1")));
    assert_int_equal(rows.items[0].event.at, world_now(it));
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1); /* nobody asked for an answer */
    assert_true(world_says(dead.items[0].error, "balance 30 is below 40"));
    post_debit(it, NULL, "a", 5);
    world_drain(it); /* loaded again */
    assert_true(world_says(pawl_text_of(seen.text), "debit(a,30) v3:25"));
}

ON_ALL_STORES(o1_a_command_that_fails_leaves_no_event, const char *url)
{
    world *it = open_world(url);
    post_credit(it, NULL, "a", 50, "stray");
    world_post(it, NULL, PAWL_MESSAGE(debit, .account = PAWL_TEXT("a"), .how = PAWL_TEXT("retry")));
    world_drain(it);
    assert_int_equal(world_events(it, "Account/a").count, 0);
    assert_int_equal(world_dead(it).count, 2);
    assert_true(world_says(world_dead(it).items[0].error, "event stray has no function in .apply"));
}

ON_ALL_STORES(o18_a_command_without_an_event_leaves_no_trace, const char *url)
{
    world *it = open_world(url);
    /* The same dispatch id in two spellings, which the inbox takes for two: in one batch, the second runs as well. */
    post_credit(it, "5b1a1f3c-7d7e-5c4e-9d5b-0c2f4e6a8b1c", "a", 1, "nothing");
    post_credit(it, "5B1A1F3C-7D7E-5C4E-9D5B-0C2F4E6A8B1C", "a", 1, "nothing");
    assert_int_equal(world_step(it).handled, 2);
    assert_string_equal(seen.text, "credit(a,0) credit(a,0) ");
    assert_int_equal(world_events(it, "Account/a").count, 0);
}

ON_ALL_STORES(o5_what_sends_and_emits_nothing_says_that_it_was_handled, const char *url)
{
    world *it = open_world(url);
    post_credit(it, "m-7", "a", 1, "send");
    world_drain(it);
    assert_string_equal(types_of(it, "Account/a"), "pawl.handled");
    pawl_event_rows rows = world_events(it, "Account/a");
    assert_true(world_says(rows.items[0].event.body, "\"message_id\":\"m-7\""));
    assert_true(world_says(rows.items[0].event.body, "\"type\":\"credit\""));
    assert_int_equal(world_queue_row(it, "elsewhere").message.id.data[14], '5');
}

ON_ALL_STORES(an_entity_cannot_be_completed, const char *url)
{
    world *it = open_world(url);
    post_credit(it, NULL, "a", 1, "complete");
    world_drain(it);
    assert_true(world_says(world_dead(it).items[0].error, "cannot be completed"));
}

/* ---- Dispatch ids ------------------------------------------------------------------ */

/* Without its mark in the inbox, which would drop it; that goes with a dead letter,
 * though there is none. The ids are of version 5. */
static void redeliver(world *it, int number)
{
    const char   *id       = test_text("%08d-7d7e-5c4e-9d5b-0c2f4e6a8b1c", number);
    pawl_changes  changes  = {ONE_UNIT, .now = world_now(it)};
    pawl_dead_set forget   = {.is_remove = true,
                              .endpoint  = PAWL_TEXT("bank"),
                              .message   = {.id = pawl_text_of(id), .type = PAWL_TEXT("credit")}};
    changes.dead_set.items = &forget;
    changes.dead_set.count = 1;
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    post_credit(it, id, "a", 1, "");
    world_drain(it);
}

ON_ALL_STORES(o17_a_known_dispatch_id_is_dropped_first_in_first_out, const char *url)
{
    world *it = open_world(url);
    for (int i = 1; i <= 3; i++)
        redeliver(it, i);
    assert_int_equal(world_events(it, "Account/a").count, 3);
    redeliver(it, 1); /* known: nothing is written, and it is not used anew */
    assert_int_equal(world_events(it, "Account/a").count, 3);
    redeliver(it, 4); /* pushes 1 out */
    assert_int_equal(world_events(it, "Account/a").count, 4);
    redeliver(it, 2);
    assert_int_equal(world_events(it, "Account/a").count, 4);
    redeliver(it, 1);
    assert_int_equal(world_events(it, "Account/a").count, 5);
}

/* Events 4 and 8 store folds: what is loaded begins there, with the ids. */
ON_ALL_STORES(o18_the_ids_are_rebuilt_from_events_and_folds, const char *url)
{
    world *it = open_world(url);
    for (int i = 1; i <= 6; i++)
        redeliver(it, i);
    const pawl_stream_read read = {.stream = PAWL_TEXT("Account/a"), .snapshot_version_max = 1};
    pawl_stream            loaded;
    must(pawl_store_stream_load(it->store, &read, 1, it->arena, &loaded, world_error()));
    assert_int_equal(loaded.snapshot.version, 4);
    assert_int_equal(loaded.count, 2);
    assert_true(world_says(loaded.snapshot.state, "\"cents\":4"));
    assert_true(world_says(loaded.snapshot.dispatches, "00000002-"));
    assert_false(world_says(loaded.snapshot.dispatches, "00000001-"));
    for (int i = 4; i <= 6; i++)
        redeliver(it, i);
    assert_int_equal(world_events(it, "Account/a").count, 6);
}

/* ---- Processes ------------------------------------------------------------------------ */

ON_ALL_STORES(a_process_moves_money_and_is_over, const char *url)
{
    world *it = open_world(url);
    post_credit(it, NULL, "a", 100, "");
    post_request(it, 7, "");
    LOG_AFTER(world_drain(it), seen,
              "credit(a,0) request(7) debit(a,100) v2:70 accepted(debit) "
              "credit(b,0) accepted(credit) ");
    assert_string_equal(types_of(it, "Transfer/7"), "requested,advanced,advanced,pawl.completed");
    assert_string_equal(types_of(it, "Account/b"), "credited");
    assert_int_equal(world_timeouts(it).count, 0);
    assert_int_equal(world_dead(it).count, 0);
    world_post(it, NULL, PAWL_MESSAGE(poke, .number = 7));
    world_drain(it); /* the process is over: no message waits for it */
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "process Transfer for '7' is over"));
    post_request(it, 7, "");
    world_drain(it); /* nor does it begin again */
    assert_int_equal(world_events(it, "Transfer/7").count, 4);
}

ON_ALL_STORES(a_rejected_command_is_answered_with_its_reason, const char *url)
{
    world *it = open_world(url);
    post_request(it, 1, "");
    LOG_AFTER(world_drain(it), seen,
              "request(1) debit(a,0) rejected(debit:balance 0 is below 30) ");
    assert_string_equal(types_of(it, "Transfer/1"), "requested,failed,pawl.completed");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_events(it, "Account/a").count, 0);
}

ON_ALL_STORES(a_rejected_second_leg_is_compensated, const char *url)
{
    world *it = open_world(url);
    post_credit(it, NULL, "a", 100, "");
    post_request(it, 1, "closed");
    world_drain(it);
    assert_true(world_says(pawl_text_of(seen.text), "rejected(credit:account b is closed)"));
    assert_string_equal(types_of(it, "Account/a"), "credited,debited,credited");
    assert_int_equal(world_events(it, "Account/b").count, 0);
}

ON_ALL_STORES(a_process_has_timeouts, const char *url)
{
    world *it = open_world(url);
    post_request(it, 3, "wait"); /* its beginning is an event */
    world_drain(it);
    assert_string_equal(types_of(it, "Transfer/3"), "pawl.handled");
    assert_int_equal(world_timeouts(it).count, 1);
    world_go(it, PAWL_HOURS(48));
    assert_true(world_says(pawl_text_of(seen.text), "late(0,Transfer/3)"));
    assert_string_equal(types_of(it, "Transfer/3"), "pawl.handled,failed");
    assert_int_equal(world_timeouts(it).count, 0);
}

/* The vectors of docs/dispatch-ids.md say what the ids are; this says which go where. */
ON_ALL_STORES(o5_ids_come_from_source_version_and_index, const char *url)
{
    world *it = open_world(url);
    post_request(it, 9, "silent");
    world_drain(it);
    pawl_queue_row first = world_queue_row(it, "elsewhere");
    char           id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(pawl_dispatch_id_make(PAWL_TEXT("bank"), PAWL_TEXT("Transfer/9"), 1, 0).uuid,
                     id);
    assert_true(pawl_text_equal(first.message.id, pawl_text_of(id)));
}
