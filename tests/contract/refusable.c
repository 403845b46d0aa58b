/* refusable.c - for each kind of change that can be refused: what makes it apply or be
 * refused, and how its effect is seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/refusable.h"

#include "conformance/suite/event_store.h"
#include "pawl/operations.h"

pawl_text trial_name(const trial *t, const char *what)
{
    return suite_printf(t->s, "%s-%u", what, t->number);
}

/* ---- Claims ------------------------------------------------------------- */

static void prepare_claim(trial *t)
{
    suite_send(t->s, t->other, trial_name(t, "claims"), "claimed", SUITE_NOW);
    t->row = suite_queue(t->s, t->other, trial_name(t, "claims")).items[0].seq;
    if (!t->is_refused)
        EXPECT_EQ(t->s, suite_claim(t->s, t->store, trial_name(t, "claims"), SUITE_NOW, 1).count,
                  1);
}

static void add_done(trial *t, suite_set *set)
{
    ADD(set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = trial_name(t, "claims"),
        .seq = t->row);
}

static bool is_done(const trial *t)
{
    return suite_queue(t->s, t->other, trial_name(t, "claims")).count == 0;
}

static void add_retry(trial *t, suite_set *set)
{
    ADD(set, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = trial_name(t, "claims"),
        .seq = t->row, .due = SUITE_NOW + 7, .attempts = 7);
}

static bool is_put_back(const trial *t)
{
    return suite_queue(t->s, t->other, trial_name(t, "claims")).items[0].attempts == 7;
}

/* ---- The inbox ---------------------------------------------------------- */

static void prepare_mark(trial *t)
{
    if (t->is_refused)
        COMMIT_ONE(t->s, t->other, inbox_entry, .endpoint = TEXT("suite"),
                   .message_id = trial_name(t, "mark"), .at = SUITE_NOW);
}

static void add_mark(trial *t, suite_set *set)
{
    ADD(set, inbox_entry, .endpoint = TEXT("suite"), .message_id = trial_name(t, "mark"),
        .at = SUITE_NOW);
}

/* A mark that was there before says nothing. */
static bool is_marked(const trial *t)
{
    return !t->is_refused && suite_knows(t->s, t->other, TEXT("suite"), trial_name(t, "mark"));
}

/* ---- Sagas -------------------------------------------------------------- */

static void update_order(const trial *t, suite_set *set, const char *data)
{
    ADD(set, saga_update, .table = t->s->tables[SUITE_ORDER], .id = suite_saga_id(t->number),
        .version = 1, .metadata = TEXT("{}"), .data = pawl_text_of(data),
        .type_version = TEXT("1.0"));
}

static void prepare_order(trial *t)
{
    suite_set moved = suite_changes(t->s);
    suite_insert_order(t->s, t->other, t->number, trial_name(t, "ref").data);
    update_order(t, &moved, "{\"by\":\"other\"}");
    if (t->is_refused)
        COMMIT(&moved, t->other);
}

static void add_update(trial *t, suite_set *set)
{
    update_order(t, set, "{\"by\":\"me\"}");
}

static bool is_updated(const trial *t)
{
    pawl_saga_row row = suite_load_id(t->s, t->other, SUITE_ORDER, t->number);
    return suite_text_has(row.data, TEXT("me"));
}

static void add_delete(trial *t, suite_set *set)
{
    ADD(set, saga_delete, .table = t->s->tables[SUITE_ORDER], .id = suite_saga_id(t->number),
        .version = 1);
}

static bool is_deleted(const trial *t)
{
    return suite_load_id(t->s, t->other, SUITE_ORDER, t->number).version == 0;
}

/* Another saga has its correlation value. */
static void prepare_begin(trial *t)
{
    if (t->is_refused)
        suite_insert_order(t->s, t->other, t->number + 1000000, trial_name(t, "ref").data);
}

static void add_begin(trial *t, suite_set *set)
{
    ADD(set, saga_insert, .table = t->s->tables[SUITE_ORDER], .id = suite_saga_id(t->number),
        .main = pawl_value_text(trial_name(t, "ref")), .metadata = TEXT("{}"), .data = TEXT("{}"),
        .type_version = TEXT("1.0"));
}

static bool is_begun(const trial *t)
{
    return suite_load_id(t->s, t->other, SUITE_ORDER, t->number).version == 1;
}

static void insert_move(const trial *t, unsigned number, int64_t transitional)
{
    COMMIT_ONE(t->s, t->other, saga_insert, .table = t->s->tables[SUITE_MOVE],
               .id           = suite_saga_id(number),
               .main         = pawl_value_text(suite_printf(t->s, "move-%u", number)),
               .transitional = pawl_value_integer(transitional), .metadata = TEXT("{}"),
               .data = TEXT("{}"), .type_version = TEXT("1.0"));
}

/* Another saga has the transitional value that this one is to get. */
static void prepare_move(trial *t)
{
    insert_move(t, t->number, (int64_t)t->number);
    if (t->is_refused)
        insert_move(t, t->number + 1000000, (int64_t)t->number + 1000000);
}

static void add_move(trial *t, suite_set *set)
{
    ADD(set, saga_update, .table = t->s->tables[SUITE_MOVE], .id = suite_saga_id(t->number),
        .version = 1, .transitional = pawl_value_integer((int64_t)t->number + 1000000),
        .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
}

static bool is_moved(const trial *t)
{
    return suite_load_id(t->s, t->other, SUITE_MOVE, t->number).version == 2;
}

/* ---- The event store -------------------------------------------------------- */

static void append(const trial *t, suite_set *set, const char *message_id)
{
    ADD(set, event_append, .stream = trial_name(t, "Account/"), .version = 1, .is_first = true,
        .event = suite_event(t->s, pawl_text_of(message_id)));
}

static void prepare_append(trial *t)
{
    suite_set first = suite_changes(t->s);
    append(t, &first, "theirs");
    if (t->is_refused)
        COMMIT(&first, t->other);
}

static void add_append(trial *t, suite_set *set)
{
    append(t, set, "mine");
}

static bool is_appended(const trial *t)
{
    pawl_stream stream = suite_stream(t->s, t->other, trial_name(t, "Account/"), 0);
    return stream.count == 1 && pawl_text_equal(stream.events[0].event.message_id, TEXT("mine"));
}

static void prepare_checkpoint(trial *t)
{
    if (t->is_refused)
        COMMIT_ONE(t->s, t->other, checkpoint_set, .name = trial_name(t, "totals"), .from = 0,
                   .to = 5, .at = SUITE_NOW);
}

static void add_checkpoint(trial *t, suite_set *set)
{
    ADD(set, checkpoint_set, .name = trial_name(t, "totals"), .from = 0, .to = 9, .at = SUITE_NOW);
}

static bool is_at_checkpoint(const trial *t)
{
    return suite_checkpoint(t->s, t->other, trial_name(t, "totals")) == 9;
}

/* ---- Timeouts ----------------------------------------------------------- */

static void add_timeout(trial *t, suite_set *set)
{
    ADD(set, timeout_set, .id = suite_timeout_id(t->number), .saga_id = suite_saga_id(t->number),
        .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = trial_name(t, "orders"),
        .due = SUITE_NOW, .is_new = true, .correlation_id = TEXT("mine"));
}

static pawl_timeout_rows timeouts_of(const trial *t)
{
    pawl_timeout_rows rows = {0};
    EXPECT_OK(t->s, pawl_store_timeout_list(t->other, suite_saga_id(t->number), 0, t->s->arena,
                                            &rows, &t->s->error));
    return rows;
}

static void prepare_set(trial *t)
{
    if (t->is_refused)
        COMMIT_ONE(t->s, t->other, timeout_set, .id = suite_timeout_id(t->number),
                   .saga_id = suite_saga_id(t->number), .saga_type = TEXT("Order"),
                   .name = TEXT("payment"), .destination = trial_name(t, "orders"),
                   .due = SUITE_NOW);
}

static bool is_set(const trial *t)
{
    pawl_timeout_rows rows = timeouts_of(t);
    return rows.count == 1 && rows.items[0].correlation_id.size == 4;
}

/* Under the lease of session 70. */
static void prepare_lease(trial *t)
{
    pawl_timeout_rows  rows;
    suite_set          set   = suite_changes(t->s);
    pawl_timeout_claim claim = {.destination = trial_name(t, "orders"),
                                .due_max     = SUITE_NOW,
                                .count_max   = 1,
                                .owner       = suite_session_id(70),
                                .now         = SUITE_NOW,
                                .lease       = SUITE_LEASE};
    add_timeout(t, &set);
    COMMIT(&set, t->other);
    EXPECT_OK(t->s, pawl_store_timeout_claim(t->other, &claim, t->s->arena, &rows, &t->s->error));
    EXPECT_EQ(t->s, rows.count, 1);
}

static void add_settle(trial *t, suite_set *set)
{
    ADD(set, timeout_settle, .id = suite_timeout_id(t->number), .has_owner = true,
        .owner = suite_session_id(t->is_refused ? 71 : 70));
}

static bool is_settled(const trial *t)
{
    return timeouts_of(t).count == 0;
}

/* ---- The outbox --------------------------------------------------------- */

static void put_out(const trial *t, suite_set *set, const char *message_id)
{
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(t->number), .endpoint = TEXT("suite"),
        .source = trial_name(t, "Order/"), .version = 1, .destination = TEXT("billing"),
        .message = suite_message(t->s, pawl_text_of(message_id)), .at = SUITE_NOW);
}

/* The row's id 0: there is none. */
static pawl_outbox_row outbox_row_of(const trial *t)
{
    pawl_outbox_rows  rows  = {0};
    pawl_outbox_query query = {.dispatch_id = suite_dispatch_id(t->number)};
    EXPECT_OK(t->s, pawl_store_outbox_find(t->other, &query, t->s->arena, &rows, &t->s->error));
    return rows.count != 0 ? rows.items[0] : (pawl_outbox_row){0};
}

static void prepare_out(trial *t)
{
    suite_set set = suite_changes(t->s);
    put_out(t, &set, "theirs");
    COMMIT(&set, t->other);
    t->row = outbox_row_of(t).id;
}

static void prepare_add(trial *t)
{
    if (t->is_refused)
        prepare_out(t);
}

static void add_out(trial *t, suite_set *set)
{
    put_out(t, set, "mine");
}

static bool is_out(const trial *t)
{
    return pawl_text_equal(outbox_row_of(t).message.id, TEXT("mine"));
}

static void settle_out(const trial *t, suite_set *set, pawl_outbox_state state, int32_t attempts)
{
    ADD(set, outbox_settle, .id = t->row, .source = trial_name(t, "Order/"), .state = state,
        .attempts = attempts, .outcome = PAWL_ATTEMPT_SUCCESS, .at = SUITE_NOW);
}

/* Another one has delivered it. */
static void prepare_delivery(trial *t)
{
    suite_set set = suite_changes(t->s);
    prepare_out(t);
    settle_out(t, &set, PAWL_OUTBOX_DISPATCHED, 1);
    if (t->is_refused)
        COMMIT(&set, t->other);
}

static void add_delivery(trial *t, suite_set *set)
{
    settle_out(t, set, PAWL_OUTBOX_DISPATCHED, 3);
}

static bool is_delivered(const trial *t)
{
    return outbox_row_of(t).attempts == 3;
}

/* A pending row cannot be discarded. */
static void prepare_dead(trial *t)
{
    suite_set set = suite_changes(t->s);
    prepare_out(t);
    settle_out(t, &set, PAWL_OUTBOX_DEAD, 1);
    if (!t->is_refused)
        COMMIT(&set, t->other);
}

static void add_discard(trial *t, suite_set *set)
{
    ADD(set, outbox_reset, .id = t->row, .action = PAWL_OUTBOX_DISCARD, .at = SUITE_NOW);
}

static bool is_discarded(const trial *t)
{
    return outbox_row_of(t).state == PAWL_OUTBOX_DISCARDED;
}

/* ---- Aggregators -------------------------------------------------------- */

/* One delivery, under the lease of session 70. */
static void prepare_snapshot(trial *t)
{
    COMMIT_ONE(t->s, t->other, aggregator_add, .name = TEXT("Bills"),
               .partition = trial_name(t, "Bills/"), .key = TEXT("b-1"),
               .message = suite_message(t->s, TEXT("b-1")), .at = SUITE_NOW, .due = SUITE_NOW);
    pawl_leased_batch leased =
        suite_snapshot_of(t->s, t->other, trial_name(t, "Bills/"), 70, SUITE_NOW);
    EXPECT_EQ(t->s, leased.count, 1);
    t->row = leased.items[0].id;
}

static void add_leased_batch_remove(trial *t, suite_set *set)
{
    int64_t *id = pawl_arena_take(t->s->arena, sizeof *id);
    EXPECT(t->s, id != NULL);
    *id = t->row;
    ADD(set, leased_batch_remove, .partition = trial_name(t, "Bills/"),
        .session = suite_session_id(t->is_refused ? 71 : 70), .ids = id, .id_count = 1);
}

static void add_remove(trial *t, suite_set *set)
{
    ADD(set, aggregator_remove, .partition = trial_name(t, "Bills/"), .is_checked = true,
        .correlation_id = t->is_refused ? TEXT("none") : TEXT("conversation-1"));
}

static bool is_removed(const trial *t)
{
    return suite_rows(t->s, t->other, trial_name(t, "Bills/")).count == 0;
}

/* ---- Sends -------------------------------------------------------------- */

/* The message is in the queue. */
static void prepare_send(trial *t)
{
    if (t->is_refused)
        suite_send(t->s, t->other, trial_name(t, "sends"), "m-1", SUITE_NOW + 7);
}

static void add_send(trial *t, suite_set *set)
{
    ADD(set, queue_send, .queue = trial_name(t, "sends"),
        .message = suite_message(t->s, TEXT("m-1")), .due = SUITE_NOW, .is_new = true);
}

static bool is_sent(const trial *t)
{
    pawl_queue_rows rows = suite_queue(t->s, t->other, trial_name(t, "sends"));
    return rows.count == 1 && rows.items[0].due == SUITE_NOW;
}

/* ---- Dead letters ------------------------------------------------------- */

/* Buries a letter, whose endpoint no other trial has. */
static void prepare_letter(trial *t)
{
    COMMIT_ONE(t->s, t->other, dead_set, .endpoint = trial_name(t, "dead/"),
               .queue = TEXT("orders"), .message = suite_message(t->s, TEXT("m-1")),
               .code = TEXT("EPERSIST"), .error = TEXT("x"), .attempts = 1, .at = SUITE_NOW);
}

static void add_take(trial *t, suite_set *set)
{
    ADD(set, dead_set, .is_remove = true, .is_checked = true, .endpoint = trial_name(t, "dead/"),
        .message = suite_message(t->s, t->is_refused ? TEXT("m-2") : TEXT("m-1")), .at = SUITE_NOW);
}

static bool is_taken(const trial *t)
{
    pawl_dead_rows rows = {.count = 0};
    EXPECT_OK(t->s, pawl_store_dead_list(t->other, trial_name(t, "dead/"), 0, t->s->arena, &rows,
                                         &t->s->error));
    return rows.count == 0;
}

/* ---- The kinds ---------------------------------------------------------- */

const refusable refusables[] = {
    {pawl_change_queue_settle, PAWL_EGONE, prepare_claim, add_done, is_done},
    {pawl_change_queue_settle, PAWL_EGONE, prepare_claim, add_retry, is_put_back},
    {pawl_change_inbox_entry, PAWL_EDUPLICATE, prepare_mark, add_mark, is_marked},
    {pawl_change_saga_delete, PAWL_ECONFLICT, prepare_order, add_delete, is_deleted},
    {pawl_change_saga_insert, PAWL_EDUPLICATE, prepare_begin, add_begin, is_begun},
    {pawl_change_saga_update, PAWL_ECONFLICT, prepare_order, add_update, is_updated},
    {pawl_change_saga_update, PAWL_EDUPLICATE, prepare_move, add_move, is_moved},
    {pawl_change_event_append, PAWL_ECONFLICT, prepare_append, add_append, is_appended},
    {pawl_change_checkpoint_set, PAWL_ECONFLICT, prepare_checkpoint, add_checkpoint,
     is_at_checkpoint},
    {pawl_change_timeout_settle, PAWL_EGONE, prepare_lease, add_settle, is_settled},
    {pawl_change_outbox_settle, PAWL_EGONE, prepare_delivery, add_delivery, is_delivered},
    {pawl_change_outbox_reset, PAWL_EGONE, prepare_dead, add_discard, is_discarded},
    {pawl_change_leased_batch_remove, PAWL_ECONFLICT, prepare_snapshot, add_leased_batch_remove,
     is_removed},
    {pawl_change_timeout_set, PAWL_EDUPLICATE, prepare_set, add_timeout, is_set},
    {pawl_change_outbox_add, PAWL_EMISMATCH, prepare_add, add_out, is_out},
    {pawl_change_queue_send, PAWL_EDUPLICATE, prepare_send, add_send, is_sent},
    {pawl_change_aggregator_remove, PAWL_ECONFLICT, prepare_snapshot, add_remove, is_removed},
    {pawl_change_dead_set, PAWL_EGONE, prepare_letter, add_take, is_taken},
};
const size_t refusable_count = sizeof refusables / sizeof refusables[0];

void refusables_check(suite *s)
{
    static const bool is_refusable[] = {
#define IS_REFUSABLE(name, is_refusable) is_refusable,
        PAWL_CHANGE_KINDS(IS_REFUSABLE)
#undef IS_REFUSABLE
    };
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < refusable_count; i++)
            count += refusables[i].kind == (pawl_change_kind)kind;
        if ((count != 0) != is_refusable[kind])
            suite_fail(s, __FILE__, __LINE__, "%s has %zu rows",
                       pawl_change_kind_name((pawl_change_kind)kind), count);
    }
}
