/* queue.c - `pawl queue list|show|peek|pause|resume`: lists queues and who reads them, shows messages without claiming
 * them, and pauses queues. queue_take.c has purge and move.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/queue/queue.h"

#include <inttypes.h>
#include <string.h>

/* ---- Words ----------------------------------------------------------------- */

#define ACTIONS(X)                                                                              \
    X(LIST, "list", "",                                                                         \
      "all queues: how many messages, the oldest, who reads them, what is paused", list)        \
    X(MOVE, "move", "QUEUE TO",                                                                 \
      "put its messages into another queue, with their ids, in their order", pawl__queue_take)  \
    X(PAUSE, "pause", "QUEUE", "stop the work on it, in all processes, until it is resumed",    \
      settle)                                                                                   \
    X(PEEK, "peek", "QUEUE",                                                                    \
      "its messages in the order in which they are handled, and what each waits for", peek)     \
    X(PURGE, "purge", "QUEUE", "make dead letters of its messages; with --discard delete them", \
      pawl__queue_take)                                                                         \
    X(RESUME, "resume", "QUEUE", "go on with one that is paused", settle)                       \
    X(SHOW, "show", "QUEUE", "one queue, what happens next, and what operators did with it", show)
PAWL__ACTIONS(ACTIONS)

#define FOR_PEEK (1U << ACTION_PEEK)
#define FOR_TAKE (1U << ACTION_MOVE | 1U << ACTION_PURGE)
#define FOR_CHANGE (1U << ACTION_PAUSE | 1U << ACTION_RESUME | FOR_TAKE)

const pawl__argument pawl__queue_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(pawl__queue_fields, words.action),
    PAWL__ARGUMENT(pawl__queue_fields, "QUEUE", queue,
                   "as list has it: the name of its endpoint, or where messages were sent",
                   .is_optional = true),
    PAWL__ARGUMENT(pawl__queue_fields, "TO", to, "move: the queue that they go to",
                   .is_optional = true),
    {.name = NULL},
};

static const char *const due_names[] = {"later", "now", NULL};

#define OPTION(name, kind, member, ...) \
    PAWL__OPTION(pawl__queue_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__queue_verb_options[] = {
    PAWL__OPTIONS_ROWS(pawl__queue_fields, at, words.is_json),
    OPTION("discard", FLAG, is_discarding, NULL, 1U << ACTION_PURGE,
           "for good, without dead letters"),
    OPTION("dry-run", FLAG, words.is_dry, NULL, FOR_TAKE, "only count them"),
    OPTION("due", TEXT, due, "WHEN", FOR_PEEK | FOR_TAKE,
           "now: what is due; later: what is scheduled or retried", .choices = due_names),
    OPTION("due-at", TIME, due_at, "TIME", FOR_TAKE,
           "with --due: the time that it means by now: to go on", .with = "due"),
    OPTION("id", FILTER, id, "ID", FOR_PEEK, "the message of this id"),
    OPTION("last", COUNT, last, "SEQ", FOR_TAKE,
           "no message with a larger number, as peek has it: to go on", 1, INT64_MAX),
    PAWL__OPTION_LIMIT(pawl__queue_fields, limit, FOR_PEEK, "messages"),
    OPTION("rate", COUNT, words.rate, "N", FOR_TAKE, "at most N messages a second", 1, INT64_MAX),
    PAWL__OPTION_REASON(pawl__queue_fields, words.reason, FOR_CHANGE, "record"),
    OPTION("reveal", FLAG, is_revealed, NULL, FOR_PEEK, "headers and bodies as well"),
    OPTION("type", FILTER, type, "TYPE", FOR_PEEK | FOR_TAKE, "messages of this type"),
    OPTION("where", LIST, where, "NAME=VALUE", FOR_TAKE,
           "messages that meet this condition, as of pawl find: customer_id=4711, id=ID"),
    OPTION("yes", FLAG, words.is_agreed, NULL, FOR_TAKE, "without asking"),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

typedef enum queue_state { STATE_READ, STATE_UNREAD, STATE_PAUSED } queue_state;
static const char *const state_names[] = {
    [STATE_READ] = "read", [STATE_UNREAD] = "no consumer", [STATE_PAUSED] = "paused", NULL};

typedef struct queue_row {
    pawl_queue_info info;
    queue_state     state;
    pawl_time       paused; /* since when; 0: it is not */
    pawl_text       paused_by, paused_reason;
    pawl_text       next;
} queue_row;

#define QUEUE(key, kind, member, ...) PAWL__COLUMN(queue_row, key, kind, member, __VA_ARGS__)
static const pawl__column queue_columns[] = {
    QUEUE("queue", TEXT, info.queue, "queue"),
    QUEUE("ready", ROWS, info.ready, "ready"),
    QUEUE("scheduled", ROWS, info.scheduled, "scheduled"),
    QUEUE("oldest", TIME, info.oldest, "oldest"),
    QUEUE("workers", COUNT, info.workers, "workers"),
    QUEUE("state", NAME, state, "state", .names = state_names),
    QUEUE("dead", ROWS, info.dead, "dead letters"),
    QUEUE("types", COUNT, info.types, NULL),
    QUEUE("paused", TIME, paused, NULL),
    QUEUE("paused_by", TEXT, paused_by, NULL),
    QUEUE("paused_reason", TEXT, paused_reason, NULL),
    QUEUE("next", TEXT, next, NULL, PAWL__LEVEL_SHOW),
    {.key = NULL},
};

typedef struct message_row {
    pawl_queue_message message;
    pawl_text          waits; /* why it is not handled now */
    /* Of a message of an ordered queue: its key, the message that it waits for, how many wait for it. */
    pawl_text key, behind;
    int64_t   holds;
} message_row;

#define MESSAGE(key, kind, member, ...) \
    PAWL__COLUMN(message_row, key, kind, message.member, __VA_ARGS__)
static const pawl__column message_columns[] = {
    MESSAGE("message_id", TEXT, row.message.id, "message id"),
    MESSAGE("type", TEXT, row.message.type, "type"),
    MESSAGE("attempts", COUNT_32, row.attempts, "attempts"),
    MESSAGE("crashes", COUNT_32, row.crashes, NULL),
    MESSAGE("due", TIME, row.due, "due"),
    PAWL__COLUMN(message_row, "waits", TEXT, waits, "waits"),
    MESSAGE("error", TEXT, error, "last error"),
    MESSAGE("seq", COUNT, row.seq, NULL),
    MESSAGE("placed", TIME, row.placed, NULL),
    MESSAGE("waiting_since", TIME, row.waiting_since, NULL),
    PAWL__COLUMN(message_row, "key", TEXT, key, NULL),
    PAWL__COLUMN(message_row, "behind", TEXT, behind, NULL),
    PAWL__COLUMN(message_row, "holds", COUNT, holds, NULL),
    MESSAGE("correlation_id", TEXT, row.message.correlation_id, NULL),
    MESSAGE("causation_id", TEXT, row.message.causation_id, NULL),
    MESSAGE("body_size", SIZE, row.message.body, NULL),
    MESSAGE("history", JSON, row.history, NULL, PAWL__LEVEL_REVEAL),
    MESSAGE("headers", JSON, row.message.headers, NULL, PAWL__LEVEL_REVEAL),
    MESSAGE("body", TEXT, row.message.body, NULL, PAWL__LEVEL_REVEAL),
    {.key = NULL},
};

static const pawl__noun queues   = {"queue", queue_columns, sizeof(queue_row)};
static const pawl__noun messages = {"message", message_columns, sizeof(message_row)};

const pawl__report pawl__queue_verb_reports[] = {
    {"list, show", queue_columns, NULL},
    {"peek", message_columns, NULL},
    {"history, of peek", NULL, "attempt at code error"},
    {"pause, resume", NULL, "done queue"},
    {"move, purge", NULL, "queue moved dead_lettered discarded left copies due_at last"},
    {"with --dry-run", NULL, "queue matching left due_at last"},
    {"actions, of show", pawl__action_columns, NULL},
    {.what = NULL},
};

/* ---- List and show --------------------------------------------------------- */

/* A queue that only has dead letters needs no reader until they are retried. */
static queue_row row_of(const pawl_queue_info *info)
{
    queue_row row = {.info = *info, .state = info->workers > 0 ? STATE_READ : STATE_UNREAD};
    if (!info->pause.is_paused)
        return row;
    row.state         = STATE_PAUSED;
    row.paused        = info->pause.since;
    row.paused_by     = info->pause.by;
    row.paused_reason = info->pause.reason;
    return row;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__queue_fields *fields = context;
    pawl__view                view   = pawl__view_of(&queues, fields->words.is_json, arena);
    pawl_queue_infos          infos  = {.count = 0};
    pawl_code                 code = pawl_store_queue_infos(store, view.now, arena, &infos, error);
    if (code != PAWL_OK)
        return code;
    queue_row *rows = pawl__must_take(arena, (infos.count + 1) * sizeof *rows);
    for (size_t i = 0; i < infos.count; i++)
        rows[i] = row_of(&infos.items[i]);
    if (infos.count == 0 && !fields->words.is_json)
        fputs("there is no queue\n", stderr);
    return pawl__rows_print(&view, rows, infos.count);
}

pawl_text pawl__queue_next(const pawl_queue_info *info, pawl_arena *arena)
{
    int64_t count = info->ready + info->scheduled;
    if (info->pause.is_paused)
        return pawl__must_printf(arena, "nothing: it is paused, until `pawl queue resume %s`",
                                 pawl__shell_argument(info->queue, arena).data);
    if (info->workers == 0 && count > 0)
        return pawl__must_printf(arena, "nothing: no worker of an endpoint that reads it is alive; "
                                        "start one, as with `pawl run APP.so`");
    if (info->workers == 0)
        return PAWL_TEXT("nothing: it is empty, and has no consumer");
    if (info->ready > 0)
        return pawl__must_printf(arena,
                                 "its workers, %" PRId64 " with the service of each process, "
                                 "handle what is due, the oldest first",
                                 info->workers);
    if (count > 0)
        return pawl__must_printf(
            arena, "nothing is due now: `pawl queue peek %s` says what each waits for",
            pawl__shell_argument(info->queue, arena).data);
    return PAWL_TEXT("nothing: it is empty");
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__queue_fields *fields = context;
    pawl_queue_info           info   = {.ready = 0};
    pawl_event_rows           events = {.count = 0};
    pawl__view                view   = pawl__view_of(&queues, fields->words.is_json, arena);
    pawl_code code = pawl__queue_info_find(store, fields->queue, view.now, arena, &info, error);
    if (code == PAWL_OK)
        code = pawl_store_queue_actions(store, info.queue, arena, &events, error);
    if (code != PAWL_OK)
        return code;
    queue_row row = row_of(&info);
    view.level    = PAWL__LEVEL_SHOW;
    row.next      = pawl__queue_next(&info, arena);
    return pawl__actions_show(&view, &row, &events, "pawl.queue_");
}

/* ---- Peek ------------------------------------------------------------------ */

typedef struct peeking {
    pawl__view      *view;
    pawl_store      *store;
    pawl_queue_query query;
    pawl_queue_row   last; /* last row of the previous page: only its key */
    pawl_time        now;
    pawl__held       held; /* once a page has a message that may hold others back */
    bool             has_held;
    pawl_arena      *arena; /* of the whole listing */
} peeking;

/* Sets the key, and the message that this one waits for, or how many wait for it. */
static void note_order(const pawl__held *held, message_row *made)
{
    const pawl__held_key *key = pawl__held_of_holder(held, made->message.row.message.id);
    if (key != NULL) {
        made->key   = key->key;
        made->holds = key->behind;
    } else {
        (void)pawl__held_split(made->message.error, &made->behind, &made->key);
    }
}

static pawl_text waits_itself(const message_row *made, pawl_time now, pawl_arena *arena)
{
    const pawl_queue_row *row = &made->message.row;

    char due[PAWL__SPAN_SIZE], since[PAWL__SPAN_SIZE];
    if (row->due <= now)
        return PAWL_TEXT("due");
    (void)pawl__age_text(row->due, now, due);
    if (made->behind.size != 0)
        return pawl__must_printf(arena, "behind %.*s of key '%.*s', until %s",
                                 PAWL_TEXT_ARGS(made->behind), PAWL_TEXT_ARGS(made->key), due);
    if (made->key.size != 0 && made->holds == 0)
        return pawl__must_printf(arena, "behind an earlier one of key '%.*s', until %s",
                                 PAWL_TEXT_ARGS(made->key), due);
    if (row->waiting_since != 0)
        return pawl__must_printf(arena, "for its saga, since %s; again %s",
                                 pawl__age_text(row->waiting_since, now, since), due);
    if (row->attempts > 0)
        return pawl__must_printf(arena, "retry %" PRId32 ", %s", row->attempts, due);
    return pawl__must_printf(arena, "scheduled: due %s", due);
}

static pawl_text waits_of(const peeking *it, const message_row *made, pawl_arena *arena)
{
    const pawl__held_key *key = pawl__held_of_holder(&it->held, made->message.row.message.id);
    pawl_text             own = waits_itself(made, it->now, arena);
    char                  since[PAWL__SPAN_SIZE];
    if (key == NULL || made->message.row.due <= it->now)
        return own;
    return pawl__must_printf(arena, "%.*s; %.*s%s%s", PAWL_TEXT_ARGS(own),
                             PAWL_TEXT_ARGS(pawl__held_words(&it->held, key, arena)),
                             key->since != 0 ? ", since " : "",
                             key->since != 0 ? pawl__age_text(key->since, it->now, since) : "");
}

/* Is one of the messages deferred? Only deferred messages hold others back, or are held back, in an ordered queue. */
static bool has_later(const pawl_queue_messages *found, pawl_time now)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].row.due > now &&
            (found->items[i].row.attempts > 0 || found->items[i].row.waiting_since != 0 ||
             found->items[i].error.size != 0))
            return true;
    return false;
}

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    peeking            *it    = context;
    pawl_queue_messages found = {.count = 0};
    it->query.count_max       = count_max;
    pawl_code    code         = pawl_store_queue_find(it->store, &it->query, arena, &found, error);
    message_row *made         = pawl__must_take(arena, (found.count + 1) * sizeof *made);
    if (code == PAWL_OK && !it->has_held && has_later(&found, it->now)) {
        code = pawl__held_read(it->store, it->query.queue, it->now, it->arena, &it->held, error);
        it->has_held = code == PAWL_OK;
    }
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++) {
        made[i] = (message_row){.message = found.items[i]};
        note_order(&it->held, &made[i]);
        made[i].waits = waits_of(it, &made[i], arena);
    }
    if (code == PAWL_OK && found.count > 0) {
        it->last        = found.items[found.count - 1].row;
        it->query.after = &it->last;
    }
    *rows            = made;
    *count           = found.count;
    it->view->is_cut = found.is_cut;
    return code;
}

static pawl_code peek(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__queue_fields *fields = context;
    pawl__view                view   = pawl__view_of(&messages, fields->words.is_json, arena);
    peeking                   it     = {.view = &view, .store = store, .now = view.now};
    it.query                         = (pawl_queue_query){.queue      = pawl_text_of(fields->queue),
                                                          .message_id = pawl_text_of(fields->id),
                                                          .type       = pawl_text_of(fields->type),
                                                          .size_max   = PAWL_CLAIM_SIZE_MAX};
    if (fields->due != NULL && strcmp(fields->due, "later") == 0)
        it.query.due_min = view.now + 1;
    else if (fields->due != NULL)
        it.query.due_max = view.now;
    pawl_queue_info info;
    pawl_code code = pawl__queue_info_find(store, fields->queue, view.now, arena, &info, error);
    if (code != PAWL_OK)
        return code;
    view.level    = fields->is_revealed ? PAWL__LEVEL_REVEAL : PAWL__LEVEL_LIST;
    view.is_pages = fields->is_revealed; /* with headers and bodies */
    it.arena      = pawl__must_create();
    code          = pawl__rows_list(&view, fields->limit, next_page, &it, error);
    pawl_arena_destroy(it.arena);
    return code;
}

/* ---- Pause and resume ------------------------------------------------------ */

/* Says that the queue is already paused, and by whom, or not paused. */
static void say_already(const pawl__queue_fields *fields, const pawl_queue_pause *pause)
{
    char at[PAWL_TIME_TEXT_SIZE + 1];
    if (!pause->is_paused) {
        pawl__say(stderr, "queue %s is not paused", fields->queue);
        return;
    }
    pawl_time_format(pause->since, at);
    pawl__say(stderr, "queue %s is paused since %s, by %.*s", fields->queue, at,
              PAWL_TEXT_ARGS(pause->by));
}

/* Refuses an unknown name as a typing error, but a paused queue can be resumed even if nothing else names it. */
static pawl_code check_known(pawl_store *store, const pawl__queue_fields *fields,
                             pawl_queue_pause *pause, pawl_arena *arena, pawl_error *error)
{
    pawl_text       name = pawl_text_of(fields->queue);
    pawl_queue_info info;
    pawl_code       code = pawl_store_queue_pause_find(store, name, arena, pause, error);
    if (code != PAWL_OK || pause->is_paused)
        return code;
    return pawl__queue_info_find(store, fields->queue, pawl_clock_now(NULL), arena, &info, error);
}

static pawl_code settle(const void *context, pawl_store *store, pawl_arena *arena,
                        pawl_error *error)
{
    const pawl__queue_fields *fields   = context;
    bool                      is_pause = strcmp(fields->words.action, "pause") == 0;
    pawl_text                 name     = pawl_text_of(fields->queue);
    pawl_text                 reason   = pawl_text_of(fields->words.reason);
    pawl_time                 now      = pawl_clock_now(NULL);
    pawl_queue_pause          pause    = {.is_paused = false};
    pawl_text                 by       = pawl__user();
    pawl_code                 code     = check_known(store, fields, &pause, arena, error);
    if (code != PAWL_OK)
        return code;
    if (pause.is_paused == is_pause)
        say_already(fields, &pause);
    else if (is_pause)
        code = pawl_store_queue_pause(store, name, by, reason, now, error);
    else
        code = pawl_store_queue_resume(store, name, by, reason, now, error);
    if (code != PAWL_OK)
        return code;
    const char *done = is_pause ? "paused" : "resumed";
    return pawl__done_print(
        fields->words.is_json,
        PAWL__FACTS({.key = "done", .text = done}, {.key = "queue", .text = fields->queue}),
        "%s queue %s", done, fields->queue);
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_words(void *context, pawl_error *error)
{
    pawl__queue_fields *fields = context;
    fields->words.is_all       = true;
    return pawl__queue_take_check(fields, error);
}

PAWL__VERB_ON_STORE(queue, pawl__queue_fields, ACTIONS(PAWL__ACTION_FUNCTION))
