/* run.h - `pawl run`: what its files share.
 *
 *     run.c         the verb: load -> settings -> pawl_application_run until a signal -> unload
 *     settings.c    the options of the command line, the file and the application, by precedence
 *     words.c       routes, rows of recovery and limits of health, as words
 *     supervise.c   --restart: a parent that starts the process again; and systemd is told
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

/* Cuts a copy in the arena into pieces. PAWL_EINVAL. */
pawl_code pawl__route_read(const char *text, pawl_arena *arena, pawl_route *route,
                           pawl_error *error);

#define PAWL__ROUTE_TEXT_SIZE (PAWL_URL_SIZE_MAX * 2)
/* As it would be given, without a password; cut to the size. Returns `text`. */
const char *pawl__route_words(const pawl_route *route, char text[PAWL__ROUTE_TEXT_SIZE]);

/* ---- Rows of recoverability (pawl/recovery.h) -------------------------------- *
 *
 *     code=EUNREACHABLE type=charge immediate=0 delayed=10 delay=1m delay-max=2h then=discard
 *
 * Each word may be left out; in words 0 retries are none. */

/* Rows of one place: of the command line, or of a part of the file. */
typedef struct pawl__recovery_rows {
    pawl_recovery items[PAWL_RECOVERY_ROWS_MAX];
    size_t        lines[PAWL_RECOVERY_ROWS_MAX]; /* of the file; 0: none */
    size_t        count;
} pawl__recovery_rows;

/* Reads a row and adds it. PAWL_EINVAL names the word and the limit; a row that is hidden by an earlier
 * one of the place is refused, too. */
pawl_code pawl__recovery_add(pawl__recovery_rows *rows, const char *text, size_t line,
                             pawl_arena *arena, pawl_error *error);
/* Adds the row unless an earlier one takes all that it is for. False: there is no room. */
bool pawl__recovery_join(pawl__recovery_rows *rows, const pawl_recovery *row, size_t line);
/* The row as it would be given; in the arena. */
const char *pawl__recovery_text(const pawl_recovery *row, pawl_arena *arena);

/* ---- systemd ------------------------------------------------------------------- *
 *
 * READY=1 when all endpoints run, STOPPING=1 when it stops. A service of Type=notify has a socket in NOTIFY_SOCKET;
 * without it every call does nothing. The datagrams are written here and not by libsystemd, which would be a library more for two lines. */

#define PAWL__NOTIFY_STOPPING "STOPPING=1" /* without it, an exit is a crash for --restart */

/* Connects to NOTIFY_SOCKET, a path or "@NAME"; logs a warning when that fails. */
void pawl__notify_open(void);
/* From now on states go to this socket of datagrams, whose other end passes them on. */
void pawl__notify_through(int socket);
/* Sends "READY=1\nSTATUS=...", from any thread and from a signal handler. A manager that does not
 * take it at once does not hold us up. */
void pawl__notify(const char *state);

/* ---- --restart: a parent of the endpoints' process, which notes its death and starts it again ---- */

/* True in each child, which goes on as if there were no parent. False in the parent, at the end of
 * it all: `exit_code` is then that of the last child, or 128 and the signal that killed it. Called
 * while the process has one thread, and no store open. `listen` is called in each child before a signal comes to it. */
bool pawl__supervise(const pawl__store_fields *at, void (*listen)(void), int *exit_code);

#endif
