/* ids.h - ids that a replay makes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_IDS_H
#define PAWL_ENGINE_IDS_H

#include "pawl/base.h"

/* As pawl_dispatch_id_make; for an empty source the id of the message in hand stands in (O5). */
pawl_dispatch_id pawl__dispatch_id(pawl_text endpoint, pawl_text source, pawl_text message_id,
                                   int64_t version, int32_t index);

#endif
