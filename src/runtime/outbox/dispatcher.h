/* dispatcher.h - types and functions that the files of the outbox share; outbox.h gives the overview.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_DISPATCHER_H
#define PAWL_RUNTIME_DISPATCHER_H

#include "runtime/runtime.h"

/* ---- Sources ------------------------------------------------------------------ */

/* source_table.c: empties the table. */
void pawl__source_table_clear(pawl__source_table *sources);
/* The number of the source, or 0. */
size_t    pawl__source_table_get(const pawl__source_table *sources, pawl_text source);
pawl_code pawl__source_table_put(pawl__source_table *sources, pawl_text source, size_t value);

/* ---- A round -------------------------------------------------------------------- */

typedef enum pawl__row_state {
    PAWL__ROW_OPEN,    /* to be tried in a later pass */
    PAWL__ROW_CHOSEN,  /* for its outbound transport in this pass */
    PAWL__ROW_MET,     /* is pending behind a row that waits: has to be held */
    PAWL__ROW_LEFT,    /* stays in the store as it is */
    PAWL__ROW_AWAY,    /* the same, until its route is available */
    PAWL__ROW_SETTLED, /* settled: later rows of its source may go */
} pawl__row_state;

/* A row of a claim, with its delivery and the outcome. */
typedef struct pawl__round_row {
    pawl_outbox_row *row;
    pawl_delivery    delivery;
    pawl__outbound  *outbound; /* NULL: no route */
    size_t           previous; /* previous row of its source: index + 1, or 0 */
    int64_t          duration;
    bool             is_handed; /* was passed to its outbound transport */
    bool             is_behind; /* an earlier row of its source waits */
    pawl__row_state  state;
} pawl__round_row;

typedef struct pawl__round {
    pawl__round_row *rows;
    size_t           count;
    int64_t          term;    /* number of the take-over under which they were claimed */
    bool             is_full; /* the claim was full: the store may have more */
} pawl__round;

/* The source that orders the row. Empty for a row that an operator enabled again: it neither waits nor makes others
 * wait. */
static inline pawl_text pawl__round_source(const pawl_outbox_row *row)
{
    return row->attempts_before > 0 ? (pawl_text){.data = "", .size = 0} : row->source;
}

static inline const pawl__round_row *pawl__round_previous(const pawl__round     *round,
                                                          const pawl__round_row *row)
{
    return row->previous > 0 ? &round->rows[row->previous - 1] : NULL;
}

/* ---- Leading ---------------------------------------------------------------------- */

/* Renews the lease if it is time; the result is service->is_leader. */
pawl_code pawl__leader_keep(pawl__service *service, pawl_error *error);
/* Called before a row is sent or settled: like keep, but also asks the store if its last answer is not recent. */
pawl_code pawl__leader_check(pawl__service *service, pawl_error *error);
/* Called around each call of an outbound transport, to measure it: slow calls make the lease longer. */
pawl_time pawl__leader_delivery_begin(const pawl__service *service);
void      pawl__leader_delivery_end(pawl__service *service, pawl_time begin);
/* Due time of a message without a delay that is delivered now. Never earlier than that of a previous delivery, by this
 * leader or another. */
pawl_time pawl__leader_arrival(pawl__service *service);
/* Commits changes, all in group 0, if this dispatcher still leads. If another has led meanwhile, nothing is applied and
 * is_leader becomes false; otherwise `refused` is as after pawl_store_commit. */
pawl_code pawl__leader_commit(pawl__service *service, pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error);
bool      pawl__leader_is_waiting(const pawl__service *service, pawl_text source);
pawl_code pawl__leader_set_waiting(pawl__service *service, pawl_text source, bool is_waiting);

/* outbox_delay, doubled `times` times, with jitter. */
static inline int64_t pawl__outbox_pause(pawl__service *service, int32_t times, int64_t limit)
{
    int64_t pause = pawl__doubled(service->endpoint->settings.outbox_delay, times, limit);
    return pawl__jittered(pause, &service->random);
}

/* ---- Unavailable routes -------------------------------------------------------------- */

/* Is a route unavailable, or being tried after that? Then rows are read by pawl__unavailable_read. */
bool pawl__unavailable_is_any(pawl__service *service);
/* Begin: called after a call that reached nobody. End: after the next one that did. */
void pawl__unavailable_begin(pawl__service *service, pawl__outbound *outbound, pawl_text why);
void pawl__unavailable_end(pawl__service *service, pawl__outbound *outbound);
void pawl__unavailable_forget(pawl__service *service);
/* Called when rows after that id became pending again: they will be read again. */
void pawl__unavailable_go_back(pawl__service *service, int64_t id);
/* Reads pending rows to try now. The result may be empty though more rows follow, see unavailable.is_last. */
pawl_code pawl__unavailable_read(pawl__service *service, pawl_time now, pawl_outbox_rows *rows,
                                 pawl_error *error);
/* Does the row wait for an unavailable route? */
bool pawl__unavailable_waits(pawl__service *service, const pawl__round *round,
                             const pawl__round_row *row);
/* Called after a round with the rows of pawl__unavailable_read: notes how far rows are done. */
pawl_code pawl__unavailable_pass(pawl__service *service, const pawl__round *round,
                                 pawl_error *error);

/* ---- Delivering and settling --------------------------------------------------------- */

/* NULL: there is no route. */
static inline pawl__outbound *pawl__outbound_find(pawl__service *service, pawl_text destination)
{
    const pawl_route *route = pawl__route_find(service->endpoint, destination);
    if (route == NULL || !pawl__route_is_remote(route))
        return NULL;
    pawl__outbound *outbound = &service->outbounds[route - service->endpoint->routes];
    outbound->route          = route;
    return outbound;
}

/* Is a row delivered by the commit that settles it (a queue of this store)? */
bool pawl__outbound_is_here(const pawl__outbound *outbound);
/* May several rows of one source be sent to the outbound transport in one pass? */
bool pawl__outbound_keeps_order(const pawl__outbound *outbound);
/* Passes the chosen rows to the outbound transport, in order. Returns why one of them was not sent; empty: all were. */
pawl_text pawl__outbound_deliver(pawl__service *service, pawl__round *round,
                                 pawl__outbound *outbound);

/* Settles the chosen rows and holds those that are MET. Rows become SETTLED or LEFT; if another dispatcher leads,
 * nothing is written. */
pawl_code pawl__round_settle(pawl__service *service, pawl__round *round, pawl_step *step,
                             pawl_error *error);

#endif
