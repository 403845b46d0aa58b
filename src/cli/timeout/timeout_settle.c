/* timeout_settle.c - `pawl timeout cancel|move|reap|run-now`.
 *
 * The selection is taken first and asked about, then worked off in the loop of bulk_loop.h; what is set
 * meanwhile is not of it, and what is set anew meanwhile is left alone. Each commit leaves an event that
 * says who, why and which.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include "cli/cli.h"

#include <string.h>

typedef struct settle_kind {
    const char       *name;
    pawl_amend_action action;
    const char       *key; /* in JSON */
    const char       *done;
    const char       *question; /* "%s 12 timeouts of URL%s?" */
    const char       *ending;
    const char       *left; /* why some are left alone */
} settle_kind;

#define LEFT "left as they were: fired, cancelled or set anew meanwhile"
static const settle_kind kinds[] = {
    {"cancel", PAWL_AMEND_CANCEL, "cancelled", "cancelled", "cancel", ", for good", LEFT},
    {"move", PAWL_AMEND_MOVE, "moved", "moved", "move", "", LEFT},
    {"reap", PAWL_AMEND_REAP, "reaped", "reaped", "clear expired leases of", "",
     "left as they were: no lease that ran out"},
    {"run-now", PAWL_AMEND_RUN_NOW, "run_now", "run now", "let", " fire now", LEFT},
};

static const settle_kind *kind_of(const pawl__timeout_fields *fields)
{
    const settle_kind *kind = kinds;
    while (strcmp(kind->name, fields->words.action) != 0)
        kind++;
    return kind;
}

/* ---- Words ------------------------------------------------------------------- */

pawl_code pawl__timeout_settle_check(const pawl__timeout_fields *fields, pawl_error *error)
{
    bool has_filter = fields->destination != NULL || fields->name != NULL || fields->saga != NULL ||
                      fields->saga_type != NULL || fields->since != 0 || fields->until != 0;
    pawl_code code = pawl__bulk_words_check(&fields->words, "IDs", "timeouts", has_filter, error);
    if (code != PAWL_OK)
        return code;
    if (kind_of(fields)->action == PAWL_AMEND_MOVE && (fields->by == 0) == (fields->to == 0))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout move needs --by DURATION or --to TIME, one of them");
    return pawl__reason_check(fields->words.reason, error);
}

/* ---- Settling ------------------------------------------------------------------ */

typedef struct settling {
    pawl__bulk_loop    loop;
    pawl_store        *store;
    pawl_timeout_rows  rows;
    pawl_timeout_amend amend;
} settling;

static pawl_code settle_rows(void *context, size_t first, size_t count, size_t *done,
                             pawl_error *error)
{
    settling *it   = context;
    pawl_code code = pawl_store_timeout_amend(it->store, it->rows.items + first, count, &it->amend,
                                              pawl_clock_now(NULL), done, error);
    it->loop.left[0].count += code == PAWL_OK ? count - *done : 0;
    return code;
}

/* Of reap: the timeouts whose lease ran out, and says whose they are. A named one without such a lease
 * stays in the selection, and is said to be left alone. */
static pawl_code show_expired(const pawl__timeout_fields *fields, pawl_store *store,
                              pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_time now   = pawl_clock_now(NULL);
    size_t    count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (!pawl_uuid_is_zero(rows->items[i].owner.uuid) && rows->items[i].lease_expires <= now)
            rows->items[count++] = rows->items[i];
    if (fields->words.is_all)
        rows->count = count;
    return count > 0 && !fields->words.is_json
               ? pawl__timeout_print_leases(fields, store, rows->items, count, arena, error)
               : PAWL_OK;
}

pawl_code pawl__timeout_settle(const void *context, pawl_store *store, pawl_arena *arena,
                               pawl_error *error)
{
    const pawl__timeout_fields *fields = context;
    const settle_kind          *kind   = kind_of(fields);
    settling                    it     = {.store = store,
                                          .amend = {.action = kind->action,
                                                    .due    = fields->to,
                                                    .shift  = fields->by,
                                                    .by     = pawl__user(),
                                                    .reason = pawl_text_of(fields->words.reason)}};
    pawl_code code = pawl__timeout_select(fields, 0, store, arena, &it.rows, error);
    if (kind->action == PAWL_AMEND_MOVE && fields->by != 0)
        it.amend.action = PAWL_AMEND_SHIFT;
    if (code == PAWL_OK && kind->action == PAWL_AMEND_REAP)
        code = show_expired(fields, store, arena, &it.rows, error);
    if (code != PAWL_OK)
        return code;
    it.loop = (pawl__bulk_loop){.at       = &fields->at,
                                .words    = &fields->words,
                                .question = kind->question,
                                .noun     = "timeout",
                                .ending   = kind->ending,
                                .done     = kind->done,
                                .key      = kind->key,
                                .settle   = settle_rows,
                                .context  = &it,
                                .total    = it.rows.count,
                                .left     = {{"left", 0, kind->left, kind->left}}};
    return pawl__bulk_loop_run(&it.loop, error);
}
