/* test_postgres_event_store.c - the event store on PostgreSQL: numbers of events are given before their
 * commit, positions behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

/* ---- Short forms ---------------------------------------------------------- */

#define EVENTS_MAX 8

/* Events behind `version` of a stream, as changes of one group. */
static size_t add_events(pawl_event_append *items, const char *stream, int64_t version,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        items[i] =
            (pawl_event_append){.stream   = pawl_text_of(stream),
                                .version  = version + 1 + (int64_t)i,
                                .is_first = i == 0,
                                .event = {.type = TEXT("Deposited"), .type_version = 1, .at = NOW}};
    return count;
}

static pawl_changes changes_of(pawl_event_append *items, size_t count)
{
    pawl_changes changes = {.now = NOW, ONE_UNIT, .event_append = {.items = items, .count = count}};
    return changes;
}

static pawl_code append(fixture *p, pawl_store *store, const char *stream, int64_t version,
                        size_t count)
{
    pawl_event_append items[EVENTS_MAX];
    pawl_changes      changes = changes_of(items, add_events(items, stream, version, count));
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static int64_t number(fixture *p, pawl_store *store, size_t count_max)
{
    int64_t count = -1;
    ok(p, pawl_store_event_number(store, count_max, &count, &p->error));
    return count;
}

/* "stream@version", in the order of the positions. */
static void expect_positions(const fixture *p, const char *expected)
{
    expect_raw_text(p->pg,
                    "select string_agg(\"Position\" || ':' || \"Stream\" || '@' || \"Version\", "
                    "' ' order by \"Position\") from pawl_events where \"Position\" is not null",
                    expected);
}

static void insert_raw(PGconn *pg, const char *stream)
{
    raw_run(pg,
            test_text(
                "insert into pawl_events (\"Stream\", \"Version\", \"Type\", \"TypeVersion\", "
                "\"MessageId\", \"CorrelationId\", \"CausationId\", \"At\", \"Headers\", \"Body\") "
                "values ('%s', 1, 'Deposited', 1, '', '', '', now(), '', '')",
                stream));
}

/* ---- Positions ------------------------------------------------------------ */

ON_FIXTURE(an_event_committed_late_comes_behind, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    PGconn     *late  = raw_open(p->schema);
    raw_run(late, "begin");
    insert_raw(late, "late");
    ok(p, append(p, store, "early", 0, 2));
    assert_int_equal(number(p, store, 100), 2);
    expect_positions(p, "1:early@1 2:early@2");
    raw_run(late, "commit");
    ok(p, append(p, store, "early", 2, 1));
    assert_int_equal(number(p, store, 1), 1);
    expect_positions(p, "1:early@1 2:early@2 3:late@1");
    assert_int_equal(number(p, store, 100), 1);
    assert_int_equal(number(p, store, 100), 0);
    expect_positions(p, "1:early@1 2:early@2 3:late@1 4:early@3");
    PQfinish(late);
}

static void number_more(fixture *p, pawl_store *store, int count)
{
    raw_run(p->pg,
            test_text("insert into pawl_events (\"Stream\", \"Version\", \"Type\", "
                      "\"TypeVersion\", \"MessageId\", \"CorrelationId\", \"CausationId\", "
                      "\"At\", \"Headers\", \"Body\") select 'many/' || nextval('many'), 1, "
                      "'Deposited', 1, '', '', '', now(), '', '' from generate_series(1, %d)",
                      count));
    assert_int_equal(number(p, store, 10000), count);
    assert_int_equal(number(p, store, 10000), 0);
}

static void number_many(fixture *p, pawl_store *store)
{
    number_more(p, store, 9000);
}

/* Where a handle begins to look for events without a position. */
static int64_t begins_at(pawl_store *store)
{
    return pawl__pg_of(store)->numbering.horizon.from;
}

/* However many were numbered since: what its commit was followed by comes behind it. */
ON_FIXTURE(an_event_committed_very_late_comes_before_what_followed, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    PGconn     *late  = raw_open(p->schema);
    ok(p, append(p, store, "first", 0, 1));
    assert_int_equal(number(p, store, 100), 1);
    raw_run(p->pg, "create sequence many");
    raw_run(late, "begin");
    insert_raw(late, "late");
    for (int round = 0; round < 3; round++)
        number_many(p, store);
    assert_true(begins_at(store) < 9000);
    raw_run(late, "commit");
    ok(p, append(p, store, "after", 0, 1));
    assert_int_equal(number(p, store, 10000), 2);
    expect_raw_text(p->pg,
                    "select string_agg(\"Stream\", ' ' order by \"Position\") from pawl_events "
                    "where \"Position\" > 27001",
                    "late after");
    PQfinish(late);
}

/* Events that were numbered stay in the index while somebody's snapshot can see it without a
 * position; that one writes nothing, and so nothing can come late. Where to begin moves
 * when others are over that were under way, to an event that was seen before. */
ON_FIXTURE(numbering_begins_behind_what_was_numbered, fixture *p)
{
    pawl_store *store  = open_store(p, p->url);
    PGconn     *leased = raw_open(p->schema);
    raw_run(p->pg, "create sequence many");
    raw_run(leased, "begin isolation level repeatable read; select 1 from pawl_events limit 1");
    for (int round = 0; round < 3; round++)
        number_many(p, store);
    for (int64_t end = clock_ms() + OTHERS_MS; begins_at(store) < 18000 && clock_ms() < end;) {
        number_more(p, store, 1);
        (void)poll(NULL, 0, 2);
    }
    assert_in_range(begins_at(store), 18000,
                    raw_number(p->pg, "select max(\"Seq\") from pawl_events"));
    raw_run(leased, "rollback");
    PQfinish(leased);
}

/* The claims' transaction is rolled back; what was numbered is durable. */
ON_FIXTURE(numbering_is_no_part_of_the_claims, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    ok(p, append(p, store, "a", 0, 3));
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 1);
    assert_int_equal(number(p, store, 2), 2);
    expect_positions(p, "1:a@1 2:a@2");
    test_now(store);
    expect_positions(p, "1:a@1 2:a@2");
}

/* As when a lease ends while its leader is at it. */
typedef struct numbering {
    pthread_t   thread;
    pawl_store *store;
    pawl_error  error;
    pawl_code   code;
    int64_t     sum;
} numbering;

static void *number_all(void *context)
{
    numbering *n     = context;
    int64_t    count = 1;
    while (n->code == PAWL_OK && count != 0) {
        n->code = pawl_store_event_number(n->store, 3, &count, &n->error);
        n->sum += count;
    }
    return NULL;
}

ON_FIXTURE(two_that_number_give_each_position_once, fixture *p)
{
    numbering numbers[2] = {{.error = PAWL_ERROR_INIT}, {.error = PAWL_ERROR_INIT}};
    for (size_t i = 0; i < 2; i++)
        numbers[i].store = open_store(p, p->url);
    for (int64_t version = 0; version < 200; version += EVENTS_MAX)
        ok(p, append(p, numbers[0].store, "a", version, EVENTS_MAX));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&numbers[i].thread, NULL, number_all, &numbers[i]), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(numbers[i].thread, NULL), 0);
        if (numbers[i].code != PAWL_OK)
            fail_msg("%s", numbers[i].error.text);
        test_now(numbers[i].store);
    }
    assert_int_equal(numbers[0].sum + numbers[1].sum, 200);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_events "
                                       "where \"Position\" = \"Version\""),
                     200);
}

static pawl_store *open_prefixed(fixture *p, const char *prefix)
{
    pawl_schema_spec   spec    = {.system_prefix = prefix};
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_CHECK;
    options.system_prefix      = prefix;
    ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error));
    ok(p, fixture_open(p, p->url, &options, &store));
    return store;
}

/* `elsewhere` has its turn and stands before its events, which somebody has locked: this one numbers
 * meanwhile. */
static void number_beside(fixture *p, pawl_store *store, pawl_store *elsewhere, const char *schema,
                          const char *events)
{
    static numbering n; /* the thread outlives a failure here */
    PGconn          *in_the_way = raw_open(schema);
    int              pid        = pid_of(elsewhere);
    n                           = (numbering){.store = elsewhere, .error = PAWL_ERROR_INIT};
    raw_run(in_the_way, test_text("begin; lock table %s in access exclusive mode", events));
    assert_int_equal(pthread_create(&n.thread, NULL, number_all, &n), 0);
    raw_wait(
        p->pg,
        test_text(
            "select count(*) from pg_stat_activity where pid = %d and wait_event_type = 'Lock'",
            pid),
        1);
    set_deadline(store, SHORT_MS);
    assert_int_equal(number(p, store, 100), 0);
    set_deadline(store, ENOUGH_MS);
    raw_run(in_the_way, "rollback");
    assert_int_equal(pthread_join(n.thread, NULL), 0);
    if (n.code != PAWL_OK)
        fail_msg("%s", n.error.text);
    PQfinish(in_the_way);
    test_now(elsewhere);
}

/* The turn is that of the tables: who numbers in another schema, or under another prefix, is not
 * waited for. */
ON_FIXTURE(tables_elsewhere_are_numbered_at_the_same_time, fixture *p)
{
    void *other = NULL;
    assert_int_equal(fixture_setup(&other), 0);
    fixture    *q     = other;
    pawl_store *store = open_store(p, p->url);
    number_beside(p, store, open_store(q, q->url), q->schema, "pawl_events");
    number_beside(p, store, open_prefixed(p, "b_"), p->schema, "b_events");
    test_now(store);
    assert_int_equal(fixture_teardown(&other), 0);
}

/* ---- Appending ------------------------------------------------------------ */

/* Two workers meet on their streams in one order, so that neither waits for the
 * other in a circle. */
ON_FIXTURE(streams_are_appended_in_one_order, fixture *p)
{
    pawl_store       *store = open_store(p, p->url);
    pawl_event_append items[3 * 2];
    size_t            count = add_events(items, "b", 0, 2);
    count += add_events(items + count, "B", 0, 2);
    count += add_events(items + count, "a", 0, 2);
    pawl_changes changes = changes_of(items, count);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    assert_int_equal(number(p, store, 100), 6);
    expect_positions(p, "1:B@1 2:B@2 3:a@1 4:a@2 5:b@1 6:b@2");
}

/* The first round of a commit says nothing of what it refuses: the second does. */
ON_FIXTURE(both_rounds_tell_taken_from_missing, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, append(p, store, "a", 0, 2));
    for (int i = 0; i < 2; i++) {
        refuses(p, append(p, store, "a", 1, 3), PAWL_ECONFLICT,
                "stream a: version 2 is taken: another worker appended first");
        refuses(p, append(p, store, "a", 4, 3), PAWL_ECONFLICT, "stream a: version 4 is missing");
    }
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_events"), 2);
}

ON_FIXTURE(an_appender_waits_for_the_other, fixture *p)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    apply_schema(p, p->url, NULL, 0);
    ok(p, fixture_open(p, p->url, &options, &store));
    raw_run(p->pg, "begin");
    insert_raw(p->pg, "a");
    set_deadline(store, SHORT_MS);
    expect_code(p, append(p, store, "a", 0, 1), PAWL_ETIMEOUT);
    set_deadline(store, ENOUGH_MS);
    raw_run(p->pg, "commit");
    expect_code(p, append(p, store, "a", 0, 1), PAWL_ECONFLICT);
    ok(p, append(p, store, "a", 1, 1));
}

ON_FIXTURE(an_enlist_sees_what_its_transaction_appended, fixture *p)
{
    pawl_store       *store = open_store(p, p->url);
    pawl_event_append items[EVENTS_MAX];
    raw_run(p->pg, "begin");
    for (int64_t version = 0; version < 4; version += 2) {
        pawl_changes changes = changes_of(items, add_events(items, "a", version, 2));
        ok(p, pawl_store_enlist(store, p->pg, &changes, &p->error));
    }
    pawl_changes changes = changes_of(items, add_events(items, "a", 3, 2));
    refuses(p, pawl_store_enlist(store, p->pg, &changes, &p->error), PAWL_ECONFLICT,
            "version 4 is taken");
    raw_run(p->pg, "commit");
    assert_int_equal(number(p, store, 100), 4);
    expect_positions(p, "1:a@1 2:a@2 3:a@3 4:a@4");
}

/* ---- Checkpoints ---------------------------------------------------------- */

/* A statement moves a row once. */
ON_FIXTURE(a_checkpoint_moves_twice_in_a_set, fixture *p)
{
    pawl_store         *store   = open_store(p, p->url);
    pawl_checkpoint_set moves[] = {
        {.name = TEXT("b"), .from = 0, .to = 4, .at = NOW},
        {.name = TEXT("a"), .from = 0, .to = 1, .at = NOW},
        {.name = TEXT("b"), .from = 4, .to = 9, .at = NOW},
        {.name = TEXT("b"), .from = 9, .to = 10, .at = NOW},
    };
    pawl_changes changes = {
        .now = NOW, ONE_UNIT, .checkpoint_set = {.items = moves, .count = COUNT(moves)}};
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    expect_raw_text(p->pg,
                    "select string_agg(\"Name\" || \"Position\", ' ' order by \"Name\") "
                    "from pawl_checkpoints",
                    "a1 b10");
    refuses(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_ECONFLICT,
            "checkpoint a: it is not at 0: another worker moved it first");
}

/* ---- Refusals --------------------------------------------------------------- */

/* Two messages, each a group: the second one's event has its stream's next version,
 * the first one's has none before it. */
static void commit_one_of_two(fixture *p, pawl_store *store, int64_t version)
{
    pawl_event_append items[2];
    pawl_queue_settle settles[2];
    pawl_arena       *arena   = pawl_arena_create(0);
    pawl_refusals     refused = {.arena = arena};
    pawl_queue_rows   rows    = claim_some(p, store, "orders", NOW, 2);
    assert_int_equal(rows.count, 2);
    add_events(&items[0], "gap", 7, 1);
    add_events(&items[1], "whole", version, 1);
    items[1].group = items[1].unit = 1;
    for (uint32_t i = 0; i < 2; i++)
        settles[i] = (pawl_queue_settle){
            .group = i, .unit = i, .queue = TEXT("orders"), .seq = rows.items[i].seq};
    pawl_changes changes       = changes_of(items, 2);
    changes.group_count        = 2;
    changes.unit_count         = 2;
    changes.queue_settle.items = settles;
    changes.queue_settle.count = 2;
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    assert_int_equal(refused.count, 1);
    assert_int_equal(refused.items[0].group, 0);
    assert_int_equal(refused.items[0].kind, pawl_change_event_append);
    pawl_arena_destroy(arena);
}

/* A sequence counts what is rolled back, too. The fence is written once, so there was one
 * transaction, and in it the messages stayed locked. */
ON_FIXTURE(a_refused_group_sets_no_claim_free, fixture *p)
{
    pawl_store *store = open_store(p, p->url), *other = open_store(p, p->url);
    for (int i = 0; i < 4; i++)
        ok(p, send_one(p, store, "orders", test_text("m-%d", i)));
    commit_one_of_two(p, store, 0); /* and from now on it is careful */
    int64_t left = raw_number(p->pg, "select min(\"Seq\") from pawl_queue");
    ok(p, settle_one(p, store, "orders", left));
    raw_run(p->pg, "create sequence fences minvalue 0 start 0; select nextval('fences'); "
                   "create function count_fence() returns trigger language plpgsql "
                   "set search_path from current as "
                   "$$ begin perform nextval('fences'); return new; end $$; "
                   "create trigger fence before update on pawl_workers for each row "
                   "execute function count_fence()");
    commit_one_of_two(p, store, 1);
    assert_int_equal(raw_number(p->pg, "select last_value from fences"), 1);
    assert_int_equal(queue_count(p), 1);
    assert_int_equal(claim_some(p, other, "orders", NOW, 2).count, 0);
    expect_raw_text(p->pg,
                    "select string_agg(\"Stream\" || '@' || \"Version\", ' ' order by "
                    "\"Version\") from pawl_events",
                    "whole@1 whole@2");
}
