/* event_store_random.c - random change sets for the event store, compared with a model after each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"

#define ROUNDS 60
#define GROUPS_MAX 4
#define STREAMS 6
#define EVENTS_MAX 3

/* Changes of a group: events on one stream, maybe with a snapshot, a dispatch and the only checkpoint of the set. */
typedef struct random_group {
    unsigned stream;
    int64_t  version; /* version after which it appends */
    size_t   count;
    int64_t  snapshot;   /* version of the snapshot; 0: none */
    unsigned dispatch;   /* 0: none */
    bool     is_other;   /* the dispatch has another body than before */
    int64_t  checkpoint; /* expected position; -1: no checkpoint */
} random_group;

/* Rows that must be in the store. */
typedef struct model {
    int64_t  versions[STREAMS];
    int64_t  folds[STREAMS];
    int64_t  checkpoint;
    unsigned dispatches; /* dispatches 1 to this number are committed, each once */
    size_t   events;
} model;

static unsigned below(suite *s, unsigned limit)
{
    return (unsigned)pawl_random_below(&s->random, limit);
}

static pawl_text stream_name(suite *s, unsigned stream)
{
    return suite_printf(s, "Random/%u", stream);
}

/* Each group of a set has another stream. */
static random_group make_random_group(suite *s, const model *m, unsigned stream, unsigned group,
                                      unsigned *fresh)
{
    random_group it = {.stream = stream, .count = 1 + below(s, EVENTS_MAX), .checkpoint = -1};
    it.version      = m->versions[stream];
    if (below(s, 4) == 0)
        it.version += below(s, 2) == 0 || it.version == 0 ? 1 : -1;
    if (below(s, 3) == 0)
        it.snapshot = 1 + below(s, (unsigned)it.version + (unsigned)it.count);
    if (below(s, 2) == 0) {
        bool is_known = m->dispatches > 0 && below(s, 3) == 0;
        it.dispatch   = is_known ? 1 + below(s, m->dispatches) : ++*fresh;
        it.is_other   = is_known && below(s, 2) == 0;
    }
    if (group == 0 && below(s, 2) == 0)
        it.checkpoint = m->checkpoint + (below(s, 4) == 0 ? 1 : 0);
    return it;
}

static void add_random_group(suite *s, suite_set *set, const random_group *it, unsigned group)
{
    pawl_text name = stream_name(s, it->stream);
    suite_unit(set, group, group);
    suite_add_events(set, name, it->version, it->count);
    if (it->snapshot != 0)
        ADD(set, stream_snapshot_set, .stream = name, .version = it->snapshot, .type_version = 1,
            .state = suite_printf(s, "{\"at\":%d}", (int)it->snapshot), .dispatches = TEXT("[]"),
            .at = SUITE_NOW);
    if (it->dispatch != 0)
        ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(it->dispatch), .source = name,
            .version = it->version, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
            .message = suite_message(
                s, suite_printf(s, "%s-%u", it->is_other ? "other" : "m", it->dispatch)),
            .at = SUITE_NOW);
    if (it->checkpoint >= 0)
        ADD(set, checkpoint_set, .name = TEXT("totals"), .from = it->checkpoint,
            .to = it->checkpoint + 3, .at = SUITE_NOW);
}

static bool is_possible(const model *m, const random_group *it)
{
    return it->version == m->versions[it->stream] && !it->is_other &&
           (it->checkpoint < 0 || it->checkpoint == m->checkpoint);
}

static void apply(model *m, const random_group *it)
{
    m->versions[it->stream] += (int64_t)it->count;
    m->events += it->count;
    if (it->snapshot > m->folds[it->stream])
        m->folds[it->stream] = it->snapshot;
    if (it->checkpoint >= 0)
        m->checkpoint = it->checkpoint + 3;
}

static void compare_stream(suite *s, pawl_store *store, const model *m, unsigned i)
{
    pawl_text       name  = stream_name(s, i);
    pawl_stream     whole = suite_stream(s, store, name, 0);
    pawl_stream     tail  = suite_stream(s, store, name, 1);
    pawl_event_rows rows  = suite_events(s, store, (pawl_event_query){.stream = name});
    EXPECT_EQ(s, whole.version, m->versions[i]);
    EXPECT_EQ(s, whole.count, m->versions[i]);
    EXPECT_EQ(s, rows.count, m->versions[i]);
    for (size_t j = 0; j < whole.count; j++) {
        EXPECT_EQ(s, whole.events[j].version, j + 1);
        EXPECT_EQ(s, rows.items[j].version, j + 1);
    }
    EXPECT_EQ(s, tail.snapshot.version, m->folds[i]);
    EXPECT_EQ(s, tail.version, m->versions[i]);
    EXPECT_EQ(s, tail.count, m->versions[i] - m->folds[i]);
}

static void compare(suite *s, pawl_store *store, const model *m)
{
    for (unsigned i = 0; i < STREAMS; i++)
        compare_stream(s, store, m, i);
    EXPECT_EQ(s, suite_checkpoint(s, store, TEXT("totals")), m->checkpoint);
    EXPECT_EQ(s, suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING).count, m->dispatches);
    if (below(s, 3) == 0)
        suite_number(s, store);
}

/* A set has one new dispatch id at most, so that the committed ones are always 1 to `dispatches`. */
static void run_round(suite *s, pawl_store *store, model *m, unsigned round)
{
    random_group groups[GROUPS_MAX];
    unsigned     count = 1 + below(s, GROUPS_MAX), fresh = m->dispatches, first = below(s, STREAMS);
    bool         is_refused[GROUPS_MAX] = {false};
    pawl_refusals refused;
    suite_set     set = suite_changes(s);
    for (unsigned i = 0; i < count; i++) {
        groups[i] = make_random_group(s, m, (first + i) % STREAMS, i, &fresh);
        if (fresh > m->dispatches + 1) {
            groups[i].dispatch = 0;
            fresh--;
        }
        add_random_group(s, &set, &groups[i], i);
    }
    EXPECT_OK(s, suite_try(&set, store, &refused));
    for (size_t i = 0; i < refused.count; i++) {
        EXPECT(s, refused.items[i].group < count);
        is_refused[refused.items[i].group] = true;
    }
    model before = *m;
    for (unsigned i = 0; i < count; i++) {
        bool is_applied = is_possible(&before, &groups[i]);
        if (is_refused[i] == is_applied)
            suite_fail(s, __FILE__, __LINE__, "round %u, group %u was %s, but %s apply", round, i,
                       is_refused[i] ? "refused" : "applied", is_applied ? "can" : "cannot");
        if (is_applied)
            apply(m, &groups[i]);
        if (is_applied && groups[i].dispatch > before.dispatches)
            m->dispatches++;
    }
}

static void random_appends_have_the_same_result_as_in_a_model_in_memory(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    model       m = {.events = 0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        run_round(s, round % 2 == 0 ? a : b, &m, round);
        compare(s, round % 2 == 0 ? b : a, &m);
    }
    suite_number(s, a);
    pawl_event_rows rows = suite_events(s, b, (pawl_event_query){.is_by_position = true});
    EXPECT(s, m.events > ROUNDS);
    EXPECT_EQ(s, rows.count, m.events);
    for (size_t i = 0; i < rows.count; i++)
        EXPECT_EQ(s, rows.items[i].position, i + 1);
}

static const suite_case cases[] = {
    {"O1 O4 O6 random appends have the same result as in a model in memory",
     random_appends_have_the_same_result_as_in_a_model_in_memory},
};

const suite_cases cases_event_store_random = SUITE_CASES("event store random", cases);
