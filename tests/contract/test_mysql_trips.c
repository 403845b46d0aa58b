/* test_mysql_trips.c - how many statements a commit takes on MySQL and MariaDB: changes of one kind go in
 * sets, whatever stands between them. Without memory for a set's text nothing is sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "store/mysql/mysql.h"
#include "support/fault_memory.h"
#include "support/tests.h"
#include "support/thread.h"

#define STREAMS 32 /* of two events each: powers of two */

static pawl_store *open_worker(fixture *p)
{
    pawl_store *store;
    apply(p);
    ok(p, open_at(p, p->url, 20000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

/* The sum of these counters of the store's session so far; pawl_store_native would switch autocommit on. */
static long long status_of(pawl_store *store, const char *names)
{
    MYSQL    *session = pawl__mysql_of(store)->main.mysql;
    long long sum     = 0;
    assert_int_equal(mysql_query(session, test_text("show session status like '%s'", names)), 0);
    MYSQL_RES *rows = mysql_store_result(session);
    for (MYSQL_ROW row; (row = mysql_fetch_row(rows)) != NULL;)
        sum += atoll(row[1]);
    mysql_free_result(rows);
    return sum;
}

/* Rows that were read, and entries of an index that were passed over, which MariaDB alone counts. */
static long long reads_of(pawl_store *store)
{
    return status_of(store, "Handler_read%") + status_of(store, "Handler_icp_attempts");
}

#define LINES 500
#define FEW (LINES / 5)

static void expect_reads(pawl_store *store, long long before, long long max)
{
    long long reads = reads_of(store) - before;
    if (reads > max)
        fail_msg("%lld rows were read, at most %lld are needed", reads, max);
}

static long long statements_of(pawl_store *store)
{
    return status_of(store, "Questions");
}

static long long commit(fixture *p, pawl_store *store, pawl_changes *changes)
{
    pawl_refusals refused = {.arena = p->arena};
    long long     before  = statements_of(store);
    ok(p, pawl_store_commit(store, changes, &refused, &p->error));
    assert_int_equal(refused.count, 0);
    return statements_of(store) - before - 1;
}

/* Two events of each stream, behind the first `version`; statements. */
static long long append(fixture *p, pawl_store *store, int64_t version)
{
    pawl_event_append events[2 * STREAMS];
    char              names[STREAMS][40];
    for (unsigned i = 0; i < 2 * STREAMS; i++) {
        snprintf(names[i / 2], sizeof names[0], "\"stream\" \\%u", i / 2);
        events[i] = (pawl_event_append){.group    = i / 2,
                                        .unit     = i / 2,
                                        .stream   = pawl_text_of(names[i / 2]),
                                        .version  = version + i % 2 + 1,
                                        .is_first = i % 2 == 0,
                                        .event    = {.type           = TEXT("moved"),
                                                     .type_version   = 1,
                                                     .message_id     = TEXT("m"),
                                                     .correlation_id = TEXT("m"),
                                                     .at             = NOW}};
    }
    pawl_changes changes = {.now          = NOW,
                            .unit_count   = STREAMS,
                            .group_count  = STREAMS,
                            .event_append = {.items = events, .count = 2 * STREAMS}};
    return commit(p, store, &changes);
}

/* Begin, fence, the look at the events before, the events, commit; autocommit stays off from commit to begin. */
ON_BOTH(streams_go_on_by_one_look_and_one_set, fixture *p)
{
    pawl_store *store = open_worker(p);
    for (int64_t version = 0; version < 6; version += 2) {
        long long count = append(p, store, version);
        if (version > 2) /* by then all statements are prepared */
            assert_int_equal(count, 5);
    }
}

/* ---- Timeouts ------------------------------------------------------------ */

#define TIMEOUTS 32

/* A timeout of each saga from the `first` one on; statements. */
static long long set_timeouts(fixture *p, pawl_store *store, uint8_t first, pawl_time due)
{
    pawl_timeout_set timeouts[TIMEOUTS];
    for (uint8_t i = 0; i < TIMEOUTS; i++) {
        uint8_t saga = (uint8_t)(first + i);
        timeouts[i]  = (pawl_timeout_set){.id      = {{.bytes = {[0] = (uint8_t)due, [15] = saga}}},
                                          .saga_id = {{.bytes = {[15] = saga}}},
                                          .saga_type   = TEXT("Order"),
                                          .name        = TEXT("patience"),
                                          .destination = TEXT("orders"),
                                          .due         = due};
    }
    pawl_changes changes = {
        .now = NOW, ONE_UNIT, .timeout_set = {.items = timeouts, .count = TIMEOUTS}};
    return commit(p, store, &changes);
}

static long long count_timeouts(fixture *p, int64_t generation)
{
    return raw_number(p->raw,
                      test_text("select count(*) from pawl_timeouts where Generation = %lld",
                                (long long)generation));
}

/* Begin, fence, savepoint, the look for those that are armed, the new ones, commit. Those that are armed are set by the
 * look; of sets with both, each is written as what it is. */
ON_BOTH(timeouts_are_set_by_one_look_and_one_set, fixture *p)
{
    pawl_store *store = open_worker(p);
    (void)set_timeouts(p, store, 1, 1); /* prepares all statements */
    assert_int_equal(set_timeouts(p, store, TIMEOUTS + 1, 2), 6);
    assert_int_equal(count_timeouts(p, 1), 2 * TIMEOUTS);
    assert_int_equal(set_timeouts(p, store, TIMEOUTS + 1, 3), 5);
    assert_int_equal(count_timeouts(p, 2), TIMEOUTS);
    (void)set_timeouts(p, store, 2 * TIMEOUTS - 1, 4); /* two are armed */
    assert_int_equal(count_timeouts(p, 1), 2 * TIMEOUTS - 2);
    assert_int_equal(count_timeouts(p, 2), TIMEOUTS - 2);
    assert_int_equal(count_timeouts(p, 3), 2);
}

/* Each worker asks for them twice a minute: of many timeouts the first of each destination is read, and no other. */
ON_BOTH(e13_destinations_are_found_without_reading_their_timeouts, fixture *p)
{
    pawl_foreign_rows rows;
    pawl_store       *store = open_worker(p);
    for (uint8_t first = 1; first < 6 * TIMEOUTS; first += TIMEOUTS)
        (void)set_timeouts(p, store, first, first);
    raw_run(
        p->raw,
        "insert into pawl_timeouts (Id, Generation, SagaId, SagaType, Name, Destination, Due, Attempts, "
        "CorrelationId, Headers) select concat(Id, left(Destination, 1)), 1, concat(SagaId, 'x'), SagaType, "
        "Name, 'else', Due, 0, '', '' from pawl_timeouts");
    raw_run(p->raw,
            "analyze table pawl_timeouts"); /* as the server does by itself, a moment later */
    long long before = reads_of(store);
    ok(p, pawl_store_timeout_foreign(store, TEXT("orders"), NOW, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 2);
    expect_reads(store, before, 6 * TIMEOUTS);
}

/* ---- Sweeps ---------------------------------------------------------------- */

#define SWEPT 10

/* Old lines are the first ones: of many lines a sweep reads as many as it may delete. */
ON_BOTH(a_sweep_reads_no_line_that_it_may_not_delete, fixture *p)
{
    pawl_store *store = open_worker(p);
    char        sql[400];
    snprintf(
        sql, sizeof sql,
        "insert into pawl_history (Endpoint, Source, MessageId, Type, Kind, Outcome, Version, Attempts, "
        "Duration, At, Error, `Out`) with recursive n (n) as (select 1 union all select n + 1 from n "
        "where n < %d) select 'e', '', n, 't', 'message', 'ok', 0, 1, 0, "
        "if(n <= %d, '2001-01-01', '2031-01-01'), '', '' from n",
        LINES, SWEPT + SWEPT / 2);
    raw_run(p->raw, sql);
    for (int turn = 0; turn < 3; turn++) {
        pawl_sweep sweep  = {.history_before = NOW, .count_max = SWEPT};
        int64_t    count  = 0;
        bool       more   = false;
        long long  before = reads_of(store);
        ok(p, pawl_store_sweep(store, &sweep, &count, &more, &p->error));
        assert_int_equal(count, turn == 0 ? SWEPT : turn == 1 ? SWEPT / 2 : 0);
        assert_int_equal(more, turn < 2); /* of a page that is full some went */
        expect_reads(store, before, LINES / 2);
    }
}

/* ---- A queue ---------------------------------------------------------------- */

/* Of many messages of one due time a page reads its own. */
ON_BOTH(a_page_of_messages_of_one_due_time_reads_no_others, fixture *p)
{
    pawl_store         *store = open_worker(p);
    pawl_queue_messages rows;
    pawl_queue_query    query = {.queue = TEXT("orders"), .count_max = SWEPT};
    pawl_queue_row      after;
    for (int i = 0; i < LINES; i++)
        COMMIT_OK(p, store, queue_send, NOW, .queue = TEXT("orders"),
                  .message = message_of(test_text("m-%d", i)), .due = NOW);
    ok(p, pawl_store_queue_find(store, &query, p->arena, &rows, &p->error));
    after = rows.items[SWEPT - 1].row;
    after.seq += LINES / 2;
    query.after      = &after;
    long long before = reads_of(store);
    ok(p, pawl_store_queue_find(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, SWEPT);
    expect_reads(store, before, FEW);
}

/* Messages 1 to LINES, due one after the other; the first. */
static pawl_queue_row fill_queue(fixture *p, pawl_store *store)
{
    pawl_queue_messages rows;
    pawl_queue_query    query = {.queue = TEXT("orders"), .count_max = 1};
    char                sql[500];
    snprintf(
        sql, sizeof sql,
        "insert into pawl_queue (Queue, Due, Placed, Attempts, Deaths, WaitingSince, MessageId, Type, "
        "CorrelationId, CausationId, Error, Headers, Body) with recursive n (n) as (select 1 union all "
        "select n + 1 from n where n < %d) select 'orders', timestampadd(second, n, '2026-01-01'), "
        "'2026-01-01', n %% 5 = 0, 0, '1970-01-01', n, 't', '', '', '', '', '' from n",
        LINES);
    raw_run(p->raw, sql);
    ok(p, pawl_store_queue_find(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
    return rows.items[0].row;
}

/* From the middle of a queue. */
ON_BOTH(a_page_of_messages_reads_no_others, fixture *p)
{
    pawl_store         *store = open_worker(p);
    pawl_queue_messages rows;
    pawl_queue_row      after = fill_queue(p, store);
    pawl_queue_query    query = {.queue = TEXT("orders"), .after = &after, .count_max = SWEPT};
    after.due += PAWL_SECONDS(LINES / 2);
    long long before = reads_of(store);
    ok(p, pawl_store_queue_find(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, SWEPT);
    expect_reads(store, before, FEW);
}

/* The rows in front of them are due. */
ON_BOTH(retried_messages_are_found_without_reading_those_due, fixture *p)
{
    pawl_store        *store = open_worker(p);
    pawl_queue_rows    rows;
    pawl_retried_query query = {
        .queue = TEXT("orders"), .type = TEXT("t"), .scan_max = SWEPT, .count_max = SWEPT};
    query.due_after  = fill_queue(p, store).due + PAWL_SECONDS(LINES / 2);
    long long before = reads_of(store);
    ok(p, pawl_store_queue_retried(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, SWEPT / 5);
    expect_reads(store, before, FEW);
}

/* Half of them are due, the others are scheduled: each half is counted by itself. */
ON_BOTH(messages_are_counted_without_reading_the_others, fixture *p)
{
    pawl_store *store  = open_worker(p);
    pawl_stats  stats  = PAWL_STATS_INIT;
    pawl_time   now    = fill_queue(p, store).due + PAWL_SECONDS(LINES / 2);
    long long   before = reads_of(store);
    ok(p, pawl_store_stats(store, now, p->arena, &stats, &p->error));
    expect_reads(store, before, 4 * LINES);
}

/* From the middle of those of a destination. */
ON_BOTH(a_page_of_timeouts_reads_no_others, fixture *p)
{
    pawl_store        *store = open_worker(p);
    pawl_timeout_rows  rows;
    pawl_timeout_row   after;
    pawl_timeout_query query = {.count_max = SWEPT};
    char               sql[500];
    snprintf(
        sql, sizeof sql,
        "insert into pawl_timeouts (Id, Generation, SagaId, SagaType, Name, Destination, Due, Attempts, "
        "CorrelationId, Headers) with recursive n (n) as (select 1 union all select n + 1 from n "
        "where n < %d) select uuid(), 1, null, '', '', 'orders', timestampadd(second, n, '2026-01-01'), "
        "0, '', '' from n",
        LINES);
    raw_run(p->raw, sql);
    ok(p, pawl_store_timeout_find(store, &query, p->arena, &rows, &p->error));
    after = rows.items[SWEPT - 1];
    after.due += PAWL_SECONDS(LINES / 2);
    query.after      = &after;
    long long before = reads_of(store);
    ok(p, pawl_store_timeout_find(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, SWEPT);
    expect_reads(store, before, FEW);
}

/* ---- Dead letters ------------------------------------------------------------- */

/* A page of letters of one endpoint, from the middle of many, reads its own. */
ON_BOTH(a_page_of_letters_of_an_endpoint_reads_no_others, fixture *p)
{
    pawl_store     *store = open_worker(p);
    pawl_dead_rows  rows;
    pawl_dead_query query = {.endpoint = TEXT("orders"), .count_max = SWEPT};
    pawl_dead_row   after;
    char            sql[500];
    snprintf(
        sql, sizeof sql,
        "insert into pawl_dead (Endpoint, Queue, Code, Attempts, Deaths, At, Error, History, MessageId, "
        "Type, CorrelationId, CausationId, Headers, Body) with recursive n (n) as (select 1 union all "
        "select n + 1 from n where n < %d) select if(n %% 50 = 0, 'bills', 'orders'), 'orders', 'EUSER', "
        "1, 0, timestampadd(second, n, '2026-01-01'), '', '', n, 't', '', '', '', '' from n",
        LINES);
    raw_run(p->raw, sql);
    ok(p, pawl_store_dead_find(store, &query, p->arena, &rows, &p->error));
    after = rows.items[SWEPT - 1];
    after.at += PAWL_SECONDS(LINES / 2);
    query.after      = &after;
    long long before = reads_of(store);
    ok(p, pawl_store_dead_find(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, SWEPT);
    expect_reads(store, before, FEW);
}

/* ---- The outbox -------------------------------------------------------------- */

/* Rows 1 to LINES, with these values of a row n. */
static void fill_outbox(fixture *p, const char *state, const char *source)
{
    char sql[600];
    snprintf(
        sql, sizeof sql,
        "insert into pawl_outbox (DispatchId, State, Attempts, NextAttempt, Due, At, Source, Version, "
        "`Index`, Endpoint, Destination, MessageId, Type, CorrelationId, CausationId, Headers, Body) "
        "with recursive n (n) as (select 1 union all select n + 1 from n where n < %d) "
        "select uuid(), '%s', 0, '1970-01-01', '1970-01-01', now(), %s, 0, 0, 'orders', 'q', n, 't', "
        "'', '', '', '' from n",
        LINES, state, source);
    raw_run(p->raw, sql);
}

/* A route that is away is tried with rows that were tried before: of many that were not none is read. */
ON_BOTH(rows_that_were_tried_are_found_without_reading_the_others, fixture *p)
{
    pawl_store       *store = open_worker(p);
    pawl_outbox_rows  rows;
    pawl_outbox_query query = {
        .states = 1u << PAWL_OUTBOX_PENDING, .attempts_min = 1, .count_max = LINES};
    fill_outbox(p, "pending", "''");
    raw_run(p->raw, "update pawl_outbox set Attempts = 1, NextAttempt = now() where Id % 100 = 0");
    long long before = status_of(store, "Handler_read%");
    ok(p, pawl_store_outbox_find(store, &query, p->arena, &rows, &p->error));
    long long reads = status_of(store, "Handler_read%") - before;
    assert_int_equal(rows.count, LINES / 100);
    if (reads > LINES / 2)
        fail_msg("%lld rows of %d were read", reads, LINES);
}

/* Each row that is delivered releases its source: of many held rows those of the others are not read. */
ON_BOTH(a_source_is_released_without_reading_the_others, fixture *p)
{
    pawl_store *store = open_worker(p);
    fill_outbox(p, "held", "concat('order-', n % 100)");
    long long before = reads_of(store);
    (void)commit(p, store,
                 ONE_CHANGE(outbox_block, NOW, .source = TEXT("order-7"), .is_unblock = true));
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_outbox where State = 'pending' "
                                        "and Source = 'order-7'"),
                     LINES / 100);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_outbox where State = 'held'"),
                     LINES - LINES / 100);
    expect_reads(store, before, LINES / 2);
}

/* ---- Aggregators --------------------------------------------------------------- */

/* Of a large partition the rows that it has no room for stay on the server. */
ON_BOTH(a_bounded_snapshot_fetches_what_it_takes, fixture *p)
{
    pawl_store             *store  = open_worker(p);
    pawl_text               type   = TEXT("t");
    pawl_leased_batch       leased = {0};
    pawl_leased_batch_claim claim  = {.partition  = TEXT("bills"),
                                      .session    = {{{[0] = 1}}},
                                      .types      = &type,
                                      .type_count = 1,
                                      .count_max  = SWEPT,
                                      .now        = NOW,
                                      .lease      = PAWL_SECONDS(10)};
    char                    sql[500];
    snprintf(
        sql, sizeof sql,
        "insert into pawl_aggregator (Name, `Partition`, `Key`, At, MessageId, Type, CorrelationId, "
        "CausationId, Headers, Body) with recursive n (n) as (select 1 union all select n + 1 from n "
        "where n < %d) select 'bills', 'bills', n, now(), n, if(n %% 5 = 0, 'u', 't'), '', '', '', "
        "repeat('x', 500) from n",
        LINES);
    raw_run(p->raw, sql);
    long long before = status_of(store, "Bytes_sent");
    ok(p, pawl_store_leased_batch_claim(store, &claim, p->arena, &leased, &p->error));
    long long size = status_of(store, "Bytes_sent") - before;
    assert_int_equal(leased.count, SWEPT);
    assert_true(leased.unresolved <= LINES / 5);
    if (size > 100 * LINES)
        fail_msg("%lld bytes came for %d rows of 500", size, SWEPT);
}

/* ---- Reconnects ------------------------------------------------------------ */

/* Memory for the parameters of a set went with the connection. */
ON_BOTH(sets_are_written_after_a_reconnect, fixture *p)
{
    pawl_store *store = open_worker(p);
    (void)append(p, store, 0);
    raw_run(p->raw, test_text("kill %lu", mysql_thread_id(pawl_store_native(store, "MYSQL"))));
    pawl_text id    = TEXT("m");
    bool      known = false;
    pawl_code code  = PAWL_ELOST; /* once, where the end was not seen before the call */
    for (int i = 0; code == PAWL_ELOST && i < 2; i++)
        code = pawl_store_inbox_known(store, TEXT("orders"), &id, 1, &known, &p->error);
    ok(p, code);
    (void)append(p, store, 2);
    assert_int_equal(append(p, store, 4), 5);
}

/* ---- Memory ------------------------------------------------------------- */

#define CLAIMED 9 /* rows: the smallest text of a set has eight */

/* On a connection that has prepared nothing yet: claims all rows and settles them, the n-th allocation of the
 * commit fails. */
static pawl_code settle_without_memory(fixture *p, long n)
{
    pawl_store       *store;
    pawl_queue_rows   rows;
    pawl_queue_settle settles[CLAIMED];
    pawl_queue_claim  claim = {
         .queue = TEXT("orders"), .due_max = NOW, .count_max = CLAIMED, .now = NOW};
    pawl_changes changes = {
        .now = NOW, ONE_UNIT, .queue_settle = {.items = settles, .count = CLAIMED}};
    ok(p, open_at(p, p->url, 20000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    patience wait = patience_of(THREAD_SECONDS); /* the server ends the session before by itself */
    ok(p, pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error));
    for (; rows.count == 0; patience_wait(&wait, "the rows of a closed session are not free"))
        ok(p, pawl_store_queue_claim(store, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, CLAIMED);
    for (size_t i = 0; i < CLAIMED; i++)
        settles[i] = (pawl_queue_settle){.queue = TEXT("orders"), .seq = rows.items[i].seq};
    fault_memory_set(n);
    fault_memory_go_on();
    pawl_code code = pawl_store_commit(store, &changes, NULL, &p->error);
    fault_memory_pause();
    test_now(store);
    return code;
}

ON_BOTH(a_set_without_memory_is_not_sent, fixture *p)
{
    long n = 1;
    send_rows(p, open_worker(p), CLAIMED);
    for (pawl_code code = PAWL_ENOMEM; code != PAWL_OK; n++) {
        code           = settle_without_memory(p, n);
        long long left = raw_number(p->raw, "select count(*) from pawl_queue");
        if (fault_memory_was_reached() ? code != PAWL_ENOMEM || left != CLAIMED
                                       : code != PAWL_OK || left != 0)
            fail_msg("allocation %ld: %s, %lld rows are left: %s", n, pawl_code_name(code), left,
                     p->error.text);
    }
    assert_true(n > 3);
}

void (*const tests_first)(void) = fault_memory_install;
