/* mend_indexes.c - adds missing indexes to existing tables, for dialects that write indexes inside "create table if
 * not exists", which does nothing for an existing table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/schema.h"

#include "base/text.h"

#include <string.h>

typedef struct mender {
    const pawl__sql_schema  *schema;
    const pawl__sql_catalog *catalog;
    pawl__sql_emit_fn       *emit;
    void                    *context;
    pawl_error              *error;
} mender;

bool pawl__sql_is_narrow(const pawl__sql_schema *schema, const pawl__sql_found_index *found)
{
    pawl_text name = pawl__text_behind(found->name, schema->prefix);
    return schema->dialect->widen_outbox_index != NULL &&
           pawl_text_equal(name, PAWL_TEXT("outbox_pending")) &&
           strstr(found->columns.data, "Endpoint") == NULL;
}

static pawl_code mend_index(const mender *m, const pawl__sql_table *table,
                            const pawl__sql_index *index, pawl_text table_name)
{
    const pawl__sql_dialect     *dialect = m->schema->dialect;
    const pawl__sql_found_index *found   = NULL;
    pawl__sql_text               text = {0}, name = {0};
    pawl__sql_append_bare(&name, dialect, m->schema->prefix, pawl_text_of(index->name));
    if (!name.is_failed)
        found = pawl__sql_find_index(m->catalog, table_name, pawl__sql_text_of(&name));
    if (found == NULL)
        pawl__sql_create_index(&text, dialect, m->schema->prefix, table, index);
    else if (pawl__sql_is_narrow(m->schema, found))
        pawl__sql_expand(&text, dialect, m->schema->prefix, dialect->widen_outbox_index);
    text.is_failed |= name.is_failed;
    pawl__sql_text_free(&name);
    if (!text.is_failed && text.size == 0)
        return PAWL_OK;
    return pawl__sql_emit_text(m->schema, table_name, &text, m->emit, m->context, m->error);
}

/* Skips late indexes, which the script creates by statements of their own, and the key, which cannot be missing
 * alone. */
static pawl_code mend_table(const mender *m, const pawl__sql_table *table)
{
    const pawl__sql_dialect *dialect = m->schema->dialect;
    pawl__sql_text           name    = {0};
    pawl_code                code    = PAWL_OK;
    pawl__sql_append_bare(&name, dialect, m->schema->prefix, pawl_text_of(table->name));
    if (name.is_failed)
        code = pawl__sql_emit_text(m->schema, pawl_text_of(table->name), &name, m->emit, m->context,
                                   m->error);
    bool is_there = code == PAWL_OK && pawl__sql_has_table(m->catalog, pawl__sql_text_of(&name));
    for (size_t i = 0; is_there && code == PAWL_OK && i < table->index_count; i++) {
        const pawl__sql_index *index = &table->indexes[i];
        if (pawl__sql_has_index(dialect, index) && !index->is_late &&
            index != pawl__sql_key_index(dialect, table))
            code = mend_index(m, table, index, pawl__sql_text_of(&name));
    }
    pawl__sql_text_free(&name);
    return code;
}

pawl_code pawl__sql_mend_indexes(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                                 pawl__sql_emit_fn *emit, void *context, pawl_error *error)
{
    const mender m    = {schema, catalog, emit, context, error};
    pawl_code    code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_table_count; i++)
        code = mend_table(&m, &pawl__sql_tables[i]);
    return code;
}
