/* saga_find.c - a saga by the words of an operator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga_find.h"

#include "pawl/operations.h"

#include <string.h>

bool pawl__saga_split(pawl_text word, pawl_text *type, pawl_text *value)
{
    const char *slash = word.size > 0 ? memchr(word.data, '/', word.size) : NULL;
    if (slash == NULL)
        return false;
    *type  = (pawl_text){.data = word.data, .size = (size_t)(slash - word.data)};
    *value = (pawl_text){.data = slash + 1, .size = (size_t)(word.data + word.size - slash - 1)};
    return type->size > 0 && value->size > 0;
}

pawl_code pawl__saga_find_in(pawl_store *store, const pawl_saga_table *table, pawl_text value,
                             pawl_arena *arena, pawl_saga_row *row, pawl_error *error)
{
    const pawl_correlation *const own[] = {
        [PAWL_SAGA_BY_MAIN] = &table->main, [PAWL_SAGA_BY_TRANSITIONAL] = &table->transitional};
    pawl_uuid id;
    pawl_code code = PAWL_OK;
    *row           = (pawl_saga_row){.version = 0};
    for (int key = PAWL_SAGA_BY_MAIN; code == PAWL_OK && key <= PAWL_SAGA_BY_TRANSITIONAL; key++)
        if (own[key]->type != PAWL_VALUE_NONE && row->presence == PAWL_SAGA_MISSING) {
            code = pawl_store_saga_find(store, table, (pawl_saga_key)key, pawl_value_text(value),
                                        arena, row, error);
            code = code == PAWL_EINVAL || code == PAWL_ELIMIT ? PAWL_OK : code;
        }
    if (code == PAWL_OK && row->presence == PAWL_SAGA_MISSING &&
        pawl_uuid_parse(value, &id, NULL) == PAWL_OK)
        code = pawl_store_saga_find(store, table, PAWL_SAGA_BY_ID, pawl_value_uuid(id), arena, row,
                                    error);
    return code;
}

pawl_code pawl__saga_find(pawl_store *store, const pawl__saga_tables *tables, pawl_text type,
                          pawl_text value, pawl_arena *arena, const pawl_saga_table **table,
                          pawl_saga_row *row, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *table         = NULL;
    *row           = (pawl_saga_row){.version = 0};
    for (size_t i = 0; code == PAWL_OK && *table == NULL && i < tables->count; i++) {
        if (!pawl_text_equal(tables->items[i]->type, type))
            continue;
        code = pawl__saga_find_in(store, tables->items[i], value, arena, row, error);
        if (code == PAWL_OK && row->presence == PAWL_SAGA_THERE)
            *table = tables->items[i];
    }
    return code;
}
