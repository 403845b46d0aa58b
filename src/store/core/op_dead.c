/* op_dead.c - dead letters: what an operator does with them, and what that leaves.
 *
 * One commit for each call:
 *
 *     letter       retry, edit           discard
 *     dead_set     goes, its mark too    goes, its mark stays; refused unless its time is that of the letter that was read
 *     queue_send   the message, due now; of a timeout's letter timeout_set
 *                  refused while the queue, or the saga, has it: the letter stays
 *     event        who, when, why; the body where it would be lost
 *
 * The event's version is the guard of two who settle one letter at a time. The letter's time is the guard against all that
 * came between its read and the call: a message that was sent again, and died anew, has left another letter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include <string.h>

#define TRIES_MAX 5

/* ---- Streams ------------------------------------------------------------ */

pawl_text pawl_dead_stream(pawl_text endpoint, pawl_text message_id, pawl_arena *arena)
{
    pawl_text name =
        pawl_arena_printf(arena, "%.*s/%.*s", PAWL_TEXT_ARGS(endpoint), PAWL_TEXT_ARGS(message_id));
    return name.data != NULL ? pawl__action_stream(PAWL_DEAD_STREAMS, name, arena) : name;
}

pawl_code pawl_store_dead_actions(pawl_store *store, pawl_text endpoint, pawl_text message_id,
                                  pawl_arena *arena, pawl_event_rows *rows, pawl_error *error)
{
    pawl_event_query query = {.stream = pawl_dead_stream(endpoint, message_id, arena)};
    *rows                  = (pawl_event_rows){.count = 0};
    if (query.stream.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the name of a stream");
    return pawl_store_events(store, &query, arena, rows, error);
}

/* ---- The event ---------------------------------------------------------- */

static bool put_all(yyjson_mut_doc *doc, const pawl_dead_row *letter,
                    const pawl_dead_settle *settle, pawl_text history, pawl_arena *arena)
{
    char      at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_text attempts = pawl_arena_printf(arena, "%d", (int)letter->attempts);
    pawl_time_format(letter->at, at);
    return attempts.data != NULL && pawl__texts_put(doc, "by", settle->by) &&
           pawl__texts_put(doc, "reason", settle->reason) &&
           pawl__texts_put(doc, "endpoint", letter->endpoint) &&
           pawl__texts_put(doc, "queue", letter->queue) &&
           pawl__texts_put(doc, "type", letter->message.type) &&
           pawl__texts_put(doc, "code", letter->code) &&
           pawl__texts_put(doc, "error", letter->error) &&
           pawl__texts_put(doc, "attempts", attempts) &&
           pawl__texts_put(doc, "at", pawl_text_of(at)) &&
           (history.size == 0 || pawl__texts_put(doc, "history", history));
}

/* data NULL: out of memory. */
static pawl_text make_headers(const pawl_dead_row *letter, const pawl_dead_settle *settle,
                              pawl_text history, pawl_arena *arena)
{
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_done(doc, doc != NULL && put_all(doc, letter, settle, history, arena),
                            arena);
}

static pawl_code make_event(const pawl_dead_row *letter, const pawl_dead_settle *settle,
                            pawl_time now, pawl_arena *arena, pawl_event *event, pawl_error *error)
{
    static const char *const types[PAWL_DEAD_ACTIONS] = {PAWL_DEAD_RETRIED, PAWL_DEAD_EDITED,
                                                         PAWL_DEAD_DISCARDED};
    pawl_text                headers = make_headers(letter, settle, letter->history, arena);
    if (headers.size > PAWL_HEADERS_SIZE_MAX)
        headers = make_headers(letter, settle, (pawl_text){0}, arena);
    *event = (pawl_event){.type           = pawl_text_of(types[settle->action]),
                          .type_version   = PAWL_DEAD_WITH_BODY,
                          .headers        = headers,
                          .message_id     = letter->message.id,
                          .correlation_id = letter->message.correlation_id,
                          .causation_id   = letter->message.causation_id,
                          .at             = now};
    if (settle->action != PAWL_DEAD_RETRY)
        event->body = letter->message.body;
    return headers.data != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "out of memory");
}

/* ---- Settling ----------------------------------------------------------- */

typedef struct parts {
    pawl_stream_read  *reads;
    pawl_stream       *streams;
    pawl_event_append *events;
    pawl_queue_send   *sends;
    pawl_timeout_set  *timeouts;
    pawl_dead_set     *removals;
    size_t             send_count, timeout_count;
} parts;

static pawl_code take_parts(size_t count, pawl_arena *arena, parts *made, pawl_error *error)
{
    made->reads    = pawl_arena_take(arena, count * sizeof *made->reads);
    made->streams  = pawl_arena_take(arena, count * sizeof *made->streams);
    made->events   = pawl_arena_take(arena, count * sizeof *made->events);
    made->sends    = pawl_arena_take(arena, count * sizeof *made->sends);
    made->timeouts = pawl_arena_take(arena, count * sizeof *made->timeouts);
    made->removals = pawl_arena_take(arena, count * sizeof *made->removals);
    if (made->reads != NULL && made->streams != NULL && made->events != NULL &&
        made->sends != NULL && made->timeouts != NULL && made->removals != NULL)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu dead letters", count);
}

static pawl_code check_settle(const pawl_dead_settle *settle, size_t count, pawl_error *error)
{
    if ((unsigned)settle->action >= PAWL_DEAD_ACTIONS)
        return pawl_error_set(error, PAWL_EINVAL, "dead letters: action %d is unknown",
                              (int)settle->action);
    if (settle->by.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "dead letters: say by whom they are settled");
    if (settle->by.size + settle->reason.size > PAWL_ERROR_TEXT_SIZE_MAX)
        return pawl_error_set(
            error, PAWL_ELIMIT,
            "dead letters: the reason and by whom have %zu bytes together, limit %d",
            settle->by.size + settle->reason.size, PAWL_ERROR_TEXT_SIZE_MAX);
    if (count > PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_EINVAL,
                              "dead letters: %zu to settle in one commit, limit %d", count,
                              PAWL_BATCH_MESSAGES_MAX);
    return PAWL_OK;
}

/* PAWL_OK: a store takes the timeout. Its saga's type and id come from headers: those of a message that an earlier version's
 * letter holds may be any text. */
static pawl_code check_timeout(const pawl_timeout_set *timeout)
{
    pawl_timeout_set one     = *timeout;
    pawl_changes     changes = {.group_count = 1, .unit_count = 1, .timeout_set = {&one, 1}};
    one.unit = one.group = 0;
    return pawl_changes_check(&changes, NULL);
}

/* A timeout's letter has the timeout's id and name, and its headers with two more that name its saga. A message that a
 * foreign timeout became has these headers as well, but names what caused it, and so does the letter of any other message
 * that has them (base/storable.h). `*is_timeout` false: it is a message. PAWL_ENOMEM is the only failure. */
static pawl_code read_timeout(const pawl_dead_row *letter, pawl_arena *arena,
                              pawl_timeout_set *timeout, bool *is_timeout)
{
    static const char *const of_saga[] = {PAWL_HEADER_SAGA, PAWL_HEADER_SAGA_ID, NULL};
    const pawl_message      *message   = &letter->message;
    *is_timeout                        = false;
    if (!pawl__dead_may_be_timeout(message) ||
        pawl_uuid_parse(message->id, &timeout->id.uuid, NULL) != PAWL_OK)
        return PAWL_OK;
    yyjson_doc *doc  = pawl__texts_read(message->headers);
    yyjson_val *root = yyjson_doc_get_root(doc);
    pawl_text   id   = pawl__texts_text(root, PAWL_HEADER_SAGA_ID, arena);
    *is_timeout      = id.size != 0 && pawl_uuid_parse(id, &timeout->saga_id.uuid, NULL) == PAWL_OK;
    if (*is_timeout) {
        timeout->saga_type      = pawl__texts_text(root, PAWL_HEADER_SAGA, arena);
        timeout->headers        = pawl__texts_without(doc, of_saga, arena);
        timeout->name           = message->type;
        timeout->destination    = letter->queue;
        timeout->correlation_id = message->correlation_id;
        timeout->is_new         = true;
    }
    yyjson_doc_free(doc);
    if (!*is_timeout)
        return PAWL_OK;
    pawl_code code = timeout->headers.data == NULL ? PAWL_ENOMEM : check_timeout(timeout);
    *is_timeout    = code == PAWL_OK;
    return code == PAWL_ENOMEM ? code : PAWL_OK;
}

static pawl_code check_letter(const pawl_dead_row *letter, const pawl_dead_settle *settle,
                              pawl_error *error)
{
    if (settle->action == PAWL_DEAD_DISCARD ||
        (letter->queue.size != 0 && letter->message.type.size != 0))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "dead letter %.*s of %.*s has no %s: it can only be discarded",
                          PAWL_TEXT_ARGS(letter->message.id), PAWL_TEXT_ARGS(letter->endpoint),
                          letter->queue.size == 0 ? "queue" : "type");
}

/* The versions of the letters' streams, without their events. */
static pawl_code load_streams(pawl_store *store, const pawl_dead_row *letters, size_t count,
                              pawl_arena *arena, parts *made, pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        made->reads[i] = (pawl_stream_read){
            .stream = pawl_dead_stream(letters[i].endpoint, letters[i].message.id, arena),
            .after  = INT64_MAX};
        if (made->reads[i].stream.data == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the name of a stream");
    }
    return pawl_store_stream_load(store, made->reads, count, arena, made->streams, error);
}

/* The message, or the timeout, that is to be handled again. */
static pawl_code make_again(const pawl_dead_row *letter, const pawl_dead_settle *settle,
                            pawl_time now, const pawl_dead_set *removal, pawl_arena *arena,
                            parts *made, pawl_error *error)
{
    pawl_timeout_set timeout = {.unit = removal->unit, .group = removal->group, .due = now};
    pawl_queue_send  send    = {.unit    = removal->unit,
                                .group   = removal->group,
                                .queue   = letter->queue,
                                .message = letter->message,
                                .due     = now,
                                .is_new  = true};
    bool             is_edit = settle->action == PAWL_DEAD_EDIT, is_timeout;
    pawl_code        code    = check_letter(letter, settle, error);
    if (code != PAWL_OK || settle->action == PAWL_DEAD_DISCARD)
        return code;
    if (read_timeout(letter, arena, &timeout, &is_timeout) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the headers of a timeout");
    if (is_timeout) {
        made->timeouts[made->timeout_count++] = timeout;
        return !is_edit ? PAWL_OK
                        : pawl_error_set(error, PAWL_EINVAL,
                                         "dead letter %.*s of %.*s is a timeout, which has no body",
                                         PAWL_TEXT_ARGS(letter->message.id),
                                         PAWL_TEXT_ARGS(letter->endpoint));
    }
    if (is_edit)
        send.message.body = settle->body;
    made->sends[made->send_count++] = send;
    return PAWL_OK;
}

/* The changes of a letter: a unit of its own. */
static pawl_code make_changes(const pawl_dead_row *letter, const pawl_dead_settle *settle,
                              pawl_time now, uint32_t unit, uint32_t group, pawl_arena *arena,
                              parts *made, pawl_error *error)
{
    pawl_event_append *event = &made->events[unit];
    *event                   = (pawl_event_append){.unit     = unit,
                                                   .group    = group,
                                                   .stream   = made->reads[unit].stream,
                                                   .version  = made->streams[unit].version + 1,
                                                   .is_first = true};
    made->removals[unit]     = (pawl_dead_set){.unit         = unit,
                                               .group        = group,
                                               .is_remove    = true,
                                               .is_checked   = true,
                                               .keeps_record = settle->action == PAWL_DEAD_DISCARD,
                                               .endpoint     = letter->endpoint,
                                               .queue        = letter->queue,
                                               .message      = {.id = letter->message.id},
                                               .at           = letter->at};
    pawl_code code = make_again(letter, settle, now, &made->removals[unit], arena, made, error);
    return code == PAWL_OK ? make_event(letter, settle, now, arena, &event->event, error) : code;
}

/* Refused only because the message, or the timeout, is there again. */
static bool is_sent_already(const pawl_refusal *refusal)
{
    return refusal->kind == pawl_change_queue_send || refusal->kind == pawl_change_timeout_set;
}

/* A refusal names a change; more than one may be of the same letter, of one that went as well: its
 * copy is in the queue when somebody else has sent it. */
static void count_refused(const pawl_refusals *refused, parts *made, pawl_dead_settled *settled)
{
    for (int left = 0; left < 2; left++)
        for (size_t i = 0; i < refused->count; i++) {
            pawl_dead_set *removal = &made->removals[refused->items[i].group];
            if (is_sent_already(&refused->items[i]) != left || !removal->is_checked)
                continue;
            removal->is_checked = false;
            *(left ? &settled->left_count : &settled->gone_count) += 1;
        }
}

/* Of all or none: that a letter went says more than that its message is in the queue again. */
static pawl_code first_refusal(const pawl_refusals *refused, pawl_error *error)
{
    const pawl_refusal *first = refused->count != 0 ? &refused->items[0] : NULL;
    for (size_t i = 1; i < refused->count && is_sent_already(first); i++)
        first = &refused->items[i];
    return first == NULL
               ? PAWL_OK
               : pawl_error_set(error, first->reason, "%.*s", PAWL_TEXT_ARGS(first->text));
}

static pawl_code commit_all(pawl_store *store, const pawl_dead_row *letters, size_t count,
                            const pawl_dead_settle *settle, pawl_time now,
                            pawl_dead_settled *settled, pawl_arena *arena, pawl_error *error)
{
    parts         made    = {.reads = NULL};
    pawl_refusals refused = {.arena = arena};
    pawl_code     code    = take_parts(count, arena, &made, error);
    if (code == PAWL_OK)
        code = load_streams(store, letters, count, arena, &made, error);
    for (uint32_t i = 0; code == PAWL_OK && i < count; i++)
        code =
            make_changes(&letters[i], settle, now, i, settled != NULL ? i : 0, arena, &made, error);
    if (code != PAWL_OK)
        return code;
    pawl_changes changes = {
        .now          = now,
        .unit_count   = (uint32_t)count,
        .group_count  = settled != NULL ? (uint32_t)count : 1,
        .event_append = {made.events, count},
        .timeout_set  = {made.timeouts, made.timeout_count},
        .queue_send   = {made.sends, made.send_count},
        .dead_set     = {made.removals, count},
    };
    code = pawl_store_commit(store, &changes, &refused, error);
    if (code == PAWL_OK && settled == NULL)
        return first_refusal(&refused, error);
    if (code == PAWL_OK)
        count_refused(&refused, &made, settled);
    return code;
}

pawl_code pawl_store_dead_settle(pawl_store *store, const pawl_dead_row *letters, size_t count,
                                 const pawl_dead_settle *settle, pawl_time now,
                                 pawl_dead_settled *settled, pawl_error *error)
{
    if (settled != NULL)
        *settled = (pawl_dead_settled){.gone_count = 0};
    pawl_code code = check_settle(settle, count, error);
    if (code != PAWL_OK || count == 0)
        return code;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    /* Somebody else was as fast with one of them, which is known to be gone the next time. */
    code = PAWL_ECONFLICT;
    for (int tries = 0; tries < TRIES_MAX && code == PAWL_ECONFLICT; tries++) {
        pawl_arena_reset(arena);
        code = commit_all(store, letters, count, settle, now, settled, arena, error);
    }
    pawl_arena_destroy(arena);
    return code;
}

/* ---- One letter --------------------------------------------------------- */

static pawl_code settle_one(pawl_store *store, pawl_text endpoint, pawl_text message_id,
                            const pawl_dead_settle *settle, pawl_time now, pawl_error *error)
{
    pawl_dead_query query = {.endpoint = endpoint, .message_id = message_id};
    pawl_dead_rows  rows  = {.count = 0};
    if (endpoint.size == 0 || message_id.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "dead letter: the %s is empty",
                              endpoint.size == 0 ? "endpoint" : "message id");
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    pawl_code code = pawl_store_dead_find(store, &query, arena, &rows, error);
    if (code == PAWL_OK && rows.count == 0)
        code = pawl_error_set(error, PAWL_EGONE, "there is no dead letter %.*s of %.*s",
                              PAWL_TEXT_ARGS(message_id), PAWL_TEXT_ARGS(endpoint));
    if (code == PAWL_OK)
        code = pawl_store_dead_settle(store, rows.items, 1, settle, now, NULL, error);
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl_store_dead_retry(pawl_store *store, pawl_text endpoint, pawl_text message_id,
                                pawl_text by, pawl_text reason, pawl_time now, pawl_error *error)
{
    const pawl_dead_settle settle = {.action = PAWL_DEAD_RETRY, .by = by, .reason = reason};
    return settle_one(store, endpoint, message_id, &settle, now, error);
}

pawl_code pawl_store_dead_edit(pawl_store *store, pawl_text endpoint, pawl_text message_id,
                               pawl_text body, pawl_text by, pawl_text reason, pawl_time now,
                               pawl_error *error)
{
    const pawl_dead_settle settle = {
        .action = PAWL_DEAD_EDIT, .by = by, .reason = reason, .body = body};
    return settle_one(store, endpoint, message_id, &settle, now, error);
}

pawl_code pawl_store_dead_discard(pawl_store *store, pawl_text endpoint, pawl_text message_id,
                                  pawl_text by, pawl_text reason, pawl_time now, pawl_error *error)
{
    const pawl_dead_settle settle = {.action = PAWL_DEAD_DISCARD, .by = by, .reason = reason};
    return settle_one(store, endpoint, message_id, &settle, now, error);
}
