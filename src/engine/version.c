/* version.c - which version of its record a message was written in.
 *
 * The header pawl.version has the versions of the message's own type and of its base types, in the
 * order of pawl.base: "2,1,3". Versions of 1 at the end are left out, and a message all of whose
 * versions are 1 has no header: it costs nothing until a record changes, and producers that know
 * nothing of versions send version 1. Minor numbers ("2.7") are ignored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/headers.h"

#include "pawl/record.h"

#include <string.h>

#define DIGITS_MAX 9 /* of PAWL_RECORD_VERSION_MAX */

/* The item of a list with commas; size 0 behind its end. */
static pawl_text item_of(pawl_text list, size_t index)
{
    for (; list.size > 0; index--) {
        pawl_text item = pawl__list_next(&list);
        if (index == 0)
            return item;
    }
    return (pawl_text){.data = "", .size = 0};
}

/* The index of a type among the message's own and its base types. An aggregator's row has the
 * aggregator's type, and its own in a header. */
static pawl_code find_index(const pawl_message *message, pawl_text type, pawl_arena *arena,
                            bool *is_found, size_t *index)
{
    pawl_text bases, own;
    *is_found = false;
    pawl_code code =
        pawl__headers_value(message->headers, PAWL_TEXT(PAWL_HEADER_BASE), arena, &bases);
    if (code == PAWL_OK)
        code = pawl__headers_value(message->headers, PAWL_TEXT(PAWL_HEADER_TYPE), arena, &own);
    if (code != PAWL_OK)
        return code;
    for (*index = 1; bases.size > 0; ++*index) {
        *is_found = pawl_text_equal(pawl__list_next(&bases), type);
        if (*is_found)
            return PAWL_OK;
    }
    *index    = 0;
    *is_found = pawl_text_equal(own.data != NULL ? own : message->type, type);
    return PAWL_OK;
}

/* Reads "2" or "2.7". */
static bool parse(pawl_text text, int *version)
{
    size_t digits = 0;
    *version      = 0;
    for (; digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9'; digits++)
        *version = digits < DIGITS_MAX ? *version * 10 + (text.data[digits] - '0') : 0;
    if (digits == 0 || digits > DIGITS_MAX || *version == 0)
        return false;
    for (size_t i = digits; i < text.size; i++)
        if (text.data[i] != '.' && (text.data[i] < '0' || text.data[i] > '9'))
            return false;
    return digits == text.size || text.data[digits] == '.';
}

pawl_code pawl__version_of(const pawl_message *message, pawl_text type, pawl_arena *arena,
                           int *version, pawl_error *error)
{
    static const char word[] = PAWL_HEADER_VERSION;
    pawl_text         list, item;
    bool              is_found = false;
    size_t            index    = 0;
    *version                   = 1;
    if (message->headers.size == 0 || /* most messages have none */
        memmem(message->headers.data, message->headers.size, word, sizeof word - 1) == NULL)
        return PAWL_OK;
    pawl_code code =
        pawl__headers_value(message->headers, PAWL_TEXT(PAWL_HEADER_VERSION), arena, &list);
    if (code == PAWL_OK && list.size > 0)
        code = find_index(message, type, arena, &is_found, &index);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for a message's headers");
    if (list.size == 0 || !is_found)
        return PAWL_OK;
    item = item_of(list, index);
    if (item.size == 0 || parse(item, version))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EDECODE,
                          "header " PAWL_HEADER_VERSION " '%.*s': '%.*s' is not a version",
                          PAWL_TEXT_ARGS(list), PAWL_TEXT_ARGS(item));
}

pawl_code pawl__version_decode(const pawl_message *message, const pawl_record *record,
                               pawl_arena *arena, void *decoded, pawl_error *error)
{
    int       version;
    pawl_text body = message->body;
    pawl_text type = pawl_text_of(pawl_record_type(record));
    pawl_code code = pawl__version_of(message, type, arena, &version, error);
    if (code == PAWL_OK)
        code = pawl_record_upcast(record, version, body, arena, &body, error);
    return code == PAWL_OK ? pawl_record_decode(record, body, 0, arena, decoded, error) : code;
}
