/* timeout_find.c - the timeouts that the words of `pawl timeout` select, their columns, and the rows that are printed by them.
 *
 * Stores list the timeouts of one saga, or all of them; the rest is chosen here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include "engine/engine.h"

#include <string.h>

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

const pawl__noun pawl__timeouts = {"timeout", pawl__timeout_columns, sizeof(pawl__shown_timeout)};
static const pawl__noun leases  = {"timeout", lease_columns, sizeof(pawl__shown_timeout)};

/* ---- Finding --------------------------------------------------------------- */

static bool is_same(const char *wanted, pawl_text text)
{
    return wanted == NULL || pawl_text_equal(pawl_text_of(wanted), text);
}

/* A schedule's next time is stored as a timeout, and is none: `pawl schedule` keeps its plan and its row
 * in step. */
static bool is_schedule(const pawl_timeout_row *row)
{
    return pawl_text_equal(row->saga_type, PAWL_TEXT(PAWL__SCHEDULE_SAGA));
}

/* `type`: of the saga's word; may be empty. */
static bool is_wanted(const pawl__timeout_fields *asked, pawl_text type,
                      const pawl_timeout_row *row)
{
    return !is_schedule(row) && (type.size == 0 || pawl_text_equal(type, row->saga_type)) &&
           is_same(asked->destination, row->destination) && is_same(asked->name, row->name) &&
           is_same(asked->saga_type, row->saga_type) &&
           (asked->since == 0 || row->due >= asked->since) &&
           (asked->until == 0 || row->due <= asked->until);
}

/* By its id the row is found with its saga, whose timeouts are few: only among those of no saga are all
 * looked at. */
pawl_code pawl__timeout_find(pawl_store *store, pawl_uuid id, pawl_arena *arena,
                             pawl_timeout_row *row, bool *is_there, pawl_error *error)
{
    pawl_scan_row     after = {.id = pawl__id_before(id)};
    const pawl_scan   walk  = {.kind = PAWL_SCAN_TIMEOUTS, .after = &after, .count_max = 1};
    pawl_scan_rows    found = {.count = 0};
    pawl_timeout_rows rows  = {.count = 0};
    pawl_code         code  = pawl_store_scan(store, &walk, arena, &found, error);
    *is_there               = false;
    if (code != PAWL_OK || found.count == 0 || pawl_uuid_compare(found.items[0].id, id) != 0)
        return code;
    code = pawl_store_timeout_list(store, (pawl_saga_id){found.items[0].saga_id}, 0, arena, &rows,
                                   error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count && !*is_there; i++) {
        *row      = rows.items[i];
        *is_there = pawl_uuid_compare(row->id.uuid, id) == 0;
    }
    return code;
}

/* The named timeouts, of the saga if there is one, in the order of the words; one that is named twice
 * is once there. */
static pawl_code find_named(const pawl__texts *ids, pawl_saga_id saga, pawl_store *store,
                            pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    rows->count = 0;
    rows->items = pawl__must_take(arena, ids->count * sizeof *rows->items);
    for (size_t i = 0; i < ids->count; i++) {
        pawl_timeout_row *row      = &rows->items[rows->count];
        pawl_uuid         id       = {{0}};
        size_t            at       = 0;
        bool              is_there = false;
        pawl_code         code     = pawl_uuid_parse(pawl_text_of(ids->items[i]), &id, error);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "ID");
        code = pawl__timeout_find(store, id, arena, row, &is_there, error);
        if (code != PAWL_OK)
            return code;
        if (!is_there ||
            (!pawl_uuid_is_zero(saga.uuid) && pawl_uuid_compare(row->saga_id.uuid, saga.uuid) != 0))
            return pawl_error_set(error, PAWL_ENOTFOUND, "there is no timeout %s", ids->items[i]);
        if (is_schedule(row))
            return pawl_error_set(error, PAWL_ENOTFOUND,
                                  "%s is the next time of schedule %.*s: see `pawl schedule`",
                                  ids->items[i], PAWL_TEXT_ARGS(row->name));
        while (pawl_uuid_compare(rows->items[at].id.uuid, id) != 0)
            at++;
        rows->count += at == rows->count;
    }
    return PAWL_OK;
}

/* More and more of the first rows are read, until enough of them match. */
pawl_code pawl__timeout_select(const pawl__timeout_fields *fields, size_t count_max,
                               pawl_store *store, pawl_arena *arena, pawl_timeout_rows *rows,
                               pawl_error *error)
{
    pawl_saga_id id   = {{{0}}};
    pawl_text    type = PAWL_TEXT("");
    pawl_code    code = PAWL_OK;
    if (fields->saga != NULL)
        code = pawl__saga_word_find(&fields->book, store, fields->saga, arena, &type, &id, error);
    if (code == PAWL_OK && fields->words.ids.count > 0)
        return find_named(&fields->words.ids, id, store, arena, rows, error);
    for (size_t asked = count_max; code == PAWL_OK; asked *= 8) {
        code = pawl_store_timeout_list(store, id, asked, arena, rows, error);
        if (code != PAWL_OK)
            break;
        size_t read = rows->count, kept = 0;
        for (size_t i = 0; i < read; i++)
            if (is_wanted(fields, type, &rows->items[i]))
                rows->items[kept++] = rows->items[i];
        rows->count = kept;
        if (asked == 0 || read < asked || kept >= count_max)
            break;
    }
    return code;
}

/* ---- Rows ------------------------------------------------------------------ */

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
    pawl__view           view  = pawl__view_of(&leases, fields->words.is_json, arena);
    pawl__shown_timeout *shown = NULL;
    pawl_code code = pawl__timeout_shown(fields, store, rows, count, arena, &shown, error);
    return code == PAWL_OK ? pawl__rows_print(&view, shown, count) : code;
}
