/* test_sqlite_claims.c - the claim table against a plain list of the same
 * claims.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/program/claims.c"
#include "support/tests.h"

#include <time.h>

#define SEQ_COUNT 4000
#define STEP_COUNT 200000

/* The table's rows as they should be: owner 0 is nobody. */
static int     owner_of[SEQ_COUNT + 1];
static int64_t epoch_of[SEQ_COUNT + 1];
static char    owners[4]; /* their addresses are the owners */

static void check_all(const pawl__claims *claims)
{
    size_t count = 0;
    for (int64_t seq = 1; seq <= SEQ_COUNT; seq++) {
        const pawl__claim_row *row = pawl__claims_find(claims, seq);
        if (owner_of[seq] == 0) {
            assert_null(row);
            continue;
        }
        count++;
        assert_non_null(row);
        assert_ptr_equal(row->owner, &owners[owner_of[seq]]);
        assert_int_equal(row->epoch, epoch_of[seq]);
    }
    assert_int_equal(claims->count, count);
}

static void remove_owner(pawl__claims *claims, int owner)
{
    pawl__claims_remove_owner(claims, &owners[owner]);
    for (int64_t seq = 1; seq <= SEQ_COUNT; seq++)
        if (owner_of[seq] == owner)
            owner_of[seq] = 0;
    check_all(claims);
}

TEST(random_claims_match_a_list)
{
    const char  *given  = getenv("PAWL_SEED");
    uint64_t     seed   = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    pawl__claims claims = {0};
    pawl_random  random;
    printf("seed %llu (again with PAWL_SEED=%llu)\n", (unsigned long long)seed,
           (unsigned long long)seed);
    pawl_random_seed(&random, seed);
    for (int step = 0; step < STEP_COUNT; step++) {
        int64_t seq    = 1 + (int64_t)pawl_random_below(&random, SEQ_COUNT);
        int     owner  = 1 + (int)pawl_random_below(&random, 3);
        bool    is_add = pawl_random_below(&random, 100) < 55;
        if (owner_of[seq] == 0 && is_add) {
            owner_of[seq] = owner;
            epoch_of[seq] = step;
            assert_int_equal(pawl__claims_add(&claims, seq, &owners[owner], step), PAWL_OK);
        } else if (!is_add) {
            owner_of[seq] = 0;
            pawl__claims_remove(&claims, seq);
        }
        if (step % 5000 == 0)
            check_all(&claims);
        if (step % 20000 == 19999)
            remove_owner(&claims, owner);
    }
    check_all(&claims);
    for (int owner = 1; owner <= 3; owner++)
        remove_owner(&claims, owner);
    assert_int_equal(claims.count, 0);
    pawl__claims_free(&claims);
}

/* Numbers far apart meet in one place; a removal moves the next of them there. */
TEST(all_claims_of_an_owner_go_wherever_they_moved)
{
    pawl__claims claims = {0};
    pawl_random  random;
    pawl_random_seed(&random, 7);
    for (int i = 0; i < 1000; i++) {
        int64_t seq = 1 + (int64_t)pawl_random_below(&random, INT64_MAX);
        assert_int_equal(pawl__claims_add(&claims, seq, &owners[1], 1), PAWL_OK);
    }
    pawl__claims_remove_owner(&claims, &owners[1]);
    assert_int_equal(claims.count, 0);
    pawl__claims_free(&claims);
}

static void *refuse_memory(void *memory, size_t size, void *context)
{
    assert_null(memory);
    return NULL;
}

TEST(a_claim_without_memory_changes_nothing)
{
    const pawl_allocator none   = {refuse_memory, NULL};
    pawl__claims         claims = {0};
    pawl_allocator_set(&none);
    assert_int_equal(pawl__claims_add(&claims, 1, owners, 1), PAWL_ENOMEM);
    pawl_allocator_set(NULL);
    assert_null(pawl__claims_find(&claims, 1));
    assert_int_equal(pawl__claims_add(&claims, 1, owners, 1), PAWL_OK);
    assert_non_null(pawl__claims_find(&claims, 1));
    pawl__claims_free(&claims);
}
