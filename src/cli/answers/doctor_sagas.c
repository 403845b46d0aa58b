/* doctor_sagas.c - sagas that nothing wakes: without a timeout, and not saved for longer than their type
 * says with .idle_after.
 *
 * Ids rise with the time at which sagas began, so a look at those that began first finds those that may be
 * stuck. One that was written last by a program without .idle_after counts from its beginning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/doctor.h"
#include "cli/answers/why.h"

#include "engine/origin.h"
#include "runtime/operate/upgrade/upgrade.h"

#include <inttypes.h>

#define SAGAS_MAX 2000 /* of each type: those that began first */
#define PAGE 200

/* The look at the sagas of one type. */
typedef struct look {
    const pawl__saga_model *saga;
    pawl_time               limit; /* saved before that is idle */
    pawl_arena             *page;
    size_t                  looked, found;
    bool                    is_end;
    pawl_saga_id            oldest; /* of those that are found */
    pawl_time               oldest_since;
} look;

static pawl_code look_at_row(pawl__doctor *doctor, look *it, const pawl_saga_row *row)
{
    pawl_timeout_rows timeouts = {.count = 0};
    pawl_time         at       = pawl__saga_begun(row->id.uuid);
    if (row->presence != PAWL_SAGA_THERE)
        return PAWL_OK;
    pawl_text changed = pawl__must_header(row->metadata, PAWL__SAGA_CHANGED, it->page);
    if (changed.size != 0)
        (void)pawl_time_parse(changed, &at, NULL);
    if (at >= it->limit)
        return PAWL_OK;
    pawl_code code =
        pawl_store_timeout_list(doctor->store, row->id, 1, it->page, &timeouts, doctor->error);
    if (code != PAWL_OK || timeouts.count > 0)
        return code;
    if (it->found == 0 || at < it->oldest_since) {
        it->oldest       = row->id;
        it->oldest_since = at;
    }
    it->found++;
    return PAWL_OK;
}

static pawl_code look_at_page(pawl__doctor *doctor, look *it, const pawl_scan_rows *walked)
{
    pawl_value    *ids  = pawl__must_take(it->page, walked->count * sizeof *ids);
    pawl_saga_row *rows = pawl__must_take(it->page, walked->count * sizeof *rows);
    for (size_t i = 0; i < walked->count; i++)
        ids[i] = pawl_value_uuid(walked->items[i].id);
    pawl_code code =
        pawl_store_saga_load(doctor->store, &it->saga->table, PAWL_SAGA_BY_ID, ids, walked->count,
                             PAWL_SAGA_UNLOCKED, it->page, rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < walked->count; i++)
        code = look_at_row(doctor, it, &rows[i]);
    return code;
}

/* A type without a table has no sagas: `schema` says that it is missing, and `pawl run` too. */
static pawl_code look_at_type(pawl__doctor *doctor, look *it)
{
    pawl_scan_row after = {.number = 0};
    pawl_scan     walk  = {.kind = PAWL_SCAN_SAGAS, .table = &it->saga->table, .count_max = PAGE};
    pawl_code     code  = PAWL_OK;
    while (code == PAWL_OK && !it->is_end && it->looked < SAGAS_MAX) {
        pawl_scan_rows walked = {.count = 0};
        pawl_arena_reset(it->page);
        code = pawl_store_scan(doctor->store, &walk, it->page, &walked, doctor->error);
        if (code == PAWL_ESCHEMA)
            return PAWL_OK;
        if (code == PAWL_OK && walked.count > 0)
            code = look_at_page(doctor, it, &walked);
        it->looked += walked.count;
        it->is_end = walked.count < PAGE;
        if (code != PAWL_OK || it->is_end)
            continue;
        after      = (pawl_scan_row){.id = walked.items[walked.count - 1].id};
        walk.after = &after;
        it->is_end = pawl__saga_begun(after.id) >= it->limit; /* all later ones began since */
    }
    return code;
}

static pawl_code say_found(pawl__doctor *doctor, const look *it)
{
    char        since[PAWL__SPAN_SIZE], idle[PAWL__SPAN_SIZE], bound[60] = "";
    char        id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_arena *arena = doctor->arena;
    pawl_uuid_format(it->oldest.uuid, id);
    pawl_text        name = pawl__must_printf(arena, "%s/%s", it->saga->saga->name, id);
    pawl__saga_named saga = {.type = it->saga->table.type, .id = it->oldest, .name = name};
    pawl_code code = pawl__saga_names(&doctor->book, doctor->store, &saga, 1, arena, doctor->error);
    if (code != PAWL_OK)
        return code;
    if (!it->is_end)
        snprintf(bound, sizeof bound, " (of the %d that began first)", SAGAS_MAX);
    pawl_text remedy = pawl__must_printf(arena, "pawl why %.*s%.*s",
                                         PAWL_TEXT_ARGS(pawl__why_word(saga.name, arena)),
                                         PAWL_TEXT_ARGS(doctor->book_options));
    return pawl__doctor_find(
        doctor, PAWL_FINDING_WARN, remedy.data,
        "nothing wakes %zu saga%s of %s%s: no timeout, and not saved for longer "
        "than %s (.idle_after); the oldest is %.*s, saved %s",
        it->found, it->found == 1 ? "" : "s", it->saga->saga->name, bound,
        pawl__span_text(it->saga->saga->idle_after, idle), PAWL_TEXT_ARGS(saga.name),
        pawl__age_text(it->oldest_since, doctor->now, since));
}

static pawl_code check_type(pawl__doctor *doctor, const pawl__saga_model *saga)
{
    look it = {
        .saga = saga, .limit = doctor->now - saga->saga->idle_after, .page = pawl__must_create()};
    pawl_code code = look_at_type(doctor, &it);
    pawl_arena_destroy(it.page);
    return code == PAWL_OK && it.found > 0 ? say_found(doctor, &it) : code;
}

pawl_code pawl__doctor_sagas(pawl__doctor *doctor, const pawl__doctor_seen *all)
{
    const pawl_upgrade *upgrade = doctor->book.upgrade;
    size_t              count = doctor->found.count, types = 0;
    pawl_code           code = PAWL_OK;
    (void)all;
    if (upgrade == NULL)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "",
                                 "not checked: --app APP.so says how long a saga may be idle");
    for (size_t i = 0; i < upgrade->model_count; i++)
        for (size_t j = 0; code == PAWL_OK && j < upgrade->models[i]->saga_count; j++) {
            const pawl__saga_model *saga = &upgrade->models[i]->sagas[j];
            if (saga->stream != NULL || saga->saga->idle_after == 0)
                continue;
            types++;
            code = check_type(doctor, saga);
        }
    if (code != PAWL_OK || doctor->found.count > count)
        return code;
    return pawl__doctor_find(doctor, PAWL_FINDING_OK, "",
                             types == 0 ? "no saga of the program has .idle_after"
                                        : "each that was not saved for .idle_after has a timeout");
}
