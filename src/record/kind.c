/* kind.c - integers of every width, and enums by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#include <stdio.h>

bool pawl__kind_is_integer(pawl_kind kind)
{
    return kind >= PAWL_KIND_INT16 && kind <= PAWL_KIND_UINT64;
}

pawl__range pawl__integer_range(pawl_kind kind)
{
    static const pawl__range ranges[] = {
        [PAWL_KIND_INT16] = {INT16_MIN, INT16_MAX}, [PAWL_KIND_INT32] = {INT32_MIN, INT32_MAX},
        [PAWL_KIND_INT64] = {INT64_MIN, INT64_MAX}, [PAWL_KIND_UINT16] = {0, UINT16_MAX},
        [PAWL_KIND_UINT32] = {0, UINT32_MAX},       [PAWL_KIND_UINT64] = {0, INT64_MAX},
    };
    return ranges[kind];
}

bool pawl__integer_get(pawl_kind kind, const void *from, int64_t *value)
{
    uint64_t large;
    switch (kind) {
    case PAWL_KIND_INT16: *value = *(const int16_t *)from; return true;
    case PAWL_KIND_INT32: *value = *(const int32_t *)from; return true;
    case PAWL_KIND_UINT16: *value = *(const uint16_t *)from; return true;
    case PAWL_KIND_UINT32: *value = *(const uint32_t *)from; return true;
    case PAWL_KIND_UINT64:
        large  = *(const uint64_t *)from;
        *value = large <= INT64_MAX ? (int64_t)large : INT64_MAX;
        return large <= INT64_MAX;
    default: *value = *(const int64_t *)from; return true;
    }
}

void pawl__integer_set(pawl_kind kind, void *to, int64_t value)
{
    switch (kind) {
    case PAWL_KIND_INT16: *(int16_t *)to = (int16_t)value; break;
    case PAWL_KIND_INT32: *(int32_t *)to = (int32_t)value; break;
    case PAWL_KIND_UINT16: *(uint16_t *)to = (uint16_t)value; break;
    case PAWL_KIND_UINT32: *(uint32_t *)to = (uint32_t)value; break;
    case PAWL_KIND_UINT64: *(uint64_t *)to = (uint64_t)value; break;
    default: *(int64_t *)to = value; break;
    }
}

int pawl__enum_find(const pawl_enum *enumeration, pawl_text name)
{
    for (size_t i = 0; i < enumeration->count; i++)
        if (pawl_text_equal(pawl_text_of(enumeration->names[i]), name))
            return (int)i;
    return -1;
}

const char *pawl__enum_names(const pawl_enum *enumeration, char text[PAWL__ENUM_NAMES_SIZE])
{
    size_t used = 0;
    text[0]     = '\0';
    for (size_t i = 0; i < enumeration->count; i++) {
        size_t room = PAWL__ENUM_NAMES_SIZE - used;
        int size = snprintf(text + used, room, "%s%s", i != 0 ? ", " : "", enumeration->names[i]);
        if (size < 0 || (size_t)size >= room) {
            snprintf(text + (used < PAWL__ENUM_NAMES_SIZE - 6 ? used : PAWL__ENUM_NAMES_SIZE - 6),
                     6, "%s", ", ...");
            break;
        }
        used += (size_t)size;
    }
    return text;
}
