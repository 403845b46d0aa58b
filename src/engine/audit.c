/* audit.c - makes the copies of a batch's handled messages.
 *
 * The rows have no ordering key, so a copy that cannot be delivered blocks no other one. Dispatch ids are
 * random: a message that is sent and handled again after its deduplication record was deleted gets a second copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include <string.h>

/* Gets the unit a deduplication record "handled"? Same condition as put_message of changes.c. */
static bool is_copied(const pawl__unit *unit)
{
    return unit->kind == PAWL__UNIT_MESSAGE && unit->end == PAWL__END_HANDLED;
}

static size_t count_copies(const pawl__batch *batch)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->unit_count; i++)
        count += is_copied(&batch->units[i]);
    return count;
}

/* Renames the expiry header, so that the copy does not expire, and removes the expiry header of NServiceBus. Without
 * room for audit headers the other headers are kept unchanged. */
static pawl_code make_headers(const pawl__batch *batch, const pawl__unit *unit, pawl_text *headers)
{
    static const char *const ends[] = {PAWL_HEADER_EXPIRES, "NServiceBus.TimeToBeReceived", NULL};
    static const pawl__header_value none[]  = {{NULL, {.data = NULL}}};
    const pawl__engine             *engine  = batch->engine;
    const pawl_text                 all     = unit->message.headers;
    pawl_text                       expires = {.data = NULL, .size = 0};
    pawl_code                       code    = PAWL_OK;
    char started[PAWL_TIME_TEXT_SIZE + 1], ended[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(unit->started, started);
    pawl_time_format(pawl_time_add(unit->started, unit->duration), ended);
    if (pawl__headers_may_have(all, PAWL_HEADER_EXPIRES))
        code = pawl__headers_value(all, PAWL_TEXT(PAWL_HEADER_EXPIRES), batch->arena, &expires);
    const pawl__header_value values[] = {{PAWL_HEADER_AUDIT_ENDPOINT, engine->model->endpoint},
                                         {PAWL_HEADER_AUDIT_MACHINE, engine->audit->machine},
                                         {PAWL_HEADER_AUDIT_STARTED, pawl_text_of(started)},
                                         {PAWL_HEADER_AUDIT_ENDED, pawl_text_of(ended)},
                                         {PAWL_HEADER_AUDIT_ID, unit->message.id},
                                         {PAWL_HEADER_AUDIT_EXPIRES, expires},
                                         {NULL, {.data = NULL}}};
    if (code == PAWL_OK)
        code = pawl__headers_change(all, ends, values, batch->arena, headers);
    if (code == PAWL_OK && headers->size > PAWL_HEADERS_SIZE_MAX)
        code = pawl__headers_change(all, ends, none, batch->arena, headers);
    return code;
}

static pawl_code make_copy(pawl__batch *batch, const pawl__unit *unit, pawl_outbox_add *add)
{
    pawl__engine *engine = batch->engine;
    *add                 = (pawl_outbox_add){.unit        = unit->index,
                                             .group       = pawl__group_of(batch, unit->index),
                                             .dispatch_id = {pawl_uuid_v7(engine->random, engine->machine_now)},
                                             .endpoint    = engine->model->endpoint,
                                             .destination = PAWL_TEXT(PAWL__AUDIT_ROUTE),
                                             .message     = unit->message,
                                             .due         = engine->is_virtual ? unit->now : 0,
                                             .at          = engine->machine_now};
    if (!engine->audit->keeps_id)
        add->message.id = pawl__arena_uuid(batch->arena, add->dispatch_id.uuid);
    return add->message.id.data != NULL ? make_headers(batch, unit, &add->message.headers)
                                        : PAWL_ENOMEM;
}

pawl_code pawl__audit_put(pawl__batch *batch)
{
    size_t           copies = count_copies(batch);
    size_t           count  = batch->changes.outbox_add.count;
    pawl_code        code   = PAWL_OK;
    pawl_outbox_add *items  = pawl_arena_take(batch->arena, (count + copies + 1) * sizeof *items);
    if (items == NULL)
        return PAWL_ENOMEM;
    if (count > 0)
        memcpy(items, batch->changes.outbox_add.items, count * sizeof *items);
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++)
        if (is_copied(&batch->units[i]))
            code = make_copy(batch, &batch->units[i], &items[count++]);
    batch->changes.outbox_add.items = items;
    batch->changes.outbox_add.count = count;
    return code;
}
