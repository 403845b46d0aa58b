/* topology_json.c - the topology as one JSON object, with null for all that is not known or not there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/topology/topology.h"

/* ---- Values -------------------------------------------------------------- */

static void put_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text)
{
    yyjson_mut_obj_add_val(doc, object, key,
                           text != NULL ? yyjson_mut_strcpy(doc, text) : yyjson_mut_null(doc));
}

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
    put_text(doc, object, "kind", kinds[effect->kind]);
    put_text(doc, object, "message", effect->message != NULL ? type_of(effect->message()) : NULL);
    put_text(doc, object, "timeout", effect->kind == PAWL_EFFECT_TIMEOUT ? effect->name : NULL);
    put_text(doc, object, "destination", is_send ? effect->name : NULL);
    put_text(doc, object, "queue", receiver.queue);
    put_text(doc, object, "endpoint", receiver.endpoint);
}

static void put_row(yyjson_mut_doc *doc, const pawl__topology *topology,
                    const pawl__topology_endpoint *endpoint, const pawl__topology_row *row,
                    yyjson_mut_val *object)
{
    put_text(doc, object, "message", type_of(row->message));
    put_text(doc, object, "timeout", row->message == NULL ? row->timeout : NULL);
    put_text(doc, object, "function", row->function);
    put_text(doc, object, "key", row->key);
    put_text(doc, object, "transitional_key", row->transitional_key);
    yyjson_mut_obj_add_bool(doc, object, "starts", row->starts);
    put_text(doc, object, "missing", row->missing);
    if (!row->is_declared) {
        put_text(doc, object, "does", NULL);
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
        put_text(doc, object, key, NULL);
        return;
    }
    yyjson_mut_val *value = yyjson_mut_obj_add_obj(doc, object, key);
    yyjson_mut_obj_add_strncpy(doc, value, "property", correlation->property.data,
                               correlation->property.size);
    put_text(doc, value, "type", pawl_value_type_name(correlation->type));
}

static void put_part(yyjson_mut_doc *doc, const pawl__topology *topology,
                     const pawl__topology_endpoint *endpoint, const pawl__topology_part *part,
                     yyjson_mut_val *object)
{
    put_text(doc, object, "kind", pawl__part_kinds[part->kind]);
    put_text(doc, object, "name", part->name);
    if (part->table != NULL) {
        pawl_text name = part->table->name;
        yyjson_mut_obj_add_strncpy(doc, object, "table", name.data, name.size);
        put_correlation(doc, object, "correlation", &part->table->main);
        put_correlation(doc, object, "transitional", &part->table->transitional);
    }
    if (part->kind == PAWL__PART_AGGREGATOR) {
        put_text(doc, object, "key", part->key);
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
        put_text(doc, object, "message", part->sent != NULL ? pawl_record_type(part->sent) : NULL);
        put_text(doc, object, "cron", part->cron);
        put_text(doc, object, "zone", part->zone);
        put_number(doc, object, "every", part->every);
    }
    yyjson_mut_val *handlers = yyjson_mut_obj_add_arr(doc, object, "handles");
    for (size_t i = 0; i < part->row_count; i++)
        put_row(doc, topology, endpoint, &part->rows[i], yyjson_mut_arr_add_obj(doc, handlers));
}

static void put_route(yyjson_mut_doc *doc, const pawl_route *route, yyjson_mut_val *object)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    put_text(doc, object, "name", route->name);
    put_text(doc, object, "leads_to",
             route->outbound != NULL ? "outbound"
             : route->url != NULL    ? "url"
             : route->is_outbox      ? "outbox"
                                     : "queue");
    put_text(doc, object, "url",
             route->url != NULL ? pawl__masked(route->url, url, sizeof url) : NULL);
    put_text(doc, object, "queue",
             route->outbound != NULL ? NULL
             : route->queue != NULL  ? route->queue
                                     : route->name);
}

static void put_endpoint(yyjson_mut_doc *doc, const pawl__topology *topology,
                         const pawl__topology_endpoint *endpoint, yyjson_mut_val *object)
{
    put_text(doc, object, "name", endpoint->name);
    put_text(doc, object, "queue", endpoint->queue);
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
    put_text(doc, root, "application", topology->name);
    yyjson_mut_val *endpoints = yyjson_mut_obj_add_arr(doc, root, "endpoints");
    for (size_t i = 0; i < topology->endpoint_count; i++)
        put_endpoint(doc, topology, &topology->endpoints[i],
                     yyjson_mut_arr_add_obj(doc, endpoints));
    (void)pawl__json_print(doc, out);
}
