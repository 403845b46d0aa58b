/* topology.c - `pawl topology print`: prints, from the tables of an application, who handles, sends, publishes and
 * times which messages. No store is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/topology/topology.h"
#include "base/calm.h"
#include "cli/run/run.h"
#include "workflow/model.h"

#include <stdarg.h>
#include <string.h>

typedef struct verb_fields {
    const char *action, *application, *format;
    pawl__texts routes;
} verb_fields;

#define ACTIONS(X) X(PRINT, "print", "", "the tables of --app, as text or as a drawing", NULL)
PAWL__ACTIONS(ACTIONS)
static const char *const format_names[] = {"dot", "json", "mermaid", "text", NULL};

const pawl__argument pawl__topology_verb_arguments[] = {PAWL__ARGUMENT_ACTION(verb_fields, action),
                                                        {.name = NULL}};
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
    {"one of does", NULL, "kind message bases timeout destination queue endpoint"},
    {.what = NULL},
};

#define LINE_SIZE 5000

static const char *or_none(const char *name)
{
    return name != NULL ? name : "?";
}

/* ---- For people ---------------------------------------------------------- */

static void say(FILE *out, int indent, const char *format, ...) PAWL_PRINTF(3, 4);
static void say(FILE *out, int indent, const char *format, ...)
{
    char    line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pawl__calm_line(line, strlen(line));
    fprintf(out, "%*s%s\n", indent, "", line);
}

static void say_send(const pawl__topology *topology, const pawl__topology_endpoint *endpoint,
                     const pawl_effect *effect, FILE *out)
{
    const char *type = pawl_record_type(effect->message());
    if (effect->name == NULL) {
        say(out, 6, "sends %s to any destination", type);
        return;
    }
    char           text[PAWL_URL_SIZE_MAX + 300];
    pawl__receiver receiver = pawl__topology_receiver(topology, endpoint, effect->name);
    if (receiver.endpoint != NULL)
        say(out, 6, "sends %s to %s: endpoint %s", type, effect->name, receiver.endpoint);
    else if (receiver.route != NULL)
        say(out, 6, "sends %s to %s: %s", type, effect->name,
            pawl__route_text(receiver.route, text, sizeof text));
    else
        say(out, 6, "sends %s to %s", type, effect->name);
}

static void say_effects(const pawl__topology *topology, const pawl__topology_endpoint *endpoint,
                        const pawl__topology_row *row, FILE *out)
{
    for (size_t i = 0; i < row->effect_count; i++) {
        const pawl_effect *effect = &row->effects[i];
        if (effect->kind == PAWL_EFFECT_SEND)
            say_send(topology, endpoint, effect, out);
        else if (effect->kind == PAWL_EFFECT_TIMEOUT)
            say(out, 6, "sets timeout %s", effect->name);
        else
            say(out, 6, "%s %s", effect->kind == PAWL_EFFECT_PUBLISH ? "publishes" : "replies with",
                pawl_record_type(effect->message()));
    }
    if (row->is_declared && row->effect_count == 0)
        say(out, 6, "sends nothing");
    else if (!row->is_declared)
        say(out, 6, "what it sends is not declared");
}

static void say_row(const pawl__topology *topology, const pawl__topology_endpoint *endpoint,
                    const pawl__topology_row *row, FILE *out)
{
    bool has_other = row->transitional_key != NULL;
    say(out, 4, "%s%s: %s%s%s%s%s%s%s%s", row->message != NULL ? "" : "timeout ",
        row->message != NULL ? pawl_record_type(row->message) : or_none(row->timeout),
        or_none(row->function), row->key != NULL ? ", by " : "", row->key != NULL ? row->key : "",
        has_other ? " or " : "", has_other ? row->transitional_key : "",
        row->starts ? ", starts" : "", row->missing != NULL ? ", without one " : "",
        row->missing != NULL ? row->missing : "");
    say_effects(topology, endpoint, row, out);
}

static void append(char text[LINE_SIZE], const char *format, ...) PAWL_PRINTF(2, 3);
static void append(char text[LINE_SIZE], const char *format, ...)
{
    size_t  used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + used, LINE_SIZE - used, format, arguments);
    va_end(arguments);
}

static void append_correlation(char text[LINE_SIZE], const char *what,
                               const pawl_correlation *correlation)
{
    if (correlation->type != PAWL_VALUE_NONE)
        append(text, ", %s %.*s (%s)", what, PAWL_TEXT_ARGS(correlation->property),
               pawl_value_type_name(correlation->type));
}

static void say_part(const pawl__topology_part *part, FILE *out)
{
    char line[LINE_SIZE], span[PAWL__SPAN_SIZE];
    snprintf(line, sizeof line, "%s %s", pawl__part_kinds[part->kind], part->name);
    if (part->table != NULL) {
        append(line, ": table %.*s", PAWL_TEXT_ARGS(part->table->name));
        append_correlation(line, "correlation", &part->table->main);
        append_correlation(line, "transitional", &part->table->transitional);
    }
    if (part->size != 0)
        append(line, ", when there are %lld", (long long)part->size);
    if (part->period != 0)
        append(line, ", after %s", pawl__span_text(part->period, span));
    if (part->max != 0)
        append(line, ", at most %lld at once", (long long)part->max);
    if (part->kind == PAWL__PART_AGGREGATOR && part->key != NULL)
        append(line, ", by %s", part->key);
    if (part->sent != NULL)
        append(line, ": sends %s", pawl_record_type(part->sent));
    if (part->cron != NULL)
        append(line, ", %s %s", part->cron, part->zone != NULL ? part->zone : "UTC");
    if (part->every != 0)
        append(line, ", every %s", pawl__span_text(part->every, span));
    for (size_t i = 0; i < part->event_count; i++)
        append(line, "%s%s", i == 0 ? ": emits " : ", ", pawl_record_type(part->events[i]));
    say(out, 2, "%s", line);
}

void pawl__topology_text(const pawl__topology *topology, FILE *out)
{
    say(out, 0, "application %s", topology->name);
    for (size_t e = 0; e < topology->endpoint_count; e++) {
        const pawl__topology_endpoint *endpoint = &topology->endpoints[e];
        fputc('\n', out);
        say(out, 0, "endpoint %s: queue %s", endpoint->name, endpoint->queue);
        for (size_t i = 0; i < endpoint->route_count; i++) {
            char text[PAWL_URL_SIZE_MAX + 300];
            say(out, 2, "route %s: %s", endpoint->routes[i].name,
                pawl__route_text(&endpoint->routes[i], text, sizeof text));
        }
        for (size_t p = 0; p < endpoint->part_count; p++) {
            const pawl__topology_part *part = &endpoint->parts[p];
            say_part(part, out);
            for (size_t i = 0; i < part->row_count; i++)
                say_row(topology, endpoint, &part->rows[i], out);
        }
    }
}

/* ---- JSON: null for all that is not known or not there -------------------- */

/* 0 is none. */
static void put_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t number)
{
    yyjson_mut_obj_add_val(doc, object, key,
                           number != 0 ? yyjson_mut_sint(doc, number) : yyjson_mut_null(doc));
}

static const char *type_of(const pawl_record *record)
{
    return record != NULL ? pawl_record_type(record) : NULL;
}

/* ---- Handlers ------------------------------------------------------------ */

/* A handler of a base type gets the message, too. */
static void put_bases(yyjson_mut_doc *doc, const pawl_record *record, yyjson_mut_val *object)
{
    if (record == NULL) {
        pawl__json_add_text(doc, object, "bases", NULL);
        return;
    }
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "bases");
    for (int i = 0; record->base != NULL && i < PAWL__TOPOLOGY_BASES_MAX; i++) {
        record = record->base();
        yyjson_mut_arr_add_strcpy(doc, list, pawl_record_type(record));
    }
}

static void put_effect(yyjson_mut_doc *doc, const pawl__topology *topology,
                       const pawl__topology_endpoint *endpoint, const pawl_effect *effect,
                       yyjson_mut_val *object)
{
    static const char *const kinds[]  = {[PAWL_EFFECT_SEND]    = "send",
                                         [PAWL_EFFECT_PUBLISH] = "publish",
                                         [PAWL_EFFECT_REPLY]   = "reply",
                                         [PAWL_EFFECT_TIMEOUT] = "timeout"};
    bool                     is_send  = effect->kind == PAWL_EFFECT_SEND;
    pawl__receiver           receiver = {.queue = NULL};
    if (is_send && effect->name != NULL)
        receiver = pawl__topology_receiver(topology, endpoint, effect->name);
    pawl__json_add_text(doc, object, "kind", kinds[effect->kind]);
    const pawl_record *message = effect->message != NULL ? effect->message() : NULL;
    pawl__json_add_text(doc, object, "message", type_of(message));
    put_bases(doc, message, object);
    pawl__json_add_text(doc, object, "timeout",
                        effect->kind == PAWL_EFFECT_TIMEOUT ? effect->name : NULL);
    pawl__json_add_text(doc, object, "destination", is_send ? effect->name : NULL);
    pawl__json_add_text(doc, object, "queue", receiver.queue);
    pawl__json_add_text(doc, object, "endpoint", receiver.endpoint);
}

static void put_row(yyjson_mut_doc *doc, const pawl__topology *topology,
                    const pawl__topology_endpoint *endpoint, const pawl__topology_row *row,
                    yyjson_mut_val *object)
{
    pawl__json_add_text(doc, object, "message", type_of(row->message));
    pawl__json_add_text(doc, object, "timeout", row->message == NULL ? row->timeout : NULL);
    pawl__json_add_text(doc, object, "function", row->function);
    pawl__json_add_text(doc, object, "key", row->key);
    pawl__json_add_text(doc, object, "transitional_key", row->transitional_key);
    yyjson_mut_obj_add_bool(doc, object, "starts", row->starts);
    pawl__json_add_text(doc, object, "missing", row->missing);
    if (!row->is_declared) {
        pawl__json_add_text(doc, object, "does", NULL);
        return;
    }
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "does");
    for (size_t i = 0; i < row->effect_count; i++)
        put_effect(doc, topology, endpoint, &row->effects[i], yyjson_mut_arr_add_obj(doc, list));
}

/* ---- Parts --------------------------------------------------------------- */

static void put_correlation(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                            const pawl_correlation *correlation)
{
    if (correlation->type == PAWL_VALUE_NONE) {
        pawl__json_add_text(doc, object, key, NULL);
        return;
    }
    yyjson_mut_val *value = yyjson_mut_obj_add_obj(doc, object, key);
    yyjson_mut_obj_add_strncpy(doc, value, "property", correlation->property.data,
                               correlation->property.size);
    pawl__json_add_text(doc, value, "type", pawl_value_type_name(correlation->type));
}

static void put_part(yyjson_mut_doc *doc, const pawl__topology *topology,
                     const pawl__topology_endpoint *endpoint, const pawl__topology_part *part,
                     yyjson_mut_val *object)
{
    pawl__json_add_text(doc, object, "kind", pawl__part_kinds[part->kind]);
    pawl__json_add_text(doc, object, "name", part->name);
    if (part->table != NULL) {
        pawl_text name = part->table->name;
        yyjson_mut_obj_add_strncpy(doc, object, "table", name.data, name.size);
        put_correlation(doc, object, "correlation", &part->table->main);
        put_correlation(doc, object, "transitional", &part->table->transitional);
    }
    if (part->kind == PAWL__PART_AGGREGATOR) {
        pawl__json_add_text(doc, object, "key", part->key);
        put_number(doc, object, "size", part->size);
        put_number(doc, object, "max", part->max);
        put_number(doc, object, "period", part->period);
    }
    if (part->kind == PAWL__PART_PROCESS || part->kind == PAWL__PART_ENTITY) {
        yyjson_mut_val *events = yyjson_mut_obj_add_arr(doc, object, "emits");
        for (size_t i = 0; i < part->event_count; i++)
            yyjson_mut_arr_add_strcpy(doc, events, pawl_record_type(part->events[i]));
    }
    if (part->kind == PAWL__PART_SCHEDULE) {
        pawl__json_add_text(doc, object, "message",
                            part->sent != NULL ? pawl_record_type(part->sent) : NULL);
        pawl__json_add_text(doc, object, "cron", part->cron);
        pawl__json_add_text(doc, object, "zone", part->zone);
        put_number(doc, object, "every", part->every);
    }
    yyjson_mut_val *handlers = yyjson_mut_obj_add_arr(doc, object, "handles");
    for (size_t i = 0; i < part->row_count; i++)
        put_row(doc, topology, endpoint, &part->rows[i], yyjson_mut_arr_add_obj(doc, handlers));
}

static void put_route(yyjson_mut_doc *doc, const pawl_route *route, yyjson_mut_val *object)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    pawl__json_add_text(doc, object, "name", route->name);
    pawl__json_add_text(doc, object, "leads_to",
                        route->outbound != NULL ? "outbound"
                        : route->url != NULL    ? "url"
                        : route->is_outbox      ? "outbox"
                                                : "queue");
    pawl__json_add_text(doc, object, "url",
                        route->url != NULL ? pawl__masked(route->url, url, sizeof url) : NULL);
    pawl__json_add_text(doc, object, "queue",
                        route->outbound != NULL ? NULL
                        : route->queue != NULL  ? route->queue
                                                : route->name);
}

static void put_endpoint(yyjson_mut_doc *doc, const pawl__topology *topology,
                         const pawl__topology_endpoint *endpoint, yyjson_mut_val *object)
{
    pawl__json_add_text(doc, object, "name", endpoint->name);
    pawl__json_add_text(doc, object, "queue", endpoint->queue);
    yyjson_mut_val *routes = yyjson_mut_obj_add_arr(doc, object, "routes");
    for (size_t i = 0; i < endpoint->route_count; i++)
        put_route(doc, &endpoint->routes[i], yyjson_mut_arr_add_obj(doc, routes));
    yyjson_mut_val *parts = yyjson_mut_obj_add_arr(doc, object, "parts");
    for (size_t i = 0; i < endpoint->part_count; i++)
        put_part(doc, topology, endpoint, &endpoint->parts[i], yyjson_mut_arr_add_obj(doc, parts));
}

void pawl__topology_json(const pawl__topology *topology, FILE *out)
{
    yyjson_mut_doc *doc  = pawl__json_create();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    pawl__json_add_text(doc, root, "application", topology->name);
    yyjson_mut_val *endpoints = yyjson_mut_obj_add_arr(doc, root, "endpoints");
    for (size_t i = 0; i < topology->endpoint_count; i++)
        put_endpoint(doc, topology, &topology->endpoints[i],
                     yyjson_mut_arr_add_obj(doc, endpoints));
    (void)pawl__json_print(doc, out);
}

/* ---- The verb ------------------------------------------------------------ */

static void print(const pawl__topology *topology, const char *format, pawl_arena *arena)
{
    if (strcmp(format, "json") == 0)
        pawl__topology_json(topology, stdout);
    else if (strcmp(format, "text") != 0)
        pawl__topology_graph(topology, strcmp(format, "dot") == 0, arena, stdout);
    else
        pawl__topology_text(topology, stdout);
}

static pawl_code add_routes(const verb_fields *fields, pawl__topology *topology, pawl_arena *arena,
                            pawl_error *error)
{
    pawl_route routes[PAWL__TEXTS_MAX];
    for (size_t i = 0; i < fields->routes.count; i++) {
        pawl_code code = pawl__route_read(fields->routes.items[i], arena, &routes[i], error);
        if (code == PAWL_OK && pawl__route_named(routes, i, routes[i].name) != NULL)
            code = pawl_error_set(error, PAWL_EINVAL, "'%s' is given twice", routes[i].name);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "--route");
    }
    pawl__topology_route(topology, routes, fields->routes.count, arena);
    return PAWL_OK;
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
    if (code == PAWL_OK)
        print(&topology, fields->format, arena);
    return code;
}

int pawl__topology_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields  fields = {.application = NULL};
    pawl__loaded loaded = {NULL, NULL};
    pawl_error   error  = PAWL_ERROR_INIT;
    pawl_code    code   = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    pawl_arena *arena = pawl__must_create();
    code              = work(&fields, &loaded, arena, &error);
    fflush(stdout);
    pawl__application_unload(&loaded);
    pawl_arena_destroy(arena);
    return pawl__fail(code, &error);
}
