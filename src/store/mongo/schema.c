/* schema.c - collections and their indexes: made, checked, dropped and printed.
 *
 * The collection `schema` has a document for each collection whose indexes are there: so an open asks
 * one find whether anything is missing. A document is written when its indexes were made, not before
 * (M8).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/reach.h"
#include "store/mongo/mongo.h"

#include <stdio.h>
#include <string.h>

#define VERSION 1
#define INDEXES_MAX 5
#define NAMESPACE_EXISTS 48
#define NAMESPACE_NOT_FOUND 26

/* `keys` as a sort: "queue,due,_id". A unique index is sparse when it has one key alone. */
typedef struct index_spec {
    const char *keys;
    bool        is_unique;
    bool        is_sparse;
} index_spec;

typedef struct collection_spec {
    const char *name;
    index_spec  indexes[INDEXES_MAX];
} collection_spec;

static const collection_spec collections[] = {
    {"queue",
     {{"queue,message_id", true, false},
      {"queue,due,_id", false, false},
      {"queue,placed,_id", false, false},
      {"claimed_by", false, true}}},
    {"inbox", {{"at", false, false}}},
    {"dead", {{"endpoint,message_id", true, false}, {"at", false, false}}},
    {"outbox",
     {{"dispatch_id", true, false},
      {"state,_id", false, false},
      {"source,version,index", false, false},
      {"ended", false, true}}},
    {"events",
     {{"stream,version", true, false},
      {"position", true, true},
      {"unnumbered", false, true},
      {"message_id", false, true},
      {"correlation_id", false, true}}},
    {"bodies", {{0}}},
    {"folds", {{0}}},
    {"checkpoints", {{0}}},
    {"timeouts",
     {{"armed", true, true},
      {"saga_id", false, true},
      {"destination,due,_id", false, false},
      {"due,_id", false, false},
      {"worker", false, true}}},
    {"aggregator",
     {{"partition,key", true, false}, {"partition,at,_id", false, false}, {"worker", false, true}}},
    {"aggregator_flush", {{"name,is_dead,due", false, false}}},
    {"subscriptions", {{0}}},
    {"workers", {{0}}},
    {"leases", {{0}}},
    {"history", {{"source,_id", false, true}, {"message_id,_id", false, false}}},
};
#define COLLECTIONS_COUNT (sizeof collections / sizeof collections[0])

/* ---- Commands ------------------------------------------------------------ */

static void put_keys(bson_t *index, const char *keys, char *name, size_t name_size)
{
    bson_t inner;
    size_t used = 0;
    (void)bson_append_document_begin(index, "key", -1, &inner);
    for (const char *at = keys; *at != '\0';) {
        size_t size = strcspn(at, ",");
        (void)bson_append_int32(&inner, at, (int)size, 1);
        used += (size_t)snprintf(name + used, name_size - used, "%s%.*s", used == 0 ? "" : "_",
                                 (int)size, at);
        at += size + (at[size] == ',');
    }
    (void)bson_append_document_end(index, &inner);
}

static void put_index(bson_t *list, unsigned number, const index_spec *spec)
{
    bson_t index;
    char   key[12], name[300] = "";
    (void)snprintf(key, sizeof key, "%u", number);
    (void)bson_append_document_begin(list, key, -1, &index);
    put_keys(&index, spec->keys, name, sizeof name);
    (void)bson_append_utf8(&index, "name", -1, name, -1);
    if (spec->is_unique)
        (void)bson_append_bool(&index, "unique", -1, true);
    if (spec->is_sparse)
        (void)bson_append_bool(&index, "sparse", -1, true);
    (void)bson_append_document_end(list, &index);
}

static pawl_code run(pawl_store *store, const bson_t *command, uint32_t allowed, pawl_error *error)
{
    const pawl__mongo *self = pawl__mongo_of(store);
    bson_error_t       why;
    bson_t             reply;
    pawl_code          code = PAWL_OK;
    if (!mongoc_client_command_simple(self->client, self->database, command, NULL, &reply, &why) &&
        why.code != allowed)
        code = pawl__mongo_fail(store, &why, &reply, error);
    bson_destroy(&reply);
    return code;
}

static pawl_code run_on(pawl_store *store, const char *verb, const char *name, uint32_t allowed,
                        pawl_error *error)
{
    bson_t command = BSON_INITIALIZER;
    (void)bson_append_utf8(&command, verb, -1, name, -1);
    pawl_code code = run(store, &command, allowed, error);
    bson_destroy(&command);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "collection %s", name);
}

/* The command that makes a collection with its indexes, or one without any. */
static void put_creation(bson_t *command, const char *name, const index_spec *specs)
{
    bson_t   list;
    unsigned count = 0;
    (void)bson_append_utf8(command, specs[0].keys != NULL ? "createIndexes" : "create", -1, name,
                           -1);
    if (specs[0].keys == NULL)
        return;
    (void)bson_append_array_begin(command, "indexes", -1, &list);
    for (; count < INDEXES_MAX && specs[count].keys != NULL; count++)
        put_index(&list, count, &specs[count]);
    (void)bson_append_array_end(command, &list);
}

static pawl_code make_indexes(pawl_store *store, const char *name, const index_spec *specs,
                              pawl_error *error)
{
    bson_t command = BSON_INITIALIZER;
    put_creation(&command, name, specs);
    pawl_code code = run(store, &command, specs[0].keys == NULL ? NAMESPACE_EXISTS : 0, error);
    bson_destroy(&command);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "indexes of collection %s", name);
}

/* ---- Marks --------------------------------------------------------------- */

/* What the collection `schema` knows of a saga's collection, and the version of the others. */
typedef struct mark {
    pawl_text id;
    int64_t   version;
    pawl_text table; /* the name that the program gives, before it was sanitised */
    pawl_text main, transitional;
} mark;

static const pawl__mongo_field mark_fields[] = {
    PAWL__MONGO_FIELD(mark, id, "_id", TEXT),
    PAWL__MONGO_FIELD(mark, version, "version", INT),
    PAWL__MONGO_FIELD(mark, table, "table", TEXT),
    PAWL__MONGO_FIELD(mark, main, "main", TEXT),
    PAWL__MONGO_FIELD(mark, transitional, "transitional", TEXT),
    PAWL__MONGO_END,
};

static pawl_code read_marks(pawl_store *store, pawl_arena *arena, pawl__mongo_rows *marks,
                            pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "schema", .filter = &filter};
    pawl_code code = pawl__mongo_read(store, &find, mark_fields, sizeof(mark), arena, marks, error);
    bson_destroy(&filter);
    return code;
}

static const mark *find_mark(const pawl__mongo_rows *marks, const char *id)
{
    const mark *items = marks->items;
    for (size_t i = 0; i < marks->count; i++)
        if (pawl_text_equal(items[i].id, pawl_text_of(id)))
            return &items[i];
    return NULL;
}

static pawl_code write_mark(pawl_store *store, const mark *written, pawl_error *error)
{
    bson_t           filter = BSON_INITIALIZER, update = BSON_INITIALIZER, set;
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, "schema");
    pawl__mongo_put_text(&filter, "_id", written->id);
    (void)bson_append_document_begin(&update, "$set", -1, &set);
    (void)pawl__mongo_encode(&set, mark_fields + 1, written);
    (void)bson_append_document_end(&update, &set);
    pawl__mongo_update(&bulk, &filter, &update, true);
    pawl_code code = pawl__mongo_bulk_run(&bulk, error);
    bson_destroy(&filter);
    bson_destroy(&update);
    /* Two programs that make it at once: the other one's mark says the same. */
    return code == PAWL_EDUPLICATE ? PAWL_OK : code;
}

/* ---- Saga collections ---------------------------------------------------- */

/* The members of the two correlation values, which `paths` holds. */
static void saga_indexes(const pawl_saga_table *table, char paths[2][PAWL__MONGO_PATH_SIZE],
                         index_spec specs[INDEXES_MAX])
{
    const pawl_correlation *correlations[] = {&table->main, &table->transitional};
    size_t                  count          = 0;
    memset(specs, 0, INDEXES_MAX * sizeof *specs);
    for (size_t i = 0; i < 2; i++) {
        if (correlations[i]->type == PAWL_VALUE_NONE)
            continue;
        pawl__mongo_correlation_path(correlations[i]->property, paths[i]);
        specs[count++] = (index_spec){paths[i], true, true};
    }
}

static pawl_code make_saga(pawl_store *store, const pawl_saga_table *table, const char *name,
                           pawl_error *error)
{
    char       paths[2][PAWL__MONGO_PATH_SIZE];
    index_spec specs[INDEXES_MAX];
    saga_indexes(table, paths, specs);
    return make_indexes(store, name, specs, error);
}

static bool is_marked(const mark *known, const pawl_correlation *correlation)
{
    return correlation->type == PAWL_VALUE_NONE ||
           pawl_text_equal(known->main, correlation->property) ||
           pawl_text_equal(known->transitional, correlation->property);
}

static bool is_same(const mark *known, const pawl_saga_table *table)
{
    return pawl_text_equal(known->main, table->main.property) &&
           pawl_text_equal(known->transitional, table->transitional.property);
}

static pawl_code refuse_alike(const pawl_saga_table *table, const mark *known, pawl_error *error)
{
    return pawl_error_set(
        error, PAWL_ECONFIG,
        "saga %.*s: its collection '%.*s' has the same name in MongoDB as '%.*s': "
        "blanks and + ` [ ] , become _; give one of them another name",
        PAWL_TEXT_ARGS(table->type), PAWL_TEXT_ARGS(table->name), PAWL_TEXT_ARGS(known->table));
}

/* M3: what an earlier program wrote under the unsanitised name is not picked up. */
static pawl_code check_old_name(pawl_store *store, const pawl_saga_table *table, const char *name,
                                pawl_error *error)
{
    const pawl__mongo *self = pawl__mongo_of(store);
    bson_error_t       why;
    char               old[PAWL__MONGO_NAME_SIZE];
    (void)snprintf(old, sizeof old, "%.*s", PAWL_TEXT_ARGS(table->name));
    if (strcmp(old, name) == 0)
        return PAWL_OK;
    mongoc_database_t *database = mongoc_client_get_database(self->client, self->database);
    bool               is_there = mongoc_database_has_collection(database, old, &why);
    mongoc_database_destroy(database);
    if (!is_there)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ESCHEMA,
                          "saga %.*s: there is a collection '%s' of an older program, which is "
                          "named %s now; rename it: db.getCollection('%s').renameCollection('%s')",
                          PAWL_TEXT_ARGS(table->type), old, name, old, name);
}

static pawl_code ensure_saga(pawl_store *store, const pawl__mongo_rows *marks,
                             const pawl_saga_table *table, pawl_error *error)
{
    char name[PAWL__MONGO_NAME_SIZE], id[PAWL__MONGO_NAME_SIZE + 8];
    pawl__mongo_table_name(table->name, name);
    (void)snprintf(id, sizeof id, "saga:%s", name);
    const mark *known = find_mark(marks, id);
    const mark  own   = {.id           = pawl_text_of(id),
                         .version      = VERSION,
                         .table        = table->name,
                         .main         = table->main.property,
                         .transitional = table->transitional.property};
    if (known != NULL && !pawl_text_equal(known->table, table->name))
        return refuse_alike(table, known, error);
    pawl_code code = check_old_name(store, table, name, error);
    if (code == PAWL_OK && known != NULL && !is_same(known, table))
        code = pawl__mongo_check_reach(store, table, error);
    bool is_done =
        known != NULL && is_marked(known, &table->main) && is_marked(known, &table->transitional);
    if (code != PAWL_OK || is_done)
        return code;
    code = make_saga(store, table, name, error);
    return code == PAWL_OK ? write_mark(store, &own, error) : code;
}

/* ---- Making -------------------------------------------------------------- */

static pawl_code check_version(const mark *known, pawl_error *error)
{
    if (known == NULL || known->version == VERSION)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ESCHEMA,
                          "mongodb: the collections have version %lld, this pawl knows %d",
                          (long long)known->version, VERSION);
}

static pawl_code make_collections(pawl_store *store, pawl_error *error)
{
    char       name[PAWL__MONGO_NAME_SIZE];
    const mark version = {.id = PAWL_TEXT("version"), .version = VERSION};
    int64_t    first   = 0;
    pawl__mongo_name(store, "schema", name);
    pawl_code code = run_on(store, "create", name, NAMESPACE_EXISTS, error);
    for (size_t i = 0; code == PAWL_OK && i < COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(store, collections[i].name, name);
        code = make_indexes(store, name, collections[i].indexes, error);
    }
    if (code == PAWL_OK)
        code = pawl__mongo_numbers(store, 1, &first, error);
    return code == PAWL_OK ? write_mark(store, &version, error) : code;
}

pawl_code pawl__mongo_schema_make(pawl_store *store, const pawl_saga_table *const *tables,
                                  size_t count, pawl_error *error)
{
    pawl_arena      *arena = pawl_arena_create(0);
    pawl__mongo_rows marks = {.count = 0};
    pawl_code        code  = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    if (code == PAWL_OK)
        code = read_marks(store, arena, &marks, error);
    const mark *version = code == PAWL_OK ? find_mark(&marks, "version") : NULL;
    if (code == PAWL_OK)
        code = version == NULL ? make_collections(store, error) : check_version(version, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = ensure_saga(store, &marks, tables[i], error);
    pawl_arena_destroy(arena);
    return code;
}

/* ---- Checking ------------------------------------------------------------ */

typedef struct verifier {
    pawl_line_fn *line; /* or NULL */
    void         *context;
    pawl_code     code;
    pawl_error    first;
} verifier;

static void add_difference(verifier *v, pawl_code code, const pawl_error *found)
{
    if (v->code == PAWL_OK) {
        v->code  = code;
        v->first = *found;
    }
    if (v->line != NULL)
        v->line(pawl_text_of(found->text), v->context);
}

static void check_saga(pawl_store *store, const pawl__mongo_rows *marks,
                       const pawl_saga_table *table, verifier *v)
{
    char       name[PAWL__MONGO_NAME_SIZE], id[PAWL__MONGO_NAME_SIZE + 8];
    pawl_error why = PAWL_ERROR_INIT;
    pawl__mongo_table_name(table->name, name);
    (void)snprintf(id, sizeof id, "saga:%s", name);
    const mark *known = find_mark(marks, id);
    pawl_code   code  = PAWL_OK;
    if (known == NULL)
        code = pawl_error_set(&why, PAWL_ESCHEMA, "collection %s is missing", name);
    else if (!pawl_text_equal(known->table, table->name))
        code = refuse_alike(table, known, &why);
    else if (!is_marked(known, &table->main) || !is_marked(known, &table->transitional))
        code =
            pawl_error_set(&why, PAWL_ESCHEMA, "collection %s lacks the index of a property", name);
    else if (!is_same(known, table))
        code = pawl__mongo_check_reach(store, table, &why);
    if (code != PAWL_OK)
        add_difference(v, code, &why);
}

static void check_shared(const pawl_store *store, const mark *version, verifier *v)
{
    char       name[PAWL__MONGO_NAME_SIZE];
    pawl_error why = PAWL_ERROR_INIT;
    for (size_t i = 0; version == NULL && i < COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(store, collections[i].name, name);
        (void)pawl_error_set(&why, PAWL_ESCHEMA, "collection %s is missing", name);
        add_difference(v, PAWL_ESCHEMA, &why);
    }
    if (version != NULL && check_version(version, &why) != PAWL_OK)
        add_difference(v, PAWL_ESCHEMA, &why);
}

pawl_code pawl__mongo_schema_check(pawl_store *store, const pawl_saga_table *const *tables,
                                   size_t count, pawl_line_fn *line, void *context,
                                   pawl_error *error)
{
    pawl_arena      *arena = pawl_arena_create(0);
    pawl__mongo_rows marks = {.count = 0};
    verifier         all   = {.line = line, .context = context};
    pawl_code        code  = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    if (code == PAWL_OK)
        code = read_marks(store, arena, &marks, error);
    if (code == PAWL_OK) {
        check_shared(store, find_mark(&marks, "version"), &all);
        for (size_t i = 0; i < count; i++)
            check_saga(store, &marks, tables[i], &all);
        code = all.code;
        if (code != PAWL_OK)
            (void)pawl_error_set(error, code,
                                 "mongodb: %s; 'pawl schema apply' makes what is "
                                 "missing",
                                 all.first.text);
    }
    pawl_arena_destroy(arena);
    return code;
}

/* ---- The script ---------------------------------------------------------- */

/* Lines for mongosh. The script may run again. */
typedef struct script {
    pawl_line_fn *line;
    void         *context;
    pawl_code     code;
} script;

static void print_text(script *to, const char *before, const char *text, const char *after)
{
    size_t size = strlen(before) + strlen(text) + strlen(after) + 1;
    char  *line = bson_malloc0(size);
    (void)snprintf(line, size, "%s%s%s", before, text, after);
    to->line(pawl_text_of(line), to->context);
    bson_free(line);
}

/* Takes the command. */
static void print_command(script *to, const char *before, bson_t *command)
{
    char *json = bson_as_relaxed_extended_json(command, NULL);
    if (json != NULL)
        print_text(to, before, json, ");");
    else
        to->code = PAWL_ENOMEM;
    bson_free(json);
    bson_destroy(command);
}

static void print_collection(script *to, const char *name, const index_spec *specs)
{
    char   guard[PAWL__MONGO_NAME_SIZE + 80] = "db.runCommand(";
    bson_t command                           = BSON_INITIALIZER;
    put_creation(&command, name, specs);
    if (specs[0].keys == NULL)
        (void)snprintf(guard, sizeof guard,
                       "db.getCollectionNames().includes(\"%s\") || db.runCommand(", name);
    print_command(to, guard, &command);
}

static void print_mark(script *to, const char *marks, const mark *written)
{
    bson_t command = BSON_INITIALIZER, list, update, part, set;
    (void)bson_append_utf8(&command, "update", -1, marks, -1);
    (void)bson_append_array_begin(&command, "updates", -1, &list);
    (void)bson_append_document_begin(&list, "0", 1, &update);
    (void)bson_append_document_begin(&update, "q", 1, &part);
    pawl__mongo_put_text(&part, "_id", written->id);
    (void)bson_append_document_end(&update, &part);
    (void)bson_append_document_begin(&update, "u", 1, &part);
    (void)bson_append_document_begin(&part, "$set", -1, &set);
    (void)pawl__mongo_encode(&set, mark_fields + 1, written);
    (void)bson_append_document_end(&part, &set);
    (void)bson_append_document_end(&update, &part);
    (void)bson_append_bool(&update, "upsert", -1, true);
    (void)bson_append_document_end(&list, &update);
    (void)bson_append_array_end(&command, &list);
    print_command(to, "db.runCommand(", &command);
}

static void print_saga(script *to, const char *marks, const pawl_saga_table *table)
{
    char       name[PAWL__MONGO_NAME_SIZE], id[PAWL__MONGO_NAME_SIZE + 8];
    char       paths[2][PAWL__MONGO_PATH_SIZE];
    index_spec specs[INDEXES_MAX];
    pawl__mongo_table_name(table->name, name);
    (void)snprintf(id, sizeof id, "saga:%s", name);
    saga_indexes(table, paths, specs);
    print_collection(to, name, specs);
    print_mark(to, marks,
               &(mark){.id           = pawl_text_of(id),
                       .version      = VERSION,
                       .table        = table->name,
                       .main         = table->main.property,
                       .transitional = table->transitional.property});
}

static void print_drop(script *to, const pawl_store *store, const pawl_schema_spec *spec)
{
    char name[PAWL__MONGO_NAME_SIZE];
    for (size_t i = 0; i < spec->table_count; i++) {
        pawl__mongo_table_name(spec->tables[i]->name, name);
        print_text(to, "db.getCollection(\"", name, "\").drop();");
    }
    for (size_t i = 0; i < COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(store, collections[i].name, name);
        print_text(to, "db.getCollection(\"", name, "\").drop();");
    }
    pawl__mongo_name(store, "schema", name);
    print_text(to, "db.getCollection(\"", name, "\").drop();");
}

/* The marks come behind what they say is there. */
static pawl_code print(const pawl_store *store, const pawl_schema_spec *spec, script *to,
                       pawl_error *error)
{
    static const index_spec none[] = {{0}};
    char                    name[PAWL__MONGO_NAME_SIZE], marks[PAWL__MONGO_NAME_SIZE];
    pawl__mongo_name(store, "schema", marks);
    if (spec->is_drop) {
        print_drop(to, store, spec);
        return to->code;
    }
    print_collection(to, marks, none);
    for (size_t i = 0; i < COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(store, collections[i].name, name);
        print_collection(to, name, collections[i].indexes);
    }
    print_mark(to, marks, &(mark){.id = PAWL_TEXT("version"), .version = VERSION});
    for (size_t i = 0; i < spec->table_count; i++)
        print_saga(to, marks, spec->tables[i]);
    return to->code == PAWL_OK ? PAWL_OK : pawl__mongo_no_memory(error);
}

/* ---- The verbs ----------------------------------------------------------- */

/* Only when no collection of the prefix is left their version and counter go. */
static pawl_code drop(pawl_store *store, const pawl_schema_spec *spec, pawl_error *error)
{
    char      name[PAWL__MONGO_NAME_SIZE];
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < spec->table_count; i++) {
        pawl__mongo_table_name(spec->tables[i]->name, name);
        code = run_on(store, "drop", name, NAMESPACE_NOT_FOUND, error);
    }
    for (size_t i = 0; code == PAWL_OK && i < COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(store, collections[i].name, name);
        code = run_on(store, "drop", name, NAMESPACE_NOT_FOUND, error);
    }
    pawl__mongo_name(store, "schema", name);
    return code == PAWL_OK ? run_on(store, "drop", name, NAMESPACE_NOT_FOUND, error) : code;
}

pawl_code pawl__mongo_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    switch (verb) {
    case PAWL_SCHEMA_APPLY:
        return pawl__mongo_schema_make(store, spec->tables, spec->table_count, error);
    case PAWL_SCHEMA_VERIFY:
        return pawl__mongo_schema_check(store, spec->tables, spec->table_count, line, context,
                                        error);
    case PAWL_SCHEMA_DROP: return drop(store, spec, error);
    case PAWL_SCHEMA_PRINT:
        return print(store, spec, &(script){.line = line, .context = context}, error);
    case PAWL_SCHEMA_PLAN: break;
    }
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "mongodb: what is missing is not told as a script; 'pawl schema verify' "
                          "names it");
}
