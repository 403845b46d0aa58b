/* result.c - reading the columns of an answer, from the left to the right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/connection.h"
#include "store/sql/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t pawl__pg_rows(const pawl__pg_call *call)
{
    if (call->result == NULL)
        return 0;
    if (PQresultStatus(call->result) == PGRES_TUPLES_OK)
        return PQntuples(call->result);
    const char *count = PQcmdTuples(call->result);
    return count[0] != '\0' ? strtoll(count, NULL, 10) : 0;
}

bool pawl__pg_next(pawl__pg_call *call)
{
    call->column = 0;
    if (call->code != PAWL_OK || call->result == NULL || ++call->row >= PQntuples(call->result)) {
        pawl__pg_end(call);
        return false;
    }
    return true;
}

void pawl__pg_end(pawl__pg_call *call)
{
    PQclear(call->result);
    call->result = NULL;
}

void *pawl__pg_take_rows(pawl__pg_call *call, size_t item_size)
{
    size_t count = call->result != NULL ? (size_t)PQntuples(call->result) : 0;
    void  *items = pawl_arena_take(call->arena, (count + 1) * item_size);
    if (items == NULL && call->code == PAWL_OK)
        call->code = pawl__pg_no_memory(call->error);
    return items;
}

/* ---- Columns ------------------------------------------------------------ */

static const unsigned char *value_of(pawl__pg_call *call, size_t size)
{
    int column = call->column++;
    if (PQgetisnull(call->result, call->row, column))
        return NULL;
    if ((size_t)PQgetlength(call->result, call->row, column) != size) {
        call->code = pawl_error_set(
            call->error, PAWL_ESCHEMA, "postgres: column %s has %d bytes where %zu are expected",
            PQfname(call->result, column), PQgetlength(call->result, call->row, column), size);
        return NULL;
    }
    return (const unsigned char *)PQgetvalue(call->result, call->row, column);
}

bool pawl__pg_is_null(const pawl__pg_call *call)
{
    return PQgetisnull(call->result, call->row, call->column) != 0;
}

void pawl__pg_skip(pawl__pg_call *call)
{
    call->column++;
}

static int64_t read_64(const unsigned char *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

int64_t pawl__pg_get_int(pawl__pg_call *call)
{
    const unsigned char *value = value_of(call, 8);
    return value != NULL ? read_64(value) : 0;
}

bool pawl__pg_get_bool(pawl__pg_call *call)
{
    const unsigned char *value = value_of(call, 1);
    return value != NULL && *value != 0;
}

pawl_time pawl__pg_get_time(pawl__pg_call *call)
{
    const unsigned char *value = value_of(call, 8);
    if (value == NULL)
        return 0;
    int64_t time = read_64(value);
    /* Infinity, and years that only the database knows. */
    if (time > PAWL_TIME_MAX - PAWL__PG_EPOCH)
        return PAWL_TIME_MAX;
    return time < PAWL_TIME_MIN - PAWL__PG_EPOCH ? PAWL_TIME_MIN : time + PAWL__PG_EPOCH;
}

pawl_text pawl__pg_peek_text(pawl__pg_call *call)
{
    int column = call->column++;
    return (pawl_text){.data = PQgetvalue(call->result, call->row, column),
                       .size = (size_t)PQgetlength(call->result, call->row, column)};
}

static pawl_text keep(pawl__pg_call *call, pawl_text text)
{
    pawl_text copy = pawl_arena_text(call->arena, text);
    if (copy.data == NULL && call->code == PAWL_OK)
        call->code = pawl__pg_no_memory(call->error);
    return copy;
}

pawl_text pawl__pg_get_text(pawl__pg_call *call)
{
    return keep(call, pawl__pg_peek_text(call));
}

pawl_text pawl__pg_get_json(pawl__pg_call *call)
{
    pawl_text value = pawl__pg_peek_text(call);
    if (value.size > 0) /* the version of the format */
        value = (pawl_text){.data = value.data + 1, .size = value.size - 1};
    return keep(call, value);
}

pawl_uuid pawl__pg_get_uuid(pawl__pg_call *call)
{
    pawl_uuid            uuid  = {{0}};
    const unsigned char *value = value_of(call, sizeof uuid.bytes);
    if (value != NULL)
        memcpy(uuid.bytes, value, sizeof uuid.bytes);
    return uuid;
}

void pawl__pg_get_value(pawl__pg_call *call, pawl_value_type type, pawl_value *value)
{
    *value = (pawl_value){.type = PAWL_VALUE_NONE};
    if (type == PAWL_VALUE_NONE)
        return;
    if (pawl__pg_is_null(call)) {
        call->column++;
        return;
    }
    value->type = type;
    switch (type) {
    case PAWL_VALUE_INT: value->as.integer = pawl__pg_get_int(call); return;
    case PAWL_VALUE_TIME: value->as.time = pawl__pg_get_time(call); return;
    case PAWL_VALUE_TEXT: value->as.text = pawl__pg_get_text(call); return;
    case PAWL_VALUE_UUID: value->as.uuid = pawl__pg_get_uuid(call); return;
    case PAWL_VALUE_NONE: return;
    }
}

void pawl__pg_get_tid(pawl__pg_call *call, unsigned char tid[6])
{
    const unsigned char *value = value_of(call, 6);
    if (value != NULL)
        memcpy(tid, value, 6);
}

/* Block and line: the first line of a block has number 1. */
int64_t pawl__pg_get_hint(pawl__pg_call *call)
{
    unsigned char tid[6] = {0};
    uint64_t      hint   = 0;
    pawl__pg_get_tid(call, tid);
    for (size_t i = 0; i < sizeof tid; i++)
        hint = hint << 8 | tid[i];
    return (int64_t)hint;
}

/* The number of a word; a word that is none, written by somebody else, ends the call. */
static int get_word(pawl__pg_call *call, const pawl_text *words, int count)
{
    pawl_text word  = pawl__pg_peek_text(call);
    int       found = pawl__sql_find_word(word, words, count);
    if (found < 0)
        call->code = pawl_error_set(call->error, PAWL_EPERSIST,
                                    "postgres: column %s holds '%.*s', which is no state",
                                    PQfname(call->result, call->column - 1), PAWL_TEXT_ARGS(word));
    return found < 0 ? 0 : found;
}

static void get_field(pawl__pg_call *call, int wire, void *member)
{
    switch (wire) {
    case PAWL__WIRE_INT: *(int64_t *)member = pawl__pg_get_int(call); return;
    case PAWL__WIRE_INT32: *(int32_t *)member = (int32_t)pawl__pg_get_int(call); return;
    case PAWL__WIRE_BOOL: *(bool *)member = pawl__pg_get_bool(call); return;
    case PAWL__WIRE_FLAG: *(bool *)member = pawl__pg_get_int(call) != 0; return;
    case PAWL__WIRE_TIME: *(pawl_time *)member = pawl__pg_get_time(call); return;
    case PAWL__WIRE_UUID:
    case PAWL__WIRE_UUID_OR_NULL: *(pawl_uuid *)member = pawl__pg_get_uuid(call); return;
    case PAWL__WIRE_JSON: *(pawl_text *)member = pawl__pg_get_json(call); return;
    case PAWL__WIRE_STATE:
        *(pawl_outbox_state *)member =
            (pawl_outbox_state)get_word(call, pawl__sql_state_words, PAWL__SQL_STATE_COUNT);
        return;
    case PAWL__WIRE_OUTCOME:
        *(pawl_attempt_outcome *)member =
            (pawl_attempt_outcome)get_word(call, pawl__sql_outcome_words, PAWL__SQL_OUTCOME_COUNT);
        return;
    case PAWL__WIRE_SKIP: pawl__pg_skip(call); return;
    default: *(pawl_text *)member = pawl__pg_get_text(call); return;
    }
}

void pawl__pg_get_fields(pawl__pg_call *call, const pawl__sql_fields *fields, void *row)
{
    for (size_t i = 0; i < fields->count; i++)
        get_field(call, fields->items[i].wire, (char *)row + fields->items[i].offset);
}

pawl_code pawl__pg_one_int(pawl__pg_call *call, int64_t *number)
{
    *number        = 0;
    pawl_code code = pawl__pg_run(call);
    if (code == PAWL_OK && pawl__pg_next(call))
        *number = pawl__pg_get_int(call);
    pawl__pg_end(call);
    return call->code;
}
