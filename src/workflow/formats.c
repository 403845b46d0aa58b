/* formats.c - checks how the states of a saga are written and read (S26).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

#include <string.h>

/* Size of the struct's first version, the least that a program may give. */
#define SIZE_LEAST (offsetof(pawl_state_format, context) + sizeof(void *))

static pawl_code take(pawl__saga_model *made, const pawl_state_format *from,
                      pawl_state_format *format, pawl_error *error)
{
    const char *saga = made->saga->name;
    if (from->format_size < SIZE_LEAST)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: a format of %zu bytes, at least %zu are needed; it does "
                              "not begin with PAWL_STATE_FORMAT_HEAD",
                              saga, from->format_size, SIZE_LEAST);
    pawl__table_row(from, 0, (uint32_t)from->format_size, format, sizeof *format);
    if ((unsigned)format->times > PAWL_TIMES_MICROSOFT)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: times in form %d, which is none of pawl_times", saga,
                              (int)format->times);
    return PAWL_OK;
}

/* Correlation columns keep microseconds. A format of times that loses them would make each loaded state differ from
 * its column, as if the handler had changed the property. */
static pawl_code check_times(const pawl__saga_model *made, const pawl_correlation *correlation,
                             pawl_error *error)
{
    if (made->format.times < PAWL_TIMES_UNIX_MS || correlation->type != PAWL_VALUE_TIME)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "saga %s: correlation property '%.*s' is a time, which the form of times "
                          "in .format would cut to milliseconds; PAWL_TIMES_UNIX_US does not",
                          made->saga->name, PAWL_TEXT_ARGS(correlation->property));
}

/* `below` must rise from format to format, up to the current version, whose states `format` reads. */
static pawl_code check_below(const pawl__saga_model *made, size_t index, pawl_error *error)
{
    int version = pawl_record_version(made->state);
    int least   = index > 0 ? made->older[index - 1].below + 1 : 2;
    int below   = made->older[index].below;
    if (below >= least && below <= version)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "saga %s: format %zu of .older_formats is for versions below %d; it can "
                          "be for those below %d to %d, the version of record %s",
                          made->saga->name, index + 1, below, least, version, made->state->name);
}

pawl_code pawl__model_formats(pawl__model *model, pawl__saga_model *made, pawl_error *error)
{
    const pawl_state_format *from  = made->saga->format;
    size_t                   count = pawl__list_count(made->saga->older_formats);
    pawl_code                code  = PAWL_OK;
    if (from == NULL)
        from = model->spec->format;
    if (from != NULL)
        code = take(made, from, &made->format, error);
    made->format.stores_defaults |= made->saga->stores_defaults;
    if (code == PAWL_OK)
        code = check_times(made, &made->table.main, error);
    if (code == PAWL_OK)
        code = check_times(made, &made->table.transitional, error);
    if (code != PAWL_OK || count == 0)
        return code;
    made->older = pawl_arena_take(model->arena, count * sizeof made->older[0]);
    if (made->older == NULL)
        return PAWL_ENOMEM;
    for (; code == PAWL_OK && made->older_count < count; made->older_count++) {
        size_t i = made->older_count;
        code     = take(made, made->saga->older_formats[i], &made->older[i], error);
        if (code == PAWL_OK)
            code = check_below(made, i, error);
    }
    return code;
}
