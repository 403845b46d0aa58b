/* timeout_print.c - the columns of timeouts, and the rows that are printed by them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

/* ---- Columns --------------------------------------------------------------- */

#define TIMEOUT(key, kind, member, ...) \
    PAWL__COLUMN(pawl_timeout_row, key, kind, member, __VA_ARGS__)
const pawl__column pawl__timeout_columns[] = {
    TIMEOUT("id", ID, id, "id"),
    TIMEOUT("due", TIME, due, "due"),
    TIMEOUT("name", TEXT, name, "name"),
    TIMEOUT("saga_type", TEXT, saga_type, "saga"),
    TIMEOUT("saga_id", ID, saga_id, "saga id"),
    PAWL__COLUMN(pawl__shown_timeout, "saga", TEXT, saga, NULL),
    TIMEOUT("destination", TEXT, destination, "destination"),
    TIMEOUT("attempts", COUNT_32, attempts, "attempts"),
    TIMEOUT("generation", COUNT, generation, NULL),
    TIMEOUT("owner", ID, owner, NULL),
    TIMEOUT("lease_expires", TIME, lease_expires, NULL),
    TIMEOUT("correlation_id", TEXT, correlation_id, NULL),
    TIMEOUT("headers", JSON, headers, NULL, PAWL__LEVEL_SHOW),
    PAWL__COLUMN(pawl__shown_timeout, "next", TEXT, next, NULL, PAWL__LEVEL_SHOW),
    {.key = NULL},
};

/* Of leases: whose they are, and since when they are over. */
static const pawl__column lease_columns[] = {
    TIMEOUT("id", ID, id, "id"),
    TIMEOUT("name", TEXT, name, "name"),
    TIMEOUT("saga_type", TEXT, saga_type, "saga"),
    TIMEOUT("saga_id", ID, saga_id, "saga id"),
    TIMEOUT("destination", TEXT, destination, "destination"),
    TIMEOUT("owner", ID, owner, "leased by"),
    TIMEOUT("lease_expires", TIME, lease_expires, "until"),
    {.key = NULL},
};

/* ---- Rows ------------------------------------------------------------------ */

pawl__view pawl__timeout_view(const pawl__timeout_fields *fields, pawl_arena *arena)
{
    return pawl__view_of(pawl__timeout_columns, "timeout", sizeof(pawl__shown_timeout),
                         fields->words.is_json, arena);
}

pawl_code pawl__timeout_shown(const pawl__timeout_fields *fields, pawl_store *store,
                              const pawl_timeout_row *rows, size_t count, pawl_arena *arena,
                              pawl__shown_timeout **shown, pawl_error *error)
{
    pawl__saga_named *sagas = pawl__must_take(arena, (count + 1) * sizeof *sagas);
    *shown                  = pawl__must_take(arena, (count + 1) * sizeof **shown);
    for (size_t i = 0; i < count; i++)
        sagas[i] = (pawl__saga_named){.type = rows[i].saga_type, .id = rows[i].saga_id};
    pawl_code code = pawl__saga_names(&fields->book, store, sagas, count, arena, error);
    for (size_t i = 0; i < count; i++) {
        (*shown)[i] = (pawl__shown_timeout){.row = rows[i], .saga = sagas[i].name};
        if (sagas[i].name.size > 0 && !fields->words.is_json)
            (*shown)[i].row.saga_type = sagas[i].name;
    }
    return code;
}

pawl_code pawl__timeout_print_leases(const pawl__timeout_fields *fields, pawl_store *store,
                                     const pawl_timeout_row *rows, size_t count, pawl_arena *arena,
                                     pawl_error *error)
{
    pawl__view           view  = pawl__timeout_view(fields, arena);
    pawl__shown_timeout *shown = NULL;
    pawl_code code = pawl__timeout_shown(fields, store, rows, count, arena, &shown, error);
    view.columns   = lease_columns;
    return code == PAWL_OK ? pawl__rows_print(&view, shown, count) : code;
}
