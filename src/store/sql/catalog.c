/* catalog.c - reads columns and indexes from a database's catalog, table by table; names of types in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/schema.h"

#include <stdio.h>
#include <string.h>

/* Appends the rows that a statement returns for one table. Each gets the name that was asked for, since a server that
 * stores names in lower case returns another one. */
static pawl_code add_rows(pawl_store *store, int statement, const pawl_text *table,
                          const pawl__field_list *columns, size_t row_size, pawl_arena *arena,
                          pawl_found *rows, pawl_error *error)
{
    size_t         before = rows->count;
    pawl__sql_each each   = {.asked    = {statement, &pawl__one_text, table, columns, row_size},
                             .capacity = before};
    pawl_code      code   = pawl__sql_read_more(store, &each, arena, rows, error);
    for (size_t i = before; i < rows->count; i++) /* both kinds of row begin with their table */
        memcpy((char *)rows->items + i * row_size, table, sizeof *table);
    return code;
}

pawl_code pawl__sql_catalog_read(const pawl__sql_schema *schema, const pawl_text *tables,
                                 size_t count, pawl_arena *arena, pawl__sql_catalog *catalog,
                                 pawl_error *error)
{
    const pawl__sql_schema_ops *ops  = schema->ops;
    pawl_code                   code = PAWL_OK;
    catalog->is_upper                = schema->dialect->is_upper;
    if (ops->catalog != NULL)
        return ops->catalog(schema->store, tables, count, arena, catalog, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        code = add_rows(schema->store, ops->columns, &tables[i], &pawl__sql_found_column_row,
                        sizeof(pawl__sql_found_column), arena, &catalog->columns, error);
        if (code == PAWL_OK)
            code = add_rows(schema->store, ops->indexes, &tables[i], &pawl__sql_found_index_row,
                            sizeof(pawl__sql_found_index), arena, &catalog->indexes, error);
    }
    return code;
}

/* The catalog's own name of the type if the dialect has one, else the first word of the definition. */
void pawl__sql_type_name(const pawl__sql_schema *schema, pawl__sql_type type,
                         char name[PAWL__SQL_TYPE_NAME_SIZE])
{
    const char *own  = schema->dialect->catalog_types[type];
    const char *text = own != NULL ? own : schema->dialect->types[type];
    size_t      size = own != NULL ? strlen(own) : strcspn(text, " ");
    (void)snprintf(name, PAWL__SQL_TYPE_NAME_SIZE, "%.*s", (int)size, text);
}
