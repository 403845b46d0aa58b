/* test_store_operations_refused.c - refusals of the public operations with their words; the table of outcomes of an
 * outbox row, and the operations that are left in the outbox of a message. All else that operations do is proved by
 * src/conformance/operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/operations.h"

#define NOW INT64_C(1767225600000000)

static pawl_store *store;
static pawl_arena *arena;
static pawl_error  error;

static void open_store(void)
{
    store = test_open("memory:");
    arena = test_arena();
}

static void expect(pawl_code answer, pawl_code code, const char *text)
{
    assert_string_equal(error.text, text);
    assert_int_equal(answer, code);
    error = (pawl_error)PAWL_ERROR_INIT;
}

static void refused(pawl_code answer, const char *text)
{
    expect(answer, PAWL_EINVAL, text);
}

/* ---- Timeouts, aggregators ---------------------------------------------- */

TEST(a_batch_of_no_size_lease_or_owner_is_refused)
{
    static const struct {
        int64_t     size, lease;
        const char *text;
    } cases[] = {
        {0, 1, "the size is 0, at least 1 is needed"},
        {-1, 1, "the size is -1, at least 1 is needed"},
        {1, 0, "the lease is 0 microseconds, at least 1 is needed"},
        {1, -1, "the lease is -1 microseconds, at least 1 is needed"},
    };
    pawl_stats                           stats = PAWL_STATS_INIT;
    pawl_timeout_batch_options           batch = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    pawl_aggregator_leased_batch_options lease = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    pawl_aggregator_leased_batch         leased;
    pawl_timeout_rows                    rows;
    open_store();
    refused(pawl_store_timeout_batch(store, &batch, NOW, arena, &rows, &error),
            "batch of timeouts: the owner is zero");
    batch.owner = (pawl_session_id){{{8}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[120];
        batch.size = lease.size = cases[i].size;
        batch.lease = lease.lease = cases[i].lease;
        rows.count                = 7;
        snprintf(text, sizeof text, "batch of timeouts: %s", cases[i].text);
        refused(pawl_store_timeout_batch(store, &batch, NOW, arena, &rows, &error), text);
        assert_int_equal(rows.count, 0);
        assert_int_equal(rows.next_due, NOW + PAWL_MINUTES(1));
        snprintf(text, sizeof text, "leased batch of an aggregator: %s", cases[i].text);
        refused(pawl_store_aggregator_leased_batch(store, &lease, NOW, arena, &leased, &error),
                text);
        assert_int_equal(leased.count, 0);
    }
    must(pawl_store_stats(store, NOW, arena, &stats, world_error()));
    assert_int_equal(stats.workers, 0); /* the handle was not made a worker's */
}

TEST(nobodys_leases_are_refused)
{
    const pawl_session_id        zero   = {{{0}}};
    const pawl_text              bills  = PAWL_TEXT_INIT("Bills");
    pawl_aggregator_leased_batch leased = {.partition = PAWL_TEXT_INIT("Bills"), .count = 1};
    open_store();
    refused(pawl_store_timeout_remove(store, (pawl_timeout_id){{{3}}}, &zero, NOW, &error),
            "remove of a timeout: the owner is zero");
    refused(pawl_store_timeout_release(store, (pawl_timeout_id){{{3}}}, &zero, NOW, &error),
            "release of a timeout: the owner is zero");
    refused(pawl_store_aggregator_remove_leased_batch(store, &leased, NOW, &error),
            "removal of a leased batch of aggregator 'Bills': the session is zero");
    refused(pawl_store_aggregator_release_leased_batch(store, &leased, NOW, &error),
            "release of a leased batch of aggregator 'Bills': the session is zero");
    leased.count = 0; /* A11: nothing to remove, and nothing asked */
    must(pawl_store_aggregator_remove_leased_batch(store, &leased, NOW, world_error()));
    refused(pawl_store_aggregator_remove(store, bills, PAWL_TEXT(""), NOW, &error),
            "aggregator 'Bills': the correlation id to remove is empty");
}

/* ---- Sagas --------------------------------------------------------------- */

static const pawl_saga_table table = {
    .type         = PAWL_TEXT_INIT("Order"),
    .name         = PAWL_TEXT_INIT("t_order"),
    .main         = {.property = PAWL_TEXT_INIT("Ref"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("Number"), .type = PAWL_VALUE_INT}};
static const pawl_saga_table no_columns = {.type = PAWL_TEXT_INIT("Order"),
                                           .name = PAWL_TEXT_INIT("t_order")};
static const pawl_saga_table one_column = {
    .type         = PAWL_TEXT_INIT("Order"),
    .name         = PAWL_TEXT_INIT("t_order"),
    .main         = {.property = PAWL_TEXT_INIT("Ref"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("Number"), .type = PAWL_VALUE_NONE}};

/* S17, S18, S19, D19. */
TEST(s18_a_key_that_cannot_be_is_refused)
{
    static char      long_text[201];
    const pawl_value text = pawl_value_text(PAWL_TEXT("17"));
    memset(long_text, 'x', sizeof long_text);
    const struct {
        const pawl_saga_table *table;
        int                    key;
        pawl_value             value;
        const char            *text;
    } cases[] = {
        {NULL, PAWL_SAGA_BY_ID, text, "the saga table is NULL"},
        {&table, PAWL_SAGA_BY_TRANSITIONAL + 1, text, "saga 'Order': key 3 is unknown"},
        {&table, -1, text, "saga 'Order': key -1 is unknown"},
        {&table,
         PAWL_SAGA_BY_MAIN,
         {.type = PAWL_VALUE_NONE},
         "saga 'Order': property 'Ref': the value to find it by is null"},
        {&table, PAWL_SAGA_BY_TRANSITIONAL, pawl_value_text(PAWL_TEXT("x")),
         "saga 'Order': property 'Number': text of 1 byte cannot become integer of 64 bits"},
        {&table, PAWL_SAGA_BY_MAIN, pawl_value_text((pawl_text){.data = long_text, .size = 201}),
         "saga 'Order': property 'Ref': text of 201 characters, the limit is 200"},
        {&no_columns, PAWL_SAGA_BY_MAIN, text,
         "saga 'Order' cannot be found by a main correlation property: it has no correlation "
         "property and is found by its id"},
        {&one_column, PAWL_SAGA_BY_TRANSITIONAL, text,
         "saga 'Order' cannot be found by a transitional correlation property: its correlation "
         "property is 'Ref'"},
    };
    open_store();
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_saga_row row = {.version = 7};
        refused(pawl_store_saga_find(store, cases[i].table, (pawl_saga_key)cases[i].key,
                                     cases[i].value, arena, &row, &error),
                cases[i].text);
        assert_int_equal(row.version, 0);
    }
}

TEST(s19_a_property_that_is_no_key_is_refused)
{
    static const struct {
        const pawl_saga_table *table;
        const char            *property, *text;
    } cases[] = {
        {&table, "Name", "'Name': its correlation properties are 'Ref' and 'Number'"},
        {&one_column, "Number", "'Number': its correlation property is 'Ref'"},
        {&one_column, "", "'': its correlation property is 'Ref'"},
        {&no_columns, "Ref", "'Ref': it has no correlation property and is found by its id"},
        {&no_columns, "", "'': it has no correlation property and is found by its id"},
    };
    pawl_saga_row row = {.version = 7};
    open_store();
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text = test_text("saga 'Order' cannot be found by property %s", cases[i].text);
        refused(pawl_store_saga_find_by(store, cases[i].table, pawl_text_of(cases[i].property),
                                        pawl_value_text(PAWL_TEXT("17")), arena, &row, &error),
                text);
        assert_int_equal(row.version, 0);
    }
    refused(pawl_store_saga_find_by(store, NULL, PAWL_TEXT("Ref"), pawl_value_text(PAWL_TEXT("r")),
                                    arena, &row, &error),
            "the saga table is NULL");
}

/* S18, S21: null in a column that the table has, and a table that is none. */
TEST(s21_a_saga_without_its_values_is_refused)
{
    static const char *const no_other = "saga 'Order': null transitional property 'Number' is not "
                                        "allowed";
    pawl_saga_row            row      = {.version = 4, .transitional = pawl_value_integer(2)};
    open_store();
    refused(pawl_store_saga_insert(store, &table, &row, NOW, &error),
            "saga 'Order': null correlation property 'Ref' is not allowed");
    row = (pawl_saga_row){.version = 4, .main = pawl_value_text(PAWL_TEXT("r"))};
    refused(pawl_store_saga_insert(store, &table, &row, NOW, &error), no_other);
    refused(pawl_store_saga_update(store, &table, &row, NOW, &error), no_other);
    assert_int_equal(row.version, 4);
    row = (pawl_saga_row){.version = 4}; /* a table without columns needs no values */
    must(pawl_store_saga_insert(store, &no_columns, &row, NOW, world_error()));
    must(pawl_store_saga_update(store, &no_columns, &row, NOW, world_error()));
    refused(pawl_store_saga_insert(store, NULL, &row, NOW, &error), "the saga table is NULL");
    refused(pawl_store_saga_update(store, NULL, &row, NOW, &error), "the saga table is NULL");
    refused(pawl_store_saga_delete(store, NULL, &row, NOW, &error),
            "saga_delete 0: table: it is NULL");
}

/* ---- The event store ------------------------------------------------------ */

static pawl_outbox_row row_of(uint8_t number, const char *source, const char *causation_id)
{
    return (pawl_outbox_row){.id          = 8,
                             .dispatch_id = {{{number}}},
                             .source      = pawl_text_of(source),
                             .version     = number,
                             .endpoint    = PAWL_TEXT("orders"),
                             .destination = PAWL_TEXT("billing"),
                             .message     = {.id           = PAWL_TEXT("m"),
                                             .type         = PAWL_TEXT("Charge"),
                                             .causation_id = pawl_text_of(causation_id)}};
}

TEST(an_append_has_limits)
{
    static pawl_event events[PAWL_BATCH_MESSAGES_MAX];
    for (size_t i = 0; i < COUNT(events); i++)
        events[i] = (pawl_event){.type = PAWL_TEXT("Opened"), .type_version = 1};
    pawl_append append = {
        .stream = PAWL_TEXT_INIT("Account/1"), .events = events, .event_count = COUNT(events)};
    open_store();
    must(pawl_store_append(store, &append, NOW, world_error()));
    append.version = INT64_MAX - PAWL_BATCH_MESSAGES_MAX; /* the last one that may be asked for */
    assert_int_equal(pawl_store_append(store, &append, NOW, &error), PAWL_ECONFLICT);
    append.version++;
    refused(pawl_store_append(store, &append, NOW, &error),
            "append to stream 'Account/1': version 9223372036854771712, the first append has 0");
    append.version = -1;
    refused(pawl_store_append(store, &append, NOW, &error),
            "append to stream 'Account/1': version -1, the first append has 0");
    append.version     = 0;
    append.event_count = PAWL_BATCH_MESSAGES_MAX + 1;
    expect(pawl_store_append(store, &append, NOW, &error), PAWL_ELIMIT,
           "append to stream 'Account/1': 4097 events and 0 dispatches, limit 4096 of each");
    append.event_count    = 1;
    append.dispatch_count = 4097;
    expect(pawl_store_append(store, &append, NOW, &error), PAWL_ELIMIT,
           "append to stream 'Account/1': 1 events and 4097 dispatches, limit 4096 of each");
    append.dispatch_count = 0;
    append.event_count    = 0;
    refused(pawl_store_append(store, &append, NOW, &error),
            "append to stream 'Account/1': no event and 0 dispatches");
}

TEST(dispatches_need_an_outbox_whose_name_has_a_limit)
{
    static char           long_text[201];
    const pawl_event      event    = {.type = PAWL_TEXT_INIT("Opened"), .type_version = 1};
    const pawl_outbox_row dispatch = row_of(1, "", "");
    pawl_append           append   = {.stream         = PAWL_TEXT_INIT("Account/1"),
                                      .events         = &event,
                                      .event_count    = 1,
                                      .dispatches     = &dispatch,
                                      .dispatch_count = 1,
                                      .outbox         = {.data = long_text}};
    memset(long_text, 'x', sizeof long_text);
    open_store();
    expect(pawl_store_append(store, &append, NOW, &error), PAWL_ECONFIG,
           "append to stream 'Account/1': 1 dispatches and no outbox to put them in");
    append.outbox.size = sizeof long_text; /* no id is made of it */
    expect(pawl_store_append(store, &append, NOW, &error), PAWL_ELIMIT,
           "outbox_add 0: endpoint: it has 201 bytes, limit 200");
}

/* ---- Outbox --------------------------------------------------------------- */

static void insert(uint8_t number, const char *source, const char *causation_id)
{
    pawl_outbox_row row = row_of(number, source, causation_id);
    must(pawl_store_outbox_insert(store, &row, NOW, world_error()));
}

static pawl_outbox_row *found(size_t number)
{
    pawl_outbox_rows        rows = {0};
    const pawl_outbox_query all  = {.states = 0};
    must(pawl_store_outbox_find(store, &all, arena, &rows, world_error()));
    assert_true(number < rows.count);
    return &rows.items[number];
}

/* Rows behind `after` are blocked from now on. */
static void block(const char *source, int64_t after)
{
    MUST_COMMIT(store, outbox_block, NOW, .source = pawl_text_of(source), .after = after);
}

enum { NO_HOLD, HOLD, RELEASE };

/* The table of store_outbox.h: what becomes of a row, and of those behind it. */
static const struct settlement {
    pawl_attempt_outcome outcome;
    int32_t              attempts, before, limit; /* before the attempt; uncounted; the limit */
    pawl_outbox_state    state;
    pawl_attempt_outcome recorded;
    int                  hold;
} settlements[] = {
    {PAWL_ATTEMPT_SUCCESS, 0, 0, 3, PAWL_OUTBOX_DISPATCHED, PAWL_ATTEMPT_SUCCESS, NO_HOLD},
    {PAWL_ATTEMPT_SUCCESS, 1, 0, 3, PAWL_OUTBOX_DISPATCHED, PAWL_ATTEMPT_SUCCESS, RELEASE},
    {PAWL_ATTEMPT_SUCCESS, 9, 0, 3, PAWL_OUTBOX_DISPATCHED, PAWL_ATTEMPT_SUCCESS, RELEASE},
    {PAWL_ATTEMPT_REJECTED, 0, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_REJECTED, NO_HOLD},
    {PAWL_ATTEMPT_REJECTED, 1, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_REJECTED, RELEASE},
    {PAWL_ATTEMPT_POISON, 0, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, NO_HOLD},
    {PAWL_ATTEMPT_POISON, 1, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 0, 0, 3, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 1, 0, 3, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 2, 0, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 3, 1, 3, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 2, 1, 3, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 3, 3, 1, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE},
    {PAWL_ATTEMPT_TRANSIENT, 0, 0, 1, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, NO_HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 8, 0, 0, PAWL_OUTBOX_PENDING, PAWL_ATTEMPT_TRANSIENT, HOLD},
    {PAWL_ATTEMPT_TRANSIENT, 9, 0, 0, PAWL_OUTBOX_DEAD, PAWL_ATTEMPT_POISON, RELEASE}, /* O12 */
};

/* Settles the first of two rows; the second is blocked already if `is_blocked`. */
static void settle(const struct settlement *trial, const char *source, bool is_blocked)
{
    const pawl_outbox_result result = {.outcome      = trial->outcome,
                                       .error        = PAWL_TEXT("no line"),
                                       .duration     = 77,
                                       .next_attempt = NOW + 100,
                                       .attempts_max = trial->limit};
    pawl_attempt_rows        lines;
    bool is_held = is_blocked ? trial->hold != RELEASE : trial->hold == HOLD && *source != '\0';
    open_store();
    insert(1, source, "");
    insert(2, source, "");
    pawl_outbox_row row = *found(0);
    if (is_blocked)
        block(source, row.id);
    row.attempts        = trial->attempts;
    row.attempts_before = trial->before;
    must(pawl_store_outbox_settle(store, &row, &result, NOW, world_error()));
    assert_int_equal(row.state, trial->state);
    assert_int_equal(row.attempts, trial->attempts + 1);
    assert_int_equal(row.next_attempt, trial->state == PAWL_OUTBOX_PENDING ? NOW + 100 : NOW);
    assert_int_equal(found(0)->state, trial->state);
    assert_int_equal(found(0)->attempts, trial->attempts + 1);
    assert_int_equal(found(1)->state, is_held ? PAWL_OUTBOX_BLOCKED : PAWL_OUTBOX_PENDING);
    must(pawl_store_outbox_attempts(store, row.id, arena, &lines, world_error()));
    assert_int_equal(lines.count, 1);
    assert_int_equal(lines.items[0].outcome, trial->recorded);
    test_now(store);
    test_now(arena);
}

TEST(o12_an_attempt_settles_its_row)
{
    for (size_t i = 0; i < COUNT(settlements); i++) {
        settle(&settlements[i], "Order/1", false);
        settle(&settlements[i], "Order/1", true);
        settle(&settlements[i], "", false); /* nothing is ordered behind it */
    }
}

TEST(no_attempt_ends_otherwise)
{
    static const struct {
        int         outcome;
        int32_t     limit;
        pawl_time   next;
        const char *text;
    } cases[] = {
        {PAWL_ATTEMPT_POISON + 1, 1, NOW + 1, "outbox row 8: outcome 4 is unknown"},
        {-1, 1, NOW + 1, "outbox row 8: outcome -1 is unknown"},
        {PAWL_ATTEMPT_SUCCESS, -1, NOW + 1,
         "outbox row 8: the limit of attempts is -1, at least 1 is needed"},
        {PAWL_ATTEMPT_TRANSIENT, 5, NOW,
         "outbox row 8: the next attempt, 1767225600000000, is not after now, 1767225600000000"},
    };
    const pawl_outbox_row given = row_of(1, "Order/1", "");
    pawl_outbox_record    record;
    bool                  is_found;
    open_store();
    refused(pawl_store_outbox_get(store, PAWL_TEXT(""), PAWL_TEXT("m-1"), arena, &record, &is_found,
                                  &error),
            "outbox of a message: the endpoint is empty");
    refused(pawl_store_outbox_get(store, PAWL_TEXT("orders"), PAWL_TEXT(""), arena, &record,
                                  &is_found, &error),
            "outbox of a message: the message id is empty");
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_outbox_row          row    = given;
        const pawl_outbox_result result = {.outcome      = (pawl_attempt_outcome)cases[i].outcome,
                                           .attempts_max = cases[i].limit,
                                           .next_attempt = cases[i].next};
        refused(pawl_store_outbox_settle(store, &row, &result, NOW, &error), cases[i].text);
        assert_memory_equal(&row, &given, sizeof row);
    }
}

/* Brings row `number` of message "m-1" to a state; it was sent, or discarded, at the time. */
static void bring(uint8_t number, pawl_outbox_state state, pawl_time at)
{
    pawl_outbox_result result = {.outcome = PAWL_ATTEMPT_REJECTED};
    insert(number, "Order/1", "m-1");
    pawl_outbox_row *row = found(number);
    if (state == PAWL_OUTBOX_DISPATCHED)
        result.outcome = PAWL_ATTEMPT_SUCCESS;
    if (state == PAWL_OUTBOX_BLOCKED)
        block("Order/1", row->id - 1);
    else if (state != PAWL_OUTBOX_PENDING)
        must(pawl_store_outbox_settle(store, row, &result, at, world_error()));
    if (state == PAWL_OUTBOX_DISCARDED)
        must(pawl_store_outbox_discard(store, row->id, PAWL_TEXT(""), at, world_error()));
}

TEST(o24_an_outbox_is_what_is_left_to_send)
{
    static const struct {
        bool              is_known;
        size_t            count;
        pawl_outbox_state states[3];
        pawl_time         dispatched[3];
        bool              is_found;
        size_t            left;
        pawl_time         sent; /* the last of them */
    } cases[] = {
        {false, 0, {0}, {0}, false, 0, 0},
        {true, 0, {0}, {0}, true, 0, 0},
        {false, 1, {PAWL_OUTBOX_DISPATCHED}, {5}, false, 0, 0},
        {true, 1, {PAWL_OUTBOX_DISPATCHED}, {5}, true, 0, 5},
        {true, 2, {PAWL_OUTBOX_DISPATCHED, PAWL_OUTBOX_DISCARDED}, {5, 9}, true, 0, 9},
        {true, 2, {PAWL_OUTBOX_DISPATCHED, PAWL_OUTBOX_DISPATCHED}, {9, 5}, true, 0, 9},
        {true, 2, {PAWL_OUTBOX_DISPATCHED, PAWL_OUTBOX_PENDING}, {9, 0}, true, 1, 0},
        {false, 3, {PAWL_OUTBOX_PENDING, PAWL_OUTBOX_DEAD, PAWL_OUTBOX_BLOCKED}, {0}, true, 3, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_inbox_entry entry = {.endpoint = PAWL_TEXT("orders"), .message_id = PAWL_TEXT("m-1")};
        pawl_changes     changes = {ONE_UNIT, .now = NOW, .inbox_entry = {&entry, 1}};
        pawl_outbox_record record;
        bool               is_found;
        open_store();
        insert(100, "", "m-2"); /* of another message */
        if (cases[i].is_known)
            must(pawl_store_commit(store, &changes, NULL, world_error()));
        for (uint8_t j = 0; j < cases[i].count; j++)
            bring(j + 1, cases[i].states[j], cases[i].dispatched[j]);
        must(pawl_store_outbox_get(store, entry.endpoint, entry.message_id, arena, &record,
                                   &is_found, world_error()));
        assert_int_equal(is_found, cases[i].is_found);
        assert_int_equal(record.count, cases[i].left);
        assert_int_equal(record.dispatched, cases[i].sent);
        for (size_t j = 0; j < record.count; j++)
            assert_int_not_equal(record.operations[j].state, PAWL_OUTBOX_DISPATCHED);
        test_now(store);
        test_now(arena);
    }
}
