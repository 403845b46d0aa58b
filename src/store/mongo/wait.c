/* wait.c - waits for new rows by a change stream, or by polling if the server has no change streams.
 *
 * The stream reports committed inserts into the collections that workers wait for, without the documents: it only wakes
 * the caller, who then reads the collections. A failed stream is therefore not resumed. A new one is opened, and the
 * wait that opens it ends at once, since rows may have been added in between; a short oplog does no harm.
 *
 *     no stream --ask: aggregate--> open (news) --ask: getMore--> open (news when an event came)
 *         ^                                           |
 *         +---- any failure, or its end --------------+      not_here: no stream from then on
 *
 * Each getMore blocks for SLICE_MS at most, then interrupts and the caller's descriptor are checked: a blocked call of
 * libmongoc can only be ended by closing its connection. After a failure the rest of the wait polls the counter of row
 * numbers, which each commit that adds rows raises. Neither way notices an update of an existing document.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#define SLICE_MS 200
#define WAIT_MS_MAX 1000 /* as for stores that poll (store/core/wait.h) */

/* ---- The stream ---------------------------------------------------------- */

/* Errors of a server that has no change streams, or of a user who may not open one. */
static bool is_not_here(const bson_error_t *why)
{
    static const uint32_t codes[] = {
        13,    /* Unauthorized */
        59,    /* CommandNotFound */
        115,   /* CommandNotSupported */
        303,   /* feature not supported, by hosted services */
        40324, /* unrecognized pipeline stage */
        40573, /* the stage is only supported on replica sets */
    };
    bool is_there = false;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        is_there |= why->domain == MONGOC_ERROR_SERVER && why->code == codes[i];
    return is_there;
}

/* Remembers the server, since getMore must go to the one that opened the stream: a cluster may have several routers. */
static bool choose_server(pawl__mongo *self, bson_error_t *why)
{
    mongoc_server_description_t *server =
        mongoc_client_select_server(self->client, true, NULL, why);
    if (server == NULL)
        return false;
    self->stream_server = mongoc_server_description_id(server);
    mongoc_server_description_destroy(server);
    return true;
}

static bool put_opening(pawl_store *store, bson_t *command, bson_t *options)
{
    static const char *const waited_for[] = {"queue", "outbox", "timeouts", "aggregator", "events"};
    bson_t                   names        = BSON_INITIALIZER;
    uint32_t                 count        = 0;
    bool                     is_ok        = true;
    while (count < sizeof waited_for / sizeof waited_for[0]) {
        char name[PAWL__MONGO_NAME_SIZE];
        pawl__mongo_name(store, waited_for[count], name);
        is_ok &= pawl__mongo_push(&names, &count, "%c", name);
    }
    is_ok &= pawl__mongo_put(command,
                             "aggregate: 1, pipeline: [{$changeStream: {}}, {$match: "
                             "{operationType: 'insert', ns.coll: {$in: %a}}}, "
                             "{$project: {_id: 1}}], cursor: {}",
                             &names);
    bson_destroy(&names);
    return is_ok && pawl__mongo_put(options, "readConcern: {level: 'majority'}");
}

/* Notes the cursor of the reply; true when it has events. */
static bool take_reply(pawl__mongo *self, const bson_t *reply)
{
    bson_t cursor, events;
    pawl__mongo_part(reply, "cursor", &cursor);
    pawl__mongo_part(&cursor, "nextBatch", &events);
    self->stream = 0;
    (void)pawl__mongo_get_int(&cursor, "id", &self->stream);
    return !bson_empty(&events);
}

/* True: an event arrived in time, or a stream was opened. After a failure no stream is open. */
static bool ask(pawl_store *store, int64_t milliseconds)
{
    pawl__mongo *self    = pawl__mongo_of(store);
    bson_t       command = BSON_INITIALIZER, options = BSON_INITIALIZER, reply = BSON_INITIALIZER;
    bson_error_t why      = {0};
    bool         was_open = self->stream != 0;
    bool         is_ok    = was_open || choose_server(self, &why);
    if (was_open)
        is_ok =
            pawl__mongo_put(&command, "getMore: %i, collection: '$cmd.aggregate', maxTimeMS: %i",
                            self->stream, milliseconds);
    else
        is_ok = is_ok && put_opening(store, &command, &options);
    if (is_ok) {
        is_ok = pawl__mongo_put(&options, "serverId: %n", (int)self->stream_server) &&
                mongoc_client_session_append(self->session, &options, &why) &&
                mongoc_client_command_with_opts(self->client, self->database, &command, NULL,
                                                &options, &reply, &why);
        self->has_no_streams = !is_ok && is_not_here(&why);
    }
    bool is_news = take_reply(self, &reply) || (self->stream != 0 && !was_open);
    bson_destroy(&reply);
    bson_destroy(&options);
    bson_destroy(&command);
    return is_news;
}

/* ---- Polling ------------------------------------------------------------- */

static const pawl__field_list fields = PAWL__MONGO_NUMBER("last");

static pawl_code check(pawl_store *store, bool *is_news, int *session_fd, pawl_error *error)
{
    static const pawl__mongo_table table = {.name = "schema", .fields = &fields};
    pawl__mongo                   *self  = pawl__mongo_of(store);
    int64_t                        last  = 0;
    pawl_code code = pawl__mongo_read_one(store, &table, NULL, &last, NULL, error,
                                          "filter: {_id: 'numbers'}, projection: {last: 1}");
    (void)session_fd;
    *is_news   = code == PAWL_OK && last != self->news;
    self->news = last;
    return code;
}

/* ---- The entries --------------------------------------------------------- */

/* Waits for the time, an event or the loss of the stream; *rest_ms: what is left to poll, 0 if the wait is over. */
static pawl_code watch(pawl_store *store, int64_t *rest_ms, int wake_fd, pawl_error *error)
{
    pawl__mongo *self    = pawl__mongo_of(store);
    int64_t      now     = pawl__clock_ms();
    int64_t      end     = now + (*rest_ms < WAIT_MS_MAX ? *rest_ms : WAIT_MS_MAX);
    bool         is_over = false, is_woken = false, is_polled = self->has_no_streams;
    for (;;) {
        pawl_code code = pawl__wait_pause(&self->wait, 0, wake_fd, -1, &is_woken, error);
        *rest_ms       = code != PAWL_OK || is_over || is_woken ? 0 : end - now;
        if (*rest_ms <= 0 || is_polled)
            return code;
        is_over   = ask(store, *rest_ms < SLICE_MS ? *rest_ms : SLICE_MS);
        is_polled = self->stream == 0;
        now       = pawl__clock_ms();
    }
}

/* A wait of zero time also checks, so that the next wait reports commits from then on. */
pawl_code pawl__mongo_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__mongo *self    = pawl__mongo_of(store);
    int64_t      rest_ms = microseconds > 0 ? (microseconds + 999) / 1000 : 0;
    bool         is_news;
    int          session_fd;
    if (rest_ms == 0 && !self->has_no_streams)
        (void)ask(store, 1);
    if (rest_ms == 0)
        return self->stream != 0 ? PAWL_OK : check(store, &is_news, &session_fd, error);
    pawl_code code = watch(store, &rest_ms, wake_fd, error);
    return code != PAWL_OK || rest_ms <= 0
               ? code
               : pawl__wait_for_news(store, &self->wait, rest_ms * 1000, wake_fd, check, error);
}

void pawl__mongo_interrupt(pawl_store *store)
{
    pawl__wait_interrupt(&pawl__mongo_of(store)->wait);
}
