/* route.h - a route as the command line and files give it: NAME=URL#QUEUE.
 *
 * Threads: none; called from main. Tests: tests/system/command_options.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_ROUTE_H
#define PAWL_CLI_ROUTE_H

#include "pawl/pawl.h"

#define PAWL__THROUGH_OUTBOX "outbox:" /* instead of a URL: this store, through the outbox */

/* Cuts a copy in the arena into pieces. PAWL_EINVAL. */
pawl_code pawl__route_read(const char *text, pawl_arena *arena, pawl_route *route,
                           pawl_error *error);

#define PAWL__ROUTE_TEXT_SIZE (PAWL_URL_SIZE_MAX * 2)
/* As it would be given, without a password; cut to the size. Returns `text`. */
const char *pawl__route_words(const pawl_route *route, char text[PAWL__ROUTE_TEXT_SIZE]);

#endif
