/* schema.c - `pawl schema print|apply|verify|drop`.
 *
 * The tables of sagas belong to an application: they are looked after when it
 * is given with --app, and left alone otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/schema/schema.h"

#include "store/sql/script.h"

#include <stdlib.h>
#include <string.h>

#define EXIT_DIFFERENT 1
#define EXIT_UNREACHABLE 3

typedef pawl__schema_fields verb_fields;

typedef struct schema_action {
    const char      *name;
    pawl_schema_verb verb;
    const char      *done; /* printed on success; NULL: nothing */
} schema_action;

static const schema_action actions[] = {
    {"apply", PAWL_SCHEMA_APPLY, "the tables are there"},
    {"drop", PAWL_SCHEMA_DROP, "the tables are dropped"},
    {"print", PAWL_SCHEMA_PRINT, NULL},
    {"verify", PAWL_SCHEMA_VERIFY, "the tables are as they should be"},
};
#define FOR_APPLY (1U << 0)
#define FOR_DROP (1U << 1)
#define FOR_PRINT (1U << 2)
static const char *const action_names[] = {"apply", "drop", "print", "verify", NULL};
_Static_assert(sizeof actions / sizeof actions[0] + 1 ==
                   sizeof action_names / sizeof action_names[0],
               "a name without an action");
static const pawl__choice_line action_lines[] = {
    {"", "make the tables that are missing, and bring old ones up to date; with --dry-run say how"},
    {"", "drop the tables and what is in them"},
    {"", "the script that makes or drops them; with --rights: that grants what a role needs"},
    {"", "are the tables of this store as this pawl needs them?"},
};
PAWL__LINES_FIT(action_names, action_lines);

const pawl__argument pawl__schema_verb_arguments[] = {
    {.name    = "ACTION",
     .offset  = offsetof(verb_fields, action),
     .choices = action_names,
     .lines   = action_lines},
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__schema_verb_options[] = {
    OPTION("app", TEXT, application, "APP.so", 0, "the tables of its sagas as well"),
    PAWL__OPTION_DEADLINE(verb_fields, at),
    /* A driver of its own may have another. */
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
    PAWL__OPTION_PREFIX(verb_fields, at),
    OPTION("purge", FLAG, is_purge, NULL, FOR_APPLY,
           "drop the columns of correlation properties that a saga has no more"),
    OPTION("rights", TEXT, rights, "ROLE", FOR_PRINT,
           "the script that grants what an observer, owner, producer or worker needs; with --to",
           .choices = pawl__sql_role_names),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, saga_prefix, 0),
    OPTION("schema", TEXT, schema, "NAME", FOR_PRINT, "made and used by the script",
           .default_words = "the session's own, mssql: dbo"),
    PAWL__OPTION_STORE(verb_fields, at),
    OPTION("to", TEXT, to, "NAME", FOR_PRINT,
           "with --rights: the user; mariadb, mysql: NAME@HOST, or of any host"),
    OPTION("yes", FLAG, is_agreed, NULL, FOR_DROP, "without asking"),
    {.name = NULL},
};

/* Chooses the URL; the name of a dialect is the scheme of a URL. */
static pawl_code choose_url(verb_fields *fields, pawl_arena *arena, pawl_error *error)
{
    if (fields->dialect == NULL)
        return pawl__store_url(&fields->at, error);
    if (fields->at.store != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "give --dialect or --store, not both");
    if (fields->dialect[0] == '\0' ||
        strspn(fields->dialect, "abcdefghijklmnopqrstuvwxyz") != strlen(fields->dialect))
        return pawl_error_set(error, PAWL_EINVAL, "--dialect: '%s' is no name of a database",
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
    char url[PAWL_URL_SIZE_MAX + 1], question[PAWL_URL_SIZE_MAX + 100];
    snprintf(question, sizeof question,
             "drop the shared tables and %zu saga tables of %s, with all they hold?", table_count,
             pawl__masked(fields->at.store, url, sizeof url));
    return pawl__agree("drop", "dropped", question, error);
}

static void print_counted(pawl_text line, void *context)
{
    ++*(size_t *)context;
    pawl__schema_line(line, stdout);
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

/* Whether apply will have something to do: a store that cannot tell the statements says whether its tables are as
 * they should be, and one that has none leaves the action's own words. Other failures are those of apply. */
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

/* `*line_count`: of those that the store's driver says, the differences of verify. */
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
        code = pawl__schema_print(fields, &spec, &is_printed, error);
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

static const schema_action *find_action(const char *name)
{
    size_t i = 0;
    while (strcmp(actions[i].name, name) != 0)
        i++;
    return &actions[i];
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
    const schema_action *action = find_action(fields.action);
    pawl_arena          *arena  = pawl__must_create();
    code                        = choose_url(&fields, arena, &error);
    if (code == PAWL_OK && fields.application != NULL)
        code = pawl__application_load(fields.application, &loaded, &error);
    else if (code == PAWL_OK && (fields.endpoint != NULL || fields.saga_prefix != NULL))
        code = pawl_error_set(&error, PAWL_EINVAL, "--%s goes with --app APP.so",
                              fields.endpoint != NULL ? "endpoint" : "saga-prefix");
    if (code == PAWL_OK)
        code = work(&fields, action, loaded.application, arena, &line_count, &error);
    fflush(stdout); /* the last line is the failure's, when both go to one file */
    pawl__application_unload(&loaded);
    pawl_arena_destroy(arena);
    int exit_code = pawl__fail_store(code, &error, fields.at.store);
    /* verify has looked, and said no: another answer than that it could not look. */
    bool is_different = action->verb == PAWL_SCHEMA_VERIFY && code == PAWL_ESCHEMA;
    return is_different && line_count != 0 ? EXIT_DIFFERENT : exit_code;
}
