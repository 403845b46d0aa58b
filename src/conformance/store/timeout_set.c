/* timeout_set.c - setting, re-arming and cancelling timeouts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

/* Sets timeout `number` of saga 9, by name. */
static void arm(suite *s, pawl_store *store, unsigned number, const char *name, pawl_time due)
{
    COMMIT_ONE(s, store, timeout_set, .id = suite_timeout_id(number), .saga_id = suite_saga_id(9),
               .saga_type = TEXT("Order"), .name = pawl_text_of(name),
               .destination = TEXT("orders"), .due = due);
}

static bool is_number(pawl_timeout_id id, unsigned number)
{
    return pawl_uuid_compare(id.uuid, suite_uuid(number)) == 0;
}

static void a_new_timeout_with_a_known_id_is_refused(suite *s)
{
    pawl_store *a = suite_open(s);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(1), .destination = TEXT("orders"),
               .due = SUITE_NOW, .headers = TEXT("{\"k\":\"first\"}"), .is_new = true);
    REFUSE_ONE(s, a, PAWL_EDUPLICATE, timeout_set, .id = suite_timeout_id(1),
               .destination = TEXT("elsewhere"), .due = SUITE_NOW + 9, .is_new = true);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW);
    EXPECT_EQ(s, rows.items[0].generation, 1);
    EXPECT_TEXT(s, rows.items[0].destination, TEXT("orders"));
    EXPECT_TEXT(s, rows.items[0].headers, TEXT("{\"k\":\"first\"}"));
}

static void of_two_new_timeouts_of_one_id_in_a_commit_the_later_is_refused(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < 2; i++) {
        suite_unit(&set, i, i);
        ADD(&set, timeout_set, .id = suite_timeout_id(1), .destination = TEXT("orders"),
            .due = SUITE_NOW + i, .is_new = true);
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].unit, 1);
    EXPECT_EQ(s, refused.items[0].kind, pawl_change_timeout_set);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
    EXPECT_EQ(s, suite_timeouts(s, a).items[0].due, SUITE_NOW);
}

static void a_timeout_with_the_id_of_another_sagas_timeout_is_refused(suite *s)
{
    pawl_store *a = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    REFUSE_ONE(s, a, PAWL_EDUPLICATE, timeout_set, .id = suite_timeout_id(1),
               .saga_id = suite_saga_id(8), .saga_type = TEXT("Order"), .name = TEXT("payment"),
               .destination = TEXT("orders"), .due = SUITE_NOW + 9);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW);
    EXPECT_EQ(s, rows.items[0].generation, 1);
}

static void setting_a_timeout_of_its_own_id_again_replaces_it_unless_marked_new(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 0; i < 2; i++)
        COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(1), .destination = TEXT("orders"),
                   .due = SUITE_NOW + i);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(2), .destination = TEXT("orders"),
               .due = SUITE_NOW + 5);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 1);
    EXPECT_EQ(s, rows.items[0].generation, 2);
    EXPECT_EQ(s, rows.items[1].generation, 1);
}

/* By its own id, and by its saga's name: the second change finds the timeout that the first one set. */
static void setting_a_timeout_twice_in_one_commit_is_the_same_as_in_two_commits(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < 2; i++)
        ADD(&set, timeout_set, .id = suite_timeout_id(1), .destination = TEXT("orders"),
            .due = SUITE_NOW + i);
    for (unsigned i = 0; i < 2; i++)
        ADD(&set, timeout_set, .id = suite_timeout_id(2 + i), .saga_id = suite_saga_id(9),
            .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = TEXT("orders"),
            .due = SUITE_NOW + 5 + i);
    COMMIT(&set, a);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT(s, is_number(rows.items[0].id, 1));
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 1);
    EXPECT(s, is_number(rows.items[1].id, 2));
    EXPECT_EQ(s, rows.items[1].due, SUITE_NOW + 6);
    EXPECT_EQ(s, rows.items[0].generation, 2);
    EXPECT_EQ(s, rows.items[1].generation, 2);
}

static void setting_a_timeout_again_keeps_its_id_and_raises_its_generation(suite *s)
{
    pawl_store *a = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RETRY, .id = suite_timeout_id(1),
               .has_owner = true, .owner = suite_session_id(70), .due = SUITE_NOW, .attempts = 3);
    arm(s, a, 2, "payment", SUITE_NOW + 60);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, is_number(rows.items[0].id, 1));
    EXPECT_EQ(s, rows.items[0].generation, 2);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 60);
    EXPECT_EQ(s, rows.items[0].attempts, 0);
    arm(s, a, 3, "payment", SUITE_NOW - 60);
    rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.items[0].generation, 3);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW - 60);
}

static void setting_a_timeout_again_ends_its_lease_whoever_holds_it(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).count, 1);
    arm(s, b, 2, "payment", SUITE_NOW + 60);
    EXPECT(s, pawl_uuid_is_zero(suite_timeouts(s, b).items[0].owner.uuid));
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70), .generation = 1);
    EXPECT_EQ(s, suite_claim_timeouts(s, b, 71, SUITE_NOW + 60, 1).count, 1);
}

static void a_timeout_is_settled_only_with_its_present_generation(suite *s)
{
    pawl_store *a = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).items[0].generation, 1);
    arm(s, a, 2, "payment", SUITE_NOW);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).items[0].generation, 2);
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70), .generation = 1);
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70), .generation = 3);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 1);
    COMMIT_ONE(s, a, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70), .generation = 2);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
}

/* An operator's settle: claims do not matter, a new generation does. */
static void a_timeouts_generation_is_checked_even_if_no_owner_is_given(suite *s)
{
    static const pawl_timeout_action actions[] = {PAWL_TIMEOUT_RETRY, PAWL_TIMEOUT_RELEASE,
                                                  PAWL_TIMEOUT_REMOVE};
    pawl_store                      *a         = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    arm(s, a, 2, "payment", SUITE_NOW);
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).count, 1);
        REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1),
                   .action = actions[i], .due = SUITE_NOW, .generation = 1);
        REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1),
                   .action = actions[i], .due = SUITE_NOW, .generation = 3);
        EXPECT_EQ(s, suite_claim_timeouts(s, a, 71, SUITE_NOW, 1).count, 0);
        COMMIT_ONE(s, a, timeout_settle, .id = suite_timeout_id(1), .action = actions[i],
                   .due = SUITE_NOW, .generation = 2);
    }
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .generation = 2);
    COMMIT_ONE(s, a, timeout_settle, .id = suite_timeout_id(1));
}

static void timeouts_of_different_names_or_sagas_are_independent(suite *s)
{
    pawl_store *a = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW + 1);
    arm(s, a, 2, "Payment", SUITE_NOW + 2);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(3), .saga_id = suite_saga_id(8),
               .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = TEXT("orders"),
               .due = SUITE_NOW + 3);
    for (unsigned i = 4; i <= 5; i++)
        COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(i), .name = TEXT("payment"),
                   .destination = TEXT("orders"), .due = SUITE_NOW + i);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 5);
    for (unsigned i = 0; i < 5; i++) {
        EXPECT(s, is_number(rows.items[i].id, i + 1));
        EXPECT_EQ(s, rows.items[i].generation, 1);
    }
}

static void a_saga_can_have_several_timeouts_without_a_name_each_with_its_own_id(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 3; i++)
        arm(s, a, i, "", SUITE_NOW + i);
    arm(s, a, 2, "", SUITE_NOW + 20);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT(s, is_number(rows.items[0].id, 1) && is_number(rows.items[1].id, 3));
    EXPECT_EQ(s, rows.items[2].due, SUITE_NOW + 20);
    EXPECT_EQ(s, rows.items[2].generation, 2);
    COMMIT_ONE(s, a, timeout_cancel, .saga_id = suite_saga_id(9));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
}

static void cancelling_a_timeout_by_name_deletes_it_even_if_it_is_leased(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    arm(s, a, 2, "delivery", SUITE_NOW + 1);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    COMMIT_ONE(s, b, timeout_cancel, .saga_id = suite_saga_id(9), .name = TEXT("payment"));
    COMMIT_ONE(s, b, timeout_cancel, .saga_id = suite_saga_id(9), .name = TEXT("payment"));
    COMMIT_ONE(s, b, timeout_cancel, .saga_id = suite_saga_id(7), .name = TEXT("delivery"));
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, is_number(rows.items[0].id, 2));
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70), .generation = 1);
}

static void cancelling_without_a_name_deletes_all_timeouts_of_the_saga(suite *s)
{
    pawl_store *a = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    arm(s, a, 2, "delivery", SUITE_NOW + 1);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(3), .saga_id = suite_saga_id(8),
               .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = TEXT("orders"),
               .due = SUITE_NOW);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(4), .destination = TEXT("orders"),
               .due = SUITE_NOW + 4);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    COMMIT_ONE(s, a, timeout_cancel, .saga_id = suite_saga_id(9));
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT(s, is_number(rows.items[0].id, 3));
    EXPECT(s, is_number(rows.items[1].id, 4));
}

static void a_timeout_cancelled_and_set_in_one_commit_is_a_new_timeout(suite *s)
{
    pawl_store *a = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    suite_set set = suite_changes(s);
    ADD(&set, timeout_set, .id = suite_timeout_id(2), .saga_id = suite_saga_id(9),
        .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = TEXT("orders"),
        .due = SUITE_NOW + 8);
    ADD(&set, timeout_cancel, .saga_id = suite_saga_id(9), .name = TEXT("payment"));
    COMMIT(&set, a);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, is_number(rows.items[0].id, 2));
    EXPECT_EQ(s, rows.items[0].generation, 1);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 8);
}

static void a_timeout_settled_and_set_in_one_commit_is_a_new_timeout(suite *s)
{
    pawl_store *a = suite_open(s);
    arm(s, a, 1, "payment", SUITE_NOW);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    suite_set set = suite_changes(s);
    ADD(&set, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
        .owner = suite_session_id(70), .generation = 1);
    ADD(&set, timeout_set, .id = suite_timeout_id(2), .saga_id = suite_saga_id(9),
        .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = TEXT("orders"),
        .due = SUITE_NOW + 8);
    COMMIT(&set, a);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, is_number(rows.items[0].id, 2));
    EXPECT_EQ(s, rows.items[0].generation, 1);
    EXPECT(s, pawl_uuid_is_zero(rows.items[0].owner.uuid));
}

static void a_saga_and_its_timeout_are_stored_together_or_not_at_all(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    ADD(&set, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(9), .version = 1,
        .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    ADD(&set, timeout_set, .id = suite_timeout_id(1), .saga_id = suite_saga_id(9),
        .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = TEXT("orders"),
        .due = SUITE_NOW);
    REFUSED(&set, a);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 0);
}

static const suite_case cases[] = {
    {"E12 setting a timeout twice in one commit is the same as in two commits",
     setting_a_timeout_twice_in_one_commit_is_the_same_as_in_two_commits},
    {"T2 a new timeout with a known id is refused", a_new_timeout_with_a_known_id_is_refused},
    {"T2 of two new timeouts of one id in a commit the later is refused",
     of_two_new_timeouts_of_one_id_in_a_commit_the_later_is_refused},
    {"T2 a timeout with the id of another saga's timeout is refused",
     a_timeout_with_the_id_of_another_sagas_timeout_is_refused},
    {"T2 setting a timeout of its own id again replaces it unless marked new",
     setting_a_timeout_of_its_own_id_again_replaces_it_unless_marked_new},
    {"E13 setting a timeout again keeps its id and raises its generation",
     setting_a_timeout_again_keeps_its_id_and_raises_its_generation},
    {"E13 setting a timeout again ends its lease, whoever holds it",
     setting_a_timeout_again_ends_its_lease_whoever_holds_it},
    {"E13 a timeout is settled only with its present generation",
     a_timeout_is_settled_only_with_its_present_generation},
    {"E13 a timeout's generation is checked even if no owner is given",
     a_timeouts_generation_is_checked_even_if_no_owner_is_given},
    {"T1 timeouts of different names or sagas are independent",
     timeouts_of_different_names_or_sagas_are_independent},
    {"T1 a saga can have several timeouts without a name, each with its own id",
     a_saga_can_have_several_timeouts_without_a_name_each_with_its_own_id},
    {"E35 cancelling a timeout by name deletes it even if it is leased",
     cancelling_a_timeout_by_name_deletes_it_even_if_it_is_leased},
    {"E35 cancelling without a name deletes all timeouts of the saga",
     cancelling_without_a_name_deletes_all_timeouts_of_the_saga},
    {"E35 a timeout cancelled and set in one commit is a new timeout",
     a_timeout_cancelled_and_set_in_one_commit_is_a_new_timeout},
    {"E13 a timeout settled and set in one commit is a new timeout",
     a_timeout_settled_and_set_in_one_commit_is_a_new_timeout},
    {"E12 T18 a saga and its timeout are stored together or not at all",
     a_saga_and_its_timeout_are_stored_together_or_not_at_all},
};

const suite_cases cases_timeout_set = SUITE_CASES("timeout set", cases);
