/* outbox.c - messages that leave the store.
 *
 *     {_id: number, dispatch_id: UUID, source, version, index, endpoint, destination, message_id, ...,
 *      due, state, attempts, next_attempt, at, ended, attempts_before, tries: [{outcome, ...}]}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#include <stdio.h>

static const char *const states[]   = {"pending", "held", "dispatched", "dead", "discarded", NULL};
static const char *const outcomes[] = {"success", "rejected",  "transient", "poison",
                                       "enabled", "discarded", NULL};

#define ROW(member, key, type) PAWL__MONGO_FIELD(pawl_outbox_row, member, key, type)
static const pawl__mongo_field fields[] = {
    ROW(dispatched, "ended", INT), /* no member of a row that is not */
    ROW(id, "_id", INT),
    ROW(dispatch_id, "dispatch_id", UUID),
    ROW(source, "source", TEXT),
    ROW(version, "version", INT),
    ROW(index, "index", INT32),
    ROW(endpoint, "endpoint", TEXT),
    ROW(destination, "destination", TEXT),
    PAWL__MONGO_MESSAGE(pawl_outbox_row, message),
    ROW(due, "due", INT),
    {"state", offsetof(pawl_outbox_row, state), PAWL__MONGO_WORD, states},
    ROW(attempts, "attempts", INT32),
    ROW(next_attempt, "next_attempt", INT),
    ROW(at, "at", INT),
    ROW(attempts_before, "attempts_before", INT32),
    PAWL__MONGO_END,
};
#define INSERTED (fields + 1)

#define TRY(member, key, type) PAWL__MONGO_FIELD(pawl_attempt_row, member, key, type)
static const pawl__mongo_field try_fields[] = {
    {"outcome", offsetof(pawl_attempt_row, outcome), PAWL__MONGO_WORD, outcomes},
    TRY(error, "error", TEXT),
    TRY(at, "at", INT),
    TRY(duration, "duration", INT),
    PAWL__MONGO_END,
};

static pawl_code read_rows(pawl_store *store, const pawl__mongo_find *find, pawl_arena *arena,
                           pawl__mongo_rows *rows, pawl_error *error)
{
    return pawl__mongo_read(store, find, fields, sizeof(pawl_outbox_row), arena, rows, error);
}

static void put_state(bson_t *filter, pawl_outbox_state state)
{
    pawl__mongo_put_text(filter, "state", pawl_text_of(states[state]));
}

/* ---- Claims -------------------------------------------------------------- */

static void put_due(bson_t *filter, pawl_time now)
{
    put_state(filter, PAWL_OUTBOX_PENDING);
    pawl__mongo_put_op(filter, "next_attempt", "$lte", now);
}

/* The rows that are due first by their ids, without their messages. */
static pawl_code find_due(pawl_store *store, pawl_text endpoint, pawl_time now, size_t count_max,
                          pawl_arena *arena, pawl__mongo_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "outbox",
                                     .filter     = &filter,
                                     .sort       = "_id",
                                     .only       = "_id,source,version,index",
                                     .limit      = (int64_t)count_max};
    put_due(&filter, now);
    if (endpoint.size != 0)
        pawl__mongo_put_text(&filter, "endpoint", endpoint);
    pawl_code code = read_rows(store, &find, arena, rows, error);
    bson_destroy(&filter);
    return code;
}

static bool is_behind(const pawl_outbox_row *left, const pawl_outbox_row *right)
{
    return left->version != right->version ? left->version > right->version
                                           : left->index > right->index;
}

/* {source: s, "$or": [{version: {"$lt": v}}, {version: v, index: {"$lte": i}}]}: up to the last one found. */
static void put_source(bson_t *either, unsigned number, const pawl_outbox_row *last)
{
    bson_t one, parts, part;
    char   key[16];
    (void)snprintf(key, sizeof key, "%u", number);
    (void)bson_append_document_begin(either, key, -1, &one);
    pawl__mongo_put_text(&one, "source", last->source);
    (void)bson_append_array_begin(&one, "$or", -1, &parts);
    (void)bson_append_document_begin(&parts, "0", 1, &part);
    pawl__mongo_put_op(&part, "version", "$lt", last->version);
    (void)bson_append_document_end(&parts, &part);
    (void)bson_append_document_begin(&parts, "1", 1, &part);
    pawl__mongo_put_int(&part, "version", last->version);
    pawl__mongo_put_op(&part, "index", "$lte", last->index);
    (void)bson_append_document_end(&parts, &part);
    (void)bson_append_array_end(&one, &parts);
    (void)bson_append_document_end(either, &one);
}

static void put_found(bson_t *filter, const pawl_outbox_row *rows, size_t count)
{
    bson_t           either, one;
    pawl__mongo_list ids;
    unsigned         number = 1;
    (void)bson_append_array_begin(filter, "$or", -1, &either);
    (void)bson_append_document_begin(&either, "0", 1, &one);
    pawl__mongo_list_begin(&one, "_id", "$in", &ids);
    for (size_t i = 0; i < count; i++)
        if (rows[i].source.size == 0)
            pawl__mongo_put_int(&ids.items, pawl__mongo_list_key(&ids), rows[i].id);
    pawl__mongo_list_end(&one, &ids);
    (void)bson_append_document_end(&either, &one);
    for (size_t i = 0; i < count; i++) {
        const pawl_outbox_row *last  = &rows[i];
        size_t                 first = 0;
        while (!pawl_text_equal(rows[first].source, rows[i].source))
            first++;
        for (size_t at = i; at < count; at++)
            if (pawl_text_equal(rows[at].source, rows[i].source) && is_behind(&rows[at], last))
                last = &rows[at];
        if (first == i && rows[i].source.size != 0)
            put_source(&either, number++, last);
    }
    (void)bson_append_array_end(filter, &either);
}

/* In the place of each row of a source: the first due one of it that was not handed out before, in the
 * order of versions; ids need not follow that. */
static void fill_places(pawl_outbox_row *places, size_t count, const pawl__mongo_rows *full,
                        bool *is_taken)
{
    const pawl_outbox_row *rows = full->items;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < full->count; at++) {
            bool is_one = places[i].source.size == 0
                              ? rows[at].id == places[i].id
                              : pawl_text_equal(rows[at].source, places[i].source);
            if (!is_one || is_taken[at])
                continue;
            is_taken[at] = true;
            places[i]    = rows[at];
            break;
        }
}

/* Of the rows that the claim did not return. */
static pawl_code find_next(pawl_store *store, pawl_text endpoint, const pawl_outbox_rows *rows,
                           pawl_time *next, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "outbox",
                                     .filter     = &filter,
                                     .sort       = "next_attempt,_id",
                                     .only       = "_id,next_attempt"};
    pawl_outbox_row        row    = {.next_attempt = PAWL_TIME_MAX};
    pawl__mongo_list       list;
    bool                   is_there;
    put_state(&filter, PAWL_OUTBOX_PENDING);
    if (endpoint.size != 0)
        pawl__mongo_put_text(&filter, "endpoint", endpoint);
    if (rows->count != 0) {
        pawl__mongo_list_begin(&filter, "_id", "$nin", &list);
        for (size_t i = 0; i < rows->count; i++)
            pawl__mongo_put_int(&list.items, pawl__mongo_list_key(&list), rows->items[i].id);
        pawl__mongo_list_end(&filter, &list);
    }
    pawl_code code = pawl__mongo_read_one(store, find, fields, NULL, &row, &is_there, error);
    *next          = row.next_attempt;
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                   size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                   pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER;
    pawl__mongo_rows found = {.count = 0}, full = {.count = 0};
    bool            *is_taken = NULL;
    pawl_code        code     = find_due(store, endpoint, now, count_max, arena, &found, error);
    if (code == PAWL_OK && found.count != 0) {
        const pawl__mongo_find find = {
            .collection = "outbox", .filter = &filter, .sort = "source,version,index,_id"};
        put_due(&filter, now);
        put_found(&filter, found.items, found.count);
        code     = read_rows(store, &find, arena, &full, error);
        is_taken = pawl_arena_take(arena, full.count + 1);
        if (code == PAWL_OK && is_taken == NULL)
            code = pawl__mongo_no_memory(error);
    }
    if (code == PAWL_OK && found.count != 0)
        fill_places(found.items, found.count, &full, is_taken);
    bson_destroy(&filter);
    rows->items = found.items;
    rows->count = found.count;
    return code == PAWL_OK ? find_next(store, endpoint, rows, &rows->next_attempt, error) : code;
}

/* ---- Reads --------------------------------------------------------------- */

pawl_code pawl__mongo_outbox_list(pawl_store *store, pawl_outbox_state state, size_t count_max,
                                  pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    const pawl_outbox_query query = {.states = 1u << state, .count_max = count_max};
    return pawl__mongo_outbox_find(store, &query, arena, rows, error);
}

static void put_like(bson_t *filter, const char *key, pawl_text text)
{
    if (text.size != 0)
        pawl__mongo_put_text(filter, key, text);
}

static void put_query(bson_t *filter, const pawl_outbox_query *query)
{
    pawl__mongo_list list;
    if (query->states != 0) {
        pawl__mongo_list_begin(filter, "state", "$in", &list);
        for (unsigned i = 0; states[i] != NULL; i++)
            if ((query->states & 1u << i) != 0)
                pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list),
                                     pawl_text_of(states[i]));
        pawl__mongo_list_end(filter, &list);
    }
    pawl__mongo_put_op(filter, "_id", "$gt", query->after);
    if (!pawl_uuid_is_zero(query->dispatch_id.uuid))
        pawl__mongo_put_uuid(filter, "dispatch_id", query->dispatch_id.uuid);
    put_like(filter, "endpoint", query->endpoint);
    put_like(filter, "source", query->source);
    put_like(filter, "destination", query->destination);
    put_like(filter, "type", query->message_type);
    put_like(filter, "causation_id", query->causation_id);
    if (query->attempts_min > 0)
        pawl__mongo_put_op(filter, "attempts", "$gte", query->attempts_min);
}

pawl_code pawl__mongo_outbox_find(pawl_store *store, const pawl_outbox_query *query,
                                  pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER, both, one;
    const pawl__mongo_find find   = {.collection = "outbox",
                                     .filter     = &filter,
                                     .sort       = "_id",
                                     .limit      = (int64_t)query->count_max};
    pawl__mongo_rows       found  = {.count = 0};
    put_query(&filter, query);
    if (query->id != 0) {
        (void)bson_append_array_begin(&filter, "$and", -1, &both);
        (void)bson_append_document_begin(&both, "0", 1, &one);
        pawl__mongo_put_int(&one, "_id", query->id);
        (void)bson_append_document_end(&both, &one);
        (void)bson_append_array_end(&filter, &both);
    }
    pawl_code code     = read_rows(store, &find, arena, &found, error);
    rows->items        = found.items;
    rows->count        = found.count;
    rows->next_attempt = PAWL_TIME_MAX;
    bson_destroy(&filter);
    return code;
}

static bool read_tries(const bson_t *document, pawl_arena *arena, pawl_attempt_rows *rows)
{
    bson_iter_t at, item;
    size_t      capacity = 0;
    bool        is_ok    = true;
    if (!bson_iter_init_find(&at, document, "tries") || !bson_iter_recurse(&at, &item))
        return true;
    while (is_ok && bson_iter_next(&item)) {
        const uint8_t    *data = NULL;
        uint32_t          size = 0;
        bson_t            inner;
        pawl_attempt_row *grown =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
        bson_iter_document(&item, &size, &data);
        is_ok = grown != NULL && bson_init_static(&inner, data, size);
        if (is_ok) {
            rows->items        = grown;
            grown[rows->count] = (pawl_attempt_row){.attempt = (int32_t)rows->count + 1};
            is_ok = pawl__mongo_decode(&inner, try_fields, arena, &grown[rows->count++]);
        }
    }
    return is_ok;
}

pawl_code pawl__mongo_outbox_attempts(pawl_store *store, int64_t id, pawl_arena *arena,
                                      pawl_attempt_rows *rows, pawl_error *error)
{
    bson_t                 filter   = BSON_INITIALIZER;
    const bson_t          *document = NULL;
    const pawl__mongo_find find     = {.collection = "outbox", .filter = &filter, .only = "tries"};
    pawl__mongo_put_int(&filter, "_id", id);
    mongoc_cursor_t *cursor = pawl__mongo_begin(store, &find);
    rows->items             = pawl_arena_take(arena, 1);
    bool is_ok              = true;
    while (is_ok && mongoc_cursor_next(cursor, &document))
        is_ok = read_tries(document, arena, rows);
    bson_destroy(&filter);
    pawl_code code = pawl__mongo_end(store, cursor, error);
    return code == PAWL_OK && !is_ok ? pawl__mongo_no_memory(error) : code;
}

static pawl_code count_state(pawl_store *store, pawl_outbox_state state, int64_t *count,
                             pawl_error *error)
{
    bson_t filter = BSON_INITIALIZER;
    put_state(&filter, state);
    pawl_code code = pawl__mongo_count(store, "outbox", &filter, count, error);
    bson_destroy(&filter);
    return code;
}

pawl_code pawl__mongo_outbox_stats(pawl_store *store, pawl_stats *stats, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "outbox", .filter = &filter, .sort = "at", .only = "at"};
    pawl_outbox_row row      = {.at = 0};
    bool            is_there = false;
    pawl_code       code = count_state(store, PAWL_OUTBOX_PENDING, &stats->outbox_pending, error);
    if (code == PAWL_OK)
        code = count_state(store, PAWL_OUTBOX_HELD, &stats->outbox_held, error);
    if (code == PAWL_OK)
        code = count_state(store, PAWL_OUTBOX_DEAD, &stats->outbox_dead, error);
    put_state(&filter, PAWL_OUTBOX_PENDING);
    if (code == PAWL_OK)
        code = pawl__mongo_read_one(store, find, fields, NULL, &row, &is_there, error);
    stats->outbox_oldest = row.at;
    bson_destroy(&filter);
    return code;
}

/* ---- Settles and resets --------------------------------------------------- */

void pawl__mongo_keys_outbox_settle(const void *change, uint32_t keys[3])
{
    const pawl_outbox_settle *settle = change;
    keys[0]                          = pawl__mongo_hash(1, &settle->id, sizeof settle->id);
}

void pawl__mongo_keys_outbox_reset(const void *change, uint32_t keys[3])
{
    const pawl_outbox_reset *reset = change;
    keys[0]                        = pawl__mongo_hash(1, &reset->id, sizeof reset->id);
}

/* The rows of these ids that are in the state, without their messages. */
static pawl_code find_in_state(const pawl__mongo_run *run, size_t id_offset,
                               pawl_outbox_state state, pawl__mongo_rows *rows)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "outbox", .filter = &filter, .only = "_id,attempts"};
    pawl__mongo_list list;
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++) {
        const void *at = (const char *)run->items[i] + id_offset;
        pawl__mongo_put_int(&list.items, pawl__mongo_list_key(&list), *(const int64_t *)at);
    }
    pawl__mongo_list_end(&filter, &list);
    put_state(&filter, state);
    pawl_code code =
        read_rows(run->writer->store, &find, run->writer->arena, rows, run->writer->error);
    bson_destroy(&filter);
    return code;
}

static const pawl_outbox_row *find_id(const pawl__mongo_rows *rows, int64_t id)
{
    const pawl_outbox_row *items = rows->items;
    for (size_t i = 0; i < rows->count; i++)
        if (items[i].id == id)
            return &items[i];
    return NULL;
}

static void push_try(bson_t *update, const pawl_attempt_row *line)
{
    bson_t push, inner;
    (void)bson_append_document_begin(update, "$push", -1, &push);
    (void)bson_append_document_begin(&push, "tries", -1, &inner);
    (void)pawl__mongo_encode(&inner, try_fields, line);
    (void)bson_append_document_end(&push, &inner);
    (void)bson_append_document_end(update, &push);
}

static void add_settle(pawl__mongo_bulk *bulk, const pawl_outbox_settle *settle)
{
    bson_t                 filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    const pawl_attempt_row line = {.outcome  = settle->outcome,
                                   .error    = settle->error,
                                   .at       = settle->at,
                                   .duration = settle->duration};
    pawl__mongo_put_int(&filter, "_id", settle->id);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    put_state(&set, settle->state);
    pawl__mongo_put_int(&set, "attempts", settle->attempts);
    pawl__mongo_put_int(&set, "next_attempt", settle->next_attempt);
    if (settle->state == PAWL_OUTBOX_DISPATCHED)
        pawl__mongo_put_int(&set, "ended", settle->at);
    (void)bson_append_document_end(&update, &set);
    push_try(&update, &line);
    pawl__mongo_update(bulk, &filter, &update, false);
    bson_destroy(&filter);
    bson_destroy(&update);
}

pawl_code pawl__mongo_apply_outbox_settle(const pawl__mongo_run *run)
{
    const pawl_outbox_settle *const *items    = (const pawl_outbox_settle *const *)run->items;
    pawl__mongo_rows                 found    = {.count = 0};
    size_t                           expected = 0;
    pawl_code                        code =
        find_in_state(run, offsetof(pawl_outbox_settle, id), PAWL_OUTBOX_PENDING, &found);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "outbox");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        if (find_id(&found, items[i]->id) == NULL) {
            code = pawl__mongo_refuse(run, i, pawl__why_not_pending);
        } else {
            add_settle(&bulk, items[i]);
            expected++;
        }
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

static void add_reset(pawl__mongo_bulk *bulk, const pawl_outbox_reset *reset, int32_t attempts)
{
    bool                   is_enabled = reset->action == PAWL_OUTBOX_ENABLE;
    bson_t                 filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    const pawl_attempt_row line = {.outcome =
                                       is_enabled ? PAWL_ATTEMPT_ENABLED : PAWL_ATTEMPT_DISCARDED,
                                   .error = reset->note,
                                   .at    = reset->at};
    pawl__mongo_put_int(&filter, "_id", reset->id);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    put_state(&set, is_enabled ? PAWL_OUTBOX_PENDING : PAWL_OUTBOX_DISCARDED);
    pawl__mongo_put_int(&set, "attempts", attempts + 1);
    if (is_enabled) {
        pawl__mongo_put_int(&set, "next_attempt", reset->at);
        pawl__mongo_put_int(&set, "attempts_before", attempts + 1);
    } else {
        pawl__mongo_put_int(&set, "ended", reset->at);
    }
    (void)bson_append_document_end(&update, &set);
    push_try(&update, &line);
    pawl__mongo_update(bulk, &filter, &update, false);
    bson_destroy(&filter);
    bson_destroy(&update);
}

pawl_code pawl__mongo_apply_outbox_reset(const pawl__mongo_run *run)
{
    const pawl_outbox_reset *const *items    = (const pawl_outbox_reset *const *)run->items;
    pawl__mongo_rows                found    = {.count = 0};
    size_t                          expected = 0;
    pawl_code code = find_in_state(run, offsetof(pawl_outbox_reset, id), PAWL_OUTBOX_DEAD, &found);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "outbox");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        const pawl_outbox_row *row = find_id(&found, items[i]->id);
        if (row == NULL) {
            code = pawl__mongo_refuse(run, i, pawl__why_not_dead);
        } else {
            add_reset(&bulk, items[i], row->attempts);
            expected++;
        }
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

/* ---- Adding and holding --------------------------------------------------- */

void pawl__mongo_keys_outbox_add(const void *change, uint32_t keys[3])
{
    const pawl_outbox_add *add = change;
    keys[0]                    = pawl__mongo_hash(1, &add->dispatch_id, sizeof add->dispatch_id);
}

static pawl_code look_at_adds(const pawl__mongo_run *run)
{
    const pawl_outbox_add *const *items  = (const pawl_outbox_add *const *)run->items;
    bson_t                        filter = BSON_INITIALIZER;
    const pawl__mongo_find        find   = {
                 .collection = "outbox", .filter = &filter, .only = "dispatch_id,type,body,body_rest"};
    pawl__mongo_rows found = {.count = 0};
    pawl__mongo_list list;
    pawl__mongo_list_begin(&filter, "dispatch_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++)
        pawl__mongo_put_uuid(&list.items, pawl__mongo_list_key(&list), items[i]->dispatch_id.uuid);
    pawl__mongo_list_end(&filter, &list);
    pawl_code code =
        read_rows(run->writer->store, &find, run->writer->arena, &found, run->writer->error);
    bson_destroy(&filter);
    const pawl_outbox_row *rows = found.items;
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        size_t at = 0;
        while (at < found.count &&
               pawl_uuid_compare(rows[at].dispatch_id.uuid, items[i]->dispatch_id.uuid) != 0)
            at++;
        run->is_out[i] = at < found.count;
        if (run->is_out[i] && (!pawl_text_equal(rows[at].message.type, items[i]->message.type) ||
                               !pawl_text_equal(rows[at].message.body, items[i]->message.body)))
            code = pawl__mongo_refuse(run, i, pawl__why_differs);
    }
    return code;
}

pawl_code pawl__mongo_apply_outbox_add(const pawl__mongo_run *run)
{
    const pawl_outbox_add *const *items    = (const pawl_outbox_add *const *)run->items;
    size_t                        expected = 0;
    pawl_code                     code     = look_at_adds(run);
    pawl__mongo_bulk              bulk     = pawl__mongo_bulk_begin(run->writer->store, "outbox");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        if (run->is_out[i])
            continue;
        bson_t                document = BSON_INITIALIZER;
        const pawl_outbox_row row      = {.id          = run->writer->number++,
                                          .dispatch_id = items[i]->dispatch_id,
                                          .source      = items[i]->source,
                                          .version     = items[i]->version,
                                          .index       = items[i]->index,
                                          .endpoint    = items[i]->endpoint,
                                          .destination = items[i]->destination,
                                          .message     = items[i]->message,
                                          .due         = items[i]->due,
                                          .state       = PAWL_OUTBOX_PENDING,
                                          .at          = items[i]->at};
        (void)pawl__mongo_encode(&document, INSERTED, &row);
        pawl__mongo_insert(&bulk, &document);
        bson_destroy(&document);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

pawl_code pawl__mongo_apply_outbox_hold(const pawl__mongo_run *run)
{
    const pawl_outbox_hold *const *items = (const pawl_outbox_hold *const *)run->items;
    pawl__mongo_bulk               bulk  = pawl__mongo_bulk_begin(run->writer->store, "outbox");
    for (size_t i = 0; i < run->count; i++) {
        bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
        bool   is_release = items[i]->is_release;
        pawl__mongo_put_text(&filter, "source", items[i]->source);
        put_state(&filter, is_release ? PAWL_OUTBOX_HELD : PAWL_OUTBOX_PENDING);
        if (!is_release)
            pawl__mongo_put_op(&filter, "_id", "$gt", items[i]->after);
        (void)bson_append_document_begin(&update, "$set", -1, &set);
        put_state(&set, is_release ? PAWL_OUTBOX_PENDING : PAWL_OUTBOX_HELD);
        (void)bson_append_document_end(&update, &set);
        if (items[i]->source.size != 0)
            pawl__mongo_update_many(&bulk, &filter, &update);
        bson_destroy(&filter);
        bson_destroy(&update);
    }
    return pawl__mongo_bulk_run(&bulk, run->writer->error);
}
