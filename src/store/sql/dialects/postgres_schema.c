/* postgres_schema.c - how long applying the schema on PostgreSQL waits for locks (families.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#include "store/sql/connection.h"
#include "store/sql/dialects.h"

#include <inttypes.h>
#include <stdio.h>

pawl_code pawl__pg_limit_waits(const pawl__sql_schema *schema, int64_t patience_ms,
                               pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_appendf(&text,
                      "do $pawl$ begin perform set_config('lock_timeout', '%lldms', true); "
                      "lock table ",
                      (long long)patience_ms);
    pawl__sql_append_table(&text, &pawl__pg_dialect, schema->prefix, PAWL_TEXT("queue"));
    pawl__sql_appendf(&text,
                      " in access exclusive mode; perform set_config('lock_timeout', '%lldms', "
                      "true); exception when undefined_table then null; end $pawl$",
                      (long long)patience_ms / 2);
    pawl_code code = text.is_failed ? pawl__sql_no_memory(schema->store, "a text", error)
                                    : schema->ops->execute(schema->store, text.data, error);
    pawl__sql_text_free(&text);
    /* The server's text of a lock that is not free names no table. */
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "table %squeue", schema->prefix);
}

pawl_code pawl__pg_rest(const pawl__sql_schema *schema, int64_t ms, pawl_error *error)
{
    char text[60];
    (void)snprintf(text, sizeof text, "select pg_sleep(%" PRId64 " / 1000.0)", ms);
    return schema->ops->execute(schema->store, text, error);
}
