/* result.c - reads an answer row by row; each get reads the next column of the row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/rows.h"
#include "store/postgres/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t pawl__pg_rows(const pawl__pg_request *request)
{
    if (request->result == NULL)
        return 0;
    if (PQresultStatus(request->result) == PGRES_TUPLES_OK)
        return PQntuples(request->result);
    const char *count = PQcmdTuples(request->result);
    return count[0] != '\0' ? strtoll(count, NULL, 10) : 0;
}

bool pawl__pg_next(pawl__pg_request *request)
{
    request->column = 0;
    if (request->code != PAWL_OK || request->result == NULL ||
        ++request->row >= PQntuples(request->result)) {
        pawl__pg_end(request);
        return false;
    }
    return true;
}

void pawl__pg_end(pawl__pg_request *request)
{
    PQclear(request->result);
    request->result = NULL;
}

void *pawl__pg_take_rows(pawl__pg_request *request, size_t item_size)
{
    size_t count = request->result != NULL ? (size_t)PQntuples(request->result) : 0;
    void  *items = pawl_arena_take(request->arena, (count + 1) * item_size);
    if (items == NULL && request->code == PAWL_OK)
        request->code = pawl__pg_no_memory(request->error);
    return items;
}

/* ---- Columns ------------------------------------------------------------ */

static const unsigned char *value_of(pawl__pg_request *request, size_t size)
{
    int column = request->column++;
    if (PQgetisnull(request->result, request->row, column))
        return NULL;
    if ((size_t)PQgetlength(request->result, request->row, column) != size) {
        request->code = pawl_error_set(request->error, PAWL_ESCHEMA,
                                       "postgres: column %s has %d bytes where %zu are expected",
                                       PQfname(request->result, column),
                                       PQgetlength(request->result, request->row, column), size);
        return NULL;
    }
    return (const unsigned char *)PQgetvalue(request->result, request->row, column);
}

bool pawl__pg_is_null(const pawl__pg_request *request)
{
    return PQgetisnull(request->result, request->row, request->column) != 0;
}

void pawl__pg_skip(pawl__pg_request *request)
{
    request->column++;
}

static int64_t read_64(const unsigned char *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

int64_t pawl__pg_get_int(pawl__pg_request *request)
{
    const unsigned char *value = value_of(request, 8);
    return value != NULL ? read_64(value) : 0;
}

size_t pawl__pg_get_index(pawl__pg_request *request, size_t count)
{
    int64_t number = pawl__pg_get_int(request);
    return number >= 1 && (uint64_t)number <= count ? (size_t)number - 1 : SIZE_MAX;
}

bool pawl__pg_get_bool(pawl__pg_request *request)
{
    const unsigned char *value = value_of(request, 1);
    return value != NULL && *value != 0;
}

pawl_time pawl__pg_get_time(pawl__pg_request *request)
{
    const unsigned char *value = value_of(request, 8);
    if (value == NULL)
        return 0;
    int64_t time = read_64(value);
    /* Infinity, and years that only PostgreSQL knows, become the last or the first time of pawl. */
    if (time > PAWL_TIME_MAX - PAWL__PG_EPOCH)
        return PAWL_TIME_MAX;
    return time < PAWL_TIME_MIN - PAWL__PG_EPOCH ? PAWL_TIME_MIN : time + PAWL__PG_EPOCH;
}

pawl_text pawl__pg_peek_text(pawl__pg_request *request)
{
    int column = request->column++;
    return (pawl_text){.data = PQgetvalue(request->result, request->row, column),
                       .size = (size_t)PQgetlength(request->result, request->row, column)};
}

static pawl_text keep(pawl__pg_request *request, pawl_text text)
{
    pawl_text copy = pawl_arena_text(request->arena, text);
    if (copy.data == NULL && request->code == PAWL_OK)
        request->code = pawl__pg_no_memory(request->error);
    return copy;
}

pawl_text pawl__pg_get_text(pawl__pg_request *request)
{
    return keep(request, pawl__pg_peek_text(request));
}

pawl_text pawl__pg_get_json(pawl__pg_request *request)
{
    pawl_text value = pawl__pg_peek_text(request);
    if (value.size > 0) /* the first byte of a jsonb is the version of its format */
        value = (pawl_text){.data = value.data + 1, .size = value.size - 1};
    return keep(request, value);
}

pawl_uuid pawl__pg_get_uuid(pawl__pg_request *request)
{
    pawl_uuid            uuid  = {{0}};
    const unsigned char *value = value_of(request, sizeof uuid.bytes);
    if (value != NULL)
        memcpy(uuid.bytes, value, sizeof uuid.bytes);
    return uuid;
}

void pawl__pg_get_value(pawl__pg_request *request, pawl_value_type type, pawl_value *value)
{
    *value = (pawl_value){.type = PAWL_VALUE_NONE};
    if (type == PAWL_VALUE_NONE)
        return;
    if (pawl__pg_is_null(request)) {
        request->column++;
        return;
    }
    value->type = type;
    switch (type) {
    case PAWL_VALUE_INT: value->as.integer = pawl__pg_get_int(request); return;
    case PAWL_VALUE_TIME: value->as.time = pawl__pg_get_time(request); return;
    case PAWL_VALUE_TEXT: value->as.text = pawl__pg_get_text(request); return;
    case PAWL_VALUE_UUID: value->as.uuid = pawl__pg_get_uuid(request); return;
    case PAWL_VALUE_NONE: return;
    }
}

void pawl__pg_get_tid(pawl__pg_request *request, unsigned char tid[6])
{
    const unsigned char *value = value_of(request, 6);
    if (value != NULL)
        memcpy(tid, value, 6);
}

/* A ctid is a block and a line; lines count from 1, so the number is never 0. */
int64_t pawl__pg_get_hint(pawl__pg_request *request)
{
    unsigned char tid[6] = {0};
    uint64_t      hint   = 0;
    pawl__pg_get_tid(request, tid);
    for (size_t i = 0; i < sizeof tid; i++)
        hint = hint << 8 | tid[i];
    return (int64_t)hint;
}

/* The number of the word in a state column. An unknown word, which pawl did not write, fails the request. */
static int get_word(pawl__pg_request *request, const pawl_text *words, int count)
{
    pawl_text word  = pawl__pg_peek_text(request);
    int       found = pawl__find_word(word, words, count);
    if (found < 0)
        request->code = pawl_error_set(
            request->error, PAWL_EPERSIST, "postgres: column %s holds '%.*s', which is not a state",
            PQfname(request->result, request->column - 1), PAWL_TEXT_ARGS(word));
    return found < 0 ? 0 : found;
}

static void get_field(pawl__pg_request *request, int wire, void *member)
{
    switch (wire) {
    case PAWL__WIRE_INT: *(int64_t *)member = pawl__pg_get_int(request); return;
    case PAWL__WIRE_INT32: *(int32_t *)member = (int32_t)pawl__pg_get_int(request); return;
    case PAWL__WIRE_BOOL: *(bool *)member = pawl__pg_get_bool(request); return;
    case PAWL__WIRE_FLAG: *(bool *)member = pawl__pg_get_int(request) != 0; return;
    case PAWL__WIRE_TIME: *(pawl_time *)member = pawl__pg_get_time(request); return;
    case PAWL__WIRE_UUID:
    case PAWL__WIRE_UUID_OR_NULL: *(pawl_uuid *)member = pawl__pg_get_uuid(request); return;
    case PAWL__WIRE_JSON: *(pawl_text *)member = pawl__pg_get_json(request); return;
    case PAWL__WIRE_STATE:
        *(pawl_outbox_state *)member =
            (pawl_outbox_state)get_word(request, pawl__state_words, PAWL__STATE_COUNT);
        return;
    case PAWL__WIRE_OUTCOME:
        *(pawl_attempt_outcome *)member =
            (pawl_attempt_outcome)get_word(request, pawl__outcome_words, PAWL__OUTCOME_COUNT);
        return;
    case PAWL__WIRE_SKIP: pawl__pg_skip(request); return;
    case PAWL__PG_TID_HINT: *(int64_t *)member = pawl__pg_get_hint(request); return;
    default: *(pawl_text *)member = pawl__pg_get_text(request); return;
    }
}

void pawl__pg_get_fields(pawl__pg_request *request, const pawl__field_list *fields, void *row)
{
    for (size_t i = 0; i < fields->count; i++)
        get_field(request, fields->items[i].wire, (char *)row + fields->items[i].offset);
}

pawl_code pawl__pg_ask(pawl__pg_connection *connection, int statement,
                       const pawl__field_list *parameters, const void *item,
                       const pawl__field_list *columns, void *row, pawl_error *error)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, connection, statement, error);
    pawl__pg_put_fields(&request, parameters, item);
    if (pawl__pg_run(&request) == PAWL_OK && columns != NULL && pawl__pg_next(&request))
        pawl__pg_get_fields(&request, columns, row);
    pawl__pg_end(&request);
    return request.code;
}

pawl_code pawl__pg_one_int(pawl__pg_request *request, int64_t *number)
{
    *number        = 0;
    pawl_code code = pawl__pg_run(request);
    if (code == PAWL_OK && pawl__pg_next(request))
        *number = pawl__pg_get_int(request);
    pawl__pg_end(request);
    return request->code;
}

pawl_code pawl__pg_take_all(pawl__pg_request *request, const pawl__field_list *columns,
                            size_t row_size, pawl_found *rows)
{
    char *items = pawl__pg_take_rows(request, row_size);
    *rows       = (pawl_found){.items = items};
    while (items != NULL && pawl__pg_next(request))
        pawl__pg_get_fields(request, columns, items + row_size * rows->count++);
    pawl__pg_end(request);
    return request->code;
}
