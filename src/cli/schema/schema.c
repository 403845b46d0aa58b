/* schema.c - `pawl schema print|apply|verify|drop`: the tables of a store.
 *
 * Saga tables belong to an application: without its --app they are neither made,
 * verified nor dropped. Scripts of all dialects can be printed without a driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "store/sql/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EXIT_DIFFERENT 1
#define EXIT_UNREACHABLE 3

typedef struct verb_fields {
    const char        *action;
    pawl__store_fields at;
    const char        *dialect, *application, *endpoint, *saga_prefix, *schema, *kinds, *folder;
    const char        *rights, *to;
    bool               is_agreed, is_drop, is_dry, is_purge;
} verb_fields;

#define ACTIONS(X)                                                                               \
    X(APPLY, "apply", "",                                                                        \
      "make the tables that are missing, and bring old ones up to date; with --dry-run say how", \
      NULL)                                                                                      \
    X(DROP, "drop", "", "drop the tables and what is in them", NULL)                             \
    X(PRINT, "print", "",                                                                        \
      "the script that makes or drops them; with --rights: that grants what a role needs", NULL) \
    X(VERIFY, "verify", "", "are the tables of this store as this pawl needs them?", NULL)
PAWL__ACTIONS(ACTIONS)

typedef struct schema_action {
    pawl_schema_verb verb;
    const char      *done; /* printed on success; NULL: nothing */
} schema_action;

static const schema_action actions[] = {
    [ACTION_APPLY]  = {PAWL_SCHEMA_APPLY, "the tables are there"},
    [ACTION_DROP]   = {PAWL_SCHEMA_DROP, "the tables are dropped"},
    [ACTION_PRINT]  = {PAWL_SCHEMA_PRINT, NULL},
    [ACTION_VERIFY] = {PAWL_SCHEMA_VERIFY, "the tables are as they should be"},
};
#define FOR_APPLY (1U << ACTION_APPLY)
#define FOR_DROP (1U << ACTION_DROP)
#define FOR_PRINT (1U << ACTION_PRINT)

const pawl__argument pawl__schema_verb_arguments[] = {PAWL__ARGUMENT_ACTION(verb_fields, action),
                                                      {.name = NULL}};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__schema_verb_options[] = {
    OPTION("app", TEXT, application, "APP.so", 0, "the tables of its sagas as well"),
    PAWL__OPTIONS_STORE(verb_fields, at),
    /* A driver that the user loads may have another dialect. */
    OPTION("dialect", TEXT, dialect, "NAME", FOR_PRINT,
           "of which database, without --store: mariadb, mssql, mysql, oracle, postgres, sqlite",
           .choices = pawl__sql_dialect_names, .is_open = true),
    OPTION("drop", FLAG, is_drop, NULL, FOR_PRINT, "the script that drops the tables"),
    OPTION("dry-run", FLAG, is_dry, NULL, FOR_APPLY,
           "say each statement that would be run there now, and run none"),
    OPTION("endpoint", TEXT, endpoint, "NAME", 0, "with --app: the sagas of this endpoint only"),
    OPTION("files", TEXT, folder, "FOLDER", FOR_PRINT,
           "a file for each table in FOLDER/create, and one in FOLDER/drop"),
    OPTION("kind", TEXT, kinds, "KIND,...", FOR_PRINT,
           "only messages, outbox, events, timeouts, aggregators, workers, sagas",
           .choices = pawl__sql_table_kind_names, .is_set = true),
    OPTION("purge", FLAG, is_purge, NULL, FOR_APPLY,
           "drop the columns of correlation properties that a saga has no more"),
    OPTION("rights", TEXT, rights, "ROLE", FOR_PRINT,
           "the script that grants what an observer, owner, producer or worker needs; with --to",
           .choices = pawl__sql_role_names),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, saga_prefix, 0),
    OPTION("schema", TEXT, schema, "NAME", FOR_PRINT, "made and used by the script",
           .default_words = "the session's own, mssql: dbo"),
    OPTION("to", TEXT, to, "NAME", FOR_PRINT,
           "with --rights: the user; mariadb, mysql: NAME@HOST, or of any host"),
    OPTION("yes", FLAG, is_agreed, NULL, FOR_DROP, "without asking"),
    {.name = NULL},
};
const pawl__report pawl__schema_verb_reports[] = {{.what = NULL}};

/* Prints a line to the FILE *`context`. */
static void print_to(pawl_text line, void *context)
{
    fprintf(context, "%.*s\n", PAWL_TEXT_ARGS(line));
}

static pawl_code only_for_dialects(const verb_fields *fields, pawl_error *error)
{
    const char *name = fields->schema != NULL   ? "schema"
                       : fields->rights != NULL ? "rights"
                       : fields->folder != NULL ? "files"
                       : fields->kinds != NULL  ? "kind"
                                                : NULL;
    char        hint[300];
    if (name == NULL)
        return PAWL_OK;
    pawl__suggest("", "", pawl__sql_dialect_names, hint, sizeof hint);
    return pawl_error_set(error, PAWL_EINVAL, "--%s: this store's driver prints its script whole%s",
                          name, hint);
}

/* ---- Files --------------------------------------------------------------- */

static pawl_code make_folder(const char *path, pawl_error *error)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST ? PAWL_OK
                                                     : pawl__file_fail("make folder", path, error);
}

static pawl_code write_file(const pawl__sql_script *script, const char *path, pawl_error *error)
{
    pawl__part part;
    pawl_code  code = pawl__part_open(&part, path, error);
    if (code == PAWL_OK)
        code = pawl__part_end(&part, path,
                              pawl__sql_script_print(script, print_to, part.file, error), error);
    return code;
}

/* The files of one folder. */
static pawl_code write_files(const pawl__sql_script *script, const char *folder, size_t *count,
                             pawl_error *error)
{
    char             path[PAWL__PATH_SIZE];
    char             name[PAWL__SQL_PIECE_NAME_SIZE];
    pawl__sql_script piece;
    const char      *kind = script->is_drop ? "drop" : "create";
    int              size = snprintf(path, sizeof path, "%s/%s", folder, kind);
    if (size < 0 || (size_t)size + PAWL__SQL_PIECE_NAME_SIZE + 2 > sizeof path)
        return pawl_error_set(error, PAWL_ELIMIT, "--files: the path has %zu bytes, limit %zu",
                              strlen(folder), sizeof path - PAWL__SQL_PIECE_NAME_SIZE - 10);
    pawl_code code = make_folder(folder, error);
    if (code == PAWL_OK)
        code = make_folder(path, error);
    for (size_t i = 0; code == PAWL_OK && pawl__sql_script_piece(script, i, &piece, name); i++) {
        snprintf(path + size, sizeof path - (size_t)size, "/%s", name);
        code = write_file(&piece, path, error);
        *count += code == PAWL_OK;
    }
    return code;
}

static pawl_code print_files(const verb_fields *fields, pawl__sql_script *script, pawl_error *error)
{
    size_t count = 0;
    if (fields->is_drop)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--files writes the files that drop as well: leave --drop away");
    pawl_code code = pawl__sql_script_check(script, error);
    if (code == PAWL_OK)
        code = write_files(script, fields->folder, &count, error);
    script->is_drop = true;
    if (code == PAWL_OK)
        code = write_files(script, fields->folder, &count, error);
    if (code == PAWL_OK)
        fprintf(stderr, "pawl: %s: %zu files\n", fields->folder, count);
    return code;
}

/* ---- Rights -------------------------------------------------------------- */

static pawl_code print_rights(const verb_fields *fields, const pawl__sql_script *script,
                              pawl_error *error)
{
    if (fields->rights == NULL || fields->to == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--rights ROLE and --to NAME go together");
    if (fields->is_drop || fields->folder != NULL || fields->kinds != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--rights prints one script: leave --drop, --files and --kind away");
    return pawl__sql_rights_print(script, fields->rights, fields->to, print_to, stdout, error);
}

/* ---- Scripts ------------------------------------------------------------- */

/* Prints the script, or writes it to files. `*is_printed` is false for a store whose script only its driver has. */
static pawl_code print_script(const verb_fields *fields, const pawl_schema_spec *spec,
                              bool *is_printed, pawl_error *error)
{
    pawl_text        name   = {.data = fields->at.store, .size = strcspn(fields->at.store, ":")};
    pawl__sql_script script = {.dialect = pawl__sql_dialect_find(name),
                               .prefix =
                                   spec->system_prefix != NULL ? spec->system_prefix : "pawl_",
                               .schema = fields->schema,
                               .kinds = pawl__choices_of(pawl__sql_table_kind_names, fields->kinds),
                               .sagas = spec->tables,
                               .saga_count = spec->table_count,
                               .is_drop    = spec->is_drop};
    *is_printed             = script.dialect != NULL;
    if (!*is_printed)
        return only_for_dialects(fields, error);
    if (fields->rights != NULL || fields->to != NULL)
        return print_rights(fields, &script, error);
    if (fields->folder != NULL)
        return print_files(fields, &script, error);
    return pawl__sql_script_print(&script, print_to, stdout, error);
}

/* ---- The verb ------------------------------------------------------------ */

/* Makes the URL of --dialect, whose name is the scheme of a URL. */
static pawl_code choose_url(verb_fields *fields, pawl_arena *arena, pawl_error *error)
{
    if (fields->dialect == NULL)
        return pawl__store_url(&fields->at, error);
    if (fields->at.store != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "give --dialect or --store, not both");
    if (fields->dialect[0] == '\0' ||
        strspn(fields->dialect, "abcdefghijklmnopqrstuvwxyz") != strlen(fields->dialect))
        return pawl_error_set(error, PAWL_EINVAL, "--dialect: '%s' is not the name of a database",
                              fields->dialect);
    fields->at.store = pawl__must_printf(arena, "%s:", fields->dialect).data;
    return PAWL_OK;
}

/* Adds the tables of one endpoint to the list. */
static pawl_code add_tables(const verb_fields *fields, const pawl_application *application,
                            const char *endpoint, pawl_arena *arena, const pawl_saga_table ***list,
                            size_t *count, size_t *capacity, pawl_error *error)
{
    const pawl_saga_table *const *tables;
    size_t                        added;
    pawl_code code = pawl_endpoint_tables(application, endpoint, fields->saga_prefix, arena,
                                          &tables, &added, error);
    for (size_t i = 0; code == PAWL_OK && i < added; i++) {
        const pawl_saga_table **grown =
            pawl__must_grow(arena, (void *)*list, *count, capacity, sizeof **list);
        *list             = grown;
        grown[(*count)++] = tables[i];
    }
    return code;
}

static pawl_code find_tables(const verb_fields *fields, const pawl_application *application,
                             pawl_arena *arena, pawl_schema_spec *spec, pawl_error *error)
{
    const pawl_saga_table **list     = NULL;
    size_t                  count    = 0;
    size_t                  capacity = 0;
    pawl_code               code     = PAWL_OK;
    if (application != NULL && fields->endpoint != NULL)
        code = pawl__application_check_endpoint(application, fields->endpoint, error);
    for (size_t i = 0; code == PAWL_OK && application != NULL && application->endpoints[i] != NULL;
         i++) {
        const char *name = application->endpoints[i]->name;
        if (fields->endpoint == NULL || strcmp(fields->endpoint, name) == 0)
            code = add_tables(fields, application, name, arena, &list, &count, &capacity, error);
    }
    spec->system_prefix = fields->at.prefix;
    spec->tables        = list;
    spec->table_count   = count;
    spec->deadline      = fields->at.deadline;
    spec->is_drop       = fields->is_drop;
    spec->is_purge      = fields->is_purge;
    return code;
}

static pawl_code ask(const verb_fields *fields, size_t table_count, pawl_error *error)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    return pawl__agree("drop", "dropped", error,
                       "drop the shared tables and %zu saga tables of %s, with all they hold?",
                       table_count, pawl__masked(fields->at.store, url, sizeof url));
}

static void print_counted(pawl_text line, void *context)
{
    ++*(size_t *)context;
    print_to(line, stdout);
}

static void say_done(const verb_fields *fields, const char *done)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    fprintf(stderr, "pawl: %s: %s\n", pawl__masked(fields->at.store, url, sizeof url), done);
}

static void count_line(pawl_text line, void *context)
{
    (void)line;
    ++*(size_t *)context;
}

/* Chooses the line that apply prints: by the statements that it will run, or for a store that cannot list them, by
 * verify. If neither works, `*done` keeps the general text; apply itself then reports the failure. */
static pawl_code plan_apply(const verb_fields *fields, const pawl_schema_spec *spec,
                            const char **done, pawl_error *error)
{
    static const pawl_schema_verb looks[] = {PAWL_SCHEMA_PLAN, PAWL_SCHEMA_VERIFY};
    size_t                        count   = 0;
    pawl_code                     code    = PAWL_EUNSUPPORTED;
    for (size_t i = 0; i < 2 && code != PAWL_OK && pawl_code_exit(code) != EXIT_UNREACHABLE; i++)
        code = pawl_store_schema(fields->at.store, looks[i], spec, count_line, &count, error);
    if (count > 0 || code == PAWL_ESCHEMA)
        *done = "the tables were made, or brought up to date";
    else if (code == PAWL_OK && strncmp(fields->at.store, "memory:", 7) != 0)
        *done = "the tables were there, nothing was to be done";
    return pawl_code_exit(code) == EXIT_UNREACHABLE ? code : PAWL_OK;
}

/* `*line_count`: lines that the driver printed; for verify the differences. */
static pawl_code work(const verb_fields *fields, const schema_action *action,
                      const pawl_application *application, pawl_arena *arena, size_t *line_count,
                      pawl_error *error)
{
    pawl_schema_spec spec = {.application = fields->application};
    pawl_code        code = find_tables(fields, application, arena, &spec, error);
    if (code == PAWL_OK && action->verb == PAWL_SCHEMA_DROP && !fields->is_agreed)
        code = ask(fields, spec.table_count, error);
    bool        is_printed = false;
    const char *done       = action->done;
    if (code == PAWL_OK && action->verb == PAWL_SCHEMA_APPLY && !fields->is_dry)
        code = plan_apply(fields, &spec, &done, error);
    if (code == PAWL_OK && action->verb == PAWL_SCHEMA_PRINT)
        code = print_script(fields, &spec, &is_printed, error);
    if (code == PAWL_OK && !is_printed)
        code = pawl_store_schema(fields->at.store, fields->is_dry ? PAWL_SCHEMA_PLAN : action->verb,
                                 &spec, print_counted, line_count, error);
    if (code == PAWL_OK && fields->is_dry)
        say_done(fields, *line_count != 0 ? "apply would run these statements; none was run"
                                          : "there is nothing to do");
    else if (code == PAWL_OK && done != NULL)
        say_done(fields, done);
    return code;
}

int pawl__schema_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields  fields     = {.action = NULL};
    pawl__loaded loaded     = {NULL, NULL};
    pawl_error   error      = PAWL_ERROR_INIT;
    size_t       line_count = 0;
    pawl_code    code       = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    const schema_action *action =
        &actions[pawl__choice_of(action_names, pawl_text_of(fields.action))];
    pawl_arena *arena = pawl__must_create();
    code              = choose_url(&fields, arena, &error);
    if (code == PAWL_OK && fields.application != NULL)
        code = pawl__application_load(fields.application, &loaded, &error);
    else if (code == PAWL_OK && (fields.endpoint != NULL || fields.saga_prefix != NULL))
        code = pawl_error_set(&error, PAWL_EINVAL, "--%s goes with --app APP.so",
                              fields.endpoint != NULL ? "endpoint" : "saga-prefix");
    if (code == PAWL_OK)
        code = work(&fields, action, loaded.application, arena, &line_count, &error);
    fflush(stdout); /* so that the line of a failure is the last one if both go to one file */
    pawl__application_unload(&loaded);
    pawl_arena_destroy(arena);
    int exit_code = pawl__fail_store(code, &error, fields.at.store);
    /* Differences that verify found have another exit code than a failure to look for them. */
    bool is_different = action->verb == PAWL_SCHEMA_VERIFY && code == PAWL_ESCHEMA;
    return is_different && line_count != 0 ? EXIT_DIFFERENT : exit_code;
}
