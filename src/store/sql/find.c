/* find.c - the oldest row of a queue, messages, outbox rows and dead letters by a query, positions of events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"
#include "store/sql/server.h"

#define FIELD(of, member, as) PAWL__AS_OF(of, member, as)

/* ---- The oldest row of a queue ------------------------------------------ */

typedef struct oldest_by {
    pawl_text queue;
    pawl_time due_max;
    int64_t   limit;
} oldest_by;

typedef struct place {
    pawl_time placed;
    int64_t   seq;
} place;

static const pawl__field_list by_queue = PAWL__FIELDS(
    FIELD(oldest_by, queue, TEXT), FIELD(oldest_by, due_max, TIME), FIELD(oldest_by, limit, INT));
static const pawl__field_list place_row =
    PAWL__FIELDS(FIELD(place, placed, TIME), FIELD(place, seq, INT));

static bool is_one_of(int64_t seq, const int64_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == seq)
            return true;
    return false;
}

/* The limit is a row more than those of `except`, which are passed over here. */
pawl_code pawl__sql_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                 const int64_t *except, size_t except_count, pawl_time *placed,
                                 int64_t *seq, pawl_error *error)
{
    const pawl__sql_ops  *ops     = pawl__sql_ops_of(store);
    const oldest_by       by      = {queue, due_max, (int64_t)except_count + 1};
    const pawl__sql_asked asked   = {PAWL__SQL_QUEUE_OLDEST, &by_queue, &by, &place_row, 0};
    pawl__sql_request    *request = NULL;
    pawl_code             code    = pawl__sql_run(store, &asked, NULL, &request, error);
    while (code == PAWL_OK && ops->next(request)) {
        place row;
        ops->get(request, &place_row, &row);
        if (is_one_of(row.seq, except, except_count))
            continue;
        *placed = row.placed;
        *seq    = row.seq;
        break;
    }
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

/* ---- Messages ----------------------------------------------------------- */

typedef struct message_by {
    pawl_queue_query query;
    pawl_queue_row   after;
    int64_t          limit;
} message_by;

static const pawl__field message_fields[] = {
    FIELD(message_by, query.queue, TEXT),   FIELD(message_by, query.message_id, TEXT),
    FIELD(message_by, query.type, TEXT),    FIELD(message_by, query.due_min, TIME),
    FIELD(message_by, query.due_max, TIME), FIELD(message_by, query.seq_max, INT),
    FIELD(message_by, after.due, TIME),     FIELD(message_by, after.seq, INT),
    FIELD(message_by, limit, INT),
};
static const pawl__field_list by_message = PAWL__FIELD_ARRAY(message_fields);

/* A page begins where the one before it ended: the index on due times leads there. */
pawl_code pawl__sql_queue_find(pawl_store *store, const pawl_queue_query *query, pawl_arena *arena,
                               pawl_queue_messages *messages, pawl_error *error)
{
    message_by      by     = {.query = *query,
                              .after = {.due = PAWL_TIME_MIN},
                              .limit = pawl__sql_limit(query->count_max)};
    bool            is_one = query->message_id.size != 0;
    pawl__sql_asked asked  = {is_one ? PAWL__SQL_QUEUE_FIND_ONE : PAWL__SQL_QUEUE_FIND, &by_message,
                             &by, &pawl__queue_message_fields, sizeof *messages->items};
    pawl__sql_rows  found;
    if (query->after != NULL)
        by.after = *query->after;
    if (query->due_min == 0 || query->due_min < by.after.due)
        by.query.due_min = by.after.due;
    if (query->due_max == 0)
        by.query.due_max = PAWL_TIME_MAX;
    if (query->seq_max == 0)
        by.query.seq_max = INT64_MAX;
    pawl_code code = pawl__sql_read(store, &asked, arena, &found, error);
    *messages      = (pawl_queue_messages){.items = found.items, .count = found.count};
    return code;
}

/* ---- Outbox rows -------------------------------------------------------- */

typedef struct outbox_by {
    pawl_outbox_query query;
    int64_t           states;
    int64_t           limit;
} outbox_by;

static const pawl__field_list by_query = PAWL__FIELDS(
    FIELD(outbox_by, query.id, INT), FIELD(outbox_by, query.dispatch_id, UUID_OR_NULL),
    FIELD(outbox_by, query.after, INT), FIELD(outbox_by, states, INT),
    FIELD(outbox_by, query.endpoint, TEXT), FIELD(outbox_by, query.source, TEXT),
    FIELD(outbox_by, query.destination, TEXT), FIELD(outbox_by, query.message_type, TEXT),
    FIELD(outbox_by, query.causation_id, TEXT), FIELD(outbox_by, query.attempts_min, INT32),
    FIELD(outbox_by, limit, INT));

/* The statement whose index leads to the rows of the query, if one does. */
static int find_statement(const pawl_outbox_query *query)
{
    if (query->id != 0)
        return PAWL__SQL_OUTBOX_FIND_ID;
    if (!pawl_uuid_is_zero(query->dispatch_id.uuid))
        return PAWL__SQL_OUTBOX_FIND_DISPATCH;
    switch (query->states) {
    case 1u << PAWL_OUTBOX_PENDING:
        return query->attempts_min > 0 ? PAWL__SQL_OUTBOX_FIND_TRIED
                                       : PAWL__SQL_OUTBOX_FIND_PENDING;
    case 1u << PAWL_OUTBOX_BLOCKED: return PAWL__SQL_OUTBOX_FIND_HELD;
    case 1u << PAWL_OUTBOX_DEAD: return PAWL__SQL_OUTBOX_FIND_DEAD;
    default: return PAWL__SQL_OUTBOX_FIND_ANY;
    }
}

pawl_code pawl__sql_outbox_find(pawl_store *store, const pawl_outbox_query *query,
                                pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    const outbox_by       by    = {*query, query->states, pawl__sql_limit(query->count_max)};
    const pawl__sql_asked asked = {find_statement(query), &by_query, &by, &pawl__outbox_row_fields,
                                   sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    rows->items                = found.items;
    rows->count                = found.count;
    return code;
}

/* ---- Dead letters ------------------------------------------------------- */

typedef struct dead_by {
    pawl_dead_query query;
    pawl_dead_row   after;
    int64_t         limit;
} dead_by;

static const pawl__field letter_fields[] = {
    FIELD(dead_by, query.endpoint, TEXT),
    FIELD(dead_by, query.message_id, TEXT),
    FIELD(dead_by, query.type, TEXT),
    FIELD(dead_by, query.code, TEXT),
    FIELD(dead_by, query.error_part, TEXT),
    FIELD(dead_by, query.at_min, TIME),
    FIELD(dead_by, query.at_max, TIME),
    FIELD(dead_by, after.at, TIME),
    FIELD(dead_by, after.endpoint, TEXT),
    FIELD(dead_by, after.message.id, TEXT),
    FIELD(dead_by, limit, INT),
};
static const pawl__field_list by_letter = PAWL__FIELD_ARRAY(letter_fields);

static int by_time(const void *left, const void *right)
{
    const pawl_dead_row *l = left, *r = right;
    if (l->at != r->at)
        return l->at < r->at ? -1 : 1;
    return pawl_text_compare(l->endpoint, r->endpoint);
}

pawl_code pawl__sql_dead_find(pawl_store *store, const pawl_dead_query *query, pawl_arena *arena,
                              pawl_dead_rows *rows, pawl_error *error)
{
    bool            is_one = query->endpoint.size != 0 && query->message_id.size != 0;
    dead_by         by     = {.query = *query,
                              .after = {.at = PAWL_TIME_MIN},
                              .limit = pawl__sql_limit(query->count_max)};
    pawl__sql_asked asked  = {is_one ? PAWL__SQL_DEAD_FIND_ONE : PAWL__SQL_DEAD_FIND, &by_letter,
                             &by, &pawl__dead_row_fields, sizeof *rows->items};
    pawl__sql_rows  found;
    if (query->at_min == 0)
        by.query.at_min = PAWL_TIME_MIN;
    if (query->at_max == 0)
        by.query.at_max = PAWL_TIME_MAX;
    if (query->after != NULL)
        by.after = *query->after;
    if (by.after.at > by.query.at_min)
        by.query.at_min = by.after.at; /* so that the index is entered there */
    /* A letter is found by its endpoint and its id: without the first by each endpoint that has any. */
    const pawl__sql_each each = {
        PAWL__SQL_DEAD_ENDPOINT,
        {PAWL__SQL_DEAD_FIND_ONE, &by_letter, &by, &pawl__dead_row_fields, sizeof *rows->items},
        &by.query.endpoint,
        by_time,
        by.limit};
    pawl_code code = !is_one && query->message_id.size != 0
                         ? pawl__sql_read_each(store, &each, arena, &found, error)
                         : pawl__sql_read(store, &asked, arena, &found, error);
    *rows          = (pawl_dead_rows){.items = found.items, .count = found.count};
    return code;
}

/* ---- History ------------------------------------------------------------ */

typedef struct history_by {
    pawl_history_query query;
    int64_t            limit;
} history_by;

static const pawl__field_list by_history =
    PAWL__FIELDS(FIELD(history_by, query.source, TEXT), FIELD(history_by, query.message_id, TEXT),
                 FIELD(history_by, query.after, INT), FIELD(history_by, limit, INT));

pawl_code pawl__sql_history_find(pawl_store *store, const pawl_history_query *query,
                                 pawl_arena *arena, pawl_history_rows *rows, pawl_error *error)
{
    const history_by by    = {*query, pawl__sql_limit(query->count_max)};
    pawl__sql_asked  asked = {PAWL__SQL_HISTORY_FIND, &by_history, &by, &pawl__history_row_fields,
                              sizeof *rows->items};
    pawl__sql_rows   found;
    if (query->message_id.size != 0)
        asked.statement = PAWL__SQL_HISTORY_FIND_MESSAGE;
    else if (query->source.size != 0)
        asked.statement = PAWL__SQL_HISTORY_FIND_SOURCE;
    pawl_code code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows          = (pawl_history_rows){.items = found.items, .count = found.count};
    return code;
}

/* ---- Positions of events ------------------------------------------------ */

typedef struct numbered {
    int64_t position;
    int64_t seq;
} numbered;

static const pawl__field      number_fields[] = {FIELD(numbered, position, INT),
                                                 FIELD(numbered, seq, INT)};
static const pawl__field_list first_number    = {number_fields, 1};
static const pawl__field_list seq_column      = {number_fields + 1, 1};
static const pawl__sql_write  set_position    = {
        .statement  = PAWL__SQL_EVENT_NUMBER,
        .parameters = PAWL__FIELD_ARRAY(number_fields),
};

/* Behind the lock one handle at a time numbers what is committed by now, so positions only grow and
 * none is left out; an event whose commit comes later has a later one, whatever its number. */
static pawl_code number_events(pawl_store *store, int64_t limit, pawl_arena *arena, int64_t *count,
                               pawl_error *error)
{
    numbered              last   = {0};
    const pawl__sql_asked turn   = {PAWL__SQL_EVENT_TURN, NULL, NULL, &first_number, 0};
    const pawl__sql_asked before = {PAWL__SQL_EVENT_POSITION, NULL, NULL, &first_number, 0};
    const pawl__sql_asked asked  = {PAWL__SQL_EVENT_UNNUMBERED, &first_number, &limit, &seq_column,
                                    sizeof(numbered)};
    pawl__sql_rows        found  = {0};
    pawl_code             code   = pawl__sql_read_first(store, &turn, NULL, &last, error);
    last.position                = 0;
    if (code == PAWL_OK)
        code = pawl__sql_read_first(store, &before, NULL, &last, error);
    if (code == PAWL_OK)
        code = pawl__sql_read(store, &asked, arena, &found, error);
    numbered *events = found.items;
    for (size_t i = 0; i < found.count; i++)
        events[i].position = last.position + (int64_t)i + 1;
    *count = (int64_t)found.count;
    return code == PAWL_OK ? pawl__sql_write_rows(store, &set_position, events, sizeof *events,
                                                  found.count, NULL, error)
                           : code;
}

static pawl_code number_once(pawl_store *store, size_t count_max, pawl_arena *arena, int64_t *count,
                             pawl_error *error)
{
    pawl_code code = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = number_events(store, pawl__sql_limit(count_max), arena, count, error);
    return pawl__sql_stamp_end(store, code, error);
}

/* Other transactions change these rows in another order (bodies of dead letters that go). */
pawl_code pawl__sql_event_number(pawl_store *store, size_t count_max, int64_t *count,
                                 pawl_error *error)
{
    pawl_code   code;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl__sql_no_memory(store, "rows", error);
    PAWL__SQL_TRY(store, code, number_once(store, count_max, arena, count, error));
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl__sql_event_number_none(pawl_store *store, size_t count_max, int64_t *count,
                                      pawl_error *error)
{
    (void)store;
    (void)count_max;
    (void)count;
    (void)error;
    return PAWL_OK;
}
