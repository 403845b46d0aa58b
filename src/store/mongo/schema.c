/* schema.c - collections, their indexes and validators: made, checked, dropped and printed.
 *
 * The collection `schema` has a document for each collection whose indexes are there: so an open asks
 * one find whether anything is missing. A document is written when its indexes were made, not before
 * (M8). Validators are no part of that: an open neither sets nor asks for them, since a commit needs none; apply and
 * verify list the collections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/reach.h"
#include "store/mongo/commit.h"

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

#define NO_KIND pawl_change_kind_count

typedef struct collection_spec {
    const char      *name;
    pawl_change_kind kind; /* whose fields its documents have; NO_KIND: they have no validator */
    index_spec       indexes[INDEXES_MAX];
} collection_spec;

static const collection_spec collections[] = {
    {"queue",
     pawl_change_queue_send,
     {{"queue,message_id", true, false},
      {"queue,due,_id", false, false},
      {"queue,placed,_id", false, false},
      {"claimed_by", false, true}}},
    {"inbox", pawl_change_inbox_mark, {{"at", false, false}}},
    {"dead", pawl_change_dead_set, {{"endpoint,message_id", true, false}, {"at", false, false}}},
    {"outbox",
     pawl_change_outbox_add,
     {{"dispatch_id", true, false},
      {"state,_id", false, false},
      {"source,version,index", false, false},
      {"ended", false, true}}},
    {"events",
     pawl_change_event_append,
     {{"stream,version", true, false},
      {"position", true, true},
      {"unnumbered", false, true},
      {"message_id", false, true},
      {"correlation_id", false, true}}},
    {"bodies", NO_KIND, {{0}}},
    {"folds", pawl_change_fold_set, {{0}}},
    {"checkpoints", NO_KIND, {{0}}},
    {"timeouts",
     pawl_change_timeout_set,
     {{"armed", true, true},
      {"saga_id", false, true},
      {"destination,due,_id", false, false},
      {"due,_id", false, false},
      {"worker", false, true}}},
    {"aggregator",
     pawl_change_aggregator_add,
     {{"partition,key", true, false}, {"partition,at,_id", false, false}, {"worker", false, true}}},
    {"aggregator_flush", pawl_change_flush_set, {{"name,is_dead,due", false, false}}},
    {"subscriptions", pawl_change_subscription_set, {{0}}},
    {"workers", NO_KIND, {{0}}},
    {"leases", NO_KIND, {{0}}},
    {"history",
     pawl_change_history_add,
     {{"source,_id", false, true}, {"message_id,_id", false, false}}},
};
#define COLLECTIONS_COUNT (sizeof collections / sizeof collections[0])

/* ---- Commands ------------------------------------------------------------ */

/* "queue,due,_id" as {queue: 1, due: 1, _id: 1}, named queue_due__id. */
static void put_indexes(bson_t *list, const index_spec *spec)
{
    char name[PAWL__MONGO_PATH_SIZE * 2];
    for (uint32_t count = 0; count < INDEXES_MAX && spec->keys != NULL; spec++) {
        bson_t keys = BSON_INITIALIZER;
        (void)snprintf(name, sizeof name, "%s", spec->keys);
        for (char *at = strtok(name, ","); at != NULL; at = strtok(NULL, ","))
            (void)pawl__mongo_put(&keys, "%k: 1", at);
        (void)snprintf(name, sizeof name, "%s", spec->keys);
        for (char *at = name; *at != '\0'; at++)
            if (*at == ',')
                *at = '_';
        (void)pawl__mongo_push(list, &count, "{key: %d, name: %c, unique?: %b, sparse?: %b}", &keys,
                               name, (int)spec->is_unique, (int)spec->is_sparse);
        bson_destroy(&keys);
    }
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

static pawl_code set_rule(const builder *b, const char *name, const bson_t *rule)
{
    bson_t command = BSON_INITIALIZER;
    (void)pawl__mongo_put(&command, "collMod: %c, %m", name, rule);
    pawl_code code = put_command(b, "", 0, &command);
    return code == PAWL_OK ? code
                           : pawl_error_wrap(b->error, code, "validator of collection %s", name);
}

/* A collection with its indexes, or one without any, which a script makes where it is not there; a script sets its
 * validator, too. */
static pawl_code put_collection(const builder *b, const char *name, const index_spec *specs,
                                const bson_t *rule)
{
    char   guard[PAWL__MONGO_NAME_SIZE + 80] = "";
    bson_t command = BSON_INITIALIZER, list = BSON_INITIALIZER;
    put_indexes(&list, specs);
    bool is_bare = bson_empty(&list);
    if (is_bare) {
        (void)snprintf(guard, sizeof guard, "db.getCollectionNames().includes(\"%s\") || ", name);
        (void)pawl__mongo_put(&command, "create: %c", name);
    } else {
        (void)pawl__mongo_put(&command, "createIndexes: %c, indexes: %a", name, &list);
    }
    bson_destroy(&list);
    pawl_code code = put_command(b, guard, is_bare ? NAMESPACE_EXISTS : 0, &command);
    if (code != PAWL_OK)
        return pawl_error_wrap(b->error, code, "indexes of collection %s", name);
    return b->line != NULL && !bson_empty(rule) ? set_rule(b, name, rule) : PAWL_OK;
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
    const mark own  = mark_of(table, name, id);
    bson_t     rule = BSON_INITIALIZER;
    saga_indexes(table, paths, specs);
    (void)pawl__mongo_put_rule(&rule, &pawl__mongo_saga_fields, true);
    pawl_code code = put_collection(b, name, specs, &rule);
    bson_destroy(&rule);
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

static void put_rule(bson_t *rule, const collection_spec *spec)
{
    bool is_keyed = spec->kind == pawl_change_inbox_mark || spec->kind == pawl_change_fold_set ||
                    spec->kind == pawl_change_flush_set;
    if (spec->kind != NO_KIND)
        (void)pawl__mongo_put_rule(rule, &pawl__change_fields[spec->kind], is_keyed);
}

/* The mark comes behind what it says is there. */
static pawl_code put_shared(const builder *b)
{
    static const index_spec none[INDEXES_MAX] = {{0}};
    static const bson_t     no_rule           = BSON_INITIALIZER;
    char                    name[PAWL__MONGO_NAME_SIZE];
    pawl__mongo_name(b->store, "schema", name);
    pawl_code code = put_collection(b, name, none, &no_rule);
    for (size_t i = 0; code == PAWL_OK && i < COLLECTIONS_COUNT; i++) {
        bson_t rule = BSON_INITIALIZER;
        put_rule(&rule, &collections[i]);
        pawl__mongo_name(b->store, collections[i].name, name);
        code = put_collection(b, name, collections[i].indexes, &rule);
        bson_destroy(&rule);
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

static void say(verifier *v, const char *text, const char *name, const char *keys)
{
    pawl_error why = PAWL_ERROR_INIT;
    add_difference(v, pawl_error_set(&why, PAWL_ESCHEMA, text, name, keys), &why);
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
    if (code != PAWL_OK)
        add_difference(v, code, &why);
    else if (!is_done)
        say(v,
            known == NULL ? "collection %s is missing"
                          : "collection %s lacks the index of a property",
            name, NULL);
}

static void check_shared(const pawl_store *store, const mark *version, verifier *v)
{
    char       name[PAWL__MONGO_NAME_SIZE];
    pawl_error why = PAWL_ERROR_INIT;
    for (size_t i = 0; version == NULL && i < COLLECTIONS_COUNT; i++) {
        pawl__mongo_name(store, collections[i].name, name);
        say(v, "collection %s is missing", name, NULL);
    }
    if (version != NULL && check_version(version, &why) != PAWL_OK)
        add_difference(v, PAWL_ESCHEMA, &why);
}

static pawl_code check_indexes(const builder *b, verifier *v, const char *name,
                               const index_spec *specs)
{
    bson_iter_t at;
    bson_t      reply, listed, ought, found, command = BSON_INITIALIZER, list = BSON_INITIALIZER;
    (void)pawl__mongo_put(&command, "listIndexes: %c, cursor: {batchSize: 1000}", name);
    pawl_code code = pawl__mongo_batch(b->store, &command, &reply, &listed, b->error);
    put_indexes(&list, specs);
    for (bson_iter_init(&at, &list); code == PAWL_OK && bson_iter_next(&at);) {
        pawl__mongo_part(&list, bson_iter_key(&at), &ought);
        const char *index = pawl__mongo_get_text(&ought, "name").data;
        if (!pawl__mongo_named(&listed, index, &found))
            say(v, "collection %s lacks its index %s", name, index);
    }
    bson_destroy(&list);
    bson_destroy(&reply);
    return code;
}

/* Tells how a collection that was made differs; without a verifier it gets its validator. */
static pawl_code check_collection(const builder *b, verifier *v, const bson_t *listed,
                                  const char *name, const index_spec *specs, const bson_t *rule)
{
    bson_t found, options, is, ought;
    bool   is_there = pawl__mongo_named(listed, name, &found);
    pawl__mongo_part(&found, "options", &options);
    pawl__mongo_part(&options, "validator", &is);
    pawl__mongo_part(rule, "validator", &ought);
    bool is_same = bson_empty(rule) || bson_equal(&is, &ought);
    if (v == NULL)
        return is_same ? PAWL_OK : set_rule(b, name, rule);
    if (!is_there)
        say(v, "collection %s is missing", name, NULL);
    else if (!is_same)
        say(v, "collection %s lacks its validator, or has another one", name, NULL);
    return is_there ? check_indexes(b, v, name, specs) : PAWL_OK;
}

/* Of those that have a mark: the others are told already. */
static pawl_code check_collections(const builder *b, verifier *v, const found_marks *marks,
                                   const pawl_saga_table *const *tables, size_t table_count)
{
    char   name[PAWL__MONGO_NAME_SIZE], id[PAWL__MONGO_NAME_SIZE + 8] = "version";
    char   paths[2][PAWL__MONGO_PATH_SIZE];
    bson_t reply, listed, command = BSON_INITIALIZER;
    (void)pawl__mongo_put(&command, "listCollections: 1, cursor: {batchSize: 100000}");
    pawl_code code = pawl__mongo_batch(b->store, &command, &reply, &listed, b->error);
    for (size_t i = 0; code == PAWL_OK && i < COLLECTIONS_COUNT + table_count; i++) {
        index_spec        own[INDEXES_MAX];
        const index_spec *specs = own;
        bson_t            rule  = BSON_INITIALIZER;
        if (i < COLLECTIONS_COUNT) {
            specs = collections[i].indexes;
            put_rule(&rule, &collections[i]);
            pawl__mongo_name(b->store, collections[i].name, name);
        } else {
            const pawl_saga_table *table = tables[i - COLLECTIONS_COUNT];
            saga_indexes(table, paths, own);
            (void)pawl__mongo_put_rule(&rule, &pawl__mongo_saga_fields, true);
            (void)mark_of(table, name, id);
        }
        if (v == NULL || find_mark(marks, id) != NULL)
            code = check_collection(b, v, &listed, name, specs, &rule);
        bson_destroy(&rule);
    }
    bson_destroy(&reply);
    return code;
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
        if (line != NULL)
            code = check_collections(&(builder){.store = store, .error = error}, &all, &marks,
                                     tables, count);
    }
    if (code == PAWL_OK) {
        code = all.code;
        if (code != PAWL_OK)
            (void)pawl_error_set(error, code,
                                 "mongodb: %s; 'pawl schema apply' makes what is missing",
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

/* Makes what is missing, then once more what somebody took away since it was made, which no mark tells. */
static pawl_code apply(const builder *b, const pawl_schema_spec *spec)
{
    pawl_code code = pawl__mongo_schema_make(b->store, spec->tables, spec->table_count, b->error);
    if (code == PAWL_OK)
        code = put_all(b, spec);
    return code == PAWL_OK ? check_collections(b, NULL, NULL, spec->tables, spec->table_count)
                           : code;
}

pawl_code pawl__mongo_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    const builder doing   = {.store = store, .error = error};
    const builder telling = {.store = store, .line = line, .context = context, .error = error};
    switch (verb) {
    case PAWL_SCHEMA_APPLY: return apply(&doing, spec);
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
