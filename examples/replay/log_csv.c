/* log_csv.c - reads CSV (RFC 4180) byte by byte.
 *
 *                    '"'              '"'
 *     FIELD_START ---------> QUOTED -------> AFTER_QUOTE
 *        |  ^                  ^   <-------    |
 *        |  |                       '"' (a doubled quote is one)
 *  other |  | ',' or a line's end, from every state but QUOTED
 *        v  |
 *        PLAIN
 *
 * A line ends with LF, CRLF or CR. Blank lines are skipped. Only the fields of the four relevant columns are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_build.h"

#include "pawl/limits.h"

#include <string.h>

#define NO_COLUMN SIZE_MAX

typedef enum csv_state {
    FIELD_START,
    PLAIN,
    QUOTED,
    AFTER_QUOTE,
} csv_state;

typedef struct csv_value {
    log_buffer text;
    uint64_t   line; /* where the row begins */
} csv_value;

typedef struct csv_reader {
    log_builder *builder;
    csv_state    state;
    bool         is_begun; /* the first bytes were checked */
    bool         is_header;
    bool         is_after_cr; /* an LF that follows belongs to the same line end */
    bool         is_wanted;   /* the current field is kept */
    uint64_t     line;
    uint64_t     row_line;
    uint64_t     field_line;
    size_t       column; /* of the current field */
    size_t       column_count;
    size_t       column_of[ROLE_COUNT];
    csv_value    values[ROLE_COUNT];
    log_buffer   field;
    log_buffer   found; /* names in the header, for an error that lists them */
} csv_reader;

static pawl_code open_csv(log_builder *builder, void **reader)
{
    csv_reader *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return replay__fail(builder, PAWL_ENOMEM, 0, "out of memory");
    made->builder   = builder;
    made->is_header = true;
    made->is_wanted = true;
    made->line = made->row_line = made->field_line = 1;
    for (size_t role = 0; role < ROLE_COUNT; role++)
        made->column_of[role] = NO_COLUMN;
    *reader = made;
    return PAWL_OK;
}

static void close_csv(void *reader)
{
    csv_reader *csv = reader;
    if (csv == NULL)
        return;
    for (size_t role = 0; role < ROLE_COUNT; role++)
        pawl_free(csv->values[role].text.data);
    pawl_free(csv->field.data);
    pawl_free(csv->found.data);
    pawl_free(csv);
}

static pawl_code out_of_memory(csv_reader *csv)
{
    return replay__fail(csv->builder, PAWL_ENOMEM, csv->line, "out of memory");
}

/* ---- Fields ------------------------------------------------------------ */

static void begin_field(csv_reader *csv)
{
    csv->state      = FIELD_START;
    csv->field.size = 0;
    csv->field_line = csv->line;
    csv->is_wanted  = csv->is_header;
    for (size_t role = 0; role < ROLE_COUNT; role++)
        csv->is_wanted |= csv->column_of[role] == csv->column;
}

static pawl_code append(csv_reader *csv, char byte)
{
    if (!csv->is_wanted)
        return PAWL_OK;
    if (csv->field.size >= REPLAY_VALUE_SIZE_MAX)
        return replay__fail(csv->builder, PAWL_EINPUT, csv->field_line,
                            "field %zu is longer than the %zu bytes allowed", csv->column + 1,
                            REPLAY_VALUE_SIZE_MAX);
    return replay__buffer_append(&csv->field, &byte, 1) ? PAWL_OK : out_of_memory(csv);
}

/* Adds the name to the list for an error. Stops when the list exceeds an error's text, or at a NUL. */
static pawl_code note_found(csv_reader *csv, pawl_text name)
{
    if (csv->found.size > PAWL_ERROR_TEXT_SIZE_MAX)
        return PAWL_OK;
    const char *before = csv->column == 0 ? "'" : ", '";
    if (!replay__buffer_append(&csv->found, before, strlen(before)) ||
        !replay__buffer_append(&csv->found, name.data, name.size) ||
        !replay__buffer_append(&csv->found, "'", 1))
        return out_of_memory(csv);
    for (size_t i = 0; i < csv->found.size; i++)
        if (csv->found.data[i] == '\0')
            csv->found.data[i] = '?';
    return PAWL_OK;
}

static pawl_code take_name(csv_reader *csv)
{
    pawl_text name = replay__buffer_text(&csv->field);
    if (csv->column >= REPLAY_COLUMNS_MAX)
        return replay__fail(csv->builder, PAWL_EINPUT, csv->line, "more than %d columns",
                            REPLAY_COLUMNS_MAX);
    for (size_t role = 0; role < ROLE_COUNT; role++) {
        if (!pawl_text_equal(name, pawl_text_of(csv->builder->names[role])))
            continue;
        if (csv->column_of[role] != NO_COLUMN)
            return replay__fail(csv->builder, PAWL_EINPUT, csv->line, "two columns are named '%s'",
                                csv->builder->names[role]);
        csv->column_of[role] = csv->column;
    }
    return note_found(csv, name);
}

/* Copies the field to each role, as two roles may share a column. */
static pawl_code take_value(csv_reader *csv)
{
    for (size_t role = 0; role < ROLE_COUNT; role++) {
        if (csv->column_of[role] != csv->column)
            continue;
        csv->values[role].text.size = 0;
        csv->values[role].line      = csv->field_line;
        if (!replay__buffer_append(&csv->values[role].text, csv->field.data, csv->field.size))
            return out_of_memory(csv);
    }
    return PAWL_OK;
}

static pawl_code end_field(csv_reader *csv)
{
    pawl_code code = PAWL_OK;
    if (csv->is_header)
        code = take_name(csv);
    else if (csv->is_wanted)
        code = take_value(csv);
    csv->column++;
    begin_field(csv);
    return code;
}

/* ---- Rows -------------------------------------------------------------- */

static pawl_code end_header(csv_reader *csv)
{
    log_builder *builder = csv->builder;
    for (size_t role = 0; role < ROLE_COUNT; role++) {
        bool is_needed = role != ROLE_GROUP || builder->group_is_required;
        if (is_needed && csv->column_of[role] == NO_COLUMN)
            return replay__fail(builder, PAWL_EINPUT, 0, "there is no column '%s'; found %.*s",
                                builder->names[role],
                                PAWL_TEXT_ARGS(replay__buffer_text(&csv->found)));
    }
    csv->is_header    = false;
    csv->column_count = csv->column;
    return PAWL_OK;
}

static pawl_code end_event(csv_reader *csv)
{
    if (csv->column != csv->column_count)
        return replay__fail(csv->builder, PAWL_EINPUT, csv->row_line,
                            "the row has %zu fields, the header %zu", csv->column,
                            csv->column_count);
    uint32_t indexes[ROLE_TEXT_COUNT];
    for (size_t role = 0; role < ROLE_TEXT_COUNT; role++) {
        const csv_value *value = &csv->values[role];
        pawl_code        code =
            replay__text_index(csv->builder, (log_role)role, replay__buffer_text(&value->text),
                               value->line, &indexes[role]);
        if (code != PAWL_OK)
            return code;
    }
    const csv_value *time  = &csv->values[ROLE_TIME];
    replay_event     event = {.case_index     = indexes[ROLE_CASE],
                              .activity_index = indexes[ROLE_ACTIVITY],
                              .group_index    = indexes[ROLE_GROUP]};
    pawl_code        code =
        replay__time_of(csv->builder, replay__buffer_text(&time->text), time->line, &event.time);
    return code == PAWL_OK ? replay__event_add(csv->builder, event, csv->row_line) : code;
}

static pawl_code end_row(csv_reader *csv)
{
    bool      is_blank = csv->column == 0 && csv->state == FIELD_START;
    pawl_code code     = is_blank ? PAWL_OK : end_field(csv);
    if (code == PAWL_OK && !is_blank)
        code = csv->is_header ? end_header(csv) : end_event(csv);
    return code;
}

static void begin_row(csv_reader *csv)
{
    csv->column   = 0;
    csv->row_line = csv->line;
    begin_field(csv);
}

/* ---- Bytes ------------------------------------------------------------- */

static pawl_code end_line(csv_reader *csv, char byte)
{
    pawl_code code = end_row(csv);
    csv->line++;
    csv->is_after_cr = byte == '\r';
    begin_row(csv);
    return code;
}

static pawl_code step_quoted(csv_reader *csv, char byte)
{
    if (byte == '"') {
        csv->state = AFTER_QUOTE;
        return PAWL_OK;
    }
    csv->line += byte == '\n';
    return append(csv, byte);
}

static pawl_code step(csv_reader *csv, char byte)
{
    bool is_after_cr = csv->is_after_cr;
    csv->is_after_cr = false;
    if (is_after_cr && byte == '\n')
        return PAWL_OK;
    if (csv->state == QUOTED)
        return step_quoted(csv, byte);
    if (byte == '\n' || byte == '\r')
        return end_line(csv, byte);
    if (byte == ',')
        return end_field(csv);
    if (byte == '"' && csv->state != PLAIN) {
        bool is_doubled = csv->state == AFTER_QUOTE;
        csv->state      = QUOTED;
        return is_doubled ? append(csv, byte) : PAWL_OK;
    }
    if (csv->state == AFTER_QUOTE)
        return replay__fail(csv->builder, PAWL_EINPUT, csv->line,
                            "text follows the closing quote of field %zu", csv->column + 1);
    csv->state = PLAIN;
    return append(csv, byte);
}

static pawl_code feed_csv(void *reader, const char *data, size_t size)
{
    csv_reader *csv = reader;
    size_t      i   = 0;
    if (!csv->is_begun && size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        i = 3;
    csv->is_begun  = true;
    pawl_code code = PAWL_OK;
    for (; i < size && code == PAWL_OK; i++)
        code = step(csv, data[i]);
    return code;
}

static pawl_code finish_csv(void *reader)
{
    csv_reader *csv = reader;
    if (csv->state == QUOTED)
        return replay__fail(csv->builder, PAWL_EINPUT, csv->field_line,
                            "the quote that opens field %zu is never closed", csv->column + 1);
    return csv->column != 0 || csv->state != FIELD_START ? end_row(csv) : PAWL_OK;
}

const log_format replay__csv = {
    .open = open_csv, .feed = feed_csv, .finish = finish_csv, .close = close_csv};
