/* outbound.c - opens the outbound transport of a route for its first row, calls it, and closes it after a failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/outbox/dispatcher.h"

#include "base/calm.h"
#include "store/core/core.h"

#include <string.h>

const pawl_route *pawl__route_find(const pawl_endpoint *endpoint, pawl_text name)
{
    for (size_t i = 0; i < endpoint->route_count; i++)
        if (pawl_text_equal(pawl_text_of(endpoint->routes[i].name), name))
            return &endpoint->routes[i];
    return NULL;
}

bool pawl__outbound_is_here(const pawl__outbound *outbound)
{
    return outbound->route->is_outbox;
}

static const pawl_transport_ops *ops_of(const pawl__outbound *outbound)
{
    return outbound->route->outbound != NULL ? outbound->route->outbound
                                             : pawl_transport_find(outbound->route->url);
}

bool pawl__outbound_keeps_order(const pawl__outbound *outbound)
{
    return pawl__outbound_is_here(outbound) ||
           (ops_of(outbound)->promises & PAWL_TRANSPORT_PREFIX) != 0;
}

/* ---- Open and close -------------------------------------------------------------- */

static void close_transport(pawl_transport *transport)
{
    if (transport->ops->close != NULL)
        transport->ops->close(transport);
    pawl_free(transport);
}

static void close_outbound(pawl__outbound *outbound)
{
    if (outbound->transport != NULL)
        close_transport(outbound->transport);
    outbound->transport = NULL;
}

static pawl_code open_outbound(pawl__outbound *outbound, pawl_error *error)
{
    const pawl_route *route = outbound->route;
    pawl_code         code  = PAWL_OK;
    if (outbound->transport != NULL)
        return PAWL_OK;
    const pawl_transport_ops *ops  = ops_of(outbound);
    size_t                    size = ops->transport_size;
    pawl_transport           *made = pawl_allocate(size > sizeof *made ? size : sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for an outbound transport");
    made->ops     = ops;
    made->context = route->context;
    if (ops->open != NULL)
        code = ops->open(made, route->url, route->system_prefix, error);
    if (code != PAWL_OK) {
        close_transport(made);
        return code;
    }
    outbound->transport = made;
    return PAWL_OK;
}

/* Opened in schema mode, a driver only reads the URL and does not connect. */
static pawl_code try_store(const pawl_route *route, pawl_error *error)
{
    const pawl_store_ops *driver;
    pawl_store           *store;
    pawl_store_options    options = PAWL_STORE_OPTIONS_INIT;
    options.mode                  = PAWL_OPEN_SCHEMA;
    options.system_prefix         = route->system_prefix;
    if (pawl__driver_find(route->url, &driver, error) != PAWL_OK)
        return PAWL_ECONFIG;
    pawl_code code = pawl_store_open(route->url, &options, &store, error);
    pawl_store_close(store);
    return code;
}

static bool is_tried(const pawl_endpoint *endpoint, const char *url)
{
    for (size_t i = 0; i < endpoint->route_count; i++)
        if (endpoint->routes[i].url != NULL && strcmp(endpoint->routes[i].url, url) == 0)
            return true;
    return false;
}

pawl_code pawl__outbound_try(const pawl_endpoint *endpoint, const pawl_route *route,
                             pawl_error *error)
{
    pawl__outbound tried = {.route = route};
    pawl_code      code  = PAWL_OK;
    if (ops_of(&tried) == &pawl_transport_store)
        code = try_store(route, error);
    else if (!is_tried(endpoint, route->url))
        code = open_outbound(&tried, error);
    close_outbound(&tried);
    if (code != PAWL_ECONFIG && code != PAWL_EINVAL && code != PAWL_ENOMEM)
        return PAWL_OK;
    return pawl_error_wrap(error, code == PAWL_ENOMEM ? code : PAWL_ECONFIG, "route '%s'",
                           route->name);
}

static bool begin_call(pawl__service *service, const pawl__outbound *outbound,
                       const pawl_message *message)
{
    pawl__call call = {.kind = "the outbound transport of route", .name = outbound->route->name};
    if (message != NULL) {
        call.what = "message";
        call.id   = message->id;
        call.type = message->type;
    }
    return pawl__app_call_begin(&service->app_call, service->endpoint, &call);
}

void pawl__outbox_close(pawl__service *service)
{
    for (size_t i = 0; i < service->endpoint->route_count; i++) {
        pawl__outbound *outbound = &service->outbounds[i];
        if (outbound->transport == NULL)
            continue;
        (void)begin_call(service, outbound, NULL); /* closes it even if the thread was given up */
        close_outbound(outbound);
        (void)pawl__app_call_end(&service->app_call, service->endpoint);
    }
}

/* ---- Deliver ------------------------------------------------------------------------ */

/* Makes an outbound transport's text valid and cuts it, as a store takes valid text of limited size; an invalid
 * byte becomes '?', so that an operator can read the rest. */
static pawl_text error_text(pawl_arena *arena, pawl_text text)
{
    if (text.data == NULL)
        text.size = 0;
    if (text.size > PAWL_ERROR_TEXT_SIZE_MAX) {
        text.size = PAWL_ERROR_TEXT_SIZE_MAX;
        while (text.size > 0 && ((unsigned char)text.data[text.size] & 0xC0) == 0x80)
            text.size--; /* do not cut within a character */
    }
    if (text.size == 0)
        return PAWL_TEXT("the outbound transport does not say why");
    pawl_text made = pawl_arena_text(arena, text);
    pawl__make_utf8((char *)(uintptr_t)made.data, made.size);
    return made;
}

static void fail_row(pawl__round_row *row, pawl_text error)
{
    row->delivery.outcome = PAWL_ATTEMPT_TRANSIENT;
    row->delivery.error   = error;
}

static void leave_row(pawl__round_row *row, pawl_text error)
{
    row->state          = PAWL__ROW_AWAY;
    row->delivery.error = error;
}

/* Takes an outbound transport's answer, if it is a valid one. */
static void take_answer(pawl__service *service, pawl__round_row *row, const pawl_delivery *answer)
{
    switch (answer->outcome) {
    case PAWL_ATTEMPT_SUCCESS: row->delivery.outcome = answer->outcome; break;
    case PAWL_ATTEMPT_UNREACHABLE: leave_row(row, error_text(service->arena, answer->error)); break;
    case PAWL_ATTEMPT_REJECTED:
    case PAWL_ATTEMPT_TRANSIENT:
    case PAWL_ATTEMPT_POISON:
        row->delivery.outcome = answer->outcome;
        row->delivery.error   = error_text(service->arena, answer->error);
        break;
    default:
        fail_row(row,
                 pawl_arena_printf(service->arena,
                                   "the outbound transport answered %d, which is not an outcome",
                                   (int)answer->outcome));
    }
}

static bool is_for(const pawl__round_row *row, const pawl__outbound *outbound)
{
    return row->state == PAWL__ROW_CHOSEN && row->outbound == outbound;
}

/* PAWL_EUNREACHABLE: nothing was sent. */
static pawl_code call(pawl__service *service, pawl__outbound *outbound, pawl_delivery *items,
                      size_t count, pawl_error *error)
{
    if (!begin_call(service, outbound, &items[0].message))
        return PAWL_EFENCED;
    pawl_code code      = open_outbound(outbound, error);
    bool      is_closed = code != PAWL_OK && code != PAWL_ENOMEM;
    if (code == PAWL_OK)
        code = outbound->transport->ops->deliver(outbound->transport, items, count, service->arena,
                                                 error);
    if (pawl__app_call_answer(code, "outbound", error) != PAWL_OK)
        close_outbound(outbound);
    (void)pawl__app_call_end(&service->app_call, service->endpoint);
    return is_closed || code == PAWL_EDENIED ? PAWL_EUNREACHABLE : code;
}

/* Result of a call: `left` is the error of a row that was not sent, or empty; `failures` counts rows that will be tried
 * again. */
typedef struct result {
    pawl_text left, failure;
    size_t    failures;
} result;

/* Writes the outcomes into the rows of the round. */
static result enter(pawl__service *service, pawl__round *round, const pawl__outbound *outbound,
                    const pawl_delivery *items, int64_t duration, pawl_code code, pawl_text text)
{
    size_t next = 0;
    result made = {.left = {.data = "", .size = 0}};
    for (size_t i = 0; i < round->count; i++) {
        pawl__round_row *row = &round->rows[i];
        if (!is_for(row, outbound))
            continue;
        row->duration = duration;
        if (code == PAWL_OK)
            take_answer(service, row, &items[next]);
        else if (code == PAWL_EUNREACHABLE)
            leave_row(row, text);
        else
            fail_row(row, text);
        if (row->state == PAWL__ROW_AWAY)
            made.left = row->delivery.error;
        else if (row->delivery.outcome == PAWL_ATTEMPT_TRANSIENT) {
            made.failure = row->delivery.error;
            made.failures++;
        }
        next++;
    }
    return made;
}

static pawl_text deliver(pawl__service *service, pawl__round *round, pawl__outbound *outbound,
                         pawl_delivery *items, size_t count)
{
    pawl_error  error    = PAWL_ERROR_INIT;
    int64_t     begin    = pawl__monotonic_now();
    pawl_code   code     = call(service, outbound, items, count, &error);
    int64_t     duration = pawl__monotonic_now() - begin;
    const char *why      = error.text[0] != '\0' ? error.text : pawl_code_text(code);
    pawl_text   text     = error_text(service->arena, pawl_text_of(why));
    result      made     = enter(service, round, outbound, items, duration, code, text);
    /* A single failed row is logged at a lower level, as its attempts tell of it. */
    bool is_single = code == PAWL_OK && made.failures == 1;
    if (made.failures > 0 && !pawl__app_call_is_given_up(&service->app_call))
        pawl_log(is_single ? PAWL_LOG_INFO : PAWL_LOG_WARNING,
                 "outbox: %zu of %zu messages for '%s' not delivered: %.*s", made.failures, count,
                 outbound->route->name, PAWL_TEXT_ARGS(made.failure));
    return made.left;
}

pawl_text pawl__outbound_deliver(pawl__service *service, pawl__round *round,
                                 pawl__outbound *outbound)
{
    size_t         count   = 0;
    pawl_time      arrival = pawl__leader_arrival(service);
    pawl_delivery *items   = pawl_arena_take(service->arena, round->count * sizeof *items);
    for (size_t i = 0; i < round->count; i++) {
        pawl__round_row *row = &round->rows[i];
        if (!is_for(row, outbound))
            continue;
        row->is_handed    = true;
        row->delivery.due = row->row->due != 0 ? row->row->due : arrival;
        if (items == NULL)
            row->state = PAWL__ROW_LEFT;
        else if (outbound == NULL)
            fail_row(row,
                     pawl_arena_printf(service->arena, "no route to another store is named '%.*s'",
                                       PAWL_TEXT_ARGS(row->row->destination)));
        else
            items[count++] = row->delivery;
    }
    if (count == 0 || pawl__outbound_is_here(outbound))
        return (pawl_text){.data = "", .size = 0};
    return deliver(service, round, outbound, items, count);
}
