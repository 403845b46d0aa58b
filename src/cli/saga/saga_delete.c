/* saga_delete.c - `pawl saga delete`: ends a saga, with its timeouts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include <inttypes.h>

#define SHOWN_MAX 200    /* bytes of the saga's name in a question */
#define OUTBOX_MAX 10000 /* rows that are counted */
#define LIVE_STATES (1U << PAWL_OUTBOX_PENDING | 1U << PAWL_OUTBOX_BLOCKED | 1U << PAWL_OUTBOX_DEAD)

typedef struct doomed {
    const pawl_saga_table *table;
    pawl_saga_row          row;
    char                   id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_text              source; /* of its outbox rows */
    size_t                 outbox; /* rows that are not delivered */
    int64_t                timeouts;
} doomed;

/* Rows of the outbox are messages that the saga sent: they go on without it. */
static pawl_code count_outbox(pawl_store *store, doomed *it, pawl_arena *arena, pawl_error *error)
{
    pawl_outbox_rows rows = {.count = 0};
    pawl_uuid_format(it->row.id.uuid, it->id);
    it->source = pawl__must_printf(arena, "%.*s/%s", PAWL_TEXT_ARGS(it->table->type), it->id);
    const pawl_outbox_query query = {
        .states = LIVE_STATES, .source = it->source, .count_max = OUTBOX_MAX};
    pawl_code code = pawl_store_outbox_find(store, &query, arena, &rows, error);
    it->outbox     = rows.count;
    return code;
}

static pawl_code ask(const pawl__saga_fields *fields, const doomed *it, pawl_error *error)
{
    char url[PAWL_URL_SIZE_MAX + 1], question[PAWL_URL_SIZE_MAX + SHOWN_MAX + 100];
    if (fields->is_agreed)
        return PAWL_OK;
    snprintf(question, sizeof question,
             "delete saga %.*s, version %" PRId64 ", with its timeouts in %s, for good?", SHOWN_MAX,
             fields->shown, it->row.version, pawl__masked(fields->at.store, url, sizeof url));
    return pawl__agree("delete", "deleted", question, error);
}

static void print_text(const pawl__saga_fields *fields, const doomed *it)
{
    printf("deleted saga %s, id %s, version %" PRId64 ", with %" PRId64 " timeout%s\n",
           fields->shown, it->id, it->row.version, it->timeouts, it->timeouts == 1 ? "" : "s");
    if (it->outbox > 0)
        printf("%zu message%s that it sent %s still in the outbox, and delivered as ever: `pawl "
               "outbox list --source '%.*s'`\n",
               it->outbox, it->outbox == 1 ? "" : "s", it->outbox == 1 ? "is" : "are",
               PAWL_TEXT_ARGS(it->source));
    printf("messages that are queued for it find no saga: those that begin one begin it anew, the "
           "others are handled as .not_found says\n");
}

pawl_code pawl__saga_delete(const void *context, pawl_store *store, pawl_arena *arena,
                            pawl_error *error)
{
    const pawl__saga_fields *fields = context;
    doomed                   it     = {.table = NULL};
    pawl_text                type, value;
    (void)pawl__saga_split(pawl_text_of(fields->shown), &type, &value);
    pawl_code code = pawl__saga_type_check(fields, type, error);
    if (code == PAWL_OK)
        code = pawl__saga_find(store, &fields->book.tables, type, value, arena, &it.table, &it.row,
                               error);
    if (code == PAWL_OK && it.table == NULL)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no saga %s", fields->shown);
    if (code == PAWL_OK)
        code = count_outbox(store, &it, arena, error);
    if (code == PAWL_OK)
        code = ask(fields, &it, error);
    if (code == PAWL_OK)
        code = pawl_store_saga_remove(store, it.table, &it.row, pawl__user(),
                                      pawl_text_of(fields->reason), pawl_clock_now(NULL),
                                      &it.timeouts, error);
    if (code != PAWL_OK)
        return code;
    if (fields->is_json)
        return pawl__facts_print(PAWL__FACTS({.key = "deleted", .text = fields->shown},
                                             {.key = "id", .text = it.id},
                                             {.key = "version", .number = it.row.version},
                                             {.key = "timeouts", .number = it.timeouts},
                                             {.key = "outbox", .number = (int64_t)it.outbox}));
    print_text(fields, &it);
    return PAWL_OK;
}
