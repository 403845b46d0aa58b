/* test_store_memory_commit.c - a commit of every kind of change, and
 * memory that runs out in the middle of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"

#include "pawl/store_driver.h"
#include "support/tests.h"

static pawl_message message_of(const char *id)
{
    return (pawl_message){.id   = pawl_text_of(id),
                          .type = PAWL_TEXT("place_order"),
                          .body = PAWL_TEXT("{\"order_id\":\"o-1\"}")};
}

/* ---- A commit of everything ----------------------------------------------- */

static const pawl_saga_table saga_table = {
    .type         = PAWL_TEXT_INIT("OrderSaga"),
    .name         = PAWL_TEXT_INIT("shop_OrderSaga"),
    .main         = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("number"), .type = PAWL_VALUE_TEXT},
};

static const pawl_saga_id    old_saga = {{{1}}}, kept_saga = {{{2}}}, new_saga = {{{3}}};
static const pawl_timeout_id timeout_a = {{{4}}}, timeout_b = {{{5}}};
static const pawl_session_id session = {{{6}}};

static pawl_value text_value(const char *text)
{
    return (pawl_value){PAWL_VALUE_TEXT, {.text = pawl_text_of(text)}};
}

/* Rows that the rich commit needs to find: a claimed message, two sagas, a leased timeout, a
 * pending and a dead outbox row, a leased snapshot, a dead letter, a stream with a fold, a
 * checkpoint. */
typedef struct found {
    int64_t seq;
    int64_t outbox_id;
    int64_t aggregator_id;
    int64_t dead_id;
} found;

static void claim_what_was_made(pawl_store *store, pawl_arena *arena, found *ids)
{
    pawl_queue_claim queue = {.queue = PAWL_TEXT("orders"), .due_max = 10, .count_max = 1};
    pawl_queue_rows  messages;
    assert_int_equal(pawl_store_queue_claim(store, &queue, arena, &messages, NULL), PAWL_OK);
    assert_int_equal(messages.count, 1);
    pawl_timeout_claim timeouts = {.due_max = 10, .owner = session, .now = 10, .lease = 1000};
    pawl_timeout_rows  due;
    assert_int_equal(pawl_store_timeout_claim(store, &timeouts, arena, &due, NULL), PAWL_OK);
    assert_int_equal(due.count, 1);
    const pawl_text         types[] = {PAWL_TEXT("place_order")};
    pawl_leased_batch_claim claim   = {.partition  = PAWL_TEXT("totals"),
                                       .session    = session,
                                       .types      = types,
                                       .type_count = 1,
                                       .now        = 10,
                                       .lease      = 1000};
    pawl_leased_batch       leased;
    assert_int_equal(pawl_store_leased_batch_claim(store, &claim, arena, &leased, NULL), PAWL_OK);
    assert_int_equal(leased.count, 1);
    pawl_outbox_rows rows;
    assert_int_equal(pawl_store_outbox_claim(store, (pawl_text){.data = "", .size = 0}, 10, 1,
                                             arena, &rows, NULL),
                     PAWL_OK);
    assert_int_equal(rows.count, 1);
    *ids = (found){messages.items[0].seq, rows.items[0].id, leased.items[0].id, 0};
}

/* Stream s/1 at version 1 with a fold of it, a checkpoint at 1, a dead outbox row. */
static int64_t make_journal(pawl_store *store, pawl_arena *arena)
{
    pawl_event_append        event    = {.stream   = PAWL_TEXT("s/1"),
                                         .version  = 1,
                                         .is_first = true,
                                         .event    = {.type = PAWL_TEXT("Opened"), .type_version = 1}};
    pawl_stream_snapshot_set snapshot = {.stream       = PAWL_TEXT("s/1"),
                                         .version      = 1,
                                         .type_version = 1,
                                         .state        = PAWL_TEXT("{\"sum\":0}")};
    pawl_checkpoint_set      point    = {.name = PAWL_TEXT("totals"), .to = 1};
    pawl_outbox_add          out      = {
                      .dispatch_id = {{{9}}}, .destination = PAWL_TEXT("billing"), .message = message_of("m-0")};
    pawl_changes changes = {.unit_count          = 1,
                            .group_count         = 1,
                            .event_append        = {&event, 1},
                            .checkpoint_set      = {&point, 1},
                            .outbox_add          = {&out, 1},
                            .stream_snapshot_set = {&snapshot, 1}};
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    pawl_outbox_rows rows;
    assert_int_equal(pawl_store_outbox_list(store, PAWL_OUTBOX_PENDING, 0, arena, &rows, NULL), 0);
    assert_int_equal(rows.count, 1);
    pawl_outbox_settle dead = {.id       = rows.items[0].id,
                               .state    = PAWL_OUTBOX_DEAD,
                               .attempts = 1,
                               .outcome  = PAWL_ATTEMPT_POISON};
    pawl_changes       end  = {.unit_count = 1, .group_count = 1, .outbox_settle = {&dead, 1}};
    must(pawl_store_commit(store, &end, NULL, world_error()));
    return rows.items[0].id;
}

static void make_ground(pawl_store *store, pawl_arena *arena, found *ids)
{
    pawl_saga_insert    sagas[] = {{.table        = &saga_table,
                                    .id           = old_saga,
                                    .main         = text_value("o-1"),
                                    .transitional = text_value("n-1")},
                                   {.table        = &saga_table,
                                    .id           = kept_saga,
                                    .main         = text_value("o-2"),
                                    .transitional = text_value("n-2")}};
    pawl_queue_send     send    = {.queue = PAWL_TEXT("orders"), .message = message_of("m-1")};
    pawl_timeout_set    timeout = {.id          = timeout_a,
                                   .saga_id     = kept_saga,
                                   .name        = PAWL_TEXT("payment"),
                                   .destination = PAWL_TEXT("orders"),
                                   .due         = 10};
    pawl_outbox_add     out     = {.dispatch_id = {{{7}}},
                                   .source      = PAWL_TEXT("s/1"),
                                   .destination = PAWL_TEXT("billing"),
                                   .message     = message_of("m-2")};
    pawl_aggregator_add add     = {.name      = PAWL_TEXT("totals"),
                                   .partition = PAWL_TEXT("totals"),
                                   .key       = PAWL_TEXT("m-3"),
                                   .message   = message_of("m-3"),
                                   .due       = 50};
    pawl_dead_set       dead    = {.endpoint = PAWL_TEXT("orders"), .message = message_of("m-4")};
    pawl_changes        changes = {.unit_count     = 1,
                                   .group_count    = 1,
                                   .saga_insert    = {sagas, 2},
                                   .timeout_set    = {&timeout, 1},
                                   .outbox_add     = {&out, 1},
                                   .queue_send     = {&send, 1},
                                   .aggregator_add = {&add, 1},
                                   .dead_set       = {&dead, 1}};
    int64_t             dead_id = make_journal(store, arena);
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    claim_what_was_made(store, arena, ids);
    ids->dead_id = dead_id;
}

/* One change of every kind; group 1 is refused, because the saga it updates is
 * not at that version. */
typedef struct rich_set {
    pawl_queue_settle         settle;
    pawl_inbox_entry          marks[2];
    pawl_saga_delete          ended;
    pawl_saga_insert          begun;
    pawl_saga_update          updates[2];
    pawl_event_append         events[2];
    pawl_checkpoint_set       point;
    pawl_timeout_settle       fired;
    pawl_outbox_settle        sent;
    pawl_outbox_reset         enabled;
    pawl_leased_batch_remove  flushed;
    pawl_timeout_cancel       cancel;
    pawl_timeout_set          timeouts[2];
    pawl_outbox_add           out;
    pawl_outbox_block         hold;
    pawl_stream_snapshot_set  snapshot;
    pawl_queue_send           sends[2];
    pawl_aggregator_add       add;
    pawl_aggregator_remove    remove;
    pawl_leased_batch_release release;
    pawl_flush_set            flush;
    pawl_dead_set             dead[2];
    pawl_subscription_set     wish;
} rich_set;

static void fill_refusable(rich_set *set, const found *ids)
{
    set->settle = (pawl_queue_settle){.action = PAWL_QUEUE_RETRY,
                                      .queue  = PAWL_TEXT("orders"),
                                      .seq    = ids->seq,
                                      .due    = 20,
                                      .error  = PAWL_TEXT("later")};
    set->marks[0] =
        (pawl_inbox_entry){.endpoint = PAWL_TEXT("orders"), .message_id = PAWL_TEXT("m-1")};
    set->marks[1] = (pawl_inbox_entry){
        .group = 1, .endpoint = PAWL_TEXT("orders"), .message_id = PAWL_TEXT("m-9")};
    set->ended      = (pawl_saga_delete){.table = &saga_table, .id = old_saga, .version = 1};
    set->begun      = (pawl_saga_insert){.table        = &saga_table,
                                         .id           = new_saga,
                                         .main         = text_value("o-1"),
                                         .transitional = text_value("n-1")};
    set->updates[0] = (pawl_saga_update){.table        = &saga_table,
                                         .id           = kept_saga,
                                         .version      = 1,
                                         .transitional = text_value("n-3"),
                                         .data         = PAWL_TEXT("{\"a\":1}")};
    set->updates[1] =
        (pawl_saga_update){.group = 1, .table = &saga_table, .id = old_saga, .version = 4};
    set->fired       = (pawl_timeout_settle){.action     = PAWL_TIMEOUT_RETRY,
                                             .id         = timeout_a,
                                             .has_owner  = true,
                                             .owner      = session,
                                             .generation = 1,
                                             .due        = 30};
    set->sent        = (pawl_outbox_settle){.id      = ids->outbox_id,
                                            .state   = PAWL_OUTBOX_PENDING,
                                            .outcome = PAWL_ATTEMPT_TRANSIENT,
                                            .error   = PAWL_TEXT("no line")};
    set->flushed     = (pawl_leased_batch_remove){.partition = PAWL_TEXT("totals"),
                                                  .session   = session,
                                                  .ids       = &ids->aggregator_id,
                                                  .id_count  = 1};
    set->timeouts[0] = (pawl_timeout_set){.id          = timeout_b,
                                          .saga_id     = kept_saga,
                                          .name        = PAWL_TEXT("payment"),
                                          .destination = PAWL_TEXT("orders"),
                                          .due         = 40};
    set->timeouts[1] =
        (pawl_timeout_set){.id = timeout_b, .destination = PAWL_TEXT("orders"), .due = 50};
    set->out = (pawl_outbox_add){.dispatch_id = {{{8}}},
                                 .source      = PAWL_TEXT("s/1"),
                                 .version     = 1,
                                 .destination = PAWL_TEXT("billing"),
                                 .message     = message_of("m-5")};
}

static void fill_journal(rich_set *set, const found *ids)
{
    for (int i = 0; i < 2; i++)
        set->events[i] =
            (pawl_event_append){.stream   = PAWL_TEXT("s/1"),
                                .version  = 2 + i,
                                .is_first = i == 0,
                                .event    = {.type = PAWL_TEXT("Deposited"), .type_version = 1}};
    set->point   = (pawl_checkpoint_set){.name = PAWL_TEXT("totals"), .from = 1, .to = 3};
    set->enabled = (pawl_outbox_reset){
        .id = ids->dead_id, .action = PAWL_OUTBOX_RETRY, .note = PAWL_TEXT("by hand"), .at = 9};
    set->snapshot = (pawl_stream_snapshot_set){.stream       = PAWL_TEXT("s/1"),
                                               .version      = 3,
                                               .type_version = 1,
                                               .state        = PAWL_TEXT("{\"sum\":2}")};
}

static void fill_others(rich_set *set, const found *ids)
{
    set->cancel   = (pawl_timeout_cancel){.saga_id = old_saga};
    set->hold     = (pawl_outbox_block){.source = PAWL_TEXT("s/1"), .after = ids->outbox_id};
    set->sends[0] = (pawl_queue_send){.queue = PAWL_TEXT("stock"), .message = message_of("m-6")};
    set->sends[1] =
        (pawl_queue_send){.group = 1, .queue = PAWL_TEXT("stock"), .message = message_of("m-7")};
    set->add    = (pawl_aggregator_add){.name      = PAWL_TEXT("sums"),
                                        .partition = PAWL_TEXT("sums"),
                                        .key       = PAWL_TEXT("m-8"),
                                        .message   = message_of("m-8"),
                                        .due       = 60};
    set->remove = (pawl_aggregator_remove){.partition = PAWL_TEXT("others"), .is_all = true};
    set->release =
        (pawl_leased_batch_release){.partition = PAWL_TEXT("totals"), .session = session};
    set->flush   = (pawl_flush_set){.partition = PAWL_TEXT("totals"), .is_done = true};
    set->dead[0] = (pawl_dead_set){.endpoint = PAWL_TEXT("orders"), .message = message_of("m-6")};
    set->dead[1] = (pawl_dead_set){
        .is_remove = true, .endpoint = PAWL_TEXT("orders"), .message = message_of("m-4")};
    set->wish =
        (pawl_subscription_set){.type = PAWL_TEXT("order_placed"), .queue = PAWL_TEXT("stock")};
}

static pawl_code commit_all(pawl_store *store, const found *ids, pawl_refusals *refused)
{
    rich_set set;
    fill_refusable(&set, ids);
    fill_journal(&set, ids);
    fill_others(&set, ids);
    pawl_changes all = {.unit_count           = 1,
                        .group_count          = 2,
                        .counters             = {.messages = 3},
                        .queue_settle         = {&set.settle, 1},
                        .inbox_entry          = {set.marks, 2},
                        .saga_delete          = {&set.ended, 1},
                        .saga_insert          = {&set.begun, 1},
                        .saga_update          = {set.updates, 2},
                        .event_append         = {set.events, 2},
                        .checkpoint_set       = {&set.point, 1},
                        .timeout_settle       = {&set.fired, 1},
                        .outbox_settle        = {&set.sent, 1},
                        .outbox_reset         = {&set.enabled, 1},
                        .leased_batch_remove  = {&set.flushed, 1},
                        .timeout_cancel       = {&set.cancel, 1},
                        .timeout_set          = {set.timeouts, 2},
                        .outbox_add           = {&set.out, 1},
                        .outbox_block         = {&set.hold, 1},
                        .stream_snapshot_set  = {&set.snapshot, 1},
                        .queue_send           = {set.sends, 2},
                        .aggregator_add       = {&set.add, 1},
                        .aggregator_remove    = {&set.remove, 1},
                        .leased_batch_release = {&set.release, 1},
                        .flush_set            = {&set.flush, 1},
                        .dead_set             = {set.dead, 2},
                        .subscription_set     = {&set.wish, 1}};
    return pawl_store_commit(store, &all, refused, NULL);
}

static void find_sagas(pawl_store *store, pawl_arena *arena, pawl_saga_row rows[3])
{
    const pawl_value values[] = {text_value("o-1"), text_value("o-2"), text_value("o-3")};
    assert_int_equal(pawl_store_saga_load(store, &saga_table, PAWL_SAGA_BY_MAIN, values, 3,
                                          PAWL_SAGA_UNLOCKED, arena, rows, NULL),
                     PAWL_OK);
}

/* The stream and the fold end at that version, the checkpoint is there too, and
 * the row that was dead has so many lines of history. */
static void check_journal(pawl_store *store, pawl_arena *arena, const found *ids, int64_t version,
                          size_t line_count)
{
    const pawl_stream_read read     = {.stream = PAWL_TEXT("s/1"), .snapshot_version_max = 1};
    int64_t                position = -1;
    pawl_stream            stream;
    pawl_attempt_rows      lines;
    assert_int_equal(pawl_store_stream_load(store, &read, 1, arena, &stream, NULL), PAWL_OK);
    assert_int_equal(stream.version, version);
    assert_int_equal(stream.snapshot.version, version);
    assert_string_equal(stream.snapshot.state.data, version == 1 ? "{\"sum\":0}" : "{\"sum\":2}");
    assert_int_equal(stream.count, 0);
    assert_int_equal(pawl_store_checkpoint_get(store, PAWL_TEXT("totals"), &position, NULL), 0);
    assert_int_equal(position, version);
    assert_int_equal(pawl_store_outbox_attempts(store, ids->dead_id, arena, &lines, NULL), 0);
    assert_int_equal(lines.count, line_count);
}

static void check_nothing_happened(pawl_store *store, pawl_arena *arena, const found *ids)
{
    pawl_saga_row rows[3];
    find_sagas(store, arena, rows);
    assert_int_equal(pawl_uuid_compare(rows[0].id.uuid, old_saga.uuid), 0);
    assert_int_equal(rows[0].version, 1);
    assert_int_equal(rows[1].version, 1);
    pawl_stats stats = PAWL_STATS_INIT;
    assert_int_equal(pawl_store_stats(store, 10, arena, &stats, NULL), PAWL_OK);
    assert_int_equal(stats.queue_count, 1);
    assert_int_equal(stats.queues[0].ready, 1);
    assert_int_equal(stats.inbox, 0);
    assert_int_equal(stats.timeouts_due, 1);
    assert_int_equal(stats.timeouts_pending, 0);
    assert_int_equal(stats.outbox_pending, 1);
    assert_int_equal(stats.outbox_blocked, 0);
    assert_int_equal(stats.outbox_dead, 1);
    check_journal(store, arena, ids, 1, 1);
    assert_int_equal(stats.aggregator_rows, 1);
    assert_int_equal(stats.dead, 1);
    assert_int_equal(stats.counters.messages, 0);
    pawl_subscriptions wishes;
    assert_int_equal(pawl_store_subscriptions(store, arena, &wishes, NULL), PAWL_OK);
    assert_int_equal(wishes.count, 0);
}

static void check_all_happened(pawl_store *store, pawl_arena *arena, const found *ids)
{
    pawl_saga_row rows[3];
    find_sagas(store, arena, rows);
    assert_int_equal(pawl_uuid_compare(rows[0].id.uuid, new_saga.uuid), 0);
    assert_int_equal(rows[1].version, 2);
    assert_string_equal(rows[1].data.data, "{\"a\":1}");
    assert_string_equal(rows[1].transitional.as.text.data, "n-3");
    assert_int_equal(rows[2].version, 0);
    pawl_stats stats = PAWL_STATS_INIT;
    assert_int_equal(pawl_store_stats(store, 10, arena, &stats, NULL), PAWL_OK);
    assert_int_equal(stats.queue_count, 2);
    assert_int_equal(stats.queues[0].scheduled, 1);
    assert_int_equal(stats.queues[1].ready, 1);
    assert_int_equal(stats.inbox, 1);
    assert_int_equal(stats.timeouts_pending, 2);
    assert_int_equal(stats.outbox_pending, 2);
    assert_int_equal(stats.outbox_blocked, 1);
    assert_int_equal(stats.outbox_dead, 0);
    check_journal(store, arena, ids, 3, 2);
    assert_int_equal(stats.aggregator_rows, 1);
    assert_int_equal(stats.dead, 1);
    assert_int_equal(stats.counters.messages, 3);
    pawl_timeout_rows timeouts;
    assert_int_equal(pawl_store_timeout_list(store, kept_saga, 0, arena, &timeouts, NULL), 0);
    assert_int_equal(timeouts.count, 1);
    assert_int_equal(timeouts.items[0].generation, 2);
    assert_int_equal(timeouts.items[0].due, 40);
    pawl_attempt_rows attempts;
    assert_int_equal(pawl_store_outbox_attempts(store, ids->outbox_id, arena, &attempts, NULL), 0);
    assert_int_equal(attempts.count, 1);
    assert_string_equal(attempts.items[0].error.data, "no line");
    const pawl_text names[] = {PAWL_TEXT("totals"), PAWL_TEXT("sums")};
    pawl_next_due   next;
    assert_int_equal(pawl_store_next_due(store, PAWL_TEXT("orders"), names, 2, &next, NULL), 0);
    assert_int_equal(next.queue, 20);
    assert_int_equal(next.timeout, 40);
    assert_int_equal(next.flush, 60);
}

/* Fails the first allocation of the commit, then the second ..., until it runs
 * untouched. Whenever one fails, nothing was applied. */
TEST(a_commit_without_memory_leaves_nothing)
{
    fault_memory_install();
    pawl_code code = PAWL_ENOMEM;
    int       n    = 0;
    for (; code == PAWL_ENOMEM; n++) {
        pawl_arena *arena = pawl_arena_create(0);
        pawl_store *store = test_open("memory:short");
        found       ids;
        make_ground(store, arena, &ids);
        check_nothing_happened(store, arena, &ids);
        /* A small arena, so that refusals ask for memory as well. */
        pawl_refusals refused = {.arena = pawl_arena_create(16)};
        fault_memory_begin(n + 1);
        code = commit_all(store, &ids, &refused);
        fault_memory_pause();
        if (code == PAWL_ENOMEM) {
            check_nothing_happened(store, arena, &ids);
            assert_int_equal(refused.count, 0);
            refused = (pawl_refusals){.arena = refused.arena};
            assert_int_equal(commit_all(store, &ids, &refused), PAWL_OK);
        }
        check_all_happened(store, arena, &ids);
        assert_int_equal(refused.count, 1);
        assert_int_equal(refused.items[0].group, 1);
        assert_int_equal(refused.items[0].reason, PAWL_ECONFLICT);
        assert_string_equal(refused.items[0].text.data,
                            "saga 'OrderSaga' 01000000-0000-0000-0000-000000000000: "
                            "expected version 4, it is gone");
        test_now(store);
        pawl_arena_destroy(refused.arena);
        pawl_arena_destroy(arena);
    }
    pawl_allocator_set(NULL);
    assert_int_equal(code, PAWL_OK);
    assert_false(fault_memory_is_met());
    assert_in_range(n, 30, 1000); /* the commit allocates that often at least */
}

/* One row of each kind that can be claimed. */
static void make_claimable(pawl_store *store)
{
    pawl_queue_send     send    = {.queue = PAWL_TEXT("orders"), .message = message_of("m-1")};
    pawl_timeout_set    timeout = {.id = timeout_a, .destination = PAWL_TEXT("orders")};
    pawl_aggregator_add add     = {.name      = PAWL_TEXT("totals"),
                                   .partition = PAWL_TEXT("totals"),
                                   .key       = PAWL_TEXT("m-3"),
                                   .message   = message_of("m-3")};
    pawl_changes        changes = {.unit_count     = 1,
                                   .group_count    = 1,
                                   .timeout_set    = {&timeout, 1},
                                   .queue_send     = {&send, 1},
                                   .aggregator_add = {&add, 1}};
    must(pawl_store_commit(store, &changes, NULL, world_error()));
}

static pawl_code claim_message(pawl_store *store, pawl_arena *arena, size_t *count)
{
    pawl_queue_claim claim = {.queue = PAWL_TEXT("orders"), .count_max = 9};
    pawl_queue_rows  rows;
    pawl_code        code = pawl_store_queue_claim(store, &claim, arena, &rows, NULL);
    *count                = rows.count;
    return code;
}

static pawl_code claim_timeout(pawl_store *store, pawl_arena *arena, size_t *count)
{
    pawl_timeout_claim claim = {.owner = session, .lease = 1000};
    pawl_timeout_rows  rows;
    pawl_code          code = pawl_store_timeout_claim(store, &claim, arena, &rows, NULL);
    *count                  = rows.count;
    return code;
}

static pawl_code claim_snapshot(pawl_store *store, pawl_arena *arena, size_t *count)
{
    const pawl_text         types[] = {PAWL_TEXT("place_order")};
    pawl_leased_batch_claim claim   = {.partition  = PAWL_TEXT("totals"),
                                       .session    = session,
                                       .types      = types,
                                       .type_count = 1,
                                       .lease      = 1000};
    pawl_leased_batch       leased;
    pawl_code code = pawl_store_leased_batch_claim(store, &claim, arena, &leased, NULL);
    *count         = leased.count;
    return code;
}

/* A claim that could not be handed out left the row free: the next one, which
 * has memory, takes it. */
TEST(a_claim_without_memory_takes_nothing)
{
    typedef pawl_code      claim_fn(pawl_store * store, pawl_arena * arena, size_t * count);
    static claim_fn *const claims[] = {claim_message, claim_timeout, claim_snapshot};
    fault_memory_install();
    for (size_t i = 0; i < COUNT(claims); i++) {
        pawl_store *store = test_open("memory:short");
        size_t      count = 0;
        pawl_code   code  = PAWL_ENOMEM;
        int         n     = 0;
        make_claimable(store);
        for (; code == PAWL_ENOMEM; n++) {
            pawl_arena *arena = pawl_arena_create(16);
            fault_memory_begin(n + 1);
            code = claims[i](store, arena, &count);
            fault_memory_pause();
            assert_int_equal(count, code == PAWL_OK ? 1 : 0);
            pawl_arena_destroy(arena);
        }
        assert_int_equal(code, PAWL_OK);
        assert_false(fault_memory_is_met());
        assert_in_range(n, 3, 100);
        test_now(store);
    }
    pawl_allocator_set(NULL);
}
