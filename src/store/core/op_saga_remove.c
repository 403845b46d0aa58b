/* op_saga_remove.c - an operator removes a saga.
 *
 * One commit:
 *
 *     saga_delete       at the version that the operator saw
 *     event_append      who, when, why
 *     timeout_cancel    all of the saga's
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"
#include "pawl/store_saga.h"

static const pawl_uuid none;

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "out of memory for a saga");
}

/* "TYPE/ID"; data NULL: out of memory. */
static pawl_text name_of(pawl_text type, pawl_saga_id id, pawl_arena *arena)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, text);
    return pawl_arena_printf(arena, "%.*s/%s", PAWL_TEXT_ARGS(type), text);
}

static yyjson_mut_doc *headers_of(const pawl_saga_row *row, size_t timeouts)
{
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_kept(doc, doc != NULL &&
                                     pawl__texts_put_number(doc, "version", row->version) &&
                                     pawl__texts_put_number(doc, "timeouts", (int64_t)timeouts));
}

static pawl_code remove_saga(pawl_store *store, const pawl_saga_table *table,
                             const pawl_saga_row *row, const pawl__action *action, pawl_time now,
                             pawl_arena *arena, size_t *timeouts, pawl_error *error)
{
    pawl_saga_delete    ended   = {.table = table, .id = row->id, .version = row->version};
    pawl_timeout_cancel cancel  = {.saga_id = row->id};
    pawl_event_append   event   = {.version = 0};
    pawl_changes        changes = {PAWL__ONE_UNIT(now), .saga_delete = {&ended, 1},
                                   .event_append = {&event, 1}, .timeout_cancel = {&cancel, 1}};
    pawl_timeout_rows   rows    = {.count = 0};
    pawl_code           code    = pawl__action_check(action, error);
    if (code == PAWL_OK)
        code = pawl_store_timeout_list(store, row->id, 0, arena, &rows, error);
    *timeouts = rows.count;
    if (code == PAWL_OK)
        code = pawl__action_event(store, action, headers_of(row, rows.count), now, arena, &event,
                                  error);
    if (code == PAWL_OK)
        code = pawl_store_commit(store, &changes, NULL, error);
    return code;
}

pawl_code pawl_store_saga_remove(pawl_store *store, const pawl_saga_table *table,
                                 const pawl_saga_row *row, pawl_text by, pawl_text reason,
                                 pawl_time now, int64_t *timeouts, pawl_error *error)
{
    size_t count = 0;
    if (timeouts != NULL)
        *timeouts = 0;
    if (table == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "the saga table is NULL");
    if (pawl_uuid_compare(row->id.uuid, none) == 0)
        return pawl_error_set(error, PAWL_EINVAL, "saga '%.*s': the id is zero",
                              PAWL_TEXT_ARGS(table->type));
    pawl_arena  *arena  = pawl_arena_create(0);
    pawl__action action = {
        .streams = PAWL_SAGA_STREAMS, .noun = "saga", .type = PAWL_SAGA_REMOVED, .by = by};
    action.reason = reason;
    if (arena != NULL)
        action.name = name_of(table->type, row->id, arena);
    pawl_code code = action.name.data != NULL
                         ? remove_saga(store, table, row, &action, now, arena, &count, error)
                         : no_memory(error);
    if (code == PAWL_OK && timeouts != NULL)
        *timeouts = (int64_t)count;
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl_store_saga_actions(pawl_store *store, pawl_text type, pawl_saga_id id,
                                  pawl_arena *arena, pawl_event_rows *rows, pawl_error *error)
{
    pawl_text name = name_of(type, id, arena);
    *rows          = (pawl_event_rows){.count = 0};
    return name.data != NULL ? pawl__action_list(store, PAWL_SAGA_STREAMS, name, arena, rows, error)
                             : no_memory(error);
}
