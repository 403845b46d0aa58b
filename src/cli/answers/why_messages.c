/* why_messages.c - looks for an id among messages: dead letters, queues, and deduplication records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/dead/dead.h"
#include "cli/queue/queue.h"

#include "pawl/store_worker.h"
#include "store/core/action.h"

#include <inttypes.h>
#include <string.h>

#define LETTERS_MAX 10
#define HANDLER_LONG PAWL_SECONDS(10) /* a handler that runs so long is named in the log */

/* ---- Dead letters ------------------------------------------------------- */

pawl_code pawl__why_add_letter(pawl__why *why, const pawl_dead_row *row, const char *place)
{
    pawl_arena  *arena       = why->arena;
    bool         is_sendable = pawl__dead_is_sendable(row);
    bool         has_type    = row->message.type.size != 0;
    pawl_text    id          = pawl__shell_word(row->message.id, arena);
    pawl_text    endpoint    = pawl__shell_word(row->endpoint, arena);
    pawl__answer answer      = {
             .place      = place,
             .name       = pawl__must_printf(arena, "of endpoint %.*s, message %.*s %s%.*s%s",
                                             PAWL_TEXT_ARGS(row->endpoint), PAWL_TEXT_ARGS(row->message.id),
                                  has_type ? "(" : "without a type",
                                             PAWL_TEXT_ARGS(row->message.type), has_type ? ")" : ""),
             .waits_for  = is_sendable ? PAWL_TEXT("somebody who retries or discards it")
                                       : PAWL_TEXT("somebody who discards it: it has no type or queue"),
             .since      = row->at,
             .error      = pawl__must_printf(arena, "%.*s: %.*s", PAWL_TEXT_ARGS(row->code),
                                             PAWL_TEXT_ARGS(row->error)),
             .claimed_by = PAWL_TEXT("nobody"),
             .next       = PAWL_TEXT("nothing"),
    };
    static const char *const forms[] = {"show", "retry", "discard"};
    for (size_t i = 0; i < 3; i++)
        answer.commands[i] =
            i == 1 && !is_sendable
                ? PAWL_TEXT("")
                : pawl__must_printf(arena, "pawl dead %s %.*s --endpoint %.*s", forms[i],
                                    PAWL_TEXT_ARGS(id), PAWL_TEXT_ARGS(endpoint));
    return pawl__why_add(why, &answer);
}

pawl_code pawl__why_letters(pawl__why *why)
{
    pawl_dead_rows        rows  = {.count = 0};
    const pawl_dead_query query = {.message_id = why->word, .count_max = LETTERS_MAX};
    pawl_code code = pawl_store_dead_find(why->store, &query, why->arena, &rows, why->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        code = pawl__why_add_letter(why, &rows.items[i], "dead letter");
    return code;
}

/* ---- Queues ------------------------------------------------------------- */

/* A message of a version that no worker of the endpoint reads has not failed, and a retry does not help. */
static bool say_unread(const pawl__why *why, const pawl_queue_message *message, pawl_text queue,
                       pawl__answer *answer)
{
    char span[PAWL__SPAN_SIZE];
    if (!pawl__text_begins(message->error, PAWL_QUEUE_AWAITS_VERSION))
        return false;
    answer->waits_for = pawl__must_printf(
        why->arena,
        "a program of endpoint %.*s that reads its version: no worker that read it does",
        PAWL_TEXT_ARGS(queue));
    answer->since = message->row.placed;
    answer->error = message->error;
    answer->next  = pawl__must_printf(
         why->arena, "tried again %s, uncounted and without end, until such a program runs",
         pawl__age_text(message->row.due, why->now, span));
    return true;
}

static void say_due(const pawl__why *why, pawl_text queue, const pawl_queue_row *row,
                    pawl__answer *answer)
{
    char    span[PAWL__SPAN_SIZE];
    int64_t other =
        row->waiting_since != 0 ? pawl__why_process_without(why, queue, row->message.type) : 0;
    pawl__age_text(row->due, why->now, span);
    if (other != 0) {
        answer->waits_for = pawl__must_printf(
            why->arena,
            "a worker that handles type %.*s: process %lld, which reads the queue, does not",
            PAWL_TEXT_ARGS(row->message.type), (long long)other);
        answer->since = row->waiting_since;
    } else if (row->waiting_since != 0) {
        answer->waits_for = PAWL_TEXT("the message that begins its saga: there is none yet");
        answer->since     = row->waiting_since;
    } else if (row->due > why->now && row->attempts > 0)
        answer->waits_for =
            pawl__must_printf(why->arena, "its next run, %s: %d failed", span, (int)row->attempts);
    else if (row->due > why->now)
        answer->waits_for = pawl__must_printf(why->arena, "its time, %s", span);
    else
        answer->waits_for = PAWL_TEXT("a worker that is free");
    if (row->due > why->now)
        answer->next = pawl__must_printf(why->arena, "a worker handles it %s", span);
}

/* Fills the answer from the message that holds this one back. */
static void say_behind(const pawl__why *why, const pawl__held *held, const pawl__held_key *key,
                       pawl_text queue, pawl__answer *answer)
{
    char        span[PAWL__SPAN_SIZE];
    pawl_arena *arena = why->arena;
    answer->next      = PAWL_TEXT("a worker handles it behind that one");
    if (!key->is_there) {
        answer->waits_for = pawl__must_printf(
            arena, "an earlier message of its key '%.*s'%s%.*s%s", PAWL_TEXT_ARGS(key->key),
            key->holder.size != 0 ? ": " : "", PAWL_TEXT_ARGS(key->holder),
            key->holder.size != 0 ? ", which is gone" : "");
        return;
    }
    answer->waits_for =
        pawl__must_printf(arena, "message %.*s of its key, tried again %s: %.*s",
                          PAWL_TEXT_ARGS(key->holder), pawl__age_text(key->due, why->now, span),
                          PAWL_TEXT_ARGS(pawl__held_words(held, key, arena)));
    answer->since       = key->since != 0 ? key->since : answer->since;
    answer->error       = key->error;
    answer->commands[1] = pawl__why_command("pawl why", key->holder, arena);
    answer->commands[2] = pawl__must_printf(arena, "pawl queue peek %.*s --id %.*s --reveal",
                                            PAWL_TEXT_ARGS(pawl__shell_word(queue, arena)),
                                            PAWL_TEXT_ARGS(pawl__shell_word(key->holder, arena)));
}

/* A message of an ordered endpoint may be held behind an earlier one, as its row says, or hold others back. */
static pawl_code say_held(const pawl__why *why, pawl_text queue, const pawl_queue_message *message,
                          pawl__answer *answer)
{
    pawl_text             holder, name;
    pawl__held            held;
    const pawl_queue_row *row = &message->row;
    if (say_unread(why, message, queue, answer) || row->due <= why->now)
        return PAWL_OK;
    pawl_code code = pawl__held_read(why->store, queue, why->now, why->arena, &held, why->error);
    if (code != PAWL_OK || held.count == 0)
        return code;
    const pawl__held_key *key = pawl__held_of_holder(&held, row->message.id);
    if (key != NULL) {
        answer->waits_for =
            pawl__must_printf(why->arena, "%.*s; %.*s", PAWL_TEXT_ARGS(answer->waits_for),
                              PAWL_TEXT_ARGS(pawl__held_words(&held, key, why->arena)));
        answer->since = key->since != 0 ? key->since : answer->since;
    } else if (pawl__held_split(message->error, &holder, &name)) {
        key = pawl__held_of_key(&held, name);
        if (key != NULL)
            say_behind(why, &held, key, queue, answer);
    }
    return PAWL_OK;
}

/* Is the message isolated and in flight? Then the last entry of its history is an in-flight marker of a live worker. */
static bool say_isolated(const pawl__why *why, const pawl_queue_row *row, pawl__answer *answer)
{
    pawl_worker_in_flight marker;
    if (!pawl_worker_in_flight_read(why->arena, row->history, &marker))
        return false;
    for (size_t i = 0; i < why->worker_count; i++) {
        if (pawl_uuid_compare(why->workers[i].id.uuid, marker.worker.uuid) != 0)
            continue;
        answer->waits_for =
            PAWL_TEXT("the end of its handler: it runs isolated, as processes crashed before");
        answer->since      = marker.at;
        answer->error      = PAWL_TEXT("");
        answer->claimed_by = pawl__why_worker(why, &why->workers[i]);
        answer->next       = PAWL_TEXT("nothing, until the handler ends or its process crashes");
        return true;
    }
    return false;
}

/* Most stores keep no claim in the row: a message that is long due is in flight, or waits for others that are. Of an
 * ordered queue the one worker is known by its lease. */
static pawl_code say_in_flight(pawl__why *why, pawl_text queue, const pawl_queue_row *row,
                               pawl__answer *answer)
{
    bool           is_led = false;
    pawl_worker_id leader;
    if (row->waiting_since == 0 && row->due <= pawl_time_add(why->now, -HANDLER_LONG)) {
        answer->waits_for = PAWL_TEXT(
            "its turn, behind messages that are due before it, or a handler that runs: its "
            "own, or one of a message that was claimed with it");
        answer->next =
            PAWL_TEXT("a worker handles it; where the log of these processes names a handler that "
                      "hangs, end its process");
    }
    pawl_code code = pawl__why_leader(why, "ordered", queue, &is_led, &leader);
    for (size_t i = 0; code == PAWL_OK && is_led && i < why->worker_count; i++)
        if (pawl_uuid_compare(why->workers[i].id.uuid, leader.uuid) == 0)
            answer->claimed_by =
                pawl__must_printf(why->arena, "nobody, or %.*s, which leads the ordered queue",
                                  PAWL_TEXT_ARGS(pawl__why_worker(why, &why->workers[i])));
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

static pawl_code add_message(pawl__why *why, pawl_text queue, const pawl_queue_message *message)
{
    pawl_arena           *arena      = why->arena;
    bool                  is_stopped = false;
    const pawl_queue_row *row        = &message->row;
    pawl_text             workers    = pawl__why_workers(why, queue);
    pawl__answer          answer     = {
                     .place = "queue",
                     .name =
                         pawl__must_printf(arena, "%.*s, message %.*s (%.*s)", PAWL_TEXT_ARGS(queue),
                                           PAWL_TEXT_ARGS(row->message.id), PAWL_TEXT_ARGS(row->message.type)),
                     .since = row->placed,
                     .claimed_by =
            workers.size != 0
                             ? pawl__must_printf(arena, "nobody, or one of %.*s", PAWL_TEXT_ARGS(workers))
                             : PAWL_TEXT("nobody: no worker of an endpoint that reads it lives"),
                     .next = PAWL_TEXT("the first worker that is free handles it"),
    };
    answer.error = pawl__why_last(why, row->history, &answer.since);
    say_due(why, queue, row, &answer);
    bool      is_isolated = say_isolated(why, row, &answer);
    pawl_code code =
        workers.size != 0 && !is_isolated ? say_in_flight(why, queue, row, &answer) : PAWL_OK;
    if (code == PAWL_OK)
        code = say_held(why, queue, message, &answer);
    if (workers.size == 0)
        answer.next = PAWL_TEXT("nothing, until a worker of its endpoint runs");
    if (code == PAWL_OK)
        code = pawl__why_pause(why, queue, &answer, &is_stopped);
    if (code == PAWL_OK && !is_stopped)
        code = pawl__why_breaker(why, queue, &answer, &is_stopped);
    if (is_stopped)
        return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
    if (workers.size == 0)
        answer.commands[0] = PAWL_TEXT("pawl run APP.so");
    else
        answer.commands[0] = pawl__why_command(
            "pawl worker list --endpoint", pawl__queue_reader(&why->subscriptions, queue), arena);
    return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
}

/* Finds the message in each queue by an index. The queues come from statistics, which are cheap: they count to one. */
pawl_code pawl__why_queues(pawl__why *why)
{
    pawl_stats stats = {.stats_size = sizeof stats, .count_max = 1};
    pawl_code  code  = pawl_store_stats(why->store, why->now, why->arena, &stats, why->error);
    for (size_t i = 0; code == PAWL_OK && i < stats.queue_count; i++) {
        const pawl_queue_query query = {
            .queue = stats.queues[i].queue, .message_id = why->word, .count_max = 1};
        pawl_queue_messages found = {.count = 0};
        code = pawl_store_queue_find(why->store, &query, why->arena, &found, why->error);
        if (code == PAWL_OK && found.count > 0)
            code = add_message(why, query.queue, &found.items[0]);
    }
    return code;
}

/* ---- What was handled --------------------------------------------------- */

/* "nothing: `why`", as far as aggregators were read. */
static pawl_text say_nothing(pawl__why *why, const char *reason, pawl_text *command)
{
    if (why->is_collected)
        return PAWL_TEXT("nothing: an aggregator has it");
    if (!why->may_be_collected)
        return pawl__must_printf(why->arena, "nothing: %s", reason);
    pawl_text id = pawl__must_printf(why->arena, "id=%.*s", PAWL_TEXT_ARGS(why->word));
    *command     = pawl__why_command("pawl find --in aggregator", id, why->arena);
    return PAWL_TEXT("nothing, unless an aggregator has it");
}

static pawl_code add_mark(pawl__why *why, pawl_text endpoint)
{
    bool      is_known = false;
    pawl_code code =
        pawl_store_inbox_known(why->store, endpoint, &why->word, 1, &is_known, why->error);
    if (code != PAWL_OK || !is_known)
        return code;
    pawl__answer answer = {
        .place = "inbox",
        .name =
            pawl__must_printf(why->arena, "endpoint %.*s knows its id", PAWL_TEXT_ARGS(endpoint)),
        .claimed_by = PAWL_TEXT("nobody"),
        .next       = PAWL_TEXT("a copy that comes is dropped"),
    };
    answer.commands[0] = pawl__why_command("pawl events list --message-id", why->word, why->arena);
    answer.waits_for =
        say_nothing(why, "it was handled, dropped or dead-lettered", &answer.commands[1]);
    return pawl__why_add(why, &answer);
}

/* Adds the last run in the history, whose lines may be kept for longer than deduplication records. */
static pawl_code add_history(pawl__why *why)
{
    const pawl_history_query query = {.message_id = why->word};
    pawl_history_rows        rows  = {.count = 0};
    pawl_code code = pawl_store_history_find(why->store, &query, why->arena, &rows, why->error);
    if (code != PAWL_OK || rows.count == 0)
        return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
    const pawl_history_entry *last   = &rows.items[rows.count - 1].entry;
    pawl__answer              answer = {
                     .place      = "history",
                     .name       = pawl__must_printf(why->arena, "endpoint %.*s, %.*s %.*s: %.*s",
                                                     PAWL_TEXT_ARGS(last->endpoint), PAWL_TEXT_ARGS(last->kind),
                                                     PAWL_TEXT_ARGS(last->type), PAWL_TEXT_ARGS(last->outcome)),
                     .since      = last->at,
                     .error      = last->error,
                     .claimed_by = PAWL_TEXT("nobody"),
                     .next       = PAWL_TEXT("nothing"),
    };
    answer.commands[0] = pawl__why_command("pawl saga history", why->word, why->arena);
    answer.waits_for   = say_nothing(why, "it is not in the store any more", &answer.commands[1]);
    return pawl__why_add(why, &answer);
}

/* Only workers' rows have names of endpoints. If none runs, the queue's name is tried: by default it is the same. */
pawl_code pawl__why_inbox(pawl__why *why)
{
    pawl_subscriptions list  = {.count = 0};
    pawl_code          code  = pawl_store_subscriptions(why->store, why->arena, &list, why->error);
    size_t             all   = why->worker_count + list.count;
    pawl__text_set     names = {.arena = why->arena};
    for (size_t i = 0; code == PAWL_OK && i < all; i++) {
        pawl_text name = i < why->worker_count ? why->workers[i].endpoint
                                               : list.items[i - why->worker_count].queue;
        if (name.size > 0 && why->word.size <= PAWL_MESSAGE_ID_SIZE_MAX &&
            pawl__text_set_add(&names, name))
            code = add_mark(why, name);
    }
    bool is_id = why->word.size > 0 && why->word.size <= PAWL_MESSAGE_ID_SIZE_MAX;
    return code == PAWL_OK && why->count == 0 && is_id ? add_history(why) : code;
}
