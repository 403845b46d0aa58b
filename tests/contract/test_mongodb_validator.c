/* test_mongodb_validator.c - validators of the collections, and what somebody took away: told by verify, mended by apply.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "contract/at_once.h"

static const pawl_saga_table order = {
    .type = PAWL_TEXT_INIT("Order"),
    .name = PAWL_TEXT_INIT("shop_Order"),
    .main = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT}};
static const pawl_saga_table *const tables[] = {&order};
static const pawl_schema_spec       spec     = {.tables = tables, .table_count = 1};

static void open_as(fixture *p, pawl_open_mode mode)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = mode;
    options.tables             = tables;
    options.table_count        = 1;
    if (fixture_open(p, p->url, &options, &store) != PAWL_OK)
        fail_msg("%s", p->error.text);
    test_now(store);
}

static void run(const fixture *p, const char *command)
{
    assert_int_equal(raw_number(p->raw, p->database, json(command), "ok"), 1);
}

/* MongoDB's error of a document that a validator refuses; -1: it was taken. */
static int64_t insert(const fixture *p, const char *collection, const char *document)
{
    return raw_number(
        p->raw, p->database,
        json(test_text("{\"insert\": \"%s\", \"documents\": [%s]}", collection, document)),
        "writeErrors.0.code");
}

static test_lines verify(fixture *p, pawl_code expected)
{
    test_lines t   = {.count = 0};
    pawl_code code = pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, test_line, &t, &p->error);
    if (code != expected)
        fail_msg("is %s: %s", pawl_code_name(code), p->error.text);
    return t;
}

static pawl_code apply(fixture *p)
{
    test_lines t = {.count = 0};
    return pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, test_line, &t, &p->error);
}

static void make(fixture *p)
{
    if (apply(p) != PAWL_OK)
        fail_msg("%s", p->error.text);
}

#define MESSAGE \
    "\"queue\": \"q\", \"due\": 1, \"attempts\": 0, \"message_id\": \"m\", \"type\": \"t\""

ON_FIXTURE(documents_of_another_shape_are_refused, fixture *p)
{
    make(p);
    assert_int_equal(insert(p, "pawl_queue", "{\"_id\": 1, " MESSAGE "}"), -1);
    assert_int_equal(insert(p, "pawl_queue", "{\"_id\": 2, \"queue\": \"q\"}"), 121);
    assert_int_equal(insert(p, "pawl_inbox", "{\"_id\": 1, \"at\": \"now\"}"), 121);
    assert_int_equal(insert(p, "pawl_aggregator_flush",
                            "{\"_id\": \"p\", \"due\": 1, \"attempts\": 0, \"is_dead\": 0}"),
                     121);
    assert_int_equal(insert(p, "shop_Order", "{\"_id\": 1, \"version\": \"1\"}"), 121);
}

/* A newer pawl writes more members, a body is bytes as well, and the state of a saga is the program's. */
ON_FIXTURE(whatever_else_a_document_has_is_free, fixture *p)
{
    make(p);
    assert_int_equal(insert(p, "pawl_queue",
                            "{\"_id\": 1, " MESSAGE ", \"urgency\": {\"x\": [1]}, \"body\": "
                            "{\"$binary\": {\"base64\": \"AP8=\", \"subType\": \"00\"}}}"),
                     -1);
    assert_int_equal(insert(p, "shop_Order",
                            "{\"_id\": 1, \"version\": 1, \"data\": [1], \"metadata\": 7, "
                            "\"seen_by\": {\"$date\": 1}}"),
                     -1);
    assert_int_equal(insert(p, "pawl_workers", "{\"_id\": 1}"), -1);
}

ON_FIXTURE(verify_names_them_and_apply_sets_them, fixture *p)
{
    make(p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
    run(p, "{\"collMod\": \"pawl_outbox\", \"validator\": {}}");
    run(p, "{\"collMod\": \"shop_Order\", \"validator\": {\"version\": {\"$gt\": 0}}}");
    test_lines t = verify(p, PAWL_OK);
    assert_int_equal(t.count, 1);
    assert_non_null(strstr(t.text, "warning: without pawl's validator, "));
    assert_non_null(strstr(t.text, ": pawl_outbox, shop_Order; "));
    open_as(p, PAWL_OPEN_CHECK); /* has no need of them, and may have no right */
    make(p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
    assert_int_equal(insert(p, "shop_Order", "{\"_id\": 1, \"version\": \"1\"}"), 121);
}

/* Marks say that they were made. */
ON_FIXTURE(verify_names_what_was_dropped_and_apply_makes_it, fixture *p)
{
    make(p);
    run(p, "{\"dropIndexes\": \"pawl_queue\", \"index\": \"queue_message_id\"}");
    run(p, "{\"dropIndexes\": \"shop_Order\", \"index\": \"correlation.order_id\"}");
    run(p, "{\"dropIndexes\": \"pawl_dead\", \"index\": \"at_endpoint_message_id\"}");
    run(p, "{\"drop\": \"pawl_outbox\"}");
    run(p, "{\"collMod\": \"pawl_inbox\", \"validator\": {}}");
    test_lines t = verify(p, PAWL_ESCHEMA);
    assert_int_equal(t.count, 5);
    assert_non_null(strstr(t.text, ": pawl_inbox; "));
    assert_non_null(strstr(p->error.text, "pawl schema apply"));
    assert_non_null(strstr(t.text, "collection pawl_dead lacks its index at_endpoint_message_id"));
    assert_non_null(strstr(t.text, "collection pawl_queue lacks its index queue_message_id"));
    assert_non_null(strstr(t.text, "collection shop_Order lacks its index correlation.order_id"));
    assert_non_null(strstr(t.text, "collection pawl_outbox is missing"));
    make(p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
}

static void change_index(const fixture *p, const char *collection, const char *name,
                         const char *index)
{
    run(p, test_text("{\"dropIndexes\": \"%s\", \"index\": \"%s\"}", collection, name));
    run(p, test_text("{\"createIndexes\": \"%s\", \"indexes\": [{\"name\": \"%s\", %s}]}",
                     collection, name, index));
}

/* As a copy by hand leaves them: without `unique` a message would be sent twice. */
ON_FIXTURE(verify_names_an_index_that_differs_and_apply_leaves_it, fixture *p)
{
    make(p);
    change_index(p, "pawl_queue", "queue_message_id", "\"key\": {\"queue\": 1, \"message_id\": 1}");
    change_index(p, "pawl_queue", "claimed_by", "\"key\": {\"claimed_by\": 1}");
    change_index(p, "pawl_inbox", "at", "\"key\": {\"at\": -1}");
    change_index(p, "pawl_dead", "queue_at", "\"key\": {\"at\": 1, \"queue\": 1}");
    change_index(p, "pawl_outbox", "ended", "\"key\": {\"ended\": 1.0}, \"sparse\": true");
    test_lines t = verify(p, PAWL_ESCHEMA);
    assert_int_equal(t.count, 4);
    assert_non_null(
        strstr(t.text, "collection pawl_queue: its index queue_message_id has another"));
    assert_non_null(strstr(t.text, "collection pawl_queue: its index claimed_by has another"));
    assert_non_null(strstr(t.text, "collection pawl_inbox: its index at has another"));
    assert_non_null(strstr(t.text, "collection pawl_dead: its index queue_at has another"));
    for (int conflict = 85; conflict <= 86; conflict++) {
        fault_on(p, "\"alwaysOn\"",
                 test_text("\"failCommands\": [\"createIndexes\"], \"errorCode\": %d", conflict));
        assert_int_equal(apply(p), PAWL_ESCHEMA);
        assert_int_equal(fault_off(p), 1);
    }
    run(p, "{\"dropIndexes\": \"pawl_queue\", \"index\": [\"queue_message_id\", \"claimed_by\"]}");
    run(p, "{\"dropIndexes\": \"pawl_inbox\", \"index\": \"at\"}");
    run(p, "{\"dropIndexes\": \"pawl_dead\", \"index\": \"queue_at\"}");
    make(p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
}

ON_FIXTURE(a_purge_is_refused_and_told_by_hand, fixture *p)
{
    pawl_schema_spec purge = spec;
    purge.is_purge         = true;
    make(p);
    expect_code(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &purge, NULL, NULL, &p->error),
                PAWL_EUNSUPPORTED);
    assert_non_null(strstr(p->error.text, "dropIndex(\"correlation."));
}

static pawl_code apply_in_child(void *context, pawl_error *error)
{
    fixture  *p    = context;
    pawl_code code = apply(p);
    *error         = p->error;
    return code;
}

ON_FIXTURE(processes_apply_at_once_and_again, fixture *p)
{
    run_at_once(apply_in_child, p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
    run(p, "{\"collMod\": \"pawl_outbox\", \"validator\": {}}");
    run_at_once(apply_in_child, p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
}

#define COMMANDS                                                                                     \
    "\"failCommands\": [\"create\", \"createIndexes\", \"collMod\", \"listCollections\", \"find\", " \
    "\"update\", \"findAndModify\"], \"closeConnection\": true"

/* Every fifth of its commands in turn, or its answer: what is there is then made whole by another one. */
ON_FIXTURE(a_lost_command_of_apply_leaves_what_the_next_one_mends, fixture *p)
{
    int64_t struck = 1;
    int     losses = 0;
    for (int i = 0; struck != 0; i += 5, losses++) {
        bson_t reply;
        assert_true(raw_try(p->raw, p->database, json("{\"dropDatabase\": 1}"), NULL, &reply));
        bson_destroy(&reply);
        fault_on(p, test_text("{\"skip\": %d, \"times\": 1}", i),
                 i % 2 == 0 ? COMMANDS : COMMANDS ", \"afterwards\": true");
        pawl_code code = apply(p);
        struck         = fault_off(p);
        if (code != PAWL_OK && code != PAWL_ELOST)
            fail_msg("%d: %s: %s", i, pawl_code_name(code), p->error.text);
        if (code != PAWL_OK)
            make(p);
        assert_int_equal(verify(p, PAWL_OK).count, 0);
    }
    assert_true(losses > 8);
}

/* More of others than one answer holds. */
ON_FIXTURE(verify_finds_its_collections_among_others, fixture *p)
{
    for (int i = 0; i < 110; i++)
        assert_int_equal(
            raw_number(p->raw, p->database, BCON_NEW("create", test_text("a%03d", i)), "ok"), 1);
    make(p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
}

ON_FIXTURE(who_may_set_none_is_told_of_which, fixture *p)
{
    make(p);
    run(p, "{\"collMod\": \"pawl_outbox\", \"validator\": {}}");
    fault_on(p, "\"alwaysOn\"", "\"failCommands\": [\"collMod\"], \"errorCode\": 13");
    assert_int_equal(apply(p), PAWL_EDENIED);
    assert_int_equal(fault_off(p), 1);
    assert_non_null(strstr(p->error.text, "validator of collection pawl_outbox"));
}

/* An open may not have the right, and sets none. */
ON_FIXTURE(an_open_makes_collections_without, fixture *p)
{
    fault_on(p, "\"alwaysOn\"",
             "\"failCommands\": [\"collMod\", \"listCollections\"], \"errorCode\": 13");
    open_as(p, PAWL_OPEN_CREATE);
    open_as(p, PAWL_OPEN_CREATE);
    assert_int_equal(fault_off(p), 0);
    test_lines t = verify(p, PAWL_OK);
    assert_int_equal(t.count, 1);
    assert_non_null(strstr(t.text, "pawl_queue, "));
    assert_non_null(strstr(t.text, ", shop_Order; "));
    assert_null(strstr(t.text, "pawl_workers"));
    make(p);
    assert_int_equal(verify(p, PAWL_OK).count, 0);
}

/* ---- What pawl writes ----------------------------------------------------- */

#define ONE(kind, ...) .kind = {.items = (pawl_##kind[]){{__VA_ARGS__}}, .count = 1}
#define A_MESSAGE .message = {.id = TEXT("m-1"), .type = TEXT("t")}

static void commit(fixture *p, pawl_store *store, pawl_changes *changes)
{
    pawl_refusals refused = {.arena = p->arena};
    changes->now          = NOW;
    changes->unit_count = changes->group_count = 1;
    if (pawl_store_commit(store, changes, &refused, &p->error) != PAWL_OK || refused.count != 0)
        fail_msg("%s", p->error.text);
}

/* No validator would refuse a document that is there; so many collections have both. */
static void expect_fits(const fixture *p, size_t collections)
{
    bson_error_t       why;
    size_t             found    = 0;
    const bson_t      *info     = NULL;
    mongoc_database_t *database = mongoc_client_get_database(p->raw, p->database);
    mongoc_cursor_t   *listed   = mongoc_database_find_collections_with_opts(database, NULL);
    while (mongoc_cursor_next(listed, &info)) {
        bson_iter_t    at, name, rule;
        const uint8_t *data = NULL;
        uint32_t       size = 0;
        bson_t         validator;
        assert_true(bson_iter_init_find(&name, info, "name") && bson_iter_init(&at, info));
        if (!bson_iter_find_descendant(&at, "options.validator", &rule))
            continue;
        bson_iter_document(&rule, &size, &data);
        assert_true(bson_init_static(&validator, data, size));
        mongoc_collection_t *of =
            mongoc_database_get_collection(database, bson_iter_utf8(&name, NULL));
        bson_t *not_so = BCON_NEW("$nor", "[", BCON_DOCUMENT(&validator), "]");
        int64_t count  = mongoc_collection_count_documents(of, not_so, NULL, NULL, NULL, &why);
        if (count != 0)
            fail_msg("%s: %lld: %s", bson_iter_utf8(&name, NULL), (long long)count, why.message);
        bson_destroy(not_so);
        bson_t all = BSON_INITIALIZER;
        found += mongoc_collection_count_documents(of, &all, NULL, NULL, NULL, &why) > 0;
        mongoc_collection_destroy(of);
    }
    mongoc_cursor_destroy(listed);
    mongoc_database_destroy(database);
    assert_int_equal(found, collections);
}
ON_FIXTURE(pawl_writes_what_its_validators_ask_for, fixture *p)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    pawl_saga_id       saga    = {.uuid = {.bytes = {7}}};
    pawl_timeout_id    timeout = {.uuid = {.bytes = {8}}};
    make(p);
    options.tables      = tables;
    options.table_count = 1;
    if (fixture_open(p, p->url, &options, &store) != PAWL_OK ||
        pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    pawl_changes set = {
        ONE(queue_send, .queue = TEXT("orders"), .due = NOW, A_MESSAGE),
        ONE(inbox_entry, .endpoint = TEXT("orders"), .message_id = TEXT("m-0"), .at = NOW),
        ONE(saga_insert, .table = &order, .id = saga, .metadata = TEXT("{}"), .data = TEXT("{}"),
            .main = pawl_value_text(TEXT("o-1"))),
        ONE(event_append, .stream = TEXT("Order/1"), .version = 1, .is_first = true,
            .event = {.type = TEXT("Placed"), .type_version = 1, .at = NOW}),
        ONE(timeout_set, .id = timeout, .destination = TEXT("orders"), .due = NOW, .is_new = true),
        ONE(outbox_add, .dispatch_id = {.uuid = {.bytes = {9}}}, .destination = TEXT("far"),
            .at = NOW, A_MESSAGE),
        ONE(stream_snapshot_set, .stream = TEXT("Order/1"), .version = 1, .type_version = 1,
            .state = TEXT("{}"), .dispatches = TEXT("{}"), .at = NOW),
        ONE(aggregator_add, .name = TEXT("sum"), .partition = TEXT("sum"), .key = TEXT("k"),
            .at = NOW, .due = NOW, A_MESSAGE),
        ONE(dead_set, .endpoint = TEXT("orders"), .at = NOW, .message = {.id = TEXT("m-2")}),
        ONE(subscription_set, .type = TEXT("t"), .queue = TEXT("orders")),
        ONE(history_add, .entry = {.endpoint = TEXT("orders"),
                                   .kind     = TEXT("message"),
                                   .outcome  = TEXT("handled"),
                                   .at       = NOW}),
    };
    commit(p, store, &set);
    pawl_queue_claim asked = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 1};
    pawl_queue_rows  rows  = {.count = 0};
    assert_int_equal(pawl_store_queue_claim(store, &asked, p->arena, &rows, &p->error), PAWL_OK);
    assert_int_equal(rows.count, 1);
    pawl_changes more = {
        ONE(queue_settle, .seq = rows.items[0].seq, .action = PAWL_QUEUE_RETRY,
            .queue = TEXT("orders"), .due = NOW, .attempts = 1, .error = TEXT("e")),
        ONE(saga_update, .table = &order, .id = saga, .version = 1, .metadata = TEXT("{}"),
            .data = TEXT("{}")),
        ONE(timeout_set, .id = timeout, .destination = TEXT("orders"), .due = NOW + 1),
        ONE(stream_snapshot_set, .stream = TEXT("Order/1"), .version = 2, .type_version = 1,
            .state = TEXT("{}"), .dispatches = TEXT("{}"), .at = NOW),
        ONE(flush_set, .partition = TEXT("sum"), .due = NOW, .attempts = 1, .is_dead = true),
    };
    expect_fits(p, 12); /* all that have a validator, the saga's among them */
    commit(p, store, &more);
    expect_fits(p, 12);
}
