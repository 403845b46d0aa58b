/* test_workflow_names.c - prefixes and names of saga tables and columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"
#include "workflow/names.h"

static void expect_prefix(const char *endpoint, const char *explicit_prefix, const char *expected)
{
    pawl_arena *arena = pawl_arena_create(0);
    assert_non_null(arena);
    pawl_text prefix = pawl__saga_prefix(endpoint, explicit_prefix, arena);
    assert_int_equal(prefix.size, strlen(expected));
    assert_memory_equal(prefix.data, expected, prefix.size);
    pawl_arena_destroy(arena);
}

TEST(d2_the_default_prefix_is_the_endpoints_name)
{
    expect_prefix("orders", NULL, "orders_");
    expect_prefix("shop.orders.eu", NULL, "shop_orders_eu_");
    expect_prefix("shop.orders", "a.b", "a.b");
    expect_prefix("orders", "", "");
}

static pawl_code check_table(const char *name)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code  = pawl__table_name_check("OrderSaga", pawl_text_of(name), &error);
    if (code != PAWL_OK)
        assert_non_null(strstr(error.text, "OrderSaga"));
    return code;
}

TEST(d3_what_cannot_be_quoted_is_refused_naming_the_saga)
{
    static const char *const bad[] = {"a[b", "a]b", "a`b", "a\"b"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(check_table(bad[i]), PAWL_ECONFIG);
    assert_int_equal(check_table("orders_Order Saga"), PAWL_OK);
    assert_int_equal(check_table("orders_\xc3\x9c"
                                 "bersicht"),
                     PAWL_OK);
    assert_int_equal(check_table("orders_\xff"), PAWL_ECONFIG);
    assert_int_equal(pawl__column_check(PAWL_TEXT("order_\xff"), NULL), PAWL_ECONFIG);
    assert_int_equal(pawl__column_check(PAWL_TEXT("order_id"), NULL), PAWL_OK);
}

TEST(d5_limits_are_in_bytes)
{
    char name[64 + 1];
    memset(name, 'x', 64);
    name[64] = '\0';
    assert_int_equal(check_table(name), PAWL_ECONFIG);
    name[63] = '\0';
    assert_int_equal(check_table(name), PAWL_OK);
    /* 62 letters of which the last has two bytes. */
    memcpy(name + 61, "\xc3\x9c", 2);
    assert_int_equal(check_table(name), PAWL_OK);
    memcpy(name + 62, "\xc3\x9c", 3);
    assert_int_equal(check_table(name), PAWL_ECONFIG);
}
