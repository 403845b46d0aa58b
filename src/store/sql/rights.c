/* rights.c - scripts that grant a role what it needs and nothing else.
 *
 * The letters of a row say which statements a role runs on the table: s(elect), i(nsert), u(pdate),
 * d(elete). An observer reads everything. The owner of the tables makes and alters them, and may do
 * anything with its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects.h"
#include "store/sql/tables.h"

#include <string.h>

#define NAME_SIZE_MAX 63

const char *const pawl__sql_role_names[] = {"observer", "owner", "producer", "worker", NULL};
enum { OBSERVER, OWNER, PRODUCER, WORKER };

typedef struct rights {
    const char *table;
    const char *producer; /* sends and publishes; has a row in workers */
    const char *worker;
} rights;

static const rights rows[] = {
    {"queue", "siu", "siud"},
    {"dead", "", "siud"},
    {"inbox", "", "siud"},
    {"outbox", "", "siud"},
    {"outbox_attempts", "", "siud"},
    {"events", "", "siud"},
    {"folds", "", "siud"},
    {"checkpoints", "", "siud"},
    {"timeouts", "su", "siud"},
    {"aggregator", "su", "siud"},
    {"aggregator_flush", "", "siud"},
    {"subscriptions", "s", "siud"},
    {"history", "", "siud"},
    {"workers", "siud", "siud"},
    {"leases", "sd", "siud"},
    {"schema", "s", "s"},
};

/* A database for which grants can be printed. */
typedef struct grants {
    const pawl__sql_dialect *dialect;
    const char              *owner;         /* before the schema's name, or all of it */
    const char              *usage;         /* of a schema, before its name; NULL: there is none */
    bool                     has_sequences; /* numbers of rows come from one beside the table */
    bool                     has_hosts;     /* a user is 'name'@'host' */
} grants;

#define OF_DATABASE \
    "grant select, insert, update, delete, create, alter, drop, index, references on *"
static const grants databases[] = {
    {&pawl__pg_dialect, "grant usage, create on schema ", "grant usage on schema ", true, false},
    {&pawl__mysql_dialect, OF_DATABASE, NULL, false, true},
    {&pawl__mariadb_dialect, OF_DATABASE, NULL, false, true},
};

typedef struct printer {
    const pawl__sql_script *script;
    const grants           *database;
    pawl__sql_dialect       dialect; /* with the script's schema */
    const char             *to;
    pawl_line_fn           *line;
    void                   *context;
    bool                    is_failed;
} printer;

/* Appends the user: a name, or NAME@HOST on databases where users have hosts; without HOST any host. */
static void append_user(printer *p, pawl__sql_text *text)
{
    const char *at   = p->database->has_hosts ? strrchr(p->to, '@') : NULL;
    pawl_text   name = {.data = p->to, .size = at != NULL ? (size_t)(at - p->to) : strlen(p->to)};
    if (!p->database->has_hosts) {
        pawl__sql_append_name(text, &p->dialect, "", name);
        return;
    }
    pawl__sql_append_literal(text, name);
    pawl__sql_append(text, "@");
    pawl__sql_append_literal(text, pawl_text_of(at != NULL ? at + 1 : "%"));
}

static void print(printer *p, pawl__sql_text *text)
{
    pawl__sql_append(text, " to ");
    append_user(p, text);
    pawl__sql_append(text, ";");
    p->is_failed |= text->is_failed;
    if (!text->is_failed)
        p->line(pawl__sql_text_of(text), p->context);
    pawl__sql_text_free(text);
}

static void grant(printer *p, const char *letters, const char *before, pawl_text name)
{
    static const char        all[]   = "siud";
    static const char *const words[] = {"select", "insert", "update", "delete"};
    pawl__sql_text           text    = {0};
    if (letters[0] == '\0')
        return;
    for (size_t i = 0; letters[i] != '\0'; i++) {
        pawl__sql_append(&text, i == 0 ? "grant " : ", ");
        pawl__sql_append(&text, words[strchr(all, letters[i]) - all]);
    }
    pawl__sql_append(&text, " on ");
    pawl__sql_append_table(&text, &p->dialect, before, name);
    print(p, &text);
}

/* The database itself names the sequence: TABLE_COLUMN_seq. */
static void grant_sequence(printer *p, const pawl__sql_table *table)
{
    pawl__sql_text text = {0}, name = {0};
    if (!p->database->has_sequences || table->columns[0].type != PAWL__SQL_SERIAL)
        return;
    pawl__sql_appendf(&name, "%s_%s_seq", table->name, table->columns[0].name);
    pawl__sql_append(&text, "grant usage on sequence ");
    if (!name.is_failed)
        pawl__sql_append_table(&text, &p->dialect, p->script->prefix, pawl__sql_text_of(&name));
    text.is_failed |= name.is_failed;
    pawl__sql_text_free(&name);
    print(p, &text);
}

static const char *letters_of(int role, const char *table)
{
    const rights *row = rows;
    while (strcmp(row->table, table) != 0)
        row++;
    return role == OBSERVER ? "s" : role == PRODUCER ? row->producer : row->worker;
}

static void print_tables(printer *p, int role)
{
    for (size_t i = 0; i < pawl__sql_table_count; i++) {
        const pawl__sql_table *table   = &pawl__sql_tables[i];
        const char            *letters = letters_of(role, table->name);
        grant(p, letters, p->script->prefix, pawl_text_of(table->name));
        if (strchr(letters, 'i') != NULL)
            grant_sequence(p, table);
    }
    for (size_t i = 0; role != PRODUCER && i < p->script->saga_count; i++)
        grant(p, role == OBSERVER ? "s" : "siud", "", p->script->sagas[i]->name);
}

static void print_schema(printer *p, const char *before)
{
    pawl__sql_text text = {0};
    pawl__sql_append(&text, before);
    if (p->database->usage != NULL)
        pawl__sql_append_name(
            &text, &p->dialect, "",
            pawl_text_of(p->script->schema != NULL ? p->script->schema : "public"));
    print(p, &text);
}

/* Checks the names as for any script, then prints the grants. */
pawl_code pawl__sql_rights_print(const pawl__sql_script *script, const char *role, const char *to,
                                 pawl_line_fn *line, void *context, pawl_error *error)
{
    printer p = {
        .script = script, .dialect = *script->dialect, .to = to, .line = line, .context = context};
    int which = 0;
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++)
        if (databases[i].dialect == script->dialect)
            p.database = &databases[i];
    if (p.database == NULL)
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "%s: rights are granted on mariadb, mysql and postgres",
                              script->dialect->product);
    pawl_code code = pawl__sql_script_check(script, error);
    if (code == PAWL_OK)
        code = pawl__sql_name_check(pawl_text_of(to), "--to", NAME_SIZE_MAX, error);
    if (code != PAWL_OK)
        return code;
    while (strcmp(pawl__sql_role_names[which], role) != 0)
        which++;
    p.dialect.schema = script->schema;
    if (which == OWNER)
        print_schema(&p, p.database->owner);
    else if (p.database->usage != NULL)
        print_schema(&p, p.database->usage);
    if (which != OWNER)
        print_tables(&p, which);
    return p.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "out of memory for the script")
                       : PAWL_OK;
}
