/* saga_history.c - `pawl saga history`: prints what the messages of a saga did, from the lines of an endpoint with
 * `--history`: as a timeline, as a drawing, or as a log for process mining tools (XES, IEEE 1849).
 *
 * The lines of the saga are read first. A run that failed before the saga existed left a line without a saga; these
 * lines are looked up by the ids of the messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include "base/calm.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 500
#define LINES_DEFAULT 10000

/* ---- Columns --------------------------------------------------------------- */

#define LINE(key, kind, member) PAWL__COLUMN(pawl_history_row, key, kind, member, key)
const pawl__column pawl__history_columns[] = {
    LINE("line", COUNT, id),
    LINE("at", TIME, entry.at),
    LINE("source", TEXT, entry.source),
    LINE("endpoint", TEXT, entry.endpoint),
    LINE("kind", TEXT, entry.kind),
    LINE("type", TEXT, entry.type),
    LINE("message_id", TEXT, entry.message_id),
    LINE("outcome", TEXT, entry.outcome),
    LINE("version", NUMBER, entry.version),
    LINE("attempts", COUNT_32, entry.attempts),
    LINE("duration", DURATION, entry.duration),
    LINE("error", TEXT, entry.error),
    LINE("out", JSON, entry.out),
    {.key = NULL},
};

static const pawl__noun history_lines = {"line of history", pawl__history_columns,
                                         sizeof(pawl_history_row)};

/* ---- Lines ------------------------------------------------------------------ */

typedef struct found_lines {
    pawl_history_row *items;
    size_t            count, capacity;
    size_t            limit; /* the newest lines are kept */
    size_t            older; /* how many lines have their texts in texts[0]; the rest: texts[1] */
    pawl_arena       *texts[2];
    bool              has_left_out; /* there are older ones */
} found_lines;

/* Drops the older half as soon as the newer half has `limit` lines, so that memory does not grow with the history. */
static void forget_older(found_lines *list)
{
    pawl_arena *texts = list->texts[0];
    if (list->count - list->older < list->limit)
        return;
    list->has_left_out |= list->older > 0;
    list->count -= list->older;
    memmove(list->items, list->items + list->older, list->count * sizeof list->items[0]);
    pawl_arena_reset(texts);
    list->texts[0] = list->texts[1];
    list->texts[1] = texts;
    list->older    = list->count;
}

static void keep_newest(found_lines *list)
{
    if (list->count <= list->limit)
        return;
    list->has_left_out = true;
    list->items += list->count - list->limit;
    list->capacity -= list->count - list->limit;
    list->count = list->limit;
}

static void add_lines(found_lines *list, const pawl_history_rows *rows, bool is_sourceless,
                      pawl_arena *arena)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (is_sourceless && rows->items[i].entry.source.size != 0)
            continue;
        pawl_history_row *grown = pawl__must_grow(arena, list->items, list->count, &list->capacity,
                                                  sizeof list->items[0]);
        list->items             = grown;
        list->items[list->count++] = rows->items[i];
    }
}

static pawl_code read_lines(pawl_store *store, pawl_history_query query, bool is_sourceless,
                            found_lines *list, pawl_arena *arena, pawl_error *error)
{
    pawl_history_rows rows = {.count = 0};
    pawl_code         code = PAWL_OK;
    query.count_max        = PAGE;
    do {
        code = pawl_store_history_find(store, &query, list->texts[1], &rows, error);
        if (code == PAWL_OK)
            add_lines(list, &rows, is_sourceless, arena);
        if (rows.count > 0)
            query.after = rows.items[rows.count - 1].id;
        if (!is_sourceless)
            forget_older(list);
    } while (code == PAWL_OK && rows.count == PAGE);
    return code;
}

static int by_id(const void *left, const void *right)
{
    const pawl_history_row *l = left, *r = right;
    return (l->id > r->id) - (l->id < r->id);
}

static int by_message(const void *left, const void *right)
{
    const pawl_history_row *l = left, *r = right;
    int                     order = pawl_text_compare(l->entry.message_id, r->entry.message_id);
    return order != 0 ? order : by_id(left, right);
}

static void sort_lines(found_lines *list, int (*compare)(const void *, const void *))
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof list->items[0], compare);
}

/* Adds the lines without a saga of each message. */
static pawl_code add_sourceless(pawl_store *store, found_lines *list, pawl_arena *arena,
                                pawl_error *error)
{
    keep_newest(list);
    size_t    count = list->count;
    pawl_code code  = PAWL_OK;
    sort_lines(list, by_message);
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        pawl_text id = list->items[i].entry.message_id;
        if (id.size != 0 && (i == 0 || !pawl_text_equal(id, list->items[i - 1].entry.message_id)))
            code =
                read_lines(store, (pawl_history_query){.message_id = id}, true, list, arena, error);
    }
    sort_lines(list, by_id);
    return code;
}

/* ---- The saga ----------------------------------------------------------------- */

/* The source of the lines: TYPE/ID of the saga with that value or id; else the word itself, as the
 * stream of a process or an entity. */
static pawl_code find_source(const pawl__saga_fields *fields, pawl_store *store, pawl_arena *arena,
                             pawl_text *source, pawl_error *error)
{
    const pawl_saga_table *table = NULL;
    pawl_saga_row          row;
    pawl_text              word = pawl_text_of(fields->shown), type, value;
    *source                     = word;
    if (!pawl__saga_split(&fields->book.tables, word, &type, &value))
        return PAWL_OK;
    pawl_code code =
        pawl__saga_find(store, &fields->book.tables, type, value, arena, &table, &row, error);
    if (code == PAWL_OK && (table != NULL || pawl_uuid_parse(value, &row.id.uuid, NULL) == PAWL_OK))
        *source = pawl__saga_source_of(type, row.id, arena);
    return code;
}

static pawl_code collect(const pawl__saga_fields *fields, pawl_store *store, pawl_arena *arena,
                         found_lines *list, pawl_error *error)
{
    const char *word   = fields->shown;
    pawl_text   source = {.data = "", .size = 0};
    if (strchr(word, '/') == NULL)
        return read_lines(store, (pawl_history_query){.message_id = pawl_text_of(word)}, false,
                          list, arena, error);
    pawl_code code = find_source(fields, store, arena, &source, error);
    if (code == PAWL_OK)
        code = read_lines(store, (pawl_history_query){.source = source}, false, list, arena, error);
    return code == PAWL_OK ? add_sourceless(store, list, arena, error) : code;
}

/* ---- Printing ------------------------------------------------------------------- */

typedef struct printer printer;

/* Escapes a character for the output format, in at most ESCAPE_MAX bytes. Returns how many. */
typedef size_t escape_fn(char c, char *to);
#define ESCAPE_MAX 6

typedef struct form {
    const char *name;
    escape_fn  *escape;
    void (*print)(const printer *p);
} form;

struct printer {
    const form             *form;
    pawl_text               name; /* of the saga */
    const pawl_history_row *lines;
    size_t                  count;
    pawl_arena             *arena;
    FILE                   *out;
};

/* ---- Text of each form ---------------------------------------------------------- */

static size_t escape_plain(char c, char *to)
{
    *to = c;
    return 1;
}

/* Writes characters that have a meaning in Mermaid by their number. */
static size_t escape_mermaid(char c, char *to)
{
    if (strchr("\"#;:<>{}[]()%", c) == NULL)
        return escape_plain(c, to);
    return (size_t)snprintf(to, ESCAPE_MAX + 1, "#%d;", c);
}

static size_t escape_dot(char c, char *to)
{
    bool is_escaped = c == '"' || c == '\\';
    to[0]           = '\\';
    return is_escaped + escape_plain(c, to + is_escaped);
}

static size_t escape_xml(char c, char *to)
{
    const char *entity = c == '&'   ? "&amp;"
                         : c == '<' ? "&lt;"
                         : c == '>' ? "&gt;"
                         : c == '"' ? "&quot;"
                                    : NULL;
    if (entity == NULL)
        return escape_plain(c, to);
    memcpy(to, entity, strlen(entity));
    return strlen(entity);
}

static const char *escaped(const printer *p, pawl_text text)
{
    char  *made = pawl__must_take(p->arena, text.size * ESCAPE_MAX + 1);
    char  *calm = pawl__must_take(p->arena, text.size + 1);
    size_t size = 0;
    if (text.size > 0)
        memcpy(calm, text.data, text.size);
    pawl__calm_line(calm, text.size); /* ids and errors may come from outside */
    for (size_t i = 0; i < text.size; i++)
        size += p->form->escape(calm[i], made + size);
    made[size] = '\0';
    return made;
}

/* ---- Effects ---------------------------------------------------------------------- */

/* An effect in a line of the history. */
typedef struct effect {
    const char *kind; /* "send", "event", "timeout", "cancel", "complete" */
    const char *name; /* of a type, an event, a timeout */
    const char *to;   /* where a message went, when a timeout is due; or empty */
    bool        is_send;
} effect;

typedef void effect_fn(const printer *p, const effect *what, size_t line);

static const char *member_of(const printer *p, yyjson_val *object, const char *name)
{
    yyjson_val *value = name != NULL ? yyjson_obj_get(object, name) : object;
    return yyjson_is_str(value) ? escaped(p, (pawl_text){.data = yyjson_get_str(value),
                                                         .size = yyjson_get_len(value)})
                                : "";
}

/* `name` NULL: the items are names alone. */
static void each_of(const printer *p, size_t line, yyjson_val *items, const char *kind,
                    const char *name, const char *to, effect_fn *call)
{
    size_t      index, count;
    yyjson_val *item;
    yyjson_arr_foreach(items, index, count, item)
    {
        effect what = {.kind    = kind,
                       .name    = member_of(p, item, name),
                       .to      = to != NULL ? member_of(p, item, to) : "",
                       .is_send = strcmp(kind, "send") == 0};
        call(p, &what, line);
    }
}

static void each_effect(const printer *p, size_t line, effect_fn *call)
{
    pawl_text   out  = p->lines[line].entry.out;
    yyjson_doc *doc  = out.size != 0 ? yyjson_read(out.data, out.size, 0) : NULL;
    yyjson_val *root = yyjson_doc_get_root(doc);
    each_of(p, line, yyjson_obj_get(root, "events"), "event", NULL, NULL, call);
    each_of(p, line, yyjson_obj_get(root, "sends"), "send", "type", "to", call);
    each_of(p, line, yyjson_obj_get(root, "timeouts"), "timeout", "name", "due", call);
    each_of(p, line, yyjson_obj_get(root, "cancelled"), "cancel", NULL, NULL, call);
    if (yyjson_is_true(yyjson_obj_get(root, "completed")))
        call(p, &(effect){.kind = "complete", .name = "", .to = ""}, line);
    yyjson_doc_free(doc);
}

/* " to QUEUE" of a send, " due TIME" of a timeout. */
static const char *goal_of(const effect *what)
{
    return what->to[0] == '\0' ? "" : what->is_send ? " to " : " due ";
}

/* ---- A timeline ------------------------------------------------------------------- */

static void text_effect(const printer *p, const effect *what, size_t line)
{
    (void)line;
    fprintf(p->out, "    %s%s%s%s%s\n", what->kind, what->name[0] != '\0' ? " " : "", what->name,
            goal_of(what), what->to);
}

static void print_text(const printer *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const pawl_history_entry *line = &p->lines[i].entry;
        char                      at[PAWL_TIME_TEXT_SIZE + 1], span[PAWL__SPAN_SIZE];
        pawl_time_format(line->at, at);
        fprintf(p->out, "%s  %-9s ", at, escaped(p, line->outcome));
        if (line->version != 0)
            fprintf(p->out, "v%lld ", (long long)line->version);
        fprintf(p->out, "%s %s %s", escaped(p, line->kind), escaped(p, line->type),
                escaped(p, line->message_id));
        if (line->attempts != 0)
            fprintf(p->out, ", attempt %d", (int)line->attempts + 1);
        if (line->duration != 0)
            fprintf(p->out, ", %s", pawl__span_text(line->duration, span));
        fprintf(p->out, "%s%s\n", line->error.size != 0 ? ": " : "", escaped(p, line->error));
        each_effect(p, i, text_effect);
    }
}

/* ---- Mermaid ----------------------------------------------------------------------- */

static void mermaid_effect(const printer *p, const effect *what, size_t line)
{
    (void)line;
    fprintf(p->out, "    %s%s%s%s%s%s\n",
            what->is_send ? "saga->>others: " : "Note over saga: ", what->is_send ? "" : what->kind,
            what->is_send ? "" : " ", what->name, goal_of(what), what->to);
}

static void print_mermaid(const printer *p)
{
    fprintf(p->out, "sequenceDiagram\n    participant others\n    participant saga as %s\n",
            escaped(p, p->name));
    for (size_t i = 0; i < p->count; i++) {
        const pawl_history_entry *line = &p->lines[i].entry;
        fprintf(p->out, "    %s%ssaga: %s (%s",
                pawl_text_equal(line->kind, PAWL_TEXT("timeout")) ? "saga" : "others",
                pawl_text_equal(line->outcome, PAWL_TEXT("handled")) ? "->>" : "--x",
                escaped(p, line->type), escaped(p, line->outcome));
        if (line->version != 0)
            fprintf(p->out, ", v%lld", (long long)line->version);
        fputs(")\n", p->out);
        each_effect(p, i, mermaid_effect);
    }
}

/* ---- Graphviz ------------------------------------------------------------------------ */

static void dot_effect(const printer *p, const effect *what, size_t line)
{
    fprintf(p->out, "    l%zu -> \"%s %s%s%s\" [style=dashed]\n", line, what->kind, what->name,
            what->to[0] != '\0' ? "\\n" : "", what->to);
}

static void print_dot(const printer *p)
{
    fprintf(p->out, "digraph history {\n    rankdir=TB\n    node [shape=box]\n    label=\"%s\"\n",
            escaped(p, p->name));
    for (size_t i = 0; i < p->count; i++) {
        const pawl_history_entry *line = &p->lines[i].entry;
        char                      at[PAWL_TIME_TEXT_SIZE + 1];
        pawl_time_format(line->at, at);
        fprintf(p->out, "    l%zu [label=\"%s\\n%s, v%lld\\n%s\"]\n", i, escaped(p, line->type),
                escaped(p, line->outcome), (long long)line->version, at);
        if (i > 0)
            fprintf(p->out, "    l%zu -> l%zu\n", i - 1, i);
        each_effect(p, i, dot_effect);
    }
    fputs("}\n", p->out);
}

/* ---- XES ------------------------------------------------------------------------------ */

static void xes_string(const printer *p, const char *key, pawl_text value)
{
    if (value.size > 0)
        fprintf(p->out, "      <string key=\"%s\" value=\"%s\"/>\n", key, escaped(p, value));
}

static void xes_event(const printer *p, const pawl_history_entry *line)
{
    bool is_done = pawl_text_equal(line->outcome, PAWL_TEXT("handled"));
    char at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(line->at, at);
    fputs("    <event>\n", p->out);
    xes_string(p, "concept:name", line->type);
    fprintf(p->out, "      <date key=\"time:timestamp\" value=\"%s\"/>\n", at);
    xes_string(p, "lifecycle:transition", is_done ? PAWL_TEXT("complete") : PAWL_TEXT("ate_abort"));
    xes_string(p, "org:resource", line->endpoint);
    xes_string(p, "pawl:outcome", line->outcome);
    xes_string(p, "pawl:kind", line->kind);
    xes_string(p, "pawl:message", line->message_id);
    xes_string(p, "pawl:error", line->error);
    fprintf(p->out,
            "      <int key=\"pawl:version\" value=\"%lld\"/>\n"
            "      <int key=\"pawl:duration\" value=\"%lld\"/>\n    </event>\n",
            (long long)line->version, (long long)line->duration);
}

static void print_xes(const printer *p)
{
    static const char *const extensions[][2] = {{"Concept", "concept"},
                                                {"Time", "time"},
                                                {"Lifecycle", "lifecycle"},
                                                {"Organizational", "org"}};
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<log xes.version=\"1849.2016\" xmlns=\"http://www.xes-standard.org/\">\n",
          p->out);
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        fprintf(p->out,
                "  <extension name=\"%s\" prefix=\"%s\" "
                "uri=\"http://www.xes-standard.org/%s.xesext\"/>\n",
                extensions[i][0], extensions[i][1], extensions[i][1]);
    fputs("  <trace>\n", p->out);
    xes_string(p, "concept:name", p->name);
    for (size_t i = 0; i < p->count; i++)
        xes_event(p, &p->lines[i].entry);
    fputs("  </trace>\n</log>\n", p->out);
}

static const form forms[] = {
    {"dot", escape_dot, print_dot},
    {"mermaid", escape_mermaid, print_mermaid},
    {"text", escape_plain, print_text},
    {"xes", escape_xml, print_xes},
};

/* ---- The verb ------------------------------------------------------------------- */

static pawl_code print(const pawl__saga_fields *fields, const found_lines *list, pawl_arena *arena)
{
    const char *format = fields->format != NULL ? fields->format : "text";
    pawl__view  view   = pawl__view_of(&history_lines, true, arena);
    if (fields->is_json || strcmp(format, "json") == 0)
        return pawl__rows_print(&view, list->items, list->count);
    printer p = {.form  = forms,
                 .name  = pawl_text_of(fields->shown),
                 .lines = list->items,
                 .count = list->count,
                 .arena = arena,
                 .out   = stdout};
    while (strcmp(p.form->name, format) != 0)
        p.form++;
    p.form->print(&p);
    return PAWL_OK;
}

/* The hint for a saga that was not found by its value. */
static const char *other_word(const pawl__saga_fields *fields)
{
    const char *slash = strchr(fields->shown, '/');
    pawl_uuid   id;
    if (slash == NULL || pawl_uuid_parse(pawl_text_of(slash + 1), &id, NULL) == PAWL_OK)
        return "";
    return fields->book.app == NULL ? "; a saga is found by its value with --app APP.so"
                                    : "; of a saga that ended give TYPE/ID, or the id of a message";
}

pawl_code pawl__saga_history(const void *context, pawl_store *store, pawl_arena *arena,
                             pawl_error *error)
{
    const pawl__saga_fields *fields = context;
    found_lines list = {.limit = fields->limit != 0 ? (size_t)fields->limit : LINES_DEFAULT,
                        .texts = {pawl__must_create(), pawl__must_create()}};
    pawl_code   code = collect(fields, store, arena, &list, error);
    keep_newest(&list);
    if (code == PAWL_OK && list.count == 0)
        code = pawl_error_set(
            error, PAWL_ENOTFOUND,
            "there is no history of %s: an endpoint keeps one with pawl run --history TIME%s",
            fields->shown, other_word(fields));
    if (code == PAWL_OK)
        code = print(fields, &list, arena);
    if (code == PAWL_OK && list.has_left_out)
        fprintf(stderr, "these are the newest %zu lines: --limit N shows N\n", list.count);
    pawl_arena_destroy(list.texts[0]);
    pawl_arena_destroy(list.texts[1]);
    return code;
}
