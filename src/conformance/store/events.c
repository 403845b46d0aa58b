/* events.c - lists of events, their positions, and limits of sizes and texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"
#include "pawl/limits.h"

#include <string.h>

/* ---- Lists -------------------------------------------------------------- */

/* Appends to three streams alternately; by seq: "A@1 B@1 A@2 A@3 B@2 C@1". */
static pawl_store *make_streams(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_append(s, a, "A", 0, 1);
    suite_append(s, a, "B", 0, 1);
    suite_append(s, a, "A", 1, 2);
    suite_append(s, a, "B", 1, 1);
    suite_append(s, a, "C", 0, 1);
    return suite_open(s);
}

static void expect_list(suite *s, pawl_store *store, pawl_event_query query, const char *expected)
{
    pawl_event_rows rows = suite_events(s, store, query);
    EXPECT_ROWS(s, &rows, expected);
}

static void events_of_a_stream_are_listed_by_version_forwards_and_backwards(suite *s)
{
    pawl_store      *b = make_streams(s);
    pawl_event_query q = {.stream = TEXT("A")};
    expect_list(s, b, q, "A@1 A@2 A@3");
    q.after = 1;
    expect_list(s, b, q, "A@2 A@3");
    q.count_max = 1;
    expect_list(s, b, q, "A@2");
    q.after = 3;
    expect_list(s, b, q, "");
    q = (pawl_event_query){.stream = TEXT("A"), .is_backward = true};
    expect_list(s, b, q, "A@3 A@2 A@1");
    q.after = 3;
    expect_list(s, b, q, "A@2 A@1");
    q.count_max = 1;
    expect_list(s, b, q, "A@2");
    q.after = 1;
    expect_list(s, b, q, "");
    expect_list(s, b, (pawl_event_query){.stream = TEXT("a")}, "");
    expect_list(s, b, (pawl_event_query){.stream = TEXT("D")}, "");
    /* A stream keeps its own order, whatever the query's order is. */
    expect_list(s, b, (pawl_event_query){.stream = TEXT("B"), .is_by_position = true}, "B@1 B@2");
}

static void events_of_all_streams_are_listed_by_serial_number(suite *s)
{
    pawl_store     *b   = make_streams(s);
    pawl_event_rows all = suite_events(s, b, (pawl_event_query){0});
    EXPECT_ROWS(s, &all, "A@1 B@1 A@2 A@3 B@2 C@1");
    for (size_t i = 1; i < all.count; i++)
        EXPECT(s, all.items[i].seq > all.items[i - 1].seq);
    pawl_event_query q = {.after = all.items[2].seq};
    expect_list(s, b, q, "A@3 B@2 C@1");
    q.count_max = 2;
    expect_list(s, b, q, "A@3 B@2");
    q.is_backward = true;
    expect_list(s, b, q, "B@1 A@1");
    q.after = 0;
    expect_list(s, b, q, "C@1 B@2");
    q.count_max = 0;
    expect_list(s, b, q, "C@1 B@2 A@3 A@2 B@1 A@1");
}

static void add_labelled(suite_set *set, const char *stream, int64_t version, const char *type,
                         const char *message, const char *correlation)
{
    pawl_event event     = suite_event(set->s, pawl_text_of(message));
    event.type           = pawl_text_of(type);
    event.correlation_id = pawl_text_of(correlation);
    ADD(set, event_append, .stream = pawl_text_of(stream), .version = version,
        .is_first = version == 1, .event = event);
}

static void events_are_filtered_by_type_message_id_and_correlation_id(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    add_labelled(&set, "A", 1, "Opened", "m-1", "c-1");
    add_labelled(&set, "A", 2, "Deposited", "m-2", "c-1");
    add_labelled(&set, "A", 3, "Deposited", "m-2", "c-2");
    add_labelled(&set, "B", 1, "Opened", "m-2", "c-1");
    add_labelled(&set, "B", 2, "deposited", "M-2", "C-1");
    add_labelled(&set, "B", 3, "Deposited", "m-3", "c-2");
    COMMIT(&set, a);
    suite_number(s, a);
    for (int order = 0; order < 2; order++) {
        bool is_by_position = order == 1;
        expect_list(s, a,
                    (pawl_event_query){.type = TEXT("Deposited"), .is_by_position = is_by_position},
                    "A@2 A@3 B@3");
        expect_list(s, a,
                    (pawl_event_query){.message_id = TEXT("m-2"), .is_by_position = is_by_position},
                    "A@2 A@3 B@1");
        expect_list(
            s, a,
            (pawl_event_query){.correlation_id = TEXT("c-1"), .is_by_position = is_by_position},
            "A@1 A@2 B@1");
        expect_list(s, a,
                    (pawl_event_query){.type           = TEXT("Deposited"),
                                       .correlation_id = TEXT("c-2"),
                                       .is_backward    = true,
                                       .count_max      = 2,
                                       .is_by_position = is_by_position},
                    "B@3 A@3");
        expect_list(s, a,
                    (pawl_event_query){.type           = TEXT("Deposited"),
                                       .message_id     = TEXT("m-2"),
                                       .correlation_id = TEXT("c-2"),
                                       .stream         = TEXT("A"),
                                       .is_by_position = is_by_position},
                    "A@3");
    }
    expect_list(s, a, (pawl_event_query){.stream = TEXT("A"), .type = TEXT("Opened"), .after = 1},
                "");
    expect_list(s, a, (pawl_event_query){.type = TEXT("opened")}, "");
}

/* ---- Positions ---------------------------------------------------------- */

/* Expects positions from 1, without gaps or duplicates. */
static pawl_event_rows expect_gapless(suite *s, pawl_store *store, size_t count)
{
    pawl_event_rows rows = suite_events(s, store, (pawl_event_query){.is_by_position = true});
    EXPECT_EQ(s, rows.count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT_EQ(s, rows.items[i].position, i + 1);
    return rows;
}

static void every_committed_event_gets_a_global_position_without_gaps(suite *s)
{
    pawl_store *b = make_streams(s), *a = suite_open(s);
    suite_number(s, b);
    pawl_event_rows rows = expect_gapless(s, a, 6);
    EXPECT_ROWS(s, &rows, "A@1 B@1 A@2 A@3 B@2 C@1");
    EXPECT_EQ(s, suite_number(s, a), 0);
    suite_append(s, a, "C", 1, 3);
    suite_append(s, b, "A", 3, 1);
    suite_number(s, a);
    EXPECT_EQ(s, suite_number(s, b), 0);
    rows = expect_gapless(s, b, 10);
    EXPECT_ROWS(s, &rows, "A@1 B@1 A@2 A@3 B@2 C@1 C@2 C@3 C@4 A@4");
    EXPECT_EQ(s, suite_events(s, a, (pawl_event_query){.stream = TEXT("C")}).items[0].position, 6);
    EXPECT_EQ(s, suite_stream(s, a, TEXT("C"), 0).events[3].position, 9);
}

static void reading_by_global_position_continues_after_the_given_position(suite *s)
{
    pawl_store *b = make_streams(s);
    suite_number(s, b);
    pawl_event_query q = {.is_by_position = true, .after = 2, .count_max = 3};
    expect_list(s, b, q, "A@2 A@3 B@2");
    q.after = 5;
    expect_list(s, b, q, "C@1");
    q.after = 6;
    expect_list(s, b, q, "");
    q = (pawl_event_query){.is_by_position = true, .is_backward = true, .count_max = 2};
    expect_list(s, b, q, "C@1 B@2");
    q.after = 3;
    expect_list(s, b, q, "B@1 A@1");
}

/* An append that was refused or rolled back may leave a gap in the seqs, but not in the positions. */
static void an_append_that_was_rolled_back_leaves_no_gap_in_global_positions(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_append(s, a, "A", 0, 2);
    suite_set set = suite_changes(s);
    suite_add_events(&set, TEXT("B"), 0, 5);
    ADD(&set, checkpoint_set, .name = TEXT("totals"), .from = 9, .to = 10, .at = SUITE_NOW);
    REFUSED(&set, a);
    suite_append(s, a, "C", 0, 2);
    suite_number(s, a);
    pawl_event_rows rows = expect_gapless(s, a, 4);
    EXPECT_ROWS(s, &rows, "A@1 A@2 C@1 C@2");
}

/* Appends in the open transaction of `by`. */
static void append_in_handler_transaction(suite *s, pawl_store *by, const char *stream,
                                          size_t count)
{
    suite_set set = suite_changes(s);
    suite_add_events(&set, pawl_text_of(stream), 0, count);
    suite_enlist(&set, by);
}

/* Seqs are assigned by the insert, but commits end in another order: the event that was inserted first commits last,
 * when a later one has its position already. */
static void an_event_that_is_committed_late_gets_a_global_position_too(suite *s)
{
    pawl_store *a = suite_open(s), *slow = suite_open(s), *gone = suite_open(s);
    suite_need_overlap(s, a);
    EXPECT_OK(s, pawl_store_handler_transaction_begin(slow, &s->error));
    EXPECT_OK(s, pawl_store_handler_transaction_begin(gone, &s->error));
    append_in_handler_transaction(s, slow, "Slow", 2);
    append_in_handler_transaction(s, gone, "Gone", 2);
    suite_append(s, a, "Fast", 0, 2);
    EXPECT_EQ(s, suite_number(s, a), 2);
    pawl_event_rows rows = expect_gapless(s, a, 2);
    EXPECT_ROWS(s, &rows, "Fast@1 Fast@2");
    pawl_store_handler_transaction_end(gone);
    COMMIT_ONE(s, slow, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    expect_list(s, a, (pawl_event_query){0}, "Slow@1 Slow@2 Fast@1 Fast@2");
    EXPECT_EQ(s, suite_events(s, a, (pawl_event_query){.stream = TEXT("Slow")}).items[0].position,
              0);
    rows = expect_gapless(s, a, 2); /* events without a position are not listed by it */
    EXPECT_EQ(s, suite_number(s, a), 2);
    rows = expect_gapless(s, a, 4);
    EXPECT_ROWS(s, &rows, "Fast@1 Fast@2 Slow@1 Slow@2");
}

/* While the first event of a stream is not committed, so many others are committed that a driver cannot look back on
 * all. The stream's second event must still not get a position before the first. */
static void events_of_one_stream_get_global_positions_in_the_order_of_versions(suite *s)
{
    enum { OTHERS = 9000 };
    pawl_store *a = suite_open(s), *slow = suite_open(s);
    int64_t     count = 0;
    suite_need_overlap(s, a);
    EXPECT_OK(s, pawl_store_handler_transaction_begin(slow, &s->error));
    append_in_handler_transaction(s, slow, "Slow", 1);
    for (int64_t round = 0; round < 3; round++) {
        suite_append(s, a, "Fast", round * OTHERS, OTHERS);
        EXPECT_OK(s, pawl_store_event_number(a, 2 * OTHERS, &count, &s->error));
        EXPECT_EQ(s, count, OTHERS);
    }
    COMMIT_ONE(s, slow, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    suite_append(s, a, "Slow", 1, 1);
    EXPECT_OK(s, pawl_store_event_number(a, 2 * OTHERS, &count, &s->error));
    pawl_stream stream = suite_stream(s, a, TEXT("Slow"), 0);
    EXPECT_EQ(s, stream.count, 2);
    EXPECT(s, stream.events[1].position == 0 || stream.events[0].position != 0);
    suite_number(s, a);
    stream = suite_stream(s, a, TEXT("Slow"), 0);
    EXPECT_EQ(s, stream.events[0].position, 3 * OTHERS + 1);
    EXPECT_EQ(s, stream.events[1].position, 3 * OTHERS + 2);
}

/* ---- Sizes and texts ---------------------------------------------------- */

static pawl_code try_append(suite *s, pawl_store *store, pawl_text stream, pawl_event event)
{
    suite_set     set = suite_changes(s);
    pawl_refusals refused;
    ADD(&set, event_append, .stream = stream, .version = 1, .is_first = true, .event = event);
    return suite_try(&set, store, &refused);
}

static void the_texts_of_an_event_are_accepted_up_to_their_limits_refused_above(suite *s)
{
    pawl_store *a = suite_open(s);
    for (size_t part = 0; part < 6; part++) {
        pawl_event event  = suite_event(s, TEXT("m-1"));
        pawl_text  stream = suite_printf(s, "stream-%zu", part), full = TEXT("");
        pawl_text *parts[] = {&stream,
                              &event.type,
                              &event.message_id,
                              &event.correlation_id,
                              &event.causation_id,
                              &event.headers};
        size_t     limit   = part < 5 ? 200 : PAWL_HEADERS_SIZE_MAX;
        full               = suite_repeat(s, TEXT("x"), limit + 1);
        *parts[part]       = full;
        EXPECT_CODE(s, try_append(s, a, stream, event), PAWL_ELIMIT);
        parts[part]->size = limit;
        EXPECT_OK(s, try_append(s, a, stream, event));
        pawl_stream found = suite_stream(s, a, stream, 0);
        EXPECT_EQ(s, found.count, 1);
        EXPECT_TEXT(s, found.events[0].stream, stream);
        EXPECT_EVENT(s, &found.events[0].event, &event);
    }
    EXPECT_CODE(s,
                try_append(s, a, (pawl_text){.data = "", .size = 0}, suite_event(s, TEXT("m-1"))),
                PAWL_EINVAL);
}

static void an_events_body_is_accepted_up_to_its_limit_refused_above(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    pawl_event  event = suite_event(s, TEXT("m-1"));
    event.body        = suite_repeat(s, TEXT("b"), PAWL_BODY_SIZE_MAX + 1);
    EXPECT_CODE(s, try_append(s, a, TEXT("A"), event), PAWL_ELIMIT);
    event.body.size = PAWL_BODY_SIZE_MAX;
    EXPECT_OK(s, try_append(s, a, TEXT("A"), event));
    EXPECT_TEXT(s, suite_stream(s, b, TEXT("A"), 0).events[0].event.body, event.body);
}

static void a_nul_is_refused_in_an_events_texts_and_kept_in_its_body(suite *s)
{
    pawl_store *a   = suite_open(s);
    pawl_text   nul = {.data = "a\0b", .size = 3};
    for (size_t part = 0; part < 6; part++) {
        pawl_event event   = suite_event(s, TEXT("m-1"));
        pawl_text  stream  = TEXT("A");
        pawl_text *parts[] = {&stream,
                              &event.type,
                              &event.message_id,
                              &event.correlation_id,
                              &event.causation_id,
                              &event.headers};
        *parts[part]       = nul;
        EXPECT_CODE(s, try_append(s, a, stream, event), PAWL_EINVAL);
    }
    EXPECT_EQ(s, suite_events(s, a, (pawl_event_query){0}).count, 0);
    pawl_event event = suite_event(s, TEXT("m-1"));
    event.body       = nul;
    EXPECT_OK(s, try_append(s, a, TEXT("A"), event));
    EXPECT_TEXT(s, suite_stream(s, a, TEXT("A"), 0).events[0].event.body, nul);
}

/* Names that a database might treat as equal. */
static void stream_names_are_compared_byte_for_byte(suite *s)
{
    static const char *const names[] = {
        "Account/1",
        "account/1",
        "Account/1 ",
        " Account/1",
        "Account/\xc3\xa9",  /* e with an acute accent */
        "Account/e\xcc\x81", /* the same as two code points */
        "Account/e",
        "Account/%",
        "Account/_",
        "Account/'\"\\",
        "Account/\xf0\x9f\x90\x98",
        "Account/\xe5\x8f\xa3\xe5\xba\xa7",
        "Account/\t\n",
        "null",
        "0",
    };
    pawl_store *a = suite_open(s), *b = suite_open(s);
    size_t      count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++)
        suite_append(s, a, names[i], 0, 1 + i % 3);
    for (size_t i = 0; i < count; i++) {
        pawl_text   name   = pawl_text_of(names[i]);
        pawl_stream stream = suite_stream(s, b, name, 0);
        EXPECT_EQ(s, stream.version, 1 + i % 3);
        EXPECT_EQ(s, stream.count, 1 + i % 3);
        EXPECT_TEXT(s, stream.events[0].stream, name);
        EXPECT_EQ(s, suite_events(s, b, (pawl_event_query){.stream = name}).count, 1 + i % 3);
        pawl_event expected = suite_event_of(s, name, 1);
        EXPECT_EVENT(s, &stream.events[0].event, &expected);
        EXPECT_EQ(
            s, suite_events(s, b, (pawl_event_query){.message_id = expected.message_id}).count, 1);
    }
}

static const suite_case cases[] = {
    {"O4 events of a stream are listed by version, forwards and backwards",
     events_of_a_stream_are_listed_by_version_forwards_and_backwards},
    {"O4 events of all streams are listed by serial number",
     events_of_all_streams_are_listed_by_serial_number},
    {"O18 events are filtered by type, message id and correlation id",
     events_are_filtered_by_type_message_id_and_correlation_id},
    {"O4 every committed event gets a global position, without gaps",
     every_committed_event_gets_a_global_position_without_gaps},
    {"O4 reading by global position continues after the given position",
     reading_by_global_position_continues_after_the_given_position},
    {"O1 O4 an append that was rolled back leaves no gap in global positions",
     an_append_that_was_rolled_back_leaves_no_gap_in_global_positions},
    {"O3 O4 an event that is committed late gets a global position, too",
     an_event_that_is_committed_late_gets_a_global_position_too},
    {"O3 O4 events of one stream get global positions in the order of versions",
     events_of_one_stream_get_global_positions_in_the_order_of_versions},
    {"O4 D19 the texts of an event are accepted up to their limits, refused above",
     the_texts_of_an_event_are_accepted_up_to_their_limits_refused_above},
    {"O1 D19 an event's body is accepted up to its limit, refused above",
     an_events_body_is_accepted_up_to_its_limit_refused_above},
    {"O1 a NUL is refused in an event's texts and kept in its body",
     a_nul_is_refused_in_an_events_texts_and_kept_in_its_body},
    {"O4 stream names are compared byte for byte", stream_names_are_compared_byte_for_byte},
};

const suite_cases cases_events = SUITE_CASES("events", cases);
