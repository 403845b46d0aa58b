/* hosts.h - the hosts of a connection, with a connect timeout for each.
 *
 * libpq applies connect_timeout only in blocking calls. In a polled connection a host that does
 * not answer would use up the whole deadline every time, and the next host of the list, to which
 * a fail-over may have moved, would never be tried. The list may come from the URL, a service
 * file or the environment: only libpq's first connection attempt knows it.
 *
 *     begin the connection, init -> { note* and rest while waiting, next, begin again with the values }*
 *
 * Threads: plain data, borrowed from the connection's parameters.
 * Tests: tests/contract/test_postgres_hosts.c, tests/system/failover_soak.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_HOSTS_H
#define PAWL_STORE_POSTGRES_HOSTS_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pawl__pg_hosts {
    const char *names;     /* "a,b": host=, or NULL */
    const char *addresses; /* hostaddr=, or NULL */
    const char *ports;     /* one for each host, or one for all; or NULL */
    size_t      count;
    size_t      first;    /* the connection is given the hosts from this one on */
    size_t      current;  /* the host that libpq connects to now */
    int64_t     limit_ms; /* for one host; 0: none */
    int64_t     since_ms; /* when libpq began with `current` */
} pawl__pg_hosts;

/* `list` must live as long. The limit is connect_timeout, else 10 s where there are several
 * hosts. */
void pawl__pg_hosts_init(pawl__pg_hosts *hosts, const PQconninfoOption *list);
/* The value of a keyword of the URL, or, once hosts are left out, that of the hosts that are left. */
const char *pawl__pg_hosts_value(const pawl__pg_hosts *hosts, const PQconninfoOption *option);
/* Notices that libpq went on to the next host. */
void pawl__pg_hosts_note(pawl__pg_hosts *hosts, const PGconn *pg, int64_t now_ms);
/* Milliseconds that the current host has left; INT64_MAX without a limit. */
int64_t pawl__pg_hosts_rest(const pawl__pg_hosts *hosts, int64_t now_ms);
/* Leaves out the hosts up to the current one; false when none is left. */
bool pawl__pg_hosts_next(pawl__pg_hosts *hosts);

#endif
