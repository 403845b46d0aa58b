/* timeout_settle.c - `pawl timeout cancel|move|reap|run-now|set`: changes timeouts.
 *
 * Timeouts are selected before the question, then changed in the loop of bulk_loop.h. A timeout that is set meanwhile
 * is not selected; one that is set again meanwhile is left as it is. Each commit has an event that records who changed
 * which timeouts, and why.
 *
 * `set` sets a timeout for a saga, such as one that nothing would wake any more. With --app the saga has to exist, and
 * the program's tables say whether it handles the name, and in which queue. Without it the options are not checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include "workflow/model.h"

#include <string.h>

#define NAMES_MAX 32 /* of timeouts, in a suggestion */

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
    pawl_code code =
        pawl__bulk_words_check(&fields->words, "timeout", "IDs", "timeouts", has_filter, error);
    if (code == PAWL_OK && kind_of(fields)->action == PAWL_AMEND_MOVE &&
        (fields->by == 0) == (fields->to == 0))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout move needs --by DURATION or --to TIME, one of them");
    return code;
}

/* ---- Settling ------------------------------------------------------------------ */

/* A page of the selection. */
typedef struct page {
    pawl_timeout_rows rows;
    struct page      *next;
} page;

typedef struct settling {
    pawl__bulk_loop      loop;
    pawl__timeout_cursor cursor;
    pawl__view           view; /* of expired leases */
    page                *first, *page;
    pawl_timeout_amend   amend;
} settling;

static pawl_code next_page(void *context, size_t size, size_t *count, bool *is_last,
                           pawl_error *error)
{
    settling *it = context;
    (void)size, (void)error;
    it->page = it->page == NULL ? it->first : it->page->next;
    *count   = it->page->rows.count;
    *is_last = it->page->next == NULL;
    return PAWL_OK;
}

static pawl_code settle_rows(void *context, size_t first, size_t count, size_t *done,
                             pawl_error *error)
{
    settling *it   = context;
    pawl_code code = pawl_store_timeout_amend(it->cursor.store, it->page->rows.items + first, count,
                                              &it->amend, pawl_clock_now(NULL), done, error);
    it->loop.left[0].count += code == PAWL_OK ? count - *done : 0;
    return code;
}

static bool is_told(const settling *it)
{
    return it->amend.action == PAWL_AMEND_REAP && !it->loop.words->is_json;
}

/* For reap: prints the timeouts with an expired lease, and who holds it. A named one without such a lease
 * stays in the selection, and is counted as left alone. */
static pawl_code show_expired(settling *it, const pawl_timeout_rows *rows, pawl_arena *arena,
                              pawl_error *error)
{
    const pawl__timeout_fields *fields = it->cursor.fields;
    pawl__shown_timeout        *shown  = NULL;
    size_t                      count  = 0;
    pawl_timeout_row *expired = pawl__must_take(arena, (rows->count + 1) * sizeof *expired);
    for (size_t i = 0; i < rows->count; i++)
        if (pawl__timeout_is_expired(&rows->items[i], it->view.now))
            expired[count++] = rows->items[i];
    it->view.arena = arena;
    pawl_code code =
        pawl__timeout_shown(fields, it->cursor.store, expired, count, arena, &shown, error);
    return code == PAWL_OK ? pawl__rows_print(&it->view, shown, count) : code;
}

/* Reads the whole selection before any change, since moved timeouts would be read again. A dry run only counts. */
static pawl_code select_all(settling *it, pawl_arena *arena, pawl_error *error)
{
    pawl_arena *passing = pawl__must_create(); /* of one page */
    page      **next    = &it->first;
    pawl_code   code    = PAWL_OK;
    while (code == PAWL_OK) {
        pawl_timeout_rows rows;
        pawl_arena_reset(passing);
        code = pawl__timeout_page(&it->cursor, PAWL__BULK_PAGE,
                                  it->loop.words->is_dry ? passing : arena, &rows, error);
        if (code == PAWL_OK && is_told(it))
            code = show_expired(it, &rows, passing, error);
        if (code != PAWL_OK || rows.count == 0)
            break;
        it->loop.total += rows.count;
        if (it->loop.words->is_dry)
            continue;
        *next  = pawl__must_take(arena, sizeof **next);
        **next = (page){.rows = rows};
        next   = &(*next)->next;
    }
    pawl_arena_destroy(passing);
    return code;
}

static pawl_code select_rows(settling *it, pawl_arena *arena, pawl_error *error)
{
    if (it->loop.words->is_all)
        return select_all(it, arena, error);
    it->first       = pawl__must_take(arena, sizeof *it->first);
    it->first->next = NULL;
    pawl_code code  = pawl__timeout_named(&it->cursor, arena, &it->first->rows, error);
    it->loop.total  = it->first->rows.count;
    return code == PAWL_OK && is_told(it) ? show_expired(it, &it->first->rows, arena, error) : code;
}

pawl_code pawl__timeout_settle(const void *context, pawl_store *store, pawl_arena *arena,
                               pawl_error *error)
{
    const pawl__timeout_fields *fields   = context;
    const settle_kind          *kind     = kind_of(fields);
    bool                        is_shift = kind->action == PAWL_AMEND_MOVE && fields->by != 0;
    settling                    it       = {
                                 .amend = {.action = is_shift ? PAWL_AMEND_SHIFT : kind->action,
                                           .due    = fields->to,
                                           .shift  = fields->by,
                                           .by     = pawl__user(),
                                           .reason = pawl_text_of(fields->words.reason)},
                                 .view = pawl__view_of(&pawl__timeout_leases, fields->words.is_json, arena),
                                 .loop = {.at       = &fields->at,
                                          .words    = &fields->words,
                                          .question = kind->question,
                                          .noun     = "timeout",
                                          .ending   = kind->ending,
                                          .done     = kind->done,
                                          .key      = kind->key,
                                          .page     = next_page,
                                          .settle   = settle_rows,
                                          .left     = {{"left", 0, kind->left, kind->left}}},
    };
    pawl_code code      = pawl__timeout_cursor_begin(fields, store, arena, &it.cursor, error);
    it.cursor.is_brief  = true;
    it.cursor.lease_max = kind->action == PAWL_AMEND_REAP ? it.view.now : 0;
    it.loop.context     = &it;
    if (code == PAWL_OK)
        code = select_rows(&it, arena, error);
    pawl__timeout_cursor_end(&it.cursor);
    return code == PAWL_OK ? pawl__bulk_loop_run(&it.loop, error) : code;
}

/* ---- Set: its words --------------------------------------------------------- */

pawl_code pawl__timeout_set_check(const pawl__timeout_fields *fields, pawl_error *error)
{
    pawl_text type, value;
    if (fields->saga == NULL || fields->name == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set needs --saga TYPE/VALUE and --name NAME");
    if ((fields->by == 0) == (fields->to == 0))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set needs --by DURATION or --to TIME, one of them");
    if (!pawl__saga_split(NULL, pawl_text_of(fields->saga), &type, &value))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set: --saga %.200s: give TYPE/VALUE, or TYPE/ID",
                              fields->saga);
    if (fields->book.app == NULL && fields->destination == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout set needs --app APP.so, or --destination and the "
                              "saga as TYPE/ID");
    return PAWL_OK;
}

/* ---- Set: the saga ------------------------------------------------------------------ */

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
                          PAWL_TEXT_ARGS(type), fields->book.app, fields->name, hint);
}

/* With --app: the saga has to exist, and to handle the name. */
static pawl_code find_by_program(const pawl__timeout_fields *fields, pawl_store *store,
                                 pawl_text type, pawl_text value, pawl_arena *arena,
                                 pawl_timeout_row *row, pawl_error *error)
{
    const pawl_saga_table *table = NULL;
    const pawl__model     *model = pawl__saga_model_of(&fields->book, type);
    pawl_saga_row          saga;
    if (model == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s has no saga '%.*s'", fields->book.app,
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
    (void)pawl__saga_split(&fields->book.tables, pawl_text_of(fields->saga), &row->saga_type,
                           &value);
    return fields->book.app != NULL
               ? find_by_program(fields, store, row->saga_type, value, arena, row, error)
               : pawl_uuid_parse(value, &row->saga_id.uuid, error);
}

/* ---- Setting -------------------------------------------------------------------- */

/* If the saga has a timeout of this name already, keeps its id and its headers, which name the process and the queue
 * that waits for a reply. `*was`: when it was due, or 0. */
static pawl_code find_own(pawl_store *store, pawl_timeout_row *row, pawl_time *was,
                          pawl_arena *arena, pawl_error *error)
{
    pawl_timeout_rows rows = {.count = 0};
    pawl_code         code = pawl_store_timeout_list(store, row->saga_id, 0, arena, &rows, error);
    const pawl_timeout_row *own =
        PAWL__ROW_OF(pawl_timeout_row, name, rows.items, rows.count, row->name);
    if (own != NULL) {
        row->id             = own->id;
        row->headers        = own->headers;
        row->correlation_id = own->correlation_id;
        *was                = own->due;
    }
    return code;
}

static pawl_code print_set(const pawl__timeout_fields *fields, const pawl_timeout_row *row,
                           pawl_time was, pawl_time now)
{
    char id[PAWL_UUID_TEXT_SIZE + 1], due[PAWL_TIME_TEXT_SIZE + 1], before[PAWL_TIME_TEXT_SIZE + 1],
        age[PAWL__SPAN_SIZE];
    pawl_uuid_format(row->id.uuid, id);
    pawl_time_format(row->due, due);
    pawl_time_format(was, before);
    return pawl__done_print(fields->words.is_json,
                            PAWL__FACTS({.key = "set", .number = 1}, {.key = "id", .text = id},
                                        {.key = "due", .text = due},
                                        {.key = "was_due", .text = before, .is_null = was == 0}),
                            "set timeout %s of %s for %.*s, due %s%s%s", fields->name, fields->saga,
                            PAWL_TEXT_ARGS(row->destination), pawl__age_text(row->due, now, age),
                            was != 0 ? "; before, it was due at " : "", was != 0 ? before : "");
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
