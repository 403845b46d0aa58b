/* test_mongodb_state.c - the state of sagas as a sub-document: what another program wrote there, and what JSON has no form
 * for, survives a load and a save.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "pawl/store_saga.h"

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

/* A document as another program may have written it: it is loaded, changed in another member, and saved. */
ON_FIXTURE(members_that_json_does_not_know_survive_a_load_and_a_save, fixture *p)
{
    pawl_store *store   = open_worker(p, p->url);
    uint8_t     who[16] = {1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16};
    pawl_uuid   id      = id_of(7);
    bson_t     *insert  = BCON_NEW(
             "insert", "shop_Order", "documents", "[", "{", "_id",
             BCON_BIN(BSON_SUBTYPE_UUID, id.bytes, 16), "version", BCON_INT64(1), "correlation", "{",
             "order_id", "o-7", "}", "metadata", "{", "}", "data", "{", "order_id", "o-7", "when",
             BCON_DATE_TIME(1767225600123), "who", BCON_BIN(BSON_SUBTYPE_UUID, who, 16), "small",
             BCON_INT32(7), "inner", "{", "list", "[", BCON_DATE_TIME(5), "]", "}", "}", "}", "]");
    bson_t reply;
    assert_true(raw_try(p->raw, p->database, insert, NULL, &reply));
    bson_destroy(&reply);
    pawl_saga_row row;
    ok(p, pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN, pawl_value_text(TEXT("o-7")),
                               p->arena, &row, &p->error));
    assert_int_equal(row.presence, PAWL_SAGA_THERE);
    /* A member is added behind the first brace; the others stay as they came. */
    assert_true(row.data.size != 0 && row.data.data[0] == '{');
    row.data =
        pawl_text_of(test_text("{\"steps\":1,%.*s", (int)row.data.size - 1, row.data.data + 1));
    ok(p, pawl_store_saga_update(store, &order_table, &row, NOW, &p->error));
    assert_int_equal(member(p, "shop_Order", "data.steps"), 1);
    assert_int_equal(type_of(p, "shop_Order", "data.when"), BSON_TYPE_DATE_TIME);
    assert_int_equal(type_of(p, "shop_Order", "data.inner.list.0"), BSON_TYPE_DATE_TIME);
    assert_int_equal(type_of(p, "shop_Order", "data.who"), BSON_TYPE_BINARY);
    bson_t *same =
        BCON_NEW("count", "shop_Order", "query", "{", "data.when", BCON_DATE_TIME(1767225600123),
                 "data.who", BCON_BIN(BSON_SUBTYPE_UUID, who, 16), "data.small", BCON_INT64(7),
                 "data.inner.list", BCON_DATE_TIME(5), "}");
    assert_int_equal(raw_number(p->raw, p->database, same, "n"), 1);
}

/* Unlike a command's, the documents of a bulk are not checked where it is told so. */
static void insert_bytes(const fixture *p, bson_t *document)
{
    bson_error_t         why;
    bson_t              *options = BCON_NEW("validate", BCON_BOOL(false));
    mongoc_collection_t *at      = mongoc_client_get_collection(p->raw, p->database, "shop_Order");
    if (!mongoc_collection_insert_one(at, document, options, NULL, &why))
        fail_msg("%s", why.message);
    mongoc_collection_destroy(at);
    bson_destroy(options);
    bson_destroy(document);
}

static void expect_note(const fixture *p, const char *text)
{
    bson_t      reply;
    bson_iter_t at, found;
    assert_true(raw_try(p->raw, p->database, BCON_NEW("find", "shop_Order"), NULL, &reply));
    assert_true(bson_iter_init(&at, &reply) &&
                bson_iter_find_descendant(&at, "cursor.firstBatch.0.data.note", &found));
    assert_string_equal(bson_iter_utf8(&found, NULL), text);
    bson_destroy(&reply);
}

/* Drivers write bytes without a check, and the server keeps them. */
ON_FIXTURE(a_string_that_is_no_utf8_survives_a_load_and_a_save, fixture *p)
{
    pawl_store   *store = open_worker(p, p->url);
    pawl_uuid     id    = id_of(7);
    pawl_saga_row row;
    insert_bytes(p, BCON_NEW("_id", BCON_BIN(BSON_SUBTYPE_UUID, id.bytes, 16), "version",
                             BCON_INT64(1), "correlation", "{", "order_id", "o-7", "}", "data", "{",
                             "note", "caf\xe9", "}"));
    ok(p, pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN, pawl_value_text(TEXT("o-7")),
                               p->arena, &row, &p->error));
    row.data =
        pawl_text_of(test_text("{\"steps\":1,%.*s", (int)row.data.size - 1, row.data.data + 1));
    ok(p, pawl_store_saga_update(store, &order_table, &row, NOW, &p->error));
    assert_int_equal(member(p, "shop_Order", "data.steps"), 1);
    assert_int_equal(type_of(p, "shop_Order", "data.note"), BSON_TYPE_UTF8);
    expect_note(p, "caf\xe9");
}

/* A name that is none leaves the other sagas of the collection readable. */
ON_FIXTURE(a_member_whose_name_is_no_utf8_is_no_shortage_of_memory, fixture *p)
{
    pawl_store   *store = open_worker(p, p->url);
    pawl_uuid     id    = id_of(7);
    pawl_saga_row row;
    insert_bytes(p, BCON_NEW("_id", BCON_BIN(BSON_SUBTYPE_UUID, id.bytes, 16), "version",
                             BCON_INT64(1), "correlation", "{", "order_id", "o-7", "}", "data", "{",
                             "caf\xe9", "x", "}"));
    ok(p, pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN, pawl_value_text(TEXT("o-7")),
                               p->arena, &row, &p->error));
    assert_true(pawl_text_equal(row.data, TEXT("{\"caf\xe9\":\"x\"}")));
}

/* Without a member's name that MongoDB 4.4 refuses; what an older pawl wrote is still a number. */
ON_FIXTURE(numbers_beyond_64_bits_survive_a_load_and_a_save, fixture *p)
{
    static const char state[] =
        "{\"n\":[18446744073709551615,-9223372036854775809,-1e400,12345678901234567.89,1e-400,"
        "0.30000000000000004,0.0,0.1]}";
    pawl_store   *store = open_worker(p, p->url);
    pawl_saga_row row = {.main = pawl_value_text(TEXT("o-1")), .data = pawl_text_of(state)}, found;
    bson_t        reply;
    ok(p, pawl_store_saga_insert(store, &order_table, &row, NOW, &p->error));
    assert_int_equal(type_of(p, "shop_Order", "data.n.0"), BSON_TYPE_CODE);
    assert_int_equal(type_of(p, "shop_Order", "data.n.3"), BSON_TYPE_CODE);
    assert_int_equal(type_of(p, "shop_Order", "data.n.5"), BSON_TYPE_DOUBLE);
    assert_int_equal(type_of(p, "shop_Order", "data.n.6"), BSON_TYPE_DOUBLE);
    ok(p, pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN, row.main, p->arena, &found,
                               &p->error));
    assert_true(pawl_text_equal(found.data, row.data));
    assert_true(
        raw_try(p->raw, p->database,
                json("{\"update\": \"shop_Order\", \"updates\": [{\"q\": {}, \"u\": {\"$set\": "
                     "{\"data\": {\"n\": {\"$number\": \"18446744073709551616\"}, "
                     "\"c\": {\"$code\": \"5\"}}}}}]}"),
                NULL, &reply));
    bson_destroy(&reply);
    ok(p, pawl_store_saga_find(store, &order_table, PAWL_SAGA_BY_MAIN, row.main, p->arena, &found,
                               &p->error));
    assert_non_null(strstr(found.data.data, "{\"n\":18446744073709551616,"));
    ok(p, pawl_store_saga_update(store, &order_table, &found, NOW, &p->error));
    assert_int_equal(type_of(p, "shop_Order", "data.n"), BSON_TYPE_CODE);
    assert_int_equal(type_of(p, "shop_Order", "data.c"), BSON_TYPE_CODE);
}
