/* test_mysql_stamps.c - claims that stand in the database, as on a cluster, whose row locks end at a
 * node: here two handles of one server have them, which also shows what row locks would hide (E8).
 * On a real cluster: test_mysql_galera.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "store/mysql/mysql.h"
#include "support/tests.h"

#define ROWS 12
#define STAMPS "select count(*) from pawl_leases where Name like 'claim:%'"

/* As a connection to a cluster sets them. */
static void stamp_claims(pawl_store *store)
{
    pawl__mysql *own              = pawl__mysql_of(store);
    own->remote.server.beats      = true;
    own->remote.server.frees_dead = own->remote.claims.are_stamps = true;
}

static pawl_code begin_worker(fixture *p, pawl_store *store)
{
    return pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error);
}

static pawl_store *open_worker(fixture *p)
{
    pawl_store *store;
    ok(p, open_at(p, p->url, 20000, &store));
    stamp_claims(store);
    ok(p, begin_worker(p, store));
    return store;
}

static pawl_queue_rows claim(fixture *p, pawl_store *store, size_t count)
{
    pawl_queue_rows  rows;
    pawl_queue_claim how = {
        .queue = TEXT("orders"), .due_max = NOW, .count_max = count, .now = NOW};
    ok(p, pawl_store_queue_claim(store, &how, p->arena, &rows, &p->error));
    return rows;
}

static pawl_code settle(fixture *p, pawl_store *store, const pawl_queue_rows *rows,
                        pawl_queue_action action)
{
    pawl_queue_settle settles[ROWS];
    pawl_changes      changes = {.now = NOW, ONE_UNIT};
    assert_in_range(rows->count, 1, ROWS);
    for (size_t i = 0; i < rows->count; i++)
        settles[i] = (pawl_queue_settle){
            .queue = TEXT("orders"), .seq = rows->items[i].seq, .action = action, .due = NOW};
    changes.queue_settle.items = settles;
    changes.queue_settle.count = rows->count;
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

typedef struct pair {
    pawl_store *a, *b;
} pair;

static pair open_pair(fixture *p)
{
    apply(p);
    pair it = {.a = open_worker(p)};
    it.b    = open_worker(p);
    send_rows(p, it.a, ROWS);
    return it;
}

ON_BOTH(e8_two_workers_claim_no_row_twice, fixture *p)
{
    pair it             = open_pair(p);
    bool is_taken[ROWS] = {false};
    for (int i = 0; i < ROWS / 3; i++) {
        pawl_queue_rows rows = claim(p, i % 2 == 0 ? it.a : it.b, 3);
        assert_int_equal(rows.count, 3);
        for (size_t k = 0; k < rows.count; k++) {
            int number = ROWS;
            (void)sscanf(rows.items[k].message.id.data, "m-%d", &number);
            assert_true(number < ROWS && !is_taken[number]);
            is_taken[number] = true;
        }
    }
    assert_int_equal(claim(p, it.a, 3).count + claim(p, it.b, 3).count, 0);
}

/* The stamp goes with the row, or with its claim. */
ON_BOTH(e8_what_is_settled_leaves_no_stamp, fixture *p)
{
    pair            it   = open_pair(p);
    pawl_queue_rows done = claim(p, it.a, 4);
    pawl_queue_rows back = claim(p, it.a, 4);
    assert_int_equal(done.count + back.count, 8);
    assert_int_equal(raw_number(p->raw, STAMPS), 8);
    ok(p, settle(p, it.a, &done, PAWL_QUEUE_DONE));
    assert_int_equal(raw_number(p->raw, STAMPS), 4);
    ok(p, settle(p, it.a, &back, PAWL_QUEUE_RELEASE));
    assert_int_equal(raw_number(p->raw, STAMPS), 0);
    assert_int_equal(claim(p, it.b, ROWS).count, ROWS - 4);
}

/* Of a worker that was taken for dead: its stamps were deleted, and others have the rows. */
ON_BOTH(e8_a_claim_that_went_to_another_settles_nothing, fixture *p)
{
    pair            it   = open_pair(p);
    pawl_queue_rows lost = claim(p, it.a, 3);
    assert_int_equal(lost.count, 3);
    raw_run(p->raw, "delete from pawl_leases where Name like 'claim:%'");
    pawl_queue_rows rows = claim(p, it.b, 3);
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.items[0].seq, lost.items[0].seq);
    refuses(p, settle(p, it.a, &lost, PAWL_QUEUE_DONE), PAWL_EGONE, "another worker took it over");
    ok(p, settle(p, it.b, &rows, PAWL_QUEUE_DONE));
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), ROWS - 3);
}

/* An answer to a claim was lost: the worker has stamps that it does not know, and keeps them. */
ON_BOTH(e8_stamps_of_a_claim_without_an_answer_are_its_workers, fixture *p)
{
    pair it = open_pair(p);
    assert_int_equal(claim(p, it.a, 3).count, 3);
    pawl__mysql_of(it.a)->remote.claims.count = 0;
    assert_int_equal(claim(p, it.b, ROWS).count, ROWS - 3);
    pawl_queue_rows rows = claim(p, it.a, ROWS);
    assert_int_equal(rows.count, 3);
    ok(p, settle(p, it.a, &rows, PAWL_QUEUE_DONE));
}

ON_BOTH(e8_a_worker_that_ends_leaves_its_claims, fixture *p)
{
    pair it = open_pair(p);
    assert_int_equal(claim(p, it.a, 3).count, 3);
    ok(p, pawl_store_worker_close(it.a, NOW, &p->error));
    assert_int_equal(claim(p, it.b, ROWS).count, ROWS);
}

/* ---- Heartbeats ----------------------------------------------------------------- */

/* The last heartbeats of all workers were so long ago. */
static void stand_still(fixture *p, int seconds)
{
    raw_run(
        p->raw,
        test_text(
            "update pawl_workers set Seen = utc_timestamp(6) - interval %d second where Epoch > 0",
            seconds));
}

/* How many rows a worker claims that opens now, which frees what the dead have. */
static size_t claim_of_another(fixture *p)
{
    pawl_store *store = open_worker(p);
    size_t      count = claim(p, store, ROWS).count;
    test_now(store);
    return count;
}

/* A handle without a worker beats for one whose handler takes longer than the time after which it would
 * be dead, and for no worker beside it. */
ON_BOTH(o26_a_worker_that_takes_long_keeps_its_claims, fixture *p)
{
    pair           it     = open_pair(p);
    pawl_worker_id slow[] = {{{{9}}}, pawl_store_worker(it.a)};
    pawl_store    *aside;
    ok(p, open_at(p, p->url, 20000, &aside));
    refuses(p, pawl_store_worker_heartbeat(aside, slow, 2, NOW, &p->error), PAWL_EUNSUPPORTED,
            "hold a session lock and send no heartbeats");
    stamp_claims(aside);
    assert_int_equal(claim(p, it.a, 3).count, 3);
    assert_int_equal(claim(p, it.b, 2).count, 2);
    for (int i = 0; i < 2; i++) {
        stand_still(p, 20);
        ok(p, pawl_store_worker_heartbeat(aside, slow, 2, NOW, &p->error));
        assert_int_equal(claim_of_another(p), ROWS - 3);
    }
    stand_still(p, 20);
    assert_int_equal(claim_of_another(p), ROWS);
    test_now(aside);
}

/* ---- Freeing what the dead have --------------------------------------------------- */

/* The operations of the connection, and a worker that beats behind a look at the living. */
static const pawl__sql_ops *real_ops;
static pawl_store          *beats_behind;

static pawl_code look(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                      pawl_error *error)
{
    pawl_code      code = real_ops->which_are_alive(store, lives, count, error);
    pawl_worker_id late = pawl_store_worker(beats_behind);
    return code == PAWL_OK ? pawl_store_worker_heartbeat(beats_behind, &late, 1, NOW, error) : code;
}

/* Between the look at the dead and the freeing of what they have. */
ON_BOTH(o26_a_worker_that_beats_while_others_free_it_keeps_its_claims, fixture *p)
{
    pair          it = open_pair(p);
    pawl__sql_ops ops;
    assert_int_equal(claim(p, it.a, 3).count, 3);
    ok(p, pawl_store_worker_close(it.b, NOW, &p->error));
    pawl__sql_store *looking = (pawl__sql_store *)it.b;
    real_ops                 = looking->ops;
    ops                      = *real_ops;
    ops.which_are_alive      = look;
    looking->ops             = &ops;
    stand_still(p, 20);
    beats_behind = it.a;
    ok(p, begin_worker(p, it.b));
    looking->ops = real_ops;
    assert_int_equal(claim(p, it.b, ROWS).count, ROWS - 3);
    assert_int_equal(raw_number(p->raw, STAMPS), ROWS);
    stand_still(p, 20);
    assert_int_equal(claim_of_another(p), ROWS);
}
