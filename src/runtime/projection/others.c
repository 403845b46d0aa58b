/* others.c - finds events that another program's projection of the same name takes, but this program's does not: it has
 * no handler for the type, or does not read the version of the record.
 *
 * Example: in a rolling deployment only the new program has a handler for a type, but both share one checkpoint, so an
 * event that the old program skips would never reach the new one; and at an event that the old one cannot read it would
 * stand still. So a program stops before such an event, and gives up the lease, while the row of a live worker says
 * that its program takes it (E28).
 *
 * Workers are listed after the events were read, and a program writes its row before it has any effect: so no event of
 * a type that came with the new program is skipped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/projection/projection.h"

#include "record/record_internal.h"

#include <stdio.h>
#include <string.h>

/* Live workers of other programs that have a projection of this name; the read arena holds them. */
static pawl_code list_others(pawl__worker *worker, const pawl__reader *reader,
                             pawl_worker_info **others, size_t *count, pawl_error *error)
{
    pawl_text own    = worker->endpoint->model->types_json;
    pawl_text begins = pawl_arena_printf(worker->read, "\"" PAWL__PROJECTION_TYPE,
                                         PAWL_TEXT_ARGS(reader->model->name), 0, "");
    size_t    listed = 0;
    *count           = 0;
    if (begins.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the name of a projection");
    pawl_code code = pawl_store_worker_list(worker->store, worker->read, others, &listed, error);
    for (size_t i = 0; i < listed && code == PAWL_OK; i++) {
        pawl_text types = (*others)[i].types;
        if (!pawl_text_equal(types, own) && pawl__types_list(types, begins))
            (*others)[(*count)++] = (*others)[i];
    }
    return code;
}

/* Is there a handler here that reads the event? */
static bool is_read_here(const pawl__projection_on *on, const pawl_event *event)
{
    return on != NULL && pawl__record_reads(on->event, event->type_version);
}

/* Does a program with this list of types read the version? `versions`: what stands before the versions in the list. */
static bool is_read_there(pawl_text types, pawl_text versions, int version)
{
    int         first = 1, last = 1;
    const char *found = strstr(types.data, versions.data);
    if (found != NULL && sscanf(found + versions.size, PAWL__VERSIONS "\"", &first, &last) != 2)
        first = last = 1;
    return first <= version && version <= last;
}

/* Does one of the others take the event? If there is no handler here, one that does not read its version takes it, too:
 * the event must not be passed over. */
static pawl_code find_taker(pawl__worker *worker, const pawl__reader *reader,
                            const pawl_event *event, const pawl_worker_info *others, size_t count,
                            bool *is_found, pawl_error *error)
{
    bool      has_handler = pawl__model_projection_on(reader->model, event->type) != NULL;
    pawl_text quoted =
        pawl_arena_printf(worker->read, "\"" PAWL__PROJECTION_TYPE "\"",
                          PAWL_TEXT_ARGS(reader->model->name), PAWL_TEXT_ARGS(event->type));
    pawl_text versions =
        pawl_arena_printf(worker->read, "\"" PAWL__PROJECTION_TYPE " ",
                          PAWL_TEXT_ARGS(reader->model->name), PAWL_TEXT_ARGS(event->type));
    *is_found = false;
    if (quoted.data == NULL || versions.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the name of a type");
    for (size_t i = 0; i < count && !*is_found; i++)
        *is_found = pawl__types_list(others[i].types, quoted) &&
                    (!has_handler || is_read_there(others[i].types, versions, event->type_version));
    return PAWL_OK;
}

pawl_code pawl__events_of_others(pawl__worker *worker, const pawl__reader *reader,
                                 pawl_event_rows *rows, pawl_error *error)
{
    pawl_worker_info *others    = NULL;
    size_t            count     = 0;
    bool              is_listed = false, is_found = false;
    pawl_code         code = PAWL_OK;
    for (size_t i = 0; i < rows->count && code == PAWL_OK; i++) {
        const pawl_event *event = &rows->items[i].event;
        if (is_read_here(pawl__model_projection_on(reader->model, event->type), event))
            continue;
        if (!is_listed)
            code = list_others(worker, reader, &others, &count, error);
        is_listed = true;
        if (code == PAWL_OK && count > 0)
            code = find_taker(worker, reader, event, others, count, &is_found, error);
        if (is_found)
            rows->count = i;
    }
    return code;
}
