/* client.h - threads of the process "client": one each for a message that is sent, and for a command of the
 * operator.
 *
 * Threads: each runs in one of its own.
 * Tests: tests/simulation/found
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_CLIENT_H
#define PAWL_SIMULATION_CLIENT_H

void client_send(void *number);        /* of the application's message */
void client_set_timeout(void *number); /* of the application's timeout */
void client_retry_dead(void *argument);
void client_pause_queue(void *event);

#endif
