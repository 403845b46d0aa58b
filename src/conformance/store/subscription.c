/* subscription.c - which queue wants which type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

static bool has(suite *s, pawl_store *store, const char *type, const char *queue, size_t count)
{
    pawl_subscriptions list     = {0};
    bool               is_there = false;
    EXPECT_OK(s, pawl_store_subscriptions(store, s->arena, &list, &s->error));
    EXPECT_EQ(s, list.count, count);
    for (size_t i = 0; i < list.count; i++)
        is_there |= pawl_text_equal(list.items[i].type, pawl_text_of(type)) &&
                    pawl_text_equal(list.items[i].queue, pawl_text_of(queue));
    return is_there;
}

static void put(suite *s, pawl_store *store, const char *type, const char *queue, bool is_remove)
{
    COMMIT_ONE(s, store, subscription_set, .is_remove = is_remove, .type = pawl_text_of(type),
               .queue = pawl_text_of(queue));
}

static void pairs_are_set_and_removed(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, !has(s, a, "Placed", "billing", 0));
    put(s, a, "Placed", "billing", false);
    put(s, a, "Placed", "shipping", false);
    put(s, b, "placed", "billing", false);
    put(s, b, "Placed", "billing", false);
    EXPECT(s, has(s, b, "Placed", "billing", 3));
    EXPECT(s, has(s, b, "Placed", "shipping", 3));
    EXPECT(s, has(s, b, "placed", "billing", 3));
    put(s, b, "Placed", "billing", true);
    put(s, b, "Placed", "billing", true);
    put(s, b, "Shipped", "billing", true);
    EXPECT(s, !has(s, a, "Placed", "billing", 2));
    EXPECT(s, has(s, a, "Placed", "shipping", 2));
    put(s, a, "Placed", "billing", false);
    EXPECT(s, has(s, b, "Placed", "billing", 3));
}

static const suite_case cases[] = {
    {"E9 pairs are set once and removed", pairs_are_set_and_removed},
};

const suite_cases cases_subscription = SUITE_CASES("subscription", cases);
