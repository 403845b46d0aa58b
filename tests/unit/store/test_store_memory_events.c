/* test_store_memory_events.c - the memory store's event store where it differs from
 * that of a database: one refusal for a stream, and reads without memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"

#include "pawl/store_driver.h"
#include "support/tests.h"

static pawl_event_append event_of(const char *stream, int64_t version, bool is_first)
{
    return (pawl_event_append){
        .stream   = pawl_text_of(stream),
        .version  = version,
        .is_first = is_first,
        .event    = {.type = PAWL_TEXT("Deposited"), .type_version = 1, .body = PAWL_TEXT("{}")}};
}

/* Streams a/1 at version 2, with a fold at 1, and b/1 at 1; a checkpoint; an
 * outbox row. */
static void make_fixture(pawl_store *store)
{
    pawl_event_append        events[] = {event_of("a/1", 1, true), event_of("a/1", 2, false),
                                         event_of("b/1", 1, true)};
    pawl_stream_snapshot_set snapshot = {.stream       = PAWL_TEXT("a/1"),
                                         .version      = 1,
                                         .type_version = 1,
                                         .state        = PAWL_TEXT("{\"sum\":1}"),
                                         .dispatches   = PAWL_TEXT("[]")};
    pawl_checkpoint_set      point    = {.name = PAWL_TEXT("totals"), .to = 2};
    pawl_outbox_add          out      = {.dispatch_id = {{{7}}},
                                         .source      = PAWL_TEXT("a/1"),
                                         .destination = PAWL_TEXT("billing"),
                                         .message = {.id = PAWL_TEXT("m"), .type = PAWL_TEXT("pay")}};
    pawl_changes             changes  = {ONE_UNIT, .event_append = {events, COUNT(events)},
                                         .stream_snapshot_set = {&snapshot, 1}, .checkpoint_set = {&point, 1},
                                         .outbox_add = {&out, 1}};
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
}

TEST(one_refusal_tells_of_all_events_of_a_stream)
{
    pawl_arena       *arena   = test_arena();
    pawl_store       *store   = test_open("memory:refusals");
    pawl_refusals     refused = {.arena = arena};
    pawl_event_append late[]  = {event_of("a/1", 1, true), event_of("a/1", 2, false),
                                 event_of("a/1", 3, false), event_of("b/1", 5, true),
                                 event_of("b/1", 6, false)};
    pawl_changes      changes = {ONE_UNIT, .event_append = {late, COUNT(late)}};
    make_fixture(store);
    must(pawl_store_commit(store, &changes, &refused, world_error()));
    assert_int_equal(refused.count, 2);
    assert_string_equal(refused.items[0].text.data,
                        "stream a/1: version 1 is taken: another worker appended first");
    assert_string_equal(refused.items[1].text.data, "stream b/1: version 4 is missing");
}

/* ---- The whole store ---------------------------------------------------------- */

TEST(dropping_the_schema_empties_the_event_store)
{
    pawl_arena            *arena    = test_arena();
    pawl_store            *store    = test_open("memory:dropped");
    const pawl_schema_spec spec     = {.table_count = 0};
    const pawl_stream_read read     = {.stream = PAWL_TEXT("a/1"), .snapshot_version_max = 1};
    int64_t                position = -1;
    pawl_stream            stream;
    make_fixture(store);
    assert_int_equal(pawl_store_stream_load(store, &read, 1, arena, &stream, NULL), PAWL_OK);
    assert_int_equal(stream.version, 2);
    assert_int_equal(stream.snapshot.version, 1);
    assert_int_equal(stream.count, 1);
    assert_int_equal(store->ops->schema(store, PAWL_SCHEMA_DROP, &spec, NULL, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_store_stream_load(store, &read, 1, arena, &stream, NULL), PAWL_OK);
    assert_int_equal(stream.version, 0);
    assert_int_equal(stream.snapshot.version, 0);
    must(pawl_store_checkpoint_get(store, PAWL_TEXT("totals"), &position, world_error()));
    assert_int_equal(position, 0);
}

/* ---- Without memory ------------------------------------------------------------ */

static pawl_code read_events(pawl_store *store, pawl_arena *arena, size_t *count, pawl_error *error)
{
    const pawl_event_query query = {.type = PAWL_TEXT("Deposited")};
    pawl_event_rows        rows;
    pawl_code              code = pawl_store_event_list(store, &query, arena, &rows, error);
    *count                      = rows.count;
    return code;
}

static pawl_code read_streams(pawl_store *store, pawl_arena *arena, size_t *count,
                              pawl_error *error)
{
    const pawl_stream_read reads[] = {{.stream = PAWL_TEXT("a/1"), .snapshot_version_max = 1},
                                      {.stream = PAWL_TEXT("b/1")},
                                      {.stream = PAWL_TEXT("none")}};
    pawl_stream            streams[COUNT(reads)] = {{0}};
    pawl_code code = pawl_store_stream_load(store, reads, COUNT(reads), arena, streams, error);
    *count         = code == PAWL_OK ? streams[0].count + streams[1].count + streams[2].count : 0;
    return code;
}

static pawl_code read_outbox(pawl_store *store, pawl_arena *arena, size_t *count, pawl_error *error)
{
    const pawl_outbox_query query = {.source = PAWL_TEXT("a/1")};
    pawl_outbox_rows        rows;
    pawl_code               code = pawl_store_outbox_find(store, &query, arena, &rows, error);
    *count                       = rows.count;
    return code;
}

typedef struct short_read {
    pawl_code (*run)(pawl_store *store, pawl_arena *arena, size_t *count, pawl_error *error);
    size_t      count;
    const char *text;
} short_read;

/* Fails the first allocation of a read, then the second ..., until it runs. */
TEST(a_read_without_memory_says_so)
{
    static const short_read reads[] = {{read_events, 3, "rows that were found: out of memory"},
                                       {read_streams, 2, "load of streams: out of memory"},
                                       {read_outbox, 1, "rows that were found: out of memory"}};
    fault_memory_install();
    for (size_t i = 0; i < COUNT(reads); i++) {
        pawl_store *store = test_open("memory:short");
        pawl_code   code  = PAWL_ENOMEM;
        int         n     = 0;
        make_fixture(store);
        for (; code == PAWL_ENOMEM; n++) {
            pawl_arena *arena = pawl_arena_create(16);
            pawl_error  error = PAWL_ERROR_INIT;
            size_t      count = 99;
            fault_memory_begin(n + 1);
            code = reads[i].run(store, arena, &count, &error);
            fault_memory_pause();
            assert_int_equal(count, code == PAWL_OK ? reads[i].count : 0);
            if (code != PAWL_OK)
                assert_string_equal(error.text, reads[i].text);
            pawl_arena_destroy(arena);
        }
        assert_int_equal(code, PAWL_OK);
        assert_false(fault_memory_was_reached());
        assert_in_range(n, 3, 100);
        test_now(store);
    }
    pawl_allocator_set(NULL);
}
