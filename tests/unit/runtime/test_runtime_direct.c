/* test_runtime_direct.c - messages of a broker that workers handle before they are rows: each once, and settled behind its
 * commit, whatever fails in which order; what is not handled at once is a row. E26, E27, E28, E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_direct_sample.h"
#include "test_picky_sample.h"

#include "support/fault_memory.h"
#include "support/fault_store.h"

/* ---- The way of a message ------------------------------------------------------------ */

ON_ALL_STORES(e27_handed_over_it_is_no_row_and_is_settled_behind_its_commit, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 10});
    for (int i = 1; i <= 3; i++)
        put_note(i);
    takes_in(r, 3);
    assert_int_equal(count_rows(r, "reader"), 0);
    assert_int_equal(r->inbound->unsettled, 3);
    assert_int_equal(world_step(&r->it).handled, 3);
    assert_int_equal(count_rows(r, "out"), 3);
    assert_true(world_is_marked(&r->it, "m-2"));
    assert_int_equal(count_settled(), 0); /* the reading thread settles */
    takes_in(r, 0);
    assert_int_equal(count_settled(), 3);
    assert_int_equal(r->inbound->unsettled, 0);
    assert_int_equal(atomic_load(&runs), 3);
    assert_null(r->it.endpoint->offers.batches);
}

ON_ALL_STORES(e26_failing_it_is_a_row_with_all_its_retries, const char *url)
{
    reading *r =
        open_direct(url, &(pawl_endpoint_options){
                             .immediate_retries = 5, .delayed_retries = -1, .batch_messages = 10});
    put_note(1);
    put_note(2);
    failures_left = 7;
    takes_in(r, 2);
    assert_int_equal(world_step(&r->it).handled, 0); /* one run of each */
    assert_int_equal(atomic_load(&runs), 2);
    assert_int_equal(count_settled(), 0);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 2);
    assert_int_equal(count_rows(r, "reader"), 2);
    assert_int_equal(world_queue(&r->it, "reader").items[0].attempts, 0);
    assert_int_equal(world_drain(&r->it).handled,
                     2); /* 5 failures are left: the sixth run does it */
    assert_int_equal(count_rows(r, "out"), 2);
    put_note(3);
    failures_left = 100;
    takes_in(r, 1);
    world_step(&r->it);
    takes_in(r, 0);
    world_drain(&r->it);
    assert_int_equal(world_dead(&r->it).count, 1);
    assert_string_equal(world_dead(&r->it).items[0].message.id.data, "m-3");
    assert_int_equal(world_dead(&r->it).items[0].attempts, 1);
}

ON_ALL_STORES(e28_what_cannot_be_handled_is_dead_and_what_needs_a_row_is_one, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 10});
    put_note(1);
    put_note(2);
    broker.letters[1].taken.is_redelivered = true;
    put_note(3);
    broker.letters[2].taken.due = world_now(&r->it) + PAWL_SECONDS(5);
    put("", "note", "{\"number\":4}");
    put("m-5", "", "{}")->refusal = PAWL_TEXT("it has no type");
    put("m-6", "note", "no JSON");
    takes_in(r, 6);
    assert_int_equal(count_settled(), 4); /* all but the first and the last */
    assert_int_equal(count_rows(r, "reader"), 3);
    assert_int_equal(world_dead(&r->it).count, 1);
    world_drain(&r->it);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 6);
    world_drain(&r->it);
    assert_int_equal(world_dead(&r->it).count, 2);
    assert_int_equal(count_rows(r, "out"), 3);
    world_go_both(&r->it, PAWL_SECONDS(5));
    assert_int_equal(count_rows(r, "out"), 4);
}

/* By the option audit: one copy, whether the broker's message was a row or not. */
ON_ALL_STORES(e27_a_handled_one_is_copied_once_for_an_audit, const char *url)
{
    reading *r =
        open_direct(url, &(pawl_endpoint_options){
                             .batch_messages = 10, .immediate_retries = -1, .audit = "#audits"});
    failures_left = 1;
    put_note(1); /* becomes a row */
    put_note(2);
    takes_in(r, 2);
    assert_int_equal(world_step(&r->it).handled, 1);
    takes_in(r, 0);
    world_drain(&r->it);
    put_note(2); /* behind its mark */
    put("m-3", "note", "no JSON");
    takes_in(r, 2);
    world_drain(&r->it);
    takes_in(r, 0);
    world_go(&r->it, PAWL_SECONDS(1));
    assert_int_equal(world_dead(&r->it).count, 1);
    pawl_queue_rows copies = world_queue(&r->it, "audits");
    assert_int_equal(copies.count, 2);
    bool is_first = world_says(copies.items[0].message.headers, "\"pawl.audit.id\":\"m-1\"");
    assert_true(world_says(copies.items[is_first].message.headers, "\"pawl.audit.id\":\"m-2\""));
    assert_true(world_says(copies.items[!is_first].message.headers, "\"pawl.audit.id\":\"m-1\""));
}

ON_ALL_STORES(e34_copies_are_handled_once, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    put_note(1);
    put_note(1); /* in one take */
    put_note(2);
    put_note(1); /* in another */
    takes_in(r, 2);
    assert_int_equal(world_step(&r->it).handled, 1);
    takes_in(r, 2);
    world_drain(&r->it);
    takes_in(r, 0);
    world_drain(&r->it);
    put_note(2); /* behind its mark */
    takes_in(r, 1);
    world_drain(&r->it);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 5);
    assert_int_equal(count_rows(r, "out"), 2);
    assert_int_equal(atomic_load(&runs), 2);
    assert_int_equal(count_rows(r, "reader"), 0);
}

/* The first one is offered, in flight, and given back. Its mark would drop it. */
ON_ALL_STORES(e34_an_unreadable_second_one_drops_no_message_in_flight, const char *url)
{
    pawl__deliveries hand;
    reading         *r       = open_direct(url, &(pawl_endpoint_options){.batch_messages = 4});
    pawl__offers    *offers  = &r->it.endpoint->offers;
    pawl_text        refusal = PAWL_TEXT("it has no type");
    put_note(1);
    put("m-1", "", "{}")->refusal = refusal;
    put("m-2", "", "{}")->refusal = refusal;
    takes_in(r, 3);
    assert_int_equal(count_settled(), 2);
    assert_true(pawl__offers_take(offers, 1, &hand));
    put("m-1", "", "{}")->refusal = refusal;
    takes_in(r, 1);
    assert_int_equal(count_settled(), 3);
    assert_false(world_is_marked(&r->it, "m-1"));
    pawl__offers_give(offers, &hand);
    put("m-1", "", "{}")->refusal = refusal;
    takes_in(r, 1);
    assert_int_equal(count_rows(r, "reader"), 1);
    assert_int_equal(count_settled(), 5);
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "out"), 1);
    assert_int_equal(world_dead(&r->it).count, 1);
    put("m-1", "", "{}")->refusal = refusal; /* behind its mark */
    takes_in(r, 1);
    assert_int_equal(world_dead(&r->it).count, 1);
}

/* Its handler runs: with neither row nor letter nothing would have it once the handler fails. */
static void is_dead_in_flight(reading *r, pawl__deliveries *hand)
{
    assert_int_equal(count_settled(), 1);
    assert_true(world_is_marked(&r->it, "m-2"));
    assert_int_equal(world_dead(&r->it).count, 1);
    assert_string_equal(world_dead(&r->it).items[0].message.id.data, "m-2");
    pawl__offers_forget(&r->it.endpoint->offers);
    pawl__offers_give(&r->it.endpoint->offers, hand);
    assert_null(r->it.endpoint->offers.batches);
}

static reading *open_picky(const char *url, pawl__deliveries *hand)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    takes_in(r, 0);
    make_picky(r);
    put_note(2);
    takes_in(r, 1);
    assert_true(pawl__offers_take(&r->it.endpoint->offers, 1, hand));
    return r;
}

ON_ALL_STORES(e34_a_row_that_is_refused_at_the_end_is_no_second_one_of_itself, const char *url)
{
    pawl__deliveries hand;
    pawl_taken       item;
    reading         *r    = open_picky(url, &hand);
    pawl_takings     left = {.items = &item};
    left.count = pawl__offers_collect(&r->it.endpoint->offers, PAWL__DELIVERY_IN_FLIGHT, &item);
    must(pawl__intake_store(r->inbound, &left, world_error()));
    is_dead_in_flight(r, &hand);
}

ON_ALL_STORES(e34_a_refused_copy_of_a_lost_connection_is_no_second_one, const char *url)
{
    pawl__deliveries hand;
    reading         *r = open_picky(url, &hand);
    pawl__intake_disconnect(r->inbound);
    takes_in(r, 1);
    is_dead_in_flight(r, &hand);
}

/* Another process handles a copy meanwhile: the commit of this one is refused at the mark. The others of the batch stand. */
ON_ALL_STORES(e34_a_copy_that_is_handled_elsewhere_meanwhile_is_dropped, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 3});
    put_note(1);
    put_note(77);
    put_note(2);
    meddler = &r->it;
    takes_in(r, 3);
    assert_int_equal(world_step(&r->it).handled, 2);
    meddler = NULL;
    takes_in(r, 0);
    assert_int_equal(count_settled(), 3);
    assert_int_equal(count_rows(r, "reader"), 1);
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 0);
    assert_int_equal(count_rows(r, "out"), 2);
    assert_int_equal(atomic_load(&runs), 3);
}

/* A worker has taken it, and has not handled it: with that it is a row. */
ON_STORES(what_is_given_back_is_a_row, const char *url)
{
    pawl__deliveries other;
    reading         *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 1});
    put_note(1);
    put_note(1);
    takes_in(r, 1);
    assert_true(pawl__offers_take(&r->it.endpoint->offers, 1, &other));
    takes_in(r, 1);
    assert_int_equal(world_step(&r->it).handled, 1);
    pawl__offers_give(&r->it.endpoint->offers, &other);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 2);
    assert_int_equal(count_rows(r, "reader"), 1);
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "reader"), 0);
    assert_int_equal(count_rows(r, "out"), 1);
}

ON_ALL_STORES(e27_when_the_connection_is_lost_it_comes_again_and_is_handled_once, const char *url)
{
    size_t   count;
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    put_note(1);
    put_note(2);
    put_note(3);
    takes_in(r, 2);
    world_step(&r->it);
    broker.settles_to_fail = 1;
    assert_int_equal(step(r, &count), PAWL_ELOST);
    assert_int_equal(r->inbound->unsettled, 0);
    assert_null(r->it.endpoint->offers.batches);
    takes_in(r, 2); /* copies: rows, which the marks drop */
    assert_int_equal(count_settled(), 2);
    takes_in(r, 1);
    world_drain(&r->it);
    takes_in(r, 0);
    assert_int_equal(count_settled(), 3);
    assert_int_equal(count_rows(r, "out"), 3);
    assert_int_equal(atomic_load(&runs), 3);
}

ON_STORES(what_a_worker_has_when_the_connection_is_lost_is_not_settled, const char *url)
{
    size_t           count;
    pawl__deliveries hand;
    reading         *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    put_note(1);
    put_note(2);
    takes_in(r, 2);
    assert_true(pawl__offers_take(&r->it.endpoint->offers, 1, &hand));
    assert_int_equal(pawl__offers_in_flight(&r->it.endpoint->offers), 1);
    world_step(&r->it); /* the other one */
    broker.settles_to_fail = 1;
    assert_int_equal(step(r, &count), PAWL_ELOST);
    *hand.parts[0].batch->is_done = true;
    pawl__offers_give(&r->it.endpoint->offers, &hand);
    assert_null(r->it.endpoint->offers.batches);
    takes_in(r, 2);
    assert_int_equal(count_settled(), 2);
    assert_int_equal(r->inbound->unsettled, 0);
}

/* ---- Who does not take ---------------------------------------------------------------- */

ON_ALL_STORES(what_nobody_takes_becomes_a_row, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    for (int i = 1; i <= 5; i++)
        put_note(i);
    takes_in(r, 2);
    takes_in(r, 0); /* no more, until somebody takes */
    assert_int_equal(count_rows(r, "reader"), 0);
    pawl__offers_withdraw(&r->it.endpoint->offers, INT64_MAX);
    takes_in(r, 2);
    assert_int_equal(count_rows(r, "reader"), 2);
    assert_int_equal(count_settled(), 2);
    atomic_store(&r->it.endpoint->pause.due, world_now(&r->it) + PAWL_SECONDS(1));
    atomic_store(&r->it.endpoint->pause.is_paused, true);
    takes_in(r, 1);
    pawl_clock_set(r->it.business,
                   pawl_clock_now(r->it.business) + 10); /* each has a time of its own */
    assert_int_equal(count_rows(r, "reader"), 5);
    assert_int_equal(count_settled(), 5);
    atomic_store(&r->it.endpoint->pause.is_paused, false);
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "out"), 5);
}

ON_STORES(at_the_end_what_nobody_took_is_a_row, const char *url)
{
    reading *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    put_note(1);
    put_note(2);
    takes_in(r, 2);
    pawl__intake_end_offers(r->inbound);
    assert_int_equal(count_settled(), 2);
    assert_int_equal(count_rows(r, "reader"), 2);
    world_drain(&r->it);
    assert_int_equal(count_rows(r, "out"), 2);
}

ON_STORES(the_queue_has_its_turns, const char *url)
{
    pawl__worker *worker;
    reading      *r = open_direct(url, &(pawl_endpoint_options){.batch_messages = 2});
    worker          = r->it.endpoint->worker;
    for (int i = 1; i <= 6; i++)
        put_note(i);
    for (int i = 0; i < 4; i++)
        world_post_json(&r->it, NULL, "note", "{\"number\":9}");
    takes_in(r, 2);
    world_step(&r->it);
    assert_true(worker->rowless.was_last);
    worker->rowless.queue_due = 0; /* long ago */
    takes_in(r, 2);
    world_step(&r->it);
    assert_int_equal(count_rows(r, "reader"), 2);
    assert_false(worker->rowless.was_last);
    world_step(&r->it);
    assert_true(worker->rowless.was_last);
    assert_int_equal(count_rows(r, "reader"), 2);
}

/* ---- Faults --------------------------------------------------------------------------- */

/* Once everything works again, all messages are settled, and each has been handled once, or is a dead letter if it was
 * alone in a commit that was refused for its content. */
static void all_is_done_once(reading *r, int count)
{
    size_t ignored;
    fault_plan_set(NULL);
    for (int i = 0; i < 10 && (count_settled() < broker.count || i < 3); i++) {
        /* A worker that was not there for long: nothing here waits for a clock. */
        pawl__offers_withdraw(&r->it.endpoint->offers, INT64_MAX);
        (void)step(r, &ignored);
        world_go_both(&r->it, PAWL_MINUTES(2));
    }
    assert_int_equal(count_settled(), broker.count);
    assert_int_equal(count_rows(r, "reader"), 0);
    assert_int_equal(count_rows(r, "out") + world_dead(&r->it).count, count);
}

static void go_through(reading *r)
{
    size_t     ignored;
    pawl_step  went  = PAWL_STEP_INIT;
    pawl_error error = PAWL_ERROR_INIT;
    for (int i = 0; i < 6; i++) {
        (void)step(r, &ignored);
        (void)pawl_endpoint_step(r->it.endpoint, &went, &error);
    }
}

static void run_with_faults(const char *url, fault_kind kind, fault_op op, pawl_code code)
{
    bool was_reached = true;
    for (long n = 1; was_reached; n++) {
        fault_plan plan = {.kind = kind, .op = op, .n = n, .code = code};
        char       inner[300];
        scenario_url_like(url, inner, sizeof inner);
        world_hold(inner);
        fault_bind("direct", inner);
        reading *r = open_direct("fault:direct", &(pawl_endpoint_options){.batch_messages = 3});
        for (int i = 1; i <= 5; i++)
            put_note(i);
        failures_left = 1;
        fault_plan_set(&plan);
        go_through(r);
        was_reached = fault_was_reached();
        all_is_done_once(r, 5);
        test_now(r);
        scenario_forget(inner);
    }
}

ON_STORES(e27_whatever_call_of_the_store_fails, const char *url)
{
    run_with_faults(url, FAULT_BEFORE, fault_op_any, PAWL_ELOST);
    run_with_faults(url, FAULT_BEFORE, fault_op_commit, PAWL_EBUSY);
    run_with_faults(url, FAULT_BEFORE, fault_op_commit, PAWL_ELIMIT);
}

ON_STORES(e27_whatever_answer_of_the_store_is_lost, const char *url)
{
    run_with_faults(url, FAULT_AFTER, fault_op_any, PAWL_OK);
    run_with_faults(url, FAULT_UNKNOWN, fault_op_commit, PAWL_OK);
    run_with_faults(url, FAULT_LATE, fault_op_commit, PAWL_OK);
    run_with_faults(url, FAULT_DONE_RESOLVE_FAILS, fault_op_commit, PAWL_OK);
    run_with_faults(url, FAULT_LOST_RESOLVE_FAILS, fault_op_commit, PAWL_OK);
}

ON_STORES(e27_whatever_allocation_fails, const char *url)
{
    bool was_reached = true;
    for (long n = 1; was_reached; n++) {
        char inner[300];
        scenario_url_like(url, inner, sizeof inner);
        reading *r = open_direct(inner, &(pawl_endpoint_options){.batch_messages = 3});
        for (int i = 1; i <= 5; i++)
            put_note(i);
        fault_memory_begin(n);
        go_through(r);
        was_reached = fault_memory_end();
        fault_memory_set(0);
        all_is_done_once(r, 5);
        test_now(r);
        scenario_forget(inner);
    }
}

void (*const tests_first)(void) = fault_memory_install;
