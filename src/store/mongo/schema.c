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

/* "queue,due,_id" as {queue: 1, due: 1, _id: 1}, named queue_due__id. */
static void push_index(bson_t *list, uint32_t *count, const index_spec *spec)
{
    char   name[PAWL__MONGO_PATH_SIZE * 2];
    bson_t keys = BSON_INITIALIZER;
    (void)snprintf(name, sizeof name, "%s", spec->keys);
    for (char *at = strtok(name, ","); at != NULL; at = strtok(NULL, ","))
        (void)pawl__mongo_put(&keys, "%k: 1", at);
    (void)snprintf(name, sizeof name, "%s", spec->keys);
    for (char *at = name; *at != '\0'; at++)
        if (*at == ',')
            *at = '_';
    (void)pawl__mongo_push(list, count, "{key: %d, name: %c, unique?: %b, sparse?: %b}", &keys,
                           name, (int)spec->is_unique, (int)spec->is_sparse);
    bson_destroy(&keys);
}

/* Makes a schema, takes it away, or tells both as a script for mongosh, which may run again. */
typedef struct builder {
    pawl_store   *store;
    pawl_line_fn *line; /* NULL: it is done */
    void         *context;
    pawl_error   *error;
} builder;

/* Takes the line. */
static void tell(const builder *b, char *line)
{
    b->line(pawl_text_of(line), b->context);
    bson_free(line);
}

/* Takes the command, which is run, an error of the number `allowed` being none, or told behind `guard`. */
static pawl_code put_command(const builder *b, const char *guard, uint32_t allowed, bson_t *command)
{
    pawl_code code = PAWL_OK;
    char     *json = b->line != NULL ? bson_as_relaxed_extended_json(command, NULL) : NULL;
    if (b->line == NULL)
        code = pawl__mongo_command(b->store, command, allowed, NULL, b->error);
    else if (json != NULL)
        tell(b, bson_strdup_printf("%sdb.runCommand(%s);", guard, json));
    else
        code = pawl__mongo_no_memory(b->error);
    bson_free(json);
    bson_destroy(command);
    return code;
}

/* A collection with its indexes, or one without any, which a script makes where it is not there. */
static pawl_code put_collection(const builder *b, const char *name, const index_spec *specs)
{
    char     guard[PAWL__MONGO_NAME_SIZE + 80] = "";
    bson_t   command = BSON_INITIALIZER, list = BSON_INITIALIZER;
    uint32_t count = 0;
    while (count < INDEXES_MAX && specs[count].keys != NULL)
        push_index(&list, &count, &specs[count]);
    if (count == 0) {
        (void)snprintf(guard, sizeof guard, "db.getCollectionNames().includes(\"%s\") || ", name);
        (void)pawl__mongo_put(&command, "create: %c", name);
    } else {
        (void)pawl__mongo_put(&command, "createIndexes: %c, indexes: %a", name, &list);
    }
    bson_destroy(&list);
    pawl_code code = put_command(b, guard, count == 0 ? NAMESPACE_EXISTS : 0, &command);
    return code == PAWL_OK ? code
                           : pawl_error_wrap(b->error, code, "indexes of collection %s", name);
}

static pawl_code drop_collection(const builder *b, const char *name)
{
    bson_t command = BSON_INITIALIZER;
    if (b->line != NULL) {
        tell(b, bson_strdup_printf("db.getCollection(\"%s\").drop();", name));
        return PAWL_OK;
    }
    (void)pawl__mongo_put(&command, "drop: %c", name);
    pawl_code code = put_command(b, "", NAMESPACE_NOT_FOUND, &command);
    return code == PAWL_OK ? code : pawl_error_wrap(b->error, code, "collection %s", name);
}

/* ---- Marks --------------------------------------------------------------- */

/* A document of the collection `schema`: a saga's collection, or the version of the others. */
typedef struct mark {
    pawl_text id;
    int64_t   version;
    pawl_text table; /* the name that the program gives, before it was sanitised */
    pawl_text main, transitional;
} mark;

static const pawl__field_list mark_fields =
    PAWL__FIELDS({offsetof(mark, id), "_id", PAWL__WIRE_TEXT, PAWL__FORM_ASIDE},
                 PAWL__AS_OF(mark, version, INT), PAWL__AS_OF(mark, table, TEXT),
                 PAWL__AS_OF(mark, main, TEXT), PAWL__AS_OF(mark, transitional, TEXT));

typedef struct found_marks {
    const mark *items;
    size_t      count;
} found_marks;

static pawl_code read_marks(pawl_store *store, pawl_arena *arena, found_marks *marks,
                            pawl_error *error)
{
    static const pawl__mongo_table table = PAWL__MONGO_TABLE("schema", NULL, mark_fields, mark);
    return pawl__mongo_read(store, &table, arena, &marks->items, &marks->count, error,
                            "filter: {}");
}

static const mark *find_mark(const found_marks *marks, const char *id)
{
    for (size_t i = 0; i < marks->count; i++)
        if (pawl_text_equal(marks->items[i].id, pawl_text_of(id)))
            return &marks->items[i];
    return NULL;
}

#define MARK "q: {_id: %t}, u: {$set: {%r}}"

/* Two programs that make it at once: the other one's mark says the same. */
static pawl_code put_mark(const builder *b, const mark *written)
{
    char   name[PAWL__MONGO_NAME_SIZE];
    bson_t command = BSON_INITIALIZER;
    if (b->line == NULL) {
        pawl_code code = pawl__mongo_write(b->store, "schema", PAWL__MONGO_UPSERT, NULL, b->error,
                                           MARK, written->id, &mark_fields, written);
        return code == PAWL_EDUPLICATE ? PAWL_OK : code;
    }
    pawl__mongo_name(b->store, "schema", name);
    (void)pawl__mongo_put(&command, "update: %c, updates: [{" MARK ", upsert: true}]", name,
                          written->id, &mark_fields, written);
    return put_command(b, "", 0, &command);
}

/* Of a saga's collection, whose names the others are. */
static mark mark_of(const pawl_saga_table *table, char name[PAWL__MONGO_NAME_SIZE],
                    char id[PAWL__MONGO_NAME_SIZE + 8])
{
    pawl__mongo_table_name(table->name, name);
    (void)snprintf(id, PAWL__MONGO_NAME_SIZE + 8, "saga:%s", name);
    return (mark){.id           = pawl_text_of(id),
                  .version      = VERSION,
                  .table        = table->name,
                  .main         = table->main.property,
                  .transitional = table->transitional.property};
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
        pawl__mongo_correlation_path(correlations[i], paths[i]);
        specs[count++] = (index_spec){paths[i], true, true};
    }
}

static bool is_marked(const mark *known, const pawl_correlation *correlation)
{
    return correlation->type == PAWL_VALUE_NONE ||
           pawl_text_equal(known->main, correlation->property) ||
           pawl_text_equal(known->transitional, correlation->property);
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

static pawl_code put_saga(const builder *b, const pawl_saga_table *table)
{
    char       name[PAWL__MONGO_NAME_SIZE], id[PAWL__MONGO_NAME_SIZE + 8];
    char       paths[2][PAWL__MONGO_PATH_SIZE];
    index_spec specs[INDEXES_MAX];
    const mark own = mark_of(table, name, id);
    saga_indexes(table, paths, specs);
    pawl_code code = put_collection(b, name, specs);
    return code == PAWL_OK ? put_mark(b, &own) : code;
}

/* Whether the mark says all that the saga needs; PAWL_ECONFIG and PAWL_ESCHEMA where it must not be so. */
static pawl_code check_mark(pawl_store *store, const mark *known, const pawl_saga_table *table,
                            bool *is_done, pawl_error *error)
{
    *is_done =
        known != NULL && is_marked(known, &table->main) && is_marked(known, &table->transitional);
    if (known != NULL && !pawl_text_equal(known->table, table->name))
        return refuse_alike(table, known, error);
    bool is_same =
        known == NULL || (pawl_text_equal(known->main, table->main.property) &&
                          pawl_text_equal(known->transitional, table->transitional.property));
    return is_same || store->mode == PAWL_OPEN_LOOK ? PAWL_OK
                                                    : pawl__mongo_check_reach(store, table, error);
}

static pawl_code ensure_saga(const builder *b, const found_marks *marks,
                             const pawl_saga_table *table)
{
    char name[PAWL__MONGO_NAME_SIZE], id[PAWL__MONGO_NAME_SIZE + 8];
    bool is_done = false;
    (void)mark_of(table, name, id);
    pawl_code code = check_mark(b->store, find_mark(marks, id), table, &is_done, b->error);
    if (code == PAWL_OK)
        code = check_old_name(b->store, table, name, b->error);
    return code != PAWL_OK || is_done ? code : put_saga(b, table);
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

/* The mark comes behind what it says is there. */
static pawl_code put_shared(const builder *b)
{
    static const index_spec none[INDEXES_MAX] = {{0}};
    char                    name[PAWL__MONGO_NAME_SIZE];
    pawl__mongo_name(b->store, "schema", name);
    pawl_code code = put_collection(b, name, none);
    for (size_t i = 0; code == PAWL_OK && i < COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(b->store, collections[i].name, name);
        code = put_collection(b, name, collections[i].indexes);
    }
    return code == PAWL_OK ? put_mark(b, &(mark){.id = PAWL_TEXT("version"), .version = VERSION})
                           : code;
}

pawl_code pawl__mongo_schema_make(pawl_store *store, const pawl_saga_table *const *tables,
                                  size_t count, pawl_error *error)
{
    const builder b       = {.store = store, .error = error};
    pawl_arena   *arena   = pawl_arena_create(0);
    found_marks   marks   = {.count = 0};
    int64_t       first   = 0;
    pawl_code     code    = read_marks(store, arena, &marks, error);
    const mark   *version = code == PAWL_OK ? find_mark(&marks, "version") : NULL;
    if (code == PAWL_OK && version == NULL)
        code = pawl__mongo_numbers(store, 1, &first, error);
    if (code == PAWL_OK)
        code = version == NULL ? put_shared(&b) : check_version(version, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = ensure_saga(&b, &marks, tables[i]);
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

static void check_saga(pawl_store *store, const found_marks *marks, const pawl_saga_table *table,
                       verifier *v)
{
    char       name[PAWL__MONGO_NAME_SIZE], id[PAWL__MONGO_NAME_SIZE + 8];
    pawl_error why = PAWL_ERROR_INIT;
    (void)mark_of(table, name, id);
    const mark *known = find_mark(marks, id);
    bool        is_done;
    pawl_code   code = check_mark(store, known, table, &is_done, &why);
    if (code == PAWL_OK && !is_done)
        code = pawl_error_set(&why, PAWL_ESCHEMA,
                              known == NULL ? "collection %s is missing"
                                            : "collection %s lacks the index of a property",
                              name);
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
    pawl_arena *arena = pawl_arena_create(0);
    found_marks marks = {.count = 0};
    verifier    all   = {.line = line, .context = context};
    pawl_code   code  = read_marks(store, arena, &marks, error);
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

/* ---- The verbs ----------------------------------------------------------- */

/* When no other of the prefix is left their version and counter go. */
static pawl_code drop_all(const builder *b, const pawl_schema_spec *spec)
{
    char      name[PAWL__MONGO_NAME_SIZE];
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < spec->table_count; i++) {
        pawl__mongo_table_name(spec->tables[i]->name, name);
        code = drop_collection(b, name);
    }
    for (size_t i = 0; code == PAWL_OK && i <= COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(b->store, i < COLLECTIONS_COUNT ? collections[i].name : "schema", name);
        code = drop_collection(b, name);
    }
    return code;
}

static pawl_code put_all(const builder *b, const pawl_schema_spec *spec)
{
    pawl_code code = put_shared(b);
    for (size_t i = 0; code == PAWL_OK && i < spec->table_count; i++)
        code = put_saga(b, spec->tables[i]);
    return code;
}

pawl_code pawl__mongo_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    const builder doing   = {.store = store, .error = error};
    const builder telling = {.store = store, .line = line, .context = context, .error = error};
    switch (verb) {
    case PAWL_SCHEMA_APPLY:
        return pawl__mongo_schema_make(store, spec->tables, spec->table_count, error);
    case PAWL_SCHEMA_VERIFY:
        return pawl__mongo_schema_check(store, spec->tables, spec->table_count, line, context,
                                        error);
    case PAWL_SCHEMA_DROP: return drop_all(&doing, spec);
    case PAWL_SCHEMA_PRINT:
        return spec->is_drop ? drop_all(&telling, spec) : put_all(&telling, spec);
    case PAWL_SCHEMA_PLAN: break;
    }
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "mongodb: what is missing is not told as a script; 'pawl schema verify' "
                          "names it");
}
