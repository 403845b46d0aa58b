/* outbox.c - messages that leave the store, and the history of their attempts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

typedef struct outbox_row {
    MEMORY_ROW(7)
    pawl_outbox_row fields;
    uint64_t        stamp; /* of the claim that listed it last */
} outbox_row;

enum { BY_ID, BY_DISPATCH, BY_STATE, BY_SOURCE, BY_NEXT, BY_DISPATCHED, BY_TRIED };

/* ---- Order -------------------------------------------------------------- */

MEMORY_ORDER(outbox_by_id, outbox_row, MEMORY_NUMBER(fields.id), MEMORY_NOTHING)
MEMORY_ORDER(outbox_by_dispatch, outbox_row, MEMORY_UUID(fields.dispatch_id.uuid), MEMORY_NOTHING)
MEMORY_ORDER(outbox_by_state, outbox_row, MEMORY_NUMBER(fields.state), MEMORY_NUMBER(fields.id))
MEMORY_ORDER(outbox_by_source, outbox_row, MEMORY_TEXT(fields.source),
             MEMORY_NUMBER(fields.version) || MEMORY_NUMBER(fields.index) ||
                 MEMORY_NUMBER(fields.id))
MEMORY_ORDER(outbox_by_next, outbox_row, MEMORY_NUMBER(fields.next_attempt),
             MEMORY_NUMBER(fields.id))
MEMORY_ORDER(outbox_by_dispatched, outbox_row, MEMORY_NUMBER(fields.dispatched),
             MEMORY_NUMBER(fields.id))
MEMORY_HAS(outbox_is_waiting, outbox_row,
           it->fields.source.size != 0 &&
               (it->fields.state == PAWL_OUTBOX_PENDING || it->fields.state == PAWL_OUTBOX_BLOCKED))
MEMORY_HAS(outbox_is_pending, outbox_row, it->fields.state == PAWL_OUTBOX_PENDING)
MEMORY_HAS(outbox_is_tried, outbox_row, outbox_is_pending(it) && it->fields.attempts > 0)
MEMORY_HAS(outbox_is_done, outbox_row,
           it->fields.state == PAWL_OUTBOX_DISPATCHED || it->fields.state == PAWL_OUTBOX_DISCARDED)

const memory_table_kind pawl__memory_outbox_kind = {
    MEMORY_SIZES(outbox_row, fields),
    .fields  = &pawl__outbox_row_fields,
    .indexes = {[BY_ID]         = MEMORY_INDEX(outbox_by_id, NULL),
                [BY_DISPATCH]   = MEMORY_INDEX(outbox_by_dispatch, NULL),
                [BY_STATE]      = MEMORY_INDEX(outbox_by_state, NULL),
                [BY_SOURCE]     = MEMORY_INDEX(outbox_by_source, outbox_is_waiting),
                [BY_NEXT]       = MEMORY_INDEX(outbox_by_next, outbox_is_pending),
                [BY_DISPATCHED] = MEMORY_INDEX(outbox_by_dispatched, outbox_is_done),
                [BY_TRIED]      = MEMORY_INDEX(outbox_by_id, outbox_is_tried)},
};

typedef struct attempt_row {
    MEMORY_ROW(1)
    pawl_attempt_row fields;
    int64_t          outbox_id;
} attempt_row;

MEMORY_ORDER(attempt_by_attempt, attempt_row, MEMORY_NUMBER(outbox_id),
             MEMORY_NUMBER(fields.attempt))

const memory_table_kind pawl__memory_attempt_kind = {
    MEMORY_SIZES(attempt_row, fields),
    .fields  = &pawl__attempt_row_fields,
    .indexes = {MEMORY_INDEX(attempt_by_attempt, NULL)},
};

static outbox_row *find_id(const memory_data *data, int64_t id)
{
    const outbox_row probe = {.fields.id = id};
    return pawl__tree_find(&data->outbox.trees[BY_ID], &probe);
}

static const memory_tree *states(const memory_data *data)
{
    return &data->outbox.trees[BY_STATE];
}

static outbox_row *first_in_state(const memory_data *data, pawl_outbox_state state)
{
    const outbox_row probe = {.fields.state = state};
    return pawl__tree_first_of(states(data), &probe);
}

static int64_t count_in_state(const memory_data *data, pawl_outbox_state state)
{
    int64_t           count = 0;
    const outbox_row *row   = first_in_state(data, state);
    for (; row != NULL; row = pawl__tree_next_of(states(data), row))
        count++;
    return count;
}

static outbox_row *first_of_source(const memory_data *data, pawl_text source)
{
    const outbox_row probe = {.fields.source = source};
    return pawl__tree_first_of(&data->outbox.trees[BY_SOURCE], &probe);
}

static outbox_row *next_of_source(const memory_data *data, const outbox_row *row)
{
    return pawl__tree_next_of(&data->outbox.trees[BY_SOURCE], row);
}

/* ---- Claims and reads ---------------------------------------------------- */

static bool is_due(const outbox_row *row, pawl_time now)
{
    return outbox_is_pending(row) && row->fields.next_attempt <= now;
}

/* Picks the row that is returned in place of `row`: the first due row of its source (ordering
 * key) not returned yet, by (version, index). Row ids need not follow that order; so
 * the rows of one source swap places among themselves.
 *
 *     id      1     2     3               1     2     3
 *     source  a     b     a       ->      a     b     a
 *     version 8     1     7               7     1     8
 */
static outbox_row *in_order(const memory_data *data, outbox_row *row, pawl_text endpoint,
                            pawl_time now)
{
    if (row->fields.source.size == 0)
        return row;
    outbox_row *found = first_of_source(data, row->fields.source);
    while (!is_due(found, now) || found->stamp == data->last_stamp ||
           !pawl__memory_is_like(endpoint, found->fields.endpoint))
        found = next_of_source(data, found);
    return found;
}

static void list_due(memory_data *data, pawl_text endpoint, pawl_time now, memory_list *list)
{
    bool        is_more = true;
    outbox_row *row     = first_in_state(data, PAWL_OUTBOX_PENDING);
    for (; row != NULL && is_more; row = pawl__tree_next_of(states(data), row)) {
        if (!is_due(row, now) || !pawl__memory_is_like(endpoint, row->fields.endpoint))
            continue;
        outbox_row *taken = in_order(data, row, endpoint, now);
        taken->stamp      = data->last_stamp;
        is_more           = pawl__memory_list_take(list, taken);
    }
}

/* The earliest due time of rows that the claim did not list. */
static pawl_time earliest_left(const memory_data *data, pawl_text endpoint)
{
    const memory_tree *tree = &data->outbox.trees[BY_NEXT];
    const outbox_row  *row  = pawl__tree_first(tree);
    while (row != NULL && (row->stamp == data->last_stamp ||
                           !pawl__memory_is_like(endpoint, row->fields.endpoint)))
        row = pawl__tree_next(tree, row);
    return row != NULL ? row->fields.next_attempt : PAWL_TIME_MAX;
}

pawl_code pawl__memory_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                    size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                    pawl_error *error)
{
    memory_data *data = ((memory_store *)store)->data;
    memory_list  list = pawl__memory_list_begin(store, arena, count_max);
    data->last_stamp++;
    if (count_max != 0)
        list_due(data, endpoint, now, &list);
    rows->next_attempt = earliest_left(data, endpoint);
    return pawl__memory_list_end(&list, &data->outbox, NULL, "claim of the outbox", &rows->items,
                                 &rows->count, error);
}

static bool is_wanted(const pawl_outbox_query *query, const pawl_outbox_row *row)
{
    return (query->states == 0 || (query->states & (1u << row->state)) != 0) &&
           row->attempts >= query->attempts_min &&
           (pawl_uuid_is_zero(query->dispatch_id.uuid) ||
            pawl_uuid_compare(query->dispatch_id.uuid, row->dispatch_id.uuid) == 0) &&
           pawl__memory_is_like(query->endpoint, row->endpoint) &&
           pawl__memory_is_like(query->source, row->source) &&
           pawl__memory_is_like(query->destination, row->destination) &&
           pawl__memory_is_like(query->message_type, row->message.type) &&
           pawl__memory_is_like(query->causation_id, row->message.causation_id);
}

/* The smallest index that has all rows of the query, ordered by id. */
static const memory_tree *tree_of(const memory_data *data, const pawl_outbox_query *query)
{
    bool is_of_tried = query->states == 1u << PAWL_OUTBOX_PENDING && query->attempts_min > 0;
    return &data->outbox.trees[is_of_tried ? BY_TRIED : BY_ID];
}

/* Reads every row in the order of ids, unless the query names a row, or wants only
 * rows that wait after a failure. */
void pawl__memory_find_outbox(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const pawl_outbox_query *query = &asked->outbox;
    const memory_tree       *tree  = tree_of(data, query);
    const outbox_row         probe = {.fields.id = asked->after.number};
    outbox_row *row = query->id != 0 ? find_id(data, query->id) : pawl__tree_above(tree, &probe);
    for (; row != NULL; row = query->id == 0 ? pawl__tree_next(tree, row) : NULL)
        if (row->fields.id > asked->after.number && is_wanted(query, &row->fields) &&
            !pawl__memory_list_take(list, row))
            return;
}

static attempt_row *first_attempt(const memory_data *data, int64_t outbox_id)
{
    const attempt_row probe = {.outbox_id = outbox_id};
    return pawl__tree_first_of(&data->attempts.trees[0], &probe);
}

void pawl__memory_find_attempts(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    attempt_row *row = first_attempt(data, asked->id);
    while (row != NULL && pawl__memory_list_take(list, row))
        row = pawl__tree_next_of(&data->attempts.trees[0], row);
}

void pawl__memory_outbox_stats(const memory_data *data, pawl_stats *stats)
{
    const outbox_row *row = first_in_state(data, PAWL_OUTBOX_PENDING);
    for (; row != NULL; row = pawl__tree_next_of(states(data), row)) {
        if (stats->outbox_pending++ == 0 || row->fields.at < stats->outbox_oldest)
            stats->outbox_oldest = row->fields.at;
    }
    stats->outbox_blocked = count_in_state(data, PAWL_OUTBOX_BLOCKED);
    stats->outbox_dead    = count_in_state(data, PAWL_OUTBOX_DEAD);
}

size_t pawl__memory_outbox_sweep(memory_data *data, pawl_time before, size_t count_max)
{
    size_t      count = 0;
    outbox_row *row;
    while (count < count_max &&
           (row = pawl__tree_first(&data->outbox.trees[BY_DISPATCHED])) != NULL &&
           row->fields.dispatched < before) {
        attempt_row *attempt;
        while ((attempt = first_attempt(data, row->fields.id)) != NULL)
            pawl__table_drop(&data->attempts, attempt);
        pawl__table_drop(&data->outbox, row);
        count++;
    }
    return count;
}

/* ---- Changes ------------------------------------------------------------ */

/* Adds an attempt with the next number. */
static pawl_code add_attempt(memory_commit *commit, int64_t outbox_id, pawl_attempt_row fields)
{
    memory_data       *data     = commit->data;
    const attempt_row  end      = {.outbox_id = outbox_id, .fields.attempt = INT32_MAX};
    const attempt_row *last     = pawl__tree_below(&data->attempts.trees[0], &end);
    bool               is_first = last == NULL || last->outbox_id != outbox_id;
    attempt_row        model    = {.outbox_id = outbox_id, .fields = fields};
    model.fields.attempt        = is_first ? 1 : last->fields.attempt + 1;
    return pawl__memory_write(commit, &data->attempts, NULL, &model);
}

pawl_code pawl__memory_apply_outbox_settle(memory_commit *commit, const void *item)
{
    const pawl_outbox_settle *change = item;
    memory_data              *data   = commit->data;
    outbox_row               *row    = find_id(data, change->id);
    if (row == NULL || !outbox_is_pending(row))
        return pawl__memory_refuse_by(commit, pawl__why_not_pending, item);
    outbox_row model          = *row;
    model.fields.state        = change->state;
    model.fields.attempts     = change->attempts;
    model.fields.next_attempt = change->next_attempt;
    if (change->state == PAWL_OUTBOX_DISPATCHED)
        model.fields.dispatched = change->at;
    pawl_code              code    = pawl__memory_write(commit, &data->outbox, row, &model);
    const pawl_attempt_row attempt = {.outcome  = change->outcome,
                                      .error    = change->error,
                                      .at       = change->at,
                                      .duration = change->duration};
    return code != PAWL_OK ? code : add_attempt(commit, change->id, attempt);
}

pawl_code pawl__memory_apply_outbox_reset(memory_commit *commit, const void *item)
{
    const pawl_outbox_reset *change     = item;
    memory_data             *data       = commit->data;
    bool                     is_enabled = change->action == PAWL_OUTBOX_RETRY;
    outbox_row              *row        = find_id(data, change->id);
    if (row == NULL || row->fields.state != PAWL_OUTBOX_DEAD)
        return pawl__memory_refuse_by(commit, pawl__why_not_dead, item);
    outbox_row model = *row;
    model.fields.attempts++;
    if (is_enabled) {
        model.fields.state           = PAWL_OUTBOX_PENDING;
        model.fields.next_attempt    = change->at;
        model.fields.attempts_before = model.fields.attempts;
    } else {
        model.fields.state      = PAWL_OUTBOX_DISCARDED;
        model.fields.dispatched = change->at;
    }
    pawl_attempt_row line = {.outcome = is_enabled ? PAWL_ATTEMPT_RETRIED : PAWL_ATTEMPT_DISCARDED,
                             .error   = change->note,
                             .at      = change->at};
    pawl_code        code = pawl__memory_write(commit, &data->outbox, row, &model);
    return code != PAWL_OK ? code : add_attempt(commit, change->id, line);
}

pawl_code pawl__memory_apply_outbox_add(memory_commit *commit, const void *item)
{
    const pawl_outbox_add *change = item;
    memory_data           *data   = commit->data;
    outbox_row             model  = {
                     .fields = {.dispatch_id = change->dispatch_id,
                                .source      = change->source,
                                .version     = change->version,
                                .index       = change->index,
                                .endpoint    = change->endpoint,
                                .destination = change->destination,
                                .message     = change->message,
                                .due         = change->due,
                                .state       = PAWL_OUTBOX_PENDING,
                                .at          = change->at},
    };
    const outbox_row *known = pawl__tree_find(&data->outbox.trees[BY_DISPATCH], &model);
    if (known != NULL && (!pawl_text_equal(known->fields.message.type, change->message.type) ||
                          !pawl_text_equal(known->fields.message.body, change->message.body)))
        return pawl__memory_refuse_by(commit, pawl__why_differs, item);
    if (known != NULL)
        return PAWL_OK;
    model.fields.id = ++data->last_id;
    return pawl__memory_write(commit, &data->outbox, NULL, &model);
}

pawl_code pawl__memory_apply_outbox_block(memory_commit *commit, const void *item)
{
    const pawl_outbox_block *change = item;
    memory_data             *data   = commit->data;
    bool                     is_one = change->id != 0 && !change->is_unblock;
    pawl_outbox_state        from = change->is_unblock ? PAWL_OUTBOX_BLOCKED : PAWL_OUTBOX_PENDING;
    pawl_outbox_state        to   = change->is_unblock ? PAWL_OUTBOX_PENDING : PAWL_OUTBOX_BLOCKED;
    pawl_code                code = PAWL_OK;
    outbox_row              *next = NULL;
    for (outbox_row *row = first_of_source(data, change->source); code == PAWL_OK && row != NULL;
         row             = next) {
        next          = next_of_source(data, row);
        bool is_named = is_one ? row->fields.id == change->id : row->fields.id > change->after;
        if (row->fields.state != from ||
            (!change->is_unblock && (!is_named || row->fields.attempts > 0)))
            continue;
        outbox_row model   = *row;
        model.fields.state = to;
        code               = pawl__memory_write(commit, &data->outbox, row, &model);
    }
    return code;
}
