/* ids.c - ids that a replay makes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/ids.h"

#include "base/dispatch.h"

pawl_dispatch_id pawl__dispatch_id(pawl_text endpoint, pawl_text source, pawl_text message_id,
                                   int64_t version, int32_t index)
{
    if (source.size == 0)
        return pawl__dispatch_id_of(endpoint, PAWL__SUBJECT_MESSAGE, message_id, version, index);
    return pawl_dispatch_id_make(endpoint, source, version, index);
}
