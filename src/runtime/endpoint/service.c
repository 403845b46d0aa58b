/* service.c - runs the steps of the service: outbox, projections, retention.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/projection/projection.h"
#include "runtime/retention/retention.h"

#define SET_BACK_MIN PAWL_SECONDS(1) /* a smaller step back is ignored */

pawl_code pawl__service_create(pawl_endpoint *endpoint, pawl_store *borrowed,
                               pawl__service **service, pawl_error *error)
{
    pawl__service *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the service");
    made->endpoint = endpoint;
    pawl__app_call_init(&made->app_call);
    made->store      = borrowed;
    made->owns_store = borrowed == NULL;
    made->arena      = pawl_arena_create(0);
    made->lease_name =
        pawl__lease_name("outbox", endpoint->model->endpoint, endpoint->model->arena);
    made->waiting           = pawl__source_table_create();
    made->unavailable.left  = pawl__source_table_create();
    made->unavailable.first = pawl__source_table_create();
    made->last_now          = pawl__machine_now(endpoint);
    made->sweep_due         = made->last_now;
    made->reap_due          = made->last_now;
    pawl__outbox_forget(made);
    pawl_random_seed(&made->random, endpoint->settings.seed != 0 ? endpoint->settings.seed + 1
                                                                 : pawl__system_seed());
    if (made->arena == NULL || made->lease_name.data == NULL || made->waiting.arena == NULL ||
        made->unavailable.left.arena == NULL || made->unavailable.first.arena == NULL) {
        pawl__service_destroy(made);
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the service");
    }
    pawl_code code = pawl__projections_create(endpoint, &made->app_call, &made->projections, error);
    if (code != PAWL_OK) {
        pawl__service_destroy(made);
        return code;
    }
    *service = made;
    return PAWL_OK;
}

void pawl__service_leave(pawl__service *service)
{
    pawl__outbox_forget(service);
    pawl__outbox_close(service);
    if (service->owns_store)
        pawl__endpoint_store_close(service->endpoint, &service->app_call, &service->store);
}

void pawl__service_destroy(pawl__service *service)
{
    if (service == NULL)
        return;
    pawl__service_leave(service);
    pawl__projections_destroy(service->projections);
    pawl__app_call_destroy(&service->app_call);
    pawl_arena_destroy(service->arena);
    pawl_arena_destroy(service->waiting.arena);
    pawl_arena_destroy(service->unavailable.left.arena);
    pawl_arena_destroy(service->unavailable.first.arena);
    pawl_free(service);
}

/* If the machine's clock was set back, resets all due times. Otherwise nothing would be done, and no lease renewed,
 * until the clock reaches them again. */
static void note_time(pawl__service *service, pawl_time now)
{
    if (now < pawl_time_add(service->last_now, -SET_BACK_MIN)) {
        pawl__outbox_forget(service);
        pawl__projections_forget(service->projections);
        service->sweep_due = now;
        service->reap_due  = now;
    }
    service->last_now = now;
}

/* Raises or clears the alarm in the store, if necessary. */
static void tell(pawl__service *service, const char *what, pawl__alarm *alarm, pawl_text lease)
{
    pawl_store *store = service->store;
    int64_t     now   = pawl__watch_now(service->endpoint);
    pawl_error  error = PAWL_ERROR_INIT;
    if (pawl_uuid_compare(alarm->by.uuid, pawl_store_worker(store).uuid) != 0)
        alarm->is_raised = false; /* a new handle: the alarm of the old one is gone */
    pawl__alarm_check_epoch(alarm, store);
    pawl__alarm_act act = pawl__alarm_next(alarm, now);
    if (act == PAWL__ALARM_NOTHING)
        return;
    pawl_alarm written = pawl__alarm_of(alarm, act, store, service->endpoint, pawl_text_of(what));
    written.lease      = lease;
    pawl_code code     = pawl__alarm_write(store, &written, act, &error);
    pawl__alarm_note(alarm, act, store, code, now);
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "alarm of %s: %s", what, error.text);
}

static void tell_alarms(pawl__service *service)
{
    tell(service, "retention", &service->sweep_alarm, (pawl_text){.data = "", .size = 0});
    tell(service, "route", &service->route_alarm, service->lease_name);
    if (service->endpoint->settings.transport == NULL)
        return;
    pawl__inbound_state_judge(service->endpoint, &service->inbound_alarm);
    tell(service, "inbound", &service->inbound_alarm, (pawl_text){.data = "", .size = 0});
}

pawl_code pawl__service_step(pawl__service *service, pawl_step *step, pawl_error *error)
{
    pawl_time now  = pawl__machine_now(service->endpoint);
    pawl_code code = PAWL_OK;
    note_time(service, now);
    if (service->store == NULL)
        code = pawl__endpoint_store_open(service->endpoint, &service->app_call, &service->store,
                                         error);
    if (code == PAWL_OK) /* also an alarm that the last handle raised */
        tell_alarms(service);
    if (code == PAWL_OK)
        code = pawl__outbox_run(service, step, error);
    if (code == PAWL_OK)
        code = pawl__projections_run(service->projections, service->store, step, error);
    if (code == PAWL_OK)
        code = pawl__retention_run(service, now, error);
    if (code == PAWL_OK)
        tell_alarms(service);
    if (code != PAWL_OK) {
        pawl__outbox_forget(service);
        pawl__projections_forget(service->projections);
        if (service->owns_store)
            pawl__endpoint_store_close(service->endpoint, &service->app_call, &service->store);
    }
    return code;
}

pawl_time pawl__service_due(const pawl__service *service)
{
    pawl_time due = pawl__sooner(service->sweep_due, service->reap_due);
    due           = pawl__sooner(due, pawl__projections_due(service->projections));
    if (service->endpoint->route_count == 0)
        return due;
    if (service->is_leader)
        due = pawl__sooner(due, service->lease_renewal);
    return pawl__sooner(due, service->outbox_due);
}
