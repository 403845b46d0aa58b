/* saga_step.c - the document changes of saga-step with no engine.
 *
 *     find, stamp -> numbers -> look at the inbox -> load the sagas -> fence, deletions, marks, sagas,
 *     outbox rows, commit -> find, stamp -> ...
 *
 * Each kind of document is one find or one bulk for the whole batch, from the fence on in one transaction. Of a
 * message's body no JSON is parsed; what is needed stands behind a fixed text.
 *
 * no-op: the same without sagas and outbox rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit_mongo.h"

#include <string.h>

#define BATCH_SIZE INT64_C(100000) /* documents that a reply may have: all, in one trip */

/* A saga of the batch. */
typedef struct order {
    char order_id[PAWL__BENCH_ORDER_ID_SIZE];
    char source[sizeof PAWL__BENCH_SAGA + PAWL_UUID_TEXT_SIZE]; /* "Order/" and the saga's id */
    pawl_uuid id;
    int64_t   version; /* 0: it is new */
    int64_t   steps;
    int64_t   cents;
    int64_t   messages; /* of this batch */
    size_t    first, last;
} order;

/* A message of the batch. */
typedef struct step {
    int64_t seq;
    int64_t cents;
    char    id[PAWL_UUID_TEXT_SIZE];
    char    correlation_id[PAWL_UUID_TEXT_SIZE];
    char    at[PAWL_TIME_TEXT_SIZE];
    size_t  order;
    int64_t index; /* among those of the same saga */
    int64_t steps; /* of its saga, once it is handled */
    int64_t total;
} step;

typedef struct session {
    mg_loop              l;
    mongoc_collection_t *queue, *inbox, *sagas, *outbox, *workers, *schema;
    pawl_random          random;
    pawl_time            now;
    int64_t              batch;
    bool                 has_saga;
    int64_t              number; /* of the next outbox row */
    step                *steps;
    order               *orders;
    size_t               count, order_count;
    uint32_t            *slots; /* order ids by hash: the order's number + 1; 0 is free */
    size_t               slot_count;
} session;

/* ---- Orders ---------------------------------------------------------------- */

/* The slot of that id, or the free one where it belongs. */
static uint32_t *slot_of(session *s, const char *order_id)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < PAWL__BENCH_ORDER_ID_SIZE; i++)
        hash = (hash ^ (unsigned char)order_id[i]) * UINT64_C(1099511628211);
    size_t at = (size_t)(hash >> 32) & (s->slot_count - 1);
    while (s->slots[at] != 0 &&
           memcmp(s->orders[s->slots[at] - 1].order_id, order_id, PAWL__BENCH_ORDER_ID_SIZE) != 0)
        at = (at + 1) & (s->slot_count - 1);
    return &s->slots[at];
}

static size_t find_order(session *s, const char *order_id)
{
    uint32_t *slot = slot_of(s, order_id);
    if (*slot != 0)
        return *slot - 1;
    order *added   = &s->orders[s->order_count++];
    added->version = added->steps = added->cents = added->messages = 0;
    memcpy(added->order_id, order_id, sizeof added->order_id);
    *slot = (uint32_t)s->order_count;
    return s->order_count - 1;
}

/* ---- Reading --------------------------------------------------------------- */

static void failed(session *s, const char *what)
{
    if (s->l.code == PAWL_OK)
        s->l.code = pawl_error_set(s->l.error, PAWL_EBUG, "the loop: %s", what);
}

static int64_t get_int(const bson_t *document, const char *path)
{
    bson_iter_t at, found;
    return bson_iter_init(&at, document) && bson_iter_find_descendant(&at, path, &found)
               ? bson_iter_as_int64(&found)
               : 0;
}

/* Copies a text of at least that size. */
static void get_text(session *s, const bson_t *document, const char *path, char *to, size_t size)
{
    bson_iter_t at, found;
    uint32_t    found_size = 0;
    const char *text       = NULL;
    if (bson_iter_init(&at, document) && bson_iter_find_descendant(&at, path, &found))
        text = bson_iter_utf8(&found, &found_size);
    if (text != NULL && found_size >= size)
        memcpy(to, text, size);
    else
        failed(s, path);
}

static void take_of(session *s, const char *body, size_t size, const char *key, char *to,
                    size_t to_size)
{
    const char *found = pawl__loop_find(body, size, key);
    if (found != NULL && to_size <= (size_t)(body + size - found))
        memcpy(to, found, to_size);
    else
        failed(s, key);
}

static void add_step(session *s, const bson_t *document)
{
    step       *to = &s->steps[s->count++];
    char        order_id[PAWL__BENCH_ORDER_ID_SIZE], cents[8] = "";
    bson_iter_t at;
    uint32_t    size = 0;
    const char *body = bson_iter_init_find(&at, document, "body") ? bson_iter_utf8(&at, &size) : "";
    to->seq          = get_int(document, "_id");
    get_text(s, document, "message_id", to->id, sizeof to->id);
    get_text(s, document, "correlation_id", to->correlation_id, sizeof to->correlation_id);
    take_of(s, body, size, "\"order_id\":\"", order_id, sizeof order_id);
    take_of(s, body, size, "\"at\":\"", to->at, sizeof to->at);
    take_of(s, body, size, "\"cents\":", cents, sizeof cents - 1);
    to->cents = strtoll(cents, NULL, 10);
    if (s->l.code == PAWL_OK)
        to->order = find_order(s, order_id);
}

typedef void take_fn(session *s, const bson_t *document);

static void find(session *s, mongoc_collection_t *from, const bson_t *filter, const bson_t *options,
                 take_fn *take)
{
    const bson_t    *document;
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(from, filter, options, NULL);
    while (s->l.code == PAWL_OK && mongoc_cursor_next(cursor, &document))
        take(s, document);
    if (s->l.code == PAWL_OK && mongoc_cursor_error(cursor, &s->l.why))
        pawl__mg_failed(&s->l, "find");
    mongoc_cursor_destroy(cursor);
}

static void find_due(session *s)
{
    bson_t *filter  = BCON_NEW("queue", PAWL__BENCH_QUEUE, "due", "{", "$lte", BCON_INT64(s->now),
                               "}", "claimed_by", "{", "$exists", BCON_BOOL(false), "}");
    bson_t *options = BCON_NEW("sort", "{", "due", BCON_INT32(1), "_id", BCON_INT32(1), "}",
                               "limit", BCON_INT64(s->batch), "batchSize", BCON_INT64(BATCH_SIZE),
                               "projection", "{", "message_id", BCON_INT32(1), "correlation_id",
                               BCON_INT32(1), "body", BCON_INT32(1), "}");
    find(s, s->queue, filter, options, add_step);
    bson_destroy(options);
    bson_destroy(filter);
}

/* {_id: {"$in": [7, 8, 9]}} */
static void put_seqs(const session *s, bson_t *filter)
{
    bson_t      in, list;
    char        text[16];
    const char *key;
    (void)bson_append_document_begin(filter, "_id", -1, &in);
    (void)bson_append_array_begin(&in, "$in", -1, &list);
    for (size_t i = 0; i < s->count; i++) {
        (void)bson_uint32_to_string((uint32_t)i, &key, text, sizeof text);
        mg_int(&list, key, s->steps[i].seq);
    }
    (void)bson_append_array_end(&in, &list);
    (void)bson_append_document_end(filter, &in);
}

static void stamp(session *s)
{
    bson_t  filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set, absent;
    mg_bulk bulk = pawl__mg_bulk(&s->l, s->queue, "stamp", false);
    put_seqs(s, &filter);
    (void)bson_append_document_begin(&filter, "claimed_by", -1, &absent);
    (void)bson_append_bool(&absent, "$exists", -1, false);
    (void)bson_append_document_end(&filter, &absent);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    mg_uuid(&set, "claimed_by", s->l.worker);
    mg_int(&set, "claim", (int64_t)s->l.commits + 1);
    (void)bson_append_document_end(&update, &set);
    pawl__mg_update_many(&bulk, &filter, &update, (int64_t)s->count);
    pawl__mg_run(&bulk);
    bson_destroy(&update);
    bson_destroy(&filter);
}

/* Raises the counter that rows are numbered by. */
static void take_numbers(session *s)
{
    bson_t  reply;
    bson_t *filter = BCON_NEW("_id", "numbers");
    bson_t *update = BCON_NEW("$inc", "{", "last", BCON_INT64((int64_t)s->count), "}");
    if (s->l.code == PAWL_OK) {
        if (!mongoc_collection_find_and_modify(s->schema, filter, NULL, update, NULL, false, false,
                                               true, &reply, &s->l.why))
            pawl__mg_failed(&s->l, "numbers");
        s->number = get_int(&reply, "value.last") - (int64_t)s->count + 1;
        bson_destroy(&reply);
    }
    bson_destroy(update);
    bson_destroy(filter);
}

static void refuse_known(session *s, const bson_t *document)
{
    (void)document;
    failed(s, "a message in the inbox");
}

static void put_mark(bson_t *to, const char *key, const step *message)
{
    bson_t id;
    (void)bson_append_document_begin(to, key, -1, &id);
    mg_text(&id, "endpoint", PAWL__BENCH_QUEUE, strlen(PAWL__BENCH_QUEUE));
    mg_text(&id, "message_id", message->id, sizeof message->id);
    (void)bson_append_document_end(to, &id);
}

static void look_at_inbox(session *s)
{
    bson_t  filter = BSON_INITIALIZER, in, list;
    bson_t *options =
        BCON_NEW("projection", "{", "_id", BCON_INT32(1), "}", "batchSize", BCON_INT64(BATCH_SIZE));
    char        text[16];
    const char *key;
    (void)bson_append_document_begin(&filter, "_id", -1, &in);
    (void)bson_append_array_begin(&in, "$in", -1, &list);
    for (size_t i = 0; i < s->count; i++) {
        (void)bson_uint32_to_string((uint32_t)i, &key, text, sizeof text);
        put_mark(&list, key, &s->steps[i]);
    }
    (void)bson_append_array_end(&in, &list);
    (void)bson_append_document_end(&filter, &in);
    find(s, s->inbox, &filter, options, refuse_known);
    bson_destroy(options);
    bson_destroy(&filter);
}

static void put_source(order *saga)
{
    memcpy(saga->source, PAWL__BENCH_SAGA "/", sizeof PAWL__BENCH_SAGA);
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(saga->id, text);
    memcpy(saga->source + sizeof PAWL__BENCH_SAGA, text, PAWL_UUID_TEXT_SIZE);
}

static void add_saga(session *s, const bson_t *document)
{
    char           order_id[PAWL__BENCH_ORDER_ID_SIZE];
    bson_iter_t    at;
    bson_subtype_t type;
    uint32_t       size  = 0;
    const uint8_t *bytes = NULL;
    get_text(s, document, "correlation.order_id", order_id, sizeof order_id);
    if (bson_iter_init_find(&at, document, "_id") && BSON_ITER_HOLDS_BINARY(&at))
        bson_iter_binary(&at, &type, &size, &bytes);
    if (size != sizeof(pawl_uuid))
        failed(s, "a saga without an id");
    if (s->l.code != PAWL_OK)
        return;
    order *to   = &s->orders[find_order(s, order_id)];
    to->version = get_int(document, "version");
    to->steps   = get_int(document, "data.steps");
    to->cents   = get_int(document, "data.cents");
    memcpy(to->id.bytes, bytes, sizeof to->id.bytes);
    put_source(to);
}

static void load_sagas(session *s)
{
    bson_t      filter  = BSON_INITIALIZER, in, list;
    bson_t     *options = BCON_NEW("batchSize", BCON_INT64(BATCH_SIZE));
    char        text[16];
    const char *key;
    (void)bson_append_document_begin(&filter, "correlation.order_id", -1, &in);
    (void)bson_append_array_begin(&in, "$in", -1, &list);
    for (size_t i = 0; i < s->order_count; i++) {
        (void)bson_uint32_to_string((uint32_t)i, &key, text, sizeof text);
        mg_text(&list, key, s->orders[i].order_id, sizeof s->orders[i].order_id);
    }
    (void)bson_append_array_end(&in, &list);
    (void)bson_append_document_end(&filter, &in);
    find(s, s->sagas, &filter, options, add_saga);
    bson_destroy(options);
    bson_destroy(&filter);
}

/* ---- Moving and writing ---------------------------------------------------- */

static void move(session *s)
{
    for (size_t i = 0; i < s->count; i++) {
        step  *message = &s->steps[i];
        order *moved   = &s->orders[message->order];
        message->steps = ++moved->steps;
        message->total = moved->cents += message->cents;
        moved->last    = i;
        message->index = moved->messages++;
        if (message->index == 0)
            moved->first = i;
    }
}

static void delete_messages(session *s)
{
    bson_t  filter = BSON_INITIALIZER;
    mg_bulk bulk   = pawl__mg_bulk(&s->l, s->queue, "messages deleted", true);
    put_seqs(s, &filter);
    mg_text(&filter, "queue", PAWL__BENCH_QUEUE, strlen(PAWL__BENCH_QUEUE));
    mg_uuid(&filter, "claimed_by", s->l.worker);
    pawl__mg_remove_many(&bulk, &filter, (int64_t)s->count);
    pawl__mg_run(&bulk);
    bson_destroy(&filter);
}

static void mark_messages(session *s)
{
    mg_bulk bulk = pawl__mg_bulk(&s->l, s->inbox, "inbox marks", true);
    for (size_t i = 0; i < s->count; i++) {
        bson_t mark = BSON_INITIALIZER;
        put_mark(&mark, "_id", &s->steps[i]);
        mg_text(&mark, "outcome", "handled", strlen("handled"));
        mg_int(&mark, "at", s->now);
        pawl__mg_insert(&bulk, &mark);
        bson_destroy(&mark);
    }
    pawl__mg_run(&bulk);
}

static void put_data(const session *s, bson_t *to, const order *saga)
{
    const step *last = &s->steps[saga->last];
    bson_t      data;
    (void)bson_append_document_begin(to, "data", -1, &data);
    mg_text(&data, "order_id", saga->order_id, sizeof saga->order_id);
    mg_int(&data, "steps", saga->steps);
    mg_int(&data, "cents", saga->cents);
    mg_text(&data, "customer", PAWL__BENCH_CUSTOMER, strlen(PAWL__BENCH_CUSTOMER));
    mg_text(&data, "product", PAWL__BENCH_PRODUCT, strlen(PAWL__BENCH_PRODUCT));
    mg_text(&data, "at", last->at, sizeof last->at);
    mg_text(&data, "note", PAWL__BENCH_NOTE, strlen(PAWL__BENCH_NOTE));
    (void)bson_append_document_end(to, &data);
}

/* The members that an insert and an update have in common. */
static void put_state(const session *s, bson_t *to, const order *saga)
{
    bson_t metadata;
    (void)bson_append_document_begin(to, "metadata", -1, &metadata);
    mg_text(&metadata, "SagaType", PAWL__BENCH_SAGA, strlen(PAWL__BENCH_SAGA));
    mg_text(&metadata, "OriginalMessageId", s->steps[saga->first].id, PAWL_UUID_TEXT_SIZE);
    (void)bson_append_document_end(to, &metadata);
    put_data(s, to, saga);
    mg_text(to, "type_version", "1.0", strlen("1.0"));
    mg_text(to, "persistence_version", PAWL_VERSION, strlen(PAWL_VERSION));
}

/* As pawl's: they ascend. */
static void make_id(session *s, order *saga, uint64_t number)
{
    uint64_t high = (uint64_t)s->now, low = s->l.commits << 32 | number;
    for (size_t i = 0; i < 8; i++) {
        saga->id.bytes[i]     = (uint8_t)(high >> (56 - 8 * i));
        saga->id.bytes[8 + i] = (uint8_t)(low >> (56 - 8 * i));
    }
    put_source(saga);
}

static void insert_sagas(session *s)
{
    mg_bulk bulk = pawl__mg_bulk(&s->l, s->sagas, "sagas inserted", true);
    for (size_t i = 0; i < s->order_count; i++) {
        order *saga     = &s->orders[i];
        bson_t document = BSON_INITIALIZER, correlation;
        if (saga->version != 0)
            continue;
        make_id(s, saga, i);
        mg_uuid(&document, "_id", saga->id);
        mg_int(&document, "version", 1);
        (void)bson_append_document_begin(&document, "correlation", -1, &correlation);
        mg_text(&correlation, "order_id", saga->order_id, sizeof saga->order_id);
        (void)bson_append_document_end(&document, &correlation);
        put_state(s, &document, saga);
        pawl__mg_insert(&bulk, &document);
        bson_destroy(&document);
    }
    pawl__mg_run(&bulk);
}

static void put_update(const session *s, bson_t *update, const order *saga)
{
    bson_t add, set;
    (void)bson_append_document_begin(update, "$inc", -1, &add);
    mg_int(&add, "version", 1);
    (void)bson_append_document_end(update, &add);
    (void)bson_append_document_begin(update, "$set", -1, &set);
    put_state(s, &set, saga);
    (void)bson_append_document_end(update, &set);
}

static void update_sagas(session *s)
{
    mg_bulk bulk = pawl__mg_bulk(&s->l, s->sagas, "sagas updated", true);
    for (size_t i = 0; i < s->order_count; i++) {
        const order *saga   = &s->orders[i];
        bson_t       filter = BSON_INITIALIZER, update = BSON_INITIALIZER;
        if (saga->version == 0)
            continue;
        mg_uuid(&filter, "_id", saga->id);
        mg_int(&filter, "version", saga->version);
        put_update(s, &update, saga);
        pawl__mg_update(&bulk, &filter, &update);
        bson_destroy(&update);
        bson_destroy(&filter);
    }
    pawl__mg_run(&bulk);
}

static void put_message(const session *s, bson_t *to, const step *message, const char *id)
{
    const order *saga = &s->orders[message->order];
    char         body[LOOP_BODY_SIZE_MAX];
    size_t       size =
        pawl__loop_body(body, saga->order_id, message->steps, message->total, message->at);
    mg_text(to, "message_id", id, PAWL_UUID_TEXT_SIZE);
    mg_text(to, "type", "bench_moved", strlen("bench_moved"));
    mg_text(to, "correlation_id", message->correlation_id, sizeof message->correlation_id);
    mg_text(to, "causation_id", message->id, sizeof message->id);
    mg_text(to, "headers", LOOP_HEADERS, strlen(LOOP_HEADERS));
    mg_text(to, "body", body, size);
}

static void put_dispatch(session *s, bson_t *to, const step *message)
{
    const order *saga = &s->orders[message->order];
    pawl_uuid    id;
    char         text[PAWL_UUID_TEXT_SIZE + 1];
    /* As scattered as the ids that pawl derives from the source. */
    for (size_t i = 0; i < sizeof id.bytes; i += 8) {
        uint64_t digits = pawl_random_next(&s->random);
        memcpy(&id.bytes[i], &digits, sizeof digits);
    }
    pawl_uuid_format(id, text);
    mg_int(to, "_id", s->number++);
    mg_uuid(to, "dispatch_id", id);
    mg_text(to, "source", saga->source, sizeof saga->source);
    mg_int(to, "version", saga->version + 1);
    mg_int32(to, "index", (int32_t)message->index);
    mg_text(to, "endpoint", PAWL__BENCH_QUEUE, strlen(PAWL__BENCH_QUEUE));
    mg_text(to, "destination", PAWL__BENCH_OUTSIDE, strlen(PAWL__BENCH_OUTSIDE));
    mg_int(to, "due", s->now);
    mg_int(to, "at", s->now);
    put_message(s, to, message, text);
    mg_text(to, "state", "pending", strlen("pending"));
    mg_int(to, "attempts", 0);
    mg_int(to, "next_attempt", 0);
    mg_int(to, "attempts_before", 0);
}

static void add_dispatches(session *s)
{
    mg_bulk bulk = pawl__mg_bulk(&s->l, s->outbox, "outbox rows", true);
    for (size_t i = 0; i < s->count; i++) {
        bson_t row = BSON_INITIALIZER;
        put_dispatch(s, &row, &s->steps[i]);
        pawl__mg_insert(&bulk, &row);
        bson_destroy(&row);
    }
    pawl__mg_run(&bulk);
}

static size_t run_batch(session *s)
{
    s->now   = pawl_clock_now(NULL);
    s->count = s->order_count = 0;
    memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    find_due(s);
    if (s->count == 0 || s->l.code != PAWL_OK)
        return 0;
    stamp(s);
    look_at_inbox(s);
    if (s->has_saga) {
        load_sagas(s);
        move(s);
        take_numbers(s);
    }
    pawl__mg_begin(&s->l, s->workers, s->now, (int64_t)s->count);
    delete_messages(s);
    mark_messages(s);
    if (s->has_saga) {
        insert_sagas(s);
        update_sagas(s);
        add_dispatches(s);
    }
    pawl__mg_commit(&s->l);
    return s->count;
}

/* ---- The session ----------------------------------------------------------- */

static mongoc_collection_t **collection_at(session *s, size_t number)
{
    mongoc_collection_t **all[] = {&s->queue,  &s->inbox,   &s->sagas,
                                   &s->outbox, &s->workers, &s->schema};
    return number < sizeof all / sizeof all[0] ? all[number] : NULL;
}

static void open_collections(session *s, const char *url)
{
    static const char *const names[] = {PAWL__BENCH_PREFIX "queue",
                                        PAWL__BENCH_PREFIX "inbox",
                                        PAWL__BENCH_SAGA_PREFIX PAWL__BENCH_SAGA,
                                        PAWL__BENCH_PREFIX "outbox",
                                        PAWL__BENCH_PREFIX "workers",
                                        PAWL__BENCH_PREFIX "schema"};
    for (size_t i = 0; collection_at(s, i) != NULL; i++)
        *collection_at(s, i) = pawl__mg_collection(&s->l, url, names[i]);
}

static pawl_code make_session(session *s, const pawl__bench_job *job, pawl_error *error)
{
    s->batch      = job->batch;
    s->has_saga   = job->handler == PAWL__BENCH_SAGA_STEP;
    s->slot_count = 16;
    while (s->slot_count < (size_t)job->batch * 2)
        s->slot_count *= 2;
    s->steps  = pawl_allocate((size_t)job->batch * sizeof *s->steps);
    s->orders = pawl_allocate((size_t)job->batch * sizeof *s->orders);
    s->slots  = pawl_allocate(s->slot_count * sizeof *s->slots);
    pawl_random_seed(&s->random, job->seed);
    return s->steps != NULL && s->orders != NULL && s->slots != NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
}

static void free_session(session *s)
{
    for (size_t i = 0; collection_at(s, i) != NULL; i++)
        mongoc_collection_destroy(*collection_at(s, i));
    pawl__mg_disconnect(&s->l);
    pawl_free(s->steps);
    pawl_free(s->orders);
    pawl_free(s->slots);
}

pawl_code pawl__bench_mongo_saga_step(const pawl__bench_job *job, int64_t *microseconds,
                                      pawl_error *error)
{
    pawl__bench_handle handle = {.store = NULL};
    session            s      = {.count = 0};
    pawl_code          code   = make_session(&s, job, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK) {
        pawl__mg_open(&s.l, handle.store, job->url, error);
        code = s.l.code;
    }
    if (code == PAWL_OK) {
        open_collections(&s, job->url);
        int64_t begin = pawl__bench_clock();
        while (run_batch(&s) > 0 && s.l.code == PAWL_OK)
            s.l.code = pawl__bench_go_on(error);
        *microseconds = pawl__bench_clock() - begin;
        code          = s.l.code;
    }
    free_session(&s);
    pawl__bench_close(&handle);
    return code;
}
