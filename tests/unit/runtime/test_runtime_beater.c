/* test_runtime_beater.c - a worker on a store where heartbeats alone tell who lives: another thread
 * beats for it while its handler runs, no longer than the handler may.
 *
 * The store is one in memory that says so of itself, and notes the beats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/gate.h"

#include "runtime/runtime.h"

PAWL_RECORD(ping, A_NUMBER);

static atomic_int handled;

static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    gate_pass();
    atomic_fetch_add(&handled, 1);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

static const pawl_application application = ONE_ENDPOINT(
    "beater", .name = "pinging", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ping)}));

/* ---- The store --------------------------------------------------------------- */

static pawl_store_ops        outer;
static const pawl_store_ops *inner;
static atomic_int            most;     /* workers of one beat */
static atomic_int            failures; /* beats that fail from now on */
static atomic_int            strange;  /* workers that have no row, or the handle's own */

static pawl_code open_inner(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    return inner->open(store, "memory:beater", options, error);
}

static bool is_a_worker(pawl_store *store, pawl_worker_id id)
{
    const pawl_find asked = {.kind = PAWL_FIND_WORKERS, .limit = INT64_MAX};
    pawl_arena     *arena = pawl_arena_create(0);
    pawl_found      found = {.count = 0};
    bool            is    = false;
    (void)inner->find(store, &asked, arena, &found, NULL);
    const pawl_worker_info *items = found.items;
    for (size_t i = 0; i < found.count; i++)
        is |= pawl_uuid_compare(items[i].id.uuid, id.uuid) == 0;
    pawl_arena_destroy(arena);
    return is;
}

static pawl_code worker_heartbeat(pawl_store *store, const pawl_worker_id *workers, size_t count,
                                  pawl_time now, pawl_error *error)
{
    if (count > 0 && atomic_load(&failures) > 0) {
        atomic_fetch_sub(&failures, 1);
        return pawl_error_set(error, PAWL_ELOST, "the server is away");
    }
    for (size_t i = 0; i < count; i++)
        atomic_fetch_add(&strange, !is_a_worker(store, workers[i]) || store->is_attached);
    if ((int)count > atomic_load(&most))
        atomic_store(&most, (int)count);
    return PAWL_OK;
}

static int use_driver(void **state)
{
    pawl_store *store = NULL;
    must(pawl_store_open("memory:beater", NULL, &store, world_error()));
    inner = store->ops;
    pawl_store_close(store);
    outer                  = *inner;
    outer.scheme           = "beating";
    outer.open             = open_inner;
    outer.worker_heartbeat = worker_heartbeat;
    must(pawl_store_register(&outer, world_error()));
    return 0;
}

static void send_some(int count)
{
    pawl_sender *sender = NULL;
    must(pawl_sender_open("beating:store", NULL, &sender, world_error()));
    for (int i = 0; i < count; i++)
        must(pawl_sender_send(sender, "pinging", NULL, PAWL_MESSAGE(ping, .number = i),
                              world_error()));
    must(pawl_sender_commit(sender, world_error()));
    pawl_sender_close(sender);
}

/* Two workers in their handlers; the first beat fails, which is said once. */
TEST(workers_live_while_their_handlers_run)
{
    world_hold("memory:beater");
    gate_listen();
    gate_close();
    atomic_store(&failures, 1);
    runner_begin(&application, NULL, "beating:store",
                 (pawl_endpoint_options){.no_service = true, .workers = 2, .batch_messages = 1});
    send_some(2);
    gate_wait(2);
    wait_for_count(&most, 2);
    assert_int_equal(atomic_load(&strange), 0);
    assert_int_equal(
        gate_said("is not told that workers whose handlers run live: the server is away"), 1);
    gate_open();
    wait_for_count(&handled, 2);
}

int main(void)
{
    world_quiet();
    return tests_run(use_driver, NULL);
}
