/* test_projection_thread.c - projections in the threads of run(), and in the test kit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/test.h"
#include "support/thread.h"
#include "unit/runtime/test_projection_sample.h"

/* ---- Threads ------------------------------------------------------------------------------- */

#define WRITERS 3
#define EVENTS 60 /* by each writer */

typedef struct writer {
    const char *url;
    pthread_t   thread;
    int         number;
    int         failures;
} writer;

/* A stream of its own and one that all write to, in turn. */
static void *write_events(void *argument)
{
    writer     *self  = argument;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    char        streams[2][20];
    int64_t     versions[2] = {0};
    snprintf(streams[0], sizeof streams[0], "Own/%d", self->number);
    snprintf(streams[1], sizeof streams[1], "All/1");
    self->failures += pawl_store_open(self->url, NULL, &store, &error) != PAWL_OK;
    for (int i = 0; i < EVENTS && self->failures == 0;) {
        pawl_event_append append  = {.stream   = pawl_text_of(streams[i % 2]),
                                     .version  = versions[i % 2] + 1,
                                     .is_first = true,
                                     .event    = {.type           = PAWL_TEXT("noted"),
                                                  .type_version   = 1,
                                                  .body           = PAWL_TEXT("{\"number\":1}"),
                                                  .message_id     = PAWL_TEXT("cause"),
                                                  .correlation_id = PAWL_TEXT("talk"),
                                                  .at             = WORLD_START}};
        pawl_changes      changes = {ONE_UNIT, .now = WORLD_START,
                                     .event_append = {.items = &append, .count = 1}};
        pawl_code         code    = pawl_store_commit(store, &changes, NULL, &error);
        versions[i % 2] += code == PAWL_OK || code == PAWL_ECONFLICT;
        i += code == PAWL_OK;
        self->failures += code != PAWL_OK && code != PAWL_ECONFLICT && code != PAWL_EBUSY;
    }
    pawl_store_close(store);
    return NULL;
}

/* On a server events are numbered after their commit: there are none to read before. */
static void wait_for_position(world *it, size_t events)
{
    patience left = patience_of(THREAD_SECONDS);
    for (;;) {
        pawl_event_rows rows    = all_events(it);
        int64_t         reached = position_of(it, "projection/names");
        if (rows.count == events && reached == rows.items[events - 1].position)
            return;
        patience_wait(&left, "the position is %lld, %zu events of %zu are numbered",
                      (long long)reached, rows.count, events);
    }
}

/* Only one thread runs the handlers: the log is its own until it ends. */
ON_ALL_STORES(threads_append_while_a_projection_reads, const char *url)
{
    writer writers[WRITERS];
    world *it  = begin(url, &other_application); /* to look; it never steps */
    plan.sends = true;
    runner *reader =
        runner_begin(&small_application, NULL, url, (pawl_endpoint_options){.workers = 1});
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){url, 0, i, 0};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_events, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        assert_int_equal(writers[i].failures, 0);
    }
    wait_for_position(it, WRITERS * EVENTS);
    test_now(reader);
    assert_int_equal(all_events(it).count, WRITERS * EVENTS);
    expect_sent_once(it, "plain");
}

ON_ALL_STORES(a_reader_that_sleeps_is_woken, const char *url)
{
    world *it = begin(url, &other_application);
    runner_begin(&application, NULL, url, (pawl_endpoint_options){.workers = 1});
    for (int i = 1; i <= 20; i++) {
        append(it, "A/1", i, i);
        wait_for_position(it, (size_t)i);
    }
}

/* Nothing is appended meanwhile, and so nobody wakes it. */
ON_ALL_STORES(a_projection_that_failed_is_tried_again_at_its_time, const char *url)
{
    pawl_endpoint_options options = {
        .workers = 1, .immediate_retries = -1, .retry_delay = PAWL_MILLISECONDS(20)};
    world *it      = begin(url, &other_application);
    plan.fails     = 1;
    plan.number    = 1;
    plan.code      = PAWL_REJECT;
    runner *reader = runner_begin(&application, NULL, url, options);
    append(it, "A/1", 1, 1);
    wait_for_position(it, 1);
    test_now(reader);
    assert_int_equal(plan.fails, 0);
}

/* ---- The test kit ------------------------------------------------------------------------------ */

/* The test kit is a store in memory. */
ON_STORE(the_test_kit_projects, const char *url, "memory")
{
    pawl_test *test  = NULL;
    const put  first = {.box = PAWL_TEXT("1"), .number = 5};
    memset(&plan, 0, sizeof plan);
    world_forget(&seen);
    must(pawl_test_create(&box_application, NULL, &test, world_error()));
    must(pawl_test_deliver(test, NULL, PAWL_RECORD_OF(put)(), &first, world_error()));
    expect_seen("Box/1.1=5 Box/1.2=6");
    plan.fails       = 3;
    plan.number      = 8;
    plan.code        = PAWL_REJECT;
    const put second = {.box = PAWL_TEXT("1"), .number = 7};
    must(pawl_test_deliver(test, NULL, PAWL_RECORD_OF(put)(), &second, world_error()));
    expect_seen("Box/1.3=7 fail(8,0) fail(8,0)");
    must(pawl_test_advance(test, PAWL_SECONDS(10), world_error()));
    expect_seen("fail(8,1) Box/1.4=8");
    pawl_test_destroy(test);
}
