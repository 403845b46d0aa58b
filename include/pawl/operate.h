/* operate.h - everything that a program of operators needs: a tool, a dashboard, a supervisor.
 *
 * The calls on a store (operations.h), its lists and figures (store_calls.h), health (observe.h),
 * endpoints that are stepped (loop.h), and what a new version of an application would do to the rows
 * that are there (upgrade.h). It includes pawl.h.
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
