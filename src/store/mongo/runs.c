/* runs.c - writes the changes of each kind, in runs of changes for different documents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#include "store/core/kinds.h"

#include <string.h>

static const pawl__mongo_rule *const ways[pawl_change_kind_count] = {
#define ROW(name, is_refusable) [pawl_change_##name] = &pawl__mongo_##name##_rule,
    PAWL_CHANGE_KINDS(ROW)
#undef ROW
};

/* ---- For the kinds ------------------------------------------------------- */

pawl_code pawl__mongo_known(const void *change, pawl_error *why)
{
    (void)change, (void)why;
    return PAWL_OK;
}

pawl_code pawl__mongo_refuse(const pawl__mongo_run *r, size_t index, const pawl_error *why)
{
    pawl__mongo_writer *writer = r->writer;
    r->is_settled[index]       = true;
    if (pawl__refuse(writer->refused, writer->kind, r->items[index], why) == PAWL_OK)
        return PAWL_OK;
    return pawl__mongo_no_memory(writer->error);
}

pawl_code pawl__mongo_mismatch(const pawl__mongo_run *r, int64_t done, size_t expected)
{
    pawl__mongo_of(r->writer->store)->is_mismatch = true;
    return pawl_error_set(r->writer->error, PAWL_EBUSY,
                          "mongodb: %s: %lld documents were written, not %zu",
                          pawl_change_kind_name(r->writer->kind), (long long)done, expected);
}

static pawl_text saga_of(const pawl__mongo_run *r)
{
    return r->scope.table != NULL ? r->scope.table->name : PAWL_TEXT("");
}

bool pawl__mongo_is_there(const pawl__mongo_run *r, const void *change, const char *filter)
{
    const pawl__mongo_table table  = {.name = r->rule->collection, .saga = saga_of(r)};
    pawl__mongo_scope       scope  = r->scope;
    bson_t                  wanted = BSON_INITIALIZER;
    bool                    is     = false;
    scope.change                   = change;
    if (pawl__mongo_put_scope(&wanted, filter, &scope))
        (void)pawl__mongo_read_one(r->writer->store, &table, NULL, NULL, &is, r->writer->error,
                                   "filter: %d, projection: {_id: 1}", &wanted);
    bson_destroy(&wanted);
    return is;
}

/* ---- Looking ------------------------------------------------------------- */

static bool is_equal(const pawl__field *left, const void *left_row, const pawl__field *right,
                     const void *right_row)
{
    const void *a = (const char *)left_row + left->offset;
    const void *b = (const char *)right_row + right->offset;
    switch (left->wire) {
    case PAWL__WIRE_INT: return *(const int64_t *)a == *(const int64_t *)b;
    case PAWL__WIRE_UUID:
        return pawl_uuid_compare(*(const pawl_uuid *)a, *(const pawl_uuid *)b) == 0;
    default: return pawl_text_equal(*(const pawl_text *)a, *(const pawl_text *)b);
    }
}

static pawl_text next_name(const char **at, const char *ends)
{
    pawl_text name = {.data = *at, .size = strcspn(*at, ends)};
    *at += name.size;
    *at += **at != '\0';
    return name;
}

/* Pairs of a change's field and a row's field that are compared. */
typedef struct pairs {
    const pawl__field *items[2][2];
    size_t             count;
} pairs;

/* Parses "a=b,c=d", or NULL. */
static pairs read_pairs(const pawl__mongo_run *r, const pawl__mongo_table *table, const char *at)
{
    pairs p = {.count = 0};
    for (; at != NULL && *at != '\0'; p.count++) {
        p.items[p.count][0] = pawl__mongo_field_of(r->scope.fields, next_name(&at, "="));
        p.items[p.count][1] = pawl__mongo_field_in(table, next_name(&at, ","));
    }
    return p;
}

static bool are_equal(const pairs *p, const void *change, const void *row)
{
    size_t same = 0;
    while (same < p->count && is_equal(p->items[same][0], change, p->items[same][1], row))
        same++;
    return same == p->count;
}

static pawl_code read_rows(pawl__mongo_run *r, const pawl__mongo_table *table)
{
    bson_t              asked   = BSON_INITIALIZER;
    pawl__mongo_writer *writer  = r->writer;
    pawl__mongo_scope   scope   = r->scope;
    const void        **changes = pawl_arena_take(writer->arena, r->count * sizeof *changes);
    pawl_code           code    = PAWL_OK;
    scope.change                = r->items[0];
    scope.changes               = changes;
    scope.count                 = 0;
    for (size_t i = 0; changes != NULL && i < r->count; i++)
        if (r->rule->is_read == NULL || r->rule->is_read(r->items[i]))
            changes[scope.count++] = r->items[i];
    if (changes == NULL || !pawl__mongo_put_scope(&asked, r->rule->reads, &scope))
        code = pawl__mongo_no_memory(writer->error);
    else
        code = pawl__mongo_read(writer->store, table, writer->arena, &r->rows, &r->row_count,
                                writer->error, "%m", &asked);
    bson_destroy(&asked);
    return code;
}

/* The index of the row that matches the change; the number of rows if none does. */
static size_t find_row(const pawl__mongo_run *r, const pawl__mongo_table *table, const pairs *match,
                       const void *change)
{
    size_t i = match->count != 0 ? 0 : r->row_count;
    while (i < r->row_count && !are_equal(match, change, r->rows + i * table->row_size))
        i++;
    return i;
}

/* Refuses what the documents forbid. The verdict on the first event of a stream holds for all its later events. */
static pawl_code read_and_judge(pawl__mongo_run *r)
{
    const pawl__mongo_rule  *rule  = r->rule;
    const pawl__mongo_table  saga  = {.id       = "id",
                                      .fields   = &pawl__mongo_saga_fields,
                                      .row_size = sizeof(pawl_saga_row),
                                      .saga     = saga_of(r)};
    const pawl__mongo_table *table = rule->table != NULL ? rule->table : &saga;
    const pairs              match = read_pairs(r, table, rule->match);
    const pairs              same  = read_pairs(r, table, rule->same);
    pawl_code                code  = rule->reads != NULL ? read_rows(r, table) : PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < r->count; i++) {
        pawl_error    text = PAWL_ERROR_INIT;
        size_t        at   = find_row(r, table, &match, r->items[i]);
        const void   *row  = at < r->row_count ? r->rows + at * table->row_size : NULL;
        pawl__why_fn *why  = row == NULL                           ? rule->if_missing
                             : !are_equal(&same, r->items[i], row) ? rule->if_other
                                                                   : rule->if_there;
        if (why == NULL && rule->judge != NULL)
            why = rule->judge(r, r->items[i], row);
        r->is_settled[i] = why != NULL;
        if (why != NULL && why(r->items[i], &text) != PAWL_OK)
            code = pawl__mongo_refuse(r, i, &text);
    }
    return code;
}

/* ---- Writing ------------------------------------------------------------- */

/* A write of a rule, parsed. */
typedef struct parsed_write {
    pawl__mongo_op     op;
    bool               condition_holds, is_counted;
    const pawl__field *by; /* or NULL */
    const char        *text;
} parsed_write;

/* Does the condition before the write hold? Without a condition, yes. Moves *at behind it. */
static bool condition_holds(const pawl__mongo_run *r, const void *change, const char **at)
{
    bool condition_holds = true;
    if (strncmp(*at, "when ", 5) != 0)
        return true;
    for (*at += 4; **at == ' ';) {
        bool      is_not         = *++*at == '!';
        pawl_text name           = {.data = *at + is_not};
        name.size                = strcspn(name.data, " =:");
        const pawl__field *field = pawl__mongo_field_of(r->scope.fields, name);
        const void        *value = (const char *)change + field->offset;
        *at                      = name.data + name.size;
        if (**at != '=') {
            condition_holds &= pawl__mongo_is_empty(field->wire, value) == is_not;
            continue;
        }
        name = (pawl_text){.data = *at + 1, .size = strcspn(*at + 1, " :")};
        condition_holds &=
            pawl_text_equal(name, field->wire == PAWL__WIRE_CHOICE
                                      ? pawl_text_of(r->rule->choices[*(const int *)value])
                                      : pawl__mongo_word(field->wire, value));
        *at = name.data + name.size;
    }
    *at += 2;
    return condition_holds;
}

/* Parses the write for the change. */
static parsed_write parse_write(const pawl__mongo_run *r, int number, const void *change)
{
    static const char *const words[] = {
        [PAWL__MONGO_REMOVE] = "remove ",       [PAWL__MONGO_REMOVE_MANY] = "removes ",
        [PAWL__MONGO_UPDATE] = "update ",       [PAWL__MONGO_UPSERT] = "upsert ",
        [PAWL__MONGO_UPDATE_MANY] = "updates ", [PAWL__MONGO_INSERT] = "insert "};
    parsed_write s    = {.text = r->rule->writes[number]};
    s.condition_holds = condition_holds(r, change, &s.text);
    s.is_counted      = strncmp(s.text, "maybe ", 6) != 0;
    s.text += s.is_counted ? 0 : 6;
    if (strncmp(s.text, "by ", 3) == 0) {
        s.text += 3;
        s.by = pawl__mongo_field_of(r->scope.fields, next_name(&s.text, " "));
    }
    while (strncmp(s.text, words[s.op], strlen(words[s.op])) != 0)
        s.op++;
    s.text += strlen(words[s.op]);
    return s;
}

/* The index of the write that the change needs. */
static int choose_one(const pawl__mongo_run *r, const void *change)
{
    if (r->rule->choose != NULL)
        return r->rule->choose(r, change);
    for (int i = 0; i < PAWL__MONGO_WRITES_MAX && r->rule->writes[i] != NULL; i++)
        if (parse_write(r, i, change).condition_holds)
            return i;
    return PAWL__MONGO_NOTHING;
}

typedef struct writing {
    pawl__mongo_run *run;
    pawl__mongo_bulk bulk;
    int             *chosen; /* by item; NOTHING once it is written */
    size_t           expected;
    bool             is_counted;
} writing;

/* Adds the change's write, which with "by FIELD" covers later changes of the same write and value, too. */
static void add_write(writing *w, size_t first, const parsed_write *s)
{
    pawl__mongo_run  *r     = w->run;
    pawl__mongo_scope scope = r->scope;
    bson_t            made  = BSON_INITIALIZER;
    int               own   = w->chosen[first];
    size_t            end   = s->by != NULL ? r->count : first + 1;
    const void      **alike = pawl_arena_take(r->writer->arena, (end - first) * sizeof *alike);
    scope.change            = r->items[first];
    scope.count             = 0;
    if (alike == NULL) {
        w->bulk.code = PAWL_ENOMEM;
        return;
    }
    for (size_t i = first; i < end; i++)
        if (w->chosen[i] == own &&
            (s->by == NULL || is_equal(s->by, r->items[i], s->by, scope.change))) {
            alike[scope.count++] = r->items[i];
            w->chosen[i]         = PAWL__MONGO_NOTHING;
        }
    scope.changes = alike;
    w->expected += scope.count;
    bool is_ok = pawl__mongo_put_scope(&made, s->text, &scope);
    pawl__mongo_add_document(&w->bulk, s->op, &made, is_ok);
    bson_destroy(&made);
}

/* Chooses a write for each item. */
static pawl_code choose(const pawl__mongo_run *r, int *chosen)
{
    for (size_t i = 0; i < r->count; i++) {
        chosen[i] = r->is_settled[i] ? PAWL__MONGO_NOTHING : choose_one(r, r->items[i]);
        if (chosen[i] == PAWL__MONGO_FAILED)
            return r->writer->error != NULL ? r->writer->error->code : PAWL_EPERSIST;
    }
    return PAWL_OK;
}

static pawl_code write_all(pawl__mongo_run *r)
{
    pawl__mongo_writer *writer = r->writer;
    writing             w      = {.run    = r,
                                  .chosen = pawl_arena_take(writer->arena, r->count * sizeof *w.chosen),
                                  .bulk = pawl__mongo_bulk_begin(writer->store, r->rule->collection, saga_of(r)),
                                  .is_counted = true};
    pawl_code code = w.chosen != NULL ? choose(r, w.chosen) : pawl__mongo_no_memory(writer->error);
    for (size_t i = 0; code == PAWL_OK && i < r->count; i++)
        if (w.chosen[i] != PAWL__MONGO_NOTHING) {
            const parsed_write s = parse_write(r, w.chosen[i], r->items[i]);
            w.is_counted &= s.is_counted;
            add_write(&w, i, &s);
        }
    pawl_code wrote = pawl__mongo_bulk_run(&w.bulk, writer->error);
    if (code != PAWL_OK)
        return code;
    if (wrote == PAWL_OK && w.is_counted && w.bulk.done != (int64_t)w.expected)
        return pawl__mongo_mismatch(r, w.bulk.done, w.expected);
    return wrote == PAWL_OK
               ? wrote
               : pawl_error_wrap(writer->error, wrote, "%s", pawl_change_kind_name(writer->kind));
}

/* Must the kind read first even without care? Yes if its rule says so, or if only some of its writes are counted. */
static bool is_read_first(const pawl__mongo_run *r)
{
    size_t loose = 0, all = 0;
    if (r->rule->reads == NULL && r->rule->judge == NULL)
        return false;
    if (r->writer->commits_singly)
        return true;
    for (size_t i = 0; i < r->count; i++) {
        if (r->rule->is_read_first != NULL && r->rule->is_read_first(r->items[i]))
            return true;
        int number = choose_one(r, r->items[i]);
        all += number >= 0;
        loose += number >= 0 && !parse_write(r, number, r->items[i]).is_counted;
    }
    return loose != 0 && loose != all;
}

/* Writes the other kind of document that the same changes affect. */
static pawl_code write_other(pawl__mongo_run *r, const pawl__mongo_rule *other)
{
    const pawl__mongo_rule *own = r->rule;
    if (other == NULL)
        return PAWL_OK;
    r->rule        = other;
    pawl_code code = write_all(r);
    r->rule        = own;
    return code;
}

/* Writes the items of one collection. */
static pawl_code write_some(pawl__mongo_run *r)
{
    r->scope.fields  = &pawl__change_fields[r->writer->kind];
    r->scope.changes = r->items;
    r->scope.count   = r->count;
    r->scope.worker  = r->writer->store->worker.uuid;
    r->scope.number  = &r->writer->number;
    r->is_settled    = pawl_arena_take(r->writer->arena, r->count);
    if (r->is_settled == NULL)
        return pawl__mongo_no_memory(r->writer->error);
    memset(r->is_settled, 0, r->count);
    if (r->rule->apply != NULL)
        return r->rule->apply(r);
    pawl_code code = write_other(r, r->rule->before);
    if (code == PAWL_OK && is_read_first(r))
        code = read_and_judge(r);
    if (code == PAWL_OK)
        code = write_all(r);
    return code == PAWL_OK ? write_other(r, r->rule->also) : code;
}

/* Changes of sagas are written table by table, since a bulk is for one collection. */
static pawl_code write_run(pawl__mongo_writer *writer, const pawl__mongo_rule *of,
                           const void **items, size_t count)
{
    pawl_code code = PAWL_OK;
    if (of->collection != NULL || of->apply != NULL)
        return write_some(
            &(pawl__mongo_run){.writer = writer, .rule = of, .items = items, .count = count});
    const void **alike = pawl_arena_take(writer->arena, count * sizeof *alike);
    while (alike != NULL && code == PAWL_OK && count != 0) {
        size_t          left = pawl__take_equal(items, count, alike, pawl__compare_by_table);
        pawl__mongo_run some = {
            .writer = writer, .rule = of, .items = alike, .count = count - left};
        some.scope.table = pawl__saga_table_of(alike[0]);
        code             = write_some(&some);
        count            = left;
    }
    return alike != NULL ? code : pawl__mongo_no_memory(writer->error);
}

/* ---- Runs ---------------------------------------------------------------- */

#define KEYS_MAX 3

typedef struct gather {
    const void **items;
    size_t       count;
    pawl__keys   keys;
} gather;

static uint32_t hash_field(uint32_t from, const pawl__field *field, const void *at)
{
    const pawl_text *text  = at;
    uint64_t         value = 0;
    switch (field->wire) {
    case PAWL__WIRE_INT: return pawl__key_hash(from, at, sizeof(int64_t));
    case PAWL__WIRE_UUID: return pawl__key_hash(from, at, sizeof(pawl_uuid));
    case PAWL__WIRE_VALUE:
        value = pawl_value_hash(at);
        return pawl__key_hash(from, &value, sizeof value);
    default: return pawl__key_hash(from, text->data, text->size);
    }
}

/* Hashes that identify the documents of a change. A key with an empty part does not count; changes with the key "" all
 * share a document. */
static size_t keys_of(pawl_change_kind kind, const void *change, uint32_t keys[KEYS_MAX])
{
    size_t      count = 0;
    const char *all = ways[kind]->keys, *at = all;
    if (at == NULL)
        return 0;
    do {
        uint32_t key     = (uint32_t)(at - all) + 1;
        bool     is_none = false;
        for (bool is_last = *at == '\0'; !is_last;) {
            size_t             size  = strcspn(at, ",;");
            const pawl__field *field = pawl__mongo_field_of(&pawl__change_fields[kind],
                                                            (pawl_text){.data = at, .size = size});
            const void        *value = (const char *)change + field->offset;
            is_none |= pawl__mongo_is_empty(field->wire, value);
            key     = hash_field(key, field, value);
            is_last = at[size] != ',';
            at += size + (at[size] != '\0');
        }
        if (!is_none)
            keys[count++] = key;
    } while (*at != '\0');
    return count;
}

/* A change that may concern a document of the current run begins another run. */
static pawl_code add_change(pawl__mongo_writer *writer, gather *g, const pawl__mongo_rule *of,
                            const void *change)
{
    uint32_t  keys[KEYS_MAX];
    size_t    count = keys_of(writer->kind, change, keys);
    pawl_code code  = PAWL_OK;
    if (pawl__keys_add(&g->keys, keys, count, g->count == 0)) {
        code     = write_run(writer, of, g->items, g->count);
        g->count = 0;
    }
    g->items[g->count++] = change;
    return code;
}

pawl_code pawl__mongo_apply(pawl__mongo_writer *writer, pawl_change_kind kind)
{
    size_t      count = pawl__change_count(writer->changes, kind);
    const char *item  = pawl__change_items(writer->changes, kind);
    pawl_code   code  = PAWL_OK;
    if (count == 0)
        return PAWL_OK;
    if (kind == pawl_change_queue_settle && writer->is_enlisted)
        return pawl__why_not_enlisted(item, writer->error);
    gather *g    = pawl_arena_take(writer->arena, sizeof *g);
    writer->kind = kind;
    if (g != NULL) {
        g->items = pawl_arena_take(writer->arena, count * sizeof *g->items);
        g->count = 0;
    }
    if (g == NULL || g->items == NULL)
        return pawl__mongo_no_memory(writer->error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++, item += pawl__kinds[kind].size)
        if (!writer->is_dropped[pawl__change_group(item)])
            code = add_change(writer, g, ways[kind], item);
    return code == PAWL_OK && g->count != 0 ? write_run(writer, ways[kind], g->items, g->count)
                                            : code;
}
