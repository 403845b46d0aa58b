/* find.c - finds a dialect by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects.h"
#include "store/sql/script.h"

static const struct {
    const char              *name;
    const pawl__sql_dialect *dialect;
} dialects[] = {
    {"mariadb", &pawl__mariadb_dialect}, {"mssql", &pawl__mssql_dialect},
    {"mysql", &pawl__mysql_dialect},     {"oracle", &pawl__oracle_dialect},
    {"postgres", &pawl__pg_dialect},     {"postgresql", &pawl__pg_dialect},
    {"sqlite", &pawl__sqlite_dialect},
};

const char *const pawl__sql_dialect_names[] = {"mariadb",  "mssql",  "mysql", "oracle",
                                               "postgres", "sqlite", NULL};

const pawl__sql_dialect *pawl__sql_dialect_find(pawl_text name)
{
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
        if (pawl_text_equal(pawl_text_of(dialects[i].name), name))
            return dialects[i].dialect;
    return NULL;
}
