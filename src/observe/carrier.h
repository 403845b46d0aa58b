/* carrier.h - the module libpawl-observe.so: an HTTP server for health and metrics, a
 * thread that posts traces and metrics to a collector, and an HTTP server for the pages of
 * `pawl console`.
 *
 *     start -> (requests are answered, exports are posted) -> stop
 *
 * The library makes the texts (src/runtime/operate/observe); this module knows sockets
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

#include <microhttpd.h>

/* server.c */
typedef struct pawl__server pawl__server;
pawl_code pawl__server_start(const pawl_observe_plan *plan, pawl__server **server, int *port,
                             pawl_error *error);
void      pawl__server_stop(pawl__server *server); /* accepts NULL */

/* Starts a daemon that listens at a numeric address, with a thread for each connection. `*got`: the port in use,
 * as `port` may be PAWL_OBSERVE_PORT_ANY. The options end with MHD_OPTION_END. */
pawl_code pawl__daemon_start(const char *address, int port, MHD_AccessHandlerCallback answer,
                             void *context, const struct MHD_OptionItem *options,
                             struct MHD_Daemon **daemon, int *got, pawl_error *error);
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

/* module.c: the symbol that the library looks up. */
extern PAWL_API const pawl_observe_ops pawl_observe_module;

#endif
