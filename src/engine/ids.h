/* ids.h - ids that a replay makes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_IDS_H
#define PAWL_ENGINE_IDS_H

#include "pawl/base.h"

/* UUIDv5 over (endpoint, source or else the message in hand, version, index);
 * the encoding is unambiguous: each text follows its size (contracts O5). */
pawl_dispatch_id pawl__dispatch_id(pawl_text endpoint, pawl_text source, pawl_text message_id,
                                   int64_t version, int32_t index);

#endif
