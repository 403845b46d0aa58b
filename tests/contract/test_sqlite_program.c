/* test_sqlite_program.c - several processes on one file: queue leases, death,
 * take-over, fork, wake-up (O20).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "store/sql/operations.h"
#include "support/tests.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* A child and a pipe in each direction, for turns. */
typedef struct child {
    pid_t pid;
    int   to_child[2];
    int   to_parent[2];
} child;

static void say(int file)
{
    char byte = 1;
    assert_int_equal(write(file, &byte, 1), 1);
}

/* False when the other side is gone. */
static bool hear(int file)
{
    char byte = 0;
    return read(file, &byte, 1) == 1;
}

typedef void child_fn(fixture *p, child *c);

/* The child says one byte when it is where the test wants it, then waits. */
static void start(fixture *p, child *c, child_fn *run)
{
    assert_int_equal(pipe(c->to_child), 0);
    assert_int_equal(pipe(c->to_parent), 0);
    c->pid = fork();
    assert_true(c->pid >= 0);
    if (c->pid == 0) {
        close(c->to_child[1]);
        close(c->to_parent[0]);
        run(p, c);
        _exit(0);
    }
    close(c->to_child[0]);
    close(c->to_parent[1]);
    assert_true(hear(c->to_parent[0]));
}

static void finish(child *c, bool is_killed)
{
    int status = -1;
    if (is_killed)
        assert_int_equal(kill(c->pid, SIGKILL), 0);
    close(c->to_child[1]);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    assert_int_equal(is_killed ? WIFSIGNALED(status) : status == 0, 1);
    close(c->to_parent[0]);
}

static void claim_and_wait(fixture *p, child *c)
{
    pawl_store *store = open_store(p, p->url);
    if (claim_some(p, store, "orders", 1).count != 1)
        _exit(1);
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
    ok(p, pawl_store_worker_close(store, NOW, &p->error));
    test_now(store);
}

static void send_some(fixture *p, int count)
{
    pawl_store *store = open_store(p, p->url);
    for (int i = 0; i < count; i++)
        ok(p, send_one(p, store, "orders", test_text("m-%d", i)));
    test_now(store);
}

ON_FIXTURE(one_process_works_a_queue, fixture *p)
{
    child c;
    send_some(p, 3);
    start(p, &c, claim_and_wait);
    pawl_store     *store = open_store(p, p->url);
    pawl_queue_rows rows  = claim_some(p, store, "orders", 9);
    assert_int_equal(rows.count, 0);
    assert_true(rows.is_taken);
    assert_string_equal(rows.taken_by.data, test_text("process %d", (int)c.pid));
    /* Another queue is nobody's yet; sending is everybody's. */
    ok(p, send_one(p, store, "bills", "b-1"));
    assert_int_equal(claim_some(p, store, "bills", 9).count, 1);
    ok(p, send_one(p, store, "orders", "m-9"));
    finish(&c, false);
    rows = claim_some(p, store, "orders", 9);
    assert_false(rows.is_taken);
    assert_int_equal(rows.count, 4);
}

ON_FIXTURE(handles_of_a_process_share_the_claims, fixture *p)
{
    send_some(p, 3);
    pawl_store     *a = open_store(p, p->url), *b = open_store(p, p->url);
    pawl_queue_rows rows = claim_some(p, a, "orders", 2);
    assert_int_equal(rows.count, 2);
    assert_int_equal(claim_some(p, b, "orders", 9).count, 1);
    assert_int_equal(claim_some(p, a, "orders", 9).count, 0);
    expect_code(p, settle_one(p, b, "orders", rows.items[0].seq), PAWL_EGONE);
    ok(p, settle_one(p, a, "orders", rows.items[0].seq));
    test_now(a);
    /* The queue stays this process's as long as one handle works it. */
    assert_int_equal(path_number(p->path, "select count(*) from pawl_leases where Process <> 0"),
                     1);
    assert_int_equal(claim_some(p, b, "orders", 9).count, 1);
    test_now(b);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_leases where Process <> 0"),
                     0);
}

/* A handle becomes the worker of another one. Claims in its hands are not asked for. */
static pawl_store *take_over(fixture *p, const pawl_store *old)
{
    pawl_store *by = NULL;
    ok(p, fixture_open(p, p->url, NULL, &by));
    by->worker = old->worker;
    ok(p, pawl_store_worker_open(by, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    by->is_attached = true;
    return by;
}

/* The old handle stays open, as that of a thread does which never comes back: its queue
 * is given back all the same, by the last one that claims from it. */
ON_FIXTURE(e29_a_queue_is_given_back_for_a_handle_that_was_taken_over, fixture *p)
{
    send_some(p, 3);
    pawl_store *lost = open_store(p, p->url), *other = open_store(p, p->url);
    assert_int_equal(claim_some(p, lost, "orders", 2).count, 2);
    assert_int_equal(claim_some(p, other, "orders", 9).count, 1);
    pawl_store *by = take_over(p, lost);
    assert_int_equal(claim_some(p, other, "orders", 9).count, 2);
    test_now(other);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_leases where Process <> 0"),
                     1);
    test_now(by);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_leases where Process <> 0"),
                     0);
    other = open_store(p, p->url);
    assert_int_equal(claim_some(p, other, "orders", 9).count, 3);
    test_now(lost); /* the lost handle is not among them any more */
    assert_int_equal(path_number(p->path, "select count(*) from pawl_leases where Process <> 0"),
                     1);
}

static void lease_all_and_wait(fixture *p, child *c)
{
    pawl_store        *store = open_store(p, p->url);
    pawl_timeout_rows  rows;
    bool               is_led = false;
    pawl_timeout_claim claim  = {.destination = TEXT("orders"),
                                 .due_max     = NOW,
                                 .owner       = {uuid_of(7)},
                                 .now         = NOW,
                                 .lease       = PAWL_MINUTES(5)};
    ok(p, pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error));
    ok(p, pawl_store_lead(store, TEXT("outbox"), NOW, PAWL_MINUTES(5), &is_led, &p->error));
    pawl_queue_rows queue = claim_some(p, store, "orders", 1);
    if (rows.count != 1 || !is_led || queue.count != 1)
        _exit(1);
    ok(p, settle_one(p, store, "orders", queue.items[0].seq));
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
}

static void set_timeout(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    COMMIT_OK(p, store, timeout_set, NOW, .id = {uuid_of(1)}, .destination = TEXT("orders"),
              .due = NOW);
    test_now(store);
}

static size_t lead_count(fixture *p, pawl_store *store)
{
    pawl_lead_row *leads;
    size_t         count = 9;
    ok(p, pawl_store_lead_list(store, NOW, p->arena, &leads, &count, &p->error));
    return count;
}

/* In the list of workers, and in the statistics. */
static void expect_workers(fixture *p, pawl_store *store, size_t expected)
{
    pawl_worker_info *workers;
    pawl_stats        stats = PAWL_STATS_INIT;
    size_t            count = 0;
    ok(p, pawl_store_worker_list(store, p->arena, &workers, &count, &p->error));
    assert_int_equal(count, expected);
    ok(p, pawl_store_stats(store, NOW, p->arena, &stats, &p->error));
    assert_int_equal(stats.workers, expected);
}

ON_FIXTURE(a_dead_process_holds_nothing, fixture *p)
{
    child c;
    bool  is_led = true;
    send_some(p, 3);
    set_timeout(p);
    start(p, &c, lease_all_and_wait);
    pawl_store        *store = open_store(p, p->url);
    pawl_timeout_rows  rows;
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW,
                                .owner       = {uuid_of(8)},
                                .now         = NOW,
                                .lease       = PAWL_MINUTES(5)};
    assert_true(claim_some(p, store, "orders", 9).is_taken);
    expect_workers(p, store, 2);
    ok(p, pawl_store_lead(store, TEXT("outbox"), NOW, PAWL_MINUTES(5), &is_led, &p->error));
    assert_false(is_led);
    assert_int_equal(lead_count(p, store), 1);

    finish(&c, true);
    assert_int_equal(lead_count(p, store), 0);
    expect_workers(p, store, 1);
    ok(p, pawl_store_lead(store, TEXT("outbox"), NOW, PAWL_MINUTES(5), &is_led, &p->error));
    assert_true(is_led);
    assert_int_equal(claim_some(p, store, "orders", 9).count, 2);
    ok(p, pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);

    /* The dead worker's counters are kept when its row goes. */
    int64_t    swept = 0;
    bool       more  = true;
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_sweep sweep = {.workers_before = NOW + 1, .count_max = 9};
    ok(p, pawl_store_sweep(store, &sweep, &swept, &more, &p->error));
    assert_int_equal(swept, 1);
    assert_false(more);
    ok(p, pawl_store_stats(store, NOW, p->arena, &stats, &p->error));
    assert_int_equal(stats.workers, 1);
    assert_int_equal(stats.counters.messages, 1);
}

static void lease_a_timeout_and_wait(fixture *p, child *c)
{
    pawl_store        *store = open_store(p, p->url);
    pawl_timeout_rows  rows;
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW,
                                .owner       = {uuid_of(7)},
                                .now         = NOW,
                                .lease       = PAWL_MINUTES(5)};
    ok(p, pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error));
    if (rows.count != 1)
        _exit(1);
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
}

/* Leases of the dead are freed at worker_open, by an endpoint of another queue, too. */
ON_FIXTURE(a_worker_that_opens_frees_what_the_dead_held, fixture *p)
{
    child             c;
    pawl_timeout_rows rows;
    set_timeout(p);
    start(p, &c, lease_a_timeout_and_wait);
    finish(&c, true);
    pawl_store        *store = open_store(p, p->url);
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW,
                                .owner       = {uuid_of(8)},
                                .now         = NOW,
                                .lease       = PAWL_MINUTES(5)};
    ok(p, pawl_store_timeout_claim(store, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
}

/* The lease row moved on while a claim was in hand: the acknowledge of the
 * process that lost it is refused. */
ON_FIXTURE(a_lost_lease_refuses_the_settle, fixture *p)
{
    send_some(p, 1);
    pawl_store     *store = open_store(p, p->url);
    pawl_queue_rows rows  = claim_some(p, store, "orders", 1);
    assert_int_equal(rows.count, 1);
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "update pawl_leases set Epoch = Epoch + 1 where Name = 'queue:orders'");
    refuses(p, settle_one(p, store, "orders", rows.items[0].seq), PAWL_EGONE,
            "took the queue over");
    assert_int_equal(raw_number(db, "select count(*) from pawl_queue"), 1);
    rows = claim_some(p, store, "orders", 1);
    assert_int_equal(rows.count, 0); /* still this handle's own, under the old epoch */
    int64_t seq = raw_number(db, "select Seq from pawl_queue");
    /* The lease is this process's again, but somebody may have had the row meanwhile. */
    expect_code(p, settle_one(p, store, "orders", seq), PAWL_EGONE);
    pawl_queue_claim again = {.queue     = TEXT("orders"),
                              .due_max   = NOW,
                              .count_max = 1,
                              .seqs      = &seq,
                              .seq_count = 1,
                              .now       = NOW};
    ok(p, pawl_store_queue_claim(store, &again, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, store, "orders", seq));
    sqlite3_close(db);
}

/* Nor may it open the file: SQLite would take no locks in it, and what it commits would go
 * when its parent closes and removes the log. */
static int use_in_child(fixture *p, pawl_store *store)
{
    bool             known;
    pawl_text        id = TEXT("m-0");
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 1, .now = NOW};
    int              wrong = 0;
    const char      *process = test_text("process %ld had it open", (long)getppid());
    wrong += pawl_store_queue_claim(store, &claim, p->arena, &rows, NULL) != PAWL_EINVAL;
    wrong += pawl_store_inbox_known(store, id, &id, 1, &known, NULL) != PAWL_EINVAL;
    wrong += send_one(p, store, "orders", "m-7") != PAWL_EINVAL;
    for (int i = 0; i < 2; i++) {
        pawl_store *own = NULL;
        wrong += open_as(p, p->url, PAWL_OPEN_CREATE, order_tables, 1, &own) != PAWL_EINVAL ||
                 strstr(p->error.text, process) == NULL || strstr(p->error.text, "or exec") == NULL;
        test_now(own);
        test_now(i == 0 ? store : NULL); /* which changes nothing */
    }
    return wrong;
}

ON_FIXTURE(a_child_may_not_use_the_handle, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    int         status;
    send_some(p, 1);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(use_in_child(p, store));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    ok(p, send_one(p, store, "orders", "m-8"));
    assert_int_equal(claim_some(p, store, "orders", 9).count, 2);
}

/* Another file, and this one once its parent had closed it. */
ON_FIXTURE(a_child_opens_what_its_parent_had_not_open, fixture *p)
{
    int         status;
    pawl_store *closed = open_store(p, p->url);
    open_store(p, test_text("%s2", p->url));
    test_now(closed);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pawl_store *own = open_store(p, p->url);
        _exit(send_one(p, own, "orders", "m-1") != PAWL_OK);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(path_number(p->path, "select count(*) from pawl_queue"), 1);
}

/* A child that was forked, and lives on, does not keep its parent alive. */
ON_FIXTURE(a_forked_child_does_not_inherit_the_lease, fixture *p)
{
    child c;
    int   status;
    send_some(p, 1);
    assert_int_equal(pipe(c.to_child), 0);
    assert_int_equal(pipe(c.to_parent), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pawl_store *store = open_store(p, p->url);
        if (claim_some(p, store, "orders", 1).count != 1)
            _exit(1);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            say(c.to_parent[1]);
            close(c.to_child[1]);
            (void)hear(c.to_child[0]);
            _exit(0);
        }
        /* Dies with the lease, once there is somebody who might have it too. */
        _exit(grandchild > 0 && hear(c.to_parent[0]) ? 0 : 2);
    }
    close(c.to_child[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    pawl_store *store = open_store(p, p->url);
    assert_int_equal(claim_some(p, store, "orders", 9).count, 1);
    test_now(store);
    close(c.to_child[1]);
    close(c.to_parent[0]);
    close(c.to_parent[1]);
}

static void claim_again(fixture *p, child *c)
{
    pawl_store *store = open_store(p, p->url);
    if (claim_some(p, store, "orders", 1).count != 1)
        _exit(1);
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
    if (!claim_some(p, store, "orders", 1).is_taken)
        _exit(2);
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
    test_now(store);
}

/* Two processes that lock bytes of two files take each other for dead; the first one finds the new file. */
ON_FIXTURE(a_lock_file_that_was_deleted_is_made_anew, fixture *p)
{
    child             c;
    pawl_worker_info *items;
    size_t            count;
    send_some(p, 1);
    start(p, &c, claim_again);
    const char *name = test_text("%s-pawl", p->path);
    assert_int_equal(unlink(name), 0);
    pawl_store *store = open_store(p, p->url);
    assert_int_equal(claim_some(p, store, "orders", 1).count, 1);
    ok(p, pawl_store_worker_list(store, p->arena, &items, &count, &p->error));
    assert_int_equal(count, 1);
    say(c.to_child[1]);
    assert_true(hear(c.to_parent[0]));
    ok(p, pawl_store_worker_list(store, p->arena, &items, &count, &p->error));
    assert_int_equal(count, 2);
    /* Of both at once. */
    assert_int_equal(unlink(name), 0);
    ok(p, pawl_store_worker_list(store, p->arena, &items, &count, &p->error));
    assert_int_equal(access(name, F_OK), 0);
    finish(&c, true);
}

static void send_when_told(fixture *p, child *c)
{
    pawl_store *store = open_store(p, p->url);
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
    ok(p, send_one(p, store, "orders", "m-1"));
    test_now(store);
}

ON_FIXTURE(another_process_wakes_a_wait, fixture *p)
{
    child c;
    test_now(open_store(p, p->url));
    start(p, &c, send_when_told);
    pawl_store *store = open_store(p, p->url);
    ok(p, pawl_store_wait(store, 0, -1, &p->error));
    say(c.to_child[1]);
    ok(p, pawl_store_wait(store, PAWL_HOURS(10), -1, &p->error));
    finish(&c, false);
    assert_int_equal(claim_some(p, store, "orders", 9).count, 1);
}

/* Committed before the wait began, but after the last one ended. */
ON_FIXTURE(a_commit_before_the_wait_is_noticed, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, pawl_store_wait(store, 0, -1, &p->error));
    assert_int_equal(claim_some(p, store, "orders", 9).count, 0);
    send_some(p, 1);
    ok(p, pawl_store_wait(store, PAWL_HOURS(10), -1, &p->error));
}

/* ---- Between a look and the write that follows it ---------------------------- */

static child *racer; /* goes first when a write transaction is about to begin */

static int at_statement(unsigned kind, void *context, void *statement, void *text)
{
    child *first = racer;
    if (first == NULL || strncmp(text, "begin immediate", 15) != 0)
        return 0;
    racer = NULL;
    say(first->to_child[1]);
    assert_true(hear(first->to_parent[0]));
    return 0;
}

static int trace(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, at_statement, NULL);
}

static void claim_when_told(fixture *p, child *c)
{
    pawl_store *store = open_store(p, p->url);
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
    if (claim_some(p, store, "orders", 1).count != 1)
        _exit(1);
    say(c->to_parent[1]);
    (void)hear(c->to_child[0]);
    ok(p, pawl_store_worker_close(store, NOW, &p->error));
    test_now(store);
}

/* Both saw that it is nobody's; the second looks again before it takes it. */
ON_FIXTURE(a_queue_that_was_just_taken_is_not_taken_from_who_lives, fixture *p)
{
    child c;
    send_some(p, 2);
    start(p, &c, claim_when_told);
    assert_int_equal(sqlite3_auto_extension((void (*)(void))trace), SQLITE_OK);
    pawl_store *store = open_store(p, p->url);
    sqlite3_cancel_auto_extension((void (*)(void))trace);
    racer                = &c;
    pawl_queue_rows rows = claim_some(p, store, "orders", 9);
    assert_null(racer);
    assert_true(rows.is_taken);
    assert_int_equal(rows.count, 0);
    finish(&c, false);
    assert_int_equal(claim_some(p, store, "orders", 9).count, 2);
}

/* The operations of the connection, and a process that ends behind the look at the workers' rows. */
static const pawl__sql_ops *real_ops;
static child               *ending;
static bool                 is_killed;

static pawl_code look_late(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                           pawl_error *error)
{
    if (ending != NULL)
        finish(ending, is_killed);
    ending = NULL;
    return real_ops->which_are_alive(store, lives, count, error);
}

static size_t count_crashed(fixture *p, bool by_kill)
{
    pawl_worker_info *items;
    size_t            count;
    child             c;
    send_some(p, 1);
    start(p, &c, claim_and_wait);
    pawl_store      *store = open_store(p, p->url);
    pawl__sql_store *own   = (pawl__sql_store *)store;
    real_ops               = own->ops;
    pawl__sql_ops ops      = *real_ops;
    ops.which_are_alive    = look_late;
    own->ops               = &ops;
    ending                 = &c;
    is_killed              = by_kill;
    ok(p, pawl_store_worker_crashed(store, p->arena, &items, &count, &p->error));
    own->ops = real_ops;
    assert_null(ending);
    return count;
}

ON_FIXTURE(a_process_that_ended_during_the_look_has_not_crashed, fixture *p)
{
    assert_int_equal(count_crashed(p, false), 0);
}

ON_FIXTURE(a_process_that_is_killed_during_the_look_has_crashed, fixture *p)
{
    assert_int_equal(count_crashed(p, true), 1);
}

/* Many looks at the file later: none of them shortens it. */
ON_FIXTURE(a_wait_that_nothing_ends_lasts_its_time, fixture *p)
{
    pawl_store     *store    = open_store(p, p->url);
    const int64_t   duration = PAWL_MILLISECONDS(60);
    struct timespec begin, end;
    ok(p, pawl_store_wait(store, 0, -1, &p->error));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    ok(p, pawl_store_wait(store, duration, -1, &p->error));
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true((end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000 >=
                duration);
}
