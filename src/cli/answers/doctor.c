/* doctor.c - `pawl doctor`: what is wrong with a store, its server and what waits in it, each with its
 * remedy.
 *
 * A check that cannot be made is a finding like others: the page is printed whatever the store is
 * like, and the exit code is that of the findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/doctor.h"
#include "cli/answers/why.h"

#include <string.h>

#define EXIT_FINDINGS 1

typedef struct verb_fields {
    pawl__store_fields at;
    int64_t            transactions;
    const char        *application, *saga_prefix;
    bool               is_thorough;
    bool               is_json;
} verb_fields;

const pawl__argument pawl__doctor_verb_arguments[] = {{.name = NULL}};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__doctor_verb_options[] = {
    OPTION("app", TEXT, application, "APP.so", 0,
           "the program that has the sagas: those that nothing wakes are named"),
    PAWL__OPTION_DEADLINE(verb_fields, at),
    OPTION("json", FLAG, is_json, NULL, 0, "one JSON object on a line each"),
    PAWL__OPTION_PREFIX(verb_fields, at),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, saga_prefix, 0),
    PAWL__OPTION_STORE(verb_fields, at),
    OPTION("thorough", FLAG, is_thorough, NULL, 0,
           "checks that read all of the data, too: that of an SQLite file"),
    OPTION("transactions", DURATION, transactions, "DURATION", 0,
           "transactions that are open for as long are named", .max = PAWL_SECONDS(86400),
           .has_default = true, .value_default = PAWL_SECONDS(60)),
    {.name = NULL},
};

static const char *const level_names[] = {"ok", "warn", "fail"};

#define FINDING(key, kind, member, names_) \
    PAWL__COLUMN(pawl_finding, key, kind, member, key, .names = names_)
static const pawl__column columns[] = {
    FINDING("check", TEXT, name, NULL),
    FINDING("level", NAME, level, level_names),
    FINDING("text", TEXT, text, NULL),
    FINDING("remedy", TEXT, remedy, NULL),
    {.key = NULL},
};
const pawl__report pawl__doctor_verb_reports[] = {{"a finding", columns, NULL}, {.what = NULL}};

/* ---- Checks ------------------------------------------------------------- */

typedef struct differences {
    pawl__doctor *doctor;
    pawl_code     code;
} differences;

static void add_difference(pawl_text line, void *context)
{
    differences *all = context;
    if (all->code == PAWL_OK)
        all->code = pawl__doctor_find(all->doctor, PAWL_FINDING_FAIL, "pawl schema apply", "%.*s",
                                      PAWL_TEXT_ARGS(line));
}

static pawl_code check_schema(pawl__doctor *doctor)
{
    pawl_error       why   = PAWL_ERROR_INIT;
    differences      all   = {.doctor = doctor};
    size_t           count = doctor->found.count;
    pawl_schema_spec spec = {.system_prefix = doctor->at->prefix, .deadline = doctor->at->deadline};
    pawl_code        code =
        pawl_store_schema(doctor->at->store, PAWL_SCHEMA_VERIFY, &spec, add_difference, &all, &why);
    if (all.code != PAWL_OK || (code == PAWL_ESCHEMA && doctor->found.count > count))
        return all.code;
    if (code == PAWL_OK)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "",
                                 "tables and indexes are those of this pawl");
    return pawl__doctor_find(doctor,
                             code == PAWL_EUNSUPPORTED ? PAWL_FINDING_OK : PAWL_FINDING_FAIL, "",
                             "%s", why.text);
}

/* The driver's findings stand before those about what is in the tables. */
static pawl_code check_driver(pawl__doctor *doctor, const verb_fields *fields)
{
    pawl_finding_rows rows;
    pawl_error        why   = PAWL_ERROR_INIT;
    pawl_diagnosis    asked = {.now             = pawl_clock_now(NULL),
                               .transaction_age = fields->transactions,
                               .is_thorough     = fields->is_thorough};
    pawl_code         code = pawl_store_diagnose(doctor->store, &asked, doctor->arena, &rows, &why);
    if (code == PAWL_EUNSUPPORTED)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "%s", why.text);
    if (code != PAWL_OK)
        return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "", "%s", why.text);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        rows.items[i].remedy = pawl__store_command(doctor->at, rows.items[i].remedy, doctor->arena);
        code                 = pawl__doctor_add(doctor, &rows.items[i]);
    }
    return code;
}

/* A store that is there but has no tables, or other ones, was connected to. */
static pawl_code say_closed(pawl__doctor *doctor, pawl_code code, const pawl_error *why)
{
    doctor->check      = code == PAWL_ESCHEMA   ? "schema"
                         : code == PAWL_EDENIED ? "rights"
                                                : "connection";
    const char *remedy = code == PAWL_ESCHEMA ? "pawl schema apply" : "";
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, remedy, "%s",
                             why->text[0] != '\0' ? why->text : pawl_code_text(code));
}

static pawl_code look(pawl__doctor *doctor, const verb_fields *fields)
{
    char               url[PAWL_URL_SIZE_MAX + 1];
    pawl_error         why     = PAWL_ERROR_INIT;
    pawl_store_options options = pawl__store_options(doctor->at, PAWL_OPEN_EXISTING);
    pawl_code          opened  = pawl_store_open(doctor->at->store, &options, &doctor->store, &why);
    if (opened != PAWL_OK)
        return say_closed(doctor, opened, &why);
    doctor->check  = "connection";
    pawl_code code = pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "connected to %s",
                                       pawl__masked(doctor->at->store, url, sizeof url));
    doctor->check  = "schema";
    if (code == PAWL_OK)
        code = check_schema(doctor);
    doctor->check = "driver";
    if (code == PAWL_OK)
        code = check_driver(doctor, fields);
    return code == PAWL_OK ? pawl__doctor_checks(doctor) : code;
}

/* ---- Printing ----------------------------------------------------------- */

static void print_page(const pawl_finding_rows *found)
{
    static const char *const words[] = {"OK", "WARN", "FAIL"};
    int                      width   = 0;
    for (size_t i = 0; i < found->count; i++)
        width = (int)found->items[i].name.size > width ? (int)found->items[i].name.size : width;
    for (size_t i = 0; i < found->count; i++) {
        char                before[80];
        const pawl_finding *finding = &found->items[i];
        snprintf(before, sizeof before, "%-5s %-*.*s  ", words[finding->level], width,
                 PAWL_TEXT_ARGS(finding->name));
        pawl__print_line(before, finding->text);
        if (finding->remedy.size != 0)
            pawl__print_line("      run: ", finding->remedy);
    }
}

/* The exit code, by the worst of the findings. */
static int print(pawl__doctor *doctor, bool is_json)
{
    size_t     bad  = 0;
    pawl__view view = pawl__view_of(columns, "finding", sizeof(pawl_finding), true, doctor->arena);
    if (is_json)
        (void)pawl__rows_print(&view, doctor->found.items, doctor->found.count);
    else
        print_page(&doctor->found);
    for (size_t i = 0; i < doctor->found.count; i++)
        bad += doctor->found.items[i].level == PAWL_FINDING_FAIL;
    if (bad == 0)
        return 0;
    fflush(stdout); /* the last line is this one, when both go to one file */
    fprintf(stderr, "pawl: %zu of %zu findings must be dealt with\n", bad, doctor->found.count);
    return EXIT_FINDINGS;
}

int pawl__doctor_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields  fields = {.is_json = false};
    pawl_error   error  = PAWL_ERROR_INIT;
    pawl__doctor doctor = {.at    = &fields.at,
                           .now   = pawl_clock_now(NULL),
                           .error = &error,
                           .arena = pawl__must_create()};
    pawl_code    code   = pawl__verb_parse(verb, count, words, &fields, &error);
    pawl__interrupt_says(NULL);
    if (code == PAWL_OK)
        code = pawl__store_url(&fields.at, &error);
    if (code == PAWL_OK)
        code = pawl__saga_book_open(fields.application, fields.saga_prefix, &doctor.book, &error);
    if (code == PAWL_OK)
        doctor.book_options =
            pawl__why_book_options(fields.application, fields.saga_prefix, doctor.arena);
    if (code == PAWL_OK)
        code = look(&doctor, &fields);
    int exit_code = code == PAWL_OK ? print(&doctor, fields.is_json) : pawl__fail(code, &error);
    pawl_store_close(doctor.store);
    pawl__saga_book_close(&doctor.book);
    pawl_arena_destroy(doctor.arena);
    return exit_code;
}
