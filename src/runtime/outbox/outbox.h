/* outbox.h - the outbox dispatcher: delivers rows to other stores and brokers until the receiver accepts them.
 *
 *     a round:  lead -> claim pending rows -> { choose -> deliver, outbound transport by outbound transport -> settle }*
 *
 *     leader.c              the lease: one dispatcher at a time leads; if it dies, another takes over
 *     dispatch.c            a round: chooses the rows of each pass
 *     outbound.c            opens, calls and closes the outbound transport of each route
 *     settle.c              writes results: delivered, retried later or dead, in one commit
 *     unavailable_routes.c  routes whose receiver is unavailable: their rows wait, and no attempt is counted
 *     source_table.c        a table of ordering keys ("sources"), such as those with a row that waits
 *     dispatcher.h          types and functions that these files share
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

typedef struct pawl__outbound {
    const pawl_route *route;
    pawl_transport   *transport;  /* NULL: not open */
    int32_t           away_tries; /* failed tries in a row; 0: it is available */
    pawl_time         away_until; /* machine time of the next try; 0: may be called */
    pawl_time         away_since;
    int64_t           away_pause;
    int64_t           first_left; /* id of the first row that waits for it; 0: none */
    int64_t tried_to; /* id of the last row read for a try; the next try reads on after it */
} pawl__outbound;

typedef struct pawl__source_item {
    pawl_text source;
    size_t    value;
} pawl__source_item;

/* A table from sources (ordering keys) to numbers; see source_table.c. All members but the arena are zero: empty. */
typedef struct pawl__source_table {
    pawl_arena        *arena;
    pawl__source_item *items;
    size_t             count, capacity;
    size_t             live;   /* items with a number other than 0 */
    bool               is_own; /* has the arena for itself, and replaces it when it grows */
} pawl__source_table;

/* source_table.c: an empty table with its own arena, which the caller destroys; arena NULL: no memory. */
pawl__source_table pawl__source_table_create(void);

/* Maximum of sources whose rows wait for unavailable routes. Above it rows of other routes wait, too. */
#define PAWL__LEFT_MAX 500000

/* Unavailable routes, and how far rows of others were read; see unavailable_routes.c. */
typedef struct pawl__unavailable {
    pawl__source_table left;   /* per waiting source: number of the route that it waits for */
    pawl__source_table first;  /* per waiting source: id of its first waiting row */
    int64_t            passed; /* id up to which rows need not be read again */
    int64_t            mark;   /* `passed` of half a minute ago */
    pawl_time go_back_due, tried_due, due; /* machine times; due: of the next try of a route */
    bool      is_page, is_last;            /* last read: was after `passed`; reached the end */
    int64_t   page_end;                    /* id of the last row of that page */
    int64_t   tried_after; /* reads of rows with attempts continue after this id, in a cycle */
    bool      is_behind;   /* last read: waiting rows may precede the page */
    struct pawl__outbound *tried;   /* last read: the route that it tries, or NULL */
    bool                   is_full; /* the limit was logged */
} pawl__unavailable;

struct pawl__service;
struct pawl_step;

/* NULL: no route of that name. */
const pawl_route *pawl__route_find(const pawl_endpoint *endpoint, pawl_text name);
/* Do messages for the route go through the outbox? */
static inline bool pawl__route_is_remote(const pawl_route *route)
{
    return route->url != NULL || route->outbound != NULL || route->is_outbox;
}
/* Checks the route's URL, unless an earlier route has the same one: opens and closes an outbound transport; of a store
 * only reads the URL. Fails only if the URL is wrong, not if the receiver is unavailable. */
pawl_code pawl__outbound_try(const pawl_endpoint *endpoint, const pawl_route *route,
                             pawl_error *error);

/* leader.c: does this process deliver the endpoint's outbox now? From any thread. */
bool pawl__leader_is(const pawl_endpoint *endpoint);

/* dispatch.c: runs a round if one is due. */
pawl_code pawl__outbox_run(struct pawl__service *service, struct pawl_step *step,
                           pawl_error *error);
void      pawl__outbox_close(struct pawl__service *service);
/* Called after the store handle was lost: forgets the lease. */
void pawl__outbox_forget(struct pawl__service *service);

#endif
