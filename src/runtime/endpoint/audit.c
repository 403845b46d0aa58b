/* audit.c - reads the option audit: URL#QUEUE, or #QUEUE for a queue of this store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/endpoint.h"
#include "runtime/runtime.h"

#include "base/calm.h"
#include "store/core/core.h"

#include <string.h>
#include <unistd.h>

static pawl_code refuse(const pawl_endpoint *endpoint, const char *why, pawl_error *error)
{
    char        shown[PAWL_URL_SIZE_MAX + PAWL_NAME_SIZE_MAX + 2];
    const char *text = endpoint->settings.audit;
    if (strchr(text, ':') != NULL)
        pawl__url_mask(text, shown, sizeof shown);
    return pawl_error_set(error, PAWL_ECONFIG, "option audit is '%.200s': %s",
                          strchr(text, ':') != NULL ? shown : text, why);
}

/* Cuts a copy of the text at its last '#'. NULL `url`: this store. */
static pawl_code cut(pawl_endpoint *endpoint, pawl_route *route, pawl_error *error)
{
    const char *text           = endpoint->settings.audit;
    size_t      size           = strlen(text);
    char       *hash           = NULL;
    endpoint->auditing.address = pawl_allocate(size + 1);
    if (endpoint->auditing.address == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for option audit");
    memcpy(endpoint->auditing.address, text, size);
    hash = strrchr(endpoint->auditing.address, '#');
    if (hash == NULL || hash[1] == '\0')
        return refuse(
            endpoint,
            "it names no queue; expected URL#QUEUE, or #QUEUE of this store; a '#' inside of "
            "the URL is written %23",
            error);
    if (strlen(hash + 1) > PAWL_NAME_SIZE_MAX || !pawl_text_is_valid(pawl_text_of(hash + 1), NULL))
        return refuse(endpoint, "the queue's name is not a text in UTF-8 of at most 200 bytes",
                      error);
    *hash            = '\0';
    route->name      = PAWL__AUDIT_ROUTE;
    route->url       = hash > endpoint->auditing.address ? endpoint->auditing.address : NULL;
    route->queue     = hash + 1;
    route->is_outbox = route->url == NULL;
    return PAWL_OK;
}

/* Is it the endpoint's own queue? There each copy would be handled and copied again. */
static bool is_own_queue(const pawl_endpoint *endpoint, const pawl_route *route)
{
    const char *store   = endpoint->settings.store;
    bool        is_here = route->is_outbox || (store != NULL && strcmp(route->url, store) == 0);
    return is_here && pawl_text_equal(pawl_text_of(route->queue), endpoint->model->queue);
}

/* Refuses an invalid address. A receiver that is unavailable now is not a failure. */
static pawl_code check(pawl_endpoint *endpoint, const pawl_route *route, pawl_error *error)
{
    pawl_error why = PAWL_ERROR_INIT;
    if (is_own_queue(endpoint, route))
        return refuse(endpoint, "it is the endpoint's own queue, which would never be empty",
                      error);
    if (pawl__route_find(endpoint, PAWL_TEXT(PAWL__AUDIT_ROUTE)) != NULL)
        return refuse(endpoint, "a route is named '" PAWL__AUDIT_ROUTE "', which is its own",
                      error);
    if (endpoint->route_count == PAWL__ROUTES_MAX)
        return refuse(endpoint, "there are as many routes as there may be, and it is one", error);
    if (route->is_outbox)
        return PAWL_OK;
    pawl_code code = pawl__outbound_try(endpoint, route, &why);
    return code == PAWL_OK ? code : refuse(endpoint, why.text, error);
}

/* The name of the machine, cut if it is longer than the system's limit. */
static pawl_text find_machine(pawl__auditing *auditing)
{
    if (gethostname(auditing->machine, sizeof auditing->machine - 1) != 0)
        auditing->machine[0] = '\0';
    pawl__make_utf8(auditing->machine, strlen(auditing->machine));
    return pawl_text_of(auditing->machine);
}

pawl_code pawl__audit_take(pawl_endpoint *endpoint, pawl_error *error)
{
    const char     *text     = endpoint->settings.audit;
    pawl__auditing *auditing = &endpoint->auditing;
    pawl_route      route    = {.name = NULL};
    if (text == NULL || strcmp(text, "none") == 0)
        return PAWL_OK;
    pawl_code code = cut(endpoint, &route, error);
    if (code == PAWL_OK)
        code = check(endpoint, &route, error);
    if (code != PAWL_OK)
        return code;
    bool is_store = route.is_outbox || pawl_transport_find(route.url) == &pawl_transport_store;
    endpoint->routes[endpoint->route_count++] = route;
    auditing->copies = (pawl__audit){.machine = find_machine(auditing), .keeps_id = !is_store};
    auditing->is_on  = true;
    return PAWL_OK;
}
