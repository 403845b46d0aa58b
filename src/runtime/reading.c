/* reading.c - notes and describes how the reading from a broker stands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/reading.h"

#include "base/cut.h"
#include "runtime/runtime.h"

#include <stdio.h>

static void set_state(pawl_endpoint *endpoint, bool is_connected)
{
    endpoint->reading.is_connected = is_connected;
    endpoint->reading.since        = pawl__watch_now(endpoint);
    pawl__metric_set(&endpoint->metrics, PAWL__METRIC_INTAKE_CONNECTED, is_connected);
}

void pawl__reading_begin(pawl_endpoint *endpoint)
{
    pthread_mutex_lock(&endpoint->mutex);
    set_state(endpoint, false);
    (void)snprintf(endpoint->reading.why, sizeof endpoint->reading.why, "not connected yet");
    pthread_mutex_unlock(&endpoint->mutex);
}

void pawl__reading_note(pawl_endpoint *endpoint, pawl_code code, const pawl_error *error)
{
    pawl__reading *reading = &endpoint->reading;
    const char    *why     = error != NULL ? error->text : pawl_code_name(code);
    pthread_mutex_lock(&endpoint->mutex);
    if (reading->is_connected != (code == PAWL_OK))
        set_state(endpoint, code == PAWL_OK);
    if (code != PAWL_OK &&
        (size_t)snprintf(reading->why, sizeof reading->why, "%s", why) >= sizeof reading->why)
        pawl__text_end_cut(reading->why, sizeof reading->why);
    pthread_mutex_unlock(&endpoint->mutex);
}

void pawl__reading_describe(pawl_endpoint *endpoint, char *text, size_t size)
{
    const pawl__reading *reading = &endpoint->reading;
    int                  length  = 0;
    text[0]                      = '\0';
    pthread_mutex_lock(&endpoint->mutex);
    int64_t lasted = pawl__watch_now(endpoint) - reading->since;
    if (endpoint->settings.transport != NULL && !reading->is_connected)
        length = snprintf(text, size,
                          "endpoint %.*s: nothing has been taken from its broker for %lld s: %s",
                          PAWL_TEXT_ARGS(endpoint->model->endpoint),
                          (long long)(lasted / PAWL_SECONDS(1)), reading->why);
    pthread_mutex_unlock(&endpoint->mutex);
    if ((size_t)length >= size)
        pawl__text_end_cut(text, size);
}
