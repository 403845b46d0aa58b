/* test_store_operations.c - the public operations around a driver that fails, lacks entries or does
 * not know whether a commit landed. The operations on a store are proved by
 * src/conformance/operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/lean.h"

#include "pawl/operations.h"
#include "store/core/operation.h"

#define NOW INT64_C(1767225600000000)

/* ---- A driver that answers what the test says --------------------------- */

static struct {
    pawl_code commit_code, load_code, count_code, claim_code;
    int64_t   row_count; /* of every partition */
    unsigned  commit_count, claim_count, claim_good, release_count;
} fake;

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    (void)store;
    fake.commit_count++;
    fake.release_count += (unsigned)changes->leased_batch_release.count;
    if (fake.commit_code == PAWL_ECONFLICT)
        return pawl_refusals_add(refused, pawl_change_aggregator_remove, 0, 0, PAWL_ECONFLICT,
                                 PAWL_TEXT("nothing removed"));
    return lean_answer(fake.commit_code, error);
}

static pawl_code fake_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                           const pawl_value *values, size_t count, pawl_saga_lock lock,
                           pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    (void)store, (void)table, (void)key, (void)values, (void)count, (void)lock, (void)arena;
    rows[0].version = 9; /* rows of a failed call are not looked at */
    return lean_answer(fake.load_code, error);
}

static pawl_code fake_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                 pawl_error *error)
{
    (void)store, (void)table;
    *count = 0;
    return lean_answer(fake.count_code, error);
}

static pawl_code fake_aggregator_count(pawl_store *store, pawl_text partition,
                                       const pawl_text *types, size_t type_count, pawl_time now,
                                       pawl_aggregator_counts *counts, pawl_error *error)
{
    (void)store, (void)partition, (void)types, (void)type_count, (void)now;
    counts->all = fake.row_count;
    return lean_answer(fake.count_code, error);
}

/* One row a call; after `claim_good` calls what the test says. */
static pawl_code fake_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                         pawl_arena *arena, pawl_leased_batch *leased,
                                         pawl_error *error)
{
    (void)store;
    *leased = (pawl_leased_batch){0};
    if (fake.claim_count++ >= fake.claim_good)
        return lean_answer(fake.claim_code, error);
    leased->items = pawl_arena_take(arena, sizeof leased->items[0]);
    leased->count = claim->count_max;
    assert_int_equal(claim->count_max, 1);
    return PAWL_OK;
}

static const pawl_store_ops fake_driver = {
    LEAN_STORE,
    .scheme             = "full",
    .promises           = PAWL_STORE_KNOWS_REFUSED,
    .commit             = fake_commit,
    .saga_load          = fake_load,
    .saga_count         = fake_saga_count,
    .aggregator_count   = fake_aggregator_count,
    .leased_batch_claim = fake_leased_batch_claim,
};

/* The least that a driver may have. */
static const pawl_store_ops lean_driver = {LEAN_STORE, .scheme = "lean", .commit = fake_commit};

static const pawl_saga_table table = {
    .type = PAWL_TEXT_INIT("Order"),
    .name = PAWL_TEXT_INIT("t_order"),
    .main = {.property = PAWL_TEXT_INIT("Ref"), .type = PAWL_VALUE_TEXT}};

static fixture *open_fixture(const char *url)
{
    memset(&fake, 0, sizeof fake);
    return lean_begin(url);
}

static void expect_text(const fixture *f, const char *part)
{
    if (strstr(f->error.text, part) == NULL)
        fail_msg("'%s' lacks '%s'", f->error.text, part);
}

/* ---- Tests -------------------------------------------------------------- */

static void an_absent_entry_is_unsupported(void)
{
    fixture                             *f = open_fixture("lean:");
    pawl_saga_row                        saga;
    pawl_timeout_rows                    timeouts;
    pawl_leased_batch                    rows;
    pawl_aggregator_leased_batch         leased;
    int64_t                              count       = -1;
    pawl_timeout_batch_options           batch       = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    pawl_aggregator_leased_batch_options snapshot_of = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    const pawl_value                     value       = pawl_value_text(PAWL_TEXT("r"));

    batch.owner.uuid.bytes[0] = 1;
    const pawl_code answers[] = {
        pawl_store_saga_find(f->store, &table, PAWL_SAGA_BY_MAIN, value, f->arena, &saga,
                             &f->error),
        pawl_store_timeout_batch(f->store, &batch, NOW, f->arena, &timeouts, &f->error),
        pawl_store_timeout_reap(f->store, NOW, &count, &f->error),
        pawl_store_aggregator_get(f->store, PAWL_TEXT("A"), f->arena, &rows, &f->error),
        pawl_store_aggregator_leased_batch(f->store, &snapshot_of, NOW, f->arena, &leased,
                                           &f->error),
        pawl_store_aggregator_count_resolved(f->store, PAWL_TEXT("A"), NULL, 0, &count, &f->error),
        pawl_store_aggregator_count(f->store, PAWL_TEXT("A"), &count, &f->error),
    };
    for (size_t i = 0; i < COUNT(answers); i++)
        assert_int_equal(answers[i], PAWL_EUNSUPPORTED);
    assert_string_equal(f->error.text, "driver 'lean' has no aggregator_count");
    assert_int_equal(count, 0);
}

/* S1: a missing table is one that cannot be counted either. */
static void only_a_missing_table_counts_as_none(void)
{
    fixture         *f     = open_fixture("full:");
    pawl_saga_row    row   = {.version = -1};
    const pawl_value value = pawl_value_text(PAWL_TEXT("r"));
    fake.load_code         = PAWL_ESCHEMA;
    fake.count_code        = PAWL_ESCHEMA;
    assert_int_equal(
        pawl_store_saga_find(f->store, &table, PAWL_SAGA_BY_MAIN, value, f->arena, &row, &f->error),
        PAWL_OK);
    assert_int_equal(row.version, 0);
    assert_int_equal(f->error.code, PAWL_OK);
    assert_int_equal(
        pawl_store_saga_find(f->store, &table, PAWL_SAGA_BY_MAIN, value, f->arena, &row, NULL),
        PAWL_OK);

    fake.count_code = PAWL_OK; /* the table is there; a column is not */
    assert_int_equal(
        pawl_store_saga_find(f->store, &table, PAWL_SAGA_BY_MAIN, value, f->arena, &row, &f->error),
        PAWL_ESCHEMA);
    fake.load_code = PAWL_EPERSIST;
    assert_int_equal(
        pawl_store_saga_find(f->store, &table, PAWL_SAGA_BY_MAIN, value, f->arena, &row, &f->error),
        PAWL_EPERSIST);
    expect_text(f, "page 7 is damaged");
}

/* A23, and the reads behind the two answers of A21. */
static void a_failure_in_remove_keeps_its_cause(void)
{
    fixture        *f     = open_fixture("full:");
    const pawl_text bills = PAWL_TEXT("Bills"), id = PAWL_TEXT("c-1");
    fake.commit_code = PAWL_EPERSIST;
    assert_int_equal(pawl_store_aggregator_remove(f->store, bills, id, NOW, &f->error),
                     PAWL_EPERSIST);
    expect_text(f, "page 7 is damaged");
    fake.commit_code = PAWL_ECONFLICT;
    fake.count_code  = PAWL_EPERSIST;
    assert_int_equal(pawl_store_aggregator_remove(f->store, bills, id, NOW, &f->error),
                     PAWL_EPERSIST);
    expect_text(f, "page 7 is damaged");
    fake.count_code = PAWL_OK;
    assert_int_equal(pawl_store_aggregator_remove(f->store, bills, id, NOW, &f->error),
                     PAWL_ENOTFOUND);
    fake.row_count = 3;
    assert_int_equal(pawl_store_aggregator_remove(f->store, bills, id, NOW, &f->error),
                     PAWL_ECONFLICT);
    assert_string_equal(f->error.text,
                        "aggregator 'Bills': no row has correlation id 'c-1', it holds 3 rows");
}

/* O32: operations of one change ask for an unknown outcome as well. */
static void an_unknown_outcome_is_settled_before_the_row(void)
{
    fixture           *f      = open_fixture("full:");
    pawl_saga_row      row    = {.main = pawl_value_text(PAWL_TEXT("r"))};
    pawl_outbox_row    outbox = {.id = 4, .attempts = 2};
    pawl_outbox_result sent   = {.outcome = PAWL_ATTEMPT_SUCCESS};
    fake.commit_code          = PAWL_EUNKNOWN;
    assert_int_equal(pawl_store_saga_insert(f->store, &table, &row, NOW, &f->error), PAWL_ELOST);
    assert_true(pawl_uuid_is_zero(row.id.uuid));
    assert_int_equal(row.version, 0);
    assert_int_equal(pawl_store_outbox_settle(f->store, &outbox, &sent, NOW, &f->error),
                     PAWL_ELOST);
    assert_int_equal(outbox.state, PAWL_OUTBOX_PENDING);
    assert_int_equal(outbox.attempts, 2);

    lean_is_applied = true;
    assert_int_equal(pawl_store_saga_insert(f->store, &table, &row, NOW, &f->error), PAWL_OK);
    assert_false(pawl_uuid_is_zero(row.id.uuid));
    assert_int_equal(row.version, 1);
    assert_int_equal(pawl_store_saga_update(f->store, &table, &row, NOW, &f->error), PAWL_OK);
    assert_int_equal(row.version, 2);
    assert_int_equal(pawl_store_outbox_settle(f->store, &outbox, &sent, NOW, &f->error), PAWL_OK);
    assert_int_equal(outbox.state, PAWL_OUTBOX_DISPATCHED);
    lean_is_applied = false;
    assert_int_equal(pawl_store_saga_update(f->store, &table, &row, NOW, &f->error), PAWL_ELOST);
    assert_int_equal(row.version, 2);
    assert_int_equal(lean_worker_count, 1);
}

static bool decodes_nothing(const pawl_message *message, void *context)
{
    (void)message, (void)context;
    return false;
}

/* A snapshot that fails half-way gives back what it had leased. */
static void a_snapshot_that_fails_leaves_no_lease(void)
{
    fixture                             *f       = open_fixture("full:");
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    pawl_aggregator_leased_batch         leased;
    options.partition  = PAWL_TEXT("Bills");
    options.size       = 1;
    options.can_decode = decodes_nothing;
    fake.claim_good    = 3;
    fake.claim_code    = PAWL_EBUSY;
    assert_int_equal(
        pawl_store_aggregator_leased_batch(f->store, &options, NOW, f->arena, &leased, &f->error),
        PAWL_EBUSY);
    expect_text(f, "page 7 is damaged");
    assert_int_equal(fake.claim_count, 4);
    assert_int_equal(fake.release_count, 1);
    assert_int_equal(leased.count, 0);

    leased            = (pawl_aggregator_leased_batch){.partition = PAWL_TEXT("Bills")};
    fake.commit_count = 0; /* A11: nothing to remove asks nothing */
    assert_int_equal(pawl_store_aggregator_remove_leased_batch(f->store, &leased, NOW, &f->error),
                     PAWL_OK);
    assert_int_equal(fake.commit_count, 0);
}

static void handles_make_different_ids(void)
{
    enum { HANDLES = 4, IDS = 8 };
    pawl_store *stores[HANDLES];
    pawl_uuid   ids[HANDLES * IDS];
    for (size_t i = 0; i < HANDLES; i++)
        assert_int_equal(pawl_store_open("lean:", NULL, &stores[i], NULL), PAWL_OK);
    for (size_t i = 0; i < HANDLES * IDS; i++)
        ids[i] = pawl__store_new_id(stores[i % HANDLES], NOW);
    for (size_t i = 0; i < HANDLES * IDS; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(pawl_uuid_compare(ids[i], ids[j]), 0);
    for (size_t i = 0; i < HANDLES; i++)
        pawl_store_close(stores[i]);
}

const pawl_store_ops *const tests_drivers[] = {&fake_driver, &lean_driver, NULL};

const struct CMUnitTest tests[] = {
    TEST(an_absent_entry_is_unsupported),
    TEST(only_a_missing_table_counts_as_none),
    TEST(a_failure_in_remove_keeps_its_cause),
    TEST(an_unknown_outcome_is_settled_before_the_row),
    TEST(a_snapshot_that_fails_leaves_no_lease),
    TEST(handles_make_different_ids),
    {.name = NULL},
};
