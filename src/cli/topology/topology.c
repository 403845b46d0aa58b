/* topology.c - `pawl topology print`: who handles, sends, publishes and times what, by the tables of an
 * application alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/topology/topology.h"
#include "cli/run/run.h"

#include <string.h>

typedef struct verb_fields {
    const char *action;
    const char *application;
    const char *format;
    pawl__texts routes;
} verb_fields;

static const char *const       action_names[] = {"print", NULL};
static const pawl__choice_line action_lines[] = {
    {"", "the tables of --app, as text or as a drawing"},
};
PAWL__LINES_FIT(action_names, action_lines);
static const char *const format_names[] = {"dot", "json", "mermaid", "text", NULL};

const pawl__argument pawl__topology_verb_arguments[] = {
    {.name    = "ACTION",
     .offset  = offsetof(verb_fields, action),
     .choices = action_names,
     .lines   = action_lines},
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__topology_verb_options[] = {
    OPTION("app", TEXT, application, "APP.so", 0, "the application whose tables are read"),
    OPTION("format", TEXT, format, "FORMAT", 0,
           "text, json (one object), mermaid or dot (drawings)", .choices = format_names,
           .text_default = "text"),
    OPTION("route", LIST, routes, "NAME=URL#QUEUE", 0,
           "where a destination leads, as pawl run takes it: before a route of the application"),
    {.name = NULL},
};

const pawl__report pawl__topology_verb_reports[] = {
    {"the object", NULL, "application endpoints"},
    {"one of endpoints", NULL, "name queue routes parts"},
    {"one of routes", NULL, "name leads_to url queue"},
    {"one of parts", NULL,
     "kind name table correlation transitional key size max period emits message cron zone every "
     "handles"},
    {"correlation", NULL, "property type"},
    {"one of handles", NULL, "message timeout function key transitional_key starts missing does"},
    {"one of does", NULL, "kind message timeout destination queue endpoint"},
    {.what = NULL},
};

static pawl_code print(const pawl__topology *topology, const char *format, pawl_arena *arena,
                       pawl_error *error)
{
    if (strcmp(format, "json") == 0)
        return pawl__topology_json(topology, stdout, error);
    if (strcmp(format, "text") != 0)
        return pawl__topology_graph(topology, strcmp(format, "dot") == 0, arena, stdout, error);
    pawl__topology_text(topology, stdout);
    return PAWL_OK;
}

static pawl_code add_routes(const verb_fields *fields, pawl__topology *topology, pawl_arena *arena,
                            pawl_error *error)
{
    pawl_route routes[PAWL__TEXTS_MAX];
    for (size_t i = 0; i < fields->routes.count; i++) {
        pawl_code code = pawl__route_read(fields->routes.items[i], arena, &routes[i], error);
        for (size_t j = 0; code == PAWL_OK && j < i; j++)
            if (strcmp(routes[j].name, routes[i].name) == 0)
                code = pawl_error_set(error, PAWL_EINVAL, "'%s' is given twice", routes[i].name);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "--route");
    }
    return pawl__topology_route(topology, routes, fields->routes.count, arena, error);
}

static pawl_code work(const verb_fields *fields, pawl__loaded *loaded, pawl_arena *arena,
                      pawl_error *error)
{
    pawl__topology topology;
    pawl_code      code = PAWL_OK;
    if (fields->application == NULL)
        code = pawl_error_set(error, PAWL_EINVAL, "give --app APP.so");
    if (code == PAWL_OK)
        code = pawl__application_load(fields->application, loaded, error);
    if (code == PAWL_OK)
        code = pawl__topology_read(loaded->application, arena, &topology, error);
    if (code == PAWL_OK)
        code = add_routes(fields, &topology, arena, error);
    return code == PAWL_OK ? print(&topology, fields->format, arena, error) : code;
}

int pawl__topology_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields  fields = {.application = NULL};
    pawl__loaded loaded = {NULL, NULL};
    pawl_error   error  = PAWL_ERROR_INIT;
    pawl_code    code   = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        code = pawl_error_set(&error, PAWL_ENOMEM, "out of memory");
    else
        code = work(&fields, &loaded, arena, &error);
    fflush(stdout);
    pawl__application_unload(&loaded);
    pawl_arena_destroy(arena);
    return pawl__fail(code, &error);
}
