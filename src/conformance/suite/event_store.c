/* event_store.c - changes and reads of the event store's cases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"

#include <inttypes.h>
#include <string.h>

#define NUMBERED_AT_ONCE 7 /* small, so that several rounds are needed */

pawl_event suite_event_of(suite *s, pawl_text stream, int64_t version)
{
    return suite_event(s, suite_printf(s, "%.*s@%" PRId64, PAWL_TEXT_ARGS(stream), version));
}

void suite_add_events(suite_set *set, pawl_text stream, int64_t version, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t next = version + 1 + (int64_t)i;
        ADD(set, event_append, .stream = stream, .version = next, .is_first = i == 0,
            .event = suite_event_of(set->s, stream, next));
    }
}

void suite_append(suite *s, pawl_store *store, const char *stream, int64_t version, size_t count)
{
    suite_set set = suite_changes(s);
    suite_add_events(&set, pawl_text_of(stream), version, count);
    COMMIT(&set, store);
}

pawl_event_rows suite_events(suite *s, pawl_store *store, pawl_event_query query)
{
    pawl_event_rows rows = {0};
    READ_ROWS(s, pawl_store_event_list(store, &query, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_stream suite_stream_read(suite *s, pawl_store *store, pawl_stream_read read)
{
    pawl_stream stream = {0};
    READ_STREAM(s, pawl_store_stream_load(store, &read, 1, s->arena, &stream, &s->error), stream);
    return stream;
}

int64_t suite_number(suite *s, pawl_store *store)
{
    int64_t count = 0, all = 0;
    do {
        EXPECT_OK(s, pawl_store_event_number(store, NUMBERED_AT_ONCE, &count, &s->error));
        EXPECT(s, count >= 0 && count <= NUMBERED_AT_ONCE);
        all += count;
    } while (count != 0);
    return all;
}

void suite_expect_event(suite *s, const pawl_event *actual, const pawl_event *expected,
                        const char *file, int line)
{
    suite_expect_text(s, actual->type, expected->type, "the event's type", file, line);
    suite_expect_integer(s, actual->type_version, expected->type_version,
                         "the event's type version", file, line);
    suite_expect_text(s, actual->body, expected->body, "the event's body", file, line);
    suite_expect_text(s, actual->headers, expected->headers, "the event's headers", file, line);
    suite_expect_text(s, actual->message_id, expected->message_id, "the event's message id", file,
                      line);
    suite_expect_text(s, actual->correlation_id, expected->correlation_id,
                      "the event's correlation id", file, line);
    suite_expect_text(s, actual->causation_id, expected->causation_id, "the event's causation id",
                      file, line);
    suite_expect_integer(s, pawl_uuid_compare(actual->dispatch_id.uuid, expected->dispatch_id.uuid),
                         0, "the difference of the event's dispatch id", file, line);
    suite_expect_integer(s, actual->at, expected->at, "the event's time", file, line);
}

void suite_expect_rows(suite *s, const pawl_event_rows *rows, const char *expected,
                       const char *file, int line)
{
    pawl_text found = TEXT("");
    for (size_t i = 0; i < rows->count; i++)
        found = suite_printf(s, "%.*s%s%.*s@%" PRId64, PAWL_TEXT_ARGS(found), i > 0 ? " " : "",
                             PAWL_TEXT_ARGS(rows->items[i].stream), rows->items[i].version);
    suite_expect_text(s, found, pawl_text_of(expected), "the list of events", file, line);
}
