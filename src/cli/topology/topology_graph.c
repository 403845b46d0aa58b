/* topology_graph.c - draws the topology in dot or Mermaid: boxes for the parts of each endpoint, types of
 * messages between them, and receivers outside the application.
 *
 *     message -> part that handles it      part -> message that it sends, publishes, replies or emits
 *     message -> receiver outside          derived type -> base type that is handled
 *
 * Names are only used in quoted labels; the ids of nodes are numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/topology/topology.h"

#include "base/calm.h"

#include <stdarg.h>
#include <string.h>

#define LABEL_SIZE 2600

typedef enum node_kind {
    NODE_PART,
    NODE_MESSAGE,
    NODE_OUTSIDE,
} node_kind;

typedef struct node {
    node_kind          kind;
    const char        *label;
    const pawl_record *record;   /* of a message */
    size_t             endpoint; /* of a part */
} node;

typedef struct edge {
    size_t      from, to;
    const char *label; /* "": none */
} edge;

typedef struct graph {
    const pawl__topology *topology;
    pawl_arena           *arena;
    node                 *nodes;
    size_t                node_count, node_capacity;
    edge                 *edges;
    size_t                edge_count, edge_capacity;
} graph;

/* ---- Nodes and edges ----------------------------------------------------- */

static const char *text_of(const graph *g, const char *format, ...) PAWL_PRINTF(2, 3);
static const char *text_of(const graph *g, const char *format, ...)
{
    char    text[LABEL_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pawl__calm_line(text, strlen(text));
    return pawl__must_text(g->arena, pawl_text_of(text)).data;
}

static size_t add_node(graph *g, node added)
{
    g->nodes =
        pawl__must_grow(g->arena, g->nodes, g->node_count, &g->node_capacity, sizeof g->nodes[0]);
    g->nodes[g->node_count++] = added;
    return g->node_count - 1;
}

static bool find_node(const graph *g, node_kind kind, const char *label, size_t *found)
{
    for (size_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].kind == kind && strcmp(g->nodes[i].label, label) == 0) {
            *found = i;
            return true;
        }
    return false;
}

/* Finds or makes the node of that label. */
static size_t node_of(graph *g, node_kind kind, const char *label, const pawl_record *record)
{
    size_t found;
    if (find_node(g, kind, label, &found))
        return found;
    return add_node(g, (node){.kind = kind, .label = label, .record = record});
}

static size_t message_of(graph *g, const pawl_record *record)
{
    return node_of(g, NODE_MESSAGE, text_of(g, "%s", pawl_record_type(record)), record);
}

/* Adds the edge unless it exists. */
static void add_edge(graph *g, size_t from, size_t to, const char *label)
{
    for (size_t i = 0; i < g->edge_count; i++)
        if (g->edges[i].from == from && g->edges[i].to == to &&
            strcmp(g->edges[i].label, label) == 0)
            return;
    g->edges =
        pawl__must_grow(g->arena, g->edges, g->edge_count, &g->edge_capacity, sizeof g->edges[0]);
    g->edges[g->edge_count++] = (edge){from, to, label};
}

/* ---- From the tables ----------------------------------------------------- */

static void add_send(graph *g, const pawl__topology_endpoint *endpoint, size_t part, size_t message,
                     const char *destination)
{
    char text[PAWL_URL_SIZE_MAX + 300];
    if (destination == NULL) {
        add_edge(g, part, message, "sends");
        return;
    }
    pawl__receiver receiver = pawl__topology_receiver(g->topology, endpoint, destination);
    add_edge(g, part, message, text_of(g, "sends to %s", destination));
    if (receiver.endpoint != NULL)
        return;
    const char *label = receiver.route != NULL ? pawl__route_text(receiver.route, text, sizeof text)
                                               : text_of(g, "queue %s", receiver.queue);
    add_edge(g, message, node_of(g, NODE_OUTSIDE, text_of(g, "%s", label), NULL), "");
}

static void add_row(graph *g, const pawl__topology_endpoint *endpoint, size_t part,
                    const pawl__topology_row *row)
{
    if (row->message == NULL)
        add_edge(g, part, part,
                 text_of(g, "timeout %s", row->timeout != NULL ? row->timeout : "?"));
    else
        add_edge(g, message_of(g, row->message), part, row->starts ? "starts" : "");
    for (size_t i = 0; i < row->effect_count; i++) {
        const pawl_effect *effect = &row->effects[i];
        if (effect->kind == PAWL_EFFECT_TIMEOUT)
            continue; /* drawn by its handler */
        size_t message = message_of(g, effect->message());
        if (effect->kind == PAWL_EFFECT_SEND)
            add_send(g, endpoint, part, message, effect->name);
        else
            add_edge(g, part, message,
                     effect->kind == PAWL_EFFECT_PUBLISH ? "publishes" : "replies");
    }
}

/* Adds edges from derived types to their base: subscribers to the base type get both. */
static void add_bases(graph *g)
{
    size_t base;
    for (size_t i = 0; i < g->node_count; i++) {
        const pawl_record *record = g->nodes[i].record;
        for (int depth = 0;
             record != NULL && record->base != NULL && depth < PAWL__TOPOLOGY_BASES_MAX; depth++) {
            record = record->base();
            if (find_node(g, NODE_MESSAGE, pawl_record_type(record), &base)) {
                add_edge(g, i, base, "is a");
                break;
            }
        }
    }
}

static void build(graph *g)
{
    const pawl__topology *t = g->topology;
    for (size_t e = 0; e < t->endpoint_count; e++)
        for (size_t p = 0; p < t->endpoints[e].part_count; p++) {
            const pawl__topology_part *part = &t->endpoints[e].parts[p];
            (void)add_node(
                g, (node){.kind     = NODE_PART,
                          .label    = text_of(g, "%s %s", pawl__part_kinds[part->kind], part->name),
                          .endpoint = e});
        }
    size_t number = 0;
    for (size_t e = 0; e < t->endpoint_count; e++)
        for (size_t p = 0; p < t->endpoints[e].part_count; p++, number++) {
            const pawl__topology_part *part = &t->endpoints[e].parts[p];
            for (size_t i = 0; i < part->row_count; i++)
                add_row(g, &t->endpoints[e], number, &part->rows[i]);
            for (size_t i = 0; i < part->event_count; i++)
                add_edge(g, number, message_of(g, part->events[i]), "emits");
            if (part->sent != NULL)
                add_edge(g, number, message_of(g, part->sent), "sends");
        }
    add_bases(g);
}

/* ---- Languages ----------------------------------------------------------- */

typedef struct escape {
    char        character;
    const char *written;
} escape;

/* Inside of quotes Mermaid still interprets entities, HTML, and Markdown in backticks. */
static const escape mermaid_escapes[] = {{'"', "#quot;"}, {'#', "#35;"}, {'&', "#amp;"},
                                         {'<', "#lt;"},   {'>', "#gt;"}, {'`', "#96;"},
                                         {'\0', NULL}};
static const escape dot_escapes[]     = {{'"', "\\\""}, {'\\', "\\\\"}, {'\0', NULL}};

static void put_label(const char *label, const escape *escapes, FILE *out)
{
    fputc('"', out);
    for (; *label != '\0'; label++) {
        const escape *e = escapes;
        while (e->character != '\0' && e->character != *label)
            e++;
        if (e->character != '\0')
            fputs(e->written, out);
        else
            fputc(*label, out);
    }
    fputc('"', out);
}

/* Signs before and behind the label of a node. */
static const char *const mermaid_shapes[][2] = {
    [NODE_PART] = {"[", "]"}, [NODE_MESSAGE] = {"([", "])"}, [NODE_OUTSIDE] = {"[/", "/]"}};
static const char *const dot_shapes[] = {
    [NODE_PART] = "box", [NODE_MESSAGE] = "oval", [NODE_OUTSIDE] = "parallelogram"};

static void put_node(const graph *g, size_t index, bool is_dot, FILE *out)
{
    const node *n = &g->nodes[index];
    fprintf(out, "%sn%zu%s", n->kind == NODE_PART ? "    " : "  ", index,
            is_dot ? " [label=" : mermaid_shapes[n->kind][0]);
    put_label(n->label, is_dot ? dot_escapes : mermaid_escapes, out);
    if (is_dot)
        fprintf(out, ", shape=%s];\n", dot_shapes[n->kind]);
    else
        fprintf(out, "%s\n", mermaid_shapes[n->kind][1]);
}

static void put_edge(const edge *e, bool is_dot, FILE *out)
{
    if (is_dot) {
        fprintf(out, "  n%zu -> n%zu", e->from, e->to);
        if (e->label[0] != '\0') {
            fputs(" [label=", out);
            put_label(e->label, dot_escapes, out);
            fputc(']', out);
        }
        fputs(";\n", out);
        return;
    }
    fprintf(out, "  n%zu -->", e->from);
    if (e->label[0] != '\0') {
        fputc('|', out);
        put_label(e->label, mermaid_escapes, out);
        fputc('|', out);
    }
    fprintf(out, " n%zu\n", e->to);
}

static void put_endpoint(const graph *g, size_t endpoint, bool is_dot, FILE *out)
{
    char title[LABEL_SIZE];
    snprintf(title, sizeof title, "endpoint %s", g->topology->endpoints[endpoint].name);
    pawl__calm_line(title, strlen(title));
    fprintf(out, is_dot ? "  subgraph cluster_%zu {\n    label=" : "  subgraph e%zu[", endpoint);
    put_label(title, is_dot ? dot_escapes : mermaid_escapes, out);
    fputs(is_dot ? ";\n" : "]\n", out);
    for (size_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].kind == NODE_PART && g->nodes[i].endpoint == endpoint)
            put_node(g, i, is_dot, out);
    fputs(is_dot ? "  }\n" : "  end\n", out);
}

void pawl__topology_graph(const pawl__topology *topology, bool is_dot, pawl_arena *arena, FILE *out)
{
    graph g = {.topology = topology, .arena = arena};
    build(&g);
    fputs(is_dot ? "digraph pawl {\n  rankdir=LR;\n" : "flowchart LR\n", out);
    for (size_t i = 0; i < topology->endpoint_count; i++)
        put_endpoint(&g, i, is_dot, out);
    for (size_t i = 0; i < g.node_count; i++)
        if (g.nodes[i].kind != NODE_PART)
            put_node(&g, i, is_dot, out);
    for (size_t i = 0; i < g.edge_count; i++)
        put_edge(&g.edges[i], is_dot, out);
    if (is_dot)
        fputs("}\n", out);
}
