/* topology.h - the tables of an application as the verb `topology` prints them: in their own order, so
 * that the same application prints the same text.
 *
 * Everything lives in one arena, but for the names, which are the application's.
 *
 * Tests: tests/system/command_topology.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_TOPOLOGY_H
#define PAWL_CLI_TOPOLOGY_H

#include "cli/cli.h"

typedef enum pawl__part_kind {
    PAWL__PART_SAGA,
    PAWL__PART_PROCESS,
    PAWL__PART_ENTITY,
    PAWL__PART_HANDLER, /* a handler that belongs to no saga */
    PAWL__PART_AGGREGATOR,
    PAWL__PART_PROJECTION,
    PAWL__PART_SCHEDULE, /* without handlers */
    pawl__part_kind_count
} pawl__part_kind;

/* A handler of a part. */
typedef struct pawl__topology_row {
    const char *function;       /* its name; NULL: the program's tables are too old to have names */
    const pawl_record *message; /* or an event; NULL: a timeout */
    const char        *timeout;
    const char        *key, *transitional_key; /* NULL: none */
    const char        *missing; /* function that is called if no saga is found, or NULL */
    bool               starts;
    bool               is_declared;
    pawl_effect       *effects;
    size_t             effect_count;
} pawl__topology_row;

/* A saga, a process ...: with the handlers that it has. */
typedef struct pawl__topology_part {
    pawl__part_kind        kind;
    const char            *name;
    const pawl_saga_table *table; /* of a saga */
    pawl__topology_row    *rows;
    size_t                 row_count, row_capacity;
    const pawl_record    **events; /* emitted by a process or an entity */
    size_t                 event_count;
    const char            *key; /* of an aggregator's partitions, or NULL */
    int64_t                size, max, period;
    const pawl_record     *sent; /* by a schedule */
    const char            *cron, *zone;
    int64_t                every;
} pawl__topology_part;

typedef struct pawl__topology_endpoint {
    const char          *name, *queue;
    pawl_route          *routes;
    size_t               route_count;
    pawl__topology_part *parts;
    size_t               part_count;
} pawl__topology_endpoint;

typedef struct pawl__topology {
    const char              *name;
    pawl__topology_endpoint *endpoints;
    size_t                   endpoint_count;
} pawl__topology;

/* "saga", "process" ... */
extern const char *const pawl__part_kinds[];

/* Checks the tables as an endpoint would, and reads them. */
pawl_code pawl__topology_read(const pawl_application *application, pawl_arena *arena,
                              pawl__topology *topology, pawl_error *error);

/* Adds routes to all endpoints, as `pawl run --route` does. They replace routes of the table with the same name. */
void pawl__topology_route(pawl__topology *topology, const pawl_route *routes, size_t count,
                          pawl_arena *arena);

/* Base types of a message that are followed at most: those of a record that nobody checked may form a circle. */
#define PAWL__TOPOLOGY_BASES_MAX 16

/* Where a destination leads from an endpoint. */
typedef struct pawl__receiver {
    const pawl_route *route;    /* NULL: the destination is a queue of this store */
    const char       *queue;    /* NULL: out of this store */
    const char       *endpoint; /* of the application that reads the queue, or NULL */
} pawl__receiver;

pawl__receiver pawl__topology_receiver(const pawl__topology          *topology,
                                       const pawl__topology_endpoint *from,
                                       const char                    *destination);

/* "outbox, queue far", "sqlite:other.db, queue far", "an outbound transport" */
const char *pawl__route_text(const pawl_route *route, char *text, size_t size);

void pawl__topology_text(const pawl__topology *topology, FILE *out);
void pawl__topology_json(const pawl__topology *topology, FILE *out);
/* A drawing in dot's language or in mermaid's. */
void pawl__topology_graph(const pawl__topology *topology, bool is_dot, pawl_arena *arena,
                          FILE *out);

#endif
