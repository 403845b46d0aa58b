/* verify_upgrade.c - `pawl saga verify-upgrade`: checks whether a new program can read all that is stored.
 *
 * Reads all rows of the store page by page, at --rate. A stage is a kind of rows, or the sagas of one table. No
 * transaction is open between two pages, so that the store's normal work is not held up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include "cli/bulk/bulk_loop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_FOUND 1
#define PAGE 256

/* ---- The rows ------------------------------------------------------------- */

typedef struct run {
    const pawl__saga_fields *fields;
    pawl_store              *store;
    pawl_upgrade            *upgrade;
    pawl__verify_report     *report;
    pawl_arena              *arena; /* of a page */
    pawl__verify_cursor      cursor;
    char                     stage[300];
    int64_t total;       /* rows that the store says it has; events not counted; 0: unknown */
    int64_t begun, rows; /* when this run began, and what it has looked at */
    int64_t written;     /* when the cursor was written last */
} run;

/* Writes the cursor once a second, so that a resumed run repeats at most a second of work. */
static pawl_code write_cursor(run *it, pawl_error *error)
{
    int64_t now = pawl__steady_now();
    if (it->fields->resume == NULL || now - it->written < 1000000)
        return PAWL_OK;
    it->written = now;
    return pawl__verify_resume_write(it->fields->resume, &it->cursor, it->report, error);
}

/* Sets the total for the line of progress; 0 if counting fails or stops at the limit of the statistics. */
static void count_rows(run *it)
{
    pawl_stats                    stats = PAWL_STATS_INIT;
    pawl_error                    none  = PAWL_ERROR_INIT;
    size_t                        count;
    const pawl_saga_table *const *tables = pawl_upgrade_tables(it->upgrade, &count);
    if (pawl_store_stats(it->store, pawl_clock_now(NULL), it->arena, &stats, &none) != PAWL_OK)
        return;
    const int64_t counts[] = {stats.timeouts_pending, stats.outbox_pending,  stats.outbox_blocked,
                              stats.outbox_dead,      stats.aggregator_rows, stats.dead};
    int64_t       total = 0, largest = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        total += counts[i];
        largest = counts[i] > largest ? counts[i] : largest;
    }
    for (size_t i = 0; i < stats.queue_count; i++) {
        int64_t of_queue = stats.queues[i].ready + stats.queues[i].scheduled;
        total += of_queue;
        largest = of_queue > largest ? of_queue : largest;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t sagas = 0;
        if (pawl_store_saga_count(it->store, tables[i], &sagas, NULL) == PAWL_OK)
            total += sagas;
    }
    it->total = largest < stats.count_max ? total : 0;
}

/* Keeps the key of the row in the cursor. Its texts are copied to static memory, as the page's arena is reset. */
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

static pawl_code look_at_page(run *it, const pawl_scan *scan, const pawl_scan_rows *rows,
                              pawl_error *error)
{
    pawl_code code = pawl_upgrade_rows(it->upgrade, it->store, scan, rows, it->arena,
                                       pawl__verify_add, it->report, error);
    if (code != PAWL_OK || rows->count == 0)
        return code;
    it->report->rows += (int64_t)rows->count;
    it->rows += (int64_t)rows->count;
    code = keep_key(it, &rows->items[rows->count - 1], error);
    if (code == PAWL_OK)
        code = write_cursor(it, error);
    pawl__progress("checked", it->report->rows, it->report->rows <= it->total ? it->total : 0);
    pawl__pace_wait(&it->begun, it->rows, it->fields->rate);
    return code;
}

/* Reads a stage; `is_behind`: only the rows behind the cursor's. A saga table that does not exist has none. */
static pawl_code look_at_stage(run *it, pawl_scan scan, bool is_behind, pawl_error *error)
{
    pawl_scan_rows rows;
    pawl_code      code = PAWL_OK;
    scan.count_max      = it->fields->rate < PAGE ? (size_t)it->fields->rate : PAGE;
    do {
        pawl_arena_reset(it->arena);
        scan.after = is_behind ? &it->cursor.row : NULL;
        code       = pawl_store_scan(it->store, &scan, it->arena, &rows, error);
        if (code == PAWL_ESCHEMA && scan.kind == PAWL_SCAN_SAGAS && !is_behind)
            return PAWL_OK;
        if (code == PAWL_OK)
            code = look_at_page(it, &scan, &rows, error);
        is_behind = true;
    } while (code == PAWL_OK && rows.count == scan.count_max);
    return code;
}

/* Reads a stage, unless it comes before the cursor's: an earlier run has done those. */
static pawl_code enter_stage(run *it, const char *name, pawl_scan scan, bool *is_sought,
                             pawl_error *error)
{
    bool is_behind = *is_sought && pawl_text_equal(it->cursor.stage, pawl_text_of(name));
    if (*is_sought && !is_behind)
        return PAWL_OK;
    *is_sought = false;
    snprintf(it->stage, sizeof it->stage, "%s", name);
    it->cursor.stage = pawl_text_of(it->stage);
    return look_at_stage(it, scan, is_behind, error);
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
        const pawl_scan scan = {.kind = PAWL_SCAN_SAGAS, .table = tables[i]};
        code                 = enter_stage(it, name, scan, &is_sought, error);
    }
    for (int kind = PAWL_SCAN_QUEUE; code == PAWL_OK && kind <= PAWL_SCAN_DEAD; kind++)
        code = enter_stage(it, names[kind], (pawl_scan){.kind = (pawl_scan_kind)kind}, &is_sought,
                           error);
    if (code == PAWL_OK && is_sought)
        code = pawl_error_set(error, PAWL_EINPUT, "%s: the application has no '%.*s'",
                              it->fields->resume, PAWL_TEXT_ARGS(it->cursor.stage));
    return code;
}

/* Looks at all rows of the store. */
static pawl_code look_at_rows(const pawl__saga_fields *fields, pawl_store *store,
                              pawl_upgrade *upgrade, pawl__verify_report *report, pawl_arena *arena,
                              pawl_error *error)
{
    run       it   = {.fields  = fields,
                      .store   = store,
                      .upgrade = upgrade,
                      .report  = report,
                      .arena   = arena,
                      .begun   = pawl__steady_now()};
    pawl_code code = PAWL_OK;
    if (fields->resume != NULL)
        code = pawl__verify_resume_of(fields, report->arena, &it.cursor, error);
    if (code == PAWL_OK && fields->resume != NULL)
        code = pawl__verify_resume_read(fields->resume, &it.cursor, report, error);
    if (code == PAWL_OK) {
        count_rows(&it);
        code = look_at_all(&it, error);
    }
    pawl__progress_end(report->rows);
    if (code == PAWL_OK && fields->resume != NULL)
        (void)remove(fields->resume);
    return code;
}

/* ---- The programs --------------------------------------------------------- */

static pawl_code load(pawl__saga_book *made, pawl_error *error)
{
    pawl_code code = pawl__saga_book_open(made, error);
    return code == PAWL_OK || made->loaded.application == NULL
               ? code
               : pawl_error_wrap(error, code, "%s", made->app);
}

static bool has_table(const pawl__saga_book *book, pawl_text name)
{
    for (size_t i = 0; i < book->tables.count; i++)
        if (pawl_text_equal(book->tables.items[i]->name, name))
            return true;
    return false;
}

static void report_lost(const pawl_saga_table *table, int64_t rows, pawl__verify_report *report)
{
    char text[300];
    snprintf(text, sizeof text, "%" PRId64 " live row%s in table %.*s", rows, PAWL__PLURAL(rows),
             PAWL_TEXT_ARGS(table->name));
    pawl__verify_add(&(pawl_upgrade_found){.reason = PAWL_UPGRADE_REMOVED,
                                           .kind   = "saga",
                                           .type   = table->type,
                                           .text   = pawl_text_of(text)},
                     report);
}

/* Counts sagas in tables that only the old program has, which are not among the tables of the new
 * one. A table that does not exist has none. */
static pawl_code count_lost(const pawl__saga_book *old, const pawl__saga_book *fresh,
                            pawl_store *store, pawl__verify_report *report, pawl_error *error)
{
    for (size_t i = 0; i < old->tables.count; i++) {
        const pawl_saga_table *table = old->tables.items[i];
        int64_t                rows  = 0;
        if (has_table(fresh, table->name))
            continue;
        pawl_code code = pawl_store_saga_count(store, table, &rows, error);
        if (code != PAWL_OK && code != PAWL_ESCHEMA)
            return code;
        if (code == PAWL_OK && rows > 0)
            report_lost(table, rows, report);
    }
    return PAWL_OK;
}

static pawl_code look_at_store(const pawl__saga_fields *fields, const pawl__saga_book *old,
                               const pawl__saga_book *fresh, pawl__verify_report *report,
                               pawl_error *error)
{
    pawl_store        *store   = NULL;
    pawl_arena        *arena   = pawl__must_create();
    pawl_store_options options = pawl__store_options(&fields->at, PAWL_OPEN_EXISTING);
    pawl_code          code    = pawl_store_open(fields->at.store, &options, &store, error);
    if (code == PAWL_OK)
        code = look_at_rows(fields, store, fresh->upgrade, report, arena, error);
    if (code == PAWL_OK && old->upgrade != NULL)
        code = count_lost(old, fresh, store, report, error);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return code;
}

static pawl_code verify(const pawl__saga_fields *fields, pawl__verify_report *report,
                        pawl_error *error)
{
    pawl__saga_book fresh = {.app = fields->book.app, .prefix = fields->book.prefix};
    pawl__saga_book old   = {.app = fields->from, .prefix = fields->book.prefix};
    pawl_code       code  = load(&fresh, error);
    if (code == PAWL_OK && fields->from != NULL)
        code = load(&old, error);
    if (code == PAWL_OK && fields->from != NULL)
        code = pawl_upgrade_compare(old.upgrade, fresh.upgrade, report->arena, pawl__verify_add,
                                    report, error);
    if (code == PAWL_OK && fields->from != NULL)
        pawl_upgrade_from(fresh.upgrade, old.upgrade);
    if (code == PAWL_OK && fields->at.store != NULL)
        code = look_at_store(fields, &old, &fresh, report, error);
    if (code == PAWL_OK)
        code = pawl__verify_print(report, fields->is_json);
    pawl__saga_book_close(&old);
    pawl__saga_book_close(&fresh);
    return code;
}

static pawl_code check_members(const char *option, const pawl__texts *list, pawl_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        if (strchr(list->items[i], '.') == NULL)
            return pawl_error_set(error, PAWL_EINVAL, "%s: '%s' is not TYPE.MEMBER", option,
                                  list->items[i]);
    return PAWL_OK;
}

/* Without a store only the tables of the two programs are compared. */
pawl_code pawl__verify_check(pawl__saga_fields *fields, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (fields->book.app == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl saga verify-upgrade needs --app NEW.so, the program that is to "
                              "go on");
    code = check_members("--removed", &fields->removed, error);
    if (code == PAWL_OK)
        code = check_members("--intended", &fields->intended, error);
    if (code != PAWL_OK)
        return code;
    if (fields->from == NULL || getenv("PAWL_STORE") != NULL)
        code = pawl__shared_store_url(&fields->at, error);
    if (code == PAWL_OK && fields->resume != NULL && fields->at.store == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--resume: there are no rows to go on with: give --store URL");
    return code;
}

static int found(const pawl__verify_report *report)
{
    size_t count = pawl__verify_findings(report);
    if (count == 0)
        return 0;
    fprintf(stderr, "pawl: %zu finding%s: the program cannot go on with what is stored\n", count,
            PAWL__PLURAL(count));
    return EXIT_FOUND;
}

/* Sets the line of an interrupted run: how to resume it. */
static void prepare_interrupt(const pawl__saga_fields *fields)
{
    static char text[400];
    pawl__interrupt_says(NULL);
    if (fields->resume == NULL)
        return;
    snprintf(text, sizeof text,
             "nothing was written to the store; run the same command to resume from %s",
             fields->resume);
    pawl__interrupt_says(text);
}

int pawl__verify(const pawl__saga_fields *fields)
{
    prepare_interrupt(fields);
    pawl_error          error  = PAWL_ERROR_INIT;
    pawl__verify_report report = {
        .arena = pawl__must_create(), .removed = &fields->removed, .intended = &fields->intended};
    pawl_code code = verify(fields, &report, &error);
    int       exit_code =
        code != PAWL_OK ? pawl__fail_store(code, &error, fields->at.store) : found(&report);
    pawl_arena_destroy(report.arena);
    return exit_code;
}
