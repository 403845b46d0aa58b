/* mysql_sets.h - the text of a statement over many items, on MySQL and MariaDB, made from the template of one.
 *
 * A set names the index whose first column its condition begins with: without that the server would read,
 * and lock, all rows of a small table.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_MYSQL_SETS_H
#define PAWL_STORE_SQL_DIALECTS_MYSQL_SETS_H

#include "store/sql/dialects/families.h"
#include "store/sql/dialects/mysql_statements.h"

typedef enum pawl__mysql_shape {
    PAWL__MYSQL_OTHER,  /* not sent as a set */
    PAWL__MYSQL_VALUES, /* an insert of values; if it fails, no row was inserted */
    PAWL__MYSQL_UPDATE,
    PAWL__MYSQL_DELETE,
    PAWL__MYSQL_LOAD, /* of sagas */
} pawl__mysql_shape;

typedef struct pawl__mysql_form {
    pawl__mysql_shape shape;
    const char       *index; /* by which a set of changes finds its rows, or NULL */
} pawl__mysql_form;

pawl__mysql_form pawl__mysql_form_of(const char *template_text);

typedef struct pawl__mysql_set {
    const pawl__sql_session *session;
    const pawl__sql_write   *write;
    pawl__mysql_form         form;
    const void *item; /* the first: all are of its saga's table, and its values' types */
} pawl__mysql_set;

/* The text for `rows` items. An insert has the parameters of one item after those of another, in the order of its
 * text; any other form has for each item all parameters in the order of the write's fields. */
void pawl__mysql_set_text(pawl__sql_text *text, const pawl__mysql_set *set, unsigned rows);

/* Bytes of an item in a packet, at most. */
size_t pawl__mysql_size_of(const pawl__field_list *fields, const void *item);

#endif
