/* size.c - many rows and large rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define BILLS TEXT("Bills")
#define MEGABYTE ((size_t)1024 * 1024)

/* Inserts `count` bills in sets of 4,000. */
static void fill(suite *s, pawl_store *store, unsigned count)
{
    pawl_arena_point start = pawl_arena_position(s->arena);
    for (unsigned done = 0; done < count;) {
        suite_set set = suite_changes(s);
        for (unsigned i = 0; i < 4000 && done < count; i++, done++) {
            pawl_text key = suite_printf(s, "key-%u", done);
            ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = key,
                .message = {.id = key, .type = TEXT("PlaceOrder"), .body = TEXT("{}")},
                .at = SUITE_NOW, .due = PAWL_TIME_MAX);
        }
        COMMIT(&set, store);
        pawl_arena_rewind(s->arena, start);
    }
}

static void a_leased_batch_of_20_000_messages_is_removed_completely_or_not_at_all(suite *s)
{
    enum { COUNT = 20000 };
    pawl_store *a = suite_open(s);
    fill(s, a, COUNT);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, taken.count, COUNT);
    int64_t *ids = pawl_arena_take(s->arena, (COUNT + 1) * sizeof *ids);
    EXPECT(s, ids != NULL);
    for (size_t i = 0; i < COUNT; i++) {
        ids[i] = taken.items[i].id;
        EXPECT_TEXT(s, taken.items[i].key, suite_printf(s, "key-%zu", i));
    }
    ids[COUNT] = ids[COUNT - 1] + 1000;
    REFUSE_ONE(s, a, PAWL_ECONFLICT, leased_batch_remove, .partition = BILLS,
               .session = suite_session_id(70), .ids = ids, .id_count = COUNT + 1);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, COUNT);
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
               .ids = ids, .id_count = COUNT);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
    EXPECT_EQ(s, suite_rows(s, a, BILLS).count, 0);
}

static void message_bodies_of_a_megabyte_are_kept_byte_for_byte(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    sent.body         = suite_bytes(s, MEGABYTE);
    suite_set set     = suite_changes(s);
    ADD(&set, queue_send, .queue = TEXT("orders"), .message = sent, .due = SUITE_NOW);
    ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = TEXT("S"), .version = 1,
        .endpoint = TEXT("suite"), .destination = TEXT("billing"), .message = sent,
        .at = SUITE_NOW);
    ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = TEXT("k"), .message = sent,
        .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    ADD(&set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"), .message = sent,
        .code = TEXT("EPERSIST"), .at = SUITE_NOW);
    COMMIT(&set, a);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 1);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    pawl_outbox_rows outbox = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_MESSAGE(s, &outbox.items[0].message, &sent);
    EXPECT_MESSAGE(s, &suite_rows(s, a, BILLS).items[0].message, &sent);
    EXPECT_MESSAGE(s, &suite_dead_rows(s, a, TEXT("suite")).items[0].message, &sent);
}

/* Adds a change of the kind that carries the message. */
static void add_carrier(suite_set *set, pawl_change_kind kind, pawl_message message)
{
    if (kind == pawl_change_queue_send)
        ADD(set, queue_send, .queue = TEXT("orders"), .message = message, .due = SUITE_NOW);
    else if (kind == pawl_change_outbox_add)
        ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = TEXT("S"), .version = 1,
            .endpoint = TEXT("suite"), .destination = TEXT("billing"), .message = message,
            .at = SUITE_NOW);
    else if (kind == pawl_change_aggregator_add)
        ADD(set, aggregator_add, .name = BILLS, .partition = BILLS, .key = message.id,
            .message = message, .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    else
        ADD(set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"), .message = message,
            .code = TEXT("EPERSIST"), .at = SUITE_NOW);
}

/* The number of rows that carry a message; `first` is the first row's message. */
static size_t carried(suite *s, pawl_store *store, pawl_change_kind kind, pawl_message *first)
{
    pawl_queue_rows   queue  = suite_queue(s, store, TEXT("orders"));
    pawl_outbox_rows  outbox = suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING);
    pawl_leased_batch bills  = suite_rows(s, store, BILLS);
    pawl_dead_rows    dead   = suite_dead_rows(s, store, TEXT("suite"));
    if (kind == pawl_change_queue_send)
        *first = queue.items[0].message;
    else if (kind == pawl_change_outbox_add)
        *first = outbox.items[0].message;
    else if (kind == pawl_change_aggregator_add)
        *first = bills.items[0].message;
    else
        *first = dead.items[0].message;
    return queue.count + outbox.count + bills.count + dead.count;
}

static void try_body_sizes(suite *s, pawl_change_kind kind)
{
    pawl_store   *a    = suite_open(s);
    pawl_message  sent = suite_message(s, TEXT("m-1")), found;
    pawl_refusals refused;
    sent.body      = suite_bytes(s, PAWL_BODY_SIZE_MAX + 1);
    suite_set over = suite_changes(s);
    add_carrier(&over, kind, sent);
    suite_unit(&over, 1, 1);
    ADD(&over, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("beside"),
        .at = SUITE_NOW);
    EXPECT_CODE(s, suite_try(&over, a, &refused), PAWL_ELIMIT);
    pawl_text said = pawl_text_of(s->error.text);
    EXPECT(s, suite_text_has(said, suite_printf(s, "%d", PAWL_BODY_SIZE_MAX + 1)));
    EXPECT(s, suite_text_has(said, suite_printf(s, "%d", PAWL_BODY_SIZE_MAX)));
    EXPECT(s, suite_text_has(said, TEXT("message.body")));
    EXPECT_EQ(s, carried(s, a, kind, &found), 0);
    EXPECT(s, !suite_knows(s, a, TEXT("suite"), TEXT("beside")));

    sent.body.size--;
    suite_set exact = suite_changes(s);
    add_carrier(&exact, kind, sent);
    COMMIT(&exact, a);
    EXPECT_EQ(s, carried(s, a, kind, &found), 1);
    EXPECT_MESSAGE(s, &found, &sent);
}

static void a_queued_messages_body_is_accepted_up_to_its_limit_refused_above(suite *s)
{
    try_body_sizes(s, pawl_change_queue_send);
}

static void an_outbox_rows_body_is_accepted_up_to_its_limit_refused_above(suite *s)
{
    try_body_sizes(s, pawl_change_outbox_add);
}

/* Together more than one packet of any server can hold. */
static void five_messages_of_the_maximum_size_can_be_sent_in_one_commit(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    sent.body         = suite_bytes(s, PAWL_BODY_SIZE_MAX);
    suite_set set     = suite_changes(s);
    for (int i = 0; i < 5; i++) {
        sent.id = suite_printf(s, "m-%d", i);
        ADD(&set, queue_send, .queue = TEXT("orders"), .message = sent, .due = SUITE_NOW);
    }
    COMMIT(&set, a);
    pawl_queue_rows rows = suite_queue(s, a, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 5);
    for (size_t i = 0; i < rows.count; i++) {
        sent.id = suite_printf(s, "m-%zu", i);
        EXPECT_MESSAGE(s, &rows.items[i].message, &sent);
    }
}

/* Bodies grow, so a buffer that fits the first does not fit the last. */
static void messages_with_bodies_of_growing_size_can_be_sent_in_one_commit(suite *s)
{
    enum { COUNT = 64 };
    pawl_store  *a    = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m"));
    pawl_text    body = suite_bytes(s, (size_t)COUNT * COUNT * 16);
    suite_set    set  = suite_changes(s);
    for (size_t i = 0; i < COUNT; i++) {
        sent.id   = suite_printf(s, "m-%zu", i);
        sent.body = (pawl_text){.data = body.data, .size = i * i * 16};
        ADD(&set, queue_send, .queue = TEXT("orders"), .message = sent, .due = SUITE_NOW);
    }
    COMMIT(&set, a);
    pawl_queue_rows rows = suite_queue(s, a, TEXT("orders"));
    EXPECT_EQ(s, rows.count, COUNT);
    for (size_t i = 0; i < rows.count; i++) {
        sent.id        = suite_printf(s, "m-%zu", i);
        sent.body.size = i * i * 16;
        EXPECT_MESSAGE(s, &rows.items[i].message, &sent);
    }
}

static void an_aggregators_message_body_is_accepted_up_to_its_limit_refused_above(suite *s)
{
    try_body_sizes(s, pawl_change_aggregator_add);
}

static void a_dead_letters_body_is_accepted_up_to_its_limit_refused_above(suite *s)
{
    try_body_sizes(s, pawl_change_dead_set);
}

static void a_sagas_state_of_a_megabyte_is_kept(suite *s)
{
    pawl_store *a    = suite_open(s);
    pawl_text   pad  = suite_repeat(s, TEXT("0123456789abcdef"), MEGABYTE / 16);
    pawl_text   data = pawl_arena_printf(s->arena, "{\"pad\":\"%.*s\"}", PAWL_TEXT_ARGS(pad));
    EXPECT(s, data.data != NULL);
    COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1),
               .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{}"), .data = data,
               .type_version = TEXT("1.0"));
    EXPECT_TEXT(s, suite_compact(s, suite_load_id(s, a, SUITE_ORDER, 1).data), data);
}

static void a_stream_snapshot_of_the_maximum_size_is_kept(suite *s)
{
    pawl_store *a    = suite_open(s);
    pawl_text   name = suite_repeat(s, TEXT("n"), PAWL_STREAM_SIZE_MAX);
    pawl_text   ids  = suite_repeat(s, TEXT("0123456789abcdef"), MEGABYTE / 32);
    ids              = pawl_arena_printf(s->arena, "[\"%.*s\"]", PAWL_TEXT_ARGS(ids));
    size_t    size   = PAWL_SNAPSHOT_SIZE_MAX - ids.size - sizeof "{\"x\":\"\"}" + 1;
    pawl_text pad    = suite_repeat(s, TEXT("x"), size);
    pawl_text state  = pawl_arena_printf(s->arena, "{\"x\":\"%.*s\"}", PAWL_TEXT_ARGS(pad));
    EXPECT_EQ(s, state.size + ids.size, PAWL_SNAPSHOT_SIZE_MAX);
    COMMIT_ONE(s, a, stream_snapshot_set, .stream = name, .version = 1, .type_version = 1,
               .state = state, .dispatches = ids, .at = SUITE_NOW);
    pawl_stream_snapshot_row kept = suite_stream(s, a, name, 1).snapshot;
    EXPECT_EQ(s, kept.version, 1);
    EXPECT_TEXT(s, kept.state, state);
    EXPECT_TEXT(s, kept.dispatches, ids);
}

/* Claim, inbox entry, save, send and settle in one commit, as the engine does. */
static void a_commit_of_4_096_units_is_applied_except_for_refused_units(suite *s)
{
    enum { COUNT = PAWL_BATCH_MESSAGES_MAX };
    pawl_store *a     = suite_open(s);
    suite_set   first = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++)
        ADD(&first, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW,
            .message = {
                .id = suite_printf(s, "m-%u", i), .type = TEXT("PlaceOrder"), .body = TEXT("{}")});
    COMMIT(&first, a);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, COUNT);
    EXPECT_EQ(s, rows.count, COUNT);
    suite_set set = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++) {
        suite_unit(&set, i, i);
        ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
            .seq = rows.items[i].seq);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = rows.items[i].message.id,
            .at = SUITE_NOW);
        ADD(&set, saga_insert, .table = s->tables[SUITE_TICKET], .id = suite_saga_id(i),
            .main = pawl_value_integer(i % 4000), .metadata = TEXT("{}"), .data = TEXT("{}"),
            .type_version = TEXT("1.0"));
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, COUNT - 4000);
    for (unsigned i = 4000; i < COUNT; i++) {
        const pawl_refusal *refusal = suite_refusal(&refused, i);
        EXPECT(s, refusal != NULL && refusal->reason == PAWL_EDUPLICATE);
    }
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_TICKET), 4000);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("orders")).count, COUNT - 4000);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).inbox, 4000);
}

/* ---- What a claim reads at once ------------------------------------------------ */

#define LATE (SUITE_NOW + PAWL_HOURS(1))
#define CLAIMED_MAX 5

/* Sizes that a store may read in different ways. */
static const size_t body_sizes[CLAIMED_MAX] = {10, 2000, 0, 9000, 10};

static pawl_message sized_message(suite *s, size_t number)
{
    pawl_message message = suite_message(s, suite_printf(s, "m-%zu", number));
    message.body         = suite_bytes(s, body_sizes[number]);
    return message;
}

/* Sends messages of these sizes to a queue and to the outbox, and returns them in `sent`. */
static void send_sized(suite *s, pawl_store *store, pawl_message sent[CLAIMED_MAX])
{
    for (size_t i = 0; i < CLAIMED_MAX; i++) {
        suite_set set = suite_changes(s);
        sent[i]       = sized_message(s, i);
        ADD(&set, queue_send, .queue = TEXT("orders"), .message = sent[i], .due = SUITE_NOW);
        ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id((unsigned)i + 1),
            .source = TEXT("S"), .version = (int64_t)i + 1, .endpoint = TEXT("suite"),
            .destination = TEXT("billing"), .message = sent[i], .at = SUITE_NOW);
        COMMIT(&set, store);
    }
}

static size_t size_of_first(const pawl_message *messages, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += PAWL_MESSAGE_SIZE(&messages[i]);
    return size;
}

static pawl_queue_rows claim_sized(suite *s, pawl_store *store, size_t size_max)
{
    pawl_queue_rows  rows  = {0};
    pawl_queue_claim claim = {.queue     = TEXT("orders"),
                              .due_max   = LATE,
                              .count_max = CLAIMED_MAX,
                              .now       = SUITE_NOW,
                              .size_max  = size_max};
    READ_ROWS(s, pawl_store_queue_claim(store, &claim, s->arena, &rows, &s->error), rows);
    return rows;
}

static void expect_messages(suite *s, const pawl_queue_rows *rows, const pawl_message *sent,
                            size_t count)
{
    EXPECT_EQ(s, rows->count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT_MESSAGE(s, &rows->items[i].message, &sent[i]);
}

static void release_all(suite *s, pawl_store *store, const pawl_queue_rows *rows)
{
    suite_set set = suite_changes(s);
    for (size_t i = 0; i < rows->count; i++)
        ADD(&set, queue_settle, .action = PAWL_QUEUE_RELEASE, .queue = TEXT("orders"),
            .seq = rows->items[i].seq);
    COMMIT(&set, store);
}

/* A claim ends with the first row that reaches its size limit, or with all rows. */
static void a_claim_ends_with_the_message_that_reaches_its_size_limit(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message sent[CLAIMED_MAX];
    send_sized(s, a, sent);
    for (size_t count = 1; count <= CLAIMED_MAX; count++) {
        pawl_queue_rows rows = claim_sized(s, a, size_of_first(sent, count));
        expect_messages(s, &rows, sent, count);
        release_all(s, a, &rows);
        rows = claim_sized(s, b, size_of_first(sent, count - 1) + 1);
        expect_messages(s, &rows, sent, count);
        release_all(s, b, &rows);
    }
    pawl_queue_rows all = claim_sized(s, a, size_of_first(sent, CLAIMED_MAX) + 1);
    expect_messages(s, &all, sent, CLAIMED_MAX);
    release_all(s, a, &all);
    all = claim_sized(s, b, 0);
    expect_messages(s, &all, sent, CLAIMED_MAX);
}

/* Rows after the size limit are not claimed: this handle gets them with its next claim, another handle after the
 * commit. */
static void messages_beyond_a_claims_size_limit_stay_free(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message sent[CLAIMED_MAX];
    send_sized(s, a, sent);
    pawl_queue_rows first = claim_sized(s, a, 1);
    expect_messages(s, &first, sent, 1);
    pawl_queue_rows second = claim_sized(s, a, 1);
    expect_messages(s, &second, sent + 1, 1);
    suite_set set = suite_changes(s);
    ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
        .seq = first.items[0].seq);
    ADD(&set, queue_settle, .action = PAWL_QUEUE_RELEASE, .queue = TEXT("orders"),
        .seq = second.items[0].seq);
    COMMIT(&set, a);
    pawl_queue_rows rest = claim_sized(s, b, 0);
    expect_messages(s, &rest, sent + 1, CLAIMED_MAX - 1);
}

/* ---- What a page reads at once ------------------------------------------------- */

#define PAGED 30
#define PAGED_SIZE 1000
#define ALL_FIT (PAGED * PAGED_SIZE + 1)

/* Adds retried messages to a queue, and as many dead letters. */
static void add_paged(suite *s, pawl_store *store)
{
    suite_set sent = suite_changes(s), later = suite_changes(s);
    for (size_t i = 0; i < PAGED; i++) {
        pawl_message message = suite_message(s, suite_printf(s, "m-%02zu", i));
        message.body         = suite_bytes(s, PAGED_SIZE - message.headers.size);
        ADD(&sent, queue_send, .queue = TEXT("orders"), .message = message, .due = SUITE_NOW);
        ADD(&sent, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"), .message = message,
            .code = TEXT("EPERSIST"), .error = TEXT(""), .at = SUITE_NOW);
    }
    COMMIT(&sent, store);
    pawl_queue_rows rows = suite_claim(s, store, TEXT("orders"), SUITE_NOW, PAGED);
    EXPECT_EQ(s, rows.count, PAGED);
    for (size_t i = 0; i < rows.count; i++)
        ADD(&later, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = TEXT("orders"),
            .seq = rows.items[i].seq, .due = LATE, .attempts = 1);
    COMMIT(&later, store);
}

/* Rows come in the order of their numbers. */
static void expect_row(suite *s, const pawl_message *message, size_t at)
{
    EXPECT_TEXT(s, message->id, suite_printf(s, "m-%02zu", at));
    EXPECT_EQ(s, PAWL_MESSAGE_SIZE(message), PAGED_SIZE);
}

static void a_page_of_queued_messages_ends_at_its_size_limit(suite *s)
{
    pawl_store         *a     = suite_open(s);
    pawl_queue_messages page  = {.is_cut = true};
    pawl_queue_query    query = {.queue = TEXT("orders"), .size_max = ALL_FIT};
    size_t              seen  = 0, pages;
    add_paged(s, a);
    READ_ROWS(s, pawl_store_queue_find(a, &query, s->arena, &page, &s->error), page);
    EXPECT(s, page.count == PAGED && !page.is_cut);
    for (size_t i = 0; i < page.count; i++)
        expect_row(s, &page.items[i].row.message, i);
    query.size_max  = 1;
    query.count_max = 1;
    READ_ROWS(s, pawl_store_queue_find(a, &query, s->arena, &page, &s->error), page);
    EXPECT(s, page.count == 1 && !page.is_cut);
    query.count_max = 0;
    page.is_cut     = true;
    for (pages = 0; page.is_cut; pages++) {
        READ_ROWS(s, pawl_store_queue_find(a, &query, s->arena, &page, &s->error), page);
        EXPECT(s, page.count > 0 && page.count < PAGED);
        for (size_t i = 0; i < page.count; i++)
            expect_row(s, &page.items[i].row.message, seen++);
        query.after = &page.items[page.count - 1].row;
    }
    EXPECT_EQ(s, seen, PAGED);
    EXPECT(s, pages > 1);
}

static void a_page_of_dead_letters_ends_at_its_size_limit(suite *s)
{
    pawl_store     *a     = suite_open(s);
    pawl_dead_rows  page  = {.is_cut = true};
    pawl_dead_query query = {.size_max = ALL_FIT};
    size_t          seen  = 0, pages;
    add_paged(s, a);
    READ_ROWS(s, pawl_store_dead_find(a, &query, s->arena, &page, &s->error), page);
    EXPECT(s, page.count == PAGED && !page.is_cut);
    query.size_max = 1;
    page.is_cut    = true;
    for (pages = 0; page.is_cut; pages++) {
        READ_ROWS(s, pawl_store_dead_find(a, &query, s->arena, &page, &s->error), page);
        EXPECT(s, page.count > 0 && page.count < PAGED);
        for (size_t i = 0; i < page.count; i++)
            expect_row(s, &page.items[i].message, seen++);
        query.after = &page.items[page.count - 1];
    }
    EXPECT_EQ(s, seen, PAGED);
    EXPECT(s, pages > 1);
}

static void a_list_of_retried_messages_ends_at_its_size_limit(suite *s)
{
    pawl_store        *a     = suite_open(s);
    pawl_queue_rows    rows  = {.count = 0};
    pawl_retried_query query = {.queue     = TEXT("orders"),
                                .due_after = PAWL_TIME_MIN,
                                .scan_max  = 1000,
                                .count_max = 1000,
                                .size_max  = ALL_FIT};
    add_paged(s, a);
    query.type = suite_message(s, TEXT("m-1")).type;
    READ_ROWS(s, pawl_store_queue_retried(a, &query, s->arena, &rows, &s->error), rows);
    EXPECT(s, rows.count == PAGED && !rows.is_cut);
    for (size_t i = 0; i < rows.count; i++)
        expect_row(s, &rows.items[i].message, i);
    query.size_max = 1;
    READ_ROWS(s, pawl_store_queue_retried(a, &query, s->arena, &rows, &s->error), rows);
    EXPECT(s, rows.count > 0 && rows.count < PAGED && rows.is_cut);
    query.count_max = 1;
    READ_ROWS(s, pawl_store_queue_retried(a, &query, s->arena, &rows, &s->error), rows);
    EXPECT(s, rows.count == 1 && !rows.is_cut);
}

static const suite_case cases[] = {
    {"A12 A13 a leased batch of 20,000 messages is removed completely or not at all",
     a_leased_batch_of_20_000_messages_is_removed_completely_or_not_at_all},
    {"E26 O24 message bodies of a megabyte are kept byte for byte",
     message_bodies_of_a_megabyte_are_kept_byte_for_byte},
    {"E26 D19 a queued message's body is accepted up to its limit, refused above",
     a_queued_messages_body_is_accepted_up_to_its_limit_refused_above},
    {"E35 D19 five messages of the maximum size can be sent in one commit",
     five_messages_of_the_maximum_size_can_be_sent_in_one_commit},
    {"E35 messages with bodies of growing size can be sent in one commit",
     messages_with_bodies_of_growing_size_can_be_sent_in_one_commit},
    {"O24 D19 an outbox row's body is accepted up to its limit, refused above",
     an_outbox_rows_body_is_accepted_up_to_its_limit_refused_above},
    {"A1 D19 an aggregator's message body is accepted up to its limit, refused above",
     an_aggregators_message_body_is_accepted_up_to_its_limit_refused_above},
    {"E26 D19 a dead letter's body is accepted up to its limit, refused above",
     a_dead_letters_body_is_accepted_up_to_its_limit_refused_above},
    {"a claim ends with the message that reaches its size limit",
     a_claim_ends_with_the_message_that_reaches_its_size_limit},
    {"messages beyond a claim's size limit stay free",
     messages_beyond_a_claims_size_limit_stay_free},
    {"E26 a page of queued messages ends at its size limit",
     a_page_of_queued_messages_ends_at_its_size_limit},
    {"E34 a page of dead letters ends at its size limit",
     a_page_of_dead_letters_ends_at_its_size_limit},
    {"E3 a list of retried messages ends at its size limit",
     a_list_of_retried_messages_ends_at_its_size_limit},
    {"S15 a saga's state of a megabyte is kept", a_sagas_state_of_a_megabyte_is_kept},
    {"O18 a stream snapshot of the maximum size is kept",
     a_stream_snapshot_of_the_maximum_size_is_kept},
    {"E35 a commit of 4,096 units is applied, except for refused units",
     a_commit_of_4_096_units_is_applied_except_for_refused_units},
};

const suite_cases cases_size = SUITE_CASES("size", cases);
