/* pawl.h - everything an application needs.
 *
 * Records (record.h) describe messages and saga state; tables (application.h)
 * say which function handles what; handlers act through their context
 * (context.h); an endpoint (endpoint.h) runs it all on a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_PAWL_H
#define PAWL_PAWL_H

#include "pawl/application.h"
#include "pawl/base.h"
#include "pawl/context.h"
#include "pawl/endpoint.h"
#include "pawl/limits.h"
#include "pawl/process.h"
#include "pawl/record.h"
#include "pawl/schedule.h"
#include "pawl/store.h"

#define PAWL_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that is running. Static text. */
PAWL_API const char *pawl_version(void);

#ifdef __cplusplus
}
#endif
#endif
