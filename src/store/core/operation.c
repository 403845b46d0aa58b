/* operation.c - the checks that the public operations share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/operation.h"

pawl_code pawl__operation_lease(const char *what, int64_t lease, pawl_error *error)
{
    if (lease > 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "%s: the lease is %lld microseconds, at least 1 is needed", what,
                          (long long)lease);
}

pawl_code pawl__operation_size(const char *what, int64_t size, pawl_error *error)
{
    if (size > 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "%s: the size is %lld, at least 1 is needed", what,
                          (long long)size);
}
