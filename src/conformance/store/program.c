/* program.c - several processes with one store: claims, sagas, streams, aggregators, schema creation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/process.h"

#include <stdlib.h>
#include <string.h>

/* ---- Queue -------------------------------------------------------------- */

#define SHARE (SUITE_COUNTS / SUITE_PROGRAMS)
#define TENURE 25
#define TRIES_MAX 20000

/* The number at the end of "m-17". */
static unsigned number_of(suite *s, pawl_text id)
{
    EXPECT(s, id.size > 2 && memcmp(id.data, "m-", 2) == 0);
    unsigned long number = strtoul(id.data + 2, NULL, 10);
    EXPECT(s, number < SUITE_COUNTS);
    return (unsigned)number;
}

/* If only one process at a time may claim from a queue, waits for its turn. */
static pawl_queue_rows claim_some(suite *s, pawl_store *store, size_t count_max)
{
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        pawl_queue_rows rows = suite_claim(s, store, TEXT("orders"), SUITE_NOW, count_max);
        if (rows.count > 0)
            return rows;
        EXPECT_OK(s, pawl_store_wait(store, 1000, -1, &s->error));
    }
    suite_fail(s, __FILE__, __LINE__,
               "no message could be claimed in %d tries, at least %zu are missing", TRIES_MAX,
               count_max);
}

static void settle_rows(suite *s, pawl_store *store, pawl_queue_rows rows, unsigned *counts)
{
    suite_set set = suite_changes(s);
    for (unsigned i = 0; i < rows.count; i++) {
        suite_unit(&set, i, i);
        ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
            .seq = rows.items[i].seq);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = rows.items[i].message.id,
            .at = SUITE_NOW);
    }
    COMMIT(&set, store);
    for (size_t i = 0; i < rows.count; i++)
        counts[number_of(s, rows.items[i].message.id)]++;
}

/* Settles its share of the rows, and gives up the queue now and then. */
static void settle_a_share(suite *s, unsigned index, unsigned *counts)
{
    (void)index;
    for (size_t done = 0; done < SHARE; done += TENURE) {
        pawl_store *store = suite_open(s);
        for (size_t left = TENURE; left > 0;) {
            pawl_arena_point start = pawl_arena_position(s->arena);
            pawl_queue_rows  rows  = claim_some(s, store, left < 4 ? left : 4);
            EXPECT(s, rows.count <= left);
            settle_rows(s, store, rows, counts);
            left -= rows.count;
            pawl_arena_rewind(s->arena, start);
        }
        suite_close(s, store);
    }
}

static void each_message_is_settled_by_one_of_several_processes(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    suite_need_programs(s);
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < SUITE_COUNTS; i++)
        ADD(&set, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW,
            .message = suite_message(s, suite_printf(s, "m-%u", i)));
    COMMIT(&set, a);
    suite_close(s, a);
    suite_run_programs(s, SUITE_PROGRAMS, settle_a_share, counts);
    suite_expect_each(s, counts, SUITE_COUNTS, 1);
    a = suite_open(s);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("orders")).count, 0);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).inbox, SUITE_COUNTS);
}

/* ---- Sagas -------------------------------------------------------------- */

#define SAGAS 20
#define WORKERS 2 /* in each process */
#define STEPS 15
#define TOGETHER 3 /* sagas in one group */
#define APPENDS 40 /* versions of a stream, from 1 */

static void begin_sagas(suite *s, unsigned index, unsigned *counts)
{
    pawl_store *store = suite_open(s);
    for (unsigned round = 0; round < s->rounds; round++) {
        pawl_refusals refused;
        suite_set     set = suite_changes(s);
        ADD(&set, saga_insert, .table = s->tables[SUITE_ORDER],
            .id   = suite_saga_id(1000 * (index + 1) + round),
            .main = pawl_value_text(suite_printf(s, "order-%u", round)), .metadata = TEXT("{}"),
            .data = TEXT("{}"), .type_version = TEXT("1.0"));
        EXPECT_OK(s, suite_try(&set, store, &refused));
        EXPECT(s, refused.count <= 1);
        if (refused.count == 0)
            counts[round]++;
        else
            EXPECT_EQ(s, refused.items[0].reason, PAWL_EDUPLICATE);
    }
}

static void of_processes_that_insert_one_correlation_value_one_creates_the_saga(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    suite_need_programs(s);
    suite_run_programs(s, SUITE_PROGRAMS, begin_sagas, counts);
    suite_expect_each(s, counts, s->rounds, 1);
    EXPECT_EQ(s, suite_saga_count(s, suite_open(s), SUITE_ORDER), s->rounds);
}

/* Appends one event and its dispatch at each version of a stream. */
static void append_events(suite *s, unsigned index, unsigned *counts)
{
    pawl_store *store = suite_open(s);
    for (unsigned i = 1; i < APPENDS; i++) {
        pawl_text     id  = suite_printf(s, "m-%u", index);
        suite_set     set = suite_changes(s);
        pawl_refusals refused;
        ADD(&set, event_append, .stream = TEXT("Account/1"), .version = i, .is_first = true,
            .event = suite_event(s, id));
        ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(1000 * (index + 1) + i),
            .source = TEXT("Account/1"), .version = i, .endpoint = TEXT("suite"),
            .destination = TEXT("billing"), .message = suite_message(s, id), .at = SUITE_NOW);
        EXPECT_OK(s, suite_try(&set, store, &refused));
        counts[i] += refused.count == 0;
        if (refused.count > 0)
            EXPECT_EQ(s, refused.items[0].reason, PAWL_ECONFLICT);
    }
}

static void of_processes_that_append_at_one_version_exactly_one_succeeds(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    suite_need_programs(s);
    suite_run_programs(s, SUITE_PROGRAMS, append_events, counts);
    suite_expect_each(s, counts + 1, APPENDS - 1, 1);
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, suite_stream(s, a, TEXT("Account/1"), 0).count, APPENDS - 1);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).count, APPENDS - 1);
}

static int64_t count_in(suite *s, pawl_text data)
{
    size_t at = 0;
    while (at < data.size && (data.data[at] < '0' || data.data[at] > '9'))
        at++;
    EXPECT(s, at < data.size);
    return strtoll(data.data + at, NULL, 10);
}

/* Increments three sagas or none: false after a conflict. */
static bool raise_three(suite *s, pawl_store *store, unsigned first)
{
    pawl_refusals refused;
    suite_set     set = suite_changes(s);
    for (unsigned i = 0; i < TOGETHER; i++) {
        pawl_saga_row row = suite_load_id(s, store, SUITE_ORDER, 1 + (first + 7 * i) % SAGAS);
        EXPECT(s, row.version > 0);
        ADD(&set, saga_update, .table = s->tables[SUITE_ORDER], .id = row.id,
            .version = row.version, .row = row.row, .metadata = TEXT("{}"),
            .data         = suite_printf(s, "{\"n\":%d}", (int)count_in(s, row.data) + 1),
            .type_version = TEXT("1.0"));
    }
    EXPECT_OK(s, suite_try(&set, store, &refused));
    for (size_t i = 0; i < refused.count; i++)
        EXPECT_EQ(s, refused.items[i].reason, PAWL_ECONFLICT);
    return refused.count == 0;
}

/* The three sagas are named in an order that depends on the first: workers that locked rows in that order would
 * deadlock. */
static void raise_some(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    for (unsigned step = 0; step < STEPS; step++) {
        pawl_arena_point start = pawl_arena_position(s->arena);
        unsigned         first = (unsigned)pawl_random_below(&s->random, SAGAS);
        unsigned         tries = 0;
        while (!raise_three(s, store, first))
            EXPECT(s, tries++ < TRIES_MAX);
        pawl_arena_rewind(s->arena, start);
    }
}

static void raise_with_threads(suite *s, unsigned index, unsigned *counts)
{
    (void)index;
    (void)counts;
    suite_threads(s, WORKERS, raise_some, NULL);
}

static void no_saga_update_of_concurrent_processes_is_lost(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    int64_t  total = 0, versions = 0;
    suite_need_programs(s);
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= SAGAS; i++)
        COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(i),
                   .main = pawl_value_text(suite_printf(s, "order-%u", i)), .metadata = TEXT("{}"),
                   .data = TEXT("{\"n\":0}"), .type_version = TEXT("1.0"));
    suite_close(s, a);
    suite_run_programs(s, SUITE_PROGRAMS, raise_with_threads, counts);
    a = suite_open(s);
    for (unsigned i = 1; i <= SAGAS; i++) {
        pawl_saga_row row = suite_load_id(s, a, SUITE_ORDER, i);
        total += count_in(s, row.data);
        versions += row.version - 1;
    }
    EXPECT_EQ(s, total, SUITE_PROGRAMS * WORKERS * STEPS * TOGETHER);
    EXPECT_EQ(s, versions, SUITE_PROGRAMS * WORKERS * STEPS * TOGETHER);
}

/* ---- Aggregators and timeouts ------------------------------------------- */

#define BILLS TEXT("Bills")

static void add_bills(suite *s, unsigned index, unsigned *counts)
{
    pawl_store *store = suite_open(s);
    (void)counts;
    for (unsigned i = 0; i < s->rounds; i++) {
        suite_set set    = suite_changes(s);
        pawl_text own    = suite_printf(s, "own-%u-%u", index, i);
        pawl_text shared = suite_printf(s, "shared-%u", i);
        ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = own,
            .message = suite_message(s, own), .at = SUITE_NOW, .due = SUITE_NOW);
        ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = shared,
            .message = suite_message(s, shared), .at = SUITE_NOW, .due = SUITE_NOW);
        COMMIT(&set, store);
    }
}

static void processes_that_add_one_key_to_an_aggregator_store_one_message(suite *s)
{
    unsigned        counts[SUITE_COUNTS];
    pawl_flush_rows flushes = {0};
    suite_need_programs(s);
    suite_run_programs(s, SUITE_PROGRAMS, add_bills, counts);
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, (SUITE_PROGRAMS + 1) * s->rounds);
    READ_ROWS(s, pawl_store_flush_list(a, BILLS, SUITE_NOW, 9, s->arena, &flushes, &s->error),
              flushes);
    EXPECT_EQ(s, flushes.count, 1);
}

#define TIES 30

/* Inserts rows with the same time, three in each commit, with keys in random order. */
static void add_ties(suite *s, unsigned index, unsigned *counts)
{
    pawl_store *store = suite_open(s);
    (void)counts;
    for (unsigned i = 0; i < TIES; i += 3) {
        suite_set set = suite_changes(s);
        for (unsigned j = i; j < i + 3; j++) {
            pawl_text key = suite_printf(s, "%02u-%u", j * 7 % TIES, index);
            ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = key,
                .message = suite_message(s, key), .at = SUITE_NOW, .due = PAWL_TIME_MAX);
        }
        COMMIT(&set, store);
    }
}

/* The order between processes is free, but each process's rows keep the order of insertion, and all handles find the
 * same order. */
static void messages_added_by_several_processes_have_one_order_for_all_readers(suite *s)
{
    unsigned counts[SUITE_COUNTS], found[SUITE_PROGRAMS] = {0};
    suite_need_programs(s);
    suite_run_programs(s, SUITE_PROGRAMS, add_ties, counts);
    pawl_store       *a = suite_open(s), *b = suite_open(s);
    pawl_leased_batch first = suite_rows(s, a, BILLS);
    EXPECT_EQ(s, first.count, SUITE_PROGRAMS * TIES);
    for (size_t i = 0; i < first.count; i++) {
        pawl_text key   = first.items[i].key;
        unsigned  index = (unsigned)(key.data[key.size - 1] - '0');
        EXPECT(s, index < SUITE_PROGRAMS);
        EXPECT_TEXT(s, key, suite_printf(s, "%02u-%u", found[index]++ * 7 % TIES, index));
    }
    for (unsigned i = 0; i < 3; i++) {
        pawl_leased_batch again = i < 2 ? suite_rows(s, i == 0 ? a : b, BILLS)
                                        : suite_snapshot_of(s, b, BILLS, 70, SUITE_NOW);
        EXPECT_EQ(s, again.count, first.count);
        for (size_t j = 0; j < again.count; j++)
            EXPECT_TEXT(s, again.items[j].key, first.items[j].key);
    }
}

/* Claims until none is left, and only then removes: timeouts that it left would be free again when its worker ends. */
static void handle_timeouts(suite *s, unsigned index, unsigned *counts)
{
    pawl_store *store   = suite_open(s);
    suite_set   set     = suite_changes(s);
    unsigned    session = 100 * (index + 1);
    for (;;) {
        pawl_timeout_rows rows = suite_claim_timeouts(s, store, session, SUITE_NOW, 5);
        if (rows.count == 0)
            break;
        for (size_t i = 0; i < rows.count; i++) {
            const uint8_t *bytes  = rows.items[i].id.uuid.bytes;
            unsigned       number = bytes[14] * 256u + bytes[15];
            EXPECT(s, number < SUITE_COUNTS && counts[number] == 0);
            counts[number]++;
            ADD(&set, timeout_settle, .action = PAWL_TIMEOUT_REMOVE, .id = rows.items[i].id,
                .has_owner = true, .owner = suite_session_id(session),
                .generation = rows.items[i].generation);
        }
    }
    COMMIT(&set, store);
}

static void each_timeout_is_claimed_by_one_of_several_processes(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    suite_need_programs(s);
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 1; i < SUITE_COUNTS; i++)
        ADD(&set, timeout_set, .id = suite_timeout_id(i), .destination = TEXT("orders"),
            .due = SUITE_NOW - i);
    COMMIT(&set, a);
    suite_close(s, a);
    suite_run_programs(s, SUITE_PROGRAMS, handle_timeouts, counts);
    suite_expect_each(s, counts + 1, SUITE_COUNTS - 1, 1);
    EXPECT_EQ(s, suite_timeouts(s, suite_open(s)).count, 0);
}

/* ---- Installing --------------------------------------------------------- */

#define INSTALLS 4

static void ignore_line(pawl_text line, void *context)
{
    (void)line;
    (void)context;
}

static pawl_code run_schema(suite *s, pawl_schema_verb verb)
{
    suite_tables tables;
    suite_tables_make(&tables, s->address);
    return pawl_store_schema(s->address->url, verb, &tables.spec, ignore_line, NULL, &s->error);
}

static void install(suite *s, unsigned index, unsigned *counts)
{
    (void)index;
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_APPLY));
    counts[0]++;
}

/* Each round has a new prefix, so nothing exists yet. */
static void processes_that_create_the_tables_at_the_same_time_all_succeed(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    suite_need_programs(s);
    for (unsigned i = 0; i < INSTALLS; i++) {
        EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_DROP));
        EXPECT_CODE(s, run_schema(s, PAWL_SCHEMA_VERIFY), PAWL_ESCHEMA);
        suite_run_programs(s, i % 2 == 0 ? 2 : SUITE_PROGRAMS, install, counts);
        EXPECT_EQ(s, counts[0], i % 2 == 0 ? 2 : SUITE_PROGRAMS);
        EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_VERIFY));
    }
}

static void creating_tables_again_keeps_all_data_and_dropping_twice_is_no_error(suite *s)
{
    unsigned counts[SUITE_COUNTS];
    suite_need_programs(s);
    pawl_store *a = suite_open(s);
    suite_insert_order(s, a, 1, "order-1");
    suite_close(s, a);
    suite_run_programs(s, 2, install, counts);
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_VERIFY));
    a = suite_open(s);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 1);
    suite_close(s, a);
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_DROP));
    EXPECT_CODE(s, run_schema(s, PAWL_SCHEMA_VERIFY), PAWL_ESCHEMA);
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_DROP));
}

static void count_line(pawl_text line, void *context)
{
    (void)line;
    ++*(size_t *)context;
}

/* The number of lines that the verb prints. */
static size_t lines_of(suite *s, pawl_schema_verb verb, pawl_code code)
{
    size_t       count = 0;
    suite_tables tables;
    suite_tables_make(&tables, s->address);
    EXPECT_CODE(
        s, pawl_store_schema(s->address->url, verb, &tables.spec, count_line, &count, &s->error),
        code);
    return count;
}

static void a_plan_lists_what_would_create_the_tables_and_creates_nothing(suite *s)
{
    suite_tables tables;
    suite_tables_make(&tables, s->address);
    if (pawl_store_schema(s->address->url, PAWL_SCHEMA_PLAN, &tables.spec, ignore_line, NULL,
                          &s->error) == PAWL_EUNSUPPORTED)
        suite_not_applicable(s, "the driver cannot list what creating the tables would run");
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_APPLY));
    EXPECT_EQ(s, lines_of(s, PAWL_SCHEMA_PLAN, PAWL_OK), 0);
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_DROP));
    size_t missing = lines_of(s, PAWL_SCHEMA_VERIFY, PAWL_ESCHEMA);
    size_t count   = lines_of(s, PAWL_SCHEMA_PLAN, PAWL_OK);
    EXPECT(s, count > missing);
    EXPECT_EQ(s, lines_of(s, PAWL_SCHEMA_VERIFY, PAWL_ESCHEMA), missing);
    EXPECT_EQ(s, lines_of(s, PAWL_SCHEMA_PLAN, PAWL_OK), count);
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_APPLY));
    EXPECT_OK(s, run_schema(s, PAWL_SCHEMA_VERIFY));
    EXPECT_EQ(s, lines_of(s, PAWL_SCHEMA_PLAN, PAWL_OK), 0);
}

static const suite_case cases[] = {
    {"E27 T7 each message is settled by one of several processes",
     each_message_is_settled_by_one_of_several_processes},
    {"S10 E7 of processes that insert one correlation value one creates the saga",
     of_processes_that_insert_one_correlation_value_one_creates_the_saga},
    {"O4 O3 of processes that append at one version exactly one succeeds",
     of_processes_that_append_at_one_version_exactly_one_succeeds},
    {"S9 no saga update of concurrent processes is lost",
     no_saga_update_of_concurrent_processes_is_lost},
    {"A2 A25 processes that add one key to an aggregator store one message",
     processes_that_add_one_key_to_an_aggregator_store_one_message},
    {"A8 messages added by several processes have one order for all readers",
     messages_added_by_several_processes_have_one_order_for_all_readers},
    {"T7 each timeout is claimed by one of several processes",
     each_timeout_is_claimed_by_one_of_several_processes},
    {"D34 D26 processes that create the tables at the same time all succeed",
     processes_that_create_the_tables_at_the_same_time_all_succeed},
    {"D26 creating tables again keeps all data, and dropping twice is no error",
     creating_tables_again_keeps_all_data_and_dropping_twice_is_no_error},
    {"D34 a plan lists what would create the tables, and creates nothing",
     a_plan_lists_what_would_create_the_tables_and_creates_nothing},
};

const suite_cases cases_program = SUITE_CASES("process", cases);
