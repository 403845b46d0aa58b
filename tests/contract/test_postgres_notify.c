/* test_postgres_notify.c - how often a commit on PostgreSQL notifies, and whom.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_sleep.h"
#include "support/tests.h"

/* ---- Counting notifications ---------------------------------------------------- */

static void listen_to(fixture *p, PGconn *pg, pawl_store *store)
{
    raw_run(pg, test_text("listen \"%s\"", pawl__pg_of(store)->channel));
}

/* Since the last time; they come in the order of the commits. `last` is the payload of
 * the last one. */
static int count_notifies(pawl_store *store, PGconn *pg, char *last, size_t size)
{
    PGnotify *notify;
    int       count  = 0;
    bool      is_end = false;
    last[0]          = '\0';
    raw_run(pg, test_text("notify \"%s\", '/end'", pawl__pg_of(store)->channel));
    for (int64_t end = clock_ms() + WAIT_SECONDS * 1000; !is_end;) {
        assert_true(clock_ms() < end);
        assert_int_equal(PQconsumeInput(pg), 1);
        while ((notify = PQnotifies(pg)) != NULL) {
            is_end |= strcmp(notify->extra, "/end") == 0;
            if (strcmp(notify->extra, "/end") != 0) {
                snprintf(last, size, "%s", notify->extra);
                count++;
            }
            PQfreemem(notify);
        }
    }
    return count;
}

/* ---- How often is notified ------------------------------------------------------ */

/* Messages for three queues, a timeout and a row for the outbox. */
static void send_everything(fixture *p, pawl_store *store, unsigned number)
{
    char            ids[3][20];
    pawl_queue_send sends[3];
    for (int i = 0; i < 3; i++) {
        static const char *const queues[] = {"orders", "billing", "orders"};
        snprintf(ids[i], sizeof ids[i], "e-%u-%d", number, i);
        sends[i] = (pawl_queue_send){
            .queue = pawl_text_of(queues[i]), .message = message_of(ids[i]), .due = NOW};
    }
    pawl_timeout_set timeout = {
        .id = {uuid_of(number)}, .destination = TEXT("orders"), .due = NOW + 1};
    pawl_outbox_add add     = {.dispatch_id = {uuid_of(number + 100)},
                               .destination = TEXT("abroad"),
                               .endpoint    = TEXT("orders"),
                               .message     = message_of(ids[0]),
                               .due         = NOW,
                               .at          = NOW};
    pawl_changes    changes = {.now = NOW,
                               ONE_UNIT,
                               .queue_send  = {.items = sends, .count = 3},
                               .timeout_set = {.items = &timeout, .count = 1},
                               .outbox_add  = {.items = &add, .count = 1}};
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

ON_FIXTURE(one_notification_a_commit_at_most, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    PGconn     *ear   = raw_open(p->schema);
    char        last[300];
    listen_to(p, ear, store);
    for (unsigned i = 0; i < 20; i++)
        send_everything(p, store, i);
    assert_int_equal(count_notifies(store, ear, last, sizeof last), 0); /* nobody sleeps */
    raw_run(p->pg, "delete from pawl_queue");
    open_sleeper(p, "orders");
    for (unsigned i = 20; i < 25; i++)
        send_everything(p, store, i);
    assert_int_equal(count_notifies(store, ear, last, sizeof last), 5);
    assert_string_equal(last, ""); /* for all */
    ok(p, send_one(p, store, "orders", "single"));
    assert_int_equal(count_notifies(store, ear, last, sizeof last), 1);
    assert_string_equal(last, "orders");
    ok(p, send_one(p, store, "billing", "single"));
    assert_int_equal(count_notifies(store, ear, last, sizeof last), 0);
    PQfinish(ear);
}

/* LISTEN is of handles that sleep, which one that claims again and again does not. */
ON_FIXTURE(a_busy_queue_notifies_nobody, fixture *p)
{
    pawl_store *worker = open_sleeper(p, "orders");
    pawl_store *store  = open_store(p, p->url);
    PGconn     *ear    = raw_open(p->schema);
    int64_t     lock   = lock_of(worker);
    char        last[300];
    int         notified = 0, quiet = 0;
    listen_to(p, ear, store);
    for (int i = 0; i < 40; i++) {
        ok(p, send_one(p, store, "orders", test_text("m-%d", i)));
        int count = count_notifies(store, ear, last, sizeof last);
        notified += count;
        quiet                = count == 0 ? quiet + 1 : 0;
        pawl_queue_rows rows = claim_some(p, worker, "orders", NOW, 10);
        assert_int_equal(rows.count, 1);
        ok(p, settle_one(p, worker, "orders", rows.items[0].seq));
    }
    assert_true(notified > 0 && quiet >= 30);
    wait_for_lock(p, lock, true, 0);
    /* Idle again, it is called again. */
    find_nothing(p, worker, "orders");
    sleep_briefly(p, worker);
    ok(p, send_one(p, store, "orders", "last"));
    assert_int_equal(count_notifies(store, ear, last, sizeof last), 1);
    expect_does_not_sleep(p, worker);
    PQfinish(ear);
}

static pawl_code claim_outbox(fixture *p, pawl_store *store, pawl_outbox_rows *rows)
{
    return pawl_store_outbox_claim(store, TEXT("orders"), NOW, 10, p->arena, rows, &p->error);
}

/* A handle sleeps for what it claimed from; one that claimed nothing for nothing. */
ON_FIXTURE(each_sleeps_for_what_it_claims, fixture *p)
{
    pawl_store      *store = open_store(p, p->url), *idle = open_store(p, p->url);
    pawl_store      *runner = open_store(p, p->url);
    PGconn          *ear    = raw_open(p->schema);
    pawl_outbox_rows rows;
    char             last[300];
    sleep_briefly(p, idle);
    assert_false(pawl__pg_of(idle)->sleeps);
    assert_false(pawl__pg_of(idle)->listens);
    ok(p, claim_outbox(p, runner, &rows));
    assert_int_equal(rows.count, 0);
    sleep_briefly(p, runner);
    listen_to(p, ear, store);
    ok(p, send_one(p, store, "orders", "m"));
    assert_int_equal(count_notifies(store, ear, last, sizeof last), 0);
    send_everything(p, store, 1);
    assert_int_equal(count_notifies(store, ear, last, sizeof last), 1);
    expect_does_not_sleep(p, runner);
    ok(p, claim_outbox(p, runner, &rows));
    assert_int_equal(rows.count, 1);
    PQfinish(ear);
}

/* ---- Refused ---------------------------------------------------------------------- */

/* The commit is durable, and what is wrong is logged once a minute. */
ON_FIXTURE(a_commit_whose_notify_is_refused, fixture *p)
{
    test_lines  h;
    pawl_store *worker = open_sleeper(p, "orders"), *store = open_unheard(p);
    test_listen(&h, PAWL_LOG_WARNING, "NOTIFY after a commit failed");
    ok(p, send_one(p, store, "orders", "first"));
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.last, "too many notifications in the queue [54000]"));
    ok(p, send_one(p, store, "orders", "second"));
    append_event(p, store, 1);
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    assert_int_equal(h.count, 1);
    assert_int_equal(claim_some(p, worker, "orders", NOW, 10).count, 2);
}

static void expect_queued(fixture *p, pawl_store *store, size_t count)
{
    pawl_queue_rows rows;
    ok(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, count);
}

/* NOTIFY has its own transaction, which the server ends behind its statement. Each answer belongs to its own request
 * afterwards, and what is wrong is logged. */
ON_FIXTURE(a_commit_whose_notify_fails_at_its_end, fixture *p)
{
    test_lines  h;
    pawl_store *worker = open_sleeper(p, "orders"), *store = open_unheard_at_end(p);
    test_listen(&h, PAWL_LOG_WARNING, "NOTIFY after a commit failed");
    for (size_t i = 1; i <= 4; i++) {
        ok(p, send_one(p, store, "orders", test_text("m-%zu", i)));
        expect_queued(p, store, i);
    }
    append_event(p, store, 1);
    expect_queued(p, store, 4);
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.last, "gate_is_full"));
    assert_false(pawl__pg_of(store)->main.is_lost);
    assert_int_equal(claim_some(p, worker, "orders", NOW, 10).count, 4);
}

/* The claim that goes with the commit is a part of its own behind the NOTIFY (pawl_store_options.claims_ahead). */
ON_FIXTURE(a_claim_behind_a_notify_that_fails_at_its_end, fixture *p)
{
    test_lines  h;
    pawl_store *worker = open_sleeper(p, "billing"), *store = open_unheard_at_end(p);
    pawl__pg   *driver = pawl__pg_of(store);
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    store->is_attached      = true;
    driver->ahead.is_wanted = true;
    driver->ahead.count     = 1; /* the first one does not go alone */
    ok(p, send_one(p, store, "orders", "m-1"));
    ok(p, send_one(p, store, "orders", "m-2"));
    pawl_queue_rows rows       = claim_some(p, store, "orders", NOW, 1);
    driver->fronts[0].pause_ms = 0;
    driver->ahead.front        = &driver->fronts[0];
    pawl_queue_settle settle   = {.queue = TEXT("orders"), .seq = rows.items[0].seq};
    pawl_queue_send   send     = {.queue = TEXT("billing"), .message = message_of("b"), .due = NOW};
    pawl_changes      changes  = {.now = NOW,
                                  ONE_UNIT,
                                  .queue_settle = {.items = &settle, .count = 1},
                                  .queue_send   = {.items = &send, .count = 1}};
    test_listen(&h, PAWL_LOG_WARNING, "NOTIFY after a commit failed");
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    assert_int_equal(h.count, 1);
    assert_true(driver->ahead.transaction != 0);
    rows = claim_some(p, store, "orders", NOW + PAWL_SECONDS(60), 1);
    assert_int_equal(rows.count, 1);
    assert_memory_equal(rows.items[0].message.id.data, "m-2", 3);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    expect_queued(p, store, 0);
    assert_int_equal(claim_some(p, worker, "billing", NOW, 10).count, 1);
}
