/* call_find.c - the pawl_store_ calls that use the driver's `find`: each makes the query and gives the rows
 * their type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const pawl_found nothing = {.count = 0};

/* Bits of states that do not exist. */
#define NO_STATES (~0u << (PAWL_OUTBOX_DISCARDED + 1))

static pawl_code check(const pawl_find *asked, pawl_error *error)
{
    if (asked->kind == PAWL_FIND_MESSAGES && !asked->is_by_place && asked->messages.queue.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "messages of a queue: the queue's name is empty");
    if (asked->kind == PAWL_FIND_OUTBOX && (asked->outbox.states & NO_STATES) != 0)
        return pawl_error_set(error, PAWL_EINVAL, "outbox rows: a state is unknown");
    return PAWL_OK;
}

static pawl_code find_kind(pawl_store *store, const char *name, const pawl_find *asked,
                           pawl_arena *arena, pawl_found *found, pawl_error *error)
{
    pawl_code code = store->ops->find(store, asked, arena, found, error);
    return code == PAWL_EUNSUPPORTED ? pawl__store_call_needs(store, false, name, error) : code;
}

/* `name` is the call's, for who watches; `items` is the address of a pointer to rows. */
static pawl_code find(pawl_store *store, const char *name, const pawl_find *asked,
                      pawl_arena *arena, void *items, size_t *count, pawl_error *error)
{
    pawl_find  sized              = *asked;
    pawl_found found              = {.count = 0};
    sized.find_size               = sizeof sized;
    *pawl__store_timing_of(store) = pawl__timing_begin(name);
    pawl_code code = pawl__store_call_needs(store, store->ops->find != NULL, "find", error);
    if (code == PAWL_OK)
        code = pawl__store_call_ready(store, name, error);
    if (code == PAWL_OK)
        code = check(asked, error);
    if (code == PAWL_OK)
        code = find_kind(store, name, &sized, arena, &found, error);
    code = pawl__store_call_fits(store, code, name, found.items, found.count, (size_t)asked->limit,
                                 error);
    (void)PAWL__CALL_END(code, &found, nothing);
    memcpy(items, &found.items, sizeof found.items);
    *count = found.count;
    return code;
}

static int64_t limit_of(size_t count_max)
{
    return count_max != 0 && count_max < (uint64_t)INT64_MAX ? (int64_t)count_max : INT64_MAX;
}

/* ---- Pages that end by their size ----------------------------------------- */

/* Bodies may have 16 MB, and a driver returns all rows up to the limit: so it starts low, and grows if rows are small. */
#define PIECE_FIRST 4 /* rows, before their size is known */
#define PIECE_MOST 64 /* large ones may come behind small ones */

static size_t next_piece(size_t piece, size_t count, size_t size, size_t size_max)
{
    size_t fits = (size_max - size) / (size / count + 1) + 1;
    size_t most = 4 * piece < PIECE_MOST ? 4 * piece : PIECE_MOST;
    return fits < most ? fits : most;
}

static size_t size_of(const void *items, size_t row_size, size_t message, size_t count)
{
    const char *row  = items;
    size_t      size = 0;
    for (size_t i = 0; i < count; i++, row += row_size)
        size += PAWL_MESSAGE_SIZE((const pawl_message *)(const void *)(row + message));
    return size;
}

/* Finds the rows of a query after a given row; NULL: from where the query begins. */
typedef pawl_code find_piece_fn(pawl_store *store, const void *query, const void *after,
                                size_t count_max, pawl_arena *arena, pawl_found *found,
                                pawl_error *error);

typedef struct paged {
    find_piece_fn *find;
    size_t         row_size, message; /* where the message is in a row */
} paged;

static pawl_code add_piece(const paged *of, const pawl_found *piece, size_t *capacity,
                           pawl_arena *arena, pawl_found *found, pawl_error *error)
{
    for (size_t i = 0; i < piece->count; i++) {
        char *grown = pawl_arena_grow(arena, found->items, found->count, capacity, of->row_size);
        if (grown == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "out of memory for rows of a page");
        memcpy(grown + found->count++ * of->row_size, (const char *)piece->items + i * of->row_size,
               of->row_size);
        found->items = grown;
    }
    return PAWL_OK;
}

static pawl_code find_sized(pawl_store *store, const paged *of, const void *query, size_t count_max,
                            size_t size_max, pawl_arena *arena, pawl_found *found, bool *is_cut,
                            pawl_error *error)
{
    size_t      most = count_max != 0 ? count_max : SIZE_MAX, wanted = PIECE_FIRST;
    size_t      size = 0, capacity = 0;
    const void *after = NULL;
    pawl_found  piece;
    *found = nothing;
    do {
        piece          = nothing;
        wanted         = wanted < most - found->count ? wanted : most - found->count;
        pawl_code code = of->find(store, query, after, wanted, arena, &piece, error);
        if (code == PAWL_OK)
            code = add_piece(of, &piece, &capacity, arena, found, error);
        if (code != PAWL_OK) {
            *found = nothing;
            return code;
        }
        size += size_of(piece.items, of->row_size, of->message, piece.count);
        if (piece.count < wanted || found->count == most)
            return PAWL_OK;
        after   = (const char *)found->items + (found->count - 1) * of->row_size;
        *is_cut = PAWL_SIZE_IS_REACHED(size, size_max);
        if (!*is_cut)
            wanted = next_piece(wanted, found->count, size, size_max);
    } while (!*is_cut);
    return PAWL_OK;
}

/* ---- Messages ------------------------------------------------------------ */

/* Behind those of the same due time: of many of one time an index finds the next by their number alone. */
static pawl_code find_later(pawl_store *store, pawl_find *asked, pawl_time due_max,
                            pawl_arena *arena, pawl_queue_messages *messages, pawl_error *error)
{
    pawl_queue_messages later = {.count = 0};
    size_t              count = messages->count;
    asked->limit -= (int64_t)count;
    asked->messages.due_min = pawl_time_add(asked->after.time, 1);
    asked->messages.due_max = due_max;
    if (asked->limit == 0 || asked->after.time >= due_max)
        return PAWL_OK;
    pawl_code code = find(store, "queue_find", asked, arena, &later.items, &later.count, error);
    if (code != PAWL_OK || count == 0) {
        *messages = later;
        return code;
    }
    pawl_queue_message *all = pawl_arena_take(arena, (count + later.count) * sizeof *all);
    if (all == NULL) {
        *messages = (pawl_queue_messages){.count = 0};
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for messages");
    }
    memcpy(all, messages->items, count * sizeof *all);
    if (later.count > 0)
        memcpy(all + count, later.items, later.count * sizeof *all);
    *messages = (pawl_queue_messages){.items = all, .count = count + later.count};
    return PAWL_OK;
}

static pawl_code find_messages(pawl_store *store, const pawl_queue_query *query, pawl_arena *arena,
                               pawl_queue_messages *messages, pawl_error *error)
{
    pawl_find asked = {.kind       = PAWL_FIND_MESSAGES,
                       .messages   = *query,
                       .after.time = PAWL_TIME_MIN,
                       .limit      = limit_of(query->count_max)};
    if (query->due_min == 0)
        asked.messages.due_min = PAWL_TIME_MIN;
    if (query->due_max == 0)
        asked.messages.due_max = PAWL_TIME_MAX;
    if (query->seq_max == 0)
        asked.messages.seq_max = INT64_MAX;
    pawl_time due_max = asked.messages.due_max;
    bool      is_tie  = query->after != NULL && query->after->due >= asked.messages.due_min &&
                  query->after->due <= due_max;
    if (query->after != NULL)
        asked.after = (pawl_find_after){.time = query->after->due, .number = query->after->seq};
    if (is_tie)
        asked.messages.due_max = asked.after.time;
    if (asked.messages.due_min < asked.after.time)
        asked.messages.due_min = asked.after.time;
    pawl_code code =
        find(store, "queue_find", &asked, arena, &messages->items, &messages->count, error);
    return code == PAWL_OK && is_tie ? find_later(store, &asked, due_max, arena, messages, error)
                                     : code;
}

static pawl_code find_piece_of_queue(pawl_store *store, const void *query, const void *after,
                                     size_t count_max, pawl_arena *arena, pawl_found *found,
                                     pawl_error *error)
{
    const pawl_queue_message *last     = after;
    pawl_queue_query          by       = *(const pawl_queue_query *)query;
    pawl_queue_messages       messages = {.count = 0};
    by.count_max                       = count_max;
    by.after                           = last != NULL ? &last->row : by.after;
    pawl_code code                     = find_messages(store, &by, arena, &messages, error);
    *found                             = (pawl_found){messages.items, messages.count};
    return code;
}

pawl_code pawl_store_queue_find(pawl_store *store, const pawl_queue_query *query, pawl_arena *arena,
                                pawl_queue_messages *messages, pawl_error *error)
{
    static const paged of = {find_piece_of_queue, sizeof(pawl_queue_message),
                             offsetof(pawl_queue_message, row.message)};
    pawl_found         found;
    *messages = (pawl_queue_messages){.count = 0};
    if (query->size_max == 0)
        return find_messages(store, query, arena, messages, error);
    pawl_code code = find_sized(store, &of, query, query->count_max, query->size_max, arena, &found,
                                &messages->is_cut, error);
    messages->items = found.items;
    messages->count = found.count;
    return code;
}

/* The queue rows of found messages, without the error column. */
pawl_code pawl_store_queue_list(pawl_store *store, pawl_text queue, size_t count_max,
                                pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    const pawl_find     asked = {.kind           = PAWL_FIND_MESSAGES,
                                 .messages.queue = queue,
                                 .is_by_place    = true,
                                 .limit          = limit_of(count_max)};
    pawl_queue_messages found;
    *rows          = (pawl_queue_rows){.count = 0};
    pawl_code code = find(store, "queue_list", &asked, arena, &found.items, &found.count, error);
    if (found.count == 0)
        return code;
    rows->items = pawl_arena_take(arena, found.count * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for rows of a queue");
    for (; rows->count < found.count; rows->count++)
        rows->items[rows->count] = found.items[rows->count].row;
    return code;
}

static pawl_code find_retried(pawl_store *store, const pawl_retried_query *query, size_t count_max,
                              pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    const pawl_find asked = {.kind     = PAWL_FIND_RETRIED,
                             .retried  = *query,
                             .scan_max = limit_of(query->scan_max),
                             .limit    = limit_of(count_max)};
    *rows                 = (pawl_queue_rows){.count = 0};
    return find(store, "queue_retried", &asked, arena, &rows->items, &rows->count, error);
}

/* These rows are sorted after they were found, so there is no key to continue from: a larger page is read from the
 * first row again. */
pawl_code pawl_store_queue_retried(pawl_store *store, const pawl_retried_query *query,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    if (query->size_max == 0)
        return find_retried(store, query, query->count_max, arena, rows, error);
    size_t           most  = query->count_max != 0 ? query->count_max : SIZE_MAX;
    size_t           piece = PIECE_FIRST, wanted = PIECE_FIRST;
    pawl_arena_point point = pawl_arena_position(arena);
    for (;;) {
        wanted         = wanted < most ? wanted : most;
        pawl_code code = find_retried(store, query, wanted, arena, rows, error);
        if (code != PAWL_OK || rows->count < wanted || wanted == most)
            return code;
        size_t size  = size_of(rows->items, sizeof *rows->items, offsetof(pawl_queue_row, message),
                               rows->count);
        rows->is_cut = PAWL_SIZE_IS_REACHED(size, query->size_max);
        if (rows->is_cut)
            return code;
        piece = next_piece(piece, rows->count, size, query->size_max);
        wanted += piece;
        pawl_arena_rewind(arena, point);
    }
}

/* ---- Timeouts and aggregators -------------------------------------------- */

static pawl_code find_timeouts(pawl_store *store, const char *name, const pawl_timeout_query *query,
                               pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_find asked = {.kind       = PAWL_FIND_TIMEOUTS,
                       .saga_id    = query->saga_id,
                       .after.time = PAWL_TIME_MIN,
                       .limit      = limit_of(query->count_max)};
    if (query->after != NULL)
        asked.after = (pawl_find_after){.time = query->after->due, .id = query->after->id.uuid};
    rows->next_due = PAWL_TIME_MAX;
    return find(store, name, &asked, arena, &rows->items, &rows->count, error);
}

pawl_code pawl_store_timeout_find(pawl_store *store, const pawl_timeout_query *query,
                                  pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    return find_timeouts(store, "timeout_find", query, arena, rows, error);
}

pawl_code pawl_store_timeout_list(pawl_store *store, pawl_saga_id saga_id, size_t count_max,
                                  pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    const pawl_timeout_query query = {.saga_id = saga_id, .count_max = count_max};
    return find_timeouts(store, "timeout_list", &query, arena, rows, error);
}

pawl_code pawl_store_timeout_foreign(pawl_store *store, pawl_text own, pawl_time now,
                                     pawl_arena *arena, pawl_foreign_rows *rows, pawl_error *error)
{
    const pawl_find asked = {
        .kind = PAWL_FIND_FOREIGN, .name = own, .time = now, .limit = INT64_MAX};
    return find(store, "timeout_foreign", &asked, arena, &rows->items, &rows->count, error);
}

pawl_code pawl_store_aggregator_get(pawl_store *store, pawl_text partition, pawl_arena *arena,
                                    pawl_leased_batch *rows, pawl_error *error)
{
    const pawl_find asked = {.kind = PAWL_FIND_PARTITION, .name = partition, .limit = INT64_MAX};
    rows->unresolved      = 0;
    return find(store, "aggregator_get", &asked, arena, &rows->items, &rows->count, error);
}

pawl_code pawl_store_flush_list(pawl_store *store, pawl_text name, pawl_time due_max,
                                size_t count_max, pawl_arena *arena, pawl_flush_rows *rows,
                                pawl_error *error)
{
    const pawl_find asked = {
        .kind = PAWL_FIND_FLUSHES, .name = name, .time = due_max, .limit = limit_of(count_max)};
    return find(store, "flush_list", &asked, arena, &rows->items, &rows->count, error);
}

/* ---- The outbox ---------------------------------------------------------- */

static pawl_code find_outbox(pawl_store *store, const char *name, const pawl_outbox_query *query,
                             pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    const pawl_find asked = {.kind         = PAWL_FIND_OUTBOX,
                             .outbox       = *query,
                             .after.number = query->after,
                             .limit        = limit_of(query->count_max)};
    rows->next_attempt    = PAWL_TIME_MAX;
    return find(store, name, &asked, arena, &rows->items, &rows->count, error);
}

pawl_code pawl_store_outbox_find(pawl_store *store, const pawl_outbox_query *query,
                                 pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    return find_outbox(store, "outbox_find", query, arena, rows, error);
}

pawl_code pawl_store_outbox_list(pawl_store *store, pawl_outbox_state state, size_t count_max,
                                 pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    const pawl_outbox_query query = {
        .states    = (unsigned)state <= PAWL_OUTBOX_DISCARDED ? 1u << (unsigned)state : NO_STATES,
        .count_max = count_max};
    return find_outbox(store, "outbox_list", &query, arena, rows, error);
}

pawl_code pawl_store_outbox_attempts(pawl_store *store, int64_t id, pawl_arena *arena,
                                     pawl_attempt_rows *rows, pawl_error *error)
{
    const pawl_find asked = {.kind = PAWL_FIND_ATTEMPTS, .id = id, .limit = INT64_MAX};
    return find(store, "outbox_attempts", &asked, arena, &rows->items, &rows->count, error);
}

/* ---- Dead letters -------------------------------------------------------- */

static pawl_code find_dead(pawl_store *store, const char *name, const pawl_dead_query *query,
                           pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    pawl_find asked = {.kind       = PAWL_FIND_DEAD,
                       .dead       = *query,
                       .after.time = PAWL_TIME_MIN,
                       .limit      = limit_of(query->count_max)};
    if (query->after != NULL)
        asked.after = (pawl_find_after){.time       = query->after->at,
                                        .endpoint   = query->after->endpoint,
                                        .message_id = query->after->message.id};
    if (query->at_min == 0 || query->at_min < asked.after.time)
        asked.dead.at_min = asked.after.time;
    if (query->at_max == 0)
        asked.dead.at_max = PAWL_TIME_MAX;
    return find(store, name, &asked, arena, &rows->items, &rows->count, error);
}

static pawl_code find_piece_of_dead(pawl_store *store, const void *query, const void *after,
                                    size_t count_max, pawl_arena *arena, pawl_found *found,
                                    pawl_error *error)
{
    pawl_dead_query by   = *(const pawl_dead_query *)query;
    pawl_dead_rows  rows = {.count = 0};
    by.count_max         = count_max;
    by.after             = after != NULL ? after : by.after;
    pawl_code code       = find_dead(store, "dead_find", &by, arena, &rows, error);
    *found               = (pawl_found){rows.items, rows.count};
    return code;
}

pawl_code pawl_store_dead_find(pawl_store *store, const pawl_dead_query *query, pawl_arena *arena,
                               pawl_dead_rows *rows, pawl_error *error)
{
    static const paged of = {find_piece_of_dead, sizeof(pawl_dead_row),
                             offsetof(pawl_dead_row, message)};
    pawl_found         found;
    *rows = (pawl_dead_rows){.count = 0};
    if (query->size_max == 0)
        return find_dead(store, "dead_find", query, arena, rows, error);
    pawl_code code = find_sized(store, &of, query, query->count_max, query->size_max, arena, &found,
                                &rows->is_cut, error);
    rows->items    = found.items;
    rows->count    = found.count;
    return code;
}

pawl_code pawl_store_dead_list(pawl_store *store, pawl_text endpoint, size_t count_max,
                               pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    const pawl_dead_query query = {.endpoint = endpoint, .count_max = count_max};
    return find_dead(store, "dead_list", &query, arena, rows, error);
}

/* ---- Events and history -------------------------------------------------- */

pawl_code pawl_store_event_list(pawl_store *store, const pawl_event_query *query, pawl_arena *arena,
                                pawl_event_rows *rows, pawl_error *error)
{
    bool            is_from_end = query->is_backward && query->after == 0;
    const pawl_find asked       = {.kind         = PAWL_FIND_EVENTS,
                                   .events       = *query,
                                   .after.number = is_from_end ? INT64_MAX : query->after,
                                   .limit        = limit_of(query->count_max)};
    return find(store, "event_list", &asked, arena, &rows->items, &rows->count, error);
}

pawl_code pawl_store_history_find(pawl_store *store, const pawl_history_query *query,
                                  pawl_arena *arena, pawl_history_rows *rows, pawl_error *error)
{
    const pawl_find asked = {.kind         = PAWL_FIND_HISTORY,
                             .history      = *query,
                             .after.number = query->after,
                             .limit        = limit_of(query->count_max)};
    return find(store, "history_find", &asked, arena, &rows->items, &rows->count, error);
}

/* ---- The store's own ----------------------------------------------------- */

pawl_code pawl_store_subscriptions(pawl_store *store, pawl_arena *arena, pawl_subscriptions *list,
                                   pawl_error *error)
{
    const pawl_find asked = {.kind = PAWL_FIND_SUBSCRIPTIONS, .limit = INT64_MAX};
    return find(store, "subscriptions", &asked, arena, &list->items, &list->count, error);
}

pawl_code pawl_store_lead_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                               pawl_lead_row **items, size_t *count, pawl_error *error)
{
    const pawl_find asked = {.kind = PAWL_FIND_LEADS, .time = now, .limit = INT64_MAX};
    return find(store, "lead_list", &asked, arena, items, count, error);
}

pawl_code pawl_store_worker_list(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                 size_t *count, pawl_error *error)
{
    const pawl_find asked = {.kind = PAWL_FIND_WORKERS, .limit = INT64_MAX};
    return find(store, "worker_list", &asked, arena, items, count, error);
}
