/* aggregators.c - an endpoint's aggregators, checked and made ready for look-ups.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

#include "base/delay.h"
#include "workflow/names.h"

#include <string.h>

static pawl_code check(const pawl_aggregator *aggregator, pawl_error *error)
{
    pawl_code code = pawl__name_check("aggregator", aggregator->name, error);
    if (code != PAWL_OK)
        return code;
    const char *name = aggregator->name;
    if (strchr(name, '/') != NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "aggregator %s: a name may not hold '/', which stands between an "
                              "aggregator's name and the key of a partition",
                              name);
    if (aggregator->handle == NULL || !aggregator->handle->is_list)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "aggregator %s: .handle is not made by PAWL_BATCH_HANDLER", name);
    if (aggregator->size < 0 || aggregator->max < 0 || aggregator->period < 0 ||
        aggregator->lease < 0 || aggregator->attempts_max < 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "aggregator %s: size, max, period, lease and attempts_max may not "
                              "be negative",
                              name);
    if (aggregator->max != 0 && aggregator->size > aggregator->max)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "aggregator %s: size %lld is above max %lld, so it would never "
                              "flush by size",
                              name, (long long)aggregator->size, (long long)aggregator->max);
    code = pawl__check_unit(".period of aggregator ", name, "", aggregator->period, error);
    return code != PAWL_OK
               ? code
               : pawl__check_unit(".lease of aggregator ", name, "", aggregator->lease, error);
}

static pawl_code check_key(const pawl_aggregator *aggregator, const pawl_record *message,
                           pawl_error *error)
{
    if (aggregator->key == NULL)
        return PAWL_OK;
    const pawl_field *field = pawl_record_field(message, aggregator->key);
    pawl_value_type   type;
    if (field == NULL || pawl_field_value_type(field, &type, NULL) != PAWL_OK)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "aggregator %s: '%s' is not a property of message %s that can be a key",
            aggregator->name, aggregator->key, pawl_record_type(message));
    return PAWL_OK;
}

static pawl_code build(pawl__model *model, const pawl_aggregator *given, pawl_error *error)
{
    pawl_aggregator whole; /* members that an older program does not have are zero */
    pawl__table_row(given, 0, model->application->aggregator_size, &whole, sizeof whole);
    const pawl_aggregator *row  = &whole;
    pawl_code              code = check(row, error);
    if (code != PAWL_OK)
        return code;
    pawl__aggregator_model *made = &model->aggregators[model->aggregator_count];
    *made                        = (pawl__aggregator_model){
                               .aggregator = given,
                               .message    = row->handle->message(),
                               .name       = pawl_text_of(row->name),
                               .size       = row->size,
                               .max        = row->max,
                               .period     = row->period,
                               .lease      = row->lease != 0 ? row->lease : PAWL__AGGREGATOR_LEASE_DEFAULT,
                               .attempts_max =
            row->attempts_max != 0 ? row->attempts_max : PAWL__AGGREGATOR_ATTEMPTS_DEFAULT,
                               .own_sql = row->own_sql,
                               .does    = row->does};
    made->type = pawl_text_of(pawl_record_type(made->message));
    if (made->size == 0 && made->period == 0)
        made->size = PAWL__AGGREGATOR_SIZE_DEFAULT;
    if (pawl__model_aggregator(model, made->name) != NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "two aggregators are named %s", row->name);
    code = check_key(row, made->message, error);
    if (code != PAWL_OK)
        return code;
    model->aggregator_names[model->aggregator_count++] = made->name;
    pawl__binding *binding = pawl_arena_take(model->arena, sizeof *binding);
    if (binding == NULL)
        return PAWL_ENOMEM;
    *binding = (pawl__binding){.kind       = PAWL__BINDING_AGGREGATOR,
                               .handler    = row->handle,
                               .message    = made->message,
                               .aggregator = made};
    return pawl__model_bind(model, made->message, binding, error);
}

bool pawl__record_is_derived(const pawl_record *record, pawl_text type)
{
    for (int depth = 0; record->base != NULL && depth < PAWL__BASES_MAX; depth++) {
        record = record->base();
        if (pawl_text_equal(pawl_text_of(pawl_record_type(record)), type))
            return true;
    }
    return false;
}

/* Lists the stored types that the aggregator collects. Rows have the aggregator's own type; older programs stored
 * derived messages under their own types, so derived types of this endpoint are searched for, too. */
static pawl_code find_types(const pawl__model *model, pawl__aggregator_model *made)
{
    made->types = pawl_arena_take(model->arena, (model->type_count + 1) * sizeof made->types[0]);
    if (made->types == NULL)
        return PAWL_ENOMEM;
    made->types[made->type_count++] = made->type;
    for (size_t i = 0; i < model->type_count; i++)
        if (pawl__record_is_derived(model->types[i]->record, made->type))
            made->types[made->type_count++] = model->types[i]->type;
    return PAWL_OK;
}

pawl_code pawl__model_aggregators(pawl__model *model, pawl_error *error)
{
    size_t count       = pawl__list_count(model->spec->aggregators);
    model->aggregators = pawl_arena_take(model->arena, (count + 1) * sizeof model->aggregators[0]);
    model->aggregator_names =
        pawl_arena_take(model->arena, (count + 1) * sizeof model->aggregator_names[0]);
    if (model->aggregators == NULL || model->aggregator_names == NULL)
        return PAWL_ENOMEM;
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = build(model, model->spec->aggregators[i], error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = find_types(model, &model->aggregators[i]);
    return code;
}
