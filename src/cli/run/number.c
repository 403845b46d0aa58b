/* number.c - fields of an endpoint's options that are numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/number.h"

#include <string.h>

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
