/* fuzz_mongo.c - documents as a server of MongoDB's protocol sends them: rows of every noun, and states of sagas.
 *
 * Input: the document without its size, which is put before it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "store/mongo/template.h"

#include <string.h>

#define SIZE_MAX_OF_DOCUMENT ((size_t)1024 * 1024)

static const pawl__field_list saga_fields =
    PAWL__FIELDS(PAWL__AS(saga_row, id, UUID), PAWL__AS(saga_row, version, INT),
                 PAWL__AS(saga_row, metadata, JSON), PAWL__AS(saga_row, data, JSON),
                 PAWL__AS(saga_row, type_version, TEXT));

static const pawl__mongo_table tables[] = {
    PAWL__MONGO_TABLE("queue", "seq", pawl__queue_row_fields, pawl_queue_row),
    PAWL__MONGO_TABLE("dead", NULL, pawl__dead_row_fields, pawl_dead_row),
    PAWL__MONGO_TABLE("timeouts", "id", pawl__timeout_row_fields, pawl_timeout_row),
    PAWL__MONGO_TABLE("outbox", "id", pawl__outbox_row_fields, pawl_outbox_row),
    PAWL__MONGO_TABLE("outbox", NULL, pawl__attempt_row_fields, pawl_attempt_row),
    PAWL__MONGO_TABLE("events", "seq", pawl__event_row_fields, pawl_event_row),
    PAWL__MONGO_TABLE("aggregator", "id", pawl__aggregator_row_fields, pawl_aggregator_row),
    PAWL__MONGO_TABLE("aggregator_flush", "partition", pawl__flush_row_fields, pawl_flush_row),
    PAWL__MONGO_TABLE("history", "id", pawl__history_row_fields, pawl_history_row),
    PAWL__MONGO_TABLE(NULL, "id", saga_fields, pawl_saga_row),
};

/* The state as it is loaded after a save; data NULL: it cannot be saved. */
static pawl_text saved(pawl_text state, pawl_arena *arena)
{
    bson_t      made = BSON_INITIALIZER;
    bson_iter_t at;
    pawl_text   loaded = {.data = NULL, .size = 0};
    if (pawl__mongo_put_json(&made, "data", -1, state)) {
        FUZZ_CHECK(bson_iter_init_find(&at, &made, "data"));
        loaded = pawl__mongo_get_json(&at, arena);
        FUZZ_CHECK(loaded.data != NULL && fuzz_is_json(loaded));
    }
    bson_destroy(&made);
    return loaded;
}

/* A state that was loaded once is the same after each save: a number of another program may be cut the first time. */
static void check_state(pawl_text state, pawl_arena *arena)
{
    pawl_text first = saved(state, arena);
    if (first.data != NULL)
        FUZZ_CHECK(pawl_text_equal(first, saved(first, arena)));
}

static void check_states(const bson_t *document, pawl_arena *arena)
{
    bson_iter_t at;
    bool        is_there = bson_iter_init(&at, document);
    while (is_there && bson_iter_next(&at)) {
        pawl_text state = pawl__mongo_get_json(&at, arena);
        if (state.data == NULL || !pawl_text_is_valid(state, NULL)) /* a name that is not UTF-8 */
            continue;
        FUZZ_CHECK(fuzz_is_json(state));
        check_state(state, arena);
    }
}

static void check_document(const bson_t *document, pawl_arena *arena)
{
    int64_t integer;
    bson_t  found;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        (void)pawl__mongo_decode(document, &tables[i], arena,
                                 pawl_arena_take(arena, tables[i].row_size));
    (void)pawl__mongo_get_int(document, "version", &integer);
    (void)pawl__mongo_get_text(document, "name");
    pawl__mongo_part(document, "data", &found);
    check_states(document, arena);
}

/* The error of a handler has any bytes; the server takes UTF-8 alone. */
static void check_error_text(const uint8_t *data, size_t size)
{
    const pawl_text text = {.data = (const char *)data, .size = size};
    bson_t          made = BSON_INITIALIZER;
    bson_iter_t     at;
    uint32_t        put_size;
    FUZZ_CHECK(pawl__mongo_put_value(&made, "error", -1, PAWL__WIRE_ERROR_TEXT, &text));
    if (bson_iter_init_find(&at, &made, "error")) {
        const char *put = bson_iter_utf8(&at, &put_size);
        FUZZ_CHECK(put_size == size);
        FUZZ_CHECK(pawl_text_is_valid((pawl_text){.data = put, .size = put_size}, NULL));
    } else
        FUZZ_CHECK(size == 0);
    bson_destroy(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pawl_arena *arena = fuzz_arena();
    size_t      whole = size + 5;
    uint8_t    *bytes = pawl_arena_take(arena, whole);
    bson_t      document;
    FUZZ_CHECK(bytes != NULL);
    if (size > 0 && size < SIZE_MAX_OF_DOCUMENT)
        memcpy(bytes + 4, data, size);
    for (size_t i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(whole >> (8 * i));
    if (bson_init_static(&document, bytes, whole))
        check_document(&document, arena);
    if (size < SIZE_MAX_OF_DOCUMENT)
        check_error_text(data, size);
    pawl_arena_destroy(arena);
    return 0;
}
