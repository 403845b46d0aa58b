/* create.c - prepares a check: makes the models of all endpoints of a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include "pawl/loop.h"

typedef struct reason_row {
    const char *name;
    bool        is_finding;
    const char *text;
} reason_row;

static const reason_row reasons[] = {
#define REASON(symbol, word, is_finding, text) {word, is_finding, text},
    PAWL_UPGRADE_REASONS(REASON)
#undef REASON
};

/* An unknown number has an empty row. */
static reason_row row_of(pawl_upgrade_reason reason)
{
    static const reason_row none;
    return (size_t)reason < sizeof reasons / sizeof reasons[0] ? reasons[reason] : none;
}

const char *pawl_upgrade_reason_name(pawl_upgrade_reason reason)
{
    return row_of(reason).name;
}

const char *pawl_upgrade_reason_text(pawl_upgrade_reason reason)
{
    return row_of(reason).text;
}

bool pawl_upgrade_is_finding(pawl_upgrade_reason reason)
{
    return row_of(reason).is_finding;
}

static pawl_code add_model(pawl_upgrade *made, const pawl_application *application,
                           const char *endpoint, const char *saga_prefix, size_t *capacity,
                           pawl_error *error)
{
    pawl__model *model = NULL;
    pawl_code    code  = pawl__model_create(application, endpoint, saga_prefix, &model, error);
    if (code != PAWL_OK)
        return code;
    made->models[made->model_count++] = model;
    for (size_t i = 0; i < model->table_count; i++) {
        const pawl_saga_table **grown = pawl_arena_grow(made->arena, (void *)made->tables,
                                                        made->table_count, capacity, sizeof *grown);
        if (grown == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "out of memory for saga tables");
        made->tables               = grown;
        grown[made->table_count++] = model->tables[i];
    }
    return PAWL_OK;
}

pawl_code pawl_upgrade_create(const pawl_application *application, const char *saga_prefix,
                              pawl_upgrade **upgrade, pawl_error *error)
{
    *upgrade               = NULL;
    pawl_code     code     = pawl_application_check(application, error);
    pawl_arena   *arena    = code == PAWL_OK ? pawl_arena_create(0) : NULL;
    pawl_upgrade *made     = arena != NULL ? pawl_arena_take(arena, sizeof *made) : NULL;
    size_t        capacity = 0, count = 0;
    if (code != PAWL_OK)
        return code;
    if (made != NULL) {
        made->application = application;
        made->arena       = arena;
        count             = pawl__list_count(application->endpoints);
        made->models      = pawl_arena_take(arena, (count + 1) * sizeof(pawl__model *));
    }
    if (made == NULL || made->models == NULL) {
        pawl_arena_destroy(arena);
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for an application");
    }
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = add_model(made, application, application->endpoints[i]->name, saga_prefix, &capacity,
                         error);
    if (code != PAWL_OK)
        pawl_upgrade_destroy(made);
    else
        *upgrade = made;
    return code;
}

void pawl_upgrade_destroy(pawl_upgrade *upgrade)
{
    if (upgrade == NULL)
        return;
    for (size_t i = 0; i < upgrade->model_count; i++)
        pawl__model_destroy(upgrade->models[i]);
    pawl_arena_destroy(upgrade->arena);
}

void pawl_upgrade_from(pawl_upgrade *upgrade, const pawl_upgrade *from)
{
    upgrade->from = from;
}

const pawl_saga_table *const *pawl_upgrade_tables(const pawl_upgrade *upgrade, size_t *count)
{
    *count = upgrade->table_count;
    return upgrade->tables;
}

const pawl__model *pawl__upgrade_model(const pawl_upgrade *upgrade, pawl_text endpoint)
{
    for (size_t i = 0; i < upgrade->model_count; i++)
        if (pawl_text_equal(upgrade->models[i]->endpoint, endpoint))
            return upgrade->models[i];
    return NULL;
}

static pawl_text queue_of_route(const pawl_endpoint_options *options, pawl_text name)
{
    pawl_route route;
    for (size_t i = 0; options != NULL && pawl__route_at(options, i, &route); i++) {
        if (!pawl_text_equal(pawl_text_of(route.name), name))
            continue;
        bool is_here = route.url == NULL && route.outbound == NULL;
        return is_here ? pawl_text_of(route.queue != NULL ? route.queue : route.name)
                       : PAWL_TEXT("");
    }
    return name;
}

pawl_text pawl__upgrade_queue(const pawl_upgrade *upgrade, pawl_text endpoint,
                              pawl_text destination)
{
    const pawl_application *application = upgrade->application;
    pawl_endpoint_spec      spec;
    for (size_t i = 0; i < upgrade->model_count; i++) {
        pawl__table_row(application->endpoints[i], 0, application->endpoint_size, &spec,
                        sizeof spec);
        if (pawl_text_equal(pawl_text_of(spec.name), endpoint))
            return queue_of_route(spec.options, destination);
    }
    return destination;
}

void pawl__upgrade_report(const pawl__upgrade_check *check, pawl_upgrade_reason reason,
                          pawl_text member, const char *format, ...)
{
    pawl_upgrade_found found = check->at;
    pawl_error         text  = PAWL_ERROR_INIT;
    va_list            arguments;
    va_start(arguments, format);
    (void)pawl_error_setv(&text, PAWL_EDECODE, format, arguments);
    va_end(arguments);
    found.reason = check->is_lenient ? PAWL_UPGRADE_PASSED_OVER : reason;
    found.member = member;
    found.text   = pawl_text_of(text.text);
    check->found(&found, check->context);
}
