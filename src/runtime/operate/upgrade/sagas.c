/* sagas.c - checks a page of sagas: can each be read, and does the store find it by its correlation property, as a
 * message would?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include "base/arena.h"
#include "engine/entry.h"

#include <stdio.h>
#include <string.h>

/* The sagas of the page that could be read. */
typedef struct readable {
    pawl_value           *values; /* of one property */
    void                **states;
    const pawl_scan_row **rows, *first; /* first row of the whole page */
    size_t                count;
} readable;

static const pawl__saga_model *model_of(const pawl_upgrade *upgrade, const pawl_saga_table *table)
{
    for (size_t i = 0; i < upgrade->model_count; i++)
        for (size_t j = 0; j < upgrade->models[i]->saga_count; j++)
            if (&upgrade->models[i]->sagas[j].table == table)
                return &upgrade->models[i]->sagas[j];
    return NULL;
}

/* The text without "saga Order ID of version 1: ", which the report adds itself. */
static const char *text_of(const pawl__saga_model *saga, const pawl__upgrade_check *check,
                           const char *text)
{
    char begin[400];
    int  size = snprintf(begin, sizeof begin, "saga %s %.*s of version %d: ", saga->saga->name,
                         PAWL_TEXT_ARGS(check->at.id), (int)check->at.version);
    return size > 0 && (size_t)size < sizeof begin && strncmp(text, begin, (size_t)size) == 0
               ? text + size
               : text;
}

/* Checks the members as today's record sees them, after the format's reader and the upcaster. */
static pawl_code look_at_members(pawl__upgrade_check *check, const pawl__saga_model *saga,
                                 const pawl_saga_row *row)
{
    pawl_text json;
    int       version = check->at.version;
    pawl_code code    = pawl__state_json(saga, row, check->arena, &json, check->error);
    if (code == PAWL_OK && saga->state->upcast != NULL)
        code = pawl_record_upcast(saga->state, version, json, check->arena, &json, check->error);
    return code == PAWL_OK ? pawl__upgrade_members(check, saga->state, json) : code;
}

/* `*state` is NULL if it could not be read, which has been reported. */
static pawl_code read_state(pawl__upgrade_check *check, const pawl__saga_model *saga,
                            const pawl_scan_row *row, void **state)
{
    pawl_error          why    = PAWL_ERROR_INIT;
    const pawl_saga_row stored = {.presence     = PAWL_SAGA_THERE,
                                  .id           = {row->id},
                                  .data         = row->message.body,
                                  .type_version = row->type_version};
    check->at.id               = pawl__arena_uuid(check->arena, row->id);
    check->at.version          = pawl__state_version(row->type_version);
    *state                     = pawl_arena_take(check->arena, saga->state->size);
    if (*state == NULL)
        return pawl_error_set(check->error, PAWL_ENOMEM, "out of memory for a %s",
                              saga->saga->name);
    pawl_code code = pawl__state_read(saga, saga->state, &stored, check->arena, *state, &why);
    if (code == PAWL_ENOMEM)
        return pawl_error_set(check->error, code, "%s", why.text);
    if (code == PAWL_OK)
        return look_at_members(check, saga, &stored);
    pawl__upgrade_refused(check, saga->state, code, text_of(saga, check, why.text));
    *state = NULL;
    return PAWL_OK;
}

static pawl_code read_states(pawl__upgrade_check *check, const pawl__saga_model *saga,
                             const pawl_scan_rows *rows, readable *page)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++) {
        const pawl_scan_row *row = &rows->items[i];
        void                *state;
        check->at.row = (uint32_t)i + 1;
        code          = read_state(check, saga, row, &state);
        if (code != PAWL_OK || state == NULL)
            continue;
        page->states[page->count] = state;
        page->rows[page->count++] = row;
    }
    return code;
}

/* The table with only one correlation column: other columns may not exist until `schema apply`. */
static pawl_saga_table with_only_column(const pawl_saga_table *table, pawl_saga_key key)
{
    static const pawl_correlation none = {.type = PAWL_VALUE_NONE};
    pawl_saga_table               made = *table;
    if (key != PAWL_SAGA_BY_MAIN)
        made.main = none;
    if (key != PAWL_SAGA_BY_TRANSITIONAL)
        made.transitional = none;
    return made;
}

static void fill_values(const pawl__saga_model *saga, pawl_saga_key key, readable *page)
{
    const char *property =
        key == PAWL_SAGA_BY_MAIN ? saga->saga->correlation : saga->saga->transitional;
    for (size_t i = 0; i < page->count; i++)
        if (key == PAWL_SAGA_BY_ID)
            page->values[i] = pawl_value_uuid(page->rows[i]->id);
        else if (pawl_record_value(saga->state, property, page->states[i], &page->values[i],
                                   NULL) != PAWL_OK)
            page->values[i] = (pawl_value){.type = PAWL_VALUE_NONE};
}

/* Removes sagas that the property finds from the page; by id, those that no longer exist. */
static pawl_code look_up(pawl__upgrade_check *check, pawl_store *store,
                         const pawl__saga_model *saga, pawl_saga_key key, readable *page,
                         pawl_error *why)
{
    size_t         left  = 0;
    pawl_saga_row *found = pawl_arena_take(check->arena, (page->count + 1) * sizeof *found);
    if (found == NULL)
        return pawl_error_set(check->error, PAWL_ENOMEM, "out of memory for a page of sagas");
    fill_values(saga, key, page);
    pawl_saga_table table = with_only_column(&saga->table, key);
    pawl_code       code  = pawl_store_saga_load(store, &table, key, page->values, page->count,
                                                 PAWL_SAGA_UNLOCKED, check->arena, found, why);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; i < page->count; i++) {
        bool is_found = found[i].presence != PAWL_SAGA_MISSING &&
                        pawl_uuid_compare(found[i].id.uuid, page->rows[i]->id) == 0;
        if (is_found != (key == PAWL_SAGA_BY_ID))
            continue;
        page->states[left] = page->states[i];
        page->rows[left++] = page->rows[i];
    }
    page->count = left;
    return PAWL_OK;
}

static void report_unreachable(pawl__upgrade_check *check, const pawl__saga_model *saga,
                               const readable *page, const pawl_error *why)
{
    const char *property = saga->saga->correlation;
    for (size_t i = 0; i < page->count; i++) {
        char       shown[PAWL_VALUE_TEXT_SIZE];
        pawl_value value;
        bool       has_value =
            pawl_record_value(saga->state, property, page->states[i], &value, NULL) == PAWL_OK;
        check->at.id      = pawl__arena_uuid(check->arena, page->rows[i]->id);
        check->at.row     = (uint32_t)(page->rows[i] - page->first) + 1;
        check->at.version = 0;
        pawl__upgrade_report(check, PAWL_UPGRADE_UNREACHABLE, pawl_text_of(property),
                             "no row is found by %s %s%s%s", property,
                             has_value ? pawl_value_format(&value, shown, sizeof shown) : "",
                             why->text[0] != '\0' ? ": " : "", why->text);
    }
}

/* Does the code end the check? A missing column does not, and counts as empty. */
static bool is_final(pawl_code code)
{
    return code != PAWL_OK && code != PAWL_ESCHEMA && code != PAWL_EPERSIST;
}

static pawl_code find_all(pawl__upgrade_check *check, pawl_store *store,
                          const pawl__saga_model *saga, readable *page)
{
    pawl_error why  = PAWL_ERROR_INIT;
    pawl_code  code = look_up(check, store, saga, PAWL_SAGA_BY_MAIN, page, &why);
    if (page->count != 0 && saga->saga->transitional != NULL && !is_final(code))
        code = look_up(check, store, saga, PAWL_SAGA_BY_TRANSITIONAL, page, &why);
    if (is_final(code))
        return pawl_error_set(check->error, code, "%s", why.text);
    /* Running programs may have completed sagas since the page was read. */
    code = page->count != 0 ? look_up(check, store, saga, PAWL_SAGA_BY_ID, page, check->error)
                            : PAWL_OK;
    if (code == PAWL_OK)
        report_unreachable(check, saga, page, &why);
    return code;
}

pawl_code pawl__upgrade_sagas(pawl__upgrade_check *check, pawl_store *store,
                              const pawl_saga_table *table, const pawl_scan_rows *rows)
{
    const pawl__saga_model *saga  = model_of(check->upgrade, table);
    size_t                  count = rows->count + 1;
    if (saga == NULL)
        return pawl_error_set(check->error, PAWL_EINVAL, "saga %.*s is none of the application",
                              PAWL_TEXT_ARGS(table->type));
    readable page = {.first  = rows->items,
                     .values = pawl_arena_take(check->arena, count * sizeof *page.values),
                     .states = pawl_arena_take(check->arena, count * sizeof *page.states),
                     .rows   = pawl_arena_take(check->arena, count * sizeof *page.rows)};
    if (page.values == NULL || page.states == NULL || page.rows == NULL)
        return pawl_error_set(check->error, PAWL_ENOMEM, "out of memory for a page of sagas");
    check->at.kind = "saga";
    check->at.type = table->type;
    pawl_code code = read_states(check, saga, rows, &page);
    return code == PAWL_OK && saga->saga->correlation != NULL && page.count != 0
               ? find_all(check, store, saga, &page)
               : code;
}
