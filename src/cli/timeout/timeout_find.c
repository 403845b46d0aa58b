/* timeout_find.c - the timeouts that the words of `pawl timeout` select.
 *
 * Stores list the timeouts of one saga, or all of them; the rest is chosen here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include "engine/plan.h"

#include <string.h>

static pawl_code read_time(const char *name, const char *text, pawl_time *time, pawl_error *error)
{
    if (text == NULL)
        return PAWL_OK;
    pawl_code code = pawl_time_parse(pawl_text_of(text), time, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "%s", name);
}

/* An empty filter matches every timeout: a variable of a script that is not set must not cancel them
 * all. */
static pawl_code check_filters(const pawl__timeout_fields *fields, pawl_error *error)
{
    const char *const names[]  = {"--destination", "--name", "--saga", "--saga-type"};
    const char *const values[] = {fields->destination, fields->name, fields->saga,
                                  fields->saga_type};
    pawl_code         code     = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < sizeof names / sizeof names[0]; i++)
        code = pawl__filter_check(names[i], values[i], error);
    return code;
}

pawl_code pawl__timeout_query_read(const pawl__timeout_fields *fields, pawl__timeout_query *query,
                                   pawl_error *error)
{
    *query         = (pawl__timeout_query){.destination = pawl_text_of(fields->destination),
                                           .name        = pawl_text_of(fields->name),
                                           .saga_type   = pawl_text_of(fields->saga_type),
                                           .due_min     = PAWL_TIME_MIN,
                                           .due_max     = PAWL_TIME_MAX};
    pawl_code code = check_filters(fields, error);
    if (code == PAWL_OK)
        code = pawl__saga_word_check(fields->saga, fields->application != NULL, error);
    if (code == PAWL_OK)
        code = read_time("--since", fields->since, &query->due_min, error);
    if (code == PAWL_OK)
        code = read_time("--until", fields->until, &query->due_max, error);
    return code == PAWL_OK ? read_time("--to", fields->to, &query->to, error) : code;
}

static bool is_same(pawl_text wanted, pawl_text text)
{
    return wanted.size == 0 || pawl_text_equal(wanted, text);
}

/* A schedule's next time is stored as a timeout, and is none: `pawl schedule` keeps its plan and its row
 * in step. */
static bool is_schedule(const pawl_timeout_row *row)
{
    return pawl_text_equal(row->saga_type, PAWL_TEXT(PAWL__SCHEDULE_SAGA));
}

static bool is_wanted(const pawl__timeout_query *query, const pawl_timeout_row *row)
{
    return !is_schedule(row) && is_same(query->destination, row->destination) &&
           is_same(query->name, row->name) && is_same(query->saga_type, row->saga_type) &&
           row->due >= query->due_min && row->due <= query->due_max;
}

/* A page behind the id right before begins with the id. */
static pawl_uuid before(pawl_uuid id)
{
    for (size_t i = sizeof id.bytes; i-- > 0;)
        if (id.bytes[i]-- != 0)
            break;
    return id;
}

/* By its id the row is found with its saga, whose timeouts are few: only among those of no saga are all
 * looked at. */
pawl_code pawl__timeout_find(pawl_store *store, pawl_uuid id, pawl_arena *arena,
                             pawl_timeout_row *row, bool *is_there, pawl_error *error)
{
    pawl_scan_row     after = {.id = before(id)};
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
    rows->items = pawl_arena_take(arena, ids->count * sizeof *rows->items);
    if (rows->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu timeouts", ids->count);
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

/* Keeps the rows that match. */
static void take_wanted(const pawl__timeout_query *query, pawl_timeout_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (is_wanted(query, &rows->items[i]))
            rows->items[count++] = rows->items[i];
    rows->count = count;
}

/* More and more of the first rows are read, until enough of them match. */
pawl_code pawl__timeout_select(const pawl__timeout_fields *fields, const pawl__timeout_query *query,
                               pawl_store *store, pawl_arena *arena, pawl_timeout_rows *rows,
                               pawl_error *error)
{
    pawl_saga_id id = query->saga_id;
    pawl_text    type;
    pawl_code    code = PAWL_OK;
    if (fields->saga != NULL)
        code = pawl__saga_word_find(&fields->book, store, fields->saga, arena, &type, &id, error);
    if (code == PAWL_OK && fields->words.ids.count > 0)
        return find_named(&fields->words.ids, id, store, arena, rows, error);
    for (size_t asked = query->count_max; code == PAWL_OK; asked *= 8) {
        code = pawl_store_timeout_list(store, id, asked, arena, rows, error);
        if (code != PAWL_OK)
            break;
        bool is_all = asked == 0 || rows->count < asked;
        take_wanted(query, rows);
        if (is_all || rows->count >= query->count_max)
            break;
    }
    return code;
}
