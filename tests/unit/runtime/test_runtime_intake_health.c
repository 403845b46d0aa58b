/* test_runtime_intake_health.c - health and metrics of an endpoint's reading from a broker, an alarm, and what its end is told of. O23, E29.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_intake_sample.h"

#include "pawl/store_alarm.h"
#include "runtime/endpoint/service.h"
#include "support/observed.h"
#include "support/thread.h"

static double metric(observed *p, const char *name)
{
    char labelled[100];
    snprintf(labelled, sizeof labelled, "%s{endpoint=\"reader\"}", name);
    return exposition_value(observed_metrics(p), labelled);
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
