/* test_runtime_direct_thread.c - messages of a broker, handed over between threads. E27.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_direct_sample.h"

#include "support/thread.h"

/* Copies among them; three workers and the thread that reads at once. */
static void e27_in_threads_each_is_handled_once(const char *url)
{
    runner      it;
    world       after;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *held  = world_hold(url);
    broker            = (struct broker){.channel = 1};
    failures_left     = 0;
    atomic_store(&gone, 0);
    world_ok(pawl_intake_register(&list, &error), &error);
    for (int i = 0; i < LETTERS_MAX; i++)
        put_note(i % 35);
    runner_open(
        &it, &direct_application, "reader", url,
        (pawl_endpoint_options){.transport = "list://here/", .workers = 3, .batch_messages = 4});
    wait_for_count(&gone, LETTERS_MAX);
    runner_close(&it);
    assert_int_equal(count_settled(), LETTERS_MAX);
    world_open(&after, url, &direct_application, "reader", &(pawl_endpoint_options){.workers = 1});
    pawl_clock_set(after.business, pawl_clock_now(NULL) + PAWL_MINUTES(1));
    world_drain(&after);
    assert_int_equal(world_queue(&after, "out").count, 35);
    assert_int_equal(world_queue(&after, "reader").count, 0);
    world_close(&after);
    pawl_store_close(held);
}

int main(void)
{
    world_quiet();
    const struct CMUnitTest tests[] = {
        ON_ALL_STORES(e27_in_threads_each_is_handled_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
