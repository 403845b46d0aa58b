/* test_runtime_queue_pause.c - workers in threads whose queue is paused and resumed while they run.
 * E26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/ping.h"
#include "support/thread.h"

#include "pawl/operations.h"
#include "runtime/runtime.h"

#define WORKERS 3

static const pawl_application application = APPLICATION("paused", &plain);

static void send_some(const char *url, int count)
{
    pawl_sender *sender = NULL;
    must(pawl_sender_open(url, NULL, &sender, world_error()));
    for (int i = 0; i < count; i++)
        must(pawl_sender_send(sender, "plain", NULL, PAWL_MESSAGE(ping, .number = i),
                              world_error()));
    must(pawl_sender_commit(sender, world_error()));
    pawl_sender_close(sender);
}

/* A message that comes within a period of the last look is handled yet; later ones wake a worker that
 * looks. The number that was sent. */
static int send_until_paused(const runner *it, const char *url)
{
    patience left = patience_of(THREAD_SECONDS);
    int      sent = 0;
    while (!atomic_load(&it->endpoint->pause.is_paused)) {
        send_some(url, 1);
        sent++;
        patience_wait(&left, "the queue is not paused");
    }
    return sent;
}

/* by a call that fails */
ON_ALL_STORES(e26_threads_pause_and_go_on, const char *url)
{
    world_hold(url);
    atomic_store(&ping_count, 0);
    runner *it = runner_begin(&application, NULL, url, (pawl_endpoint_options){.workers = WORKERS});
    pawl_store *store = test_open(url);
    send_some(url, 5);
    wait_for_count(&ping_count, 5);
    must(pawl_store_queue_pause(store, PAWL_TEXT("plain"), PAWL_TEXT("ann"), PAWL_TEXT(""),
                                pawl_clock_now(NULL), world_error()));
    int sent = send_until_paused(it, url);
    send_some(url, 20);
    must(pawl_store_queue_resume(store, PAWL_TEXT("plain"), PAWL_TEXT("ann"), PAWL_TEXT(""),
                                 pawl_clock_now(NULL), world_error()));
    wait_for_count(&ping_count, 5 + sent + 20);
    assert_false(atomic_load(&it->endpoint->pause.is_paused));
    test_now(it);
    assert_int_equal(atomic_load(&ping_count), 5 + sent + 20);
}

/* ---- Looks ------------------------------------------------------------------------ */

static const pawl_store_ops *hearing;

static pawl_code fail_events(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                             pawl_found *found, pawl_error *error)
{
    return asked->kind == PAWL_FIND_EVENTS ? pawl_error_set(error, PAWL_EBUSY, "not now")
                                           : hearing->find(store, asked, arena, found, error);
}

/* As under the system's clock, where a look is not due at each step. */
ON_STORES(e26_a_look_fails_aloud_and_outlives_a_clock_set_back, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = world_begin(url, &application, NULL, NULL);
    world_drain(it);
    pawl__worker         *worker = it->endpoint->worker;
    pawl__queue_pause    *pause  = &it->endpoint->pause;
    const pawl_store_ops *ops    = worker->store->ops;
    pawl_store_ops        deaf   = *ops;
    hearing                      = ops;
    deaf.find                    = fail_events;
    worker->engine.is_virtual    = false;
    worker->engine.machine_now   = pawl_clock_now(it->machine);
    must(pawl_store_queue_pause(it->store, PAWL_TEXT("plain"), PAWL_TEXT("ada"), PAWL_TEXT(""),
                                worker->engine.machine_now, world_error()));
    atomic_store(&pause->due, worker->engine.machine_now); /* due: fails, and is due again */
    worker->store->ops = &deaf;
    assert_int_equal(pawl__queue_pause_check(worker, &error), PAWL_EBUSY);
    worker->store->ops = ops;
    assert_false(atomic_load(&pause->is_paused));
    assert_int_equal(atomic_load(&pause->due), worker->engine.machine_now);
    atomic_store(&pause->due, worker->engine.machine_now + PAWL_HOURS(1)); /* by the old clock */
    must(pawl__queue_pause_check(worker, world_error()));
    assert_true(atomic_load(&pause->is_paused));
    assert_true(atomic_load(&pause->due) <= worker->engine.machine_now + PAWL__QUEUE_PAUSE_PERIOD);
}
