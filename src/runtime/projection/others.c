/* others.c - finds events that another program's projection of the same name takes, but this program's does not.
 *
 * Example: in a rolling deployment only the new program has a handler for a type, but both share one checkpoint, so an
 * event that the old program skips would never reach the new one. So a program stops before such an event, and gives up
 * the lease, while the row of a live worker says that its program projects the type (E28).
 *
 * Workers are listed after the events were read, and a program writes its row before it has any effect: so no event of
 * a type that came with the new program is skipped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/projection/projection.h"

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

pawl_code pawl__events_of_others(pawl__worker *worker, const pawl__reader *reader,
                                 pawl_event_rows *rows, pawl_error *error)
{
    pawl_worker_info *others = NULL;
    size_t            i = 0, count = 0;
    while (i < rows->count &&
           pawl__model_projection_on(reader->model, rows->items[i].event.type) != NULL)
        i++;
    if (i == rows->count)
        return PAWL_OK;
    pawl_code code = list_others(worker, reader, &others, &count, error);
    for (; i < rows->count && code == PAWL_OK && count > 0; i++) {
        pawl_text type = rows->items[i].event.type;
        if (pawl__model_projection_on(reader->model, type) != NULL)
            continue;
        pawl_text quoted =
            pawl_arena_printf(worker->read, "\"" PAWL__PROJECTION_TYPE "\"",
                              PAWL_TEXT_ARGS(reader->model->name), PAWL_TEXT_ARGS(type));
        if (quoted.data == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "no memory for the name of a type");
        for (size_t j = 0; j < count && i < rows->count; j++)
            if (pawl__types_list(others[j].types, quoted))
                rows->count = i;
    }
    return code;
}
