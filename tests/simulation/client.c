/* client.c - programs that send, and an operator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/client.h"

#include "simulation/simulation.h"

#include <string.h>

/* Sends one message, as a program outside would: until it is told that the message is there. */
void client_send(void *argument)
{
    const simulation_application *app    = simulation_app();
    int64_t                       number = (int64_t)(intptr_t)argument;
    simulation_message            it     = {.type = NULL};
    app->message(number, &it);
    for (bool is_sent = false; !is_sent;) {
        pawl_error        error   = PAWL_ERROR_INIT;
        pawl_sender      *sender  = NULL;
        pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = it.id, .delay = it.delay};
        pawl_code         code    = pawl_sender_open("sim:", NULL, &sender, &error);
        for (int i = 0; i < SIMULATION_QUEUES_MAX && it.queues[i] != NULL && code == PAWL_OK; i++)
            code = pawl_sender_send_json(sender, it.queues[i], &options, it.type,
                                         pawl_text_of(it.body), &error);
        if (code == PAWL_OK)
            code = pawl_sender_commit(sender, &error);
        pawl_sender_close(sender);
        is_sent = code == PAWL_OK;
        if (!is_sent)
            machine_pause(PAWL_MILLISECONDS(100));
    }
    if (app->sent != NULL)
        app->sent(number);
}

/* Sets a timeout that no endpoint handles. If the answer was lost, it may be there, or be set once more. */
void client_set_timeout(void *argument)
{
    pawl_timeout_row row  = {.generation = 0};
    pawl_code        code = PAWL_EBUSY;
    simulation_app()->timeout((int64_t)(intptr_t)argument, &row);
    row.due += machine_now();
    while (code != PAWL_OK && code != PAWL_EDUPLICATE) {
        pawl_error  error = PAWL_ERROR_INIT;
        pawl_store *store = NULL;
        code              = pawl_store_open("sim:", NULL, &store, &error);
        if (code == PAWL_OK)
            code = pawl_store_timeout_insert(store, &row, machine_now(), &error);
        pawl_store_close(store);
        machine_pause(PAWL_MILLISECONDS(100));
    }
}

/* ---- The operator ------------------------------------------------------------------------ */

#define OPERATOR PAWL_TEXT("operator")

/* Sends dead letters again, each in a commit of its own; what the store refuses or cannot do stays. Not those of a
 * saga's timeouts, which it may have cancelled meanwhile: nothing but the operator knows. Processes cancel none. */
void client_retry_dead(void *argument)
{
    pawl_error      error = PAWL_ERROR_INIT;
    pawl_store     *store = NULL;
    pawl_arena     *arena = pawl_arena_create(0);
    pawl_dead_query query = {.count_max = 1000};
    pawl_dead_rows  rows  = {.count = 0};
    pawl_code       code  = pawl_store_open("sim:", NULL, &store, &error);
    if (code == PAWL_OK)
        code = pawl_store_dead_find(store, &query, arena, &rows, &error);
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++) {
        pawl_dead_settle how = {.action = PAWL_DEAD_RETRY, .by = OPERATOR};
        const char      *headers =
            rows.items[i].message.headers.size > 0 ? rows.items[i].message.headers.data : "";
        if (strstr(headers, PAWL_HEADER_SAGA_ID) != NULL && strstr(headers, "_job\"") == NULL)
            continue;
        (void)pawl_store_dead_settle(store, &rows.items[i], 1, &how, machine_now(), NULL, &error);
    }
    pawl_store_close(store);
    pawl_arena_destroy(arena);
}

/* Pauses the queue of an endpoint, and lets its workers go on after `value` of the event. */
void client_pause_queue(void *argument)
{
    const plan_event *event = argument;
    pawl_text         queue = pawl_text_of(simulation_queue_of(event));
    for (int i = 0; i < 2; i++) {
        pawl_code code = PAWL_EBUSY;
        for (int tries = 0; code != PAWL_OK && (i == 1 || tries < 5); tries++) {
            pawl_error  error = PAWL_ERROR_INIT;
            pawl_store *store = NULL;
            code              = pawl_store_open("sim:", NULL, &store, &error);
            if (code == PAWL_OK)
                code = (i == 0 ? pawl_store_queue_pause : pawl_store_queue_resume)(
                    store, queue, OPERATOR, PAWL_TEXT("why not"), machine_now(), &error);
            pawl_store_close(store);
            machine_pause(PAWL_MILLISECONDS(500));
        }
        machine_pause(event->value);
    }
}
