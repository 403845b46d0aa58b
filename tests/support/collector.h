/* collector.h - an OpenTelemetry collector that keeps what it is sent, and a client
 * that asks a server for a page. For tests of the module that listens and sends.
 *
 * Built only where libmicrohttpd is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_COLLECTOR_H
#define PAWL_TESTS_COLLECTOR_H

#include "pawl/base.h"

typedef struct collector collector;

/* Answers `refusals` posts with `status`, then 200 to everything; always with "{}". */
collector *collector_open(int refusals, int status);
/* From now on answers say this, and refusals this Retry-After (NULL: none). Borrows
 * both to the end. */
void        collector_say(collector *it, const char *said, const char *retry_after);
const char *collector_url(const collector *it);
/* Waits until so many bodies were taken, then gives the first one of "traces" or
 * "metrics" not given yet; static until the next call. Fails after 30 seconds. */
const char *collector_next(collector *it, const char *signal);
/* How many were taken, without waiting. */
size_t collector_count(collector *it, const char *signal);
void   collector_close(collector *it);

/* One request on a connection of its own: the status; the page with its headers. */
int fetch(int port, const char *method, const char *path, char *page, size_t size);

#endif
