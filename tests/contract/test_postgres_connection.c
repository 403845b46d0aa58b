/* test_postgres_connection.c - connections that end: killed back ends, answers
 * that never come, servers that stop, forks (S25, S28).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#include <sys/wait.h>

/* ---- Killed back ends --------------------------------------------------- */

ON_TROUBLE(an_idle_handle_connects_again, fixture *p)
{
    pawl_store     *store = open_store(p, p->url);
    pawl_queue_rows rows;
    int             first = pid_of(store);
    kill_pid(p, first);
    expect_code(p, send_one(p, store, "orders", "m-1"), PAWL_ELOST);
    assert_int_equal(queue_count(p), 0);
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_equal(queue_count(p), 1);
    assert_int_not_equal(pid_of(store), first);

    kill_pid(p, pid_of(store));
    expect_code(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error),
                PAWL_ELOST);
    ok(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);

    kill_pid(p, pid_of(store));
    expect_code(p, pawl_store_wait(store, PAWL_SECONDS(30), -1, &p->error), PAWL_ELOST);
    ok(p, send_one(p, store, "orders", "m-2"));
}

/* Nothing is lost: what was held is free at once, and this handle is told. */
ON_TROUBLE(claims_end_with_the_back_end, fixture *p)
{
    pawl_store       *store = open_store(p, p->url), *other = open_store(p, p->url);
    pawl_worker_info *workers;
    size_t            count = 0;
    ok(p, send_one(p, store, "orders", "m-1"));
    ok(p, send_one(p, store, "orders", "m-2"));
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 9);
    assert_int_equal(rows.count, 2);
    assert_int_equal(claim_some(p, other, "orders", NOW, 9).count, 0);
    kill_pid(p, pid_of(store));
    assert_int_equal(claim_some(p, other, "orders", NOW, 1).count, 1);
    expect_code(p, settle_one(p, store, "orders", rows.items[0].seq), PAWL_ELOST);
    refuses(p, settle_one(p, store, "orders", rows.items[0].seq), PAWL_EGONE,
            "it is not claimed by this worker");
    ok(p, settle_one(p, other, "orders", rows.items[0].seq));
    rows = claim_some(p, store, "orders", NOW, 9);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    assert_int_equal(queue_count(p), 0);
    /* The worker's lock was taken again: it lives. */
    ok(p, pawl_store_worker_list(other, p->arena, &workers, &count, &p->error));
    assert_int_equal(count, 2);
}

/* A session that rested too long in its transaction is lost like one that was ended: the handle connects again, and the
 * claim is free. */
ON_TROUBLE(a_session_that_rested_too_long_is_lost, fixture *p)
{
    const char *url =
        test_text("%s&options=-c%%20idle_in_transaction_session_timeout%%3D300", p->url);
    pawl_store *store = open_store(p, url);
    for (int round = 0; round < 2; round++) {
        ok(p, send_one(p, store, "orders", round == 0 ? "m-1" : "m-2"));
        pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 9);
        assert_int_equal(rows.count, round + 1);
        usleep(1200000);
        expect_code(p, settle_one(p, store, "orders", rows.items[0].seq), PAWL_ELOST);
    }
    assert_int_equal(claim_some(p, store, "orders", NOW, 9).count, 2);
}

ON_TROUBLE(killed_in_a_commit_nothing_is_applied, fixture *p)
{
    pawl_store      *store   = open_store(p, p->url);
    pawl_saga_update update  = begin_order(p, store, 1);
    pawl_queue_send  send    = send_of("orders", "m-1");
    pawl_changes     changes = one_update(&update);
    job              commit;
    changes.queue_send.items = &send;
    changes.queue_send.count = 1;
    lock_order(p, 1);
    start_job(p, &commit, store, &changes);
    wait_for_waiting(p, 1);
    kill_pid(p, pid_of(store));
    raw_run(p->pg, "commit");
    expect_job(p, &commit, PAWL_ELOST);
    assert_int_equal(order_version(p, 1), 1);
    assert_int_equal(queue_count(p), 0);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(order_version(p, 1), 2);
    assert_int_equal(queue_count(p), 1);
}

/* In a hold the pipeline is off, which is another way to the same answers. A call inside the hold may have noticed the
 * loss: the commit must not go through on a new session. */
static void be_killed_in_a_hold(fixture *p, bool is_noticed)
{
    pawl_queue_rows rows    = {0};
    pawl_store     *store   = open_store(p, p->url);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = one_send(&send);
    raw_run(p->pg, "create table mine (id integer)");
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    PGconn *native = store->ops->native(store);
    raw_run(native, test_text("insert into %s.mine values (1)", p->schema));
    kill_pid(p, pid_of(store));
    if (is_noticed)
        expect_code(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error),
                    PAWL_ELOST);
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_ELOST);
    assert_int_equal(raw_number(p->pg, "select count(*) from mine"), 0);
    assert_int_equal(queue_count(p), 0);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(queue_count(p), 1);
}

ON_TROUBLE(killed_in_a_hold_nothing_is_applied, fixture *p)
{
    be_killed_in_a_hold(p, false);
}

ON_TROUBLE(e24_killed_in_a_hold_and_noticed_nothing_is_applied, fixture *p)
{
    be_killed_in_a_hold(p, true);
}

/* ---- Answers that never come -------------------------------------------- */

typedef struct loss_case {
    const char *name;
    proxy_loss  loss;
    int         number; /* of the request */
    bool        commits_singly;
    bool        is_held;
    bool        is_kept; /* the server's session lives on, with its locks */
    pawl_code   code;
} loss_case;

/* A commit is one request; after refusals for a while two, the fence first, as in a
 * hold. */
static const loss_case loss_cases[] = {
    {"answer", PROXY_LOSES_ANSWER, 1, false, false, false, PAWL_OK},
    {"answer, kept", PROXY_LOSES_ANSWER, 1, false, false, true, PAWL_OK},
    {"request", PROXY_LOSES_REQUEST, 1, false, false, false, PAWL_ELOST},
    {"request, kept", PROXY_LOSES_REQUEST, 1, false, false, true, PAWL_ELOST},
    {"fence's answer, kept", PROXY_LOSES_ANSWER, 1, true, false, true, PAWL_ELOST},
    {"second answer", PROXY_LOSES_ANSWER, 2, true, false, false, PAWL_OK},
    {"second answer, kept", PROXY_LOSES_ANSWER, 2, true, false, true, PAWL_OK},
    {"second request", PROXY_LOSES_REQUEST, 2, true, false, false, PAWL_ELOST},
    {"second request, kept", PROXY_LOSES_REQUEST, 2, true, false, true, PAWL_ELOST},
    {"hold, fence's answer, kept", PROXY_LOSES_ANSWER, 1, false, true, true, PAWL_ELOST},
    {"hold, answer", PROXY_LOSES_ANSWER, 2, false, true, false, PAWL_OK},
    {"hold, answer, kept", PROXY_LOSES_ANSWER, 2, false, true, true, PAWL_OK},
    {"hold, request, kept", PROXY_LOSES_REQUEST, 2, false, true, true, PAWL_ELOST},
};

/* A refusal makes the next commits careful. */
static void be_refused(fixture *p, pawl_store *store)
{
    expect_code(p, settle_one(p, store, "orders", 1000000), PAWL_EGONE);
}

static void try_loss(fixture *p, proxy *between, pawl_store *store, const loss_case *c, int number)
{
    pawl_queue_send send      = {.queue = TEXT("orders"), .due = NOW};
    pawl_changes    changes   = one_send(&send);
    const char     *id        = test_text("m-%d", number);
    send.message              = message_of(id);
    changes.counters.messages = 1;
    if (c->commits_singly)
        be_refused(p, store);
    if (c->is_held)
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    proxy_cut(between, c->loss, c->number, c->is_kept);
    pawl_code code = pawl_store_commit(store, &changes, NULL, &p->error);
    if (code != c->code || !proxy_was_cut(between))
        fail_msg("%s: is %s, expected %s: %s", c->name, pawl_code_name(code),
                 pawl_code_name(c->code), p->error.text);
    assert_int_equal(
        raw_number(p->pg,
                   test_text("select count(*) from pawl_queue where \"MessageId\" = '%s'", id)),
        code == PAWL_OK);
    if (code != PAWL_OK)
        ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

static void expect_each_once(fixture *p)
{
    int64_t expected = COUNT(loss_cases);
    assert_int_equal(queue_count(p), expected);
    assert_int_equal(raw_number(p->pg, "select sum(\"Messages\") from pawl_workers"), expected);
}

ON_TROUBLE(a_lost_answer_is_found_out, fixture *p)
{
    proxy *between = open_proxy(p);
    char   url[1400];
    if (between == NULL)
        skip();
    proxy_url(p, between, url, sizeof url);
    apply_schema(p, p->url, order_tables, 1);
    for (size_t i = 0; i < COUNT(loss_cases); i++) {
        pawl_store *store = open_more(p, url);
        try_loss(p, between, store, &loss_cases[i], (int)i);
        /* An old session that the server kept was ended. */
        wait_for_sessions(p, 1);
        test_now(store);
        wait_for_sessions(p, 0);
    }
    expect_each_once(p);
    proxy_close(between);
}

/* Where the old session goes on in the pooler's hands: its lock on the worker's
 * row is all that tells which one it is. */
ON_TROUBLE(a_lost_answer_is_found_out_behind_a_pooler, fixture *p)
{
    char   url[1400];
    proxy *between = open_pooled_proxy(p, url, sizeof url);
    if (between == NULL)
        skip();
    apply_schema(p, p->url, order_tables, 1);
    for (size_t i = 0; i < COUNT(loss_cases); i++) {
        pawl_store *store = open_more(p, url);
        try_loss(p, between, store, &loss_cases[i], (int)i);
        test_now(store);
    }
    expect_each_once(p);
    proxy_close(between);
}

/* Messages of a scan are the same whether its answer was lost or not. */
static void expect_scanned(fixture *p, proxy *between, pawl_store *store, proxy_loss loss)
{
    pawl_scan      scan = {.kind = PAWL_SCAN_QUEUE, .count_max = 1};
    pawl_scan_row  first;
    pawl_scan_rows rows;
    for (int page = 0; page < 2; page++) {
        proxy_cut(between, loss, 1, page == 1);
        expect_code(p, pawl_store_scan(store, &scan, p->arena, &rows, &p->error), PAWL_ELOST);
        assert_true(proxy_was_cut(between));
        assert_int_equal(rows.count, 0);
        ok(p, pawl_store_scan(store, &scan, p->arena, &rows, &p->error));
        assert_int_equal(rows.count, 1);
        assert_true(pawl_text_equal(rows.items[0].message.id,
                                    page == 0 ? PAWL_TEXT("m-1") : PAWL_TEXT("m-2")));
        first      = rows.items[0];
        scan.after = &first;
    }
}

ON_TROUBLE(a_lost_walk_goes_on, fixture *p)
{
    proxy *between = open_proxy(p);
    char   url[1400];
    if (between == NULL)
        skip();
    proxy_url(p, between, url, sizeof url);
    pawl_store *store = open_store(p, url);
    ok(p, send_one(p, store, "orders", "m-1"));
    ok(p, send_one(p, store, "orders", "m-2"));
    expect_scanned(p, between, store, PROXY_LOSES_REQUEST);
    expect_scanned(p, between, store, PROXY_LOSES_ANSWER);
    test_now(store);
    proxy_close(between);
}

/* Claims are held on one connection; the send that does not wait goes over the
 * other, which ends behind the fence, its session kept. Nothing but its lock on
 * the worker's row tells of it. */
ON_TROUBLE(a_lost_second_connection_is_found_out, fixture *p)
{
    proxy *between = open_proxy(p);
    char   url[1400];
    if (between == NULL)
        skip();
    proxy_url(p, between, url, sizeof url);
    pawl_store *store = open_store(p, url);
    pawl_store *other = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    be_refused(p, store);
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    wait_for_sessions(p, 2);
    ok(p, send_one(p, store, "other", "m-2"));
    assert_int_equal(session_count(p), 3);
    proxy_cut(between, PROXY_LOSES_REQUEST, 2, true);
    expect_code(p, send_one(p, store, "other", "m-3"), PAWL_ELOST);
    assert_true(proxy_was_cut(between));
    wait_for_sessions(p, 2);
    expect_code(p, settle_one(p, store, "orders", rows.items[0].seq), PAWL_EGONE);
    assert_int_equal(claim_some(p, other, "orders", NOW, 1).count, 1);
    ok(p, send_one(p, store, "other", "m-3"));
    assert_int_equal(queue_count(p), 3);
    test_now(other);
    test_now(store);
    proxy_close(between);
}

/* A server that says nothing, not even to a cancel, costs a deadline and a bit. */
ON_TROUBLE(a_silent_server_is_given_up, fixture *p)
{
    proxy          *between = open_proxy(p);
    char            url[1400];
    pawl_queue_rows rows;
    if (between == NULL)
        skip();
    proxy_url(p, between, url, sizeof url);
    apply_schema(p, p->url, order_tables, 1);
    pawl_store *store = open_more(p, url);
    proxy_stall(between, true);
    set_deadline(store, 300);
    refuses(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error),
            PAWL_ELOST, "not even to a cancel");
    refuses(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error),
            PAWL_EUNREACHABLE, "within 300 ms");
    set_deadline(store, ENOUGH_MS);
    proxy_stall(between, false);
    ok(p, send_one(p, store, "orders", "m-1"));
    /* A commit that cannot be asked about stays unknown. */
    proxy_stall(between, true);
    set_deadline(store, 300);
    refuses(p, send_one(p, store, "orders", "m-2"), PAWL_EUNKNOWN,
            "the outcome is unknown and the store cannot be queried");
    set_deadline(store, ENOUGH_MS);
    proxy_stall(between, false);
    ok(p, send_one(p, store, "orders", "m-3"));
    test_now(store);
    proxy_close(between);
}

ON_TROUBLE(connecting_can_be_interrupted, fixture *p)
{
    proxy *between = open_proxy(p);
    char   url[1400];
    job    look;
    if (between == NULL)
        skip();
    proxy_url(p, between, url, sizeof url);
    pawl_store *store = open_store(p, url);
    proxy_cut(between, PROXY_LOSES_REQUEST, 1, false);
    start_job(p, &look, store, NULL);
    expect_job(p, &look, PAWL_ELOST);
    int before = proxy_accepted(between);
    proxy_stall(between, true);
    start_job(p, &look, store, NULL);
    for (int64_t end = clock_ms() + PATIENCE_MS; proxy_accepted(between) == before;) {
        if (clock_ms() > end)
            fail_msg("the store does not connect again");
        (void)poll(NULL, 0, 2);
    }
    pawl_store_interrupt(store);
    expect_job(p, &look, PAWL_EINTERRUPTED);
    proxy_stall(between, false);
    ok(p, send_one(p, store, "orders", "m-1"));
    test_now(store);
    proxy_close(between);
}

/* ---- Fork --------------------------------------------------------------- */

static int refuse_in_child(fixture *p, pawl_store *store)
{
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 1, .now = NOW};
    if (send_one(p, store, "orders", "m-2") != PAWL_EINVAL ||
        pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error) != PAWL_EINVAL ||
        strstr(p->error.text, "fork first, then open one") == NULL)
        return 1;
    pawl_store_handler_transaction_end(store);
    test_now(store);
    return 0;
}

ON_TROUBLE(a_child_leaves_the_parents_session_alone, fixture *p)
{
    int         status = -1;
    pawl_store *store  = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    int             pid  = pid_of(store);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    raw_run(store->ops->native(store), test_text("create table %s.mine (id integer)", p->schema));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(refuse_in_child(p, store));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    assert_int_equal(queue_count(p), 0);
    assert_int_equal(raw_number(p->pg, "select count(*) from mine"), 0); /* the table is there */
    assert_int_equal(pid_of(store), pid);
}
