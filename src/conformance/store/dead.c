/* dead.c - dead letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

static void add_dead_letter(suite *s, pawl_store *store, const char *endpoint, const char *id,
                            pawl_time at, const char *error)
{
    COMMIT_ONE(s, store, dead_set, .endpoint = pawl_text_of(endpoint), .queue = TEXT("orders"),
               .message = suite_message(s, pawl_text_of(id)), .code = TEXT("EPERSIST"),
               .error = pawl_text_of(error), .attempts = 4, .crashes = 1,
               .history = TEXT("[{\"code\":\"EPERSIST\"}]"), .at = at);
}

static void a_dead_letter_is_read_as_it_was_written(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW, "the bank is closed");
    pawl_dead_rows rows = suite_dead_rows(s, b, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    EXPECT_TEXT(s, rows.items[0].endpoint, TEXT("orders"));
    EXPECT_TEXT(s, rows.items[0].queue, TEXT("orders"));
    EXPECT_TEXT(s, rows.items[0].code, TEXT("EPERSIST"));
    EXPECT_TEXT(s, rows.items[0].error, TEXT("the bank is closed"));
    EXPECT_TEXT(s, rows.items[0].history, TEXT("[{\"code\":\"EPERSIST\"}]"));
    EXPECT_EQ(s, rows.items[0].attempts, 4);
    EXPECT_EQ(s, rows.items[0].crashes, 1);
    EXPECT_EQ(s, rows.items[0].at, SUITE_NOW);
}

static void a_second_dead_letter_with_the_same_endpoint_and_id_is_ignored(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW, "first");
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW + 1, "second");
    for (int i = 0; i < 2; i++)
        ADD(&set, dead_set, .endpoint = TEXT("orders"), .queue = TEXT("orders"),
            .message = suite_message(s, TEXT("m-2")), .code = TEXT("EPERSIST"),
            .error = suite_printf(s, "%d", i), .at = SUITE_NOW + 2);
    COMMIT(&set, a);
    add_dead_letter(s, a, "billing", "m-1", SUITE_NOW + 3, "elsewhere");
    pawl_dead_rows rows = suite_dead_rows(s, a, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].error, TEXT("first"));
    EXPECT_EQ(s, rows.items[0].at, SUITE_NOW);
    EXPECT_TEXT(s, rows.items[1].error, TEXT("0"));
    EXPECT_EQ(s, suite_dead_rows(s, a, TEXT("billing")).count, 1);
}

static void dead_letters_are_listed_by_time(suite *s)
{
    pawl_store    *a = suite_open(s);
    pawl_dead_rows rows;
    add_dead_letter(s, a, "orders", "m-3", SUITE_NOW + 3, "");
    add_dead_letter(s, a, "billing", "m-2", SUITE_NOW + 2, "");
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW + 1, "");
    rows = suite_dead_rows(s, a, TEXT(""));
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("m-1"));
    EXPECT_TEXT(s, rows.items[1].message.id, TEXT("m-2"));
    EXPECT_TEXT(s, rows.items[2].message.id, TEXT("m-3"));
    rows = suite_dead_rows(s, a, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("m-1"));
    READ_ROWS(s, pawl_store_dead_list(a, TEXT(""), 2, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_EQ(s, suite_dead_rows(s, a, TEXT("Orders")).count, 0);
}

/* The store does not keep the order of letters with the same time; endpoint and id order them. */
static void dead_letters_of_the_same_time_are_listed_by_endpoint_and_message_id(suite *s)
{
    static const char *const order[] = {"Z-1", "a-1", "m-1", "m-10", "m-2"};
    pawl_store              *a       = suite_open(s);
    add_dead_letter(s, a, "orders", "m-2", SUITE_NOW, "");
    add_dead_letter(s, a, "orders", "a-1", SUITE_NOW, "");
    add_dead_letter(s, a, "orders", "m-10", SUITE_NOW, "");
    add_dead_letter(s, a, "orders", "Z-1", SUITE_NOW, "");
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW, "");
    add_dead_letter(s, a, "billing", "z-9", SUITE_NOW, "");
    add_dead_letter(s, a, "Orders", "z-8", SUITE_NOW, "");
    pawl_dead_rows rows = suite_dead_rows(s, a, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 5);
    for (size_t i = 0; i < 5; i++)
        EXPECT_TEXT(s, rows.items[i].message.id, pawl_text_of(order[i]));
    rows = suite_dead_rows(s, a, TEXT(""));
    EXPECT_EQ(s, rows.count, 7);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("z-8"));
    EXPECT_TEXT(s, rows.items[1].message.id, TEXT("z-9"));
    for (size_t i = 0; i < 5; i++)
        EXPECT_TEXT(s, rows.items[i + 2].message.id, pawl_text_of(order[i]));
}

/* Ids of the letters that match the query, in order: "m-1 m-2 ". */
static pawl_text ids_of(suite *s, pawl_store *store, pawl_dead_query query)
{
    pawl_dead_rows rows;
    pawl_text      ids = TEXT("");
    READ_ROWS(s, pawl_store_dead_find(store, &query, s->arena, &rows, &s->error), rows);
    for (size_t i = 0; i < rows.count; i++)
        ids = suite_printf(s, "%.*s%.*s ", PAWL_TEXT_ARGS(ids),
                           PAWL_TEXT_ARGS(rows.items[i].message.id));
    return ids;
}

#define FOUND(wanted, ...) \
    EXPECT_TEXT(s, ids_of(s, a, (pawl_dead_query){__VA_ARGS__}), TEXT(wanted))

static void add_four_dead_letters(suite *s, pawl_store *store)
{
    pawl_message other = suite_message(s, TEXT("m-4"));
    other.type         = TEXT("Other");
    add_dead_letter(s, store, "orders", "m-3", SUITE_NOW + 3, "100% of _it_ failed");
    add_dead_letter(s, store, "orders", "m-1", SUITE_NOW + 1, "the bank is closed");
    add_dead_letter(s, store, "billing", "m-2", SUITE_NOW + 2, "the Bank is closed");
    COMMIT_ONE(s, store, dead_set, .endpoint = TEXT("billing"), .queue = TEXT("orders"),
               .message = other, .code = TEXT("EDECODE"), .error = TEXT(""), .at = SUITE_NOW + 4);
}

static void dead_letters_are_found_by_endpoint_message_id_type_code_and_time(suite *s)
{
    pawl_store *a = suite_open(s);
    add_four_dead_letters(s, a);
    FOUND("m-1 m-2 m-3 m-4 ", .endpoint = TEXT(""));
    FOUND("m-1 m-3 ", .endpoint = TEXT("orders"));
    FOUND("", .endpoint = TEXT("Orders"));
    FOUND("m-2 ", .message_id = TEXT("m-2"));
    FOUND("", .endpoint = TEXT("orders"), .message_id = TEXT("m-2"));
    FOUND("m-3 ", .endpoint = TEXT("orders"), .message_id = TEXT("m-3"));
    FOUND("", .endpoint = TEXT("orders"), .message_id = TEXT("m-3"), .type = TEXT("Other"));
    FOUND("m-4 ", .type = TEXT("Other"));
    FOUND("m-1 m-2 m-3 ", .code = TEXT("EPERSIST"));
    FOUND("m-2 m-3 ", .at_min = SUITE_NOW + 2, .at_max = SUITE_NOW + 3);
    FOUND("m-1 ", .at_max = SUITE_NOW + 1);
}

/* Several endpoints may have a letter with the same id: all are found, in the order of time. */
static void dead_letters_of_one_message_id_are_found_in_all_endpoints(suite *s)
{
    pawl_store    *a = suite_open(s);
    pawl_dead_rows rows;
    add_four_dead_letters(s, a);
    add_dead_letter(s, a, "billing", "m-1", SUITE_NOW + 5, "");
    add_dead_letter(s, a, "mail", "m-1", SUITE_NOW + 3, "");
    add_dead_letter(s, a, "parcel", "m-1", SUITE_NOW + 3, "");
    const char     *order[] = {"orders", "mail", "parcel", "billing"};
    pawl_dead_query query   = {.message_id = TEXT("m-1")};
    for (size_t max = 0; max <= 5; max++) {
        query.count_max = max;
        READ_ROWS(s, pawl_store_dead_find(a, &query, s->arena, &rows, &s->error), rows);
        EXPECT_EQ(s, rows.count, max == 0 || max > 4 ? 4 : max);
        for (size_t i = 0; i < rows.count; i++)
            EXPECT_TEXT(s, rows.items[i].endpoint, pawl_text_of(order[i]));
    }
    FOUND("m-1 m-1 m-1 ", .message_id = TEXT("m-1"), .at_min = SUITE_NOW + 3);
    FOUND("m-1 ", .message_id = TEXT("m-1"), .error_part = TEXT("bank"));
    FOUND("m-1 ", .message_id = TEXT("m-1"), .after = &rows.items[2]);
    FOUND("", .message_id = TEXT("m-9"));
}

/* The part is matched literally, without wildcards and case-sensitively. */
static void dead_letters_are_found_by_a_literal_part_of_their_error_text(suite *s)
{
    pawl_store *a = suite_open(s);
    add_four_dead_letters(s, a);
    FOUND("m-1 m-2 ", .error_part = TEXT("is closed"));
    FOUND("m-1 ", .error_part = TEXT("bank"));
    FOUND("m-3 ", .error_part = TEXT("%"));
    FOUND("m-3 ", .error_part = TEXT("_it_"));
    FOUND("m-3 ", .error_part = TEXT("_it_"), .count_max = 1);
    FOUND("", .error_part = TEXT("$error"));
    FOUND("m-1 ", .error_part = TEXT("the bank is closed"));
    FOUND("", .error_part = TEXT("the bank is closed."));
}

/* A scan through pages that removes letters misses none: a page may begin after a letter that no longer exists. */
static void a_page_of_dead_letters_can_begin_after_a_letter_that_was_deleted(suite *s)
{
    pawl_store *a = suite_open(s);
    add_four_dead_letters(s, a);
    add_dead_letter(s, a, "orders", "m-2", SUITE_NOW + 2, "");
    const pawl_dead_row second = {
        .endpoint = TEXT("billing"), .message.id = TEXT("m-2"), .at = SUITE_NOW + 2};
    FOUND("m-1 m-2 ", .count_max = 2);
    FOUND("m-2 m-3 ", .after = &second, .count_max = 2);
    FOUND("m-3 ", .after = &second, .count_max = 1, .code = TEXT("EPERSIST"),
          .at_min = SUITE_NOW + 3);
    COMMIT_ONE(s, a, dead_set, .is_remove = true, .endpoint = second.endpoint,
               .message = suite_message(s, TEXT("m-2")));
    FOUND("m-2 m-3 m-4 ", .after = &second);
    const pawl_dead_row last = {
        .endpoint = TEXT("billing"), .message.id = TEXT("m-4"), .at = SUITE_NOW + 4};
    FOUND("", .after = &last);
}

/* An operator's retry removes the letter and the inbox entry, and sends the message. */
static void a_retry_deletes_the_dead_letter_and_its_deduplication_record(suite *s)
{
    pawl_store  *a       = suite_open(s);
    pawl_message message = suite_message(s, TEXT("m-1"));
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW, "");
    add_dead_letter(s, a, "orders", "m-2", SUITE_NOW, "");
    add_dead_letter(s, a, "billing", "m-1", SUITE_NOW, "");
    suite_set marks = suite_changes(s);
    ADD(&marks, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-1"),
        .outcome = PAWL_INBOX_DEAD, .at = SUITE_NOW);
    ADD(&marks, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-2"),
        .outcome = PAWL_INBOX_DEAD, .at = SUITE_NOW);
    ADD(&marks, inbox_entry, .endpoint = TEXT("billing"), .message_id = TEXT("m-1"),
        .at = SUITE_NOW);
    COMMIT(&marks, a);
    suite_set set = suite_changes(s);
    ADD(&set, queue_send, .queue = TEXT("orders"), .message = message, .due = SUITE_NOW);
    ADD(&set, dead_set, .is_remove = true, .endpoint = TEXT("orders"), .queue = TEXT("orders"),
        .message = message, .at = SUITE_NOW);
    COMMIT(&set, a);
    pawl_dead_rows rows = suite_dead_rows(s, a, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("m-2"));
    EXPECT_EQ(s, suite_dead_rows(s, a, TEXT("billing")).count, 1);
    EXPECT(s, !suite_knows(s, a, TEXT("orders"), TEXT("m-1")));
    EXPECT(s, suite_knows(s, a, TEXT("orders"), TEXT("m-2")));
    EXPECT(s, suite_knows(s, a, TEXT("billing"), TEXT("m-1")));
    EXPECT_EQ(s, suite_queue(s, a, TEXT("orders")).count, 1);
    COMMIT_ONE(s, a, dead_set, .is_remove = true, .endpoint = TEXT("orders"),
               .queue = TEXT("orders"), .message = message, .at = SUITE_NOW);
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW + 1, "again");
    EXPECT_EQ(s, suite_dead_rows(s, a, TEXT("orders")).count, 2);
}

static void add_change(suite *s, suite_set *set, const char *endpoint, const char *id,
                       bool is_remove)
{
    ADD(set, dead_set, .is_remove = is_remove, .endpoint = pawl_text_of(endpoint),
        .queue = TEXT("orders"), .message = suite_message(s, pawl_text_of(id)),
        .code = TEXT("EPERSIST"), .error = TEXT("new"), .at = SUITE_NOW + 9);
}

/* The letter's error, or "none". */
static pawl_text error_of(suite *s, pawl_store *store, const char *endpoint, const char *id)
{
    pawl_dead_rows rows = suite_dead_rows(s, store, pawl_text_of(endpoint));
    for (size_t i = 0; i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].message.id, pawl_text_of(id)))
            return rows.items[i].error;
    return TEXT("none");
}

/* Changes to different letters in one commit are independent; changes to the letter of one message apply in order. */
static void changes_of_one_dead_letter_in_a_commit_apply_in_their_order(suite *s)
{
    pawl_store *a = suite_open(s);
    add_dead_letter(s, a, "orders", "m-1", SUITE_NOW, "old");
    add_dead_letter(s, a, "orders", "m-3", SUITE_NOW, "old");
    add_dead_letter(s, a, "orders", "m-4", SUITE_NOW, "old");
    add_dead_letter(s, a, "billing", "m-2", SUITE_NOW, "old");
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-2"),
               .outcome = PAWL_INBOX_DEAD, .at = SUITE_NOW);
    suite_set set = suite_changes(s);
    add_change(s, &set, "orders", "m-3", true);
    add_change(s, &set, "orders", "m-2", false);
    add_change(s, &set, "orders", "m-1", true);
    add_change(s, &set, "billing", "m-2", true);
    add_change(s, &set, "orders", "m-1", false); /* removed, then added again */
    add_change(s, &set, "orders", "m-5", false); /* added, then removed */
    add_change(s, &set, "orders", "m-5", true);
    COMMIT(&set, a);
    EXPECT_TEXT(s, error_of(s, a, "orders", "m-1"), TEXT("new"));
    EXPECT_TEXT(s, error_of(s, a, "orders", "m-2"), TEXT("new"));
    EXPECT_TEXT(s, error_of(s, a, "orders", "m-3"), TEXT("none"));
    EXPECT_TEXT(s, error_of(s, a, "orders", "m-4"), TEXT("old"));
    EXPECT_TEXT(s, error_of(s, a, "orders", "m-5"), TEXT("none"));
    EXPECT_TEXT(s, error_of(s, a, "billing", "m-2"), TEXT("none"));
    EXPECT(s, suite_knows(s, a, TEXT("orders"), TEXT("m-2")));
}

/* A message that was retried and failed again has a new letter, which a removal of the earlier one must not remove. */
static void a_checked_removal_does_not_delete_a_newer_dead_letter_of_the_message(suite *s)
{
    static const char *const ids[] = {"m-1", "m-2", "m-3", "m-4"};
    pawl_store              *a     = suite_open(s);
    suite_set                set   = suite_changes(s);
    pawl_refusals            refused;
    for (uint32_t i = 0; i < 4; i++) {
        add_dead_letter(s, a, "orders", ids[i], SUITE_NOW + 5, "");
        COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("orders"),
                   .message_id = pawl_text_of(ids[i]), .outcome = PAWL_INBOX_DEAD, .at = SUITE_NOW);
        suite_unit(&set, i, i);
        ADD(&set, dead_set, .is_remove = true, .is_checked = true, .keeps_record = i == 2,
            .endpoint = TEXT("orders"), .message = suite_message(s, pawl_text_of(ids[i])),
            .at = SUITE_NOW + 4 + i % 3);
    }
    EXPECT_OK(s, suite_try(&set, a, &refused));
    EXPECT_EQ(s, refused.count, 3);
    for (uint32_t i = 0; i < 4; i++) {
        const pawl_refusal *refusal = suite_refusal(&refused, i);
        EXPECT_EQ(s, refusal != NULL ? refusal->reason : PAWL_OK, i == 1 ? PAWL_OK : PAWL_EGONE);
        EXPECT_EQ(s, suite_knows(s, a, TEXT("orders"), pawl_text_of(ids[i])), i != 1);
    }
    FOUND("m-1 m-3 m-4 ", .endpoint = TEXT("orders"));
}

static const suite_case cases[] = {
    {"E26 a dead letter is read as it was written", a_dead_letter_is_read_as_it_was_written},
    {"E34 a second dead letter with the same endpoint and id is ignored",
     a_second_dead_letter_with_the_same_endpoint_and_id_is_ignored},
    {"E34 dead letters are listed by time", dead_letters_are_listed_by_time},
    {"E34 dead letters of the same time are listed by endpoint and message id",
     dead_letters_of_the_same_time_are_listed_by_endpoint_and_message_id},
    {"E34 dead letters are found by endpoint, message id, type, code and time",
     dead_letters_are_found_by_endpoint_message_id_type_code_and_time},
    {"E34 dead letters of one message id are found in all endpoints",
     dead_letters_of_one_message_id_are_found_in_all_endpoints},
    {"E34 dead letters are found by a literal part of their error text",
     dead_letters_are_found_by_a_literal_part_of_their_error_text},
    {"E34 a page of dead letters can begin after a letter that was deleted",
     a_page_of_dead_letters_can_begin_after_a_letter_that_was_deleted},
    {"E34 changes of one dead letter in a commit apply in their order",
     changes_of_one_dead_letter_in_a_commit_apply_in_their_order},
    {"E34 a retry deletes the dead letter and its deduplication record",
     a_retry_deletes_the_dead_letter_and_its_deduplication_record},
    {"E34 a checked removal does not delete a newer dead letter of the message",
     a_checked_removal_does_not_delete_a_newer_dead_letter_of_the_message},
};

const suite_cases cases_dead = SUITE_CASES("dead", cases);
