/* request.c - prepared statements: preparing, binding parameters, running.
 *
 * Statements are prepared at first use and kept for the life of the connection. All rows are read into memory before
 * the first is used, so that other statements can run in between; only claims fetch them one by one (`streams`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calm.h"
#include "store/mysql/mysql.h"
#include "store/sql/value.h"

#include <stdlib.h>
#include <string.h>

/* ---- Preparing ---------------------------------------------------------- */

static pawl_code no_memory(const pawl__mysql_connection *connection, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory",
                          connection->session.store->base.scheme);
}

/* After a failed fetch from the socket the library sets the error only in the connection, not in the statement. */
pawl_code pawl__mysql_stmt_failed(pawl__mysql_connection *connection, MYSQL_STMT *stmt,
                                  pawl_error *error)
{
    MYSQL *mysql = connection->mysql;
    if (mysql_stmt_errno(stmt) == 0)
        return pawl__mysql_failed(connection, mysql_errno(mysql), mysql_error(mysql), error);
    return pawl__mysql_failed(connection, mysql_stmt_errno(stmt), mysql_stmt_error(stmt), error);
}

void pawl__mysql_close_statement(pawl__sql_prepared *base)
{
    pawl__mysql_statement *statement = (pawl__mysql_statement *)base;
    for (int i = 0; statement->sets != NULL && i < PAWL__MYSQL_SETS_COUNT; i++)
        pawl__mysql_close_statement(&statement->sets[i].base);
    pawl_free(statement->sets);
    if (statement->stmt != NULL)
        (void)mysql_stmt_close(statement->stmt);
    pawl_free(statement->columns);
    *statement = (pawl__mysql_statement){0};
}

/* Numbers and times are fetched into the column; of other values only the size, and row.c reads them later. */
static void bind_column(MYSQL_BIND *bind, pawl__mysql_column *column, enum enum_field_types type)
{
    *bind = (MYSQL_BIND){.length = &column->size, .is_null = &column->is_null};
    switch (type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer      = &column->number;
        return;
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_DATETIME:
        bind->buffer_type   = MYSQL_TYPE_DATETIME;
        bind->buffer        = &column->time;
        bind->buffer_length = sizeof column->time;
        return;
    default: bind->buffer_type = MYSQL_TYPE_BLOB; return;
    }
}

static pawl_code bind_columns(pawl__mysql_connection *connection, pawl__mysql_statement *statement,
                              pawl_error *error)
{
    MYSQL_RES *meta              = mysql_stmt_result_metadata(statement->stmt);
    statement->base.column_count = meta != NULL ? mysql_num_fields(meta) : 0;
    if (statement->base.column_count == 0)
        return PAWL_OK;
    MYSQL_BIND *binds  = pawl_allocate(statement->base.column_count * sizeof *binds);
    statement->columns = pawl_allocate(statement->base.column_count * sizeof *statement->columns);
    bool is_bound      = binds != NULL && statement->columns != NULL;
    for (unsigned i = 0; is_bound && i < statement->base.column_count; i++)
        bind_column(&binds[i], &statement->columns[i], mysql_fetch_field_direct(meta, i)->type);
    is_bound = is_bound && mysql_stmt_bind_result(statement->stmt, binds) == 0;
    mysql_free_result(meta);
    pawl_free(binds);
    return is_bound ? PAWL_OK : no_memory(connection, error);
}

pawl_code pawl__mysql_prepare_text(pawl__mysql_connection *connection,
                                   pawl__mysql_statement *statement, const pawl__sql_text *text,
                                   pawl_error *error)
{
    int       failed = 0;
    pawl_code code   = pawl__mysql_may_send(connection, error);
    if (code != PAWL_OK)
        return code;
    statement->stmt = text->is_failed ? NULL : mysql_stmt_init(connection->mysql);
    if (statement->stmt == NULL)
        return no_memory(connection, error);
    MYSQL_STMT *stmt = statement->stmt;
    if (connection->session.is_callers)
        failed = mysql_stmt_prepare(stmt, text->data, text->size);
    else
        PAWL__MYSQL_CALL(connection, failed, mysql_stmt_prepare, stmt, stmt, text->data,
                         text->size);
    code = failed == 0 ? bind_columns(connection, statement, error)
                       : pawl__mysql_stmt_failed(connection, stmt, error);
    if (code == PAWL_OK && mysql_stmt_param_count(stmt) != statement->base.placeholder_count)
        code = pawl_error_set(error, PAWL_EINVAL, "%s: %lu parameters, not %u",
                              connection->session.store->base.scheme, mysql_stmt_param_count(stmt),
                              statement->base.placeholder_count);
    if (code != PAWL_OK)
        pawl__mysql_close_statement(&statement->base);
    return code;
}

pawl_code pawl__mysql_prepare(pawl__sql_session *session, pawl__sql_prepared *made,
                              const pawl__field_list *fields, const char *template_text,
                              const pawl__sql_text *text, pawl_error *error)
{
    pawl__mysql_statement *statement = (pawl__mysql_statement *)made;
    statement->form                  = pawl__mysql_form_of(template_text);
    statement->streams = template_text == pawl__mysql_templates[PAWL__MYSQL_QUEUE_CLAIM] ||
                         template_text == pawl__mysql_templates[PAWL__MYSQL_QUEUE_CLAIM_MORE] ||
                         template_text == pawl__mysql_templates[PAWL__MYSQL_QUEUE_CLAIM_FREE] ||
                         template_text == pawl__mysql_templates[PAWL__MYSQL_PARTITION_KNOWN];
    (void)fields;
    return pawl__mysql_prepare_text(pawl__mysql_connection_of(session), statement, text, error);
}

/* ---- Times -------------------------------------------------------------- */

static MYSQL_TIME to_time(pawl_time time)
{
    pawl__sql_date date = pawl__sql_date_of(time);
    return (MYSQL_TIME){.time_type   = MYSQL_TIMESTAMP_DATETIME,
                        .year        = (unsigned)date.year,
                        .month       = date.month,
                        .day         = date.day,
                        .hour        = date.hour,
                        .minute      = date.minute,
                        .second      = date.second,
                        .second_part = date.microsecond};
}

pawl_time pawl__mysql_from_time(const MYSQL_TIME *time)
{
    const pawl__sql_date date = {.year        = (int)time->year,
                                 .month       = time->month,
                                 .day         = time->day,
                                 .hour        = time->hour,
                                 .minute      = time->minute,
                                 .second      = time->second,
                                 .microsecond = (unsigned)time->second_part};
    return pawl__sql_time_of(&date);
}

/* ---- Parameters --------------------------------------------------------- */

static void put_bytes(pawl__mysql_put *put, size_t i, pawl_text text, enum enum_field_types type)
{
    put->rooms[i].size          = text.size;
    put->binds[i].buffer_type   = type;
    put->binds[i].buffer        = (void *)(uintptr_t)(text.data != NULL ? text.data : "");
    put->binds[i].buffer_length = text.size;
    put->binds[i].length        = &put->rooms[i].size;
    put->size += text.size;
}

static void put_text(pawl__mysql_put *put, size_t i, pawl_text text)
{
    put_bytes(put, i, text, MYSQL_TYPE_STRING);
}

static void put_int(pawl__mysql_put *put, size_t i, int64_t number)
{
    put->rooms[i].as.number   = number;
    put->binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
    put->binds[i].buffer      = &put->rooms[i].as.number;
}

static void put_time(pawl__mysql_put *put, size_t i, pawl_time time)
{
    put->rooms[i].as.time       = to_time(time);
    put->binds[i].buffer_type   = MYSQL_TYPE_DATETIME;
    put->binds[i].buffer        = &put->rooms[i].as.time;
    put->binds[i].buffer_length = sizeof put->rooms[i].as.time;
}

static void put_uuid(pawl__mysql_put *put, size_t i, pawl_uuid uuid)
{
    pawl_uuid_format(uuid, put->rooms[i].as.uuid);
    put_text(put, i, (pawl_text){.data = put->rooms[i].as.uuid, .size = PAWL_UUID_TEXT_SIZE});
}

/* Null with the type of a text: with another type the server would prepare the statement again. */
static void put_null(pawl__mysql_put *put, size_t i)
{
    static my_bool is_null = 1;
    put_text(put, i, PAWL_TEXT(""));
    put->binds[i].is_null = &is_null;
}

static void put_value(pawl__mysql_put *put, size_t i, const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT: put_int(put, i, value->as.integer); return;
    case PAWL_VALUE_TIME: put_time(put, i, value->as.time); return;
    case PAWL_VALUE_TEXT: put_text(put, i, value->as.text); return;
    case PAWL_VALUE_UUID: put_uuid(put, i, value->as.uuid); return;
    case PAWL_VALUE_NONE: break;
    }
    put_null(put, i);
}

/* Replaces invalid UTF-8 in a copy of the text; if memory is short, the server refuses the text. */
static void put_error_text(pawl__mysql_put *put, size_t i, pawl_text text)
{
    size_t            bad;
    pawl__mysql_copy *copy =
        pawl_text_is_valid(text, &bad) ? NULL : pawl_allocate(sizeof *copy + text.size);
    if (copy != NULL) {
        memcpy(copy->data, text.data, text.size);
        pawl__make_utf8(copy->data, text.size);
        copy->next  = put->copies;
        put->copies = copy;
        text.data   = copy->data;
    }
    put_text(put, i, text);
}

static void put_field(pawl__mysql_put *put, size_t i, int wire, const void *member)
{
    pawl_value value = pawl__sql_value_of(wire, member);
    if (wire == PAWL__WIRE_ERROR_TEXT)
        put_error_text(put, i, value.as.text);
    else if (wire == PAWL__WIRE_BYTES)
        put_bytes(put, i, value.as.text, MYSQL_TYPE_BLOB);
    else
        put_value(put, i, &value);
}

/* ---- Running ------------------------------------------------------------ */

static pawl_code check_size(const pawl__mysql_connection *connection, size_t size,
                            pawl_error *error)
{
    if (size <= connection->session.packet_max)
        return PAWL_OK;
    return pawl_error_set(
        error, PAWL_ELIMIT, "%s: a value of %zu bytes, limit %zu: max_allowed_packet of the server",
        connection->session.store->base.scheme, size, connection->session.packet_max);
}

static pawl_code send_part(pawl__mysql_connection *connection, MYSQL_STMT *stmt,
                           unsigned placeholder, pawl_text part, pawl_error *error)
{
    my_bool   failed = 0;
    pawl_code code   = pawl__mysql_may_send(connection, error);
    if (code != PAWL_OK)
        return code;
    if (connection->session.is_callers)
        failed = mysql_stmt_send_long_data(stmt, placeholder, part.data, part.size);
    else
        PAWL__MYSQL_CALL(connection, failed, mysql_stmt_send_long_data, stmt, stmt, placeholder,
                         part.data, part.size);
    return failed ? pawl__mysql_stmt_failed(connection, stmt, error) : PAWL_OK;
}

/* Sends long values in parts before the statement, if it does not fit into one packet. */
static pawl_code send_ahead(pawl__mysql_connection      *connection,
                            const pawl__mysql_statement *statement, const MYSQL_BIND *placeholders,
                            pawl_error *error)
{
    pawl_code code     = PAWL_OK;
    size_t    part_max = connection->session.packet_max / 2;
    /* Checked before anything is sent: parts sent already would be taken for the next execution's. */
    for (unsigned i = 0; code == PAWL_OK && i < statement->base.placeholder_count; i++)
        code = check_size(connection, placeholders[i].length != NULL ? *placeholders[i].length : 0,
                          error);
    for (unsigned i = 0; code == PAWL_OK && i < statement->base.placeholder_count; i++) {
        size_t size = placeholders[i].length != NULL ? *placeholders[i].length : 0;
        if (size < PAWL__MYSQL_PACKET_REST)
            continue;
        for (size_t at = 0; code == PAWL_OK && at < size; at += part_max) {
            pawl_text part = {.data = (const char *)placeholders[i].buffer + at, .size = size - at};
            part.size      = part.size < part_max ? part.size : part_max;
            code           = send_part(connection, statement->stmt, i, part, error);
        }
    }
    return code;
}

static pawl_code run_ahead(pawl__mysql_connection *connection, MYSQL_STMT *stmt, pawl_error *error)
{
    int       failed = 0;
    my_bool   skips  = 1;
    pawl_code code   = pawl__sql_may_send_ahead(&connection->session, error);
    if (code != PAWL_OK)
        return code;
    (void)mysql_optionsv(connection->mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &skips);
    PAWL__MYSQL_CALL(connection, failed, mysql_stmt_execute, stmt, stmt);
    skips = 0;
    (void)mysql_optionsv(connection->mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &skips);
    if (failed != 0)
        return pawl__mysql_stmt_failed(connection, stmt, error);
    pawl__sql_sent_ahead(&connection->session);
    return PAWL_OK;
}

pawl_code pawl__mysql_run(pawl__mysql_connection *connection, pawl__mysql_statement *statement,
                          pawl_error *error)
{
    if (pawl__sql_is_ahead(&connection->session) && statement->base.column_count == 0)
        return run_ahead(connection, statement->stmt, error);
    MYSQL_STMT *stmt   = statement->stmt;
    int         failed = 0;
    pawl_code   code   = pawl__mysql_may_send(connection, error);
    if (code != PAWL_OK)
        return code;
    if (connection->session.is_callers)
        failed = mysql_stmt_execute(stmt);
    else
        PAWL__MYSQL_CALL(connection, failed, mysql_stmt_execute, stmt, stmt);
    if (failed != 0 || statement->base.column_count == 0 || statement->streams)
        return failed == 0 ? PAWL_OK : pawl__mysql_stmt_failed(connection, stmt, error);
    if (connection->session.is_callers)
        failed = mysql_stmt_store_result(stmt);
    else
        PAWL__MYSQL_CALL(connection, failed, mysql_stmt_store_result, stmt, stmt);
    return failed == 0 ? PAWL_OK : pawl__mysql_stmt_failed(connection, stmt, error);
}

void pawl__mysql_put_item(pawl__mysql_put *put, const pawl__field_list *fields, const void *item)
{
    size_t count = fields != NULL ? fields->count : 0;
    memset(put->binds, 0, count * sizeof put->binds[0]);
    for (size_t i = 0; i < count; i++)
        put_field(put, i, fields->items[i].wire, (const char *)item + fields->items[i].offset);
}

void pawl__mysql_put_end(pawl__mysql_put *put)
{
    for (pawl__mysql_copy *copy; (copy = put->copies) != NULL; pawl_free(copy))
        put->copies = copy->next;
}

void pawl__mysql_put_placeholders(const pawl__mysql_statement *statement,
                                  const pawl__mysql_put *put, MYSQL_BIND *placeholders)
{
    for (unsigned i = 0; i < statement->base.placeholder_count; i++)
        placeholders[i] = put->binds[statement->base.order[i] - 1];
}

pawl_code pawl__mysql_execute(pawl__sql_session *session, pawl__sql_prepared *base,
                              const pawl__field_list *fields, const void *item, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    pawl__mysql_statement  *statement  = (pawl__mysql_statement *)base;
    pawl__mysql_room        rooms[PAWL__SQL_FIELDS_MAX];
    pawl__mysql_put         put;
    MYSQL_BIND              placeholders[PAWL__SQL_PLACEHOLDERS_MAX];
    pawl_code               code = PAWL_OK;
    put.rooms                    = rooms;
    put.copies                   = NULL;
    put.size                     = 0;
    pawl__mysql_put_item(&put, fields, item);
    pawl__mysql_put_placeholders(statement, &put, placeholders);
    if (statement->base.placeholder_count != 0 &&
        mysql_stmt_bind_param(statement->stmt, placeholders) != 0)
        code = pawl__mysql_stmt_failed(connection, statement->stmt, error);
    if (code == PAWL_OK && connection->session.packet_max != 0 &&
        put.size + PAWL__MYSQL_PACKET_REST > connection->session.packet_max)
        code = send_ahead(connection, statement, placeholders, error);
    if (code == PAWL_OK)
        code = pawl__mysql_run(connection, statement, error);
    pawl__mysql_put_end(&put);
    return code;
}
