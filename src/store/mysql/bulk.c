/* bulk.c - MariaDB's bulk execute: a statement and the parameters of many items in one packet.
 *
 * The server runs it for one item after another and tells the sum of their rows. A set whose sum
 * shows that each item had its row is done; any other is undone, and its items are written one
 * by one, which is exact. Undone by a savepoint, except rows of values: a failed set of these
 * leaves none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <string.h>

#define SET_MIN 4     /* fewer are as fast one by one */
#define PLACE_SIZE 16 /* bytes of a parameter beside its text, at most */

typedef struct bulk {
    const pawl__mysql_statement *statement;
    const pawl__sql_fields      *fields;
    const void *const           *items;
    size_t                       size, size_max;
    bool                         is_refused; /* by `fill`: nothing is sent */
    char                         indicators[PAWL__MYSQL_PLACES_MAX];
    pawl__mysql_put              put;
} bulk;

/* The library asks for each item's parameters when it writes them into the packet. Parameters that
 * change their type within a set, and sets over a packet, go one by one. */
static my_bool fill(void *data, MYSQL_BIND *places, unsigned row)
{
    bulk      *all = data;
    MYSQL_BIND own[PAWL__MYSQL_PLACES_MAX];
    pawl__mysql_put_end(&all->put);
    pawl__mysql_put_item(&all->put, all->fields, all->items[row]);
    pawl__mysql_put_places(all->statement, &all->put, own);
    all->size += all->put.size + (size_t)all->statement->place_count * PLACE_SIZE;
    all->is_refused = all->size > all->size_max;
    for (unsigned i = 0; i < all->statement->place_count; i++) {
        bool is_null       = own[i].is_null != NULL && *own[i].is_null;
        all->is_refused    = all->is_refused || own[i].buffer_type != places[i].buffer_type;
        all->indicators[i] = is_null ? STMT_INDICATOR_NULL : STMT_INDICATOR_NONE;
        places[i].buffer   = own[i].buffer;
        *places[i].length  = own[i].length != NULL ? *own[i].length : own[i].buffer_length;
        /* The library makes room for as much, and writes what `length` says. */
        places[i].buffer_length = *places[i].length;
    }
    return all->is_refused;
}

/* As the library's attributes take a function. */
static const void *address_of(ps_param_callback *function)
{
    const void *address;
    memcpy(&address, function, sizeof address);
    return address;
}

/* Behind it the statement takes one item again. */
static void set_size(MYSQL_STMT *stmt, unsigned count, bulk *all)
{
    ps_param_callback function = all != NULL ? fill : NULL;
    (void)mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &count);
    (void)mysql_stmt_attr_set(stmt, STMT_ATTR_CB_USER_DATA, all);
    (void)mysql_stmt_attr_set(stmt, STMT_ATTR_CB_PARAM, address_of(&function));
}

static pawl_code run(pawl__mysql_connection *connection, pawl__mysql_statement *statement,
                     bulk *all, unsigned count, pawl_error *error)
{
    MYSQL_BIND    places[PAWL__MYSQL_PLACES_MAX];
    unsigned long lengths[PAWL__MYSQL_PLACES_MAX];
    pawl__mysql_put_item(&all->put, all->fields, all->items[0]);
    pawl__mysql_put_places(statement, &all->put, places);
    for (unsigned i = 0; i < statement->place_count; i++) {
        places[i].length      = &lengths[i];
        places[i].is_null     = NULL;
        places[i].u.indicator = &all->indicators[i];
    }
    set_size(statement->stmt, count, all);
    bool      is_bound = mysql_stmt_bind_param(statement->stmt, places) == 0;
    pawl_code code     = is_bound ? pawl__mysql_run(connection, statement, error) : PAWL_OK;
    set_size(statement->stmt, 0, NULL);
    pawl__mysql_put_end(&all->put);
    all->is_refused = all->is_refused || !is_bound;
    return code;
}

/* A server of MySQL cannot, nor can a pooler before MariaDB that does not say it. */
static bool can_bulk(MYSQL *mysql)
{
    unsigned long capabilities = 0;
    (void)mariadb_get_infov(mysql, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &capabilities);
    return (capabilities & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32)) != 0;
}

/* Removals of all rows of a partition are counted by row, not by item. */
static bool can_be_set(const pawl__mysql_connection *connection, const pawl__sql_write *write,
                       const pawl__mysql_statement *statement, size_t count)
{
    bool counts_items = write->is_saga || write->statement != PAWL__SQL_AGGREGATOR_DELETE_ALL;
    return count >= SET_MIN && counts_items && !connection->is_callers &&
           statement->column_count == 0 && statement->place_count != 0 &&
           can_bulk(connection->mysql);
}

pawl_code pawl__mysql_execute_set(pawl__mysql_connection *connection, const pawl__sql_write *write,
                                  pawl__mysql_statement *statement, const void *const *items,
                                  size_t count, bool *is_done, pawl_error *error)
{
    bool is_counted = pawl__sql_expects(write, PAWL__SQL_MISSED) && !statement->inserts;
    bool can_undo =
        is_counted || (!statement->inserts && (pawl__sql_expects(write, PAWL__SQL_DUPLICATE) ||
                                               pawl__sql_expects(write, PAWL__SQL_NULL)));
    bulk           all = {.statement = statement,
                          .fields    = &write->parameters,
                          .items     = items,
                          .size_max  = connection->packet_max - PAWL__MYSQL_PACKET_REST};
    pawl__sql_fate fate;
    *is_done = false;
    if (!can_be_set(connection, write, statement, count))
        return PAWL_OK;
    pawl_code code =
        can_undo ? pawl__mysql_query(connection, "savepoint pawl_set", error) : PAWL_OK;
    if (code != PAWL_OK)
        return code;
    code = run(connection, statement, &all, (unsigned)count, error);
    if (code != PAWL_OK && !all.is_refused && !pawl__mysql_is_refusal(statement, write, &fate))
        return code;
    *is_done = code == PAWL_OK && !all.is_refused &&
               (!is_counted || mysql_stmt_affected_rows(statement->stmt) >= count);
    if (*is_done || !can_undo)
        return PAWL_OK;
    return pawl__mysql_query(connection, "rollback to savepoint pawl_set", error);
}
