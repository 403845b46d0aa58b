/* verify_upgrade_rows.c - all rows of a store, page by page, no faster than asked for.
 *
 * A stage is a kind of rows, or the sagas of one table. A page is a call of its own: no
 * transaction is open between two, so that the store's own work goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include "cli/bulk/bulk_loop.h"

#include <string.h>

#define PAGE 256

typedef struct run {
    const pawl__saga_fields *fields;
    pawl_store              *store;
    pawl_upgrade            *upgrade;
    pawl__verify_report     *report;
    pawl_arena              *arena; /* of a page */
    pawl__verify_cursor      cursor;
    char                     stage[300];
    int64_t                  total;       /* rows that the store says it has; events not counted */
    int64_t                  begun, rows; /* when this run began, and what it has looked at */
    int64_t                  written;     /* when the cursor was */
} run;

/* Every second, so that an interrupted run repeats no more than that. */
static pawl_code write_cursor(run *it, pawl_error *error)
{
    int64_t now = pawl__steady_now();
    if (it->fields->resume == NULL || now - it->written < 1000000)
        return PAWL_OK;
    it->written = now;
    return pawl__verify_resume_write(it->fields->resume, &it->cursor, it->report, error);
}

static pawl_code count_rows(run *it, pawl_error *error)
{
    pawl_stats                    stats = {.stats_size = sizeof stats, .count_max = INT64_MAX};
    size_t                        count;
    const pawl_saga_table *const *tables = pawl_upgrade_tables(it->upgrade, &count);
    pawl_code code = pawl_store_stats(it->store, pawl_clock_now(NULL), it->arena, &stats, error);
    if (code != PAWL_OK)
        return code;
    it->total = stats.timeouts_pending + stats.outbox_pending + stats.outbox_blocked +
                stats.outbox_dead + stats.aggregator_rows + stats.dead;
    for (size_t i = 0; i < stats.queue_count; i++)
        it->total += stats.queues[i].ready + stats.queues[i].scheduled;
    for (size_t i = 0; i < count; i++) {
        int64_t sagas = 0;
        if (pawl_store_saga_count(it->store, tables[i], &sagas, NULL) == PAWL_OK)
            it->total += sagas;
    }
    return PAWL_OK;
}

static void show_progress(const run *it)
{
    int64_t done = it->report->rows;
    pawl__progress("checked", done, done <= it->total ? it->total : 0);
}

/* The key of the row, with texts that outlive the page: the last one's are overwritten. */
static pawl_code keep_key(run *it, const pawl_scan_row *row, pawl_error *error)
{
    static char belongs_to[PAWL_SOURCE_SIZE_MAX + 1], id[PAWL_MESSAGE_ID_SIZE_MAX + 1];
    if (row->belongs_to.size >= sizeof belongs_to || row->message.id.size >= sizeof id)
        return pawl_error_set(error, PAWL_EBUG, "a name of %zu bytes", row->belongs_to.size);
    it->cursor.row = (pawl_scan_row){.id = row->id, .number = row->number};
    memcpy(belongs_to, row->belongs_to.data != NULL ? row->belongs_to.data : "",
           row->belongs_to.size);
    memcpy(id, row->message.id.data != NULL ? row->message.id.data : "", row->message.id.size);
    it->cursor.row.belongs_to = (pawl_text){.data = belongs_to, .size = row->belongs_to.size};
    it->cursor.row.message.id = (pawl_text){.data = id, .size = row->message.id.size};
    return PAWL_OK;
}

static pawl_code look_at_page(run *it, const pawl_scan *walk, const pawl_scan_rows *rows,
                              pawl_error *error)
{
    pawl_code code = pawl_upgrade_rows(it->upgrade, it->store, walk, rows, it->arena,
                                       pawl__verify_add, it->report, error);
    if (code != PAWL_OK || rows->count == 0)
        return code;
    it->report->rows += (int64_t)rows->count;
    it->rows += (int64_t)rows->count;
    code = keep_key(it, &rows->items[rows->count - 1], error);
    if (code == PAWL_OK)
        code = write_cursor(it, error);
    show_progress(it);
    pawl__pace_wait(it->begun, it->rows, it->fields->rate);
    return code;
}

/* `is_behind`: from the cursor's row on. A saga table that is not there has no rows. */
static pawl_code look_at_stage(run *it, pawl_scan walk, bool is_behind, pawl_error *error)
{
    pawl_scan_rows rows;
    pawl_code      code = PAWL_OK;
    walk.count_max      = it->fields->rate < PAGE ? (size_t)it->fields->rate : PAGE;
    do {
        pawl_arena_reset(it->arena);
        walk.after = is_behind ? &it->cursor.row : NULL;
        code       = pawl_store_scan(it->store, &walk, it->arena, &rows, error);
        if (code == PAWL_ESCHEMA && walk.kind == PAWL_SCAN_SAGAS && !is_behind)
            return PAWL_OK;
        if (code == PAWL_OK)
            code = look_at_page(it, &walk, &rows, error);
        is_behind = true;
    } while (code == PAWL_OK && rows.count == walk.count_max);
    return code;
}

/* Stages before that of the cursor were done by an earlier run. */
static pawl_code enter_stage(run *it, const char *name, pawl_scan walk, bool *is_sought,
                             pawl_error *error)
{
    bool is_behind = *is_sought && pawl_text_equal(it->cursor.stage, pawl_text_of(name));
    if (*is_sought && !is_behind)
        return PAWL_OK;
    *is_sought = false;
    snprintf(it->stage, sizeof it->stage, "%s", name);
    it->cursor.stage = pawl_text_of(it->stage);
    return look_at_stage(it, walk, is_behind, error);
}

static pawl_code look_at_all(run *it, pawl_error *error)
{
    static const char *const      names[PAWL_SCAN_KINDS] = {[PAWL_SCAN_QUEUE]    = "queues",
                                                            [PAWL_SCAN_TIMEOUTS] = "timeouts",
                                                            [PAWL_SCAN_OUTBOX]   = "outbox",
                                                            [PAWL_SCAN_EVENTS]   = "events",
                                                            [PAWL_SCAN_STREAM_SNAPSHOTS] = "snapshots",
                                                            [PAWL_SCAN_AGGREGATORS] = "aggregators",
                                                            [PAWL_SCAN_DEAD] = "dead letters"};
    size_t                        count;
    const pawl_saga_table *const *tables    = pawl_upgrade_tables(it->upgrade, &count);
    bool                          is_sought = it->cursor.stage.size > 0;
    pawl_code                     code      = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        char name[300];
        snprintf(name, sizeof name, "sagas %.*s", PAWL_TEXT_ARGS(tables[i]->name));
        const pawl_scan walk = {.kind = PAWL_SCAN_SAGAS, .table = tables[i]};
        code                 = enter_stage(it, name, walk, &is_sought, error);
    }
    for (int kind = PAWL_SCAN_QUEUE; code == PAWL_OK && kind <= PAWL_SCAN_DEAD; kind++)
        code = enter_stage(it, names[kind], (pawl_scan){.kind = (pawl_scan_kind)kind}, &is_sought,
                           error);
    if (code == PAWL_OK && is_sought)
        code = pawl_error_set(error, PAWL_EINPUT, "%s: the application has no '%.*s'",
                              it->fields->resume, PAWL_TEXT_ARGS(it->cursor.stage));
    return code;
}

pawl_code pawl__verify_rows(const pawl__saga_fields *fields, pawl_store *store,
                            pawl_upgrade *upgrade, pawl__verify_report *report, pawl_arena *arena,
                            pawl_error *error)
{
    char      masked[PAWL_URL_SIZE_MAX + 1];
    run       it   = {.fields  = fields,
                      .store   = store,
                      .upgrade = upgrade,
                      .report  = report,
                      .arena   = arena,
                      .begun   = pawl__steady_now(),
                      .cursor  = {.store       = pawl__masked(fields->at.store, masked, sizeof masked),
                                  .application = fields->application}};
    pawl_code code = PAWL_OK;
    if (fields->resume != NULL)
        code = pawl__verify_resume_read(fields->resume, &it.cursor, report, error);
    if (code == PAWL_OK)
        code = count_rows(&it, error);
    if (code == PAWL_OK)
        code = look_at_all(&it, error);
    pawl__progress_end(report->rows);
    if (code == PAWL_OK && fields->resume != NULL)
        (void)remove(fields->resume);
    return code;
}
