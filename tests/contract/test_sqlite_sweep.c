/* test_sqlite_sweep.c - a sweep that fails part-way says so and leaves all rows, and dead
 * processes' workers go a bounded number at a time (E34, O19, E28).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/fault_memory.h"
#include "support/tests.h"

#include <sys/wait.h>

typedef struct swept {
    int64_t   count;
    bool      more;
    pawl_code code;
} swept;

static swept sweep_at(fixture *p, pawl_store *store, pawl_time before, size_t count_max)
{
    swept      result = {.count = -1};
    pawl_sweep what   = {.inbox_before   = before,
                         .outbox_before  = before,
                         .workers_before = before,
                         .count_max      = count_max};
    result.code       = pawl_store_sweep(store, &what, &result.count, &result.more, &p->error);
    return result;
}

static void mark(fixture *p, pawl_store *store, const char *id, pawl_time at)
{
    COMMIT_OK(p, store, inbox_entry, NOW, .endpoint = TEXT("orders"),
              .message_id = pawl_text_of(id), .at = at);
}

static void dispatch(fixture *p, pawl_store *store)
{
    COMMIT_OK(p, store, outbox_add, NOW, .dispatch_id = {uuid_of(1)}, .source = TEXT("S"),
              .version = 1, .endpoint = TEXT("orders"), .destination = TEXT("billing"),
              .message = message_of("m-1"), .at = NOW);
    sqlite3 *db = raw_open(p->path);
    raw_run(db, "update pawl_outbox set State = 'dispatched', DispatchedAt = At");
    sqlite3_close(db);
}

/* A worker whose process ended without a word. */
static void leave_worker(fixture *p)
{
    int   status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)open_store(p, p->url);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int64_t workers(fixture *p)
{
    return path_number(p->path, "select count(*) from pawl_workers where Process <> 0");
}

ON_FIXTURE(e28_dead_workers_go_a_bounded_number_at_a_time, fixture *p)
{
    for (int i = 0; i < 3; i++)
        leave_worker(p);
    pawl_store *store = open_store(p, p->url);
    assert_int_equal(workers(p), 4);
    swept result = sweep_at(p, store, NOW, 2); /* both workers were seen at that time, not before */
    assert_int_equal(result.code, PAWL_OK);
    assert_int_equal(result.count, 0);
    assert_false(result.more);
    result = sweep_at(p, store, NOW + 1, 2);
    assert_int_equal(result.code, PAWL_OK);
    assert_int_equal(result.count, 2);
    assert_true(result.more);
    assert_int_equal(workers(p), 2);
    result = sweep_at(p, store, NOW + 1, 2);
    assert_int_equal(result.code, PAWL_OK);
    assert_int_equal(result.count, 1);
    assert_false(result.more);
    assert_int_equal(workers(p), 1);
}

/* Marks of a clock that was ahead: more than a sweep looks at stand before the old ones. */
ON_FIXTURE(e34_old_marks_go_from_behind_many_newer_ones, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    sqlite3    *db    = raw_open(p->path);
    raw_run(db,
            "insert into pawl_inbox (Endpoint, MessageId, Outcome, At) with recursive n (n) as "
            "(select 1 union all select n + 1 from n where n < 36000) select 'orders', 'n-' || n, "
            "'handled', case n > 35990 when true then 1 else 7000000000000000 end from n");
    sqlite3_close(db);
    swept result;
    for (int i = 0; i < 2; i++) {
        result = sweep_at(p, store, NOW, 3);
        assert_int_equal(result.code, PAWL_OK);
        assert_int_equal(result.count, 0);
        assert_false(result.more);
        mark(p, store, i == 0 ? "m-0" : "m-1", NOW + 1);
    }
    for (int i = 0; i < 5; i++) {
        result = sweep_at(p, store, NOW, 3);
        assert_int_equal(result.code, PAWL_OK);
        assert_int_equal(result.count, i < 3 ? 3 : i == 3);
        assert_int_equal(result.more, i < 4);
    }
    assert_int_equal(path_number(p->path, "select count(*) from pawl_inbox"), 35992);
}

/* ---- Failures -------------------------------------------------------------------- */

/* A row of each kind, old enough to be swept. */
static pawl_store *open_with_old_rows(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    mark(p, store, "m-1", NOW);
    dispatch(p, store);
    test_now(store);
    leave_worker(p);
    return open_store(p, p->url);
}

static int64_t old_rows(fixture *p)
{
    return path_number(p->path, "select (select count(*) from pawl_inbox) + "
                                "(select count(*) from pawl_outbox)") +
           workers(p) - 1;
}

static void expect_nothing_swept(fixture *p, swept result, const char *label)
{
    if (result.code == PAWL_OK || result.count != 0 || result.more)
        fail_msg("%s: %s, %d rows%s", label, pawl_code_name(result.code), (int)result.count,
                 result.more ? ", more are left" : "");
    if (old_rows(p) != 3)
        fail_msg("%s: %d rows are left", label, (int)old_rows(p));
}

ON_FIXTURE(e34_a_sweep_that_fails_leaves_everything, fixture *p)
{
    static const char *const tables[] = {"pawl_inbox", "pawl_outbox", "pawl_workers"};
    pawl_store              *store    = open_with_old_rows(p);
    for (size_t i = 0; i < COUNT(tables); i++) {
        sqlite3 *db = raw_open(p->path);
        raw_run(
            db,
            test_text("create trigger no before delete on %s begin select raise(abort, 'no'); end",
                      tables[i]));
        expect_nothing_swept(p, sweep_at(p, store, NOW + 1, 9), tables[i]);
        raw_run(db, "drop trigger no");
        sqlite3_close(db);
    }
    swept result = sweep_at(p, store, NOW + 1, 9);
    assert_int_equal(result.code, PAWL_OK);
    assert_int_equal(result.count, 3);
}

ON_FIXTURE(e34_a_sweep_without_memory_leaves_everything, fixture *p)
{
    pawl_store *store = open_with_old_rows(p);
    swept       result;
    fault_memory_install();
    for (long n = 1;; n++) {
        const char *label = test_text("allocation %ld", n);
        fault_memory_begin(n);
        result = sweep_at(p, store, NOW + 1, 9);
        if (!fault_memory_end())
            break;
        expect_nothing_swept(p, result, label);
    }
    pawl_allocator_set(NULL);
    assert_int_equal(result.code, PAWL_OK);
    assert_int_equal(result.count, 3);
}

static bool is_interrupting;

/* As the statement on the marks begins: the step to its second row fails. */
static int at_begin(unsigned kind, void *context, void *statement, void *text)
{
    if (is_interrupting && strstr(sqlite3_sql(statement), "inbox") != NULL)
        sqlite3_interrupt(context);
    return 0;
}

static int trace(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, at_begin, db);
}

ON_FIXTURE(e34_marks_that_cannot_be_read_are_no_end_of_marks, fixture *p)
{
    assert_int_equal(sqlite3_auto_extension((void (*)(void))trace), SQLITE_OK);
    pawl_store *store = open_store(p, p->url);
    sqlite3_cancel_auto_extension((void (*)(void))trace);
    mark(p, store, "m-1", NOW + 5);
    mark(p, store, "m-2", NOW);
    is_interrupting = true;
    swept result    = sweep_at(p, store, NOW + 1, 9);
    is_interrupting = false;
    assert_int_not_equal(result.code, PAWL_OK);
    result = sweep_at(p, store, NOW + 1, 9);
    assert_int_equal(result.code, PAWL_OK);
    assert_int_equal(result.count, 1);
}
