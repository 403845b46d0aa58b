/* alarm.c - an alarm of the endpoint's service in the store: raised, and ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_alarm.h"
#include "runtime/runtime.h"

/* A store that cannot be written says nothing: it is told again after as many failed sweeps, or by the next sweep, or
 * try of a route. */
void pawl__service_alarm(pawl__service *service, pawl_text what, bool *is_alarmed, bool is_raised,
                         pawl_text text)
{
    const pawl_alarm alarm = {.worker   = pawl_store_worker(service->store),
                              .endpoint = service->endpoint->model->endpoint,
                              .what     = what,
                              .text     = text,
                              .since    = pawl__machine_now(service->endpoint)};
    pawl_error       error = PAWL_ERROR_INIT;
    if (is_raised == *is_alarmed)
        return;
    pawl_code code = is_raised ? pawl_store_alarm_raise(service->store, &alarm, &error)
                               : pawl_store_alarm_end(service->store, &alarm, &error);
    if (code == PAWL_OK)
        *is_alarmed = is_raised;
    else
        pawl_log(PAWL_LOG_DEBUG, "alarm of %.*s: %s", PAWL_TEXT_ARGS(what), error.text);
}
