/* test_mongodb_rules.c - the rules of MongoDB's providers, looked at in the documents: M2, M4, M5, M6, M7, M10.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "contract/at_once.h"

#include "pawl/pawl.h"
#include "pawl/store_aggregator.h"
#include "pawl/store_calls.h"
#include "pawl/store_saga.h"
#include "pawl/store_timeout.h"

#define FIVE_MINUTES INT64_C(300000000)

/* In a process of its own. */
static pawl_code open_own(const char *url, pawl_store **store, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CREATE;
    options.tables             = order_tables;
    options.table_count        = 1;
    return pawl_store_open(url, &options, store, error);
}

static pawl_uuid id_of(uint8_t number)
{
    pawl_uuid made = {.bytes = {0x01, 0x99, 0, 0, 0, 0, 0x40, 0, 0x80}};
    made.bytes[15] = number;
    return made;
}

/* The number at the path of the first document of the collection. */
static int64_t member(const fixture *p, const char *collection, const char *path)
{
    return raw_number(p->raw, p->database, BCON_NEW("find", collection),
                      test_text("cursor.firstBatch.0.%s", path));
}

static int64_t documents(const fixture *p, const char *collection)
{
    return raw_number(p->raw, p->database, BCON_NEW("count", collection), "n");
}

/* The BSON type of that member. */
static bson_type_t type_of(const fixture *p, const char *collection, const char *path)
{
    bson_t      reply;
    bson_iter_t at, found;
    const char *full = test_text("cursor.firstBatch.0.%s", path);
    assert_true(raw_try(p->raw, p->database, BCON_NEW("find", collection), NULL, &reply));
    bool is_there    = bson_iter_init(&at, &reply) && bson_iter_find_descendant(&at, full, &found);
    bson_type_t type = is_there ? bson_iter_type(&found) : BSON_TYPE_EOD;
    bson_destroy(&reply);
    return type;
}

/* ---- Indexes -------------------------------------------------------------- */

static pawl_code open_and_close(void *context, pawl_error *error)
{
    pawl_store *store = NULL;
    pawl_code   code  = open_own(context, &store, error);
    if (code == PAWL_OK)
        pawl_store_close(store);
    return code;
}

/* A unique index stands on the path of the value, whoever was first, and no second one. */
ON_FIXTURE(m2_processes_make_the_indexes_at_once, fixture *p)
{
    bson_t      reply;
    bson_iter_t at, list, index;
    int         unique = 0;
    run_at_once(open_and_close, p->url);
    run_at_once(open_and_close, p->url);
    assert_true(raw_try(p->raw, p->database, BCON_NEW("listIndexes", "shop_Order"), NULL, &reply));
    assert_true(bson_iter_init(&at, &reply));
    assert_true(bson_iter_find_descendant(&at, "cursor.firstBatch", &list));
    assert_true(bson_iter_recurse(&list, &index));
    while (bson_iter_next(&index)) {
        bson_iter_t of_index;
        assert_true(bson_iter_recurse(&index, &of_index));
        bool is_unique = bson_iter_find(&of_index, "unique") && bson_iter_as_bool(&of_index);
        assert_true(bson_iter_recurse(&index, &of_index));
        if (is_unique && bson_iter_find(&of_index, "key")) {
            bson_iter_t key;
            assert_true(bson_iter_recurse(&of_index, &key));
            unique += bson_iter_find(&key, "correlation.order_id");
        }
    }
    bson_destroy(&reply);
    assert_int_equal(unique, 1);
}

static pawl_refusals commit(fixture *p, pawl_store *store, pawl_changes *changes)
{
    pawl_refusals refused = {.arena = p->arena};
    changes->now          = NOW;
    changes->unit_count = changes->group_count = 1;
    ok(p, pawl_store_commit(store, changes, &refused, &p->error));
    return refused;
}

static pawl_aggregator_add delivery(const char *key, pawl_time at)
{
    return (pawl_aggregator_add){.name      = TEXT("sum"),
                                 .partition = TEXT("sum"),
                                 .key       = pawl_text_of(key),
                                 .message   = {.id             = pawl_text_of(key),
                                               .type           = TEXT("put"),
                                               .correlation_id = pawl_text_of(key),
                                               .body           = TEXT("{}")},
                                 .at        = at,
                                 .due       = PAWL_TIME_MAX};
}

static void add(fixture *p, pawl_store *store, const char *key, pawl_time at)
{
    pawl_aggregator_add one     = delivery(key, at);
    pawl_changes        changes = {.aggregator_add = {.items = &one, .count = 1}};
    assert_int_equal(commit(p, store, &changes).count, 0);
}

/* The index refuses what the store takes for done; of a saga it is a duplicate. */
ON_FIXTURE(m10_a_second_insert_is_known_and_a_second_saga_is_refused, fixture *p)
{
    pawl_store   *store = open_worker(p, p->url);
    bson_t        reply;
    pawl_saga_row first = {.main = pawl_value_text(TEXT("o-1"))}, second = first;
    add(p, store, "k-1", NOW);
    add(p, store, "k-1", NOW + 1);
    assert_int_equal(documents(p, "pawl_aggregator"), 1);
    assert_int_equal(member(p, "pawl_aggregator", "at"), NOW);
    assert_int_equal(type_of(p, "pawl_aggregator", "due"), BSON_TYPE_EOD); /* is the flush's */
    assert_true(raw_try(
        p->raw, p->database,
        json(
            "{\"insert\": \"pawl_aggregator\", \"documents\": [{\"_id\": 99, \"partition\": \"sum\", "
            "\"key\": \"k-1\", \"name\": \"sum\", \"message_id\": \"m\", \"type\": \"t\", \"at\": 1}]}"),
        NULL, &reply));
    bson_iter_t at, code;
    assert_true(bson_iter_init(&at, &reply) &&
                bson_iter_find_descendant(&at, "writeErrors.0.code", &code));
    assert_int_equal(bson_iter_as_int64(&code), 11000);
    bson_destroy(&reply);
    ok(p, pawl_store_saga_insert(store, &order_table, &first, NOW, &p->error));
    assert_int_equal(pawl_store_saga_insert(store, &order_table, &second, NOW, &p->error),
                     PAWL_EDUPLICATE);
    assert_int_equal(documents(p, "shop_Order"), 1);
}

/* ---- Sagas ---------------------------------------------------------------- */

ON_FIXTURE(m4_an_update_finds_id_and_version_and_leaves_the_id, fixture *p)
{
    pawl_store   *store = open_worker(p, p->url);
    pawl_saga_row row   = {.id = {id_of(1)}, .main = pawl_value_text(TEXT("o-1"))};
    row.data            = TEXT("{\"n\":1}");
    ok(p, pawl_store_saga_insert(store, &order_table, &row, NOW, &p->error));
    pawl_saga_row stale = row;
    row.data            = TEXT("{\"n\":2}");
    ok(p, pawl_store_saga_update(store, &order_table, &row, NOW, &p->error));
    stale.data = TEXT("{\"n\":3}");
    assert_int_equal(pawl_store_saga_update(store, &order_table, &stale, NOW, &p->error),
                     PAWL_ECONFLICT);
    assert_int_equal(stale.version, 1);
    pawl_saga_row elsewhere = row;
    elsewhere.id            = (pawl_saga_id){id_of(2)};
    assert_int_equal(pawl_store_saga_update(store, &order_table, &elsewhere, NOW, &p->error),
                     PAWL_ECONFLICT);
    assert_int_equal(documents(p, "shop_Order"), 1);
    assert_int_equal(member(p, "shop_Order", "data.n"), 2);
    assert_int_equal(member(p, "shop_Order", "version"), 2);
    pawl_saga_row found;
    ok(p, pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_ID, pawl_value_uuid(id_of(1)),
                               p->arena, &found, &p->error));
    assert_int_equal(found.presence, PAWL_SAGA_THERE);
}

/* Another program may have written what JSON calls a number in 32 bits. */
ON_FIXTURE(a_number_is_found_whatever_its_width, fixture *p)
{
    static const pawl_saga_table table = {
        .type = PAWL_TEXT_INIT("Invoice"),
        .name = PAWL_TEXT_INIT("shop_Invoice"),
        .main = {.property = PAWL_TEXT_INIT("number"), .type = PAWL_VALUE_INT}};
    pawl_store *store = open_worker(p, p->url);
    pawl_uuid   id    = id_of(8);
    bson_t     *insert =
        BCON_NEW("insert", "shop_Invoice", "documents", "[", "{", "_id",
                 BCON_BIN(BSON_SUBTYPE_UUID, id.bytes, 16), "version", BCON_INT32(1), "correlation",
                 "{", "number", BCON_INT32(7), "}", "data", "{", "}", "}", "]");
    bson_t        reply;
    pawl_saga_row row;
    assert_true(raw_try(p->raw, p->database, insert, NULL, &reply));
    bson_destroy(&reply);
    ok(p, pawl_store_saga_find(store, &table, PAWL_SAGA_BY_MAIN, pawl_value_integer(7), p->arena,
                               &row, &p->error));
    assert_int_equal(row.presence, PAWL_SAGA_THERE);
    assert_int_equal(row.version, 1);
    assert_int_equal(row.main.as.integer, 7);
}

/* ---- Aggregators ---------------------------------------------------------- */

static pawl_aggregator_leased_batch leased(fixture *p, pawl_store *store, pawl_time now)
{
    static const pawl_text               types[] = {PAWL_TEXT_INIT("put")};
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    pawl_aggregator_leased_batch         leased  = {.count = 0};
    options.partition                            = TEXT("sum");
    options.types                                = types;
    options.type_count                           = 1;
    ok(p, pawl_store_aggregator_leased_batch(store, &options, now, p->arena, &leased, &p->error));
    return leased;
}

ON_FIXTURE(m5_rows_come_in_order_and_a_release_is_of_one_session, fixture *p)
{
    pawl_store *store = open_worker(p, p->url);
    add(p, store, "late", NOW + 1);
    add(p, store, "first", NOW);
    add(p, store, "second", NOW);
    pawl_aggregator_leased_batch all = leased(p, store, NOW);
    assert_int_equal(all.count, 3);
    assert_true(pawl_text_equal(all.rows[0].key, TEXT("first")));
    assert_true(pawl_text_equal(all.rows[1].key, TEXT("second")));
    assert_true(pawl_text_equal(all.rows[2].key, TEXT("late")));
    assert_int_equal(type_of(p, "pawl_aggregator", "at"), BSON_TYPE_INT64);
    assert_int_equal(member(p, "pawl_aggregator", "lease_expires"), NOW + FIVE_MINUTES);
    add(p, store, "other", NOW + 2);
    pawl_aggregator_leased_batch other = leased(p, store, NOW);
    assert_int_equal(other.count, 1);
    ok(p, pawl_store_aggregator_release_leased_batch(store, &all, NOW, &p->error));
    assert_int_equal(leased(p, store, NOW).count, 3); /* not the one of `other` */
    assert_int_equal(leased(p, store, NOW + FIVE_MINUTES - 1).count, 0);
    assert_int_equal(leased(p, store, NOW + FIVE_MINUTES).count, 4);
}

/* ---- Timeouts ------------------------------------------------------------- */

#define TIMEOUTS 1100 /* more than the cap */

static void set_timeouts(fixture *p, pawl_store *store)
{
    static pawl_timeout_set sets[TIMEOUTS];
    for (int i = 0; i < TIMEOUTS; i++) {
        pawl_uuid id  = id_of((uint8_t)i);
        id.bytes[14]  = (uint8_t)(i >> 8);
        sets[i]       = (pawl_timeout_set){.id = {id}, .destination = TEXT("orders"), .due = NOW};
        sets[i].group = 0;
        sets[i].saga_type = TEXT("Order");
    }
    pawl_changes changes = {.timeout_set = {.items = sets, .count = TIMEOUTS}};
    assert_int_equal(commit(p, store, &changes).count, 0);
}

static size_t batch(fixture *p, pawl_store *store, uint8_t owner, int64_t size, pawl_time now)
{
    pawl_timeout_batch_options options = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    pawl_timeout_rows          rows    = {.count = 0};
    options.owner                      = (pawl_session_id){id_of(owner)};
    if (size != 0)
        options.size = size;
    ok(p, pawl_store_timeout_batch(store, &options, now, p->arena, &rows, &p->error));
    for (size_t i = 0; i < rows.count; i++)
        assert_true(pawl_uuid_compare(rows.items[i].owner.uuid, id_of(owner)) == 0);
    return rows.count;
}

static pawl_code take_some(void *context, pawl_error *error)
{
    pawl_store                *store   = NULL;
    pawl_arena                *arena   = pawl_arena_create(0);
    pawl_timeout_batch_options options = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    pawl_timeout_rows          rows    = {.count = 0};
    options.owner                      = (pawl_session_id){id_of((uint8_t)getpid())};
    options.size                       = 100;
    pawl_code code                     = open_own(context, &store, error);
    for (int i = 0; code == PAWL_OK && i < 2; i++)
        code = pawl_store_timeout_batch(store, &options, NOW, arena, &rows, error);
    if (code == PAWL_OK)
        pawl_store_close(store);
    pawl_arena_destroy(arena);
    return code;
}

ON_FIXTURE(m7_batches_have_a_cap_and_reaping_is_one_update, fixture *p)
{
    pawl_store *store = open_worker(p, p->url);
    int64_t     count = 0;
    set_timeouts(p, store);
    assert_int_equal(batch(p, store, 1, 0, NOW), 1000);
    assert_int_equal(batch(p, store, 2, 0, NOW), TIMEOUTS - 1000);
    assert_int_equal(batch(p, store, 3, 0, NOW), 0);
    ok(p, pawl_store_timeout_reap(store, NOW + FIVE_MINUTES - 1, &count, &p->error));
    assert_int_equal(count, 0);
    fault_on(p, "\"alwaysOn\"",
             "\"failCommands\": [\"update\", \"find\", \"aggregate\"]"); /* counts */
    ok(p, pawl_store_timeout_reap(store, NOW + FIVE_MINUTES, &count, &p->error));
    assert_int_equal(fault_off(p), 1);
    assert_int_equal(count, TIMEOUTS);
}

/* Each document has one owner, and all that were taken are different ones. */
ON_FIXTURE(m7_claims_at_once_take_each_timeout_once, fixture *p)
{
    pawl_store *store = open_worker(p, p->url);
    bson_t     *owned = BCON_NEW("count", "pawl_timeouts", "query", "{", "owner", "{", "$exists",
                                 BCON_BOOL(true), "}", "}");
    set_timeouts(p, store);
    run_at_once(take_some, p->url);
    int64_t taken = raw_number(p->raw, p->database, owned, "n");
    assert_in_range(taken, 200, 800);
    assert_int_equal(batch(p, store, 1, TIMEOUTS, NOW), TIMEOUTS - taken);
}

/* ---- Errors --------------------------------------------------------------- */

ON_FIXTURE(m6_what_the_server_does_not_understand_is_persistence_with_its_cause, fixture *p)
{
    pawl_store   *store = open_worker(p, p->url);
    pawl_saga_row row;
    fault_on(p, "\"alwaysOn\"", "\"failCommands\": [\"find\", \"insert\"], \"errorCode\": 22");
    pawl_code code = pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN,
                                          pawl_value_text(TEXT("o-1")), p->arena, &row, &p->error);
    assert_int_equal(code, PAWL_EPERSIST);
    assert_non_null(strstr(p->error.text, "Failing command via 'failCommand' failpoint: find"));
    row  = (pawl_saga_row){.main = pawl_value_text(TEXT("o-1"))};
    code = pawl_store_saga_insert(store, &order_table, &row, NOW, &p->error);
    assert_int_equal(code, PAWL_EPERSIST);
    assert_non_null(strstr(p->error.text, "failpoint: insert"));
    assert_int_equal(fault_off(p), 2);
    assert_int_equal(documents(p, "shop_Order"), 0);
}

/* The code for a find whose answer is the number, with a label where one is given. */
static void expect_for(fixture *p, pawl_store *store, int number, const char *labels,
                       pawl_code expected)
{
    pawl_saga_row row;
    fault_on(p, "\"alwaysOn\"",
             test_text("\"failCommands\": [\"find\"], \"errorLabels\": [%s], \"errorCode\": %d",
                       labels, number));
    pawl_code code = pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN,
                                          pawl_value_text(TEXT("o-1")), p->arena, &row, &p->error);
    assert_true(fault_off(p) > 0);
    if (code != expected)
        fail_msg("%d is %s", number, pawl_code_name(code));
    assert_non_null(strstr(p->error.text, "failpoint: find"));
}

/* The network between a router and its shards, too: "connection lost" is tried again, unlike other failures. */
ON_FIXTURE(m6_a_lost_server_is_told_from_what_it_does_not_understand, fixture *p)
{
    static const int codes[] = {6, 7, 89, 91, 133, 134, 189, 202, 9001, 10107, 11600, 11601, 11602};
    pawl_store      *store   = open_worker(p, p->url);
    for (size_t i = 0; i < COUNT(codes); i++)
        expect_for(p, store, codes[i], "", PAWL_ELOST);
}

/* A server that is short of something, or that an operator or an election interrupts, is waited for; what it will say in
 * other versions is told by its labels. A write that no majority has yet may be there: no code that says it is not. */
ON_FIXTURE(m6_what_passes_is_waited_for, fixture *p)
{
    static const struct {
        int         number;
        const char *labels;
        pawl_code   code;
    } codes[]         = {{24, "", PAWL_EBUSY},
                         {43, "", PAWL_EBUSY},
                         {46, "", PAWL_EBUSY},
                         {365, "", PAWL_EBUSY},
                         {50, "", PAWL_ETIMEOUT},
                         {290, "", PAWL_ETIMEOUT},
                         {64, "", PAWL_EUNREACHABLE},
                         {4711, "\"RetryableWriteError\"", PAWL_ELOST},
                         {4711, "\"TransientTransactionError\"", PAWL_EBUSY},
                         {4711, "\"NoWritesPerformed\"", PAWL_EPERSIST}};
    pawl_store *store = open_worker(p, p->url);
    for (size_t i = 0; i < COUNT(codes); i++)
        expect_for(p, store, codes[i].number, codes[i].labels, codes[i].code);
}

/* The message is to blame, not the worker: a document is over a limit, or has what this server's version or a validator
 * of somebody else refuses. */
ON_FIXTURE(m6_a_document_that_the_server_refuses_is_told_from_a_failure, fixture *p)
{
    static const struct {
        int       number;
        pawl_code code;
    } codes[]         = {{52, PAWL_EINVAL},
                         {121, PAWL_EINVAL},
                         {10334, PAWL_ELIMIT},
                         {17419, PAWL_ELIMIT},
                         {17420, PAWL_ELIMIT}};
    pawl_store *store = open_worker(p, p->url);
    for (size_t i = 0; i < COUNT(codes); i++) {
        pawl_saga_row row = {.main = pawl_value_text(TEXT("o-1"))};
        fault_on(p, "\"alwaysOn\"",
                 test_text("\"failCommands\": [\"insert\"], \"errorCode\": %d", codes[i].number));
        pawl_code code = pawl_store_saga_insert(store, &order_table, &row, NOW, &p->error);
        assert_int_equal(fault_off(p), 1);
        if (code != codes[i].code)
            fail_msg("%d is %s", codes[i].number, pawl_code_name(code));
    }
}

/* Whether it is the document that is inserted, or what an update makes of one: larger than MongoDB's 16 MB. */
ON_FIXTURE(m6_a_state_that_is_too_large_is_refused_by_its_limit, fixture *p)
{
    const size_t  size  = 16 * 1024 * 1024 - 50;
    pawl_store   *store = open_worker(p, p->url);
    char         *text  = malloc(size);
    pawl_saga_row row   = {.main = pawl_value_text(TEXT("o-1")), .data = TEXT("{}")};
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + size - 2, "\"}", 2);
    ok(p, pawl_store_saga_insert(store, &order_table, &row, NOW, &p->error));
    row.data = (pawl_text){.data = text, .size = size};
    expect_code(p, pawl_store_saga_update(store, &order_table, &row, NOW, &p->error), PAWL_ELIMIT);
    row.main = pawl_value_text(TEXT("o-2"));
    row.id   = (pawl_saga_id){id_of(9)};
    expect_code(p, pawl_store_saga_insert(store, &order_table, &row, NOW, &p->error), PAWL_ELIMIT);
    free(text);
    assert_int_equal(documents(p, "shop_Order"), 1);
    assert_int_equal(member(p, "shop_Order", "version"), 1);
}

/* A state with so many objects, each in the one before; the outermost stands in the document's own. */
static pawl_text nested(char *text, size_t levels)
{
    char *at = text;
    for (size_t i = 1; i < levels; i++)
        at = stpcpy(at, "{\"a\":");
    at = stpcpy(at, "{");
    memset(at, '}', levels);
    at[levels] = '\0';
    return pawl_text_of(text);
}

ON_FIXTURE(m6_a_state_that_nests_too_deeply_is_refused_by_its_limit, fixture *p)
{
    pawl_store *store = open_worker(p, p->url);
    char        text[1000];
    for (size_t levels = 99; levels <= 100; levels++) {
        pawl_queue_send  send    = {.queue = TEXT("orders"), .message = {.id = TEXT("m-1")}};
        pawl_saga_insert insert  = {.table        = &order_table,
                                    .id           = {id_of((uint8_t)levels)},
                                    .main         = pawl_value_text(TEXT("o-1")),
                                    .metadata     = TEXT("{}"),
                                    .data         = nested(text, levels),
                                    .type_version = TEXT("1.0")};
        pawl_changes     changes = {.now = NOW,
                                    ONE_UNIT,
                                    .queue_send  = {.items = &send, .count = 1},
                                    .saga_insert = {.items = &insert, .count = 1}};
        pawl_refusals    refused = {.arena = p->arena};
        send.message.type        = TEXT("put");
        send.message.id          = levels < 100 ? TEXT("m-1") : TEXT("m-2");
        insert.main              = pawl_value_text(levels < 100 ? TEXT("o-1") : TEXT("o-2"));
        pawl_code code           = pawl_store_commit(store, &changes, &refused, &p->error);
        assert_int_equal(code, levels < 100 ? PAWL_OK : PAWL_EINVAL);
        assert_int_equal(refused.count, 0);
    }
    assert_non_null(strstr(p->error.text, "saga_insert"));
    assert_non_null(strstr(p->error.text, "limits are 16 MB and 100 levels"));
    assert_int_equal(documents(p, "shop_Order"), 1);
    assert_int_equal(raw_number(p->raw, p->database, BCON_NEW("count", "pawl_queue"), "n"), 1);
    pawl_saga_row row;
    ok(p, pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN, pawl_value_text(TEXT("o-1")),
                               p->arena, &row, &p->error));
    assert_true(pawl_text_equal(row.data, nested(text, 99)));
}
