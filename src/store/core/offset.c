/* offset.c - times with an offset where there are none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/offset.h"

#include "pawl/store_calls.h"

pawl_code pawl__refuse_offset(const pawl_saga_table *table, const char *product, pawl_error *error)
{
    const pawl_correlation *asks = table->main.with_offset           ? &table->main
                                   : table->transitional.with_offset ? &table->transitional
                                                                     : NULL;
    if (asks == NULL)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "property '%.*s' asks for a time with an offset, which %s has no type "
                          "for: SQL Server alone has datetimeoffset; leave out .with_offset",
                          PAWL_TEXT_ARGS(asks->property), product);
}

pawl_code pawl__refuse_offsets(const pawl_store *store, const pawl_saga_table *const *tables,
                               size_t count, pawl_error *error)
{
    if ((store->ops->promises & PAWL_STORE_HAS_OFFSETS) != 0)
        return PAWL_OK;
    for (size_t i = 0; i < count; i++) {
        pawl_code code = pawl__refuse_offset(tables[i], store->scheme, error);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(tables[i]->type));
    }
    return PAWL_OK;
}
