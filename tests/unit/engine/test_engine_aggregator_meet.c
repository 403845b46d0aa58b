/* test_engine_aggregator_meet.c - workers that hand over one partition at the same moment.
 * E36.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

RECORD(coin, (INT32, cents));

static world_log seen;

static pawl_code on_coins(pawl_context *ctx, const coin *messages, size_t count)
{
    world_note(&seen, "coins(");
    for (size_t i = 0; i < count; i++)
        world_note(&seen, "%d", (int)messages[i].cents);
    world_note(&seen, ")");
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_coins, coin);

static const pawl_aggregator  coins = {.name = "Coins", .handle = PAWL_HANDLE(on_coins), .size = 2};
static const pawl_application application =
    ONE_ENDPOINT("coins", .name = "purse", .aggregators = PAWL_AGGREGATORS(&coins));

/* ---- Another worker ------------------------------------------------------------- */

/* Leases one row of two before the endpoint does, and, having got too few, gives it back
 * before the endpoint, which has got too few as well. */
static struct {
    world *it;
    int    leases_left;
    bool   has_row;
} other;

static int lease_count; /* of anybody */

static const pawl_session_id other_session = {{{7}}};

static void lease_one(void)
{
    pawl_leased_batch       piece = {.count = 0};
    pawl_text               type  = PAWL_TEXT("coin");
    pawl_store             *store = other.it->store;
    pawl_leased_batch_claim claim = {.partition  = PAWL_TEXT("Coins"),
                                     .session    = other_session,
                                     .types      = &type,
                                     .type_count = 1,
                                     .count_max  = 1,
                                     .now        = world_now(other.it),
                                     .lease      = PAWL_MINUTES(5)};
    other.has_row                 = true; /* its own calls meet nobody */
    must(pawl_store_leased_batch_claim(store, &claim, other.it->arena, &piece, world_error()));
    assert_int_equal(piece.count, 1);
}

static void give_it_back(void)
{
    other.has_row = false;
    MUST_COMMIT(other.it->store, leased_batch_release, world_now(other.it),
                .partition = PAWL_TEXT("Coins"), .session = other_session);
}

static pawl_code meet(hook_point point, void *context)
{
    lease_count += point == HOOK_BEFORE_LEASE;
    if (point == HOOK_BEFORE_LEASE && other.leases_left > 0 && !other.has_row) {
        other.leases_left--;
        lease_one();
    } else if (point == HOOK_BEFORE_COMMIT && other.has_row) {
        give_it_back();
    }
    return PAWL_OK;
}

static world *meet_so_often(const char *url, int leases)
{
    world_forget(&seen);
    memset(&other, 0, sizeof other);
    world *it = world_begin(hook_url(url), &application, NULL, NULL);
    other.it  = it;
    hook_set(meet, NULL);
    world_post(it, NULL, PAWL_MESSAGE(coin, .cents = 1));
    world_post(it, NULL, PAWL_MESSAGE(coin, .cents = 2));
    other.leases_left = leases;
    world_drain(it);
    return it;
}

/* Each got one of two and gave it back: who was last looks again. No clock moves. */
ON_ALL_STORES(e36_two_workers_that_share_a_full_partition, const char *url)
{
    for (int leases = 1; leases < 4; leases++) {
        world *it = meet_so_often(url, leases);
        assert_int_equal(other.leases_left, 0);
        assert_string_equal(seen.text, "coins( 1 2 ) ");
        assert_int_equal(world_aggregated(it, "Coins", "coin").all, 0);
        hook_set(NULL, NULL);
        world_close(it);
    }
}

/* Two that always meet do not go on for ever: the look at all partitions comes later. */
ON_ALL_STORES(workers_that_meet_for_ever_leave_it, const char *url)
{
    world *it = meet_so_often(url, 1000000);
    assert_string_equal(seen.text, "");
    other.leases_left = 0;
    LOG_AFTER(world_go_machine(it, PAWL_SECONDS(10)), seen, "coins( 1 2 ) ");
    hook_set(NULL, NULL);
}

/* A lease of too few rows would cost two commits, and keep them from whoever has the last one. */
ON_ALL_STORES(e36_a_partition_that_lacks_a_row_is_not_leased, const char *url)
{
    world_forget(&seen);
    memset(&other, 0, sizeof other);
    lease_count = 0;
    world *it   = world_begin(hook_url(url), &application, NULL, NULL);
    hook_set(meet, NULL);
    world_post(it, NULL, PAWL_MESSAGE(coin, .cents = 1));
    world_drain(it);
    assert_int_equal(lease_count, 0);
    world_post(it, NULL, PAWL_MESSAGE(coin, .cents = 2));
    world_drain(it);
    assert_int_equal(lease_count, 1);
    assert_string_equal(seen.text, "coins( 1 2 ) ");
    hook_set(NULL, NULL);
}
