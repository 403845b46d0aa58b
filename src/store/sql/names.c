/* names.c - checks names of saga tables and their columns: refuses those that a database would refuse, cut or confuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/tables.h"

#include <string.h>
#include <strings.h>

pawl_code pawl__sql_prefix_check(const pawl__sql_dialect *dialect, const char *prefix,
                                 pawl_error *error)
{
    size_t size_max =
        dialect->prefix_size_max != 0 ? dialect->prefix_size_max : PAWL_PREFIX_SIZE_MAX;
    if (prefix[0] == '\0')
        return PAWL_OK;
    pawl_code code =
        pawl__sql_name_check(pawl_text_of(prefix), "the system prefix", size_max, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "%s", dialect->name);
}

/* Counts characters, not bytes. */
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

/* The index of the first byte that no name may have: a control character, which would end a line of the script, or in
 * dialects of capitals a byte that is not ASCII. Without one: the size. */
static size_t plain_size(const pawl__sql_dialect *dialect, pawl_text name)
{
    size_t i = 0;
    while (i < name.size && (unsigned char)name.data[i] >= ' ' && name.data[i] != 0x7F &&
           (!dialect->is_upper || (unsigned char)name.data[i] < 0x80))
        i++;
    return i;
}

static pawl_code check_identifier(const pawl__sql_dialect *dialect, const char *what,
                                  pawl_text name, pawl_error *error)
{
    size_t count = count_chars(name);
    size_t plain = plain_size(dialect, name);
    if (plain < name.size)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s '%.*s' has a character at byte %zu that %s has in no name", what,
                              PAWL_TEXT_ARGS(name), plain, dialect->name);
    if (dialect->name_chars_max == 0)
        return PAWL_OK;
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

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the names of saga tables");
}

/* Checks a name that pawl composes, and frees it. */
static pawl_code check_made(const pawl__sql_dialect *dialect, const char *what,
                            pawl__sql_text *name, pawl_error *error)
{
    pawl_code code = name->is_failed
                         ? no_memory(error)
                         : check_identifier(dialect, what, pawl__sql_text_of(name), error);
    pawl__sql_text_free(name);
    return code;
}

/* Checks the names of a correlation's column and index. */
static pawl_code check_correlation(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                                   const pawl_correlation *correlation, pawl_error *error)
{
    pawl__sql_text column = {0}, index = {0};
    pawl__sql_correlation_column(&column, dialect, correlation);
    pawl__sql_correlation_index(&index, dialect, table, correlation);
    pawl_code code = check_made(dialect, "column", &column, error);
    if (code != PAWL_OK) {
        pawl__sql_text_free(&index);
        return code;
    }
    return check_made(dialect, "index", &index, error);
}

bool pawl__sql_are_alike(const pawl__sql_dialect *dialect, pawl_text one, pawl_text other)
{
    return one.size == other.size &&
           (dialect->tells_case ? memcmp(one.data, other.data, one.size) == 0
                                : strncasecmp(one.data, other.data, one.size) == 0);
}

pawl_code pawl__sql_saga_fits(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                              pawl_error *error)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    pawl_code               code  = check_identifier(dialect, "saga table", table->name, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = check_correlation(dialect, table, list[i], error);
    if (code == PAWL_OK && count == 2 &&
        pawl__sql_are_alike(dialect, pawl__sql_property_of(dialect, list[0]),
                            pawl__sql_property_of(dialect, list[1])))
        code = pawl_error_set(
            error, PAWL_EINVAL, "the columns of properties '%.*s' and '%.*s' have one name in %s",
            PAWL_TEXT_ARGS(list[0]->property), PAWL_TEXT_ARGS(list[1]->property), dialect->name);
    return code;
}

/* ---- Several sagas -------------------------------------------------------- */

/* Refuses two sagas with an index of the same name: "if not exists" would find the first index, and not create the
 * second. */
static pawl_code check_indexes(const pawl__sql_dialect *dialect, const pawl_saga_table *one,
                               const pawl_saga_table *other, pawl_error *error)
{
    const pawl_correlation *ones[2], *others[2];
    size_t                  count       = pawl__sql_correlations(one, ones);
    size_t                  other_count = pawl__sql_correlations(other, others);
    pawl_code               code        = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count * other_count; i++) {
        pawl__sql_text a = {0}, b = {0};
        pawl__sql_correlation_index(&a, dialect, one, ones[i / other_count]);
        pawl__sql_correlation_index(&b, dialect, other, others[i % other_count]);
        if (a.is_failed || b.is_failed)
            code = no_memory(error);
        else if (pawl__sql_are_alike(dialect, pawl__sql_text_of(&a), pawl__sql_text_of(&b)))
            code = pawl_error_set(error, PAWL_EINVAL,
                                  "sagas %.*s and %.*s: indexes of their tables %.*s and %.*s have "
                                  "one name in %s, %s",
                                  PAWL_TEXT_ARGS(one->type), PAWL_TEXT_ARGS(other->type),
                                  PAWL_TEXT_ARGS(one->name), PAWL_TEXT_ARGS(other->name),
                                  dialect->name, a.data);
        pawl__sql_text_free(&a);
        pawl__sql_text_free(&b);
    }
    return code;
}

static pawl_code check_pair(const pawl__sql_dialect *dialect, const pawl_saga_table *one,
                            const pawl_saga_table *other, pawl_error *error)
{
    if (pawl__sql_are_alike(dialect, one->name, other->name))
        return pawl_error_set(error, PAWL_EINVAL,
                              "sagas %.*s and %.*s: their tables %.*s and %.*s have one name in %s",
                              PAWL_TEXT_ARGS(one->type), PAWL_TEXT_ARGS(other->type),
                              PAWL_TEXT_ARGS(one->name), PAWL_TEXT_ARGS(other->name),
                              dialect->name);
    return dialect->has_own_indexes ? PAWL_OK : check_indexes(dialect, one, other, error);
}

/* Refuses a saga table with the name of a shared table: only the one that comes first would be created. */
static pawl_code check_shared(const pawl__sql_dialect *dialect, const char *prefix,
                              const pawl_saga_table *saga, pawl_error *error)
{
    size_t    size = strlen(prefix);
    pawl_text rest = {.data = saga->name.data + size, .size = saga->name.size - size};
    if (saga->name.size < size ||
        !pawl__sql_are_alike(dialect, (pawl_text){.data = saga->name.data, .size = size},
                             pawl_text_of(prefix)))
        return PAWL_OK;
    for (size_t i = 0; i < pawl__sql_table_count; i++)
        if (pawl__sql_are_alike(dialect, rest, pawl_text_of(pawl__sql_tables[i].name)))
            return pawl_error_set(error, PAWL_EINVAL,
                                  "saga %.*s: table name '%.*s' is that of a table that all "
                                  "endpoints share: name the saga's table otherwise",
                                  PAWL_TEXT_ARGS(saga->type), PAWL_TEXT_ARGS(saga->name));
    return PAWL_OK;
}

pawl_code pawl__sql_sagas_check(const pawl__sql_dialect *dialect, const char *prefix,
                                const pawl_saga_table *const *sagas, size_t count,
                                pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        code = pawl__sql_saga_check(dialect, sagas[i], error);
        if (code == PAWL_OK)
            code = check_shared(dialect, prefix, sagas[i], error);
        for (size_t k = 0; code == PAWL_OK && k < i; k++)
            code = check_pair(dialect, sagas[k], sagas[i], error);
    }
    return code;
}
