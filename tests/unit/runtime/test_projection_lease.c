/* test_projection_lease.c - the lease of a projection's reader, and of who gives positions: a
 * worker that keeps it is never without it, and one that comes back finds it taken. O20.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "runtime/projection/projection.h"

PAWL_RECORD(tick, A_NUMBER);

IDLE_MESSAGE_HANDLER(on_tick, tick);

static const pawl_application application =
    ONE_ENDPOINT("leases", .name = "plain", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_tick)}));

static pawl_store *open_worker(const char *url)
{
    pawl_store *store = NULL;
    must(pawl_store_open(url, NULL, &store, world_error()));
    must(pawl_store_worker_open(store, PAWL_TEXT("plain"), PAWL_TEXT("[]"), WORLD_START,
                                world_error()));
    return store;
}

static void close_worker(pawl_store *store)
{
    pawl_store_worker_close(store, WORLD_START, NULL);
    pawl_store_close(store);
}

static bool leads(pawl_store *store, pawl_text name, pawl_time now)
{
    bool is_led = true;
    must(pawl_store_lead(store, name, now, PAWL_SECONDS(60), &is_led, world_error()));
    return is_led;
}

static bool keeps(pawl__lease *lease, pawl_store *store, pawl_time now)
{
    must(pawl__lease_keep(lease, store, now, world_error()));
    return lease->is_ours;
}

/* For ten minutes, asked each second; then its holder stands still for longer than it lasts. */
ON_ALL_STORES(o20_a_lease_that_is_kept_is_nobody_elses, const char *url)
{
    pawl__lease lease = {.name = PAWL_TEXT("projection/names")};
    pawl_time   now   = WORLD_START;
    world_hold(url);
    world_make_tables(url, &application);
    pawl_store *a = open_worker(url), *b = open_worker(url);
    pawl__lease_forget(&lease);
    for (int i = 0; i < 600; i++, now += PAWL_SECONDS(1)) {
        assert_true(keeps(&lease, a, now));
        assert_false(leads(b, lease.name, now));
    }
    now += PAWL_SECONDS(60);
    assert_true(leads(b, lease.name, now));
    assert_false(keeps(&lease, a, now));
    /* The first one asks again, and has it once it is free. */
    now += PAWL_SECONDS(60);
    assert_true(keeps(&lease, a, now));
    close_worker(b);
    close_worker(a);
}

/* Of who gives positions: one that reads no projection any more leaves it to others at once. */
ON_ALL_STORES(o20_a_lease_that_is_not_needed_is_given_up, const char *url)
{
    pawl__lease lease = {.name = PAWL_TEXT("sequencer")};
    int64_t     count = 0;
    bool        more  = false;
    world_hold(url);
    world_make_tables(url, &application);
    pawl_store *a = open_worker(url), *b = open_worker(url);
    pawl__lease_forget(&lease);
    for (int i = 0; i < 2; i++) {
        must(pawl__sequencer_run(&lease, a, i == 0, WORLD_START, &count, &more, world_error()));
        assert_int_equal(leads(b, lease.name, WORLD_START), i == 1);
        assert_int_equal(lease.is_ours, i == 0);
    }
    close_worker(b);
    close_worker(a);
}
