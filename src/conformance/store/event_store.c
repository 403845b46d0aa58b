/* event_store.c - changes of the event store: appending at a version, snapshots ("folds"), checkpoints, and loading
 * streams.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"

#define ACCOUNT TEXT("Account/1")

/* ---- Append ------------------------------------------------------------- */

static void an_event_is_read_as_it_was_appended(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    pawl_event  sent = {.type           = TEXT("money.Deposited"),
                        .type_version   = 3,
                        .body           = suite_bytes(s, 1000),
                        .headers        = TEXT("{\"who\":\"Zo\xc3\xab\",\"empty\":\"\"}"),
                        .message_id     = TEXT("m-1"),
                        .correlation_id = TEXT("conversation-7"),
                        .causation_id   = TEXT("cause-7"),
                        .dispatch_id    = suite_dispatch_id(4711),
                        .at             = SUITE_NOW - PAWL_DAYS(400) + 1};
    pawl_event  bare = {.type = TEXT("pawl.handled"), .type_version = 1, .at = PAWL_TIME_MIN};
    suite_set   set  = suite_changes(s);
    ADD(&set, event_append, .stream = ACCOUNT, .version = 1, .is_first = true, .event = sent);
    ADD(&set, event_append, .stream = ACCOUNT, .version = 2, .event = bare);
    COMMIT(&set, a);
    pawl_stream stream = suite_stream(s, b, ACCOUNT, 0);
    EXPECT_EQ(s, stream.version, 2);
    EXPECT_EQ(s, stream.count, 2);
    EXPECT_EQ(s, stream.snapshot.version, 0);
    EXPECT_TEXT(s, stream.events[0].stream, ACCOUNT);
    EXPECT_EQ(s, stream.events[0].version, 1);
    EXPECT_EVENT(s, &stream.events[0].event, &sent);
    EXPECT_EQ(s, stream.events[1].version, 2);
    EXPECT_EVENT(s, &stream.events[1].event, &bare);
    EXPECT(s, stream.events[0].seq > 0 && stream.events[1].seq > stream.events[0].seq);
    pawl_event_rows rows = suite_events(s, b, (pawl_event_query){.stream = ACCOUNT});
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_EVENT(s, &rows.items[0].event, &sent);
    EXPECT_EQ(s, rows.items[0].seq, stream.events[0].seq);
}

/* Appends one event to "Account/1" at that version, which is refused; returns the text. */
static pawl_text refused_at(suite *s, pawl_store *store, int64_t version)
{
    suite_set set = suite_changes(s);
    suite_add_events(&set, ACCOUNT, version - 1, 1);
    ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = ACCOUNT,
        .version = version, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
        .message = suite_message(s, TEXT("m-1")), .at = SUITE_NOW);
    pawl_refusals refused = REFUSED(&set, store);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].kind, pawl_change_event_append);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_ECONFLICT);
    return refused.items[0].text;
}

static void an_append_at_any_version_but_the_next_is_refused_naming_the_stream(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, suite_text_has(refused_at(s, a, 2), ACCOUNT)); /* the stream does not exist */
    suite_append(s, a, "Account/1", 0, 1);
    suite_append(s, a, "Account/1", 1, 3);
    pawl_event first = suite_stream(s, a, ACCOUNT, 0).events[0].event;
    for (int64_t version = 1; version <= 7; version++) {
        if (version == 5)
            continue; /* the next version, which is allowed */
        pawl_text text = refused_at(s, version % 2 == 0 ? a : b, version);
        EXPECT(s, suite_text_has(text, ACCOUNT));
        EXPECT(s, suite_text_has(text, version < 5 ? suite_printf(s, "%d", (int)version)
                                                   : suite_printf(s, "%d", (int)version - 1)));
    }
    EXPECT_EQ(s, suite_stream(s, b, ACCOUNT, 0).version, 4);
    EXPECT_EVENT(s, &suite_stream(s, b, ACCOUNT, 0).events[0].event, &first);
    EXPECT_EQ(s, suite_outbox_rows(s, b, PAWL_OUTBOX_PENDING).count, 0);
    suite_append(s, b, "Account/1", 4, 1);
    EXPECT_EQ(s, suite_stream(s, a, ACCOUNT, 0).version, 5);
}

/* Events of the set before and after the one whose version exists are refused, too. */
static void an_append_that_is_refused_leaves_no_event_of_its_group(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_append(s, a, "Account/1", 0, 2);
    suite_set set = suite_changes(s);
    suite_add_events(&set, TEXT("Account/2"), 0, 3);
    suite_add_events(&set, ACCOUNT, 1, 3);
    suite_add_events(&set, TEXT("Account/3"), 0, 2);
    suite_unit(&set, 1, 1);
    suite_add_events(&set, TEXT("Account/4"), 0, 2);
    pawl_refusals refused = REFUSED(&set, a);
    for (size_t i = 0; i < refused.count; i++)
        EXPECT_EQ(s, refused.items[i].group, 0);
    pawl_event_rows rows = suite_events(s, a, (pawl_event_query){0});
    EXPECT_ROWS(s, &rows, "Account/1@1 Account/1@2 Account/4@1 Account/4@2");
}

/* Each append is checked against the stream before the set, so groups on different streams do not depend on each other,
 * and all refusals are reported. */
static void an_append_is_checked_against_its_own_stream_only(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_append(s, a, "Account/2", 0, 1);
    suite_append(s, a, "Account/10", 0, 1);
    suite_set                set       = suite_changes(s);
    static const char *const streams[] = {"Account/1", "Account/10", "Account/2", "account/1"};
    static const int64_t     before[]  = {0, 1, 0, 1};
    for (unsigned i = 0; i < 4; i++) {
        suite_unit(&set, i, i);
        suite_add_events(&set, pawl_text_of(streams[i]), before[i], 2);
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT(s, suite_refusal(&refused, 0) == NULL);
    EXPECT(s, suite_refusal(&refused, 1) == NULL);
    EXPECT(s, suite_refusal(&refused, 2) != NULL); /* version 1 exists */
    EXPECT(s, suite_refusal(&refused, 3) != NULL); /* version 1 is missing */
    EXPECT(s, suite_text_has(suite_refusal(&refused, 2)->text, TEXT("Account/2")));
    EXPECT(s, suite_text_has(suite_refusal(&refused, 3)->text, TEXT("account/1")));
    EXPECT_EQ(s, suite_stream(s, a, TEXT("Account/1"), 0).version, 2);
    EXPECT_EQ(s, suite_stream(s, a, TEXT("Account/10"), 0).version, 3);
    EXPECT_EQ(s, suite_stream(s, a, TEXT("Account/2"), 0).version, 1);
    EXPECT_EQ(s, suite_stream(s, a, TEXT("account/1"), 0).version, 0);
}

static void an_outbox_row_that_is_refused_leaves_no_event_of_its_group(suite *s)
{
    pawl_store  *a     = suite_open(s);
    pawl_message other = suite_message(s, TEXT("m-2"));
    COMMIT_ONE(s, a, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = ACCOUNT,
               .version = 1, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
               .message = suite_message(s, TEXT("m-1")), .at = SUITE_NOW);
    suite_set set = suite_changes(s);
    suite_add_events(&set, ACCOUNT, 0, 2);
    ADD(&set, stream_snapshot_set, .stream = ACCOUNT, .version = 2, .type_version = 1,
        .state = TEXT("{}"));
    ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = ACCOUNT, .version = 2,
        .endpoint = TEXT("suite"), .destination = TEXT("billing"), .message = other,
        .at = SUITE_NOW);
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EMISMATCH);
    pawl_stream stream = suite_stream(s, a, ACCOUNT, 1);
    EXPECT_EQ(s, stream.version, 0);
    EXPECT_EQ(s, stream.count, 0);
    EXPECT_EQ(s, stream.snapshot.version, 0);
    suite_append(s, a, "Account/1", 0, 1); /* nothing blocks it */
}

/* ---- Folds -------------------------------------------------------------- */

static void save_fold(suite *s, pawl_store *store, int64_t version, int32_t type_version,
                      const char *state)
{
    COMMIT_ONE(s, store, stream_snapshot_set, .stream = ACCOUNT, .version = version,
               .type_version = type_version, .state = pawl_text_of(state),
               .dispatches = suite_printf(s, "[\"%s\"]", state), .at = SUITE_NOW + version);
}

static void expect_fold(suite *s, pawl_store *store, int64_t version, const char *state)
{
    pawl_stream_snapshot_row snapshot = suite_stream(s, store, ACCOUNT, INT32_MAX).snapshot;
    EXPECT_EQ(s, snapshot.version, version);
    EXPECT_TEXT(s, snapshot.state, pawl_text_of(state));
    EXPECT_TEXT(s, snapshot.dispatches, suite_printf(s, "[\"%s\"]", state));
    EXPECT_EQ(s, snapshot.at, SUITE_NOW + version);
}

static void a_stream_snapshot_is_not_replaced_by_an_older_one(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_append(s, a, "Account/1", 0, 9);
    save_fold(s, a, 4, 1, "four");
    expect_fold(s, b, 4, "four");
    save_fold(s, b, 3, 1, "three");
    expect_fold(s, a, 4, "four");
    save_fold(s, b, 4, 2, "four again");
    expect_fold(s, a, 4, "four");
    save_fold(s, b, 6, 1, "six");
    expect_fold(s, a, 6, "six");
    COMMIT_ONE(s, a, stream_snapshot_set, .stream = TEXT("Account/2"), .version = 1,
               .type_version = 1, .state = TEXT("another"), .at = SUITE_NOW);
    expect_fold(s, a, 6, "six");
    EXPECT_EQ(s, suite_stream(s, a, ACCOUNT, 1).version, 9);
}

static void a_stream_snapshot_is_saved_in_the_commit_of_its_events(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    suite_add_events(&set, ACCOUNT, 0, 2);
    ADD(&set, stream_snapshot_set, .stream = ACCOUNT, .version = 2, .type_version = 7,
        .state = TEXT("{\"n\":2}"), .dispatches = TEXT("[]"), .at = SUITE_NOW);
    COMMIT(&set, a);
    pawl_stream stream = suite_stream(s, a, ACCOUNT, 7);
    EXPECT_EQ(s, stream.version, 2);
    EXPECT_EQ(s, stream.count, 0);
    EXPECT_EQ(s, stream.snapshot.version, 2);
    EXPECT_EQ(s, stream.snapshot.type_version, 7);
    EXPECT_TEXT(s, suite_compact(s, stream.snapshot.state), TEXT("{\"n\":2}"));
    EXPECT_EQ(s, suite_stream(s, a, ACCOUNT, 0).count, 2);
}

/* ---- What a load shows -------------------------------------------------- */

static void expect_load(suite *s, pawl_store *store, int64_t after, int32_t snapshot_version_max,
                        int64_t snapshot, int64_t first, size_t count)
{
    pawl_stream stream = suite_stream_read(
        s, store,
        (pawl_stream_read){
            .stream = ACCOUNT, .after = after, .snapshot_version_max = snapshot_version_max});
    EXPECT_EQ(s, stream.version, 6);
    EXPECT_EQ(s, stream.snapshot.version, snapshot);
    EXPECT_EQ(s, stream.count, count);
    for (size_t i = 0; i < count; i++) {
        pawl_event expected = suite_event_of(s, ACCOUNT, first + (int64_t)i);
        EXPECT_EQ(s, stream.events[i].version, first + (int64_t)i);
        EXPECT_EVENT(s, &stream.events[i].event, &expected);
    }
}

/* Six events and a snapshot at the fourth, with state version 2. */
static void a_load_returns_only_events_after_the_snapshot_or_the_known_version(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_append(s, a, "Account/1", 0, 6);
    save_fold(s, a, 4, 2, "four");
    expect_load(s, b, 0, 0, 0, 1, 6); /* no snapshot is wanted */
    expect_load(s, b, 0, 1, 0, 1, 6); /* the snapshot's state is too new */
    expect_load(s, b, 0, 2, 4, 5, 2);
    expect_load(s, b, 3, 9, 4, 5, 2);
    expect_load(s, b, 3, 0, 0, 4, 3);
    expect_load(s, b, 4, 9, 0, 5, 2); /* the snapshot is as old as the known version */
    expect_load(s, b, 5, 9, 0, 6, 1);
    expect_load(s, b, 6, 9, 0, 0, 0); /* nothing new, but the version is returned */
}

static void several_streams_can_be_loaded_in_one_call(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_append(s, a, "Account/1", 0, 3);
    suite_append(s, a, "Account/2", 0, 1);
    save_fold(s, a, 2, 1, "two");
    const pawl_stream_read reads[] = {
        {.stream = TEXT("Account/2")},
        {.stream = TEXT("Account/3"), .snapshot_version_max = 1},
        {.stream = ACCOUNT, .snapshot_version_max = 1},
        {.stream = ACCOUNT, .after = 1},
        {.stream = TEXT("account/1")},
    };
    static const int64_t versions[] = {1, 0, 3, 3, 0}, firsts[] = {1, 0, 3, 2, 0};
    static const size_t  counts[] = {1, 0, 1, 2, 0};
    pawl_stream          streams[5];
    EXPECT_OK(s, pawl_store_stream_load(b, reads, 5, s->arena, streams, &s->error));
    for (size_t i = 0; i < 5; i++) {
        EXPECT_EQ(s, streams[i].version, versions[i]);
        EXPECT_EQ(s, streams[i].count, counts[i]);
        EXPECT_EQ(s, streams[i].snapshot.version, i == 2 ? 2 : 0);
        for (size_t j = 0; j < counts[i]; j++) {
            EXPECT_EQ(s, streams[i].events[j].version, firsts[i] + (int64_t)j);
            EXPECT_TEXT(s, streams[i].events[j].stream, reads[i].stream);
        }
    }
    EXPECT_OK(s, pawl_store_stream_load(b, reads, 0, s->arena, streams, &s->error));
}

/* Refused as in an append. An empty name does not mean all streams. */
static void a_load_of_an_empty_or_invalid_stream_name_is_refused(suite *s)
{
    pawl_store     *a    = suite_open(s);
    const pawl_text over = suite_repeat(s, TEXT("n"), PAWL_STREAM_SIZE_MAX + 1);
    const struct {
        pawl_text name;
        pawl_code code;
    } bad[] = {{TEXT(""), PAWL_EINVAL},
               {TEXT("Account/1\0"), PAWL_EINVAL},
               {TEXT("Account/\xff"), PAWL_EINVAL},
               {{.data = NULL, .size = 1}, PAWL_EINVAL},
               {over, PAWL_ELIMIT}};
    suite_append(s, a, "Account/1", 0, 2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const pawl_stream_read reads[] = {{.stream = ACCOUNT}, {.stream = bad[i].name}};
        pawl_stream            streams[2];
        EXPECT_CODE(s, pawl_store_stream_load(a, reads, 2, s->arena, streams, &s->error),
                    bad[i].code);
        EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("stream")));
        EXPECT_EQ(s, streams[0].version, 0);
        EXPECT_EQ(s, streams[1].version, 0);
    }
    const pawl_stream_read longest = {.stream = {.data = over.data, .size = PAWL_STREAM_SIZE_MAX}};
    pawl_stream            stream;
    EXPECT_OK(s, pawl_store_stream_load(a, &longest, 1, s->arena, &stream, &s->error));
    EXPECT_EQ(s, stream.version, 0);
}

/* ---- Checkpoints -------------------------------------------------------- */

static void a_checkpoint_is_moved_only_from_its_present_position(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), 0);
    REFUSE_ONE(s, a, PAWL_ECONFLICT, checkpoint_set, .name = TEXT("totals"), .from = 1, .to = 2,
               .at = SUITE_NOW);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), 0);
    COMMIT_ONE(s, a, checkpoint_set, .name = TEXT("totals"), .from = 0, .to = 5, .at = SUITE_NOW);
    COMMIT_ONE(s, a, checkpoint_set, .name = TEXT("Totals"), .from = 0, .to = 77, .at = SUITE_NOW);
    EXPECT_EQ(s, suite_checkpoint(s, b, TEXT("totals")), 5);
    for (int64_t from = 0; from <= 7; from++)
        if (from != 5)
            REFUSE_ONE(s, b, PAWL_ECONFLICT, checkpoint_set, .name = TEXT("totals"), .from = from,
                       .to = 9, .at = SUITE_NOW);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), 5);
    COMMIT_ONE(s, b, checkpoint_set, .name = TEXT("totals"), .from = 5, .to = INT64_C(5000000000),
               .at = SUITE_NOW);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), INT64_C(5000000000));
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("Totals")), 77);
}

static void a_checkpoint_can_be_moved_back_to_an_earlier_position(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    COMMIT_ONE(s, a, checkpoint_set, .name = TEXT("totals"), .from = 0, .to = 9, .at = SUITE_NOW);
    REFUSE_ONE(s, b, PAWL_ECONFLICT, checkpoint_set, .name = TEXT("totals"), .from = 8, .to = 5,
               .at = SUITE_NOW, .is_back = true);
    COMMIT_ONE(s, b, checkpoint_set, .name = TEXT("totals"), .from = 9, .to = 5, .at = SUITE_NOW,
               .is_back = true);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), 5);
    COMMIT_ONE(s, a, checkpoint_set, .name = TEXT("totals"), .from = 5, .to = PAWL_CHECKPOINT_START,
               .at = SUITE_NOW, .is_back = true);
    EXPECT_EQ(s, suite_checkpoint(s, b, TEXT("totals")), PAWL_CHECKPOINT_START);
    REFUSE_ONE(s, b, PAWL_ECONFLICT, checkpoint_set, .name = TEXT("totals"), .from = 0, .to = 5,
               .at = SUITE_NOW);
    COMMIT_ONE(s, b, checkpoint_set, .name = TEXT("totals"), .from = PAWL_CHECKPOINT_START, .to = 1,
               .at = SUITE_NOW);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), 1);
}

static void a_checkpoint_that_is_refused_leaves_no_change_of_its_group(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    ADD(&set, checkpoint_set, .name = TEXT("totals"), .from = 3, .to = 5, .at = SUITE_NOW);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"), .at = SUITE_NOW);
    suite_unit(&set, 1, 1);
    ADD(&set, checkpoint_set, .name = TEXT("others"), .from = 0, .to = 5, .at = SUITE_NOW);
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT(s, suite_text_has(refused.items[0].text, TEXT("totals")));
    EXPECT(s, !suite_knows(s, a, TEXT("suite"), TEXT("m-1")));
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), 0);
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("others")), 5);
}

/* ---- What stays --------------------------------------------------------- */

static void the_retention_sweep_deletes_no_events_stream_snapshots_or_checkpoints(suite *s)
{
    pawl_store *a     = suite_open(s);
    int64_t     count = 0;
    bool        more  = true;
    suite_append(s, a, "Account/1", 0, 4);
    save_fold(s, a, 2, 1, "two");
    COMMIT_ONE(s, a, checkpoint_set, .name = TEXT("totals"), .from = 0, .to = 3, .at = 0);
    pawl_sweep what = {.inbox_before   = PAWL_TIME_MAX,
                       .outbox_before  = PAWL_TIME_MAX,
                       .workers_before = SUITE_NOW,
                       .count_max      = 100};
    EXPECT_OK(s, pawl_store_sweep(a, &what, &count, &more, &s->error));
    EXPECT_EQ(s, suite_stream(s, a, ACCOUNT, 0).count, 4);
    expect_fold(s, a, 2, "two");
    EXPECT_EQ(s, suite_checkpoint(s, a, TEXT("totals")), 3);
}

static const suite_case cases[] = {
    {"O1 O4 O18 an event is read as it was appended", an_event_is_read_as_it_was_appended},
    {"O4 an append at any version but the next is refused, naming the stream",
     an_append_at_any_version_but_the_next_is_refused_naming_the_stream},
    {"O1 O4 an append that is refused leaves no event of its group",
     an_append_that_is_refused_leaves_no_event_of_its_group},
    {"O4 E35 an append is checked against its own stream only",
     an_append_is_checked_against_its_own_stream_only},
    {"O1 O5 an outbox row that is refused leaves no event of its group",
     an_outbox_row_that_is_refused_leaves_no_event_of_its_group},
    {"O18 a stream snapshot is not replaced by an older one",
     a_stream_snapshot_is_not_replaced_by_an_older_one},
    {"O18 a stream snapshot is saved in the commit of its events",
     a_stream_snapshot_is_saved_in_the_commit_of_its_events},
    {"O4 O18 a load returns only events after the snapshot or the known version",
     a_load_returns_only_events_after_the_snapshot_or_the_known_version},
    {"O4 several streams can be loaded in one call", several_streams_can_be_loaded_in_one_call},
    {"O4 a load of an empty or invalid stream name is refused",
     a_load_of_an_empty_or_invalid_stream_name_is_refused},
    {"O3 a checkpoint is moved only from its present position",
     a_checkpoint_is_moved_only_from_its_present_position},
    {"O3 a checkpoint can be moved back to an earlier position",
     a_checkpoint_can_be_moved_back_to_an_earlier_position},
    {"O1 a checkpoint that is refused leaves no change of its group",
     a_checkpoint_that_is_refused_leaves_no_change_of_its_group},
    {"O19 the retention sweep deletes no events, stream snapshots or checkpoints",
     the_retention_sweep_deletes_no_events_stream_snapshots_or_checkpoints},
};

const suite_cases cases_event_store = SUITE_CASES("event store", cases);
