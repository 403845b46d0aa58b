/* test_store_operations.c - the public operations around a driver that fails, lacks entries or does
 * not know whether a commit landed. The operations on a store are proved by
 * src/conformance/operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/minimal.h"

#include "pawl/operations.h"
#include "store/core/call.h"

#define NOW INT64_C(1767225600000000)

/* ---- A driver that answers what the test says --------------------------- */

static struct {
    pawl_code commit_code, load_code, count_code, claim_code, known_code, find_code;
    int64_t   row_count; /* of every partition */
    int64_t   hint;      /* of the saga that a commit updates */
    pawl_time at;        /* of the checkpoint that it sets */
    size_t    count_max;
    pawl_text source; /* of the outbox row that it settles */
    unsigned  commit_count, claim_count, claim_good, release_count, find_count;
} fake;

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    fake.commit_count++;
    fake.release_count += (unsigned)changes->leased_batch_release.count;
    if (changes->saga_update.count != 0)
        fake.hint = changes->saga_update.items[0].row;
    if (changes->outbox_settle.count != 0)
        fake.source = changes->outbox_settle.items[0].source;
    if (changes->checkpoint_set.count != 0)
        fake.at = changes->checkpoint_set.items[0].at;
    if (fake.commit_code == PAWL_ECONFLICT)
        return pawl_refusals_add(refused, pawl_change_aggregator_remove, 0, 0, PAWL_ECONFLICT,
                                 PAWL_TEXT("nothing removed"));
    return minimal_answer(fake.commit_code, error);
}

static pawl_code fake_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                           const pawl_value *values, size_t count, pawl_saga_lock lock,
                           pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    rows[0].version = 9; /* rows of a failed call are not looked at */
    return minimal_answer(fake.load_code, error);
}

static pawl_code fake_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                 pawl_error *error)
{
    *count = 0;
    return minimal_answer(fake.count_code, error);
}

static pawl_code fake_aggregator_count(pawl_store *store, pawl_text partition,
                                       const pawl_text *types, size_t type_count, pawl_time now,
                                       pawl_aggregator_counts *counts, pawl_error *error)
{
    counts->all = fake.row_count;
    return minimal_answer(fake.count_code, error);
}

/* One row a call; after `claim_good` calls what the test says. */
static pawl_code fake_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                         pawl_arena *arena, pawl_leased_batch *leased,
                                         pawl_error *error)
{
    *leased        = (pawl_leased_batch){0};
    fake.count_max = claim->count_max;
    if (fake.claim_count++ >= fake.claim_good)
        return minimal_answer(fake.claim_code, error);
    leased->items = pawl_arena_take(arena, sizeof leased->items[0]);
    leased->count = claim->count_max;
    assert_int_equal(claim->count_max, 1);
    return PAWL_OK;
}

static pawl_code fake_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                    pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    fake.count_max = claim->count_max;
    return PAWL_OK;
}

/* Every message is known. */
static pawl_code fake_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                  size_t count, bool *known, pawl_error *error)
{
    *known = true;
    return minimal_answer(fake.known_code, error);
}

static pawl_code fake_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                           pawl_found *found, pawl_error *error)
{
    fake.find_count++;
    return minimal_answer(fake.find_code, error);
}

static const pawl_store_ops fake_driver = {
    MINIMAL_STORE,
    .scheme             = "full",
    .promises           = PAWL_STORE_KNOWS_REFUSED,
    .commit             = fake_commit,
    .saga_load          = fake_load,
    .saga_count         = fake_saga_count,
    .aggregator_count   = fake_aggregator_count,
    .leased_batch_claim = fake_leased_batch_claim,
    .timeout_claim      = fake_timeout_claim,
    .inbox_known        = fake_inbox_known,
    .find               = fake_find,
};

/* The least that a driver may have. */
static const pawl_store_ops minimal_driver = {MINIMAL_STORE, .scheme = "minimal",
                                              .commit = fake_commit};

static const pawl_saga_table table = {
    .type = PAWL_TEXT_INIT("Order"),
    .name = PAWL_TEXT_INIT("t_order"),
    .main = {.property = PAWL_TEXT_INIT("Ref"), .type = PAWL_VALUE_TEXT}};

static fixture *open_fixture(const char *url)
{
    memset(&fake, 0, sizeof fake);
    return minimal_begin(url);
}

static void expect_text(const fixture *f, const char *part)
{
    if (strstr(f->error.text, part) == NULL)
        fail_msg("'%s' lacks '%s'", f->error.text, part);
}

TEST(an_absent_entry_is_unsupported)
{
    fixture                             *f = open_fixture("minimal:");
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
    assert_string_equal(f->error.text, "driver 'minimal' has no aggregator_count");
    assert_int_equal(count, 0);
}

/* S1: a missing table is one that cannot be counted either. */
TEST(only_a_missing_table_counts_as_none)
{
    fixture         *f     = open_fixture("full:");
    pawl_saga_row    row   = {.version = -1};
    const pawl_value value = pawl_value_text(PAWL_TEXT("r"));
    fake.load_code         = PAWL_ESCHEMA;
    fake.count_code        = PAWL_ESCHEMA;
    must(pawl_store_saga_find(f->store, &table, PAWL_SAGA_BY_MAIN, value, f->arena, &row,
                              world_error()));
    assert_int_equal(row.version, 0);
    assert_int_equal(f->error.code, PAWL_OK);
    must(pawl_store_saga_find(f->store, &table, PAWL_SAGA_BY_MAIN, value, f->arena, &row,
                              world_error()));

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
TEST(a_failure_in_remove_keeps_its_cause)
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
TEST(an_unknown_outcome_is_settled_before_the_row)
{
    fixture           *f      = open_fixture("full:");
    pawl_saga_row      row    = {.main = pawl_value_text(PAWL_TEXT("r"))};
    pawl_outbox_row    outbox = {.id = 4, .attempts = 2, .source = PAWL_TEXT_INIT("Order/1")};
    pawl_outbox_result sent   = {.outcome = PAWL_ATTEMPT_SUCCESS};
    fake.commit_code          = PAWL_EUNKNOWN;
    assert_int_equal(pawl_store_saga_insert(f->store, &table, &row, NOW, &f->error), PAWL_ELOST);
    assert_true(pawl_uuid_is_zero(row.id.uuid));
    assert_int_equal(row.version, 0);
    assert_int_equal(pawl_store_outbox_settle(f->store, &outbox, &sent, NOW, &f->error),
                     PAWL_ELOST);
    assert_int_equal(outbox.state, PAWL_OUTBOX_PENDING);
    assert_int_equal(outbox.attempts, 2);

    minimal_is_applied = true;
    assert_int_equal(pawl_store_saga_insert(f->store, &table, &row, NOW, &f->error), PAWL_OK);
    assert_false(pawl_uuid_is_zero(row.id.uuid));
    assert_int_equal(row.version, 1);
    row.row = 31;
    assert_int_equal(pawl_store_saga_update(f->store, &table, &row, NOW, &f->error), PAWL_OK);
    assert_int_equal(row.version, 2);
    assert_int_equal(fake.hint, 31);
    assert_int_equal(pawl_store_outbox_settle(f->store, &outbox, &sent, NOW, &f->error), PAWL_OK);
    assert_int_equal(outbox.state, PAWL_OUTBOX_DISPATCHED);
    assert_true(pawl_text_equal(fake.source, PAWL_TEXT("Order/1")));
    minimal_is_applied = false;
    assert_int_equal(pawl_store_saga_update(f->store, &table, &row, NOW, &f->error), PAWL_ELOST);
    assert_int_equal(row.version, 2);
    assert_int_equal(minimal_worker_count, 1);
}

static bool decodes_nothing(const pawl_message *message, void *context)
{
    return false;
}

/* A snapshot that fails half-way gives back what it had leased. */
TEST(a_snapshot_that_fails_leaves_no_lease)
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
    must(pawl_store_aggregator_remove_leased_batch(f->store, &leased, NOW, world_error()));
    assert_int_equal(fake.commit_count, 0);
}

/* T3. */
TEST(without_a_size_the_stores_own_holds)
{
    fixture                             *f     = open_fixture("full:");
    pawl_timeout_batch_options           batch = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    pawl_aggregator_leased_batch_options lease = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    pawl_timeout_rows                    rows;
    pawl_aggregator_leased_batch         leased;
    batch.owner.uuid.bytes[0] = 1;
    lease.partition           = PAWL_TEXT("Bills");
    fake.count_max            = 7;
    must(pawl_store_timeout_batch(f->store, &batch, NOW, f->arena, &rows, world_error()));
    assert_int_equal(fake.count_max, 0);
    fake.count_max = 7;
    must(pawl_store_aggregator_leased_batch(f->store, &lease, NOW, f->arena, &leased,
                                            world_error()));
    assert_int_equal(fake.count_max, 0);
}

TEST(a_checkpoint_has_the_time_of_its_commit)
{
    fixture *f = open_fixture("full:");
    must(pawl_store_checkpoint_set(f->store, PAWL_TEXT("totals"), 3, 9, NOW, world_error()));
    assert_int_equal(fake.at, NOW);
}

TEST(o2_dispatches_to_a_driver_without_an_outbox_reach_no_store)
{
    fixture              *f        = open_fixture("minimal:");
    const pawl_event      event    = {.type = PAWL_TEXT_INIT("Deposited"), .type_version = 1};
    const pawl_outbox_row dispatch = {.destination = PAWL_TEXT_INIT("billing"),
                                      .message     = {.type = PAWL_TEXT_INIT("Charge")}};
    pawl_append           append   = {.stream         = PAWL_TEXT_INIT("Account/1"),
                                      .events         = &event,
                                      .event_count    = 1,
                                      .dispatches     = &dispatch,
                                      .dispatch_count = 1,
                                      .outbox         = PAWL_TEXT_INIT("accounts")};
    assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_ECONFIG);
    assert_string_equal(f->error.text, "append to stream 'Account/1': 1 dispatches, but driver "
                                       "'minimal' has no outbox");
    assert_int_equal(fake.commit_count, 0);
    append.dispatch_count = 0;
    assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_OK);
    assert_int_equal(fake.commit_count, 1);
}

static pawl_code outbox_of_m1(fixture *f, bool *is_found)
{
    pawl_outbox_record record;
    return pawl_store_outbox_get(f->store, PAWL_TEXT("orders"), PAWL_TEXT("m-1"), f->arena, &record,
                                 is_found, &f->error);
}

TEST(o33_a_message_of_which_the_store_cannot_tell)
{
    fixture *f        = open_fixture("full:");
    bool     is_found = true;
    fake.known_code   = PAWL_EBUSY;
    assert_int_equal(outbox_of_m1(f, &is_found), PAWL_EBUSY);
    assert_false(is_found);
    assert_int_equal(fake.find_count, 0);
    fake.known_code = PAWL_OK;
    fake.find_code  = PAWL_ELOST;
    assert_int_equal(outbox_of_m1(f, &is_found), PAWL_ELOST);
    assert_false(is_found);
    fake.find_code = PAWL_OK;
    assert_int_equal(outbox_of_m1(f, &is_found), PAWL_OK);
    assert_true(is_found);
}

TEST(handles_make_different_ids)
{
    enum { HANDLES = 4, IDS = 8 };
    pawl_store *stores[HANDLES];
    pawl_uuid   ids[HANDLES * IDS];
    for (size_t i = 0; i < HANDLES; i++)
        assert_int_equal(pawl_store_open("minimal:", NULL, &stores[i], NULL), PAWL_OK);
    for (size_t i = 0; i < HANDLES * IDS; i++)
        ids[i] = pawl__store_new_id(stores[i % HANDLES], NOW);
    for (size_t i = 0; i < HANDLES * IDS; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(pawl_uuid_compare(ids[i], ids[j]), 0);
    for (size_t i = 0; i < HANDLES; i++)
        pawl_store_close(stores[i]);
}

const pawl_store_ops *const tests_drivers[] = {&fake_driver, &minimal_driver, NULL};
