/* saga_letters.c - decides whether a dead letter belongs to a saga.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga_find.h"

#include "engine/headers.h"
#include "workflow/model.h"

#include <string.h>

#define PATH_SIZE 300

/* ---- The saga ------------------------------------------------------------------ */

pawl__saga_letters pawl__saga_letters_of(const pawl__saga_book *book, const pawl_saga_table *table,
                                         const pawl_saga_row *row, pawl_arena *arena)
{
    return (pawl__saga_letters){.model = pawl__saga_model_of(book, table->type),
                                .type  = table->type,
                                .id    = pawl__uuid_text(row->id.uuid, arena),
                                .value = pawl__saga_value(&row->main, arena),
                                .other = pawl__saga_value(&row->transitional, arena),
                                .began =
                                    pawl__must_header(row->metadata, "OriginalMessageId", arena)};
}

pawl_code pawl__saga_letters_begin(const pawl__saga_book *book, pawl_store *store, const char *word,
                                   pawl_arena *arena, pawl__saga_letters *of, pawl_error *error)
{
    const pawl_saga_table *table = NULL;
    pawl_text              type, value;
    pawl_saga_row          row;
    (void)pawl__saga_split(&book->tables, pawl_text_of(word), &type, &value);
    *of = (pawl__saga_letters){
        .model = pawl__saga_model_of(book, type), .type = type, .id = value, .value = value};
    if (of->model == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--saga: the program has no saga '%.*s'",
                              PAWL_TEXT_ARGS(type));
    pawl_code code = pawl__saga_find(store, &book->tables, type, value, arena, &table, &row, error);
    if (code == PAWL_OK && table != NULL)
        *of = pawl__saga_letters_of(book, table, &row, arena);
    return code;
}

pawl_text pawl__saga_letters_command(const pawl__saga_letters *of, const pawl__store_fields *at,
                                     pawl_arena *arena)
{
    const pawl__saga_model *saga = of->model != NULL ? pawl__model_saga(of->model, of->type) : NULL;
    if (saga == NULL || saga->saga->correlation == NULL || of->value.size == 0)
        return PAWL_TEXT("");
    const pawl_field *field = pawl_record_field(saga->state, saga->saga->correlation);
    pawl_text         word  = pawl__must_printf(
                 arena, "body:%s=%.*s", field != NULL ? pawl_field_json(field) : saga->saga->correlation,
                 PAWL_TEXT_ARGS(of->value));
    word =
        pawl__must_printf(arena, "pawl find %.*s", PAWL_TEXT_ARGS(pawl__shell_word(word, arena)));
    return pawl__store_command(at, word, arena);
}

/* ---- The body ------------------------------------------------------------------- */

/* The value at the path of members of the record, each by its name in JSON; NULL: there is none. */
static yyjson_val *value_at(const pawl_record *record, const char *path, yyjson_val *value)
{
    char prefix[PATH_SIZE];
    for (const char *dot = path; value != NULL; dot++) {
        dot         = strchr(dot, '.') != NULL ? strchr(dot, '.') : path + strlen(path);
        size_t size = (size_t)(dot - path);
        if (size >= sizeof prefix)
            return NULL;
        memcpy(prefix, path, size);
        prefix[size]            = '\0';
        const pawl_field *field = pawl_record_field(record, prefix);
        value = field != NULL ? yyjson_obj_get(value, pawl_field_json(field)) : NULL;
        if (*dot == '\0')
            return value;
    }
    return NULL;
}

/* The JSON value as the text of a correlation value; data NULL: out of memory, or not a value of that kind. */
static pawl_text scalar_text(yyjson_val *value, pawl_arena *arena)
{
    if (yyjson_is_str(value))
        return pawl__must_text(
            arena, (pawl_text){.data = yyjson_get_str(value), .size = yyjson_get_len(value)});
    if (yyjson_is_uint(value))
        return pawl__must_printf(arena, "%llu", (unsigned long long)yyjson_get_uint(value));
    if (yyjson_is_int(value))
        return pawl__must_printf(arena, "%lld", (long long)yyjson_get_sint(value));
    return (pawl_text){.data = NULL};
}

/* The binding of the saga for the letter's type, or for a type that it is derived from. */
static const pawl__binding *binding_of(const pawl__saga_letters *of, pawl_text type)
{
    const pawl__type_model *found = pawl__model_type(of->model, type);
    for (size_t i = 0; found != NULL && i < found->count; i++)
        if (found->bindings[i]->saga != NULL &&
            pawl_text_equal(found->bindings[i]->saga->table.type, of->type))
            return found->bindings[i];
    return NULL;
}

static const pawl__binding *find_binding(const pawl__saga_letters *of, const pawl_message *message,
                                         pawl_arena *arena)
{
    const pawl__binding *binding = binding_of(of, message->type);
    pawl_text            names   = {.size = 0};
    if (binding == NULL)
        names = pawl__must_header(message->headers, PAWL_HEADER_BASE, arena);
    while (binding == NULL && names.size > 0)
        binding = binding_of(of, pawl__list_next(&names));
    return binding;
}

static bool is_value(const pawl__saga_letters *of, pawl_text text)
{
    return text.size != 0 && (pawl_text_equal(text, of->value) || pawl_text_equal(text, of->other));
}

/* Compares the correlation value, and the transitional one, with the message. */
static void compare_key(const pawl__saga_letters *of, const pawl__binding *binding,
                        const pawl_message *message, pawl_arena *arena,
                        pawl__letter_relation *relation, pawl_text *by)
{
    const char *keys[] = {binding->key, binding->transitional_key};
    size_t      read   = 0;
    yyjson_doc *doc    = yyjson_read(message->body.data, message->body.size, YYJSON_READ_NOFLAG);
    for (size_t i = 0; i < 2 && *relation == PAWL__LETTER_FOREIGN; i++) {
        if (keys[i] == NULL)
            continue;
        pawl_text text =
            scalar_text(value_at(binding->message, keys[i], yyjson_doc_get_root(doc)), arena);
        read += text.data != NULL;
        if (is_value(of, text)) {
            *relation = PAWL__LETTER_OWN;
            *by       = pawl__must_printf(arena, "its key %s", keys[i]);
        }
    }
    yyjson_doc_free(doc);
    if (*relation == PAWL__LETTER_FOREIGN && read == 0)
        *relation = PAWL__LETTER_UNREADABLE;
}

/* ---- A letter --------------------------------------------------------------------- */

static bool is_conversation(const pawl__saga_letters *of, const pawl_message *message)
{
    return pawl_text_equal(message->id, of->began) ||
           pawl_text_equal(message->correlation_id, of->began) ||
           pawl_text_equal(message->causation_id, of->began);
}

pawl__letter_relation pawl__saga_letter_is(const pawl__saga_letters *of,
                                           const pawl_dead_row *letter, pawl_arena *arena,
                                           pawl_text *by)
{
    pawl__letter_relation relation = PAWL__LETTER_FOREIGN;
    pawl_text id = pawl__must_header(letter->message.headers, PAWL_HEADER_SAGA_ID, arena);
    *by          = PAWL_TEXT("");
    if (id.size != 0 && !pawl_text_equal(id, of->id))
        return relation; /* a timeout of another saga */
    if (id.size != 0) {
        *by = PAWL_TEXT("its header " PAWL_HEADER_SAGA_ID);
        return PAWL__LETTER_OWN;
    }
    const pawl__binding *binding = find_binding(of, &letter->message, arena);
    if (binding != NULL)
        compare_key(of, binding, &letter->message, arena, &relation, by);
    if (relation == PAWL__LETTER_OWN || of->began.size == 0 ||
        !is_conversation(of, &letter->message))
        return relation;
    *by = PAWL_TEXT("its correlation id");
    return PAWL__LETTER_OWN;
}
