/* elsewhere.h - units whose saga another worker has in hand.
 *
 *     leave -> load -> leave -> put_back -> run (unit_put_back) -> give_way
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_elsewhere.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_ELSEWHERE_H
#define PAWL_ENGINE_ELSEWHERE_H

#include "engine/batch.h"

/* Leaves alone what other workers of the endpoint work on: sagas that are not loaded yet, by their
 * main value, and loaded ones by their id, which a timeout or a finder knows alone. A unit that waits
 * for row locks, or needs several sagas, asks nobody. */
void pawl__elsewhere_leave(pawl__batch *batch, pawl__entry_key key);
/* Puts back the units whose saga another worker has. */
void pawl__elsewhere_put_back(pawl__batch *batch);
void pawl__unit_put_back(pawl__unit *unit);
/* When no unit ran because all their sagas are elsewhere, the claims are freed and nothing is
 * written. */
void pawl__elsewhere_give_way(pawl__batch *batch);

#endif
