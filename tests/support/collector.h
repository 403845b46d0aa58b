/* collector.h - an OpenTelemetry collector that keeps received bodies, and an HTTP client. For tests of the observe
 * module.
 *
 * Built only with libmicrohttpd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_COLLECTOR_H
#define PAWL_TESTS_COLLECTOR_H

#include "pawl/base.h"

typedef struct collector collector;

/* Answers the first `refusals` posts with `status`, then 200 to everything; always with "{}". */
collector *collector_open(int refusals, int status);
/* Changes the body of answers, and Retry-After of refusals (NULL: none). Borrows both until the end. */
void        collector_say(collector *it, const char *said, const char *retry_after);
const char *collector_url(const collector *it);
/* Waits for the next body of "traces" or "metrics"; static until the next call. Fails after 30 seconds. */
const char *collector_next(collector *it, const char *signal);
/* Number of bodies received so far. */
size_t collector_count(collector *it, const char *signal);
void   collector_close(collector *it);

/* Sends one request on a new connection. Returns the status; `page` includes the headers. */
int fetch(int port, const char *method, const char *path, char *page, size_t size);

#endif
