/* reach.c - refuses a program that could not find existing sagas; see reach.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/reach.h"

#include "pawl/store_calls.h"

#include <stdio.h>
#include <string.h>

/* As a whole name: "order" is not in "order_id". */
static bool is_named(const char *names, pawl_text property)
{
    char all[PAWL__REACH_NAMES_SIZE + 8], one[PAWL__REACH_NAMES_SIZE + 8];
    (void)snprintf(all, sizeof all, " or %s or ", names);
    (void)snprintf(one, sizeof one, " or %.*s or ", PAWL_TEXT_ARGS(property));
    return strstr(all, one) != NULL;
}

void pawl__reach_name(char names[PAWL__REACH_NAMES_SIZE], pawl_text property)
{
    size_t size = strlen(names);
    if (is_named(names, property))
        return;
    (void)snprintf(names + size, PAWL__REACH_NAMES_SIZE - size, "%s%.*s", size == 0 ? "" : " or ",
                   PAWL_TEXT_ARGS(property));
}

pawl_code pawl__reach_refuse(const pawl_saga_table *table, const char names[PAWL__REACH_NAMES_SIZE],
                             int64_t count, pawl_error *error)
{
    char own[PAWL__REACH_NAMES_SIZE] = "";
    pawl__reach_name(own, table->main.property);
    if (table->transitional.type != PAWL_VALUE_NONE)
        pawl__reach_name(own, table->transitional.property);
    return pawl_error_set(
        error, PAWL_ESCHEMA,
        "saga %.*s: in table %.*s %lld%s row%s a value of %s and none of %s: no message would find "
        "the saga, and a second one would begin; first run the program that has %s as correlation "
        "and %.*s as transitional property, until every row has a value of it",
        PAWL_TEXT_ARGS(table->type), PAWL_TEXT_ARGS(table->name), (long long)count,
        count >= PAWL__REACH_COUNT_MAX ? " or more" : "", count == 1 ? " has" : "s have", names,
        own, names, PAWL_TEXT_ARGS(table->main.property));
}

pawl_code pawl__refuse_offset(const pawl_saga_table *table, const char *product, pawl_error *error)
{
    const pawl_correlation *asks = table->main.with_offset           ? &table->main
                                   : table->transitional.with_offset ? &table->transitional
                                                                     : NULL;
    if (asks == NULL)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "property '%.*s' asks for a time with an offset, which %s has no type "
                          "for: only SQL Server has datetimeoffset; leave out .with_offset",
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
