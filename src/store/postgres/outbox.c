/* outbox.c - reading the rows that wait for delivery, and the history of their
 * attempts. outbox_write.c has the changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/outbox.h"
#include "store/postgres/operations.h"

/* The number of a word; a word that is none, written by somebody else, ends
 * the call. */
static int read_word(pawl__postgres_call *call, const pawl_text *words, int count)
{
    pawl_text word = pawl__postgres_peek_text(call);
    for (int i = 0; i < count; i++)
        if (pawl_text_equal(word, words[i]))
            return i;
    call->code = pawl_error_set(call->error, PAWL_EPERSIST,
                                "postgres: column %s holds '%.*s', which is no state",
                                PQfname(call->result, call->column - 1), PAWL_TEXT_ARGS(word));
    return 0;
}

static void read_row(pawl__postgres_call *call, pawl_outbox_row *row)
{
    row->id               = pawl__postgres_get_int(call);
    row->next_attempt     = pawl__postgres_get_time(call);
    row->dispatch_id.uuid = pawl__postgres_get_uuid(call);
    row->source           = pawl__postgres_get_text(call);
    row->version          = pawl__postgres_get_int(call);
    row->index            = (int32_t)pawl__postgres_get_int(call);
    row->endpoint         = pawl__postgres_get_text(call);
    row->destination      = pawl__postgres_get_text(call);
    row->due              = pawl__postgres_get_time(call);
    row->state = (pawl_outbox_state)read_word(call, pawl__sql_state_words, PAWL__SQL_STATE_COUNT);
    row->attempts = (int32_t)pawl__postgres_get_int(call);
    row->at       = pawl__postgres_get_time(call);
    pawl__postgres_get_message(call, &row->message);
}

/* ---- Claiming ----------------------------------------------------------- */

/* Each row of the answer begins with what is known of the rows that wait; where
 * no row can be had, that stands alone. */
static void read_due(pawl__postgres_call *call, pawl_outbox_rows *rows,
                     pawl__postgres_outbox_look *look)
{
    rows->items = pawl__postgres_take_rows(call, sizeof *rows->items);
    while (pawl__postgres_next(call)) {
        bool      is_waiting = !pawl__postgres_is_null(call);
        pawl_time later      = pawl__postgres_get_time(call);
        int64_t   waiting    = pawl__postgres_get_int(call);
        look->later          = is_waiting ? later : PAWL_TIME_MAX;
        look->waiting        = is_waiting ? waiting : INT64_MAX;
        if (!pawl__postgres_is_null(call))
            read_row(call, &rows->items[rows->count++]);
    }
    look->first = rows->count != 0 ? rows->items[0].id : 0;
}

static pawl_code claim_from(pawl__postgres *store, pawl_text endpoint, pawl_time now,
                            size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                            pawl__postgres_outbox_look *look, pawl_error *error)
{
    pawl__postgres_call call;
    pawl__postgres_begin(&call, &store->main, pawl__postgres_outbox_due, error);
    call.arena = arena;
    pawl__postgres_put_time(&call, now);
    pawl__postgres_put_text(&call, endpoint);
    pawl__postgres_put_int(&call, look->start);
    pawl__postgres_put_int(&call, (int64_t)count_max);
    pawl_code code = pawl__postgres_run(&call);
    if (code != PAWL_OK)
        return code;
    read_due(&call, rows, look);
    return call.code;
}

/* One row more than asked for tells when to look next. */
pawl_code pawl__postgres_outbox_claim(pawl_store *base, pawl_text endpoint, pawl_time now,
                                      size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                      pawl_error *error)
{
    pawl__postgres            *store = pawl__postgres_of(base);
    pawl__postgres_outbox_look look  = {0};
    *rows                            = (pawl_outbox_rows){.next_attempt = PAWL_TIME_MAX};
    pawl_code code                   = pawl__postgres_ready(store, error);
    if (code != PAWL_OK)
        return code;
    store->is_woken = false;
    pawl__postgres_note_now(store, now);
    look.start = pawl__postgres_outbox_place_begin(&store->outbox, endpoint, now);
    code       = claim_from(store, endpoint, now, count_max + 1, arena, rows, &look, error);
    if (code != PAWL_OK)
        return code;
    pawl__postgres_outbox_place_end(&store->outbox, &look);
    rows->next_attempt =
        rows->count > count_max ? rows->items[--rows->count].next_attempt : store->outbox.later;
    return pawl__sql_order_sources(rows, arena, error);
}

/* ---- Looking ------------------------------------------------------------ */

/* A state that is no parameter lets the statement have the state's own index. */
static const int list_statements[] = {
    [PAWL_OUTBOX_PENDING]    = pawl__postgres_outbox_list_pending,
    [PAWL_OUTBOX_HELD]       = pawl__postgres_outbox_list_held,
    [PAWL_OUTBOX_DISPATCHED] = pawl__postgres_outbox_list_dispatched,
    [PAWL_OUTBOX_DEAD]       = pawl__postgres_outbox_list_dead,
};

pawl_code pawl__postgres_outbox_list(pawl_store *base, pawl_outbox_state state, size_t count_max,
                                     pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    pawl__postgres     *store = pawl__postgres_of(base);
    pawl__postgres_call call;
    *rows          = (pawl_outbox_rows){.next_attempt = PAWL_TIME_MAX};
    pawl_code code = pawl__postgres_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__postgres_begin(&call, &store->main, list_statements[state], error);
    call.arena = arena;
    pawl__postgres_put_int(&call, count_max != 0 ? (int64_t)count_max : INT64_MAX);
    code = pawl__postgres_run(&call);
    if (code != PAWL_OK)
        return code;
    rows->items = pawl__postgres_take_rows(&call, sizeof *rows->items);
    while (pawl__postgres_next(&call))
        read_row(&call, &rows->items[rows->count++]);
    return call.code;
}

pawl_code pawl__postgres_outbox_history(pawl_store *base, int64_t id, pawl_arena *arena,
                                        pawl_attempt_rows *rows, pawl_error *error)
{
    pawl__postgres     *store = pawl__postgres_of(base);
    pawl__postgres_call call;
    *rows          = (pawl_attempt_rows){0};
    pawl_code code = pawl__postgres_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__postgres_begin(&call, &store->main, pawl__sql_outbox_attempts, error);
    call.arena = arena;
    pawl__postgres_put_int(&call, id);
    code = pawl__postgres_run(&call);
    if (code != PAWL_OK)
        return code;
    rows->items = pawl__postgres_take_rows(&call, sizeof *rows->items);
    while (pawl__postgres_next(&call)) {
        pawl_attempt_row *row = &rows->items[rows->count++];
        row->attempt          = (int32_t)pawl__postgres_get_int(&call);
        row->outcome          = (pawl_attempt_outcome)read_word(&call, pawl__sql_outcome_words,
                                                                PAWL__SQL_OUTCOME_COUNT);
        row->error            = pawl__postgres_get_text(&call);
        row->at               = pawl__postgres_get_time(&call);
        row->duration         = pawl__postgres_get_int(&call);
    }
    return call.code;
}
