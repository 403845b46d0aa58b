/* event_store_race.c - several threads that append, and one that reads by position.
 *
 * O3 as callers see it: of concurrent appends at one version one succeeds and the others are refused as a whole; a set
 * with two streams is applied to both or none; a reader by position misses no event; and a load has all events up to
 * the version that it returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"

#include <stdatomic.h>
#include <string.h>

#define THREADS 8
#define VERSIONS 40
#define TRANSFERS 30
#define STREAMS 4
#define APPENDS 40
#define READS 200
#define LOADED 200 /* versions of a stream that is loaded at the same time */
#define LOADS_MAX 20000

/* ---- One version -------------------------------------------------------- */

typedef struct contest {
    atomic_int won[VERSIONS + 1];
} contest;

static void append_at_every_version(suite_thread *thread)
{
    suite      *s     = thread->s;
    contest    *c     = thread->context;
    pawl_store *store = suite_open(s);
    for (int64_t version = 1; version <= VERSIONS; version++) {
        pawl_arena_point start = pawl_arena_position(s->arena);
        pawl_text        id    = suite_printf(s, "m-%u", thread->index);
        suite_set        set   = suite_changes(s);
        pawl_refusals    refused;
        ADD(&set, event_append, .stream = TEXT("Account/1"), .version = version, .is_first = true,
            .event = suite_event(s, id));
        ADD(&set, outbox_add,
            .dispatch_id = suite_dispatch_id(1000 * (thread->index + 1) + (unsigned)version),
            .source = TEXT("Account/1"), .version = version, .endpoint = TEXT("suite"),
            .destination = TEXT("billing"), .message = suite_message(s, id), .at = SUITE_NOW);
        EXPECT_OK(s, suite_try(&set, store, &refused));
        EXPECT(s, refused.count <= 1);
        if (refused.count == 0) {
            atomic_fetch_add(&c->won[version], 1);
        } else {
            EXPECT_EQ(s, refused.items[0].reason, PAWL_ECONFLICT);
            EXPECT(s, suite_text_has(refused.items[0].text, TEXT("Account/1")));
        }
        pawl_arena_rewind(s->arena, start);
    }
}

static void of_concurrent_appends_at_one_version_exactly_one_succeeds(suite *s)
{
    pawl_store *a = suite_open(s);
    contest    *c = pawl_arena_take(s->arena, sizeof *c);
    EXPECT(s, c != NULL);
    for (size_t i = 0; i <= VERSIONS; i++)
        atomic_init(&c->won[i], 0);
    suite_threads(s, THREADS, append_at_every_version, c);
    for (size_t i = 1; i <= VERSIONS; i++)
        EXPECT_EQ(s, atomic_load(&c->won[i]), 1);
    pawl_stream      stream = suite_stream(s, a, TEXT("Account/1"), 0);
    pawl_outbox_rows rows   = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, stream.version, VERSIONS);
    EXPECT_EQ(s, stream.count, VERSIONS);
    EXPECT_EQ(s, rows.count, VERSIONS);
    for (size_t i = 0; i < VERSIONS; i++) {
        EXPECT_EQ(s, stream.events[i].version, i + 1);
        size_t of_version = 0;
        for (size_t j = 0; j < rows.count; j++)
            if (rows.items[j].version == (int64_t)i + 1) {
                of_version++;
                EXPECT_TEXT(s, rows.items[j].message.id, stream.events[i].event.message_id);
            }
        EXPECT_EQ(s, of_version, 1);
    }
}

/* ---- Two streams -------------------------------------------------------- */

static pawl_text stream_name(suite *s, unsigned number)
{
    return suite_printf(s, "Account/%u", number);
}

/* Transfers between two accounts, in either order of their names: loads both and tries once. A refused transfer must
 * change neither. */
static void transfer(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned i = 0; i < TRANSFERS; i++) {
        unsigned from = (unsigned)pawl_random_below(&s->random, STREAMS);
        unsigned to   = (from + 1 + (unsigned)pawl_random_below(&s->random, STREAMS - 1)) % STREAMS;
        const unsigned ends[] = {from, to};
        suite_set      set    = suite_changes(s);
        pawl_event     event  = suite_event(s, suite_printf(s, "t-%u-%u", thread->index, i));
        pawl_refusals  refused;
        for (size_t j = 0; j < 2; j++) {
            pawl_text name = stream_name(s, ends[j]);
            ADD(&set, event_append, .stream = name,
                .version = suite_stream(s, store, name, 0).version + 1, .is_first = true,
                .event = event);
        }
        EXPECT_OK(s, suite_try(&set, store, &refused));
        for (size_t j = 0; j < refused.count; j++)
            EXPECT_EQ(s, refused.items[j].reason, PAWL_ECONFLICT);
        if (refused.count == 0)
            atomic_fetch_add((atomic_int *)thread->context, 1);
    }
}

static void appends_to_two_streams_in_one_group_are_applied_both_or_not_at_all(suite *s)
{
    pawl_store *a = suite_open(s);
    atomic_int  done;
    atomic_init(&done, 0);
    suite_threads(s, 4, transfer, &done);
    EXPECT(s, atomic_load(&done) >= TRANSFERS); /* of concurrent transfers one succeeds */
    size_t events = 0;
    for (unsigned i = 0; i < STREAMS; i++) {
        pawl_stream stream = suite_stream(s, a, stream_name(s, i), 0);
        EXPECT_EQ(s, stream.version, stream.count);
        events += stream.count;
        for (size_t j = 0; j < stream.count; j++) {
            pawl_text id = stream.events[j].event.message_id;
            EXPECT_EQ(s, stream.events[j].version, j + 1);
            EXPECT_EQ(s, suite_events(s, a, (pawl_event_query){.message_id = id}).count, 2);
        }
    }
    EXPECT_EQ(s, events, 2 * atomic_load(&done));
}

/* ---- A reader by position ----------------------------------------------- */

typedef struct reader {
    pawl_store *store;
    int64_t     position;
    int64_t     versions[THREADS]; /* seen in the stream of each writer */
} reader;

/* Assigns positions and reads on: positions have no gap, and the events of a stream come in order. */
static size_t number_and_read(suite *s, reader *r)
{
    int64_t count = 0;
    EXPECT_OK(s, pawl_store_event_number(r->store, 5, &count, &s->error));
    pawl_event_rows rows = suite_events(
        s, r->store,
        (pawl_event_query){.is_by_position = true, .after = r->position, .count_max = 9});
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_event_row *row = &rows.items[i];
        EXPECT(s, row->stream.size == 1 && row->stream.data[0] >= '0');
        size_t writer = (size_t)(row->stream.data[0] - '0');
        EXPECT(s, writer < THREADS);
        EXPECT_EQ(s, row->position, ++r->position);
        EXPECT_EQ(s, row->version, ++r->versions[writer]);
    }
    return rows.count + (size_t)count;
}

/* Thread 0 reads, the others write one or two events at a time. */
static void write_or_read(suite_thread *thread)
{
    suite *s = thread->s;
    if (thread->index == 0) {
        for (unsigned i = 0; i < READS; i++)
            number_and_read(s, thread->context);
        return;
    }
    pawl_store *store   = suite_open(s);
    pawl_text   stream  = suite_printf(s, "%u", thread->index);
    int64_t     version = 0;
    while (version < APPENDS) {
        size_t    count = version + 1 < APPENDS ? 1 + (size_t)pawl_random_below(&s->random, 2) : 1;
        suite_set set   = suite_changes(s);
        suite_add_events(&set, stream, version, count);
        COMMIT(&set, store);
        version += (int64_t)count;
    }
}

static void a_reader_by_global_position_misses_no_event_of_concurrent_appends(suite *s)
{
    reader r = {.store = suite_open(s)};
    suite_threads(s, THREADS, write_or_read, &r);
    while (number_and_read(s, &r) > 0)
        continue;
    EXPECT_EQ(s, r.position, (THREADS - 1) * APPENDS);
    for (unsigned i = 1; i < THREADS; i++)
        EXPECT_EQ(s, r.versions[i], APPENDS);
}

/* ---- Loads of a stream -------------------------------------------------- */

/* A load is complete if each event up to its version is in the snapshot, among those read before, or in the result. An
 * append after that version relies on having seen them all. */
static int64_t expect_whole(suite *s, pawl_store *store, int64_t after)
{
    pawl_arena_point start  = pawl_arena_position(s->arena);
    pawl_stream      stream = suite_stream_read(
             s, store,
             (pawl_stream_read){.stream = TEXT("Account/1"), .snapshot_version_max = 1, .after = after});
    int64_t begin = stream.snapshot.version > after ? stream.snapshot.version : after;
    for (size_t i = 0; i < stream.count; i++)
        EXPECT_EQ(s, stream.events[i].version, begin + 1 + (int64_t)i);
    EXPECT_EQ(s, stream.version, begin + (int64_t)stream.count);
    pawl_arena_rewind(s->arena, start);
    return stream.version;
}

/* Thread 0 appends, with a snapshot at every other version. The others load until they see the last version; every
 * other load starts after the version of the one before. */
static void append_or_load(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    int64_t     seen  = 0;
    for (int64_t version = 1; thread->index == 0 && version <= LOADED; version++) {
        pawl_arena_point start = pawl_arena_position(s->arena);
        suite_append(s, store, "Account/1", version - 1, 1);
        if (version % 2 == 0)
            COMMIT_ONE(s, store, stream_snapshot_set, .stream = TEXT("Account/1"),
                       .version = version, .type_version = 1, .state = TEXT("{}"),
                       .dispatches = TEXT("[]"), .at = SUITE_NOW);
        pawl_arena_rewind(s->arena, start);
    }
    for (unsigned i = 0; seen < LOADED && i < LOADS_MAX; i++)
        seen = expect_whole(s, store, i % 2 == 0 ? 0 : seen);
}

static void a_load_during_concurrent_appends_returns_all_events_of_its_version(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_threads(s, 3, append_or_load, NULL);
    EXPECT_EQ(s, expect_whole(s, a, 0), LOADED);
}

/* ---- Checkpoints -------------------------------------------------------- */

static void move_checkpoint(suite_thread *thread)
{
    suite      *s     = thread->s;
    contest    *c     = thread->context;
    pawl_store *store = suite_open(s);
    for (int64_t to = 1; to <= VERSIONS; to++) {
        suite_set     set = suite_changes(s);
        pawl_refusals refused;
        ADD(&set, checkpoint_set, .name = TEXT("totals"), .from = to - 1, .to = to,
            .at = SUITE_NOW);
        EXPECT_OK(s, suite_try(&set, store, &refused));
        if (refused.count == 0)
            atomic_fetch_add(&c->won[to], 1);
        else
            EXPECT_EQ(s, refused.items[0].reason, PAWL_ECONFLICT);
    }
}

static void of_concurrent_moves_of_a_checkpoint_exactly_one_succeeds(suite *s)
{
    pawl_store *a = suite_open(s);
    contest    *c = pawl_arena_take(s->arena, sizeof *c);
    EXPECT(s, c != NULL);
    for (size_t i = 0; i <= VERSIONS; i++)
        atomic_init(&c->won[i], 0);
    suite_threads(s, THREADS, move_checkpoint, c);
    for (size_t i = 1; i <= VERSIONS; i++)
        EXPECT_EQ(s, atomic_load(&c->won[i]), 1);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), VERSIONS);
}

static const suite_case cases[] = {
    {"O3 O4 of concurrent appends at one version exactly one succeeds",
     of_concurrent_appends_at_one_version_exactly_one_succeeds},
    {"O1 O3 appends to two streams in one group are applied both or not at all",
     appends_to_two_streams_in_one_group_are_applied_both_or_not_at_all},
    {"O3 O4 a reader by global position misses no event of concurrent appends",
     a_reader_by_global_position_misses_no_event_of_concurrent_appends},
    {"O3 O4 a load during concurrent appends returns all events of its version",
     a_load_during_concurrent_appends_returns_all_events_of_its_version},
    {"O3 of concurrent moves of a checkpoint exactly one succeeds",
     of_concurrent_moves_of_a_checkpoint_exactly_one_succeeds},
};

const suite_cases cases_event_store_race = SUITE_CASES("event store race", cases);
