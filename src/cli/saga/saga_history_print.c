/* saga_history_print.c - lines of history as a timeline, as drawings, and as a log for tools that
 * mine processes (XES, IEEE 1849).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include <string.h>

/* ---- Text of each form ---------------------------------------------------------- */

typedef void escape_fn(FILE *out, char c);

static void escape_plain(FILE *out, char c)
{
    fputc((unsigned char)c < ' ' ? ' ' : c, out);
}

/* Mermaid takes what means something to it as the number of its character. */
static void escape_mermaid(FILE *out, char c)
{
    if ((unsigned char)c < ' ')
        fputc(' ', out);
    else if (strchr("\"#;:<>{}[]()%", c) != NULL)
        fprintf(out, "#%d;", c);
    else
        fputc(c, out);
}

static void escape_dot(FILE *out, char c)
{
    if (c == '"' || c == '\\')
        fputc('\\', out);
    escape_plain(out, c);
}

static void escape_xml(FILE *out, char c)
{
    switch (c) {
    case '&': fputs("&amp;", out); break;
    case '<': fputs("&lt;", out); break;
    case '>': fputs("&gt;", out); break;
    case '"': fputs("&quot;", out); break;
    default: escape_plain(out, c);
    }
}

static void put(FILE *out, pawl_text text, escape_fn *escape)
{
    for (size_t i = 0; i < text.size; i++)
        escape(out, text.data[i]);
}

static pawl_text text_of(yyjson_val *object, const char *name)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    const char *text  = yyjson_get_str(value);
    return (pawl_text){.data = text != NULL ? text : "", .size = yyjson_get_len(value)};
}

/* ---- What left -------------------------------------------------------------------- */

/* An effect that a line of the history tells of. */
typedef struct leaving {
    const char *kind; /* "send", "event", "timeout", "cancel", "complete" */
    pawl_text   name; /* of a type, an event, a timeout */
    pawl_text   to;   /* where a message went, when a timeout is due */
} leaving;

typedef void leaving_fn(FILE *out, const leaving *what, size_t line);

/* `out` of a line, read; NULL: nothing left. To be freed. */
static yyjson_doc *read_out(const pawl_history_row *line)
{
    pawl_text out = line->entry.out;
    return out.size != 0 ? yyjson_read(out.data, out.size, 0) : NULL;
}

static void each_of(yyjson_val *root, const char *list, const char *kind, const char *name,
                    const char *to, FILE *out, size_t line, leaving_fn *call)
{
    size_t      index, count;
    yyjson_val *item;
    yyjson_arr_foreach(yyjson_obj_get(root, list), index, count, item)
    {
        leaving what = {.kind = kind, .to = {.data = "", .size = 0}};
        if (name == NULL) {
            what.name = (pawl_text){.data = yyjson_get_str(item), .size = yyjson_get_len(item)};
        } else {
            what.name = text_of(item, name);
            what.to   = text_of(item, to);
        }
        call(out, &what, line);
    }
}

static void each_leaving(const pawl_history_row *lines, size_t line, FILE *out, leaving_fn *call)
{
    yyjson_doc *doc  = read_out(&lines[line]);
    yyjson_val *root = yyjson_doc_get_root(doc);
    each_of(root, "events", "event", NULL, NULL, out, line, call);
    each_of(root, "sends", "send", "type", "to", out, line, call);
    each_of(root, "timeouts", "timeout", "name", "due", out, line, call);
    each_of(root, "cancelled", "cancel", NULL, NULL, out, line, call);
    if (yyjson_is_true(yyjson_obj_get(root, "completed")))
        call(out, &(leaving){.kind = "complete", .name = PAWL_TEXT("")}, line);
    yyjson_doc_free(doc);
}

/* ---- A timeline ------------------------------------------------------------------- */

static void text_leaving(FILE *out, const leaving *what, size_t line)
{
    (void)line;
    fprintf(out, "    %s", what->kind);
    if (what->name.size != 0)
        fputc(' ', out);
    put(out, what->name, escape_plain);
    if (what->to.size != 0)
        fputs(strcmp(what->kind, "send") == 0 ? " to " : " due ", out);
    put(out, what->to, escape_plain);
    fputc('\n', out);
}

static void print_text(const pawl_history_row *lines, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        const pawl_history_entry *line = &lines[i].entry;
        char                      at[PAWL_TIME_TEXT_SIZE + 1], span[PAWL__SPAN_SIZE];
        pawl_time_format(line->at, at);
        fprintf(out, "%s  %-9.*s ", at, PAWL_TEXT_ARGS(line->outcome));
        if (line->version != 0)
            fprintf(out, "v%lld ", (long long)line->version);
        put(out, line->kind, escape_plain);
        fputc(' ', out);
        put(out, line->type, escape_plain);
        fputc(' ', out);
        put(out, line->message_id, escape_plain);
        if (line->attempts != 0)
            fprintf(out, ", attempt %d", (int)line->attempts + 1);
        if (line->duration != 0)
            fprintf(out, ", %s", pawl__span_text(line->duration, span));
        if (line->error.size != 0)
            fputs(": ", out);
        put(out, line->error, escape_plain);
        fputc('\n', out);
        each_leaving(lines, i, out, text_leaving);
    }
}

/* ---- Mermaid ----------------------------------------------------------------------- */

static void mermaid_leaving(FILE *out, const leaving *what, size_t line)
{
    (void)line;
    bool is_send = strcmp(what->kind, "send") == 0;
    fputs(is_send ? "    saga->>others: " : "    Note over saga: ", out);
    if (!is_send)
        fprintf(out, "%s ", what->kind);
    put(out, what->name, escape_mermaid);
    if (what->to.size != 0)
        fputs(is_send ? " to " : " due ", out);
    put(out, what->to, escape_mermaid);
    fputc('\n', out);
}

static void print_mermaid(pawl_text name, const pawl_history_row *lines, size_t count, FILE *out)
{
    fputs("sequenceDiagram\n    participant others\n    participant saga as ", out);
    put(out, name, escape_mermaid);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        const pawl_history_entry *line  = &lines[i].entry;
        bool                      is_ok = pawl_text_equal(line->outcome, PAWL_TEXT("handled"));
        fputs(pawl_text_equal(line->kind, PAWL_TEXT("timeout")) ? "    saga" : "    others", out);
        fputs(is_ok ? "->>saga: " : "--xsaga: ", out);
        put(out, line->type, escape_mermaid);
        fputs(" (", out);
        put(out, line->outcome, escape_mermaid);
        if (line->version != 0)
            fprintf(out, ", v%lld", (long long)line->version);
        fputs(")\n", out);
        each_leaving(lines, i, out, mermaid_leaving);
    }
}

/* ---- Graphviz ------------------------------------------------------------------------ */

static void dot_leaving(FILE *out, const leaving *what, size_t line)
{
    fprintf(out, "    l%zu -> \"", line);
    fprintf(out, "%s ", what->kind);
    put(out, what->name, escape_dot);
    if (what->to.size != 0)
        fputs("\\n", out);
    put(out, what->to, escape_dot);
    fputs("\" [style=dashed]\n", out);
}

static void print_dot(pawl_text name, const pawl_history_row *lines, size_t count, FILE *out)
{
    fputs("digraph history {\n    rankdir=TB\n    node [shape=box]\n    label=\"", out);
    put(out, name, escape_dot);
    fputs("\"\n", out);
    for (size_t i = 0; i < count; i++) {
        const pawl_history_entry *line = &lines[i].entry;
        char                      at[PAWL_TIME_TEXT_SIZE + 1];
        pawl_time_format(line->at, at);
        fprintf(out, "    l%zu [label=\"", i);
        put(out, line->type, escape_dot);
        fputs("\\n", out);
        put(out, line->outcome, escape_dot);
        fprintf(out, ", v%lld\\n%s\"]\n", (long long)line->version, at);
        if (i > 0)
            fprintf(out, "    l%zu -> l%zu\n", i - 1, i);
        each_leaving(lines, i, out, dot_leaving);
    }
    fputs("}\n", out);
}

/* ---- XES ------------------------------------------------------------------------------ */

static void xes_string(FILE *out, const char *key, pawl_text value)
{
    if (value.size == 0)
        return;
    fprintf(out, "      <string key=\"%s\" value=\"", key);
    put(out, value, escape_xml);
    fputs("\"/>\n", out);
}

static void xes_event(FILE *out, const pawl_history_row *row)
{
    const pawl_history_entry *line    = &row->entry;
    bool                      is_done = pawl_text_equal(line->outcome, PAWL_TEXT("handled"));
    char                      at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(line->at, at);
    fputs("    <event>\n", out);
    xes_string(out, "concept:name", line->type);
    fprintf(out, "      <date key=\"time:timestamp\" value=\"%s\"/>\n", at);
    xes_string(out, "lifecycle:transition",
               is_done ? PAWL_TEXT("complete") : PAWL_TEXT("ate_abort"));
    xes_string(out, "org:resource", line->endpoint);
    xes_string(out, "pawl:outcome", line->outcome);
    xes_string(out, "pawl:kind", line->kind);
    xes_string(out, "pawl:message", line->message_id);
    xes_string(out, "pawl:error", line->error);
    fprintf(out,
            "      <int key=\"pawl:version\" value=\"%lld\"/>\n"
            "      <int key=\"pawl:duration\" value=\"%lld\"/>\n    </event>\n",
            (long long)line->version, (long long)line->duration);
}

static void print_xes(pawl_text name, const pawl_history_row *lines, size_t count, FILE *out)
{
    static const char *const extensions[] = {"Concept\" prefix=\"concept", "Time\" prefix=\"time",
                                             "Lifecycle\" prefix=\"lifecycle",
                                             "Organizational\" prefix=\"org"};
    static const char *const uris[]       = {"concept", "time", "lifecycle", "org"};
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<log xes.version=\"1849.2016\" xmlns=\"http://www.xes-standard.org/\">\n",
          out);
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++)
        fprintf(out, "  <extension name=\"%s\" uri=\"http://www.xes-standard.org/%s.xesext\"/>\n",
                extensions[i], uris[i]);
    fputs("  <trace>\n", out);
    xes_string(out, "concept:name", name);
    for (size_t i = 0; i < count; i++)
        xes_event(out, &lines[i]);
    fputs("  </trace>\n</log>\n", out);
}

/* ---- All ------------------------------------------------------------------------------- */

pawl_code pawl__history_print(const char *format, pawl_text name, const pawl_history_row *lines,
                              size_t count, FILE *out, pawl_error *error)
{
    (void)error;
    if (strcmp(format, "mermaid") == 0)
        print_mermaid(name, lines, count, out);
    else if (strcmp(format, "dot") == 0)
        print_dot(name, lines, count, out);
    else if (strcmp(format, "xes") == 0)
        print_xes(name, lines, count, out);
    else
        print_text(lines, count, out);
    return PAWL_OK;
}
