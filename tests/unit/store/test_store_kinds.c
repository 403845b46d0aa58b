/* test_store_kinds.c - changes of sagas taken table by table, as a statement or a bulk needs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/kinds.h"
#include "support/tests.h"

/* Two of the tables have one name: a program may describe a table twice. */
static const pawl_saga_table tables[] = {{.name = PAWL_TEXT_INIT("shop_Order")},
                                         {.name = PAWL_TEXT_INIT("shop_Cart")},
                                         {.name = PAWL_TEXT_INIT("shop_Order")},
                                         {.name = PAWL_TEXT_INIT("shop_Bill")}};

static void changes_are_taken_table_by_table(void)
{
    static const size_t      order[] = {0, 1, 0, 2, 3, 1, 2, 0};
    static const char *const taken[] = {"shop_Bill", "shop_Cart", "shop_Order"};
    static const size_t      rows[]  = {1, 2, 5};
    enum { COUNT = 8 };
    pawl_saga_update changes[COUNT];
    const void      *items[COUNT], *alike[COUNT];
    size_t           left = COUNT;
    for (size_t i = 0; i < COUNT; i++) {
        changes[i] = (pawl_saga_update){.table = &tables[order[i]], .version = (int64_t)i};
        items[i]   = &changes[i];
    }
    for (size_t i = 0; i < 3; i++) {
        size_t before = left;
        left          = pawl__take_alike(items, left, alike, pawl__by_table);
        assert_int_equal(before - left, rows[i]);
        int64_t version = -1;
        for (size_t j = 0; j < before - left; j++) {
            const pawl_saga_update *change = alike[j];
            assert_string_equal(change->table->name.data, taken[i]);
            assert_true(change->version > version); /* in their order */
            version = change->version;
        }
    }
    assert_int_equal(left, 0);
}

const struct CMUnitTest tests[] = {
    TEST(changes_are_taken_table_by_table),
    {.name = NULL},
};
