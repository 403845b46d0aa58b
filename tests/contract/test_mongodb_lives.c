/* test_mongodb_lives.c - workers and leases by the server's clock, on MongoDB: machines whose clocks differ, workers
 * that another handle beats for, claims of those that do not, and of those that a sweep has ended.
 *
 * The machine's clocks are this program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "pawl/store_calls.h"

#include <dlfcn.h>
#include <sys/syscall.h>

#define LEASE PAWL_SECONDS(30)

/* ---- The machine's clock ----------------------------------------------------- */

static int64_t ahead_s; /* of the real one */
static int64_t
    beats_later_s; /* the same of the monotonic one, by which a handle knows when to beat */

/* Stands before the C library's, for pawl and its modules too. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *time);

int clock_gettime(clockid_t id, struct timespec *time)
{
    long code = syscall(SYS_clock_gettime, id, time);
    if (id == CLOCK_REALTIME)
        time->tv_sec += ahead_s;
    if (id == CLOCK_MONOTONIC)
        time->tv_sec += beats_later_s;
    return (int)code;
}

static pawl_time now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    return (pawl_time)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- Handles ------------------------------------------------------------------ */

static pawl_store *open_now(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), now(), &p->error));
    return store;
}

static bool leads(fixture *p, pawl_store *store)
{
    bool is_ours = false;
    if (pawl_store_lead(store, TEXT("outbox"), now(), LEASE, &is_ours, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    return is_ours;
}

/* ---- Leases -------------------------------------------------------------------- */

/* A machine whose clock is an hour ahead takes no lease that runs, and keeps none for an hour. */
ON_FIXTURE(a_lease_is_one_of_the_servers_clock, fixture *p)
{
    pawl_store *right = open_now(p), *wrong = open_now(p);
    ahead_s = 0;
    assert_true(leads(p, right));
    ahead_s = 3600;
    assert_false(leads(p, wrong));
    pawl_lead_row *rows  = NULL;
    size_t         count = 0;
    if (pawl_store_lead_list(wrong, now(), p->arena, &rows, &count, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    assert_int_equal(count, 1);
    assert_in_range(rows[0].expires - now(), LEASE - PAWL_SECONDS(20), LEASE + PAWL_SECONDS(2));
    ahead_s = 0;
    assert_true(leads(p, right));
    if (pawl_store_unlead(right, TEXT("outbox"), &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    ahead_s = 3600;
    assert_true(leads(p, wrong));
    ahead_s      = LEASE / PAWL_SECONDS(1) + 60; /* later, by a clock that is right */
    bool is_ours = false;
    if (pawl_store_lead(right, TEXT("outbox"), now(), LEASE, &is_ours, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    ahead_s = 0;
    assert_true(is_ours);
}

/* ---- Lives --------------------------------------------------------------------- */

static pawl_worker_info *list_living(fixture *p, pawl_store *store, size_t *count)
{
    pawl_worker_info *items = NULL;
    if (pawl_store_worker_list(store, p->arena, &items, count, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    return items;
}

static size_t count_living(fixture *p, pawl_store *store)
{
    size_t count = 0;
    (void)list_living(p, store, &count);
    return count;
}

/* Takes the change, and frees it. */
static void change_workers(fixture *p, bson_t *change)
{
    mongoc_collection_t *workers =
        mongoc_client_get_collection(p->raw, p->database, "pawl_workers");
    bson_t      *all = BCON_NEW("beat", "{", "$exists", BCON_BOOL(true), "}");
    bson_error_t why;
    if (!mongoc_collection_update_many(workers, all, change, NULL, NULL, &why))
        fail_msg("%s", why.message);
    bson_destroy(all);
    bson_destroy(change);
    mongoc_collection_destroy(workers);
}

/* The last heartbeats of all workers were so long ago. */
static void stand_still(fixture *p, int seconds)
{
    struct timespec time;
    (void)syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
    change_workers(p, BCON_NEW("$set", "{", "beat",
                               BCON_DATE_TIME(((int64_t)time.tv_sec - seconds) * 1000), "}"));
}

/* Its document, as a pawl that knew nothing of programs writes it, tells of none. */
ON_FIXTURE(a_worker_of_an_older_pawl_is_listed, fixture *p)
{
    pawl_store *store = open_now(p);
    size_t      count = 0;
    change_workers(p, BCON_NEW("$unset", "{", "host", BCON_INT32(1), "program", BCON_INT32(1),
                               "program_version", BCON_INT32(1), "pawl_version", BCON_INT32(1),
                               "started", BCON_INT32(1), "}"));
    const pawl_worker_info *row = list_living(p, store, &count);
    assert_int_equal(count, 1);
    assert_true(row->seen > 0);
    assert_int_equal(row->host.size + row->program.size + row->program_version.size, 0);
    assert_int_equal(row->pawl_version.size, 0);
    assert_int_equal(row->started, 0);
}

/* Another handle, which has no worker, beats for it: the worker of no document is passed over. */
ON_FIXTURE(a_handle_beats_for_workers_of_others, fixture *p)
{
    pawl_store    *first = open_now(p), *second = open_now(p), *aside = NULL;
    pawl_worker_id beating[] = {pawl_store_worker(first), {{{9}}}, pawl_store_worker(second)};
    if (fixture_open(p, p->url, NULL, &aside) != PAWL_OK)
        fail_msg("%s", p->error.text);
    size_t before = count_living(p, aside);
    stand_still(p, 20);
    assert_int_equal(count_living(p, aside), 0);
    assert_int_equal(pawl_store_worker_heartbeat(aside, NULL, 0, now(), &p->error), PAWL_OK);
    assert_int_equal(count_living(p, aside), 0);
    assert_int_equal(pawl_store_worker_heartbeat(aside, beating, 3, now(), &p->error), PAWL_OK);
    assert_int_equal(count_living(p, aside), 2);
    assert_true(before >= 2);
}

/* ---- Claims --------------------------------------------------------------------- */

/* One message, claimed by a worker of its own. */
static pawl_store *open_claimer(fixture *p)
{
    pawl_store   *store   = open_now(p);
    pawl_refusals refused = {.arena = p->arena};
    if (pawl_store_commit(store,
                          ONE_CHANGE(queue_send, now(), .queue = TEXT("orders"), .due = now(),
                                     .message = {.id = TEXT("m-1"), .type = TEXT("t")}),
                          &refused, &p->error) != PAWL_OK ||
        refused.count != 0)
        fail_msg("%s", p->error.text);
    return store;
}

static size_t claim(fixture *p, pawl_store *store)
{
    pawl_queue_claim asked = {.queue = TEXT("orders"), .due_max = PAWL_TIME_MAX, .count_max = 9};
    pawl_queue_rows  rows  = {.count = 0};
    if (pawl_store_queue_claim(store, &asked, p->arena, &rows, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    return rows.count;
}

/* How many messages a worker claims that opens now, which frees what the dead have. */
static size_t claim_of_another(fixture *p)
{
    pawl_store *store = open_now(p);
    size_t      count = claim(p, store);
    test_now(store);
    return count;
}

/* Its handler takes longer than the time after which it would be dead: another handle beats for it. */
ON_FIXTURE(o26_a_worker_that_takes_long_keeps_its_claims, fixture *p)
{
    pawl_store    *slow  = open_claimer(p);
    pawl_worker_id self  = pawl_store_worker(slow);
    pawl_store    *aside = NULL;
    if (fixture_open(p, p->url, NULL, &aside) != PAWL_OK)
        fail_msg("%s", p->error.text);
    assert_int_equal(claim(p, slow), 1);
    for (int i = 0; i < 3; i++) {
        stand_still(p, 20);
        assert_int_equal(pawl_store_worker_heartbeat(aside, &self, 1, now(), &p->error), PAWL_OK);
        assert_int_equal(claim_of_another(p), 0);
    }
    stand_still(p, 20);
    assert_int_equal(claim_of_another(p), 1);
}

/* All workers beat before the next transaction of whichever handle begins. */
static fixture *beats_before;

typedef bool start_fn(mongoc_client_session_t *, const mongoc_transaction_opt_t *, bson_error_t *);

PAWL_API bool mongoc_client_session_start_transaction(mongoc_client_session_t        *session,
                                                      const mongoc_transaction_opt_t *options,
                                                      bson_error_t                   *error)
{
    start_fn *real;
    void     *address = dlsym(RTLD_NEXT, "mongoc_client_session_start_transaction");
    fixture  *p       = beats_before;
    memcpy(&real, &address, sizeof real);
    beats_before = NULL;
    if (p != NULL)
        stand_still(p, 0);
    return real(session, options, error);
}

/* Between the look at the dead and the transaction that frees what they have. */
ON_FIXTURE(o26_a_worker_that_beats_while_others_free_it_keeps_its_claims, fixture *p)
{
    pawl_store *slow = open_claimer(p);
    assert_int_equal(claim(p, slow), 1);
    stand_still(p, 20);
    beats_before = p;
    assert_int_equal(claim_of_another(p), 0);
    assert_null(beats_before);
    stand_still(p, 20);
    assert_int_equal(claim_of_another(p), 1);
}

/* ---- Workers that a sweep has ended ------------------------------------------------ */

#define BEAT_S 6 /* a handle beats after 5 seconds */

/* All workers were seen two days ago, and have not beaten for 20 seconds. */
static void fall_silent(fixture *p)
{
    change_workers(
        p, BCON_NEW("$set", "{", "seen", BCON_INT64(pawl_time_add(now(), -PAWL_DAYS(2))), "}"));
    stand_still(p, 20);
}

static int64_t sweep(fixture *p, pawl_store *store)
{
    pawl_sweep what  = {.workers_before = pawl_time_add(now(), -PAWL_DAYS(1)), .count_max = 9};
    int64_t    count = 0;
    bool       more  = false;
    if (pawl_store_sweep(store, &what, &count, &more, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    return count;
}

/* A worker that stood still, was ended by another one's sweep, and claims a message before it beats again. */
static pawl_store *claim_behind_the_end(fixture *p, pawl_store **other)
{
    pawl_store *ended = open_claimer(p);
    fall_silent(p);
    *other = open_now(p);
    assert_int_equal(sweep(p, *other), 1);
    assert_int_equal(claim(p, ended), 1);
    assert_int_equal(claim(p, *other), 0);
    return ended;
}

ON_FIXTURE(o26_a_worker_that_was_ended_is_fenced_at_its_next_beat, fixture *p)
{
    pawl_queue_claim asked = {.queue = TEXT("orders"), .due_max = PAWL_TIME_MAX, .count_max = 9};
    pawl_queue_rows  rows  = {.count = 0};
    pawl_store      *other, *ended = claim_behind_the_end(p, &other);
    beats_later_s += BEAT_S;
    expect_code(p, pawl_store_queue_claim(ended, &asked, p->arena, &rows, &p->error), PAWL_EFENCED);
    assert_int_equal(claim(p, other), 1);
    expect_code(p, pawl_store_queue_claim(ended, &asked, p->arena, &rows, &p->error), PAWL_EFENCED);
    ok(p, pawl_store_worker_open(ended, TEXT("orders"), TEXT("[]"), now(), &p->error));
    assert_int_equal(claim(p, ended), 0);
}

/* An operator's handle, or a sender's, opens no worker and beats only while it is called. */
ON_FIXTURE(a_handle_that_was_idle_for_days_works_on, fixture *p)
{
    const pawl_queue_take discard = {
        .action = PAWL_TAKE_DISCARD, .queue = TEXT("orders"), .by = TEXT("ann")};
    const pawl_queue_query all = {.queue = TEXT("orders")};
    pawl_queue_messages    rows;
    size_t                 taken = 0;
    pawl_store            *idle  = open_store(p, p->url);
    ok(p, send_one(p, idle, "orders", "m-1"));
    ok(p, send_one(p, idle, "orders", "m-2"));
    fall_silent(p);
    assert_int_equal(sweep(p, open_now(p)), 1);
    beats_later_s += BEAT_S;
    ok(p, pawl_store_queue_find(idle, &all, p->arena, &rows, &p->error));
    ok(p, pawl_store_queue_take(idle, &discard, &rows.items[0].row.seq, 1, now(), &taken, NULL,
                                &p->error));
    assert_int_equal(taken, 1);
    fall_silent(p);
    assert_int_equal(sweep(p, open_now(p)), 2);
    beats_later_s += BEAT_S;
    ok(p, send_one(p, idle, "orders", "m-3"));
    assert_int_equal(claim(p, open_now(p)), 2);
}

ON_FIXTURE(o26_a_worker_that_was_ended_frees_its_claims_as_it_closes, fixture *p)
{
    pawl_store *other, *ended = claim_behind_the_end(p, &other);
    ok(p, pawl_store_worker_close(ended, now(), &p->error));
    assert_int_equal(claim(p, other), 1);
}

ON_FIXTURE(o26_a_worker_that_was_ended_frees_its_claims_as_it_opens_again, fixture *p)
{
    pawl_store *other, *ended = claim_behind_the_end(p, &other);
    ok(p, pawl_store_worker_open(ended, TEXT("orders"), TEXT("[]"), now(), &p->error));
    assert_int_equal(claim(p, other), 1);
}

/* An idle worker commits nothing, but lives: a heartbeat says that it was seen. */
ON_FIXTURE(o26_a_worker_that_beats_is_ended_by_no_sweep, fixture *p)
{
    pawl_store    *idle    = open_now(p);
    pawl_worker_id self    = pawl_store_worker(idle);
    pawl_store    *sweeper = NULL;
    if (fixture_open(p, p->url, NULL, &sweeper) != PAWL_OK)
        fail_msg("%s", p->error.text);
    fall_silent(p);
    beats_later_s += BEAT_S;
    assert_int_equal(claim(p, idle), 0);
    stand_still(p, 20);
    assert_int_equal(sweep(p, sweeper), 0);
    fall_silent(p);
    ok(p, pawl_store_worker_heartbeat(sweeper, &self, 1, now(), &p->error));
    stand_still(p, 20);
    assert_int_equal(sweep(p, sweeper), 0);
    fall_silent(p);
    assert_int_equal(sweep(p, sweeper), 1);
}
