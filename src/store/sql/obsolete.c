/* obsolete.c - correlation columns of properties that a saga no longer has: finds sagas that only such columns
 * identify, and drops the columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/schema.h"

#include "store/core/refusal.h"

#include <string.h>

/* ---- Obsolete columns --------------------------------------------------- */

static const char *prefix_of(const pawl__sql_dialect *dialect)
{
    return dialect->correlation != NULL ? dialect->correlation : "Correlation_";
}

/* The property in the name of a correlation column; empty: it is another column. */
static pawl_text property_of(const pawl__sql_dialect *dialect, pawl_text column)
{
    const char *before = prefix_of(dialect);
    size_t      size   = strlen(before);
    if (column.size <= size || memcmp(column.data, before, size) != 0)
        return (pawl_text){0};
    return (pawl_text){.data = column.data + size, .size = column.size - size};
}

static bool has_property(const pawl__sql_dialect *dialect, const pawl_saga_table *saga,
                         pawl_text property)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(saga, list);
    for (size_t i = 0; i < count; i++)
        if (pawl__sql_are_alike(dialect, pawl__sql_property_of(dialect, list[i]), property))
            return true;
    return false;
}

pawl_text pawl__sql_obsolete(const pawl__sql_schema *schema, const pawl_saga_table *saga,
                             const pawl__sql_found_column *column)
{
    pawl_text property = {0};
    if (pawl_text_equal(column->table, saga->name))
        property = property_of(schema->dialect, column->name);
    return has_property(schema->dialect, saga, property) ? (pawl_text){0} : property;
}

/* ---- Unreachable sagas ---------------------------------------------------- */

/* A query on the table of one saga, and the names for its error text. */
typedef struct question {
    const pawl__sql_schema  *schema;
    const pawl__sql_catalog *catalog;
    const pawl_saga_table   *saga;
    pawl__sql_text           text;
    char                     names[PAWL__REACH_NAMES_SIZE]; /* of obsolete properties */
} question;

/* "[Correlation_b] is null and ", for each current correlation column that exists. */
static void append_own(question *q)
{
    const pawl__sql_dialect *dialect = q->schema->dialect;
    const pawl_correlation  *list[2];
    size_t                   count = pawl__sql_correlations(q->saga, list);
    for (size_t i = 0; i < count; i++) {
        pawl__sql_text column = {0};
        pawl__sql_correlation_column(&column, dialect, list[i]);
        q->text.is_failed |= column.is_failed;
        if (pawl__sql_find_column(q->catalog, q->saga->name, pawl__sql_text_of(&column)) != NULL) {
            pawl__sql_append_name(&q->text, dialect, "", pawl__sql_text_of(&column));
            pawl__sql_append(&q->text, " is null and ");
        }
        pawl__sql_text_free(&column);
    }
}

/* "([Correlation_a] is not null or ...)", for all obsolete columns. */
static void append_obsolete(question *q)
{
    const pawl__sql_found_column *columns = q->catalog->columns.items;
    for (size_t i = 0; i < q->catalog->columns.count; i++) {
        pawl_text property = pawl__sql_obsolete(q->schema, q->saga, &columns[i]);
        if (property.size == 0)
            continue;
        pawl__sql_append(&q->text, q->names[0] == '\0' ? "(" : " or ");
        pawl__sql_append_name(&q->text, q->schema->dialect, "", columns[i].name);
        pawl__sql_append(&q->text, " is not null");
        pawl__reach_name(q->names, property);
    }
}

/* Some databases accept a limit only after "order by". */
void pawl__sql_end_count(pawl__sql_text *text, const pawl__sql_dialect *dialect)
{
    if (dialect->limit != NULL)
        pawl__sql_expand(text, dialect, "", " order by [Id]");
    pawl__sql_append(text, " ");
    const char *rest = pawl__sql_append_before(text, pawl__sql_limit_of(dialect));
    pawl__sql_appendf(text, "%d%s) sagas", PAWL__REACH_COUNT_MAX, rest);
}

/* Fast: the unique index finds rows whose current column is null, and usually there are none. */
static pawl_code count_rows(question *q, int64_t *count, pawl_error *error)
{
    const pawl__sql_schema  *schema = q->schema;
    const pawl__sql_dialect *names  = schema->names != NULL ? schema->names : schema->dialect;
    pawl__sql_append(&q->text, "select count(*) from (select 1 as found from ");
    pawl__sql_append_table(&q->text, names, "", q->saga->name);
    pawl__sql_append(&q->text, " where ");
    append_own(q);
    append_obsolete(q);
    pawl__sql_append(&q->text, ")");
    pawl__sql_end_count(&q->text, schema->dialect);
    if (q->text.is_failed)
        return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", schema->dialect->name);
    return q->names[0] == '\0' ? PAWL_OK
                               : schema->ops->number(schema->store, q->text.data, count, error);
}

pawl_code pawl__sql_unreached(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                              const pawl_saga_table *saga, pawl_error *why, int64_t *count)
{
    question  q    = {.schema = schema, .catalog = catalog, .saga = saga};
    pawl_code code = PAWL_OK;
    *count         = 0;
    if (saga->main.type != PAWL_VALUE_NONE) /* else no value finds the saga anyway */
        code = count_rows(&q, count, why);
    if (code == PAWL_OK && *count != 0)
        (void)pawl__reach_refuse(saga, q.names, *count, why);
    pawl__sql_text_free(&q.text);
    return code;
}

pawl_code pawl__sql_check_reach(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                                const pawl_saga_table *const *sagas, size_t saga_count,
                                pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (schema->store->mode == PAWL_OPEN_EXISTING)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < saga_count; i++) {
        int64_t count = 0;
        code          = pawl__sql_unreached(schema, catalog, sagas[i], error, &count);
        if (code == PAWL_OK && count != 0)
            code = pawl_error_wrap(error, PAWL_ESCHEMA, "%s: %s", schema->dialect->name,
                                   schema->given);
    }
    return code;
}

/* ---- Purging ------------------------------------------------------------ */

typedef struct purge {
    const pawl__sql_schema *schema;
    pawl__sql_emit_fn      *emit;
    void                   *context;
    pawl_error             *error;
} purge;

/* The index is dropped first: SQLite drops no indexed column, and on PostgreSQL this locks the table, so that the
 * check of unreachable sagas that follows stays true. Elsewhere the index is dropped with its column. */
static pawl_code drop_index(const purge *p, const pawl_saga_table *saga, pawl_text property)
{
    const pawl__sql_dialect *dialect     = p->schema->dialect;
    const pawl_correlation   correlation = {.property = property};
    pawl__sql_text           name = {0}, text = {0};
    if (dialect->has_own_indexes)
        return PAWL_OK;
    pawl__sql_correlation_index(&name, dialect, saga, &correlation);
    pawl__sql_append(&text, "drop index if exists ");
    pawl__sql_append_table(&text, dialect, "", pawl__sql_text_of(&name));
    text.is_failed |= name.is_failed;
    pawl__sql_text_free(&name);
    return pawl__sql_emit_text(p->schema, saga->name, &text, p->emit, p->context, p->error);
}

static pawl_code drop_column(const purge *p, const pawl_saga_table *saga, pawl_text column)
{
    const pawl__sql_dialect *dialect = p->schema->dialect;
    pawl__sql_text           text    = {0};
    pawl__sql_append(&text, "alter table ");
    pawl__sql_append_table(&text, dialect, "", saga->name);
    pawl__sql_append(&text, " drop column ");
    pawl__sql_append_name(&text, dialect, "", column);
    return pawl__sql_emit_text(p->schema, saga->name, &text, p->emit, p->context, p->error);
}

static pawl_code purge_saga(const purge *p, const pawl__sql_catalog *catalog,
                            const pawl_saga_table *saga)
{
    const pawl__sql_found_column *columns = catalog->columns.items;
    size_t                        count   = catalog->columns.count;
    pawl_code                     code    = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl_text property = pawl__sql_obsolete(p->schema, saga, &columns[i]);
        if (property.size != 0)
            code = drop_index(p, saga, property);
    }
    if (code == PAWL_OK)
        code = pawl__sql_check_reach(p->schema, catalog, &saga, 1, p->error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (pawl__sql_obsolete(p->schema, saga, &columns[i]).size != 0)
            code = drop_column(p, saga, columns[i].name);
    return code;
}

pawl_code pawl__sql_purge(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                          const pawl_saga_table *const *sagas, size_t saga_count,
                          pawl__sql_emit_fn *emit, void *context, pawl_error *error)
{
    const purge p    = {schema, emit, context, error};
    pawl_code   code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < saga_count; i++)
        code = purge_saga(&p, catalog, sagas[i]);
    return code;
}
