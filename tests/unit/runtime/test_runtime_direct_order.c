/* test_runtime_direct_order.c - "no saga" is not final while an older message may be in hand: in that of another worker, of another
 * process, or on its way back through the broker. E3.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_direct_sample.h"

/* ---- In one process ------------------------------------------------------------------------ */

ON_ALL_STORES(e3_no_saga_is_not_final_while_an_older_message_has_no_row, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 1});
    put("m-1", "opening", "{\"number\":7}");
    takes_in(r, 1);
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    r->it.endpoint->worker->rowless.was_last  = true;
    r->it.endpoint->worker->rowless.queue_due = 0;
    LOG_AFTER(world_step(&r->it), happened, "");
    assert_int_equal(count_rows(r, "reader"), 1);
    LOG_AFTER(world_drain(&r->it), happened, "opening(7) ");
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
}

/* The older message is becoming a row just now, in a commit of the thread that reads. */
ON_STORES(e3_no_saga_is_not_final_while_an_older_message_is_being_stored, const char *url)
{
    pawl_taken    items[2];
    reading      *r        = open_direct(url, &(pawl_endpoint_options){.batch_messages = 1});
    pawl__offers *handover = &r->it.endpoint->offers;
    put("m-1", "opening", "{\"number\":7}");
    takes_in(r, 1);
    pawl__offers_withdraw(handover, INT64_MAX);
    assert_int_equal(pawl__offers_collect(handover, PAWL__DELIVERY_BACK, items), 1);
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 1);
    pawl_arena_reset(r->inbound->arena);
    must(pawl__intake_store(r->inbound, &(pawl_takings){items, 1}, world_error()));
    pawl__offers_settled(handover);
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
}

/* The message that begins the saga fails: both are rows, in the places that they had. */
ON_ALL_STORES(e3_behind_one_that_failed_it_waits_as_a_row, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    put("m-1", "opening", "{\"number\":7}");
    put("m-2", "reply", "{\"number\":7}");
    failures_left = 1;
    takes_in(r, 2);
    world_step(&r->it);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 2);
    pawl_queue_rows rows = world_queue(&r->it, "reader");
    assert_int_equal(rows.count, 2);
    assert_string_equal(rows.items[0].message.id.data, "m-1");
    assert_true(rows.items[0].placed < rows.items[1].placed);
    LOG_AFTER(world_drain(&r->it), happened, "opening(7) reply(7) ");
}

ON_ALL_STORES(e3_without_an_older_message_no_saga_is_final, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    put("m-1", "reply", "{\"number\":7}");
    takes_in(r, 1);
    world_step(&r->it);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 1);
    assert_int_equal(count_rows(r, "reader"), 0);
    assert_true(world_is_marked(&r->it, "m-1"));
}

/* A worker that stops has it in hand still: it is a row before the process is gone. */
ON_STORE(e3_at_the_end_what_is_in_hand_is_a_row, const char *url, "memory")
{
    pawl__deliveries other;
    reading         *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 1});
    put("m-1", "opening", "{\"number\":7}");
    takes_in(r, 1);
    assert_true(pawl__offers_take(&r->it.endpoint->offers, 1, &other));
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    pawl__intake_end_offers(r->inbound);
    assert_int_equal(count_settled(), 1);
    assert_int_equal(count_rows(r, "reader"), 2);
    pawl__offers_give(&r->it.endpoint->offers, &other);
    assert_null(r->it.endpoint->offers.batches);
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
}

/* Messages that the broker has handed out are rows, too, and in their order. */
/* waits 2 s for a worker */
ON_STORES(e3_at_the_end_what_is_on_its_way_here_is_a_row, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    put("m-1", "opening", "{\"number\":7}");
    put("m-2", "reply", "{\"number\":7}");
    put_note(3);
    put("m-4", "opening", "{\"number\":8}");
    put("m-5", "reply", "{\"number\":8}");
    takes_in(r, 2);
    pawl__intake_end_offers(r->inbound);
    assert_int_equal(broker.finishes, 1);
    assert_int_equal(count_settled(), 5);
    assert_int_equal(count_rows(r, "reader"), 5);
    world_go_both(&r->it, PAWL_SECONDS(1)); /* each has a time of its own */
    assert_string_equal(happened.text, "opening(7) reply(7) opening(8) reply(8) ");
}

/* ---- A connection that is lost ---------------------------------------------------------------- */

/* The message that begins the saga is in a worker's hand when the connection is lost, and its run fails. */
static void lose_the_opening(reading *r)
{
    pawl__deliveries hand;
    size_t           count;
    put("m-1", "opening", "{\"number\":7}");
    put_note(9);
    takes_in(r, 2);
    assert_true(pawl__offers_take(&r->it.endpoint->offers, 1, &hand));
    world_step(&r->it); /* the note */
    broker.settles_to_fail = 1;
    assert_int_equal(step(r, &count), PAWL_ELOST);
    pawl__offers_give(&r->it.endpoint->offers, &hand);
    assert_null(r->it.endpoint->offers.batches);
}

ON_ALL_STORES(e3_a_reply_waits_for_what_the_broker_hands_out_again, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    lose_the_opening(r);
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 1);
    takes_in(r, 2); /* copies, as rows */
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
}

/* However long the broker is away, and for a while after it is back. */
ON_STORES(e3_a_reply_waits_while_the_broker_is_away, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    lose_the_opening(r);
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    for (int i = 0; i < 100; i++)
        world_go_both(&r->it, PAWL_SECONDS(1));
    assert_int_equal(count_rows(r, "reader"), 1);
    takes_in(r, 2);
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
    world_post_json(&r->it, "m-3", "reply",
                    "{\"number\":8}"); /* the connection is back for 2 seconds */
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 1);
    for (int i = 0; i < 31; i++)
        world_go_both(&r->it, PAWL_SECONDS(1));
    assert_int_equal(count_rows(r, "reader"), 0);
    world_post_json(&r->it, "m-4", "reply", "{\"number\":8}");
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 0);
}

/* ---- Another process ---------------------------------------------------------------------------- */

/* A worker of another process: of a handle that the endpoint does not know. */
static pawl_store *open_other(const char *url, const char *endpoint)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_CHECK;
    must(pawl_store_open(url, &options, &store, world_error()));
    must(pawl_store_worker_open(store, pawl_text_of(endpoint), PAWL_TEXT("[]"), WORLD_START,
                                world_error()));
    return store;
}

static void close_other(reading *r, pawl_store *store)
{
    must(pawl_store_worker_close(store, world_now(&r->it), world_error()));
    pawl_store_close(store);
}

/* The reply is taken here, and what begins its saga there. */
ON_ALL_STORES(e3_while_another_process_lives_a_reply_waits, const char *url)
{
    reading    *r        = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    pawl_store *stranger = open_other(url, "elsewhere");
    takes_in(r, 0);
    world_post_json(&r->it, "m-0", "reply", "{\"number\":5}");
    world_drain(&r->it); /* nobody else reads this queue */
    assert_int_equal(count_rows(r, "reader"), 0);
    pawl_store *other = open_other(url, "reader");
    put("m-2", "reply", "{\"number\":7}");
    takes_in(r, 1);
    assert_int_equal(world_step(&r->it).handled, 0);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 1);
    world_go_both(&r->it, PAWL_SECONDS(20));
    assert_int_equal(count_rows(r, "reader"), 1);
    put("m-1", "opening", "{\"number\":7}");
    takes_in(r, 1);
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
    close_other(r, other);
    close_other(r, stranger);
}

/* A saga that never begins: the wait has an end. */
ON_STORES(e3_beside_another_process_the_wait_ends, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    takes_in(r, 0);
    pawl_store *other = open_other(url, "reader");
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    for (int i = 0; i < 29; i++)
        world_go_both(&r->it, PAWL_SECONDS(1));
    assert_int_equal(count_rows(r, "reader"), 1);
    for (int i = 0; i < 4; i++)
        world_go_both(&r->it, PAWL_SECONDS(1));
    assert_int_equal(count_rows(r, "reader"), 0);
    assert_string_equal(happened.text, "");
    close_other(r, other);
}

/* The process ended in order: messages that went back to the broker with it may come for a while. */
ON_ALL_STORES(e3_for_a_while_after_another_process_a_reply_waits, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    takes_in(r, 0);
    pawl_store *other = open_other(url, "reader");
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    world_drain(&r->it);
    close_other(r, other);
    world_go_both(&r->it, PAWL_SECONDS(5));
    assert_int_equal(count_rows(r, "reader"), 1);
    put("m-1", "opening", "{\"number\":7}");
    takes_in(r, 1);
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
    for (int i = 0; i < 31; i++)
        world_go_both(&r->it, PAWL_SECONDS(1));
    world_post_json(&r->it, "m-3", "reply", "{\"number\":8}");
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 0);
}

/* The other process is killed right after this one has looked for deaths. */
/* In memory a handle dies by itself. */
ON_STORE(e3_behind_a_death_that_is_not_noticed_a_reply_waits, const char *url, "memory")
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    takes_in(r, 0);
    world_drain(&r->it);
    pawl_store_close(open_other(url, "reader")); /* without a word: it died */
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 1);
}

/* The other process is killed, and its rows are ended by this one. */
ON_STORE(e3_behind_a_death_that_was_cared_for_a_reply_waits, const char *url, "memory")
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    reading          *r     = open_direct(url, &(pawl_endpoint_options){.batch_messages = 5});
    takes_in(r, 0);
    pawl_store_close(open_other(url, "reader"));
    for (int i = 0; i < 5; i++)
        world_go_both(&r->it, PAWL_SECONDS(1));
    must(pawl_store_worker_crashed(r->it.store, r->it.arena, &items, &count, world_error()));
    assert_int_equal(count, 0);
    world_post_json(&r->it, "m-2", "reply", "{\"number\":7}");
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 1);
    put("m-1", "opening", "{\"number\":7}");
    takes_in(r, 1);
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(2)), happened, "opening(7) reply(7) ");
}
