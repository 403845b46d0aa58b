/* saga_find.c - finds sagas by the words of an operator. See saga_find.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga_find.h"

#include "engine/headers.h"
#include "pawl/operations.h"
#include "runtime/operate/upgrade/upgrade.h"

#include <string.h>

bool pawl__saga_split(const pawl__saga_tables *known, pawl_text word, pawl_text *type,
                      pawl_text *value)
{
    const char *slash = word.size > 0 ? memchr(word.data, '/', word.size) : NULL;
    if (slash == NULL)
        return false;
    size_t size = (size_t)(slash - word.data);
    for (size_t i = 0; known != NULL && i < known->count; i++) {
        pawl_text name = known->items[i]->type;
        if (name.size > size && name.size < word.size && word.data[name.size] == '/' &&
            memcmp(word.data, name.data, name.size) == 0)
            size = name.size;
    }
    *type  = (pawl_text){.data = word.data, .size = size};
    *value = (pawl_text){.data = word.data + size + 1, .size = word.size - size - 1};
    return type->size > 0 && value->size > 0;
}

pawl_text pawl__saga_source_of(pawl_text type, pawl_saga_id id, pawl_arena *arena)
{
    return pawl__must_printf(arena, "%.*s/%s", PAWL_TEXT_ARGS(type),
                             pawl__uuid_text(id.uuid, arena).data);
}

pawl_text pawl__must_header(pawl_text headers, const char *name, pawl_arena *arena)
{
    pawl_text text = {.data = "", .size = 0};
    pawl__must_have(pawl__headers_value(headers, pawl_text_of(name), arena, &text));
    return text;
}

pawl_text pawl__saga_value(const pawl_value *value, pawl_arena *arena)
{
    char text[PAWL_VALUE_TEXT_SIZE];
    return value->type == PAWL_VALUE_NONE ? PAWL_TEXT("")
           : value->type == PAWL_VALUE_TEXT
               ? value->as.text
               : pawl__must_text(arena, pawl_text_of(pawl_value_format(value, text, sizeof text)));
}

/* Ids that pawl gives have the time in their first 48 bits, in milliseconds. */
pawl_time pawl__saga_begun(pawl_uuid id)
{
    int64_t time = 0;
    for (size_t i = 0; i < 6; i++)
        time = time << 8 | id.bytes[i];
    return id.bytes[6] >> 4 == 7 ? time * 1000 : 0;
}

pawl_uuid pawl__id_before(pawl_uuid id)
{
    for (size_t i = sizeof id.bytes; i-- > 0;)
        if (id.bytes[i]-- != 0)
            break;
    return id;
}

pawl_code pawl__saga_find_in(pawl_store *store, const pawl_saga_table *table, pawl_text value,
                             pawl_arena *arena, pawl_saga_row *row, pawl_error *error)
{
    const pawl_correlation *const own[] = {
        [PAWL_SAGA_BY_MAIN] = &table->main, [PAWL_SAGA_BY_TRANSITIONAL] = &table->transitional};
    pawl_uuid id;
    pawl_code code = PAWL_OK;
    *row           = (pawl_saga_row){.version = 0};
    for (int key = PAWL_SAGA_BY_MAIN; code == PAWL_OK && key <= PAWL_SAGA_BY_TRANSITIONAL; key++)
        if (own[key]->type != PAWL_VALUE_NONE && row->presence == PAWL_SAGA_MISSING) {
            code = pawl_store_saga_find(store, table, (pawl_saga_key)key, pawl_value_text(value),
                                        arena, row, error);
            code = code == PAWL_EINVAL || code == PAWL_ELIMIT ? PAWL_OK : code;
        }
    if (code == PAWL_OK && row->presence == PAWL_SAGA_MISSING &&
        pawl_uuid_parse(value, &id, NULL) == PAWL_OK)
        code = pawl_store_saga_find(store, table, PAWL_SAGA_BY_ID, pawl_value_uuid(id), arena, row,
                                    error);
    return code;
}

pawl_code pawl__saga_find(pawl_store *store, const pawl__saga_tables *tables, pawl_text type,
                          pawl_text value, pawl_arena *arena, const pawl_saga_table **table,
                          pawl_saga_row *row, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *table         = NULL;
    *row           = (pawl_saga_row){.version = 0};
    for (size_t i = 0; code == PAWL_OK && *table == NULL && i < tables->count; i++) {
        if (!pawl_text_equal(tables->items[i]->type, type))
            continue;
        code = pawl__saga_find_in(store, tables->items[i], value, arena, row, error);
        if (code == PAWL_OK && row->presence == PAWL_SAGA_THERE)
            *table = tables->items[i];
    }
    return code;
}

pawl_code pawl__saga_page(pawl_store *store, const pawl_saga_table *table,
                          const pawl_scan_row *after, size_t count_max, pawl_arena *arena,
                          pawl_scan_rows *scanned, pawl_saga_row **rows, pawl_error *error)
{
    const pawl_scan scan = {
        .kind = PAWL_SCAN_SAGAS, .table = table, .after = after, .count_max = count_max};
    *scanned       = (pawl_scan_rows){.count = 0};
    pawl_code code = pawl_store_scan(store, &scan, arena, scanned, error);
    if (code == PAWL_ESCHEMA) {
        scanned->count = 0;
        code           = PAWL_OK;
    }
    pawl_value *ids = pawl__must_take(arena, (scanned->count + 1) * sizeof *ids);
    *rows           = pawl__must_take(arena, (scanned->count + 1) * sizeof **rows);
    for (size_t i = 0; i < scanned->count; i++)
        ids[i] = pawl_value_uuid(scanned->items[i].id);
    return code == PAWL_OK && scanned->count > 0
               ? pawl_store_saga_load(store, table, PAWL_SAGA_BY_ID, ids, scanned->count,
                                      PAWL_SAGA_UNLOCKED, arena, *rows, error)
               : code;
}

/* ---- The application's tables ---------------------------------------------- */

const pawl_saga *pawl__saga_of(const pawl_application *application, pawl_text type)
{
    for (size_t i = 0; application->endpoints[i] != NULL; i++) {
        const pawl_saga *const *sagas = application->endpoints[i]->sagas;
        for (size_t j = 0; sagas != NULL && sagas[j] != NULL; j++)
            if (pawl_text_equal(pawl_text_of(sagas[j]->name), type))
                return sagas[j];
    }
    return NULL;
}

static bool is_secret(const pawl_saga *saga, const char *property)
{
    const pawl_field *field = property != NULL ? pawl_record_field(saga->state(), property) : NULL;
    return field != NULL && field->secret;
}

bool pawl__saga_is_secret(const pawl_saga *saga)
{
    return saga != NULL && is_secret(saga, saga->correlation);
}

bool pawl__saga_hides_transitional(const pawl_saga *saga)
{
    return saga != NULL && is_secret(saga, saga->transitional);
}

pawl_code pawl__saga_book_open(pawl__saga_book *book, pawl_error *error)
{
    if (book->app == NULL && book->prefix != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--saga-prefix: tables are named with --app");
    if (book->app == NULL)
        return PAWL_OK;
    pawl_code code = pawl__application_load(book->app, &book->loaded, error);
    if (code == PAWL_OK)
        code = pawl_upgrade_create(book->loaded.application, book->prefix, &book->upgrade, error);
    if (code == PAWL_OK)
        book->tables.items = pawl_upgrade_tables(book->upgrade, &book->tables.count);
    return code;
}

void pawl__saga_book_close(pawl__saga_book *book)
{
    pawl_upgrade_destroy(book->upgrade);
    pawl__application_unload(&book->loaded);
}

const pawl__model *pawl__saga_model_of(const pawl__saga_book *book, pawl_text type)
{
    for (size_t i = 0; book->upgrade != NULL && i < book->upgrade->model_count; i++) {
        const pawl__saga_model *saga = pawl__model_saga(book->upgrade->models[i], type);
        if (saga != NULL && saga->stream == NULL)
            return book->upgrade->models[i];
    }
    return NULL;
}

/* ---- From a word to an id -------------------------------------------------- */

/* Refuses an id of all zeros, too: no saga has it, and a store would take it for "any saga". */
pawl_code pawl__saga_word_check(const char *word, bool has_tables, pawl_error *error)
{
    pawl_text type, value;
    pawl_uuid id = {{0}};
    if (word == NULL)
        return PAWL_OK;
    bool is_id = pawl_uuid_parse(pawl_text_of(word), &id, NULL) == PAWL_OK;
    if (!is_id && !pawl__saga_split(NULL, pawl_text_of(word), &type, &value))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "--saga: '%.200s' is not TYPE/VALUE: a saga's type and its correlation "
            "value, or its id",
            word);
    if (!is_id && !has_tables && pawl_uuid_parse(value, &id, NULL) != PAWL_OK)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "--saga %.200s: a correlation value is looked up in the tables of --app "
            "APP.so; without it give TYPE/ID",
            word);
    return (is_id || !has_tables) && pawl_uuid_is_zero(id)
               ? pawl_error_set(error, PAWL_EINVAL, "--saga %.200s: no saga has this id", word)
               : PAWL_OK;
}

pawl_code pawl__saga_word_find(const pawl__saga_book *book, pawl_store *store, const char *word,
                               pawl_arena *arena, pawl_text *type, pawl_saga_id *id,
                               pawl_error *error)
{
    const pawl_saga_table *table = NULL;
    pawl_saga_row          row;
    pawl_text              value;
    *type = (pawl_text){0};
    if (pawl_uuid_parse(pawl_text_of(word), &id->uuid, NULL) == PAWL_OK)
        return PAWL_OK;
    (void)pawl__saga_split(&book->tables, pawl_text_of(word), type, &value);
    pawl_code code =
        pawl__saga_find(store, &book->tables, *type, value, arena, &table, &row, error);
    if (code != PAWL_OK)
        return code;
    if (table != NULL)
        *id = row.id;
    else if (pawl_uuid_parse(value, &id->uuid, NULL) != PAWL_OK || pawl_uuid_is_zero(id->uuid))
        return pawl_error_set(error, PAWL_ENOTFOUND,
                              "there is no saga %.200s; one that ended is named by its id", word);
    return PAWL_OK;
}

/* ---- From ids to names ----------------------------------------------------- */

/* Names the sagas of one table. A table that is not there has none. */
static pawl_code name_in(const pawl_saga_table *table, pawl_store *store, pawl__saga_named *items,
                         size_t count, pawl_arena *arena, pawl_error *error)
{
    pawl_value    *ids   = pawl__must_take(arena, (count + 1) * sizeof *ids);
    pawl_saga_row *rows  = pawl__must_take(arena, (count + 1) * sizeof *rows);
    size_t         asked = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        if (pawl_text_equal(items[i].type, table->type))
            ids[asked++] = pawl_value_uuid(items[i].id.uuid);
    if (asked == 0)
        return PAWL_OK;
    pawl_code code = pawl_store_saga_load(store, table, PAWL_SAGA_BY_ID, ids, asked,
                                          PAWL_SAGA_UNLOCKED, arena, rows, error);
    if (code == PAWL_ESCHEMA)
        return PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        if (!pawl_text_equal(items[i].type, table->type))
            continue;
        const pawl_saga_row *row = &rows[at++];
        if (row->presence != PAWL_SAGA_THERE || row->main.type == PAWL_VALUE_NONE)
            continue;
        pawl_text value = pawl__saga_value(&row->main, arena);
        items[i].name   = pawl__must_printf(arena, "%.*s/%.*s", PAWL_TEXT_ARGS(table->type),
                                            PAWL_TEXT_ARGS(value));
    }
    return code;
}

pawl_code pawl__saga_names(const pawl__saga_book *book, pawl_store *store, pawl__saga_named *items,
                           size_t count, pawl_arena *arena, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < book->tables.count; i++) {
        const pawl_saga_table *table = book->tables.items[i];
        if (!pawl__saga_is_secret(pawl__saga_of(book->loaded.application, table->type)))
            code = name_in(table, store, items, count, arena, error);
    }
    return code;
}
