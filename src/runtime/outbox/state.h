/* state.h - the outbox runner's state between two rounds: sinks, sources that wait, routes that are away.
 *
 * Threads: the service's. Tests: tests/unit/outbox
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNNER_STATE_H
#define PAWL_RUNNER_STATE_H

#include "pawl/endpoint.h"
#include "pawl/transport.h"

typedef struct pawl__sink {
    const pawl_route *route;
    pawl_transport   *transport;  /* NULL: not open */
    int32_t           away_tries; /* in a row that reached nobody; 0: it is here */
    pawl_time         away_until; /* machine time of the next try; 0: it is not away */
    pawl_time         away_since;
    int64_t           away_pause;
    int64_t           first_left; /* id of the first row that was left for it; 0: none was */
} pawl__sink;

typedef struct pawl__source_item {
    pawl_text source;
    size_t    value;
} pawl__source_item;
/* A number for each source; see outbox/sources.c. Zeroed but for the arena: empty. */
typedef struct pawl__sources {
    pawl_arena        *arena;
    pawl__source_item *items;
    size_t             count, capacity;
} pawl__sources;

/* Routes that are away, and how far the rows of others were read; see outbox/away.c. */
typedef struct pawl__away {
    pawl__sources left;   /* of each source that was left: the number of the route */
    int64_t       passed; /* id of the last row that was passed */
    int64_t       mark;   /* the same, half a minute ago */
    pawl_time     go_back_due, tried_due, due; /* machine times: of the next try at last */
    bool          is_page, is_last; /* the last read: behind `passed`; nothing is behind it */
    int64_t       page_end;         /* id of its last row */
} pawl__away;

#endif
