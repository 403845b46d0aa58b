/* verify_upgrade_report.c - groups and prints the findings of verify-upgrade; and reads and writes the file of
 * --resume: the cursor and the findings of an interrupted run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include "base/calm.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* ---- Adding --------------------------------------------------------------- */

/* Is TYPE.MEMBER one of the list? */
static bool is_among(const pawl__texts *list, const pawl_upgrade_found *found)
{
    for (size_t i = 0; i < list->count; i++) {
        pawl_text word = pawl_text_of(list->items[i]);
        if (word.size == found->type.size + 1 + found->member.size &&
            memcmp(word.data, found->type.data, found->type.size) == 0 &&
            word.data[found->type.size] == '.' &&
            memcmp(word.data + found->type.size + 1, found->member.data, found->member.size) == 0)
            return true;
    }
    return false;
}

static pawl__verify_group *find(const pawl__verify_report *report, const pawl_upgrade_found *found)
{
    for (size_t i = 0; i < report->count; i++) {
        pawl__verify_group *group = &report->groups[i];
        if (group->reason == found->reason && group->version == found->version &&
            pawl_text_equal(group->kind, pawl_text_of(found->kind)) &&
            pawl_text_equal(group->type, found->type) &&
            pawl_text_equal(group->member, found->member))
            return group;
    }
    return NULL;
}

/* Adds a copy of the group. */
static pawl__verify_group *add_copy(pawl__verify_report *report, const pawl__verify_group *group)
{
    report->groups           = pawl__must_grow(report->arena, report->groups, report->count,
                                               &report->capacity, sizeof *report->groups);
    pawl__verify_group *made = &report->groups[report->count++];
    *made                    = *group;
    made->kind               = pawl__must_text(report->arena, made->kind);
    made->type               = pawl__must_text(report->arena, made->type);
    made->member             = pawl__must_text(report->arena, made->member);
    return made;
}

/* Has the group this row already? Findings from comparing two programs have no row: then, this text? */
static bool is_repeated(const pawl__verify_report *report, pawl__verify_group *group,
                        const pawl_upgrade_found *found)
{
    int64_t number = report->rows + found->row;
    if (found->row == 0)
        return PAWL__ROW_OF(pawl__verify_example, text, group->examples, group->example_count,
                            found->text) != NULL;
    if (group->last == number)
        return true;
    group->last = number;
    group->count++;
    return false;
}

void pawl__verify_add(const pawl_upgrade_found *found, void *context)
{
    pawl__verify_report *report = context;
    bool                 is_member =
        found->reason == PAWL_UPGRADE_UNREAD_MEMBER || found->reason == PAWL_UPGRADE_UNKNOWN_MEMBER;
    if ((is_member && is_among(report->removed, found)) ||
        (found->reason == PAWL_UPGRADE_MISREAD && is_among(report->intended, found)))
        return;
    pawl__verify_group *group = find(report, found);
    if (group == NULL && report->count == PAWL__VERIFY_GROUPS) {
        report->more += pawl_upgrade_is_finding(found->reason);
        return;
    }
    if (group == NULL)
        group = add_copy(report, &(pawl__verify_group){.reason  = found->reason,
                                                       .kind    = pawl_text_of(found->kind),
                                                       .type    = found->type,
                                                       .member  = found->member,
                                                       .version = found->version});
    if (!is_repeated(report, group, found) && group->example_count < PAWL__VERIFY_EXAMPLES)
        group->examples[group->example_count++] = (pawl__verify_example){
            pawl__must_text(report->arena, found->id), pawl__must_text(report->arena, found->text)};
}

size_t pawl__verify_findings(const pawl__verify_report *report)
{
    size_t count = report->more > 0;
    for (size_t i = 0; i < report->count; i++)
        count += pawl_upgrade_is_finding(report->groups[i].reason);
    return count;
}

/* ---- For people ------------------------------------------------------------ */

static void print_group(const pawl__verify_group *group)
{
    char    line[900], version[30] = "", rows[40] = "";
    int64_t count = group->count, more = count;
    if (group->version != 0)
        snprintf(version, sizeof version, " of version %d", (int)group->version);
    if (count > 0)
        snprintf(rows, sizeof rows, "; %" PRId64 " row%s", count, PAWL__PLURAL(count));
    snprintf(line, sizeof line, "%s: %.*s %.*s%s%s%.*s: %s%s",
             pawl_upgrade_reason_name(group->reason), PAWL_TEXT_ARGS(group->kind),
             PAWL_TEXT_ARGS(group->type), version, group->member.size > 0 ? ", " : "",
             PAWL_TEXT_ARGS(group->member), pawl_upgrade_reason_text(group->reason), rows);
    pawl__say(stdout, "%s", line);
    for (size_t i = 0; i < group->example_count; i++) {
        const pawl__verify_example *example = &group->examples[i];
        snprintf(line, sizeof line, "    %.*s%s%.*s", PAWL_TEXT_ARGS(example->id),
                 example->id.size > 0 ? ": " : "", PAWL_TEXT_ARGS(example->text));
        pawl__say(stdout, "%s", line);
        more -= example->id.size > 0;
    }
    if (more > 0)
        printf("    and %" PRId64 " more row%s\n", more, PAWL__PLURAL(more));
}

static void print_groups(const pawl__verify_report *report, bool are_findings)
{
    for (size_t i = 0; i < report->count; i++)
        if (pawl_upgrade_is_finding(report->groups[i].reason) == are_findings)
            print_group(&report->groups[i]);
}

static void print_page(const pawl__verify_report *report)
{
    size_t findings = pawl__verify_findings(report);
    size_t warnings = report->count + (report->more > 0) - findings;
    print_groups(report, true);
    if (report->more > 0)
        printf("and %" PRId64 " times other things\n", report->more);
    if (warnings > 0)
        printf("%swarnings:\n", findings > 0 ? "\n" : "");
    print_groups(report, false);
    printf("%" PRId64 " rows: %zu findings, %zu warnings\n", report->rows, findings, warnings);
}

/* ---- For programs ---------------------------------------------------------- */

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, pawl_text text)
{
    yyjson_mut_obj_add_strncpy(doc, object, key, text.data != NULL ? text.data : "", text.size);
}

static void add_group(const pawl__verify_group *group, yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    yyjson_mut_obj_add_str(doc, object, "reason", pawl_upgrade_reason_name(group->reason));
    add_text(doc, object, "kind", group->kind);
    add_text(doc, object, "type", group->type);
    yyjson_mut_obj_add_sint(doc, object, "version", group->version);
    add_text(doc, object, "member", group->member);
    yyjson_mut_obj_add_sint(doc, object, "count", group->count);
    yyjson_mut_val *examples = yyjson_mut_obj_add_arr(doc, object, "examples");
    for (size_t i = 0; i < group->example_count; i++) {
        yyjson_mut_val *example = yyjson_mut_arr_add_obj(doc, examples);
        add_text(doc, example, "id", group->examples[i].id);
        add_text(doc, example, "text", group->examples[i].text);
    }
}

void pawl__verify_json(const pawl__verify_report *report, bool are_findings, yyjson_mut_doc *doc,
                       yyjson_mut_val *array)
{
    for (size_t i = 0; i < report->count; i++)
        if (pawl_upgrade_is_finding(report->groups[i].reason) == are_findings)
            add_group(&report->groups[i], doc, yyjson_mut_arr_add_obj(doc, array));
}

pawl_code pawl__verify_print(const pawl__verify_report *report, bool is_json)
{
    if (!is_json) {
        print_page(report);
        return PAWL_OK;
    }
    yyjson_mut_doc *doc  = pawl__json_create();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_add_sint(doc, root, "rows", report->rows);
    pawl__verify_json(report, true, doc, yyjson_mut_obj_add_arr(doc, root, "findings"));
    yyjson_mut_obj_add_sint(doc, root, "more", report->more);
    pawl__verify_json(report, false, doc, yyjson_mut_obj_add_arr(doc, root, "warnings"));
    return pawl__json_print(doc, stdout);
}

/* ---- Options that identify a run ------------------------------------------- */

static const char *const of_names[PAWL__VERIFY_OF] = {"store",       "prefix",  "app",     "from",
                                                      "saga-prefix", "removed", "intended"};

/* "./new.so (digest 0123456789abcdef)", by 64-bit FNV-1a, since a new build has the same path. */
static pawl_code program(const char *path, pawl_arena *arena, pawl_text *text, pawl_error *error)
{
    static unsigned char bytes[16384];
    uint64_t             digest = UINT64_C(14695981039346656037);
    FILE                *file   = fopen(path, "rb");
    size_t               size   = 1;
    while (file != NULL && size > 0) {
        size = fread(bytes, 1, sizeof bytes, file);
        for (size_t i = 0; i < size; i++)
            digest = (digest ^ bytes[i]) * UINT64_C(1099511628211);
    }
    bool is_read = file != NULL && !ferror(file);
    if (file != NULL)
        (void)fclose(file);
    *text = pawl__must_printf(arena, "%s (digest %016" PRIx64 ")", path, digest);
    return is_read ? PAWL_OK
                   : pawl_error_set(error, PAWL_ECONFIG, "--resume: %s cannot be read", path);
}

static pawl_text joined(const pawl__texts *list, pawl_arena *arena)
{
    pawl_text text = PAWL_TEXT("");
    for (size_t i = 0; i < list->count; i++)
        text = pawl__must_join(arena, text, " ", pawl_text_of(list->items[i]));
    return text;
}

pawl_code pawl__verify_resume_of(const pawl__saga_fields *fields, pawl_arena *arena,
                                 pawl__verify_cursor *cursor, pawl_error *error)
{
    char        masked[PAWL_URL_SIZE_MAX + 1];
    const char *store = pawl__masked(fields->at.store, masked, sizeof masked);
    pawl_text   app = {0}, from = PAWL_TEXT("");
    pawl_code   code = program(fields->book.app, arena, &app, error);
    if (code == PAWL_OK && fields->from != NULL)
        code = program(fields->from, arena, &from, error);
    const pawl_text of[PAWL__VERIFY_OF] = {pawl__must_text(arena, pawl_text_of(store)),
                                           pawl_text_of(fields->at.prefix),
                                           app,
                                           from,
                                           pawl_text_of(fields->book.prefix),
                                           joined(&fields->removed, arena),
                                           joined(&fields->intended, arena)};
    memcpy(cursor->of, of, sizeof of);
    return code;
}

/* ---- Writing the file ------------------------------------------------------ */

static yyjson_mut_doc *make_document(const pawl__verify_cursor *cursor,
                                     const pawl__verify_report *report)
{
    char            id[PAWL_UUID_TEXT_SIZE + 1];
    yyjson_mut_doc *doc  = pawl__json_create();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    pawl_uuid_format(cursor->row.id, id);
    for (size_t i = 0; i < PAWL__VERIFY_OF; i++)
        add_text(doc, root, of_names[i], cursor->of[i]);
    add_text(doc, root, "stage", cursor->stage);
    yyjson_mut_obj_add_strcpy(doc, root, "id", id);
    yyjson_mut_obj_add_sint(doc, root, "number", cursor->row.number);
    add_text(doc, root, "belongs_to", cursor->row.belongs_to);
    add_text(doc, root, "message_id", cursor->row.message.id);
    yyjson_mut_obj_add_sint(doc, root, "rows", report->rows);
    yyjson_mut_obj_add_sint(doc, root, "more", report->more);
    yyjson_mut_val *found = yyjson_mut_obj_add_arr(doc, root, "found");
    pawl__verify_json(report, true, doc, found);
    pawl__verify_json(report, false, doc, found);
    return doc;
}

pawl_code pawl__verify_resume_write(const char *path, const pawl__verify_cursor *cursor,
                                    const pawl__verify_report *report, pawl_error *error)
{
    pawl__part      part;
    yyjson_mut_doc *doc  = make_document(cursor, report); /* ends the process without memory */
    pawl_code       code = pawl__part_open(&part, path, error);
    if (code == PAWL_OK)
        code = pawl__part_end(&part, path, pawl__json_print(doc, part.file), error);
    else
        yyjson_mut_doc_free(doc);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "--resume");
}

/* ---- Reading the file ------------------------------------------------------ */

static pawl_text text_of(yyjson_val *object, const char *key, pawl_arena *arena)
{
    pawl_text text = pawl__json_text(object, key, arena);
    return text.data != NULL ? text : PAWL_TEXT("");
}

static int64_t number_of(yyjson_val *object, const char *key)
{
    return yyjson_get_sint(yyjson_obj_get(object, key));
}

static bool read_reason(pawl_text name, pawl_upgrade_reason *reason)
{
    for (int i = 0; pawl_upgrade_reason_name((pawl_upgrade_reason)i) != NULL; i++) {
        *reason = (pawl_upgrade_reason)i;
        if (pawl_text_equal(pawl_text_of(pawl_upgrade_reason_name(*reason)), name))
            return true;
    }
    return false;
}

static bool read_group(yyjson_val *object, pawl__verify_report *report)
{
    pawl__verify_group group = {.kind    = text_of(object, "kind", report->arena),
                                .type    = text_of(object, "type", report->arena),
                                .member  = text_of(object, "member", report->arena),
                                .version = (int32_t)number_of(object, "version"),
                                .count   = number_of(object, "count")};
    size_t             index, count;
    yyjson_val        *example;
    if (!read_reason(text_of(object, "reason", report->arena), &group.reason))
        return false;
    yyjson_arr_foreach(yyjson_obj_get(object, "examples"), index, count, example)
    {
        if (group.example_count < PAWL__VERIFY_EXAMPLES)
            group.examples[group.example_count++] = (pawl__verify_example){
                text_of(example, "id", report->arena), text_of(example, "text", report->arena)};
    }
    (void)add_copy(report, &group);
    return true;
}

/* Replaces the report by that of the file, which includes the findings from comparing the same two programs. */
static bool read_found(yyjson_val *root, pawl__verify_report *report)
{
    size_t      index, count;
    yyjson_val *group;
    report->count = 0;
    report->rows  = number_of(root, "rows");
    report->more  = number_of(root, "more");
    yyjson_arr_foreach(yyjson_obj_get(root, "found"), index, count, group)
    {
        if (!read_group(group, report))
            return false;
    }
    return true;
}

static bool read_cursor(yyjson_val *root, pawl__verify_cursor *cursor, pawl_arena *arena)
{
    cursor->stage          = text_of(root, "stage", arena);
    cursor->row.number     = number_of(root, "number");
    cursor->row.belongs_to = text_of(root, "belongs_to", arena);
    cursor->row.message.id = text_of(root, "message_id", arena);
    return cursor->stage.size > 0 &&
           pawl_uuid_parse(text_of(root, "id", arena), &cursor->row.id, NULL) == PAWL_OK;
}

static pawl_code read_document(const char *path, yyjson_val *root, pawl__verify_cursor *cursor,
                               pawl__verify_report *report, pawl_error *error)
{
    for (size_t i = 0; i < PAWL__VERIFY_OF; i++) {
        pawl_text was = text_of(root, of_names[i], report->arena);
        if (!pawl_text_equal(was, cursor->of[i]))
            return pawl_error_set(
                error, PAWL_EINPUT,
                "--resume: %s is of a run with --%s '%.*s', this one has '%.*s'; remove "
                "the file to begin anew",
                path, of_names[i], PAWL_TEXT_ARGS(was), PAWL_TEXT_ARGS(cursor->of[i]));
    }
    if (!read_cursor(root, cursor, report->arena) || !read_found(root, report))
        return pawl_error_set(error, PAWL_EINPUT,
                              "--resume: %s was not written by this command; remove it to begin "
                              "anew",
                              path);
    return PAWL_OK;
}

pawl_code pawl__verify_resume_read(const char *path, pawl__verify_cursor *cursor,
                                   pawl__verify_report *report, pawl_error *error)
{
    pawl__input input;
    pawl_text   text = {0};
    if (access(path, F_OK) != 0)
        return PAWL_OK;
    pawl_code code = pawl__input_open(&input, path, error);
    if (code == PAWL_OK)
        code = pawl__input_all(&input, &text, error);
    if (code == PAWL_OK)
        code = pawl__json_check(text, error);
    yyjson_doc *doc =
        code == PAWL_OK ? yyjson_read(text.data, text.size, YYJSON_READ_NOFLAG) : NULL;
    if (doc != NULL)
        code = read_document(path, yyjson_doc_get_root(doc), cursor, report, error);
    else
        code = pawl_error_wrap(error, code != PAWL_OK ? code : PAWL_ENOMEM, "--resume: %s", path);
    yyjson_doc_free(doc);
    pawl__input_close(&input);
    return code;
}
