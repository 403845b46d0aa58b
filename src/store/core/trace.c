/* trace.c - reports each call of a store to the trace hook. Without a hook a call only
 * checks whether there is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

#include <time.h>

static pawl_store_trace_fn *trace_function;
static void                *trace_context;

void pawl_store_trace_set(pawl_store_trace_fn *trace, void *context)
{
    trace_function = trace;
    trace_context  = context;
}

void pawl_store_trace_log(const pawl_store_call *call, void *context)
{
    char worker[PAWL_UUID_TEXT_SIZE + 1];
    (void)context;
    pawl_uuid_format(pawl_store_worker(call->store).uuid, worker);
    pawl_log(PAWL_LOG_DEBUG, "%s: worker %s: %s: %s after %lld us%s%s",
             pawl_store_scheme(call->store), worker, call->name, pawl_code_name(call->code),
             (long long)call->microseconds, call->text[0] != '\0' ? ": " : "", call->text);
}

static int64_t clock_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

pawl__timing pawl__timing_begin(const char *name)
{
    return trace_function != NULL ? (pawl__timing){.name = name, .begin_us = clock_us()}
                                  : (pawl__timing){.name = NULL};
}

pawl_code pawl__timing_end(pawl__timing call, const pawl_store *store, pawl_code code,
                           const pawl_error *error)
{
    if (call.name == NULL)
        return code;
    const pawl_store_call told = {.store = store,
                                  .name  = call.name,
                                  .code  = code,
                                  .text  = code != PAWL_OK && error != NULL ? error->text : "",
                                  .microseconds = clock_us() - call.begin_us};
    trace_function(&told, trace_context);
    return code;
}
