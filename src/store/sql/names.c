/* names.c - identifiers of saga tables that a database would refuse or cut.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/tables.h"

#include <strings.h>

/* Characters, not bytes. */
static size_t count_chars(pawl_text name)
{
    size_t count = 0;
    for (size_t i = 0; i < name.size; i++)
        count += ((unsigned char)name.data[i] & 0xC0) != 0x80;
    return count;
}

/* The first byte of a character above U+FFFF is 0xF0 or more. */
static bool has_supplementary(pawl_text name)
{
    for (size_t i = 0; i < name.size; i++)
        if ((unsigned char)name.data[i] >= 0xF0)
            return true;
    return false;
}

static pawl_code check_identifier(const pawl__sql_dialect *dialect, const char *what,
                                  pawl_text name, pawl_error *error)
{
    size_t count = count_chars(name);
    if (count > dialect->name_chars_max)
        return pawl_error_set(error, PAWL_EINVAL, "%s '%.*s' has %zu characters, limit %zu in %s",
                              what, PAWL_TEXT_ARGS(name), count, dialect->name_chars_max,
                              dialect->name);
    if (has_supplementary(name))
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s '%.*s' has a character above U+FFFF, which %s has in no name",
                              what, PAWL_TEXT_ARGS(name), dialect->name);
    if (name.data[name.size - 1] == ' ')
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s '%.*s' ends with a space, which %s has in no name", what,
                              PAWL_TEXT_ARGS(name), dialect->name);
    return PAWL_OK;
}

/* The index has the longest name that is made of a property. */
static pawl_code check_correlation(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                                   const pawl_correlation *correlation, pawl_error *error)
{
    pawl__sql_text index = {0};
    pawl__sql_correlation_index(&index, dialect, table, correlation);
    pawl_code code =
        index.is_failed
            ? pawl_error_set(error, PAWL_ENOMEM,
                             "out of memory for the name of an "
                             "index")
            : check_identifier(dialect, "index",
                               (pawl_text){.data = index.data, .size = index.size}, error);
    pawl__sql_text_free(&index);
    return code;
}

/* Columns are told apart without regard to case there. */
static bool are_alike(pawl_text one, pawl_text other)
{
    return one.size == other.size && strncasecmp(one.data, other.data, one.size) == 0;
}

pawl_code pawl__sql_saga_fits(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                              pawl_error *error)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    if (dialect->name_chars_max == 0)
        return PAWL_OK;
    pawl_code code = check_identifier(dialect, "saga table", table->name, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = check_correlation(dialect, table, list[i], error);
    if (code == PAWL_OK && count == 2 && are_alike(list[0]->property, list[1]->property))
        code = pawl_error_set(
            error, PAWL_EINVAL, "the columns of properties '%.*s' and '%.*s' have one name in %s",
            PAWL_TEXT_ARGS(list[0]->property), PAWL_TEXT_ARGS(list[1]->property), dialect->name);
    return code;
}
