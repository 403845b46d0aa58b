/* timeout_find.c - the timeouts that the words of `pawl timeout` select.
 *
 * Stores list the timeouts of one saga, or all of them; the rest is chosen here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout.h"

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

/* Moves the named timeouts to the front, in the order of the words; one that is named twice is once
 * there. */
static pawl_code take_named(const pawl__texts *ids, pawl_timeout_rows *rows, pawl_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < ids->count; i++) {
        pawl_uuid id   = {{0}};
        size_t    at   = 0;
        pawl_code code = pawl_uuid_parse(pawl_text_of(ids->items[i]), &id, error);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "ID");
        while (at < rows->count && pawl_uuid_compare(rows->items[at].id.uuid, id) != 0)
            at++;
        if (at == rows->count)
            return pawl_error_set(error, PAWL_ENOTFOUND, "there is no timeout %s", ids->items[i]);
        if (is_schedule(&rows->items[at]))
            return pawl_error_set(error, PAWL_ENOTFOUND,
                                  "%s is the next time of schedule %.*s: see `pawl schedule`",
                                  ids->items[i], PAWL_TEXT_ARGS(rows->items[at].name));
        if (at < count)
            continue;
        pawl_timeout_row found = rows->items[at];
        rows->items[at]        = rows->items[count];
        rows->items[count++]   = found;
    }
    rows->count = count;
    return PAWL_OK;
}

pawl_code pawl__timeout_select(const pawl__timeout_fields *fields, const pawl__timeout_query *query,
                               pawl_store *store, pawl_arena *arena, pawl_timeout_rows *rows,
                               pawl_error *error)
{
    size_t       count = 0;
    pawl_saga_id id    = query->saga_id;
    pawl_text    type;
    pawl_code    code = PAWL_OK;
    if (fields->saga != NULL)
        code = pawl__saga_word_find(&fields->book, store, fields->saga, arena, &type, &id, error);
    if (code == PAWL_OK)
        code = pawl_store_timeout_list(store, id, 0, arena, rows, error);
    if (code != PAWL_OK)
        return code;
    if (fields->ids.count > 0)
        return take_named(&fields->ids, rows, error);
    for (size_t i = 0; i < rows->count; i++)
        if (is_wanted(query, &rows->items[i]))
            rows->items[count++] = rows->items[i];
    rows->count = count;
    return PAWL_OK;
}
