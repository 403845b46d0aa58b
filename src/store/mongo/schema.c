/* schema.c - creates, checks, drops and prints collections, indexes and validators.
 *
 * The collection `schema` has a document, the mark, for each collection whose indexes exist, so an open finds missing
 * ones with one read. A mark is written only after the indexes (M8). Marks do not cover validators: commits do not need
 * them, and an open neither sets nor checks them. Apply and verify list the collections instead. The mark of a saga's
 * collection contains the table's name as the program gives it: of two names that MongoDB's rules make equal, the
 * second is refused (M3), even if both are made at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"
#include "store/core/refusal.h"
#include "store/mongo/shape.h"

#include <stdio.h>
#include <string.h>

#define VERSION 1
#define NAMESPACE_EXISTS 48
#define NAMESPACE_NOT_FOUND 26

/* ---- Commands ------------------------------------------------------------ */

/* Creates or drops a schema, or prints the same as a script for mongosh, which may run repeatedly. */
typedef struct builder {
    pawl_store   *store;
    pawl_line_fn *line; /* NULL: commands are run, not printed */
    void         *context;
    pawl_error   *error;
} builder;

/* Prints the line, and frees it. */
static void tell(const builder *b, char *line)
{
    b->line(pawl_text_of(line), b->context);
    bson_free(line);
}

/* Did only the call time out, while the server goes on building the index? The same command, sent again, then waits for
 * the build. */
static bool is_under_way(const builder *b, pawl_code code, int64_t begun_ms)
{
    bson_t ping = BSON_INITIALIZER;
    (void)pawl__mongo_put(&ping, "ping: 1");
    bool is_ok = code == PAWL_ELOST && pawl__clock_ms() - begun_ms >= b->store->deadline_ms &&
                 pawl__mongo_command(b->store, &ping, 0, NULL, NULL) == PAWL_OK;
    bson_destroy(&ping);
    return is_ok;
}

/* Says which command is waited for: `createIndexes` of a large collection takes minutes. */
static void say_under_way(const builder *b, const bson_t *command, int64_t begun_ms)
{
    bson_iter_t at;
    if (bson_iter_init(&at, command) && bson_iter_next(&at) && BSON_ITER_HOLDS_UTF8(&at))
        pawl_log(PAWL_LOG_WARNING,
                 "%s: %s of collection %s still runs on the server after %lld s; it is waited for",
                 b->store->scheme, bson_iter_key(&at), bson_iter_utf8(&at, NULL),
                 (long long)((pawl__clock_ms() - begun_ms) / 1000));
}

/* Runs the command, where the error number `allowed` counts as success, or prints it behind `guard`. Destroys it. */
static pawl_code put_command(const builder *b, const char *guard, uint32_t allowed, bson_t *command)
{
    pawl_code code     = PAWL_OK;
    char     *json     = b->line != NULL ? bson_as_relaxed_extended_json(command, NULL) : NULL;
    int64_t   begun_ms = pawl__clock_ms();
    if (json != NULL)
        tell(b, bson_strdup_printf("%sdb.runCommand(%s);", guard, json));
    else if (b->line != NULL)
        code = pawl__mongo_no_memory(b->error);
    for (bool goes_on = b->line == NULL; goes_on;) {
        int64_t call_ms = pawl__clock_ms();
        code            = pawl__mongo_command(b->store, command, allowed, NULL, b->error);
        goes_on         = is_under_way(b, code, call_ms);
        if (goes_on)
            say_under_way(b, command, begun_ms);
    }
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

/* Creates a collection with its indexes. A script creates one without indexes only if it is missing, and sets its
 * validator, too. Destroys the shape. */
static pawl_code put_collection(const builder *b, pawl__mongo_shape *shape)
{
    char   guard[PAWL__MONGO_NAME_SIZE + 80] = "";
    bson_t command = BSON_INITIALIZER, list = BSON_INITIALIZER;
    pawl__mongo_put_indexes(&list, shape);
    bool is_bare = bson_empty(&list);
    if (is_bare) {
        (void)snprintf(guard, sizeof guard, "db.getCollectionNames().includes(\"%s\") || ",
                       shape->name);
        (void)pawl__mongo_put(&command, "create: %c", shape->name);
    } else {
        (void)pawl__mongo_put(&command, "createIndexes: %c, indexes: %a", shape->name, &list);
    }
    bson_destroy(&list);
    pawl_code code = put_command(b, guard, is_bare ? NAMESPACE_EXISTS : 0, &command);
    if (code != PAWL_OK)
        (void)pawl_error_wrap(b->error, code, "indexes of collection %s", shape->name);
    else if (b->line != NULL && !bson_empty(&shape->rule))
        code = set_rule(b, shape->name, &shape->rule);
    bson_destroy(&shape->rule);
    return code;
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

/* A document of the collection `schema`: for a saga's collection, or with the version of all others. */
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
    return PAWL__ROW_OF(mark, id, marks->items, marks->count, pawl_text_of(id));
}

static mark mark_of(const pawl_saga_table *table, const pawl__mongo_shape *shape)
{
    return (mark){.id           = pawl_text_of(shape->id),
                  .version      = VERSION,
                  .table        = table->name,
                  .main         = table->main.property,
                  .transitional = table->transitional.property};
}

#define MARK "q: {_id: %t, table?: %t}, u: {$set: {%r}}"

/* The mark exists already: another program wrote it at the same time, or it is for another name (M3). */
static pawl_code check_known(const builder *b, const mark *written)
{
    pawl_arena *arena = pawl_arena_create(0);
    found_marks marks = {.count = 0};
    pawl_code   code  = read_marks(b->store, arena, &marks, b->error);
    const mark *known = find_mark(&marks, written->id.data);
    if (code == PAWL_OK && known != NULL && !pawl_text_equal(known->table, written->table))
        code = pawl__mongo_refuse_alike(written->table, known->table, b->error);
    pawl_arena_destroy(arena);
    return code;
}

/* A mark for another name does not match the filter; the insert then fails, as its id exists. */
static pawl_code put_mark(const builder *b, const mark *written)
{
    char   name[PAWL__MONGO_NAME_SIZE];
    bson_t command = BSON_INITIALIZER;
    if (b->line == NULL) {
        pawl_code code =
            pawl__mongo_write(b->store, "schema", PAWL__MONGO_UPSERT, NULL, b->error, MARK,
                              written->id, written->table, &mark_fields, written);
        return code == PAWL_EDUPLICATE ? check_known(b, written) : code;
    }
    pawl__mongo_name(b->store, "schema", name);
    (void)pawl__mongo_put(&command, "update: %c, updates: [{" MARK ", upsert: true}]", name,
                          written->id, written->table, &mark_fields, written);
    return put_command(b, "", 0, &command);
}

/* ---- Saga collections ---------------------------------------------------- */

static bool is_marked(const mark *known, const pawl_correlation *correlation)
{
    return correlation->type == PAWL_VALUE_NONE ||
           pawl_text_equal(known->main, correlation->property) ||
           pawl_text_equal(known->transitional, correlation->property);
}

/* M3: refuses if an earlier program wrote data under the unsanitised name, which would not be found any more. */
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
    return pawl_error_set(
        error, PAWL_ESCHEMA,
        "saga %.*s: there is a collection '%s' of an older program, which is "
        "named %s now; rename it: db.getCollection(\"%s\").renameCollection(\"%s\")",
        PAWL_TEXT_ARGS(table->type), old, name, old, name);
}

static pawl_code put_saga(const builder *b, const pawl_saga_table *table)
{
    pawl__mongo_shape shape;
    pawl__mongo_saga_shape(&shape, table);
    const mark own  = mark_of(table, &shape);
    pawl_code  code = put_collection(b, &shape);
    return code == PAWL_OK ? put_mark(b, &own) : code;
}

/* Does the mark cover all that the saga needs? PAWL_ECONFIG or PAWL_ESCHEMA if mark and saga contradict each other. */
static pawl_code check_mark(pawl_store *store, const mark *known, const pawl_saga_table *table,
                            bool *is_done, pawl_error *error)
{
    *is_done =
        known != NULL && is_marked(known, &table->main) && is_marked(known, &table->transitional);
    if (known != NULL && !pawl_text_equal(known->table, table->name))
        return pawl__mongo_refuse_alike(table->name, known->table, error);
    bool is_same =
        known == NULL || (pawl_text_equal(known->main, table->main.property) &&
                          pawl_text_equal(known->transitional, table->transitional.property));
    return is_same || store->mode == PAWL_OPEN_EXISTING
               ? PAWL_OK
               : pawl__mongo_check_reach(store, table, error);
}

static pawl_code ensure_saga(const builder *b, const found_marks *marks,
                             const pawl_saga_table *table)
{
    pawl__mongo_shape shape;
    bool              is_done = false;
    pawl__mongo_saga_shape(&shape, table);
    bson_destroy(&shape.rule);
    pawl_code code = check_mark(b->store, find_mark(marks, shape.id), table, &is_done, b->error);
    if (code == PAWL_OK)
        code = check_old_name(b->store, table, shape.name, b->error);
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

/* Writes the mark last, after everything that it stands for. */
static pawl_code put_shared(const builder *b)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < PAWL__MONGO_SHAPES; i++) {
        pawl__mongo_shape shape;
        pawl__mongo_shape_make(&shape, b->store, NULL, i);
        code = put_collection(b, &shape);
    }
    return code == PAWL_OK ? put_mark(b, &(mark){.id = PAWL_TEXT("version"), .version = VERSION})
                           : code;
}

pawl_code pawl__mongo_schema_make(pawl_store *store, const pawl_saga_table *const *tables,
                                  size_t count, pawl_error *error)
{
    const builder b     = {.store = store, .error = error};
    pawl_arena   *arena = pawl_arena_create(0);
    found_marks   marks = {.count = 0};
    int64_t       first = 0;
    pawl_code     code  = pawl__mongo_names_check(tables, count, error);
    if (code == PAWL_OK)
        code = read_marks(store, arena, &marks, error);
    const mark *version = code == PAWL_OK ? find_mark(&marks, "version") : NULL;
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
    char         *bare; /* names of collections without validator; NULL: none */
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

/* Notes a collection without a validator, as one that an open created. */
static void note_bare(verifier *v, const char *name)
{
    char *before = v->bare;
    v->bare      = before == NULL ? bson_strdup(name) : bson_strdup_printf("%s, %s", before, name);
    bson_free(before);
}

/* Only warns: no commit depends on validators. */
static void warn_of_bare(verifier *v)
{
    if (v->bare != NULL && v->line != NULL) {
        char *text = bson_strdup_printf(
            "warning: without pawl's validator, which no commit depends on: %s; `pawl schema "
            "apply` sets it, but not on DocumentDB, where two workers would claim one message",
            v->bare);
        v->line(pawl_text_of(text), v->context);
        bson_free(text);
    }
    bson_free(v->bare);
}

static void check_saga(pawl_store *store, const found_marks *marks, const pawl_saga_table *table,
                       verifier *v)
{
    pawl__mongo_shape shape;
    bool              is_done;
    pawl_error        why = PAWL_ERROR_INIT;
    pawl__mongo_saga_shape(&shape, table);
    bson_destroy(&shape.rule);
    const mark *known = find_mark(marks, shape.id);
    pawl_code   code  = check_mark(store, known, table, &is_done, &why);
    if (code == PAWL_OK)
        code = check_old_name(store, table, shape.name, &why);
    if (code != PAWL_OK)
        add_difference(v, code, &why);
    else if (!is_done)
        say(v,
            known == NULL ? "collection %s is missing"
                          : "collection %s lacks the index of a property",
            shape.name, NULL);
}

static void check_shared(const pawl_store *store, const mark *version, verifier *v)
{
    pawl_error why = PAWL_ERROR_INIT;
    for (size_t i = 0; version == NULL && i < PAWL__MONGO_SHAPES; i++) {
        pawl__mongo_shape shape;
        pawl__mongo_shape_make(&shape, store, NULL, i);
        bson_destroy(&shape.rule);
        say(v, "collection %s is missing", shape.name, NULL);
    }
    if (version != NULL && check_version(version, &why) != PAWL_OK)
        add_difference(v, PAWL_ESCHEMA, &why);
}

/* Do both have the same value of a boolean member? A missing one counts as false. */
static bool has_same_bool(const bson_t *one, const bson_t *other, const char *member)
{
    bson_iter_t at;
    bool        is_one = bson_iter_init_find(&at, one, member) && bson_iter_as_bool(&at);
    return is_one == (bson_iter_init_find(&at, other, member) && bson_iter_as_bool(&at));
}

/* Have both the same ascending keys in the same order? Number types may differ: copied databases may have doubles. */
static bool has_keys(const bson_t *found, const bson_t *ought)
{
    bson_t      keys[2];
    bson_iter_t is, want;
    pawl__mongo_part(found, "key", &keys[0]);
    pawl__mongo_part(ought, "key", &keys[1]);
    bool is_same = bson_count_keys(&keys[0]) == bson_count_keys(&keys[1]) &&
                   bson_iter_init(&is, &keys[0]) && bson_iter_init(&want, &keys[1]);
    while (is_same && bson_iter_next(&is) && bson_iter_next(&want))
        is_same = strcmp(bson_iter_key(&is), bson_iter_key(&want)) == 0 &&
                  bson_iter_as_int64(&is) == bson_iter_as_int64(&want);
    return is_same;
}

static pawl_code check_indexes(const builder *b, verifier *v, const pawl__mongo_shape *shape)
{
    bson_iter_t at;
    bson_t      reply, listed, ought, found, command = BSON_INITIALIZER, list = BSON_INITIALIZER;
    (void)pawl__mongo_put(&command, "listIndexes: %c, cursor: {batchSize: 1000}", shape->name);
    pawl_code code = pawl__mongo_batch(b->store, &command, &reply, &listed, b->error);
    pawl__mongo_put_indexes(&list, shape);
    for (bson_iter_init(&at, &list); code == PAWL_OK && bson_iter_next(&at);) {
        pawl__mongo_part(&list, bson_iter_key(&at), &ought);
        const char *index = pawl__mongo_get_text(&ought, "name").data;
        if (!pawl__mongo_find_by_name(&listed, index, &found))
            say(v, "collection %s lacks its index %s", shape->name, index);
        else if (!has_keys(&found, &ought) || !has_same_bool(&found, &ought, "unique") ||
                 !has_same_bool(&found, &ought, "sparse"))
            say(v,
                "collection %s: its index %s has another key, unique or sparse: drop that index "
                "first",
                shape->name, index);
    }
    bson_destroy(&list);
    bson_destroy(&reply);
    return code;
}

/* With a verifier reports how a collection differs, else sets its validator. Lists only this collection, since the list
 * of all may exceed one answer. */
static pawl_code check_collection(const builder *b, verifier *v, const pawl__mongo_shape *shape)
{
    bson_t reply, listed, found, options, is, ought, command = BSON_INITIALIZER;
    (void)pawl__mongo_put(&command, "listCollections: 1, filter: {name: %c}", shape->name);
    pawl_code code     = pawl__mongo_batch(b->store, &command, &reply, &listed, b->error);
    bool      is_there = pawl__mongo_find_by_name(&listed, shape->name, &found);
    pawl__mongo_part(&found, "options", &options);
    pawl__mongo_part(&options, "validator", &is);
    pawl__mongo_part(&shape->rule, "validator", &ought);
    bool is_same = bson_empty(&shape->rule) || bson_equal(&is, &ought);
    if (code == PAWL_OK && v == NULL && !is_same)
        code = set_rule(b, shape->name, &shape->rule);
    if (code == PAWL_OK && v != NULL && !is_there)
        say(v, "collection %s is missing", shape->name, NULL);
    else if (code == PAWL_OK && v != NULL && !is_same)
        note_bare(v, shape->name);
    bson_destroy(&reply);
    return code == PAWL_OK && v != NULL && is_there ? check_indexes(b, v, shape) : code;
}

/* Checks collections that have a mark; missing marks are reported before. */
static pawl_code check_collections(const builder *b, verifier *v, const found_marks *marks,
                                   const pawl_saga_table *const *tables, size_t table_count)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < PAWL__MONGO_SHAPES + table_count; i++) {
        pawl__mongo_shape shape;
        pawl__mongo_shape_make(&shape, b->store, tables, i);
        if (v == NULL || find_mark(marks, shape.id) != NULL)
            code = check_collection(b, v, &shape);
        bson_destroy(&shape.rule);
    }
    return code;
}

pawl_code pawl__mongo_schema_check(pawl_store *store, const pawl_saga_table *const *tables,
                                   size_t count, pawl_line_fn *line, void *context,
                                   pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(0);
    found_marks marks = {.count = 0};
    verifier    all   = {.line = line, .context = context};
    pawl_code   code  = pawl__mongo_names_check(tables, count, error);
    if (code == PAWL_OK)
        code = read_marks(store, arena, &marks, error);
    if (code == PAWL_OK) {
        check_shared(store, find_mark(&marks, "version"), &all);
        for (size_t i = 0; i < count; i++)
            check_saga(store, &marks, tables[i], &all);
        if (line != NULL)
            code = check_collections(&(builder){.store = store, .error = error}, &all, &marks,
                                     tables, count);
    }
    warn_of_bare(&all);
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

static pawl_code drop_all(const builder *b, const pawl_schema_spec *spec)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < PAWL__MONGO_SHAPES + spec->table_count; i++) {
        pawl__mongo_shape shape;
        pawl__mongo_shape_make(&shape, b->store, spec->tables, i);
        bson_destroy(&shape.rule);
        code = drop_collection(b, shape.name);
    }
    return code;
}

static pawl_code put_all(const builder *b, const pawl_schema_spec *spec)
{
    pawl_code code = pawl__mongo_names_check(spec->tables, spec->table_count, b->error);
    if (code == PAWL_OK)
        code = put_shared(b);
    for (size_t i = 0; code == PAWL_OK && i < spec->table_count; i++)
        code = put_saga(b, spec->tables[i]);
    return code;
}

/* Creates what has no mark, then what has a mark but was removed since. */
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
    if (verb == PAWL_SCHEMA_APPLY && spec->is_purge)
        return pawl_error_set(
            error, PAWL_EUNSUPPORTED,
            "mongodb: --purge is not supported; in mongosh the index of a property "
            "that no saga has any more is dropped by "
            "db.getCollection(\"SAGA\").dropIndex(\"correlation.PROPERTY\")");
    pawl_code code = verb != PAWL_SCHEMA_PRINT ? pawl__mongo_connect(store, error) : PAWL_OK;
    if (code != PAWL_OK)
        return code;
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
