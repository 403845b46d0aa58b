/* fuzz_changes.c - change sets of every kind, committed to the store in memory and to SQLite: both give the same answer,
 * refuse the same groups, and have the same rows then.
 *
 * Input: sets; each has a byte for the number of its changes, and each change has the byte of its kind, its unit and group,
 * and the fields in which it differs from a change that the sample rows of the contract suite allow
 * (src/conformance/suite/sample_rows.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "conformance/suite/run.h"
#include "conformance/suite/sample_rows.h"
#include "store/core/field.h"
#include "store/core/kinds.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETS_MAX 4
#define CHANGES_MAX 6
#define UNITS 4
#define ITEMS_MAX 16

/* A store with the sample rows. */
typedef struct side {
    suite_address     address;
    suite_tables      tables;
    suite             s;
    pawl_store       *store;
    suite_sample_rows sample;
    pawl_arena       *arena;
} side;

static char folder[] = "/dev/shm/pawl-fuzz-XXXXXX";

/* The files of the store before, that of its locks included. */
static void remove_files(void)
{
    DIR *open = opendir(folder);
    FUZZ_CHECK(open != NULL);
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        char path[sizeof folder + sizeof entry->d_name];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)unlink(path);
    }
    (void)closedir(open);
}

static void remove_folder(void)
{
    remove_files();
    (void)rmdir(folder);
}

/* A folder in memory, once for the process. */
static void make_folder(void)
{
    static bool is_made;
    if (is_made)
        return;
    FUZZ_CHECK(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    is_made = true;
}

/* The sample rows are written if `has_sample_rows`. */
static void open_side(side *it, const char *url, bool has_sample_rows)
{
    *it = (side){.arena = pawl_arena_create(0)};
    snprintf(it->address.url, sizeof it->address.url, "%s", url);
    suite_tables_make(&it->tables, &it->address);
    memcpy(it->s.tables, it->tables.list, sizeof it->s.tables);
    it->s.address = &it->address;
    it->s.arena   = it->arena;
    pawl_random_seed(&it->s.random, 1);
    if (setjmp(it->s.failed) == 0) {
        it->store = has_sample_rows ? suite_open(&it->s) : suite_open_bare(&it->s);
        if (has_sample_rows)
            suite_sample_rows_make(&it->sample, &it->s, it->store);
    } else {
        fprintf(stderr, "%s\n", it->s.failure);
        FUZZ_CHECK(!"the sample rows can be written");
    }
}

static void close_side(side *it)
{
    suite_close_all(&it->s);
    pawl_arena_destroy(it->arena);
}

/* Puts a file with all tables there, which takes longer to make than to copy. */
static void put_tables(const char *path, const char *url)
{
    static char  *made;
    static size_t made_size;
    if (made == NULL) {
        side  it;
        FILE *file;
        open_side(&it, url, false);
        close_side(&it);
        file = fopen(path, "rb");
        FUZZ_CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
        made_size = (size_t)ftell(file);
        rewind(file);
        made = malloc(made_size);
        FUZZ_CHECK(made != NULL && fread(made, 1, made_size, file) == made_size);
        (void)fclose(file);
        remove_files();
    }
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file != NULL && fwrite(made, 1, made_size, file) == made_size);
    (void)fclose(file);
}

/* ---- Fields ----------------------------------------------------------------------- */

static pawl_text text_of(fuzz_input *in, int form)
{
    static const char *const names[] = {"orders", "billing", "suite", "Bills", "Bills/2", "totals"};
    static const char *const ids[]   = {"w-1", "w-2", "known", "new", "d-1", "sent"};
    static const char *const states[] = {"{}", "{\"n\":1}", "",
                                         "{\"a\":{\"b\":[1.5,null,\"\\u00e4\"]}}"};
    static const char *const keys[]   = {"Bills",   "Bills/2",   "Bills/3",  "Order/1",
                                         "Order/2", "Account/1", "Account/2"};
    unsigned                 chosen   = fuzz_byte(in);
    if (chosen >= 232 && form != PAWL__FORM_STATE) /* the caller's JSON is an object */
        return fuzz_text(in);
    switch (form) {
    case PAWL__FORM_NAME:
    case PAWL__FORM_NAME_OPTIONAL: return pawl_text_of(names[chosen % 6]);
    case PAWL__FORM_ID:
    case PAWL__FORM_ID_OPTIONAL: return pawl_text_of(ids[chosen % 6]);
    case PAWL__FORM_STATE:
    case PAWL__FORM_HEADERS: return pawl_text_of(states[chosen % 4]);
    default: return pawl_text_of(keys[chosen % 7]);
    }
}

/* Numbers of rows differ from store to store: the field gets that of a sample row, or of none. */
static bool is_row_number(const pawl__field *field)
{
    return field->wire == PAWL__WIRE_INT &&
           (strcmp(field->name, "seq") == 0 || strcmp(field->name, "id") == 0 ||
            strcmp(field->name, "after") == 0);
}

static int64_t row_number(const suite_sample_rows *sample, pawl_change_kind kind, unsigned chosen)
{
    const int64_t messages[] = {sample->claimed_seq, sample->free_seq, INT64_MAX};
    const int64_t outbox[]   = {sample->outbox_id, sample->held_after, sample->dead_id, INT64_MAX};
    return kind == pawl_change_queue_settle ? messages[chosen % 3] : outbox[chosen % 4];
}

static void change_field(fuzz_input *in, const suite_sample_rows *sample, pawl_change_kind kind,
                         const pawl__field *field, char *item)
{
    void     *at     = item + field->offset;
    unsigned  chosen = fuzz_byte(in);
    pawl_uuid uuid   = suite_uuid(chosen % 16);
    int64_t   number = chosen < 250 ? (int64_t)(chosen % 12) - 1 : fuzz_integer(in);
    int32_t   small  = (int32_t)(number & 15);
    bool      truth  = chosen % 2 == 0;
    pawl_text text;
    if (is_row_number(field))
        number = row_number(sample, kind, chosen);
    switch (field->wire) {
    case PAWL__WIRE_INT: memcpy(at, &number, sizeof number); return;
    case PAWL__WIRE_TIME:
        number = chosen < 250 ? SUITE_NOW + number : number;
        memcpy(at, &number, sizeof number);
        return;
    case PAWL__WIRE_INT32:
    case PAWL__WIRE_STATE:
    case PAWL__WIRE_OUTCOME:
    case PAWL__WIRE_INBOX:
    case PAWL__WIRE_RESET:
    case PAWL__WIRE_CHOICE: memcpy(at, &small, sizeof small); return;
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: memcpy(at, &truth, sizeof truth); return;
    case PAWL__WIRE_UUID: memcpy(at, &uuid, sizeof uuid); return;
    case PAWL__WIRE_VALUE: return;
    default: text = text_of(in, field->form); memcpy(at, &text, sizeof text);
    }
}

/* A line about the sets, for whoever reproduces a finding with FUZZ_SHOW set. */
static void show(const char *format, ...) PAWL_PRINTF(1, 2);

static void show(const char *format, ...)
{
    va_list arguments;
    if (getenv("FUZZ_SHOW") == NULL)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* ---- Sets ------------------------------------------------------------------------- */

/* One change: a good one, with up to three other fields. */
static void add_change(fuzz_input *in, const suite_sample_rows *sample, const pawl_changes *good,
                       suite_set *set)
{
    pawl_change_kind        kind   = (pawl_change_kind)fuzz_below(in, pawl_change_kind_count);
    const pawl__kind       *of     = &pawl__kinds[kind];
    const pawl__field_list *fields = &pawl__change_fields[kind];
    size_t                  count  = pawl__change_count(&set->changes, kind);
    size_t                  known  = pawl__change_count(good, kind);
    if (kind == pawl_change_queue_settle && count > 0)
        return; /* a claimed message is handled by one unit, which settles it once */
    char *items = (char *)(uintptr_t)pawl__change_items(&set->changes, kind);
    if (items == NULL)
        items = pawl_arena_take(set->s->arena, ITEMS_MAX * of->size);
    FUZZ_CHECK(items != NULL && known > 0 && count < ITEMS_MAX);
    char *item = items + count * of->size;
    memcpy(item, pawl__change_items(good, kind) + fuzz_byte(in) % known * of->size, of->size);
    pawl__change base = {.unit = fuzz_below(in, UNITS)};
    base.group        = base.unit;
    memcpy(item, &base, sizeof base);
    show("%s of unit %u", pawl_change_kind_name(kind), base.unit);
    for (unsigned changed = fuzz_below(in, 4); changed > 0; changed--) {
        const pawl__field *field = &fields->items[fuzz_byte(in) % fields->count];
        change_field(in, sample, kind, field, item);
        show("    another %s", field->name);
    }
    count++;
    memcpy((char *)&set->changes + of->items_offset, &items, sizeof items);
    memcpy((char *)&set->changes + of->count_offset, &count, sizeof count);
}

typedef struct answer {
    pawl_code   code;
    bool        is_refused[UNITS];
    pawl_text   why[UNITS]; /* of a refused group, for people */
    const char *dump;
} answer;

/* The answer of a store to the set that the input describes; the same of both stores reads the same bytes. */
static answer commit(side *it, fuzz_input *in)
{
    answer        given = {.code = PAWL_OK};
    pawl_refusals refused;
    suite_set     set = suite_changes(&it->s), good = suite_changes(&it->s);
    suite_sample_rows_add_changes(&it->sample, &good);
    for (unsigned count = 1 + fuzz_below(in, CHANGES_MAX); count > 0; count--)
        add_change(in, &it->sample, &good.changes, &set);
    set.changes.unit_count = set.changes.group_count = UNITS;
    if (setjmp(it->s.failed) != 0) {
        fprintf(stderr, "%s: %s\n", it->address.url, it->s.failure);
        FUZZ_CHECK(!"the store can be read");
    }
    show("committed to %s", it->address.url);
    given.code = suite_try(&set, it->store, &refused);
    for (size_t i = 0; given.code == PAWL_OK && i < refused.count; i++) {
        given.is_refused[refused.items[i].group] = true;
        given.why[refused.items[i].group]        = refused.items[i].text;
    }
    given.dump = suite_dump_unnumbered(&it->s, it->store);
    return given;
}

/* Their first lines that differ. */
static void print_difference(const char *left, const char *right)
{
    size_t at = 0, line = 0;
    for (; left[at] == right[at] && left[at] != '\0'; at++)
        line = left[at] == '\n' ? at + 1 : line;
    fprintf(stderr, "memory: %.*s\nsqlite: %.*s\n", (int)strcspn(left + line, "\n"), left + line,
            (int)strcspn(right + line, "\n"), right + line);
}

static void compare(const answer *left, const answer *right)
{
    bool is_same = left->code == right->code && strcmp(left->dump, right->dump) == 0 &&
                   memcmp(left->is_refused, right->is_refused, sizeof left->is_refused) == 0;
    if (is_same)
        return;
    fprintf(stderr, "memory: %s, sqlite: %s\n", pawl_code_name(left->code),
            pawl_code_name(right->code));
    for (int i = 0; i < UNITS; i++)
        fprintf(stderr, "group %d: %.*s | %.*s\n", i, PAWL_TEXT_ARGS(left->why[i]),
                PAWL_TEXT_ARGS(right->why[i]));
    print_difference(left->dump, right->dump);
    FUZZ_CHECK(!"both stores agree");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static side memory, sqlite;
    fuzz_input  in = {data, size};
    char        path[100], url[200];
    make_folder();
    snprintf(path, sizeof path, "%s/fuzz.db", folder);
    snprintf(url, sizeof url, "sqlite:%s?synchronous=off", path);
    put_tables(path, url);
    open_side(&memory, "memory:fuzz-changes", true);
    open_side(&sqlite, url, true);
    for (int i = 0; i < SETS_MAX && in.left > 0; i++) {
        fuzz_input same  = in;
        answer     left  = commit(&memory, &same);
        answer     right = commit(&sqlite, &in);
        compare(&left, &right);
    }
    close_side(&memory);
    close_side(&sqlite);
    remove_files();
    return 0;
}
