/* test_postgres_commit.c - on which connection a set is committed, in which order its rows are
 * locked, and which of its transactions stays open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

/* The row was locked when it was loaded, by the transaction that holds the claims. Another
 * connection would wait for it until the deadline. */
ON_TROUBLE(a_saga_is_saved_where_it_was_locked, fixture *p)
{
    pawl_store      *store  = open_store(p, p->url);
    pawl_saga_update update = begin_order(p, store, 1);
    pawl_value       id     = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_saga_row    row;
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows    = claim_some(p, store, "orders", NOW, 1);
    pawl_changes    changes = one_update(&update);
    assert_int_equal(rows.count, 1);
    ok(p, pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, &id, 1, PAWL_SAGA_LOCKED,
                               p->arena, &row, &p->error));
    set_deadline(store, SHORT_MS);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(order_version(p, 1), 2);
    set_deadline(store, ENOUGH_MS);
}

/* Another transaction has added a message, and is not committed: the flush waits for it,
 * sees the message, and the row stays, else nobody would hand the message over. */
ON_TROUBLE(a_flush_row_waits_for_an_add, fixture *p)
{
    pawl_store         *store   = open_store(p, p->url);
    PGconn             *other   = raw_open(p->schema);
    pawl_flush_set      sets[]  = {{.partition = TEXT("car"), .due = NOW, .is_done = true},
                                   {.partition = TEXT("van"), .due = NOW, .is_done = true}};
    pawl_changes        changes = {ONE_UNIT, .now = NOW};
    pawl_aggregator_add add     = {.name      = TEXT("van"),
                                   .partition = TEXT("van"),
                                   .key       = TEXT("m-1"),
                                   .message   = message_of("m-1"),
                                   .at        = NOW,
                                   .due       = NOW};
    job                 j;
    changes.aggregator_add.items = &add;
    changes.aggregator_add.count = 1;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    raw_run(other, "create temp table kept as select * from pawl_aggregator");
    raw_run(other, "delete from pawl_aggregator");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_aggregator_flush"), 1);
    raw_run(other, "begin; insert into pawl_aggregator overriding system value "
                   "select * from kept; select 1 from pawl_aggregator_flush for key share");
    changes                 = (pawl_changes){ONE_UNIT, .now = NOW};
    changes.flush_set.items = sets;
    changes.flush_set.count = 2;
    start_job(p, &j, store, &changes);
    wait_for_waiting(p, 1);
    raw_run(other, "commit");
    expect_job(p, &j, PAWL_OK);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_aggregator"), 1);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_aggregator_flush"), 1);
    PQfinish(other);
}

/* Behind a refusal a commit is not guarded. A saga that is outdated refuses it before it writes anything that follows: it
 * would wait here for a row that another transaction removes, and two workers for each other's rows. */
ON_TROUBLE(an_outdated_saga_is_refused_before_the_rest_is_written, fixture *p)
{
    pawl_store      *store   = open_store(p, p->url);
    PGconn          *other   = raw_open(p->schema);
    pawl_saga_update update  = begin_order(p, store, 1);
    pawl_changes     changes = one_update(&update);
    pawl_outbox_add  row     = {.source      = TEXT("orders"),
                                .dispatch_id = {uuid_of(7)},
                                .destination = TEXT("bus"),
                                .message     = message_of("m-1")};
    changes.outbox_add.items = &row;
    changes.outbox_add.count = 1;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    expect_code(p, settle_one(p, store, "orders", 1000000), PAWL_EGONE);
    raw_run(other, "begin; delete from pawl_outbox");
    set_deadline(store, SHORT_MS);
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_ECONFLICT);
    set_deadline(store, ENOUGH_MS);
    raw_run(other, "rollback");
    assert_int_equal(order_version(p, 1), 2);
    PQfinish(other);
}

static const pawl_saga_table move_table = {
    .type         = PAWL_TEXT_INIT("Move"),
    .name         = PAWL_TEXT_INIT("shop_Move"),
    .main         = {.property = PAWL_TEXT_INIT("ref"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("number"), .type = PAWL_VALUE_INT}};
static const pawl_saga_table *const move_tables[] = {&move_table};

/* Saga 1 is to have the value that saga 2 takes in a transaction not committed before this one waits for it. */
static void race_for_value(fixture *p, pawl_store *store, int64_t value, pawl_code expected)
{
    PGconn          *other  = raw_open(p->schema);
    pawl_saga_update update = {.table        = &move_table,
                               .id           = {uuid_of(1)},
                               .version      = 1,
                               .transitional = pawl_value_integer(value),
                               .metadata     = TEXT("{}"),
                               .data         = TEXT("{}")};
    pawl_changes changes    = {.now = NOW, ONE_UNIT, .saga_update = {.items = &update, .count = 1}};
    job          j;
    raw_run(other, test_text("begin; update \"shop_Move\" set \"Correlation_number\" = %d where "
                             "\"Correlation_ref\" = 'two'",
                             (int)value));
    start_job(p, &j, store, &changes);
    wait_for_waiting(p, 1);
    raw_run(other, "commit");
    expect_job(p, &j, expected);
    PQfinish(other);
}

/* The value was free when the commit looked for who has it. Behind a refusal commits are not guarded. */
ON_TROUBLE(a_value_that_another_takes_meanwhile_is_refused, fixture *p)
{
    pawl_store *store = NULL;
    apply_schema(p, p->url, move_tables, 1);
    ok(p, open_with(p, p->url, move_tables, 1, &store));
    ok(p, begin_saga(p, store, &move_table, uuid_of(1), text_value("one"), "{}"));
    ok(p, begin_saga(p, store, &move_table, uuid_of(2), text_value("two"), "{}"));
    race_for_value(p, store, 100, PAWL_EDUPLICATE);
    expect_text(p, "exists already");
    race_for_value(p, store, 200, PAWL_EDUPLICATE);
    expect_text(p, "exists already");
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    race_for_value(p, store, 300, PAWL_EBUSY);
}

/* ---- The fence ---------------------------------------------------------- */

/* The guarded fence finds the worker's row by the place where this handle has left it. */
#define RAISE "update pawl_workers set \"Epoch\" = \"Epoch\" + 1"

/* Another handle raises the epoch and has not committed when the fence finds the row. PostgreSQL
 * may go on with the row's new version, wherever that lies: it depends on its release. */
ON_TROUBLE(o32_a_commit_that_waited_for_a_take_over_is_fenced, fixture *p)
{
    pawl_store     *store   = open_store(p, p->url);
    PGconn         *other   = raw_open(p->schema);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    job             j;
    raw_run(other, "begin; " RAISE);
    start_job(p, &j, store, &changes);
    wait_for_waiting(p, 1);
    raw_run(other, "commit");
    expect_job(p, &j, PAWL_EFENCED);
    assert_int_equal(queue_count(p), 0);
    PQfinish(other);
}

/* The server gives a place again that no session can see any more: behind a take-over and a commit
 * the worker's row lies where the old handle has left it. */
ON_TROUBLE(o32_a_place_that_was_given_again_does_not_pass_the_fence, fixture *p)
{
    pawl_store     *store   = open_store(p, p->url);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    raw_run(p->pg, "create temp table left_at as select ctid as place from pawl_workers");
    raw_run(p->pg, RAISE);
    for (int i = 0; raw_number(p->pg, "select count(*) from left_at join pawl_workers as w "
                                      "on w.ctid = place") == 0;
         i++) {
        assert_true(i < 10000); /* a snapshot of some other test keeps the place for a while */
        raw_run(p->pg, "vacuum pawl_workers");
        raw_run(p->pg, "update pawl_workers set \"Seen\" = now()");
    }
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_EFENCED);
    assert_int_equal(queue_count(p), 1);
}

/* ---- Locks and transactions ------------------------------------------------ */

/* Two commits that each have both sagas meet at the same one, so that neither waits for the other
 * in a circle. */
ON_TROUBLE(sagas_of_one_set_are_locked_by_their_ids, fixture *p)
{
    pawl_store      *store = open_store(p, p->url);
    pawl_saga_update updates[3];
    pawl_changes     changes = {.now = NOW, ONE_UNIT};
    PGconn          *other   = raw_open(p->schema);
    job              j;
    for (unsigned i = 0; i < 3; i++)
        updates[i] = begin_order(p, store, 3 - i);
    changes.saga_update.items = updates;
    changes.saga_update.count = 3;
    lock_order(p, 1);
    start_job(p, &j, store, &changes);
    raw_wait(other,
             "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
             "and datname = current_database() and query like '%shop_Order%'",
             1);
    assert_int_equal(raw_number(other, "select count(*) from (select 1 from \"shop_Order\" "
                                       "for update skip locked) as free"),
                     2);
    raw_run(p->pg, "commit");
    expect_job(p, &j, PAWL_OK);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(order_version(p, i), 2);
    PQfinish(other);
}

/* As with sagas: two commits that have marked the same messages meet at the same mark. */
ON_TROUBLE(marks_of_one_set_are_written_by_their_ids, fixture *p)
{
    pawl_store      *store   = open_store(p, p->url);
    PGconn          *other   = raw_open(p->schema);
    pawl_changes     changes = {.now = NOW, ONE_UNIT};
    pawl_inbox_entry marks[] = {{.endpoint = TEXT("a"), .message_id = TEXT("m-2"), .at = NOW},
                                {.endpoint = TEXT("a"), .message_id = TEXT("m-1"), .at = NOW}};
    job              j;
    changes.inbox_entry.items = marks;
    changes.inbox_entry.count = 2;
    raw_run(p->pg, "begin; insert into pawl_inbox values ('a', 'm-1', 'handled', now())");
    start_job(p, &j, store, &changes);
    raw_wait(other,
             "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
             "and datname = current_database() and query like '%pawl_inbox%'",
             1);
    /* Where the job had it already, this would wait for the job. */
    raw_run(other, "begin; set local lock_timeout = '2s'; "
                   "insert into pawl_inbox values ('a', 'm-2', 'handled', now()); rollback");
    raw_run(p->pg, "rollback");
    expect_job(p, &j, PAWL_OK);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_inbox"), 2);
    PQfinish(other);
}

static void expect_no_transaction(fixture *p, pawl_store *store)
{
    raw_wait(p->pg,
             test_text("select count(*) from pg_stat_activity where pid = %d and state = 'idle'",
                       pid_of(store)),
             1);
}

/* Nothing behind a transaction that stays open can be vacuumed. */
ON_TROUBLE(a_claim_of_nothing_leaves_no_transaction, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 0);
    expect_no_transaction(p, store);
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    expect_no_transaction(p, store);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 0);
    expect_no_transaction(p, store);
}

/* The row locks of claims are taken again behind a commit. A trigger stands for the worker that is
 * faster, has the first row, and puts it back with another due time. */
#define TAKE_FIRST                                                                     \
    "create function take_first() returns trigger language plpgsql "                   \
    "set search_path from current as 'begin "                                          \
    "update pawl_queue set \"Due\" = \"Due\" - interval ''1 second'' where \"Seq\" = " \
    "(select min(\"Seq\") from pawl_queue); return null; end'; "                       \
    "create trigger take_first after delete on pawl_queue for each statement execute " \
    "function take_first()"

ON_TROUBLE(a_row_that_another_took_is_claimed_anew, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    for (const char *const *id = (const char *const[]){"m-1", "m-2", "m-3", NULL}; *id != NULL;
         id++)
        ok(p, send_one(p, store, "orders", *id));
    raw_run(p->pg, TAKE_FIRST);
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 3);
    assert_int_equal(rows.count, 3);
    ok(p, settle_one(p, store, "orders", rows.items[2].seq));
    pawl_queue_rows again = claim_some(p, store, "orders", NOW, 3);
    assert_int_equal(again.count, 1); /* not the second, which is claimed still */
    assert_int_equal(again.items[0].seq, rows.items[0].seq);
    ok(p, settle_one(p, store, "orders", rows.items[1].seq));
}

/* Locks that were taken without a hold end with the wait. */
ON_TROUBLE(a_wait_ends_a_transaction_without_claims, fixture *p)
{
    static const char free_count[] = "select count(*) from (select 1 from \"shop_Order\" "
                                     "for update skip locked) as free";
    pawl_store       *store        = open_store(p, p->url);
    pawl_value        id           = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_saga_row     row;
    (void)begin_order(p, store, 1);
    ok(p, pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, &id, 1, PAWL_SAGA_SKIP_LOCKED,
                               p->arena, &row, &p->error));
    assert_int_equal(raw_number(p->pg, free_count), 0);
    ok(p, pawl_store_wait(store, 0, -1, &p->error));
    assert_int_equal(raw_number(p->pg, free_count), 1);
    expect_no_transaction(p, store);
}

/* An operator reads in the inbox how each message ended. */
ON_TROUBLE(marks_say_how_it_ended, fixture *p)
{
    pawl_store      *store   = open_store(p, p->url);
    pawl_changes     changes = {.now = NOW, ONE_UNIT};
    pawl_inbox_entry marks[] = {
        {.endpoint = TEXT("a"), .message_id = TEXT("m-3"), .outcome = PAWL_INBOX_DEAD},
        {.endpoint = TEXT("a"), .message_id = TEXT("m-1"), .outcome = PAWL_INBOX_HANDLED},
        {.endpoint = TEXT("a"), .message_id = TEXT("m-2"), .outcome = PAWL_INBOX_DISCARDED},
    };
    for (size_t i = 0; i < 3; i++)
        marks[i].at = NOW;
    changes.inbox_entry.items = marks;
    changes.inbox_entry.count = 3;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    expect_raw_text(p->pg,
                    "select string_agg(\"MessageId\" || ' ' || \"Outcome\", ', ' order by "
                    "\"MessageId\") from pawl_inbox",
                    "m-1 handled, m-2 discarded, m-3 dead");
}

/* Of what is inserted only the row that is there is refused, beside others of its kind. */
ON_TROUBLE(of_a_set_what_is_there_is_refused, fixture *p)
{
    pawl_store         *store   = open_store(p, p->url);
    pawl_refusals       refused = {.arena = p->arena};
    pawl_checkpoint_set sets[]  = {{.name = TEXT("a"), .to = 7, .at = NOW, .group = 0},
                                   {.name = TEXT("b"), .to = 7, .at = NOW, .group = 1},
                                   {.name = TEXT("c"), .to = 7, .at = NOW, .group = 2}};
    pawl_changes        changes = {.group_count    = 3,
                                   .unit_count     = 3,
                                   .now            = NOW,
                                   .checkpoint_set = {.items = sets, .count = 3}};
    raw_run(p->pg, "insert into pawl_checkpoints values ('b', 3, now())");
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    assert_int_equal(refused.count, 1);
    assert_int_equal(refused.items[0].group, 1);
    assert_int_equal(raw_number(p->pg, "select sum(\"Position\") from pawl_checkpoints"), 17);
}
