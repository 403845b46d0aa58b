/* path.c - the path of a field in a record, for error texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#include <stdio.h>

/* Writes `piece` before the text that begins at `start`. Returns the new start, or 0 when there is no room. */
static size_t put_before(char *text, size_t start, const char *piece)
{
    size_t size = strlen(piece);
    if (size > start)
        return 0;
    memcpy(text + start - size, piece, size);
    return start - size;
}

/* Writes one step before the text: "name" or "name[3]", with a dot behind it unless it is the last. */
static size_t put_step(char *text, size_t start, const pawl__path *path, bool is_last)
{
    char index[32] = "";
    if (path->index != PAWL__NO_INDEX)
        snprintf(index, sizeof index, "[%zu]", path->index);
    if (!is_last)
        start = put_before(text, start, ".");
    start = start != 0 ? put_before(text, start, index) : 0;
    return start != 0 ? put_before(text, start, pawl_field_json(path->field)) : 0;
}

const char *pawl__path_text(const pawl__path *path, char text[PAWL__PATH_TEXT_SIZE])
{
    if (path->field == NULL)
        return path->record->name;
    size_t start = PAWL__PATH_TEXT_SIZE - 1;
    text[start]  = '\0';
    for (const pawl__path *step = path; step->field != NULL && start != 0; step = step->parent) {
        size_t next = put_step(text, start, step, step == path);
        if (next == 0 && step == path)
            return pawl_field_json(path->field);
        if (next == 0)
            break;
        start = next;
    }
    return text + start;
}

bool pawl__path_is_secret(const pawl__path *path)
{
    for (; path != NULL; path = path->parent)
        if (path->field != NULL && path->field->secret)
            return true;
    return false;
}

pawl_code pawl__path_error(const pawl__path *path, pawl_error *error, pawl_code code,
                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(error, code, format, arguments);
    va_end(arguments);
    char text[PAWL__PATH_TEXT_SIZE];
    return pawl_error_wrap(error, code, "%s", pawl__path_text(path, text));
}
