/* topology_json.c - the topology as one JSON object, with null for all that is not known or not there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/topology/topology.h"

typedef struct maker {
    yyjson_mut_doc *doc;
    bool            is_short; /* of memory */
} maker;

/* ---- Values -------------------------------------------------------------- */

static void put(maker *m, yyjson_mut_val *object, const char *key, yyjson_mut_val *value)
{
    m->is_short |= value == NULL || !yyjson_mut_obj_add_val(m->doc, object, key, value);
}

static void put_text(maker *m, yyjson_mut_val *object, const char *key, const char *text)
{
    put(m, object, key, text != NULL ? yyjson_mut_strcpy(m->doc, text) : yyjson_mut_null(m->doc));
}

/* 0 is none. */
static void put_number(maker *m, yyjson_mut_val *object, const char *key, int64_t number)
{
    put(m, object, key, number != 0 ? yyjson_mut_sint(m->doc, number) : yyjson_mut_null(m->doc));
}

/* A value that is made is in its place, whether or not there is memory for what comes into it. */
static yyjson_mut_val *put_list(maker *m, yyjson_mut_val *object, const char *key)
{
    yyjson_mut_val *list = yyjson_mut_arr(m->doc);
    put(m, object, key, list);
    return list;
}

static yyjson_mut_val *add_object(maker *m, yyjson_mut_val *list)
{
    yyjson_mut_val *object = yyjson_mut_obj(m->doc);
    m->is_short |= object == NULL || !yyjson_mut_arr_append(list, object);
    return object;
}

static const char *type_of(const pawl_record *record)
{
    return record != NULL ? pawl_record_type(record) : NULL;
}

/* ---- Handlers ------------------------------------------------------------ */

static void put_effect(maker *m, const pawl__topology *topology,
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
    put_text(m, object, "kind", kinds[effect->kind]);
    put_text(m, object, "message", effect->message != NULL ? type_of(effect->message()) : NULL);
    put_text(m, object, "timeout", effect->kind == PAWL_EFFECT_TIMEOUT ? effect->name : NULL);
    put_text(m, object, "destination", is_send ? effect->name : NULL);
    put_text(m, object, "queue", receiver.queue);
    put_text(m, object, "endpoint", receiver.endpoint);
}

static void put_row(maker *m, const pawl__topology *topology,
                    const pawl__topology_endpoint *endpoint, const pawl__topology_row *row,
                    yyjson_mut_val *object)
{
    put_text(m, object, "message", type_of(row->message));
    put_text(m, object, "timeout", row->message == NULL ? row->timeout : NULL);
    put_text(m, object, "function", row->function);
    put_text(m, object, "key", row->key);
    put_text(m, object, "transitional_key", row->transitional_key);
    put(m, object, "starts", yyjson_mut_bool(m->doc, row->starts));
    put_text(m, object, "missing", row->missing);
    if (!row->is_declared) {
        put_text(m, object, "does", NULL);
        return;
    }
    yyjson_mut_val *list = put_list(m, object, "does");
    for (size_t i = 0; !m->is_short && i < row->effect_count; i++)
        put_effect(m, topology, endpoint, &row->effects[i], add_object(m, list));
}

/* ---- Parts --------------------------------------------------------------- */

static void put_correlation(maker *m, yyjson_mut_val *object, const char *key,
                            const pawl_correlation *correlation)
{
    if (correlation->type == PAWL_VALUE_NONE) {
        put_text(m, object, key, NULL);
        return;
    }
    yyjson_mut_val *value = yyjson_mut_obj(m->doc);
    put(m, object, key, value);
    put(m, value, "property",
        yyjson_mut_strncpy(m->doc, correlation->property.data, correlation->property.size));
    put_text(m, value, "type", pawl_value_type_name(correlation->type));
}

static void put_part(maker *m, const pawl__topology *topology,
                     const pawl__topology_endpoint *endpoint, const pawl__topology_part *part,
                     yyjson_mut_val *object)
{
    put_text(m, object, "kind", pawl__part_kinds[part->kind]);
    put_text(m, object, "name", part->name);
    if (part->table != NULL) {
        pawl_text name = part->table->name;
        put(m, object, "table", yyjson_mut_strncpy(m->doc, name.data, name.size));
        put_correlation(m, object, "correlation", &part->table->main);
        put_correlation(m, object, "transitional", &part->table->transitional);
    }
    if (part->kind == PAWL__PART_AGGREGATOR) {
        put_text(m, object, "key", part->key);
        put_number(m, object, "size", part->size);
        put_number(m, object, "max", part->max);
        put_number(m, object, "period", part->period);
    }
    if (part->kind == PAWL__PART_PROCESS || part->kind == PAWL__PART_ENTITY) {
        yyjson_mut_val *events = put_list(m, object, "emits");
        for (size_t i = 0; i < part->event_count; i++)
            m->is_short |=
                !yyjson_mut_arr_add_strcpy(m->doc, events, pawl_record_type(part->events[i]));
    }
    if (part->kind == PAWL__PART_SCHEDULE) {
        put_text(m, object, "message", part->sent != NULL ? pawl_record_type(part->sent) : NULL);
        put_text(m, object, "cron", part->cron);
        put_text(m, object, "zone", part->zone);
        put_number(m, object, "every", part->every);
    }
    yyjson_mut_val *handlers = put_list(m, object, "handles");
    for (size_t i = 0; !m->is_short && i < part->row_count; i++)
        put_row(m, topology, endpoint, &part->rows[i], add_object(m, handlers));
}

static void put_route(maker *m, const pawl_route *route, yyjson_mut_val *object)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    put_text(m, object, "name", route->name);
    put_text(m, object, "leads_to",
             route->outbound != NULL ? "outbound"
             : route->url != NULL    ? "url"
             : route->is_outbox      ? "outbox"
                                     : "queue");
    put_text(m, object, "url",
             route->url != NULL ? pawl__masked(route->url, url, sizeof url) : NULL);
    put_text(m, object, "queue",
             route->outbound != NULL ? NULL
             : route->queue != NULL  ? route->queue
                                     : route->name);
}

static void put_endpoint(maker *m, const pawl__topology *topology,
                         const pawl__topology_endpoint *endpoint, yyjson_mut_val *object)
{
    put_text(m, object, "name", endpoint->name);
    put_text(m, object, "queue", endpoint->queue);
    yyjson_mut_val *routes = put_list(m, object, "routes");
    for (size_t i = 0; !m->is_short && i < endpoint->route_count; i++)
        put_route(m, &endpoint->routes[i], add_object(m, routes));
    yyjson_mut_val *parts = put_list(m, object, "parts");
    for (size_t i = 0; !m->is_short && i < endpoint->part_count; i++)
        put_part(m, topology, endpoint, &endpoint->parts[i], add_object(m, parts));
}

pawl_code pawl__topology_json(const pawl__topology *topology, FILE *out, pawl_error *error)
{
    maker m = {.doc = pawl__json_create()};
    if (m.doc == NULL)
        return pawl__json_print(NULL, out, error);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(m.doc);
    put_text(&m, root, "application", topology->name);
    yyjson_mut_val *endpoints = put_list(&m, root, "endpoints");
    for (size_t i = 0; !m.is_short && i < topology->endpoint_count; i++)
        put_endpoint(&m, topology, &topology->endpoints[i], add_object(&m, endpoints));
    if (m.is_short) {
        yyjson_mut_doc_free(m.doc);
        m.doc = NULL;
    }
    return pawl__json_print(m.doc, out, error);
}
