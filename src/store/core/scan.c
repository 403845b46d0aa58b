/* scan.c - reads all live rows of a kind, page by page (pawl_scan). Outbox rows and events are found by
 * number with `find`; the other kinds by the driver's `scan`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

static const pawl_scan_rows none = {.count = 0};

static pawl_code make_rows(size_t count, pawl_arena *arena, pawl_scan_rows *rows, pawl_error *error)
{
    rows->items = pawl_arena_take(arena, count * sizeof *rows->items + 1);
    if (rows->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu rows of a scan", count);
    rows->count = count;
    return PAWL_OK;
}

static pawl_code scan_outbox(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                             pawl_scan_rows *rows, pawl_error *error)
{
    const pawl_outbox_query query = {.states = 1u << PAWL_OUTBOX_PENDING |
                                               1u << PAWL_OUTBOX_BLOCKED | 1u << PAWL_OUTBOX_DEAD,
                                     .after     = scan->after != NULL ? scan->after->number : 0,
                                     .count_max = scan->count_max};
    pawl_outbox_rows        found;
    pawl_code               code = pawl_store_outbox_find(store, &query, arena, &found, error);
    if (code == PAWL_OK)
        code = make_rows(found.count, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++)
        rows->items[i] = (pawl_scan_row){.number     = found.items[i].id,
                                         .belongs_to = found.items[i].destination,
                                         .name       = found.items[i].endpoint,
                                         .message    = found.items[i].message};
    return code;
}

static pawl_message message_of(const pawl_event *event)
{
    return (pawl_message){.id             = event->message_id,
                          .type           = event->type,
                          .body           = event->body,
                          .headers        = event->headers,
                          .correlation_id = event->correlation_id,
                          .causation_id   = event->causation_id};
}

static pawl_code scan_events(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                             pawl_scan_rows *rows, pawl_error *error)
{
    const pawl_event_query query = {.after     = scan->after != NULL ? scan->after->number : 0,
                                    .count_max = scan->count_max};
    pawl_event_rows        found;
    pawl_code              code = pawl_store_event_list(store, &query, arena, &found, error);
    if (code == PAWL_OK)
        code = make_rows(found.count, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++)
        rows->items[i] = (pawl_scan_row){.number     = found.items[i].seq,
                                         .belongs_to = found.items[i].stream,
                                         .version    = found.items[i].event.type_version,
                                         .message    = message_of(&found.items[i].event)};
    return code;
}

static pawl_code check(const pawl_scan *scan, pawl_error *error)
{
    if ((unsigned)scan->kind >= PAWL_SCAN_KINDS)
        return pawl_error_set(error, PAWL_EINVAL, "scan: kind %d is unknown", (int)scan->kind);
    if (scan->kind == PAWL_SCAN_SAGAS && scan->table == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "scan of sagas: give their table");
    return PAWL_OK;
}

pawl_code pawl_store_scan(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                          pawl_scan_rows *rows, pawl_error *error)
{
    *rows = none;
    if (scan->kind == PAWL_SCAN_OUTBOX)
        return scan_outbox(store, scan, arena, rows, error);
    if (scan->kind == PAWL_SCAN_EVENTS)
        return scan_events(store, scan, arena, rows, error);
    pawl_code code = PAWL__CALL_BEGIN(scan);
    if (code == PAWL_OK)
        code = check(scan, error);
    if (code == PAWL_OK)
        code = store->ops->scan(store, scan, arena, rows, error);
    code = pawl__store_call_fits(store, code, "scan", rows->items, rows->count, scan->count_max,
                                 error);
    return PAWL__CALL_END(code, rows, none);
}
