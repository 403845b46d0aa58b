/* mysql_sets.h - the text of a statement over many items, on MySQL and MariaDB, made from the template of one.
 *
 * A set finds its rows by the index whose first column the condition begins with: left alone the server
 * reads, and locks, all rows of a small table instead.
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
    PAWL__MYSQL_OTHER,  /* no set */
    PAWL__MYSQL_VALUES, /* an insert of values: a failed set of them leaves none */
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

/* The text of so many rows. Behind an insert's parameters of one row, in the order of its text, stand those
 * of the next; of any other form each row has all parameters in the order of the write's fields. */
void pawl__mysql_set_text(pawl__sql_text *text, const pawl__mysql_set *set, unsigned rows);

/* Bytes of an item in a packet, at most. */
size_t pawl__mysql_size_of(const pawl__field_list *fields, const void *item);

#endif
