/* verify_upgrade.c - `pawl saga verify-upgrade`: can a new program go on with what is stored?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_FOUND 1

/* A program, and the look at it. */
typedef struct program {
    pawl__loaded  loaded;
    pawl_upgrade *upgrade;
} program;

static pawl_code load(const pawl__saga_fields *fields, const char *path, program *made,
                      pawl_error *error)
{
    pawl_code code = pawl__application_load(path, &made->loaded, error);
    if (code != PAWL_OK)
        return code;
    code =
        pawl_upgrade_create(made->loaded.application, fields->saga_prefix, &made->upgrade, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "%s", path);
}

static void unload(program *made)
{
    pawl_upgrade_destroy(made->upgrade);
    pawl__application_unload(&made->loaded);
}

static bool has_table(const pawl_upgrade *upgrade, pawl_text name)
{
    size_t                        count;
    const pawl_saga_table *const *tables = pawl_upgrade_tables(upgrade, &count);
    for (size_t i = 0; i < count; i++)
        if (pawl_text_equal(tables[i]->name, name))
            return true;
    return false;
}

static void report_lost(const pawl_saga_table *table, int64_t rows, pawl__verify_report *report)
{
    char text[300];
    snprintf(text, sizeof text, "%" PRId64 " live row%s in table %.*s", rows, rows == 1 ? "" : "s",
             PAWL_TEXT_ARGS(table->name));
    pawl__verify_add(&(pawl_upgrade_found){.reason = PAWL_UPGRADE_REMOVED,
                                           .kind   = "saga",
                                           .type   = table->type,
                                           .text   = pawl_text_of(text)},
                     report);
}

/* Sagas of tables that the old program alone has: no walk of the new one's comes by them. A table
 * that is not there has none. */
static pawl_code count_lost(const program *old, const program *new, pawl_store *store,
                            pawl__verify_report *report, pawl_error *error)
{
    size_t                        count;
    const pawl_saga_table *const *tables = pawl_upgrade_tables(old->upgrade, &count);
    for (size_t i = 0; i < count; i++) {
        int64_t rows = 0;
        if (has_table(new->upgrade, tables[i]->name))
            continue;
        pawl_code code = pawl_store_saga_count(store, tables[i], &rows, error);
        if (code != PAWL_OK && code != PAWL_ESCHEMA)
            return code;
        if (code == PAWL_OK && rows > 0)
            report_lost(tables[i], rows, report);
    }
    return PAWL_OK;
}

static pawl_code look_at_store(const pawl__saga_fields *fields, const program *old,
                               const program *new, pawl__verify_report *report, pawl_error *error)
{
    pawl_store        *store   = NULL;
    pawl_arena        *arena   = pawl__must_create();
    pawl_store_options options = pawl__store_options(&fields->at, PAWL_OPEN_EXISTING);
    pawl_code          code    = pawl_store_open(fields->at.store, &options, &store, error);
    if (code == PAWL_OK)
        code = pawl__verify_rows(fields, store, new->upgrade, report, arena, error);
    if (code == PAWL_OK && old->upgrade != NULL)
        code = count_lost(old, new, store, report, error);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return code;
}

static pawl_code verify(const pawl__saga_fields *fields, pawl__verify_report *report,
                        pawl_error *error)
{
    program new = {.upgrade = NULL}, old = {.upgrade = NULL};
    pawl_code code = load(fields, fields->application, &new, error);
    if (code == PAWL_OK && fields->from != NULL)
        code = load(fields, fields->from, &old, error);
    if (code == PAWL_OK && fields->from != NULL)
        code = pawl_upgrade_compare(old.upgrade, new.upgrade, report->arena, pawl__verify_add,
                                    report, error);
    if (code == PAWL_OK && fields->from != NULL)
        pawl_upgrade_from(new.upgrade, old.upgrade);
    if (code == PAWL_OK && fields->at.store != NULL)
        code = look_at_store(fields, &old, &new, report, error);
    if (code == PAWL_OK)
        code = pawl__verify_print(report, fields->is_json);
    unload(&old);
    unload(&new);
    return code;
}

static pawl_code check_members(const char *option, const pawl__texts *list, pawl_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        if (strchr(list->items[i], '.') == NULL)
            return pawl_error_set(error, PAWL_EINVAL, "%s: '%s' is no TYPE.MEMBER", option,
                                  list->items[i]);
    return PAWL_OK;
}

/* Without a store the tables of two programs alone are compared. */
pawl_code pawl__verify_check(pawl__saga_fields *fields, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (fields->application == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl saga verify-upgrade needs --app NEW.so, the program that is to "
                              "go on");
    code = check_members("--removed", &fields->removed, error);
    if (code == PAWL_OK)
        code = check_members("--intended", &fields->intended, error);
    if (code != PAWL_OK)
        return code;
    if (fields->from == NULL || getenv("PAWL_STORE") != NULL)
        code = pawl__store_url(&fields->at, error);
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
            count == 1 ? "" : "s");
    return EXIT_FOUND;
}

/* Where an interrupted run is gone on with. */
static void prepare_interrupt(const pawl__saga_fields *fields)
{
    static char text[400];
    pawl__interrupt_says(NULL);
    if (fields->resume == NULL)
        return;
    snprintf(text, sizeof text, "nothing was written to the store; the same call goes on from %s",
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
