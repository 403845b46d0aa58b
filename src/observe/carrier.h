/* carrier.h - the module that carries health, metrics and traces out of the
 * process: a small HTTP server, a thread that posts to a collector, and a server of
 * pages for the console.
 *
 *     start -> (requests are answered, exports are posted) -> stop
 *
 * The texts come from the source that the library gives; this module knows sockets
 * and URLs only.
 *
 * Tests: tests/unit/observe/test_runtime_observe.c, test_runtime_observe_export.c,
 * test_runtime_observe_http.c, test_runtime_observe_module.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_OBSERVE_CARRIER_H
#define PAWL_OBSERVE_CARRIER_H

#include "pawl/observe.h"

/* server.c */
typedef struct pawl__server pawl__server;
pawl_code pawl__server_start(const pawl_observe_plan *plan, pawl__server **server, int *port,
                             pawl_error *error);
void      pawl__server_stop(pawl__server *server); /* accepts NULL */

/* A socket that listens at a numeric address; the caller closes it. `*port` is the one that it has. */
pawl_code pawl__listen(const char *address, int port, int *fd, int *got, pawl_error *error);
/* pages.c: the calls `serve` and `serve_stop` of the module. */
pawl_code pawl__pages_start(const pawl_serve_plan *plan, void **server, int *port,
                            pawl_error *error);
void      pawl__pages_stop(void *server); /* accepts NULL */

/* exporter.c */
typedef struct pawl__exporter pawl__exporter;
pawl_code pawl__exporter_start(const pawl_observe_plan *plan, pawl__exporter **exporter,
                               pawl_error *error);
void      pawl__exporter_wake(pawl__exporter *exporter); /* accepts NULL */
void      pawl__exporter_stop(pawl__exporter *exporter); /* accepts NULL */

/* module.c: the symbol. */
extern PAWL_API const pawl_observe_ops pawl_observe_module;

#endif
