/* outbox.h - the outbox: rows for other stores and brokers are delivered until the receiver accepts them.
 *
 *     a round:  lead -> claim pending rows -> { choose -> deliver, sink by sink -> settle }*
 *
 *     leader.c              one dispatcher at a time leads, by a lease; the next one takes over when it dies
 *     dispatch.c            a round: which rows go in which pass
 *     sink.c                the outbound transport of each route: opened, called, closed after a failure
 *     settle.c              delivered, retried later or dead, in one commit
 *     unavailable_routes.c  routes whose receiver is not there: their rows wait and lose no attempt
 *     source_table.c        ordering keys with a row that waits
 *     dispatcher.h          what these files share
 *
 *     { run }* -> forget (the store handle was lost) -> close
 *
 * Threads: the service's. Tests: tests/unit/outbox
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OUTBOX_H
#define PAWL_RUNTIME_OUTBOX_H

#include "pawl/endpoint.h"
#include "pawl/transport.h"

enum { PAWL__ROUTES_MAX = 64 };

typedef struct pawl__sink {
    const pawl_route *route;
    pawl_transport   *transport;  /* NULL: not open */
    int32_t           away_tries; /* in a row that reached nobody; 0: it is here */
    pawl_time         away_until; /* machine time of the next try; 0: it is not away */
    pawl_time         away_since;
    int64_t           away_pause;
    int64_t           first_left; /* id of the first row that was left for it; 0: none was */
    int64_t tried_to; /* id of the last row read for a try; the next one is given those behind it */
} pawl__sink;

typedef struct pawl__source_item {
    pawl_text source;
    size_t    value;
} pawl__source_item;

/* A number for each source, the ordering key of rows; see source_table.c. Zeroed but for the arena: empty. */
typedef struct pawl__source_table {
    pawl_arena        *arena;
    pawl__source_item *items;
    size_t             count, capacity;
    size_t             live; /* with a number other than 0 */
    bool is_own; /* nothing else is in the arena: a new one takes its place when the table grows */
} pawl__source_table;

/* Empty, with an arena of its own, which is for the caller to destroy; NULL in it: memory. source_table.c */
pawl__source_table pawl__source_table_create(void);

/* Sources that are left at once: beyond them nothing is passed, and other routes wait, too. */
#define PAWL__LEFT_MAX 500000

/* Routes that are away, and how far the rows of others were read; see unavailable_routes.c. */
typedef struct pawl__unavailable {
    pawl__source_table left;   /* of each source that was left: the number of the route */
    pawl__source_table first;  /* of each of them: the id of its first row that was left */
    int64_t            passed; /* id of the last row that was passed */
    int64_t            mark;   /* the same, half a minute ago */
    pawl_time          go_back_due, tried_due, due; /* machine times: of the next try at last */
    bool               is_page, is_last; /* the last read: behind `passed`; nothing is behind it */
    int64_t            page_end;         /* id of its last row */
    int64_t
                       tried_after; /* rows that were tried before are read from behind this id, and then from the first one */
    bool               is_behind; /* the last read: rows that were left may stand before the page */
    struct pawl__sink *tried;     /* the last read: the route whose try it is; NULL: no try */
    bool               is_full;   /* the limit was logged */
} pawl__unavailable;

struct pawl__service;
struct pawl_step;

/* NULL: no route of that name. */
const pawl_route *pawl__route_find(const pawl_endpoint *endpoint, pawl_text name);
/* Do messages for the route go by the outbox? */
static inline bool pawl__route_is_remote(const pawl_route *route)
{
    return route->url != NULL || route->outbound != NULL || route->is_outbox;
}
/* Opens and closes a sink for the route's URL, unless a route before it had the same one; a store's URL is only read. Fails
 * only when the URL itself is wrong, not when whoever it names is away. */
pawl_code pawl__sink_try(const pawl_endpoint *endpoint, const pawl_route *route, pawl_error *error);

/* leader.c: does this process deliver the endpoint's outbox now? From any thread. */
bool pawl__leader_is(const pawl_endpoint *endpoint);

/* dispatch.c: a round, when one is due. */
pawl_code pawl__outbox_run(struct pawl__service *service, struct pawl_step *step,
                           pawl_error *error);
void      pawl__outbox_close(struct pawl__service *service);
/* Forgets that it leads: after the store handle was lost. */
void pawl__outbox_forget(struct pawl__service *service);

#endif
