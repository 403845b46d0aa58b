/* notify.h - systemd is told what `pawl run` does: READY=1 when all endpoints run, STOPPING=1.
 *
 * A service of Type=notify has a socket in NOTIFY_SOCKET; without it every call does nothing. The
 * datagrams are written here and not by libsystemd, which would be a library more for two lines.
 *
 * Tests: tests/system/command_service.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_NOTIFY_H
#define PAWL_CLI_NOTIFY_H

/* Connects to NOTIFY_SOCKET, a path or "@NAME"; logs a warning when that fails. */
void pawl__notify_open(void);
/* From now on states go to this socket of datagrams, whose other end passes them on. */
void pawl__notify_through(int socket);
/* Sends "READY=1\nSTATUS=...", from any thread and from a signal handler. A manager that does not
 * take it at once does not hold us up. */
void pawl__notify(const char *state);

#endif
