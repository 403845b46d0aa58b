/* route.c - reads and writes a route as the command line and files give it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/run.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

pawl_code pawl__route_read(const char *text, pawl_arena *arena, pawl_route *route,
                           pawl_error *error)
{
    char  word[PAWL__WORD_SIZE];
    char *name  = pawl_arena_copy(arena, text, strlen(text) + 1);
    char *url   = name != NULL ? strchr(name, '=') : NULL;
    char *queue = url != NULL ? strrchr(url, '#') : NULL;
    if (name == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    if (url == NULL || url == name || (queue != NULL ? queue[1] : url[1]) == '\0')
        return pawl_error_set(error, PAWL_EINVAL,
                              "expected NAME=URL#QUEUE, NAME=URL or NAME=#QUEUE, got '%s'",
                              pawl__shown(text, word));
    /* A URL with "?a=b" and no name before it: the text before the first '=' has ":" and "/". */
    if (memchr(text, ':', (size_t)(url - name)) != NULL && memchr(text, '/', (size_t)(url - name)))
        return pawl_error_set(error, PAWL_EINVAL, "'%s' has no name: NAME=URL#QUEUE",
                              pawl__shown(text, word));
    *url++ = '\0';
    if (queue != NULL)
        *queue++ = '\0';
    *route = (pawl_route){.name = name, .url = url[0] != '\0' ? url : NULL, .queue = queue};
    route->is_outbox = strcmp(url, PAWL__THROUGH_OUTBOX) == 0;
    if (route->is_outbox)
        route->url = NULL;
    return PAWL_OK;
}

const char *pawl__route_words(const pawl_route *route, char text[PAWL__ROUTE_TEXT_SIZE])
{
    char        url[PAWL_URL_SIZE_MAX + 1];
    const char *leads = "";
    if (route->outbound != NULL)
        leads = "(code of the application)";
    else if (route->is_outbox)
        leads = PAWL__THROUGH_OUTBOX;
    else if (route->url != NULL)
        leads = pawl__masked(route->url, url, sizeof url);
    snprintf(text, PAWL__ROUTE_TEXT_SIZE, "%s=%s%s%s", route->name, leads,
             route->queue != NULL ? "#" : "", route->queue != NULL ? route->queue : "");
    return text;
}
