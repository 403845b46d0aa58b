/* origin.h - the metadata of a saga's row.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_origin.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_ORIGIN_H
#define PAWL_ENGINE_ORIGIN_H

#include "engine/context.h"

/* The metadata of a saga that began in this batch: a JSON object. data NULL: out of memory. */
pawl_text pawl__origin_metadata(pawl__batch *batch, const pawl__entry *entry);
/* The metadata with the machine's time as that of the save, for sagas with .idle_after; for others as it is.
 * data NULL: out of memory. */
pawl_text pawl__origin_changed(pawl__batch *batch, const pawl__entry *entry, pawl_text metadata);
#define PAWL__SAGA_CHANGED "Changed"

#endif
