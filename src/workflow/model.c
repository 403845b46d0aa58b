/* model.c - checks an application's tables and makes them ready for look-ups.
 *
 * Contents: sagas; bindings; creation; look-ups. Formats of states are in formats.c, aggregators in aggregators.c,
 * streams and projections in streams.c, reading of tables with other row sizes in tables.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

#include "base/delay.h"
#include "pawl/loop.h"
#include "pawl/process.h"
#include "record/record_internal.h"
#include "workflow/names.h"

#include <stdio.h>
#include <string.h>

/* ---- Sagas -------------------------------------------------------------- */

static pawl_code correlation_of(const pawl_saga *saga, const pawl_record *state,
                                const char *property, pawl_correlation *correlation,
                                pawl_error *error)
{
    if (property == NULL)
        return PAWL_OK;
    const pawl_field *field = pawl_record_field(state, property);
    if (field != NULL && strchr(property, '.') != NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: correlation property '%s' lies in a nested record; it has "
                              "to be a field of record %s itself",
                              saga->name, property, state->name);
    if (field == NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: correlation property '%s' is not a field of record %s%s",
                              saga->name, property, state->name,
                              strpbrk(property, ",; ") != NULL
                                  ? "; a saga has one, while it is replaced a .transitional one "
                                    "beside it, and .find looks by any other"
                                  : "");
    correlation->property    = pawl_text_of(pawl_field_json(field));
    correlation->with_offset = field->with_offset;
    pawl_code code           = pawl_field_value_type(field, &correlation->type, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ECONFIG, "saga %s: correlation property '%s'",
                               saga->name, property);
    return pawl__column_check(correlation->property, error);
}

static pawl_code build_table(pawl__model *model, pawl__saga_model *made, pawl_text prefix,
                             pawl_error *error)
{
    const pawl_saga *saga = made->saga;
    if ((saga->transitional != NULL && saga->correlation == NULL) ||
        (saga->transitional != NULL && strcmp(saga->transitional, saga->correlation) == 0))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: a transitional property needs a correlation property other "
                              "than itself",
                              saga->name);
    pawl_code code = correlation_of(saga, made->state, saga->correlation, &made->table.main, error);
    if (code == PAWL_OK)
        code =
            correlation_of(saga, made->state, saga->transitional, &made->table.transitional, error);
    if (code != PAWL_OK)
        return code;
    const char *suffix = saga->table != NULL ? saga->table : saga->name;
    made->table.type   = pawl_text_of(saga->name);
    made->table.name   = pawl_arena_printf(model->arena, "%.*s%s", PAWL_TEXT_ARGS(prefix), suffix);
    made->type_version = pawl_arena_printf(model->arena, "%d.0", pawl_record_version(made->state));
    made->metadata     = pawl_arena_printf(model->arena, "\"SagaType\":\"%s\"", saga->name);
    if (made->table.name.data == NULL || made->type_version.data == NULL ||
        made->metadata.data == NULL)
        return PAWL_ENOMEM;
    return pawl__table_name_check(saga->name, made->table.name, error);
}

pawl_code pawl__model_unique(const pawl__model *model, const pawl__saga_model *made,
                             pawl_error *error)
{
    for (const pawl__saga_model *other = model->sagas; other < made; other++) {
        if (pawl_text_equal(other->table.type, made->table.type))
            return pawl_error_set(error, PAWL_ECONFIG, "two %s are named %s",
                                  other->stream == NULL && made->stream == NULL
                                      ? "sagas"
                                      : "sagas, processes or entities",
                                  made->saga->name);
        if (made->stream == NULL && pawl_text_equal(other->table.name, made->table.name))
            return pawl_error_set(error, PAWL_ECONFIG, "sagas %s and %s share the table '%.*s'",
                                  other->saga->name, made->saga->name,
                                  PAWL_TEXT_ARGS(made->table.name));
        if (made->stream == NULL && strcmp(other->state->name, made->state->name) == 0)
            return pawl_error_set(error, PAWL_ECONFIG, "sagas %s and %s share the state record %s",
                                  other->saga->name, made->saga->name, made->state->name);
    }
    return PAWL_OK;
}

static pawl_code build_saga(pawl__model *model, const pawl_saga *given, pawl_text prefix,
                            pawl_error *error)
{
    pawl__saga_model *made = &model->sagas[model->saga_count];
    pawl_saga        *saga = pawl_arena_take(model->arena, sizeof *saga);
    if (saga == NULL)
        return PAWL_ENOMEM;
    pawl__table_row(given, 0, model->application->saga_size, saga, sizeof *saga);
    pawl_code code = pawl__name_check("saga", saga->name, error);
    if (code != PAWL_OK)
        return code;
    if (saga->state == NULL || saga->on == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "saga %s has no %s", saga->name,
                              saga->state == NULL ? ".state" : ".on");
    if (saga->idle_after < 0)
        return pawl_error_set(error, PAWL_ECONFIG, "saga %s: .idle_after may not be negative",
                              saga->name);
    code = pawl__check_unit(".idle_after of saga ", saga->name, "", saga->idle_after, error);
    if (code != PAWL_OK)
        return code;
    made->saga  = saga;
    made->index = model->saga_count;
    made->state = saga->state();
    code        = pawl_record_check(made->state, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ECONFIG, "saga %s", saga->name);
    code = build_table(model, made, prefix, error);
    if (code == PAWL_OK)
        code = pawl__model_formats(model, made, error);
    if (code == PAWL_OK)
        code = pawl__model_unique(model, made, error);
    model->tables[model->table_count++] = &made->table;
    model->saga_count++;
    return code;
}

/* ---- Bindings ----------------------------------------------------------- */

static pawl_code add_type(pawl__model *model, const pawl_record *record, pawl__type_model **added,
                          pawl_error *error)
{
    pawl_text type  = pawl_text_of(pawl_record_type(record));
    size_t    index = pawl__model_type_index(model, type);
    if (index < model->type_count && pawl_text_equal(model->types[index]->type, type)) {
        *added = model->types[index];
        return pawl__record_check_twin(model->types[index]->record, record, error);
    }
    pawl_code code = pawl_record_check(record, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ECONFIG, "message %s", type.data);
    pawl__type_model  *made  = pawl_arena_take(model->arena, sizeof *made);
    pawl__type_model **grown = pawl_arena_grow(model->arena, model->types, model->type_count,
                                               &model->type_capacity, sizeof model->types[0]);
    if (made == NULL || grown == NULL)
        return PAWL_ENOMEM;
    made->type   = type;
    made->record = record;
    model->types = grown;
    memmove(&grown[index + 1], &grown[index], (model->type_count - index) * sizeof grown[0]);
    grown[index] = made;
    model->type_count++;
    *added = made;
    return PAWL_OK;
}

pawl_code pawl__model_bind(pawl__model *model, const pawl_record *record,
                           const pawl__binding *binding, pawl_error *error)
{
    pawl__type_model *type = NULL;
    pawl_code         code = add_type(model, record, &type, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; binding->saga != NULL && i < type->count; i++)
        if (type->bindings[i]->saga == binding->saga)
            return pawl_error_set(error, PAWL_ECONFIG, "%s %s handles message %s twice",
                                  pawl__model_kind(binding->saga), binding->saga->saga->name,
                                  type->type.data);
    const pawl__binding **grown = pawl_arena_grow(model->arena, type->bindings, type->count,
                                                  &type->capacity, sizeof type->bindings[0]);
    if (grown == NULL)
        return PAWL_ENOMEM;
    type->bindings                = grown;
    type->bindings[type->count++] = binding;
    return PAWL_OK;
}

/* `property` is the saga's property that the key is compared with; NULL: the key of a stream. */
static pawl_code check_key(const pawl__saga_model *model, const pawl_record *message,
                           const char *key, const char *property, pawl_value_type to,
                           pawl_error *error)
{
    const pawl_saga  *saga  = model->saga;
    const pawl_field *field = pawl_record_field(message, key);
    if (field == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "%s %s: message %s has no property '%s'",
                              pawl__model_kind(model), saga->name, pawl_record_type(message), key);
    pawl_value_type from;
    pawl_code       code = pawl_field_value_type(field, &from, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ECONFIG, "%s %s: message %s", pawl__model_kind(model),
                               saga->name, pawl_record_type(message));
    if (!pawl_value_can_coerce(from, to))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s %s: message %s finds the %s by '%s', a %s, which cannot "
                              "become the %s '%s'",
                              pawl__model_kind(model), saga->name, pawl_record_type(message),
                              pawl__model_kind(model), key, pawl_value_type_name(from),
                              pawl_value_type_name(to), property != NULL ? property : "key");
    return PAWL_OK;
}

static pawl_code refuse_handler(const pawl__saga_model *saga, const pawl_on *row,
                                const pawl_record *message, pawl_error *error)
{
    const char *what = message != NULL        ? pawl_record_type(message)
                       : row->timeout != NULL ? row->timeout
                                              : "a timeout without a name";
    const char *made = saga->stream == NULL      ? ""
                       : saga->stream->is_entity ? " by PAWL_ENTITY_HANDLER"
                                                 : " by PAWL_PROCESS_HANDLER";
    return pawl_error_set(error, PAWL_ECONFIG,
                          "%s %s: the handler of %s is not made for its state record %s%s",
                          pawl__model_kind(saga), saga->saga->name, what, saga->state->name, made);
}

/* ---- Requirements of each kind of row ------------------------------------------- */

typedef enum row_kind {
    ROW_TIMEOUT,
    ROW_STREAM,    /* a message of a process or an entity */
    ROW_ANSWER,    /* an answer to a command of the saga, which names the saga by its id */
    ROW_FOUND,     /* a message whose saga only its finder names; it never starts one */
    ROW_BEGINNING, /* a message that starts a saga without a correlation property */
    ROW_CORRELATED, /* found by a property: no .find, or .starts beside it, used if the finder finds none */
    row_kind_count
} row_kind;

typedef pawl_code requirement(const pawl__saga_model *saga, const pawl_on *row,
                              const pawl_record *message, pawl_error *error);

static pawl_code need_timeout(const pawl__saga_model *saga, const pawl_on *row,
                              const pawl_record *message, pawl_error *error)
{
    (void)message;
    if (row->timeout != NULL && !pawl__row_finds_saga(row))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG, "%s %s: a timeout handler %s",
                          pawl__model_kind(saga), saga->saga->name,
                          row->timeout == NULL ? "needs .timeout" : "has " PAWL__FINDING_MEMBERS);
}

static pawl_code need_owner_of_timeouts(const pawl__saga_model *saga, const pawl_on *row,
                                        const pawl_record *message, pawl_error *error)
{
    (void)message;
    if (saga->stream == NULL || !saga->stream->is_entity)
        return pawl__name_check("timeout", row->timeout, error);
    return pawl_error_set(error, PAWL_ECONFIG,
                          "entity %s: timeout '%s' has a handler, but only a process has "
                          "timeouts",
                          saga->saga->name, row->timeout);
}

static pawl_code need_key(const pawl__saga_model *saga, const pawl_on *row,
                          const pawl_record *message, pawl_error *error)
{
    if (row->key != NULL && saga->saga->correlation != NULL)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG, "saga %s: message %s needs %s to find the saga by",
                          saga->saga->name, pawl_record_type(message),
                          row->key == NULL ? ".key" : "a .correlation property");
}

/* The key, if there is one, must have a type that compares with the key of the saga or stream. */
static pawl_code need_main_type(const pawl__saga_model *saga, const pawl_on *row,
                                const pawl_record *message, pawl_error *error)
{
    return row->key != NULL ? check_key(saga, message, row->key, saga->saga->correlation,
                                        saga->table.main.type, error)
                            : PAWL_OK;
}

static pawl_code need_transitional_type(const pawl__saga_model *saga, const pawl_on *row,
                                        const pawl_record *message, pawl_error *error)
{
    const char *key = row->transitional_key != NULL ? row->transitional_key : row->key;
    return saga->saga->transitional != NULL
               ? check_key(saga, message, key, saga->saga->transitional,
                           saga->table.transitional.type, error)
               : PAWL_OK;
}

#define REQUIREMENTS_MAX 3

static requirement *const requirements[][REQUIREMENTS_MAX] = {
    [ROW_TIMEOUT]    = {need_timeout, need_owner_of_timeouts},
    [ROW_STREAM]     = {pawl__model_stream_row, need_main_type},
    [ROW_ANSWER]     = {NULL},
    [ROW_FOUND]      = {NULL},
    [ROW_BEGINNING]  = {NULL},
    [ROW_CORRELATED] = {need_key, need_main_type, need_transitional_type},
};
_Static_assert(sizeof requirements / sizeof requirements[0] == row_kind_count,
               "requirements of each kind of row");

static row_kind kind_of_row(const pawl__saga_model *saga, const pawl_on *row,
                            const pawl_record *message)
{
    if (message == NULL)
        return ROW_TIMEOUT;
    if (saga->stream != NULL)
        return ROW_STREAM;
    if (pawl__model_answer(saga, row, message) != PAWL__ANSWER_NONE)
        return ROW_ANSWER;
    if (row->find != NULL && !row->starts)
        return ROW_FOUND;
    return row->key == NULL && row->starts && saga->saga->correlation == NULL ? ROW_BEGINNING
                                                                              : ROW_CORRELATED;
}

static pawl_code check_saga_row(const pawl__saga_model *saga, const pawl_on *row, bool is_stream,
                                const pawl_record *message, pawl_error *error)
{
    if (row->handle->state == NULL || row->handle->is_list || is_stream != (saga->stream != NULL) ||
        strcmp(row->handle->state()->name, saga->state->name) != 0)
        return refuse_handler(saga, row, message, error);
    requirement *const *needs = requirements[kind_of_row(saga, row, message)];
    pawl_code           code  = pawl__record_check_twin(saga->state, row->handle->state(), error);
    for (size_t i = 0; code == PAWL_OK && i < REQUIREMENTS_MAX && needs[i] != NULL; i++)
        code = needs[i](saga, row, message, error);
    return code;
}

static pawl_code check_missing(const char *name, const pawl_on *row, pawl_error *error)
{
    if (row->not_found != PAWL_NOT_FOUND_CALL)
        return row->missing == NULL
                   ? PAWL_OK
                   : pawl_error_set(error, PAWL_ECONFIG,
                                    "%s: .missing would never run: it goes with .not_found = "
                                    "PAWL_NOT_FOUND_CALL",
                                    name);
    if (row->missing == NULL || row->missing->state != NULL || row->missing->is_list ||
        row->missing->message == NULL || row->handle->message == NULL ||
        strcmp(pawl_record_type(row->missing->message()),
               pawl_record_type(row->handle->message())) != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s: PAWL_NOT_FOUND_CALL needs .missing, a handler of the same "
                              "message without state",
                              name);
    return pawl__record_check_twin(row->handle->message(), row->missing->message(), error);
}

static pawl_code add_timeout(pawl__model *model, const pawl__saga_model *saga, const char *name,
                             const pawl__binding *binding, pawl_error *error)
{
    pawl_text text = pawl_text_of(name);
    if (pawl__model_timeout(model, saga->table.type, text) != NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "%s %s handles timeout '%s' twice",
                              pawl__model_kind(saga), saga->saga->name, name);
    model->timeouts[model->timeout_count++] = (pawl__timeout_model){saga, text, binding};
    return PAWL_OK;
}

static pawl_code build_saga_row(pawl__model *model, pawl__saga_model *saga, const pawl_on *row,
                                pawl_error *error)
{
    const pawl_record *message   = row->handle->message != NULL ? row->handle->message() : NULL;
    bool               is_stream = pawl__handler_is_folded(model->application, row->handle);
    pawl_code          code      = check_saga_row(saga, row, is_stream, message, error);
    if (code == PAWL_OK)
        code = check_missing(saga->saga->name, row, error);
    pawl__binding *binding = pawl_arena_take(model->arena, sizeof *binding);
    if (code != PAWL_OK || binding == NULL)
        return code != PAWL_OK ? code : PAWL_ENOMEM;
    *binding = (pawl__binding){
        .kind             = PAWL__BINDING_SAGA,
        .handler          = row->handle,
        .message          = message,
        .saga             = saga,
        .key              = row->key,
        .answer           = pawl__model_answer(saga, row, message),
        .transitional_key = row->transitional_key != NULL ? row->transitional_key : row->key,
        .starts           = row->starts || (saga->stream != NULL && saga->stream->is_entity),
        .zero_is_key      = pawl__model_zero_is_key(saga, message, row->key),
        .is_alone         = row->own_sql || row->find != NULL || saga->saga->is_pessimistic,
        .has_sql          = row->own_sql || saga->saga->is_pessimistic,
        .not_found        = row->not_found,
        .missing          = row->missing,
        .find             = row->find,
        .does             = row->does,
    };
    saga->answers |= (unsigned)binding->answer;
    if (row->own_sql)
        model->own_sql = message != NULL ? pawl_record_type(message) : row->timeout;
    if (message == NULL)
        return add_timeout(model, saga, row->timeout, binding, error);
    return pawl__model_bind(model, message, binding, error);
}

size_t pawl__model_row_count(const pawl__model *model, const pawl_on *rows)
{
    size_t  count = 0;
    pawl_on row;
    for (; rows != NULL; count++) {
        pawl__table_row(rows, count, model->application->on_size, &row, sizeof row);
        if (row.handle == NULL)
            break;
    }
    return count;
}

pawl_code pawl__model_rows(pawl__model *model, pawl__saga_model *saga, pawl_error *error)
{
    uint32_t  stride = model->application->on_size;
    size_t    count  = pawl__model_row_count(model, saga->saga->on);
    bool      starts = false;
    pawl_code code   = PAWL_OK;
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        pawl_on row;
        pawl__table_row(saga->saga->on, i, stride, &row, sizeof row);
        starts |= row.starts;
        code = build_saga_row(model, saga, &row, error);
    }
    if (code == PAWL_OK && !starts && (saga->stream == NULL || !saga->stream->is_entity))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s %s: no message starts it; set .starts on one",
                              pawl__model_kind(saga), saga->saga->name);
    return code;
}

static pawl_code build_plain_rows(pawl__model *model, pawl_error *error)
{
    uint32_t stride = model->application->on_size;
    size_t   count  = pawl__model_row_count(model, model->spec->handlers);
    for (size_t i = 0; i < count; i++) {
        pawl_on row;
        pawl__table_row(model->spec->handlers, i, stride, &row, sizeof row);
        if (row.handle->state != NULL || row.handle->message == NULL || row.handle->is_list)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "endpoint %s: handler %zu of .handlers is not made by "
                                  "PAWL_MESSAGE_HANDLER",
                                  model->spec->name, i + 1);
        if (row.timeout != NULL || pawl__row_finds_saga(&row))
            return pawl_error_set(
                error, PAWL_ECONFIG, "endpoint %s: handler %zu of .handlers has %s",
                model->spec->name, i + 1,
                row.timeout != NULL ? ".timeout, and no saga" : PAWL__FINDING_MEMBERS);
        pawl__binding *binding = pawl_arena_take(model->arena, sizeof *binding);
        if (binding == NULL)
            return PAWL_ENOMEM;
        *binding = (pawl__binding){.kind     = PAWL__BINDING_PLAIN,
                                   .handler  = row.handle,
                                   .message  = row.handle->message(),
                                   .is_alone = row.own_sql,
                                   .has_sql  = row.own_sql,
                                   .does     = row.does};
        if (row.own_sql)
            model->own_sql = pawl_record_type(binding->message);
        pawl_code code = pawl__model_bind(model, binding->message, binding, error);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

/* ---- Creation ----------------------------------------------------------- */

static pawl_code take_filters(pawl__model *model, pawl_error *error)
{
    const pawl_application *application = model->application;
    for (size_t i = 0; application->filters != NULL; i++) {
        pawl_filter filter;
        pawl__table_row(application->filters, i, application->filter_size, &filter, sizeof filter);
        if (filter.before == NULL && filter.after == NULL)
            break;
        if (i == PAWL_FILTERS_MAX)
            return pawl_error_set(error, PAWL_ECONFIG, "application has more than %d filters",
                                  PAWL_FILTERS_MAX);
        model->filters[model->filter_count++] = filter;
    }
    return PAWL_OK;
}

static size_t count_timeouts(const pawl__model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < pawl__list_count(model->spec->sagas); i++)
        count += pawl__model_row_count(model, model->spec->sagas[i]->on);
    for (size_t i = 0; i < pawl__list_count(model->spec->processes); i++)
        count += pawl__model_row_count(model, model->spec->processes[i]->on);
    return count;
}

static pawl_code allocate(pawl__model *model)
{
    pawl_arena *arena = model->arena;
    size_t sagas = pawl__list_count(model->spec->sagas) + pawl__list_count(model->spec->processes) +
                   pawl__list_count(model->spec->entities) + 1;
    model->sagas  = pawl_arena_take(arena, sagas * sizeof model->sagas[0]);
    model->tables = pawl_arena_take(arena, sagas * sizeof model->tables[0]);
    model->timeouts =
        pawl_arena_take(arena, (count_timeouts(model) + 1) * sizeof model->timeouts[0]);
    bool is_good = model->sagas != NULL && model->tables != NULL && model->timeouts != NULL;
    return is_good ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code build(pawl__model *model, const char *saga_prefix, pawl_error *error)
{
    const pawl_endpoint_spec *spec = model->spec;
    pawl_code                 code = pawl__name_check("endpoint", spec->name, error);
    if (code == PAWL_OK && spec->queue != NULL)
        code = pawl__name_check("queue", spec->queue, error);
    if (code != PAWL_OK)
        return code;
    model->endpoint  = pawl_text_of(spec->name);
    model->queue     = pawl_text_of(spec->queue != NULL ? spec->queue : spec->name);
    pawl_text prefix = pawl__saga_prefix(spec->name, saga_prefix, model->arena);
    code             = prefix.data != NULL ? allocate(model) : PAWL_ENOMEM;
    if (code == PAWL_OK && saga_prefix == NULL) /* an explicit prefix may differ per endpoint */
        code = pawl__application_tables_check(model->application, NULL, model->arena, error);
    for (size_t i = 0; code == PAWL_OK && i < pawl__list_count(spec->sagas); i++) {
        code = build_saga(model, spec->sagas[i], prefix, error);
        if (code == PAWL_OK)
            code = pawl__model_rows(model, &model->sagas[i], error);
    }
    if (code == PAWL_OK)
        code = pawl__model_streams(model, error);
    if (code == PAWL_OK)
        code = build_plain_rows(model, error);
    if (code == PAWL_OK)
        code = pawl__model_aggregators(model, error);
    if (code == PAWL_OK)
        code = pawl__model_schedules(model, error);
    if (code == PAWL_OK)
        code = pawl__model_effects(model, error);
    if (code == PAWL_OK)
        code = take_filters(model, error);
    return code == PAWL_OK ? pawl__model_types_json(model) : code;
}

pawl_code pawl__model_create(const pawl_application *application, const char *name,
                             const char *saga_prefix, pawl__model **model, pawl_error *error)
{
    *model                         = NULL;
    const pawl_endpoint_spec *spec = NULL;
    pawl_code                 code = pawl_application_check(application, error);
    if (code == PAWL_OK)
        code = pawl__application_endpoint(application, name, &spec, error);
    if (code != PAWL_OK)
        return code;
    pawl_arena  *arena = pawl_arena_create(0);
    pawl__model *made  = arena != NULL ? pawl_arena_take(arena, sizeof *made) : NULL;
    if (made == NULL) {
        pawl_arena_destroy(arena);
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for endpoint %s", spec->name);
    }
    pawl_endpoint_spec *whole = pawl_arena_take(arena, sizeof *whole);
    made->arena               = arena;
    made->application         = application;
    made->spec                = whole;
    if (whole != NULL)
        pawl__table_row(spec, 0, application->endpoint_size, whole, sizeof *whole);
    code = whole != NULL ? build(made, saga_prefix, error) : PAWL_ENOMEM;
    if (code != PAWL_OK) {
        if (code == PAWL_ENOMEM)
            pawl_error_set(error, code, "no memory for endpoint %s", spec->name);
        pawl__model_destroy(made);
        return code;
    }
    *model = made;
    return PAWL_OK;
}

void pawl__model_destroy(pawl__model *model)
{
    if (model != NULL)
        pawl_arena_destroy(model->arena);
}
