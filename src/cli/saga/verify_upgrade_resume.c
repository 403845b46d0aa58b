/* verify_upgrade_resume.c - the file that an interrupted run is gone on with: where it stood, and
 * what it had found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include <string.h>
#include <unistd.h>

/* ---- Writing --------------------------------------------------------------- */

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, pawl_text text)
{
    yyjson_mut_obj_add_strncpy(doc, object, key, text.data != NULL ? text.data : "", text.size);
}

static yyjson_mut_doc *make_document(const pawl__verify_cursor *cursor,
                                     const pawl__verify_report *report)
{
    char            id[PAWL_UUID_TEXT_SIZE + 1];
    yyjson_mut_doc *doc  = pawl__json_create();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    pawl_uuid_format(cursor->row.id, id);
    yyjson_mut_obj_add_strcpy(doc, root, "store", cursor->store);
    yyjson_mut_obj_add_strcpy(doc, root, "app", cursor->application);
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

/* ---- Reading --------------------------------------------------------------- */

static pawl_text text_of(yyjson_val *object, const char *key, pawl_arena *arena)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    return pawl__must_text(arena,
                           (pawl_text){.data = yyjson_is_str(value) ? yyjson_get_str(value) : "",
                                       .size = yyjson_get_len(value)});
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
    (void)pawl__verify_group_add(report, &group);
    return true;
}

/* Replaces the report: this run has compared the tables of two programs again, as that one had. */
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
    const struct {
        const char *key, *is;
    } same[] = {{"store", cursor->store}, {"app", cursor->application}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        pawl_text was = text_of(root, same[i].key, report->arena);
        if (!pawl_text_equal(was, pawl_text_of(same[i].is)))
            return pawl_error_set(
                error, PAWL_EINPUT,
                "--resume: %s is of a run with --%s %.*s, this one has %s; remove "
                "the file to begin anew",
                path, same[i].key, PAWL_TEXT_ARGS(was), same[i].is);
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
