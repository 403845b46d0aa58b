/* test_store_operations_reads.c - the public operations that read or claim: their questions to a
 * driver, their own refusals, and their answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/lean.h"

#include "pawl/operations.h"

#define NOW INT64_C(1767225600000000)
#define SAME_TEXT(a, b) assert_true(pawl_text_equal(a, PAWL_TEXT(b)))
#define SAME_ID(a, b) assert_int_equal(pawl_uuid_compare((a).uuid, (b).uuid), 0)

/* ---- A driver that keeps what it is asked and answers what the test says -- */

static struct {
    pawl_code               code;
    unsigned                calls;
    pawl_timeout_claim      timeout_claim;
    pawl_time               next_due, now;
    pawl_text               partition, endpoint, id;
    const pawl_text        *types;
    size_t                  type_count;
    pawl_leased_batch_claim claims[4];
    pawl_aggregator_row     rows[8]; /* rows that a claim finds, free ones first */
    size_t                  row_count;
    pawl_outbox_query       query;
    bool                    is_known;
    pawl_outbox_row         operations[4];
    size_t                  operation_count;
    pawl_stream_read        read;
    pawl_event_query        events;
    size_t                  release_count;
    pawl_session_id         released;
} fake;

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    (void)store, (void)refused, (void)error;
    fake.release_count += changes->leased_batch_release.count;
    if (changes->leased_batch_release.count != 0)
        fake.released = changes->leased_batch_release.items[0].session;
    return PAWL_OK;
}

static pawl_code fake_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                    pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    (void)arena;
    fake.calls++;
    assert_int_not_equal(store->epoch, 0); /* the handle has a worker */
    fake.timeout_claim = *claim;
    rows->next_due     = fake.next_due;
    return lean_answer(fake.code, error);
}

static pawl_code fake_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                   pawl_error *error)
{
    (void)store;
    fake.now = now;
    *count   = 6;
    return lean_answer(fake.code, error);
}

static pawl_code fake_aggregator_count(pawl_store *store, pawl_text partition,
                                       const pawl_text *types, size_t type_count, pawl_time now,
                                       pawl_aggregator_counts *counts, pawl_error *error)
{
    (void)store, (void)now;
    fake.partition  = partition;
    fake.types      = types;
    fake.type_count = type_count;
    *counts         = (pawl_aggregator_counts){.all = 9, .resolved = 4, .ready = 2};
    return lean_answer(fake.code, error);
}

/* Hands out the rows from the first on, each once. */
static pawl_code fake_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                         pawl_arena *arena, pawl_leased_batch *leased,
                                         pawl_error *error)
{
    (void)arena;
    assert_int_not_equal(store->epoch, 0);
    assert_in_range(fake.calls, 0, COUNT(fake.claims) - 1);
    fake.claims[fake.calls++] = *claim;
    *leased                   = (pawl_leased_batch){.unresolved = 10};
    while (fake.row_count < COUNT(fake.rows) && fake.rows[fake.row_count].id != 0 &&
           (claim->count_max == 0 || leased->count < claim->count_max)) {
        if (leased->items == NULL)
            leased->items = &fake.rows[fake.row_count];
        fake.row_count++;
        leased->count++;
    }
    return lean_answer(fake.code, error);
}

static pawl_code fake_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                  size_t count, bool *known, pawl_error *error)
{
    (void)store;
    assert_int_equal(count, 1);
    fake.endpoint = endpoint;
    fake.id       = ids[0];
    *known        = fake.is_known;
    return lean_answer(fake.code, error);
}

static pawl_code fake_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                           pawl_found *found, pawl_error *error)
{
    (void)store, (void)arena;
    switch (asked->kind) {
    case PAWL_FIND_PARTITION:
        fake.partition = asked->name;
        found->count   = 3;
        break;
    case PAWL_FIND_OUTBOX:
        fake.query = asked->outbox;
        *found     = (pawl_found){.items = fake.operations, .count = fake.operation_count};
        break;
    default:
        assert_int_equal(asked->kind, PAWL_FIND_EVENTS);
        fake.events  = asked->events;
        found->count = 5;
    }
    return lean_answer(fake.code, error);
}

static pawl_code fake_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                  pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    (void)store, (void)arena;
    assert_int_equal(count, 1);
    fake.read          = reads[0];
    streams[0].version = 12;
    return lean_answer(fake.code, error);
}

static pawl_code fake_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                     pawl_error *error)
{
    (void)store;
    fake.id   = name;
    *position = 44;
    return lean_answer(fake.code, error);
}

static const pawl_store_ops reading_driver = {LEAN_STORE,
                                              .scheme             = "reading",
                                              .commit             = fake_commit,
                                              .timeout_claim      = fake_timeout_claim,
                                              .timeout_reap       = fake_timeout_reap,
                                              .aggregator_count   = fake_aggregator_count,
                                              .leased_batch_claim = fake_leased_batch_claim,
                                              .inbox_known        = fake_inbox_known,
                                              .find               = fake_find,
                                              .stream_load        = fake_stream_load,
                                              .checkpoint_get     = fake_checkpoint_get};

static fixture *f;

static int setup(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    f = lean_open("reading:");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lean_close(f);
    return 0;
}

static void expect_refused(pawl_code answer, const char *text)
{
    assert_string_equal(f->error.text, text);
    assert_int_equal(answer, PAWL_EINVAL);
    assert_int_equal(fake.calls, 0);
}

/* ---- Timeouts ----------------------------------------------------------- */

static pawl_timeout_batch_options batch_options(void)
{
    pawl_timeout_batch_options options = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    options.destination                = PAWL_TEXT("orders");
    options.owner                      = (pawl_session_id){{{8}}};
    return options;
}

static pawl_code batch(const pawl_timeout_batch_options *options, pawl_timeout_rows *rows)
{
    return pawl_store_timeout_batch(f->store, options, NOW, f->arena, rows, &f->error);
}

static void t5_a_batch_claims_what_is_due(void)
{
    pawl_timeout_rows          rows;
    pawl_timeout_batch_options options = batch_options();
    fake.next_due                      = NOW + 17;
    assert_int_equal(batch(&options, &rows), PAWL_OK);
    SAME_TEXT(fake.timeout_claim.destination, "orders");
    SAME_ID(fake.timeout_claim.owner, options.owner);
    assert_int_equal(fake.timeout_claim.due_max, NOW);
    assert_int_equal(fake.timeout_claim.now, NOW);
    assert_int_equal(fake.timeout_claim.count_max, 0);
    assert_int_equal(fake.timeout_claim.lease, PAWL_MINUTES(5));
    assert_int_equal(rows.next_due, NOW + 17);
    options.size  = 1;
    options.lease = 1;
    fake.next_due = PAWL_TIME_MAX; /* nothing is known: look again in a minute */
    assert_int_equal(batch(&options, &rows), PAWL_OK);
    assert_int_equal(fake.timeout_claim.count_max, 1);
    assert_int_equal(fake.timeout_claim.lease, 1);
    assert_int_equal(rows.next_due, NOW + 60 * 1000000);
}

static void a_batch_that_cannot_be_is_refused(void)
{
    static const struct {
        int64_t     size, lease;
        uint8_t     owner;
        const char *text;
    } cases[] = {
        {0, 1, 1, "batch of timeouts: the size is 0, at least 1 is needed"},
        {-1, 1, 1, "batch of timeouts: the size is -1, at least 1 is needed"},
        {1, 0, 1, "batch of timeouts: the lease is 0 microseconds, at least 1 is needed"},
        {1, -1, 1, "batch of timeouts: the lease is -1 microseconds, at least 1 is needed"},
        {1, 1, 0, "batch of timeouts: the owner is zero"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_timeout_rows          rows    = {.count = 7};
        pawl_timeout_batch_options options = batch_options();
        options.size                       = cases[i].size;
        options.lease                      = cases[i].lease;
        options.owner.uuid.bytes[0]        = cases[i].owner;
        expect_refused(batch(&options, &rows), cases[i].text);
        assert_int_equal(rows.count, 0);
        assert_int_equal(rows.next_due, NOW + 60 * 1000000);
    }
    assert_int_equal(lean_worker_count, 0);
}

static void leases_are_reaped_by_the_given_time(void)
{
    int64_t count = 0;
    assert_int_equal(pawl_store_timeout_reap(f->store, NOW, &count, &f->error), PAWL_OK);
    assert_int_equal(count, 6);
    assert_int_equal(fake.now, NOW);
}

/* ---- Aggregators -------------------------------------------------------- */

static void a17_rows_are_got_and_counted(void)
{
    const pawl_text   types[] = {PAWL_TEXT_INIT("Charge"), PAWL_TEXT_INIT("Pay")};
    pawl_leased_batch rows    = {.count = 7, .unresolved = 7};
    int64_t           count   = 7;
    assert_int_equal(
        pawl_store_aggregator_get(f->store, PAWL_TEXT("A"), f->arena, &rows, &f->error), PAWL_OK);
    SAME_TEXT(fake.partition, "A");
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.unresolved, 0);
    assert_int_equal(pawl_store_aggregator_count(f->store, PAWL_TEXT("B"), &count, &f->error),
                     PAWL_OK);
    SAME_TEXT(fake.partition, "B");
    assert_int_equal(count, 9);
    assert_int_equal(fake.type_count, 0);
    assert_int_equal(
        pawl_store_aggregator_count_resolved(f->store, PAWL_TEXT("C"), types, 2, &count, &f->error),
        PAWL_OK);
    SAME_TEXT(fake.partition, "C");
    assert_int_equal(count, 4);
    assert_ptr_equal(fake.types, types);
    assert_int_equal(fake.type_count, 2);
}

static int passed; /* its address is the context of can_decode */

/* Decodes messages of an odd id. */
static bool decodes_odd(const pawl_message *message, void *context)
{
    assert_ptr_equal(context, &passed);
    return (message->id.size & 1) != 0;
}

/* Rows 1, 2, 3 ...; the size of a message's id is its row's. */
static void put_rows(size_t count)
{
    fake.calls     = 0;
    fake.row_count = 0;
    memset(fake.rows, 0, sizeof fake.rows);
    for (size_t i = 0; i < count; i++)
        fake.rows[i] = (pawl_aggregator_row){
            .id = (int64_t)i + 1, .message = {.id = {.data = "12345678", .size = i + 1}}};
}

static pawl_code take(const pawl_aggregator_leased_batch_options *options,
                      pawl_aggregator_leased_batch               *leased)
{
    return pawl_store_aggregator_leased_batch(f->store, options, NOW, f->arena, leased, &f->error);
}

static void a14_a_snapshot_leases_what_it_asks_for(void)
{
    char                                 name[]  = "Bills";
    const pawl_text                      types[] = {PAWL_TEXT_INIT("Charge")};
    pawl_aggregator_leased_batch         leased;
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    options.partition                            = (pawl_text){.data = name, .size = 5};
    options.session                              = (pawl_session_id){{{9}}};
    options.types                                = types;
    options.type_count                           = 1;
    put_rows(3);
    assert_int_equal(take(&options, &leased), PAWL_OK);
    assert_int_equal(fake.calls, 1);
    SAME_TEXT(fake.claims[0].partition, "Bills");
    SAME_ID(fake.claims[0].session, options.session);
    assert_ptr_equal(fake.claims[0].types, types);
    assert_int_equal(fake.claims[0].type_count, 1);
    assert_int_equal(fake.claims[0].count_max, 0);
    assert_int_equal(fake.claims[0].id_max, 0);
    assert_int_equal(fake.claims[0].now, NOW);
    assert_int_equal(fake.claims[0].lease, PAWL_MINUTES(5));
    assert_int_equal(leased.count, 3);
    assert_int_equal(leased.unresolved, 10);
    SAME_ID(leased.session, options.session);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(leased.ids[i], i + 1);
        assert_int_equal(leased.rows[i].id, i + 1);
    }
    memset(name, 'x', sizeof name); /* the snapshot outlives the caller's text */
    SAME_TEXT(leased.partition, "Bills");
}

/* A15: each snapshot without a session gets one of its own, and its claims are under it. */
static void a15_a_session_is_made(void)
{
    pawl_aggregator_leased_batch         first, second;
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    options.partition                            = PAWL_TEXT("Bills");
    put_rows(1);
    assert_int_equal(take(&options, &first), PAWL_OK);
    assert_int_equal(take(&options, &second), PAWL_OK);
    assert_false(pawl_uuid_is_zero(first.session.uuid));
    assert_int_not_equal(pawl_uuid_compare(first.session.uuid, second.session.uuid), 0);
    SAME_ID(fake.claims[0].session, first.session);
    SAME_ID(fake.claims[1].session, second.session);
    assert_int_equal(fake.release_count, 1); /* the second found nothing that it could hand out */
    SAME_ID(fake.released, second.session);
}

/* Rows that do not decode are counted, and the snapshot is filled up behind them. */
static void a_bounded_snapshot_is_filled_up(void)
{
    static const struct {
        size_t  rows;
        int64_t size;
        size_t  taken, calls, undecodable, asked[3];
    } cases[] = {
        {5, PAWL_SIZE_DEFAULT, 3, 1, 2, {0}},
        {5, 1, 1, 1, 0, {1}},
        {5, 2, 2, 2, 1, {2, 1}},
        {5, 3, 3, 3, 2, {3, 1, 1}},
        {1, 1, 1, 1, 0, {1}},
        {1, 2, 1, 1, 0, {2}},
        {2, 2, 1, 2, 1, {2, 1}},
    };
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    options.partition                            = PAWL_TEXT("Bills");
    options.can_decode                           = decodes_odd;
    options.context                              = &passed;
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_aggregator_leased_batch leased;
        options.size = cases[i].size;
        put_rows(cases[i].rows);
        assert_int_equal(take(&options, &leased), PAWL_OK);
        assert_int_equal(leased.count, cases[i].taken);
        assert_int_equal(fake.calls, cases[i].calls);
        assert_int_equal(leased.unresolved, 10 + cases[i].undecodable);
        for (size_t j = 0; j < cases[i].calls; j++) {
            assert_int_equal(fake.claims[j].count_max, cases[i].asked[j]);
            SAME_ID(fake.claims[j].session, leased.session);
        }
        for (size_t j = 0; j < leased.count; j++)
            assert_int_equal(leased.ids[j], 2 * j + 1);
    }
    assert_int_equal(fake.release_count, 0);
}

static void a_snapshot_that_cannot_be_is_refused(void)
{
    static const struct {
        int64_t     size, lease;
        const char *text;
    } cases[] = {
        {0, 1, "leased batch of an aggregator: the size is 0, at least 1 is needed"},
        {-1, 1, "leased batch of an aggregator: the size is -1, at least 1 is needed"},
        {1, 0, "leased batch of an aggregator: the lease is 0 microseconds, at least 1 is needed"},
        {1, -1,
         "leased batch of an aggregator: the lease is -1 microseconds, at least 1 is needed"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_aggregator_leased_batch         leased;
        pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
        options.size                                 = cases[i].size;
        options.lease                                = cases[i].lease;
        expect_refused(take(&options, &leased), cases[i].text);
        assert_int_equal(leased.count, 0);
    }
    assert_int_equal(lean_worker_count + fake.release_count, 0);
}

/* ---- The outbox of a message -------------------------------------------- */

static void o24_an_outbox_is_what_is_left_to_send(void)
{
    static const struct {
        bool              is_known;
        size_t            count;
        pawl_outbox_state states[3];
        pawl_time         dispatched[3];
        bool              is_found;
        size_t            left;
        pawl_time         sent; /* the last of them */
    } cases[] = {
        {false, 0, {0}, {0}, false, 0, 0},
        {true, 0, {0}, {0}, true, 0, 0},
        {false, 1, {PAWL_OUTBOX_DISPATCHED}, {5}, false, 0, 0},
        {true, 1, {PAWL_OUTBOX_DISPATCHED}, {5}, true, 0, 5},
        {true, 2, {PAWL_OUTBOX_DISPATCHED, PAWL_OUTBOX_DISCARDED}, {5, 9}, true, 0, 9},
        {true, 2, {PAWL_OUTBOX_DISPATCHED, PAWL_OUTBOX_DISPATCHED}, {9, 5}, true, 0, 9},
        {true, 2, {PAWL_OUTBOX_DISPATCHED, PAWL_OUTBOX_PENDING}, {9, 0}, true, 1, 0},
        {false, 3, {PAWL_OUTBOX_PENDING, PAWL_OUTBOX_DEAD, PAWL_OUTBOX_BLOCKED}, {0}, true, 3, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_outbox_record record;
        bool               is_found;
        fake.is_known        = cases[i].is_known;
        fake.operation_count = cases[i].count;
        for (size_t j = 0; j < cases[i].count; j++)
            fake.operations[j] = (pawl_outbox_row){.id         = (int64_t)j,
                                                   .state      = cases[i].states[j],
                                                   .dispatched = cases[i].dispatched[j]};
        assert_int_equal(pawl_store_outbox_get(f->store, PAWL_TEXT("orders"), PAWL_TEXT("m-1"),
                                               f->arena, &record, &is_found, &f->error),
                         PAWL_OK);
        SAME_TEXT(fake.endpoint, "orders");
        SAME_TEXT(fake.id, "m-1");
        SAME_TEXT(fake.query.endpoint, "orders");
        SAME_TEXT(fake.query.causation_id, "m-1");
        assert_int_equal(fake.query.states, 0);
        assert_int_equal(fake.query.count_max, 0);
        assert_int_equal(is_found, cases[i].is_found);
        assert_int_equal(record.count, cases[i].left);
        assert_int_equal(record.dispatched, cases[i].sent);
        for (size_t j = 0; j < record.count; j++)
            assert_int_not_equal(record.operations[j].state, PAWL_OUTBOX_DISPATCHED);
    }
}

static void a_query_comes_to_the_driver(void)
{
    pawl_outbox_rows        rows  = {.count = 7};
    const pawl_outbox_query query = {.states = 5, .after = 3, .count_max = 2};
    fake.operation_count          = 1;
    assert_int_equal(pawl_store_outbox_find(f->store, &query, f->arena, &rows, &f->error), PAWL_OK);
    assert_memory_equal(&fake.query, &query, sizeof query);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.next_attempt, PAWL_TIME_MAX);
}

/* ---- The journal -------------------------------------------------------- */

static void reads_of_the_journal_come_to_the_driver(void)
{
    pawl_stream            stream   = {.version = 7};
    pawl_event_rows        rows     = {.count = 7};
    int64_t                position = 7;
    const pawl_stream_read read     = {.stream = PAWL_TEXT_INIT("Account/1")};
    const pawl_event_query query    = {.stream = PAWL_TEXT_INIT("Account/1")};
    assert_int_equal(pawl_store_stream_read(f->store, &read, f->arena, &stream, &f->error),
                     PAWL_OK);
    assert_memory_equal(&fake.read, &read, sizeof read);
    assert_int_equal(stream.version, 12);
    assert_int_equal(pawl_store_events(f->store, &query, f->arena, &rows, &f->error), PAWL_OK);
    assert_memory_equal(&fake.events, &query, sizeof query);
    assert_int_equal(rows.count, 5);
    assert_int_equal(pawl_store_checkpoint_get(f->store, PAWL_TEXT("totals"), &position, &f->error),
                     PAWL_OK);
    SAME_TEXT(fake.id, "totals");
    assert_int_equal(position, 44);
}

const pawl_store_ops *const tests_drivers[] = {&reading_driver, NULL};

#define CASE(name) TEST_BETWEEN(name, setup, teardown)
const struct CMUnitTest tests[] = {
    CASE(t5_a_batch_claims_what_is_due),           CASE(a_batch_that_cannot_be_is_refused),
    CASE(leases_are_reaped_by_the_given_time),     CASE(a17_rows_are_got_and_counted),
    CASE(a14_a_snapshot_leases_what_it_asks_for),  CASE(a15_a_session_is_made),
    CASE(a_bounded_snapshot_is_filled_up),         CASE(a_snapshot_that_cannot_be_is_refused),
    CASE(o24_an_outbox_is_what_is_left_to_send),   CASE(a_query_comes_to_the_driver),
    CASE(reads_of_the_journal_come_to_the_driver), {.name = NULL},
};
