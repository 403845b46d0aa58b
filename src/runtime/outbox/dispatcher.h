/* dispatcher.h - types and functions that the files of the outbox share; outbox.h is the map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_DISPATCHER_H
#define PAWL_RUNTIME_DISPATCHER_H

#include "runtime/runtime.h"

/* ---- Sources ------------------------------------------------------------------ */

/* source_table.c. Forgets all. */
void pawl__source_table_clear(pawl__source_table *sources);
/* The number kept for a source; 0 when none is. */
size_t    pawl__source_table_get(const pawl__source_table *sources, pawl_text source);
pawl_code pawl__source_table_put(pawl__source_table *sources, pawl_text source, size_t value);

/* ---- A round -------------------------------------------------------------------- */

typedef enum pawl__row_state {
    PAWL__ROW_OPEN,    /* to be tried in a later pass */
    PAWL__ROW_CHOSEN,  /* handed to its sink in this pass */
    PAWL__ROW_MET,     /* came as pending behind a row that waits: to be held */
    PAWL__ROW_LEFT,    /* stays as it is in the store */
    PAWL__ROW_AWAY,    /* the same, until its route is back */
    PAWL__ROW_SETTLED, /* settled: rows behind it may go */
} pawl__row_state;

/* A row of a claim, with its delivery and the outcome. */
typedef struct pawl__round_row {
    pawl_outbox_row *row;
    pawl_delivery    delivery;
    pawl__sink      *outbound; /* NULL: no route */
    size_t           previous; /* of the same source: its index + 1, 0 when there is none */
    int64_t          duration;
    bool             is_handed; /* to its sink */
    pawl__row_state  state;
} pawl__round_row;

typedef struct pawl__round {
    pawl__round_row *rows;
    size_t           count;
    int64_t          term;    /* of the leadership in which the rows were claimed */
    bool             is_full; /* as many rows as a claim may have: there are more behind them */
} pawl__round;

/* The source that orders the row; none for a row that an operator enabled again, which neither
 * waits nor makes others wait. */
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

/* Renews the lease when it is time; service->is_leader is the answer. */
pawl_code pawl__leader_keep(pawl__service *service, pawl_error *error);
/* Before a row is sent or settled: as keep, and asks the store when its last answer is more than a
 * moment old. */
pawl_code pawl__leader_check(pawl__service *service, pawl_error *error);
/* Around each call of a sink: the time that calls take makes the lease longer. */
pawl_time pawl__leader_delivery_begin(const pawl__service *service);
void      pawl__leader_delivery_end(pawl__service *service, pawl_time begin);
/* Business time that a message without a delay arrives at when it is delivered now: never before
 * that of an earlier delivery, by whichever leader. */
pawl_time pawl__leader_arrival(pawl__service *service);
/* Commits changes that only the leader may make, all of them in group 0. When another dispatcher has
 * led since, nothing is applied and is_leader becomes false; else `refused` is as after
 * pawl_store_commit. */
pawl_code pawl__leader_commit(pawl__service *service, pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error);
bool      pawl__leader_is_waiting(const pawl__service *service, pawl_text source);
pawl_code pawl__leader_set_waiting(pawl__service *service, pawl_text source, bool is_waiting);

/* The outbox's delay, doubled so many times, with jitter. */
static inline int64_t pawl__outbox_pause(pawl__service *service, int32_t times, int64_t limit)
{
    int64_t pause = pawl__doubled(service->endpoint->settings.outbox_delay, times, limit);
    return pawl__jittered(pause, &service->random);
}

/* ---- Routes that are away ------------------------------------------------------------ */

/* Is a route away, or tried after it was? Then rows are read by pawl__unavailable_read. */
bool pawl__unavailable_is_any(pawl__service *service);
/* After a call that sent nothing, and after another one that did. */
void pawl__unavailable_begin(pawl__service *service, pawl__sink *outbound, pawl_text why);
void pawl__unavailable_end(pawl__service *service, pawl__sink *outbound);
void pawl__unavailable_forget(pawl__service *service);
/* Rows behind that id became pending again. */
void pawl__unavailable_go_back(pawl__service *service, int64_t id);
/* Pending rows to try now; their number may be 0 although others are behind them, see away.is_last. */
pawl_code pawl__unavailable_read(pawl__service *service, pawl_time now, pawl_outbox_rows *rows,
                                 pawl_error *error);
/* Does the row stay until a route is back? */
bool pawl__unavailable_waits(pawl__service *service, const pawl__round *round,
                             const pawl__round_row *row);
/* After a round of rows that pawl__unavailable_read gave. */
pawl_code pawl__unavailable_pass(pawl__service *service, const pawl__round *round,
                                 pawl_error *error);

/* ---- Delivering and settling --------------------------------------------------------- */

/* NULL: no route leads there. */
static inline pawl__sink *pawl__sink_find(pawl__service *service, pawl_text destination)
{
    const pawl_route *route = pawl__route_find(service->endpoint, destination);
    if (route == NULL || !pawl__route_is_remote(route))
        return NULL;
    pawl__sink *outbound = &service->sinks[route - service->endpoint->routes];
    outbound->route      = route;
    return outbound;
}

/* Does a delivery to the sink take effect in the commit that settles the row? */
bool pawl__sink_is_here(const pawl__sink *outbound);
/* May a row follow an unsettled row of its source to the same sink? */
bool pawl__sink_keeps_order(const pawl__sink *outbound);
/* Hands over the chosen rows of the sink, in order. The text says why one of them was not sent, and is empty otherwise. */
pawl_text pawl__sink_deliver(pawl__service *service, pawl__round *round, pawl__sink *outbound);

/* Settles the chosen rows and holds the rows that were met. Rows become SETTLED or LEFT; nothing is
 * written when another dispatcher leads. */
pawl_code pawl__round_settle(pawl__service *service, pawl__round *round, pawl_step *step,
                             pawl_error *error);

#endif
