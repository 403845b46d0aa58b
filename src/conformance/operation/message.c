/* message.c - the outbox of one message: its inbox entry, and the outbox rows that it caused ("operations").
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#define ENDPOINT TEXT("orders")

static void add_operation(suite_set *set, const char *message_id, unsigned number)
{
    pawl_message message = suite_message(set->s, suite_printf(set->s, "o-%u", number));
    message.causation_id = pawl_text_of(message_id);
    message.body         = suite_bytes(set->s, 300 + number);
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(number),
        .source = suite_printf(set->s, "Order/%u", number), .version = 1, .endpoint = ENDPOINT,
        .destination = suite_printf(set->s, "to-%u", number), .message = message,
        .due = SUITE_NOW + number, .at = SUITE_NOW);
}

/* Commits the changes of a handled message: operations `first` and so on. */
static void handle(suite *s, pawl_store *store, const char *message_id, unsigned first,
                   unsigned count, pawl_time at)
{
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = ENDPOINT, .message_id = pawl_text_of(message_id), .at = at);
    for (unsigned i = 0; i < count; i++)
        add_operation(&set, message_id, first + i);
    COMMIT(&set, store);
}

static bool get(suite *s, pawl_store *store, const char *message_id, pawl_outbox_record *record)
{
    bool is_found = false;
    EXPECT_OK(s, pawl_store_outbox_get(store, ENDPOINT, pawl_text_of(message_id), s->arena, record,
                                       &is_found, &s->error));
    return is_found;
}

static void an_outbox_record_holds_what_a_handled_message_sent_until_it_is_sent(suite *s)
{
    pawl_store        *a = suite_open(s), *b = suite_open_bare(s);
    pawl_outbox_record record;
    EXPECT(s, !get(s, b, "m-1", &record));
    handle(s, a, "m-1", 1, 3, SUITE_NOW);
    handle(s, a, "m-2", 11, 1, SUITE_NOW);
    EXPECT(s, get(s, b, "m-1", &record));
    EXPECT_EQ(s, record.count, 3);
    EXPECT_EQ(s, record.dispatched, 0);
    for (unsigned i = 0; i < 3; i++) {
        const pawl_outbox_row *row  = &record.operations[i];
        pawl_message           sent = suite_message(s, suite_printf(s, "o-%u", i + 1));
        EXPECT_EQ(s, pawl_uuid_compare(row->dispatch_id.uuid, suite_uuid(i + 1)), 0);
        EXPECT_TEXT(s, row->destination, suite_printf(s, "to-%u", i + 1));
        EXPECT_TEXT(s, row->message.id, sent.id);
        EXPECT_TEXT(s, row->message.headers, sent.headers);
        EXPECT_EQ(s, row->message.body.size, 301 + i);
        for (size_t at = 0; at < 256; at++) /* as suite_bytes makes them */
            EXPECT_EQ(s, (unsigned char)row->message.body.data[at], at);
        EXPECT_EQ(s, row->due, SUITE_NOW + i + 1);
    }
    for (unsigned i = 1; i <= 3; i++)
        suite_outbox_settle(s, a, i, PAWL_ATTEMPT_SUCCESS, SUITE_NOW + i);
    EXPECT(s, get(s, b, "m-1", &record));
    EXPECT_EQ(s, record.count, 0);
    EXPECT(s, get(s, b, "m-2", &record));
    EXPECT_EQ(s, record.count, 1);
    EXPECT(s, !get(s, b, "M-1", &record));
}

static void an_outbox_record_belongs_to_one_endpoint(suite *s)
{
    pawl_store        *a        = suite_open(s);
    bool               is_found = true;
    pawl_outbox_record record;
    handle(s, a, "m-1", 1, 1, SUITE_NOW);
    EXPECT_OK(s, pawl_store_outbox_get(a, TEXT("billing"), TEXT("m-1"), s->arena, &record,
                                       &is_found, &s->error));
    EXPECT(s, !is_found);
    EXPECT_EQ(s, record.count, 0);
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("billing"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    EXPECT_OK(s, pawl_store_outbox_get(a, TEXT("billing"), TEXT("m-1"), s->arena, &record,
                                       &is_found, &s->error));
    EXPECT(s, is_found);
    EXPECT_EQ(s, record.count, 0); /* the handler sent nothing */
    EXPECT_CODE(s,
                pawl_store_outbox_get(a, (pawl_text){.data = "", .size = 0}, TEXT("m-1"), s->arena,
                                      &record, &is_found, &s->error),
                PAWL_EINVAL);
    EXPECT_CODE(s,
                pawl_store_outbox_get(a, ENDPOINT, (pawl_text){.data = "", .size = 0}, s->arena,
                                      &record, &is_found, &s->error),
                PAWL_EINVAL);
}

static void a_second_outbox_record_of_a_message_is_refused_completely(suite *s)
{
    pawl_store        *a = suite_open(s), *b = suite_open(s);
    pawl_outbox_record record;
    handle(s, a, "m-1", 1, 1, SUITE_NOW);
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = ENDPOINT, .message_id = TEXT("m-1"), .at = SUITE_NOW);
    add_operation(&set, "m-1", 2);
    pawl_refusals refused = REFUSED(&set, b);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
    EXPECT(s, suite_text_has(refused.items[0].text, TEXT("m-1")));
    EXPECT(s, get(s, a, "m-1", &record));
    EXPECT_EQ(s, record.count, 1);
}

/* In the pessimistic mode the inbox entry is written before the handler runs; a second receiver fails to write it
 * before its own handler runs. */
static void a_claimed_message_can_be_settled_by_no_other_worker(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_send(s, a, ENDPOINT, "m-1", SUITE_NOW);
    pawl_queue_rows claimed = suite_claim(s, a, ENDPOINT, SUITE_NOW, 9);
    EXPECT_EQ(s, claimed.count, 1);
    EXPECT_EQ(s, suite_claim(s, b, ENDPOINT, SUITE_NOW, 9).count, 0);
    suite_set late = suite_changes(s);
    ADD(&late, queue_settle, .action = PAWL_QUEUE_DONE, .queue = ENDPOINT,
        .seq = claimed.items[0].seq);
    ADD(&late, inbox_entry, .endpoint = ENDPOINT, .message_id = TEXT("m-1"), .at = SUITE_NOW);
    add_operation(&late, "m-1", 1);
    REFUSED(&late, b);
    EXPECT(s, !suite_knows(s, b, ENDPOINT, TEXT("m-1")));
    suite_end_worker(s, a); /* the receiver crashed: the next one may claim the message */
    claimed = suite_claim(s, b, ENDPOINT, SUITE_NOW, 9);
    EXPECT_EQ(s, claimed.count, 1);
    suite_set done = suite_changes(s);
    ADD(&done, queue_settle, .action = PAWL_QUEUE_DONE, .queue = ENDPOINT,
        .seq = claimed.items[0].seq);
    ADD(&done, inbox_entry, .endpoint = ENDPOINT, .message_id = TEXT("m-1"), .at = SUITE_NOW);
    add_operation(&done, "m-1", 1);
    COMMIT(&done, b);
    pawl_store        *c = suite_open(s);
    pawl_outbox_record record;
    EXPECT_EQ(s, suite_claim(s, c, ENDPOINT, SUITE_NOW, 9).count, 0);
    EXPECT(s, get(s, c, "m-1", &record));
    EXPECT_EQ(s, record.count, 1);
}

static void an_outbox_record_loses_sent_operations_and_the_last_sets_its_time(suite *s)
{
    pawl_store        *a = suite_open(s);
    pawl_outbox_record record;
    handle(s, a, "m-1", 1, 3, SUITE_NOW);
    suite_outbox_settle(s, a, 2, PAWL_ATTEMPT_SUCCESS, SUITE_NOW + 7);
    EXPECT_EQ(s, suite_outbox_row(s, a, 2).dispatched, SUITE_NOW + 7);
    EXPECT_EQ(s, suite_outbox_row(s, a, 1).dispatched, 0);
    EXPECT(s, get(s, a, "m-1", &record));
    EXPECT_EQ(s, record.count, 2);
    EXPECT_EQ(s, record.dispatched, 0);
    EXPECT_EQ(s, pawl_uuid_compare(record.operations[1].dispatch_id.uuid, suite_uuid(3)), 0);
    suite_outbox_settle(s, a, 1, PAWL_ATTEMPT_SUCCESS, SUITE_NOW + 5);
    suite_outbox_settle(s, a, 3, PAWL_ATTEMPT_REJECTED, SUITE_NOW + 9);
    EXPECT(s, get(s, a, "m-1", &record));
    EXPECT_EQ(s, record.count, 1); /* the dead-lettered message was not dispatched */
    EXPECT_EQ(s, record.operations[0].state, PAWL_OUTBOX_DEAD);
    EXPECT_OK(s, pawl_store_outbox_retry(a, record.operations[0].id, TEXT(""), SUITE_NOW + 10,
                                         &s->error));
    suite_outbox_settle(s, a, 3, PAWL_ATTEMPT_SUCCESS, SUITE_NOW + 11);
    EXPECT(s, get(s, a, "m-1", &record));
    EXPECT_EQ(s, record.count, 0);
    EXPECT_EQ(s, record.dispatched, SUITE_NOW + 11);
}

static pawl_outbox_rows due(suite *s, pawl_store *store)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s,
              pawl_store_outbox_claim(store, ENDPOINT, SUITE_NOW, 32, s->arena, &rows, &s->error),
              rows);
    return rows;
}

/* The message arrives again after a crash: it is known, and only operations that were not sent are sent. */
static void operations_that_were_not_sent_are_sent_later_with_the_same_ids(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    handle(s, a, "m-1", 1, 2, SUITE_NOW);
    pawl_outbox_rows first = due(s, a);
    EXPECT_EQ(s, first.count, 2);
    suite_outbox_settle(s, a, 1, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    suite_end_worker(s, a);
    EXPECT(s, suite_knows(s, b, ENDPOINT, TEXT("m-1")));
    pawl_outbox_rows again = due(s, b);
    EXPECT_EQ(s, again.count, 1);
    EXPECT_EQ(s, pawl_uuid_compare(again.items[0].dispatch_id.uuid, suite_uuid(2)), 0);
    EXPECT_MESSAGE(s, &again.items[0].message, &first.items[1].message);
    suite_outbox_settle(s, b, 2, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    EXPECT_EQ(s, due(s, b).count, 0);
    EXPECT(s, suite_knows(s, b, ENDPOINT, TEXT("m-1")));
}

/* Messages 1 to 13 were dispatched before the cut-off, 14 at it; 15 and 16 never. */
static void make_records(suite *s, pawl_store *store, pawl_time cut_off)
{
    for (unsigned i = 1; i <= 16; i++) {
        pawl_time at = i == 14 ? cut_off : cut_off - 1;
        handle(s, store, suite_printf(s, "m-%u", i).data, i, 1, at);
        if (i <= 14)
            suite_outbox_settle(s, store, i, PAWL_ATTEMPT_SUCCESS, at);
        if (i == 16)
            suite_outbox_settle(s, store, i, PAWL_ATTEMPT_REJECTED, at);
    }
}

static void the_clean_up_deletes_old_dispatched_outbox_records_in_batches(suite *s)
{
    pawl_store        *a       = suite_open(s);
    pawl_time          cut_off = SUITE_NOW - PAWL_DAYS(7);
    bool               more    = true;
    int64_t            count   = 0;
    unsigned           batches = 0;
    pawl_outbox_record record;
    make_records(s, a, cut_off);
    pawl_sweep what = {.inbox_before = cut_off, .outbox_before = cut_off, .count_max = 5};
    while (more) {
        EXPECT_OK(s, pawl_store_sweep(a, &what, &count, &more, &s->error));
        EXPECT(s, count <= 2 * 5); /* per kind */
        EXPECT(s, ++batches < 10);
    }
    EXPECT(s, batches >= 3);
    EXPECT_OK(s, pawl_store_sweep(a, &what, &count, &more, &s->error));
    EXPECT_EQ(s, count, 0);
    for (unsigned i = 1; i <= 13; i++)
        EXPECT(s, !get(s, a, suite_printf(s, "m-%u", i).data, &record));
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DISPATCHED).count, 1);
    EXPECT(s, get(s, a, "m-14", &record));
    EXPECT_EQ(s, record.dispatched, cut_off);
    for (unsigned i = 15; i <= 16; i++) {
        EXPECT(s, get(s, a, suite_printf(s, "m-%u", i).data, &record));
        EXPECT_EQ(s, record.count, 1);
    }
}

static const suite_case cases[] = {
    {"O24 O33 an outbox record holds what a handled message sent until it is sent",
     an_outbox_record_holds_what_a_handled_message_sent_until_it_is_sent},
    {"O33 an outbox record belongs to one endpoint", an_outbox_record_belongs_to_one_endpoint},
    {"O25 O33 a second outbox record of a message is refused completely",
     a_second_outbox_record_of_a_message_is_refused_completely},
    {"O26 a claimed message can be settled by no other worker",
     a_claimed_message_can_be_settled_by_no_other_worker},
    {"O27 O33 an outbox record loses sent operations, and the last sets its time",
     an_outbox_record_loses_sent_operations_and_the_last_sets_its_time},
    {"E25 O33 operations that were not sent are sent later with the same ids",
     operations_that_were_not_sent_are_sent_later_with_the_same_ids},
    {"O28 the clean-up deletes old dispatched outbox records in batches",
     the_clean_up_deletes_old_dispatched_outbox_records_in_batches},
};

const suite_cases cases_op_message = SUITE_CASES("operation outbox record", cases);
