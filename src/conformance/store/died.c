/* died.c - workers whose process crashed: they are reported until their rows are ended, and the record of the message
 * that they were handling is kept.
 *
 * If processes share the store, a child process crashes; otherwise a handle is closed without ending its worker, which
 * such a store treats as a crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES_MAX 400 /* 20 s of waiting */

typedef void last_words(suite *s, pawl_store *store);

static pawl_worker_id say_and_stay(suite *s, last_words *say)
{
    pawl_store *store = suite_open(s);
    suite_send(s, store, TEXT("probe"), "m-0", SUITE_NOW);
    say(s, store);
    return pawl_store_worker(store);
}

/* The child ends without closing anything. */
static _Noreturn void live_and_die(suite *s, last_words *say, int to)
{
    pawl_worker_id worker;
    if (setjmp(s->failed) != 0)
        _exit(1);
    worker = say_and_stay(s, say);
    _exit(write(to, &worker, sizeof worker) == (ssize_t)sizeof worker ? 0 : 1);
}

static pawl_worker_id die_in_a_child(suite *s, last_words *say)
{
    pawl_worker_id worker = {{{0}}};
    int            status = -1, ends[2];
    EXPECT(s, s->store_count == 0 && pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0)
        live_and_die(s, say, ends[1]);
    close(ends[1]);
    ssize_t size = read(ends[0], &worker, sizeof worker);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    EXPECT(s, child > 0 && status == 0 && size == (ssize_t)sizeof worker);
    return worker;
}

/* Opens a worker in a child, lets it write its last record, and kills it. */
static pawl_worker_id die(suite *s, last_words *say)
{
    pawl_worker_id worker    = die_in_a_child(s, say);
    pawl_store    *look      = suite_open_bare(s);
    bool           is_shared = suite_queue(s, look, TEXT("probe")).count > 0;
    if (!is_shared) {
        worker = say_and_stay(s, say);
        suite_close(s, s->stores[s->store_count - 1]);
    }
    return worker;
}

static void say_nothing(suite *s, pawl_store *store)
{
    (void)s;
    (void)store;
}

typedef struct found {
    pawl_worker_info *items;
    size_t            count;
} found;

static found list_died(suite *s, pawl_store *store)
{
    found rows = {0};
    if (pawl_store_worker_crashed(store, s->arena, &rows.items, &rows.count, &s->error) ==
        PAWL_EUNSUPPORTED)
        suite_not_applicable(s, "the driver has no entry worker_crashed");
    EXPECT_CODE(s, s->error.code, PAWL_OK);
    return rows;
}

/* A server takes a moment to notice that a session has ended. */
static void wait_a_moment(suite *s, pawl_store *store, unsigned tries)
{
    int64_t time = PAWL_MILLISECONDS(tries < 50 ? 1 + (int64_t)tries : 50);
    EXPECT_OK(s, pawl_store_wait(store, time, -1, &s->error));
}

static found await_died(suite *s, pawl_store *store)
{
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        pawl_arena_point start = pawl_arena_position(s->arena);
        found            rows  = list_died(s, store);
        if (rows.count > 0)
            return rows;
        pawl_arena_rewind(s->arena, start);
        wait_a_moment(s, store, tries);
    }
    suite_fail(s, __FILE__, __LINE__,
               "the store has not reported the crashed worker after %d tries", TRIES_MAX);
}

static void end_in_its_name(suite *s, pawl_worker_id worker)
{
    pawl_store *by = suite_open_bare(s);
    pawl_store_worker_set(by, worker);
    EXPECT_OK(s, pawl_store_worker_close(by, SUITE_NOW, &s->error));
    suite_close(s, by);
}

static void a_worker_of_a_crashed_process_is_listed_until_another_worker_closes_it(suite *s)
{
    pawl_worker_id dead   = die(s, say_nothing);
    pawl_store    *a      = suite_open(s);
    found          rows   = await_died(s, a);
    size_t         living = 0;
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, pawl_uuid_compare(rows.items[0].id.uuid, dead.uuid) == 0);
    EXPECT_TEXT(s, rows.items[0].endpoint, TEXT("suite"));
    EXPECT_EQ(s, rows.items[0].epoch, 1);
    EXPECT_OK(s, pawl_store_worker_list(a, s->arena, &rows.items, &living, &s->error));
    EXPECT_EQ(s, living, 1);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).workers, 1);
    pawl_store *b = suite_open(s); /* frees its leases, but still reports it */
    EXPECT_EQ(s, list_died(s, b).count, 1);
    end_in_its_name(s, dead);
    EXPECT_EQ(s, list_died(s, a).count, 0);
    EXPECT_EQ(s, list_died(s, b).count, 0);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, b, TEXT("orders"), SUITE_NOW, 1).count, 1);
}

static void a_worker_that_was_closed_is_not_listed_as_crashed(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_EQ(s, list_died(s, b).count, 0);
    suite_end_worker(s, a);
    suite_close(s, a);
    EXPECT_EQ(s, list_died(s, b).count, 0);
}

static void close_and_await(suite *s, pawl_store *store, pawl_store *living)
{
    suite_close(s, store);
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        pawl_arena_point  start = pawl_arena_position(s->arena);
        pawl_worker_info *items = NULL;
        size_t            count = 0;
        EXPECT_OK(s, pawl_store_worker_list(living, s->arena, &items, &count, &s->error));
        if (count == 1)
            return;
        pawl_arena_rewind(s->arena, start);
        wait_a_moment(s, living, tries);
    }
    suite_fail(s, __FILE__, __LINE__,
               "after %d tries a worker whose handle was closed is still listed", TRIES_MAX);
}

/* A server may end one session of a living process. A restarted container has the host and process id of the earlier
 * one, but its workers started after that one was last seen. */
static void a_worker_is_not_listed_as_crashed_while_its_process_lives(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    if ((pawl_store_promises(a) & PAWL_STORE_ROW_LOCKS) == 0)
        suite_not_applicable(s, "the store does not promise PAWL_STORE_ROW_LOCKS");
    EXPECT_EQ(s, list_died(s, a).count, 0);
    close_and_await(s, b, a);
    EXPECT_EQ(s, list_died(s, a).count, 0);
    pawl_store *c = suite_open(s); /* frees the leases of the dead worker */
    EXPECT_EQ(s, list_died(s, c).count, 0);
    suite_end_worker(s, c);
    pawl_store *later = suite_open_bare(s);
    EXPECT_OK(s, pawl_store_worker_open(later, TEXT("suite"), TEXT("[]"),
                                        SUITE_NOW + PAWL_SECONDS(1), &s->error));
    close_and_await(s, a, later);
    EXPECT_EQ(s, list_died(s, later).count, 2);
}

static void the_retention_sweep_deletes_the_rows_of_workers_that_crashed_long_ago(suite *s)
{
    die(s, say_nothing);
    pawl_store *a     = suite_open(s);
    int64_t     count = 0;
    bool        more  = false;
    pawl_sweep  sweep = {.inbox_before   = PAWL_TIME_MIN,
                         .outbox_before  = PAWL_TIME_MIN,
                         .workers_before = SUITE_NOW - PAWL_DAYS(3650),
                         .count_max      = 9};
    EXPECT_EQ(s, await_died(s, a).count, 1);
    EXPECT_OK(s, pawl_store_sweep(a, &sweep, &count, &more, &s->error));
    EXPECT_EQ(s, list_died(s, a).count, 1);
    sweep.workers_before = SUITE_NOW + PAWL_DAYS(3650);
    EXPECT_OK(s, pawl_store_sweep(a, &sweep, &count, &more, &s->error));
    EXPECT_EQ(s, count, 1);
    EXPECT_EQ(s, list_died(s, a).count, 0);
}

/* Before a worker runs a handler alone, it records that in the row, and claims the row again. */
static void mark_a_message(suite *s, pawl_store *store)
{
    suite_send(s, store, TEXT("orders"), "m-1", SUITE_NOW);
    suite_send(s, store, TEXT("orders"), "m-2", SUITE_NOW);
    pawl_queue_rows  rows  = suite_claim(s, store, TEXT("orders"), SUITE_NOW, 1);
    int64_t          seq   = rows.items[0].seq;
    pawl_queue_claim claim = {.queue     = TEXT("orders"),
                              .due_max   = SUITE_NOW,
                              .count_max = 1,
                              .seqs      = &seq,
                              .seq_count = 1,
                              .now       = SUITE_NOW};
    COMMIT_ONE(s, store, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = TEXT("orders"),
               .seq = seq, .due = SUITE_NOW, .crashes = 1, .error = TEXT("in hand"),
               .history = TEXT("[{\"attempt\":1}]"));
    READ_ROWS(s, pawl_store_queue_claim(store, &claim, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].crashes, 1);
}

static void a_messages_in_flight_marker_survives_the_crash_of_its_process(suite *s)
{
    die(s, mark_a_message);
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, await_died(s, a).count, 1);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 9);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("m-1"));
    EXPECT_EQ(s, rows.items[0].crashes, 1);
    EXPECT_EQ(s, rows.items[0].attempts, 0);
    EXPECT_TEXT(s, rows.items[0].history, TEXT("[{\"attempt\":1}]"));
    EXPECT_TEXT(s, rows.items[1].message.id, TEXT("m-2"));
    EXPECT_EQ(s, rows.items[1].crashes, 0);
}

/* Before a worker runs a flush alone, it records that in a stream of the partition. */
static void mark_a_flush(suite *s, pawl_store *store)
{
    pawl_message            crate = suite_message(s, TEXT("m-1"));
    pawl_leased_batch       taken = {.count = 0};
    pawl_leased_batch_claim claim = {.partition  = TEXT("crates/red"),
                                     .session    = {suite_uuid(1)},
                                     .types      = &crate.type,
                                     .type_count = 1,
                                     .now        = SUITE_NOW,
                                     .lease      = PAWL_MINUTES(5)};
    COMMIT_ONE(s, store, aggregator_add, .name = TEXT("crates"), .partition = TEXT("crates/red"),
               .key = TEXT("m-1"), .message = crate, .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    READ_ROWS(s, pawl_store_leased_batch_claim(store, &claim, s->arena, &taken, &s->error), taken);
    EXPECT_EQ(s, taken.count, 1);
    COMMIT_ONE(s, store, event_append, .stream = TEXT(PAWL_ISOLATED_STREAMS "/crates/red"),
               .version = 1, .is_first = true,
               .event = {.type         = TEXT(PAWL_ISOLATED_FLUSH),
                         .type_version = 1,
                         .headers      = TEXT("{}"),
                         .body         = TEXT("[{\"attempt\":1}]"),
                         .at           = SUITE_NOW});
}

/* After a crash the next worker can claim the rows although their lease has not expired, and finds the record. If two
 * workers append the next record, one gets a conflict. */
static void a_flushs_in_flight_marker_survives_the_crash_of_its_process(suite *s)
{
    pawl_text              type = suite_message(s, TEXT("m-1")).type;
    const pawl_event_query last = {
        .stream = TEXT(PAWL_ISOLATED_STREAMS "/crates/red"), .is_backward = true, .count_max = 1};
    pawl_event_rows        rows = {.count = 0};
    pawl_aggregator_counts gate = {.all = 0};
    die(s, mark_a_flush);
    pawl_store *look = suite_open_bare(s);
    EXPECT_EQ(s, await_died(s, look).count, 1);
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_OK(s, pawl_store_aggregator_counts(a, TEXT("crates/red"), &type, 1, SUITE_NOW, &gate,
                                              &s->error));
    EXPECT_EQ(s, gate.ready, 1);
    READ_ROWS(s, pawl_store_event_list(b, &last, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].version, 1);
    EXPECT_TEXT(s, rows.items[0].event.body, TEXT("[{\"attempt\":1}]"));
    pawl_event_append append  = {.stream   = last.stream,
                                 .version  = 2,
                                 .is_first = true,
                                 .event    = {.type         = TEXT(PAWL_ISOLATED_FLUSH),
                                              .type_version = 1,
                                              .headers      = TEXT("{}"),
                                              .body         = TEXT("[]"),
                                              .at           = SUITE_NOW}};
    pawl_changes      changes = {
             .group_count = 1, .unit_count = 1, .now = SUITE_NOW, .event_append = {&append, 1}};
    EXPECT_OK(s, pawl_store_commit(a, &changes, NULL, &s->error));
    EXPECT_CODE(s, pawl_store_commit(b, &changes, NULL, &s->error), PAWL_ECONFLICT);
}

/* ---- Of what it died -------------------------------------------------------- */

static int64_t note(suite *s, pawl_store *store, const pawl_worker_crash *death)
{
    int64_t count = -1;
    EXPECT_OK(s, pawl_store_worker_note_crash(store, death, SUITE_NOW, &count, &s->error));
    return count;
}

static pawl_text text_of(suite *s, pawl_store *store, pawl_worker_id worker)
{
    pawl_text text = TEXT("not written");
    EXPECT_OK(s, pawl_store_worker_crash(store, worker, s->arena, &text, &s->error));
    return text;
}

/* In stores that belong to one process, the living worker has the same process id as the dead one. */
static void how_a_process_crashed_is_recorded_once_for_its_crashed_workers_only(suite *s)
{
    pawl_worker_id    dead   = die(s, say_nothing);
    pawl_store       *living = suite_open(s), *a = suite_open_bare(s);
    pawl_worker_crash death = {.pid    = await_died(s, a).items[0].pid,
                               .signal = SIGABRT,
                               .by     = TEXT("ann"),
                               .reason = TEXT("an \"assert\"")};
    pawl_worker_crash other = {.pid = death.pid + 1, .exit_code = 7, .by = TEXT("bob")};
    EXPECT_TEXT(s, text_of(s, a, dead), TEXT(""));
    EXPECT_EQ(s, note(s, a, &other), 0);
    EXPECT_EQ(s, note(s, a, &death), 1);
    other.pid = death.pid;
    EXPECT_EQ(s, note(s, a, &other), 0);
    EXPECT_TEXT(s, text_of(s, living, dead),
                suite_printf(s, "was killed by signal %d (SIGABRT): an \"assert\"", SIGABRT));
    EXPECT_TEXT(s, text_of(s, a, pawl_store_worker(living)), TEXT(""));
    const pawl_event_query all  = {.type = TEXT(PAWL_WORKER_CRASHED)};
    pawl_event_rows        rows = {.count = 0};
    READ_ROWS(s, pawl_store_events(a, &all, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, suite_text_has(rows.items[0].event.headers, TEXT("\"by\":\"ann\"")));
    end_in_its_name(s, dead);
    EXPECT(s, text_of(s, a, dead).size > 0); /* ending the dead worker does not remove the note */
}

static void a_record_of_how_a_process_crashed_must_name_its_author(suite *s)
{
    die(s, say_nothing);
    pawl_store       *a     = suite_open_bare(s);
    int64_t           count = -1;
    pawl_worker_info  dead  = await_died(s, a).items[0];
    pawl_worker_crash death = {.pid = dead.pid};
    EXPECT_CODE(s, pawl_store_worker_note_crash(a, &death, SUITE_NOW, &count, &s->error),
                PAWL_EINVAL);
    EXPECT_EQ(s, count, 0);
    death.by = TEXT("ann");
    EXPECT_EQ(s, note(s, a, &death), 1);
    EXPECT_TEXT(s, text_of(s, a, dead.id), TEXT("exited with code 0"));
}

/* A note under the process's own id needs no worker row: it may come before the store notices the crash, and after the
 * row was ended. */
static void how_a_process_crashed_can_be_recorded_under_the_processs_own_id(suite *s)
{
    const pawl_uuid   one = suite_saga_id(1).uuid, two = suite_saga_id(2).uuid;
    pawl_text         text  = TEXT("not written");
    pawl_store       *a     = suite_open_bare(s);
    pawl_worker_crash death = {.pid = 7, .process = one, .signal = SIGABRT, .by = TEXT("ann")};
    EXPECT_OK(s, pawl_store_process_crash(a, one, s->arena, &text, &s->error));
    EXPECT_TEXT(s, text, TEXT(""));
    EXPECT_EQ(s, note(s, a, &death), 1);
    death.signal = SIGSEGV;
    EXPECT_EQ(s, note(s, a, &death), 0);
    EXPECT_OK(s, pawl_store_process_crash(a, one, s->arena, &text, &s->error));
    EXPECT_TEXT(s, text, suite_printf(s, "was killed by signal %d (SIGABRT)", SIGABRT));
    EXPECT_OK(s, pawl_store_process_crash(a, two, s->arena, &text, &s->error));
    EXPECT_TEXT(s, text, TEXT(""));
}

static const suite_case cases[] = {
    {"E26 a worker of a crashed process is listed until another worker closes it",
     a_worker_of_a_crashed_process_is_listed_until_another_worker_closes_it},
    {"E26 a worker that was closed is not listed as crashed",
     a_worker_that_was_closed_is_not_listed_as_crashed},
    {"E26 a worker is not listed as crashed while its process lives",
     a_worker_is_not_listed_as_crashed_while_its_process_lives},
    {"E26 the retention sweep deletes the rows of workers that crashed long ago",
     the_retention_sweep_deletes_the_rows_of_workers_that_crashed_long_ago},
    {"E26 a message's in-flight marker survives the crash of its process",
     a_messages_in_flight_marker_survives_the_crash_of_its_process},
    {"E26 a flush's in-flight marker survives the crash of its process",
     a_flushs_in_flight_marker_survives_the_crash_of_its_process},
    {"E26 how a process crashed is recorded once, for its crashed workers only",
     how_a_process_crashed_is_recorded_once_for_its_crashed_workers_only},
    {"E26 a record of how a process crashed must name its author",
     a_record_of_how_a_process_crashed_must_name_its_author},
    {"E26 how a process crashed can be recorded under the process's own id",
     how_a_process_crashed_can_be_recorded_under_the_processs_own_id},
};

const suite_cases cases_died = SUITE_CASES("crashed worker", cases);
