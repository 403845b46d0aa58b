/* inbox.c - inbox entries: the messages that an endpoint has handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#include <string.h>

static void mark(suite *s, pawl_store *store, const char *id)
{
    COMMIT_ONE(s, store, inbox_entry, .endpoint = TEXT("orders"), .message_id = pawl_text_of(id),
               .outcome = PAWL_INBOX_HANDLED, .at = SUITE_NOW);
}

static void a_deduplication_record_is_found_by_its_message_id(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, !suite_knows(s, a, TEXT("orders"), TEXT("m-1")));
    mark(s, a, "m-1");
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-3"),
               .outcome = PAWL_INBOX_DISCARDED, .at = SUITE_NOW);
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-4"),
               .outcome = PAWL_INBOX_DEAD, .at = SUITE_NOW);
    pawl_text ids[] = {TEXT("m-2"), TEXT("m-1"), TEXT("m-3"), TEXT("m-1"), TEXT("m"), TEXT("m-4")};
    bool      expected[] = {false, true, true, true, false, true};
    bool      known[]    = {true, false, true, false, true, false};
    EXPECT_OK(s, pawl_store_inbox_known(b, TEXT("orders"), ids, 6, known, &s->error));
    for (size_t i = 0; i < 6; i++)
        EXPECT_EQ(s, known[i], expected[i]);
    EXPECT_OK(s, pawl_store_inbox_known(b, TEXT("orders"), ids, 0, known, &s->error));
}

static void deduplication_records_of_different_endpoints_are_independent(suite *s)
{
    pawl_store *a = suite_open(s);
    mark(s, a, "m-1");
    EXPECT(s, !suite_knows(s, a, TEXT("billing"), TEXT("m-1")));
    EXPECT(s, !suite_knows(s, a, TEXT("Orders"), TEXT("m-1")));
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("billing"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    EXPECT(s, suite_knows(s, a, TEXT("billing"), TEXT("m-1")));
}

static void a_second_deduplication_record_of_a_message_is_refused(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    mark(s, a, "m-1");
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = SUITE_NOW);
    pawl_refusals refused = REFUSED(&set, b);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].kind, pawl_change_inbox_entry);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
    EXPECT(s, suite_text_has(refused.items[0].text, TEXT("m-1")));
    EXPECT(s, suite_knows(s, b, TEXT("orders"), TEXT("m-1")));
}

static void of_two_deduplication_records_of_one_id_in_a_commit_the_later_is_refused(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < 2; i++) {
        suite_unit(&set, i, i);
        ADD(&set, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-1"),
            .at = SUITE_NOW);
        ADD(&set, queue_send, .queue = TEXT("billing"), .due = SUITE_NOW,
            .message = suite_message(s, suite_printf(s, "from-%u", i)));
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].unit, 1);
    EXPECT_EQ(s, refused.items[0].group, 1);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
    EXPECT(s, suite_knows(s, a, TEXT("orders"), TEXT("m-1")));
    pawl_queue_rows rows = suite_queue(s, a, TEXT("billing"));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("from-0"));
}

/* A message is sent to two endpoints and one has handled it: the other's entry is still inserted. */
static void a_deduplication_record_does_not_refuse_that_of_another_endpoint(suite *s)
{
    static const char *const endpoints[] = {"billing", "orders"};
    pawl_store              *a           = suite_open(s);
    for (unsigned known = 0; known < 2; known++) {
        pawl_text id = suite_printf(s, "m-%u", known);
        COMMIT_ONE(s, a, inbox_entry, .endpoint = pawl_text_of(endpoints[known]), .message_id = id,
                   .at = SUITE_NOW);
        suite_set set = suite_changes(s);
        for (uint32_t i = 0; i < 2; i++) {
            suite_unit(&set, i, i);
            ADD(&set, inbox_entry, .endpoint = pawl_text_of(endpoints[i]), .message_id = id,
                .at = SUITE_NOW);
        }
        pawl_refusals refused = REFUSED(&set, a);
        EXPECT_EQ(s, refused.count, 1);
        EXPECT_EQ(s, refused.items[0].unit, known);
        EXPECT(s, suite_knows(s, a, pawl_text_of(endpoints[1 - known]), id));
    }
}

static void two_deduplication_records_of_one_id_in_a_group_refuse_the_whole_group(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < 2; i++) {
        suite_unit(&set, i, 0);
        ADD(&set, inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-1"),
            .at = SUITE_NOW);
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.items[0].unit, 1);
    EXPECT(s, !suite_knows(s, a, TEXT("orders"), TEXT("m-1")));
}

/* A store may read the inbox entries together with a claim: those of the handle's endpoint and of the claimed messages,
 * valid until the next commit. */
static void expect_known(suite *s, pawl_store *store, pawl_text endpoint, const char *const ids[3],
                         const bool expected[3])
{
    pawl_text texts[3];
    bool      known[3] = {!expected[0], !expected[1], !expected[2]};
    for (size_t i = 0; i < 3; i++)
        texts[i] = pawl_text_of(ids[i]);
    EXPECT_OK(s, pawl_store_inbox_known(store, endpoint, texts, 3, known, &s->error));
    for (size_t i = 0; i < 3; i++)
        EXPECT_EQ(s, known[i], expected[i]);
}

static void claimed_messages_are_compared_with_records_of_the_given_endpoint_only(suite *s)
{
    static const char *const ids[]         = {"m-1", "m-2", "m-3"};
    static const char *const not_claimed[] = {"m-3", "m-9", "m-1"};
    static const char *const twice[]       = {"m-3", "m-1", "m-3"};
    static const char *const marks[][2] = {{"suite", "m-1"}, {"billing", "m-2"}, {"suite", "m-9"}};
    pawl_store              *a          = suite_open(s);
    for (size_t i = 0; i < 3; i++) {
        suite_send(s, a, TEXT("orders"), ids[i], SUITE_NOW);
        COMMIT_ONE(s, a, inbox_entry, .endpoint = pawl_text_of(marks[i][0]),
                   .message_id = pawl_text_of(marks[i][1]), .at = SUITE_NOW);
    }
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 3);
    EXPECT_EQ(s, rows.count, 3);
    expect_known(s, a, TEXT("suite"), ids, (bool[]){true, false, false});
    expect_known(s, a, TEXT("billing"), ids, (bool[]){false, true, false});
    expect_known(s, a, TEXT("suit"), ids, (bool[]){false, false, false});
    expect_known(s, a, TEXT("suite"), not_claimed, (bool[]){false, true, true});
    expect_known(s, a, TEXT("suite"), twice, (bool[]){false, true, false});
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-3"), .at = SUITE_NOW);
    ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
        .seq = rows.items[2].seq);
    COMMIT(&set, a);
    expect_known(s, a, TEXT("suite"), ids, (bool[]){true, false, true});
}

static void message_ids_are_compared_byte_for_byte(suite *s)
{
    static const char *const ids[] = {
        "m-1", "M-1", "m-1 ", " m-1", "m-1\xc3\xa9", "m-1e", "m-1\x65\xcc\x81", "m_1", "m%"};
    size_t      count = sizeof ids / sizeof ids[0];
    pawl_store *a     = suite_open(s);
    for (size_t i = 0; i < count; i++) {
        EXPECT(s, !suite_knows(s, a, TEXT("orders"), pawl_text_of(ids[i])));
        mark(s, a, ids[i]);
    }
    for (size_t i = 0; i < count; i++)
        EXPECT(s, suite_knows(s, a, TEXT("orders"), pawl_text_of(ids[i])));
}

static void thousands_of_message_ids_can_be_looked_up_in_one_call(suite *s)
{
    enum { COUNT = 3000 };
    pawl_store *a     = suite_open(s);
    suite_set   set   = suite_changes(s);
    pawl_text  *ids   = pawl_arena_take(s->arena, COUNT * sizeof *ids);
    bool       *known = pawl_arena_take(s->arena, COUNT * sizeof *known);
    EXPECT(s, ids != NULL && known != NULL);
    for (unsigned i = 0; i < COUNT; i++) {
        ids[i] = suite_printf(s, "m-%u", i);
        if (i % 3 != 2)
            ADD(&set, inbox_entry, .endpoint = i % 3 == 0 ? TEXT("orders") : TEXT("other"),
                .message_id = ids[i], .at = SUITE_NOW);
    }
    COMMIT(&set, a);
    /* A store may query in parts, of 32 ids for example; the last part may be full, nearly empty or empty. */
    for (unsigned left = 0; left < 64; left += 7) {
        size_t count = COUNT - left;
        memset(known, left % 2 == 0, COUNT * sizeof *known);
        EXPECT_OK(s, pawl_store_inbox_known(a, TEXT("orders"), ids, count, known, &s->error));
        for (unsigned i = 0; i < count; i++)
            EXPECT_EQ(s, known[i], i % 3 == 0);
    }
}

/* Between the wanted entries are those of other ids and endpoints. The ids are unsorted, and one comes twice. */
static void a_lookup_of_many_message_ids_finds_exactly_those_that_are_recorded(suite *s)
{
    enum { COUNT = 41 };
    pawl_store *a = suite_open(s);
    pawl_text   ids[COUNT];
    bool        known[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        ids[i] = suite_printf(s, "m-%02u", i * 7 % 40);
    mark(s, a, "m-00");
    mark(s, a, "m-07x");
    mark(s, a, "m-21");
    mark(s, a, "m-39");
    mark(s, a, "m-39x");
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = TEXT("other"), .message_id = TEXT("m-05"), .at = SUITE_NOW);
    COMMIT(&set, a);
    memset(known, true, sizeof known);
    EXPECT_OK(s, pawl_store_inbox_known(a, TEXT("orders"), ids, COUNT, known, &s->error));
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned number = i * 7 % 40;
        EXPECT_EQ(s, known[i], number == 0 || number == 21 || number == 39);
    }
}

static const suite_case cases[] = {
    {"E25 a deduplication record is found by its message id",
     a_deduplication_record_is_found_by_its_message_id},
    {"E34 deduplication records of different endpoints are independent",
     deduplication_records_of_different_endpoints_are_independent},
    {"O25 a second deduplication record of a message is refused",
     a_second_deduplication_record_of_a_message_is_refused},
    {"O25 E35 of two deduplication records of one id in a commit the later is refused",
     of_two_deduplication_records_of_one_id_in_a_commit_the_later_is_refused},
    {"O25 a deduplication record does not refuse that of another endpoint",
     a_deduplication_record_does_not_refuse_that_of_another_endpoint},
    {"E35 two deduplication records of one id in a group refuse the whole group",
     two_deduplication_records_of_one_id_in_a_group_refuse_the_whole_group},
    {"E25 E34 claimed messages are compared with records of the given endpoint only",
     claimed_messages_are_compared_with_records_of_the_given_endpoint_only},
    {"D20 message ids are compared byte for byte", message_ids_are_compared_byte_for_byte},
    {"E25 thousands of message ids can be looked up in one call",
     thousands_of_message_ids_can_be_looked_up_in_one_call},
    {"E25 a lookup of many message ids finds exactly those that are recorded",
     a_lookup_of_many_message_ids_finds_exactly_those_that_are_recorded},
};

const suite_cases cases_inbox = SUITE_CASES("inbox", cases);
