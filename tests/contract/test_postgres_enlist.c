/* test_postgres_enlist.c - changes in the caller's own transaction on PostgreSQL:
 * they come and go with it, and nothing of pawl's stays on the connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_sleep.h"
#include "support/tests.h"

#include "pawl/pawl.h"

/* ---- Short forms ---------------------------------------------------------- */

static pawl_changes one_send(pawl_queue_send *send, const char *id)
{
    *send                = (pawl_queue_send){.queue = TEXT("orders"), .due = NOW};
    send->message        = message_of(id);
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = send, .count = 1}};
    return changes;
}

static pawl_code enlist_one(fixture *p, pawl_store *store, PGconn *pg, const char *id)
{
    pawl_queue_send send;
    pawl_changes    changes = one_send(&send, id);
    return pawl_store_enlist(store, pg, &changes, &p->error);
}

/* The store, a table of the caller's, and a second connection to look with. */
static pawl_store *open_with_own_table(fixture *p, PGconn **other)
{
    pawl_store *store = open_store(p, p->url);
    raw_run(p->pg, "create table mine (id integer primary key)");
    *other = raw_open(p->schema);
    return store;
}

static int64_t queued(PGconn *pg)
{
    return raw_number(pg, "select count(*) from pawl_queue");
}

static int64_t mine(PGconn *pg)
{
    return raw_number(pg, "select count(*) from mine");
}

/* ---- With the caller -------------------------------------------------------- */

ON_FIXTURE(enlisted_changes_follow_the_caller, fixture *p)
{
    PGconn     *other;
    pawl_store *store = open_with_own_table(p, &other);
    raw_run(p->pg, "begin; insert into mine values (1)");
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    assert_int_equal(queued(p->pg), 1);
    assert_int_equal(queued(other), 0);
    raw_run(p->pg, "rollback");
    assert_int_equal(queued(p->pg) + mine(p->pg), 0);

    raw_run(p->pg, "begin; insert into mine values (1)");
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    assert_int_equal(claim_some(p, store, "orders", NOW, 9).count, 0);
    raw_run(p->pg, "commit");
    assert_int_equal(mine(other), 1);
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 9);
    assert_int_equal(rows.count, 1);
    assert_true(pawl_text_equal(rows.items[0].message.id, TEXT("m-1")));
    assert_true(pawl_text_equal(rows.items[0].message.body, message_of("m-1").body));
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    PQfinish(other);
}

/* Nothing that pawl did is left on the connection, but for the rows. */
ON_FIXTURE(the_connection_is_left_as_it_was, fixture *p)
{
    PGconn     *other;
    pawl_store *store = open_with_own_table(p, &other);
    raw_run(p->pg, "begin");
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    assert_int_equal(PQtransactionStatus(p->pg), PQTRANS_INTRANS);
    assert_int_equal(PQisnonblocking(p->pg), 0);
    assert_int_equal(PQpipelineStatus(p->pg), PQ_PIPELINE_OFF);
    assert_int_equal(raw_number(p->pg, "select count(*) from pg_prepared_statements"), 0);
    expect_raw_text(p->pg, "show search_path", p->schema);
    expect_raw_text(p->pg, "show synchronous_commit", "on");
    expect_raw_text(p->pg, "show enable_seqscan", "on");
    expect_raw_text(p->pg, "show plan_cache_mode", "auto");
    expect_refused(p->pg, "release savepoint pawl_enlist", "3B001", "pawl_enlist");
    raw_run(p->pg, "rollback");
    PQfinish(other);
}

/* Savepoints of the caller hold for changes that were enlisted after them. */
ON_FIXTURE(savepoints_of_the_caller_hold, fixture *p)
{
    PGconn     *other;
    pawl_store *store = open_with_own_table(p, &other);
    raw_run(p->pg, "begin; savepoint pawl_enlist; insert into mine values (1)");
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    raw_run(p->pg, "savepoint second; insert into mine values (2)");
    ok(p, enlist_one(p, store, p->pg, "m-2"));
    raw_run(p->pg, "rollback to savepoint second");
    ok(p, enlist_one(p, store, p->pg, "m-3"));
    assert_int_equal(queued(p->pg), 2);
    raw_run(p->pg, "rollback to savepoint pawl_enlist; insert into mine values (3)");
    ok(p, enlist_one(p, store, p->pg, "m-4"));
    raw_run(p->pg, "commit");
    expect_raw_text(other, "select string_agg(\"MessageId\", ' ') from pawl_queue", "m-4");
    expect_raw_text(other, "select string_agg(id::text, ' ') from mine", "3");
    PQfinish(other);
}

/* ---- What is refused ---------------------------------------------------------- */

ON_FIXTURE(a_refused_change_leaves_the_transaction_usable, fixture *p)
{
    PGconn          *other;
    pawl_store      *store = open_with_own_table(p, &other);
    pawl_queue_send  send;
    pawl_changes     changes = one_send(&send, "m-1");
    pawl_inbox_entry marks[] = {
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
    };
    changes.inbox_entry.items = marks;
    changes.inbox_entry.count = 2;
    raw_run(p->pg, "begin; insert into mine values (1)");
    refuses(p, pawl_store_enlist(store, p->pg, &changes, &p->error), PAWL_EDUPLICATE,
            "enlist: inbox_entry");
    expect_text(p, "m-1");
    assert_int_equal(queued(p->pg), 0);
    ok(p, enlist_one(p, store, p->pg, "m-2"));
    raw_run(p->pg, "insert into mine values (2); commit");
    assert_int_equal(mine(other), 2);
    assert_int_equal(raw_number(other, "select count(*) from pawl_inbox"), 0);
    expect_raw_text(other, "select string_agg(\"MessageId\", ' ') from pawl_queue", "m-2");
    PQfinish(other);
}

/* The same when it is the server that refuses: no table. */
ON_FIXTURE(a_failed_statement_leaves_the_transaction_usable, fixture *p)
{
    PGconn     *other;
    pawl_store *store = open_with_own_table(p, &other);
    raw_run(p->pg, "alter table pawl_queue rename to away; begin; insert into mine values (1)");
    refuses(p, enlist_one(p, store, p->pg, "m-1"), PAWL_ESCHEMA, "pawl_queue");
    assert_int_equal(PQtransactionStatus(p->pg), PQTRANS_INTRANS);
    raw_run(p->pg, "commit; alter table away rename to pawl_queue");
    assert_int_equal(mine(other), 1);
    assert_int_equal(queued(other), 0);
    PQfinish(other);
}

ON_FIXTURE(a_claim_is_settled_by_its_worker_alone, fixture *p)
{
    PGconn     *other;
    pawl_store *store = open_with_own_table(p, &other);
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows   rows   = claim_some(p, store, "orders", NOW, 1);
    pawl_queue_settle settle = {.queue = TEXT("orders"), .seq = rows.items[0].seq};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_settle = {.items = &settle, .count = 1}};
    raw_run(p->pg, "begin; insert into mine values (1)");
    refuses(p, pawl_store_enlist(store, p->pg, &changes, &p->error), PAWL_EINVAL, "not by enlist");
    raw_run(p->pg, "commit");
    assert_int_equal(mine(other), 1);
    ok(p, settle_one(p, store, "orders", settle.seq));
    PQfinish(other);
}

static void expect_no_enlist(fixture *p, pawl_store *store, PGconn *pg, const char *says)
{
    refuses(p, enlist_one(p, store, pg, "m-1"), PAWL_EINVAL, says);
}

ON_FIXTURE(enlist_wants_a_transaction_on_the_same_database, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    expect_no_enlist(p, store, NULL, "the connection is NULL");
    expect_no_enlist(p, store, p->pg, "begin first");
    raw_run(p->pg, "begin");
    expect_refused(p->pg, "select 1/0", "22012", "division");
    expect_no_enlist(p, store, p->pg, "no open transaction that could be committed");
    raw_run(p->pg, "rollback; begin");
    assert_int_equal(PQsendQuery(p->pg, "select 1"), 1);
    expect_no_enlist(p, store, p->pg, "runs a statement: read its results first");
    for (PGresult *result; (result = PQgetResult(p->pg)) != NULL;)
        PQclear(result);
    assert_int_equal(PQenterPipelineMode(p->pg), 1);
    expect_no_enlist(p, store, p->pg, "in pipeline mode: leave it first");
    assert_int_equal(PQexitPipelineMode(p->pg), 1);
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    raw_run(p->pg, "rollback; set client_encoding = latin1; begin");
    expect_no_enlist(p, store, p->pg, "client_encoding is LATIN1, UTF8 is needed");
    raw_run(p->pg, "rollback; reset client_encoding");

    /* Of two, the later one counts. */
    const char *keys[]   = {"dbname", "dbname", NULL};
    const char *values[] = {fixture_server(), "template1", NULL};
    PGconn     *other    = PQconnectdbParams(keys, values, 1);
    assert_int_equal(PQstatus(other), CONNECTION_OK);
    raw_run(other, "begin");
    expect_no_enlist(p, store, other, "'template1'");
    expect_text(p, "must be the same");
    PQfinish(other);
    assert_int_equal(queued(p->pg), 0);
}

/* A mistake that no later try mends; the caller's own reads go on. */
ON_FIXTURE(a_transaction_that_is_read_only_is_refused, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    raw_run(p->pg, "begin read only");
    expect_no_enlist(p, store, p->pg, "your transaction is read only");
    assert_int_equal(queued(p->pg), 0);
    expect_no_enlist(p, store, p->pg, "your transaction is read only");
    raw_run(p->pg, "commit; begin");
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    raw_run(p->pg, "rollback");
}

/* The caller's session is gone: an error, whose rows went with the session. */
ON_FIXTURE(a_lost_connection_is_told, fixture *p)
{
    PGconn     *other;
    pawl_store *store = open_with_own_table(p, &other);
    raw_run(other, "begin; insert into mine values (1)");
    ok(p, enlist_one(p, store, other, "m-1"));
    assert_int_equal(raw_number(p->pg, test_text("select pg_terminate_backend(%d, %d)::int",
                                                 PQbackendPID(other), WAIT_SECONDS * 1000)),
                     1);
    expect_code(p, enlist_one(p, store, other, "m-2"), PAWL_ELOST);
    expect_no_enlist(p, store, other, "the connection is not open");
    PQfinish(other);
    assert_int_equal(queued(p->pg) + mine(p->pg), 0);
    ok(p, send_one(p, store, "orders", "m-3"));
}

/* ---- All kinds ------------------------------------------------------------------ */

/* One set with each kind of change that makes something, and that ends it. */
typedef struct all_kinds {
    pawl_inbox_entry          mark;
    pawl_saga_insert          insert;
    pawl_saga_update          update;
    pawl_saga_delete          remove;
    pawl_timeout_set          timeout;
    pawl_timeout_settle       timeout_settle;
    pawl_timeout_cancel       timeout_cancel;
    pawl_outbox_add           add;
    pawl_outbox_block         hold;
    pawl_outbox_settle        outbox_settle;
    pawl_queue_send           send;
    pawl_aggregator_add       collect;
    pawl_aggregator_remove    collected;
    pawl_leased_batch_remove  leased_batch_remove;
    pawl_leased_batch_release leased_batch_release;
    pawl_flush_set            flush;
    pawl_dead_set             dead;
    pawl_subscription_set     subscription;
    int64_t                   id;
} all_kinds;

#define PUT(kind, field)                   \
    do {                                   \
        changes->kind.items = &all->field; \
        changes->kind.count = 1;           \
    } while (0)

/* Makes: a saga, a timeout, an outbox row, a message, a row for an aggregator, a dead
 * letter, a subscription, an inbox mark. */
static void make_all(all_kinds *all, pawl_changes *changes)
{
    pawl_text orders = TEXT("orders"), empty = TEXT("{}");
    *changes = (pawl_changes){.now = NOW, ONE_UNIT};
    *all     = (all_kinds){.mark         = {.endpoint = orders, .message_id = TEXT("m-0"), .at = NOW},
                           .insert       = {.table    = &order_table,
                                            .id       = {uuid_of(1)},
                                            .main     = pawl_value_text(TEXT("order-1")),
                                            .metadata = empty,
                                            .data     = empty},
                           .timeout      = {.id          = {uuid_of(2)},
                                            .saga_id     = {uuid_of(1)},
                                            .saga_type   = TEXT("Order"),
                                            .name        = TEXT("payment"),
                                            .destination = orders,
                                            .due         = NOW},
                           .add          = {.dispatch_id = {uuid_of(3)},
                                            .source      = TEXT("Order/1"),
                                            .version     = 1,
                                            .endpoint    = orders,
                                            .destination = TEXT("abroad"),
                                            .message     = message_of("m-1"),
                                            .due         = NOW,
                                            .at          = NOW},
                           .send         = {.queue = orders, .message = message_of("m-2"), .due = NOW},
                           .collect      = {.name      = TEXT("van"),
                                            .partition = TEXT("van"),
                                            .key       = TEXT("m-3"),
                                            .message   = message_of("m-3"),
                                            .at        = NOW,
                                            .due       = NOW},
                           .dead         = {.endpoint = orders,
                                            .queue    = orders,
                                            .message  = message_of("m-4"),
                                            .code     = TEXT("PAWL_REJECT"),
                                            .error    = TEXT("no"),
                                            .history  = TEXT("[]"),
                                            .at       = NOW},
                           .subscription = {.type = TEXT("paid"), .queue = orders}};
    PUT(inbox_entry, mark);
    PUT(saga_insert, insert);
    PUT(timeout_set, timeout);
    PUT(outbox_add, add);
    PUT(queue_send, send);
    PUT(aggregator_add, collect);
    PUT(dead_set, dead);
    PUT(subscription_set, subscription);
}

/* Changes what make_all made, or takes it away again. */
static void change_all(fixture *p, all_kinds *all, pawl_changes *changes)
{
    pawl_text orders = TEXT("orders");
    *changes         = (pawl_changes){.now = NOW, ONE_UNIT};
    *all             = (all_kinds){
                    .update               = {.table    = &order_table,
                                             .id       = {uuid_of(1)},
                                             .version  = 1,
                                             .metadata = TEXT("{}"),
                                             .data     = TEXT("{\"total\":7}")},
                    .timeout_settle       = {.action = PAWL_TIMEOUT_REMOVE, .id = {uuid_of(2)}},
                    .timeout_cancel       = {.saga_id = {uuid_of(1)}},
                    .hold                 = {.source = TEXT("Order/1"), .after = 0},
                    .leased_batch_remove  = {.partition = TEXT("van"), .id_count = 1},
                    .leased_batch_release = {.partition = TEXT("van"), .session = {uuid_of(9)}},
                    .collected            = {.partition = TEXT("van"), .is_all = true},
                    .flush        = {.partition = TEXT("van"), .due = NOW, .is_done = true, .error = TEXT("")},
                    .dead         = {.is_remove = true, .endpoint = orders, .message = message_of("m-4")},
                    .subscription = {.is_remove = true, .type = TEXT("paid"), .queue = orders},
                    .id           = raw_number(p->pg, "select \"Id\" from pawl_aggregator")};
    all->outbox_settle =
        (pawl_outbox_settle){.id           = raw_number(p->pg, "select \"Id\" from pawl_outbox"),
                             .source       = TEXT("Order/1"),
                             .state        = PAWL_OUTBOX_DISPATCHED,
                             .attempts     = 1,
                             .next_attempt = NOW,
                             .outcome      = PAWL_ATTEMPT_SUCCESS,
                             .at           = NOW};
    all->leased_batch_remove.ids = &all->id;
    PUT(saga_update, update);
    PUT(timeout_settle, timeout_settle);
    PUT(timeout_cancel, timeout_cancel);
    PUT(outbox_settle, outbox_settle);
    PUT(outbox_block, hold);
    PUT(leased_batch_remove, leased_batch_remove);
    PUT(leased_batch_release, leased_batch_release);
    PUT(aggregator_remove, collected);
    PUT(flush_set, flush);
    PUT(dead_set, dead);
    PUT(subscription_set, subscription);
}

/* Rows of each table, and what tells whether a row was changed. */
static void expect_picture(PGconn *pg, const char *expected)
{
    expect_raw_text(
        pg,
        "select concat_ws(' ', (select count(*) from pawl_inbox), "
        "(select string_agg(\"Concurrency\" || ':' || (\"Data\" ->> 'total'), ',') "
        "from \"shop_Order\"), (select count(*) from \"shop_Order\"), "
        "(select count(*) from pawl_timeouts), (select string_agg(\"State\", ',') from pawl_outbox), "
        "(select count(*) from pawl_outbox_attempts), (select count(*) from pawl_queue), "
        "(select count(*) from pawl_aggregator), (select count(*) from pawl_aggregator_flush), "
        "(select count(*) from pawl_dead), (select count(*) from pawl_subscriptions))",
        expected);
}

ON_FIXTURE(all_kinds_follow_the_caller, fixture *p)
{
    PGconn      *other;
    all_kinds    all;
    pawl_changes changes;
    pawl_store  *store = open_with_own_table(p, &other);
    for (int i = 0; i < 2; i++) {
        raw_run(p->pg, "begin");
        make_all(&all, &changes);
        ok(p, pawl_store_enlist(store, p->pg, &changes, &p->error));
        expect_picture(p->pg, "1 1 1 pending 0 1 1 1 1 1");
        expect_picture(other, "0 0 0 0 0 0 0 0 0");
        raw_run(p->pg, i == 0 ? "rollback" : "commit");
    }
    expect_picture(other, "1 1 1 pending 0 1 1 1 1 1");
    for (int i = 0; i < 2; i++) {
        raw_run(p->pg, "begin");
        change_all(p, &all, &changes);
        ok(p, pawl_store_enlist(store, p->pg, &changes, &p->error));
        expect_picture(p->pg, "1 2:7 1 0 dispatched 1 1 0 0 0 0");
        raw_run(p->pg, i == 0 ? "rollback" : "commit");
        if (i == 0)
            expect_picture(other, "1 1 1 pending 0 1 1 1 1 1");
    }
    raw_run(p->pg, "begin");
    changes    = (pawl_changes){.now = NOW, ONE_UNIT};
    all.remove = (pawl_saga_delete){.table = &order_table, .id = {uuid_of(1)}, .version = 1};
    changes.saga_delete.items = &all.remove;
    changes.saga_delete.count = 1;
    refuses(p, pawl_store_enlist(store, p->pg, &changes, &p->error), PAWL_ECONFLICT, "Order");
    all.remove.version = 2;
    ok(p, pawl_store_enlist(store, p->pg, &changes, &p->error));
    raw_run(p->pg, "commit");
    expect_picture(other, "1 0 0 dispatched 1 1 0 0 0 0");
    PQfinish(other);
}

/* ---- The sender --------------------------------------------------------------- */

RECORD(paid, (TEXT, order_id));

ON_FIXTURE(a_sender_writes_at_once, fixture *p)
{
    PGconn      *other;
    pawl_sender *sender = NULL;
    pawl_store  *store  = open_with_own_table(p, &other);
    COMMIT_OK(p, store, subscription_set, NOW, .type = TEXT("paid"), .queue = TEXT("letters"));
    for (int i = 0; i < 2; i++) {
        pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = "m-1", .due = NOW};
        ok(p, pawl_enlist(store, p->pg, &sender, &p->error));
        raw_run(p->pg, "begin; insert into mine values (1)");
        ok(p, pawl_sender_send_json(sender, "orders", &options, "place_order",
                                    TEXT("{\"order_id\":\"o-1\"}"), &p->error));
        options.id = "m-2";
        ok(p, pawl_sender_publish(sender, &options, PAWL_MESSAGE(paid, .order_id = TEXT("o-1")),
                                  &p->error));
        assert_int_equal(queued(p->pg), 2);
        assert_int_equal(queued(other), 0);
        refuses(p, pawl_sender_commit(sender, &p->error), PAWL_EINVAL,
                "commit your own transaction");
        pawl_sender_close(sender);
        raw_run(p->pg, i == 0 ? "rollback" : "commit");
    }
    expect_raw_text(other,
                    "select string_agg(concat_ws('/', \"Queue\", \"MessageId\", \"Type\", "
                    "convert_from(\"Body\", 'UTF8')), ' ' order by \"Seq\") from pawl_queue",
                    "orders/m-1/place_order/{\"order_id\":\"o-1\"} "
                    "letters/m-2/paid/{\"order_id\":\"o-1\"}");
    PQfinish(other);
}

/* ---- Waking -------------------------------------------------------------------- */

ON_FIXTURE(a_sleeper_wakes_at_the_commit_and_not_before, fixture *p)
{
    sleeper     it;
    PGconn     *other;
    pawl_store *store  = open_with_own_table(p, &other);
    pawl_store *worker = open_sleeper(p, "orders");
    raw_run(p->pg, "begin");
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    expect_sleeps_on(p, worker);
    assert_int_equal(claim_some(p, worker, "orders", NOW, 9).count, 0);
    raw_run(p->pg, "rollback");
    find_nothing(p, worker, "orders");
    expect_sleeps_on(p, worker);

    raw_run(p->pg, "begin");
    ok(p, enlist_one(p, store, p->pg, "m-1"));
    find_nothing(p, worker, "orders");
    lie_down(&it, worker);
    raw_run(p->pg, "commit");
    expect_woken(&it);
    assert_int_equal(claim_some(p, worker, "orders", NOW, 9).count, 1);
    PQfinish(other);
}
