/* list.c - the lists: one statement, and all of its rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"
#include "store/sql/rows.h"

/* Parameters of the lists. Each statement takes some of them. */
typedef struct filter {
    pawl_text    text;
    pawl_saga_id saga_id;
    pawl_time    time;
    int64_t      number;
    int64_t      limit;
} filter;

static const pawl__field_list text   = PAWL__FIELDS(PAWL__AS_OF(filter, text, TEXT));
static const pawl__field_list number = PAWL__FIELDS(PAWL__AS_OF(filter, number, INT));
static const pawl__field_list limit  = PAWL__FIELDS(PAWL__AS_OF(filter, limit, INT));
static const pawl__field_list text_time =
    PAWL__FIELDS(PAWL__AS_OF(filter, text, TEXT), PAWL__AS_OF(filter, time, TIME));
static const pawl__field_list text_limit =
    PAWL__FIELDS(PAWL__AS_OF(filter, text, TEXT), PAWL__AS_OF(filter, limit, INT));
static const pawl__field_list saga_limit =
    PAWL__FIELDS(PAWL__AS_OF(filter, saga_id, UUID), PAWL__AS_OF(filter, limit, INT));
static const pawl__field_list due_limit =
    PAWL__FIELDS(PAWL__AS_OF(filter, text, TEXT), PAWL__AS_OF(filter, time, TIME),
                 PAWL__AS_OF(filter, limit, INT));

/* ---- Queue and timeouts ------------------------------------------------- */

pawl_code pawl__sql_queue_list(pawl_store *store, pawl_text queue, size_t count_max,
                               pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    const filter          by    = {.text = queue, .limit = pawl__sql_limit(count_max)};
    const pawl__sql_asked asked = {PAWL__SQL_QUEUE_LIST, &text_limit, &by, &pawl__queue_row_fields,
                                   sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows                      = (pawl_queue_rows){.items = found.items, .count = found.count};
    return code;
}

typedef struct retried_by {
    pawl_retried_query query;
    int64_t            looks, limit;
} retried_by;

static const pawl__field_list by_retried = PAWL__FIELDS(
    PAWL__AS_OF(retried_by, query.queue, TEXT), PAWL__AS_OF(retried_by, query.due_after, TIME),
    PAWL__AS_OF(retried_by, looks, INT), PAWL__AS_OF(retried_by, query.type, TEXT),
    PAWL__AS_OF(retried_by, limit, INT));

pawl_code pawl__sql_queue_retried(pawl_store *store, const pawl_retried_query *query,
                                  pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    const retried_by      by    = {*query, pawl__sql_limit(query->scan_max),
                                   pawl__sql_limit(query->count_max)};
    const pawl__sql_asked asked = {PAWL__SQL_QUEUE_RETRIED, &by_retried, &by,
                                   &pawl__queue_row_fields, sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows                      = (pawl_queue_rows){.items = found.items, .count = found.count};
    return code;
}

static int by_due(const void *left, const void *right)
{
    const pawl_timeout_row *l = left, *r = right;
    if (l->due != r->due)
        return l->due < r->due ? -1 : 1;
    return pawl_uuid_compare(l->id.uuid, r->id.uuid);
}

/* The index of due times begins with the destination. */
pawl_code pawl__sql_timeout_list(pawl_store *store, pawl_saga_id saga_id, size_t count_max,
                                 pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    filter                by    = {.saga_id = saga_id, .limit = pawl__sql_limit(count_max)};
    const pawl__sql_asked asked = {PAWL__SQL_TIMEOUT_LIST_SAGA, &saga_limit, &by,
                                   &pawl__timeout_row_fields, sizeof *rows->items};
    const pawl__sql_each  each  = {
          PAWL__SQL_TIMEOUT_NAME,
          {PAWL__SQL_TIMEOUT_LIST, &text_limit, &by, &pawl__timeout_row_fields, sizeof *rows->items},
          &by.text,
          by_due,
          by.limit};
    pawl__sql_rows found;
    pawl_code      code = pawl_uuid_is_zero(saga_id.uuid)
                              ? pawl__sql_read_each(store, &each, arena, &found, error)
                              : pawl__sql_read(store, &asked, arena, &found, error);
    *rows =
        (pawl_timeout_rows){.items = found.items, .count = found.count, .next_due = PAWL_TIME_MAX};
    return code;
}

pawl_code pawl__sql_timeout_foreign(pawl_store *store, pawl_text own, pawl_time now,
                                    pawl_arena *arena, pawl_foreign_rows *rows, pawl_error *error)
{
    const filter          by    = {.text = own, .time = now};
    const pawl__sql_asked asked = {PAWL__SQL_TIMEOUT_FOREIGN, &text_time, &by,
                                   &pawl__foreign_row_fields, sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows                      = (pawl_foreign_rows){.items = found.items, .count = found.count};
    return code;
}

/* ---- Aggregators -------------------------------------------------------- */

pawl_code pawl__sql_aggregator_get(pawl_store *store, pawl_text partition, pawl_arena *arena,
                                   pawl_leased_batch *rows, pawl_error *error)
{
    const filter          by    = {.text = partition};
    const pawl__sql_asked asked = {PAWL__SQL_AGGREGATOR_GET, &text, &by,
                                   &pawl__aggregator_row_fields, sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows                      = (pawl_leased_batch){.items = found.items, .count = found.count};
    return code;
}

pawl_code pawl__sql_flush_list(pawl_store *store, pawl_text name, pawl_time due_max,
                               size_t count_max, pawl_arena *arena, pawl_flush_rows *rows,
                               pawl_error *error)
{
    const filter          by = {.text = name, .time = due_max, .limit = pawl__sql_limit(count_max)};
    const pawl__sql_asked asked = {PAWL__SQL_FLUSH_LIST, &due_limit, &by, &pawl__flush_row_fields,
                                   sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows                      = (pawl_flush_rows){.items = found.items, .count = found.count};
    return code;
}

/* ---- The outbox --------------------------------------------------------- */

/* A state that is no parameter lets the statement have the state's own index. */
pawl_code pawl__sql_outbox_list(pawl_store *store, pawl_outbox_state state, size_t count_max,
                                pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    static const pawl__sql_statement statements[] = {
        [PAWL_OUTBOX_PENDING]    = PAWL__SQL_OUTBOX_LIST_PENDING,
        [PAWL_OUTBOX_BLOCKED]    = PAWL__SQL_OUTBOX_LIST_HELD,
        [PAWL_OUTBOX_DISPATCHED] = PAWL__SQL_OUTBOX_LIST_DISPATCHED,
        [PAWL_OUTBOX_DEAD]       = PAWL__SQL_OUTBOX_LIST_DEAD,
        [PAWL_OUTBOX_DISCARDED]  = PAWL__SQL_OUTBOX_LIST_DISCARDED,
    };
    const filter          by    = {.limit = pawl__sql_limit(count_max)};
    const pawl__sql_asked asked = {statements[state], &limit, &by, &pawl__outbox_row_fields,
                                   sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows                      = (pawl_outbox_rows){
                             .items = found.items, .count = found.count, .next_attempt = PAWL_TIME_MAX};
    return code;
}

pawl_code pawl__sql_outbox_attempts(pawl_store *store, int64_t id, pawl_arena *arena,
                                    pawl_attempt_rows *rows, pawl_error *error)
{
    const filter          by    = {.number = id};
    const pawl__sql_asked asked = {PAWL__SQL_OUTBOX_ATTEMPTS, &number, &by,
                                   &pawl__attempt_row_fields, sizeof *rows->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows                      = (pawl_attempt_rows){.items = found.items, .count = found.count};
    return code;
}

/* ---- Events ------------------------------------------------------------- */

static pawl__sql_statement events_of(const pawl_event_query *query)
{
    static const pawl__sql_statement statements[][2] = {
        {PAWL__SQL_EVENT_LIST_STREAM, PAWL__SQL_EVENT_LIST_STREAM_BACK},
        {PAWL__SQL_EVENT_LIST_POSITION, PAWL__SQL_EVENT_LIST_POSITION_BACK},
        {PAWL__SQL_EVENT_LIST_SEQ, PAWL__SQL_EVENT_LIST_SEQ_BACK},
    };
    int order = query->stream.size != 0 ? 0 : query->is_by_position ? 1 : 2;
    return statements[order][query->is_backward];
}

typedef struct event_filter {
    pawl_event_query query;
    int64_t          after; /* or before it */
    int64_t          limit;
} event_filter;

pawl_code pawl__sql_event_list(pawl_store *store, const pawl_event_query *query, pawl_arena *arena,
                               pawl_event_rows *rows, pawl_error *error)
{
    static const pawl__field list[] = {
        PAWL__AS_OF(event_filter, query.stream, TEXT),
        PAWL__AS_OF(event_filter, after, INT),
        PAWL__AS_OF(event_filter, query.type, TEXT),
        PAWL__AS_OF(event_filter, query.message_id, TEXT),
        PAWL__AS_OF(event_filter, query.correlation_id, TEXT),
        PAWL__AS_OF(event_filter, limit, INT),
    };
    static const pawl__field_list fields      = PAWL__FIELD_ARRAY(list);
    bool                          is_from_end = query->is_backward && query->after == 0;
    const event_filter            by          = {*query, is_from_end ? INT64_MAX : query->after,
                                                 pawl__sql_limit(query->count_max)};
    const pawl__sql_asked         asked = {events_of(query), &fields, &by, &pawl__event_row_fields,
                                           sizeof *rows->items};
    pawl__sql_rows                found;
    pawl_code                     code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows = (pawl_event_rows){.items = found.items, .count = found.count};
    return code;
}

/* ---- Dead letters, subscriptions, checkpoints --------------------------- */

pawl_code pawl__sql_dead_list(pawl_store *store, pawl_text endpoint, size_t count_max,
                              pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    const filter    by    = {.text = endpoint, .limit = pawl__sql_limit(count_max)};
    pawl__sql_asked asked = {PAWL__SQL_DEAD_LIST_ENDPOINT, &text_limit, &by, &pawl__dead_row_fields,
                             sizeof *rows->items};
    pawl__sql_rows  found;
    if (endpoint.size == 0) {
        asked.statement  = PAWL__SQL_DEAD_LIST;
        asked.parameters = &limit;
    }
    pawl_code code = pawl__sql_read(store, &asked, arena, &found, error);
    *rows          = (pawl_dead_rows){.items = found.items, .count = found.count};
    return code;
}

pawl_code pawl__sql_subscriptions(pawl_store *store, pawl_arena *arena, pawl_subscriptions *list,
                                  pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_SUBSCRIPTION_LIST, NULL, NULL,
                                   &pawl__subscription_fields, sizeof *list->items};
    pawl__sql_rows        found;
    pawl_code             code = pawl__sql_read(store, &asked, arena, &found, error);
    *list                      = (pawl_subscriptions){.items = found.items, .count = found.count};
    return code;
}

pawl_code pawl__sql_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                   pawl_error *error)
{
    const filter          by    = {.text = name};
    const pawl__sql_asked asked = {PAWL__SQL_CHECKPOINT_GET, &text, &by, &pawl__one_int,
                                   sizeof *position};
    return pawl__sql_read_first(store, &asked, NULL, position, error);
}
