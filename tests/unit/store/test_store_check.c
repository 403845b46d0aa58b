/* test_store_check.c - changes as a list: events of a stream follow one another, kinds have names, and changes of sagas
 * are taken table by table, as a statement or a bulk needs them. The fields of each kind: test_store_check_forms.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"
#include "store/core/kinds.h"
#include "support/tests.h"

/* Two streams of events. */
typedef struct good_set {
    pawl_changes      changes;
    pawl_event_append events[3];
} good_set;

static void make_good(good_set *set)
{
    const pawl_event event = {.type = PAWL_TEXT("Deposited"), .type_version = 1};
    *set                   = (good_set){
                          .changes = {.group_count = 2, .unit_count = 1, .event_append = {set->events, 3}},
                          .events  = {
                               {.stream = PAWL_TEXT("Account/1"), .version = 4, .is_first = true, .event = event},
                               {.stream = PAWL_TEXT("Account/1"), .version = 5, .event = event},
                               {.stream = PAWL_TEXT("Account/2"), .version = 1, .is_first = true, .event = event}}};
}

static void expect(good_set *set, const char *text)
{
    must_fail(pawl_changes_check(&set->changes, world_error()), PAWL_EINVAL, text);
    make_good(set);
    assert_int_equal(pawl_changes_check(&set->changes, NULL), PAWL_OK);
}

TEST(a_streams_events_stand_together)
{
    static const char *const apart =
        "event_append 2: is_first: events of one stream stand together, the first one marked";
    good_set set;
    make_good(&set);
    set.events[2].is_first = false;
    expect(&set, apart);
    set.events[2].stream  = PAWL_TEXT("Account/1");
    set.events[2].version = 6;
    expect(&set, apart); /* marked twice */
    set.events[1].stream   = PAWL_TEXT("Account/3");
    set.events[1].is_first = true;
    set.events[2].stream   = PAWL_TEXT("Account/1");
    set.events[2].is_first = false;
    expect(&set, apart);
    set.events[1].version = 6;
    expect(&set, "event_append 1: version: it is 6 of group 0 behind 4 of group 0");
    set.events[1].version = 4;
    expect(&set, "event_append 1: version: it is 4 of group 0 behind 4 of group 0");
    set.events[1].group = 1;
    expect(&set, "event_append 1: version: it is 5 of group 1 behind 4 of group 0");
    set.events[2].group = 1;
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_OK);
}

TEST(kinds_have_names)
{
    const pawl_changes nothing = {0};
    assert_int_equal(pawl_changes_check(&nothing, NULL), PAWL_OK);
    assert_string_equal(pawl_change_kind_name(pawl_change_queue_settle), "queue_settle");
    assert_string_equal(pawl_change_kind_name(pawl_change_subscription_set), "subscription_set");
    assert_string_equal(pawl_change_kind_name(pawl_change_kind_count), "?");
}

/* Two of the tables have one name: a program may describe a table twice. */
static const pawl_saga_table tables[] = {{.name = PAWL_TEXT_INIT("shop_Order")},
                                         {.name = PAWL_TEXT_INIT("shop_Cart")},
                                         {.name = PAWL_TEXT_INIT("shop_Order")},
                                         {.name = PAWL_TEXT_INIT("shop_Bill")}};

TEST(changes_are_taken_table_by_table)
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
        left          = pawl__take_equal(items, left, alike, pawl__compare_by_table);
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
