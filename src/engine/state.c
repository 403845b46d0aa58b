/* state.c - converts the states of sagas: from a row to the handler's struct in the format of the version
 * that wrote the row, and back in today's format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/entry.h"

#include "base/arena.h"
#include "record/record_internal.h"

/* ---- Reading ------------------------------------------------------------------ */

int pawl__state_version(pawl_text type_version)
{
    int version = 0;
    for (size_t i = 0; i < type_version.size; i++) {
        if (type_version.data[i] < '0' || type_version.data[i] > '9')
            break;
        if (version >
            PAWL_RECORD_VERSION_MAX / 10) /* only a newer pawl release could allow such a version */
            return PAWL_RECORD_VERSION_MAX + 1;
        version = version * 10 + (type_version.data[i] - '0');
    }
    return version;
}

static const pawl_state_format *format_of(const pawl__saga_model *model, int version)
{
    for (size_t i = 0; i < model->older_count; i++)
        if (version < model->older[i].below)
            return &model->older[i];
    return &model->format;
}

/* Maps the code of an application's reader or writer. Codes for handlers have no meaning here; PAWL_DISCARD would lose
 * the message. PAWL_ENOMEM is passed on only if the arena ran out of memory. */
static pawl_code answer_of(pawl_code code, pawl_arena *arena)
{
    bool is_handlers = code >= PAWL_RETRY && code <= PAWL_DISCARD;
    bool is_own      = code == PAWL_ENOMEM && !pawl__arena_is_short(arena);
    return is_handlers || is_own ? PAWL_ECONFIG : code;
}

static pawl_code read_stored(const pawl__saga_model *model, const pawl_state_format *format,
                             const pawl_saga_row *row, pawl_arena *arena, pawl_text *json,
                             pawl_error *error)
{
    const pawl_state_about about = {model->saga->name, row->id,
                                    pawl__state_version(row->type_version), format->context};
    *json                        = row->data;
    if (format->read == NULL)
        return PAWL_OK;
    pawl_code code = answer_of(format->read(&about, row->data, arena, json, error), arena);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "the format's reader");
}

/* Puts the saga before a failure. */
static pawl_code name_saga(const pawl__saga_model *model, pawl_saga_id saga, int version,
                           pawl_code code, pawl_error *error)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    if (code == PAWL_OK)
        return code;
    pawl_uuid_format(saga.uuid, id);
    return pawl_error_wrap(error, code, "saga %s %s of version %d", model->saga->name, id, version);
}

pawl_code pawl__state_read(const pawl__saga_model *model, const pawl_record *record,
                           const pawl_saga_row *row, pawl_arena *arena, void *state,
                           pawl_error *error)
{
    int version = pawl__state_version(row->type_version), today = pawl_record_version(record);
    const pawl_state_format *format    = format_of(model, version);
    bool                     is_listed = format != &model->format;
    pawl_text                json      = row->data;
    pawl_code                code      = PAWL_OK;
    bool is_brought_up                 = version != today && (record->upcast != NULL || !is_listed);
    /* Calls no reader if the version is refused anyway. */
    if (version <= today && (!is_brought_up || record->upcast != NULL))
        code = read_stored(model, format, row, arena, &json, error);
    if (code == PAWL_OK && is_brought_up)
        code = pawl_record_upcast(record, version, json, arena, &json, error);
    if (code == PAWL_OK)
        code = pawl_record_decode(record, json,
                                  PAWL_DECODE_KEEP_EXTRA | PAWL_RECORD_TIMES(format->times), arena,
                                  state, error);
    return name_saga(model, row->id, version, code, error);
}

pawl_code pawl__state_json(const pawl__saga_model *model, const pawl_saga_row *row,
                           pawl_arena *arena, pawl_text *json, pawl_error *error)
{
    int version    = pawl__state_version(row->type_version);
    *json          = row->data;
    pawl_code code = PAWL_OK;
    if (version <= pawl_record_version(model->state))
        code = read_stored(model, format_of(model, version), row, arena, json, error);
    return name_saga(model, row->id, version, code, error);
}

/* ---- Writing ------------------------------------------------------------------ */

/* Checks for JSON that every store's JSON column accepts. */
static pawl_code check_written(pawl_text written, pawl_arena *arena, pawl_error *error)
{
    yyjson_doc *doc  = NULL;
    pawl_code   code = pawl__json_read(written, arena, &doc, error);
    if (code == PAWL_ENOMEM)
        return code;
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_EINVAL, "what it made");
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!yyjson_is_obj(root))
        return pawl_error_set(error, PAWL_EINVAL, "what it made is not a JSON object");
    if (pawl__json_has_nul(root))
        return pawl_error_set(error, PAWL_EINVAL, "NUL in a text of what it made");
    return PAWL_OK;
}

static pawl_code write_stored(const pawl__saga_model *model, pawl_saga_id id, pawl_text json,
                              pawl_arena *arena, pawl_text *data, pawl_error *error)
{
    const pawl_state_format *format = &model->format;
    const pawl_state_about   about  = {model->saga->name, id, pawl_record_version(model->state),
                                       format->context};
    *data                           = json;
    if (format->write == NULL)
        return PAWL_OK;
    pawl_code code = answer_of(format->write(&about, json, arena, data, error), arena);
    if (code ==
        PAWL_EVERSION) /* retries, no waiting for another program: this program made the state */
        code = PAWL_ECONFIG;
    if (code == PAWL_OK)
        code = check_written(*data, arena, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "the format's writer");
}

pawl_code pawl__state_write(const pawl__saga_model *model, pawl_saga_id id, const void *state,
                            pawl_arena *arena, pawl_text *data, pawl_error *error)
{
    unsigned  flags = PAWL_RECORD_TIMES(model->format.times);
    pawl_text json  = {.data = NULL, .size = 0};
    if (model->format.stores_defaults)
        flags |= PAWL_ENCODE_DEFAULTS;
    pawl_code code = pawl_record_encode(model->state, state, flags, arena, &json, error);
    if (code == PAWL_OK)
        code = write_stored(model, id, json, arena, data, error);
    if (code == PAWL_OK && data->size > PAWL_STATE_SIZE_MAX)
        code = pawl_error_set(error, PAWL_ELIMIT, "its state has %zu bytes, limit %d", data->size,
                              PAWL_STATE_SIZE_MAX);
    return name_saga(model, id, pawl_record_version(model->state), code, error);
}
