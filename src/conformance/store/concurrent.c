/* concurrent.c - several threads with one store, each with its own handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8

/* ---- Queue -------------------------------------------------------------- */

#define ROWS (50 * SUITE_ROUNDS)

/* Number of rows in a race. */
static unsigned row_count(const suite *s)
{
    return 50 * s->rounds;
}

typedef struct tally {
    atomic_int seen[ROWS];
} tally;

/* The number at the end of "m-17"; ROWS for other ids. */
static unsigned number_of(pawl_text id)
{
    unsigned long number = ROWS;
    if (id.size > 2 && memcmp(id.data, "m-", 2) == 0)
        number = strtoul(id.data + 2, NULL, 10);
    return number < ROWS ? (unsigned)number : ROWS;
}

static void settle_rows(suite_thread *thread)
{
    suite      *s     = thread->s;
    tally      *t     = thread->context;
    pawl_store *store = suite_open(s);
    for (;;) {
        pawl_arena_point start = pawl_arena_position(s->arena);
        pawl_queue_rows  rows  = suite_claim(s, store, TEXT("orders"), SUITE_NOW,
                                             1 + (size_t)pawl_random_below(&s->random, 8));
        if (rows.count == 0)
            break;
        suite_set set = suite_changes(s);
        for (unsigned i = 0; i < rows.count; i++) {
            suite_unit(&set, i, i);
            ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
                .seq = rows.items[i].seq);
            ADD(&set, inbox_entry, .endpoint = TEXT("suite"),
                .message_id = rows.items[i].message.id, .at = SUITE_NOW);
        }
        COMMIT(&set, store);
        for (size_t i = 0; i < rows.count; i++) {
            unsigned number = number_of(rows.items[i].message.id);
            EXPECT(s, number < ROWS);
            EXPECT_EQ(s, atomic_fetch_add(&t->seen[number], 1), 0);
        }
        pawl_arena_rewind(s->arena, start);
    }
}

static void each_message_is_claimed_and_settled_by_one_of_several_threads(suite *s)
{
    pawl_store *a   = suite_open(s);
    tally      *t   = pawl_arena_take(s->arena, sizeof *t);
    suite_set   set = suite_changes(s);
    EXPECT(s, t != NULL);
    for (unsigned i = 0; i < row_count(s); i++)
        atomic_init(&t->seen[i], 0);
    for (unsigned i = 0; i < row_count(s); i++)
        ADD(&set, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW,
            .message = suite_message(s, suite_printf(s, "m-%u", i)));
    COMMIT(&set, a);
    suite_threads(s, THREADS, settle_rows, t);
    for (unsigned i = 0; i < row_count(s); i++)
        EXPECT_EQ(s, atomic_load(&t->seen[i]), 1);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("orders")).count, 0);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).inbox, row_count(s));
}

/* Delays each row by a retry. A claim that returned a row as it was before would hand it out too early, without its
 * attempt. */
static void put_rows_back(suite_thread *thread)
{
    suite      *s     = thread->s;
    tally      *t     = thread->context;
    pawl_store *store = suite_open(s);
    for (;;) {
        pawl_arena_point start = pawl_arena_position(s->arena);
        pawl_queue_rows  rows  = suite_claim(s, store, TEXT("orders"), SUITE_NOW,
                                             1 + (size_t)pawl_random_below(&s->random, 4));
        if (rows.count == 0)
            break;
        suite_set set = suite_changes(s);
        for (unsigned i = 0; i < rows.count; i++) {
            unsigned number = number_of(rows.items[i].message.id);
            EXPECT(s, number < ROWS);
            EXPECT_EQ(s, rows.items[i].attempts, 0);
            EXPECT_EQ(s, atomic_fetch_add(&t->seen[number], 1), 0);
            ADD(&set, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = TEXT("orders"),
                .seq = rows.items[i].seq, .due = SUITE_NOW + 1, .attempts = 1);
        }
        COMMIT(&set, store);
        pawl_arena_rewind(s->arena, start);
    }
}

static void a_message_retried_by_one_thread_is_not_claimed_early_by_another(suite *s)
{
    pawl_store *a   = suite_open(s);
    tally      *t   = pawl_arena_take(s->arena, sizeof *t);
    suite_set   set = suite_changes(s);
    EXPECT(s, t != NULL);
    for (unsigned i = 0; i < row_count(s); i++) {
        atomic_init(&t->seen[i], 0);
        ADD(&set, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW,
            .message = suite_message(s, suite_printf(s, "m-%u", i)));
    }
    COMMIT(&set, a);
    suite_threads(s, THREADS, put_rows_back, t);
    for (unsigned i = 0; i < row_count(s); i++)
        EXPECT_EQ(s, atomic_load(&t->seen[i]), 1);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("orders"), SUITE_NOW + 1, ROWS).count, row_count(s));
}

static void send_the_same(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned i = 0; i < s->rounds; i++)
        suite_send(s, store, TEXT("orders"), suite_printf(s, "m-%u", i).data, SUITE_NOW);
}

static void concurrent_sends_of_one_message_id_store_one_message(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_threads(s, THREADS, send_the_same, NULL);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("orders")).count, s->rounds);
}

/* ---- One winner --------------------------------------------------------- */

typedef struct race {
    atomic_int won[SUITE_ROUNDS];
} race;

static race *race_create(suite *s)
{
    race *r = pawl_arena_take(s->arena, sizeof *r);
    EXPECT(s, r != NULL);
    for (unsigned i = 0; i < s->rounds; i++)
        atomic_init(&r->won[i], 0);
    return r;
}

/* Counts a success; the only other result is a duplicate. */
static void run(suite_thread *thread, suite_set *set, pawl_store *store, unsigned round)
{
    suite        *s = thread->s;
    race         *r = thread->context;
    pawl_refusals refused;
    EXPECT_OK(s, suite_try(set, store, &refused));
    EXPECT(s, refused.count <= 1);
    if (refused.count == 0)
        atomic_fetch_add(&r->won[round], 1);
    else
        EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
}

static void begin_sagas(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned round = 0; round < s->rounds; round++) {
        suite_set set = suite_changes(s);
        ADD(&set, saga_insert, .table = s->tables[SUITE_ORDER],
            .id   = suite_saga_id(1000 * (thread->index + 1) + round),
            .main = pawl_value_text(suite_printf(s, "order-%u", round)), .metadata = TEXT("{}"),
            .data = TEXT("{}"), .type_version = TEXT("1.0"));
        run(thread, &set, store, round);
    }
}

static void of_concurrent_inserts_of_one_correlation_value_one_creates_the_saga(suite *s)
{
    pawl_store *a = suite_open(s);
    race       *r = race_create(s);
    suite_threads(s, THREADS, begin_sagas, r);
    for (unsigned i = 0; i < s->rounds; i++)
        EXPECT_EQ(s, atomic_load(&r->won[i]), 1);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), s->rounds);
}

static void mark_ids(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned round = 0; round < s->rounds; round++) {
        suite_set set = suite_changes(s);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"),
            .message_id = suite_printf(s, "m-%u", round), .at = SUITE_NOW);
        run(thread, &set, store, round);
    }
}

static void of_concurrent_inserts_of_one_deduplication_record_one_succeeds(suite *s)
{
    pawl_store *a = suite_open(s);
    race       *r = race_create(s);
    suite_threads(s, THREADS, mark_ids, r);
    for (unsigned i = 0; i < s->rounds; i++)
        EXPECT_EQ(s, atomic_load(&r->won[i]), 1);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).inbox, s->rounds);
}

/* Handles stay open during the contest, since closing one would free its claims for the others. */
typedef struct contest {
    race        race;
    tally       tally;
    pawl_store *stores[THREADS]; /* of the case, one for each thread */
} contest;

static contest *contest_create(suite *s)
{
    contest *c = pawl_arena_take(s->arena, sizeof *c);
    EXPECT(s, c != NULL);
    for (unsigned i = 0; i < s->rounds; i++)
        atomic_init(&c->race.won[i], 0);
    for (unsigned i = 0; i < row_count(s); i++)
        atomic_init(&c->tally.seen[i], 0);
    for (unsigned i = 0; i < THREADS; i++)
        c->stores[i] = suite_open(s);
    return c;
}

static void try_to_lead(suite_thread *thread)
{
    suite      *s     = thread->s;
    contest    *c     = thread->context;
    pawl_store *store = c->stores[thread->index];
    for (unsigned round = 0; round < s->rounds; round++) {
        bool is_held = false;
        EXPECT_OK(s, pawl_store_lead(store, suite_printf(s, "lane-%u", round), SUITE_NOW,
                                     SUITE_LEASE, &is_held, &s->error));
        if (is_held)
            atomic_fetch_add(&c->race.won[round], 1);
    }
}

static void of_concurrent_attempts_to_take_a_lease_one_succeeds(suite *s)
{
    contest *c = contest_create(s);
    suite_threads(s, THREADS, try_to_lead, c);
    for (unsigned i = 0; i < s->rounds; i++)
        EXPECT_EQ(s, atomic_load(&c->race.won[i]), 1);
}

/* ---- Counting with retry ------------------------------------------------ */

#define SAGAS 20
#define STEPS 25
#define TRIES_MAX 20000

static int64_t count_in(pawl_text data)
{
    size_t at = 0;
    while (at < data.size && (data.data[at] < '0' || data.data[at] > '9'))
        at++;
    return at < data.size ? strtoll(data.data + at, NULL, 10) : -1;
}

/* Loads, adds one and saves; loads again after a conflict. */
static void raise_one(suite *s, pawl_store *store, unsigned number)
{
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        pawl_refusals refused;
        suite_set     set = suite_changes(s);
        pawl_saga_row row = suite_load(s, store, SUITE_ORDER, PAWL_SAGA_BY_MAIN,
                                       pawl_value_text(suite_printf(s, "order-%u", number)));
        EXPECT(s, row.version > 0);
        ADD(&set, saga_update, .table = s->tables[SUITE_ORDER], .id = row.id,
            .version = row.version, .row = row.row, .metadata = TEXT("{}"),
            .data         = suite_printf(s, "{\"n\":%d}", (int)count_in(row.data) + 1),
            .type_version = TEXT("1.0"));
        EXPECT_OK(s, suite_try(&set, store, &refused));
        if (refused.count == 0)
            return;
        EXPECT_EQ(s, refused.items[0].reason, PAWL_ECONFLICT);
    }
    suite_fail(s, __FILE__, __LINE__, "each of %d updates was refused with a conflict", TRIES_MAX);
}

static void raise_some(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned step = 0; step < STEPS; step++)
        raise_one(s, store, (unsigned)pawl_random_below(&s->random, SAGAS));
}

static void raise_the_first(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned step = 0; step < STEPS; step++)
        raise_one(s, store, 0);
}

static void no_saga_update_of_concurrent_threads_is_lost(suite *s)
{
    pawl_store *a     = suite_open(s);
    int64_t     total = 0, versions = 0;
    for (unsigned i = 0; i < SAGAS; i++)
        COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(i + 1),
                   .main = pawl_value_text(suite_printf(s, "order-%u", i)), .metadata = TEXT("{}"),
                   .data = TEXT("{\"n\":0}"), .type_version = TEXT("1.0"));
    suite_threads(s, THREADS, raise_some, NULL);
    suite_threads(s, THREADS, raise_the_first, NULL);
    for (unsigned i = 0; i < SAGAS; i++) {
        pawl_saga_row row = suite_load_id(s, a, SUITE_ORDER, i + 1);
        total += count_in(row.data);
        versions += row.version - 1;
    }
    EXPECT_EQ(s, total, 2 * THREADS * STEPS);
    EXPECT_EQ(s, versions, 2 * THREADS * STEPS);
}

/* ---- Aggregators, timeouts, outbox -------------------------------------- */

static void add_bills(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned i = 0; i < s->rounds; i++) {
        suite_set set    = suite_changes(s);
        pawl_text own    = suite_printf(s, "own-%u-%u", thread->index, i);
        pawl_text shared = suite_printf(s, "shared-%u", i);
        ADD(&set, aggregator_add, .name = TEXT("Bills"), .partition = TEXT("Bills"), .key = own,
            .message = suite_message(s, own), .at = SUITE_NOW, .due = SUITE_NOW);
        ADD(&set, aggregator_add, .name = TEXT("Bills"), .partition = TEXT("Bills"), .key = shared,
            .message = suite_message(s, shared), .at = SUITE_NOW, .due = SUITE_NOW);
        COMMIT(&set, store);
        EXPECT(s, suite_counts(s, store, TEXT("Bills"), SUITE_NOW).all > 0);
    }
}

static void concurrent_adds_of_one_key_to_an_aggregator_store_one_message(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_threads(s, THREADS, add_bills, NULL);
    EXPECT_EQ(s, suite_counts(s, a, TEXT("Bills"), SUITE_NOW).all, (THREADS + 1) * s->rounds);
    pawl_flush_rows flushes = {0};
    READ_ROWS(s,
              pawl_store_flush_list(a, TEXT("Bills"), SUITE_NOW, 9, s->arena, &flushes, &s->error),
              flushes);
    EXPECT_EQ(s, flushes.count, 1);
}

static void take_bills(suite_thread *thread)
{
    suite                  *s     = thread->s;
    atomic_int             *taken = thread->context;
    pawl_store             *store = suite_open(s);
    pawl_text               type  = TEXT("PlaceOrder");
    pawl_leased_batch_claim claim = {.partition  = TEXT("Bills"),
                                     .types      = &type,
                                     .type_count = 1,
                                     .count_max  = 10,
                                     .now        = SUITE_NOW,
                                     .lease      = SUITE_LEASE};
    for (unsigned round = 0;; round++) {
        pawl_leased_batch rows = {0};
        int64_t           ids[10];
        claim.session = suite_session_id(1000 * (thread->index + 1) + round);
        READ_ROWS(s, pawl_store_leased_batch_claim(store, &claim, s->arena, &rows, &s->error),
                  rows);
        if (rows.count == 0)
            return;
        EXPECT(s, rows.count <= 10);
        for (size_t i = 0; i < rows.count; i++)
            ids[i] = rows.items[i].id;
        COMMIT_ONE(s, store, leased_batch_remove, .partition = TEXT("Bills"),
                   .session = claim.session, .ids = ids, .id_count = rows.count);
        atomic_fetch_add(taken, (int)rows.count);
    }
}

static void concurrent_leased_batches_never_contain_the_same_message(suite *s)
{
    pawl_store *a = suite_open(s);
    atomic_int  taken;
    atomic_init(&taken, 0);
    suite_threads(s, 4, add_bills, NULL);
    suite_threads(s, THREADS, take_bills, &taken);
    EXPECT_EQ(s, atomic_load(&taken), 5 * (int)s->rounds);
    EXPECT_EQ(s, suite_counts(s, a, TEXT("Bills"), SUITE_NOW).all, 0);
}

static void claim_timeouts(suite_thread *thread)
{
    suite   *s = thread->s;
    contest *c = thread->context;
    for (;;) {
        pawl_timeout_rows rows =
            suite_claim_timeouts(s, c->stores[thread->index], 70 + thread->index, SUITE_NOW, 10);
        if (rows.count == 0)
            return;
        for (size_t i = 0; i < rows.count; i++) {
            const uint8_t *bytes  = rows.items[i].id.uuid.bytes;
            unsigned       number = bytes[14] * 256u + bytes[15];
            EXPECT(s, number < ROWS);
            EXPECT_EQ(s, atomic_fetch_add(&c->tally.seen[number], 1), 0);
        }
    }
}

static void each_timeout_is_claimed_by_one_of_several_threads(suite *s)
{
    enum { COUNT = 400 };
    contest  *c   = contest_create(s);
    suite_set set = suite_changes(s);
    for (unsigned i = 1; i <= COUNT; i++)
        ADD(&set, timeout_set, .id = suite_timeout_id(i), .destination = TEXT("orders"),
            .due = SUITE_NOW - i);
    COMMIT(&set, c->stores[0]);
    suite_threads(s, THREADS, claim_timeouts, c);
    for (unsigned i = 1; i <= COUNT; i++)
        EXPECT_EQ(s, atomic_load(&c->tally.seen[i]), 1);
}

static void add_the_same_dispatch(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned i = 1; i <= s->rounds; i++)
        COMMIT_ONE(s, store, outbox_add, .dispatch_id = suite_dispatch_id(i), .source = TEXT("S"),
                   .version = i, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
                   .message = suite_message(s, suite_printf(s, "m-%u", i)), .at = SUITE_NOW);
}

static void concurrent_inserts_of_one_dispatch_id_store_one_outbox_row(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_threads(s, THREADS, add_the_same_dispatch, NULL);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).count, s->rounds);
}

#define ENDED 40

typedef struct dead_workers {
    pawl_worker_id ids[ENDED];
    atomic_uint    opened; /* threads that have opened their handle */
} dead_workers;

/* Two processes that find the same dead workers end them at the same time. Each pair of threads begins at another
 * worker, and all update the row with the counters. */
static void end_the_same_workers(suite_thread *thread)
{
    suite        *s    = thread->s;
    dead_workers *dead = thread->context;
    pawl_store   *by   = suite_open_bare(s);
    unsigned      pair = atomic_fetch_add(&dead->opened, 1) / 2;
    for (unsigned tries = 0; tries < 2000 && atomic_load(&dead->opened) < THREADS; tries++)
        EXPECT_OK(s, pawl_store_wait(by, 1000, -1, &s->error));
    for (unsigned i = 0; i < ENDED; i++) {
        pawl_store_worker_set(by, dead->ids[(i + pair * ENDED / 4) % ENDED]);
        EXPECT_OK(s, pawl_store_worker_close(by, SUITE_NOW, &s->error));
    }
}

static void a_worker_that_several_threads_close_adds_to_the_counters_once(suite *s)
{
    pawl_store  *a = suite_open(s);
    dead_workers dead;
    atomic_init(&dead.opened, 0);
    for (unsigned i = 0; i < ENDED; i++) {
        pawl_store *store             = suite_open(s);
        suite_set   set               = suite_changes(s);
        set.changes.counters.messages = 1 + (int64_t)i;
        COMMIT(&set, store);
        dead.ids[i] = pawl_store_worker(store);
        suite_close(s, store);
    }
    suite_threads(s, THREADS, end_the_same_workers, &dead);
    pawl_stats stats = suite_stats_of(s, a, SUITE_NOW);
    EXPECT_EQ(s, stats.counters.messages, ENDED * (ENDED + 1) / 2);
    EXPECT_EQ(s, stats.workers, 1);
}

static const suite_case cases[] = {
    {"E27 T7 each message is claimed and settled by one of several threads",
     each_message_is_claimed_and_settled_by_one_of_several_threads},
    {"E26 a message retried by one thread is not claimed early by another",
     a_message_retried_by_one_thread_is_not_claimed_early_by_another},
    {"E34 concurrent sends of one message id store one message",
     concurrent_sends_of_one_message_id_store_one_message},
    {"S10 E7 of concurrent inserts of one correlation value one creates the saga",
     of_concurrent_inserts_of_one_correlation_value_one_creates_the_saga},
    {"O25 of concurrent inserts of one deduplication record one succeeds",
     of_concurrent_inserts_of_one_deduplication_record_one_succeeds},
    {"O20 of concurrent attempts to take a lease one succeeds",
     of_concurrent_attempts_to_take_a_lease_one_succeeds},
    {"S9 no saga update of concurrent threads is lost",
     no_saga_update_of_concurrent_threads_is_lost},
    {"A2 A25 concurrent adds of one key to an aggregator store one message",
     concurrent_adds_of_one_key_to_an_aggregator_store_one_message},
    {"A14 E33 concurrent leased batches never contain the same message",
     concurrent_leased_batches_never_contain_the_same_message},
    {"T7 each timeout is claimed by one of several threads",
     each_timeout_is_claimed_by_one_of_several_threads},
    {"O6 concurrent inserts of one dispatch id store one outbox row",
     concurrent_inserts_of_one_dispatch_id_store_one_outbox_row},
    {"O23 a worker that several threads close adds to the counters once",
     a_worker_that_several_threads_close_adds_to_the_counters_once},
};

const suite_cases cases_concurrent = SUITE_CASES("concurrent", cases);
