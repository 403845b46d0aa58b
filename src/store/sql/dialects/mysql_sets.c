/* mysql_sets.c - makes the text of a statement over many items: see mysql_sets.h.
 *
 *     insert ... values (...), (...)
 *     update (values row(...), row(...)) as j (p1, p2) straight_join T set ... where ...
 *     delete T from (values ...) as j (p1, p2) straight_join T where ...
 *     with j (i, p1) as (values ...) select i, ... from j straight_join T where ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/mysql_sets.h"

#include <string.h>

#define PARAMETER_SIZE 16 /* bytes of a parameter beside its text, at most */

static const pawl_saga_table *table_of(const pawl__mysql_set *s)
{
    return s->write->is_saga ? pawl__saga_table_of(s->item) : NULL;
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* The shape of a statement, and the index that a set of changes has to name: see mysql_sets.h. */
pawl__mysql_form pawl__mysql_form_of(const char *template_text)
{
    static const char *const keys[][2] = {{" where [Id] = ", "primary"},
                                          {" where [Seq] = ", "primary"},
                                          {" where [SagaId] = ", "{timeouts_saga}"}};
    pawl__mysql_form         form      = {.shape = PAWL__MYSQL_OTHER};
    if (begins(template_text, "insert ") && strstr(template_text, " values (") != NULL)
        form.shape = PAWL__MYSQL_VALUES;
    if (begins(template_text, "update {"))
        form.shape = PAWL__MYSQL_UPDATE;
    if (begins(template_text, "delete from {"))
        form.shape = PAWL__MYSQL_DELETE;
    if (begins(template_text, "select {row}"))
        form.shape = PAWL__MYSQL_LOAD;
    bool is_change = form.shape == PAWL__MYSQL_UPDATE || form.shape == PAWL__MYSQL_DELETE;
    for (size_t i = 0; is_change && i < sizeof keys / sizeof keys[0]; i++)
        if (strstr(template_text, keys[i][0]) != NULL)
            form.index = keys[i][1];
    return form;
}

/* Appends a piece of a template as the server's text, with `parameter` for each of its parameters. */
static void expand(const pawl__mysql_set *s, pawl__sql_text *text, const char *parameter,
                   pawl_text piece)
{
    const pawl__sql_remote *remote  = pawl__sql_remote_at(s->session);
    pawl__sql_dialect       dialect = *remote->sql.dialect;
    pawl__sql_text          whole   = {0};
    dialect.parameter               = parameter;
    dialect.row                     = "i";
    pawl__sql_append_text(&whole, piece);
    if (whole.is_failed) {
        text->is_failed = true;
    } else if (s->write->is_saga) {
        pawl__sql_saga_template saga =
            *pawl__sql_saga_template_of((pawl__sql_saga_statement)s->write->statement);
        saga.text = whole.data;
        pawl__sql_saga_expand(text, &dialect, table_of(s), &saga);
    } else {
        pawl__sql_expand(text, &dialect, remote->sql.base.system_prefix, whole.data);
    }
    pawl__sql_text_free(&whole);
}

/* The same for a text that was made for it and is freed here. */
static void expand_made(const pawl__mysql_set *s, pawl__sql_text *text, const char *parameter,
                        pawl__sql_text *made)
{
    expand(s, text, parameter, pawl__sql_text_of(made));
    text->is_failed = text->is_failed || made->is_failed;
    pawl__sql_text_free(made);
}

static void write_values(const pawl__mysql_set *s, pawl__sql_text *text, const char *one,
                         unsigned rows)
{
    pawl__sql_text whole = {0};
    (void)pawl__sql_append_rows(&whole, one, rows);
    expand_made(s, text, "?", &whole);
}

/* Ids are converted to the character set of their columns, or no index could be used. A time has a type with
 * microseconds, or MySQL may round them away. A value by which sagas are loaded has a type longer than the
 * column's, or MariaDB cuts it. */
static const char *marker_of(const pawl__mysql_set *s, const pawl__field *field)
{
    const pawl_value *value = (const void *)((const char *)s->item + field->offset);
    bool is_id = field->wire == PAWL__WIRE_UUID || field->wire == PAWL__WIRE_UUID_OR_NULL;
    const pawl_saga_table *table = table_of(s);
    /* A saga is updated with its transitional value alone. */
    bool is_time = field->wire == PAWL__WIRE_TIME || field->wire == PAWL__WIRE_TIME_OR_NEVER ||
                   (field->wire == PAWL__WIRE_VALUE && table != NULL &&
                    table->transitional.type == PAWL_VALUE_TIME);
    if (s->form.shape != PAWL__MYSQL_LOAD)
        return is_id ? "convert(? using ascii)" : is_time ? "cast(? as datetime(6))" : "?";
    switch (value->type) {
    case PAWL_VALUE_INT: return "cast(? as signed)";
    case PAWL_VALUE_TIME: return "cast(? as datetime(6))";
    case PAWL_VALUE_UUID: return "cast(? as char(38) character set ascii)";
    default: return "cast(? as char(201))";
    }
}

static void append_rows(const pawl__mysql_set *s, pawl__sql_text *text, unsigned rows)
{
    const pawl__field_list *fields = &s->write->parameters;
    const char *open = pawl__mysql_is_mariadb(pawl__sql_remote_at(s->session)) ? "(" : "row(";
    for (unsigned row = 0; row < rows; row++) {
        pawl__sql_appendf(text, "%s%s", row != 0 ? ", " : "values ", open);
        if (s->form.shape == PAWL__MYSQL_LOAD)
            pawl__sql_appendf(text, "%u, ", row);
        for (size_t i = 0; i < fields->count; i++)
            pawl__sql_appendf(text, "%s%s", i != 0 ? ", " : "", marker_of(s, &fields->items[i]));
        pawl__sql_append(text, ")");
    }
}

/* The parameters of one item are columns of j in the text of the set. */
static void write_join(const pawl__mysql_set *s, pawl__sql_text *text, const char *one,
                       unsigned rows)
{
    bool           is_update = s->form.shape == PAWL__MYSQL_UPDATE;
    pawl__sql_text behind    = {0};
    const char    *table     = strchr(one, '{');
    pawl_text      name      = {.data = table, .size = strcspn(table, " ")};
    pawl__sql_append(text, is_update ? "update (" : "delete ");
    if (!is_update) {
        expand(s, text, "?", name);
        pawl__sql_append(text, " from (");
    }
    append_rows(s, text, rows);
    for (size_t i = 0; i < s->write->parameters.count; i++)
        pawl__sql_appendf(text, "%sp%zu", i != 0 ? ", " : ") as j (", i + 1);
    pawl__sql_append(text, ") straight_join ");
    pawl__sql_appendf(&behind, "%.*s force index (%s)%s", PAWL_TEXT_ARGS(name), s->form.index,
                      table + name.size);
    expand_made(s, text, "p%u", &behind);
}

static void write_load(const pawl__mysql_set *s, pawl__sql_text *text, const char *one,
                       unsigned rows)
{
    const pawl__sql_dialect *dialect = s->session->store->dialect;
    const pawl_saga_table   *table   = table_of(s);
    const char              *from = strstr(one, "{saga}"), *where = strstr(one, " where ");
    pawl_saga_key            key =
        pawl__sql_saga_template_of((pawl__sql_saga_statement)s->write->statement)->key;
    pawl__sql_append(text, "with j (i, p1) as (");
    append_rows(s, text, rows);
    pawl__sql_append(text, ") ");
    expand(s, text, "?", (pawl_text){.data = one, .size = (size_t)(from - one)});
    pawl__sql_append(text, "j straight_join ");
    expand(s, text, "?", PAWL_TEXT("{saga} force index ("));
    if (key == PAWL_SAGA_BY_ID)
        pawl__sql_append(text, "primary");
    else
        pawl__sql_append_name(text, dialect, "Index_Correlation_",
                              key == PAWL_SAGA_BY_MAIN ? table->main.property
                                                       : table->transitional.property);
    pawl__sql_append(text, ")");
    expand(s, text, "p%u", pawl_text_of(where));
}

/* ---- The whole text ------------------------------------------------------- */

void pawl__mysql_set_text(pawl__sql_text *text, const pawl__mysql_set *s, unsigned rows)
{
    const char *one = pawl__sql_template_of(s->session, s->write->statement, s->write->is_saga);
    switch (s->form.shape) {
    case PAWL__MYSQL_VALUES: write_values(s, text, one, rows); return;
    case PAWL__MYSQL_LOAD: write_load(s, text, one, rows); return;
    default: write_join(s, text, one, rows);
    }
}

size_t pawl__mysql_size_of(const pawl__field_list *fields, const void *item)
{
    size_t size = 0;
    for (size_t i = 0; i < fields->count; i++) {
        const void       *member = (const char *)item + fields->items[i].offset;
        const pawl_value *value  = member;
        size += PARAMETER_SIZE;
        switch (fields->items[i].wire) {
        case PAWL__WIRE_TEXT:
        case PAWL__WIRE_ERROR_TEXT:
        case PAWL__WIRE_BYTES:
        case PAWL__WIRE_JSON:
        case PAWL__WIRE_JSON_TEXT: size += ((const pawl_text *)member)->size; break;
        case PAWL__WIRE_VALUE:
            size += value->type == PAWL_VALUE_TEXT ? value->as.text.size : PAWL_UUID_TEXT_SIZE;
            break;
        default: size += PAWL_UUID_TEXT_SIZE;
        }
    }
    return size;
}
