/* test_runtime_intake.c - messages of a broker become rows of an endpoint's queue, each once, whatever fails in which order. The
 * broker is a list in memory that counts what was settled. E26, E27, E28, E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_intake_sample.h"
#include "test_picky_sample.h"

#include "pawl/store_queue.h"
#include "support/fault_store.h"

ON_ALL_STORES(e27_taken_messages_are_handled_and_settled, const char *url)
{
    reading *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 2});
    assert_string_equal(broker.queue, "reader");
    assert_string_equal(broker.type, "note");
    assert_int_equal(broker.type_count, 1);
    assert_int_equal(broker.prefetch, 4); /* one batch in hand, one on the way */
    put("m-1", "note", "{\"number\":1}")->message.headers        = PAWL_TEXT("{\"tone\":\"kind\"}");
    put("m-2", "note", "{\"number\":2}")->message.correlation_id = PAWL_TEXT("talk");
    put("m-3", "note", "{\"number\":3}");
    takes_in(r, 2);
    assert_int_equal(count_settled(), 2);
    pawl_queue_rows rows = world_queue(&r->it, "reader");
    assert_int_equal(rows.count, 2);
    assert_string_equal(rows.items[0].message.headers.data, "{\"tone\":\"kind\"}");
    assert_string_equal(rows.items[0].message.correlation_id.data,
                        "m-1"); /* a conversation begins */
    assert_string_equal(rows.items[1].message.correlation_id.data, "talk");
    takes_in(r, 1);
    takes_in(r, 0);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(2) note(3) ");
    assert_true(world_is_marked(&r->it, "m-3"));
}

/* The connection is lost between the commit and the acknowledgement: all come again. */
ON_ALL_STORES(e27_what_was_not_settled_comes_again_and_is_handled_once, const char *url)
{
    size_t   count = 0;
    reading *r     = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "note", "{\"number\":2}");
    broker.settles_to_fail = 2;
    assert_int_equal(step(r, &count), PAWL_ELOST);
    assert_int_equal(count, 0);
    assert_int_equal(broker.leaves, 1);
    assert_int_equal(world_queue(&r->it, "reader").count, 2);
    assert_int_equal(step(r, &count), PAWL_ELOST); /* while the rows are there */
    assert_int_equal(world_queue(&r->it, "reader").count, 2);
    world_drain(&r->it);
    takes_in(r, 2); /* while the marks are there */
    assert_int_equal(count_settled(), 2);
    world_drain(&r->it);
    assert_int_equal(world_queue(&r->it, "reader").count, 0);
    assert_string_equal(happened.text, "note(1) note(2) ");
}

/* Nothing else tells an operator what to look at. */
ON_STORE(a_broker_that_fails_without_a_word_is_named, const char *url, "memory")
{
    static const char said[] = "the inbound transport does not say why (ELOST)";
    size_t            count  = 0;
    reading          *r      = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    broker.is_silent         = true;
    put("m-1", "note", "{\"number\":1}");
    broker.settles_to_fail = 1;
    must_fail(pawl__intake_step(r->inbound, 0, -1, &count, world_error()), PAWL_ELOST, said);
    broker.breaks = true;
    must_fail(pawl__intake_step(r->inbound, 1, -1, &count, world_error()), PAWL_ELOST, said);
}

ON_ALL_STORES(e26_retries_and_their_delays_are_rows_of_the_store, const char *url)
{
    reading *r    = open_reading(url, &(pawl_endpoint_options){.immediate_retries = -1,
                                                               .delayed_retries   = 2,
                                                               .retry_delay       = PAWL_SECONDS(5)});
    failures_left = 2;
    put("m-1", "note", "{\"number\":1}");
    takes_in(r, 1);
    world_drain(&r->it);
    assert_int_equal(count_settled(), 1); /* the broker is done with it */
    assert_int_equal(world_queue(&r->it, "reader").items[0].attempts, 1);
    LOG_AFTER(world_go_both(&r->it, PAWL_MINUTES(1)), happened, "note(1) ");
    assert_int_equal(failures_left, 0);
}

static void dead_says(reading *r, size_t index, const char *id, const char *part)
{
    pawl_dead_rows dead = world_dead(&r->it);
    assert_true(index < dead.count);
    assert_string_equal(dead.items[index].endpoint.data, "reader");
    assert_string_equal(dead.items[index].queue.data, "reader");
    if (id != NULL)
        assert_string_equal(dead.items[index].message.id.data, id);
    if (!world_says(dead.items[index].error, part))
        fail_msg("'%s' does not say '%s'", dead.items[index].error.data, part);
}

ON_ALL_STORES(e28_without_a_type_it_is_dead_at_once_and_others_go_on, const char *url)
{
    reading *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "", "{\"number\":2}")->refusal = PAWL_TEXT("it has no type");
    put("m-3", "note", "{\"number\":3}");
    takes_in(r, 3);
    assert_int_equal(count_settled(), 3);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(3) ");
    assert_int_equal(world_dead(&r->it).count, 1);
    dead_says(r, 0, "m-2", "it has no type");
    assert_string_equal(world_dead(&r->it).items[0].message.body.data, "{\"number\":2}");
    assert_string_equal(world_dead(&r->it).items[0].code.data, "EDECODE");
}

/* A copy of a dead message, and the copy of one that was handled, which is without a type this time. */
ON_ALL_STORES(e34_a_copy_of_a_dead_message_is_dropped, const char *url)
{
    reading *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "", "{}")->refusal = PAWL_TEXT("it has no type");
    takes_in(r, 2);
    world_drain(&r->it);
    put("m-2", "", "{}")->refusal = PAWL_TEXT("it still has no type");
    put("m-2", "note", "{\"number\":2}");
    put("m-1", "", "{}")->refusal = PAWL_TEXT("it has lost its type");
    put("m-3", "note", "{\"number\":3}");
    takes_in(r, 4);
    assert_int_equal(count_settled(), 6);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(3) ");
    assert_int_equal(world_dead(&r->it).count, 1);
    dead_says(r, 0, "m-2", "it has no type");
}

ON_ALL_STORES(copies_in_one_take_are_one, const char *url)
{
    reading *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "", "{}")->refusal = PAWL_TEXT("it has no type");
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "", "{}")->refusal = PAWL_TEXT("it has no type either");
    takes_in(r, 4);
    assert_int_equal(count_settled(), 4);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) ");
    assert_int_equal(world_dead(&r->it).count, 1);
    dead_says(r, 0, "m-2", "it has no type");
}

/* Its mark would drop the first message of the id, which has none before it is handled. */
ON_ALL_STORES(e34_an_unreadable_second_one_drops_no_message_that_waits, const char *url)
{
    reading *r    = open_reading(url, &(pawl_endpoint_options){.immediate_retries = -1});
    failures_left = 1;
    put("m-1", "note", "{\"number\":1}");
    put("m-1", "", "{}")->refusal = PAWL_TEXT("it has no type"); /* in one take */
    put("m-2", "", "{}")->refusal = PAWL_TEXT("it has no type");
    put("m-2", "note", "{\"number\":2}"); /* the letter came first */
    takes_in(r, 4);
    world_step(&r->it);
    assert_int_equal(world_queue(&r->it, "reader").items[0].attempts, 1);
    put("m-1", "", "{}")->refusal = PAWL_TEXT("it has no type"); /* while the row waits */
    takes_in(r, 1);
    assert_int_equal(count_settled(), 5);
    assert_false(world_is_marked(&r->it, "m-1"));
    LOG_AFTER(world_go_both(&r->it, PAWL_MINUTES(60)), happened, "note(1) ");
    dead_says(r, 0, "m-2", "it has no type");
}

ON_ALL_STORES(e28_what_no_store_takes_is_dead_at_once, const char *url)
{
    static char long_id[PAWL_MESSAGE_ID_SIZE_MAX + 2], long_type[PAWL_NAME_SIZE_MAX + 2];
    static char long_headers[PAWL_HEADERS_SIZE_MAX + 2];
    memset(long_id, 'i', sizeof long_id - 1);
    memset(long_type, 't', sizeof long_type - 1);
    memset(long_headers, 'h', sizeof long_headers - 1);
    reading *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    put(long_id, "note", "{}");
    put("m-2", long_type, "{}");
    put("m-3", "note", "{}")->message.headers        = pawl_text_of(long_headers);
    put("m-4", "note", "{}")->message.correlation_id = pawl_text_of(long_id);
    put("m-5", "note", "{}")->message.causation_id   = pawl_text_of("\xff");
    broker.letters[4].taken.message.headers          = PAWL_TEXT("{\"pawl.saga_id\":\"\"}");
    put("m-6", "note", "no JSON");
    takes_in(r, 6);
    assert_int_equal(count_settled(), 6);
    assert_int_equal(world_dead(&r->it).count, 5);
    world_drain(&r->it);
    assert_int_equal(world_dead(&r->it).count, 6);
    pawl_dead_rows dead = world_dead(&r->it);
    for (size_t i = 0; i < dead.count; i++)
        if (strcmp(dead.items[i].message.id.data, "m-3") == 0)
            assert_true(world_says(dead.items[i].error, "field 'headers' has 65537 bytes"));
        else if (strcmp(dead.items[i].message.id.data, "m-5") == 0)
            assert_string_equal(dead.items[i].message.causation_id.data, "m-5");
    assert_string_equal(happened.text, "");
}

/* As many as may be unacknowledged at once, and good ones behind them, while rows are made at once and by way of the workers. */
ON_ALL_STORES(e28_a_body_over_the_limit_is_a_letter_without_it, const char *url)
{
    char *large = malloc(PAWL_BODY_SIZE_MAX + 2);
    assert_non_null(large);
    memset(large, 'x', PAWL_BODY_SIZE_MAX + 1);
    large[PAWL_BODY_SIZE_MAX + 1] = '\0';
    const char *why = test_text("its body has %d bytes, the limit is %d", PAWL_BODY_SIZE_MAX + 1,
                                PAWL_BODY_SIZE_MAX);
    reading    *r   = open_reading(url, &(pawl_endpoint_options){.batch_messages = 2});
    for (int is_direct = 0; is_direct < 2; is_direct++) {
        static const char *const ids[] = {"m-1", "m-2", "m-3", "m-4"};
        broker.count                   = 0;
        memset(broker.letters, 0, sizeof broker.letters);
        if (is_direct)
            begin_direct(r);
        put(ids[is_direct * 2], "note", large)->message.headers = PAWL_TEXT("{\"of\":\"mine\"}");
        put("", "note", large);
        put(ids[is_direct * 2 + 1], "note", "{\"number\":2}");
        takes_in(r, 2);
        takes_in(r, 1);
        world_drain(&r->it);
        takes_in(r, 0);
        assert_int_equal(count_settled(), 3);
    }
    assert_string_equal(happened.text, "note(2) note(2) ");
    pawl_dead_rows letters = world_dead(&r->it);
    assert_int_equal(letters.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(letters.items[i].code.data, "ELIMIT");
        assert_true(world_says(letters.items[i].error, why));
        assert_int_equal(letters.items[i].message.body.size, 0);
        bool has_id = letters.items[i].message.id.size == 3; /* the others have one made by pawl */
        assert_true(has_id || letters.items[i].message.id.size == PAWL_UUID_TEXT_SIZE);
        assert_true(pawl_text_equal(letters.items[i].message.headers,
                                    has_id ? PAWL_TEXT("{\"of\":\"mine\"}") : PAWL_TEXT("")));
    }
    free(large);
}

/* The queues have other names than their endpoints, as where each service has one queue in the broker's style. */
static const pawl_endpoint_spec named[] = {
    {.name = "reader", .queue = "reader.in", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})},
    {.name     = "renamed",
     .queue    = "reader.in",
     .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})}};
static const pawl_application names[] = {APPLICATION("named", &named[0]),
                                         APPLICATION("renamed", &named[1])};

/* An operator takes m-1 out for good, and makes a letter of m-2; copies of both come from the broker afterwards. */
static void purge_two(reading *r)
{
    pawl_queue_take take = {.action = PAWL_TAKE_DISCARD,
                            .queue  = PAWL_TEXT("reader.in"),
                            .by     = PAWL_TEXT("ann"),
                            .reason = PAWL_TEXT("")};
    for (int i = 0; i < 2; i++) {
        size_t         taken = 0;
        pawl_queue_row row   = world_queue(&r->it, "reader.in").items[0];
        take.action          = i == 0 ? PAWL_TAKE_DISCARD : PAWL_TAKE_DEAD_LETTER;
        must(pawl_store_queue_take(r->it.store, &take, &row.seq, 1, world_now(&r->it), &taken, NULL,
                                   world_error()));
        assert_int_equal(taken, 1);
    }
}

ON_ALL_STORES(e28_copies_of_what_was_purged_are_dropped_whatever_the_queue_is_named,
              const char *url)
{
    world_hold(url);
    for (int i = 0; i < 2; i++) {
        if (i == 1) { /* another endpoint has read the queue before */
            world before;
            world_open(&before, url, &names[1], "renamed", &(pawl_endpoint_options){.workers = 1});
            world_close(&before);
        }
        reading *r = open_reading_of(&names[0], url, &(pawl_endpoint_options){0});
        put(i == 0 ? "m-1" : "m-3", "note", "{\"number\":1}");
        put(i == 0 ? "m-2" : "m-4", "note", "{\"number\":2}");
        takes_in(r, 2);
        purge_two(r);
        for (int copy = 0; copy < 2; copy++) {
            broker.letters[copy].is_out = broker.letters[copy].is_settled = false;
            atomic_store(&gone, 0);
        }
        takes_in(r, 2);
        LOG_AFTER(world_drain(&r->it), happened, "");
        assert_int_equal(world_queue(&r->it, "reader.in").count, 0);
        pawl_dead_rows letters = world_dead(&r->it);
        assert_int_equal(letters.count, i + 1);
        assert_string_equal(letters.items[0].endpoint.data, "reader");
        test_now(r);
    }
}

ON_STORES(without_an_id_each_is_handled_and_that_is_told_once, const char *url)
{
    reading          *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 2});
    static test_lines warnings;
    test_listen(&warnings, PAWL_LOG_WARNING, "messages without an id");
    put("", "note", "{\"number\":1}");
    put("", "note", "{\"number\":1}");
    put("", "note", "{\"number\":2}");
    takes_in(r, 2);
    takes_in(r, 1);
    world_quiet();
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(1) note(2) ");
    assert_int_equal(warnings.count, 1);
}

/* Nothing is taken, only to be given back, until the store is there. */
ON_STORES(when_the_store_is_away_nothing_is_taken, const char *url)
{
    size_t      count = 0;
    const char *there = NULL;
    reading    *r     = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    put("m-1", "note", "{\"number\":1}");
    there                          = r->it.endpoint->settings.store;
    r->it.endpoint->settings.store = "sqlite:/nowhere/at/all.db";
    assert_int_not_equal(step(r, &count), PAWL_OK);
    assert_int_not_equal(step(r, &count), PAWL_OK);
    assert_int_equal(broker.takes, 0);
    assert_int_equal(count_settled(), 0);
    r->it.endpoint->settings.store = there;
    takes_in(r, 1);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) ");
}

/* ---- What a store does not take --------------------------------------------------------- */

/* RabbitMQ drops what was returned too often, with what was taken beside it. */
ON_STORES(e28_a_message_that_this_store_does_not_take_is_dead_and_others_go_on, const char *url)
{
    reading *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    put("m-0", "note", "{\"number\":0}");
    takes_in(r, 1);
    make_picky(r);
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "note", "{\"number\":2}");
    put("", "note", "{\"number\":3}");
    takes_in(r, 3);
    r->inbound->store->ops = behind_picky;
    assert_int_equal(count_settled(), 4);
    LOG_AFTER(world_drain(&r->it), happened, "note(0) note(1) note(3) ");
    assert_int_equal(world_dead(&r->it).count, 1);
    dead_says(r, 0, "m-2", "a packet of 9 MB: its body is left out of this dead letter, and gone");
    assert_int_equal(world_dead(&r->it).items[0].message.body.size, 0);
    assert_string_equal(world_dead(&r->it).items[0].code.data, "ELIMIT");
}

/* A store whose disk is full, or where a right was taken away, can be read. RabbitMQ drops a message that was returned
 * too often. */
static reading *open_full(const char *url, char *inner, size_t size)
{
    scenario_url_like(url, inner, size);
    world_hold(inner);
    fault_bind("full", inner);
    return open_reading("fault:full", &(pawl_endpoint_options){.batch_messages = 10});
}

/* Nothing is taken but the once that found it out; then all that is there comes again. */
static void ask_before_more(reading *r, pawl_code code)
{
    size_t           count = 0;
    int              takes = broker.takes;
    const fault_plan full  = {.kind = FAULT_BEFORE, .op = fault_op_commit, .code = code};
    fault_plan_set(&full);
    for (int i = 0; i < 5; i++)
        assert_int_not_equal(step(r, &count), PAWL_OK);
    assert_int_equal(broker.takes, takes + 1);
    fault_plan_set(NULL);
}

static void ask_for_rows(const char *url, pawl_code code)
{
    char     inner[300];
    reading *r = open_full(url, inner, sizeof inner);
    put("m-1", "note", "{\"number\":1}");
    put("", "note", "{\"number\":2}");
    ask_before_more(r, code);
    takes_in(r, 2);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(2) ");
    assert_int_equal(count_settled(), 2);
    test_now(r);
    scenario_forget(inner);
}

ON_STORES(e27_a_full_store_is_asked_before_more_is_taken, const char *url)
{
    ask_for_rows(url, PAWL_EFULL);
}

ON_STORES(e27_a_store_that_takes_nothing_is_asked_before_more_is_taken, const char *url)
{
    ask_for_rows(url, PAWL_EPERSIST);
    ask_for_rows(url, PAWL_EDENIED);
}

/* Messages without an id, and those that become dead letters, are handed out once more, and each is there once. */
ON_ALL_STORES(e27_a_full_store_is_asked_whatever_was_taken, const char *url)
{
    char     inner[300];
    reading *r = open_full(url, inner, sizeof inner);
    put("", "note", "{\"number\":1}");
    put("", "note", "{\"number\":2}");
    ask_before_more(r, PAWL_EFULL);
    takes_in(r, 2);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(2) ");
    put("m-3", "", "{\"number\":3}")->refusal = PAWL_TEXT("it has no type");
    ask_before_more(r, PAWL_EFULL);
    takes_in(r, 1);
    dead_says(r, 0, "m-3", "it has no type");
    put("", "", "{\"number\":4}")->refusal = PAWL_TEXT("it has neither");
    ask_before_more(r, PAWL_EFULL);
    takes_in(r, 1);
    put("\xff", "note", "{\"number\":5}"); /* the letter's id is made of it */
    ask_before_more(r, PAWL_EFULL);
    takes_in(r, 1);
    world_drain(&r->it);
    assert_int_equal(world_dead(&r->it).count, 3);
    assert_int_equal(world_queue(&r->it, "reader").count, 0);
    assert_int_equal(count_settled(), 5);
    for (size_t i = 0; i < broker.count; i++)
        assert_int_equal(broker.letters[i].outs, 2);
    test_now(r);
    scenario_forget(inner);
}

static int commits_left;

static pawl_code commit_small_until_full(pawl_store *store, const pawl_changes *changes,
                                         pawl_refusals *refused, pawl_error *error)
{
    if (commits_left-- <= 0)
        return pawl_error_set(error, PAWL_EFULL, "the disk is full");
    return commit_small(store, changes, refused, error);
}

/* Its disk is full when the letter of the message that it does not take is written: that letter is what it is asked for. */
ON_STORES(e27_a_store_that_is_full_behind_a_refused_row_is_asked_for_its_letter, const char *url)
{
    size_t   count = 0;
    reading *r     = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    takes_in(r, 0);
    make_picky(r);
    picky.commit = commit_small_until_full;
    commits_left = 3; /* all, m-1, m-2 */
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "note", "{\"number\":2}");
    put("m-3", "note", "{\"number\":3}");
    assert_int_not_equal(step(r, &count), PAWL_OK);
    assert_int_equal(r->inbound->kept.unit_count, 1);
    assert_int_equal(r->inbound->kept.dead_set.count, 1);
    takes_in(r, 3);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(3) ");
    assert_int_equal(world_dead(&r->it).count, 1);
    dead_says(r, 0, "m-2", "a packet of 9 MB");
}

/* A program that steps, under a virtual clock: a message is due now, or when it says. */
ON_STORES(a_program_that_steps_takes_in_by_itself, const char *url)
{
    size_t    count = 0;
    reading  *r     = open_reading(url, &(pawl_endpoint_options){.batch_messages = 2});
    pawl_time now   = pawl__business_now(r->it.endpoint);
    broker.call     = NULL; /* the endpoint has another intake */
    put("m-1", "note", "{\"number\":1}");
    put("m-2", "note", "{\"number\":2}")->due = now + PAWL_SECONDS(5);
    put("m-3", "note", "{\"number\":3}");
    must(pawl_endpoint_receive(r->it.endpoint, 0, &count, world_error()));
    assert_int_equal(broker.wake_fd, r->it.endpoint->stop_fd); /* a stop ends the wait */
    assert_int_equal(count, 2);
    must(pawl_endpoint_receive(r->it.endpoint, 0, &count, world_error()));
    assert_int_equal(broker.wake_fd, r->it.endpoint->stop_fd); /* a stop ends the wait */
    assert_int_equal(count, 1);
    assert_int_equal(count_settled(), 3);
    LOG_AFTER(world_drain(&r->it), happened, "note(1) note(3) ");
    LOG_AFTER(world_go_both(&r->it, PAWL_SECONDS(5)), happened, "note(1) note(3) note(2) ");
    test_now(r);
    assert_int_equal(broker.closes, 3); /* the test's own, the endpoint's, that of the check */
}

ON_STORES(who_has_no_transport_receives_nothing, const char *url)
{
    size_t     count = 1;
    pawl_error error = PAWL_ERROR_INIT;
    world     *it =
        world_begin(url, &application, "reader", &(pawl_endpoint_options){.batch_messages = 2});
    assert_int_equal(pawl_endpoint_receive(it->endpoint, 0, &count, &error), PAWL_EINVAL);
    assert_int_equal(count, 0);
    assert_true(strstr(error.text, "endpoint reader: it has no option transport") != NULL);
}

ON_STORES(the_queue_of_the_broker_may_have_another_name, const char *url)
{
    reading *r = open_reading(url, &(pawl_endpoint_options){.transport = "list://here/#letters"});
    assert_string_equal(broker.queue, "letters");
    put("m-1", "note", "{\"number\":1}");
    takes_in(r, 1);
    assert_int_equal(world_queue(&r->it, "reader").count, 1);
}

ON_STORES(the_pause_grows_with_jitter, const char *url)
{
    int64_t  last      = 0;
    bool     is_chance = false;
    reading *r         = open_reading(url, &(pawl_endpoint_options){.batch_messages = 2});
    for (int i = 0; i < 40; i++) {
        int64_t whole = i < 9 ? PAWL_MILLISECONDS(100) << i : PAWL_SECONDS(30);
        int64_t pause = pawl__intake_pause(r->inbound, i);
        whole         = whole > PAWL_SECONDS(30) ? PAWL_SECONDS(30) : whole;
        assert_in_range(pause, whole - whole / 10, whole + whole / 10);
        is_chance = is_chance || (i > 12 && pause != last);
        last      = pause;
    }
    assert_true(is_chance);
}

/* ---- What is refused -------------------------------------------------------------------- */

static void refuses(const char *transport, const char *part)
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = "memory:refused";
    options.transport              = transport;
    pawl_code code = pawl_endpoint_create(&application, "reader", &options, &endpoint, &error);
    if (code != PAWL_ECONFIG || strstr(error.text, part) == NULL)
        fail_msg("'%s' gives %s: '%s', which does not say '%s'", transport, pawl_code_name(code),
                 error.text, part);
    assert_null(endpoint);
}

TEST(a_transport_that_nobody_knows_is_refused)
{
    static char long_url[PAWL_URL_SIZE_MAX + 2];
    memset(long_url, 'u', sizeof long_url - 1);
    must(pawl_inbound_register(&list, world_error()));
    refuses("letters", "option transport: it is not a URL");
    refuses("pigeon://roof/", "no broker is known by the scheme 'pigeon'");
    refuses("list://there/", "option transport: list: 'list://there/' is not here");
    refuses("list://mute/", "option transport: the inbound transport does not say why (EDENIED)");
    refuses("list://here/?key=order.#.eu",
            "option transport: a '#' in a routing key is written %23: ");
    refuses("list://here/?key=order.#", "a '#' in a routing key");
    refuses("list://here/?key=#&other=1", "a '#' in a routing key");
    refuses("list://here/?key=order.##letters", "list: 'list://here/?key=order.#' is not here");
    refuses("list://there/#.eu", "list: 'list://there/' is not here");
    refuses("list://there/#.eu?x", "list: 'list://there/' is not here");
    refuses(long_url, "it has 2001 bytes, the limit is 2000");
}

TEST(tables_of_intakes_are_checked)
{
    pawl_inbound_ops other = list;
    must(pawl_inbound_register(&list, world_error()));
    must(pawl_inbound_register(&list, world_error()));
    assert_int_equal(pawl_inbound_register(&other, world_error()), PAWL_EDUPLICATE);
    other.scheme   = "other";
    other.ops_size = sizeof other - 1; /* ends within an entry */
    assert_int_equal(pawl_inbound_register(&other, world_error()), PAWL_ECONFIG);
    other.ops_size = offsetof(pawl_inbound_ops, leave);
    assert_int_equal(pawl_inbound_register(&other, world_error()), PAWL_ECONFIG);
    other.ops_size = sizeof other;
    other.settle   = NULL;
    assert_int_equal(pawl_inbound_register(&other, world_error()), PAWL_ECONFIG);
    other        = list;
    other.scheme = "a:b";
    assert_int_equal(pawl_inbound_register(&other, world_error()), PAWL_ECONFIG);
    assert_int_equal(pawl_inbound_register(NULL, world_error()), PAWL_ECONFIG);
}
