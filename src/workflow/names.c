/* names.c - forms of names, and the tables' prefixes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/names.h"

#include "pawl/limits.h"

#include <string.h>

#define TABLE_NAME_SIZE_MAX 63 /* PostgreSQL's identifiers, in bytes (D5) */

static bool has_any(pawl_text text, const char *characters)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < ' ' || strchr(characters, text.data[i]) != NULL)
            return true;
    return false;
}

pawl_code pawl__name_check(const char *what, const char *name, pawl_error *error)
{
    pawl_text text = pawl_text_of(name);
    if (text.size == 0)
        return pawl_error_set(error, PAWL_ECONFIG, "%s has no name", what);
    if (text.size > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s name '%.40s...' has %zu bytes, the limit is %d", what, name,
                              text.size, PAWL_NAME_SIZE_MAX);
    if (!pawl_text_is_valid(text, NULL) || has_any(text, "\"\\"))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s name '%s' has a quote, a backslash, a control character or bytes "
                              "that are not UTF-8",
                              what, name);
    return PAWL_OK;
}

pawl_code pawl__table_name_check(const char *saga, pawl_text name, pawl_error *error)
{
    if (has_any(name, "[]`\"\\"))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: table name '%s' may not contain [ ] ` \" or \\; names are "
                              "quoted for you",
                              saga, name.data);
    if (name.size > TABLE_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: table name '%s' has %zu bytes, the limit is %d", saga,
                              name.data, name.size, TABLE_NAME_SIZE_MAX);
    return PAWL_OK;
}

pawl_code pawl__column_check(pawl_text property, pawl_error *error)
{
    size_t limit = TABLE_NAME_SIZE_MAX - strlen("Correlation_");
    if (has_any(property, "[]`\"\\") || property.size > limit)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "correlation property '%.80s' has a character that cannot be quoted, "
                              "or %zu bytes where the limit is %zu",
                              property.data, property.size, limit);
    return PAWL_OK;
}

pawl_text pawl__saga_prefix(const char *endpoint, const char *explicit_prefix, pawl_arena *arena)
{
    if (explicit_prefix != NULL)
        return pawl_arena_text(arena, pawl_text_of(explicit_prefix));
    pawl_text prefix = pawl_arena_printf(arena, "%s_", endpoint);
    for (char *c = (char *)prefix.data; c != NULL && *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
    return prefix;
}
