/* test_store_operations_changes.c - the changes that the public operations on timeouts, aggregators
 * and the outbox ask a driver to commit, field by field, and their own refusals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/keeper.h"

#include "pawl/operations.h"

/* ---- Timeouts ----------------------------------------------------------- */

static void a_timeout_is_inserted_as_it_is(void)
{
    const pawl_timeout_row row = {.id             = {{{1}}},
                                  .saga_id        = {{{2}}},
                                  .saga_type      = PAWL_TEXT_INIT("Order"),
                                  .name           = PAWL_TEXT_INIT("remind"),
                                  .destination    = PAWL_TEXT_INIT("orders"),
                                  .due            = KEEPER_NOW + 5,
                                  .headers        = PAWL_TEXT_INIT("{}"),
                                  .correlation_id = PAWL_TEXT_INIT("c-1")};
    assert_int_equal(pawl_store_timeout_insert(keeper->store, &row, KEEPER_NOW, NULL), PAWL_OK);
    keeper_commit(1);
    SAME_ID(kept.timeout_set.id, row.id);
    SAME_ID(kept.timeout_set.saga_id, row.saga_id);
    SAME_TEXT(kept.timeout_set.saga_type, "Order");
    SAME_TEXT(kept.timeout_set.name, "remind");
    SAME_TEXT(kept.timeout_set.destination, "orders");
    SAME_TEXT(kept.timeout_set.headers, "{}");
    SAME_TEXT(kept.timeout_set.correlation_id, "c-1");
    assert_int_equal(kept.timeout_set.due, KEEPER_NOW + 5);
    assert_true(kept.timeout_set.is_new);
}

typedef pawl_code settle_fn(pawl_store *store, pawl_timeout_id id, const pawl_session_id *owner,
                            pawl_time now, pawl_error *error);

static void a_timeout_is_settled_for_its_owner(void)
{
    static const struct {
        settle_fn          *settle;
        pawl_timeout_action action;
        const char         *refused;
    } cases[] = {
        {pawl_store_timeout_remove, PAWL_TIMEOUT_REMOVE, "remove of a timeout: the owner is zero"},
        {pawl_store_timeout_release, PAWL_TIMEOUT_RELEASE,
         "release of a timeout: the owner is zero"}};
    const pawl_timeout_id id    = {{{3}}};
    const pawl_session_id owner = {{{4}}}, zero = {{{0}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(cases[i].settle(keeper->store, id, &owner, KEEPER_NOW, NULL), PAWL_OK);
        keeper_commit(1);
        assert_int_equal(kept.timeout_settle.action, cases[i].action);
        SAME_ID(kept.timeout_settle.id, id);
        assert_true(kept.timeout_settle.has_owner);
        SAME_ID(kept.timeout_settle.owner, owner);
        assert_int_equal(kept.timeout_settle.generation, 0);
        assert_int_equal(cases[i].settle(keeper->store, id, NULL, KEEPER_NOW, NULL), PAWL_OK);
        keeper_commit(1);
        assert_int_equal(kept.timeout_settle.action, cases[i].action);
        assert_false(kept.timeout_settle.has_owner);
        keeper_refused(cases[i].settle(keeper->store, id, &zero, KEEPER_NOW, &keeper->error),
                       PAWL_EINVAL, cases[i].refused);
    }
}

/* ---- Aggregators -------------------------------------------------------- */

static void an_aggregator_row_has_a_partition_and_a_key(void)
{
    static const struct {
        pawl_text partition, key;
        pawl_text partition_is, key_is;
    } cases[] = {
        {PAWL_TEXT_INIT(""), PAWL_TEXT_INIT(""), PAWL_TEXT_INIT("Bills"), PAWL_TEXT_INIT("m-1")},
        {PAWL_TEXT_INIT("Bills/1"), PAWL_TEXT_INIT(""), PAWL_TEXT_INIT("Bills/1"),
         PAWL_TEXT_INIT("m-1")},
        {PAWL_TEXT_INIT(""), PAWL_TEXT_INIT("k"), PAWL_TEXT_INIT("Bills"), PAWL_TEXT_INIT("k")},
        {PAWL_TEXT_INIT("Bills/1"), PAWL_TEXT_INIT("k"), PAWL_TEXT_INIT("Bills/1"),
         PAWL_TEXT_INIT("k")}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const pawl_aggregator_row row = {.name      = PAWL_TEXT_INIT("Bills"),
                                         .partition = cases[i].partition,
                                         .key       = cases[i].key,
                                         .message   = keeper_message};
        assert_int_equal(
            pawl_store_aggregator_insert(keeper->store, &row, KEEPER_NOW + 9, KEEPER_NOW, NULL),
            PAWL_OK);
        keeper_commit(1);
        SAME_TEXT(kept.aggregator_add.name, "Bills");
        assert_true(pawl_text_equal(kept.aggregator_add.partition, cases[i].partition_is));
        assert_true(pawl_text_equal(kept.aggregator_add.key, cases[i].key_is));
        keeper_is_message(&kept.aggregator_add.message);
        assert_int_equal(kept.aggregator_add.at, KEEPER_NOW);
        assert_int_equal(kept.aggregator_add.due, KEEPER_NOW + 9);
    }
}

static void rows_are_removed_by_correlation_id_or_all(void)
{
    const pawl_text bills = PAWL_TEXT_INIT("Bills"), id = PAWL_TEXT_INIT("c-1");
    assert_int_equal(pawl_store_aggregator_remove(keeper->store, bills, id, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    SAME_TEXT(kept.aggregator_remove.partition, "Bills");
    SAME_TEXT(kept.aggregator_remove.correlation_id, "c-1");
    assert_true(kept.aggregator_remove.is_checked);
    assert_false(kept.aggregator_remove.is_all);
    assert_int_equal(pawl_store_aggregator_remove_all(keeper->store, bills, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    SAME_TEXT(kept.aggregator_remove.partition, "Bills");
    SAME_TEXT(kept.aggregator_remove.correlation_id, "");
    assert_false(kept.aggregator_remove.is_checked);
    assert_true(kept.aggregator_remove.is_all);
    keeper_refused(pawl_store_aggregator_remove(keeper->store, bills, PAWL_TEXT(""), KEEPER_NOW,
                                                &keeper->error),
                   PAWL_EINVAL, "aggregator 'Bills': the correlation id to remove is empty");
}

static void a_snapshot_is_removed_with_the_rest_of_its_leases(void)
{
    int64_t                      ids[]  = {4, 7};
    pawl_aggregator_leased_batch leased = {
        .partition = PAWL_TEXT_INIT("Bills"), .session = {{{5}}}, .ids = ids, .count = 2};
    assert_int_equal(
        pawl_store_aggregator_remove_leased_batch(keeper->store, &leased, KEEPER_NOW, NULL),
        PAWL_OK);
    keeper_commit(2);
    SAME_TEXT(kept.leased_batch_remove.partition, "Bills");
    SAME_ID(kept.leased_batch_remove.session, leased.session);
    assert_ptr_equal(kept.leased_batch_remove.ids, ids);
    assert_int_equal(kept.leased_batch_remove.id_count, 2);
    SAME_TEXT(kept.leased_batch_release.partition, "Bills");
    SAME_ID(kept.leased_batch_release.session, leased.session);
    assert_int_equal(
        pawl_store_aggregator_release_leased_batch(keeper->store, &leased, KEEPER_NOW, NULL),
        PAWL_OK);
    keeper_commit(1);
    SAME_TEXT(kept.leased_batch_release.partition, "Bills");
    SAME_ID(kept.leased_batch_release.session, leased.session);

    leased.session = (pawl_session_id){{{0}}};
    keeper_refused(pawl_store_aggregator_remove_leased_batch(keeper->store, &leased, KEEPER_NOW,
                                                             &keeper->error),
                   PAWL_EINVAL,
                   "removal of a leased batch of aggregator 'Bills': the session is zero");
    keeper_refused(pawl_store_aggregator_release_leased_batch(keeper->store, &leased, KEEPER_NOW,
                                                              &keeper->error),
                   PAWL_EINVAL,
                   "release of a leased batch of aggregator 'Bills': the session is zero");
    leased.count = 0; /* A11: nothing to remove, and nothing asked */
    assert_int_equal(
        pawl_store_aggregator_remove_leased_batch(keeper->store, &leased, KEEPER_NOW, NULL),
        PAWL_OK);
    assert_int_equal(kept.commit_count, 0);
}

/* ---- Outbox ------------------------------------------------------------- */

static const pawl_outbox_row row_to_send = {.id          = 8,
                                            .dispatch_id = {{{6}}},
                                            .source      = PAWL_TEXT_INIT("Order/1"),
                                            .version     = 3,
                                            .index       = 2,
                                            .endpoint    = PAWL_TEXT_INIT("orders"),
                                            .destination = PAWL_TEXT_INIT("billing"),
                                            .message     = {.id      = PAWL_TEXT_INIT("m-1"),
                                                            .type    = PAWL_TEXT_INIT("Charge"),
                                                            .body    = PAWL_TEXT_INIT("{\"a\":1}"),
                                                            .headers = PAWL_TEXT_INIT("{\"h\":\"1\"}"),
                                                            .correlation_id = PAWL_TEXT_INIT("c-1"),
                                                            .causation_id   = PAWL_TEXT_INIT("m-0")},
                                            .due         = KEEPER_NOW + 6};

static void expect_row_to_send(const pawl_outbox_add *add)
{
    SAME_ID(add->dispatch_id, row_to_send.dispatch_id);
    SAME_TEXT(add->source, "Order/1");
    assert_int_equal(add->version, 3);
    assert_int_equal(add->index, 2);
    SAME_TEXT(add->endpoint, "orders");
    SAME_TEXT(add->destination, "billing");
    keeper_is_message(&add->message);
    assert_int_equal(add->due, KEEPER_NOW + 6);
    assert_int_equal(add->at, KEEPER_NOW);
}

static void an_outbox_row_is_inserted_as_it_is(void)
{
    assert_int_equal(pawl_store_outbox_insert(keeper->store, &row_to_send, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    expect_row_to_send(&kept.outbox_add);
}

enum { NO_HOLD, HOLD, RELEASE };

/* The table of store_outbox.h: what becomes of a row, and of those behind it. */
static const struct settlement {
    pawl_attempt_outcome outcome;
    int32_t              attempts, before, limit; /* before the attempt; uncounted; the limit */
    pawl_outbox_state    state;
    pawl_attempt_outcome recorded;
    int                  hold;
} settlements[] = {
    {PAWL_ATTEMPT_SUCCESS, 0, 0, 3, PAWL_OUTBOX_DISPATCHED, PAWL_ATTEMPT_SUCCESS, NO_HOLD},
    {PAWL_ATTEMPT_SUCCESS, 1, 0, 3, PAWL_OUTBOX_DISPATCHED, PAWL_ATTEMPT_SUCCESS, RELEASE},
    {PAWL_ATTEMPT_SUCCESS, 9, 0, 3, PAWL_OUTBOX_DISPATCHED, PAWL_ATTEMPT_SUCCESS, RELEASE},
    {PAWL_ATTEMPT_REJECTED, 0, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_REJECTED, NO_HOLD},
    {PAWL_ATTEMPT_REJECTED, 1, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_REJECTED, RELEASE},
    {PAWL_ATTEMPT_POISON, 0, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, NO_HOLD},
    {PAWL_ATTEMPT_POISON, 1, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 0, 0, 3, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 1, 0, 3, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 2, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 3, 1, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 2, 1, 3, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 3, 3, 1, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 0, 0, 1, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, NO_HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 8, 0, 0, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 9, 0, 0, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE}, /* O12 */
};

static void settle(const struct settlement *trial, bool has_source)
{
    pawl_outbox_row          row    = row_to_send;
    const pawl_outbox_result result = {.outcome      = trial->outcome,
                                       .error        = PAWL_TEXT("no line"),
                                       .duration     = 77,
                                       .next_attempt = KEEPER_NOW + 100,
                                       .attempts_max = trial->limit};
    int                      hold   = has_source ? trial->hold : NO_HOLD;
    pawl_time next      = trial->state == PAWL_OUTBOX_PENDING ? KEEPER_NOW + 100 : KEEPER_NOW;
    row.attempts        = trial->attempts;
    row.attempts_before = trial->before;
    row.source.size     = has_source ? row.source.size : 0;
    assert_int_equal(pawl_store_outbox_settle(keeper->store, &row, &result, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(hold == NO_HOLD ? 1 : 2);
    assert_int_equal(kept.outbox_settle.id, 8);
    assert_true(pawl_text_equal(kept.outbox_settle.source, row.source));
    assert_int_equal(kept.outbox_settle.state, trial->state);
    assert_int_equal(kept.outbox_settle.attempts, trial->attempts + 1);
    assert_int_equal(kept.outbox_settle.outcome, trial->recorded);
    assert_int_equal(kept.outbox_settle.next_attempt, next);
    SAME_TEXT(kept.outbox_settle.error, "no line");
    assert_int_equal(kept.outbox_settle.duration, 77);
    assert_int_equal(kept.outbox_settle.at, KEEPER_NOW);
    assert_int_equal(kept.changes.outbox_block.count, hold != NO_HOLD);
    if (hold != NO_HOLD) {
        SAME_TEXT(kept.outbox_block.source, "Order/1");
        assert_int_equal(kept.outbox_block.after, 8);
        assert_int_equal(kept.outbox_block.is_unblock, hold == RELEASE);
    }
    assert_int_equal(row.state, trial->state);
    assert_int_equal(row.attempts, trial->attempts + 1);
    assert_int_equal(row.next_attempt, next);
}

static void o12_an_attempt_settles_its_row(void)
{
    for (size_t i = 0; i < COUNT(settlements); i++) {
        settle(&settlements[i], true);
        settle(&settlements[i], false); /* nothing is ordered behind it */
    }
}

static void no_attempt_ends_otherwise(void)
{
    static const struct {
        int         outcome;
        int32_t     limit;
        pawl_time   next;
        const char *text;
    } cases[] = {
        {PAWL_ATTEMPT_POISON + 1, 1, KEEPER_NOW + 1, "outbox row 8: outcome 4 is unknown"},
        {-1, 1, KEEPER_NOW + 1, "outbox row 8: outcome -1 is unknown"},
        {PAWL_ATTEMPT_SUCCESS, -1, KEEPER_NOW + 1,
         "outbox row 8: the limit of attempts is -1, at least 1 is needed"},
        {PAWL_ATTEMPT_TRANSIENT, 5, KEEPER_NOW,
         "outbox row 8: the next attempt, 1767225600000000, is not after now, 1767225600000000"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_outbox_row          row    = row_to_send;
        const pawl_outbox_result result = {.outcome      = (pawl_attempt_outcome)cases[i].outcome,
                                           .attempts_max = cases[i].limit,
                                           .next_attempt = cases[i].next};
        keeper_refused(
            pawl_store_outbox_settle(keeper->store, &row, &result, KEEPER_NOW, &keeper->error),
            PAWL_EINVAL, cases[i].text);
        assert_memory_equal(&row, &row_to_send, sizeof row);
    }
}

static void o19_an_operator_enables_or_discards(void)
{
    assert_int_equal(pawl_store_outbox_retry(keeper->store, 4, PAWL_TEXT("ann"), KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    assert_int_equal(kept.outbox_reset.action, PAWL_OUTBOX_RETRY);
    assert_int_equal(kept.outbox_reset.id, 4);
    SAME_TEXT(kept.outbox_reset.note, "ann");
    assert_int_equal(kept.outbox_reset.at, KEEPER_NOW);
    assert_int_equal(
        pawl_store_outbox_discard(keeper->store, 5, PAWL_TEXT("bob"), KEEPER_NOW, NULL), PAWL_OK);
    keeper_commit(1);
    assert_int_equal(kept.outbox_reset.action, PAWL_OUTBOX_DISCARD);
    assert_int_equal(kept.outbox_reset.id, 5);
    SAME_TEXT(kept.outbox_reset.note, "bob");
    assert_int_equal(kept.outbox_reset.at, KEEPER_NOW);
}

const struct CMUnitTest tests[] = {
    ON_KEEPER(a_timeout_is_inserted_as_it_is),
    ON_KEEPER(a_timeout_is_settled_for_its_owner),
    ON_KEEPER(an_aggregator_row_has_a_partition_and_a_key),
    ON_KEEPER(rows_are_removed_by_correlation_id_or_all),
    ON_KEEPER(a_snapshot_is_removed_with_the_rest_of_its_leases),
    ON_KEEPER(an_outbox_row_is_inserted_as_it_is),
    ON_KEEPER(o12_an_attempt_settles_its_row),
    ON_KEEPER(no_attempt_ends_otherwise),
    ON_KEEPER(o19_an_operator_enables_or_discards),
    {.name = NULL},
};
