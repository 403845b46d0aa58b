/* operate.h - includes everything that a program for operators needs: a tool, a dashboard, a supervisor.
 *
 * The calls on a store (operations.h), its lists and counts (store_calls.h), health (observe.h),
 * endpoints that are stepped (loop.h), and checks whether a new version of an application can read the stored
 * rows (upgrade.h). pawl.h is included, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_OPERATE_H
#define PAWL_OPERATE_H

#include "pawl/loop.h"
#include "pawl/observe.h"
#include "pawl/operations.h"
#include "pawl/pawl.h"
#include "pawl/record.h"
#include "pawl/store_calls.h"
#include "pawl/upgrade.h"

#endif
