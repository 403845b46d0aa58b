/* find.c - lists rows by filters (pawl_find), finds the oldest row of a queue, and gives events their positions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"
#include "store/sql/server.h"

#include <stdlib.h>
#include <string.h>

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

/* Skips the rows of `except`; so the limit is one more than their number. */
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

/* ---- Rows of a kind ------------------------------------------------------ */

#define ASKED(member, as) FIELD(pawl_find, member, as)

static const pawl__field_list by_message = PAWL__FIELDS(
    ASKED(messages.queue, TEXT), ASKED(messages.message_id, TEXT), ASKED(messages.type, TEXT),
    ASKED(messages.due_min, TIME_FROM), ASKED(messages.due_max, TIME), ASKED(messages.seq_max, INT),
    ASKED(after.time, TIME), ASKED(after.number, INT), ASKED(limit, INT));
static const pawl__field_list by_tie =
    PAWL__FIELDS(ASKED(messages.queue, TEXT), ASKED(messages.message_id, TEXT),
                 ASKED(messages.type, TEXT), ASKED(messages.due_max, TIME),
                 ASKED(messages.seq_max, INT), ASKED(after.number, INT), ASKED(limit, INT));
static const pawl__field_list by_place =
    PAWL__FIELDS(ASKED(messages.queue, TEXT), ASKED(limit, INT));
static const pawl__field_list by_retried =
    PAWL__FIELDS(ASKED(retried.queue, TEXT), ASKED(retried.due_after, TIME), ASKED(scan_max, INT),
                 ASKED(retried.type, TEXT), ASKED(limit, INT));
static const pawl__field_list by_saga = PAWL__FIELDS(ASKED(saga_id, UUID), ASKED(after.time, TIME),
                                                     ASKED(after.id, UUID), ASKED(limit, INT));
static const pawl__field_list by_destination = PAWL__FIELDS(
    ASKED(name, TEXT), ASKED(after.time, TIME), ASKED(after.id, UUID), ASKED(limit, INT));
static const pawl__field_list by_name      = PAWL__FIELDS(ASKED(name, TEXT));
static const pawl__field_list by_name_time = PAWL__FIELDS(ASKED(name, TEXT), ASKED(time, TIME));
static const pawl__field_list by_flush =
    PAWL__FIELDS(ASKED(name, TEXT), ASKED(time, TIME), ASKED(limit, INT));
static const pawl__field_list by_operation = PAWL__FIELDS(
    ASKED(outbox.id, INT), ASKED(outbox.dispatch_id, UUID_OR_NULL), ASKED(after.number, INT),
    ASKED(outbox.states, INT32), ASKED(outbox.endpoint, TEXT), ASKED(outbox.source, TEXT),
    ASKED(outbox.destination, TEXT), ASKED(outbox.message_type, TEXT),
    ASKED(outbox.causation_id, TEXT), ASKED(outbox.attempts_min, INT32), ASKED(limit, INT));
static const pawl__field_list by_id = PAWL__FIELDS(ASKED(id, INT));
static const pawl__field_list by_letter =
    PAWL__FIELDS(ASKED(dead.endpoint, TEXT), ASKED(dead.message_id, TEXT), ASKED(dead.type, TEXT),
                 ASKED(dead.code, TEXT), ASKED(dead.error_part, PART), ASKED(dead.at_min, TIME),
                 ASKED(dead.at_max, TIME), ASKED(after.time, TIME), ASKED(after.endpoint, TEXT),
                 ASKED(after.message_id, TEXT), ASKED(limit, INT));
static const pawl__field_list by_event = PAWL__FIELDS(
    ASKED(events.stream, TEXT), ASKED(after.number, INT), ASKED(events.type, TEXT),
    ASKED(events.message_id, TEXT), ASKED(events.correlation_id, TEXT), ASKED(limit, INT));
static const pawl__field_list by_history =
    PAWL__FIELDS(ASKED(history.source, TEXT), ASKED(history.message_id, TEXT),
                 ASKED(after.number, INT), ASKED(limit, INT));

#define KIND(statement, parameters, fields, row)                              \
    {                                                                         \
        PAWL__SQL_##statement, parameters, NULL, &pawl__##fields, sizeof(row) \
    }
static const pawl__sql_asked kinds[PAWL_FIND_KINDS] = {
    [PAWL_FIND_MESSAGES] = KIND(QUEUE_FIND, &by_message, queue_message_fields, pawl_queue_message),
    [PAWL_FIND_RETRIED]  = KIND(QUEUE_RETRIED, &by_retried, queue_row_fields, pawl_queue_row),
    [PAWL_FIND_TIMEOUTS] = KIND(TIMEOUT_LIST_SAGA, &by_saga, timeout_row_fields, pawl_timeout_row),
    [PAWL_FIND_FOREIGN] =
        KIND(TIMEOUT_FOREIGN, &by_name_time, foreign_row_fields, pawl_foreign_row),
    [PAWL_FIND_OUTBOX]   = KIND(OUTBOX_FIND_ANY, &by_operation, outbox_row_fields, pawl_outbox_row),
    [PAWL_FIND_ATTEMPTS] = KIND(OUTBOX_ATTEMPTS, &by_id, attempt_row_fields, pawl_attempt_row),
    [PAWL_FIND_DEAD]     = KIND(DEAD_FIND, &by_letter, dead_row_fields, pawl_dead_row),
    [PAWL_FIND_EVENTS]   = KIND(EVENT_LIST_SEQ, &by_event, event_row_fields, pawl_event_row),
    [PAWL_FIND_HISTORY]  = KIND(HISTORY_FIND, &by_history, history_row_fields, pawl_history_row),
    [PAWL_FIND_PARTITION] =
        KIND(AGGREGATOR_GET, &by_name, aggregator_row_fields, pawl_aggregator_row),
    [PAWL_FIND_FLUSHES] = KIND(FLUSH_LIST, &by_flush, flush_row_fields, pawl_flush_row),
    [PAWL_FIND_SUBSCRIPTIONS] =
        KIND(SUBSCRIPTION_LIST, NULL, subscription_fields, pawl_subscription),
};

/* Chooses the statement with the index that fits the query best. */
static int of_outbox(const pawl_outbox_query *query)
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

/* Pending, held and dead rows have an index for each state: a query for several of these states reads one after the
 * other. */
static bool is_by_state(const pawl_outbox_query *query)
{
    const unsigned few =
        1u << PAWL_OUTBOX_PENDING | 1u << PAWL_OUTBOX_BLOCKED | 1u << PAWL_OUTBOX_DEAD;
    return (query->states & ~few) == 0 && (query->states & (query->states - 1)) != 0 &&
           of_outbox(query) == PAWL__SQL_OUTBOX_FIND_ANY;
}

static int by_outbox_id(const void *left, const void *right)
{
    const pawl_outbox_row *l = left, *r = right;
    return (l->id > r->id) - (l->id < r->id);
}

/* Drops rows before index `count` that were read again after it: their state changed between two statements. */
static void drop_moved(pawl_found *found, size_t count)
{
    pawl_outbox_row *rows = found->items;
    size_t           more = found->count - count, kept = 0;
    for (size_t i = 0; i < count && more > 0; i++)
        if (bsearch(&rows[i], rows + count, more, sizeof *rows, by_outbox_id) == NULL)
            rows[kept++] = rows[i];
    if (more == 0)
        return;
    memmove(rows + kept, rows + count, more * sizeof *rows);
    found->count = kept + more;
}

/* Reads the first state again at the end: a row that returned to it in the meantime may have been missed. */
static pawl_code find_by_state(pawl_store *store, pawl_find *asked, pawl__sql_each *each,
                               pawl_arena *arena, pawl_found *found, pawl_error *error)
{
    const unsigned states = asked->outbox.states;
    pawl_code      code   = PAWL_OK;
    each->compare         = by_outbox_id;
    for (unsigned rest = states; code == PAWL_OK; rest &= rest - 1) {
        size_t before         = found->count;
        asked->outbox.states  = rest != 0 ? rest & -rest : states & -states;
        each->asked.statement = of_outbox(&asked->outbox);
        code                  = pawl__sql_read_more(store, each, arena, found, error);
        drop_moved(found, before);
        if (rest == 0)
            break;
    }
    pawl__sql_merge(each, found);
    return code;
}

static int of_events(const pawl_event_query *query)
{
    static const int statements[][2] = {
        {PAWL__SQL_EVENT_LIST_STREAM, PAWL__SQL_EVENT_LIST_STREAM_BACK},
        {PAWL__SQL_EVENT_LIST_POSITION, PAWL__SQL_EVENT_LIST_POSITION_BACK},
        {PAWL__SQL_EVENT_LIST_SEQ, PAWL__SQL_EVENT_LIST_SEQ_BACK},
    };
    int order = query->stream.size != 0 ? 0 : query->is_by_position ? 1 : 2;
    return statements[order][query->is_backward];
}

int pawl__sql_by_due(const void *left, const void *right)
{
    const pawl_timeout_row *l = left, *r = right;
    if (l->due != r->due)
        return l->due < r->due ? -1 : 1;
    return pawl_uuid_compare(l->id.uuid, r->id.uuid);
}

static int by_time(const void *left, const void *right)
{
    const pawl_dead_row *l = left, *r = right;
    if (l->at != r->at)
        return l->at < r->at ? -1 : 1;
    return pawl_text_compare(l->endpoint, r->endpoint);
}

/* Without a saga, reads one destination after another, since the index of due times begins with the destination. */
static void choose_timeouts(pawl_find *asked, pawl__sql_each *each)
{
    if (!pawl_uuid_is_zero(asked->saga_id.uuid))
        return;
    each->names            = PAWL__SQL_TIMEOUT_NAME;
    each->name             = &asked->name;
    each->compare          = pawl__sql_by_due;
    each->asked.statement  = PAWL__SQL_TIMEOUT_LIST;
    each->asked.parameters = &by_destination;
}

/* A dead letter is found by endpoint and message id; without an endpoint, by each one that has dead letters. */
static void choose_dead(pawl_find *asked, pawl__sql_each *each)
{
    if (asked->dead.message_id.size == 0)
        return;
    each->asked.statement = PAWL__SQL_DEAD_FIND_ONE;
    each->names           = asked->dead.endpoint.size == 0 ? PAWL__SQL_DEAD_ENDPOINT : 0;
    each->name            = &asked->dead.endpoint;
    each->compare         = by_time;
}

/* Of rows at PAWL_TIME_MIN the database may have other, earlier times: these are no tie there. */
static bool is_tie(const pawl_find *asked)
{
    return asked->messages.due_max == asked->after.time && asked->after.time != PAWL_TIME_MIN;
}

static void choose(pawl_find *asked, pawl__sql_each *each)
{
    int *statement = &each->asked.statement;
    switch (asked->kind) {
    case PAWL_FIND_MESSAGES:
        if (asked->is_by_place)
            *statement = PAWL__SQL_QUEUE_LIST, each->asked.parameters = &by_place;
        else if (asked->messages.message_id.size != 0)
            *statement = PAWL__SQL_QUEUE_FIND_ONE;
        else if (is_tie(asked))
            *statement = PAWL__SQL_QUEUE_FIND_TIE, each->asked.parameters = &by_tie;
        return;
    case PAWL_FIND_TIMEOUTS: choose_timeouts(asked, each); return;
    case PAWL_FIND_OUTBOX: *statement = of_outbox(&asked->outbox); return;
    case PAWL_FIND_DEAD: choose_dead(asked, each); return;
    case PAWL_FIND_EVENTS: *statement = of_events(&asked->events); return;
    case PAWL_FIND_HISTORY:
        if (asked->history.message_id.size != 0)
            *statement = PAWL__SQL_HISTORY_FIND_MESSAGE;
        else if (asked->history.source.size != 0)
            *statement = PAWL__SQL_HISTORY_FIND_SOURCE;
        return;
    default: return;
    }
}

pawl_code pawl__sql_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                         pawl_found *found, pawl_error *error)
{
    if ((unsigned)asked->kind >= PAWL_FIND_KINDS)
        return PAWL_EUNSUPPORTED;
    if (asked->kind == PAWL_FIND_LEADS)
        return pawl__sql_leads(store, asked->time, arena, found, error);
    if (asked->kind == PAWL_FIND_WORKERS)
        return pawl__sql_workers(store, true, arena, found, error);
    pawl_find      by   = *asked;
    pawl__sql_each each = {.asked = kinds[asked->kind], .limit = asked->limit};
    each.asked.item     = &by;
    if (asked->kind == PAWL_FIND_OUTBOX && is_by_state(&by.outbox))
        return find_by_state(store, &by, &each, arena, found, error);
    choose(&by, &each);
    return each.names != 0 ? pawl__sql_read_each(store, &each, arena, found, error)
                           : pawl__sql_read(store, &each.asked, arena, found, error);
}

pawl_code pawl__sql_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                   pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_CHECKPOINT_GET, &pawl__one_text, &name, &pawl__one_int,
                                   sizeof *position};
    return pawl__sql_read_first(store, &asked, NULL, position, error);
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

/* EVENT_TURN locks a row, so that one handle at a time numbers the events committed so far. Positions grow without
 * gaps; an event that is committed later gets a later position, whatever its Seq. */
static pawl_code number_events(pawl_store *store, int64_t limit, pawl_arena *arena, int64_t *count,
                               pawl_error *error)
{
    numbered              last   = {0};
    const pawl__sql_asked turn   = {PAWL__SQL_EVENT_TURN, NULL, NULL, &first_number, 0};
    const pawl__sql_asked before = {PAWL__SQL_EVENT_POSITION, NULL, NULL, &first_number, 0};
    const pawl__sql_asked asked  = {PAWL__SQL_EVENT_UNNUMBERED, &first_number, &limit, &seq_column,
                                    sizeof(numbered)};
    pawl_found            found  = {0};
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

/* Repeated after a deadlock, since sweeps (bodies of removed dead letters) change these rows in another order. */
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
