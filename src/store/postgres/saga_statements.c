/* saga_statements.c - the texts of the statements on a saga table, made at their first use on a
 * connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/saga.h"

#include "pawl/pawl.h"
#include "store/postgres/schema.h"
#include "store/sql/tables.h"

#include <stdio.h>
#include <string.h>

/* ---- Texts -------------------------------------------------------------- */

typedef struct maker {
    pawl__sql_text           text;
    const pawl__sql_dialect *dialect;
    const pawl_saga_table   *table;
} maker;

static void add(maker *m, const char *piece)
{
    pawl__sql_append(&m->text, piece);
}

static void add_table(maker *m)
{
    pawl__sql_append_table(&m->text, m->dialect, "", m->table->name);
}

static void add_column(maker *m, const char *before, const pawl_correlation *correlation)
{
    add(m, before);
    pawl__sql_append_name(&m->text, m->dialect, "Correlation_", correlation->property);
}

static void add_key(maker *m, pawl_saga_key key)
{
    if (key == PAWL_SAGA_BY_ID)
        add(m, "o.\"Id\"");
    else
        add_column(m, "o.", key == PAWL_SAGA_BY_MAIN ? &m->table->main : &m->table->transitional);
}

/* A subquery for each value leaves the planner one way to the row, its index: a server that counted
 * the table while it was empty would take any other for equally fast. */
static void write_find(maker *m, pawl_saga_key key, const char *lock)
{
    add(m, " from unnest($1) with ordinality as k (v, n) cross join lateral "
           "(select o.ctid as tid, o.* from ");
    add_table(m);
    add(m, " as o where ");
    add_key(m, key);
    add(m, " = k.v limit 1");
    add(m, lock);
    add(m, ") as s");
}

static void write_load(maker *m, pawl_saga_key key, const char *lock)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(m->table, list);
    add(m, "select k.n, s.tid, s.\"Id\", s.\"Concurrency\", s.\"Metadata\", s.\"Data\", "
           "s.\"SagaTypeVersion\"");
    for (size_t i = 0; i < count; i++)
        add_column(m, ", s.", list[i]);
    write_find(m, key, lock);
}

static void write_there(maker *m, pawl_saga_key key)
{
    add(m, "select k.n, s.\"Concurrency\"");
    write_find(m, key, "");
}

static void write_insert(maker *m)
{
    static const char *const parameters[] = {"$1, $2, $3, $4", "$1, $2, $3, $4, $5",
                                             "$1, $2, $3, $4, $5, $6"};
    static const char *const items[]      = {"", ", k.a", ", k.a, k.b"};
    static const char *const names[]      = {"", ", a", ", a, b"};
    const pawl_correlation  *list[2];
    size_t                   count = pawl__sql_correlations(m->table, list);
    add(m, "insert into ");
    add_table(m);
    add(m, " (\"Id\", \"Metadata\", \"Data\", \"PersistenceVersion\", \"SagaTypeVersion\", "
           "\"Concurrency\"");
    for (size_t i = 0; i < count; i++)
        add_column(m, ", ", list[i]);
    add(m, ") select k.id, k.metadata, k.data, '" PAWL_VERSION "', k.version, 1");
    add(m, items[count]);
    add(m, " from unnest(");
    add(m, parameters[count]);
    add(m, ") as k (id, metadata, data, version");
    add(m, names[count]);
    add(m, ") on conflict do nothing returning \"Id\"");
}

/* The ctids of the rows with the ids in the first array; `names` are the arrays' names. */
static void write_tids(maker *m, const char *parameters, const char *names)
{
    add(m, "(select k.*, f.tid from unnest(");
    add(m, parameters);
    add(m, ") with ordinality as k (");
    add(m, names);
    add(m, ", n) cross join lateral (select o.ctid as tid from ");
    add_table(m);
    add(m, " as o where o.\"Id\" = k.id limit 1) as f)");
}

/* The ctid alone finds the row: with "=" instead of IS NOT DISTINCT FROM the index on the id would
 * lead the way. */
#define WHERE_TID                                                   \
    " where s.ctid = k.tid and s.\"Id\" is not distinct from k.id " \
    "and s.\"Concurrency\" = k.version"

#define UPDATE_NAMES "id, version, metadata, data, type_version"

/* The items with the ctids of their rows. */
static void write_update_items(maker *m, bool has_tids, bool has_value)
{
    const char *names = has_value ? UPDATE_NAMES ", b" : UPDATE_NAMES;
    if (!has_tids) {
        write_tids(m, has_value ? "$1, $2, $3, $4, $5, $6" : "$1, $2, $3, $4, $5", names);
        return;
    }
    add(m, "unnest(");
    add(m, has_value ? "$1, $2, $3, $4, $5, $6, $7" : "$1, $2, $3, $4, $5, $6");
    add(m, ") with ordinality");
}

/* A transitional value that another saga has, or an earlier item of the statement takes, would be a
 * unique violation, which ends the transaction: such an item is left out. */
static void write_update(maker *m, bool has_tids)
{
    bool        has_value = m->table->transitional.type != PAWL_VALUE_NONE;
    const char *names     = has_value ? UPDATE_NAMES ", b" : UPDATE_NAMES;
    add(m, "update ");
    add_table(m);
    add(m, " as s set \"Concurrency\" = s.\"Concurrency\" + 1, \"Metadata\" = k.metadata, "
           "\"Data\" = k.data, \"PersistenceVersion\" = '" PAWL_VERSION "', "
           "\"SagaTypeVersion\" = k.type_version");
    if (has_value) {
        add_column(m, ", ", &m->table->transitional);
        add(m, " = k.b from (select u.*, row_number() over (partition by u.b order by u.n) "
               "as turn from ");
        write_update_items(m, has_tids, true);
        add(m, " as u");
    } else {
        add(m, " from ");
        write_update_items(m, has_tids, false);
        add(m, " as k");
    }
    if (has_tids) {
        add(m, " (tid, ");
        add(m, names);
        add(m, ", n)");
    }
    if (has_value)
        add(m, ") as k");
    add(m, WHERE_TID);
    if (has_value) {
        add(m, " and (k.b is null or (k.turn = 1 and (select o.\"Id\" from ");
        add_table(m);
        add_column(m, " as o where o.", &m->table->transitional);
        add(m, " = k.b limit 1) is null or k.turn = 1 and (select o.\"Id\" from ");
        add_table(m);
        add_column(m, " as o where o.", &m->table->transitional);
        add(m, " = k.b limit 1) = k.id))");
    }
    add(m, " returning k.n");
}

static void write_delete(maker *m)
{
    add(m, "delete from ");
    add_table(m);
    add(m, " as s using ");
    write_tids(m, "$1, $2", "id, version");
    add(m, " as k");
    add(m, WHERE_TID);
    add(m, " returning k.n");
}

static void write_statement(maker *m, int which)
{
    switch ((pawl__pg_saga_statement)which) {
    case PAWL__PG_SAGA_BY_ID:
    case PAWL__PG_SAGA_BY_MAIN:
    case PAWL__PG_SAGA_BY_TRANSITIONAL: write_load(m, (pawl_saga_key)which, ""); return;
    case PAWL__PG_SAGA_BY_ID_LOCKED:
    case PAWL__PG_SAGA_BY_MAIN_LOCKED:
    case PAWL__PG_SAGA_BY_TRANSITIONAL_LOCKED:
        write_load(m, (pawl_saga_key)(which - PAWL__PG_SAGA_BY_ID_LOCKED), " for update");
        return;
    case PAWL__PG_SAGA_BY_ID_SKIP:
    case PAWL__PG_SAGA_BY_MAIN_SKIP:
    case PAWL__PG_SAGA_BY_TRANSITIONAL_SKIP:
        write_load(m, (pawl_saga_key)(which - PAWL__PG_SAGA_BY_ID_SKIP), " for update skip locked");
        return;
    case PAWL__PG_SAGA_BY_ID_THERE:
    case PAWL__PG_SAGA_BY_MAIN_THERE:
    case PAWL__PG_SAGA_BY_TRANSITIONAL_THERE:
        write_there(m, (pawl_saga_key)(which - PAWL__PG_SAGA_BY_ID_THERE));
        return;
    case PAWL__PG_SAGA_INSERT: write_insert(m); return;
    case PAWL__PG_SAGA_UPDATE: write_update(m, true); return;
    case PAWL__PG_SAGA_UPDATE_ID: write_update(m, false); return;
    case PAWL__PG_SAGA_DELETE: write_delete(m); return;
    case PAWL__PG_SAGA_COUNT:
        add(m, "select count(*) from ");
        add_table(m);
        return;
    case pawl__pg_saga_statement_count: break;
    }
}

void pawl__pg_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                        const pawl_saga_table *table, int which)
{
    maker m = {.text = *text, .dialect = dialect, .table = table};
    write_statement(&m, which);
    *text = m.text;
}

/* ---- The tables of a connection ----------------------------------------- */

static bool same_correlation(const pawl_correlation *left, const pawl_correlation *right)
{
    return left->type == right->type && pawl_text_equal(left->property, right->property);
}

bool pawl__pg_saga_same(const pawl_saga_table *left, const pawl_saga_table *right)
{
    return pawl_text_equal(left->name, right->name) &&
           same_correlation(&left->main, &right->main) &&
           same_correlation(&left->transitional, &right->transitional);
}

static pawl_text copy_text(char **at, pawl_text text)
{
    pawl_text copy = {.data = *at, .size = text.size};
    if (text.size != 0)
        memcpy(*at, text.data, text.size);
    *at += text.size;
    return copy;
}

static pawl_code add_saga(pawl__pg_connection *connection, const pawl_saga_table *table,
                          pawl__pg_saga **saga, pawl_error *error)
{
    pawl_code code = pawl__sql_saga_check(&pawl__pg_dialect, table, error);
    if (code != PAWL_OK)
        return code;
    size_t size = table->type.size + table->name.size + table->main.property.size +
                  table->transitional.property.size;
    pawl__pg_saga *made  = pawl_allocate(sizeof *made);
    char          *texts = pawl_allocate(size + 1);
    if (made == NULL || texts == NULL) {
        pawl_free(made);
        pawl_free(texts);
        return pawl__pg_no_memory(error);
    }
    made->texts                       = texts;
    made->table                       = *table;
    made->table.type                  = copy_text(&texts, table->type);
    made->table.name                  = copy_text(&texts, table->name);
    made->table.main.property         = copy_text(&texts, table->main.property);
    made->table.transitional.property = copy_text(&texts, table->transitional.property);
    made->number                      = connection->saga_count++;
    made->next                        = connection->sagas;
    connection->sagas                 = made;
    *saga                             = made;
    return PAWL_OK;
}

static pawl_code make_text(const pawl__pg_connection *connection, const pawl__pg_saga *saga,
                           int which, pawl__pg_statement *statement, pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__pg_saga_text(&text, &connection->dialect, &saga->table, which);
    if (text.is_failed) {
        pawl__sql_text_free(&text);
        return pawl__pg_no_memory(error);
    }
    statement->text = text.data;
    (void)snprintf(statement->name, sizeof statement->name, "pawl_s%u_%d", saga->number, which);
    return PAWL_OK;
}

pawl_code pawl__pg_saga_statement_of(pawl__pg_connection *connection, const pawl_saga_table *table,
                                     int which, pawl__pg_statement **statement, pawl_error *error)
{
    pawl__pg_saga *saga = connection->sagas;
    pawl_code      code = PAWL_OK;
    while (saga != NULL && !pawl__pg_saga_same(&saga->table, table))
        saga = saga->next;
    if (saga == NULL)
        code = add_saga(connection, table, &saga, error);
    if (code != PAWL_OK)
        return code;
    *statement = &saga->statements[which];
    return (*statement)->text == NULL ? make_text(connection, saga, which, *statement, error)
                                      : PAWL_OK;
}

void pawl__pg_saga_begin(pawl__pg_request *request, pawl__pg_connection *connection,
                         const pawl_saga_table *table, int which, pawl_error *error)
{
    pawl__pg_statement *statement = NULL;
    pawl_code code = pawl__pg_saga_statement_of(connection, table, which, &statement, error);
    pawl__pg_begin_with(request, connection, statement, error);
    request->code = code;
}
