/* event_store.c - the event store through the public operations: append with its
 * dispatches, reads, folds and checkpoints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"
#include "pawl/operations.h"

#define ACCOUNT TEXT("Account/1")
#define BILLING TEXT("accounts")

static pawl_outbox_row dispatch_of(suite *s, const char *body)
{
    return (pawl_outbox_row){.destination = TEXT("billing"),
                             .message     = {.type           = TEXT("Charge"),
                                             .body           = pawl_text_of(body),
                                             .headers        = TEXT("{\"a\":\"1\"}"),
                                             .correlation_id = TEXT("conversation-1"),
                                             .causation_id   = suite_printf(s, "cause-of-%s", body)},
                             .due         = SUITE_NOW + 9};
}

/* Appends one event after `version`, with `count` dispatches. */
static pawl_code try_append(suite *s, pawl_store *store, int64_t version, size_t count)
{
    pawl_event      event         = suite_event_of(s, ACCOUNT, version + 1);
    pawl_outbox_row dispatches[3] = {dispatch_of(s, "{\"n\":0}"), dispatch_of(s, "{\"n\":1}"),
                                     dispatch_of(s, "{\"n\":2}")};
    pawl_append     append        = {.stream         = ACCOUNT,
                                     .version        = version,
                                     .events         = &event,
                                     .event_count    = 1,
                                     .dispatches     = dispatches,
                                     .dispatch_count = count,
                                     .outbox         = BILLING};
    EXPECT(s, count <= 3);
    return pawl_store_append(store, &append, SUITE_NOW, &s->error);
}

static pawl_outbox_rows find(suite *s, pawl_store *store, pawl_outbox_query query)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s, pawl_store_outbox_find(store, &query, s->arena, &rows, &s->error), rows);
    return rows;
}

static pawl_stream read_stream(suite *s, pawl_store *store, pawl_text name)
{
    pawl_stream      stream = {0};
    pawl_stream_read read   = {.stream = name, .snapshot_version_max = 9};
    EXPECT_OK(s, pawl_store_stream_read(store, &read, s->arena, &stream, &s->error));
    return stream;
}

/* ---- Append ------------------------------------------------------------- */

static void an_append_stores_its_events_and_outbox_rows_together(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    EXPECT_EQ(s, read_stream(s, b, ACCOUNT).version, 0);
    pawl_event      events[]     = {suite_event_of(s, ACCOUNT, 1), suite_event_of(s, ACCOUNT, 2)};
    pawl_outbox_row dispatches[] = {dispatch_of(s, "{\"n\":0}"), dispatch_of(s, "{\"n\":1}")};
    dispatches[1].dispatch_id    = suite_dispatch_id(77);
    dispatches[1].message.id     = TEXT("m-77");
    dispatches[1].state          = PAWL_OUTBOX_DEAD; /* ignored: a new row is pending */
    dispatches[1].version        = 99;
    pawl_append append           = {.stream         = ACCOUNT,
                                    .events         = events,
                                    .event_count    = 2,
                                    .dispatches     = dispatches,
                                    .dispatch_count = 2,
                                    .outbox         = BILLING};
    EXPECT_OK(s, pawl_store_append(a, &append, SUITE_NOW, &s->error));
    pawl_stream stream = read_stream(s, b, ACCOUNT);
    EXPECT_EQ(s, stream.version, 2);
    EXPECT_EQ(s, stream.count, 2);
    for (size_t i = 0; i < 2; i++)
        EXPECT_EVENT(s, &stream.events[i].event, &events[i]);
    pawl_outbox_rows rows = find(s, b, (pawl_outbox_query){.source = ACCOUNT});
    EXPECT_EQ(s, rows.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const pawl_outbox_row *row = &rows.items[i];
        EXPECT_EQ(s, row->state, PAWL_OUTBOX_PENDING);
        EXPECT_EQ(s, row->version, 2);
        EXPECT_EQ(s, row->index, i);
        EXPECT_EQ(s, row->due, SUITE_NOW + 9);
        EXPECT_EQ(s, row->at, SUITE_NOW);
        EXPECT_TEXT(s, row->endpoint, BILLING);
        EXPECT_TEXT(s, row->destination, TEXT("billing"));
        EXPECT_TEXT(s, row->message.type, TEXT("Charge"));
        EXPECT_TEXT(s, row->message.body, dispatches[i].message.body);
        EXPECT_TEXT(s, row->message.headers, TEXT("{\"a\":\"1\"}"));
        EXPECT_TEXT(s, row->message.causation_id, dispatches[i].message.causation_id);
    }
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[1].dispatch_id.uuid, suite_uuid(77)), 0);
    EXPECT_TEXT(s, rows.items[1].message.id, TEXT("m-77"));
}

static void a_dispatch_id_is_computed_from_endpoint_stream_version_and_index(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_OK(s, try_append(s, a, 0, 2));
    EXPECT_OK(s, try_append(s, a, 1, 2));
    pawl_outbox_rows rows = find(s, a, (pawl_outbox_query){.endpoint = BILLING});
    EXPECT_EQ(s, rows.count, 4);
    for (size_t i = 0; i < 4; i++) {
        char      text[PAWL_UUID_TEXT_SIZE + 1];
        pawl_uuid id =
            pawl_dispatch_id_make(BILLING, ACCOUNT, (int64_t)(i / 2) + 1, (int32_t)(i % 2)).uuid;
        pawl_uuid_format(id, text);
        EXPECT_EQ(s, pawl_uuid_compare(rows.items[i].dispatch_id.uuid, id), 0);
        EXPECT_EQ(s, id.bytes[6] >> 4, 5);
        EXPECT_EQ(s, id.bytes[8] >> 6, 2);
        EXPECT_TEXT(s, rows.items[i].message.id, pawl_text_of(text));
    }
}

static void an_append_with_outbox_rows_but_without_their_endpoint_is_refused(suite *s)
{
    pawl_store     *a        = suite_open(s);
    pawl_event      event    = suite_event_of(s, ACCOUNT, 1);
    pawl_outbox_row dispatch = dispatch_of(s, "{}");
    pawl_append     append   = {.stream         = ACCOUNT,
                                .events         = &event,
                                .event_count    = 1,
                                .dispatches     = &dispatch,
                                .dispatch_count = 1};
    EXPECT_CODE(s, pawl_store_append(a, &append, SUITE_NOW, &s->error), PAWL_ECONFIG);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), ACCOUNT));
    EXPECT_EQ(s, read_stream(s, a, ACCOUNT).version, 0);
    EXPECT_EQ(s, find(s, a, (pawl_outbox_query){0}).count, 0);
    append.dispatch_count = 0;
    EXPECT_OK(s, pawl_store_append(a, &append, SUITE_NOW, &s->error));
    EXPECT_EQ(s, read_stream(s, a, ACCOUNT).version, 1);
}

static void of_two_appends_at_one_version_one_is_stored_with_its_outbox_rows(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_OK(s, try_append(s, a, 0, 1));
    EXPECT_CODE(s, try_append(s, b, 0, 3), PAWL_ECONFLICT);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), ACCOUNT));
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("1")));
    EXPECT_EQ(s, find(s, b, (pawl_outbox_query){0}).count, 1);
    EXPECT_CODE(s, try_append(s, b, 2, 3), PAWL_ECONFLICT); /* version 2 is missing */
    EXPECT_EQ(s, find(s, b, (pawl_outbox_query){0}).count, 1);
    EXPECT_EQ(s, read_stream(s, b, ACCOUNT).version, 1);
    EXPECT_OK(s, try_append(s, b, 1, 0));
    EXPECT_EQ(s, read_stream(s, a, ACCOUNT).version, 2);
}

static void an_append_with_a_known_dispatch_id_of_another_body_leaves_no_event(suite *s)
{
    pawl_store     *a = suite_open(s);
    pawl_outbox_row other;
    EXPECT_OK(s, try_append(s, a, 0, 1));
    /* A handler that ran again with another result, since it depends on more than its input. */
    other              = dispatch_of(s, "{\"n\":9}");
    other.dispatch_id  = pawl_dispatch_id_make(BILLING, ACCOUNT, 1, 0);
    pawl_event  event  = suite_event_of(s, ACCOUNT, 2);
    pawl_append append = {.stream         = ACCOUNT,
                          .version        = 1,
                          .events         = &event,
                          .event_count    = 1,
                          .dispatches     = &other,
                          .dispatch_count = 1,
                          .outbox         = BILLING};
    EXPECT_CODE(s, pawl_store_append(a, &append, SUITE_NOW, &s->error), PAWL_EMISMATCH);
    EXPECT_EQ(s, read_stream(s, a, ACCOUNT).version, 1);
    EXPECT_EQ(s, find(s, a, (pawl_outbox_query){0}).count, 1);
}

/* ---- Run again ---------------------------------------------------------- */

static void settle(suite *s, pawl_store *store, pawl_outbox_row *row, pawl_attempt_outcome outcome)
{
    pawl_outbox_result result = {.outcome = outcome};
    EXPECT_OK(s, pawl_store_outbox_settle(store, row, &result, SUITE_NOW, &s->error));
}

/* A producer that crashed before it got the answer appends again: nothing is written twice, even if the rows were
 * changed since. */
static void an_append_that_was_applied_is_not_applied_again_when_repeated(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_OK(s, try_append(s, a, 0, 3));
    pawl_outbox_rows rows = find(s, a, (pawl_outbox_query){0});
    EXPECT_EQ(s, rows.count, 3);
    settle(s, a, &rows.items[0], PAWL_ATTEMPT_SUCCESS);
    settle(s, a, &rows.items[1], PAWL_ATTEMPT_REJECTED);
    suite_close(s, a);
    EXPECT_CODE(s, try_append(s, b, 0, 3), PAWL_ECONFLICT);
    for (size_t i = 0; i < 3; i++) {
        pawl_outbox_row again = dispatch_of(s, rows.items[i].message.body.data);
        again.dispatch_id     = pawl_dispatch_id_make(BILLING, ACCOUNT, 1, (int32_t)i);
        again.message.id      = TEXT("another name");
        again.endpoint        = BILLING;
        again.source          = ACCOUNT;
        EXPECT_OK(s, pawl_store_outbox_insert(b, &again, SUITE_NOW, &s->error));
    }
    rows = find(s, b, (pawl_outbox_query){0});
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_EQ(s, rows.items[0].state, PAWL_OUTBOX_DISPATCHED);
    EXPECT_EQ(s, rows.items[1].state, PAWL_OUTBOX_DEAD);
    EXPECT_EQ(s, rows.items[2].state, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, read_stream(s, b, ACCOUNT).count, 1);
}

/* After an append that was not applied, the repetition uses the same ids. */
static void an_append_that_was_not_applied_has_the_same_dispatch_ids_when_repeated(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    pawl_event  first = suite_event_of(s, ACCOUNT, 1);
    suite_end_worker(s, a);
    suite_set     lost    = suite_changes(s);
    pawl_refusals refused = {.arena = s->arena};
    ADD(&lost, event_append, .stream = ACCOUNT, .version = 1, .is_first = true, .event = first);
    EXPECT_CODE(s, pawl_store_commit(a, &lost.changes, &refused, &s->error), PAWL_EFENCED);
    EXPECT_EQ(s, read_stream(s, b, ACCOUNT).version, 0);
    EXPECT_OK(s, try_append(s, b, 0, 1));
    pawl_outbox_rows rows = find(
        s, b, (pawl_outbox_query){.dispatch_id = pawl_dispatch_id_make(BILLING, ACCOUNT, 1, 0)});
    EXPECT_EQ(s, rows.count, 1);
}

/* ---- What an append takes ----------------------------------------------- */

static void an_invalid_append_is_refused(suite *s)
{
    pawl_store *a      = suite_open(s);
    pawl_event  event  = suite_event_of(s, ACCOUNT, 1);
    pawl_append good   = {.stream = ACCOUNT, .events = &event, .event_count = 1};
    pawl_append append = good;
    append.event_count = 0;
    EXPECT_CODE(s, pawl_store_append(a, &append, SUITE_NOW, &s->error), PAWL_EINVAL);
    append         = good;
    append.version = -1;
    EXPECT_CODE(s, pawl_store_append(a, &append, SUITE_NOW, &s->error), PAWL_EINVAL);
    append        = good;
    append.stream = (pawl_text){.data = "", .size = 0};
    EXPECT_CODE(s, pawl_store_append(a, &append, SUITE_NOW, &s->error), PAWL_EINVAL);
    append        = good;
    append.stream = suite_repeat(s, TEXT("x"), 201);
    EXPECT_CODE(s, pawl_store_append(a, &append, SUITE_NOW, &s->error), PAWL_ELIMIT);
    append             = good;
    event.type_version = 0;
    EXPECT_CODE(s, pawl_store_append(a, &append, SUITE_NOW, &s->error), PAWL_EINVAL);
    EXPECT_EQ(s, suite_events(s, a, (pawl_event_query){0}).count, 0);
}

/* ---- Folds, events, checkpoints ----------------------------------------- */

static void a_read_of_a_stream_begins_at_its_snapshot(suite *s)
{
    pawl_store              *a        = suite_open_bare(s);
    pawl_stream_snapshot_row snapshot = {.version      = 2,
                                         .type_version = 4,
                                         .state        = TEXT("{\"cents\":12}"),
                                         .dispatches   = TEXT("[\"d-1\",\"d-2\"]")};
    for (int64_t version = 0; version < 3; version++)
        EXPECT_OK(s, try_append(s, a, version, 0));
    EXPECT_OK(s, pawl_store_stream_snapshot_save(a, ACCOUNT, &snapshot, SUITE_NOW + 5, &s->error));
    snapshot.version = 1;
    snapshot.state   = TEXT("{\"cents\":11}");
    EXPECT_OK(s, pawl_store_stream_snapshot_save(a, ACCOUNT, &snapshot, SUITE_NOW + 6, &s->error));
    pawl_stream stream = read_stream(s, a, ACCOUNT);
    EXPECT_EQ(s, stream.version, 3);
    EXPECT_EQ(s, stream.snapshot.version, 2);
    EXPECT_EQ(s, stream.snapshot.type_version, 4);
    EXPECT_EQ(s, stream.snapshot.at, SUITE_NOW + 5);
    EXPECT_TEXT(s, stream.snapshot.state, TEXT("{\"cents\":12}"));
    EXPECT_TEXT(s, stream.snapshot.dispatches, TEXT("[\"d-1\",\"d-2\"]"));
    EXPECT_EQ(s, stream.count, 1);
    EXPECT_EQ(s, stream.events[0].version, 3);
    snapshot.type_version = 0;
    EXPECT_CODE(s, pawl_store_stream_snapshot_save(a, ACCOUNT, &snapshot, SUITE_NOW, &s->error),
                PAWL_EINVAL);
}

static void a_projection_continues_at_its_checkpoint(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    int64_t     position = -1;
    EXPECT_OK(s, pawl_store_checkpoint_get(b, TEXT("totals"), &position, &s->error));
    EXPECT_EQ(s, position, 0);
    for (int64_t version = 0; version < 3; version++)
        EXPECT_OK(s, try_append(s, a, version, 0));
    suite_number(s, a);
    pawl_event_rows  rows  = {0};
    pawl_event_query query = {.is_by_position = true, .after = position, .count_max = 2};
    READ_ROWS(s, pawl_store_events(b, &query, s->arena, &rows, &s->error), rows);
    EXPECT_ROWS(s, &rows, "Account/1@1 Account/1@2");
    EXPECT_OK(
        s, pawl_store_checkpoint_set(b, TEXT("totals"), 0, rows.items[1].position, 0, &s->error));
    EXPECT_CODE(s, pawl_store_checkpoint_set(a, TEXT("totals"), 0, 1, 0, &s->error),
                PAWL_ECONFLICT);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("totals")));
    EXPECT_CODE(s, pawl_store_checkpoint_set(a, TEXT("totals"), 2, 2, 0, &s->error), PAWL_EINVAL);
    EXPECT_OK(s, pawl_store_checkpoint_get(a, TEXT("totals"), &query.after, &s->error));
    READ_ROWS(s, pawl_store_events(a, &query, s->arena, &rows, &s->error), rows);
    EXPECT_ROWS(s, &rows, "Account/1@3");
}

static const suite_case cases[] = {
    {"O1 O22 an append stores its events and outbox rows together",
     an_append_stores_its_events_and_outbox_rows_together},
    {"O5 a dispatch id is computed from endpoint, stream, version and index",
     a_dispatch_id_is_computed_from_endpoint_stream_version_and_index},
    {"O2 an append with outbox rows but without their endpoint is refused",
     an_append_with_outbox_rows_but_without_their_endpoint_is_refused},
    {"O4 of two appends at one version one is stored, with its outbox rows",
     of_two_appends_at_one_version_one_is_stored_with_its_outbox_rows},
    {"O1 O5 an append with a known dispatch id of another body leaves no event",
     an_append_with_a_known_dispatch_id_of_another_body_leaves_no_event},
    {"O7 an append that was applied is not applied again when repeated",
     an_append_that_was_applied_is_not_applied_again_when_repeated},
    {"O7 an append that was not applied has the same dispatch ids when repeated",
     an_append_that_was_not_applied_has_the_same_dispatch_ids_when_repeated},
    {"O4 an invalid append is refused", an_invalid_append_is_refused},
    {"O18 a read of a stream begins at its snapshot", a_read_of_a_stream_begins_at_its_snapshot},
    {"O4 a projection continues at its checkpoint", a_projection_continues_at_its_checkpoint},
};

const suite_cases cases_op_event_store = SUITE_CASES("operation event store", cases);
