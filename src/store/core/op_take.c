/* op_take.c - an operator buries (dead-letters), discards or moves messages of a queue.
 *
 * The messages are first claimed by their numbers, which skips those that a worker has claimed. Then one
 * commit:
 *
 *     message       bury            discard                  move
 *     queue_settle  done            done                     done
 *     inbox_entry    dead            discarded                -
 *     dead_set      the dead letter
 *     queue_send                                             into the other queue, under its id
 *     event         who, when, why, how many, the ids
 *
 * A row that another program wrote may have texts that no dead letter and no record can have: they are left out, and
 * an empty id becomes a new one. To another queue such a row would go as another message: it is not moved.
 *
 * If an id has a deduplication record already, the message is a duplicate, which its endpoint would drop: it is
 * removed without a dead letter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "base/arena.h"
#include "base/storable.h"
#include "pawl/store_calls.h"

#include <stdio.h>
#include <string.h>

#define NOUN "queue"
/* All who take messages out of a queue append to one stream. Each commit that is refused is one that another got in. */
#define TRIES_MAX 50

typedef struct parts {
    pawl_queue_rows    rows;
    pawl_queue_settle *settles;
    pawl_inbox_entry  *marks;
    pawl_dead_set     *letters;
    pawl_queue_send   *sends;
    pawl_text         *ids;
    bool              *known;
    pawl_text         *unfit;    /* the reasons; empty: the row can be stored */
    pawl_text          endpoint; /* the queue's reader */
    size_t             taken;    /* of the rows, from the first; the others are released */
    size_t             mark_count, letter_count, send_count;
} parts;

static pawl__action action_of(const pawl_queue_take *take)
{
    static const char *const types[] = {[PAWL_TAKE_DEAD_LETTER] = PAWL_QUEUE_DEAD_LETTERED,
                                        [PAWL_TAKE_DISCARD]     = PAWL_QUEUE_DISCARDED,
                                        [PAWL_TAKE_MOVE]        = PAWL_QUEUE_MOVED};
    return (pawl__action){PAWL_QUEUE_TAKEN_STREAMS, NOUN,     take->queue,
                          types[take->action],      take->by, take->reason};
}

static pawl_code check(const pawl_queue_take *take, size_t count, pawl_error *error)
{
    if ((unsigned)take->action > PAWL_TAKE_MOVE)
        return pawl_error_set(error, PAWL_EINVAL, "%d is not a way to take messages out of a queue",
                              (int)take->action);
    if (take->action == PAWL_TAKE_MOVE &&
        (take->to.size == 0 || pawl_text_equal(take->to, take->queue)))
        return pawl_error_set(error, PAWL_EINVAL, NOUN " %.*s: %s", PAWL_TEXT_ARGS(take->queue),
                              take->to.size == 0 ? "move: the target queue is missing"
                                                 : "its messages are in it already");
    if (count > PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "%zu messages, limit %d", count,
                              PAWL_BATCH_MESSAGES_MAX);
    const pawl__action action = action_of(take);
    return pawl__action_check(&action, error);
}

/* ---- The changes ---------------------------------------------------------- */

static bool take_parts(size_t count, pawl_arena *arena, parts *made)
{
    made->settles = pawl_arena_take(arena, count * sizeof *made->settles);
    made->marks   = pawl_arena_take(arena, count * sizeof *made->marks);
    made->letters = pawl_arena_take(arena, count * sizeof *made->letters);
    made->sends   = pawl_arena_take(arena, count * sizeof *made->sends);
    made->ids     = pawl_arena_take(arena, count * sizeof *made->ids);
    made->known   = pawl_arena_take(arena, count * sizeof *made->known);
    made->unfit   = pawl_arena_take(arena, count * sizeof *made->unfit);
    return made->settles != NULL && made->marks != NULL && made->letters != NULL &&
           made->sends != NULL && made->ids != NULL && made->known != NULL && made->unfit != NULL;
}

static pawl_dead_set letter_of(const pawl_queue_take *take, pawl_text endpoint,
                               const pawl_queue_row *row, pawl_text error, pawl_time now)
{
    pawl_message message = row->message;
    message.causation_id = pawl__dead_cause(message.id, message.causation_id, message.headers);
    return (pawl_dead_set){.endpoint = endpoint,
                           .queue    = take->queue,
                           .message  = message,
                           .code     = PAWL_TEXT(PAWL_TAKE_CODE),
                           .error    = error,
                           .attempts = row->attempts,
                           .crashes  = row->crashes,
                           .history  = row->history.size <= PAWL_BODY_SIZE_MAX ? row->history
                                                                               : PAWL_TEXT(""),
                           .at       = now};
}

/* The error of a dead letter. A long reason is cut here; the event has all of it. */
static pawl_text error_of(const pawl_queue_take *take, pawl_text unfit, pawl_arena *arena)
{
    char text[PAWL_ERROR_TEXT_SIZE_MAX + 1];
    int length = snprintf(text, sizeof text, "purged by %.*s%s%.*s%s%.*s", PAWL_TEXT_ARGS(take->by),
                          unfit.size > 0 ? "; " : "", PAWL_TEXT_ARGS(unfit),
                          take->reason.size > 0 ? ": " : "", PAWL_TEXT_ARGS(take->reason));
    if (length < 0 || (size_t)length >= sizeof text)
        pawl__text_end_cut(text, sizeof text);
    return pawl_arena_text(arena, pawl_text_of(text));
}

/* Makes the message one that a dead letter and a record can have. */
static pawl_code make_storable(pawl_store *store, pawl_time now, pawl_arena *arena,
                               pawl_message *message, pawl_text *unfit)
{
    pawl_code code = pawl__make_storable(PAWL__STORABLE_TEXTS(message), arena, unfit);
    if (code == PAWL_OK)
        code = pawl__fit_body(&message->body, arena, unfit);
    if (code == PAWL_OK && message->id.size == 0) {
        message->id = pawl__arena_uuid(arena, pawl__store_new_id(store, now));
        code        = message->id.data != NULL ? PAWL_OK : PAWL_ENOMEM;
    }
    return code;
}

static pawl_code make_all_storable(pawl_store *store, pawl_time now, pawl_arena *arena, parts *made)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < made->rows.count; i++)
        code = make_storable(store, now, arena, &made->rows.items[i].message, &made->unfit[i]);
    return code;
}

/* Would a store take the row's message as it is? The name of the other queue is checked by the commit. */
static bool is_sendable(const pawl_queue_take *take, const pawl_queue_row *row, pawl_time now)
{
    pawl_queue_send send    = {.queue = take->queue, .message = row->message, .due = row->due};
    pawl_changes    changes = {PAWL__ONE_UNIT(now), .queue_send = {&send, 1}};
    return pawl_changes_check(&changes, NULL) == PAWL_OK;
}

/* Rows that cannot be moved go to the end, behind the `taken` ones. */
static size_t part_sendable(const pawl_queue_take *take, pawl_time now, pawl_queue_rows *rows)
{
    size_t taken = 0;
    for (size_t i = 0; i < rows->count; i++) {
        pawl_queue_row row = rows->items[i];
        if (!is_sendable(take, &row, now))
            continue;
        rows->items[i]       = rows->items[taken];
        rows->items[taken++] = row;
    }
    return taken;
}

static pawl_code make_changes(const pawl_queue_take *take, pawl_time now, pawl_arena *arena,
                              parts *made)
{
    for (size_t i = 0; i < made->rows.count; i++) {
        const pawl_queue_row *row = &made->rows.items[i];
        made->settles[i] =
            (pawl_queue_settle){.action = i < made->taken ? PAWL_QUEUE_DONE : PAWL_QUEUE_RELEASE,
                                .queue  = take->queue,
                                .seq    = row->seq};
        if (take->action == PAWL_TAKE_MOVE && i < made->taken)
            made->sends[made->send_count++] =
                (pawl_queue_send){.queue = take->to, .message = row->message, .due = row->due};
        if (take->action == PAWL_TAKE_MOVE || made->known[i])
            continue;
        made->marks[made->mark_count++] = (pawl_inbox_entry){
            .endpoint   = made->endpoint,
            .message_id = row->message.id,
            .outcome =
                take->action == PAWL_TAKE_DEAD_LETTER ? PAWL_INBOX_DEAD : PAWL_INBOX_DISCARDED,
            .at = now};
        if (take->action != PAWL_TAKE_DEAD_LETTER)
            continue;
        pawl_text error = error_of(take, made->unfit[i], arena);
        if (error.data == NULL)
            return PAWL_ENOMEM;
        made->letters[made->letter_count++] = letter_of(take, made->endpoint, row, error, now);
    }
    return PAWL_OK;
}

/* {"ids":["m-1", ...]}; data NULL: out of memory. */
static pawl_text body_of(const parts *made, pawl_arena *arena)
{
    yyjson_mut_doc *doc  = pawl__texts_begin();
    yyjson_mut_val *list = doc != NULL ? yyjson_mut_arr(doc) : NULL;
    bool            is_ok =
        list != NULL && yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), "ids", list);
    for (size_t i = 0; is_ok && i < made->taken; i++)
        is_ok = yyjson_mut_arr_add_strn(doc, list, made->ids[i].data, made->ids[i].size);
    return pawl__texts_done(doc, is_ok, arena);
}

static yyjson_mut_doc *headers_of(const pawl_queue_take *take, const parts *made)
{
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_kept(doc, doc != NULL &&
                                     pawl__texts_put_number(doc, "count", (int64_t)made->taken) &&
                                     pawl__texts_put(doc, "to", take->to));
}

pawl_code pawl__queue_endpoint(pawl_store *store, pawl_text queue, pawl_arena *arena,
                               pawl_text *endpoint, pawl_error *error)
{
    pawl_subscriptions list = {.count = 0};
    pawl_code          code = pawl_store_subscriptions(store, arena, &list, error);
    *endpoint               = pawl__queue_reader(&list, queue);
    return code;
}

/* ---- Claim and commit ------------------------------------------------------ */

static pawl_code commit(pawl_store *store, const pawl_queue_take *take, pawl_time now,
                        pawl_arena *arena, parts *made, pawl_error *error)
{
    const pawl__action action = action_of(take);
    pawl_event_append  event  = {.version = 0};
    pawl_code          code   = PAWL_OK;
    if (take->action != PAWL_TAKE_MOVE)
        code = make_all_storable(store, now, arena, made);
    for (size_t i = 0; i < made->rows.count; i++) {
        made->ids[i]   = made->rows.items[i].message.id;
        made->known[i] = false;
    }
    if (code == PAWL_OK && take->action != PAWL_TAKE_MOVE)
        code = pawl__queue_endpoint(store, take->queue, arena, &made->endpoint, error);
    if (code == PAWL_OK && take->action != PAWL_TAKE_MOVE)
        code = pawl_store_inbox_known(store, made->endpoint, made->ids, made->rows.count,
                                      made->known, error);
    if (code == PAWL_OK)
        code =
            pawl__action_event(store, &action, headers_of(take, made), now, arena, &event, error);
    if (code == PAWL_OK)
        event.event.body = body_of(made, arena);
    if (code == PAWL_OK && event.event.body.data == NULL)
        code = PAWL_ENOMEM;
    if (code == PAWL_OK)
        code = make_changes(take, now, arena, made);
    if (code != PAWL_OK)
        return code == PAWL_ENOMEM ? pawl_error_set(error, code, "out of memory") : code;
    pawl_changes changes = {PAWL__ONE_UNIT(now),
                            .queue_settle = {made->settles, made->rows.count},
                            .inbox_entry  = {made->marks, made->mark_count},
                            .dead_set     = {made->letters, made->letter_count},
                            .queue_send   = {made->sends, made->send_count},
                            .event_append = {&event, 1}};
    return pawl_store_commit(store, &changes, NULL, error);
}

/* Releases the claims after a failed commit; a lost connection has released them already. */
static void give_back(pawl_store *store, pawl_time now, parts *made)
{
    pawl_changes changes = {PAWL__ONE_UNIT(now), .queue_settle = {made->settles, made->rows.count}};
    for (size_t i = 0; i < made->rows.count; i++)
        made->settles[i].action = PAWL_QUEUE_RELEASE;
    (void)pawl_store_commit(store, &changes, NULL, NULL);
}

static pawl_code take_all(pawl_store *store, const pawl_queue_take *take, const int64_t *seqs,
                          size_t count, pawl_time now, parts *made, pawl_arena *arena,
                          pawl_error *error)
{
    const pawl_queue_claim claim = {.queue     = take->queue,
                                    .due_max   = PAWL_TIME_MAX,
                                    .count_max = count,
                                    .seqs      = seqs,
                                    .seq_count = count,
                                    .now       = now};
    pawl_code              code  = pawl__store_attach(store, now, error);
    if (code == PAWL_OK && !take_parts(count, arena, made))
        code = pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu messages", count);
    if (code == PAWL_OK)
        code = pawl_store_queue_claim(store, &claim, arena, &made->rows, error);
    if (pawl__store_attach_again(store, now, &code, error))
        code = pawl_store_queue_claim(store, &claim, arena, &made->rows, error);
    if (code == PAWL_OK && made->rows.is_taken)
        return pawl_error_set(error, PAWL_EBUSY,
                              NOUN " %.*s: %.*s works it, and no other process can claim on such a "
                                   "store: stop it first",
                              PAWL_TEXT_ARGS(take->queue), PAWL_TEXT_ARGS(made->rows.taken_by));
    if (code != PAWL_OK || made->rows.count == 0)
        return code;
    for (size_t i = 0; i < made->rows.count; i++)
        made->settles[i] =
            (pawl_queue_settle){.queue = take->queue, .seq = made->rows.items[i].seq};
    made->taken =
        take->action == PAWL_TAKE_MOVE ? part_sendable(take, now, &made->rows) : made->rows.count;
    if (made->taken > 0)
        code = commit(store, take, now, arena, made, error);
    if (code != PAWL_OK || made->taken == 0)
        give_back(store, now, made);
    return code == PAWL_OK
               ? code
               : pawl_error_wrap(error, code, NOUN " %.*s", PAWL_TEXT_ARGS(take->queue));
}

static bool is_raced(pawl_code code)
{
    return code == PAWL_ECONFLICT || code == PAWL_EGONE || code == PAWL_EDUPLICATE;
}

pawl_code pawl_store_queue_take(pawl_store *store, const pawl_queue_take *take, const int64_t *seqs,
                                size_t count, pawl_time now, size_t *taken, size_t *copies,
                                pawl_error *error)
{
    parts     made = {.rows = {.count = 0}};
    size_t    none;
    pawl_code code = check(take, count, error);
    copies         = copies != NULL ? copies : &none;
    *taken = *copies = 0;
    if (code != PAWL_OK || count == 0)
        return code;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    /* Somebody else was as fast: what is left of the messages is claimed anew. */
    code = PAWL_ECONFLICT;
    for (int tries = 0; tries < TRIES_MAX && is_raced(code); tries++) {
        pawl_arena_reset(arena);
        made = (parts){.rows = {.count = 0}};
        code = take_all(store, take, seqs, count, now, &made, arena, error);
    }
    if (code == PAWL_OK)
        *taken = made.taken;
    if (code == PAWL_OK && take->action == PAWL_TAKE_DEAD_LETTER)
        *copies = made.taken - made.letter_count;
    pawl_arena_destroy(arena);
    return code;
}

/* ---- What was done --------------------------------------------------------- */

/* Merges two lists by time. */
static pawl_code merge(const pawl_event_rows *a, const pawl_event_rows *b, pawl_arena *arena,
                       pawl_event_rows *rows, pawl_error *error)
{
    size_t i = 0, j = 0;
    *rows       = (pawl_event_rows){.count = 0};
    rows->items = pawl_arena_take(arena, (a->count + b->count + 1) * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu actions",
                              a->count + b->count);
    while (i < a->count || j < b->count) {
        bool is_first =
            j == b->count || (i < a->count && a->items[i].event.at <= b->items[j].event.at);
        rows->items[rows->count++] = is_first ? a->items[i++] : b->items[j++];
    }
    return PAWL_OK;
}

pawl_code pawl_store_queue_actions(pawl_store *store, pawl_text queue, pawl_arena *arena,
                                   pawl_event_rows *rows, pawl_error *error)
{
    pawl_event_rows pauses = {.count = 0}, taken = {.count = 0};
    pawl_code code = pawl__action_list(store, PAWL_QUEUE_STREAMS, queue, arena, &pauses, error);
    if (code == PAWL_OK)
        code = pawl__action_list(store, PAWL_QUEUE_TAKEN_STREAMS, queue, arena, &taken, error);
    return code == PAWL_OK ? merge(&pauses, &taken, arena, rows, error) : code;
}
