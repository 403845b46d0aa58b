/* test_runtime_direct_thread.c - messages of a broker, handed over between threads. E3, E27.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_direct_sample.h"

#include "support/hook.h"
#include "support/thread.h"

/* Copies among them; three workers and the thread that reads at once. */
ON_ALL_STORES(e27_in_threads_each_is_handled_once, const char *url)
{
    world_hold(url);
    broker        = (struct broker){.channel = 1};
    failures_left = 0;
    atomic_store(&gone, 0);
    must(pawl_inbound_register(&list, world_error()));
    for (int i = 0; i < LETTERS_MAX; i++)
        put_note(i % 35);
    runner *it = runner_begin(
        &direct_application, "reader", url,
        (pawl_endpoint_options){.transport = "list://here/", .workers = 3, .batch_messages = 4});
    wait_for_count(&gone, LETTERS_MAX);
    test_now(it);
    assert_int_equal(count_settled(), LETTERS_MAX);
    world *after =
        world_begin(url, &direct_application, "reader", &(pawl_endpoint_options){.workers = 1});
    pawl_clock_set(after->business, pawl_clock_now(NULL) + PAWL_MINUTES(1));
    world_drain(after);
    assert_int_equal(world_queue(after, "out").count, 35);
    assert_int_equal(world_queue(after, "reader").count, 0);
}

static const char *stopping_url;
static atomic_int  workers_at_finish;

static int count_workers(void)
{
    int                found   = 0;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_arena        *arena   = pawl_arena_create(0);
    pawl_store        *store   = NULL;
    pawl_worker_info  *items   = NULL;
    size_t             count   = 0;
    options.mode               = PAWL_OPEN_CHECK;
    must(pawl_store_open(stopping_url, &options, &store, world_error()));
    must(pawl_store_worker_list(store, arena, &items, &count, world_error()));
    for (size_t i = 0; i < count; i++)
        found += pawl_text_equal(items[i].endpoint, PAWL_TEXT("reader"));
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return found;
}

static void rest(long nanoseconds)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* Called by the thread that reads, when the endpoint stops. */
static void count_at_finish(void)
{
    rest(50000000); /* workers that do not wait are gone */
    atomic_store(&workers_at_finish, count_workers());
}

/* Other processes see by them that messages may be in hand here. */
ON_STORES(e3_workers_stay_in_the_store_until_what_was_taken_is_a_row, const char *url)
{
    world_hold(url);
    broker        = (struct broker){.channel = 1, .at_finish = count_at_finish};
    stopping_url  = url;
    failures_left = 0;
    atomic_store(&gone, 0);
    atomic_store(&workers_at_finish, 0);
    must(pawl_inbound_register(&list, world_error()));
    put_note(1);
    runner *it = runner_begin(
        &direct_application, "reader", hook_url(url),
        (pawl_endpoint_options){.transport = "list://here/", .workers = 3, .no_service = true});
    wait_for_count(&gone, 1);
    /* A worker that has not begun yet is missing at the end. */
    while (count_workers() < 3)
        rest(1000000);
    test_now(it);
    assert_int_equal(broker.finishes, 1);
    assert_int_equal(atomic_load(&workers_at_finish), 3);
    assert_int_equal(atomic_load(&hook_opened_ahead),
                     0); /* messages straight from the broker come in between */
}
