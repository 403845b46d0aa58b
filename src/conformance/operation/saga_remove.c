/* saga_remove.c - an operator ends a saga: its timeouts are removed, its history stays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"
#include "pawl/store_calls.h"

#define ORDER(s) ((s)->tables[SUITE_ORDER])
#define LATER (SUITE_NOW + PAWL_SECONDS(9))

static pawl_saga_row insert(suite *s, pawl_store *store, const char *ref)
{
    pawl_saga_row row = {.main         = pawl_value_text(pawl_text_of(ref)),
                         .data         = TEXT("{\"n\":1}"),
                         .type_version = TEXT("1.0")};
    EXPECT_OK(s, pawl_store_saga_insert(store, ORDER(s), &row, SUITE_NOW, &s->error));
    return row;
}

static pawl_saga_row find(suite *s, pawl_store *store, const char *ref)
{
    pawl_saga_row row;
    EXPECT_OK(s,
              pawl_store_saga_find(store, ORDER(s), PAWL_SAGA_BY_MAIN,
                                   pawl_value_text(pawl_text_of(ref)), s->arena, &row, &s->error));
    return row;
}

static void set_timeout(suite *s, pawl_store *store, unsigned number, pawl_saga_id saga_id,
                        const char *name)
{
    const pawl_timeout_row row = {.id          = suite_timeout_id(number),
                                  .saga_id     = saga_id,
                                  .saga_type   = TEXT("Order"),
                                  .name        = pawl_text_of(name),
                                  .destination = TEXT("orders"),
                                  .due         = LATER,
                                  .headers     = TEXT("{}")};
    EXPECT_OK(s, pawl_store_timeout_insert(store, &row, SUITE_NOW, &s->error));
}

static size_t timeout_count(suite *s, pawl_store *store, pawl_saga_id saga_id)
{
    pawl_timeout_rows rows;
    READ_ROWS(s, pawl_store_timeout_list(store, saga_id, 0, s->arena, &rows, &s->error), rows);
    return rows.count;
}

static pawl_code remove_one(suite *s, pawl_store *store, const pawl_saga_row *row, int64_t *count)
{
    return pawl_store_saga_remove(store, ORDER(s), row, TEXT("ada"), TEXT("test data"),
                                  SUITE_NOW + 7, count, &s->error);
}

static pawl_event_rows actions_of(suite *s, pawl_store *store, pawl_saga_id id)
{
    pawl_event_rows rows;
    READ_ROWS(s, pawl_store_saga_actions(store, ORDER(s)->type, id, s->arena, &rows, &s->error),
              rows);
    return rows;
}

static void a_removed_saga_is_deleted_with_its_timeouts_an_event_names_the_author(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open_bare(s);
    pawl_saga_row one = insert(s, a, "one"), two = insert(s, a, "two");
    int64_t       count = -1;
    set_timeout(s, a, 1, one.id, "late");
    set_timeout(s, a, 2, one.id, "later");
    set_timeout(s, a, 3, two.id, "late");
    EXPECT_OK(s, remove_one(s, b, &one, &count));
    EXPECT_EQ(s, count, 2);
    EXPECT_EQ(s, find(s, a, "one").presence, PAWL_SAGA_MISSING);
    EXPECT_EQ(s, timeout_count(s, a, one.id), 0);
    EXPECT_EQ(s, find(s, a, "two").presence, PAWL_SAGA_THERE);
    EXPECT_EQ(s, timeout_count(s, a, two.id), 1);
    EXPECT_EQ(s, actions_of(s, a, two.id).count, 0);
    pawl_event_rows done = actions_of(s, a, one.id);
    EXPECT_EQ(s, done.count, 1);
    EXPECT_TEXT(s, done.items[0].event.type, TEXT(PAWL_SAGA_REMOVED));
    EXPECT_EQ(s, done.items[0].event.at, SUITE_NOW + 7);
    EXPECT(s, suite_text_has(done.items[0].event.headers, TEXT("\"by\":\"ada\"")));
    EXPECT(s, suite_text_has(done.items[0].event.headers, TEXT("\"reason\":\"test data\"")));
    EXPECT(s, suite_text_has(done.items[0].event.headers, TEXT("\"timeouts\":2")));
    /* the correlation value may be used again */
    EXPECT_EQ(s, insert(s, a, "one").version, 1);
}

static void a_saga_that_changed_since_it_was_read_is_not_removed(suite *s)
{
    pawl_store   *a = suite_open(s), *b = suite_open_bare(s);
    pawl_saga_row seen  = insert(s, a, "one"), row;
    int64_t       count = -1;
    set_timeout(s, a, 1, seen.id, "late");
    row      = find(s, a, "one");
    row.data = TEXT("{\"n\":2}");
    EXPECT_OK(s, pawl_store_saga_update(a, ORDER(s), &row, SUITE_NOW, &s->error));
    EXPECT_CODE(s, remove_one(s, b, &seen, &count), PAWL_ECONFLICT);
    EXPECT_EQ(s, count, 0);
    EXPECT_EQ(s, find(s, a, "one").version, 2);
    EXPECT_EQ(s, timeout_count(s, a, seen.id), 1);
    EXPECT_EQ(s, actions_of(s, a, seen.id).count, 0);
    row = find(s, b, "one");
    EXPECT_OK(s, remove_one(s, b, &row, NULL));
    EXPECT_CODE(s, remove_one(s, b, &row, NULL), PAWL_ECONFLICT);
    EXPECT_EQ(s, actions_of(s, a, seen.id).count, 1);
}

static void a_removal_without_a_saga_or_an_author_is_refused(suite *s)
{
    pawl_store         *a    = suite_open(s);
    pawl_saga_row       row  = insert(s, a, "one");
    const pawl_saga_row zero = {.version = 1};
    EXPECT_CODE(s, remove_one(s, a, &zero, NULL), PAWL_EINVAL);
    EXPECT_CODE(
        s, pawl_store_saga_remove(a, NULL, &row, TEXT("ada"), TEXT(""), SUITE_NOW, NULL, &s->error),
        PAWL_EINVAL);
    EXPECT_CODE(
        s,
        pawl_store_saga_remove(a, ORDER(s), &row, TEXT(""), TEXT(""), SUITE_NOW, NULL, &s->error),
        PAWL_EINVAL);
    EXPECT_EQ(s, find(s, a, "one").presence, PAWL_SAGA_THERE);
}

static const suite_case cases[] = {
    {"S13 a removed saga is deleted with its timeouts, an event names the author",
     a_removed_saga_is_deleted_with_its_timeouts_an_event_names_the_author},
    {"S14 a saga that changed since it was read is not removed",
     a_saga_that_changed_since_it_was_read_is_not_removed},
    {"S13 a removal without a saga or an author is refused",
     a_removal_without_a_saga_or_an_author_is_refused},
};

const suite_cases cases_op_saga_remove = SUITE_CASES("operation saga remove", cases);
