/* test_store_check.c - changes that are refused before a driver sees them, each named with its
 * value and its limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"
#include "support/tests.h"

static const pawl_saga_table table = {
    .type = PAWL_TEXT_INIT("OrderSaga"),
    .name = PAWL_TEXT_INIT("shop_OrderSaga"),
    .main = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT},
};

/* One good change of every kind the refusals below start from. */
typedef struct good_set {
    pawl_changes             changes;
    pawl_queue_settle        queue_settle;
    pawl_inbox_entry         inbox_entry;
    pawl_saga_insert         saga_insert;
    pawl_outbox_settle       outbox_settle;
    pawl_leased_batch_remove leased_batch_remove;
    pawl_timeout_cancel      timeout_cancel;
    pawl_timeout_set         timeout_set;
    pawl_outbox_add          outbox_add;
    pawl_queue_send          queue_send;
    pawl_aggregator_add      aggregator_add;
    pawl_dead_set            dead_set;
} good_set;

static const pawl_uuid    some_id      = {{1}};
static const pawl_message some_message = {.id   = PAWL_TEXT_INIT("m-1"),
                                          .type = PAWL_TEXT_INIT("place_order"),
                                          .body = PAWL_TEXT_INIT("{}")};

static void make_good(good_set *set)
{
    *set = (good_set){
        .changes             = {.group_count = 2, .unit_count = 3},
        .queue_settle        = {.queue = PAWL_TEXT("orders"), .seq = 1},
        .inbox_entry         = {.endpoint = PAWL_TEXT("orders"), .message_id = PAWL_TEXT("m-1")},
        .saga_insert         = {.table = &table,
                                .id    = {some_id},
                                .main  = {PAWL_VALUE_TEXT, {.text = PAWL_TEXT("o-1")}},
                                .data  = PAWL_TEXT("{}")},
        .outbox_settle       = {.id = 1, .state = PAWL_OUTBOX_DISPATCHED},
        .leased_batch_remove = {.partition = PAWL_TEXT("totals")},
        .timeout_cancel      = {.saga_id = {some_id}},
        .timeout_set         = {.id = {some_id}, .destination = PAWL_TEXT("orders")},
        .outbox_add          = {.dispatch_id = {some_id},
                                .source      = PAWL_TEXT("OrderSaga/1"),
                                .destination = PAWL_TEXT("billing"),
                                .message     = some_message},
        .queue_send          = {.queue = PAWL_TEXT("orders"), .message = some_message},
        .aggregator_add      = {.name      = PAWL_TEXT("totals"),
                                .partition = PAWL_TEXT("totals"),
                                .key       = PAWL_TEXT("m-1"),
                                .message   = some_message},
        .dead_set = {.endpoint = PAWL_TEXT("orders"), .message = {.id = PAWL_TEXT("m-1")}},
    };
    pawl_changes *changes              = &set->changes;
    changes->queue_settle.items        = &set->queue_settle;
    changes->inbox_entry.items         = &set->inbox_entry;
    changes->saga_insert.items         = &set->saga_insert;
    changes->outbox_settle.items       = &set->outbox_settle;
    changes->leased_batch_remove.items = &set->leased_batch_remove;
    changes->timeout_cancel.items      = &set->timeout_cancel;
    changes->timeout_set.items         = &set->timeout_set;
    changes->outbox_add.items          = &set->outbox_add;
    changes->queue_send.items          = &set->queue_send;
    changes->aggregator_add.items      = &set->aggregator_add;
    changes->dead_set.items            = &set->dead_set;
    changes->queue_settle.count = changes->inbox_entry.count = changes->saga_insert.count = 1;
    changes->outbox_settle.count = changes->leased_batch_remove.count = 1;
    changes->timeout_cancel.count = changes->timeout_set.count = changes->outbox_add.count = 1;
    changes->queue_send.count = changes->aggregator_add.count = changes->dead_set.count = 1;
}

static void a_good_set_passes(void)
{
    good_set   set;
    pawl_error error = PAWL_ERROR_INIT;
    make_good(&set);
    if (pawl_changes_check(&set.changes, &error) != PAWL_OK)
        fail_msg("%s", error.text);
    const pawl_changes nothing = {0};
    assert_int_equal(pawl_changes_check(&nothing, NULL), PAWL_OK);
}

static char      long_bytes[PAWL_BODY_SIZE_MAX + 1];
static pawl_text of_size(size_t size)
{
    return (pawl_text){.data = long_bytes, .size = size};
}

static void expect(good_set *set, pawl_code code, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_changes_check(&set->changes, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.text, text);
    make_good(set);
}

static void sizes_are_limited(void)
{
    good_set set;
    memset(long_bytes, 'x', sizeof long_bytes);
    make_good(&set);
    set.queue_settle.queue = of_size(PAWL_NAME_SIZE_MAX);
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_OK);
    set.queue_settle.queue = of_size(201);
    expect(&set, PAWL_ELIMIT, "queue_settle 0: queue: it has 201 bytes, limit 200");
    set.queue_settle.error = of_size(501);
    expect(&set, PAWL_ELIMIT, "queue_settle 0: error: it has 501 bytes, limit 500");
    set.inbox_entry.message_id = of_size(201);
    expect(&set, PAWL_ELIMIT, "inbox_entry 0: message_id: it has 201 bytes, limit 200");
    set.saga_insert.data = of_size(PAWL_STATE_SIZE_MAX + 1);
    expect(&set, PAWL_ELIMIT, "saga_insert 0: data: it has 16777217 bytes, limit 16777216");
    set.outbox_add.source = of_size(402);
    expect(&set, PAWL_ELIMIT, "outbox_add 0: source: it has 402 bytes, limit 401");
    set.queue_send.message.headers = of_size(PAWL_HEADERS_SIZE_MAX + 1);
    expect(&set, PAWL_ELIMIT, "queue_send 0: message.headers: it has 65537 bytes, limit 65536");
    set.queue_send.message.body = of_size(PAWL_BODY_SIZE_MAX + 1);
    expect(&set, PAWL_ELIMIT, "queue_send 0: message.body: it has 16777217 bytes, limit 16777216");
    set.aggregator_add.partition = of_size(201);
    expect(&set, PAWL_ELIMIT, "aggregator_add 0: partition: it has 201 bytes, limit 200");
    set.changes.unit_count = 4097;
    expect(&set, PAWL_ELIMIT, "change set: it has 4097 units, limit 4096");
    set.changes.group_count = 4097;
    expect(&set, PAWL_ELIMIT, "change set: it has 4097 groups, limit 4096");
    set.saga_insert.main.as.text = of_size(201);
    pawl_error error             = PAWL_ERROR_INIT;
    assert_int_equal(pawl_changes_check(&set.changes, &error), PAWL_EINVAL);
    assert_non_null(strstr(error.text, "saga_insert 0: main"));
    assert_non_null(strstr(error.text, "200"));
}

/* Each is small enough; together they are more than a server takes. */
static void the_size_of_all_is_limited(void)
{
    good_set        set;
    pawl_queue_send sends[16];
    make_good(&set);
    for (size_t i = 0; i < 16; i++) {
        sends[i]              = set.queue_send;
        sends[i].message.body = of_size(PAWL_BODY_SIZE_MAX);
    }
    set.changes.queue_send.items = sends;
    set.changes.queue_send.count = 15;
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_OK);
    set.changes.queue_send.count = 16;
    expect(&set, PAWL_ELIMIT, "change set: its texts have 268435879 bytes, limit 268435456");
}

static void what_is_needed_may_not_be_empty(void)
{
    good_set set;
    make_good(&set);
    set.queue_send.message.id.size = 0;
    expect(&set, PAWL_EINVAL, "queue_send 0: message.id: it is empty");
    set.queue_send.message.type.size = 0;
    expect(&set, PAWL_EINVAL, "queue_send 0: message.type: it is empty");
    set.dead_set.endpoint.size = 0;
    expect(&set, PAWL_EINVAL, "dead_set 0: endpoint: it is empty");
    set.timeout_set.destination.size = 0;
    expect(&set, PAWL_EINVAL, "timeout_set 0: destination: it is empty");
    set.timeout_set.id.uuid = (pawl_uuid){{0}};
    expect(&set, PAWL_EINVAL, "timeout_set 0: id: it is zero");
    set.timeout_cancel.saga_id.uuid = (pawl_uuid){{0}};
    expect(&set, PAWL_EINVAL, "timeout_cancel 0: saga_id: it is zero");
    set.outbox_add.dispatch_id.uuid = (pawl_uuid){{0}};
    expect(&set, PAWL_EINVAL, "outbox_add 0: dispatch_id: it is zero");
    set.saga_insert.id.uuid = (pawl_uuid){{0}};
    expect(&set, PAWL_EINVAL, "saga_insert 0: id: it is zero");
    set.saga_insert.table = NULL;
    expect(&set, PAWL_EINVAL, "saga_insert 0: table: it is NULL");
    set.leased_batch_remove.id_count = 2;
    expect(&set, PAWL_EINVAL, "leased_batch_remove 0: ids: 2 ids at NULL");
    set.changes.queue_send.items = NULL;
    expect(&set, PAWL_EINVAL, "queue_send: 1 changes at NULL");
    set.inbox_entry.message_id = (pawl_text){.data = NULL, .size = 3};
    expect(&set, PAWL_EINVAL, "inbox_entry 0: message_id: it has 3 bytes at NULL");
}

static void texts_are_utf8_without_nul(void)
{
    good_set set;
    make_good(&set);
    set.queue_send.message.id = PAWL_TEXT("m\0x");
    expect(&set, PAWL_EINVAL, "queue_send 0: message.id: byte 1 is NUL");
    set.queue_send.message.headers = PAWL_TEXT("{\"a\":\"\0\"}");
    expect(&set, PAWL_EINVAL, "queue_send 0: message.headers: byte 6 is NUL");
    set.queue_settle.queue = PAWL_TEXT("caf\xC3");
    expect(&set, PAWL_EINVAL, "queue_settle 0: queue: byte 3 is no UTF-8");
    set.saga_insert.data = PAWL_TEXT("\0");
    expect(&set, PAWL_EINVAL, "saga_insert 0: data: byte 0 is NUL");
    set.queue_send.message.body = PAWL_TEXT("\0\xFF"); /* bodies are bytes */
    set.queue_settle.error      = PAWL_TEXT("\xC3");   /* and so are errors */
    set.queue_settle.queue      = PAWL_TEXT("caf\xC3\xA9");
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_OK);
}

static void numbers_are_in_range(void)
{
    good_set set;
    make_good(&set);
    set.queue_send.unit = 3;
    expect(&set, PAWL_EINVAL, "queue_send 0: unit: it is 3, the set has 3 units");
    set.dead_set.group = 2;
    expect(&set, PAWL_EINVAL, "dead_set 0: group: it is 2, the set has 2 groups");
    set.queue_settle.action = (pawl_queue_action)3;
    expect(&set, PAWL_EINVAL, "queue_settle 0: action: 3 is unknown");
    set.outbox_settle.state = PAWL_OUTBOX_BLOCKED;
    expect(&set, PAWL_EINVAL,
           "outbox_settle 0: state: an attempt ends pending, dispatched or dead");
    set.queue_send.due = PAWL_TIME_MAX + 1;
    expect(&set, PAWL_EINVAL,
           "queue_send 0: due: time 253402300800000000 is outside the years 1 to 9999");
    set.saga_insert.main = (pawl_value){PAWL_VALUE_INT, {.integer = 1}};
    expect(&set, PAWL_EINVAL, "saga_insert 0: main: it is of type integer, the column's is text");
}

static void kinds_have_names(void)
{
    assert_string_equal(pawl_change_kind_name(pawl_change_queue_settle), "queue_settle");
    assert_string_equal(pawl_change_kind_name(pawl_change_subscription_set), "subscription_set");
    assert_string_equal(pawl_change_kind_name(pawl_change_kind_count), "?");
}

const struct CMUnitTest tests[] = {
    TEST(a_good_set_passes),          TEST(sizes_are_limited),
    TEST(the_size_of_all_is_limited), TEST(what_is_needed_may_not_be_empty),
    TEST(texts_are_utf8_without_nul), TEST(numbers_are_in_range),
    TEST(kinds_have_names),           {.name = NULL},
};
