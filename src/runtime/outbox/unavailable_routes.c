/* unavailable_routes.c - handles routes whose receiver is unavailable ("away"): their rows stay in the store unchanged,
 * and no attempt is counted. Rows of other routes are delivered meanwhile.
 *
 *     here --a call that sent nothing--> away --its pause ends--> tried --another such call--> away
 *       ^                                                           |
 *       +---------------any other answer, or no row for it----------+
 *
 * Only an alarm is written (common/alarm.h), so a long outage costs no more than a short one, and another leader finds
 * the same rows. Rows of other routes behind those that are left must be reached. So the dispatcher keeps the id of the
 * last row that it passed, and reads after it; and the sources of the rows that it left, as later rows of these have to
 * wait, too. Rows with failed attempts, which may stand anywhere, are read separately.
 *
 *     row      1     2     3       4     5     6        a: away; b: available; b!: failed, waits for its next attempt
 *     route    a     b     b!      a     b     b
 *     source   x     y     z       v     x     w
 *              left  sent  waits   left  left  sent     passed: 6; sources that were left: x, v
 *
 * A failed try may be due to the rows that it sent, so the next try reads the rows after them.
 *
 * Rows do not become visible in the order of their ids, so the dispatcher regularly reads those of the last half minute
 * again; likewise rows that are released after an earlier row was settled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/outbox/dispatcher.h"

#include <string.h>

#define PAUSE_MAX PAWL_SECONDS(30)
#define GO_BACK_PERIOD PAWL_SECONDS(30)

static size_t number_of(const pawl__service *service, const pawl__outbound *outbound)
{
    return (size_t)(outbound - service->outbounds) + 1;
}

/* Is the outbound transport unavailable, and not to be called now? */
static bool is_away(const pawl__outbound *outbound)
{
    return outbound != NULL && outbound->away_until != 0;
}

static bool is_tried(const pawl__outbound *outbound)
{
    return outbound->away_tries > 0 && outbound->away_until == 0;
}

/* The next outbound transport after `last` that is away or being tried; NULL: there is none. */
static pawl__outbound *next_away(pawl__service *service, const pawl__outbound *last)
{
    for (size_t i = last != NULL ? number_of(service, last) : 0; i < service->endpoint->route_count;
         i++)
        if (service->outbounds[i].away_tries > 0)
            return &service->outbounds[i];
    return NULL;
}

bool pawl__unavailable_is_any(pawl__service *service)
{
    return next_away(service, NULL) != NULL;
}

static bool is_any_tried(pawl__service *service)
{
    pawl__outbound *outbound = NULL;
    do
        outbound = next_away(service, outbound);
    while (outbound != NULL && !is_tried(outbound));
    return outbound != NULL;
}

static void plan(pawl__service *service)
{
    service->unavailable.due = PAWL_TIME_MAX;
    pawl__outbound *outbound = NULL;
    while ((outbound = next_away(service, outbound)) != NULL)
        service->unavailable.due = pawl__sooner(service->unavailable.due, outbound->away_until);
}

/* Forgets which rows were passed: all are read again. */
void pawl__unavailable_forget(pawl__service *service)
{
    pawl_time          now    = pawl__machine_now(service->endpoint);
    pawl__unavailable *routes = &service->unavailable;
    pawl__source_table_clear(&routes->left);
    pawl__source_table_clear(&routes->first);
    *routes = (pawl__unavailable){
        .left = routes->left, .first = routes->first, .tried_after = routes->tried_after};
    pawl__outbound *outbound = NULL;
    while ((outbound = next_away(service, outbound)) != NULL) {
        pawl_time latest = pawl_time_add(now, outbound->away_pause);
        if (is_tried(outbound) ||
            outbound->away_until > latest) /* the clock may have been set back */
            outbound->away_until = latest;
        outbound->first_left = 0;
    }
    plan(service);
}

void pawl__unavailable_go_back(pawl__service *service, int64_t id)
{
    pawl__unavailable *routes = &service->unavailable;
    routes->passed            = id < routes->passed ? id : routes->passed;
    routes->mark              = id < routes->mark ? id : routes->mark;
}

/* ---- Becoming unavailable and available ----------------------------------------------- */

static int64_t pause_of(pawl__service *service, const pawl__outbound *outbound)
{
    int64_t first = service->endpoint->settings.outbox_delay;
    int64_t last  = service->endpoint->settings.outbox_delay_max;
    last          = last < PAUSE_MAX ? last : PAUSE_MAX;
    return pawl__outbox_pause(service, outbound->away_tries, last > first ? last : first);
}

/* Position of the route in the alarm's text, or NULL. */
static char *find_named(pawl__alarm *alarm, const pawl__outbound *outbound)
{
    pawl_error name = PAWL_ERROR_INIT;
    (void)pawl_error_set(&name, PAWL_EUNREACHABLE, "route '%s':", outbound->route->name);
    return alarm->is_wanted ? strstr(alarm->why, name.text) : NULL;
}

/* Sets the number of routes for which the text has no room. */
static void count_unnamed(pawl__service *service)
{
    size_t                count    = 0;
    const pawl__outbound *outbound = NULL;
    while ((outbound = next_away(service, outbound)) != NULL)
        count += find_named(&service->route_alarm, outbound) == NULL;
    pawl__alarm_more(&service->route_alarm, count);
}

/* Adds the route to the alarm, which names all routes that are away. */
static void raise_alarm(pawl__service *service, const pawl__outbound *outbound, pawl_text why)
{
    pawl__alarm *alarm = &service->route_alarm;
    pawl_error   text  = PAWL_ERROR_INIT;
    (void)pawl_error_set(&text, PAWL_EUNREACHABLE, "route '%s': %.*s", outbound->route->name,
                         PAWL_TEXT_ARGS(why));
    if (!alarm->is_wanted)
        pawl__alarm_want(alarm, number_of(service, outbound), pawl_text_of(text.text));
    else if (find_named(alarm, outbound) == NULL)
        pawl__alarm_add(alarm, pawl_text_of(text.text));
    count_unnamed(service);
}

/* Removes the route from the text, which keeps the other routes, and has the alarm written again. */
static void end_alarm(pawl__service *service, const pawl__outbound *outbound)
{
    pawl__alarm *alarm = &service->route_alarm;
    char        *at    = find_named(alarm, outbound);
    if (at == NULL) /* the next failed try of another route corrects the count */
        return;
    alarm->why[alarm->reasons_size] = '\0';
    char *next                      = strstr(at, "; route '");
    alarm->raised_subject           = 0;
    if (next != NULL)
        memmove(at, next + 2, strlen(next + 2) + 1);
    else if (at > alarm->why)
        at[-2] = '\0';
    else
        pawl__alarm_unwant(alarm);
    alarm->reasons_size = strlen(alarm->why);
    count_unnamed(service);
}

void pawl__unavailable_begin(pawl__service *service, pawl__outbound *outbound, pawl_text why)
{
    const char *name     = service->endpoint->model->endpoint.data;
    pawl_time   now      = pawl__machine_now(service->endpoint);
    bool        is_first = outbound->away_tries == 0;
    if (is_first)
        outbound->away_since = now;
    outbound->away_pause = pause_of(service, outbound);
    outbound->away_until = pawl_time_add(now, outbound->away_pause);
    outbound->away_tries += outbound->away_tries < INT32_MAX;
    plan(service);
    if (is_first)
        pawl_log(
            PAWL_LOG_WARNING,
            "outbox of %s: route '%s' is unavailable: %.*s; its messages wait, and lose no attempts; it "
            "is tried again and again",
            name, outbound->route->name, PAWL_TEXT_ARGS(why));
    else
        pawl_log(PAWL_LOG_DEBUG, "outbox of %s: route '%s' is still unavailable: %.*s", name,
                 outbound->route->name, PAWL_TEXT_ARGS(why));
    if (service->is_leader)
        raise_alarm(service, outbound, why);
}

/* Called when a route is available again: its rows, and those left behind them, are read again. */
void pawl__unavailable_end(pawl__service *service, pawl__outbound *outbound)
{
    pawl__source_table *left  = &service->unavailable.left;
    pawl__source_table *first = &service->unavailable.first;
    int64_t             time  = pawl__machine_now(service->endpoint) - outbound->away_since;
    pawl_log(PAWL_LOG_INFO, "outbox of %s: route '%s' is back after %lld s",
             service->endpoint->model->endpoint.data, outbound->route->name,
             (long long)(time / PAWL_SECONDS(1)));
    for (size_t i = 0; i < left->capacity; i++)
        if (left->items[i].value == number_of(service, outbound)) { /* setting 0 needs no memory */
            (void)pawl__source_table_put(first, left->items[i].source, 0);
            (void)pawl__source_table_put(left, left->items[i].source, 0);
        }
    if (outbound->first_left != 0)
        pawl__unavailable_go_back(service, outbound->first_left - 1);
    outbound->away_until = outbound->first_left = 0;
    outbound->away_tries                        = 0;
    plan(service);
    end_alarm(service, outbound);
    if (!pawl__unavailable_is_any(service))
        pawl__unavailable_forget(service);
}

/* ---- Reading -------------------------------------------------------------------------- */

static pawl_code read_page(pawl__service *service, int64_t after, int32_t attempts_min,
                           pawl_outbox_rows *rows, pawl_error *error)
{
    const pawl_outbox_query query = {.states    = 1u << PAWL_OUTBOX_PENDING,
                                     .endpoint  = service->endpoint->model->endpoint,
                                     .after     = after,
                                     .count_max = (size_t)service->endpoint->settings.outbox_batch,
                                     .attempts_min = attempts_min};
    return pawl_store_outbox_find(service->store, &query, service->arena, rows, error);
}

static bool is_whole(const pawl__service *service, const pawl_outbox_rows *rows)
{
    return rows->count == (size_t)service->endpoint->settings.outbox_batch;
}

/* Begins a try of each route whose pause is over, with rows that have attempts and with others. */
static void begin_tries(pawl__service *service, pawl_time now)
{
    pawl__outbound *outbound = NULL;
    while ((outbound = next_away(service, outbound)) != NULL)
        if (outbound->away_until <= now) {
            outbound->away_until           = 0;
            service->unavailable.tried_due = now;
        }
    plan(service);
}

static void keep_fresh(pawl_outbox_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].attempts == 0)
            rows->items[kept++] = rows->items[i];
    rows->count = kept;
}

/* Keeps only due rows of routes that are not away. */
static void keep_due(pawl__service *service, pawl_time now, pawl_outbox_rows *rows,
                     pawl_time *retry)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_outbox_row *row = &rows->items[i];
        if (is_away(pawl__outbound_find(service, row->destination)))
            continue;
        if (row->next_attempt <= now)
            rows->items[kept++] = *row;
        else if (row->next_attempt < *retry)
            *retry = row->next_attempt;
    }
    rows->count = kept;
}

/* Reads rows with attempts: the next page that has due ones. Each try of a route reads another page. */
static pawl_code read_tried(pawl__service *service, pawl_time now, pawl_outbox_rows *rows,
                            pawl_error *error)
{
    pawl__unavailable *routes   = &service->unavailable;
    int64_t            begin    = routes->tried_after;
    int64_t            after    = begin;
    pawl_time          retry    = PAWL_TIME_MAX;
    pawl_code          code     = PAWL_OK;
    bool               has_more = true;
    for (rows->count = 0; code == PAWL_OK && has_more && rows->count == 0;) {
        pawl_arena_point point = pawl_arena_position(service->arena);
        code                   = read_page(service, after, 1, rows, error);
        has_more               = code == PAWL_OK && is_whole(service, rows);
        after                  = has_more ? rows->items[rows->count - 1].id : 0;
        keep_due(service, now, rows, &retry);
        if (rows->count > 0)
            continue;
        pawl_arena_rewind(service->arena, point);
        if (!has_more && begin > 0) { /* continues at the beginning, up to where this read began */
            has_more = code == PAWL_OK;
            begin    = 0;
        }
    }
    if (rows->count > 0 && is_any_tried(service))
        routes->tried_after = after;
    pawl_time look        = pawl_time_add(now, service->endpoint->settings.outbox_idle);
    service->outbox_retry = retry;
    routes->tried_due     = has_more || begin > 0 ? now : retry < look ? retry : look;
    return code;
}

/* The tried route whose first waiting row comes first: a page after that may contain sources that wait for this route.
 * NULL if that row is not passed: then the normal read finds it. */
static pawl__outbound *first_tried(pawl__service *service)
{
    pawl__outbound *first    = NULL;
    pawl__outbound *outbound = NULL;
    while ((outbound = next_away(service, outbound)) != NULL)
        if (is_tried(outbound) && outbound->first_left != 0 &&
            (first == NULL || outbound->first_left < first->first_left))
            first = outbound;
    return first != NULL && first->first_left <= service->unavailable.passed ? first : NULL;
}

/* Is no earlier row of its source waiting? For a row behind passed ones that are not in its page. */
static bool is_first(const pawl__service *service, const pawl_outbox_row *row)
{
    pawl_text source = pawl__round_source(row);
    return pawl__source_table_get(&service->unavailable.left, source) == 0 ||
           pawl__source_table_get(&service->unavailable.first, source) == (size_t)row->id;
}

/* Reads a page for a try. `*is_found`: it has a row of that route that may be sent. `*last`: id of its last row, 0 if
 * empty. */
static pawl_code read_try_page(pawl__service *service, const pawl__outbound *outbound,
                               int64_t after, pawl_outbox_rows *rows, bool *is_found, int64_t *last,
                               pawl_error *error)
{
    pawl__unavailable *routes = &service->unavailable;
    pawl_code          code   = read_page(service, after, 0, rows, error);
    routes->is_behind         = after >= outbound->first_left;
    *last = code == PAWL_OK && rows->count > 0 ? rows->items[rows->count - 1].id : 0;
    keep_fresh(rows);
    *is_found = false;
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++)
        *is_found |= pawl__outbound_find(service, rows->items[i].destination) == outbound &&
                     (!routes->is_behind || is_first(service, &rows->items[i]));
    return code;
}

/* Makes the normal read start again at the first row that waits for the route. */
static void read_on_from(pawl__service *service, pawl__outbound *outbound)
{
    pawl__unavailable_go_back(service, outbound->first_left - 1);
    outbound->first_left = 0;
}

/* Reads rows that waited for a route that is tried: those after the rows of the previous try, which may be the cause of
 * its failure; at first from the first waiting row. If the page has none of the route, the normal read searches from
 * there. */
static pawl_code read_try(pawl__service *service, pawl_outbox_rows *rows, pawl_error *error)
{
    pawl__outbound *outbound = first_tried(service);
    bool            is_found = false;
    int64_t         last     = 0;
    pawl_code       code     = PAWL_OK;
    if (outbound == NULL)
        return PAWL_OK;
    if (outbound->tried_to < outbound->first_left ||
        outbound->tried_to > service->unavailable.passed)
        outbound->tried_to = 0;
    if (outbound->tried_to != 0) {
        code = read_try_page(service, outbound, outbound->tried_to, rows, &is_found, &last, error);
        outbound->tried_to = last;
    }
    if (code == PAWL_OK && !is_found) {
        code = read_try_page(service, outbound, outbound->first_left - 1, rows, &is_found, &last,
                             error);
        outbound->tried_to = outbound->tried_to != 0 ? outbound->tried_to : last;
    }
    if (code == PAWL_OK && !is_found)
        read_on_from(service, outbound);
    else
        service->unavailable.tried = outbound;
    return code;
}

/* Normal read: rows after those passed. */
static pawl_code read_on(pawl__service *service, pawl_time now, pawl_outbox_rows *rows,
                         pawl_error *error)
{
    pawl__unavailable *routes = &service->unavailable;
    if (now >= routes->go_back_due) {
        int64_t passed      = routes->passed;
        routes->passed      = routes->mark;
        routes->mark        = passed;
        routes->go_back_due = pawl_time_add(now, GO_BACK_PERIOD);
    }
    pawl_code code  = read_page(service, routes->passed, 0, rows, error);
    routes->is_page = code == PAWL_OK;
    routes->is_last = code == PAWL_OK && !is_whole(service, rows);
    if (code == PAWL_OK && rows->count > 0)
        routes->page_end = rows->items[rows->count - 1].id;
    else
        routes->page_end = routes->passed;
    keep_fresh(rows);
    return code;
}

pawl_code pawl__unavailable_read(pawl__service *service, pawl_time now, pawl_outbox_rows *rows,
                                 pawl_error *error)
{
    pawl_code          code   = PAWL_OK;
    pawl__unavailable *routes = &service->unavailable;
    routes->is_page = routes->is_last = routes->is_behind = false;
    routes->tried                                         = NULL;
    rows->count                                           = 0;
    begin_tries(service, now);
    const pawl__outbound *tried = first_tried(service);
    if (tried != NULL &&
        tried->away_tries % 2 == 0) /* otherwise rows with attempts would always come first */
        code = read_try(service, rows, error);
    if (code == PAWL_OK && rows->count == 0 && now >= routes->tried_due)
        code = read_tried(service, now, rows, error);
    if (code == PAWL_OK && rows->count == 0)
        code = read_try(service, rows, error);
    if (code == PAWL_OK && rows->count == 0 && pawl__unavailable_is_any(service))
        code = read_on(service, now, rows, error);
    return code;
}

/* ---- A round ---------------------------------------------------------------------------- */

/* True if its own route is away, or an earlier row of its source waits. */
bool pawl__unavailable_waits(pawl__service *service, const pawl__round *round,
                             const pawl__round_row *row)
{
    const pawl__round_row *previous = pawl__round_previous(round, row);
    if (is_away(row->outbound) || (previous != NULL && previous->state == PAWL__ROW_AWAY))
        return true;
    size_t left = row->row->attempts == 0 ? pawl__source_table_get(&service->unavailable.left,
                                                                   pawl__round_source(row->row))
                                          : 0;
    return left != 0 &&
           (is_away(&service->outbounds[left - 1]) ||
            (service->unavailable.is_behind && previous == NULL && !is_first(service, row->row)));
}

/* Notes for which route the source waits, and that the read starts at this row or earlier when that route is available.
 * The row may belong to another route, if its source waits already. */
static pawl_code note_left(pawl__service *service, const pawl__round_row *row, pawl_error *error)
{
    pawl__source_table *left   = &service->unavailable.left;
    pawl_text           source = pawl__round_source(row->row);
    size_t              noted  = pawl__source_table_get(left, source);
    size_t              first  = pawl__source_table_get(&service->unavailable.first, source);
    pawl_code           code   = PAWL_OK;
    if (noted == 0 || (size_t)row->row->id < first)
        code = pawl__source_table_put(&service->unavailable.first, source, (size_t)row->row->id);
    if (code == PAWL_OK && (noted == 0 || !is_away(&service->outbounds[noted - 1]))) {
        noted = is_away(row->outbound) ? number_of(service, row->outbound) : 0;
        code  = pawl__source_table_put(left, source, noted);
    }
    pawl__outbound *outbound = noted != 0 ? &service->outbounds[noted - 1] : NULL;
    if (outbound != NULL && (outbound->first_left == 0 || row->row->id < outbound->first_left))
        outbound->first_left = row->row->id;
    return code == PAWL_OK
               ? code
               : pawl_error_set(error, code, "no memory for ordering keys that were left");
}

/* Is there room for another waiting source? */
static bool has_room(pawl__service *service)
{
    pawl__unavailable *routes = &service->unavailable;
    bool has = routes->left.live < PAWL__LEFT_MAX && routes->first.live < PAWL__LEFT_MAX;
    if (!has && !routes->is_full)
        pawl_log(
            PAWL_LOG_WARNING,
            "outbox of %s: rows of %d ordering keys wait for routes that are unavailable, the limit: "
            "rows of other routes behind them wait, too, until a route is back",
            service->endpoint->model->endpoint.data, PAWL__LEFT_MAX);
    routes->is_full |= !has;
    return has;
}

/* Ends the tries of routes for which no row waits. */
static void end_tries(pawl__service *service)
{
    pawl__outbound *outbound = NULL;
    while ((outbound = next_away(service, outbound)) != NULL)
        if (is_tried(outbound))
            pawl__unavailable_end(service, outbound);
}

/* Passes the rows up to the first one that has to be read again: one that is pending, with an available route. */
pawl_code pawl__unavailable_pass(pawl__service *service, const pawl__round *round,
                                 pawl_error *error)
{
    pawl__unavailable *routes = &service->unavailable;
    int64_t            passed = routes->page_end;
    pawl_code          code   = PAWL_OK;
    bool               is_all = true;
    for (size_t i = 0; i < round->count; i++)
        is_all &= round->rows[i].state == PAWL__ROW_AWAY;
    /* Rows of the tried route wait for those of another route: without this the same page would be read again at
     * once. */
    if (routes->tried != NULL && is_all && !is_away(routes->tried))
        read_on_from(service, routes->tried);
    if (!routes->is_page)
        return PAWL_OK;
    for (size_t i = 0; i < round->count && code == PAWL_OK; i++) {
        const pawl__round_row *row = &round->rows[i];
        bool                   may_pass =
            row->state == PAWL__ROW_SETTLED || (row->state == PAWL__ROW_AWAY && has_room(service));
        if (!may_pass) {
            passed = row->row->id - 1;
            break;
        }
        if (row->state == PAWL__ROW_AWAY)
            code = note_left(service, row, error);
    }
    if (passed <= routes->passed)
        routes->is_last = true;
    routes->is_last &= is_all;
    if (passed > routes->passed)
        routes->passed = passed;
    if (routes->is_last)
        end_tries(service);
    return code;
}
