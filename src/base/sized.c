/* sized.c - reads and writes structs of programs that were built with older headers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sized.h"

#include <string.h>

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

pawl_code pawl__sized_check(const void *given, size_t size, const char *what, const char *begin,
                            pawl_error *error)
{
    size_t said = size_of(given);
    if (said >= sizeof said && said <= size)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "%s: their size is %zu bytes, the limit is %zu; begin with %s", what,
                          said, size, begin);
}

pawl_code pawl__sized_read(const void *given, void *taken, size_t size, const char *what,
                           const char *begin, pawl_error *error)
{
    pawl_code code = given != NULL ? pawl__sized_check(given, size, what, begin, error) : PAWL_OK;
    if (code == PAWL_OK && given != NULL)
        memcpy(taken, given, size_of(given));
    memcpy(taken, &size, sizeof size);
    return code;
}

void pawl__sized_write(void *to, const void *from)
{
    size_t begin = sizeof(size_t);
    memcpy((char *)to + begin, (const char *)from + begin, size_of(to) - begin);
}
