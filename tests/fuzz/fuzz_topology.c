/* fuzz_topology.c - tables of applications: what an endpoint takes is printed as text, JSON and drawings, and compared
 * with another program's.
 *
 * Input: bytes that choose the parts of two applications, and their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"
#include "unit/record/test_record_sample.h"

#include "cli/topology/topology.h"
#include "pawl/upgrade.h"

#include <stdlib.h>
#include <string.h>

#define PASSWORD "Sesame"

typedef struct maker {
    fuzz_input  in;
    pawl_arena *arena;
} maker;

static void *take(maker *m, size_t size)
{
    void *made = pawl_arena_take(m->arena, size);
    FUZZ_CHECK(made != NULL);
    return made;
}

static const char *name(maker *m)
{
    static const char *const names[] = {"a",      "b",       "Order",    "late",
                                        "a_text", "a_int64", "order_id", "home.city",
                                        "a_uuid", "id",      "billing",  "o_time"};
    unsigned                 chosen  = fuzz_byte(&m->in);
    if (chosen < 240)
        return names[chosen % (sizeof names / sizeof names[0])];
    const char *made = fuzz_string(fuzz_text(&m->in), m->arena);
    return strstr(made, PASSWORD) == NULL ? made : names[0];
}

static const char *name_or_none(maker *m)
{
    return fuzz_below(&m->in, 3) == 0 ? NULL : name(m);
}

static pawl_record_fn *record(maker *m)
{
    static pawl_record_fn *const records[] = {PAWL_RECORD_OF(sample), PAWL_RECORD_OF(order),
                                              PAWL_RECORD_OF(node), PAWL_RECORD_OF(address)};
    return records[fuzz_below(&m->in, 4)];
}

static pawl_code do_nothing(pawl_context *ctx, void *state, const void *message, size_t count)
{
    return PAWL_OK;
}

static const pawl_effect *effects(maker *m)
{
    size_t       count = fuzz_below(&m->in, 3);
    pawl_effect *made  = take(m, (count + 1) * sizeof *made);
    if (fuzz_below(&m->in, 2) == 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        made[i] = (pawl_effect){.kind    = (pawl_effect_kind)(1 + fuzz_below(&m->in, 4)),
                                .message = fuzz_below(&m->in, 4) == 0 ? NULL : record(m),
                                .name    = name_or_none(m)};
    return made;
}

/* A handler that a macro of application.h or process.h can make, mostly one that fits. */
static const pawl_handler *handler(maker *m, pawl_record_fn *state, bool is_stream, bool is_list)
{
    pawl_handler *made = take(m, sizeof *made);
    *made = (pawl_handler){.message = record(m), .call = do_nothing, .name = name_or_none(m)};
    if (fuzz_below(&m->in, 16) == 0) {
        state     = fuzz_below(&m->in, 2) == 0 ? NULL : record(m);
        is_stream = fuzz_below(&m->in, 2) == 0;
        is_list   = fuzz_below(&m->in, 2) == 0;
    }
    made->state     = is_list ? NULL : state;
    made->is_list   = is_list;
    made->is_stream = is_stream && made->state != NULL;
    if (made->state != NULL && fuzz_below(&m->in, 5) == 0)
        made->message = NULL; /* a timeout's */
    return made;
}

static const pawl_on *rows(maker *m, pawl_record_fn *state, bool is_stream)
{
    size_t   count = fuzz_below(&m->in, 4);
    pawl_on *made  = take(m, (count + 1) * sizeof *made);
    for (size_t i = 0; i < count; i++) {
        unsigned how = fuzz_byte(&m->in);
        made[i]      = (pawl_on){.handle           = handler(m, state, is_stream, false),
                                 .key              = name_or_none(m),
                                 .transitional_key = (how & 1) != 0 ? NULL : name_or_none(m),
                                 .starts           = (how & 2) != 0,
                                 .own_sql          = (how & 4) != 0,
                                 .not_found        = (pawl_not_found)(how >> 3 & 1),
                                 .does             = effects(m)};
        if (made[i].handle->message == NULL)
            made[i].timeout = name(m);
    }
    return made;
}

static const pawl_saga *saga(maker *m)
{
    pawl_saga      *made  = take(m, sizeof *made);
    pawl_record_fn *state = record(m);
    *made                 = (pawl_saga){.name         = name(m),
                                        .table        = name_or_none(m),
                                        .state        = state,
                                        .correlation  = name_or_none(m),
                                        .transitional = name_or_none(m),
                                        .on           = rows(m, state, false)};
    return made;
}

static void apply_nothing(sample *state, const order *event)
{
}
PAWL_APPLY(apply_nothing, sample, order);

static const pawl_process *process(maker *m)
{
    static const pawl_apply *const apply[] = {PAWL_APPLIES(apply_nothing), NULL};
    pawl_process                  *made    = take(m, sizeof *made);
    pawl_record_fn                *state   = PAWL_RECORD_OF(sample);
    *made                                  = (pawl_process){.name           = name(m),
                                                            .state          = state,
                                                            .on             = rows(m, state, true),
                                                            .apply          = apply,
                                                            .snapshot_every = fuzz_byte(&m->in)};
    return made;
}

static const pawl_aggregator *aggregator(maker *m)
{
    pawl_aggregator *made = take(m, sizeof *made);
    *made                 = (pawl_aggregator){.name   = name(m),
                                              .handle = handler(m, NULL, false, true),
                                              .key    = name_or_none(m),
                                              .size   = fuzz_byte(&m->in),
                                              .max    = fuzz_byte(&m->in),
                                              .period = fuzz_integer(&m->in),
                                              .does   = effects(m)};
    return made;
}

static const pawl_projection *projection(maker *m)
{
    pawl_projection *made = take(m, sizeof *made);
    *made = (pawl_projection){.name = name(m), .on = rows(m, NULL, false), .does = effects(m)};
    return made;
}

static const pawl_schedule *schedules(maker *m)
{
    static const char *const lines[] = {"*/5 * * * *", "0 0 30 2 *", "@daily", "x"};
    size_t                   count   = fuzz_below(&m->in, 3);
    pawl_schedule           *made    = take(m, (count + 1) * sizeof *made);
    for (size_t i = 0; i < count; i++)
        made[i] = (pawl_schedule){.name    = name(m),
                                  .message = record(m),
                                  .cron    = fuzz_below(&m->in, 2) == 0 ? NULL
                                                                        : lines[fuzz_below(&m->in, 4)],
                                  .zone    = fuzz_below(&m->in, 2) == 0 ? NULL : "UTC",
                                  .every   = fuzz_below(&m->in, 2) == 0 ? 0 : fuzz_integer(&m->in)};
    return made;
}

/* Up to `limit` - 1 of them, and the end of the list. */
#define LIST_OF(type, make)                                         \
    static const type *const *make##_list(maker *m, unsigned limit) \
    {                                                               \
        size_t       count = fuzz_below(&m->in, limit);             \
        const type **made  = take(m, (count + 1) * sizeof(type *)); \
        for (size_t i = 0; i < count; i++)                          \
            made[i] = make(m);                                      \
        return made;                                                \
    }
LIST_OF(pawl_saga, saga)
LIST_OF(pawl_process, process)
LIST_OF(pawl_aggregator, aggregator)
LIST_OF(pawl_projection, projection)

static const pawl_endpoint_options *options(maker *m)
{
    static const char *const urls[] = {NULL, "memory:x", "amqp://u:" PASSWORD "@h/", "?"};
    size_t                   count  = fuzz_below(&m->in, 3);
    pawl_route              *routes = take(m, (count + 1) * sizeof *routes);
    pawl_endpoint_options   *made   = take(m, sizeof *made);
    *made                           = (pawl_endpoint_options){
                                  .options_size = sizeof *made, .routes = routes, .route_size = sizeof *routes};
    for (size_t i = 0; i < count; i++)
        routes[i] = (pawl_route){.name      = name(m),
                                 .url       = urls[fuzz_below(&m->in, 4)],
                                 .queue     = name_or_none(m),
                                 .is_outbox = fuzz_below(&m->in, 2) == 0};
    return made;
}

static const pawl_endpoint_spec *endpoint(maker *m)
{
    pawl_endpoint_spec *made = take(m, sizeof *made);
    *made                    = (pawl_endpoint_spec){.name        = name(m),
                                                    .queue       = name_or_none(m),
                                                    .sagas       = saga_list(m, 3),
                                                    .handlers    = rows(m, NULL, false),
                                                    .aggregators = aggregator_list(m, 2),
                                                    .processes   = process_list(m, 2),
                                                    .entities    = process_list(m, 2),
                                                    .projections = projection_list(m, 2),
                                                    .options     = options(m),
                                                    .schedules   = schedules(m)};
    return made;
}
LIST_OF(pawl_endpoint_spec, endpoint)

static pawl_application application(maker *m)
{
    return (pawl_application){PAWL_APPLICATION_HEAD, .name = name(m),
                              .endpoints = endpoint_list(m, 3)};
}

/* ---- The checks ----------------------------------------------------------------- */

static void print(const pawl__topology *topology, pawl_arena *arena)
{
    char  *text = NULL, *json = NULL;
    size_t text_size = 0, json_size = 0;
    FILE  *out = open_memstream(&text, &text_size);
    FUZZ_CHECK(out != NULL);
    pawl__topology_text(topology, out);
    pawl__topology_graph(topology, true, arena, out);
    pawl__topology_graph(topology, false, arena, out);
    (void)fclose(out);
    FUZZ_CHECK(strstr(text, PASSWORD) == NULL);
    free(text);
    out = open_memstream(&json, &json_size);
    FUZZ_CHECK(out != NULL);
    pawl__topology_json(topology, out);
    (void)fclose(out);
    FUZZ_CHECK(fuzz_is_json((pawl_text){.data = json, .size = json_size}));
    FUZZ_CHECK(strstr(json, PASSWORD) == NULL);
    free(json);
}

static void count_found(const pawl_upgrade_found *found, void *context)
{
    FUZZ_CHECK(found->reason < PAWL_UPGRADE_REASON_COUNT && found->kind[0] != '\0');
    ++*(size_t *)context;
}

static void compare(const pawl_application *old, const pawl_application *new, pawl_arena *arena)
{
    pawl_upgrade *from = NULL, *to = NULL;
    size_t        count = 0;
    pawl_error    error = PAWL_ERROR_INIT;
    if (pawl_upgrade_create(old, NULL, &from, &error) == PAWL_OK &&
        pawl_upgrade_create(new, NULL, &to, &error) == PAWL_OK) {
        FUZZ_CHECK(pawl_upgrade_compare(from, to, arena, count_found, &count, &error) == PAWL_OK);
        count = 0;
        FUZZ_CHECK(pawl_upgrade_compare(to, to, arena, count_found, &count, &error) == PAWL_OK);
        FUZZ_CHECK(count == 0);
    }
    pawl_upgrade_destroy(from);
    pawl_upgrade_destroy(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maker            m     = {.in = {data, size}, .arena = fuzz_arena()};
    pawl_error       error = PAWL_ERROR_INIT;
    pawl_application first = application(&m), second = application(&m);
    pawl__topology   topology = {.name = NULL};
    pawl_code        code     = pawl__topology_read(&first, m.arena, &topology, &error);
    if (code == PAWL_OK)
        print(&topology, m.arena);
    else
        FUZZ_CHECK(code != PAWL_ENOMEM && error.text[0] != '\0');
    compare(&first, &second, m.arena);
    pawl_arena_destroy(m.arena);
    return 0;
}
