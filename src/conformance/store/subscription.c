/* subscription.c - subscriptions: pairs of a type and a queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

static bool is_before(const pawl_subscription *a, const pawl_subscription *b)
{
    int order = pawl_text_compare(a->type, b->type);
    return order != 0 ? order < 0 : pawl_text_compare(a->queue, b->queue) < 0;
}

static bool has(suite *s, pawl_store *store, const char *type, const char *queue, size_t count)
{
    pawl_subscriptions list     = {0};
    bool               is_there = false;
    READ_ROWS(s, pawl_store_subscriptions(store, s->arena, &list, &s->error), list);
    EXPECT_EQ(s, list.count, count);
    for (size_t i = 1; i < list.count; i++)
        EXPECT(s, is_before(&list.items[i - 1], &list.items[i]));
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

static void a_subscription_is_stored_once_and_can_be_removed(suite *s)
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

static void add_pair(suite_set *set, const char *type, const char *queue, bool is_remove)
{
    ADD(set, subscription_set, .is_remove = is_remove, .type = pawl_text_of(type),
        .queue = pawl_text_of(queue));
}

/* Different pairs in one commit are independent; changes to one pair apply in order. */
static void changes_of_one_subscription_in_a_commit_apply_in_their_order(suite *s)
{
    pawl_store *a = suite_open(s);
    put(s, a, "Placed", "billing", false);
    put(s, a, "Placed", "shipping", false);
    put(s, a, "Shipped", "billing", false);
    suite_set set = suite_changes(s);
    add_pair(&set, "Placed", "billing", true);
    add_pair(&set, "Paid", "billing", false);
    add_pair(&set, "Shipped", "billing", true);
    add_pair(&set, "Shipped", "billing", false); /* removed, then set again */
    add_pair(&set, "Paid", "orders", false);     /* set, then removed */
    add_pair(&set, "Paid", "orders", true);
    COMMIT(&set, a);
    EXPECT(s, has(s, a, "Placed", "shipping", 3));
    EXPECT(s, has(s, a, "Paid", "billing", 3));
    EXPECT(s, has(s, a, "Shipped", "billing", 3));
}

static const suite_case cases[] = {
    {"E9 a subscription is stored once and can be removed",
     a_subscription_is_stored_once_and_can_be_removed},
    {"E9 changes of one subscription in a commit apply in their order",
     changes_of_one_subscription_in_a_commit_apply_in_their_order},
};

const suite_cases cases_subscription = SUITE_CASES("subscription", cases);
