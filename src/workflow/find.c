/* find.c - looks up parts of a model by their names. The command has a copy of this file (CMakeLists.txt).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

size_t pawl__model_type_index(const pawl__model *model, pawl_text type)
{
    size_t low = 0, high = model->type_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pawl_text_compare(model->types[middle]->type, type) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const pawl__type_model *pawl__model_type(const pawl__model *model, pawl_text type)
{
    size_t index    = pawl__model_type_index(model, type);
    bool   is_found = index < model->type_count && pawl_text_equal(model->types[index]->type, type);
    return is_found ? model->types[index] : NULL;
}

const pawl__apply_model *pawl__model_apply(const pawl__stream_model *stream, pawl_text type)
{
    return PAWL__ROW_OF(pawl__apply_model, type, stream->applies, stream->apply_count, type);
}

const pawl__projection_on *pawl__model_projection_on(const pawl__projection_model *projection,
                                                     pawl_text                     type)
{
    return PAWL__ROW_OF(pawl__projection_on, type, projection->on, projection->on_count, type);
}

const pawl__binding *pawl__model_timeout(const pawl__model *model, pawl_text saga_type,
                                         pawl_text name)
{
    for (size_t i = 0; i < model->timeout_count; i++)
        if (pawl_text_equal(model->timeouts[i].name, name) &&
            pawl_text_equal(model->timeouts[i].saga->table.type, saga_type))
            return model->timeouts[i].binding;
    return NULL;
}

const pawl__saga_model *pawl__model_saga(const pawl__model *model, pawl_text saga_type)
{
    return PAWL__ROW_OF(pawl__saga_model, table.type, model->sagas, model->saga_count, saga_type);
}

const pawl__aggregator_model *pawl__model_aggregator(const pawl__model *model, pawl_text name)
{
    return PAWL__ROW_OF(pawl__aggregator_model, name, model->aggregators, model->aggregator_count,
                        name);
}
