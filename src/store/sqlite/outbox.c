/* outbox.c - rows that wait for delivery, and the history of their attempts.
 *
 * Rows are found by their id among the pending ones; there is no index on their
 * source. What is asked of a source's later rows (a hold) is therefore a walk
 * over the pending rows behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/outbox.h"
#include "store/sql/refusal.h"
#include "store/sql/rows.h"
#include "store/sqlite/operations.h"

#include <stdlib.h>
#include <string.h>

static pawl_code read_rows(pawl__sqlite_request *request, pawl_outbox_rows *rows)
{
    size_t capacity = 0;
    while (pawl__sqlite_next(request)) {
        pawl_outbox_row *grown =
            pawl__sqlite_grow(request, rows->items, rows->count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        rows->items          = grown;
        pawl_outbox_row *row = &grown[rows->count++];
        *row                 = (pawl_outbox_row){0};
        pawl__sqlite_get_fields(request, &pawl__sql_outbox_row, row);
    }
    return request->code;
}

/* ---- Reading ------------------------------------------------------------ */

static pawl_code read_next(pawl__sqlite *store, pawl_text endpoint, pawl_time now, pawl_time *next,
                           pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQLITE_OUTBOX_NEXT, error);
    pawl__sqlite_put_int(&request, now);
    pawl__sqlite_put_text(&request, endpoint);
    if (pawl__sqlite_next(&request) && !pawl__sqlite_is_null(&request))
        *next = pawl__sqlite_get_int(&request);
    pawl__sqlite_stop(&request);
    return request.code;
}

pawl_code pawl__sqlite_outbox_claim(pawl_store *base, pawl_text endpoint, pawl_time now,
                                    size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                    pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    *rows               = (pawl_outbox_rows){.next_attempt = PAWL_TIME_MAX};
    pawl_code code      = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQLITE_OUTBOX_DUE, error);
    request.arena = arena;
    pawl__sqlite_put_int(&request, now);
    pawl__sqlite_put_int(&request, (int64_t)count_max + 1); /* one more tells when to look next */
    pawl__sqlite_put_text(&request, endpoint);
    code = read_rows(&request, rows);
    if (code == PAWL_OK && rows->count > count_max)
        rows->next_attempt = rows->items[--rows->count].next_attempt;
    else if (code == PAWL_OK)
        code = read_next(store, endpoint, now, &rows->next_attempt, error);
    code = pawl__sqlite_read_end(store, code, error);
    return code == PAWL_OK ? pawl__sql_order_sources(rows, arena, error) : code;
}

/* The statement whose index leads to the rows of the query, if one does. */
static int find_statement(const pawl_outbox_query *query)
{
    if (query->id != 0)
        return PAWL__SQLITE_OUTBOX_FIND_ID;
    if (!pawl_uuid_is_zero(query->dispatch_id.uuid))
        return PAWL__SQLITE_OUTBOX_FIND_DISPATCH;
    switch (query->states) {
    case 1u << PAWL_OUTBOX_PENDING:
        return query->attempts_min > 0 ? PAWL__SQLITE_OUTBOX_FIND_TRIED
                                       : PAWL__SQLITE_OUTBOX_FIND_PENDING;
    case 1u << PAWL_OUTBOX_HELD: return PAWL__SQLITE_OUTBOX_FIND_HELD;
    case 1u << PAWL_OUTBOX_DEAD: return PAWL__SQLITE_OUTBOX_FIND_DEAD;
    default: return PAWL__SQLITE_OUTBOX_FIND_ANY;
    }
}

pawl_code pawl__sqlite_outbox_find(pawl_store *base, const pawl_outbox_query *query,
                                   pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    *rows               = (pawl_outbox_rows){.next_attempt = PAWL_TIME_MAX};
    pawl_code code      = pawl__sqlite_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, find_statement(query), error);
    request.arena = arena;
    pawl__sqlite_put_int(&request, query->id);
    pawl__sqlite_put_uuid_or_null(&request, query->dispatch_id.uuid);
    pawl__sqlite_put_int(&request, query->after);
    pawl__sqlite_put_int(&request, query->states);
    pawl__sqlite_put_text(&request, query->endpoint);
    pawl__sqlite_put_text(&request, query->source);
    pawl__sqlite_put_text(&request, query->destination);
    pawl__sqlite_put_text(&request, query->message_type);
    pawl__sqlite_put_text(&request, query->causation_id);
    pawl__sqlite_put_int(&request, query->count_max != 0 ? (int64_t)query->count_max : -1);
    pawl__sqlite_put_int(&request, query->attempts_min);
    return read_rows(&request, rows);
}

/* ---- Changes ------------------------------------------------------------ */

/* The id is there: is it the same message? */
static pawl_code check_known(pawl__sqlite_writer *writer, const pawl_outbox_add *add,
                             pawl_error *error)
{
    bool                 is_same = true;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQL_OUTBOX_KNOWN, error);
    pawl__sqlite_put_uuid(&request, add->dispatch_id.uuid);
    if (pawl__sqlite_next(&request)) {
        is_same = pawl_text_equal(pawl__sqlite_peek_text(&request), add->message.type) &&
                  pawl_text_equal(pawl__sqlite_peek_text(&request), add->message.body);
        pawl__sqlite_stop(&request);
    }
    if (request.code != PAWL_OK || is_same)
        return request.code;
    return pawl__sql_why_differs(add, error);
}

pawl_code pawl__sqlite_apply_outbox_add(pawl__sqlite_writer *writer, const void *change,
                                        pawl_error *error)
{
    const pawl_outbox_add *add = change;
    pawl__sqlite_request   request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQL_OUTBOX_ADD, error);
    pawl__sqlite_put_uuid(&request, add->dispatch_id.uuid);
    pawl__sqlite_put_int(&request, add->at);
    pawl__sqlite_put_int(&request, add->due);
    pawl__sqlite_put_text(&request, add->source);
    pawl__sqlite_put_int(&request, add->version);
    pawl__sqlite_put_int(&request, add->index);
    pawl__sqlite_put_text(&request, add->endpoint);
    pawl__sqlite_put_text(&request, add->destination);
    pawl__sqlite_put_message(&request, &add->message);
    pawl__sqlite_put_int(&request, 0);
    pawl_code code = pawl__sqlite_run(&request);
    if (code != PAWL_OK || request.changes != 0)
        return code;
    return check_known(writer, add, error);
}

static pawl_code put_attempt(pawl__sqlite_writer *writer, const pawl_outbox_settle *settle,
                             bool is_numbered, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(
        &request, writer->connection,
        is_numbered ? PAWL__SQL_OUTBOX_ATTEMPT_PUT : PAWL__SQL_OUTBOX_ATTEMPT, error);
    pawl__sqlite_put_int(&request, settle->id);
    if (is_numbered)
        pawl__sqlite_put_int(&request, settle->attempts);
    pawl__sqlite_put_text(&request, pawl__sql_outcome_words[settle->outcome]);
    pawl__sqlite_put_int(&request, settle->at);
    pawl__sqlite_put_int(&request, settle->duration);
    pawl__sqlite_put_text(&request, settle->error);
    return pawl__sqlite_run(&request);
}

/* A line of history. Its number is the row's attempts, as a rule; to look for the last
 * one would copy what is inserted through a temporary table. A number that stands
 * there already is numbered on. */
static pawl_code add_attempt(pawl__sqlite_writer *writer, const pawl_outbox_settle *settle,
                             pawl_error *error)
{
    pawl_code code = put_attempt(writer, settle, true, error);
    return code == PAWL_EDUPLICATE ? put_attempt(writer, settle, false, error) : code;
}

pawl_code pawl__sqlite_apply_outbox_settle(pawl__sqlite_writer *writer, const void *change,
                                           pawl_error *error)
{
    const pawl_outbox_settle *settle = change;
    pawl__sqlite_request      request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQL_OUTBOX_SETTLE, error);
    pawl__sqlite_put_text(&request, pawl__sql_state_words[settle->state]);
    pawl__sqlite_put_int(&request, settle->attempts);
    pawl__sqlite_put_int(&request, settle->next_attempt);
    if (settle->state == PAWL_OUTBOX_DISPATCHED)
        pawl__sqlite_put_int(&request, settle->at);
    else
        pawl__sqlite_put_null(&request);
    pawl__sqlite_put_int(&request, settle->id);
    pawl_code code = pawl__sqlite_run(&request);
    if (code == PAWL_OK && request.changes == 0)
        return pawl__sql_why_not_pending(settle, error);
    return code == PAWL_OK ? add_attempt(writer, settle, error) : code;
}

pawl_code pawl__sqlite_apply_outbox_reset(pawl__sqlite_writer *writer, const void *change,
                                          pawl_error *error)
{
    const pawl_outbox_reset *reset      = change;
    bool                     is_enabled = reset->action == PAWL_OUTBOX_ENABLE;
    pawl__sqlite_request     request;
    pawl__sqlite_request_begin(&request, writer->connection,
                               is_enabled ? PAWL__SQL_OUTBOX_ENABLE : PAWL__SQL_OUTBOX_DISCARD,
                               error);
    pawl__sqlite_put_int(&request, reset->at);
    pawl__sqlite_put_int(&request, reset->id);
    pawl_code code = pawl__sqlite_run(&request);
    if (code != PAWL_OK)
        return code;
    if (request.changes == 0)
        return pawl__sql_why_not_dead(reset, error);
    const pawl_outbox_settle line = {
        .id      = reset->id,
        .outcome = is_enabled ? PAWL_ATTEMPT_ENABLED : PAWL_ATTEMPT_DISCARDED,
        .error   = reset->note,
        .at      = reset->at,
    };
    return put_attempt(writer, &line, false, error);
}

static pawl_code hold_row(pawl__sqlite_writer *writer, int64_t id, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQL_OUTBOX_HOLD, error);
    pawl__sqlite_put_int(&request, id);
    return pawl__sqlite_run(&request);
}

static pawl_code release(pawl__sqlite_writer *writer, pawl_text source, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQL_OUTBOX_FREE, error);
    pawl__sqlite_put_text(&request, source);
    return pawl__sqlite_run(&request);
}

/* ---- Holding back ------------------------------------------------------- */

static int by_hold_source(const void *left, const void *right)
{
    return pawl_text_compare((*(const pawl_outbox_hold *const *)left)->source,
                             (*(const pawl_outbox_hold *const *)right)->source);
}

static bool is_wanted(const pawl__sqlite_writer *writer, const pawl_outbox_hold *hold)
{
    return !hold->is_release && hold->source.size != 0 && !writer->is_dropped[hold->group];
}

/* The holds of the set, sorted by source; their number. */
static size_t sort_holds(const pawl__sqlite_writer *writer, const pawl_outbox_hold **sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < writer->changes->outbox_hold.count; i++)
        if (is_wanted(writer, &writer->changes->outbox_hold.items[i]))
            sorted[count++] = &writer->changes->outbox_hold.items[i];
    qsort(sorted, count, sizeof(pawl_outbox_hold *), by_hold_source);
    return count;
}

/* Holds what is pending behind the rows of the holds. Rows leave the index
 * while the walk goes on over it, which SQLite allows: one that left was
 * passed. */
static pawl_code hold_sources(pawl__sqlite_writer *writer, const pawl_outbox_hold **sorted,
                              size_t count, pawl_error *error)
{
    int64_t   after = INT64_MAX;
    pawl_code code  = PAWL_OK;
    for (size_t i = 0; i < count; i++)
        if (sorted[i]->after < after)
            after = sorted[i]->after;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, writer->connection, PAWL__SQLITE_OUTBOX_SOURCES, error);
    pawl__sqlite_put_int(&request, after);
    while (code == PAWL_OK && pawl__sqlite_next(&request)) {
        int64_t                  id    = pawl__sqlite_get_int(&request);
        const pawl_outbox_hold   probe = {.source = pawl__sqlite_peek_text(&request)};
        const pawl_outbox_hold  *key   = &probe;
        const pawl_outbox_hold **found =
            bsearch(&key, sorted, count, sizeof(pawl_outbox_hold *), by_hold_source);
        if (found != NULL && id > (*found)->after)
            code = hold_row(writer, id, error);
    }
    pawl__sqlite_stop(&request);
    return code != PAWL_OK ? code : request.code;
}

/* One walk for all holds of the set: when a destination is down there are as
 * many as rows in a batch. */
pawl_code pawl__sqlite_apply_outbox_hold(pawl__sqlite_writer *writer, const void *change,
                                         pawl_error *error)
{
    const pawl_outbox_hold *hold = change;
    if (hold->source.size == 0)
        return PAWL_OK;
    if (hold->is_release)
        return release(writer, hold->source, error);
    if (writer->has_held)
        return PAWL_OK;
    writer->has_held = true;
    const pawl_outbox_hold **sorted =
        pawl_allocate(writer->changes->outbox_hold.count * sizeof *sorted);
    if (sorted == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    pawl_code code = hold_sources(writer, sorted, sort_holds(writer, sorted), error);
    pawl_free(sorted);
    return code;
}
