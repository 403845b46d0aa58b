/* parameter.c - writes parameters in the server's binary form.
 *
 * Numbers are big-endian, times count microseconds from 2000-01-01, an array is
 *
 *     dimensions, has nulls, type of an item, count, first index
 *     size, bytes  of each item; size -1 is null
 *
 * (PostgreSQL documentation, "Message Formats"; array_recv.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/connection.h"

#include "base/calm.h"
#include "store/sql/value.h"

#include <string.h>

#define JSON_VERSION "\1" /* the first byte of a jsonb on the wire */
#define HEADER_SIZE 20    /* of an array with items */

/* ---- Bytes -------------------------------------------------------------- */

/* Room for `size` more bytes, or NULL with is_failed set. */
static char *extend(pawl__pg_bytes *bytes, size_t size)
{
    size_t needed = bytes->size + size;
    if (bytes->is_failed)
        return NULL;
    if (needed > bytes->capacity) {
        size_t capacity = bytes->capacity < 4096 ? 4096 : bytes->capacity;
        while (capacity < needed)
            capacity *= 2;
        char *grown = pawl_resize(bytes->data, capacity);
        if (grown == NULL) {
            bytes->is_failed = true;
            return NULL;
        }
        bytes->data     = grown;
        bytes->capacity = capacity;
    }
    char *at    = bytes->data + bytes->size;
    bytes->size = needed;
    return at;
}

static void write_32(char *to, uint32_t value)
{
    unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                              (unsigned char)(value >> 8), (unsigned char)value};
    memcpy(to, bytes, sizeof bytes);
}

/* ---- Values ------------------------------------------------------------- */

static void append_number(pawl__pg_bytes *bytes, int64_t value)
{
    char *to = extend(bytes, 8);
    if (to == NULL)
        return;
    write_32(to, (uint32_t)((uint64_t)value >> 32));
    write_32(to + 4, (uint32_t)value);
}

static void append_raw(pawl__pg_bytes *bytes, const void *data, size_t size)
{
    char *to = extend(bytes, size);
    if (to != NULL && size != 0)
        memcpy(to, data, size);
}

/* An error's text may be any bytes, a column of text may not: bytes that are not UTF-8 become '?'. */
static void append_error_text(pawl__pg_bytes *bytes, pawl_text text)
{
    char *to = extend(bytes, text.size);
    if (to == NULL)
        return;
    if (text.size != 0)
        memcpy(to, text.data, text.size);
    pawl__make_utf8(to, text.size);
}

static bool append_value(pawl__pg_bytes *bytes, const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT: append_number(bytes, value->as.integer); return true;
    case PAWL_VALUE_TIME: append_number(bytes, value->as.time - PAWL__PG_EPOCH); return true;
    case PAWL_VALUE_TEXT: append_raw(bytes, value->as.text.data, value->as.text.size); return true;
    case PAWL_VALUE_UUID: append_raw(bytes, value->as.uuid.bytes, 16); return true;
    case PAWL_VALUE_NONE: break;
    }
    return false;
}

/* PAWL_TIME_MIN is -infinity: other programs write years before 1, which are read as PAWL_TIME_MIN. */
static void append_from(pawl__pg_bytes *bytes, pawl_time from)
{
    append_number(bytes, from == PAWL_TIME_MIN ? INT64_MIN : from - PAWL__PG_EPOCH);
}

static void append_hint(pawl__pg_bytes *bytes, int64_t hint)
{
    char *to = extend(bytes, 6);
    for (int i = 0; to != NULL && i < 6; i++)
        to[i] = (char)((uint64_t)hint >> (40 - 8 * i) & 0xFF);
}

/* Finds the bytes of a field that is sent unchanged; false: the field is converted. */
static bool find_raw(int type, const void *member, pawl_text *raw)
{
    if (type == PAWL__WIRE_UUID)
        *raw = (pawl_text){.data = member, .size = 16};
    else if (type == PAWL__WIRE_TEXT || type == PAWL__WIRE_BYTES)
        *raw = *(const pawl_text *)member;
    else
        return false;
    return true;
}

/* Appends the field that `member` points to; false: null. */
static bool append(pawl__pg_bytes *bytes, int type, const void *member)
{
    switch (type) {
    case PAWL__WIRE_INT: append_number(bytes, *(const int64_t *)member); return true;
    case PAWL__WIRE_BOOL: append_raw(bytes, *(const bool *)member ? "\1" : "\0", 1); return true;
    case PAWL__WIRE_TIME_FROM: append_from(bytes, *(const pawl_time *)member); return true;
    case PAWL__WIRE_ERROR_TEXT: append_error_text(bytes, *(const pawl_text *)member); return true;
    case PAWL__WIRE_JSON: append_raw(bytes, JSON_VERSION, 1); break;
    case PAWL__PG_TID: append_raw(bytes, member, 6); return true;
    case PAWL__PG_TID_HINT: append_hint(bytes, *(const int64_t *)member); return true;
    default: break;
    }
    const pawl_value value = pawl__sql_value_of(type, member);
    return append_value(bytes, &value);
}

/* ---- Types -------------------------------------------------------------- */

typedef struct type_row {
    Oid type;
    Oid array;
} type_row;

/* The type's OID and that of its array, the same in every version of pg_type. */
static const type_row types[] = {
    [PAWL__WIRE_INT] = {20, 1016},        [PAWL__WIRE_INT32] = {20, 1016},
    [PAWL__WIRE_BOOL] = {16, 1000},       [PAWL__WIRE_FLAG] = {20, 1016},
    [PAWL__WIRE_TIME] = {1184, 1185},     [PAWL__WIRE_TIME_FROM] = {1184, 1185},
    [PAWL__WIRE_TEXT] = {25, 1009},       [PAWL__WIRE_PART] = {25, 1009},
    [PAWL__WIRE_ERROR_TEXT] = {25, 1009}, [PAWL__WIRE_BYTES] = {17, 1001},
    [PAWL__WIRE_UUID] = {2950, 2951},     [PAWL__WIRE_UUID_OR_NULL] = {2950, 2951},
    [PAWL__WIRE_JSON] = {3802, 3807},     [PAWL__WIRE_JSON_TEXT] = {25, 1009},
    [PAWL__WIRE_VALUE] = {25, 1009}, /* see value_types */
    [PAWL__WIRE_STATE] = {25, 1009},      [PAWL__WIRE_OUTCOME] = {25, 1009},
    [PAWL__WIRE_INBOX] = {25, 1009},      [PAWL__WIRE_RESET] = {25, 1009},
    [PAWL__WIRE_ZERO] = {20, 1016},       [PAWL__PG_TID] = {27, 1010},
    [PAWL__PG_TID_HINT] = {27, 1010},
};

/* Times of correlation columns have no zone (D16). */
static const type_row value_types[] = {
    [PAWL_VALUE_NONE] = {25, 1009},   [PAWL_VALUE_INT] = {20, 1016},
    [PAWL_VALUE_TEXT] = {25, 1009},   [PAWL_VALUE_UUID] = {2950, 2951},
    [PAWL_VALUE_TIME] = {1114, 1115},
};

/* ---- Single parameters -------------------------------------------------- */

static void put(pawl__pg_request *request, int type, const void *member)
{
    pawl__pg_bytes *bytes  = &request->connection->parameters;
    size_t          offset = bytes->size;
    if (request->count == PAWL__PG_PARAMETERS_MAX) {
        request->code = pawl_error_set(request->error, PAWL_EBUG, "postgres: too many parameters");
        return;
    }
    bool has_value                   = append(bytes, type, member);
    request->types[request->count]   = types[type].type;
    request->offsets[request->count] = has_value ? offset : SIZE_MAX;
    request->sizes[request->count++] = (int)(bytes->size - offset);
}

void pawl__pg_put_fields(pawl__pg_request *request, const pawl__field_list *fields,
                         const void *item)
{
    for (size_t i = 0; i < fields->count; i++)
        put(request, fields->items[i].wire, (const char *)item + fields->items[i].offset);
}

void pawl__pg_put_int(pawl__pg_request *request, int64_t value)
{
    put(request, PAWL__WIRE_INT, &value);
}

void pawl__pg_put_bool(pawl__pg_request *request, bool value)
{
    put(request, PAWL__WIRE_BOOL, &value);
}

void pawl__pg_put_time(pawl__pg_request *request, pawl_time value)
{
    put(request, PAWL__WIRE_TIME, &value);
}

void pawl__pg_put_time_from(pawl__pg_request *request, pawl_time value)
{
    put(request, PAWL__WIRE_TIME_FROM, &value);
}

void pawl__pg_put_text(pawl__pg_request *request, pawl_text value)
{
    put(request, PAWL__WIRE_TEXT, &value);
}

void pawl__pg_put_uuid(pawl__pg_request *request, pawl_uuid value)
{
    put(request, PAWL__WIRE_UUID, &value);
}

void pawl__pg_put_tid(pawl__pg_request *request, const unsigned char tid[6])
{
    put(request, PAWL__PG_TID, tid);
}

/* ---- Arrays ------------------------------------------------------------- */

void pawl__pg_array_begin(pawl__pg_request *request, int type, pawl_value_type value_type,
                          size_t count)
{
    const type_row *row   = type == PAWL__WIRE_VALUE ? &value_types[value_type] : &types[type];
    request->array_offset = request->connection->parameters.size;
    char *header          = extend(&request->connection->parameters, count != 0 ? HEADER_SIZE : 12);
    if (request->count == PAWL__PG_PARAMETERS_MAX)
        request->code = pawl_error_set(request->error, PAWL_EBUG, "postgres: too many parameters");
    if (header == NULL || request->code != PAWL_OK)
        return;
    request->types[request->count] = row->array;
    write_32(header, count != 0);
    write_32(header + 4, 0);
    write_32(header + 8, row->type);
    if (count == 0)
        return;
    write_32(header + 12, (uint32_t)count);
    write_32(header + 16, 1);
}

void pawl__pg_array_put(pawl__pg_request *request, int type, const void *member)
{
    pawl__pg_bytes *bytes  = &request->connection->parameters;
    size_t          offset = bytes->size;
    pawl_text       raw;
    bool            is_raw = find_raw(type, member, &raw);
    char           *to     = extend(bytes, 4 + (is_raw ? raw.size : 0));
    if (to == NULL)
        return;
    if (is_raw && raw.size != 0)
        memcpy(to + 4, raw.data, raw.size);
    bool has_value = is_raw || append(bytes, type, member);
    if (bytes->is_failed)
        return;
    write_32(bytes->data + offset, has_value ? (uint32_t)(bytes->size - offset - 4) : UINT32_MAX);
    if (!has_value)
        write_32(bytes->data + request->array_offset + 4, 1);
}

void pawl__pg_array_end(pawl__pg_request *request)
{
    size_t size = request->connection->parameters.size - request->array_offset;
    if (request->code != PAWL_OK)
        return;
    if (size > INT32_MAX) {
        request->code =
            pawl_error_set(request->error, PAWL_ELIMIT,
                           "postgres: the values of one column of a change set have %zu "
                           "bytes, limit %d",
                           size, INT32_MAX);
        return;
    }
    request->offsets[request->count] = request->array_offset;
    request->sizes[request->count++] = (int)size;
}

static void put_all(pawl__pg_request *request, int type, pawl_value_type value_type,
                    const void *items, size_t item_size, size_t count)
{
    pawl__pg_array_begin(request, type, value_type, count);
    for (size_t i = 0; i < count; i++)
        pawl__pg_array_put(request, type, (const char *)items + i * item_size);
    pawl__pg_array_end(request);
}

void pawl__pg_put_column(pawl__pg_request *request, int type, const void *first, size_t struct_size,
                         size_t count)
{
    put_all(request, type, PAWL_VALUE_NONE, first, struct_size, count);
}

void pawl__pg_put_ints(pawl__pg_request *request, const int64_t *values, size_t count)
{
    pawl__pg_put_column(request, PAWL__WIRE_INT, values, sizeof *values, count);
}

void pawl__pg_put_texts(pawl__pg_request *request, const pawl_text *values, size_t count)
{
    pawl__pg_put_column(request, PAWL__WIRE_TEXT, values, sizeof *values, count);
}

void pawl__pg_put_values(pawl__pg_request *request, pawl_value_type type, const pawl_value *values,
                         size_t count)
{
    put_all(request, PAWL__WIRE_VALUE, type, values, sizeof *values, count);
}
