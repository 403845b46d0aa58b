/* settings_list.c - the list that `pawl run --show-options` prints: its lines, and the limits of health; numbers
 * among the options of an endpoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/run.h"
#include "cli/run/settings.h"

#include <string.h>

pawl_code pawl__setting_add(pawl__setting_list *list, pawl__setting made, const char *value,
                            size_t line, const char *from, pawl_error *error)
{
    pawl_arena    *arena = list->arena;
    pawl__setting *grown =
        pawl_arena_grow(arena, list->items, list->count, &list->capacity, sizeof *grown);
    made.value = pawl_arena_text(arena, pawl_text_of(value));
    made.from  = line != 0 ? pawl_arena_printf(arena, "%s:%zu", list->file, line)
                           : pawl_arena_text(arena, pawl_text_of(from));
    made.line  = (int64_t)line;
    if (line != 0)
        made.file = pawl_text_of(list->file);
    if (grown == NULL || made.value.data == NULL || made.from.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    list->items          = grown;
    grown[list->count++] = made;
    return PAWL_OK;
}

pawl_code pawl__limits_list(const pawl__limits *limits, pawl__setting_list *list, pawl_error *error)
{
    static const pawl__setting made = {.option = PAWL_TEXT_INIT("health")};
    char                       text[160];
    pawl_code                  code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && pawl__limit_text(limits, i, text, sizeof text); i++)
        code = pawl__setting_add(list, made, text, limits->is_given[i] ? 0 : limits->lines[i],
                                 limits->is_given[i] ? "command line" : "built in", error);
    return code;
}

/* ---- Numbers --------------------------------------------------------------- */

void pawl__number_put(pawl_endpoint_options *options, const pawl__number_row *row, int64_t value)
{
    char *field = (char *)options + row->offset;
    if (value == 0)
        value = -1;
    int32_t narrow = (int32_t)value;
    if (row->size == sizeof value)
        memcpy(field, &value, sizeof value);
    else
        memcpy(field, &narrow, sizeof narrow);
}

int64_t pawl__number_get(const pawl_endpoint_options *options, const pawl__number_row *row)
{
    const char *field = (const char *)options + row->offset;
    int64_t     value;
    int32_t     narrow;
    memcpy(&narrow, field, sizeof narrow);
    if (row->size == sizeof value)
        memcpy(&value, field, sizeof value);
    else
        value = narrow;
    return value;
}
