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

static int by_id(const void *left, const void *right)
{
    const outbox_row *a = left, *b = right;
    return pawl__order_integers(a->fields.id, b->fields.id);
}

static int by_dispatch(const void *left, const void *right)
{
    const outbox_row *a = left, *b = right;
    return pawl_uuid_compare(a->fields.dispatch_id.uuid, b->fields.dispatch_id.uuid);
}

static int by_state(const void *left, const void *right)
{
    const outbox_row *a = left, *b = right;
    int               order = pawl__order_integers((int)a->fields.state, (int)b->fields.state);
    return order != 0 ? order : by_id(left, right);
}

static int by_source(const void *left, const void *right)
{
    const outbox_row *a = left, *b = right;
    int               order = pawl_text_compare(a->fields.source, b->fields.source);
    if (order == 0)
        order = pawl__order_integers(a->fields.version, b->fields.version);
    if (order == 0)
        order = pawl__order_integers(a->fields.index, b->fields.index);
    return order != 0 ? order : by_id(left, right);
}

static int by_next(const void *left, const void *right)
{
    const outbox_row *a = left, *b = right;
    int               order = pawl__order_integers(a->fields.next_attempt, b->fields.next_attempt);
    return order != 0 ? order : by_id(left, right);
}

static int by_dispatched(const void *left, const void *right)
{
    const outbox_row *a = left, *b = right;
    int               order = pawl__order_integers(a->fields.dispatched, b->fields.dispatched);
    return order != 0 ? order : by_id(left, right);
}

static bool is_waiting(const void *row)
{
    const outbox_row *it = row;
    return it->fields.source.size != 0 &&
           (it->fields.state == PAWL_OUTBOX_PENDING || it->fields.state == PAWL_OUTBOX_BLOCKED);
}

static bool is_pending(const void *row)
{
    const outbox_row *it = row;
    return it->fields.state == PAWL_OUTBOX_PENDING;
}

static bool is_tried(const void *row)
{
    const outbox_row *it = row;
    return is_pending(row) && it->fields.attempts > 0;
}

static bool is_done(const void *row)
{
    const outbox_row *it = row;
    return it->fields.state == PAWL_OUTBOX_DISPATCHED || it->fields.state == PAWL_OUTBOX_DISCARDED;
}

const memory_table_kind pawl__memory_outbox_kind = {
    .row_size      = sizeof(outbox_row),
    .fields_offset = offsetof(outbox_row, fields),
    .fields_size   = sizeof(pawl_outbox_row),
    .fixed         = {offsetof(outbox_row, fields.source), offsetof(outbox_row, fields.endpoint),
                      offsetof(outbox_row, fields.destination), offsetof(outbox_row, fields.message.id),
                      offsetof(outbox_row, fields.message.type), offsetof(outbox_row, fields.message.body),
                      offsetof(outbox_row, fields.message.headers),
                      offsetof(outbox_row, fields.message.correlation_id),
                      offsetof(outbox_row, fields.message.causation_id)},
    .index_count   = MEMORY_INDEX_COUNT(outbox_row),
    .indexes       = {[BY_ID]         = {by_id, NULL},
                      [BY_DISPATCH]   = {by_dispatch, NULL},
                      [BY_STATE]      = {by_state, NULL},
                      [BY_SOURCE]     = {by_source, is_waiting},
                      [BY_NEXT]       = {by_next, is_pending},
                      [BY_DISPATCHED] = {by_dispatched, is_done},
                      [BY_TRIED]      = {by_id, is_tried}},
};

typedef struct attempt_row {
    MEMORY_ROW(1)
    pawl_attempt_row fields;
    int64_t          outbox_id;
} attempt_row;

static int by_attempt(const void *left, const void *right)
{
    const attempt_row *a = left, *b = right;
    int                order = pawl__order_integers(a->outbox_id, b->outbox_id);
    return order != 0 ? order : pawl__order_integers(a->fields.attempt, b->fields.attempt);
}

const memory_table_kind pawl__memory_attempt_kind = {
    .row_size      = sizeof(attempt_row),
    .fields_offset = offsetof(attempt_row, fields),
    .fields_size   = sizeof(pawl_attempt_row),
    .fixed         = {offsetof(attempt_row, fields.error)},
    .index_count   = MEMORY_INDEX_COUNT(attempt_row),
    .indexes       = {{by_attempt, NULL}},
};

static outbox_row *find_id(const memory_data *data, int64_t id)
{
    const outbox_row probe = {.fields.id = id};
    return pawl__tree_find(&data->outbox.trees[BY_ID], &probe);
}

static outbox_row *first_in_state(const memory_data *data, pawl_outbox_state state)
{
    const outbox_row probe = {.fields = {.state = state, .id = INT64_MIN}};
    outbox_row      *row   = pawl__tree_at_least(&data->outbox.trees[BY_STATE], &probe);
    return row != NULL && row->fields.state == state ? row : NULL;
}

static outbox_row *next_in_state(const memory_data *data, const outbox_row *row)
{
    outbox_row *next = pawl__tree_next(&data->outbox.trees[BY_STATE], row);
    return next != NULL && next->fields.state == row->fields.state ? next : NULL;
}

static outbox_row *first_of_source(const memory_data *data, pawl_text source)
{
    const outbox_row probe = {
        .fields = {.source = source, .version = INT64_MIN, .index = INT32_MIN, .id = INT64_MIN}};
    outbox_row *row = pawl__tree_at_least(&data->outbox.trees[BY_SOURCE], &probe);
    return row != NULL && pawl_text_equal(row->fields.source, source) ? row : NULL;
}

static outbox_row *next_of_source(const memory_data *data, const outbox_row *row)
{
    outbox_row *next = pawl__tree_next(&data->outbox.trees[BY_SOURCE], row);
    return next != NULL && pawl_text_equal(next->fields.source, row->fields.source) ? next : NULL;
}

/* ---- Claims and reads ---------------------------------------------------- */

static bool is_due(const outbox_row *row, pawl_time now)
{
    return is_pending(row) && row->fields.next_attempt <= now;
}

/* Picks the row that is handed out in the place of `row`: the first due row of its source
 * that was not handed out before, in the order (version, index). Ids need not
 * follow that order; the ids that a source's rows have together stay its own.
 *
 *     id      1     2     3               1     2     3
 *     source  a     b     a       ->      a     b     a
 *     version 8     1     7               7     1     8
 */
static outbox_row *in_order(const memory_data *data, outbox_row *row, pawl_time now)
{
    if (row->fields.source.size == 0)
        return row;
    outbox_row *found = first_of_source(data, row->fields.source);
    while (!is_due(found, now) || found->stamp == data->last_stamp)
        found = next_of_source(data, found);
    return found;
}

static bool list_due(memory_data *data, pawl_text endpoint, pawl_time now, size_t count_max,
                     memory_list *list, pawl_arena *arena)
{
    data->last_stamp++;
    outbox_row *row = first_in_state(data, PAWL_OUTBOX_PENDING);
    for (; row != NULL && list->count < count_max; row = next_in_state(data, row)) {
        if (!is_due(row, now) || !pawl__memory_is_like(endpoint, row->fields.endpoint))
            continue;
        outbox_row *taken = in_order(data, row, now);
        taken->stamp      = data->last_stamp;
        if (!pawl__memory_list_add(list, arena, taken))
            return false;
    }
    return true;
}

/* Of the rows that the claim did not list. */
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
    memory_data *data  = pawl__memory_enter(store);
    memory_list  list  = {0};
    void        *items = NULL;
    bool         is_ok = list_due(data, endpoint, now, count_max, &list, arena) &&
                 pawl__memory_list_show(&list, &data->outbox, arena, &items);
    rows->next_attempt = earliest_left(data, endpoint);
    pawl__memory_leave(data);
    if (!is_ok)
        return pawl__memory_out_of_memory("claim of the outbox", error);
    rows->items = items;
    rows->count = list.count;
    return PAWL_OK;
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

/* The rows among which those of the query are, by id. */
static const memory_tree *tree_of(const memory_data *data, const pawl_outbox_query *query)
{
    bool is_of_tried = query->states == 1u << PAWL_OUTBOX_PENDING && query->attempts_min > 0;
    return &data->outbox.trees[is_of_tried ? BY_TRIED : BY_ID];
}

/* Rows of any state are in no order but that of their ids: this looks at each,
 * unless the query names one, or wants those alone that wait after a failure. */
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

/* The attempt of the row that is not before `attempt`. */
static attempt_row *find_attempt(const memory_data *data, int64_t outbox_id, int32_t attempt)
{
    const attempt_row probe = {.outbox_id = outbox_id, .fields.attempt = attempt};
    attempt_row      *row   = pawl__tree_at_least(&data->attempts.trees[0], &probe);
    return row != NULL && row->outbox_id == outbox_id ? row : NULL;
}

void pawl__memory_find_attempts(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    attempt_row *row = find_attempt(data, asked->id, 1);
    while (row != NULL && pawl__memory_list_take(list, row))
        row = find_attempt(data, asked->id, row->fields.attempt + 1);
}

void pawl__memory_outbox_stats(const memory_data *data, pawl_stats *stats)
{
    const outbox_row *row = first_in_state(data, PAWL_OUTBOX_PENDING);
    for (; row != NULL; row = next_in_state(data, row)) {
        if (stats->outbox_pending++ == 0 || row->fields.at < stats->outbox_oldest)
            stats->outbox_oldest = row->fields.at;
    }
    for (row = first_in_state(data, PAWL_OUTBOX_BLOCKED); row != NULL;
         row = next_in_state(data, row))
        stats->outbox_blocked++;
    for (row = first_in_state(data, PAWL_OUTBOX_DEAD); row != NULL; row = next_in_state(data, row))
        stats->outbox_dead++;
}

size_t pawl__memory_outbox_sweep(memory_data *data, pawl_time before, size_t count_max)
{
    size_t      count = 0;
    outbox_row *row;
    while (count < count_max &&
           (row = pawl__tree_first(&data->outbox.trees[BY_DISPATCHED])) != NULL &&
           row->fields.dispatched < before) {
        attempt_row *attempt;
        while ((attempt = find_attempt(data, row->fields.id, 1)) != NULL) {
            pawl__table_unlink(&data->attempts, attempt);
            pawl__row_free(attempt);
        }
        pawl__table_unlink(&data->outbox, row);
        pawl__row_free(row);
        count++;
    }
    return count;
}

/* ---- Changes ------------------------------------------------------------ */

/* Behind the lines that are there. */
static pawl_code add_attempt(memory_commit *commit, int64_t outbox_id, pawl_attempt_row fields)
{
    memory_data       *data     = commit->data;
    const attempt_row  end      = {.outbox_id = outbox_id, .fields.attempt = INT32_MAX};
    const attempt_row *last     = pawl__tree_below(&data->attempts.trees[0], &end);
    bool               is_first = last == NULL || last->outbox_id != outbox_id;
    attempt_row        model    = {.outbox_id = outbox_id, .fields = fields};
    model.fields.attempt        = is_first ? 1 : last->fields.attempt + 1;
    return pawl__journal_insert(&data->journal, &data->attempts,
                                pawl__row_create(&data->attempts, &model));
}

pawl_code pawl__memory_apply_outbox_settle(memory_commit *commit, const void *item)
{
    const pawl_outbox_settle *change = item;
    memory_data              *data   = commit->data;
    outbox_row               *row    = find_id(data, change->id);
    if (row == NULL || !is_pending(row))
        return pawl__memory_refuse(commit, PAWL_EGONE, "outbox row %lld is no longer pending",
                                   (long long)change->id);
    outbox_row *copy = pawl__row_clone(&data->outbox, row);
    if (copy == NULL)
        return PAWL_ENOMEM;
    copy->fields.state        = change->state;
    copy->fields.attempts     = change->attempts;
    copy->fields.next_attempt = change->next_attempt;
    if (change->state == PAWL_OUTBOX_DISPATCHED)
        copy->fields.dispatched = change->at;
    pawl_code              code = pawl__journal_replace(&data->journal, &data->outbox, row, copy);
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
        return pawl__memory_refuse(commit, PAWL_EGONE, "outbox row %lld is not dead",
                                   (long long)change->id);
    outbox_row *copy = pawl__row_clone(&data->outbox, row);
    if (copy == NULL)
        return PAWL_ENOMEM;
    copy->fields.attempts++;
    if (is_enabled) {
        copy->fields.state           = PAWL_OUTBOX_PENDING;
        copy->fields.next_attempt    = change->at;
        copy->fields.attempts_before = copy->fields.attempts;
    } else {
        copy->fields.state      = PAWL_OUTBOX_DISCARDED;
        copy->fields.dispatched = change->at;
    }
    pawl_attempt_row line = {.outcome = is_enabled ? PAWL_ATTEMPT_RETRIED : PAWL_ATTEMPT_DISCARDED,
                             .error   = change->note,
                             .at      = change->at};
    pawl_code        code = pawl__journal_replace(&data->journal, &data->outbox, row, copy);
    return code != PAWL_OK ? code : add_attempt(commit, change->id, line);
}

static pawl_code refuse_mismatch(memory_commit *commit, const pawl_outbox_add *change)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(change->dispatch_id.uuid, text);
    return pawl__memory_refuse(commit, PAWL_EMISMATCH,
                               "dispatch %s of '%.*s' is known with another type or body", text,
                               PAWL_TEXT_ARGS(change->source));
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
        return refuse_mismatch(commit, change);
    if (known != NULL)
        return PAWL_OK;
    model.fields.id = ++data->last_id;
    return pawl__journal_insert(&data->journal, &data->outbox,
                                pawl__row_create(&data->outbox, &model));
}

pawl_code pawl__memory_apply_outbox_block(memory_commit *commit, const void *item)
{
    const pawl_outbox_block *change = item;
    memory_data             *data   = commit->data;
    pawl_outbox_state        from = change->is_unblock ? PAWL_OUTBOX_BLOCKED : PAWL_OUTBOX_PENDING;
    pawl_outbox_state        to   = change->is_unblock ? PAWL_OUTBOX_PENDING : PAWL_OUTBOX_BLOCKED;
    outbox_row              *next = NULL;
    for (outbox_row *row = first_of_source(data, change->source); row != NULL; row = next) {
        next = next_of_source(data, row);
        if (row->fields.state != from || (!change->is_unblock && row->fields.id <= change->after))
            continue;
        outbox_row *copy = pawl__row_clone(&data->outbox, row);
        if (copy != NULL)
            copy->fields.state = to;
        pawl_code code = pawl__journal_replace(&data->journal, &data->outbox, row, copy);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}
