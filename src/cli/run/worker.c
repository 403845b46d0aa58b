/* worker.c - `pawl worker list|show`: shows workers, the versions of their programs, their leases and
 * counts, and the messages in flight that the store knows of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/queue/queue.h"

#include "pawl/store_worker.h"

#include <string.h>

#define HEAD_ROWS 1000 /* messages of a queue that are read: isolated ones are among the oldest */

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *action, *id, *endpoint;
    bool               is_json;
} verb_fields;

#define ACTIONS(X)                                                                              \
    X(LIST, "list", "",                                                                         \
      "who is alive: its program and version, its host, what it has done, and who leads", list) \
    X(SHOW, "show", "ID", "one of them, and the message that it runs isolated, since when", show)
PAWL__ACTIONS(ACTIONS)

const pawl__argument pawl__worker_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(verb_fields, action),
    PAWL__ARGUMENT(verb_fields, "ID", id, "as list has it", .is_optional = true),
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__worker_verb_options[] = {
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    OPTION("endpoint", FILTER, endpoint, "NAME", 1U << ACTION_LIST, "of this endpoint only"),
    {.name = NULL},
};

typedef struct worker_row {
    pawl_worker_info info;
    pawl__text_list  leads;
    pawl_text        next; /* of show: a sentence about its messages in flight */
} worker_row;

#define WORKER(key, kind, member, ...) PAWL__COLUMN(worker_row, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    WORKER("id", ID, info.id, "id"),
    WORKER("endpoint", TEXT, info.endpoint, "endpoint"),
    WORKER("program", TEXT, info.program, "program"),
    WORKER("program_version", TEXT, info.program_version, "version"),
    WORKER("pawl_version", TEXT, info.pawl_version, "pawl"),
    WORKER("host", TEXT, info.host, "host"),
    WORKER("pid", NUMBER, info.pid, "pid"),
    WORKER("epoch", COUNT, info.epoch, "epoch"),
    WORKER("leads", LIST, leads, "leads"),
    WORKER("messages", COUNT, info.counters.messages, "handled"),
    WORKER("timeouts", COUNT, info.counters.timeouts, NULL),
    WORKER("flushes", COUNT, info.counters.flushes, NULL),
    WORKER("failures", COUNT, info.counters.failures, "failures"),
    WORKER("conflicts", COUNT, info.counters.conflicts, "conflicts"),
    WORKER("dead", COUNT, info.counters.dead, "dead letters"),
    WORKER("started", TIME, info.started, "started"),
    WORKER("seen", TIME, info.seen, "last seen"),
    WORKER("types", JSON, info.types, NULL),
    WORKER("in_flight", TEXT, next, NULL, PAWL__LEVEL_SHOW),
    {.key = NULL},
};

/* An isolated message that the worker runs: it has an in-flight marker. */
typedef struct marked_row {
    pawl_text message_id, type, queue;
    pawl_time since;
    int32_t   crashes; /* before */
} marked_row;

#define MARKED(key, kind, member, ...) PAWL__COLUMN(marked_row, key, kind, member, __VA_ARGS__)
static const pawl__column stamped_columns[] = {
    MARKED("message_id", TEXT, message_id, "message"),
    MARKED("type", TEXT, type, "type"),
    MARKED("queue", TEXT, queue, "queue"),
    MARKED("since", TIME, since, "since"),
    MARKED("crashes", COUNT_32, crashes, "crashes"),
    {.key = NULL},
};

static const pawl__noun workers = {"worker", columns, sizeof(worker_row)};

const pawl__report pawl__worker_verb_reports[] = {
    {"list, show", columns, NULL}, {"isolated, of show", stamped_columns, NULL}, {.what = NULL}};

/* The workers of the endpoint, NULL: all, with the leases of each; `leads` NULL: the store has no list of leases. */
static worker_row *make_rows(const pawl_worker_info *items, size_t *count, const char *endpoint,
                             const pawl_lead_row *leads, size_t lead_count, pawl_arena *arena)
{
    size_t      kept = 0;
    worker_row *made = pawl__must_take(arena, (*count + 1) * sizeof *made);
    for (size_t i = 0; i < *count; i++) {
        if (endpoint != NULL && !pawl_text_equal(items[i].endpoint, pawl_text_of(endpoint)))
            continue;
        worker_row *row   = &made[kept++];
        pawl_text  *names = pawl__must_take(arena, (lead_count + 1) * sizeof *names);
        *row = (worker_row){.info = items[i], .leads.items = leads != NULL ? names : NULL};
        for (size_t j = 0; j < lead_count; j++)
            if (pawl_uuid_compare(leads[j].worker.uuid, row->info.id.uuid) == 0)
                names[row->leads.count++] = leads[j].name;
    }
    *count = kept;
    return made;
}

/* The rows of `list`, or the one of `show`. */
static pawl_code find_rows(const verb_fields *fields, pawl_store *store, pawl_time now,
                           pawl_arena *arena, worker_row **rows, size_t *count, pawl_error *error)
{
    static const pawl_lead_row none;
    pawl_worker_info          *items      = NULL;
    pawl_lead_row             *leads      = NULL;
    size_t                     lead_count = 0;
    pawl_code                  code = pawl_store_worker_list(store, arena, &items, count, error);
    if (code == PAWL_OK)
        code = pawl_store_lead_list(store, now, arena, &leads, &lead_count, error);
    bool is_known = code == PAWL_OK;
    code          = code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
    if (code == PAWL_OK)
        *rows = make_rows(items, count, fields->endpoint,
                          !is_known       ? NULL
                          : leads != NULL ? leads
                                          : &none,
                          is_known ? lead_count : 0, arena);
    return code;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    worker_row        *rows   = NULL;
    size_t             count  = 0;
    pawl__view         view   = pawl__view_of(&workers, fields->is_json, arena);
    pawl_code          code   = find_rows(fields, store, view.now, arena, &rows, &count, error);
    if (code != PAWL_OK)
        return code;
    if (count == 0 && !fields->is_json)
        fputs(fields->endpoint == NULL ? "no worker is alive\n"
                                       : "no worker of this endpoint is alive\n",
              stderr);
    return pawl__rows_print(&view, rows, count);
}

/* ---- Show ------------------------------------------------------------------ */

/* The messages with an in-flight marker of the worker, from all queues read so far. */
typedef struct marked_rows {
    pawl_uuid   worker;
    pawl_text   queue;
    pawl_arena *arena;
    marked_row *items;
    size_t      count, capacity;
} marked_rows;

/* Adds the message if its row has an in-flight marker of the worker. */
static void add_marked(void *context, const pawl_queue_message *message)
{
    marked_rows          *rows = context;
    const pawl_queue_row *row  = &message->row;
    pawl_worker_in_flight marker;
    if (row->crashes == 0 || !pawl_worker_in_flight_read(rows->arena, row->history, &marker) ||
        pawl_uuid_compare(marker.worker.uuid, rows->worker) != 0)
        return;
    rows->items = pawl__must_grow(rows->arena, rows->items, rows->count, &rows->capacity,
                                  sizeof *rows->items);
    rows->items[rows->count++] =
        (marked_row){.message_id = pawl__must_text(rows->arena, row->message.id),
                     .type       = pawl__must_text(rows->arena, row->message.type),
                     .queue      = rows->queue,
                     .since      = marker.at,
                     .crashes    = row->crashes - 1};
}

/* Reads the oldest messages of each queue with due messages. */
static pawl_code find_marked(pawl_store *store, pawl_time now, marked_rows *rows, pawl_error *error)
{
    pawl_queue_infos infos = {.count = 0};
    size_t           count = 0;
    pawl_code        code  = pawl_store_queue_infos(store, now, rows->arena, &infos, error);
    for (size_t i = 0; code == PAWL_OK && i < infos.count; i++) {
        const pawl_queue_query query = {
            .queue = infos.items[i].queue, .due_max = now, .count_max = HEAD_ROWS};
        rows->queue = query.queue;
        if (infos.items[i].ready > 0)
            code = pawl__queue_each(store, &query, add_marked, rows, &count, error);
    }
    return code;
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    worker_row        *rows = NULL, *found = NULL;
    marked_rows        marked = {.arena = arena};
    size_t             count  = 0;
    pawl_uuid          id     = {{0}};
    pawl__view         view   = pawl__view_of(&workers, fields->is_json, arena);
    view.level                = PAWL__LEVEL_SHOW;
    pawl_code code            = pawl_uuid_parse(pawl_text_of(fields->id), &id, error);
    if (code == PAWL_OK)
        code = find_rows(fields, store, view.now, arena, &rows, &count, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (pawl_uuid_compare(rows[i].info.id.uuid, id) == 0)
            found = &rows[i];
    if (code == PAWL_OK && found == NULL)
        return pawl_error_set(error, PAWL_ENOTFOUND,
                              "no worker %s is alive: `pawl worker list` has those that are",
                              fields->id);
    marked.worker = id;
    if (code == PAWL_OK)
        code = find_marked(store, view.now, &marked, error);
    if (code != PAWL_OK)
        return code;
    found->next =
        marked.count > 0
            ? PAWL_TEXT("the message below, which it runs isolated, as processes crashed "
                        "before")
            : pawl__must_printf(
                  arena,
                  "not known: this store keeps no row for a claim; messages in flight are among the due "
                  "messages of `pawl queue peek %.*s --due now`; one that runs isolated after a crash is named",
                  PAWL_TEXT_ARGS(found->info.endpoint));
    const pawl__inner_rows isolated = {"isolated", stamped_columns, sizeof(marked_row),
                                       marked.items, marked.count};
    return pawl__row_show(&view, found, &isolated, 1);
}

static pawl_code check_words(void *context, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_uuid          id;
    pawl_code          code = PAWL_OK;
    pawl__interrupt_says(NULL);
    if (fields->id != NULL)
        code = pawl_uuid_parse(pawl_text_of(fields->id), &id, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "ID");
}

PAWL__VERB_ON_STORE(worker, verb_fields, ACTIONS(PAWL__ACTION_FUNCTION))
