/* test_runtime_intake_health.c - health and metrics of an endpoint's reading from a broker, an alarm, what its end is told of,
 * the clocks of two readers, ids that no store can keep, wrong answers and short tables of a transport. E28, O23, E29.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_intake_sample.h"

#include "pawl/store_alarm.h"
#include "pawl/store_event_store.h"
#include "runtime/endpoint/service.h"
#include "support/observed.h"
#include "support/thread.h"

static double metric(observed *p, const char *name)
{
    return exposition_value(observed_metrics(p), test_text("%s{endpoint=\"reader\"}", name));
}

static reading *observe_reading(observed *p, const char *url)
{
    static const pawl_observe_options served = {.options_size = sizeof served,
                                                .port         = PAWL_OBSERVE_PORT_ANY};
    *p                                       = (observed){.target = ""};
    reading *r =
        open_reading(url, &(pawl_endpoint_options){.batch_messages = 10, .observe = &served});
    p->it = r->it;
    return r;
}

ON_MODULE(health_tells_since_when_nothing_is_read, const char *url, "memory")
{
    observed p;
    size_t   count = 0;
    reading *r     = observe_reading(&p, url);
    pawl_clock_set(r->it.machine, WORLD_START + PAWL_SECONDS(3));
    pawl_observe_answer answer = observed_ask(&p, "/readyz");
    assert_int_equal(answer.status, 200);
    assert_true(world_says(answer.body, "{\"name\":\"inbound\",\"status\":\"degraded\",\"reason\":"
                                        "\"endpoint reader: nothing has been taken from its broker "
                                        "for 3 s: not connected yet\"}"));
    takes_in(r, 0);
    answer = observed_ask(&p, "/readyz");
    assert_true(world_says(answer.body, "{\"name\":\"inbound\",\"status\":\"healthy\"}"));
    put("m-1", "note", "{\"number\":1}");
    broker.settles_to_fail = 2;
    assert_int_equal(step(r, &count), PAWL_ELOST);
    pawl_clock_set(r->it.machine, WORLD_START + PAWL_SECONDS(8));
    assert_int_equal(step(r, &count), PAWL_ELOST); /* since the first failure */
    answer = observed_ask(&p, "/readyz");
    assert_true(world_says(answer.body, "from its broker for 5 s: list: the connection is lost"));
}

ON_MODULE(metrics_tell_what_was_read, const char *url, "memory")
{
    observed p;
    size_t   count = 0;
    reading *r     = observe_reading(&p, url);
    assert_true(metric(&p, "pawl_inbound_connected") == 0);
    put("m-1", "note", "{\"number\":1}");
    put("", "note", "{\"number\":2}");
    takes_in(r, 2);
    begin_direct(r);
    put("m-3", "note", "{\"number\":3}");
    takes_in(r, 1); /* for a worker */
    assert_true(metric(&p, "pawl_inbound_connected") == 1);
    assert_true(metric(&p, "pawl_inbound_received_total") == 3);
    assert_true(metric(&p, "pawl_inbound_without_id_total") == 1);
    assert_true(metric(&p, "pawl_inbound_unacknowledged") == 1);
    put("m-4", "note", "{\"number\":4}")->is_redelivered = true; /* a row at once */
    broker.settles_to_fail                               = 1;
    assert_int_equal(step(r, &count), PAWL_ELOST);
    assert_true(metric(&p, "pawl_inbound_connected") == 0);
    assert_true(metric(&p, "pawl_inbound_received_total") == 3);
    assert_true(metric(&p, "pawl_inbound_unacknowledged") == 0); /* of a connection that is gone */
}

ON_MODULE(without_a_transport_there_is_no_check, const char *url, "memory")
{
    static const pawl_observe_options served = {.options_size = sizeof served,
                                                .port         = PAWL_OBSERVE_PORT_ANY};
    observed                          p      = {.target = ""};
    world_open(&p.it, url, &application, "reader", &(pawl_endpoint_options){.observe = &served});
    assert_false(world_says(observed_ask(&p, "/readyz").body, "inbound"));
    world_close(&p.it);
}

/* Each connection can be made, and is lost by the first wait: that proves no end, and the pauses grow from 100 ms on. */
ON_MODULE(a_broker_that_is_lost_again_and_again_is_tried_ever_less, const char *url, "memory")
{
    runner it;
    broker = (struct broker){.channel = 1, .breaks = true};
    atomic_store(&losses, 0);
    must(pawl_inbound_register(&list, world_error()));
    int64_t begin = pawl__monotonic_now();
    runner_open(&it, &application, "reader", url,
                (pawl_endpoint_options){.transport = "list://here/", .workers = 1});
    while (atomic_load(&losses) < 4)
        usleep(1000);
    assert_true(pawl__monotonic_now() - begin >= PAWL_MILLISECONDS(90 + 180 + 360));
    runner_close(&it);
}

/* The store is not blamed. */
ON_MODULE(e29_a_reader_that_does_not_return_is_named, const char *url, "memory")
{
    runner   it;
    patience left = patience_of(THREAD_SECONDS);
    broker        = (struct broker){.channel = 1};
    must(pawl_inbound_register(&list, world_error()));
    atomic_store(&hanging, 1);
    runner_create(&it, &application, "reader", url,
                  (pawl_endpoint_options){
                      .transport = "list://here/", .workers = 1, .stop_wait = PAWL_SECONDS(1)});
    runner_start(&it);
    wait_for_count(&hanging, 2);
    pawl_endpoint_stop(it.endpoint);
    runner_join(&it);
    assert_int_equal(it.code, PAWL_ETIMEOUT);
    if (strstr(it.error.text, "the thread that reads the broker waits for it") == NULL)
        fail_msg("'%s' does not name it", it.error.text);
    if (strstr(it.error.text, "a worker waits for the thread that reads the broker") == NULL ||
        strstr(it.error.text, "store") != NULL)
        fail_msg("'%s' is not what the worker waits for", it.error.text);
    atomic_store(&hanging, 0);
    while (pawl_endpoint_abandoned(it.endpoint) != 0)
        patience_wait(&left, "the reader does not return");
    assert_int_equal(broker.stopping_takes, 2); /* and the last one, of what was handed out */
    runner_destroy(&it);
}

static pawl_alarm_rows alarms_at(reading *r, pawl__service *service, int64_t seconds)
{
    pawl_step       step = {.next_due = PAWL_TIME_MAX};
    pawl_alarm_rows rows = {.count = 0};
    pawl_clock_set(r->it.machine, WORLD_START + PAWL_SECONDS(seconds));
    must(pawl__service_step(service, &step, world_error()));
    must(pawl_store_alarms(r->it.store, r->it.arena, &rows, world_error()));
    return rows;
}

/* Other processes see it: doctor, and the console. */
ON_STORES(o23_an_endpoint_that_reads_nothing_raises_an_alarm, const char *url)
{
    size_t         count = 0;
    pawl__service *service;
    reading       *r =
        open_reading(url, &(pawl_endpoint_options){.batch_messages = 10, .no_service = true});
    must(pawl__service_create(r->it.endpoint, NULL, &service, world_error()));
    takes_in(r, 0);
    assert_int_equal(alarms_at(r, service, 20).count, 0);
    put("m-1", "note", "{\"number\":1}");
    broker.settles_to_fail = 1;
    assert_int_equal(step(r, &count), PAWL_ELOST);
    assert_int_equal(alarms_at(r, service, 29).count, 0);
    pawl_alarm_rows rows = alarms_at(r, service, 30);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].endpoint.data, "reader");
    assert_string_equal(rows.items[0].what.data, "inbound");
    assert_string_equal(rows.items[0].text.data, "list: the connection is lost");
    takes_in(r, 1);
    assert_int_equal(alarms_at(r, service, 31).count, 0);
    pawl__service_destroy(service);
}

/* ---- The clocks of two processes ----------------------------------------------------------- */

static pawl_time due_of(reading *r, const char *id)
{
    pawl_queue_rows rows = world_queue(&r->it, "reader");
    for (size_t i = 0; i < rows.count; i++)
        if (strcmp(rows.items[i].message.id.data, id) == 0)
            return rows.items[i].due;
    fail_msg("no row %s", id);
    return 0;
}

static pawl_code commit_nothing(pawl_store *store, const pawl_changes *changes,
                                pawl_refusals *refused, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EFULL, "the disk is full");
}

/* The message comes again: the reader stores it in its next step, or the other one does. */
static void fails_to_store(reading *r)
{
    pawl_store_ops full    = *r->inbound->store->ops;
    size_t         count   = 0;
    full.commit            = commit_nothing;
    r->inbound->store->ops = &full;
    assert_int_equal(step(r, &count), PAWL_EFULL);
}

static void expect_place(reading *r, int64_t expected)
{
    int64_t place = -1;
    must(pawl_store_checkpoint_get(r->it.store, PAWL_TEXT("intake/reader"), &place, world_error()));
    assert_int_equal(place, expected);
}

/* Two processes of an ordered endpoint. The second one's clock is behind, and it was connected before the first took anything. */
ON_ALL_STORES(the_next_reader_of_an_ordered_endpoint_goes_on_from_the_last_due_time,
              const char *url)
{
    static const struct {
        const char *id;
        int         reader, clock, due, place; /* milliseconds */
        enum { STAYS, LEAVES, LOSES, FAILS } then;
    } steps[]        = {{NULL, 1, 0, 0, 0, STAYS},
                        {"m-1", 0, 1000, 1000, 1000, LOSES},
                        {"m-2", 1, 0, 1000, 1000, LOSES},
                        {"m-3", 0, 2000, 2000, 2000, STAYS},
                        {"m-4", 1, 0, 2000, 2000, LEAVES},
                        {"m-5", 0, 3000, 3000, 3000, STAYS},
                        {"m-6", 1, 2500, 3000, 3000, STAYS},
                        {"m-7", 0, 3100, 3100, 3100, STAYS}, /* both read the broker */
                        {"m-8", 1, 3050, 3050, 3100, STAYS},
                        {"m-9", 1, 3050, 3100, 3100, STAYS},
                        {"m-10", 0, 6000, 6000, 6000, STAYS},
                        {"m-11", 1, 3500, 3500, 6000, STAYS},
                        {"m-12", 1, 3500, 3500, 3500, STAYS}, /* so far ahead the first clock was wrong */
                        {"m-13", 0, 7000, 0, 3500, FAILS},
                        {"m-13", 1, 6500, 6500, 6500, LEAVES},
                        {NULL, 0, 7000, 0, 7000, STAYS},
                        {"m-14", 1, 6500, 7000, 7000, STAYS},
                        {"m-15", 1, 7500, 7500, 7500, STAYS},
                        {"m-16", 0, 7000, 7500, 7500, STAYS}};
    reading       *r = open_reading(url, &(pawl_endpoint_options){.ordered = "property:number"});
    pawl_endpoint *endpoint  = r->it.endpoint;
    pawl_time      begin     = pawl__business_now(endpoint);
    pawl_clock    *clocks[]  = {endpoint->settings.business, pawl_clock_create(begin)};
    pawl__intake  *inbound[] = {r->inbound, NULL};
    const char    *last      = "";
    broker.call              = NULL;
    must(pawl__intake_create(endpoint, &inbound[1], world_error()));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        endpoint->settings.business = clocks[steps[i].reader];
        r->inbound                  = inbound[steps[i].reader];
        pawl_clock_set(clocks[steps[i].reader], begin + PAWL_MILLISECONDS(steps[i].clock));
        if (steps[i].id != NULL && strcmp(steps[i].id, last) != 0)
            put(last = steps[i].id, "note", "{\"number\":1}");
        if (steps[i].then == FAILS)
            fails_to_store(r);
        else
            takes_in(r, steps[i].id != NULL);
        expect_place(r, steps[i].place > 0 ? begin + PAWL_MILLISECONDS(steps[i].place) : 0);
        if (steps[i].id != NULL && steps[i].then != FAILS)
            assert_int_equal(due_of(r, steps[i].id) - begin, PAWL_MILLISECONDS(steps[i].due));
        if (steps[i].then == LEAVES)
            pawl__intake_leave(r->inbound);
        if (steps[i].then == LOSES)
            pawl__intake_disconnect(r->inbound);
    }
    endpoint->settings.business = clocks[0];
    r->inbound                  = inbound[0];
    pawl__intake_destroy(inbound[1]);
    pawl_clock_destroy(clocks[1]);
}

ON_STORES(without_an_order_no_checkpoint_is_kept, const char *url)
{
    reading *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 2});
    put("m-1", "note", "{\"number\":1}");
    takes_in(r, 1);
    expect_place(r, 0);
}

/* A checkpoint is 0 or positive. */
ON_STORES(before_1970_no_checkpoint_is_kept, const char *url)
{
    reading    *r     = open_reading(url, &(pawl_endpoint_options){.ordered = "property:number"});
    pawl_clock *clock = r->it.endpoint->settings.business;
    pawl_clock *early = pawl_clock_create(-PAWL_SECONDS(10));
    r->it.endpoint->settings.business = early;
    put("m-1", "note", "{\"number\":1}");
    takes_in(r, 1);
    expect_place(r, 0);
    assert_int_equal(due_of(r, "m-1"), -PAWL_SECONDS(10));
    r->it.endpoint->settings.business = clock;
    pawl_clock_destroy(early);
}

/* ---- Ids that no store can keep, wrong answers, short tables ----------------------------------- */

/* The broker delivers them again as long as they cannot be settled. The second one shares all bytes that are shown. */
ON_ALL_STORES(e28_a_message_with_an_unfit_id_is_one_letter, const char *url)
{
    char long_id[300], other[301];
    memset(long_id, 'i', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    (void)snprintf(other, sizeof other, "%s2", long_id);
    reading *r             = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    broker.settles_to_fail = 2;
    put(long_id, "note", "{}");
    put(other, "note", "{}");
    put("\xffmine", "", "{}")->refusal = PAWL_TEXT("it has no type");
    for (int i = 0; i < 2; i++) {
        size_t count = 0;
        assert_int_equal(step(r, &count), PAWL_ELOST);
        assert_int_equal(world_dead(&r->it).count, 3);
    }
    takes_in(r, 3);
    assert_int_equal(count_settled(), 3);
    pawl_dead_rows dead = world_dead(&r->it);
    assert_int_equal(dead.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const char *error = dead.items[i].error.data;
        assert_int_equal(dead.items[i].message.id.size, PAWL_UUID_TEXT_SIZE);
        if (error[strlen("message '")] == '?')
            assert_string_equal(error, "message '?mine': it has no type");
        else
            assert_string_equal(
                error, test_text("message '%.197s...': field 'message id' has %d bytes, the limit "
                                 "is 1 to 200",
                                 long_id, strstr(error, "299") != NULL ? 299 : 300));
    }
}

static pawl_code take_nothing(pawl_inbound *inbound, const pawl_take *by, pawl_arena *arena,
                              pawl_takings *takings, pawl_error *error)
{
    (void)inbound, (void)by, (void)arena, (void)error;
    *takings = (pawl_takings){.items = NULL, .count = 3};
    return PAWL_OK;
}

ON_MODULE(messages_without_items_are_an_error, const char *url, "memory")
{
    static pawl_inbound_ops empty;
    size_t                  count = 0;
    pawl_error              error = PAWL_ERROR_INIT;
    reading                *r = open_reading(url, &(pawl_endpoint_options){.batch_messages = 10});
    empty                     = list;
    empty.take                = take_nothing;
    r->inbound->driver->ops   = &empty;
    for (int is_direct = 0; is_direct < 2; is_direct++) {
        if (is_direct)
            begin_direct(r);
        assert_int_equal(pawl__intake_step(r->inbound, 0, -1, &count, &error), PAWL_EPERSIST);
        assert_int_equal(count, 0);
        assert_string_equal(error.text,
                            "inbound transport 'list': take answered 3 messages, but no items");
    }
}

/* Like the table of a program that was built before `remove` and `finish` existed. The memory behind it is not read. */
TEST(a_shorter_table_of_an_intake_has_no_later_entries)
{
    static pawl_inbound_ops older;
    const pawl_inbound_ops *found = NULL;
    pawl_error              error = PAWL_ERROR_INIT;
    older                         = list;
    older.scheme                  = "older";
    older.ops_size                = offsetof(pawl_inbound_ops, remove);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pawl_inbound_register(&older, &error), PAWL_OK);
    assert_int_equal(pawl_inbound_find("older://here/", &found, &error), PAWL_OK);
    assert_true(found->take == list.take && found->leave == list.leave);
    assert_true(found->finish == NULL && found->remove == NULL);
}
