/* pawl.h - includes everything that an application needs.
 *
 * Records (record_types.h) describe messages and saga state; tables (application.h)
 * say which function handles what; handlers act through their context
 * (context.h); an endpoint (endpoint.h) runs it all on a store.
 *
 * Three headers include all others; a program includes one of them:
 *
 *     pawl/pawl.h      applications; pawl/test.h beside it is for their tests,
 *                      record.h for upcasters
 *     pawl/operate.h   tools and dashboards: reading a store and changing its rows
 *     pawl/driver.h    stores and transports
 *
 * Other headers may also be included by themselves, as loop.h by a program with an event loop of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_PAWL_H
#define PAWL_PAWL_H

#include "pawl/application.h"
#include "pawl/context.h"
#include "pawl/endpoint.h"
#include "pawl/process.h"

/* The version of these headers; pawl_version() returns that of the library.
 * #if PAWL_VERSION_NUMBER >= 10200 is true for 1.2.0 and later. */
#define PAWL_VERSION "0.2.0"
#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 2
#define PAWL_VERSION_PATCH 0
#define PAWL_VERSION_NUMBER \
    (PAWL_VERSION_MAJOR * 10000 + PAWL_VERSION_MINOR * 100 + PAWL_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that is running. Static text. */
PAWL_API const char *pawl_version(void);

#ifdef __cplusplus
}
#endif
#endif
