/* topology_read.c - reads the tables of an application. An older program has smaller structs: their sizes are in its
 * tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/topology/topology.h"

#include "workflow/model.h"

#include <string.h>

const char *const pawl__part_kinds[] = {"saga",       "process",    "entity",  "handler",
                                        "aggregator", "projection", "schedule"};
_Static_assert(sizeof pawl__part_kinds / sizeof pawl__part_kinds[0] == pawl__part_kind_count,
               "a word for each kind");

typedef struct reader {
    const pawl_application       *application;
    pawl_arena                   *arena;
    const pawl_saga_table *const *tables;
    pawl__topology_endpoint      *endpoint;
    size_t                        part_capacity; /* of the endpoint */
} reader;

/* ---- Rows ---------------------------------------------------------------- */

static void *take(const reader *r, size_t count, size_t size)
{
    return pawl__must_take(r->arena, (count + 1) * size);
}

/* The application has the size of an effect if its rows have .does. */
static void read_effects(reader *r, const pawl_effect *does, pawl__topology_row *row)
{
    pawl_effect effect;
    size_t      capacity = 0;
    row->is_declared     = does != NULL;
    for (size_t i = 0; does != NULL; i++) {
        pawl__table_row(does, i, r->application->effect_size, &effect, sizeof effect);
        if (effect.kind == PAWL_EFFECT_END)
            return;
        row->effects = pawl__must_grow(r->arena, row->effects, i, &capacity, sizeof effect);
        row->effects[row->effect_count++] = effect;
    }
}

static pawl__topology_row *next_row(reader *r, pawl__topology_part *part)
{
    part->rows = pawl__must_grow(r->arena, part->rows, part->row_count, &part->row_capacity,
                                 sizeof *part->rows);
    return &part->rows[part->row_count++];
}

static void read_handler(reader *r, const pawl_handler *handler, const pawl_effect *does,
                         pawl__topology_row *row)
{
    *row         = (pawl__topology_row){.function = pawl__handler_name(r->application, handler)};
    row->message = handler->message != NULL ? handler->message() : NULL;
    read_effects(r, does, row);
}

/* Reads the row of a table; false at its end. */
static bool read_on(const reader *r, const pawl_on *rows, size_t index, pawl_on *on)
{
    if (rows == NULL)
        return false;
    pawl__table_row(rows, index, r->application->on_size, on, sizeof *on);
    return on->handle != NULL;
}

static void add_row(reader *r, const pawl_on *on, pawl__topology_part *part)
{
    pawl__topology_row *row = next_row(r, part);
    read_handler(r, on->handle, on->does, row);
    row->timeout          = on->timeout;
    row->key              = on->key;
    row->transitional_key = on->transitional_key;
    row->missing = on->missing != NULL ? pawl__handler_name(r->application, on->missing) : NULL;
    row->starts  = on->starts;
}

static void add_rows(reader *r, const pawl_on *rows, pawl__topology_part *part)
{
    pawl_on on;
    for (size_t i = 0; read_on(r, rows, i, &on); i++)
        add_row(r, &on, part);
}

/* ---- Parts --------------------------------------------------------------- */

static pawl__topology_part *next_part(reader *r, pawl__part_kind kind, const char *name)
{
    pawl__topology_endpoint *endpoint = r->endpoint;
    endpoint->parts           = pawl__must_grow(r->arena, endpoint->parts, endpoint->part_count,
                                                &r->part_capacity, sizeof *endpoint->parts);
    pawl__topology_part *part = &endpoint->parts[endpoint->part_count++];
    *part                     = (pawl__topology_part){.kind = kind, .name = name};
    return part;
}

static void read_saga(reader *r, const pawl_saga *given, const pawl_saga_table *table)
{
    pawl_saga saga;
    pawl__table_row(given, 0, r->application->saga_size, &saga, sizeof saga);
    pawl__topology_part *part = next_part(r, PAWL__PART_SAGA, saga.name);
    part->table               = table;
    add_rows(r, saga.on, part);
}

static void read_process(reader *r, const pawl_process *given, pawl__part_kind kind)
{
    pawl_process process;
    pawl__table_row(given, 0, r->application->process_size, &process, sizeof process);
    pawl__topology_part *part  = next_part(r, kind, process.name);
    size_t               count = pawl__list_count(process.apply);
    add_rows(r, process.on, part);
    part->events = take(r, count, sizeof part->events[0]);
    for (size_t i = 0; i < count; i++)
        part->events[part->event_count++] = process.apply[i]->event();
}

static void read_plain(reader *r, const pawl_on *on)
{
    pawl__topology_part *part = next_part(r, PAWL__PART_HANDLER, NULL);
    add_row(r, on, part);
    part->name = part->rows[0].function != NULL ? part->rows[0].function
                                                : pawl_record_type(part->rows[0].message);
}

static void read_aggregator(reader *r, const pawl_aggregator *given)
{
    pawl_aggregator whole;
    pawl__table_row(given, 0, r->application->aggregator_size, &whole, sizeof whole);
    pawl__topology_part *part = next_part(r, PAWL__PART_AGGREGATOR, whole.name);
    part->key                 = whole.key;
    part->max                 = whole.max;
    part->period              = whole.period;
    part->size = whole.size == 0 && whole.period == 0 ? PAWL__AGGREGATOR_SIZE_DEFAULT : whole.size;
    read_handler(r, whole.handle, whole.does, next_row(r, part));
}

static void read_projection(reader *r, const pawl_projection *given)
{
    pawl_projection whole;
    pawl_on         on;
    pawl__table_row(given, 0, r->application->projection_size, &whole, sizeof whole);
    pawl__topology_part *part = next_part(r, PAWL__PART_PROJECTION, whole.name);
    for (size_t i = 0; read_on(r, whole.on, i, &on); i++)
        read_handler(r, on.handle, whole.does, next_row(r, part));
}

/* A program from before schedules has neither their list nor the size of its rows. */
static void read_schedules(reader *r, const pawl_schedule *list)
{
    const pawl_application *application = r->application;
    size_t needed = offsetof(pawl_application, schedule_size) + sizeof application->schedule_size;
    if (list == NULL || application->application_size < needed || application->schedule_size == 0)
        return;
    for (size_t i = 0;; i++) {
        pawl_schedule row;
        pawl__table_row(list, i, application->schedule_size, &row, sizeof row);
        if (row.name == NULL)
            return;
        pawl__topology_part *part = next_part(r, PAWL__PART_SCHEDULE, row.name);
        part->sent                = row.message != NULL ? row.message() : NULL;
        part->cron                = row.cron;
        part->zone                = row.zone;
        part->every               = row.every;
    }
}

static void read_parts(reader *r, const pawl_endpoint_spec *spec)
{
    pawl_on on;
    r->part_capacity = 0;
    for (size_t i = 0; i < pawl__list_count(spec->sagas); i++)
        read_saga(r, spec->sagas[i], r->tables[i]);
    for (size_t i = 0; i < pawl__list_count(spec->processes); i++)
        read_process(r, spec->processes[i], PAWL__PART_PROCESS);
    for (size_t i = 0; i < pawl__list_count(spec->entities); i++)
        read_process(r, spec->entities[i], PAWL__PART_ENTITY);
    for (size_t i = 0; read_on(r, spec->handlers, i, &on); i++)
        read_plain(r, &on);
    for (size_t i = 0; i < pawl__list_count(spec->aggregators); i++)
        read_aggregator(r, spec->aggregators[i]);
    for (size_t i = 0; i < pawl__list_count(spec->projections); i++)
        read_projection(r, spec->projections[i]);
    read_schedules(r, spec->schedules);
}

/* ---- Routes -------------------------------------------------------------- */

static void read_routes(reader *r, const pawl_endpoint_options *given)
{
    pawl_endpoint_options options = {.options_size = 0};
    pawl_route            route;
    size_t                capacity = 0;
    memcpy(&options, given,
           given->options_size < sizeof options ? given->options_size : sizeof options);
    for (size_t i = 0; pawl__route_at(&options, i, &route); i++) {
        r->endpoint->routes =
            pawl__must_grow(r->arena, r->endpoint->routes, i, &capacity, sizeof route);
        r->endpoint->routes[r->endpoint->route_count++] = route;
    }
}

/* ---- All of it ----------------------------------------------------------- */

static pawl_code read_endpoint(reader *r, const pawl_endpoint_spec *given, pawl_error *error)
{
    pawl_endpoint_spec spec;
    size_t             count;
    pawl__table_row(given, 0, r->application->endpoint_size, &spec, sizeof spec);
    pawl_code code =
        pawl_endpoint_tables(r->application, spec.name, NULL, r->arena, &r->tables, &count, error);
    if (code != PAWL_OK)
        return code;
    *r->endpoint = (pawl__topology_endpoint){.name  = spec.name,
                                             .queue = spec.queue != NULL ? spec.queue : spec.name};
    read_parts(r, &spec);
    if (spec.options != NULL)
        read_routes(r, spec.options);
    return PAWL_OK;
}

pawl_code pawl__topology_read(const pawl_application *application, pawl_arena *arena,
                              pawl__topology *topology, pawl_error *error)
{
    reader    r    = {.application = application, .arena = arena};
    pawl_code code = PAWL_OK;
    *topology      = (pawl__topology){.name = application->name != NULL ? application->name : ""};
    topology->endpoints =
        take(&r, pawl__list_count(application->endpoints), sizeof topology->endpoints[0]);
    for (size_t i = 0; code == PAWL_OK && application->endpoints[i] != NULL; i++) {
        r.endpoint = &topology->endpoints[topology->endpoint_count++];
        code       = read_endpoint(&r, application->endpoints[i], error);
    }
    return code;
}

/* ---- Where a destination leads ------------------------------------------- */

pawl__receiver pawl__topology_receiver(const pawl__topology          *topology,
                                       const pawl__topology_endpoint *from, const char *destination)
{
    pawl__receiver receiver = {.queue = destination,
                               .route =
                                   pawl__route_named(from->routes, from->route_count, destination)};
    if (receiver.route != NULL && receiver.route->queue != NULL)
        receiver.queue = receiver.route->queue;
    if (receiver.route != NULL && (receiver.route->url != NULL || receiver.route->outbound != NULL))
        receiver.queue = NULL;
    for (size_t i = 0; receiver.queue != NULL && i < topology->endpoint_count; i++)
        if (strcmp(topology->endpoints[i].queue, receiver.queue) == 0)
            receiver.endpoint = topology->endpoints[i].name;
    return receiver;
}

const char *pawl__route_text(const pawl_route *route, char *text, size_t size)
{
    char        url[PAWL_URL_SIZE_MAX + 1];
    const char *queue = route->queue != NULL ? route->queue : route->name;
    if (route->outbound != NULL)
        snprintf(text, size, "an outbound transport of the application");
    else if (route->url != NULL)
        snprintf(text, size, "%s, queue %s", pawl__masked(route->url, url, sizeof url), queue);
    else
        snprintf(text, size, "%squeue %s", route->is_outbox ? "through the outbox, " : "", queue);
    return text;
}

void pawl__topology_route(pawl__topology *topology, const pawl_route *routes, size_t count,
                          pawl_arena *arena)
{
    for (size_t e = 0; e < topology->endpoint_count; e++) {
        pawl__topology_endpoint *endpoint = &topology->endpoints[e];
        size_t                   own      = endpoint->route_count;
        pawl_route              *made = pawl__must_take(arena, (own + count + 1) * sizeof *made);
        for (size_t i = 0; i < own; i++)
            made[i] = endpoint->routes[i];
        for (size_t i = 0; i < count; i++) {
            const pawl_route *same = pawl__route_named(made, own, routes[i].name);
            made[same != NULL ? (size_t)(same - made) : endpoint->route_count++] = routes[i];
        }
        endpoint->routes = made;
    }
}
