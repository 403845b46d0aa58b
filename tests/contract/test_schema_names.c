/* test_schema_names.c - the names of a correlation's column and index in each dialect (D9 to D11).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "store/sql/script.h"
#include "support/tests.h"

#define TABLE(suffix) .type = PAWL_TEXT_INIT(suffix), .name = PAWL_TEXT_INIT("shop_" suffix)
#define MAIN(name, value_type) .main = {.property = PAWL_TEXT_INIT(name), .type = value_type}

typedef struct printed {
    char   text[200000];
    size_t size;
} printed;

static void put_line(pawl_text line, void *context)
{
    printed *to = context;
    assert_true(to->size + line.size + 2 < sizeof to->text);
    memcpy(to->text + to->size, line.data, line.size);
    to->size += line.size;
    to->text[to->size++] = '\n';
    to->text[to->size]   = '\0';
}

/* The second index is NULL where both tables have one name for it. */
typedef struct names_row {
    const char *dialect, *column, *indexes[2];
} names_row;

static void check_names(const names_row *row, const char *script)
{
    const char *name  = strstr(script, row->indexes[0]);
    const char *other = row->indexes[1] != NULL ? row->indexes[1] : row->indexes[0];
    if (strstr(script, row->column) == NULL || name == NULL)
        fail_msg("%s: not both of %s and %s", row->dialect, row->column, row->indexes[0]);
    const char *next = strstr(name + 1, other);
    size_t      size = strcspn(name + 1, "\"`]") + 1;
    assert_non_null(next);
    if ((strncmp(name, next, size) == 0) != (row->indexes[1] == NULL))
        fail_msg("%s: %.*s and %.*s", row->dialect, (int)size, name, (int)size, next);
}

/* Two tables with one property. Where indexes are a table's own, both have the name of D9; where
 * they are a database's or a schema's, the names hold the table or a hash of it, so that "if not
 * exists" passes over none. */
TEST(d9_d10_d11_the_index_of_each_table_has_its_name)
{
    static const names_row rows[] = {
        {"sqlite",
         "\"Correlation_order_id\"",
         {"\"Index_shop_Order_Correlation_order_id\"",
          "\"Index_shop_Return_Correlation_order_id\""}},
        {"postgres",
         "\"Correlation_order_id\"",
         {"\"Index_258ef54e24a2581fb1fd51f3770de341\"", "\"Index_"}},
        {"mysql", "`Correlation_order_id`", {"`Index_Correlation_order_id`", NULL}},
        {"mariadb", "`Correlation_order_id`", {"`Index_Correlation_order_id`", NULL}},
        {"mssql", "[Correlation_order_id]", {"[Index_Correlation_order_id]", NULL}},
        {"oracle", "\"CORR_ORDER_ID\"", {"\"SAGAIDX_", "\"SAGAIDX_"}},
    };
    static const pawl_saga_table sagas[] = {{TABLE("Order"), MAIN("order_id", PAWL_VALUE_TEXT)},
                                            {TABLE("Return"), MAIN("order_id", PAWL_VALUE_TEXT)}};
    static const pawl_saga_table *const list[] = {&sagas[0], &sagas[1]};
    static printed                      to;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const pawl__sql_script script = {.dialect =
                                             pawl__sql_dialect_find(pawl_text_of(rows[i].dialect)),
                                         .prefix     = "pawl_",
                                         .sagas      = list,
                                         .saga_count = 2};
        to.size                       = 0;
        must(pawl__sql_script_print(&script, put_line, &to, world_error()));
        check_names(&rows[i], to.text);
    }
}
