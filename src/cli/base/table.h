/* table.h - prints rows of one kind, for people or as JSON, by one list of columns.
 *
 * A verb lists the columns of its rows once: the table for people, the page of one
 * row, the JSON objects and their keys in the help all come from that list.
 *
 *     list     the columns with a heading, aligned; every key as JSON
 *     show     one row, a line for each key; keys of PAWL__LEVEL_SHOW as well
 *     reveal   bodies as well, which never appear otherwise
 *
 * Keys of the JSON objects are never renamed: programs read them. A value that a row does not have
 * is null there and left out for people.
 *
 * Threads: none; called from main.
 * Tests: tests/unit/cli/test_command_table.c, tests/system/command_outbox.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_TABLE_H
#define PAWL_CLI_TABLE_H

#include "pawl/operate.h"

#include <stdio.h>
#include <yyjson.h>

/* Type of the field at `offset`. */
typedef enum pawl__column_kind {
    PAWL__COLUMN_TEXT,     /* pawl_text; empty: none */
    PAWL__COLUMN_SIZE,     /* pawl_text; only its size is shown */
    PAWL__COLUMN_JSON,     /* pawl_text, a JSON value of its own; empty: none */
    PAWL__COLUMN_LIST,     /* pawl__text_list; an array in JSON */
    PAWL__COLUMN_ID,       /* pawl_uuid; zero: none */
    PAWL__COLUMN_NAME,     /* an enum; its words are `names` */
    PAWL__COLUMN_COUNT,    /* int64_t */
    PAWL__COLUMN_ROWS,     /* int64_t, a count that ends at PAWL_STATS_COUNT_MAX */
    PAWL__COLUMN_COUNT_32, /* int32_t */
    PAWL__COLUMN_NUMBER,   /* int64_t; 0: none */
    PAWL__COLUMN_TIME,     /* pawl_time; 0: none */
    PAWL__COLUMN_DURATION, /* int64_t, microseconds */
} pawl__column_kind;

/* items NULL: not known, which is not the same as none. */
typedef struct pawl__text_list {
    const pawl_text *items;
    size_t           count;
} pawl__text_list;

/* A set of texts, which are copied, in the order in which they were added. The caller sets the arena. */
typedef struct pawl__text_set {
    pawl_arena *arena;
    pawl_text  *items;
    size_t      count, capacity;
} pawl__text_set;

/* False: the text is in it already. */
bool pawl__text_set_add(pawl__text_set *set, pawl_text text);

/* The first of the views that shows a column: list, show, or show with --reveal. */
typedef enum pawl__level {
    PAWL__LEVEL_LIST,
    PAWL__LEVEL_SHOW,
    PAWL__LEVEL_REVEAL,
} pawl__level;

typedef struct pawl__column {
    const char        *key; /* NULL ends the list */
    pawl__column_kind  kind;
    size_t             offset;
    const char        *heading; /* NULL: not in the table */
    pawl__level        level;
    const char *const *names;
} pawl__column;

/* A column of rows of the type `row`. After the member comes the heading, then the level or other members by name. */
#define PAWL__COLUMN(row, key_, kind_, member, ...)                                             \
    {                                                                                           \
        .key = key_, .kind = PAWL__COLUMN_##kind_, .offset = offsetof(row, member), __VA_ARGS__ \
    }

#define PAWL__COLUMNS_MAX 32

/* Rows of one kind. */
typedef struct pawl__noun {
    const char         *name; /* "no outbox row matches" */
    const pawl__column *columns;
    size_t              row_size;
} pawl__noun;

/* The form in which rows of one kind are printed. */
typedef struct pawl__view {
    const pawl__column *columns;
    const char         *noun; /* a row in "no outbox row matches"; NULL: no such line */
    size_t              row_size;
    pawl__level         level;
    bool                is_json;
    bool                is_pages; /* for people: a page for each row instead of a line */
    bool        is_cut; /* set by a page function: its page has few rows, but is not the last one */
    pawl_time   now;    /* ages are counted from it */
    pawl_arena *arena;  /* for texts; not reset here */
    FILE       *out;
    size_t      widths[PAWL__COLUMNS_MAX]; /* of the columns so far; they grow */
    int64_t     printed;
} pawl__view;

/* A view that prints to standard output, with ages from now. The noun and the arena are borrowed. */
pawl__view pawl__view_of(const pawl__noun *noun, bool is_json, pawl_arena *arena);

/* Prints rows: lines of a table, pages, or a JSON object on a line each. Always PAWL_OK: a verb can return it. */
pawl_code pawl__rows_print(pawl__view *view, const void *rows, size_t count);
/* Prints one row: a line for each key that it has. */
void pawl__row_page(const pawl__view *view, const void *row);
/* Adds the keys of one row to a JSON object. */
void pawl__row_json(const pawl__view *view, yyjson_mut_doc *doc, yyjson_mut_val *object,
                    const void *row);
/* Rows that belong to a shown one: "history", "actions". */
typedef struct pawl__inner_rows {
    const char         *key;
    const pawl__column *columns;
    size_t              row_size;
    const void         *rows;
    size_t              count;
} pawl__inner_rows;

/* Prints a row with its inner rows: as one JSON object, or as a page and a table for each list that is not empty.
 * `row` NULL: the row is gone, and only the inner rows are left. */
pawl_code pawl__row_show(const pawl__view *view, const void *row, const pawl__inner_rows *inner,
                         size_t inner_count);

/* Returns the rows behind those of its last call, at most count_max; fewer only at the end, or if it sets is_cut. */
typedef pawl_code pawl__page_fn(void *context, size_t count_max, pawl_arena *arena,
                                const void **rows, size_t *count, pawl_error *error);

/* Prints at most `limit` rows. 0: all as JSON, else PAWL__LINES_DEFAULT, and if there are more, a line on standard
 * error that says so. Resets the arena between pages. */
#define PAWL__LINES_DEFAULT 100
pawl_code pawl__rows_list(pawl__view *view, int64_t limit, pawl__page_fn *page, void *context,
                          pawl_error *error);

/* A member of an answer that is one object: a text, a JSON value, or a number where there is neither. */
typedef struct pawl__fact {
    const char *key; /* NULL: no member */
    const char *text;
    pawl_text   json;
    int64_t     number;
    bool        is_null;
} pawl__fact;
/* Prints them as one object to standard output. */
pawl_code pawl__facts_print(const pawl__fact *facts, size_t count);
/* Prints what a verb has done: the facts as JSON, else the sentence for people. Always PAWL_OK. */
pawl_code pawl__done_print(bool is_json, const pawl__fact *facts, size_t count, const char *format,
                           ...) PAWL_PRINTF(4, 5);
#define PAWL__FACTS(...)               \
    (const pawl__fact[]){__VA_ARGS__}, \
        sizeof((const pawl__fact[]){__VA_ARGS__}) / sizeof(pawl__fact)

/* "12 s", "1.5 h", "340 us" */
#define PAWL__SPAN_SIZE 48
/* A count of rows; with "+" behind it if counting stopped at PAWL_STATS_COUNT_MAX. */
const char *pawl__rows_text(int64_t count, char text[PAWL__SPAN_SIZE]);
const char *pawl__span_text(int64_t span, char text[PAWL__SPAN_SIZE]);
/* "3 m ago", "in 12 s" */
const char *pawl__age_text(pawl_time time, pawl_time now, char text[PAWL__SPAN_SIZE]);
/* The end of a noun behind its number. */
#define PAWL__PLURAL(count) ((count) == 1 ? "" : "s")
pawl_text pawl__uuid_text(pawl_uuid id, pawl_arena *arena);
pawl_text pawl__time_text(pawl_time time, pawl_arena *arena);
/* A copy of the member's text; empty if the member is not a text. */
pawl_text pawl__json_text(yyjson_val *object, const char *key, pawl_arena *arena);
/* Adds a copy of the text; NULL: null. */
void pawl__json_add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                         const char *text);
/* Adds a time, null for 0. */
void pawl__json_add_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                         pawl_time time);

typedef struct pawl__action_row {
    pawl_text action; /* "retried" */
    pawl_time at;
    pawl_text by, reason;
} pawl__action_row;

typedef struct pawl__action_rows {
    pawl__action_row *items;
    size_t            count;
} pawl__action_rows;

extern const pawl__column pawl__action_columns[];

/* Makes the actions from their events, whose types begin with the prefix, such as "pawl.dead_". */
pawl__action_rows pawl__actions_read(const pawl_event_rows *events, const char *prefix,
                                     pawl_arena *arena);
/* The actions as inner rows of the thing that is shown. */
pawl__inner_rows pawl__actions_inner(const pawl__action_rows *actions);
/* Prints a row with its actions as the only inner rows. `row` NULL: the row is gone, and the actions are left. */
pawl_code pawl__actions_show(const pawl__view *view, const void *row, const pawl_event_rows *events,
                             const char *prefix);

#endif
