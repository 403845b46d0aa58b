/* test_rabbitmq_acks.c - which acknowledgements are sent for what was settled in which order, on a channel that is
 * a list of them. E27.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"
#include "transport/rabbitmq/acks.h"

#define DELIVERIES 400

static void take(pawl__acks *acks, uint64_t first, uint64_t last)
{
    for (uint64_t tag = first; tag <= last; tag++)
        assert_true(pawl__acks_take(acks, tag));
}

static void settle(pawl__acks *acks, uint64_t first, uint64_t last)
{
    for (uint64_t tag = first; tag <= last; tag++)
        pawl__acks_settle(acks, acks->channel, tag);
}

/* The acknowledgements to be sent are `expected`: "3+ 5 6", where a plus is multiple. */
static void sends(pawl__acks *acks, const char *expected)
{
    char     text[400]   = "";
    uint64_t tag         = 0;
    bool     is_multiple = false;
    while (pawl__acks_next(acks, &tag, &is_multiple)) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof text - size, "%s%llu%s", size > 0 ? " " : "",
                 (unsigned long long)tag, is_multiple ? "+" : "");
    }
    assert_string_equal(text, expected);
}

TEST(e27_what_is_settled_in_order_is_one_acknowledgement)
{
    pawl__acks acks = {0};
    assert_int_equal(pawl__acks_begin(&acks, 10), PAWL_OK);
    take(&acks, 1, 10);
    sends(&acks, "");
    settle(&acks, 1, 6);
    sends(&acks, "6+");
    sends(&acks, "");
    settle(&acks, 7, 7);
    sends(&acks, "7");
    settle(&acks, 8, 10);
    sends(&acks, "10+");
    assert_int_equal(acks.count, 0);
    pawl__acks_free(&acks);
}

TEST(e27_behind_a_gap_each_is_acknowledged_alone)
{
    pawl__acks acks = {0};
    assert_int_equal(pawl__acks_begin(&acks, 8), PAWL_OK);
    take(&acks, 1, 8);
    settle(&acks, 5, 6);
    settle(&acks, 1, 3);
    sends(&acks, "3+ 5 6");
    settle(&acks, 7, 7);
    sends(&acks, "7");
    settle(&acks, 4, 4);
    sends(&acks, "4"); /* not multiple: it is the only one of the prefix */
    take(&acks, 9, 12);
    settle(&acks, 8, 12);
    sends(&acks, "12+");
    pawl__acks_free(&acks);
}

TEST(e27_tags_of_another_channel_are_passed_over)
{
    pawl__acks acks = {0};
    assert_int_equal(pawl__acks_begin(&acks, 4), PAWL_OK);
    uint64_t first = acks.channel;
    take(&acks, 1, 4);
    settle(&acks, 1, 2);
    assert_int_equal(pawl__acks_begin(&acks, 4), PAWL_OK);
    assert_int_not_equal(acks.channel, first);
    sends(&acks, ""); /* the settled ones of that channel are forgotten */
    take(&acks, 1, 3);
    pawl__acks_settle(&acks, first, 1);
    pawl__acks_settle(&acks, first, 2);
    sends(&acks, "");
    settle(&acks, 2, 2);
    sends(&acks, "2");
    pawl__acks_free(&acks);
}

TEST(more_than_the_prefetch_is_refused_and_unknown_tags_change_nothing)
{
    pawl__acks acks = {0};
    assert_int_equal(pawl__acks_begin(&acks, 2), PAWL_OK);
    take(&acks, 1, 2);
    assert_false(pawl__acks_take(&acks, 3));
    settle(&acks, 3, 9);
    sends(&acks, "");
    settle(&acks, 1, 1);
    sends(&acks, "1");
    settle(&acks, 1, 1); /* once more */
    sends(&acks, "");
    assert_true(pawl__acks_take(&acks, 3)); /* there is room again */
    settle(&acks, 2, 3);
    sends(&acks, "3+");
    assert_int_equal(pawl__acks_begin(&acks, DELIVERIES), PAWL_OK); /* more room */
    take(&acks, 1, DELIVERIES);
    settle(&acks, 2, DELIVERIES);
    settle(&acks, 1, 1);
    sends(&acks, "400+");
    pawl__acks_free(&acks);
}

/* Tags are acknowledged once each in any order, and none before it is settled. */
TEST(e27_in_any_order_each_is_acknowledged_once)
{
    pawl__acks  acks = {0};
    pawl_random random;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        bool     is_settled[DELIVERIES + 1] = {false}, is_done[DELIVERIES + 1] = {false};
        uint64_t tag = 0, left = DELIVERIES;
        bool     is_multiple = false;
        pawl_random_seed(&random, seed);
        assert_int_equal(pawl__acks_begin(&acks, DELIVERIES), PAWL_OK);
        take(&acks, 1, DELIVERIES);
        while (left > 0) {
            uint64_t one = 1 + pawl_random_below(&random, DELIVERIES);
            if (!is_settled[one]) {
                is_settled[one] = true;
                left--;
                settle(&acks, one, one);
            }
            while (pawl_random_below(&random, 3) == 0 && pawl__acks_next(&acks, &tag, &is_multiple))
                for (uint64_t i = is_multiple ? 1 : tag; i <= tag; i++) {
                    if (!is_settled[i] || (is_done[i] && i == tag))
                        fail_msg("seed %d: %d is acknowledged wrongly", (int)seed, (int)i);
                    is_done[i] = true;
                }
        }
        while (pawl__acks_next(&acks, &tag, &is_multiple))
            for (uint64_t i = is_multiple ? 1 : tag; i <= tag; i++)
                is_done[i] = true;
        for (int i = 1; i <= DELIVERIES; i++)
            assert_true(is_done[i]);
        assert_int_equal(acks.count, 0);
    }
    pawl__acks_free(&acks);
}
