/* set_text.c - makes the text of a set from the statement on one row: see set.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/set.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EQUAL " = "

static const char *const templates[] = {
#define TEXT_OF(name, text) text,
    PAWL__SQL_ROW_STATEMENTS(TEXT_OF)
#undef TEXT_OF
};

/* For each set the statement on one row, and the end of an insert that replaces that of the statement. */
static const struct {
    int         row;
    const char *end;
} sets[] = {
#define SET_OF(name, end) {PAWL__SQL_##name - PAWL__SQL_STATEMENT_COUNT, end},
    PAWL__PG_SETS(SET_OF)
#undef SET_OF
};

static const char *row_of(int statement)
{
    return templates[sets[statement - PAWL__PG_SET_FIRST].row];
}

bool pawl__pg_set_inserts(int statement)
{
    return row_of(statement)[0] == 'i';
}

static unsigned count_parameters(const char *row)
{
    unsigned order[PAWL__PG_PARAMETERS_MAX], last = 0;
    size_t   count = pawl__sql_parameter_order(row, order, PAWL__PG_PARAMETERS_MAX);
    for (size_t i = 0; i < count; i++)
        last = order[i] > last ? order[i] : last;
    return last;
}

/* "?1, ?2" */
static void append_numbered(pawl__sql_text *text, char before, unsigned count)
{
    for (unsigned i = 1; i <= count; i++)
        pawl__sql_appendf(text, "%s%c%u", i > 1 ? ", " : "", before, i);
}

static bool is_compared(const pawl__sql_text *text)
{
    size_t size = sizeof EQUAL - 1;
    return text->size >= size && memcmp(text->data + text->size - size, EQUAL, size) == 0;
}

/* Appends a piece of the template, with columns of k in place of parameters. */
static void append_items(pawl__sql_text *text, pawl_text piece, bool is_condition)
{
    const char *end = piece.data + piece.size;
    for (const char *at = piece.data; at < end;) {
        size_t size = strcspn(at, "?");
        size        = size < (size_t)(end - at) ? size : (size_t)(end - at);
        pawl__sql_append_text(text, (pawl_text){.data = at, .size = size});
        at += size;
        if (at == end)
            return;
        unsigned number = (unsigned)strtoul(at + 1, NULL, 10);
        if (is_condition && is_compared(text))
            pawl__sql_appendf(text, "any (array_append(null, k.p%u))", number);
        else
            pawl__sql_appendf(text, "k.p%u", number);
        for (at++; isdigit((unsigned char)*at);)
            at++;
    }
}

static pawl_text between(const char *from, const char *to)
{
    return (pawl_text){.data = from, .size = (size_t)(to - from)};
}

/* unnest in the select list is not materialized, as it is in FROM, where many columns would cost a fifth of the
 * statement's time. */
static void write_insert(pawl__sql_text *text, const char *row, const char *own_end)
{
    static const char word[] = " values (";
    const char       *values = strstr(row, word);
    const char       *first  = values + sizeof word - 1;
    const char       *end    = first;
    for (int depth = 1; depth > 0; end++)
        depth += (*end == '(') - (*end == ')');
    pawl__sql_append_text(text, between(row, values));
    pawl__sql_append(text, " select ");
    append_items(text, between(first, end - 1), false);
    pawl__sql_append(text, " from (select ");
    for (unsigned i = 1, count = count_parameters(row); i <= count; i++)
        pawl__sql_appendf(text, "%sunnest(?%u) as p%u", i > 1 ? ", " : "", i, i);
    pawl__sql_append(text, ") as k");
    append_items(text, pawl_text_of(own_end != NULL ? own_end : end), false);
}

static void append_unnest(pawl__sql_text *text, unsigned count)
{
    pawl__sql_append(text, "unnest(");
    append_numbered(text, '?', count);
    pawl__sql_append(text, ") with ordinality as k (");
    append_numbered(text, 'p', count);
    pawl__sql_append(text, ", n)");
}

static void write_change(pawl__sql_text *text, const char *row, const char *from)
{
    const char *where = strstr(row, " where ");
    append_items(text, between(row, where), false);
    pawl__sql_appendf(text, " %s ", from);
    append_unnest(text, count_parameters(row));
    append_items(text, pawl_text_of(where), true);
    pawl__sql_append(text, " returning k.n");
}

/* Does the condition compare exactly two columns with the two parameters? */
static bool has_two_keys(const char *where)
{
    int end = 0;
    (void)sscanf(where, " where [%*[A-Za-z]] = ?1 and [%*[A-Za-z]] = ?2%n", &end);
    return end != 0 && where[end] == '\0';
}

static void write_delete(pawl__sql_text *text, const char *row)
{
    static const char word[] = "delete from ";
    const char       *table  = row + sizeof word - 1;
    const char       *where  = strstr(row, " where ");
    if (!has_two_keys(where)) {
        write_change(text, row, "using");
        return;
    }
    pawl__sql_append_text(text, between(row, where));
    pawl__sql_append(text, " as t using ");
    append_unnest(text, count_parameters(row));
    pawl__sql_append(text, " cross join lateral (select o.ctid as tid from ");
    pawl__sql_append_text(text, between(table, where));
    pawl__sql_append(text, " as o");
    append_items(text, pawl_text_of(where), false);
    pawl__sql_append(text, " offset 0) as f where t.ctid = f.tid returning k.n");
}

/* With LIMIT the planner must look the row up for each item. */
static void write_select(pawl__sql_text *text, const char *row)
{
    pawl__sql_append(text, "select k.n from ");
    append_unnest(text, count_parameters(row));
    pawl__sql_append(text, " cross join lateral (");
    append_items(text, pawl_text_of(row), false);
    pawl__sql_append(text, " limit 1) as f");
}

void pawl__pg_set_template(pawl__sql_text *text, int statement)
{
    const char *row = row_of(statement);
    if (strncmp(row, "insert ", 7) == 0)
        write_insert(text, row, sets[statement - PAWL__PG_SET_FIRST].end);
    else if (strncmp(row, "select ", 7) == 0)
        write_select(text, row);
    else if (strncmp(row, "delete ", 7) == 0)
        write_delete(text, row);
    else
        write_change(text, row, "from");
}
