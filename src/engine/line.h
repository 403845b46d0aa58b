/* line.h - lines of history, for endpoints that keep it (engine->has_history): what each unit came
 * to, written in its commit.
 *
 *     pawl__lines_keep (a unit is kept) -> pawl__lines_count, pawl__lines_put (the change set)
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_line.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_LINE_H
#define PAWL_ENGINE_LINE_H

#include "engine/context.h"

/* Notes the sagas of the unit and what leaves it: after ids and versions are known. */
pawl_code pawl__lines_keep(pawl_context *ctx);
/* How many changes the batch has room for; at most. */
size_t pawl__lines_room(const pawl__batch *batch);
/* Adds the lines of the unit to the change set, in which there is room. */
void pawl__lines_put(pawl__batch *batch, const pawl__unit *unit, uint32_t group);

#endif
