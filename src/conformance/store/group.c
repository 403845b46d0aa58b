/* group.c - groups are applied or refused as a whole, for all kinds of changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/sample_rows.h"

#define ORDER(s) ((s)->tables[SUITE_ORDER])

static void add_update(suite_set *set, unsigned number, int64_t version, const char *data)
{
    ADD(set, saga_update, .table = ORDER(set->s), .id = suite_saga_id(number), .version = version,
        .metadata = TEXT("{}"), .data = pawl_text_of(data), .type_version = TEXT("1.0"));
}

/* ---- One bad change of each refusable kind ------------------------------ */

typedef void bad_function(const suite_sample_rows *sample, suite_set *set);

static void bad_queue_settle(const suite_sample_rows *sample, suite_set *set)
{
    ADD(set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
        .seq = sample->free_seq);
}

static void bad_inbox_entry(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("known"), .at = SUITE_NOW);
}

static void bad_saga_delete(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, saga_delete, .table = ORDER(set->s), .id = suite_saga_id(3), .version = 9);
}

static void bad_saga_insert(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, saga_insert, .table = ORDER(set->s), .id = suite_saga_id(20),
        .main = pawl_value_text(TEXT("ref-3")), .metadata = TEXT("{}"), .data = TEXT("{}"),
        .type_version = TEXT("1.0"));
}

static void bad_saga_update(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    add_update(set, 3, 9, "{\"bad\":true}");
}

static void bad_event_append(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, event_append, .stream = TEXT("Account/2"), .version = 1, .is_first = true,
        .event = suite_event(set->s, TEXT("late")));
}

static void bad_checkpoint_set(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, checkpoint_set, .name = TEXT("totals"), .from = 9, .to = 10, .at = SUITE_NOW);
}

static void bad_outbox_reset(const suite_sample_rows *sample, suite_set *set)
{
    ADD(set, outbox_reset, .id = sample->held_after, .action = PAWL_OUTBOX_RETRY, .at = SUITE_NOW);
}

static void bad_timeout_settle(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, timeout_settle, .id = suite_timeout_id(4), .has_owner = true,
        .owner = suite_session_id(70));
}

static void bad_outbox_settle(const suite_sample_rows *sample, suite_set *set)
{
    ADD(set, outbox_settle, .id = sample->outbox_id + 1000, .state = PAWL_OUTBOX_DISPATCHED,
        .attempts = 1, .outcome = PAWL_ATTEMPT_SUCCESS, .at = SUITE_NOW);
}

static void bad_leased_batch_remove(const suite_sample_rows *sample, suite_set *set)
{
    ADD(set, leased_batch_remove, .partition = TEXT("Bills/3"), .session = suite_session_id(99),
        .ids = &sample->unleased_id, .id_count = 1);
}

static void bad_timeout_set(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, timeout_set, .id = suite_timeout_id(4), .destination = TEXT("orders"),
        .due = SUITE_NOW, .is_new = true);
}

static void bad_outbox_add(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = TEXT("Order/1"),
        .version = 1, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
        .message = suite_message(set->s, TEXT("another")), .at = SUITE_NOW);
}

static void bad_queue_send(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, queue_send, .queue = TEXT("orders"), .message = suite_message(set->s, TEXT("w-2")),
        .due = SUITE_NOW, .is_new = true);
}

static void bad_aggregator_remove(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, aggregator_remove, .partition = TEXT("Bills/3"), .correlation_id = TEXT("none"),
        .is_checked = true);
}

static void bad_dead_set(const suite_sample_rows *sample, suite_set *set)
{
    (void)sample;
    ADD(set, dead_set, .is_remove = true, .is_checked = true, .endpoint = TEXT("suite"),
        .message = suite_message(set->s, TEXT("none")), .at = SUITE_NOW);
}

static const struct {
    pawl_change_kind kind;
    pawl_code        reason;
    bad_function    *add;
} bad_rows[] = {
    {pawl_change_queue_settle, PAWL_EGONE, bad_queue_settle},
    {pawl_change_inbox_entry, PAWL_EDUPLICATE, bad_inbox_entry},
    {pawl_change_saga_delete, PAWL_ECONFLICT, bad_saga_delete},
    {pawl_change_saga_insert, PAWL_EDUPLICATE, bad_saga_insert},
    {pawl_change_saga_update, PAWL_ECONFLICT, bad_saga_update},
    {pawl_change_event_append, PAWL_ECONFLICT, bad_event_append},
    {pawl_change_checkpoint_set, PAWL_ECONFLICT, bad_checkpoint_set},
    {pawl_change_outbox_reset, PAWL_EGONE, bad_outbox_reset},
    {pawl_change_timeout_settle, PAWL_EGONE, bad_timeout_settle},
    {pawl_change_outbox_settle, PAWL_EGONE, bad_outbox_settle},
    {pawl_change_leased_batch_remove, PAWL_ECONFLICT, bad_leased_batch_remove},
    {pawl_change_timeout_set, PAWL_EDUPLICATE, bad_timeout_set},
    {pawl_change_outbox_add, PAWL_EMISMATCH, bad_outbox_add},
    {pawl_change_queue_send, PAWL_EDUPLICATE, bad_queue_send},
    {pawl_change_aggregator_remove, PAWL_ECONFLICT, bad_aggregator_remove},
    {pawl_change_dead_set, PAWL_EGONE, bad_dead_set},
};
#define BAD_COUNT (sizeof bad_rows / sizeof bad_rows[0])
#define COUNT_REFUSABLE(name, is_refusable) +(is_refusable)
_Static_assert(BAD_COUNT == 0 PAWL_CHANGE_KINDS(COUNT_REFUSABLE), "a row for each refusable kind");
#undef COUNT_REFUSABLE

/* Group 0 has an applicable change of every kind in units 0 and 2, and one bad change in unit 1; group 1 is
 * applicable. */
static void a_group_that_is_refused_leaves_no_change_of_any_kind(suite *s)
{
    suite_sample_rows sample;
    pawl_store       *a = suite_open(s), *b = suite_open(s);
    suite_sample_rows_make(&sample, s, a);
    COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_TWIN], .id = suite_saga_id(5),
               .main = pawl_value_text(TEXT("c")), .metadata = TEXT("{}"), .data = TEXT("{}"),
               .type_version = TEXT("1.0"));
    pawl_text before = suite_dump(s, b);
    for (size_t i = 0; i < BAD_COUNT; i++) {
        suite_set set = suite_changes(s);
        suite_unit(&set, 0, 0);
        suite_sample_rows_add_changes(&sample, &set);
        suite_unit(&set, 3, 1);
        ADD(&set, saga_update, .table = s->tables[SUITE_TWIN], .id = suite_saga_id(5),
            .version = (int64_t)i + 1, .metadata = TEXT("{}"), .data = TEXT("{}"),
            .type_version = TEXT("1.0"));
        ADD(&set, outbox_block, .source = TEXT("Nobody/1"), .after = 0);
        suite_unit(&set, 1, 0);
        bad_rows[i].add(&sample, &set);
        suite_unit(&set, 2, 0);
        ADD(&set, queue_send, .queue = TEXT("billing"), .due = SUITE_NOW,
            .message = suite_message(s, TEXT("from unit 2")));
        pawl_refusals refused = REFUSED(&set, a);
        EXPECT_EQ(s, refused.count, 1);
        EXPECT_EQ(s, refused.items[0].kind, bad_rows[i].kind);
        EXPECT_EQ(s, refused.items[0].reason, bad_rows[i].reason);
        EXPECT_EQ(s, refused.items[0].unit, 1);
        EXPECT_EQ(s, refused.items[0].group, 0);
        EXPECT_TEXT(s, suite_dump(s, b), before);
        EXPECT_EQ(s, suite_load_id(s, b, SUITE_TWIN, 5).version, (int64_t)i + 2);
    }
}

static void a_group_without_a_refusal_is_applied_completely(suite *s)
{
    suite_sample_rows sample;
    pawl_store       *a = suite_open(s), *b = suite_open(s);
    suite_sample_rows_make(&sample, s, a);
    suite_set set = suite_changes(s);
    suite_sample_rows_add_changes(&sample, &set);
#define HAS_ONE(name, is_refusable) EXPECT(s, set.changes.name.count > 0);
    PAWL_CHANGE_KINDS(HAS_ONE)
#undef HAS_ONE
    COMMIT(&set, a);
    EXPECT_EQ(s, suite_queue(s, b, TEXT("orders")).count, 1);
    EXPECT_EQ(s, suite_queue(s, b, TEXT("billing")).count, 1);
    EXPECT(s, suite_knows(s, b, TEXT("suite"), TEXT("new")));
    EXPECT(s, !suite_knows(s, b, TEXT("suite"), TEXT("d-1")));
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 1).version, 0);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 2).version, 2);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 4).version, 1);
    EXPECT_EQ(s, suite_stream(s, b, TEXT("Account/1"), 0).version, 3);
    EXPECT_EQ(s, suite_stream(s, b, TEXT("Account/1"), 1).snapshot.version, 2);
    EXPECT_EQ(s, suite_checkpoint(s, b, TEXT("totals")), 8);
    pawl_timeout_rows timeouts = suite_timeouts(s, b);
    EXPECT_EQ(s, timeouts.count, 2);
    EXPECT_TEXT(s, timeouts.items[0].name, TEXT("second"));
    EXPECT_EQ(s, timeouts.items[1].generation, 2);
    EXPECT_EQ(s, suite_outbox_rows(s, b, PAWL_OUTBOX_DISPATCHED).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, b, PAWL_OUTBOX_DISCARDED).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, b, PAWL_OUTBOX_BLOCKED).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, b, PAWL_OUTBOX_PENDING).count, 2);
    EXPECT_EQ(s, suite_rows(s, b, TEXT("Bills")).count, 0);
    EXPECT_EQ(s, suite_counts(s, b, TEXT("Bills/2"), SUITE_NOW).ready, 1);
    EXPECT_EQ(s, suite_rows(s, b, TEXT("Bills/3")).count, 0);
    EXPECT_EQ(s, suite_rows(s, b, TEXT("Bills/4")).count, 1);
    pawl_dead_rows dead = suite_dead_rows(s, b, TEXT("suite"));
    EXPECT_EQ(s, dead.count, 1);
    EXPECT_TEXT(s, dead.items[0].message.id, TEXT("d-2"));
}

static void a_commit_reports_all_refusals_at_once(suite *s)
{
    suite_sample_rows sample;
    pawl_store       *a = suite_open(s);
    suite_sample_rows_make(&sample, s, a);
    pawl_text before = suite_dump(s, a);
    suite_set set    = suite_changes(s);
    for (size_t i = 0; i < BAD_COUNT; i++) {
        suite_unit(&set, (uint32_t)i, (uint32_t)i);
        bad_rows[i].add(&sample, &set);
    }
    suite_unit(&set, BAD_COUNT, BAD_COUNT);
    ADD(&set, queue_send, .queue = TEXT("other"), .due = SUITE_NOW,
        .message = suite_message(s, TEXT("good")));
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, BAD_COUNT);
    for (size_t i = 0; i < BAD_COUNT; i++) {
        const pawl_refusal *refusal = suite_refusal(&refused, (uint32_t)i);
        EXPECT(s, refusal != NULL);
        EXPECT_EQ(s, refusal->kind, bad_rows[i].kind);
        EXPECT_EQ(s, refusal->reason, bad_rows[i].reason);
        EXPECT_EQ(s, refusal->group, i);
    }
    EXPECT_TEXT(s, suite_dump(s, a), before);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("other")).count, 1);
}

/* ---- What belongs together ---------------------------------------------- */

static void a_refusal_undoes_its_whole_group_and_other_groups_are_applied(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_insert_order(s, a, 1, "A");
    suite_insert_order(s, a, 2, "B");
    suite_insert_order(s, a, 3, "C");
    suite_set moved = suite_changes(s);
    add_update(&moved, 1, 1, "{\"by\":\"b\"}");
    COMMIT(&moved, b);

    suite_set set = suite_changes(s);
    for (unsigned unit = 0; unit < 4; unit++) {
        suite_unit(&set, unit, unit < 3 ? 0 : 1);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"),
            .message_id = suite_printf(s, "u%u", unit), .at = SUITE_NOW);
        ADD(&set, queue_send, .queue = TEXT("out"), .due = SUITE_NOW,
            .message = suite_message(s, suite_printf(s, "from-u%u", unit)));
    }
    suite_unit(&set, 0, 0);
    add_update(&set, 1, 1, "{\"by\":\"a\"}");
    suite_unit(&set, 2, 0);
    add_update(&set, 2, 1, "{\"by\":\"a\"}");
    suite_unit(&set, 3, 1);
    add_update(&set, 3, 1, "{\"by\":\"a\"}");
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].group, 0);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_ECONFLICT);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 1).version, 2);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 2).version, 1);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 3).version, 2);
    for (unsigned unit = 0; unit < 4; unit++)
        EXPECT_EQ(s, suite_knows(s, b, TEXT("suite"), suite_printf(s, "u%u", unit)), unit == 3);
    pawl_queue_rows rows = suite_queue(s, b, TEXT("out"));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("from-u3"));
}

/* Group 1 can begin its saga only because group 0 deletes another one. Group 0 is refused for another reason, so group
 * 1 must be refused, too. */
static void a_group_that_depends_on_a_refused_group_is_refused_too(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("known"),
               .at = SUITE_NOW);
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("known"), .at = SUITE_NOW);
    ADD(&set, saga_delete, .table = ORDER(s), .id = suite_saga_id(1), .version = 1);
    suite_unit(&set, 1, 1);
    ADD(&set, saga_insert, .table = ORDER(s), .id = suite_saga_id(2),
        .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{}"), .data = TEXT("{}"),
        .type_version = TEXT("1.0"));
    suite_unit(&set, 2, 2);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("fine"), .at = SUITE_NOW);
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 2);
    EXPECT(s, suite_refusal(&refused, 0) != NULL && suite_refusal(&refused, 1) != NULL);
    EXPECT_EQ(s, suite_refusal(&refused, 1)->reason, PAWL_EDUPLICATE);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 1);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 2).version, 0);
    EXPECT(s, suite_knows(s, a, TEXT("suite"), TEXT("fine")));
}

static void messages_of_a_refused_group_stay_claimed_by_the_worker(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (unsigned i = 0; i < 2; i++)
        suite_send(s, a, TEXT("orders"), suite_printf(s, "m-%u", i).data, SUITE_NOW);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 2);
    suite_set       set  = suite_changes(s);
    for (unsigned i = 0; i < 2; i++) {
        suite_unit(&set, i, i);
        ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
            .seq = rows.items[i].seq);
    }
    add_update(&set, 1, 1, "{}");
    REFUSED(&set, a);
    EXPECT_EQ(s, suite_queue(s, b, TEXT("orders")).count, 1);
    EXPECT_EQ(s, suite_claim(s, b, TEXT("orders"), SUITE_NOW, 2).count, 0);
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
               .seq = rows.items[1].seq);
    EXPECT_EQ(s, suite_queue(s, b, TEXT("orders")).count, 0);
}

static void an_empty_commit_succeeds(suite *s)
{
    pawl_store   *a   = suite_open(s);
    suite_set     set = suite_changes(s);
    pawl_refusals refused;
    set.changes.unit_count = set.changes.group_count = 0;
    EXPECT_OK(s, suite_try(&set, a, &refused));
    EXPECT_EQ(s, refused.count, 0);
}

/* ---- The fence ---------------------------------------------------------- */

/* Takes over the worker through another handle, which raises its epoch. */
static pawl_store *replace(suite *s, pawl_store *replaced)
{
    pawl_store *by      = suite_open_bare(s);
    bool        applied = true;
    pawl_store_worker_set(by, pawl_store_worker(replaced));
    EXPECT_OK(s, pawl_store_resolve(by, suite_uuid(12345), &applied, &s->error));
    EXPECT(s, !applied);
    return by;
}

static void a_commit_with_an_outdated_epoch_of_the_worker_is_refused(suite *s)
{
    suite_sample_rows sample;
    pawl_store       *a = suite_open(s), *b = suite_open(s);
    suite_sample_rows_make(&sample, s, a);
    pawl_text before = suite_dump(s, b);
    replace(s, a);
    suite_set     set = suite_changes(s);
    pawl_refusals refused;
    suite_sample_rows_add_changes(&sample, &set);
    EXPECT_CODE(s, suite_try(&set, a, &refused), PAWL_EFENCED);
    EXPECT_TEXT(s, suite_dump(s, b), before);
    COMMIT_ONE(s, b, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("other"),
               .at = SUITE_NOW);
}

static void a_commit_of_a_closed_worker_is_refused(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open(s);
    pawl_refusals refused = {.arena = s->arena};
    suite_end_worker(s, a);
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"), .at = SUITE_NOW);
    EXPECT_CODE(s, pawl_store_commit(a, &set.changes, &refused, &s->error), PAWL_EFENCED);
    EXPECT(s, !suite_knows(s, b, TEXT("suite"), TEXT("m-1")));
}

static void resolve_tells_whether_a_commit_was_applied_and_later_commits_succeed(suite *s)
{
    pawl_store *a       = suite_open(s);
    bool        applied = true;
    for (unsigned i = 0; i < 3; i++) {
        suite_set set = suite_changes(s);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = suite_printf(s, "m-%u", i),
            .at = SUITE_NOW);
        COMMIT(&set, a);
        pawl_uuid commit_id = set.changes.commit_id;
        EXPECT_OK(s, pawl_store_resolve(a, commit_id, &applied, &s->error));
        EXPECT(s, applied);
        EXPECT_OK(s, pawl_store_resolve(a, commit_id, &applied, &s->error));
        EXPECT(s, applied);
        commit_id.bytes[15 * (i % 2)] ^= 1; /* differs in the last byte or the first */
        EXPECT_OK(s, pawl_store_resolve(a, commit_id, &applied, &s->error));
        EXPECT(s, !applied);
    }
    suite_set none = suite_changes(s);
    add_update(&none, 1, 1, "{}");
    REFUSED(&none, a);
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("last"),
               .at = SUITE_NOW);
    EXPECT(s, suite_knows(s, a, TEXT("suite"), TEXT("last")));
}

/* If a set inserts several sagas, only those whose key exists are refused. */
static void of_sagas_inserted_in_a_commit_only_those_with_a_taken_value_are_refused(suite *s)
{
    static const char *const refs[] = {"order-1", "order-a", "order-2", "order-b", "order-1"};
    pawl_store              *a      = suite_open(s);
    suite_set                set    = suite_changes(s);
    suite_insert_order(s, a, 1, "order-1");
    suite_insert_order(s, a, 2, "order-2");
    for (uint32_t i = 0; i < 5; i++) {
        suite_unit(&set, i, i);
        ADD(&set, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(11 + i),
            .main = pawl_value_text(pawl_text_of(refs[i])), .metadata = TEXT("{}"),
            .data = TEXT("{}"), .type_version = TEXT("1.0"));
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 3);
    for (uint32_t i = 0; i < 5; i++) {
        EXPECT_EQ(s, suite_refusal(&refused, i) != NULL, i % 2 == 0);
        EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 11 + i).version, i % 2);
    }
}

static const suite_case cases[] = {
    {"E35 O1 S33 a group that is refused leaves no change of any kind",
     a_group_that_is_refused_leaves_no_change_of_any_kind},
    {"E35 O1 a group without a refusal is applied completely",
     a_group_without_a_refusal_is_applied_completely},
    {"E35 a commit reports all refusals at once", a_commit_reports_all_refusals_at_once},
    {"E35 a refusal undoes its whole group, and other groups are applied",
     a_refusal_undoes_its_whole_group_and_other_groups_are_applied},
    {"E35 a group that depends on a refused group is refused, too",
     a_group_that_depends_on_a_refused_group_is_refused_too},
    {"E35 messages of a refused group stay claimed by the worker",
     messages_of_a_refused_group_stay_claimed_by_the_worker},
    {"E31 an empty commit succeeds", an_empty_commit_succeeds},
    {"O32 a commit with an outdated epoch of the worker is refused",
     a_commit_with_an_outdated_epoch_of_the_worker_is_refused},
    {"O32 a commit of a closed worker is refused", a_commit_of_a_closed_worker_is_refused},
    {"O32 resolve tells whether a commit was applied, and later commits succeed",
     resolve_tells_whether_a_commit_was_applied_and_later_commits_succeed},
    {"E35 S8 of sagas inserted in a commit only those with a taken value are refused",
     of_sagas_inserted_in_a_commit_only_those_with_a_taken_value_are_refused},
};

const suite_cases cases_group = SUITE_CASES("group", cases);
