/* test_postgres_timeout.c - leases of timeouts on PostgreSQL, which no index has:
 * the marks that they are found by, and the indexes of an earlier version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_fixture.h"
#include "store/postgres/postgres.h"
#include "support/fault_memory.h"
#include "support/tests.h"

#define LEASE PAWL_MINUTES(5)
#define FAR PAWL_DAYS(30)

#define IS_LEASED "\"Owner\" is not null"
#define IS_MARK "\"Name\" like 'timeouts:%'"

static int64_t count_of(fixture *p, const char *table, const char *condition)
{
    return raw_number(p->pg, test_text("select count(*) from pawl_%s where %s", table, condition));
}

static int64_t leased_count(fixture *p)
{
    return count_of(p, "timeouts", IS_LEASED);
}

/* `count` timeouts of the destination, the first due at `due`, one a second. */
static void add_timeouts(fixture *p, const char *destination, pawl_time due, int count)
{
    raw_run(
        p->pg,
        test_text(
            "insert into pawl_timeouts select gen_random_uuid(), 1, null, '', '', '%s', "
            "'epoch'::timestamptz + interval '1 microsecond' * %lld + interval '1 second' * n, 0, "
            "null, null, null, '', '' from generate_series(0, %d) as n",
            destination, (long long)due, count - 1));
}

static pawl_timeout_claim claim_of(const char *destination, pawl_time due_max, size_t count,
                                   unsigned owner)
{
    return (pawl_timeout_claim){.destination = pawl_text_of(destination),
                                .due_max     = due_max,
                                .count_max   = count,
                                .owner       = {uuid_of(owner)},
                                .now         = NOW,
                                .lease       = LEASE};
}

static pawl_timeout_rows claim(fixture *p, pawl_store *store, pawl_timeout_claim wanted)
{
    pawl_timeout_rows rows;
    ok(p, pawl_store_timeout_claim(store, &wanted, p->arena, &rows, &p->error));
    return rows;
}

static int64_t reap(fixture *p, pawl_store *store, pawl_time now)
{
    int64_t count = -1;
    ok(p, pawl_store_timeout_reap(store, now, &count, &p->error));
    return count;
}

/* ---- Marks -------------------------------------------------------------- */

/* Business time may be ahead of machine time: what was leased there is reaped as
 * soon as its lease is over, and nobody looks so far once no lease is there. */
ON_FIXTURE(leases_ahead_of_now_are_reaped, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    add_timeouts(p, "orders", NOW + FAR, 5);
    add_timeouts(p, "elsewhere", NOW + FAR, 1);
    pawl_time due_max = NOW + FAR + PAWL_SECONDS(2);
    assert_int_equal(claim(p, store, claim_of("orders", due_max, 9, 70)).count, 3);
    assert_int_equal(count_of(p, "leases", IS_MARK), 1);
    assert_int_equal(reap(p, store, NOW + LEASE - 1), 0);
    assert_int_equal(leased_count(p), 3);
    assert_int_equal(reap(p, store, NOW + LEASE), 3);
    assert_int_equal(leased_count(p), 0);
    /* The mark speaks of all leases that end within its time. */
    assert_int_equal(reap(p, store, NOW + LEASE + PAWL_MINUTES(10)), 0);
    assert_int_equal(count_of(p, "leases", IS_MARK), 0);
    assert_int_equal(claim(p, store, claim_of("orders", due_max, 9, 71)).count, 3);
    assert_int_equal(count_of(p, "leases", IS_MARK), 1);
}

static int64_t mark_version(fixture *p)
{
    return raw_number(p->pg, "select xmin from pawl_leases where " IS_MARK);
}

/* A mark is written when the due times leave it, not with each claim. */
ON_FIXTURE(a_mark_is_written_once_a_minute, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    add_timeouts(p, "orders", NOW - PAWL_SECONDS(300), 200);
    assert_int_equal(claim(p, store, claim_of("orders", NOW, 10, 70)).count, 10);
    int64_t version = mark_version(p);
    assert_int_equal(claim(p, store, claim_of("orders", NOW, 40, 71)).count, 40);
    assert_int_equal(mark_version(p), version);
    assert_int_equal(claim(p, store, claim_of("orders", NOW, 40, 72)).count, 40);
    assert_int_not_equal(mark_version(p), version);
    version = mark_version(p);
    /* Another handle looks at earlier ones, too. */
    pawl_store *second = open_store(p, p->url);
    add_timeouts(p, "orders", NOW - PAWL_SECONDS(310), 3);
    assert_int_equal(claim(p, second, claim_of("orders", NOW, 3, 73)).count, 3);
    assert_int_equal(mark_version(p), version);
    pawl_store *third = open_store(p, p->url);
    add_timeouts(p, "orders", NOW - PAWL_SECONDS(400), 1);
    assert_int_equal(claim(p, third, claim_of("orders", NOW, 1, 74)).count, 1);
    assert_int_not_equal(mark_version(p), version);
    /* All of them lie between its ends. When the leases are over the earliest is claimed
     * again, with a mark of its own. */
    pawl_timeout_claim later = claim_of("orders", NOW, 1, 75);
    later.now += PAWL_MINUTES(10);
    assert_int_equal(claim(p, store, later).count, 1);
    assert_int_equal(count_of(p, "leases", IS_MARK), 2);
    assert_int_equal(reap(p, store, NOW + LEASE), 93);
    assert_int_equal(leased_count(p), 1);
}

/* A claim for any destination marks each of them; names are texts of any kind. */
ON_FIXTURE(each_destination_has_a_mark, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    add_timeouts(p, "orders", NOW - PAWL_SECONDS(3), 1);
    add_timeouts(p, "a:b % _\\ caf\xC3\xA9", NOW - PAWL_DAYS(300), 1);
    add_timeouts(p, "timeouts:", NOW - PAWL_DAYS(9), 1);
    assert_int_equal(claim(p, store, claim_of("", NOW, 9, 70)).count, 3);
    assert_int_equal(count_of(p, "leases", IS_MARK), 3);
    assert_int_equal(reap(p, store, NOW + LEASE), 3);
    assert_int_equal(leased_count(p), 0);
}

ON_FIXTURE(odd_due_times_are_marked, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    add_timeouts(p, "orders", PAWL_TIME_MIN, 1);
    add_timeouts(p, "orders", PAWL_TIME_MAX - 999999, 1);
    assert_int_equal(claim(p, store, claim_of("orders", PAWL_TIME_MAX, 9, 70)).count, 2);
    assert_int_equal(reap(p, store, NOW + LEASE), 2);
    pawl_timeout_claim endless = claim_of("orders", PAWL_TIME_MAX, 9, 71);
    endless.lease              = INT64_MAX;
    assert_int_equal(claim(p, store, endless).count, 2);
    assert_int_equal(reap(p, store, PAWL_TIME_MAX - 1), 0);
    assert_int_equal(leased_count(p), 2);
}

/* ---- Workers that end --------------------------------------------------- */

ON_FIXTURE(a_worker_that_closes_frees_its_own, fixture *p)
{
    pawl_store *first = open_store(p, p->url), *second = open_store(p, p->url);
    add_timeouts(p, "orders", NOW - PAWL_SECONDS(9), 5);
    assert_int_equal(claim(p, first, claim_of("orders", NOW, 2, 70)).count, 2);
    assert_int_equal(claim(p, second, claim_of("orders", NOW, 3, 71)).count, 3);
    ok(p, pawl_store_worker_close(first, NOW, &p->error));
    assert_int_equal(leased_count(p), 3);
    ok(p, pawl_store_worker_close(second, NOW, &p->error));
    assert_int_equal(leased_count(p), 0);
}

/* The session ends without worker_close; the server has noticed when this returns. */
static void die(fixture *p, pawl_store *store)
{
    char worker[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(store->worker.uuid, worker);
    const char *sql = test_text("select count(*) from pg_locks as l join pawl_workers as w "
                                "on w.\"Process\" = l.classid::bigint << 32 | l.objid::bigint "
                                "where l.locktype = 'advisory' and w.\"Id\" = '%s'",
                                worker);
    assert_int_equal(raw_number(p->pg, sql), 1);
    test_now(store);
    raw_wait(p->pg, sql, 0);
}

static const char freed_count[] = "select count(*) from pawl_workers where \"Pid\" < 0";

/* Rows whose Pid says that they were freed, and keeps this process id. */
static int64_t freed_with(fixture *p, int pid)
{
    return raw_number(
        p->pg, test_text("select count(*) from pawl_workers where \"Pid\" <= -(1::bigint << 62) "
                         "and -\"Pid\" & 4194303 = %d",
                         pid));
}

/* The lease of the one timeout is again that of the dead worker. */
static void lease_to(fixture *p, const char *worker)
{
    raw_run(p->pg, test_text("update pawl_timeouts set \"Owner\" = '%s', \"LeaseWorker\" = '%s', "
                             "\"LeaseExpires\" = 'infinity'",
                             worker, worker));
}

/* All rows are looked at once for each death. A worker behind a pooler that was
 * seen again since died anew. */
ON_FIXTURE(a_death_frees_once, fixture *p)
{
    pawl_store *first = open_store(p, p->url), *second = open_store(p, p->url);
    char        dead[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(first->worker.uuid, dead);
    add_timeouts(p, "orders", NOW, 1);
    assert_int_equal(claim(p, first, claim_of("orders", NOW, 9, 70)).count, 1);
    die(p, open_store(p, p->url));
    assert_int_equal(leased_count(p), 1);
    die(p, first);
    assert_int_equal(reap(p, second, NOW), 0);
    assert_int_equal(leased_count(p), 0);
    assert_int_equal(raw_number(p->pg, freed_count), 2);
    lease_to(p, dead);
    assert_int_equal(reap(p, second, NOW), 0);
    open_store(p, p->url);
    assert_int_equal(leased_count(p), 1);
    assert_int_equal(freed_with(p, getpid()), 2);
    raw_run(p->pg, "update pawl_workers set \"Seen\" = \"Seen\" + interval '1 microsecond'");
    open_store(p, p->url);
    assert_int_equal(leased_count(p), 0);
    assert_int_equal(freed_with(p, getpid()), 2);
    raw_run(
        p->pg,
        "update pawl_workers set \"Pid\" = -1767225600000007 where \"Pid\" < 0"); /* of an older program */
    open_store(p, p->url);
    assert_int_equal(freed_with(p, 0), 2);
}

/* Of a worker behind a pooler it is only guessed: while the lease lasts, reaping
 * leaves what it has. */
ON_FIXTURE(reaping_does_not_guess, fixture *p)
{
    pawl_store *first = open_store(p, p->url), *second = open_store(p, p->url);
    add_timeouts(p, "orders", NOW, 1);
    assert_int_equal(claim(p, first, claim_of("orders", NOW, 9, 70)).count, 1);
    die(p, first);
    raw_run(p->pg, "update pawl_workers set \"Process\" = 0, \"Seen\" = 'epoch'");
    assert_int_equal(reap(p, second, NOW + LEASE - 1), 0);
    assert_int_equal(leased_count(p), 1);
    open_store(p, p->url);
    assert_int_equal(leased_count(p), 0);
}

/* A sweep ends a worker that nobody had freed, too. */
ON_FIXTURE(a_swept_worker_frees, fixture *p)
{
    pawl_store *first = open_store(p, p->url), *second = open_store(p, p->url);
    pawl_sweep  sweep = {.inbox_before   = PAWL_TIME_MIN,
                         .outbox_before  = PAWL_TIME_MIN,
                         .workers_before = NOW + 1,
                         .count_max      = 10};
    int64_t     count = 0;
    bool        more  = false;
    add_timeouts(p, "orders", NOW, 1);
    assert_int_equal(claim(p, first, claim_of("orders", NOW, 9, 70)).count, 1);
    die(p, first);
    ok(p, pawl_store_sweep(second, &sweep, &count, &more, &p->error));
    assert_int_equal(count, 1);
    assert_int_equal(leased_count(p), 0);
}

/* ---- Claims ------------------------------------------------------------- */

/* After looks that took long the handle begins where the last rows were, for a while. */
static void look_at_all(pawl_store *store)
{
    pawl__pg *driver = pawl__pg_of(store);
    for (size_t i = 0; i < driver->front_count; i++)
        driver->fronts[i].pause_ms = 0;
}

/* After a claim that was full the next one goes without a look; what is due a
 * little earlier still comes first, and what is not there is not found. */
ON_FIXTURE(full_claims_keep_the_order, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    add_timeouts(p, "orders", NOW - PAWL_SECONDS(60), 60);
    for (unsigned i = 0; i < 25; i++) {
        pawl_time early = NOW - PAWL_SECONDS(60) - (i + 1) * (PAWL_SECONDS(1) / 2);
        assert_int_equal(claim(p, store, claim_of("orders", NOW, 2, 70 + i)).count, 2);
        look_at_all(store);
        add_timeouts(p, "orders", early, 1);
        pawl_timeout_rows rows = claim(p, store, claim_of("orders", NOW, 1, 170 + i));
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.items[0].due, early);
        look_at_all(store);
    }
    assert_int_equal(claim(p, store, claim_of("orders", NOW, 10, 250)).count, 10);
    pawl_timeout_rows rows = claim(p, store, claim_of("orders", NOW, 10, 251));
    assert_int_equal(rows.count, 0);
    assert_int_equal(rows.next_due, PAWL_TIME_MAX);
    add_timeouts(p, "orders", NOW + PAWL_SECONDS(7), 1);
    assert_int_equal(claim(p, store, claim_of("orders", NOW, 10, 252)).next_due,
                     NOW + PAWL_SECONDS(7));
}

/* Whatever allocation fails, a claim that failed leaves nothing leased. */
ON_FIXTURE(a_failed_claim_leases_nothing, fixture *p)
{
    pawl_store        *store  = open_store(p, p->url);
    pawl_timeout_claim wanted = claim_of("orders", NOW, 1000, 70);
    pawl_timeout_rows  rows;
    long               failures = 0;
    add_timeouts(p, "orders", NOW - PAWL_SECONDS(1000), 1000);
    for (long n = 1;; n++) {
        pawl_arena *arena = pawl_arena_create(0);
        assert_non_null(arena);
        fault_memory_begin(n);
        pawl_code code    = pawl_store_timeout_claim(store, &wanted, arena, &rows, &p->error);
        bool      is_over = !fault_memory_was_reached();
        fault_memory_pause();
        if (code == PAWL_OK)
            assert_int_equal(rows.count, 1000);
        else
            assert_int_equal(leased_count(p), 0);
        failures += code != PAWL_OK;
        raw_run(p->pg, "update pawl_timeouts set \"Owner\" = null, \"LeaseExpires\" = null");
        pawl_arena_destroy(arena);
        if (is_over)
            break;
        expect_code(p, code, PAWL_ENOMEM);
    }
    assert_true(failures > 2);
}

/* ---- The indexes of an earlier version ----------------------------------- */

/* Not through pg_indexes: a condition on its definitions is tried on the indexes of every schema,
 * and fails on one that another test drops in that moment. */
static const char index_count[] = "select count(*) from pg_index as i join pg_attribute as a "
                                  "on a.attrelid = i.indexrelid "
                                  "where i.indrelid = 'pawl_timeouts'::regclass "
                                  "and a.attname like 'Lease%'";

ON_FIXTURE(apply_drops_indexes_on_leases, fixture *p)
{
    lines *out = test_zeroed(sizeof *out);
    apply_schema(p, p->url, order_tables, 1);
    assert_int_equal(raw_number(p->pg, index_count), 0);
    raw_run(p->pg, "create index pawl_timeouts_lease on pawl_timeouts (\"LeaseExpires\"); "
                   "create index pawl_timeouts_worker on pawl_timeouts (\"LeaseWorker\")");
    assert_int_equal(raw_number(p->pg, index_count), 2);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_VERIFY, order_tables, 1, out));
    assert_int_equal(out->count, 0);
    test_now(open_store(p, p->url)); /* applies, too */
    assert_int_equal(raw_number(p->pg, index_count), 0);
    assert_int_equal(count_of(p, "schema", "true"), 1);
    ok(p, run_schema(p, p->url, PAWL_SCHEMA_PRINT, order_tables, 1, out));
    assert_non_null(strstr(out->text, "drop index if exists \"pawl_timeouts_lease\";\n"));
    assert_non_null(strstr(out->text, "drop index if exists \"pawl_timeouts_worker\";\n"));
}

/* ---- Claims ------------------------------------------------------------- */

/* A row that another transaction has is not waited for: the next ones are taken. */
ON_FIXTURE(a_claim_passes_over_rows_that_others_have, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    PGconn     *other = raw_open(p->schema);
    add_timeouts(p, "orders", NOW, 3);
    raw_run(other, "begin; select 1 from pawl_timeouts order by \"Due\" limit 1 for update");
    pawl__pg_of(store)->main.deadline_ms = 5000;
    assert_int_equal(claim(p, store, claim_of("orders", NOW + FAR, 9, 70)).count, 2);
    raw_run(other, "commit");
    assert_int_equal(claim(p, store, claim_of("orders", NOW + FAR, 9, 70)).count, 1);
    PQfinish(other);
}

/* ---- The check that goes with the claim of a queue -------------------------------- */

/* A message is claimed, and after that a timeout becomes due: the claim of timeouts finds it only if it asks
 * for itself. */
static size_t claim_both(fixture *p, pawl_store *store, unsigned number, pawl_timeout_claim wanted)
{
    pawl__pg *driver = pawl__pg_of(store);
    /* On a busy machine a check takes as long as one over many dead rows (front.h). */
    for (size_t i = 0; i < driver->front_count; i++)
        driver->fronts[i].pause_ms = 0;
    ok(p, send_one(p, store, "orders", test_text("m-%u", number)));
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 1);
    add_timeouts(p, "orders", NOW, 1);
    return claim(p, store, wanted).count;
}

/* Leases and claims end, and no timeout is left. */
static void end_both(fixture *p, pawl_store *store)
{
    pawl_changes changes = {.now = NOW, ONE_UNIT};
    raw_run(p->pg, "delete from pawl_timeouts");
    changes.counters.messages = 1;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

ON_FIXTURE(the_check_goes_with_the_claim_of_the_queue, fixture *p)
{
    pawl_store        *store  = open_store(p, p->url);
    pawl_timeout_claim wanted = claim_of("orders", NOW, 9, 70);
    /* Not before the handle has claimed timeouts, and not the first time. */
    assert_int_equal(claim_both(p, store, 0, wanted), 1);
    end_both(p, store);
    assert_int_equal(claim_both(p, store, 1, wanted), 1);
    end_both(p, store);
    assert_int_equal(claim_both(p, store, 2, wanted), 0);
    assert_int_equal(claim(p, store, wanted).count, 1); /* the answer serves once */
    end_both(p, store);
    /* Another time is asked for anew, and so is another destination. */
    wanted.due_max = NOW + 1;
    assert_int_equal(claim_both(p, store, 3, wanted), 1);
    end_both(p, store);
    wanted = claim_of("orders", NOW, 9, 70);
    wanted.now++;
    assert_int_equal(claim_both(p, store, 4, wanted), 1);
    end_both(p, store);
    add_timeouts(p, "billing", NOW, 1);
    assert_int_equal(claim_both(p, store, 5, claim_of("billing", NOW, 9, 70)), 1);
    assert_int_equal(claim(p, store, claim_of("orders", NOW, 9, 70)).count, 1);
    end_both(p, store);
}

/* A timeout that is due already is leased by the answer. */
ON_FIXTURE(the_check_with_a_claim_finds_what_is_due, fixture *p)
{
    pawl_store        *store  = open_store(p, p->url);
    pawl_timeout_claim wanted = claim_of("orders", NOW, 9, 70);
    assert_int_equal(claim(p, store, wanted).count, 0);
    for (unsigned i = 0; i < 3; i++) {
        add_timeouts(p, "orders", NOW - PAWL_SECONDS(5), 2);
        assert_int_equal(claim_both(p, store, i, wanted), 3);
        end_both(p, store);
    }
}

ON_FIXTURE(every_sixteenth_check_goes_alone, fixture *p)
{
    pawl_store        *store  = open_store(p, p->url);
    pawl_timeout_claim wanted = claim_of("orders", NOW, 9, 70);
    size_t             alone  = 0;
    assert_int_equal(claim(p, store, wanted).count, 0);
    for (unsigned i = 0; i < 32; i++) {
        alone += claim_both(p, store, i, wanted);
        end_both(p, store);
    }
    assert_int_equal(alone, 2);
}

int main(void)
{
    if (fixture_server() == NULL)
        return fixture_skip();
    fault_memory_install();
    return tests_run(NULL, NULL);
}
