/* writer.c - the writes of a round: selects items, builds their arrays, sends them, reads answers (set.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/set.h"

#include "store/sql/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Items -------------------------------------------------------------- */

const void **pawl__pg_select(pawl__sql_writer *writer, pawl_change_kind kind, size_t *count)
{
    const char  *item  = pawl__change_items(writer->changes, kind);
    size_t       all   = pawl__change_count(writer->changes, kind);
    const void **items = pawl_arena_take(pawl__pg_scratch(writer), (all + 1) * sizeof *items);
    *count             = 0;
    if (items == NULL) {
        (void)pawl__pg_no_memory(writer->error);
        return NULL;
    }
    for (size_t i = 0; i < all; i++, item += pawl__kinds[kind].size)
        if (!writer->is_dropped[pawl__change_group(item)])
            items[(*count)++] = item;
    return items;
}

/* ---- Writes ------------------------------------------------------------- */

void pawl__pg_write_begin(pawl__pg_write *write, const pawl__sql_writer *writer, int statement)
{
    if (statement < PAWL__SQL_ON_SAGA)
        pawl__pg_begin(&write->request, pawl__pg_connection_of(writer), statement, writer->error);
    else
        pawl__pg_saga_begin(&write->request, pawl__pg_connection_of(writer),
                            pawl__saga_table_of(write->items[0]), statement - PAWL__SQL_ON_SAGA,
                            writer->error);
}

pawl__pg_write *pawl__pg_write_add(pawl__sql_writer *writer, int statement, pawl_change_kind kind,
                                   const void **items, size_t count, pawl__pg_check_fn *check)
{
    pawl__pg_write *write = pawl_arena_take(pawl__pg_scratch(writer), sizeof *write);
    if (write == NULL) {
        (void)pawl__pg_no_memory(writer->error);
        return NULL;
    }
    write->writer         = writer;
    write->kind           = kind;
    write->items          = items;
    write->count          = count;
    write->check          = check;
    pawl__pg_round *round = &pawl__pg_of(writer->store)->round;
    if (round->last != NULL)
        round->last->next = write;
    else
        round->first = write;
    round->last = write;
    pawl__pg_write_begin(write, writer, statement);
    return write;
}

/* The type of the correlation column, which does not depend on the values. */
static pawl_value_type value_type_of(const pawl__pg_write *write, const pawl__field *field)
{
    if (field->wire != PAWL__WIRE_VALUE)
        return PAWL_VALUE_NONE;
    const pawl_saga_table *table = pawl__saga_table_of(write->items[0]);
    return strcmp(field->name, "main") == 0 ? table->main.type : table->transitional.type;
}

/* The place of a saga's row is its ctid. */
static int wire_of(const pawl__pg_write *write, const pawl__field *field)
{
    bool is_place =
        write->kind == pawl_change_saga_update && field->offset == offsetof(pawl_saga_update, row);
    return is_place ? PAWL__PG_TID_HINT : field->wire;
}

void pawl__pg_write_fields(pawl__pg_write *write, const pawl__field *fields, size_t field_count)
{
    for (size_t f = 0; f < field_count; f++) {
        const pawl__field *field = &fields[f];
        int                wire  = wire_of(write, field);
        pawl__pg_array_begin(&write->request, wire == PAWL__WIRE_NULL ? field->form : wire,
                             value_type_of(write, field), write->count);
        for (size_t i = 0; i < write->count; i++)
            pawl__pg_array_put(&write->request, wire,
                               (const char *)write->items[i] + field->offset);
        pawl__pg_array_end(&write->request);
    }
}

/* Finds ON CONFLICT at the end of an insert, which leaves out rows that exist. Without these words the insert fails
 * for them, and takes a third less time. */
static const char *find_conflict(const pawl__pg_statement *statement)
{
    bool is_insert = strncmp(statement->text, "insert into ", 12) == 0;
    return is_insert ? strstr(statement->text, " on conflict ") : NULL;
}

/* The guarded form of the statement, which fails for an item that it would leave out: an insert
 * with a duplicate key, any other with a division by zero when it returns another number of rows
 * than its last parameter says. */
static pawl_code make_guarded(const pawl__pg_write *write, pawl__pg_statement *statement)
{
    pawl__sql_text      text     = {0};
    pawl__pg_statement *made     = pawl_allocate(sizeof *made);
    const char         *conflict = find_conflict(statement);
    if (conflict != NULL)
        pawl__sql_append_text(&text, (pawl_text){.data = statement->text,
                                                 .size = (size_t)(conflict - statement->text)});
    else
        pawl__sql_appendf(&text,
                          "with pawl_changed as (%s) select 1 / (count(*) = $%d)::int "
                          "from pawl_changed",
                          statement->text, write->request.count + 1);
    if (made == NULL || text.is_failed) {
        pawl__sql_text_free(&text);
        pawl_free(made);
        return pawl__pg_no_memory(write->request.error);
    }
    made->text = text.data;
    (void)snprintf(made->name, sizeof made->name, "%.20s_g", statement->name);
    statement->guarded = made;
    return PAWL_OK;
}

/* WITH cannot stand inside the WITH of the guarded form. */
static bool can_guard(const pawl__pg_write *write)
{
    return !write->is_unguarded && strncmp(write->request.statement->text, "with ", 5) != 0;
}

pawl_code pawl__pg_write_send(pawl__pg_write *write)
{
    pawl__pg_statement *statement = write->request.statement;
    bool                is_wanted = write->writer->is_ahead && write->check != NULL;
    pawl_code           code      = PAWL_OK;
    if (write->request.code == PAWL_OK && is_wanted && can_guard(write)) {
        if (statement->guarded == NULL)
            code = make_guarded(write, statement);
        if (code != PAWL_OK)
            return code;
        write->request.statement = statement->guarded;
        write->check             = NULL;
        if (find_conflict(statement) == NULL)
            pawl__pg_put_int(&write->request, (int64_t)write->count);
    } else if (is_wanted) {
        pawl__pg_of(write->writer->store)->round.has_unguarded = true;
    }
    pawl__pg_send(&write->request);
    return write->request.code;
}

/* ---- Answers ------------------------------------------------------------ */

bool *pawl__pg_applied(pawl__sql_writer *writer, pawl__pg_write *write)
{
    bool *is_applied = pawl_arena_take(pawl__pg_scratch(writer), write->count + 1);
    if (is_applied == NULL) {
        (void)pawl__pg_no_memory(writer->error);
        return NULL;
    }
    while (pawl__pg_next(&write->request)) {
        size_t at = pawl__pg_get_index(&write->request, write->count);
        if (at != SIZE_MAX)
            is_applied[at] = true;
    }
    return is_applied;
}
