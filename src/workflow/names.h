/* names.h - checks names of endpoints, queues, tables and columns, and makes the names of saga tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_WORKFLOW_NAMES_H
#define PAWL_WORKFLOW_NAMES_H

#include "pawl/application.h"
#include "pawl/base.h"

/* Checks that a name has 1 to PAWL_NAME_SIZE_MAX bytes of UTF-8 without control characters, quotes or backslashes.
 * PAWL_ECONFIG names `what`. */
pawl_code pawl__name_check(const char *what, const char *name, pawl_error *error);
/* Checks that a table's name has none of [ ] ` " (D3), and at most 63 bytes, the shortest limit of the databases (D5). */
pawl_code pawl__table_name_check(const char *saga, pawl_text name, pawl_error *error);
pawl_code pawl__column_check(pawl_text property, pawl_error *error);
/* The prefix of saga tables (D2): the endpoint's name, with "_" for each ".", and "_" behind it; `explicit_prefix`, if
 * not NULL, as it stands. data is NULL when out of memory. */
pawl_text pawl__saga_prefix(const char *endpoint, const char *explicit_prefix, pawl_arena *arena);

/* Refuses two sagas of different endpoints with one table, such as "line_item" of endpoint "order" and "item" of
 * "order_line": each would read rows of the other. `saga_prefix` NULL: the default of D2. */
pawl_code pawl__application_tables_check(const pawl_application *application,
                                         const char *saga_prefix, pawl_arena *arena,
                                         pawl_error *error);

#endif
