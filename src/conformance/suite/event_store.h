/* event_store.h - changes and reads of the event store's cases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_SUITE_EVENT_STORE_H
#define PAWL_CONFORMANCE_SUITE_EVENT_STORE_H

#include "conformance/suite/suite.h"

/* The event that suite_append makes for this stream and version; its message id is "STREAM@VERSION". */
pawl_event suite_event_of(suite *s, pawl_text stream, int64_t version);
/* Adds `count` such events after `version` to the set. */
void suite_add_events(suite_set *set, pawl_text stream, int64_t version, size_t count);
/* Commits them; they must be applied. */
void suite_append(suite *s, pawl_store *store, const char *stream, int64_t version, size_t count);

pawl_event_rows suite_events(suite *s, pawl_store *store, pawl_event_query query);
/* Reads the stream after `read.after` and after its snapshot. */
pawl_stream suite_stream_read(suite *s, pawl_store *store, pawl_stream_read read);
/* Numbers all committed events, and returns their number. */
int64_t suite_number(suite *s, pawl_store *store);

void suite_expect_event(suite *s, const pawl_event *actual, const pawl_event *expected,
                        const char *file, int line);
#define EXPECT_EVENT(s, actual, expected) \
    suite_expect_event((s), (actual), (expected), __FILE__, __LINE__)
/* Expects the rows of these streams and versions: "A@1 A@2 B@1". */
void suite_expect_rows(suite *s, const pawl_event_rows *rows, const char *expected,
                       const char *file, int line);
#define EXPECT_ROWS(s, rows, expected) \
    suite_expect_rows((s), (rows), (expected), __FILE__, __LINE__)

#endif
