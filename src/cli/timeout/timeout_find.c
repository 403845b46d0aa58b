/* timeout_find.c - selects timeouts by the options of `pawl timeout`, and makes the rows to print.
 *
 * Stores find the timeouts of one saga, or all of them, from a due time on. The other conditions are checked here, with
 * one page of the store in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include "engine/engine.h"

#include <string.h>

#define LOOKED_PAGE 1000 /* timeouts that one read of the store returns */
#define LOOKED_MAX 16000 /* the same, if many have the same due time */

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

/* The columns of leases: who holds them, and since when they are expired. */
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
const pawl__noun pawl__timeout_leases = {"timeout", lease_columns, sizeof(pawl__shown_timeout)};

/* ---- Finding --------------------------------------------------------------- */

static bool is_same(const char *wanted, pawl_text text)
{
    return wanted == NULL || pawl_text_equal(pawl_text_of(wanted), text);
}

/* Is the row the next time of a schedule? Only `pawl schedule` may change it, together with the schedule's own row. */
static bool is_schedule(const pawl_timeout_row *row)
{
    return pawl_text_equal(row->saga_type, PAWL_TEXT(PAWL__SCHEDULE_SAGA));
}

bool pawl__timeout_is_expired(const pawl_timeout_row *row, pawl_time now)
{
    return !pawl_uuid_is_zero(row->owner.uuid) && row->lease_expires <= now;
}

/* Does the row match? Due times are not checked: they limit what is read. */
static bool is_wanted(const pawl__timeout_cursor *cursor, const pawl_timeout_row *row)
{
    const pawl__timeout_fields *asked = cursor->fields;
    return !is_schedule(row) &&
           (cursor->type.size == 0 || pawl_text_equal(cursor->type, row->saga_type)) &&
           is_same(asked->destination, row->destination) && is_same(asked->name, row->name) &&
           is_same(asked->saga_type, row->saga_type) &&
           (cursor->lease_max == 0 || pawl__timeout_is_expired(row, cursor->lease_max));
}

/* An index finds the saga of the id; then the timeouts of the saga are read, which are few, or those without saga. */
pawl_code pawl__timeout_find(pawl_store *store, pawl_uuid id, pawl_arena *arena,
                             pawl_timeout_row *row, bool *is_there, pawl_error *error)
{
    pawl_scan_row     after = {.id = pawl__id_before(id)};
    const pawl_scan   scan  = {.kind = PAWL_SCAN_TIMEOUTS, .after = &after, .count_max = 1};
    pawl_scan_rows    found = {.count = 0};
    pawl_timeout_rows rows  = {.count = 0};
    pawl_code         code  = pawl_store_scan(store, &scan, arena, &found, error);
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

pawl_code pawl__timeout_cursor_begin(const pawl__timeout_fields *fields, pawl_store *store,
                                     pawl_arena *arena, pawl__timeout_cursor *cursor,
                                     pawl_error *error)
{
    *cursor = (pawl__timeout_cursor){.fields   = fields,
                                     .store    = store,
                                     .type     = PAWL_TEXT(""),
                                     .last.due = fields->since,
                                     .looked   = pawl__must_create()};
    if (fields->since != 0)
        cursor->query.after = &cursor->last; /* no id is zero */
    return fields->saga == NULL
               ? PAWL_OK
               : pawl__saga_word_find(&fields->book, store, fields->saga, arena, &cursor->type,
                                      &cursor->query.saga_id, error);
}

static pawl_timeout_row copy_of(const pawl_timeout_row *row, bool is_brief, pawl_arena *arena)
{
    pawl_timeout_row copy    = *row;
    pawl_text       *texts[] = {&copy.saga_type, &copy.name, &copy.destination, &copy.headers,
                                &copy.correlation_id};
    if (is_brief)
        copy.headers = copy.correlation_id = PAWL_TEXT("");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = pawl__must_text(arena, *texts[i]);
    return copy;
}

void pawl__timeout_cursor_end(pawl__timeout_cursor *cursor)
{
    pawl_arena_destroy(cursor->looked);
}

/* Reads the next rows of the store: few at first, then LOOKED_PAGE. For each page a store may read all rows with the
 * same due time, so these are read in larger pages. */
static pawl_code look(pawl__timeout_cursor *cursor, size_t count_max, pawl_error *error)
{
    const pawl_timeout_rows *page  = &cursor->page;
    pawl_timeout_query      *query = &cursor->query;
    if (page->count > 0) {
        const pawl_timeout_row *last        = &page->items[page->count - 1];
        bool                    is_one_time = page->items[0].due == last->due;
        cursor->last                        = (pawl_timeout_row){.id = last->id, .due = last->due};
        query->after                        = &cursor->last;
        count_max                           = is_one_time ? LOOKED_MAX : LOOKED_PAGE;
    }
    query->count_max = count_max;
    cursor->at       = 0;
    pawl_arena_reset(cursor->looked);
    pawl_code code =
        pawl_store_timeout_find(cursor->store, query, cursor->looked, &cursor->page, error);
    cursor->is_over = code != PAWL_OK || page->count < count_max;
    return code;
}

pawl_code pawl__timeout_page(pawl__timeout_cursor *cursor, size_t count_max, pawl_arena *arena,
                             pawl_timeout_rows *found, pawl_error *error)
{
    pawl_time until = cursor->fields->until;
    pawl_code code  = PAWL_OK;
    *found = (pawl_timeout_rows){.items = pawl__must_take(arena, count_max * sizeof *found->items)};
    while (code == PAWL_OK && found->count < count_max) {
        if (cursor->at < cursor->page.count) {
            const pawl_timeout_row *row = &cursor->page.items[cursor->at++];
            if (until != 0 && row->due > until)
                cursor->is_over = true, cursor->page.count = cursor->at = 0;
            else if (is_wanted(cursor, row))
                found->items[found->count++] = copy_of(row, cursor->is_brief, arena);
        } else if (!cursor->is_over)
            code = look(cursor, count_max + 1, error); /* a list tells whether there are more */
        else
            break;
    }
    return code;
}

pawl_code pawl__timeout_named(const pawl__timeout_cursor *cursor, pawl_arena *arena,
                              pawl_timeout_rows *rows, pawl_error *error)
{
    return find_named(&cursor->fields->words.ids, cursor->query.saga_id, cursor->store, arena, rows,
                      error);
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
