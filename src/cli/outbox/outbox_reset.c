/* outbox_reset.c - `pawl outbox retry|discard`: retries or discards dead rows.
 *
 * Rows that are named by id are settled in one commit, all or none. With --all the ids are selected
 * before the question, then settled in the loop of bulk_loop.h. So a row that fails again meanwhile is
 * not taken twice. A row that another command or worker settled meanwhile is counted, and is no error.
 *
 * outbox.c has the options and the table of actions, which names the functions of this file, so
 * each of the two files calls the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/outbox/outbox.h"

#include "store/core/action.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_retry(const pawl__outbox_fields *fields)
{
    return strcmp(fields->words.action, "retry") == 0;
}

/* Numbers of the rows to settle, taken before any row is changed. */
typedef struct selection {
    pawl_arena *arena;
    int64_t    *ids;
    size_t      count, capacity;
} selection;

static void select_row(selection *chosen, int64_t id)
{
    chosen->ids = pawl__must_grow(chosen->arena, chosen->ids, chosen->count, &chosen->capacity,
                                  sizeof *chosen->ids);
    chosen->ids[chosen->count++] = id;
}

static bool is_selected(const selection *chosen, int64_t id)
{
    for (size_t i = 0; i < chosen->count; i++)
        if (chosen->ids[i] == id)
            return true;
    return false;
}

/* Selects the rows that were named; all must be dead before any is settled. */
static pawl_code select_named(const pawl__outbox_fields *fields, pawl_store *store,
                              pawl_arena *arena, selection *chosen, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < fields->words.ids.count; i++) {
        pawl_outbox_row row;
        pawl_arena_reset(arena);
        code = pawl__outbox_row_find(store, fields->words.ids.items[i], arena, &row, error);
        if (code == PAWL_OK && row.state != PAWL_OUTBOX_DEAD)
            return pawl_error_set(error, PAWL_EGONE,
                                  "outbox row %s is %s; only a dead one can be %s",
                                  fields->words.ids.items[i], pawl__outbox_state_name(row.state),
                                  is_retry(fields) ? "retried" : "discarded");
        if (code == PAWL_OK && !is_selected(chosen, row.id))
            select_row(chosen, row.id);
    }
    return code;
}

/* Selects every dead row that the options match now. */
static pawl_code select_all(const pawl__outbox_fields *fields, pawl_store *store, pawl_arena *arena,
                            selection *chosen, pawl_error *error)
{
    pawl_outbox_query query;
    pawl_outbox_rows  rows = {.count = 0};
    pawl_code         code = pawl__outbox_query(fields, &query, error);
    if (code == PAWL_OK)
        code = pawl__outbox_query_saga(fields, store, chosen->arena, &query, error);
    query.states    = 1U << PAWL_OUTBOX_DEAD;
    query.count_max = PAWL__BULK_PAGE;
    do {
        pawl_arena_reset(arena);
        if (code == PAWL_OK)
            code = pawl_store_outbox_find(store, &query, arena, &rows, error);
        for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
            query.after = rows.items[i].id;
            select_row(chosen, rows.items[i].id);
        }
    } while (code == PAWL_OK && rows.count == query.count_max);
    return code;
}

/* ---- Settling ------------------------------------------------------------------ */

typedef struct settling {
    pawl__bulk_loop   loop;
    pawl_store       *store;
    pawl_arena       *arena; /* of one commit */
    selection         chosen;
    pawl_outbox_reset like;
} settling;

#define NUMBER_SIZE 21 /* "," and 64 bits */

/* Makes the event that records who settled the rows, when and why; its body has their numbers. Each commit uses a
 * stream of its own, so that commits do not conflict. */
static pawl_code make_event(const settling *it, const pawl_outbox_reset *items, size_t count,
                            pawl_event_append *event, pawl_error *error)
{
    bool      is_sent = it->like.action == PAWL_OUTBOX_RETRY;
    size_t    size    = 0;
    char      stream[PAWL_UUID_TEXT_SIZE + 1];
    char     *body = pawl__must_take(it->arena, count * (NUMBER_SIZE) + 2);
    pawl_code code = pawl__id_make(stream, error);
    if (code != PAWL_OK)
        return code;
    const pawl__action action = {
        "pawl.outbox",        "outbox rows",
        pawl_text_of(stream), is_sent ? "pawl.outbox_retried" : "pawl.outbox_discarded",
        pawl__user(),         pawl_text_of(it->loop.words->reason)};
    code = pawl__action_event(it->store, &action, pawl__texts_begin(), it->like.at, it->arena,
                              event, error);
    for (size_t i = 0; i < count; i++)
        size += (size_t)sprintf(body + size, "%c%" PRId64, i == 0 ? '[' : ',', items[i].id);
    body[size++]      = ']';
    event->event.body = (pawl_text){.data = body, .size = size};
    return code;
}

/* Removes the refused rows from the list. Returns how many are left. */
static size_t leave_out(const pawl_refusals *refused, pawl_outbox_reset *items, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_refused = false;
        for (size_t k = 0; k < refused->count; k++)
            is_refused = is_refused || refused->items[k].unit == items[i].unit;
        if (!is_refused)
            items[left++] = items[i];
    }
    return left;
}

/* Settles named rows all or none; with --all those that are still dead. */
static pawl_code settle_rows(void *context, size_t first, size_t count, size_t *done,
                             pawl_error *error)
{
    settling *it = context;
    pawl_arena_reset(it->arena);
    pawl_refusals      refused = {.arena = it->arena};
    pawl_outbox_reset *items   = pawl__must_take(it->arena, count * sizeof *items);
    pawl_event_append  event;
    pawl_code          code = PAWL_OK;
    it->like.at             = pawl_clock_now(NULL);
    for (size_t i = 0; i < count; i++) {
        items[i]    = it->like;
        items[i].id = it->chosen.ids[first + i];
    }
    for (*done = count; *done > 0; *done = leave_out(&refused, items, *done)) {
        for (size_t i = 0; i < *done; i++)
            items[i].unit = (uint32_t)i;
        code                 = make_event(it, items, *done, &event, error);
        event.unit           = (uint32_t)*done;
        pawl_changes changes = {.now          = it->like.at,
                                .unit_count   = (uint32_t)*done + 1,
                                .group_count  = 1,
                                .event_append = {&event, 1},
                                .outbox_reset = {items, *done}};
        refused.count        = 0;
        if (code == PAWL_OK)
            code = pawl_store_commit(it->store, &changes, it->loop.words->is_all ? &refused : NULL,
                                     error);
        if (code != PAWL_OK || refused.count == 0)
            break;
        if (refused.items[0].kind != pawl_change_outbox_reset)
            return pawl_error_set(error, refused.items[0].reason, "outbox rows: %.*s",
                                  PAWL_TEXT_ARGS(refused.items[0].text));
    }
    it->loop.left[0].count += count - *done;
    return code;
}

pawl_code pawl__outbox_reset_check(const pawl__outbox_fields *fields, pawl_error *error)
{
    bool has_filter = fields->id != 0 || fields->dispatch_id != NULL || fields->endpoint != NULL ||
                      fields->source != NULL || fields->saga != NULL ||
                      fields->destination != NULL || fields->type != NULL ||
                      fields->causation_id != NULL || fields->states != NULL ||
                      fields->attempts != 0;
    pawl_code code =
        pawl__bulk_words_check(&fields->words, "outbox", "rows", "rows", has_filter, error);
    if (code == PAWL_OK && fields->states != NULL && strcmp(fields->states, "dead") != 0)
        return pawl_error_set(error, PAWL_EINVAL, "--state %s: only dead rows can be %s",
                              fields->states, is_retry(fields) ? "retried" : "discarded");
    return code;
}

pawl_code pawl__outbox_reset(const void *context, pawl_store *store, pawl_arena *arena,
                             pawl_error *error)
{
    const pawl__outbox_fields *fields  = context;
    bool                       is_sent = is_retry(fields);
    const char                *done    = is_sent ? "retried" : "discarded";
    const char                *reason  = fields->words.reason;
    char                       note[PAWL_ERROR_TEXT_SIZE_MAX + 1];
    settling it = {.store = store, .arena = arena, .chosen.arena = pawl__must_create()};
    /* Shown among the row's attempts: "by anna: the receiver was down". */
    snprintf(note, sizeof note, "by %s%s%s", pawl__user().data, reason != NULL ? ": " : "",
             reason != NULL ? reason : "");
    it.like = (pawl_outbox_reset){.action = is_sent ? PAWL_OUTBOX_RETRY : PAWL_OUTBOX_DISCARD,
                                  .note   = pawl_text_of(note)};
    it.loop = (pawl__bulk_loop){
        .at       = &fields->at,
        .words    = &fields->words,
        .question = is_sent ? "send" : "discard",
        .noun     = "outbox row",
        .asked    = "dead outbox row",
        .ending   = is_sent ? " again, out of order" : ", for good",
        .done     = done,
        .key      = done,
        .note     = is_sent ? "; rows with an ordering key go out of order" : "",
        .settle   = settle_rows,
        .context  = &it,
        .left     = {{"no_longer_dead", 0, "was no longer dead", "were no longer dead"}}};
    pawl_code code = fields->words.is_all ? select_all(fields, store, arena, &it.chosen, error)
                                          : select_named(fields, store, arena, &it.chosen, error);
    it.loop.total  = it.chosen.count;
    if (code == PAWL_OK)
        code = pawl__bulk_loop_run(&it.loop, error);
    pawl_arena_destroy(it.chosen.arena);
    return code;
}
