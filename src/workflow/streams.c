/* streams.c - the processes, entities and projections of a model.
 *
 * Processes and entities are items of the model's list of sagas, so that look-ups by name and key find them, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/process.h"
#include "record/record_internal.h"
#include "workflow/model.h"
#include "workflow/names.h"

#include <stdlib.h>
#include <string.h>

#define PROJECTION_BATCH 256
#define SOURCE_PREFIX "projection/"

const char *pawl__model_kind(const pawl__saga_model *saga)
{
    if (saga->stream == NULL)
        return "saga";
    return saga->stream->is_entity ? "entity" : "process";
}

/* ---- Functions that apply events ------------------------------------------- */

static int by_type(const void *left, const void *right)
{
    return pawl_text_compare(((const pawl__apply_model *)left)->type,
                             ((const pawl__apply_model *)right)->type);
}

static pawl_code build_apply(const pawl__saga_model *made, const pawl_apply *row,
                             pawl__apply_model *apply, pawl_error *error)
{
    const char *name = made->saga->name;
    if (row->state == NULL || row->event == NULL || row->call == NULL ||
        strcmp(row->state()->name, made->state->name) != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s: a function of .apply is not made for its state record %s", name,
                              made->state->name);
    *apply         = (pawl__apply_model){.event = row->event(), .call = row->call};
    pawl_code code = pawl__record_check_twin(made->state, row->state(), error);
    if (code == PAWL_OK)
        code = pawl_record_check(apply->event, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ECONFIG, "%s: event %s", name, apply->event->name);
    apply->type = pawl_text_of(pawl_record_type(apply->event));
    if (strncmp(apply->type.data, "pawl.", 5) == 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s: event type %s begins with 'pawl.', which is the library's", name,
                              apply->type.data);
    return PAWL_OK;
}

static pawl_code build_applies(pawl__model *model, pawl__saga_model *made,
                               const pawl_process *process, pawl__stream_model *stream,
                               pawl_error *error)
{
    size_t count    = pawl__list_count(process->apply);
    stream->applies = pawl_arena_take(model->arena, (count + 1) * sizeof stream->applies[0]);
    if (stream->applies == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        pawl_code code = build_apply(made, process->apply[i], &stream->applies[i], error);
        if (code != PAWL_OK)
            return code;
    }
    if (count > 1)
        qsort(stream->applies, count, sizeof stream->applies[0], by_type);
    for (size_t i = 1; i < count; i++)
        if (by_type(&stream->applies[i - 1], &stream->applies[i]) == 0)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "%s: two functions of .apply are for event %s", made->saga->name,
                                  stream->applies[i].type.data);
    stream->apply_count = count;
    return PAWL_OK;
}

/* ---- Processes and entities ------------------------------------------------- */

static pawl_code check_process(const pawl_process *process, const char *what, pawl_error *error)
{
    pawl_code code = pawl__name_check(what, process->name, error);
    if (code != PAWL_OK)
        return code;
    if (strchr(process->name, '/') != NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s %s: the name may not hold '/': a stream is NAME/key", what,
                              process->name);
    if (process->state == NULL || process->on == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "%s %s has no %s", what, process->name,
                              process->state == NULL ? ".state" : ".on");
    if (process->snapshot_every < 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s %s: .snapshot_every is %lld, it may not be "
                              "negative",
                              what, process->name, (long long)process->snapshot_every);
    if (process->dispatches_remembered < 0 ||
        process->dispatches_remembered > PAWL_DISPATCHES_REMEMBERED_MAX)
        return pawl_error_set(
            error, PAWL_ECONFIG, "%s %s: .dispatches_remembered is %d, the limit is 0 to %d", what,
            process->name, (int)process->dispatches_remembered, PAWL_DISPATCHES_REMEMBERED_MAX);
    return PAWL_OK;
}

/* Builds the parts that sagas have, too: name, rows, state and a key of type text. */
static pawl_code build_shared(pawl__model *model, pawl__saga_model *made,
                              const pawl_process *process, pawl_error *error)
{
    pawl_saga *shared = pawl_arena_take(model->arena, sizeof *shared);
    if (shared == NULL)
        return PAWL_ENOMEM;
    shared->name     = process->name;
    shared->state    = process->state;
    shared->on       = process->on;
    made->saga       = shared;
    made->index      = model->saga_count;
    made->state      = process->state();
    made->table.type = pawl_text_of(process->name);
    made->table.main = (pawl_correlation){.property = PAWL_TEXT("key"), .type = PAWL_VALUE_TEXT};
    pawl_code code   = pawl_record_check(made->state, error);
    return code == PAWL_OK ? PAWL_OK : pawl_error_wrap(error, PAWL_ECONFIG, "%s", process->name);
}

pawl__answer_kind pawl__model_answer(const pawl__saga_model *saga, const pawl_on *row,
                                     const pawl_record *message)
{
    bool is_entity = saga->stream != NULL && saga->stream->is_entity;
    if (message == NULL || row->key != NULL || row->find != NULL || row->starts || is_entity)
        return PAWL__ANSWER_NONE;
    const char *type = pawl_record_type(message);
    if (strcmp(type, pawl_record_type(PAWL_RECORD_OF(pawl_accepted)())) == 0)
        return PAWL__ANSWER_ACCEPTED;
    return strcmp(type, pawl_record_type(PAWL_RECORD_OF(pawl_rejected)())) == 0
               ? PAWL__ANSWER_REJECTED
               : PAWL__ANSWER_NONE;
}

pawl_code pawl__model_stream_row(const pawl__saga_model *saga, const pawl_on *row,
                                 const pawl_record *message, pawl_error *error)
{
    const char *name = saga->saga->name;
    if (row->find != NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s: message %s has .find, which is for sagas: a stream is found by "
                              "its key",
                              name, pawl_record_type(message));
    if (row->key == NULL && pawl__model_answer(saga, row, message) == PAWL__ANSWER_NONE)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s: message %s needs .key to find its stream by", name,
                              pawl_record_type(message));
    return PAWL_OK;
}

/* True if a missing key cannot read as 0: the member is optional (unset differs from 0), or required (JSON without it
 * is refused). A required member of a nested record is only checked if that record is present, so it does not count. */
bool pawl__model_zero_is_key(const pawl__saga_model *saga, const pawl_record *message,
                             const char *key)
{
    if (saga->stream == NULL || message == NULL || key == NULL)
        return false;
    const pawl_field *field = pawl_record_field(message, key);
    return field->shape == PAWL_OPTIONAL || (field->required && strchr(key, '.') == NULL);
}

static pawl_code build_process(pawl__model *model, const pawl_process *given, bool is_entity,
                               pawl_error *error)
{
    pawl__saga_model   *made   = &model->sagas[model->saga_count];
    pawl__stream_model *stream = pawl_arena_take(model->arena, sizeof *stream);
    pawl_process        process;
    pawl__table_row(given, 0, model->application->process_size, &process, sizeof process);
    pawl_code code = check_process(&process, is_entity ? "entity" : "process", error);
    if (code != PAWL_OK || stream == NULL)
        return code != PAWL_OK ? code : PAWL_ENOMEM;
    stream->is_entity      = is_entity;
    stream->snapshot_every = process.snapshot_every;
    stream->remembered = process.dispatches_remembered != 0 ? (size_t)process.dispatches_remembered
                                                            : PAWL_DISPATCHES_REMEMBERED;
    made->stream       = stream;
    code               = build_shared(model, made, &process, error);
    if (code == PAWL_OK)
        code = pawl__model_unique(model, made, error);
    if (code == PAWL_OK)
        code = build_applies(model, made, &process, stream, error);
    if (code != PAWL_OK)
        return code;
    model->saga_count++;
    return pawl__model_rows(model, made, error);
}

/* ---- Projections -------------------------------------------------------------- */

static int by_event(const void *left, const void *right)
{
    return pawl_text_compare(((const pawl__projection_on *)left)->type,
                             ((const pawl__projection_on *)right)->type);
}

/* Members besides .handle would be ignored without an error. */
static bool has_more_than_handle(const pawl_on *row)
{
    return row->timeout != NULL || row->own_sql || row->does != NULL || pawl__row_finds_saga(row);
}

static pawl_code build_projection_rows(pawl__model *model, const pawl_projection *projection,
                                       pawl__projection_model *made, pawl_error *error)
{
    uint32_t stride = model->application->on_size;
    size_t   count  = pawl__model_row_count(model, projection->on);
    if (count == 0)
        return pawl_error_set(error, PAWL_ECONFIG, "projection %s has no handler in .on",
                              projection->name);
    made->on = pawl_arena_take(model->arena, count * sizeof made->on[0]);
    if (made->on == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        pawl_on row;
        pawl__table_row(projection->on, i, stride, &row, sizeof row);
        const pawl_handler *handler = row.handle;
        if (handler->state != NULL || handler->message == NULL || handler->is_list)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "projection %s: handler %zu of .on is not made by "
                                  "PAWL_MESSAGE_HANDLER",
                                  projection->name, i + 1);
        if (has_more_than_handle(&row))
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "projection %s: row %zu of .on has more than .handle, and a "
                                  "projection reads nothing else of it",
                                  projection->name, i + 1);
        made->on[i]      = (pawl__projection_on){.handler = handler, .event = handler->message()};
        made->on[i].type = pawl_text_of(pawl_record_type(made->on[i].event));
        pawl_code code   = pawl_record_check(made->on[i].event, error);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, PAWL_ECONFIG, "projection %s", projection->name);
    }
    qsort(made->on, count, sizeof made->on[0], by_event);
    for (size_t i = 1; i < count; i++)
        if (by_event(&made->on[i - 1], &made->on[i]) == 0)
            return pawl_error_set(error, PAWL_ECONFIG, "projection %s handles event %s twice",
                                  projection->name, made->on[i].type.data);
    made->on_count = count;
    return PAWL_OK;
}

static pawl_code build_projection(pawl__model *model, const pawl_projection *given,
                                  pawl_error *error)
{
    pawl__projection_model *made = &model->projections[model->projection_count];
    pawl_projection         projection;
    pawl__table_row(given, 0, model->application->projection_size, &projection, sizeof projection);
    pawl_code code = pawl__name_check("projection", projection.name, error);
    if (code != PAWL_OK)
        return code;
    if (strlen(projection.name) + strlen(SOURCE_PREFIX) > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(
            error, PAWL_ECONFIG, "projection name '%.40s...' has %zu bytes, the limit is %zu",
            projection.name, strlen(projection.name), PAWL_NAME_SIZE_MAX - strlen(SOURCE_PREFIX));
    if (projection.batch < 0 || projection.batch > PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "projection %s: .batch is %d, the limit is 0 to %d", projection.name,
                              (int)projection.batch, PAWL_BATCH_MESSAGES_MAX);
    if (projection.reset != NULL && !projection.own_sql)
        return pawl_error_set(error, PAWL_ECONFIG, "projection %s has .reset, which needs .own_sql",
                              projection.name);
    made->name    = pawl_text_of(projection.name);
    made->source  = pawl_arena_printf(model->arena, SOURCE_PREFIX "%s", projection.name);
    made->own_sql = projection.own_sql;
    made->reset   = projection.reset;
    made->does    = projection.does;
    made->batch   = projection.batch != 0 ? (size_t)projection.batch : PROJECTION_BATCH;
    if (PAWL__ROW_OF(pawl__projection_model, name, model->projections, model->projection_count,
                     made->name) != NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "two projections are named %s", projection.name);
    if (made->source.data == NULL)
        return PAWL_ENOMEM;
    model->projection_count++;
    return build_projection_rows(model, &projection, made, error);
}

/* ---- All of them ---------------------------------------------------------------- */

pawl_code pawl__model_streams(pawl__model *model, pawl_error *error)
{
    const pawl_endpoint_spec *spec        = model->spec;
    size_t                    projections = pawl__list_count(spec->projections);
    pawl_code                 code        = PAWL_OK;
    model->projections =
        pawl_arena_take(model->arena, (projections + 1) * sizeof model->projections[0]);
    if (model->projections == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; code == PAWL_OK && i < pawl__list_count(spec->processes); i++)
        code = build_process(model, spec->processes[i], false, error);
    for (size_t i = 0; code == PAWL_OK && i < pawl__list_count(spec->entities); i++)
        code = build_process(model, spec->entities[i], true, error);
    for (size_t i = 0; code == PAWL_OK && i < projections; i++)
        code = build_projection(model, spec->projections[i], error);
    return code;
}
