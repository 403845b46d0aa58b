/* test_engine_ids.c - ids that are made from what a replay makes again, and the queues of a
 * publication: what is apart has an id apart. O5.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/dispatch.h"
#include "engine/batch.h"
#include "engine/stream.h"

#include "base/dispatch.h"
#include "support/tests.h"

RECORD(news, (TEXT, text));
RECORD_WITH(sport_news, ((TEXT, text)), .base = PAWL_RECORD_OF(news));

static bool is_same(pawl_uuid left, pawl_uuid right)
{
    return memcmp(&left, &right, sizeof left) == 0;
}

/* A source of the same text as the message's id orders its own rows: its ids are others. */
TEST(o5_a_row_without_source_is_apart_from_a_source_of_that_name)
{
    pawl_text        endpoint = PAWL_TEXT("sales"), name = PAWL_TEXT("m-1");
    pawl_dispatch_id alone = pawl__dispatch_id(endpoint, PAWL_TEXT(""), name, 1, 2);
    pawl_dispatch_id of    = pawl__dispatch_id(endpoint, name, PAWL_TEXT("m-2"), 1, 2);
    assert_false(is_same(alone.uuid, of.uuid));
    assert_true(is_same(alone.uuid,
                        pawl__dispatch_id_of(endpoint, PAWL__SUBJECT_MESSAGE, name, 1, 2).uuid));
    assert_true(is_same(of.uuid, pawl_dispatch_id_make(endpoint, name, 1, 2).uuid));
}

TEST(streams_of_one_name_have_timeouts_apart_in_two_endpoints)
{
    pawl_saga_id sales = pawl__stream_id(PAWL_TEXT("sales"), PAWL_TEXT("Order/1"));
    assert_false(
        is_same(sales.uuid, pawl__stream_id(PAWL_TEXT("stock"), PAWL_TEXT("Order/1")).uuid));
    assert_false(
        is_same(sales.uuid, pawl__stream_id(PAWL_TEXT("sales"), PAWL_TEXT("Order/2")).uuid));
    assert_true(
        is_same(sales.uuid, pawl__stream_id(PAWL_TEXT("sales"), PAWL_TEXT("Order/1")).uuid));
}

/* Subscribed to a type and to its base: one copy, and so one row of the outbox. */
/* A message's id is a dispatch id where it is a UUID of version 5 alone: senders make others of version 4 or 7. */
TEST(o17_a_uuid_of_another_version_is_no_dispatch)
{
    pawl_message message = {.id = PAWL_TEXT("5d3c1f00-0000-5000-8000-000000000001")};
    pawl_uuid    carried = pawl__carried_dispatch(&message);
    assert_int_equal(carried.bytes[0], 0x5d);
    static const char *const others[] = {"5d3c1f00-0000-4000-8000-000000000001",
                                         "5d3c1f00-0000-7000-8000-000000000001",
                                         "5d3c1f00-0000-0000-8000-000000000001",
                                         "5d3c1f00-0000-5000-8000-00000000000x",
                                         "m-1",
                                         ""};
    for (size_t i = 0; i < COUNT(others); i++) {
        message.id = pawl_text_of(others[i]);
        assert_true(pawl_uuid_is_zero(pawl__carried_dispatch(&message)));
    }
}

TEST(a_queue_that_subscribed_twice_gets_one_copy)
{
    pawl_subscription  items[] = {{.type = PAWL_TEXT("news"), .queue = PAWL_TEXT("fans")},
                                  {.type = PAWL_TEXT("news"), .queue = PAWL_TEXT("press")},
                                  {.type = PAWL_TEXT("sport_news"), .queue = PAWL_TEXT("fans")},
                                  {.type = PAWL_TEXT("weather"), .queue = PAWL_TEXT("crew")}};
    pawl_subscriptions list    = {.items = items, .count = 4};
    static const bool  sport[] = {true, true, false, false}, plain[] = {true, true, false, false};
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(pawl__is_subscriber(&list, i, PAWL_RECORD_OF(sport_news)()), sport[i]);
        assert_int_equal(pawl__is_subscriber(&list, i, PAWL_RECORD_OF(news)()), plain[i]);
    }
    /* A line before it that is of another type takes nothing from it. */
    items[0].type = PAWL_TEXT("weather");
    assert_true(pawl__is_subscriber(&list, 2, PAWL_RECORD_OF(sport_news)()));
}
