/* number.c - JSON numbers of every form: a body keeps their spelling, a saga's state keeps their values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#include <stdlib.h>
#include <string.h>

static const char *const numbers[] = {
    "0",
    "1",
    "-0",
    "-1",
    "0.1",
    "-2.50",
    "1.0",
    "1e3",
    "1E+2",
    "1E-7",
    "-1.5e-10",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    "2.2250738585072014e-308",
    "5e-324",
};
#define NUMBER_COUNT (sizeof numbers / sizeof numbers[0])

/* {"n":[0,1,-0 ...]} */
static pawl_text all_numbers(suite *s)
{
    pawl_text list = suite_printf(s, "%s", numbers[0]);
    for (size_t i = 1; i < NUMBER_COUNT; i++)
        list = suite_printf(s, "%.*s,%s", PAWL_TEXT_ARGS(list), numbers[i]);
    return suite_printf(s, "{\"n\":[%.*s]}", PAWL_TEXT_ARGS(list));
}

/* ---- Bodies ------------------------------------------------------------- */

static void send_everywhere(suite *s, pawl_store *store, unsigned number, pawl_message sent)
{
    suite_set set = suite_changes(s);
    ADD(&set, queue_send, .queue = TEXT("orders"), .message = sent, .due = SUITE_NOW);
    ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(number + 1), .source = TEXT("S"),
        .version = number + 1, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
        .message = sent, .at = SUITE_NOW);
    ADD(&set, aggregator_add, .name = TEXT("Bills"), .partition = TEXT("Bills"), .key = sent.id,
        .message = sent, .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    ADD(&set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"), .message = sent,
        .code = TEXT("EPERSIST"), .at = SUITE_NOW + number);
    COMMIT(&set, store);
}

static void numbers_in_message_bodies_keep_their_spelling(suite *s)
{
    enum { COUNT = NUMBER_COUNT + 1 };
    pawl_store  *a = suite_open(s);
    pawl_message sent[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        sent[i]      = suite_message(s, suite_printf(s, "m-%u", i));
        sent[i].body = i < NUMBER_COUNT ? pawl_text_of(numbers[i]) : all_numbers(s);
        send_everywhere(s, a, i, sent[i]);
    }
    pawl_queue_rows   queue  = suite_claim(s, a, TEXT("orders"), SUITE_NOW, COUNT);
    pawl_outbox_rows  outbox = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    pawl_leased_batch bills  = suite_rows(s, a, TEXT("Bills"));
    pawl_dead_rows    dead   = suite_dead_rows(s, a, TEXT("suite"));
    EXPECT_EQ(s, queue.count, COUNT);
    EXPECT_EQ(s, outbox.count, COUNT);
    EXPECT_EQ(s, bills.count, COUNT);
    EXPECT_EQ(s, dead.count, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        EXPECT_MESSAGE(s, &queue.items[i].message, &sent[i]);
        EXPECT_MESSAGE(s, &outbox.items[i].message, &sent[i]);
        EXPECT_MESSAGE(s, &bills.items[i].message, &sent[i]);
        EXPECT_MESSAGE(s, &dead.items[i].message, &sent[i]);
    }
}

/* ---- State -------------------------------------------------------------- */

/* Removes the next number from a list that ends with ']'. */
static pawl_text next_number(suite *s, pawl_text *list)
{
    size_t size = 0;
    while (size < list->size && list->data[size] != ',' && list->data[size] != ']')
        size++;
    EXPECT(s, size > 0 && size < list->size);
    pawl_text number = suite_printf(s, "%.*s", (int)size, list->data);
    *list            = (pawl_text){.data = list->data + size + 1, .size = list->size - size - 1};
    return number;
}

/* Integers must stay integers. Others are compared as doubles, since a store may write 1e3 as 1000, and 5e-324 with all
 * its digits. */
static void expect_same_value(suite *s, pawl_text actual, const char *expected)
{
    char *end        = NULL;
    bool  is_same    = false;
    bool  is_integer = strpbrk(expected, ".eE") == NULL;
    if (is_integer)
        is_same = strtoll(actual.data, &end, 10) == strtoll(expected, NULL, 10);
    else
        is_same = strtod(actual.data, &end) == strtod(expected, NULL);
    if (!is_same || end != actual.data + actual.size)
        suite_fail(s, __FILE__, __LINE__, "the number %s was read as %.*s", expected,
                   (int)(actual.size < 400 ? actual.size : 400), actual.data);
}

static void expect_numbers(suite *s, pawl_text json)
{
    pawl_text compact = suite_compact(s, json);
    pawl_text begin   = TEXT("{\"n\":[");
    EXPECT(s, compact.size > begin.size && memcmp(compact.data, begin.data, begin.size) == 0);
    pawl_text list = {.data = compact.data + begin.size, .size = compact.size - begin.size};
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        expect_same_value(s, next_number(s, &list), numbers[i]);
    EXPECT_TEXT(s, list, TEXT("}"));
}

static void numbers_in_a_sagas_state_keep_their_value(suite *s)
{
    pawl_store *a    = suite_open(s);
    pawl_text   data = all_numbers(s);
    COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1),
               .main = pawl_value_text(TEXT("order-1")), .metadata = data, .data = data,
               .type_version = TEXT("1.0"));
    pawl_saga_row row = suite_load_id(s, a, SUITE_ORDER, 1);
    expect_numbers(s, row.data);
    expect_numbers(s, row.metadata);
    /* The next update writes the values as they were read. */
    COMMIT_ONE(s, a, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1),
               .version = 1, .row = row.row, .metadata = row.metadata, .data = row.data,
               .type_version = TEXT("1.0"));
    row = suite_load_id(s, a, SUITE_ORDER, 1);
    EXPECT_EQ(s, row.version, 2);
    expect_numbers(s, row.data);
    expect_numbers(s, row.metadata);
}

static const suite_case cases[] = {
    {"A1 E26 O24 numbers in message bodies keep their spelling",
     numbers_in_message_bodies_keep_their_spelling},
    {"S31 D16 numbers in a saga's state keep their value",
     numbers_in_a_sagas_state_keep_their_value},
};

const suite_cases cases_number = SUITE_CASES("number", cases);
