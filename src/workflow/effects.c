/* effects.c - reads, checks and looks up the effects that rows declare for their handlers (.does).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

#include <string.h>

bool pawl__effect_row(const pawl_application *application, const pawl_effect *does, size_t index,
                      pawl_effect *effect)
{
    pawl__table_row(does, index, application->effect_size, effect, sizeof *effect);
    return effect->kind != PAWL_EFFECT_END;
}

/* Reading effect_size is safe: a program whose rows have .does also has that member of the application. */
static pawl_code check(const pawl__model *model, const char *owner, const pawl_effect *does,
                       const pawl__saga_model *saga, pawl_error *error)
{
    pawl_effect effect;
    pawl_code   code = PAWL_OK;
    for (size_t i = 0;
         does != NULL && code == PAWL_OK && pawl__effect_row(model->application, does, i, &effect);
         i++) {
        if ((unsigned)effect.kind > PAWL_EFFECT_TIMEOUT)
            return pawl_error_set(error, PAWL_ECONFIG, "%s: effect %zu of .does has the kind %d",
                                  owner, i + 1, (int)effect.kind);
        bool is_timeout = effect.kind == PAWL_EFFECT_TIMEOUT;
        if (is_timeout ? effect.name == NULL : effect.message == NULL)
            return pawl_error_set(error, PAWL_ECONFIG, "%s: effect %zu of .does has no %s", owner,
                                  i + 1, is_timeout ? "name" : "message");
        if (is_timeout && (saga == NULL || pawl__model_timeout(model, saga->table.type,
                                                               pawl_text_of(effect.name)) == NULL))
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "%s: .does sets the timeout '%s', which no handler is for", owner,
                                  effect.name);
        if (!is_timeout && (code = pawl_record_check(effect.message(), error)) != PAWL_OK)
            return pawl_error_wrap(error, PAWL_ECONFIG, "%s: effect %zu of .does", owner, i + 1);
    }
    return code;
}

static pawl_code check_rows(const pawl__model *model, const char *owner, const pawl_on *rows,
                            const pawl__saga_model *saga, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < pawl__model_row_count(model, rows); i++) {
        pawl_on row;
        pawl__table_row(rows, i, model->application->on_size, &row, sizeof row);
        code = check(model, owner, row.does, saga, error);
    }
    return code;
}

pawl_code pawl__model_effects(const pawl__model *model, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < model->saga_count; i++) {
        const pawl__saga_model *saga = &model->sagas[i];
        code = check_rows(model, saga->saga->name, saga->saga->on, saga, error);
    }
    if (code == PAWL_OK)
        code = check_rows(model, model->spec->name, model->spec->handlers, NULL, error);
    for (size_t i = 0; code == PAWL_OK && i < model->aggregator_count; i++) {
        const pawl__aggregator_model *aggregator = &model->aggregators[i];
        code = check(model, aggregator->name.data, aggregator->does, NULL, error);
    }
    for (size_t i = 0; code == PAWL_OK && i < model->projection_count; i++) {
        const pawl__projection_model *projection = &model->projections[i];
        code = check(model, projection->name.data, projection->does, NULL, error);
    }
    return code;
}

bool pawl__effect_is_declared(const pawl_application *application, const pawl_effect *does,
                              pawl_effect_kind kind, const char *type, const char *name)
{
    pawl_effect effect;
    for (size_t i = 0; pawl__effect_row(application, does, i, &effect); i++) {
        if (effect.kind != kind)
            continue;
        bool is_type = type == NULL || strcmp(pawl_record_type(effect.message()), type) == 0;
        if (is_type && (effect.name == NULL || strcmp(effect.name, name) == 0))
            return true;
    }
    return false;
}
