/* outbox.h - the words that stand in the columns of the outbox.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OUTBOX_H
#define PAWL_STORE_POSTGRES_OUTBOX_H

#include "pawl/change.h"

extern const pawl_text pawl__postgres_outbox_states[];   /* by pawl_outbox_state */
extern const pawl_text pawl__postgres_outbox_outcomes[]; /* by pawl_attempt_outcome */

#endif
