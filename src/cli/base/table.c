/* table.c - prints rows of one kind, for people or as JSON, with the actions of operators on a row. See table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/base/table.h"

#include "base/calm.h"
#include "base/delay.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

pawl__view pawl__view_of(const pawl__noun *noun, bool is_json, pawl_arena *arena)
{
    return (pawl__view){.columns  = noun->columns,
                        .noun     = noun->name,
                        .row_size = noun->row_size,
                        .is_json  = is_json,
                        .now      = pawl_clock_now(NULL),
                        .arena    = arena,
                        .out      = stdout};
}

#define PAGE_ROWS 100 /* rows of one read: their bodies are in memory */
#define LABEL_WIDTH 18

/* ---- Times ----------------------------------------------------------------- */

const char *pawl__rows_text(int64_t count, char text[PAWL__SPAN_SIZE])
{
    snprintf(text, PAWL__SPAN_SIZE, "%" PRId64 "%s", count,
             count >= PAWL_STATS_COUNT_MAX ? "+" : "");
    return text;
}

const char *pawl__span_text(int64_t span, char text[PAWL__SPAN_SIZE])
{
    const pawl__time_unit *unit = pawl__time_units;
    if (span < 0)
        span = 0;
    while (unit->microseconds > 1 && span < unit->microseconds)
        unit++;
    int64_t whole  = span / unit->microseconds;
    int     tenths = (int)(whole < 10 ? span % unit->microseconds * 10 / unit->microseconds : 0);
    if (tenths > 0)
        snprintf(text, PAWL__SPAN_SIZE, "%" PRId64 ".%d %s", whole, tenths, unit->name);
    else
        snprintf(text, PAWL__SPAN_SIZE, "%" PRId64 " %s", whole, unit->name);
    return text;
}

const char *pawl__age_text(pawl_time time, pawl_time now, char text[PAWL__SPAN_SIZE])
{
    char span[PAWL__SPAN_SIZE];
    pawl__span_text(time > now ? time - now : now - time, span);
    snprintf(text, PAWL__SPAN_SIZE, time > now ? "in %.40s" : "%.40s ago", span);
    return text;
}

pawl_text pawl__uuid_text(pawl_uuid id, pawl_arena *arena)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id, text);
    return pawl__must_text(arena, pawl_text_of(text));
}

pawl_text pawl__time_text(pawl_time time, pawl_arena *arena)
{
    char text[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(time, text);
    return pawl__must_text(arena, pawl_text_of(text));
}

/* ---- Members of JSON -------------------------------------------------------- */

pawl_text pawl__json_text(yyjson_val *object, const char *key, pawl_arena *arena)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    const char *text  = yyjson_get_str(value);
    return text == NULL
               ? (pawl_text){0}
               : pawl__must_text(arena, (pawl_text){.data = text, .size = yyjson_get_len(value)});
}

void pawl__json_add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                         const char *text)
{
    yyjson_mut_obj_add_val(doc, object, key,
                           text != NULL ? yyjson_mut_strcpy(doc, text) : yyjson_mut_null(doc));
}

void pawl__json_add_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                         pawl_time time)
{
    char text[PAWL_TIME_TEXT_SIZE + 1];
    if (time != 0)
        pawl_time_format(time, text);
    pawl__json_add_text(doc, object, key, time != 0 ? text : NULL);
}

/* ---- Texts ----------------------------------------------------------------- */

/* Puts U+FFFD in place of each byte that is not UTF-8, as the text of a handler's failure may have
 * any. */
static pawl_text mended(pawl_text text, pawl_arena *arena)
{
    char  *made = pawl__must_take(arena, text.size * 3 + 1);
    size_t size = 0;
    while (text.size > 0) {
        size_t good   = text.size;
        bool   is_bad = !pawl_text_is_valid(text, &good);
        memcpy(made + size, text.data, good);
        size += good;
        if (is_bad) {
            memcpy(made + size, "\xEF\xBF\xBD", 3);
            size += 3;
        }
        text.data += good + is_bad;
        text.size -= good + is_bad;
    }
    made[size] = '\0';
    return (pawl_text){.data = made, .size = size};
}

/* Replaces invalid UTF-8 and control characters, which a terminal would obey. A body keeps its line ends. */
static pawl_text calmed(pawl_text text, bool keeps_lines, pawl_arena *arena)
{
    pawl_text calm = mended(text, arena);
    pawl__calm((char *)(uintptr_t)calm.data, calm.size, keeps_lines ? 0 : '?');
    return calm;
}

/* "one, two" */
static pawl_text joined(const pawl__text_list *texts, pawl_arena *arena)
{
    pawl_text all = PAWL_TEXT("");
    for (size_t i = 0; i < texts->count; i++)
        all = pawl__must_join(arena, all, ", ", calmed(texts->items[i], false, arena));
    return all;
}

static const void *field_of(const pawl__column *column, const void *row)
{
    return (const char *)row + column->offset;
}

static int64_t number_of(const pawl__column *column, const void *row)
{
    const void *field = field_of(column, row);
    return column->kind == PAWL__COLUMN_COUNT_32 ? *(const int32_t *)field
                                                 : *(const int64_t *)field;
}

static pawl_text id_text(const pawl__column *column, const void *row, pawl_arena *arena)
{
    const pawl_uuid *id = field_of(column, row);
    return pawl_uuid_is_zero(*id) ? PAWL_TEXT("") : pawl__uuid_text(*id, arena);
}

static pawl_text time_text(const pawl__view *view, pawl_time time, bool is_line)
{
    char text[PAWL_TIME_TEXT_SIZE + 1], age[PAWL__SPAN_SIZE];
    if (time == 0)
        return PAWL_TEXT("");
    pawl_time_format(time, text);
    if (is_line) /* whole seconds in a table */
        memcpy(text + strlen("2026-01-31T23:59:59"), "Z", 2);
    return pawl__must_printf(view->arena, "%s (%s)", text, pawl__age_text(time, view->now, age));
}

/* The text of a field for people; empty: the row does not have it. `is_line`: for a table. */
static pawl_text cell_text(const pawl__view *view, const pawl__column *column, const void *row,
                           bool is_line)
{
    char             span[PAWL__SPAN_SIZE];
    const pawl_text *text = field_of(column, row);
    switch (column->kind) {
    case PAWL__COLUMN_TEXT:
    case PAWL__COLUMN_JSON: return calmed(*text, column->level == PAWL__LEVEL_REVEAL, view->arena);
    case PAWL__COLUMN_SIZE: return pawl__must_printf(view->arena, "%zu bytes", text->size);
    case PAWL__COLUMN_LIST: return joined(field_of(column, row), view->arena);
    case PAWL__COLUMN_ID: return id_text(column, row, view->arena);
    case PAWL__COLUMN_NAME:
        return pawl_text_of(column->names[*(const unsigned *)field_of(column, row)]);
    case PAWL__COLUMN_TIME: return time_text(view, number_of(column, row), is_line);
    case PAWL__COLUMN_DURATION:
        pawl__span_text(number_of(column, row), span);
        return pawl__must_text(view->arena, pawl_text_of(span));
    case PAWL__COLUMN_NUMBER:
        if (number_of(column, row) == 0)
            return PAWL_TEXT("");
        break;
    case PAWL__COLUMN_ROWS:
        return pawl__must_text(view->arena,
                               pawl_text_of(pawl__rows_text(number_of(column, row), span)));
    case PAWL__COLUMN_COUNT:
    case PAWL__COLUMN_COUNT_32: break;
    }
    return pawl__must_printf(view->arena, "%" PRId64, number_of(column, row));
}

/* ---- Tables ---------------------------------------------------------------- */

/* Characters that take no column of a terminal, or two. */
typedef struct wide_range {
    uint32_t first, last;
    size_t   width;
} wide_range;

static const wide_range wide_ranges[] = {
    {0x300, 0x36F, 0},     {0x1100, 0x115F, 2},   {0x200B, 0x200F, 0},   {0x20D0, 0x20FF, 0},
    {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
    {0xFE00, 0xFE0F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},
    {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1F9FF, 2}, {0x20000, 0x3FFFD, 2},
};

static size_t width_of_character(uint32_t point)
{
    for (size_t i = 0; i < sizeof wide_ranges / sizeof wide_ranges[0]; i++)
        if (point >= wide_ranges[i].first && point <= wide_ranges[i].last)
            return wide_ranges[i].width;
    return 1;
}

/* Columns that a terminal shows the text in; the text is UTF-8. */
static size_t width_of(pawl_text text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.size;) {
        uint32_t point;
        i += pawl__character((const unsigned char *)text.data + i, text.size - i, &point);
        width += width_of_character(point);
    }
    return width;
}

static bool is_number(const pawl__column *column)
{
    return column->kind == PAWL__COLUMN_COUNT || column->kind == PAWL__COLUMN_COUNT_32 ||
           column->kind == PAWL__COLUMN_NUMBER || column->kind == PAWL__COLUMN_ROWS;
}

static size_t headed_columns(const pawl__view *view, const pawl__column **list)
{
    size_t count = 0;
    for (const pawl__column *column = view->columns; column->key != NULL; column++)
        if (column->heading != NULL && count < PAWL__COLUMNS_MAX)
            list[count++] = column;
    return count;
}

static void print_line(const pawl__view *view, const pawl__column **list, const pawl_text *cells,
                       size_t count)
{
    while (count > 0 && cells[count - 1].size == 0)
        count--; /* no blanks at the end of a line */
    for (size_t i = 0; i < count; i++) {
        int gap = (int)(view->widths[i] - width_of(cells[i]));
        fprintf(view->out, "%s%*s%.*s", i > 0 ? "  " : "", is_number(list[i]) ? gap : 0, "",
                PAWL_TEXT_ARGS(cells[i]));
        if (!is_number(list[i]) && i + 1 < count)
            fprintf(view->out, "%*s", gap, "");
    }
    fputc('\n', view->out);
}

static void widen(pawl__view *view, const pawl_text *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (view->widths[i] < width_of(cells[i]))
            view->widths[i] = width_of(cells[i]);
}

static void print_table(pawl__view *view, const void *rows, size_t count)
{
    const pawl__column *list[PAWL__COLUMNS_MAX];
    pawl_text           heads[PAWL__COLUMNS_MAX];
    size_t              width = headed_columns(view, list);
    pawl_text          *cells = pawl__must_take(view->arena, (count * width + 1) * sizeof *cells);
    for (size_t i = 0; i < width; i++)
        heads[i] = pawl_text_of(list[i]->heading);
    widen(view, heads, width);
    for (size_t i = 0; i < count; i++) {
        const void *row = (const char *)rows + i * view->row_size;
        for (size_t j = 0; j < width; j++)
            cells[i * width + j] = cell_text(view, list[j], row, true);
        widen(view, &cells[i * width], width);
    }
    if (view->printed == 0 && count > 0)
        print_line(view, list, heads, width);
    for (size_t i = 0; i < count; i++)
        print_line(view, list, &cells[i * width], width);
}

/* ---- Pages ----------------------------------------------------------------- */

void pawl__row_page(const pawl__view *view, const void *row)
{
    for (const pawl__column *column = view->columns; column->key != NULL; column++) {
        if (column->level > view->level)
            continue;
        pawl_text text = cell_text(view, column, row, false);
        if (text.size == 0)
            continue;
        char label[PAWL__SPAN_SIZE]; /* a longer one pushes its value to the right */
        snprintf(label, sizeof label, "%s", column->key);
        for (char *at = strchr(label, '_'); at != NULL; at = strchr(at, '_'))
            *at = ' ';
        fprintf(view->out, "%-*s ", LABEL_WIDTH, label);
        fwrite(text.data, 1, text.size, view->out);
        fputs(column->kind == PAWL__COLUMN_SIZE && view->level < PAWL__LEVEL_REVEAL
                  ? "; --reveal shows it\n"
                  : "\n",
              view->out);
    }
}

/* ---- JSON ------------------------------------------------------------------ */

static yyjson_mut_val *list_value(const pawl__view *view, yyjson_mut_doc *doc,
                                  const pawl__text_list *texts)
{
    if (texts->items == NULL)
        return yyjson_mut_null(doc);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; i < texts->count; i++) {
        pawl_text text = mended(texts->items[i], view->arena);
        yyjson_mut_arr_add_strncpy(doc, list, text.data, text.size);
    }
    return list;
}

static yyjson_mut_val *text_value(yyjson_mut_doc *doc, pawl_text text, bool is_json)
{
    return text.size == 0 ? yyjson_mut_null(doc)
           : is_json      ? pawl__json_value(doc, text)
                          : yyjson_mut_strncpy(doc, text.data, text.size);
}

static void add_field(const pawl__view *view, yyjson_mut_doc *doc, yyjson_mut_val *object,
                      const pawl__column *column, const void *row)
{
    const void     *field = field_of(column, row);
    yyjson_mut_val *value = NULL;
    switch (column->kind) {
    case PAWL__COLUMN_TEXT:
    case PAWL__COLUMN_JSON:
        value = text_value(doc, mended(*(const pawl_text *)field, view->arena),
                           column->kind == PAWL__COLUMN_JSON);
        break;
    case PAWL__COLUMN_ID: value = text_value(doc, id_text(column, row, view->arena), false); break;
    case PAWL__COLUMN_NAME:
        value = text_value(doc, cell_text(view, column, row, false), false);
        break;
    case PAWL__COLUMN_SIZE: value = yyjson_mut_uint(doc, ((const pawl_text *)field)->size); break;
    case PAWL__COLUMN_LIST: value = list_value(view, doc, field); break;
    case PAWL__COLUMN_TIME:
        pawl__json_add_time(doc, object, column->key, number_of(column, row));
        return;
    case PAWL__COLUMN_NUMBER:
        if (number_of(column, row) == 0) {
            value = yyjson_mut_null(doc);
            break;
        } /* fall through */
    case PAWL__COLUMN_COUNT:
    case PAWL__COLUMN_COUNT_32:
    case PAWL__COLUMN_ROWS:
    case PAWL__COLUMN_DURATION: value = yyjson_mut_sint(doc, number_of(column, row)); break;
    }
    yyjson_mut_obj_add_val(doc, object, column->key, value);
}

void pawl__row_json(const pawl__view *view, yyjson_mut_doc *doc, yyjson_mut_val *object,
                    const void *row)
{
    for (const pawl__column *column = view->columns; column->key != NULL; column++)
        if (column->level <= view->level)
            add_field(view, doc, object, column, row);
}

static void print_objects(const pawl__view *view, const void *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_doc *doc = pawl__json_create();
        pawl__row_json(view, doc, yyjson_mut_doc_get_root(doc),
                       (const char *)rows + i * view->row_size);
        (void)pawl__json_print(doc, view->out);
    }
}

/* A page for each row, with an empty line between two. */
static void print_pages(const pawl__view *view, const void *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 || view->printed > 0)
            fputc('\n', view->out);
        pawl__row_page(view, (const char *)rows + i * view->row_size);
    }
}

/* ---- Rows ------------------------------------------------------------------ */

pawl_code pawl__rows_print(pawl__view *view, const void *rows, size_t count)
{
    if (view->is_json)
        print_objects(view, rows, count);
    else if (view->is_pages)
        print_pages(view, rows, count);
    else
        print_table(view, rows, count);
    view->printed += (int64_t)count;
    return PAWL_OK;
}

/* Prints on standard error that no row matched, or that there are more rows than the default limit. */
static pawl_code say_rest(const pawl__view *view, bool may_be_more, pawl__page_fn *page,
                          void *context, pawl_error *error)
{
    const void *rows;
    size_t      count = 0;
    if (view->printed == 0 && view->noun != NULL)
        fprintf(stderr, "no %s matches\n", view->noun);
    if (!may_be_more)
        return PAWL_OK;
    pawl_code code = page(context, 1, view->arena, &rows, &count, error);
    if (code == PAWL_OK && count > 0)
        fprintf(stderr, "these are %" PRId64 "; there are more: --limit N shows N\n",
                view->printed);
    return code;
}

pawl_code pawl__rows_list(pawl__view *view, int64_t limit, pawl__page_fn *page, void *context,
                          pawl_error *error)
{
    const void *rows = NULL;
    size_t      count, wanted;
    bool        is_default = limit == 0 && !view->is_json;
    int64_t     left       = is_default ? PAWL__LINES_DEFAULT : limit == 0 ? INT64_MAX : limit;
    do {
        count  = 0;
        wanted = left < PAGE_ROWS ? (size_t)left : PAGE_ROWS;
        pawl_arena_reset(view->arena);
        pawl_code code = page(context, wanted, view->arena, &rows, &count, error);
        if (code == PAWL_OK)
            code = pawl__rows_print(view, rows, count);
        if (code != PAWL_OK)
            return code;
        left -= (int64_t)count;
    } while ((count == wanted || view->is_cut) && left > 0);
    if (view->is_json)
        return PAWL_OK;
    return say_rest(view, is_default && left == 0, page, context, error);
}

/* ---- One row ----------------------------------------------------------------- */

static pawl__view view_on(const pawl__view *view, const pawl__inner_rows *inner)
{
    pawl__view on = *view;
    on.columns    = inner->columns;
    on.row_size   = inner->row_size;
    return on;
}

static void add_inner(const pawl__view *view, yyjson_mut_doc *doc, const pawl__inner_rows *inner)
{
    pawl__view      on   = view_on(view, inner);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, yyjson_mut_doc_get_root(doc), inner->key);
    for (size_t i = 0; i < inner->count; i++)
        pawl__row_json(&on, doc, yyjson_mut_arr_add_obj(doc, list),
                       (const char *)inner->rows + i * inner->row_size);
}

static pawl_code show_object(const pawl__view *view, const void *row, const pawl__inner_rows *inner,
                             size_t inner_count)
{
    yyjson_mut_doc *doc = pawl__json_create();
    if (row != NULL)
        pawl__row_json(view, doc, yyjson_mut_doc_get_root(doc), row);
    for (size_t i = 0; i < inner_count; i++)
        add_inner(view, doc, &inner[i]);
    return pawl__json_print(doc, view->out);
}

pawl_code pawl__row_show(const pawl__view *view, const void *row, const pawl__inner_rows *inner,
                         size_t inner_count)
{
    if (view->is_json)
        return show_object(view, row, inner, inner_count);
    if (row != NULL)
        pawl__row_page(view, row);
    for (size_t i = 0; i < inner_count; i++) {
        pawl__view on = view_on(view, &inner[i]);
        if (inner[i].count == 0)
            continue;
        fputc('\n', view->out);
        (void)pawl__rows_print(&on, inner[i].rows, inner[i].count);
    }
    return PAWL_OK;
}

/* ---- Operators' actions, from their events -------------------------------- */

#define ACTION(key, kind, member, ...) \
    PAWL__COLUMN(pawl__action_row, key, kind, member, __VA_ARGS__)
const pawl__column pawl__action_columns[] = {
    ACTION("action", TEXT, action, "action"),
    ACTION("at", TIME, at, "at"),
    ACTION("by", TEXT, by, "by"),
    ACTION("reason", TEXT, reason, "reason"),
    {.key = NULL},
};

/* Event types whose name differs from the action that is printed. */
static const struct {
    const char *stored, *said;
} standard_words[] = {{"pawl.partition_released", "run_now"},
                      {"pawl.queue_buried", "dead_lettered"}};

/* "pawl.dead_retried" is "retried" here. */
static pawl__action_row action_of(const pawl_event *event, const char *prefix, pawl_arena *arena)
{
    pawl__action_row row = {.action = event->type, .at = event->at};
    yyjson_doc *doc  = yyjson_read(event->headers.data, event->headers.size, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    row.by           = pawl__json_text(root, "by", arena);
    row.reason       = pawl__json_text(root, "reason", arena);
    yyjson_doc_free(doc);
    for (size_t i = 0; i < sizeof standard_words / sizeof standard_words[0]; i++)
        if (pawl_text_equal(event->type, pawl_text_of(standard_words[i].stored)))
            row.action = pawl_text_of(standard_words[i].said);
    pawl_text behind = pawl__text_behind(row.action, prefix);
    if (behind.size > 0)
        row.action = behind;
    return row;
}

pawl__action_rows pawl__actions_read(const pawl_event_rows *events, const char *prefix,
                                     pawl_arena *arena)
{
    pawl__action_rows rows = {pawl__must_take(arena, (events->count + 1) * sizeof *rows.items), 0};
    while (rows.count < events->count) {
        rows.items[rows.count] = action_of(&events->items[rows.count].event, prefix, arena);
        rows.count++;
    }
    return rows;
}

pawl__inner_rows pawl__actions_inner(const pawl__action_rows *actions)
{
    return (pawl__inner_rows){"actions", pawl__action_columns, sizeof *actions->items,
                              actions->items, actions->count};
}

pawl_code pawl__actions_show(const pawl__view *view, const void *row, const pawl_event_rows *events,
                             const char *prefix)
{
    const pawl__action_rows actions = pawl__actions_read(events, prefix, view->arena);
    const pawl__inner_rows  inner   = pawl__actions_inner(&actions);
    return pawl__row_show(view, row, &inner, 1);
}
