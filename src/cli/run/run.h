/* run.h - `pawl run`: what its files share.
 *
 *     run.c         the verb: load -> settings -> pawl_application_run until a signal -> unload
 *     settings.c    the options of the command line, the file and the application, by precedence
 *     words.c       parses and prints routes, rows of recovery and limits of health
 *     supervise.c   --restart: a parent that starts the process again; messages to systemd
 *     worker.c      `pawl worker`: the processes that run now
 *
 * Tests: tests/system/command_run.sh, command_options.sh, command_restart.sh, command_service.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_RUN_H
#define PAWL_CLI_RUN_H

#include "cli/cli.h"
#include "runtime/endpoint/option_rows.h"

/* ---- Routes: NAME=URL#QUEUE ------------------------------------------------- */

#define PAWL__THROUGH_OUTBOX "outbox:" /* instead of a URL: this store, through the outbox */

/* Parses a route; its parts are copied into the arena. PAWL_EINVAL. */
pawl_code pawl__route_read(const char *text, pawl_arena *arena, pawl_route *route,
                           pawl_error *error);

#define PAWL__ROUTE_TEXT_SIZE (PAWL_URL_SIZE_MAX * 2)
/* As it would be given, without a password; cut to the size. Returns `text`. */
const char *pawl__route_words(const pawl_route *route, char text[PAWL__ROUTE_TEXT_SIZE]);

/* ---- Rows of recoverability (pawl/recovery.h) -------------------------------- *
 *
 *     code=EUNREACHABLE type=charge immediate=0 delayed=10 delay=1m delay-max=2h then=discard
 *
 * Each word may be left out. `immediate=0` means no retries, while 0 in pawl_recovery means the default. */

/* Rows of one place: of the command line, or of a part of the file. */
typedef struct pawl__recovery_rows {
    pawl_recovery items[PAWL_RECOVERY_ROWS_MAX];
    size_t        lines[PAWL_RECOVERY_ROWS_MAX]; /* of the file; 0: none */
    size_t        count;
} pawl__recovery_rows;

/* Parses a row and adds it. PAWL_EINVAL names the word and the limit, or an earlier row of the same place that applies
 * to all failures of this one, which would never be used. */
pawl_code pawl__recovery_add(pawl__recovery_rows *rows, const char *text, size_t line,
                             pawl_arena *arena, pawl_error *error);
/* Adds the row unless an earlier one applies to all its failures. False: the list is full. */
bool pawl__recovery_join(pawl__recovery_rows *rows, const pawl_recovery *row, size_t line);
/* The row as it would be given; in the arena. */
const char *pawl__recovery_text(const pawl_recovery *row, pawl_arena *arena);

/* ---- systemd ------------------------------------------------------------------- *
 *
 * READY=1 when all endpoints run, STOPPING=1 when it stops. A service of Type=notify has a socket in NOTIFY_SOCKET;
 * without it every call does nothing. libsystemd is not used: it would be one more library, for two datagrams. */

#define PAWL__NOTIFY_STOPPING "STOPPING=1" /* an exit without it is a crash for --restart */

/* Connects to NOTIFY_SOCKET, a path or "@NAME"; logs a warning when that fails. */
void pawl__notify_open(void);
/* Sends states to this socket from now on. In a child of --restart: the parent reads it and passes them on. */
void pawl__notify_through(int socket);
/* Sends "READY=1\nSTATUS=...", from any thread and from a signal handler. Never waits: what cannot be sent is lost. */
void pawl__notify(const char *state);

/* ---- --restart: a parent process, which records a crash of its child and starts another ---- */

/* Returns true in each child, which runs the endpoints; false in the parent, after the last child: `exit_code` is then
 * that of this child, or 128 plus the signal that killed it. Called while the process has one thread, and no store
 * open. `listen` installs the signal handlers of each child, before a signal can reach it. */
bool pawl__supervise(const pawl__store_fields *at, void (*listen)(void), int *exit_code);

#endif
