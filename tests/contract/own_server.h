/* own_server.h - a server of the test's own, which it stops, kills and starts again: a script of tests/servers runs it.
 *
 *     own_server_begin -> { own_server_run }* -> own_server_end
 *
 * Threads: one.
 * Tests: tests/contract/test_postgres_restart.c, test_rabbitmq_restart.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_OWN_SERVER_H
#define PAWL_TESTS_CONTRACT_OWN_SERVER_H

#include <stdbool.h>

extern struct own_server {
    char folder[100];
    char script[600];
    int  port;
} own;

/* Starts the server of tests/servers/NAME.sh, which takes so many ports from own.port on. */
bool own_server_begin(const char *name, int port_count);
/* Kills it, and removes its files. */
void own_server_end(void);
/* A verb of the script; `words` follow the port. */
bool own_server_run(const char *verb, const char *words);
/* Fails the test unless it works. */
void own_server_must_run(const char *verb, const char *words);

#endif
