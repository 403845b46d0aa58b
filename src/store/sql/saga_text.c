/* saga_text.c - writing the statements on a saga's own table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/saga_text.h"

#include "pawl/pawl.h"
#include "store/sql/tables.h"

/* A statement that is being written. */
typedef struct maker {
    pawl__sql_text          *text;
    const pawl__sql_dialect *dialect;
    const pawl_saga_table   *table;
    unsigned                 parameter_count;
} maker;

/* A piece of a template (dialect.h): names of columns stand in brackets. */
static void add(maker *m, const char *piece)
{
    pawl__sql_expand(m->text, m->dialect, "", piece);
}

static void add_table(maker *m)
{
    pawl__sql_append_table(m->text, m->dialect, "", m->table->name);
}

static void add_parameter(maker *m)
{
    pawl__sql_append_parameter(m->text, m->dialect, ++m->parameter_count);
}

static void add_correlation(maker *m, const pawl_correlation *correlation)
{
    pawl__sql_append_name(m->text, m->dialect, "Correlation_", correlation->property);
}

static void add_correlations(maker *m)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(m->table, list);
    for (size_t i = 0; i < count; i++) {
        add(m, ", ");
        add_correlation(m, list[i]);
    }
}

/* `before`, the next parameter. */
static void add_set(maker *m, const char *before)
{
    add(m, before);
    add_parameter(m);
}

static void write_load(maker *m, pawl_saga_key key)
{
    add(m, "select ");
    pawl__sql_append(m->text, m->dialect->row != NULL ? m->dialect->row : "0");
    add(m, ", [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion]");
    add_correlations(m);
    add(m, " from ");
    add_table(m);
    add(m, " where ");
    if (key == PAWL_SAGA_BY_ID)
        add(m, "[Id]");
    else
        add_correlation(m, key == PAWL_SAGA_BY_MAIN ? &m->table->main : &m->table->transitional);
    add_set(m, " = ");
}

static void write_insert(maker *m)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(m->table, list);
    add(m, "insert into ");
    add_table(m);
    add(m, " ([Id], [Metadata], [Data], [PersistenceVersion], [SagaTypeVersion], [Concurrency]");
    add_correlations(m);
    add_set(m, ") values (");
    add_set(m, ", ");
    add_set(m, ", ");
    add_set(m, ", '" PAWL_VERSION "', ");
    add(m, ", 1");
    for (size_t i = 0; i < count; i++)
        add_set(m, ", ");
    add(m, ")");
}

static void write_update(maker *m, bool is_by_row)
{
    add(m, "update ");
    add_table(m);
    add(m, " set [Concurrency] = [Concurrency] + 1");
    if (m->table->transitional.type != PAWL_VALUE_NONE) {
        add(m, ", ");
        add_correlation(m, &m->table->transitional);
        add_set(m, " = ");
    }
    add_set(m, ", [Metadata] = ");
    add_set(m, ", [Data] = ");
    add_set(m, ", [PersistenceVersion] = '" PAWL_VERSION "', [SagaTypeVersion] = ");
    add(m, " where ");
    if (is_by_row) {
        pawl__sql_append(m->text, m->dialect->row);
        add_set(m, " = ");
        add(m, " and ");
    }
    add_set(m, "[Id] = ");
    add_set(m, " and [Concurrency] = ");
}

static void write_delete(maker *m)
{
    add(m, "delete from ");
    add_table(m);
    add_set(m, " where [Id] = ");
    add_set(m, " and [Concurrency] = ");
}

void pawl__sql_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                         const pawl_saga_table *table, pawl__sql_saga_statement which)
{
    maker m = {.text = text, .dialect = dialect, .table = table};
    switch (which) {
    case PAWL__SQL_SAGA_BY_ID:
    case PAWL__SQL_SAGA_BY_MAIN:
    case PAWL__SQL_SAGA_BY_TRANSITIONAL: write_load(&m, (pawl_saga_key)which); return;
    case PAWL__SQL_SAGA_INSERT: write_insert(&m); return;
    case PAWL__SQL_SAGA_UPDATE_ROW: write_update(&m, true); return;
    case PAWL__SQL_SAGA_UPDATE: write_update(&m, false); return;
    case PAWL__SQL_SAGA_DELETE: write_delete(&m); return;
    case PAWL__SQL_SAGA_COUNT:
        add(&m, "select count(*) from ");
        add_table(&m);
        return;
    case pawl__sql_saga_statement_count: break;
    }
}
