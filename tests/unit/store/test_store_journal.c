/* test_store_journal.c - the journal around the stores: checks of its changes before a driver sees
 * them, and refusals of the single calls. The calls on a store are proved by journal.c, message.c
 * and enable.c in src/conformance/operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/lean.h"

#include "pawl/operations.h"

#define NOW INT64_C(1767225600000000)

/* ---- What is checked ---------------------------------------------------- */

/* Two streams of events and one of each other change. */
typedef struct good_set {
    pawl_changes             changes;
    pawl_event_append        events[3];
    pawl_stream_snapshot_set snapshot;
    pawl_checkpoint_set      checkpoint;
    pawl_outbox_reset        reset;
} good_set;

static void make_good(good_set *set)
{
    const pawl_event event = {
        .type = PAWL_TEXT("Deposited"), .type_version = 1, .body = PAWL_TEXT("{}"), .at = NOW};
    *set = (good_set){
        .changes = {.group_count = 2, .unit_count = 1},
        .events =
            {{.stream = PAWL_TEXT("Account/1"), .version = 4, .is_first = true, .event = event},
             {.stream = PAWL_TEXT("Account/1"), .version = 5, .event = event},
             {.stream = PAWL_TEXT("Account/2"), .version = 1, .is_first = true, .event = event}},
        .snapshot   = {.stream       = PAWL_TEXT("Account/1"),
                       .version      = 5,
                       .type_version = 1,
                       .state        = PAWL_TEXT("{}"),
                       .dispatches   = PAWL_TEXT("[]")},
        .checkpoint = {.name = PAWL_TEXT("totals"), .from = 0, .to = 1},
        .reset      = {.id = 1, .note = PAWL_TEXT("why")},
    };
    set->changes.event_append.items        = set->events;
    set->changes.event_append.count        = 3;
    set->changes.stream_snapshot_set.items = &set->snapshot;
    set->changes.checkpoint_set.items      = &set->checkpoint;
    set->changes.outbox_reset.items        = &set->reset;
    set->changes.stream_snapshot_set.count = set->changes.checkpoint_set.count = 1;
    set->changes.outbox_reset.count                                            = 1;
}

static void expect(good_set *set, pawl_code code, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_changes_check(&set->changes, &error), code);
    assert_string_equal(error.text, text);
    make_good(set);
    assert_int_equal(pawl_changes_check(&set->changes, NULL), PAWL_OK);
}

static char      long_bytes[PAWL_BODY_SIZE_MAX + 1];
static pawl_text of_size(size_t size)
{
    memset(long_bytes, 'x', sizeof long_bytes);
    return (pawl_text){.data = long_bytes, .size = size};
}

static void names_and_sizes_are_limited(void)
{
    good_set set;
    make_good(&set);
    set.events[2].stream = of_size(PAWL_STREAM_SIZE_MAX);
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_OK);
    set.events[2].stream.size++;
    expect(&set, PAWL_ELIMIT, "event_append 2: stream: it has 201 bytes, limit 200");
    set.events[2].stream.size = 0;
    expect(&set, PAWL_EINVAL, "event_append 2: stream: it is empty");
    set.events[0].stream = set.events[1].stream = PAWL_TEXT("A\0B");
    expect(&set, PAWL_EINVAL, "event_append 0: stream: byte 1 is NUL");
    set.events[1].event.type = of_size(201);
    expect(&set, PAWL_ELIMIT, "event_append 1: event.type: it has 201 bytes, limit 200");
    set.events[1].event.type.size = 0;
    expect(&set, PAWL_EINVAL, "event_append 1: event.type: it is empty");
    set.events[1].event.body = of_size(PAWL_BODY_SIZE_MAX + 1);
    expect(&set, PAWL_ELIMIT, "event_append 1: event.body: it has 16777217 bytes, limit 16777216");
    set.events[1].event.headers = of_size(PAWL_HEADERS_SIZE_MAX + 1);
    expect(&set, PAWL_ELIMIT, "event_append 1: event.headers: it has 65537 bytes, limit 65536");
    set.events[1].event.causation_id = PAWL_TEXT("\xff");
    expect(&set, PAWL_EINVAL, "event_append 1: event.causation_id: byte 0 is no UTF-8");
    set.events[1].event.at = PAWL_TIME_MAX + 1;
    expect(&set, PAWL_EINVAL,
           "event_append 1: event.at: time 253402300800000000 is outside the years 1 to 9999");
    set.snapshot.stream.size = 0;
    expect(&set, PAWL_EINVAL, "stream_snapshot_set 0: stream: it is empty");
    set.snapshot.state = of_size(PAWL_STATE_SIZE_MAX + 1);
    expect(&set, PAWL_ELIMIT,
           "stream_snapshot_set 0: state: it has 16777217 bytes, limit 16777216");
    set.snapshot.dispatches = PAWL_TEXT("[\0]");
    expect(&set, PAWL_EINVAL, "stream_snapshot_set 0: dispatches: byte 1 is NUL");
    set.checkpoint.name = of_size(201);
    expect(&set, PAWL_ELIMIT, "checkpoint_set 0: name: it has 201 bytes, limit 200");
    set.reset.note = of_size(501);
    expect(&set, PAWL_ELIMIT, "outbox_reset 0: note: it has 501 bytes, limit 500");
}

static void numbers_are_in_range(void)
{
    good_set set;
    make_good(&set);
    set.events[2].version = 0;
    expect(&set, PAWL_EINVAL, "event_append 2: version: it is 0, the first is 1");
    set.events[2].event.type_version = 0;
    expect(&set, PAWL_EINVAL, "event_append 2: event.type_version: it is 0, the first is 1");
    set.snapshot.version = 0;
    expect(&set, PAWL_EINVAL,
           "stream_snapshot_set 0: version: it is 0 of a state of version 1, both begin at 1");
    set.snapshot.type_version = 0;
    expect(&set, PAWL_EINVAL,
           "stream_snapshot_set 0: version: it is 5 of a state of version 0, both begin at 1");
    set.checkpoint.to = 0;
    expect(&set, PAWL_EINVAL, "checkpoint_set 0: to: it is 0, which is not behind 0");
    set.checkpoint.from = -2;
    expect(&set, PAWL_EINVAL, "checkpoint_set 0: from: it is -2, which is no global position");
    set.reset.action = (pawl_outbox_action)2;
    expect(&set, PAWL_EINVAL, "outbox_reset 0: action: 2 is unknown");
}

static void a_streams_events_stand_together(void)
{
    static const char *const apart =
        "event_append 2: is_first: events of one stream stand together, the first one marked";
    good_set set;
    make_good(&set);
    set.events[2].is_first = false;
    expect(&set, PAWL_EINVAL, apart);
    set.events[2].stream  = PAWL_TEXT("Account/1");
    set.events[2].version = 6;
    expect(&set, PAWL_EINVAL, apart); /* marked twice */
    set.events[1].stream   = PAWL_TEXT("Account/3");
    set.events[1].is_first = true;
    set.events[2].stream   = PAWL_TEXT("Account/1");
    set.events[2].is_first = false;
    expect(&set, PAWL_EINVAL, apart);
    set.events[1].version = 6;
    expect(&set, PAWL_EINVAL, "event_append 1: version: it is 6 of group 0 behind 4 of group 0");
    set.events[1].version = 4;
    expect(&set, PAWL_EINVAL, "event_append 1: version: it is 4 of group 0 behind 4 of group 0");
    set.events[1].group = 1;
    expect(&set, PAWL_EINVAL, "event_append 1: version: it is 5 of group 1 behind 4 of group 0");
    set.events[2].group = 1;
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_OK);
}

/* ---- A driver that answers what the test says --------------------------- */

static struct {
    pawl_code         commit_code, known_code, find_code;
    bool              is_known;
    unsigned          commit_count, find_count;
    pawl_changes      changes; /* the last ones; rows are copies */
    pawl_event_append events[2];
    pawl_outbox_add   dispatches[2];
} fake;

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    (void)store;
    fake.commit_count++;
    fake.changes = *changes;
    for (size_t i = 0; i < 2 && i < changes->event_append.count; i++)
        fake.events[i] = changes->event_append.items[i];
    for (size_t i = 0; i < 2 && i < changes->outbox_add.count; i++)
        fake.dispatches[i] = changes->outbox_add.items[i];
    if (fake.commit_code == PAWL_ECONFLICT)
        return pawl_refusals_add(refused, pawl_change_event_append, 0, 0, PAWL_ECONFLICT,
                                 PAWL_TEXT("stream A: version 1 is taken"));
    return lean_answer(fake.commit_code, error);
}

static pawl_code fake_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                  size_t count, bool *known, pawl_error *error)
{
    (void)store, (void)endpoint, (void)ids;
    assert_int_equal(count, 1);
    *known = fake.is_known;
    return lean_answer(fake.known_code, error);
}

static pawl_code fake_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                   size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                   pawl_error *error)
{
    (void)store, (void)endpoint, (void)now, (void)count_max, (void)arena, (void)rows, (void)error;
    return PAWL_OK;
}

static pawl_code fake_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                           pawl_found *found, pawl_error *error)
{
    (void)store, (void)arena, (void)found;
    assert_int_equal(asked->kind, PAWL_FIND_OUTBOX);
    fake.find_count++;
    return lean_answer(fake.find_code, error);
}

static const pawl_store_ops lean_driver = {LEAN_STORE, .scheme = "journalonly",
                                           .commit = fake_commit};
static const pawl_store_ops full_driver = {LEAN_STORE,
                                           .scheme       = "journal",
                                           .commit       = fake_commit,
                                           .outbox_claim = fake_outbox_claim,
                                           .inbox_known  = fake_inbox_known,
                                           .find         = fake_find};

static fixture *open_fixture(const char *url)
{
    memset(&fake, 0, sizeof fake);
    return lean_begin(url);
}

static const pawl_event event = {
    .type = PAWL_TEXT_INIT("Deposited"), .type_version = 1, .body = PAWL_TEXT_INIT("{}")};
static const pawl_outbox_row dispatch = {
    .destination = PAWL_TEXT_INIT("billing"),
    .message     = {.type = PAWL_TEXT_INIT("Charge"), .body = PAWL_TEXT_INIT("{}")}};

static pawl_append append_of(size_t dispatch_count)
{
    return (pawl_append){.stream         = PAWL_TEXT("Account/1"),
                         .version        = 6,
                         .events         = &event,
                         .event_count    = 1,
                         .dispatches     = &dispatch,
                         .dispatch_count = dispatch_count,
                         .outbox         = PAWL_TEXT("accounts")};
}

static void expect_refused(fixture *f, const pawl_append *append, pawl_code code, const char *text)
{
    assert_int_equal(pawl_store_append(f->store, append, NOW, &f->error), code);
    assert_string_equal(f->error.text, text);
    assert_int_equal(fake.commit_count, 0);
}

/* ---- Append ------------------------------------------------------------- */

static void o2_dispatches_without_an_outbox_reach_no_store(void)
{
    fixture    *f      = open_fixture("journal:");
    pawl_append append = append_of(1);
    append.outbox.size = 0;
    expect_refused(f, &append, PAWL_ECONFIG,
                   "append to stream 'Account/1': 1 dispatches and no outbox to put them in");
    append.outbox = (pawl_text){0};
    expect_refused(f, &append, PAWL_ECONFIG,
                   "append to stream 'Account/1': 1 dispatches and no outbox to put them in");
    test_now(f);

    f      = open_fixture("journalonly:");
    append = append_of(1);
    expect_refused(
        f, &append, PAWL_ECONFIG,
        "append to stream 'Account/1': 1 dispatches, but driver 'journalonly' has no outbox");
    append = append_of(0);
    assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_OK);
    assert_int_equal(fake.commit_count, 1);
    assert_int_equal(fake.events[0].version, 7);
    assert_true(fake.events[0].is_first);
}

static void what_no_append_can_be_reaches_no_store(void)
{
    fixture    *f      = open_fixture("journal:");
    pawl_append append = append_of(1);
    append.event_count = 0;
    expect_refused(f, &append, PAWL_EINVAL,
                   "append to stream 'Account/1': no event and 1 dispatches");
    append         = append_of(0);
    append.version = -3;
    expect_refused(f, &append, PAWL_EINVAL,
                   "append to stream 'Account/1': version -3, the first append has 0");
    append.version = INT64_MAX;
    assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_EINVAL);
    append             = append_of(0);
    append.event_count = PAWL_BATCH_MESSAGES_MAX + 1;
    expect_refused(f, &append, PAWL_ELIMIT,
                   "append to stream 'Account/1': 4097 events and 0 dispatches, limit 4096 of "
                   "each");
    append                = append_of(PAWL_BATCH_MESSAGES_MAX + 1);
    append.stream.size    = 0;
    append.dispatch_count = PAWL_BATCH_MESSAGES_MAX + 1;
    assert_int_equal(pawl_store_append(f->store, &append, NOW, NULL), PAWL_ELIMIT);
    append             = append_of(1);
    append.stream.size = 0;
    expect_refused(f, &append, PAWL_EINVAL, "event_append 0: stream: it is empty");
    append        = append_of(1);
    append.outbox = of_size(201); /* no id is made of it */
    assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_ELIMIT);
    assert_int_equal(fake.commit_count, 0);
}

static void o5_an_append_makes_ids_and_keeps_given_ones(void)
{
    fixture              *f      = open_fixture("journal:");
    const pawl_event      two[]  = {event, event};
    const pawl_outbox_row rows[] = {dispatch,
                                    {.dispatch_id = {{{9}}},
                                     .destination = PAWL_TEXT_INIT("mail"),
                                     .message     = {.id   = PAWL_TEXT_INIT("m-9"),
                                                     .type = PAWL_TEXT_INIT("Tell"),
                                                     .body = PAWL_TEXT_INIT("{}")}}};
    pawl_append           append = append_of(2);
    append.events                = two;
    append.event_count           = 2;
    append.dispatches            = rows;
    pawl_dispatch_id made        = pawl_dispatch_id_make(append.outbox, append.stream, 8, 0);
    char             text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(made.uuid, text);
    for (int run = 0; run < 2; run++) { /* a replay makes them again */
        fake.dispatches[0].dispatch_id = (pawl_dispatch_id){{{0}}};
        assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_OK);
        assert_memory_equal(&fake.dispatches[0].dispatch_id, &made, sizeof made);
        assert_int_equal(fake.dispatches[1].dispatch_id.uuid.bytes[0], 9);
        assert_int_equal(fake.dispatches[1].index, 1);
        assert_int_equal(fake.dispatches[1].version, 8);
        assert_int_equal(fake.changes.group_count, 1);
    }
}

static void o4_a_refused_append_says_which_version(void)
{
    fixture    *f      = open_fixture("journal:");
    pawl_append append = append_of(1);
    fake.commit_code   = PAWL_ECONFLICT;
    assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_ECONFLICT);
    assert_string_equal(f->error.text, "stream A: version 1 is taken");
    fake.commit_code = PAWL_EUNKNOWN;
    assert_int_equal(pawl_store_append(f->store, &append, NOW, &f->error), PAWL_ELOST);
}

/* ---- The other calls ---------------------------------------------------- */

static void an_absent_entry_is_unsupported(void)
{
    fixture                *f        = open_fixture("journalonly:");
    pawl_stream             stream   = {.version = 7};
    pawl_event_rows         events   = {.count = 7};
    pawl_outbox_rows        rows     = {.count = 7};
    pawl_outbox_record      record   = {.count = 7};
    int64_t                 position = 7;
    bool                    is_found = true;
    const pawl_stream_read  read     = {.stream = PAWL_TEXT("A")};
    const pawl_event_query  query    = {0};
    const pawl_outbox_query outbox   = {0};
    const pawl_text         name     = PAWL_TEXT("orders");
    const pawl_code         codes[]  = {
                 pawl_store_stream_read(f->store, &read, f->arena, &stream, &f->error),
                 pawl_store_events(f->store, &query, f->arena, &events, &f->error),
                 pawl_store_outbox_find(f->store, &outbox, f->arena, &rows, &f->error),
                 pawl_store_outbox_get(f->store, name, name, f->arena, &record, &is_found, &f->error),
                 pawl_store_checkpoint_get(f->store, name, &position, &f->error),
    };
    for (size_t i = 0; i < COUNT(codes); i++)
        assert_int_equal(codes[i], PAWL_EUNSUPPORTED);
    assert_string_equal(f->error.text, "driver 'journalonly' has no checkpoint_get");
    assert_int_equal(stream.version + (int64_t)events.count + (int64_t)rows.count + position, 0);
    assert_false(is_found);
}

static void o33_a_message_of_which_the_store_cannot_tell(void)
{
    fixture           *f    = open_fixture("journal:");
    const pawl_text    name = PAWL_TEXT("orders"), none = PAWL_TEXT_INIT("");
    bool               is_found = true;
    pawl_outbox_record record;
    fake.is_known   = true;
    fake.known_code = PAWL_EBUSY;
    assert_int_equal(
        pawl_store_outbox_get(f->store, name, name, f->arena, &record, &is_found, &f->error),
        PAWL_EBUSY);
    assert_false(is_found);
    assert_int_equal(fake.find_count, 0);
    fake.known_code = PAWL_OK;
    fake.find_code  = PAWL_ELOST;
    assert_int_equal(
        pawl_store_outbox_get(f->store, name, name, f->arena, &record, &is_found, &f->error),
        PAWL_ELOST);
    assert_false(is_found);
    assert_int_equal(
        pawl_store_outbox_get(f->store, none, name, f->arena, &record, &is_found, &f->error),
        PAWL_EINVAL);
    assert_string_equal(f->error.text, "outbox of a message: the endpoint is empty");
    assert_int_equal(
        pawl_store_outbox_get(f->store, name, none, f->arena, &record, &is_found, &f->error),
        PAWL_EINVAL);
    assert_string_equal(f->error.text, "outbox of a message: the message id is empty");
    fake.find_code = PAWL_OK;
    assert_int_equal(
        pawl_store_outbox_get(f->store, name, name, f->arena, &record, &is_found, &f->error),
        PAWL_OK);
    assert_true(is_found);
}

const pawl_store_ops *const tests_drivers[] = {&full_driver, &lean_driver, NULL};

const struct CMUnitTest tests[] = {
    TEST(names_and_sizes_are_limited),
    TEST(numbers_are_in_range),
    TEST(a_streams_events_stand_together),
    TEST(o2_dispatches_without_an_outbox_reach_no_store),
    TEST(what_no_append_can_be_reaches_no_store),
    TEST(o5_an_append_makes_ids_and_keeps_given_ones),
    TEST(o4_a_refused_append_says_which_version),
    TEST(an_absent_entry_is_unsupported),
    TEST(o33_a_message_of_which_the_store_cannot_tell),
    {.name = NULL},
};
