/* module.c - the module's table of functions, which start and stop a server, an exporter, or both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/carrier.h"

typedef struct carrier {
    pawl__server   *server;   /* or NULL */
    pawl__exporter *exporter; /* or NULL */
} carrier;

static void stop(void *context)
{
    carrier *made = context;
    pawl__server_stop(made->server);
    pawl__exporter_stop(made->exporter);
    pawl_free(made);
}

static void wake(void *context)
{
    pawl__exporter_wake(((carrier *)context)->exporter);
}

static pawl_code start(const pawl_observe_plan *plan, void **context, int *port, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    carrier  *made = pawl_allocate(sizeof *made);
    *port          = 0;
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a server");
    if (plan->port != 0)
        code = pawl__server_start(plan, &made->server, port, error);
    if (code == PAWL_OK && plan->otlp != NULL)
        code = pawl__exporter_start(plan, &made->exporter, error);
    if (code != PAWL_OK) {
        stop(made);
        return code;
    }
    *context = made;
    return PAWL_OK;
}

const pawl_observe_ops pawl_observe_module = {
    .ops_size   = sizeof(pawl_observe_ops),
    .start      = start,
    .wake       = wake,
    .stop       = stop,
    .serve      = pawl__pages_start,
    .serve_stop = pawl__pages_stop,
};
