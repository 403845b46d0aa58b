/* recovery.h - the rows of pawl/recovery.h that are in force for an endpoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_RECOVERY_H
#define PAWL_ENGINE_RECOVERY_H

#include "pawl/limits.h"
#include "pawl/recovery.h"

typedef struct pawl__recovery {
    pawl_recovery rows[PAWL_RECOVERY_ROWS_MAX];
    size_t        count;
} pawl__recovery;

/* Delay of a message whose saga another worker has; the pause of a worker that found nothing else
 * to do, too. */
#define PAWL__ELSEWHERE_WAIT PAWL_MILLISECONDS(20)

#endif
