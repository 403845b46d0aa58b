/* lookup.c - finds the handlers of a message, and the sagas that these look for.
 *
 * A message runs the handlers of its own type and of its base types. The value of the message's property
 * is converted to the type of the saga's correlation property (S17). If that is impossible, the
 * message fails, since the saga would silently not be found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/lookup.h"
#include "engine/stream.h"
#include "pawl/process.h"

#include <string.h>

static void add_type(const pawl__model *model, pawl_text type, pawl__lookup_types *types)
{
    const pawl__type_model *found = pawl__model_type(model, type);
    for (size_t i = 0; i < types->count; i++)
        if (types->items[i] == found)
            return;
    if (found != NULL && types->count < PAWL__BASES_MAX)
        types->items[types->count++] = found;
}

static pawl_code add_named_bases(pawl__batch *batch, const pawl_message *message,
                                 pawl__lookup_types *types)
{
    pawl_text names;
    pawl_code code =
        pawl__headers_value(message->headers, PAWL_TEXT(PAWL_HEADER_BASE), batch->arena, &names);
    while (names.size > 0)
        add_type(batch->engine->model, pawl__list_next(&names), types);
    return code;
}

pawl_code pawl__lookup_types_of(pawl__batch *batch, const pawl_message *message,
                                pawl__lookup_types *types)
{
    const pawl__model *model = batch->engine->model;
    add_type(model, message->type, types);
    if (types->count == 0)
        return add_named_bases(batch, message, types);
    const pawl_record *record = types->items[0]->record;
    for (size_t depth = 0; record->base != NULL && depth < PAWL__BASES_MAX; depth++) {
        record = record->base();
        add_type(model, pawl_text_of(pawl_record_type(record)), types);
    }
    return PAWL_OK;
}

/* ---- Values --------------------------------------------------------------- */

static pawl_code key_value(pawl__batch *batch, const pawl__lookup *lookup, const char *key,
                           pawl_value_type to, pawl_value *value, pawl_error *error)
{
    pawl_code code =
        pawl_record_value(lookup->binding->message, key, lookup->message, value, error);
    if (code == PAWL_OK && value->type != to)
        code = pawl_value_coerce(to, value, batch->arena, error);
    if (code == PAWL_OK)
        code = pawl_value_check(value, key, error);
    if (code != PAWL_OK && code != PAWL_ENOMEM)
        pawl_error_wrap(error, code, "message %s for %s %s: property '%s'",
                        pawl_record_type(lookup->binding->message),
                        pawl__model_kind(lookup->binding->saga), lookup->binding->saga->saga->name,
                        key);
    return code;
}

/* E11 and S18: a message that starts a saga needs a real value, a message that continues one must
 * not have null. A nested property that is absent counts as "no value" and is allowed. */
static bool has_value(const pawl__binding *binding, const pawl_value *value)
{
    if (!binding->starts)
        return value->type != PAWL_VALUE_NONE || strchr(binding->key, '.') != NULL;
    return !pawl_value_is_default(value) || (binding->zero_is_key && value->type == PAWL_VALUE_INT);
}

static pawl_code check_value(const pawl__lookup *lookup, pawl_error *error)
{
    const pawl__binding *binding = lookup->binding;
    if (has_value(binding, &lookup->value))
        return PAWL_OK;
    char text[PAWL_VALUE_TEXT_SIZE];
    return pawl_error_set(
        error, PAWL_EINVAL, "message %s for %s %s: property '%s' is %s; a %s cannot be %s by it",
        pawl_record_type(binding->message), pawl__model_kind(binding->saga),
        binding->saga->saga->name, binding->key,
        pawl_value_format(&lookup->value, text, sizeof text),
        binding->saga->stream != NULL ? "stream" : "saga", binding->starts ? "started" : "found");
}

pawl_code pawl__lookup_addressee(pawl__batch *batch, const pawl_message *message,
                                 const pawl__saga_model *saga, pawl_text *key)
{
    size_t    name = saga->table.type.size;
    pawl_text address;
    pawl_code code = pawl__headers_value(message->headers, PAWL_TEXT(PAWL_HEADER_PROCESS),
                                         batch->arena, &address);
    *key           = (pawl_text){.data = NULL, .size = 0};
    if (code == PAWL_OK && address.size > name + 1 && address.data[name] == '/' &&
        memcmp(address.data, saga->table.type.data, name) == 0)
        *key = (pawl_text){.data = address.data + name + 1, .size = address.size - name - 1};
    return code;
}

/* Reads the process's key, or the saga's id, from the answer's header. */
static pawl_code answer_value(pawl__batch *batch, const pawl__unit *unit, pawl__lookup *lookup)
{
    const pawl__saga_model *saga = lookup->binding->saga;
    pawl_text               key;
    pawl_uuid               id;
    pawl_code               code = pawl__lookup_addressee(batch, &unit->message, saga, &key);
    if (code != PAWL_OK || key.size == 0)
        return code;
    if (saga->stream != NULL)
        lookup->value = pawl_value_text(key);
    else if (pawl_uuid_parse(key, &id, NULL) == PAWL_OK)
        lookup->value = pawl_value_uuid(id);
    return PAWL_OK;
}

/* Reads the key as a text. For a message that begins a stream the value is checked before the conversion
 * (E11): as a text, a zero uuid would look valid. */
static pawl_code key_of_stream(pawl__batch *batch, pawl__lookup *lookup, pawl_error *error)
{
    const pawl__binding *binding = lookup->binding;
    pawl_code            code =
        pawl_record_value(binding->message, binding->key, lookup->message, &lookup->value, error);
    if (code == PAWL_OK && binding->starts)
        code = check_value(lookup, error);
    if (code == PAWL_OK)
        code = key_value(batch, lookup, binding->key, PAWL_VALUE_TEXT, &lookup->value, error);
    return code == PAWL_OK ? check_value(lookup, error) : code;
}

/* Finds or adds the entry of a process or an entity by its key. */
static pawl_code find_stream(pawl__batch *batch, const pawl__unit *unit, pawl__lookup *lookup,
                             pawl_error *error)
{
    const pawl__binding *binding = lookup->binding;
    pawl_code            code    = PAWL_OK;
    if (binding->answer != PAWL__ANSWER_NONE)
        code = answer_value(batch, unit, lookup);
    else
        code = key_of_stream(batch, lookup, error);
    if (code != PAWL_OK || lookup->value.type == PAWL_VALUE_NONE)
        return code;
    code = pawl__stream_check(binding->saga, lookup->value.as.text, error);
    if (code != PAWL_OK)
        return code;
    lookup->entry = pawl__identity_get(batch, binding->saga, &lookup->value);
    return lookup->entry != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* False for a message without the transitional property's value, or with a value that no saga can
 * have. */
static bool has_transitional(pawl__batch *batch, pawl__lookup *lookup)
{
    const pawl__saga_model *saga = lookup->binding->saga;
    if (saga->saga->transitional == NULL)
        return false;
    if (key_value(batch, lookup, lookup->binding->transitional_key, saga->table.transitional.type,
                  &lookup->transitional, NULL) != PAWL_OK)
        lookup->transitional = (pawl_value){PAWL_VALUE_NONE, {0}};
    return lookup->transitional.type != PAWL_VALUE_NONE;
}

/* While a correlation property is being replaced, a message that continues a saga may have the
 * transitional value alone, and finds the saga by it (S22). The entry of an answer is found by its
 * id, once it is loaded. */
static pawl_code find_entry(pawl__batch *batch, const pawl__unit *unit, pawl__lookup *lookup,
                            pawl_error *error)
{
    const pawl__binding    *binding = lookup->binding;
    const pawl__saga_model *saga    = binding->saga;
    if (binding->answer != PAWL__ANSWER_NONE)
        return answer_value(batch, unit, lookup);
    if (binding->find != NULL || saga->saga->correlation == NULL)
        return PAWL_OK;
    pawl_code code =
        key_value(batch, lookup, binding->key, saga->table.main.type, &lookup->value, error);
    if (code == PAWL_OK && has_transitional(batch, lookup) && !binding->starts &&
        lookup->value.type == PAWL_VALUE_NONE)
        return PAWL_OK;
    if (code == PAWL_OK)
        code = check_value(lookup, error);
    if (code != PAWL_OK || lookup->value.type == PAWL_VALUE_NONE)
        return code;
    lookup->entry = pawl__identity_get(batch, saga, &lookup->value);
    return lookup->entry != NULL ? PAWL_OK : PAWL_ENOMEM;
}

pawl_code pawl__lookup_values(pawl__batch *batch, pawl__lookup *lookup)
{
    const pawl__saga_model *saga = lookup->binding->saga;
    pawl_code               code =
        key_value(batch, lookup, lookup->binding->key, saga->table.main.type, &lookup->value, NULL);
    if (code == PAWL_OK && saga->stream == NULL)
        has_transitional(batch, lookup);
    return code;
}

/* ---- Ended sagas and processes -------------------------------------------------------- */

bool pawl__lookup_is_replaced(const pawl__lookup *lookup)
{
    const pawl__binding *binding = lookup->binding;
    return binding->answer != PAWL__ANSWER_NONE && binding->saga->stream == NULL &&
           pawl_uuid_compare(lookup->entry->id.uuid, lookup->value.as.uuid) != 0;
}

bool pawl__lookup_is_over(const pawl__lookup *lookup)
{
    if (lookup->binding->answer != PAWL__ANSWER_NONE && lookup->binding->saga->stream == NULL)
        return true;
    return lookup->entry != NULL && lookup->entry->stream != NULL &&
           lookup->entry->stream->is_completed;
}

/* ---- Building --------------------------------------------------------------- */

static pawl_code decode(pawl__batch *batch, pawl__unit *unit, const pawl_record *record,
                        void **message, pawl_error *error)
{
    *message = pawl_arena_take(batch->arena, record->size);
    if (*message == NULL)
        return PAWL_ENOMEM;
    pawl_code code = pawl__version_decode(&unit->message, record, batch->arena, *message, error);
    if (code != PAWL_OK && code != PAWL_ENOMEM)
        pawl_error_wrap(error, code, "message %s", pawl_record_type(record));
    return code;
}

static pawl_code build_type(pawl__batch *batch, pawl__unit *unit, const pawl__type_model *type,
                            pawl_error *error)
{
    void     *message = NULL;
    pawl_code code    = decode(batch, unit, type->record, &message, error);
    for (size_t i = 0; i < type->count && code == PAWL_OK; i++) {
        pawl__lookup *lookup = &unit->lookups[unit->lookup_count++];
        lookup->binding      = type->bindings[i];
        lookup->message      = message;
        unit->is_alone |= lookup->binding->is_alone;
        unit->has_sql |= lookup->binding->has_sql;
        if (lookup->binding->kind != PAWL__BINDING_SAGA)
            continue;
        code = lookup->binding->saga->stream != NULL ? find_stream(batch, unit, lookup, error)
                                                     : find_entry(batch, unit, lookup, error);
        /* The answer names another saga or process than this binding's. */
        if (code == PAWL_OK && lookup->binding->answer != PAWL__ANSWER_NONE &&
            lookup->value.type == PAWL_VALUE_NONE)
            unit->lookup_count--;
    }
    return code;
}

/* Lets the unit wait if another worker of the endpoint handles its type (E28). */
static pawl_code wait_for_other(pawl__batch *batch, pawl__unit *unit, pawl_text type,
                                pawl_error *error)
{
    bool      is_known = false;
    pawl_code code = batch->engine->find_handler(batch->engine->runtime, type, &is_known, error);
    if (code != PAWL_OK || !is_known)
        return code;
    unit->end                = PAWL__END_WAIT;
    unit->due                = pawl_time_add(unit->now, PAWL_SECONDS(1));
    batch->has_unit_of_other = true;
    return PAWL_OK;
}

/* Ends a message whose type has no handler here: it waits, or it is dead. */
static pawl_code end_unknown(pawl__batch *batch, pawl__unit *unit, pawl_error *error)
{
    pawl_text type = unit->message.type;
    pawl_code code = wait_for_other(batch, unit, type, error);
    if (code != PAWL_OK || unit->end == PAWL__END_WAIT)
        return code;
    pawl__unit_dead(batch, unit, PAWL_EDECODE,
                    type.size == 0
                        ? PAWL_TEXT("message has no type")
                        : pawl_arena_printf(batch->arena,
                                            "message type '%.*s' is handled by no worker of "
                                            "endpoint %s",
                                            PAWL_TEXT_ARGS(type),
                                            batch->engine->model->endpoint.data));
    return PAWL_OK;
}

/* Ends an answer to a saga or a process that this program does not have: it waits, as long as a
 * message waits for its saga, for another worker that may have it (E28). */
static pawl_code end_unknown_recipient(pawl__batch *batch, pawl__unit *unit, pawl_error *error)
{
    pawl_text process;
    if (!pawl__unit_wait(batch, unit))
        return PAWL_OK;
    if (pawl__headers_value(unit->message.headers, PAWL_TEXT(PAWL_HEADER_PROCESS), batch->arena,
                            &process) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a message");
    pawl__unit_dead(
        batch, unit, PAWL_ENOTFOUND,
        pawl_arena_printf(batch->arena,
                          "message %.*s answers '%.*s', which is neither a saga nor a process "
                          "of endpoint %s that wants it",
                          PAWL_TEXT_ARGS(unit->message.type), PAWL_TEXT_ARGS(process),
                          batch->engine->model->endpoint.data));
    return PAWL_OK;
}

pawl_code pawl__lookup_timeout(pawl__batch *batch, pawl__unit *unit, pawl_error *error)
{
    const pawl__binding *binding =
        pawl__model_timeout(batch->engine->model, unit->timeout.saga_type, unit->timeout.name);
    if (binding != NULL) {
        unit->is_alone = binding->is_alone;
        unit->has_sql  = binding->has_sql;
        return PAWL_OK;
    }
    pawl_text type =
        pawl_arena_printf(batch->arena, PAWL__TIMEOUT_TYPE, PAWL_TEXT_ARGS(unit->timeout.saga_type),
                          PAWL_TEXT_ARGS(unit->timeout.name));
    return type.data != NULL ? wait_for_other(batch, unit, type, error)
                             : pawl_error_set(error, PAWL_ENOMEM, "no memory for a timeout");
}

/* Moves lookups that may begin a saga before lookups of the same saga that may not: the handler of a base type may
 * begin the saga that the handler of the message's own type continues. */
static void put_starters_first(pawl__unit *unit)
{
    pawl__lookup *all = unit->lookups;
    for (size_t i = 1; i < unit->lookup_count; i++) {
        pawl__lookup starter = all[i];
        size_t       to      = 0;
        if (!starter.binding->starts || starter.entry == NULL)
            continue;
        while (to < i && (all[to].entry != starter.entry || all[to].binding->starts))
            to++;
        memmove(&all[to + 1], &all[to], (i - to) * sizeof *all);
        all[to] = starter;
    }
}

/* Has the message expired? A header that is not a time makes a dead letter. PAWL_ENOMEM is the only failure. */
static pawl_code look_at_expiry(pawl__batch *batch, pawl__unit *unit)
{
    pawl_text all  = unit->message.headers;
    pawl_text text = {.data = NULL, .size = 0};
    pawl_time end  = 0;
    if (!pawl__headers_may_have(all, PAWL_HEADER_EXPIRES))
        return PAWL_OK;
    pawl_arena_reset(batch->engine->scratch);
    pawl_code code =
        pawl__headers_value(all, PAWL_TEXT(PAWL_HEADER_EXPIRES), batch->engine->scratch, &text);
    if (code != PAWL_OK || text.size == 0)
        return code;
    if (pawl_time_parse(text, &end, NULL) == PAWL_OK)
        unit->is_expired = end <= unit->now;
    else
        pawl__unit_dead(batch, unit, PAWL_EDECODE, PAWL_TEXT(PAWL__EXPIRES_IS_NO_TIME));
    return PAWL_OK;
}

pawl_code pawl__lookup_build(pawl__batch *batch, pawl__unit *unit, pawl_error *error)
{
    pawl__lookup_types types = {{NULL}, 0};
    size_t             count = 0;
    if (unit->unfit.size > 0) {
        pawl__unit_dead(batch, unit, PAWL_EDECODE, unit->unfit);
        return PAWL_OK;
    }
    if (look_at_expiry(batch, unit) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the headers of a message");
    if (unit->is_expired || unit->end != PAWL__END_NEW)
        return PAWL_OK;
    if (pawl__lookup_types_of(batch, &unit->message, &types) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a message's types");
    for (size_t i = 0; i < types.count; i++)
        count += types.items[i]->count;
    if (count == 0)
        return end_unknown(batch, unit, error);
    unit->lookups = pawl_arena_take(batch->arena, count * sizeof unit->lookups[0]);
    if (unit->lookups == NULL)
        return PAWL_ENOMEM;
    pawl_error detail = PAWL_ERROR_INIT;
    pawl_code  code   = PAWL_OK;
    for (size_t i = 0; i < types.count && code == PAWL_OK; i++)
        code = build_type(batch, unit, types.items[i], &detail);
    if (code == PAWL_ENOMEM)
        return pawl_error_set(error, code, "no memory for a message");
    if (code != PAWL_OK)
        pawl__unit_fail(batch, unit, code, pawl_arena_text(batch->arena, pawl_text_of(detail.text)),
                        -1);
    else if (unit->lookup_count > 0)
        put_starters_first(unit);
    else
        return end_unknown_recipient(batch, unit, error);
    return PAWL_OK;
}
