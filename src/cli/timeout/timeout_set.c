/* timeout_set.c - `pawl timeout set`: a timeout that an operator sets for a saga, such as one that nothing
 * would wake any more.
 *
 * With the program its tables say whether the saga handles the name, and from which queue; the saga has to
 * be there. Without it the words are taken as they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include "cli/cli.h"
#include "pawl/operations.h"
#include "workflow/model.h"

#include <string.h>

#define NAMES_MAX 32 /* of timeouts, in a suggestion */

/* ---- Words ------------------------------------------------------------------- */

pawl_code pawl__timeout_set_check(const pawl__timeout_fields *fields, pawl_error *error)
{
    pawl_text type, value;
    if (fields->saga == NULL || fields->name == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set needs --saga TYPE/VALUE and --name NAME");
    if ((fields->by == 0) == (fields->to == 0))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set needs --by DURATION or --to TIME, one of them");
    if (!pawl__saga_split(pawl_text_of(fields->saga), &type, &value))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set: --saga %.200s: give TYPE/VALUE, or TYPE/ID",
                              fields->saga);
    if (fields->application == NULL && fields->destination == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set needs --app APP.so, or --destination and the "
                              "saga as TYPE/ID");
    return pawl__reason_check(fields->words.reason, error);
}

/* ---- The saga ------------------------------------------------------------------ */

static pawl_code no_timeout(const pawl__timeout_fields *fields, const pawl__model *model,
                            pawl_text type, pawl_error *error)
{
    char        hint[300];
    const char *names[NAMES_MAX + 1] = {NULL};
    size_t      count                = 0;
    for (size_t i = 0; i < model->timeout_count && count < NAMES_MAX; i++)
        if (pawl_text_equal(model->timeouts[i].saga->table.type, type) &&
            model->timeouts[i].name.size > 0)
            names[count++] = model->timeouts[i].name.data;
    pawl__suggest(fields->name, "", names, hint, sizeof hint);
    return pawl_error_set(error, PAWL_EINVAL, "%.*s of %s handles no timeout '%s'%s",
                          PAWL_TEXT_ARGS(type), fields->application, fields->name, hint);
}

/* By the program: the saga has to be there, and to handle the name. */
static pawl_code find_by_program(const pawl__timeout_fields *fields, pawl_store *store,
                                 pawl_text type, pawl_text value, pawl_arena *arena,
                                 pawl_timeout_row *row, pawl_error *error)
{
    const pawl_saga_table *table = NULL;
    const pawl__model     *model = pawl__saga_model_of(&fields->book, type);
    pawl_saga_row          saga;
    if (model == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s has no saga '%.*s'", fields->application,
                              PAWL_TEXT_ARGS(type));
    if (pawl__model_timeout(model, type, row->name) == NULL)
        return no_timeout(fields, model, type, error);
    pawl_code code =
        pawl__saga_find(store, &fields->book.tables, type, value, arena, &table, &saga, error);
    if (code == PAWL_OK && table == NULL)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no saga %.200s", fields->saga);
    row->saga_id = saga.id;
    if (row->destination.size == 0)
        row->destination = model->queue;
    return code;
}

static pawl_code find_saga(const pawl__timeout_fields *fields, pawl_store *store, pawl_arena *arena,
                           pawl_timeout_row *row, pawl_error *error)
{
    pawl_text value;
    (void)pawl__saga_split(pawl_text_of(fields->saga), &row->saga_type, &value);
    return fields->application != NULL
               ? find_by_program(fields, store, row->saga_type, value, arena, row, error)
               : pawl_uuid_parse(value, &row->saga_id.uuid, error);
}

/* ---- Setting -------------------------------------------------------------------- */

/* A timeout of the name that the saga has is set anew, under its id. `*was`: when it was due, or 0. */
static pawl_code find_own(pawl_store *store, pawl_timeout_row *row, pawl_time *was,
                          pawl_arena *arena, pawl_error *error)
{
    pawl_timeout_rows rows = {.count = 0};
    pawl_code         code = pawl_store_timeout_list(store, row->saga_id, 0, arena, &rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].name, row->name)) {
            row->id = rows.items[i].id;
            *was    = rows.items[i].due;
        }
    return code;
}

static pawl_code print_set(const pawl__timeout_fields *fields, const pawl_timeout_row *row,
                           pawl_time was, pawl_time now)
{
    char id[PAWL_UUID_TEXT_SIZE + 1], due[PAWL_TIME_TEXT_SIZE + 1], before[PAWL_TIME_TEXT_SIZE + 1];
    char age[PAWL__SPAN_SIZE];
    pawl_uuid_format(row->id.uuid, id);
    pawl_time_format(row->due, due);
    pawl_time_format(was, before);
    if (!fields->words.is_json) {
        printf("set timeout %s of %s for %.*s, due %s%s%s\n", fields->name, fields->saga,
               PAWL_TEXT_ARGS(row->destination), pawl__age_text(row->due, now, age),
               was != 0 ? "; before, it was due at " : "", was != 0 ? before : "");
        return PAWL_OK;
    }
    return pawl__facts_print(PAWL__FACTS({.key = "set", .number = 1}, {.key = "id", .text = id},
                                         {.key = "due", .text = due},
                                         {.key = "was_due", .text = before, .is_null = was == 0}));
}

pawl_code pawl__timeout_set(const void *context, pawl_store *store, pawl_arena *arena,
                            pawl_error *error)
{
    const pawl__timeout_fields *fields = context;
    pawl_time                   now = pawl_clock_now(NULL), was = 0;
    pawl_timeout_row            row  = {.name        = pawl_text_of(fields->name),
                                        .destination = pawl_text_of(fields->destination),
                                        .due = fields->by != 0 ? pawl_time_add(now, fields->by) : fields->to};
    pawl_code                   code = find_saga(fields, store, arena, &row, error);
    if (code == PAWL_OK)
        code = find_own(store, &row, &was, arena, error);
    if (code == PAWL_OK)
        code = pawl_store_timeout_set(store, &row, pawl__user(), pawl_text_of(fields->words.reason),
                                      now, &row.id, error);
    return code == PAWL_OK ? print_set(fields, &row, was, now) : code;
}
