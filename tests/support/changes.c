/* changes.c - a change set with two valid changes of every kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/changes.h"

#include <string.h>

static const struct {
    size_t items, count, size, first;
} kinds[] = {
#define KIND(name, is_refusable)                                                                  \
    {offsetof(pawl_changes, name.items), offsetof(pawl_changes, name.count), sizeof(pawl_##name), \
     offsetof(good_set, name)},
    PAWL_CHANGE_KINDS(KIND)
#undef KIND
};

static const pawl_saga_table table = {
    .type         = PAWL_TEXT_INIT("OrderSaga"),
    .name         = PAWL_TEXT_INIT("shop_OrderSaga"),
    .main         = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("number"), .type = PAWL_VALUE_INT},
};

#define TOTALS PAWL_TEXT_INIT("totals")
#define ORDERS PAWL_TEXT_INIT("orders")

static const struct {
#define ONE(name, is_refusable) pawl_##name name;
    PAWL_CHANGE_KINDS(ONE)
#undef ONE
} good = {
    .queue_settle        = {.queue = ORDERS, .seq = 1},
    .inbox_entry         = {.endpoint = ORDERS, .message_id = PAWL_TEXT_INIT("m-1")},
    .saga_delete         = {.table = &table, .id = {{{1}}}, .version = 1},
    .saga_insert         = {.table = &table, .id = {{{1}}}},
    .saga_update         = {.table = &table, .id = {{{1}}}, .version = 1},
    .event_append        = {.stream   = PAWL_TEXT_INIT("Account/1"),
                            .version  = 1,
                            .is_first = true,
                            .event    = {.type = PAWL_TEXT_INIT("Opened"), .type_version = 1}},
    .checkpoint_set      = {.name = TOTALS, .to = 1},
    .outbox_settle       = {.id = 1, .state = PAWL_OUTBOX_DISPATCHED},
    .outbox_reset        = {.id = 1},
    .leased_batch_remove = {.partition = TOTALS},
    .timeout_cancel      = {.saga_id = {{{1}}}},
    .timeout_set         = {.id = {{{1}}}, .destination = ORDERS},
    .outbox_add          = {.dispatch_id = {{{1}}},
                            .destination = PAWL_TEXT_INIT("billing"),
                            .message     = {.id = PAWL_TEXT_INIT("m-1"), .type = PAWL_TEXT_INIT("t")}},
    .stream_snapshot_set = {.stream = PAWL_TEXT_INIT("Account/1"), .version = 1, .type_version = 1},
    .queue_send          = {.queue   = ORDERS,
                            .message = {.id = PAWL_TEXT_INIT("m-1"), .type = PAWL_TEXT_INIT("t")}},
    .aggregator_add      = {.name      = TOTALS,
                            .partition = TOTALS,
                            .key       = PAWL_TEXT_INIT("m-1"),
                            .message   = {.id = PAWL_TEXT_INIT("m-1"), .type = PAWL_TEXT_INIT("t")}},
    .aggregator_remove   = {.partition = TOTALS, .is_all = true},
    .leased_batch_release = {.partition = TOTALS},
    .flush_set            = {.partition = TOTALS},
    .dead_set             = {.endpoint = ORDERS, .message = {.id = PAWL_TEXT_INIT("m-1")}},
    .history_add          = {.entry = {.endpoint = ORDERS,
                                       .kind     = PAWL_TEXT_INIT("message"),
                                       .outcome  = PAWL_TEXT_INIT("handled")}},
    .subscription_set     = {.type = PAWL_TEXT_INIT("Opened"), .queue = ORDERS},
};

void good_make(good_set *set)
{
    *set = (good_set){.changes = {.unit_count = 3, .group_count = 2}, .table = table};
#define FILL(name, is_refusable)         \
    set->name[0]            = good.name; \
    set->name[1]            = good.name; \
    set->changes.name.items = set->name; \
    set->changes.name.count = 2;
    PAWL_CHANGE_KINDS(FILL)
#undef FILL
    set->event_append[1].stream = PAWL_TEXT("Account/2");
}

size_t *good_count(good_set *set, pawl_change_kind kind)
{
    return (size_t *)(void *)((char *)&set->changes + kinds[kind].count);
}

void *good_items(good_set *set, pawl_change_kind kind)
{
    return (char *)&set->changes + kinds[kind].items;
}

void *good_second(good_set *set, pawl_change_kind kind, size_t offset)
{
    return (char *)set + kinds[kind].first + kinds[kind].size + offset;
}

size_t good_size(const good_set *set, pawl_change_kind kind, size_t offset)
{
    const char *changes = (const char *)&set->changes;
    size_t      size    = 0, count;
    const char *items;
    memcpy(&items, changes + kinds[kind].items, sizeof items);
    memcpy(&count, changes + kinds[kind].count, sizeof count);
    for (size_t i = 0; i < count; i++) {
        pawl_text text;
        memcpy(&text, items + i * kinds[kind].size + offset, sizeof text);
        size += text.size;
    }
    return size;
}
